//! One server of one sim, sans-IO: agreement, simulation, log, mempool and clients composed.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use metatopia_consensus::{
    self as consensus, Agreement, Decision, Halt, Recipients, Record, RecordPosition, ResourceCount,
};
use metatopia_protocol::{Answer, Question};
use metatopia_sim::{Applied, World};
use metatopia_types::{
    ActId, Digest, Height, Lane, Millis, NodeContact, Now, PublicKey, Seq, SignedEnvelope, SimId,
    limits,
};

use crate::{
    Asker, ClientId, Condition, Effect, Endpoints, Followers, Input, PeerMessage, Reader,
    SessionEffect, Sessions, Status, WaitingCounts, answers::HELD_UP, archive::Archive,
    backfill::Backfill, controls::Controls, ledger::Ledger, mempool::Origin, outbox::Outbox,
    rate::Rate, repair::Repair, sessions::Demand, snapshot_offers::SnapshotOffers,
    state_sync::StateSync, views::Views,
};

/// The time without a decision after which a server calls itself stalled.
pub const STALL: Duration = Duration::from_secs(5);

/// Questions that wait for the world to come back from being applied to, or for the log.
pub const QUESTIONS_MAX: usize = 1_024;

/// Questions of one peer that wait.
pub const PEER_QUESTIONS_MAX: usize = 16;

/// Turns between snapshots: half a minute.
pub const SNAPSHOT_TURNS: u64 = 600;

/// Turns up to the base that a replica should get when it starts.
pub const RECALL_HEIGHTS: u64 = limits::EXPIRY_HEIGHTS_MAX;

/// What does not change while a replica lives.
#[derive(Clone)]
pub struct Config {
    /// The id of the sim.
    pub sim: SimId,
    /// The sim's genesis, encoded, for peers and clients that ask.
    pub genesis: Arc<Vec<u8>>,
    /// How agreement is set up.
    pub agreement: consensus::AgreementConfig,
    /// Turns a second when nothing holds them up.
    pub turns_per_second: u32,
    /// Turns between snapshots, at least 1; a restart replays at most so many, and a bit. Usually
    /// [`SNAPSHOT_TURNS`].
    pub snapshot_turns: u64,
    /// Turns behind the others from which on a state is fetched. Usually [`BEHIND_TURNS`].
    ///
    /// [`BEHIND_TURNS`]: crate::BEHIND_TURNS
    pub behind_turns: u64,
    /// The times of this server's repairs, as [`AgreementEffect::RepairTimes`] gave them last.
    pub repairs: Vec<Millis>,
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
    /// The state. None while the driver applies a turn to it.
    pub(crate) world: Option<Box<World>>,
    /// Decided turns that are not applied yet, with the place in the log that proves them.
    pub(crate) decided: VecDeque<(Arc<Decision>, RecordPosition)>,
    /// The turn that the driver applies now.
    pub(crate) applying: Option<(Arc<Decision>, RecordPosition)>,
    pub(crate) sessions: Sessions,
    pub(crate) views: Views,
    /// Messages of agreement that wait for the log.
    pub(crate) outbox: Outbox<Effect>,
    /// Effects that tell somebody about decided turns, and wait for the log.
    pub(crate) decided_outbox: Outbox<Effect>,
    /// Can the log not grow?
    pub(crate) muted: bool,
    /// The place up to which the log must be durable before anything about the decided turns leaves.
    pub(crate) barrier: RecordPosition,
    pub(crate) archive: Archive,
    pub(crate) snapshot_offers: SnapshotOffers,
    /// Clients that wait for the outcome of a decided act.
    pub(crate) awaiting_outcome: BTreeMap<ActId, ClientId>,
    pub(crate) questions: VecDeque<(Asker, Question)>,
    pub(crate) loading: BTreeMap<u64, (Asker, Question)>,
    /// Questions that wait for missing turns, and since when.
    pub(crate) held: VecDeque<(Duration, Asker, Question)>,
    pub(crate) next_load: u64,
    pub(crate) peers: BTreeSet<PublicKey>,
    /// The rate of acts that are handed on to peers.
    pub(crate) relayed: Rate,
    pub(crate) contacts: BTreeMap<PublicKey, NodeContact>,
    pub(crate) endpoints: Endpoints,
    /// The address where followers reach this server. Without it no follower is let in.
    pub(crate) welcome: Option<NodeContact>,
    pub(crate) followers: Followers,
    pub(crate) own_lane: Lane,
    pub(crate) own_seq: Seq,
    /// The height from which on a standby states again that it is ready.
    pub(crate) ready_from: Height,
    pub(crate) height: Height,
    pub(crate) decided_at: Duration,
    pub(crate) halted: bool,
    pub(crate) repair: Repair,
    pub(crate) state_sync: StateSync,
    pub(crate) backfill: Backfill,
    pub(crate) controls: Controls,
    pub(crate) effects: VecDeque<Effect>,
}

impl Replica {
    /// Breaks these rules from now on.
    #[cfg(feature = "controls")]
    pub const fn break_rules(&mut self, controls: Controls) {
        self.controls = controls;
        self.ledger.controls = controls;
    }

    /// Takes an input. Afterwards the driver polls the effects and reads the deadline.
    pub fn handle(&mut self, now: Now, input: Input) {
        if self.state_sync.has_ended() {
            return self.refuse_after_end(input);
        }
        match input {
            Input::Wake => self.agree(now, consensus::AgreementInput::Wake),
            Input::Synced(position) => {
                // Both outboxes come before agreement: what it sends now was written later.
                let free = self.outbox.synced(position);
                self.effects.extend(free);
                let free = self.decided_outbox.synced(position);
                self.effects.extend(free);
                self.agree(now, consensus::AgreementInput::Synced(position));
            }
            Input::Muted(muted) => {
                self.muted = muted;
                self.agree(now, consensus::AgreementInput::Muted(muted));
            }
            Input::Applied { world, result } => self.applied(now, world, &result),
            Input::PeerUp(peer) => self.peer_up(now, peer),
            Input::PeerDown(peer) => {
                self.peers.remove(&peer);
                self.fetch_provider_down(now, peer);
                self.agree(now, consensus::AgreementInput::PeerDown(peer));
            }
            Input::PeerFrame { from, frame } => self.peer_frame(now, from, &frame),
            Input::ClientUp(client) => self.client_up(client),
            Input::ClientDown(client) => {
                self.sessions.disconnected(client);
                self.views.forget(client);
            }
            Input::ClientFrame { client, frame } => self.client_frame(now, client, &frame),
            Input::Announce(endpoint) => self.announce(now, endpoint),
            Input::Ask { token, question } => self.ask(Asker::Driver(token), question),
            Input::AskPeer { to, id, question } => {
                let frame = PeerMessage::Ask { id, question: Box::new(question) }.encode();
                self.effects.push_back(Effect::ToPeer { to: Some(to), frame });
            }
            Input::Welcome { contact, followers } => self.welcome(contact, *followers),
            Input::Loaded { reader: Reader::Peer(to), decisions, .. } => {
                self.agree(now, consensus::AgreementInput::Loaded { to, decisions });
            }
            Input::Loaded { reader: Reader::Question(load), decisions, oldest, next } => {
                self.loaded(load, &decisions, (oldest, next));
            }
            Input::Loaded { reader: Reader::Repair, decisions, .. } => {
                self.reapplied_turns_loaded(now, decisions)
            }
            Input::Gaps(gaps) => self.gaps_are(now, gaps),
            Input::Stop => self.sessions.end_all(),
        }
        self.advance(now);
    }

    /// Returns the next effect.
    pub fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// Returns when to hand in [`AgreementInput::Wake`], in monotonic time.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        if self.state_sync.has_ended() {
            return None;
        }
        let agreement = self.agreement.deadline().filter(|_| self.state_sync.stateless.is_none());
        let held = self.held.front().map(|(since, ..)| *since + HELD_UP);
        let others = [self.fetch_deadline(), self.fill_deadline(), held];
        agreement.into_iter().chain(others.into_iter().flatten()).min()
    }

    /// Returns a digest of what this replica knows, for traces.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.agreement.digest()
    }

    /// Returns the world after the last applied turn, or none while a turn is being applied.
    #[must_use]
    pub fn world(&self) -> Option<&World> {
        self.world.as_deref()
    }

    /// Returns how much waits in this replica. Each figure has a limit.
    #[must_use]
    pub fn waiting(&self) -> WaitingCounts {
        WaitingCounts {
            act_bytes: self.ledger.mempool.bytes(),
            questions: self.questions.len() + self.loading.len() + self.held.len(),
            sessions: self.sessions.len(),
        }
    }

    /// Returns the acts that wait for a turn.
    pub fn pending(&self) -> impl Iterator<Item = &SignedEnvelope> {
        self.ledger.mempool.acts()
    }

    /// Returns how many messages of others agreement holds, with the limits.
    #[must_use]
    pub fn held(&self) -> [ResourceCount; 8] {
        self.agreement.held()
    }

    /// Returns the status, or none while a turn is being applied.
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
            voting: self.agreement.is_voting() && !self.halted && !self.state_sync.has_ended(),
            peers: count(self.peers.len()),
            clients: count(self.sessions.len()),
            mempool: count(self.ledger.mempool.len()),
            players: count(world.present().count()),
            condition: match &fetching {
                Some(_) => Condition::Fetching,
                None => self.repair.condition(),
            },
            fetching,
            missing: self.missing_turns(),
            delayed: crate::facts::delayed(world),
            split: self.is_split(),
            stalled: self.halted || now.monotonic.saturating_sub(self.decided_at) > STALL,
        })
    }

    fn agree(&mut self, now: Now, input: consensus::AgreementInput) {
        // Without a state this server can judge no turn.
        if self.state_sync.stateless.is_some() {
            return;
        }
        self.agreement.handle(now, &mut self.ledger, input);
    }

    /// Carries out all effects of agreement.
    fn drain_agreement(&mut self, now: Now) {
        while let Some(effect) = self.agreement.poll() {
            self.agreement_effect(now, effect);
        }
    }

    /// Turns the effects of the parts into effects of the replica, until no part has any.
    pub(crate) fn advance(&mut self, now: Now) {
        self.drain_agreement(now);
        self.fill(now);
        self.look_at_held(now);
        // Questions come before `start_apply`, which takes the world away: on a server that lags, the
        // next turn is there already, and questions would wait for ever.
        if self.world.is_some() {
            while let Some((asker, question)) = self.questions.pop_front() {
                if self.is_held_up(&question) {
                    self.held.push_back((now.monotonic, asker, question));
                } else {
                    self.answer(asker, question);
                }
            }
        }
        self.advance_repair(now);
        self.advance_state_sync(now);
        // A repair and a fetched state need the world, too, and stop turns from being applied.
        self.start_apply();
        // Sessions come last, so that they say all that the parts above answered.
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
            self.publish(effect);
        }
    }

    /// Emits an effect that tells somebody about decided turns, once the log is durable up to the
    /// barrier.
    pub(crate) fn publish(&mut self, effect: Effect) {
        if self.state_sync.has_ended() {
            // This replica hears of no sync any more, so what waits for the log never leaves. A goodbye
            // tells nothing about turns, and a client without one would wait for ever.
            let goodbye = matches!(effect, Effect::CloseClient { .. });
            return self.effects.extend(goodbye.then_some(effect));
        }
        let free = self.decided_outbox.pass(self.barrier, effect);
        self.effects.extend(free);
    }

    /// Emits an effect once the log is durable up to `after`.
    pub(crate) fn release(&mut self, after: RecordPosition, effect: Effect) {
        let free = self.outbox.pass(after, effect);
        self.effects.extend(free);
    }

    fn agreement_effect(&mut self, now: Now, effect: consensus::AgreementEffect) {
        if self.state_sync.stateless.is_some() {
            return;
        }
        match effect {
            consensus::AgreementEffect::Send { to, message, after } => {
                let to = match to {
                    Recipients::All => None,
                    Recipients::One(peer) => Some(peer),
                };
                let frame = PeerMessage::Agreement(message).encode();
                self.release(after, Effect::ToPeer { to, frame });
            }
            consensus::AgreementEffect::Append { record, at } => {
                let tag = match &record {
                    Record::Decided(certificate) => Some(certificate.height.0),
                    _ => None,
                };
                self.effects.push_back(Effect::Append { at, tag, payload: record.encode() });
            }
            consensus::AgreementEffect::Sync(position) => {
                self.effects.push_back(Effect::Sync(position))
            }
            consensus::AgreementEffect::Decided { decision, after } => {
                self.decided(now, decision, after);
            }
            consensus::AgreementEffect::Load { to, from, count } => {
                self.effects.push_back(Effect::Load { reader: Reader::Peer(to), from, count });
            }
            consensus::AgreementEffect::Evidence(evidence) => self.report(evidence),
            consensus::AgreementEffect::Halt(
                halt @ (Halt::Diverged { .. } | Halt::Unrepeatable { .. }),
            ) => {
                self.effects.push_back(Effect::Diverged(halt.clone()));
                self.repair.halted(halt);
            }
            consensus::AgreementEffect::Halt(halt) => {
                self.halted = true;
                self.effects.push_back(Effect::Halted(halt));
            }
        }
    }

    /// Takes a decided turn: sends receipts to clients, and queues the turn to be applied.
    fn decided(&mut self, now: Now, decision: Arc<Decision>, after: RecordPosition) {
        self.height = decision.height();
        self.decided_at = now.monotonic;
        // The quorum stands without our own precommit: nothing about this turn, or about one before it,
        // has to wait for our log.
        if after == RecordPosition::START {
            self.barrier = after;
            let free = self.decided_outbox.free();
            self.effects.extend(free);
        }
        // The barrier comes before the receipts below: they leave once this decision is durable.
        self.barrier = self.barrier.max(after);
        self.archive.decided(&decision.turn);
        self.publish_receipts(&decision);
        if let Some(of) = self.height.minus(limits::ROOT_LAG) {
            self.publish_proofs(of);
        }
        self.decided.push_back((decision, after));
    }

    /// Returns the last applied height.
    pub(crate) fn applied_height(&self) -> Height {
        let applying = self.applying.as_ref().and_then(|(decision, _)| decision.height().minus(1));
        self.world().map(World::height).or(applying).unwrap_or_default()
    }

    /// Hands the next decided turn and the world to the driver, if the world is at hand.
    fn start_apply(&mut self) {
        // During a repair, and after one that failed, the next turn does not follow this state.
        let busy = self.applying.is_some() || self.repair.is_busy() || self.state_sync.has_ended();
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

    /// Takes the world back after a turn was applied to it, and tells everybody what the turn did.
    ///
    /// Messages to clients go into their sessions. [`Self::advance`] moves them into the outbox, so
    /// nothing here leaves before the log is durable, although nothing here waits for it.
    fn applied(&mut self, now: Now, world: Box<World>, result: &Applied) {
        if self.controls.gives_up(result) {
            return;
        }
        let applying = self.applying.take();
        let (decision, _) = applying.expect("the driver hands back only a world that it was lent");
        let height = decision.height();
        assert_eq!(world.height(), height, "the driver applied the turn it was given");
        // Clients and agreement heard of a reapplied turn before, so nothing below is repeated for it.
        if self.repair.is_reapplying() {
            return self.turn_reapplied(now, world, result);
        }
        self.refuse_stale_acts();
        // The archive knows the outcomes before the clients do: a client that repeats an act at once
        // gets the same answer.
        let proof = world.proof(&World::outcomes_key(height));
        self.archive.applied(result, proof);
        self.publish_outcomes(&decision, result);
        self.repair.remember(&world);
        // The register comes before agreement, which may judge the next turn at once, by what this
        // turn made of its authors.
        self.ledger.register.renew(&decision.turn, &world);
        // All that follows reads the world.
        self.world = Some(world);
        // Contacts come before the votes below: the driver first ends sessions with removed servers.
        self.publish_contacts();
        self.get_ready();
        // Clients get new rations before the views, which they answer.
        self.sessions.turn();
        self.publish_views(result);
        self.publish_chat(result);
        let applied = consensus::AppliedTurn {
            height,
            root: result.root,
            validators: result.validators.clone(),
        };
        self.agree(now, consensus::AgreementInput::Applied(applied));
        // Votes leave before acts: the others wait for votes, and acts may be many.
        self.drain_agreement(now);
        self.relay_overdue(now, height);
        // A snapshot needs the base of this height, which agreement has once it knows the root.
        self.snapshot(height);
        // The status is last, so that it shows the height that agreement reached.
        if let Some(status) = self.status(now) {
            self.effects.push_back(Effect::Status(Box::new(status)));
        }
    }

    /// Stores and offers a snapshot, if one is due at this height.
    fn snapshot(&mut self, height: Height) {
        if !height.0.is_multiple_of(self.config.snapshot_turns) {
            return;
        }
        let (Some(world), Some(base)) = (&self.world, self.agreement.base(height)) else {
            return;
        };
        let (state, root) = (world.snapshot(), world.root());
        let bytes = crate::start::stored(&base, &state);
        // A peer refuses an offer of a longer one.
        if state.len() <= metatopia_sim::SNAPSHOT_BYTES_MAX {
            self.snapshot_offers.keep(height, root, state);
        }
        self.publish(Effect::Snapshot { height, root, bytes });
    }

    /// Starts talking to a peer that connected.
    fn peer_up(&mut self, now: Now, peer: PublicKey) {
        self.peers.insert(peer);
        self.fetch_provider_up(now, peer);
        self.agree(now, consensus::AgreementInput::PeerUp(peer));
        // Votes leave before acts, of which there may be a thousand.
        self.drain_agreement(now);
        self.hand_over(now, peer);
        for known in self.endpoints.known() {
            let frame = PeerMessage::Endpoint(Box::new(known.clone())).encode();
            self.effects.push_back(Effect::ToPeer { to: Some(peer), frame });
        }
    }

    /// Takes a frame of a peer.
    fn peer_frame(&mut self, now: Now, from: PublicKey, frame: &[u8]) {
        let message = PeerMessage::decode(frame);
        if self.is_follower(&from)
            && !self.followers.may_send(now.monotonic, from, message.as_ref().ok())
        {
            return;
        }
        match message {
            Ok(PeerMessage::Agreement(message)) => {
                self.agree(now, consensus::AgreementInput::Frame { from, message });
            }
            // A refusal here is normal: the act may have been decided meanwhile.
            Ok(PeerMessage::Submission(submission)) => {
                let _refused = self.admit(*submission, Origin::Server);
            }
            Ok(PeerMessage::Endpoint(signed)) => self.receive_announcement(now, from, *signed),
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
                let foreign = self.answer_to_fetch(now, from, id, answer);
                let decided_outbox =
                    |answer: Box<Answer>| Effect::PeerAnswer { from, id, answer: *answer };
                self.effects.extend(foreign.map(decided_outbox));
            }
            // A peer that sends nonsense gets no answer. Its votes still count.
            Err(_) => {}
        }
    }

    /// Takes a frame of a client.
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
