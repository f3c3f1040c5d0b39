//! Pendulums, springs and what turns freely, against theory.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{BodySpec, JointId, JointKind, JointSpec, Region, Spring};
use metatopia_types::ObjectId;

use super::{HINGE, falling, join, near, rod};
use crate::scenes::{at, body, circle, cm, moving, put, rect, run};

/// Returns the mean time of a whole swing in milliseconds, by the steps at which a coordinate passes zero.
fn period(region: &mut Region, steps: i32, coordinate: fn(&Region) -> Fx) -> Fx {
    let mut crossings = Vec::new();
    let mut before = coordinate(region);
    for step in 0..steps {
        region.step();
        let now = coordinate(region);
        if before < Fx::ZERO && now >= Fx::ZERO {
            // Between two steps, where it passes the middle.
            let share = now.saturating_div(now.saturating_sub(before));
            crossings.push(Fx::from_int(step).saturating_sub(share));
        }
        before = now;
    }
    let swings = crossings.len() as i64 - 1;
    let whole = crossings[crossings.len() - 1].saturating_sub(crossings[0]);
    whole.saturating_div(Fx::from_ratio(swings * 60, 1_000))
}

#[test]
fn a_pendulum_swings_as_long_as_theory_says() {
    // Under 10 m/s^2, let go at a tenth of a radian, which makes a swing longer by 1/1600. A disc on a rod of
    // a metre does not turn: 2 pi sqrt(1 / 10) seconds. A disc on a hinge does: 2 pi sqrt(1.125 / 10).
    for (on_rod, theory) in [(true, 1_988), (false, 2_109)] {
        let mut region = falling().with_sleeping(false);
        let start = at(0, -100).rotate(Angle::from_radians(cm(10)));
        put(&mut region, 1, moving(circle(50), start));
        if on_rod {
            let spec = JointSpec::new(None, ObjectId(1), rod(100));
            region.insert_joint(JointId(1), &spec).expect("it fits");
        } else {
            join(&mut region, 1, None, 1, Vec2::ZERO, HINGE);
        }
        let found = period(&mut region, 1_300, |region| body(region, 1).position().x);
        assert!(near(found, Fx::from_int(theory), Fx::from_int(10)), "{found} ms, not {theory}");
    }
}

#[test]
fn a_spring_swings_at_its_frequency_and_comes_to_rest_at_its_length() {
    for (frequency, theory) in [(cm(100), 1_000), (cm(300), 333)] {
        let spring = Spring { frequency, damping: Fx::ZERO };
        let mut region = Region::new().with_sleeping(false);
        put(&mut region, 1, moving(circle(20), at(250, 0)));
        let rest = (cm(200), spring);
        let kind = JointKind::Distance { min: Fx::ZERO, max: cm(900), spring: Some(rest) };
        let spec = JointSpec::new(None, ObjectId(1), kind);
        region.insert_joint(JointId(1), &spec).expect("it fits");
        let middle = |region: &Region| body(region, 1).position().x.saturating_sub(cm(200));
        let found = period(&mut region, 400, middle);
        assert!(near(found, Fx::from_int(theory), Fx::from_int(15)), "{found} ms, not {theory}");
    }
    // Two bodies swing against each other in the same time, and damping ends it.
    let mut region = Region::new();
    put(&mut region, 1, moving(circle(20), at(-150, 0)));
    put(&mut region, 2, BodySpec { mass: Fx::from_int(3), ..moving(circle(20), at(150, 0)) });
    let spring = Spring { frequency: cm(100), damping: cm(40) };
    let kind = JointKind::Distance { min: Fx::ZERO, max: cm(900), spring: Some((cm(200), spring)) };
    let spec = JointSpec::new(Some(ObjectId(1)), ObjectId(2), kind);
    region.insert_joint(JointId(1), &spec).expect("it fits");
    run(&mut region, 600);
    assert!(region.is_asleep());
    let length = body(&region, 1).position().distance(body(&region, 2).position());
    assert!(near(length, cm(200), cm(2)), "{length} m");
    // The heavier one moved a third as far as the other one.
    let moved = body(&region, 2).position().x.saturating_sub(cm(150));
    assert!(near(moved, cm(-25), cm(2)), "{moved} m");
}

#[test]
fn a_rope_is_slack_up_to_its_length_and_then_holds() {
    let mut region = falling();
    put(&mut region, 1, moving(circle(20), at(0, -50)));
    let kind = JointKind::Distance { min: Fx::ZERO, max: cm(200), spring: None };
    region.insert_joint(JointId(1), &JointSpec::new(None, ObjectId(1), kind)).expect("it fits");

    run(&mut region, 20);
    // Half of 10 m/s^2 for a third of a second, as without a rope.
    let fallen = body(&region, 1).position().y;
    assert!(near(fallen, cm(-50 - 56), cm(4)), "{fallen}");
    run(&mut region, 600);
    let hangs = body(&region, 1).position();
    assert!(hangs.distance(at(0, -200)) < cm(1), "{hangs}");
    assert!(region.is_asleep());
}

#[test]
fn a_body_passes_the_hook_of_its_slack_rope() {
    let mut region = Region::new();
    put(&mut region, 1, BodySpec { velocity: at(300, 0), ..moving(circle(20), at(-100, 0)) });
    let kind = JointKind::Distance { min: Fx::ZERO, max: cm(200), spring: None };
    region.insert_joint(JointId(1), &JointSpec::new(None, ObjectId(1), kind)).expect("it fits");
    run(&mut region, 30);
    let body = body(&region, 1);
    assert!(near(body.position().x, cm(50), cm(1)), "{}", body.position());
    assert_eq!(body.velocity(), at(300, 0));
}

#[test]
fn what_swings_freely_gains_no_energy_and_loses_little() {
    // A double pendulum from a high place, for more than half a minute.
    let mut region = falling().with_sleeping(false);
    for id in [1, 2] {
        put(&mut region, id, moving(rect(50, 10), at(id as i64 * 100 - 50, 0)));
    }
    join(&mut region, 1, None, 1, Vec2::ZERO, HINGE);
    join(&mut region, 2, Some(1), 2, at(100, 0), HINGE);
    // A rectangle has (0.5^2 + 0.1^2) / 3 of squared gyration.
    let gyration = Fx::from_ratio(26, 300);
    let energy = |region: &Region| {
        let of = |id| {
            let body = body(region, id);
            let turning = body.spin().saturating_mul(body.spin()).saturating_mul(gyration);
            let moving = body.velocity().length_squared().saturating_add(turning);
            let height = body.position().y.saturating_mul(Fx::from_int(10));
            moving.saturating_mul(Fx::HALF).saturating_add(height)
        };
        [1, 2].map(of).into_iter().fold(Fx::ZERO, Fx::saturating_add)
    };
    let (mut most, mut last) = (Fx::MIN, Fx::ZERO);
    for _ in 0..2_000 {
        region.step();
        last = energy(&region);
        most = most.max(last);
    }
    // It began with none, and would hang with -20 J.
    assert!(most < cm(40), "{most} J");
    assert!(last > Fx::from_int(-20), "{last} J");
}

#[test]
fn a_joint_inside_of_a_pair_keeps_momentum() {
    for kind in [HINGE, super::WELD, rod(140)] {
        let mut region = Region::new().with_sleeping(false);
        let one = BodySpec {
            mass: Fx::from_int(2),
            velocity: at(200, 100),
            spin: cm(300),
            ..moving(rect(60, 20), at(-70, 0))
        };
        let two = BodySpec { mass: Fx::from_int(5), ..moving(rect(40, 30), at(60, 10)) };
        put(&mut region, 1, one);
        put(&mut region, 2, two);
        if kind == rod(140) {
            let spec = JointSpec {
                anchor_b: at(10, -10),
                ..JointSpec::new(Some(ObjectId(1)), ObjectId(2), kind)
            };
            region.insert_joint(JointId(1), &spec).expect("it fits");
        } else {
            join(&mut region, 1, Some(1), 2, Vec2::ZERO, kind);
        }
        let momentum = |region: &Region| {
            let of = |id| body(region, id).velocity().scale(body(region, id).mass());
            of(1).saturating_add(of(2))
        };
        let angular = |region: &Region| {
            let of = |id, gyration: Fx| {
                let body = body(region, id);
                let turning = body.spin().saturating_mul(gyration);
                body.position()
                    .cross(body.velocity())
                    .saturating_add(turning)
                    .saturating_mul(body.mass())
            };
            of(1, Fx::from_ratio(40, 300)).saturating_add(of(2, Fx::from_ratio(25, 300)))
        };
        let (before, turn) = (momentum(&region), angular(&region));
        run(&mut region, 600);
        let (after, turn_after) = (momentum(&region), angular(&region));
        assert!(after.distance(before) < Fx::from_ratio(1, 200), "{kind:?}: {before} to {after}");
        let lost = turn.saturating_sub(turn_after).saturating_abs();
        // Positions are corrected, not momentum, and a step of a turn is a straight line.
        assert!(
            lost < turn.saturating_abs().saturating_mul(cm(3)),
            "{kind:?}: {turn} to {turn_after}"
        );
    }
}

#[test]
fn a_hinge_outside_of_its_body_holds() {
    // Up to ten times as far away as the body reaches, from the smallest one to one that is hung up as far
    // away as can be.
    for (radius, lever) in [(7, 70), (50, 500), (160, 1_590)] {
        let mut region = falling().with_sleeping(false);
        put(&mut region, 1, moving(circle(radius), at(lever, 0)));
        join(&mut region, 1, None, 1, Vec2::ZERO, HINGE);
        let mut widest = Fx::ZERO;
        for _ in 0..1_200 {
            region.step();
            widest = widest.max(super::gap(&region, 1));
        }
        assert!(widest < cm(3), "{widest} m for a radius of {radius} cm");
    }
}
