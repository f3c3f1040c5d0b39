//! Doubts about the kept map: a record came that it does not speak for, and a newer one could.

use std::{collections::BTreeMap, time::Duration};

use metatopia_types::PublicKey;

use super::Overlay;
use crate::{PlaneBlock, Shelf, SignedSiteRecord, TilePoint, limits, pace, peers::PeerLink};

/// Which parts of the map were doubted lately: anybody can make up records, and would have us ask without end.
#[derive(Clone, Debug, Default)]
pub(super) struct MapDoubts {
    /// Until when nobody is asked again about a block: this sender, or the host where there is none.
    asked: BTreeMap<(PlaneBlock, Option<PublicKey>), Duration>,
    /// How many there were in this cycle.
    count: usize,
}

impl MapDoubts {
    /// Begins a new cycle.
    pub(super) fn forgive(&mut self, now: Duration) {
        self.count = 0;
        self.asked.retain(|_, until| *until > now);
    }

    fn is_asked(&self, block: PlaneBlock, whom: Option<PublicKey>, now: Duration) -> bool {
        self.asked.get(&(block, whom)).is_some_and(|until| *until > now)
    }
}

impl Overlay {
    /// The map does not speak for a record. If a newer one could, because land is granted all the time,
    /// the host and the sender are asked for it. Until it comes, nothing is believed.
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
        let asks_host = !self.doubts.is_asked(block, None, now);
        let asks_sender = !self.doubts.is_asked(block, sender, now);
        if !asks_host && !asks_sender {
            return;
        }
        let is_full = self.doubts.count >= limits::DOUBTS_PER_CYCLE_MAX;
        if is_full || !self.peers.get_mut(from).is_some_and(PeerLink::takes_doubt) {
            self.counts.rationed += 1;
            return;
        }
        self.doubts.count += 1;
        let until = self.cycles(pace::DOUBT_CYCLES);
        if asks_host {
            self.doubts.asked.insert((block, None), until);
            self.want_from_host(at);
        }
        if asks_sender {
            self.doubts.asked.insert((block, sender), until);
            wanted.push(at);
        }
    }
}
