//! Connections, and how much each peer may say.

use std::{collections::BTreeMap, time::Duration};

use metatopia_types::PublicKey;

use crate::limits;

/// A connection, or one in the making, and what its peer used up of its rations in this cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeerLink {
    pub(crate) is_up: bool,
    used: Duration,
    frames: u32,
    exchanges: u32,
    evidence: u32,
    pulls: u32,
    /// Records that the peer was asked for.
    asked: u32,
    /// Records that the peer named and has not shown yet, less two for each that it has. Half of them
    /// are forgiven each cycle.
    owed: u32,
    /// Shelves that the peer was asked for.
    pub(crate) shelves: u32,
    /// The moment until which its tips are passed over.
    pub(crate) passed_over: Duration,
}

/// PeerLinks by key.
#[derive(Clone, Debug, Default)]
pub(crate) struct PeerLinks {
    links: BTreeMap<PublicKey, PeerLink>,
}

impl PeerLinks {
    pub(crate) fn get_mut(&mut self, peer: PublicKey) -> Option<&mut PeerLink> {
        self.links.get_mut(&peer)
    }

    pub(crate) fn is_up(&self, peer: PublicKey) -> bool {
        self.links.get(&peer).is_some_and(|link| link.is_up)
    }

    pub(crate) fn len(&self) -> usize {
        self.links.len()
    }

    /// Notes that a frame goes to a peer. Returns whether it has to be dialled first.
    pub(crate) fn use_or_dial(&mut self, peer: PublicKey, now: Duration) -> bool {
        let is_new = !self.links.contains_key(&peer);
        self.links.entry(peer).or_default().used = now;
        is_new
    }

    pub(crate) fn up(&mut self, peer: PublicKey, now: Duration) {
        let link = self.links.entry(peer).or_default();
        (link.is_up, link.used) = (true, now);
    }

    pub(crate) fn remove(&mut self, peer: PublicKey) {
        self.links.remove(&peer);
    }

    /// Takes the least used connection away that may go, if there are too many.
    pub(crate) fn excess(&mut self, is_kept: impl Fn(PublicKey) -> bool) -> Option<PublicKey> {
        if self.links.len() <= limits::OVERLAY_CONNECTIONS_MAX {
            return None;
        }
        let free = self.links.iter().filter(|(peer, link)| link.is_up && !is_kept(**peer));
        let (peer, _) = free.min_by_key(|(_, link)| link.used)?;
        let peer = *peer;
        self.links.remove(&peer);
        Some(peer)
    }

    /// Begins a new cycle of rations.
    pub(crate) fn forgive(&mut self) {
        for link in self.links.values_mut() {
            (link.frames, link.exchanges, link.evidence, link.pulls) = (0, 0, 0, 0);
            link.owed /= 2;
            link.asked /= 2;
        }
    }
}

impl PeerLink {
    /// Counts a frame. Returns whether it may be read.
    pub(crate) fn takes_frame(&mut self, bytes: usize, now: Duration) -> bool {
        let kibibytes = u32::try_from(bytes.div_ceil(1_024)).unwrap_or(u32::MAX);
        self.frames = self.frames.saturating_add(kibibytes.max(1));
        self.used = now;
        self.frames <= limits::FRAMES_PER_CYCLE_MAX
    }

    /// Counts an exchange that the peer began. Returns whether it is answered.
    pub(crate) fn takes_exchange(&mut self) -> bool {
        self.exchanges = self.exchanges.saturating_add(1);
        self.exchanges <= limits::EXCHANGES_PER_CYCLE_MAX
    }

    /// Counts a piece of evidence that came. Returns whether it is looked at.
    pub(crate) fn takes_evidence(&mut self) -> bool {
        self.evidence = self.evidence.saturating_add(1);
        self.evidence <= limits::EVIDENCE_PER_CYCLE_MAX
    }

    /// Counts a question about kept evidence. Returns whether it is answered.
    pub(crate) fn takes_pull(&mut self) -> bool {
        self.pulls = self.pulls.saturating_add(1);
        self.pulls <= limits::PULLS_PER_CYCLE_MAX
    }

    /// Counts a record that came. Returns whether it may be looked at.
    pub(crate) fn takes_record(&mut self) -> bool {
        let was_asked = self.asked > 0;
        self.asked = self.asked.saturating_sub(1);
        was_asked
    }

    /// Counts a record that was good.
    pub(crate) fn showed(&mut self) {
        self.owed = self.owed.saturating_sub(2);
    }

    /// Counts records that the peer named and was asked for.
    pub(crate) fn owes(&mut self, count: usize, until: Duration) {
        self.asked = self.asked.saturating_add(count as u32);
        self.owed = self.owed.saturating_add(count as u32);
        if self.owed > limits::EMPTY_TIPS_MAX {
            self.passed_over = until;
        }
    }
}
