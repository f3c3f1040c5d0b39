//! Whom a person likes to find. The client alone keeps that; no server is told.

use alloc::{string::String, vec::Vec};

use metatopia_types::{PublicKey, Sign};

use crate::named_keys::{ListSignatureError, NAMED_MAX, NamedKeys, NamedKeysFault};

/// The most buddies of a person.
pub const BUDDIES_MAX: usize = NAMED_MAX;

/// The first word of the line with the signature, which names the format and its version.
const TAG: &str = "metatopia-buddies-1";

/// What the text says to people.
const COMMENT: &str = "# People whom you like to find: a key and a name on each line.\n";

/// Says why a buddy list cannot be changed or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuddyListError {
    /// It is full.
    #[error("a buddy list has {BUDDIES_MAX} people at most; take somebody off first")]
    Full,
    /// A line of its text begins with no key.
    #[error("line {0} of the buddy list begins with no key; mend it or take it out")]
    Line(usize),
    /// The person's key did not sign it.
    #[error("the buddy list: {0}")]
    Signature(ListSignatureError),
}

impl From<NamedKeysFault> for BuddyListError {
    fn from(fault: NamedKeysFault) -> Self {
        match fault {
            NamedKeysFault::Full => Self::Full,
            NamedKeysFault::Line(number) => Self::Line(number),
            NamedKeysFault::Signature(why) => Self::Signature(why),
        }
    }
}

/// The people whom a person likes to find, by their keys, with the names that they had then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuddyList(NamedKeys);

impl BuddyList {
    /// Reads the list of one of these keys from the text that [`BuddyList::export`] wrote: the key of a person, and
    /// perhaps the one in whose place it came. Lines that are empty or begin with `#` say nothing.
    ///
    /// # Errors
    /// See [`BuddyListError`].
    pub fn import(text: &str, owners: &[PublicKey]) -> Result<Self, BuddyListError> {
        Ok(Self(NamedKeys::import(text, TAG, owners)?))
    }

    /// Reads a list as [`BuddyList::import`] does, whoever signed it: one that a person says is her own.
    ///
    /// # Errors
    /// See [`BuddyListError`].
    pub fn recall(text: &str) -> Result<Self, BuddyListError> {
        Ok(Self(NamedKeys::recall(text, TAG)?))
    }

    /// Writes the list as text: a line with key and name for each person, in the order of keys, and the signature of
    /// its owner.
    #[must_use]
    pub fn export(&self, owner: &dyn Sign) -> String {
        self.0.export((COMMENT, TAG), owner)
    }

    /// Puts a person on the list, whose name is kept to be read by people alone.
    ///
    /// # Errors
    /// See [`BuddyListError::Full`].
    pub fn add(&mut self, key: PublicKey, name: &str) -> Result<(), BuddyListError> {
        Ok(self.0.put(key, name)?)
    }

    /// Takes a person off the list. Returns whether that person was on it.
    pub fn remove(&mut self, key: &PublicKey) -> bool {
        self.0.take(key)
    }

    /// Says whether a person is on the list.
    #[must_use]
    pub fn has(&self, key: &PublicKey) -> bool {
        self.0.has(key)
    }

    /// Returns the people on the list with their names, in the order of keys.
    pub fn people(&self) -> impl Iterator<Item = (&PublicKey, &str)> {
        self.0.people()
    }

    /// Returns the people whose name or key begins with what was typed; one whose name or key is just that is the
    /// only one.
    #[must_use]
    pub fn named(&self, typed: &str) -> Vec<(PublicKey, &str)> {
        self.0.named(typed)
    }
}
