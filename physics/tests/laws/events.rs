//! The touch events that a step returns.

use std::collections::BTreeSet;

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Region, Touch};
use metatopia_types::ObjectId;

use crate::scenes::{SCENES, at, circle, cm, fixed, moving, put, rect, yard};

fn began(touch: &Touch) -> bool {
    matches!(touch, Touch::Began { .. })
}

#[test]
fn a_step_returns_beginnings_before_ends_each_in_id_order() {
    let mut both = 0;
    for scene in &SCENES {
        let mut region = (scene.build)();
        for step in 0..400 {
            let touches = scene.step(&mut region, step);
            let keys: Vec<_> = touches.iter().map(|touch| (!began(touch), touch.pair())).collect();
            assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "{} {step}", scene.name);
            assert!(touches.iter().all(|touch| touch.pair().0 < touch.pair().1));
            both += usize::from(keys.windows(2).any(|pair| pair[0].0 != pair[1].0));
        }
    }
    assert!(both > 10, "only {both} steps returned both");
}

#[test]
fn touches_that_began_and_did_not_end_are_the_contacts() {
    for scene in &SCENES {
        let mut region = (scene.build)();
        let mut touching = BTreeSet::new();
        let mut events = 0;
        for step in 0..400 {
            for touch in scene.step(&mut region, step) {
                let changed = if began(&touch) {
                    touching.insert(touch.pair())
                } else {
                    touching.remove(&touch.pair())
                };
                assert!(changed, "{} {step}: {touch:?} twice", scene.name);
                events += 1;
            }
            let listed: BTreeSet<_> =
                region.contacts().iter().map(|contact| contact.pair()).collect();
            assert_eq!(listed, touching, "{} {step}", scene.name);
        }
        assert!(events > 20, "{}: only {events} events", scene.name);
    }
}

#[test]
fn the_beginning_of_a_touch_has_its_point_and_impulse() {
    let mut region = Region::new();
    let ball =
        BodySpec { mass: Fx::from_int(3), velocity: at(200, 0), ..moving(circle(30), at(0, 0)) };
    put(&mut region, 7, ball);
    put(&mut region, 4, fixed(rect(10, 200), at(100, 0)));

    let touches: Vec<Touch> = (0..60).flat_map(|_| region.step()).collect();

    let [Touch::Began { a, b, point, impulse }] = touches[..] else {
        panic!("one beginning was expected: {touches:?}");
    };
    assert_eq!((a, b), (ObjectId(4), ObjectId(7)));
    assert!(point.saturating_sub(at(90, 0)).length() < cm(2), "at {point}");
    // The wall stopped 3 kg from 2 m/s.
    assert!(impulse.saturating_sub(Fx::from_int(6)).saturating_abs() < cm(10), "{impulse} N s");
}

#[test]
fn the_event_of_a_bounce_has_the_whole_impulse() {
    let mut region = Region::new();
    let ball =
        BodySpec { velocity: at(200, 0), restitution: Fx::ONE, ..moving(circle(30), at(0, 0)) };
    put(&mut region, 7, ball);
    put(&mut region, 4, fixed(rect(10, 200), at(100, 0)));

    let touches: Vec<Touch> = (0..60).flat_map(|_| region.step()).collect();

    let [Touch::Began { impulse, .. }, Touch::Ended { .. }] = touches[..] else {
        panic!("a beginning and an end were expected: {touches:?}");
    };
    assert!(impulse.saturating_sub(Fx::from_int(4)).saturating_abs() < cm(10), "{impulse} N s");
}

#[test]
fn a_sensor_notices_moving_bodies_and_stops_none() {
    let mut region = Region::new();
    put(&mut region, 1, BodySpec { sensor: true, ..fixed(rect(50, 50), at(0, 0)) });
    put(&mut region, 2, BodySpec { velocity: at(300, 0), ..moving(circle(30), at(-200, 0)) });
    // It does not notice another sensor or a wall.
    put(&mut region, 3, BodySpec { sensor: true, ..fixed(circle(50), at(0, 0)) });
    put(&mut region, 4, fixed(rect(10, 10), at(42, 42)));
    let mut cart = BodySpec::new(rect(20, 20), Motion::Kinematic, at(0, -200));
    cart.velocity = at(0, 300);
    put(&mut region, 5, cart);

    let touches: Vec<Touch> = (0..120).flat_map(|_| region.step()).collect();

    let of = |id| touches.iter().filter(move |touch| touch.pair() == (ObjectId(1), ObjectId(id)));
    for id in [2, 5] {
        let events: Vec<bool> = of(id).map(began).collect();
        assert_eq!(events, [true, false], "object {id}");
    }
    assert_eq!(of(3).count() + of(4).count(), 0);
    let cart = region.body(ObjectId(5)).expect("it is there");
    assert_eq!(cart.velocity(), at(0, 300));
}

#[test]
fn a_sensor_notices_a_sleeping_body_inside_it_once() {
    let mut region = Region::new();
    put(&mut region, 1, BodySpec { sensor: true, ..fixed(rect(50, 50), at(0, 0)) });
    put(&mut region, 2, moving(circle(30), at(0, 0)));

    let touches: Vec<Touch> = (0..120).flat_map(|_| region.step()).collect();

    assert_eq!(touches.len(), 1);
    assert!(region.is_asleep());
}

#[test]
fn removing_bodies_ends_their_touches_even_if_both_are_removed() {
    let mut region = Region::new();
    for id in 1..=4_i64 {
        put(&mut region, id as u64, moving(circle(25), at(id * 50, 0)));
    }
    let started = region.step();
    assert_eq!(started.len(), 3);
    while !region.is_asleep() {
        region.step();
    }

    region.remove(ObjectId(1)).expect("it is there");
    region.remove(ObjectId(2)).expect("it is there");

    let ended = [(1, 2), (2, 3)].map(|(a, b)| Touch::Ended { a: ObjectId(a), b: ObjectId(b) });
    assert_eq!(region.step(), ended);
    assert_eq!(region.step(), []);
}

#[test]
fn a_crate_held_against_a_wall_makes_one_event() {
    let mut region = Region::new();
    yard(&mut region, 200);
    let crate_ = BodySpec { velocity: at(150, 0), ..moving(rect(40, 40), at(100, 0)) };
    put(&mut region, 9, crate_);

    let touches: Vec<Touch> = (0..600)
        .flat_map(|_| {
            // Somebody leans on the crate.
            region.apply_impulse(ObjectId(9), Vec2::new(cm(2), Fx::ZERO)).expect("it is dynamic");
            region.step()
        })
        .collect();

    assert_eq!(touches.len(), 1, "{touches:?}");
}
