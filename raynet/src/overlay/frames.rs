//! Frames that come and go.

use std::collections::BTreeSet;

use metatopia_types::PublicKey;

use super::Overlay;
use crate::{OverlayEffect, OverlayMessage, limits::OVERLAY_FRAME_BYTES_MAX, peers::PeerLink};

impl Overlay {
    /// Sends a message to a peer, and dials it if that is needed and its address is known.
    pub(super) fn send(&mut self, to: PublicKey, address: Option<&str>, message: &OverlayMessage) {
        if to == self.config.peer {
            return;
        }
        if !self.peers.is_up(to) {
            let Some(address) = address else { return };
            if self.peers.use_or_dial(to, self.now.monotonic) {
                self.out.push_back(OverlayEffect::Dial { peer: to, address: address.to_owned() });
                self.close_excess();
            }
        }
        self.peers.use_or_dial(to, self.now.monotonic);
        let frame = message.encode();
        assert!(frame.len() <= OVERLAY_FRAME_BYTES_MAX, "a frame of {} bytes", frame.len());
        self.counts.frames += 1;
        self.counts.bytes += frame.len() as u64;
        self.out.push_back(OverlayEffect::Send { to, frame });
    }

    pub(super) fn close_excess(&mut self) {
        let speakers = self.view.iter().filter_map(|name| self.sites.get(*name)?.speaker());
        let kept: BTreeSet<PublicKey> = speakers.map(|speaker| speaker.peer).collect();
        while let Some(peer) = self.peers.excess(|peer| kept.contains(&peer)) {
            self.out.push_back(OverlayEffect::Close(peer));
        }
    }

    /// Takes a frame in: first what costs least.
    pub(super) fn frame(&mut self, from: PublicKey, bytes: &[u8]) {
        let now = self.now.monotonic;
        if from == self.config.peer {
            return;
        }
        // The transport tells of a connection before its frames.
        let Some(link) = self.peers.get_mut(from).filter(|link| link.is_up) else { return };
        if !link.takes_frame(bytes.len(), now) {
            self.counts.rationed += 1;
            return;
        }
        let Ok(message) = OverlayMessage::decode(bytes) else {
            self.counts.malformed += 1;
            return;
        };
        self.sites.heard(from, now);
        match message {
            OverlayMessage::Exchange(half) => self.exchanged(from, &half, true),
            OverlayMessage::Answer(half) => self.exchanged(from, &half, false),
            OverlayMessage::Want(names) => self.give_records(from, &names),
            OverlayMessage::Records(records) => self.take_records(from, records),
            OverlayMessage::WantShelves(points) => self.give_shelves(from, &points),
            OverlayMessage::Shelf(proof) => self.take_shelf(from, &proof),
            OverlayMessage::Seek { nonce, point, most, map } => {
                self.answer_seek(from, nonce, point, usize::from(most), map);
            }
            OverlayMessage::Nearer(answer) => self.nearer_came(from, answer),
            OverlayMessage::Evidence(evidence) => {
                let takes = self.peers.get_mut(from).is_some_and(PeerLink::takes_evidence);
                if takes {
                    self.learn_evidence(evidence, Some(from));
                } else {
                    self.counts.rationed += 1;
                    self.pull_soon();
                }
            }
            OverlayMessage::Pull(said) => self.pulled(from, said),
            OverlayMessage::DialBack(said) => {
                self.out.push_back(OverlayEffect::DialBack { from, said });
            }
        }
    }
}
