//! Requests: which right an act needs, and to what.

use metatopia_physics::{Body, Pose};
use metatopia_types::{Act, Build, ClubOrder, LandOrder, ObjectId, Refusal};

use super::{
    context::ActContext,
    history::Inverse,
    outline::{check_shape, footprint_of, shape},
};
use crate::{
    rules::{ActGround, ActTarget, Right},
    space::{Area, Footprint},
    state::{Object, State},
};

/// Returns the right that an order about a club needs: to speak, where others read its words.
const fn club_right(order: &ClubOrder) -> Right {
    match order {
        // An invite tells somebody something, and the name of a club is words.
        ClubOrder::Say { .. }
        | ClubOrder::Invite { .. }
        | ClubOrder::Found { .. }
        | ClubOrder::Rename { .. } => Right::Speak,
        ClubOrder::Accept { .. }
        | ClubOrder::Decline { .. }
        | ClubOrder::Leave { .. }
        | ClubOrder::Remove { .. }
        | ClubOrder::HandOver { .. }
        | ClubOrder::Dissolve { .. } => Right::Attend,
    }
}

impl ActContext<'_> {
    /// Returns the right that the act needs, and what it is done to.
    ///
    /// # Errors
    /// When the act names something that is not there, or a size that no thing may have.
    pub(super) fn request(&self) -> Result<(Right, ActTarget<'_>), Refusal> {
        Ok(match &self.envelope.act {
            Act::Login { .. }
            | Act::Leave
            | Act::Heartbeat
            | Act::Walk { .. }
            | Act::Touch { .. }
            | Act::Push { .. }
            | Act::Emote(_)
            | Act::SetLook(_)
            | Act::Reply { .. }
            | Act::Answer { .. }
            | Act::Forbid
            | Act::GoHome
            | Act::Sit { .. }
            | Act::FileReport { .. }
            | Act::WithdrawReport { .. }
            | Act::EmptyMailbox { .. }
            | Act::NameFriends { .. }
            | Act::Vouch { .. }
            | Act::Approach { .. } => (Right::Attend, ActTarget::SIM),
            Act::SetProfile { profile } if self.clears_profile(*profile) => {
                (Right::Attend, ActTarget::SIM)
            }
            Act::Say { .. } | Act::Tell { .. } | Act::SetProfile { .. } => {
                (Right::Speak, ActTarget::SIM)
            }
            Act::Club(order) => (club_right(order), ActTarget::SIM),
            Act::Ready { .. } | Act::Report(_) => (Right::Testify, ActTarget::SIM),
            Act::SetChange(_) => (Right::Servers, ActTarget::SIM),
            Act::Ticket(_) => (Right::Admit, ActTarget::SIM),
            Act::Amend { .. } => (Right::Charter, ActTarget::SIM),
            Act::Publish { .. } | Act::PublishPiece { .. } | Act::Assemble { .. } => {
                (Right::Publish, ActTarget::SIM)
            }
            // Nothing is decoded where there is no land office, or by too many: an order may have 20 KiB.
            Act::Land { .. } if self.state.land.is_none() || !self.counts.is_checked => {
                (Right::Land, ActTarget::SIM)
            }
            Act::Land { order } => match self.land_order(*order) {
                Ok(LandOrder::TakeBack { .. }) => (Right::TakeBack, ActTarget::SIM),
                // An order that cannot be read is refused once the right is there.
                Ok(
                    LandOrder::Claim { .. }
                    | LandOrder::Renew { .. }
                    | LandOrder::SetBeacons { .. }
                    | LandOrder::Give { .. }
                    | LandOrder::Release { .. }
                    | LandOrder::Succeed { .. },
                )
                | Err(_) => (Right::Land, ActTarget::SIM),
            },
            // That a key is not lost is a fact which its signature proves, also of who is banned.
            Act::Hear { .. } | Act::CancelRecovery => (Right::Testify, ActTarget::SIM),
            // What is beyond what a turn searches for is refused later.
            Act::Forget { .. } if !self.counts.is_checked => (Right::Attend, ActTarget::SIM),
            Act::Forget { height, body } => {
                self.state.forget_request(self.author(), *height, *body)
            }
            Act::Border { .. } => (Right::Borders, ActTarget::SIM),
            Act::Govern(order) => self.state.govern_request(order)?,
            Act::Lot(order) => self.state.lot_request(order)?,
            // A turn with an act that is unknown here is void, so no right is needed for it.
            Act::Unknown { .. } => (Right::Attend, ActTarget::SIM),
            Act::Build(build) => self.build_request(build)?,
        })
    }

    /// Returns a thing that a building act is about, as it stands.
    pub(super) fn thing_target(&self, id: ObjectId) -> Result<ActTarget<'_>, Refusal> {
        let thing = Some(self.thing(id)?);
        let frozen = self.state.people.frozen.contains(&id);
        let whereabouts = self.state.standing(id).map(ActGround::at);
        Ok(ActTarget { thing, frozen, whereabouts, ..ActTarget::SIM })
    }

    /// Returns the right that a building act needs, with the thing and the ground that it changes.
    fn build_request(&self, build: &Build) -> Result<(Right, ActTarget<'_>), Refusal> {
        let thing = |id: &ObjectId| self.thing_target(*id);
        let ground = |id: &ObjectId| {
            self.thing(*id)?;
            let body = self.state.bodies.body(*id).ok_or(Refusal::NoObject)?;
            Ok::<_, Refusal>(footprint_after(build, body).area())
        };
        let put = |target: ActTarget<'_>, after: Option<Area>| {
            let before = target.whereabouts.map(|whereabouts| whereabouts.before);
            before.zip(after).map(|(before, after)| ActGround { before, after })
        };
        let onto = |id: &ObjectId| {
            let (target, ground) = (thing(id)?, Some(ground(id)?));
            Ok::<_, Refusal>(ActTarget { ground, whereabouts: put(target, ground), ..target })
        };
        match build {
            Build::Place(blueprint) => {
                // Without a size that a thing may have there is no ground to ask for.
                let footprint = footprint_of(blueprint)?;
                check_shape(self.rules(), footprint.shape.clone())?;
                let ground = Some(footprint.area());
                Ok((Right::Build, ActTarget { ground, ..ActTarget::SIM }))
            }
            // Each of the things is asked for when it is decided: there may be many.
            Build::Unite { objects } => {
                let ground = Some(self.united_footprint(objects)?.area());
                Ok((Right::Build, ActTarget { ground, ..ActTarget::SIM }))
            }
            // Whether a thing may be copied is a matter of its licence, and whether one is put down of whose
            // hands it is in: not of whose it is.
            Build::Copy { object, .. } | Build::PutDown { object, .. } => {
                Ok((Right::Build, ActTarget { ground: Some(ground(object)?), ..ActTarget::SIM }))
            }
            Build::Fetch { object, position } => self.fetch_request(*object, *position),
            Build::Resize { object, outline } => {
                check_shape(self.rules(), shape(*outline)?)?;
                Ok((Right::Build, onto(object)?))
            }
            Build::Move { object, .. } | Build::Rotate { object, .. } => {
                Ok((Right::Build, onto(object)?))
            }
            Build::Unjoin { object, .. } => Ok((Right::Build, onto(object)?)),
            Build::Join { object, to: None, at, .. } => {
                let target = onto(object)?;
                let whereabouts = put(target, Some(Area { low: *at, high: *at }));
                Ok((Right::Build, ActTarget { whereabouts, ..target }))
            }
            Build::Join { object, to: Some(to), .. } => {
                let frozen = thing(object)?.frozen || thing(to)?.frozen;
                let target = onto(object)?;
                let whereabouts = put(target, self.state.standing(*to));
                Ok((Right::Build, ActTarget { frozen, whereabouts, ..target }))
            }
            Build::Attach { object, .. }
            | Build::Detach { object, .. }
            | Build::Upgrade { object, .. }
            | Build::Resume { object, .. } => Ok((Right::Script, thing(object)?)),
            Build::Discard { object } => self.discard_request(*object),
            Build::Delete { object }
            | Build::Give { object, .. }
            | Build::Recolor { object, .. }
            | Build::MakeOf { object, .. }
            | Build::MakeSensor { object, .. }
            | Build::Rename { object, .. }
            | Build::Write { object, .. }
            | Build::Stow { object }
            | Build::LetTravel { object, .. } => Ok((Right::Build, thing(object)?)),
            // What somebody has in hand goes wherever that person goes.
            Build::Take { object } => {
                Ok((Right::Build, ActTarget { whereabouts: None, ..thing(object)? }))
            }
            Build::Undo { skip } => Ok((Right::Build, self.undo_target(*skip)?)),
        }
    }

    /// Returns the thing that an undo changes. A step that cannot be undone changes none.
    fn undo_target(&self, skip: u8) -> Result<ActTarget<'_>, Refusal> {
        let history = self.state.histories.get(&self.author());
        let Some(entry) = history.and_then(|history| history.entry(skip)) else {
            return Ok(ActTarget::SIM);
        };
        let thing = match &entry.inverse {
            Inverse::Nothing => return Ok(ActTarget::SIM),
            Inverse::Restore(deleted) => &deleted.object,
            _ => self.thing(entry.object)?,
        };
        let frozen = self.state.people.frozen.contains(&entry.object);
        let whereabouts = self.state.whereabouts_undone(entry);
        Ok(ActTarget { thing: Some(thing), frozen, whereabouts, ..ActTarget::SIM })
    }

    /// Returns a thing that can be built with: any object but people.
    pub(super) fn thing(&self, id: ObjectId) -> Result<&Object, Refusal> {
        self.state.thing(id)
    }
}

impl State {
    /// Returns a thing: any object but people.
    pub(super) fn thing(&self, id: ObjectId) -> Result<&Object, Refusal> {
        let missing = if self.is_thing_away(id) { Refusal::Away } else { Refusal::NoObject };
        let thing = self.objects.get(&id).ok_or(missing)?;
        if thing.player.is_some() { Err(Refusal::Person) } else { Ok(thing) }
    }

    /// Returns the ground that a thing covers. What is not there, or in somebody's hands, stands nowhere.
    pub(super) fn standing(&self, id: ObjectId) -> Option<Area> {
        let is_held = self.objects.get(&id)?.held.is_some();
        let body = self.bodies.body(id).filter(|_| !is_held)?;
        Some(Footprint::of(body).area())
    }
}

/// Returns the ground that a body, or a copy of it, covers after a building act.
pub(super) fn footprint_after(build: &Build, body: &Body) -> Footprint {
    let Footprint { shape: before, pose } = Footprint::of(body);
    match build {
        Build::Move { position, .. }
        | Build::Copy { position, .. }
        | Build::PutDown { position, .. } => {
            Footprint { shape: before, pose: Pose { position: *position, ..pose } }
        }
        Build::Rotate { angle, .. } => {
            Footprint { shape: before, pose: Pose { angle: *angle, ..pose } }
        }
        Build::Resize { outline, .. } => {
            let shape = shape(*outline).expect("the request checked the outline");
            Footprint { shape, pose }
        }
        _ => Footprint { shape: before, pose },
    }
}
