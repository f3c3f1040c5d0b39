//! Digests of the stages of ticks: over a whole replay, and one by one.

use std::{collections::BTreeMap, fmt};

use metatopia_sim::Stage;
use metatopia_types::{Digest, Height, Root, Tick};
use serde::Serialize;

use crate::cli::{console::Console, failure::Failure};

/// The stages that leave a state of their own; after the last of them comes the root.
const TOLD: [Stage; 4] = [Stage::Acts, Stage::Physics, Stage::Scripts, Stage::Merge];

/// One digest for each stage, over the states that it left in all ticks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct StageDigests {
    acts: String,
    physics: String,
    scripts: String,
    merge: String,
}

impl fmt::Display for StageDigests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { acts, physics, scripts, merge } = self;
        writeln!(f, "acts        {acts}")?;
        writeln!(f, "physics     {physics}")?;
        writeln!(f, "scripts     {scripts}")?;
        writeln!(f, "merge       {merge}")
    }
}

/// The state after one stage.
#[derive(Debug, Serialize)]
struct StageLine {
    height: u64,
    tick: u64,
    stage: &'static str,
    digest: String,
}

impl fmt::Display for StageLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { height, tick, stage, digest } = self;
        write!(f, "turn {height} tick {tick} {stage:<8} {digest}")
    }
}

/// Takes the stages down, and prints them if that is wanted.
pub(super) struct Stages {
    console: Console,
    /// Printed from this height on.
    from: Option<Height>,
    height: Height,
    sums: BTreeMap<Stage, blake3::Hasher>,
}

impl Stages {
    /// Prints from a height on, if any.
    pub(super) fn new(console: Console, from: Option<Height>) -> Self {
        let sums = TOLD.into_iter().map(|stage| (stage, blake3::Hasher::new())).collect();
        Self { console, from, height: Height(0), sums }
    }

    /// Are any printed?
    pub(super) const fn are_printed(&self) -> bool {
        self.from.is_some()
    }

    /// A stage left this state. Turns are told of when they are over, so the height is that of the
    /// turn after the last one.
    pub(super) fn left(&mut self, stage: Stage, tick: Tick, root: Root) -> Result<(), Failure> {
        if let Some(sum) = self.sums.get_mut(&stage) {
            sum.update(root.bytes());
        }
        let height = self.height.plus(1);
        if self.from.is_none_or(|from| height < from) {
            return Ok(());
        }
        let (stage, digest) = (stage.name(), root.to_string());
        self.console.show(&StageLine { height: height.0, tick: tick.0, stage, digest })
    }

    /// A turn is over.
    pub(super) const fn turn(&mut self, height: Height) {
        self.height = height;
    }

    pub(super) fn finish(self) -> StageDigests {
        let of = |stage| match self.sums.get(&stage) {
            Some(sum) => Digest(*sum.finalize().as_bytes()).to_string(),
            None => String::new(),
        };
        StageDigests {
            acts: of(Stage::Acts),
            physics: of(Stage::Physics),
            scripts: of(Stage::Scripts),
            merge: of(Stage::Merge),
        }
    }
}
