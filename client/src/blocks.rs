//! Whose words a person does not want to read. The client alone keeps that; no server is told.

use alloc::{string::String, vec::Vec};

use metatopia_protocol::ChatMessage;
use metatopia_types::{PublicKey, Sign};

use crate::named_keys::{ListSignatureError, NAMED_MAX, NamedKeys, NamedKeysFault};

/// The most people whom a person blocks.
pub const BLOCKED_MAX: usize = NAMED_MAX;

/// The first word of the line with the signature, which names the format and its version.
const TAG: &str = "metatopia-blocks-1";

/// What the text says to people.
const COMMENT: &str = "# People whose words are not shown: a key and a name on each line.\n";

/// Says why a block list cannot be changed or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockListError {
    /// It is full.
    #[error("a block list has {BLOCKED_MAX} people at most; unblock somebody first")]
    Full,
    /// A line of its text begins with no key.
    #[error("line {0} of the block list begins with no key; mend it or take it out")]
    Line(usize),
    /// The person's key did not sign it.
    #[error("the block list: {0}")]
    Signature(ListSignatureError),
}

impl From<NamedKeysFault> for BlockListError {
    fn from(fault: NamedKeysFault) -> Self {
        match fault {
            NamedKeysFault::Full => Self::Full,
            NamedKeysFault::Line(number) => Self::Line(number),
            NamedKeysFault::Signature(why) => Self::Signature(why),
        }
    }
}

/// The people whose words a person does not want to read, by their keys, with the names that they had then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockList(NamedKeys);

impl BlockList {
    /// Reads the list of one of these keys from the text that [`BlockList::export`] wrote: the key of a person, and
    /// perhaps the one in whose place it came. Lines that are empty or begin with `#` say nothing.
    ///
    /// # Errors
    /// See [`BlockListError`].
    pub fn import(text: &str, owners: &[PublicKey]) -> Result<Self, BlockListError> {
        Ok(Self(NamedKeys::import(text, TAG, owners)?))
    }

    /// Reads a list as [`BlockList::import`] does, whoever signed it: one that a person says is her own.
    ///
    /// # Errors
    /// See [`BlockListError`].
    pub fn recall(text: &str) -> Result<Self, BlockListError> {
        Ok(Self(NamedKeys::recall(text, TAG)?))
    }

    /// Writes the list as text: a line with key and name for each person, in the order of keys, and the signature of
    /// its owner.
    #[must_use]
    pub fn export(&self, owner: &dyn Sign) -> String {
        self.0.export((COMMENT, TAG), owner)
    }

    /// Blocks a person, whose name is kept to be read by people alone.
    ///
    /// # Errors
    /// See [`BlockListError::Full`].
    pub fn block(&mut self, key: PublicKey, name: &str) -> Result<(), BlockListError> {
        Ok(self.0.put(key, name)?)
    }

    /// Lets a person be heard again. Returns whether that person was blocked.
    pub fn unblock(&mut self, key: &PublicKey) -> bool {
        self.0.take(key)
    }

    /// Says whether a person is blocked.
    #[must_use]
    pub fn has(&self, key: &PublicKey) -> bool {
        self.0.has(key)
    }

    /// Says whether a line is not to be shown, because a blocked person said it. Things are heard, whosever they are.
    #[must_use]
    pub fn hides(&self, line: &ChatMessage) -> bool {
        line.by.is_some_and(|key| self.has(&key))
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
