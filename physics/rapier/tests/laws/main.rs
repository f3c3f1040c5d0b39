//! The laws of the second tier, tested through the public interface of a region.

mod bounds;
mod compounds;
mod digested;
#[expect(dead_code, reason = "the other tier plays by itself")]
#[path = "../../../tests/laws/drawn.rs"]
mod drawn;
#[path = "../../../tests/laws/draws.rs"]
mod draws;
mod energy;
mod golden;
mod hazards;
mod joints;
mod likeness;
mod materials;
mod restoring;
#[expect(dead_code, reason = "their digests are those of the other tier")]
#[path = "../../../tests/laws/scenes.rs"]
mod scenes;
mod sleep;
mod snapshots;

use metatopia_physics::Region;
use metatopia_physics_rapier::Newton2;

/// Returns a region whose bodies rapier moves.
pub(crate) fn newton2(region: Region) -> Region {
    region.with_tier(Box::new(Newton2::new())).expect("a scene has few bodies")
}

/// Restores a region from all that it says of its state.
pub(crate) fn restored(region: &Region) -> Region {
    let state = region.tier_state().expect("a region with a tier");
    let tier = Newton2::restore(&state).expect("a state that the tier wrote");
    Region::restore(region.bodies().to_vec(), region.contacts().to_vec())
        .expect("a state that the region had")
        .with_joints(region.joints().to_vec())
        .expect("joints that the region had")
        .with_bounds(region.bounds())
        .expect("bodies are inside")
        .with_gravity(region.gravity())
        .with_hits(region.hits())
        .with_tier(Box::new(tier))
        .expect("as many bodies as before")
}
