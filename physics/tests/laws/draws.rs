//! Commands and questions drawn at random, many with numbers that no region has.

use metatopia_math::{Angle, Fx, Stream, Vec2};
use metatopia_physics::{
    Aspect, BodySpec, Compound, CompoundPart, Filter, JointId, JointKind, JointSpec, LineSegment,
    Motion, Motor, Polygon, Pose, Region, RegionCommand, Shape, ShapeCast, Spring, limits,
};
use metatopia_types::ObjectId;

use crate::scenes::{at, cm};

/// Draws a number that is at times an extreme.
fn number(dice: &mut Stream) -> Fx {
    match dice.below(16) {
        0 => Fx::MAX,
        1 => Fx::MIN,
        2 => Fx::ZERO,
        3 => Fx::from_bits(1),
        _ => cm(dice.below(1_000) as i64 - 500),
    }
}

fn vector(dice: &mut Stream) -> Vec2 {
    Vec2::new(number(dice), number(dice))
}

fn pose(dice: &mut Stream) -> Pose {
    let angle = [Angle::ZERO, Angle::EIGHTH, Angle::from_bits(77)][dice.below(3) as usize];
    Pose { position: vector(dice), angle }
}

fn object(dice: &mut Stream) -> ObjectId {
    ObjectId(dice.below(30))
}

fn motion(dice: &mut Stream) -> Motion {
    [Motion::Static, Motion::Kinematic, Motion::Dynamic, Motion::Dynamic][dice.below(4) as usize]
}

fn filter(dice: &mut Stream) -> Filter {
    match dice.below(4) {
        0 => Filter { category: 1 + dice.below(3) as u32, mask: 3 },
        _ => Filter::ALL,
    }
}

fn shape(dice: &mut Stream) -> Shape {
    let size = |dice: &mut Stream| match dice.below(12) {
        0 => limits::SIZE_MIN,
        1 => number(dice),
        _ => cm(10 + dice.below(90) as i64),
    };
    match dice.below(6) {
        0 => Shape::Circle { radius: size(dice) },
        1 => Shape::Rect { half: Vec2::new(size(dice), size(dice)) },
        2 => Shape::Capsule { half: size(dice), radius: size(dice) },
        3 => {
            let parts: Vec<CompoundPart> = (0..1 + dice.below(9))
                .map(|_| {
                    let offset = Vec2::new(size(dice), size(dice));
                    CompoundPart::new(Shape::Circle { radius: size(dice) }).at(offset)
                })
                .collect();
            let compound = Compound::new(&parts).map(Shape::Compound);
            compound.unwrap_or(Shape::Circle { radius: Fx::HALF })
        }
        4 => {
            let (from, to) = (vector(dice), vector(dice));
            LineSegment::new(from, to).map_or(Shape::Circle { radius: Fx::HALF }, Shape::Segment)
        }
        _ => {
            let corners: Vec<Vec2> = (0..3 + dice.below(6)).map(|_| vector(dice)).collect();
            let triangle = [at(-20, -10), at(20, -10), at(0, 20)];
            Polygon::new(&corners)
                .or_else(|_| Polygon::new(&triangle))
                .map_or(Shape::Circle { radius: Fx::HALF }, Shape::Polygon)
        }
    }
}

fn spec(dice: &mut Stream) -> BodySpec {
    BodySpec {
        pose: pose(dice),
        velocity: vector(dice),
        spin: number(dice),
        mass: number(dice),
        friction: number(dice),
        restitution: number(dice),
        sensor: dice.below(6) == 0,
        fixed_rotation: dice.below(5) == 0,
        filter: filter(dice),
        ..BodySpec::new(shape(dice), motion(dice), Vec2::ZERO)
    }
}

fn motor(dice: &mut Stream) -> Option<Motor> {
    (dice.below(2) == 0).then(|| Motor { speed: number(dice), strength: number(dice) })
}

fn kind(dice: &mut Stream) -> JointKind {
    let spring = Spring { frequency: number(dice), damping: number(dice) };
    match dice.below(5) {
        0 => JointKind::Revolute { limits: None, motor: motor(dice) },
        1 => JointKind::Distance { min: Fx::ZERO, max: number(dice), spring: None },
        2 => JointKind::Weld { spring: (dice.below(2) == 0).then_some(spring) },
        3 => JointKind::Prismatic { axis: Vec2::X, limits: None, motor: motor(dice) },
        _ => JointKind::Target { spring, force: number(dice) },
    }
}

/// Draws a command or a question, for a region as it is. A fifth are steps.
pub(crate) fn command(dice: &mut Stream, region: &Region) -> RegionCommand {
    let known = region.bodies().get(dice.below(30) as usize);
    let joint = JointId(dice.below(20));
    match dice.below(50) {
        0..=9 => RegionCommand::Step,
        10..=17 => RegionCommand::Insert(object(dice), Box::new(spec(dice))),
        18 => RegionCommand::Remove(object(dice)),
        19 => {
            known.map_or(RegionCommand::Step, |body| RegionCommand::PutBack(Box::new(body.clone())))
        }
        20 => RegionCommand::SetPose(object(dice), pose(dice)),
        21 => RegionCommand::SetPosition(object(dice), vector(dice)),
        22..=24 => RegionCommand::SetVelocity(object(dice), vector(dice)),
        25 => RegionCommand::SetSpin(object(dice), number(dice)),
        26..=27 => RegionCommand::ApplyImpulse(object(dice), vector(dice)),
        28 => RegionCommand::SetMotion(object(dice), motion(dice)),
        29 => RegionCommand::SetShape(object(dice), Box::new(shape(dice)), number(dice)),
        30 => RegionCommand::SetFilter(object(dice), filter(dice)),
        31 => {
            let aspect = [Aspect::Position, Aspect::Facing, Aspect::Shape][dice.below(3) as usize];
            known.map_or(RegionCommand::Step, |body| {
                RegionCommand::Revert(Box::new(body.clone()), aspect)
            })
        }
        32..=34 => {
            let joint_spec = JointSpec {
                anchor_a: vector(dice),
                anchor_b: vector(dice),
                break_force: (dice.below(4) == 0).then(|| number(dice)),
                ..JointSpec::new(Some(object(dice)), object(dice), kind(dice))
            };
            RegionCommand::InsertJoint(joint, Box::new(joint_spec))
        }
        35..=37 => {
            let first = (dice.below(4) > 0).then(|| object(dice));
            RegionCommand::JointAt(joint, first, object(dice), vector(dice), kind(dice))
        }
        38 => RegionCommand::RemoveJoint(joint),
        39 => RegionCommand::SetMotor(joint, motor(dice)),
        40 => RegionCommand::MoveTarget(joint, vector(dice)),
        41 => RegionCommand::ForgetTierState,
        42..=43 => {
            RegionCommand::Nearby(vector(dice), number(dice), dice.below(9) as u32, filter(dice))
        }
        44 => RegionCommand::At(vector(dice)),
        45 => RegionCommand::Overlapping(vector(dice), number(dice)),
        46 => RegionCommand::OverlappingShape(Box::new(shape(dice)), pose(dice), filter(dice)),
        47 => RegionCommand::RayCast(vector(dice), vector(dice), object(dice), filter(dice)),
        48 if dice.below(2) == 0 => RegionCommand::SetSensor(object(dice), dice.below(2) == 0),
        48 => RegionCommand::SetBreakForce(joint, (dice.below(2) == 0).then(|| number(dice))),
        _ => RegionCommand::ShapeCast(Box::new(ShapeCast {
            shape: shape(dice),
            pose: pose(dice),
            way: vector(dice),
            skip: object(dice),
            filter: filter(dice),
        })),
    }
}
