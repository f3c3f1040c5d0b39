//! The border between fixed point and floats. Both ways are exact or rounded in one way, so that every
//! processor crosses it with the same bits.

use metatopia_math::{Fx, Vec2};
use rapier2d::math::{Pose, Rotation, Vector};

/// The value of the last bit of an [`Fx`], as a power of two that a float holds exactly.
const UNITS: f64 = 4_294_967_296.0;

/// Returns the nearest float; of two that are as near, the even one.
pub(crate) fn float(value: Fx) -> f32 {
    // 52 bits are enough for what a region holds, so only the last step rounds.
    (value.to_bits() as f64 / UNITS) as f32
}

/// Returns the nearest number of fixed point: zero for what is no number, the greatest for what is larger.
pub(crate) fn fixed(value: f32) -> Fx {
    Fx::from_bits((f64::from(value) * UNITS).round() as i64)
}

pub(crate) fn float_vector(value: Vec2) -> Vector {
    Vector::new(float(value.x), float(value.y))
}

pub(crate) fn fixed_vector(value: Vector) -> Vec2 {
    Vec2::new(fixed(value.x), fixed(value.y))
}

/// Returns a pose of a position, and of the cosine and the sine of an angle.
pub(crate) fn pose(position: Vec2, facing: Vec2) -> Pose {
    let rotation = Rotation::from_cos_sin_unchecked(float(facing.x), float(facing.y));
    Pose { translation: float_vector(position), rotation: rotation.normalize() }
}
