//! What a server is asked, and what it tells the outside.

use std::rc::Rc;

use metatopia_consensus::Message;
use metatopia_protocol::{Answer, Question, Submission};
use metatopia_replica::keeper::{Health, News};
use metatopia_replica::{ActStage, BorderWatch, ClientId, Followers, Reader, RepairReport};
use metatopia_sim::Applied;
use metatopia_types::{ActId, Height, PublicKey, SimId};

use super::gateway::Hangup;

/// What happens at the clients' end of a server.
#[derive(Debug)]
pub enum Request {
    /// A client connected.
    Up(ClientId),
    /// It is gone.
    Down(ClientId),
    /// It sent a frame.
    Frame {
        /// The client that gets it.
        client: ClientId,
        /// The frame to send.
        frame: Vec<u8>,
    },
    /// It has read so many bytes.
    Read {
        /// The client that is slow.
        client: ClientId,
        /// How many bytes wait.
        bytes: usize,
    },
    /// Whoever runs the server puts acts into its pool, which it keeps to itself.
    HandIn(Vec<Submission>),
    /// Whoever runs the server says this to all others.
    Say(Vec<Rc<[u8]>>),
    /// Somebody asks by another way than a session.
    Ask {
        /// The token that comes back.
        token: u64,
        /// The question to answer.
        question: Question,
    },
    /// A courier of this server brings what a neighbour said.
    Bring {
        /// The neighbour that said it, as the courier believes.
        neighbour: SimId,
        /// The encoded dispatch.
        dispatch: Vec<u8>,
    },
}

/// What a server tells the outside.
#[derive(Debug)]
pub enum ReplicaReport {
    /// A frame for a client.
    ToClient {
        /// The client that gets it.
        client: ClientId,
        /// The frame to send.
        frame: Vec<u8>,
    },
    /// A client's line was cut from this side.
    HungUp {
        /// The client whose session ends.
        client: ClientId,
        /// Why the session ends.
        why: Hangup,
    },
    /// A turn was applied.
    Applied(Box<Applied>),
    /// A turn was applied that had been applied before: the server computes its state again.
    Again(Box<Applied>),
    /// A turn was applied by a server whose state is not the others'.
    Strayed(Height),
    /// The state after this height, written down, cannot be read again.
    Unrestored(Height, String),
    /// A server noticed that its state is not the others'.
    Parted(String),
    /// What it wants to be kept about that, encoded.
    Capsule(Vec<u8>),
    /// The server repaired its state.
    Mended(Box<RepairReport>),
    /// It goes on from the state after this height, which it fetched from others.
    Replaced(Height),
    /// The answer to a [`Request::Ask`].
    Answer {
        /// From the question.
        token: u64,
        /// What was answered.
        answer: Box<Answer>,
    },
    /// An act got on.
    Traced {
        /// The act that got further.
        act: ActId,
        /// How far the act is.
        stage: ActStage,
    },
    /// How the borders of the sim stand, for this server's couriers.
    Borders(Vec<BorderWatch>),
    /// What a courier brought counts for nothing.
    Unheard(String),
    /// These are the followers to let in, from now on.
    Followers(Box<Followers>),
    /// Decided turns were read back from the log.
    Loaded {
        /// The reader of the decisions.
        reader: Reader,
        /// How many decisions are wanted.
        count: usize,
    },
    /// A server signed two things at once.
    Exposed(PublicKey),
    /// Somebody who runs twice says this.
    Heard(Box<Message>),
    /// How its log stands with its disk.
    Disk(Health),
    /// Something else about the disk.
    News(News),
    /// The process ends by itself: it cannot go on with what its disk holds.
    Ended(String),
    /// This server votes no more.
    Halted(String),
}
