//! What the authors of acts are to the sim: strangers, players, or those without whom it stops.

use std::collections::BTreeSet;

use metatopia_sim::World;
use metatopia_types::{Act, PublicKey, Turn};

/// What an author is to the sim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its key never logged in, which costs nothing.
    Stranger,
    /// It logged in at least once, which costs little.
    Player,
    /// A server, a standby or an admin.
    Steward,
}

/// Who is no stranger, as of the last turn that was applied. It is kept beside the world, which is
/// away while the next one is being applied to it.
#[derive(Debug)]
pub(crate) struct Register {
    players: BTreeSet<PublicKey>,
    stewards: BTreeSet<PublicKey>,
}

impl Register {
    /// Of this state. Looks at every player there ever was.
    pub(crate) fn of(world: &World) -> Self {
        let players = world.players().map(|(key, _)| *key).collect();
        Self { players, stewards: stewards(world) }
    }

    /// This turn led to this state. Nobody becomes a player but by a login, and nobody ceases to be
    /// one, so that a turn costs what it holds, however many there are.
    pub(crate) fn renew(&mut self, turn: &Turn, world: &World) {
        let logins =
            turn.body.acts().iter().filter(|act| matches!(act.envelope.act, Act::Login { .. }));
        let authors = logins.map(|act| act.envelope.author);
        self.players.extend(authors.filter(|author| world.player(author).is_some()));
        self.stewards = stewards(world);
    }

    pub(crate) fn standing(&self, key: &PublicKey) -> Standing {
        if self.stewards.contains(key) {
            Standing::Steward
        } else if self.players.contains(key) {
            Standing::Player
        } else {
            Standing::Stranger
        }
    }
}

/// At most 112: 64 admins and one for the time being, 31 servers, 16 standbys.
fn stewards(world: &World) -> BTreeSet<PublicKey> {
    let (governance, roster) = (world.governance(), world.roster());
    let admins = governance.admins.iter().chain(&governance.temp_admin);
    let servers = roster.members().keys().chain(roster.standbys().keys());
    admins.chain(servers).copied().collect()
}
