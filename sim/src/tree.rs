//! Tree: the state cut into leaves, the root over them, and where two states differ.
//!
//! This room reads the state and forgets which of its entries were touched. It changes nothing that a
//! leaf holds.

mod difference;
mod engine_leaf;
mod leaf_table;
mod leaves;
mod people_leaves;
mod refresh;
mod tracked;

pub(crate) mod leaf_keys;

pub use difference::{
    LeafContents, LineDifference, StateDifference, difference, first_leaf, first_line,
    is_of_body_or_script, show,
};
pub use engine_leaf::EngineLeaf;
pub use leaves::MapShelves;
pub use people_leaves::ProvableLeaves;

pub(crate) use leaf_keys::{outcomes_key, table_leaf_key, tile_table_name};
pub(crate) use leaf_table::{LeafDigest, LeafTable};
pub(crate) use leaves::StateLeaves;
pub(crate) use tracked::Tracked;
