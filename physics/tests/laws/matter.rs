//! How matter behaves.

use metatopia_math::{Angle, Fx, Stream, Vec2};
use metatopia_physics::{BodySpec, Motion, Pose, Region, limits};
use metatopia_types::ObjectId;

use crate::scenes::{SCENES, at, body, circle, cm, fixed, moving, put, rect, yard};

fn run(region: &mut Region, steps: usize) {
    for _ in 0..steps {
        region.step();
    }
}

/// Mass times velocity of some bodies, in units of 2^-48 kg m/s: exact.
fn momentum(region: &Region, ids: &[u64]) -> (i128, i128) {
    let of = |velocity: Fx, mass: Fx| {
        (i128::from(velocity.to_bits()) * i128::from(mass.to_bits())) >> 16
    };
    let parts = ids.iter().map(|&id| {
        let body = body(region, id);
        (
            of(body.velocity().x, body.mass()),
            of(body.velocity().y, body.mass()),
        )
    });
    parts.fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
}

#[test]
fn a_hit_between_two_bodies_keeps_their_momentum() {
    for (mass_a, mass_b) in [(1, 1), (3, 1), (1, 50), (1_000, 2)] {
        for restitution in [0, 50, 100] {
            let mut region = Region::new();
            let a = BodySpec {
                mass: Fx::from_int(mass_a),
                velocity: at(500, 30),
                restitution: cm(restitution),
                ..moving(circle(30), at(0, 0))
            };
            let b = BodySpec {
                mass: Fx::from_int(mass_b),
                ..moving(rect(40, 30), at(150, 25))
            };
            put(&mut region, 1, a);
            put(&mut region, 2, b);
            let before = momentum(&region, &[1, 2]);
            run(&mut region, 40);

            let after = momentum(&region, &[1, 2]);

            assert_ne!(body(&region, 2).velocity(), Vec2::ZERO, "there was a hit");
            // A ten-thousandth of a newton second for each kilogram that took part.
            let tolerance = i128::from(mass_a + mass_b) * (1 << 48) / 10_000;
            let off = (after.0 - before.0).abs().max((after.1 - before.1).abs());
            assert!(
                off <= tolerance,
                "{mass_a} {mass_b} {restitution}: off by {off}"
            );
        }
    }
}

#[test]
fn a_head_on_hit_of_equal_balls_swaps_their_velocities() {
    let mut region = Region::new();
    let ball = |place| BodySpec {
        restitution: Fx::ONE,
        ..moving(circle(30), place)
    };
    put(
        &mut region,
        1,
        BodySpec {
            velocity: at(400, 0),
            ..ball(at(0, 0))
        },
    );
    put(&mut region, 2, ball(at(100, 0)));

    run(&mut region, 30);

    let (first, second) = (body(&region, 1).velocity(), body(&region, 2).velocity());
    assert!(first.x.saturating_abs() < cm(1), "{first:?}");
    assert!(
        second.x.saturating_sub(cm(400)).saturating_abs() < cm(1),
        "{second:?}"
    );
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
fn a_crate_pushed_against_a_wall_stops_there_and_sinks_less_than_a_centimetre() {
    let mut region = Region::new();
    yard(&mut region, 300);
    let crate_ = BodySpec {
        mass: Fx::from_int(30),
        ..moving(rect(40, 40), at(150, 0))
    };
    put(&mut region, 10, crate_);

    for _ in 0..300 {
        region
            .impulse(ObjectId(10), at(1_000, 0))
            .expect("a crate is dynamic");
        region.step();
        let sunk = body(&region, 10).position().x.saturating_sub(cm(260));
        assert!(sunk < cm(1), "sank {sunk} m");
    }
    run(&mut region, 120);

    let crate_ = body(&region, 10);
    assert!(crate_.is_at_rest());
    assert!(crate_.position().x.saturating_sub(cm(260)).saturating_abs() < cm(1));
    assert!(crate_.position().y.saturating_abs() < cm(1));
}

#[test]
fn friction_stops_a_sliding_crate_and_ice_does_not() {
    let slide = |friction: i64| {
        let mut region = Region::new();
        yard(&mut region, 900);
        let crate_ = BodySpec {
            mass: Fx::from_int(10),
            friction: cm(friction),
            velocity: at(0, 400),
            fixed_rotation: true,
            ..moving(rect(40, 40), at(860, -700))
        };
        put(&mut region, 10, crate_);
        for step in 0..120 {
            // A steady push of 10 m/s^2 against the wall.
            region
                .impulse(ObjectId(10), Vec2::new(Fx::from_ratio(100, 60), Fx::ZERO))
                .expect("dynamic");
            region.step();
            if friction == 0 {
                let speed = body(&region, 10).velocity().y;
                assert!(speed > cm(399), "step {step}: {speed}");
            }
        }
        body(&region, 10).clone()
    };

    // With the walls' one half: a coefficient of sqrt(1/2 * 1/2), so 5 m/s^2: at rest after 0.8 s.
    let stopped = slide(50);
    assert!(
        stopped.velocity().y.saturating_abs() < cm(2),
        "{:?}",
        stopped.velocity()
    );
    let way = stopped.position().y.saturating_add(cm(700));
    assert!(
        way > cm(140) && way < cm(180),
        "slid {way} m, where 1.6 were expected"
    );
    slide(0);
}

#[test]
fn damping_stops_what_nothing_touches() {
    let mut region = Region::new();
    let ball = BodySpec {
        velocity: at(500, -300),
        spin: Fx::from_int(5),
        linear_damping: Fx::from_int(2),
        angular_damping: Fx::from_int(2),
        ..moving(circle(30), at(0, 0))
    };
    put(&mut region, 1, ball);

    run(&mut region, 600);

    let ball = body(&region, 1);
    assert!(ball.is_at_rest());
    // The way of an exponential decay is velocity / damping.
    assert!(ball.position().x.saturating_sub(cm(250)).saturating_abs() < cm(3));
    assert!(ball.position().y.saturating_sub(cm(-150)).saturating_abs() < cm(3));
}

#[test]
fn nothing_slows_down_without_damping_and_touch() {
    let mut region = Region::new();
    put(
        &mut region,
        1,
        BodySpec {
            velocity: at(123, -45),
            ..moving(circle(30), at(0, 0))
        },
    );
    let before = body(&region, 1).velocity();

    run(&mut region, 600);

    let ball = body(&region, 1);
    assert_eq!(ball.velocity(), before);
    let off = ball.position().x.saturating_sub(cm(1_230)).saturating_abs();
    assert!(off < cm(1), "off by {off} m after ten seconds");
}

#[test]
fn a_pile_pressed_together_stays_together_and_comes_to_rest() {
    let mut region = Region::new();
    yard(&mut region, 200);
    for place in 0..25_i64 {
        let crate_ = BodySpec {
            linear_damping: Fx::from_int(4),
            angular_damping: Fx::from_int(4),
            ..moving(rect(36, 36), at(place % 5 * 78 - 156, place / 5 * 78 - 156))
        };
        put(&mut region, 10 + place as u64, crate_);
    }
    for _ in 0..240 {
        for id in 10..35 {
            region
                .impulse(ObjectId(id), Vec2::new(cm(20), cm(10)))
                .expect("dynamic");
        }
        region.step();
    }
    run(&mut region, 300);

    assert!(region.is_still());
    for id in 10..35 {
        let place = body(&region, id).position();
        let inside = |x: Fx| x.saturating_abs() < cm(165);
        assert!(inside(place.x) && inside(place.y), "{id} is at {place:?}");
    }
    for a in 10..35 {
        for b in 10..a {
            let way = body(&region, a)
                .position()
                .saturating_sub(body(&region, b).position());
            assert!(way.length() > cm(70), "{a} is inside {b}");
        }
    }
}

#[test]
fn a_turning_bar_throws_the_crates_around_it() {
    let mut region = Region::new();
    let mut bar = BodySpec::new(rect(300, 15), Motion::Kinematic, Vec2::ZERO);
    bar.spin = Fx::from_int(1);
    put(&mut region, 1, bar);
    put(&mut region, 2, moving(rect(30, 30), at(200, 100)));

    run(&mut region, 60);

    let crate_ = body(&region, 2);
    assert!(crate_.position().y > cm(150), "{:?}", crate_.position());
    let bar = body(&region, 1);
    assert_eq!(
        bar.position(),
        Vec2::ZERO,
        "what it pushes does not push back"
    );
    let turned = bar
        .angle()
        .to_radians()
        .saturating_sub(Fx::ONE)
        .saturating_abs();
    assert!(
        turned < Fx::from_ratio(1, 10_000),
        "off by {turned} rad after a second"
    );
}

#[test]
fn a_turning_bar_is_true_to_its_angle_for_a_minute() {
    for spin in [1, 7, 10] {
        let mut region = Region::new();
        let mut bar = BodySpec::new(rect(200, 20), Motion::Kinematic, Vec2::ZERO);
        bar.spin = Fx::from_int(spin);
        put(&mut region, 1, bar);

        run(&mut region, 3_600);

        let expected = Angle::from_radians(Fx::from_int(spin * 60));
        let off = body(&region, 1).angle().wrapping_sub(expected).to_radians();
        assert!(
            off.saturating_abs() < Fx::from_ratio(1, 100),
            "spin {spin}: off by {off} rad"
        );
    }
}

#[test]
fn a_door_on_its_way_pushes_a_walker_aside() {
    let mut region = Region::new();
    let mut door = BodySpec::new(rect(100, 10), Motion::Kinematic, at(0, 0));
    door.velocity = at(0, 100);
    put(&mut region, 1, door);
    let walker = BodySpec {
        fixed_rotation: true,
        ..moving(circle(30), at(20, 60))
    };
    put(&mut region, 2, walker);

    run(&mut region, 60);

    let off = body(&region, 1).position().saturating_sub(at(0, 100));
    assert!(
        off.length() < Fx::from_ratio(1, 10_000),
        "off by {off} after a second"
    );
    assert!(body(&region, 2).position().y > cm(139));
    assert_eq!(body(&region, 2).angle(), Angle::ZERO);
}

#[test]
fn the_fastest_and_smallest_ball_does_not_pass_the_thinnest_wall() {
    let wall = Fx::from_ratio(1, 16);
    for radius in [7, 10, 20, 100] {
        for angle in 0..8 {
            let mut region = Region::new();
            let thin = Vec2::new(wall, cm(2_000));
            put(
                &mut region,
                1,
                fixed(metatopia_physics::Shape::Rect { half: thin }, at(0, 0)),
            );
            let ball = BodySpec {
                velocity: Vec2::new(limits::SPEED_MAX, cm(angle * 100)),
                restitution: cm(angle * 10),
                ..moving(circle(radius), at(-700 - angle * 3, 0))
            };
            put(&mut region, 2, ball);
            for _ in 0..120 {
                region.step();
                let place = body(&region, 2).position();
                assert!(
                    place.x < Fx::ZERO,
                    "radius {radius}, angle {angle}: at {place:?}"
                );
            }
        }
    }
}

#[test]
fn bodies_placed_into_each_other_come_apart_gently() {
    let mut region = Region::new();
    for id in 1..=6 {
        let damped = BodySpec {
            linear_damping: cm(300),
            ..moving(rect(30, 30), at(0, id * 3))
        };
        put(&mut region, id as u64, damped);
    }

    for _ in 0..400 {
        region.step();
        for id in 1..=6 {
            let speed = body(&region, id).velocity().length();
            assert!(speed < Fx::from_int(6), "{id} flies at {speed} m/s");
        }
    }

    let turned_apart = |a: u64, b: u64| {
        let way = body(&region, a)
            .position()
            .saturating_sub(body(&region, b).position());
        way.length() > cm(55)
    };
    assert!((1..=6).all(|a| (1..a).all(|b| turned_apart(a, b))));
}

#[test]
fn a_body_stops_at_the_edge_of_the_region() {
    let mut region = Region::new();
    let edge = limits::COORDINATE_MAX;
    let place = Vec2::new(edge.saturating_sub(Fx::ONE), Fx::ZERO);
    put(
        &mut region,
        1,
        BodySpec {
            velocity: at(1_000, 100),
            ..moving(circle(30), place)
        },
    );

    run(&mut region, 60);

    let ball = body(&region, 1);
    assert_eq!(ball.position().x, edge);
    assert_eq!(ball.velocity(), at(0, 100));
}

#[test]
fn a_rested_region_does_not_change_by_a_bit_until_something_is_done() {
    let mut region = Region::new();
    yard(&mut region, 300);
    for id in 10..20 {
        let place = at((id as i64 - 15) * 40, id as i64 % 3 * 70);
        let damped = BodySpec {
            linear_damping: cm(200),
            ..moving(rect(22, 22), place)
        };
        put(
            &mut region,
            id,
            BodySpec {
                velocity: at(100, -50),
                ..damped
            },
        );
    }
    run(&mut region, 1_200);
    assert!(region.is_still());
    let before = region.clone();

    run(&mut region, 1_000);
    assert_eq!(region, before);

    // Neither do commands that ask for what is so already.
    let (place, angle) = (body(&region, 12).position(), body(&region, 12).angle());
    region
        .set_velocity(ObjectId(12), Vec2::ZERO)
        .expect("dynamic");
    region.impulse(ObjectId(12), Vec2::ZERO).expect("dynamic");
    assert!(region.is_still());
    let pose = Pose {
        position: place.saturating_add(at(1, 0)),
        angle,
    };
    region.set_pose(ObjectId(12), pose).expect("it is there");
    assert!(!region.is_still());
}

#[test]
fn a_hit_wakes_what_rests_against_each_other() {
    let mut region = Region::new();
    for id in 1..=5_i64 {
        put(&mut region, id as u64, moving(circle(25), at(id * 50, 0)));
    }
    run(&mut region, 60);
    assert!(region.is_still());

    put(
        &mut region,
        9,
        BodySpec {
            velocity: at(500, 0),
            ..moving(circle(25), at(-100, 0))
        },
    );
    run(&mut region, 60);

    for id in 1..=5 {
        assert!(body(&region, id).velocity().x > cm(20), "{id} stands");
    }
}

#[test]
fn balls_that_bounce_without_loss_keep_their_energy() {
    let mut region = Region::new();
    yard(&mut region, 800);
    let mut dice = Stream::new(&[5; 32], "physics.energy", &[]);
    for place in 0..36_i64 {
        let mut speed = || dice.below(1_001) as i64 - 500;
        let ball = BodySpec {
            velocity: at(speed(), speed()),
            restitution: Fx::ONE,
            friction: Fx::ZERO,
            ..moving(circle(20), at(place % 6 * 250 - 625, place / 6 * 250 - 625))
        };
        put(&mut region, 10 + place as u64, ball);
    }
    let energy = |region: &Region| -> i64 {
        let squares = region
            .bodies()
            .iter()
            .map(|body| body.velocity().length_squared());
        squares.map(|square| square.to_bits() >> 16).sum()
    };
    let before = energy(&region);
    let mut hits = 0;
    for _ in 0..1_200 {
        hits += region.step().len() / 2;
    }

    assert!(hits > 150, "{hits} hits");
    let off = (energy(&region) - before).abs();
    assert!(off < before / 100, "{off} of {before} after {hits} hits");
}

#[test]
fn walls_hold_whoever_is_not_crushed_against_them() {
    for (scene, half) in [(&SCENES[0], 500), (&SCENES[2], 500), (&SCENES[3], 800)] {
        let mut region = (scene.build)();
        for step in 0..1_200 {
            scene.step(&mut region, step);
            let movers = region
                .bodies()
                .iter()
                .filter(|body| body.motion() == Motion::Dynamic);
            for body in movers {
                let place = body.position();
                let inside = |side: Fx| side.saturating_abs() < cm(half);
                let held = inside(place.x) && inside(place.y);
                assert!(held, "{} {step}: {} is at {place}", scene.name, body.id());
            }
        }
    }
}

#[test]
fn a_heavy_crate_is_pushed_by_light_balls_and_a_light_one_is_not_flung_away() {
    let mut region = Region::new();
    let heavy = BodySpec {
        mass: Fx::from_int(10_000),
        ..moving(rect(50, 50), at(0, 0))
    };
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

    // Ten hundredths of a ten-thousandth of 10 m/s.
    let speed = body(&region, 1).velocity().x;
    let off = speed
        .saturating_sub(Fx::from_ratio(1, 1_000))
        .saturating_abs();
    assert!(off < Fx::from_ratio(2, 10_000), "{speed} m/s");
    for id in 2..12 {
        assert!(body(&region, id).velocity().length() < Fx::from_int(10));
    }
}
