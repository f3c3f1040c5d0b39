//! Things that arrive over a border: what is asked of them, and how they are put here.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, InsertError, Motion};
use metatopia_scripting::{
    ScriptState, Value,
    limits::{SEAT_REACH, SIGN_BYTES_MAX, STATE_BYTES_MAX, TOPIC_BYTES_MAX},
};
use metatopia_types::{
    BorderGuest, Companions, ObjectId, Origin, PackageId, PublicKey, SimId, Tick, TravelRefusal,
    TravellingJoint, TravellingScript, TravellingThing, is_line,
    limits::{MECHANISM_JOINTS_MAX, MECHANISM_THINGS_MAX, OBJECT_NUMBERS_END},
    wire,
};

use super::{
    object::{AVATAR, Object, ThingSeat},
    players::is_name,
    sim_state::State,
};
use crate::{
    acts::QuotaUse,
    limits::{
        BORDER_BAND_METRES, BORDER_COMPOUNDS_MAX, MECHANISM_REACH_METRES, SCRIPTS_PER_OBJECT_MAX,
        TIMER_BYTES_MAX, TIMERS_MAX,
    },
    scripts::{GasPool, JoiningError, Script, ScriptChange},
    space::BorderWay,
};

/// From which neighbour things come, and who brings them, if anybody does.
pub(super) type ThingsFrom<'a> = (SimId, Option<&'a PublicKey>);

/// A thing that may come in.
pub(super) struct ReadyThing {
    pub(super) body: BodySpec,
    pub(super) states: Vec<ScriptState>,
    /// The bytes that count of it.
    bytes: usize,
    /// The share against which it counts; none if it counts against its owner's.
    guest: Option<BorderGuest>,
}

/// What the things before one in the same parcel will take up.
#[derive(Default)]
pub(super) struct TakenRoom {
    things: usize,
    compounds: usize,
    /// What counts of them against the border's share.
    shared: usize,
    shared_compounds: usize,
    bytes: u64,
    /// What counts of them against the quotas of who brings them.
    own: QuotaUse,
    /// What is left of the bytes by which the state may grow.
    budget: usize,
}

impl State {
    /// Takes a thing in with what is joined to it: puts it where it would have rolled, and the rest around it. `bytes`
    /// is the length of their parcel.
    pub(super) fn take_mechanism(
        &mut self,
        neighbour: SimId,
        (main, companions): (&TravellingThing, &Companions),
        bytes: usize,
        (way, until): (&BorderWay, metatopia_types::Millis),
    ) -> Result<(), TravelRefusal> {
        let things: Vec<&TravellingThing> =
            core::iter::once(main).chain(&companions.things).collect();
        let others: usize = companions.things.iter().map(wire::length).sum();
        let mut bytes = Some(bytes.saturating_sub(others));
        let bytes_of =
            |thing: &TravellingThing| bytes.take().unwrap_or_else(|| wire::length(thing));
        let first = self.clock.next_object;
        let from = (neighbour, None);
        let ready = self.check_things((from, first), &things, companions, bytes_of)?;
        if !self.come_over(way, &things) {
            return Err(TravelRefusal::BadParcel);
        }
        let ahead = self.way_ahead(until, main.velocity, main.waited);
        let from = (main.position, main.velocity);
        let place = self.arrival(way, from, ahead, ready[0].body.shape.reach());
        let places = self.places_around(&things, place);
        self.check_room(way, &places, &ready)?;
        self.insert_all(&things, &ready, &places, (&companions.joints, 0))?;
        self.begin_scripts(&things, ready);
        Ok(())
    }

    /// Checks that joined things that come out of a portal overlap nothing: however long all of it is, nobody is
    /// pushed who stands away from the portal. The first of them is looked at too, because where the rest would
    /// reach past an edge it stands further in than its place was looked for. At a line all of it is at the line.
    pub(super) fn check_room(
        &self,
        way: &BorderWay,
        places: &[Vec2],
        ready: &[ReadyThing],
    ) -> Result<(), TravelRefusal> {
        let is_free =
            |(place, ready): (&Vec2, &ReadyThing)| self.is_free(*place, ready.body.shape.reach());
        let is_looked_at = way.portal().is_some() && places.len() > 1;
        let has_room = !is_looked_at || places.iter().zip(ready).all(is_free);
        if has_room { Ok(()) } else { Err(TravelRefusal::Full) }
    }

    /// Says whether the joined things of a parcel may have gone this way: over a line, one of them is there, and the
    /// rest of them there or behind it. Where in the neighbour a portal lies is nothing to this sim.
    pub(super) fn come_over(&self, way: &BorderWay, things: &[&TravellingThing]) -> bool {
        let Some(line) = way.line() else { return true };
        let ground = self.charter.parameters.ground;
        let places = || things.iter().map(|thing| line.place_here(thing.position));
        let is_there = |place: Vec2| line.is_near(place, Fx::from_int(2 * BORDER_BAND_METRES));
        let is_behind = |place: Vec2| ground.nearest(place) != place;
        places().any(is_there) && places().all(|place| is_there(place) || is_behind(place))
    }

    /// Returns where joined things of a parcel stand if the first of them stands at a place. What is joined is moved
    /// until all of it is on this sim's ground.
    pub(super) fn places_around(&self, things: &[&TravellingThing], first: Vec2) -> Vec<Vec2> {
        let ground = self.charter.parameters.ground;
        let from = things[0].position;
        let place =
            |thing: &&TravellingThing| first.saturating_add(thing.position.saturating_sub(from));
        if things.len() == 1 {
            return vec![first];
        }
        let way = self.way_inside(things.iter().map(place));
        let inside = |thing| ground.nearest(place(thing).saturating_add(way));
        things.iter().map(inside).collect()
    }

    /// Checks all that speaks against the things of a parcel, which get the numbers from `first` on. What its owner
    /// brings herself counts against her quotas, as far as they have room.
    pub(super) fn check_things(
        &self,
        (from, first): (ThingsFrom<'_>, ObjectId),
        things: &[&TravellingThing],
        companions: &Companions,
        mut bytes_of: impl FnMut(&TravellingThing) -> usize,
    ) -> Result<Vec<ReadyThing>, TravelRefusal> {
        let is_double = |at: usize| things[..at].iter().any(|one| one.origin == things[at].origin);
        let joined = &things[things.len() - companions.things.len()..];
        // What others are joined to is the thing before them.
        let main = things.len().checked_sub(companions.things.len() + 1).map(|at| things[at]);
        let is_far = |thing: &&TravellingThing| {
            main.is_none_or(|main| {
                let away = thing.position.distance(main.position);
                away > Fx::from_int(MECHANISM_REACH_METRES)
            })
        };
        let is_large = companions.things.len() >= MECHANISM_THINGS_MAX
            || companions.joints.len() > MECHANISM_JOINTS_MAX;
        if is_large || (0..things.len()).any(is_double) || joined.iter().any(is_far) {
            return Err(TravelRefusal::BadParcel);
        }
        let numbers: Vec<(ObjectId, ObjectId)> = things
            .iter()
            .zip(first.0..)
            .map(|(thing, number)| (thing.handle, ObjectId(number)))
            .collect();
        let mut room = TakenRoom::default();
        let check = |thing: &&TravellingThing| {
            self.check_thing((from, &numbers), thing, bytes_of(thing), &mut room)
        };
        things.iter().map(check).collect()
    }

    /// Puts things of a parcel at their places, and joins them: all of them, or nothing. Joints number the things
    /// from that at `joined` on.
    pub(super) fn insert_all(
        &mut self,
        things: &[&TravellingThing],
        ready: &[ReadyThing],
        places: &[Vec2],
        (joints, joined): (&[TravellingJoint], usize),
    ) -> Result<(), TravelRefusal> {
        assert_eq!((things.len(), things.len()), (ready.len(), places.len()), "each has its place");
        let mut ids = Vec::new();
        let mut put = |state: &mut Self| {
            for ((thing, ready), place) in things.iter().zip(ready).zip(places) {
                let id = state.clock.next_object.plus(ids.len() as u64);
                let mut body = ready.body.clone();
                body.pose.position = *place;
                let object = state.guest_of(thing, id, ready.guest);
                state.insert_thing(id, object, &body).map_err(|error| match error {
                    InsertError::Full(_) | InsertError::Occupied(_) => TravelRefusal::Full,
                    InsertError::Shape(_) | InsertError::Field(_) => TravelRefusal::BadParcel,
                })?;
                ids.push(id);
            }
            let specs = Self::joints_of_parcel(joints, &ids[joined..]);
            for spec in specs.ok_or(TravelRefusal::BadParcel)? {
                state.check_joint(&spec).map_err(|error| match error {
                    JoiningError::Full | JoiningError::Share | JoiningError::Held(_) => {
                        TravelRefusal::Full
                    }
                    _ => TravelRefusal::BadParcel,
                })?;
                state.add_joint(&spec).expect("it was checked just now");
            }
            Ok(())
        };
        if let Err(why) = put(self) {
            ids.into_iter().rev().for_each(|id| drop(self.delete_object(id)));
            return Err(why);
        }
        self.clock.next_object = self.clock.next_object.plus(ids.len() as u64);
        Ok(())
    }

    /// Puts the scripts of the things that were inserted last onto them.
    pub(super) fn begin_scripts(&mut self, things: &[&TravellingThing], ready: Vec<ReadyThing>) {
        let mut id = ObjectId(self.clock.next_object.0 - things.len() as u64);
        for (thing, ready) in things.iter().zip(ready) {
            self.byte_budget.take(room_for(thing, ready.bytes));
            self.insert_scripts(id, &thing.scripts, ready.states, ScriptChange::Arrives);
            id = id.plus(1);
        }
    }

    /// Returns the object of a thing that comes, as a guest or as its owner's.
    pub(super) fn guest_of(
        &self,
        thing: &TravellingThing,
        id: ObjectId,
        guest: Option<BorderGuest>,
    ) -> Object {
        Object { guest, ..self.object_of(thing, id) }
    }

    /// Checks all that speaks against a thing, wherever it would stand, and notes what it will take up. `numbers`
    /// are those of all things of its parcel, where they come from and here.
    fn check_thing(
        &self,
        ((neighbour, by), numbers): (ThingsFrom<'_>, &[(ObjectId, ObjectId)]),
        thing: &TravellingThing,
        bytes: usize,
        room: &mut TakenRoom,
    ) -> Result<ReadyThing, TravelRefusal> {
        let rules = &self.charter.parameters;
        let border = self.borders.all.get(&neighbour).ok_or(TravelRefusal::Closed)?;
        if border.validators.len() < rules.things_from_servers as usize {
            return Err(TravelRefusal::FewServers);
        }
        let body = self.body_of(thing).ok_or(TravelRefusal::BadParcel)?;
        let states = Self::states_of(thing, Some).ok_or(TravelRefusal::BadParcel)?;
        let (states, bytes) = renamed_states(states, numbers, bytes)?;
        if body.shape.reach() > rules.building.size_max {
            return Err(TravelRefusal::TooLarge);
        }
        let of_parts = usize::from(body.shape.is_compound());
        let own = self.own_of(by, thing, of_parts, room.own);
        let (things, used) = self.border_share(neighbour);
        let used = used.saturating_add(room.bytes).saturating_add(bytes as u64);
        let is_over = used > u64::from(rules.border_bytes)
            || things.saturating_add(room.shared) >= rules.border_things as usize;
        if own.is_none() && is_over {
            return Err(TravelRefusal::ShareFull);
        }
        // Looks at everything that could be restored, so it comes after what costs less.
        self.check_origin(thing.origin)?;
        room.things += 1;
        self.check_more_slots(Motion::Dynamic, room.things).map_err(|_| TravelRefusal::Full)?;
        if of_parts > 0 {
            room.compounds += of_parts;
            let shared = self.border_compounds(neighbour) + room.shared_compounds + of_parts;
            if own.is_none() && shared > BORDER_COMPOUNDS_MAX {
                return Err(TravelRefusal::ShareFull);
            }
            self.check_more_compounds(room.compounds).map_err(|_| TravelRefusal::Full)?;
        }
        room.budget = room.budget.saturating_add(room_for(thing, bytes));
        if !self.byte_budget.has(room.budget) {
            return Err(TravelRefusal::Full);
        }
        let guest = match own {
            Some(own) => {
                room.own = own;
                None
            }
            None => {
                room.shared += 1;
                room.shared_compounds += of_parts;
                room.bytes = room.bytes.saturating_add(bytes as u64);
                let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
                Some(BorderGuest { from: neighbour, bytes })
            }
        };
        Ok(ReadyThing { body, states, bytes, guest })
    }

    /// Returns what somebody uses of her quotas with a thing of hers that she brings, after what she brings besides;
    /// nothing if it is not hers, or more than she may have.
    fn own_of(
        &self,
        by: Option<&PublicKey>,
        thing: &TravellingThing,
        compounds: usize,
        before: QuotaUse,
    ) -> Option<QuotaUse> {
        let by = by.filter(|by| thing.owner.map(|key| self.key_now(key)) == Some(**by))?;
        let (scripts, text) = (thing.scripts.len(), thing.text.len());
        let used = before.plus(QuotaUse { objects: 1, movable: 1, compounds, scripts, text });
        self.check_quota(by, used, 1).ok().map(|()| used)
    }

    /// Checks that nothing of this origin is here, is under way, or could be restored here, and that this sim
    /// bore it if it is said to.
    fn check_origin(&self, origin: Origin) -> Result<(), TravelRefusal> {
        let sim = self.charter.sim;
        if origin.sim == sim && origin.number >= self.clock.next_object {
            return Err(TravelRefusal::BadParcel);
        }
        let is_kept = || {
            let undone = self.histories.iter().any(|(_, history)| history.restores(sim, origin));
            undone || self.people.traces.restores(sim, origin)
        };
        if self.is_origin_away(origin) || self.find_origin(origin).is_some() || is_kept() {
            return Err(TravelRefusal::Here);
        }
        Ok(())
    }

    /// Returns the body of a thing on its way, if it is one that can be pushed.
    pub(super) fn body_of(&self, thing: &TravellingThing) -> Option<BodySpec> {
        Self::sound_body(thing).filter(|body| body.motion == Motion::Dynamic)
    }

    /// Returns the body of a packed thing, if it is one that things have.
    pub(crate) fn sound_body(thing: &TravellingThing) -> Option<BodySpec> {
        let body: BodySpec = wire::decode(&thing.body, thing.body.len()).ok()?;
        let is_right = body.pose.position == thing.position
            && body.velocity == thing.velocity
            && body.check().is_ok()
            && body.shape.is_centred();
        is_right.then_some(body)
    }

    /// Returns what the scripts of a thing remember, if the thing keeps the rules of things.
    pub(crate) fn states_of(
        thing: &TravellingThing,
        mut change: impl FnMut(ScriptState) -> Option<ScriptState>,
    ) -> Option<Vec<ScriptState>> {
        let is_named = is_name(&thing.kind) && thing.kind != AVATAR && is_name(&thing.name);
        let is_shown =
            thing.text.len() <= SIGN_BYTES_MAX && is_line(&thing.text) && thing.look.is_proper();
        let is_few = thing.scripts.len() <= SCRIPTS_PER_OBJECT_MAX;
        let is_numbered =
            thing.handle.0 < OBJECT_NUMBERS_END && thing.origin.number.0 < OBJECT_NUMBERS_END;
        let seat_is_near = thing.seat.is_none_or(|at| at.length() <= Fx::from_int(SEAT_REACH));
        if !is_named || !is_shown || !is_few || !is_numbered || !seat_is_near {
            return None;
        }
        let state = |script: &TravellingScript| {
            let timers = &script.timers;
            let is_timed = timers.len() <= TIMERS_MAX
                && timers.is_sorted_by(|a, b| a.0 < b.0)
                && timers.iter().all(|(name, _)| name.len() <= TOPIC_BYTES_MAX);
            let state: ScriptState = wire::decode(&script.state, STATE_BYTES_MAX).ok()?;
            let is_sound = state.0.values().all(|value| value.check().is_ok());
            if is_timed && is_sound { change(state) } else { None }
        };
        thing.scripts.iter().map(state).collect()
    }

    /// Returns the object of a thing on its way, which gets this number here and has no scripts yet.
    pub(super) fn object_of(&self, thing: &TravellingThing, id: ObjectId) -> Object {
        let own = Origin { sim: self.charter.sim, number: id };
        Object {
            kind: thing.kind.clone(),
            name: thing.name.clone(),
            owner: thing.owner.map(|key| self.key_now(key)),
            player: None,
            look: thing.look,
            text: thing.text.clone(),
            scripts: Vec::new(),
            licence: thing.licence,
            author: thing.author,
            birth: (thing.origin != own).then_some(thing.origin),
            parent: thing.parent,
            travels: true,
            guest: None,
            spawner: None,
            held: None,
            seat: thing.seat.map(|at| ThingSeat { at, told: None }),
            changed: None,
        }
    }

    /// Puts a thing into the world under this number.
    pub(super) fn insert_thing(
        &mut self,
        id: ObjectId,
        object: Object,
        body: &BodySpec,
    ) -> Result<(), InsertError> {
        self.bodies.insert(id, body)?;
        if let Some(owner) = object.owner {
            self.own(owner, id);
        }
        if body.motion == Motion::Dynamic {
            self.movable.insert(id);
        }
        self.objects.insert(id, object);
        Ok(())
    }

    /// Puts scripts that came onto an object. One whose source is not here sleeps.
    pub(super) fn insert_scripts(
        &mut self,
        id: ObjectId,
        scripts: &[TravellingScript],
        states: Vec<ScriptState>,
        change: impl Fn(PackageId) -> ScriptChange,
    ) {
        let now = self.clock.tick.plus(1);
        for (came, state) in scripts.iter().zip(states) {
            let script = self.clock.next_script;
            self.clock.next_script = script.plus(1);
            let asleep = !came.suspended && !self.packages.contains(&came.package);
            // An empty pool: whatever crosses to and fro earns nothing by that.
            let gas = GasPool::empty(now);
            let mut running = Script::new(id, came.package, state.into(), gas);
            running.asleep = asleep;
            running.suspended = (came.suspended || asleep).then_some(now);
            running.dropped = came.dropped;
            self.scripts.insert(script, running);
            self.publications.take(came.package);
            let after =
                |(name, left): &(String, u64)| (name.clone(), Tick(now.0.saturating_add(*left)));
            self.set_timers(script, came.timers.iter().map(after).collect());
            if let Some(object) = self.objects.get_mut(&id) {
                object.scripts.push(script);
            }
            if !came.suspended && !asleep {
                self.script_changes.push((script, change(came.package)));
            }
        }
    }
}

/// Returns the bytes by which a thing may make the state larger: those of its parcel, and what its timers
/// reserve.
pub(super) fn room_for(thing: &TravellingThing, bytes: usize) -> usize {
    let timers: usize = thing.scripts.iter().map(|script| script.timers.len()).sum();
    let more = timers.saturating_add(thing.scripts.len()).saturating_mul(TIMER_BYTES_MAX);
    bytes.saturating_add(more)
}

/// Returns what scripts remember here, and the bytes of the parcel with that. The number of a thing may be longer
/// here than where it comes from, and a script may know it many times.
fn renamed_states(
    states: Vec<ScriptState>,
    numbers: &[(ObjectId, ObjectId)],
    bytes: usize,
) -> Result<(Vec<ScriptState>, usize), TravelRefusal> {
    let mut length = bytes;
    let rename = |state: ScriptState| {
        let before = wire::length(&state);
        let state = with_handles(state, numbers);
        length = length.saturating_sub(before).saturating_add(wire::length(&state));
        state.check().map_err(|_| TravelRefusal::TooLarge)?;
        Ok(state)
    };
    let states = states.into_iter().map(rename).collect::<Result<_, _>>()?;
    Ok((states, length))
}

/// Returns what a script remembers, with the handles of the things of its parcel as they are here. Every other handle
/// named something of the sim that it left, and names nothing here.
fn with_handles(state: ScriptState, numbers: &[(ObjectId, ObjectId)]) -> ScriptState {
    let renamed = |(name, value)| (name, renamed(value, numbers));
    ScriptState(state.0.into_iter().map(renamed).collect())
}

/// Returns a value with the handles of [`with_handles`].
fn renamed(value: Value, numbers: &[(ObjectId, ObjectId)]) -> Value {
    match value {
        Value::Object(id) => {
            let here = numbers.iter().find(|(there, _)| *there == id);
            Value::Object(here.map_or(ObjectId(0), |(_, here)| *here))
        }
        Value::Array(values) => {
            Value::Array(values.into_iter().map(|value| renamed(value, numbers)).collect())
        }
        Value::Map(values) => {
            let entries = values.into_iter();
            Value::Map(entries.map(|(name, value)| (name, renamed(value, numbers))).collect())
        }
        other => other,
    }
}
