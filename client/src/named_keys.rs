//! Lists of people that a client keeps as text: the keys, with the names that they had then, signed by whose list it
//! is.
//!
//! ```text
//! # A line that begins with # means nothing, and neither does an empty one.
//! 0707070707070707070707070707070707070707070707070707070707070707 Bob
//! metatopia-blocks-1 KEY SIGNATURE
//! ```
//! The last line names the key, and holds what it signs: the lines of people, in the order of keys, under the name of
//! the format. So nobody else makes or changes such a list, and none of another kind passes for it.

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString as _},
    vec::Vec,
};
use core::fmt::Write as _;

use metatopia_types::{Digest, Ed25519, PublicKey, Sign, Signature, Verify as _};

use crate::{
    keys::{hex, parse_hex},
    text::printable,
};

/// The most people on one list.
pub(crate) const NAMED_MAX: usize = 1_024;

/// The most characters of a name that a list keeps.
const NAME_CHARS: usize = 64;

/// Why a list of people cannot be changed or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamedKeysFault {
    Full,
    /// The line of this number begins with no key.
    Line(usize),
    Signature(ListSignatureError),
}

/// Says why a list of people is not taken for somebody's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListSignatureError {
    /// No key signed it.
    #[error("it is not signed by this key, nor by any other")]
    Unsigned,
    /// Another key signed it.
    #[error("it is not signed by this key: it is the list of {0}")]
    OtherKey(PublicKey),
    /// It is not what the key signed.
    #[error("it is not signed by this key as it is: somebody changed it since")]
    Changed,
}

/// A list as it is read, and by whom it says that it is signed.
struct ReadList {
    list: NamedKeys,
    signed: Option<(PublicKey, Signature)>,
}

/// Reads who signed a list, and the signature.
fn signature(words: &str) -> Option<(PublicKey, Signature)> {
    let (key, by) = words.split_once(' ')?;
    Some((key.parse().ok()?, Signature::from_bytes(*parse_hex(by.as_bytes())?)))
}

/// People by their keys, with the names that they had then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NamedKeys {
    names: BTreeMap<PublicKey, String>,
}

impl NamedKeys {
    /// Reads the list of one of these keys, of the kind of this tag.
    pub(crate) fn import(
        text: &str,
        tag: &str,
        owners: &[PublicKey],
    ) -> Result<Self, NamedKeysFault> {
        let ReadList { list, signed } = Self::read(text, tag)?;
        let wrong = |why| Err(NamedKeysFault::Signature(why));
        match signed {
            None => wrong(ListSignatureError::Unsigned),
            Some((key, _)) if !owners.contains(&key) => wrong(ListSignatureError::OtherKey(key)),
            Some((key, by)) if !Ed25519.verify(&key, &list.digest(tag).0, &by) => {
                wrong(ListSignatureError::Changed)
            }
            Some(_) => Ok(list),
        }
    }

    /// Reads the people of a list, whoever signed it.
    pub(crate) fn recall(text: &str, tag: &str) -> Result<Self, NamedKeysFault> {
        Ok(Self::read(text, tag)?.list)
    }

    /// Reads a text. Lines that are empty or begin with `#` say nothing, and the one with the signature is the last.
    fn read(text: &str, tag: &str) -> Result<ReadList, NamedKeysFault> {
        let (mut list, mut signed) = (Self::default(), None);
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
            if signed.is_some() {
                return Err(NamedKeysFault::Line(number));
            } else if first == tag {
                signed = Some(signature(rest).ok_or(NamedKeysFault::Line(number))?);
            } else {
                list.put(first.parse().map_err(|_| NamedKeysFault::Line(number))?, rest)?;
            }
        }
        Ok(ReadList { list, signed })
    }

    /// Writes the list as text: a line with key and name for each person, in the order of keys, and the signature of
    /// its owner.
    pub(crate) fn export(&self, (comment, tag): (&str, &str), owner: &dyn Sign) -> String {
        let by = hex(&owner.sign(&self.digest(tag).0).to_bytes());
        format!("{comment}{}{tag} {} {by}\n", self.lines(), owner.public())
    }

    /// Returns what the owner of the list signs.
    fn digest(&self, tag: &str) -> Digest {
        Digest::of(tag, self.lines().as_bytes())
    }

    fn lines(&self) -> String {
        let mut text = String::new();
        for (key, name) in &self.names {
            let line = match name.is_empty() {
                true => writeln!(text, "{key}"),
                false => writeln!(text, "{key} {name}"),
            };
            line.expect("a string takes all that is written");
        }
        text
    }

    /// Puts a person on the list, whose name is kept to be read by people alone.
    pub(crate) fn put(&mut self, key: PublicKey, name: &str) -> Result<(), NamedKeysFault> {
        if self.names.len() >= NAMED_MAX && !self.has(&key) {
            return Err(NamedKeysFault::Full);
        }
        let name: String = printable(name).trim().chars().take(NAME_CHARS).collect();
        self.names.insert(key, name.trim_end().to_string());
        Ok(())
    }

    /// Takes a person off the list. Returns whether that person was on it.
    pub(crate) fn take(&mut self, key: &PublicKey) -> bool {
        self.names.remove(key).is_some()
    }

    /// Says whether a person is on the list.
    pub(crate) fn has(&self, key: &PublicKey) -> bool {
        self.names.contains_key(key)
    }

    /// Returns the people on the list with their names, in the order of keys.
    pub(crate) fn people(&self) -> impl Iterator<Item = (&PublicKey, &str)> {
        self.names.iter().map(|(key, name)| (key, name.as_str()))
    }

    /// Returns the people whose name or key begins with what was typed; one whose name or key is just that is the
    /// only one.
    pub(crate) fn named(&self, typed: &str) -> Vec<(PublicKey, &str)> {
        let typed = typed.to_lowercase();
        let mut found = Vec::new();
        for (key, name) in self.people() {
            let (lower, digits) = (name.to_lowercase(), key.to_string());
            if lower == typed || digits == typed {
                return Vec::from([(*key, name)]);
            }
            if lower.starts_with(&typed) || digits.starts_with(&typed) {
                found.push((*key, name));
            }
        }
        found
    }
}
