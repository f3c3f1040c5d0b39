//! Ghosts: bodies of another region beside this one.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{
    BodySpec, Bounds, Filter, JointError, JointKind, JointSpec, MissingBody, Motion, Region,
    ShapeCast,
    limits::{GHOSTS_FROM, PARTNERS_MAX},
};
use metatopia_types::ObjectId;

use crate::scenes::{at, body, circle, cm, fixed, moving, put, rect, run};

const GHOST: u64 = GHOSTS_FROM.0;
const NOBODY: ObjectId = ObjectId(u64::MAX);

fn ghost(position: Vec2, velocity: Vec2) -> BodySpec {
    BodySpec { velocity, ..BodySpec::new(circle(50), Motion::Kinematic, position) }
}

#[test]
fn a_ghost_pushes_and_is_not_pushed_and_stands_outside_of_the_bounds() {
    let bounds = Bounds::new(at(-1_000, -1_000), at(0, 1_000)).expect("a piece of ground");
    let mut region = Region::new().with_bounds(bounds).expect("nobody is outside");
    put(&mut region, 1, moving(circle(50), at(0, 0)));
    put(&mut region, GHOST, ghost(at(300, 0), at(-200, 0)));
    assert_eq!(body(&region, GHOST).position(), at(300, 0));

    run(&mut region, 120);

    assert_eq!(body(&region, GHOST).velocity(), at(-200, 0));
    assert!(body(&region, GHOST).position().x.saturating_add(cm(100)).saturating_abs() < cm(1));
    assert!(body(&region, 1).position().x < cm(-190), "{:?}", body(&region, 1).position());
    let narrower = Bounds::new(at(-900, -900), at(-150, 900)).expect("a piece of ground");
    assert!(region.clone().with_bounds(narrower).is_ok(), "only the ghost is outside");
    let restored = Region::restore(region.bodies().to_vec(), region.contacts().to_vec());
    let restored = restored.expect("a state").with_bounds(bounds).expect("bounds");
    assert_eq!(restored, region);
}

#[test]
fn no_query_no_sensor_and_no_joint_meets_a_ghost() {
    let mut region = Region::new();
    put(&mut region, 1, BodySpec { sensor: true, ..fixed(rect(300, 300), Vec2::ZERO) });
    put(&mut region, GHOST, ghost(at(50, 0), at(10, 0)));
    assert!(region.step().is_empty(), "the sensor does not notice it");
    let own = vec![ObjectId(1)];
    let ids = |radius| {
        let near = region.nearby(Vec2::ZERO, cm(radius), 9).into_iter();
        near.map(|near| near.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(200), own);
    assert_eq!((region.at(at(50, 0)), region.overlapping(Vec2::ZERO, cm(90))), (own.clone(), own));
    assert_eq!(region.ray_cast(at(-500, 0), at(500, 0), NOBODY).0, None);
    let (pose, way) = (Default::default(), at(400, 0));
    let cast = ShapeCast { shape: circle(10), pose, way, skip: NOBODY, filter: Filter::ALL };
    assert_eq!(region.shape_cast(&cast).expect("a shape").0, None);
    assert_eq!(region.reaching(Fx::ZERO).count(), 1);
    let kind = JointKind::Revolute { limits: None, motor: None };
    let missing = MissingBody(ObjectId(GHOST));
    assert_eq!(region.joint_at(None, ObjectId(GHOST), Vec2::ZERO, kind), Err(missing));
    let spec = JointSpec::new(Some(ObjectId(GHOST)), ObjectId(1), kind);
    assert_eq!(region.check_joint(&spec), Err(JointError::Body(missing)));
}

#[test]
fn a_still_ghost_lets_what_leans_on_it_sleep() {
    for gravity in [Vec2::ZERO, at(0, -1_000)] {
        let mut region = Region::new().with_gravity(gravity);
        put(&mut region, 1, fixed(rect(500, 50), at(0, -100)));
        put(&mut region, 2, moving(rect(20, 20), at(0, 70)));
        put(&mut region, GHOST, BodySpec::new(rect(50, 50), Motion::Kinematic, Vec2::ZERO));
        run(&mut region, 120);
        assert!(region.is_asleep());
        region.remove(ObjectId(GHOST)).expect("it is there");
        region.step();
        assert!(gravity == Vec2::ZERO || !region.is_asleep(), "it falls");
    }
}

#[test]
fn as_many_ghosts_as_there_can_be_take_no_wall_from_anybody() {
    let fall = |ghosts: u64| {
        let mut region = Region::new().with_gravity(at(0, -1_000));
        put(&mut region, 1, fixed(rect(500, 50), at(0, -50)));
        put(&mut region, 2, moving(circle(20), at(0, 20)));
        for n in 0..ghosts {
            // All of them overlap the ball, and the broad phase comes to them before the floor.
            put(&mut region, GHOST + n, BodySpec::new(rect(800, 7), Motion::Kinematic, at(0, 46)));
        }
        run(&mut region, 60);
        body(&region, 2).position().y
    };
    assert!(fall(0) > cm(19));
    let most = u64::from(PARTNERS_MAX);
    assert!(fall(4 * most) > cm(15), "{}", fall(4 * most));
}
