//! The world: a state, the programs that run in it, and the leaves by which it is hashed.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_scripting::{Event, EventKind, Handler, RhaiHandler};
use metatopia_types::{
    Height, LeafKey, Millis, Outcome, PackageId, Root, Roster, SignedEnvelope, SimId, StateProof,
    Tick, Turn, ValidatorSet, Verify,
};

use crate::{
    ENGINE,
    acts::{Brought, Court, Faults},
    applied::{Applied, Failure, LogLine, Received, object_of},
    checked::Checked,
    controls::Controls,
    fork_join::ForkJoin,
    genesis::{Genesis, GenesisError, Parent},
    inbox::{Delivery, Sender},
    leaves::Leaves,
    limits::WORLD_BYTES_MAX,
    programs::Programs,
    room::{Room, promised},
    state::{Clock, State},
    tick::{Ticked, tick},
    watch::{Probe, Stage, Watch},
    windows::LaneWindows,
};

/// What a world uses, but does not contain.
#[derive(Clone)]
pub struct Tools {
    /// Checks signatures in evidence.
    pub verify: Arc<dyn Verify>,
    /// Handlers that replace the compiled source of packages. Every server of a sim must use the
    /// same ones.
    pub ports: BTreeMap<PackageId, Arc<dyn Handler>>,
}

impl Tools {
    /// No ports.
    #[must_use]
    pub fn new(verify: Arc<dyn Verify>) -> Self {
        Self { verify, ports: BTreeMap::new() }
    }
}

impl core::fmt::Debug for Tools {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Tools").field("ports", &self.ports.keys()).finish_non_exhaustive()
    }
}

/// The world state machine. Clones share what neither of them changes.
#[derive(Debug, Clone)]
pub struct World {
    pub(crate) state: Arc<State>,
    pub(crate) programs: Programs,
    pub(crate) leaves: Arc<Leaves>,
    pub(crate) tools: Tools,
    faults: Faults,
    /// See [`WORLD_BYTES_MAX`].
    bytes_max: u64,
    pub(crate) controls: Controls,
}

impl World {
    /// The world at height 0.
    ///
    /// # Errors
    /// When the genesis breaks a rule; says which. [`GenesisError::NeedsState`] for a successor, see
    /// [`World::succeed`].
    pub fn genesis(genesis: &Genesis, tools: &Tools) -> Result<Self, GenesisError> {
        if let Some(Parent { sim, height, .. }) = &genesis.parent {
            return Err(GenesisError::NeedsState { parent: *sim, height: *height });
        }
        let mut world = Self::assemble(State::found(genesis)?, tools)?;
        let bytes = world.state_bytes();
        if bytes > WORLD_BYTES_MAX {
            return Err(GenesisError::TooLarge { bytes });
        }
        world.start_scripts();
        Ok(world)
    }

    /// The world at height 0 of a successor, from the last state of the sim that it carries on. All
    /// that belongs to the place is as it was; servers and admins are the genesis' own.
    ///
    /// # Errors
    /// When the genesis breaks a rule, or the state is not the one that it names.
    pub fn succeed(genesis: &Genesis, parent: &Self, tools: &Tools) -> Result<Self, GenesisError> {
        genesis.check()?;
        let named = genesis.parent.as_ref().ok_or(GenesisError::NoParent)?;
        let (sim, height, root) = (parent.sim(), parent.height(), parent.root());
        if (sim, height, root) != (named.sim, named.height, named.root) {
            return Err(GenesisError::OtherState { sim, height, root });
        }
        Self::assemble(State::succeed(genesis, &parent.state)?, tools)
    }

    /// Puts programs and leaves around a state.
    pub(crate) fn assemble(mut state: State, tools: &Tools) -> Result<Self, GenesisError> {
        let mut handlers = BTreeMap::new();
        for (id, package) in state.packages.iter() {
            let handler: Arc<dyn Handler> = match tools.ports.get(id) {
                Some(port) => Arc::new(Checked(Arc::clone(port))),
                None => Arc::new(
                    RhaiHandler::new(package)
                        .map_err(|error| GenesisError::Source { id: *id, error })?,
                ),
            };
            handlers.insert(*id, handler);
        }
        let scripts = state.scripts.iter().map(|(id, script)| (*id, script.package));
        let programs = Programs::new(handlers, scripts);
        let leaves = Arc::new(Leaves::of(&mut state));
        let (state, tools) = (Arc::new(state), tools.clone());
        let (faults, controls) = (Faults::default(), Controls::default());
        let bytes_max = WORLD_BYTES_MAX;
        Ok(Self { state, programs, leaves, tools, faults, bytes_max, controls })
    }

    /// Every script that wants to know is told that the world begins.
    fn start_scripts(&mut self) {
        let room = self.room();
        let state = Arc::make_mut(&mut self.state);
        state.room = room;
        for script in self.programs.subscribers(EventKind::Start) {
            let delivery =
                Delivery { sender: Sender::Core, raised: Tick(0), index: 0, event: Event::Start };
            state.deliver(script, delivery);
        }
        Arc::make_mut(&mut self.leaves).refresh(state);
    }

    /// Makes these acts panic when they are applied.
    #[doc(hidden)]
    pub fn inject(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// Makes its state find less room than [`WORLD_BYTES_MAX`]: how a test fills a small world.
    #[doc(hidden)]
    pub fn confine(&mut self, bytes_max: u64) {
        self.bytes_max = bytes_max;
    }

    /// What the state as it is, and what timers may still come to, leave of its bound.
    fn room(&self) -> Room {
        Room::beside(self.leaves.bytes().saturating_add(promised(&self.state)), self.bytes_max)
    }

    /// From now on it breaks these rules.
    #[cfg(feature = "controls")]
    pub fn break_rules(&mut self, controls: Controls) {
        self.controls = controls;
        Arc::make_mut(&mut self.state).windows.open_end = controls.lane_off_by_one;
    }

    /// What it uses, but does not contain.
    #[must_use]
    pub const fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Applies the next decided turn. It always succeeds: an act, a call of a script or a step of
    /// physics that fails has changed nothing, and the same on every server. Whether the turn may
    /// be decided at all is judged before, by [`judge_turn`](crate::judge_turn).
    ///
    /// # Panics
    /// When the turn is not the next one of this sim and engine: then it is not this state that it
    /// belongs to, and a server that went on would be wrong.
    pub fn apply(&mut self, turn: &Turn, exec: &dyn ForkJoin) -> Applied {
        self.apply_watched(turn, exec, &mut ())
    }

    /// As [`World::apply`], with somebody who is told when each stage begins, and if they want to what
    /// state it left, and shown the world after each tick.
    ///
    /// # Panics
    /// As [`World::apply`].
    pub fn apply_watched(
        &mut self,
        turn: &Turn,
        exec: &dyn ForkJoin,
        watch: &mut dyn Watch,
    ) -> Applied {
        let mut probe = Probe::new(watch, &self.leaves);
        probe.enter(Stage::Acts);
        let (outcomes, brought) = self.hear(turn);
        probe.leave(Stage::Acts, self.tick(), &self.state);
        let mut report = Report { chat: brought.chat, ..Report::default() };
        let (mut posts, mut left) = (brought.posts, 0);
        for _ in 0..self.state.charter.parameters.ticks_per_turn {
            let posts = core::mem::take(&mut posts);
            let controls = self.controls;
            let programs = (&self.programs, controls);
            let ticked = tick(&mut self.state, programs, exec, &mut probe, posts, &mut left);
            report.add(&self.state, ticked);
            probe.ticked(self);
        }
        probe.enter(Stage::Leaves);
        let root = Arc::make_mut(&mut self.leaves).refresh(Arc::make_mut(&mut self.state));
        Applied {
            height: self.height(),
            tick: self.tick(),
            root,
            outcomes,
            validators: self.state.roster.newest_set().clone(),
            chat: report.chat,
            order: report.order,
            failures: report.failures,
            log: report.log,
            changed: self.leaves.changed().to_vec(),
        }
    }

    /// Enters the turn and applies its acts.
    fn hear(&mut self, turn: &Turn) -> (Vec<Outcome>, Brought) {
        let header = &turn.header;
        assert_eq!(header.sim, self.sim(), "turns of another sim are never decided here");
        assert_eq!(header.engine, ENGINE, "turns of another engine are not applied");
        assert_eq!(header.height, self.height().plus(1), "turns are applied in order");
        let room = self.room();
        let state = Arc::make_mut(&mut self.state);
        state.room = room;
        let Clock { height, seed, .. } = state.clock;
        state.readiness.note(height, &seed, &state.roster, &self.leaves);
        state.begin_turn(header.height, header.time, header.id());
        let touched = state.windows.record_touched(turn);
        state.windows_touched.extend(touched);
        let court = Court::new(&self.programs, &*self.tools.verify, &self.faults, turn);
        let (outcomes, brought) = court.hear(state, turn.body.acts());
        recast(state, &mut self.programs);
        state.roster.close(&self.controls.closing(header));
        state.close_first_logins();
        let ids = turn.body.acts().iter().map(SignedEnvelope::id);
        let mut kept: Vec<_> = ids.zip(outcomes.iter().copied()).collect();
        if let Some(seed) = self.controls.outcomes_hashed_by {
            kept.sort_by_key(|(act, _)| keyed(seed, act.bytes()));
        }
        state.keep_outcomes(kept);
        (outcomes, brought)
    }

    /// The sim's id.
    #[must_use]
    pub fn sim(&self) -> SimId {
        self.state.charter.sim
    }

    /// The last turn that was applied.
    #[must_use]
    pub fn height(&self) -> Height {
        self.state.clock.height
    }

    /// The last tick.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.state.clock.tick
    }

    /// The time that the last turn states; 0 before the first.
    #[must_use]
    pub fn time(&self) -> Millis {
        self.state.clock.time
    }

    /// The root of the state.
    #[must_use]
    pub fn root(&self) -> Root {
        self.leaves.root()
    }

    /// Who votes at a height from 1 to [`SET_LAG`](metatopia_types::limits::SET_LAG) after the last
    /// applied turn.
    #[must_use]
    pub fn validators(&self, height: Height) -> Option<&ValidatorSet> {
        self.state.roster.set(height)
    }

    /// Members, standbys and the sets of the next heights.
    #[must_use]
    pub fn roster(&self) -> &Roster {
        &self.state.roster
    }

    /// The windows of lanes after the last applied turn.
    #[must_use]
    pub fn windows(&self) -> &LaneWindows {
        &self.state.windows
    }

    /// A leaf of the state with its path to the root.
    #[must_use]
    pub fn proof(&self, key: &LeafKey) -> Option<StateProof> {
        self.leaves.proof(key)
    }

    /// The root of the state, with every leaf encoded and hashed anew. It equals [`World::root`],
    /// or this crate is wrong.
    #[must_use]
    pub fn rehash(&self) -> Root {
        let mut state = (*self.state).clone();
        state.touch_all();
        Leaves::of(&mut state).root()
    }

    /// Bytes of leaves hashed since this world was made, for measurements.
    #[must_use]
    pub fn hashed_bytes(&self) -> u64 {
        self.leaves.hashed_bytes()
    }
}

/// Where a hash table that was seeded with `seed` would put this.
fn keyed(seed: u64, bytes: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes()).update(bytes);
    *hasher.finalize().as_bytes()
}

/// The programs follow the scripts that began and ended; those that began are told so.
fn recast(state: &mut State, programs: &mut Programs) {
    let mut begun = BTreeSet::new();
    for (script, package) in core::mem::take(&mut state.recast) {
        programs.follow(script, package);
        match package {
            Some(_) => begun.insert(script),
            None => begun.remove(&script),
        };
    }
    let (raised, index, event) = (state.clock.tick.plus(1), 0, Event::Start);
    for script in begun {
        if programs.listening(EventKind::Start, &[script]).next().is_some() {
            let event = event.clone();
            // The deed that made it took room for this as well.
            state.deliver_anyway(script, Delivery { sender: Sender::Core, raised, index, event });
        }
    }
}

/// What the ticks of one turn brought.
#[derive(Default)]
struct Report {
    chat: Vec<crate::chat::ChatLine>,
    order: Vec<Received>,
    failures: Vec<Failure>,
    log: Vec<LogLine>,
}

impl Report {
    fn add(&mut self, state: &State, ticked: Ticked) {
        let tick = state.clock.tick;
        self.chat.extend(ticked.chat);
        for run in ticked.runs {
            let script = run.script;
            self.order.extend(run.handled.into_iter().map(|delivery| Received {
                tick,
                script,
                sender: delivery.sender,
                from: object_of(state, &delivery.sender, &delivery.event),
                event: delivery.event,
            }));
            let failure = |(kind, report)| Failure { tick, script, kind, report };
            self.failures.extend(run.failures.into_iter().map(failure));
            self.log.extend(run.log.into_iter().map(|text| LogLine { tick, script, text }));
        }
    }
}
