//! Luggage: decides what people put away, and where they put it down again.

use metatopia_math::Vec2;
use metatopia_physics::Pose;
use metatopia_types::{ObjectId, PublicKey, Refusal, WayBack};

use super::{
    changes::{ActEffects, StateChange},
    context::ActContext,
};
use crate::{
    limits::{LUGGAGE_PER_AUTHOR_MAX, LUGGAGE_PER_TURN_MAX},
    rules::{ActTarget, Right},
    space::Footprint,
    state::{FetchedThing, PackedThing, State, World},
};

/// What people do with their luggage.
pub(super) enum LuggageStep {
    /// Puts a thing into its owner's luggage.
    Stow(ObjectId, PackedThing),
    /// Puts a thing down that was in luggage.
    Fetch(FetchedThing),
    /// Deletes a thing that was in luggage.
    Discard(ObjectId),
}

/// Applies what the author does with luggage. It is a building step that nothing undoes.
pub(super) fn apply_luggage_step(
    state: &mut State,
    effects: &mut ActEffects,
    author: PublicKey,
    step: LuggageStep,
) {
    match step {
        LuggageStep::Stow(id, packed) => state.stow(id, packed),
        LuggageStep::Fetch(fetched) => state.fetch(&fetched),
        LuggageStep::Discard(id) => state.discard(id),
    }
    effects.counts.count_build(author);
}

impl ActContext<'_> {
    /// Decides whether the author puts a thing of hers into her luggage. Who may build with it besides has other ways
    /// to remove it, and these are traced.
    pub(super) fn stow(&self, id: ObjectId) -> Result<StateChange, Refusal> {
        self.check_luggage_pace()?;
        let (_, thing) = self.within_reach(id)?;
        match thing.owner {
            None => return Err(Refusal::HeldFast),
            Some(owner) if owner != self.author() => return Err(Refusal::NotYours),
            Some(_) => {}
        }
        if thing.held.is_some_and(|held| self.own_avatar() != Ok(held.by)) {
            return Err(Refusal::Held);
        }
        if self.state.bodies.is_joined(id) {
            return Err(Refusal::Joined);
        }
        let packed = self.state.packed_away(id)?;
        Ok(StateChange::Luggage(Box::new(LuggageStep::Stow(id, packed))))
    }

    /// Returns the right that fetching a thing needs, and the ground.
    ///
    /// # Errors
    /// Why it is not in the author's luggage.
    pub(super) fn fetch_request(
        &self,
        id: ObjectId,
        position: Vec2,
    ) -> Result<(Right, ActTarget<'_>), Refusal> {
        let ground = Some(self.fetched(id, position)?.footprint().area());
        Ok((Right::Build, ActTarget { ground, ..ActTarget::SIM }))
    }

    /// Decides whether the author puts a thing of her luggage down here. There is room for it in her quotas and in
    /// the sim, because it counted while it was away.
    pub(super) fn fetch(&self, id: ObjectId, position: Vec2) -> Result<StateChange, Refusal> {
        let fetched = self.fetched(id, position)?;
        self.own_avatar()?;
        self.check_place(&fetched.footprint(), fetched.body.motion)?;
        if !self.state.byte_budget.has(fetched.bytes) {
            return Err(Refusal::Full);
        }
        Ok(StateChange::Luggage(Box::new(LuggageStep::Fetch(fetched))))
    }

    /// Returns a thing of the author's luggage as it would be put down at a place.
    fn fetched(&self, id: ObjectId, position: Vec2) -> Result<FetchedThing, Refusal> {
        self.check_luggage_pace()?;
        let Some(known) = self.state.luggage.get(id) else {
            return Err(self.thing(id).map_or_else(|why| why, |_| Refusal::AlreadySo));
        };
        if known.owner != self.author() {
            return Err(Refusal::NotYours);
        }
        Ok(self.state.fetched(id, position).expect("what is in luggage has a parcel"))
    }

    /// Returns the right that deleting a thing in luggage needs, and what it is about: its owner may, and whoever may
    /// build with everything in the sim.
    ///
    /// # Errors
    /// [`Refusal::NoObject`] if it is in nobody's luggage.
    pub(super) fn discard_request(&self, id: ObjectId) -> Result<(Right, ActTarget<'_>), Refusal> {
        let stowed = self.state.luggage.get(id).ok_or(Refusal::NoObject)?;
        Ok((Right::Build, ActTarget { person: Some(&stowed.owner), ..ActTarget::SIM }))
    }

    /// Decides whether a thing in luggage is deleted. What lies in the sim is not: somebody who discards what she put
    /// away a moment ago, and fetched since, keeps it.
    pub(super) fn discard(&self, id: ObjectId) -> Result<StateChange, Refusal> {
        self.state.luggage.get(id).ok_or(Refusal::NoObject)?;
        Ok(StateChange::Luggage(Box::new(LuggageStep::Discard(id))))
    }

    /// Checks that neither the author nor all authors together ask for more packing and unpacking than a turn has
    /// time for.
    fn check_luggage_pace(&self) -> Result<(), Refusal> {
        let own = self.counts.luggage_by.get(&self.author()).copied().unwrap_or(0);
        let is_too_often =
            self.counts.luggage > LUGGAGE_PER_TURN_MAX || own > LUGGAGE_PER_AUTHOR_MAX;
        if is_too_often { Err(Refusal::TooOften) } else { Ok(()) }
    }
}

impl FetchedThing {
    /// Returns the ground that it covers once it is put down.
    fn footprint(&self) -> Footprint {
        let Pose { position, angle } = self.body.pose;
        Footprint { shape: self.body.shape.clone(), pose: Pose { position, angle } }
    }
}

impl State {
    /// Checks that a thing can be returned to its owner.
    pub(super) fn check_return(&self, id: ObjectId) -> Result<(), Refusal> {
        if self.is_held(id) {
            return Err(Refusal::Held);
        }
        let is_full = || matches!(self.packed_away(id), Err(Refusal::Full));
        if self.home_of(id).is_none() && is_full() { Err(Refusal::Full) } else { Ok(()) }
    }

    /// Returns where a thing goes that is returned to its owner.
    fn way_back(&self, id: ObjectId) -> WayBack {
        match self.home_of(id) {
            Some(_) => WayBack::Home,
            None if matches!(self.packed_away(id), Err(Refusal::HeldFast)) => WayBack::OutOfSim,
            None => WayBack::Luggage,
        }
    }

    /// Puts a thing at this place, or into its owner's luggage, which ends a freeze. What luggage does not take leaves
    /// the sim. Nothing undoes it.
    pub(super) fn return_thing(&mut self, id: ObjectId, place: Option<Vec2>) {
        match (place, self.packed_away(id)) {
            (None, Ok(packed)) => self.stow(id, packed),
            (place, _) => self.move_or_delete(id, place),
        }
    }

    /// Puts a thing back into luggage that its owner fetched.
    ///
    /// # Errors
    /// The rule by which it stays.
    pub(super) fn undo_fetch(&mut self, id: ObjectId) -> Result<(), Refusal> {
        let packed = self.packed_away(id)?;
        self.stow(id, packed);
        Ok(())
    }
}

impl World {
    /// Returns where a thing would go that is returned to its owner.
    #[must_use]
    pub fn way_back(&self, object: ObjectId) -> WayBack {
        self.state.way_back(object)
    }
}
