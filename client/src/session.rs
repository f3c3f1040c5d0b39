//! One client's session with one node, over whatever carrier; it outlives connections.

mod acts;
mod age;
mod attendance;
mod headers;
mod links;
mod questions;
mod servers;
mod views;

use alloc::{
    boxed::Box,
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    vec::Vec,
};
use core::time::Duration;

use metatopia_protocol::{
    Answer, Challenge, ChatMessage, ClientMessage, EndpointAnnouncement, ForgottenMessage,
    FormMessage, Goodbye, Hello, ServerMessage, SoundMessage, SubmitRefusal, TileName, ToldMessage,
    ViewProof, Watching, Welcome, decode_server, encode_client,
};
use metatopia_types::{
    ActId, Height, Lane, Outcome, PublicKey, Receipt, Seq, Sign, wire::DecodeError,
};

pub use self::{
    acts::{PENDING_MAX, SubmitError},
    age::TRUSTING_PERIOD,
    headers::HEADER_FRESH,
    links::UNCHECKED_MAX,
    questions::QUESTIONS_MAX,
    servers::ENTRANCES_MAX,
};
use self::{
    acts::{PendingAct, UnsignedAct},
    age::TrustAge,
    attendance::Attendance,
    headers::NewestHeader,
    questions::AskedQuestion,
};
use crate::{Distrust, LightClient, ProvenSight, Sight, UnprovenSight, sight::ProvenTiles};

/// Pings under way; of more, the oldest is given up.
pub const PINGS_MAX: usize = 8;

/// What a session wants from its driver.
#[derive(Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this frame to the node.
    Send(Vec<u8>),
    /// Something the user may want to know.
    Event(SessionEvent),
}

/// What happened in a session.
#[derive(Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// The node let us in.
    Open {
        /// The last decided height there.
        height: Height,
    },
    /// The node ended the session.
    Closed(Goodbye),
    /// An act that waited for a header that could be believed is signed now.
    Signed {
        /// Its place in the lane, by which it is known since it was submitted.
        seq: Seq,
        /// The act that was signed.
        act: ActId,
    },
    /// The act is in a certified turn; this was checked.
    Receipted {
        /// The act that was decided.
        act: ActId,
        /// In this turn.
        height: Height,
        /// At this place.
        index: u32,
    },
    /// The node will not take the act.
    Refused {
        /// The act that was refused.
        act: ActId,
        /// Why it was refused.
        why: SubmitRefusal,
    },
    /// What the node says became of the act; ask [`Question::Outcomes`] for the proof.
    Outcome {
        /// The act that was carried out.
        act: ActId,
        /// In this turn.
        height: Height,
        /// What came of the act.
        outcome: Outcome,
    },
    /// A view was taken in; see [`Session::sight`].
    View {
        /// After the turn of this height.
        height: Height,
    },
    /// What was in sight is in a certified state; this was checked.
    Proven(Box<ProvenSight>),
    /// What is in sight is not proved at this moment, for this reason.
    Unproven(UnprovenSight),
    /// The answer to a ping.
    Pong {
        /// So long after it.
        after: Duration,
    },
    /// More, or other, endpoints are known; see [`Session::endpoints`].
    Servers,
    /// What is heard.
    Heard(ChatMessage),
    /// What was said before one came, and was not heard yet.
    HeardEarlier(ChatMessage),
    /// A thing asks something.
    Form(FormMessage),
    /// A thing makes a sound.
    Sound(SoundMessage),
    /// Somebody told the player something that nobody else can read.
    Told(Box<ToldMessage>),
    /// Words are forgotten that may have been heard.
    Forgotten(ForgottenMessage),
    /// The answer to a question of ours.
    Answer {
        /// The question's id.
        id: u32,
        /// What the node answered.
        answer: Box<Answer>,
    },
    /// The answer to a question of ours whose whole frame is wanted.
    Frame {
        /// The question's id.
        id: u32,
        /// The name of the kind of answer.
        kind: &'static str,
        /// The frame as it came.
        frame: Vec<u8>,
    },
    /// The node said something that is not true. Leave it.
    Distrusted(Distrust),
    /// The node sent what is no frame of this protocol. Leave it.
    BadFrame(DecodeError),
}

/// Which lines of chat were heard, and which are of before.
#[derive(Clone, Copy, Debug, Default)]
struct Earshot {
    /// The height at which the connection opened. Lines up to it were said before.
    came: Height,
    /// The newest line that was heard on an earlier connection.
    before: Height,
    /// The newest line that was heard.
    newest: Height,
}

/// A session. Frames go in by [`Session::handle`], come out by [`Session::poll`].
pub struct Session {
    key: Arc<dyn Sign>,
    light: LightClient,
    lane: Lane,
    next_seq: Seq,
    /// The time of the last call.
    now: Duration,
    headers: NewestHeader,
    age: TrustAge,
    open: bool,
    welcomed: bool,
    /// Who is spoken with, and how fast its sim runs when nothing holds it up.
    server: Option<PublicKey>,
    turns_per_second: u32,
    /// Acts that wait for a header that can be believed, in the order of the lane.
    unsigned: VecDeque<UnsignedAct>,
    pending: BTreeMap<ActId, PendingAct>,
    order: BTreeMap<Seq, ActId>,
    questions: BTreeMap<u32, AskedQuestion>,
    next_question: u32,
    links: Option<u32>,
    /// Receipts of this connection that wait for set changes, at most one for each pending act.
    unproven: Vec<(ActId, Box<Receipt>)>,
    /// What was shown, and its proof, that wait for set changes to be followed.
    unchecked: Vec<(ProvenTiles, Box<ViewProof>)>,
    watching: Option<Watching>,
    attendance: Attendance,
    earshot: Earshot,
    sight: Sight,
    proven: Option<Box<ProvenSight>>,
    /// It was said already that proofs are late.
    late: bool,
    /// Tiles in sight that were not proved the last time, and the first turn of which they were not.
    missed: BTreeMap<TileName, Height>,
    /// Views are fetched anew; those before the answer to this ping are of what was asked before.
    anew: Option<u64>,
    pings: VecDeque<(u64, Duration)>,
    next_ping: u64,
    endpoints: BTreeMap<PublicKey, EndpointAnnouncement>,
    servers: Option<u32>,
    servers_at: Option<Duration>,
    out: VecDeque<Output>,
}

impl core::fmt::Debug for Session {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Session in {} with {} acts pending", self.lane, self.pending.len())
    }
}

impl Session {
    /// A session of `key`. The lane is a random number that this key never used before.
    #[must_use]
    pub fn new(key: Arc<dyn Sign>, light: LightClient, lane: Lane) -> Self {
        Self {
            age: TrustAge::since(light.checkpoint().map(|checkpoint| checkpoint.time)),
            light,
            lane,
            next_seq: Seq(1),
            now: Duration::ZERO,
            headers: NewestHeader::default(),
            open: false,
            welcomed: false,
            server: None,
            turns_per_second: 0,
            unsigned: VecDeque::new(),
            pending: BTreeMap::new(),
            order: BTreeMap::new(),
            questions: BTreeMap::new(),
            next_question: 1,
            links: None,
            unproven: Vec::new(),
            unchecked: Vec::new(),
            watching: None,
            attendance: Attendance::default(),
            earshot: Earshot::default(),
            sight: Sight::of(key.public()),
            key,
            proven: None,
            late: false,
            missed: BTreeMap::new(),
            anew: None,
            pings: VecDeque::new(),
            next_ping: 1,
            endpoints: BTreeMap::new(),
            servers: None,
            servers_at: None,
            out: VecDeque::new(),
        }
    }

    /// Returns the light client, which holds what the session believes.
    #[must_use]
    pub const fn light(&self) -> &LightClient {
        &self.light
    }

    /// Returns the lane that the client's acts are in.
    #[must_use]
    pub const fn lane(&self) -> Lane {
        self.lane
    }

    /// Returns whether the node let the client in.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.open
    }

    /// Returns the key of the server that is spoken with, as its challenge names it.
    #[must_use]
    pub const fn server(&self) -> Option<PublicKey> {
        self.server
    }

    /// Returns how many turns a second the sim runs when nothing holds it up, as the node says.
    #[must_use]
    pub const fn turns_per_second(&self) -> u32 {
        self.turns_per_second
    }

    /// Acts that have no receipt yet.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending.len().saturating_add(self.unsigned.len())
    }

    /// The carrier broke. Acts are kept, and sent again on the next connection; so are questions that
    /// were asked by [`Session::inquire`].
    pub fn disconnected(&mut self) {
        self.open = false;
        self.server = None;
        self.links = None;
        self.servers = None;
        self.headers.disconnected();
        // The next server may not be as far yet, and would be blamed for what this one showed. Acts
        // without a receipt are sent again, so their receipts come again.
        self.unproven.clear();
        self.unchecked.clear();
        self.pings.clear();
        self.questions.retain(|_, asked| asked.kept);
        // Who waits for an event does so over several connections.
        self.out.retain(|output| matches!(output, Output::Event(_)));
    }

    /// Sends a ping; [`SessionEvent::Pong`] tells how long it took.
    pub fn ping(&mut self, now: Duration) {
        if !self.open {
            return;
        }
        if self.pings.len() >= PINGS_MAX {
            self.pings.pop_front();
        }
        let token = self.mark();
        self.pings.push_back((token, now));
    }

    /// Sends a ping whose answer is a mark in what the node says. Gives its token.
    fn mark(&mut self) -> u64 {
        let token = self.next_ping;
        self.next_ping = token.wrapping_add(1);
        self.send(&ClientMessage::Ping { token });
        token
    }

    fn pong(&mut self, now: Duration, token: u64) {
        if self.anew == Some(token) {
            self.anew = None;
        }
        if let Some(at) = self.pings.iter().position(|(sent, _)| *sent == token)
            && let Some((_, sent_at)) = self.pings.remove(at)
        {
            self.event(SessionEvent::Pong { after: now.saturating_sub(sent_at) });
        }
    }

    /// Returns when [`Session::tick`] is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        if !self.open {
            return None;
        }
        let acts = self.pending.values().map(|pending| pending.resend_at).min();
        acts.into_iter().chain(self.servers_at).chain(self.seek_at()).min()
    }

    /// Sends acts again that have waited too long for a receipt, the very same bytes; and asks again
    /// where servers let clients in, if that is wanted.
    pub fn tick(&mut self, now: Duration) {
        self.now = now;
        if self.open {
            self.resend(now, |pending| pending.resend_at <= now);
            self.ask_servers(now);
            self.sign_or_seek();
        }
    }

    /// A frame from the node.
    pub fn handle(&mut self, now: Duration, frame: &[u8]) {
        let said = decode_server(frame);
        match &said {
            Ok(ServerMessage::Answer { id, answer }) if self.is_wanted_raw(*id) => {
                self.questions.remove(id);
                let (id, kind, frame) = (*id, answer.kind(), frame.to_vec());
                self.event(SessionEvent::Frame { id, kind, frame });
            }
            _ => self.hear(now, said),
        }
    }

    /// A frame from the node, for those who have decoded it already.
    pub fn hear(&mut self, now: Duration, said: Result<ServerMessage, DecodeError>) {
        self.now = now;
        let message = match said {
            Ok(message) => message,
            Err(error) => return self.event(SessionEvent::BadFrame(error)),
        };
        match message {
            ServerMessage::Challenge(challenge) => self.answer(&challenge),
            ServerMessage::Welcome(welcome) => self.welcome(now, &welcome),
            ServerMessage::Goodbye(why) => {
                self.open = false;
                self.event(SessionEvent::Closed(why));
            }
            ServerMessage::Refused { act, why } => self.refused(act, why),
            ServerMessage::Receipt { act, receipt } => self.receipt(act, receipt),
            ServerMessage::Outcome { act, height, outcome } => {
                self.claimed(height);
                self.ruled(act, outcome);
                self.event(SessionEvent::Outcome { act, height, outcome });
            }
            ServerMessage::Heard(line) => self.heard(line),
            ServerMessage::Form(asked) => self.event(SessionEvent::Form(asked)),
            ServerMessage::Sound(made) => self.event(SessionEvent::Sound(made)),
            ServerMessage::Told(told) => self.event(SessionEvent::Told(told)),
            ServerMessage::Forgotten(words) => self.event(SessionEvent::Forgotten(words)),
            ServerMessage::Answer { id, answer } => self.answered(id, answer),
            ServerMessage::Pong { token } => self.pong(now, token),
            ServerMessage::View(view) => self.view_came(&view),
            ServerMessage::ViewProof(proof) => self.proof_came(proof),
        }
    }

    /// Tells of a line, unless it is one that was heard before the connection broke.
    fn heard(&mut self, line: ChatMessage) {
        let Earshot { came, before, newest } = self.earshot;
        self.earshot.newest = newest.max(line.height);
        if line.height > came {
            self.event(SessionEvent::Heard(line));
        } else if line.height > before {
            self.event(SessionEvent::HeardEarlier(line));
        }
    }

    fn welcome(&mut self, now: Duration, welcome: &Welcome) {
        let newest = self.earshot.newest;
        self.earshot = Earshot { came: welcome.height, before: newest, newest };
        self.open = true;
        self.welcomed = true;
        self.turns_per_second = welcome.turns_per_second;
        self.headers.welcomed(welcome.height, now);
        self.event(SessionEvent::Open { height: welcome.height });
        self.begin_views();
        self.resend(now, |_| true);
        self.ask_again();
        self.servers_at = self.servers_at.map(|_| now);
        self.ask_servers(now);
        self.seek_header();
    }

    fn answer(&mut self, challenge: &Challenge) {
        // Who asks twice hands on what other servers ask, to open their sessions in this name. The liar is whoever
        // asked first.
        if self.server.is_some() {
            return self.distrust(Distrust::SecondChallenge);
        }
        self.server = Some(challenge.server);
        if challenge.sim != self.light.sim() {
            return self.distrust(Distrust::OtherSim(challenge.sim));
        }
        let hello = Hello::new(challenge, &*self.key);
        self.send(&ClientMessage::Hello(hello));
    }

    fn answered(&mut self, id: u32, answer: Box<Answer>) {
        if self.questions.remove(&id).is_none() {
            return;
        }
        if self.links == Some(id) {
            self.links = None;
            return self.linked(&answer);
        }
        if self.servers == Some(id) {
            self.servers = None;
            return self.servers_named(&answer);
        }
        if self.headers.asked == Some(id) {
            return self.header_came(*answer);
        }
        self.receipt_found(&answer);
        self.event(SessionEvent::Answer { id, answer });
    }

    /// Takes the next output, in order.
    pub fn poll(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// The node lied: nothing that it showed is worth anything.
    fn distrust(&mut self, distrust: Distrust) {
        self.sight.clear();
        self.proven = None;
        self.unchecked.clear();
        self.event(SessionEvent::Distrusted(distrust));
    }

    fn send(&mut self, message: &ClientMessage) {
        self.out.push_back(Output::Send(encode_client(message)));
    }

    fn event(&mut self, event: SessionEvent) {
        self.out.push_back(Output::Event(event));
    }
}
