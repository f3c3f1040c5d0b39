//! Walking, touching and pushing.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::Motion;
use metatopia_scripting::{Event, EventKind, ScriptOutput};
use metatopia_sim::limits::PUSH_TICKS_MIN;
use metatopia_types::{Act, ObjectId, Outcome, Refusal};

use crate::yard::{Builder, Yard, vec2};

/// A yard in which player 1 stands at the origin.
fn beside(builder: &mut Builder) -> Yard {
    builder.genesis.parameters.avatar.spawn_radius = Fx::ZERO;
    let mut yard = builder.build();
    yard.login(1);
    yard.play();
    assert_eq!(yard.position(yard.avatar(1)), Vec2::ZERO);
    yard
}

#[test]
fn walking_reaches_its_speed_by_a_bounded_acceleration_and_stops_again() {
    let mut yard = beside(&mut Builder::new());
    let speed = |yard: &Yard| yard.world.object(yard.avatar(1)).expect("here").velocity.length();
    yard.act(1, Act::Walk { heading: vec2(0, 7) });

    // 24 m/s^2 for 3 ticks of 1/60 s are 1.2 m/s.
    yard.play();
    assert!(speed(&yard) > Fx::from_ratio(119, 100) && speed(&yard) < Fx::from_ratio(121, 100));
    yard.idle(20);
    assert!(speed(&yard) > Fx::from_ratio(399, 100) && speed(&yard) <= Fx::from_int(4));
    let there = yard.position(yard.avatar(1));
    assert!(there.y > Fx::from_int(3) && there.x == Fx::ZERO);

    yard.act(1, Act::Walk { heading: Vec2::ZERO });
    yard.idle(10);
    assert_eq!(speed(&yard), Fx::ZERO);
}

#[test]
fn half_a_heading_is_half_the_speed() {
    let mut yard = beside(&mut Builder::new());

    yard.act(1, Act::Walk { heading: Vec2::new(Fx::HALF, Fx::ZERO) });
    yard.idle(20);

    let velocity = yard.world.object(yard.avatar(1)).expect("here").velocity;
    assert_eq!(velocity.x.round_int(), 2);
}

#[test]
fn a_heading_beyond_all_measure_is_refused() {
    let mut yard = beside(&mut Builder::new());

    let outcome = yard.try_act(1, Act::Walk { heading: Vec2::new(Fx::MAX, Fx::MIN) });

    assert_eq!(outcome, Outcome::Refused(Refusal::OutOfRange));
}

#[test]
fn a_push_moves_a_crate_in_reach_away_from_the_avatar() {
    let mut builder = Builder::new();
    let near = builder.thing(Motion::Dynamic, (2, 0), &[]);
    let mut yard = beside(&mut builder);

    assert_eq!(yard.try_act(1, Act::Push { object: near }), Outcome::Ok);
    yard.idle(10);

    let place = yard.position(near);
    assert!(place.x > Fx::from_ratio(5, 2), "{place}");
    assert_eq!(place.y, Fx::ZERO);
}

#[test]
fn what_is_far_fixed_gone_or_a_person_is_not_pushed() {
    let mut builder = Builder::new();
    let far = builder.thing(Motion::Dynamic, (5, 0), &[]);
    let wall = builder.thing(Motion::Static, (0, 2), &[]);
    let mut yard = beside(&mut builder);
    yard.login(2);
    yard.play();
    let person = yard.avatar(2);

    let mut push = |object| yard.try_act(1, Act::Push { object });

    assert_eq!(push(far), Outcome::Refused(Refusal::OutOfReach));
    assert_eq!(push(wall), Outcome::Refused(Refusal::Immovable));
    assert_eq!(push(ObjectId(99)), Outcome::Refused(Refusal::NoObject));
    assert_eq!(push(person), Outcome::Refused(Refusal::Immovable));
}

#[test]
fn reach_ends_where_the_parameters_say() {
    // Rim to rim 1.5 m are allowed: the avatar's radius is 0.35 m, the crate begins 0.5 m before
    // its centre, so a centre 2.35 m away is just in reach.
    for (offset, outcome) in [(0, Outcome::Ok), (1 << 13, Outcome::Refused(Refusal::OutOfReach))] {
        let mut builder = Builder::new();
        let object = builder.thing(Motion::Static, (0, 0), &[]);
        // The position is held in steps of 2^-20 m.
        let x = Fx::from_bits((Fx::from_ratio(235, 100).to_bits() >> 12 << 12) + offset);
        builder.genesis.objects[0].body.pose.position = Vec2::new(x, Fx::ZERO);
        let mut yard = beside(&mut builder);

        assert_eq!(yard.try_act(1, Act::Touch { object }), outcome, "at {x}");
    }
}

#[test]
fn pushes_need_a_breath_between_them() {
    let mut builder = Builder::new();
    let object = builder.thing(Motion::Dynamic, (1, 0), &[]);
    let mut yard = beside(&mut builder);

    let pushed = yard.world.tick();
    assert_eq!(yard.try_act(1, Act::Push { object }), Outcome::Ok);
    assert_eq!(yard.try_act(1, Act::Push { object }), Outcome::Refused(Refusal::TooOften));
    // Neither is the wait shortened by a new session.
    yard.login(1);
    while yard.world.tick().0 < pushed.0 + PUSH_TICKS_MIN {
        let refused = Outcome::Refused(Refusal::TooOften);
        assert_eq!(yard.try_act(1, Act::Push { object }), refused, "at {:?}", yard.world.tick());
    }
    assert_eq!(yard.try_act(1, Act::Push { object }), Outcome::Ok);
}

#[test]
fn a_touch_is_told_to_the_scripts_of_what_is_touched() {
    let mut builder = Builder::new();
    let package = builder.port("touched", &[EventKind::Touch], |call| {
        let Event::Touch { other, impulse, .. } = call.event else {
            return Ok(ScriptOutput::default());
        };
        let mut part = ScriptOutput { gas: 10, ..ScriptOutput::default() };
        part.own.text = Some(format!("touched by {other} with {impulse}"));
        Ok(part)
    });
    let thing = builder.thing(Motion::Static, (1, 1), &[package]);
    let mut yard = beside(&mut builder);

    assert_eq!(yard.try_act(1, Act::Touch { object: thing }), Outcome::Ok);

    let avatar = yard.avatar(1);
    let text = yard.world.object(thing).expect("here").text;
    assert_eq!(text, format!("touched by {avatar} with 0"));
}

#[test]
fn walking_into_a_thing_is_a_touch_with_an_impulse() {
    let mut builder = Builder::new();
    let package = builder.port("bumped", &[EventKind::Touch], |call| {
        let Event::Touch { other, impulse, .. } = call.event else {
            return Ok(ScriptOutput::default());
        };
        let mut part = ScriptOutput { gas: 10, ..ScriptOutput::default() };
        part.own.text = Some(format!("{other}"));
        part.own.color = Some(u32::from(*impulse > Fx::ZERO));
        Ok(part)
    });
    let thing = builder.thing(Motion::Static, (2, 0), &[package]);
    let mut yard = beside(&mut builder);

    yard.act(1, Act::Walk { heading: Vec2::X });
    yard.idle(30);

    let seen = yard.world.object(thing).expect("here");
    assert_eq!((seen.text, seen.look.color), (yard.avatar(1).to_string(), 1));
}
