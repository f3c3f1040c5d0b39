//! One server of one sim, sans-IO: agreement, simulation, log, mempool and clients composed.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use metatopia_consensus::{
    self as consensus, Agreement, Decision, Halt, Held, Position, Record, To,
};
use metatopia_protocol::{Answer, Question, ServerMessage};
use metatopia_sim::{Applied, World};
use metatopia_types::{
    ActId, Contact, Digest, Height, Lane, Millis, Now, PublicKey, Receipt, Seq, SignedEnvelope,
    SimId, limits, merkle,
};

use crate::{
    Asker, ClientId, Condition, Delivery, Effect, Entrances, Guests, Input, PeerMessage, Reader,
    SessionEffect, Sessions, Stage, Status, Waiting, answers::HELD_UP, archive::Archive,
    backfill::Backfill, controls::Controls, ledger::Ledger, mempool::Origin, mending::Mending,
    offers::Offers, outbox::Outbox, rate::Rate, rescue::Rescue, sessions::Demand, views::Views,
};

/// Without a decision for so long, a server calls itself stalled.
pub const STALL: Duration = Duration::from_secs(5);

/// Questions that wait for the world to come back from being applied to, or for the log.
pub const QUESTIONS_MAX: usize = 1_024;

/// Questions of one other server that wait.
pub const PEER_QUESTIONS_MAX: usize = 16;

/// Turns between snapshots: half a minute.
pub const SNAPSHOT_TURNS: u64 = 600;

/// Turns up to the base that a replica should be told of when it starts.
pub const RECALL_HEIGHTS: u64 = limits::EXPIRY_HEIGHTS_MAX;

/// What does not change while a replica lives.
#[derive(Clone)]
pub struct Config {
    /// The sim.
    pub sim: SimId,
    /// The sim's genesis, encoded, for those who ask.
    pub genesis: Arc<Vec<u8>>,
    /// How agreement is set up.
    pub agreement: consensus::Config,
    /// Turns a second when nothing holds them up.
    pub turns_per_second: u32,
    /// Turns between snapshots, at least 1; a restart replays at most so many, and a bit. Usually
    /// [`SNAPSHOT_TURNS`].
    pub snapshot_turns: u64,
    /// Turns behind the others from which on a state is fetched. Usually [`BEHIND_TURNS`].
    ///
    /// [`BEHIND_TURNS`]: crate::BEHIND_TURNS
    pub behind_turns: u64,
    /// When this server healed, as [`Effect::Heals`] said last.
    pub heals: Vec<Millis>,
    /// Secret and new at every start.
    pub seed: [u8; 32],
}

impl core::fmt::Debug for Config {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Config of {} in sim {}", self.agreement.signer.public(), self.sim)
    }
}

/// One server of one sim.
#[derive(Debug)]
pub struct Replica {
    pub(crate) config: Config,
    pub(crate) agreement: Agreement,
    pub(crate) ledger: Ledger,
    /// None while a turn is being applied to it.
    pub(crate) world: Option<Box<World>>,
    pub(crate) decided: VecDeque<(Arc<Decision>, Position)>,
    pub(crate) applying: Option<(Arc<Decision>, Position)>,
    pub(crate) sessions: Sessions,
    pub(crate) views: Views,
    /// What we signed, on its way to the other servers.
    pub(crate) outbox: Outbox<Effect>,
    /// What is told about decided turns.
    pub(crate) told: Outbox<Effect>,
    /// Can the log not grow?
    pub(crate) muted: bool,
    /// Nothing about decided turns is told before the log is durable up to here.
    pub(crate) barrier: Position,
    pub(crate) archive: Archive,
    pub(crate) offers: Offers,
    /// Clients that wait for the outcome of a decided act.
    pub(crate) owed: BTreeMap<ActId, ClientId>,
    pub(crate) questions: VecDeque<(Asker, Question)>,
    pub(crate) loading: BTreeMap<u64, (Asker, Question)>,
    /// Questions that wait for turns that are missing, and since when.
    pub(crate) held: VecDeque<(Duration, Asker, Question)>,
    pub(crate) next_load: u64,
    pub(crate) peers: BTreeSet<PublicKey>,
    /// How many acts were handed on to them of late.
    pub(crate) relayed: Rate,
    pub(crate) contacts: BTreeMap<PublicKey, Contact>,
    pub(crate) entrances: Entrances,
    /// Where followers reach this server; without it none is let in.
    pub(crate) welcome: Option<Contact>,
    pub(crate) guests: Guests,
    pub(crate) own_lane: Lane,
    pub(crate) own_seq: Seq,
    /// From this height on a standby says again that it follows.
    pub(crate) ready_from: Height,
    pub(crate) height: Height,
    pub(crate) decided_at: Duration,
    pub(crate) halted: bool,
    pub(crate) mending: Mending,
    pub(crate) rescue: Rescue,
    pub(crate) backfill: Backfill,
    pub(crate) controls: Controls,
    pub(crate) effects: VecDeque<Effect>,
}

impl Replica {
    /// From now on it breaks these rules.
    #[cfg(feature = "controls")]
    pub const fn break_rules(&mut self, controls: Controls) {
        self.controls = controls;
    }

    /// Something happened. Then poll the effects and look at the deadline.
    pub fn handle(&mut self, now: Now, input: Input) {
        if self.rescue.is_over() {
            return self.turn_away(input);
        }
        match input {
            Input::Wake => self.agree(now, consensus::Input::Wake),
            Input::Synced(position) => {
                let free = self.outbox.synced(position);
                self.effects.extend(free);
                let free = self.told.synced(position);
                self.effects.extend(free);
                self.agree(now, consensus::Input::Synced(position));
            }
            Input::Muted(muted) => {
                self.muted = muted;
                self.agree(now, consensus::Input::Muted(muted));
            }
            Input::Applied { world, result } => self.applied(now, world, &result),
            Input::PeerUp(peer) => self.peer_up(now, peer),
            Input::PeerDown(peer) => {
                self.peers.remove(&peer);
                self.provider_down(now, peer);
                self.agree(now, consensus::Input::PeerDown(peer));
            }
            Input::PeerFrame { from, frame } => self.peer_frame(now, from, &frame),
            Input::ClientUp(client) => self.client_up(client),
            Input::ClientDown(client) => {
                self.sessions.disconnected(client);
                self.views.forget(client);
            }
            Input::ClientFrame { client, frame } => self.client_frame(now, client, &frame),
            Input::Announce(announcement) => self.announce(now, announcement),
            Input::Ask { token, question } => self.ask(Asker::Driver(token), question),
            Input::AskPeer { to, id, question } => {
                let frame = PeerMessage::Ask { id, question: Box::new(question) }.encode();
                self.effects.push_back(Effect::ToPeer { to: Some(to), frame });
            }
            Input::Welcome { contact, guests } => self.welcome(contact, *guests),
            Input::Loaded { reader: Reader::Peer(to), decisions, .. } => {
                self.agree(now, consensus::Input::Loaded { to, decisions });
            }
            Input::Loaded { reader: Reader::Question(load), decisions, oldest, next } => {
                self.loaded(load, &decisions, (oldest, next));
            }
            Input::Loaded { reader: Reader::Mending, decisions, .. } => {
                self.loaded_again(now, decisions)
            }
            Input::Gaps(gaps) => self.gaps_are(now, gaps),
            Input::Stop => self.sessions.end_all(),
        }
        self.settle(now);
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// When to hand in [`Input::Wake`], in monotonic time.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        if self.rescue.is_over() {
            return None;
        }
        let agreement = self.agreement.deadline().filter(|_| self.rescue.adrift.is_none());
        let held = self.held.front().map(|(since, ..)| *since + HELD_UP);
        let others = [self.fetch_deadline(), self.fill_deadline(), held];
        agreement.into_iter().chain(others.into_iter().flatten()).min()
    }

    /// A digest of what this replica knows, for traces.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.agreement.digest()
    }

    /// The world after the last applied turn; nothing while one is being applied.
    #[must_use]
    pub fn world(&self) -> Option<&World> {
        self.world.as_deref()
    }

    /// How much waits in it, for whoever watches that it stays within its limits.
    #[must_use]
    pub fn waiting(&self) -> Waiting {
        Waiting {
            act_bytes: self.ledger.mempool.bytes(),
            questions: self.questions.len() + self.loading.len() + self.held.len(),
            sessions: self.sessions.len(),
        }
    }

    /// The acts that wait for a turn.
    pub fn pending(&self) -> impl Iterator<Item = &SignedEnvelope> {
        self.ledger.mempool.acts()
    }

    /// How much its agreement holds of what others said, beside the limits of that.
    #[must_use]
    pub fn held(&self) -> [Held; 8] {
        self.agreement.held()
    }

    /// The state of affairs.
    #[must_use]
    pub fn status(&self, now: Now) -> Option<Status> {
        let world = self.world.as_ref()?;
        let height = self.agreement.height();
        let fetching = self.fetching();
        let validators = self
            .agreement
            .validators(height)
            .map(|set| set.members().iter().map(|member| member.key).collect());
        Some(Status {
            sim: self.config.sim,
            server: self.config.agreement.signer.public(),
            height: self.height,
            tick: world.tick(),
            root: world.root(),
            root_height: world.height(),
            proposer: self.agreement.proposer(),
            round: self.agreement.round(),
            validators: validators.unwrap_or_default(),
            voting: self.agreement.is_voting() && !self.halted && !self.rescue.is_over(),
            peers: count(self.peers.len()),
            clients: count(self.sessions.len()),
            mempool: count(self.ledger.mempool.len()),
            players: count(world.present().count()),
            condition: match &fetching {
                Some(_) => Condition::Fetching,
                None => self.mending.condition(),
            },
            fetching,
            missing: self.missing_turns(),
            delayed: crate::facts::delayed(world),
            split: self.is_split(),
            stalled: self.halted || now.monotonic.saturating_sub(self.decided_at) > STALL,
        })
    }

    fn agree(&mut self, now: Now, input: consensus::Input) {
        // Without a state there is nothing to agree on.
        if self.rescue.adrift.is_some() {
            return;
        }
        self.agreement.handle(now, &mut self.ledger, input);
    }

    fn settle_agreement(&mut self, now: Now) {
        while let Some(effect) = self.agreement.poll() {
            self.agreement_effect(now, effect);
        }
    }

    /// Turns what the parts want into effects, until none of them wants anything.
    pub(crate) fn settle(&mut self, now: Now) {
        self.settle_agreement(now);
        self.fill(now);
        self.look_at_held(now);
        // Questions first: on a server that lags, the next turn is there already.
        if self.world.is_some() {
            while let Some((asker, question)) = self.questions.pop_front() {
                if self.is_held_up(&question) {
                    self.held.push_back((now.monotonic, asker, question));
                } else {
                    self.answer(asker, question);
                }
            }
        }
        self.mend(now);
        self.rescue(now);
        self.start_apply();
        for effect in self.sessions.drain() {
            let effect = match effect {
                SessionEffect::Send { client, delivery, frame } => {
                    Effect::ToClient { client, delivery, frame }
                }
                SessionEffect::Slow { client } => Effect::SlowClient { client },
                SessionEffect::Close { client, why } => {
                    self.views.forget(client);
                    Effect::CloseClient { client, why }
                }
            };
            self.tell(effect);
        }
    }

    /// An effect that tells somebody about decided turns.
    pub(crate) fn tell(&mut self, effect: Effect) {
        if self.rescue.is_over() {
            // What waits for the log is never told any more. A goodbye tells nothing of turns, and who
            // got none would wait for ever.
            let goodbye = matches!(effect, Effect::CloseClient { .. });
            return self.effects.extend(goodbye.then_some(effect));
        }
        let free = self.told.pass(self.barrier, effect);
        self.effects.extend(free);
    }

    pub(crate) fn release(&mut self, after: Position, effect: Effect) {
        let free = self.outbox.pass(after, effect);
        self.effects.extend(free);
    }

    fn agreement_effect(&mut self, now: Now, effect: consensus::Effect) {
        if self.rescue.adrift.is_some() {
            return;
        }
        match effect {
            consensus::Effect::Send { to, message, after } => {
                let to = match to {
                    To::All => None,
                    To::One(peer) => Some(peer),
                };
                let frame = PeerMessage::Agreement(message).encode();
                self.release(after, Effect::ToPeer { to, frame });
            }
            consensus::Effect::Append { record, at } => {
                let tag = match &record {
                    Record::Decided(certificate) => Some(certificate.height.0),
                    _ => None,
                };
                self.effects.push_back(Effect::Append { at, tag, payload: record.encode() });
            }
            consensus::Effect::Sync(position) => self.effects.push_back(Effect::Sync(position)),
            consensus::Effect::Decided { decision, after } => {
                self.decided(now, decision, after);
            }
            consensus::Effect::Load { to, from, count } => {
                self.effects.push_back(Effect::Load { reader: Reader::Peer(to), from, count });
            }
            consensus::Effect::Evidence(evidence) => self.report(evidence),
            consensus::Effect::Halt(halt @ (Halt::Diverged { .. } | Halt::Unrepeatable { .. })) => {
                self.effects.push_back(Effect::Parted(halt.clone()));
                self.mending.halted(halt);
            }
            consensus::Effect::Halt(halt) => {
                self.halted = true;
                self.effects.push_back(Effect::Halted(halt));
            }
        }
    }

    /// A turn was decided: receipts go out once the log is durable, and the turn gets applied.
    fn decided(&mut self, now: Now, decision: Arc<Decision>, after: Position) {
        self.height = decision.height();
        self.decided_at = now.monotonic;
        if after == Position::START {
            self.barrier = after;
            let free = self.told.free();
            self.effects.extend(free);
        }
        self.barrier = self.barrier.max(after);
        self.archive.decided(&decision.turn);
        let mut leaves = None;
        for (index, act) in decision.turn.body.acts().iter().enumerate() {
            let id = act.id();
            let Some(client) = self.ledger.unreceipted.remove(&id) else {
                continue;
            };
            let leaves = leaves.get_or_insert_with(|| decision.turn.body.act_leaves());
            let Some(place) = merkle::Proof::of(leaves, index) else {
                continue;
            };
            let (header, certificate) =
                (decision.turn.header.clone(), decision.certificate.clone());
            let receipt = Box::new(Receipt { header, certificate, place });
            let message = ServerMessage::Receipt { act: id, receipt };
            self.sessions.send(client, Delivery::Reliable, &message);
            self.owed.insert(id, client);
            let stage = Stage::Decided { height: self.height };
            self.effects.push_back(Effect::Traced { act: id, stage });
        }
        if let Some(of) = self.height.minus(limits::ROOT_LAG) {
            self.tell_proofs(of);
        }
        self.decided.push_back((decision, after));
    }

    /// The last height that is applied.
    pub(crate) fn applied_height(&self) -> Height {
        let applying = self.applying.as_ref().and_then(|(decision, _)| decision.height().minus(1));
        self.world().map(World::height).or(applying).unwrap_or_default()
    }

    fn start_apply(&mut self) {
        // Nor does a state go on that is not what the next turn follows: one that was to be computed
        // again, and was not.
        let busy = self.applying.is_some() || self.mending.is_busy() || self.rescue.is_over();
        if busy || self.decided.is_empty() {
            return;
        }
        if let Some(world) = self.world.take()
            && let Some((decision, after)) = self.decided.pop_front()
        {
            self.effects.push_back(Effect::Apply { world, decision: Arc::clone(&decision) });
            self.applying = Some((decision, after));
        }
    }

    fn applied(&mut self, now: Now, world: Box<World>, result: &Applied) {
        if self.controls.gives_up(result) {
            return;
        }
        let Some((decision, _)) = self.applying.take() else {
            return;
        };
        let height = decision.height();
        assert_eq!(world.height(), height, "the driver applied the turn it was given");
        if self.mending.is_again() {
            return self.applied_again(now, world, result);
        }
        for gone in self.ledger.mempool.drop_stale(&self.ledger.windows, &self.ledger.register) {
            if let Origin::Client(client) = gone.origin {
                let (act, why) = (gone.act, gone.why);
                let message = ServerMessage::Refused { act, why };
                self.sessions.send(client, Delivery::Reliable, &message);
                let stage = Stage::Refused(why);
                self.effects.push_back(Effect::Traced { act, stage });
            }
        }
        let proof = world.proof(&World::outcomes_key(height));
        self.archive.applied(result, proof);
        for (act, outcome) in decision.turn.body.acts().iter().zip(&result.outcomes) {
            let act = act.id();
            if let Some(client) = self.owed.remove(&act) {
                let outcome = *outcome;
                let message = ServerMessage::Outcome { act, height, outcome };
                self.sessions.send(client, Delivery::Reliable, &message);
                let stage = Stage::Applied { outcome };
                self.effects.push_back(Effect::Traced { act, stage });
            }
        }
        self.mending.remember(&world);
        self.ledger.register.renew(&decision.turn, &world);
        self.world = Some(world);
        self.tell_contacts();
        self.get_ready();
        self.sessions.turn();
        self.tell_views(result);
        self.tell_chat(result);
        let applied =
            consensus::Applied { height, root: result.root, validators: result.validators.clone() };
        self.agree(now, consensus::Input::Applied(applied));
        // Votes first: acts may be many.
        self.settle_agreement(now);
        self.relay_overdue(now, height);
        self.snapshot(height);
        if let Some(status) = self.status(now) {
            self.effects.push_back(Effect::Status(Box::new(status)));
        }
    }

    /// Whom to keep connections with, when that changed.
    pub(crate) fn tell_contacts(&mut self) {
        let Some(world) = self.world.as_deref() else {
            return;
        };
        let roster = world.roster();
        let all = roster.members().iter().chain(roster.standbys());
        let contacts: BTreeMap<PublicKey, Contact> =
            all.map(|(key, member)| (*key, member.contact.clone())).collect();
        if contacts != self.contacts {
            let before = std::mem::replace(&mut self.contacts, contacts.clone());
            self.effects.push_back(Effect::Contacts(contacts));
            self.keep_following(before);
            if self.entrances.keep(|server| self.contacts.contains_key(server)) {
                self.tell_servers();
            }
        }
    }

    fn snapshot(&mut self, height: Height) {
        if !height.0.is_multiple_of(self.config.snapshot_turns) {
            return;
        }
        let (Some(world), Some(base)) = (&self.world, self.agreement.base(height)) else {
            return;
        };
        let (state, root) = (world.snapshot(), world.root());
        let bytes = crate::start::stored(&base, &state);
        // Who asked for a longer one would take it for nonsense.
        if state.len() <= metatopia_sim::SNAPSHOT_BYTES_MAX {
            self.offers.keep(height, root, state);
        }
        self.tell(Effect::Snapshot { height, root, bytes });
    }

    fn peer_up(&mut self, now: Now, peer: PublicKey) {
        self.peers.insert(peer);
        self.provider_up(now, peer);
        self.agree(now, consensus::Input::PeerUp(peer));
        // Votes first: acts may be a thousand.
        self.settle_agreement(now);
        self.hand_over(now, peer);
        for known in self.entrances.known() {
            let frame = PeerMessage::Entrance(Box::new(known.clone())).encode();
            self.effects.push_back(Effect::ToPeer { to: Some(peer), frame });
        }
    }

    fn peer_frame(&mut self, now: Now, from: PublicKey, frame: &[u8]) {
        let message = PeerMessage::decode(frame);
        if self.is_guest(&from) && !self.guests.may_say(now.monotonic, from, message.as_ref().ok())
        {
            return;
        }
        match message {
            Ok(PeerMessage::Agreement(message)) => {
                self.agree(now, consensus::Input::Frame { from, message });
            }
            // A refusal here is normal: the act may have been decided meanwhile.
            Ok(PeerMessage::Submission(submission)) => {
                let _refused = self.admit(*submission, Origin::Server);
            }
            Ok(PeerMessage::Entrance(word)) => self.entrance(now, *word),
            Ok(PeerMessage::Ask { id, question }) => {
                let asker = Asker::Peer(from, id);
                let own = |(asker, _): &&(Asker, Question)| matches!(asker, Asker::Peer(peer, _) if *peer == from);
                let waiting = self.questions.iter().filter(own).count();
                if waiting + self.loading.values().filter(own).count() >= PEER_QUESTIONS_MAX {
                    self.reply(asker, Answer::Busy);
                } else {
                    self.ask(asker, *question);
                }
            }
            Ok(PeerMessage::Answer { id, answer }) => {
                let foreign = self.provided(now, from, id, answer);
                let told = |answer: Box<Answer>| Effect::PeerAnswer { from, id, answer: *answer };
                self.effects.extend(foreign.map(told));
            }
            // A validator that talks nonsense is not worth a word to it; its votes still count.
            Err(_) => {}
        }
    }

    fn client_frame(&mut self, now: Now, client: ClientId, frame: &[u8]) {
        let scheme = Arc::clone(&self.config.agreement.scheme);
        let opens = self.sessions.key(client).is_none();
        match self.sessions.frame(client, frame, self.height, &*scheme) {
            None if opens => self.recognize(client),
            None => {}
            Some(Demand::Submit(submission)) => self.submit(now, client, *submission),
            Some(Demand::Ask { id, question }) => self.ask(Asker::Client(client, id), question),
            Some(Demand::View(watching)) => self.watch(client, watching.as_deref()),
            Some(Demand::Seen(number)) => {
                let fault = self.views.seen(client, number).err();
                self.end_for(client, fault);
            }
        }
    }
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
