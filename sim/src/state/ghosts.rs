//! Ghosts: bodies of neighbours that stand here near a line, as the frames say that were heard.
//!
//! A ghost pushes and is not pushed. It goes on as its frame said for half a second, and then stands still. It is
//! nobody's thing: nothing here names it, and of an event that it caused a script hears a word for what it was.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{Body, Motion};
use metatopia_types::{
    BorderFrame, FrameBody, Millis, ObjectId, Origin, SimId, Tick, Traveller,
    limits::BORDER_BODIES_MAX,
};
use serde::{Deserialize, Serialize};

use super::{sim_state::State, world::World};
use crate::{
    limits::{BORDER_BAND_METRES, FRAME_MS, GHOST_TICKS},
    rules::{Border, Wall},
    space::{Bodies, BorderLine, GhostPlace},
};

/// The ghosts of one neighbour.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ghosts {
    /// When the newest frame was made that was believed, by the neighbour's clock.
    made: Millis,
    /// The tick up to which they go on.
    until: Tick,
    /// The numbers of their bodies here, by whose or what they are.
    numbers: BTreeMap<Traveller, ObjectId>,
}

/// The ghosts of one neighbour as their leaf has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GhostLeaf {
    made: Millis,
    until: Tick,
    /// Ascending by whose or what they are.
    bodies: Vec<(Traveller, Body)>,
}

impl Ghosts {
    /// Returns what the leaf holds. A ghost whose body gave way to one of the sim's own is gone.
    pub(crate) fn leaf(&self, bodies: &Bodies) -> GhostLeaf {
        let numbers = self.numbers.iter();
        let body = |(traveller, id): (&Traveller, &ObjectId)| {
            Some((*traveller, bodies.ghost(*id)?.clone()))
        };
        GhostLeaf { made: self.made, until: self.until, bodies: numbers.filter_map(body).collect() }
    }

    /// Says whether one of these bodies is one of its ghosts.
    pub(crate) fn has_any(&self, bodies: &[ObjectId]) -> bool {
        self.numbers.values().any(|id| bodies.binary_search(id).is_ok())
    }
}

impl GhostLeaf {
    /// Returns the ghosts and their bodies; none if the leaf is none that a sim writes.
    pub(crate) fn restore(self) -> Option<(Ghosts, Vec<Body>)> {
        let Self { made, until, bodies } = self;
        let is_ordered = bodies.is_sorted_by(|(a, _), (b, _)| a < b);
        let is_ghost = |(_, body): &(Traveller, Body)| {
            body.is_ghost() && body.motion() == Motion::Kinematic && !body.is_sensor()
        };
        if !is_ordered || bodies.len() > BORDER_BODIES_MAX || !bodies.iter().all(is_ghost) {
            return None;
        }
        let numbers = bodies.iter().map(|(traveller, body)| (*traveller, body.id())).collect();
        let bodies = bodies.into_iter().map(|(_, body)| body).collect();
        Some((Ghosts { made, until, numbers }, bodies))
    }
}

impl Border {
    /// Says whether ghosts of the neighbour stand here at a time of this sim: as long as the border is open on both
    /// sides and the neighbour is heard.
    fn shows_ghosts(&self, now: Millis) -> bool {
        matches!(self.wall(now), None | Some(Wall::Crowded))
    }
}

impl State {
    /// Returns the line to a neighbour. There is none to one behind a portal, which has no ghosts here.
    fn line_to(&self, neighbour: SimId) -> Option<BorderLine> {
        let border = self.borders.all.get(&neighbour)?;
        border.way(self.charter.site?.square)?.line().copied()
    }

    /// Says whether each body of a frame stands where a neighbour may say that one stands.
    pub(crate) fn is_frame_at_line(&self, neighbour: SimId, frame: &BorderFrame) -> bool {
        let line = self.line_to(neighbour);
        let is_there = |body: &FrameBody| {
            line.as_ref().is_some_and(|line| GhostPlace::here(body, line).may_be_heard(line))
        };
        frame.bodies.iter().all(is_there)
    }

    /// Returns the frame that was heard last of a neighbour whose ghosts stand here, without those who are here
    /// themselves or under way to here, and whether nothing of it has moved since it was made.
    fn heard_frame(&self, neighbour: SimId) -> Option<(BorderFrame, bool)> {
        let border = self.borders.all.get(&neighbour)?;
        if !border.shows_ghosts(self.clock.time) || !self.bodies.takes_ghosts() {
            return None;
        }
        let said = &border.crossing.heard.as_ref()?.said;
        let mut frame = said.frame.clone();
        let named = frame.bodies.iter().map(|body| body.traveller).collect();
        let mut gone = self.own_among(named);
        gone.extend(said.departures.iter().map(|departure| departure.traveller));
        frame.bodies.retain(|body| !gone.contains(&body.traveller));
        // It would have been made anew by then if anything had moved.
        let is_still = said.time.since(frame.made) >= FRAME_MS;
        Some((frame, is_still))
    }

    /// Has the ghosts of a neighbour stand where the frame says that was heard last.
    pub(super) fn set_ghosts(&mut self, neighbour: SimId) {
        let heard = self.heard_frame(neighbour);
        let (Some((frame, is_still)), Some(line)) = (heard, self.line_to(neighbour)) else {
            return;
        };
        self.drop_missing_ghosts();
        let before = self.borders.ghosts.get(&neighbour).cloned();
        if before.is_none() && frame.bodies.is_empty() {
            return;
        }
        let mut before = before.unwrap_or_default();
        let is_newer = frame.made > before.made;
        let mut numbers = BTreeMap::new();
        for body in &frame.bodies {
            let mut ghost = GhostPlace::here(body, &line).ghost(body);
            if is_still {
                (ghost.velocity, ghost.spin) = (Vec2::ZERO, Fx::ZERO);
            }
            let known = before.numbers.remove(&body.traveller);
            if let Some(id) = known.filter(|_| is_newer || is_still) {
                self.bodies.set_ghost(id, &ghost);
            }
            // The numbers of those who go are free after this loop, so that none is another one's at once.
            let id = known.or_else(|| self.bodies.put_ghost(&ghost));
            numbers.extend(id.map(|id| (body.traveller, id)));
        }
        before.numbers.into_values().for_each(|id| self.bodies.remove_ghost(id));
        if numbers.is_empty() {
            self.borders.ghosts.remove(&neighbour);
            return;
        }
        let until = Tick(self.clock.tick.0.saturating_add(GHOST_TICKS));
        let until = if is_newer { until } else { before.until };
        let ghosts = Ghosts { made: frame.made, until, numbers };
        self.borders.ghosts.insert(neighbour, ghosts);
    }

    /// Looks after the ghosts before the bodies move: ends those of a neighbour that is no longer heard or shut out,
    /// and has those stand still that went on for long enough or far enough.
    pub(super) fn tend_ghosts(&mut self, now: Tick) {
        if self.borders.ghosts.len() == 0 {
            return;
        }
        let time = self.clock.time;
        let neighbours: Vec<SimId> = self.borders.ghosts.iter().map(|(sim, _)| *sim).collect();
        for neighbour in neighbours {
            let border = self.borders.all.get(&neighbour);
            if !border.is_some_and(|border| border.shows_ghosts(time)) {
                let gone = self.borders.ghosts.remove(&neighbour).unwrap_or_default();
                gone.numbers.into_values().for_each(|id| self.bodies.remove_ghost(id));
                continue;
            }
            let present = |who: &Traveller| match who {
                Traveller::Person(person) => self.present.contains_key(person),
                Traveller::Thing(_) => false,
            };
            let ghosts = self.borders.ghosts.get(&neighbour).expect("ghosts that are listed");
            let (until, numbers) = (ghosts.until, &ghosts.numbers);
            let own: Vec<Traveller> = numbers.keys().filter(|who| present(who)).copied().collect();
            let ids: Vec<ObjectId> = numbers.values().copied().collect();
            let line = self.line_to(neighbour).expect("a neighbour whose frames are believed");
            for id in ids {
                let Some(body) = self.bodies.ghost(id) else { continue };
                let depth = line.depth(body.position());
                if now > until || depth < Fx::from_int(-BORDER_BAND_METRES) {
                    self.bodies.stop_ghost(id);
                }
            }
            self.drop_ghosts(neighbour, &own);
        }
    }

    /// Returns whether a ghost is that of a person or of a thing, in a word; nothing if it is there no more.
    pub(super) fn ghost_word(&self, ghost: ObjectId) -> Option<&'static str> {
        let mut all = self.borders.ghosts.iter().flat_map(|(_, ghosts)| &ghosts.numbers);
        let (traveller, _) = all.find(|(_, id)| **id == ghost)?;
        Some(match traveller {
            Traveller::Person(_) => "person",
            Traveller::Thing(_) => "thing",
        })
    }

    /// Ends the ghosts of those who are here themselves.
    pub(super) fn drop_own_ghosts(&mut self) {
        let all = self.borders.ghosts.iter();
        let named = all.flat_map(|(_, ghosts)| ghosts.numbers.keys().copied()).collect();
        let own: Vec<Traveller> = self.own_among(named).into_iter().collect();
        let neighbours: Vec<SimId> = self.borders.ghosts.iter().map(|(sim, _)| *sim).collect();
        neighbours.into_iter().for_each(|neighbour| self.drop_ghosts(neighbour, &own));
    }

    /// Forgets the ghosts whose bodies gave way to bodies of the sim's own.
    pub(super) fn drop_missing_ghosts(&mut self) {
        let missing = |(sim, ghosts): (&SimId, &Ghosts)| {
            let numbers = ghosts.numbers.iter();
            let gone = numbers.filter(|(_, id)| self.bodies.ghost(**id).is_none());
            (*sim, gone.map(|(who, _)| *who).collect::<Vec<_>>())
        };
        let missing: Vec<_> = self.borders.ghosts.iter().map(missing).collect();
        missing.into_iter().for_each(|(sim, gone)| self.drop_ghosts(sim, &gone));
    }

    /// Ends some ghosts of a neighbour.
    fn drop_ghosts(&mut self, neighbour: SimId, gone: &[Traveller]) {
        let ghosts = self.borders.ghosts.get(&neighbour);
        if !ghosts.is_some_and(|ghosts| gone.iter().any(|who| ghosts.numbers.contains_key(who))) {
            return;
        }
        let ghosts = self.borders.ghosts.get_mut(&neighbour).expect("ghosts that were just seen");
        let ids: Vec<ObjectId> = gone.iter().filter_map(|who| ghosts.numbers.remove(who)).collect();
        if ghosts.numbers.is_empty() {
            self.borders.ghosts.remove(&neighbour);
        }
        ids.into_iter().for_each(|id| self.bodies.remove_ghost(id));
    }

    /// Returns who and what of these is in this sim.
    fn own_among(&self, all: BTreeSet<Traveller>) -> BTreeSet<Traveller> {
        let sim = self.charter.sim;
        let is_thing = |who: &Traveller| matches!(who, Traveller::Thing(_));
        let mut own = BTreeSet::new();
        // Looks at all objects, and once for all of them.
        if all.iter().any(is_thing) {
            let here = self.objects.iter().filter(|(_, object)| object.player.is_none());
            let origins = here.map(|(id, object)| Traveller::Thing(object.origin(sim, *id)));
            own.extend(origins.filter(|origin| all.contains(origin)));
        }
        own.extend(all.into_iter().filter(|who| match who {
            Traveller::Person(person) => self.present.contains_key(person),
            Traveller::Thing(Origin { .. }) => false,
        }));
        own
    }
}

impl World {
    /// Returns the bodies of neighbours that stand here as ghosts: whose they are, who or what, and how they stand.
    pub fn ghosts(&self) -> impl Iterator<Item = (SimId, Traveller, &Body)> {
        let state = &self.state;
        state.borders.ghosts.iter().flat_map(move |(neighbour, ghosts)| {
            let numbers = ghosts.numbers.iter();
            numbers.filter_map(move |(who, id)| Some((*neighbour, *who, state.bodies.ghost(*id)?)))
        })
    }
}
