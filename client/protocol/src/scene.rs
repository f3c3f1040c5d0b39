//! What a client sees: plain numbers for drawing and describing, not state to compute with.

use alloc::{string::String, vec::Vec};

use metatopia_math::{Angle, Vec2};
use metatopia_types::{Emote, Height, Look, ObjectId, PackageId, PublicKey, Tick};
use serde::{Deserialize, Serialize};

/// What is near an avatar after one turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scene {
    /// After this turn.
    pub height: Height,
    /// After this tick.
    pub tick: Tick,
    /// The client's own avatar, if it has one.
    pub me: Option<ObjectId>,
    /// Objects in sight, nearest first.
    pub objects: Vec<SceneObject>,
}

/// An object in sight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SceneObject {
    /// Which.
    pub id: ObjectId,
    /// Its name.
    pub name: String,
    /// Metres.
    pub position: Vec2,
    /// Which way it faces.
    pub angle: Angle,
    /// Metres per second.
    pub velocity: Vec2,
    /// Half its width and height in metres; a disc has both equal.
    pub half: Vec2,
    /// How it is drawn.
    pub look: Look,
    /// What it says on itself.
    pub text: String,
    /// Whether it can be pushed.
    pub movable: bool,
    /// Whose avatar it is, and its gesture.
    pub player: Option<ScenePlayer>,
    /// The packages of its scripts.
    pub packages: Vec<PackageId>,
}

/// What is special about an avatar.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenePlayer {
    /// The player.
    pub key: PublicKey,
    /// The gesture it makes.
    pub emote: Option<Emote>,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatLine {
    /// In the turn of this height.
    pub height: Height,
    /// 0 nearby, 1 everywhere.
    pub channel: u8,
    /// By this object.
    pub speaker: ObjectId,
    /// Its name at that moment.
    pub name: String,
    /// The words.
    pub text: String,
}
