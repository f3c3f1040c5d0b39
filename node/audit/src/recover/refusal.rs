//! The rules by which a server refuses a recovery.

use metatopia_sim::ENGINE;
use metatopia_types::{HeaderId, Height, Recovery, Root, SimId, limits::ROOT_LAG};

/// The rule by which a server refuses to propose, to sign or to take a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecoveryRefusal {
    /// No turn is decided.
    #[error(
        "before the first turn there is nothing to recover: every server computes that state anew \
         when it starts"
    )]
    NothingDecided,
    /// The turn to go back to is not decided.
    #[error("the last decided turn is {tip}: there is no state to go on from")]
    NoSuchTurn {
        /// The last decided turn.
        tip: Height,
    },
    /// Later turns certify the root, and no recovery may contradict them.
    #[error("the root after turn {height} is certified by turn {tip}")]
    Certified {
        /// The height of the recovery.
        height: Height,
        /// The last decided turn.
        tip: Height,
    },
    /// The log of this server ends before the turn of the recovery.
    #[error("this server's log ends at turn {tip}, before turn {height}")]
    ShortLog {
        /// The last decided turn.
        tip: Height,
        /// The height of the recovery.
        height: Height,
    },
    /// Another turn is decided at the height of the recovery.
    #[error("turn {height} of this log is not {header}")]
    OtherTurn {
        /// The height of the recovery.
        height: Height,
        /// The turn that the recovery names.
        header: HeaderId,
    },
    /// The server took a newer recovery to that height.
    #[error("recovery {number} to turn {height} is older than one it took")]
    Older {
        /// The number of the recovery.
        number: u32,
        /// The height of the recovery.
        height: Height,
    },
    /// The server signed for a turn that states another root.
    #[error(
        "this server has signed for turn {height} with root {stated}, not {wanted}: others may have \
         decided it"
    )]
    SignedOtherwise {
        /// The height of the signed turn.
        height: Height,
        /// The root that the signed turn states.
        stated: Root,
        /// The root that it would have to state by the recovery.
        wanted: Root,
    },
    /// The recovery is for another sim.
    #[error("the recovery is for sim {found}, the server is of {own}")]
    OtherSim {
        /// The sim of the recovery.
        found: SimId,
        /// The sim of the server.
        own: SimId,
    },
    /// The recovery is of another engine than this program.
    #[error("the recovery is of engine {0}, not {ENGINE}")]
    OtherEngine(u32),
}

/// Checks that no decided turn certifies the root after the turn of this height.
///
/// # Errors
/// [`RecoveryRefusal::Certified`].
pub(super) fn check_uncertified(height: Height, tip: Height) -> Result<(), RecoveryRefusal> {
    if tip < height.plus(ROOT_LAG) {
        return Ok(());
    }
    Err(RecoveryRefusal::Certified { height, tip })
}

/// Checks that a recovery is about this sim, and by the rules of this program.
///
/// # Errors
/// [`RecoveryRefusal::OtherSim`] or [`RecoveryRefusal::OtherEngine`].
pub fn check_sim(recovery: &Recovery, own: SimId) -> Result<(), RecoveryRefusal> {
    if recovery.sim != own {
        return Err(RecoveryRefusal::OtherSim { found: recovery.sim, own });
    }
    if recovery.engine != ENGINE {
        return Err(RecoveryRefusal::OtherEngine(recovery.engine));
    }
    Ok(())
}
