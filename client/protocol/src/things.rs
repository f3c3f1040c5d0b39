//! The things that somebody owns, as a node tells of them.

use alloc::{string::String, vec::Vec};

use metatopia_math::Vec2;
use metatopia_types::{ObjectId, PackageId, ScriptId, SimId};
use serde::{Deserialize, Serialize};

/// A thing that somebody owns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThingEntry {
    /// The object that is listed.
    pub object: ObjectId,
    /// What it is called.
    pub name: String,
    /// What it is.
    pub kind: String,
    /// Its centre, in metres; of a thing in luggage, where that was last.
    pub position: Vec2,
    /// Bytes of the text that it shows.
    pub text_bytes: u32,
    /// Its scripts, with what they run.
    pub scripts: Vec<(ScriptId, PackageId)>,
    /// The neighbour against whose border's share it counts; none of what counts against its owner's.
    pub guest: Option<SimId>,
    /// How it lies in luggage; none of a thing that has a place in the sim.
    pub stowed: Option<StowedThing>,
}

/// A thing in somebody's luggage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StowedThing {
    /// Half of its width and height as it is turned, in metres.
    pub half: Vec2,
    /// Whether it can be pushed.
    pub movable: bool,
    /// What its scripts run, which have no numbers there.
    pub packages: Vec<PackageId>,
}
