//! The same commands give the same bits, in any order of commands on different bodies.

use metatopia_physics::{BodySpec, Region};
use metatopia_types::ObjectId;

use crate::scenes::{SCENES, at, circle, moving, put, yard};

#[test]
fn a_scene_played_twice_is_equal_at_every_step() {
    for scene in &SCENES {
        let (mut first, mut second) = ((scene.build)(), (scene.build)());
        for step in 0..300 {
            let (touches, again) = (scene.step(&mut first, step), scene.step(&mut second, step));
            assert_eq!(touches, again, "{} step {step}", scene.name);
            assert_eq!(first, second, "{} step {step}", scene.name);
        }
    }
}

#[test]
fn the_order_of_commands_on_different_bodies_makes_no_difference() {
    let build = |order: &[u64]| {
        let mut region = Region::new();
        yard(&mut region, 300);
        for &id in order {
            let position = at(id as i64 * 37 % 400 - 200, id as i64 * 91 % 400 - 200);
            put(&mut region, id, moving(circle(25), position));
        }
        for &id in order {
            let push = at(id as i64 * 53 % 700 - 350, id as i64 * 29 % 700 - 350);
            let object = ObjectId(id);
            match id % 5 {
                0 => drop(region.remove(object).expect("it is there")),
                1 => region.set_spin(object, push.x).expect("it moves"),
                _ => region.apply_impulse(object, push).expect("it is dynamic"),
            }
        }
        region
    };
    let upwards: Vec<u64> = (10..40).collect();
    let mut shuffled = upwards.clone();
    shuffled.sort_by_key(|id| id * 7 % 31);
    let downwards: Vec<u64> = upwards.iter().rev().copied().collect();
    let mut regions = [&upwards, &shuffled, &downwards].map(|order| build(order));

    for step in 0..200 {
        let touches = regions.each_mut().map(Region::step);
        assert!(touches.windows(2).all(|pair| pair[0] == pair[1]), "step {step}");
        assert!(regions.windows(2).all(|pair| pair[0] == pair[1]), "step {step}");
    }
}

#[test]
fn distant_bodies_do_not_influence_each_other() {
    let duel = |region: &mut Region, first: u64, y: i64| {
        let ball = |position| moving(circle(25), position);
        put(region, first, BodySpec { velocity: at(300, 10), ..ball(at(0, y)) });
        put(region, first + 1, ball(at(100, y)));
    };
    let mut alone = Region::new();
    duel(&mut alone, 10, 0);
    let mut among = Region::new();
    duel(&mut among, 10, 0);
    for other in 0..20 {
        duel(&mut among, 20 + 2 * other, 500 + other as i64 * 200);
        duel(&mut among, 900 + 2 * other, -500 - other as i64 * 200);
    }

    for _ in 0..120 {
        alone.step();
        among.step();
        let state = |region: &Region, id| region.body(ObjectId(id)).cloned();
        assert_eq!(state(&alone, 10), state(&among, 10));
        assert_eq!(state(&alone, 11), state(&among, 11));
    }
}
