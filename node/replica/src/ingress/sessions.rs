//! Client sessions: who is connected, and the ration of each key. Sans-IO, and the same over every
//! carrier.

use std::collections::BTreeMap;

use metatopia_math::Stream;
use metatopia_protocol::{
    Answer, Challenge, ClientId, ClientMessage, Delivery, Goodbye, Hello, Question,
    SERVER_FRAME_BYTES_MAX, ServerMessage, Submission, SubmitRefusal, VERSION, Watching, Welcome,
    decode_client, encode_server,
};
use metatopia_types::{Height, PublicKey, SimId, Verify};

use super::rate_limits::KeyRations;

/// Clients of one server.
pub const CLIENTS_MAX: usize = 512;

/// Sessions of one key at one server: the open tabs of a person. One more ends the oldest, which is
/// most often a leftover of a broken connection.
pub const SESSIONS_PER_KEY_MAX: usize = 8;

/// Frames that one client may send between two turns; what is more is dropped with an answer that
/// says so. A client that acts ten times a second sends one every other turn.
pub const FRAMES_PER_TURN_MAX: u32 = 64;

/// Returns the frame for a client whose answer finds no room, see [`Delivery::Answer`].
#[must_use]
pub fn busy(id: u32) -> Vec<u8> {
    encode_server(&ServerMessage::Answer { id, answer: Box::new(Answer::Busy) })
}

/// An effect of the sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEffect {
    /// Send a frame.
    Send {
        /// The client that receives it.
        client: ClientId,
        /// How a slow carrier may treat the frame.
        delivery: Delivery,
        /// The bytes of the frame.
        frame: Vec<u8>,
    },
    /// Read the client's frames more slowly: one was beyond its ration.
    Slow {
        /// The client that it concerns.
        client: ClientId,
    },
    /// Close the connection, after what was sent before.
    Close {
        /// The client that it concerns.
        client: ClientId,
        /// Why, for the log; the client has been told.
        why: Goodbye,
    },
}

/// A request of an open session to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Take this act.
    Submit(Box<Submission>),
    /// Answer a question of the client.
    Ask {
        /// The client's number for it.
        id: u32,
        /// The question to answer.
        question: Question,
    },
    /// Send views in this way, or no more.
    View(Option<Box<Watching>>),
    /// The view of this number was taken in.
    Seen(u32),
}

#[derive(Debug)]
enum SessionStage {
    Challenged(Challenge),
    Open(PublicKey),
}

#[derive(Debug)]
struct ConnectedClient {
    stage: SessionStage,
    frames: u32,
}

/// A key with open sessions.
#[derive(Debug)]
struct Holder {
    /// Its sessions, the oldest first; never none.
    sessions: Vec<ClientId>,
    rations: KeyRations,
}

impl Holder {
    const fn new() -> Self {
        Self { sessions: Vec::new(), rations: KeyRations::FULL }
    }
}

/// All sessions of one server.
#[derive(Debug)]
pub struct Sessions {
    sim: SimId,
    server: PublicKey,
    clients: BTreeMap<ClientId, ConnectedClient>,
    /// Everybody who has a session open.
    by_key: BTreeMap<PublicKey, Holder>,
    nonces: Stream,
    turns_per_second: u32,
    out: Vec<SessionEffect>,
}

impl Sessions {
    /// Returns no session yet. `seed` must be secret and new at every start: nonces come from it.
    #[must_use]
    pub fn new(sim: SimId, server: PublicKey, turns_per_second: u32, seed: &[u8; 32]) -> Self {
        Self {
            sim,
            server,
            clients: BTreeMap::new(),
            by_key: BTreeMap::new(),
            nonces: Stream::new(seed, "client nonces", &[]),
            turns_per_second,
            out: Vec::new(),
        }
    }

    /// Returns the number of open sessions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_key.values().map(|holder| holder.sessions.len()).sum()
    }

    /// Returns whether no session is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// Returns the key of an open session.
    #[must_use]
    pub fn key(&self, client: ClientId) -> Option<PublicKey> {
        match self.clients.get(&client)?.stage {
            SessionStage::Open(key) => Some(key),
            SessionStage::Challenged(_) => None,
        }
    }

    /// Returns every open session with its key.
    pub fn open(&self) -> impl Iterator<Item = (ClientId, PublicKey)> + '_ {
        let each = |(key, holder): (&PublicKey, &Holder)| {
            let key = *key;
            holder.sessions.clone().into_iter().map(move |client| (client, key))
        };
        self.by_key.iter().flat_map(each)
    }

    /// Sends a challenge to a client that connected.
    pub fn connected(&mut self, client: ClientId) {
        if self.clients.len() >= CLIENTS_MAX {
            return self.end(client, Goodbye::Full);
        }
        let mut nonce = [0; 32];
        for eight in nonce.chunks_exact_mut(8) {
            eight.copy_from_slice(&self.nonces.next_u64().to_le_bytes());
        }
        let challenge = Challenge { version: VERSION, sim: self.sim, server: self.server, nonce };
        self.send(client, Delivery::Reliable, &ServerMessage::Challenge(challenge.clone()));
        let stage = SessionStage::Challenged(challenge);
        self.clients.insert(client, ConnectedClient { stage, frames: 0 });
    }

    /// Forgets a client that disconnected.
    pub fn disconnected(&mut self, client: ClientId) {
        if let Some(ConnectedClient { stage: SessionStage::Open(key), .. }) =
            self.clients.remove(&client)
            && let Some(holder) = self.by_key.get_mut(&key)
        {
            holder.sessions.retain(|other| *other != client);
            if holder.sessions.is_empty() {
                self.by_key.remove(&key);
            }
        }
    }

    /// Takes a frame of a client. A wrong frame ends this session, and touches no other.
    pub fn frame(
        &mut self,
        client: ClientId,
        frame: &[u8],
        height: Height,
        scheme: &dyn Verify,
    ) -> Option<Demand> {
        let state = self.clients.get_mut(&client)?;
        state.frames = state.frames.saturating_add(1);
        let over = state.frames > FRAMES_PER_TURN_MAX;
        let Ok(message) = decode_client(frame) else {
            self.end(client, Goodbye::BadFrame);
            return None;
        };
        match (&state.stage, message) {
            (SessionStage::Challenged(challenge), ClientMessage::Hello(hello)) => {
                let verdict = Self::check(challenge, &hello, scheme);
                self.welcome(client, hello.key, height, verdict);
                None
            }
            (SessionStage::Challenged(_), _) | (SessionStage::Open(_), ClientMessage::Hello(_)) => {
                self.end(client, Goodbye::NoHello);
                None
            }
            (SessionStage::Open(_), ClientMessage::Ping { token }) => {
                match over {
                    true => self.slow(client),
                    false => {
                        self.send(client, Delivery::Reliable, &ServerMessage::Pong { token });
                    }
                }
                None
            }
            (SessionStage::Open(_), ClientMessage::View(watching)) => {
                Some(Demand::View(watching.map(Box::new)))
            }
            (SessionStage::Open(_), ClientMessage::Seen { number }) => Some(Demand::Seen(number)),
            (SessionStage::Open(key), ClientMessage::Submit(submission)) => {
                let holder = self.by_key.get_mut(key).expect("who has a session open holds it");
                if over || !holder.rations.take_act() {
                    let (act, why) = (submission.act.id(), SubmitRefusal::QuotaExceeded);
                    self.send(client, Delivery::Reliable, &ServerMessage::Refused { act, why });
                    self.slow(client);
                    return None;
                }
                Some(Demand::Submit(submission))
            }
            (SessionStage::Open(key), ClientMessage::Ask { id, question }) => {
                if over || self.by_key[key].rations.is_sated() {
                    self.answer(client, id, Answer::Busy);
                    self.slow(client);
                    return None;
                }
                Some(Demand::Ask { id, question })
            }
        }
    }

    fn check(challenge: &Challenge, hello: &Hello, scheme: &dyn Verify) -> Result<(), Goodbye> {
        if hello.version != VERSION {
            return Err(Goodbye::Version(VERSION));
        }
        if !hello.verify(challenge, scheme) {
            return Err(Goodbye::BadSignature);
        }
        Ok(())
    }

    fn welcome(
        &mut self,
        client: ClientId,
        key: PublicKey,
        height: Height,
        verdict: Result<(), Goodbye>,
    ) {
        if let Err(why) = verdict {
            return self.end(client, why);
        }
        let open = &mut self.by_key.entry(key).or_insert_with(Holder::new).sessions;
        let oldest = (open.len() >= SESSIONS_PER_KEY_MAX).then(|| open[0]);
        open.push(client);
        if let Some(oldest) = oldest {
            self.end(oldest, Goodbye::OtherSession);
        }
        if let Some(state) = self.clients.get_mut(&client) {
            state.stage = SessionStage::Open(key);
        }
        let welcome = Welcome { height, turns_per_second: self.turns_per_second };
        self.send(client, Delivery::Reliable, &ServerMessage::Welcome(welcome));
    }

    /// Grants the rations of a turn to all keys.
    pub fn turn(&mut self) {
        for client in self.clients.values_mut() {
            client.frames = 0;
        }
        for holder in self.by_key.values_mut() {
            holder.rations.turn();
        }
    }

    /// Sends a message to a client.
    pub fn send(&mut self, client: ClientId, delivery: Delivery, message: &ServerMessage) {
        self.forward(client, delivery, encode_server(message));
    }

    /// Gives back the ration for an act that cost nothing.
    pub fn spare(&mut self, client: ClientId) {
        if let Some(holder) = self.holder(client) {
            holder.rations.give_back_act();
        }
    }

    /// Charges a client for an act with a wrong signature:
    /// [`FORGERY_ACTS`](super::rate_limits::FORGERY_ACTS), of which one is charged
    /// already.
    pub fn forged(&mut self, client: ClientId) {
        if let Some(holder) = self.holder(client) {
            holder.rations.charge_forgery();
        }
        self.slow(client);
    }

    /// Returns whether this client may have the receipt of an act again that was decided before, and counts it.
    pub fn again(&mut self, client: ClientId) -> bool {
        let may = self.holder(client).is_some_and(|holder| holder.rations.take_receipt());
        if !may {
            self.slow(client);
        }
        may
    }

    fn slow(&mut self, client: ClientId) {
        self.out.push(SessionEffect::Slow { client });
    }

    /// Returns whether the key of this client had as many answers as it may have for now.
    #[must_use]
    pub fn is_sated(&self, client: ClientId) -> bool {
        let key = self.key(client);
        key.and_then(|key| self.by_key.get(&key)).is_some_and(|holder| holder.rations.is_sated())
    }

    /// Answers a client's question, at the expense of its key.
    pub fn answer(&mut self, client: ClientId, id: u32, answer: Answer) {
        let encode =
            |answer| encode_server(&ServerMessage::Answer { id, answer: Box::new(answer) });
        let mut frame = encode(answer);
        if frame.len() > SERVER_FRAME_BYTES_MAX {
            // No carrier takes it, and who asks must not wait for ever.
            frame = encode(Answer::TooLong);
        }
        if let Some(holder) = self.holder(client) {
            holder.rations.charge_answer(frame.len() as u64);
        }
        self.forward(client, Delivery::Answer(id), frame);
    }

    fn holder(&mut self, client: ClientId) -> Option<&mut Holder> {
        let key = self.key(client)?;
        self.by_key.get_mut(&key)
    }

    /// Sends an encoded message to a client.
    pub fn forward(&mut self, client: ClientId, delivery: Delivery, frame: Vec<u8>) {
        self.out.push(SessionEffect::Send { client, delivery, frame });
    }

    /// Ends a session, and says why.
    pub fn end(&mut self, client: ClientId, why: Goodbye) {
        self.send(client, Delivery::Reliable, &ServerMessage::Goodbye(why));
        self.out.push(SessionEffect::Close { client, why });
        self.disconnected(client);
    }

    /// Ends all sessions: the node stops.
    pub fn end_all(&mut self) {
        let clients: Vec<ClientId> = self.clients.keys().copied().collect();
        for client in clients {
            self.end(client, Goodbye::Stopping);
        }
    }

    /// Returns what is to be done, in order.
    pub fn drain(&mut self) -> Vec<SessionEffect> {
        std::mem::take(&mut self.out)
    }
}
