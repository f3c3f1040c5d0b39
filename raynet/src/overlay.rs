//! The machine: one member of the overlay.

mod doubts;
mod frames;
mod gossip;
mod house;
mod learn;
mod liveness;
mod lookups;
mod near_map;
mod probes;
mod pulls;
mod pulse;
mod roles;
mod ways;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use metatopia_math::Stream;
use metatopia_types::{Digest, Now, wire};

use self::{
    doubts::MapDoubts, lookups::Lookup, near_map::NearMap, pulls::EvidencePulls,
    pulse::OverlayTimers, ways::SeekWay,
};
use crate::{
    ExactPlane, LandMap, OverlayConfig, OverlayEffect, OverlayEvidence, OverlayInput, PlaneBlock,
    SignedSiteRecord, SiteEndpoint, SiteName, TilePoint, evidence::KeptEvidence, limits,
    octaves::LongLinks, pace, peers::PeerLinks, sampler::Sampler, sites::Sites,
};

/// What a member counted since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OverlayCounts {
    /// Frames that were sent.
    pub frames: u64,
    /// Bytes of these frames.
    pub bytes: u64,
    /// Signatures of beacons that were checked.
    pub signatures: u64,
    /// Proofs of shelves that were opened.
    pub shelves: u64,
    /// Frames that were no message of the overlay.
    pub malformed: u64,
    /// Frames and exchanges beyond their sender's ration.
    pub rationed: u64,
    /// Records that were refused.
    pub refused: u64,
    /// Sites that were taken for gone.
    pub buried: u64,
    /// Choices of neighbours among candidates.
    pub choices: u64,
}

/// A member of the overlay. Feed it by [`Overlay::handle`], and then drain [`Overlay::poll`].
pub struct Overlay {
    config: OverlayConfig,
    stream: Stream,
    now: Now,
    own: Option<Arc<SignedSiteRecord>>,
    at: TilePoint,
    cells: ExactPlane,
    land: LandMap,
    sites: Sites,
    /// The Voronoi neighbours, ascending.
    view: Vec<SiteName>,
    links: LongLinks,
    sampler: Sampler,
    peers: PeerLinks,
    contacts: VecDeque<SiteEndpoint>,
    ways: BTreeMap<u64, SeekWay>,
    lookups: BTreeMap<u64, Lookup>,
    evidence: KeptEvidence,
    pulls: EvidencePulls,
    /// Blocks of the map that lookups were about lately, and when.
    looked_up: BTreeMap<PlaneBlock, Duration>,
    /// Sites dialled in this cycle on the way that were not spoken with.
    strangers: u32,
    /// Points whose shelves nobody had; the host was asked for them.
    wanted: BTreeSet<TilePoint>,
    doubts: MapDoubts,
    near: NearMap,
    timers: OverlayTimers,
    /// How often the own place is still sought, to arrive there fast.
    arrivals: u32,
    /// Counts probes, each of which seeks the next corner of the own cell.
    probed: usize,
    /// What views are made of has changed.
    is_stale: bool,
    counts: OverlayCounts,
    out: VecDeque<OverlayEffect>,
}

impl core::fmt::Debug for Overlay {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (view, known) = (self.view.len(), self.sites.len());
        write!(f, "Overlay at {:?} with {view} neighbours of {known} sites known", self.at)
    }
}

impl Overlay {
    /// Returns a member that knows nobody.
    #[must_use]
    pub fn new(config: OverlayConfig, now: Now) -> Self {
        let mut stream = Stream::new(&config.seed, "overlay", &[]);
        let sampler = Sampler::new(&mut stream);
        let cycle = config.cycle.max(Duration::from_millis(1));
        let timers = OverlayTimers::new(cycle, now.monotonic, &mut stream);
        Self {
            at: config.vantage,
            cells: ExactPlane { extent: config.extent },
            config: OverlayConfig { cycle, ..config },
            stream,
            now,
            own: None,
            land: LandMap::default(),
            sites: Sites::default(),
            view: Vec::new(),
            links: LongLinks::default(),
            sampler,
            peers: PeerLinks::default(),
            contacts: VecDeque::new(),
            ways: BTreeMap::new(),
            lookups: BTreeMap::new(),
            evidence: KeptEvidence::default(),
            pulls: EvidencePulls::default(),
            looked_up: BTreeMap::new(),
            strangers: 0,
            wanted: BTreeSet::new(),
            doubts: MapDoubts::default(),
            near: NearMap::default(),
            timers,
            arrivals: pace::ARRIVALS,
            probed: 0,
            is_stale: false,
            counts: OverlayCounts::default(),
            out: VecDeque::new(),
        }
    }

    /// Takes in what happened. Drain [`Overlay::poll`] before the next call.
    pub fn handle(&mut self, now: Now, input: OverlayInput) {
        self.now = now;
        match input {
            OverlayInput::Frame { from, bytes } => self.frame(from, &bytes),
            OverlayInput::Up(peer) => {
                self.peers.up(peer, now.monotonic);
                self.close_excess();
            }
            OverlayInput::Down(peer) => self.lost(peer, true),
            OverlayInput::DialFailed(peer) => {
                // Both may have dialled, and the other one may have got through.
                if !self.peers.is_up(peer) {
                    self.lost(peer, false);
                }
            }
            OverlayInput::Closed(peer) => self.peers.remove(peer),
            OverlayInput::Contacts(contacts) => self.contacts(contacts),
            OverlayInput::Own(record) => self.set_own(*record),
            OverlayInput::Shelf(proof) => self.learn_shelf(&proof),
            OverlayInput::Lookup { id, point } => self.look_up(id, point),
            OverlayInput::Wake => {}
        }
        self.wake();
        self.refresh();
    }

    /// Takes the next effect, in order.
    pub fn poll(&mut self) -> Option<OverlayEffect> {
        self.out.pop_front()
    }

    /// Returns when [`OverlayInput::Wake`] is due.
    #[must_use]
    pub fn deadline(&self) -> Duration {
        let OverlayTimers { exchange, sample, probe, house, greeting, .. } = self.timers;
        let answers = self.ways.values().filter_map(SeekWay::overdue_at);
        let timers = [exchange, sample, probe, house, greeting].into_iter();
        timers.chain(answers).min().unwrap_or(house)
    }

    /// Returns a digest of what the member believes, for traces.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let sites = self.sites.iter().map(|(name, site)| {
            (name, site.record.record.epoch, site.is_checked, site.is_met, site.heard, site.misses)
        });
        let sites: Vec<_> = sites.collect();
        let links: Vec<SiteName> = self.links.names().chain(self.sampler.names()).collect();
        let shelves: Vec<_> =
            self.land.shelves().map(|shelf| (shelf.block, shelf.height)).collect();
        let timers =
            [self.timers.exchange, self.timers.sample, self.timers.probe, self.timers.house]
                .into_iter()
                .chain([self.timers.greeting]);
        let timers: Vec<Duration> = timers.collect();
        let evidence: Vec<&Digest> = self.evidence.subjects().collect();
        let bytes = wire::encode(&(sites, &self.view, links, shelves, timers, evidence));
        Digest::of("metatopia overlay digest v1", &bytes)
    }

    /// Returns where the member lies: in the middle of its square.
    #[must_use]
    pub const fn at(&self) -> TilePoint {
        self.at
    }

    /// Returns the record of the own site, if there is one.
    #[must_use]
    pub fn own(&self) -> Option<&SignedSiteRecord> {
        self.own.as_deref()
    }

    /// Returns the records of the Voronoi neighbours.
    pub fn neighbours(&self) -> impl Iterator<Item = &SignedSiteRecord> {
        self.records(self.view.iter().copied())
    }

    /// Returns the records of the long links.
    pub fn long_links(&self) -> impl Iterator<Item = &SignedSiteRecord> {
        self.records(self.links.names())
    }

    /// Returns the records of the samples.
    pub fn samples(&self) -> impl Iterator<Item = &SignedSiteRecord> {
        self.records(self.sampler.names())
    }

    /// Returns the addresses of the sites that answered lately: the first contacts of the next start.
    #[must_use]
    pub fn good_contacts(&self) -> Vec<SiteEndpoint> {
        let fresh = self.sites.iter().filter(|(_, site)| self.is_fresh(site));
        let speakers = fresh.filter_map(|(_, site)| site.speaker().cloned());
        speakers.take(limits::FIRST_CONTACTS_MAX).collect()
    }

    /// Returns what was counted.
    #[must_use]
    pub const fn counts(&self) -> OverlayCounts {
        self.counts
    }

    /// Returns the evidence that is kept.
    pub fn evidence(&self) -> impl Iterator<Item = &OverlayEvidence> {
        self.evidence.iter()
    }

    /// Returns the map as far as it is kept.
    #[must_use]
    pub const fn land(&self) -> &LandMap {
        &self.land
    }

    /// Returns how many sites, tombstones, connections and convicted sites there are.
    #[must_use]
    pub fn sizes(&self) -> [usize; 4] {
        let (tombstones, convicts) = (self.sites.tombstones(), self.sites.convicts());
        [self.sites.len(), tombstones, self.peers.len(), convicts]
    }

    fn records(
        &self,
        names: impl Iterator<Item = SiteName>,
    ) -> impl Iterator<Item = &SignedSiteRecord> {
        names.filter_map(|name| self.sites.get(name)).map(|site| &*site.record)
    }

    fn own_name(&self) -> Option<SiteName> {
        self.own.as_ref().map(|own| own.name())
    }

    /// Returns how long an answer may take.
    fn patience(&self) -> Duration {
        self.config.cycle / 4
    }

    fn cycles(&self, count: u32) -> Duration {
        self.now.monotonic.saturating_add(self.config.cycle.saturating_mul(count))
    }

    fn contacts(&mut self, contacts: Vec<SiteEndpoint>) {
        for contact in contacts {
            let is_long = contact.address.len() > limits::SITE_ADDRESS_BYTES_MAX;
            if !is_long && contact.peer != self.config.peer {
                // Told again it is the newest, and of too many the oldest go.
                self.contacts.retain(|known| *known != contact);
                self.contacts.push_back(contact);
            }
        }
        while self.contacts.len() > limits::FIRST_CONTACTS_MAX {
            self.contacts.pop_front();
        }
        self.heat();
        self.timers.sample = self.now.monotonic;
    }

    /// Speaks for this site from now on, unless the record is none that others would take.
    fn set_own(&mut self, record: SignedSiteRecord) {
        if record.check_form(self.config.world, self.now.wall).is_err() {
            self.counts.refused += 1;
            return;
        }
        if let Some(middle) = record.middle() {
            self.at = middle;
        }
        self.own = Some(Arc::new(record));
        self.is_stale = true;
        self.heat();
    }
}
