//! Long acts: a turn with one of them comes in several parts.

use metatopia_consensus::limits::PART_BYTES;
use metatopia_types::{Act, Blob, Lane, limits::BLOB_BYTES_MAX};

use crate::chance::Dice;

/// Returns what is said in a lane: two parts, or up to five. Everybody can compute it again.
pub(super) fn blob(lane: Lane) -> Blob {
    let mut dice = Dice::new(lane.0, "length of a filler");
    let mut bytes = vec![0; PART_BYTES + dice.index(BLOB_BYTES_MAX - PART_BYTES + 1)];
    // No two parts are equal, so that they cannot take each other's places unseen.
    let mut content = blake3::Hasher::new_derive_key("metatopia simulated filler 2026 v1");
    content.update(&lane.0.to_be_bytes()).finalize_xof().fill(&mut bytes);
    Blob(bytes)
}

/// The act of a lane that says it.
pub(super) fn act(lane: Lane) -> Act {
    Act::Say { channel: 1, body: blob(lane).id() }
}
