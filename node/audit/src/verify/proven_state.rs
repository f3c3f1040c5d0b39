//! States that turns are applied to: the first of a sim, or one that certified turns prove.

use metatopia_consensus::{Base, Decision, JoinPackError};
use metatopia_sim::{Applied, Course, ForkJoin, Unsound, World};
use metatopia_types::{Certificate, Ed25519, HeaderId, Height, LinkError, Turn, certified};

use super::{fault::SnapshotProofError, voters::VoterHistory};
use crate::TurnObserver;

/// A state that turns are applied to, and the place of its history where it began.
pub(super) struct ProvenState {
    course: Course,
    /// The height that it began after; 0 for genesis.
    base: Height,
    /// The turn of that height.
    base_header: HeaderId,
    /// Says whether no turn was applied yet.
    is_fresh: bool,
}

impl ProvenState {
    /// Returns the first state of a sim.
    pub(super) fn genesis(world: World) -> Self {
        Self::from(Height(0), HeaderId::BEFORE_FIRST, world)
    }

    fn from(base: Height, base_header: HeaderId, world: World) -> Self {
        Self { course: Course::new(world), base, base_header, is_fresh: true }
    }

    /// Returns the height after which it began.
    pub(super) const fn base(&self) -> Height {
        self.base
    }

    /// Returns the turn of the height after which it began.
    pub(super) const fn base_header(&self) -> HeaderId {
        self.base_header
    }

    /// Returns the state after the last applied turn.
    pub(super) const fn world(&self) -> &World {
        self.course.world()
    }

    /// Returns the state of a snapshot, which the two turns after it must prove. The set of the height
    /// after the snapshot is known.
    pub(super) fn snapshot(
        voters: &VoterHistory,
        base: &Base,
        world: World,
        [next, last]: [&Decision; 2],
    ) -> Result<Self, SnapshotProofError> {
        let (height, sim) = (base.height, world.sim());
        let chain = |why| SnapshotProofError::Chain { height, why };
        let link = |why: LinkError| chain(why.into());
        let (before, header) = (&next.turn.header, &last.turn.header);
        let follows = (before.height, header.height) == (height.plus(1), height.plus(2));
        if !follows || header.previous != next.turn.id() || before.previous != base.header {
            return Err(SnapshotProofError::OtherState(height));
        }
        let first = voters.at(before.height);
        let first = first.ok_or_else(|| link(LinkError::Missing(before.height)))?;
        certified(sim, before, &next.certificate, first, &Ed25519).map_err(link)?;
        // The turn after the snapshot may itself change the set: its header names the next one.
        let second = if before.next_validators == first.id() { first } else { &base.sets[1] };
        if before.next_validators != second.id() {
            return Err(chain(JoinPackError::OtherSet(header.height)));
        }
        certified(sim, header, &last.certificate, second, &Ed25519).map_err(link)?;
        let same = base.roots == [before.root, header.root] && world.root() == header.root;
        if !same || world.height() != height {
            return Err(SnapshotProofError::OtherState(height));
        }
        let named = [before.validators, header.validators, header.next_validators];
        for (at, named) in (1..).map(|ahead| height.plus(ahead)).zip(named) {
            if world.validators(at).is_none_or(|set| set.id() != named) {
                return Err(chain(JoinPackError::OtherSet(at)));
            }
        }
        Ok(Self::from(height, base.header, world))
    }

    /// Checks the next turn, and applies it.
    pub(super) fn apply(
        &mut self,
        turn: &Turn,
        certificate: &Certificate,
        exec: &dyn ForkJoin,
        observer: &mut dyn TurnObserver,
    ) -> Result<Applied, Unsound> {
        // A world from a snapshot does not know the turn before it.
        if self.is_fresh && turn.header.previous != self.base_header {
            return Err(Unsound::Header("another turn before it"));
        }
        self.course.check(turn, certificate)?;
        self.is_fresh = false;
        Ok(self.course.follow(turn, exec, observer))
    }
}
