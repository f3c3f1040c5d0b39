//! Who voted at which height, as far as it is proved from genesis on.

use std::collections::BTreeMap;

use metatopia_consensus::{Base, JoinPackError, Trust, members_at};
use metatopia_sim::World;
use metatopia_types::{Ed25519, Header, Height, SimId, ValidatorSet, limits::SET_LAG};

/// Follows the changes of the validators: by what a snapshot names of them, each certified by those
/// who voted before it, by states that turns lead to, and by certified headers.
pub(super) struct VoterHistory {
    trust: Trust,
    /// Each set, by the first height at which it votes.
    since: BTreeMap<Height, ValidatorSet>,
    /// Up to here it is known who votes.
    known: Height,
}

impl VoterHistory {
    /// Begins with the validators of a genesis.
    pub(super) fn new(genesis: ValidatorSet) -> Self {
        Self {
            since: BTreeMap::from([(Height(1), genesis.clone())]),
            trust: Trust { height: Height(0), validators: genesis },
            known: Height(SET_LAG),
        }
    }

    /// Who votes at a height, if that is known.
    pub(super) fn at(&self, height: Height) -> Option<&ValidatorSet> {
        let last = self.since.range(..=height).next_back().map(|(_, set)| set);
        last.filter(|_| height <= self.known)
    }

    /// Walks the set changes that a snapshot names, from genesis on: then it is known who votes up to
    /// the height after it.
    ///
    /// # Errors
    /// When they are not certified, each by those who voted before it.
    pub(super) fn walk(&mut self, base: &Base, sim: SimId) -> Result<(), JoinPackError> {
        members_at(&base.links, sim, &self.trust, base.height.plus(1), &Ed25519)?;
        for link in &base.links {
            let (changed, next) = (link.header.height.plus(1), link.next.clone());
            let set = ValidatorSet::new(next, |_| true);
            self.since.insert(changed, set.map_err(|_| JoinPackError::OtherMembers(changed))?);
        }
        self.known = self.known.max(base.height.plus(1));
        Ok(())
    }

    /// Learns from a state who votes at the next heights.
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

    /// Learns from a header, whose certificate holds, that the same vote at the next height.
    pub(super) fn follow(&mut self, header: &Header) {
        let (next, same) = (header.height.plus(1), header.validators == header.next_validators);
        if same && header.height == self.known {
            self.known = next;
        }
    }
}
