//! Zones: the ground around a thing whose script is told who comes and who goes.
//!
//! Who and what can come is sorted along one axis once a tick, so that a zone looks at those in its strip
//! alone. Only so many zones are looked at in a tick: with more of them each waits for its turn, and a
//! tick takes no longer.

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::{Event, EventKind};
use metatopia_types::{ObjectId, Outline, ScriptId, Tick};
use serde::{Deserialize, Serialize};

use super::{
    inbox::{QueuedEvent, Sender},
    programs::Programs,
};
use crate::{
    limits::{ZONE_BYTES, ZONE_MEMBERS_MAX, ZONE_THINGS_MAX, ZONES_PER_TICK},
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

impl Zone {
    /// Returns how far it reaches from its centre at most.
    fn reach(&self) -> Fx {
        match self.outline {
            Outline::Disc { radius } => radius,
            // More than the diagonal.
            Outline::Box { half } => half.x.saturating_add(half.y),
        }
    }

    /// Says whether a point is inside, given from the centre of the zone as it lies when it is not turned.
    fn holds(&self, point: Vec2) -> bool {
        match self.outline {
            // Squares of reaches are far below the range: 32 times 32.
            Outline::Disc { radius } => point.length_squared() <= radius.saturating_mul(radius),
            Outline::Box { half } => {
                point.x.saturating_abs() <= half.x && point.y.saturating_abs() <= half.y
            }
        }
    }
}

/// The places of all who can come into a zone: people, and things that can be pushed.
struct Comers(Vec<(Vec2, ObjectId)>);

impl Comers {
    fn of(state: &State) -> Self {
        let comers = state.present.values().chain(&state.movable);
        let place = |id: &ObjectId| Some((state.bodies.body(*id)?.position(), *id));
        let mut comers: Vec<_> = comers.filter_map(place).collect();
        comers.sort_unstable_by_key(|(place, id)| (place.x, *id));
        Self(comers)
    }

    /// Returns those in a zone of an object, in order.
    fn inside(&self, state: &State, object: ObjectId, zone: &Zone) -> Vec<ObjectId> {
        let Some(body) = state.bodies.body(object) else {
            return Vec::new();
        };
        let (center, reach) = (body.position(), zone.reach());
        let (left, right) = (center.x.saturating_sub(reach), center.x.saturating_add(reach));
        let first = self.0.partition_point(|(place, _)| place.x < left);
        let strip = self.0[first..].iter().take_while(|(place, _)| place.x <= right);
        let turn = body.angle().wrapping_neg();
        let mut found: Vec<ObjectId> = strip
            .filter(|(place, id)| {
                let from = place.saturating_sub(center);
                *id != object && from.y.saturating_abs() <= reach && zone.holds(from.rotate(turn))
            })
            .map(|(_, id)| *id)
            .collect();
        found.sort_unstable();
        found
    }
}

impl State {
    /// Gives a script another zone, or none. Who is inside the old one and the new one has not left.
    pub(super) fn set_zone(&mut self, id: ScriptId, outline: Option<Outline>) {
        let script = self.scripts.get_mut(&id).expect("a script that ran or is resumed is there");
        let Some(outline) = outline else {
            script.zone = None;
            self.zones.remove(&id);
            return;
        };
        let inside = script.zone.take().map(|zone| zone.inside);
        if inside.is_none() && !self.byte_budget.take(ZONE_BYTES) {
            script.dropped = script.dropped.saturating_add(1);
            return;
        }
        script.zone = Some(Zone { outline, inside: inside.unwrap_or_default() });
        self.zones.insert(id);
    }

    /// Gives a script the zone again that it had before an upgrade. The building step that upgraded it took
    /// more bytes than a zone has.
    pub(super) fn restore_zone(&mut self, id: ScriptId, outline: Option<Outline>) {
        let script = self.scripts.get_mut(&id).expect("a script whose upgrade ends");
        let inside = script.zone.take().map(|zone| zone.inside).unwrap_or_default();
        script.zone = outline.map(|outline| Zone { outline, inside });
        if outline.is_some() {
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
    // Each zone in every so many ticks, by its place among all.
    let period = state.zones.len().div_ceil(ZONES_PER_TICK);
    let first = usize::try_from(now.0 % period as u64).expect("below the number of zones");
    let turn: Vec<ScriptId> = state.zones.iter().skip(first).step_by(period).copied().collect();
    for id in turn {
        let script = state.scripts.get(&id).expect("a script with a zone is in the state");
        let zone = script.zone.as_ref().expect("a script that is listed has a zone");
        let found = comers.inside(state, script.object, zone);
        if script.suspended.is_some() || found == zone.inside {
            continue;
        }
        let mut inside = zone.inside.clone();
        // Who leaves makes room for who comes.
        let left = zone.inside.iter().filter(|id| found.binary_search(id).is_err());
        let left = left.map(|other| (EventKind::Leave, *other));
        let came = found.iter().filter(|id| zone.inside.binary_search(id).is_err());
        let came = came.map(|other| (EventKind::Enter, *other));
        let changes: Vec<_> = left.chain(came).collect();
        for (kind, other) in changes {
            let event = match kind {
                EventKind::Leave => Event::Leave { other },
                _ if !has_room(state, &inside, other) => continue,
                _ => Event::Enter { other },
            };
            let hears = programs.listening(kind, &[id]).next().is_some();
            let queued = QueuedEvent { sender: Sender::Physics, raised: now, index, event };
            index = index.saturating_add(1);
            // Whom there was no room to tell of is told of later.
            if hears && !state.offer(id, queued) {
                continue;
            }
            match inside.binary_search(&other) {
                Ok(place) => drop(inside.remove(place)),
                Err(place) => inside.insert(place, other),
            }
        }
        keep_inside(state, id, inside);
    }
}

/// Says whether a zone can tell of one more: people have places that no thing takes.
fn has_room(state: &State, inside: &[ObjectId], other: ObjectId) -> bool {
    let things = || inside.iter().filter(|id| state.movable.contains(id)).count();
    let is_thing = state.movable.contains(&other);
    inside.len() < ZONE_MEMBERS_MAX && !(is_thing && things() >= ZONE_THINGS_MAX)
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
        let zone = |outline| Zone { outline, inside: Vec::new() };
        let disc = zone(Outline::Disc { radius: Fx::from_int(5) });
        let plank = zone(Outline::Box { half: at(4, 1) });

        assert!(disc.holds(at(3, 4)) && disc.holds(at(-5, 0)));
        assert!(!disc.holds(at(4, 4)) && !disc.holds(at(16, -2_000)));
        assert!(plank.holds(at(-4, 1)) && !plank.holds(at(0, 2)) && !plank.holds(at(5, 0)));
    }
}
