//! Finding what differs between two states, for a report that names the leaf and the field.

use metatopia_physics::{Body, Contact};
use metatopia_types::{ActId, LeafKey, ObjectId, Outcome, PackageId, PublicKey, Roster, wire};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    chat::ChatIndex,
    gas::Pool,
    governance::Governance,
    history::History,
    leaves as kinds,
    object::Object,
    players::Player,
    script::Script,
    snapshot::Manifest,
    state::{Charter, Clock, Owner},
    windows::{LaneKey, Window},
};

/// The first leaf in which two states differ, and the first field in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The leaf.
    pub key: LeafKey,
    /// The way to the field, outermost first; empty if the leaf is missing on one side or not
    /// understood.
    pub field: Vec<String>,
    /// What the one state has there; nothing if it does not have the leaf or field.
    pub left: Option<String>,
    /// What the other state has there.
    pub right: Option<String>,
}

/// The first leaf, in the order of keys, that is not the same in both states.
#[must_use]
pub fn first_leaf(left: &Manifest, right: &Manifest) -> Option<LeafKey> {
    let (mut a, mut b) = (left.leaves.iter().peekable(), right.leaves.iter().peekable());
    loop {
        match (a.peek(), b.peek()) {
            (None, None) => return None,
            (Some(one), Some(other)) if one == other => {
                a.next();
                b.next();
            }
            (Some(one), Some(other)) => return Some(one.key.clone().min(other.key.clone())),
            (Some(only), None) | (None, Some(only)) => return Some(only.key.clone()),
        }
    }
}

/// The content of a leaf, from wherever it is kept.
pub type Contents<'a> = &'a dyn Fn(&LeafKey) -> Option<Vec<u8>>;

/// The first difference of two states, each given as its manifest and a way to its leaves' content.
#[must_use]
pub fn difference(
    left: (&Manifest, Contents<'_>),
    right: (&Manifest, Contents<'_>),
) -> Option<Difference> {
    let key = first_leaf(left.0, right.0)?;
    let texts = (left.1(&key).map(|c| show(&key, &c)), right.1(&key).map(|c| show(&key, &c)));
    let (Some(one), Some(other)) = &texts else {
        let whole = |text: &Option<String>| text.as_ref().map(|_| "the leaf".to_owned());
        let (left, right) = (whole(&texts.0), whole(&texts.1));
        return Some(Difference { key, field: Vec::new(), left, right });
    };
    let (field, left, right) = first_line(one, other);
    Some(Difference { key, field, left, right })
}

/// The first line in which two texts differ, and the lines that it is nested in.
fn first_line(one: &str, other: &str) -> (Vec<String>, Option<String>, Option<String>) {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut nesting: Vec<(usize, String)> = Vec::new();
    let (mut a, mut b) = (one.lines(), other.lines());
    loop {
        let (left, right) = (a.next(), b.next());
        let deep = left.or(right).map_or(0, indent);
        nesting.retain(|(outer, _)| *outer < deep);
        if left != right || left.is_none() {
            let trim = |line: Option<&str>| line.map(|line| line.trim().to_owned());
            let field = nesting.into_iter().map(|(_, line)| line).collect();
            return (field, trim(left), trim(right));
        }
        if let Some(line) = left {
            nesting.push((deep, line.trim().trim_end_matches(['{', '(', '[']).trim().to_owned()));
        }
    }
}

/// A leaf's content for people to read: what its fields hold, or its bytes.
#[must_use]
pub fn show(key: &LeafKey, content: &[u8]) -> String {
    let kind = key.0.split('/').next().unwrap_or_default();
    let text = match kind {
        kinds::CLOCK => text::<Clock>(content),
        kinds::PARAMETERS => text::<Charter>(content),
        kinds::GOVERNANCE => text::<Governance>(content),
        kinds::VALIDATORS => text::<Roster>(content),
        kinds::ROOTS => text::<Vec<metatopia_types::Root>>(content),
        kinds::CHAT => text::<ChatIndex>(content),
        kinds::PLAYERS => text::<Vec<(PublicKey, Player)>>(content),
        kinds::HISTORIES => text::<Vec<(PublicKey, History)>>(content),
        kinds::WINDOWS => text::<Vec<(LaneKey, Window)>>(content),
        kinds::OWNERS => text::<Vec<(Owner, Pool)>>(content),
        kinds::PACKAGES => text::<Vec<((PackageId, u32), Vec<u8>)>>(content),
        kinds::SCRIPT => text::<Script>(content),
        kinds::TILE => text::<Vec<(ObjectId, Object, Body)>>(content),
        kinds::OUTCOMES => text::<Vec<(ActId, Outcome)>>(content),
        _ if key.0.starts_with(kinds::CONTACTS) => text::<Vec<Contact>>(content),
        _ => None,
    };
    text.unwrap_or_else(|| format!("{content:?}"))
}

fn text<T: Serialize + DeserializeOwned + core::fmt::Debug>(content: &[u8]) -> Option<String> {
    wire::decode::<T>(content, content.len()).ok().map(|value| format!("{value:#?}"))
}
