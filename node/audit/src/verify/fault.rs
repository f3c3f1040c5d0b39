//! The faults that verifying a log can find, and the heights that they are about.

use metatopia_consensus::JoinPackError;
use metatopia_replica::SnapshotError;
use metatopia_sim::{MissingPort, Unsound};
use metatopia_store::{
    DiskError, IdentityError, Position, ReadError, ReadSnapshotError, ScanError,
};
use metatopia_types::{
    CertificateError, HeaderId, Height, PublicKey, Root, SimId, ValidatorSetError,
    wire::DecodeError,
};

/// A fault of a log, and the height that the fault is about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at height {height}: {kind}")]
pub struct LogFault {
    /// The height that the fault is about.
    pub height: Height,
    /// The rule that the log breaks.
    pub kind: LogFaultKind,
}

/// A rule that a log breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogFaultKind {
    /// The data directory has neither an identity nor a log.
    #[error("it was never started")]
    NeverStarted,
    /// The identity of the data directory is missing or damaged.
    #[error(transparent)]
    Identity(Box<IdentityError>),
    /// The genesis is of another sim than the log.
    #[error("the genesis is that of sim {0}")]
    OtherGenesis(SimId),
    /// The genesis names no set of validators.
    #[error(transparent)]
    Validators(ValidatorSetError),
    /// The bytes of the log are damaged.
    #[error(transparent)]
    Scan(Box<ScanError>),
    /// A record or a patch cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A record is of a kind that this program does not know.
    #[error("a record of kind {0}, which is not known")]
    RecordKind(u8),
    /// The content of a record is malformed.
    #[error("a record at {position}: {why}")]
    Record {
        /// The position of the record.
        position: Position,
        /// The reason why it cannot be decoded.
        why: DecodeError,
    },
    /// A record has the tag of a height that it does not decide.
    #[error("a record at {0} is to be found by what it does not decide")]
    Tag(Position),
    /// There is no state to begin with.
    #[error(transparent)]
    NoState(Box<NoState>),
    /// Turns are missing, and there is no state behind them.
    #[error("turns {} to {} are missing, and no snapshot proves what follows: {why}", gap.0, gap.1)]
    Gap {
        /// The first and the last missing turn.
        gap: (Height, Height),
        /// The reason why there is no state.
        why: Box<NoState>,
    },
    /// The turn of the snapshot's height is not the one that the snapshot names.
    #[error("the snapshot of height {0} is not of the state that was agreed on")]
    OtherState(Height),
    /// Two decisions are about one height.
    #[error("turn {0} is decided a second time")]
    DecidedTwice(Height),
    /// A decision names a turn whose bytes are not in the log.
    #[error("the decided turn {0} is not in the log")]
    NoTurn(HeaderId),
    /// A turn does not follow from the turns before it, or its certificate does not hold.
    #[error(transparent)]
    Turn(#[from] Unsound),
    /// The signatures of a recovery do not hold.
    #[error("recovery {number} to turn {height}: {why}")]
    RecoverySignatures {
        /// The number of the recovery.
        number: u32,
        /// The height that it goes back to.
        height: Height,
        /// The reason why the signatures do not hold.
        why: CertificateError,
    },
    /// A recovery is not about a turn of this log.
    #[error("recovery {number} to turn {height} is for another sim, or for another turn")]
    OtherRecovery {
        /// The number of the recovery.
        number: u32,
        /// The height that it goes back to.
        height: Height,
    },
    /// A recovery states another root than the turns lead to.
    #[error("the servers recovered to root {stated} after turn {of}, the turns give {found}")]
    RecoveredRoot {
        /// The height of the state.
        of: Height,
        /// The root in the recovery.
        stated: Root,
        /// The root that the turns lead to.
        found: Root,
    },
    /// The server noted another root than the turns lead to.
    #[error("the log notes root {stated} after turn {of}, the turns give {found}")]
    NotedRoot {
        /// The height of the state.
        of: Height,
        /// The root in the note.
        stated: Root,
        /// The root that the turns lead to.
        found: Root,
    },
    /// The server noted other validators than the turns lead to.
    #[error("the log notes other validators after turn {0} than the turns give")]
    NotedValidators(Height),
    /// The server noted a state before its turn was decided.
    #[error("the log notes what turn {0} led to before that was decided")]
    NotedEarly(Height),
    /// The server noted one state twice.
    #[error("the log notes what turn {0} led to a second time")]
    NotedTwice(Height),
    /// A record is about a height that the log has not come to, or is past.
    #[error("a {what} of height {height} lies where the log has come to height {at}")]
    Misplaced {
        /// The kind of the record.
        what: &'static str,
        /// The height of the record.
        height: Height,
        /// The height that the log has come to.
        at: Height,
    },
    /// A signature is not its signer's.
    #[error("a {what} is not signed by {by}")]
    Signature {
        /// The kind of the record.
        what: &'static str,
        /// The alleged signer.
        by: PublicKey,
    },
    /// The signer of a record is no validator of its height.
    #[error("a {what} is signed by {by}, who does not vote at this height")]
    Stranger {
        /// The kind of the record.
        what: &'static str,
        /// The server that signed it.
        by: PublicKey,
    },
    /// A polka does not hold.
    #[error("the proof that a turn may be proposed again: {0}")]
    Polka(CertificateError),
    /// A record relies on a turn whose bytes are not in the log before it.
    #[error("it was called valid before its bytes were written down: turn {0}")]
    Unseen(HeaderId),
    /// The promise of a proposal is not by this server, or not for round 0.
    #[error("a promise is not one that this server gives")]
    Promise,
    /// A patch does not hold the turns that its name says.
    #[error("patch {from} to {to} does not hold these turns")]
    Patch {
        /// The first height by the name of the patch.
        from: u64,
        /// The last height by the name of the patch.
        to: u64,
    },
}

/// The reason why there is no state to which turns can be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoState {
    /// The first state of the sim is missing; see [`SimStart`](crate::SimStart).
    #[error("{0}")]
    FirstState(String),
    /// The folder of the snapshots cannot be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// There is no snapshot of the needed height or later.
    #[error("there is no snapshot of after them")]
    NoSnapshot,
    /// A snapshot cannot be read.
    #[error(transparent)]
    Read(#[from] ReadSnapshotError),
    /// A snapshot holds no state.
    #[error(transparent)]
    Decode(#[from] SnapshotError),
    /// The turns that would prove a snapshot are not in the log.
    #[error("the log does not have the turns that prove the snapshot of {0}")]
    NoProof(Height),
    /// The turns do not prove a snapshot.
    #[error(transparent)]
    Unproven(#[from] SnapshotProofError),
}

/// The reason why turns do not prove a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotProofError {
    /// Its set changes, or the turns after it, are not certified.
    #[error("the snapshot of height {height}: {why}")]
    Chain {
        /// The height of the snapshot.
        height: Height,
        /// The reason why the chain does not hold.
        why: JoinPackError,
    },
    /// The certified turns after it are about another state.
    #[error("the snapshot of height {0} is not of the state that was agreed on")]
    OtherState(Height),
}

impl LogFaultKind {
    /// Returns the port that this program lacks, if nothing else is known to be wrong: a program that has it may find
    /// the log in order.
    #[must_use]
    pub const fn missing_port(&self) -> Option<&MissingPort> {
        match self {
            Self::Turn(Unsound::MissingPort(missing)) => Some(missing),
            _ => None,
        }
    }

    /// Returns the fault at this height.
    pub(super) const fn at(self, height: Height) -> LogFault {
        LogFault { height, kind: self }
    }
}
