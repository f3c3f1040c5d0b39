//! What sleeps costs nothing and does not change.

use metatopia_physics::{Motion, Region};
use metatopia_types::ObjectId;

use crate::scenes::{at, body, circle, fixed, moving, put, rect, run};
use crate::{newton2, restored};

/// A stack of five crates on a floor.
fn stack() -> Region {
    let mut region = newton2(Region::new().with_gravity(at(0, -1_000)));
    put(&mut region, 1, fixed(rect(2_000, 100), at(0, -100)));
    for row in 0..5 {
        put(&mut region, 10 + row as u64, moving(rect(50, 50), at(0, 50 + row * 100)));
    }
    region
}

#[test]
fn a_stack_falls_asleep_and_then_does_not_change_by_a_bit() {
    let mut region = stack();
    run(&mut region, 300);
    assert!(region.is_asleep(), "{:?}", region.bodies());
    let (state, bodies) = (region.tier_state(), region.bodies().to_vec());
    // A restored region does not know that it sleeps, and finds out without a change.
    let mut read_back = restored(&region);
    for _ in 0..100 {
        assert_eq!((region.step(), read_back.step()), (Vec::new(), Vec::new()));
    }
    assert_eq!((region.tier_state(), region.bodies()), (state, bodies.as_slice()));
    assert_eq!(region, read_back);
}

/// A region slept through its first steps on the tier, and its restored copy did not: their states differed.
#[test]
fn a_sleeping_region_that_gets_the_tier_goes_on_as_its_restored_copy() {
    let mut region = Region::new();
    put(&mut region, 1, moving(circle(50), at(0, 0)));
    run(&mut region, 60);
    assert!(region.is_asleep());
    let copy = Region::restore(region.bodies().to_vec(), region.contacts().to_vec());
    let mut copy = newton2(copy.expect("a state that the region had"));
    let mut region = newton2(region);
    for _ in 0..3 {
        assert_eq!(region.step(), copy.step());
        assert_eq!((region.tier_state(), region.bodies()), (copy.tier_state(), copy.bodies()));
    }
}

#[test]
fn a_crate_that_is_taken_away_wakes_those_that_lay_on_it() {
    let mut region = stack();
    run(&mut region, 300);
    region.remove(ObjectId(10)).expect("the lowest crate");
    run(&mut region, 60);
    let lowest = body(&region, 11).position().y;
    assert!(lowest < at(0, 55).y, "it hangs in the air at {lowest}");
    run(&mut region, 300);
    assert!(region.is_asleep());
}

#[test]
fn an_impulse_wakes_a_sleeping_body() {
    let mut region = newton2(Region::new());
    put(&mut region, 1, moving(circle(50), at(0, 0)));
    run(&mut region, 60);
    assert!(region.is_asleep());
    region.apply_impulse(ObjectId(1), at(100, 0)).expect("a dynamic body");
    run(&mut region, 60);
    let way = body(&region, 1).position().x;
    assert!(way > at(95, 0).x && way < at(105, 0).x, "{way}");
}

#[test]
fn without_sleep_no_body_falls_asleep() {
    let mut region = stack().with_sleeping(false);
    run(&mut region, 300);
    let moving = region.bodies().iter().filter(|body| body.motion() == Motion::Dynamic);
    assert_eq!(moving.filter(|body| body.is_asleep()).count(), 0);
    let mut region = region.with_sleeping(true);
    run(&mut region, 300);
    assert!(region.is_asleep());
}
