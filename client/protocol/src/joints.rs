//! What servers tell of joints.

use metatopia_math::{Angle, Vec2};
use metatopia_types::ObjectId;
use serde::{Deserialize, Serialize};

/// Joints in one answer: 256 of at most 100 bytes are below 26 KiB.
pub const JOINTS_PER_ANSWER_MAX: usize = 256;

/// A joint, for drawing and for people to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JointEntry {
    /// The first thing; the ground, if there is none.
    pub a: Option<ObjectId>,
    /// The second thing.
    pub b: ObjectId,
    /// The end at the first thing: a place as that one sees it, or a place of the ground.
    pub anchor_a: Vec2,
    /// The end at the second thing, as that one sees it.
    pub anchor_b: Vec2,
    /// What it leaves the things free to do.
    pub kind: JointEntryKind,
}

/// The kind of a joint, without its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JointEntryKind {
    /// Both turn about one place.
    Hinge,
    /// The ends stay at a distance, or in a range of distances.
    Rod,
    /// They hold each other.
    Weld,
    /// The second thing slides along a line.
    Slider {
        /// Which way the line goes, as the first thing sees it.
        along: Angle,
    },
    /// A spring pulls the second thing to a place.
    Target,
    /// The ends come no further apart than a length.
    Rope,
    /// A spring holds the ends at a length.
    Spring,
    /// A motor turns the second thing about one place.
    Motor,
}

impl JointEntryKind {
    /// Returns the word for it, as place files have it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Hinge => "hinge",
            Self::Rod => "rod",
            Self::Weld => "weld",
            Self::Slider { .. } => "slider",
            Self::Target => "target",
            Self::Rope => "rope",
            Self::Spring => "spring",
            Self::Motor => "motor",
        }
    }
}

impl JointEntry {
    /// Returns what a thing is joined to; nothing if the joint does not hold it, and nothing inside for the
    /// ground.
    #[must_use]
    pub fn other_end(&self, id: ObjectId) -> Option<Option<ObjectId>> {
        if self.b == id { Some(self.a) } else { (self.a == Some(id)).then_some(Some(self.b)) }
    }
}
