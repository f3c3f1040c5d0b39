//! The broad phase: which pairs of bodies could meet in this step. It is a pure function of the
//! state.

use crate::fixed::{Q20, Vector};
use crate::limits::PARTNERS_MAX;
use crate::motion::Motion;
use crate::narrow_phase::Hull;
use crate::solver_body::{Aabb, SolverBody};

/// Two bodies by their indices in id order, the lower first, as `a << 32 | b`.
pub(crate) type PairKey = u64;

/// Returns the two indices of a key.
pub(crate) const fn indices(key: PairKey) -> (usize, usize) {
    ((key >> 32) as usize, (key & 0xFFFF_FFFF) as usize)
}

/// Returns the key of two indices.
pub(crate) fn pair_key(a: u32, b: u32) -> PairKey {
    (u64::from(a.min(b)) << 32) | u64::from(a.max(b))
}

/// The bounding box of a body by the axis to sweep along and the other one.
#[derive(Clone, Copy, Debug)]
struct SweepEntry {
    low: i32,
    high: i32,
    other_low: i32,
    other_high: i32,
    index: u32,
}

/// The memory of a sweep, which the next one uses again.
#[derive(Debug, Default)]
pub(crate) struct SweepMemory {
    unsorted: Vec<SweepEntry>,
    order: Vec<i64>,
    sorted: Vec<SweepEntry>,
    partners: Vec<[u8; PairKind::COUNT]>,
}

/// Finds all pairs whose boxes overlap and whose kinds concern each other, in id order, without
/// those beyond [`PARTNERS_MAX`] of a body.
///
/// This is sweep and prune. Bodies are sorted by the lower end of their boxes along the axis on
/// which they are spread further, and each is compared with those that begin before it ends.
pub(crate) fn find_pairs(
    bodies: &[SolverBody],
    hulls: &[Hull],
    memory: &mut SweepMemory,
    found: &mut Vec<PairKey>,
) {
    let along_x = sweeps_along_x(bodies.iter().map(|body| body.position));
    let SweepMemory { unsorted, order, sorted, .. } = memory;
    let entries = (0_u32..).zip(bodies);
    refill(unsorted, entries.map(|(index, body)| entry(index, &body.aabb(hulls), along_x)));
    // By the lower end, and by index where that is the same: in one number, which sorts fast.
    let key = |entry: &SweepEntry| (i64::from(entry.low) << 32) | i64::from(entry.index);
    refill(order, unsorted.iter().map(key));
    order.sort_unstable();
    refill(sorted, order.iter().map(|key| unsorted[(key & 0xFFFF_FFFF) as usize]));
    found.clear();
    sweep(memory, bodies, found);
    found.sort_unstable();
}

/// Replaces the content of a list, whose memory stays.
fn refill<T>(list: &mut Vec<T>, content: impl Iterator<Item = T>) {
    list.clear();
    list.extend(content);
}

fn entry(index: u32, aabb: &Aabb, along_x: bool) -> SweepEntry {
    let swap = |at: Vector| {
        if along_x { (at.x.0, at.y.0) } else { (at.y.0, at.x.0) }
    };
    let ((low, other_low), (high, other_high)) = (swap(aabb.low), swap(aabb.high));
    SweepEntry { low, high, other_low, other_high, index }
}

fn sweep(memory: &mut SweepMemory, bodies: &[SolverBody], found: &mut Vec<PairKey>) {
    let SweepMemory { sorted: entries, partners, .. } = memory;
    partners.clear();
    partners.resize(bodies.len(), [0; PairKind::COUNT]);
    for (position, first) in entries.iter().enumerate() {
        for second in &entries[position + 1..] {
            if second.low > first.high {
                break;
            }
            let apart =
                (second.other_low > first.other_high) | (first.other_low > second.other_high);
            if apart {
                continue;
            }
            let (a, b) = (first.index.min(second.index), first.index.max(second.index));
            let (one, other) = ((a, &bodies[a as usize]), (b, &bodies[b as usize]));
            let Some((owner, kind)) = classify(one, other) else {
                continue;
            };
            let count = &mut partners[owner as usize][kind as usize];
            if *count < PARTNERS_MAX {
                *count += 1;
                found.push(pair_key(a, b));
            }
        }
    }
}

/// The kind of a pair, as the body sees it that the pair counts for.
#[derive(Clone, Copy)]
pub(crate) enum PairKind {
    /// A body of finite mass meets one of infinite mass.
    Wall,
    /// Two bodies of finite mass meet.
    Mover,
    /// A body that moves meets a sensor.
    Sensor,
}

impl PairKind {
    /// The number of kinds.
    pub(crate) const COUNT: usize = 3;
}

/// Returns which of two bodies a pair counts for, and its kind; `None` if the two do not concern
/// each other. The body with the lower index comes first.
///
/// A sensor notices whatever moves and is no sensor. Other bodies meet if one has a finite mass. A
/// pair of two finite masses counts for the smaller body: there is little room around it for others
/// of its size.
pub(crate) fn classify(
    (a, first): (u32, &SolverBody),
    (b, second): (u32, &SolverBody),
) -> Option<(u32, PairKind)> {
    if first.sensor || second.sensor {
        let (sensor, index, other) =
            if first.sensor { (first, b, second) } else { (second, a, first) };
        let notices = sensor.sensor && !other.sensor && other.motion != Motion::Static;
        return notices.then_some((index, PairKind::Sensor));
    }
    let (radius_a, radius_b) =
        (first.mass_props.bounding_radius, second.mass_props.bounding_radius);
    match (first.has_infinite_mass(), second.has_infinite_mass()) {
        (true, true) => None,
        (true, false) => Some((b, PairKind::Wall)),
        (false, true) => Some((a, PairKind::Wall)),
        (false, false) if radius_a < radius_b => Some((a, PairKind::Mover)),
        (false, false) => Some((b, PairKind::Mover)),
    }
}

/// Returns whether bodies with these centres are swept along the x axis: if they are spread further
/// along it, or as far.
pub(crate) fn sweeps_along_x(centers: impl Iterator<Item = Vector> + Clone) -> bool {
    spread(centers.clone().map(|at| at.x)) >= spread(centers.map(|at| at.y))
}

/// Returns how far coordinates are spread: the sum of their distances from their mean.
fn spread(coordinates: impl Iterator<Item = Q20> + Clone) -> i64 {
    let bits = coordinates.map(|at| i64::from(at.0));
    let (sum, count) = bits.clone().fold((0, 0), |(sum, count), at| (sum + at, count + 1));
    let mean = sum / count.max(1);
    bits.map(|at| (at - mean).abs()).sum()
}
