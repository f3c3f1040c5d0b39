//! What is told of one log.

use std::{fmt, path::Path};

use metatopia_types::Height;
use serde::Serialize;

use super::server::CheckedLog;
use crate::cli::failure::Failure;

/// What was found in one data directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct LogVerdict {
    pub(super) dir: String,
    pub(super) server: Option<String>,
    pub(super) sim: Option<String>,
    pub(super) ok: bool,
    /// The last height that is in order; of something wrong or not proven, the first that is.
    pub(super) height: u64,
    /// The first height that is there, if earlier ones were removed.
    pub(super) oldest: Option<u64>,
    /// The first height that was applied again, or the first behind the last turns that are missing:
    /// 1, or the one after a snapshot.
    pub(super) applied_from: u64,
    /// Turns that were held against their certificates and each other, but not applied: there is no
    /// state before them.
    pub(super) certified_only: Vec<[u64; 2]>,
    /// Turns that are not there between others, first and last.
    pub(super) missing: Vec<[u64; 2]>,
    /// Turns that nothing proves: those that are missing, and those of heights for which it is not
    /// known who voted.
    pub(super) unproven: Vec<[u64; 2]>,
    pub(super) root: Option<String>,
    pub(super) acts: u64,
    pub(super) records: u64,
    /// Bytes of a record that a crash has torn, at the very end: no harm.
    pub(super) torn_bytes: u64,
    /// How often the server found its own state wrong, and healed: no harm to the log.
    pub(super) heals: u64,
    /// The turns after which it went on from a state that more than two thirds of the voting power
    /// signed for in a recovery.
    pub(super) recoveries: Vec<u64>,
    pub(super) error: Option<String>,
}

impl LogVerdict {
    /// Tells what was found. With `allow_gaps` turns that nothing proves are told of, and no more.
    pub(super) fn of(dir: &Path, checked: &CheckedLog, allow_gaps: bool) -> Self {
        let mut unproven = [checked.missing.as_slice(), &checked.unheld].concat();
        unproven.sort_unstable();
        let (wrong, gap) = (&checked.wrong, unproven.first().filter(|_| !allow_gaps));
        let last = checked.turns.keys().next_back().copied();
        let height = match (wrong, gap) {
            (Some(fault), _) => fault.height,
            (None, Some((first, _))) => *first,
            (None, None) => checked.base.max(last.unwrap_or_default()),
        };
        Self {
            dir: dir.display().to_string(),
            server: checked.server.map(|server| server.to_string()),
            sim: checked.sim.map(|sim| sim.to_string()),
            ok: wrong.is_none() && gap.is_none(),
            height: height.0,
            oldest: checked.oldest.map(|oldest| oldest.0),
            applied_from: checked.base.0 + 1,
            certified_only: ranges(&certified_only(checked)),
            missing: ranges(&checked.missing),
            unproven: ranges(&unproven),
            root: checked.world.as_ref().map(|world| world.root().to_string()),
            acts: checked.acts,
            records: checked.records,
            torn_bytes: checked.torn_bytes,
            heals: checked.heals,
            recoveries: checked.recoveries.iter().map(|height| height.0).collect(),
            error: wrong.as_ref().map(|fault| fault.wrong.to_string()),
        }
    }

    /// Why the log is not verified, if it is not.
    pub(super) fn failure(&self) -> Option<Failure> {
        let Self { dir, height, .. } = self;
        match &self.error {
            _ if self.ok => None,
            Some(error) => Some(Failure::unverified(format!("{dir} at height {height}: {error}"))),
            None => {
                let what = self.gaps();
                Some(Failure::unverified(format!("{dir} is not proven at height {height}: {what}")).hint(
                    "where its server was away, or gave up a part of its log, say --allow-gaps",
                ))
            }
        }
    }

    /// What nothing proves.
    fn gaps(&self) -> String {
        let told = self.unproven.iter().map(|range| {
            let what = if self.missing.contains(range) {
                "not there"
            } else {
                "there, but who voted then is not known"
            };
            format!("{} {what}", turns(range))
        });
        told.collect::<Vec<String>>().join(", ")
    }
}

impl fmt::Display for LogVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dir, height, acts, records, .. } = self;
        match &self.error {
            Some(error) => return write!(f, "{dir}: WRONG at height {height}: {error}"),
            None if !self.ok => {
                return write!(f, "{dir}: NOT PROVEN at height {height}: {}", self.gaps());
            }
            None => write!(f, "{dir}: in order up to height {height}")?,
        }
        if !self.unproven.is_empty() {
            write!(f, ", but for {}", self.gaps())?;
        }
        write!(f, ", {acts} acts, {records} records")?;
        if let Some(root) = &self.root {
            write!(f, ", root {root}")?;
        }
        if let Some(oldest) = self.oldest {
            write!(f, "; pruned below height {oldest}, ask an archive for what was before")?;
        }
        for range in &self.certified_only {
            write!(f, "; certified but not applied, for want of a state: {}", turns(range))?;
        }
        if self.heals > 0 {
            write!(f, "; it healed {} times from a wrong state", self.heals)?;
        }
        for height in &self.recoveries {
            write!(f, "; after turn {height} it was recovered, as operators signed")?;
        }
        if self.torn_bytes > 0 {
            write!(f, ", and {} bytes that a crash tore", self.torn_bytes)?;
        }
        Ok(())
    }
}

fn turns([first, last]: &[u64; 2]) -> String {
    if first == last { format!("turn {first}") } else { format!("turns {first} to {last}") }
}

fn ranges(all: &[(Height, Height)]) -> Vec<[u64; 2]> {
    all.iter().map(|(first, last)| [first.0, last.0]).collect()
}

/// Turns that are proved, and were not applied.
fn certified_only(checked: &CheckedLog) -> Vec<(Height, Height)> {
    let within = |ranges: &[(Height, Height)], height: Height| {
        ranges.iter().any(|(first, last)| (*first..=*last).contains(&height))
    };
    let mut found: Vec<(Height, Height)> = Vec::new();
    for height in checked.turns.keys().copied() {
        if within(&checked.applied, height) || within(&checked.unheld, height) {
            continue;
        }
        match found.last_mut().filter(|(_, last)| last.plus(1) == height) {
            Some((_, last)) => *last = height,
            None => found.push((height, height)),
        }
    }
    found
}
