//! Coming, staying and going.

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_physics::{Body, BodySpec, Motion, Shape};
use metatopia_types::{AssetLicence, Look, Refusal};

use super::{Case, Change, Ruling};
use crate::{
    limits::{ARRIVALS_PER_TURN_MAX, PLAYERS_MAX},
    object::{AVATAR, Object},
    players::{Player, Session, Since, is_name},
    reach::distance_to,
};

/// Places that are tried for a new avatar before it appears in a crowd.
const SPAWN_TRIES: usize = 16;

impl Case<'_> {
    /// The first login of a key makes a player, each login of one who is away an avatar. A login in
    /// another lane takes over the avatar.
    pub(super) fn login(&self, name: &str, look: Look, bot: bool) -> Ruling {
        if !is_name(name) {
            return Err(Refusal::BadText);
        }
        check_look(look)?;
        let known = self.state.players.get(&self.author());
        if known.is_none() && self.state.players.len() >= PLAYERS_MAX {
            return Err(Refusal::Full);
        }
        let mut changes = Vec::new();
        let avatar = match known.and_then(|player| player.session.as_ref()) {
            Some(session) => {
                changes.push(Change::Dress(session.avatar, name.to_owned(), look));
                session.avatar
            }
            None => {
                let (object, body) = self.avatar(name, look)?;
                changes.push(Change::Spawn(object, Box::new(body)));
                self.state.clock.next_object
            }
        };
        let (now, height) = (self.state.governance.time, self.state.clock.height);
        let mut player = Player {
            name: name.to_owned(),
            look,
            first_seen: known.map_or(now, |player| player.first_seen),
            last_login: known.map_or(now, |player| player.last_login),
            days: known.map_or(0, |player| player.days),
            bot,
            since: known.map_or(Since { player: height, regular: None }, |player| player.since),
            session: Some(Session {
                lane: self.envelope.lane,
                avatar,
                heading: Vec2::ZERO,
                lease: self.lease(),
                // A new session must not shorten the wait between two pushes.
                pushed: known.and_then(|player| player.session.as_ref()?.pushed),
                gesture: None,
            }),
        };
        player.seen(now, height, self.state.charter.parameters.seen_days);
        if known.is_none() {
            changes.push(Change::FirstLogin);
        }
        changes.push(Change::Player(self.author(), player));
        changes.push(Change::Login(self.author()));
        Ok(changes)
    }

    pub(super) fn leave(&self) -> Ruling {
        self.present()?;
        Ok(vec![Change::Despawn(self.author())])
    }

    pub(super) fn heartbeat(&self) -> Ruling {
        Ok(vec![Change::Player(self.author(), self.present()?)])
    }

    fn avatar(&self, name: &str, look: Look) -> Result<(Object, BodySpec), Refusal> {
        let parameters = &self.state.charter.parameters;
        if !self.state.has_room() || self.state.present.len() >= parameters.avatars_max as usize {
            return Err(Refusal::Full);
        }
        if self.tally.arrivals >= ARRIVALS_PER_TURN_MAX {
            return Err(Refusal::TooOften);
        }
        let object = Object {
            kind: AVATAR.to_owned(),
            name: name.to_owned(),
            owner: Some(self.author()),
            player: Some(self.author()),
            look,
            text: String::new(),
            scripts: Vec::new(),
            licence: AssetLicence::Reserved,
            author: Some(self.author()),
            parent: None,
        };
        let shape = Shape::Circle { radius: parameters.avatar.radius };
        let mut body = BodySpec::new(shape, Motion::Dynamic, self.free_place());
        body.mass = parameters.avatar.mass;
        body.friction = Fx::from_ratio(1, 10);
        body.fixed_rotation = true;
        Ok((object, body))
    }

    /// A place near the spawn point where no body is; if a few tries find none, the last one tried:
    /// bodies that overlap push each other out.
    fn free_place(&self) -> Vec2 {
        let avatar = &self.state.charter.parameters.avatar;
        let parts = [self.tick().0, self.state.clock.next_object.0];
        let mut dice = Stream::new(&self.state.clock.seed.0, "metatopia spawn v1", &parts);
        // The corners of the square of places are less than three halves of its half side away.
        let far = avatar.spawn_radius.saturating_mul(Fx::from_ratio(3, 2));
        let far = far.saturating_add(avatar.radius);
        let bodies = self.state.region.around(avatar.spawn, far);
        let bodies = bodies.filter(|body| !body.is_sensor());
        let near: Vec<&Body> =
            bodies.filter(|body| distance_to(body, avatar.spawn) <= far).collect();
        let mut place = avatar.spawn;
        for _ in 0..SPAWN_TRIES {
            let side = avatar.spawn_radius;
            let mut offset = || dice.fx_between(side.saturating_neg(), side);
            place = avatar.spawn.saturating_add(Vec2::new(offset(), offset()));
            if near.iter().all(|body| distance_to(body, place) > avatar.radius) {
                break;
            }
        }
        place
    }
}

/// Colours have 24 bits.
pub(super) fn check_look(look: Look) -> Result<(), Refusal> {
    if look.color > 0x00ff_ffff { Err(Refusal::OutOfRange) } else { Ok(()) }
}
