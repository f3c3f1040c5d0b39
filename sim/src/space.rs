//! Space: the ground with its lands and tiles, what stands on it, and what others are shown of it.
//!
//! This room keeps the bodies. Of the state and its leaves it only reads all else.

mod bodies;
mod border_line;
mod border_way;
mod floor_plan;
mod footprint;
mod framed;
mod land;
mod lot;
mod placed;
mod scene;
mod tile;
mod tile_copy;
mod tiles;

pub use bodies::RestoreBodiesError;
pub use floor_plan::{
    FloorPlan, FloorPlanError, FloorPlanFault, FloorPlanPart, Sector, SectorOpening, SectorSound,
};
pub use land::{Area, Land};
pub use lot::{GroundAt, Lot, may_build};
pub use placed::{AdjacentLeaf, KnownLeaves, PlacedLeaf, PlacedTiles, ShownTiles, tile_key};
pub use scene::{GESTURE_TICKS, RunningScript, WorldObject};
pub use tile::{TILE_METRES, Tile};
pub use tile_copy::{
    CopiedLeaf, CopyError, TILE_BYTES_MAX, TILE_ENTRIES_MAX, TILE_ENTRY_BYTES_MAX, TileCopy,
    TileEntry,
};

pub(crate) use bodies::{Bodies, Happenings};
pub(crate) use border_line::{BorderLine, with_bands};
pub(crate) use border_way::{BorderWay, DEPARTS_AT, EAST, EXITS, Portal};
pub(crate) use footprint::{Footprint, distance_to, nearest_point};
pub(crate) use framed::{GhostPlace, framed};
