//! No input can overflow the solver: in this crate's own unit tests [`narrow`](crate::fixed::narrow)
//! asserts that each number fits, and the plain operators panic.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_types::ObjectId;
use proptest::prelude::*;

use crate::contact::{ContactPoint, ContactPoints, PartContact};
use crate::fixed::{Q20, Q30};
use crate::limits::{COMPOUND_PARTS_MAX, CORNERS_MAX, MOVING_SIZE_MAX, SIZE_MIN, STATIC_SIZE_MAX};
use crate::{
    BodySpec, CombineRule, Compound, CompoundPart, Contact, Filter, JointId, JointKind, JointSpec,
    Motion, Motor, Polygon, Pose, Region, SegmentChain, Shape, Spring,
};

/// Draws any number, often an extreme one, and often one of everyday size.
fn number() -> impl Strategy<Value = Fx> + Clone {
    prop_oneof![
        any::<i64>().prop_map(Fx::from_bits),
        (-40_000_i64..40_000).prop_map(|milli| Fx::from_ratio(milli, 1_000)),
        prop_oneof![Just(Fx::MIN), Just(Fx::MAX), Just(Fx::ZERO), Just(Fx::ULP)],
    ]
}

fn vector() -> impl Strategy<Value = Vec2> {
    (number(), number()).prop_map(|(x, y)| Vec2::new(x, y))
}

fn motion() -> impl Strategy<Value = Motion> {
    prop_oneof![
        1 => Just(Motion::Static),
        1 => Just(Motion::Kinematic),
        5 => Just(Motion::Dynamic),
    ]
}

/// Draws a size that is allowed, often the least or the greatest.
fn size(motion: Motion) -> impl Strategy<Value = Fx> {
    let max = match motion {
        Motion::Static => STATIC_SIZE_MAX,
        Motion::Kinematic | Motion::Dynamic => MOVING_SIZE_MAX,
    };
    prop_oneof![
        2 => Just(SIZE_MIN),
        1 => Just(max),
        3 => (SIZE_MIN.to_bits()..=Fx::ONE.to_bits()).prop_map(Fx::from_bits),
        1 => (SIZE_MIN.to_bits()..=max.to_bits()).prop_map(Fx::from_bits),
    ]
}

fn shape(motion: Motion) -> impl Strategy<Value = Shape> {
    prop_oneof![4 => plain_shape(motion), 1 => compound(motion)]
}

/// Draws a compound, if what was drawn is one of this motion; otherwise a disc.
fn compound(motion: Motion) -> impl Strategy<Value = Shape> {
    let near = || (-15_000_i64..15_000).prop_map(|milli| Fx::from_ratio(milli, 1_000));
    let nearer = move || near().prop_map(|at| at.saturating_mul(Fx::from_ratio(1, 16)));
    let axis = || prop_oneof![3 => nearer(), 1 => near()];
    let part = (plain_shape(Motion::Dynamic), axis(), axis(), any::<u32>()).prop_map(
        |(shape, x, y, turn)| CompoundPart {
            shape,
            offset: Vec2::new(x, y),
            angle: Angle::from_bits(turn),
        },
    );
    prop::collection::vec(part, 2..=COMPOUND_PARTS_MAX).prop_map(move |mut parts| {
        // As many of the parts as there is room for, from the last ones on.
        while parts.len() >= 2 {
            let fits = Compound::new(&parts).ok().filter(|all| all.check(motion).is_ok());
            if let Some(compound) = fits {
                return Shape::Compound(compound);
            }
            parts.remove(0);
        }
        Shape::Circle { radius: SIZE_MIN }
    })
}

fn plain_shape(motion: Motion) -> impl Strategy<Value = Shape> {
    prop_oneof![
        size(motion).prop_map(|radius| Shape::Circle { radius }),
        (size(motion), size(motion)).prop_map(|(x, y)| Shape::Rect { half: Vec2::new(x, y) }),
        (size(motion), size(motion)).prop_map(|(half, radius)| Shape::Capsule { half, radius }),
        (size(motion), any::<u32>(), 3..=CORNERS_MAX).prop_map(|(size, turn, corners)| {
            polygon(size, turn, corners).unwrap_or(Shape::Circle { radius: size })
        }),
        (size(motion), any::<u32>(), 3_usize..6).prop_map(move |(size, turn, points)| {
            chained(size, turn, points)
                .filter(|_| motion == Motion::Static)
                .unwrap_or(Shape::Circle { radius: size })
        }),
    ]
}

/// Returns a segment of a chain that turns at random, open or closed, if it is one.
fn chained(size: Fx, turn: u32, points: usize) -> Option<Shape> {
    let mut angle = Angle::from_bits(turn);
    let mut last = Vec2::ZERO;
    let point = |n: usize| {
        angle = Angle::from_bits(angle.to_bits().wrapping_add(turn.rotate_left(7 * n as u32)));
        last = last.saturating_add(Vec2::new(size, Fx::ZERO).rotate(angle));
        last
    };
    let points: Vec<Vec2> = (0..points).map(point).collect();
    let chain = SegmentChain::new(&points, turn.is_multiple_of(2)).ok()?;
    let like = BodySpec::new(Shape::Circle { radius: size }, Motion::Static, Vec2::ZERO);
    let segments = chain.bodies(&like);
    Some(segments[turn as usize % segments.len()].shape.clone())
}

/// Returns a polygon with corners at random places on a circle, if it is one.
fn polygon(size: Fx, turn: u32, corners: usize) -> Option<Shape> {
    let mut angle = Angle::from_bits(turn);
    let corner = |n: usize| {
        // From even steps to most of them in one half.
        let step = (u32::MAX / corners as u32).wrapping_sub((turn >> (n % 8)) % (1 << 26));
        angle = Angle::from_bits(angle.to_bits().wrapping_add(step));
        Vec2::new(size, Fx::ZERO).rotate(angle).scale(Fx::from_ratio(3, 4))
    };
    let corners: Vec<Vec2> = (0..corners).map(corner).collect();
    Polygon::new(&corners).ok().map(Shape::Polygon)
}

/// Draws positions close together, so that bodies meet; sometimes exactly in one place, sometimes
/// at the edge.
fn position() -> impl Strategy<Value = Vec2> {
    prop_oneof![
        6 => (-3_000_i64..3_000, -3_000_i64..3_000)
            .prop_map(|(x, y)| Vec2::new(Fx::from_ratio(x, 1_000), Fx::from_ratio(y, 1_000))),
        1 => Just(Vec2::ZERO),
        1 => vector(),
    ]
}

fn spec() -> impl Strategy<Value = BodySpec> {
    let rule = || (0..CombineRule::ALL.len()).prop_map(|index| CombineRule::ALL[index]);
    let damping = (number(), number());
    let material = (number(), number(), number(), damping, (rule(), rule()));
    motion().prop_flat_map(move |motion| {
        let (shape, position, angle) = (shape(motion), position(), any::<u32>());
        let flags = any::<(bool, bool)>().prop_map(|(sensor, fixed)| (sensor && fixed, fixed));
        (shape, position, angle, vector(), number(), material.clone(), flags).prop_map(
            move |(shape, position, angle, velocity, spin, material, (sensor, fixed_rotation))| {
                let (mass, friction, restitution, damping, rules) = material;
                let (linear_damping, angular_damping) = damping;
                let (friction_rule, restitution_rule) = rules;
                BodySpec {
                    shape,
                    motion,
                    pose: Pose { position, angle: Angle::from_bits(angle) },
                    velocity,
                    spin,
                    mass,
                    friction,
                    restitution,
                    linear_damping,
                    angular_damping,
                    sensor,
                    fixed_rotation,
                    filter: Filter::ALL,
                    friction_rule,
                    restitution_rule,
                }
            },
        )
    })
}

/// Draws a pair of limits that is often in order.
fn limits() -> impl Strategy<Value = Option<[Fx; 2]>> {
    prop_oneof![
        Just(None),
        (number(), number()).prop_map(|(low, high)| Some([low.min(high), low.max(high)])),
        (-3_000_i64..3_000, 0_i64..3_000).prop_map(|(low, span)| {
            Some([low, (low + span).min(3_000)].map(|milli| Fx::from_ratio(milli, 1_000)))
        }),
    ]
}

fn joint_kind() -> impl Strategy<Value = JointKind> {
    let motor = || {
        let motor = (number(), number()).prop_map(|(speed, strength)| Motor { speed, strength });
        prop::option::of(motor)
    };
    let spring =
        || (number(), number()).prop_map(|(frequency, damping)| Spring { frequency, damping });
    let length = || (0_i64..9_000).prop_map(|milli| Fx::from_ratio(milli, 1_000));
    prop_oneof![
        (limits(), motor()).prop_map(|(limits, motor)| JointKind::Revolute { limits, motor }),
        (length(), length(), prop::option::of((length(), spring()))).prop_map(
            |(min, more, spring)| {
                JointKind::Distance { min, max: min.saturating_add(more), spring }
            }
        ),
        length().prop_map(|length| JointKind::Distance { min: length, max: length, spring: None }),
        prop::option::of(spring()).prop_map(|spring| JointKind::Weld { spring }),
        (vector(), limits(), motor()).prop_map(|(axis, limits, motor)| {
            let short = axis.normalize().unwrap_or(axis);
            JointKind::Prismatic { axis: short, limits, motor }
        }),
        (spring(), number()).prop_map(|(spring, force)| JointKind::Target { spring, force }),
    ]
}

/// Draws an anchor, often as far away as can be.
fn anchor() -> impl Strategy<Value = Vec2> {
    let far = Fx::from_int(16);
    prop_oneof![
        Just(Vec2::new(far, Fx::ZERO)),
        (-11_000_i64..11_000, -11_000_i64..11_000)
            .prop_map(|(x, y)| Vec2::new(Fx::from_ratio(x, 1_000), Fx::from_ratio(y, 1_000))),
        position(),
    ]
}

fn joint() -> impl Strategy<Value = JointSpec> {
    let bodies = (prop::option::of(0_u64..12), 0_u64..12);
    let force = || prop::option::weighted(0.2, number());
    let rest = (anchor(), anchor(), any::<u32>(), any::<bool>(), force(), force());
    (bodies, joint_kind(), rest).prop_map(
        |((a, b), kind, (anchor_a, anchor_b, angle, collide, break_force, break_torque))| {
            JointSpec {
                a: a.map(ObjectId),
                b: ObjectId(b),
                anchor_a,
                anchor_b,
                angle: Angle::from_bits(angle),
                kind,
                collide,
                break_force,
                break_torque,
            }
        },
    )
}

fn steps_and_stays_restorable(region: &mut Region, steps: usize) -> Result<(), TestCaseError> {
    for _ in 0..steps {
        region.step();
        let again = Region::restore(region.bodies().to_vec(), region.contacts().to_vec())
            .and_then(|again| again.with_joints(region.joints().to_vec()));
        let again =
            again.map(|again| again.with_gravity(region.gravity()).with_hits(region.hits()));
        prop_assert_eq!(again.as_ref(), Ok(&*region));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_scene_overflows_and_each_step_makes_a_state(
        specs in prop::collection::vec(spec(), 1..25),
        commands in prop::collection::vec((0_u64..25, vector(), number(), 0..5_u8), 0..40),
        gravity in vector(),
    ) {
        let mut region = Region::new().with_gravity(gravity);
        for (id, spec) in (0..).zip(&specs) {
            prop_assert_eq!(region.insert(ObjectId(id), spec), Ok(()));
        }
        for (id, vector, number, kind) in commands {
            let id = ObjectId(id);
            // A command may be refused; what is accepted must not overflow anything.
            let _accepted = match kind {
                0 => region.set_velocity(id, vector).is_ok(),
                1 => region.set_spin(id, number).is_ok(),
                2 => region.apply_impulse(id, vector).is_ok(),
                3 => {
                    let pose = Pose { position: vector, angle: Angle::from_radians(number) };
                    region.set_pose(id, pose).is_ok()
                }
                _ => region.set_motion(id, Motion::Dynamic).is_ok(),
            };
            steps_and_stays_restorable(&mut region, 1)?;
        }
        steps_and_stays_restorable(&mut region, 12)?;
        prop_assert!(region.nearby(Vec2::new(Fx::MIN, Fx::MAX), Fx::MAX, 9).len() <= 9);
    }

    #[test]
    fn no_joint_overflows_and_each_step_makes_a_state(
        specs in prop::collection::vec(spec(), 2..12),
        joints in prop::collection::vec(joint(), 1..24),
        commands in prop::collection::vec((0_u64..24, vector(), number(), 0..6_u8), 0..30),
        gravity in vector(),
    ) {
        let mut region = Region::new().with_gravity(gravity).with_hits(Some(Fx::ZERO));
        for (id, spec) in (0..).zip(&specs) {
            prop_assert_eq!(region.insert(ObjectId(id), spec), Ok(()));
        }
        for (id, spec) in (0..).zip(&joints) {
            // Some are refused, as joints of a body to itself.
            let _accepted = region.insert_joint(JointId(id), spec).is_ok();
        }
        for (id, vector, number, kind) in commands {
            let (body, joint) = (ObjectId(id), JointId(id));
            let motor = Motor { speed: number, strength: vector.x };
            let _accepted = match kind {
                0 => region.set_velocity(body, vector).is_ok(),
                1 => region.set_spin(body, number).is_ok(),
                2 => region.set_motor(joint, Some(motor)).is_ok(),
                3 => {
                    let pose = Pose { position: vector, angle: Angle::from_radians(number) };
                    region.set_pose(body, pose).is_ok()
                }
                4 => region.move_target(joint, vector).is_ok(),
                _ => region.remove(body).is_ok(),
            };
            let events = region.step_events();
            prop_assert!(events.joints.windows(2).all(|pair| pair[0].id < pair[1].id));
            steps_and_stays_restorable(&mut region, 1)?;
        }
        steps_and_stays_restorable(&mut region, 20)?;
    }

    #[test]
    fn whatever_can_be_restored_can_be_stepped(
        specs in prop::collection::vec(spec(), 2..8),
        damage in prop::collection::vec((0_usize..8, 0_usize..14, any::<i32>(), 0..31_u32), 0..3),
        points in prop::collection::vec((any::<u8>(), any::<i32>(), any::<i32>(), 0..31_u32), 2),
    ) {
        let mut region = Region::new();
        for (id, spec) in (0..).zip(&specs) {
            prop_assert_eq!(region.insert(ObjectId(id), spec), Ok(()));
        }
        let mut bodies = region.bodies().to_vec();
        for (index, field, value, shift) in damage {
            let value = value >> shift;
            let Some(body) = bodies.get_mut(index) else { continue };
            match field {
                0 => body.mass = value.cast_unsigned(),
                1 => body.friction = Q20(value),
                2 => body.restitution = Q20(value),
                3 => body.linear_damping = Q20(value),
                4 => body.angular_damping = Q20(value),
                5 => body.position.x = Q20(value),
                6 => body.position.y = Q20(value),
                7 => body.facing.x = Q30(value),
                8 => body.facing.y = Q30(value),
                9 => body.velocity.x = Q20(value),
                10 => body.velocity.y = Q20(value),
                11 => body.spin = Q20(value),
                12 => body.geometry = crate::shape::Geometry::Circle(Q20(value)),
                _ => body.slow_steps = value as u8,
            }
        }
        let point = |&(feature, normal, tangent, shift): &(u8, i32, i32, u32)| ContactPoint {
            feature,
            normal_impulse: Q20(normal >> shift),
            tangent_impulse: Q20(tangent >> shift),
        };
        let contact = Contact {
            a: ObjectId(0),
            b: ObjectId(1),
            points: ContactPoints::Whole([Some(point(&points[0])), Some(point(&points[1]))]),
        };
        let parts = points.iter().map(|it| PartContact {
            parts: it.0 & 63,
            points: [Some(point(it)), None],
        });
        let of_parts = Contact { points: ContactPoints::OfParts(parts.collect()), ..contact };
        for contacts in [vec![], vec![contact], vec![of_parts]] {
            if let Ok(mut region) = Region::restore(bodies.clone(), contacts) {
                steps_and_stays_restorable(&mut region, 8)?;
            }
        }
    }
}
