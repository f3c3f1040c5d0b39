//! Taking back what one did last as a builder, as long as the world allows it.

use metatopia_physics::{Aspect, Body, Pose};
use metatopia_types::{ObjectId, Refusal, ScriptId};

use super::{Case, Change, share::Share};
use crate::{
    history::{Back, Lost},
    object::Object,
    reach::Footprint,
};

impl Case<'_> {
    /// A deed is taken back from wherever its author is, and whoever's land it was on; but neither
    /// beyond what the owner may have, nor onto people, nor from somebody else's hands.
    pub(super) fn undo(&self, skip: u8) -> Result<Change, Refusal> {
        let history = self.state.histories.get(&self.author());
        let deed = history.and_then(|history| history.deed(skip)).ok_or(Refusal::NothingToUndo)?;
        let id = deed.object;
        match &deed.back {
            Back::Nothing => return Err(Refusal::GiftStays),
            Back::Rebuild(lost) => self.check_rebuilt(lost)?,
            Back::Raze | Back::Recolor(_) | Back::Rename(_) => drop(self.changeable(id)?),
            Back::Write(text) => self.check_more_text(self.changeable(id)?, text)?,
            Back::Revert(before, aspect, _) => self.check_reverted(id, before, *aspect)?,
            Back::Detach(script) => {
                if !self.changeable(id)?.scripts.contains(script) {
                    return Err(Refusal::NoScript);
                }
            }
            Back::Attach(script, _) => self.check_script_again(self.changeable(id)?, *script)?,
        }
        Ok(Change::Undo(skip))
    }

    fn check_rebuilt(&self, lost: &Lost) -> Result<(), Refusal> {
        let Lost { object, body, packages } = lost;
        if object.owner != Some(self.author()) && !self.is_admin() {
            return Err(Refusal::NotYours);
        }
        if !self.state.has_room_for_things() {
            return Err(Refusal::Full);
        }
        if let Some(owner) = object.owner {
            let more = Share { objects: 1, scripts: packages.len(), text: object.text.len() };
            self.check_share(&owner, more, 1)?;
        }
        self.check_nobody_is_there(&Footprint::of(body))
    }

    fn check_reverted(&self, id: ObjectId, before: &Body, aspect: Aspect) -> Result<(), Refusal> {
        self.changeable(id)?;
        let body = self.state.region.body(id).ok_or(Refusal::NoObject)?;
        let Footprint { mut shape, pose: Pose { mut position, mut angle } } = Footprint::of(body);
        match aspect {
            Aspect::Position => position = before.position(),
            Aspect::Facing => angle = before.angle(),
            Aspect::Shape => shape = before.shape(),
        }
        self.check_nobody_is_there(&Footprint { shape, pose: Pose { position, angle } })
    }

    fn check_script_again(&self, thing: &Object, script: ScriptId) -> Result<(), Refusal> {
        if self.state.scripts.contains(&script) {
            return Err(Refusal::NoScript);
        }
        self.check_one_more_script(thing)
    }
}
