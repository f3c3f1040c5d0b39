//! Scripts: a package running on an object, with what it remembers and the events that wait for it.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_scripting::{ErrorKind, ScriptState};
use metatopia_types::{HomeReason, ObjectId, PackageId, Tick, wire};
use serde::{Deserialize, Serialize};

use super::{gas::GasPool, inbox::Inbox, offers::StandingOffer, zone::Zone};
use crate::limits::{FAILURES_MAX, VOICE_LINES_MAX, VOICE_SIGNS_PER_LINE, VOICE_TICKS, ZONE_BYTES};

/// A script on an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// The object that it runs on.
    pub object: ObjectId,
    /// The package that it runs.
    pub package: PackageId,
    /// The state that it remembers. Calls share it until one changes it.
    pub state: Arc<ScriptState>,
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
    /// The tick since which it is suspended. Nothing reaches it, its timers stand still, and an act has it
    /// run again.
    pub suspended: Option<Tick>,
    /// Whether it is suspended for no other reason than that this sim has not got its source.
    pub asleep: bool,
    /// Events, timers and lines that were dropped because a limit was reached.
    pub dropped: u64,
    /// How much it let people see and hear of late.
    pub voice: SpeechRate,
    /// All gas that it has used.
    pub gas_used: u64,
    /// What it offered to people who have not answered yet.
    pub offers: Vec<StandingOffer>,
    /// What it was before an upgrade that has not ended well yet.
    pub fallback: Option<Box<Fallback>>,
}

/// What a script goes back to if its upgrade fails: the last package that did well, with its state and zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fallback {
    /// The package that it ran.
    pub package: PackageId,
    /// The state that it remembered.
    pub state: Arc<ScriptState>,
    /// Its zone, with those of whom it was told.
    pub zone: Option<Zone>,
}

impl Fallback {
    /// Returns what a script falls back to that runs another package from now on.
    pub(crate) fn of(script: &Script) -> Self {
        let (package, zone) = (script.package, script.zone.clone());
        let state = Arc::clone(&script.state);
        Self { package, state, zone }
    }

    /// Returns the bytes that it takes of the budget: its own, and those of all who may come into the zone that
    /// it gives back.
    pub(crate) fn bytes(&self) -> usize {
        let zone = if self.zone.is_some() { ZONE_BYTES } else { 0 };
        wire::length(self).saturating_add(zone)
    }
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
    /// It came over a border, and runs this package.
    Arrives(PackageId),
    /// Its object left over a border and came back. It runs this package.
    ComesHome(PackageId, HomeReason),
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

    /// What a shout counts, which is heard on sixteen times the ground of a line: all of a second.
    pub(super) const SHOUT: u32 = VOICE_LINES_MAX * VOICE_SIGNS_PER_LINE;

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
        state: Arc<ScriptState>,
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
            asleep: false,
            dropped: 0,
            voice: SpeechRate::default(),
            gas_used: 0,
            offers: Vec::new(),
            fallback: None,
        }
    }

    /// Returns the packages that it needs: what it runs, and what it falls back to.
    pub(crate) fn packages(&self) -> impl Iterator<Item = PackageId> {
        let fallback = self.fallback.as_ref().map(|fallback| fallback.package);
        core::iter::once(self.package).chain(fallback)
    }

    /// Returns its zone, and the one that it falls back to.
    pub(crate) fn zones(&self) -> impl Iterator<Item = &Zone> {
        let fallback = self.fallback.as_ref().and_then(|fallback| fallback.zone.as_ref());
        self.zone.iter().chain(fallback)
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
        self.asleep = false;
        self.failed_of_late.clear();
    }
}

#[cfg(test)]
mod tests {
    use metatopia_math::{Fx, Vec2};
    use metatopia_scripting::{
        Event, Value,
        limits::{STATE_BYTES_MAX, TOPIC_BYTES_MAX, ZONE_REACH},
    };
    use metatopia_types::{
        Digest, Outline, ScriptId,
        limits::{LEAF_BYTES_MAX, OBJECT_NUMBERS_END},
    };

    use super::*;
    use crate::{
        limits::{INBOX_BYTES_MAX, INBOX_EVENTS_MAX, TIMERS_MAX, ZONE_MEMBERS_MAX},
        scripts::{GasIncome, QueuedEvent, Sender},
    };

    /// A leaf that is too long stops every server.
    #[test]
    fn the_largest_script_fits_into_its_leaf() {
        let text = |bytes: usize| Value::Text("x".repeat(bytes));
        let head = wire::length(&ScriptState([("a".to_owned(), text(0))].into()));
        let state = ScriptState([("a".to_owned(), text(STATE_BYTES_MAX - head - 1))].into());
        assert_eq!(wire::length(&state), STATE_BYTES_MAX);
        let far = Fx::from_int(-ZONE_REACH);
        let zone = Zone {
            outline: Outline::Box { half: Vec2::new(far, far) },
            inside: vec![ObjectId(OBJECT_NUMBERS_END - 1); ZONE_MEMBERS_MAX],
        };
        let gas = GasPool::full(Tick(u64::MAX), GasIncome { refill: 0, capacity: u64::MAX / 4 });
        let object = ObjectId(OBJECT_NUMBERS_END - 1);
        let mut script = Script::new(object, PackageId(Digest([9; 32])), Arc::new(state), gas);
        script.fallback =
            Some(Box::new(Fallback { zone: Some(zone.clone()), ..Fallback::of(&script) }));
        script.zone = Some(zone);
        script.timers = (0..TIMERS_MAX)
            .map(|n| (format!("{n:0>width$}", width = TOPIC_BYTES_MAX), Tick(u64::MAX)))
            .collect();
        script.failed_of_late = vec![Tick(u64::MAX); FAILURES_MAX];
        script.last_failure = Some((Tick(u64::MAX), ErrorKind::Panic));
        script.suspended = Some(Tick(u64::MAX));
        (script.failures, script.dropped, script.gas_used) = (u64::MAX, u64::MAX, u64::MAX);
        let mut room = crate::rules::ByteBudget::UNLIMITED;
        // As many events as may wait, and as many bytes.
        let bytes = INBOX_BYTES_MAX as usize / INBOX_EVENTS_MAX;
        for n in 0..INBOX_EVENTS_MAX as u32 {
            let event = |text: usize| QueuedEvent {
                sender: Sender::Script(ScriptId(u64::from(n / 32))),
                raised: Tick(u64::MAX),
                index: u32::MAX,
                event: Event::Chat { from: object, text: "x".repeat(text) },
            };
            let text = bytes - wire::length(&event(0));
            script.inbox.push(event(text), &mut room).expect("it fits");
        }
        script.inbox.announce(QueuedEvent {
            sender: Sender::Core,
            raised: Tick(u64::MAX),
            index: u32::MAX,
            event: Event::Upgrade,
        });
        let bytes = wire::length(&script);
        assert!(bytes <= LEAF_BYTES_MAX && bytes + 2_048 > LEAF_BYTES_MAX, "{bytes}");
    }

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
