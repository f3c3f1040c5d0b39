//! The inputs and the effects of a replica.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_consensus::{Decision, Halt, RecordPosition};
use metatopia_protocol::{Answer, Goodbye, Question, SignedAnnouncement, SubmitRefusal};
use metatopia_sim::World;
use metatopia_types::{ActId, Blob, Height, Millis, NodeContact, Outcome, PublicKey, Root, SimId};

use crate::{
    ClientId, Delivery, FetchEvent, Followers, Gaps, OwnEndpoint, RepairReport, Replacement,
    keeper::Forgetting, status::Status,
};

/// A reader of decided turns in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A server that is behind.
    Peer(PublicKey),
    /// A question, with the replica's own number for it.
    Question(u64),
    /// The repair of this server, which applies turns again.
    Repair,
}

/// The asker of a question, who gets the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asker {
    /// A client's session, and its number for the question.
    Client(ClientId, u32),
    /// A client's session that repeated a decided act. It gets the receipt.
    RepeatedAct(ClientId),
    /// A client's session that sent an act with a used sequence number; the last used one of its lane
    /// follows. It gets the receipt if this act was decided, and a refusal otherwise.
    UsedSeq(ClientId, ActId, u64),
    /// The driver, for a request by HTTP.
    Driver(u64),
    /// A peer, and its number for the question.
    Peer(PublicKey, u32),
}

/// A border, as its courier must know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BorderWatch {
    /// The sim on the other side.
    pub neighbour: SimId,
    /// The validators of the neighbour are followed up to there.
    pub followed: Height,
    /// Who votes there, as far as they are followed.
    pub validators: Vec<PublicKey>,
    /// The number of the first thing that may come from there and was not judged yet.
    pub judged: u64,
    /// The height of the newest state or link of the neighbour that the own sim has taken in.
    pub reached: Height,
    /// Whether somebody is near the border, or something is under way over it.
    pub is_near: bool,
}

/// How far an act is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActStage {
    /// The act waits for a turn.
    Admitted,
    /// The act was refused.
    Refused(SubmitRefusal),
    /// The act is in a decided turn.
    Decided {
        /// The height of the turn.
        height: Height,
    },
    /// The act was applied.
    Applied {
        /// The outcome of the act.
        outcome: Outcome,
    },
}

/// One event that the driver hands to a replica.
#[derive(Debug)]
pub enum Input {
    /// The deadline has come. Too early or twice does no harm.
    Wake,
    /// The log is durable up to here.
    Synced(RecordPosition),
    /// Says whether the log cannot grow. Such a server follows, and does not vote from the next height
    /// on. The driver hands in false once all that was appended is durable.
    Muted(bool),
    /// [`Effect::Apply`] is done.
    Applied {
        /// The world after the turn.
        world: Box<World>,
        /// What the turn did.
        result: Box<metatopia_sim::Applied>,
    },
    /// A peer connected.
    PeerUp(PublicKey),
    /// A peer disconnected.
    PeerDown(PublicKey),
    /// A frame of a peer arrived. The connection proves who sent it.
    PeerFrame {
        /// The peer that sent it.
        from: PublicKey,
        /// The bytes of the frame.
        frame: Vec<u8>,
    },
    /// A client connected.
    ClientUp(ClientId),
    /// A client disconnected.
    ClientDown(ClientId),
    /// A frame of a client arrived.
    ClientFrame {
        /// The client that it concerns.
        client: ClientId,
        /// The bytes of the frame.
        frame: Vec<u8>,
    },
    /// Announces where clients of this server connect. Without an endpoint it repeats the last
    /// announcement.
    Announce(Option<OwnEndpoint>),
    /// A question that came by HTTP and not by a session.
    Ask {
        /// The token that comes back in [`Effect::Answer`].
        token: u64,
        /// The question to answer.
        question: Question,
    },
    /// Asks a connected peer. [`Effect::PeerAnswer`] comes back, unless the peer disconnects.
    AskPeer {
        /// The peer that is asked.
        to: PublicKey,
        /// The number that comes back with the answer.
        id: u32,
        /// The question to ask.
        question: Question,
    },
    /// Lets followers in from now on.
    Welcome {
        /// The address where followers reach this server.
        contact: NodeContact,
        /// The followers before the start, as [`Effect::Followers`] gave them last.
        followers: Box<Followers>,
    },
    /// The decided turns that [`Effect::Load`] asked for.
    Loaded {
        /// The reader that wants the turns.
        reader: Reader,
        /// The turns from the height that was asked for, ascending and without a gap. Fewer or none if
        /// the log lacks them.
        decisions: Vec<Decision>,
        /// The oldest decided turn that the log holds. Older ones were removed.
        oldest: Height,
        /// The height where the log goes on behind missing turns, if there are no decisions.
        next: Option<Height>,
    },
    /// The gaps of the log. This comes when the log is opened, whenever the gaps change, and after
    /// [`Effect::PutBack`].
    Gaps(Gaps),
    /// A courier heard something of a neighbour: an encoded dispatch, which nobody has checked.
    Dispatch {
        /// The neighbour that said it, as the courier believes.
        neighbour: SimId,
        /// The encoded dispatch.
        dispatch: Vec<u8>,
    },
    /// A courier found where the nodes of a neighbour are.
    NeighbourNodes {
        /// The neighbour whose nodes these are.
        neighbour: SimId,
        /// The URLs of its nodes.
        nodes: Vec<String>,
    },
    /// The node stops. The replica ends all sessions.
    Stop,
}

/// One thing that the driver has to do. Effects come in order, and those that must wait for the log
/// have waited already.
#[derive(Debug)]
pub enum Effect {
    /// Append to the log.
    Append {
        /// The place in the log after the record.
        at: RecordPosition,
        /// The height by which a decision can be found in the log.
        tag: Option<u64>,
        /// The bytes of the record.
        payload: Vec<u8>,
    },
    /// Make the log durable up to here, and hand in [`Input::Synced`].
    Sync(RecordPosition),
    /// Apply a turn to the world, and hand the world back in [`Input::Applied`].
    Apply {
        /// The world after the turn before.
        world: Box<World>,
        /// The decided turn.
        decision: Arc<Decision>,
    },
    /// Compile a package on a thread of its own, if there is room: the act that publishes it waits for a turn. Its turn
    /// looks up what became of it, or compiles it itself.
    CompileAhead(Blob),
    /// Send a frame to one peer, or to all connected peers.
    ToPeer {
        /// The peer that receives it; none means all.
        to: Option<PublicKey>,
        /// The bytes of the frame.
        frame: Vec<u8>,
    },
    /// Send a frame to a client.
    ToClient {
        /// The client that receives it.
        client: ClientId,
        /// How a slow carrier may treat the frame.
        delivery: Delivery,
        /// The bytes of the frame.
        frame: Vec<u8>,
    },
    /// Change the rations of a client's source: the sim knows the client's key, or the client hands in
    /// first logins of other keys.
    KnownClient {
        /// The client that it concerns.
        client: ClientId,
        /// Whether the client counts as known from now on.
        known: bool,
    },
    /// Read the frames of a client more slowly: one was refused because the client used up its ration.
    SlowClient {
        /// The client that it concerns.
        client: ClientId,
    },
    /// Close a client's connection, after what was sent before.
    CloseClient {
        /// The client that it concerns.
        client: ClientId,
        /// The reason for it.
        why: Goodbye,
    },
    /// Answer an [`Input::Ask`].
    Answer {
        /// The token of the question.
        token: u64,
        /// The answer to the question.
        answer: Answer,
    },
    /// The answer of a peer to [`Input::AskPeer`].
    PeerAnswer {
        /// The peer that answers.
        from: PublicKey,
        /// The number of the question.
        id: u32,
        /// The answer to the question.
        answer: Answer,
    },
    /// Let in these followers from now on, besides [`Effect::Contacts`]. Store them, and hand them back
    /// after a start.
    Followers(Box<Followers>),
    /// Read decided turns from the log.
    Load {
        /// The reader that wants the turns.
        reader: Reader,
        /// The first height to read.
        from: Height,
        /// The greatest number of turns to read.
        count: u32,
    },
    /// Put missing turns back into the log: the last turns of one gap of [`Input::Gaps`], ascending.
    PutBack(Vec<Decision>),
    /// Store a snapshot, and then remove older ones.
    Snapshot {
        /// The height of the snapshot.
        height: Height,
        /// The root of the snapshot's state.
        root: Root,
        /// The encoded base of agreement, and the encoded world.
        bytes: Vec<u8>,
    },
    /// Drop what was forgotten from the log, as far as nobody needs it. Comes after a snapshot.
    Forget(Box<Forgetting>),
    /// Keep connections with these servers from now on: validators now and soon, and standbys.
    Contacts(BTreeMap<PublicKey, NodeContact>),
    /// All endpoint announcements of the sim's servers, because one changed.
    Servers(Vec<SignedAnnouncement>),
    /// Ask these neighbours what they say, from now on and no others; none while this server does not vote.
    Borders(Vec<BorderWatch>),
    /// What a courier heard counts for nothing.
    DispatchRefused {
        /// The neighbour that is said to have said it.
        neighbour: SimId,
        /// The reason for it.
        why: String,
    },
    /// An act of a client reached its next stage, for logs and metrics.
    Traced {
        /// The id of the act.
        act: ActId,
        /// The stage that the act reached.
        stage: ActStage,
    },
    /// The status changed.
    Status(Box<Status>),
    /// A server signed two conflicting messages. This server has submitted the evidence.
    Exposed(PublicKey),
    /// The state of this server differs from that of the others. The server does not vote, and begins a
    /// repair.
    Diverged(Halt),
    /// Store an encoded [`Capsule`](metatopia_sim::Capsule), for people who look into a wrong state.
    Capsule {
        /// The height of this server's last state.
        height: Height,
        /// The bytes of the capsule.
        bytes: Vec<u8>,
    },
    /// The state is repaired. Store the report of what was wrong.
    Repaired(Box<RepairReport>),
    /// Store the times of the last repairs, and hand them back after a start
    /// ([`Config::repairs`](crate::Config::repairs)).
    RepairTimes(Vec<Millis>),
    /// An event of a fetch of a state.
    Fetch(FetchEvent),
    /// This replica has ended. Store the state and remove all others, append the note, and open another
    /// replica with that state and the records of the log after it.
    Replace(Box<Replacement>),
    /// This server has stopped voting. It still answers questions.
    Halted(Halt),
}
