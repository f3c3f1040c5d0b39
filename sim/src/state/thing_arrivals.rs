//! Things that arrive over a border: what is asked of them, and how they are put here.

use metatopia_math::Fx;
use metatopia_physics::{BodySpec, InsertError, Motion};
use metatopia_scripting::{
    ScriptState, Value,
    limits::{SEAT_REACH, SIGN_BYTES_MAX, STATE_BYTES_MAX, TOPIC_BYTES_MAX},
};
use metatopia_types::{
    BorderGuest, ObjectId, Origin, PackageId, SimId, Tick, TravelRefusal, TravellingScript,
    TravellingThing, is_line, limits::OBJECT_NUMBERS_END, wire,
};

use super::{
    object::{AVATAR, Object, ThingSeat},
    players::is_name,
    sim_state::State,
};
use crate::{
    limits::{BORDER_BAND_METRES, SCRIPTS_PER_OBJECT_MAX, TIMER_BYTES_MAX, TIMERS_MAX},
    scripts::{GasPool, Script, ScriptChange},
    space::BorderLine,
};

/// A thing that may come in.
pub(super) struct ReadyThing {
    pub(super) body: BodySpec,
    pub(super) states: Vec<ScriptState>,
    pub(super) guest: BorderGuest,
}

/// What the things before one in the same parcel will take up.
#[derive(Default)]
pub(super) struct TakenRoom {
    things: usize,
    bytes: u64,
    /// Of the bytes by which the state may grow.
    budget: usize,
}

impl State {
    /// Takes a thing in: puts it where it would have rolled. `bytes` is the length of its parcel.
    pub(super) fn take_thing(
        &mut self,
        neighbour: SimId,
        thing: &TravellingThing,
        bytes: usize,
        (line, until): (&BorderLine, metatopia_types::Millis),
    ) -> Result<(), TravelRefusal> {
        let (id, mut room) = (self.clock.next_object, TakenRoom::default());
        let ready = self.check_thing((neighbour, id), thing, bytes, &mut room)?;
        let ReadyThing { mut body, states, guest } = ready;
        let bytes = guest.bytes as usize;
        let place = line.place_here(thing.position);
        if !line.is_near(place, Fx::from_int(2 * BORDER_BAND_METRES)) {
            return Err(TravelRefusal::BadParcel);
        }
        let ahead = self.way_ahead(until, thing.velocity, thing.waited);
        body.pose.position = self.arrival(place, ahead, body.shape.reach());
        let object = self.guest_of(thing, id, guest);
        self.insert_thing(id, object, &body).map_err(|error| match error {
            InsertError::Full(_) | InsertError::Occupied(_) => TravelRefusal::Full,
            InsertError::Shape(_) | InsertError::Field(_) => TravelRefusal::BadParcel,
        })?;
        self.clock.next_object = id.plus(1);
        self.byte_budget.take(room_for(thing, bytes));
        self.insert_scripts(id, &thing.scripts, states, ScriptChange::Arrives);
        Ok(())
    }

    /// Returns the object of a thing that comes as a guest.
    pub(super) fn guest_of(
        &self,
        thing: &TravellingThing,
        id: ObjectId,
        guest: BorderGuest,
    ) -> Object {
        Object { guest: Some(guest), ..self.object_of(thing, id) }
    }

    /// Checks all that speaks against a thing that gets this number, wherever it would stand, and notes what
    /// it will take up.
    pub(super) fn check_thing(
        &self,
        (neighbour, id): (SimId, ObjectId),
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
        let own = thing.handle;
        let states = Self::states_of(thing, Some).ok_or(TravelRefusal::BadParcel)?;
        let (states, bytes) = renamed_states(states, (own, id), bytes)?;
        if body.shape.reach() > rules.building.size_max {
            return Err(TravelRefusal::TooLarge);
        }
        let (things, used) = self.border_share(neighbour);
        let used = used.saturating_add(room.bytes).saturating_add(bytes as u64);
        let is_over = used > u64::from(rules.border_bytes);
        if things.saturating_add(room.things) >= rules.border_things as usize || is_over {
            return Err(TravelRefusal::ShareFull);
        }
        // Looks at everything that could be restored, so it comes after what costs less.
        self.check_origin(thing.origin)?;
        room.things += 1;
        self.check_more_slots(Motion::Dynamic, room.things).map_err(|_| TravelRefusal::Full)?;
        room.budget = room.budget.saturating_add(room_for(thing, bytes));
        if !self.byte_budget.has(room.budget) {
            return Err(TravelRefusal::Full);
        }
        room.bytes = room.bytes.saturating_add(bytes as u64);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        Ok(ReadyThing { body, states, guest: BorderGuest { from: neighbour, bytes } })
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
        if self.borders.is_under_way(origin) || self.find_origin(origin).is_some() || is_kept() {
            return Err(TravelRefusal::Here);
        }
        Ok(())
    }

    /// Returns the body of a thing on its way, if it is one that can be pushed.
    pub(super) fn body_of(&self, thing: &TravellingThing) -> Option<BodySpec> {
        let body: BodySpec = wire::decode(&thing.body, thing.body.len()).ok()?;
        let is_right = body.motion == Motion::Dynamic
            && body.pose.position == thing.position
            && body.velocity == thing.velocity
            && body.check().is_ok()
            && !body.sensor;
        is_right.then_some(body)
    }

    /// Returns what the scripts of a thing remember, if the thing keeps the rules of things.
    pub(super) fn states_of(
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

    /// Puts a thing that moves into the world under this number.
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
        self.movable.insert(id);
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

/// Returns what scripts remember here, and the bytes of the parcel with that. The number of the thing may be
/// longer here than where it comes from, and a script may know it many times.
fn renamed_states(
    states: Vec<ScriptState>,
    (own, here): (ObjectId, ObjectId),
    bytes: usize,
) -> Result<(Vec<ScriptState>, usize), TravelRefusal> {
    let mut length = bytes;
    let rename = |state: ScriptState| {
        let before = wire::length(&state);
        let state = with_handles(state, own, here);
        length = length.saturating_sub(before).saturating_add(wire::length(&state));
        state.check().map_err(|_| TravelRefusal::TooLarge)?;
        Ok(state)
    };
    let states = states.into_iter().map(rename).collect::<Result<_, _>>()?;
    Ok((states, length))
}

/// Returns what a script remembers, with the handle of its own thing as it is here. Every other handle named
/// something of the sim that it left, and names nothing here.
fn with_handles(state: ScriptState, own: ObjectId, here: ObjectId) -> ScriptState {
    let renamed = |(name, value)| (name, renamed(value, own, here));
    ScriptState(state.0.into_iter().map(renamed).collect())
}

/// Returns a value with the handles of [`with_handles`].
fn renamed(value: Value, own: ObjectId, here: ObjectId) -> Value {
    match value {
        Value::Object(id) => Value::Object(if id == own { here } else { ObjectId(0) }),
        Value::Array(values) => {
            Value::Array(values.into_iter().map(|value| renamed(value, own, here)).collect())
        }
        Value::Map(values) => {
            let entries = values.into_iter();
            Value::Map(entries.map(|(name, value)| (name, renamed(value, own, here))).collect())
        }
        other => other,
    }
}
