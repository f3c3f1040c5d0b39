//! Arrivals: what a word of a neighbour changes: who is taken, who comes home, who is settled.

use std::collections::BTreeMap;

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{BodySpec, Motion};
use metatopia_types::{
    BorderDeparture, CrossingPass, Digest, Lane, Millis, ObjectId, Parcel, PublicKey, SimId,
    TravelRefusal, Traveller, TravellingPerson, TravellingThing, limits::TICKS_PER_SECOND,
};

use super::{
    parameters::heading_of,
    players::{Player, PlayerSession, Since},
    presence::Presence,
    sim_state::State,
};
use crate::{
    limits::{AHEAD_MS_MAX, ARRIVALS_PER_TURN_MAX, BORDER_BAND_METRES, DEPARTURE_MS},
    rules::{
        ActTarget, BelievedDispatch, Border, CrossingEvent, Denied, Judgement, Right, TurnedBack,
    },
    space::{BorderWay, EAST, EXITS, Portal, distance_to},
};

/// What is looked at while departures of one neighbour are judged.
struct ArrivalRules {
    neighbour: SimId,
    way: Option<BorderWay>,
    passes: Vec<CrossingPass>,
    lanes: BTreeMap<PublicKey, Lane>,
    parcels: BTreeMap<Digest, Vec<u8>>,
}

impl State {
    /// Hears what a dispatch proves: settles, brings home and takes in, in this order.
    pub(crate) fn hear_neighbour(&mut self, neighbour: SimId, believed: BelievedDispatch) {
        let Some((word, parcels)) = self.note_believed(neighbour, believed) else {
            // A fork closes the border, and the ground ends at its line again.
            self.fit_ground();
            return;
        };
        let own = self.charter.site.map(|site| site.square);
        let Some(border) = self.borders.all.get_mut(&neighbour) else { return };
        // The ledger, which also says where the portal is, is taken out while it decides, because taking somebody
        // changes the state.
        let way = own.and_then(|own| border.way(own));
        let mut crossing = core::mem::take(&mut border.crossing);
        let rules = ArrivalRules {
            neighbour,
            way,
            passes: crossing.said.passes.clone(),
            lanes: border.lanes.clone(),
            parcels,
        };
        let (now, broken) = (self.clock.time, self.borders.broken());
        let mut judge = |departure: &BorderDeparture| self.judge(departure, &rules);
        let events = crossing.hear(word, now, broken, &mut judge);
        let border = self.borders.all.get_mut(&neighbour);
        border.expect("a border that was just there").crossing = crossing;
        events.into_iter().for_each(|event| self.apply_event(neighbour, event));
        self.drop_own_ghosts();
        self.set_ghosts(neighbour);
    }

    /// Gives a silent neighbour up: what is under way to it comes home.
    pub(crate) fn sever(&mut self, neighbour: SimId) {
        let border = self.borders.all.get_mut(&neighbour);
        let border = border.expect("an act severs a border that is there");
        let events = border.crossing.sever();
        events.into_iter().for_each(|event| self.apply_event(neighbour, event));
        self.drop_own_ghosts();
    }

    /// Judges a departure of a neighbour, and takes it if nothing speaks against it.
    fn judge(&mut self, departure: &BorderDeparture, rules: &ArrivalRules) -> Judgement {
        let Some(bytes) = rules.parcels.get(&departure.parcel) else {
            return Judgement::Waits;
        };
        let parcel = Parcel::decode(bytes).ok();
        let parcel = parcel.filter(|parcel| parcel.traveller() == departure.traveller);
        let things = parcel.iter().flat_map(Parcel::things);
        let things = things.map(|thing| Traveller::Thing(thing.origin));
        let traveller = departure.traveller;
        let person = matches!(traveller, Traveller::Person(_)).then_some(traveller);
        let all = person.into_iter().chain(things).collect();
        let taken = match parcel {
            None => Err(TravelRefusal::BadParcel),
            Some(Parcel::Person(person)) => self.take_person(departure, person, rules),
            Some(Parcel::Thing(thing, companions)) => {
                let way = rules.way.ok_or(TravelRefusal::Closed);
                way.and_then(|way| {
                    let to = (&way, departure.until);
                    self.take_mechanism(rules.neighbour, (&thing, &companions), bytes.len(), to)
                })
            }
        };
        taken.map_or_else(Judgement::Refused, |()| Judgement::Taken(all))
    }

    /// Takes somebody in with all that she holds, or nothing of it: makes the avatar where she would have
    /// walked.
    fn take_person(
        &mut self,
        departure: &BorderDeparture,
        person: TravellingPerson,
        rules: &ArrivalRules,
    ) -> Result<(), TravelRefusal> {
        let key = person.key;
        let way = rules.way.ok_or(TravelRefusal::Closed)?;
        // Of who sits on something, that is looked at below.
        let is_at_line = person.mount.is_some() || way.leads_from(person.position);
        let known = self.players.get(&key).cloned();
        let person = self.as_known(person, known.as_ref()).ok_or(TravelRefusal::BadParcel)?;
        if !is_at_line || !person.look.is_proper() {
            return Err(TravelRefusal::BadParcel);
        }
        self.may(&key, Right::Attend, &ActTarget::SIM).map_err(|denied| match denied {
            Denied::Banned => TravelRefusal::Banned,
            _ => TravelRefusal::Closed,
        })?;
        let pass = rules.passes.iter().find(|pass| pass.person == key && pass.refused.is_none());
        let lane = rules.lanes.get(&key).filter(|_| pass.is_some());
        let lane = *lane.ok_or(TravelRefusal::NoPass)?;
        let session = known.as_ref().and_then(|player| player.session.clone());
        if session.as_ref().is_some_and(|session| session.presence.avatar().is_some()) {
            return Err(TravelRefusal::Here);
        }
        let forgotten = match known {
            Some(_) => None,
            None => {
                self.player_to_forget(self.is_steward(&key)).map_err(|_| TravelRefusal::Full)?
            }
        };
        // Who was forgotten in three turns is known by one leaf. Sixteen neighbours could make it too long.
        if forgotten.is_some() && self.forgotten.len() >= ARRIVALS_PER_TURN_MAX {
            return Err(TravelRefusal::Full);
        }
        let brought = self.check_brought(rules.neighbour, &person)?;
        let on = brought.get(person.hands.len()).map(|ready| &ready.body);
        let (place, mount_at) = match person.mount.as_deref().zip(on) {
            Some((mount, body)) => {
                let joined: Vec<_> = person.things().skip(person.hands.len()).collect();
                if !self.come_over(&way, &joined) {
                    return Err(TravelRefusal::BadParcel);
                }
                let (place, at) = self.arrival_on(mount, body, (&way, departure.until))?;
                let places = self.places_around(&joined, at);
                self.check_room(&way, &places, &brought[person.hands.len()..])?;
                // Where the mount stands further in, so does she.
                let seat = place.saturating_sub(at);
                (places[0].saturating_add(seat), places)
            }
            None => {
                let radius = self.charter.parameters.avatar.radius;
                let ahead = self.way_ahead(departure.until, person.velocity, person.waited);
                let heading = heading_of(person.heading);
                let goes = person.velocity.normalize().unwrap_or(heading);
                let from = (person.position, goes);
                (self.arrival(&way, from, ahead, radius), Vec::new())
            }
        };
        // After all that may be refused: somebody idle may lose her seat by it.
        self.take_seat(&key, known.as_ref())?;
        let (object, mut body) = self.avatar_of(key, &person.name, person.look, place);
        body.velocity = person.velocity;
        let avatar = self.spawn(object, &body).map_err(|_| TravelRefusal::Full)?;
        // Before what she brings is placed: one of these things may be of who is forgotten, who then owned something.
        if let Some(forgotten) = forgotten {
            self.forget(&forgotten);
        }
        if let Err(why) = self.place_brought(avatar, &person, brought, &mount_at) {
            self.objects.remove(&avatar);
            self.bodies.remove(avatar).expect("the body that was just made");
            self.present.remove(&key);
            return Err(why);
        }
        let heading = heading_of(person.heading);
        self.log_in(&person, known, session, (lane, heading, Presence::Here(avatar)));
        Ok(())
    }

    /// Returns a traveller with the name that she has here. Who is known here keeps her name, and the word
    /// whether a program acts for her: a neighbour that lies takes neither.
    fn as_known(
        &self,
        person: TravellingPerson,
        known: Option<&Player>,
    ) -> Option<TravellingPerson> {
        match known {
            Some(known) => {
                Some(TravellingPerson { name: known.name.clone(), bot: known.bot, ..person })
            }
            None => {
                let name = self.name_of_traveller(&person.key, &person.name)?;
                Some(TravellingPerson { name, ..person })
            }
        }
    }

    /// Makes room for an avatar of this key, if there is none: somebody idle gives up a seat.
    fn take_seat(&mut self, key: &PublicKey, known: Option<&Player>) -> Result<(), TravelRefusal> {
        if self.has_seat(key, known) {
            return Ok(());
        }
        let idlest = self.census.idlest(self.clock.tick.plus(1));
        self.unseat(&idlest.ok_or(TravelRefusal::Full)?);
        Ok(())
    }

    /// Says whether a seat is free for this key: the last quarter is for regulars.
    pub(crate) fn has_seat(&self, key: &PublicKey, known: Option<&Player>) -> bool {
        let parameters = &self.charter.parameters;
        let is_regular =
            known.is_some_and(|player| player.days >= parameters.seen_days) || self.is_steward(key);
        let all = parameters.avatars_max;
        let seats = if is_regular { all } else { all - all / 4 };
        self.present.len() < seats as usize && self.has_object_slot()
    }

    /// Notes an arrival as a login.
    fn log_in(
        &mut self,
        person: &TravellingPerson,
        known: Option<Player>,
        session: Option<PlayerSession>,
        (lane, heading, presence): (Lane, Vec2, Presence),
    ) {
        let (now, height) = (self.governance.time, self.clock.height);
        let (tick, parameters) = (self.clock.tick.plus(1), &self.charter.parameters);
        let session = PlayerSession {
            lane,
            presence,
            heading,
            lease: tick.plus(parameters.lease_ticks),
            acted: tick,
            pushed: session.and_then(|session| session.pushed),
            gesture: None,
            permits: Vec::new(),
        };
        let is_new = known.is_none();
        let mut player = known.unwrap_or_else(|| Player {
            name: String::new(),
            look: person.look,
            first_seen: now,
            last_login: now,
            days: 0,
            bot: person.bot,
            since: Since { player: height, regular: None },
            spoke: None,
            session: None,
        });
        (player.name, player.look, player.bot) = (person.name.clone(), person.look, person.bot);
        player.session = Some(session);
        player.seen(now, height, parameters.seen_days);
        if is_new {
            self.first_logins.count(None, height);
        }
        self.put_player(person.key, player);
        self.arrived.push(person.key);
        self.governance.login(&person.key);
        self.appoint();
    }

    /// Returns the way that somebody or something would have gone since it departed: half of what passed
    /// between this sim's state that the sender knew then and now, less what the sender had waited. The last
    /// turn of that is not counted, because whoever is put here now still goes on in the ticks of this turn.
    pub(super) fn way_ahead(&self, until: Millis, velocity: Vec2, waited: u64) -> Vec2 {
        let known = until.0.saturating_sub(DEPARTURE_MS);
        let round = self.clock.time.0.saturating_sub(known).saturating_sub(waited);
        let ticks = u64::from(self.charter.parameters.ticks_per_turn);
        let way = (round / 2).saturating_sub(ticks.saturating_mul(1_000) / TICKS_PER_SECOND);
        let ms = i64::try_from(way.min(AHEAD_MS_MAX)).unwrap_or_default();
        let way = velocity.scale(Fx::from_ratio(ms, 1_000));
        // Whoever is thrown goes no further than the band is wide.
        let most = Fx::from_int(2 * BORDER_BAND_METRES);
        let is_long = way.x.saturating_abs().max(way.y.saturating_abs()) > most;
        if is_long { Vec2::ZERO } else { way }
    }

    /// Returns where a body arrives that was at a place of the neighbour, goes in a direction, and went this way ahead
    /// since: the furthest place on that way where nothing is in the way, on this sim's ground. If there is none, it is
    /// the place of the crossing: bodies that overlap push each other out. Out of a portal there are ways to all sides.
    pub(super) fn arrival(
        &self,
        way: &BorderWay,
        (place, goes): (Vec2, Vec2),
        ahead: Vec2,
        radius: Fx,
    ) -> Vec2 {
        let ground = self.charter.parameters.ground;
        let portal = match way {
            BorderWay::Line(line) => {
                let places = self.places_ahead(line.place_here(place), ahead);
                let free = places.into_iter().find(|place| self.is_free(*place, radius));
                return free.unwrap_or(places[3]);
            }
            BorderWay::Portal(portal) => portal,
        };
        let goes = goes.normalize().unwrap_or(EAST);
        let mut turned = (goes, ahead);
        for _ in 0..EXITS {
            let (goes, ahead) = turned;
            let places = self.places_ahead(portal.exit(goes, radius), ahead);
            let is_open = |place: &Vec2| {
                self.is_free(*place, radius) && self.is_in_sight_of(portal.middle(), *place)
            };
            if let Some(place) = places.into_iter().find(is_open) {
                return place;
            }
            turned = (goes.rotate(Angle::EIGHTH), ahead.rotate(Angle::EIGHTH));
        }
        ground.nearest(portal.exit(goes, radius))
    }

    /// Returns the places on the way ahead from a place, the furthest first and that place last, on this sim's ground.
    fn places_ahead(&self, place: Vec2, ahead: Vec2) -> [Vec2; 4] {
        let ground = self.charter.parameters.ground;
        let parts = [1, 2, 4].map(|part| ahead.scale(Fx::from_ratio(1, part)));
        let [far, half, near] = parts.map(|way| ground.nearest(place.saturating_add(way)));
        [far, half, near, ground.nearest(place)]
    }

    /// Says whether no wall stands between the middle of a portal and a place, and that is in no other portal.
    fn is_in_sight_of(&self, middle: Vec2, place: Vec2) -> bool {
        let (hit, _) = self.bodies.ray_cast(middle, place, ObjectId(u64::MAX));
        let wall = hit.and_then(|hit| self.bodies.body(hit.id));
        let own = self.charter.site.map(|site| site.square);
        let way = |border: &Border| border.way(own?)?.portal().copied();
        let mut portals = self.borders.all.iter().filter_map(|(_, border)| way(border));
        wall.is_none_or(|body| body.motion() != Motion::Static)
            && !portals.any(|portal| portal.contains(place))
    }

    /// Says whether a body that reaches so far from its middle overlaps nothing at a place.
    pub(super) fn is_free(&self, place: Vec2, radius: Fx) -> bool {
        let near = self.bodies.around(place, radius);
        let mut solid = near.filter(|body| !body.is_sensor() && !self.is_held(body.id()));
        solid.all(|body| distance_to(body, place) > radius)
    }

    /// Returns where somebody arrives who sits, and what she sits on: where that would have rolled, and both on
    /// this sim's ground.
    fn arrival_on(
        &self,
        mount: &TravellingThing,
        body: &BodySpec,
        (way, until): (&BorderWay, Millis),
    ) -> Result<(Vec2, Vec2), TravelRefusal> {
        let seat = mount.seat.ok_or(TravelRefusal::BadParcel)?.rotate(body.pose.angle);
        let ahead = self.way_ahead(until, mount.velocity, mount.waited);
        let from = (mount.position, mount.velocity);
        let reach = self.reach_with_seat(body.shape.reach(), mount.seat);
        let place = self.arrival(way, from, ahead, reach);
        let avatar = self.charter.parameters.ground.nearest(place.saturating_add(seat));
        Ok((avatar, avatar.saturating_sub(seat)))
    }

    /// Applies what a word of the neighbour did with our own.
    fn apply_event(&mut self, neighbour: SimId, event: CrossingEvent) {
        let (departure, home) = match event {
            CrossingEvent::Settled(departure) => (departure, None),
            CrossingEvent::CameHome(departure, why) => (departure, Some(why)),
            // A person is a key: whoever plays here goes on, and a login makes her avatar anew elsewhere.
            CrossingEvent::GivenBack(Traveller::Person(_)) => return,
            CrossingEvent::GivenBack(Traveller::Thing(origin)) => return self.give_back(origin),
        };
        let number = departure.number;
        let parcel = self.borders.parcels.remove(&(neighbour, number));
        let parcel = parcel.and_then(|bytes| Parcel::decode(&bytes).ok());
        let parcel = parcel.expect("what is under way has the parcel that this sim made");
        match home {
            Some(why) => self.things_come_home(neighbour, &parcel, why),
            None => parcel.things().for_each(|thing| self.end_way(thing)),
        }
        let Parcel::Person(TravellingPerson { key, position, mount, .. }) = parcel else { return };
        let session = self.players.get(&key).and_then(|player| player.session.as_ref());
        // Whoever logged in again since is not away any more.
        let is_away = session
            .is_some_and(|session| session.presence == Presence::Away { to: neighbour, number });
        if !is_away {
            return;
        }
        let Some(why) = home else {
            self.despawn(&key);
            return;
        };
        self.come_home(neighbour, &key, position);
        let at = self.clock.time;
        let border = self.borders.all.get_mut(&neighbour).expect("a border that was just heard");
        border.note_turned_back(TurnedBack { person: key, number, why, at });
        if let (Some(mount), Some(avatar)) = (mount, self.present.get(&key).copied()) {
            let seat = self.seat_place(mount.handle);
            if seat.is_some_and(|(_, place)| self.bodies.bounds().contains(place)) {
                self.sit(avatar, Some(mount.handle));
            }
        }
    }

    /// Returns where a body stands that comes back from a border which it passed at a place: inside the line, or beside
    /// the portal.
    pub(super) fn place_back(&self, neighbour: SimId, place: Vec2, reach: Fx) -> Vec2 {
        let beside = self.portal_to(neighbour).map_or(place, |portal| portal.back(place, reach));
        self.charter.parameters.ground.nearest(beside)
    }

    /// Returns the portal to a neighbour, if one leads there.
    pub(super) fn portal_to(&self, neighbour: SimId) -> Option<Portal> {
        let border = self.borders.all.get(&neighbour);
        let way = self.charter.site.zip(border).and_then(|(site, border)| border.way(site.square));
        way.and_then(|way| way.portal().copied())
    }

    /// Gives somebody who comes home an avatar inside the border, where she stands still.
    fn come_home(&mut self, neighbour: SimId, key: &PublicKey, at: Vec2) {
        let Some(player) = self.players.get(key).cloned() else { return };
        let place = self.place_back(neighbour, at, self.charter.parameters.avatar.radius);
        let (object, body) = self.avatar_of(*key, &player.name, player.look, place);
        let is_there = self.take_seat(key, Some(&player)).is_ok();
        let avatar = is_there.then(|| self.spawn(object, &body).ok()).flatten();
        self.set_presence(key, avatar.map_or(Presence::Seatless, Presence::Here));
    }
}
