//! Materials: what a body of a density weighs, and how two materials that meet become one.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{
    BodySpec, CombineRule, Filter, Region,
    limits::{BODY_BYTES_MAX, CORNERS_MAX, MASS_MAX, MASS_MIN},
};
use metatopia_types::{ObjectId, wire};

use crate::scenes::{at, body, circle, cm, fixed, moving, polygon, put, rect, run};

#[test]
fn the_mass_of_a_body_is_its_area_times_its_density_within_the_limits_of_masses() {
    let mass = |spec: BodySpec, density: Fx| {
        let mut region = Region::new();
        put(&mut region, 1, spec.clone().with_density(density));
        assert_eq!(body(&region, 1).mass(), spec.with_density(density).mass, "told as it becomes");
        body(&region, 1).mass()
    };
    let crate_ = moving(rect(50, 100), Vec2::ZERO);
    assert_eq!(mass(crate_.clone(), Fx::from_int(30)), Fx::from_int(60));
    let ramp = moving(polygon(&[(-100, -100), (200, -100), (-100, 200)]), Vec2::ZERO);
    assert_eq!(mass(ramp, Fx::from_int(2)), Fx::from_int(9));
    for (density, limit) in [
        (Fx::MAX, MASS_MAX),
        (Fx::from_int(1_000_000), MASS_MAX),
        (Fx::ULP, MASS_MIN),
        (Fx::ZERO, MASS_MIN),
        (Fx::MIN, MASS_MIN),
    ] {
        assert_eq!(mass(crate_.clone(), density), limit, "{density}");
    }
}

/// Slides a crate over a floor, each with a friction in hundredths and a rule, and returns how far it gets.
fn way(floor: (i64, CombineRule), crate_: (i64, CombineRule)) -> Fx {
    let mut region = Region::new().with_gravity(at(0, -1_000));
    let made = |(friction, friction_rule), spec| BodySpec {
        friction: cm(friction),
        friction_rule,
        ..spec
    };
    put(&mut region, 1, made(floor, fixed(rect(5_000, 100), at(0, -100))));
    let slides = BodySpec { velocity: at(500, 0), ..moving(rect(60, 20), at(0, 20)) };
    put(&mut region, 2, made(crate_, slides));
    run(&mut region, 240);
    body(&region, 2).position().x
}

#[test]
fn a_crate_slides_as_far_as_the_rule_of_both_frictions_lets_it() {
    use CombineRule::{Average, Maximum, Minimum, Multiply, Usual};
    // v^2 / 2 / gravity is 1.25 m at a friction of one.
    for (floor, crate_, friction) in [
        ((100, Usual), (25, Usual), 50),
        ((100, Usual), (20, Average), 60),
        ((20, Minimum), (100, Usual), 20),
        ((50, Multiply), (80, Minimum), 40),
        ((0, Minimum), (100, Maximum), 100),
    ] {
        let wanted = Fx::from_ratio(125, friction);
        for x in [way(floor, crate_), way(crate_, floor)] {
            let off = x.saturating_sub(wanted).saturating_abs();
            assert!(off < wanted.saturating_mul(cm(8)), "{floor:?} {crate_:?}: {x}, not {wanted}");
        }
    }
    assert!(way((0, Usual), (100, Usual)) > Fx::from_int(19), "ice is as it was");
}

#[test]
fn a_ball_bounces_as_the_rule_of_both_restitutions_says() {
    let back = |floor: CombineRule, ball: CombineRule| {
        let mut region = Region::new();
        let wall = fixed(rect(50, 300), at(150, 0));
        put(&mut region, 1, BodySpec { restitution_rule: floor, ..wall });
        put(
            &mut region,
            2,
            BodySpec {
                restitution: Fx::ONE,
                restitution_rule: ball,
                velocity: at(400, 0),
                ..moving(circle(30), at(60, 0))
            },
        );
        run(&mut region, 30);
        body(&region, 2).velocity().x.saturating_neg()
    };
    for (floor, ball, speed) in [
        (CombineRule::Usual, CombineRule::Usual, 400),
        (CombineRule::Usual, CombineRule::Average, 200),
        (CombineRule::Minimum, CombineRule::Usual, 0),
        (CombineRule::Multiply, CombineRule::Minimum, 0),
        (CombineRule::Minimum, CombineRule::Maximum, 400),
    ] {
        let off = back(floor, ball).saturating_sub(cm(speed)).saturating_abs();
        assert!(off < cm(5), "{floor:?} {ball:?}: off by {off}");
    }
}

/// A heap of bodies of every rule in a pit.
fn heap() -> Region {
    let mut region = Region::new().with_gravity(at(0, -1_000));
    for (id, (x, y)) in [(0, -100), (-300, 200), (300, 200)].into_iter().enumerate() {
        let shape = if x == 0 { rect(400, 100) } else { rect(50, 300) };
        put(&mut region, id as u64, fixed(shape, at(x, y)));
    }
    for n in 0..40_i64 {
        let rule = |n: i64| CombineRule::ALL[n as usize % CombineRule::ALL.len()];
        let shape = if n % 2 == 0 { circle(20) } else { rect(22, 15) };
        let spec = BodySpec {
            friction: cm(n * 7 % 200),
            restitution: cm(n * 11 % 100),
            friction_rule: rule(n),
            restitution_rule: rule(n / 5),
            sensor: n == 39,
            ..moving(shape, at(n % 5 * 60 - 120, 40 + n / 5 * 60))
        };
        put(&mut region, 10 + n as u64, spec.with_density(Fx::from_int(20)));
    }
    region
}

#[test]
fn a_region_with_rules_goes_on_from_its_snapshot_with_the_same_bits() {
    let (mut region, mut restored) = (heap(), heap());
    for step in 0..400 {
        let bytes = restored.snapshot();
        restored = Region::from_snapshot(&bytes).expect("a snapshot that a region wrote");
        assert_eq!(restored.snapshot(), bytes, "step {step}");
        restored.step();
        region.step();
        assert_eq!(restored.bodies(), region.bodies(), "step {step}");
        assert_eq!(restored.digest(), region.digest(), "step {step}");
    }
}

#[test]
fn a_body_without_rules_has_the_bytes_that_it_had_before_there_were_any() {
    let bytes = |spec: BodySpec| wire::encode(&spec);
    let usual = moving(circle(20), Vec2::ZERO);
    // The role is the last but one byte of this spec, as `fixed_rotation` is the last.
    assert_eq!(bytes(usual.clone()).split_last_chunk::<2>().map(|(_, end)| *end), Some([0, 0]));
    let ruled = BodySpec { restitution_rule: CombineRule::Minimum, ..usual.clone() };
    let end = [4, 255, 255, 255, 255, 15, 255, 255, 255, 255, 15, 0, 2, 0];
    assert!(bytes(ruled.clone()).ends_with(&end), "{:?}", bytes(ruled));
    for spec in [usual, ruled.clone(), BodySpec { sensor: true, ..ruled }] {
        assert_eq!(wire::decode::<BodySpec>(&bytes(spec.clone()), 256), Ok(spec));
    }
}

#[test]
fn the_longest_body_that_there_is_fits_its_limit() {
    let round: Vec<(i64, i64)> = [(1, 3), (-1, 3), (-3, 1), (-3, -1), (-1, -3), (1, -3), (3, -1)]
        .into_iter()
        .chain([(3, 1)])
        .map(|(x, y)| (x * 501, y * 499))
        .collect();
    assert_eq!(round.len(), CORNERS_MAX);
    let spec = BodySpec {
        mass: MASS_MAX,
        friction: Fx::MAX,
        restitution: Fx::MAX,
        linear_damping: Fx::MAX,
        angular_damping: Fx::MAX,
        velocity: at(-2_200, 2_200),
        spin: Fx::MIN,
        sensor: true,
        filter: Filter { category: u32::MAX, mask: u32::MAX - 1 },
        friction_rule: CombineRule::Maximum,
        restitution_rule: CombineRule::Maximum,
        ..moving(polygon(&round), at(-102_400, 102_399))
    };
    let mut region = Region::new();
    put(&mut region, u64::MAX, spec);
    let bytes = wire::encode(region.body(ObjectId(u64::MAX)).expect("it is in"));
    assert!((140..=BODY_BYTES_MAX).contains(&bytes.len()), "{}", bytes.len());
}
