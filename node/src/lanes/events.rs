//! One stream of events out of all sessions.

use std::{collections::BTreeMap, sync::Arc};

use libp2p::PeerId;
use tokio::sync::mpsc;

use super::{
    LaneEnd, LaneEvent, UpPeers,
    frame::{Item, Session, What},
    outbox::Outbox,
};
use crate::metrics::Metrics;

/// Receives what happens on all lanes.
#[derive(Debug)]
pub struct LaneEvents {
    items: mpsc::Receiver<Item>,
    up: UpPeers,
    /// The newest session seen of each peer that ever was allowed.
    newest: BTreeMap<PeerId, Session>,
    /// A session to announce after the end of the one it replaces.
    next: Option<(PeerId, Session, Arc<Outbox>)>,
    metrics: Arc<Metrics>,
}

impl LaneEvents {
    pub(super) fn new(items: mpsc::Receiver<Item>, up: UpPeers, metrics: Arc<Metrics>) -> Self {
        Self { items, up, newest: BTreeMap::new(), next: None, metrics }
    }

    /// Waits for the next event; `None` when the lanes have stopped. Nothing is lost when this is
    /// cancelled.
    pub async fn recv(&mut self) -> Option<LaneEvent> {
        loop {
            if let Some((peer, session, outbox)) = self.next.take() {
                self.up.lock().insert(peer, (session, outbox));
                self.count();
                return Some(LaneEvent::PeerUp(peer));
            }
            let Item { peer, session, what } = self.items.recv().await?;
            // Sessions are numbered in the order of their making, but each announces itself from a
            // task of its own: what an older one says late is not news.
            let newest = self.newest.entry(peer).or_default();
            if session < *newest {
                continue;
            }
            *newest = session;
            match what {
                What::Opened(outbox) => {
                    self.next = Some((peer, session, outbox));
                    if self.up.lock().remove(&peer).is_some() {
                        self.count();
                        return Some(LaneEvent::PeerDown { peer, end: LaneEnd::Replaced });
                    }
                }
                What::Frame(bytes, share) => {
                    drop(share);
                    return Some(LaneEvent::Frame { peer, bytes });
                }
                What::Ended(end) => {
                    self.up.lock().remove(&peer);
                    self.count();
                    match end {
                        LaneEnd::Silent | LaneEnd::Stuck | LaneEnd::TooSlow => {
                            self.metrics.lane_sessions_timed_out_total.one();
                        }
                        LaneEnd::Oversize(_) => self.metrics.lane_sessions_refused_total.one(),
                        _ => {}
                    }
                    return Some(LaneEvent::PeerDown { peer, end });
                }
            }
        }
    }

    fn count(&self) {
        self.metrics.lane_sessions.set(self.up.lock().len() as u64);
    }
}
