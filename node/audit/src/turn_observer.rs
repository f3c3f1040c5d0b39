//! Those who look on while turns are applied again.

use std::ops::ControlFlow;

use metatopia_sim::{Applied, Watch, World};
use metatopia_types::{Height, Turn};

/// Observes the turns of a replay, and may end it.
pub trait TurnObserver: Watch {
    /// Learns that turns will be applied to the state after this height. A break ends the replay
    /// before the next turn.
    fn begins(&mut self, _: Height) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Says whether the replay may begin again: the observer has seen nothing yet that it must not
    /// see twice.
    fn may_begin_again(&self) -> bool {
        true
    }

    /// Learns of the turn that is applied next.
    fn comes(&mut self, _: &Turn) {}

    /// Learns what a turn did, and the state after it. A break ends the replay.
    fn applied(&mut self, applied: &Applied, world: &World) -> ControlFlow<()>;
}

/// Ignores all turns.
impl TurnObserver for () {
    fn applied(&mut self, _: &Applied, _: &World) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
