//! What an agreement holds in memory, beside the limit of each kind.

use super::Agreement;
use crate::limits::{
    ASSEMBLIES_PER_PEER_MAX, DECISION_BYTES_KEPT, DECISIONS_AHEAD_MAX, DECISIONS_KEPT,
    EARLY_FRAMES_PER_PEER_MAX, LINKS_MAX, PEERS_MAX, SIGNATURES_CACHED_MAX,
};

/// One kind of thing that an agreement holds, for whoever watches its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceCount {
    /// What is counted.
    pub what: &'static str,
    /// How many there are now; where each peer has a share, the share of the one that has most.
    pub count: usize,
    /// How many there may be.
    pub most: usize,
}

impl Agreement {
    /// Returns how much is held of each thing that peers or time can make grow, with its limit.
    #[must_use]
    pub fn held(&self) -> [ResourceCount; 8] {
        let held = |what, count, most| ResourceCount { what, count, most };
        let (decisions, bytes) = self.chain.kept();
        [
            held("peers", self.peers.len(), PEERS_MAX),
            held("early messages of a peer", self.peers.early_most(), EARLY_FRAMES_PER_PEER_MAX),
            held("unfinished turns", self.turn_store.most_of_a_peer(), ASSEMBLIES_PER_PEER_MAX),
            held("decisions ahead", self.catch_up.len(), DECISIONS_AHEAD_MAX as usize),
            held("decided turns", decisions, DECISIONS_KEPT as usize),
            held("bytes of decided turns", bytes, DECISION_BYTES_KEPT),
            held("set changes", self.chain.links().len(), LINKS_MAX),
            held("good signatures", self.core.signatures(), SIGNATURES_CACHED_MAX),
        ]
    }
}
