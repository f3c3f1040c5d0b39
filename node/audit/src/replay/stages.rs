//! The digests of the stages of ticks: over a whole replay, and one by one.

use std::{collections::BTreeMap, fmt};

use metatopia_sim::Stage;
use metatopia_types::{Digest, Height, Root, Tick};
use serde::Serialize;

/// The stages that leave a state of their own. After the last of them comes the root.
const HASHED: [Stage; 4] = [Stage::Acts, Stage::Physics, Stage::Scripts, Stage::Merge];

/// One digest for each stage, over the states that it left in all ticks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StageDigests {
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

/// The state after one stage of one tick.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StageLine {
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

/// Hashes the states that the stages leave, and lists them from a height on if that is wanted.
#[derive(Debug)]
pub struct StageHashes {
    /// The first height whose stages are listed.
    from: Option<Height>,
    /// The height of the last turn that is over.
    height: Height,
    hashers: BTreeMap<Stage, blake3::Hasher>,
}

impl StageHashes {
    /// Returns hashes of no state, which list the stages from a height on, if there is one.
    #[must_use]
    pub fn new(from: Option<Height>) -> Self {
        let hashers = HASHED.into_iter().map(|stage| (stage, blake3::Hasher::new())).collect();
        Self { from, height: Height(0), hashers }
    }

    /// Says whether any stages are listed.
    #[must_use]
    pub const fn are_listed(&self) -> bool {
        self.from.is_some()
    }

    /// Takes the state that a stage left. Returns its line, if it is to be listed. The stage belongs to
    /// the turn after the last one that [is over](Self::turn_over).
    pub fn left(&mut self, stage: Stage, tick: Tick, root: Root) -> Option<StageLine> {
        if let Some(hasher) = self.hashers.get_mut(&stage) {
            hasher.update(root.bytes());
        }
        let height = self.height.plus(1);
        self.from.filter(|from| height >= *from)?;
        let (stage, digest) = (stage.name(), root.to_string());
        Some(StageLine { height: height.0, tick: tick.0, stage, digest })
    }

    /// Notes that a turn is over, or that turns are applied to the state after it.
    pub const fn turn_over(&mut self, height: Height) {
        self.height = height;
    }

    /// Returns the digests.
    #[must_use]
    pub fn finish(self) -> StageDigests {
        let of = |stage| {
            let hasher = self.hashers.get(&stage).expect("each of these stages has a hasher");
            Digest(*hasher.finalize().as_bytes()).to_string()
        };
        StageDigests {
            acts: of(Stage::Acts),
            physics: of(Stage::Physics),
            scripts: of(Stage::Scripts),
            merge: of(Stage::Merge),
        }
    }
}
