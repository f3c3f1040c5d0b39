//! The world: a state, the programs that run in it, and the leaves by which it is hashed.

use std::sync::Arc;

use metatopia_scripting::{CompileError, Event, EventKind};
use metatopia_types::{
    Height, LandGrant, LeafKey, Millis, Root, Roster, SimId, StateProof, Tick, TilePoint,
    ValidatorSet,
};

use super::{
    agreed_ports::MissingPort,
    genesis::{Genesis, GenesisError, Parent},
    sim_state::State,
    tools::Tools,
};
use crate::{
    acts::InjectedPanics,
    limits::WORLD_BYTES_MAX,
    rules::{ByteBudget, Controls, GrantedSim, LandWeek, LaneWindows, reserved_bytes},
    scripts::{Programs, QueuedEvent, Sender},
    tree::{MapShelves, ProvableLeaves, StateLeaves},
};

/// The world state machine. Clones share what neither of them changes.
#[derive(Debug, Clone)]
pub struct World {
    pub(crate) state: Arc<State>,
    pub(crate) programs: Programs,
    pub(crate) leaves: Arc<StateLeaves>,
    pub(super) tools: Tools,
    pub(super) panics: InjectedPanics,
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
        let mut state = State::from_genesis(genesis)?;
        state.set_tier(tools, None)?;
        let mut world = Self::assemble(state, tools)?;
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
        let mut programs = Programs::default();
        for (id, package) in state.packages.iter() {
            let linked = state.link(package).map_err(CompileError::from);
            let handler = linked.and_then(|linked| tools.compile(&linked));
            programs.add(*id, handler.map_err(|error| GenesisError::Source { id: *id, error })?);
        }
        for (id, script) in state.scripts.iter() {
            let runs = script.suspended.is_none();
            programs.follow(*id, runs.then_some(script.package));
        }
        state.package_changes.clear();
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
    pub(super) fn byte_budget(&self) -> ByteBudget {
        ByteBudget::remaining(
            self.leaves.bytes().saturating_add(reserved_bytes(&self.state)),
            // Packages and the tier have bounds of their own, and take nothing from what scripts remember.
            self.bytes_max
                .saturating_add(self.state.publications.bytes())
                .saturating_add(self.state.pieces.bytes())
                .saturating_add(self.leaves.tier_bytes()),
        )
    }

    /// Breaks these rules from now on.
    #[cfg(feature = "controls")]
    pub fn break_rules(&mut self, controls: Controls) {
        self.controls = controls;
        let state = Arc::make_mut(&mut self.state);
        state.windows.open_end = controls.lane_off_by_one;
        state.census.knows_no_stewards = controls.no_reserved_seats;
        state.borders.bug = controls.crossing;
    }

    /// Opens these lanes, and closes all others, so that a test begins with a world that had a crowd.
    #[cfg(feature = "controls")]
    pub fn open_lanes(
        &mut self,
        lanes: std::collections::BTreeMap<crate::rules::LaneKey, crate::rules::Window>,
    ) {
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

    /// Returns a port that the next turn runs and this program lacks: then the turn must not be applied.
    #[must_use]
    pub fn missing_port(&self) -> Option<MissingPort> {
        self.missing_port_up_to(self.height().plus(1))
    }

    /// Returns a port that a turn up to this height runs, as things are, and this program lacks.
    #[must_use]
    pub fn missing_port_up_to(&self, height: Height) -> Option<MissingPort> {
        self.tools.missing_port(&self.state.charter.parameters.ports, height)
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

    /// Returns the grants of a land office, in the order of the plane's quadtree; none in another sim.
    pub fn grants(&self) -> impl Iterator<Item = &LandGrant> {
        let register = self.state.land.iter();
        register.flat_map(|register| register.grants.iter().map(|(_, grant)| grant))
    }

    /// Returns the grant of a land office that holds a point.
    #[must_use]
    pub fn grant_at(&self, point: TilePoint) -> Option<&LandGrant> {
        self.state.land.as_ref()?.grant_at(point)
    }

    /// Returns what a land office keeps of a sim that has a square.
    #[must_use]
    pub fn granted(&self, sim: &SimId) -> Option<&GrantedSim> {
        self.state.land.as_ref()?.sims.get(sim)
    }

    /// Returns what a land office granted in this week of governance time.
    #[must_use]
    pub fn land_week(&self) -> Option<&LandWeek> {
        Some(&self.state.land.as_ref()?.week)
    }

    /// Returns the shelves of a land office, to prove them while the world goes on; nothing in another sim.
    #[must_use]
    pub fn map_shelves(&self) -> Option<MapShelves> {
        self.leaves.map_shelves(self.height())
    }

    /// Returns what the sim is and what was ordered up to the last turn, to prove it while the world goes
    /// on.
    #[must_use]
    pub fn provable_leaves(&self) -> ProvableLeaves {
        self.leaves.provable_leaves(self.height())
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
