//! One server of one sim, sans-IO: agreement, execution and five machines, composed.

use std::{sync::Arc, time::Duration};

use metatopia_consensus::{
    Agreement, AgreementEffect, AgreementInput, AppliedTurn, Base, Decision, OpenAgreementError,
    Record, RecordPosition, ResourceCount,
};
use metatopia_protocol::{Answer, Goodbye, Question};
use metatopia_sim::{Applied, World};
use metatopia_types::{Digest, Height, Now, PublicKey, SignedEnvelope};

#[cfg(feature = "controls")]
use crate::Controls;
use crate::{
    Asker, ClientId, Condition, Config, Effect, Input, PeerMessage, Reader, Replacement, Status,
    WaitingCounts, base_of,
    context::ReplicaContext,
    durable::Durability,
    execution::Execution,
    ingress::{Ingress, SessionRequest},
    members::{Membership, READY_HEIGHTS},
    publish::{Publisher, answer_peer},
    sync::{SyncContext, Synchronizer},
};

/// One server of one sim.
#[derive(Debug)]
pub struct Replica {
    config: Config,
    agreement: Agreement,
    /// The world, and the decided turns that wait for it.
    execution: Execution,
    /// What clients and peers hand in.
    ingress: Ingress,
    /// What clients and peers are told.
    publisher: Publisher,
    /// Who is there.
    members: Membership,
    /// How this server comes back to the others.
    sync: Synchronizer,
    /// What may leave, and what waits for the log.
    durable: Durability,
}

/// The machines of a replica that read the rest of it, and what they are lent.
struct Parts<'a> {
    ctx: ReplicaContext<'a>,
    ingress: &'a mut Ingress,
    publisher: &'a mut Publisher,
    members: &'a mut Membership,
}

impl Replica {
    /// Starts from a stored state, or from genesis, and what the log holds after it. All records
    /// are durable. `past` are turns that were decided up to the base, ascending, so that clients
    /// that were away get the receipts of their acts: acts can be sent again until they have
    /// expired, so more than the last [`RECALL_HEIGHTS`](crate::RECALL_HEIGHTS) are of no use.
    ///
    /// # Errors
    /// When the records are not ones that an agreement wrote.
    pub fn open(
        config: Config,
        base: Base,
        world: World,
        past: impl IntoIterator<Item = Decision>,
        records: impl IntoIterator<Item = Record>,
        now: Now,
    ) -> Result<Self, OpenAgreementError> {
        let mut replica = Self::begin(config, base, world, records, None, now)?;
        past.into_iter().for_each(|decision| replica.execution.recall(&decision));
        replica.advance(now);
        Ok(replica)
    }

    /// Starts a server that has no state, or whose log does not follow from any of its states. The world
    /// at genesis only says whom to ask. The server fetches a state of its peers, of height `least` or
    /// later. Until then it does not vote, appends nothing, and serves nobody.
    ///
    /// # Panics
    /// If the world is not one at genesis.
    #[must_use]
    pub fn stateless(mut config: Config, genesis: World, least: Height, now: Now) -> Self {
        let base = base_of(&genesis);
        config.agreement.silent = true;
        let replica = Self::begin(config, base, genesis, [], Some(least), now);
        let mut replica = replica.expect("an agreement without records contradicts nothing");
        replica.advance(now);
        replica
    }

    fn begin(
        mut config: Config,
        base: Base,
        world: World,
        records: impl IntoIterator<Item = Record>,
        stateless: Option<Height>,
        now: Now,
    ) -> Result<Self, OpenAgreementError> {
        let sync = Synchronizer::new(&config, &base, stateless, now);
        config.agreement.silent |= sync.is_silent();
        let mut ingress = Ingress::new(&config, &world);
        let agreement = config.agreement.clone();
        let mut replica = Self {
            agreement: Agreement::open(agreement, base, records, now, ingress.host())?,
            publisher: Publisher::new(&config, &world),
            members: Membership::new(&config),
            execution: Execution::new(world, now),
            durable: Durability::default(),
            config,
            ingress,
            sync,
        };
        let Parts { mut ctx, members, .. } = replica.parts(now);
        members.update_contacts(&mut ctx);
        Ok(replica)
    }

    /// Breaks these rules from now on.
    #[cfg(feature = "controls")]
    pub const fn break_rules(&mut self, controls: Controls) {
        self.execution.break_rules(controls);
        self.ingress.break_rules(controls);
        self.sync.break_rules(controls);
    }

    /// Takes an input. Afterwards the driver polls the effects and reads the deadline.
    pub fn handle(&mut self, now: Now, input: Input) {
        if self.durable.has_ended() {
            return self.refuse_after_end(input);
        }
        let Parts { mut ctx, ingress, members, .. } = self.parts(now);
        match input {
            Input::Wake => self.agree(now, AgreementInput::Wake),
            Input::Synced(position) => {
                // What waited for the log comes before agreement: what it sends now was written later.
                self.durable.synced(position);
                self.agree(now, AgreementInput::Synced(position));
            }
            Input::Muted(muted) => {
                self.durable.mute(muted);
                self.agree(now, AgreementInput::Muted(muted));
            }
            Input::Applied { world, result } => self.applied(now, world, &result),
            Input::PeerUp(peer) => self.peer_up(now, peer),
            Input::PeerDown(peer) => {
                self.members.peer_down(&peer);
                self.sync.peer_down(now, peer);
                self.agree(now, AgreementInput::PeerDown(peer));
            }
            Input::PeerFrame { from, frame } => self.peer_frame(now, from, &frame),
            Input::ClientUp(client) => {
                let has_state = !self.sync.has_no_state();
                let Parts { mut ctx, ingress, .. } = self.parts(now);
                ingress.client_up(&mut ctx, client, has_state);
            }
            Input::ClientDown(client) => {
                self.ingress.client_down(client);
                self.publisher.forget(client);
            }
            Input::ClientFrame { client, frame } => self.client_frame(now, client, &frame),
            Input::Announce(endpoint) => members.announce(&mut ctx, endpoint),
            Input::Ask { token, question } => self.ask(now, Asker::Driver(token), question),
            Input::AskPeer { to, id, question } => {
                ctx.emit_to_peers(Some(to), &PeerMessage::Ask { id, question: Box::new(question) });
            }
            Input::Welcome { contact, followers } => members.welcome(&mut ctx, contact, *followers),
            Input::Loaded { reader: Reader::Peer(to), decisions, .. } => {
                self.agree(now, AgreementInput::Loaded { to, decisions });
            }
            Input::Loaded { reader: Reader::Question(load), decisions, oldest, next } => {
                self.loaded(now, load, &decisions, (oldest, next));
            }
            Input::Loaded { reader: Reader::Repair, decisions, .. } => {
                self.step_sync(now, |sync, ctx| sync.turns_loaded(ctx, decisions));
            }
            Input::Gaps(gaps) => self.step_sync(now, |sync, ctx| sync.gaps(ctx, gaps)),
            Input::Stop => ingress.end_all(&mut ctx),
        }
        self.advance(now);
    }

    /// Returns the next effect.
    pub fn poll(&mut self) -> Option<Effect> {
        self.durable.poll()
    }

    /// Returns when to hand in [`Input::Wake`], in monotonic time.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        if self.durable.has_ended() {
            return None;
        }
        let agreement = self.agreement.deadline().filter(|_| !self.sync.has_no_state());
        let sync = self.sync.deadline(self.members.connected(), self.durable.is_muted());
        [agreement, sync, self.publisher.deadline()].into_iter().flatten().min()
    }

    /// Returns a digest of what this replica knows, for traces.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.agreement.digest()
    }

    /// Returns the world after the last applied turn, or none while a turn is being applied.
    #[must_use]
    pub fn world(&self) -> Option<&World> {
        self.execution.world()
    }

    /// Returns how much waits in this replica. Each figure has a limit.
    #[must_use]
    pub fn waiting(&self) -> WaitingCounts {
        WaitingCounts {
            act_bytes: self.ingress.pending_bytes(),
            questions: self.publisher.question_count(),
            sessions: self.ingress.session_count(),
        }
    }

    /// Returns the acts that wait for a turn.
    pub fn pending(&self) -> impl Iterator<Item = &SignedEnvelope> {
        self.ingress.pending()
    }

    /// Returns how many messages of others agreement holds, with the limits.
    #[must_use]
    pub fn held(&self) -> [ResourceCount; 8] {
        self.agreement.held()
    }

    /// Is this server repairing its state? It applied the turns that it applies now before.
    #[must_use]
    pub fn is_healing(&self) -> bool {
        self.sync.is_reapplying()
    }

    /// Was this replica started without a state?
    #[must_use]
    pub const fn has_no_state(&self) -> bool {
        self.sync.has_no_state()
    }

    /// Returns the status, or none while a turn is being applied.
    #[must_use]
    pub fn status(&self, now: Now) -> Option<Status> {
        let world = self.world()?;
        let agreement = &self.agreement;
        let fetching = self.sync.fetching();
        let validators = agreement.validators(agreement.height());
        let validators = validators.map(|set| set.members().iter().map(|member| member.key));
        let stopped = self.sync.has_stopped();
        Some(Status {
            sim: self.config.sim,
            server: self.config.agreement.signer.public(),
            height: self.execution.height(),
            tick: world.tick(),
            root: world.root(),
            root_height: world.height(),
            proposer: agreement.proposer(),
            round: agreement.round(),
            validators: validators.map(Iterator::collect).unwrap_or_default(),
            voting: agreement.is_voting() && !stopped && !self.durable.has_ended(),
            peers: count(self.members.peer_count()),
            clients: count(self.ingress.session_count()),
            mempool: count(self.ingress.pending_count()),
            players: count(world.present().count()),
            condition: match &fetching {
                Some(_) => Condition::Fetching,
                None => self.sync.condition(),
            },
            fetching,
            missing: self.sync.missing_turns(agreement, self.members.connected()),
            delayed: crate::publish::facts::delayed(world),
            split: crate::sync::is_split(agreement),
            stalled: stopped || self.execution.is_stalled(now),
        })
    }

    /// Lends the machines that read the rest of the replica.
    fn parts(&mut self, now: Now) -> Parts<'_> {
        let Self { config, agreement, execution, durable, .. } = self;
        let ctx = ReplicaContext::new(now, config, agreement, execution, durable);
        Parts {
            ctx,
            ingress: &mut self.ingress,
            publisher: &mut self.publisher,
            members: &mut self.members,
        }
    }

    /// Has synchronization do something, and shows a change of the server's condition at once.
    fn step_sync<T>(
        &mut self,
        now: Now,
        step: impl FnOnce(&mut Synchronizer, &mut SyncContext<'_>) -> T,
    ) -> T {
        let mut ctx = SyncContext {
            now,
            config: &self.config,
            agreement: &mut self.agreement,
            host: self.ingress.host(),
            execution: &mut self.execution,
            peers: self.members.connected(),
            out: &mut self.durable,
        };
        let result = step(&mut self.sync, &mut ctx);
        if self.sync.take_condition_change() {
            self.publish_status(now);
        }
        result
    }

    /// Publishes the status, if the world is at hand.
    fn publish_status(&mut self, now: Now) {
        if let Some(status) = self.status(now) {
            self.durable.emit(Effect::Status(Box::new(status)));
        }
    }

    fn agree(&mut self, now: Now, input: AgreementInput) {
        // Without a state this server can judge no turn.
        if !self.sync.has_no_state() {
            self.agreement.handle(now, self.ingress.host(), input);
        }
    }

    /// Carries out all effects of agreement.
    fn drain_agreement(&mut self, now: Now) {
        while let Some(effect) = self.agreement.poll() {
            if !self.sync.has_no_state() {
                self.carry_out(now, effect);
            }
        }
    }

    fn carry_out(&mut self, now: Now, effect: AgreementEffect) {
        match effect {
            AgreementEffect::Send { to, message, after } => self.durable.send(to, message, after),
            AgreementEffect::Append { record, at } => self.durable.append(&record, at),
            AgreementEffect::Sync(position) => self.durable.emit(Effect::Sync(position)),
            AgreementEffect::Decided { decision, after } => self.decided(now, decision, after),
            AgreementEffect::Load { to, from, count } => {
                self.durable.emit(Effect::Load { reader: Reader::Peer(to), from, count });
            }
            AgreementEffect::Evidence(evidence) => {
                let Parts { mut ctx, ingress, .. } = self.parts(now);
                ingress.report(&mut ctx, evidence);
            }
            AgreementEffect::Halt(halt) => self.step_sync(now, |sync, ctx| sync.halt(ctx, halt)),
        }
    }

    /// Runs after every input: continues all that the input may have made possible.
    fn advance(&mut self, now: Now) {
        self.drain_agreement(now);
        self.step_sync(now, Synchronizer::fill);
        // Questions come before the next turn, which takes the world away: on a server that lags, that
        // turn is there already, and questions would wait for ever.
        self.answer_questions(now);
        self.advance_repair(now);
        if let Some(replacement) = self.step_sync(now, Synchronizer::advance_fetch) {
            self.end(now, replacement);
        }
        // A repair and a fetched state need the world, too, and stop turns from being applied.
        if !self.sync.is_repairing()
            && !self.durable.has_ended()
            && let Some(apply) = self.execution.lend_for_next()
        {
            self.durable.emit(apply);
        }
        // Sessions come last, so that they say all that the machines above answered.
        for client in self.durable.publish_mail() {
            self.publisher.forget(client);
        }
    }

    /// Takes a decided turn: sends receipts to clients, and queues the turn to be applied.
    fn decided(&mut self, now: Now, decision: Arc<Decision>, after: RecordPosition) {
        // The barrier comes before the receipts: they leave once this decision is durable.
        self.durable.raise_barrier(after);
        self.execution.decide(now, Arc::clone(&decision));
        let Parts { mut ctx, ingress, publisher, .. } = self.parts(now);
        publisher.turn_decided(&mut ctx, &decision, &ingress.receipts_due(&decision));
    }

    /// Takes the world back after a turn was applied to it, and tells everybody what the turn did.
    ///
    /// Messages to clients become mail. [`Self::advance`] publishes it, so nothing here leaves before
    /// the log is durable, although nothing here waits for it.
    fn applied(&mut self, now: Now, world: Box<World>, result: &Applied) {
        if self.execution.gives_up(result) {
            return;
        }
        let decision = self.execution.take_back(world, result);
        // Clients and agreement heard of a reapplied turn before, so nothing below is repeated for it.
        if self.sync.is_reapplying() {
            return self.turn_reapplied(now, result);
        }
        self.sync.turn_applied(&self.execution);
        let Parts { mut ctx, ingress, publisher, members } = self.parts(now);
        // The register of authors comes before agreement, which may judge the next turn at once, by
        // what this turn made of its authors. Clients get new rations before the views, which they
        // answer.
        ingress.turn_applied(&mut ctx, &decision.turn);
        publisher.turn_applied(&mut ctx, &decision, result, &ingress.open_sessions());
        // Contacts come before the votes below: the driver first ends sessions with removed servers.
        members.update_contacts(&mut ctx);
        if let Some(ready) = members.readiness(&ctx) {
            ingress.own_act(&mut ctx, ready, READY_HEIGHTS);
        }
        let applied = AppliedTurn {
            height: result.height,
            root: result.root,
            validators: result.validators.clone(),
        };
        self.agree(now, AgreementInput::Applied(applied));
        // Votes leave before acts: the others wait for votes, and acts may be many.
        self.drain_agreement(now);
        let Parts { mut ctx, ingress, .. } = self.parts(now);
        ingress.relay_overdue(&mut ctx);
        // A snapshot needs the base of this height, which agreement has once it knows the root.
        if result.height.0.is_multiple_of(self.config.snapshot_turns)
            && let Some(snapshot) = self.execution.snapshot(&self.agreement)
        {
            self.durable.publish(snapshot);
        }
        // The status is last, so that it shows the height that agreement reached.
        self.publish_status(now);
    }

    /// Begins or continues a repair, if one is due.
    fn advance_repair(&mut self, now: Now) {
        if let Some(state) = self.step_sync(now, Synchronizer::begin_repair) {
            // The status reads the world, so it comes before that is replaced.
            self.publish_status(now);
            // The clients of this server were shown a wrong state.
            let Parts { mut ctx, ingress, .. } = self.parts(now);
            ingress.end_all(&mut ctx);
            self.step_sync(now, |sync, ctx| sync.go_back(ctx, &state));
        }
        self.step_sync(now, Synchronizer::reapply_next);
    }

    fn turn_reapplied(&mut self, now: Now, result: &Applied) {
        if self.step_sync(now, |sync, ctx| sync.turn_reapplied(ctx, result)) {
            // Agreement judges by the right state from the first turn on.
            let Parts { ctx, ingress, publisher, .. } = self.parts(now);
            publisher.state_repaired(&ctx);
            ingress.state_repaired(&ctx);
            self.step_sync(now, Synchronizer::finish_repair);
        }
    }

    /// Ends this replica. The next one begins with the fetched state.
    fn end(&mut self, now: Now, replacement: Replacement) {
        let Parts { mut ctx, ingress, .. } = self.parts(now);
        ingress.end_all(&mut ctx);
        self.durable.end();
        self.durable.emit(Effect::Replace(Box::new(replacement)));
    }

    /// Refuses clients and questions after the end of this replica. The next replica begins once its
    /// state is on the disk. A full disk may delay that, and nobody has to wait for it here.
    fn refuse_after_end(&mut self, input: Input) {
        match input {
            Input::ClientUp(client) => {
                self.durable.emit(Effect::CloseClient { client, why: Goodbye::Stopping });
            }
            Input::Ask { token, .. } => {
                self.durable.emit(Effect::Answer { token, answer: Answer::Busy });
            }
            _ => {}
        }
    }

    /// Starts talking to a peer that connected.
    fn peer_up(&mut self, now: Now, peer: PublicKey) {
        self.members.peer_up(peer);
        self.step_sync(now, |sync, ctx| sync.peer_up(ctx, peer));
        self.agree(now, AgreementInput::PeerUp(peer));
        // Votes leave before acts, of which there may be a thousand.
        self.drain_agreement(now);
        let Parts { mut ctx, ingress, members, .. } = self.parts(now);
        ingress.hand_over(&mut ctx, peer);
        members.send_endpoints(&mut ctx, peer);
    }

    /// Takes a frame of a peer.
    fn peer_frame(&mut self, now: Now, from: PublicKey, frame: &[u8]) {
        let Parts { mut ctx, ingress, members, .. } = self.parts(now);
        match members.read(&ctx, from, frame) {
            None => {}
            Some(PeerMessage::Agreement(message)) => {
                self.agree(now, AgreementInput::Frame { from, message });
            }
            Some(PeerMessage::Submission(act)) => ingress.submission_of_peer(&ctx, *act),
            Some(PeerMessage::Endpoint(signed)) => {
                members.receive_announcement(&mut ctx, from, *signed);
            }
            Some(PeerMessage::Ask { id, question }) => {
                self.ask(now, Asker::Peer(from, id), *question);
            }
            Some(PeerMessage::Answer { id, answer }) => {
                self.step_sync(now, |sync, ctx| sync.answer(ctx, from, id, *answer));
            }
        }
    }

    /// Takes a frame of a client.
    fn client_frame(&mut self, now: Now, client: ClientId, frame: &[u8]) {
        let lacks_turns = self.lacks_turns();
        let Parts { mut ctx, ingress, publisher, .. } = self.parts(now);
        let fault = match ingress.client_frame(&mut ctx, client, frame, lacks_turns) {
            None => None,
            Some(SessionRequest::Ask(asker, question)) => return self.ask(now, asker, question),
            Some(SessionRequest::Watch(key, watching)) => {
                publisher.watch(client, key, watching.as_deref()).err()
            }
            Some(SessionRequest::Seen(number)) => publisher.seen(client, number).err(),
        };
        if fault.is_some() {
            ingress.end(&mut ctx, client);
        }
    }

    /// May the act of a client be in a turn that is missing here?
    fn lacks_turns(&self) -> bool {
        self.sync.lacks_recent_turns(self.execution.height())
    }

    /// Queues a question.
    fn ask(&mut self, now: Now, asker: Asker, question: Question) {
        if !self.publisher.ask(asker, question) {
            self.reply(now, asker, Answer::Busy);
        }
    }

    /// Answers all questions that can be answered now.
    fn answer_questions(&mut self, now: Now) {
        let lacks_turns = self.lacks_turns();
        let Parts { ctx, publisher, .. } = self.parts(now);
        for asker in publisher.look_at_held(&ctx, lacks_turns) {
            self.reply(now, asker, Answer::Unknown);
        }
        while self.world().is_some() {
            let Parts { ctx, publisher, .. } = self.parts(now);
            let Some((asker, question)) = publisher.next_question(&ctx, lacks_turns) else {
                break;
            };
            self.answer(now, asker, question);
        }
    }

    /// Answers a question, or has the turns that it needs read from the log.
    fn answer(&mut self, now: Now, asker: Asker, question: Question) {
        let Parts { mut ctx, ingress, publisher, members } = self.parts(now);
        let (is_sated, key) = match asker {
            Asker::Client(client, _) => (ingress.is_sated(client), ingress.session_key(client)),
            _ => (false, None),
        };
        let answer = match &question {
            // The client may have had many answers since it asked.
            _ if is_sated => Some(Answer::Busy),
            Question::Join(request) => Some(members.join(&mut ctx, key, request)),
            Question::Applicants => Some(members.applicants()),
            Question::Servers => Some(members.servers()),
            Question::LoginTerms { key } => Some(Answer::LoginTerms(ingress.login_terms(key))),
            _ => publisher.answer(&mut ctx, asker, question),
        };
        if let Some(answer) = answer {
            self.reply(now, asker, answer);
        }
    }

    /// Answers a question with the turns that came from the log.
    fn loaded(
        &mut self,
        now: Now,
        load: u64,
        decisions: &[Decision],
        bounds: (Height, Option<Height>),
    ) {
        let Parts { ctx, publisher, .. } = self.parts(now);
        if let Some((asker, question)) = publisher.take_loading(load) {
            let answer = publisher.loaded(&ctx, &question, decisions, bounds);
            self.reply(now, asker, answer);
        }
    }

    /// Sends an answer to the asker of a question.
    fn reply(&mut self, now: Now, asker: Asker, answer: Answer) {
        let Parts { mut ctx, ingress, publisher, .. } = self.parts(now);
        match asker {
            Asker::Client(client, id) => ingress.answer(&mut ctx, client, id, answer),
            Asker::RepeatedAct(client) => publisher.receipt_again(&mut ctx, client, answer),
            Asker::UsedSeq(client, act, seq) => {
                publisher.receipt_or_refusal(&mut ctx, client, (act, seq), answer);
            }
            Asker::Driver(token) => ctx.publish(Effect::Answer { token, answer }),
            Asker::Peer(peer, id) => answer_peer(&mut ctx, peer, id, answer),
        }
    }
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
