//! Watches the stages of a turn: somebody with a clock measures how long they take, and somebody who looks
//! for a divergence compares the states that they leave.

use std::sync::Arc;

use metatopia_types::{Root, Tick};

use super::{sim_state::State, world::World};
use crate::tree::StateLeaves;

/// A stage of applying a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Acts are decided, and what they change is made.
    Acts,
    /// Avatars are steered, and bodies step.
    Physics,
    /// Events are put into inboxes, and scripts run.
    Scripts,
    /// What scripts did is merged.
    Merge,
    /// StateLeaves are encoded and hashed, up to the root.
    Leaves,
}

impl Stage {
    /// All of them, in the order in which a turn first enters them.
    pub const ALL: [Self; 5] =
        [Self::Acts, Self::Physics, Self::Scripts, Self::Merge, Self::Leaves];

    /// Its name, in small letters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Acts => "acts",
            Self::Physics => "physics",
            Self::Scripts => "scripts",
            Self::Merge => "merge",
            Self::Leaves => "leaves",
        }
    }
}

/// Watches a turn. A stage begins when the one before it has ended. A watch cannot influence the turn.
pub trait Watch {
    /// Learns that a stage begins.
    fn enter(&mut self, stage: Stage);

    /// Says whether the state is to be hashed after every stage of every tick, which is several times the
    /// work of the turn.
    fn is_heavy(&self) -> bool {
        false
    }

    /// Learns the root after a stage other than [`Stage::Leaves`], and its tick, if the watch
    /// [is heavy](Watch::is_heavy).
    fn left(&mut self, stage: Stage, tick: Tick, root: Root) {
        let _ = (stage, tick, root);
    }

    /// Says whether the watch wants the world after every tick, which takes a copy of its state each time.
    fn looks_into_ticks(&self) -> bool {
        false
    }

    /// Learns the world after a tick, hashed, if the watch [looks into
    /// ticks](Watch::looks_into_ticks).
    fn ticked(&mut self, world: &World) {
        let _ = world;
    }
}

/// Ignores all stages.
impl Watch for () {
    fn enter(&mut self, _: Stage) {}
}

/// The watch of a turn, and the leaves by which it hashes between the stages.
pub(super) struct Probe<'a> {
    watch: &'a mut dyn Watch,
    /// For hashing in between; the world's own leaves stay as they were before the turn.
    leaves: Option<StateLeaves>,
}

impl<'a> Probe<'a> {
    /// Watches a world with these leaves.
    pub(super) fn new(watch: &'a mut dyn Watch, leaves: &StateLeaves) -> Self {
        let leaves = watch.is_heavy().then(|| leaves.clone());
        Self { watch, leaves }
    }

    /// Tells the watch that a stage begins.
    pub(super) fn enter(&mut self, stage: Stage) {
        self.watch.enter(stage);
    }

    /// Tells the watch the root after a stage. What was touched stays marked in the state itself.
    pub(super) fn leave(&mut self, stage: Stage, tick: Tick, state: &State) {
        if let Some(leaves) = &mut self.leaves {
            let root = leaves.refresh(&mut state.clone());
            self.watch.left(stage, tick, root);
        }
    }

    /// Shows the watch the world after a tick. The world's own leaves stay as they were before the turn.
    pub(super) fn ticked(&mut self, world: &World) {
        if self.watch.looks_into_ticks() {
            let mut then = world.clone();
            Arc::make_mut(&mut then.leaves).refresh(Arc::make_mut(&mut then.state));
            self.watch.ticked(&then);
        }
    }
}
