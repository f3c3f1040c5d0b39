//! Borders in a turn: who may pass a line or go through a portal, who departs, and what is said to neighbours after it.
//!
//! All of this is passed over in a sim without borders.

use std::{cell::RefCell, collections::BTreeMap};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::Bounds;
use metatopia_scripting::limits::SEAT_REACH;
use metatopia_types::{
    Companions, CrossingPass, Height, Millis, NearPerson, ObjectId, Parcel, PassRefusal, PublicKey,
    SimId, Traveller, TravellingPerson, TravellingThing,
    limits::{PARCEL_BYTES_MAX, PEOPLE_NEAR_MAX},
};

use super::{
    mechanism::PackedMechanism,
    parameters::ParametersError,
    players::{Player, PlayerSession},
    presence::Presence,
    sim_state::{Charter, State},
    travel::ThingDeparture,
};
use crate::{
    limits::{BORDER_BAND_METRES, DEPARTURE_MS, TURNED_BACK_MS},
    rules::{AwayThing, Border, Borders},
    space::{BorderWay, DEPARTS_AT, with_bands},
};

/// The distance past the line at which something takes a heavier thing along that it is joined to. The ground
/// goes on for 2 m only, and what is long would never have its heaviest thing past the line. Nothing is so
/// far inside of a portal.
const TAKES_ALONG_AT: Fx = Fx::from_ratio(3, 2);

/// Within so many metres of the edge of the ground people are looked at, whether they depart: what somebody sits
/// on may be past a line, and the hinge that holds her gives a little.
const DEPARTURE_REACH: i32 = 2 * SEAT_REACH;

/// Whether what a person sits on may come along over the border to a neighbour, as far as that was asked while
/// nothing changed: it is packed for the answer, and asked for each thing that is joined to it.
type MountAnswers = RefCell<BTreeMap<(SimId, PublicKey), bool>>;

/// Returns the bounds of a sim's ground, with the bands behind its open borders.
pub(super) fn bounds_with(charter: &Charter, borders: &Borders) -> Result<Bounds, ParametersError> {
    let ways = open_ways(charter, borders);
    let lines = ways.iter().filter_map(|(_, way)| way.line());
    let banded = with_bands(charter.parameters.ground, lines);
    banded.map_or_else(|| Ok(charter.parameters.bounds()?), Ok)
}

/// Returns the ways over the borders that are open on this side, by their neighbours.
fn open_ways(charter: &Charter, borders: &Borders) -> Vec<(SimId, BorderWay)> {
    let way = |(neighbour, border): (&SimId, &Border)| {
        let is_open = border.crossing.said.open && !border.frozen;
        let way = border.way(charter.site?.square)?;
        is_open.then_some((*neighbour, way))
    };
    borders.all.iter().filter_map(way).collect()
}

/// Returns the neighbour whose line or portal a place is past, if it may be passed, and how far past it that is. Past a
/// corner there are two: it is the one whose line is further behind.
fn passage(
    ways: &[(SimId, BorderWay)],
    place: Vec2,
    may_pass: impl Fn(&SimId) -> bool,
) -> Option<(SimId, Fx)> {
    let past = |(neighbour, way): &(SimId, BorderWay)| {
        let beyond = way.beyond(place).filter(|beyond| *beyond > Fx::ZERO)?;
        may_pass(neighbour).then_some((*neighbour, beyond))
    };
    ways.iter().filter_map(past).max_by_key(|(_, beyond)| *beyond)
}

impl State {
    /// Opens or closes the border to a neighbour on this side, and sets the bounds of the ground to what
    /// follows.
    pub(crate) fn open_border(&mut self, neighbour: SimId, border: Border, open: bool) {
        let mut border = border;
        border.crossing.said.open = open;
        if !open {
            border.crossing.said.passes.clear();
            border.lanes.clear();
        }
        self.borders.all.insert(neighbour, border);
        self.fit_ground();
    }

    /// Brings bodies back that are behind lines which are not open any more, and sets the bounds.
    pub(crate) fn fit_ground(&mut self) {
        let bounds = bounds_with(&self.charter, &self.borders);
        let bounds = bounds.expect("the parameters of a state have bounds");
        if bounds == self.bodies.bounds() {
            return;
        }
        let own = self.bodies.own().iter();
        let outside = own.filter(|body| !bounds.contains(body.position()));
        let outside: Vec<ObjectId> = outside.map(metatopia_physics::Body::id).collect();
        outside.into_iter().for_each(|id| self.put_inside(id));
        self.bodies.set_bounds(bounds);
    }

    /// Puts a body back onto the sim's own ground, where it stops.
    fn put_inside(&mut self, id: ObjectId) {
        let Some(place) = self.bodies.body(id).map(metatopia_physics::Body::position) else {
            return;
        };
        self.put_back(id, self.charter.parameters.ground.nearest(place));
    }

    /// Puts a thing back onto the sim's own ground, or out of the portal to a neighbour, with all that is joined to it,
    /// as it stands: its joints are not drawn.
    fn put_mechanism_inside(&mut self, main: ObjectId, neighbour: SimId) {
        let ids = self.mechanism(main).unwrap_or_else(|| vec![main]);
        let place = |id: &ObjectId| Some((*id, self.bodies.body(*id)?.position()));
        let places: Vec<(ObjectId, Vec2)> = ids.iter().filter_map(place).collect();
        let way = self
            .way_out(neighbour, main)
            .unwrap_or_else(|| self.way_inside(places.iter().map(|(_, place)| *place)));
        let ground = self.charter.parameters.ground;
        for (id, place) in places {
            self.put_back(id, ground.nearest(place.saturating_add(way)));
        }
    }

    /// Returns how far a thing is moved that is put out of the portal to a neighbour; nothing if there is none.
    fn way_out(&self, neighbour: SimId, id: ObjectId) -> Option<Vec2> {
        let border = self.borders.all.get(&neighbour)?;
        let way = border.way(self.charter.site?.square)?;
        let body = self.bodies.body(id)?;
        let out = way.portal()?.back(body.position(), self.clearance(id));
        Some(out.saturating_sub(body.position()))
    }

    /// Returns how far from a portal the middle of a thing is put, so that who sits on it is outside as well.
    fn clearance(&self, id: ObjectId) -> Fx {
        let reach = self.bodies.body(id).map_or(Fx::ZERO, |body| body.shape().reach());
        let seat = self.objects.get(&id).and_then(|object| object.seat);
        self.reach_with_seat(reach, seat.map(|seat| seat.at))
    }

    /// Returns how far a thing reaches from its middle with somebody on its seat.
    pub(super) fn reach_with_seat(&self, reach: Fx, seat: Option<Vec2>) -> Fx {
        let radius = self.charter.parameters.avatar.radius;
        seat.map_or(reach, |at| reach.max(at.length().saturating_add(radius)))
    }

    /// Moves a body to a place on the sim's own ground. It stops along the ways in which it is moved.
    fn put_back(&mut self, id: ObjectId, inside: Vec2) {
        let Some(body) = self.bodies.body(id) else { return };
        let (place, velocity) = (body.position(), body.velocity());
        let keep = |at: Fx, to: Fx, speed: Fx| if at == to { speed } else { Fx::ZERO };
        let velocity =
            Vec2::new(keep(place.x, inside.x, velocity.x), keep(place.y, inside.y, velocity.y));
        let _ = self.bodies.set_position(id, inside);
        // A body that cannot move has no velocity to lose.
        let _ = self.bodies.set_velocity(id, velocity);
    }

    /// Puts back what is past a line that is a wall for it. A line is open to people with a pass.
    pub(super) fn hold_back(&mut self) {
        if self.borders.is_empty() {
            return;
        }
        let ground = self.charter.parameters.ground;
        let ways = open_ways(&self.charter, &self.borders);
        let answers = MountAnswers::default();
        // What is in hand goes where its holder goes.
        let movable = self.movable.iter().filter(|id| !self.is_held(**id));
        let is_held = |id: &ObjectId| {
            let place = self.bodies.body(*id).map(metatopia_physics::Body::position);
            let place = place.filter(|place| ground.nearest(*place) != *place);
            place.is_some_and(|place| {
                // Whoever walks or rides around a corner has come just now. She is not held until that is
                // settled, and neither is what she sits on.
                let person = self.goer(*id);
                let rounds = person.filter(|_| ground.is_near_corner(place, BORDER_BAND_METRES));
                let may_stay = |neighbour: &SimId| match rounds {
                    Some(person) => {
                        self.has_way(neighbour, &person)
                            && self.brings_mount(&answers, neighbour, &person)
                    }
                    None => self.may_go(&answers, neighbour, *id),
                };
                passage(&ways, place, may_stay).is_none()
            })
        };
        let held: Vec<ObjectId> =
            self.present.values().chain(movable).filter(|id| is_held(id)).copied().collect();
        held.into_iter().for_each(|id| self.put_inside(id));
    }

    /// Says whether an avatar or a thing may pass the border to a neighbour now.
    fn may_go(&self, answers: &MountAnswers, neighbour: &SimId, id: ObjectId) -> bool {
        match self.goer(id) {
            Some(person) => {
                self.may_pass(neighbour, &person) && self.brings_mount(answers, neighbour, &person)
            }
            None => self.main_of(id).is_some_and(|main| self.may_travel(neighbour, main)),
        }
    }

    /// Returns the person who decides where an object goes: whose avatar it is, or who sits on it or on what it is
    /// joined to.
    fn goer(&self, id: ObjectId) -> Option<PublicKey> {
        let player = |id: ObjectId| self.objects.get(&id).and_then(|object| object.player);
        let ridden = || self.main_of(id).and_then(|main| self.sitter(main));
        player(id).or_else(|| ridden().and_then(player))
    }

    /// Says whether what a person sits on may come along over the border to a neighbour. What may not holds her
    /// at the line.
    fn brings_mount(&self, answers: &MountAnswers, neighbour: &SimId, person: &PublicKey) -> bool {
        let Some(avatar) = self.present.get(person) else { return false };
        if self.mount(*avatar).is_none() {
            return true;
        }
        let pass = self.borders.all.get(neighbour).and_then(|border| border.pass_of(person));
        let Some(pass) = pass else { return false };
        let mut answers = answers.borrow_mut();
        let goes = || self.mount_along(pass, *avatar).is_some();
        *answers.entry((*neighbour, *person)).or_insert_with(goes)
    }

    /// Says whether a person may pass the border to a neighbour now, with what she brings.
    fn may_pass(&self, neighbour: &SimId, person: &PublicKey) -> bool {
        self.has_way(neighbour, person) && !self.is_pinned(person)
    }

    /// Says whether a neighbour lets a person come, with all that she brings.
    fn has_way(&self, neighbour: &SimId, person: &PublicKey) -> bool {
        let Some(border) = self.borders.all.get(neighbour) else { return false };
        let Some(avatar) = self.present.get(person) else { return false };
        let counts =
            |pass: &CrossingPass| pass.refused.is_none() && self.are_hands_answered(pass, *avatar);
        border.wall(self.clock.time).is_none() && border.pass_of(person).is_some_and(counts)
    }

    /// Says whether somebody came over a border, and her sender has not settled that yet. A person is no
    /// thing: if her sender dies she goes on all the same, and no rule of things rests on it.
    fn is_pinned(&self, person: &PublicKey) -> bool {
        let now = self.clock.time;
        let lives = |border: &Border| {
            let heard = border.crossing.heard.as_ref();
            let is_late = heard.is_none_or(|heard| now.since(heard.at) > DEPARTURE_MS);
            !border.frozen && !is_late
        };
        let traveller = Traveller::Person(*person);
        let mut borders = self.borders.all.iter();
        borders.any(|(_, border)| border.crossing.is_pinned(&traveller) && lives(border))
    }

    /// Ends the turn at the borders: who is past a line departs, and neighbours are told what is so now.
    pub(super) fn close_borders(&mut self) {
        if self.borders.is_empty() {
            return;
        }
        let ways = open_ways(&self.charter, &self.borders);
        for (person, neighbour) in self.leaving_people(&ways) {
            self.depart_person(&person, neighbour);
        }
        for (id, neighbour) in self.leaving_things(&ways) {
            let sent = self.depart_thing(id, neighbour);
            if sent == ThingDeparture::Unfit {
                self.put_mechanism_inside(id, neighbour);
            }
        }
        self.drop_missing_ghosts();
        self.say(&ways);
    }

    /// Returns the things that depart at the end of this turn, as far as can be known before, and how each goes.
    pub(super) fn departing(&self) -> Vec<(ObjectId, &'static str)> {
        if self.borders.is_empty() {
            return Vec::new();
        }
        let ways = open_ways(&self.charter, &self.borders);
        let mut all: Vec<(ObjectId, &str)> = Vec::new();
        for (main, _) in self.leaving_things(&ways) {
            let ids = self.mechanism(main).unwrap_or_default();
            let how = if ids.len() == 1 { "alone" } else { "joined" };
            all.extend(ids.into_iter().map(|id| (id, how)));
        }
        for (person, neighbour) in self.leaving_people(&ways) {
            all.extend(self.brought_along(&person, neighbour));
        }
        all
    }

    /// Returns the people who are past a line or in a portal and may go.
    fn leaving_people(&self, ways: &[(SimId, BorderWay)]) -> Vec<(PublicKey, SimId)> {
        let mut leaving = Vec::new();
        let answers = MountAnswers::default();
        let reach = Fx::from_int(DEPARTURE_REACH);
        let inner = self.charter.parameters.ground.shrunk(reach);
        let portals = || ways.iter().filter_map(|(_, way)| way.portal());
        for (person, avatar) in &self.present {
            let place = self.bodies.body(*avatar).map(metatopia_physics::Body::position);
            let is_far = |place: Vec2| {
                inner.contains(place) && portals().all(|portal| portal.distance(place) > reach)
            };
            if place.is_some_and(is_far) {
                continue;
            }
            // Who sits departs as soon as one of both is past the line.
            let mount = self.mount(*avatar);
            let joined = mount.and_then(|mount| self.mechanism(mount)).unwrap_or_default();
            let bodies = core::iter::once(*avatar).chain(mount).chain(joined.into_iter().skip(1));
            let departs = |id: ObjectId| {
                let place = self.bodies.body(id)?.position();
                let (to, beyond) = passage(ways, place, |sim| self.may_go(&answers, sim, id))?;
                let is_joined = id != *avatar && Some(id) != mount;
                let departs_at = if is_joined { TAKES_ALONG_AT } else { DEPARTS_AT };
                (beyond > departs_at).then_some((*person, to))
            };
            leaving.extend(bodies.filter_map(departs).take(1));
        }
        leaving
    }

    /// Returns the things that are past a line or in a portal and may go by themselves.
    fn leaving_things(&self, ways: &[(SimId, BorderWay)]) -> Vec<(ObjectId, SimId)> {
        let ground = self.charter.parameters.ground;
        let portals = || ways.iter().filter(|(_, way)| way.portal().is_some());
        let leaving = |id: &ObjectId| {
            let place = self.bodies.body(*id)?.position();
            let is_past = |way: &BorderWay| way.beyond(place).is_some_and(|far| far > Fx::ZERO);
            if ground.nearest(place) == place && !portals().any(|(_, way)| is_past(way)) {
                return None;
            }
            let main = self.main_of(*id)?;
            let (to, beyond) = passage(ways, place, |sim| self.may_travel(sim, main))?;
            let departs_at = if main == *id { DEPARTS_AT } else { TAKES_ALONG_AT };
            (beyond > departs_at).then_some((main, to))
        };
        let mut all: BTreeMap<ObjectId, SimId> = BTreeMap::new();
        for (main, to) in self.movable.iter().filter_map(leaving) {
            all.entry(main).or_insert(to);
        }
        all.into_iter().collect()
    }

    /// Returns somebody with an avatar as she is, with nothing that she brings.
    fn traveller_of(&self, key: &PublicKey, waited: u64) -> Option<TravellingPerson> {
        let Player { name, look, bot, session, .. } = self.players.get(key)?;
        let body = self.bodies.body(*self.present.get(key)?)?;
        Some(TravellingPerson {
            key: *key,
            name: name.clone(),
            look: *look,
            bot: *bot,
            position: body.position(),
            velocity: body.velocity(),
            heading: session.as_ref()?.heading,
            waited,
            hands: Vec::new(),
            mount: None,
            companions: Companions::default(),
        })
    }

    /// Returns the bytes that what somebody brings may have together: all of it departs in one parcel with her.
    pub(super) fn room_for_hands(&self, key: &PublicKey) -> usize {
        let own = self
            .traveller_of(key, u64::MAX)
            .map_or(PARCEL_BYTES_MAX, |person| Parcel::Person(person).encode().len());
        PARCEL_BYTES_MAX.saturating_sub(own)
    }

    /// Sends somebody over a border: she leaves in one parcel with what she holds or sits on and may bring along.
    /// The rest stays at the line.
    fn depart_person(&mut self, key: &PublicKey, neighbour: SimId) {
        let now = self.clock.time;
        let Some(border) = self.borders.all.get(&neighbour) else { return };
        // The last place under way may have gone to somebody else of this turn: she goes in the next one.
        if border.wall(now).is_some() {
            return;
        }
        let waited = now.since(border.crossing.heard.as_ref().map_or(now, |heard| heard.at));
        let Some(avatar) = self.present.get(key).copied() else { return };
        let Some(person) = self.traveller_of(key, waited) else { return };
        let place = person.position;
        let room = (waited, self.room_for_hands(key));
        let carried = self.carried(avatar, border.pass_of(key), room).into_iter();
        let carried = carried.filter_map(|(_, packed)| packed.ok());
        let mut carried: Vec<PackedMechanism> = carried.collect();
        let ids: Vec<ObjectId> =
            carried.iter().flat_map(|packed| packed.ids.iter().copied()).collect();
        // The thing that she sits on comes last.
        let sits = |last: &PackedMechanism| self.mount(avatar) == last.ids.first().copied();
        let last = if carried.last().is_some_and(sits) { carried.pop() } else { None };
        let hands: Vec<TravellingThing> = carried.into_iter().map(|packed| packed.main).collect();
        let (mount, companions) = match last {
            Some(PackedMechanism { main, companions, .. }) => (Some(Box::new(main)), companions),
            None => (None, Companions::default()),
        };
        let parcel = Parcel::Person(TravellingPerson { hands, mount, companions, ..person });
        let away: Vec<AwayThing> = parcel.things().map(AwayThing::of).collect();
        self.leave_frames(&parcel);
        let (traveller, bytes) = (parcel.traveller(), parcel.encode());
        assert!(bytes.len() <= PARCEL_BYTES_MAX, "{} bytes depart in one parcel", bytes.len());
        let border = self.borders.all.get_mut(&neighbour).expect("a border that was just seen");
        border.turned_back.retain(|turned| turned.person != *key);
        let departure = border.crossing.depart(traveller, Parcel::digest(&bytes), now);
        let number = departure.expect("a border that is no wall").number;
        self.borders.parcels.insert((neighbour, number), bytes);
        // What stays would leave by itself after her if it lay in the portal.
        let stays: Vec<ObjectId> =
            self.in_hands_of(avatar).filter(|id| !ids.contains(id)).collect();
        for id in stays {
            let reach = self.bodies.body(id).map_or(Fx::ZERO, |body| body.shape().reach());
            self.put_down(id, Some(self.place_back(neighbour, place, reach)));
        }
        self.send_away(key, Presence::Away { to: neighbour, number });
        ids.into_iter().zip(away).for_each(|(id, away)| self.goes_away(id, away));
    }

    /// Writes down what is said to the neighbours after this turn.
    fn say(&mut self, ways: &[(SimId, BorderWay)]) {
        let (height, now): (Height, Millis) = (self.clock.height, self.clock.time);
        let neighbours: Vec<SimId> = self.borders.all.iter().map(|(sim, _)| *sim).collect();
        for neighbour in neighbours {
            let way = ways.iter().find(|(sim, _)| *sim == neighbour).map(|(_, way)| way);
            let near = way.map(|way| self.people_near(way)).unwrap_or_default();
            let border = self.borders.all.get_mut(&neighbour);
            let border = border.expect("a border that was just listed");
            let said = &mut border.crossing.said;
            (said.height, said.time, said.near) = (height, now, near);
            // Whoever left with a pass is judged up to the deadline.
            said.passes.retain(|pass| pass.until.plus(DEPARTURE_MS) >= now);
            let (passes, lanes) = (&said.passes, &mut border.lanes);
            lanes.retain(|key, _| passes.binary_search_by(|pass| pass.person.cmp(key)).is_ok());
            border.turned_back.retain(|turned| now.since(turned.at) <= TURNED_BACK_MS);
            self.refuse_banned(neighbour);
            self.answer_hands(neighbour);
            // The frame comes last: it has the place that all else leaves.
            self.renew_frame(neighbour, way.and_then(BorderWay::line));
        }
    }

    /// Takes the passes of people who were banned since they got them.
    fn refuse_banned(&mut self, neighbour: SimId) {
        let border = self.borders.all.get(&neighbour).expect("a border that was just listed");
        let time = self.governance.time;
        let is_banned = |pass: &&CrossingPass| {
            pass.refused.is_none() && self.people.ban(&pass.person, time).is_some()
        };
        let passes = border.crossing.said.passes.iter();
        let banned: Vec<PublicKey> = passes.filter(is_banned).map(|pass| pass.person).collect();
        if banned.is_empty() {
            return;
        }
        let border = self.borders.all.get_mut(&neighbour).expect("a border that was just seen");
        let passes = border.crossing.said.passes.iter_mut();
        for pass in passes.filter(|pass| banned.contains(&pass.person)) {
            pass.refused = Some(PassRefusal::Banned);
        }
    }

    /// Returns the people near a line or a portal: the nearest ones, in the order of their keys.
    fn people_near(&self, way: &BorderWay) -> Vec<NearPerson> {
        let place = |(key, avatar): (&PublicKey, &ObjectId)| {
            let place = self.bodies.body(*avatar)?.position();
            way.is_near(place).then(|| (way.distance(place), *key, *avatar))
        };
        let mut near: Vec<(Fx, PublicKey, ObjectId)> =
            self.present.iter().filter_map(place).collect();
        near.sort();
        near.truncate(PEOPLE_NEAR_MAX);
        near.sort_by_key(|(_, key, _)| *key);
        near.into_iter().map(|(_, key, avatar)| self.near_person(key, avatar)).collect()
    }

    /// Gives somebody who approaches an answer, which replaces an earlier one.
    pub(crate) fn give_pass(
        &mut self,
        neighbour: SimId,
        pass: CrossingPass,
        lane: metatopia_types::Lane,
    ) {
        let border = self.borders.all.get_mut(&neighbour);
        let border = border.expect("who approaches comes over a border that is there");
        let passes = &mut border.crossing.said.passes;
        border.lanes.insert(pass.person, lane);
        match passes.binary_search_by(|known| known.person.cmp(&pass.person)) {
            Ok(at) => passes[at] = pass,
            Err(at) => passes.insert(at, pass),
        }
    }

    /// Replaces the presence of somebody who is logged in.
    pub(crate) fn set_presence(&mut self, key: &PublicKey, presence: Presence) {
        let Some(player) = self.players.get(key).cloned() else { return };
        let Some(session) = player.session.clone() else { return };
        let session = Some(PlayerSession { presence, ..session });
        self.put_player(*key, Player { session, ..player });
    }
}
