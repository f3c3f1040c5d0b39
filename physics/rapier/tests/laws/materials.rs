//! The rules of materials mean the same on both tiers.

use metatopia_math::Fx;
use metatopia_physics::{BodySpec, CombineRule, Region};

use crate::likeness::assert_near;
use crate::scenes::{at, body, circle, cm, fixed, moving, put, rect, run};
use crate::{newton2, restored};

fn rule(n: usize) -> CombineRule {
    CombineRule::ALL[n % CombineRule::ALL.len()]
}

#[test]
fn a_crate_slides_as_far_on_both_tiers_whatever_the_rules_are() {
    for (own, other) in (0..25).map(|n| (rule(n), rule(n / 5))) {
        let scene = || {
            let mut region = Region::new().with_gravity(at(0, -1_000));
            let floor = fixed(rect(5_000, 100), at(0, -100));
            put(&mut region, 1, BodySpec { friction: cm(40), friction_rule: own, ..floor });
            let crate_ = BodySpec { velocity: at(500, 0), ..moving(rect(60, 20), at(0, 20)) };
            put(&mut region, 2, BodySpec { friction: cm(90), friction_rule: other, ..crate_ });
            region
        };
        let ways = [scene(), newton2(scene())].map(|mut region| {
            run(&mut region, 240);
            body(&region, 2).position().x
        });
        assert_near(ways[0], ways[1], 200, &format!("{own:?} and {other:?}"));
    }
}

#[test]
fn a_ball_comes_back_as_fast_on_both_tiers_whatever_the_rules_are() {
    for (own, other) in (0..25).map(|n| (rule(n), rule(n / 5))) {
        let scene = || {
            let mut region = Region::new();
            let wall = fixed(rect(50, 300), at(150, 0));
            put(&mut region, 1, BodySpec { restitution: cm(30), restitution_rule: own, ..wall });
            let ball = BodySpec { velocity: at(400, 0), ..moving(circle(30), at(60, 0)) };
            put(&mut region, 2, BodySpec { restitution: cm(80), restitution_rule: other, ..ball });
            region
        };
        let speeds = [scene(), newton2(scene())].map(|mut region| {
            run(&mut region, 30);
            body(&region, 2).velocity().x
        });
        assert!(speeds[0] < Fx::ZERO, "it bounces");
        assert_near(speeds[0], speeds[1], 60, &format!("{own:?} and {other:?}"));
    }
}

#[test]
fn a_heap_of_bodies_with_rules_goes_on_from_its_state_with_the_same_bits() {
    let mut region = Region::new().with_gravity(at(0, -1_000));
    put(&mut region, 1, fixed(rect(2_000, 100), at(0, -100)));
    for n in 0..30_usize {
        let spec = BodySpec {
            friction: cm(n as i64 * 7 % 200),
            restitution: cm(n as i64 * 11 % 100),
            friction_rule: rule(n),
            restitution_rule: rule(n / 5),
            ..moving(rect(22, 15), at(n as i64 % 5 * 40, 40 + n as i64 / 5 * 60))
        };
        put(&mut region, 10 + n as u64, spec);
    }
    let mut region = newton2(region);
    region.step();
    let mut other = restored(&region);
    for step in 0..200 {
        region.step();
        other.step();
        assert_eq!(other.bodies(), region.bodies(), "step {step}");
        assert_eq!(other.tier_state(), region.tier_state(), "step {step}");
        other = restored(&other);
    }
}
