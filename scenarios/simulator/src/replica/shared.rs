//! What servers of one sim calculate alike, calculated once.
//!
//! Servers that have the same state come to the same by the same turn: a sim stands on that, and it
//! is what most of the time of a simulated one goes into. Here whoever comes to a turn first
//! calculates it, and others take what came of it. A server shares only while its state has the root
//! that the others' had. So that what follows from a state and is not part of it stays under test, a
//! server that started, or went on from a stored state, calculates for itself for some turns, and in
//! some seeds all servers always do. In the end every turn is played again from the logs.

use std::collections::BTreeMap;
use std::sync::Arc;

use metatopia_sim::{Applied, World};
use metatopia_types::{Height, Root, Turn};

/// Results are kept for so many turns: who is further behind calculates for itself.
const KEPT_TURNS: u64 = 16;

/// So many turns a server calculates for itself after it went on from what it had stored.
pub(super) const ALONE_TURNS: u64 = 5;

/// What came of a turn.
#[derive(Debug)]
struct Known {
    turn: Arc<Turn>,
    world: World,
    applied: Applied,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct SharedWork {
    /// What is known, by the turn's height and the root of the state before it.
    known: BTreeMap<(Height, Root), Known>,
}

impl SharedWork {
    /// Applies a turn to a world by `work`, or takes what that came to for somebody else.
    pub(super) fn apply(
        &mut self,
        world: &mut World,
        turn: &Arc<Turn>,
        work: impl FnOnce(&mut World) -> Applied,
    ) -> Applied {
        let height = turn.header.height;
        let key = (height, world.root());
        if let Some(known) = self.known.get(&key).filter(|known| known.turn == *turn) {
            *world = known.world.clone();
            return known.applied.clone();
        }
        let applied = work(world);
        let known =
            Known { turn: Arc::clone(turn), world: world.clone(), applied: applied.clone() };
        self.known.insert(key, known);
        self.known.retain(|(old, _), _| old.plus(KEPT_TURNS) > height);
        applied
    }
}
