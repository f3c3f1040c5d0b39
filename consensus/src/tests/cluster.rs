//! Servers, their logs, and the network between them, under one clock.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use metatopia_types::{
    ActId, Digest, HeaderId, Height, Millis, Now, PublicKey, Root, Round, Trust, Turn, TurnBody,
    ValidatorSet, VoteKind, limits::SET_LAG, wire,
};

use super::keys::{StandIn, key, set, signer, sim};
use crate::{
    Agreement, AgreementConfig, AgreementEffect, AgreementInput, AppliedTurn, Base, Decision, Host,
    Message, Patience, Recipients, Record, VoidAct,
};

pub(crate) const START: Millis = Millis(1_700_000_000_000);
pub(crate) const TURN: u64 = 50;

/// A state machine whose state is the list of its turns.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    pub decided: BTreeMap<Height, HeaderId>,
    /// When a body was asked for, and of which height.
    pub bodies: Vec<(Height, bool)>,
    /// Heights whose turns it calls void, whatever is in them.
    pub void: BTreeSet<Height>,
    /// The height of the state it began with.
    base: Height,
}

impl Host for Machine {
    fn decided(&mut self, turn: &Turn) {
        let height = turn.header.height;
        let before = self.decided.insert(height, turn.id());
        assert_eq!(before, None, "{height} is decided once");
    }

    fn judge(&self, turn: &Turn) -> Result<(), VoidAct> {
        let height = turn.header.height;
        assert!(!self.decided.contains_key(&height), "judged before it is decided");
        let previous = height.minus(1).unwrap();
        assert!(previous == self.base || self.decided.contains_key(&previous));
        if self.void.contains(&height) {
            return Err(VoidAct { act: ActId(Digest::ZERO), fault: crate::ActCheckError::Sim });
        }
        Ok(())
    }

    fn body(&mut self, height: Height, after: Option<&Turn>) -> TurnBody {
        let previous = height.minus(1).unwrap();
        if let Some(after) = after {
            assert_eq!(after.header.height, previous);
            assert!(!self.decided.contains_key(&previous), "it is decided already");
        }
        self.bodies.push((height, after.is_some()));
        TurnBody::default()
    }
}

pub(crate) struct Server {
    pub n: u8,
    pub agreement: Option<Agreement>,
    pub machine: Machine,
    pub base: Base,
    pub log: Vec<Record>,
    /// Records that survive a crash.
    pub durable: usize,
    /// Records that the log had when this life began.
    opened: usize,
    held: VecDeque<(u64, AgreementEffect)>,
    life: u32,
    syncing: bool,
    roots: BTreeMap<Height, Root>,
    /// What the outside was told.
    pub told: BTreeMap<Height, HeaderId>,
    /// When each height was heard of.
    pub told_us: BTreeMap<Height, u64>,
    pub evidence: Vec<metatopia_types::Evidence>,
    pub halted: Option<crate::Halt>,
    pub fresh_key: bool,
    /// Milliseconds that its wall clock is off.
    pub skew: i64,
    pub apply_us: u64,
    /// Its disk has no room: nothing becomes durable.
    pub full: bool,
}

#[derive(Debug)]
enum Event {
    Frame(PublicKey, Message),
    Wake,
    Synced(u64),
    Applied(Height),
}

pub(crate) struct Cluster {
    pub now_us: u64,
    queue: BTreeMap<(u64, u64), (u8, u32, Event)>,
    count: u64,
    pub servers: Vec<Server>,
    /// Travel of a message: least, and what chance adds to it at most.
    pub delay_us: (u64, u64),
    pub loss_percent: u64,
    pub sync_us: u64,
    chance: blake3::OutputReader,
    pub sets: BTreeMap<Height, ValidatorSet>,
    decided: BTreeMap<Height, HeaderId>,
    /// What was said by whom about what: nobody may say two things.
    said: BTreeMap<(PublicKey, u8, Height, Round), Vec<u8>>,
    /// When each turn's proposal first left, and the turn's header time.
    pub left: BTreeMap<Height, u64>,
    pub patience: Patience,
    pub seed: u64,
    /// How often old turns were read from a log.
    pub loads: u32,
    /// What must never happen, and did.
    pub faults: Vec<String>,
    #[cfg(feature = "controls")]
    pub controls: crate::AgreementControls,
    /// Messages that do not arrive: to whom, and which.
    pub block: fn(u8, &Message) -> bool,
    /// Servers whose wires are cut.
    pub cut: BTreeSet<u8>,
}

impl Cluster {
    pub(crate) fn new(n: u8, seed: u64) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes());
        let genesis = Base::genesis(START, Root(Digest::ZERO), &set(0..n));
        let mut cluster = Self {
            now_us: 0,
            queue: BTreeMap::new(),
            count: 0,
            servers: Vec::new(),
            delay_us: (0, 0),
            loss_percent: 0,
            sync_us: 0,
            chance: hasher.finalize_xof(),
            sets: BTreeMap::from([(Height(0), set(0..n))]),
            decided: BTreeMap::new(),
            said: BTreeMap::new(),
            left: BTreeMap::new(),
            patience: Patience::default(),
            seed,
            block: |_, _| false,
            cut: BTreeSet::new(),
            faults: Vec::new(),
            loads: 0,
            #[cfg(feature = "controls")]
            controls: crate::AgreementControls::default(),
        };
        for i in 0..n {
            cluster.add(i, genesis.clone());
        }
        cluster
    }

    pub(crate) fn add(&mut self, n: u8, base: Base) {
        let roots = BTreeMap::from([(base.height, base.roots[1])]);
        self.servers.push(Server {
            n,
            agreement: None,
            machine: Machine::default(),
            base,
            log: Vec::new(),
            durable: 0,
            opened: 0,
            held: VecDeque::new(),
            life: 0,
            syncing: false,
            roots,
            told: BTreeMap::new(),
            told_us: BTreeMap::new(),
            evidence: Vec::new(),
            halted: None,
            fresh_key: true,
            skew: 0,
            apply_us: 0,
            full: false,
        });
    }

    pub(crate) fn start_all(&mut self) {
        for at in 0..self.servers.len() {
            self.open(at);
        }
    }

    pub(crate) fn chance(&mut self, below: u64) -> u64 {
        let mut bytes = [0; 8];
        self.chance.fill(&mut bytes);
        u64::from_le_bytes(bytes).checked_rem(below).unwrap_or(0)
    }

    pub(crate) fn config(&self, at: usize) -> AgreementConfig {
        AgreementConfig {
            sim: sim(),
            engine: 1,
            turn_length: TURN,
            signer: signer(self.servers[at].n),
            scheme: Arc::new(StandIn),
            fresh_key: self.servers[at].fresh_key,
            silent: false,
            patience: self.patience,
        }
    }

    pub(crate) fn now(&self, at: usize) -> Now {
        let wall = START.0 as i64 + (self.now_us / 1_000) as i64 + self.servers[at].skew;
        Now { monotonic: Duration::from_micros(self.now_us + 1_000_000), wall: Millis(wall as u64) }
    }

    /// Starts a server from its base and its log.
    pub(crate) fn open(&mut self, at: usize) {
        let (config, now) = (self.config(at), self.now(at));
        let server = &mut self.servers[at];
        server.machine.decided.clear();
        server.machine.base = server.base.height;
        server.roots = BTreeMap::from([(server.base.height, server.base.roots[1])]);
        server.opened = server.log.len();
        server.durable = server.log.len();
        let (base, log) = (server.base.clone(), server.log.clone());
        // What is written must read back.
        let log = log.iter().map(|r| Record::decode(&r.encode()).unwrap());
        #[cfg(not(feature = "controls"))]
        let agreement = Agreement::open(config, base, log, now, &mut server.machine);
        #[cfg(feature = "controls")]
        let agreement =
            Agreement::open_broken(config, self.controls, base, log, now, &mut server.machine);
        server.agreement = Some(agreement.unwrap());
        self.drain(at);
    }

    /// Kills the process: what is not durable is lost, but for `kept` records.
    pub(crate) fn crash(&mut self, at: usize, kept: usize) {
        let server = &mut self.servers[at];
        server.agreement = None;
        server.life += 1;
        server.held.clear();
        server.syncing = false;
        server.full = false;
        let length = server.log.len().min(server.durable + kept);
        server.log.truncate(length);
    }

    /// Fills the disk of a server.
    pub(crate) fn fill(&mut self, at: usize) {
        self.servers[at].full = true;
        self.input(at, AgreementInput::Muted(true));
    }

    /// Makes room on the disk again: all that was appended meanwhile is written.
    pub(crate) fn make_room(&mut self, at: usize) {
        let server = &mut self.servers[at];
        server.full = false;
        server.durable = server.log.len();
        let place = crate::RecordPosition((server.durable - server.opened) as u64);
        self.input(at, AgreementInput::Synced(place));
        self.input(at, AgreementInput::Muted(false));
    }

    /// The last height that a server voted at, as far as anybody heard.
    pub(crate) fn last_vote(&self, at: usize) -> Height {
        let voter = key(self.servers[at].n);
        let votes = self.said.keys().filter(|(who, what, ..)| *who == voter && *what < 2);
        votes.map(|(_, _, height, _)| *height).max().unwrap_or_default()
    }

    fn schedule(&mut self, at: usize, after_us: u64, event: Event) {
        let server = &self.servers[at];
        self.count += 1;
        let when = (self.now_us + after_us, self.count);
        self.queue.insert(when, (server.n, server.life, event));
    }

    fn index(&self, n: u8) -> usize {
        self.servers.iter().position(|s| s.n == n).unwrap()
    }

    /// Hands an input to a server and carries out what it wants.
    pub(crate) fn input(&mut self, at: usize, input: AgreementInput) {
        let now = self.now(at);
        let server = &mut self.servers[at];
        let Some(agreement) = server.agreement.as_mut() else {
            return;
        };
        agreement.handle(now, &mut server.machine, input);
        self.drain(at);
    }

    fn drain(&mut self, at: usize) {
        while let Some(effect) = self.servers[at].agreement.as_mut().and_then(Agreement::poll) {
            self.carry_out(at, effect);
        }
        self.release(at);
        let deadline = self.servers[at].agreement.as_ref().and_then(Agreement::deadline);
        if let Some(deadline) = deadline {
            let at_us = u64::try_from(deadline.as_micros()).unwrap() - 1_000_000;
            self.schedule(at, at_us.saturating_sub(self.now_us), Event::Wake);
        }
    }

    fn carry_out(&mut self, at: usize, effect: AgreementEffect) {
        let server = &mut self.servers[at];
        match effect {
            AgreementEffect::Append { record, at: place } => {
                server.log.push(record);
                assert_eq!(place.0 as usize, server.log.len() - server.opened);
            }
            AgreementEffect::Sync(_) if server.syncing || server.full => {}
            AgreementEffect::Sync(_) => {
                server.syncing = true;
                let length = server.log.len() as u64;
                self.schedule(at, self.sync_us, Event::Synced(length));
            }
            AgreementEffect::Send { after, .. } => server.held.push_back((after.0, effect)),
            AgreementEffect::Decided { ref decision, after } => {
                let (height, header) = (decision.height(), decision.id());
                if after == crate::RecordPosition::START {
                    let told = server.held.iter_mut();
                    let decided =
                        told.filter(|(_, e)| matches!(e, AgreementEffect::Decided { .. }));
                    decided.for_each(|(after, _)| *after = 0);
                }
                server.held.push_back((after.0, effect));
                let first = *self.decided.entry(height).or_insert(header);
                if first != header {
                    self.faults.push(format!("two turns at {height}"));
                }
                let apply_us = self.servers[at].apply_us;
                self.schedule(at, apply_us, Event::Applied(height));
            }
            AgreementEffect::Load { to, from, count } => {
                self.loads += 1;
                let decisions = self.load(at, from, count);
                self.input(at, AgreementInput::Loaded { to, decisions });
            }
            AgreementEffect::Evidence(evidence) => server.evidence.push(evidence),
            AgreementEffect::Halt(why) => server.halted = Some(why),
        }
    }

    fn load(&self, at: usize, from: Height, count: u32) -> Vec<Decision> {
        let log = &self.servers[at].log;
        let certificate = |height: Height| {
            log.iter().find_map(|record| match record {
                Record::Decided(c) if c.height == height => Some(c.clone()),
                _ => None,
            })
        };
        let turn = |header: HeaderId| {
            log.iter().find_map(|record| match record {
                Record::Turn(turn) if turn.id() == header => Some(Arc::clone(turn)),
                _ => None,
            })
        };
        (0..u64::from(count))
            .map_while(|n| {
                let certificate = certificate(from.plus(n))?;
                let turn = turn(certificate.header)?;
                Some(Decision { certificate, turn })
            })
            .collect()
    }

    /// Lets out what waited for the log.
    fn release(&mut self, at: usize) {
        loop {
            let server = &mut self.servers[at];
            let synced = (server.durable - server.opened.min(server.durable)) as u64;
            let Some(place) = server.held.iter().position(|(after, _)| *after <= synced) else {
                return;
            };
            let (_, effect) = server.held.remove(place).unwrap();
            match effect {
                AgreementEffect::Decided { decision, .. } => {
                    server.told.insert(decision.height(), decision.id());
                    let now_us = self.now_us;
                    server.told_us.entry(decision.height()).or_insert(now_us);
                }
                AgreementEffect::Send { to, message, .. } => self.send(at, to, message),
                _ => unreachable!(),
            }
        }
    }

    fn send(&mut self, at: usize, to: Recipients, message: Message) {
        let from = self.servers[at].n;
        self.watch(&message, key(from));
        // What is sent must read back.
        let message = Message::decode(&message.encode()).unwrap();
        for peer in 0..self.servers.len() {
            let n = self.servers[peer].n;
            let meant = to == Recipients::All || to == Recipients::One(key(n));
            let lost = self.loss_percent > 0 && self.chance(100) < self.loss_percent;
            let lost = lost || (self.block)(n, &message);
            if peer == at || !meant || lost || self.cut.contains(&n) || self.cut.contains(&from) {
                continue;
            }
            let delay = self.delay_us.0 + self.chance(self.delay_us.1 + 1);
            self.schedule(peer, delay, Event::Frame(key(from), message.clone()));
        }
    }

    /// Checks that no honest server says two things about one matter.
    fn watch(&mut self, message: &Message, from: PublicKey) {
        let (who, what, height, round, said) = match message {
            Message::Vote(signed) => {
                let vote = &signed.message;
                let kind = u8::from(vote.kind == VoteKind::Precommit);
                (vote.voter, kind, vote.height, vote.round, wire::encode(vote))
            }
            Message::Proposal(signed) => {
                let proposal = &signed.message;
                if proposal.proposer == from {
                    self.left.entry(proposal.height).or_insert(self.now_us);
                }
                let (height, round) = (proposal.height, proposal.round);
                (proposal.proposer, 2, height, round, wire::encode(proposal))
            }
            _ => return,
        };
        let first = self.said.entry((who, what, height, round)).or_insert(said.clone());
        if *first != said {
            self.faults.push(format!("{who} said two things at {height}"));
        }
    }

    /// Does the next thing. Frames of an earlier life still arrive; nothing else does.
    pub(crate) fn step(&mut self) -> bool {
        let Some(((when, _), (n, life, event))) = self.queue.pop_first() else {
            return false;
        };
        self.now_us = when;
        let at = self.index(n);
        if self.servers[at].life != life && !matches!(event, Event::Frame(..)) {
            return true;
        }
        match event {
            Event::Frame(from, message) => self.input(at, AgreementInput::Frame { from, message }),
            Event::Wake => {
                let deadline = self.servers[at].agreement.as_ref().and_then(Agreement::deadline);
                if deadline.is_some_and(|deadline| deadline <= self.now(at).monotonic) {
                    self.input(at, AgreementInput::Wake);
                }
            }
            Event::Synced(length) => {
                let server = &mut self.servers[at];
                server.syncing = false;
                server.durable = server.durable.max(length as usize);
                let place = crate::RecordPosition(length - server.opened as u64);
                let more = server.log.len() > server.durable && !server.held.is_empty();
                let more = more && !server.full;
                if more {
                    server.syncing = true;
                    let length = server.log.len() as u64;
                    self.schedule(at, self.sync_us, Event::Synced(length));
                }
                self.input(at, AgreementInput::Synced(place));
            }
            Event::Applied(height) => self.apply(at, height),
        }
        true
    }

    fn apply(&mut self, at: usize, height: Height) {
        let validators = self.validators(height.plus(SET_LAG));
        let server = &mut self.servers[at];
        let before = server.roots[&height.minus(1).unwrap()];
        let header = server.machine.decided[&height];
        let root = Root(Digest::of("test state", &wire::encode(&(before, header))));
        server.roots.insert(height, root);
        let applied = AppliedTurn { height, root, validators };
        self.input(at, AgreementInput::Applied(applied));
    }

    pub(crate) fn validators(&self, height: Height) -> ValidatorSet {
        let plan = self.sets.range(..=height);
        plan.last().unwrap().1.clone()
    }

    /// Adds a server that starts from what another one can prove.
    pub(crate) fn join(&mut self, n: u8, from: u8) {
        let from = self.index(from);
        let server = &self.servers[from];
        let tip = server.agreement().tip().unwrap().height();
        let height = tip.minus(metatopia_types::limits::ROOT_LAG).unwrap();
        let pack = server.agreement().join_pack(height).unwrap();
        let genesis = Trust { height: Height(0), validators: self.validators(Height(1)) };
        let checkpoint = pack.verify(sim(), &genesis, &StandIn).unwrap();
        assert_eq!(checkpoint.root, server.roots[&height]);
        let set = |ahead| self.validators(height.plus(ahead));
        let base = checkpoint.base([set(1), set(2), set(3)]).unwrap();
        self.add(n, base);
        self.open(self.servers.len() - 1);
    }

    /// Runs until all servers that live were told of this height; panics after `ms`.
    pub(crate) fn run_to(&mut self, height: u64, ms: u64) {
        let end = self.now_us + ms * 1_000;
        assert_eq!(self.faults, [""; 0], "seed {}", self.seed);
        let lags = |server: &Server| {
            server.agreement.is_some() && !server.told.contains_key(&Height(height))
        };
        while self.servers.iter().any(lags) {
            assert!(self.step(), "seed {}: nothing left to do", self.seed);
            let state: Vec<_> = self.servers.iter().map(Server::state).collect();
            let lives = |server: &&Server| server.agreement.is_some();
            let mut living = self.servers.iter().filter(lives);
            let halted = living.find(|server| server.halted.is_some());
            assert!(halted.is_none(), "seed {}: {state:#?}", self.seed);
            assert_eq!(self.faults, [""; 0], "seed {}", self.seed);
            assert!(self.now_us < end, "seed {}: {state:#?}", self.seed);
        }
    }

    pub(crate) fn run_for(&mut self, ms: u64) {
        let end = self.now_us + ms * 1_000;
        while self.queue.first_key_value().is_some_and(|((when, _), _)| *when <= end) {
            self.step();
        }
        self.now_us = end;
    }
}

impl Server {
    pub(crate) fn agreement(&self) -> &Agreement {
        self.agreement.as_ref().unwrap()
    }

    /// Takes the newest base that its agreement can give, as if the state had been stored. The log
    /// stays whole, so old turns are only there.
    pub(crate) fn rebase(&mut self) {
        let applied = self.log.iter().rev().find_map(|record| match record {
            Record::Applied { height, .. } => Some(*height),
            _ => None,
        });
        let base = self.agreement().base(applied.unwrap());
        self.base = base.unwrap();
    }

    fn state(&self) -> String {
        let Some(agreement) = &self.agreement else {
            return "down".into();
        };
        let (height, round, void) = (agreement.height(), agreement.round(), agreement.last_void());
        format!("{} at {height:?} {round:?} {void:?} {:?}", self.n, self.halted)
    }
}
