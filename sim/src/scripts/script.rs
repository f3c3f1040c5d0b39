//! Scripts: a package running on an object, with what it remembers and the events that wait for it.

use std::collections::BTreeMap;

use metatopia_scripting::{ErrorKind, ScriptState};
use metatopia_types::{ObjectId, Outline, PackageId, Tick};
use serde::{Deserialize, Serialize};

use super::{gas::GasPool, inbox::Inbox, zone::Zone};
use crate::limits::{FAILURES_MAX, VOICE_LINES_MAX, VOICE_SIGNS_PER_LINE, VOICE_TICKS};

/// A script on an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// The object that it runs on.
    pub object: ObjectId,
    /// The package that it runs.
    pub package: PackageId,
    /// The state that it remembers.
    pub state: ScriptState,
    /// Events that wait for it.
    pub inbox: Inbox,
    /// When its timers run out, by their names.
    pub timers: BTreeMap<String, Tick>,
    /// The ground around its object of which it is told who comes and goes.
    pub zone: Option<Zone>,
    /// The gas that it may still use.
    pub gas: GasPool,
    /// Calls that failed so far.
    pub failures: u64,
    /// The last failure. Why, in words, never enters the state.
    pub last_failure: Option<(Tick, ErrorKind)>,
    /// When its last calls failed, as far as they count towards a suspension; the oldest first.
    pub failed_of_late: Vec<Tick>,
    /// Since when it is suspended. Nothing reaches it, its timers stand still, and an act has it run again.
    pub suspended: Option<Tick>,
    /// Events, timers and lines that were dropped because a limit was reached.
    pub dropped: u64,
    /// How much it let people see and hear of late.
    pub voice: SpeechRate,
    /// All gas that it has used.
    pub gas_used: u64,
    /// What it was before an upgrade that has not ended well yet.
    pub fallback: Option<Box<Fallback>>,
}

/// What a script goes back to if its upgrade fails: the last package that did well, with its state and zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fallback {
    /// The package that it ran.
    pub package: PackageId,
    /// The state that it remembered.
    pub state: ScriptState,
    /// The outline of its zone.
    pub zone: Option<Outline>,
}

/// What became of a script, as its programs must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScriptChange {
    /// It begins with this package.
    Begins(PackageId),
    /// It runs this package from now on.
    Upgrades(PackageId),
    /// It runs this package again, because its upgrade failed.
    FallsBack(PackageId),
    /// It runs this package again, after a suspension.
    Resumes(PackageId),
    /// It failed too often.
    Suspends,
    /// It has ended.
    Ends,
}

/// Counts what a script lets people see and hear, to bound its rate: its lines, and the whispers, sounds
/// and forms that count less.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpeechRate {
    since: Tick,
    signs: u32,
}

impl SpeechRate {
    /// What a line counts, which everybody in hearing reads.
    pub(super) const LINE: u32 = VOICE_SIGNS_PER_LINE;

    /// What a shout counts, which is heard four times as far as a line.
    pub(super) const SHOUT: u32 = 2 * VOICE_SIGNS_PER_LINE;

    /// What a whisper, a sound or a form counts.
    pub(super) const SIGN: u32 = 1;

    /// Says whether something that counts so much may come at `tick`, and counts it if so.
    pub(super) fn speak(&mut self, tick: Tick, count: u32) -> bool {
        if tick.0.saturating_sub(self.since.0) >= VOICE_TICKS {
            *self = Self { since: tick, signs: 0 };
        }
        let signs = self.signs.saturating_add(count);
        let may = signs <= VOICE_LINES_MAX * VOICE_SIGNS_PER_LINE;
        self.signs = if may { signs } else { self.signs };
        may
    }
}

impl Script {
    /// Returns a script that has handled no event yet.
    pub(crate) fn new(
        object: ObjectId,
        package: PackageId,
        state: ScriptState,
        gas: GasPool,
    ) -> Self {
        Self {
            object,
            package,
            state,
            inbox: Inbox::default(),
            timers: BTreeMap::new(),
            zone: None,
            gas,
            failures: 0,
            last_failure: None,
            failed_of_late: Vec::new(),
            suspended: None,
            dropped: 0,
            voice: SpeechRate::default(),
            gas_used: 0,
            fallback: None,
        }
    }

    /// Returns the packages that it needs: what it runs, and what it falls back to.
    pub(crate) fn packages(&self) -> impl Iterator<Item = PackageId> {
        let fallback = self.fallback.as_ref().map(|fallback| fallback.package);
        core::iter::once(self.package).chain(fallback)
    }

    /// Returns the tick at which its first timer runs out; nothing while it is suspended.
    pub(crate) fn alarm(&self) -> Option<Tick> {
        let first = self.timers.values().min().copied();
        first.filter(|_| self.suspended.is_none())
    }

    /// Notes that calls failed at `tick`. Says whether that is too often within the last `ticks`.
    pub(super) fn note_failures(&mut self, tick: Tick, count: usize, ticks: u64) -> bool {
        self.failed_of_late.retain(|failed| tick.0.saturating_sub(failed.0) < ticks);
        let more = FAILURES_MAX.saturating_sub(self.failed_of_late.len()).min(count);
        self.failed_of_late.extend(core::iter::repeat_n(tick, more));
        self.failed_of_late.len() >= FAILURES_MAX
    }

    /// Has it run again with a clean record.
    pub(crate) fn end_suspension(&mut self) {
        self.suspended = None;
        self.failed_of_late.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_says_so_many_lines_a_second_and_no_more() {
        let mut voice = SpeechRate::default();

        let said = (0..100).filter(|_| voice.speak(Tick(7), SpeechRate::LINE)).count();

        assert_eq!(said, VOICE_LINES_MAX as usize);
        assert!(!voice.speak(Tick(VOICE_TICKS - 1), SpeechRate::SIGN));
        let signs = (0..100).filter(|_| voice.speak(Tick(VOICE_TICKS), SpeechRate::SIGN)).count();
        assert_eq!(signs, (VOICE_LINES_MAX * VOICE_SIGNS_PER_LINE) as usize);
    }
}
