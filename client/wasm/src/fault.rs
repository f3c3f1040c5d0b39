//! What is refused, for programs and for people.

use core::fmt;

use serde::Serialize;

/// Why a call did nothing: its input was wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallError {
    /// A word for programs.
    pub code: &'static str,
    /// A sentence for people.
    pub text: String,
}

impl CallError {
    /// A fault with what somebody has to say about it.
    pub(crate) fn new(code: &'static str, text: impl fmt::Display) -> Self {
        Self { code, text: text.to_string() }
    }

    /// An input that has not the form it must have.
    pub(crate) fn input(text: impl fmt::Display) -> Self {
        Self::new("input", text)
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.text)
    }
}

impl core::error::Error for CallError {}
