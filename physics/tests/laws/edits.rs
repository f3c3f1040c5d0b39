//! Bodies that are moved, reshaped, reverted and put back.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{
    Aspect, Body, BodySpec, InsertError, MissingBody, Motion, Pose, Region, ReshapeError,
    RevertError, Shape, ShapeError, SizeError, limits,
};
use metatopia_types::{Movement, ObjectId};

use crate::scenes::{at, body, circle, fixed, moving, put, rect};

const ONE: ObjectId = ObjectId(1);
const GONE: ObjectId = ObjectId(99);

fn spinning() -> Region {
    let mut region = Region::new();
    let spec =
        BodySpec { spin: Fx::from_int(3), velocity: at(100, 50), ..moving(rect(50, 20), at(0, 0)) };
    put(&mut region, 1, spec);
    for _ in 0..37 {
        region.step();
    }
    region
}

#[test]
fn set_position_keeps_the_exact_facing() {
    let mut region = spinning();
    let before = body(&region, 1).clone();

    assert_eq!(region.set_position(ONE, at(500, -300)), Ok(()));

    let movement = body(&region, 1).movement_since(&before).expect("it only moved");
    assert_eq!((movement.facing, movement.velocity), (None, None));
    assert_eq!(body(&region, 1).position(), at(500, -300));
    assert_eq!(region.set_position(GONE, at(0, 0)), Err(MissingBody(GONE)));
    let far = Vec2::new(Fx::MAX, Fx::MIN);
    assert_eq!(region.set_position(ONE, far), Ok(()));
    assert_eq!(body(&region, 1).position().x, limits::COORDINATE_MAX);
}

#[test]
fn set_shape_changes_the_mass_and_the_bounds_of_velocity_and_spin() {
    let mut region = spinning();
    let shape = Shape::Circle { radius: Fx::from_int(8) };

    assert_eq!(region.set_shape(ONE, shape.clone(), Fx::from_int(700)), Ok(()));

    let large = body(&region, 1);
    assert_eq!((large.shape(), large.mass()), (shape.clone(), Fx::from_int(700)));
    assert!(large.spin() <= large.spin_max());
    let size = Fx::from_int(17);
    let refused = region.set_shape(ONE, Shape::Circle { radius: size }, Fx::ONE);
    let limit = limits::MOVING_SIZE_MAX;
    let field = "radius";
    let expected = SizeError { field, size, limit, motion: Motion::Dynamic };
    assert_eq!(refused, Err(ReshapeError::Shape(ShapeError::Size(expected))));
    assert_eq!(
        region.set_shape(GONE, shape, Fx::ONE),
        Err(ReshapeError::Missing(MissingBody(GONE)))
    );
    region.step();
}

#[test]
fn revert_restores_one_aspect_exactly_and_no_other() {
    let mut region = spinning();
    let before = body(&region, 1).clone();
    let pose = Pose { position: at(700, 0), angle: Angle::from_bits(99) };
    let shape = Shape::Circle { radius: Fx::ONE };
    assert_eq!(region.set_pose(ONE, pose), Ok(()));
    assert_eq!(region.set_shape(ONE, shape, Fx::from_int(5)), Ok(()));

    for aspect in [Aspect::Shape, Aspect::Facing, Aspect::Position] {
        assert_eq!(region.revert(&before, aspect), Ok(()));
        let now = body(&region, 1);
        let position = if aspect == Aspect::Position { before.position() } else { at(700, 0) };
        assert_eq!((now.shape(), now.position()), (before.shape(), position), "{aspect:?}");
    }
    let remaining = body(&region, 1).movement_since(&before).expect("it has its shape again");
    assert_eq!(remaining, Movement { slow_steps: remaining.slow_steps, ..Movement::default() });
}

#[test]
fn a_removed_body_is_put_back_as_it_was() {
    let mut region = spinning();
    put(&mut region, 2, fixed(circle(30), at(0, 900)));
    let gone = region.remove(ONE).expect("it is there");
    assert_eq!(region.revert(&gone, Aspect::Facing), Err(RevertError::Missing(MissingBody(ONE))));

    assert_eq!(region.put_back(&gone), Ok(()));

    assert_eq!(body(&region, 1), &gone);
    assert_eq!(region.put_back(&gone), Err(InsertError::Occupied(ONE)));
    let bodies: Vec<ObjectId> = region.bodies().iter().map(Body::id).collect();
    assert_eq!(bodies, [ONE, ObjectId(2)]);
}

#[test]
fn the_bodies_that_touch_a_body_wake_when_it_is_reshaped() {
    let mut region = Region::new();
    put(&mut region, 1, fixed(rect(100, 100), at(0, 0)));
    put(&mut region, 2, moving(circle(50), at(0, 150)));
    while !region.is_asleep() {
        region.step();
    }
    let shape = Shape::Rect { half: at(120, 120) };

    assert_eq!(region.set_shape(ONE, shape, Fx::ONE), Ok(()));

    assert!(!region.is_asleep());
    (0..120).for_each(|_| drop(region.step()));
    let separation = body(&region, 2).position().y.saturating_sub(Fx::from_ratio(170, 100));
    assert!(separation > Fx::from_ratio(-1, 50), "it was pushed out: {separation}");
}
