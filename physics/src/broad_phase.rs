//! The broad phase: which pairs of bodies could meet in this step. It is a pure function of the
//! state.

use crate::fixed::{Q20, Vector};
use crate::limits::PARTNERS_MAX;
use crate::motion::Motion;
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
#[derive(Clone, Copy)]
struct SweepEntry {
    low: i32,
    high: i32,
    other_low: i32,
    other_high: i32,
    index: u32,
}

/// Returns all pairs whose boxes overlap and whose kinds concern each other, in id order, without
/// those beyond [`PARTNERS_MAX`] of a body.
///
/// This is sweep and prune. Bodies are sorted by the lower end of their boxes along the axis on
/// which they are spread further, and each is compared with those that begin before it ends.
pub(crate) fn pairs(bodies: &[SolverBody]) -> Vec<PairKey> {
    let along_x = sweeps_along_x(bodies.iter().map(|body| body.position));
    let entries: Vec<SweepEntry> =
        (0_u32..).zip(bodies).map(|(index, body)| entry(index, &body.aabb(), along_x)).collect();
    // By the lower end, and by index where that is the same: in one number, which sorts fast.
    let key = |entry: &SweepEntry| (i64::from(entry.low) << 32) | i64::from(entry.index);
    let mut order: Vec<i64> = entries.iter().map(key).collect();
    order.sort_unstable();
    let entries: Vec<SweepEntry> =
        order.into_iter().map(|key| entries[(key & 0xFFFF_FFFF) as usize]).collect();
    let mut found = sweep(&entries, bodies);
    found.sort_unstable();
    found
}

fn entry(index: u32, aabb: &Aabb, along_x: bool) -> SweepEntry {
    let swap = |at: Vector| {
        if along_x { (at.x.0, at.y.0) } else { (at.y.0, at.x.0) }
    };
    let ((low, other_low), (high, other_high)) = (swap(aabb.low), swap(aabb.high));
    SweepEntry { low, high, other_low, other_high, index }
}

fn sweep(entries: &[SweepEntry], bodies: &[SolverBody]) -> Vec<PairKey> {
    let mut found = Vec::new();
    let mut partners = vec![[0_u8; PairKind::COUNT]; bodies.len()];
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
    found
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
