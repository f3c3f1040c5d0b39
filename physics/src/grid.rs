//! A hierarchical grid over the bodies, so that queries look at what is near and little else.
//!
//! The grid follows from the bodies, so a region keeps it beside them, and it is no state.

use std::collections::BTreeSet;

use metatopia_types::ObjectId;

use crate::fixed::{Q20, Vector};
use crate::sweep_body::Aabb;

/// The levels of the grid. A body is on the first level whose power of two, in metres, is at least
/// its bounding radius.
const LEVELS: [u32; 5] = [0, 2, 4, 6, 9];

/// A body's box reaches less than this beyond its bounding radius, with 20 fraction bits: the
/// travel of a step at full speed, and the margins.
const AABB_MARGIN: i64 = 1 << 20;

/// Finding a column takes about as long as looking at so many bodies.
const BODIES_PER_COLUMN: u32 = 4;

/// The bits of a column or row number, which is counted from the region's edge.
const BITS: u32 = 12;

/// A cell of one level: level, column and row in one number. Its sides are twice the greatest
/// bounding radius of the level's bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cell(u32);

impl Cell {
    /// Returns the cell of a body with this centre and bounding radius.
    pub(crate) fn of(position: Vector, bounding_radius: Q20) -> Self {
        let level = level_of(bounding_radius);
        let level = level.expect("no shape is allowed that is larger than the highest level");
        Self::at(level, line(level, position.x.0.into()), line(level, position.y.0.into()))
    }

    /// Returns the cell of the same level at another centre.
    pub(crate) fn moved(self, position: Vector) -> Self {
        let level = self.level();
        Self::at(level, line(level, position.x.0.into()), line(level, position.y.0.into()))
    }

    const fn at(level: usize, column: u32, row: u32) -> Self {
        Self(((level as u32) << (2 * BITS)) | (column << BITS) | row)
    }

    fn level(self) -> usize {
        (self.0 >> (2 * BITS)) as usize
    }
}

/// Returns the level of bodies with this bounding radius.
fn level_of(bounding_radius: Q20) -> Option<usize> {
    LEVELS.iter().position(|level| bounding_radius.0 <= 1 << (20 + level))
}

/// Returns the column or row of a coordinate with 20 fraction bits. A coordinate outside of the
/// region is in the first or last one.
fn line(level: usize, coordinate: i64) -> u32 {
    let middle = 1_i64 << (BITS - 1);
    ((coordinate >> (21 + LEVELS[level])) + middle).clamp(0, 2 * middle - 1) as u32
}

/// The bodies of a region by cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grid {
    cells: BTreeSet<(Cell, ObjectId)>,
    /// The number of bodies on each level.
    counts: [u32; LEVELS.len()],
}

impl Grid {
    /// Returns the grid of many bodies at once, which takes a fraction of the time of adding each. The ids
    /// are in order, and each cell is that of the id at its place.
    pub(crate) fn of(cells: impl Iterator<Item = Cell>, ids: &[ObjectId]) -> Self {
        let mut counts = [0; LEVELS.len()];
        let placed = cells.zip(0_u32..).map(|(cell, index)| {
            counts[cell.level()] += 1;
            u64::from(cell.0) << 32 | u64::from(index)
        });
        // One number each: they are sorted in half of the time of pairs.
        let mut placed: Vec<u64> = placed.collect();
        placed.sort_unstable();
        let id = |place: u64| ids[(place & u64::from(u32::MAX)) as usize];
        let cells = placed.into_iter().map(|place| (Cell((place >> 32) as u32), id(place)));
        Self { cells: cells.collect(), counts }
    }

    /// Adds a body to a cell.
    pub(crate) fn insert(&mut self, cell: Cell, id: ObjectId) {
        if self.cells.insert((cell, id)) {
            self.counts[cell.level()] += 1;
        }
    }

    /// Removes a body from the cell that it was inserted into.
    pub(crate) fn remove(&mut self, cell: Cell, id: ObjectId) {
        if self.cells.remove(&(cell, id)) {
            self.counts[cell.level()] -= 1;
        }
    }

    /// Returns all bodies whose boxes overlap `aabb`, and some more, in no meaningful order.
    pub(crate) fn query(&self, aabb: Aabb) -> impl Iterator<Item = ObjectId> {
        let levels = (0..LEVELS.len()).filter(|level| self.counts[*level] > 0);
        levels.flat_map(move |level| self.query_level(level, aabb))
    }

    fn query_level(&self, level: usize, aabb: Aabb) -> impl Iterator<Item = ObjectId> {
        let reach = (1_i64 << (20 + LEVELS[level])) + AABB_MARGIN;
        let lines = |low: Q20, high: Q20| {
            [line(level, i64::from(low.0) - reach), line(level, i64::from(high.0) + reach)]
        };
        let [left, right] = lines(aabb.low.x, aabb.high.x);
        let [bottom, top] = lines(aabb.low.y, aabb.high.y);
        // If the level holds few bodies, going through all of them costs less than finding columns.
        let few = self.counts[level] / BODIES_PER_COLUMN <= right - left;
        let last = (1 << BITS) - 1;
        let whole = few.then(|| Cell::at(level, 0, 0)..=Cell::at(level, last, last));
        let columns = (left..=right).filter(move |_| !few);
        let columns = columns
            .map(move |column| Cell::at(level, column, bottom)..=Cell::at(level, column, top));
        whole
            .into_iter()
            .chain(columns)
            .flat_map(|cells| {
                let (first, last) = (*cells.start(), *cells.end());
                self.cells.range((first, ObjectId(0))..=(last, ObjectId(u64::MAX)))
            })
            .map(|(_, id)| *id)
    }

    /// Returns all bodies with at least this bounding radius, and some more.
    pub(crate) fn with_bounding_radius(&self, least: Q20) -> impl Iterator<Item = ObjectId> {
        let first = Cell::at(level_of(least).unwrap_or(LEVELS.len()), 0, 0);
        self.cells.range((first, ObjectId(0))..).map(|(_, id)| *id)
    }
}
