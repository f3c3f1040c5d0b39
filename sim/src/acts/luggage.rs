//! Luggage: decides what people put away, and where they put it down again.

use metatopia_math::Vec2;
use metatopia_physics::Pose;
use metatopia_types::{ObjectId, PublicKey, Refusal, WayBack};

use super::{
    changes::{ActEffects, StateChange},
    context::ActContext,
};
use crate::{
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
    }
    effects.counts.count_build(author);
}

impl ActContext<'_> {
    /// Decides whether a thing is put into its owner's luggage.
    pub(super) fn stow(&self, id: ObjectId) -> Result<StateChange, Refusal> {
        let (_, thing) = self.within_reach(id)?;
        if thing.held.is_some_and(|held| self.own_avatar() != Ok(held.by)) {
            return Err(Refusal::Held);
        }
        if self.state.bodies.is_joined(id) {
            return Err(Refusal::Joined);
        }
        let packed = self.state.packed_away(id)?;
        Ok(StateChange::Luggage(Box::new(LuggageStep::Stow(id, packed))))
    }

    /// Decides whether the author puts a thing of her luggage down here. There is room for it in her quotas and in
    /// the sim, because it counted while it was away.
    pub(super) fn fetch(&self, id: ObjectId, position: Vec2) -> Result<StateChange, Refusal> {
        let fetched = self.state.fetched_or_missing(id, position)?;
        if fetched.thing.owner != Some(self.author()) {
            return Err(Refusal::NotYours);
        }
        self.own_avatar()?;
        self.check_place(&fetched.footprint(), fetched.body.motion)?;
        if !self.state.byte_budget.has(fetched.bytes) {
            return Err(Refusal::Full);
        }
        Ok(StateChange::Luggage(Box::new(LuggageStep::Fetch(fetched))))
    }
}

impl FetchedThing {
    /// Returns the ground that it covers once it is put down.
    pub(super) fn footprint(&self) -> Footprint {
        let Pose { position, angle } = self.body.pose;
        Footprint { shape: self.body.shape.clone(), pose: Pose { position, angle } }
    }
}

impl State {
    /// Returns the right that fetching a thing needs, and the ground. Whose luggage it is in is looked at when that
    /// is decided.
    ///
    /// # Errors
    /// Why it is in no luggage.
    pub(super) fn fetch_request(
        &self,
        id: ObjectId,
        position: Vec2,
    ) -> Result<(Right, ActTarget<'_>), Refusal> {
        let ground = Some(self.fetched_or_missing(id, position)?.footprint().area());
        Ok((Right::Build, ActTarget { ground, ..ActTarget::SIM }))
    }

    /// Returns a thing of some luggage as it would be put down at a place.
    ///
    /// # Errors
    /// Why it is in no luggage.
    fn fetched_or_missing(&self, id: ObjectId, position: Vec2) -> Result<FetchedThing, Refusal> {
        // Of a thing that is under way nothing is in luggage.
        let missing = || self.thing(id).map_or_else(|why| why, |_| Refusal::AlreadySo);
        self.fetched(id, position).ok_or_else(missing)
    }

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

    /// Puts a thing at this place, or into its owner's luggage. What luggage does not take leaves the sim. Nothing
    /// undoes it.
    pub(super) fn return_thing(&mut self, id: ObjectId, place: Option<Vec2>) {
        match (place, self.packed_away(id)) {
            (None, Ok(packed)) => self.stow(id, packed),
            (place, _) => self.move_or_delete(id, place),
        }
    }
}

impl World {
    /// Returns where a thing would go that is returned to its owner.
    #[must_use]
    pub fn way_back(&self, object: ObjectId) -> WayBack {
        self.state.way_back(object)
    }
}
