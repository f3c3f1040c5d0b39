//! A body: its shape, its matter and where it goes.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_types::ObjectId;
use serde::{Deserialize, Serialize};

use crate::fixed::{Q20, Q30, Unit, Vector, narrow, rounded};
use crate::limits::{
    COORDINATE_MAX, DAMPING_MAX, FRICTION_MAX, MASS_MAX, MASS_MIN, REST_STEPS, SPEED_MAX, SPIN_MAX,
    STEPS_PER_SECOND, SUBSTEPS,
};
use crate::motion::Motion;
use crate::shape::{Form, Shape, SizeError};

const BOUND: Q20 = Q20::constant(COORDINATE_MAX);

/// A place and a facing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pose {
    /// Metres from the region's origin.
    pub position: Vec2,
    /// The direction of the body's own x axis.
    pub angle: Angle,
}

/// What a body is made of and how it starts. Start from [`BodySpec::new`] and change fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BodySpec {
    /// The outline; the only field that can be refused.
    pub shape: Shape,
    /// How it moves.
    pub motion: Motion,
    /// Where it starts, moved into the region.
    pub pose: Pose,
    /// Metres a second; shortened to the body's greatest speed. Zero for a static body.
    pub velocity: Vec2,
    /// Radians a second; moved into the body's greatest spin. Zero for a static body.
    pub spin: Fx,
    /// Kilograms; used while it is dynamic.
    pub mass: Fx,
    /// 0 is ice; two bodies rub with the geometric mean of theirs.
    pub friction: Fx,
    /// 0 does not bounce, 1 loses nothing; two bodies bounce with the greater of theirs.
    pub restitution: Fx,
    /// Share of the velocity that a dynamic body loses in a second: ground friction.
    pub linear_damping: Fx,
    /// Share of the spin that a dynamic body loses in a second.
    pub angular_damping: Fx,
    /// It only notices kinematic and dynamic bodies, and pushes nothing.
    pub sensor: bool,
    /// Contacts do not turn it: for walkers.
    pub fixed_rotation: bool,
}

impl BodySpec {
    /// One kilogram at rest, with friction 1/2, no bounce and no damping.
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
        }
    }
}

/// The complete state of one body, at most [`BODY_BYTES_MAX`](crate::limits::BODY_BYTES_MAX) bytes
/// when encoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Body {
    pub(crate) id: ObjectId,
    pub(crate) form: Form,
    pub(crate) motion: Motion,
    pub(crate) sensor: bool,
    pub(crate) fixed_rotation: bool,
    /// Kilograms with 16 fraction bits.
    pub(crate) mass: u32,
    pub(crate) friction: Q20,
    pub(crate) restitution: Q20,
    pub(crate) linear_damping: Q20,
    pub(crate) angular_damping: Q20,
    pub(crate) position: Vector,
    /// Cosine and sine of the angle.
    pub(crate) facing: Unit,
    pub(crate) velocity: Vector,
    pub(crate) spin: Q20,
    /// Steps for which it has been slow, up to [`REST_STEPS`].
    pub(crate) slow_steps: u8,
}

impl Body {
    /// Rounds a spec and moves it into the limits.
    pub(crate) fn new(id: ObjectId, spec: &BodySpec) -> Result<Self, SizeError> {
        let factor = |value: Fx, max: Fx| Q20::clamped(value, Q20::ZERO, Q20::constant(max));
        let mass = spec.mass.clamp(MASS_MIN, MASS_MAX).to_bits();
        let mut body = Self {
            id,
            form: Form::new(spec.shape, spec.motion)?,
            motion: spec.motion,
            sensor: spec.sensor,
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

    /// What another body like this one starts from.
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
            sensor: self.sensor,
            fixed_rotation: self.fixed_rotation,
        }
    }

    /// Its name.
    #[must_use]
    pub const fn id(&self) -> ObjectId {
        self.id
    }

    /// Its outline.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.form.shape()
    }

    /// How it moves.
    #[must_use]
    pub const fn motion(&self) -> Motion {
        self.motion
    }

    /// Whether it only notices others.
    #[must_use]
    pub const fn is_sensor(&self) -> bool {
        self.sensor
    }

    /// Metres from the region's origin, exactly.
    #[must_use]
    pub const fn position(&self) -> Vec2 {
        self.position.vec2()
    }

    /// The direction of its own x axis, rounded to the nearest angle.
    #[must_use]
    pub const fn angle(&self) -> Angle {
        let (cosine, sine) = (self.facing.x.0 as i64, self.facing.y.0 as i64);
        Angle::atan2(Fx::from_bits(sine << 2), Fx::from_bits(cosine << 2))
    }

    /// Place and facing.
    #[must_use]
    pub const fn pose(&self) -> Pose {
        Pose { position: self.position(), angle: self.angle() }
    }

    /// Metres a second, exactly.
    #[must_use]
    pub const fn velocity(&self) -> Vec2 {
        self.velocity.vec2()
    }

    /// Radians a second, exactly.
    #[must_use]
    pub const fn spin(&self) -> Fx {
        self.spin.fx()
    }

    /// Kilograms, exactly.
    #[must_use]
    pub const fn mass(&self) -> Fx {
        Fx::from_bits((self.mass as i64) << 16)
    }

    /// The greatest speed that this body can have, in metres a second:
    /// [`SPEED_MAX`](crate::limits::SPEED_MAX), or less for a small one.
    #[must_use]
    pub fn speed_max(&self) -> Fx {
        self.speed_bound().fx()
    }

    /// The greatest spin that this body can have, in radians a second:
    /// [`SPIN_MAX`](crate::limits::SPIN_MAX), or less for a large one.
    #[must_use]
    pub fn spin_max(&self) -> Fx {
        self.spin_bound().fx()
    }

    /// Whether it is at rest: it costs nothing, and its bytes stay the same until something stirs
    /// it.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.slow_steps == REST_STEPS && self.velocity.is_zero() && self.spin.is_zero()
    }

    /// Whether a point, in metres from the region's origin, is inside or on its outline.
    #[must_use]
    pub fn contains(&self, point: Vec2) -> bool {
        // No body reaches this far out, so moving a point in to here brings it into none.
        let point = Vector::clamped(point, Q20::constant(Fx::from_int(2_047)));
        let outer = i64::from(self.form.outer_radius().0);
        let far = |p: Q20, c: Q20| (i64::from(p.0) - i64::from(c.0)).abs() > outer;
        if far(point.x, self.position.x) || far(point.y, self.position.y) {
            return false;
        }
        self.form.contains((point - self.position).unturned(self.facing))
    }

    /// A velocity rounded and shortened to what this body may have.
    pub(crate) fn speed_limited(&self, velocity: Vec2) -> Vector {
        let bound = self.speed_bound();
        // First to a box that keeps the direction of every vector a script would mean.
        Vector::clamped(velocity, Q20::constant(Fx::from_int(1_024))).shortened(bound)
    }

    /// A spin rounded and moved into what this body may have.
    pub(crate) fn spin_limited(&self, spin: Fx) -> Q20 {
        Q20::clamped(spin, -self.spin_bound(), self.spin_bound())
    }

    /// Moves it to a pose, rounded and moved into the region.
    pub(crate) fn place(&mut self, pose: Pose) {
        self.position = Vector::clamped(pose.position, BOUND);
        self.facing = facing(pose.angle);
    }

    /// Its own (lesser) radius per substep, or the limit for all.
    pub(crate) fn speed_bound(&self) -> Q20 {
        let own = i64::from(self.form.inner_radius().0) * i64::from(STEPS_PER_SECOND * SUBSTEPS);
        Q20(narrow(own.min(i64::from(Q20::constant(SPEED_MAX).0))))
    }

    /// The spin at which its outermost point has the greatest speed, or the limit for all.
    pub(crate) fn spin_bound(&self) -> Q20 {
        let own = SPEED_MAX.to_bits() << 8;
        let own = own / i64::from(self.form.outer_radius().0);
        Q20(narrow(own.min(i64::from(Q20::constant(SPIN_MAX).0))))
    }

    /// One over the mass, with 28 fraction bits (2^14 to 2^32), or zero if nothing moves it.
    pub(crate) fn inverse_mass(&self) -> i64 {
        match self.motion {
            Motion::Static | Motion::Kinematic => 0,
            Motion::Dynamic => (1 << 44) / i64::from(self.mass.max(1)),
        }
    }
}

/// Cosine and sine, rounded to 30 fraction bits.
fn facing(angle: Angle) -> Unit {
    let (sine, cosine) = angle.sin_cos();
    Unit {
        x: Q30(narrow(rounded(cosine.to_bits(), 2))),
        y: Q30(narrow(rounded(sine.to_bits(), 2))),
    }
}
