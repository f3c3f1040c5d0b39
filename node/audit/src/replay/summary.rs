//! A state in numbers.

use std::fmt;

use metatopia_sim::World;
use serde::Serialize;

/// The size of a state, its root and its validators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StateSummary {
    /// The height of the last turn.
    pub height: u64,
    /// The last tick.
    pub tick: u64,
    /// The root of the state.
    pub root: String,
    /// The time of the last turn in milliseconds since 1970.
    time_ms: u64,
    /// The number of remembered players.
    players: usize,
    /// The number of players who are logged in.
    present: usize,
    objects: usize,
    scripts: usize,
    /// The number of leaves.
    leaves: usize,
    bytes: u64,
    /// The validators of the next height.
    validators: Vec<String>,
}

impl StateSummary {
    /// Returns the summary of a state.
    #[must_use]
    pub fn of(world: &World) -> Self {
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
