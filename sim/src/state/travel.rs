//! Things under way: how a thing leaves over a border as a parcel, and how it comes home.

use metatopia_math::Vec2;
use metatopia_types::{
    BorderGuest, HandRefusal, HomeReason, ObjectId, Origin, Parcel, PublicKey, SimId, Traveller,
    TravellingScript, TravellingThing, limits::PARCEL_BYTES_MAX, wire,
};

use super::{mechanism::PackedMechanism, object::Object, sim_state::State, world::World};
use crate::{
    rules::{AwayThing, CrossingBug},
    scripts::{Script, ScriptChange},
};

/// What becomes of a thing that would go over a border.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThingDeparture {
    /// It is under way.
    Sent,
    /// It goes in a later turn, if it is at the line then.
    Waits,
    /// Its parcel is too large, or breaks a rule of things that no neighbour can bend, so it never goes as
    /// it is.
    Unfit,
}

impl State {
    /// Says whether a thing may go over the border to a neighbour now, with what is joined to it: nobody holds it or
    /// sits on it.
    pub(super) fn may_travel(&self, neighbour: &SimId, id: ObjectId) -> bool {
        let Some(border) = self.borders.all.get(neighbour) else { return false };
        let is_alone = !self.is_held(id) && self.sitter(id).is_none();
        is_alone && self.lets_go(id).is_ok() && border.wall(self.clock.time).is_none()
    }

    /// Checks that this sim lets a thing leave, alone, in somebody's hands or under who sits on it. What is joined to
    /// it is another matter.
    ///
    /// # Errors
    /// The reason for which it stays.
    pub(super) fn lets_go_alone(&self, id: ObjectId) -> Result<(), HandRefusal> {
        let travels = self.objects.get(&id).is_some_and(|object| object.travels);
        if travels { self.sets_free(id) } else { Err(HandRefusal::NotLetGo) }
    }

    /// Checks that nothing of this sim holds a thing, whether or not its owner lets it travel.
    ///
    /// # Errors
    /// What holds it.
    pub(super) fn sets_free(&self, id: ObjectId) -> Result<(), HandRefusal> {
        let object = self.objects.get(&id).ok_or(HandRefusal::HeldFast)?;
        // What was spawned stays with its spawner, and a script on trial with what it falls back to.
        let is_on_trial = |script| {
            self.scripts.get(script).is_some_and(|script: &Script| script.fallback.is_some())
        };
        let is_free = object.spawner.is_none()
            && self.movable.contains(&id)
            && !self.people.frozen.contains(&id)
            && !object.scripts.iter().any(is_on_trial);
        match is_free {
            false => Err(HandRefusal::HeldFast),
            true if self.is_pinned_thing(object.origin(self.charter.sim, id)) => {
                Err(HandRefusal::JustCame)
            }
            true => Ok(()),
        }
    }

    /// Says whether a thing came over a border, and its sender has not settled that yet. However long that
    /// takes: if the sender is given up or returns, the thing is looked for here.
    pub(super) fn is_pinned_thing(&self, origin: Origin) -> bool {
        let traveller = Traveller::Thing(origin);
        self.borders.broken() != Some(CrossingBug::HandedOn)
            && self.borders.all.iter().any(|(_, border)| border.crossing.is_pinned(&traveller))
    }

    /// Sends a thing that nobody holds over a border, with what is joined to it.
    pub(super) fn depart_thing(&mut self, id: ObjectId, neighbour: SimId) -> ThingDeparture {
        let Some(waited) = self.waited(neighbour) else { return ThingDeparture::Waits };
        match self.packed_mechanism(id, waited) {
            Some(packed) => self.depart_packed(packed, neighbour),
            None => ThingDeparture::Unfit,
        }
    }

    /// Returns how long ago a neighbour was heard of, in milliseconds; nothing if there is no border to it.
    pub(super) fn waited(&self, neighbour: SimId) -> Option<u64> {
        let (now, border) = (self.clock.time, self.borders.all.get(&neighbour)?);
        let heard_at = border.crossing.heard.as_ref().map_or(now, |heard| heard.at);
        Some(now.since(heard_at))
    }

    /// Sends things over a border that were packed just now.
    pub(super) fn depart_packed(
        &mut self,
        packed: PackedMechanism,
        neighbour: SimId,
    ) -> ThingDeparture {
        let now = self.clock.time;
        let parcel = Parcel::Thing(Box::new(packed.main), packed.companions);
        let away: Vec<AwayThing> = parcel.things().map(AwayThing::of).collect();
        let (traveller, bytes) = (parcel.traveller(), parcel.encode());
        if bytes.len() > PARCEL_BYTES_MAX {
            return ThingDeparture::Unfit;
        }
        let Some(border) = self.borders.all.get_mut(&neighbour) else {
            return ThingDeparture::Waits;
        };
        let departure = border.crossing.depart(traveller, Parcel::digest(&bytes), now);
        // The last place under way may have gone to somebody else of this turn: it goes in the next one.
        let Ok(departure) = departure else { return ThingDeparture::Waits };
        self.borders.parcels.insert((neighbour, departure.number), bytes);
        self.leave_frames(&parcel);
        packed.ids.into_iter().zip(away).for_each(|(id, away)| self.goes_away(id, away));
        ThingDeparture::Sent
    }

    /// Removes a thing that is in a parcel under way.
    pub(super) fn goes_away(&mut self, id: ObjectId, away: AwayThing) {
        if self.borders.broken() == Some(CrossingBug::CreatedFirst) {
            return;
        }
        // Its source stays while it may come back.
        away.packages.iter().for_each(|package| self.publications.take(*package));
        self.end_consents(id);
        self.delete_object(id).expect("a thing that was just packed");
        self.borders.away.insert(id, away);
    }

    /// Returns a thing with all that it is, as it is once nobody holds it. There is none if it breaks a rule of
    /// things: whoever comes home is checked by the same rules, and must not be refused there.
    pub(super) fn packed(&self, id: ObjectId, waited: u64) -> Option<TravellingThing> {
        let object = self.objects.get(&id)?;
        let body = self.put_down_body(id, object)?;
        let script = |script: &metatopia_types::ScriptId| {
            let script = self.scripts.get(script).expect("a script that its object lists");
            self.packed_script(script)
        };
        let thing = TravellingThing {
            origin: object.origin(self.charter.sim, id),
            handle: id,
            kind: object.kind.clone(),
            name: object.name.clone(),
            owner: object.owner,
            look: object.look,
            text: object.text.clone(),
            licence: object.licence,
            author: object.author,
            parent: object.parent,
            guest: object.guest,
            body: wire::encode(&body.spec()),
            velocity: body.velocity(),
            position: body.position(),
            scripts: object.scripts.iter().map(script).collect(),
            seat: object.seat.map(|seat| seat.at),
            travels: object.travels,
            waited,
        };
        let is_sound =
            Self::sound_body(&thing).is_some() && Self::states_of(&thing, Some).is_some();
        is_sound.then_some(thing)
    }

    /// Returns a script with what it remembers. Its offers and its zone end, and what waits for it is lost.
    fn packed_script(&self, script: &Script) -> TravellingScript {
        let now = self.clock.tick.0;
        let left = |(name, at): (&String, &metatopia_types::Tick)| {
            (name.clone(), at.0.saturating_sub(now))
        };
        TravellingScript {
            package: script.package,
            state: wire::encode(&*script.state),
            timers: script.timers.iter().map(left).collect(),
            suspended: script.suspended.is_some() && !script.asleep,
            dropped: script.dropped.saturating_add(script.inbox.waiting().len() as u64),
        }
    }

    /// Ends what people let a thing do.
    pub(super) fn end_consents(&mut self, thing: ObjectId) {
        let people: Vec<PublicKey> = self.present.keys().copied().collect();
        for key in people {
            let Some(player) = self.players.get(&key) else { continue };
            let permits = player.session.as_ref().map(|session| session.permits.as_slice());
            if !permits.unwrap_or_default().iter().any(|permit| permit.thing == thing) {
                continue;
            }
            let mut player = player.clone();
            if let Some(session) = &mut player.session {
                session.permits.retain(|permit| permit.thing != thing);
            }
            self.put_player(key, player);
        }
    }

    /// Gives up what was kept of a thing while it was under way: it is there from now on, or here again.
    pub(super) fn end_way(&mut self, thing: &TravellingThing) {
        let Some(away) = self.borders.away.remove(&thing.handle) else { return };
        let time = self.governance.time;
        away.packages.iter().for_each(|package| self.publications.release(*package, time));
    }

    /// Puts all things of a parcel that comes home inside the border, where they rest, and joins what was joined, as
    /// far as the sim has room for joints.
    pub(super) fn things_come_home(&mut self, neighbour: SimId, parcel: &Parcel, why: HomeReason) {
        let companions = parcel.companions();
        let joined = companions.things.len() + usize::from(!companions.things.is_empty());
        let things: Vec<&TravellingThing> = parcel.things().collect();
        // What is joined is the end of a parcel, and comes home as it stood.
        let (single, joined) = things.split_at(things.len() - joined);
        let ground = self.charter.parameters.ground;
        for thing in single {
            let place = self.place_back(neighbour, thing.position, self.reach_of(thing));
            self.thing_comes_home(thing, place, why);
        }
        let way = self.joined_way_home(neighbour, joined);
        for thing in joined {
            let place = ground.nearest(thing.position.saturating_add(way));
            self.thing_comes_home(thing, place, why);
        }
        let ids: Vec<ObjectId> = joined.iter().map(|thing| thing.handle).collect();
        let specs = Self::joints_of_parcel(&companions.joints, &ids);
        for spec in specs.expect("this sim packed these joints") {
            if self.check_joint(&spec).is_ok() {
                self.add_joint(&spec).expect("it was checked just now");
            }
        }
    }

    /// Returns the way by which joined things go that come home: inside the line, or out of the portal, the first of
    /// them as if it were alone, on the first side on which all of them are on the ground.
    fn joined_way_home(&self, neighbour: SimId, joined: &[&TravellingThing]) -> Vec2 {
        let Some(main) = joined.first() else { return Vec2::ZERO };
        let outs: Vec<Vec2> = match self.portal_to(neighbour) {
            None => vec![Vec2::ZERO],
            Some(portal) => {
                let backs = portal.backs(main.position, self.reach_of(main));
                backs.map(|place| place.saturating_sub(main.position)).collect()
            }
        };
        let way_inside = |out: Vec2| {
            self.way_inside(joined.iter().map(|thing| thing.position.saturating_add(out)))
        };
        // Pushed back inside, the first of them might lie in the portal again.
        let fits = outs.iter().copied().find(|out| way_inside(*out) == Vec2::ZERO);
        let out = fits.unwrap_or(outs[0]);
        way_inside(out).saturating_add(out)
    }

    /// Returns how far a thing that this sim packed reaches from its middle, with somebody on its seat.
    fn reach_of(&self, thing: &TravellingThing) -> metatopia_math::Fx {
        let body = self.body_of(thing).expect("this sim packed that body");
        self.reach_with_seat(body.shape.reach(), thing.seat)
    }

    /// Puts a thing that comes home at a place inside the border, where it rests, with the number that it had.
    fn thing_comes_home(&mut self, thing: &TravellingThing, place: Vec2, why: HomeReason) {
        let mut body = self.body_of(thing).expect("this sim packed that body");
        body.pose.position = place;
        (body.velocity, body.spin) = (Vec2::ZERO, metatopia_math::Fx::ZERO);
        self.return_packed(thing, &body, |package| ScriptChange::ComesHome(package, why));
        self.end_way(thing);
    }

    /// Removes a thing that came home where it came from, wherever it is here.
    pub(super) fn give_back(&mut self, origin: Origin) {
        if let Some(id) = self.find_origin(origin) {
            self.delete_object(id);
        }
        self.forget_steps_that_restore(origin);
        self.people.traces.forget_restoring(self.charter.sim, origin);
    }

    /// Forgets the steps of all builders that would restore the thing of this origin.
    pub(crate) fn forget_steps_that_restore(&mut self, origin: Origin) {
        let sim = self.charter.sim;
        let remembers = |(key, history): (&PublicKey, &crate::acts::BuildHistory)| {
            history.restores(sim, origin).then_some(*key)
        };
        let builders: Vec<PublicKey> = self.histories.iter().filter_map(remembers).collect();
        for key in builders {
            self.histories.get_mut(&key).expect("a history that was just seen").forget(sim, origin);
        }
    }

    /// Returns the number of the thing with this origin, if it is here.
    pub(crate) fn find_origin(&self, origin: Origin) -> Option<ObjectId> {
        let sim = self.charter.sim;
        if origin.sim == sim
            && self.objects.get(&origin.number).is_some_and(|object| object.birth.is_none())
        {
            return Some(origin.number);
        }
        let came =
            |(id, object): (&ObjectId, &Object)| (object.birth == Some(origin)).then_some(*id);
        self.objects.iter().find_map(came)
    }

    /// Returns how many things came over the border to a neighbour and count against its share, and the bytes
    /// of their parcels. What is under way may come back.
    pub(super) fn border_share(&self, neighbour: SimId) -> (usize, u64) {
        let here = self.objects.iter().filter_map(|(_, object)| object.guest);
        let away = self.borders.away.values().filter_map(|away| away.guest);
        let own = here.chain(away).filter(|guest: &BorderGuest| guest.from == neighbour);
        let stowed = self.luggage.guests_of(neighbour);
        let first = (stowed.things, stowed.bytes);
        own.fold(first, |(count, bytes), guest| (count + 1, bytes + u64::from(guest.bytes)))
    }
}

impl State {
    /// Returns how many things of several parts came over the border to a neighbour and count against its share.
    pub(super) fn border_compounds(&self, neighbour: SimId) -> usize {
        let is_own =
            |guest: Option<BorderGuest>| guest.is_some_and(|guest| guest.from == neighbour);
        let is_compound =
            |id: &ObjectId| self.bodies.body(*id).is_some_and(|body| body.shape().is_compound());
        let here =
            self.objects.iter().filter(|(id, object)| is_own(object.guest) && is_compound(id));
        let away = self.borders.away.values();
        let away = away.filter(|away| away.is_compound && is_own(away.guest)).count();
        here.count() + away + self.luggage.guests_of(neighbour).compounds
    }
}

impl World {
    /// Returns how many things came over the border to a neighbour and count against its share, and the bytes
    /// of their parcels.
    #[must_use]
    pub fn border_share(&self, neighbour: &SimId) -> (usize, u64) {
        self.state.border_share(*neighbour)
    }
}
