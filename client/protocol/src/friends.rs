//! What servers tell of the friends who get a lost key back.

use alloc::{string::String, vec::Vec};

use metatopia_types::PublicKey;
use serde::{Deserialize, Serialize};

/// Somebody whom a person named as a friend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FriendEntry {
    /// The key that was named.
    pub key: PublicKey,
    /// What its player is called; empty of one who is none any more.
    pub name: String,
}

/// Friends who were named, and how many of them it takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FriendListEntry {
    /// The friends, ascending by key.
    pub friends: Vec<FriendEntry>,
    /// How many of them it takes.
    pub need: u8,
}

/// A recovery under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryEntry {
    /// Who vouched, each with the new key.
    pub vouches: Vec<(FriendEntry, PublicKey)>,
    /// The new key for which enough did; none until then.
    pub chosen: Option<PublicKey>,
    /// Milliseconds of governance time until the new key takes the place, or until the recovery falls.
    pub left: u64,
}

/// What a sim keeps of the friends of one key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FriendsEntry {
    /// The person whose friends they are.
    pub of: FriendEntry,
    /// The friends who count.
    pub counted: FriendListEntry,
    /// The friends who do not count yet, with the milliseconds of governance time until they do.
    pub next: Option<(FriendListEntry, u64)>,
    /// The recovery under way.
    pub recovery: Option<RecoveryEntry>,
}
