//! Connections and frames between members.

use metatopia_raynet::{OverlayEffect, OverlayInput};

use super::{Happening, OverlayTown, member_key, number_of};
use crate::CERTAIN_PPM;

/// How long it takes until a dial that nobody answers fails.
const DIAL_FAILS: u64 = 1_000_000;

/// Microseconds that the shortest way of a frame takes, and how many more the longest one takes.
const TRAVEL: (u64, u64) = (10_000, 90_000);

impl OverlayTown {
    /// Returns how long a frame travels between two members: always the same, so none overtakes.
    pub(super) fn travel(&self, one: usize, other: usize) -> u64 {
        let pair = (one.min(other) as u64) << 32 | one.max(other) as u64;
        let mixed = (pair ^ self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        TRAVEL.0 + (mixed >> 32) % TRAVEL.1
    }

    pub(super) fn effect(&mut self, member: usize, effect: OverlayEffect) {
        match effect {
            OverlayEffect::Dial { peer, .. } => self.dial(member, number_of(peer)),
            OverlayEffect::Close(peer) => {
                let peer = number_of(peer);
                if self.members[member].connections.remove(&peer).is_some() {
                    self.members[peer].connections.remove(&member);
                    let travel = self.travel(member, peer);
                    self.later(
                        travel,
                        Happening::Input(peer, OverlayInput::Closed(member_key(member))),
                    );
                }
            }
            OverlayEffect::Send { to, frame } => {
                let liar = self.members[member].liar.as_mut();
                let frame = liar.map_or_else(|| frame.clone(), |liar| liar.says(frame.clone()));
                self.post(member, number_of(to), frame);
            }
            OverlayEffect::Found(answer) => {
                self.found.insert(answer.id, *answer);
            }
            OverlayEffect::Evidence(_) => *self.evidence.entry(member).or_default() += 1,
            // Nobody here has sockets.
            OverlayEffect::DialBack { .. } => {}
            OverlayEffect::ShelfWanted(point) => {
                let shelf = self.land.shelf(point).filter(|_| self.has_office);
                if let Some(proof) = shelf.map(|shelf| shelf.proof.clone()) {
                    self.later(TRAVEL.1, Happening::Input(member, OverlayInput::Shelf(proof)));
                }
            }
        }
    }

    fn dial(&mut self, member: usize, peer: usize) {
        if peer >= self.members.len() || !self.lives(peer) {
            let is_refused = self.left.contains(&peer);
            let after = if is_refused { 2 * self.travel(member, peer) } else { DIAL_FAILS };
            self.later(after, Happening::Input(member, OverlayInput::DialFailed(member_key(peer))));
            return;
        }
        let after = 2 * self.travel(member, peer);
        let open = *self.members[member].connections.entry(peer).or_insert(self.now + after);
        self.members[peer].connections.insert(member, open);
        for (one, other) in [(member, peer), (peer, member)] {
            self.later(after, Happening::Input(one, OverlayInput::Up(member_key(other))));
        }
    }

    pub(super) fn post(&mut self, member: usize, to: usize, bytes: Vec<u8>) {
        let Some(open) = self.members[member].connections.get(&to).copied() else { return };
        if self.loss_ppm > 0 && self.dice.below(CERTAIN_PPM.into()) < u64::from(self.loss_ppm) {
            return;
        }
        let after = open.saturating_sub(self.now) + self.travel(member, to);
        self.later(after, Happening::Frame(member, to, open, bytes));
    }
}
