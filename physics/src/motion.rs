//! How a body moves.

use core::fmt;

use serde::{Deserialize, Serialize};

/// How a body moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Motion {
    /// It stays where it is put.
    Static,
    /// It moves by its velocity and spin, which only commands change, and pushes what it meets.
    Kinematic,
    /// It moves by its velocity and spin, which contacts, impulses and damping change.
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
