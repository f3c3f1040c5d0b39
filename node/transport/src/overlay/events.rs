//! What the owner of the overlay's sessions receives, in order for each member.

use std::sync::Arc;

use libp2p::Multiaddr;
use metatopia_types::PublicKey;
use tokio::sync::mpsc;

use super::{GOODBYE, KnownMembers, OverlayEvent, names};
use crate::peers::{
    frame::{SessionNumber, SessionTaskEvent, SessionTaskEventKind},
    outbox::SendQueue,
};

/// Receives events of members.
#[derive(Debug)]
pub struct OverlayEvents {
    items: mpsc::Receiver<SessionTaskEvent>,
    failed: mpsc::Receiver<PublicKey>,
    found: mpsc::Receiver<(PublicKey, Multiaddr)>,
    known: KnownMembers,
}

impl OverlayEvents {
    pub(super) fn new(
        items: mpsc::Receiver<SessionTaskEvent>,
        (failed, found): (mpsc::Receiver<PublicKey>, mpsc::Receiver<(PublicKey, Multiaddr)>),
        known: KnownMembers,
    ) -> Self {
        Self { items, failed, found, known }
    }

    /// Waits for the next event. Returns `None` when all sessions have stopped. Nothing is lost when
    /// this is cancelled.
    pub async fn recv(&mut self) -> Option<OverlayEvent> {
        loop {
            let event = tokio::select! {
                // A session that opened is told before the failure of another dial.
                biased;
                item = self.items.recv() => self.session_event(item?),
                Some(member) = self.failed.recv() => self.failed(member),
                Some((member, address)) = self.found.recv() => {
                    Some(OverlayEvent::Found { member, address })
                }
            };
            if event.is_some() {
                return event;
            }
        }
    }

    fn session_event(&self, item: SessionTaskEvent) -> Option<OverlayEvent> {
        let SessionTaskEvent { peer, session, what } = item;
        let member = names::key_of(&peer)?;
        match what {
            SessionTaskEventKind::Opened(outbox) => self.opened(member, session, outbox),
            SessionTaskEventKind::Frame(bytes, share) => {
                drop(share);
                let is_goodbye = bytes.len() <= GOODBYE.len();
                if is_goodbye {
                    return self.ended(member, session).then_some(OverlayEvent::Closed(member));
                }
                let known = self.known.lock();
                let sessions = &known.get(&member)?.sessions;
                let is_open = sessions.iter().any(|(number, _)| *number == session);
                is_open.then_some(OverlayEvent::Frame { from: member, bytes })
            }
            SessionTaskEventKind::Ended(_) => {
                self.ended(member, session).then_some(OverlayEvent::Down(member))
            }
        }
    }

    fn opened(
        &self,
        member: PublicKey,
        session: SessionNumber,
        outbox: Arc<SendQueue>,
    ) -> Option<OverlayEvent> {
        // What was sent since the session opened.
        self.known.flush(member, &outbox);
        let mut known = self.known.lock();
        let entry = known.entry(member).or_default();
        entry.sessions.push((session, outbox));
        (entry.sessions.len() == 1).then_some(OverlayEvent::Up(member))
    }

    /// Takes a session away. Returns whether it was the member's last one.
    fn ended(&self, member: PublicKey, session: SessionNumber) -> bool {
        let mut known = self.known.lock();
        let Some(entry) = known.get_mut(&member) else { return false };
        let Some(place) = entry.sessions.iter().position(|(number, _)| *number == session) else {
            return false;
        };
        let (_, outbox) = entry.sessions.remove(place);
        outbox.cut();
        let is_last = entry.sessions.is_empty();
        if is_last {
            known.remove(&member);
        }
        is_last
    }

    fn failed(&self, member: PublicKey) -> Option<OverlayEvent> {
        let mut known = self.known.lock();
        if known.get(&member).is_none_or(|entry| !entry.sessions.is_empty()) {
            return None;
        }
        known.remove(&member);
        Some(OverlayEvent::DialFailed(member))
    }
}
