//! Joints: how a joint of the region is one of rapier.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{JointId, JointKind, JointSpec, Motor, Spring};
use rapier2d::prelude::{GenericJoint, JointAxesMask, JointAxis, MotorModel, Pose};

use crate::numbers::{float, float_vector, pose};

/// The damping by which a motor without a spring gets to its speed within a step, as far as it is strong
/// enough.
const DRIVE: f32 = 1.0e6;

/// The stiffness of a rod. It is corrected within a step.
const ROD: f32 = 1.0e8;

/// Returns a joint for rapier, for bodies whose anchors are so far apart now.
pub(crate) fn joint(id: JointId, spec: &JointSpec, apart: f32) -> GenericJoint {
    let (sine, cosine) = spec.angle.sin_cos();
    let turned = Vec2::new(cosine, sine);
    let straight = Vec2::new(Fx::ONE, Fx::ZERO);
    let mut joint = GenericJoint::new(locked(&spec.kind));
    joint.local_frame1 = pose(spec.anchor_a, turned);
    joint.local_frame2 = pose(spec.anchor_b, straight);
    joint.contacts_enabled = spec.collide;
    joint.user_data = u128::from(id.0);
    match spec.kind {
        JointKind::Revolute { limits, motor } => {
            limit(&mut joint, JointAxis::AngX, limits);
            drive(&mut joint, JointAxis::AngX, motor);
        }
        JointKind::Distance { min, max, spring } => {
            distance(&mut joint, [float(min), float(max)], spring, apart);
        }
        JointKind::Weld { spring } => {
            if let Some(spring) = spring {
                pull(&mut joint, JointAxis::AngX, 0.0, spring);
            }
        }
        JointKind::Prismatic { axis, limits, motor } => {
            let axis = axis.normalize().unwrap_or(straight);
            joint.local_frame1 = pose(spec.anchor_a, axis);
            // Where both frames lie over each other, the second body is turned by the angle.
            joint.local_frame2 = pose(spec.anchor_b, axis.rotate(spec.angle.wrapping_neg()));
            limit(&mut joint, JointAxis::LinX, limits);
            drive(&mut joint, JointAxis::LinX, motor);
        }
        JointKind::Target { spring, force } => {
            for axis in [JointAxis::LinX, JointAxis::LinY] {
                pull(&mut joint, axis, 0.0, spring);
                joint.set_motor_max_force(axis, float(force));
            }
        }
    }
    joint
}

/// Returns what a joint of a kind does not leave free.
fn locked(kind: &JointKind) -> JointAxesMask {
    match kind {
        JointKind::Revolute { .. } | JointKind::Weld { spring: Some(_) } => {
            JointAxesMask::LOCKED_REVOLUTE_AXES
        }
        JointKind::Weld { spring: None } => JointAxesMask::LOCKED_FIXED_AXES,
        JointKind::Prismatic { .. } => JointAxesMask::LOCKED_PRISMATIC_AXES,
        JointKind::Distance { .. } | JointKind::Target { .. } => JointAxesMask::empty(),
    }
}

fn limit(joint: &mut GenericJoint, axis: JointAxis, limits: Option<[Fx; 2]>) {
    if let Some(limits) = limits {
        joint.set_limits(axis, limits.map(float));
    }
}

fn drive(joint: &mut GenericJoint, axis: JointAxis, motor: Option<Motor>) {
    if let Some(Motor { speed, strength }) = motor {
        joint.set_motor_velocity(axis, float(speed), DRIVE);
        joint.set_motor_max_force(axis, float(strength));
    }
}

/// Lets a spring pull to a place on an axis.
fn pull(joint: &mut GenericJoint, axis: JointAxis, to: f32, spring: Spring) {
    let pulsatance = float(spring.frequency) * core::f32::consts::TAU;
    let damping = 2.0 * float(spring.damping) * pulsatance;
    joint.set_motor_model(axis, MotorModel::AccelerationBased);
    joint.set_motor_position(axis, to, pulsatance * pulsatance, damping);
}

/// Makes it a rod, a rope or a spring. Rapier has no least distance, so anchors that are closer than that
/// are held by a rod in this step.
fn distance(
    joint: &mut GenericJoint,
    [min, max]: [f32; 2],
    spring: Option<(Fx, Spring)>,
    apart: f32,
) {
    joint.coupled_axes = JointAxesMask::LIN_AXES;
    if min == max || apart < min {
        joint.set_motor_model(JointAxis::LinX, MotorModel::AccelerationBased);
        joint.set_motor_position(JointAxis::LinX, min, ROD, 0.0);
        return;
    }
    joint.set_limits(JointAxis::LinX, [0.0, max]);
    if let Some((rest, spring)) = spring {
        pull(joint, JointAxis::LinX, float(rest), spring);
    }
}

/// Returns how far the anchors of a joint are apart, for bodies in these poses.
pub(crate) fn apart(spec: &JointSpec, [first, second]: [&Pose; 2]) -> f32 {
    let (one, other) = (float_vector(spec.anchor_a), float_vector(spec.anchor_b));
    (second * other - first * one).length()
}
