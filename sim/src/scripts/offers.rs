//! Offers of scripts: what they wait to be accepted, and what people let things do.
//!
//! Nothing of a person changes hands, and no person is moved, unless the person signed for it. So an offer is
//! kept with the script that made it, and the act that accepts it repeats it whole.

use metatopia_physics::Pose;
use metatopia_types::{
    ObjectId, Offer, Permission, PublicKey, ScriptId, ShownOffer, Tick, limits::TICKS_PER_SECOND,
    wire,
};
use serde::{Deserialize, Serialize};

use super::script_run::ScriptRun;
use crate::{
    limits::{OFFER_SECONDS, OFFERS_MAX, PERMITS_MAX},
    state::{PlayerSession, State},
};

/// An offer that a script made to one person, and that nobody has answered yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingOffer {
    /// The person whom it is for.
    pub who: PublicKey,
    /// What the script calls it.
    pub tag: String,
    /// What the person agrees to by accepting it.
    pub terms: Offer,
    /// The tick at which it is over.
    pub until: Tick,
}

/// What a person lets one thing do, until the session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permit {
    /// The thing that may do it.
    pub thing: ObjectId,
    /// What it may do.
    pub permission: Permission,
}

impl PlayerSession {
    /// Lets a thing do something. Who allowed too many things takes back what was allowed first.
    pub(crate) fn allow(&mut self, permit: Permit) {
        self.permits.retain(|other| *other != permit);
        self.permits.push(permit);
        let excess = self.permits.len().saturating_sub(PERMITS_MAX);
        self.permits.drain(..excess);
    }
}

impl State {
    /// Returns the script of a thing that made this offer to a person, if it still stands.
    pub(crate) fn standing_offer(
        &self,
        thing: ObjectId,
        who: &PublicKey,
        terms: &Offer,
    ) -> Option<(ScriptId, &StandingOffer)> {
        let now = self.clock.tick.plus(1);
        let stands = |offer: &&StandingOffer| {
            offer.who == *who && offer.terms == *terms && offer.until > now
        };
        self.objects.get(&thing)?.scripts.iter().find_map(|id| {
            let offer = self.scripts.get(id)?.offers.iter().find(stands)?;
            Some((*id, offer))
        })
    }

    /// Keeps an offer of a script until it is answered or over. Says whether the world has room for it. An
    /// offer of the same name to the same person takes the place of the earlier one; of too many, the oldest
    /// goes.
    pub(super) fn keep_offer(&mut self, id: ScriptId, offer: StandingOffer, now: Tick) -> bool {
        if !self.byte_budget.take(wire::length(&offer)) {
            return false;
        }
        let script = self.scripts.get_mut(&id).expect("a script that ran is in the state");
        script
            .offers
            .retain(|old| old.until > now && (old.who != offer.who || old.tag != offer.tag));
        script.offers.push(offer);
        let excess = script.offers.len().saturating_sub(OFFERS_MAX);
        script.offers.drain(..excess);
        true
    }

    /// Returns the offer as its person is shown it, with the names of the things.
    pub(super) fn shown_offer(&self, terms: Offer) -> ShownOffer {
        let name = |thing: Option<ObjectId>| {
            let object = thing.and_then(|thing| self.objects.get(&thing));
            object.map(|object| object.name.clone()).unwrap_or_default()
        };
        ShownOffer { given: name(terms.give), taken: name(terms.take), terms }
    }

    /// Says whether the person whose avatar `who` is lets a thing do something.
    pub(crate) fn is_allowed(&self, thing: ObjectId, who: ObjectId, what: Permission) -> bool {
        let player = self.objects.get(&who).and_then(|avatar| avatar.player);
        let session = player.and_then(|key| self.players.get(&key)?.session.as_ref());
        let permit = Permit { thing, permission: what };
        session.is_some_and(|session| session.permits.contains(&permit))
    }

    /// Puts a person somewhere else for a script that may do so, or leaves them where they are.
    pub(super) fn carry(&mut self, run: &ScriptRun, who: ObjectId, to: metatopia_math::Vec2) {
        if !self.is_allowed(run.object, who, Permission::Move) {
            return;
        }
        let Some(angle) = self.bodies.body(who).map(metatopia_physics::Body::angle) else {
            return;
        };
        self.stand(who);
        // A place outside of the ground is left undone, as where a script puts its own object.
        if self.bodies.set_pose(who, Pose { position: to, angle }).is_ok() {
            let _ = self.bodies.set_velocity(who, metatopia_math::Vec2::ZERO);
        }
    }

    /// Changes the colour of a person for a script that may do so.
    pub(super) fn dress(&mut self, run: &ScriptRun, who: ObjectId, color: u32) {
        if self.is_allowed(run.object, who, Permission::Dress)
            && let Some(avatar) = self.objects.get_mut(&who)
        {
            avatar.look.color = color & 0x00ff_ffff;
        }
    }
}

/// Returns the tick at which an offer that is made now is over.
pub(super) fn over_at(now: Tick) -> Tick {
    now.plus(OFFER_SECONDS * TICKS_PER_SECOND)
}
