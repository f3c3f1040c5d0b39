//! Sensors: what everything passes through, as builders and scripts make it.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::Motion;
use metatopia_scripting::Value;
use metatopia_types::{Act, Blueprint, Build, ObjectId, Outcome, Refusal};

use crate::{
    building::{block, built, place, refused, site},
    byte_budget::script,
    materials::body,
    undo_of::{MODERATOR, PEST, Scene, build, scene, scene_with, undo},
    undoing::restored,
    yard::{Builder, Yard, public, vec2},
};

fn make(object: ObjectId, sensor: bool) -> Build {
    Build::MakeSensor { object, sensor }
}

/// Walks to a place for four seconds at most, and returns whether that place was reached.
fn reaches(yard: &mut Yard, n: u8, x: i32, y: i32) -> bool {
    let is_there = (0..80).any(|_| {
        let way = vec2(x, y).saturating_sub(yard.position(yard.avatar(n)));
        let is_there = way.length() < Fx::HALF;
        if !is_there {
            yard.act(n, Act::Walk { heading: way });
            yard.play();
        }
        is_there
    });
    yard.act(n, Act::Walk { heading: Vec2::ZERO });
    yard.idle(10);
    is_there
}

#[test]
fn people_walk_through_a_wall_that_its_owner_made_a_sensor_and_not_through_a_solid_one() {
    let mut yard = site(&mut Builder::new());
    let wall = place(&mut yard, 1, block(3, 0));
    assert_eq!(built(&mut yard, 2, make(wall, true)), refused(Refusal::NotYours));
    assert!(!reaches(&mut yard, 1, 3, 0), "it is solid");
    assert_eq!(built(&mut yard, 1, make(wall, true)), Outcome::Ok);
    assert!(reaches(&mut yard, 1, 3, 0));
    // Whoever stands in it would be stuck.
    assert_eq!(built(&mut yard, 1, make(wall, false)), refused(Refusal::Occupied));
    assert_eq!(built(&mut yard, 1, Build::Undo { skip: 0 }), refused(Refusal::Occupied));
    // A carpet is moved with people on it.
    let position = vec2(3, 1);
    assert_eq!(built(&mut yard, 1, Build::Move { object: wall, position }), Outcome::Ok);
    assert!(reaches(&mut yard, 1, 0, 0));
    assert_eq!(built(&mut yard, 1, make(wall, false)), Outcome::Ok);
    assert!(!reaches(&mut yard, 1, 3, 1), "it is solid again");
    yard.check_leaves();
}

#[test]
fn an_undo_makes_a_thing_what_it_was_and_a_copy_is_as_its_model() {
    let mut yard = site(&mut Builder::new());
    let wall = place(&mut yard, 1, block(3, 0));
    for sensor in [true, false, true] {
        assert_eq!(built(&mut yard, 1, make(wall, sensor)), Outcome::Ok);
    }
    let copied = built(&mut yard, 1, Build::Copy { object: wall, position: vec2(3, 3) });
    let Outcome::Made(copy) = copied else { panic!("{copied}") };
    assert!(body(&yard, copy).sensor);
    // The first undo takes the copy back, and the last one the wall.
    for sensor in [true, true, false, true, false] {
        assert_eq!(body(&yard, wall).sensor, sensor);
        assert_eq!(built(&mut yard, 1, Build::Undo { skip: 0 }), Outcome::Ok);
    }
    assert!(yard.world.object(copy).is_none() && yard.world.object(wall).is_none());
}

#[test]
fn what_is_held_or_is_not_there_becomes_no_sensor() {
    let mut yard = site(&mut Builder::new());
    let ball = place(&mut yard, 1, Blueprint { movable: true, ..block(3, 0) });
    assert_eq!(built(&mut yard, 1, Build::Take { object: ball }), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, make(ball, true)), refused(Refusal::Held));
    assert_eq!(built(&mut yard, 1, make(ObjectId(999), true)), refused(Refusal::NoObject));
    let put_down = Build::PutDown { object: ball, position: vec2(3, 0) };
    assert_eq!(built(&mut yard, 1, put_down), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, make(ball, true)), Outcome::Ok);
    // It keeps that in hand and in luggage.
    for away in [Build::Take { object: ball }, Build::Stow { object: ball }] {
        let back = match away {
            Build::Take { object } => Build::PutDown { object, position: vec2(3, 0) },
            _ => Build::Fetch { object: ball, position: vec2(3, 0) },
        };
        assert_eq!(built(&mut yard, 1, away), Outcome::Ok);
        assert_eq!(built(&mut yard, 1, back), Outcome::Ok);
        assert!(body(&yard, ball).sensor);
    }
    yard.check_leaves();
}

/// A moderator took back all else that a pest had changed, and walls that the pest had made sensors stayed so.
#[test]
fn a_moderator_takes_back_what_a_pest_made_a_sensor_and_what_a_pest_made_solid() {
    let Scene { mut yard, wall, .. } = scene();
    build(&mut yard, PEST, make(wall, true));
    assert!(body(&yard, wall).sensor);
    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);
    assert!(!body(&yard, wall).sensor);

    let mut scene = scene_with(|builder| {
        let carpet = builder.thing(Motion::Static, (11, 0), &[]);
        let index = carpet.0 as usize - 1;
        builder.genesis.objects[index].body.sensor = true;
    });
    let carpet = ObjectId(3);
    build(&mut scene.yard, PEST, make(carpet, false));
    build(&mut scene.yard, PEST, Build::Delete { object: carpet });
    // Nobody keeps a carpet from coming back by standing where it lay.
    scene.yard.walk_to(PEST, vec2(9, -3));
    scene.yard.walk_to(PEST, vec2(11, 0));
    assert_eq!(undo(&mut scene.yard, MODERATOR, 3_600), Outcome::Ok);
    assert!(body(&scene.yard, carpet).sensor);
    scene.yard.check_leaves();
}

/// A door that is open or shut as it is told, counts who touches it, and spawns mist.
const DOOR: &str = r#"
fn on_chat(from, text) {
    switch text {
        "open" => self_.sensor = true,
        "shut" => self_.sensor = false,
        "mist" => spawn(#{ name: "mist", pos: self_.pos + vec2(0, 3), radius: 1, sensor: true }),
        _ => ()
    }
    state.open = self_.sensor;
}
fn on_touch(other) { if other.kind == "avatar" { state.touched = (state.touched ?? 0) + 1; } }
"#;

#[test]
fn a_door_of_a_script_lets_people_through_while_it_is_open_and_hears_of_each() {
    let mut builder = Builder::new();
    let package = builder.package("door", DOOR);
    let door = builder.thing(Motion::Static, (3, 0), &[package]);
    builder.genesis.objects[0].owner = Some(public(1));
    let mut yard = site(&mut builder);
    let remembered = |yard: &Yard, name: &str| script(&yard.world, 1).state.0.get(name).cloned();
    yard.say(1, 0, "open");
    yard.idle(2);
    assert_eq!(remembered(&yard, "open"), Some(Value::Bool(true)));
    assert!(body(&yard, door).sensor);
    assert!(reaches(&mut yard, 1, 4, 0), "it is open");
    yard.idle(2);
    assert_eq!(remembered(&yard, "touched"), Some(Value::Int(1)));
    yard.say(1, 0, "shut");
    yard.idle(2);
    assert!(!body(&yard, door).sensor);
    assert!(!reaches(&mut yard, 1, 2, 0), "it is shut");
    yard.say(1, 0, "mist");
    yard.idle(2);
    let specs = yard.world.specs();
    let mist = specs.into_iter().find(|(_, spec)| spec.name == "mist").expect("it was spawned").1;
    assert!(mist.body.sensor);
    yard.check_leaves();
}

/// A plate that is pressed as long as somebody stands on it.
const PLATE: &str = r#"
fn on_start() { state.came = []; state.left = []; }
fn on_touch(other) { state.came.push(other.name); }
fn on_touch_end(other) { state.left.push(if exists(other) { other.name } else { "nobody" }); }
"#;

#[test]
fn a_script_is_told_who_touches_its_thing_no_more() {
    let mut builder = Builder::new();
    let package = builder.package("plate", PLATE);
    builder.thing(Motion::Static, (3, 0), &[package]);
    builder.genesis.objects[0].body.sensor = true;
    let mut yard = site(&mut builder);
    let noted = |yard: &Yard| {
        let state = &script(&yard.world, 1).state.0;
        ["came", "left"].map(|list| state.get(list).map(ToString::to_string).expect("it is noted"))
    };
    assert!(reaches(&mut yard, 1, 3, 0));
    assert_eq!(noted(&yard), ["[\"player 1\"]", "[]"]);
    // A server that restored the state knows who stands on it.
    yard.world = restored(&builder, &yard.world);
    assert!(reaches(&mut yard, 1, 8, 0));
    assert_eq!(noted(&yard), ["[\"player 1\"]", "[\"player 1\"]"]);
    // Nobody stands in the way, wherever people came in.
    yard.act(100, Act::Leave);
    yard.idle(1);
    assert!(reaches(&mut yard, 2, 3, 0));
    yard.act(2, Act::Leave);
    yard.idle(3);
    assert_eq!(noted(&yard), ["[\"player 1\", \"player 2\"]", "[\"player 1\", \"nobody\"]"]);
    yard.check_leaves();
}

#[test]
fn a_touch_by_hand_ends_at_once_after_it_began() {
    let mut builder = Builder::new();
    let package = builder.package(
        "bell",
        "fn on_touch(other) { state.told = `${state.told} began`; }
         fn on_touch_end(other) { state.told = `${state.told} ended`; }
         fn on_start() { state.told = \"it\"; }",
    );
    let object = builder.thing(Motion::Static, (1, 1), &[package]);
    let mut yard = site(&mut builder);
    assert_eq!(yard.try_act(1, Act::Touch { object }), Outcome::Ok);
    yard.idle(2);
    let told = script(&yard.world, 1).state.0.get("told").map(ToString::to_string);
    assert_eq!(told.as_deref(), Some("it began ended"));
    yard.check_leaves();
}
