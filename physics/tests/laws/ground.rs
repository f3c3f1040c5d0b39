//! Bounds: where bodies stop.

use metatopia_math::Vec2;
use metatopia_physics::{Aspect, Bounds, BoundsError, OutOfBounds, Pose, Region, limits};
use metatopia_types::ObjectId;

use crate::scenes::{at, body, circle, cm, moving, put, run};

/// Returns a yard of 8 by 4 metres whose south-western corner is at (2, 3).
fn yard() -> Bounds {
    Bounds::new(at(200, 300), at(1_000, 700)).expect("a rectangle")
}

#[test]
fn no_command_and_no_step_takes_a_body_out_of_the_bounds() {
    let mut region = Region::new().with_bounds(yard()).expect("an empty region");
    let (ball, far) = (ObjectId(1), at(-5_000, 5_000));
    put(&mut region, 1, moving(circle(30), far));
    assert_eq!(body(&region, 1).position(), at(200, 700), "inserted far outside");

    region.set_position(ball, at(9_000, 0)).expect("it is there");
    assert_eq!(body(&region, 1).position(), at(1_000, 300));
    region.set_pose(ball, Pose { position: far, ..Pose::default() }).expect("it is there");
    assert_eq!(body(&region, 1).position(), at(200, 700));

    region.set_velocity(ball, at(500, -1_000)).expect("it is dynamic");
    run(&mut region, 120);
    assert_eq!(body(&region, 1).position(), at(1_000, 300), "a step stops it at each edge");

    // A body of a time when the ground was larger.
    let mut elsewhere = Region::new();
    put(&mut elsewhere, 1, moving(circle(30), far));
    let outside = body(&elsewhere, 1).clone();
    region.revert(&outside, Aspect::Position).expect("a valid body");
    assert_eq!(body(&region, 1).position(), at(200, 700));
    region.remove(ball).expect("it is there");
    region.put_back(&outside).expect("a valid body");
    assert_eq!(body(&region, 1).position(), at(200, 700));
}

#[test]
fn bounds_that_leave_a_body_outside_are_refused() {
    let mut region = Region::new();
    put(&mut region, 1, moving(circle(30), at(500, 500)));
    put(&mut region, 2, moving(circle(30), at(500, 701)));

    assert_eq!(region.clone().with_bounds(yard()), Err(OutOfBounds(ObjectId(2))));

    region.remove(ObjectId(2)).expect("it is there");
    let region = region.with_bounds(yard()).expect("both are inside");
    assert_eq!(region.bounds(), yard());
    assert_ne!(region, region.clone().with_bounds(Bounds::MAX).expect("larger bounds"));
}

#[test]
fn bounds_have_ground_within_the_reach_of_positions() {
    let edge = limits::COORDINATE_MAX;
    let corner = Vec2::new(edge, edge);
    assert_eq!(Bounds::new(corner.saturating_neg(), corner), Ok(Bounds::MAX));
    assert_eq!(Bounds::default(), Bounds::MAX);

    let beyond = Vec2::new(edge.saturating_add(cm(1)), edge);
    assert_eq!(Bounds::new(at(0, 0), beyond), Err(BoundsError::OutOfRange(beyond)));
    for (low, high) in [(at(1, 0), at(1, 5)), (at(0, 5), at(5, 0))] {
        assert_eq!(Bounds::new(low, high), Err(BoundsError::Empty { low, high }));
    }

    assert!(yard().contains(at(200, 700)) && yard().contains(at(600, 500)));
    assert!(!yard().contains(at(199, 500)) && !yard().contains(at(600, 701)));
}
