//! What a node knows of the certified map: shelves of grants, each with its proof.
//!
//! The land office and the form of its proofs are not this crate's matter. Whoever runs the overlay
//! hands in a [`ProveLand`], which opens proofs and answers for what they hold.

mod kept;

use std::sync::Arc;

use metatopia_types::{
    Height, LandGrant, Millis, PlaneBlock, SimId, Square, SquareError, TilePoint, holds,
    limits::BEACONS_MAX, overlap,
};

pub use kept::{LandMap, ShelfPlaced};

use crate::{SignedSiteRecord, limits};

/// All grants of a block of the plane, in one certified state of the land office.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shelf {
    /// The world, which is the land office.
    pub world: SimId,
    /// What the shelf is about.
    pub block: PlaneBlock,
    /// The height of the certified state.
    pub height: Height,
    /// The office's time then.
    pub time: Millis,
    /// The grants, ascending by their squares. A point that none of them holds is nobody's.
    pub grants: Vec<LandGrant>,
    /// The proof, as it travels.
    pub proof: Vec<u8>,
}

/// Why bytes are no shelf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShelfError {
    /// The proof is too long, and was not opened.
    #[error("a proof of {0} bytes, where {max} are allowed", max = limits::SHELF_PROOF_BYTES_MAX)]
    Oversize(usize),
    /// The bytes prove nothing.
    #[error("the bytes prove nothing")]
    Proof,
    /// It is of another world.
    #[error("it is a shelf of world {0}")]
    World(SimId),
    /// Its block is none.
    #[error("{0:?} is no aligned block")]
    Block(PlaneBlock),
    /// It has too many grants.
    #[error("it has {0} grants, and may have {max}", max = limits::GRANTS_PER_SHELF_MAX)]
    Grants(usize),
    /// A grant has no beacon, or too many.
    #[error("a grant has {0} beacons, and may have 1 to {max}", max = BEACONS_MAX)]
    Beacons(usize),
    /// A grant's square is none.
    #[error("a grant names no square: {0}")]
    Square(#[from] SquareError),
    /// A grant lies outside of the block.
    #[error("{0:?} lies outside of the shelf's block")]
    Outside(Square),
    /// Two grants share ground.
    #[error("{0:?} and {1:?} share ground")]
    Overlap(Square, Square),
}

/// Opens proofs of shelves.
pub trait ProveLand: Send + Sync {
    /// Returns the shelf that these bytes prove, with the very same bytes as its proof.
    ///
    /// # Errors
    /// [`ShelfError::Proof`] when no certified state of the office holds such a shelf.
    fn open(&self, proof: &[u8]) -> Result<Arc<Shelf>, ShelfError>;

    /// Returns which block and height a proof says it is about, without a check. Whoever opens proofs at a
    /// price reads no more than the head here.
    fn about(&self, proof: &[u8]) -> Option<(PlaneBlock, Height)> {
        self.open(proof).ok().map(|shelf| (shelf.block, shelf.height))
    }

    /// Returns this very record, in memory that other members of the process may have too: thousands of
    /// them in a simulated world would keep thousands of copies.
    fn share(&self, record: SignedSiteRecord) -> Arc<SignedSiteRecord> {
        Arc::new(record)
    }
}

impl Shelf {
    /// Checks what a proof cannot promise: a land office that errs must not harm others.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self, world: SimId) -> Result<(), ShelfError> {
        if self.world != world {
            return Err(ShelfError::World(self.world));
        }
        let PlaneBlock { doublings, corner } = self.block;
        if doublings > PlaneBlock::DOUBLINGS_MAX
            || PlaneBlock::around(corner, doublings) != self.block
        {
            return Err(ShelfError::Block(self.block));
        }
        if self.grants.len() > limits::GRANTS_PER_SHELF_MAX {
            return Err(ShelfError::Grants(self.grants.len()));
        }
        for (index, grant) in self.grants.iter().enumerate() {
            grant.square.check()?;
            if !(1..=BEACONS_MAX).contains(&grant.beacons.len()) {
                return Err(ShelfError::Beacons(grant.beacons.len()));
            }
            if !self.block.contains(TilePoint { x: grant.square.x, y: grant.square.y }) {
                return Err(ShelfError::Outside(grant.square));
            }
            let others = self.grants.iter().skip(index + 1);
            if let Some(other) =
                others.map(|other| other.square).find(|other| overlap(grant.square, *other))
            {
                return Err(ShelfError::Overlap(grant.square, other));
            }
        }
        Ok(())
    }

    /// Says whether this shelf and another one cannot both be of one state: they are of one height, and name
    /// other grants on ground that both are about.
    #[must_use]
    pub fn contradicts(&self, other: &Self) -> bool {
        let (large, small) =
            if self.block.encloses(other.block) { (self, other) } else { (other, self) };
        let is_there = |grant: &&LandGrant| small.block.contains(TilePoint::corner(grant.square));
        self.height == other.height
            && large.block.encloses(small.block)
            && !large.grants.iter().filter(is_there).eq(&small.grants)
    }

    /// Returns the point of its block that is nearest to another one.
    #[must_use]
    pub fn nearest(&self, at: TilePoint) -> TilePoint {
        kept::nearest(self.block, at)
    }

    /// Returns the grant that holds a point. None says that it is nobody's, if the shelf's block
    /// holds it.
    #[must_use]
    pub fn grant_at(&self, point: TilePoint) -> Option<&LandGrant> {
        self.grants.iter().find(|grant| holds(grant.square, point))
    }
}
