//! Recoveries: which state a sim goes on from when no root had a quorum.
//!
//! Servers that disagree about a state two against two decide nothing any more, although enough of
//! them live, and none of them can know who is wrong. Their operators can: they look, and with more
//! than two thirds of the voting power sign which root holds.
//!
//! # Why a recovery cannot fork a sim
//! It says which *state* is right after a decided turn, and nothing about which turns are decided.
//! Every decided turn stays decided, no vote is taken back, and every server goes on from its own
//! record of what it signed: in a height it votes once a round, and keeps its lock, as if it had
//! only been restarted. Two turns of one height can only be decided if more than a third of the
//! voting power votes for both; a recovery changes which turns a server calls valid, and the
//! argument for agreement does not use validity at all. So the worst that a wrong recovery does is
//! to let servers disagree again, and loudly.
//!
//! To be of use as well, it must not contradict what is decided, or could be. The header of turn
//! `height + 1` states the first of the two roots, that of `height + 2` the second. An operator's
//! program refuses to sign when such a turn is decided that states another root, or when its server
//! has precommitted one. If one was decided anywhere, more than two thirds precommitted it, so more
//! than a third of the voting power, an honest server among it, had to sign against its own
//! precommit: there is no such recovery, unless that precommit came after the signature; then the
//! decided turn shows that the recovery is void, and it is refused where it is applied.
//!
//! A recovery is for one sim, one engine, and one turn by its digest; of two for the same turn the one
//! with the greater number counts. Once the header of turn `height + 2` is decided the root is
//! certified, and the recovery of no more use to anybody: so an old one cannot be played again.

use alloc::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    CertificateError, HeaderId, Height, PublicKey, Root, Sign, Signature, SimId, ValidatorSet,
    Verify, certificate::check_quorum, limits::ROOT_LAG, wire,
};

/// "After this turn the state is this one."
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    /// In which sim.
    pub sim: SimId,
    /// The engine whose rules computed the state.
    pub engine: u32,
    /// Tells those for one turn apart, counted from 1: the last one counts.
    pub number: u32,
    /// After the turn of this height, at least 1.
    pub height: Height,
    /// The id of that turn.
    pub header: HeaderId,
    /// The roots of the state after the turn before, and after this one.
    pub roots: [Root; 2],
}

/// A recovery with the signatures of servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedRecovery {
    /// What they signed.
    pub recovery: Recovery,
    /// The signatures by voting keys.
    pub signatures: BTreeMap<PublicKey, Signature>,
}

impl Recovery {
    /// Returns the bytes that are signed.
    #[must_use]
    pub fn sign_bytes(&self) -> [u8; 32] {
        blake3::derive_key("metatopia recovery v1", &wire::encode(self))
    }

    /// The root that the header of this height must state by it; nothing if it says nothing of that.
    #[must_use]
    pub fn root_in(&self, height: Height) -> Option<Root> {
        let [before, after] = self.roots;
        let last = self.height.plus(ROOT_LAG);
        match height {
            height if height == last => Some(after),
            height if height.plus(1) == last => Some(before),
            _ => None,
        }
    }
}

impl SignedRecovery {
    /// The recovery without any signature.
    #[must_use]
    pub const fn new(recovery: Recovery) -> Self {
        Self { recovery, signatures: BTreeMap::new() }
    }

    /// Adds a server's signature.
    pub fn sign(&mut self, key: &dyn Sign) {
        self.signatures.insert(key.public(), key.sign(&self.recovery.sign_bytes()));
    }

    /// Checks that more than two thirds of `set`, who vote at the height after its own, signed it.
    ///
    /// # Errors
    /// The first thing that is wrong. Every signature is checked, also those past a quorum.
    pub fn verify(&self, set: &ValidatorSet, scheme: &dyn Verify) -> Result<(), CertificateError> {
        let bytes = self.recovery.sign_bytes();
        check_quorum(self.signatures.iter(), set, scheme, |_| bytes)
    }
}
