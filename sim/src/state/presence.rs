//! Presence: how a player who is logged in takes part in the sim.

use metatopia_types::{Millis, ObjectId, PublicKey, Refusal, SimId, Tick};
use serde::{Deserialize, Serialize};

use super::{players::PlayerSession, sim_state::State};

/// The presence of a player who is logged in. It is a lease, and no thing: when it ends, or when somebody
/// far away loses it, a login makes it anew.
///
/// Being without a seat is one of its cases, and not the lack of a presence, so that a match cannot pass
/// over it, and so that there is one way to write it down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Presence {
    /// Without an avatar: there is no seat, or somebody else got it. The player's next act takes a seat
    /// that is free.
    Seatless,
    /// With this avatar.
    Here(ObjectId),
    /// On the way from a neighbour, without an avatar before the border is crossed.
    Expected {
        /// The neighbour that the player comes from.
        from: SimId,
        /// The time of the turn after which nobody is expected any more.
        until: Millis,
    },
    /// Gone to a neighbour, where the avatar is now. Only a login makes one here.
    Away {
        /// The neighbour that the player went to.
        to: SimId,
        /// The number of the departure, among those to this neighbour.
        number: u64,
    },
}

impl Presence {
    /// Returns the avatar, which nobody has who is without a seat, expected, or away.
    #[must_use]
    pub const fn avatar(self) -> Option<ObjectId> {
        match self {
            Self::Here(avatar) => Some(avatar),
            Self::Seatless | Self::Expected { .. } | Self::Away { .. } => None,
        }
    }

    /// Returns the avatar of who is to do something with it.
    ///
    /// # Errors
    /// [`Refusal::UnderWay`] if a neighbour may have it, else [`Refusal::NoSeat`] if there is none.
    pub(crate) const fn avatar_here(self) -> Result<ObjectId, Refusal> {
        match self {
            Self::Here(avatar) => Ok(avatar),
            Self::Seatless | Self::Expected { .. } => Err(Refusal::NoSeat),
            Self::Away { .. } => Err(Refusal::UnderWay),
        }
    }
}

impl State {
    /// Returns the session of a player who is logged in.
    pub(super) fn session(&self, player: &PublicKey) -> &PlayerSession {
        let session = self.players.get(player).and_then(|player| player.session.as_ref());
        session.expect("a player who takes part is in a session")
    }

    /// Returns the players whose connection was lost for longer than the grace time: their avatars go, and
    /// their seats are free.
    pub(super) fn leases_over(&self, now: Tick) -> Vec<PublicKey> {
        let grace = self.charter.parameters.grace_ticks;
        let seated = self.present.keys();
        let all = seated.chain(self.census.seatless());
        all.filter(|player| self.session(player).lease.plus(grace) < now).copied().collect()
    }
}

#[cfg(test)]
mod tests;
