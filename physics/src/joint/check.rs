//! What joints may be: rounds and clamps a definition, or says which field is wrong.

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;

use super::{IMPULSES, Joint, JointId, JointKind, JointSpec, Motor, Spring};
use crate::fixed::{Q20, Vector};
use crate::limits::{
    COORDINATE_MAX, JOINT_ANGLE_MAX, JOINT_FORCE_MAX, JOINT_LENGTH_MAX, JOINT_REACH_MAX,
    JOINTS_MAX, SPEED_MAX, SPRING_DAMPING_MAX, SPRING_FREQUENCY_MAX,
};
use crate::region::MissingBody;
use crate::solver::JOINT_IMPULSE_MAX;

/// The shortest and the longest axis of a slider.
const AXIS_MIN: Fx = Fx::from_ratio(1, 64);
const AXIS_MAX: Fx = Fx::from_int(1_024);

/// A reason why there is no such joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JointError {
    /// There is a joint of this id.
    #[error("there is a joint {0} already")]
    Occupied(JointId),
    /// There is no joint of this id.
    #[error("there is no joint {0}")]
    Missing(JointId),
    /// The region is full.
    #[error("the region holds {JOINTS_MAX} joints already")]
    Full,
    /// There is no such body.
    #[error(transparent)]
    Body(#[from] MissingBody),
    /// Both bodies are the same one.
    #[error("the joint holds object {0} to itself")]
    Itself(ObjectId),
    /// This field of the definition is out of range, or none that a joint of this kind has.
    #[error("the {0} of the joint is out of range")]
    Field(&'static str),
}

impl JointSpec {
    /// Returns the definition rounded and clamped, or says what is wrong with it.
    pub(crate) fn checked(mut self) -> Result<Self, JointError> {
        if self.a == Some(self.b) {
            return Err(JointError::Itself(self.b));
        }
        let on_ground = self.a.is_none();
        self.anchor_a = anchor(self.anchor_a, on_ground).ok_or(JointError::Field("anchor_a"))?;
        self.anchor_b = anchor(self.anchor_b, false).ok_or(JointError::Field("anchor_b"))?;
        self.kind = self.kind.checked()?;
        self.break_force = self.break_force.map(force);
        self.break_torque = self.break_torque.map(force);
        Ok(self)
    }
}

impl JointKind {
    fn checked(self) -> Result<Self, JointError> {
        Ok(match self {
            Self::Revolute { limits, motor } => {
                let limits = limits.map(|limits| range(limits, JOINT_ANGLE_MAX)).transpose()?;
                Self::Revolute { limits, motor: motor.map(Motor::clamped) }
            }
            Self::Distance { min, max, spring } => {
                let fits = |length: Fx| length >= Fx::ZERO && length <= JOINT_LENGTH_MAX;
                let length = |length: Fx, field| {
                    fits(length).then(|| rounded(length)).ok_or(JointError::Field(field))
                };
                let spring = match spring {
                    Some((rest, spring)) => Some((length(rest, "spring")?, spring.clamped())),
                    None => None,
                };
                if max < min {
                    return Err(JointError::Field("max"));
                }
                Self::Distance { min: length(min, "min")?, max: length(max, "max")?, spring }
            }
            Self::Weld { spring } => Self::Weld { spring: spring.map(Spring::clamped) },
            Self::Prismatic { axis, limits, motor } => {
                // Longer parts would not square.
                let is_long = |part: Fx| part.saturating_abs() > AXIS_MAX;
                let length = axis.length();
                if is_long(axis.x) || is_long(axis.y) || length < AXIS_MIN || length > AXIS_MAX {
                    return Err(JointError::Field("axis"));
                }
                let limits = limits.map(|limits| range(limits, JOINT_LENGTH_MAX)).transpose()?;
                Self::Prismatic { axis, limits, motor: motor.map(Motor::clamped) }
            }
            Self::Target { spring, force: strength } => {
                Self::Target { spring: spring.clamped(), force: force(strength) }
            }
        })
    }
}

impl Motor {
    pub(crate) fn clamped(self) -> Self {
        let speed = self.speed.clamp(SPEED_MAX.saturating_neg(), SPEED_MAX);
        Self { speed: rounded(speed), strength: force(self.strength) }
    }
}

impl Spring {
    fn clamped(self) -> Self {
        let within = |value: Fx, max: Fx| rounded(value.clamp(Fx::ZERO, max));
        Self {
            frequency: within(self.frequency, SPRING_FREQUENCY_MAX),
            damping: within(self.damping, SPRING_DAMPING_MAX),
        }
    }
}

impl Joint {
    /// Checks a joint that came from elsewhere. The error is the name of the first field that no joint of
    /// a region has.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        match self.spec.checked() {
            Ok(checked) if checked == self.spec => {}
            Ok(_) => return Err("definition"),
            Err(JointError::Field(field)) => return Err(field),
            Err(_) => return Err("second body"),
        }
        if self.lost.is_some_and(|lost| !self.involves(lost)) {
            return Err("lost body");
        }
        let bound = JOINT_IMPULSE_MAX;
        let fits = |impulse: &Q20| *impulse >= -bound && *impulse <= bound;
        if self.impulses.iter().all(fits) { Ok(()) } else { Err("impulses") }
    }

    /// Returns a joint without impulses.
    pub(crate) const fn new(id: JointId, spec: JointSpec) -> Self {
        Self { id, spec, impulses: [Q20::ZERO; IMPULSES], lost: None }
    }
}

/// Returns a number rounded to what the solver's numbers hold.
fn rounded(value: Fx) -> Fx {
    Q20::clamped(value, Q20(-i32::MAX), Q20(i32::MAX)).fx()
}

/// Returns a force or a torque within its range.
fn force(value: Fx) -> Fx {
    value.clamp(Fx::ZERO, JOINT_FORCE_MAX)
}

/// Returns an anchor rounded, if it is in its range.
fn anchor(at: Vec2, on_ground: bool) -> Option<Vec2> {
    let bound = if on_ground { COORDINATE_MAX } else { JOINT_REACH_MAX };
    let fits = |part: Fx| part.saturating_abs() <= bound;
    let near = fits(at.x) && fits(at.y) && (on_ground || at.length() <= bound);
    near.then(|| Vector::clamped(at, Q20::constant(COORDINATE_MAX)).vec2())
}

/// Returns limits rounded, if they are in their range and in order.
fn range([low, high]: [Fx; 2], bound: Fx) -> Result<[Fx; 2], JointError> {
    if low < bound.saturating_neg() || high > bound || low > high {
        return Err(JointError::Field("limits"));
    }
    Ok([rounded(low), rounded(high)])
}
