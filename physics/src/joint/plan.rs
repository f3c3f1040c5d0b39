//! The constants of a joint that the solver uses. They are a pure function of its definition, so a region
//! keeps them beside it, and they are no part of the state.

use metatopia_math::Fx;

use super::{JointKind, JointSpec, Motor, Spring};
use crate::body::facing;
use crate::fixed::{Q20, Q30, Unit, Vector, narrow, rounded};
use crate::limits::COORDINATE_MAX;
use crate::solver::{STIFF, Softness};

/// A joint in the number formats of the solver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointPlan {
    pub(crate) anchor_a: Vector,
    pub(crate) anchor_b: Vector,
    /// The facing of the second body in the first one's frame where the angle is zero.
    pub(crate) reference: Unit,
    pub(crate) kind: PlanKind,
    pub(crate) break_force: Option<Fx>,
    pub(crate) break_torque: Option<Fx>,
}

/// The kind of a joint with its constants.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PlanKind {
    Revolute { limits: Option<[Q20; 2]>, motor: Option<Motor> },
    Distance { min: Q20, max: Q20, spring: Option<SpringPlan> },
    Weld { bending: Softness },
    Prismatic { axis: Unit, limits: Option<[Q20; 2]>, motor: Option<Motor> },
    Target { softness: Softness, force: Fx },
}

/// A spring with the length that it pulls to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpringPlan {
    pub(crate) rest: Q20,
    pub(crate) softness: Softness,
}

impl JointPlan {
    /// Computes the constants of a joint.
    pub(crate) fn of(spec: &JointSpec) -> Self {
        let bound = Q20::constant(COORDINATE_MAX);
        Self {
            anchor_a: Vector::clamped(spec.anchor_a, bound),
            anchor_b: Vector::clamped(spec.anchor_b, bound),
            reference: facing(spec.angle),
            kind: PlanKind::of(&spec.kind),
            break_force: spec.break_force,
            break_torque: spec.break_torque,
        }
    }
}

impl PlanKind {
    fn of(kind: &JointKind) -> Self {
        let limits = |limits: Option<[Fx; 2]>| limits.map(|limits| limits.map(Q20::constant));
        match *kind {
            JointKind::Revolute { limits: range, motor } => {
                Self::Revolute { limits: limits(range), motor }
            }
            JointKind::Distance { min, max, spring } => Self::Distance {
                min: Q20::constant(min),
                max: Q20::constant(max),
                spring: spring.map(|(rest, spring)| SpringPlan {
                    rest: Q20::constant(rest),
                    softness: softness(spring),
                }),
            },
            JointKind::Weld { spring } => Self::Weld { bending: spring.map_or(STIFF, softness) },
            JointKind::Prismatic { axis, limits: range, motor } => {
                let unit = axis.normalize().unwrap_or(metatopia_math::Vec2::new(Fx::ONE, Fx::ZERO));
                let part = |side: Fx| Q30(narrow(rounded(side.to_bits(), 2)));
                let axis = Unit { x: part(unit.x), y: part(unit.y) };
                Self::Prismatic { axis, limits: limits(range), motor }
            }
            JointKind::Target { spring, force } => {
                Self::Target { softness: softness(spring), force }
            }
        }
    }
}

fn softness(spring: Spring) -> Softness {
    Softness::spring(spring.frequency, spring.damping)
}
