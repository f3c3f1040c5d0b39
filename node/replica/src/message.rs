//! What servers of one sim say to each other.

use metatopia_protocol::{
    Answer, Question, SERVER_FRAME_BYTES_MAX, SignedAnnouncement, Submission,
};
use metatopia_types::{limits, wire, wire::DecodeError};
use serde::{Deserialize, Serialize};

/// A frame between two servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PeerMessage {
    /// A message of the agreement machine.
    Agreement(metatopia_consensus::Message),
    /// An act that a client gave to the sender; whoever proposes next may take it.
    Submission(Box<Submission>),
    /// Where clients of one server connect; the signature proves which.
    Endpoint(Box<SignedAnnouncement>),
    /// Asks what a client may ask.
    Ask {
        /// Comes back in the answer.
        id: u32,
        /// What is asked.
        question: Box<Question>,
    },
    /// The answer to a question.
    Answer {
        /// The number of the question.
        id: u32,
        /// The answer to the question.
        answer: Box<Answer>,
    },
}

/// Largest encoded frame between servers: what clients are answered is no longer.
pub const PEER_FRAME_BYTES_MAX: usize = SERVER_FRAME_BYTES_MAX + 16;

const _: () = assert!(
    PEER_FRAME_BYTES_MAX > metatopia_consensus::limits::MESSAGE_BYTES_MAX + 16,
    "a decision fits"
);

const _: () = assert!(
    PEER_FRAME_BYTES_MAX > limits::ENVELOPE_BYTES_MAX + limits::BLOB_BYTES_MAX + 64,
    "a submission fits as well"
);

impl PeerMessage {
    /// Returns the bytes for the wire.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        wire::encode(self)
    }

    /// Reads the bytes from the wire.
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn decode(frame: &[u8]) -> Result<Self, DecodeError> {
        wire::decode(frame, PEER_FRAME_BYTES_MAX)
    }
}
