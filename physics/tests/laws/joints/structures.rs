//! Chains, bridges and ragdolls.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Filter, JointKind, Motor, Region};

use super::{HINGE, falling, join, widest_gap};
use crate::scenes::{at, body, capsule, circle, cm, fixed, moving, put, rect, run};

#[test]
fn a_chain_of_twenty_hangs_still() {
    let mut region = falling();
    for link in 0..20_i64 {
        put(&mut region, 10 + link as u64, moving(rect(8, 20), at(0, -20 - link * 40)));
        let above = (link > 0).then(|| 9 + link as u64);
        join(&mut region, link as u64, above, 10 + link as u64, at(0, -link * 40), HINGE);
    }
    // Hung up straight it stays; pushed, it comes to rest.
    run(&mut region, 120);
    assert!(region.is_asleep());
    assert!(widest_gap(&region) < cm(2), "{}", widest_gap(&region));
    assert!(body(&region, 29).position().distance(at(0, -780)) < cm(15));
}

#[test]
fn a_chain_that_falls_from_the_side_comes_to_rest_below_its_hook() {
    let mut region = falling();
    for link in 0..20_i64 {
        let spec = BodySpec {
            linear_damping: cm(50),
            angular_damping: cm(50),
            ..moving(rect(20, 8), at(20 + link * 40, 0))
        };
        put(&mut region, 10 + link as u64, spec);
        let before = (link > 0).then(|| 9 + link as u64);
        join(&mut region, link as u64, before, 10 + link as u64, at(link * 40, 0), HINGE);
    }
    let mut widest = Fx::ZERO;
    for _ in 0..3_000 {
        region.step();
        widest = widest.max(widest_gap(&region));
    }
    assert!(widest < cm(25), "{widest} m");
    assert!(region.is_asleep());
    assert!(body(&region, 29).position().distance(at(0, -780)) < cm(20));
}

#[test]
fn a_bridge_of_planks_carries_crates() {
    let mut region = falling();
    bridge(&mut region, 14);
    for n in 0..4_i64 {
        put(&mut region, 50 + n as u64, moving(rect(30, 30), at(-150 + n * 100, 200)));
    }
    run(&mut region, 1_200);

    assert!(widest_gap(&region) < cm(5), "{}", widest_gap(&region));
    for n in 0..4 {
        let at = body(&region, 50 + n).position();
        assert!(at.y > cm(-350), "crate {n} fell to {at}");
    }
    assert!(region.is_asleep());
}

/// Builds a bridge of planks between two posts.
fn bridge(region: &mut Region, planks: i64) {
    let half = planks * 30;
    for (id, x) in [(1, -half - 100), (2, half + 100)] {
        put(region, id, fixed(rect(100, 20), at(x, 0)));
    }
    for plank in 0..planks {
        let id = 10 + plank as u64;
        put(
            region,
            id,
            BodySpec {
                mass: Fx::from_int(2),
                ..moving(rect(29, 8), at(plank * 60 - half + 30, 0))
            },
        );
        let before = if plank == 0 { 1 } else { id - 1 };
        join(region, id, Some(before), id, at(plank * 60 - half, 0), HINGE);
    }
    join(region, 99, Some(9 + planks as u64), 2, at(half, 0), HINGE);
}

/// Builds a body of eleven parts, whose hinges turn as far as ours do, with its hips at a place.
fn ragdoll(region: &mut Region, first: u64, hips: Vec2) {
    // A motor that stands still is the friction of a hinge.
    let friction = Some(Motor { speed: Fx::ZERO, strength: Fx::ONE });
    let hinge =
        |low, high| JointKind::Revolute { limits: Some([cm(low), cm(high)]), motor: friction };
    // Part, its place from the hips, the part that it hangs on, the joint, and how far it turns.
    let parts = [
        (rect(15, 12), (0, 0), None, (0, 0), (0, 0)),
        (rect(17, 22), (0, 34), Some(0), (0, 12), (-40, 80)),
        (circle(14), (0, 75), Some(1), (0, 58), (-60, 60)),
        (capsule(13, 7), (-28, 48), Some(1), (-14, 50), (-150, 150)),
        (capsule(13, 7), (28, 48), Some(1), (14, 50), (-150, 150)),
        (capsule(13, 7), (-60, 48), Some(3), (-44, 48), (-10, 200)),
        (capsule(13, 7), (60, 48), Some(4), (44, 48), (-200, 10)),
        (rect(7, 20), (-9, -30), Some(0), (-9, -10), (-120, 80)),
        (rect(7, 20), (9, -30), Some(0), (9, -10), (-80, 120)),
        (rect(7, 20), (-9, -72), Some(7), (-9, -50), (-5, 200)),
        (rect(7, 20), (9, -72), Some(8), (9, -50), (-200, 5)),
    ];
    for (n, (shape, (x, y), on, (jx, jy), (low, high))) in (0..).zip(parts) {
        let mass = Fx::from_int(3);
        let position = hips.saturating_add(at(x, y));
        // Its parts do not meet each other.
        let category = 1 << (first / 20);
        let filter = Filter { category, mask: !category };
        put(region, first + n, BodySpec { mass, filter, ..moving(shape, position) });
        if let Some(on) = on {
            let joint = hips.saturating_add(at(jx, jy));
            join(region, first + n, Some(first + on), first + n, joint, hinge(low, high));
        }
    }
}

#[test]
fn ragdolls_fall_in_a_heap_and_come_to_rest() {
    let mut region = falling();
    put(&mut region, 1, fixed(rect(600, 50), at(0, -50)));
    for n in 0..4 {
        ragdoll(&mut region, 100 + 20 * n, at(n as i64 * 30, 200 + n as i64 * 250));
    }
    let mut widest = Fx::ZERO;
    for _ in 0..1_800 {
        region.step();
        widest = widest.max(widest_gap(&region));
    }
    assert!(widest < cm(20), "{widest} m");
    assert!(region.is_asleep());
    let lowest = region.bodies().iter().skip(1).map(|body| body.position().y).min();
    assert!(lowest.is_some_and(|y| y > Fx::ZERO), "{lowest:?}");
}

#[test]
fn a_seesaw_tips_to_the_heavier_side() {
    let mut region = falling();
    put(&mut region, 1, fixed(rect(500, 20), at(0, -20)));
    put(&mut region, 2, moving(rect(200, 8), at(0, 60)));
    join(&mut region, 1, None, 2, at(0, 60), HINGE);
    put(&mut region, 3, moving(rect(20, 20), at(-150, 90)));
    put(&mut region, 4, BodySpec { mass: Fx::from_int(4), ..moving(rect(20, 20), at(150, 90)) });

    run(&mut region, 600);

    assert!(body(&region, 2).angle().sin() < cm(-20));
    assert!(widest_gap(&region) < cm(1));
}
