//! Zones: the ground around a thing whose script is told who comes and who goes.
//!
//! Who and what can come is sorted along one axis once a tick, so that a zone looks at those in its strip
//! alone. Only so much is looked at in a tick, by the zones in turn: with more of them, or in a crowd, each
//! waits longer, and a tick takes no longer.

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::{Event, EventKind};
use metatopia_types::{ObjectId, Outline, ScriptId, Tick};
use serde::{Deserialize, Serialize};

use super::{
    inbox::{QueuedEvent, Sender},
    programs::Programs,
};
use crate::{
    limits::{ZONE_BYTES, ZONE_LOOKS_PER_TICK, ZONE_MEMBERS_MAX, ZONE_THINGS_MAX, ZONES_PER_TICK},
    state::State,
};

/// The zone of a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zone {
    /// The ground around the centre of the script's object; it turns with the object.
    pub outline: Outline,
    /// Who and what is inside, as far as the script was told; in order.
    pub inside: Vec<ObjectId>,
}

/// The ground of a zone as it lies in a tick.
struct ZoneGround {
    outline: Outline,
    center: Vec2,
    /// The direction of the first axis of a box.
    facing: Vec2,
    /// How far it reaches from its centre at most.
    reach: Fx,
}

impl ZoneGround {
    /// Returns the ground of a zone around a body that is here and faces there.
    fn new(outline: Outline, center: Vec2, facing: Vec2) -> Self {
        let reach = match outline {
            Outline::Disc { radius } => radius,
            // More than the diagonal.
            Outline::Box { half } => half.x.saturating_add(half.y),
            // No script can ask for one.
            Outline::Capsule { .. } | Outline::Polygon(_) => Fx::ZERO,
        };
        Self { outline, center, facing, reach }
    }

    /// Says whether a point is inside.
    fn holds(&self, point: Vec2) -> bool {
        let from = point.saturating_sub(self.center);
        if from.x.saturating_abs() > self.reach || from.y.saturating_abs() > self.reach {
            return false;
        }
        match self.outline {
            // Squares of reaches are far below the range: 32 times 32.
            Outline::Disc { radius } => from.length_squared() <= radius.saturating_mul(radius),
            Outline::Box { half } => {
                from.dot(self.facing).saturating_abs() <= half.x
                    && self.facing.cross(from).saturating_abs() <= half.y
            }
            Outline::Capsule { .. } | Outline::Polygon(_) => false,
        }
    }
}

/// Somebody or something that can come into a zone.
#[derive(Clone, Copy)]
struct Comer {
    place: Vec2,
    id: ObjectId,
    is_thing: bool,
}

/// All who can come into a zone, from west to east: people, and things that can be pushed.
struct Comers(Vec<Comer>);

impl Comers {
    fn of(state: &State) -> Self {
        let people = state.present.values().map(|id| (*id, false));
        let things = state.movable.iter().map(|id| (*id, true));
        let comer = |(id, is_thing): (ObjectId, bool)| {
            Some(Comer { place: state.bodies.body(id)?.position(), id, is_thing })
        };
        let mut comers: Vec<_> = people.chain(things).filter_map(comer).collect();
        comers.sort_unstable_by_key(|comer| (comer.place.x, comer.id));
        Self(comers)
    }

    /// Returns those as far in the west and east as the ground reaches.
    fn strip(&self, ground: &ZoneGround) -> &[Comer] {
        let left = ground.center.x.saturating_sub(ground.reach);
        let right = ground.center.x.saturating_add(ground.reach);
        let first = self.0.partition_point(|comer| comer.place.x < left);
        let strip = &self.0[first..];
        &strip[..strip.partition_point(|comer| comer.place.x <= right)]
    }
}

impl State {
    /// Gives a script another zone, or none. Who is inside the old one and the new one has not left.
    pub(super) fn set_zone(&mut self, id: ScriptId, outline: Option<Outline>) {
        let script = self.scripts.get_mut(&id).expect("a script that ran or is resumed is there");
        let inside = script.zone.take().map(|zone| zone.inside);
        if let Some(outline) = outline {
            if inside.is_none() && !self.byte_budget.take(ZONE_BYTES) {
                script.dropped = script.dropped.saturating_add(1);
                return;
            }
            script.zone = Some(Zone { outline, inside: inside.unwrap_or_default() });
        }
        self.index_zones(id);
    }

    /// Puts a script into the index of zones, or removes it, as its zones say.
    pub(super) fn index_zones(&mut self, id: ScriptId) {
        let script = self.scripts.get(&id).expect("a script whose zone has changed is there");
        if script.zones().next().is_some() {
            self.zones.insert(id);
        } else {
            self.zones.remove(&id);
        }
    }
}

/// Tells scripts who came into their zones and who left. The first event gets the number `index` among
/// those that physics raises.
pub(crate) fn watch_zones(state: &mut State, programs: &Programs, now: Tick, mut index: u32) {
    if state.zones.is_empty() {
        return;
    }
    let comers = Comers::of(state);
    let mut looks = 0_usize;
    // The turn goes by the ids of scripts, so nobody who gives up a zone and takes it again moves others.
    for _ in 0..state.zones.len().min(ZONES_PER_TICK) {
        let next = state.zones.range(state.clock.next_zone..).next();
        let id = *next.or_else(|| state.zones.first()).expect("there is a zone");
        state.clock.next_zone = id.plus(1);
        looks = looks.saturating_add(watch_zone(state, programs, &comers, (now, &mut index), id));
        if looks >= ZONE_LOOKS_PER_TICK {
            break;
        }
    }
}

/// Tells a script who came into its zone and who left. Returns how many were looked at for that.
fn watch_zone(
    state: &mut State,
    programs: &Programs,
    comers: &Comers,
    (now, index): (Tick, &mut u32),
    id: ScriptId,
) -> usize {
    let script = state.scripts.get(&id).expect("a script with a zone is in the state");
    let Some(zone) = script.zone.as_ref().filter(|_| script.suspended.is_none()) else {
        return 1;
    };
    let (object, mut inside) = (script.object, zone.inside.clone());
    let body = state.bodies.body(object).expect("an object with a script has a body");
    let facing = match zone.outline {
        Outline::Disc { .. } => Vec2::ZERO,
        _ => body.angle().direction(),
    };
    let ground = ZoneGround::new(zone.outline, body.position(), facing);
    let stays =
        |id: &ObjectId| state.bodies.body(*id).is_some_and(|body| ground.holds(body.position()));
    let left: Vec<_> = inside.iter().copied().filter(|id| !stays(id)).collect();
    let mut looks = 1 + inside.len();
    let mut tell = |state: &mut State, kind: EventKind, event: Event| {
        let queued = QueuedEvent { sender: Sender::Physics, raised: now, index: *index, event };
        *index = index.saturating_add(1);
        // Whom there was no room to tell of is told of later.
        programs.listening(kind, &[id]).next().is_none() || state.offer(id, queued)
    };
    // Who leaves makes room for who comes.
    for other in left {
        if tell(state, EventKind::Leave, Event::Leave { other }) {
            inside.retain(|member| *member != other);
        }
    }
    // A zone that is full looks at its members alone, however many stand around in it.
    if inside.len() < ZONE_MEMBERS_MAX {
        let mut things = inside.iter().filter(|id| state.movable.contains(id)).count();
        let strip = comers.strip(&ground);
        looks = looks.saturating_add(strip.len());
        let comes = |comer: &&Comer| {
            let has_place = !(comer.is_thing && things >= ZONE_THINGS_MAX) && comer.id != object;
            has_place && ground.holds(comer.place) && inside.binary_search(&comer.id).is_err()
        };
        let mut came: Vec<Comer> = strip.iter().filter(comes).copied().collect();
        came.sort_unstable_by_key(|comer| comer.id);
        for comer in came {
            if inside.len() >= ZONE_MEMBERS_MAX {
                break;
            }
            // People have places that no thing takes.
            if comer.is_thing && things >= ZONE_THINGS_MAX {
                continue;
            }
            if !tell(state, EventKind::Enter, Event::Enter { other: comer.id }) {
                break;
            }
            things += usize::from(comer.is_thing);
            let place = inside.partition_point(|member| *member < comer.id);
            inside.insert(place, comer.id);
        }
    }
    keep_inside(state, id, inside);
    looks
}

/// Notes who is inside the zone of a script. A leaf that does not change is not hashed again.
fn keep_inside(state: &mut State, id: ScriptId, inside: Vec<ObjectId>) {
    let script = state.scripts.get(&id).expect("a script that was just read");
    if script.zone.as_ref().is_some_and(|zone| zone.inside != inside) {
        let script = state.scripts.get_mut(&id).expect("a script that was just read");
        script.zone.as_mut().expect("a zone that was just read").inside = inside;
    }
}

#[cfg(test)]
mod tests {
    use metatopia_scripting::limits::ZONE_REACH;
    use metatopia_types::{limits::OBJECT_NUMBERS_END, wire};

    use super::*;

    #[test]
    fn a_zone_takes_no_more_bytes_than_it_took_of_the_budget() {
        let half = Vec2::new(Fx::from_int(ZONE_REACH), Fx::from_int(ZONE_REACH));
        let inside = vec![ObjectId(OBJECT_NUMBERS_END - 1); ZONE_MEMBERS_MAX];
        let bytes = wire::length(&Zone { outline: Outline::Box { half }, inside });
        assert!(bytes <= ZONE_BYTES, "{bytes}");
    }

    #[test]
    fn a_disc_holds_its_rim_and_a_box_its_sides() {
        let at = |x: i32, y: i32| Vec2::new(Fx::from_int(x), Fx::from_int(y));
        let ground = |outline| ZoneGround::new(outline, Vec2::ZERO, at(1, 0));
        let disc = ground(Outline::Disc { radius: Fx::from_int(5) });
        let plank = ground(Outline::Box { half: at(4, 1) });

        assert!(disc.holds(at(3, 4)) && disc.holds(at(-5, 0)));
        assert!(!disc.holds(at(4, 4)) && !disc.holds(at(16, -2_000)));
        assert!(plank.holds(at(-4, 1)) && !plank.holds(at(0, 2)) && !plank.holds(at(5, 0)));
    }
}
