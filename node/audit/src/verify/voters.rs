//! The validator sets of a sim by height, as far as they are proved from genesis on.

use std::collections::BTreeMap;

use metatopia_consensus::{Base, JoinPackError, members_at};
use metatopia_sim::World;
use metatopia_types::{
    Ed25519, Header, Height, LinkError, SimId, Trust, ValidatorSet, limits::SET_LAG,
};

/// Follows the changes of the validators. It learns them from the set changes that a snapshot names
/// (the set before each change certifies it), from states that turns lead to, and from certified headers.
#[derive(Debug)]
pub(super) struct VoterHistory {
    trust: Trust,
    /// The sets by the first height at which each votes.
    since: BTreeMap<Height, ValidatorSet>,
    /// The last height whose set is known.
    known: Height,
}

impl VoterHistory {
    /// Returns a history that begins with the validators of a genesis.
    pub(super) fn new(genesis: ValidatorSet) -> Self {
        Self {
            since: BTreeMap::from([(Height(1), genesis.clone())]),
            trust: Trust { height: Height(0), validators: genesis },
            known: Height(SET_LAG),
        }
    }

    /// Returns the set that votes at a height, if it is known.
    pub(super) fn at(&self, height: Height) -> Option<&ValidatorSet> {
        let last = self.since.range(..=height).next_back().map(|(_, set)| set);
        last.filter(|_| height <= self.known)
    }

    /// Follows the set changes that a snapshot names, from genesis on. Then the sets are known up to
    /// the height after the snapshot.
    ///
    /// # Errors
    /// When the set before a change did not certify it.
    pub(super) fn walk(&mut self, base: &Base, sim: SimId) -> Result<(), JoinPackError> {
        members_at(&base.links, sim, &self.trust, base.height.plus(1), &Ed25519)?;
        for link in &base.links {
            let (changed, next) = (link.header.height.plus(1), link.next.clone());
            let set = ValidatorSet::new(next, |_| true);
            self.since.insert(changed, set.map_err(|_| LinkError::OtherMembers(changed))?);
        }
        self.known = self.known.max(base.height.plus(1));
        Ok(())
    }

    /// Learns the sets of the next heights from a state.
    pub(super) fn learn(&mut self, world: &World) {
        for ahead in 1..=SET_LAG {
            let height = world.height().plus(ahead);
            if height <= self.known {
                continue;
            }
            let set = world.validators(height).expect("a world knows the sets to come");
            let last = self.since.values().next_back();
            if last.is_none_or(|last| last.members() != set.members()) {
                self.since.insert(height, set.clone());
            }
            self.known = height;
        }
    }

    /// Learns from a certified header that the same set votes at the next height.
    pub(super) fn follow(&mut self, header: &Header) {
        let (next, same) = (header.height.plus(1), header.validators == header.next_validators);
        if same && header.height == self.known {
            self.known = next;
        }
    }
}
