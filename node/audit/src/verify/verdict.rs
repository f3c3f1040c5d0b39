//! The findings in one log, as the command line shows them.

use std::fmt;

use metatopia_types::Height;
use serde::Serialize;

use super::CheckedLog;

/// The reason why a log is not verified.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnverifiedLog {
    /// The log breaks a rule.
    #[error("{dir} at height {height}: {error}")]
    Fault {
        /// The name of the data directory.
        dir: String,
        /// The height that the fault is about.
        height: u64,
        /// The fault that was found.
        error: String,
    },
    /// The turns from here on need a port that this program lacks: nobody knows yet whether they are in order.
    #[error("{dir} is not checked to its end: {error}")]
    MissingPort {
        /// The name of the data directory.
        dir: String,
        /// The height of the first turn that runs the port.
        height: u64,
        /// The port, and the package that it replaces.
        error: String,
    },
    /// Nothing proves some of the turns.
    #[error("{dir} is not proven at height {height}: {gaps}")]
    Unproven {
        /// The name of the data directory.
        dir: String,
        /// The first unproven height.
        height: u64,
        /// The unproven turns, in words.
        gaps: String,
    },
}

/// The findings in one data directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogVerdict {
    /// The name of the data directory.
    pub dir: String,
    /// The server that wrote the log.
    pub server: Option<String>,
    /// The sim of the log.
    pub sim: Option<String>,
    /// Says whether nothing is wrong, and nothing is unproven that must be proven.
    pub ok: bool,
    /// The last height if all is in order; else the height of the fault, or the first unproven one.
    pub height: u64,
    /// The first height that is there, if earlier ones were removed.
    pub oldest: Option<u64>,
    /// The first height that is there, if what was before it was put aside as damaged and was not given back yet.
    pub lost_below: Option<u64>,
    /// The first height that was applied, or the first behind the last missing turns: 1, or the one
    /// after a snapshot.
    pub applied_from: u64,
    /// The turns that were checked against their certificates and each other, and not applied, since
    /// there is no state before them: first and last.
    pub certified_only: Vec<[u64; 2]>,
    /// The turns of which words were forgotten: first and last. They are among those that were not applied,
    /// with the turns behind them up to the next snapshot.
    pub forgotten: Vec<[u64; 2]>,
    /// The turns that are missing between others: first and last.
    pub missing: Vec<[u64; 2]>,
    /// The turns that nothing proves, first and last: the missing ones, and those of heights whose
    /// validators are not known.
    pub unproven: Vec<[u64; 2]>,
    /// The root after the last applied turn.
    pub root: Option<String>,
    /// The number of acts in the turns that are there.
    pub acts: u64,
    /// The number of records.
    pub records: u64,
    /// The bytes of a record at the very end that a crash tore, which does no harm.
    pub torn_bytes: u64,
    /// How often the server found its own state wrong and repaired it, which does the log no harm.
    pub heals: u64,
    /// The turns after which the server went on from a state that more than two thirds of the voting
    /// power signed for in a recovery.
    pub recoveries: Vec<u64>,
    /// The fault, if there is one.
    pub error: Option<String>,
    /// Says whether the fault is only that this program lacks a port.
    pub lacks_port: bool,
}

impl LogVerdict {
    /// Returns the findings in the data directory `dir`. With `allow_gaps` the log may hold turns that
    /// nothing proves.
    #[must_use]
    pub fn of(dir: String, checked: &CheckedLog, allow_gaps: bool) -> Self {
        let mut unproven = [checked.missing.as_slice(), &checked.unverifiable].concat();
        unproven.sort_unstable();
        let lost_below = checked.lost_below;
        let lost = lost_below.and_then(|height| height.minus(1)).map(|last| (last, last));
        let gap = lost.as_ref().or(unproven.first()).filter(|_| !allow_gaps);
        let fault = &checked.fault;
        let last = checked.turns.keys().next_back().copied();
        let height = match (fault, gap) {
            (Some(fault), _) => fault.height,
            (None, Some((first, _))) => *first,
            (None, None) => checked.base.max(last.unwrap_or_default()),
        };
        Self {
            dir,
            server: checked.server.map(|server| server.to_string()),
            sim: checked.sim.map(|sim| sim.to_string()),
            ok: fault.is_none() && gap.is_none(),
            height: height.0,
            oldest: checked.oldest.map(|oldest| oldest.0),
            lost_below: lost_below.map(|height| height.0),
            applied_from: checked.base.0 + 1,
            certified_only: ranges(&certified_only(checked)),
            forgotten: ranges(&checked.forgotten),
            missing: ranges(&checked.missing),
            unproven: ranges(&unproven),
            root: checked.world.as_ref().map(|world| world.root().to_string()),
            acts: checked.acts,
            records: checked.records,
            torn_bytes: checked.torn_bytes,
            heals: checked.repairs,
            recoveries: checked.recoveries.iter().map(|height| height.0).collect(),
            error: fault.as_ref().map(|fault| fault.kind.to_string()),
            lacks_port: fault.as_ref().is_some_and(|fault| fault.kind.missing_port().is_some()),
        }
    }

    /// Returns the reason why the log is not verified, if it is not.
    #[must_use]
    pub fn failure(&self) -> Option<UnverifiedLog> {
        let (dir, height) = (self.dir.clone(), self.height);
        match &self.error {
            _ if self.ok => None,
            Some(error) if self.lacks_port => {
                Some(UnverifiedLog::MissingPort { dir, height, error: error.clone() })
            }
            Some(error) => Some(UnverifiedLog::Fault { dir, height, error: error.clone() }),
            None => Some(UnverifiedLog::Unproven { dir, height, gaps: self.gaps() }),
        }
    }

    /// Returns the turns that nothing proves, in words.
    fn gaps(&self) -> String {
        let gaps = self.unproven.iter().map(|range| {
            let what = if self.missing.contains(range) {
                "not there"
            } else {
                "there, but who voted then is not known"
            };
            format!("{} {what}", turns(range))
        });
        let lost = self.lost_below.map(|height| {
            format!("what was before turn {height} is lost: its segments were put aside as damaged")
        });
        lost.into_iter().chain(gaps).collect::<Vec<String>>().join(", ")
    }
}

impl fmt::Display for LogVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dir, height, acts, records, .. } = self;
        match &self.error {
            Some(error) if self.lacks_port => {
                return write!(f, "{dir}: NOT CHECKED to its end: {error}");
            }
            Some(error) => return write!(f, "{dir}: WRONG at height {height}: {error}"),
            None if !self.ok => {
                return write!(f, "{dir}: NOT PROVEN at height {height}: {}", self.gaps());
            }
            None => write!(f, "{dir}: in order up to height {height}")?,
        }
        if !self.unproven.is_empty() || self.lost_below.is_some() {
            write!(f, ", but for {}", self.gaps())?;
        }
        write!(f, ", {acts} acts, {records} records")?;
        if let Some(root) = &self.root {
            write!(f, ", root {root}")?;
        }
        if let Some(oldest) = self.oldest.filter(|_| self.lost_below.is_none()) {
            write!(f, "; pruned below height {oldest}, ask an archive for what was before")?;
        }
        for range in &self.certified_only {
            write!(f, "; certified but not applied, for want of a state: {}", turns(range))?;
        }
        if !self.forgotten.is_empty() {
            let count: u64 = self.forgotten.iter().map(|[first, last]| last - first + 1).sum();
            let all: Vec<String> = self.forgotten.iter().map(turns).collect();
            write!(f, "; words were forgotten of {count} turns, which are verified by the chain ")?;
            write!(f, "and their certificates alone: {}", all.join(", "))?;
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

/// Returns a range of turns in words.
fn turns([first, last]: &[u64; 2]) -> String {
    if first == last { format!("turn {first}") } else { format!("turns {first} to {last}") }
}

fn ranges(all: &[(Height, Height)]) -> Vec<[u64; 2]> {
    all.iter().map(|(first, last)| [first.0, last.0]).collect()
}

/// Returns the turns that are proven, and were not applied.
fn certified_only(checked: &CheckedLog) -> Vec<(Height, Height)> {
    let within = |ranges: &[(Height, Height)], height: Height| {
        ranges.iter().any(|(first, last)| (*first..=*last).contains(&height))
    };
    let mut found: Vec<(Height, Height)> = Vec::new();
    for height in checked.turns.keys().copied() {
        if within(&checked.applied, height) || within(&checked.unverifiable, height) {
            continue;
        }
        match found.last_mut().filter(|(_, last)| last.plus(1) == height) {
            Some((_, last)) => *last = height,
            None => found.push((height, height)),
        }
    }
    found
}
