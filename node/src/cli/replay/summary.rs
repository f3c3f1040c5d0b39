//! A state in a few lines.

use std::fmt;

use metatopia_sim::World;
use serde::Serialize;

/// What a state holds, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::cli) struct StateSummary {
    pub(in crate::cli) height: u64,
    pub(in crate::cli) tick: u64,
    pub(in crate::cli) root: String,
    /// Milliseconds since 1970, as the last turn states.
    time_ms: u64,
    /// Players ever seen.
    players: usize,
    /// Those who are there.
    present: usize,
    objects: usize,
    scripts: usize,
    /// Pieces that the root commits to.
    leaves: usize,
    bytes: u64,
    /// Who votes at the next height.
    validators: Vec<String>,
}

impl StateSummary {
    pub(in crate::cli) fn of(world: &World) -> Self {
        let manifest = world.manifest();
        let set = world.validators(world.height().plus(1));
        let members = set.map(|set| set.members().iter());
        Self {
            height: world.height().0,
            tick: world.tick().0,
            root: world.root().to_string(),
            time_ms: world.time().0,
            players: world.player_count(),
            present: world.present().count(),
            objects: world.objects().count(),
            scripts: world.scripts().count(),
            leaves: manifest.leaves.len(),
            bytes: manifest.leaves.iter().map(|leaf| u64::from(leaf.bytes)).sum(),
            validators: members.into_iter().flatten().map(|one| one.key.to_string()).collect(),
        }
    }
}

impl fmt::Display for StateSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { height, tick, root, players, present, objects, scripts, leaves, bytes, .. } =
            self;
        writeln!(f, "after turn  {height}, tick {tick}")?;
        writeln!(f, "root        {root}")?;
        writeln!(f, "players     {players}, {present} of them there")?;
        writeln!(f, "objects     {objects}, {scripts} scripts")?;
        writeln!(f, "leaves      {leaves} of {bytes} bytes")?;
        writeln!(f, "validators  {}", self.validators.len())
    }
}
