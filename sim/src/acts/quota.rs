//! Quotas: decides how much builders may have.

use metatopia_physics::{Motion, Shape};
use metatopia_types::{ObjectId, PublicKey, Refusal};

use super::{
    building::{BuildStep, ObjectEdit},
    changes::StateChange,
    context::ActContext,
    history::{DeletedObject, Inverse},
};
use crate::{
    limits::{OWNER_COMPOUNDS_MAX, SCRIPTS_PER_OBJECT_MAX, SIM_COMPOUNDS_MAX},
    rules::{AwayThing, LuggageThing},
    state::{Object, State},
};

/// How much of its owner's quotas something uses.
#[derive(Clone, Copy, Default)]
pub(crate) struct QuotaUse {
    /// How many objects.
    pub(crate) objects: usize,
    /// Objects that can be pushed.
    pub(crate) movable: usize,
    /// Objects of several parts.
    pub(crate) compounds: usize,
    /// Scripts on the objects.
    pub(crate) scripts: usize,
    /// Bytes of text on the objects.
    pub(crate) text: usize,
}

impl QuotaUse {
    /// Returns what one object uses whose body is this.
    pub(super) fn of(object: &Object, (motion, shape): (Motion, &Shape), scripts: usize) -> Self {
        let movable = usize::from(motion == Motion::Dynamic);
        let compounds = usize::from(shape.is_compound());
        Self { objects: 1, movable, compounds, scripts, text: object.text.len() }
    }

    /// Returns what a deleted object uses when it is restored.
    pub(super) fn restored(deleted: &DeletedObject) -> Self {
        let DeletedObject { object, body, packages, .. } = deleted;
        Self::of(object, (body.motion(), &body.shape()), packages.len())
    }

    /// Returns what a thing uses that is in luggage.
    fn stowed(thing: &LuggageThing) -> Self {
        Self {
            objects: 1,
            movable: usize::from(thing.movable),
            compounds: usize::from(thing.compound),
            scripts: thing.packages.len(),
            text: thing.text,
        }
    }

    /// Returns what both use.
    pub(crate) fn plus(self, other: Self) -> Self {
        self.each(other, usize::saturating_add)
    }

    /// Returns what this uses more than the other.
    pub(super) fn without(self, other: Self) -> Self {
        self.each(other, usize::saturating_sub)
    }

    fn each(self, other: Self, of: impl Fn(usize, usize) -> usize) -> Self {
        Self {
            objects: of(self.objects, other.objects),
            movable: of(self.movable, other.movable),
            compounds: of(self.compounds, other.compounds),
            scripts: of(self.scripts, other.scripts),
            text: of(self.text, other.text),
        }
    }
}

impl State {
    /// Checks that the quotas of an owner allow more. `parts` is 1 for the whole quotas and 2 for half of
    /// them.
    pub(crate) fn check_quota(
        &self,
        owner: &PublicKey,
        more: QuotaUse,
        parts: u32,
    ) -> Result<(), Refusal> {
        let mut all = more;
        // What left before its owner's key was rotated names the key before.
        let is_own = |away: &&AwayThing| {
            away.guest.is_none() && away.owner.map(|key| self.key_now(key)) == Some(*owner)
        };
        for away in self.borders.away.values().filter(is_own) {
            all.objects = all.objects.saturating_add(1);
            all.movable = all.movable.saturating_add(1);
            all.compounds = all.compounds.saturating_add(usize::from(away.is_compound));
            all.scripts = all.scripts.saturating_add(away.packages.len());
            all.text = all.text.saturating_add(away.text);
        }
        for stowed in self.luggage.of(owner).filter(|stowed| stowed.guest.is_none()) {
            all = all.plus(QuotaUse::stowed(stowed));
        }
        // What came over a border counts against the border's share.
        for (id, thing) in self.things(owner).filter(|(_, thing)| thing.guest.is_none()) {
            all.objects = all.objects.saturating_add(1);
            let movable = usize::from(self.movable.contains(&id));
            all.movable = all.movable.saturating_add(movable);
            let body = self.bodies.body(id).expect("an object has a body");
            let is_compound = usize::from(body.shape().is_compound());
            all.compounds = all.compounds.saturating_add(is_compound);
            all.scripts = all.scripts.saturating_add(thing.scripts.len());
            all.text = all.text.saturating_add(thing.text.len());
        }
        let rules = &self.charter.parameters.building;
        let beyond = |count: usize, max: u32| count > (max / parts) as usize;
        if more.objects > 0 && beyond(all.objects, rules.objects_per_player) {
            return Err(Refusal::TooManyObjects);
        }
        if more.movable > 0 && beyond(all.movable, rules.movable_per_player) {
            return Err(Refusal::TooManyMovable);
        }
        if more.compounds > 0 && all.compounds > OWNER_COMPOUNDS_MAX / parts as usize {
            return Err(Refusal::TooManyCompounds);
        }
        if more.scripts > 0 && beyond(all.scripts, rules.scripts_per_player) {
            return Err(Refusal::TooManyScripts);
        }
        if more.text > 0 && beyond(all.text, rules.text_bytes_per_player) {
            return Err(Refusal::TooMuchText);
        }
        Ok(())
    }

    /// Returns how much of its owner's quotas a thing uses.
    pub(super) fn quota_use(&self, id: ObjectId, thing: &Object) -> Result<QuotaUse, Refusal> {
        let motion = self.motion_of(id).ok_or(Refusal::NoObject)?;
        let body = self.bodies.body(id).ok_or(Refusal::NoObject)?;
        Ok(QuotaUse::of(thing, (motion, &body.shape()), thing.scripts.len()))
    }

    /// Checks that the sim may have another thing, which may be one that can be pushed.
    pub(crate) fn check_slots(&self, motion: Motion) -> Result<(), Refusal> {
        self.check_more_slots(motion, 1)
    }

    /// Checks that the sim may have so many other things, all of which may be ones that can be pushed.
    pub(crate) fn check_more_slots(&self, motion: Motion, more: usize) -> Result<(), Refusal> {
        if !self.has_thing_slots(more) {
            return Err(Refusal::Full);
        }
        let max = self.charter.parameters.building.movable_max as usize;
        let (_, stowed, _) = self.luggage.counts();
        let away = self.borders.away.len().saturating_add(stowed);
        let movable = self.movable.len().saturating_add(away);
        if motion == Motion::Dynamic && movable.saturating_add(more) > max {
            return Err(Refusal::TooManyMovable);
        }
        Ok(())
    }

    /// Checks that the sim may have so many other things of several parts.
    pub(crate) fn check_more_compounds(&self, more: usize) -> Result<(), Refusal> {
        // Whatever is under way to a neighbour, or in luggage, may come back.
        let away = self.borders.away.values().filter(|away| away.is_compound).count();
        let (.., stowed) = self.luggage.counts();
        let away = away.saturating_add(stowed);
        let all = self.bodies.compounds().saturating_add(away).saturating_add(more);
        if more > 0 && all > SIM_COMPOUNDS_MAX { Err(Refusal::TooManyCompounds) } else { Ok(()) }
    }

    /// Checks that a thing may have one more script. The sim's own things have no quota together.
    pub(super) fn check_one_more_script(&self, thing: &Object) -> Result<(), Refusal> {
        if thing.scripts.len() >= SCRIPTS_PER_OBJECT_MAX {
            return Err(Refusal::TooManyScripts);
        }
        let more = QuotaUse { scripts: 1, ..QuotaUse::default() };
        thing.owner.map_or(Ok(()), |owner| self.check_quota(&owner, more, 1))
    }

    /// Checks that a thing may show this text instead of its own.
    pub(crate) fn check_more_text(&self, thing: &Object, text: &str) -> Result<(), Refusal> {
        let text = text.len().saturating_sub(thing.text.len());
        let more = QuotaUse { text, ..QuotaUse::default() };
        thing.owner.map_or(Ok(()), |owner| self.check_quota(&owner, more, 1))
    }
}

impl ActContext<'_> {
    /// Says whether this change may make the state larger. What is deleted moves to its builder's history,
    /// without its scripts.
    pub(super) fn grows(&self, change: &StateChange) -> bool {
        match change {
            StateChange::Build(step) => {
                let shrinks = |edit: &ObjectEdit| {
                    matches!(
                        edit,
                        ObjectEdit::Delete | ObjectEdit::Detach(_) | ObjectEdit::Unjoin(_)
                    )
                };
                !matches!(&**step, BuildStep::Edit(_, edit) if shrinks(edit))
            }
            StateChange::Undo(skip) => {
                let history = self.state.histories.get(&self.author());
                let entry = history.and_then(|history| history.entry(*skip));
                entry.is_some_and(|entry| {
                    !matches!(
                        entry.inverse,
                        Inverse::Delete | Inverse::Detach(_) | Inverse::Unjoin(..)
                    )
                })
            }
            _ => false,
        }
    }
}
