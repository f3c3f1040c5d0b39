//! Undoing what somebody did: things that she made go home, and others become what they were.
//!
//! A trace says what a thing was before her acts, and whoever changed it since has a trace of their own. So
//! nothing is compared: what has her trace is as she left it, but for physics and scripts.

use metatopia_physics::{Aspect, Motion};
use metatopia_types::{ObjectId, PackageId, PublicKey, Refusal, ScriptId};

use super::{building::ObjectEdit, history::DeletedObject, quota::QuotaUse};
use crate::{
    limits::{BUILD_BYTES_MAX, UNDONE_PER_ACT_MAX},
    rules::{OrderedDeed, RecordedOrder, ThingTrace, Warrant},
    state::State,
};

impl State {
    /// Undoes what a key did in the last seconds, as far as one act does, and records how much of it. What stays
    /// as it is keeps its trace, for an undo after those of all that none has tried yet.
    pub(super) fn undo_of(
        &mut self,
        by: PublicKey,
        warrant: Warrant,
        (key, seconds): (PublicKey, u32),
    ) {
        let since = self.governance.seconds_ago(seconds);
        let traced = self.people.traces.since(&key, since).map(|(id, _)| id);
        let ids: Vec<ObjectId> = traced.take(UNDONE_PER_ACT_MAX).collect();
        let (mut undone, mut collided) = (0_u32, 0_u32);
        for id in ids {
            let Some(trace) = self.people.traces.forget(id) else { continue };
            if self.undo_trace(id, &trace).is_ok() {
                undone += 1;
                self.note_change(id, by, "undo");
            } else {
                collided += 1;
                let tried = self.clock.height;
                self.people.traces.put(id, ThingTrace { tried, ..trace });
            }
        }
        let deed = OrderedDeed::Undo { key, undone, collided };
        self.record_order(RecordedOrder { height: self.clock.height, by, warrant, deed });
    }

    /// Undoes what a key did to one thing.
    ///
    /// # Errors
    /// The rule by which the thing stays as it is.
    fn undo_trace(&mut self, id: ObjectId, trace: &ThingTrace) -> Result<(), Refusal> {
        // Nobody keeps a thing from being undone by holding it.
        self.put_down(id, None);
        match (&trace.before, trace.deleted) {
            (None, _) => {
                // Only a gift leaves it with another owner: a trade ends the trace. It has no home there.
                let is_hers = self.thing(id)?.owner == Some(trace.by);
                let home = is_hers.then(|| self.home_of(id)).flatten();
                self.move_or_delete(id, home);
                Ok(())
            }
            (Some(before), true) => self.restore_again(id, before),
            // What she fetched and gave away stays with whom she gave it to.
            (Some(_), false) if trace.fetched && self.thing(id)?.owner == Some(trace.by) => {
                self.undo_fetch(id)
            }
            (Some(before), false) => self.revert_thing(id, before, &trace.by),
        }
    }

    /// Restores a thing that somebody deleted.
    fn restore_again(&mut self, id: ObjectId, before: &DeletedObject) -> Result<(), Refusal> {
        self.check_restored(id, before)?;
        // Nobody gets stuck in what can be pushed, and nobody keeps it from being undone by standing there.
        if before.body.motion() != Motion::Dynamic {
            self.check_nobody_is_in(&before.body)?;
        }
        if !self.byte_budget.has(BUILD_BYTES_MAX) {
            return Err(Refusal::Full);
        }
        self.restore_object(id, before.clone()).map_err(|_| Refusal::Full)?;
        self.byte_budget.take(BUILD_BYTES_MAX);
        // It is restored: it may go to another sim now, where it would be twice if a builder restored it here.
        self.forget_steps_that_restore(before.object.origin(self.charter.sim, id));
        Ok(())
    }

    /// Makes a thing what it was. A thing that can be pushed stays where it is.
    fn revert_thing(
        &mut self,
        id: ObjectId,
        before: &DeletedObject,
        by: &PublicKey,
    ) -> Result<(), Refusal> {
        let DeletedObject { object: was, body, packages, .. } = before;
        let now = self.thing(id)?.clone();
        packages.iter().try_for_each(|package| self.check_package(*package))?;
        if !self.byte_budget.has(BUILD_BYTES_MAX) {
            return Err(Refusal::Full);
        }
        if body.motion() == Motion::Static {
            self.check_nobody_is_in(body)?;
        }
        // What she gave away of her own stays with whom she gave it to.
        let is_taken = was.owner != now.owner && was.owner != Some(*by);
        if is_taken && let Some(owner) = &was.owner {
            let more = QuotaUse::of(&now, (body.motion(), &body.shape()), now.scripts.len());
            self.check_quota(owner, more, 1)?;
        }
        self.byte_budget.take(BUILD_BYTES_MAX);
        if is_taken {
            self.hand_over(id, was.owner, None);
        }
        let aspects: &[Aspect] = match body.motion() {
            Motion::Static => {
                &[Aspect::Shape, Aspect::Material, Aspect::Sensor, Aspect::Facing, Aspect::Position]
            }
            _ => &[Aspect::Shape, Aspect::Material, Aspect::Sensor],
        };
        for aspect in aspects {
            // A body that physics does not take back stays as it is.
            let _ = self.bodies.revert(body, *aspect);
        }
        self.revert_scripts(id, &was.scripts, packages);
        if let Some(object) = self.objects.get_mut(&id) {
            object.name.clone_from(&was.name);
            object.text.clone_from(&was.text);
            (object.look, object.travels) = (was.look, was.travels);
        }
        Ok(())
    }

    /// Gives a thing the scripts that it had. One that was taken off begins anew.
    fn revert_scripts(&mut self, id: ObjectId, was: &[ScriptId], packages: &[PackageId]) {
        let now = self.objects.get(&id).map(|object| object.scripts.clone()).unwrap_or_default();
        for script in now.iter().filter(|script| !was.contains(script)) {
            self.edit_object(id, ObjectEdit::Detach(*script));
        }
        for (script, package) in was.iter().zip(packages) {
            match self.scripts.get(script).map(|running| running.package) {
                Some(runs) if runs == *package => {}
                Some(_) => drop(self.edit_object(id, ObjectEdit::Upgrade(*script, *package))),
                None => drop(self.attach(id, Some(*script), *package)),
            }
        }
    }
}
