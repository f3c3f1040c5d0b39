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

use super::{
    applied::{Applied, LogLine, Received, ScriptFailure, object_of},
    genesis::{Genesis, GenesisError, Parent},
    sim_state::{SimClock, State},
    tick::{ScriptRuntime, TickResult, tick},
    watch::{Probe, Stage, Watch},
};
use crate::{
    ENGINE,
    acts::{ActEffects, ActExecutor, InjectedPanics},
    limits::WORLD_BYTES_MAX,
    rules::{ByteBudget, Controls, LaneWindows, reserved_bytes},
    scripts::{CheckedPort, ForkJoin, Programs, QueuedEvent, Sender},
    tree::StateLeaves,
};

/// The tools that a world uses, but does not contain.
#[derive(Clone)]
pub struct Tools {
    /// Checks signatures in evidence.
    pub verify: Arc<dyn Verify>,
    /// Handlers that replace the compiled source of packages. Every server of a sim must use the
    /// same ones.
    pub ports: BTreeMap<PackageId, Arc<dyn Handler>>,
}

impl Tools {
    /// Returns tools without ports.
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
    pub(crate) leaves: Arc<StateLeaves>,
    pub(super) tools: Tools,
    panics: InjectedPanics,
    /// The bound of the state's length: [`WORLD_BYTES_MAX`], or less in a test.
    bytes_max: u64,
    pub(crate) controls: Controls,
}

impl World {
    /// Returns the world at height 0.
    ///
    /// # Errors
    /// The rule that the genesis breaks; [`GenesisError::NeedsState`] for a successor, see
    /// [`World::succeed`].
    pub fn genesis(genesis: &Genesis, tools: &Tools) -> Result<Self, GenesisError> {
        if let Some(Parent { sim, height, .. }) = &genesis.parent {
            return Err(GenesisError::NeedsState { parent: *sim, height: *height });
        }
        let mut world = Self::assemble(State::from_genesis(genesis)?, tools)?;
        let bytes = world.state_bytes();
        if bytes > WORLD_BYTES_MAX {
            return Err(GenesisError::TooLarge { bytes });
        }
        world.start_scripts();
        Ok(world)
    }

    /// Returns the world at height 0 of a successor, from the last state of the sim that it carries
    /// on. All that belongs to the place is as it was; servers and admins are those of the genesis.
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

    /// Returns a world of this state, with its programs compiled and its leaves hashed.
    pub(crate) fn assemble(mut state: State, tools: &Tools) -> Result<Self, GenesisError> {
        let mut handlers = BTreeMap::new();
        for (id, package) in state.packages.iter() {
            let handler: Arc<dyn Handler> = match tools.ports.get(id) {
                Some(port) => Arc::new(CheckedPort(Arc::clone(port))),
                None => Arc::new(
                    RhaiHandler::new(package)
                        .map_err(|error| GenesisError::Source { id: *id, error })?,
                ),
            };
            handlers.insert(*id, handler);
        }
        let scripts = state.scripts.iter().map(|(id, script)| (*id, script.package));
        let programs = Programs::new(handlers, scripts);
        let leaves = Arc::new(StateLeaves::of(&mut state));
        let (state, tools) = (Arc::new(state), tools.clone());
        Ok(Self {
            state,
            programs,
            leaves,
            tools,
            panics: InjectedPanics::default(),
            bytes_max: WORLD_BYTES_MAX,
            controls: Controls::default(),
        })
    }

    /// Tells every script that handles starts that the world begins.
    fn start_scripts(&mut self) {
        let budget = self.byte_budget();
        let state = Arc::make_mut(&mut self.state);
        state.byte_budget = budget;
        for script in self.programs.subscribers(EventKind::Start) {
            let delivery = QueuedEvent {
                sender: Sender::Core,
                raised: Tick(0),
                index: 0,
                event: Event::Start,
            };
            state.deliver(script, delivery);
        }
        Arc::make_mut(&mut self.leaves).refresh(state);
    }

    /// Makes these acts panic when they are applied.
    #[doc(hidden)]
    pub fn inject(&mut self, panics: InjectedPanics) {
        self.panics = panics;
    }

    /// Bounds the length of the state below [`WORLD_BYTES_MAX`], so that a test can fill a small world.
    #[doc(hidden)]
    pub fn limit_bytes(&mut self, bytes_max: u64) {
        self.bytes_max = bytes_max;
    }

    /// Returns by how many bytes the state may grow: its bound less its length, and less what timers
    /// reserved.
    fn byte_budget(&self) -> ByteBudget {
        ByteBudget::remaining(
            self.leaves.bytes().saturating_add(reserved_bytes(&self.state)),
            self.bytes_max,
        )
    }

    /// Breaks these rules from now on.
    #[cfg(feature = "controls")]
    pub fn break_rules(&mut self, controls: Controls) {
        self.controls = controls;
        let state = Arc::make_mut(&mut self.state);
        state.windows.open_end = controls.lane_off_by_one;
        state.census.knows_no_stewards = controls.no_reserved_seats;
    }

    /// Opens these lanes, and closes all others, so that a test begins with a world that had a crowd.
    #[cfg(feature = "controls")]
    pub fn open_lanes(&mut self, lanes: BTreeMap<crate::rules::LaneKey, crate::rules::Window>) {
        let state = Arc::make_mut(&mut self.state);
        state.windows_touched.extend(state.windows.lanes().chain(lanes.keys().copied()));
        state.windows = LaneWindows::new(state.clock.height, lanes);
        Arc::make_mut(&mut self.leaves).refresh(state);
    }

    /// Returns the tools that the world uses.
    #[must_use]
    pub const fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Applies the next decided turn. It always succeeds: an act, a call of a script or a step of
    /// physics that fails has changed nothing, and the same on every server. Whether the turn may
    /// be decided at all is judged before, by [`judge_turn`](crate::judge_turn).
    ///
    /// # Panics
    /// When the turn is not the next one of this sim and engine: then the turn does not belong to this
    /// state, and a server that went on would be wrong.
    pub fn apply(&mut self, turn: &Turn, exec: &dyn ForkJoin) -> Applied {
        self.apply_watched(turn, exec, &mut ())
    }

    /// Applies the next decided turn as [`World::apply`] does, and tells `watch` when each stage begins.
    /// If `watch` asks for it, it also gets the root after each stage, or the world after each tick.
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
        // All acts come before the first tick: the ticks move bodies, and an act is decided over the
        // state that the turn before left.
        probe.enter(Stage::Acts);
        let (outcomes, effects) = self.execute_acts(turn);
        probe.leave(Stage::Acts, self.tick(), &self.state);
        let mut report = TurnReport { chat: effects.chat, ..TurnReport::default() };
        // The first tick delivers the events of the acts. Gas that a tick does not use is for the
        // next ticks of this turn, and for no other turn.
        let (mut events, mut gas_left) = (effects.events, 0);
        for _ in 0..self.state.charter.parameters.ticks_per_turn {
            let events = core::mem::take(&mut events);
            let runtime = ScriptRuntime { programs: &self.programs, exec, controls: self.controls };
            let result = tick(&mut self.state, runtime, &mut probe, events, &mut gas_left);
            report.add(&self.state, result);
            probe.ticked(self);
        }
        // The leaves come last, and once: what several ticks changed is encoded and hashed once.
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

    /// Begins the turn and applies its acts.
    fn execute_acts(&mut self, turn: &Turn) -> (Vec<Outcome>, ActEffects) {
        let header = &turn.header;
        assert_eq!(header.sim, self.sim(), "turns of another sim are never decided here");
        assert_eq!(header.engine, ENGINE, "turns of another engine are not applied");
        assert_eq!(header.height, self.height().plus(1), "turns are applied in order");
        // The budget is that of the leaves after the turn before. It must be read before anything
        // changes: a server that restored that state computes the same number.
        let budget = self.byte_budget();
        let state = Arc::make_mut(&mut self.state);
        state.byte_budget = budget;
        // What standbys prove is about the state before this turn, so its leaves, its height and its
        // seed are used before `begin_turn` replaces them.
        let SimClock { height, seed, .. } = state.clock;
        state.readiness.note(height, &seed, &state.roster, &self.leaves);
        state.begin_turn(header.height, header.time, header.id());
        // A lane window moves by every act of the turn, even by one that is refused below: a decided
        // act must never be decided again.
        let touched = state.windows.record_touched(turn);
        state.windows_touched.extend(touched);
        let executor = ActExecutor::new(&self.programs, &*self.tools.verify, &self.panics, turn);
        let (outcomes, effects) = executor.execute(state, turn.body.acts());
        // Acts are decided with the programs as they were; the ticks run them as they are now.
        sync_programs(state, &mut self.programs);
        // The roster closes the turn after its acts, so that the set it fixes holds their changes. The
        // stewards, by whom later turns are judged, follow from that roster.
        state.roster.close(&self.controls.closing(header));
        state.close_first_logins();
        let ids = turn.body.acts().iter().map(SignedEnvelope::id);
        let mut kept: Vec<_> = ids.zip(outcomes.iter().copied()).collect();
        if let Some(seed) = self.controls.outcomes_hashed_by {
            kept.sort_by_key(|(act, _)| hash_table_key(seed, act.bytes()));
        }
        state.keep_outcomes(kept);
        (outcomes, effects)
    }

    /// Returns the sim's id.
    #[must_use]
    pub fn sim(&self) -> SimId {
        self.state.charter.sim
    }

    /// Returns the height of the last turn that was applied.
    #[must_use]
    pub fn height(&self) -> Height {
        self.state.clock.height
    }

    /// Returns the last tick.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.state.clock.tick
    }

    /// Returns the time that the last turn states; 0 before the first.
    #[must_use]
    pub fn time(&self) -> Millis {
        self.state.clock.time
    }

    /// Returns the root of the state.
    #[must_use]
    pub fn root(&self) -> Root {
        self.leaves.root()
    }

    /// Returns who votes at a height from 1 to [`SET_LAG`](metatopia_types::limits::SET_LAG) after the last
    /// applied turn.
    #[must_use]
    pub fn validators(&self, height: Height) -> Option<&ValidatorSet> {
        self.state.roster.set(height)
    }

    /// Returns the members, the standbys and the validator sets of the next heights.
    #[must_use]
    pub fn roster(&self) -> &Roster {
        &self.state.roster
    }

    /// Returns the windows of lanes after the last applied turn.
    #[must_use]
    pub fn windows(&self) -> &LaneWindows {
        &self.state.windows
    }

    /// Returns a leaf of the state with its path to the root.
    #[must_use]
    pub fn proof(&self, key: &LeafKey) -> Option<StateProof> {
        self.leaves.proof(key)
    }

    /// Returns the root of the state, with every leaf encoded and hashed anew. It equals
    /// [`World::root`], or this crate is wrong.
    #[must_use]
    pub fn rehash(&self) -> Root {
        let mut state = (*self.state).clone();
        state.touch_all();
        StateLeaves::of(&mut state).root()
    }

    /// Returns how many bytes of leaves were hashed since this world was made, for measurements.
    #[must_use]
    pub fn hashed_bytes(&self) -> u64 {
        self.leaves.hashed_bytes()
    }
}

/// Returns the place that a hash table seeded with `seed` would give these bytes.
fn hash_table_key(seed: u64, bytes: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes()).update(bytes);
    *hasher.finalize().as_bytes()
}

/// Registers the scripts that began with the programs, and removes those that ended. A script that began
/// gets a start event.
fn sync_programs(state: &mut State, programs: &mut Programs) {
    // In the order of the changes: a script that ended and began again in one turn must start.
    let mut begun = BTreeSet::new();
    for (script, package) in core::mem::take(&mut state.script_changes) {
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
            // The building step that put the script on its object took bytes for this event too.
            state
                .deliver_anyway(script, QueuedEvent { sender: Sender::Core, raised, index, event });
        }
    }
}

/// What the ticks of one turn gave, besides changes of the state.
#[derive(Default)]
struct TurnReport {
    chat: Vec<crate::acts::SpokenLine>,
    order: Vec<Received>,
    failures: Vec<ScriptFailure>,
    log: Vec<LogLine>,
}

impl TurnReport {
    /// Adds the results of a tick, after which the state is `state`.
    fn add(&mut self, state: &State, result: TickResult) {
        let tick = state.clock.tick;
        self.chat.extend(result.chat);
        for run in result.runs {
            let script = run.script;
            self.order.extend(run.handled.into_iter().map(|delivery| Received {
                tick,
                script,
                sender: delivery.sender,
                from: object_of(state, &delivery.sender, &delivery.event),
                event: delivery.event,
            }));
            let failure = |(kind, report)| ScriptFailure { tick, script, kind, report };
            self.failures.extend(run.failures.into_iter().map(failure));
            self.log.extend(run.log.into_iter().map(|text| LogLine { tick, script, text }));
        }
    }
}
