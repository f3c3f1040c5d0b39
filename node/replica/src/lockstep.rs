//! The lockstep of a replica: agreement on turns, their execution, synchronization, and what may leave
//! once the log is durable.
//!
//! The [`Frontend`] hears from here of each turn. Nothing flows back but inputs of agreement, and the
//! acts that it fills the next turn with as its host.

use std::{sync::Arc, time::Duration};

use metatopia_consensus::{
    Agreement, AgreementEffect, AgreementInput, AppliedTurn, Base, Decision, OpenAgreementError,
    Record, RecordPosition,
};
use metatopia_protocol::{Answer, Goodbye};
use metatopia_sim::{Applied, World};
use metatopia_types::{Height, Now, PublicKey};

#[cfg(feature = "controls")]
use crate::Controls;
use crate::{
    Condition, Config, Effect, Gaps, Input, Reader, Replacement, Status,
    context::ReplicaContext,
    durable::Durability,
    execution::Execution,
    frontend::{Frontend, LockstepMessage},
    sync::{SyncContext, Synchronizer},
};

/// The part of a server that works in lockstep with the other servers.
#[derive(Debug)]
pub(crate) struct Lockstep {
    config: Config,
    agreement: Agreement,
    /// The world, and the decided turns that wait for it.
    execution: Execution,
    /// How this server comes back to the others.
    sync: Synchronizer,
    /// What may leave, and what waits for the log.
    durable: Durability,
}

impl Lockstep {
    /// Begins with a state and what the log holds after it. A server without a state needs one of height
    /// `stateless` or later.
    pub(crate) fn begin(
        mut config: Config,
        base: Base,
        world: World,
        records: impl IntoIterator<Item = Record>,
        stateless: Option<Height>,
        now: Now,
    ) -> Result<(Self, Frontend), OpenAgreementError> {
        let sync = Synchronizer::new(&config, &base, stateless, now);
        config.agreement.silent |= sync.is_silent() || stateless.is_some();
        let mut front = Frontend::new(&config, &world);
        let (host, _) = front.lend();
        let agreement = Agreement::open(config.agreement.clone(), base, records, now, host)?;
        let (execution, durable) = (Execution::new(world, now), Durability::default());
        let mut lockstep = Self { config, agreement, execution, sync, durable };
        front.update_contacts(&mut lockstep.context(now));
        Ok((lockstep, front))
    }

    /// Breaks the rules of execution and synchronization from now on.
    #[cfg(feature = "controls")]
    pub(crate) const fn break_rules(&mut self, controls: Controls) {
        self.execution.break_rules(controls);
        self.sync.break_rules(controls);
    }

    /// Remembers a turn that was decided before the start.
    pub(crate) fn recall(&mut self, decision: &Decision) {
        self.execution.recall(decision);
    }

    /// Returns the agreement, to be read.
    pub(crate) const fn agreement(&self) -> &Agreement {
        &self.agreement
    }

    /// Returns the world after the last applied turn, or none while a turn is being applied.
    pub(crate) fn world(&self) -> Option<&World> {
        self.execution.world()
    }

    /// Returns the synchronization, to be read.
    pub(crate) const fn sync(&self) -> &Synchronizer {
        &self.sync
    }

    /// Returns the next effect.
    pub(crate) fn poll(&mut self) -> Option<Effect> {
        self.durable.poll()
    }

    /// Returns whether this replica has ended. The next one begins with a fetched state.
    pub(crate) const fn has_ended(&self) -> bool {
        self.durable.has_ended()
    }

    /// Returns when to continue, in monotonic time.
    pub(crate) fn deadline(&self, front: &Frontend) -> Option<Duration> {
        let agreement = self.agreement.deadline().filter(|_| !self.sync.has_no_state());
        let sync = self.sync.deadline(front.connected(), self.durable.is_muted());
        agreement.into_iter().chain(sync).min()
    }

    /// Returns the status, or none while a turn is being applied.
    pub(crate) fn status(&self, now: Now, front: &Frontend) -> Option<Status> {
        let (world, agreement) = (self.world()?, &self.agreement);
        let fetching = self.sync.fetching();
        let stopped = self.sync.has_stopped();
        let validators = agreement.validators(agreement.height());
        let validators = validators.map(|set| set.members().iter().map(|member| member.key));
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
            peers: count(front.connected().len()),
            clients: count(front.waiting().sessions),
            mempool: count(front.pending_count()),
            players: count(world.present().count()),
            condition: match &fetching {
                Some(_) => Condition::Fetching,
                None => self.sync.condition(),
            },
            fetching,
            missing: self.sync.missing_turns(agreement, front.connected()),
            delayed: crate::publish::facts::delayed(world),
            admins: crate::publish::facts::admin_countdown(world),
            time_left: world.time_left(),
            world: world.charter().site.map(|site| site.world),
            split: crate::sync::is_split(agreement),
            stalled: stopped || self.execution.is_stalled(now),
        })
    }

    /// Lends the front end what it may read, and the collector of its effects.
    pub(crate) fn context(&mut self, now: Now) -> ReplicaContext<'_> {
        let Self { config, agreement, execution, sync, durable } = self;
        ReplicaContext::new(now, config, agreement, execution, sync, durable)
    }

    /// Has synchronization do something, and shows a change of the server's condition at once.
    fn step_sync<T>(
        &mut self,
        now: Now,
        front: &mut Frontend,
        step: impl FnOnce(&mut Synchronizer, &mut SyncContext<'_>) -> T,
    ) -> T {
        let (host, peers) = front.lend();
        let mut ctx = SyncContext {
            now,
            config: &self.config,
            agreement: &mut self.agreement,
            host,
            execution: &mut self.execution,
            peers,
            out: &mut self.durable,
        };
        let result = step(&mut self.sync, &mut ctx);
        if self.sync.take_condition_change() {
            self.publish_status(now, front);
        }
        result
    }

    /// Publishes the status, if the world is at hand.
    fn publish_status(&mut self, now: Now, front: &Frontend) {
        let status = self.status(now, front).map(Box::new);
        status.into_iter().for_each(|status| self.durable.emit(Effect::Status(status)));
    }

    /// Hands an input to agreement.
    pub(crate) fn agree(&mut self, now: Now, front: &mut Frontend, input: AgreementInput) {
        // Without a state this server can judge no turn.
        if !self.sync.has_no_state() {
            self.agreement.handle(now, front.lend().0, input);
        }
    }

    /// Carries out all effects of agreement.
    fn drain_agreement(&mut self, now: Now, front: &mut Frontend) {
        while let Some(effect) = self.agreement.poll() {
            if !self.sync.has_no_state() {
                self.carry_out(now, front, effect);
            }
        }
    }

    fn carry_out(&mut self, now: Now, front: &mut Frontend, effect: AgreementEffect) {
        match effect {
            AgreementEffect::Send { to, message, after } => self.durable.send(to, message, after),
            AgreementEffect::Append { record, at } => self.durable.append(&record, at),
            AgreementEffect::Sync(position) => self.durable.emit(Effect::Sync(position)),
            AgreementEffect::Decided { decision, after } => {
                // The barrier comes before the receipts: they leave once this decision is durable.
                self.durable.raise_barrier(after);
                self.execution.decide(now, Arc::clone(&decision));
                front.turn_decided(&mut self.context(now), &decision);
            }
            AgreementEffect::Load { to, from, count } => {
                self.durable.emit(Effect::Load { reader: Reader::Peer(to), from, count });
            }
            AgreementEffect::Evidence(evidence) => front.report(&mut self.context(now), evidence),
            AgreementEffect::Halt(halt) => {
                self.step_sync(now, front, |sync, ctx| sync.halt(ctx, halt));
            }
        }
    }

    /// Runs after every input: continues all that the input may have made possible.
    pub(crate) fn advance(&mut self, now: Now, front: &mut Frontend) {
        self.drain_agreement(now, front);
        self.step_sync(now, front, Synchronizer::fill);
        // Questions come before the next turn, which takes the world away: on a server that lags, that
        // turn is there already, and questions would wait for ever.
        front.answer_questions(&mut self.context(now));
        self.advance_repair(now, front);
        if let Some(replacement) = self.step_sync(now, front, Synchronizer::advance_fetch) {
            self.end(now, front, replacement);
        }
        // A repair and a fetched state need the world, too, and stop turns from being applied.
        if !self.sync.is_repairing()
            && !self.durable.has_ended()
            && let Some(apply) = self.execution.lend_for_next()
        {
            self.durable.emit(apply);
        }
        // Sessions come last, so that they say all that the machines above answered.
        front.closed(self.durable.publish_mail());
    }

    /// Notes that the log is durable up to a place.
    pub(crate) fn synced(&mut self, now: Now, front: &mut Frontend, position: RecordPosition) {
        // What waited for the log comes before agreement: what it sends now was written later.
        self.durable.synced(position);
        self.agree(now, front, AgreementInput::Synced(position));
    }

    /// Notes whether the log can grow.
    pub(crate) fn mute(&mut self, now: Now, front: &mut Frontend, muted: bool) {
        self.durable.mute(muted);
        self.agree(now, front, AgreementInput::Muted(muted));
    }

    /// Starts talking to a peer that connected.
    pub(crate) fn peer_up(&mut self, now: Now, front: &mut Frontend, peer: PublicKey) {
        front.peer_up(peer);
        self.step_sync(now, front, |sync, ctx| sync.peer_up(ctx, peer));
        self.agree(now, front, AgreementInput::PeerUp(peer));
        // Votes leave before acts, of which there may be a thousand.
        self.drain_agreement(now, front);
        front.hand_over(&mut self.context(now), peer);
    }

    /// Stops talking to a peer that disconnected.
    pub(crate) fn peer_down(&mut self, now: Now, front: &mut Frontend, peer: PublicKey) {
        front.peer_down(&peer);
        self.sync.peer_down(now, peer);
        self.agree(now, front, AgreementInput::PeerDown(peer));
    }

    /// Takes a message of a peer.
    pub(crate) fn message(
        &mut self,
        now: Now,
        front: &mut Frontend,
        from: PublicKey,
        message: LockstepMessage,
    ) {
        match message {
            LockstepMessage::Agreement(message) => {
                self.agree(now, front, AgreementInput::Frame { from, message });
            }
            LockstepMessage::Answer(id, answer) => {
                self.step_sync(now, front, |sync, ctx| sync.answer(ctx, from, id, answer));
            }
        }
    }

    /// Takes turns from the log that are to be applied again.
    pub(crate) fn turns_loaded(&mut self, now: Now, front: &mut Frontend, turns: Vec<Decision>) {
        self.step_sync(now, front, |sync, ctx| sync.turns_loaded(ctx, turns));
    }

    /// Takes the gaps that the keeper reports.
    pub(crate) fn gaps(&mut self, now: Now, front: &mut Frontend, gaps: Gaps) {
        self.step_sync(now, front, |sync, ctx| sync.gaps(ctx, gaps));
    }

    /// Takes the world back after a turn was applied to it, and tells everybody what the turn did.
    pub(crate) fn applied(
        &mut self,
        now: Now,
        front: &mut Frontend,
        world: Box<World>,
        result: &Applied,
    ) {
        if self.execution.gives_up(result) {
            return;
        }
        let decision = self.execution.take_back(world, result);
        // Clients and agreement heard of a reapplied turn before, so nothing below is repeated for it.
        if self.sync.is_reapplying() {
            return self.turn_reapplied(now, front, result);
        }
        self.sync.turn_applied(&self.execution);
        // The front end comes before agreement. The driver first ends sessions with removed servers, and
        // agreement may judge the next turn at once, by what this turn made of its authors.
        front.turn_applied(&mut self.context(now), &decision, result);
        let applied = AppliedTurn {
            height: result.height,
            root: result.root,
            validators: result.validators.clone(),
        };
        self.agree(now, front, AgreementInput::Applied(applied));
        // Votes leave before acts: the others wait for votes, and acts may be many.
        self.drain_agreement(now, front);
        front.relay_overdue(&mut self.context(now));
        // A snapshot needs the base of this height, which agreement has once it knows the root.
        if result.height.0.is_multiple_of(self.config.snapshot_turns)
            && let Some(snapshot) = self.execution.snapshot(&self.agreement)
        {
            self.durable.publish(snapshot);
            self.durable.publish(self.execution.forgetting(self.config.behind_turns));
        }
        // The status is last, so that it shows the height that agreement reached.
        self.publish_status(now, front);
    }

    /// Begins or continues a repair, if one is due.
    fn advance_repair(&mut self, now: Now, front: &mut Frontend) {
        if let Some(state) = self.step_sync(now, front, Synchronizer::begin_repair) {
            // The status reads the world, so it comes before that is replaced.
            self.publish_status(now, front);
            // The clients of this server were shown a wrong state.
            front.end_all(&mut self.context(now));
            self.step_sync(now, front, |sync, ctx| sync.go_back(ctx, &state));
        }
        self.step_sync(now, front, Synchronizer::reapply_next);
    }

    fn turn_reapplied(&mut self, now: Now, front: &mut Frontend, result: &Applied) {
        if self.step_sync(now, front, |sync, ctx| sync.turn_reapplied(ctx, result)) {
            // Agreement asks its host as soon as it goes on, so the host has the right state by then.
            front.state_repaired(&self.context(now));
            self.step_sync(now, front, Synchronizer::finish_repair);
        }
    }

    /// Ends this replica. The next one begins with the fetched state.
    fn end(&mut self, now: Now, front: &mut Frontend, replacement: Replacement) {
        front.end_all(&mut self.context(now));
        self.durable.end();
        self.durable.emit(Effect::Replace(Box::new(replacement)));
    }

    /// Refuses clients and questions after the end of this replica. The next replica begins once its
    /// state is on the disk. A full disk may delay that, and nobody has to wait for it here.
    pub(crate) fn refuse_after_end(&mut self, input: Input) {
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
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
