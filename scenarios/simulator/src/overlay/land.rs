//! The land of a simulated world: squares, grants, and shelves with proofs that nobody forges here.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use metatopia_raynet::{
    Extent, LandGrant, PlaneBlock, ProveLand, Shelf, ShelfError, SignedSiteRecord, SiteName,
    TilePoint, overlap,
};
use metatopia_types::{Digest, Height, Millis, PublicKey, Sign, SimId, Square, wire};

use crate::{Dice, SignatureKind};

/// Grants on a shelf before its block is cut into four.
const GRANTS_PER_SHELF: usize = 8;

/// Tiles of the side of the largest square: no square crosses a line of this grid.
const LARGEST: i32 = 32;

/// Tiles of the side of the ground that a site has on average, most of which is nobody's.
const SIDE_PER_SITE: u64 = 40;

/// How often the side of a quarter of the plane is doubled.
const QUARTER_DOUBLINGS: u8 = PlaneBlock::DOUBLINGS_MAX - 1;

/// When the map was certified.
const CERTIFIED: Millis = Millis(1_000_000);

/// Squares of a world, ready to be granted: the sites of a simulated overlay, by number.
#[derive(Debug)]
pub struct OverlayLand {
    /// The world of all sites.
    pub world: SimId,
    /// The part of the plane that has sites.
    pub extent: Extent,
    /// The grants, by number of the site.
    pub grants: Vec<LandGrant>,
    /// The middles of the squares, by number of the site.
    pub middles: Vec<TilePoint>,
    shelves: BTreeMap<[u8; 32], Arc<Shelf>>,
    by_block: BTreeMap<PlaneBlock, [u8; 32]>,
    by_sim: BTreeMap<SimId, usize>,
    /// The newest record of each site that a member took in.
    records: Mutex<BTreeMap<SiteName, Arc<SignedSiteRecord>>>,
}

/// Returns the key of the beacon of a site.
#[must_use]
pub fn beacon(site: usize) -> Arc<dyn Sign> {
    SignatureKind::StandIn.key(site as u64)
}

fn simulated_sim(site: usize) -> SimId {
    SimId(Digest::of("metatopia simulated site v1", &(site as u64).to_le_bytes()))
}

impl OverlayLand {
    /// Draws the squares of so many sites, none of which share ground.
    #[must_use]
    pub fn draw(sites: usize, dice: &mut Dice) -> Self {
        let side = (sites as u64 * SIDE_PER_SITE * SIDE_PER_SITE).isqrt().max(64) as i32;
        let cells = (side / LARGEST + 1).max(2);
        let low = -(cells / 2) * LARGEST;
        let mut taken: BTreeMap<(i32, i32), Vec<Square>> = BTreeMap::new();
        let mut squares = Vec::with_capacity(sites);
        while squares.len() < sites {
            let doublings = dice.pick(&[0_u8, 0, 1, 1, 2, 2, 3, 4]);
            let length = 2_i32 << doublings;
            let mut draw = || {
                let at = dice.below((cells * LARGEST).unsigned_abs().into()) as i32;
                low + at - at.rem_euclid(length)
            };
            let square = Square { x: draw(), y: draw(), doublings };
            let cell = (square.x.div_euclid(LARGEST), square.y.div_euclid(LARGEST));
            let there = taken.entry(cell).or_default();
            if there.iter().all(|other| !overlap(*other, square)) {
                there.push(square);
                squares.push(square);
            }
        }
        let high = low + cells * LARGEST;
        let extent =
            Extent { low: TilePoint { x: low, y: low }, high: TilePoint { x: high, y: high } };
        Self::of(extent, &squares)
    }

    /// Grants these squares, by number of the site.
    #[must_use]
    pub fn of(extent: Extent, squares: &[Square]) -> Self {
        let world = SimId(Digest::of("metatopia simulated world of sites v1", b""));
        let grants = squares.iter().enumerate().map(|(site, square)| LandGrant {
            square: *square,
            sim: simulated_sim(site),
            holder: PublicKey([7; 32]),
            beacons: vec![beacon(site).public()],
            epoch: 1,
            until: Millis(u64::MAX),
            shown: Height(0),
        });
        let grants: Vec<LandGrant> = grants.collect();
        let middles =
            squares.iter().map(|square| TilePoint::middle(*square).expect("squares are aligned"));
        let middles = middles.collect();
        let by_sim = grants.iter().enumerate().map(|(site, grant)| (grant.sim, site)).collect();
        let (shelves, by_block) = (BTreeMap::new(), BTreeMap::new());
        let records = Mutex::default();
        let mut land = Self { world, extent, grants, middles, shelves, by_block, by_sim, records };
        let quarters = [(0, 0), (-1, 0), (0, -1), (-1, -1)];
        for (x, y) in quarters {
            let block = PlaneBlock::around(TilePoint { x, y }, QUARTER_DOUBLINGS);
            let inside = land.grants.iter().filter(|grant| block.contains(corner(grant.square)));
            let inside = inside.cloned().collect();
            land.put_on_shelves(block, inside);
        }
        land
    }

    fn put_on_shelves(&mut self, block: PlaneBlock, mut grants: Vec<LandGrant>) {
        if grants.len() > GRANTS_PER_SHELF && 1_i64 << block.doublings > i64::from(LARGEST) {
            let half = block.doublings - 1;
            let step = 1_i32 << half;
            for (x, y) in [(0, 0), (step, 0), (0, step), (step, step)] {
                let point = TilePoint {
                    x: block.corner.x.wrapping_add(x),
                    y: block.corner.y.wrapping_add(y),
                };
                let quarter = PlaneBlock::around(point, half);
                let inside = grants.iter().filter(|grant| quarter.contains(corner(grant.square)));
                let inside = inside.cloned().collect();
                self.put_on_shelves(quarter, inside);
            }
            return;
        }
        grants.sort_by_key(|grant| grant.square);
        let shelf = Self::certify(self.world, block, Height(100), grants);
        let mark = mark(&shelf.proof);
        self.by_block.insert(block, mark);
        self.shelves.insert(mark, shelf);
    }

    /// Makes a shelf with a proof that every simulated member believes.
    #[must_use]
    pub fn certify(
        world: SimId,
        block: PlaneBlock,
        height: Height,
        grants: Vec<LandGrant>,
    ) -> Arc<Shelf> {
        let content = wire::encode(&(world, block, height, &grants));
        let mut proof = content.clone();
        proof.extend(blake3::derive_key("metatopia simulated shelf v1", &content));
        Arc::new(Shelf { world, block, height, time: CERTIFIED, grants, proof })
    }

    /// Returns the shelf about a point.
    #[must_use]
    pub fn shelf(&self, point: TilePoint) -> Option<&Arc<Shelf>> {
        let sizes = 0..=PlaneBlock::DOUBLINGS_MAX;
        let mut blocks = sizes.map(|doublings| PlaneBlock::around(point, doublings));
        let mark = blocks.find_map(|block| self.by_block.get(&block))?;
        self.shelves.get(mark)
    }

    /// Returns the number of a sim's site.
    #[must_use]
    pub fn site_of(&self, sim: SimId) -> Option<usize> {
        self.by_sim.get(&sim).copied()
    }
}

fn corner(square: Square) -> TilePoint {
    TilePoint { x: square.x, y: square.y }
}

/// The last bytes of a proof, which stand for its certificate.
fn mark(proof: &[u8]) -> [u8; 32] {
    proof.last_chunk().copied().unwrap_or_default()
}

impl ProveLand for OverlayLand {
    fn open(&self, proof: &[u8]) -> Result<Arc<Shelf>, ShelfError> {
        // All members share the shelves of the world, or 10,000 of them would need gigabytes.
        if let Some(shelf) = self.shelves.get(&mark(proof)).filter(|shelf| shelf.proof == proof) {
            return Ok(Arc::clone(shelf));
        }
        let (content, mark) = proof.split_last_chunk::<32>().ok_or(ShelfError::Proof)?;
        if blake3::derive_key("metatopia simulated shelf v1", content) != *mark {
            return Err(ShelfError::Proof);
        }
        let parts: Result<(SimId, PlaneBlock, Height, Vec<LandGrant>), _> =
            wire::decode(content, content.len());
        let (world, block, height, grants) = parts.map_err(|_| ShelfError::Proof)?;
        Ok(Self::certify(world, block, height, grants))
    }

    fn share(&self, record: SignedSiteRecord) -> Arc<SignedSiteRecord> {
        let mut records = self.records.lock().expect("nobody panics while it is locked");
        let name = record.name();
        match records.get(&name) {
            Some(kept) if **kept == record => Arc::clone(kept),
            // Liars forge records of the future: whoever keeps an older one keeps a copy of it.
            Some(kept) if kept.record.epoch >= record.record.epoch => Arc::new(record),
            _ => {
                let record = Arc::new(record);
                records.insert(name, Arc::clone(&record));
                record
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::town::OverlayTown;

    #[test]
    fn members_share_the_memory_of_equal_records_and_of_no_others() {
        let mut town = OverlayTown::new(2, 1);
        town.begin(0, &[]);
        town.begin(1, &[]);
        let (first, second) = (town.record(0), town.record(1));
        let [one, same, other] =
            [&first, &first, &second].map(|record| town.land.share(record.clone()));
        assert!(Arc::ptr_eq(&one, &same));
        assert_eq!((&*one, &*other), (&first, &second));
        let mut doubled = first;
        doubled.record.clients += 1;
        assert_eq!(*town.land.share(doubled.clone()), doubled, "the same epoch, and not the same");
    }
}
