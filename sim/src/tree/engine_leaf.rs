//! The leaf that says what all others are: of which engine, by which rules, and in which format each
//! kind is.
//!
//! Whoever reads a state begins with it, so a state of a later engine is told apart from one that is
//! damaged. It therefore begins with the number of the engine for ever.

use std::collections::BTreeMap;

use metatopia_types::{Digest, wire};
use serde::{Deserialize, Serialize};

use super::leaf_keys as kinds;
use crate::{ENGINE, RULES};

/// Each kind of leaf with the version of its format by this engine. An engine that writes a kind in
/// another way has a higher number there, and says how the old form becomes the new one.
const FORMATS: [(&str, u32); 42] = [
    (kinds::CLOCK, 3),
    (kinds::PARAMETERS, 6),
    (kinds::GOVERNANCE, 3),
    (kinds::VALIDATORS, 1),
    (kinds::FIRST_LOGINS, 1),
    (kinds::READINESS, 1),
    (kinds::CHAT, 2),
    (kinds::PLAYERS, 3),
    (kinds::WINDOWS, 1),
    (kinds::HISTORIES, 3),
    (kinds::OWNERS, 1),
    (kinds::PACKAGES, 1),
    (kinds::PUBLICATIONS, 1),
    (kinds::CONTACTS, 1),
    (kinds::JOINTS, 1),
    (kinds::TIER, 1),
    (kinds::SCRIPT, 4),
    (kinds::TILE, 2),
    (kinds::OUTCOMES, 1),
    (kinds::LAND, 2),
    (kinds::GRANTS, 1),
    (kinds::GRANTED, 2),
    (kinds::NEIGHBOUR, 3),
    (kinds::PARCEL, 2),
    (kinds::GHOSTS, 1),
    (kinds::LUGGAGE, 1),
    (kinds::LOTS, 2),
    (kinds::ROLES, 2),
    (kinds::BANS, 1),
    (kinds::MUTES, 1),
    (kinds::FROZEN, 1),
    (kinds::ORDERS, 1),
    (kinds::ROTATED, 1),
    (kinds::REPORTS, 2),
    (kinds::TRACES, 3),
    (kinds::MAILBOXES, 1),
    (kinds::FRIENDS, 1),
    (kinds::FORGOTTEN, 1),
    (kinds::CLUBS, 1),
    (kinds::PROFILES, 2),
    (kinds::PICTURES, 1),
    (kinds::PIECES, 1),
];

/// The engine of a state, and the formats of its leaves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineLeaf {
    /// The engine by which the next turn is applied.
    pub engine: u32,
    /// What names the exact rules of that engine; zero while it is unreleased.
    pub rules: Digest,
    /// The version of each kind of leaf, by the name that its keys begin with.
    pub formats: BTreeMap<String, u32>,
}

impl EngineLeaf {
    /// Returns the leaf of states that this program makes.
    pub(crate) fn own() -> Self {
        let formats = FORMATS.iter().map(|(kind, version)| ((*kind).to_owned(), *version));
        Self { engine: ENGINE, rules: RULES, formats: formats.collect() }
    }

    /// Returns the engine of a state by the content of its leaf, also if a later engine wrote more into
    /// it than this one can decode.
    pub(crate) fn engine_of(content: &[u8]) -> Result<u32, wire::DecodeError> {
        wire::decode_first(content)
    }

    /// Returns the first kind of leaf that this program writes in another format, or does not know.
    pub(crate) fn other_format(&self) -> Option<String> {
        let own = Self::own().formats;
        let kinds = self.formats.keys().chain(own.keys());
        kinds.into_iter().find(|kind| self.formats.get(*kind) != own.get(*kind)).cloned()
    }
}
