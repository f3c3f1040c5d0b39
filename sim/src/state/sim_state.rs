//! The state of a world: everything that its root commits to, and nothing else but indexes that
//! follow from it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_math::Vec2;
use metatopia_physics::{BodySpec, Motion};
use metatopia_scripting::Package;
use metatopia_types::{
    ActId, ClubId, Digest, HeaderId, Height, LotId, Millis, ObjectId, Outcome, PackageId,
    PublicKey, Roster, ScriptId, SimId, Site, Tick, limits::OUTCOME_TURNS,
};
use serde::{Deserialize, Serialize};

use super::{
    introduction::Introduction,
    object::Object,
    parameters::Parameters,
    pieces::PackagePieces,
    players::{Player, PlayerSession, Since},
    presence::Presence,
    publications::Publications,
};
use crate::{
    acts::{BuildHistory, ChatIndex},
    limits::FIRST_IN_LINE,
    rules::{
        Borders, ByteBudget, Census, FirstLogins, Governance, LandRegister, LaneKey, LaneWindows,
        Lots, Luggage, NameHolders, People, Readiness,
    },
    scripts::{GasIncome, GasPool, QueuedEvent, Script, ScriptChange},
    space::{Bodies, FloorPlan, Land},
    tree::{EngineLeaf, Tracked},
};

/// The payer of a script: the owner of its object, or the sim itself.
pub(crate) type Owner = Option<PublicKey>;

/// The charter of a sim: fixed at genesis, until an agreed act changes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charter {
    /// The digest of the head of the genesis.
    pub sim: SimId,
    /// The name of the sim.
    pub name: String,
    /// The agreed numbers.
    pub parameters: Parameters,
    /// Named lands, each on top of those before it.
    pub lands: Vec<Land>,
    /// The rooms that people see and are told of.
    pub floor_plan: FloorPlan,
    /// What the sim says of itself before anybody enters it.
    pub introduction: Introduction,
    /// Licence of the sim, an SPDX expression.
    pub licence: String,
    /// Licence of what it shows, an SPDX expression.
    pub asset_licence: String,
    /// Where it lies in a world of many sims; none if it lies in none. The world of a land office is the
    /// office itself.
    pub site: Option<Site>,
}

impl Charter {
    /// Says whether the sim is the land office of a world.
    #[must_use]
    pub fn is_office(&self) -> bool {
        self.site.is_some_and(|site| site.world == self.sim)
    }
}

/// The time of a sim: its place in its own history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimClock {
    /// The last turn.
    pub height: Height,
    /// The last tick.
    pub tick: Tick,
    /// The time that the last turn states; 0 before the first.
    pub time: Millis,
    /// R_h: the seed of the last turn's order and randomness.
    pub seed: Digest,
    /// The id of the next object.
    pub next_object: ObjectId,
    /// The id of the next script.
    pub next_script: ScriptId,
    /// The number of the next lot.
    pub next_lot: LotId,
    /// The number of the next club.
    pub next_club: ClubId,
    /// The first script whose zone the next tick looks at.
    pub next_zone: ScriptId,
    /// Steps of physics that failed, and left all bodies where they were. Anything but 0 is a
    /// bug of the engine.
    pub failed_steps: u64,
}

/// The outcomes of one turn, in the order of its acts.
pub(super) type TurnOutcomes = Vec<(ActId, Outcome)>;

/// The state of a world.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) engine: EngineLeaf,
    pub(crate) charter: Charter,
    pub(crate) clock: SimClock,
    pub(crate) governance: Governance,
    /// Roles, bans, mutes, what is frozen, and what was ordered.
    pub(crate) people: People,
    /// Ground that people took.
    pub(crate) lots: Lots,
    pub(crate) roster: Roster,
    /// The price of a first login, and the bases by which turns are judged.
    pub(crate) first_logins: FirstLogins,
    /// The proofs that standbys must show.
    pub(crate) readiness: Readiness,
    pub(crate) players: Tracked<PublicKey, Player>,
    /// The last steps of builders who are logged in.
    pub(crate) histories: Tracked<PublicKey, BuildHistory>,
    pub(crate) windows: LaneWindows,
    pub(crate) windows_touched: BTreeSet<LaneKey>,
    pub(crate) objects: Tracked<ObjectId, Object>,
    pub(crate) bodies: Bodies,
    pub(crate) scripts: Tracked<ScriptId, Script>,
    pub(crate) owners: Tracked<Owner, GasPool>,
    pub(crate) outcomes: BTreeMap<Height, Arc<TurnOutcomes>>,
    pub(crate) chat: ChatIndex,
    /// Who holds which square, if the sim is a land office.
    pub(crate) land: Option<LandRegister>,
    /// The borders to neighbours, with what is under way over them.
    pub(crate) borders: Borders,
    /// What people put away.
    pub(crate) luggage: Luggage,
    pub(crate) packages: Tracked<PackageId, Package>,
    /// What is kept of each package besides its source.
    pub(crate) publications: Publications,
    /// Pieces of packages that are not here yet.
    pub(crate) pieces: PackagePieces,
    /// The packages that came or went, and that the programs do not know of yet.
    pub(crate) package_changes: BTreeSet<PackageId>,
    /// Index: the avatars of those who are present.
    pub(crate) present: BTreeMap<PublicKey, ObjectId>,
    /// Index: who stands in line, who gives up a seat, who is forgotten.
    pub(crate) census: Census,
    /// Index: who holds which name.
    pub(crate) names: NameHolders,
    /// Index: what each player owns, avatars left out.
    pub(crate) owned: BTreeMap<PublicKey, BTreeSet<ObjectId>>,
    /// Index: what was spawned, by who spawned it.
    pub(crate) spawned: BTreeSet<(ObjectId, ObjectId)>,
    /// Index: what was spawned by an object that is gone.
    pub(crate) orphans: BTreeSet<ObjectId>,
    /// Index: what is held, by the avatar of who holds it.
    pub(crate) hands: BTreeSet<(ObjectId, ObjectId)>,
    /// Index: the things that can be pushed, also those in hand, avatars left out.
    pub(crate) movable: BTreeSet<ObjectId>,
    /// Index: the first timer of each script that has any.
    pub(crate) alarms: BTreeSet<(Tick, ScriptId)>,
    /// Index: the scripts that have a zone, or fall back to one.
    pub(crate) zones: BTreeSet<ScriptId>,
    /// Index: the things on which somebody sits, or sat when their scripts were told the last time.
    pub(crate) seats: BTreeSet<ObjectId>,
    /// Index: the scripts with events waiting.
    pub(crate) waiting: BTreeSet<ScriptId>,
    /// What became of scripts, as far as the programs do not know of it yet.
    pub(crate) script_changes: Vec<(ScriptId, ScriptChange)>,
    /// Players who were forgotten in the turn under way, for the basis that it leaves.
    pub(crate) forgotten: Vec<(PublicKey, Since)>,
    /// Players who came over a border in the last turn, or got a key back, for those who keep the standing of players.
    pub(crate) arrived: Vec<PublicKey>,
    /// The bytes by which the state may still grow in this turn. They follow from the leaves after the
    /// turn before.
    pub(crate) byte_budget: ByteBudget,
}

impl State {
    /// Begins the turn with this header: sets the seed of its order and the time that it states, and
    /// applies the rules that follow time.
    pub(crate) fn begin_turn(&mut self, height: Height, time: Millis, header: HeaderId) {
        let mut bytes = [0; 64];
        bytes[..32].copy_from_slice(&self.clock.seed.0);
        bytes[32..].copy_from_slice(header.bytes());
        self.clock.seed = Digest(*blake3::hash(&bytes).as_bytes());
        // Time first: the rules below are about how much of it has passed. The first turn has no turn
        // before it to be later than.
        let passed = if self.clock.height == Height(0) { 0 } else { time.since(self.clock.time) };
        self.governance.pass(passed);
        // The line must be short before somebody in it is appointed: who was away too long is no longer
        // in it.
        self.shorten_line();
        self.end_by_time();
        self.first_logins.pass(self.governance.time);
        if let Some(register) = &mut self.land {
            register.pass(height, self.governance.time);
        }
        let at_rest = self.charter.parameters.first_login_tries;
        self.first_logins.begin(height, header, self.governance.time, at_rest);
        self.appoint();
        self.clock.height = height;
        self.clock.time = time;
        self.arrived.clear();
        // A key that takes the place of another one is a player's from this turn on.
        self.pass_friends();
        self.remove_stale_packages();
        self.pieces.remove_stale(height);
        self.fall_back();
    }

    /// Records who has which standing after the turn under way.
    pub(super) fn close_first_logins(&mut self) {
        let (stewards, forgotten) = (self.stewards(), core::mem::take(&mut self.forgotten));
        let rule = self.charter.parameters.first_login;
        self.first_logins.close(self.clock.height, stewards, rule, forgotten);
    }

    /// Returns those whom the sim needs, and who are never refused for fullness.
    pub(super) fn stewards(&self) -> BTreeSet<PublicKey> {
        let admins = self.governance.admins.iter().chain(&self.governance.temp_admin);
        let servers = self.roster.members().keys().chain(self.roster.standbys().keys());
        let line = self.census.line().take(FIRST_IN_LINE);
        admins.chain(servers).chain(line).copied().collect()
    }

    /// Keeps the outcomes of the turn under way, and forgets old ones.
    pub(crate) fn keep_outcomes(&mut self, outcomes: TurnOutcomes) {
        let height = self.clock.height;
        self.outcomes.insert(height, Arc::new(outcomes));
        self.outcomes.retain(|old, _| old.plus(OUTCOME_TURNS) > height);
    }

    /// Says whether the sim may have another object.
    pub(crate) fn has_object_slot(&self) -> bool {
        let objects = self.objects.len().saturating_add(self.places_kept());
        objects < self.charter.parameters.objects_held()
    }

    /// Puts an object into the world under the next id.
    ///
    /// # Errors
    /// When physics refuses its body; nothing changed then.
    pub(crate) fn spawn(
        &mut self,
        object: Object,
        body: &BodySpec,
    ) -> Result<ObjectId, metatopia_physics::InsertError> {
        let id = self.clock.next_object;
        self.bodies.insert(id, body)?;
        self.clock.next_object = id.plus(1);
        if let Some(player) = object.player {
            self.present.insert(player, id);
        } else {
            if let Some(owner) = object.owner {
                self.own(owner, id);
            }
            if body.motion == Motion::Dynamic {
                self.movable.insert(id);
            }
        }
        let spawner = object.spawner;
        self.objects.insert(id, object);
        self.note_spawned(spawner, id);
        Ok(id)
    }

    /// Notes that a thing moves no more, because its tier computed no number for it.
    pub(super) fn note_frozen(&mut self, id: ObjectId) {
        self.movable.remove(&id);
    }

    /// Ends a player's session; what the player built can be undone no more.
    pub(crate) fn despawn(&mut self, key: &PublicKey) {
        self.remove_avatar(key);
        self.histories.remove(key);
        let player = self.players.get(key).cloned().expect("a player who is in a session is known");
        self.put_player(*key, Player { session: None, ..player });
    }

    /// Takes a player's avatar out of the world, and nothing else: a player who stays logged in can still
    /// undo building, which takes no avatar.
    pub(crate) fn unseat(&mut self, key: &PublicKey) {
        self.remove_avatar(key);
        let player = self.players.get(key).cloned().expect("a player who has a seat is known");
        let session = player.session.clone().map(|session| PlayerSession {
            presence: Presence::Seatless,
            heading: Vec2::ZERO,
            gesture: None,
            ..session
        });
        self.put_player(*key, Player { session, ..player });
        self.bound_seatless();
    }

    /// Takes somebody's avatar out of the world who departed. What she allowed things to do ends.
    pub(super) fn send_away(&mut self, key: &PublicKey, presence: Presence) {
        self.remove_avatar(key);
        let player = self.players.get(key).cloned().expect("a player who departs is known");
        let session = player.session.clone().map(|session| PlayerSession {
            presence,
            heading: Vec2::ZERO,
            gesture: None,
            permits: Vec::new(),
            ..session
        });
        self.put_player(*key, Player { session, ..player });
        self.bound_seatless();
    }

    /// Removes the avatar of a player who has one. What it held is put down where it stood.
    fn remove_avatar(&mut self, key: &PublicKey) {
        if let Some(avatar) = self.present.remove(key) {
            self.empty_hands(avatar);
            self.stand(avatar);
            self.objects.remove(&avatar);
            // The body may only be missing: then it is gone already.
            let _ = self.bodies.remove(avatar);
        }
    }

    /// Puts an event into a script's inbox. Says whether it is there: an event that finds no room is dropped
    /// and counted.
    pub(crate) fn deliver(&mut self, to: ScriptId, queued: QueuedEvent) -> bool {
        let mut budget = self.byte_budget;
        let is_there = self.put(to, queued, &mut budget);
        self.byte_budget = budget;
        is_there
    }

    /// Puts an event into a script's inbox if it finds room, and says whether it did. Where it finds none
    /// nothing changes, because it is offered again.
    pub(crate) fn offer(&mut self, to: ScriptId, queued: QueuedEvent) -> bool {
        let budget = self.byte_budget;
        let script = self.scripts.get(&to);
        let fits = script.is_some_and(|script| script.inbox.check(&queued, budget).is_ok());
        fits && self.deliver(to, queued)
    }

    /// Puts an event into a script's inbox even if the world is full: for an event whose bytes were
    /// reserved, or that has a bound of its own.
    pub(crate) fn deliver_anyway(&mut self, to: ScriptId, queued: QueuedEvent) {
        self.put(to, queued, &mut ByteBudget::UNLIMITED.clone());
    }

    /// Puts the event that a script begins or was upgraded into its inbox.
    pub(crate) fn announce(&mut self, to: ScriptId, queued: QueuedEvent) {
        let script = self.scripts.get_mut(&to).expect("a script that changed in this turn");
        script.inbox.announce(queued);
        self.waiting.insert(to);
    }

    /// Puts an event into a script's inbox, and takes its bytes from the budget. Says whether it is there.
    fn put(&mut self, to: ScriptId, queued: QueuedEvent, budget: &mut ByteBudget) -> bool {
        // An act may raise an event for a script that a later act of the turn takes off its object.
        let Some(script) = self.scripts.get_mut(&to) else {
            return false;
        };
        // A script is suspended in a tick, and its programs know of it after the tick.
        if script.suspended.is_some() || script.inbox.push(queued, budget).is_err() {
            script.dropped = script.dropped.saturating_add(1);
            return false;
        }
        self.waiting.insert(to);
        true
    }

    /// Removes the timers that have run out. Returns them by script, and then by time and name.
    pub(crate) fn due_timers(&mut self, now: Tick) -> Vec<(ScriptId, String)> {
        let due = self.alarms.range(..=(now, ScriptId(u64::MAX)));
        let scripts: BTreeSet<ScriptId> = due.map(|(_, script)| *script).collect();
        let mut fired = Vec::new();
        for script in scripts {
            let found = self.scripts.get(&script).expect("a script with a timer is in the state");
            let timers = found.timers.clone().into_iter();
            let (due, rest): (Vec<_>, Vec<_>) = timers.partition(|(_, at)| *at <= now);
            self.set_timers(script, rest.into_iter().collect());
            let mut due: Vec<(Tick, String)> =
                due.into_iter().map(|(name, at)| (at, name)).collect();
            due.sort();
            fired.extend(due.into_iter().map(|(_, name)| (script, name)));
        }
        fired
    }

    /// Appoints the temp admin, by the rule of the charter.
    pub(crate) fn appoint(&mut self) {
        let first = self.census.line().next().copied();
        self.governance.appoint(self.charter.parameters.admin_days, first);
    }

    /// Sets the timers of a script, and updates the index of alarms.
    pub(crate) fn set_timers(&mut self, id: ScriptId, timers: BTreeMap<String, Tick>) {
        // An object that is deleted names the scripts that end with it, and nothing but the leaves says
        // that each of them is there.
        let Some(script) = self.scripts.get_mut(&id) else {
            return;
        };
        let before = script.alarm();
        script.timers = timers;
        let after = script.alarm();
        if before != after {
            before.map(|tick| self.alarms.remove(&(tick, id)));
            after.map(|tick| self.alarms.insert((tick, id)));
        }
    }

    /// Puts a script that runs again into the index of alarms, if it has a timer.
    pub(crate) fn note_alarm(&mut self, id: ScriptId) {
        let alarm = self.scripts.get(&id).and_then(Script::alarm);
        self.alarms.extend(alarm.map(|tick| (tick, id)));
    }

    /// Marks everything as changed.
    pub(super) fn touch_all(&mut self) {
        self.players.touch_all();
        self.histories.touch_all();
        self.objects.touch_all();
        self.bodies.touch_all();
        self.scripts.touch_all();
        self.owners.touch_all();
        self.packages.touch_all();
        self.publications.records.touch_all();
        self.pieces.all.touch_all();
        if let Some(register) = &mut self.land {
            register.touch_all();
        }
        self.borders.touch_all();
        self.luggage.parcels.touch_all();
        self.people.touch_all();
        self.lots.all.touch_all();
        self.windows_touched = self.windows.lanes().collect();
    }

    /// Builds the indexes of a state that was read from its leaves.
    pub(super) fn index(&mut self) {
        let avatar = |(key, player): (&PublicKey, &Player)| {
            Some((*key, player.session.as_ref()?.presence.avatar()?))
        };
        self.present = self.players.iter().filter_map(avatar).collect();
        self.owned = BTreeMap::new();
        self.movable = BTreeSet::new();
        self.index_spawned();
        self.index_hands();
        self.people.index();
        self.lots.index();
        for (id, object) in self.objects.iter().filter(|(_, object)| object.player.is_none()) {
            if let Some(owner) = object.owner {
                self.owned.entry(owner).or_default().insert(*id);
            }
            if self.motion_of(*id) == Some(Motion::Dynamic) {
                self.movable.insert(*id);
            }
        }
        self.count_players();
        self.index_names();
        self.index_profiles();
        let alarm = |(id, script): (&ScriptId, &Script)| Some((script.alarm()?, *id));
        self.alarms = self.scripts.iter().filter_map(alarm).collect();
        let zoned = self.scripts.iter().filter(|(_, script)| script.zones().next().is_some());
        self.zones = zoned.map(|(id, _)| *id).collect();
        self.index_seats();
        let waiting = self.scripts.iter().filter(|(_, script)| !script.inbox.is_empty());
        self.waiting = waiting.map(|(id, _)| *id).collect();
        self.borders.index();
        let away = self.borders.away.values().flat_map(|away| away.packages.iter().copied());
        let stowed = self.luggage.all().flat_map(|thing| thing.packages.iter().copied());
        let used = self.scripts.iter().flat_map(|(_, script)| script.packages());
        let used = used.chain(away).chain(stowed);
        let imports = self.packages.iter().flat_map(|(_, package)| package.imports());
        let records = self.publications.records.clone();
        self.publications = Publications::new(records, used, imports);
    }

    /// Replaces the charter. The census counts days by its numbers, so it is made anew.
    pub(crate) fn set_charter(&mut self, charter: Charter) {
        self.charter = charter;
        self.count_players();
    }

    /// Returns the income of a script.
    pub(crate) fn script_income(&self) -> GasIncome {
        let gas = &self.charter.parameters.gas;
        GasIncome { refill: gas.script_refill, capacity: gas.script_capacity }
    }

    /// Returns the income of an owner of scripts.
    pub(crate) fn owner_income(&self) -> GasIncome {
        let gas = &self.charter.parameters.gas;
        GasIncome { refill: gas.owner_refill, capacity: gas.owner_capacity }
    }

    /// Returns the income of a payer of scripts: that of an owner, or the part of it that a border has.
    pub(crate) fn payer_income(&self, payer: Owner) -> GasIncome {
        let income = self.owner_income();
        if !payer.is_some_and(|payer| self.borders.all.contains(&SimId(Digest(payer.0)))) {
            return income;
        }
        let percent = u64::from(self.charter.parameters.border_gas);
        // Both are 2^40 at most, and the percentage 1,000: no product reaches 2^64.
        let share = |gas: u64| gas * percent / 100;
        GasIncome { refill: share(income.refill), capacity: share(income.capacity) }
    }

    /// Takes gas from a payer of scripts, at `tick`.
    pub(crate) fn pay(&mut self, payer: Owner, gas: u64, tick: Tick) {
        let income = self.payer_income(payer);
        if !self.owners.contains(&payer) {
            self.owners.insert(payer, GasPool::full(tick, income));
        }
        if let Some(pool) = self.owners.get_mut(&payer) {
            pool.debit(tick, income, gas);
        }
    }

    /// Returns who pays the gas of scripts on this object. What came over a border spends nobody's: all of it
    /// has one pool, by the id of the neighbour, which is nobody's key.
    pub(crate) fn gas_payer(&self, object: ObjectId) -> Owner {
        let guest = self.objects.get(&object).and_then(|object| object.guest);
        guest.map_or_else(|| self.payer(object), |guest| Some(PublicKey(guest.from.0.0)))
    }

    /// Returns the payer of scripts on this object.
    pub(crate) fn payer(&self, object: ObjectId) -> Owner {
        self.objects.get(&object).and_then(|object| object.owner)
    }
}
