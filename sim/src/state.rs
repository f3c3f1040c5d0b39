//! The state of a world: everything that its root commits to, and nothing else but indexes that
//! follow from it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_math::Vec2;
use metatopia_physics::{BodySpec, Region};
use metatopia_scripting::Package;
use metatopia_types::{
    ActId, Digest, HeaderId, Height, Millis, ObjectId, Outcome, PackageId, PublicKey, Roster,
    ScriptId, SimId, Tick, limits::OUTCOME_TURNS,
};
use serde::{Deserialize, Serialize};

use crate::{
    census::Census,
    chat::ChatIndex,
    first_logins::FirstLogins,
    gas::{Income, Pool},
    governance::Governance,
    history::History,
    inbox::Delivery,
    land::Land,
    limits::FIRST_IN_LINE,
    object::Object,
    parameters::Parameters,
    players::{Player, Session, Since},
    readiness::Readiness,
    room::Room,
    script::Script,
    tracked::Tracked,
    windows::{LaneKey, LaneWindows},
};

/// Who pays for a script: the owner of its object, or the sim itself.
pub(crate) type Owner = Option<PublicKey>;

/// What a sim is: fixed at genesis, until an agreed act changes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charter {
    /// The digest of the genesis.
    pub sim: SimId,
    /// What the sim is called.
    pub name: String,
    /// The exact rules it runs by.
    pub engine: u32,
    /// The agreed numbers.
    pub parameters: Parameters,
    /// Named lands, each on top of those before it.
    pub lands: Vec<Land>,
    /// Licence of the sim, an SPDX expression.
    pub licence: String,
    /// Licence of what it shows, an SPDX expression.
    pub asset_licence: String,
}

/// Where the world is in its history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
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
    /// Steps of the region that failed, and left all bodies where they were. Anything but 0 is a
    /// bug of the engine.
    pub failed_steps: u64,
}

/// The outcomes of one turn, in the order of its acts.
pub(crate) type TurnOutcomes = Vec<(ActId, Outcome)>;

/// The state of a world.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) charter: Charter,
    pub(crate) clock: Clock,
    pub(crate) governance: Governance,
    pub(crate) roster: Roster,
    /// What a first login costs, and by what turns are judged.
    pub(crate) first_logins: FirstLogins,
    /// What standbys must prove.
    pub(crate) readiness: Readiness,
    pub(crate) players: Tracked<PublicKey, Player>,
    /// What builders who are logged in did of late.
    pub(crate) histories: Tracked<PublicKey, History>,
    pub(crate) windows: LaneWindows,
    pub(crate) windows_touched: BTreeSet<LaneKey>,
    pub(crate) objects: Tracked<ObjectId, Object>,
    pub(crate) region: Region,
    pub(crate) scripts: Tracked<ScriptId, Script>,
    pub(crate) owners: Tracked<Owner, Pool>,
    pub(crate) outcomes: BTreeMap<Height, Arc<TurnOutcomes>>,
    pub(crate) chat: ChatIndex,
    pub(crate) packages: Arc<BTreeMap<PackageId, Package>>,
    /// Index: the avatars of those who are present.
    pub(crate) present: BTreeMap<PublicKey, ObjectId>,
    /// Index: who stands in line, who gives up a seat, who is forgotten.
    pub(crate) census: Census,
    /// Index: what each player owns, avatars left out.
    pub(crate) owned: BTreeMap<PublicKey, BTreeSet<ObjectId>>,
    /// Index: the first timer of each script that has any.
    pub(crate) alarms: BTreeSet<(Tick, ScriptId)>,
    /// Index: the scripts with events waiting.
    pub(crate) waiting: BTreeSet<ScriptId>,
    /// Scripts that began, with what they run, or ended since the programs followed.
    pub(crate) recast: Vec<(ScriptId, Option<PackageId>)>,
    /// Players who were forgotten in the turn under way, for the basis that it leaves.
    pub(crate) forgotten: Vec<(PublicKey, Since)>,
    /// What is left of the turn's room: it follows from the leaves after the turn before.
    pub(crate) room: Room,
}

impl State {
    /// Enters the turn with this header: the seed of its order, the time it states.
    pub(crate) fn begin_turn(&mut self, height: Height, time: Millis, header: HeaderId) {
        let mut bytes = [0; 64];
        bytes[..32].copy_from_slice(&self.clock.seed.0);
        bytes[32..].copy_from_slice(header.bytes());
        self.clock.seed = Digest(*blake3::hash(&bytes).as_bytes());
        // The first turn has no turn before it to be later than.
        let passed = if self.clock.height == Height(0) { 0 } else { time.since(self.clock.time) };
        self.governance.pass(passed);
        self.shorten_line();
        self.first_logins.pass(self.governance.time);
        self.first_logins.begin(height, header);
        self.appoint();
        self.clock.height = height;
        self.clock.time = time;
    }

    /// Takes note of who has which standing after the turn under way.
    pub(crate) fn close_first_logins(&mut self) {
        let (stewards, forgotten) = (self.stewards(), core::mem::take(&mut self.forgotten));
        self.first_logins.close(self.clock.height, stewards, forgotten);
    }

    /// Those whom the sim needs, and who are never refused for fullness.
    pub(crate) fn stewards(&self) -> BTreeSet<PublicKey> {
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

    /// Is there room for another object?
    pub(crate) fn has_room(&self) -> bool {
        self.objects.len() < self.charter.parameters.objects_max as usize
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
        self.region.insert(id, body)?;
        self.clock.next_object = id.plus(1);
        if let Some(player) = object.player {
            self.present.insert(player, id);
        } else if let Some(owner) = object.owner {
            self.own(owner, id);
        }
        self.objects.insert(id, object);
        Ok(id)
    }

    /// Ends a player's session; what the player did can be taken back no more.
    pub(crate) fn despawn(&mut self, key: &PublicKey) {
        self.remove_avatar(key);
        self.histories.remove(key);
        if let Some(player) = self.players.get(key).cloned() {
            self.put_player(*key, Player { session: None, ..player });
        }
    }

    /// Takes a player's avatar out of the world, and nothing else: who stays logged in can still take
    /// back what was built, which takes no avatar.
    pub(crate) fn unseat(&mut self, key: &PublicKey) {
        self.remove_avatar(key);
        let Some(player) = self.players.get(key).cloned() else { return };
        let session = player.session.clone().map(|session| Session {
            avatar: None,
            heading: Vec2::ZERO,
            gesture: None,
            ..session
        });
        self.put_player(*key, Player { session, ..player });
        self.bound_seatless();
    }

    fn remove_avatar(&mut self, key: &PublicKey) {
        if let Some(avatar) = self.present.remove(key) {
            self.objects.remove(&avatar);
            // A body that is not there is gone, which is what is wanted.
            let _ = self.region.remove(avatar);
        }
    }

    /// Puts an event into a script's inbox; one that finds no room is dropped and counted.
    pub(crate) fn deliver(&mut self, to: ScriptId, delivery: Delivery) {
        self.room = self.put(to, delivery, self.room);
    }

    /// As [`State::deliver`], whatever room the world has: for an event that had its room before, or
    /// has a bound of its own.
    pub(crate) fn deliver_anyway(&mut self, to: ScriptId, delivery: Delivery) {
        self.put(to, delivery, Room::ENDLESS);
    }

    /// Gives what is left of the room.
    fn put(&mut self, to: ScriptId, delivery: Delivery, mut room: Room) -> Room {
        let Some(script) = self.scripts.get_mut(&to) else {
            return room;
        };
        match script.inbox.push(delivery, &mut room) {
            Ok(()) => {
                self.waiting.insert(to);
            }
            Err(_) => script.dropped = script.dropped.saturating_add(1),
        }
        room
    }

    /// Takes the timers that have run out, by script and then by time and name.
    pub(crate) fn due_timers(&mut self, now: Tick) -> Vec<(ScriptId, String)> {
        let due = self.alarms.range(..=(now, ScriptId(u64::MAX)));
        let scripts: BTreeSet<ScriptId> = due.map(|(_, script)| *script).collect();
        let mut fired = Vec::new();
        for script in scripts {
            let Some(timers) = self.scripts.get(&script).map(|script| &script.timers) else {
                continue;
            };
            let (due, rest): (Vec<_>, Vec<_>) =
                timers.clone().into_iter().partition(|(_, at)| *at <= now);
            self.set_timers(script, rest.into_iter().collect());
            let mut due: Vec<(Tick, String)> =
                due.into_iter().map(|(name, at)| (at, name)).collect();
            due.sort();
            fired.extend(due.into_iter().map(|(_, name)| (script, name)));
        }
        fired
    }

    /// Evaluates the rule of the temp admin.
    pub(crate) fn appoint(&mut self) {
        let first = self.census.line().next().copied();
        self.governance.appoint(self.charter.parameters.admin_days, first);
    }

    /// Follows a change of a script's timers in the index of alarms.
    pub(crate) fn set_timers(&mut self, id: ScriptId, timers: BTreeMap<String, Tick>) {
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

    /// Counts everything as changed.
    pub(crate) fn touch_all(&mut self) {
        self.players.touch_all();
        self.histories.touch_all();
        self.objects.touch_all();
        self.region.touch_all();
        self.scripts.touch_all();
        self.owners.touch_all();
        self.windows_touched = self.windows.lanes().collect();
    }

    /// Makes the indexes of a state that was put together from its leaves.
    pub(crate) fn index(&mut self) {
        let avatar =
            |(key, player): (&PublicKey, &Player)| Some((*key, player.session.as_ref()?.avatar?));
        self.present = self.players.iter().filter_map(avatar).collect();
        self.owned = BTreeMap::new();
        for (id, object) in self.objects.iter().filter(|(_, object)| object.player.is_none()) {
            if let Some(owner) = object.owner {
                self.owned.entry(owner).or_default().insert(*id);
            }
        }
        self.count_players();
        let alarm = |(id, script): (&ScriptId, &Script)| Some((script.alarm()?, *id));
        self.alarms = self.scripts.iter().filter_map(alarm).collect();
        let waiting = self.scripts.iter().filter(|(_, script)| !script.inbox.is_empty());
        self.waiting = waiting.map(|(id, _)| *id).collect();
    }

    pub(crate) fn script_income(&self) -> Income {
        let gas = &self.charter.parameters.gas;
        Income { refill: gas.script_refill, capacity: gas.script_capacity }
    }

    pub(crate) fn owner_income(&self) -> Income {
        let gas = &self.charter.parameters.gas;
        Income { refill: gas.owner_refill, capacity: gas.owner_capacity }
    }

    /// Takes gas from who pays for scripts, at `tick`.
    pub(crate) fn pay(&mut self, payer: Owner, gas: u64, tick: Tick) {
        let income = self.owner_income();
        if !self.owners.contains(&payer) {
            self.owners.insert(payer, Pool::full(tick, income));
        }
        if let Some(pool) = self.owners.get_mut(&payer) {
            pool.debit(tick, income, gas);
        }
    }

    /// Who pays for a script on this object.
    pub(crate) fn payer(&self, object: ObjectId) -> Owner {
        self.objects.get(&object).and_then(|object| object.owner)
    }
}
