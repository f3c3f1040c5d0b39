//! Cells of any dimension by rays: how far one can go in each direction before another site is
//! nearer.

use metatopia_math::Stream;

use super::{CellEstimator, distance_squared};

/// The length of the vector of a direction.
const UNIT: i64 = 1 << 12;

/// Parts of a tile in which lengths of rays are counted.
const PARTS: u128 = 16;

/// Sites that are remembered of each ray, the nearest ones.
const DEPTH: usize = 4;

/// An estimator by rays in directions drawn from a seed, cut off at the edges of a box.
#[derive(Clone, Debug)]
pub struct Rays<const D: usize> {
    directions: Vec<[i64; D]>,
    low: [i64; D],
    high: [i64; D],
}

/// How far a ray goes, and which site ends it; none is the box.
type RayEnd = (u128, Option<usize>);

impl<const D: usize> Rays<D> {
    /// Returns an estimator with so many rays, in a box between two corners.
    #[must_use]
    pub fn new(seed: &[u8; 32], count: usize, low: [i64; D], high: [i64; D]) -> Self {
        let mut stream = Stream::new(seed, "rays", &[D as u64]);
        let directions = (0..count).map(|_| direction(&mut stream)).collect();
        Self { directions, low, high }
    }

    /// Returns how far a ray goes until it leaves the box.
    fn exit(&self, at: &[i64; D], direction: &[i64; D]) -> u128 {
        let lengths = (0..D).filter_map(|axis| {
            let gap = match direction[axis] {
                0 => return None,
                ahead if ahead > 0 => self.high[axis].saturating_sub(at[axis]),
                _ => at[axis].saturating_sub(self.low[axis]),
            };
            let along =
                PARTS * u128::from(UNIT.unsigned_abs()) * u128::from(gap.max(0).unsigned_abs());
            along.checked_div(u128::from(direction[axis].unsigned_abs()))
        });
        lengths.min().unwrap_or(0)
    }

    /// Returns the nearest ends of a ray, ascending, and the box behind them.
    fn ends(&self, at: &[i64; D], direction: &[i64; D], others: &[[i64; D]]) -> Vec<RayEnd> {
        let exit = self.exit(at, direction);
        let mut ends: Vec<RayEnd> = Vec::with_capacity(DEPTH + 1);
        for (index, other) in others.iter().enumerate() {
            let steps =
                (0..D).map(|axis| i128::from(direction[axis]) * i128::from(other[axis] - at[axis]));
            let ahead: i128 = steps.sum();
            if ahead <= 0 {
                continue;
            }
            let distance = distance_squared(*at, *other);
            let length = distance.saturating_mul(PARTS * u128::from(UNIT.unsigned_abs()))
                / (2 * ahead.unsigned_abs());
            if length >= exit {
                continue;
            }
            let place = ends.partition_point(|end| *end < (length, Some(index)));
            if place < DEPTH {
                ends.insert(place, (length, Some(index)));
                ends.truncate(DEPTH);
            }
        }
        ends.push((exit, None));
        ends
    }

    /// Returns the volume of the cell: the sum of the rays' lengths to the power of the dimension.
    /// Only shares of it mean anything.
    #[must_use]
    pub fn volume(&self, at: [i64; D], others: &[[i64; D]]) -> u128 {
        let lengths = self.directions.iter().map(|ray| self.ends(&at, ray, others)[0].0);
        lengths.fold(0, |sum: u128, length| sum.saturating_add(length.saturating_pow(D as u32)))
    }
}

/// Draws a direction, all alike: a point of a cube that lies in the ball, made as long as a unit.
fn direction<const D: usize>(stream: &mut Stream) -> [i64; D] {
    loop {
        let mut point = [0_i64; D];
        for coordinate in &mut point {
            *coordinate = (stream.below(2 * UNIT.unsigned_abs() + 1) as i64) - UNIT;
        }
        let length = distance_squared(point, [0; D]).isqrt() as i64;
        // Points near the middle would have few directions.
        if (UNIT / 8..=UNIT).contains(&length) {
            return point.map(|coordinate| coordinate * UNIT / length);
        }
    }
}

impl<const D: usize> CellEstimator<D> for Rays<D> {
    fn neighbours(&self, at: [i64; D], others: &[[i64; D]], most: usize) -> Vec<usize> {
        let ends: Vec<Vec<RayEnd>> =
            self.directions.iter().map(|direction| self.ends(&at, direction, others)).collect();
        let mut kept = vec![false; others.len()];
        for (_, whose) in ends.iter().filter_map(|ends| ends.first()) {
            if let Some(whose) = whose {
                kept[*whose] = true;
            }
        }
        let mut count = kept.iter().filter(|kept| **kept).count();
        while count > most {
            // Two that are close hide each other, so what each of them adds is counted again after
            // each that is dropped.
            let mut gains = vec![0_u128; others.len()];
            for ends in &ends {
                let mut left =
                    ends.iter().filter(|(_, whose)| whose.is_none_or(|whose| kept[whose]));
                if let (Some((near, Some(whose))), Some((far, _))) = (left.next(), left.next()) {
                    let power = |length: u128| length.saturating_pow(D as u32);
                    gains[*whose] = gains[*whose].saturating_add(power(*far) - power(*near));
                }
            }
            let least =
                (0..others.len()).filter(|index| kept[*index]).min_by_key(|index| gains[*index]);
            let Some(least) = least else { break };
            kept[least] = false;
            count -= 1;
        }
        (0..others.len()).filter(|index| kept[*index]).collect()
    }
}
