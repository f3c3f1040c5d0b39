//! Judges whether a turn is void: a pure function of the turns decided before it, without executing any.
//!
//! Everything else about an act is decided when it is applied, and yields an outcome.

use metatopia_types::{
    ActId, BodyError, Height, SignedEnvelope, SimId, Turn, Verify, limits, wire,
};

use super::{
    admission::{ActFault, Judging, TurnAdmission},
    standing::Standings,
    windows::LaneWindows,
};

/// Why a turn is void.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TurnFault {
    /// It is for another sim.
    #[error("the turn is for sim {0}")]
    OtherSim(SimId),
    /// It is not the turn after the last one that the windows know.
    #[error("turn {found} came where {expected} is next")]
    OutOfOrder {
        /// The height that is next.
        expected: Height,
        /// The turn's height.
        found: Height,
    },
    /// Its body breaks a limit or is out of order.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// One of its acts may not be in it.
    #[error("act {id}: {fault}")]
    Act {
        /// The id of the act.
        id: ActId,
        /// Why it may not be in the turn.
        fault: ActFault,
    },
}

/// Checks one act for a turn of the admission's height, cheapest rule first, without taking it.
///
/// # Errors
/// See [`ActFault`].
pub fn judge_act(
    sim: SimId,
    act: &SignedEnvelope,
    admission: &TurnAdmission<'_>,
    scheme: &dyn Verify,
) -> Result<(), ActFault> {
    let bytes = wire::length(act);
    if bytes > limits::ENVELOPE_BYTES_MAX {
        return Err(ActFault::TooLong(bytes));
    }
    if act.envelope.sim != sim {
        return Err(ActFault::OtherSim(act.envelope.sim));
    }
    admission.check(&act.envelope)?;
    if act.verify(scheme) { Ok(()) } else { Err(ActFault::Signature) }
}

/// Checks the acts and blobs of a turn: limits, order, sim, expiry, lane windows, signatures.
///
/// `windows` are those after the turn before it, `standings` those of a state that turns of its height
/// may be judged by. Header fields other than sim and height are
/// agreement's own business, and so is whether the header commits to the body.
///
/// # Errors
/// See [`TurnFault`]: the turn is void.
///
/// # Panics
/// When the standings are not those of such a state.
pub fn judge_turn(
    sim: SimId,
    turn: &Turn,
    windows: &LaneWindows,
    standings: &dyn Standings,
    scheme: &dyn Verify,
) -> Result<(), TurnFault> {
    if turn.header.sim != sim {
        return Err(TurnFault::OtherSim(turn.header.sim));
    }
    let (expected, found) = (windows.height().plus(1), turn.header.height);
    if found != expected {
        return Err(TurnFault::OutOfOrder { expected, found });
    }
    turn.body.check()?;
    // A wrong state would judge otherwise than the other servers do.
    standings.basis(found);
    let judging = Judging { standings, proposer: Some(turn.header.proposer) };
    let mut admission = windows.admission(found, None, judging);
    for act in admission.in_order(turn.body.acts()) {
        judge_act(sim, act, &admission, scheme)
            .and_then(|()| admission.admit(&act.envelope))
            .map_err(|fault| TurnFault::Act { id: act.id(), fault })?;
    }
    Ok(())
}
