//! What happens in a try: the lines that its author reads.

use std::collections::BTreeMap;

use metatopia_scripting::limits::GAS_PER_CALL_MAX;
use metatopia_sim::{Applied, ScriptFailure, World, WorldObject};
use metatopia_types::{
    Form, ObjectId, PackageId, PublicKey, ScriptId, Tick, limits::TICKS_PER_SECOND,
};
use serde::Serialize;

use crate::{CallError, core::units::from_fx};

/// Lines that are kept between two reports. A script that logs all it may fills ten times as many in the
/// turns of one call, and nobody reads them.
pub const TRIAL_LINES_MAX: usize = 200;

/// A line of a try: what happened, and when.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialLine {
    /// Simulated seconds since the try began.
    pub at: f64,
    /// What happened then.
    pub what: TrialEvent,
}

/// What happens in a try.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TrialEvent {
    /// A thing near the one that is tried said something.
    Said {
        /// The thing's name.
        name: String,
        /// Whether it whispered to the author alone.
        whispered: bool,
        /// The words that it said.
        text: String,
    },
    /// The script logged something.
    Logged {
        /// The line that it logged.
        text: String,
    },
    /// A call of the script failed.
    Failed {
        /// The file of the package.
        file: String,
        /// The line, from 1; 0 if no place is known.
        line: u32,
        /// The column, from 1; 0 if no place is known.
        column: u32,
        /// The reason, in words.
        why: String,
    },
    /// A thing made a sound.
    Sound {
        /// The thing's name.
        name: String,
        /// The name of the sound.
        sound: &'static str,
        /// Semitones above its usual pitch.
        pitch: i8,
    },
    /// A thing showed a form to the author.
    Form {
        /// The thing that asks.
        object: u64,
        /// The thing's name.
        name: String,
        /// The form that it shows.
        form: Form,
    },
    /// The thing looks or reads otherwise than before.
    Look {
        /// Its color as 0xRRGGBB.
        color: u32,
        /// The text that it shows.
        text: String,
        /// The name that it has.
        name: String,
    },
    /// The thing is elsewhere, or turned.
    Place {
        /// Metres to the east.
        x: f64,
        /// Metres to the north.
        y: f64,
    },
    /// The script made a thing.
    Made {
        /// The name of what it made.
        name: String,
    },
    /// The thing is gone, and the try is over.
    Gone,
    /// The script is suspended, because it failed too often.
    Suspended,
    /// The script is what it was before the upgrade, because that failed.
    FellBack,
    /// A rule of the sim refused what the author did.
    Refused {
        /// What the author did, in a word.
        what: &'static str,
        /// The rule, as the protocol calls it.
        refusal: String,
    },
}

/// The gas that calls of one handler used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HandlerGas {
    /// How many calls there were.
    pub calls: u64,
    /// The gas of all of them.
    pub gas: u64,
    /// The gas of the dearest. Calls of one turn share the turn's gas.
    pub most: u64,
}

/// What a try has to tell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialReport {
    /// Simulated seconds since the try began.
    pub at: f64,
    /// Whether nothing runs any more.
    pub over: bool,
    /// What happened since the last report.
    pub lines: Vec<TrialLine>,
    /// Lines beyond the most that are kept.
    pub more: u64,
    /// The gas so far, by handler.
    pub gas: BTreeMap<&'static str, HandlerGas>,
    /// The most gas that one call may use.
    pub gas_max: u64,
}

/// Takes down what happens in a try, or to a script of the sim itself.
#[derive(Debug)]
pub(crate) struct TrialNews {
    began: Tick,
    author: PublicKey,
    thing: ObjectId,
    package: Option<PackageId>,
    script: Option<ScriptId>,
    /// What people see of the thing, as it was told last.
    shown: Option<WorldObject>,
    gas: BTreeMap<&'static str, HandlerGas>,
    gas_used: u64,
    is_suspended: bool,
    /// Only calls are of interest: whoever watches a thing of the sim sees and hears it anyway.
    calls_alone: bool,
    lines: Vec<TrialLine>,
    more: u64,
}

impl TrialNews {
    /// Begins with a script that runs in `world`: what it logs and uses, and where it fails.
    ///
    /// # Errors
    /// `NoScript` if there is no such script on the thing.
    pub(crate) fn of_script(
        world: &World,
        thing: ObjectId,
        script: ScriptId,
    ) -> Result<Self, CallError> {
        let known = running(world, script).filter(|known| known.object == thing);
        let known = known.ok_or_else(|| CallError::new("NoScript", "no such script runs on it"))?;
        Ok(Self {
            script: Some(script),
            shown: None,
            gas_used: known.gas_used,
            is_suspended: known.suspended.is_some(),
            calls_alone: true,
            // No line is somebody's here.
            ..Self::new(world, PublicKey([0; 32]), thing)
        })
    }

    /// Begins with the thing as it is in `world`.
    pub(super) fn new(world: &World, author: PublicKey, thing: ObjectId) -> Self {
        Self {
            began: world.tick(),
            author,
            thing,
            package: None,
            script: None,
            shown: world.object(thing),
            gas: BTreeMap::new(),
            gas_used: 0,
            is_suspended: false,
            calls_alone: false,
            lines: Vec::new(),
            more: 0,
        }
    }

    /// Returns the thing that is tried.
    pub(super) fn thing(&self) -> ObjectId {
        self.thing
    }

    /// Learns which script is tried: one that is there, or the next one that runs this package on the thing.
    pub(super) fn await_script(
        &mut self,
        world: &World,
        script: Option<ScriptId>,
        package: PackageId,
    ) {
        (self.script, self.package) = (script, Some(package));
        let known = script.and_then(|script| running(world, script));
        self.gas_used = known.map_or(0, |known| known.gas_used);
    }

    /// Takes down an act of the author that a rule refused.
    pub(super) fn refused(&mut self, world: &World, what: &'static str, refusal: String) {
        self.tell(world.tick(), TrialEvent::Refused { what, refusal });
    }

    /// Takes down what a turn brought, after which the world is `world`.
    pub(crate) fn take(&mut self, world: &World, applied: &Applied) {
        if self.calls_alone {
            self.take_calls(world, applied);
            if self.script.take_if(|script| running(world, *script).is_none()).is_some() {
                self.tell(applied.tick, TrialEvent::Gone);
            }
            return;
        }
        let thing = world.object(self.thing);
        if let (None, Some(package), Some(thing)) = (self.script, self.package, &thing) {
            let newest = thing.scripts.iter().rev().find(|(_, runs)| *runs == package);
            self.script = newest.map(|(script, _)| *script);
        }
        self.take_words(world, applied);
        self.take_calls(world, applied);
        for made in applied.changed.iter().filter(|changed| changed.from.is_none()) {
            let made = world.object(made.id).filter(|made| made.spawner == Some(self.thing));
            if let Some(made) = made {
                self.tell(applied.tick, TrialEvent::Made { name: made.name });
            }
        }
        self.take_look(applied.tick, thing);
    }

    /// Takes down what was said, heard and asked.
    fn take_words(&mut self, world: &World, applied: &Applied) {
        let place = self.shown.as_ref().map(|thing| thing.position);
        let hearing = world.parameters().hearing;
        for line in applied.chat.iter().filter(|line| line.player.is_none()) {
            let is_near = place.is_none_or(|place| place.distance(line.place) <= hearing);
            let is_meant = line.hearer.is_none_or(|hearer| hearer == self.author);
            if is_near && is_meant {
                let (name, text) = (line.name.clone(), line.text.clone());
                let whispered = line.hearer.is_some();
                self.tell(line.tick, TrialEvent::Said { name, whispered, text });
            }
        }
        for made in &applied.sounds {
            if place.is_none_or(|place| place.distance(made.place) <= hearing) {
                let (name, sound, pitch) = (made.name.clone(), made.sound.name(), made.pitch);
                self.tell(made.tick, TrialEvent::Sound { name, sound, pitch });
            }
        }
        let author = self.author;
        for shown in applied.forms.iter().filter(|shown| shown.player == author) {
            let (object, name, form) = (shown.object.0, shown.name.clone(), shown.form.clone());
            self.tell(shown.tick, TrialEvent::Form { object, name, form });
        }
    }

    /// Takes down what calls of the script logged and used, and why they failed.
    fn take_calls(&mut self, world: &World, applied: &Applied) {
        for line in &applied.log {
            if self.is_own(world, line.script) {
                self.tell(line.tick, TrialEvent::Logged { text: line.text.clone() });
            }
        }
        for failure in &applied.failures {
            if self.is_own(world, failure.script) {
                self.tell(failure.tick, failed(failure));
            }
        }
        let Some(now) = self.script.and_then(|script| running(world, script)) else {
            return;
        };
        let calls: Vec<&'static str> = applied
            .order
            .iter()
            .filter(|received| Some(received.script) == self.script)
            .map(|received| received.event.kind().handler())
            .collect();
        let used = now.gas_used.saturating_sub(self.gas_used);
        self.gas_used = now.gas_used;
        for handler in &calls {
            let share = used / calls.len() as u64;
            let entry = self.gas.entry(handler).or_default();
            entry.calls = entry.calls.saturating_add(1);
            entry.gas = entry.gas.saturating_add(share);
            entry.most = entry.most.max(share);
        }
        if now.suspended.is_some() && !self.is_suspended {
            self.is_suspended = true;
            self.tell(applied.tick, TrialEvent::Suspended);
        }
        if self.package.take_if(|package| *package != now.package).is_some() {
            self.tell(applied.tick, TrialEvent::FellBack);
        }
    }

    /// Takes down a change of what people see and read.
    fn take_look(&mut self, tick: Tick, thing: Option<WorldObject>) {
        match (&mut self.shown, thing) {
            (Some(before), Some(now)) => {
                let words = |thing: &WorldObject| {
                    (thing.look.color, thing.text.clone(), thing.name.clone())
                };
                if words(before) != words(&now) {
                    (before.look, before.text) = (now.look, now.text.clone());
                    before.name.clone_from(&now.name);
                    let (color, text, name) = words(&now);
                    self.tell(tick, TrialEvent::Look { color, text, name });
                }
            }
            (Some(_), None) => {
                self.shown = None;
                self.tell(tick, TrialEvent::Gone);
            }
            (None, _) => {}
        }
    }

    /// Returns what happened since the last report. Where the thing is is told once in it.
    pub(crate) fn report(&mut self, world: &World, over: bool) -> TrialReport {
        let now = world.object(self.thing);
        if let (Some(before), Some(now)) = (&mut self.shown, now)
            && (before.position, before.angle) != (now.position, now.angle)
        {
            (before.position, before.angle) = (now.position, now.angle);
            let (x, y) = (from_fx(now.position.x), from_fx(now.position.y));
            self.tell(world.tick(), TrialEvent::Place { x, y });
        }
        TrialReport {
            at: self.seconds(world.tick()),
            over,
            lines: std::mem::take(&mut self.lines),
            more: std::mem::take(&mut self.more),
            gas: self.gas.clone(),
            gas_max: GAS_PER_CALL_MAX,
        }
    }

    /// Says whether the script that was watched is gone.
    pub(crate) fn is_over(&self) -> bool {
        self.calls_alone && self.script.is_none()
    }

    /// Says whether a script is the one that is tried, or runs its package on what that one made.
    fn is_own(&self, world: &World, script: ScriptId) -> bool {
        if Some(script) == self.script {
            return true;
        }
        let entry = running(world, script).filter(|entry| Some(entry.package) == self.package);
        let thing = entry.and_then(|entry| world.object(entry.object));
        thing.is_some_and(|thing| thing.spawner == Some(self.thing))
    }

    fn seconds(&self, tick: Tick) -> f64 {
        tick.0.saturating_sub(self.began.0) as f64 / TICKS_PER_SECOND as f64
    }

    fn tell(&mut self, tick: Tick, what: TrialEvent) {
        if self.lines.len() >= TRIAL_LINES_MAX {
            self.more = self.more.saturating_add(1);
        } else {
            self.lines.push(TrialLine { at: self.seconds(tick), what });
        }
    }
}

/// Returns a script as lists show it.
fn running(world: &World, script: ScriptId) -> Option<metatopia_sim::RunningScript> {
    let before = ScriptId(script.0.checked_sub(1)?);
    world.scripts_after(before).next().filter(|found| found.script == script)
}

/// Returns why and where a call failed.
fn failed(failure: &ScriptFailure) -> TrialEvent {
    let report = &failure.report;
    TrialEvent::Failed {
        file: report.file.clone(),
        line: report.line,
        column: report.column,
        why: format!("{}: {}", failure.kind, report.message),
    }
}
