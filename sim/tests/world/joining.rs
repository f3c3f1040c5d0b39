//! Joints in a sim: scripts make and part them, and they end with their things.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{JointError, JointKind, JointSpec, Motion};
use metatopia_scripting::Value;
use metatopia_sim::{
    GenesisError, Parameters, ParametersError, Serial, World,
    limits::{OBJECT_JOINTS_MAX, OWNER_JOINTS_MAX, SIM_JOINTS_MAX},
};
use metatopia_types::{Act, Build, ObjectId, Outcome};

use crate::{
    building::built,
    byte_budget::script,
    yard::{Backwards, Builder, Shuffled, Yard, public},
};

const HINGE: JointKind = JointKind::Revolute { limits: None, motor: None };

/// A thing whose script does what it hears, to the thing beside it, and counts what happens to it.
const HANDY: &str = r#"
fn on_chat(from, text) {
    let other = find("thing 2")[0];
    switch text {
        "pin" => pin(other, (self_.pos + other.pos) / 2),
        "weld" => weld(other, (self_.pos + other.pos) / 2),
        "tie" => tie(other, 3),
        "rod" => rod(other),
        "spring" => spring(other, 1, 0),
        "slide" => slide(other, PI / 2, -1, 2),
        "lift" => motor(other, 1, 2000),
        "frail" => break_at(other, 100),
        "firm" => break_at(other, 0),
        "shove" => push(other, vec2(0, 200)),
        "drive" => motor(other, 2, 500),
        "part" => unjoin(other),
        _ => ()
    }
}
fn on_break(other) { state.parted = (state.parted ?? 0) + 1; state.gone = !exists(other); }
fn on_hit(other, speed) { state.hits = (state.hits ?? 0) + 1; state.speed = speed; }
"#;

/// A thing with that script, a thing that can be pushed, and somebody who speaks.
fn workbench() -> Yard {
    let mut builder = Builder::new();
    let package = builder.package("handy", HANDY);
    builder.thing(Motion::Static, (4, 0), &[package]);
    builder.thing(Motion::Dynamic, (6, 0), &[]);
    let mut yard = builder.build();
    yard.login(1);
    yard.play();
    yard
}

fn order(yard: &mut Yard, text: &str) {
    yard.say(1, 0, text);
    yard.idle(2);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

fn remembered(yard: &Yard, name: &str) -> Value {
    script(&yard.world, 1).state.0.get(name).cloned().unwrap_or(Value::Unit)
}

#[test]
fn a_script_joins_drives_and_parts_things() {
    let mut yard = workbench();
    order(&mut yard, "pin");
    let [joint] = yard.world.joints()[..] else { panic!("{:?}", yard.world.joints()) };
    assert_eq!((joint.a, joint.b, joint.kind), (Some(ObjectId(1)), ObjectId(2), HINGE));

    order(&mut yard, "drive");
    yard.idle(20);
    let turned = yard.world.object(ObjectId(2)).expect("it is there").angle;
    assert_ne!(turned, metatopia_math::Angle::ZERO, "the motor turns it");
    let pin = Vec2::new(Fx::from_int(5), Fx::ZERO);
    let away = yard.world.place(ObjectId(2)).expect("it is there").distance(pin);
    assert!(away.saturating_sub(Fx::ONE).saturating_abs() < Fx::from_ratio(1, 50), "{away}");

    order(&mut yard, "part");
    assert!(yard.world.joints().is_empty());
    assert_eq!(remembered(&yard, "parted"), Value::Unit, "who parts things is not told of it");
    order(&mut yard, "tie");
    order(&mut yard, "weld");
    assert_eq!(yard.world.joints().len(), 2);
}

#[test]
fn a_rod_of_a_script_keeps_the_distance_and_a_spring_comes_back_to_it() {
    for (kind, keeps) in [("rod", true), ("spring", false)] {
        let mut yard = workbench();
        order(&mut yard, kind);
        let [joint] = yard.world.joints()[..] else { panic!("{:?}", yard.world.joints()) };
        assert!(joint.collide, "what is between both keeps them apart");
        yard.say(1, 0, "shove");
        let apart = |yard: &Yard| yard.position(ObjectId(1)).distance(yard.position(ObjectId(2)));
        let mut furthest = Fx::ZERO;
        for _ in 0..60 {
            yard.idle(1);
            furthest = furthest.max(apart(&yard).saturating_sub(Fx::from_int(2)).saturating_abs());
        }
        assert_eq!(furthest < Fx::from_ratio(1, 20), keeps, "{kind}: {furthest}");
        assert!(furthest < Fx::ONE, "{kind}: {furthest}");
    }
}

#[test]
fn a_slider_of_a_script_lifts_a_thing_up_to_its_limit_and_does_not_turn_it() {
    let mut yard = workbench();
    order(&mut yard, "slide");
    order(&mut yard, "lift");
    yard.idle(80);
    let near = |got: Fx, wanted: i32| {
        got.saturating_sub(Fx::from_int(wanted)).saturating_abs() < Fx::from_ratio(1, 10)
    };
    let at = yard.position(ObjectId(2));
    assert!(near(at.x, 6) && near(at.y, 2), "two metres along the line: {at}");
    let angle = yard.world.object(ObjectId(2)).expect("it is there").angle;
    assert!(angle.to_radians().saturating_abs() < Fx::from_ratio(1, 50), "{angle:?}");
}

#[test]
fn a_joint_that_a_script_made_frail_breaks_under_a_shove_and_a_firm_one_holds() {
    for (word, breaks) in [("frail", true), ("firm", false)] {
        let mut yard = workbench();
        for text in ["weld", "frail", word, "shove"] {
            order(&mut yard, text);
        }
        yard.idle(10);
        assert_eq!(yard.world.joints().is_empty(), breaks, "{word}");
        let told = if breaks { Value::Int(1) } else { Value::Unit };
        assert_eq!(remembered(&yard, "parted"), told, "{word}");
        yard.check_leaves();
    }
}

#[test]
fn the_joints_of_a_thing_end_with_it_and_scripts_are_told() {
    let mut yard = workbench();
    order(&mut yard, "pin");
    yard.login(100);
    yard.play();
    assert_eq!(built(&mut yard, 100, Build::Delete { object: ObjectId(2) }), Outcome::Ok);
    yard.play();
    assert!(yard.world.joints().is_empty());
    assert_eq!(remembered(&yard, "parted"), Value::Int(1));
    assert_eq!(remembered(&yard, "gone"), Value::Bool(true));
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn a_script_is_told_of_hard_hits_and_not_of_soft_ones() {
    for (speed, hits) in [(6, true), (0, false)] {
        let mut builder = Builder::new();
        let package = builder.package("handy", HANDY);
        builder.thing(Motion::Static, (4, 0), &[package]);
        builder.thing(Motion::Dynamic, (6, 0), &[]);
        builder.genesis.objects[1].body.velocity = Vec2::new(Fx::from_int(-speed), Fx::ZERO);
        let mut yard = builder.build();
        yard.idle(20);
        let told = matches!(remembered(&yard, "speed"), Value::Fixed(speed) if speed > Fx::ONE);
        assert_eq!(told, hits, "{:?}", remembered(&yard, "speed"));
    }
}

#[test]
fn two_servers_with_scripts_in_another_order_agree_on_joints() {
    let roots = |exec: &dyn metatopia_sim::ForkJoin| {
        let mut yard = workbench();
        for text in ["pin", "drive", "weld", "part", "slide", "lift", "spring", "frail", "tie"] {
            yard.say(1, 0, text);
            (0..3).for_each(|_| drop(yard.play_with(exec)));
        }
        yard.world.root()
    };
    let root = roots(&Serial);
    assert_eq!(roots(&Backwards), root);
    assert_eq!(roots(&Shuffled(7)), root);
}

#[test]
fn an_owner_has_a_share_of_the_joints_and_the_sim_has_none() {
    for (owner, joined) in [(Some(public(1)), false), (None, true)] {
        let mut builder = Builder::new();
        let package = builder.package("handy", HANDY);
        builder.thing(Motion::Static, (4, 0), &[package]);
        builder.thing(Motion::Dynamic, (6, 0), &[]);
        for n in 0..OWNER_JOINTS_MAX as i32 / 8 {
            let thing = builder.thing(Motion::Dynamic, (2 * n, 9), &[]);
            let joint = JointSpec::new(None, thing, HINGE);
            builder.genesis.joints.extend([joint; 8]);
        }
        builder.genesis.objects.iter_mut().for_each(|object| object.owner = owner);
        let mut yard = builder.build();
        yard.login(1);
        yard.play();
        order(&mut yard, "tie");
        assert_eq!(yard.world.joints().len() > OWNER_JOINTS_MAX, joined);
    }
}

#[test]
fn a_full_thing_is_joined_no_more() {
    let mut yard = workbench();
    for _ in 0..OBJECT_JOINTS_MAX + 1 {
        order(&mut yard, "tie");
    }
    assert_eq!(yard.world.joints().len(), OBJECT_JOINTS_MAX);
    assert_eq!(script(&yard.world, 1).dropped, 1);
}

#[test]
fn a_genesis_with_wrong_joints_or_too_many_is_refused() {
    let founded = |joints: Vec<JointSpec>| {
        let mut builder = Builder::new();
        for x in 0..140 {
            builder.thing(Motion::Dynamic, (2 * x, 9), &[]);
        }
        builder.genesis.joints = joints;
        World::genesis(&builder.genesis, &builder.tools()).map(|world| world.joints().len())
    };
    let joint = |b| JointSpec::new(None, ObjectId(b), HINGE);
    let missing = founded(vec![joint(1), joint(141)]).expect_err("no such thing");
    assert!(matches!(missing, GenesisError::Joint { joint: 1, error: JointError::Body(_) }));
    let held = founded(vec![joint(3); OBJECT_JOINTS_MAX + 1]);
    assert_eq!(held, Err(GenesisError::JointsOfObject(ObjectId(3))));
    let many = |count: usize| (0..count as u64).map(|n| joint(n % 140 + 1)).collect();
    assert_eq!(founded(many(SIM_JOINTS_MAX)), Ok(SIM_JOINTS_MAX));
    let what =
        GenesisError::TooMany { what: "joints", count: SIM_JOINTS_MAX + 1, max: SIM_JOINTS_MAX };
    assert_eq!(founded(many(SIM_JOINTS_MAX + 1)), Err(what));
}

#[test]
fn under_gravity_people_fall_and_rise_while_they_want_to() {
    let mut builder = Builder::new();
    builder.genesis.parameters.gravity = Vec2::new(Fx::ZERO, Fx::from_int(-10));
    let floor = builder.thing(Motion::Static, (0, -8), &[]);
    let half = Vec2::new(Fx::from_int(40), Fx::ONE);
    let body = &mut builder.genesis.objects[floor.0 as usize - 1].body;
    body.shape = metatopia_physics::Shape::Rect { half };
    let mut yard = builder.build();
    yard.login(1);
    yard.idle(60);
    let me = yard.world.avatar(&public(1)).expect("an avatar");
    let height = |yard: &Yard| yard.world.place(me).expect("an avatar").y;
    let on_floor = Fx::from_int(-7).saturating_add(yard.world.parameters().avatar.radius);
    assert!(height(&yard).saturating_sub(on_floor).saturating_abs() < Fx::from_ratio(1, 20));

    let up = Vec2::new(Fx::ZERO, Fx::ONE);
    yard.act(1, Act::Walk { heading: up });
    yard.idle(20);
    assert!(height(&yard) > Fx::from_int(-4), "{}", height(&yard));
    yard.act(1, Act::Walk { heading: Vec2::ZERO });
    yard.idle(60);
    assert!(height(&yard).saturating_sub(on_floor).saturating_abs() < Fx::from_ratio(1, 20));

    let gravity = Vec2::new(Fx::from_int(60), Fx::from_int(60));
    let strong = Parameters { gravity, ..Parameters::default() };
    assert_eq!(strong.check(), Err(ParametersError::Gravity(gravity)));
}
