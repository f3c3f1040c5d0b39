//! A body: its shape, its material and its motion.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_types::ObjectId;
use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;
use crate::filter::{ContactRole, Filter};
use crate::fixed::{Q20, Q30, Unit, Vector, narrow, rounded};
use crate::limits::{
    COORDINATE_MAX, DAMPING_MAX, FRICTION_MAX, GHOSTS_FROM, MASS_MAX, MASS_MIN, SLEEP_STEPS,
    SPEED_MAX, SPIN_MAX, STEPS_PER_SECOND, SUBSTEPS,
};
use crate::motion::Motion;
use crate::shape::{Geometry, Shape, ShapeError};
use crate::spec::{BodySpec, Pose};

const BOUND: Q20 = Q20::constant(COORDINATE_MAX);

/// The complete state of one body. The encoding has at most
/// [`BODY_BYTES_MAX`](crate::limits::BODY_BYTES_MAX) bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Body {
    pub(crate) id: ObjectId,
    pub(crate) geometry: Geometry,
    pub(crate) motion: Motion,
    pub(crate) role: ContactRole,
    pub(crate) fixed_rotation: bool,
    /// The mass in kilograms, with 16 fraction bits.
    pub(crate) mass: u32,
    pub(crate) friction: Q20,
    pub(crate) restitution: Q20,
    pub(crate) linear_damping: Q20,
    pub(crate) angular_damping: Q20,
    pub(crate) position: Vector,
    /// The cosine and the sine of the angle.
    pub(crate) facing: Unit,
    pub(crate) velocity: Vector,
    pub(crate) spin: Q20,
    /// The number of steps for which the body has been slow, up to [`SLEEP_STEPS`].
    pub(crate) slow_steps: u8,
}

/// The part of a body that a step changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MovedBody {
    pub(crate) position: Vector,
    pub(crate) facing: Unit,
    pub(crate) velocity: Vector,
    pub(crate) spin: Q20,
    pub(crate) slow_steps: u8,
}

impl MovedBody {
    pub(crate) const fn of(body: &Body) -> Self {
        Self {
            position: body.position,
            facing: body.facing,
            velocity: body.velocity,
            spin: body.spin,
            slow_steps: body.slow_steps,
        }
    }
}

impl Body {
    /// Takes over what a step made of the body.
    pub(crate) const fn take(&mut self, moved: &MovedBody) {
        self.position = moved.position;
        self.facing = moved.facing;
        self.velocity = moved.velocity;
        self.spin = moved.spin;
        self.slow_steps = moved.slow_steps;
    }

    /// Makes a body of a spec, rounded and clamped to the limits.
    pub(crate) fn new(id: ObjectId, spec: &BodySpec) -> Result<Self, ShapeError> {
        let factor = |value: Fx, max: Fx| Q20::clamped(value, Q20::ZERO, Q20::constant(max));
        let mass = spec.mass.clamp(MASS_MIN, MASS_MAX).to_bits();
        let mut body = Self {
            id,
            geometry: Geometry::new(&spec.shape, spec.motion)?,
            motion: spec.motion,
            role: spec.role(),
            fixed_rotation: spec.fixed_rotation,
            mass: rounded(mass, 16) as u32,
            friction: factor(spec.friction, FRICTION_MAX),
            restitution: factor(spec.restitution, Fx::ONE),
            linear_damping: factor(spec.linear_damping, DAMPING_MAX),
            angular_damping: factor(spec.angular_damping, DAMPING_MAX),
            position: Vector::clamped(spec.pose.position, BOUND),
            facing: facing(spec.pose.angle),
            velocity: Vector::ZERO,
            spin: Q20::ZERO,
            slow_steps: 0,
        };
        if spec.motion != Motion::Static {
            body.velocity = body.speed_limited(spec.velocity);
            body.spin = body.spin_limited(spec.spin);
        }
        Ok(body)
    }

    /// Returns the spec of another body like this one.
    #[must_use]
    pub fn spec(&self) -> BodySpec {
        BodySpec {
            shape: self.shape(),
            motion: self.motion,
            pose: self.pose(),
            velocity: self.velocity(),
            spin: self.spin(),
            mass: self.mass(),
            friction: self.friction.fx(),
            restitution: self.restitution.fx(),
            linear_damping: self.linear_damping.fx(),
            angular_damping: self.angular_damping.fx(),
            sensor: self.role.sensor,
            fixed_rotation: self.fixed_rotation,
            filter: self.role.filter,
            friction_rule: self.role.rules.friction,
            restitution_rule: self.role.rules.restitution,
        }
    }

    /// Returns the id of the body.
    #[must_use]
    pub const fn id(&self) -> ObjectId {
        self.id
    }

    /// Returns whether the body is a [ghost](crate::limits::GHOSTS_FROM): of another region.
    #[must_use]
    pub const fn is_ghost(&self) -> bool {
        self.id.0 >= GHOSTS_FROM.0
    }

    /// Returns the ground that the body keeps to, where bodies of the region keep to these bounds.
    pub(crate) const fn ground(&self, bounds: Bounds) -> Bounds {
        if self.is_ghost() { Bounds::MAX } else { bounds }
    }

    /// Returns the shape of the body.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.geometry.shape()
    }

    /// Returns the kind of motion.
    #[must_use]
    pub const fn motion(&self) -> Motion {
        self.motion
    }

    /// Returns whether the body only notices others and pushes nothing.
    #[must_use]
    pub const fn is_sensor(&self) -> bool {
        self.role.sensor
    }

    /// Returns which other bodies this one concerns.
    #[must_use]
    pub const fn filter(&self) -> Filter {
        self.role.filter
    }

    /// Returns the position in metres from the region's origin, exactly.
    #[must_use]
    pub const fn position(&self) -> Vec2 {
        self.position.vec2()
    }

    /// Returns the direction of the body's own x axis, rounded to the nearest angle.
    #[must_use]
    pub const fn angle(&self) -> Angle {
        let (cosine, sine) = (self.facing.x.0 as i64, self.facing.y.0 as i64);
        Angle::atan2(Fx::from_bits(sine << 2), Fx::from_bits(cosine << 2))
    }

    /// Returns the position and the angle.
    #[must_use]
    pub const fn pose(&self) -> Pose {
        Pose { position: self.position(), angle: self.angle() }
    }

    /// Returns the velocity in metres a second, exactly.
    #[must_use]
    pub const fn velocity(&self) -> Vec2 {
        self.velocity.vec2()
    }

    /// Returns the spin in radians a second, exactly.
    #[must_use]
    pub const fn spin(&self) -> Fx {
        self.spin.fx()
    }

    /// Returns the mass in kilograms, exactly.
    #[must_use]
    pub const fn mass(&self) -> Fx {
        Fx::from_bits((self.mass as i64) << 16)
    }

    /// Returns the greatest speed that this body can have, in metres a second:
    /// [`SPEED_MAX`](crate::limits::SPEED_MAX), or less for a small one.
    #[must_use]
    pub fn speed_max(&self) -> Fx {
        self.speed_bound().fx()
    }

    /// Returns the greatest spin that this body can have, in radians a second:
    /// [`SPIN_MAX`](crate::limits::SPIN_MAX), or less for a large one.
    #[must_use]
    pub fn spin_max(&self) -> Fx {
        self.spin_bound().fx()
    }

    /// Returns whether the body is asleep. A sleeping body costs nothing, and its bytes stay the same
    /// until something wakes it.
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        self.slow_steps == SLEEP_STEPS && self.velocity.is_zero() && self.spin.is_zero()
    }

    /// Returns whether a point, in metres from the region's origin, is inside the body's shape or on
    /// its boundary.
    #[must_use]
    pub fn contains(&self, point: Vec2) -> bool {
        // No body reaches this far out, so clamping a point to here puts it into none.
        let point = Vector::clamped(point, Q20::constant(Fx::from_int(2_047)));
        // First without a rotation, whose products only fit close to the body.
        let radius = i64::from(self.geometry.bounding_radius().0);
        let far = |p: Q20, c: Q20| (i64::from(p.0) - i64::from(c.0)).abs() > radius;
        if far(point.x, self.position.x) || far(point.y, self.position.y) {
            return false;
        }
        self.geometry.contains((point - self.position).inverse_rotated(self.facing))
    }

    /// Rounds a velocity and shortens it to the body's greatest speed.
    pub(crate) fn speed_limited(&self, velocity: Vec2) -> Vector {
        let bound = self.speed_bound();
        // First clamped to a box, which keeps the direction of every vector that a script would
        // mean.
        Vector::clamped(velocity, Q20::constant(Fx::from_int(1_024))).clamp_length(bound)
    }

    /// Rounds a spin and clamps it to the body's greatest spin.
    pub(crate) fn spin_limited(&self, spin: Fx) -> Q20 {
        Q20::clamped(spin, -self.spin_bound(), self.spin_bound())
    }

    /// Moves the body to a pose, rounded and clamped to the region.
    pub(crate) fn set_pose(&mut self, pose: Pose) {
        self.position = Vector::clamped(pose.position, BOUND);
        self.facing = facing(pose.angle);
    }

    /// Returns the greatest speed: the inscribed radius per substep, or the limit for all bodies.
    pub(crate) fn speed_bound(&self) -> Q20 {
        let radius = i64::from(self.geometry.inscribed_radius().0);
        let own = radius * i64::from(STEPS_PER_SECOND * SUBSTEPS);
        Q20(narrow(own.min(i64::from(Q20::constant(SPEED_MAX).0))))
    }

    /// Returns the greatest spin: at which the outermost point has the greatest speed, or the limit
    /// for all bodies.
    pub(crate) fn spin_bound(&self) -> Q20 {
        spin_bound(self.geometry.bounding_radius())
    }

    /// Returns one over the mass, with 28 fraction bits (2^14 to 2^32), or zero for an infinite mass.
    pub(crate) fn inverse_mass(&self) -> i64 {
        match self.motion {
            Motion::Static | Motion::Kinematic => 0,
            Motion::Dynamic => (1 << 44) / i64::from(self.mass.max(1)),
        }
    }
}

/// Returns the greatest spin of a body whose outermost point is this far from its position.
pub(crate) fn spin_bound(bounding_radius: Q20) -> Q20 {
    let own = (SPEED_MAX.to_bits() << 8) / i64::from(bounding_radius.0);
    Q20(narrow(own.min(i64::from(Q20::constant(SPIN_MAX).0))))
}

/// Returns the cosine and the sine of an angle, rounded to 30 fraction bits.
pub(crate) fn facing(angle: Angle) -> Unit {
    let (sine, cosine) = angle.sin_cos();
    Unit {
        x: Q30(narrow(rounded(cosine.to_bits(), 2))),
        y: Q30(narrow(rounded(sine.to_bits(), 2))),
    }
}

// Each step reads all bodies, from memory that the processor does not keep if there are thousands.
const _: () = assert!(size_of::<Body>() <= 96);
