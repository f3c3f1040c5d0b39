//! Whose words a person does not want to read. The client alone keeps that; no server is told.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString as _},
    vec::Vec,
};
use core::fmt::Write as _;

use metatopia_protocol::ChatMessage;
use metatopia_types::PublicKey;

use crate::text::printable;

/// The most people whom a person blocks.
pub const BLOCKED_MAX: usize = 1_024;

/// The most characters of a name that a block list keeps.
const NAME_CHARS: usize = 64;

/// Says why a block list cannot be changed or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockListError {
    /// It is full.
    #[error("a block list has {BLOCKED_MAX} people at most; unblock somebody first")]
    Full,
    /// A line of its text begins with no key.
    #[error("line {0} of the block list begins with no key; mend it or take it out")]
    Line(usize),
}

/// The people whose words a person does not want to read, by their keys, with the names that they had then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockList {
    names: BTreeMap<PublicKey, String>,
}

impl BlockList {
    /// Reads a list from the text that [`BlockList::export`] wrote. Lines that are empty or begin with `#` say
    /// nothing.
    ///
    /// # Errors
    /// See [`BlockListError`].
    pub fn import(text: &str) -> Result<Self, BlockListError> {
        let mut list = Self::default();
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (key, name) = line.split_once(' ').unwrap_or((line, ""));
            let key = key.parse().map_err(|_| BlockListError::Line(number))?;
            list.block(key, name)?;
        }
        Ok(list)
    }

    /// Writes the list as text: a line with key and name for each person, in the order of keys.
    #[must_use]
    pub fn export(&self) -> String {
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

    /// Blocks a person, whose name is kept to be read by people alone.
    ///
    /// # Errors
    /// See [`BlockListError::Full`].
    pub fn block(&mut self, key: PublicKey, name: &str) -> Result<(), BlockListError> {
        if self.names.len() >= BLOCKED_MAX && !self.has(&key) {
            return Err(BlockListError::Full);
        }
        let name: String = printable(name).trim().chars().take(NAME_CHARS).collect();
        self.names.insert(key, name.trim_end().to_string());
        Ok(())
    }

    /// Lets a person be heard again. Returns whether that person was blocked.
    pub fn unblock(&mut self, key: &PublicKey) -> bool {
        self.names.remove(key).is_some()
    }

    /// Says whether a person is blocked.
    #[must_use]
    pub fn has(&self, key: &PublicKey) -> bool {
        self.names.contains_key(key)
    }

    /// Says whether a line is not to be shown, because a blocked person said it. Things are heard, whosever they are.
    #[must_use]
    pub fn hides(&self, line: &ChatMessage) -> bool {
        line.by.is_some_and(|key| self.has(&key))
    }

    /// Returns the people on the list with their names, in the order of keys.
    pub fn people(&self) -> impl Iterator<Item = (&PublicKey, &str)> {
        self.names.iter().map(|(key, name)| (key, name.as_str()))
    }

    /// Returns the people whose name or key begins with what was typed; one whose name or key is just that is the
    /// only one.
    #[must_use]
    pub fn named(&self, typed: &str) -> Vec<(PublicKey, &str)> {
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
