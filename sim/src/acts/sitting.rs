//! Sitting down and standing up.

use metatopia_math::Vec2;
use metatopia_types::{ObjectId, Refusal};

use super::{
    changes::StateChange,
    context::{ActContext, ActResult},
};

impl ActContext<'_> {
    /// Decides whether the author sits down on a thing, or stands up.
    pub(super) fn sit(&self, on: Option<ObjectId>) -> ActResult {
        let (player, session) = self.with_session(|session| session.heading = Vec2::ZERO)?;
        let avatar = session.presence.avatar_here()?;
        let change = match on {
            None if self.state.sits(avatar) => StateChange::Sit(avatar, None),
            None => return Err(Refusal::AlreadySo),
            Some(thing) => {
                if self.thing(thing)?.held.is_some() {
                    return Err(Refusal::Held);
                }
                self.in_reach(thing)?;
                let (_, place) = self.state.seat_place(thing).ok_or(Refusal::NothingToSitOn)?;
                if !self.state.bodies.bounds().contains(place) {
                    return Err(Refusal::OutOfRange);
                }
                match self.state.sitter(thing) {
                    Some(sitter) if sitter == avatar => return Err(Refusal::AlreadySo),
                    Some(_) => return Err(Refusal::SeatTaken),
                    None => StateChange::Sit(avatar, on),
                }
            }
        };
        Ok(vec![change, StateChange::Player(self.author(), player)])
    }
}
