//! Clubs: people with a channel of their own, and what they order about it.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::{BlobId, ClubId, PublicKey};

/// What somebody orders about a club.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClubOrder {
    /// Makes a club, whose owner the author is.
    Found {
        /// What the club is called.
        name: String,
    },
    /// Invites a player. Every member may.
    Invite {
        /// The club that it is about.
        club: ClubId,
        /// The player who is invited.
        key: PublicKey,
    },
    /// Becomes a member, by an invite.
    Accept {
        /// The club that it is about.
        club: ClubId,
    },
    /// Declines an invite.
    Decline {
        /// The club that it is about.
        club: ClubId,
    },
    /// Ends one's own membership.
    Leave {
        /// The club that it is about.
        club: ClubId,
    },
    /// Ends the membership of another, or takes an invite back, as the owner.
    Remove {
        /// The club that it is about.
        club: ClubId,
        /// The member, or who is invited.
        key: PublicKey,
    },
    /// Makes another member the owner.
    HandOver {
        /// The club that it is about.
        club: ClubId,
        /// The new owner.
        to: PublicKey,
    },
    /// Gives a club another name, as its owner.
    Rename {
        /// The club that it is about.
        club: ClubId,
        /// What the club is called from now on.
        name: String,
    },
    /// Ends a club, as its owner.
    Dissolve {
        /// The club that it is about.
        club: ClubId,
    },
    /// Says something that the members hear who are logged in; the words are a blob of the same turn.
    Say {
        /// The club that it is about.
        club: ClubId,
        /// UTF-8, at most `CHAT_BYTES_MAX` bytes.
        body: BlobId,
    },
}

impl ClubOrder {
    /// Returns the club that it is about, if that is there already.
    #[must_use]
    pub const fn club(&self) -> Option<ClubId> {
        match self {
            Self::Found { .. } => None,
            Self::Invite { club, .. }
            | Self::Accept { club }
            | Self::Decline { club }
            | Self::Leave { club }
            | Self::Remove { club, .. }
            | Self::HandOver { club, .. }
            | Self::Rename { club, .. }
            | Self::Dissolve { club }
            | Self::Say { club, .. } => Some(*club),
        }
    }
}

/// A club as people are told of it beside something else: its number and its name at that moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClubName {
    /// The number of the club.
    pub club: ClubId,
    /// What it is called.
    pub name: String,
}
