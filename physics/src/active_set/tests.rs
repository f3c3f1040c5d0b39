use metatopia_math::{Angle, Fx, Stream, Vec2};
use metatopia_types::ObjectId;

use crate::{
    BodySpec, Compound, CompoundPart, JointId, JointKind, Motion, Pose, Region, Shape, Spring,
};

/// Returns a vector in hundredths of a metre.
fn at(x: i64, y: i64) -> Vec2 {
    Vec2::new(Fx::from_ratio(x, 100), Fx::from_ratio(y, 100))
}

/// Inserts a damped body that must fit.
fn put(region: &mut Region, id: u64, sensor: bool, spec: BodySpec) {
    let damping = Fx::from_int(4);
    let spec = BodySpec { sensor, linear_damping: damping, angular_damping: damping, ..spec };
    region.insert(ObjectId(id), &spec).expect("a town's bodies fit");
}

/// Builds a town in which all bodies sleep: crates and balls in rows that touch, a sensor over all of
/// it, and a heap of more walls, sensors and balls in one position than a body has partners.
fn town() -> Region {
    town_of(square)
}

/// Builds such a town whose crates, balls aside, have another shape.
fn town_of(crate_of: fn(i64) -> Shape) -> Region {
    let mut region = Region::new();
    let ball = |radius: i64| Shape::Circle { radius: Fx::from_ratio(radius, 100) };
    let side = square;
    put(&mut region, 1, true, BodySpec::new(side(9_000), Motion::Static, at(0, 0)));
    for n in 0..200_u64 {
        // Six bodies in a row touch.
        let (column, row) = (n as i64 % 20, n as i64 / 20);
        let position = at(column * 61 + column / 6 * 300 - 1_000, row * 300 - 1_500);
        let shape = if n % 3 == 0 { ball(30) } else { crate_of(30) };
        put(&mut region, 10 + n, false, BodySpec::new(shape, Motion::Dynamic, position));
    }
    for n in 0..45_u64 {
        let position = at(3_000 + n as i64 % 7, n as i64 % 5 * 3);
        let wall = BodySpec::new(side(40), Motion::Static, position);
        put(&mut region, 300 + 2 * n, false, wall);
        put(&mut region, 301 + 2 * n, true, BodySpec::new(side(50), Motion::Kinematic, position));
        let buried = BodySpec::new(ball(20 + n as i64 % 3), Motion::Dynamic, position);
        put(&mut region, 400 + n, false, buried);
    }
    while !region.is_asleep() {
        region.step();
    }
    region
}

fn square(half: i64) -> Shape {
    Shape::Rect { half: at(half, half) }
}

/// Returns an L of two boxes that fills three quarters of a square.
fn ell(half: i64) -> Shape {
    let part = |shape, x, y| CompoundPart::new(shape).at(at(x, y));
    let quarter = half / 2;
    let lying = part(Shape::Rect { half: at(half, quarter) }, 0, -quarter);
    let standing = part(Shape::Rect { half: at(quarter, half) }, -quarter, 0);
    Shape::Compound(Compound::new(&[lying, standing]).expect("two parts"))
}

/// Gives one random body a random command.
fn command(region: &mut Region, dice: &mut Stream) {
    let bodies = region.bodies();
    let id = bodies[dice.below(bodies.len() as u64) as usize].id();
    let offset = |dice: &mut Stream, most: u64| dice.below(2 * most + 1) as i64 - most as i64;
    let vector = at(offset(dice, 300), offset(dice, 300));
    // A command may be refused: both regions refuse the same ones.
    let _done = match dice.below(9) {
        0..=3 => region.apply_impulse(id, vector.scale(Fx::from_int(8))).is_ok(),
        4 => region.set_velocity(id, vector).is_ok(),
        5 => region.set_spin(id, vector.x).is_ok(),
        6 => region.remove(id).is_ok(),
        7 => {
            let position =
                region.body(id).map_or(vector, |body| body.position().saturating_add(vector));
            region.set_pose(id, Pose { position, angle: Angle::from_radians(vector.x) }).is_ok()
        }
        _ => {
            let motion = [Motion::Static, Motion::Kinematic, Motion::Dynamic];
            region.set_motion(id, motion[dice.below(3) as usize]).is_ok()
        }
    };
}

/// Builds a town in which joints of all kinds hold many bodies, also over a distance.
fn joined_town() -> Region {
    let mut region = town();
    for n in 0..120_u64 {
        let (a, b) = (ObjectId(10 + n), ObjectId(11 + n + n % 4 * 20));
        let kind = match n % 5 {
            0 => JointKind::Revolute { limits: None, motor: None },
            1 => JointKind::Weld { spring: None },
            2 => JointKind::Distance { min: Fx::ZERO, max: Fx::from_int(9), spring: None },
            3 => {
                let length = Fx::from_int(3);
                JointKind::Distance {
                    min: Fx::ZERO,
                    max: Fx::from_int(40),
                    spring: Some((length, SPRING)),
                }
            }
            _ => JointKind::Prismatic { axis: at(100, 50), limits: None, motor: None },
        };
        // Some have an end that none of the bodies near it is.
        let point = region.body(b).map_or(Vec2::ZERO, crate::Body::position);
        let spec = region.joint_at((n % 9 != 0).then_some(a), b, point, kind);
        let mut spec = spec.expect("both are there");
        if spec.anchor_a.length() > Fx::from_int(16) {
            spec.anchor_a = Vec2::ZERO;
            spec.kind = JointKind::Distance { min: Fx::ZERO, max: Fx::from_int(90), spring: None };
        }
        spec.break_force = (n % 7 == 0).then_some(Fx::from_int(30));
        spec.collide = n % 3 == 0;
        region.insert_joint(JointId(n), &spec).expect("it fits");
    }
    for _ in 0..3_000 {
        region.step();
    }
    region
}

const SPRING: Spring = Spring { frequency: Fx::ONE, damping: Fx::ONE };

#[test]
fn a_step_of_the_active_bodies_equals_a_step_of_all_bodies() {
    partial_steps_equal_whole_ones(&town(), 300);
}

#[test]
fn a_step_of_the_active_bodies_equals_a_step_of_all_bodies_where_joints_hold_them() {
    let town = joined_town();
    assert!(town.is_asleep(), "all comes to rest before anybody pushes");
    partial_steps_equal_whole_ones(&town, 100);
    partial_steps_equal_whole_ones(&town.with_gravity(at(1, 0)), 50);
}

/// Builds a street under gravity: stacks and joined pairs on one long floor, all asleep.
fn street() -> Region {
    street_of(square)
}

fn street_of(crate_of: fn(i64) -> Shape) -> Region {
    let mut region = Region::new().with_gravity(at(0, -1_000));
    let floor = Shape::Rect { half: at(10_000, 100) };
    put(&mut region, 1, false, BodySpec::new(floor, Motion::Static, at(0, -100)));
    for n in 0..180_u64 {
        let side = crate_of(30);
        let position = at(n as i64 / 6 * 300 - 4_500, n as i64 % 6 * 60 + 30);
        put(&mut region, 10 + n, false, BodySpec::new(side, Motion::Dynamic, position));
        if n % 12 == 7 {
            let point = position.saturating_sub(at(0, 30));
            let kind = JointKind::Weld { spring: None };
            let (a, b) = (ObjectId(9 + n), ObjectId(10 + n));
            let spec = region.joint_at(Some(a), b, point, kind).expect("both are there");
            region.insert_joint(JointId(n), &spec).expect("it fits");
            let spec = region.joint_at(None, ObjectId(n + 4), at(0, 500), kind);
            let rope = JointKind::Distance { min: Fx::ZERO, max: Fx::from_int(60), spring: None };
            let spec =
                crate::JointSpec { kind: rope, anchor_b: at(0, 0), ..spec.expect("it is there") };
            region.insert_joint(JointId(1_000 + n), &spec).expect("it fits");
        }
    }
    while !region.is_asleep() {
        region.step();
    }
    region
}

#[test]
fn a_step_of_the_active_bodies_equals_a_step_of_all_bodies_among_compounds() {
    partial_steps_equal_whole_ones(&town_of(ell), 200);
    partial_steps_equal_whole_ones(&street_of(ell), 100);
}

/// A floor that one body moved on once woke all others that stood on it, unless they were left out.
#[test]
fn a_step_of_the_active_bodies_equals_a_step_of_all_bodies_under_gravity() {
    partial_steps_equal_whole_ones(&street(), 300);
}

#[test]
fn what_moves_on_a_floor_leaves_those_asleep_that_stand_on_it() {
    let mut region = street();
    let before = region.bodies().to_vec();
    let ball = Shape::Circle { radius: Fx::HALF };
    let roller = BodySpec::new(ball, Motion::Dynamic, at(-4_750, 60));
    put(&mut region, 900, false, BodySpec { velocity: at(20, 0), ..roller });
    for _ in 0..60 {
        region.step_of(|view, set| view.all_bodies(set));
    }
    assert!(region.bodies().iter().zip(&before).all(|(now, old)| now == old));
}

fn partial_steps_equal_whole_ones(town: &Region, least: u32) {
    let mut partial_steps = 0;
    for seed in 0..12 {
        let (mut few, mut all) = (town.clone(), town.clone());
        let mut dice = Stream::new(&[seed; 32], "physics.cast", &[]);
        for step in 0..120 {
            let note = format!("seed {seed}, step {step}");
            if dice.below(12) == 0 {
                let mut same = Stream::new(&[seed; 32], "physics.cast.command", &[step]);
                command(&mut few, &mut same.clone());
                command(&mut all, &mut same);
            }
            let touches = few.step_events();
            let active = few.active_bodies();
            partial_steps += u32::from(0 < active && active < few.bodies().len());
            let whole = all.step_of(|view, set| view.all_bodies(set));
            assert_eq!(touches, whole, "{note}");
            assert!(few == all, "{note}");
            let again = Region::restore(few.bodies().to_vec(), few.contacts().to_vec())
                .and_then(|again| again.with_joints(few.joints().to_vec()));
            let again = again.map(|again| again.with_gravity(few.gravity()));
            assert!(again.as_ref() == Ok(&few), "{note}");
            if dice.below(20) == 0 {
                few = again.expect("it was just compared");
            }
        }
    }
    assert!(partial_steps > least, "only {partial_steps} steps looked at some of the bodies");
}

#[test]
fn where_small_bodies_lie_close_all_take_part_although_few_move() {
    let mut region = Region::new();
    let disc = Shape::Circle { radius: Fx::from_ratio(1, 16) };
    let place = |n: u64| at(n as i64 % 50 * 15, n as i64 / 50 * 15);
    for n in 0..2_500 {
        let motion = if n % 50 == 0 { Motion::Dynamic } else { Motion::Static };
        put(&mut region, n, false, BodySpec::new(disc.clone(), motion, place(n)));
    }
    let lone = BodySpec::new(disc, Motion::Dynamic, at(9_900, 0));
    put(&mut region, 9_999, false, lone);
    while !region.is_asleep() {
        region.step();
    }

    region.apply_impulse(ObjectId(9_999), at(100, 0)).expect("it is there");
    region.step();
    assert_eq!(region.active_bodies(), 1, "nothing is near it");
    // Hundreds lie around each of them: to find all that they may meet would take ten times as long
    // as the step of all bodies.
    for n in (0..2_500).step_by(50) {
        region.apply_impulse(ObjectId(n), at(100, 0)).expect("it is there");
    }
    region.step();
    assert_eq!(region.active_bodies(), 2_501);
}
