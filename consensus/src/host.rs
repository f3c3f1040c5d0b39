//! The state machine whose turns are ordered, as agreement sees it.

use metatopia_types::{
    ActId, BodyError, Digest, HeaderId, Height, Millis, PublicKey, Root, Round, Turn, TurnBody,
};

/// What agreement asks of the state machine. The answers are pure functions of decided turns, so
/// that all honest servers give the same: no answer may depend on how far turns are applied.
pub trait Host {
    /// Accepts a turn that is decided. Agreement calls this once for each height after the base, in order,
    /// before the next height begins, and again after a restart. From now on the acts of the turn count as
    /// used. Nobody outside may be told yet; that is what [`Effect::Decided`](crate::Effect::Decided) is for.
    fn decided(&mut self, turn: &Turn);

    /// Returns whether the state by which turns of this height are judged is there. After a restart the log
    /// may vouch for its root before the turns that led to it are applied again. Until this returns true,
    /// agreement neither judges nor proposes; it asks with every input.
    fn knows(&self, height: Height) -> bool {
        let _ = height;
        true
    }

    /// Checks whether these acts may be in this turn, given all decided turns before it: each act's
    /// signature, sim, expiry and place in its lane. Header, order and limits of the body have been checked
    /// before.
    ///
    /// # Errors
    /// The first act that makes the turn void.
    fn judge(&self, turn: &Turn) -> Result<(), VoidAct>;

    /// Acts and blobs for the turn of `height`, which leaves at once: what comes later waits for
    /// the next one. `after` is the turn of the height before if it is not decided yet; its acts
    /// must not be taken again.
    fn body(&mut self, height: Height, after: Option<&Turn>) -> TurnBody;
}

/// An act that must not be in the turn it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("act {act}: {fault}")]
pub struct VoidAct {
    /// The id of the void act.
    pub act: ActId,
    /// What is wrong with it.
    pub fault: ActCheckError,
}

/// What can be wrong with an act before it is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ActCheckError {
    /// The signature is not its author's.
    #[error("wrong signature")]
    Signature,
    /// It is meant for another sim.
    #[error("for another sim")]
    Sim,
    /// Its last valid height is over.
    #[error("expired after height {0}")]
    Expired(Height),
    /// Its last valid height is further ahead than an act may be remembered.
    #[error("valid until height {0}, too far ahead")]
    Ahead(Height),
    /// Its sequence is not above those its lane has seen.
    #[error("its lane is past it")]
    Lane,
    /// Its author is new to the sim and shows nothing that would let it in.
    #[error("its author is new to the sim and may not come in by it")]
    Stranger,
    /// Acts of this number are of a later program, and this one cannot decide them.
    #[error("of number {0}, which is of a later program")]
    UnknownAct(u16),
}

/// Why a turn is void: nobody honest votes for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Void {
    /// For another sim, or under other rules.
    #[error("for another sim or engine")]
    Elsewhere,
    /// It does not follow the last decided turn.
    #[error("it follows {stated}, not {ours}")]
    Previous {
        /// What its header says.
        stated: HeaderId,
        /// The last decided turn.
        ours: HeaderId,
    },
    /// Who built it, or in which round, does not fit who proposed it and when.
    #[error("not {proposer} builds in round {round}")]
    Builder {
        /// Who the header says.
        proposer: PublicKey,
        /// The round the header says.
        round: Round,
    },
    /// Not after the turn before it, or no multiple of the turn length.
    #[error("its time {0:?} is out of line")]
    Time(Millis),
    /// Too far ahead of our clock. Only a fresh proposal can be void for this.
    #[error("its time {stated:?} is too far ahead of {ours:?}")]
    Early {
        /// What its header says.
        stated: Millis,
        /// Our wall clock.
        ours: Millis,
    },
    /// It states another state than ours.
    #[error("the root after height {height} is {ours}, not {stated}")]
    Root {
        /// The height of the state.
        height: Height,
        /// What its header says.
        stated: Root,
        /// What we computed.
        ours: Root,
    },
    /// It states other validators.
    #[error("it states other validators")]
    Validators,
    /// It states something that only later engines know.
    #[error("it states {0} where this engine states nothing")]
    Reserved(Digest),
    /// Its body breaks a rule.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// Its body is not what its header commits to.
    #[error("its header commits to another body")]
    OtherBody,
    /// An act must not be in it.
    #[error(transparent)]
    Act(#[from] VoidAct),
}
