//! What the header of a turn must state, and what it must not.

use std::sync::Arc;

use metatopia_types::{Digest, HeaderId, Height, Millis, Root, Round, SimId, Turn, ValidatorSet};

use crate::{Void, turn_time};

/// What all turns of one height have to fit.
#[derive(Clone, Debug)]
pub(crate) struct TurnContext {
    pub sim: SimId,
    pub engine: u32,
    pub turn_length: u64,
    pub height: Height,
    /// The turn before.
    pub previous: HeaderId,
    /// The time of the previous turn.
    pub previous_time: Millis,
    /// The height of the state whose root is stated.
    pub root_height: Height,
    pub root: Root,
    pub set: Arc<ValidatorSet>,
    pub next: Arc<ValidatorSet>,
}

/// How a turn came to us: what its header may claim depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnArrival {
    /// Proposed for the first time in this round, now.
    Fresh(Round, Millis),
    /// Proposed again, or prevoted by a quorum, or decided, in this round: others saw it fresh.
    Backed(Round),
}

impl TurnContext {
    /// Checks all that does not depend on how the turn came to us. Cheap checks come first; the host judges
    /// the acts.
    pub(crate) fn check(&self, turn: &Turn) -> Result<(), Void> {
        let header = &turn.header;
        if header.sim != self.sim || header.engine != self.engine || header.height != self.height {
            return Err(Void::Elsewhere);
        }
        if header.previous != self.previous {
            return Err(Void::Previous { stated: header.previous, ours: self.previous });
        }
        if header.root != self.root {
            return Err(Void::Root {
                height: self.root_height,
                stated: header.root,
                ours: self.root,
            });
        }
        if header.validators != self.set.id() || header.next_validators != self.next.id() {
            return Err(Void::Validators);
        }
        if header.reserved != Digest::ZERO {
            return Err(Void::Reserved(header.reserved));
        }
        turn_time::check(header.time, self.previous_time, self.turn_length, None)?;
        match turn.check_body() {
            // Nobody could apply it.
            Ok(()) if !turn.body.is_whole() => Err(Void::OtherBody),
            Ok(()) => Ok(()),
            Err(Some(broken)) => Err(Void::Body(broken)),
            Err(None) => Err(Void::OtherBody),
        }
    }

    /// Checks who built the turn and when. A header that claims an earlier round than it was built in would
    /// put the blame for that round on others, so a fresh turn is of the round it is proposed in.
    pub(crate) fn check_claim(&self, turn: &Turn, came: TurnArrival) -> Result<(), Void> {
        let header = &turn.header;
        let (fits, wall) = match came {
            TurnArrival::Fresh(round, wall) => (header.round == round, Some(wall)),
            TurnArrival::Backed(round) => (header.round <= round, None),
        };
        if !fits || header.proposer != self.set.proposer(self.height, header.round) {
            return Err(Void::Builder { proposer: header.proposer, round: header.round });
        }
        turn_time::check(header.time, self.previous_time, self.turn_length, wall)
    }
}
