//! What an owner of a session is told.

use std::time::Duration;

use metatopia_client::{Distrust, ProvenSight, Scene, SubmitError, UnprovenSight};
use metatopia_protocol::{
    ChatMessage, ForgottenMessage, FormMessage, Goodbye, SoundMessage, SubmitRefusal, ToldMessage,
};
use metatopia_types::{ActId, Height, Outcome, wire::DecodeError};

use super::{NodeEndpointError, NodeUrl, OPEN};

/// What happened to the session.
#[derive(Debug)]
pub enum DriverEvent {
    /// The node let us in.
    Open {
        /// The URL of the node.
        url: NodeUrl,
        /// The last decided height there.
        height: Height,
    },
    /// The connection broke; others are tried, and nothing that was submitted is forgotten.
    Broken {
        /// Which node it was.
        url: NodeUrl,
        /// The reason for it.
        why: String,
    },
    /// An act is in a certified turn; this was checked.
    Receipted {
        /// The id of the act.
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
        /// The id of the act.
        act: ActId,
        /// The reason for it.
        why: SubmitRefusal,
    },
    /// What the node says became of an act.
    Outcome {
        /// The id of the act.
        act: ActId,
        /// In this turn.
        height: Height,
        /// The outcome of the act.
        outcome: Outcome,
    },
    /// What is in sight.
    Scene(Box<Scene>),
    /// Whether what was in sight is proved; this was checked.
    Proof(Box<Result<ProvenSight, UnprovenSight>>),
    /// What is heard.
    Heard(ChatMessage),
    /// What was said before one came.
    HeardEarlier(ChatMessage),
    /// A thing asks something.
    Form(FormMessage),
    /// A thing makes a sound.
    Sound(SoundMessage),
    /// Somebody told the player something that nobody else can read.
    Told(Box<ToldMessage>),
    /// Words are forgotten that may have been heard.
    Forgotten(ForgottenMessage),
    /// The session cannot go on. The last news.
    Ended(End),
}

impl DriverEvent {
    /// Says whether this is words or a sound of somebody or something, of which the oldest may be lost.
    pub(super) const fn is_heard(&self) -> bool {
        matches!(
            self,
            Self::Heard(_)
                | Self::HeardEarlier(_)
                | Self::Form(_)
                | Self::Sound(_)
                | Self::Told(_)
                | Self::Forgotten(_)
        )
    }

    /// Returns whether this news makes older news worthless.
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
        /// The URL of the node.
        url: NodeUrl,
        /// What is wrong.
        why: Distrust,
    },
    /// The node sent what is no frame of the protocol.
    #[error("{url} sent a frame that is none: {why}")]
    BadFrame {
        /// The URL of the node.
        url: NodeUrl,
        /// What is wrong.
        why: DecodeError,
    },
    /// No node gives a session.
    #[error("{0}")]
    Unreachable(NodeEndpointError),
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
