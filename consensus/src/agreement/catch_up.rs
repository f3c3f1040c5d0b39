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
use crate::{AgreementEffect, Decision, Message, turn_store};

/// Decisions that wait for their height.
#[derive(Debug, Default)]
pub(super) struct CatchUp {
    ahead: BTreeMap<Height, (PublicKey, Decision)>,
    /// How often we asked: whom to ask goes round.
    asked: usize,
    /// Whom we asked last, and for the heights up to which.
    last: Option<(PublicKey, Height)>,
    /// Whether others are asked for nothing.
    held: bool,
    /// The decision whose certificate the core is looking at.
    trying: Option<(PublicKey, Decision)>,
}

impl CatchUp {
    /// Returns how many decisions wait.
    pub(super) fn len(&self) -> usize {
        self.ahead.len()
    }

    /// Returns the heights of the decisions that wait.
    pub(super) fn held(&self) -> Vec<Height> {
        self.ahead.keys().copied().collect()
    }

    pub(super) fn retire(&mut self, height: Height) {
        self.ahead = self.ahead.split_off(&height.plus(1));
        self.trying = None;
    }

    /// Takes the decision that came with the certificate for this header, and who sent it.
    pub(super) fn take_certified(&mut self, header: HeaderId) -> Option<(PublicKey, Decision)> {
        self.trying.take().filter(|(_, decision)| decision.turn.id() == header)
    }

    /// Puts a decision back, so that it is looked at again.
    pub(super) fn again(&mut self, from: PublicKey, decision: Decision) {
        self.ahead.insert(decision.height(), (from, decision));
    }
}

impl Agreement {
    /// Looks whether others are ahead, again and again.
    pub(super) fn look_around(&mut self, cx: &StepContext<'_>) {
        let pause = self.config.patience.sync.max(crate::patience::PATIENCE_MIN);
        self.timers.set(Alarm::Sync, cx.now.monotonic + pause);
        self.ask_for_tips();
        let height = self.height();
        let ahead = self.peers.at_or_above(height.plus(1));
        let far = !self.peers.at_or_above(height.plus(ROOT_LAG + 1)).is_empty();
        // A server that is one height ahead is normal for a moment. A height that lasts is not.
        let lasts = core::mem::replace(&mut self.height_state.looked, true);
        if !ahead.is_empty() && (far || lasts) {
            self.ask(&ahead);
        }
    }

    /// Stops or resumes asking others for decided turns. It stops while a state is on its way that
    /// makes those turns needless. Turns that others send unasked still count.
    pub fn hold(&mut self, held: bool) {
        self.catch_up.held = held;
    }

    fn ask(&mut self, peers: &[PublicKey]) {
        if self.catch_up.held {
            return;
        }
        let missing = |height: &Height| !self.catch_up.ahead.contains_key(height);
        let heights = (0..DECISIONS_AHEAD_MAX).map(|n| self.height().plus(n));
        let (Some(first), false) = (heights.into_iter().find(missing), peers.is_empty()) else {
            return;
        };
        self.catch_up.asked = self.catch_up.asked.wrapping_add(1);
        let peer = peers[self.catch_up.asked % peers.len()];
        let last = first.plus(u64::from(DECISIONS_PER_ANSWER_MAX) - 1);
        self.catch_up.last = Some((peer, last));
        let message = Message::Ask { from: first };
        self.outbox.answer(peer, message, DurabilityNeed::Free);
    }

    /// Sends the decision of a height to a peer that still votes there. If it was decided long ago,
    /// the peer is stuck, and its vote is a call for help.
    pub(super) fn help(&mut self, peer: PublicKey, height: Height, cx: &StepContext<'_>) {
        let normal = height.plus(1) >= self.height() && !self.left_with(height);
        if self.muted || self.controls.no_help || normal {
            return;
        }
        let Some(decision) = self.chain.decision(height).cloned() else {
            return;
        };
        let pause = self.config.patience.sync / 2;
        let known = self.peers.get(peer);
        if known.is_some_and(|known| known.may_ask(cx.now.monotonic, pause)) {
            let message = Message::Decision((*decision).clone());
            self.outbox.answer(peer, message, DurabilityNeed::Signed);
        }
    }

    /// Returns whether this was the last height at which this server voted. Then no later vote of this server
    /// tells others that the height is decided, and perhaps its precommit was the one that decided it.
    fn left_with(&self, height: Height) -> bool {
        let voted = self.chain.set(height).is_some_and(|set| set.get(&self.me).is_some());
        voted && self.height_state.looked && !self.signs_here()
    }

    /// Answers a peer that asks for decisions.
    pub(super) fn on_ask(&mut self, peer: PublicKey, first: Height, cx: &StepContext<'_>) {
        let pause = self.config.patience.sync / 2;
        let known = self.peers.get(peer);
        let may = known.is_some_and(|known| known.may_ask(cx.now.monotonic, pause));
        let deaf = self.muted || self.controls.no_help;
        if deaf || !may || first == Height(0) || first >= self.height() {
            return;
        }
        let heights = (0..u64::from(DECISIONS_PER_ANSWER_MAX)).map(|n| first.plus(n));
        let held = heights.map_while(|height| self.chain.decision(height));
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
        let asked = self.catch_up.last.is_some_and(|(peer, _)| peer == from);
        // Others may help with the height we are stuck at, but not fill our memory.
        let help = height == now && self.is_member(&from);
        if !help && (!asked || self.catch_up.ahead.contains_key(&height)) {
            return;
        }
        let (certificate, turn) = (&decision.certificate, &decision.turn);
        let fits = certificate.header == turn.id()
            && turn.header.height == height
            && certificate.signatures.len() <= VALIDATORS_MAX
            && turn_store::has_own_body(turn);
        if fits {
            self.catch_up.ahead.insert(height, (from, decision));
        }
    }

    /// Tells the core of the certificate of the open height, if one waits and its turn can be
    /// judged. If all that we asked for is used up, asks for more.
    pub(super) fn take_ahead(&mut self) {
        let height = self.height();
        if self.catch_up.last.is_some_and(|(_, last)| last < height) {
            self.catch_up.last = None;
            let far = self.peers.at_or_above(height.plus(ROOT_LAG + 1));
            self.ask(&far);
        }
        let Some(place) = self.place().filter(|_| self.core_inputs.is_empty()) else {
            return;
        };
        // A root that only the log vouches for may be one that a crash kept from being healed. The host
        // computes it again and finds out; a decision that does not fit it would halt us for good.
        if self.logged_roots.contains_key(&place.root_height) {
            return;
        }
        if let Some((from, decision)) = self.catch_up.ahead.remove(&height) {
            self.core_inputs.push_back(CoreInput::Certificate(decision.certificate.clone()));
            self.catch_up.trying = Some((from, decision));
        }
    }

    /// Forgets what the sender of a bad certificate sent. It is asked for nothing until it names a
    /// height again.
    pub(super) fn blame(&mut self, _height: Height) {
        let Some((from, _)) = self.catch_up.trying.take() else {
            return;
        };
        self.catch_up.ahead.retain(|_, (peer, _)| *peer != from);
        self.catch_up.last = None;
        if let Some(peer) = self.peers.get(from) {
            peer.height = Height(0);
        }
    }
}
