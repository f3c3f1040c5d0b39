//! The shelves of a land office after its last turns, to prove who holds a point.
//!
//! A header states the root of the state two turns before it, and the world goes on meanwhile. So the
//! shelves of the last states are kept; they share what did not change.

use std::collections::VecDeque;

use metatopia_consensus::Decision;
use metatopia_sim::{MapShelves, World};
use metatopia_types::{Height, LandProof, TilePoint, ValidatorSet, limits::ROOT_LAG};

/// States whose shelves are kept: the newest ones, of which one is certified.
pub(crate) const SHELVES_KEPT: usize = ROOT_LAG as usize + 1;

/// The shelves of the last states, the oldest first, each with who votes at the height whose header states
/// its root. Empty in a sim that is no land office.
#[derive(Debug, Default)]
pub(crate) struct ProvableLand(VecDeque<(MapShelves, ValidatorSet)>);

impl ProvableLand {
    /// Keeps the shelves of a state.
    pub(crate) fn keep(&mut self, world: &World) {
        let Some(shelves) = world.map_shelves() else {
            return;
        };
        let set = world.validators(world.height().plus(ROOT_LAG));
        let set = set.expect("a world knows the sets to come").clone();
        // A state that was computed again takes the place of what was computed before.
        self.0.retain(|(kept, _)| kept.height() < shelves.height());
        self.0.push_back((shelves, set));
        while self.0.len() > SHELVES_KEPT {
            self.0.pop_front();
        }
    }

    /// Forgets everything, because the state was wrong.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Proves the shelf about a point from the newest state whose root is certified.
    pub(crate) fn proof<'a>(
        &self,
        point: TilePoint,
        decision: impl Fn(Height) -> Option<&'a Decision>,
    ) -> Option<LandProof> {
        self.0.iter().rev().find_map(|(shelves, set)| {
            let decision = decision(shelves.height().plus(ROOT_LAG))?;
            let header = &decision.turn.header;
            // A server whose state is wrong proves nothing from it.
            let is_stated = header.root == shelves.root() && header.validators == set.id();
            is_stated.then(|| LandProof {
                header: header.clone(),
                certificate: decision.certificate.thinned(set),
                shelf: shelves.proof(point),
            })
        })
    }
}
