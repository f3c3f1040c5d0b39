//! Ways to a point: the one who seeks asks one site after the other for nearer ones, always nearer,
//! and so needs nobody's help on the way.

use std::{sync::Arc, time::Duration};

use metatopia_types::PublicKey;

use super::Overlay;
use crate::{
    NearerSites, OverlayMessage, SignedSiteRecord, SiteName, TilePoint,
    limits::{self, FRONTIER_MAX, HOPS_MAX},
};

/// What a way is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WayGoal {
    /// To find sites that ought to be neighbours.
    Probe,
    /// To find who owns a point.
    Lookup(u64),
    /// To find the owner itself, once the map names it.
    Owner(u64),
}

/// A site that was asked, and when its answer is overdue.
#[derive(Clone, Debug)]
struct WayQuestion {
    site: Arc<SignedSiteRecord>,
    peer: PublicKey,
    distance: u128,
    overdue: Duration,
}

/// A way that is under way.
#[derive(Clone, Debug)]
pub(super) struct SeekWay {
    pub(super) goal: WayGoal,
    point: TilePoint,
    /// Sites to ask, the nearest first.
    frontier: Vec<(u128, SiteName, Arc<SignedSiteRecord>)>,
    asked: Vec<SiteName>,
    /// How near the last one is that answered. All who are asked after it are nearer.
    best: u128,
    pub(super) last: Option<(Arc<SignedSiteRecord>, PublicKey)>,
    pub(super) hops: u32,
    /// Whether the last one was asked for the map.
    is_mapped: bool,
    question: Option<WayQuestion>,
}

impl SeekWay {
    /// Returns when the answer that it waits for is overdue.
    pub(super) fn overdue_at(&self) -> Option<Duration> {
        self.question.as_ref().map(|question| question.overdue)
    }

    /// Says whether a site was asked on this way.
    pub(super) fn has_asked(&self, name: SiteName) -> bool {
        self.asked.contains(&name)
    }

    fn add(&mut self, record: Arc<SignedSiteRecord>) {
        let Some(at) = record.middle() else { return };
        let (distance, name) = (at.distance_squared(self.point), record.name());
        if distance >= self.best || self.asked.contains(&name) {
            return;
        }
        let place =
            self.frontier.partition_point(|(other, of, _)| (*other, *of) < (distance, name));
        if self.frontier.get(place).is_none_or(|(_, of, _)| *of != name) {
            self.frontier.insert(place, (distance, name, record));
            self.frontier.truncate(FRONTIER_MAX);
        }
    }
}

impl Overlay {
    /// Begins a way from these sites. Returns its number.
    pub(super) fn begin_way(
        &mut self,
        goal: WayGoal,
        point: TilePoint,
        starts: &[SiteName],
    ) -> u64 {
        let nonce = self.stream.next_u64();
        let mut way = SeekWay {
            goal,
            point,
            frontier: Vec::new(),
            asked: Vec::new(),
            best: u128::MAX,
            last: None,
            hops: 0,
            is_mapped: false,
            question: None,
        };
        for site in starts.iter().filter_map(|name| self.sites.get(*name)) {
            way.add(Arc::clone(&site.record));
        }
        self.ways.insert(nonce, way);
        self.go_on(nonce);
        nonce
    }

    /// Asks the next site of a way, or ends it.
    fn go_on(&mut self, nonce: u64) {
        let Some(mut way) = self.ways.remove(&nonce) else { return };
        if let Some((site, peer, distance, map)) = self.next_question(&mut way, nonce) {
            let now = self.now.monotonic;
            let overdue = now.saturating_add(self.patience());
            let address = site.record.endpoints.iter().find(|endpoint| endpoint.peer == peer);
            let address = address.map(|endpoint| endpoint.address.clone());
            let most = if way.goal == WayGoal::Probe { 1 } else { limits::NEARER_MAX as u8 };
            way.question = Some(WayQuestion { site, peer, distance, overdue });
            way.hops += 1;
            let message = OverlayMessage::Seek { nonce, point: way.point, most, map };
            self.ways.insert(nonce, way);
            self.send(peer, address.as_deref(), &message);
        } else {
            self.way_ended(way);
        }
    }

    /// Returns whom a way asks next: the nearest that was not asked, nearer than the last one that
    /// answered, and on no other way of the same lookup.
    fn next_question(
        &mut self,
        way: &mut SeekWay,
        nonce: u64,
    ) -> Option<(Arc<SignedSiteRecord>, PublicKey, u128, bool)> {
        if way.hops >= HOPS_MAX {
            return None;
        }
        let best = way.best;
        while let Some((distance, name, site)) =
            (!way.frontier.is_empty()).then(|| way.frontier.remove(0))
        {
            let is_mine = self.own_name() == Some(name);
            if distance >= best || is_mine || self.is_on_other_way(way, nonce, name) {
                continue;
            }
            let met = self.sites.get(name).and_then(|known| known.speaker().cloned());
            let speaker = met.or_else(|| site.record.endpoints.first().cloned());
            let Some(speaker) = speaker.filter(|speaker| speaker.peer != self.config.peer) else {
                continue;
            };
            let is_met = self.sites.get(name).is_some_and(|known| known.is_met);
            if !is_met && !self.peers.is_up(speaker.peer) {
                if self.strangers >= limits::STRANGERS_PER_CYCLE_MAX {
                    self.counts.rationed += 1;
                    continue;
                }
                self.strangers += 1;
            }
            way.asked.push(name);
            return Some((site, speaker.peer, distance, false));
        }
        // The nearest one may be on the other way. The last one here knows the map about the point.
        let (site, peer) = way.last.clone()?;
        let wants_map = matches!(way.goal, WayGoal::Lookup(_)) && !way.is_mapped;
        wants_map.then(|| {
            way.is_mapped = true;
            (site, peer, best, true)
        })
    }

    fn is_on_other_way(&self, way: &SeekWay, nonce: u64, name: SiteName) -> bool {
        let WayGoal::Lookup(id) = way.goal else { return false };
        let others = self.ways.iter().filter(|(other, _)| **other != nonce);
        let mut others = others.filter(|(_, other)| other.goal == WayGoal::Lookup(id));
        others.any(|(_, other)| other.asked.contains(&name)) || self.is_spent(id, name)
    }

    /// Answers somebody who seeks a point.
    pub(super) fn answer_seek(
        &mut self,
        to: PublicKey,
        nonce: u64,
        point: TilePoint,
        most: usize,
        map: bool,
    ) {
        let most = most.min(limits::NEARER_MAX);
        let nearer: Vec<SignedSiteRecord> = self
            .nearer(point, most)
            .into_iter()
            .map(|record| SignedSiteRecord::clone(&record))
            .collect();
        let mut answer = NearerSites { nonce, nearer, owner: None, shelf: Vec::new() };
        if most > 1 && (map || answer.nearer.is_empty()) {
            if let Some(shelf) = self.land.covering(point) {
                answer.shelf.clone_from(&shelf.proof);
            } else {
                self.want_from_host(point);
            }
            let sim = self.land.grant_at(point).map(|grant| SiteName::of(grant.sim));
            answer.owner = sim
                .and_then(|sim| self.record_of(sim))
                .map(|record| Box::new(SignedSiteRecord::clone(&record)));
        }
        self.send(to, None, &OverlayMessage::Nearer(answer));
    }

    /// Returns the newest checked record of a site, which may be the own one.
    pub(super) fn record_of(&self, name: SiteName) -> Option<Arc<SignedSiteRecord>> {
        let own = self.own.clone().filter(|own| own.name() == name);
        own.or_else(|| Some(&self.sites.get(name).filter(|site| site.is_checked)?.record).cloned())
    }

    /// Returns the records of sites that are nearer to a point than this member, the nearest first: of
    /// those that it spoke with and that have a role here.
    #[must_use]
    pub fn nearer(&self, point: TilePoint, most: usize) -> Vec<Arc<SignedSiteRecord>> {
        let own = self.own.as_ref().map(|own| (self.at.distance_squared(point), own.name()));
        let mut found: Vec<(u128, SiteName)> = Vec::new();
        for name in self.members() {
            let Some(site) = self.sites.get(name).filter(|site| site.is_admitted()) else {
                continue;
            };
            let found_at = (site.at.distance_squared(point), name);
            if own.is_none_or(|own| found_at < own) {
                found.push(found_at);
            }
        }
        found.sort_unstable();
        let records = found.into_iter().filter_map(|(_, name)| self.sites.get(name));
        records.take(most).map(|site| Arc::clone(&site.record)).collect()
    }

    /// Handles an answer to a question of a way.
    pub(super) fn nearer_came(&mut self, from: PublicKey, answer: NearerSites) {
        let nonce = answer.nonce;
        let Some(way) = self.ways.get_mut(&nonce) else { return };
        let Some(question) = way.question.take_if(|question| question.peer == from) else { return };
        way.best = way.best.min(question.distance);
        way.last = Some((question.site, from));
        let goal = way.goal;
        let mut wanted = Vec::new();
        for record in answer.nearer {
            if record.check_form(self.config.world, self.now.wall).is_err() {
                self.counts.refused += 1;
                continue;
            }
            if !self.may_seek(&record, from, &mut wanted) {
                continue;
            }
            self.met_on_way(nonce, &record);
            let tip = record.tip();
            let known = self.sites.get(tip.name).map(|known| known.record.record.epoch);
            let is_news = known.is_none_or(|epoch| epoch < tip.epoch);
            if is_news && record.middle().is_some_and(|at| self.may_link(tip.name, at)) {
                self.learn_record(record, from, &mut wanted);
            }
        }
        self.want_shelves(from, wanted);
        if let WayGoal::Lookup(id) | WayGoal::Owner(id) = goal {
            self.lookup_learns(id, &answer.shelf, answer.owner.map(|owner| *owner));
        }
        self.go_on(nonce);
    }

    /// Says whether a site that was named on a way may be asked: its record is known, or the kept map speaks
    /// for it, or there is no map about it here. Where a newer map could speak for it, that is wanted.
    fn may_seek(
        &mut self,
        record: &SignedSiteRecord,
        from: PublicKey,
        wanted: &mut Vec<TilePoint>,
    ) -> bool {
        let known = self.sites.get(record.name());
        let is_own = self.own_name() == Some(record.name());
        if is_own || known.is_some_and(|known| known.is_checked && *known.record == *record) {
            return true;
        }
        let Some(at) = record.middle() else { return false };
        let Some(shelf) = self.land.covering(at).cloned() else { return true };
        let is_good = self.is_granted(record, &shelf, at);
        if !is_good {
            self.doubt_map(record, &shelf, at, from, wanted);
        }
        is_good
    }

    /// Handles a site that was named on a way. If it is the own one, a probe has come home: from then on it
    /// asks only sites that are nearer than this member.
    fn met_on_way(&mut self, nonce: u64, record: &SignedSiteRecord) {
        let is_mine = self.own_name() == Some(record.name());
        let at = self.at;
        let Some(way) = self.ways.get_mut(&nonce) else { return };
        if is_mine && way.goal == WayGoal::Probe {
            way.best = way.best.min(at.distance_squared(way.point));
            way.last = None;
        } else {
            way.add(Arc::new(record.clone()));
        }
    }

    /// Goes on with the ways that wait for a peer whose connection is gone.
    pub(super) fn ways_lost(&mut self, peer: PublicKey) {
        let waiting = self
            .ways
            .iter()
            .filter(|(_, way)| way.question.as_ref().is_some_and(|question| question.peer == peer));
        let waiting: Vec<u64> = waiting.map(|(nonce, _)| *nonce).collect();
        self.give_up(&waiting);
    }

    /// Goes on with ways whose answers are overdue.
    pub(super) fn give_up_waiting(&mut self) {
        let now = self.now.monotonic;
        let overdue = self
            .ways
            .iter()
            .filter(|(_, way)| way.overdue_at().is_some_and(|overdue| overdue <= now));
        let overdue: Vec<u64> = overdue.map(|(nonce, _)| *nonce).collect();
        self.give_up(&overdue);
    }

    fn give_up(&mut self, nonces: &[u64]) {
        for nonce in nonces {
            if let Some(way) = self.ways.get_mut(nonce) {
                way.question = None;
                self.go_on(*nonce);
            }
        }
    }

    fn way_ended(&mut self, way: SeekWay) {
        match way.goal {
            WayGoal::Probe => self.probe_ended(&way),
            WayGoal::Lookup(id) => self.way_of_lookup_ended(id, way.hops, &way.asked),
            WayGoal::Owner(id) => self.owner_way_ended(id, way.hops, way.last),
        }
    }
}
