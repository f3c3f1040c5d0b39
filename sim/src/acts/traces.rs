//! Traces: what is kept of the acts that changed a thing, so that everybody sees who did it last, and a
//! moderator can undo it.

use metatopia_types::{Act, Build, Envelope, GovernOrder, Height, LotOrder, ObjectId, PublicKey};

use super::history::{DeletedObject, UndoEntry};
use crate::{
    rules::{ThingTrace, build_word},
    state::{Object, State, ThingChange, ThingSeat},
};

impl State {
    /// Notes the author of an act that was carried out at the things that it changed. `made` is the thing that
    /// it made.
    pub(super) fn note_act(&mut self, envelope: &Envelope, made: Option<ObjectId>) {
        let by = envelope.author;
        match &envelope.act {
            // What was copied is as it was, and what was united is gone. An undo notes itself, because only it
            // knows its thing.
            Act::Build(build @ (Build::Place(_) | Build::Copy { .. } | Build::Unite { .. })) => {
                if let Some(made) = made {
                    self.note_change(made, by, build_word(build).0);
                }
            }
            Act::Build(build) => {
                let (word, object) = build_word(build);
                if let Some(object) = object {
                    self.note_change(object, by, word);
                }
            }
            // Who froze a thing is known, and what was done to it before is not to be hidden.
            Act::Govern(order @ GovernOrder::Return { object }) => {
                self.note_change(*object, by, order.verb());
                self.end_trace_of_others(*object, by);
            }
            Act::Lot(order @ LotOrder::SendHome { object, .. }) => {
                self.note_change(*object, by, order.verb());
                self.end_trace_of_others(*object, by);
            }
            Act::Answer { terms, accepts: true, .. } => {
                for object in terms.give.iter().chain(&terms.take) {
                    self.note_change(*object, by, "trade");
                    self.end_trace_of_traded(*object, by);
                }
            }
            _ => {}
        }
    }

    /// Ends the trace of a thing that somebody sent to its owner. What its maker still has goes on being traced:
    /// an undo takes it from nobody else.
    fn end_trace_of_others(&mut self, id: ObjectId, by: PublicKey) {
        let owner = self.objects.get(&id).and_then(|object| object.owner);
        let ends = self.people.traces.all.get(&id).is_some_and(|trace| {
            let is_its_makers = trace.before.is_none() && owner == Some(trace.by);
            trace.by != by && !is_its_makers
        });
        if ends {
            self.people.traces.forget(id);
        }
    }

    /// Ends the trace of a thing that changed hands, because whoever got it keeps it. What a key got by an
    /// answer of its own goes on being traced: its own script may have made the offer, on somebody's thing.
    fn end_trace_of_traded(&mut self, id: ObjectId, by: PublicKey) {
        let owner = self.objects.get(&id).and_then(|object| object.owner);
        let goes_on = |trace: &ThingTrace| trace.by == by && owner == Some(by);
        if !self.people.traces.all.get(&id).is_some_and(goes_on) {
            self.people.traces.forget(id);
        }
    }

    /// Returns the things that an act is about to change, each with the trace that it leaves if it is carried out.
    pub(super) fn traces_before(&self, envelope: &Envelope) -> Vec<(ObjectId, ThingTrace)> {
        let Act::Build(build) = &envelope.act else { return Vec::new() };
        let by = envelope.author;
        let changed = match build {
            Build::Undo { skip } => {
                let entry = self.histories.get(&by).and_then(|history| history.entry(*skip));
                entry.map(UndoEntry::changed).unwrap_or_default()
            }
            Build::Fetch { object, .. } => {
                return vec![(*object, ThingTrace { fetched: true, ..self.new_trace(by, None) })];
            }
            Build::Copy { .. }
            | Build::Resume { .. }
            | Build::Stow { .. }
            | Build::Discard { .. } => Vec::new(),
            _ => build.object().map(|id| (id, false)).into_iter().collect(),
        };
        changed.into_iter().filter_map(|(id, makes)| self.trace_of(id, by, makes)).collect()
    }

    /// Returns a thing that a key is about to change, with the trace that it leaves then. `makes` says whether it comes
    /// back by an undo of the key that had made it.
    pub(super) fn trace_of(
        &self,
        id: ObjectId,
        by: PublicKey,
        makes: bool,
    ) -> Option<(ObjectId, ThingTrace)> {
        let known = self.people.traces.all.get(&id).filter(|trace| trace.by == by);
        if let Some(known) = known {
            return Some((id, known.clone()));
        }
        if makes {
            return Some((id, self.new_trace(by, None)));
        }
        let before = Some(Box::new(self.image(id)?));
        Some((id, self.new_trace(by, before)))
    }

    /// Keeps the traces of an act that was carried out, and that of what it made.
    pub(super) fn keep_traces(
        &mut self,
        by: PublicKey,
        made: Option<ObjectId>,
        traces: Vec<(ObjectId, ThingTrace)>,
    ) {
        if let Some(made) = made {
            let trace = self.new_trace(by, None);
            self.people.traces.put(made, trace);
        }
        for (id, trace) in traces {
            self.keep_trace_of(by, id, trace);
        }
    }

    /// Keeps the trace of a thing that was changed or deleted. The step that deleted it is the last in the history.
    pub(super) fn keep_trace_of(&mut self, by: PublicKey, id: ObjectId, mut trace: ThingTrace) {
        trace.deleted = !self.objects.contains(&id);
        // Before the act it was in no place, so its image is that of the thing as it was put down.
        if trace.fetched && trace.before.is_none() {
            trace.before = self.image(id).map(Box::new);
        }
        // What somebody made and deleted is as if it had never been, until she takes that back.
        if trace.deleted && trace.before.is_none() {
            if let Some(history) = self.histories.get_mut(&by) {
                history.note_made(id);
            }
            return;
        }
        if self.people.traces.all.get(&id) != Some(&trace) {
            self.people.traces.put(id, trace);
        }
    }

    fn new_trace(&self, by: PublicKey, before: Option<Box<DeletedObject>>) -> ThingTrace {
        let (height, time) = (self.clock.height, self.governance.time);
        let (fetched, deleted, tried) = (false, false, Height(0));
        ThingTrace { by, height, time, before, fetched, deleted, tried }
    }

    /// Returns a thing as it would be kept if it were deleted now, but without its joints: in nobody's hands, and
    /// nobody sits on it. Otherwise a thing that comes back would be held, or sat on, only on servers that read
    /// their state from a snapshot and build the indexes from it.
    fn image(&self, id: ObjectId) -> Option<DeletedObject> {
        let thing = self.thing(id).ok()?;
        let body = self.put_down_body(id, thing)?;
        let seat = thing.seat.map(ThingSeat::empty);
        let object = Object { held: None, seat, ..thing.clone() };
        let package = |script| self.scripts.get(script).map(|script| script.package);
        let packages = object.scripts.iter().filter_map(package).collect();
        Some(DeletedObject { object, body, packages, joints: Vec::new() })
    }

    /// Notes who changed a thing, if it is there.
    pub(super) fn note_change(&mut self, id: ObjectId, by: PublicKey, word: &str) {
        let (height, time) = (self.clock.height, self.clock.time);
        if let Some(object) = self.objects.get_mut(&id) {
            object.changed = Some(ThingChange { by, word: word.to_owned(), height, time });
        }
    }
}
