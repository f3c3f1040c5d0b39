//! Seats: decides who has an avatar, and who gives one up.

use metatopia_types::{Act, Look, PublicKey, Refusal};

use super::{changes::StateChange, context::ActContext};
use crate::{
    limits::{ARRIVALS_PER_TURN_MAX, PLAYERS_MAX, PLAYERS_ROOMY},
    state::{Player, PlayerSession, Presence, State},
};

impl ActContext<'_> {
    /// Returns what gives the author an avatar: a free seat, or that of whoever gives one up. The
    /// last quarter is for `regular` people.
    pub(super) fn give_seat(
        &self,
        name: &str,
        look: Look,
        regular: bool,
    ) -> Result<Vec<StateChange>, Refusal> {
        if self.counts.arrivals >= ARRIVALS_PER_TURN_MAX {
            return Err(Refusal::TooOften);
        }
        let all = self.state.charter.parameters.avatars_max;
        let seats = if regular { all } else { all - all / 4 };
        let mut changes = Vec::new();
        if self.state.present.len() >= seats as usize || !self.state.has_object_slot() {
            let idlest = self.state.census.idlest(self.tick());
            changes.push(StateChange::Unseat(idlest.ok_or(Refusal::Full)?));
        }
        let (object, body) = self.avatar(name, look);
        changes.push(StateChange::Spawn(Box::new(object), Box::new(body)));
        Ok(changes)
    }

    /// Returns what gives the author a seat that was lost, if this act shows more than a sign of
    /// life and there is a seat; nothing otherwise.
    pub(super) fn regain_seat(&self) -> Vec<StateChange> {
        let needs_none = matches!(
            self.envelope.act,
            Act::Login { .. } | Act::Leave | Act::Heartbeat | Act::Ready { .. } | Act::Report(_)
        );
        let Some(player) = self.renewed_player().ok().filter(|_| !needs_none) else {
            return Vec::new();
        };
        // Who is expected or away has no seat here to get back.
        let is_seatless = |session: &&PlayerSession| session.presence == Presence::Seatless;
        let Some(session) = player.session.as_ref().filter(is_seatless) else {
            return Vec::new();
        };
        let Ok(mut changes) = self.give_seat(&player.name, player.look, self.is_regular(&player))
        else {
            return Vec::new();
        };
        let presence = Presence::Here(self.state.clock.next_object);
        let session = Some(PlayerSession { presence, ..session.clone() });
        changes.push(StateChange::Player(self.author(), Player { session, ..player }));
        changes
    }

    /// Says whether the author may have one of the last quarter of the seats.
    pub(super) fn is_regular(&self, player: &Player) -> bool {
        let seen = self.state.charter.parameters.seen_days;
        player.days >= seen || self.state.is_steward(&self.author())
    }
}

impl State {
    /// Returns the player who is forgotten so that a new one can be remembered; nobody while few are known.
    ///
    /// The last quarter of the places fills up only with those who cannot be forgotten: a player who was
    /// seen on enough days loses the place only when there is no other.
    pub(crate) fn player_to_forget(&self, steward: bool) -> Result<Option<PublicKey>, Refusal> {
        let players = self.players.len();
        if players < PLAYERS_ROOMY {
            return Ok(None);
        }
        let seen = self.charter.parameters.seen_days;
        if let Some(forgettable) = self.first_forgettable(Some(seen)) {
            return Ok(Some(forgettable));
        }
        if players < PLAYERS_MAX {
            return Ok(None);
        }
        match self.first_forgettable(None) {
            None if !steward => Err(Refusal::Full),
            forgettable => Ok(forgettable),
        }
    }
}
