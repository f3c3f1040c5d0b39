//! What is done once a cycle: what is over ends, and everything stays within its bounds.

use std::collections::BTreeSet;

use metatopia_types::PublicKey;

use super::Overlay;
use crate::{TilePoint, limits, pace, sites::KnownSite};

impl Overlay {
    /// Ends what is over, and keeps everything within its bounds. It runs once a cycle.
    pub(super) fn keep_house(&mut self) {
        let (now, wall) = (self.now.monotonic, self.now.wall);
        self.peers.forgive();
        self.sites.forgive();
        self.sites.forget_tombstones(now);
        self.wanted.clear();
        self.forgive_doubts();
        self.strangers = 0;
        if self.own.as_ref().is_some_and(|own| own.record.expires <= wall) {
            self.own = None;
        }
        let overdue = |site: &KnownSite| site.pending.is_some_and(|until| until <= now);
        let old = now.saturating_sub(self.config.cycle * pace::HOT_CYCLES);
        let (mut missed, mut over) = (Vec::new(), Vec::new());
        for (name, site) in self.sites.iter() {
            let is_idle = site.pending.is_none() && site.learned <= old && !self.has_role(name);
            if site.record.record.expires <= wall || is_idle {
                over.push(name);
            } else if overdue(site) {
                missed.push(name);
            }
        }
        for name in over {
            self.forget(name);
        }
        for name in missed {
            self.missed(name);
        }
        self.hold_neighbours();
        self.hold_shelves();
        self.learn_near_map();
        self.prune_shelves();
        self.pull_evidence();
    }

    /// Asks a neighbour and the host for the map of the own cell, where it is missing: whoever seeks a
    /// point of the cell ends here, and wants to see that it is nobody's.
    fn hold_shelves(&mut self) {
        let sites = self.view.iter().filter_map(|name| self.sites.get(*name));
        let places: Vec<[i64; 2]> = sites.map(|site| site.at.coordinates()).collect();
        let corners = self.cells.corners(self.at, &places);
        let middle = |one: TilePoint, other: TilePoint| TilePoint {
            x: one.x.midpoint(other.x),
            y: one.y.midpoint(other.y),
        };
        let mut points = Vec::new();
        for (index, corner) in corners.iter().enumerate() {
            let next = corners[(index + 1) % corners.len()];
            points.extend([*corner, middle(*corner, next), middle(*corner, self.at)]);
        }
        points.retain(|point| self.land.covering(*point).is_none());
        points.sort_unstable();
        points.dedup();
        if let Some(point) = points.first() {
            self.want_from_host(*point);
        }
        let speakers = self.view.iter().filter_map(|name| self.connected_speaker(*name));
        let speakers: Vec<PublicKey> = speakers.collect();
        if let Some(peer) = self.stream.pick(&speakers).copied() {
            self.want_shelves(peer, points);
        }
    }

    /// Keeps the shelves that sites need, then those of lookups of late, then the nearest, if there are too many.
    fn prune_shelves(&mut self) {
        if self.land.len() <= limits::SHELVES_KEPT_MAX {
            return;
        }
        let at = self.at;
        let places = [at].into_iter().chain(self.sites.iter().map(|(_, site)| site.at));
        let needed = places.filter_map(|at| self.land.covering(at)).map(|shelf| shelf.block);
        let near = self.land.shelves().map(|shelf| (shelf.nearest(at), shelf.block));
        let mut near: Vec<_> =
            near.map(|(point, block)| (at.distance_squared(point), block)).collect();
        near.sort_unstable();
        let near = near.into_iter().map(|(_, block)| block);
        let lately = self.looked_up.keys().copied();
        let mut kept = BTreeSet::new();
        for block in needed.chain(lately).chain(near.take(pace::SHELVES_NEAR)) {
            if kept.len() < limits::SHELVES_KEPT_MAX {
                kept.insert(block);
            }
        }
        self.land.retain(|shelf| kept.contains(&shelf.block));
    }
}
