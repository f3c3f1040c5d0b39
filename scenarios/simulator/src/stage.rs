//! What a world can be asked at either level once an oracle watches it, and where it is played.

use std::time::Duration;

use metatopia_oracle::{Law, Oracle};
use metatopia_types::Height;

use crate::cluster::{Cluster, ClusterOrder};
use crate::setting::ClusterSetting;
use crate::world::Simulator;

/// A cluster that an oracle watches.
pub trait WatchedCluster: Cluster {
    /// Returns who holds the servers to the laws of all sims.
    fn laws(&self) -> &Oracle;

    /// Returns the same, to show it something or to blame a server.
    fn laws_mut(&mut self) -> &mut Oracle;

    /// Returns the last height that a server has: decided, or also applied if it applies turns.
    fn height(server: &Self::Server) -> Height;
}

impl<C: WatchedCluster> Simulator<C> {
    /// Returns the last height that each server has, where one runs.
    #[must_use]
    pub fn heights(&self) -> Vec<Option<u64>> {
        (0..self.seats()).map(|seat| self.server(seat).map(|server| C::height(server).0)).collect()
    }

    /// Returns the last height that any server has, if one runs.
    #[must_use]
    pub fn furthest(&self) -> Option<u64> {
        let servers = (0..self.seats()).filter_map(|seat| self.server(seat));
        servers.map(|server| C::height(server).0).max()
    }

    /// Returns the same; 0 while none runs.
    #[must_use]
    pub fn top(&self) -> u64 {
        self.furthest().unwrap_or(0)
    }

    /// Returns whether no law was broken.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.cluster.laws().faults().is_empty()
    }

    /// Returns the seats whose servers are held to the rules.
    pub fn honest(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.seats()).filter(|seat| self.cluster.laws().is_honest(*seat))
    }

    /// Notes that a law was broken, by the server in a seat or by nobody in particular.
    pub fn blame(&mut self, seat: Option<usize>, law: Law, what: impl Into<String>) {
        self.cluster.laws_mut().blame(seat, law, || what.into());
    }
}

/// Where a world is played, with whoever acts there beside its servers.
pub(crate) trait ClusterStage {
    /// The servers of the world.
    type Cluster: WatchedCluster;
    /// What their sim has at this level only.
    type Own;

    /// Returns the world that is played.
    fn world(&self) -> &Simulator<Self::Cluster>;

    /// Returns the same, to be changed.
    fn world_mut(&mut self) -> &mut Simulator<Self::Cluster>;

    /// Returns what the servers have in common.
    fn shared(&self) -> &ClusterSetting<Self::Own>;

    /// Plays until a moment, or until a law is broken if that is to end it.
    fn play_until(&mut self, until: Duration);

    /// Returns how far the servers are that tell the truth.
    fn reached(&self) -> u64;

    /// Starts a second server from what would be left of a disk if the power failed now, lets it apply
    /// all it has decided, and blames it if it comes to something else than the others.
    fn check_disk(&mut self, seat: usize);

    /// Switches a server off, lets somebody get at its disk, and switches it on again.
    fn while_off<R>(&mut self, seat: usize, meddle: impl FnOnce(&mut Self) -> R) -> R {
        let now = self.world().now();
        self.world_mut().plan(now, ClusterOrder::Kill(seat));
        self.play_until(now);
        let done = meddle(self);
        self.world_mut().plan(now, ClusterOrder::Start(seat));
        self.play_until(now);
        done
    }
}
