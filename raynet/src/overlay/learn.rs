//! What is believed: records against certified shelves, shelves, and evidence.

use std::{collections::BTreeSet, sync::Arc};

use metatopia_types::PublicKey;

use super::Overlay;
use crate::{
    OverlayEffect, OverlayEvidence, OverlayMessage, Shelf, ShelfError, ShelfPlaced,
    SignedSiteRecord, SiteName, TilePoint, limits, sites::KnownSite,
};

impl Overlay {
    /// Takes a record in. One that no shelf speaks for is kept as a hint, and the point of the shelf
    /// is added to `wanted`, once for each sender. Returns whether the record is of use.
    pub(super) fn learn_record(
        &mut self,
        record: SignedSiteRecord,
        from: PublicKey,
        wanted: &mut Vec<TilePoint>,
    ) -> bool {
        let (name, epoch) = (record.name(), record.record.epoch);
        let is_formed = record.check_form(self.config.world, self.now.wall);
        let (Some(at), Ok(())) = (record.middle(), is_formed) else {
            self.counts.refused += 1;
            return false;
        };
        if self.own_name() == Some(name) || self.sites.is_gone(name, epoch) {
            self.compare_with_own(&record, at);
            return false;
        }
        if let Some(known) = self.sites.get(name) {
            let is_same = *known.record == record;
            let is_older = epoch < known.record.record.epoch;
            if known.is_checked && (is_same || is_older) {
                return is_same;
            }
            if known.is_checked && epoch == known.record.record.epoch {
                let kept = Arc::clone(&known.record);
                self.doubled(kept, record, at);
                return false;
            }
        }
        let Some(shelf) = self.land.covering(at).cloned() else {
            self.keep_hint(name, record, at, from, wanted);
            self.arrive();
            return true;
        };
        if !self.is_granted(&record, &shelf, at) {
            self.doubt_map(&record, &shelf, at, from, wanted);
            return false;
        }
        self.keep_record(name, record, at);
        self.arrive();
        true
    }

    /// Checks a record against a shelf.
    pub(super) fn is_granted(
        &mut self,
        record: &SignedSiteRecord,
        shelf: &Shelf,
        at: TilePoint,
    ) -> bool {
        self.counts.signatures += 1;
        let checked = record.check_grant(shelf.grant_at(at), &*self.config.scheme);
        if checked.is_err() {
            self.counts.refused += 1;
        }
        checked.is_ok()
    }

    fn keep_record(&mut self, name: SiteName, record: SignedSiteRecord, at: TilePoint) {
        let now = self.now.monotonic;
        let before = self.sites.get(name).cloned();
        let mut site = KnownSite::new(self.config.land.share(record), at, now);
        site.is_checked = true;
        if let Some(before) = before {
            let speaker = before.speaker().map(|speaker| speaker.peer);
            let endpoints = &site.record.record.endpoints;
            let place = endpoints.iter().position(|endpoint| Some(endpoint.peer) == speaker);
            site.endpoint = place.unwrap_or(0);
            site.is_met = before.is_met && place.is_some();
            (site.heard, site.told, site.learned) = (before.heard, before.told, before.learned);
            if site.at != before.at {
                self.links.remove(name);
            }
        }
        let is_met = site.is_met;
        if self.sites.insert(name, site) {
            self.believed(name, is_met);
        }
    }

    /// Keeps a record that cannot be checked yet, if nothing better is known of the site. Anybody can make one
    /// that names another square, so what was checked stays until the shelf is there.
    fn keep_hint(
        &mut self,
        name: SiteName,
        record: SignedSiteRecord,
        at: TilePoint,
        from: PublicKey,
        wanted: &mut Vec<TilePoint>,
    ) {
        let now = self.now.monotonic;
        let is_better = |known: &KnownSite| {
            !known.is_checked && known.record.record.epoch < record.record.epoch
        };
        if self.sites.get(name).is_none_or(is_better) {
            let mut hint = KnownSite::new(self.config.land.share(record), at, now);
            hint.is_met = self.sites.get(name).is_some_and(|known| known.is_met);
            self.sites.insert(name, hint);
        }
        let Some(hint) = self.sites.get_mut(name) else { return };
        if hint.asked.len() < limits::HINT_SENDERS_MAX && hint.asked.insert(from) {
            wanted.push(at);
        }
    }

    /// Notes that a site spoke itself, by one of its servers.
    pub(super) fn meet(&mut self, from: PublicKey, name: SiteName) {
        let Some(site) = self.sites.get_mut(name) else { return };
        let endpoints = &site.record.record.endpoints;
        let Some(place) = endpoints.iter().position(|endpoint| endpoint.peer == from) else {
            return;
        };
        let is_news = !site.is_met;
        (site.is_met, site.endpoint) = (true, place);
        (site.heard, site.pending, site.misses) = (self.now.monotonic, None, 0);
        if site.is_checked && is_news {
            self.is_stale = true;
            self.give_roles(name);
        }
    }

    /// Opens a proof and keeps its shelf. Records are held against it anew: those of a beacon that is
    /// none any more end here.
    pub(super) fn learn_shelf(&mut self, proof: &[u8]) {
        let Ok(shelf) = self.open(proof) else {
            self.counts.refused += 1;
            return;
        };
        self.place(&shelf);
    }

    /// Opens a proof.
    pub(super) fn open(&mut self, proof: &[u8]) -> Result<Arc<Shelf>, ShelfError> {
        if proof.len() > limits::SHELF_PROOF_BYTES_MAX {
            return Err(ShelfError::Oversize(proof.len()));
        }
        self.counts.shelves += 1;
        let shelf = self.config.land.open(proof)?;
        shelf.check(self.config.world)?;
        Ok(shelf)
    }

    pub(super) fn place(&mut self, shelf: &Arc<Shelf>) {
        match self.land.place(shelf) {
            ShelfPlaced::Known => {}
            ShelfPlaced::Differs(kept) => {
                let (first, second) = (kept.proof.clone(), shelf.proof.clone());
                self.learn_evidence(OverlayEvidence::Shelves { first, second }, None);
            }
            ShelfPlaced::Taken => {
                let land = &self.land;
                // A newer shelf may be about some of the ground: that one speaks for it.
                let speaks = |at: TilePoint| {
                    shelf.block.contains(at)
                        && land.covering(at).is_some_and(|newest| newest.block == shelf.block)
                };
                self.wanted.retain(|point| !speaks(*point));
                let about = self.sites.iter().filter(|(_, site)| speaks(site.at));
                let about: Vec<SiteName> = about.map(|(name, _)| name).collect();
                for name in about {
                    self.check_again(name, shelf);
                }
            }
        }
    }

    fn check_again(&mut self, name: SiteName, shelf: &Arc<Shelf>) {
        let Some(site) = self.sites.get(name) else { return };
        let (record, at, was_checked) = (Arc::clone(&site.record), site.at, site.is_checked);
        if !self.is_granted(&record, shelf, at) {
            self.forget(name);
            return;
        }
        let Some(site) = self.sites.get_mut(name) else { return };
        site.is_checked = true;
        site.asked.clear();
        let is_met = site.is_met;
        if !was_checked {
            self.believed(name, is_met);
        }
    }

    /// Gives a site whose record is good its roles, or has it greeted soon.
    fn believed(&mut self, name: SiteName, is_met: bool) {
        if is_met {
            self.is_stale = true;
            self.give_roles(name);
        } else {
            self.hasten();
        }
    }

    /// Compares a record of the own sim that came from others with the own one: another record for the same
    /// epoch is evidence.
    fn compare_with_own(&mut self, record: &SignedSiteRecord, at: TilePoint) {
        let Some(own) = self.own.clone().filter(|own| own.name() == record.name()) else { return };
        if own.record.epoch == record.record.epoch && own.record != record.record {
            self.doubled(own, record.clone(), at);
        }
    }

    /// Two records of one site and epoch: evidence, if the second one is genuine too.
    fn doubled(&mut self, kept: Arc<SignedSiteRecord>, other: SignedSiteRecord, at: TilePoint) {
        if kept.record == other.record {
            return;
        }
        let Some(shelf) = self.land.covering(at).cloned() else { return };
        let (first, second) = (Box::new(SignedSiteRecord::clone(&kept)), Box::new(other));
        let shelf = shelf.proof.clone();
        self.learn_evidence(OverlayEvidence::Records { first, second, shelf }, None);
    }

    /// Keeps evidence that is news and holds, and tells it to all neighbours and long links, unless it came
    /// from the member that it was asked of: then others were told before.
    pub(super) fn learn_evidence(&mut self, evidence: OverlayEvidence, from: Option<PublicKey>) {
        // To check it costs two proofs, so first what it says of itself.
        let Some(about) = evidence.about(&*self.config.land) else {
            self.counts.refused += 1;
            return;
        };
        let convicted = evidence.convicted();
        let is_convicted =
            convicted.is_some_and(|(name, grant)| self.sites.is_convicted(name, grant));
        if is_convicted || !self.evidence.is_news(about) {
            return;
        }
        let (land, scheme) = (&*self.config.land, &*self.config.scheme);
        let checked = evidence.check(self.config.world, land, scheme);
        if checked.is_err() {
            self.counts.refused += 1;
            return;
        }
        self.evidence.insert(about, evidence.clone());
        self.out.push_back(OverlayEffect::Evidence(Box::new(evidence.clone())));
        // A neighbour may be a long link as well.
        let mut told: BTreeSet<SiteName> =
            self.view.iter().copied().chain(self.links.names()).collect();
        if self.was_pulled(about, from) {
            told.clear();
        }
        let message = OverlayMessage::Evidence(evidence);
        for name in told {
            let Some(speaker) = self.sites.get(name).and_then(KnownSite::speaker).cloned() else {
                continue;
            };
            self.send(speaker.peer, Some(&speaker.address), &message);
        }
        if let Some((name, grant)) = convicted {
            self.convict(name, grant);
        }
    }

    /// The beacons of a site contradicted themselves: it leaves the view, the links and the samples, and
    /// is back with a grant that names other ones.
    fn convict(&mut self, name: SiteName, grant: u64) {
        self.sites.convict(name, grant);
        let is_theirs = |site: &KnownSite| site.record.record.epoch.grant <= grant;
        if self.sites.get(name).is_some_and(is_theirs) {
            self.forget(name);
        }
    }
}
