//! Collisions of dynamic bodies with each other.

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_physics::{BodySpec, Region};

use crate::scenes::{at, body, circle, cm, moving, put, rect, run, yard};

/// Returns the momentum of some bodies, exactly, in units of 2^-48 kg m/s.
fn momentum(region: &Region, ids: &[u64]) -> (i128, i128) {
    let of = |velocity: Fx, mass: Fx| {
        (i128::from(velocity.to_bits()) * i128::from(mass.to_bits())) >> 16
    };
    let parts = ids.iter().map(|&id| {
        let body = body(region, id);
        (of(body.velocity().x, body.mass()), of(body.velocity().y, body.mass()))
    });
    parts.fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
}

#[test]
fn a_collision_of_two_bodies_keeps_their_momentum() {
    for (mass_a, mass_b) in [(1, 1), (3, 1), (1, 50), (1_000, 2)] {
        for restitution in [0, 50, 100] {
            let mut region = Region::new();
            let a = BodySpec {
                mass: Fx::from_int(mass_a),
                velocity: at(500, 30),
                restitution: cm(restitution),
                ..moving(circle(30), at(0, 0))
            };
            let b = BodySpec { mass: Fx::from_int(mass_b), ..moving(rect(40, 30), at(150, 25)) };
            put(&mut region, 1, a);
            put(&mut region, 2, b);
            let before = momentum(&region, &[1, 2]);
            run(&mut region, 40);

            let after = momentum(&region, &[1, 2]);

            assert_ne!(body(&region, 2).velocity(), Vec2::ZERO, "the two collided");
            // A ten-thousandth of a newton second for each kilogram that took part.
            let tolerance = i128::from(mass_a + mass_b) * (1 << 48) / 10_000;
            let off = (after.0 - before.0).abs().max((after.1 - before.1).abs());
            assert!(off <= tolerance, "{mass_a} {mass_b} {restitution}: off by {off}");
        }
    }
}

#[test]
fn a_head_on_collision_of_equal_balls_swaps_their_velocities() {
    let mut region = Region::new();
    let ball = |position| BodySpec { restitution: Fx::ONE, ..moving(circle(30), position) };
    put(&mut region, 1, BodySpec { velocity: at(400, 0), ..ball(at(0, 0)) });
    put(&mut region, 2, ball(at(100, 0)));

    run(&mut region, 30);

    let (first, second) = (body(&region, 1).velocity(), body(&region, 2).velocity());
    assert!(first.x.saturating_abs() < cm(1), "{first:?}");
    assert!(second.x.saturating_sub(cm(400)).saturating_abs() < cm(1), "{second:?}");
}

#[test]
fn a_ball_without_restitution_does_not_bounce_and_one_with_half_returns_at_half_speed() {
    for (restitution, returned) in [(0, 0), (50, -300), (100, -600)] {
        let mut region = Region::new();
        yard(&mut region, 300);
        let ball = BodySpec {
            velocity: at(600, 0),
            restitution: cm(restitution),
            ..moving(circle(25), at(0, 0))
        };
        put(&mut region, 10, ball);

        run(&mut region, 40);

        let off = body(&region, 10).velocity().x.saturating_sub(cm(returned));
        assert!(off.saturating_abs() < cm(2), "{restitution}: off by {off}");
    }
}

#[test]
fn balls_of_full_restitution_gain_no_energy_and_lose_next_to_none() {
    let energy = |region: &Region| -> i64 {
        let squares = region.bodies().iter().map(|body| body.velocity().length_squared());
        squares.map(|square| square.to_bits() >> 16).sum()
    };
    let (mut before, mut after, mut hits) = (0, 0, 0);
    for seed in 0..12 {
        let mut region = Region::new();
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
        let start = energy(&region);
        for _ in 0..1_200 {
            hits += region.step().len() / 2;
        }
        (before, after) = (before + start, after + energy(&region));
    }

    assert!(hits > 12 * 150, "{hits} hits");
    // Nothing is gained. What is lost is lost where a ball is hit that leans on another one or on a wall:
    // two contacts at once, solved one after the other. One place of twelve has a ball in a corner.
    let lost = before - after;
    assert!((0..before / 50).contains(&lost), "{lost} of {before} after {hits} hits");
}

#[test]
fn a_heavy_crate_takes_the_momentum_of_light_balls() {
    let mut region = Region::new();
    let heavy = BodySpec { mass: Fx::from_int(500), ..moving(rect(50, 50), at(0, 0)) };
    put(&mut region, 1, heavy);
    for id in 2..12_i64 {
        let ball = BodySpec {
            mass: cm(10),
            velocity: at(1_000, 0),
            ..moving(circle(10), at(-100 - id * 25, id % 5 * 15 - 30))
        };
        put(&mut region, id as u64, ball);
    }

    run(&mut region, 120);

    // Ten balls of a tenth of a kilogram at 10 m/s: 10 kg m/s for 501 kg, or twice as much if they
    // all came back as fast, which without restitution they do not.
    let speed = body(&region, 1).velocity().x;
    let off = speed.saturating_sub(Fx::from_ratio(10, 501)).saturating_abs();
    assert!(off < Fx::from_ratio(1, 1_000), "{speed} m/s");
    for id in 2..12 {
        assert!(body(&region, id).velocity().length() < Fx::from_int(10));
    }
}

#[test]
fn bodies_inserted_into_each_other_separate_slowly() {
    let mut region = Region::new();
    for id in 1..=6 {
        let damped = BodySpec { linear_damping: cm(300), ..moving(rect(30, 30), at(0, id * 3)) };
        put(&mut region, id as u64, damped);
    }

    for _ in 0..400 {
        region.step();
        for id in 1..=6 {
            let speed = body(&region, id).velocity().length();
            assert!(speed < Fx::from_int(6), "{id} moves at {speed} m/s");
        }
    }

    let are_separated =
        |a: u64, b: u64| body(&region, a).position().distance(body(&region, b).position()) > cm(55);
    assert!((1..=6).all(|a| (1..a).all(|b| are_separated(a, b))));
}

#[test]
fn a_body_without_damping_and_contacts_keeps_its_velocity() {
    let mut region = Region::new();
    put(&mut region, 1, BodySpec { velocity: at(123, -45), ..moving(circle(30), at(0, 0)) });
    let before = body(&region, 1).velocity();

    run(&mut region, 600);

    let ball = body(&region, 1);
    assert_eq!(ball.velocity(), before);
    let off = ball.position().x.saturating_sub(cm(1_230)).saturating_abs();
    assert!(off < cm(1), "off by {off} m after ten seconds");
}
