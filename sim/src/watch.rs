//! Watching how long the stages of a turn take, by whoever has a clock.

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
}

/// Is told when a stage begins; the one before it has ended then. It cannot influence the turn.
pub trait Watch {
    /// A stage begins.
    fn enter(&mut self, stage: Stage);
}

/// Looks away.
impl Watch for () {
    fn enter(&mut self, _: Stage) {}
}
