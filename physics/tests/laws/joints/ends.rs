//! How joints end, and hard hits.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{
    BodySpec, Hit, JointEnd, JointEnded, JointError, JointId, JointSpec, Region, StepEvents, Touch,
    limits,
};
use metatopia_types::ObjectId;

use super::{HINGE, WELD, falling, join, near, rod};
use crate::scenes::{at, body, circle, cm, fixed, moving, put, rect, run};

fn joints(events: StepEvents) -> Vec<JointEnded> {
    events.joints
}

#[test]
fn a_rod_breaks_at_the_force_that_is_stated() {
    // Ten kilograms under 10 m/s^2 pull with 100 N.
    for (force, breaks) in [(98, true), (102, false)] {
        let mut region = falling();
        put(&mut region, 1, BodySpec { mass: Fx::from_int(10), ..moving(circle(20), at(0, -100)) });
        let spec = JointSpec {
            break_force: Some(Fx::from_int(force)),
            ..JointSpec::new(None, ObjectId(1), rod(100))
        };
        region.insert_joint(JointId(7), &spec).expect("it fits");
        let ended: Vec<_> = (0..120).flat_map(|_| joints(region.step_events())).collect();
        assert_eq!(ended.len(), usize::from(breaks), "{force} N: {ended:?}");
        assert_eq!(region.joint(JointId(7)).is_none(), breaks);
        if let [JointEnded { id, reason: JointEnd::Broke { force, torque } }] = ended[..] {
            assert_eq!(id, JointId(7));
            assert!(near(force, Fx::from_int(100), Fx::from_int(2)), "{force} N");
            assert_eq!(torque, Fx::ZERO);
            assert!(body(&region, 1).position().y < cm(-200), "it fell");
        }
    }
}

#[test]
fn a_rod_that_holds_breaks_once_it_is_made_weaker_and_wakes_for_that() {
    let mut region = falling();
    put(&mut region, 1, BodySpec { mass: Fx::from_int(10), ..moving(circle(20), at(0, -100)) });
    region.insert_joint(JointId(7), &JointSpec::new(None, ObjectId(1), rod(100))).expect("it fits");
    run(&mut region, 240);
    assert!(region.is_asleep());
    for (force, breaks) in [(Some(102), false), (None, false), (Some(98), true)] {
        region.set_break_force(JointId(7), force.map(Fx::from_int)).expect("it is there");
        assert!(!region.is_asleep(), "{force:?}");
        run(&mut region, 10);
        assert_eq!(region.joint(JointId(7)).is_none(), breaks, "{force:?}");
    }
    assert_eq!(region.set_break_force(JointId(7), None), Err(JointError::Missing(JointId(7))));
}

#[test]
fn a_weld_breaks_at_the_torque_that_is_stated() {
    // A kilogram whose middle is two metres out turns with 20 N m.
    for (torque, breaks) in [(19, true), (21, false)] {
        let mut region = falling();
        put(&mut region, 1, moving(rect(200, 10), at(200, 0)));
        let spec = region.joint_at(None, ObjectId(1), Vec2::ZERO, WELD).expect("it is there");
        let spec = JointSpec { break_torque: Some(Fx::from_int(torque)), ..spec };
        region.insert_joint(JointId(1), &spec).expect("it fits");
        let ended: Vec<_> = (0..200).flat_map(|_| joints(region.step_events())).collect();
        let broke = |ended: &JointEnded| matches!(ended.reason, JointEnd::Broke { .. });
        assert_eq!(
            ended.iter().filter(|ended| broke(ended)).count(),
            usize::from(breaks),
            "{torque}"
        );
    }
}

#[test]
fn the_removal_of_a_body_removes_its_joints_with_events_in_id_order() {
    let mut region = falling();
    for id in 1..=3_i64 {
        put(&mut region, id as u64, moving(circle(20), at(0, id * -50)));
    }
    join(&mut region, 9, None, 1, Vec2::ZERO, HINGE);
    join(&mut region, 5, Some(1), 2, at(0, -75), HINGE);
    join(&mut region, 7, Some(2), 3, at(0, -125), HINGE);
    run(&mut region, 300);
    assert!(region.is_asleep());

    region.remove(ObjectId(2)).expect("it is there");
    // Another body with its id is none of the joints'.
    put(&mut region, 2, moving(circle(20), at(900, 0)));
    let lost = JointEnd::Removed(ObjectId(2));
    let ended = joints(region.step_events());
    assert_eq!(ended, [5, 7].map(|id| JointEnded { id: JointId(id), reason: lost }));
    assert_eq!(region.joints().len(), 1);
    assert_eq!(joints(region.step_events()), []);
    run(&mut region, 60);
    assert!(body(&region, 3).position().y < cm(-400), "it fell");
    assert!(near(body(&region, 1).position().y, cm(-50), cm(2)), "it hangs");
}

#[test]
fn bodies_of_a_joint_meet_only_if_they_are_to() {
    for collide in [false, true] {
        let mut region = Region::new();
        put(&mut region, 1, moving(circle(30), Vec2::ZERO));
        put(&mut region, 2, moving(circle(30), at(40, 0)));
        assert_eq!(region.step().len(), 1, "they touch at first");
        let spec = region.joint_at(Some(ObjectId(1)), ObjectId(2), at(20, 0), HINGE);
        let spec = JointSpec { collide, ..spec.expect("both are there") };
        region.insert_joint(JointId(1), &spec).expect("it fits");
        let touches: Vec<Touch> = (0..30).flat_map(|_| region.step()).collect();
        let ended = Touch::Ended { a: ObjectId(1), b: ObjectId(2) };
        assert_eq!(touches.contains(&ended), !collide);

        region.remove_joint(JointId(1)).expect("it is there");
        let again = region.step();
        assert_eq!(matches!(again[..], [Touch::Began { .. }]), !collide, "{again:?}");
    }
}

#[test]
fn hits_have_their_speed_and_impulse_and_none_is_reported_below_the_threshold() {
    let hits = |least: Option<Fx>| {
        let mut region = Region::new().with_hits(least);
        put(&mut region, 1, fixed(rect(20, 200), at(200, 0)));
        let ball = BodySpec {
            velocity: at(300, 0),
            mass: Fx::from_int(2),
            ..moving(circle(20), Vec2::ZERO)
        };
        put(&mut region, 2, ball);
        let hits: Vec<Hit> = (0..120).flat_map(|_| region.step_events().hits).collect();
        hits
    };
    let found = hits(Some(Fx::ONE));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].a, found[0].b), (ObjectId(1), ObjectId(2)));
    assert!(near(found[0].speed, cm(300), cm(1)));
    assert!(near(found[0].impulse, Fx::from_int(6), cm(5)));
    assert!(near(found[0].point.x, cm(180), cm(3)));
    assert_eq!(hits(Some(Fx::from_int(4))), []);
    assert_eq!(hits(None), []);
}

#[test]
fn a_crate_that_tips_over_hits_the_ground_although_it_touches_it_all_the_time() {
    let mut region = falling().with_hits(Some(Fx::ZERO));
    put(&mut region, 1, fixed(rect(500, 20), at(0, -20)));
    put(&mut region, 2, moving(rect(20, 60), at(0, 60)));
    run(&mut region, 90);
    region.set_spin(ObjectId(2), cm(-300)).expect("it moves");
    region.set_velocity(ObjectId(2), at(180, 0)).expect("it moves");
    let (mut began, mut hits) = (0, 0);
    for _ in 0..120 {
        let events = region.step_events();
        began += events.touches.iter().filter(|touch| matches!(touch, Touch::Began { .. })).count();
        hits += events.hits.iter().filter(|hit| hit.speed > Fx::ONE).count();
        assert!(events.hits.iter().all(|hit| hit.speed >= limits::HIT_SPEED_MIN));
    }
    assert_eq!(began, 0);
    assert!(hits > 0);
}

#[test]
fn a_region_at_rest_reports_no_hits() {
    let mut region: Region = falling().with_hits(Some(Fx::ZERO));
    put(&mut region, 1, fixed(rect(500, 20), at(0, -20)));
    for n in 0..10 {
        put(&mut region, 10 + n, moving(rect(30, 30), at(0, 30 + 60 * n as i64)));
    }
    run(&mut region, 20);
    for _ in 0..200 {
        assert_eq!(region.step_events().hits, []);
    }
}
