//! What the module says, called as a library: the same code that browsers run.

mod calls;
mod capsules;
mod core_clubs;
mod core_crossing;
mod core_deeds;
mod core_joints;
mod core_lots;
mod core_private;
mod core_profiles;
mod core_proofs;
mod core_questions;
mod core_recovery;
mod core_reports;
mod core_rotation;
mod core_sketch;
mod core_workshop;
mod core_would;
/// The lies of the client's own tests about where an avatar is.
#[path = "../../../tests/facts/elsewhere.rs"]
mod elsewhere;
mod golden;
mod keys;
mod page;
mod predictions;
mod replays;
/// An honest server of the client's own tests.
#[path = "../../../tests/facts/stand.rs"]
#[expect(dead_code, reason = "these tests spoil less than those it is made for")]
mod stand;
mod trials;
mod world_map;
