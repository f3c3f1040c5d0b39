//! Nothing that a command says makes a step panic, stall, or leave the region's numbers.

use metatopia_math::{Angle, Fx, Stream, Vec2};
use metatopia_physics::{
    BodySpec, JointId, JointKind, JointSpec, Motion, Motor, Polygon, Pose, Region, Shape, Spring,
    limits,
};
use metatopia_physics_rapier::limits::{BODIES_MAX, STATE_BYTES_MAX};
use metatopia_types::ObjectId;

use crate::scenes::{at, body, circle, cm, fixed, moving, put, rect, run};
use crate::{newton2, restored};

/// Draws a number that is often an extreme.
fn number(dice: &mut Stream) -> Fx {
    match dice.below(8) {
        0 => Fx::MAX,
        1 => Fx::MIN,
        2 => Fx::ZERO,
        3 => Fx::from_bits(1),
        4 => Fx::from_int(dice.below(4_000) as i32 - 2_000),
        _ => cm(dice.below(1_000) as i64 - 500),
    }
}

fn vector(dice: &mut Stream) -> Vec2 {
    Vec2::new(number(dice), number(dice))
}

/// Draws a shape, of which many are refused.
fn shape(dice: &mut Stream) -> Shape {
    let size = |dice: &mut Stream| match dice.below(4) {
        0 => limits::SIZE_MIN,
        1 => number(dice),
        _ => cm(10 + dice.below(100) as i64),
    };
    match dice.below(4) {
        0 => Shape::Circle { radius: size(dice) },
        1 => Shape::Rect { half: Vec2::new(size(dice), size(dice)) },
        2 => Shape::Capsule { half: size(dice), radius: size(dice) },
        _ => {
            let corners: Vec<Vec2> = (0..3 + dice.below(6)).map(|_| vector(dice)).collect();
            let triangle = [at(-20, -10), at(20, -10), at(0, 20)];
            Polygon::new(&corners)
                .or_else(|_| Polygon::new(&triangle))
                .map_or(Shape::Circle { radius: Fx::HALF }, Shape::Polygon)
        }
    }
}

/// Draws a joint of any kind, of which many are refused.
fn joint(dice: &mut Stream) -> JointSpec {
    let spring = Spring { frequency: number(dice), damping: number(dice) };
    let motor = (dice.below(2) == 0).then(|| Motor { speed: number(dice), strength: number(dice) });
    let limits = (dice.below(2) == 0).then(|| [number(dice), number(dice)]);
    let kind = match dice.below(5) {
        0 => JointKind::Revolute { limits, motor },
        1 => {
            let rest = (dice.below(2) == 0).then(|| (number(dice), spring));
            JointKind::Distance { min: number(dice), max: number(dice), spring: rest }
        }
        2 => JointKind::Weld { spring: (dice.below(2) == 0).then_some(spring) },
        3 => JointKind::Prismatic { axis: vector(dice), limits, motor },
        _ => JointKind::Target { spring, force: number(dice) },
    };
    let a = (dice.below(4) > 0).then(|| ObjectId(dice.below(40)));
    JointSpec {
        anchor_a: vector(dice),
        anchor_b: vector(dice),
        angle: Angle::EIGHTH,
        collide: dice.below(2) == 0,
        break_force: (dice.below(4) == 0).then(|| number(dice)),
        break_torque: (dice.below(4) == 0).then(|| number(dice)),
        ..JointSpec::new(a, ObjectId(dice.below(40)), kind)
    }
}

/// Gives a command, and returns what the region said, as words.
fn command(region: &mut Region, dice: &mut Stream) -> String {
    let id = ObjectId(dice.below(40));
    let motion = [Motion::Static, Motion::Kinematic, Motion::Dynamic][dice.below(3) as usize];
    match dice.below(12) {
        0..=2 => {
            let spec = BodySpec {
                motion,
                pose: Pose { position: vector(dice), angle: Angle::EIGHTH },
                velocity: vector(dice),
                spin: number(dice),
                mass: number(dice),
                friction: number(dice),
                restitution: number(dice),
                linear_damping: number(dice),
                angular_damping: number(dice),
                sensor: dice.below(5) == 0,
                fixed_rotation: dice.below(5) == 0,
                ..BodySpec::new(shape(dice), motion, Vec2::ZERO)
            };
            format!("{:?}", region.insert(id, &spec))
        }
        3 => format!("{:?}", region.set_velocity(id, vector(dice))),
        4 => format!("{:?}", region.set_spin(id, number(dice))),
        5 => format!("{:?}", region.apply_impulse(id, vector(dice))),
        6 => {
            let pose = Pose { position: vector(dice), angle: Angle::EIGHTH };
            format!("{:?}", region.set_pose(id, pose))
        }
        7 => format!("{:?}", region.set_shape(id, shape(dice), number(dice))),
        8..=10 => {
            let joint = joint(dice);
            format!("{:?}", region.insert_joint(JointId(dice.below(60)), &joint))
        }
        _ => match dice.below(6) {
            0 => format!("{:?}", region.remove(id).map(|body| body.id())),
            1 => format!("{:?}", region.remove_joint(JointId(dice.below(60)))),
            _ => format!("{:?}", region.set_motion(id, motion)),
        },
    }
}

#[test]
fn random_commands_with_extreme_numbers_leave_bodies_that_are_valid_on_every_step() {
    for seed in 0..12_u64 {
        let mut dice = Stream::new(&[7; 32], "newton2.hazards", &[seed]);
        let gravity = if seed % 2 == 0 { at(0, -6_400) } else { Vec2::ZERO };
        let mut region = newton2(Region::new().with_gravity(gravity));
        let (mut frozen, mut joined, mut read_back) = (0, 0, region.clone());
        for step in 0..300 {
            for _ in 0..dice.below(4) {
                let mut same = dice.clone();
                let said = command(&mut region, &mut dice);
                assert_eq!(said, command(&mut read_back, &mut same), "seed {seed} step {step}");
            }
            let touches = region.step();
            assert_eq!(touches, read_back.step(), "seed {seed} step {step}");
            assert_eq!(region, read_back, "seed {seed} step {step}");
            frozen += region.frozen().len();
            joined += region.joints().len();
            for body in region.bodies() {
                assert_eq!(body.check(), Ok(()), "seed {seed} step {step}");
                assert!(region.bounds().contains(body.position()), "seed {seed} step {step}");
            }
            if step % 50 == 0 {
                read_back = restored(&region);
            }
        }
        println!("seed {seed}: {joined} joints in all steps, {frozen} bodies frozen");
        assert_eq!(frozen, 0, "seed {seed}: commands alone make no body that must be frozen");
    }
}

#[test]
fn both_tiers_refuse_the_same_commands_in_the_same_words() {
    let mut refused = 0;
    for seed in 0..6_u64 {
        let mut dice = Stream::new(&[8; 32], "newton2.refusals", &[seed]);
        let (mut first, mut second) = (Region::new(), newton2(Region::new()));
        for step in 0..300 {
            let mut same = dice.clone();
            let said = command(&mut first, &mut dice);
            assert_eq!(said, command(&mut second, &mut same), "seed {seed} command {step}");
            refused += usize::from(said.starts_with("Err"));
        }
    }
    assert!(refused > 300, "only {refused} were refused");
}

/// More posts in one place than a body may have partners once held whoever came into them for as long as they
/// stood: such a body was disabled, and no velocity moved it.
#[test]
fn a_body_walks_out_of_33_posts_in_one_place() {
    let posts = u64::from(limits::PARTNERS_MAX) + 1;
    for sensors in [false, true] {
        let mut region = newton2(Region::new());
        for n in 0..posts {
            let post = BodySpec { sensor: sensors, ..fixed(circle(30), at(0, 0)) };
            put(&mut region, n, post);
        }
        let walker = ObjectId(100);
        put(&mut region, 100, BodySpec { velocity: at(200, 0), ..moving(circle(30), at(-100, 0)) });
        run(&mut region, 60);
        let met = region.contacts().len() as u64;
        let x = body(&region, 100).position().x;
        if sensors {
            assert!(x > cm(60), "it walks through to {x}, past {met}");
        } else {
            assert!(x > cm(-70) && met == posts, "it stands before {met} at {x}");
        }
        region.set_velocity(walker, at(-200, 0)).expect("it moves");
        run(&mut region, 60);
        let back = body(&region, 100).position().x;
        assert!(back < x.saturating_sub(cm(150)), "it comes from {x} to {back}");
    }
}

/// Returns a region of as many bodies as the tier moves, in heaps of so many in one place each.
fn heaps(of: i64) -> Region {
    let mut region = newton2(Region::new());
    for n in 0..BODIES_MAX as i64 {
        let heap = n / of;
        put(&mut region, n as u64, moving(rect(40, 40), at(heap % 20 * 1_500, heap / 20 * 1_500)));
    }
    region
}

#[test]
fn bodies_in_one_place_come_apart_a_few_at_a_time_and_those_that_wait_stand_still() {
    let mut region = newton2(Region::new());
    for n in 0..200 {
        put(&mut region, n, moving(rect(40, 40), at(0, 40)));
    }
    region.step();
    let still = (0..200).filter(|n| body(&region, *n).velocity() == Vec2::ZERO).count();
    assert!(still >= 100, "only {still} wait");
    let mut read_back = region.clone();
    for step in 0..1_500 {
        assert_eq!(region.step(), read_back.step(), "step {step}");
        assert_eq!(region.bodies(), read_back.bodies(), "step {step}");
        if step % 20 == 0 {
            assert_eq!(region, read_back, "step {step}");
            read_back = restored(&read_back);
        }
    }
    let still = (0..200).filter(|n| body(&region, *n).position() == at(0, 40)).count();
    assert!(still < 20, "{still} are still in one place");
}

#[test]
fn all_bodies_in_one_place_or_in_the_densest_heaps_have_a_state_within_its_limit() {
    for of in [BODIES_MAX as i64, i64::from(limits::PARTNERS_MAX) + 1] {
        let mut region = heaps(of);
        for _ in 0..3 {
            region.step();
            let bytes = region.tier_state().expect("a state").len();
            println!("heaps of {of}: {bytes} bytes");
            assert!(bytes < STATE_BYTES_MAX / 2, "{bytes} bytes");
        }
        assert!(region.bodies().iter().all(|body| body.check().is_ok()));
        assert!(region.frozen().is_empty());
    }
}

#[test]
fn the_fastest_body_does_not_tunnel_through_the_thinnest_wall() {
    let wall = Shape::Rect { half: Vec2::new(limits::SIZE_MIN, Fx::from_int(2)) };
    for size in [7, 14, 30, 100] {
        let mut region = newton2(Region::new());
        put(&mut region, 1, fixed(wall.clone(), at(0, 0)));
        let bullet = BodySpec { velocity: at(3_200, 0), ..moving(circle(size), at(-500, 3)) };
        put(&mut region, 2, bullet);
        for _ in 0..90 {
            region.step();
            let x = body(&region, 2).position().x;
            assert!(x < Fx::ZERO, "a ball of {size} cm is behind the wall at {x}");
        }
    }
}

#[test]
fn a_body_inside_a_wall_comes_out_or_stays_and_is_valid() {
    let mut region = newton2(Region::new().with_gravity(at(0, -1_000)));
    put(&mut region, 1, fixed(rect(300, 300), at(0, 0)));
    put(&mut region, 2, moving(rect(20, 20), at(10, 5)));
    run(&mut region, 300);
    let inside = body(&region, 2);
    assert!(inside.check().is_ok() && region.bounds().contains(inside.position()));
}
