//! The map about the own square: it is learned also where nobody's record needs it, so that this member shows the
//! land around it when the sims there are down.

use std::time::Duration;

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
    /// Asks for one more shelf of the map about the own square, slowly: first the neighbour that is nearest to the
    /// gap. Where that one has none, or there is nobody, somebody else and the host, and seldom.
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
            asked = self.stream.pick(&members).copied();
        }
        let site = asked.and_then(|name| self.sites.get(name));
        if let Some(peer) = site.and_then(KnownSite::speaker).map(|speaker| speaker.peer) {
            self.want_shelves(peer, vec![gap]);
        }
    }

    fn nearest_in_view(&self, point: TilePoint) -> Option<SiteName> {
        let sites = self.view.iter().filter_map(|name| Some((self.sites.get(*name)?.at, *name)));
        sites.min_by_key(|(at, name)| (at.distance_squared(point), *name)).map(|(_, name)| name)
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
