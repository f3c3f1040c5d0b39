//! What people say of themselves, as a node proves it.

use alloc::vec::Vec;

use metatopia_types::{Certificate, Header, StateProof};
use serde::{Deserialize, Serialize};

/// People of whom one question asks. Each has a leaf of its own at most: with the paths to the root, 32 of them
/// are 150 KiB.
pub const PROFILES_PER_QUESTION_MAX: usize = 32;

/// What people say of themselves, in a certified state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfilesAnswer {
    /// A header that states the root of the state two turns before it.
    pub header: Header,
    /// For the header.
    pub certificate: Certificate,
    /// The leaves of that state which hold what was asked for. Whoever is in none of them says nothing.
    pub leaves: Vec<StateProof>,
}
