//! Recovers a stalled sim: says from which state a stopped server may go on, and writes that state.
//!
//! The state becomes the server's newest snapshot, with the base that agreement starts from. Then the log
//! notes the recovery with its signatures, and the right roots behind it. Nothing in the log is taken
//! back: the next start reads what this server signed at the height under way, as ever. A crash in
//! between leaves a snapshot that the log does not name yet; then the same is done again.

pub mod file;
mod notes;
mod refusal;
mod state;
#[cfg(test)]
mod tests;

use metatopia_sim::ENGINE;
use metatopia_types::{Height, Recovery};

use self::refusal::check_uncertified;
pub use self::{
    notes::{RecoveryNotes, RecoveryNotesError},
    refusal::{RecoveryRefusal, check_sim},
    state::{OwnStateError, PutStateError, RecoveredState, contradicting_snapshots, own_state},
};
use crate::kept_state::{KeptStateError, ServerFiles};

/// The reason why a server proposes no recovery.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProposeError {
    /// A rule forbids it.
    #[error(transparent)]
    Refused(#[from] RecoveryRefusal),
    /// The server's state could not be computed.
    #[error(transparent)]
    State(#[from] KeptStateError),
}

/// Returns the recovery to the state that this server comes to after the turn of a height; without a
/// height, after the last decided turn.
///
/// # Errors
/// See [`ProposeError`].
pub fn propose(
    server: &ServerFiles<'_>,
    notes: &RecoveryNotes,
    to: Option<Height>,
) -> Result<Recovery, ProposeError> {
    let tip = server.tip();
    let height = to.unwrap_or(tip);
    if tip == Height(0) {
        return Err(RecoveryRefusal::NothingDecided.into());
    }
    if height == Height(0) || height > tip {
        return Err(RecoveryRefusal::NoSuchTurn { tip }.into());
    }
    // A pruned log does not have what the state after an old turn is computed from.
    check_uncertified(height, tip)?;
    let kept = server.after(height)?;
    let header = kept.header;
    let (sim, number) = (server.start.genesis.id(), notes.next_number(height));
    let recovery = Recovery { sim, engine: ENGINE, number, height, header, roots: kept.roots };
    notes.check(&recovery, tip)?;
    Ok(recovery)
}
