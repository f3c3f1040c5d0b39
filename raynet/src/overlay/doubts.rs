//! Doubts about the kept map: a record came that it does not speak for, and a newer one could.
//!
//! Anybody can make records up, and keys are free, so no count of keys may decide who is heard. The host is asked
//! about the block that has waited longest: there are no more blocks than shelves kept, so each has its turn. And
//! who speaks for a site that was checked has a ration that strangers cannot use up.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use metatopia_types::PublicKey;

use super::Overlay;
use crate::{PlaneBlock, Shelf, SignedSiteRecord, SiteName, TilePoint, limits, pace};

/// Those that are counted in a cycle, in which sites may come and go: all sites known at a time, and strangers.
const DOUBTERS_MAX: usize = limits::SITES_KNOWN_MAX + limits::STRANGER_DOUBTS_MAX;

/// Which parts of the map were doubted lately, and who of those that raise doubts was asked for newer ones.
#[derive(Clone, Debug, Default)]
pub(super) struct MapDoubts {
    /// The moment until which nobody is asked again about a block: this sender, or the host where there is
    /// none.
    asked: BTreeMap<(PlaneBlock, Option<PublicKey>), Duration>,
    /// Blocks about which the host has yet to be asked, with a point in each; first the one that waited longest.
    waiting: VecDeque<(PlaneBlock, TilePoint)>,
    /// How often the host was asked in this cycle.
    of_host: usize,
    /// How often strangers were asked in this cycle, all of them.
    of_strangers: usize,
    /// How often each was asked in this cycle. It outlasts connections: whoever connects anew has no new ration.
    of_senders: BTreeMap<MapDoubter, u32>,
}

/// Who is counted where records raise doubts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum MapDoubter {
    /// A checked site, by any of its servers: their keys are free, and its grant is not.
    Site(SiteName),
    /// A key that speaks for no checked site.
    Stranger(PublicKey),
}

impl MapDoubts {
    fn is_asked(&self, block: PlaneBlock, whom: Option<PublicKey>, now: Duration) -> bool {
        self.asked.get(&(block, whom)).is_some_and(|until| *until > now)
    }

    fn used(&self, doubter: MapDoubter) -> u32 {
        self.of_senders.get(&doubter).copied().unwrap_or(0)
    }

    /// Counts a question to a sender. Returns whether it may be asked.
    fn takes(&mut self, doubter: MapDoubter) -> bool {
        let used = self.used(doubter);
        let has_room = match doubter {
            MapDoubter::Stranger(_) => self.of_strangers < limits::STRANGER_DOUBTS_MAX,
            MapDoubter::Site(_) => used > 0 || self.of_senders.len() < DOUBTERS_MAX,
        };
        if !has_room || used >= limits::DOUBTS_PER_PEER_MAX {
            return false;
        }
        self.of_senders.insert(doubter, used + 1);
        self.of_strangers += usize::from(matches!(doubter, MapDoubter::Stranger(_)));
        true
    }

    /// Puts a block in the row for the host. Returns whether there is room.
    fn wait(&mut self, block: PlaneBlock, at: TilePoint) -> bool {
        if self.waiting.iter().any(|(waiting, _)| *waiting == block) {
            return true;
        }
        let has_room = self.waiting.len() < limits::SHELVES_KEPT_MAX;
        if has_room {
            self.waiting.push_back((block, at));
        }
        has_room
    }
}

impl Overlay {
    /// Doubts a map that does not speak for a record. If a newer map could, because land is granted all the
    /// time, the host and the sender are asked for it. Until it comes, nothing is believed.
    pub(super) fn doubt_map(
        &mut self,
        record: &SignedSiteRecord,
        shelf: &Shelf,
        at: TilePoint,
        from: PublicKey,
        wanted: &mut Vec<TilePoint>,
    ) {
        let granted = shelf.grant_at(at).filter(|grant| grant.sim == record.record.sim);
        if granted.is_some_and(|grant| record.record.epoch.grant <= grant.epoch) {
            return;
        }
        let (block, now, sender) = (shelf.block, self.now.monotonic, Some(from));
        if !self.doubts.is_asked(block, None, now) {
            if !self.doubts.wait(block, at) {
                self.counts.rationed += 1;
            }
            self.ask_host_of_doubts();
        }
        if self.doubts.is_asked(block, sender, now) {
            return;
        }
        let doubter = self.doubter(from);
        if self.doubts.takes(doubter) {
            let until = self.cycles(pace::DOUBT_CYCLES);
            self.doubts.asked.insert((block, sender), until);
            wanted.push(at);
        } else {
            self.counts.rationed += 1;
        }
    }

    /// Begins a new cycle of doubts: the host is asked about the blocks that have waited longest.
    pub(super) fn forgive_doubts(&mut self) {
        let now = self.now.monotonic;
        (self.doubts.of_host, self.doubts.of_strangers) = (0, 0);
        self.doubts.of_senders.clear();
        self.doubts.asked.retain(|_, until| *until > now);
        let land = &self.land;
        let is_kept = |at: TilePoint, block| land.covering(at).is_some_and(|it| it.block == block);
        self.doubts.waiting.retain(|(block, at)| is_kept(*at, *block));
        self.ask_host_of_doubts();
    }

    /// Asks the host about blocks that wait. Where questions of others have used up what the host is asked for in
    /// a cycle, they wait for the next one, in which they come first.
    fn ask_host_of_doubts(&mut self) {
        let until = self.cycles(pace::DOUBT_CYCLES);
        while self.doubts.of_host < limits::HOST_DOUBTS_MAX {
            let Some((block, at)) = self.doubts.waiting.front().copied() else { return };
            if !self.want_from_host(at) {
                return;
            }
            self.doubts.waiting.pop_front();
            self.doubts.of_host += 1;
            self.doubts.asked.insert((block, None), until);
        }
    }

    /// Returns who is counted for a sender: of the checked sites that name its key, the one that was asked
    /// least. A site may name the key of another one, whose own ration it does not touch.
    fn doubter(&self, from: PublicKey) -> MapDoubter {
        let is_checked =
            |name: &SiteName| self.sites.get(*name).is_some_and(|site| site.is_checked);
        let sites = self.sites.of(from).into_iter().filter(is_checked).map(MapDoubter::Site);
        let least = sites.min_by_key(|site| self.doubts.used(*site));
        least.unwrap_or(MapDoubter::Stranger(from))
    }
}
