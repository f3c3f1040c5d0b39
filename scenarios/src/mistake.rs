//! A mistake in a file, with its place.

use core::{fmt, ops::Range};

/// Why a file is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The file, as its reader named it.
    pub file: String,
    /// Line, from 1; 0 if it is about the whole file.
    pub line: usize,
    /// Column in characters, from 1; 0 if it is about the whole line or file.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl Mistake {
    /// A mistake about a whole file.
    pub(crate) fn in_file(file: &str, message: impl fmt::Display) -> Self {
        Self { file: file.to_owned(), line: 0, column: 0, message: message.to_string() }
    }

    /// A mistake at a place of a text.
    pub(crate) fn at(
        file: &str,
        text: &str,
        span: Range<usize>,
        message: impl fmt::Display,
    ) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { line, column, ..Self::in_file(file, message) }
    }

    /// What the TOML parser complains about.
    pub(crate) fn toml(file: &str, text: &str, error: &toml::de::Error) -> Self {
        match error.span() {
            Some(span) => Self::at(file, text, span, error.message()),
            None => Self::in_file(file, error.message()),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (0, _) => write!(f, "{}: {}", self.file, self.message),
            (line, 0) => write!(f, "{}:{line}: {}", self.file, self.message),
            (line, column) => write!(f, "{}:{line}:{column}: {}", self.file, self.message),
        }
    }
}

impl core::error::Error for Mistake {}
