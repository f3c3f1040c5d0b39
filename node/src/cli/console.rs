//! What the program prints: results on standard output, progress and errors on standard error.

use std::{
    fmt::Display,
    io::{self, IsTerminal as _, Write as _},
};

use serde::Serialize;

use super::{exit::Exit, failure::Failure};

/// Says where output goes, and in which form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Console {
    json: bool,
    color: bool,
    error_color: bool,
}

impl Console {
    /// Returns the console of this process. Colours are for terminals, unless `NO_COLOR` is set.
    pub(crate) fn new(json: bool) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self {
            json,
            color: wanted && !json && io::stdout().is_terminal(),
            error_color: wanted && io::stderr().is_terminal(),
        }
    }

    /// Returns a console as scripts have it, without colours, for tests.
    #[cfg(test)]
    pub(crate) const fn quiet() -> Self {
        Self { json: true, color: false, error_color: false }
    }

    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// Prints a result: one line of JSON, or words.
    pub(crate) fn show<T: Serialize + Display>(&self, value: &T) -> Result<(), Failure> {
        if self.json { self.json(value) } else { self.line(&value.to_string()) }
    }

    /// Prints one object on one line.
    pub(crate) fn json<T: Serialize>(&self, value: &T) -> Result<(), Failure> {
        let text = serde_json::to_string(value)
            .map_err(|error| Failure::failed(format!("cannot write JSON: {error}")))?;
        self.line(&text)
    }

    /// Prints a line on standard output.
    pub(crate) fn line(&self, text: &str) -> Result<(), Failure> {
        self.write(text).map_err(|error| unwritten(&error))
    }

    /// Writes a line on standard output; see [`unwritten`].
    pub(crate) fn write(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{text}").and_then(|()| out.flush())
    }

    /// Prints progress for people who watch, and nothing if JSON is asked for.
    pub(crate) fn note(&self, text: &str) {
        if !self.json {
            self.warn(text);
        }
    }

    /// Prints a warning on standard error, in every form of output.
    pub(crate) fn warn(&self, text: &str) {
        // If standard error is closed, nobody can be warned.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// Prints the last line of a command that failed.
    pub(crate) fn error(&self, failure: &Failure) {
        if failure.message.is_empty() {
            return;
        }
        let label = if self.error_color { "\x1b[1;31merror:\x1b[0m" } else { "error:" };
        self.warn(&format!("{label} {failure}"));
    }

    /// Returns a word that says good or bad, coloured on a terminal.
    pub(crate) fn verdict(&self, good: bool, word: &str) -> String {
        match (self.color, good) {
            (false, _) => word.to_owned(),
            (true, true) => format!("\x1b[32m{word}\x1b[0m"),
            (true, false) => format!("\x1b[1;31m{word}\x1b[0m"),
        }
    }
}

/// Returns the failure of a command whose result could not be written.
pub(crate) fn unwritten(error: &io::Error) -> Failure {
    match error.kind() {
        // The reader of the output closed it, so it has enough.
        io::ErrorKind::BrokenPipe => Failure::quiet(Exit::Failed),
        _ => Failure::failed(format!("cannot write to standard output: {error}")),
    }
}
