//! The wide phase: which pairs of bodies could meet in this step. A pure function of the state.

use crate::fixed::{Q20, Vector};
use crate::limits::PARTNERS_MAX;
use crate::motion::Motion;
use crate::solid::{Extent, Solid};

/// Two bodies by their places in id order, the lower first, as `a << 32 | b`.
pub(crate) type PairKey = u64;

/// The two places of a key.
pub(crate) const fn places(key: PairKey) -> (usize, usize) {
    ((key >> 32) as usize, (key & 0xFFFF_FFFF) as usize)
}

/// The key of two places.
pub(crate) fn pair_key(a: u32, b: u32) -> PairKey {
    (u64::from(a.min(b)) << 32) | u64::from(a.max(b))
}

/// A body's box with the axis to sweep along first.
#[derive(Clone, Copy)]
struct Entry {
    low: i32,
    high: i32,
    across_low: i32,
    across_high: i32,
    place: u32,
}

/// All pairs whose boxes meet and whose kinds concern each other, in id order, but for those of a
/// body with too many ([`PARTNERS_MAX`]).
///
/// Bodies are sorted by the lower end of their boxes along the axis on which they are spread
/// further, and each is compared with those that begin before it ends.
pub(crate) fn pairs(solids: &[Solid]) -> Vec<PairKey> {
    let along_x = sweeps_along_x(solids.iter().map(|solid| solid.position));
    let entries: Vec<Entry> = (0_u32..)
        .zip(solids)
        .map(|(place, solid)| entry(place, &solid.extent(), along_x))
        .collect();
    // By the lower end, and by place where that is the same: in one number, which sorts fast.
    let key = |entry: &Entry| (i64::from(entry.low) << 32) | i64::from(entry.place);
    let mut order: Vec<i64> = entries.iter().map(key).collect();
    order.sort_unstable();
    let entries: Vec<Entry> =
        order.into_iter().map(|key| entries[(key & 0xFFFF_FFFF) as usize]).collect();
    let mut found = sweep(&entries, solids);
    found.sort_unstable();
    found
}

fn entry(place: u32, extent: &Extent, along_x: bool) -> Entry {
    let (low, high) = (extent.low, extent.high);
    let swap = |at: Vector| {
        if along_x { (at.x.0, at.y.0) } else { (at.y.0, at.x.0) }
    };
    let ((low, across_low), (high, across_high)) = (swap(low), swap(high));
    Entry { low, high, across_low, across_high, place }
}

fn sweep(entries: &[Entry], solids: &[Solid]) -> Vec<PairKey> {
    let mut found = Vec::new();
    let mut partners = vec![[0_u8; Concern::COUNT]; solids.len()];
    for (index, first) in entries.iter().enumerate() {
        for second in &entries[index + 1..] {
            if second.low > first.high {
                break;
            }
            let apart =
                (second.across_low > first.across_high) | (first.across_low > second.across_high);
            if apart {
                continue;
            }
            let (a, b) = (first.place.min(second.place), first.place.max(second.place));
            let (one, other) = ((a, &solids[a as usize]), (b, &solids[b as usize]));
            let Some((place, concern)) = concern(one, other) else {
                continue;
            };
            let count = &mut partners[place as usize][concern as usize];
            if *count < PARTNERS_MAX {
                *count += 1;
                found.push(pair_key(a, b));
            }
        }
    }
    found
}

/// Why a body is looked at with another one.
#[derive(Clone, Copy)]
pub(crate) enum Concern {
    Wall,
    Mover,
    Sensor,
}

impl Concern {
    /// How many there are.
    pub(crate) const COUNT: usize = 3;
}

/// Which of two bodies, the one with the lower place first, a pair counts for, and as what; nothing
/// if the two kinds do not concern each other. A sensor notices whatever moves and is no sensor;
/// others meet if one can be pushed. Of two that can, the pair counts for the smaller: there is
/// little room around it for others of its size.
pub(crate) fn concern(
    (a, first): (u32, &Solid),
    (b, second): (u32, &Solid),
) -> Option<(u32, Concern)> {
    if first.sensor || second.sensor {
        let (sensor, place, other) =
            if first.sensor { (first, b, second) } else { (second, a, first) };
        let notices = sensor.sensor && !other.sensor && other.motion != Motion::Static;
        return notices.then_some((place, Concern::Sensor));
    }
    match (first.is_braced(), second.is_braced()) {
        (true, true) => None,
        (true, false) => Some((b, Concern::Wall)),
        (false, true) => Some((a, Concern::Wall)),
        (false, false) if first.matter.outer_radius < second.matter.outer_radius => {
            Some((a, Concern::Mover))
        }
        (false, false) => Some((b, Concern::Mover)),
    }
}

/// Whether bodies with these centres are swept along the x axis: if they are spread further along
/// it, or as far.
pub(crate) fn sweeps_along_x(centers: impl Iterator<Item = Vector> + Clone) -> bool {
    spread(centers.clone().map(|at| at.x)) >= spread(centers.map(|at| at.y))
}

/// How far coordinates are spread: the sum of their distances from their mean.
fn spread(coordinates: impl Iterator<Item = Q20> + Clone) -> i64 {
    let bits = coordinates.map(|at| i64::from(at.0));
    let (sum, count) = bits.clone().fold((0, 0), |(sum, count), at| (sum + at, count + 1));
    let mean = sum / count.max(1);
    bits.map(|at| (at - mean).abs()).sum()
}
