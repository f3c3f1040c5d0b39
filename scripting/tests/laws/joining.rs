//! What scripts may ask for when they join things.

use metatopia_math::{Angle, Fx};
use metatopia_scripting::{
    ErrorKind, ScriptEffect, ThingJoint,
    limits::{JOINT_REACH, ROPE_LENGTH_MAX, SEAT_REACH},
};
use metatopia_types::ObjectId;

use crate::spawning::touched;
use crate::stage::{fx, point, world};

/// The effect of a slider along the y axis.
fn slider(other: ObjectId, limits: Option<[Fx; 2]>) -> ScriptEffect {
    ScriptEffect::Join { other, by: ThingJoint::Slider { along: Angle::QUARTER, limits } }
}

#[test]
fn a_script_joins_drives_and_parts_its_own_thing_and_another_one() {
    let other = ObjectId(2);
    for (statement, effect) in [
        (
            "pin(other, vec2(1, 0));",
            ScriptEffect::Join { other, by: ThingJoint::Pin(point("1", "0")) },
        ),
        (
            "weld(other, vec2(1, 2));",
            ScriptEffect::Join { other, by: ThingJoint::Weld(point("1", "2")) },
        ),
        ("tie(other, 4);", ScriptEffect::Join { other, by: ThingJoint::Rope(fx("4")) }),
        (
            "motor(other, -2.5, 10);",
            ScriptEffect::Motor { other, speed: fx("-2.5"), strength: fx("10") },
        ),
        ("rod(other);", ScriptEffect::Join { other, by: ThingJoint::Rod }),
        (
            "spring(other, 2, 0.5);",
            ScriptEffect::Join {
                other,
                by: ThingJoint::Spring { frequency: fx("2"), damping: fx("0.5") },
            },
        ),
        ("slide(other, PI / 2);", slider(other, None)),
        ("slide(other, PI / 2, -1, 2.5);", slider(other, Some([fx("-1"), fx("2.5")]))),
        ("break_at(other, 300);", ScriptEffect::BreakAt { other, force: fx("300") }),
        ("unjoin(other);", ScriptEffect::Unjoin { other }),
    ] {
        assert_eq!(touched(world(), statement).map(|part| part.effects), Ok(vec![effect]));
    }
}

#[test]
fn a_joint_is_near_both_things_and_a_rope_is_no_longer_than_the_longest() {
    let (reach, rope) = (JOINT_REACH, ROPE_LENGTH_MAX);
    assert!(touched(world(), &format!("pin(other, vec2({}, 0));", 3 - reach)).is_ok());
    assert!(touched(world(), &format!("tie(other, {rope});")).is_ok());
    for (statement, told) in [
        (format!("pin(other, vec2({reach}.5, 0));"), "a joint is within 16 m of both things"),
        (format!("weld(other, vec2({}, 0));", 2 - reach), "a joint is within 16 m of both things"),
        (format!("tie(other, {rope}.5);"), "a rope is up to 64 m long"),
        ("tie(other, 0);".to_owned(), "a rope is up to 64 m long"),
        ("self_.pos.x = 90; rod(other);".to_owned(), "a rod is up to 64 m long, not 8"),
        ("self_.pos.x = 90; spring(other, 1, 1);".to_owned(), "a spring is up to 64 m long"),
        ("self_.pos.x = 90; slide(other, 0);".to_owned(), "a slider is within 16 m of both"),
        ("slide(other, 0, 1, 2);".to_owned(), "0 is between both, not from 1 to 2"),
        ("slide(other, 0, -2, -1);".to_owned(), "0 is between both, not from -2 to -1"),
        (format!("slide(other, 0, 0, {rope}.5);"), "a slider goes from -64 m or more to 64 m"),
        ("break_at(other, -1);".to_owned(), "a force of 0 or more, not -1"),
    ] {
        let error = touched(world(), &statement).expect_err(&statement);
        assert_eq!(error.kind, ErrorKind::Argument, "{statement}: {error}");
        assert!(error.report.message.contains(told), "{statement}: {error}");
    }
}

#[test]
fn nothing_is_joined_to_itself_to_a_person_or_to_what_is_gone() {
    let ada = "nearby(5).filter(|near| near.kind == \"avatar\")[0]";
    for call in [
        "pin(WHO, vec2(0, 1));",
        "tie(WHO, 2);",
        "rod(WHO);",
        "spring(WHO, 1, 1);",
        "slide(WHO, 0);",
        "break_at(WHO, 9);",
        "motor(WHO, 1, 1);",
        "unjoin(WHO);",
    ] {
        for (who, told) in [
            ("self_", "a thing is not joined to itself"),
            (ada, "only things of the same owner are joined"),
        ] {
            let error = touched(world(), &call.replace("WHO", who)).expect_err(call);
            assert_eq!(error.kind, ErrorKind::Argument, "{call}: {error}");
            assert!(error.report.message.contains(told), "{call}: {error}");
        }
        let mut small = world();
        small.things.truncate(1);
        let error = touched(small, &call.replace("WHO", "other")).expect_err(call);
        assert_eq!(error.kind, ErrorKind::Gone, "{call}: {error}");
    }
}

#[test]
fn a_seat_is_near_the_middle_of_its_thing() {
    let part = touched(world(), &format!("seat(vec2({SEAT_REACH}, 0)); unseat();")).unwrap();
    let at = Some(point(&SEAT_REACH.to_string(), "0"));
    assert_eq!(part.effects, [ScriptEffect::Seat { at }, ScriptEffect::Seat { at: None }]);
    let error = touched(world(), &format!("seat(vec2({SEAT_REACH}, 1));")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Argument);
    assert!(error.report.message.contains("within 2 m of the centre"), "{error}");
}
