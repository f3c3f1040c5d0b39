//! Logging in, staying and leaving.

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_types::{AssetLicence, Look, Pass, PublicKey, Refusal};

use super::{
    changes::StateChange,
    context::{ActContext, ActResult},
};
use crate::{
    limits::ROTATIONS_PER_TURN_MAX,
    space::distance_to,
    state::{AVATAR, Object, Player, PlayerSession, Presence, Since, State},
};

/// Friction of avatars: little, so that a walker slides along a wall in place of sticking to it.
const AVATAR_FRICTION: Fx = Fx::from_ratio(1, 10);

/// Places that are tried for a new avatar before it appears in a crowd.
const SPAWN_TRIES: usize = 16;

impl ActContext<'_> {
    /// Decides a login. The first login of a key makes a player, and each login of a player who is away
    /// makes an avatar. A login in another lane takes over the avatar.
    ///
    /// Stewards are refused for nothing that others can use up: if there is no seat, they are logged in
    /// without an avatar, and so is a player who lost a seat.
    pub(super) fn login(
        &self,
        name: &str,
        look: Look,
        bot: bool,
        pass: Option<&Pass>,
    ) -> ActResult {
        let (old, rotated) = self.rotated_at_login(pass)?;
        let name = self.state.name_at_login(&old, name)?;
        check_look(look)?;
        let is_rotation = rotated.is_some();
        if is_rotation && self.counts.rotations >= ROTATIONS_PER_TURN_MAX {
            return Err(Refusal::TooOften);
        }
        // A ban moves with all else, and nobody comes in by it.
        if is_rotation && self.state.people.ban(&old, self.state.governance.time).is_some() {
            return Ok(rotated.into_iter().collect());
        }
        let known = self.state.players.get(&old);
        let steward = self.state.is_steward(&old);
        let mut changes = Vec::new();
        let ticket = if known.is_none() { self.used_ticket(pass)? } else { None };
        if known.is_none() {
            changes.extend(self.state.player_to_forget(steward)?.map(StateChange::Forget));
        }
        let (now, height) = (self.state.governance.time, self.state.clock.height);
        // The session of a key that is given up ends, whoever has it.
        let before = known.and_then(|player| player.session.as_ref()).filter(|_| !is_rotation);
        let mut player = Player {
            name,
            look,
            first_seen: known.map_or(now, |player| player.first_seen),
            last_login: known.map_or(now, |player| player.last_login),
            days: known.map_or(0, |player| player.days),
            bot,
            since: known.map_or(
                Since { player: height, regular: None },
                |known| match is_rotation {
                    true => known.since.begun_at(height),
                    false => known.since,
                },
            ),
            spoke: known.and_then(|player| player.spoke),
            session: Some(PlayerSession {
                lane: self.envelope.lane,
                presence: before.map_or(Presence::Seatless, |session| session.presence),
                heading: Vec2::ZERO,
                lease: self.lease(),
                acted: self.tick(),
                // A new session must not shorten the wait between two pushes.
                pushed: before.and_then(|session| session.pushed),
                gesture: None,
                permits: Vec::new(),
            }),
        };
        player.seen(now, height, self.state.charter.parameters.seen_days);
        let (player, seat) = self.seated(player, steward || before.is_some() || is_rotation)?;
        changes.extend(seat);
        changes.extend(rotated);
        if known.is_none() {
            changes.push(StateChange::FirstLogin(ticket));
        }
        changes.push(StateChange::Player(self.author(), player));
        changes.push(StateChange::Login(self.author()));
        changes.push(StateChange::BoundSeatless);
        changes.extend(self.warned_at_login());
        changes.extend(self.invited_at_login());
        Ok(changes)
    }

    /// Returns the key by which the sim knows who logs in, and the change that gives all it has to the author's
    /// key, if the login shows a rotation that the sim has not seen yet.
    fn rotated_at_login(
        &self,
        pass: Option<&Pass>,
    ) -> Result<(PublicKey, Option<StateChange>), Refusal> {
        let author = self.author();
        let Some(Pass::Rotation(rotation)) = pass else { return Ok((author, None)) };
        Ok(match self.state.replaced_key(rotation)? {
            Some(old) => (old, Some(StateChange::Rotate(old, rotation.number))),
            None => (author, None),
        })
    }

    /// Returns the player who logs in, with an avatar, and the changes that make the avatar. With
    /// `without`, a player for whom there is no seat is logged in without an avatar.
    fn seated(
        &self,
        mut player: Player,
        without: bool,
    ) -> Result<(Player, Vec<StateChange>), Refusal> {
        let (name, look, regular) = (player.name.clone(), player.look, self.is_regular(&player));
        let Some(session) = player.session.as_mut() else { return Ok((player, Vec::new())) };
        let seat = match session.presence {
            Presence::Here(avatar) => vec![StateChange::Dress(avatar, name, look)],
            // Whoever logs in here is no longer on the way, nor elsewhere: the presence begins anew.
            Presence::Seatless | Presence::Expected { .. } | Presence::Away { .. } => {
                match self.give_seat(&name, look, regular) {
                    Ok(seat) => {
                        session.presence = Presence::Here(self.state.clock.next_object);
                        seat
                    }
                    Err(_) if without => {
                        session.presence = Presence::Seatless;
                        Vec::new()
                    }
                    Err(why) => return Err(why),
                }
            }
        };
        Ok((player, seat))
    }

    /// Decides a logout.
    pub(super) fn leave(&self) -> ActResult {
        self.renewed_player()?;
        Ok(vec![StateChange::Despawn(self.author())])
    }

    /// Decides a heartbeat, which renews the lease and nothing else.
    pub(super) fn heartbeat(&self) -> ActResult {
        Ok(vec![StateChange::Player(self.author(), self.renewed_player()?)])
    }

    /// Returns a new avatar of the author, and its body.
    pub(super) fn avatar(&self, name: &str, look: Look) -> (Object, BodySpec) {
        self.state.avatar_of(self.author(), name, look, self.free_place())
    }

    /// Returns a place near the spawn point where no body is. If a few tries find none, it is the last
    /// place that was tried: bodies that overlap push each other out.
    pub(super) fn free_place(&self) -> Vec2 {
        let avatar = &self.state.charter.parameters.avatar;
        let parts = [self.tick().0, self.state.clock.next_object.0];
        let mut dice = Stream::new(&self.state.clock.seed.0, "metatopia spawn v1", &parts);
        let is_free = |place: Vec2| {
            let near = self.state.bodies.around(place, avatar.radius);
            let mut near = near.filter(|body| !body.is_sensor() && !self.state.is_held(body.id()));
            near.all(|body| distance_to(body, place) > avatar.radius)
        };
        let mut place = avatar.spawn;
        for _ in 0..SPAWN_TRIES {
            let side = avatar.spawn_radius;
            let mut offset = || dice.fx_between(side.saturating_neg(), side);
            place = avatar.spawn.saturating_add(Vec2::new(offset(), offset()));
            if is_free(place) {
                break;
            }
        }
        place
    }
}

impl State {
    /// Returns an avatar of a player, and its body at a place.
    pub(crate) fn avatar_of(
        &self,
        player: PublicKey,
        name: &str,
        look: Look,
        place: Vec2,
    ) -> (Object, BodySpec) {
        let parameters = &self.charter.parameters;
        let object = Object {
            kind: AVATAR.to_owned(),
            name: name.to_owned(),
            owner: Some(player),
            player: Some(player),
            look,
            text: String::new(),
            scripts: Vec::new(),
            licence: AssetLicence::Reserved,
            author: Some(player),
            birth: None,
            parent: None,
            travels: false,
            guest: None,
            spawner: None,
            held: None,
            seat: None,
            changed: None,
        };
        let shape = Shape::Circle { radius: parameters.avatar.radius };
        let mut body = BodySpec::new(shape, Motion::Dynamic, place);
        body.mass = parameters.avatar.mass;
        body.friction = AVATAR_FRICTION;
        body.fixed_rotation = true;
        (object, body)
    }
}

/// Checks that the colours of a look have 24 bits.
pub(super) fn check_look(look: Look) -> Result<(), Refusal> {
    if look.is_proper() { Ok(()) } else { Err(Refusal::OutOfRange) }
}
