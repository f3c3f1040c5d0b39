//! What happens to a replica, and what it wants done.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_consensus::{Decision, Halt, Position};
use metatopia_protocol::{Answer, Goodbye, Question, SignedEntrance, SubmitRefusal};
use metatopia_sim::World;
use metatopia_types::{ActId, Contact, Height, Millis, Outcome, PublicKey, Root};

use crate::{
    Announcement, ClientId, Delivery, FetchNews, Gaps, Guests, Replacement, Report, status::Status,
};

/// Who wants decided turns read from the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A server that is behind.
    Peer(PublicKey),
    /// A question, by the replica's own number for it.
    Question(u64),
    /// This server itself, which applies turns again.
    Mending,
}

/// A question's way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asker {
    /// A client's session, and its number for the question.
    Client(ClientId, u32),
    /// A client's session that sent an act again which was decided before: it wants the receipt.
    Again(ClientId),
    /// A client's session that sent an act whose number, the last of its lane, is used up: if the act
    /// itself was decided, it gets the receipt, and a refusal otherwise.
    Doubted(ClientId, ActId, u64),
    /// The driver, for somebody who came by HTTP.
    Driver(u64),
    /// Another server, or a follower, and its number for the question.
    Peer(PublicKey, u32),
}

/// How far an act is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It waits for a turn.
    Admitted,
    /// It was not taken.
    Refused(SubmitRefusal),
    /// It is in a decided turn.
    Decided {
        /// Of this height.
        height: Height,
    },
    /// It was applied.
    Applied {
        /// What became of it.
        outcome: Outcome,
    },
}

/// One thing that happened.
#[derive(Debug)]
pub enum Input {
    /// The deadline has come. Too early or twice does no harm.
    Wake,
    /// The log is durable up to here.
    Synced(Position),
    /// While true, the log cannot grow: this server follows, and votes no more from the next height
    /// on. It is over once all that was appended is durable.
    Muted(bool),
    /// [`Effect::Apply`] is done.
    Applied {
        /// The world after the turn.
        world: Box<World>,
        /// What the turn did.
        result: Box<metatopia_sim::Applied>,
    },
    /// A connection to a server is there.
    PeerUp(PublicKey),
    /// It is gone.
    PeerDown(PublicKey),
    /// A frame of a server; the connection proves who sent it.
    PeerFrame {
        /// Who sent it.
        from: PublicKey,
        /// The frame.
        frame: Vec<u8>,
    },
    /// A client connected.
    ClientUp(ClientId),
    /// It is gone.
    ClientDown(ClientId),
    /// A frame of a client.
    ClientFrame {
        /// Whose.
        client: ClientId,
        /// The frame.
        frame: Vec<u8>,
    },
    /// Where clients of this server connect, from now on: the other servers are told. With none, they
    /// are told again what they were told last.
    Announce(Option<Announcement>),
    /// Somebody asks by another way than a session.
    Ask {
        /// Comes back in [`Effect::Answer`].
        token: u64,
        /// What is asked.
        question: Question,
    },
    /// Asks another server, which is connected; [`Effect::PeerAnswer`] comes back, unless it goes.
    AskPeer {
        /// Whom.
        to: PublicKey,
        /// Comes back with the answer.
        id: u32,
        /// What is asked.
        question: Question,
    },
    /// Followers are let in from now on: where they reach this server, and whom it had let in before
    /// it was started.
    Welcome {
        /// Where this server is.
        contact: Contact,
        /// As [`Effect::Guests`] said last.
        guests: Box<Guests>,
    },
    /// Answers [`Effect::Load`].
    Loaded {
        /// For whom.
        reader: Reader,
        /// Ascending, without a gap, from the height asked for; fewer or none if the log lacks them.
        decisions: Vec<Decision>,
        /// The oldest decided turn that the log holds: older ones were removed.
        oldest: Height,
        /// Without decisions: where the log goes on behind turns that are missing, if it does.
        next: Option<Height>,
    },
    /// The log lacks these turns: told when it is opened, and whenever that changes; also after
    /// [`Effect::PutBack`], as it is then.
    Gaps(Gaps),
    /// The node stops: tell the clients.
    Stop,
}

/// One thing to do, in order. What must wait for the log has waited already.
#[derive(Debug)]
pub enum Effect {
    /// Append to the log.
    Append {
        /// The place reached with it.
        at: Position,
        /// What the record can be found by: the height of a decision.
        tag: Option<u64>,
        /// The record.
        payload: Vec<u8>,
    },
    /// Make the log durable up to here, and say so.
    Sync(Position),
    /// Apply a turn to the world, and hand both back.
    Apply {
        /// The world after the turn before.
        world: Box<World>,
        /// The decided turn.
        decision: Arc<Decision>,
    },
    /// Send a frame to one server, or to all that are connected.
    ToPeer {
        /// To whom; none means all.
        to: Option<PublicKey>,
        /// The frame.
        frame: Vec<u8>,
    },
    /// Send a frame to a client.
    ToClient {
        /// To whom.
        client: ClientId,
        /// How.
        delivery: Delivery,
        /// The frame.
        frame: Vec<u8>,
    },
    /// The key of this client is one that the sim knows, or the client hands in first logins of other
    /// keys: what its source may have depends on it.
    KnownClient {
        /// Whose.
        client: ClientId,
        /// Does it count as known from now on?
        known: bool,
    },
    /// A frame of this client was refused because it had what it may have for now: what it sends may
    /// be read more slowly.
    SlowClient {
        /// Whose.
        client: ClientId,
    },
    /// Close a client's connection, after what was sent before.
    CloseClient {
        /// Whose.
        client: ClientId,
        /// Why.
        why: Goodbye,
    },
    /// Answer an [`Input::Ask`].
    Answer {
        /// From the question.
        token: u64,
        /// The answer.
        answer: Answer,
    },
    /// What a server answered that was asked by [`Input::AskPeer`].
    PeerAnswer {
        /// Who answers.
        from: PublicKey,
        /// From the question.
        id: u32,
        /// The answer.
        answer: Answer,
    },
    /// These are the followers to let in, from now on, besides [`Effect::Contacts`]: keep them, and
    /// hand them back after a start.
    Guests(Box<Guests>),
    /// Read decided turns from the log.
    Load {
        /// For whom.
        reader: Reader,
        /// The first height.
        from: Height,
        /// At most so many.
        count: u32,
    },
    /// Put turns back that the log lacks: the last of one of [`Input::Gaps`], ascending.
    PutBack(Vec<Decision>),
    /// Store a snapshot, and then let older ones go.
    Snapshot {
        /// After the turn of this height.
        height: Height,
        /// The state's root.
        root: Root,
        /// Where agreement starts from with it, and the world, encoded.
        bytes: Vec<u8>,
    },
    /// These are the servers to keep connections with, from now on: validators, those that will be,
    /// and standbys.
    Contacts(BTreeMap<PublicKey, Contact>),
    /// The newest words of the sim's servers about where clients connect changed; these are all.
    Servers(Vec<SignedEntrance>),
    /// An act of a client of this server got on, for logs and figures.
    Traced {
        /// Which act.
        act: ActId,
        /// How far it is.
        stage: Stage,
    },
    /// The state of affairs changed.
    Status(Box<Status>),
    /// A server signed two things at once; it has been reported.
    Exposed(PublicKey),
    /// This server's state is not the others': it does not vote, and tries to heal.
    Parted(Halt),
    /// A [`Capsule`](metatopia_sim::Capsule), encoded, for whoever wants to know what happened: keep
    /// it.
    Capsule {
        /// The height of this server's last state.
        height: Height,
        /// The capsule.
        bytes: Vec<u8>,
    },
    /// It has healed, and this was wrong: keep it.
    Mended(Box<Report>),
    /// It healed at these times lately: keep them, and hand them back after a start
    /// ([`Config::heals`](crate::Config::heals)).
    Heals(Vec<Millis>),
    /// A state is being fetched from peers.
    Fetch(FetchNews),
    /// This replica has ended. Keep the state and let go of all others, append the note, and open
    /// another replica with that state and what the log holds after it.
    Replace(Box<Replacement>),
    /// This server must stop voting; it still answers.
    Halted(Halt),
}
