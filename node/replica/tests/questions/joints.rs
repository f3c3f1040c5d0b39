//! What a server tells of joints.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_protocol::{Answer, JOINTS_PER_ANSWER_MAX, JointEntry, JointEntryKind, Question};
use metatopia_types::{
    Act, AssetLicence, Blueprint, Build, BuiltJoint, ObjectId, Outline, OutlineParts, wire,
};

use super::{
    alone::Alone,
    author_class::Person,
    people::{ADMIN, governed, public, turn},
};

/// Has the admin build a crate, whose number it returns.
fn build_crate(server: &mut Alone, admin: &mut Person, at: Vec2) -> ObjectId {
    let blueprint = Blueprint {
        kind: "crate".to_owned(),
        name: "crate".to_owned(),
        text: String::new(),
        color: 0,
        outline: Outline::Disc { radius: Fx::ONE },
        movable: true,
        position: at,
        angle: Angle::ZERO,
        licence: AssetLicence::Cc0,
        parts: OutlineParts::default(),
    };
    admin.acts(server, Act::Build(Build::Place(blueprint)), 101);
    turn(server);
    let things = server.ask(Question::Things { owner: public(ADMIN) });
    let Answer::Things(things) = things else { panic!("{things:?}") };
    things[0].object
}

#[test]
fn a_server_tells_the_joints_near_a_place() {
    let (mut server, mut admin) = governed();
    let at = Vec2::new(Fx::from_int(4), Fx::from_int(2));
    let near = Question::Joints { near: at };
    assert_eq!(server.ask(near.clone()), Answer::Joints(Vec::new()));
    let object = build_crate(&mut server, &mut admin, at);
    let along = Angle::QUARTER;
    for (kind, n) in [(BuiltJoint::Hinge, 102), (BuiltJoint::Slider { along }, 103)] {
        admin.acts(&mut server, Act::Build(Build::Join { object, to: None, at, kind }), n);
        turn(&mut server);
    }

    let entry = JointEntry {
        a: None,
        b: object,
        anchor_a: at,
        anchor_b: Vec2::ZERO,
        kind: JointEntryKind::Hinge,
    };
    let slider = JointEntry { kind: JointEntryKind::Slider { along }, ..entry };
    assert_eq!((entry.other_end(object), entry.other_end(ObjectId(0))), (Some(None), None));
    assert_eq!(server.ask(near), Answer::Joints(vec![entry, slider]));
    let far = Vec2::new(Fx::from_int(90), Fx::ZERO);
    assert_eq!(server.ask(Question::Joints { near: far }), Answer::Joints(Vec::new()));
    // The longest ones fill an answer.
    let end = Some(ObjectId(u64::MAX));
    let corner = Vec2::new(Fx::MIN, Fx::MIN);
    let (anchor_a, anchor_b) = (corner, corner);
    let longest = JointEntry { a: end, b: ObjectId(u64::MAX), anchor_a, anchor_b, ..slider };
    let bytes = wire::encode(&vec![longest; JOINTS_PER_ANSWER_MAX]).len();
    assert!(bytes < 26 * 1_024, "{bytes}");
}

#[test]
fn a_joint_that_somebody_builds_is_told_by_its_kind() {
    let (mut server, mut admin) = governed();
    let near = Vec2::new(Fx::from_int(4), Fx::from_int(2));
    let object = build_crate(&mut server, &mut admin, near);
    let along = Angle::QUARTER;
    let kinds = [
        (BuiltJoint::Hinge, JointEntryKind::Hinge),
        (BuiltJoint::Rod, JointEntryKind::Rod),
        (BuiltJoint::Rope, JointEntryKind::Rope),
        (BuiltJoint::Weld, JointEntryKind::Weld),
        (BuiltJoint::Slider { along }, JointEntryKind::Slider { along }),
        (BuiltJoint::Spring { frequency: Fx::ONE, damping: Fx::HALF }, JointEntryKind::Spring),
    ];

    let at = Vec2::new(Fx::from_ratio(9, 2), Fx::from_int(2));
    for ((kind, _), n) in kinds.into_iter().zip(102..) {
        admin.acts(&mut server, Act::Build(Build::Join { object, to: None, at, kind }), n);
        turn(&mut server);
    }

    let told = server.ask(Question::Joints { near });
    let Answer::Joints(told) = told else { panic!("{told:?}") };
    let told: Vec<JointEntryKind> = told.iter().map(|entry| entry.kind).collect();
    assert_eq!(told, kinds.map(|(_, kind)| kind));
}
