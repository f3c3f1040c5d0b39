//! The attacks, one module each.

mod processor;
mod worst_call;

use std::path::PathBuf;

use crate::finding::Finding;

/// How the attacks are played.
#[derive(Debug)]
pub(crate) struct Play {
    /// The program under attack.
    pub(crate) program: PathBuf,
    /// A few seconds for each attack; the bounds are judged all the same.
    pub(crate) short: bool,
    /// Decides what is left to chance.
    pub(crate) seed: u64,
}

/// One attack.
pub(crate) struct Attack {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it does, for people.
    pub(crate) about: &'static str,
    /// Plays it. An error says why nothing could be measured.
    pub(crate) play: fn(&Play) -> Result<Vec<Finding>, String>,
}

/// Every attack, in the order in which they are played.
pub(crate) const ATTACKS: &[Attack] = &[Attack {
    name: "worst_call",
    about: "the longest call of a script that `script check` passes",
    play: worst_call::play,
}];
