//! The bounds of friction, damping, impulses and bouncing.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{
    BodySpec, Region,
    limits::{DAMPING_MAX, FRICTION_MAX, IMPULSE_MAX, MASS_MAX, RESTITUTION_SPEED_MIN, SPEED_MAX},
};
use metatopia_types::ObjectId;

use crate::scenes::{at, body, circle, cm, fixed, moving, put, rect, run};

#[test]
fn friction_and_damping_are_clamped_to_the_greatest_that_a_body_may_have() {
    let mut region = Region::new();
    let wild = BodySpec {
        friction: Fx::MAX,
        linear_damping: Fx::MAX,
        angular_damping: Fx::MAX,
        ..moving(circle(50), at(0, 0))
    };
    put(&mut region, 1, wild);

    let spec = body(&region, 1).spec();

    assert_eq!(spec.friction, FRICTION_MAX);
    assert_eq!((spec.linear_damping, spec.angular_damping), (DAMPING_MAX, DAMPING_MAX));
}

#[test]
fn each_axis_of_an_impulse_is_clamped_to_the_greatest_impulse() {
    let pushed = |x: Fx| {
        let mut region = Region::new();
        let velocity = Vec2::new(SPEED_MAX.saturating_neg(), Fx::ZERO);
        put(&mut region, 1, BodySpec { mass: MASS_MAX, velocity, ..moving(circle(50), at(0, 0)) });
        // A push aside, so that the direction of the new velocity shows how hard the other axis was hit.
        let aside = IMPULSE_MAX.saturating_div(Fx::from_int(4));
        region.apply_impulse(ObjectId(1), Vec2::new(x, aside)).expect("it can be pushed");
        body(&region, 1).velocity()
    };

    assert_eq!(pushed(Fx::MAX), pushed(IMPULSE_MAX));
    assert_ne!(pushed(IMPULSE_MAX), pushed(IMPULSE_MAX.saturating_sub(Fx::from_int(1 << 16))));
}

#[test]
fn a_ball_bounces_if_it_comes_faster_than_the_slowest_approach_that_does() {
    for (faster, bounces) in [(-2, false), (2, true)] {
        let mut region = Region::new();
        put(&mut region, 1, BodySpec { restitution: Fx::ONE, ..fixed(rect(50, 300), at(150, 0)) });
        let speed = RESTITUTION_SPEED_MIN.saturating_add(cm(faster));
        let velocity = Vec2::new(speed, Fx::ZERO);
        let ball = BodySpec { restitution: Fx::ONE, velocity, ..moving(circle(30), at(60, 0)) };
        put(&mut region, 2, ball);

        run(&mut region, 30);

        let back = body(&region, 2).velocity().x.saturating_neg();
        let wanted = if bounces { speed } else { Fx::ZERO };
        let off = back.saturating_sub(wanted);
        assert!(off.saturating_abs() < cm(3), "at {speed}: returns at {back}");
    }
}
