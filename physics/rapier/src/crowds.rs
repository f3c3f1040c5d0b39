//! Crowds: which bodies wait, because too many others are where they are.
//!
//! Rapier keeps every pair of bodies whose boxes overlap, so a heap of bodies in one place would cost a
//! time and a memory in proportion to its square. Of such a heap some take part, and the others wait until
//! there is room. Who waits follows from the bodies alone.
//!
//! Only a heap makes anybody wait. Some posts in one place do not: whoever walks into them would wait for as
//! long as they are there.

use metatopia_physics::{Body, Filter, Motion, Shape, limits::PARTNERS_MAX};
use metatopia_types::ObjectId;

/// A body as the count sees it: its box, in bits of fixed point, and what it meets.
struct BodyBox {
    low: [i64; 2],
    high: [i64; 2],
    index: usize,
    motion: Motion,
    sensor: bool,
    filter: Filter,
}

/// How many others of each kind are in the box of a body that moves.
#[derive(Clone, Copy, Default)]
struct Overlaps {
    walls: u32,
    lower: u32,
    sensors: u32,
}

/// Pairs of all crowded bodies together that rapier gets: as many as a pile of a thousand bodies has.
const CROWDED_PAIRS: u32 = 4_096;

impl Overlaps {
    /// Returns whether the body has more partners of a kind than [`PARTNERS_MAX`].
    fn is_crowded(&self) -> bool {
        let kinds = [self.walls, self.lower, self.sensors];
        kinds.into_iter().any(|count| count > u32::from(PARTNERS_MAX))
    }

    const fn pairs(&self) -> u32 {
        self.walls + self.lower + self.sensors
    }
}

/// Returns the bodies that wait in this step, in id order. A body is crowded that overlaps more than
/// [`PARTNERS_MAX`] walls, as many sensors, or as many movable bodies with lower ids. Where the crowded
/// bodies have more than [`CROWDED_PAIRS`] together, the most crowded ones wait.
pub(crate) fn waiting(bodies: &[Body]) -> Vec<ObjectId> {
    let max = usize::from(PARTNERS_MAX);
    if bodies.len() <= max {
        return Vec::new();
    }
    let mut places: Vec<BodyBox> =
        (0..).zip(bodies).map(|(index, body)| place(index, body)).collect();
    places.sort_by_key(|place| (place.low[0], place.index));
    let mut crowds = vec![Overlaps::default(); bodies.len()];
    let mut open: Vec<&BodyBox> = Vec::new();
    for place in &places {
        open.retain(|other| other.high[0] >= place.low[0]);
        for other in &open {
            if other.high[1] >= place.low[1] && other.low[1] <= place.high[1] {
                count(&mut crowds, place, other);
            }
        }
        open.push(place);
    }
    let crowded = (0..).zip(&crowds).filter(|(_, crowd)| crowd.is_crowded());
    let mut crowded: Vec<(u32, usize)> =
        crowded.map(|(index, crowd)| (crowd.pairs(), index)).collect();
    crowded.sort_unstable();
    let mut pairs = 0;
    let waits = |(more, _): &(u32, usize)| {
        pairs += more;
        pairs > CROWDED_PAIRS
    };
    let waiting = crowded.into_iter().filter(waits);
    let mut ids: Vec<ObjectId> = waiting.map(|(_, index)| bodies[index].id()).collect();
    ids.sort_unstable();
    ids
}

/// Counts a pair for the body that could do without it.
fn count(crowds: &mut [Overlaps], one: &BodyBox, other: &BodyBox) {
    if !one.filter.meets(other.filter) {
        return;
    }
    for (place, partner) in [(one, other), (other, one)] {
        let crowd = &mut crowds[place.index];
        match (place.motion, partner.motion) {
            _ if place.sensor || place.motion == Motion::Static => {}
            _ if partner.sensor => crowd.sensors += 1,
            (Motion::Dynamic, Motion::Static | Motion::Kinematic) => crowd.walls += 1,
            (Motion::Dynamic, Motion::Dynamic) if partner.index < place.index => crowd.lower += 1,
            _ => {}
        }
    }
}

/// Returns the box around a body.
fn place(index: usize, body: &Body) -> BodyBox {
    let motion = body.body_motion();
    let (x, y) = (motion.position.x, motion.position.y);
    let (cosine, sine) = (motion.facing.x.saturating_abs(), motion.facing.y.saturating_abs());
    let shape = body.shape();
    let [width, height] = match shape {
        Shape::Rect { half } => [
            half.x.saturating_mul(cosine).saturating_add(half.y.saturating_mul(sine)),
            half.x.saturating_mul(sine).saturating_add(half.y.saturating_mul(cosine)),
        ],
        Shape::Capsule { half, radius } => [
            half.saturating_mul(cosine).saturating_add(radius),
            half.saturating_mul(sine).saturating_add(radius),
        ],
        Shape::Circle { .. } | Shape::Polygon(_) | Shape::Segment(_) | Shape::Compound(_) => {
            [shape.reach(); 2]
        }
    };
    BodyBox {
        low: [x.saturating_sub(width).to_bits(), y.saturating_sub(height).to_bits()],
        high: [x.saturating_add(width).to_bits(), y.saturating_add(height).to_bits()],
        index,
        motion: body.motion(),
        sensor: body.is_sensor(),
        filter: body.filter(),
    }
}
