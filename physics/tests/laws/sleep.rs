//! How bodies fall asleep, and what wakes them.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Changes, Pose, Region, limits};
use metatopia_types::ObjectId;

use crate::scenes::{at, body, circle, cm, moving, put, rect, run, yard};

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
                .apply_impulse(ObjectId(10), Vec2::new(Fx::from_ratio(100, 60), Fx::ZERO))
                .expect("dynamic");
            region.step();
            if friction == 0 {
                let speed = body(&region, 10).velocity().y;
                assert!(speed > cm(399), "step {step}: {speed}");
            }
        }
        body(&region, 10).clone()
    };

    // The walls have the friction one half, so that of the contact is sqrt(1/2 * 1/2). That makes
    // 5 m/s^2, which stops the crate after 0.8 s.
    let stopped = slide(50);
    assert!(stopped.velocity().y.saturating_abs() < cm(2), "{:?}", stopped.velocity());
    let slid = stopped.position().y.saturating_add(cm(700));
    assert!(slid > cm(140) && slid < cm(180), "slid {slid} m, where 1.6 were expected");
    slide(0);
}

#[test]
fn damping_stops_a_body_without_contacts() {
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
    assert!(ball.is_asleep());
    // The distance of an exponential decay is velocity / damping.
    assert!(ball.position().x.saturating_sub(cm(250)).saturating_abs() < cm(3));
    assert!(ball.position().y.saturating_sub(cm(-150)).saturating_abs() < cm(3));
}

#[test]
fn a_pile_pressed_together_stays_together_and_falls_asleep() {
    let mut region = Region::new();
    yard(&mut region, 200);
    for index in 0..25_i64 {
        let crate_ = BodySpec {
            linear_damping: Fx::from_int(4),
            angular_damping: Fx::from_int(4),
            ..moving(rect(36, 36), at(index % 5 * 78 - 156, index / 5 * 78 - 156))
        };
        put(&mut region, 10 + index as u64, crate_);
    }
    for _ in 0..240 {
        for id in 10..35 {
            region.apply_impulse(ObjectId(id), Vec2::new(cm(20), cm(10))).expect("dynamic");
        }
        region.step();
    }
    run(&mut region, 300);

    assert!(region.is_asleep());
    for id in 10..35 {
        let position = body(&region, id).position();
        let inside = |x: Fx| x.saturating_abs() < cm(165);
        assert!(inside(position.x) && inside(position.y), "{id} is at {position:?}");
    }
    for a in 10..35 {
        for b in 10..a {
            let distance = body(&region, a).position().distance(body(&region, b).position());
            assert!(distance > cm(70), "{a} is inside {b}");
        }
    }
}

#[test]
fn a_sleeping_region_does_not_change_by_a_bit_until_a_command_changes_it() {
    let mut region = Region::new();
    yard(&mut region, 300);
    for id in 10..20 {
        let position = at((id as i64 - 15) * 40, id as i64 % 3 * 70);
        let damped = BodySpec { linear_damping: cm(200), ..moving(rect(22, 22), position) };
        put(&mut region, id, BodySpec { velocity: at(100, -50), ..damped });
    }
    run(&mut region, 1_200);
    assert!(region.is_asleep());
    let before = region.clone();

    run(&mut region, 1_000);
    assert_eq!(region, before);

    // A command that asks for what is so already changes nothing either.
    let (position, angle) = (body(&region, 12).position(), body(&region, 12).angle());
    region.set_velocity(ObjectId(12), Vec2::ZERO).expect("dynamic");
    region.apply_impulse(ObjectId(12), Vec2::ZERO).expect("dynamic");
    assert!(region.is_asleep());
    let pose = Pose { position: position.saturating_add(at(1, 0)), angle };
    region.set_pose(ObjectId(12), pose).expect("it is there");
    assert!(!region.is_asleep());
}

#[test]
fn a_collision_wakes_a_row_of_sleeping_bodies() {
    let mut region = Region::new();
    for id in 1..=5_i64 {
        put(&mut region, id as u64, moving(circle(25), at(id * 50, 0)));
    }
    run(&mut region, 60);
    assert!(region.is_asleep());

    put(&mut region, 9, BodySpec { velocity: at(500, 0), ..moving(circle(25), at(-100, 0)) });
    run(&mut region, 60);

    for id in 1..=5 {
        assert!(body(&region, id).velocity().x > cm(20), "{id} does not move");
    }
}

#[test]
fn a_step_looks_only_at_awake_bodies_and_those_that_they_can_move() {
    const ROW: u64 = 100;
    let mut region = Region::new();
    for n in 0..10_000_u64 {
        let position = at((n % ROW) as i64 * 200 - 9_900, (n / ROW) as i64 * 200 - 9_900);
        put(&mut region, n, moving(rect(40, 40), position));
    }
    for n in 0..10 {
        put(&mut region, 10_000 + n, moving(circle(50), at(n as i64 * 100, 11_000)));
    }
    while !region.is_asleep() {
        region.step();
    }
    region.step();
    assert_eq!(region.active_bodies(), 0, "nothing moves");

    region.set_velocity(ObjectId(5_050), at(50, 0)).expect("dynamic");
    region.step();
    assert_eq!(region.active_bodies(), 1, "it has two metres to itself");

    region.set_velocity(ObjectId(5_050), Vec2::ZERO).expect("dynamic");
    region.set_spin(ObjectId(10_000), cm(10)).expect("dynamic");
    region.step();
    let chain = limits::SUBSTEPS as usize + 1;
    assert_eq!(region.active_bodies(), 1 + chain, "a push passes one body in each substep");

    for id in 0..200 {
        region.set_velocity(ObjectId(id * 49), at(0, 100)).expect("dynamic");
    }
    region.step();
    let active_bodies = region.active_bodies();
    assert!((200..=200 + 1 + chain).contains(&active_bodies), "{active_bodies} for 200 that move");
}

#[test]
fn take_changes_returns_each_change_once() {
    let mut region = Region::new();
    for id in 1..=50 {
        put(&mut region, id, moving(circle(25), at(id as i64 * 100, 0)));
    }
    assert_eq!(region.take_changes().bodies.len(), 50);
    while !region.is_asleep() {
        region.step();
    }
    region.take_changes();
    region.step();
    assert_eq!(
        region.take_changes(),
        Changes { bodies: Vec::new(), contacts: false, joints: false, tier: false }
    );

    region.set_velocity(ObjectId(7), at(300, 0)).expect("dynamic");
    region.step();
    assert_eq!(region.take_changes().bodies, [ObjectId(7)]);
    run(&mut region, 15);
    let changes = region.take_changes();
    assert_eq!(
        changes,
        Changes {
            bodies: vec![ObjectId(7), ObjectId(8)],
            contacts: true,
            joints: false,
            tier: false
        }
    );

    region.touch_all();
    assert_eq!(region.take_changes().bodies.len(), 50);
}
