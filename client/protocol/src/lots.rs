//! What servers tell of lots.

use alloc::{string::String, vec::Vec};

use metatopia_math::Vec2;
use metatopia_types::{ClubName, LotId, PublicKey};
use serde::{Deserialize, Serialize};

/// Lots in one answer: 256 of at most 1,310 bytes are below 330 KiB.
pub const LOTS_PER_ANSWER_MAX: usize = 256;

/// A lot, for people to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LotEntry {
    /// The number of the lot.
    pub lot: LotId,
    /// What it is called.
    pub name: String,
    /// Its south-western corner, in metres.
    pub low: Vec2,
    /// Its north-eastern corner, in metres.
    pub high: Vec2,
    /// The player who may give it away.
    pub holder: LotPerson,
    /// The players whom the holder lets build there.
    pub friends: Vec<LotPerson>,
    /// The club whose members the holder lets build there.
    pub club: Option<ClubName>,
}

/// A player whom a lot names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LotPerson {
    /// Who it is.
    pub key: PublicKey,
    /// The player's name; empty if the sim knows nobody with this key any more.
    pub name: String,
}
