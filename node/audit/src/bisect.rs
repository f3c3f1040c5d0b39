//! Finds where two histories of one sim part, down to the field.
//!
//! The search compares turns and roots first. Then it applies turns again up to the first root that
//! differs, and looks into both states.

mod branches;
mod search;
mod side;
#[cfg(test)]
mod tests;

use std::fmt;

use metatopia_sim::{ForkJoin, StateDifference};
use metatopia_types::{Height, SimId};
use serde::Serialize;

use self::search::BisectSearch;
pub use self::side::{BisectSide, BisectSideError};

/// The reason why two histories cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BisectError {
    /// They are of two sims.
    #[error("{} is of sim {}, {} of sim {}", a.0, a.1, b.0, b.1)]
    OtherSim {
        /// The name of one history, and its sim.
        a: (String, SimId),
        /// The name of the other history, and its sim.
        b: (String, SimId),
    },
    /// There is no height of which both have a turn or a root.
    #[error("{a} and {b} have no height in common")]
    NoCommonHeight {
        /// The name of one history.
        a: String,
        /// The name of the other history.
        b: String,
    },
}

/// The kind of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// Another turn was decided.
    Turn,
    /// The turns are the same, and the states after them are not.
    State,
}

/// The first difference of two headers: the way to the field, and both values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HeaderDifference {
    /// The way to the field.
    pub field: Vec<String>,
    /// The value in the one header.
    pub left: Option<String>,
    /// The value in the other header.
    pub right: Option<String>,
}

/// The first difference of two histories.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HistoryDifference {
    /// The kind of the difference.
    pub what: Option<DifferenceKind>,
    /// The height of the turn that differs, or after which the states differ.
    pub height: u64,
    /// The first tick after which bodies or scripts differ, if both turns could be applied.
    pub tick: Option<u64>,
    /// The first and the last tick in which the difference can be: those of that turn, or all since
    /// both had one root, if the turns could be applied.
    pub ticks: Option<[u64; 2]>,
    /// The difference of the headers, if another turn was decided and both turns are there.
    pub header: Option<HeaderDifference>,
    /// The roots that the two came to after the turn.
    pub roots: Option<[String; 2]>,
    /// The root that more than two thirds of the voting power signed, if that is there.
    pub certified: Option<String>,
    /// The height of the states that were compared. If `tick` is known, the states after it were.
    pub compared_at: Option<u64>,
    /// The leaf that differs.
    pub leaf: Option<String>,
    /// The entry of the leaf that differs, such as an object.
    pub entry: Option<String>,
    /// The way to the field that differs.
    pub field: Vec<String>,
    /// The value in the one state.
    pub left: Option<String>,
    /// The value in the other state.
    pub right: Option<String>,
    /// The number of leaves that differ. If `tick` is known, only those of bodies and scripts count.
    pub leaves: Option<u32>,
    /// The port that this program lacks, if the turns could not be applied for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_port: Option<String>,
}

impl HistoryDifference {
    /// Adds the difference of two states, which are those after the turn of this height, or in it.
    fn add_states(&mut self, at: Height, found: StateDifference) {
        self.compared_at = Some(at.0);
        self.leaf = Some(found.key.to_string());
        (self.entry, self.field) = (found.entry, found.field);
        (self.left, self.right) = (found.left, found.right);
        self.leaves = Some(found.leaves);
    }
}

/// The result of the search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BisectReport {
    /// The name of one history.
    pub a: String,
    /// The name of the other history.
    pub b: String,
    /// Says whether they are equal as far as both go.
    pub equal: bool,
    /// The first height that both have.
    pub from: u64,
    /// The last height that both have.
    pub to: u64,
    /// The first difference, if there is one.
    #[serde(flatten)]
    pub difference: Option<HistoryDifference>,
}

impl fmt::Display for BisectReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { a, b, from, to, .. } = self;
        let Some(found) = &self.difference else {
            return write!(f, "{a} and {b} are equal from {from} to {to}: every turn, every root");
        };
        let height = found.height;
        match found.what {
            Some(DifferenceKind::Turn) => write!(f, "turn {height} is not the same")?,
            _ => write!(f, "the state after turn {height} is not the same")?,
        }
        if let Some([first, last]) = found.ticks {
            write!(f, " (ticks {first} to {last})")?;
        }
        if let Some(HeaderDifference { field, left, right }) = &found.header {
            write!(f, "\n  header  {}", field.join(" > "))?;
            values(f, [(a, left), (b, right)])?;
        }
        if let Some(tick) = found.tick {
            write!(f, "\n  tick    {tick}")?;
        }
        for (name, root) in [a, b].into_iter().zip(found.roots.iter().flatten()) {
            let certified = if found.certified.as_ref() == Some(root) { ", certified" } else { "" };
            write!(f, "\n  {name}: root {root}{certified}")?;
        }
        if let Some(leaf) = &found.leaf {
            write!(f, "\n  leaf    {leaf}")?;
        }
        if let Some(entry) = &found.entry {
            write!(f, "\n  of      {entry}")?;
        }
        if !found.field.is_empty() {
            write!(f, "\n  in      {}", found.field.join(" > "))?;
        }
        values(f, [(a, &found.left), (b, &found.right)])?;
        if let Some(missing) = &found.missing_port {
            write!(f, "\n  not applied: {missing}")?;
        }
        match found.compared_at {
            Some(at) if at != height => write!(f, "\n  (of the states after turn {at})"),
            _ => Ok(()),
        }
    }
}

fn values(f: &mut fmt::Formatter<'_>, sides: [(&String, &Option<String>); 2]) -> fmt::Result {
    for (name, value) in sides {
        if let Some(value) = value {
            write!(f, "\n  {name}: {value}")?;
        }
    }
    Ok(())
}

/// Compares two histories of one sim. `progress` learns the last applied turn and the target every
/// thousand turns.
///
/// # Errors
/// See [`BisectError`].
pub fn bisect(
    a: &BisectSide<'_>,
    b: &BisectSide<'_>,
    exec: &dyn ForkJoin,
    progress: &dyn Fn(Height, Height),
) -> Result<BisectReport, BisectError> {
    if a.sim != b.sim {
        let (a, b) = ((a.name.clone(), a.sim), (b.name.clone(), b.sim));
        return Err(BisectError::OtherSim { a, b });
    }
    let names = (a.name.clone(), b.name.clone());
    let search = BisectSearch { a, b, exec, progress };
    let Some((from, to)) = search.common() else {
        return Err(BisectError::NoCommonHeight { a: names.0, b: names.1 });
    };
    let difference = search.run();
    let equal = difference.is_none();
    Ok(BisectReport { a: names.0, b: names.1, equal, from: from.0, to: to.0, difference })
}
