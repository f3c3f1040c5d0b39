//! The shelves that a node keeps.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_types::{LandGrant, PlaneBlock, TilePoint};

use super::Shelf;

/// What became of a shelf that was offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShelfPlaced {
    /// It is new, or newer than what was there.
    Taken,
    /// One at least as new is there already.
    Known,
    /// Another one of the same height is there, and they differ: the office said two things.
    Differs(Arc<Shelf>),
}

/// Shelves by their blocks.
#[derive(Clone, Debug, Default)]
pub struct LandMap {
    shelves: BTreeMap<PlaneBlock, Arc<Shelf>>,
    /// How many shelves there are of each size.
    sizes: BTreeMap<u8, usize>,
}

impl LandMap {
    /// Returns how many shelves there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shelves.len()
    }

    /// Says whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shelves.is_empty()
    }

    /// Returns the newest shelf about a point.
    #[must_use]
    pub fn covering(&self, point: TilePoint) -> Option<&Arc<Shelf>> {
        let blocks = self.sizes.keys().map(|size| PlaneBlock::around(point, *size));
        let shelves = blocks.filter_map(|block| self.shelves.get(&block));
        // Of two with one height, the one about less ground.
        shelves.min_by_key(|shelf| (core::cmp::Reverse(shelf.height), shelf.block.doublings))
    }

    /// Returns the grant of a point, if it is known to be somebody's.
    #[must_use]
    pub fn grant_at(&self, point: TilePoint) -> Option<&LandGrant> {
        self.covering(point).and_then(|shelf| shelf.grant_at(point))
    }

    /// Keeps a shelf that was proved and checked, unless it knows better. Those end all of whose ground newer
    /// ones are about.
    pub fn place(&mut self, shelf: &Arc<Shelf>) -> ShelfPlaced {
        let differs = |kept: &&Arc<Shelf>| kept.contradicts(shelf);
        if let Some(kept) = self.shelves.values().find(differs) {
            return ShelfPlaced::Differs(Arc::clone(kept));
        }
        let newer = self.shelves.values().filter(|kept| kept.height >= shelf.height);
        if shelf.block.is_covered_by(newer.map(|kept| kept.block)) {
            return ShelfPlaced::Known;
        }
        self.shelves.insert(shelf.block, Arc::clone(shelf));
        self.drop_superseded(shelf);
        ShelfPlaced::Taken
    }

    /// Drops the shelves all of whose ground newer ones are about, now that this one is there.
    fn drop_superseded(&mut self, shelf: &Shelf) {
        let is_over = |kept: &Shelf| {
            let newer = self.shelves.values().filter(|other| other.height > kept.height);
            let touches = kept.block.encloses(shelf.block) || shelf.block.encloses(kept.block);
            touches && kept.block.is_covered_by(newer.map(|other| other.block))
        };
        let over: BTreeSet<PlaneBlock> =
            self.shelves.values().filter(|kept| is_over(kept)).map(|kept| kept.block).collect();
        self.retain(|kept| !over.contains(&kept.block));
    }

    /// Returns a point for which this kept shelf is the newest one.
    #[must_use]
    pub fn own_point(&self, shelf: &Shelf) -> Option<TilePoint> {
        let newer = self.shelves.values().filter(|other| other.height > shelf.height);
        uncovered(shelf.block, &newer.map(|other| other.block).collect::<Vec<_>>())
    }

    /// Returns the point nearest to another one about which there is no shelf.
    #[must_use]
    pub fn nearest_gap(&self, at: TilePoint) -> Option<TilePoint> {
        let blocks: Vec<PlaneBlock> = self.shelves.keys().copied().collect();
        let mut gap = None;
        seek_gap(PlaneBlock::PLANE, &blocks, at, &mut gap);
        gap.map(|(_, point)| point)
    }

    /// Returns all shelves, in order of their blocks.
    pub fn shelves(&self) -> impl Iterator<Item = &Arc<Shelf>> {
        self.shelves.values()
    }

    /// Drops the shelves of which `is_kept` is false.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&Shelf) -> bool) {
        self.shelves.retain(|_, shelf| is_kept(shelf));
        self.sizes.clear();
        for block in self.shelves.keys() {
            *self.sizes.entry(block.doublings).or_default() += 1;
        }
    }
}

/// Returns a point of a block that lies in none of others.
fn uncovered(block: PlaneBlock, others: &[PlaneBlock]) -> Option<TilePoint> {
    if block.is_covered_by(others.iter().copied()) {
        return None;
    }
    if !others.iter().any(|other| block.encloses(*other)) {
        return Some(block.corner);
    }
    // Something of it is covered, so it is no single tile.
    quarters(block).into_iter().find_map(|quarter| uncovered(quarter, others))
}

/// Returns the quarters of a block that is no single tile.
fn quarters(block: PlaneBlock) -> [PlaneBlock; 4] {
    let (half, size) = (1_i32 << (block.doublings - 1), block.doublings - 1);
    [(0, 0), (half, 0), (0, half), (half, half)].map(|(x, y)| {
        let TilePoint { x: west, y: south } = block.corner;
        let corner = TilePoint { x: west.wrapping_add(x), y: south.wrapping_add(y) };
        PlaneBlock::around(corner, size)
    })
}

/// Returns the point of a block that is nearest to another one.
pub(super) fn nearest(block: PlaneBlock, at: TilePoint) -> TilePoint {
    let last = (1_i64 << block.doublings) - 1;
    let within = |corner: i32, at: i32| {
        let first = i64::from(corner);
        let inside = i64::from(at).clamp(first, first + last);
        i32::try_from(inside).expect("a block ends with the plane at the latest")
    };
    TilePoint { x: within(block.corner.x, at.x), y: within(block.corner.y, at.y) }
}

/// Looks in a block for a point that lies in none of others and is nearer than the one that was found so far.
fn seek_gap(
    block: PlaneBlock,
    others: &[PlaneBlock],
    at: TilePoint,
    found: &mut Option<(u128, TilePoint)>,
) {
    let point = nearest(block, at);
    let distance = at.distance_squared(point);
    let is_covered = others.iter().any(|other| other.encloses(block));
    if is_covered || found.is_some_and(|(nearer, _)| nearer <= distance) {
        return;
    }
    let inside = others.iter().copied().filter(|other| block.encloses(*other));
    let inside: Vec<PlaneBlock> = inside.collect();
    if inside.is_empty() {
        *found = Some((distance, point));
        return;
    }
    // Something of it is covered and something is not, so it is no single tile.
    let mut quarters = quarters(block);
    quarters.sort_by_key(|quarter| at.distance_squared(nearest(*quarter, at)));
    quarters.into_iter().for_each(|quarter| seek_gap(quarter, &inside, at, found));
}
