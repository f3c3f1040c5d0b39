//! Exchanges of tips, and the records and shelves that they lead to.

use metatopia_types::PublicKey;

use super::Overlay;
use crate::{
    GossipLayer, OverlayMessage, SignedSiteRecord, SiteName, SiteTip, TilePoint, TipExchange,
    limits, pace, peers::PeerLink, sites::KnownSite,
};

impl Overlay {
    /// Exchanges tips with the neighbour that was told of nobody for the longest time.
    pub(super) fn exchange_with_neighbour(&mut self) {
        let sites = self.view.iter().filter_map(|name| Some((self.sites.get(*name)?.told, *name)));
        if let Some((_, name)) = sites.min() {
            self.begin_exchange(name, GossipLayer::Neighbours);
        }
    }

    /// Exchanges tips with whoever was not heard for the longest time of long links and samples, so
    /// that each of them is looked after; with a first contact while there are few of these.
    pub(super) fn exchange_with_sample(&mut self) {
        let members = self.links.names().chain(self.sampler.names());
        let sites = members.filter_map(|name| Some((self.sites.get(name)?, name)));
        let oldest = sites.filter(|(site, _)| site.pending.is_none());
        let oldest = oldest.min_by_key(|(site, name)| (site.heard, *name)).map(|(_, name)| name);
        if let Some(name) = oldest {
            self.begin_exchange(name, GossipLayer::Samples);
        }
        if self.view.len() < pace::VIEW_SOFT / 2 {
            self.greet_contacts();
        }
    }

    /// Exchanges tips with all first contacts.
    fn greet_contacts(&mut self) {
        for contact in self.contacts.clone() {
            let half = self.half(GossipLayer::Neighbours, None, None);
            self.send(contact.peer, Some(&contact.address), &OverlayMessage::Exchange(half));
        }
    }

    /// Begins an exchange with a site.
    pub(super) fn begin_exchange(&mut self, name: SiteName, layer: GossipLayer) {
        let Some(site) = self.sites.get(name) else { return };
        let half = self.half(layer, Some(site.at), Some(name));
        if let Some(site) = self.sites.get_mut(name) {
            site.told = self.now.monotonic;
        }
        self.ask_site(name, &OverlayMessage::Exchange(half));
    }

    /// Sends a question to a site, and expects an answer.
    fn ask_site(&mut self, name: SiteName, message: &OverlayMessage) {
        let until = self.now.monotonic.saturating_add(self.config.cycle);
        let Some(site) = self.sites.get_mut(name) else { return };
        let Some(speaker) = site.speaker().cloned() else { return };
        site.pending = site.pending.or(Some(until));
        self.send(speaker.peer, Some(&speaker.address), message);
    }

    /// Returns this member's half of an exchange with somebody at a point: sites with a role here that
    /// were heard lately.
    fn half(
        &mut self,
        layer: GossipLayer,
        to: Option<TilePoint>,
        name: Option<SiteName>,
    ) -> TipExchange {
        let members = self.members().into_iter().filter(|member| Some(*member) != name);
        let told = members.filter_map(|member| Some((member, self.sites.get(member)?)));
        let told = told.filter(|(_, site)| self.is_fresh(site));
        let mut fresh: Vec<(SiteName, TilePoint, SiteTip)> =
            told.map(|(member, site)| (member, site.at, site.tip)).collect();
        match (layer, to) {
            (GossipLayer::Neighbours, Some(to)) => {
                let beside = self.beside(to, name);
                fresh.sort_by_key(|(other, at, _)| {
                    (!beside.contains(other), to.distance_squared(*at), *other)
                });
                fresh.truncate(limits::TIPS_MAX);
            }
            _ => {
                self.stream.shuffle(&mut fresh);
                fresh.truncate(pace::SAMPLED_TIPS);
            }
        }
        let wall = self.now.wall;
        let own = self.own.as_ref().filter(|own| own.record.expires > wall).map(|own| own.tip());
        TipExchange { layer, own, tips: fresh.into_iter().map(|(_, _, tip)| tip).collect() }
    }

    /// Returns the neighbours on both sides of somebody at a point. Each of the two is a neighbour of that one,
    /// however far away: around a hole, those nearest to it are others, and no corner of its cell shows an edge
    /// that is shorter than a tile.
    fn beside(&self, to: TilePoint, name: Option<SiteName>) -> Vec<SiteName> {
        let others = self.view.iter().copied().filter(|other| Some(*other) != name);
        let known = others.filter_map(|other| Some((other, self.sites.get(other)?.at)));
        let (names, mut places): (Vec<SiteName>, Vec<[i64; 2]>) =
            known.map(|(other, at)| (other, at.coordinates())).unzip();
        places.push(to.coordinates());
        let beside = self.cells.beside(self.at, &places, names.len());
        beside.into_iter().filter_map(|place| names.get(place).copied()).collect()
    }

    /// Says whether a site was heard lately.
    pub(super) fn is_fresh(&self, site: &KnownSite) -> bool {
        let is_connected = || site.speaker().is_some_and(|speaker| self.peers.is_up(speaker.peer));
        let age = self.now.monotonic.saturating_sub(site.heard);
        site.is_admitted()
            && site.misses < limits::MISSES_MAX / 2
            && (age <= self.config.cycle * pace::FRESH_CYCLES || is_connected())
    }

    /// Handles half of an exchange.
    pub(super) fn exchanged(&mut self, from: PublicKey, half: &TipExchange, is_question: bool) {
        if is_question {
            let takes = self.peers.get_mut(from).is_some_and(|link| link.takes_exchange());
            if !takes {
                self.counts.rationed += 1;
                return;
            }
            let own = half.own;
            let to = own.and_then(|own| TilePoint::middle(own.square));
            let answer = self.half(half.layer, to, own.map(|own| own.name));
            self.send(from, None, &OverlayMessage::Answer(answer));
            let site = own.and_then(|own| self.sites.get_mut(own.name));
            if let Some(site) = site.filter(|_| half.layer == GossipLayer::Neighbours) {
                site.told = self.now.monotonic;
            }
        }
        if let Some(own) = half.own {
            self.sites.rise(own.name, &from);
            self.meet(from, own.name);
        }
        self.take_tips(from, half);
    }

    /// Asks for the records of tips that are of use.
    fn take_tips(&mut self, from: PublicKey, half: &TipExchange) {
        let now = self.now.monotonic;
        if self.peers.get_mut(from).is_none_or(|link| link.passed_over > now) {
            return;
        }
        let mut fresh: Vec<(SiteTip, TilePoint)> = Vec::new();
        for tip in half.own.iter().chain(&half.tips) {
            let Some(at) = TilePoint::middle(tip.square) else { continue };
            let is_seen = fresh.iter().any(|(other, _)| other.name == tip.name);
            let is_known = self.sites.get(tip.name).is_some_and(|site| {
                let is_hint = !site.is_checked && !site.asked.contains(&from);
                let is_doubled = site.tip.epoch == tip.epoch && site.tip.mark != tip.mark;
                site.tip.epoch >= tip.epoch && !is_hint && !is_doubled
            });
            let is_old = is_known || self.sites.is_gone(tip.name, tip.epoch);
            if Some(tip.name) != self.own_name() && !is_seen && !is_old {
                fresh.push((*tip, at));
            }
        }
        let useful = self.useful(&fresh);
        let names: Vec<SiteName> = useful.into_iter().take(limits::RECORDS_PER_FRAME_MAX).collect();
        if names.is_empty() {
            return;
        }
        let until = self.cycles(pace::TOMBSTONE_CYCLES);
        if let Some(link) = self.peers.get_mut(from) {
            link.owes(names.len(), until);
        }
        self.send(from, None, &OverlayMessage::Want(names));
    }

    /// Sends records that somebody asked for: those that were checked, and the own one.
    pub(super) fn give_records(&mut self, to: PublicKey, names: &[SiteName]) {
        let mut records = Vec::new();
        for name in names {
            let own = self.own.as_ref().filter(|own| own.name() == *name);
            let checked =
                || self.sites.get(*name).filter(|site| site.is_checked).map(|site| &site.record);
            if let Some(record) = own.or_else(checked) {
                records.push(SignedSiteRecord::clone(record));
            }
        }
        while !records.is_empty() {
            let frame = OverlayMessage::Records(records);
            if frame.encode().len() <= limits::OVERLAY_FRAME_BYTES_MAX {
                self.send(to, None, &frame);
                return;
            }
            let OverlayMessage::Records(mut rest) = frame else { return };
            rest.pop();
            records = rest;
        }
    }

    /// Handles records that were asked for.
    pub(super) fn take_records(&mut self, from: PublicKey, records: Vec<SignedSiteRecord>) {
        let mut wanted = Vec::new();
        for record in records {
            if !self.peers.get_mut(from).is_some_and(PeerLink::takes_record) {
                self.counts.rationed += 1;
                break;
            }
            let name = record.name();
            let is_good = self.learn_record(record, from, &mut wanted);
            if is_good {
                // Who shows its own record has spoken with us.
                self.meet(from, name);
            }
            if let Some(link) = self.peers.get_mut(from).filter(|_| is_good) {
                link.showed();
            }
        }
        self.want_shelves(from, wanted);
    }

    /// Asks a peer for shelves about points.
    pub(super) fn want_shelves(&mut self, from: PublicKey, mut points: Vec<TilePoint>) {
        points.truncate(limits::SHELVES_PER_WANT_MAX);
        if points.is_empty() {
            return;
        }
        if let Some(link) = self.peers.get_mut(from) {
            link.shelves = link.shelves.saturating_add(points.len() as u32);
        }
        self.send(from, None, &OverlayMessage::WantShelves(points));
    }

    /// Sends shelves that somebody asked for, each in a frame of its own.
    pub(super) fn give_shelves(&mut self, to: PublicKey, points: &[TilePoint]) {
        let mut sent = Vec::new();
        for point in points {
            let Some(shelf) = self.land.covering(*point).cloned() else { continue };
            if !sent.contains(&shelf.block) {
                sent.push(shelf.block);
                self.send(to, None, &OverlayMessage::Shelf(shelf.proof.clone()));
            }
        }
    }

    /// Handles a shelf, if it was asked for: to open a proof costs much.
    pub(super) fn take_shelf(&mut self, from: PublicKey, proof: &[u8]) {
        let Some(link) = self.peers.get_mut(from).filter(|link| link.shelves > 0) else {
            self.counts.rationed += 1;
            return;
        };
        link.shelves -= 1;
        self.learn_shelf(proof);
    }
}
