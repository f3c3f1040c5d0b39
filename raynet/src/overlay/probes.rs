//! Probes of the own cell: ways to points at which a neighbour that nobody told of would be missed, and a
//! newcomer's way to its own place.

use super::{
    Overlay,
    ways::{SeekWay, WayGoal},
};
use crate::{SignedSiteRecord, SiteName, pace};

impl Overlay {
    /// Shoots a ray at a corner of the own cell, where a neighbour that nobody told of would be missed
    /// first, and seeks that point from far away. Whoever is nearest there must be this member, or
    /// one of its neighbours.
    pub(super) fn probe(&mut self) {
        if self.own.is_none() {
            return;
        }
        let neighbours: Vec<[i64; 2]> = self
            .view
            .iter()
            .filter_map(|name| self.sites.get(*name))
            .map(|site| site.at.coordinates())
            .collect();
        let mut corners = self.cells.corners(self.at, &neighbours);
        let mut far: Vec<SiteName> = self.links.names().chain(self.sampler.names()).collect();
        if self.arrivals > 0 && self.sites.len() > 0 {
            // A newcomer knows sites that are far away: whoever is nearest to it knows its neighbours.
            self.arrivals -= 1;
            corners = vec![self.at];
            if far.is_empty() {
                far = self.sites.iter().map(|(name, _)| name).collect();
            }
        }
        if corners.is_empty() || far.is_empty() {
            return;
        }
        // One corner after the other: picked by dice, one of six is left out in ten probes every sixth time.
        self.probed = self.probed.wrapping_add(1);
        let point = corners[self.probed % corners.len()];
        let starts: Vec<SiteName> =
            (0..pace::WAYS).filter_map(|_| self.stream.pick(&far).copied()).collect();
        self.begin_way(WayGoal::Probe, point, &starts);
    }

    /// Handles the site at which a probe ended. If it is none of the neighbours, perhaps it should be.
    pub(super) fn probe_ended(&mut self, way: &SeekWay) {
        let Some((record, from)) = way.last.clone() else { return };
        if self.view.binary_search(&record.name()).is_ok() {
            return;
        }
        let mut wanted = Vec::new();
        if self.learn_record(SignedSiteRecord::clone(&record), from, &mut wanted) {
            self.want_shelves(from, wanted);
        }
    }
}
