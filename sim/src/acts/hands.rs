//! Walking, touching and pushing.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{Body, Motion};
use metatopia_scripting::{Event, EventKind};
use metatopia_types::{ObjectId, Refusal};

use super::{Case, Change, Ruling};
use crate::{
    limits::PUSH_TICKS_MIN,
    parameters::heading_of,
    reach::{distance_to, nearest_point},
};

impl Case<'_> {
    pub(super) fn walk(&self, heading: Vec2) -> Ruling {
        // A component outside of this is no direction that anybody means, and could not be
        // measured.
        let bound = Fx::from_int(1 << 15);
        if heading.x.saturating_abs().max(heading.y.saturating_abs()) > bound {
            return Err(Refusal::OutOfRange);
        }
        let heading = heading_of(heading);
        let (player, session) = self.with_session(|session| session.heading = heading)?;
        let avatar = session.avatar.ok_or(Refusal::NoSeat)?;
        let mut changes = vec![Change::Player(self.author(), player)];
        if heading != Vec2::ZERO {
            changes.push(Change::Face(avatar, heading.angle()));
        }
        Ok(changes)
    }

    pub(super) fn touch(&self, object: ObjectId) -> Ruling {
        let player = self.present()?;
        let (avatar, target) = self.in_reach(object)?;
        let at = nearest_point(target, avatar.position());
        let event = Event::Touch { other: avatar.id(), at, impulse: Fx::ZERO };
        let mut changes = vec![Change::Player(self.author(), player)];
        let scripts = self.state.objects.get(&object).map_or(&[][..], |object| &object.scripts);
        let heard = self.court.programs.listening(EventKind::Touch, scripts);
        changes.push(Change::Post(heard.collect(), event));
        Ok(changes)
    }

    /// A push is away from the avatar. People cannot be pushed, only walked into.
    pub(super) fn push(&self, object: ObjectId) -> Ruling {
        let tick = self.tick();
        let before = self.present()?.session.and_then(|session| session.pushed);
        let (avatar, target) = self.in_reach(object)?;
        let person = self.state.objects.get(&object).is_some_and(|object| object.player.is_some());
        if target.motion() != Motion::Dynamic || person {
            return Err(Refusal::Immovable);
        }
        if before.is_some_and(|before| before.plus(PUSH_TICKS_MIN) > tick) {
            return Err(Refusal::TooOften);
        }
        let (player, _) = self.with_session(|session| session.pushed = Some(tick))?;
        let away = target.position().saturating_sub(avatar.position());
        let direction = away.normalize().unwrap_or_else(|| avatar.angle().direction());
        let impulse = direction.scale(self.state.charter.parameters.avatar.push);
        Ok(vec![
            Change::Player(self.author(), player),
            Change::Face(avatar.id(), direction.angle()),
            Change::Impulse(object, impulse),
        ])
    }

    /// The author's avatar and the body of an object, if the one can reach the other.
    fn in_reach(&self, object: ObjectId) -> Result<(&Body, &Body), Refusal> {
        let region = &self.state.region;
        let own = self.state.present.get(&self.author()).and_then(|avatar| region.body(*avatar));
        let avatar = own.ok_or(Refusal::NoSeat)?;
        let target = region.body(object).ok_or(Refusal::NoObject)?;
        let parameters = &self.state.charter.parameters.avatar;
        let reach = parameters.radius.saturating_add(parameters.reach);
        if distance_to(target, avatar.position()) > reach {
            return Err(Refusal::OutOfReach);
        }
        Ok((avatar, target))
    }
}
