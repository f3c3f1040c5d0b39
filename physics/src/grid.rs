//! Where bodies are, coarsely, so that whoever looks around meets what is near and little else. It
//! follows from the bodies, so it is kept beside them and is no state.

use std::collections::BTreeSet;

use metatopia_types::ObjectId;

use crate::fixed::{Q20, Vector};
use crate::solid::Extent;

/// Bodies are kept apart by size: by the power of two of metres that their outer radius is at most.
const SIZES: [u32; 5] = [0, 2, 4, 6, 9];

/// A body's box reaches less than this beyond its outer radius: the way of a step at full speed, and
/// the margins.
const ROAM: i64 = 1 << 20;

/// To find a column takes about as long as to look at so many bodies.
const BODIES_A_COLUMN: u32 = 4;

/// Columns and rows are counted from the region's edge, and have numbers of so many bits.
const BITS: u32 = 12;

/// A square of ground, among those for bodies of one size: size, column and row in one number. Its
/// sides are twice the greatest outer radius of its bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Square(u32);

impl Square {
    /// In which a body is that has its centre there.
    pub(crate) fn of(position: Vector, outer_radius: Q20) -> Self {
        let size = SIZES.iter().position(|size| outer_radius.0 <= 1 << (20 + size));
        let size = size.expect("no shape is allowed that is larger than the largest size");
        Self::at(size, line(size, position.x.0.into()), line(size, position.y.0.into()))
    }

    const fn at(size: usize, column: u32, row: u32) -> Self {
        Self(((size as u32) << (2 * BITS)) | (column << BITS) | row)
    }

    fn size(self) -> usize {
        (self.0 >> (2 * BITS)) as usize
    }
}

/// The column or row of a coordinate with 20 fraction bits; what is outside is in the last one.
fn line(size: usize, coordinate: i64) -> u32 {
    let middle = 1_i64 << (BITS - 1);
    ((coordinate >> (21 + SIZES[size])) + middle).clamp(0, 2 * middle - 1) as u32
}

/// The bodies of a region by squares.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grid {
    squares: BTreeSet<(Square, ObjectId)>,
    /// How many bodies there are of each size.
    counts: [u32; SIZES.len()],
}

impl Grid {
    pub(crate) const fn new() -> Self {
        Self { squares: BTreeSet::new(), counts: [0; SIZES.len()] }
    }

    pub(crate) fn put(&mut self, square: Square, id: ObjectId) {
        if self.squares.insert((square, id)) {
            self.counts[square.size()] += 1;
        }
    }

    pub(crate) fn take(&mut self, square: Square, id: ObjectId) {
        if self.squares.remove(&(square, id)) {
            self.counts[square.size()] -= 1;
        }
    }

    /// All bodies whose boxes meet one, and some more, in no order that means anything.
    pub(crate) fn around(&self, extent: Extent) -> impl Iterator<Item = ObjectId> {
        let sizes = (0..SIZES.len()).filter(|size| self.counts[*size] > 0);
        sizes.flat_map(move |size| self.of_size_around(size, extent))
    }

    fn of_size_around(&self, size: usize, extent: Extent) -> impl Iterator<Item = ObjectId> {
        let reach = (1_i64 << (20 + SIZES[size])) + ROAM;
        let lines = |low: Q20, high: Q20| {
            [line(size, i64::from(low.0) - reach), line(size, i64::from(high.0) + reach)]
        };
        let [left, right] = lines(extent.low.x, extent.high.x);
        let [bottom, top] = lines(extent.low.y, extent.high.y);
        // To look into a column takes as long as to look at some bodies: with few of them, all are.
        let few = self.counts[size] / BODIES_A_COLUMN <= right - left;
        let last = (1 << BITS) - 1;
        let whole = few.then(|| Square::at(size, 0, 0)..=Square::at(size, last, last));
        let columns = (left..=right).filter(move |_| !few);
        let columns = columns
            .map(move |column| Square::at(size, column, bottom)..=Square::at(size, column, top));
        whole
            .into_iter()
            .chain(columns)
            .flat_map(|squares| {
                let (first, last) = (*squares.start(), *squares.end());
                self.squares.range((first, ObjectId(0))..=(last, ObjectId(u64::MAX)))
            })
            .map(|(_, id)| *id)
    }

    /// All bodies whose outer radius is at least so long, and some more.
    pub(crate) fn reaching(&self, outer_radius: Q20) -> impl Iterator<Item = ObjectId> {
        let first = SIZES.iter().position(|size| outer_radius.0 <= 1 << (20 + size));
        let first = Square::at(first.unwrap_or(SIZES.len()), 0, 0);
        self.squares.range((first, ObjectId(0))..).map(|(_, id)| *id)
    }
}
