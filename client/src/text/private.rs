//! Reading what people type to tell one person something, and the lines of what they are told.

use alloc::{
    format,
    string::{String, ToString as _},
};

use metatopia_protocol::{ToldMessage, span};
use metatopia_types::limits::CHAT_BYTES_MAX;

use super::{printable, report::name_and_rest};
use crate::{OpenWordsError, PrivateWords};

/// What somebody types about private words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrivateCommand {
    /// Tell a person of this name something.
    Tell(String, String),
    /// Show what is in the mailbox again.
    Mailbox,
    /// Take out of the mailbox what was shown.
    Empty,
}

/// Why a line about private words is not understood. It says how it is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrivateLineError {
    /// Nobody is named, or nothing is said.
    #[error("that is `tell NAME WORDS` or `tell \"LONG NAME\" WORDS`")]
    Tell,
    /// A line about the mailbox that is none.
    #[error("that is `mailbox` or `mailbox empty`")]
    Mailbox,
    /// Too many words for one time.
    #[error("{0} bytes are too many to tell at once; at most {CHAT_BYTES_MAX}")]
    TooLong(usize),
}

/// Reads a line that begins with `tell` or `mailbox`.
pub(super) fn parse(first: &str, rest: &str) -> Result<PrivateCommand, PrivateLineError> {
    match (first, rest) {
        ("mailbox", "") => Ok(PrivateCommand::Mailbox),
        ("mailbox", "empty") => Ok(PrivateCommand::Empty),
        ("mailbox", _) => Err(PrivateLineError::Mailbox),
        _ => {
            let (name, words, _) = name_and_rest(rest).ok_or(PrivateLineError::Tell)?;
            if words.len() > CHAT_BYTES_MAX {
                return Err(PrivateLineError::TooLong(words.len()));
            }
            Ok(PrivateCommand::Tell(name.to_string(), words.to_string()))
        }
    }
}

/// Returns the line of words that somebody told the client's player.
#[must_use]
pub fn told(words: &PrivateWords, is_earlier: bool) -> String {
    let PrivateWords { number, name, by, ago, text, .. } = words;
    let (name, text) = (author(name, &by.to_string()), printable(text));
    let earlier = if is_earlier { format!("Earlier, {} ago: ", span(*ago)) } else { String::new() };
    format!("{earlier}{name} tells you privately (words {number}): {text}")
}

/// Returns the line of words that cannot be read.
#[must_use]
pub fn unreadable(told: &ToldMessage, why: OpenWordsError) -> String {
    let name = author(&told.name, &told.act.envelope.author.to_string());
    format!("Private words of {name} cannot be read: {why}.")
}

/// Returns how an author is called.
fn author(name: &str, key: &str) -> String {
    match printable(name) {
        name if name.is_empty() => format!("{}..", &key[..8]),
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_words_are_typed_with_a_name_and_everything_else_says_how_it_is_meant() {
        let read = |line: &str| parse("tell", line);
        let tell =
            |name: &str, words: &str| Ok(PrivateCommand::Tell(name.to_string(), words.to_string()));
        assert_eq!(read("bob the key is under the mat"), tell("bob", "the key is under the mat"));
        assert_eq!(read("\"Old Bob\" hello"), tell("Old Bob", "hello"));
        for wrong in ["", "bob", "\"Old Bob\"", "  "] {
            assert_eq!(read(wrong), Err(PrivateLineError::Tell), "{wrong}");
        }
        let long = format!("bob {}", "x".repeat(CHAT_BYTES_MAX + 1));
        assert_eq!(read(&long), Err(PrivateLineError::TooLong(CHAT_BYTES_MAX + 1)));
        assert_eq!(parse("mailbox", ""), Ok(PrivateCommand::Mailbox));
        assert_eq!(parse("mailbox", "empty"), Ok(PrivateCommand::Empty));
        assert_eq!(parse("mailbox", "full"), Err(PrivateLineError::Mailbox));
    }
}
