//! Self-repair: what a server does when its own state is not the state that the others have.
//!
//! A server notices this when a header is decided that states another root than its own, at the
//! latest [`ROOT_LAG`] turns after its state went wrong. Then agreement halts. The server sends its
//! clients to other servers, because what it would tell them is wrong. It writes a capsule, goes
//! back to its newest certified state, and applies the decided turns again. It compares every root
//! on the way. A bit that flipped in memory does not flip again. At the end the server logs the
//! right states in place of the wrong ones, and votes again. If none of its stored states leads to
//! the right one, it takes the state of another server ([`state_sync`](crate::sync::state_sync)).
//!
//! When no root has a quorum, nobody can say which server is wrong. But each server can check
//! whether it computes its own state a second time. Servers that do not repair themselves, and the
//! world goes on.
//!
//! [`ROOT_LAG`]: metatopia_types::limits::ROOT_LAG

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use metatopia_consensus::{Agreement, AppliedTurn, Decision, Halt, Void};
use metatopia_sim::{Applied, Capsule, Frozen, StateDifference, World, differ, differ_from};
use metatopia_types::{Height, Millis, Now, Root, limits::ROOT_LAG};

use super::SyncContext;
use crate::{Effect, Reader, execution::Execution};

/// Repairs in an [`HOUR`] after which a server stops voting, until it is started anew and that hour
/// is over. Its machine, or its program, cannot be trusted.
pub const REPAIRS_MAX: usize = 3;

/// The time in which repairs are counted, see [`REPAIRS_MAX`].
pub const HOUR: Duration = Duration::from_secs(3_600);

/// Longest state of which the last versions are remembered. With them a report can name a field
/// that was wrong for one turn only. Each version copies only what changed, which is most of the
/// state in a busy turn.
pub const RECENT_BYTES_MAX: u64 = 256 * 1_024;

/// How many states a header can put in doubt: the state whose root it states, and those after it.
const RECENT: usize = ROOT_LAG as usize + 1;

/// Says whether a server trusts its own state, and what it does about a wrong one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// The server has no reason to doubt its state.
    #[default]
    Sound,
    /// The server applies turns again to repair its state.
    Healing,
    /// The server fetches a state of its peers: it has none, or is far behind, or its own is wrong
    /// and applying the turns again led to the same wrong state.
    Fetching,
    /// The state differs from that of the others, and the server repaired it too often to try again.
    Diverged,
    /// The server repaired its state too often: it follows, and does not vote.
    Following,
}

impl Condition {
    /// Returns the word of this condition in status and metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Healing => "healing",
            Self::Fetching => "fetching",
            Self::Diverged => "diverged",
            Self::Following => "following",
        }
    }
}

/// The result of a repair: what was wrong, as far as applying the turns again shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairReport {
    /// The first turn after which the state was wrong.
    pub height: Height,
    /// The wrong root that this server had after that turn.
    pub had: Root,
    /// The right root after that turn.
    pub now: Root,
    /// The height of the wrong state that was compared with the right one.
    pub looked_at: Height,
    /// The first field in which that state was wrong.
    pub difference: Option<StateDifference>,
    /// The number of repairs within the last hour, including this one.
    pub repairs: usize,
    /// Does the server vote again?
    pub votes: bool,
}

/// How far a repair is.
#[derive(Debug)]
enum RepairStage {
    /// The repair waits until the turn under way is applied and the world is back.
    Waiting,
    /// Turns are applied again.
    Reapplying(Box<Reapplying>),
    /// Applying the turns again led to the same wrong state, or there is no state to begin with. The
    /// server needs a state of another server, of this height or later.
    Wanting(Height),
    /// The state was wrong too often: the server does not repair it any more.
    Lost,
}

/// A run that applies decided turns again.
#[derive(Debug)]
struct Reapplying {
    /// The state before the repair, in which a field may be wrong.
    end: Box<World>,
    /// The next turn to be applied again.
    next: Height,
    /// Turns that were read from the log and are not applied yet.
    read: VecDeque<Decision>,
    /// Are turns being read from the log?
    loading: bool,
    /// The roots that this server computed since it was started. Each may be wrong.
    had: BTreeMap<Height, Root>,
    /// The root in the log that this server could not compute again. It may be wrong, too.
    logged: Option<(Height, Root)>,
    /// The right states, from the first wrong one on.
    states: Vec<AppliedTurn>,
    /// The first turn with a wrong root, that root, and the right one.
    first: Option<WrongRoot>,
    /// The first difference, and the height of the state that it is in.
    found: Option<(Height, StateDifference)>,
    /// The newest right state that has to be stored.
    snapshot: Option<(Height, Root, Vec<u8>)>,
}

/// A root that this server had and that was not the right one.
#[derive(Clone, Copy, Debug)]
struct WrongRoot {
    height: Height,
    had: Root,
    right: Root,
}

/// The self-repair of one server. See the module.
#[derive(Debug, Default)]
pub(super) struct Repair {
    stage: Option<RepairStage>,
    /// The reason why agreement halted, if it did.
    halt: Option<Halt>,
    /// The times of the repairs by the wall clock. They outlive a restart.
    repairs: VecDeque<Millis>,
    /// Must this server sign nothing, because it repaired its state too often?
    silent: bool,
    /// The height for which the state was checked because no root had a quorum.
    stalled: Option<Height>,
    /// The last states.
    recent: VecDeque<(Height, Frozen)>,
    /// Has agreement stopped for good?
    stopped: bool,
    /// Has the status to show a change at once?
    changed: bool,
}

/// A stored state whose root was decided.
#[derive(Debug)]
pub(crate) struct CertifiedState {
    height: Height,
    root: Root,
    bytes: Vec<u8>,
}

impl Repair {
    /// Returns the machine of a server that repaired its state at these times before it was started.
    pub(super) fn after(repairs: &[Millis], now: Now) -> Self {
        let mut repair = Self { repairs: repairs.iter().copied().collect(), ..Self::default() };
        repair.forget_old_repairs(now);
        repair.silent = repair.repairs.len() > REPAIRS_MAX;
        repair
    }

    fn forget_old_repairs(&mut self, now: Now) {
        let hour = u64::try_from(HOUR.as_millis()).unwrap_or(u64::MAX);
        self.repairs.retain(|at| now.wall.0.saturating_sub(at.0) < hour);
    }

    /// Must this server sign nothing?
    pub(super) const fn is_silent(&self) -> bool {
        self.silent
    }

    /// Returns the least height of a state of another server that helps, if this one needs one.
    pub(super) const fn wants_state(&self) -> Option<Height> {
        match self.stage {
            Some(RepairStage::Wanting(least)) => Some(least),
            _ => None,
        }
    }

    /// Is the state under repair, or beyond it?
    pub(super) const fn is_busy(&self) -> bool {
        self.stage.is_some()
    }

    /// Returns what the status says about the state.
    pub(super) const fn condition(&self) -> Condition {
        match self.stage {
            Some(RepairStage::Lost) => Condition::Diverged,
            Some(RepairStage::Wanting(_)) => Condition::Fetching,
            Some(_) => Condition::Healing,
            None if self.silent => Condition::Following,
            None => Condition::Sound,
        }
    }

    /// Has agreement stopped for good?
    pub(super) const fn has_stopped(&self) -> bool {
        self.stopped
    }

    /// Did the condition change in a way that the status has to show at once? Answers yes once.
    pub(super) const fn take_condition_change(&mut self) -> bool {
        core::mem::replace(&mut self.changed, false)
    }

    /// Remembers the state after a turn that was applied.
    pub(super) fn remember(&mut self, execution: &Execution) {
        let world = execution.world();
        let world = world.expect("a state is remembered with the world that a turn was applied to");
        if world.state_bytes() > RECENT_BYTES_MAX {
            return self.recent.clear();
        }
        let state = match self.recent.back() {
            Some((_, before)) => world.freeze(before),
            None => world.freeze(&Frozen::default()),
        };
        self.recent.push_back((world.height(), state));
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
    }

    fn recent(&self, height: Height) -> Option<Vec<u8>> {
        let found = self.recent.iter().find(|(at, _)| *at == height);
        found.map(|(_, state)| state.snapshot())
    }

    /// Are turns applied again?
    pub(super) const fn is_reapplying(&self) -> bool {
        matches!(self.stage, Some(RepairStage::Reapplying(_)))
    }

    /// Notes that agreement halted, because of a state or for good.
    pub(super) fn halt(&mut self, ctx: &mut SyncContext<'_>, halt: Halt) {
        if !matches!(halt, Halt::Diverged { .. } | Halt::Unrepeatable { .. }) {
            self.stopped = true;
            return ctx.out.emit(Effect::Halted(halt));
        }
        ctx.out.emit(Effect::Diverged(halt.clone()));
        self.halt = Some(halt);
        if !self.is_reapplying() {
            self.stage = Some(RepairStage::Waiting);
        }
    }

    /// Begins a repair, if one is due and the world is at hand: writes the capsule, and returns the
    /// state to go back to.
    pub(super) fn begin(&mut self, ctx: &mut SyncContext<'_>) -> Option<CertifiedState> {
        let next = ctx.agreement.height();
        let looked = self.stalled == Some(next);
        let stalled = ctx.execution.is_stalled(ctx.now);
        if self.stage.is_none() && stalled && !looked && is_split(ctx.agreement) {
            self.stalled = Some(next);
            self.stage = Some(RepairStage::Waiting);
        }
        let waits = matches!(self.stage, Some(RepairStage::Waiting));
        if !waits || ctx.execution.world().is_none() {
            return None;
        }
        let certified = certified_state(ctx);
        match &certified {
            Some(state) => self.write_capsule(ctx, state),
            None => self.abandon(ctx),
        }
        certified
    }

    /// Goes back to a certified state, from which turns are applied again. The world must be at hand.
    pub(super) fn go_back(&mut self, ctx: &mut SyncContext<'_>, state: &CertifiedState) {
        let CertifiedState { height, root, bytes } = state;
        let wrong = ctx.execution.world();
        let wrong = wrong.expect("a repair begins while no turn is being applied");
        let Ok(world) = World::from_snapshot(bytes, *root, wrong.tools()) else {
            return self.abandon(ctx);
        };
        let had = ctx.execution.roots(*height..=wrong.height());
        let logged = match self.halt {
            Some(Halt::Unrepeatable { height, logged, .. }) => Some((height, logged)),
            _ => None,
        };
        self.stage = Some(RepairStage::Reapplying(Box::new(Reapplying {
            end: ctx.execution.replace_world(Box::new(world)),
            next: height.plus(1),
            read: VecDeque::new(),
            loading: false,
            had,
            logged,
            states: Vec::new(),
            first: None,
            found: None,
            snapshot: None,
        })));
    }

    /// Writes a capsule with all that a replay elsewhere needs, including the decided turn that is
    /// void here.
    fn write_capsule(&self, ctx: &mut SyncContext<'_>, base: &CertifiedState) {
        let (agreement, execution) = (&*ctx.agreement, &*ctx.execution);
        let world = execution.world();
        let world = world.expect("a capsule is written while no turn is being applied");
        let tip = agreement.height();
        // The state in doubt is the one that the height under way rests on. Without it the capsule
        // shows the newest state.
        let doubted = tip.minus(ROOT_LAG).filter(|at| *at > base.height && *at <= world.height());
        let doubted = doubted.and_then(|at| Some((at, self.recent(at)?)));
        let (last, end) = doubted.unwrap_or_else(|| (world.height(), world.snapshot()));
        let heights = (base.height.0..tip.0).map(|height| Height(height).plus(1));
        let decisions = heights.map_while(|height| agreement.decision(height));
        let decisions = decisions.map(AsRef::as_ref).chain(agreement.contested());
        let turns: Vec<_> =
            decisions.map(|found| ((*found.turn).clone(), found.certificate.clone())).collect();
        let own = (base.height.0..last.0).map(|height| Height(height).plus(1));
        let capsule = Capsule {
            genesis: ctx.config.genesis.as_ref().clone(),
            root: base.root,
            snapshot: base.bytes.clone(),
            turns,
            roots: own.map_while(|height| execution.archive().root(height)).collect(),
            end: Some(end),
        };
        let bytes = capsule.encode();
        ctx.out.emit(Effect::Capsule { height: last, bytes });
    }

    /// Hands out the next turn to be applied again, or asks the log for it.
    pub(super) fn reapply_next(&mut self, ctx: &mut SyncContext<'_>) {
        let Some(RepairStage::Reapplying(run)) = &mut self.stage else {
            return;
        };
        if run.loading || ctx.execution.world().is_none() {
            return;
        }
        let height = run.next;
        let read = run.read.pop_front().filter(|found| found.height() == height).map(Arc::new);
        let decision = read.or_else(|| ctx.agreement.decision(height).cloned());
        let Some(decision) = decision else {
            run.loading = true;
            return ctx.out.emit(Effect::Load {
                reader: Reader::Repair,
                from: height,
                count: u32::MAX,
            });
        };
        run.next = height.plus(1);
        let lent = ctx.execution.lend(decision);
        ctx.out.emit(lent.expect("a repair hands out a turn while the world is at hand"));
    }

    /// Takes turns from the log that are to be applied again.
    pub(super) fn turns_loaded(&mut self, ctx: &mut SyncContext<'_>, decisions: Vec<Decision>) {
        let Some(RepairStage::Reapplying(run)) = &mut self.stage else {
            // A replica that has ended since may have asked for them.
            return;
        };
        run.loading = false;
        let follows = decisions.first().is_some_and(|found| found.height() == run.next);
        run.read = decisions.into();
        if !follows {
            // The log lacks them, so only the state of another server helps.
            self.abandon(ctx);
        }
    }

    /// Compares the root after a turn that was applied again. Returns true if the state has its old
    /// height again.
    pub(super) fn turn_reapplied(&mut self, ctx: &mut SyncContext<'_>, result: &Applied) -> bool {
        let (height, root) = (result.height, result.root);
        let world = ctx.execution.world();
        let world = world.expect("a turn is compared with the world that it was applied to");
        let recent = self.recent(height);
        let wrong = recent.and_then(|recent| differ_from(&recent, world));
        let Some(RepairStage::Reapplying(run)) = &mut self.stage else {
            unreachable!("only a repair that reapplies turns hears of a reapplied turn");
        };
        let logged = run.logged.filter(|(at, _)| *at == height).map(|(_, logged)| logged);
        let had = run.had.get(&height).copied().into_iter().chain(logged);
        let other = had.into_iter().find(|had| *had != root);
        if run.first.is_none()
            && let Some(had) = other
        {
            run.first = Some(WrongRoot { height, had, right: root });
            run.found = wrong.map(|found| (height, found));
        }
        if run.first.is_some() {
            let validators = result.validators.clone();
            run.states.push(AppliedTurn { height, root, validators });
            if height.0.is_multiple_of(ctx.config.snapshot_turns) {
                run.snapshot = Some((height, root, world.snapshot()));
            }
        }
        let done = height >= run.end.height();
        let repeated = stated(ctx.agreement, height).is_some_and(|stated| stated != root);
        if repeated {
            self.abandon(ctx);
        }
        done && !repeated
    }

    /// Ends a repair: the state has its old height again, and is right.
    pub(super) fn finish(&mut self, ctx: &mut SyncContext<'_>) {
        let Some(RepairStage::Reapplying(mut run)) = self.stage.take() else {
            unreachable!("only a repair that reapplies turns comes to its end");
        };
        let halt = self.halt.take();
        let Some(WrongRoot { height, had, right }) = run.first else {
            // The state was right all the time. If agreement halted nevertheless, it stays halted.
            if let Some(halt) = halt {
                self.stay_diverged(ctx, halt);
            }
            return;
        };
        let world = ctx.execution.world();
        let world = world.expect("a repair ends with the world that the last turn was applied to");
        let end = run.end.height();
        let found = run.found.take();
        let found = found.or_else(|| differ(&run.end, world).map(|found| (end, found)));
        let (looked_at, difference) = found.map_or((end, None), |(at, found)| (at, Some(found)));
        self.count_repair(ctx);
        self.recent.clear();
        let report = RepairReport {
            height,
            had,
            now: right,
            looked_at,
            difference,
            repairs: self.repairs.len(),
            votes: !self.silent,
        };
        ctx.out.emit(Effect::Repaired(Box::new(report)));
        ctx.execution.withdraw_from(height);
        ctx.agreement.heal(ctx.now, ctx.host, &run.states, self.silent);
        let snapshot = run
            .snapshot
            .and_then(|snapshot| ctx.execution.snapshot_of_repaired(ctx.agreement, snapshot));
        if let Some(snapshot) = snapshot {
            ctx.out.release_at_barrier(snapshot);
        }
        self.changed = true;
    }

    /// Counts a repair. After too many in an hour this server only follows.
    pub(super) fn count_repair(&mut self, ctx: &mut SyncContext<'_>) {
        self.forget_old_repairs(ctx.now);
        self.silent |= self.repairs.len() >= REPAIRS_MAX;
        self.repairs.push_back(ctx.now.wall);
        ctx.out.emit(Effect::RepairTimes(self.repairs.iter().copied().collect()));
    }

    /// Ends a repair that cannot succeed: this server needs the state of another server.
    fn abandon(&mut self, ctx: &mut SyncContext<'_>) {
        let stage = self.stage.take();
        if let Some(halt) = self.halt.take() {
            self.forget_old_repairs(ctx.now);
            if self.repairs.len() >= REPAIRS_MAX {
                return self.stay_diverged(ctx, halt);
            }
            // A server that computed a wrong state twice may do so a third time. The fetched state
            // must lie behind the turns that lead to it.
            let least = match halt {
                Halt::Diverged { height, .. } => height.minus(ROOT_LAG).unwrap_or_default(),
                _ => Height(0),
            };
            self.stage = Some(RepairStage::Wanting(least));
            self.changed = true;
            return;
        }
        // Agreement did not halt, so the state stays what it was.
        if let Some(RepairStage::Reapplying(run)) = stage {
            ctx.execution.replace_world(run.end);
        }
    }

    /// Stops for good: the state stays wrong.
    fn stay_diverged(&mut self, ctx: &mut SyncContext<'_>, halt: Halt) {
        self.stage = Some(RepairStage::Lost);
        self.stopped = true;
        ctx.out.emit(Effect::Halted(halt));
    }
}

/// Does no turn get a quorum because servers disagree about the state that it rests on?
pub(super) fn is_split(agreement: &Agreement) -> bool {
    let of = agreement.height().minus(ROOT_LAG).unwrap_or_default();
    matches!(agreement.last_void(), Some(Void::Root { height, .. }) if height == of)
}

/// Returns the newest stored state whose root was decided.
fn certified_state(ctx: &SyncContext<'_>) -> Option<CertifiedState> {
    let next = ctx.agreement.height();
    let certified = |height: Height, root: Root| match stated(ctx.agreement, height) {
        Some(stated) => stated == root,
        // A genesis needs no certificate. An old root was compared when its header was decided.
        None => height == Height(0) || height.plus(ROOT_LAG) < next,
    };
    let mut kept = ctx.execution.snapshot_offers().kept();
    let (height, root, bytes) = kept.find(|(height, root, _)| certified(*height, *root))?;
    Some(CertifiedState { height, root, bytes: bytes.to_vec() })
}

/// Returns the root after a height that a decided header states, if that header is at hand.
fn stated(agreement: &Agreement, height: Height) -> Option<Root> {
    let stating = height.plus(ROOT_LAG);
    let contested = agreement.contested().filter(|found| found.height() == stating);
    let decided = agreement.decision(stating).map(AsRef::as_ref);
    decided.or(contested).map(|found| found.turn.header.root)
}
