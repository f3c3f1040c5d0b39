//! Self-repair: what a server does when its own state is not the state that the others have.
//!
//! A server notices this when a header is decided that states another root than its own, at the
//! latest [`ROOT_LAG`] turns after its state went wrong. Then agreement halts. The server sends its
//! clients to other servers, because what it would tell them is wrong. It writes a capsule, goes
//! back to its newest certified state, and applies the decided turns again. It compares every root
//! on the way. A bit that flipped in memory does not flip again. At the end the server logs the
//! right states in place of the wrong ones, and votes again. If none of its stored states leads to
//! the right one, it takes the state of another server ([`state_sync`](crate::state_sync)).
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

use metatopia_consensus::{self as consensus, Decision, Halt, RecordPosition, Void};
use metatopia_sim::{Applied, Capsule, Frozen, StateDifference, World, differ, differ_from};
use metatopia_types::{Height, Millis, Now, Root, limits::ROOT_LAG};

use crate::{Effect, Reader, Replica, STALL, views::Views};

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
    states: Vec<consensus::AppliedTurn>,
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
pub(crate) struct Repair {
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
}

impl Repair {
    /// Returns the machine of a server that repaired its state at these times before it was started.
    pub(crate) fn after(repairs: &[Millis], now: Now) -> Self {
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
    pub(crate) const fn is_silent(&self) -> bool {
        self.silent
    }

    /// Returns the least height of a state of another server that helps, if this one needs one.
    pub(crate) const fn wants_state(&self) -> Option<Height> {
        match self.stage {
            Some(RepairStage::Wanting(least)) => Some(least),
            _ => None,
        }
    }

    /// Is the state under repair, or beyond it?
    pub(crate) const fn is_busy(&self) -> bool {
        self.stage.is_some()
    }

    /// Returns what the status says about the state.
    pub(crate) const fn condition(&self) -> Condition {
        match self.stage {
            Some(RepairStage::Lost) => Condition::Diverged,
            Some(RepairStage::Wanting(_)) => Condition::Fetching,
            Some(_) => Condition::Healing,
            None if self.silent => Condition::Following,
            None => Condition::Sound,
        }
    }

    /// Remembers the state after a turn that was applied.
    pub(crate) fn remember(&mut self, world: &World) {
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
    pub(crate) const fn is_reapplying(&self) -> bool {
        matches!(self.stage, Some(RepairStage::Reapplying(_)))
    }

    /// Notes that agreement halted because of a state.
    pub(crate) fn halted(&mut self, halt: Halt) {
        self.halt = Some(halt);
        if !self.is_reapplying() {
            self.stage = Some(RepairStage::Waiting);
        }
    }
}

impl Replica {
    /// Is this server repairing its state? It applied the turns that it applies now before.
    #[must_use]
    pub fn is_healing(&self) -> bool {
        self.repair.is_reapplying()
    }

    /// Does no turn get a quorum because servers disagree about the state that it rests on?
    pub(crate) fn is_split(&self) -> bool {
        let next = self.agreement.height();
        let of = next.minus(ROOT_LAG).unwrap_or_default();
        matches!(self.agreement.last_void(), Some(Void::Root { height, .. }) if height == of)
    }

    /// Begins or continues a repair, if one is due. Runs after every input.
    pub(crate) fn advance_repair(&mut self, now: Now) {
        let next = self.agreement.height();
        let stalled = now.monotonic.saturating_sub(self.decided_at) > STALL;
        let looked = self.repair.stalled == Some(next);
        if self.repair.stage.is_none() && stalled && !looked && self.is_split() {
            self.repair.stalled = Some(next);
            self.repair.stage = Some(RepairStage::Waiting);
        }
        if matches!(self.repair.stage, Some(RepairStage::Waiting)) && self.world.is_some() {
            self.begin_repair(now);
        }
        self.reapply_next();
    }

    /// Writes the capsule, and goes back to the newest certified state. The world must be at hand.
    fn begin_repair(&mut self, now: Now) {
        let Some((height, root, bytes)) = self.certified_state() else {
            return self.abandon_repair(now);
        };
        // The capsule shows the wrong state, and the status reads the world: both come before the
        // world is taken.
        self.write_capsule(height, root, &bytes);
        self.publish_status(now);
        let end = self.world.take().expect("a repair begins while no turn is being applied");
        // The clients of this server were shown a wrong state.
        self.sessions.end_all();
        let Ok(world) = World::from_snapshot(&bytes, root, end.tools()) else {
            self.world = Some(end);
            return self.abandon_repair(now);
        };
        let heights = (height.0..=end.height().0).map(Height);
        let had = heights.filter_map(|at| self.archive.root(at).map(|root| (at, root)));
        let had: BTreeMap<Height, Root> = had.collect();
        let logged = match self.repair.halt {
            Some(Halt::Unrepeatable { height, logged, .. }) => Some((height, logged)),
            _ => None,
        };
        self.world = Some(Box::new(world));
        self.repair.stage = Some(RepairStage::Reapplying(Box::new(Reapplying {
            end,
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

    /// Returns the newest stored state whose root was decided.
    fn certified_state(&self) -> Option<(Height, Root, Vec<u8>)> {
        let next = self.agreement.height();
        let certified = |height: Height, root: Root| match self.stated(height) {
            Some(stated) => stated == root,
            // A genesis needs no certificate. An old root was compared when its header was decided.
            None => height == Height(0) || height.plus(ROOT_LAG) < next,
        };
        let mut kept = self.snapshot_offers.kept();
        let found = kept.find(|(height, root, _)| certified(*height, *root));
        found.map(|(height, root, bytes)| (height, root, bytes.to_vec()))
    }

    /// Returns the root after a height that a decided header states, if that header is at hand.
    fn stated(&self, height: Height) -> Option<Root> {
        let stating = height.plus(ROOT_LAG);
        let contested = self.agreement.contested().filter(|found| found.height() == stating);
        let decided = self.agreement.decision(stating).map(AsRef::as_ref);
        decided.or(contested).map(|found| found.turn.header.root)
    }

    /// Writes a capsule with all that a replay elsewhere needs, including the decided turn that is
    /// void here.
    fn write_capsule(&mut self, base: Height, root: Root, snapshot: &[u8]) {
        let world = self.world.as_deref();
        let world = world.expect("a capsule is written while no turn is being applied");
        let tip = self.agreement.height();
        // The state in doubt is the one that the height under way rests on. Without it the capsule
        // shows the newest state.
        let doubted = tip.minus(ROOT_LAG).filter(|at| *at > base && *at <= world.height());
        let doubted = doubted.and_then(|at| Some((at, self.repair.recent(at)?)));
        let (last, end) = doubted.unwrap_or_else(|| (world.height(), world.snapshot()));
        let heights = (base.0..tip.0).map(|height| Height(height).plus(1));
        let decisions = heights.map_while(|height| self.agreement.decision(height));
        let decisions = decisions.map(AsRef::as_ref).chain(self.agreement.contested());
        let turns: Vec<_> =
            decisions.map(|found| ((*found.turn).clone(), found.certificate.clone())).collect();
        let own = (base.0..last.0).map(|height| self.archive.root(Height(height).plus(1)));
        let capsule = Capsule {
            genesis: self.config.genesis.as_ref().clone(),
            root,
            snapshot: snapshot.to_vec(),
            turns,
            roots: own.map_while(|root| root).collect(),
            end: Some(end),
        };
        let bytes = capsule.encode();
        self.effects.push_back(Effect::Capsule { height: last, bytes });
    }

    /// Hands out the next turn to be applied again, or asks the log for it.
    fn reapply_next(&mut self) {
        let Some(RepairStage::Reapplying(run)) = &mut self.repair.stage else {
            return;
        };
        if self.applying.is_some() || run.loading || self.world.is_none() {
            return;
        }
        let height = run.next;
        let read = run.read.pop_front().filter(|found| found.height() == height).map(Arc::new);
        let decision = read.or_else(|| self.agreement.decision(height).cloned());
        let Some(decision) = decision else {
            run.loading = true;
            return self.effects.push_back(Effect::Load {
                reader: Reader::Repair,
                from: height,
                count: u32::MAX,
            });
        };
        run.next = height.plus(1);
        if let Some(world) = self.world.take() {
            self.effects.push_back(Effect::Apply { world, decision: Arc::clone(&decision) });
            self.applying = Some((decision, RecordPosition::START));
        }
    }

    /// Takes turns from the log that are to be applied again.
    pub(crate) fn reapplied_turns_loaded(&mut self, now: Now, decisions: Vec<Decision>) {
        let Some(RepairStage::Reapplying(run)) = &mut self.repair.stage else {
            // A replica that has ended since may have asked for them.
            return;
        };
        run.loading = false;
        let follows = decisions.first().is_some_and(|found| found.height() == run.next);
        run.read = decisions.into();
        if !follows {
            // The log lacks them, so only the state of another server helps.
            self.abandon_repair(now);
        }
    }

    /// Compares the root after a turn that was applied again, and goes on with the repair.
    pub(crate) fn turn_reapplied(&mut self, now: Now, world: Box<World>, result: &Applied) {
        let (height, root) = (result.height, result.root);
        let stated = self.stated(height);
        let outcomes = world.proof(&World::outcomes_key(height));
        let recent = self.repair.recent(height);
        let wrong = recent.and_then(|recent| differ_from(&recent, &world));
        let snapshot_due = height.0.is_multiple_of(self.config.snapshot_turns);
        let Some(RepairStage::Reapplying(run)) = &mut self.repair.stage else {
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
            run.states.push(consensus::AppliedTurn { height, root, validators });
            if snapshot_due {
                run.snapshot = Some((height, root, world.snapshot()));
            }
        }
        let done = height >= run.end.height();
        let repeated = stated.is_some_and(|stated| stated != root);
        self.archive.applied(result, outcomes);
        self.world = Some(world);
        if repeated {
            self.abandon_repair(now);
        } else if done {
            self.finish_repair(now);
        }
    }

    /// Ends a repair: the state has its old height again, and is right.
    fn finish_repair(&mut self, now: Now) {
        let Some(RepairStage::Reapplying(run)) = self.repair.stage.take() else {
            unreachable!("only a repair that reapplies turns comes to its end");
        };
        let world = self.world.as_deref();
        let world = world.expect("a repair ends with the world that the last turn was applied to");
        let halt = self.repair.halt.take();
        self.views = Views::new(world.height(), self.config.turns_per_second);
        self.ledger.register = metatopia_sim::Register::of(world);
        if world.height() == self.height {
            self.ledger.windows = world.windows().clone();
        }
        let Some(WrongRoot { height, had, right }) = run.first else {
            // The state was right all the time. If agreement halted nevertheless, it stays halted.
            if let Some(halt) = halt {
                self.stay_diverged(halt);
            }
            return;
        };
        let end = run.end.height();
        let found = run.found.or_else(|| differ(&run.end, world).map(|found| (end, found)));
        let (looked_at, difference) = found.map_or((end, None), |(at, found)| (at, Some(found)));
        self.count_repair(now);
        self.repair.recent.clear();
        let report = RepairReport {
            height,
            had,
            now: right,
            looked_at,
            difference,
            repairs: self.repair.repairs.len(),
            votes: !self.repair.silent,
        };
        self.effects.push_back(Effect::Repaired(Box::new(report)));
        self.snapshot_offers.forget_from(height);
        let silent = self.repair.silent;
        self.agreement.heal(now, &mut self.ledger, &run.states, silent);
        if let Some((height, root, state)) = run.snapshot
            && let Some(base) = self.agreement.base(height)
        {
            let bytes = crate::start::stored(&base, &state);
            self.snapshot_offers.keep(height, root, state);
            self.release(self.barrier, Effect::Snapshot { height, root, bytes });
        }
        self.publish_status(now);
    }

    /// Counts a repair. After too many in an hour this server only follows.
    pub(crate) fn count_repair(&mut self, now: Now) {
        self.repair.forget_old_repairs(now);
        let repairs = &mut self.repair.repairs;
        self.repair.silent |= repairs.len() >= REPAIRS_MAX;
        repairs.push_back(now.wall);
        let repairs = repairs.iter().copied().collect();
        self.effects.push_back(Effect::RepairTimes(repairs));
    }

    /// Ends a repair that cannot succeed: this server needs the state of another server.
    fn abandon_repair(&mut self, now: Now) {
        let stage = self.repair.stage.take();
        if let Some(halt) = self.repair.halt.take() {
            self.repair.forget_old_repairs(now);
            if self.repair.repairs.len() >= REPAIRS_MAX {
                return self.stay_diverged(halt);
            }
            // A server that computed a wrong state twice may do so a third time. The fetched state
            // must lie behind the turns that lead to it.
            let least = match halt {
                Halt::Diverged { height, .. } => height.minus(ROOT_LAG).unwrap_or_default(),
                _ => Height(0),
            };
            self.repair.stage = Some(RepairStage::Wanting(least));
            return self.publish_status(now);
        }
        // Agreement did not halt, so the state stays what it was.
        if let Some(RepairStage::Reapplying(run)) = stage {
            self.world = Some(run.end);
        }
    }

    /// Stops for good: the state stays wrong.
    fn stay_diverged(&mut self, halt: Halt) {
        self.repair.stage = Some(RepairStage::Lost);
        self.halted = true;
        self.effects.push_back(Effect::Halted(halt));
    }

    /// Publishes the status, if the world is at hand.
    fn publish_status(&mut self, now: Now) {
        let status = self.status(now).map(Box::new);
        self.effects.extend(status.map(Effect::Status));
    }
}
