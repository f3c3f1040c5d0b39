//! `bisect`: where two histories of one sim part, down to the field.

mod search;
mod side;
#[cfg(test)]
mod tests;
mod ticks;

use std::{fmt, path::PathBuf};

use clap::Args;
use serde::Serialize;

pub(super) use self::side::tools;
use self::{search::BisectSearch, side::Side};
use super::{console::Console, exit::Exit, failure::Failure};

/// `bisect`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    metatopia bisect plaza/server-0 plaza/server-3\n  \
    metatopia bisect plaza/server-0 plaza/server-3/data/capsules/capsule-1203.capsule --json\n\n\
    A and B are data directories of servers, or capsules that servers or tabs wrote; the servers \
    may be running.\nFound is the first turn that differs, or after which the states did; then the \
    leaf, the body or script, the\nfield and both values, if both states can be had: from a \
    capsule, from a snapshot, or by playing the\nturns again. Exit code 0 when they are equal as \
    far as both go, 6 when they differ.\n\n\
    When another turn was decided, both are played tick by tick from the state before them. Named \
    is the first\ntick after which a body or a script is not the same; what the headers and acts \
    themselves put into the state\ndiffers at once. When the turn is the same but the state is not, \
    somebody's machine went wrong in between:\nplaying the turn again does not show when, and \
    servers keep what turns came to, not ticks. Then the range\nof ticks is named since both had one \
    root, and `metatopia replay --stages` on both machines tells the rest.")]
pub(super) struct BisectArgs {
    /// A data directory, or a capsule.
    a: PathBuf,
    /// The data directory or capsule to compare it with.
    b: PathBuf,
    /// The sim's genesis [default: the file `genesis` in each data directory].
    #[arg(long, value_name = "FILE")]
    genesis: Option<PathBuf>,
}

/// What is not the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum DifferenceKind {
    /// Another turn was decided.
    Turn,
    /// The turns are the same, the states after them are not.
    State,
}

/// Where two headers part: the way to the field, and both values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct Headers {
    field: Vec<String>,
    left: Option<String>,
    right: Option<String>,
}

/// The first difference.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct HistoryDifference {
    what: Option<DifferenceKind>,
    height: u64,
    /// The first tick after which bodies or scripts differ, if both turns could be played.
    tick: Option<u64>,
    /// The first and the last tick in which it can be: those of that turn, or of all since both had
    /// one root, if the turns could be played.
    ticks: Option<[u64; 2]>,
    /// If another turn was decided, and both are there.
    header: Option<Headers>,
    /// What the two came to after it.
    roots: Option<[String; 2]>,
    /// What more than two thirds of the voting power signed, if that is there.
    certified: Option<String>,
    /// The states that were compared are those after this turn; if `tick` is known, after that one.
    compared_at: Option<u64>,
    leaf: Option<String>,
    entry: Option<String>,
    field: Vec<String>,
    left: Option<String>,
    right: Option<String>,
    /// In so many leaves these states differ; if `tick` is known, in so many of bodies and scripts.
    leaves: Option<u32>,
}

/// The result of the search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct BisectReport {
    a: String,
    b: String,
    equal: bool,
    /// The heights that both have, first and last.
    from: u64,
    to: u64,
    #[serde(flatten)]
    parting: Option<HistoryDifference>,
}

impl fmt::Display for BisectReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { a, b, from, to, .. } = self;
        let Some(parting) = &self.parting else {
            return write!(f, "{a} and {b} are equal from {from} to {to}: every turn, every root");
        };
        let height = parting.height;
        match parting.what {
            Some(DifferenceKind::Turn) => write!(f, "turn {height} is not the same")?,
            _ => write!(f, "the state after turn {height} is not the same")?,
        }
        if let Some([first, last]) = parting.ticks {
            write!(f, " (ticks {first} to {last})")?;
        }
        if let Some(Headers { field, left, right }) = &parting.header {
            write!(f, "\n  header  {}", field.join(" > "))?;
            values(f, [(a, left), (b, right)])?;
        }
        if let Some(tick) = parting.tick {
            write!(f, "\n  tick    {tick}")?;
        }
        for (name, root) in [a, b].into_iter().zip(parting.roots.iter().flatten()) {
            let certified =
                if parting.certified.as_ref() == Some(root) { ", certified" } else { "" };
            write!(f, "\n  {name}: root {root}{certified}")?;
        }
        if let Some(leaf) = &parting.leaf {
            write!(f, "\n  leaf    {leaf}")?;
        }
        if let Some(entry) = &parting.entry {
            write!(f, "\n  of      {entry}")?;
        }
        if !parting.field.is_empty() {
            write!(f, "\n  in      {}", parting.field.join(" > "))?;
        }
        values(f, [(a, &parting.left), (b, &parting.right)])?;
        match parting.compared_at {
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

pub(super) fn run(args: &BisectArgs, console: Console) -> Result<(), Failure> {
    let genesis = args.genesis.as_deref();
    console.note(&format!("reading {}", args.a.display()));
    let a = Side::open(&args.a, genesis)?;
    console.note(&format!("reading {}", args.b.display()));
    let b = Side::open(&args.b, genesis)?;
    let found = bisect(&a, &b, console)?;
    console.show(&found)?;
    let Some(parting) = found.parting else {
        return Ok(());
    };
    let message = format!("{} and {} part at turn {}", a.name, b.name, parting.height);
    let failure = Failure::new(Exit::Diverged, message);
    Err(match (parting.what, parting.leaf) {
        (Some(DifferenceKind::State), None) => {
            failure.hint("a capsule of the one that is wrong would name the field")
        }
        _ => failure,
    })
}

fn bisect(a: &Side, b: &Side, console: Console) -> Result<BisectReport, Failure> {
    if a.sim != b.sim {
        let message = format!("{} is of sim {}, {} of sim {}", a.name, a.sim, b.name, b.sim);
        return Err(Failure::usage(message).hint("only histories of one sim can be compared"));
    }
    let search = BisectSearch { a, b, console };
    let (from, to) = search.common()?;
    let parting = search.run()?;
    let (a, b) = (a.name.clone(), b.name.clone());
    Ok(BisectReport { a, b, equal: parting.is_none(), from: from.0, to: to.0, parting })
}
