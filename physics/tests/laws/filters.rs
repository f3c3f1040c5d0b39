//! Filters: which bodies meet, which ones a sensor notices, and which ones a query finds.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Filter, Region, Touch};
use metatopia_types::{ObjectId, wire};

use crate::scenes::{at, body, circle, cm, fixed, moving, put, rect, run};

const NOBODY: ObjectId = ObjectId(u64::MAX);

fn filtered(category: u32, mask: u32, spec: BodySpec) -> BodySpec {
    BodySpec { filter: Filter { category, mask }, ..spec }
}

#[test]
fn two_filters_meet_if_each_mask_has_the_other_category() {
    let filter = |category, mask| Filter { category, mask };
    assert!(filter(1, 2).meets(filter(2, 1)));
    assert!(!filter(1, 2).meets(filter(2, 2)));
    assert!(!filter(1, 1).meets(filter(2, 1)));
    assert!(filter(4, 1).meets(Filter::ALL));
    assert!(!filter(0, u32::MAX).meets(Filter::ALL));
    assert_eq!(Filter::default(), Filter::ALL);
}

#[test]
fn bodies_whose_filters_do_not_meet_pass_through_each_other() {
    let mut region = Region::new();
    put(&mut region, 1, filtered(1, !2, fixed(rect(20, 200), at(200, 0))));
    put(&mut region, 2, BodySpec { velocity: at(300, 0), ..moving(circle(20), at(0, 50)) });
    let ghost = BodySpec { velocity: at(300, 0), ..moving(circle(20), at(0, -50)) };
    put(&mut region, 3, filtered(2, u32::MAX, ghost));

    let touches: Vec<Touch> = (0..120).flat_map(|_| region.step()).collect();

    assert!(body(&region, 2).position().x < cm(161), "the wall stops it");
    assert!(body(&region, 3).position().x > cm(590), "the wall does not concern it");
    assert!(touches.iter().all(|touch| touch.pair() == (ObjectId(1), ObjectId(2))));
}

#[test]
fn a_sensor_notices_only_what_its_filter_meets() {
    let mut region = Region::new();
    let gate = BodySpec { sensor: true, ..fixed(rect(50, 50), Vec2::ZERO) };
    put(&mut region, 1, filtered(u32::MAX, 4, gate));
    put(&mut region, 2, filtered(4, u32::MAX, moving(circle(20), at(10, 0))));
    put(&mut region, 3, filtered(8, 1, moving(circle(20), at(-10, 0))));

    let touches = region.step();

    assert_eq!(touches.len(), 1);
    assert_eq!(touches[0].pair(), (ObjectId(1), ObjectId(2)));
}

/// A crate that sleeps on a shelf, body 2, above a floor.
fn crate_on_a_shelf() -> Region {
    let mut region = Region::new().with_gravity(at(0, -1_000));
    put(&mut region, 1, fixed(rect(500, 20), at(0, -20)));
    put(&mut region, 2, fixed(rect(100, 20), at(0, 180)));
    put(&mut region, 3, moving(rect(30, 30), at(0, 230)));
    run(&mut region, 120);
    assert!(region.is_asleep());
    region
}

#[test]
fn another_filter_wakes_a_stack_and_lets_it_fall() {
    let mut region = crate_on_a_shelf();

    region.set_filter(ObjectId(2), Filter { category: 1, mask: 0 }).expect("it is there");
    let touches: Vec<Touch> = (0..120).flat_map(|_| region.step()).collect();

    assert_eq!(touches[0], Touch::Ended { a: ObjectId(2), b: ObjectId(3) });
    assert!(body(&region, 3).position().y < cm(35));
    assert_eq!(body(&region, 2).filter(), Filter { category: 1, mask: 0 });
    assert!(region.set_filter(ObjectId(9), Filter::ALL).is_err());
}

#[test]
fn a_shelf_that_becomes_a_sensor_lets_a_crate_fall_and_catches_the_next_one_once_solid() {
    let mut region = crate_on_a_shelf();

    region.set_sensor(ObjectId(2), true).expect("it is there");
    let touches: Vec<Touch> = (0..120).flat_map(|_| region.step()).collect();
    assert!(body(&region, 3).position().y < cm(35), "it fell through");
    // The two touched before, so nothing begins anew; it ends once the crate is through.
    let of_shelf = |touch: &&Touch| touch.pair() == (ObjectId(2), ObjectId(3));
    let ended = Touch::Ended { a: ObjectId(2), b: ObjectId(3) };
    assert_eq!(touches.iter().filter(of_shelf).collect::<Vec<_>>(), [&ended]);

    region.set_sensor(ObjectId(2), false).expect("it is there");
    put(&mut region, 4, moving(rect(30, 30), at(0, 260)));
    run(&mut region, 120);
    assert!(body(&region, 4).position().y > cm(225), "it lies on the shelf");
    assert!(region.set_sensor(ObjectId(9), true).is_err());
}

#[test]
fn what_is_inside_of_a_sensor_that_becomes_solid_is_pushed_out() {
    let mut region = Region::new();
    put(&mut region, 1, BodySpec { sensor: true, ..fixed(rect(100, 100), Vec2::ZERO) });
    put(&mut region, 2, moving(circle(20), at(80, 0)));
    run(&mut region, 10);
    assert!(body(&region, 2).position().x < cm(81), "nothing pushes it yet");
    region.set_sensor(ObjectId(1), false).expect("it is there");
    run(&mut region, 240);
    assert!(body(&region, 2).position().x > cm(118), "{}", body(&region, 2).position());
}

#[test]
fn queries_find_only_what_their_filter_meets() {
    let mut region = Region::new();
    put(&mut region, 1, filtered(1, u32::MAX, fixed(circle(50), at(200, 0))));
    put(&mut region, 2, filtered(2, u32::MAX, fixed(circle(50), at(400, 0))));
    put(&mut region, 3, fixed(circle(50), at(600, 0)));
    let only = |category| Filter { category: u32::MAX, mask: category };
    let ray = |filter| {
        let (hit, _) = region.ray_cast_filtered(Vec2::ZERO, at(1_000, 0), NOBODY, filter);
        hit.map(|hit| hit.id.0)
    };
    assert_eq!(ray(Filter::ALL), Some(1));
    assert_eq!(ray(only(2)), Some(2));
    assert_eq!(ray(only(4)), Some(3), "a body of all categories");
    assert_eq!(ray(only(0)), None);

    let near = |filter| {
        let (found, looked) = region.nearby_filtered(Vec2::ZERO, Fx::from_int(20), 9, filter);
        assert!(looked >= 3);
        found.iter().map(|body| body.id.0).collect::<Vec<_>>()
    };
    assert_eq!(near(Filter::ALL), [1, 2, 3]);
    assert_eq!(near(only(2)), [2, 3]);
}

#[test]
fn a_body_that_meets_nothing_is_near_and_no_ray_meets_it() {
    let mut region = Region::new();
    put(&mut region, 1, filtered(u32::MAX, 0, fixed(circle(50), at(200, 0))));
    put(&mut region, 2, moving(circle(50), at(220, 0)));
    let near = region.nearby(Vec2::ZERO, Fx::from_int(20), 9);
    assert_eq!(near.iter().map(|body| body.id.0).collect::<Vec<_>>(), [1, 2]);
    let (hit, _) = region.ray_cast_filtered(Vec2::ZERO, at(1_000, 0), NOBODY, Filter::ALL);
    assert_eq!(hit.map(|hit| hit.id.0), Some(2));
    region.step();
    assert!(region.contacts().is_empty(), "they overlap and do not touch");
}

#[test]
fn a_body_and_a_spec_with_the_usual_filter_have_the_bytes_that_they_had_without_filters() {
    for (sensor, byte) in [(false, 0), (true, 1)] {
        let plain = BodySpec { sensor, ..moving(circle(20), Vec2::ZERO) };
        let masked = filtered(3, 5, plain.clone());
        let (short, long) = (wire::encode(&plain), wire::encode(&masked));
        let role = short.len() - 2;
        assert_eq!(short[role], byte);
        assert_eq!(long.len(), short.len() + 2);
        assert_eq!(long[role..role + 3], [byte + 2, 3, 5]);
        assert_eq!(wire::decode::<BodySpec>(&long, 200), Ok(masked.clone()));
        // The long form of the usual filter is no other encoding of it.
        let all = [0xFF, 0xFF, 0xFF, 0xFF, 0x0F];
        let twice = [&short[..role], &[byte + 2], &all[..], &all[..], &short[role + 1..]].concat();
        assert_eq!(wire::decode::<BodySpec>(&twice, 200), Err(wire::DecodeError::NotCanonical));

        let mut region = Region::new();
        put(&mut region, 7, masked.clone());
        let spec = body(&region, 7).spec();
        assert_eq!((spec.filter, spec.sensor), (masked.filter, sensor));
    }
}
