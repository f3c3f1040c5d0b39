//! Hands: decides what people take, and where they put it down.

use metatopia_math::Vec2;
use metatopia_physics::{Body, Motion, Pose};
use metatopia_types::{Build, ObjectId, PublicKey, Refusal};

use super::{
    changes::{ActEffects, StateChange},
    context::ActContext,
};
use crate::{
    limits::{BUILD_BYTES_MAX, HANDS_MAX},
    space::Footprint,
    state::State,
};

/// What people do with their hands.
#[derive(Debug, Clone, Copy)]
pub(super) enum HandStep {
    /// Puts a thing into the hands of this avatar.
    Take(ObjectId, ObjectId),
    /// Puts a thing down at this place.
    PutDown(ObjectId, Vec2),
}

/// Applies what the author does with her hands. It is a building step that nothing undoes.
pub(super) fn apply_hand_step(
    state: &mut State,
    effects: &mut ActEffects,
    author: PublicKey,
    step: HandStep,
) {
    match step {
        HandStep::Take(id, avatar) => state.pick_up(id, avatar),
        HandStep::PutDown(id, place) => state.put_down(id, Some(place)),
    }
    // In a full world, where things may be put down, this takes nothing.
    state.byte_budget.take(BUILD_BYTES_MAX);
    effects.counts.count_build(author);
}

impl ActContext<'_> {
    /// Decides a building act that nothing undoes.
    pub(super) fn lasting(&self, build: &Build) -> Result<StateChange, Refusal> {
        match build {
            Build::Resume { object, script } => self.resume(*object, *script),
            Build::Take { object } => self.take(*object),
            Build::PutDown { object, position } => self.lay(*object, *position),
            Build::Stow { object } => self.stow(*object),
            Build::Fetch { object, position } => self.fetch(*object, *position),
            Build::Discard { object } => self.discard(*object),
            _ => unreachable!("{build:?} can be undone"),
        }
    }

    /// Decides whether the author takes a thing into her hands.
    fn take(&self, id: ObjectId) -> Result<StateChange, Refusal> {
        let (body, thing) = self.within_reach(id)?;
        let avatar = self.own_avatar()?;
        if thing.held.is_some() {
            return Err(Refusal::Held);
        }
        if body.motion() != Motion::Dynamic {
            return Err(Refusal::Immovable);
        }
        if self.state.bodies.is_joined(id) {
            return Err(Refusal::Joined);
        }
        if self.state.in_hands_of(avatar).count() >= HANDS_MAX {
            return Err(Refusal::HandsFull);
        }
        // A hold makes the state larger.
        let has_room = self.state.byte_budget.has(BUILD_BYTES_MAX);
        if has_room {
            Ok(StateChange::Hands(HandStep::Take(id, avatar)))
        } else {
            Err(Refusal::Full)
        }
    }

    /// Decides whether the author puts a thing down here. Whose it is does not matter, because she had the
    /// right to take it.
    fn lay(&self, id: ObjectId, position: Vec2) -> Result<StateChange, Refusal> {
        let thing = self.thing(id)?;
        let avatar = self.own_avatar()?;
        if thing.held.is_none_or(|held| held.by != avatar) {
            return Err(Refusal::NotHeld);
        }
        let body = self.state.bodies.body(id).ok_or(Refusal::NoObject)?;
        let pose = Pose { position, ..body.pose() };
        self.check_place(&Footprint { shape: body.shape(), pose }, Motion::Dynamic)?;
        Ok(StateChange::Hands(HandStep::PutDown(id, position)))
    }

    /// Returns the author's avatar.
    pub(super) fn own_avatar(&self) -> Result<ObjectId, Refusal> {
        let player = self.state.players.get(&self.author());
        let session = player.and_then(|player| player.session.as_ref());
        session.map_or(Err(Refusal::NoSeat), |session| session.presence.avatar_here())
    }

    /// Returns the body of the author's avatar.
    pub(super) fn own_body(&self) -> Result<&Body, Refusal> {
        let avatar = self.own_avatar()?;
        Ok(self.state.bodies.body(avatar).expect("an avatar has a body"))
    }
}
