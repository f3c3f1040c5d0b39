//! A world that is played in this process, without servers: what its rules alone hold.

use std::sync::Arc;

use metatopia_sim::{ENGINE, Genesis, Tools, World};
use metatopia_types::{
    Act, Blob, Ed25519, Envelope, Header, Lane, Millis, Outcome, PublicKey, Round, Seq, Signature,
    SignedEnvelope, Turn, TurnBody,
};

/// The time of the first turn: some day in 2023.
const BEGIN: u64 = 1_700_000_000_000;

/// Turns for which an act is valid.
const VALID: u64 = 40;

/// A world, and what makes its turns.
pub(super) struct LoneWorld {
    pub(super) world: World,
    /// Milliseconds of a turn.
    turn_ms: u64,
    next: u64,
}

impl LoneWorld {
    /// Founds the world and starts it.
    pub(super) fn found(genesis: &Genesis, turn_ms: u64) -> Result<Self, String> {
        let world = World::genesis(genesis, &Tools::new(Arc::new(Ed25519)));
        let world = world.map_err(|error| error.to_string())?;
        Ok(Self { world, turn_ms, next: 0 })
    }

    /// Returns an act for the next turn. Nobody signed it: who applies a turn leaves signatures to
    /// those who judged it.
    pub(super) fn act(&mut self, author: PublicKey, act: Act) -> SignedEnvelope {
        self.next += 1;
        let (sim, lane, seq) = (self.world.sim(), Lane(1), Seq(self.next));
        let last_valid = self.world.height().plus(VALID);
        let envelope = Envelope { sim, author, lane, seq, last_valid, act };
        SignedEnvelope { envelope, signature: Signature::from_bytes([0; 64]) }
    }

    /// Returns the next turn, of these acts.
    pub(super) fn turn(&self, acts: Vec<SignedEnvelope>, blobs: Vec<Blob>) -> Turn {
        let height = self.world.height().plus(1);
        let set = self.world.validators(height).expect("the next height has its servers");
        let header = Header {
            sim: self.world.sim(),
            engine: ENGINE,
            height,
            proposer: set.proposer(height, Round(0)),
            time: Millis(BEGIN + self.turn_ms * height.0),
            ..Header::unstated()
        };
        Turn::of(header, TurnBody::new(acts, blobs).expect("less than a turn takes"))
    }

    /// Returns what became of an act of the last turn.
    pub(super) fn outcome(&self, act: &SignedEnvelope) -> Option<Outcome> {
        let outcomes = self.world.outcomes(self.world.height())?;
        outcomes.iter().find(|(id, _)| *id == act.id()).map(|(_, outcome)| *outcome)
    }
}
