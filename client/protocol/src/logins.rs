//! What a login takes, and the tickets that let new keys in.

use metatopia_types::{HeaderId, Height, PublicKey};
use serde::{Deserialize, Serialize};

/// What a login takes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoginTerms {
    /// Nothing: the sim knows the key, or is open to all.
    Free,
    /// Work for this header, of about so many tries.
    Work {
        /// The header's height.
        height: Height,
        /// The id of the decided header.
        header: HeaderId,
        /// Tries that it takes on average.
        tries: u64,
    },
    /// A ticket of an admin.
    Ticket,
    /// The sim lets in nobody new.
    Closed,
    /// The key was given up for another one, and logs in no more.
    Rotated {
        /// The key that took its place.
        to: PublicKey,
    },
}

/// A ticket that lets keys in which are new to the sim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketEntry {
    /// Its public key.
    pub ticket: PublicKey,
    /// The admin who issued it.
    pub by: PublicKey,
    /// How many keys it still lets in.
    pub left: u32,
    /// Milliseconds of governance time until it ends.
    pub lasts: u64,
}
