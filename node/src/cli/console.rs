//! What the program prints: results on standard output, progress and errors on standard error.

use std::{
    fmt::Display,
    io::{self, IsTerminal as _, Write as _},
};

use serde::Serialize;

use super::{exit::Exit, failure::Failure};

/// The colours of this program, and their end.
const GREEN: &str = "\x1b[32m";
const RED: &str = "\x1b[1;31m";
const AMBER: &str = "\x1b[33m";
const PLAIN: &str = "\x1b[0m";

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

    /// Returns a console as people have it, with or without colours, for tests.
    #[cfg(test)]
    pub(crate) const fn of_person(color: bool) -> Self {
        Self { json: false, color, error_color: color }
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

    /// Prints a result as [`Console::show`] does, in words that may have colours.
    pub(crate) fn show_as<T: Serialize>(
        &self,
        value: &T,
        words: impl FnOnce(&Self) -> String,
    ) -> Result<(), Failure> {
        if self.json { self.json(value) } else { self.line(&words(self)) }
    }

    /// Prints one object on one line.
    pub(crate) fn json<T: Serialize>(&self, value: &T) -> Result<(), Failure> {
        let text = serde_json::to_string(value)
            .map_err(|error| Failure::failed(format!("cannot write JSON: {error}")))?;
        self.line(&escaped(&text))
    }

    /// Prints a line on standard output.
    pub(crate) fn line(&self, text: &str) -> Result<(), Failure> {
        self.write(text).map_err(|error| unwritten(&error))
    }

    /// Writes a line on standard output; see [`unwritten`].
    pub(crate) fn write(&self, text: &str) -> io::Result<()> {
        let (text, mut out) = (cleaned(text, self.color), io::stdout().lock());
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
        let text = cleaned(text, self.error_color);
        // If standard error is closed, nobody can be warned.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// Prints the last line of a command that failed.
    pub(crate) fn error(&self, failure: &Failure) {
        if failure.message.is_empty() {
            return;
        }
        let label = if self.error_color { format!("{RED}error:{PLAIN}") } else { "error:".into() };
        self.warn(&format!("{label} {failure}"));
    }

    /// Returns a text that is a reason to doubt, coloured on a terminal.
    pub(crate) fn amber(&self, text: &str) -> String {
        if self.color { format!("{AMBER}{text}{PLAIN}") } else { text.to_owned() }
    }

    /// Returns a word that says good or bad, coloured on a terminal.
    pub(crate) fn verdict(&self, good: bool, word: &str) -> String {
        match (self.color, good) {
            (false, _) => word.to_owned(),
            (true, true) => format!("{GREEN}{word}{PLAIN}"),
            (true, false) => format!("{RED}{word}{PLAIN}"),
        }
    }
}

/// Returns a text as a terminal may have it. What strangers wrote may be in it, and a terminal obeys
/// control characters: some write to the clipboard, or over the lines before. Of these the ends of lines
/// and tabs stay, and the colours of this program where it has any.
fn cleaned(text: &str, color: bool) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let colors = [GREEN, RED, AMBER, PLAIN].into_iter().filter(|_| color);
        let length = match colors.into_iter().find(|known| rest.starts_with(known)) {
            Some(known) => known.len(),
            None => next.len_utf8(),
        };
        let (shown, others) = rest.split_at(length);
        if length > next.len_utf8() || !next.is_control() || matches!(next, '\n' | '\t') {
            clean.push_str(shown);
        }
        rest = others;
    }
    clean
}

/// Returns JSON of which a terminal obeys nothing. Below U+0020 it is escaped already.
fn escaped(json: &str) -> String {
    let shown = |char: char| match char {
        '\u{7f}'..='\u{9f}' => format!("\\u{:04x}", u32::from(char)),
        _ => char.into(),
    };
    json.chars().map(shown).collect()
}

/// Returns the failure of a command whose result could not be written.
pub(crate) fn unwritten(error: &io::Error) -> Failure {
    match error.kind() {
        // The reader of the output closed it, so it has enough.
        io::ErrorKind::BrokenPipe => Failure::quiet(Exit::Failed),
        _ => Failure::failed(format!("cannot write to standard output: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node told of a disk whose name wrote to the clipboard of whoever asked for its status.
    #[test]
    fn no_stranger_reaches_the_terminal_with_control_characters() {
        let told = "disk \u{1b}]52;c;bWV0YQ==\u{7}\rproved\u{9b}2J\nnext\tline";
        assert_eq!(cleaned(told, true), "disk ]52;c;bWV0YQ==proved2J\nnext\tline");
        let json = serde_json::to_string(told).expect("a text");
        let escaped = escaped(&json);
        assert!(escaped.chars().all(|char| !char.is_control()), "{escaped}");
        assert_eq!(serde_json::from_str::<String>(&escaped).ok().as_deref(), Some(told));
    }

    #[test]
    fn colours_of_the_program_are_shown_where_it_has_any() {
        let verdict = format!("{GREEN}proved{PLAIN}");
        assert_eq!(cleaned(&verdict, true), verdict);
        assert_eq!(cleaned(&verdict, false), "[32mproved[0m");
        let terminal = Console::of_person(true);
        let amber = terminal.amber("25 hours old");
        assert_eq!(amber, "\u{1b}[33m25 hours old\u{1b}[0m");
        assert_eq!(cleaned(&amber, true), amber);
        assert_eq!(Console::quiet().amber("25 hours old"), "25 hours old");
    }
}
