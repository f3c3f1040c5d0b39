//! Answers to offers: what a person agreed to happens at once and whole, or not at all.

use metatopia_scripting::{Event, EventKind};
use metatopia_types::{ObjectId, Offer, PublicKey, Refusal, ScriptId};

use super::{
    changes::StateChange,
    context::{ActContext, ActResult},
};
use crate::{
    limits::{PERMIT_BYTES, SPAWNED_PER_OBJECT_MAX},
    scripts::Permit,
    state::State,
};

/// An offer that was answered.
#[derive(Debug, Clone)]
pub(super) struct Settlement {
    /// The thing that made the offer.
    pub(super) thing: ObjectId,
    /// The script of the thing that made it.
    pub(super) script: ScriptId,
    /// What was offered.
    pub(super) terms: Offer,
    /// Whether it was accepted.
    pub(super) accepts: bool,
}

impl ActContext<'_> {
    /// Decides the answer to an offer, which the script that made it learns of.
    pub(super) fn answer(&self, thing: ObjectId, terms: &Offer, accepts: bool) -> ActResult {
        let mut player = self.renewed_player()?;
        let hearing = self.state.charter.parameters.hearing;
        let (avatar, _) = self.within(hearing, thing)?;
        let standing = self.state.standing_offer(thing, &self.author(), terms);
        let (script, offer) = standing.ok_or(Refusal::NoOffer)?;
        if accepts {
            self.check_given(thing, terms)?;
            self.check_taken(thing, terms)?;
            if !self.state.byte_budget.has(terms.allow.len() * PERMIT_BYTES) {
                return Err(Refusal::Full);
            }
            let session = player.session.as_mut().ok_or(Refusal::NotLoggedIn)?;
            for permission in &terms.allow {
                session.allow(Permit { thing, permission: *permission });
            }
        }
        let event = Event::Answer { who: avatar.id(), tag: offer.tag.clone(), accepted: accepts };
        let told = self.executor.programs.listening(EventKind::Answer, &[script]).collect();
        let settled = Settlement { thing, script, terms: terms.clone(), accepts };
        Ok(vec![
            StateChange::Player(self.author(), player),
            StateChange::Settle(Box::new(settled)),
            StateChange::Raise(told, event),
        ])
    }

    /// Decides that things may do to the author no more than to anybody.
    pub(super) fn forbid(&self) -> ActResult {
        let (player, _) = self.with_session(|session| session.permits.clear())?;
        Ok(vec![StateChange::Player(self.author(), player)])
    }

    /// Checks that a thing may give what it offers. A script gives only its own thing and what that one spawned
    /// or took: whoever accepts a thing with a script does not hand all their things to its author.
    fn check_given(&self, thing: ObjectId, terms: &Offer) -> Result<(), Refusal> {
        let Some(given) = terms.give else { return Ok(()) };
        let (offering, object) = (self.thing(thing)?, self.thing(given)?);
        self.check_thawed(given)?;
        let is_its_own = given == thing || object.spawner == Some(thing);
        if !is_its_own || object.owner != offering.owner || object.owner == Some(self.author()) {
            return Err(Refusal::NoOffer);
        }
        self.state.check_quota(&self.author(), self.state.quota_use(given, object)?, 1)
    }

    /// Checks that a thing may take what it asks for. What it takes counts as what it spawned, so that it can
    /// give it away again, and so that there is a bound.
    fn check_taken(&self, thing: ObjectId, terms: &Offer) -> Result<(), Refusal> {
        let Some(taken) = terms.take else { return Ok(()) };
        let (taking, object) = (self.thing(thing)?, self.thing(taken)?);
        self.check_thawed(taken)?;
        if object.owner != Some(self.author()) {
            return Err(Refusal::NotYours);
        }
        if taking.owner == Some(self.author()) || taken == thing {
            return Err(Refusal::NoOffer);
        }
        let count = self.state.spawned_by(thing).count();
        if taking.spawner.is_some() || count >= SPAWNED_PER_OBJECT_MAX {
            return Err(Refusal::TooManyObjects);
        }
        let more = self.state.quota_use(taken, object)?;
        let room = taking.owner.map_or(Ok(()), |owner| self.state.check_quota(&owner, more, 1));
        room.map_err(|_| Refusal::NoRoomForGifts)
    }

    /// Checks that no moderator stopped a thing.
    fn check_thawed(&self, thing: ObjectId) -> Result<(), Refusal> {
        if self.state.people.frozen.contains(&thing) { Err(Refusal::Frozen) } else { Ok(()) }
    }
}

impl State {
    /// Ends an offer, and does what was agreed on.
    pub(super) fn settle(&mut self, author: PublicKey, settled: Settlement) {
        let Settlement { thing, script, terms, accepts } = settled;
        let offering = self.scripts.get_mut(&script).expect("an offer stands with its script");
        offering.offers.retain(|offer| offer.who != author || offer.terms != terms);
        if !accepts {
            return;
        }
        self.byte_budget.take(terms.allow.len() * PERMIT_BYTES);
        let owner = self.objects.get(&thing).and_then(|object| object.owner);
        // What is taken comes first: a thing that gives itself away leaves with its owner what it took.
        if let Some(taken) = terms.take {
            self.hand_over(taken, owner, Some(thing));
        }
        if let Some(given) = terms.give {
            self.hand_over(given, Some(author), None);
        }
    }

    /// Makes a thing somebody's, or the sim's own. Its things stay with whom they belong to, and whoever else
    /// has it in hand puts it down.
    pub(super) fn hand_over(
        &mut self,
        id: ObjectId,
        to: Option<PublicKey>,
        spawner: Option<ObjectId>,
    ) {
        let new_holder = to.and_then(|to| self.present.get(&to).copied());
        let held = self.objects.get(&id).and_then(|object| object.held);
        if held.is_some_and(|held| Some(held.by) != new_holder) {
            self.put_down(id, None);
        }
        let object = self.objects.get_mut(&id).expect("what is handed over was just seen");
        let owner = core::mem::replace(&mut object.owner, to);
        let before = core::mem::replace(&mut object.spawner, spawner);
        self.forget_spawned(before, id);
        self.free_spawned(id);
        self.disown(owner, id);
        if let Some(to) = to {
            self.own(to, id);
            // From now on it counts against the quotas of its owner, which were asked.
            self.objects.get_mut(&id).expect("what was just seen").guest = None;
        }
        self.note_spawned(spawner, id);
    }
}
