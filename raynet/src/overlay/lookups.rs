//! Who owns a point: two ways that share no site, and the newest certified map of both.

use std::{collections::BTreeSet, sync::Arc};

use metatopia_types::PublicKey;

use super::{Overlay, ways::WayGoal};
use crate::{
    LookupAnswer, LookupOutcome, OverlayEffect, PlaneBlock, Shelf, SignedSiteRecord, SiteEndpoint,
    SiteName, TilePoint, limits, lookup::door, pace,
};

/// A lookup under way.
#[derive(Clone, Debug)]
pub(super) struct Lookup {
    point: TilePoint,
    /// Ways that are open, and all that were begun.
    open: usize,
    begun: usize,
    /// Sites on ways that ended.
    spent: BTreeSet<SiteName>,
    shelf: Option<Arc<Shelf>>,
    /// Records of owners, as they were told.
    owners: Vec<SignedSiteRecord>,
    hops: u32,
    /// Whether somebody else than this member showed the map.
    is_answered: bool,
    disagreements: u32,
}

impl Overlay {
    /// Begins a lookup.
    pub(super) fn look_up(&mut self, id: u64, point: TilePoint) {
        let is_full = self.lookups.len() >= limits::LOOKUPS_MAX || self.lookups.contains_key(&id);
        let lookup = Lookup {
            point,
            open: 0,
            begun: 0,
            spent: BTreeSet::new(),
            shelf: self
                .land
                .covering(point)
                .filter(|shelf| shelf.height >= self.config.map_from)
                .cloned(),
            owners: Vec::new(),
            hops: 0,
            is_answered: false,
            disagreements: 0,
        };
        if is_full {
            let answer = LookupAnswer::refused(id, point);
            self.out.push_back(OverlayEffect::Found(Box::new(answer)));
            return;
        }
        self.lookups.insert(id, lookup);
        self.begin_ways(id, pace::WAYS);
    }

    /// Begins up to so many more ways of a lookup, from the nearest sites that no way has asked. Ends
    /// the lookup when no way is open then.
    fn begin_ways(&mut self, id: u64, count: usize) {
        let Some(lookup) = self.lookups.get_mut(&id) else { return };
        let (point, room) = (lookup.point, limits::WAYS_MAX.saturating_sub(lookup.begun));
        lookup.open += 1;
        for _ in 0..count.min(room) {
            let starts = self.starts(id, point);
            let Some(lookup) = self.lookups.get_mut(&id) else { return };
            if starts.is_empty() {
                break;
            }
            lookup.open += 1;
            lookup.begun += 1;
            self.begin_way(WayGoal::Lookup(id), point, &starts);
        }
        self.close_way(id);
    }

    /// Returns where a way may start: the nearest sites with a role that are on no other way.
    fn starts(&self, id: u64, point: TilePoint) -> Vec<SiteName> {
        let met = self
            .members()
            .into_iter()
            .filter_map(|name| Some((self.sites.get(name)?.at.distance_squared(point), name)));
        let taken = |name: SiteName| {
            self.is_spent(id, name)
                || self
                    .ways
                    .values()
                    .any(|way| way.goal == WayGoal::Lookup(id) && way.has_asked(name))
        };
        let mut starts: Vec<(u128, SiteName)> = met.filter(|(_, name)| !taken(*name)).collect();
        starts.sort_unstable();
        starts.into_iter().take(limits::FRONTIER_MAX).map(|(_, name)| name).collect()
    }

    /// Says whether a site was on a way of this lookup that ended.
    pub(super) fn is_spent(&self, id: u64, name: SiteName) -> bool {
        self.lookups.get(&id).is_some_and(|lookup| lookup.spent.contains(&name))
    }

    /// Handles the map, or a record of the owner, that somebody on a way showed.
    pub(super) fn lookup_learns(&mut self, id: u64, proof: &[u8], owner: Option<SignedSiteRecord>) {
        let shelf = if proof.is_empty() { None } else { self.open(proof).ok() };
        if let Some(shelf) = &shelf {
            self.place(shelf);
        }
        let Some(lookup) = self.lookups.get_mut(&id) else { return };
        let shelf = shelf.filter(|shelf| {
            shelf.block.contains(lookup.point) && shelf.height >= self.config.map_from
        });
        if let Some(shelf) = shelf {
            lookup.is_answered = true;
            let says = |shelf: &Shelf| shelf.grant_at(lookup.point).map(|grant| grant.sim);
            if lookup.shelf.as_ref().is_some_and(|other| says(other) != says(&shelf)) {
                lookup.disagreements += 1;
            }
            if lookup.shelf.as_ref().is_none_or(|other| other.height < shelf.height) {
                lookup.shelf = Some(shelf);
            }
        }
        if let Some(owner) = owner.filter(|_| lookup.owners.len() < limits::WAYS_MAX) {
            lookup.owners.push(owner);
        }
    }

    pub(super) fn way_of_lookup_ended(&mut self, id: u64, hops: u32, asked: &[SiteName]) {
        let Some(lookup) = self.lookups.get_mut(&id) else { return };
        lookup.spent.extend(asked);
        if lookup.hops == 0 && lookup.is_answered {
            lookup.hops = hops;
        }
        self.close_way(id);
    }

    /// Closes a way. If it was the last one: begins others while nobody showed the map, or goes on to the
    /// owner, or answers.
    fn close_way(&mut self, id: u64) {
        let Some(lookup) = self.lookups.get_mut(&id) else { return };
        lookup.open = lookup.open.saturating_sub(1);
        if lookup.open > 0 {
            return;
        }
        let (point, begun, is_answered) = (lookup.point, lookup.begun, lookup.is_answered);
        if !is_answered && begun < limits::WAYS_MAX && !self.starts(id, point).is_empty() {
            self.begin_ways(id, pace::WAYS);
            return;
        }
        let Some(lookup) = self.lookups.get(&id) else { return };
        let grant = lookup.shelf.as_ref().and_then(|shelf| shelf.grant_at(point)).cloned();
        if let Some(grant) = grant {
            let name = SiteName::of(grant.sim);
            let middle = TilePoint::middle(grant.square);
            if let (true, Some(middle)) = (self.owner_records(id, name).is_empty(), middle) {
                let starts = self.starts_to_owner(middle);
                if let Some(lookup) = self.lookups.get_mut(&id) {
                    lookup.open = 1;
                }
                self.begin_way(WayGoal::Owner(id), middle, &starts);
                return;
            }
        }
        self.answer_lookup(id);
    }

    fn starts_to_owner(&self, middle: TilePoint) -> Vec<SiteName> {
        let met = self
            .members()
            .into_iter()
            .filter_map(|name| Some((self.sites.get(name)?.at.distance_squared(middle), name)));
        let mut starts: Vec<(u128, SiteName)> = met.collect();
        starts.sort_unstable();
        starts.into_iter().take(limits::FRONTIER_MAX).map(|(_, name)| name).collect()
    }

    pub(super) fn owner_way_ended(
        &mut self,
        id: u64,
        hops: u32,
        last: Option<(Arc<SignedSiteRecord>, PublicKey)>,
    ) {
        let Some(lookup) = self.lookups.get_mut(&id) else { return };
        lookup.hops = lookup.hops.saturating_add(hops);
        if let Some((record, _)) = last {
            lookup.owners.push(SignedSiteRecord::clone(&record));
        }
        self.answer_lookup(id);
    }

    /// Returns the good records of the owner of what a lookup asks for, the newest first: those that the ways
    /// told, and the one that is kept here.
    fn owner_records(&mut self, id: u64, name: SiteName) -> Vec<Arc<SignedSiteRecord>> {
        let Some(lookup) = self.lookups.get(&id) else { return Vec::new() };
        let granted = lookup.shelf.as_ref().and_then(|shelf| shelf.grant_at(lookup.point)).cloned();
        let told: Vec<SignedSiteRecord> =
            lookup.owners.iter().filter(|record| record.name() == name).cloned().collect();
        let mut good: Vec<Arc<SignedSiteRecord>> = self.record_of(name).into_iter().collect();
        for record in told {
            if good.iter().any(|other| other.record.epoch == record.record.epoch) {
                continue;
            }
            self.counts.signatures += 1;
            let is_good = record.check_form(self.config.world, self.now.wall).is_ok()
                && record.check_grant(granted.as_ref(), &*self.config.scheme).is_ok();
            if is_good {
                good.push(Arc::new(record));
            } else {
                self.counts.refused += 1;
            }
        }
        good.sort_by_key(|record| core::cmp::Reverse(record.record.epoch));
        good
    }

    fn answer_lookup(&mut self, id: u64) {
        let Some(lookup) = self.lookups.get(&id) else { return };
        let (point, shelf) = (lookup.point, lookup.shelf.clone());
        let grant = shelf.as_ref().and_then(|shelf| shelf.grant_at(point)).cloned();
        let mut endpoints: Vec<SiteEndpoint> = Vec::new();
        if let Some(grant) = &grant {
            let name = SiteName::of(grant.sim);
            let good = self.owner_records(id, name);
            for endpoint in good.iter().flat_map(|record| &record.record.endpoints) {
                if endpoints.len() < limits::LOOKUP_ENDPOINTS_MAX && !endpoints.contains(endpoint) {
                    endpoints.push(endpoint.clone());
                }
            }
        }
        if let Some(shelf) = &shelf {
            self.note_look_up(shelf.block);
        }
        let Some(lookup) = self.lookups.remove(&id) else { return };
        let outcome = match (&shelf, grant) {
            (Some(_), Some(grant)) => LookupOutcome::Owned { grant: Box::new(grant), endpoints },
            (Some(_), None) => LookupOutcome::Nobodys,
            (None, _) => {
                self.want_from_host(point);
                LookupOutcome::Unproved
            }
        };
        let answer = LookupAnswer {
            id,
            point,
            outcome,
            shelf,
            hops: lookup.hops,
            ways: lookup.begun as u32,
            is_answered: lookup.is_answered,
            disagreements: lookup.disagreements,
            one_door: self.has_one_door(),
        };
        self.out.push_back(OverlayEffect::Found(Box::new(answer)));
    }

    /// Notes that a lookup was about a block: its shelf stays for a while.
    fn note_look_up(&mut self, block: PlaneBlock) {
        self.looked_up.insert(block, self.now.monotonic);
        if self.looked_up.len() > pace::SHELVES_LATELY {
            let oldest = self.looked_up.iter().min_by_key(|(_, when)| **when);
            let oldest = oldest.map(|(block, _)| *block);
            oldest.map(|oldest| self.looked_up.remove(&oldest));
        }
    }

    /// Says whether all sites that this member speaks with are behind one door.
    #[must_use]
    pub fn has_one_door(&self) -> bool {
        let met = self.sites.iter().filter(|(_, site)| site.is_met);
        let doors: BTreeSet<String> = met
            .filter_map(|(_, site)| site.speaker())
            .map(|speaker| door(&speaker.address))
            .collect();
        doors.len() < 2
    }

    /// Asks the host for the map about a point, once in a cycle. Returns whether it was asked in this one.
    pub(super) fn want_from_host(&mut self, point: TilePoint) -> bool {
        if self.wanted.len() < pace::SHELVES_NEAR && self.wanted.insert(point) {
            self.out.push_back(OverlayEffect::ShelfWanted(point));
        }
        self.wanted.contains(&point)
    }
}
