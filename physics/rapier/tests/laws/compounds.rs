//! Bodies of several shapes are the same on both tiers.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Filter, Hit, Motion, Region, Shape, Touch};
use metatopia_types::ObjectId;

use crate::likeness::{assert_near, assert_same_place, both};
use crate::scenes::{at, cm, compound, fixed, joinery, moving, put, rect};

/// A table with legs of different lengths on ground that has a step for the shorter one.
fn table() -> Region {
    let mut region = Region::new().with_gravity(at(0, -1_000)).with_hits(Some(Fx::ONE));
    let ground = [(rect(250, 50), (-250, -50)), (rect(250, 60), (250, -60))];
    put(&mut region, 1, fixed(compound(&ground), at(0, -60)));
    let table = [(rect(80, 8), (0, 68)), (rect(8, 30), (-60, 30)), (rect(8, 40), (60, 20))];
    put(&mut region, 2, moving(compound(&table), at(-20, 100)));
    region
}

#[test]
fn a_table_on_uneven_legs_comes_to_rest_at_the_same_place_and_tells_the_same() {
    let mut regions = both(table);
    let mut told: Vec<(Touch, Hit)> = Vec::new();
    for region in &mut regions {
        let (mut touches, mut hits) = (Vec::new(), Vec::new());
        for _ in 0..240 {
            let events = region.step_events();
            touches.extend(events.touches);
            hits.extend(events.hits);
        }
        assert_eq!(touches.len(), 1, "{touches:?}");
        assert!(region.is_asleep() && region.contacts().len() == 1);
        told.push((touches[0], hits[0]));
    }
    assert_same_place(&regions, 2, 20);
    let [(first, one), (second, other)] = told[..] else { panic!("two tiers") };
    assert_eq!(first.pair(), second.pair());
    assert_near(one.speed, other.speed, 300, "the speed of the hit");
    for touch in [first, second] {
        let Touch::Began { point, impulse, .. } = touch else { panic!("{touch:?}") };
        // A foot: what both give is near the ground, under one of the legs.
        assert!(point.y.saturating_abs() < cm(25), "{point}");
        let foot = |x| point.x.saturating_sub(cm(x)).saturating_abs() < cm(12);
        assert!(foot(-80) || foot(40), "{point}");
        assert!(impulse > Fx::ONE, "{impulse}");
    }
}

#[test]
fn a_compound_that_turns_keeps_its_spin_and_its_centre_on_both_tiers() {
    let spinning = || {
        let mut region = Region::new();
        for (id, kind) in (1..).zip(0..4) {
            let spec = moving(joinery(kind), at(kind as i64 * 200, 0));
            put(&mut region, id, BodySpec { spin: Fx::from_int(3), ..spec });
        }
        region
    };
    for mut region in both(spinning) {
        for _ in 0..120 {
            region.step();
        }
        for (id, body) in (0..).zip(region.bodies()) {
            assert!(body.position().distance(at(id * 200, 0)) < cm(1), "{}", body.position());
            assert_near(body.spin(), Fx::from_int(3), 5, "the spin");
        }
    }
}

#[test]
fn sensors_notice_a_compound_once_and_filters_leave_all_of_it_out() {
    let scene = || {
        let mut region = Region::new();
        let sensor = BodySpec { sensor: true, ..fixed(joinery(3), Vec2::ZERO) };
        put(&mut region, 1, sensor);
        put(&mut region, 2, BodySpec { spin: Fx::ONE, ..moving(joinery(1), at(5, 0)) });
        let filter = Filter { category: 1, mask: 0 };
        put(&mut region, 3, BodySpec { filter, spin: Fx::ONE, ..moving(joinery(0), at(-5, 0)) });
        region
    };
    for mut region in both(scene) {
        let pairs: Vec<_> = region.step().iter().map(Touch::pair).collect();
        assert_eq!(pairs, [(ObjectId(1), ObjectId(2))]);
        region.set_shape(ObjectId(2), joinery(2), Fx::ONE).expect("it is there");
        region.set_motion(ObjectId(2), Motion::Kinematic).expect("it is there");
        assert!(region.step().is_empty());
        region.set_shape(ObjectId(2), Shape::Circle { radius: cm(20) }, Fx::ONE).expect("it is");
        assert!(region.step().is_empty());
    }
}
