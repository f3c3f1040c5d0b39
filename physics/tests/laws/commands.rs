//! Commands: which arguments they refuse, and which they clamp to the limits.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{
    BodySpec, ImpulseError, InsertError, MissingBody, Motion, MotionError, Polygon, Pose, Region,
    Shape, ShapeError, SizeError, VelocityError, limits,
};
use metatopia_types::ObjectId;

use crate::scenes::{at, body, capsule, circle, cm, fixed, moving, put, rect};

const ONE: ObjectId = ObjectId(1);

fn one(spec: BodySpec) -> Region {
    let mut region = Region::new();
    put(&mut region, 1, spec);
    region
}

#[test]
fn an_id_has_at_most_one_body() {
    let mut region = one(moving(circle(30), at(0, 0)));
    let again = region.insert(ONE, &moving(circle(30), at(500, 0)));
    assert_eq!(again, Err(InsertError::Occupied(ONE)));
    assert_eq!(region.bodies().len(), 1);
}

#[test]
fn a_full_region_refuses_a_body_until_one_is_removed() {
    let mut region = Region::new();
    for id in 0..limits::BODIES_MAX as u64 {
        put(&mut region, id, moving(circle(30), at(id as i64 % 64 * 100, id as i64 / 64 * 100)));
    }
    let beyond = ObjectId(u64::MAX);
    let refused = region.insert(beyond, &moving(circle(30), at(0, 0)));
    assert_eq!(refused, Err(InsertError::Full(limits::BODIES_MAX)));
    region.remove(ObjectId(77)).expect("it is there");
    assert_eq!(region.insert(beyond, &moving(circle(30), at(0, 0))), Ok(()));
}

#[test]
fn each_body_of_a_heap_has_at_most_so_many_partners() {
    let max = usize::from(limits::PARTNERS_MAX);
    for heap in [max, max + 1, 300] {
        let mut region = Region::new();
        for id in 0..heap as u64 {
            put(&mut region, id, moving(circle(100), at(id as i64 % 7, id as i64 % 5)));
        }

        let pairs = region.step().len();

        // All bodies have one size, so each pair counts for the higher id.
        let expected: usize = (0..heap).map(|before| before.min(max)).sum();
        assert_eq!(pairs, expected, "{heap} bodies");
        assert_eq!(region.contacts().len(), expected);
    }
}

#[test]
fn a_heap_takes_no_wall_from_a_body_inside_it() {
    let mut region = Region::new();
    put(&mut region, 1, fixed(rect(10, 300), at(100, 0)));
    put(&mut region, 2, BodySpec { velocity: at(300, 0), ..moving(circle(20), at(0, 0)) });
    for id in 10..210 {
        // Larger bodies, all around the one that runs against the wall.
        put(&mut region, id, moving(circle(30), at(-10, id as i64 % 10)));
        put(&mut region, 1_000 + id, BodySpec { sensor: true, ..fixed(rect(200, 200), at(0, 0)) });
    }

    for _ in 0..120 {
        region.step();
        assert!(body(&region, 2).position().x < cm(100));
    }
}

#[test]
fn sizes_out_of_range_are_refused_and_sizes_at_the_limits_are_accepted() {
    let least = limits::SIZE_MIN;
    for (motion, greatest) in [
        (Motion::Static, limits::STATIC_SIZE_MAX),
        (Motion::Kinematic, limits::MOVING_SIZE_MAX),
        (Motion::Dynamic, limits::MOVING_SIZE_MAX),
    ] {
        let insert = |size: Fx| {
            let round = Shape::Circle { radius: size };
            let first = Region::new().insert(ONE, &BodySpec::new(round, motion, Vec2::ZERO));
            let slab = Shape::Rect { half: Vec2::new(Fx::ONE, size) };
            let second = Region::new().insert(ONE, &BodySpec::new(slab, motion, Vec2::ZERO));
            assert_eq!(first.is_ok(), second.is_ok());
            first
        };
        let refusal = |size| {
            let error = SizeError { field: "radius", size, limit: greatest, motion };
            InsertError::Shape(ShapeError::Size(error))
        };
        for size in [least, greatest] {
            assert_eq!(insert(size), Ok(()));
        }
        let (below, above) = (least.saturating_sub(Fx::ULP), greatest.saturating_add(Fx::ULP));
        for size in [below, above, Fx::ZERO, Fx::MIN, Fx::MAX] {
            assert_eq!(insert(size), Err(refusal(size)));
        }
    }
}

/// The message once told a size and its range, so that of a rectangle nobody knew which side was wrong.
#[test]
fn the_message_of_a_size_error_names_the_field_the_size_and_its_range() {
    let corners = [at(-100, 0), at(100, 0), at(0, 4_000)];
    let wedge = Shape::Polygon(Polygon::new(&corners).expect("it is one of a wall"));
    let shapes = [
        ("radius", circle(2_000), "20"),
        ("half.x", rect(1_700, 40), "17"),
        ("half.y", rect(40, 1_800), "18"),
        ("half", capsule(1_900, 40), "19"),
        ("radius", capsule(40, 2_100), "21"),
        ("reach", wedge, ""),
    ];
    for (field, shape, size) in shapes {
        let refused = Region::new().insert(ONE, &moving(shape.clone(), at(0, 0)));
        let Err(InsertError::Shape(ShapeError::Size(error))) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(error.field, field, "{shape:?}");
        let text =
            format!("{field}: a size of {size} m is not in 0.0625..=16 m for a dynamic body");
        if field != "reach" {
            assert_eq!(error.to_string(), text);
        }
    }
}

#[test]
fn all_other_fields_of_a_spec_are_clamped_to_the_limits() {
    let wild = BodySpec {
        pose: Pose { position: Vec2::new(Fx::MAX, Fx::MIN), angle: Angle::HALF },
        velocity: Vec2::new(Fx::MAX, Fx::ZERO),
        spin: Fx::MIN,
        mass: Fx::MAX,
        friction: Fx::MAX,
        restitution: Fx::MIN,
        linear_damping: Fx::MAX,
        angular_damping: Fx::MIN,
        ..moving(circle(50), at(0, 0))
    };
    let mut region = one(wild);
    let edge = limits::COORDINATE_MAX;
    let ball = body(&region, 1);
    assert_eq!(ball.position(), Vec2::new(edge, edge.saturating_neg()));
    assert_eq!(ball.velocity(), Vec2::new(limits::SPEED_MAX, Fx::ZERO));
    assert_eq!(ball.spin(), limits::SPIN_MAX.saturating_neg());
    assert_eq!(ball.mass(), limits::MASS_MAX);
    assert_eq!(ball.angle(), Angle::HALF);
    region.step();

    let light = one(BodySpec { mass: Fx::ZERO, ..moving(circle(50), at(0, 0)) });
    assert_eq!(body(&light, 1).mass(), limits::MASS_MIN);
}

#[test]
fn speeds_are_clamped_to_the_limit_which_is_lower_for_a_small_body() {
    let fast = at(3_000, 4_000);
    for (size, greatest) in [(100, limits::SPEED_MAX), (10, Fx::from_int(24)), (7, cm(1_680))] {
        let mut region = one(moving(circle(size), at(0, 0)));
        region.set_velocity(ONE, fast).expect("it moves");
        let speed = body(&region, 1).velocity().length();
        let most = body(&region, 1).speed_max();
        assert!(speed <= most && speed > most.saturating_sub(cm(1)), "{size}: {speed}");
        assert!(body(&region, 1).speed_max().saturating_sub(greatest).saturating_abs() < cm(1));
        for _ in 0..100 {
            region.apply_impulse(ONE, Vec2::new(Fx::MAX, Fx::MIN)).expect("it is dynamic");
            region.step();
            assert!(body(&region, 1).velocity().length() <= most);
        }
    }
}

#[test]
fn spins_are_clamped_to_the_limit_which_is_lower_for_a_large_body() {
    for (half, greatest) in [(10, limits::SPIN_MAX), (1_600, cm(141))] {
        let mut region = one(moving(rect(half, half), at(0, 0)));
        region.set_spin(ONE, Fx::MAX).expect("it moves");
        let spin = body(&region, 1).spin();
        assert!(spin <= greatest.saturating_add(cm(1)) && spin >= greatest.saturating_sub(cm(1)));
        assert_eq!(spin, body(&region, 1).spin_max());
    }
}

#[test]
fn an_impulse_changes_the_velocity_by_impulse_over_mass() {
    let mut region = one(BodySpec { mass: Fx::from_int(4), ..moving(circle(50), at(0, 0)) });
    region.apply_impulse(ONE, at(600, -200)).expect("it is dynamic");
    assert_eq!(body(&region, 1).velocity(), at(150, -50));
}

#[test]
fn a_command_on_a_missing_body_returns_its_id() {
    let mut region = Region::new();
    let missing = MissingBody(ONE);
    assert_eq!(region.remove(ONE), Err(missing));
    assert_eq!(region.set_pose(ONE, Pose::default()), Err(missing));
    assert_eq!(region.set_velocity(ONE, Vec2::X), Err(VelocityError::Missing(missing)));
    assert_eq!(region.set_spin(ONE, Fx::ONE), Err(VelocityError::Missing(missing)));
    assert_eq!(region.apply_impulse(ONE, Vec2::X), Err(ImpulseError::Missing(missing)));
    assert_eq!(region.set_motion(ONE, Motion::Static), Err(MotionError::Missing(missing)));
    assert_eq!(missing.to_string(), "object 1 has no body");
}

#[test]
fn velocities_need_a_moving_body_and_impulses_a_dynamic_one() {
    let mut wall = one(fixed(rect(100, 10), at(0, 0)));
    assert_eq!(wall.set_velocity(ONE, Vec2::X), Err(VelocityError::Static(ONE)));
    assert_eq!(wall.set_spin(ONE, Fx::ONE), Err(VelocityError::Static(ONE)));
    let not_dynamic = |motion| Err(ImpulseError::NotDynamic { id: ONE, motion });
    assert_eq!(wall.apply_impulse(ONE, Vec2::X), not_dynamic(Motion::Static));
    let mut door = one(BodySpec::new(rect(100, 10), Motion::Kinematic, at(0, 0)));
    assert_eq!(door.apply_impulse(ONE, Vec2::X), not_dynamic(Motion::Kinematic));
    assert_eq!(door.set_velocity(ONE, Vec2::X), Ok(()));
}

#[test]
fn a_wall_that_is_too_large_cannot_become_dynamic() {
    let mut region = one(fixed(rect(10_000, 10), at(0, 0)));
    let error = SizeError {
        field: "half.x",
        size: Fx::from_int(100),
        limit: limits::MOVING_SIZE_MAX,
        motion: Motion::Dynamic,
    };
    assert_eq!(
        region.set_motion(ONE, Motion::Dynamic),
        Err(MotionError::Shape(ShapeError::Size(error)))
    );
    assert_eq!(body(&region, 1).motion(), Motion::Static);
}

#[test]
fn a_body_stops_when_it_becomes_static_and_is_pushed_when_it_becomes_dynamic() {
    let mut region = one(BodySpec { velocity: at(100, 0), ..moving(rect(20, 20), at(0, 0)) });
    region.set_motion(ONE, Motion::Static).expect("it is small");
    put(&mut region, 2, BodySpec { velocity: at(200, 0), ..moving(circle(20), at(-100, 0)) });
    for _ in 0..60 {
        region.step();
    }
    assert_eq!(body(&region, 1).pose(), Pose { position: at(0, 0), angle: Angle::ZERO });

    region.set_motion(ONE, Motion::Dynamic).expect("it is small");
    region.set_velocity(ObjectId(2), at(200, 0)).expect("it moves");
    for _ in 0..60 {
        region.step();
    }
    assert!(body(&region, 1).position().x > cm(10));
}

#[test]
fn a_wall_moved_onto_a_sleeping_crate_pushes_it_out() {
    let mut region = one(moving(rect(30, 30), at(0, 0)));
    put(&mut region, 2, fixed(rect(30, 30), at(300, 0)));
    while !region.is_asleep() {
        region.step();
    }
    let pose = Pose { position: at(40, 0), angle: Angle::ZERO };
    region.set_pose(ObjectId(2), pose).expect("it is there");
    for _ in 0..120 {
        region.step();
    }
    assert!(body(&region, 1).position().x < cm(-18), "{}", body(&region, 1).position());
}
