//! Applies building steps to the state, once they are allowed. Each step returns what undoes it.

use std::collections::BTreeMap;

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{Aspect, Body, BodySpec, InsertError, JointSpec, Motion, Pose, Shape};
use metatopia_types::{BodyShape, BuiltMaterial, ObjectId, PackageId, PublicKey, ScriptId};

use super::{
    history::{BuildHistory, DeletedObject, Inverse, UndoEntry, UnitedPart},
    materials::{mass_of_shape_before, material_before, of_material},
};
use crate::{
    scripts::{Fallback, GasPool, Script, ScriptChange},
    state::{Object, State},
};

/// A step of building.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "it is boxed as a whole, and lives for one act")]
pub(super) enum BuildStep {
    /// Makes an object with scripts of these packages.
    Create(Object, BodySpec, Vec<PackageId>),
    /// Edits an object.
    Edit(ObjectId, ObjectEdit),
}

/// One edit of an object.
#[derive(Debug, Clone)]
pub(super) enum ObjectEdit {
    /// Moves its body to this position, where it rests.
    Move(Vec2),
    /// Turns its body to this angle.
    Rotate(Angle),
    /// Gives it another shape with this mass, drawn with this outline.
    Resize(Shape, Fx, BodyShape),
    /// Gives it another material.
    MakeOf(BuiltMaterial),
    /// Makes it a sensor, or solid again.
    MakeSensor(bool),
    /// Sets its colour.
    Recolor(u32),
    /// Sets its name.
    Rename(String),
    /// Sets the text that it shows.
    SetText(String),
    /// Makes another player its owner.
    Give(PublicKey),
    /// Puts a script of this package on it.
    Attach(PackageId),
    /// Takes a script off it.
    Detach(ScriptId),
    /// Has one of its scripts run this package from now on.
    Upgrade(ScriptId, PackageId),
    /// Says whether it may leave for another sim.
    LetTravel(bool),
    /// Adds this joint of it.
    Join(Box<JointSpec>),
    /// Takes its joints with this other object off; all of them, if there is no other one.
    Unjoin(Option<ObjectId>),
    /// Deletes it with its scripts.
    Delete,
}

impl State {
    /// Returns the objects that a player owns, by id; avatars are not owned.
    pub(crate) fn things<'a>(
        &'a self,
        owner: &PublicKey,
    ) -> impl Iterator<Item = (ObjectId, &'a Object)> {
        let ids = self.owned.get(owner).into_iter().flatten();
        ids.filter_map(|id| Some((*id, self.objects.get(id)?)))
    }

    /// Says whether the sim may have so many other objects that are no avatars. As many objects as there can be
    /// avatars are kept free.
    pub(super) fn has_thing_slots(&self, more: usize) -> bool {
        let things = self.objects.len().saturating_sub(self.present.len());
        // Whatever is under way to a neighbour, or in luggage, may come back.
        let things = things.saturating_add(self.places_kept());
        let parameters = &self.charter.parameters;
        let avatars_max = parameters.avatars_max as usize;
        // More people may be here than come in by a number that was lowered since.
        let objects = self.objects.len().saturating_add(self.places_kept());
        let held = parameters.objects_held();
        things.saturating_add(more) <= held.saturating_sub(avatars_max)
            && objects.saturating_add(more) <= held
    }

    /// Applies a building step. Returns the object, and what undoes the step.
    ///
    /// # Errors
    /// When physics has no room for a new body; nothing changed then.
    pub(super) fn apply_build(&mut self, step: BuildStep) -> Result<UndoEntry, InsertError> {
        match step {
            BuildStep::Create(object, body, packages) => {
                let object = self.spawn(object, &body)?;
                for package in packages {
                    self.attach(object, None, package);
                }
                Ok(UndoEntry { object, inverse: Inverse::Delete, made: false })
            }
            BuildStep::Edit(object, edit) => {
                // An edit that cannot be made changes nothing, so nothing undoes it.
                let inverse = self.edit_object(object, edit).unwrap_or(Inverse::Nothing);
                Ok(UndoEntry { object, inverse, made: false })
            }
        }
    }

    /// Edits an object. Returns what undoes the edit; nothing if the object is not there.
    pub(super) fn edit_object(&mut self, id: ObjectId, edit: ObjectEdit) -> Option<Inverse> {
        Some(match edit {
            ObjectEdit::Move(position) => {
                let (body, outline) = (self.bodies.body(id)?.clone(), self.outline(id)?);
                self.bodies.set_position(id, position).ok()?;
                self.stop_body(id);
                Inverse::RevertBody(Box::new(body), Aspect::Position, outline)
            }
            ObjectEdit::Rotate(angle) => {
                let (body, outline) = (self.bodies.body(id)?.clone(), self.outline(id)?);
                let pose = Pose { position: body.position(), angle };
                self.bodies.set_pose(id, pose).ok()?;
                Inverse::RevertBody(Box::new(body), Aspect::Facing, outline)
            }
            ObjectEdit::Resize(shape, mass, new_outline) => {
                let (body, outline) = (self.bodies.body(id)?.clone(), self.outline(id)?);
                self.bodies.set_shape(id, shape, mass).ok()?;
                self.objects.get_mut(&id)?.look.shape = new_outline;
                Inverse::RevertBody(Box::new(body), Aspect::Shape, outline)
            }
            ObjectEdit::MakeOf(material) => {
                let (body, outline) = (self.bodies.body(id)?.clone(), self.outline(id)?);
                self.bodies.set_material(id, &of_material(material, body.spec())).ok()?;
                Inverse::RevertBody(Box::new(body), Aspect::Material, outline)
            }
            ObjectEdit::MakeSensor(sensor) => {
                let (body, outline) = (self.bodies.body(id)?.clone(), self.outline(id)?);
                self.bodies.set_sensor(id, sensor);
                Inverse::RevertBody(Box::new(body), Aspect::Sensor, outline)
            }
            ObjectEdit::Recolor(color) => {
                let look = &mut self.objects.get_mut(&id)?.look;
                Inverse::Recolor(core::mem::replace(&mut look.color, color))
            }
            ObjectEdit::Rename(name) => {
                let object = self.objects.get_mut(&id)?;
                Inverse::Rename(core::mem::replace(&mut object.name, name))
            }
            ObjectEdit::SetText(text) => {
                let object = self.objects.get_mut(&id)?;
                Inverse::SetText(core::mem::replace(&mut object.text, text))
            }
            ObjectEdit::Give(to) => {
                self.objects.get(&id)?;
                // What is given away stays with whom it was given to.
                self.hand_over(id, Some(to), None);
                Inverse::Nothing
            }
            ObjectEdit::Attach(package) => Inverse::Detach(self.attach(id, None, package)?),
            ObjectEdit::Detach(script) => {
                let package = self.detach(script)?;
                Inverse::Attach(script, package)
            }
            ObjectEdit::Upgrade(script, package) => {
                Inverse::Upgrade(script, self.upgrade_script(script, package)?)
            }
            ObjectEdit::LetTravel(travels) => {
                let object = self.objects.get_mut(&id)?;
                Inverse::LetTravel(core::mem::replace(&mut object.travels, travels))
            }
            ObjectEdit::Join(spec) => Inverse::Unjoin(self.add_joint(&spec).ok()?, spec.a),
            ObjectEdit::Unjoin(from) => {
                let joints = self.kept_joints(id, from);
                self.free_thing(id, from);
                Inverse::Join(joints)
            }
            ObjectEdit::Delete => Inverse::Restore(Box::new(self.delete_object(id)?)),
        })
    }

    /// Undoes a step back.
    ///
    /// # Errors
    /// When physics has no room for a body; nothing changed then.
    pub(super) fn revert(&mut self, entry: UndoEntry) -> Result<(), InsertError> {
        let id = entry.object;
        match entry.inverse {
            Inverse::Delete => drop(self.delete_object(id)),
            Inverse::Restore(deleted) => self.restore_object(id, *deleted)?,
            Inverse::RevertBody(before, aspect, outline) => {
                self.revert_body(&before, aspect, outline);
            }
            Inverse::Recolor(color) => drop(self.edit_object(id, ObjectEdit::Recolor(color))),
            Inverse::Rename(name) => drop(self.edit_object(id, ObjectEdit::Rename(name))),
            Inverse::SetText(text) => drop(self.edit_object(id, ObjectEdit::SetText(text))),
            Inverse::Detach(script) => drop(self.detach(script)),
            Inverse::Attach(script, package) => drop(self.attach(id, Some(script), package)),
            Inverse::Upgrade(script, package) => drop(self.upgrade_script(script, package)),
            Inverse::LetTravel(travels) => {
                drop(self.edit_object(id, ObjectEdit::LetTravel(travels)));
            }
            Inverse::Unjoin(joint, _) => self.bodies.unjoin(joint),
            Inverse::Join(specs) => self.rejoin(id, &specs),
            Inverse::TakeApart(parts) => self.take_apart(id, parts),
            Inverse::Nothing => {}
        }
        Ok(())
    }

    /// Deletes a thing, and restores what it was made of. It goes first: a part may need its place in the sim. The
    /// parts come in the order against that in which they went, so that each finds what it was joined to.
    fn take_apart(&mut self, whole: ObjectId, parts: Vec<UnitedPart>) {
        self.delete_object(whole).expect("the undo is refused if it is gone");
        for UnitedPart { id, deleted, .. } in parts.into_iter().rev() {
            // The sim has room for the things, so physics has it for their bodies.
            self.restore_object(id, deleted).expect("the undo is refused if there is no room");
        }
    }

    /// Restores one aspect of a body. Its mass comes from its shape and its material, and it may have got
    /// another one of the other since.
    fn revert_body(&mut self, before: &Body, aspect: Aspect, outline: BodyShape) {
        let id = before.id();
        // A body that physics does not take back stays as it is.
        let now = self.bodies.body(id).cloned().expect("the undo is refused if the body is gone");
        match aspect {
            Aspect::Position | Aspect::Facing | Aspect::Sensor => {
                let _ = self.bodies.revert(before, aspect);
            }
            Aspect::Material => {
                let _ = self.bodies.set_material(id, &material_before(&now, before));
            }
            Aspect::Shape => {
                let mass = mass_of_shape_before(&now, before);
                if self.bodies.set_shape(id, before.shape(), mass).is_ok()
                    && let Some(object) = self.objects.get_mut(&id)
                {
                    object.look.shape = outline;
                }
            }
        }
    }

    /// Records a building step, so that its builder can undo it.
    pub(super) fn record_build(&mut self, builder: PublicKey, entry: UndoEntry) {
        match self.histories.get_mut(&builder) {
            Some(history) => history.add(entry),
            None => {
                let mut history = BuildHistory::default();
                history.add(entry);
                self.histories.insert(builder, history);
            }
        }
    }

    /// Undoes the step of a builder before the last `skip` ones, and forgets those. Returns how many things that
    /// restored, at least one for the step.
    ///
    /// # Errors
    /// When physics has no room for a body; nothing changed then.
    ///
    /// # Panics
    /// When there is no such step: the act was decided over this very state.
    pub(super) fn undo(&mut self, builder: PublicKey, skip: u8) -> Result<usize, InsertError> {
        let history = self.histories.get(&builder).cloned();
        let mut history = history.expect("an undo is by a builder with a history");
        let entry = history.take(skip).expect("an undo is of a step in the history");
        let (changed, steps) = (entry.changed(), entry.steps());
        // Reverting may fail, so it comes before the history changes.
        self.revert(entry)?;
        changed.into_iter().for_each(|(id, _)| self.note_change(id, builder, "undo"));
        if history.is_empty() {
            self.histories.remove(&builder);
        } else {
            self.histories.insert(builder, history);
        }
        Ok(steps)
    }

    /// Returns the outline with which an object is drawn.
    fn outline(&self, id: ObjectId) -> Option<BodyShape> {
        self.objects.get(&id).map(|object| object.look.shape)
    }

    /// Stops a body that moves, because what is put somewhere by hand does not slide on.
    pub(crate) fn stop_body(&mut self, id: ObjectId) {
        let moves = |body: &Body| body.motion() == Motion::Dynamic && body.velocity() != Vec2::ZERO;
        if self.bodies.body(id).is_some_and(moves) {
            // A dynamic body takes every velocity within the bounds, and zero is one.
            let _ = self.bodies.set_velocity(id, Vec2::ZERO);
        }
    }

    /// Deletes an object with its scripts. Returns what restores it.
    pub(crate) fn delete_object(&mut self, id: ObjectId) -> Option<DeletedObject> {
        // What is restored is in nobody's hands.
        self.put_down(id, None);
        let joints = self.kept_joints(id, None);
        // Whoever sits there stands up, and no joint breaks.
        self.vacate(id);
        self.seats.remove(&id);
        let object = self.objects.remove(&id)?;
        let body = self.bodies.remove(id).ok()?;
        self.disown(object.owner, id);
        self.movable.remove(&id);
        self.people.frozen.remove(&id);
        self.people.traces.forget(id);
        self.forget_spawned(object.spawner, id);
        self.orphan_spawned(id);
        let packages =
            object.scripts.iter().filter_map(|script| self.end_script(*script)).collect();
        Some(DeletedObject { object, body, packages, joints })
    }

    /// Restores a deleted object with its id, its fields and its body; its scripts begin anew.
    pub(super) fn restore_object(
        &mut self,
        id: ObjectId,
        mut deleted: DeletedObject,
    ) -> Result<(), InsertError> {
        // Physics may refuse the body, so it comes before anything else changes.
        self.bodies.put_back(&deleted.body)?;
        if let Some(owner) = deleted.object.owner {
            self.own(owner, id);
            // What came over a border left the border's share when it was deleted, which other things may
            // have taken since. It counts in its owner's quotas, against which it was checked.
            deleted.object.guest = None;
        }
        if deleted.body.motion() == Motion::Dynamic {
            self.movable.insert(id);
        }
        let scripts = deleted.object.scripts.clone();
        let spawner = deleted.object.spawner;
        self.objects.insert(id, deleted.object);
        self.note_spawned(spawner, id);
        self.adopt_spawned(id);
        for (script, package) in scripts.into_iter().zip(deleted.packages) {
            self.begin_script(script, id, package);
        }
        self.rejoin(id, &deleted.joints);
        Ok(())
    }

    /// Puts a script on an object, under its old id if it had one, or under the next id.
    pub(super) fn attach(
        &mut self,
        id: ObjectId,
        script: Option<ScriptId>,
        package: PackageId,
    ) -> Option<ScriptId> {
        let object = self.objects.get_mut(&id)?;
        let script = script.unwrap_or(self.clock.next_script);
        let place = object.scripts.partition_point(|other| *other < script);
        object.scripts.insert(place, script);
        self.clock.next_script = self.clock.next_script.max(script.plus(1));
        self.begin_script(script, id, package);
        Some(script)
    }

    /// Takes a script off its object.
    fn detach(&mut self, script: ScriptId) -> Option<PackageId> {
        let id = self.scripts.get(&script)?.object;
        if let Some(object) = self.objects.get_mut(&id) {
            object.scripts.retain(|other| *other != script);
            if object.scripts.is_empty() {
                // Nobody else could end it.
                self.set_seat(id, None);
            }
        }
        self.end_script(script)
    }

    /// Begins a script with an empty state.
    fn begin_script(&mut self, script: ScriptId, object: ObjectId, package: PackageId) {
        let gas = GasPool::full(self.clock.tick.plus(1), self.script_income());
        let state = std::sync::Arc::default();
        self.scripts.insert(script, Script::new(object, package, state, gas));
        self.publications.take(package);
        self.script_changes.push((script, ScriptChange::Begins(package)));
    }

    /// Has a script run another package, with the state that it has. Returns what it ran.
    ///
    /// It falls back to the last package that did well, so one that is still on trial is none.
    fn upgrade_script(&mut self, id: ScriptId, package: PackageId) -> Option<PackageId> {
        let script = self.scripts.get_mut(&id)?;
        if script.package == package {
            // An upgrade that failed is undone already.
            return Some(package);
        }
        script.end_suspension();
        let fallback = Fallback::of(script);
        let before = core::mem::replace(&mut script.package, package);
        if script.fallback.is_none() {
            // The act was refused if the world has no room for the copy.
            self.byte_budget.take(fallback.bytes());
            script.fallback = Some(Box::new(fallback));
        } else {
            self.publications.release(before, self.governance.time);
        }
        self.publications.take(package);
        self.note_alarm(id);
        self.script_changes.push((id, ScriptChange::Upgrades(package)));
        Some(before)
    }

    /// Ends a script: with it go its state, its inbox and its timers. Returns what it ran.
    fn end_script(&mut self, script: ScriptId) -> Option<PackageId> {
        // Its timers first: the index of alarms follows from the script, which is gone afterwards.
        self.set_timers(script, BTreeMap::new());
        self.waiting.remove(&script);
        self.zones.remove(&script);
        self.script_changes.push((script, ScriptChange::Ends));
        let ended = self.scripts.remove(&script)?;
        ended
            .packages()
            .for_each(|package| self.publications.release(package, self.governance.time));
        Some(ended.package)
    }
}
