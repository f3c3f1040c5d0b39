//! The failure of a command: a sentence for a person, and a code for a program.

use std::fmt;

use super::exit::Exit;
use crate::engine::{OtherEngine, OtherFile};

/// Says why a command did not do what it was asked to do, what it is about, and what to try next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The code that the process ends with.
    pub exit: Exit,
    /// One sentence without a full stop; empty when everything was printed already.
    pub message: String,
}

impl Failure {
    /// Returns a failure with this code.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }

    /// Returns a failure whose message was printed already, so that only the code is left.
    #[must_use]
    pub const fn quiet(exit: Exit) -> Self {
        Self { exit, message: String::new() }
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(Exit::NotFound, message)
    }

    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::new(Exit::Refused, message)
    }

    pub(crate) fn unverified(message: impl Into<String>) -> Self {
        Self::new(Exit::Unverified, message)
    }

    pub(crate) fn timed_out(message: impl Into<String>) -> Self {
        Self::new(Exit::TimedOut, message)
    }

    /// Returns the same failure with advice behind it.
    pub(crate) fn hint(mut self, advice: &str) -> Self {
        if !self.message.is_empty() {
            self.message = format!("{}; {advice}", self.message);
        }
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<OtherEngine> for Failure {
    fn from(error: OtherEngine) -> Self {
        Self::new(Exit::OtherEngine, error.to_string())
    }
}

impl From<OtherFile> for Failure {
    fn from(error: OtherFile) -> Self {
        let exit = match error {
            OtherFile::Disk { .. } => Exit::Failed,
            OtherFile::Format { .. } | OtherFile::State { .. } => Exit::OtherEngine,
        };
        Self::new(exit, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_follows_the_fact_and_keeps_the_code() {
        let failure = Failure::not_found("no script 9 runs there").hint("see `script list`");
        assert_eq!(failure.to_string(), "no script 9 runs there; see `script list`");
        assert_eq!(failure.exit, Exit::NotFound);
    }

    #[test]
    fn a_quiet_failure_stays_quiet() {
        assert_eq!(Failure::quiet(Exit::Failed).hint("never shown").message, "");
    }
}
