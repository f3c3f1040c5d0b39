//! Undoing: decides whether a building step can be undone.

use metatopia_physics::{Aspect, Body, Pose};
use metatopia_types::{ObjectId, Refusal, ScriptId};

use super::{
    changes::StateChange,
    context::ActContext,
    history::{DeletedObject, Inverse},
    quota::QuotaUse,
};
use crate::{space::Footprint, state::Object};

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
            Inverse::Restore(deleted) => self.check_restored(deleted)?,
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
            Inverse::Upgrade(script, package) => {
                self.check_upgrade(self.thing(id)?, *script, *package)?;
            }
        }
        Ok(StateChange::Undo(skip))
    }

    /// Checks that a deleted object may be restored.
    fn check_restored(&self, deleted: &DeletedObject) -> Result<(), Refusal> {
        let DeletedObject { object, body, packages } = deleted;
        packages.iter().try_for_each(|package| self.check_package(*package))?;
        self.state.check_slots(body.motion())?;
        if let Some(owner) = object.owner {
            let more = QuotaUse::of(object, body.motion(), packages.len());
            self.state.check_quota(&owner, more, 1)?;
        }
        self.state.check_nobody_is_there(&Footprint::of(body))
    }

    /// Checks that one aspect of a body may become what it was.
    fn check_reverted(&self, id: ObjectId, before: &Body, aspect: Aspect) -> Result<(), Refusal> {
        self.thing(id)?;
        let body = self.state.bodies.body(id).ok_or(Refusal::NoObject)?;
        let Footprint { mut shape, pose: Pose { mut position, mut angle } } = Footprint::of(body);
        match aspect {
            Aspect::Position => position = before.position(),
            Aspect::Facing => angle = before.angle(),
            Aspect::Shape => shape = before.shape(),
        }
        self.state.check_nobody_is_there(&Footprint { shape, pose: Pose { position, angle } })
    }

    /// Checks that a script may be put on its object again.
    fn check_script_again(&self, thing: &Object, script: ScriptId) -> Result<(), Refusal> {
        if self.state.scripts.contains(&script) {
            return Err(Refusal::NoScript);
        }
        self.state.check_one_more_script(thing)
    }
}
