//! Border frames: the bodies near a line, as a sim tells its neighbour of them.
//!
//! The neighbour has a copy of each as a ghost, which pushes what stands on its side. Numbers are rounded and
//! shapes are simple, because all of them share a leaf with what else is said.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::said::{SaidError, Traveller};
use crate::{Millis, limits::BORDER_BODIES_MAX};

/// The steps of a metre in which frames say places and sizes.
pub const FRAME_METRE: i32 = 1_024;

/// The steps of a metre a second, and of a radian a second, in which frames say how bodies move.
pub const FRAME_SPEED: i32 = 256;

/// The least and the greatest size in a frame, in steps of [`FRAME_METRE`]: a 16th of a metre and 16 m, between
/// which all bodies are that move.
const SIZES: core::ops::RangeInclusive<u16> = 64..=16 * 1_024;

/// The outline of a body in a frame, in steps of [`FRAME_METRE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FrameShape {
    /// A disc of this radius.
    Circle(u16),
    /// A rectangle of this half width and half height.
    Rect(u16, u16),
    /// All that is no further than the second number from a line of twice the first one.
    Capsule(u16, u16),
}

/// A body in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FrameBody {
    /// The person whose avatar it is, or where and as what the thing was born.
    pub traveller: Traveller,
    /// Where its outline has its middle, on the sender's ground.
    pub place: (i32, i32),
    /// The direction that it faces, in steps of 2^-16 turns.
    pub angle: u16,
    /// How fast it moves along both axes, in steps of 1/256 m/s.
    pub velocity: (i16, i16),
    /// How fast it turns, in steps of 1/256 radians a second.
    pub spin: i16,
    /// Its outline, in steps of 1/1,024 m.
    pub shape: FrameShape,
}

/// The bodies near a line, as they were at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BorderFrame {
    /// The time of the turn after which it was made, by the sender's clock.
    pub made: Millis,
    /// The bodies, ascending by whose or what they are; at most [`BORDER_BODIES_MAX`].
    pub bodies: Vec<FrameBody>,
}

impl FrameShape {
    /// Returns its sizes.
    #[must_use]
    pub const fn sizes(self) -> (u16, u16) {
        match self {
            Self::Circle(radius) => (radius, radius),
            Self::Rect(width, height) => (width, height),
            Self::Capsule(half, radius) => (half, radius),
        }
    }
}

impl BorderFrame {
    /// Returns the frame in which there never was anything.
    #[must_use]
    pub const fn empty() -> Self {
        Self { made: Millis(0), bodies: Vec::new() }
    }

    /// Checks all of it that can be checked without knowing where the line is, in what a sim says at a time of
    /// its own. Speeds are no errors: whoever puts the bodies in shortens them.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self, said_at: Millis) -> Result<(), SaidError> {
        if self.bodies.len() > BORDER_BODIES_MAX {
            return Err(SaidError::Long(self.bodies.len(), BORDER_BODIES_MAX));
        }
        if !self.bodies.is_sorted_by(|a, b| a.traveller < b.traveller) {
            return Err(SaidError::Order);
        }
        let sizes = self.bodies.iter().map(|body| body.shape.sizes());
        let wrong = sizes.flat_map(|(a, b)| [a, b]).find(|size| !SIZES.contains(size));
        if let Some(size) = wrong {
            return Err(SaidError::Size(size));
        }
        if self.made > said_at {
            return Err(SaidError::Later(self.made.0));
        }
        Ok(())
    }
}
