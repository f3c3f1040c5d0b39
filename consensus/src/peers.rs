//! What is known of each peer, and how much it may ask for.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use metatopia_types::{Height, PublicKey};

use crate::Message;
use crate::limits::{EARLY_FRAMES_PER_PEER_MAX, PEERS_MAX, WANT_ANSWERS_MAX};

/// What is known of one peer.
#[derive(Debug, Default)]
pub(crate) struct Peer {
    /// The connection to it is gone.
    down: bool,
    /// The highest height it spoke of as its own.
    pub height: Height,
    /// What it said about heights that have not begun here.
    early: VecDeque<(Height, Message)>,
    /// Answers to wants that it may get now are this many fewer than at most.
    wants: u32,
    /// Up to when wants were forgiven.
    forgiven: Duration,
    /// When it was last sent a decision unasked, or an answer to a question.
    answered: Option<Duration>,
    /// Its answer to our question how far it is.
    pub tip: Option<Height>,
}

/// The peers by name.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    peers: BTreeMap<PublicKey, Peer>,
}

impl Peers {
    /// Returns the peer with this name, or none if there are too many already.
    pub(crate) fn get(&mut self, name: PublicKey) -> Option<&mut Peer> {
        if !self.peers.contains_key(&name) && self.peers.len() >= PEERS_MAX {
            let gone = self.peers.iter().find(|(_, peer)| peer.down);
            let gone = gone.map(|(name, _)| *name)?;
            self.peers.remove(&gone);
        }
        Some(self.peers.entry(name).or_default())
    }

    pub(crate) fn up(&mut self, name: PublicKey) {
        if let Some(peer) = self.get(name) {
            peer.down = false;
        }
    }

    pub(crate) fn down(&mut self, name: PublicKey) {
        if let Some(peer) = self.get(name) {
            peer.down = true;
        }
    }

    /// Returns whether the connection to this peer is known to be gone.
    pub(crate) fn is_down(&self, name: &PublicKey) -> bool {
        self.peers.get(name).is_some_and(|peer| peer.down)
    }

    /// Returns how many peers are remembered.
    pub(crate) fn len(&self) -> usize {
        self.peers.len()
    }

    /// Returns the most messages that wait of one peer.
    pub(crate) fn early_most(&self) -> usize {
        self.peers.values().map(|peer| peer.early.len()).max().unwrap_or(0)
    }

    /// Returns the peers that are at this height or above it and may be reached.
    pub(crate) fn at_or_above(&self, height: Height) -> Vec<PublicKey> {
        let peers = self.peers.iter();
        let ahead = peers.filter(|(_, peer)| peer.height >= height && !peer.down);
        ahead.map(|(name, _)| *name).collect()
    }

    /// Returns the height that each peer says it is at, of those that may be reached.
    pub(crate) fn heights(&self) -> impl Iterator<Item = (PublicKey, Height)> + '_ {
        let peers = self.peers.iter().filter(|(_, peer)| !peer.down);
        peers.map(|(name, peer)| (*name, peer.height))
    }

    pub(crate) fn tips(&self) -> impl Iterator<Item = (PublicKey, Height)> + '_ {
        let peers = self.peers.iter();
        peers.filter_map(|(name, peer)| peer.tip.map(|tip| (*name, tip)))
    }

    /// Begins a new height. Returns what was said about it, peer by peer in the order of their
    /// names, and forgets what was said about earlier ones.
    pub(crate) fn begin(&mut self, height: Height) -> Vec<(PublicKey, Message)> {
        let mut said = Vec::new();
        for (name, peer) in &mut self.peers {
            for (at, message) in core::mem::take(&mut peer.early) {
                if at == height {
                    said.push((*name, message));
                } else if at > height {
                    peer.early.push_back((at, message));
                }
            }
        }
        said
    }
}

impl Peer {
    /// Keeps a message for a height that has not begun. The oldest one goes if there are too many:
    /// what is said again later matters more.
    pub(crate) fn hold(&mut self, height: Height, message: Message) {
        self.early.push_back((height, message));
        if self.early.len() > EARLY_FRAMES_PER_PEER_MAX {
            self.early.pop_front();
        }
    }

    /// Returns whether this peer may get another answer to a want, and counts that answer. A peer gets a few
    /// at once, and one more after each `pause`.
    pub(crate) fn may_want(&mut self, now: Duration, pause: Duration) -> bool {
        while self.wants > 0 && now >= self.forgiven + pause {
            self.forgiven += pause;
            self.wants -= 1;
        }
        if self.wants == 0 {
            self.forgiven = now;
        }
        let may = self.wants < WANT_ANSWERS_MAX;
        self.wants += u32::from(may);
        may
    }

    /// Returns whether this peer may get decisions, because it got none for `pause`, and notes that it gets
    /// them now.
    pub(crate) fn may_ask(&mut self, now: Duration, pause: Duration) -> bool {
        let rested = self.answered.is_none_or(|last| now >= last + pause);
        if rested {
            self.answered = Some(now);
        }
        rested
    }
}
