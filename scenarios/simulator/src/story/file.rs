//! The file of a story, as it is written.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::units::{ServerTarget, Share, Shift, Time};

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoryFile {
    pub(super) title: String,
    #[serde(default)]
    pub(super) about: String,
    #[serde(default)]
    pub(super) seed: u64,
    pub(super) length: Spanned<Time>,
    pub(super) patience: Option<Spanned<Time>>,
    pub(super) day: Option<Spanned<Time>>,
    pub(super) place: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) packages: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) servers: ServersFile,
    #[serde(default)]
    pub(super) network: NetworkFile,
    /// Agreed numbers of the sim, by the names that admins have for them.
    #[serde(default)]
    pub(super) agreed: BTreeMap<String, Spanned<u64>>,
    #[serde(default)]
    pub(super) people: Vec<Spanned<PeopleFile>>,
    #[serde(default, rename = "script")]
    pub(super) scripts: Vec<Spanned<StoryScriptFile>>,
    #[serde(default, rename = "act")]
    pub(super) acts: Vec<Spanned<ActFile>>,
    #[serde(default, rename = "stranger")]
    pub(super) strangers: Vec<Spanned<StrangerFile>>,
    #[serde(default, rename = "fault")]
    pub(super) faults: Vec<Spanned<FaultFile>>,
    #[serde(default)]
    pub(super) expect: ExpectFile,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServersFile {
    pub(super) count: Option<Spanned<u64>>,
    pub(super) reserve: Option<Spanned<u64>>,
    pub(super) snapshot_turns: Option<Spanned<u64>>,
    #[serde(default)]
    pub(super) signatures: Signatures,
    pub(super) sync: Option<Time>,
    pub(super) apply: Option<Time>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Signatures {
    #[default]
    StandIn,
    Ed25519,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NetworkFile {
    pub(super) latency: Option<Time>,
    pub(super) jitter: Option<Time>,
    pub(super) loss: Option<Share>,
    pub(super) duplicates: Option<Share>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PeopleFile {
    pub(super) count: Spanned<u64>,
    #[serde(default)]
    pub(super) manner: MannerFile,
    pub(super) servers: Option<Spanned<Vec<Spanned<u64>>>>,
    pub(super) from: Option<Spanned<Time>>,
    pub(super) until: Option<Spanned<Time>>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum MannerFile {
    /// Says only what the story has them say.
    Still,
    Calm,
    #[default]
    Lively,
    Busy,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoryScriptFile {
    pub(super) name: Spanned<String>,
    pub(super) source: Option<Spanned<String>>,
    pub(super) file: Option<Spanned<String>>,
    /// A position in whole metres.
    #[serde(default)]
    pub(super) place: [i16; 2],
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ActFile {
    pub(super) at: Option<Spanned<Time>>,
    pub(super) every: Option<Spanned<Time>>,
    pub(super) until: Option<Spanned<Time>>,
    pub(super) person: Spanned<u64>,
    pub(super) does: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StrangerFile {
    pub(super) at: Option<Spanned<Time>>,
    pub(super) every: Option<Spanned<Time>>,
    pub(super) until: Option<Spanned<Time>>,
    pub(super) server: Spanned<u64>,
    pub(super) does: Rudeness,
}

/// What strangers do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Rudeness {
    /// Sends bytes that are no frame.
    Noise,
    /// Sends a frame that is longer than frames may be.
    LongFrame,
    /// Sends acts that somebody else would have had to sign.
    Forgery,
    /// Sends more acts at once than anybody may.
    Flood,
    /// Asks and asks, and reads no answer.
    Deaf,
}

macro_rules! fault_file {
    ($($field:ident: $type:ty,)+) => {
        /// A fault; which keys it takes depends on its kind.
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct FaultFile {
            pub(super) kind: FaultKind,
            $(pub(super) $field: Option<Spanned<$type>>,)+
        }

        impl FaultFile {
            /// The keys that were given, with where their values are.
            pub(super) fn given(&self) -> Vec<(&'static str, std::ops::Range<usize>)> {
                let all = [$((stringify!($field), self.$field.as_ref().map(Spanned::span)),)+];
                all.into_iter().filter_map(|(key, span)| Some((key, span?))).collect()
            }
        }
    };
}

fault_file! {
    at: Time,
    every: Time,
    until: Time,
    server: ServerTarget,
    servers: Vec<Spanned<u64>>,
    to: u64,
    down: Time,
    stagger: Time,
    tail: TailFile,
    by: Shift,
    ppm: i32,
    takes: Time,
    turn: u64,
    lasting: bool,
    room: u64,
    operation: u64,
    latency: Time,
    jitter: Time,
    loss: Share,
    act: String,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TailFile {
    Lost,
    #[default]
    Torn,
    Kept,
}

/// Kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FaultKind {
    Crash,
    PowerLoss,
    Kill,
    Start,
    Split,
    OneWay,
    Weather,
    Clock,
    Drift,
    Slow,
    Pause,
    Flip,
    DiskFull,
    DiskFails,
    Poison,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectFile {
    pub(super) goes_on: Option<bool>,
    #[serde(default)]
    pub(super) broken: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) turns: Vec<Spanned<TurnsFile>>,
    pub(super) acts: Option<u64>,
    pub(super) crashes: Option<u64>,
    pub(super) script_failures: Option<u64>,
    pub(super) longest_pause: Option<Time>,
    pub(super) next_turn: Option<Time>,
    pub(super) time_off: Option<Time>,
    #[serde(default)]
    pub(super) temp_admin: Vec<Spanned<TempAdminFile>>,
    pub(super) stalled: Option<Vec<Spanned<u64>>>,
    pub(super) split: Option<Vec<Spanned<u64>>>,
    pub(super) following: Option<Vec<Spanned<u64>>>,
    pub(super) down: Option<Vec<Spanned<u64>>>,
    pub(super) validators: Option<Vec<Spanned<u64>>>,
    pub(super) parted: Option<Vec<Spanned<u64>>>,
    pub(super) mended: Option<Vec<Spanned<u64>>>,
    pub(super) capsules: Option<Vec<Spanned<u64>>>,
    #[serde(default)]
    pub(super) heard: Vec<String>,
    pub(super) refused: Option<Spanned<BTreeMap<String, u64>>>,
    pub(super) hung_up: Option<Spanned<BTreeMap<String, u64>>>,
}

/// Who acts for the admins at a moment; nobody if no person is named.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TempAdminFile {
    pub(super) at: Spanned<Time>,
    pub(super) person: Option<Spanned<u64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TurnsFile {
    pub(super) from: Option<Time>,
    pub(super) until: Option<Spanned<Time>>,
    pub(super) least: Option<u64>,
    pub(super) most: Option<u64>,
}
