//! The shapes of a `place.toml`, for reading and for writing.

use std::collections::BTreeMap;

use metatopia_physics::CombineRule;
use metatopia_types::BodyShape;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::number::{Color, Number, NumberPair, Setting};

/// Returns whether a value is the one that is meant where nothing is written.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A table of settings, by their names in it.
pub(super) type SettingTable = BTreeMap<Spanned<String>, Spanned<Setting>>;

/// What a `place.toml` says.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlaceFile {
    pub(super) name: Spanned<String>,
    pub(super) licence: Spanned<String>,
    pub(super) asset_licence: Spanned<String>,
    /// What there is to see and to do.
    pub(super) description: Option<Spanned<String>>,
    /// Words by which the place is found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tags: Vec<Spanned<String>>,
    /// What people agree to before they enter.
    pub(super) house_rules: Option<Spanned<String>>,
    /// How long a sim of it lives.
    pub(super) ttl: Option<Spanned<String>>,
    pub(super) spawn: Option<Spanned<NumberPair>>,
    pub(super) spawn_radius: Option<Spanned<Number>>,
    /// Ticks of 1/60 s in one turn.
    pub(super) ticks_per_turn: Option<Spanned<u32>>,
    /// How far nearby words are heard, in metres.
    pub(super) hearing: Option<Spanned<Number>>,
    pub(super) objects_max: Option<Spanned<Setting>>,
    pub(super) avatars_max: Option<Spanned<Setting>>,
    pub(super) lease_ticks: Option<Spanned<Setting>>,
    pub(super) grace_ticks: Option<Spanned<Setting>>,
    pub(super) admin_days: Option<Spanned<Setting>>,
    pub(super) player_days: Option<Spanned<Setting>>,
    pub(super) seen_days: Option<Spanned<Setting>>,
    /// Whom a first login lets in: open, work, invite or closed.
    pub(super) first_login: Option<Spanned<Setting>>,
    /// Who may publish source: anybody, seen, builders or admins.
    pub(super) publishers: Option<Spanned<Setting>>,
    pub(super) first_login_tries: Option<Spanned<Setting>>,
    /// Who may claim land, if a sim of the place is a land office: nobody, beside or anybody.
    pub(super) land_claims: Option<Spanned<Setting>>,
    pub(super) land_per_key: Option<Spanned<Setting>>,
    pub(super) land_per_week: Option<Spanned<Setting>>,
    pub(super) land_days: Option<Spanned<Setting>>,
    /// Fewest servers of a neighbour from which things come.
    pub(super) things_from_servers: Option<Spanned<Setting>>,
    pub(super) border_things: Option<Spanned<Setting>>,
    pub(super) border_bytes: Option<Spanned<Setting>>,
    pub(super) border_gas: Option<Spanned<Setting>>,
    /// Packages that run as ports to Rust.
    pub(super) ports: Option<Spanned<Setting>>,
    /// Names that scripts ask for, each on from a height.
    pub(super) flags: Option<Spanned<Setting>>,
    /// The ground that bodies keep to.
    pub(super) ground: Option<Spanned<GroundFile>>,
    /// Metres a second squared.
    pub(super) gravity: Option<Spanned<NumberPair>>,
    /// What moves the bodies: basic or advanced.
    pub(super) tier: Option<Spanned<String>>,
    #[serde(default, skip_serializing_if = "AvatarFile::is_empty")]
    pub(super) avatar: AvatarFile,
    /// What players may build.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) building: SettingTable,
    /// How much ground players may take.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) lots: SettingTable,
    /// When people are heard.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) chat: SettingTable,
    /// What scripts may use.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) gas: SettingTable,
    #[serde(default, rename = "land", skip_serializing_if = "Vec::is_empty")]
    pub(super) lands: Vec<Spanned<LandFile>>,
    #[serde(default, rename = "sector", skip_serializing_if = "Vec::is_empty")]
    pub(super) sectors: Vec<Spanned<SectorFile>>,
    #[serde(default, rename = "opening", skip_serializing_if = "Vec::is_empty")]
    pub(super) openings: Vec<Spanned<OpeningFile>>,
    #[serde(default, rename = "object", skip_serializing_if = "Vec::is_empty")]
    pub(super) objects: Vec<Spanned<ObjectFile>>,
    #[serde(default, rename = "joint", skip_serializing_if = "Vec::is_empty")]
    pub(super) joints: Vec<Spanned<JointFile>>,
}

/// Two opposite corners.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroundFile {
    pub(super) from: NumberPair,
    pub(super) to: NumberPair,
}

/// How avatars move and reach; what is left out is as everywhere.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AvatarFile {
    pub(super) radius: Option<Spanned<Number>>,
    pub(super) mass: Option<Spanned<Number>>,
    pub(super) speed: Option<Spanned<Number>>,
    pub(super) acceleration: Option<Spanned<Number>>,
    pub(super) reach: Option<Spanned<Number>>,
    pub(super) push: Option<Spanned<Number>>,
}

impl AvatarFile {
    /// Returns whether nothing is written.
    fn is_empty(&self) -> bool {
        let Self { radius, mass, speed, acceleration, reach, push } = self;
        [radius, mass, speed, acceleration, reach, push].into_iter().all(Option::is_none)
    }
}

/// A named land; it lies on top of those before it.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LandFile {
    pub(super) name: Spanned<String>,
    /// Two opposite corners.
    pub(super) from: NumberPair,
    pub(super) to: NumberPair,
    /// `open`, `sim`, or the key of a player.
    pub(super) owner: Spanned<String>,
}

/// A room that people see and are told of.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SectorFile {
    pub(super) name: String,
    /// The corners, one after another in either direction.
    pub(super) corners: Vec<NumberPair>,
    pub(super) floor: Color,
    /// How light it is, in percent of daylight.
    pub(super) light: Option<u8>,
    pub(super) sound: Option<Spanned<String>>,
}

/// A gap in the walls of rooms.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpeningFile {
    pub(super) from: NumberPair,
    pub(super) to: NumberPair,
}

/// An object, or several that differ in their places only.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ObjectFile {
    pub(super) kind: String,
    pub(super) name: String,
    /// How states of scripts in this file name it.
    pub(super) mark: Option<Spanned<String>>,
    pub(super) at: Option<NumberPair>,
    pub(super) places: Option<Spanned<Vec<NumberPair>>>,
    pub(super) degrees: Option<Spanned<Number>>,
    /// The angle as a share of a whole turn, which is exact.
    pub(super) turn: Option<Spanned<Number>>,
    /// Width and height.
    #[serde(rename = "box")]
    pub(super) rect: Option<Spanned<NumberPair>>,
    /// The radius of a disc.
    pub(super) disc: Option<Spanned<Number>>,
    /// The length between the middles of the round ends, and their radius.
    pub(super) capsule: Option<Spanned<NumberPair>>,
    /// The corners of a convex polygon, counter-clockwise; `at` is its centre of mass.
    pub(super) corners: Option<Spanned<Vec<NumberPair>>>,
    /// Two to eight outlines in place of one; `at` is the centre of mass of all.
    pub(super) parts: Option<Spanned<Vec<Spanned<PartFile>>>>,
    /// Points of the place, in place of `at`: between two of them that follow each other is a thin piece.
    pub(super) line: Option<Spanned<Vec<NumberPair>>>,
    /// Whether a piece leads from the last point back to the first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) closed: bool,
    /// The point before a line of one piece, and the point after it, in the line of which it is a part.
    pub(super) before: Option<NumberPair>,
    pub(super) after: Option<NumberPair>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) motion: MotionFile,
    pub(super) velocity: Option<NumberPair>,
    /// Radians a second.
    pub(super) spin: Option<Number>,
    pub(super) mass: Option<Spanned<Number>>,
    pub(super) friction: Option<Spanned<Number>>,
    pub(super) restitution: Option<Spanned<Number>>,
    /// Kilograms a square metre, in place of a mass.
    pub(super) density: Option<Spanned<Number>>,
    /// How its friction and that of another thing become one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) friction_rule: RuleFile,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) restitution_rule: RuleFile,
    /// Share of speed lost in a second, and of spin if that is not said.
    pub(super) damping: Option<Spanned<Number>>,
    pub(super) spin_damping: Option<Spanned<Number>>,
    /// Whether it only notices what comes into it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) sensor: bool,
    /// Whether contacts do not turn it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) upright: bool,
    /// The categories that it belongs to, 0 to 31; all if they are left out.
    pub(super) categories: Option<Spanned<Vec<u32>>>,
    /// The categories that it neither meets nor notices.
    pub(super) passes: Option<Spanned<Vec<u32>>>,
    #[serde(default)]
    pub(super) color: Color,
    /// How it is drawn; as its outline is if it is left out.
    pub(super) shape: Option<BodyShape>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) text: String,
    /// The key of the player whose it is; the sim's own if it is left out.
    pub(super) owner: Option<Spanned<String>>,
    /// An SPDX expression; that of the place if it is left out.
    pub(super) licence: Option<Spanned<String>>,
    /// The mark of the thing before it whose script spawned it.
    pub(super) spawned_by: Option<Spanned<String>>,
    /// Where one sits on it, as it sees itself; it is no seat if that is left out.
    pub(super) seat: Option<NumberPair>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) scripts: Vec<ScriptFile>,
}

/// A part of a thing that has several, as the thing sees itself.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartFile {
    #[serde(rename = "box")]
    pub(super) rect: Option<Spanned<NumberPair>>,
    pub(super) disc: Option<Spanned<Number>>,
    pub(super) capsule: Option<Spanned<NumberPair>>,
    /// The corners of a convex polygon, where they are.
    pub(super) corners: Option<Spanned<Vec<NumberPair>>>,
    /// Where the part is, or by how much its corners are moved.
    pub(super) at: Option<NumberPair>,
    pub(super) degrees: Option<Spanned<Number>>,
    pub(super) turn: Option<Spanned<Number>>,
    /// No part has parts: whoever writes them is told.
    #[serde(skip_serializing)]
    pub(super) parts: Option<Spanned<Vec<toml::Value>>>,
}

/// What holds two things together, or a thing to the ground. Which keys it has depends on its kind.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JointFile {
    pub(super) kind: JointKindFile,
    /// The mark of the first thing; the ground if it is left out.
    pub(super) a: Option<Spanned<String>>,
    pub(super) b: Spanned<String>,
    /// The point of the place at which it holds both.
    pub(super) at: Option<NumberPair>,
    /// Where it is on the first thing as that one sees itself, or on the ground.
    pub(super) anchor_a: Option<NumberPair>,
    pub(super) anchor_b: Option<NumberPair>,
    /// The share of a turn by which the second thing is turned against the first one, at rest.
    pub(super) turn: Option<Number>,
    /// Radians of a hinge, metres of a slider.
    pub(super) limits: Option<NumberPair>,
    /// Radians or metres a second, and newton metres or newtons.
    pub(super) motor_speed: Option<Number>,
    pub(super) motor_strength: Option<Number>,
    /// The direction of a slider as the first thing sees itself.
    pub(super) axis: Option<NumberPair>,
    /// The length of a rod, or that to which a spring pulls.
    pub(super) length: Option<Number>,
    /// The least and the greatest distance of a rope or a spring.
    pub(super) least: Option<Number>,
    pub(super) most: Option<Number>,
    /// How a spring swings: hertz, and the damping ratio.
    pub(super) frequency: Option<Number>,
    pub(super) damping: Option<Number>,
    /// The greatest force of a target, in newtons.
    pub(super) force: Option<Number>,
    /// Whether the two things meet each other.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) collide: bool,
    pub(super) break_force: Option<Number>,
    pub(super) break_torque: Option<Number>,
}

/// What a joint leaves its things free to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum JointKindFile {
    Hinge,
    Rod,
    Weld,
    Slider,
    Target,
}

/// How a body moves.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum MotionFile {
    #[default]
    Static,
    Kinematic,
    Dynamic,
}

/// How a coefficient of two things that meet becomes one.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RuleFile {
    #[default]
    Usual,
    Average,
    Minimum,
    Multiply,
    Maximum,
}

impl From<CombineRule> for RuleFile {
    fn from(rule: CombineRule) -> Self {
        match rule {
            CombineRule::Usual => Self::Usual,
            CombineRule::Average => Self::Average,
            CombineRule::Minimum => Self::Minimum,
            CombineRule::Multiply => Self::Multiply,
            CombineRule::Maximum => Self::Maximum,
        }
    }
}

impl From<RuleFile> for CombineRule {
    fn from(rule: RuleFile) -> Self {
        match rule {
            RuleFile::Usual => Self::Usual,
            RuleFile::Average => Self::Average,
            RuleFile::Minimum => Self::Minimum,
            RuleFile::Multiply => Self::Multiply,
            RuleFile::Maximum => Self::Maximum,
        }
    }
}

/// A script on an object.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptFile {
    pub(super) package: Spanned<String>,
    /// What it remembers from the beginning.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) state: BTreeMap<String, Spanned<toml::Value>>,
}
