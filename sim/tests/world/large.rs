//! A world of as many objects as one can hold.

use metatopia_physics::{Motion, limits::BODIES_MAX};
use metatopia_sim::World;
use metatopia_types::{Act, Outcome, Refusal, limits::LEAF_BYTES_MAX};

use crate::yard::{Builder, vec2};

#[test]
fn a_world_holds_as_many_objects_as_a_region_and_a_turn_costs_what_changes() {
    let mut builder = Builder::new();
    builder.genesis.parameters.objects_max = BODIES_MAX as u32;
    for n in 1..BODIES_MAX as i32 {
        builder.thing(Motion::Dynamic, (n % 128 * 2 - 128, n / 128 * 2 + 10), &[]);
    }
    let mut yard = builder.build();
    yard.login(1);
    yard.play();
    let late = yard.login(2);
    yard.play();
    assert_eq!(yard.outcome(&late), Outcome::Refused(Refusal::Full));
    yard.idle(15);

    let before = yard.world.hashed_bytes();
    assert_eq!(yard.play().changed, [], "all of them rest");
    // Clock, outcomes, and a list of roots: nothing in proportion to the objects.
    assert!(yard.world.hashed_bytes() - before < 4_096);

    yard.act(1, Act::Walk { heading: vec2(0, -1) });
    let before = yard.world.hashed_bytes();
    let changed: Vec<_> = yard.play().changed.iter().map(|change| change.id).collect();
    assert_eq!(changed, [yard.avatar(1)]);
    assert!(yard.world.hashed_bytes() - before < LEAF_BYTES_MAX as u64);

    let (snapshot, root) = (yard.world.snapshot(), yard.world.root());
    assert_eq!(root, yard.world.rehash());
    let mut again =
        World::from_snapshot(&snapshot, root, &builder.tools()).expect("its own snapshot");
    let turn = yard.turn();
    for world in [&mut yard.world, &mut again] {
        world.apply(&turn, &metatopia_sim::Serial);
    }
    assert_eq!(again.root(), yard.world.root());
}
