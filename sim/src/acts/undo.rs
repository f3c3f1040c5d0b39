//! Undoing: decides whether a building step can be undone.

use metatopia_physics::{Aspect, Body, Motion, Pose};
use metatopia_types::{ObjectId, PackageId, Refusal, ScriptId};

use super::{
    changes::StateChange,
    context::ActContext,
    history::{DeletedObject, Inverse, UndoEntry, UnitedPart},
    quota::QuotaUse,
};
use crate::{
    limits::BUILD_BYTES_MAX,
    rules::ActGround,
    space::Footprint,
    state::{Object, State},
};

impl ActContext<'_> {
    /// Decides an undo. The author may be anywhere, and the land may be anybody's; but an undo neither
    /// exceeds a quota, nor puts a body onto people, nor takes a thing from another owner.
    pub(super) fn undo(&self, skip: u8) -> Result<StateChange, Refusal> {
        let history = self.state.histories.get(&self.author());
        let entry =
            history.and_then(|history| history.entry(skip)).ok_or(Refusal::NothingToUndo)?;
        let id = entry.object;
        match &entry.inverse {
            Inverse::Nothing => return Err(Refusal::GiftStays),
            Inverse::Restore(deleted) => {
                self.state.check_restored(id, deleted)?;
                self.state.check_nobody_is_in(&deleted.body)?;
            }
            Inverse::TakeApart(parts) => self.check_taken_apart(id, parts)?,
            Inverse::Delete | Inverse::Recolor(_) | Inverse::Rename(_) | Inverse::LetTravel(_) => {
                self.thing(id)?;
            }
            Inverse::SetText(text) => self.state.check_more_text(self.thing(id)?, text)?,
            Inverse::RevertBody(before, aspect, _) => self.check_reverted(id, before, *aspect)?,
            Inverse::Detach(script) => {
                if !self.thing(id)?.scripts.contains(script) {
                    return Err(Refusal::NoScript);
                }
            }
            Inverse::Attach(script, package) => {
                self.check_package(*package)?;
                self.check_script_again(self.thing(id)?, *script)?;
            }
            Inverse::Unjoin(joint, to) => {
                self.thing(id)?;
                self.check_joined(id, *joint, *to)?;
            }
            Inverse::Join(specs) => {
                self.thing(id)?;
                self.check_rejoined(id, specs)?;
            }
            Inverse::Upgrade(script, package) => {
                self.check_upgrade(self.thing(id)?, *script, *package)?;
            }
        }
        Ok(StateChange::Undo(skip))
    }

    /// Checks that a thing may become again what it was made of: all of it, or nothing.
    fn check_taken_apart(&self, whole: ObjectId, parts: &[UnitedPart]) -> Result<(), Refusal> {
        let thing = self.thing(whole)?;
        if !self.state.byte_budget.has(BUILD_BYTES_MAX.saturating_mul(parts.len())) {
            return Err(Refusal::Full);
        }
        if parts.iter().any(|part| part.deleted.object.owner != thing.owner) {
            return Err(Refusal::GiftStays);
        }
        let restored = parts.iter().map(|part| QuotaUse::restored(&part.deleted));
        let used = restored.fold(QuotaUse::default(), QuotaUse::plus);
        // The whole goes first, so the sim needs room for the rest.
        let more = used.without(self.state.quota_use(whole, thing)?);
        self.state.check_more_slots(Motion::Static, more.objects)?;
        if more.movable > 0 {
            self.state.check_more_slots(Motion::Dynamic, more.movable)?;
        }
        self.state.check_more_compounds(more.compounds)?;
        thing.owner.map_or(Ok(()), |owner| self.state.check_quota(&owner, more, 1))?;
        // Looks at all things for each of them, so it comes after what costs less.
        parts.iter().try_for_each(|UnitedPart { id, deleted, .. }| {
            self.state.check_comes_back(*id, deleted)?;
            self.state.check_nobody_is_in(&deleted.body)
        })
    }

    /// Checks that one aspect of a body may become what it was.
    fn check_reverted(&self, id: ObjectId, before: &Body, aspect: Aspect) -> Result<(), Refusal> {
        if self.thing(id)?.held.is_some() {
            return Err(Refusal::Held);
        }
        let body = self.state.bodies.body(id).ok_or(Refusal::NoObject)?;
        // Another material takes no other place, whoever stands or sits there. What is a sensor afterwards takes none.
        let is_sensor = match aspect {
            Aspect::Sensor => before.is_sensor(),
            _ => body.is_sensor(),
        };
        if aspect == Aspect::Material || is_sensor {
            return Ok(());
        }
        self.state.check_nobody_is_there(&footprint_reverted(body, before, aspect))
    }

    /// Checks that a script may be put on its object again.
    fn check_script_again(&self, thing: &Object, script: ScriptId) -> Result<(), Refusal> {
        if self.state.scripts.contains(&script) {
            return Err(Refusal::NoScript);
        }
        self.state.check_one_more_script(thing)
    }
}

/// Returns the ground that a body covers when one aspect of it is what it was.
fn footprint_reverted(body: &Body, before: &Body, aspect: Aspect) -> Footprint {
    let Footprint { mut shape, pose: Pose { mut position, mut angle } } = Footprint::of(body);
    match aspect {
        Aspect::Position => position = before.position(),
        Aspect::Facing => angle = before.angle(),
        Aspect::Shape => shape = before.shape(),
        Aspect::Material | Aspect::Sensor => {}
    }
    Footprint { shape, pose: Pose { position, angle } }
}

impl State {
    /// Returns where a thing stands before and after a step about it is undone; nothing if a right for an area
    /// lets nobody undo it: what scripts do, and joints that come back, reach further than the thing.
    pub(super) fn whereabouts_undone(&self, entry: &UndoEntry) -> Option<ActGround> {
        let now = || self.standing(entry.object);
        match &entry.inverse {
            Inverse::Restore(deleted) if deleted.joints.is_empty() => {
                Some(ActGround::at(Footprint::of(&deleted.body).area()))
            }
            Inverse::RevertBody(before, aspect, _) => {
                let body = self.bodies.body(entry.object)?;
                let after = footprint_reverted(body, before, *aspect).area();
                Some(ActGround { before: now()?, after })
            }
            Inverse::Delete
            | Inverse::Recolor(_)
            | Inverse::Rename(_)
            | Inverse::SetText(_)
            | Inverse::LetTravel(_)
            | Inverse::Unjoin(..) => Some(ActGround::at(now()?)),
            Inverse::Restore(_)
            | Inverse::TakeApart(_)
            | Inverse::Detach(_)
            | Inverse::Attach(..)
            | Inverse::Upgrade(..)
            | Inverse::Join(_)
            | Inverse::Nothing => None,
        }
    }

    /// Checks that the sim has a package.
    pub(super) fn check_package(&self, package: PackageId) -> Result<(), Refusal> {
        if self.packages.contains(&package) { Ok(()) } else { Err(Refusal::NoPackage) }
    }

    /// Checks that a deleted object may be restored under its number, wherever people stand.
    pub(super) fn check_restored(
        &self,
        id: ObjectId,
        deleted: &DeletedObject,
    ) -> Result<(), Refusal> {
        self.check_comes_back(id, deleted)?;
        let more = QuotaUse::restored(deleted);
        self.check_slots(deleted.body.motion())?;
        self.check_more_compounds(more.compounds)?;
        deleted.object.owner.map_or(Ok(()), |owner| self.check_quota(&owner, more, 1))
    }

    /// Checks that a deleted object and its scripts may be here, if there is room: neither it nor anything else of
    /// its origin is here or under way. A neighbour may take what is under way, and the thing would be in two sims.
    fn check_comes_back(&self, id: ObjectId, deleted: &DeletedObject) -> Result<(), Refusal> {
        let DeletedObject { object, packages, .. } = deleted;
        let origin = object.origin(self.charter.sim, id);
        if self.is_thing_away(id) || self.is_origin_away(origin) {
            return Err(Refusal::Away);
        }
        if self.objects.contains(&id) || self.find_origin(origin).is_some() {
            return Err(Refusal::AlreadySo);
        }
        packages.iter().try_for_each(|package| self.check_package(*package))
    }
}

#[cfg(test)]
mod tests;
