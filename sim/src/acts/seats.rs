//! Seats: who has an avatar, and who makes room.

use metatopia_types::{Act, Look, PublicKey, Refusal};

use super::{Case, Change};
use crate::{
    limits::{ARRIVALS_PER_TURN_MAX, PLAYERS_MAX, PLAYERS_ROOMY},
    players::{Player, Session},
};

impl Case<'_> {
    /// Returns what gives the author an avatar: a free seat, or that of whoever gives one up. The
    /// last quarter is for `regular` people.
    pub(super) fn sit(
        &self,
        name: &str,
        look: Look,
        regular: bool,
    ) -> Result<Vec<Change>, Refusal> {
        if self.tally.arrivals >= ARRIVALS_PER_TURN_MAX {
            return Err(Refusal::TooOften);
        }
        let all = self.state.charter.parameters.avatars_max;
        let seats = if regular { all } else { all - all / 4 };
        let mut changes = Vec::new();
        if self.state.present.len() >= seats as usize || !self.state.has_room() {
            let idlest = self.state.census.idlest(self.tick());
            changes.push(Change::Unseat(idlest.ok_or(Refusal::Full)?));
        }
        let (object, body) = self.avatar(name, look);
        changes.push(Change::Spawn(object, Box::new(body)));
        Ok(changes)
    }

    /// Returns what gives the author a seat that was lost, if this act shows more than a sign of
    /// life and there is a seat; nothing otherwise.
    pub(super) fn take_seat(&self) -> Vec<Change> {
        let needs_none = matches!(
            self.envelope.act,
            Act::Login { .. } | Act::Leave | Act::Heartbeat | Act::Ready { .. } | Act::Report(_)
        );
        let Some(player) = self.present().ok().filter(|_| !needs_none) else {
            return Vec::new();
        };
        let Some(session) = player.session.as_ref().filter(|session| session.avatar.is_none())
        else {
            return Vec::new();
        };
        let Ok(mut changes) = self.sit(&player.name, player.look, self.is_regular(&player)) else {
            return Vec::new();
        };
        let avatar = Some(self.state.clock.next_object);
        let session = Some(Session { avatar, ..session.clone() });
        changes.push(Change::Player(self.author(), Player { session, ..player }));
        changes
    }

    /// Is the last quarter of the seats for this author too?
    pub(super) fn is_regular(&self, player: &Player) -> bool {
        let seen = self.state.charter.parameters.seen_days;
        player.days >= seen || self.state.is_steward(&self.author())
    }

    /// Returns who is forgotten for a player whom the sim does not know, nobody while there is room.
    ///
    /// The last quarter of the places fills up only with those who cannot be forgotten: who was seen
    /// on enough days loses the place only when there is no other.
    pub(super) fn make_room(&self, steward: bool) -> Result<Option<PublicKey>, Refusal> {
        let players = self.state.players.len();
        if players < PLAYERS_ROOMY {
            return Ok(None);
        }
        let seen = self.state.charter.parameters.seen_days;
        if let Some(passer) = self.state.passer(Some(seen)) {
            return Ok(Some(passer));
        }
        if players < PLAYERS_MAX {
            return Ok(None);
        }
        match self.state.passer(None) {
            None if !steward => Err(Refusal::Full),
            passer => Ok(passer),
        }
    }
}
