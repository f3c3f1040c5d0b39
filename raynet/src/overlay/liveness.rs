//! Who is alive: what is done when a site does not answer, or its connection breaks, until it counts as gone.

use metatopia_types::PublicKey;

use super::Overlay;
use crate::{GossipLayer, SiteName, TilePoint, limits, pace, sites::KnownSite};

impl Overlay {
    /// Connects to neighbours that closed the connection: without one, nobody would tell that they
    /// are gone.
    pub(super) fn hold_neighbours(&mut self) {
        for name in self.view.clone() {
            let site = self.sites.get(name).filter(|site| site.pending.is_none());
            let speaker = site.and_then(KnownSite::speaker).map(|speaker| speaker.peer);
            if speaker.is_some_and(|peer| !self.peers.is_up(peer)) {
                self.begin_exchange(name, GossipLayer::Neighbours);
            }
        }
    }

    /// Notes that a site did not answer in time.
    pub(super) fn missed(&mut self, name: SiteName) {
        let Some(site) = self.sites.get_mut(name) else { return };
        site.misses = site.misses.saturating_add(1);
        site.pending = None;
        if site.misses >= limits::MISSES_MAX {
            self.try_next_endpoint(name);
        } else {
            self.begin_exchange(name, GossipLayer::Neighbours);
        }
    }

    /// A connection broke, or could not be made.
    pub(super) fn lost(&mut self, peer: PublicKey, may_return: bool) {
        self.peers.remove(peer);
        for name in self.sites.of(peer) {
            let gap = self.sites.get(name).filter(|_| self.view.binary_search(&name).is_ok());
            let gap = gap.map(|site| site.at);
            let Some(site) = self.sites.get_mut(name) else { continue };
            if site.speaker().is_none_or(|speaker| speaker.peer != peer) {
                continue;
            }
            site.misses = site.misses.saturating_add(1);
            site.pending = None;
            if may_return && site.misses < limits::MISSES_MAX {
                // Perhaps only the connection is gone: the site is in the view again once it answers.
                // Whoever does not let us in again is gone too.
                site.is_met = false;
                self.drop_roles(name);
                self.begin_exchange(name, GossipLayer::Neighbours);
            } else {
                self.try_next_endpoint(name);
            }
            if let Some(gap) = gap {
                self.mend(gap);
            }
        }
        self.ways_lost(peer);
    }

    /// Closes the gap that a neighbour left: those around it border on each other now. Speaks with the
    /// nearest of them that are known, who know the others.
    fn mend(&mut self, gap: TilePoint) {
        let view = self.view.iter().filter_map(|name| Some((self.sites.get(*name)?, *name)));
        let mut around: Vec<(u128, SiteName)> =
            view.map(|(site, name)| (site.at.distance_squared(gap), name)).collect();
        around.sort_unstable();
        for (_, name) in around.into_iter().take(pace::MENDERS) {
            self.begin_exchange(name, GossipLayer::Neighbours);
        }
    }

    /// Goes on with the next server of a site; the site is gone if that was the last one.
    fn try_next_endpoint(&mut self, name: SiteName) {
        let Some(site) = self.sites.get_mut(name) else { return };
        site.endpoint += 1;
        (site.is_met, site.misses) = (false, 0);
        if site.speaker().is_none() {
            self.bury(name);
            return;
        }
        self.drop_roles(name);
        self.begin_exchange(name, GossipLayer::Neighbours);
    }

    /// Takes a site for gone.
    fn bury(&mut self, name: SiteName) {
        let until = self.cycles(pace::TOMBSTONE_CYCLES);
        if self.sites.bury(name, until).is_some() {
            self.counts.buried += 1;
        }
        self.drop_roles(name);
    }
}
