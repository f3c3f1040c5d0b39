//! The broad phase: which pairs of bodies could meet in this step. It is a pure function of the
//! state.

use crate::body::Body;
use crate::fixed::Vector;
use crate::limits::{BODIES_MAX, PARTNERS_MAX};
use crate::motion::Motion;
use crate::sweep_body::{Aabb, SweepBodies, SweepBody};

mod kept;
#[cfg(test)]
mod tests;

use kept::KeptPairs;

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
    order: Vec<u64>,
    sorted: Vec<SweepEntry>,
    partners: Vec<[u8; PairKind::COUNT]>,
    skips: Skips,
    kept: KeptPairs,
}

/// The height of a strip, as a number of bits: 8 m, a few times the size of most bodies.
const STRIP_BITS: u32 = 23;
/// The strips from the lowest coordinate of a box, 2,048 m below the origin, to the highest.
const STRIPS: u32 = 1 << (32 - STRIP_BITS);
/// The bits of an index of a body.
const INDEX_BITS: u32 = BODIES_MAX.ilog2();
/// So many entries of strips for each body are worth sorting. Large bodies lie in many strips.
const ENTRIES_PER_BODY: usize = 3;

/// Finds all pairs whose boxes overlap and whose kinds concern each other, in id order, without
/// those beyond [`PARTNERS_MAX`] of a body.
///
/// Most steps look at the pairs that an earlier one kept, see [`kept`]. Else this is sweep and prune. Bodies are sorted
/// by the lower end of their boxes along the axis on which they are spread further, and each is compared with those
/// that begin before it ends; first in strips across that axis. Only where a body has too many partners, which the
/// order of the whole sweep selects, or where bodies are too large for strips, all are swept as one.
pub(crate) fn find_pairs(
    swept: &SweepBodies,
    all: &[Body],
    memory: &mut SweepMemory,
    found: &mut Vec<PairKey>,
) {
    let mut kept = core::mem::take(&mut memory.kept);
    let is_kept = kept.find(swept, all, memory, found).is_some();
    memory.kept = kept;
    if is_kept {
        return;
    }
    let SweepBodies { bodies, boxes, .. } = swept;
    let along_x = sweeps_along_x(boxes.iter().map(Aabb::centre));
    let entries = (0_u32..).zip(boxes).map(|(index, aabb)| entry(index, aabb, along_x));
    refill(&mut memory.unsorted, entries);
    if sweep_strips(memory, bodies, found).is_none() {
        sweep_all(memory, bodies, found);
    }
    found.sort_unstable();
}

/// Replaces the content of a list, whose memory stays.
pub(crate) fn refill<T>(list: &mut Vec<T>, content: impl Iterator<Item = T>) {
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

/// Returns where a box begins, as a number that is not below zero.
const fn begin(entry: &SweepEntry) -> u64 {
    (entry.low.cast_unsigned() ^ (1 << 31)) as u64
}

/// Returns the strip of a coordinate across the axis of the sweep.
const fn strip(coordinate: i32) -> u32 {
    ((coordinate >> STRIP_BITS) + (STRIPS / 2).cast_signed()).cast_unsigned()
}

/// Sweeps each strip for itself. Returns `None` if that does not tell which pairs there are.
fn sweep_strips(
    memory: &mut SweepMemory,
    bodies: &[SweepBody],
    found: &mut Vec<PairKey>,
) -> Option<()> {
    found.clear();
    let mut partners = core::mem::take(&mut memory.partners);
    partners.clear();
    partners.resize(bodies.len(), [0; PairKind::COUNT]);
    let told = sort_into_strips(memory).and_then(|()| {
        sweep_sorted_strips(memory, |first, second| {
            let Some((key, owner, kind)) = classified(first, second, bodies) else {
                return Some(());
            };
            let count = &mut partners[owner as usize][kind as usize];
            if *count == PARTNERS_MAX {
                return None;
            }
            *count += 1;
            found.push(key);
            Some(())
        })
    });
    memory.partners = partners;
    told
}

/// Sorts the entries into strips. Returns `None` if large bodies lie in too many.
fn sort_into_strips(memory: &mut SweepMemory) -> Option<()> {
    let SweepMemory { unsorted, order, sorted, .. } = memory;
    order.clear();
    for entry in &*unsorted {
        // By the strip, then by the lower end, and by index where that is the same.
        let begin = (begin(entry) << INDEX_BITS) | u64::from(entry.index);
        let strips = strip(entry.other_low)..=strip(entry.other_high);
        order.extend(strips.map(|strip| (u64::from(strip) << (32 + INDEX_BITS)) | begin));
        if order.len() > unsorted.len() * ENTRIES_PER_BODY {
            return None;
        }
    }
    order.sort_unstable();
    let index = |key: &u64| (key & ((1 << INDEX_BITS) - 1)) as usize;
    refill(sorted, order.iter().map(|key| unsorted[index(key)]));
    Some(())
}

/// Sweeps each strip for itself, and gives `met` the entries that overlap, until that returns `None`.
#[inline]
fn sweep_sorted_strips(
    SweepMemory { order, sorted, .. }: &SweepMemory,
    mut met: impl FnMut(&SweepEntry, &SweepEntry) -> Option<()>,
) -> Option<()> {
    let (mut rest, mut entries) = (&order[..], &sorted[..]);
    while let Some(key) = rest.first() {
        let strip = (key >> (32 + INDEX_BITS)) as u32;
        let count = rest.partition_point(|key| (key >> (32 + INDEX_BITS)) as u32 == strip);
        sweep_strip(&entries[..count], strip, &mut met)?;
        (rest, entries) = (&rest[count..], &entries[count..]);
    }
    Some(())
}

/// Sweeps one strip. A pair that lies in several strips counts in the first that both reach.
#[inline]
fn sweep_strip(
    entries: &[SweepEntry],
    number: u32,
    met: &mut impl FnMut(&SweepEntry, &SweepEntry) -> Option<()>,
) -> Option<()> {
    for (position, first) in entries.iter().enumerate() {
        for second in &entries[position + 1..] {
            if second.low > first.high {
                break;
            }
            let is_here = strip(first.other_low.max(second.other_low)) == number;
            if is_here && !first.is_apart_across(second) {
                met(first, second)?;
            }
        }
    }
    Some(())
}

/// Sweeps all bodies as one. Returns how many pairs of boxes it compared.
///
/// Two bodies of one [`SweepClass`] have no pair, so a sweep skips from one body of a class to the next that is
/// of another one. That is what makes a heap in one place cheap: once two bodies have all the partners that
/// they may have, the one no longer looks at the other.
fn sweep_all(memory: &mut SweepMemory, bodies: &[SweepBody], found: &mut Vec<PairKey>) -> usize {
    let SweepMemory { unsorted, order, sorted, partners, skips, .. } = memory;
    // By the lower end, and by index where that is the same: in one number, which sorts fast.
    let key = |entry: &SweepEntry| (begin(entry) << 32) | u64::from(entry.index);
    refill(order, unsorted.iter().map(key));
    order.sort_unstable();
    refill(sorted, order.iter().map(|key| unsorted[(key & 0xFFFF_FFFF) as usize]));
    found.clear();
    partners.clear();
    partners.resize(bodies.len(), [0; PairKind::COUNT]);
    skips.begin(sorted.iter().map(|entry| SweepClass::of(&bodies[entry.index as usize])));
    let mut compared = 0;
    for (position, first) in sorted.iter().enumerate() {
        let mut at = position;
        loop {
            // Looked up each time: the first body may get its last partner meanwhile.
            at = skips.next_from(position, at + 1);
            let Some(second) = sorted.get(at).filter(|second| second.low <= first.high) else {
                break;
            };
            compared += 1;
            if first.is_apart_across(second) {
                continue;
            }
            let Some((key, owner, kind)) = classified(first, second, bodies) else { continue };
            let count = &mut partners[owner as usize][kind as usize];
            if *count < PARTNERS_MAX {
                *count += 1;
                found.push(key);
                if *count == PARTNERS_MAX && matches!(kind, PairKind::Mover) {
                    skips.fill(if owner == first.index { position } else { at });
                }
            }
        }
    }
    compared
}

/// The bodies that have no pair among each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SweepClass {
    /// It may have pairs with all others.
    Open,
    /// A body that touches others and stops none.
    Sensor,
    /// A body of infinite mass.
    Wall,
    /// A body of finite mass that has as many partners of finite mass as it may have.
    Full,
}

impl SweepClass {
    /// The number of classes whose bodies are skipped.
    const SKIPPED: usize = 3;

    /// Returns the class of a body that has no partners yet.
    fn of(body: &SweepBody) -> Self {
        match (body.is_sensor(), body.has_infinite_mass()) {
            (true, _) => Self::Sensor,
            (false, true) => Self::Wall,
            (false, false) => Self::Open,
        }
    }

    const fn index(self) -> Option<usize> {
        match self {
            Self::Open => None,
            Self::Sensor => Some(0),
            Self::Wall => Some(1),
            Self::Full => Some(2),
        }
    }
}

/// Where a sweep goes on that leaves out the bodies of one class, by their positions in it.
#[derive(Debug, Default)]
struct Skips {
    classes: Vec<SweepClass>,
    /// For each class and position, a later position that is no further than the next one of another
    /// class; the position itself, if it is of another class.
    leaps: [Vec<u32>; SweepClass::SKIPPED],
}

impl Skips {
    /// Begins a sweep of bodies of these classes.
    fn begin(&mut self, classes: impl Iterator<Item = SweepClass>) {
        refill(&mut self.classes, classes);
        let classes = &self.classes;
        for (index, leaps) in self.leaps.iter_mut().enumerate() {
            let leap =
                |(at, class): (u32, &SweepClass)| at + u32::from(class.index() == Some(index));
            refill(leaps, (0..).zip(classes).map(leap));
        }
    }

    /// Notes that the body at a position is full.
    fn fill(&mut self, position: usize) {
        self.classes[position] = SweepClass::Full;
        self.leaps[SweepClass::SKIPPED - 1][position] = position as u32 + 1;
    }

    /// Returns the first position, from one on, that may have a pair with the body at `first`; the number of
    /// bodies if there is none.
    fn next_from(&mut self, first: usize, from: usize) -> usize {
        let Some(index) = self.classes[first].index() else {
            return from;
        };
        let leaps = &mut self.leaps[index];
        let mut at = from;
        while let Some(leap) = leaps.get(at).map(|leap| *leap as usize).filter(|leap| *leap > at) {
            // Halves the way for whoever comes next.
            if let Some(further) = leaps.get(leap).copied() {
                leaps[at] = further;
            }
            at = leap;
        }
        at
    }
}

impl SweepEntry {
    /// Returns whether two boxes are apart across the axis of the sweep.
    const fn is_apart_across(&self, other: &Self) -> bool {
        (other.other_low > self.other_high) | (self.other_low > other.other_high)
    }
}

/// Returns the key of a pair, which body it counts for, and its kind, if the two concern each other.
fn classified(
    first: &SweepEntry,
    second: &SweepEntry,
    bodies: &[SweepBody],
) -> Option<(PairKey, u32, PairKind)> {
    let (a, b) = (first.index.min(second.index), first.index.max(second.index));
    let (owner, kind) = classify((a, &bodies[a as usize]), (b, &bodies[b as usize]))?;
    Some((pair_key(a, b), owner, kind))
}

/// The kind of a pair, as the body sees it that the pair counts for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PairKind {
    /// A body of finite mass meets one of infinite mass.
    Wall,
    /// Two bodies of finite mass meet.
    Mover,
    /// A body that moves meets a sensor, or one of finite mass meets a ghost of infinite mass.
    Sensor,
}

impl PairKind {
    /// The number of kinds.
    pub(crate) const COUNT: usize = 3;
}

/// Returns which of two bodies a pair counts for, and its kind; `None` if the two do not concern
/// each other: by their kinds, or because the filter of one leaves out the other. The body with the
/// lower index comes first.
///
/// A sensor notices whatever moves and is no sensor and no ghost. Other bodies meet if one has a finite mass. A
/// pair of two finite masses counts for the smaller body: there is little room around it for others
/// of its size.
pub(crate) fn classify(
    (a, first): (u32, &SweepBody),
    (b, second): (u32, &SweepBody),
) -> Option<(u32, PairKind)> {
    if !first.filter.meets(second.filter) {
        return None;
    }
    if first.is_sensor() || second.is_sensor() {
        let (sensor, index, other) =
            if first.is_sensor() { (first, b, second) } else { (second, a, first) };
        let notices = !other.is_sensor() && other.motion != Motion::Static;
        let notices = notices && !other.is_ghost() && !sensor.is_ghost();
        return notices.then_some((index, PairKind::Sensor));
    }
    let (radius_a, radius_b) = (first.bounding_radius, second.bounding_radius);
    match (first.has_infinite_mass(), second.has_infinite_mass()) {
        (true, true) => None,
        // What another region says counts apart, so that it takes no wall from anybody.
        (true, false) if first.is_ghost() => Some((b, PairKind::Sensor)),
        (false, true) if second.is_ghost() => Some((a, PairKind::Sensor)),
        (true, false) => Some((b, PairKind::Wall)),
        (false, true) => Some((a, PairKind::Wall)),
        (false, false) if radius_a < radius_b => Some((a, PairKind::Mover)),
        (false, false) => Some((b, PairKind::Mover)),
    }
}

/// Returns whether bodies with these centres are swept along the x axis: if they are spread further along it, or as
/// far. The spread is the sum of the distances from the mean.
pub(crate) fn sweeps_along_x(centres: impl Iterator<Item = Vector> + Clone) -> bool {
    let plus = |[x, y]: [i64; 2], [x_of, y_of]: [i64; 2]| [x + x_of, y + y_of];
    let centres = centres.map(|at| [i64::from(at.x.0), i64::from(at.y.0)]);
    let (sum, count) =
        centres.clone().fold(([0; 2], 0_i64), |(sum, count), at| (plus(sum, at), count + 1));
    let [mean_x, mean_y] = sum.map(|sum| sum / count.max(1));
    let distances = |[x, y]: [i64; 2]| [(x - mean_x).abs(), (y - mean_y).abs()];
    let [along_x, along_y] = centres.map(distances).fold([0; 2], plus);
    along_x >= along_y
}
