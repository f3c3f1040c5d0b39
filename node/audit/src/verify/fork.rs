//! Compares the logs of several servers.

use std::collections::BTreeMap;

use metatopia_types::{HeaderId, Height};

/// Two logs that are each in order, and hold different turns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{a} and {b} hold different turns from height {height} on")]
pub struct LogFork {
    /// The name of one log.
    pub a: String,
    /// The name of the other log.
    pub b: String,
    /// The first height at which they differ.
    pub height: u64,
}

/// Returns the first two logs that differ where both have turns.
#[must_use]
pub fn first_fork(logs: &[(String, BTreeMap<Height, HeaderId>)]) -> Option<LogFork> {
    // No log need have all heights: each is compared with the first that has the turn.
    let mut known: BTreeMap<Height, (&str, &HeaderId)> = BTreeMap::new();
    for (name, turns) in logs {
        for (height, turn) in turns {
            let (holder, own) = known.entry(*height).or_insert((name, turn));
            if *own != turn {
                let (a, b) = ((*holder).to_owned(), name.clone());
                return Some(LogFork { a, b, height: height.0 });
            }
        }
    }
    None
}
