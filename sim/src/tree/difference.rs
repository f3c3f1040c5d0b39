//! Finding what differs between two states, for a report that names the leaf and the field.

use core::{cmp::Ordering, iter::Peekable, slice::Iter};

use metatopia_physics::{Body, Contact, Joint};
use metatopia_types::{
    ActId, ClubId, LandGrant, LeafKey, LotId, ObjectId, Outcome, PackageId, Parcel, PublicKey,
    Roster, Said, SimId, wire,
};
use serde::{Serialize, de::DeserializeOwned};

use super::{engine_leaf::EngineLeaf, leaf_keys as kinds};
use crate::{
    acts::{BuildHistory, ChatIndex},
    rules::{
        Border, Club, FiledReport, ForgottenWords, FrozenThing, Governance, GrantedSim,
        KeptProfile, KeptWords, KeyFriends, LandWeek, LaneKey, RecordedOrder, Role, RotatedKey,
        Sanction, ThingTrace, Window,
    },
    scripts::{GasPool, Script},
    space::Lot,
    state::{
        Charter, GhostLeaf, LeafEntry, Manifest, Object, Owner, PackagePiece, PieceKey, Player,
        Publication, SimClock,
    },
};

/// The first leaf in which two states differ, and the first field in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDifference {
    /// The key of the leaf.
    pub key: LeafKey,
    /// Which body, script, player or the like it is about, as people call it: `object 17`. Nothing
    /// if the leaf is about none of them.
    pub entry: Option<String>,
    /// The way to the field, outermost first; empty if the leaf or entry is missing on one side or
    /// not understood.
    pub field: Vec<String>,
    /// The line of the one state; nothing if it does not have the leaf, entry or field.
    pub left: Option<String>,
    /// The line of the other state.
    pub right: Option<String>,
    /// The number of leaves in which the two states differ.
    pub leaves: u32,
}

impl core::fmt::Display for StateDifference {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "leaf {}", self.key)?;
        if let Some(entry) = &self.entry {
            write!(f, ", {entry}")?;
        }
        if !self.field.is_empty() {
            write!(f, ", in {}", self.field.join(" > "))?;
        }
        let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "nothing".to_owned());
        write!(f, ": `{}` and `{}`", side(&self.left), side(&self.right))?;
        match self.leaves {
            0 | 1 => Ok(()),
            more => write!(f, " (and in {} more leaves)", more.saturating_sub(1)),
        }
    }
}

/// Returns the first leaf, in the order of keys, that is not the same in both states.
#[must_use]
pub fn first_leaf(left: &Manifest, right: &Manifest) -> Option<LeafKey> {
    Differing::new(left, right).next()
}

/// Walks over the leaves that two states do not share, in the order of their keys.
struct Differing<'a> {
    left: Peekable<Iter<'a, LeafEntry>>,
    right: Peekable<Iter<'a, LeafEntry>>,
}

impl<'a> Differing<'a> {
    fn new(left: &'a Manifest, right: &'a Manifest) -> Self {
        Self { left: left.leaves.iter().peekable(), right: right.leaves.iter().peekable() }
    }
}

impl Iterator for Differing<'_> {
    type Item = LeafKey;

    fn next(&mut self) -> Option<LeafKey> {
        loop {
            let order = match (self.left.peek(), self.right.peek()) {
                (None, None) => return None,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(one), Some(other)) => one.key.cmp(&other.key),
            };
            let one = order.is_le().then(|| self.left.next()).flatten();
            let other = order.is_ge().then(|| self.right.next()).flatten();
            if one != other {
                return one.or(other).map(|leaf| leaf.key.clone());
            }
        }
    }
}

/// Says whether this leaf is about bodies or a script. The other leaves tell of the turn itself, whose
/// header seeds the order of the ticks, and of people, whose acts come with the turn.
#[must_use]
pub fn is_of_body_or_script(key: &LeafKey) -> bool {
    let kind = key.0.split('/').next().unwrap_or_default();
    [kinds::TILE, kinds::SCRIPT, kinds::JOINTS, kinds::GHOSTS].contains(&kind)
        || key.0.starts_with(kinds::CONTACTS)
}

/// The content of a leaf, from wherever it is kept.
pub type LeafContents<'a> = &'a dyn Fn(&LeafKey) -> Option<Vec<u8>>;

/// Returns the first difference of two states, each given as its manifest and a way to its leaves' content.
/// The leaf of standbys' proofs differs because another leaf does, so it is named last.
#[must_use]
pub fn difference(
    left: (&Manifest, LeafContents<'_>),
    right: (&Manifest, LeafContents<'_>),
) -> Option<StateDifference> {
    let keys: Vec<LeafKey> = Differing::new(left.0, right.0).collect();
    let key = keys.iter().find(|key| key.0 != kinds::READINESS).or(keys.first())?.clone();
    let leaves = u32::try_from(keys.len()).unwrap_or(u32::MAX);
    let listed = |manifest: &Manifest| manifest.leaves.iter().any(|leaf| leaf.key == key);
    let content = |(manifest, contents): (&Manifest, LeafContents<'_>)| {
        listed(manifest).then(|| contents(&key)).flatten()
    };
    let whole = |side: &Option<Vec<u8>>| side.as_ref().map(|_| "the leaf".to_owned());
    let (one, other) = (content(left), content(right));
    let (Some(a), Some(b)) = (&one, &other) else {
        let (left, right) = (whole(&one), whole(&other));
        return Some(StateDifference { key, entry: None, field: Vec::new(), left, right, leaves });
    };
    let (entry, LineDifference { field, left, right }) =
        first_entry(&entries(&key, a), &entries(&key, b));
    Some(StateDifference { key, entry, field, left, right, leaves })
}

/// The first line in which two texts differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineDifference {
    /// The lines that it is nested in, outermost first.
    pub field: Vec<String>,
    /// The line of the one text; nothing if that text has ended.
    pub left: Option<String>,
    /// The line of the other text.
    pub right: Option<String>,
}

/// Returns the name of the first entry in which two leaves differ, and the difference in it.
fn first_entry(left: &[NamedEntry], right: &[NamedEntry]) -> (Option<String>, LineDifference) {
    let here =
        |side: &[NamedEntry], name: &Option<String>| side.iter().any(|entry| entry.name == *name);
    let at = left.iter().zip(right).take_while(|(one, other)| one == other).count();
    let missing = |entry: &NamedEntry| entry.name.as_ref().map(|_| "there".to_owned());
    match (left.get(at), right.get(at)) {
        (Some(one), Some(other)) if one.name == other.name => {
            (one.name.clone(), first_line(&one.text, &other.text))
        }
        (Some(one), other) if other.is_none() || !here(right, &one.name) => {
            (one.name.clone(), LineDifference { left: missing(one), ..LineDifference::default() })
        }
        (_, Some(other)) => (
            other.name.clone(),
            LineDifference { right: missing(other), ..LineDifference::default() },
        ),
        // Two encodings of one text: there is nothing to show.
        (_, None) => (None, LineDifference::default()),
    }
}

/// Returns the first line in which two texts differ, and the lines that it is nested in. In values as
/// `{:#?}` shows them, that is the first field.
#[must_use]
pub fn first_line(one: &str, other: &str) -> LineDifference {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut nesting: Vec<(usize, String)> = Vec::new();
    let (mut a, mut b) = (one.lines(), other.lines());
    loop {
        let (left, right) = (a.next(), b.next());
        let deep = left.or(right).map_or(0, indent);
        nesting.retain(|(outer, _)| *outer < deep);
        if left != right || left.is_none() {
            let trim = |line: Option<&str>| line.map(|line| line.trim().to_owned());
            let lines = nesting.into_iter().map(|(_, line)| line);
            let field = lines.filter(|line| !line.is_empty()).collect();
            return LineDifference { field, left: trim(left), right: trim(right) };
        }
        if let Some(line) = left {
            nesting.push((deep, line.trim().trim_end_matches(['{', '(', '[']).trim().to_owned()));
        }
    }
}

/// A part of a leaf that has a name of its own, for people to read.
#[derive(Debug, PartialEq, Eq)]
struct NamedEntry {
    name: Option<String>,
    text: String,
}

/// Returns what a leaf holds, entry by entry; one entry if its kind has none.
fn entries(key: &LeafKey, content: &[u8]) -> Vec<NamedEntry> {
    let kind = key.0.split('/').next().unwrap_or_default();
    let found = match kind {
        kinds::PLAYERS => named(content, |(key, _): &(PublicKey, Player)| format!("player {key}")),
        kinds::HISTORIES => {
            named(content, |(key, _): &(PublicKey, BuildHistory)| format!("player {key}"))
        }
        kinds::WINDOWS => named(content, |((key, lane), _): &(LaneKey, Window)| {
            format!("player {key}, lane {lane}")
        }),
        kinds::OWNERS => named(content, |(owner, _): &(Owner, GasPool)| match owner {
            Some(key) => format!("player {key}"),
            None => "the sim".to_owned(),
        }),
        kinds::PACKAGES => named(content, |((id, n), _): &((PackageId, u32), Vec<u8>)| {
            format!("package {id}, piece {n}")
        }),
        kinds::PUBLICATIONS => {
            named(content, |(id, _): &(PackageId, Publication)| format!("package {id}"))
        }
        kinds::PIECES => named(content, |((author, id), _): &(PieceKey, PackagePiece)| {
            format!("piece {id} of player {author}")
        }),
        kinds::TILE => named(content, |(id, ..): &(ObjectId, Object, Body)| format!("object {id}")),
        kinds::JOINTS => named(content, |joint: &Joint| format!("joint {}", joint.id())),
        kinds::GRANTS => {
            named(content, |grant: &LandGrant| format!("the square of sim {}", grant.sim))
        }
        kinds::GRANTED => named(content, |(sim, _): &(SimId, GrantedSim)| format!("sim {sim}")),
        kinds::ROLES => named(content, |(key, _): &(PublicKey, Role)| format!("player {key}")),
        kinds::BANS | kinds::MUTES => {
            named(content, |(key, _): &(PublicKey, Sanction)| format!("player {key}"))
        }
        kinds::FROZEN => named(content, |(id, _): &(ObjectId, FrozenThing)| format!("object {id}")),
        kinds::LOTS => named(content, |(id, _): &(LotId, Lot)| format!("lot {id}")),
        kinds::ROTATED => {
            named(content, |(key, _): &(PublicKey, RotatedKey)| format!("player {key}"))
        }
        kinds::FRIENDS => {
            named(content, |(key, _): &(PublicKey, KeyFriends)| format!("player {key}"))
        }
        kinds::CLUBS => named(content, |(id, _): &(ClubId, Club)| format!("club {id}")),
        kinds::TRACES => named(content, |(id, _): &(ObjectId, ThingTrace)| format!("object {id}")),
        kinds::REPORTS => named(content, |(n, _): &(u64, FiledReport)| format!("report {n}")),
        kinds::MAILBOXES => named(content, |((to, n), _): &((PublicKey, u64), KeptWords)| {
            format!("words {n} to player {to}")
        }),
        kinds::FORGOTTEN => {
            named(content, |(n, _): &(u64, ForgottenWords)| format!("forgotten words {n}"))
        }
        kinds::ORDERS => named(content, |(n, _): &(u64, RecordedOrder)| format!("order {n}")),
        kinds::OUTCOMES => named(content, |(act, _): &(ActId, Outcome)| format!("act {act}")),
        _ if key.0.starts_with(kinds::CONTACTS) => named(content, |contact: &Contact| {
            let (a, b) = contact.pair();
            format!("contact of objects {a} and {b}")
        }),
        _ => None,
    };
    let whole = || {
        let name = key.0.strip_prefix(kinds::SCRIPT).and_then(|rest| rest.strip_prefix('/'));
        let name = name.map(|script| format!("script {script}"));
        vec![NamedEntry { name, text: show(key, content) }]
    };
    found.unwrap_or_else(whole)
}

/// Returns the entries of a leaf with their names; nothing if the content is of no such entries.
fn named<T>(content: &[u8], name: impl Fn(&T) -> String) -> Option<Vec<NamedEntry>>
where
    T: Serialize + DeserializeOwned + core::fmt::Debug,
{
    let all: Vec<T> = wire::decode(content, content.len()).ok()?;
    let entry = |one: &T| NamedEntry { name: Some(name(one)), text: format!("{one:#?}") };
    Some(all.iter().map(entry).collect())
}

/// Returns a leaf's content for people to read: what its fields hold, or its bytes.
#[must_use]
pub fn show(key: &LeafKey, content: &[u8]) -> String {
    let kind = key.0.split('/').next().unwrap_or_default();
    let text = match kind {
        kinds::ENGINE => text::<EngineLeaf>(content),
        kinds::CLOCK => text::<SimClock>(content),
        kinds::PARAMETERS => text::<Charter>(content),
        kinds::GOVERNANCE => text::<Governance>(content),
        kinds::VALIDATORS => text::<Roster>(content),
        kinds::READINESS => text::<crate::rules::Readiness>(content),
        kinds::CHAT => text::<ChatIndex>(content),
        kinds::NEIGHBOUR if key.0.ends_with("/said") => {
            Said::decode(content).ok().map(|said| format!("{said:#?}"))
        }
        kinds::NEIGHBOUR => text::<Border>(content),
        kinds::GHOSTS => text::<GhostLeaf>(content),
        kinds::PARCEL | kinds::LUGGAGE => {
            Parcel::decode(content).ok().map(|parcel| format!("{parcel:#?}"))
        }
        kinds::TIER => {
            let digest = blake3::hash(content);
            Some(format!("{} bytes of the tier's state, digest {digest}", content.len()))
        }
        kinds::LAND => text::<LandWeek>(content),
        kinds::GRANTS => text::<Vec<LandGrant>>(content),
        kinds::GRANTED => text::<Vec<(SimId, GrantedSim)>>(content),
        kinds::PLAYERS => text::<Vec<(PublicKey, Player)>>(content),
        kinds::HISTORIES => text::<Vec<(PublicKey, BuildHistory)>>(content),
        kinds::WINDOWS => text::<Vec<(LaneKey, Window)>>(content),
        kinds::OWNERS => text::<Vec<(Owner, GasPool)>>(content),
        kinds::PACKAGES => text::<Vec<((PackageId, u32), Vec<u8>)>>(content),
        kinds::PUBLICATIONS => text::<Vec<(PackageId, Publication)>>(content),
        kinds::PIECES => text::<Vec<(PieceKey, PackagePiece)>>(content),
        kinds::SCRIPT => text::<Script>(content),
        kinds::TILE => text::<Vec<(ObjectId, Object, Body)>>(content),
        kinds::JOINTS => text::<Vec<Joint>>(content),
        kinds::ROLES => text::<Vec<(PublicKey, Role)>>(content),
        kinds::BANS | kinds::MUTES => text::<Vec<(PublicKey, Sanction)>>(content),
        kinds::FROZEN => text::<Vec<(ObjectId, FrozenThing)>>(content),
        kinds::LOTS => text::<Vec<(LotId, Lot)>>(content),
        kinds::FRIENDS => text::<Vec<(PublicKey, KeyFriends)>>(content),
        kinds::CLUBS => text::<Vec<(ClubId, Club)>>(content),
        kinds::PROFILES => text::<Vec<(PublicKey, KeptProfile)>>(content),
        kinds::PICTURES => text::<Vec<(PublicKey, Vec<u8>)>>(content),
        kinds::ROTATED => text::<Vec<(PublicKey, RotatedKey)>>(content),
        kinds::TRACES => text::<Vec<(ObjectId, ThingTrace)>>(content),
        kinds::REPORTS => text::<Vec<(u64, FiledReport)>>(content),
        kinds::MAILBOXES => text::<Vec<((PublicKey, u64), KeptWords)>>(content),
        kinds::FORGOTTEN => text::<Vec<(u64, ForgottenWords)>>(content),
        kinds::ORDERS => text::<Vec<(u64, RecordedOrder)>>(content),
        kinds::OUTCOMES => text::<Vec<(ActId, Outcome)>>(content),
        _ if key.0.starts_with(kinds::CONTACTS) => text::<Vec<Contact>>(content),
        _ => None,
    };
    text.unwrap_or_else(|| format!("{content:?}"))
}

/// Returns a value as `{:#?}` shows it; nothing if the bytes are no such value.
fn text<T: Serialize + DeserializeOwned + core::fmt::Debug>(content: &[u8]) -> Option<String> {
    wire::decode::<T>(content, content.len()).ok().map(|value| format!("{value:#?}"))
}
