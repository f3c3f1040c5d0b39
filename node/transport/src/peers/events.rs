//! One stream of events from all sessions.

use std::{collections::BTreeMap, sync::Arc};

use libp2p::PeerId;
use tokio::sync::mpsc;

use super::{
    PeerEnd, PeerEvent, UpPeers,
    frame::{SessionNumber, SessionTaskEvent, SessionTaskEventKind},
    outbox::SendQueue,
};
use crate::figures::TransportFigures;

/// Receives the events of all peers.
#[derive(Debug)]
pub struct PeerEvents {
    items: mpsc::Receiver<SessionTaskEvent>,
    up: UpPeers,
    /// The newest session seen of each peer that ever was allowed.
    newest: BTreeMap<PeerId, SessionNumber>,
    /// A session to announce after the end of the one that it replaces.
    next: Option<(PeerId, SessionNumber, Arc<SendQueue>)>,
    metrics: Arc<TransportFigures>,
}

impl PeerEvents {
    pub(super) fn new(
        items: mpsc::Receiver<SessionTaskEvent>,
        up: UpPeers,
        metrics: Arc<TransportFigures>,
    ) -> Self {
        Self { items, up, newest: BTreeMap::new(), next: None, metrics }
    }

    /// Waits for the next event. Returns `None` when all sessions have stopped. Nothing is lost
    /// when this is cancelled.
    pub async fn recv(&mut self) -> Option<PeerEvent> {
        loop {
            if let Some((peer, session, outbox)) = self.next.take() {
                self.up.lock().insert(peer, (session, outbox));
                self.count();
                return Some(PeerEvent::PeerUp(peer));
            }
            let SessionTaskEvent { peer, session, what } = self.items.recv().await?;
            // Sessions are numbered in the order of their making, but each announces itself from a
            // task of its own. So a late event of an older session is skipped.
            let newest = self.newest.entry(peer).or_default();
            if session < *newest {
                continue;
            }
            *newest = session;
            match what {
                SessionTaskEventKind::Opened(outbox) => {
                    self.next = Some((peer, session, outbox));
                    if self.up.lock().remove(&peer).is_some() {
                        self.count();
                        return Some(PeerEvent::PeerDown { peer, end: PeerEnd::Replaced });
                    }
                }
                SessionTaskEventKind::Frame(bytes, share) => {
                    drop(share);
                    return Some(PeerEvent::Frame { peer, bytes });
                }
                SessionTaskEventKind::Ended(end) => {
                    self.up.lock().remove(&peer);
                    self.count();
                    match end {
                        PeerEnd::Silent | PeerEnd::Stuck | PeerEnd::TooSlow => {
                            self.metrics.lane_sessions_timed_out_total.inc();
                        }
                        PeerEnd::Oversize(_) => {
                            self.metrics.lane_sessions_refused_total.inc();
                        }
                        _ => {}
                    }
                    return Some(PeerEvent::PeerDown { peer, end });
                }
            }
        }
    }

    fn count(&self) {
        self.metrics.lane_sessions.set(self.up.lock().len() as u64);
    }
}
