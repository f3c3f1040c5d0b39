//! The sites that a member knows, and those that it takes for gone.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use metatopia_types::PublicKey;

use crate::{SignedSiteRecord, SiteEndpoint, SiteEpoch, SiteName, SiteTip, TilePoint, limits};

/// A site, and how this member stands with it.
#[derive(Clone, Debug)]
pub(crate) struct KnownSite {
    pub(crate) record: Arc<SignedSiteRecord>,
    pub(crate) at: TilePoint,
    /// What others are told of it.
    pub(crate) tip: SiteTip,
    /// The record was held against a certified shelf. A hint otherwise, which is passed to nobody.
    pub(crate) is_checked: bool,
    /// The site itself spoke with us.
    pub(crate) is_met: bool,
    /// When one of its servers was last heard.
    pub(crate) heard: Duration,
    /// When it was last told of others.
    pub(crate) told: Duration,
    /// When an answer is overdue.
    pub(crate) pending: Option<Duration>,
    /// Questions in a row without an answer.
    pub(crate) misses: u8,
    /// Which of its endpoints is spoken with.
    pub(crate) endpoint: usize,
    /// Who was asked for the shelf that a record of the site lacks: of a hint while it is one, and of a checked
    /// site in this cycle.
    pub(crate) asked: BTreeSet<PublicKey>,
    pub(crate) learned: Duration,
}

impl KnownSite {
    pub(crate) fn new(record: Arc<SignedSiteRecord>, at: TilePoint, now: Duration) -> Self {
        Self {
            tip: record.tip(),
            record,
            at,
            is_checked: false,
            is_met: false,
            heard: Duration::ZERO,
            told: Duration::ZERO,
            pending: None,
            misses: 0,
            endpoint: 0,
            asked: BTreeSet::new(),
            learned: now,
        }
    }

    /// Returns the server of the site that is spoken with.
    pub(crate) fn speaker(&self) -> Option<&SiteEndpoint> {
        self.record.record.endpoints.get(self.endpoint)
    }

    /// Says whether the site may be in a view.
    pub(crate) const fn is_admitted(&self) -> bool {
        self.is_checked && self.is_met
    }
}

/// Known sites, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sites {
    known: BTreeMap<SiteName, KnownSite>,
    /// Who speaks for which sites.
    speakers: BTreeSet<(PublicKey, SiteName)>,
    gone: BTreeMap<SiteName, Tombstone>,
    /// Sites against which there is evidence: only a newer grant, with other beacons, makes them good
    /// again. When there are too many, the oldest is forgotten.
    convicted: BTreeMap<SiteName, Conviction>,
    /// Convictions so far.
    convictions: u64,
}

/// A site that is gone: its records up to an epoch are passed over until a time, unless one of those who
/// spoke for it last is heard.
#[derive(Clone, Debug)]
struct Tombstone {
    last: SiteEpoch,
    until: Duration,
    speakers: Vec<PublicKey>,
}

/// The epoch of the grant whose beacons contradicted themselves, and how many convictions came before.
#[derive(Clone, Copy, Debug)]
struct Conviction {
    grant: u64,
    number: u64,
}

impl Sites {
    pub(crate) fn get(&self, name: SiteName) -> Option<&KnownSite> {
        self.known.get(&name)
    }

    pub(crate) fn get_mut(&mut self, name: SiteName) -> Option<&mut KnownSite> {
        self.known.get_mut(&name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (SiteName, &KnownSite)> {
        self.known.iter().map(|(name, site)| (*name, site))
    }

    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// Puts a site in, if there is room; the record of one that is there is replaced.
    pub(crate) fn insert(&mut self, name: SiteName, site: KnownSite) -> bool {
        if self.known.len() >= limits::SITES_KNOWN_MAX && !self.known.contains_key(&name) {
            return false;
        }
        self.remove(name);
        let speakers = site.record.record.endpoints.iter().map(|endpoint| (endpoint.peer, name));
        self.speakers.extend(speakers);
        self.known.insert(name, site);
        true
    }

    pub(crate) fn remove(&mut self, name: SiteName) -> Option<KnownSite> {
        let site = self.known.remove(&name)?;
        for endpoint in &site.record.record.endpoints {
            self.speakers.remove(&(endpoint.peer, name));
        }
        Some(site)
    }

    /// Returns the names of the sites that a peer speaks for.
    pub(crate) fn of(&self, peer: PublicKey) -> Vec<SiteName> {
        let from = (peer, SiteName([0; 8]));
        let of_peer = self.speakers.range(from..).take_while(|(speaker, _)| *speaker == peer);
        of_peer.map(|(_, name)| *name).collect()
    }

    /// Notes that a peer was heard.
    pub(crate) fn heard(&mut self, peer: PublicKey, now: Duration) {
        for name in self.of(peer) {
            if let Some(site) = self.known.get_mut(&name) {
                (site.heard, site.pending, site.misses) = (now, None, 0);
            }
        }
    }

    /// Puts up a tombstone: what others say of the site does not count until then.
    pub(crate) fn bury(&mut self, name: SiteName, until: Duration) -> Option<KnownSite> {
        let site = self.remove(name)?;
        if self.gone.len() >= limits::TOMBSTONES_MAX {
            let first = self.gone.iter().min_by_key(|(_, stone)| stone.until);
            let first = first.map(|(name, _)| *name);
            first.map(|first| self.gone.remove(&first));
        }
        let record = &site.record.record;
        let speakers = record.endpoints.iter().map(|endpoint| endpoint.peer).collect();
        self.gone.insert(name, Tombstone { last: record.epoch, until, speakers });
        Some(site)
    }

    /// Takes a tombstone away if the site spoke itself, by one of its servers.
    pub(crate) fn rise(&mut self, name: SiteName, from: &PublicKey) {
        if self.gone.get(&name).is_some_and(|stone| stone.speakers.contains(from)) {
            self.gone.remove(&name);
        }
    }

    /// Notes that the beacons of a grant contradicted themselves.
    pub(crate) fn convict(&mut self, name: SiteName, grant: u64) {
        let number = self.convictions;
        self.convictions += 1;
        let grant = self.convicted.get(&name).map_or(grant, |last| grant.max(last.grant));
        self.convicted.insert(name, Conviction { grant, number });
        if self.convicted.len() > limits::CONVICTED_MAX {
            let oldest = self.convicted.iter().min_by_key(|(_, last)| last.number);
            let oldest = oldest.map(|(name, _)| *name);
            oldest.map(|oldest| self.convicted.remove(&oldest));
        }
    }

    /// Says whether the beacons of this grant, or of a newer one, contradicted themselves.
    pub(crate) fn is_convicted(&self, name: SiteName, grant: u64) -> bool {
        self.convicted.get(&name).is_some_and(|last| grant <= last.grant)
    }

    pub(crate) fn convicts(&self) -> usize {
        self.convicted.len()
    }

    /// Says whether a record of this epoch is of a site that is gone, or signed by beacons that
    /// contradicted themselves.
    pub(crate) fn is_gone(&self, name: SiteName, epoch: SiteEpoch) -> bool {
        self.gone.get(&name).is_some_and(|stone| epoch <= stone.last)
            || self.is_convicted(name, epoch.grant)
    }

    /// Forgets who was asked for shelves about checked sites. A hint soon ends by itself, but a site that is
    /// known for days would have asked all that it may when its newest record comes.
    pub(crate) fn forgive(&mut self) {
        for site in self.known.values_mut().filter(|site| site.is_checked) {
            site.asked.clear();
        }
    }

    /// Forgets tombstones whose time has come.
    pub(crate) fn forget_tombstones(&mut self, now: Duration) {
        self.gone.retain(|_, stone| stone.until > now);
    }

    pub(crate) fn tombstones(&self) -> usize {
        self.gone.len()
    }
}
