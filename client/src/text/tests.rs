use alloc::borrow::ToOwned as _;

use metatopia_math::Angle;
use metatopia_physics::{Compound, CompoundPart};
use metatopia_protocol::{JointEntry, JointEntryKind};
use metatopia_sim::Shape;
use metatopia_types::{BuiltMaterial, Digest, Height, Look, PublicKey, SimId, Tick};

use super::*;

fn thing(id: u64, name: &str, east: i32, movable: bool) -> SceneObject {
    SceneObject {
        id: ObjectId(id),
        kind: name.to_owned(),
        name: name.to_owned(),
        owner: None,
        position: Vec2::new(Fx::from_int(east), Fx::ZERO),
        angle: Angle::ZERO,
        velocity: Vec2::ZERO,
        half: Vec2::new(Fx::HALF, Fx::HALF),
        shape: Shape::Rect { half: Vec2::new(Fx::HALF, Fx::HALF) },
        look: Look::default(),
        text: String::new(),
        movable,
        player: None,
        scripts: Vec::new(),
        held: None,
        material: None,
        sensor: false,
        travels: false,
        guest: None,
        author: None,
        changed: None,
    }
}

#[test]
fn a_thing_is_described_with_what_it_is_joined_to() {
    let objects =
        vec![thing(1, "Ada", 0, true), thing(41, "crate", 2, true), thing(40, "wall", 4, false)];
    let (height, tick) = (Height(1), Tick(3));
    let scene = Scene { height, tick, me: Some(ObjectId(1)), objects };
    let joint = |a, b, kind| JointEntry {
        a,
        b: ObjectId(b),
        anchor_a: Vec2::ZERO,
        anchor_b: Vec2::ZERO,
        kind,
    };
    let joints = [
        joint(Some(ObjectId(40)), 41, JointEntryKind::Hinge),
        joint(None, 41, JointEntryKind::Rod),
        joint(Some(ObjectId(41)), 7, JointEntryKind::Weld),
        joint(None, 40, JointEntryKind::Target),
    ];
    let told = |n: usize, joints: &[JointEntry]| {
        let ada = |_: &PublicKey| "Ada".to_owned();
        describe_thing(&scene, &scene.objects[n], joints, ada)
    };
    assert_eq!(
        told(1, &joints),
        [
            "crate, 2.0 m east.",
            "It is object 41, and can be pushed.",
            "It is 1 m by 1 m.",
            "It belongs to the sim, and stays in this sim.",
            "A hinge joins it to wall, object 40.",
            "A rod joins it to the ground.",
            "A weld joins it to object 7.",
        ]
    );
    let wall = told(2, &[]);
    assert_eq!(wall[..2], ["wall, 4.0 m east.", "It is object 40, and stays in its place."]);
}

/// `look at` named neither what a thing is made of, nor its size, its owner, and whether it may leave.
#[test]
fn a_thing_is_described_with_its_size_its_material_its_owner_and_where_it_may_go() {
    let half = Vec2::new(Fx::from_ratio(1, 4), Fx::ONE);
    let ball = SceneObject {
        half,
        owner: Some(PublicKey([2; 32])),
        material: Some(BuiltMaterial::Rubber),
        sensor: true,
        travels: true,
        guest: Some(SimId(Digest([0xab; 32]))),
        ..thing(41, "plank", 2, true)
    };
    let (height, tick) = (Height(1), Tick(3));
    let scene = Scene { height, tick, me: None, objects: vec![ball] };
    let told = describe_thing(&scene, &scene.objects[0], &[], |_| "Ada".to_owned());
    assert_eq!(
        told[2..],
        [
            "It is 0.5 m by 2 m, of rubber. Everything passes through it.",
            "It belongs to Ada (key 02020202..), and may leave over a border.",
            "It came over the border from sim abababab.., and counts against that border's share.",
        ]
    );
    let round = Shape::Circle { radius: Fx::HALF };
    let disc = SceneObject { shape: round.clone(), ..thing(7, "disc", 2, true) };
    let parts = [CompoundPart::new(round.clone()), CompoundPart::new(round).at(Vec2::X)];
    let pair = Shape::Compound(Compound::new(&parts).expect("two discs"));
    let half = pair.half_extents(Angle::ZERO);
    let pair = SceneObject { shape: pair, half, ..thing(8, "pair", 2, true) };
    let told = describe_thing(&scene, &pair, &[], |_| String::new());
    assert_eq!(told[2], "It is 2 m by 1 m. It has 2 parts.");
    assert_eq!(describe_thing(&scene, &disc, &[], |_| String::new())[2], "It is 1 m across.");
}

#[test]
fn one_looks_at_a_thing_sits_on_it_and_stands_up() {
    let named = |name: &str| name.to_owned();
    for (line, meant) in [
        ("look", TextCommand::Look),
        ("look at old bench", TextCommand::LookAt(named("old bench"))),
        ("look around", TextCommand::Look),
        ("sit on old bench", TextCommand::Sit(named("old bench"))),
        ("sit down on bench", TextCommand::Sit(named("bench"))),
        ("sit bench", TextCommand::Sit(named("bench"))),
        ("stand", TextCommand::Stand),
    ] {
        assert_eq!(parse(line), Ok(meant), "{line}");
    }
    assert_eq!(parse("look at"), Err(ParseError::Missing("look at", "a thing")));
    assert_eq!(parse("sit"), Err(ParseError::Missing("sit", "a thing to sit on")));
}

#[test]
fn a_person_is_blocked_and_unblocked_by_name_or_key() {
    let named = |name: &str| name.to_owned();
    for (line, meant) in [
        ("block Old Bob", BlockCommand::Block(named("Old Bob"))),
        ("block \"Old Bob\"", BlockCommand::Block(named("Old Bob"))),
        ("unblock 0102", BlockCommand::Unblock(named("0102"))),
        ("blocks", BlockCommand::List),
    ] {
        assert_eq!(parse(line), Ok(TextCommand::Block(meant)), "{line}");
    }
    assert_eq!(parse("block"), Err(ParseError::Missing("block", "a name or a key")));
    assert_eq!(parse("unblock \"\""), Err(ParseError::Missing("unblock", "a name or a key")));
}

#[test]
fn a_line_that_names_whoever_reads_it_is_marked_in_front() {
    let line = ChatMessage {
        height: Height(1),
        channel: NEARBY,
        speaker: ObjectId(9),
        name: "Eve".to_owned(),
        text: "Good morning, @ada!".to_owned(),
        by: None,
        club: None,
    };
    assert_eq!(heard_by(&line, "Ada"), "(you are named) Eve says: Good morning, @ada!");
    assert_eq!(heard_by(&line, "Adam"), "Eve says: Good morning, @ada!");
    assert_eq!(heard_by(&line, ""), heard(&line), "who has no name here is not named");
}

#[test]
fn gravity_is_told_by_its_direction_and_strength_and_not_where_there_is_none() {
    assert_eq!(falls(Vec2::ZERO), None);
    let gravity = Vec2::new(Fx::ZERO, Fx::from_ratio(-49, 5));
    assert_eq!(falls(gravity).as_deref(), Some("south, by 9.8 m/s^2"));
    let wind = Vec2::new(Fx::from_int(3), Fx::from_int(4));
    assert_eq!(falls(wind).as_deref(), Some("northeast, by 5.0 m/s^2"));
}
