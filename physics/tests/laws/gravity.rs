//! Gravity, and what stands and sleeps under it.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Region, limits};
use metatopia_types::ObjectId;

use crate::scenes::{at, body, circle, cm, fixed, moving, polygon, put, rect, run};

fn floor() -> Region {
    let mut region = Region::new().with_gravity(at(0, -1_000));
    put(&mut region, 1, fixed(rect(2_000, 50), at(0, -50)));
    region
}

#[test]
fn a_body_falls_as_far_as_gravity_says_and_nothing_falls_without_it() {
    let mut region = Region::new().with_gravity(at(0, -1_000));
    put(&mut region, 1, moving(circle(30), at(0, 0)));
    put(&mut region, 2, BodySpec::new(circle(30), Motion::Kinematic, at(500, 0)));
    put(&mut region, 3, fixed(circle(30), at(900, 0)));

    run(&mut region, 60);

    let off = body(&region, 1).position().y.saturating_add(Fx::from_int(5)).saturating_abs();
    assert!(off < cm(3), "off by {off} m after a second");
    let off = body(&region, 1).velocity().y.saturating_add(Fx::from_int(10)).saturating_abs();
    assert!(off < Fx::from_ratio(1, 1_000), "off by {off} m/s");
    assert_eq!(body(&region, 2).position(), at(500, 0));

    let mut still = Region::new();
    put(&mut still, 1, moving(circle(30), at(0, 0)));
    run(&mut still, 60);
    assert_eq!(body(&still, 1).position(), Vec2::ZERO);
}

#[test]
fn gravity_is_shortened_to_its_limit() {
    let strong = Region::new().with_gravity(Vec2::new(Fx::MIN, Fx::ZERO));
    assert_eq!(strong.gravity(), Vec2::new(limits::GRAVITY_MAX.saturating_neg(), Fx::ZERO));
    assert_eq!(Region::new().gravity(), Vec2::ZERO);
    assert_ne!(strong, Region::new());
}

#[test]
fn a_stack_of_twenty_crates_stands_for_a_minute_and_sleeps() {
    let mut region = floor();
    for n in 0..20 {
        put(&mut region, 10 + n, moving(rect(50, 50), at(0, 50 + 100 * n as i64)));
    }

    run(&mut region, 3_600);

    let top = body(&region, 29);
    assert!(top.position().x.saturating_abs() < cm(5), "{}", top.position());
    // Each crate sinks by a centimetre: contacts give way by 4 mm, and more while weight comes onto them.
    assert!(top.position().y > cm(1_950 - 25), "{}", top.position());
    assert!(region.is_asleep());
}

#[test]
fn a_pyramid_of_twenty_rows_stands() {
    let mut region = floor();
    let mut id = 10;
    for row in 0..20_i64 {
        for column in 0..20 - row {
            let position = at(column * 100 + row * 50 - 950, 50 + row * 100);
            put(&mut region, id, moving(rect(50, 50), position));
            id += 1;
        }
    }

    run(&mut region, 600);

    let top = body(&region, id - 1);
    let off = top.position().distance(at(0, 1_950));
    assert!(off < cm(20), "the top is {off} m from where it was");
}

#[test]
fn a_sleeping_stack_falls_when_what_carries_it_is_removed_or_sinks() {
    for sinks in [false, true] {
        let mut region = floor();
        put(&mut region, 2, BodySpec::new(rect(100, 20), Motion::Kinematic, at(0, 300)));
        for n in 0..3 {
            put(&mut region, 10 + n, moving(rect(30, 30), at(0, 350 + 60 * n as i64)));
        }
        run(&mut region, 600);
        assert!(region.is_asleep());
        if sinks {
            region.set_velocity(ObjectId(2), at(0, -20)).expect("it moves");
            run(&mut region, 60);
            let gap = body(&region, 10).position().y.saturating_sub(body(&region, 2).position().y);
            assert!(gap.saturating_sub(cm(50)).saturating_abs() < cm(2), "{gap} m");
        } else {
            region.remove(ObjectId(2)).expect("it is there");
            run(&mut region, 300);
            let top = body(&region, 12).position();
            assert!(top.y < cm(160), "{top}");
        }
    }
}

#[test]
fn dominoes_fall_one_after_another() {
    let mut region = floor();
    for n in 0..12 {
        put(&mut region, 10 + n, moving(rect(8, 60), at(n as i64 * 60, 60)));
    }
    region.set_velocity(ObjectId(10), at(80, 0)).expect("it moves");
    region.set_spin(ObjectId(10), cm(-200)).expect("it moves");

    run(&mut region, 600);

    for n in 0..12 {
        assert!(body(&region, 10 + n).position().y < cm(50), "domino {n} stands");
    }
}

#[test]
fn a_ball_that_bounces_gains_no_height() {
    let mut region = floor();
    let ball = BodySpec { restitution: Fx::ONE, ..moving(circle(30), at(0, 330)) };
    put(&mut region, 2, ball);
    let mut top = Fx::ZERO;
    for step in 0..1_200 {
        region.step();
        if step > 60 {
            top = top.max(body(&region, 2).position().y);
        }
    }
    assert!(top < cm(331), "{top} m");
    assert!(top > cm(280), "{top} m");
}

#[test]
fn what_falls_fast_does_not_tunnel() {
    for shape in [circle(7), rect(7, 7), polygon(&[(-20, -12), (20, -12), (0, 23)])] {
        let mut region = Region::new().with_gravity(at(0, -6_400));
        put(&mut region, 1, fixed(rect(300, 7), at(0, 0)));
        put(&mut region, 2, moving(shape.clone(), at(0, 2_000)));
        run(&mut region, 300);
        assert!(body(&region, 2).position().y > Fx::ZERO, "{shape:?}");
    }
}

#[test]
fn without_sleep_nothing_falls_asleep() {
    let mut region = floor().with_sleeping(false);
    put(&mut region, 2, moving(rect(30, 30), at(0, 30)));
    run(&mut region, 200);
    assert!(!body(&region, 2).is_asleep());
}
