//! Who is what here: Voronoi neighbours, long links, samples; and who is being met.

use super::Overlay;
use crate::{
    CellEstimator, GossipLayer, SiteName, SiteTip, TilePoint, limits, pace, sites::KnownSite,
};

/// Sites that are greeted at once because they should be in the view. One more may become a long link
/// or a sample.
const GREETED_AT_ONCE: usize = 6;

impl Overlay {
    /// Gives a site that was spoken with the places among samples and long links that it may have.
    pub(super) fn give_roles(&mut self, name: SiteName) {
        let Some(site) = self.sites.get(name) else { return };
        let octave = self.at.octave(site.at);
        self.sampler.offer(name);
        self.links.offer(octave, name);
    }

    /// Says whether a site is a neighbour, a long link or a sample.
    pub(super) fn has_role(&self, name: SiteName) -> bool {
        self.view.binary_search(&name).is_ok() || self.links.holds(name) || self.sampler.holds(name)
    }

    /// Returns the names of all sites with a role, ascending.
    pub(super) fn members(&self) -> Vec<SiteName> {
        let far = self.links.names().chain(self.sampler.names());
        let mut members: Vec<SiteName> = self.view.iter().copied().chain(far).collect();
        members.sort_unstable();
        members.dedup();
        members
    }

    /// Says whether a site may get into the view, or is in it.
    fn is_contender(&self, name: SiteName, site: &KnownSite) -> bool {
        site.is_checked && (!site.is_met || self.view.binary_search(&name).is_ok())
    }

    /// Returns the names of the tips that would get a role here.
    pub(super) fn useful(&mut self, tips: &[(SiteTip, TilePoint)]) -> Vec<SiteName> {
        if tips.is_empty() {
            return Vec::new();
        }
        let known = self.sites.iter().filter(|(name, site)| {
            self.is_contender(*name, site) && tips.iter().all(|(tip, _)| tip.name != *name)
        });
        let mut places: Vec<[i64; 2]> = known.map(|(_, site)| site.at.coordinates()).collect();
        let count = places.len();
        places.extend(tips.iter().map(|(_, at)| at.coordinates()));
        let near = self.choose(&places);
        let useful = tips.iter().enumerate().filter(|(index, (tip, at))| {
            near.binary_search(&(count + index)).is_ok()
                || self.sites.get(tip.name).is_some()
                || self.may_link(tip.name, *at)
        });
        useful.map(|(_, (tip, _))| tip.name).collect()
    }

    /// Says whether a site could become a long link or a sample.
    pub(super) fn may_link(&self, name: SiteName, at: TilePoint) -> bool {
        self.sampler.wants(name) || self.links.has_room(self.at.octave(at))
    }

    fn choose(&mut self, places: &[[i64; 2]]) -> Vec<usize> {
        self.counts.choices += 1;
        // Whoever has no site has no cell, only a vantage point; the same rule finds who is around.
        self.cells.choose(self.at.coordinates(), places, pace::VIEW_SOFT, limits::VIEW_HARD)
    }

    /// Chooses the view anew, among those that this member spoke with.
    pub(super) fn refresh(&mut self) {
        if !core::mem::take(&mut self.is_stale) {
            return;
        }
        let met = self.sites.iter().filter(|(_, site)| site.is_admitted());
        let (names, places): (Vec<SiteName>, Vec<[i64; 2]>) =
            met.map(|(name, site)| (name, site.at.coordinates())).unzip();
        let view: Vec<SiteName> =
            self.choose(&places).into_iter().map(|index| names[index]).collect();
        if view != self.view {
            self.view = view;
            self.heat();
        }
    }

    /// Greets some of those who should be in the view, or could be long links or samples, and were not
    /// spoken with.
    pub(super) fn greet(&mut self) {
        let is_strange =
            |site: &KnownSite| site.is_checked && !site.is_met && site.pending.is_none();
        if !self.sites.iter().any(|(_, site)| is_strange(site)) {
            return;
        }
        let contenders = self.sites.iter().filter(|(name, site)| self.is_contender(*name, site));
        let contenders: Vec<(SiteName, TilePoint, bool)> =
            contenders.map(|(name, site)| (name, site.at, is_strange(site))).collect();
        let places: Vec<[i64; 2]> = contenders.iter().map(|(_, at, _)| at.coordinates()).collect();
        let wished = self.choose(&places).into_iter().map(|index| contenders[index]);
        let wished = wished
            .filter(|(_, _, is_strange)| *is_strange)
            .map(|(name, at, _)| (at.distance_squared(self.at), name));
        let mut wished: Vec<(u128, SiteName)> = wished.collect();
        wished.sort_unstable();
        wished.truncate(GREETED_AT_ONCE);
        let strange = contenders.iter().filter(|(_, _, is_strange)| *is_strange);
        let may_link = strange.filter(|(name, at, _)| self.may_link(*name, *at));
        let other = may_link
            .map(|(name, _, _)| *name)
            .find(|name| wished.iter().all(|(_, wished)| wished != name));
        let greeted: Vec<SiteName> =
            wished.into_iter().map(|(_, name)| name).chain(other).collect();
        for name in greeted {
            self.begin_exchange(name, GossipLayer::Neighbours);
        }
    }

    /// Forgets a site, without a tombstone.
    pub(super) fn forget(&mut self, name: SiteName) {
        self.sites.remove(name);
        self.drop_roles(name);
    }

    pub(super) fn drop_roles(&mut self, name: SiteName) {
        self.links.remove(name);
        self.sampler.remove(name);
        if let Ok(place) = self.view.binary_search(&name) {
            self.view.remove(place);
            self.heat();
        }
        self.is_stale = true;
    }
}
