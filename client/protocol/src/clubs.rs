//! What servers tell of clubs: people with a channel of their own.

use alloc::{string::String, vec::Vec};

use metatopia_types::{ClubId, PublicKey};
use serde::{Deserialize, Serialize};

/// Clubs in one answer: 32 of at most 9 kB are below 290 KiB.
pub const CLUBS_PER_ANSWER_MAX: usize = 32;

/// A club, for people to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClubEntry {
    /// The number of the club.
    pub club: ClubId,
    /// What it is called.
    pub name: String,
    /// The member who may remove others, and end it.
    pub owner: PublicKey,
    /// The members, ascending by key.
    pub members: Vec<ClubPerson>,
    /// Who is invited and has not answered, ascending by key.
    pub invites: Vec<ClubInviteEntry>,
}

/// A player in a club.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClubPerson {
    /// Who it is.
    pub key: PublicKey,
    /// The player's name; empty if the sim knows nobody with this key any more.
    pub name: String,
    /// Whether the player is logged in.
    pub here: bool,
}

/// An invite that is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClubInviteEntry {
    /// Who is invited.
    pub invited: ClubPerson,
    /// The member who invited.
    pub by: PublicKey,
    /// How long the invite is open, in milliseconds of governance time.
    pub left: u64,
}

impl ClubEntry {
    /// Returns the member of this key.
    #[must_use]
    pub fn member(&self, key: &PublicKey) -> Option<&ClubPerson> {
        self.members.iter().find(|member| member.key == *key)
    }

    /// Returns the invite to this key.
    #[must_use]
    pub fn invite(&self, key: &PublicKey) -> Option<&ClubInviteEntry> {
        self.invites.iter().find(|invite| invite.invited.key == *key)
    }
}
