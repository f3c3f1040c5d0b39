//! What the sim is asked to do with one thing, and the line that tells what became of that.

use std::{collections::BTreeMap, fmt};

use metatopia_client::build::{around_the_first, outlines};
use metatopia_protocol::{PackageEntry, ScriptEntry};
use metatopia_scenarios::ThingEdit;
use metatopia_sim::{Motion, ObjectSpec};
use metatopia_types::{Act, Blueprint, Build, Height, ObjectId, OutlineParts, PackageId, ScriptId};
use serde::Serialize;

use crate::cli::script::lines::shown;

/// One act that brings a change of the folder's things into the sim.
#[derive(Debug, Clone)]
pub(super) struct ThingOrder {
    /// The index of the thing in the last reading; behind all of these stand things that the folder lost.
    pub(super) index: usize,
    pub(super) step: ThingStep,
}

/// What is done to a thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ThingStep {
    /// It is made.
    Make,
    /// It is edited.
    Edit(ObjectId, ThingEdit),
    /// It is deleted.
    Delete(ObjectId),
}

impl ThingStep {
    /// Returns what became of a thing with which this was done.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Make => "made",
            Self::Edit(_, edit) => edit.word(),
            Self::Delete(_) => "deleted",
        }
    }

    /// Returns the act that does this to a thing with this entry; nothing if there is nothing to do.
    pub(super) fn act(&self, thing: &ObjectSpec, scripts: &SimScripts) -> Option<Act> {
        let build = match self {
            Self::Make => Build::Place(blueprint(thing)?),
            Self::Delete(object) => Build::Delete { object: *object },
            Self::Edit(object, edit) => edit_act(*object, edit, scripts)?,
        };
        Some(Act::Build(build))
    }
}

/// The scripts of the sim, and the names of their packages.
#[derive(Debug, Default)]
pub(super) struct SimScripts {
    running: Vec<ScriptEntry>,
    names: BTreeMap<PackageId, String>,
}

impl SimScripts {
    pub(super) fn new(running: Vec<ScriptEntry>, known: Vec<PackageEntry>) -> Self {
        let names = known.into_iter().map(|entry| (entry.package, entry.name)).collect();
        Self { running, names }
    }

    /// Returns the script of a thing that runs a package, or else another one of its name.
    fn of(&self, object: ObjectId, package: PackageId) -> Option<ScriptId> {
        let own = || self.running.iter().filter(|entry| entry.object == object);
        let name = self.names.get(&package);
        let is_namesake =
            |entry: &&ScriptEntry| name.is_some() && self.names.get(&entry.package) == name;
        let same = own().find(|entry| entry.package == package);
        same.or_else(|| own().find(is_namesake)).map(|entry| entry.script)
    }
}

fn edit_act(object: ObjectId, edit: &ThingEdit, scripts: &SimScripts) -> Option<Build> {
    Some(match edit {
        ThingEdit::Reshape(shape) => {
            let outline = outlines(shape)?.first()?.outline;
            Build::Resize { object, outline }
        }
        ThingEdit::Move(position) => Build::Move { object, position: *position },
        ThingEdit::Rotate(angle) => Build::Rotate { object, angle: *angle },
        ThingEdit::Recolor(color) => Build::Recolor { object, color: *color },
        ThingEdit::Rename(name) => Build::Rename { object, name: name.clone() },
        ThingEdit::Write(text) => Build::Write { object, text: text.clone() },
        ThingEdit::Sense(sensor) => Build::MakeSensor { object, sensor: *sensor },
        ThingEdit::Give(to) => Build::Give { object, to: *to },
        ThingEdit::Attach(package) => Build::Attach { object, package: *package },
        ThingEdit::Detach(package) => {
            Build::Detach { object, script: scripts.of(object, *package)? }
        }
    })
}

/// Returns the blueprint of a thing; nothing if it is a line, which nobody builds.
pub(super) fn blueprint(thing: &ObjectSpec) -> Option<Blueprint> {
    let mut parts = around_the_first(outlines(&thing.body.shape)?);
    let first = parts.remove(0);
    let pose = thing.body.pose;
    Some(Blueprint {
        kind: thing.kind.clone(),
        name: thing.name.clone(),
        text: thing.text.clone(),
        color: thing.look.color,
        outline: first.outline,
        movable: thing.body.motion == Motion::Dynamic,
        position: first.offset.rotate(pose.angle).saturating_add(pose.position),
        angle: first.angle.wrapping_add(pose.angle),
        licence: thing.licence,
        parts: OutlineParts::new(parts).ok()?,
    })
}

/// The line that says what was done with a thing.
#[derive(Debug, Serialize)]
pub(super) struct FollowedLine {
    /// The name that the folder has for it.
    pub(super) thing: String,
    /// The number of the thing in the sim.
    pub(super) object: u64,
    pub(super) done: Vec<&'static str>,
    /// The height of the last turn that did something.
    pub(super) height: u64,
}

impl FollowedLine {
    pub(super) fn new(thing: &str, object: ObjectId) -> Self {
        Self { thing: shown(thing), object: object.0, done: Vec::new(), height: 0 }
    }

    /// Adds what was done in a turn.
    pub(super) fn add(&mut self, word: &'static str, height: Height) {
        if !self.done.contains(&word) {
            self.done.push(word);
        }
        self.height = self.height.max(height.0);
    }
}

impl fmt::Display for FollowedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { thing, object, done, height } = self;
        write!(f, "{thing} (thing {object}): {}, in turn {height}", done.join(", "))
    }
}
