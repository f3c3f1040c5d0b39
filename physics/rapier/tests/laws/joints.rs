//! Joints and hits on both tiers.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{
    BodySpec, Hit, JointEnd, JointEnded, JointId, JointKind, JointSpec, Motor, Region, Spring,
    StepEvents, Touch,
};
use metatopia_types::ObjectId;

use crate::likeness::{assert_near, assert_same_place, both};
use crate::scenes::{HINGE, at, body, capsule, circle, cm, fixed, join, moving, put, rect, run};

const WELD: JointKind = JointKind::Weld { spring: None };

fn falling() -> Region {
    Region::new().with_gravity(at(0, -1_000))
}

fn rod(length: i64) -> JointKind {
    JointKind::Distance { min: cm(length), max: cm(length), spring: None }
}

fn add(region: &mut Region, id: u64, spec: &JointSpec) {
    region.insert_joint(JointId(id), spec).expect("a scene's joints fit");
}

/// Returns how far the two anchors of a joint are apart.
fn gap(region: &Region, joint: u64) -> Fx {
    let spec = region.joint(JointId(joint)).expect("it holds").spec();
    let point = |id: ObjectId, own: Vec2| {
        let pose = body(region, id.0).pose();
        pose.position.saturating_add(own.rotate(pose.angle))
    };
    let first = spec.a.map_or(spec.anchor_a, |a| point(a, spec.anchor_a));
    first.distance(point(spec.b, spec.anchor_b))
}

#[test]
fn a_chain_hangs_and_swings_without_coming_apart() {
    let mut regions = both(|| {
        let mut region = falling();
        for n in 0..8_i64 {
            put(&mut region, 1 + n as u64, moving(capsule(20, 8), at(25 + n * 50, 0)));
            let before = (n > 0).then_some(n as u64);
            join(&mut region, 1 + n as u64, before, 1 + n as u64, at(n * 50, 0), HINGE);
        }
        region
    });
    for region in &mut regions {
        let mut widest = Fx::ZERO;
        for _ in 0..600 {
            region.step();
            let gaps = region.joints().iter().map(|joint| gap(region, joint.id().0));
            widest = widest.max(gaps.max().expect("joints"));
        }
        assert!(widest < cm(10), "a gap of {widest} m");
        assert!(body(region, 8).position().length() < cm(400), "longer than the chain");
    }
}

#[test]
fn a_pendulum_on_a_rod_keeps_its_length_and_a_rope_holds_at_its_end_only() {
    let mut regions = both(|| {
        let mut region = falling().with_sleeping(false);
        put(&mut region, 1, moving(circle(20), at(100, 0)));
        add(&mut region, 1, &JointSpec::new(None, ObjectId(1), rod(100)));
        put(&mut region, 2, moving(circle(20), at(1_000, -50)));
        let rope = JointKind::Distance { min: Fx::ZERO, max: cm(200), spring: None };
        let spec = JointSpec { anchor_a: at(1_000, 0), ..JointSpec::new(None, ObjectId(2), rope) };
        add(&mut region, 2, &spec);
        region
    });
    for region in &mut regions {
        for step in 0..300 {
            region.step();
            assert_near(gap(region, 1), Fx::ONE, 30, "the rod");
            assert!(gap(region, 2) < cm(204), "the rope in step {step}");
            if step == 20 {
                // Half of 10 m/s^2 for a third of a second, as without a rope.
                assert_near(body(region, 2).position().y, cm(-50 - 61), 60, "slack");
            }
        }
    }
    regions.iter_mut().for_each(|region| run(region, 900));
    for region in &regions {
        assert_near(body(region, 2).position().y, cm(-200), 20, "where it hangs");
    }
}

#[test]
fn a_least_distance_keeps_bodies_apart() {
    let mut regions = both(|| {
        let mut region = Region::new();
        let ball = |x, speed| BodySpec { velocity: at(speed, 0), ..moving(circle(10), at(x, 0)) };
        put(&mut region, 1, ball(-100, 100));
        put(&mut region, 2, ball(100, -100));
        let apart = JointKind::Distance { min: Fx::ONE, max: Fx::from_int(9), spring: None };
        add(&mut region, 1, &JointSpec::new(Some(ObjectId(1)), ObjectId(2), apart));
        region
    });
    for region in &mut regions {
        for _ in 0..240 {
            region.step();
            assert!(gap(region, 1) > cm(94), "{}", gap(region, 1));
        }
    }
}

#[test]
fn a_spring_swings_and_comes_to_rest_at_its_length() {
    let mut regions = both(|| {
        let mut region = Region::new();
        put(&mut region, 1, moving(circle(20), at(250, 0)));
        let spring = Spring { frequency: Fx::ONE, damping: cm(20) };
        let kind = JointKind::Distance {
            min: Fx::ZERO,
            max: Fx::from_int(9),
            spring: Some((Fx::from_int(2), spring)),
        };
        add(&mut region, 1, &JointSpec::new(None, ObjectId(1), kind));
        region
    });
    regions.iter_mut().for_each(|region| run(region, 30));
    for region in &regions {
        // Half a swing at one hertz, damped by a fifth: 0.5 m * e^(-0.64) on the other side.
        assert_near(body(region, 1).position().x, cm(200 - 26), 40, "after half a second");
    }
    regions.iter_mut().for_each(|region| run(region, 600));
    for region in &regions {
        assert_near(body(region, 1).position().x, cm(200), 10, "at rest");
    }
}

#[test]
fn a_motor_turns_a_wheel_and_stalls_where_it_is_too_weak() {
    let motor = |speed, strength| Some(Motor { speed: cm(speed), strength });
    let wheel = |strength| {
        let mut region = falling();
        put(&mut region, 1, moving(circle(50), Vec2::ZERO));
        let kind = JointKind::Revolute { limits: None, motor: motor(300, Fx::ONE) };
        join(&mut region, 1, None, 1, Vec2::ZERO, kind);
        put(&mut region, 2, moving(rect(50, 10), at(1_050, 0)));
        let kind = JointKind::Revolute { limits: None, motor: motor(50, strength) };
        join(&mut region, 2, None, 2, at(1_000, 0), kind);
        region
    };
    for (strength, rises) in [(4, false), (7, true)] {
        let strength = Fx::from_int(strength);
        for mut region in [wheel(strength), crate::newton2(wheel(strength))] {
            // One newton metre on 1/8 kg m^2: 8 rad/s^2, so a tenth of a second makes 0.8 rad/s.
            run(&mut region, 6);
            assert_near(body(&region, 1).spin(), cm(80), 60, "the wheel that speeds up");
            run(&mut region, 34);
            // A bar of a kilogram with its middle half a metre out needs 5 N m to rise.
            assert_eq!(body(&region, 2).position().y > Fx::ZERO, rises, "{strength} N m");
            run(&mut region, 60);
            assert_near(body(&region, 1).spin(), cm(300), 30, "the wheel at its speed");
            region.set_motor(JointId(1), motor(-100, Fx::from_int(5))).expect("a hinge");
            run(&mut region, 120);
            assert_near(body(&region, 1).spin(), cm(-100), 30, "the wheel turned back");
        }
    }
}

#[test]
fn hinges_and_sliders_stop_at_their_limits() {
    let mut regions = both(|| {
        let mut region = falling();
        put(&mut region, 1, moving(rect(50, 10), at(50, 0)));
        let limits = Some([cm(-40), cm(80)]);
        join(&mut region, 1, None, 1, Vec2::ZERO, JointKind::Revolute { limits, motor: None });
        // Downhill to the right: by 3 for each 4.
        put(&mut region, 2, moving(rect(30, 20), at(2_000, 0)));
        let (axis, limits) = (at(400, -300), Some([cm(-100), cm(250)]));
        let kind = JointKind::Prismatic { axis, limits, motor: None };
        join(&mut region, 2, None, 2, at(2_000, 0), kind);
        region
    });
    for region in &mut regions {
        for step in 0..240 {
            region.step();
            let at = body(region, 2).position().saturating_sub(at(2_000, 0));
            let off = at.x.saturating_mul(cm(60)).saturating_add(at.y.saturating_mul(cm(80)));
            assert!(off.saturating_abs() < cm(4), "{off} m beside the line in step {step}");
        }
        assert_near(body(region, 1).angle().to_radians(), cm(-40), 50, "the hinge");
        let end = body(region, 2).position();
        assert!(end.distance(at(2_200, -150)) < cm(4), "{end}");
        let motor = Motor { speed: cm(-150), strength: Fx::from_int(40) };
        region.set_motor(JointId(2), Some(motor)).expect("a slider");
        run(region, 30);
        let speed = body(region, 2).velocity().length();
        assert_near(speed, cm(150), 60, "the slider");
        run(region, 240);
        let end = body(region, 2).position();
        assert!(end.distance(at(1_920, 60)) < cm(4), "{end}");
    }
}

#[test]
fn a_weld_makes_two_bodies_one_also_where_they_are_turned() {
    let mut regions = both(|| {
        let mut region = Region::new().with_sleeping(false);
        let mut one = moving(rect(50, 10), Vec2::ZERO);
        one.pose.angle = metatopia_math::Angle::from_radians(cm(70));
        put(&mut region, 1, BodySpec { spin: cm(200), velocity: at(100, 50), ..one });
        put(&mut region, 2, moving(rect(50, 10), at(80, 60)));
        join(&mut region, 1, Some(1), 2, at(40, 30), WELD);
        region
    });
    let turned = |region: &Region| body(region, 2).angle().wrapping_sub(body(region, 1).angle());
    let before = turned(&regions[0]);
    for region in &mut regions {
        run(region, 300);
        let bent = turned(region).wrapping_sub(before).sin();
        assert!(bent.saturating_abs() < cm(2), "bent by {bent}");
        assert!(gap(region, 1) < cm(2), "{}", gap(region, 1));
    }
}

#[test]
fn a_target_drags_a_body_to_a_point_unless_it_is_too_weak() {
    for (force, rises) in [(8, false), (60, true)] {
        let scene = || {
            let mut region = falling();
            put(&mut region, 1, moving(rect(20, 20), Vec2::ZERO));
            let spring = Spring { frequency: cm(200), damping: Fx::ONE };
            let kind = JointKind::Target { spring, force: Fx::from_int(force) };
            join(&mut region, 1, None, 1, Vec2::ZERO, kind);
            region.move_target(JointId(1), at(100, 150)).expect("a target");
            region
        };
        for mut region in [scene(), crate::newton2(scene())] {
            run(&mut region, 240);
            let off = body(&region, 1).position().distance(at(100, 150));
            assert_eq!(off < cm(20), rises, "{off} m away with {force} N");
        }
    }
}

fn joints(events: StepEvents) -> Vec<JointEnded> {
    events.joints
}

#[test]
fn a_joint_breaks_at_the_force_or_torque_that_is_stated() {
    for (force, torque, breaks) in [(95, 19, true), (105, 21, false)] {
        let scene = || {
            let mut region = falling();
            // Ten kilograms under 10 m/s^2 pull with 100 N.
            let weight = BodySpec { mass: Fx::from_int(10), ..moving(circle(20), at(0, -100)) };
            put(&mut region, 1, weight);
            let spec = JointSpec::new(None, ObjectId(1), rod(100));
            add(&mut region, 7, &JointSpec { break_force: Some(Fx::from_int(force)), ..spec });
            // A kilogram whose middle is two metres out turns with 20 N m.
            put(&mut region, 2, moving(rect(200, 10), at(1_200, 0)));
            let spec = region.joint_at(None, ObjectId(2), at(1_000, 0), WELD).expect("a body");
            add(&mut region, 8, &JointSpec { break_torque: Some(Fx::from_int(torque)), ..spec });
            region
        };
        for mut region in [scene(), crate::newton2(scene())] {
            let ended: Vec<_> = (0..200).flat_map(|_| joints(region.step_events())).collect();
            let broke = ended.iter().all(|end| matches!(end.reason, JointEnd::Broke { .. }));
            assert!(broke, "{ended:?}");
            assert_eq!(ended.len(), if breaks { 2 } else { 0 }, "{force} N: {ended:?}");
            assert_eq!(region.joints().len(), if breaks { 0 } else { 2 });
            assert_eq!(body(&region, 1).position().y < cm(-200), breaks);
        }
    }
}

#[test]
fn a_rod_that_holds_breaks_once_it_is_made_weaker() {
    let mut region = falling();
    let weight = BodySpec { mass: Fx::from_int(10), ..moving(circle(20), at(0, -100)) };
    put(&mut region, 1, weight);
    add(&mut region, 7, &JointSpec::new(None, ObjectId(1), rod(100)));
    let mut region = crate::newton2(region);
    for (force, breaks) in [(Some(110), false), (None, false), (Some(90), true)] {
        region.set_break_force(JointId(7), force.map(Fx::from_int)).expect("it is there");
        (0..60).for_each(|_| drop(region.step_events()));
        assert_eq!(region.joint(JointId(7)).is_none(), breaks, "{force:?}");
    }
}

#[test]
fn the_removal_of_a_body_removes_its_joints_with_events_in_id_order() {
    let mut regions = both(|| {
        let mut region = falling();
        for id in 1..=3_i64 {
            put(&mut region, id as u64, moving(circle(20), at(0, id * -50)));
        }
        join(&mut region, 9, None, 1, Vec2::ZERO, HINGE);
        join(&mut region, 5, Some(1), 2, at(0, -75), HINGE);
        join(&mut region, 7, Some(2), 3, at(0, -125), HINGE);
        region
    });
    for region in &mut regions {
        run(region, 300);
        region.remove(ObjectId(2)).expect("it is there");
        // Another body with its id is none of the joints'.
        put(region, 2, moving(circle(20), at(900, 0)));
        let lost = JointEnd::Removed(ObjectId(2));
        let ended = joints(region.step_events());
        assert_eq!(ended, [5, 7].map(|id| JointEnded { id: JointId(id), reason: lost }));
        assert_eq!(joints(region.step_events()), []);
        run(region, 60);
        assert!(body(region, 3).position().y < cm(-400), "it fell");
        assert_near(body(region, 1).position().y, cm(-50), 20, "it hangs");
    }
    assert_same_place(&regions, 1, 20);
}

#[test]
fn bodies_of_a_joint_meet_only_if_they_are_to() {
    for collide in [false, true] {
        let scene = || {
            let mut region = Region::new();
            put(&mut region, 1, moving(circle(30), Vec2::ZERO));
            put(&mut region, 2, moving(circle(30), at(40, 0)));
            region
        };
        for mut region in [scene(), crate::newton2(scene())] {
            assert_eq!(region.step().len(), 1, "they touch at first");
            let spec = region.joint_at(Some(ObjectId(1)), ObjectId(2), at(20, 0), HINGE);
            add(&mut region, 1, &JointSpec { collide, ..spec.expect("both are there") });
            let touches: Vec<Touch> = (0..30).flat_map(|_| region.step()).collect();
            let ended = Touch::Ended { a: ObjectId(1), b: ObjectId(2) };
            assert_eq!(touches.contains(&ended), !collide, "{touches:?}");
        }
    }
}

#[test]
fn a_body_that_is_shaped_anew_keeps_its_joints() {
    let mut regions = both(|| {
        let mut region = falling();
        put(&mut region, 1, moving(circle(20), at(0, -50)));
        join(&mut region, 1, None, 1, Vec2::ZERO, HINGE);
        region
    });
    for region in &mut regions {
        run(region, 30);
        region.set_shape(ObjectId(1), rect(10, 10), Fx::from_int(2)).expect("a shape");
        run(region, 120);
        assert!(gap(region, 1) < cm(2), "{}", gap(region, 1));
    }
}

#[test]
fn hits_have_their_speed_and_none_is_reported_below_the_threshold() {
    for least in [Some(Fx::ONE), Some(Fx::from_int(4)), None] {
        let scene = || {
            let mut region = Region::new().with_hits(least);
            put(&mut region, 1, fixed(rect(20, 200), at(200, 0)));
            let ball = BodySpec {
                velocity: at(300, 0),
                mass: Fx::from_int(2),
                ..moving(circle(20), Vec2::ZERO)
            };
            put(&mut region, 2, ball);
            region
        };
        for mut region in [scene(), crate::newton2(scene())] {
            let hits: Vec<Hit> = (0..120).flat_map(|_| region.step_events().hits).collect();
            assert_eq!(hits.len(), usize::from(least == Some(Fx::ONE)), "{hits:?}");
            if let [hit] = hits[..] {
                assert_eq!((hit.a, hit.b), (ObjectId(1), ObjectId(2)));
                assert_near(hit.speed, Fx::from_int(3), 10, "its speed");
                assert_near(hit.impulse, Fx::from_int(6), 300, "its impulse");
                assert_near(hit.point.x, cm(180), 60, "its place");
            }
        }
    }
}
