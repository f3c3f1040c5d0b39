//! Synchronization: how a server comes back to the others. It repairs its own state, fetches a state of
//! its peers, and fills gaps in its log.
//!
//! This is the one machine that may replace the state and hold agreement back, so it gets a context of
//! its own.

pub(crate) mod backfill;
pub mod fetch;
pub(crate) mod repair;
pub(crate) mod state_sync;

use std::time::Duration;

use metatopia_consensus::{Agreement, Base, Decision, Halt, Host};
use metatopia_protocol::Answer;
use metatopia_sim::Applied;
use metatopia_types::{Height, Now, PublicKey};

use self::{
    backfill::{Backfill, FILLING},
    repair::{CertifiedState, Repair},
    state_sync::{OWN, StateSync},
};
#[cfg(feature = "controls")]
use crate::Controls;
use crate::{
    Condition, Config, Effect, Fetching, Gaps, Missing, Replacement, durable::Durability,
    execution::Execution, members::ConnectedPeers,
};

/// What synchronization reads of its replica, what it may change of it, and the collector of its
/// effects.
pub(crate) struct SyncContext<'a> {
    pub(crate) now: Now,
    pub(crate) config: &'a Config,
    pub(crate) agreement: &'a mut Agreement,
    pub(crate) host: &'a mut dyn Host,
    pub(crate) execution: &'a mut Execution,
    pub(crate) peers: ConnectedPeers<'a>,
    pub(crate) out: &'a mut Durability,
}

/// The repair, the state sync and the backfill of one server.
#[derive(Debug)]
pub(crate) struct Synchronizer {
    repair: Repair,
    state_sync: StateSync,
    backfill: Backfill,
}

impl Synchronizer {
    /// Begins with the base of agreement. A server without a state needs one of height `stateless` or
    /// later.
    pub(crate) fn new(config: &Config, base: &Base, stateless: Option<Height>, now: Now) -> Self {
        Self {
            repair: Repair::after(&config.repairs, now),
            state_sync: StateSync::new(base, stateless),
            backfill: Backfill::default(),
        }
    }

    /// Breaks the rules of backfill from now on.
    #[cfg(feature = "controls")]
    pub(crate) const fn break_rules(&mut self, controls: Controls) {
        self.backfill.break_rules(controls);
    }

    /// Returns whether this server must sign nothing, because it repaired its state too often.
    pub(crate) const fn is_silent(&self) -> bool {
        self.repair.is_silent()
    }

    /// Returns whether this server was started without a state and has none yet.
    pub(crate) const fn has_no_state(&self) -> bool {
        self.state_sync.is_stateless()
    }

    /// Returns whether turns are applied again that were applied before.
    pub(crate) const fn is_reapplying(&self) -> bool {
        self.repair.is_reapplying()
    }

    /// Returns whether the state is under repair or beyond it. Then the next turn does not follow it.
    pub(crate) const fn is_repairing(&self) -> bool {
        self.repair.is_busy()
    }

    /// Returns whether agreement has stopped for good.
    pub(crate) const fn has_stopped(&self) -> bool {
        self.repair.has_stopped()
    }

    /// Returns what the status says about the state.
    pub(crate) const fn condition(&self) -> Condition {
        self.repair.condition()
    }

    /// Returns whether the condition changed in a way that the status has to show at once. Returns true once
    /// for each change.
    pub(crate) const fn take_condition_change(&mut self) -> bool {
        self.repair.take_condition_change()
    }

    /// Returns the fetch under way, or the one that is due.
    pub(crate) fn fetching(&self) -> Option<Fetching> {
        self.state_sync.fetching(&self.repair)
    }

    /// Returns the missing turns, for the status.
    pub(crate) fn missing_turns(
        &self,
        agreement: &Agreement,
        peers: ConnectedPeers<'_>,
    ) -> Option<Missing> {
        self.backfill.missing_turns(agreement, peers)
    }

    /// Returns whether turns are missing whose acts clients may still send again. `height` is the last
    /// decided one.
    pub(crate) fn lacks_recent_turns(&self, height: Height) -> bool {
        self.backfill.lacks_recent_turns(height)
    }

    /// Returns when to continue, in monotonic time.
    pub(crate) fn deadline(&self, peers: ConnectedPeers<'_>, is_muted: bool) -> Option<Duration> {
        // Without peers nobody can be asked, and without a log nothing that they give can be kept.
        if peers.is_empty() || is_muted {
            return self.state_sync.fetch_deadline();
        }
        let fetch = self.state_sync.deadline(&self.repair);
        fetch.into_iter().chain(self.fill_deadline()).min()
    }

    /// Returns when backfill continues, if peers can be asked and the log can grow.
    fn fill_deadline(&self) -> Option<Duration> {
        self.backfill.deadline().filter(|_| !self.state_sync.is_replacing())
    }

    /// Notes that agreement halted, because of a state or for good.
    pub(crate) fn halt(&mut self, ctx: &mut SyncContext<'_>, halt: Halt) {
        self.repair.halt(ctx, halt);
    }

    /// Begins to ask a peer that connected.
    pub(crate) fn peer_up(&mut self, ctx: &SyncContext<'_>, peer: PublicKey) {
        if !ctx.peers.is_follower(ctx.agreement, &peer) {
            self.state_sync.peer_up(ctx.now, peer);
        }
    }

    /// Stops asking a peer that disconnected.
    pub(crate) fn peer_down(&mut self, now: Now, peer: PublicKey) {
        self.state_sync.peer_down(now, peer);
    }

    /// Takes an answer of a peer. An answer to a question that is not our own goes to the driver.
    pub(crate) fn answer(
        &mut self,
        ctx: &mut SyncContext<'_>,
        from: PublicKey,
        id: u32,
        answer: Answer,
    ) {
        if id & OWN == 0 {
            ctx.out.emit(Effect::PeerAnswer { from, id, answer });
        } else if id & FILLING != 0 {
            self.backfill.answer(ctx.now, from, id & !(OWN | FILLING), answer);
        } else {
            self.state_sync.answer(ctx.now, from, id, answer);
        }
    }

    /// Takes the gaps that the keeper reports.
    pub(crate) fn gaps(&mut self, ctx: &mut SyncContext<'_>, gaps: Gaps) {
        self.backfill.gaps(ctx, gaps);
    }

    /// Asks for missing turns or proves them, if that is due. Runs after every input.
    pub(crate) fn fill(&mut self, ctx: &mut SyncContext<'_>) {
        let can_fill = !ctx.peers.is_empty() && !ctx.out.is_muted();
        let due = self.fill_deadline().filter(|_| can_fill);
        if due.is_some_and(|due| ctx.now.monotonic >= due) {
            self.backfill.fill(ctx);
        }
    }

    /// Begins a repair, if one is due: writes the capsule, and returns the state to go back to. Runs
    /// after every input.
    pub(crate) fn begin_repair(&mut self, ctx: &mut SyncContext<'_>) -> Option<CertifiedState> {
        self.repair.begin(ctx)
    }

    /// Goes back to a certified state, from which turns are applied again.
    pub(crate) fn go_back(&mut self, ctx: &mut SyncContext<'_>, state: &CertifiedState) {
        self.repair.go_back(ctx, state);
    }

    /// Hands out the next turn to be applied again, or asks the log for it.
    pub(crate) fn reapply_next(&mut self, ctx: &mut SyncContext<'_>) {
        self.repair.reapply_next(ctx);
    }

    /// Takes turns from the log that are to be applied again.
    pub(crate) fn turns_loaded(&mut self, ctx: &mut SyncContext<'_>, decisions: Vec<Decision>) {
        self.repair.turns_loaded(ctx, decisions);
    }

    /// Compares the root after a turn that was applied again. Returns true if the state has its old
    /// height again.
    pub(crate) fn turn_reapplied(&mut self, ctx: &mut SyncContext<'_>, result: &Applied) -> bool {
        self.repair.turn_reapplied(ctx, result)
    }

    /// Ends a repair that succeeded.
    pub(crate) fn finish_repair(&mut self, ctx: &mut SyncContext<'_>) {
        self.repair.finish(ctx);
    }

    /// Remembers the state after a turn that was applied.
    pub(crate) fn turn_applied(&mut self, execution: &Execution) {
        let world = execution.world();
        let world = world.expect("a state is remembered with the world that a turn was applied to");
        self.repair.remember(world);
    }

    /// Begins, continues or ends a fetch, if that is due. Returns the fetched state that takes the place
    /// of the state at hand. Runs after every input.
    pub(crate) fn advance_fetch(&mut self, ctx: &mut SyncContext<'_>) -> Option<Replacement> {
        self.state_sync.advance(ctx, &mut self.repair)
    }
}

/// Returns whether no turn gets a quorum because servers disagree about the state that it rests on.
pub(crate) fn is_split(agreement: &Agreement) -> bool {
    repair::is_split(agreement)
}
