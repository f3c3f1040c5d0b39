//! Joints that builders make and take off: what each kind holds, who may, and what takes it back.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{JointSpec, Motion};
use metatopia_sim::{
    Area, JointKind, Land, Serial, Shape,
    limits::{OBJECT_JOINTS_MAX, OWNER_JOINTS_MAX, UNDO_ENTRIES_MAX},
};
use metatopia_types::{
    Act, Blueprint, Build, BuiltJoint, GovernOrder, ObjectId, Outcome, Outline, Refusal, Title,
    limits::LEAF_BYTES_MAX,
};

use crate::{
    building::{block, built, place, refused, site},
    yard::{Backwards, Builder, Shuffled, Yard, public, vec2},
};

const ADMIN: u8 = 100;
const HINGE: BuiltJoint = BuiltJoint::Hinge;
const FREE: JointKind = JointKind::Revolute { limits: None, motor: None };

fn crate_at(x: i32, y: i32) -> Blueprint {
    Blueprint { movable: true, name: "crate".to_owned(), ..block(x, y) }
}

fn join(object: ObjectId, to: Option<ObjectId>, at: (i32, i32), kind: BuiltJoint) -> Build {
    Build::Join { object, to, at: vec2(at.0, at.1), kind }
}

fn hinge(object: ObjectId, to: ObjectId) -> Build {
    join(object, Some(to), (4, 4), HINGE)
}

fn unjoin(object: ObjectId) -> Build {
    Build::Unjoin { object, from: None }
}

fn undo(yard: &mut Yard, n: u8) -> Outcome {
    built(yard, n, Build::Undo { skip: 0 })
}

/// The ends of all joints.
fn ends(yard: &Yard) -> Vec<(Option<ObjectId>, ObjectId)> {
    yard.world.joints().iter().map(|joint| (joint.a, joint.b)).collect()
}

/// A wall and a crate of player 1, two metres apart, and a yard for them.
fn pair(builder: &mut Builder) -> (Yard, ObjectId, ObjectId) {
    let mut yard = site(builder);
    let wall = place(&mut yard, 1, block(3, 4));
    let loose = place(&mut yard, 1, crate_at(5, 4));
    (yard, wall, loose)
}

fn close(a: Fx, b: Fx) -> bool {
    a.saturating_sub(b).saturating_abs() < Fx::from_ratio(1, 20)
}

#[test]
fn each_kind_of_joint_leaves_a_pushed_thing_what_it_says() {
    let along = Angle::ZERO;
    let slider = BuiltJoint::Slider { along };
    for kind in [HINGE, BuiltJoint::Rod, BuiltJoint::Weld, slider, BuiltJoint::Rope] {
        let mut yard = site(&mut Builder::new());
        let loose = place(&mut yard, 1, crate_at(3, 2));
        let at = (2, 2);
        assert_eq!(built(&mut yard, 1, join(loose, None, at, kind)), Outcome::Ok, "{kind:?}");
        for _ in 0..4 {
            yard.act(1, Act::Push { object: loose });
            yard.idle(20);
        }
        let seen = yard.world.object(loose).expect("it is there");
        let far = seen.position.distance(vec2(at.0, at.1));
        let moved = !close(seen.position.distance(vec2(3, 2)), Fx::ZERO);
        let turned = !close(Fx::from_bits(i64::from(seen.angle.to_bits() as i32)), Fx::ZERO);
        match kind {
            BuiltJoint::Hinge => assert!(moved && turned && close(far, Fx::ONE), "{seen:?}"),
            BuiltJoint::Rod => assert!(moved && close(far, Fx::ONE), "{seen:?}"),
            BuiltJoint::Weld => assert!(!moved && !turned, "{seen:?}"),
            BuiltJoint::Slider { .. } => {
                assert!(moved && !turned && close(seen.position.y, Fx::from_int(2)), "{seen:?}");
            }
            BuiltJoint::Rope => assert!(moved && far < Fx::from_ratio(21, 20), "{seen:?}"),
            other => panic!("{other:?} moves by itself"),
        }
        yard.check_leaves();
    }
}

#[test]
fn a_motor_turns_a_thing_and_a_spring_pulls_one_back_without_a_script() {
    let mut yard = site(&mut Builder::new());
    let (wheel, buoy) = (place(&mut yard, 1, crate_at(6, 2)), place(&mut yard, 1, crate_at(3, 2)));
    let motor = |speed| BuiltJoint::Motor { speed, strength: Fx::from_int(200) };
    assert_eq!(built(&mut yard, 1, join(wheel, None, (6, 2), motor(Fx::ONE))), Outcome::Ok);
    let spring = BuiltJoint::Spring { frequency: Fx::ONE, damping: Fx::HALF };
    assert_eq!(built(&mut yard, 1, join(buoy, None, (2, 2), spring)), Outcome::Ok);
    let facing = |yard: &Yard| yard.world.object(wheel).expect("it is there").angle;
    let before = facing(&yard);
    yard.act(1, Act::Push { object: buoy });
    yard.idle(2);
    let pushed = yard.world.object(buoy).expect("it is there").position.distance(vec2(2, 2));
    yard.idle(18);
    // Twenty turns are a second: a radian is 683 million of the 2^32 parts of a turn.
    let turned = facing(&yard).wrapping_sub(before).to_bits();
    assert!((500_000_000..800_000_000).contains(&turned), "{turned}");
    yard.idle(180);
    let rests = yard.world.object(buoy).expect("it is there").position.distance(vec2(2, 2));
    assert!(!close(pushed, Fx::ONE) && close(rests, Fx::ONE), "{pushed} {rests}");

    // Physics clamps what nobody can turn so fast, and no joint is without end.
    let fast = motor(Fx::from_int(1 << 20));
    assert_eq!(built(&mut yard, 1, join(buoy, Some(wheel), (5, 2), fast)), Outcome::Ok);
    let spec = yard.world.joints().into_iter().find(|spec| spec.a == Some(wheel)).expect("it");
    let JointKind::Revolute { motor: Some(motor), .. } = spec.kind else { panic!("{spec:?}") };
    assert_eq!(motor.speed, metatopia_physics::limits::SPEED_MAX);
    yard.check_leaves();
}

/// A cart with a motor to each wheel went nowhere where they were pinned at their rims, and a frozen one went on.
#[test]
fn a_cart_drives_by_its_motors_until_it_is_frozen() {
    let mut builder = Builder::new();
    builder.genesis.parameters.gravity = Vec2::new(Fx::ZERO, Fx::from_int(-10));
    builder.thing(Motion::Static, (0, -1), &[]);
    let floor = builder.genesis.objects.last_mut().expect("the floor");
    floor.body.shape = Shape::Rect { half: vec2(60, 1) };
    let mut yard = site(&mut builder);
    let radius = Fx::from_ratio(2, 5);
    let wheel = |x| Blueprint {
        outline: Outline::Disc { radius },
        position: Vec2::new(Fx::from_ratio(x, 2), radius),
        ..crate_at(0, 0)
    };
    let wheels = [place(&mut yard, 1, wheel(5)), place(&mut yard, 1, wheel(7))];
    let top = Vec2::new(Fx::from_int(3), Fx::from_ratio(13, 10));
    let cart = place(&mut yard, 1, Blueprint { position: top, ..crate_at(0, 0) });
    let kind = BuiltJoint::Motor { speed: Fx::from_int(-4), strength: Fx::from_int(200) };
    for object in wheels {
        let at = yard.world.object(object).expect("a wheel").position;
        let join = Build::Join { object, to: Some(cart), at, kind };
        assert_eq!(built(&mut yard, 1, join), Outcome::Ok);
    }
    let x = |yard: &Yard| yard.world.object(cart).expect("it is there").position.x;
    let before = x(&yard);
    yard.idle(60);
    let went = x(&yard).saturating_sub(before);
    assert!(went > Fx::ONE, "three seconds at 1.6 metres a second, less the start: {went} m");
    for wheel in wheels {
        let freeze = Act::Govern(GovernOrder::Freeze { object: wheel });
        assert_eq!(yard.try_act(ADMIN, freeze), Outcome::Ok);
    }
    yard.idle(20);
    let stood = x(&yard);
    yard.idle(40);
    assert!(close(x(&yard), stood), "{} m", x(&yard).saturating_sub(stood));
}

#[test]
fn a_joint_of_two_things_is_as_they_stand_and_goes_with_unjoin() {
    let (mut yard, wall, loose) = pair(&mut Builder::new());
    assert_eq!(built(&mut yard, 1, hinge(loose, wall)), Outcome::Ok);
    let [spec] = yard.world.joints()[..] else { panic!("{:?}", yard.world.joints()) };
    let (anchor_a, anchor_b) = (vec2(1, 0), vec2(-1, 0));
    let one = JointSpec { anchor_a, anchor_b, ..JointSpec::new(Some(wall), loose, FREE) };
    assert_eq!(spec, one);
    assert_eq!(built(&mut yard, 1, join(loose, None, (4, 4), HINGE)), Outcome::Ok);
    let from = Build::Unjoin { object: loose, from: Some(wall) };
    assert_eq!(built(&mut yard, 1, from), Outcome::Ok);
    assert_eq!(ends(&yard), [(None, loose)], "only that with the wall");
    assert_eq!(built(&mut yard, 1, hinge(loose, wall)), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, unjoin(wall)), Outcome::Ok, "either end frees the other");
    assert_eq!(built(&mut yard, 1, unjoin(loose)), Outcome::Ok);
    assert_eq!(ends(&yard), []);
    yard.check_leaves();
}

#[test]
fn what_cannot_be_joined_or_freed_is_refused_with_a_reason() {
    let (mut yard, wall, loose) = pair(&mut Builder::new());
    let second = place(&mut yard, 1, block(3, 6));
    let others = place(&mut yard, 2, crate_at(6, 6));
    let far = place(&mut yard, 1, crate_at(-9, -9));
    let (person, nothing) = (yard.avatar(2), ObjectId(u64::MAX));
    let long = Vec2::new(Fx::MAX, Fx::MIN);
    for (build, why) in [
        (hinge(loose, loose), Refusal::JoinedToItself),
        (hinge(second, wall), Refusal::Immovable),
        (join(wall, None, (3, 4), HINGE), Refusal::Immovable),
        (hinge(loose, others), Refusal::OwnersDiffer),
        (hinge(others, loose), Refusal::NotYours),
        (hinge(loose, person), Refusal::Person),
        (hinge(loose, nothing), Refusal::NoObject),
        (hinge(nothing, loose), Refusal::NoObject),
        (join(loose, None, (40, 4), HINGE), Refusal::OutOfReach),
        (Build::Join { object: loose, to: None, at: long, kind: HINGE }, Refusal::OutOfReach),
        // A lever that is longer than physics takes one.
        (join(far, Some(wall), (9, 9), HINGE), Refusal::OutOfRange),
        (unjoin(loose), Refusal::NotJoined),
        (unjoin(others), Refusal::NotYours),
    ] {
        assert_eq!(built(&mut yard, 1, build.clone()), refused(why), "{build:?}");
    }
    assert_eq!(ends(&yard), []);
    // Nobody else may join them, and an admin joins what is of one owner.
    assert_eq!(built(&mut yard, 2, hinge(loose, wall)), refused(Refusal::NotYours));
    assert_eq!(built(&mut yard, 100, hinge(loose, others)), refused(Refusal::OwnersDiffer));
    assert_eq!(built(&mut yard, 100, hinge(loose, wall)), Outcome::Ok);
    let from = Build::Unjoin { object: loose, from: Some(second) };
    assert_eq!(built(&mut yard, 1, from), refused(Refusal::NotJoined));
    yard.check_leaves();
}

#[test]
fn the_ground_of_both_ends_is_asked_for() {
    let mut builder = Builder::new();
    let area = Area { low: vec2(4, 0), high: vec2(12, 12) };
    builder.genesis.lands = vec![Land { name: "moor".to_owned(), area, title: Title::Open }];
    let (mut yard, wall, loose) = pair(&mut builder);
    assert_eq!(built(&mut yard, 1, hinge(loose, wall)), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, unjoin(loose)), Outcome::Ok);

    let mut builder = Builder::new();
    let title = Title::Player(public(2));
    builder.genesis.lands = vec![Land { name: "moor".to_owned(), area, title }];
    let mut yard = site(&mut builder);
    let loose = place(&mut yard, 1, crate_at(3, 4));
    let theirs = place(&mut yard, 2, block(6, 4));
    assert_eq!(built(&mut yard, 2, Build::Give { object: theirs, to: public(1) }), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, hinge(loose, theirs)), refused(Refusal::ClosedLand));
    let stake = join(loose, None, (5, 4), HINGE);
    assert_eq!(built(&mut yard, 1, stake), refused(Refusal::ClosedLand));
    assert_eq!(built(&mut yard, 1, join(loose, None, (3, 4), HINGE)), Outcome::Ok);
}

#[test]
fn what_a_moderator_froze_is_not_joined_from_either_side() {
    let (mut yard, wall, loose) = pair(&mut Builder::new());
    assert_eq!(built(&mut yard, 1, hinge(loose, wall)), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, Build::Delete { object: loose }), Outcome::Ok);
    let freeze = Act::Govern(GovernOrder::Freeze { object: wall });
    assert_eq!(yard.try_act(100, freeze), Outcome::Ok);
    assert_eq!(undo(&mut yard, 1), Outcome::Ok);
    assert_eq!(ends(&yard), [], "the thing came back, and holds to nothing that is frozen");
    assert_eq!(built(&mut yard, 1, hinge(loose, wall)), refused(Refusal::Frozen));
    assert_eq!(built(&mut yard, 1, hinge(wall, loose)), refused(Refusal::Frozen));
    assert_eq!(built(&mut yard, 100, hinge(loose, wall)), Outcome::Ok);
    assert_eq!(yard.world.orders().count(), 2, "both are on record");
}

#[test]
fn whoever_is_given_one_of_two_things_frees_it() {
    let (mut yard, wall, loose) = pair(&mut Builder::new());
    assert_eq!(built(&mut yard, 1, hinge(loose, wall)), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, Build::Give { object: loose, to: public(2) }), Outcome::Ok);
    assert_eq!(built(&mut yard, 2, hinge(loose, wall)), refused(Refusal::OwnersDiffer));
    assert_eq!(built(&mut yard, 2, unjoin(loose)), Outcome::Ok);
    assert_eq!(ends(&yard), []);
    // Their owners differ, so nothing brings it back.
    assert_eq!(undo(&mut yard, 2), refused(Refusal::OwnersDiffer));
}

#[test]
fn a_thing_and_an_owner_have_only_so_many_joints() {
    let (mut yard, wall, loose) = pair(&mut Builder::new());
    for _ in 0..OBJECT_JOINTS_MAX {
        assert_eq!(built(&mut yard, 1, hinge(loose, wall)), Outcome::Ok);
    }
    assert_eq!(built(&mut yard, 1, hinge(loose, wall)), refused(Refusal::TooManyJoints));

    let mut builder = Builder::new();
    let motion = Motion::Dynamic;
    for n in 0..OWNER_JOINTS_MAX as i32 / 8 {
        let thing = builder.thing(motion, (2 * n, 12), &[]);
        builder.genesis.joints.extend([JointSpec::new(None, thing, FREE); 8]);
    }
    builder.genesis.objects.iter_mut().for_each(|object| object.owner = Some(public(1)));
    builder.genesis.parameters.building.movable_per_player = 64;
    let (mut yard, wall, loose) = pair(&mut builder);
    assert_eq!(built(&mut yard, 1, hinge(loose, wall)), refused(Refusal::TooManyJoints));
    let one = yard.world.joints()[0].b;
    assert_eq!(built(&mut yard, 1, unjoin(one)), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, hinge(loose, wall)), Outcome::Ok);
    yard.check_leaves();
}

#[test]
fn an_undo_takes_back_a_join_an_unjoin_and_a_deletion_with_its_joints() {
    let (mut yard, wall, loose) = pair(&mut Builder::new());
    assert_eq!(built(&mut yard, 1, hinge(loose, wall)), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, join(loose, None, (5, 4), BuiltJoint::Weld)), Outcome::Ok);
    let before = yard.world.joints();

    assert_eq!(built(&mut yard, 1, unjoin(loose)), Outcome::Ok);
    assert_eq!(undo(&mut yard, 1), Outcome::Ok);
    assert_eq!(yard.world.joints(), before);
    for object in [loose, wall] {
        assert_eq!(built(&mut yard, 1, Build::Delete { object }), Outcome::Ok);
        yard.idle(2);
        assert_eq!(undo(&mut yard, 1), Outcome::Ok);
        let mut now = yard.world.joints();
        now.sort_by_key(|joint| joint.a.is_none());
        assert_eq!(now, before);
        yard.check_leaves();
    }
    // Within one turn the joints end with the thing, and come back with it all the same.
    yard.act(1, Act::Build(Build::Delete { object: loose }));
    yard.act(1, Act::Build(Build::Undo { skip: 0 }));
    yard.play();
    assert_eq!(ends(&yard).len(), 2);
    yard.check_leaves();

    // The joins themselves: the last one first. Their joints have other ids by now.
    assert_eq!(undo(&mut yard, 1), refused(Refusal::NotJoined));
}

#[test]
fn an_undo_of_a_join_takes_off_that_joint_and_no_other() {
    let (mut yard, wall, loose) = pair(&mut Builder::new());
    assert_eq!(built(&mut yard, 1, hinge(loose, wall)), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, join(loose, None, (5, 4), HINGE)), Outcome::Ok);
    assert_eq!(undo(&mut yard, 1), Outcome::Ok);
    assert_eq!(ends(&yard), [(Some(wall), loose)]);
    // An admin parts both and joins anew: the id is the same, and the joint another one.
    assert_eq!(built(&mut yard, 100, unjoin(loose)), Outcome::Ok);
    assert_eq!(built(&mut yard, 100, join(loose, None, (5, 4), HINGE)), Outcome::Ok);
    assert_eq!(undo(&mut yard, 1), refused(Refusal::NotJoined));
    assert_eq!(ends(&yard), [(None, loose)]);
}

#[test]
fn a_deletion_is_undone_without_the_joints_whose_other_end_is_gone() {
    let (mut yard, wall, loose) = pair(&mut Builder::new());
    assert_eq!(built(&mut yard, 1, hinge(loose, wall)), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, Build::Delete { object: loose }), Outcome::Ok);
    assert_eq!(built(&mut yard, 100, Build::Delete { object: wall }), Outcome::Ok);
    assert_eq!(undo(&mut yard, 1), Outcome::Ok);
    assert_eq!(ends(&yard), []);
    // Of two that were deleted, the one that went first brings the joint back.
    assert_eq!(undo(&mut yard, 100), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, hinge(loose, wall)), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, Build::Delete { object: loose }), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, Build::Delete { object: wall }), Outcome::Ok);
    assert_eq!(undo(&mut yard, 1), Outcome::Ok);
    assert_eq!(undo(&mut yard, 1), Outcome::Ok);
    assert_eq!(ends(&yard), [(Some(wall), loose)]);
    yard.check_leaves();
}

#[test]
fn a_history_of_deleted_things_with_all_their_joints_fits_into_a_leaf() {
    let mut builder = Builder::new();
    let motion = Motion::Dynamic;
    for n in 0..UNDO_ENTRIES_MAX as i32 {
        let thing = builder.thing(motion, (2 * n - 16, 12), &[]);
        let slider = JointKind::Prismatic {
            axis: Vec2::new(Fx::from_ratio(-1, 3), Fx::from_ratio(2, 3)),
            limits: Some([Fx::from_ratio(-1_000, 3), Fx::from_ratio(1_000, 3)]),
            motor: None,
        };
        let anchor_a = Vec2::new(Fx::from_ratio(-1_000, 3), Fx::from_ratio(1_000, 3));
        let joint = JointSpec { anchor_a, ..JointSpec::new(None, thing, slider) };
        builder.genesis.joints.extend([joint; OBJECT_JOINTS_MAX]);
    }
    let things = builder.genesis.objects.len() as u64;
    let mut yard = site(&mut builder);
    for object in (1..=things).map(ObjectId) {
        assert_eq!(built(&mut yard, 100, Build::Delete { object }), Outcome::Ok);
    }
    let leaves = yard.world.manifest().leaves;
    let of_histories = leaves.iter().filter(|leaf| leaf.key.0.starts_with("histories"));
    let bytes: u32 = of_histories.map(|leaf| leaf.bytes).sum();
    assert!(bytes > 8_000 && (bytes as usize) < LEAF_BYTES_MAX / 2, "{bytes} bytes");
    assert_eq!(undo(&mut yard, 100), Outcome::Ok);
    assert_eq!(yard.world.joints().len(), OBJECT_JOINTS_MAX);
}

#[test]
fn two_servers_with_scripts_in_another_order_agree_on_built_joints() {
    let roots = |exec: &dyn metatopia_sim::ForkJoin| {
        let (mut yard, wall, loose) = pair(&mut Builder::new());
        for build in [
            hinge(loose, wall),
            join(loose, None, (5, 4), BuiltJoint::Rod),
            unjoin(loose),
            Build::Undo { skip: 0 },
            Build::Delete { object: loose },
            Build::Undo { skip: 0 },
        ] {
            yard.act(1, Act::Build(build));
            yard.act(1, Act::Push { object: loose });
            (0..3).for_each(|_| drop(yard.play_with(exec)));
        }
        assert!(!yard.world.joints().is_empty());
        yard.world.root()
    };
    let root = roots(&Serial);
    assert_eq!(roots(&Backwards), root);
    assert_eq!(roots(&Shuffled(7)), root);
}
