//! The standing of the authors of acts, by which turns are judged.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{Act, Height, PublicKey, SimId, Turn, limits::ROOT_LAG};

use super::{
    first_logins::{Basis, FirstLogins},
    land_keys::LandKeyChanges,
};
use crate::state::{FirstLogin, Parameters, Since, World};

/// The standing of an author in the sim, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Its key never logged in, or was forgotten.
    Stranger,
    /// It logged in at least once.
    Player,
    /// It was seen on as many days as the sim asks for.
    Regular,
    /// The sim needs it: an admin, one of the first in line to be one, a server or a standby.
    Steward,
}

/// The standing of every key in a sim, by its state after some turn.
pub trait Standings {
    /// Returns the sim.
    fn sim(&self) -> SimId;

    /// Returns since when this key is a player's, if it is one's.
    fn since(&self, key: &PublicKey) -> Option<Since>;

    /// Returns what first logins cost, and the bases of judging.
    fn first_logins(&self) -> &FirstLogins;

    /// Says whether a key holds land of this land office, or signs for it.
    fn names_land(&self, _key: &PublicKey) -> bool {
        false
    }

    /// Returns the last changes of the keys that do; none in a sim that is no land office.
    fn land_changes(&self) -> Option<&LandKeyChanges> {
        None
    }

    /// Says whether a key holds land, or signs for it, for a turn of this height: it follows from the same
    /// state as its standing.
    fn speaks_for_land(&self, key: &PublicKey, height: Height) -> bool {
        let by = Height(height.0.saturating_sub(ROOT_LAG));
        let did = self.land_changes().and_then(|changes| changes.did(key, by));
        did.unwrap_or_else(|| self.names_land(key))
    }

    /// Returns the standing of a key for a turn of this height. It follows from the state whose root
    /// the turn's header carries, so that all servers judge alike.
    fn standing(&self, key: &PublicKey, height: Height) -> Standing {
        let first_logins = self.first_logins();
        let basis = first_logins.newest_basis(height);
        if basis.stewards.contains(key) {
            return Standing::Steward;
        }
        let is_old = |since: &Since| since.player <= basis.height;
        let now = self.since(key).filter(is_old);
        match now.or_else(|| first_logins.forgotten_since(basis, key).filter(is_old)) {
            Some(since) if since.regular.is_some_and(|height| height <= basis.height) => {
                Standing::Regular
            }
            Some(_) => Standing::Player,
            None => Standing::Stranger,
        }
    }

    /// Returns the basis of judging a turn of this height.
    ///
    /// # Panics
    /// When the state is not one that such a turn may be judged by.
    fn basis(&self, height: Height) -> &Basis {
        let basis = self.first_logins().basis(height);
        basis.unwrap_or_else(|| panic!("turn {height} is judged by another state than this one"))
    }

    /// Returns whom a first login in a turn of this height lets in.
    fn first_login(&self, height: Height) -> FirstLogin {
        self.first_logins().newest_basis(height).first_login
    }
}

impl Standings for World {
    fn sim(&self) -> SimId {
        self.state.charter.sim
    }

    fn since(&self, key: &PublicKey) -> Option<Since> {
        self.state.players.get(key).map(|player| player.since)
    }

    fn first_logins(&self) -> &FirstLogins {
        &self.state.first_logins
    }

    fn names_land(&self, key: &PublicKey) -> bool {
        self.state.land.as_ref().is_some_and(|register| register.names(key))
    }

    fn land_changes(&self) -> Option<&LandKeyChanges> {
        self.land_week().map(|week| &week.changed)
    }
}

/// The part of a world that judging reads, kept beside it: the world itself is lent out while the next
/// turn is being applied to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Register {
    sim: SimId,
    players: BTreeMap<PublicKey, Since>,
    first_logins: FirstLogins,
    /// The keys that hold land of a land office, or sign for it, and what changed of them lately.
    land: Option<(BTreeSet<PublicKey>, LandKeyChanges)>,
}

impl Register {
    /// Returns that of a sim before its first turn, in which these are stewards.
    #[must_use]
    pub fn genesis(sim: SimId, parameters: &Parameters, stewards: BTreeSet<PublicKey>) -> Self {
        let first_logins = FirstLogins::genesis(sim, parameters, stewards);
        Self { sim, players: BTreeMap::new(), first_logins, land: None }
    }

    /// Returns that of a world. Looks at every player.
    #[must_use]
    pub fn of(world: &World) -> Self {
        let state = &world.state;
        Self {
            sim: state.charter.sim,
            players: state.players.iter().map(|(key, player)| (*key, player.since)).collect(),
            first_logins: state.first_logins.clone(),
            land: world.land_week().map(|week| {
                let keys = world
                    .grants()
                    .flat_map(|grant| grant.beacons.iter().copied().chain([grant.holder]));
                (keys.collect(), week.changed.clone())
            }),
        }
    }

    /// Follows a turn that led to this world. Nobody becomes a player or a regular but by a login or over a
    /// border, so a turn costs what it holds, however many players there are.
    pub fn renew(&mut self, turn: &Turn, world: &World) {
        self.first_logins.clone_from(&world.state.first_logins);
        let logins =
            turn.body.acts().iter().filter(|act| matches!(act.envelope.act, Act::Login { .. }));
        let forgotten = self.first_logins.newest_basis(Height(u64::MAX)).forgotten.iter();
        let logins = logins.map(|act| act.envelope.author);
        let arrived = world.state.arrived.iter().copied();
        let keys: Vec<PublicKey> =
            logins.chain(arrived).chain(forgotten.map(|(key, _)| *key)).collect();
        for key in keys {
            match world.since(&key) {
                Some(since) => self.players.insert(key, since),
                None => self.players.remove(&key),
            };
        }
        if let (Some((keys, changes)), Some(newest)) = (&mut self.land, world.land_changes()) {
            changes.clone_from(newest);
            for key in changes.keys() {
                if world.names_land(&key) {
                    keys.insert(key);
                } else {
                    keys.remove(&key);
                }
            }
        }
    }
}

impl Standings for Register {
    fn sim(&self) -> SimId {
        self.sim
    }

    fn since(&self, key: &PublicKey) -> Option<Since> {
        self.players.get(key).copied()
    }

    fn first_logins(&self) -> &FirstLogins {
        &self.first_logins
    }

    fn names_land(&self, key: &PublicKey) -> bool {
        self.land.as_ref().is_some_and(|(keys, _)| keys.contains(key))
    }

    fn land_changes(&self) -> Option<&LandKeyChanges> {
        self.land.as_ref().map(|(_, changes)| changes)
    }
}
