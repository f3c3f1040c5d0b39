//! What an owner of a session is told.

use std::time::Duration;

use metatopia_client::{Distrust, Proven, Scene, SubmitError, Unproven};
use metatopia_protocol::{ChatLine, Goodbye, SubmitRefusal};
use metatopia_types::{ActId, Height, Outcome, wire::DecodeError};

use super::{EntranceError, NodeUrl, OPEN};

/// What happened to the session.
#[derive(Debug)]
pub enum News {
    /// The node let us in.
    Open {
        /// Which node.
        url: NodeUrl,
        /// The last decided height there.
        height: Height,
    },
    /// The connection broke; others are tried, and nothing that was submitted is forgotten.
    Broken {
        /// Which node it was.
        url: NodeUrl,
        /// Why.
        why: String,
    },
    /// An act is in a certified turn; this was checked.
    Receipted {
        /// Which act.
        act: ActId,
        /// In this turn.
        height: Height,
        /// At this place.
        index: u32,
        /// So long after it was submitted.
        after: Duration,
    },
    /// An act is in no turn, and will not be.
    Refused {
        /// Which act.
        act: ActId,
        /// Why.
        why: SubmitRefusal,
    },
    /// What the node says became of an act.
    Outcome {
        /// Which act.
        act: ActId,
        /// In this turn.
        height: Height,
        /// The result.
        outcome: Outcome,
    },
    /// What is in sight.
    Scene(Box<Scene>),
    /// Whether what was in sight is proved; this was checked.
    Proof(Box<Result<Proven, Unproven>>),
    /// What is heard.
    Heard(ChatLine),
    /// The session cannot go on. The last news.
    Ended(End),
}

impl News {
    /// Is older news of no interest any more?
    pub(super) const fn replaces(&self, older: &Self) -> bool {
        matches!((self, older), (Self::Scene(_), Self::Scene(_)) | (Self::Proof(_), Self::Proof(_)))
    }
}

/// Why a session cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum End {
    /// The node ended it, and no other node would do better.
    #[error("{0}")]
    Goodbye(Goodbye),
    /// The node said something that is not true.
    #[error("{url} says what is not true: {why}")]
    Distrusted {
        /// Which node.
        url: NodeUrl,
        /// What is wrong.
        why: Distrust,
    },
    /// The node sent what is no frame of the protocol.
    #[error("{url} sent a frame that is none: {why}")]
    BadFrame {
        /// Which node.
        url: NodeUrl,
        /// What is wrong.
        why: DecodeError,
    },
    /// No node gives a session.
    #[error("{0}")]
    Unreachable(EntranceError),
}

/// Why something was not done over a session.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The session is over.
    #[error(transparent)]
    Ended(#[from] End),
    /// The session did not open in time.
    #[error("no session opened within {} s", OPEN.as_secs())]
    NotOpen,
    /// An act was not even sent.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// No answer came.
    #[error("no answer within {0:?}")]
    NoAnswer(Duration),
}
