//! Reports: what people tell moderators about a thing or a person, and how moderators rule.

use serde::{Deserialize, Serialize};

use crate::{BlobId, ObjectId, PublicKey};

/// What a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ReportSubject {
    /// A thing, by its number.
    Thing(ObjectId),
    /// A person, by her key.
    Person(PublicKey),
    /// Private words of a person to the reporter.
    Words {
        /// The author of the words.
        by: PublicKey,
        /// A blob of the same turn: [`OpenedWords`](crate::OpenedWords), which prove them.
        opened: BlobId,
    },
}

/// What a moderator decided about a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Ruling {
    /// The report was right.
    Upheld,
    /// The report was not.
    Dismissed,
}

impl Ruling {
    /// Returns the word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Upheld => "upheld",
            Self::Dismissed => "dismissed",
        }
    }

    /// Returns the ruling of this word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        [Self::Upheld, Self::Dismissed].into_iter().find(|ruling| ruling.word() == word)
    }
}
