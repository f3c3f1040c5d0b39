//! Cells of the plane by cutting one half-plane after the other, in integers and without rounding.
//!
//! All is relative to the cell's own site and counted in half tiles, so that the line half-way to a
//! site at `d` is `d . v = |d|^2`. A corner is the meeting point of two such lines, kept as a
//! fraction. With coordinates of 33 bits a fraction has 98 over 65 bits, and the side of a line on
//! which it lies is the sign of a sum of 130 bits, which is computed in two halves.

use super::{CellEstimator, by_distance};
use crate::{Extent, TilePoint};

/// Exact cells of a plane, cut off at the edges of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExactPlane {
    /// Where cells end at the latest.
    pub extent: Extent,
}

/// The half-plane `x v.x + y v.y <= reach`.
#[derive(Clone, Copy, Debug)]
struct HalfPlane {
    x: i64,
    y: i64,
    reach: i128,
    is_small: bool,
}

/// Below this, products of a line and a corner fit in 64 bits: 14 + 14 + 2 * 14 + 2 + 2.
const SMALL: u64 = 1 << 14;

impl HalfPlane {
    fn new(x: i64, y: i64, reach: i128) -> Self {
        let is_small = x.unsigned_abs() < SMALL
            && y.unsigned_abs() < SMALL
            && reach.unsigned_abs() < u128::from(2 * SMALL * SMALL);
        Self { x, y, reach, is_small }
    }
}

/// A corner of the cell, where the line before meets the line that begins here.
#[derive(Clone, Copy, Debug)]
struct CellCorner {
    x: i128,
    y: i128,
    over: i128,
    is_small: bool,
    /// The square of the distance from the site, rounded up.
    distance: u128,
}

impl CellCorner {
    /// Returns where two lines meet that turn left from the first to the second.
    fn of(first: &HalfPlane, second: &HalfPlane) -> Self {
        let wide = i128::from;
        let is_small = first.is_small && second.is_small;
        let (x, y, over) = if is_small {
            let (reach, other) = (first.reach as i64, second.reach as i64);
            let over = first.x * second.y - first.y * second.x;
            (
                wide(reach * second.y - other * first.y),
                wide(first.x * other - second.x * reach),
                wide(over),
            )
        } else {
            (
                first.reach * wide(second.y) - second.reach * wide(first.y),
                wide(first.x) * second.reach - wide(second.x) * first.reach,
                wide(first.x) * wide(second.y) - wide(first.y) * wide(second.x),
            )
        };
        Self { x, y, over, is_small, distance: Self::distance(x, y, over, is_small) }
    }

    fn distance(x: i128, y: i128, over: i128, is_small: bool) -> u128 {
        let square = |length: i128| {
            let up = if is_small {
                u128::from((length as i64).unsigned_abs().div_ceil((over as i64).unsigned_abs()))
            } else {
                length.unsigned_abs().div_ceil(over.unsigned_abs())
            };
            up.saturating_mul(up)
        };
        square(x).saturating_add(square(y))
    }

    /// Returns 1 if the corner lies beyond the line, 0 if on it, -1 if before it.
    fn side(&self, line: &HalfPlane) -> i32 {
        if self.is_small && line.is_small {
            let beyond = line.x * self.x as i64 + line.y * self.y as i64;
            return (beyond - line.reach as i64 * self.over as i64).signum() as i32;
        }
        let (x, y) = (i128::from(line.x), i128::from(line.y));
        let half = |number: i128| (number >> 32, number & 0xffff_ffff);
        let ((x_high, x_low), (y_high, y_low)) = (half(self.x), half(self.y));
        let (reach_high, reach_low) = half(line.reach);
        let high = x * x_high + y * y_high - reach_high * self.over;
        let low = x * x_low + y * y_low - reach_low * self.over;
        let (carry, rest) = half(low);
        let high = high + carry;
        if high == 0 { i32::from(rest > 0) } else { high.signum() as i32 }
    }
}

/// A cell: its lines against the clock, each with the corner at which it begins and whose it is.
#[derive(Clone, Debug)]
struct PlaneCell {
    edges: Vec<(HalfPlane, CellCorner, Option<usize>)>,
}

impl PlaneCell {
    /// The whole extent, seen from a site.
    fn whole(extent: Extent, at: [i64; 2]) -> Self {
        let (low, high) = (extent.low.coordinates(), extent.high.coordinates());
        let gap = |from: i64, to: i64| 2 * i128::from(to.saturating_sub(from).max(0));
        let lines = [
            HalfPlane::new(0, -1, gap(low[1], at[1])),
            HalfPlane::new(1, 0, gap(at[0], high[0])),
            HalfPlane::new(0, 1, gap(at[1], high[1])),
            HalfPlane::new(-1, 0, gap(low[0], at[0])),
        ];
        let edges = (0..4).map(|index| {
            let before = &lines[(index + 3) % 4];
            (lines[index], CellCorner::of(before, &lines[index]), None)
        });
        Self { edges: edges.collect() }
    }

    fn reach(&self) -> u128 {
        self.edges.iter().map(|(_, corner, _)| corner.distance).max().unwrap_or(0)
    }

    /// Cuts off what lies beyond the line. Returns whether anything did.
    fn cut(&mut self, line: HalfPlane, whose: usize, sides: &mut Vec<i32>) -> bool {
        sides.clear();
        sides.extend(self.edges.iter().map(|(_, corner, _)| corner.side(&line)));
        if !sides.contains(&1) {
            return false;
        }
        let count = self.edges.len();
        let mut left = Vec::with_capacity(count + 1);
        for index in 0..count {
            let (here, there) = (sides[index], sides[(index + 1) % count]);
            let (edge, corner, owner) = self.edges[index];
            match (here > 0, there > 0) {
                (false, false) => left.push((edge, corner, owner)),
                // The corner lies on the line: the edge from it is gone, and the line begins here.
                (false, true) if here == 0 => left.push((line, corner, Some(whose))),
                (false, true) => {
                    left.push((edge, corner, owner));
                    left.push((line, CellCorner::of(&edge, &line), Some(whose)));
                }
                (true, false) if there == 0 => {}
                (true, false) => left.push((edge, CellCorner::of(&line, &edge), owner)),
                (true, true) => {}
            }
        }
        self.edges = left;
        true
    }
}

impl ExactPlane {
    /// Returns the cell of `at` among others, of which those in `without` do not count.
    fn cell(&self, at: [i64; 2], others: &[[i64; 2]], without: &[usize]) -> PlaneCell {
        let mut cell = PlaneCell::whole(self.extent, at);
        let (mut reach, mut sides) = (cell.reach(), Vec::new());
        for index in by_distance(at, others) {
            let (x, y) = (others[index][0] - at[0], others[index][1] - at[1]);
            let distance = i128::from(x) * i128::from(x) + i128::from(y) * i128::from(y);
            if distance.unsigned_abs() > reach {
                break;
            }
            if distance == 0 || without.contains(&index) {
                continue;
            }
            if cell.cut(HalfPlane::new(x, y, distance), index, &mut sides) {
                reach = cell.reach();
            }
        }
        cell
    }

    /// Returns the corners of the cell of `at`, rounded towards `at` to whole tiles.
    #[must_use]
    pub fn corners(&self, at: TilePoint, others: &[[i64; 2]]) -> Vec<TilePoint> {
        let cell = self.cell(at.coordinates(), others, &[]);
        let tiles = |length: i128, over: i128| (length / over.saturating_mul(2).max(1)) as i64;
        let corners = cell.edges.iter().map(|(_, corner, _)| TilePoint {
            x: i64::from(at.x).saturating_add(tiles(corner.x, corner.over)) as i32,
            y: i64::from(at.y).saturating_add(tiles(corner.y, corner.over)) as i32,
        });
        corners.collect()
    }

    /// Returns those whose edges of the cell of `at` are before and after the one of `which`. The three of a
    /// corner are neighbours of each other. None if `which` has no edge.
    #[must_use]
    pub fn beside(&self, at: TilePoint, others: &[[i64; 2]], which: usize) -> Vec<usize> {
        let edges = self.cell(at.coordinates(), others, &[]).edges;
        let Some(place) = edges.iter().position(|(_, _, owner)| *owner == Some(which)) else {
            return Vec::new();
        };
        let count = edges.len();
        let sides = [(place + count - 1) % count, (place + 1) % count];
        sides.into_iter().filter_map(|side| edges[side].2).collect()
    }

    /// Returns who has the shortest edge of a cell. Edges are compared by their longer coordinate,
    /// in half tiles.
    fn least(cell: &PlaneCell) -> Option<usize> {
        let count = cell.edges.len();
        let part = |length: i128, over: i128| length.checked_div(over).unwrap_or(0);
        let lengths = cell.edges.iter().enumerate().filter_map(|(index, (_, corner, owner))| {
            let (_, end, _) = &cell.edges[(index + 1) % count];
            let x = part(corner.x, corner.over).abs_diff(part(end.x, end.over));
            let y = part(corner.y, corner.over).abs_diff(part(end.y, end.over));
            owner.map(|owner| (x.max(y), owner))
        });
        lengths.min().map(|(_, owner)| owner)
    }
}

impl CellEstimator<2> for ExactPlane {
    fn neighbours(&self, at: [i64; 2], others: &[[i64; 2]], most: usize) -> Vec<usize> {
        let mut without = Vec::new();
        loop {
            let cell = self.cell(at, others, &without);
            let mut found: Vec<usize> =
                cell.edges.iter().filter_map(|(_, _, owner)| *owner).collect();
            if found.len() <= most {
                found.sort_unstable();
                return found;
            }
            // Again and again, for two that are close to each other hide each other: without
            // either of them, the other one matters.
            without.extend(Self::least(&cell));
        }
    }
}
