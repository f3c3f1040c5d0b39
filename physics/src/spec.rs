//! The definition of a new body.

use metatopia_math::{Angle, Fx, Vec2};
use serde::{Deserialize, Serialize};

use crate::filter::{ContactRole, Filter};
use crate::limits::{MASS_MAX, MASS_MIN};
use crate::material::{CombineRule, SurfaceRules};
use crate::motion::Motion;
use crate::shape::{Geometry, Shape, ShapeError};

/// A position and a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pose {
    /// The position, in metres from the region's origin. Where a body is put, it is rounded to multiples of
    /// 2^-20 m and clamped to the bounds.
    pub position: Vec2,
    /// The direction of the body's own x axis.
    pub angle: Angle,
}

/// The definition of a new body. Start from [`BodySpec::new`] and change fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SpecForm", into = "SpecForm")]
pub struct BodySpec {
    /// The shape; the only field that can be refused.
    pub shape: Shape,
    /// The kind of motion.
    pub motion: Motion,
    /// The pose at the start. Its position is clamped to the [bounds](crate::Region::bounds) of the region.
    pub pose: Pose,
    /// The velocity in metres a second, shortened to the body's greatest speed. Zero for a static
    /// body.
    pub velocity: Vec2,
    /// The spin (angular velocity) in radians a second, clamped to the body's greatest spin. Zero
    /// for a static body.
    pub spin: Fx,
    /// The mass in kilograms, clamped to [`MASS_MIN`] to [`MASS_MAX`] and rounded to multiples of 2^-16 kg. It
    /// counts while the body is dynamic.
    pub mass: Fx,
    /// The coefficient of friction, a plain number, clamped to 0 to
    /// [`FRICTION_MAX`](crate::limits::FRICTION_MAX); 0 is ice.
    pub friction: Fx,
    /// The coefficient of restitution, a plain number, clamped to 0 to 1; 0 does not bounce, 1 loses nothing.
    /// Approaches slower than [`RESTITUTION_SPEED_MIN`](crate::limits::RESTITUTION_SPEED_MIN) do not bounce.
    pub restitution: Fx,
    /// How fast a dynamic body loses its velocity: the friction of the ground. It is a rate per second, clamped
    /// to 0 to [`DAMPING_MAX`](crate::limits::DAMPING_MAX). A substep of h seconds leaves 1 / (1 + rate * h) of the
    /// velocity, so that a rate of 1 leaves 37 % in a second.
    pub linear_damping: Fx,
    /// How fast a dynamic body loses its spin, in the same measure and range.
    pub angular_damping: Fx,
    /// Whether the body only notices kinematic and dynamic bodies and pushes nothing.
    pub sensor: bool,
    /// Whether contacts do not turn the body, as for a person who walks.
    pub fixed_rotation: bool,
    /// Which other bodies this one concerns.
    pub filter: Filter,
    /// How its friction and that of another body become the friction of their contact.
    pub friction_rule: CombineRule,
    /// How its restitution and that of another body become the restitution of their contact.
    pub restitution_rule: CombineRule,
}

impl BodySpec {
    /// Defines a body of one kilogram without velocity, with friction 1/2, no restitution and no
    /// damping.
    #[must_use]
    pub const fn new(shape: Shape, motion: Motion, position: Vec2) -> Self {
        Self {
            shape,
            motion,
            pose: Pose { position, angle: Angle::ZERO },
            velocity: Vec2::ZERO,
            spin: Fx::ZERO,
            mass: Fx::ONE,
            friction: Fx::HALF,
            restitution: Fx::ZERO,
            linear_damping: Fx::ZERO,
            angular_damping: Fx::ZERO,
            sensor: false,
            fixed_rotation: false,
            filter: Filter::ALL,
            friction_rule: CombineRule::Usual,
            restitution_rule: CombineRule::Usual,
        }
    }

    /// Returns this body made of something of a density in kilograms a square metre: its mass is the area
    /// of its shape times that, no less than [`MASS_MIN`], also of a density of zero or below, and no more than
    /// [`MASS_MAX`].
    #[must_use]
    pub fn with_density(self, density: Fx) -> Self {
        let mass = self.shape.area().saturating_mul(density);
        Self { mass: mass.clamp(MASS_MIN, MASS_MAX), ..self }
    }

    /// Checks that a body of this definition can be inserted into a region that has room.
    ///
    /// # Errors
    /// Returns [`ShapeError`]; everything else of a definition is clamped.
    pub fn check(&self) -> Result<(), ShapeError> {
        Geometry::new(&self.shape, self.motion).map(drop)
    }

    /// Returns how the body takes part in contacts.
    pub(crate) const fn role(&self) -> ContactRole {
        let rules =
            SurfaceRules { friction: self.friction_rule, restitution: self.restitution_rule };
        ContactRole { sensor: self.sensor, filter: self.filter, rules }
    }
}

/// The encoding of a spec: in the order of its fields, but for the filter and the rules, which are parts
/// of the role.
#[derive(Serialize, Deserialize)]
struct SpecForm {
    shape: Shape,
    motion: Motion,
    pose: Pose,
    velocity: Vec2,
    spin: Fx,
    mass: Fx,
    friction: Fx,
    restitution: Fx,
    linear_damping: Fx,
    angular_damping: Fx,
    role: ContactRole,
    fixed_rotation: bool,
}

impl From<BodySpec> for SpecForm {
    fn from(spec: BodySpec) -> Self {
        Self {
            role: spec.role(),
            shape: spec.shape,
            motion: spec.motion,
            pose: spec.pose,
            velocity: spec.velocity,
            spin: spec.spin,
            mass: spec.mass,
            friction: spec.friction,
            restitution: spec.restitution,
            linear_damping: spec.linear_damping,
            angular_damping: spec.angular_damping,
            fixed_rotation: spec.fixed_rotation,
        }
    }
}

impl From<SpecForm> for BodySpec {
    fn from(form: SpecForm) -> Self {
        Self {
            shape: form.shape,
            motion: form.motion,
            pose: form.pose,
            velocity: form.velocity,
            spin: form.spin,
            mass: form.mass,
            friction: form.friction,
            restitution: form.restitution,
            linear_damping: form.linear_damping,
            angular_damping: form.angular_damping,
            sensor: form.role.sensor,
            fixed_rotation: form.fixed_rotation,
            filter: form.role.filter,
            friction_rule: form.role.rules.friction,
            restitution_rule: form.role.rules.restitution,
        }
    }
}
