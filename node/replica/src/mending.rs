//! What a server does when its own state is not the one that the others have.
//!
//! It finds out when a header is decided that states another root than its own, at the latest
//! [`ROOT_LAG`] turns after the state went wrong. Agreement halts then, and this server's word about
//! the world is worth nothing: its clients are sent to others. It writes a capsule, goes back to the
//! newest state of its own that was certified, and applies the decided turns again, comparing every
//! root. A bit that flipped in memory does not flip again. Then it notes the right states in the place
//! of the wrong ones, and votes again. If nothing that it kept leads to the right state, it takes
//! another server's ([`rescue`](crate::rescue)).
//!
//! When no root has a quorum, nobody can say who is wrong, but each server can see whether it comes
//! to its own state again: the ones that do not heal themselves, and the world goes on.
//!
//! [`ROOT_LAG`]: metatopia_types::limits::ROOT_LAG

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use metatopia_consensus::{self as consensus, Decision, Halt, Position, Void};
use metatopia_sim::{Applied, Capsule, Difference, Frozen, World, differ, differ_from};
use metatopia_types::{Height, Millis, Now, Root, limits::ROOT_LAG};

use crate::{Effect, Reader, Replica, STALL, views::Views};

/// Heals in an [`HOUR`] after which a server does not vote any more until it is started anew, and
/// that hour is over: its machine, or its program, is not to be trusted.
pub const HEALS_MAX: usize = 3;

/// See [`HEALS_MAX`].
pub const HOUR: Duration = Duration::from_secs(3_600);

/// The last states are remembered as they were while they are no longer than this: so that a report
/// can name a field that was wrong for one turn only. Copied is only what changes, which is most of
/// it in a busy turn.
pub const RECENT_BYTES_MAX: u64 = 256 * 1_024;

/// The states that may be in doubt when a header says so: the one whose root it states, and those
/// after it.
const RECENT: usize = ROOT_LAG as usize + 1;

/// How a server stands with its own state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// It has no reason to doubt it.
    #[default]
    Sound,
    /// It is computing its state again.
    Healing,
    /// A state of its peers is to take the place of its own: it has none, or is far behind, or its
    /// own is wrong and computing it again leads to the same.
    Fetching,
    /// Its state is not the others', and it healed too often to try again.
    Diverged,
    /// It healed too often: it follows, and does not vote.
    Following,
}

impl Condition {
    /// In a word.
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

/// What went wrong, as far as computing it again shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The first turn after which the state was wrong.
    pub height: Height,
    /// The root that this server had.
    pub had: Root,
    /// The root that it has now.
    pub now: Root,
    /// The wrong state that was looked at is the one after this turn.
    pub looked_at: Height,
    /// The first field in which it was wrong.
    pub difference: Option<Difference>,
    /// So often it healed within the last hour, this time included.
    pub heals: usize,
    /// Does it vote again?
    pub votes: bool,
}

/// What is being done about it.
#[derive(Debug)]
enum Stage {
    /// The world is away, being applied to.
    Waiting,
    /// Turns are applied again.
    Again(Box<Again>),
    /// It came to the same wrong state again, or there is nothing to begin with: another server's
    /// state is waited for, of this height or later.
    Wanting(Height),
    /// And that too often.
    Lost,
}

/// Turns being applied again.
#[derive(Debug)]
struct Again {
    /// The state as it was.
    end: Box<World>,
    /// The next turn to be applied again, and those that came from the log.
    next: Height,
    read: VecDeque<Decision>,
    loading: bool,
    /// The roots that this server had in this life, and the one that its log says if it is another:
    /// either may be the wrong one.
    had: BTreeMap<Height, Root>,
    logged: Option<(Height, Root)>,
    /// The states from the first wrong one on.
    states: Vec<consensus::Applied>,
    first: Option<(Height, Root, Root)>,
    /// What was wrong, and in the state after which turn.
    found: Option<(Height, Difference)>,
    /// The newest state on the way that is to be stored.
    snapshot: Option<(Height, Root, Vec<u8>)>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Mending {
    stage: Option<Stage>,
    /// Why agreement halted, if it did.
    halt: Option<Halt>,
    /// When it healed, by the wall clock: a restart changes nothing about that.
    heals: VecDeque<Millis>,
    silent: bool,
    /// The height that was looked into because no root had a quorum.
    stalled: Option<Height>,
    /// The last states.
    recent: VecDeque<(Height, Frozen)>,
}

impl Mending {
    /// A server that healed at these times before it was started.
    pub(crate) fn after(heals: &[Millis], now: Now) -> Self {
        let mut mending = Self { heals: heals.iter().copied().collect(), ..Self::default() };
        mending.forget_heals(now);
        mending.silent = mending.heals.len() > HEALS_MAX;
        mending
    }

    fn forget_heals(&mut self, now: Now) {
        let hour = u64::try_from(HOUR.as_millis()).unwrap_or(u64::MAX);
        self.heals.retain(|at| now.wall.0.saturating_sub(at.0) < hour);
    }

    /// Must this server sign nothing?
    pub(crate) const fn is_silent(&self) -> bool {
        self.silent
    }

    /// From which height on does another server's state help, if this one needs one?
    pub(crate) const fn wants_state(&self) -> Option<Height> {
        match self.stage {
            Some(Stage::Wanting(least)) => Some(least),
            _ => None,
        }
    }

    /// Is anything being done about the state?
    pub(crate) const fn is_busy(&self) -> bool {
        self.stage.is_some()
    }

    pub(crate) const fn condition(&self) -> Condition {
        match self.stage {
            Some(Stage::Lost) => Condition::Diverged,
            Some(Stage::Wanting(_)) => Condition::Fetching,
            Some(_) => Condition::Healing,
            None if self.silent => Condition::Following,
            None => Condition::Sound,
        }
    }

    /// A turn was applied.
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

    /// Is the world being computed again?
    pub(crate) const fn is_again(&self) -> bool {
        matches!(self.stage, Some(Stage::Again(_)))
    }

    /// Agreement halted because of a state.
    pub(crate) fn halted(&mut self, halt: Halt) {
        self.halt = Some(halt);
        if !self.is_again() {
            self.stage = Some(Stage::Waiting);
        }
    }
}

impl Replica {
    /// Is this server computing its state again? Turns that it applies now, it applied before.
    #[must_use]
    pub fn is_healing(&self) -> bool {
        self.mending.is_again()
    }

    /// Has no turn got a quorum because servers disagree about the state that it rests on?
    pub(crate) fn is_split(&self) -> bool {
        let next = self.agreement.height();
        let of = next.minus(ROOT_LAG).unwrap_or_default();
        matches!(self.agreement.last_void(), Some(Void::Root { height, .. }) if height == of)
    }

    /// Does what is due about a wrong state. Looked at after every input.
    pub(crate) fn mend(&mut self, now: Now) {
        let next = self.agreement.height();
        let stalled = now.monotonic.saturating_sub(self.decided_at) > STALL;
        let looked = self.mending.stalled == Some(next);
        if self.mending.stage.is_none() && stalled && !looked && self.is_split() {
            self.mending.stalled = Some(next);
            self.mending.stage = Some(Stage::Waiting);
        }
        if matches!(self.mending.stage, Some(Stage::Waiting)) && self.world.is_some() {
            self.begin_again(now);
        }
        self.apply_again();
    }

    /// Writes the capsule, and goes back to the newest certified state.
    fn begin_again(&mut self, now: Now) {
        let Some((height, root, bytes)) = self.certified_state() else {
            return self.lose(now);
        };
        self.write_capsule(height, root, &bytes);
        self.tell_status(now);
        let Some(end) = self.world.take() else {
            return;
        };
        // Whoever watches here has been shown things that are not so.
        self.sessions.end_all();
        let Ok(world) = World::from_snapshot(&bytes, root, end.tools()) else {
            self.world = Some(end);
            return self.lose(now);
        };
        let heights = (height.0..=end.height().0).map(Height);
        let had = heights.filter_map(|at| self.archive.root(at).map(|root| (at, root)));
        let had: BTreeMap<Height, Root> = had.collect();
        let logged = match self.mending.halt {
            Some(Halt::Unrepeatable { height, logged, .. }) => Some((height, logged)),
            _ => None,
        };
        self.world = Some(Box::new(world));
        self.mending.stage = Some(Stage::Again(Box::new(Again {
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

    /// The newest state that this server keeps, whose root was decided on.
    fn certified_state(&self) -> Option<(Height, Root, Vec<u8>)> {
        let next = self.agreement.height();
        let certified = |height: Height, root: Root| match self.stated(height) {
            Some(stated) => stated == root,
            // A genesis needs nobody's word. What was decided long ago was compared then.
            None => height == Height(0) || height.plus(ROOT_LAG) < next,
        };
        let mut kept = self.offers.kept();
        let found = kept.find(|(height, root, _)| certified(*height, *root));
        found.map(|(height, root, bytes)| (height, root, bytes.to_vec()))
    }

    /// The root after a height by a decided header, if that is at hand.
    fn stated(&self, height: Height) -> Option<Root> {
        let stating = height.plus(ROOT_LAG);
        let contested = self.agreement.contested().filter(|found| found.height() == stating);
        let decided = self.agreement.decision(stating).map(AsRef::as_ref);
        decided.or(contested).map(|found| found.turn.header.root)
    }

    /// Everything that somebody needs to see for themselves: also the decided turn that is void
    /// here.
    fn write_capsule(&mut self, base: Height, root: Root, snapshot: &[u8]) {
        let Some(world) = self.world.as_deref() else {
            return;
        };
        let tip = self.agreement.height();
        // In doubt is the state that the height under way rests on; else the newest is shown.
        let doubted = tip.minus(ROOT_LAG).filter(|at| *at > base && *at <= world.height());
        let doubted = doubted.and_then(|at| Some((at, self.mending.recent(at)?)));
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

    /// Hands out the next turn to be applied again.
    fn apply_again(&mut self) {
        let Some(Stage::Again(again)) = &mut self.mending.stage else {
            return;
        };
        if self.applying.is_some() || again.loading || self.world.is_none() {
            return;
        }
        let height = again.next;
        let read = again.read.pop_front().filter(|found| found.height() == height).map(Arc::new);
        let decision = read.or_else(|| self.agreement.decision(height).cloned());
        let Some(decision) = decision else {
            again.loading = true;
            let (reader, count) = (Reader::Mending, u32::MAX);
            return self.effects.push_back(Effect::Load { reader, from: height, count });
        };
        again.next = height.plus(1);
        if let Some(world) = self.world.take() {
            self.effects.push_back(Effect::Apply { world, decision: Arc::clone(&decision) });
            self.applying = Some((decision, Position::START));
        }
    }

    /// Turns came from the log.
    pub(crate) fn loaded_again(&mut self, now: Now, decisions: Vec<Decision>) {
        let Some(Stage::Again(again)) = &mut self.mending.stage else {
            return;
        };
        again.loading = false;
        let follows = decisions.first().is_some_and(|found| found.height() == again.next);
        again.read = decisions.into();
        if !follows {
            // The log has lost them: another server's state is the only way.
            self.lose(now);
        }
    }

    /// A turn was applied again.
    pub(crate) fn applied_again(&mut self, now: Now, world: Box<World>, result: &Applied) {
        let (height, root) = (result.height, result.root);
        let stated = self.stated(height);
        let outcomes = world.proof(&World::outcomes_key(height));
        let recent = self.mending.recent(height);
        let wrong = recent.and_then(|recent| differ_from(&recent, &world));
        let snapshot_due = height.0.is_multiple_of(self.config.snapshot_turns);
        let Some(Stage::Again(again)) = &mut self.mending.stage else {
            return;
        };
        let logged = again.logged.filter(|(at, _)| *at == height).map(|(_, logged)| logged);
        let had = again.had.get(&height).copied().into_iter().chain(logged);
        let other = had.into_iter().find(|had| *had != root);
        if again.first.is_none()
            && let Some(had) = other
        {
            again.first = Some((height, had, root));
            again.found = wrong.map(|found| (height, found));
        }
        if again.first.is_some() {
            let validators = result.validators.clone();
            again.states.push(consensus::Applied { height, root, validators });
            if snapshot_due {
                again.snapshot = Some((height, root, world.snapshot()));
            }
        }
        let done = height >= again.end.height();
        let repeated = stated.is_some_and(|stated| stated != root);
        self.archive.applied(result, outcomes);
        self.world = Some(world);
        if repeated {
            self.lose(now);
        } else if done {
            self.mended(now);
        }
    }

    /// The state is back where it was, and right.
    fn mended(&mut self, now: Now) {
        let (Some(Stage::Again(again)), Some(world)) =
            (self.mending.stage.take(), self.world.as_deref())
        else {
            return;
        };
        let halt = self.mending.halt.take();
        self.views = Views::new(world.height(), self.config.turns_per_second);
        self.ledger.register = metatopia_sim::Register::of(world);
        if world.height() == self.height {
            self.ledger.windows = world.windows().clone();
        }
        let Some((height, had, root)) = again.first else {
            // It was right all the time. If agreement halted nevertheless, it stays so.
            if let Some(halt) = halt {
                self.give_up(halt);
            }
            return;
        };
        let end = again.end.height();
        let found = again.found.or_else(|| differ(&again.end, world).map(|found| (end, found)));
        let (looked_at, difference) = found.map_or((end, None), |(at, found)| (at, Some(found)));
        self.heal_at(now);
        self.mending.recent.clear();
        let report = Report {
            height,
            had,
            now: root,
            looked_at,
            difference,
            heals: self.mending.heals.len(),
            votes: !self.mending.silent,
        };
        self.effects.push_back(Effect::Mended(Box::new(report)));
        self.offers.forget_from(height);
        let silent = self.mending.silent;
        self.agreement.heal(now, &mut self.ledger, &again.states, silent);
        if let Some((height, root, state)) = again.snapshot
            && let Some(base) = self.agreement.base(height)
        {
            let bytes = crate::start::stored(&base, &state);
            self.offers.keep(height, root, state);
            self.release(self.barrier, Effect::Snapshot { height, root, bytes });
        }
        self.tell_status(now);
    }

    /// Counts a heal. After too many in an hour this server only follows.
    pub(crate) fn heal_at(&mut self, now: Now) {
        self.mending.forget_heals(now);
        let heals = &mut self.mending.heals;
        self.mending.silent |= heals.len() >= HEALS_MAX;
        heals.push_back(now.wall);
        let heals = heals.iter().copied().collect();
        self.effects.push_back(Effect::Heals(heals));
    }

    /// This server cannot heal by itself: it needs another server's state.
    fn lose(&mut self, now: Now) {
        let stage = self.mending.stage.take();
        if let Some(halt) = self.mending.halt.take() {
            self.mending.forget_heals(now);
            if self.mending.heals.len() >= HEALS_MAX {
                return self.give_up(halt);
            }
            // Whoever comes to a wrong state twice may do so a third time: the turns that lead to
            // it are not to be applied again.
            let least = match halt {
                Halt::Diverged { height, .. } => height.minus(ROOT_LAG).unwrap_or_default(),
                _ => Height(0),
            };
            self.mending.stage = Some(Stage::Wanting(least));
            return self.tell_status(now);
        }
        // Nothing was wrong that agreement knows of: the state stays what it was.
        if let Some(Stage::Again(again)) = stage {
            self.world = Some(again.end);
        }
    }

    fn give_up(&mut self, halt: Halt) {
        self.mending.stage = Some(Stage::Lost);
        self.halted = true;
        self.effects.push_back(Effect::Halted(halt));
    }

    /// Says how it stands, as long as the world is here to be looked at.
    fn tell_status(&mut self, now: Now) {
        let status = self.status(now).map(Box::new);
        self.effects.extend(status.map(Effect::Status));
    }
}
