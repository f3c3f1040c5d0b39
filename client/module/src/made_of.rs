//! The text that says what a module was made of.

use std::{collections::BTreeMap, fmt};

use sha2::{Digest as _, Sha256};

/// How many digits a digest has.
const DIGITS: usize = 64;

/// Digests by the names of what they are of.
///
/// As text it has one line each, as `sha256sum` writes them; lines that begin with `#` are for readers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MadeOf(BTreeMap<String, String>);

/// A line that is neither a remark nor a digest with a name of its own, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotMadeOf(pub usize);

impl fmt::Display for NotMadeOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} is not a digest and a name", self.0)
    }
}

impl std::error::Error for NotMadeOf {}

impl MadeOf {
    /// Reads the text.
    ///
    /// # Errors
    /// When a line is something else, as after a merge that failed, or names what was named before.
    pub fn parse(text: &str) -> Result<Self, NotMadeOf> {
        let mut found = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            if line.starts_with('#') {
                continue;
            }
            let (digest, name) = line.split_once("  ").ok_or(NotMadeOf(number))?;
            let is_digest = digest.len() == DIGITS
                && digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            if !is_digest || found.0.insert(name.to_owned(), digest.to_owned()).is_some() {
                return Err(NotMadeOf(number));
            }
        }
        Ok(found)
    }

    /// States the digest of these bytes under this name.
    pub(crate) fn state(&mut self, name: &str, bytes: &[u8]) {
        let digest = Sha256::digest(bytes);
        let digits = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        self.0.insert(name.to_owned(), digits);
    }

    /// Returns whether both state the same digest for this name.
    pub(crate) fn says_same_of(&self, other: &Self, name: &str) -> bool {
        self.0.get(name).is_some_and(|digest| other.0.get(name) == Some(digest))
    }

    /// Returns the names of which only one of both states something, or both something else.
    #[must_use]
    pub fn differing(&self, other: &Self) -> Vec<String> {
        let names = self.0.keys().chain(other.0.keys().filter(|name| !self.0.contains_key(*name)));
        let mut names: Vec<_> =
            names.filter(|name| !self.says_same_of(other, name)).cloned().collect();
        names.sort();
        names
    }

    /// Returns the names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl fmt::Display for MadeOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, digest)| writeln!(f, "{digest}  {name}"))
    }
}
