//! The messages of a session.

use alloc::{boxed::Box, vec::Vec};

use metatopia_types::{
    ActId, Blob, Digest, Height, Outcome, PublicKey, Receipt, Sign, Signature, SignedEnvelope,
    SimId, Verify, wire,
};
use serde::{Deserialize, Serialize};

use crate::{
    Answer, ChatMessage, ForgottenMessage, FormMessage, Question, SoundMessage, ToldMessage, View,
    ViewProof, Watching,
};

/// What a client says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClientMessage {
    /// Who it is; the answer to the challenge.
    Hello(Hello),
    /// An act to be agreed on.
    Submit(Box<Submission>),
    /// A question; answered once, in any order.
    Ask {
        /// Comes back in the answer.
        id: u32,
        /// What is asked.
        question: Question,
    },
    /// Answered with a pong; for round-trip times.
    Ping {
        /// A number that comes back with the answer.
        token: u64,
    },
    /// Send views from now on, in this way, or no more. Asked again, it begins anew.
    View(Option<Watching>),
    /// The view of this number, and all before it, were taken in.
    Seen {
        /// The number of the view that was seen.
        number: u32,
    },
}

/// Proof that the client holds its key, bound to one server and one connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The protocol version it speaks.
    pub version: u16,
    /// The client's key.
    pub key: PublicKey,
    /// Over the challenge.
    pub signature: Signature,
}

impl Hello {
    /// Returns the login that answers `challenge`.
    #[must_use]
    pub fn new(challenge: &Challenge, key: &dyn Sign) -> Self {
        let signature = key.sign(&challenge.sign_bytes(&key.public()));
        Self { version: crate::VERSION, key: key.public(), signature }
    }

    /// Returns whether the greeting answers `challenge`.
    #[must_use]
    pub fn verify(&self, challenge: &Challenge, scheme: &dyn Verify) -> bool {
        scheme.verify(&self.key, &challenge.sign_bytes(&self.key), &self.signature)
    }
}

/// What the server asks a client to sign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Challenge {
    /// The protocol version the server speaks.
    pub version: u16,
    /// The sim it serves.
    pub sim: SimId,
    /// The server's own key, so that an answer to one server is no answer to another.
    pub server: PublicKey,
    /// Random, for this connection only.
    pub nonce: [u8; 32],
}

impl Challenge {
    /// Returns what the holder of `key` signs.
    #[must_use]
    pub fn sign_bytes(&self, key: &PublicKey) -> [u8; 32] {
        Digest::of("metatopia hello v1", &wire::encode(&(self, key))).0
    }
}

/// A signed act with the blobs it names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// The signed act to submit.
    pub act: SignedEnvelope,
    /// The bytes it names by hash; what it does not name is refused.
    pub blobs: Vec<Blob>,
}

/// What a server says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServerMessage {
    /// The first frame of every session.
    Challenge(Challenge),
    /// The session is open.
    Welcome(Welcome),
    /// The session is over; the last frame of every session that the server ends.
    Goodbye(Goodbye),
    /// The act will not be agreed on; nothing was done.
    Refused {
        /// The act that was refused.
        act: ActId,
        /// Why it was refused.
        why: SubmitRefusal,
    },
    /// The act is in a decided turn.
    Receipt {
        /// The act that was decided.
        act: ActId,
        /// The proof of that decision.
        receipt: Box<Receipt>,
    },
    /// The act was applied.
    Outcome {
        /// The act that was carried out.
        act: ActId,
        /// In the turn of this height.
        height: Height,
        /// What became of it.
        outcome: Outcome,
    },
    /// Somebody said something that the client's avatar can hear.
    Heard(ChatMessage),
    /// The answer to a question.
    Answer {
        /// The question's id.
        id: u32,
        /// What there is to say.
        answer: Box<Answer>,
    },
    /// The answer to a ping.
    Pong {
        /// From the ping.
        token: u64,
    },
    /// What changed in sight.
    View(Box<View>),
    /// What was shown is in the certified state.
    ViewProof(Box<ViewProof>),
    /// A thing asks the client's player something.
    Form(FormMessage),
    /// A thing makes a sound near the client's avatar.
    Sound(SoundMessage),
    /// Somebody told the client's player something that nobody else can read.
    Told(Box<ToldMessage>),
    /// Words are forgotten that this client may show.
    Forgotten(ForgottenMessage),
}

/// Opens a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// The last decided height.
    pub height: Height,
    /// The simulated world runs this many turns a second when nothing holds it up.
    pub turns_per_second: u32,
}

/// Why a server ends a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Goodbye {
    /// The client speaks another version.
    #[error("this node speaks version {0} of the protocol")]
    Version(u16),
    /// A frame was too long, malformed or not canonical.
    #[error("a frame was too long, malformed or not canonical")]
    BadFrame,
    /// The signature over the challenge is wrong.
    #[error("the signature over the challenge is wrong")]
    BadSignature,
    /// Something else came where the hello belongs.
    #[error("the first frame must be a hello")]
    NoHello,
    /// The node has no room for another client.
    #[error("the node has no room for another client")]
    Full,
    /// The client does not read what it is sent.
    #[error("the client does not read")]
    TooSlow,
    /// The same key opened more sessions here than one may have; this was the oldest.
    #[error("newer sessions of this key took over")]
    OtherSession,
    /// The node shuts down.
    #[error("the node shuts down")]
    Stopping,
    /// A moderator shut the key out of the sim.
    #[error("the key is banned from this sim")]
    Banned,
    /// A moderator sent the player away, who may come back.
    #[error("a moderator ended the session; you may come back")]
    Kicked,
}

/// Why an act is not taken into the mempool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum SubmitRefusal {
    /// It is meant for another sim.
    #[error("the act is meant for sim {0}")]
    OtherSim(SimId),
    /// The envelope is too long.
    #[error("the act has {0} bytes, more than an act may have")]
    TooLong(u32),
    /// Its last valid height has passed.
    #[error("the act was valid up to height {last_valid}; height {height} is under way")]
    Expired {
        /// The act's last valid height.
        last_valid: Height,
        /// The height under way.
        height: Height,
    },
    /// Its last valid height is too far ahead.
    #[error(
        "last valid height {last_valid} is more than {max} ahead of {height}",
        max = metatopia_types::limits::EXPIRY_HEIGHTS_MAX
    )]
    TooFarAhead {
        /// The act's last valid height.
        last_valid: Height,
        /// The height under way.
        height: Height,
    },
    /// The lane has decided this sequence or a later one: a replay.
    #[error("lane has decided sequence {0} already")]
    Replayed(u64),
    /// The signature is not the author's.
    #[error("the signature is not the author's")]
    BadSignature,
    /// A blob is missing, too long, or named by no act.
    #[error("a blob is missing, too long, or not named by the act")]
    BadBlob,
    /// The author, or all unknown authors of this connection, have too many acts pending, or hand
    /// in more than the node takes of anybody in a turn.
    #[error("too many acts at once; wait for receipts")]
    QuotaExceeded,
    /// The author has as many sessions as a sim remembers.
    #[error("the author has too many sessions open; wait a minute")]
    TooManyLanes,
    /// The node's mempool is full.
    #[error("the node is full; try again")]
    Full,
    /// The key is new to the sim, and shows no work that counts now.
    #[error(
        "the key is new to this sim, and shows no work that counts now; ask what it takes, and come again"
    )]
    NeedsWork,
    /// The key is new to the sim, which lets in nobody new.
    #[error("the key is new to this sim, which lets in nobody new")]
    NobodyNew,
    /// The key is new to the sim, and shows no ticket that is open.
    #[error(
        "the key is new to this sim, and shows no ticket that is open; ask one of its admins for one"
    )]
    NeedsTicket,
    /// The key is new to the sim, and does something before its first login.
    #[error("the key is new to this sim: log in first")]
    NeedsLogin,
    /// The sim's program does not know the kind of act.
    #[error("acts of number {0} are of a later program than the sim's, which does not know them")]
    UnknownAct(u16),
}

impl SubmitRefusal {
    /// Returns whether no server can ever decide the act. Otherwise the reason concerns this node at this
    /// moment: the act stays good until it expires, and whoever has its bytes may hand it in again, here or
    /// elsewhere.
    #[must_use]
    pub const fn is_lasting(&self) -> bool {
        match self {
            Self::OtherSim(_)
            | Self::TooLong(_)
            | Self::Expired { .. }
            | Self::Replayed(_)
            | Self::BadSignature
            | Self::BadBlob
            | Self::NeedsWork
            | Self::NeedsTicket
            | Self::NobodyNew => true,
            Self::TooFarAhead { .. }
            | Self::QuotaExceeded
            | Self::TooManyLanes
            | Self::Full
            | Self::NeedsLogin
            | Self::UnknownAct(_) => false,
        }
    }
}
