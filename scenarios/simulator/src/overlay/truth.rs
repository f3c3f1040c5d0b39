//! What is true of a simulated overlay: who lives, who is nearest to a point, who borders on whom.

use std::collections::BTreeMap;

use metatopia_raynet::{CellEstimator, ExactPlane, Extent, TilePoint};

/// Sites that live, on a grid of about two of them a cell.
#[derive(Debug)]
pub struct OverlayTruth {
    extent: Extent,
    middles: Vec<TilePoint>,
    side: i64,
    grid: BTreeMap<(i64, i64), Vec<usize>>,
    /// How many rings of the grid there can be.
    rings: i64,
}

impl OverlayTruth {
    /// Takes a picture of the sites that live.
    #[must_use]
    pub fn of(extent: Extent, middles: &[TilePoint], lives: impl Fn(usize) -> bool) -> Self {
        let living: Vec<usize> = (0..middles.len()).filter(|site| lives(*site)).collect();
        let width = i64::from(extent.high.x) - i64::from(extent.low.x);
        let cells = (living.len() as u64 / 2).isqrt().max(1) as i64;
        let side = (width / cells).max(1);
        let mut grid: BTreeMap<(i64, i64), Vec<usize>> = BTreeMap::new();
        for site in living {
            grid.entry(cell(middles[site], side)).or_default().push(site);
        }
        Self { extent, middles: middles.to_vec(), side, grid, rings: width / side + 2 }
    }

    /// Returns the sites in one ring of cells around a point.
    fn ring(&self, at: TilePoint, ring: i64) -> impl Iterator<Item = usize> {
        let (x, y) = cell(at, self.side);
        let columns = (x - ring)..=(x + ring);
        let cells = columns.flat_map(move |column| {
            let is_edge = (column - x).abs() == ring;
            let step = if is_edge { 1 } else { (2 * ring).max(1) };
            let count = if is_edge { 2 * ring + 1 } else { 2 };
            (0..count).map(move |row| (column, y - ring + row * step))
        });
        cells.filter_map(|cell| self.grid.get(&cell)).flatten().copied()
    }

    /// Returns the living site whose middle is nearest to a point.
    #[must_use]
    pub fn nearest(&self, point: TilePoint, order: impl Fn(usize) -> [u8; 8]) -> Option<usize> {
        let mut best: Option<(u128, [u8; 8], usize)> = None;
        for ring in 0..=self.rings {
            let reach = u128::from((self.side * (ring - 1).max(0)).unsigned_abs());
            if best.is_some_and(|(distance, _, _)| distance < reach * reach) {
                break;
            }
            for site in self.ring(point, ring) {
                let found = (self.middles[site].distance_squared(point), order(site), site);
                best = Some(best.map_or(found, |best| best.min(found)));
            }
        }
        best.map(|(_, _, site)| site)
    }

    /// Returns the living sites that border on a site, within the extent.
    #[must_use]
    pub fn neighbours(&self, site: usize) -> Vec<usize> {
        let (at, cells) = (self.middles[site], ExactPlane { extent: self.extent });
        let mut around: Vec<usize> = Vec::new();
        for ring in 0..=self.rings {
            around.extend(self.ring(at, ring).filter(|other| *other != site));
            if around.len() < 12 && ring < self.rings {
                continue;
            }
            let places: Vec<[i64; 2]> =
                around.iter().map(|other| self.middles[*other].coordinates()).collect();
            // Whoever cuts a corner off is at most twice as far away as the corner; those are rounded
            // by less than two tiles.
            let corners = cells.corners(at, &places);
            let far = corners.iter().map(|corner| corner.distance_squared(at)).max().unwrap_or(0);
            let seen = u128::from((self.side * ring).unsigned_abs());
            if 2 * (far.isqrt() + 3) < seen || ring == self.rings {
                let found = cells.neighbours(at.coordinates(), &places, usize::MAX);
                return found.into_iter().map(|index| around[index]).collect();
            }
        }
        Vec::new()
    }
}

fn cell(at: TilePoint, side: i64) -> (i64, i64) {
    (i64::from(at.x).div_euclid(side), i64::from(at.y).div_euclid(side))
}
