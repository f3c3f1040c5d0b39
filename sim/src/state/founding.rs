//! The first state of a world: from its genesis, or from the last state of the sim that it
//! carries on.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_physics::{InsertError, JointId, JointSpec};
use metatopia_scripting::{LinkedPackage, Package};
use metatopia_types::{
    ClubId, Height, LotId, Member, Millis, NodeContact, ObjectId, OfficeFounding, PackageId,
    PublicKey, Roster, ScriptId, SimId, Site, Tick,
};

use super::{
    genesis::{Genesis, GenesisError, ObjectSpec, ScriptSpec},
    object::{Object, ThingSeat},
    parameters::{Parameters, ParametersError},
    pieces::PackagePieces,
    players::Since,
    publications::Publications,
    sim_state::{Charter, SimClock, State},
    tools::{MissingTier, Tools},
    world::World,
};
use crate::{
    acts::ChatIndex,
    limits::SHIPPED_BYTES_MAX,
    rules::{
        Borders, ByteBudget, Census, FirstLogins, Governance, LandRegister, LaneWindows, Lots,
        Luggage, People, Readiness,
    },
    scripts::{GasPool, Script},
    space::Bodies,
    tree::{EngineLeaf, Tracked},
};

/// Returns what each package of a genesis weighs with all that it imports of the others.
fn weights(
    packages: &BTreeMap<PackageId, Package>,
) -> Result<BTreeMap<PackageId, u32>, GenesisError> {
    let (mut weights, mut count) = (BTreeMap::new(), 0_usize);
    for (id, package) in packages {
        let linked = LinkedPackage::new(package, &|id| packages.get(id));
        let linked = linked.map_err(|error| GenesisError::Source { id: *id, error: error.into() });
        let weight = linked?.weight();
        count += weight;
        if count > SHIPPED_BYTES_MAX {
            let what = "bytes of packages with their imports";
            return Err(GenesisError::TooMany { what, count, max: SHIPPED_BYTES_MAX });
        }
        weights.insert(*id, u32::try_from(weight).expect("bounded above"));
    }
    Ok(weights)
}

impl State {
    /// Returns the state at height 0, before any script was told that the world begins.
    pub(crate) fn from_genesis(genesis: &Genesis) -> Result<Self, GenesisError> {
        genesis.check()?;
        let mut state = empty(genesis)?;
        let packages = genesis.unpack()?;
        let weights = weights(&packages)?;
        for (id, package) in packages {
            state.ship_package(package, weights[&id]);
        }
        for (object, spec) in genesis.objects.iter().enumerate() {
            let position = spec.body.pose.position;
            if !state.bodies.bounds().contains(position) {
                return Err(GenesisError::OutOfGround { object, position });
            }
            place_object(&mut state, spec).map_err(|error| GenesisError::Body { object, error })?;
        }
        for (n, spec) in genesis.joints.iter().enumerate() {
            let joined = state.bodies.join(JointId(n as u64 + 1), spec);
            joined.map_err(|error| GenesisError::Joint { joint: n, error })?;
        }
        Ok(state)
    }

    /// Returns the state of a successor before its first turn: what belongs to the place as the parent's
    /// last turn left it, under new servers and new admins.
    ///
    /// Ticks go on, because timers, leases and gas are counted in them, and governance time does,
    /// because players are told apart by it. Heights and time begin anew: lane windows, outcomes and
    /// proofs are of the parent's turns, and no act for the parent can be decided here, as it names
    /// its sim. Founding counts as an admin's login. Objects keep their numbers, and their origins,
    /// which are of the parent.
    ///
    /// # Errors
    /// When the genesis is not one of a successor of that sim.
    pub(super) fn succeed(genesis: &Genesis, parent: &Self) -> Result<Self, GenesisError> {
        let (old, fresh) = (&parent.charter, empty(genesis)?);
        // How long it lives is its own: the parent may have been ended early.
        let ttl_seconds = genesis.parameters.ttl_seconds;
        let parameters = Parameters { ttl_seconds, ..old.parameters.clone() };
        let kept = [
            ("parameters", genesis.parameters == parameters),
            ("licence", genesis.licence == old.licence),
            ("licence of assets", genesis.asset_licence == old.asset_licence),
            ("floor plan", genesis.floor_plan == old.floor_plan),
            ("introduction", genesis.introduction == old.introduction),
            (
                "site",
                fresh.charter.site.map(|site| site.square) == old.site.map(|site| site.square),
            ),
            ("world", fresh.charter.is_office() || genesis.site == old.site),
            ("land office", fresh.charter.is_office() == old.is_office()),
        ];
        if let Some((what, _)) = kept.into_iter().find(|(_, same)| !same) {
            return Err(GenesisError::NotKept(what));
        }
        let land = match (parent.land.clone(), &genesis.office) {
            (Some(register), Some(founding)) => {
                let sims = (old.sim, fresh.charter.sim);
                Some(register.succeed(sims, founding, &genesis.first_validators()?))
            }
            _ => None,
        };
        let time = parent.governance.time;
        let SimClock { height, time: began, seed, .. } = fresh.clock;
        // All that is not named here goes on as it was.
        let mut state = Self {
            engine: fresh.engine,
            charter: Charter { lands: old.lands.clone(), ..fresh.charter },
            clock: SimClock { height, time: began, seed, ..parent.clock },
            governance: Governance { time, founded: time, admin_login: time, ..fresh.governance },
            people: parent.people.succeed(),
            roster: fresh.roster,
            readiness: fresh.readiness,
            windows: fresh.windows,
            windows_touched: fresh.windows_touched,
            outcomes: fresh.outcomes,
            land,
            // Neighbours know the parent's id: people open the borders of a successor anew.
            borders: Borders::default(),
            // Their minute is over.
            pieces: PackagePieces::default(),
            ..parent.clone()
        };
        // What is under way stays with the parent, and its source is no longer kept for it.
        for package in parent.borders.away.values().flat_map(|away| &away.packages) {
            state.publications.release(*package, time);
        }
        // Heights are counted anew, and who was known to the parent is known here from the start.
        let keys: Vec<PublicKey> = state.players.iter().map(|(key, _)| *key).collect();
        for key in keys {
            let player = state.players.get_mut(&key).expect("a player that was just listed");
            let regular = player.since.regular.map(|_| Height(0));
            player.since = Since { player: Height(0), regular };
        }
        state.publications.begin_heights();
        state.note_births(old.sim);
        // The census leaves admins out, and other keys are admins now. The stewards follow from the census,
        // so they come after it. Everything is in another sim now, so every leaf is written again.
        state.count_players();
        state.first_logins =
            FirstLogins::genesis(state.charter.sim, &state.charter.parameters, state.stewards());
        state.touch_all();
        Ok(state)
    }

    /// Notes of everything without a birth that it was born in `sim`, now that the state is another sim's.
    fn note_births(&mut self, sim: SimId) {
        let ids: Vec<ObjectId> = self.objects.iter().map(|(id, _)| *id).collect();
        for id in ids {
            let object = self.objects.get_mut(&id).expect("an object that was just listed");
            object.note_birth(sim, id);
        }
        let builders: Vec<PublicKey> = self.histories.iter().map(|(key, _)| *key).collect();
        for builder in builders {
            let history = self.histories.get_mut(&builder);
            history.expect("a history that was just listed").note_births(sim);
        }
    }
}

impl World {
    /// Returns the things of the sim as a genesis lists them, by the numbers that they have now. Avatars
    /// are no things. Handles in the states of scripts are numbers of this sim.
    #[must_use]
    pub fn specs(&self) -> Vec<(ObjectId, ObjectSpec)> {
        let things = self.state.objects.iter().filter(|(_, object)| object.player.is_none());
        things.map(|(id, object)| (*id, self.state.spec(*id, object))).collect()
    }

    /// Returns the joints of things as a genesis lists them, by the numbers that things have now.
    #[must_use]
    pub fn joints(&self) -> Vec<JointSpec> {
        let joints = self.state.bodies.joints().iter();
        joints.filter(|joint| !joint.is_lost()).map(|joint| *joint.spec()).collect()
    }
}

impl State {
    /// Sets what moves the bodies, by the parameters. It goes on from a state, if there is one.
    pub(super) fn set_tier(
        &mut self,
        tools: &Tools,
        state: Option<&[u8]>,
    ) -> Result<(), MissingTier> {
        let tier = tools.tier(self.charter.parameters.tier, state)?;
        Ok(self.bodies.set_tier(tier)?)
    }

    /// Returns an object as a genesis lists it.
    fn spec(&self, id: ObjectId, object: &Object) -> ObjectSpec {
        let body = self.bodies.body(id).expect("an object has a body");
        let script = |script: &ScriptId| {
            let script = self.scripts.get(script).expect("a script that its object lists");
            ScriptSpec { package: script.package, state: (*script.state).clone() }
        };
        ObjectSpec {
            scripts: object.scripts.iter().map(script).collect(),
            // What is left of a spawner that is gone is about to go.
            spawner: object.spawner.filter(|spawner| self.objects.contains(spawner)),
            ..object.listed(body)
        }
    }
}

/// Returns the clock of a sim before its first turn.
const fn first_clock(sim: SimId) -> SimClock {
    SimClock {
        height: Height(0),
        tick: Tick(0),
        time: Millis(0),
        seed: sim.0,
        next_object: ObjectId(1),
        next_script: ScriptId(1),
        next_lot: LotId(1),
        next_club: ClubId(1),
        next_zone: ScriptId(1),
        failed_steps: 0,
    }
}

/// Returns a state without objects, by the rules of a genesis.
fn empty(genesis: &Genesis) -> Result<State, GenesisError> {
    let sim = genesis.id();
    let member = |contact: &NodeContact| Member { power: 1, contact: contact.clone() };
    let members = genesis.validators.iter().map(|(key, contact)| (*key, member(contact)));
    let own = |founding: &OfficeFounding| Site { world: sim, square: founding.square };
    let set = genesis.first_validators()?;
    let bounds = genesis.parameters.bounds().map_err(ParametersError::from)?;
    let stewards = genesis.admins.iter().chain(genesis.validators.keys()).copied().collect();
    Ok(State {
        engine: EngineLeaf::own(),
        charter: Charter {
            sim,
            name: genesis.name.clone(),
            parameters: genesis.parameters.clone(),
            lands: genesis.lands.clone(),
            floor_plan: genesis.floor_plan.clone(),
            introduction: genesis.introduction.clone(),
            licence: genesis.licence.clone(),
            asset_licence: genesis.asset_licence.clone(),
            site: genesis.site.or(genesis.office.as_ref().map(own)),
        },
        clock: first_clock(sim),
        governance: Governance::new(genesis.admins.clone()),
        people: People::default(),
        lots: Lots::default(),
        roster: Roster::genesis(members.collect())?,
        first_logins: FirstLogins::genesis(sim, &genesis.parameters, stewards),
        readiness: Readiness::default(),
        players: Tracked::default(),
        histories: Tracked::default(),
        windows: LaneWindows::default(),
        windows_touched: BTreeSet::new(),
        objects: Tracked::default(),
        bodies: Bodies::new(bounds, genesis.parameters.gravity),
        scripts: Tracked::default(),
        owners: Tracked::default(),
        outcomes: BTreeMap::new(),
        chat: ChatIndex::default(),
        land: genesis.office.as_ref().map(|office| LandRegister::found(sim, office, &set)),
        borders: Borders::default(),
        luggage: Luggage::default(),
        packages: Tracked::default(),
        publications: Publications::default(),
        pieces: PackagePieces::default(),
        package_changes: BTreeSet::new(),
        present: BTreeMap::new(),
        census: Census::default(),
        names: crate::rules::NameHolders::default(),
        owned: BTreeMap::new(),
        spawned: BTreeSet::new(),
        orphans: BTreeSet::new(),
        hands: BTreeSet::new(),
        movable: BTreeSet::new(),
        alarms: BTreeSet::new(),
        zones: BTreeSet::new(),
        seats: BTreeSet::new(),
        waiting: BTreeSet::new(),
        script_changes: Vec::new(),
        forgotten: Vec::new(),
        arrived: Vec::new(),
        byte_budget: ByteBudget::default(),
    })
}

/// Puts an object of a genesis with its scripts into the state.
fn place_object(state: &mut State, spec: &ObjectSpec) -> Result<(), InsertError> {
    let first = state.clock.next_script;
    let count = spec.scripts.len() as u64;
    let object = Object {
        kind: spec.kind.clone(),
        name: spec.name.clone(),
        owner: spec.owner,
        player: None,
        look: spec.look,
        text: spec.text.clone(),
        scripts: (0..count).map(|n| first.plus(n)).collect(),
        licence: spec.licence,
        author: spec.owner,
        birth: None,
        parent: None,
        travels: false,
        guest: None,
        spawner: spec.spawner,
        held: None,
        seat: spec.seat.map(|at| ThingSeat { at, told: None }),
        changed: None,
    };
    let id = state.spawn(object, &spec.body)?;
    for (n, script) in (0..).zip(&spec.scripts) {
        let gas = GasPool::full(Tick(0), state.script_income());
        state.publications.take(script.package);
        let script = Script::new(id, script.package, Arc::new(script.state.clone()), gas);
        state.scripts.insert(first.plus(n), script);
    }
    state.clock.next_script = first.plus(count);
    Ok(())
}
