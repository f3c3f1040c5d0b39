//! What the commands of joints refuse and clamp, and what is restored.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{
    BodySpec, Joint, JointError, JointId, JointKind, JointSpec, MissingBody, Motion, Motor, Region,
    RestoreRegionError, Spring, limits,
};
use metatopia_types::{ObjectId, wire};

use super::{HINGE, WELD, join, rod};
use crate::scenes::{at, circle, cm, moving, put};

fn pair() -> Region {
    let mut region = Region::new();
    put(&mut region, 1, moving(circle(20), Vec2::ZERO));
    put(&mut region, 2, moving(circle(20), at(100, 0)));
    region
}

fn of_pair(kind: JointKind) -> JointSpec {
    JointSpec::new(Some(ObjectId(1)), ObjectId(2), kind)
}

#[test]
fn joints_that_cannot_be_are_refused_with_the_field_that_is_wrong() {
    let mut region = pair();
    let mut refused = |spec: JointSpec| {
        let error = region.insert_joint(JointId(1), &spec).expect_err("it is wrong");
        assert_eq!(region.joints(), []);
        error
    };
    let itself = JointSpec { a: Some(ObjectId(2)), ..of_pair(HINGE) };
    assert_eq!(refused(itself), JointError::Itself(ObjectId(2)));
    for (a, b, missing) in [(Some(9), 2, 9), (Some(1), 8, 8), (None, 7, 7)] {
        let unknown = JointSpec::new(a.map(ObjectId), ObjectId(b), HINGE);
        assert_eq!(refused(unknown), JointError::Body(MissingBody(ObjectId(missing))));
    }
    let field = |spec| match refused(spec) {
        JointError::Field(field) => field,
        other => panic!("{other}"),
    };
    let mut field = field;
    let beyond = |limit: Fx| limit.saturating_add(Fx::ULP);
    let far = Vec2::new(beyond(limits::JOINT_REACH_MAX), Fx::ZERO);
    assert_eq!(field(JointSpec { anchor_a: far, ..of_pair(HINGE) }), "anchor_a");
    assert_eq!(field(JointSpec { anchor_b: far, ..of_pair(HINGE) }), "anchor_b");
    let off = Vec2::new(beyond(limits::COORDINATE_MAX), Fx::ZERO);
    assert_eq!(field(JointSpec { a: None, anchor_a: off, ..of_pair(HINGE) }), "anchor_a");
    let wild = Vec2::new(Fx::MIN, Fx::MAX);
    assert_eq!(field(JointSpec { anchor_b: wild, ..of_pair(HINGE) }), "anchor_b");
    let slider = |axis| of_pair(JointKind::Prismatic { axis, limits: None, motor: None });
    for axis in [Vec2::ZERO, at(1, 0), wild] {
        assert_eq!(field(slider(axis)), "axis");
    }
    let hinge = |low, high| JointKind::Revolute { limits: Some([low, high]), motor: None };
    assert_eq!(field(of_pair(hinge(cm(50), cm(40)))), "limits");
    assert_eq!(field(of_pair(hinge(Fx::MIN, cm(40)))), "limits");
    assert_eq!(field(of_pair(hinge(cm(-40), beyond(limits::JOINT_ANGLE_MAX)))), "limits");
    let distance = |min, max, rest: Fx| {
        let spring = Spring { frequency: Fx::ONE, damping: Fx::ONE };
        of_pair(JointKind::Distance { min, max, spring: Some((rest, spring)) })
    };
    assert_eq!(field(distance(cm(-1), cm(40), cm(1))), "min");
    assert_eq!(field(distance(cm(50), cm(40), cm(1))), "max");
    assert_eq!(field(distance(cm(50), beyond(limits::JOINT_LENGTH_MAX), cm(1))), "max");
    assert_eq!(field(distance(cm(50), cm(60), cm(-1))), "spring");
}

#[test]
fn ids_are_used_once_and_unknown_ones_are_refused() {
    let mut region = pair();
    join(&mut region, 4, Some(1), 2, at(50, 0), WELD);
    let occupied = region.insert_joint(JointId(4), &of_pair(HINGE));
    assert_eq!(occupied, Err(JointError::Occupied(JointId(4))));
    assert_eq!(region.remove_joint(JointId(5)), Err(JointError::Missing(JointId(5))));
    assert_eq!(region.set_motor(JointId(5), None), Err(JointError::Missing(JointId(5))));
    assert_eq!(region.move_target(JointId(5), Vec2::ZERO), Err(JointError::Missing(JointId(5))));
    assert_eq!(region.set_motor(JointId(4), None), Err(JointError::Field("motor")));
    assert_eq!(region.move_target(JointId(4), Vec2::ZERO), Err(JointError::Field("anchor_a")));
    let removed = region.remove_joint(JointId(4)).expect("it is there");
    assert_eq!(removed.id(), JointId(4));
    assert_eq!(region.joints(), []);
    assert!(region.joint_at(None, ObjectId(9), Vec2::ZERO, WELD).is_err());
    for error in [JointError::Full, JointError::Itself(ObjectId(2)), JointError::Field("axis")] {
        assert!(error.to_string().len() > 10);
    }
}

#[test]
fn speeds_and_strengths_are_clamped() {
    let mut region = pair();
    let motor = Some(Motor { speed: Fx::MAX, strength: Fx::MAX });
    let kind = JointKind::Revolute { limits: None, motor };
    let spec =
        JointSpec { break_force: Some(Fx::MIN), break_torque: Some(Fx::MAX), ..of_pair(kind) };
    region.insert_joint(JointId(1), &spec).expect("it fits");
    let kept = *region.joint(JointId(1)).expect("it is there").spec();
    let clamped = Motor { speed: limits::SPEED_MAX, strength: limits::JOINT_FORCE_MAX };
    assert_eq!(kept.kind, JointKind::Revolute { limits: None, motor: Some(clamped) });
    assert_eq!(kept.break_force, Some(Fx::ZERO));
    assert_eq!(kept.break_torque, Some(limits::JOINT_FORCE_MAX));

    let spring = Spring { frequency: Fx::MAX, damping: Fx::MAX };
    let spec = of_pair(JointKind::Target { spring, force: Fx::MIN });
    region.insert_joint(JointId(2), &spec).expect("it fits");
    let kept = region.joint(JointId(2)).expect("it is there").spec().kind;
    let clamped =
        Spring { frequency: limits::SPRING_FREQUENCY_MAX, damping: limits::SPRING_DAMPING_MAX };
    assert_eq!(kept, JointKind::Target { spring: clamped, force: Fx::ZERO });
}

#[test]
fn a_region_holds_no_more_joints_than_its_limit() {
    let mut region = pair();
    for id in 0..limits::JOINTS_MAX as u64 {
        region.insert_joint(JointId(id), &of_pair(rod(100))).expect("there is room");
    }
    let full = region.insert_joint(JointId(u64::MAX), &of_pair(rod(100)));
    assert_eq!(full, Err(JointError::Full));
    let joints = region.joints().to_vec();
    let many = [&joints[..], &joints[..1]].concat();
    let too_many = pair().with_joints(many);
    assert_eq!(too_many, Err(RestoreRegionError::Joints(limits::JOINTS_MAX + 1)));
    // All of them can be solved, if slowly.
    region.step();
}

#[test]
fn a_joint_between_two_bodies_that_stay_does_nothing() {
    let mut region = pair();
    join(&mut region, 1, Some(1), 2, at(50, 0), HINGE);
    for id in [1, 2] {
        region.set_motion(ObjectId(id), Motion::Static).expect("both fit");
    }
    let before = region.bodies().to_vec();
    for _ in 0..60 {
        region.step();
    }
    assert!(before.iter().zip(region.bodies()).all(|(old, new)| old.pose() == new.pose()));
}

#[test]
fn joints_out_of_order_or_of_nobody_are_not_restored() {
    let mut region = pair();
    join(&mut region, 1, Some(1), 2, at(50, 0), HINGE);
    join(&mut region, 2, None, 2, at(50, 0), WELD);
    let joints = region.joints().to_vec();
    let restore = |joints: Vec<Joint>| pair().with_joints(joints).map(|_| ());
    assert_eq!(restore(joints.clone()), Ok(()));
    let swapped = vec![joints[1], joints[0]];
    assert_eq!(restore(swapped), Err(RestoreRegionError::JointOrder(JointId(1))));
    let alone = Region::new().with_joints(joints.clone());
    let nobody = RestoreRegionError::Joint { id: JointId(1), field: "bodies" };
    assert_eq!(alone.map(|_| ()), Err(nobody));

    // A definition that was not rounded, or an impulse too large, is of no region.
    let bytes = wire::encode(&joints[0]);
    assert!(bytes.len() <= limits::JOINT_BYTES_MAX);
    let back = wire::decode::<Joint>(&bytes, limits::JOINT_BYTES_MAX);
    assert_eq!(back, Ok(joints[0]));
    let (mut damaged, mut refused) = (0, 0);
    for place in 0..bytes.len() {
        let mut wrong = bytes.clone();
        wrong[place] ^= 0x55;
        let Ok(joint) = wire::decode::<Joint>(&wrong, limits::JOINT_BYTES_MAX) else { continue };
        damaged += 1;
        let Ok(mut region) = pair().with_joints(vec![joint]) else {
            refused += 1;
            continue;
        };
        for _ in 0..10 {
            region.step();
        }
    }
    assert!(damaged > 5 && refused > 2, "{damaged} {refused}");
}

#[test]
fn the_longest_joint_is_within_its_limit() {
    let mut region = pair();
    // Ghosts, whose numbers are longer, have no joints.
    let last = limits::GHOSTS_FROM.0 - 1;
    put(
        &mut region,
        last,
        BodySpec { velocity: at(-3_000, 1_000), ..moving(rect_of(20), at(90, 300)) },
    );
    put(&mut region, last - 1, moving(rect_of(20), Vec2::ZERO));
    let odd = Fx::from_bits(-123_456_789_012_345);
    let motor = Some(Motor { speed: odd, strength: Fx::MAX });
    let far = Vec2::new(cm(-1_111), cm(1_111));
    let kind = JointKind::Prismatic { axis: far, limits: Some([cm(-99_999), cm(99_999)]), motor };
    let spec = JointSpec {
        anchor_a: far,
        anchor_b: far,
        break_force: Some(Fx::from_bits(i64::MAX / 3)),
        break_torque: Some(Fx::from_bits(i64::MAX / 3)),
        ..JointSpec::new(Some(ObjectId(last)), ObjectId(last - 1), kind)
    };
    region.insert_joint(JointId(u64::MAX), &spec).expect("it fits");
    let mut longest = 0;
    for _ in 0..60 {
        region.step();
        longest = longest.max(region.joints().first().map_or(0, |joint| wire::encode(joint).len()));
    }
    region.remove(ObjectId(last)).expect("it is there");
    longest = longest.max(wire::encode(&region.joints()[0]).len());
    // Six impulses may have a byte more each than they have here, and the lost body eleven.
    assert!(longest > 90 && longest + 6 <= limits::JOINT_BYTES_MAX, "{longest}");
}

fn rect_of(half: i64) -> metatopia_physics::Shape {
    crate::scenes::rect(half, half)
}
