//! A server that is all of its sim, with a log in memory and no delays.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use metatopia_consensus::{self as consensus, Base, Decision, Record};
use metatopia_protocol::{Answer, Question, ServerMessage, decode_server};
use metatopia_replica::{
    BEHIND_TURNS, BorderWatch, ClientId, Config, Effect, Followers, Input, PeerMessage, Replica,
    decode_snapshot, find_decisions,
};
use metatopia_sim::{ENGINE, Genesis, Serial, Tools, World};
use metatopia_types::{
    Blob, Ed25519, Height, Millis, NodeContact, Now, PublicKey, Sign, SigningKey, SimId,
};

/// Turns between snapshots here.
pub(crate) const SNAPSHOT_TURNS: u64 = 50;

pub(crate) struct Alone {
    pub(crate) replica: Replica,
    pub(crate) sim: SimId,
    now: Now,
    log: Vec<Record>,
    snapshot: Option<Vec<u8>>,
    answers: BTreeMap<u64, Answer>,
    asked: u64,
    /// Turns that were read from the log.
    pub(crate) loaded: usize,
    /// Followers that are let in, as it said last.
    pub(crate) followers: Followers,
    /// Servers to keep connections with, as it said last.
    contacts: BTreeSet<PublicKey>,
    /// Both of them together, whenever it said one of the two.
    pub(crate) peer_sets: Vec<BTreeSet<PublicKey>>,
    /// What was sent to one other server or follower.
    pub(crate) sent: Vec<(PublicKey, Vec<u8>)>,
    /// What was sent to all of them.
    pub(crate) sent_to_all: Vec<Vec<u8>>,
    /// What others answered.
    pub(crate) heard_from: Vec<(PublicKey, u32, Answer)>,
    /// What clients were told and did not look at yet.
    told: Vec<(ClientId, Vec<u8>)>,
    clients: u64,
    /// Which clients count as known, or no longer, as it said.
    /// The packages that were to be compiled before their turns.
    pub(crate) compiled_ahead: Vec<Blob>,
    pub(crate) known: Vec<(ClientId, bool)>,
    /// It loses its power when it is to write down who was let in.
    pub(crate) dies_of_guests: bool,
    /// The neighbours that are to be asked, as it said last.
    pub(crate) watched: Vec<BorderWatch>,
    /// Why it let what couriers brought count for nothing.
    pub(crate) unheard: Vec<String>,
    /// Does it take its time to apply a turn?
    slow: bool,
    away: Option<(Box<World>, Arc<Decision>)>,
}

/// What the wall clock says when it begins.
pub(crate) const NOON: Millis = Millis(1_700_000_000_000);

pub(crate) fn key() -> SigningKey {
    SigningKey::from_seed([3; 32])
}

pub(crate) fn tools() -> Tools {
    Tools::new(Arc::new(Ed25519))
}

pub(crate) fn genesis() -> Genesis {
    Genesis {
        name: "yard".to_owned(),
        admins: BTreeSet::new(),
        validators: BTreeMap::from([(key().public(), NodeContact::default())]),
        licence: "AGPL-3.0-or-later".to_owned(),
        asset_licence: "CC-BY-SA-4.0".to_owned(),
        ..Genesis::empty()
    }
}

pub(crate) fn config(genesis: &Genesis) -> Config {
    Config {
        sim: genesis.id(),
        genesis: Arc::new(genesis.encode()),
        agreement: consensus::AgreementConfig {
            sim: genesis.id(),
            engine: ENGINE,
            turn_length: 50,
            signer: Arc::new(key()),
            scheme: Arc::new(Ed25519),
            fresh_key: true,
            silent: false,
            patience: consensus::Patience::default(),
        },
        turns_per_second: 20,
        snapshot_turns: SNAPSHOT_TURNS,
        behind_turns: BEHIND_TURNS,
        repairs: Vec::new(),
        seed: [5; 32],
    }
}

impl Alone {
    pub(crate) fn begin() -> Self {
        Self::found(&genesis())
    }

    /// Starts the server of a sim with this genesis.
    pub(crate) fn found(genesis: &Genesis) -> Self {
        Self::configured(genesis, config(genesis))
    }

    /// Starts the server of a sim with this genesis and this configuration.
    pub(crate) fn configured(genesis: &Genesis, config: Config) -> Self {
        let world = World::genesis(genesis, &tools()).expect("a genesis");
        let set = world.validators(Height(1)).expect("the first set");
        let base = Base::genesis(Millis(0), world.root(), set);
        let now = Now { monotonic: Duration::ZERO, wall: NOON };
        let replica = Replica::open(config, base, world, [], [], now).expect("a log of its own");
        Self { sim: genesis.id(), ..Self::around(replica, now, Vec::new(), None) }
    }

    fn around(replica: Replica, now: Now, log: Vec<Record>, snapshot: Option<Vec<u8>>) -> Self {
        let sim = genesis().id();
        let answers = BTreeMap::new();
        let (followers, told) = (Followers::default(), Vec::new());
        Self {
            replica,
            sim,
            now,
            log,
            snapshot,
            answers,
            asked: 0,
            loaded: 0,
            followers,
            contacts: BTreeSet::new(),
            peer_sets: Vec::new(),
            sent: Vec::new(),
            sent_to_all: Vec::new(),
            heard_from: Vec::new(),
            told,
            clients: 0,
            known: Vec::new(),
            compiled_ahead: Vec::new(),
            dies_of_guests: false,
            watched: Vec::new(),
            unheard: Vec::new(),
            slow: false,
            away: None,
        }
    }

    /// The same server, started anew from its last snapshot.
    pub(crate) fn again(self) -> Self {
        let (base, world) = self.state();
        let config = config(&genesis());
        let records = self.log.clone();
        let replica =
            Replica::open(config, base, world, [], records, self.now).expect("a log of its own");
        Self::around(replica, self.now, self.log, self.snapshot)
    }

    /// Returns what the server logged.
    pub(crate) fn log(&self) -> &[Record] {
        &self.log
    }

    /// Returns whether the server wrote a snapshot.
    pub(crate) fn has_state(&self) -> bool {
        self.snapshot.is_some()
    }

    /// Its last snapshot.
    pub(crate) fn state(&self) -> (Base, World) {
        let snapshot = self.snapshot.as_ref().expect("it ran for long enough");
        decode_snapshot(snapshot, &tools()).expect("its own")
    }

    pub(crate) fn height(&self) -> Height {
        self.replica.world().map(World::height).unwrap_or_default()
    }

    /// Goes on until the turn of this height is applied.
    pub(crate) fn run_to(&mut self, height: u64) {
        self.slow = false;
        self.come_back();
        while self.height() < Height(height) {
            self.wait();
        }
    }

    /// Goes on until a turn is being applied, and leaves it at that.
    pub(crate) fn run_until_away(&mut self) {
        self.slow = true;
        while self.away.is_none() {
            self.wait();
        }
        assert!(self.replica.world().is_none());
    }

    /// Applies the turn that was being applied, if one was.
    pub(crate) fn come_back(&mut self) {
        self.settle();
        if let Some((mut world, decision)) = self.away.take() {
            let result = Box::new(world.apply(&decision.turn, &Serial));
            self.handle(Input::Applied { world, result });
        }
    }

    /// Waits until the next thing is due.
    fn wait(&mut self) {
        let deadline = self.replica.deadline().expect("a server alone waits only for time");
        let ahead = deadline.saturating_sub(self.now.monotonic);
        self.now.monotonic = deadline;
        let ahead = u64::try_from(ahead.as_millis()).expect("a short while") + 1;
        self.now.wall = Millis(self.now.wall.0 + ahead);
        self.handle(Input::Wake);
    }

    fn handle(&mut self, input: Input) {
        self.replica.handle(self.now, input);
        self.settle();
    }

    fn settle(&mut self) {
        while let Some(effect) = self.replica.poll() {
            let input = match effect {
                Effect::Append { payload, .. } => {
                    self.log.push(Record::decode(&payload).expect("its own record"));
                    continue;
                }
                Effect::Sync(position) => Input::Synced(position),
                Effect::Apply { world, decision } if self.slow => {
                    self.away = Some((world, decision));
                    continue;
                }
                Effect::Apply { mut world, decision } => {
                    let result = Box::new(world.apply(&decision.turn, &Serial));
                    Input::Applied { world, result }
                }
                Effect::Load { reader, from, count } => {
                    let decisions = find_decisions(self.log.clone(), from, count);
                    self.loaded += decisions.len();
                    Input::Loaded { reader, decisions, oldest: Height(1), next: None }
                }
                Effect::Snapshot { bytes, .. } => {
                    self.snapshot = Some(bytes);
                    continue;
                }
                Effect::ToPeer { to: Some(to), frame } => {
                    self.sent.push((to, frame));
                    continue;
                }
                Effect::ToPeer { to: None, frame } => {
                    self.sent_to_all.push(frame);
                    continue;
                }
                Effect::PeerAnswer { from, id, answer } => {
                    self.heard_from.push((from, id, answer));
                    continue;
                }
                Effect::Followers(_) if self.dies_of_guests => {
                    while self.replica.poll().is_some() {}
                    continue;
                }
                Effect::Followers(followers) => {
                    self.followers = *followers;
                    self.note_peer_set();
                    continue;
                }
                Effect::Contacts(contacts) => {
                    self.contacts = contacts.into_keys().collect();
                    self.note_peer_set();
                    continue;
                }
                Effect::ToClient { client, frame, .. } => {
                    self.told.push((client, frame));
                    continue;
                }
                effect => {
                    self.note(effect);
                    continue;
                }
            };
            self.replica.handle(self.now, input);
        }
    }

    /// Notes what needs no answer.
    fn note(&mut self, effect: Effect) {
        match effect {
            Effect::Borders(watched) => self.watched = watched,
            Effect::DispatchRefused { why, .. } => self.unheard.push(why),
            Effect::KnownClient { client, known } => self.known.push((client, known)),
            Effect::CompileAhead(package) => self.compiled_ahead.push(package),
            Effect::Answer { token, answer } => drop(self.answers.insert(token, answer)),
            _ => {}
        }
    }

    fn note_peer_set(&mut self) {
        let followers = self.followers.iter().map(|(key, _)| key);
        self.peer_sets.push(self.contacts.iter().copied().chain(followers).collect());
    }

    pub(crate) fn welcome(&mut self, contact: NodeContact, followers: Followers) {
        self.handle(Input::Welcome { contact, followers: Box::new(followers) });
    }

    pub(crate) fn peer_up(&mut self, peer: PublicKey) {
        self.handle(Input::PeerUp(peer));
    }

    pub(crate) fn peer_down(&mut self, peer: PublicKey) {
        self.handle(Input::PeerDown(peer));
    }

    pub(crate) fn peer_says(&mut self, from: PublicKey, message: &PeerMessage) {
        self.handle(Input::PeerFrame { from, frame: message.encode() });
    }

    pub(crate) fn ask_peer(&mut self, to: PublicKey, id: u32, question: Question) {
        self.handle(Input::AskPeer { to, id, question });
    }

    /// A courier brings what a neighbour said.
    pub(crate) fn courier_brings(&mut self, neighbour: SimId, dispatch: Vec<u8>) {
        self.handle(Input::Dispatch { neighbour, dispatch });
    }

    /// Tells the server what a courier knows: where a neighbour's nodes are.
    pub(crate) fn courier_found(&mut self, neighbour: SimId, nodes: Vec<String>) {
        self.handle(Input::NeighbourNodes { neighbour, nodes });
    }

    /// A question that comes by HTTP; the answer may come later.
    pub(crate) fn put(&mut self, question: Question) -> u64 {
        self.asked += 1;
        let token = self.asked;
        self.handle(Input::Ask { token, question });
        token
    }

    /// The answer to such a question, if it has come.
    pub(crate) fn answered(&mut self, token: u64) -> Option<Answer> {
        self.answers.remove(&token)
    }

    pub(crate) fn client_up(&mut self) -> ClientId {
        self.clients += 1;
        self.handle(Input::ClientUp(ClientId(self.clients)));
        ClientId(self.clients)
    }

    pub(crate) fn client_down(&mut self, client: ClientId) {
        self.handle(Input::ClientDown(client));
    }

    pub(crate) fn client_says(&mut self, client: ClientId, frame: Vec<u8>) {
        self.handle(Input::ClientFrame { client, frame });
    }

    /// Returns what this client was told since it was asked last.
    pub(crate) fn heard(&mut self, client: ClientId) -> Vec<ServerMessage> {
        let (own, others) = self.told.drain(..).partition(|(to, _)| *to == client);
        self.told = others;
        let own: Vec<(ClientId, Vec<u8>)> = own;
        own.iter().map(|(_, frame)| decode_server(frame).expect("a frame")).collect()
    }

    pub(crate) fn ask(&mut self, question: Question) -> Answer {
        let token = self.put(question);
        self.answered(token).expect("every question is answered")
    }
}
