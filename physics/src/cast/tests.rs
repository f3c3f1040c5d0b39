use metatopia_math::{Angle, Fx, Stream, Vec2};
use metatopia_types::ObjectId;

use crate::{BodySpec, Motion, Pose, Region, Shape};

/// So many hundredths of a metre.
fn at(x: i64, y: i64) -> Vec2 {
    Vec2::new(Fx::from_ratio(x, 100), Fx::from_ratio(y, 100))
}

fn put(region: &mut Region, id: u64, sensor: bool, spec: BodySpec) {
    let damping = Fx::from_int(4);
    let spec = BodySpec { sensor, linear_damping: damping, angular_damping: damping, ..spec };
    region.insert(ObjectId(id), &spec).expect("a town's bodies fit");
}

/// A town in which nothing stirs: crates and balls in rows that touch, a sensor over all of it, and a
/// place with more walls, more sensors and more balls over one another than anything is looked at
/// with.
fn town() -> Region {
    let mut region = Region::new();
    let ball = |radius: i64| Shape::Circle { radius: Fx::from_ratio(radius, 100) };
    let side = |half: i64| Shape::Rect { half: at(half, half) };
    put(&mut region, 1, true, BodySpec::new(side(9_000), Motion::Static, at(0, 0)));
    for n in 0..200_u64 {
        // Six of them in a row touch.
        let (column, row) = (n as i64 % 20, n as i64 / 20);
        let place = at(column * 61 + column / 6 * 300 - 1_000, row * 300 - 1_500);
        let shape = if n % 3 == 0 { ball(30) } else { side(30) };
        put(&mut region, 10 + n, false, BodySpec::new(shape, Motion::Dynamic, place));
    }
    for n in 0..45_u64 {
        let place = at(3_000 + n as i64 % 7, n as i64 % 5 * 3);
        let wall = BodySpec::new(side(40), Motion::Static, place);
        put(&mut region, 300 + 2 * n, false, wall);
        put(&mut region, 301 + 2 * n, true, BodySpec::new(side(50), Motion::Kinematic, place));
        let lost = BodySpec::new(ball(20 + n as i64 % 3), Motion::Dynamic, place);
        put(&mut region, 400 + n, false, lost);
    }
    while !region.is_still() {
        region.step();
    }
    region
}

/// Something happens to one body.
fn command(region: &mut Region, dice: &mut Stream) {
    let bodies = region.bodies();
    let id = bodies[dice.below(bodies.len() as u64) as usize].id();
    let offset = |dice: &mut Stream, most: u64| dice.below(2 * most + 1) as i64 - most as i64;
    let way = at(offset(dice, 300), offset(dice, 300));
    // Refusals are fine: they are the same for both.
    let _done = match dice.below(9) {
        0..=3 => region.impulse(id, way.scale(Fx::from_int(8))).is_ok(),
        4 => region.set_velocity(id, way).is_ok(),
        5 => region.set_spin(id, way.x).is_ok(),
        6 => region.remove(id).is_ok(),
        7 => {
            let position = region.body(id).map_or(way, |body| body.position().saturating_add(way));
            region.set_pose(id, Pose { position, angle: Angle::from_radians(way.x) }).is_ok()
        }
        _ => {
            let motion = [Motion::Static, Motion::Kinematic, Motion::Dynamic];
            region.set_motion(id, motion[dice.below(3) as usize]).is_ok()
        }
    };
}

#[test]
fn a_step_of_few_comes_to_what_a_step_of_everybody_comes_to() {
    let town = town();
    let mut small = 0;
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
            let touches = few.step();
            small += u32::from(0 < few.looked_at() && few.looked_at() < few.bodies().len());
            let whole = all.step_of(|ground| ground.everybody());
            assert_eq!(touches, whole, "{note}");
            assert!(few == all, "{note}");
            let again = Region::restore(few.bodies().to_vec(), few.contacts().to_vec());
            assert!(again.as_ref() == Ok(&few), "{note}");
            if dice.below(20) == 0 {
                few = again.expect("it was just compared");
            }
        }
    }
    assert!(small > 300, "only {small} steps looked at few");
}
