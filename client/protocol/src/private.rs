//! Private words, as servers hand them on: they cannot read them.

use alloc::{string::String, vec::Vec};

use metatopia_types::{Height, SignedEnvelope, wire};
use serde::{Deserialize, Serialize};

/// Sealed words in one answer: those of a whole mailbox, of at most 1,000 bytes.
pub const MAILBOX_PER_ANSWER_MAX: usize = 32;

/// Words that somebody told the client's player. All that is shown of them follows from the act, which its author
/// signed, and from the key of the reader; but for the name and the time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldMessage {
    /// The number of the words in the sim.
    pub number: u64,
    /// In the turn of this height.
    pub height: Height,
    /// Milliseconds of governance time since then.
    pub ago: u64,
    /// The author's name; empty if the sim knows nobody with this key any more.
    pub name: String,
    /// The act of telling.
    pub act: SignedEnvelope,
    /// The sealed words.
    #[serde(with = "wire::bytes")]
    pub sealed: Vec<u8>,
}
