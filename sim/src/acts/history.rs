//! Histories of builders: their last steps, and what undoes them.

use std::{collections::VecDeque, iter};

use metatopia_physics::{Aspect, Body, JointId, JointSpec};
use metatopia_types::{BodyShape, ObjectId, Origin, PackageId, PublicKey, ScriptId, SimId, wire};
use serde::{Deserialize, Serialize};

use crate::{
    limits::{HISTORY_BYTES_MAX, UNDO_ENTRIES_MAX},
    state::Object,
};

/// A step of a builder that can be undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoEntry {
    /// The object that the step was about.
    pub object: ObjectId,
    /// What undoes the step.
    pub inverse: Inverse,
    /// Whether the builder had made the object that the step deleted, as far as a trace said so. Restored, it is
    /// made once more.
    pub made: bool,
}

impl UndoEntry {
    /// Returns the things that undoing it restores.
    fn restored(&self) -> impl Iterator<Item = (ObjectId, &DeletedObject)> {
        let (one, parts): (_, &[UnitedPart]) = match &self.inverse {
            Inverse::Restore(deleted) => (Some((self.object, &**deleted)), &[]),
            Inverse::TakeApart(parts) => (None, parts),
            _ => (None, &[]),
        };
        one.into_iter().chain(parts.iter().map(|part| (part.id, &part.deleted)))
    }

    /// Returns the things that undoing it restores, to be changed.
    fn restored_mut(&mut self) -> impl Iterator<Item = (ObjectId, &mut DeletedObject)> {
        let (one, parts): (_, &mut [UnitedPart]) = match &mut self.inverse {
            Inverse::Restore(deleted) => (Some((self.object, &mut **deleted)), &mut []),
            Inverse::TakeApart(parts) => (None, parts),
            _ => (None, &mut []),
        };
        one.into_iter().chain(parts.iter_mut().map(|part| (part.id, &mut part.deleted)))
    }

    /// Returns how many steps of building undoing it is worth: each thing that comes back is one.
    pub(super) fn steps(&self) -> usize {
        self.restored().count().max(1)
    }

    /// Returns the things that undoing it changes, each with whether the builder makes it once more by that.
    pub(super) fn changed(&self) -> Vec<(ObjectId, bool)> {
        let parts: &[UnitedPart] = match &self.inverse {
            Inverse::TakeApart(parts) => parts,
            _ => &[],
        };
        let parts = parts.iter().map(|part| (part.id, part.made));
        iter::once((self.object, self.made)).chain(parts).collect()
    }

    /// Says whether undoing it restores the thing of this origin in `sim`.
    fn restores(&self, sim: SimId, origin: Origin) -> bool {
        self.restored().any(|(id, deleted)| deleted.object.origin(sim, id) == origin)
    }
}

/// The inverse of a building step. It restores what the step changed and nothing else, so that whatever
/// else happened to the object stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Inverse {
    /// Deletes the object.
    Delete,
    /// Restores the object.
    Restore(Box<DeletedObject>),
    /// Restores one aspect of the body, and the outline that is drawn.
    RevertBody(Box<Body>, Aspect, BodyShape),
    /// Restores the colour.
    Recolor(u32),
    /// Restores the name.
    Rename(String),
    /// Restores the text.
    SetText(String),
    /// Takes a script off again.
    Detach(ScriptId),
    /// Puts a script on again, which begins anew.
    Attach(ScriptId, PackageId),
    /// Has a script run again what it ran before.
    Upgrade(ScriptId, PackageId),
    /// Does nothing: a gift stays given.
    Nothing,
    /// Lets it leave for another sim again, or not.
    LetTravel(bool),
    /// Takes the joint of this id off again, which holds the object to this one or to the ground.
    Unjoin(JointId, Option<ObjectId>),
    /// Puts joints of the object on again.
    Join(Vec<JointSpec>),
    /// Deletes the object, and restores the things that became its parts.
    TakeApart(Vec<UnitedPart>),
}

/// A thing that became a part of another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitedPart {
    /// The number that it had, and has again once it is restored.
    pub id: ObjectId,
    /// What restores it.
    pub deleted: DeletedObject,
    /// Whether the builder had made it, as far as a trace said so. Restored, it is made once more.
    pub made: bool,
}

/// A deleted object, as it is restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletedObject {
    /// All of its fields.
    pub object: Object,
    /// Its body as it was when the object was deleted.
    pub body: Body,
    /// The packages of its scripts, in the order of the scripts' ids. What they remembered is lost.
    pub packages: Vec<PackageId>,
    /// The joints that held it.
    pub joints: Vec<JointSpec>,
}

/// The last steps of one builder, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildHistory(VecDeque<UndoEntry>);

impl BuildHistory {
    /// Returns the step before the last `skip` ones.
    #[must_use]
    pub fn entry(&self, skip: u8) -> Option<&UndoEntry> {
        self.0.iter().rev().nth(usize::from(skip))
    }

    /// Adds a step, for which others may be forgotten.
    pub(super) fn add(&mut self, entry: UndoEntry) {
        self.0.push_back(entry);
        self.trim();
    }

    /// Forgets the oldest steps if there are too many, or if all of them are too long.
    fn trim(&mut self) {
        let is_over = |steps: &VecDeque<UndoEntry>| {
            steps.len() > UNDO_ENTRIES_MAX || wire::length(steps) > HISTORY_BYTES_MAX
        };
        while self.0.len() > 1 && is_over(&self.0) {
            self.0.pop_front();
        }
    }

    /// Removes the step before the last `skip` ones and returns it. Forgets those as well.
    pub(super) fn take(&mut self, skip: u8) -> Option<UndoEntry> {
        let left = self.0.len().checked_sub(usize::from(skip))?;
        self.0.truncate(left);
        self.0.pop_back()
    }

    /// Notes of all deleted objects that they were born in `sim`: they may be restored in another one. For these bytes
    /// steps may be forgotten.
    pub(crate) fn note_births(&mut self, sim: SimId) {
        for entry in &mut self.0 {
            entry.restored_mut().for_each(|(id, deleted)| deleted.object.note_birth(sim, id));
        }
        self.trim();
    }

    /// Notes that the builder had made the object, if the last step deleted it or made it a part of another one.
    pub(super) fn note_made(&mut self, object: ObjectId) {
        let Some(last) = self.0.back_mut() else { return };
        match &mut last.inverse {
            Inverse::TakeApart(parts) => {
                parts.iter_mut().filter(|part| part.id == object).for_each(|part| part.made = true);
            }
            inverse if last.object == object => last.made = matches!(inverse, Inverse::Restore(_)),
            _ => {}
        }
    }

    /// Says whether it can restore the thing of this origin in `sim`.
    pub(crate) fn restores(&self, sim: SimId, origin: Origin) -> bool {
        self.0.iter().any(|entry| entry.restores(sim, origin))
    }

    /// Forgets the steps that would restore the thing of this origin in `sim`.
    pub(crate) fn forget(&mut self, sim: SimId, origin: Origin) {
        self.0.retain(|entry| !entry.restores(sim, origin));
    }

    /// Says whether it can restore a thing of this owner.
    pub(crate) fn restores_to(&self, owner: &PublicKey) -> bool {
        let mut restored = self.0.iter().flat_map(UndoEntry::restored);
        restored.any(|(_, deleted)| deleted.object.owner == Some(*owner))
    }

    /// Makes somebody else the owner of what it can restore.
    pub(crate) fn change_owner(&mut self, old: &PublicKey, new: PublicKey) {
        for (_, deleted) in self.0.iter_mut().flat_map(UndoEntry::restored_mut) {
            if deleted.object.owner == Some(*old) {
                deleted.object.owner = Some(new);
            }
        }
    }

    /// Says whether the history is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sixteen deleted things of several parts, each with all that it can have, are longer than a leaf.
    #[test]
    fn the_oldest_steps_go_where_all_of_them_are_too_long() {
        let step = |n: u64, bytes: usize| {
            let inverse = Inverse::SetText("x".repeat(bytes));
            UndoEntry { object: ObjectId(n), inverse, made: false }
        };
        let mut history = BuildHistory::default();
        (0..40).for_each(|n| history.add(step(n, 5_000)));
        let kept: Vec<u64> = history.0.iter().map(|entry| entry.object.0).collect();
        assert_eq!(kept, (28..40).collect::<Vec<_>>());
        assert!(wire::length(&history) <= HISTORY_BYTES_MAX);
        history.add(step(40, 2 * HISTORY_BYTES_MAX));
        assert_eq!(history.0.len(), 1, "the last step can always be taken back");
        (0..40).for_each(|n| history.add(step(n, 9)));
        assert_eq!(history.0.len(), UNDO_ENTRIES_MAX);
    }
}
