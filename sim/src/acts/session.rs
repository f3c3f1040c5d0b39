//! Coming, staying and going.

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_physics::{Body, BodySpec, Motion, Shape};
use metatopia_types::{AssetLicence, Look, Refusal};

use super::{Case, Change, Ruling};
use crate::{
    object::{AVATAR, Object},
    players::{Player, Session, Since, is_name},
    reach::distance_to,
};

/// Places that are tried for a new avatar before it appears in a crowd.
const SPAWN_TRIES: usize = 16;

impl Case<'_> {
    /// The first login of a key makes a player, each login of one who is away an avatar. A login in
    /// another lane takes over the avatar.
    ///
    /// Those without whom the sim stops are refused for nothing that others can use up: where there
    /// is no seat they are logged in without an avatar, as is whoever lost a seat.
    pub(super) fn login(&self, name: &str, look: Look, bot: bool) -> Ruling {
        if !is_name(name) {
            return Err(Refusal::BadText);
        }
        check_look(look)?;
        let known = self.state.players.get(&self.author());
        let steward = self.state.is_steward(&self.author());
        let mut changes = Vec::new();
        if known.is_none() {
            changes.extend(self.make_room(steward)?.map(Change::Forget));
        }
        let (now, height) = (self.state.governance.time, self.state.clock.height);
        let before = known.and_then(|player| player.session.as_ref());
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
                avatar: before.and_then(|session| session.avatar),
                heading: Vec2::ZERO,
                lease: self.lease(),
                acted: self.tick(),
                // A new session must not shorten the wait between two pushes.
                pushed: before.and_then(|session| session.pushed),
                gesture: None,
            }),
        };
        player.seen(now, height, self.state.charter.parameters.seen_days);
        let (player, seat) = self.seated(player, steward || before.is_some())?;
        changes.extend(seat);
        if known.is_none() {
            changes.push(Change::FirstLogin);
        }
        changes.push(Change::Player(self.author(), player));
        changes.push(Change::Login(self.author()));
        changes.push(Change::BoundSeatless);
        Ok(changes)
    }

    /// Returns a player who logs in with an avatar, and what makes that one; `without` is for who is
    /// logged in also without one.
    fn seated(&self, mut player: Player, without: bool) -> Result<(Player, Vec<Change>), Refusal> {
        let (name, look, regular) = (player.name.clone(), player.look, self.is_regular(&player));
        let Some(session) = player.session.as_mut() else { return Ok((player, Vec::new())) };
        let seat = match session.avatar {
            Some(avatar) => vec![Change::Dress(avatar, name, look)],
            None => match self.sit(&name, look, regular) {
                Ok(seat) => {
                    session.avatar = Some(self.state.clock.next_object);
                    seat
                }
                Err(_) if without => Vec::new(),
                Err(why) => return Err(why),
            },
        };
        Ok((player, seat))
    }

    pub(super) fn leave(&self) -> Ruling {
        self.present()?;
        Ok(vec![Change::Despawn(self.author())])
    }

    pub(super) fn heartbeat(&self) -> Ruling {
        Ok(vec![Change::Player(self.author(), self.present()?)])
    }

    pub(super) fn avatar(&self, name: &str, look: Look) -> (Object, BodySpec) {
        let parameters = &self.state.charter.parameters;
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
        (object, body)
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
