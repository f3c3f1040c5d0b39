//! The limits of the tier, and the ground that bodies keep to.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Bounds, InsertError, Region};
use metatopia_physics_rapier::{Newton2, limits::BODIES_MAX};
use metatopia_types::ObjectId;

use crate::newton2;
use crate::scenes::{at, body, circle, moving, put, rect, run};

/// Inserts balls that do not touch, from this id on.
fn fill(region: &mut Region, count: usize) {
    for n in 0..count as i64 {
        put(region, n as u64, moving(circle(20), at(n % 50 * 100, n / 50 * 100)));
    }
}

#[test]
fn a_region_of_the_tier_holds_bodies_max_bodies_and_no_more() {
    let mut region = newton2(Region::new());
    fill(&mut region, BODIES_MAX);
    let one_more = moving(circle(20), at(-500, 0));
    let refused = region.insert(ObjectId(1 << 20), &one_more);
    assert_eq!(refused, Err(InsertError::Full(BODIES_MAX)));
    region.step();
    let body = region.remove(ObjectId(7)).expect("one of them");
    region.insert(ObjectId(1 << 20), &one_more).expect("there is room again");
    assert_eq!(region.put_back(&body), Err(InsertError::Full(BODIES_MAX)));
}

#[test]
fn a_region_with_more_bodies_gets_no_such_tier() {
    let mut region = Region::new();
    fill(&mut region, BODIES_MAX + 1);
    let refused = region.with_tier(Box::new(Newton2::new())).expect_err("one too many");
    assert_eq!((refused.bodies, refused.max), (BODIES_MAX + 1, BODIES_MAX));
    assert!(refused.to_string().contains("2001 bodies where newton2"), "{refused}");
}

#[test]
fn a_body_stops_at_the_edge_and_loses_the_velocity_that_points_outwards() {
    let bounds = Bounds::new(at(-300, -300), at(300, 300)).expect("ground");
    let region = Region::new().with_bounds(bounds).expect("no bodies");
    let mut region = newton2(region);
    put(&mut region, 1, BodySpec { velocity: at(500, 100), ..moving(circle(50), at(0, 0)) });
    for _ in 0..120 {
        region.step();
        let ball = body(&region, 1);
        assert!(bounds.contains(ball.position()), "{}", ball.position());
    }
    let ball = body(&region, 1);
    assert_eq!((ball.position().x, ball.velocity().x), (at(300, 0).x, Fx::ZERO));
    assert!(ball.velocity().y > at(0, 99).y || ball.position().y == at(0, 300).y);
}

#[test]
fn no_body_falls_faster_than_it_may() {
    let mut region = newton2(Region::new().with_gravity(Vec2::new(Fx::ZERO, Fx::from_int(-64))));
    put(&mut region, 1, moving(rect(10, 10), at(0, 100_000)));
    put(&mut region, 2, moving(circle(50), at(500, 100_000)));
    for _ in 0..200 {
        region.step();
        for id in [1, 2] {
            let body = body(&region, id);
            let excess = body.velocity().length().saturating_sub(body.speed_max());
            assert!(excess <= Fx::from_ratio(1, 1 << 18), "{id} by {excess}");
        }
    }
    // As fast as the limit, and not clamped below it.
    run(&mut region, 1);
    assert!(body(&region, 2).velocity().length() > Fx::from_ratio(319, 10));
}
