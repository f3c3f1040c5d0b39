//! Replays a capsule, and sums up what turns lead to: the digest of each stage of a tick, and the
//! state in numbers.

mod stages;
mod summary;
#[cfg(test)]
mod tests;

use metatopia_sim::{Capsule, CapsuleError, Course, ForkJoin, Unsound, World};
use metatopia_types::{Height, Root};

pub use self::{
    stages::{StageDigests, StageHashes, StageLine},
    summary::StateSummary,
};
use crate::{TurnObserver, tools};

/// The reason why a turn of a capsule was not applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("turn {height}: {why}")]
pub struct CapsuleTurnFault {
    /// The height of the turn.
    pub height: Height,
    /// The rule that the turn breaks.
    pub why: Unsound,
}

/// The first root of a capsule's writer that its turns do not lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriterDivergence {
    /// The height of the state.
    pub height: Height,
    /// The writer's root.
    pub had: Root,
    /// The root that the turns lead to here.
    pub found: Root,
}

/// The result of a capsule's replay.
#[derive(Debug)]
pub struct CapsuleReplay {
    /// The state after the last applied turn.
    pub world: World,
    /// The first turn that could not be applied.
    pub fault: Option<CapsuleTurnFault>,
    /// The first state that the writer had otherwise.
    pub divergence: Option<WriterDivergence>,
}

/// Applies the turns of a capsule to its state, as far as the observer wants.
///
/// # Errors
/// When the capsule holds no state to begin with.
pub fn replay_capsule(
    capsule: &Capsule,
    exec: &dyn ForkJoin,
    observer: &mut dyn TurnObserver,
) -> Result<CapsuleReplay, CapsuleError> {
    let (_, world) = capsule.begin(&tools())?;
    let begins = observer.begins(world.height());
    let turns = if begins.is_break() { &[] } else { capsule.turns.as_slice() };
    let mut course = Course::new(world);
    let (mut fault, mut divergence) = (None, None);
    let mut own = capsule.roots.iter();
    for (turn, certificate) in turns {
        if let Err(why) = course.check(turn, certificate) {
            fault = Some(CapsuleTurnFault { height: turn.header.height, why });
            break;
        }
        observer.comes(turn);
        let applied = course.follow(turn, exec, observer);
        if let Some(had) = own.next().copied().filter(|had| *had != applied.root) {
            let (height, found) = (applied.height, applied.root);
            divergence.get_or_insert(WriterDivergence { height, had, found });
        }
        if observer.applied(&applied, course.world()).is_break() {
            break;
        }
    }
    Ok(CapsuleReplay { world: course.world().clone(), fault, divergence })
}
