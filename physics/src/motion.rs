//! The three kinds of motion of a body.

use core::fmt;

use serde::{Deserialize, Serialize};

/// The kind of motion of a body; in Box2D, the type of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Motion {
    /// The body stays where it is put.
    Static,
    /// The body moves by its velocity and spin, which only commands change. It has an infinite mass
    /// and pushes what it meets.
    Kinematic,
    /// The body moves by its velocity and spin, which contacts, impulses and damping change.
    Dynamic,
}

impl fmt::Display for Motion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Static => "static",
            Self::Kinematic => "kinematic",
            Self::Dynamic => "dynamic",
        })
    }
}
