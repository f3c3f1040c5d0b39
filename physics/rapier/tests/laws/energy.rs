//! What moves by itself gains no energy, and what is in a drum stays in it.

use metatopia_math::{Angle, Fx, Stream};
use metatopia_physics::{BodySpec, Motion, Region, Shape};

use crate::likeness::both;
use crate::newton2;
use crate::scenes::{SCENES, at, body, circle, cm, moving, put, rect, yard};

/// Returns the energy of the moving bodies in joules, in a field of this gravity. A body of them is a disc or a
/// rectangle of a kilogram.
fn energy(region: &Region) -> Fx {
    let squared = |value: Fx| value.saturating_mul(value);
    let of = |body: &metatopia_physics::Body| {
        let gyration = match body.shape() {
            Shape::Circle { radius } => squared(radius).saturating_mul(Fx::HALF),
            Shape::Rect { half } => half.length_squared().saturating_mul(Fx::from_ratio(1, 3)),
            other => panic!("{other:?}"),
        };
        let turning = squared(body.spin()).saturating_mul(gyration);
        let moving = body.velocity().length_squared().saturating_add(turning);
        let fall = region.gravity().y.saturating_mul(body.position().y);
        moving.saturating_mul(Fx::HALF).saturating_sub(fall)
    };
    let bodies = region.bodies().iter().filter(|body| body.motion() == Motion::Dynamic);
    bodies.map(of).fold(Fx::ZERO, Fx::saturating_add)
}

/// Balls fly about in a yard that is seen from above.
#[test]
fn balls_of_full_restitution_gain_no_energy() {
    for seed in 0..6 {
        let mut region = Region::new().with_sleeping(false);
        yard(&mut region, 800);
        let mut dice = Stream::new(&[seed; 32], "physics.energy", &[]);
        for index in 0..36_i64 {
            let mut speed = || dice.below(1_001) as i64 - 500;
            let ball = BodySpec {
                velocity: at(speed(), speed()),
                restitution: Fx::ONE,
                friction: Fx::ZERO,
                ..moving(circle(20), at(index % 6 * 250 - 625, index / 6 * 250 - 625))
            };
            put(&mut region, 10 + index as u64, ball);
        }
        let mut region = newton2(region);
        let before = energy(&region);
        let (mut most, mut hits) = (before, 0);
        for _ in 0..1_200 {
            hits += region.step().len() / 2;
            most = most.max(energy(&region));
        }
        assert!(hits > 150, "seed {seed}: {hits} hits");
        // Rounded floats may give back a little more than they took.
        let bound = before.saturating_mul(Fx::from_ratio(501, 500));
        assert!(most <= bound, "seed {seed}: from {before} J to {most} J");
    }
}

/// Crates and balls fall onto each other, tumble and come to rest.
#[test]
fn what_falls_into_a_pile_gains_no_energy() {
    for mut region in both(|| {
        let mut region = Region::new().with_gravity(at(0, -1_000)).with_sleeping(false);
        yard(&mut region, 400);
        for index in 0..60_i64 {
            let shape = if index % 3 == 0 { circle(22) } else { rect(30, 18) };
            let spec = BodySpec {
                spin: cm(index * 53 % 300),
                velocity: at(index * 37 % 400 - 200, 0),
                restitution: cm(index % 4 * 20),
                ..moving(shape, at(index % 8 * 90 - 320, index / 8 * 80 - 250))
            };
            put(&mut region, 10 + index as u64, spec);
        }
        region
    }) {
        let start = energy(&region);
        let (mut most, mut last) = (Fx::ZERO, start);
        for step in 0..600 {
            region.step();
            let now = energy(&region);
            most = most.max(now.saturating_sub(last));
            last = now;
            assert!(now <= start, "step {step}: {now} J of {start} J");
        }
        // The push out of penetration lifts bodies a little, and costs no speed.
        assert!(most < Fx::HALF, "a step gave {most} J");
        assert!(last < start.saturating_sub(Fx::from_int(1_900)), "{last} J of {start} J are left");
    }
}

#[test]
fn the_drum_keeps_its_bodies_for_a_thousand_steps_on_both_tiers() {
    let tumbler = SCENES.iter().find(|scene| scene.name == "tumbler").expect("a scene");
    for (tier, mut region) in [(1, (tumbler.build)()), (2, newton2((tumbler.build)()))] {
        let inside: Vec<u64> = (10..34).collect();
        let mut turned = 0;
        for step in 0..1_000 {
            region.step();
            turned += usize::from(body(&region, 5).angle() != Angle::ZERO);
            for id in &inside {
                let own = body(&region, 5).own_frame(body(&region, *id).position());
                let is_inside = |part: Fx| part.saturating_abs() < cm(250);
                assert!(
                    is_inside(own.x) && is_inside(own.y),
                    "tier {tier}, step {step}: body {id} is at {own} in the drum"
                );
            }
        }
        assert!(turned > 900, "the drum stood still");
    }
}
