//! What `log verify` can find wrong, and where.

use metatopia_consensus::JoinPackError;
use metatopia_sim::Unsound;
use metatopia_types::{CertificateError, HeaderId, Height, PublicKey, Root};

/// Something that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::cli) enum Wrong {
    #[error("the snapshot of height {height}: {why}")]
    Snapshot { height: Height, why: JoinPackError },
    #[error("the snapshot of height {0} is not of the state that was agreed on")]
    OtherState(Height),
    #[error("turns {} to {} are missing, and no snapshot proves what follows: {why}", gap.0, gap.1)]
    Gap { gap: (Height, Height), why: String },
    #[error("turn {0} is decided a second time")]
    Twice(Height),
    #[error("the decided turn {0} is not in the log")]
    NoTurn(HeaderId),
    #[error(transparent)]
    Turn(#[from] Unsound),
    #[error("recovery {number} to turn {height}: {why}")]
    Recovery { number: u32, height: Height, why: CertificateError },
    #[error("recovery {number} to turn {height} is for another sim, or for another turn")]
    OtherRecovery { number: u32, height: Height },
    #[error("the servers recovered to root {stated} after turn {of}, the turns give {found}")]
    Recovered { of: Height, stated: Root, found: Root },
    #[error("the log notes root {stated} after turn {of}, the turns give {found}")]
    Noted { of: Height, stated: Root, found: Root },
    #[error("the log notes other validators after turn {0} than the turns give")]
    NotedSet(Height),
    #[error("the log notes what turn {0} led to before that was decided")]
    NotedEarly(Height),
    #[error("the log notes what turn {0} led to a second time")]
    NotedTwice(Height),
    #[error("a {what} of height {height} lies where the log has come to height {at}")]
    Misplaced { what: &'static str, height: Height, at: Height },
    #[error("a {what} is not signed by {by}")]
    Signature { what: &'static str, by: PublicKey },
    #[error("a {what} is signed by {by}, who does not vote at this height")]
    Stranger { what: &'static str, by: PublicKey },
    #[error("the proof that a turn may be proposed again: {0}")]
    Polka(CertificateError),
    #[error("it was called valid before its bytes were written down: turn {0}")]
    Unseen(HeaderId),
    #[error("a promise is not one that this server gives")]
    Promise,
    #[error("patch {from} to {to} does not hold these turns")]
    Patch { from: u64, to: u64 },
    #[error("{0}")]
    Unreadable(String),
}

/// What is wrong, and the height that it is about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at height {height}: {wrong}")]
pub(in crate::cli) struct LogFault {
    pub(in crate::cli) height: Height,
    pub(in crate::cli) wrong: Wrong,
}

impl Wrong {
    /// Says at which height it is.
    pub(super) fn at(self, height: Height) -> LogFault {
        LogFault { height, wrong: self }
    }
}
