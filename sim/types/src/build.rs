//! What builders do to the things of a world.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::{fmt, str::FromStr};

use metatopia_math::{Angle, Fx, Vec2};
use serde::{Deserialize, Serialize};

use crate::{
    ObjectId, PackageId, PublicKey, ScriptId,
    limits::{MORE_PARTS_MAX, OUTLINE_CORNERS_MAX},
};

/// What a builder wants done. A thing is changed by its owner, or an admin, and stays where its
/// builder may build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Build {
    /// Makes a thing; it belongs to whoever makes it.
    Place(Blueprint),
    /// Puts a thing elsewhere.
    Move {
        /// The object to move.
        object: ObjectId,
        /// The new place of its centre, in metres.
        position: Vec2,
    },
    /// Turns a thing about its centre.
    Rotate {
        /// The object to turn.
        object: ObjectId,
        /// Which way it faces from now on.
        angle: Angle,
    },
    /// Gives a thing another outline.
    Resize {
        /// The object to change.
        object: ObjectId,
        /// The new one.
        outline: Outline,
    },
    /// Gives a thing another colour.
    Recolor {
        /// The object to change.
        object: ObjectId,
        /// The new color as 0xRRGGBB.
        color: u32,
    },
    /// Gives a thing another name.
    Rename {
        /// The object to change.
        object: ObjectId,
        /// One line of at most `NAME_BYTES_MAX` bytes.
        name: String,
    },
    /// Changes the text that a thing shows.
    Write {
        /// The object to change.
        object: ObjectId,
        /// One line of at most `SIGN_BYTES_MAX` bytes; empty for none.
        text: String,
    },
    /// Makes another one of a thing that is one's own or freely licensed. The copy has the same
    /// author, licence and packages, belongs to whoever makes it, and names what it is a copy of.
    Copy {
        /// The object to copy.
        object: ObjectId,
        /// Where the copy's centre is, in metres.
        position: Vec2,
    },
    /// Takes a thing out of the world, with its scripts.
    Delete {
        /// The object to delete.
        object: ObjectId,
    },
    /// Makes a thing somebody else's; that cannot be undone.
    Give {
        /// The object to give.
        object: ObjectId,
        /// The new owner, who has logged in at least once.
        to: PublicKey,
    },
    /// Puts a script on a thing: it begins with `on_start`.
    Attach {
        /// The thing that gets the script.
        object: ObjectId,
        /// What runs: a package of the sim.
        package: PackageId,
    },
    /// Takes a script off a thing; what it remembered is lost.
    Detach {
        /// The thing that has the script.
        object: ObjectId,
        /// Which of its scripts.
        script: ScriptId,
    },
    /// Takes back what the author did last as a builder, since the avatar came into the world.
    Undo {
        /// The number of the last deeds that are passed over, and forgotten if the one before them is taken
        /// back: for deeds that can be taken back no more.
        skip: u8,
    },
    /// Has a script run another package from now on. It keeps its state, its timers and what waits for it,
    /// and gets `on_upgrade` first; what it was before is kept until that and one more event ended well.
    Upgrade {
        /// The thing that has the script.
        object: ObjectId,
        /// Which of its scripts.
        script: ScriptId,
        /// What runs from now on: a package of the sim.
        package: PackageId,
    },
    /// Has a script run again that was suspended because it failed too often. It keeps its state, loses its
    /// timers, and begins with `on_start`.
    Resume {
        /// The thing that has the script.
        object: ObjectId,
        /// Which of its scripts.
        script: ScriptId,
    },
    /// Says whether a thing may leave for another sim, over a border.
    LetTravel {
        /// The object to change.
        object: ObjectId,
        /// Whether it may leave from now on.
        travels: bool,
    },
    /// Takes a thing that can be pushed into the author's hands: it goes where the author goes, and is in
    /// nobody's way.
    Take {
        /// The object to take.
        object: ObjectId,
    },
    /// Puts a thing down that is in the author's hands.
    PutDown {
        /// The object to put down.
        object: ObjectId,
        /// Where its centre is from now on, in metres.
        position: Vec2,
    },
    /// Joins a thing to another one of the same owner, or to the ground, as they stand.
    Join {
        /// The thing that is joined.
        object: ObjectId,
        /// What it is joined to; the ground, if nothing is named.
        to: Option<ObjectId>,
        /// Where, in metres: see [`BuiltJoint`].
        at: Vec2,
        /// What the joint leaves the thing free to do.
        kind: BuiltJoint,
    },
    /// Takes joints off a thing.
    Unjoin {
        /// The thing that is freed.
        object: ObjectId,
        /// Only those with this other thing; all of them, if nothing is named.
        from: Option<ObjectId>,
    },
    /// Makes a thing of another material: how heavy it is, how it slides and how it bounces.
    MakeOf {
        /// The object to change.
        object: ObjectId,
        /// What it is made of from now on.
        material: BuiltMaterial,
    },
    /// Makes one thing of several parts in the place of things of the author, which are deleted with their
    /// scripts. It is as the first of them, and its licence is the strictest of theirs.
    Unite {
        /// The things: two or more, with no more parts together than a thing may have.
        objects: Vec<ObjectId>,
    },
    /// Puts a thing into its owner's luggage: it has no place in the sim until its owner fetches it.
    Stow {
        /// The object to put away.
        object: ObjectId,
    },
    /// Puts a thing down that is in the author's luggage.
    Fetch {
        /// The object to put down.
        object: ObjectId,
        /// Where its centre is from now on, in metres.
        position: Vec2,
    },
    /// Deletes a thing in somebody's luggage for good. Its owner may, and whoever may build with everything.
    Discard {
        /// The object to delete.
        object: ObjectId,
    },
    /// Makes a thing a sensor, which everything passes through, or solid again. Its scripts hear of what touches it
    /// either way.
    MakeSensor {
        /// The object to change.
        object: ObjectId,
        /// Whether it is a sensor from now on.
        sensor: bool,
    },
}

/// A material that builders make things of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BuiltMaterial {
    /// What is built at first is of wood.
    Wood,
    /// Heavy and rough: it hardly slides.
    Stone,
    /// It is the heaviest of them.
    Steel,
    /// It bounces, and grips whatever it touches.
    Rubber,
    /// It slides far, and everything slides on it.
    Ice,
    /// It weighs next to nothing, and nothing bounces off it.
    Foam,
}

impl BuiltMaterial {
    /// All of them, with the words for them.
    pub const ALL: [(&'static str, Self); 6] = [
        ("wood", Self::Wood),
        ("stone", Self::Stone),
        ("steel", Self::Steel),
        ("rubber", Self::Rubber),
        ("ice", Self::Ice),
        ("foam", Self::Foam),
    ];

    /// Returns the material that a word is for.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(name, _)| *name == word).map(|(_, material)| *material)
    }

    /// Returns the word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, material)| *material == self);
        found.expect("all of them have words").0
    }
}

/// What a joint that somebody builds leaves a thing free to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BuiltJoint {
    /// To turn about the place.
    Hinge,
    /// To go around the place, at the distance that its centre has: a rod holds both together.
    Rod,
    /// Nothing: both are one piece.
    Weld,
    /// To slide along a line through the place.
    Slider {
        /// Which way the line goes.
        along: Angle,
    },
    /// To go anywhere no further from the place than its centre is now: a rope.
    Rope,
    /// To swing about the distance that its centre has from the place: a spring.
    Spring {
        /// How often it swings in a second, in hertz; physics clamps it.
        frequency: Fx,
        /// The damping ratio: 0 swings for ever, 1 not at all; physics clamps it.
        damping: Fx,
    },
    /// To be turned about the place by a motor.
    Motor {
        /// Radians a second, counterclockwise; physics clamps it.
        speed: Fx,
        /// The greatest torque in newton metres; physics clamps it.
        strength: Fx,
    },
}

impl Build {
    /// The thing that it is about, if that is there already.
    #[must_use]
    pub const fn object(&self) -> Option<ObjectId> {
        match self {
            Self::Place(_) | Self::Undo { .. } | Self::Unite { .. } => None,
            Self::Move { object, .. }
            | Self::Rotate { object, .. }
            | Self::Resize { object, .. }
            | Self::Recolor { object, .. }
            | Self::Rename { object, .. }
            | Self::Write { object, .. }
            | Self::Copy { object, .. }
            | Self::Delete { object }
            | Self::Give { object, .. }
            | Self::Attach { object, .. }
            | Self::Detach { object, .. }
            | Self::Upgrade { object, .. }
            | Self::Resume { object, .. }
            | Self::LetTravel { object, .. }
            | Self::Take { object }
            | Self::PutDown { object, .. }
            | Self::Join { object, .. }
            | Self::Unjoin { object, .. }
            | Self::MakeOf { object, .. }
            | Self::MakeSensor { object, .. }
            | Self::Stow { object }
            | Self::Discard { object }
            | Self::Fetch { object, .. } => Some(*object),
        }
    }
}

/// A thing to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blueprint {
    /// What it is, as scripts and people are told: one line of at most `NAME_BYTES_MAX` bytes, and
    /// not `avatar`.
    pub kind: String,
    /// What it is called: one line of at most `NAME_BYTES_MAX` bytes.
    pub name: String,
    /// The text that it shows: one line of at most `SIGN_BYTES_MAX` bytes, often empty.
    pub text: String,
    /// The color as 0xRRGGBB.
    pub color: u32,
    /// Its shape and size; of a thing of several parts, those of the first.
    pub outline: Outline,
    /// Whether it can be pushed. Otherwise it stays where it is put.
    pub movable: bool,
    /// The centre of `outline`, in metres.
    pub position: Vec2,
    /// Which way it faces.
    pub angle: Angle,
    /// What everybody may do with it.
    pub licence: AssetLicence,
    /// The other parts of it.
    pub parts: OutlineParts,
}

/// One more part of a thing: an outline that is one with the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutlinePart {
    /// Its shape and size.
    pub outline: Outline,
    /// Where its centre is, in metres from that of the first outline, before the thing is turned.
    pub offset: Vec2,
    /// How far it is turned against the first outline.
    pub angle: Angle,
}

/// The parts of a thing besides the first: at most [`MORE_PARTS_MAX`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<OutlinePart>", into = "Vec<OutlinePart>")]
pub struct OutlineParts(Box<[OutlinePart]>);

/// The count of parts that no thing has, of which one is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} parts where at most {most} are allowed", most = MORE_PARTS_MAX + 1)]
pub struct PartCountError(pub usize);

impl OutlineParts {
    /// Returns the parts of a thing besides the first.
    ///
    /// # Errors
    /// When they are more than [`MORE_PARTS_MAX`].
    pub fn new(parts: Vec<OutlinePart>) -> Result<Self, PartCountError> {
        if parts.len() > MORE_PARTS_MAX {
            return Err(PartCountError(parts.len().saturating_add(1)));
        }
        Ok(Self(parts.into_boxed_slice()))
    }

    /// Returns the parts.
    #[must_use]
    pub fn as_slice(&self) -> &[OutlinePart] {
        &self.0
    }
}

impl TryFrom<Vec<OutlinePart>> for OutlineParts {
    type Error = PartCountError;

    fn try_from(parts: Vec<OutlinePart>) -> Result<Self, Self::Error> {
        Self::new(parts)
    }
}

impl From<OutlineParts> for Vec<OutlinePart> {
    fn from(parts: OutlineParts) -> Self {
        parts.0.into_vec()
    }
}

/// A shape with its size, around the centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outline {
    /// The shape of a disc.
    Disc {
        /// The radius in metres.
        radius: Fx,
    },
    /// A rectangle that turns with the thing.
    Box {
        /// Half the width and half the height, in metres.
        half: Vec2,
    },
    /// A rod with round ends, which lies along the thing's own x axis.
    Capsule {
        /// Half the distance between the middles of the round ends, in metres.
        half: Fx,
        /// The radius of the ends, in metres.
        radius: Fx,
    },
    /// A convex polygon that turns with the thing. Its centre of mass is the centre of the thing.
    Polygon(OutlineCorners),
}

/// The corners of an outline in metres, counter-clockwise: 3 to [`OUTLINE_CORNERS_MAX`]. Whether they are
/// convex is judged where a thing is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vec2>", into = "Vec<Vec2>")]
pub struct OutlineCorners {
    points: [Vec2; OUTLINE_CORNERS_MAX],
    count: u8,
}

/// The count of corners that no outline has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} corners where 3 to {OUTLINE_CORNERS_MAX} are allowed")]
pub struct CornerCountError(pub usize);

impl OutlineCorners {
    /// Returns the corners of an outline.
    ///
    /// # Errors
    /// When they are fewer than three, or more than [`OUTLINE_CORNERS_MAX`].
    pub fn new(corners: &[Vec2]) -> Result<Self, CornerCountError> {
        let fault = CornerCountError(corners.len());
        let mut points = [Vec2::ZERO; OUTLINE_CORNERS_MAX];
        points.get_mut(..corners.len()).ok_or(fault)?.copy_from_slice(corners);
        let count = u8::try_from(corners.len()).map_err(|_| fault)?;
        if count < 3 { Err(fault) } else { Ok(Self { points, count }) }
    }

    /// Returns the corners.
    #[must_use]
    pub fn points(&self) -> &[Vec2] {
        &self.points[..usize::from(self.count)]
    }
}

impl TryFrom<Vec<Vec2>> for OutlineCorners {
    type Error = CornerCountError;

    fn try_from(corners: Vec<Vec2>) -> Result<Self, Self::Error> {
        Self::new(&corners)
    }
}

impl From<OutlineCorners> for Vec<Vec2> {
    fn from(corners: OutlineCorners) -> Self {
        corners.points().to_vec()
    }
}

/// The licence of a thing: of what it looks like and says. The licences of its scripts are in their
/// packages.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum AssetLicence {
    /// Everybody may do everything with it.
    Cc0,
    /// Everybody may copy and change it, and names the author.
    CcBy,
    /// As [`AssetLicence::CcBy`], and what is made of it has the same licence.
    #[default]
    CcBySa,
    /// Only its owner may copy it.
    Reserved,
}

impl AssetLicence {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Cc0, Self::CcBy, Self::CcBySa, Self::Reserved];

    /// The SPDX expression for it.
    #[must_use]
    pub const fn spdx(self) -> &'static str {
        match self {
            Self::Cc0 => "CC0-1.0",
            Self::CcBy => "CC-BY-4.0",
            Self::CcBySa => "CC-BY-SA-4.0",
            Self::Reserved => "LicenseRef-All-Rights-Reserved",
        }
    }

    /// Returns whether everybody may copy it.
    #[must_use]
    pub const fn is_free(self) -> bool {
        !matches!(self, Self::Reserved)
    }
}

impl fmt::Display for AssetLicence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.spdx())
    }
}

/// A licence that things cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "no licence for things; there are CC0-1.0, CC-BY-4.0, CC-BY-SA-4.0 and \
     LicenseRef-All-Rights-Reserved"
)]
pub struct ParseAssetLicenceError;

impl FromStr for AssetLicence {
    type Err = ParseAssetLicenceError;

    fn from_str(text: &str) -> Result<Self, ParseAssetLicenceError> {
        let found = Self::ALL.into_iter().find(|licence| licence.spdx() == text);
        found.ok_or(ParseAssetLicenceError)
    }
}
