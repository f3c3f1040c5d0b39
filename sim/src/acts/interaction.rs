//! Walking, touching and pushing: how an avatar acts on the world.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{Body, Motion};
use metatopia_scripting::{Event, EventKind};
use metatopia_types::{
    ObjectId, Refusal,
    limits::{CHAT_BYTES_MAX, FORM_TAG_BYTES_MAX},
};

use super::{
    changes::StateChange,
    context::{ActContext, ActResult},
};
use crate::{
    limits::PUSH_TICKS_MIN,
    scripts::Hearers,
    space::{distance_to, nearest_point},
    state::{heading_of, is_line},
};

/// The largest component of a heading that is asked for. A larger one is no direction that anybody means,
/// and the length of such a heading would overflow.
const HEADING_MAX: Fx = Fx::from_int(1 << 15);

impl ActContext<'_> {
    /// Decides in which direction the avatar walks.
    pub(super) fn walk(&self, heading: Vec2) -> ActResult {
        if heading.x.saturating_abs().max(heading.y.saturating_abs()) > HEADING_MAX {
            return Err(Refusal::OutOfRange);
        }
        let heading = heading_of(heading);
        let (player, session) = self.with_session(|session| session.heading = heading)?;
        let avatar = session.presence.avatar_here()?;
        let mut changes = vec![StateChange::Player(self.author(), player)];
        if heading != Vec2::ZERO {
            changes.push(StateChange::Sit(avatar, None));
            changes.push(StateChange::Face(avatar, heading.angle()));
        }
        Ok(changes)
    }

    /// Decides a touch by hand, which the scripts on the object learn of. It ends at once: each touch has an end.
    pub(super) fn touch(&self, object: ObjectId) -> ActResult {
        let player = self.renewed_player()?;
        let (avatar, target) = self.in_reach(object)?;
        let at = nearest_point(target, avatar.position());
        let other = avatar.id();
        let mut changes = vec![StateChange::Player(self.author(), player)];
        let scripts = self.state.objects.get(&object).map_or(&[][..], |object| &object.scripts);
        let begun = Event::Touch { other, at, impulse: Fx::ZERO };
        for event in [begun, Event::TouchEnd { other }] {
            let heard = self.executor.programs.listening(event.kind(), scripts);
            changes.push(StateChange::Raise(heard.collect(), event));
        }
        Ok(changes)
    }

    /// Decides a reply to a form, which the scripts on the thing learn of. Nothing says that the form was
    /// shown, so a reply is bounded and paid for by who replies, as words are.
    pub(super) fn reply(&self, object: ObjectId, tag: &str, choice: u8, text: &str) -> ActResult {
        let player = self.renewed_player()?;
        if tag.len() > FORM_TAG_BYTES_MAX || text.len() > CHAT_BYTES_MAX {
            return Err(Refusal::BadText);
        }
        if !is_line(tag) || !is_line(text) {
            return Err(Refusal::BadText);
        }
        let hearing = self.state.charter.parameters.hearing;
        let (avatar, _) = self.within(hearing, object)?;
        let event = Event::Ui { who: avatar.id(), tag: tag.into(), choice, text: text.into() };
        let scripts = self.state.objects.get(&object).map_or(&[][..], |object| &object.scripts);
        let told = self.executor.programs.listening(EventKind::Ui, scripts).collect();
        let left = self.deliveries_left().ok_or(Refusal::TooOften)?;
        let hearers = Hearers::named(told).at_most(left);
        Ok(vec![
            StateChange::Player(self.author(), player),
            StateChange::HeardByScripts(hearers, event),
        ])
    }

    /// Decides a push, which is away from the avatar. People cannot be pushed, only walked into.
    pub(super) fn push(&self, object: ObjectId) -> ActResult {
        let tick = self.tick();
        let before = self.renewed_player()?.session.and_then(|session| session.pushed);
        let (avatar, target) = self.in_reach(object)?;
        let person = self.state.objects.get(&object).is_some_and(|object| object.player.is_some());
        if self.state.is_held(object) {
            return Err(Refusal::Held);
        }
        if target.motion() != Motion::Dynamic || person {
            return Err(Refusal::Immovable);
        }
        if self.state.people.frozen.contains(&object) {
            return Err(Refusal::Frozen);
        }
        if before.is_some_and(|before| before.plus(PUSH_TICKS_MIN) > tick) {
            return Err(Refusal::TooOften);
        }
        let (player, _) = self.with_session(|session| session.pushed = Some(tick))?;
        let away = target.position().saturating_sub(avatar.position());
        let direction = away.normalize().unwrap_or_else(|| avatar.angle().direction());
        let impulse = direction.scale(self.state.charter.parameters.avatar.push);
        Ok(vec![
            StateChange::Player(self.author(), player),
            StateChange::Face(avatar.id(), direction.angle()),
            StateChange::Impulse(object, impulse),
        ])
    }

    /// Returns the author's avatar and the body of an object, if the avatar can reach the object.
    pub(super) fn in_reach(&self, object: ObjectId) -> Result<(&Body, &Body), Refusal> {
        let parameters = &self.state.charter.parameters.avatar;
        self.within(parameters.radius.saturating_add(parameters.reach), object)
    }

    /// Returns the author's avatar and the body of an object, if the object is so near to the avatar.
    pub(super) fn within(&self, reach: Fx, object: ObjectId) -> Result<(&Body, &Body), Refusal> {
        let avatar = self.own_body()?;
        let target = self.state.bodies.body(object).ok_or(Refusal::NoObject)?;
        if distance_to(target, avatar.position()) > reach {
            return Err(Refusal::OutOfReach);
        }
        Ok((avatar, target))
    }
}
