//! Catching up, and helping others to.

use std::collections::BTreeMap;

use metatopia_types::{
    HeaderId, Height, PublicKey, limits::ROOT_LAG, limits::VALIDATORS_MAX, wire,
};

use super::{Agreement, StepContext};
use crate::core::CoreInput;
use crate::limits::{ANSWER_BYTES_MAX, DECISIONS_AHEAD_MAX, DECISIONS_PER_ANSWER_MAX};
use crate::outbox::DurabilityNeed;
use crate::timers::Alarm;
use crate::{AgreementEffect, Decision, Message, depot};

/// Decisions that wait for their height.
#[derive(Debug, Default)]
pub(super) struct Sync {
    ahead: BTreeMap<Height, (PublicKey, Decision)>,
    /// How often we asked: whom to ask goes round.
    asked: usize,
    /// Whom we asked last, and for the heights up to which.
    last: Option<(PublicKey, Height)>,
    /// Are others asked for nothing?
    held: bool,
    /// The decision whose certificate the core is looking at.
    trying: Option<(PublicKey, Decision)>,
}

impl Sync {
    /// How many decisions wait.
    pub(super) fn len(&self) -> usize {
        self.ahead.len()
    }

    /// The heights of the decisions that wait.
    pub(super) fn held(&self) -> Vec<Height> {
        self.ahead.keys().copied().collect()
    }

    pub(super) fn retire(&mut self, height: Height) {
        self.ahead = self.ahead.split_off(&height.plus(1));
        self.trying = None;
    }

    /// The decision that came with the certificate for this header, and who sent it.
    pub(super) fn take_certified(&mut self, header: HeaderId) -> Option<(PublicKey, Decision)> {
        self.trying.take().filter(|(_, decision)| decision.turn.id() == header)
    }

    /// A decision is to be looked at again.
    pub(super) fn again(&mut self, from: PublicKey, decision: Decision) {
        self.ahead.insert(decision.height(), (from, decision));
    }
}

impl Agreement {
    /// Looks whether others are ahead, again and again.
    pub(super) fn look_around(&mut self, cx: &StepContext<'_>) {
        let pause = self.config.patience.sync.max(super::height::PATIENCE_MIN);
        self.timers.set(Alarm::Sync, cx.now.monotonic + pause);
        self.ask_for_tips();
        let height = self.height();
        let ahead = self.peers.at_or_above(height.plus(1));
        let far = !self.peers.at_or_above(height.plus(ROOT_LAG + 1)).is_empty();
        // A server that is one height ahead is normal for a moment. A height that lasts is not.
        let lasts = core::mem::replace(&mut self.ballot.looked, true);
        if !ahead.is_empty() && (far || lasts) {
            self.ask(&ahead);
        }
    }

    /// While true, others are not asked for decided turns: a state is on its way that makes them
    /// needless. What they say by themselves counts as ever.
    pub fn hold(&mut self, held: bool) {
        self.sync.held = held;
    }

    fn ask(&mut self, peers: &[PublicKey]) {
        if self.sync.held {
            return;
        }
        let missing = |height: &Height| !self.sync.ahead.contains_key(height);
        let heights = (0..DECISIONS_AHEAD_MAX).map(|n| self.height().plus(n));
        let (Some(first), false) = (heights.into_iter().find(missing), peers.is_empty()) else {
            return;
        };
        self.sync.asked = self.sync.asked.wrapping_add(1);
        let peer = peers[self.sync.asked % peers.len()];
        let last = first.plus(u64::from(DECISIONS_PER_ANSWER_MAX) - 1);
        self.sync.last = Some((peer, last));
        let message = Message::Ask { from: first };
        self.outbox.answer(peer, message, DurabilityNeed::Free);
    }

    /// A peer votes at a height that is decided. If that was long ago it is stuck: its vote is a
    /// call for help.
    pub(super) fn help(&mut self, peer: PublicKey, height: Height, cx: &StepContext<'_>) {
        let normal = height.plus(1) >= self.height() && !self.left_with(height);
        if self.muted || self.controls.no_help || normal {
            return;
        }
        let Some(decision) = self.past.decision(height).cloned() else {
            return;
        };
        let pause = self.config.patience.sync / 2;
        let known = self.peers.get(peer);
        if known.is_some_and(|known| known.may_ask(cx.now.monotonic, pause)) {
            let message = Message::Decision((*decision).clone());
            self.outbox.answer(peer, message, DurabilityNeed::Signed);
        }
    }

    /// Was this the last height that we voted at, and does the next one last? Then nobody learns
    /// from our votes that it is decided, and perhaps it was with our precommit alone.
    fn left_with(&self, height: Height) -> bool {
        let voted = self.past.set(height).is_some_and(|set| set.get(&self.me).is_some());
        voted && self.ballot.looked && !self.signs_here()
    }

    /// A peer asks for decisions.
    pub(super) fn on_ask(&mut self, peer: PublicKey, first: Height, cx: &StepContext<'_>) {
        let pause = self.config.patience.sync / 2;
        let known = self.peers.get(peer);
        let may = known.is_some_and(|known| known.may_ask(cx.now.monotonic, pause));
        let deaf = self.muted || self.controls.no_help;
        if deaf || !may || first == Height(0) || first >= self.height() {
            return;
        }
        let heights = (0..u64::from(DECISIONS_PER_ANSWER_MAX)).map(|n| first.plus(n));
        let held = heights.map_while(|height| self.past.decision(height));
        let held: Vec<Decision> = held.map(|decision| (**decision).clone()).collect();
        if held.is_empty() {
            self.outbox.push(AgreementEffect::Load {
                to: peer,
                from: first,
                count: DECISIONS_PER_ANSWER_MAX,
            });
        } else {
            self.on_loaded(peer, held);
        }
    }

    /// Hands decisions to who asked for them. At least one, then as many as an answer may have.
    pub(super) fn on_loaded(&mut self, peer: PublicKey, decisions: Vec<Decision>) {
        let mut bytes = 0;
        for decision in decisions.into_iter().take(DECISIONS_PER_ANSWER_MAX as usize) {
            let length = wire::length(decision.turn.as_ref());
            if bytes > 0 && bytes + length > ANSWER_BYTES_MAX {
                return;
            }
            bytes += length;
            // Our own precommit may be part of the certificate.
            self.outbox.answer(peer, Message::Decision(decision), DurabilityNeed::Signed);
        }
    }

    /// Keeps a decision that somebody sent us, if it can be of use.
    pub(super) fn on_decision(&mut self, from: PublicKey, decision: Decision) {
        let (height, now) = (decision.height(), self.height());
        if height < now || height >= now.plus(DECISIONS_AHEAD_MAX) {
            return;
        }
        let asked = self.sync.last.is_some_and(|(peer, _)| peer == from);
        // Others may help with the height we are stuck at, but not fill our memory.
        let help = height == now && self.is_member(&from);
        if !help && (!asked || self.sync.ahead.contains_key(&height)) {
            return;
        }
        let (certificate, turn) = (&decision.certificate, &decision.turn);
        let fits = certificate.header == turn.id()
            && turn.header.height == height
            && certificate.signatures.len() <= VALIDATORS_MAX
            && depot::has_own_body(turn);
        if fits {
            self.sync.ahead.insert(height, (from, decision));
        }
    }

    /// Tells the core of the certificate of the open height, if one waits and its turn can be
    /// judged. If all that we asked for is used up, asks for more.
    pub(super) fn take_ahead(&mut self) {
        let height = self.height();
        if self.sync.last.is_some_and(|(_, last)| last < height) {
            self.sync.last = None;
            let far = self.peers.at_or_above(height.plus(ROOT_LAG + 1));
            self.ask(&far);
        }
        let Some(place) = self.place().filter(|_| self.told.is_empty()) else {
            return;
        };
        // A root that only the log vouches for may be one that a crash kept from being healed. The host
        // computes it again and finds out; a decision that does not fit it would halt us for good.
        if self.logged_roots.contains_key(&place.root_height) {
            return;
        }
        if let Some((from, decision)) = self.sync.ahead.remove(&height) {
            self.told.push_back(CoreInput::Certificate(decision.certificate.clone()));
            self.sync.trying = Some((from, decision));
        }
    }

    /// A certificate was bad. Its sender is asked for nothing until it speaks of a height again.
    pub(super) fn blame(&mut self, _height: Height) {
        let Some((from, _)) = self.sync.trying.take() else {
            return;
        };
        self.sync.ahead.retain(|_, (peer, _)| *peer != from);
        self.sync.last = None;
        if let Some(peer) = self.peers.get(from) {
            peer.height = Height(0);
        }
    }
}
