//! Undoing: decides whether a building step can be undone.

use metatopia_physics::{Aspect, Body, Pose};
use metatopia_types::{ObjectId, PackageId, Refusal, ScriptId};

use super::{
    changes::StateChange,
    context::ActContext,
    history::{DeletedObject, Inverse, UndoEntry},
    quota::QuotaUse,
};
use crate::{
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
                self.state.check_nobody_is_there(&Footprint::of(&deleted.body))?;
            }
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

    /// Checks that one aspect of a body may become what it was.
    fn check_reverted(&self, id: ObjectId, before: &Body, aspect: Aspect) -> Result<(), Refusal> {
        if self.thing(id)?.held.is_some() {
            return Err(Refusal::Held);
        }
        let body = self.state.bodies.body(id).ok_or(Refusal::NoObject)?;
        // Another material takes no other place, whoever stands or sits there.
        if aspect == Aspect::Material {
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
        Aspect::Material => {}
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

    /// Checks that a deleted object may be restored under its number, wherever people stand: neither it nor
    /// anything else of its origin is here or under way. A neighbour may take what is under way, and the thing
    /// would be in two sims.
    pub(super) fn check_restored(
        &self,
        id: ObjectId,
        deleted: &DeletedObject,
    ) -> Result<(), Refusal> {
        let DeletedObject { object, body, packages, .. } = deleted;
        let origin = object.origin(self.charter.sim, id);
        if self.borders.away.contains_key(&id) || self.borders.is_under_way(origin) {
            return Err(Refusal::Away);
        }
        if self.objects.contains(&id) || self.find_origin(origin).is_some() {
            return Err(Refusal::AlreadySo);
        }
        packages.iter().try_for_each(|package| self.check_package(*package))?;
        self.check_slots(body.motion())?;
        self.check_more_compounds(usize::from(body.shape().is_compound()))?;
        if let Some(owner) = object.owner {
            let more = QuotaUse::of(object, (body.motion(), &body.shape()), packages.len());
            self.check_quota(&owner, more, 1)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
