//! Collisions with static and kinematic bodies.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Region, Shape, limits};
use metatopia_types::ObjectId;

use crate::scenes::{SCENES, at, body, circle, cm, fixed, moving, put, rect, run, yard};

#[test]
fn a_crate_pushed_against_a_wall_penetrates_it_by_less_than_a_centimetre() {
    let mut region = Region::new();
    yard(&mut region, 300);
    let crate_ = BodySpec { mass: Fx::from_int(30), ..moving(rect(40, 40), at(150, 0)) };
    put(&mut region, 10, crate_);

    for _ in 0..300 {
        region.apply_impulse(ObjectId(10), at(1_000, 0)).expect("a crate is dynamic");
        region.step();
        let penetration = body(&region, 10).position().x.saturating_sub(cm(260));
        assert!(penetration < cm(1), "{penetration} m deep");
    }
    run(&mut region, 120);

    let crate_ = body(&region, 10);
    assert!(crate_.is_asleep());
    assert!(crate_.position().x.saturating_sub(cm(260)).saturating_abs() < cm(1));
    assert!(crate_.position().y.saturating_abs() < cm(1));
}

#[test]
fn the_fastest_and_smallest_ball_does_not_tunnel_through_the_thinnest_wall() {
    let wall = Fx::from_ratio(1, 16);
    for radius in [7, 10, 20, 100] {
        for angle in 0..8 {
            let mut region = Region::new();
            let thin = Vec2::new(wall, cm(2_000));
            put(&mut region, 1, fixed(Shape::Rect { half: thin }, at(0, 0)));
            let ball = BodySpec {
                velocity: Vec2::new(limits::SPEED_MAX, cm(angle * 100)),
                restitution: cm(angle * 10),
                ..moving(circle(radius), at(-700 - angle * 3, 0))
            };
            put(&mut region, 2, ball);
            for _ in 0..120 {
                region.step();
                let position = body(&region, 2).position();
                assert!(position.x < Fx::ZERO, "radius {radius}, angle {angle}: at {position:?}");
            }
        }
    }
}

#[test]
fn a_body_stops_at_the_edge_of_the_region() {
    let mut region = Region::new();
    let edge = limits::COORDINATE_MAX;
    let position = Vec2::new(edge.saturating_sub(Fx::ONE), Fx::ZERO);
    put(&mut region, 1, BodySpec { velocity: at(1_000, 100), ..moving(circle(30), position) });

    run(&mut region, 60);

    let ball = body(&region, 1);
    assert_eq!(ball.position().x, edge);
    assert_eq!(ball.velocity(), at(0, 100));
}

#[test]
fn walls_hold_all_bodies_that_nothing_crushes_against_them() {
    for (scene, half) in [(&SCENES[0], 500), (&SCENES[2], 500), (&SCENES[3], 800)] {
        let mut region = (scene.build)();
        for step in 0..1_200 {
            scene.step(&mut region, step);
            let movers = region.bodies().iter().filter(|body| body.motion() == Motion::Dynamic);
            for body in movers {
                let position = body.position();
                let inside = |side: Fx| side.saturating_abs() < cm(half);
                let held = inside(position.x) && inside(position.y);
                assert!(held, "{} {step}: {} is at {position}", scene.name, body.id());
            }
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
    assert_eq!(bar.position(), Vec2::ZERO, "a kinematic body is not pushed back");
    let turned = bar.angle().to_radians().saturating_sub(Fx::ONE).saturating_abs();
    assert!(turned < Fx::from_ratio(1, 10_000), "off by {turned} rad after a second");
}

#[test]
fn a_turning_bar_keeps_to_its_angle_for_a_minute() {
    for spin in [1, 7, 10] {
        let mut region = Region::new();
        let mut bar = BodySpec::new(rect(200, 20), Motion::Kinematic, Vec2::ZERO);
        bar.spin = Fx::from_int(spin);
        put(&mut region, 1, bar);

        run(&mut region, 3_600);

        let expected = Angle::from_radians(Fx::from_int(spin * 60));
        let off = body(&region, 1).angle().wrapping_sub(expected).to_radians();
        assert!(off.saturating_abs() < Fx::from_ratio(1, 100), "spin {spin}: off by {off} rad");
    }
}

#[test]
fn a_moving_door_pushes_a_walker_aside() {
    let mut region = Region::new();
    let mut door = BodySpec::new(rect(100, 10), Motion::Kinematic, at(0, 0));
    door.velocity = at(0, 100);
    put(&mut region, 1, door);
    let walker = BodySpec { fixed_rotation: true, ..moving(circle(30), at(20, 60)) };
    put(&mut region, 2, walker);

    run(&mut region, 60);

    let off = body(&region, 1).position().saturating_sub(at(0, 100));
    assert!(off.length() < Fx::from_ratio(1, 10_000), "off by {off} after a second");
    assert!(body(&region, 2).position().y > cm(139));
    assert_eq!(body(&region, 2).angle(), Angle::ZERO);
}

#[test]
fn a_ball_rolls_along_a_wall_of_many_pieces_without_a_bump() {
    let mut region = Region::new();
    for piece in 0..20 {
        put(&mut region, 1 + piece as u64, fixed(rect(50, 20), at(piece * 100, -20)));
    }
    let ball =
        BodySpec { velocity: at(300, 0), friction: Fx::ZERO, ..moving(circle(30), at(0, 30)) };
    put(&mut region, 100, ball);
    for _ in 0..300 {
        region.apply_impulse(ObjectId(100), at(0, -5)).expect("it is dynamic");
        region.step();
    }

    let ball = body(&region, 100);
    let off = ball.velocity().saturating_sub(at(300, 0)).length();
    assert!(off < cm(10), "{} m/s", ball.velocity());
    assert!(ball.position().y > cm(29), "{}", ball.position());
}
