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

mod capsule;
mod reapply;

use std::{collections::VecDeque, time::Duration};

use metatopia_consensus::{Agreement, Halt, Void};
use metatopia_sim::{Frozen, StateDifference, World};
use metatopia_types::{Height, Millis, Now, Root, limits::ROOT_LAG};

use self::reapply::Reapplying;
use super::SyncContext;
use crate::Effect;

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
    /// Whether the server votes again.
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

/// The self-repair of one server. See the module.
#[derive(Debug, Default)]
pub(super) struct Repair {
    stage: Option<RepairStage>,
    /// The reason why agreement halted, if it did.
    halt: Option<Halt>,
    /// The times of the repairs by the wall clock. They outlive a restart.
    repairs: VecDeque<Millis>,
    /// Whether this server must sign nothing, because it repaired its state too often.
    silent: bool,
    /// The height for which the state was checked because no root had a quorum.
    stalled: Option<Height>,
    /// The last states.
    recent: VecDeque<(Height, Frozen)>,
    /// Whether agreement has stopped for good.
    stopped: bool,
    /// Whether the status has to show a change at once.
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

    /// Returns whether this server must sign nothing.
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

    /// Returns whether the state is under repair or beyond it.
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

    /// Returns whether agreement has stopped for good.
    pub(super) const fn has_stopped(&self) -> bool {
        self.stopped
    }

    /// Returns whether the condition changed in a way that the status has to show at once. Returns true once
    /// for each change.
    pub(super) const fn take_condition_change(&mut self) -> bool {
        core::mem::replace(&mut self.changed, false)
    }

    /// Remembers the state after a turn that was applied.
    pub(super) fn remember(&mut self, world: &World) {
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

    /// Returns whether turns are applied again.
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
        let certified = capsule::certified_state(ctx);
        match &certified {
            Some(state) => self.write_capsule(ctx, state),
            None => self.abandon(ctx),
        }
        certified
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
            ctx.execution.replace_world(run.into_end());
        }
    }

    /// Stops for good: the state stays wrong.
    fn stay_diverged(&mut self, ctx: &mut SyncContext<'_>, halt: Halt) {
        self.stage = Some(RepairStage::Lost);
        self.stopped = true;
        ctx.out.emit(Effect::Halted(halt));
    }
}

/// Returns whether no turn gets a quorum because servers disagree about the state that it rests on.
pub(super) fn is_split(agreement: &Agreement) -> bool {
    let of = agreement.height().minus(ROOT_LAG).unwrap_or_default();
    matches!(agreement.last_void(), Some(Void::Root { height, .. }) if height == of)
}

/// Returns the root after a height that a decided header states, if that header is at hand.
fn stated(agreement: &Agreement, height: Height) -> Option<Root> {
    let stating = height.plus(ROOT_LAG);
    let contested = agreement.contested().filter(|found| found.height() == stating);
    let decided = agreement.decision(stating).map(AsRef::as_ref);
    decided.or(contested).map(|found| found.turn.header.root)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use metatopia_math::{Fx, Vec2};
    use metatopia_physics::{BodySpec, Motion, Shape};
    use metatopia_sim::{Genesis, Introduction, ObjectSpec, Tools};
    use metatopia_types::{
        AssetLicence, Ed25519, Look, NodeContact, Sign as _, SigningKey,
        limits::HOUSE_RULES_BYTES_MAX,
    };

    use super::*;

    /// Returns a state with so many things, and house rules of so many bytes.
    fn state(things: u64, rules: u64) -> World {
        let thing = |n: u64| ObjectSpec {
            kind: "thing".to_owned(),
            name: "thing".to_owned(),
            owner: None,
            look: Look::default(),
            text: "a".repeat(200),
            body: BodySpec::new(
                Shape::Circle { radius: Fx::ONE },
                Motion::Static,
                Vec2::new(Fx::from_int(n as i32 % 64), Fx::from_int(n as i32 / 64)),
            ),
            scripts: Vec::new(),
            licence: AssetLicence::default(),
            spawner: None,
            seat: None,
        };
        let house_rules = "a".repeat(rules as usize);
        let voter = SigningKey::from_seed([1; 32]).public();
        let genesis = Genesis {
            name: "yard".to_owned(),
            validators: BTreeMap::from([(voter, NodeContact::default())]),
            objects: (0..things).map(thing).collect(),
            introduction: Introduction { house_rules, ..Introduction::default() },
            licence: "AGPL-3.0-or-later".to_owned(),
            asset_licence: "CC-BY-SA-4.0".to_owned(),
            ..Genesis::empty()
        };
        World::genesis(&genesis, &Tools::new(Arc::new(Ed25519))).expect("a genesis")
    }

    /// Returns a state of so many bytes: things for most of them, and house rules for the rest.
    fn state_of(bytes: u64) -> World {
        let (few, more) = (state(200, 200).state_bytes(), state(400, 200).state_bytes());
        let things = 200 + (bytes - few - 2_000) * 200 / (more - few);
        let missing = bytes - state(things, 200).state_bytes();
        assert!(200 + missing <= HOUSE_RULES_BYTES_MAX as u64, "{missing} bytes are missing");
        let world = state(things, 200 + missing);
        assert_eq!(world.state_bytes(), bytes);
        world
    }

    #[test]
    fn the_last_states_are_remembered_up_to_a_length_and_none_with_a_longer_one() {
        let (fits, longer) = (state_of(RECENT_BYTES_MAX), state_of(RECENT_BYTES_MAX + 1));
        let mut repair = Repair::default();
        repair.remember(&fits);
        assert!(repair.recent(Height(0)).is_some_and(|bytes| bytes == fits.snapshot()));
        repair.remember(&longer);
        assert!(repair.recent(Height(0)).is_none(), "the one before says nothing without it");
    }
}
