//! Watching the stages of a turn: how long they take, by whoever has a clock, and what state each of
//! them leaves, by whoever looks for where two machines part.

use std::sync::Arc;

use metatopia_types::{Root, Tick};

use crate::{leaves::Leaves, state::State, world::World};

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
    /// Leaves are encoded and hashed, up to the root.
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

/// Is told when a stage begins; the one before it has ended then. It cannot influence the turn.
pub trait Watch {
    /// A stage begins.
    fn enter(&mut self, stage: Stage);

    /// Shall the state be hashed after every stage of every tick? That is several times the work of
    /// the turn.
    fn is_heavy(&self) -> bool {
        false
    }

    /// The state after a stage other than [`Stage::Leaves`], and its tick. Told only to who
    /// [is heavy](Watch::is_heavy).
    fn left(&mut self, stage: Stage, tick: Tick, root: Root) {
        let _ = (stage, tick, root);
    }

    /// Shall the world be shown after every tick? That takes a copy of its state each time.
    fn looks_into_ticks(&self) -> bool {
        false
    }

    /// The world after a tick, hashed. Shown only to who [looks into
    /// ticks](Watch::looks_into_ticks).
    fn ticked(&mut self, world: &World) {
        let _ = world;
    }
}

/// Looks away.
impl Watch for () {
    fn enter(&mut self, _: Stage) {}
}

/// Who watches, and what that takes.
pub(crate) struct Probe<'a> {
    watch: &'a mut dyn Watch,
    /// For hashing in between; the world's own leaves stay as they were before the turn.
    leaves: Option<Leaves>,
}

impl<'a> Probe<'a> {
    /// Watches a world with these leaves.
    pub(crate) fn new(watch: &'a mut dyn Watch, leaves: &Leaves) -> Self {
        let leaves = watch.is_heavy().then(|| leaves.clone());
        Self { watch, leaves }
    }

    pub(crate) fn enter(&mut self, stage: Stage) {
        self.watch.enter(stage);
    }

    /// A stage ended. What was touched stays marked in the state itself.
    pub(crate) fn leave(&mut self, stage: Stage, tick: Tick, state: &State) {
        if let Some(leaves) = &mut self.leaves {
            let root = leaves.refresh(&mut state.clone());
            self.watch.left(stage, tick, root);
        }
    }

    /// A tick ended. The world's own leaves stay as they were before the turn, here too.
    pub(crate) fn ticked(&mut self, world: &World) {
        if self.watch.looks_into_ticks() {
            let mut then = world.clone();
            Arc::make_mut(&mut then.leaves).refresh(Arc::make_mut(&mut then.state));
            self.watch.ticked(&then);
        }
    }
}
