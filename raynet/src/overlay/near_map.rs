//! The map about the own square: it is learned also where nobody's record needs it, so that this member shows the
//! land around it when the sims there are down.

use std::time::Duration;

use metatopia_types::PublicKey;

use super::Overlay;
use crate::{SiteName, TilePoint, pace, sites::KnownSite};

/// What was asked for of the map about the own square.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NearMap {
    /// When it is looked at again.
    due: Duration,
    /// The point about which a shelf was asked for last, and until when not again.
    asked: Option<TilePoint>,
    again: Duration,
}

impl Overlay {
    /// Asks for one more shelf of the map about the own square, slowly. The neighbour that is nearest to the gap is
    /// asked first. If it has no such shelf, or there is no neighbour, another member and the host are asked, and
    /// that seldom. Only connected members are asked: a question to another one would never leave.
    pub(super) fn learn_near_map(&mut self) {
        let now = self.now.monotonic;
        if now < self.near.due {
            return;
        }
        let gap = self.near_gap();
        self.near.due = self.cycles(match gap {
            Some(_) if now < self.timers.warm_until => 1,
            Some(_) => pace::NEAR_SHELF_CYCLES,
            None => pace::NEAR_AGAIN_CYCLES,
        });
        let is_again = self.near.asked == gap;
        let Some(gap) = gap.filter(|_| !is_again || now >= self.near.again) else { return };
        self.near.asked = Some(gap);
        self.near.again = if is_again { self.cycles(pace::NEAR_AGAIN_CYCLES) } else { now };
        let mut asked = if is_again { None } else { self.nearest_in_view(gap) };
        if asked.is_none() {
            self.want_from_host(gap);
            let members = self.members();
            let peers = members.into_iter().filter_map(|name| self.connected_speaker(name));
            let peers: Vec<PublicKey> = peers.collect();
            asked = self.stream.pick(&peers).copied();
        }
        if let Some(peer) = asked {
            self.want_shelves(peer, vec![gap]);
        }
    }

    /// Returns the server of a site that is spoken with, if it is connected.
    pub(super) fn connected_speaker(&self, name: SiteName) -> Option<PublicKey> {
        let peer = self.sites.get(name).and_then(KnownSite::speaker)?.peer;
        self.peers.is_up(peer).then_some(peer)
    }

    fn nearest_in_view(&self, point: TilePoint) -> Option<PublicKey> {
        let sites = self.view.iter().filter_map(|name| {
            let peer = self.connected_speaker(*name)?;
            Some((self.sites.get(*name)?.at.distance_squared(point), *name, peer))
        });
        sites.min().map(|(_, _, peer)| peer)
    }

    /// Returns the nearest point of which the map is missing, unless that of the nearest squares is there.
    fn near_gap(&self) -> Option<TilePoint> {
        let gap = self.land.nearest_gap(self.at)?;
        let within = self.at.distance_squared(gap);
        let is_nearer = |point: TilePoint| self.at.distance_squared(point) <= within;
        let shelves = || self.land.shelves().filter(|shelf| is_nearer(shelf.nearest(self.at)));
        let grants = shelves().flat_map(|shelf| &shelf.grants);
        let squares = grants.filter(|grant| is_nearer(TilePoint::corner(grant.square))).count();
        (squares < pace::SQUARES_NEAR && shelves().count() < pace::SHELVES_NEAR).then_some(gap)
    }
}
