//! What builders' acts do to the state, once they are allowed. Each step gives what takes it back.

use std::collections::BTreeMap;

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{Aspect, BodySpec, InsertError, Pose, Shape};
use metatopia_types::{BodyShape, ObjectId, PackageId, PublicKey, ScriptId};

use crate::{
    gas::Pool,
    history::{Back, Deed, Lost},
    object::Object,
    script::Script,
    state::State,
};

/// A step of building.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "it is boxed as a whole, and lives for one act")]
pub(crate) enum Work {
    /// A new object with scripts.
    Erect(Object, BodySpec, Vec<PackageId>),
    /// Something about an object.
    On(ObjectId, Job),
}

/// What is done to an object.
#[derive(Debug, Clone)]
pub(crate) enum Job {
    Move(Vec2),
    Face(Angle),
    Shape(Shape, Fx, BodyShape),
    Recolor(u32),
    Rename(String),
    Write(String),
    Give(PublicKey),
    Attach(PackageId),
    Detach(ScriptId),
    Raze,
}

impl State {
    /// What somebody owns, by id; avatars are not owned.
    pub(crate) fn things<'a>(
        &'a self,
        owner: &PublicKey,
    ) -> impl Iterator<Item = (ObjectId, &'a Object)> {
        let ids = self.owned.get(owner).into_iter().flatten();
        ids.filter_map(|id| Some((*id, self.objects.get(id)?)))
    }

    /// Is there room for another thing that is no avatar? So many as avatars can be are kept free.
    pub(crate) fn has_room_for_things(&self) -> bool {
        let things = self.objects.len().saturating_sub(self.present.len());
        let parameters = &self.charter.parameters;
        let room = parameters.objects_max.saturating_sub(parameters.avatars_max);
        things < room as usize
    }

    /// Does a step. Gives the object, and what takes the step back.
    ///
    /// # Errors
    /// When physics has no room for a new body; nothing changed then.
    pub(crate) fn work(&mut self, work: Work) -> Result<Deed, InsertError> {
        match work {
            Work::Erect(object, body, packages) => {
                let object = self.spawn(object, &body)?;
                for package in packages {
                    self.attach(object, None, package);
                }
                Ok(Deed { object, back: Back::Raze })
            }
            Work::On(object, job) => {
                let back = self.change(object, job).unwrap_or(Back::Nothing);
                Ok(Deed { object, back })
            }
        }
    }

    /// Changes an object; nothing if it is not there.
    fn change(&mut self, id: ObjectId, job: Job) -> Option<Back> {
        Some(match job {
            Job::Move(position) => {
                let (body, drawn) = (self.region.body(id)?.clone(), self.drawn(id)?);
                self.region.set_position(id, position).ok()?;
                self.halt(id);
                Back::Revert(Box::new(body), Aspect::Position, drawn)
            }
            Job::Face(angle) => {
                let (body, drawn) = (self.region.body(id)?.clone(), self.drawn(id)?);
                let pose = Pose { position: body.position(), angle };
                self.region.set_pose(id, pose).ok()?;
                Back::Revert(Box::new(body), Aspect::Facing, drawn)
            }
            Job::Shape(shape, mass, draw) => {
                let (body, drawn) = (self.region.body(id)?.clone(), self.drawn(id)?);
                self.region.set_shape(id, shape, mass).ok()?;
                self.objects.get_mut(&id)?.look.shape = draw;
                Back::Revert(Box::new(body), Aspect::Shape, drawn)
            }
            Job::Recolor(color) => {
                let look = &mut self.objects.get_mut(&id)?.look;
                Back::Recolor(core::mem::replace(&mut look.color, color))
            }
            Job::Rename(name) => {
                let object = self.objects.get_mut(&id)?;
                Back::Rename(core::mem::replace(&mut object.name, name))
            }
            Job::Write(text) => {
                let object = self.objects.get_mut(&id)?;
                Back::Write(core::mem::replace(&mut object.text, text))
            }
            Job::Give(to) => {
                let before = self.objects.get_mut(&id)?.owner.replace(to);
                self.disown(before, id);
                self.own(to, id);
                Back::Nothing
            }
            Job::Attach(package) => Back::Detach(self.attach(id, None, package)?),
            Job::Detach(script) => {
                let package = self.detach(script)?;
                Back::Attach(script, package)
            }
            Job::Raze => Back::Rebuild(Box::new(self.raze(id)?)),
        })
    }

    /// Takes a deed back.
    ///
    /// # Errors
    /// When physics has no room for a body; nothing changed then.
    pub(crate) fn take_back(&mut self, deed: Deed) -> Result<(), InsertError> {
        let id = deed.object;
        match deed.back {
            Back::Raze => drop(self.raze(id)),
            Back::Rebuild(lost) => self.rebuild(id, *lost)?,
            Back::Revert(before, aspect, drawn) => {
                // What is gone, or cannot be so any more, stays as it is: the rules looked first.
                if self.region.revert(&before, aspect).is_ok()
                    && let Some(object) = self.objects.get_mut(&id)
                {
                    object.look.shape = drawn;
                }
            }
            Back::Recolor(color) => drop(self.change(id, Job::Recolor(color))),
            Back::Rename(name) => drop(self.change(id, Job::Rename(name))),
            Back::Write(text) => drop(self.change(id, Job::Write(text))),
            Back::Detach(script) => drop(self.detach(script)),
            Back::Attach(script, package) => drop(self.attach(id, Some(script), package)),
            Back::Nothing => {}
        }
        Ok(())
    }

    /// Notes what a builder did.
    pub(crate) fn remember(&mut self, builder: PublicKey, deed: Deed) {
        match self.histories.get_mut(&builder) {
            Some(history) => history.add(deed),
            None => {
                let mut history = crate::history::History::default();
                history.add(deed);
                self.histories.insert(builder, history);
            }
        }
    }

    /// Takes back a deed of a builder, and forgets later ones.
    ///
    /// # Errors
    /// When physics has no room for a body; nothing changed then.
    pub(crate) fn undo(&mut self, builder: PublicKey, skip: u8) -> Result<(), InsertError> {
        let Some(mut history) = self.histories.get(&builder).cloned() else {
            return Ok(());
        };
        if let Some(deed) = history.take(skip) {
            self.take_back(deed)?;
        }
        if history.is_empty() {
            self.histories.remove(&builder);
        } else {
            self.histories.insert(builder, history);
        }
        Ok(())
    }

    fn drawn(&self, id: ObjectId) -> Option<BodyShape> {
        self.objects.get(&id).map(|object| object.look.shape)
    }

    /// What is put somewhere by hand does not slide on.
    fn halt(&mut self, id: ObjectId) {
        let moves = |body: &metatopia_physics::Body| {
            body.motion() == metatopia_physics::Motion::Dynamic && body.velocity() != Vec2::ZERO
        };
        if self.region.body(id).is_some_and(moves) {
            let _ = self.region.set_velocity(id, Vec2::ZERO);
        }
    }

    /// Takes an object out of the world, with its scripts.
    fn raze(&mut self, id: ObjectId) -> Option<Lost> {
        let object = self.objects.remove(&id)?;
        let body = self.region.remove(id).ok()?;
        self.disown(object.owner, id);
        let packages = object.scripts.iter().filter_map(|script| self.end(*script)).collect();
        Some(Lost { object, body, packages })
    }

    /// Makes an object again: its id, its fields, its body; its scripts begin anew.
    fn rebuild(&mut self, id: ObjectId, lost: Lost) -> Result<(), InsertError> {
        self.region.put_back(&lost.body)?;
        if let Some(owner) = lost.object.owner {
            self.own(owner, id);
        }
        let scripts = lost.object.scripts.clone();
        self.objects.insert(id, lost.object);
        for (script, package) in scripts.into_iter().zip(lost.packages) {
            self.begin(script, id, package);
        }
        Ok(())
    }

    /// Puts a script on an object, under its old id or the next one.
    fn attach(
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
        self.begin(script, id, package);
        Some(script)
    }

    /// Takes a script off its object.
    fn detach(&mut self, script: ScriptId) -> Option<PackageId> {
        let id = self.scripts.get(&script)?.object;
        if let Some(object) = self.objects.get_mut(&id) {
            object.scripts.retain(|other| *other != script);
        }
        self.end(script)
    }

    /// A script begins, with a state of its own that is empty.
    fn begin(&mut self, script: ScriptId, object: ObjectId, package: PackageId) {
        let gas = Pool::full(self.clock.tick.plus(1), self.script_income());
        let state = metatopia_scripting::State::default();
        self.scripts.insert(script, Script::new(object, package, state, gas));
        self.recast.push((script, Some(package)));
    }

    /// A script ends: with it go its state, its inbox and its timers.
    fn end(&mut self, script: ScriptId) -> Option<PackageId> {
        self.set_timers(script, BTreeMap::new());
        self.waiting.remove(&script);
        self.recast.push((script, None));
        self.scripts.remove(&script).map(|script| script.package)
    }
}
