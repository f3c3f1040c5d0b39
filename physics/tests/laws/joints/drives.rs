//! Motors, limits, welds, sliders and targets.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{BodySpec, JointId, JointKind, JointSpec, Motor, Region, Spring};
use metatopia_types::ObjectId;

use super::{HINGE, WELD, falling, gap, join, near};
use crate::scenes::{at, body, circle, cm, moving, put, rect, run};

fn slider(axis: Vec2, limits: Option<[Fx; 2]>, motor: Option<Motor>) -> JointKind {
    JointKind::Prismatic { axis, limits, motor }
}

#[test]
fn a_hinge_stops_at_its_limits() {
    for (push, wanted) in [(500, 80), (-500, -40)] {
        let mut region = Region::new();
        put(&mut region, 1, moving(rect(50, 10), at(50, 0)));
        let limits = Some([cm(-40), cm(80)]);
        join(&mut region, 1, None, 1, Vec2::ZERO, JointKind::Revolute { limits, motor: None });
        region.set_spin(ObjectId(1), cm(push)).expect("it moves");
        region.set_velocity(ObjectId(1), at(0, push / 2)).expect("it moves");
        let mut furthest = Fx::ZERO;
        for _ in 0..120 {
            region.step();
            let angle = body(&region, 1).angle().to_radians();
            furthest = furthest.max(angle.saturating_mul(Fx::from_int(push.signum() as i32)));
        }
        let furthest = furthest.saturating_mul(Fx::from_int(push.signum() as i32));
        assert!(near(furthest, cm(wanted), cm(4)), "{furthest}, not {wanted}");
    }
}

#[test]
fn a_motor_turns_a_wheel_at_its_speed_and_stalls_where_it_is_too_weak() {
    let motor = |speed, strength| Some(Motor { speed: cm(speed), strength });
    let mut region = Region::new();
    put(&mut region, 1, moving(circle(50), Vec2::ZERO));
    let kind = JointKind::Revolute { limits: None, motor: motor(300, Fx::from_int(1)) };
    join(&mut region, 1, None, 1, Vec2::ZERO, kind);
    // One newton metre on 1/8 kg m^2: 8 rad/s^2, so a tenth of a second makes 0.8 rad/s.
    run(&mut region, 6);
    assert!(near(body(&region, 1).spin(), cm(80), cm(4)), "{}", body(&region, 1).spin());
    run(&mut region, 120);
    assert!(near(body(&region, 1).spin(), cm(300), cm(1)), "{}", body(&region, 1).spin());
    region.set_motor(JointId(1), motor(-100, Fx::from_int(5))).expect("it is a hinge");
    run(&mut region, 120);
    assert!(near(body(&region, 1).spin(), cm(-100), cm(1)));

    // An arm of a metre's lever and a kilogram needs 10 N m to rise.
    for (strength, rises) in [(9, false), (11, true)] {
        let mut region = falling();
        put(&mut region, 1, moving(circle(20), at(100, 0)));
        let kind = JointKind::Revolute { limits: None, motor: motor(50, Fx::from_int(strength)) };
        join(&mut region, 1, None, 1, Vec2::ZERO, kind);
        run(&mut region, 40);
        assert_eq!(body(&region, 1).position().y > Fx::ZERO, rises, "with {strength} N m");
    }
}

#[test]
fn a_slider_moves_along_its_line_only_and_stops_at_its_limits() {
    let mut region = falling();
    put(&mut region, 1, BodySpec { spin: cm(200), ..moving(rect(30, 20), Vec2::ZERO) });
    // Downhill to the right: by 3 for each 4.
    let kind = slider(at(400, -300), Some([cm(-100), cm(250)]), None);
    join(&mut region, 1, None, 1, Vec2::ZERO, kind);
    for step in 0..240 {
        region.step();
        let at = body(&region, 1).position();
        let off = at.x.saturating_mul(cm(60)).saturating_add(at.y.saturating_mul(cm(80)));
        assert!(off.saturating_abs() < cm(3), "{off} m beside the line in step {step}");
        assert!(body(&region, 1).angle().sin().saturating_abs() < cm(4));
    }
    let at_end = body(&region, 1).position();
    assert!(at_end.distance(at(200, -150)) < cm(2), "{at_end}");

    let motor = Motor { speed: cm(-150), strength: Fx::from_int(40) };
    region.set_motor(JointId(1), Some(motor)).expect("it is a slider");
    run(&mut region, 30);
    let speed = body(&region, 1).velocity().length();
    assert!(near(speed, cm(150), cm(2)), "{speed} m/s");
    run(&mut region, 240);
    assert!(body(&region, 1).position().distance(at(-80, 60)) < cm(2));
}

#[test]
fn a_slider_between_two_bodies_turns_with_them() {
    let mut region = Region::new().with_sleeping(false);
    put(
        &mut region,
        1,
        BodySpec { spin: cm(100), mass: Fx::from_int(50), ..moving(rect(100, 20), Vec2::ZERO) },
    );
    put(&mut region, 2, moving(rect(20, 20), at(0, 60)));
    join(&mut region, 1, Some(1), 2, at(0, 60), slider(at(100, 0), Some([cm(-80), cm(80)]), None));
    for _ in 0..600 {
        region.step();
        let (one, two) = (body(&region, 1), body(&region, 2));
        let local = one.own_frame(two.position());
        assert!(near(local.y, cm(60), cm(2)), "{local}");
        assert!(local.x.saturating_abs() < cm(83), "{local}");
        let turned = two.angle().wrapping_sub(one.angle()).sin();
        assert!(turned.saturating_abs() < cm(2), "{turned}");
    }
}

#[test]
fn a_weld_makes_two_bodies_one_and_with_a_spring_it_bends() {
    let angle = |kind| {
        let mut region = falling();
        put(&mut region, 1, moving(rect(50, 10), at(50, 0)));
        put(&mut region, 2, moving(rect(50, 10), at(150, 0)));
        join(&mut region, 1, None, 1, Vec2::ZERO, WELD);
        join(&mut region, 2, Some(1), 2, at(100, 0), kind);
        run(&mut region, 400);
        assert!(gap(&region, 2) < cm(2));
        body(&region, 2).angle().sin()
    };
    let stiff = angle(WELD);
    assert!(stiff > cm(-12) && stiff <= Fx::ZERO, "{stiff}");
    let spring = Spring { frequency: cm(150), damping: Fx::ONE };
    let bent = angle(JointKind::Weld { spring: Some(spring) });
    assert!(bent < cm(-15), "{bent}");
}

#[test]
fn a_target_drags_a_body_to_a_point_unless_it_is_too_heavy() {
    let spring = Spring { frequency: cm(200), damping: Fx::ONE };
    for (force, rises) in [(8, false), (60, true)] {
        let mut region = falling();
        put(&mut region, 1, moving(rect(20, 20), Vec2::ZERO));
        let kind = JointKind::Target { spring, force: Fx::from_int(force) };
        join(&mut region, 1, None, 1, Vec2::ZERO, kind);
        region.move_target(JointId(1), at(100, 150)).expect("it is a target");
        run(&mut region, 240);
        let off = body(&region, 1).position().distance(at(100, 150));
        assert_eq!(off < cm(20), rises, "{off} m away with {force} N");
    }
}

#[test]
fn a_sleeping_body_wakes_when_its_joint_changes_and_sleeps_again() {
    let mut region = Region::new();
    put(&mut region, 1, moving(circle(30), Vec2::ZERO));
    put(&mut region, 2, moving(circle(30), at(100, 0)));
    join(&mut region, 1, Some(1), 2, at(50, 0), HINGE);
    run(&mut region, 60);
    assert!(region.is_asleep());

    region.set_motor(JointId(1), None).expect("it has none already");
    assert!(region.is_asleep(), "nothing changed");
    let motor = Motor { speed: cm(100), strength: Fx::from_int(5) };
    region.set_motor(JointId(1), Some(motor)).expect("it is a hinge");
    run(&mut region, 60);
    assert!(!region.is_asleep());
    assert!(body(&region, 2).spin() > Fx::ZERO && body(&region, 1).spin() < Fx::ZERO);

    let stop = Motor { speed: Fx::ZERO, strength: Fx::from_int(5) };
    region.set_motor(JointId(1), Some(stop)).expect("it is a hinge");
    run(&mut region, 400);
    assert!(region.is_asleep());
}

#[test]
fn bodies_of_a_joint_sleep_together_also_without_gravity() {
    let mut region = Region::new();
    for id in 1..=4_i64 {
        put(&mut region, id as u64, moving(rect(30, 10), at(id * 60, 0)));
    }
    for id in 1..4 {
        join(&mut region, id, Some(id), id + 1, at(id as i64 * 60 + 30, 0), HINGE);
    }
    region.set_spin(ObjectId(4), cm(50)).expect("it moves");
    for step in 0..3_000 {
        region.step();
        let asleep = region.bodies().iter().filter(|body| body.is_asleep()).count();
        assert!(asleep == 0 || asleep == 4, "{asleep} of them sleep in step {step}");
    }
}

#[test]
fn an_angle_of_a_joint_is_that_of_its_bodies_when_it_was_made() {
    let mut region = Region::new();
    let turned = Angle::from_radians(cm(70));
    let mut one = moving(rect(30, 10), Vec2::ZERO);
    one.pose.angle = turned;
    put(&mut region, 1, one);
    put(&mut region, 2, moving(rect(30, 10), at(50, 0)));
    let spec = region.joint_at(Some(ObjectId(1)), ObjectId(2), at(20, 0), WELD).expect("both");
    assert!(spec.angle.wrapping_add(turned).sin().saturating_abs() < Fx::from_ratio(1, 1_000_000));
    region.insert_joint(JointId(1), &spec).expect("it fits");
    run(&mut region, 60);
    assert!(body(&region, 1).angle().wrapping_sub(turned).sin().saturating_abs() < cm(1));
    let alone = JointSpec::new(None, ObjectId(2), WELD);
    assert_eq!((alone.anchor_a, alone.angle), (Vec2::ZERO, Angle::ZERO));
}
