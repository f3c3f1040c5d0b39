//! What scripts may ask for when they make, find and remove things.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_scripting::{
    ErrorKind, Event, ScriptEffect, ScriptError, ScriptOutput, ScriptState, SurfaceRule,
    ThingMaterial, Value, limits::SPAWN_REACH,
};
use metatopia_types::{
    AssetLicence, Blueprint, ObjectId, Outline, OutlineCorners, OutlinePart, OutlineParts,
};

use crate::stage::{ME, World, fx, handler, point, run_in, world};

pub(crate) fn touched(world: World, statement: &str) -> Result<ScriptOutput, ScriptError> {
    let source = format!("fn on_touch(other) {{ {statement} }}");
    let event = Event::Touch { other: ObjectId(2), at: Vec2::ZERO, impulse: Fx::ZERO };
    run_in(world, &handler(&source), &event, ScriptState::default())
}

/// A world in which this thing was spawned by that one.
pub(crate) fn spawned(thing: u64, by: u64) -> World {
    let mut world = world();
    let found = world.things.iter_mut().find(|found| found.id == ObjectId(thing));
    found.expect("a thing of the small world").spawner = Some(ObjectId(by));
    world
}

#[test]
fn a_thing_is_as_its_fields_say_and_otherwise_as_its_spawner() {
    let plain = touched(world(), "spawn(#{});").unwrap().effects;
    let usual = Blueprint {
        kind: "thing".into(),
        name: "bell".into(),
        text: String::new(),
        color: 0x0080_8080,
        outline: Outline::Disc { radius: fx("0.25") },
        movable: false,
        position: Vec2::ZERO,
        angle: Angle::ZERO,
        licence: AssetLicence::Cc0,
        parts: OutlineParts::default(),
    };
    let effect = |thing: Blueprint, scripted: bool, tag: &str| ScriptEffect::Spawn {
        thing: Box::new(thing),
        scripted,
        tag: tag.into(),
        material: ThingMaterial::default(),
        sensor: false,
    };
    assert_eq!(plain, [effect(usual.clone(), false, "")]);

    let whole = touched(
        world(),
        "spawn(#{ name: \"rose\", kind: \"plant\", text: \"red\", color: 0xff0000, size: vec2(2, 0.5),
            pos: self_.pos + vec2(3, 0), angle: PI / 2, movable: true, scripted: true, tag: \"r\" });",
    );
    let rose = Blueprint {
        kind: "plant".into(),
        name: "rose".into(),
        text: "red".into(),
        color: 0x00ff_0000,
        outline: Outline::Box { half: point("1", "0.25") },
        movable: true,
        position: point("3", "0"),
        angle: Angle::QUARTER,
        ..usual
    };
    assert_eq!(whole.unwrap().effects, [effect(rose, true, "r")]);
    let mist = touched(world(), "spawn(#{ sensor: true });").unwrap().effects;
    assert!(matches!(mist[..], [ScriptEffect::Spawn { sensor: true, .. }]), "{mist:?}");
}

#[test]
fn a_thing_that_cannot_be_meant_is_refused_with_the_name_of_the_field() {
    let far = format!("#{{pos: vec2(0, {})}}", SPAWN_REACH + 1);
    for (fields, kind, words) in [
        ("#{colour: 1}", ErrorKind::Argument, "no field colour: did you mean color?"),
        ("#{color: -1}", ErrorKind::Argument, "0 to 0xFFFFFF"),
        ("#{color: 0.5}", ErrorKind::Type, "color is an int, not a fixed"),
        ("#{name: 7}", ErrorKind::Type, "name is a string, not a int"),
        ("#{name: \"a\\nb\"}", ErrorKind::Argument, "is one line"),
        ("#{pos: 3}", ErrorKind::Type, "pos is a vec2"),
        (&far, ErrorKind::Argument, "within 16 m"),
        ("#{radius: 1, size: vec2(1, 1)}", ErrorKind::Argument, "not two of them"),
        ("#{length: 1, size: vec2(1, 1)}", ErrorKind::Argument, "not two of them"),
        ("#{corners: [vec2(0, 0)]}", ErrorKind::Argument, "1 corners where 3 to 8"),
        ("#{corners: [1, 2, 3]}", ErrorKind::Type, "one of corners is a vec2"),
        ("#{corners: 3}", ErrorKind::Type, "corners is an array of vec2"),
        (
            "#{corners: [vec2(0, 0), vec2(0, 0), vec2(0, 0), vec2(0, 0), vec2(0, 0), vec2(0, 0),
                vec2(0, 0), vec2(0, 0), vec2(0, 0)]}",
            ErrorKind::Argument,
            "9 corners where 3 to 8",
        ),
        ("#{radius: 5000000000}", ErrorKind::Argument, "radius is out of range"),
        ("#{density: true}", ErrorKind::Type, "density is a number"),
        ("#{friction: \"low\"}", ErrorKind::Type, "friction is a number"),
        ("#{restitution: 5000000000}", ErrorKind::Argument, "restitution is out of range"),
        ("#{friction_rule: 1}", ErrorKind::Type, "friction_rule is a string"),
        (
            "#{restitution_rule: \"maximun\"}",
            ErrorKind::Argument,
            "is one of average, minimum, multiply, maximum: did you mean maximum?",
        ),
        ("#{movable: 1}", ErrorKind::Type, "movable is true or false"),
        ("#{sensor: \"yes\"}", ErrorKind::Type, "sensor is true or false"),
        ("#{tag: \"012345678901234567890123456789012\"}", ErrorKind::Argument, "at most 32 bytes"),
    ] {
        let error = touched(world(), &format!("spawn({fields});")).unwrap_err();
        assert_eq!(error.kind, kind, "{fields}: {error}");
        assert!(error.report.message.contains(words), "{fields}: {error}");
    }
    assert_eq!(touched(world(), "spawn(7);").unwrap_err().kind, ErrorKind::Type);
}

#[test]
fn what_was_spawned_spawns_nothing() {
    let error = touched(spawned(1, 4), "spawn(#{});").unwrap_err();
    assert!(error.report.message.contains("spawns nothing"), "{error}");
}

#[test]
fn a_script_removes_only_what_its_own_thing_spawned_or_its_own_spawned_thing() {
    let removed = |world, statement| touched(world, statement).map(|part| part.effects);
    let ends = |id| Ok(vec![ScriptEffect::Despawn { object: ObjectId(id) }]);
    assert_eq!(removed(spawned(2, 1), "despawn(other);"), ends(2));
    assert_eq!(removed(spawned(1, 4), "despawn(self_);"), ends(1));
    for (world, statement) in [
        (world(), "despawn(self_);"),
        (world(), "despawn(other);"),
        (spawned(2, 4), "despawn(other);"),
        (spawned(2, 3), "nearby(5).for_each(|near| despawn(near));"),
    ] {
        let error = removed(world, statement).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Argument, "{error}");
        assert!(error.report.message.contains("only what this thing has spawned"), "{error}");
    }
    let mut small = world();
    small.things.truncate(1);
    assert_eq!(removed(small, "despawn(other);").unwrap_err().kind, ErrorKind::Gone);
}

#[test]
fn things_are_found_by_name_without_the_own_one_and_without_people() {
    let part = touched(
        world(),
        "state.crates = find(\"crate\"); state.far = find(\"far\"); state.own = find(\"bell\");
         state.people = find(\"Ada\"); state.spawner = other.spawner ?? \"nobody\";",
    );
    let state = part.unwrap().state.unwrap().0;
    let things =
        |ids: &[u64]| Value::Array(ids.iter().map(|id| Value::Object(ObjectId(*id))).collect());
    assert_eq!(state["crates"], things(&[2]));
    assert_eq!(state["far"], things(&[4]));
    assert_eq!((&state["own"], &state["people"]), (&things(&[]), &things(&[])));
    assert_eq!(state["spawner"], Value::Text("nobody".into()));
    let part = touched(spawned(2, 1), "state.mine = other.spawner == self_;").unwrap();
    assert_eq!(part.state.unwrap().0["mine"], Value::Bool(true));
    assert_eq!(ME, ObjectId(1), "the thing that scripts run on here");
}

#[test]
fn a_script_is_told_what_became_of_what_it_spawned() {
    let source = "fn on_spawn(thing, tag) { log(tag + \": \" + called(thing)); }
        fn called(thing) { if thing == () { \"none\" } else { thing.name } }";
    let log = |thing| {
        let event = Event::Spawn { thing, tag: "rose".into() };
        run_in(world(), &handler(source), &event, ScriptState::default()).unwrap().log
    };
    assert_eq!(log(Some(ObjectId(2))), ["rose: crate"]);
    assert_eq!(log(None), ["rose: none"]);
}

#[test]
fn what_is_spawned_is_a_rod_or_a_polygon_as_well() {
    let outline = |fields: &str| {
        let output = touched(world(), &format!("spawn(#{{{fields}}});")).expect("it may");
        match output.effects.as_slice() {
            [ScriptEffect::Spawn { thing, .. }] => thing.outline,
            other => panic!("one thing, not {other:?}"),
        }
    };

    let rod = Outline::Capsule { half: fx("1.5"), radius: fx("0.5") };
    assert_eq!(outline("length: 3, radius: 0.5"), rod);
    let corners = [point("0", "0"), point("2", "0"), point("2", "1")];
    let ramp = Outline::Polygon(OutlineCorners::new(&corners).expect("three"));
    assert_eq!(outline("corners: [vec2(0, 0), vec2(2, 0), vec2(2, 1)]"), ramp);
}

#[test]
fn what_is_spawned_has_as_many_parts_as_its_fields_say() {
    let parts = |fields: &str| -> Result<Vec<OutlinePart>, ScriptError> {
        let output = touched(world(), &format!("spawn(#{{ size: vec2(2, 1), {fields} }});"))?;
        match output.effects.as_slice() {
            [ScriptEffect::Spawn { thing, .. }] => Ok(thing.parts.as_slice().to_vec()),
            other => panic!("one thing, not {other:?}"),
        }
    };

    assert_eq!(parts("parts: []").unwrap(), []);
    assert_eq!(parts("parts: ()").unwrap(), []);
    let wheel = OutlinePart {
        outline: Outline::Disc { radius: fx("0.5") },
        offset: point("1", "-1"),
        angle: Angle::ZERO,
    };
    let fin = OutlinePart {
        outline: Outline::Box { half: point("0.25", "1") },
        offset: point("0", "0"),
        angle: Angle::from_radians(fx("0.5")),
    };
    let both = "parts: [#{ radius: 0.5, pos: vec2(1, -1) }, #{ size: vec2(0.5, 2), angle: 0.5 }]";
    assert_eq!(parts(both).unwrap(), [wheel, fin]);
    assert_eq!(parts("parts: [#{}, #{}, #{}, #{}, #{}, #{}, #{}]").unwrap().len(), 7);
    for (fields, kind, told) in [
        ("parts: 1", ErrorKind::Type, "parts is an array of maps"),
        ("parts: [1]", ErrorKind::Type, "one of parts is a map"),
        ("parts: [#{ name: \"x\" }]", ErrorKind::Argument, "a part has no field name"),
        ("parts: [#{ radius: 1, size: vec2(1, 1) }]", ErrorKind::Argument, "not two of them"),
        (
            "parts: [#{}, #{}, #{}, #{}, #{}, #{}, #{}, #{}]",
            ErrorKind::Argument,
            "9 parts where at most 8",
        ),
    ] {
        let error = parts(fields).expect_err("no thing");
        assert_eq!(error.kind, kind, "{fields}");
        assert!(error.report.message.contains(told), "{fields}: {error}");
    }
}

#[test]
fn a_thing_is_of_the_material_that_its_fields_say() {
    let material = |fields: &str| {
        let output = touched(world(), &format!("spawn(#{{ {fields} }});")).unwrap();
        match output.effects.as_slice() {
            [ScriptEffect::Spawn { material, .. }] => *material,
            other => panic!("one thing, not {other:?}"),
        }
    };

    assert_eq!(material(""), ThingMaterial::default());
    assert_eq!(material("density: (), friction_rule: ()"), ThingMaterial::default());
    let rubber = ThingMaterial {
        density: Some(fx("1.5")),
        friction: Some(fx("2")),
        restitution: Some(fx("0.9")),
        friction_rule: Some(SurfaceRule::Maximum),
        restitution_rule: Some(SurfaceRule::Average),
    };
    let fields = "density: 1.5, friction: 2, restitution: 0.9, friction_rule: \"maximum\",
        restitution_rule: \"average\"";
    assert_eq!(material(fields), rubber);
    for (word, rule) in SurfaceRule::ALL {
        let said = material(&format!("friction_rule: \"{word}\""));
        assert_eq!(said, ThingMaterial { friction_rule: Some(rule), ..ThingMaterial::default() });
    }
}
