//! A mistake in a file, with its place.

use core::{fmt, ops::Range};

use metatopia_scripting::closest;
use toml::Spanned;

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
    #[must_use]
    pub fn in_file(file: &str, message: impl fmt::Display) -> Self {
        Self { file: file.to_owned(), line: 0, column: 0, message: message.to_string() }
    }
}

/// Returns the text of a file that holds these bytes. `file` is how messages name it.
///
/// # Errors
/// The place of the first byte that is no UTF-8, which counts as one character.
pub fn text_of_file(file: &str, bytes: Vec<u8>) -> Result<String, Mistake> {
    String::from_utf8(bytes).map_err(|error| {
        let end = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes().get(..end).unwrap_or_default());
        let told = "the file is not UTF-8 from here on: save it as text in UTF-8";
        TomlSource { file, text: &text }.mistake_in(text.len()..text.len(), told)
    })
}

/// A text in TOML, to say where mistakes in it are.
#[derive(Debug, Clone, Copy)]
pub struct TomlSource<'a> {
    /// How messages name the file.
    pub file: &'a str,
    /// All that it holds.
    pub text: &'a str,
}

impl TomlSource<'_> {
    /// Reads the text as a value.
    ///
    /// # Errors
    /// The first mistake, with line and column.
    pub fn read<T: serde::de::DeserializeOwned>(&self) -> Result<T, Mistake> {
        toml::from_str(self.text).map_err(|error| match error.span() {
            Some(span) => self.mistake_in(span, plainer(error.message())),
            None => Mistake::in_file(self.file, plainer(error.message())),
        })
    }

    /// A mistake in a value that was read.
    #[must_use]
    pub fn mistake<T>(&self, at: &Spanned<T>, message: impl fmt::Display) -> Mistake {
        self.mistake_in(at.span(), message)
    }

    /// A mistake in these bytes of the text.
    #[must_use]
    pub fn mistake_in(&self, span: Range<usize>, message: impl fmt::Display) -> Mistake {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Mistake { line, column, ..Mistake::in_file(self.file, message) }
    }
}

/// Says that a key is unknown, and which was probably meant; of one that is close to none, all that there are.
pub(crate) fn unknown_key<'a>(key: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let meant = closest(key, known.clone());
    let meant = meant.strip_prefix(": did you mean ").and_then(|meant| meant.strip_suffix('?'));
    match meant {
        Some(meant) => format!("unknown key `{key}`: did you mean `{meant}`?"),
        None => {
            let all: Vec<String> = known.map(|known| format!("`{known}`")).collect();
            format!("unknown key `{key}`, expected one of {}", all.join(", "))
        }
    }
}

/// Returns the message of a parser in words for people: an unknown key with what was probably meant, and a value of
/// the wrong kind without the name of a type.
fn plainer(message: &str) -> String {
    let named = message.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
    if let Some((key, rest)) = named {
        return unknown_key(key, rest.split('`').skip(1).step_by(2));
    }
    let most = |kind| match kind {
        "u8" => Some(u64::from(u8::MAX)),
        "u16" => Some(u64::from(u16::MAX)),
        "u32" => Some(u64::from(u32::MAX)),
        "u64" | "usize" => Some(u64::MAX),
        _ => None,
    };
    match message.split_once(", expected ").and_then(|(found, kind)| Some((found, most(kind)?))) {
        Some((found, most)) => format!("{found}, expected a whole number from 0 to {most}"),
        None => message.to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_is_no_utf8_is_told_by_line_and_by_column_in_characters() {
        let told =
            |bytes: &[u8]| text_of_file("a.rhai", bytes.to_vec()).map_err(|it| it.to_string());
        let what = "the file is not UTF-8 from here on: save it as text in UTF-8";
        assert_eq!(told("a\u{e4}\n".as_bytes()), Ok("a\u{e4}\n".to_owned()));
        assert_eq!(told(b"\xff\xfea\0"), Err(format!("a.rhai:1:1: {what}")));
        assert_eq!(told(b"one\n\n  \xc3\xa4\xc3\xa4 \xe4b\n"), Err(format!("a.rhai:3:6: {what}")));
        // A character that the end of the file cuts is told where it begins.
        assert_eq!(told(b"one\ntwo\xc3"), Err(format!("a.rhai:2:4: {what}")));
    }
}
