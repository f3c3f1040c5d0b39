//! Turns that others speak of and that are missing here.

use metatopia_types::{HeaderId, PublicKey};

use super::{Agreement, StepContext};
use crate::height_state::Candidate;
use crate::outbox::DurabilityNeed;
use crate::patience::PATIENCE_MIN;
use crate::timers::Alarm;
use crate::{Message, Recipients, Want};

impl Agreement {
    /// Sets an alarm for every turn that somebody speaks of and that is not wholly here.
    pub(super) fn want_missing(&mut self, cx: &StepContext<'_>) {
        let at = cx.now.monotonic + self.config.patience.want.max(PATIENCE_MIN);
        for (header, candidate) in self.height_state.candidates() {
            let alarm = Alarm::Want(*header);
            if self.is_missing(*header, candidate) && !self.timers.is_set(alarm) {
                self.timers.set(alarm, at);
            }
        }
    }

    /// Returns whether the turn or its proposal is missing here and the turn may still be decided. A turn
    /// that was last mentioned some rounds ago and never had a quorum will be mentioned again if it matters.
    fn is_missing(&self, header: HeaderId, candidate: &Candidate) -> bool {
        let missing = candidate.proposals.is_empty() || self.turn_store.turn(header).is_none();
        let recent = self.round().is_some_and(|now| now <= candidate.round.plus(1));
        missing && (recent || self.core.has_polka(header))
    }

    /// Asks one of those who have it for a turn that is missing here.
    pub(super) fn want(&mut self, header: HeaderId, cx: &StepContext<'_>) {
        let height = self.height();
        let candidate = self.height_state.get(header);
        if !candidate.is_some_and(|candidate| self.is_missing(header, candidate)) {
            return;
        }
        let candidate = self.height_state.get_mut(header).expect("it was there a line ago");
        let mut holders = candidate.holders();
        holders.remove(&self.me);
        let at = candidate.asked as usize % holders.len().max(1);
        candidate.asked = candidate.asked.wrapping_add(1);
        let Some(holder) = holders.into_iter().nth(at) else {
            return;
        };
        if self.controls.parts_dropped {
            self.turn_store.drop_parts(header);
        }
        let have = self.turn_store.have(holder, header);
        let want = Want { height, header, have };
        self.outbox.answer(holder, Message::Want(want), DurabilityNeed::Free);
        let pause = self.config.patience.want.max(PATIENCE_MIN);
        self.timers.set(Alarm::Want(header), cx.now.monotonic + pause);
    }

    /// Answers a want: with the proposal too, for nobody says one again, or with the decision.
    pub(super) fn on_want(&mut self, peer: PublicKey, want: Want, cx: &StepContext<'_>) {
        let (now, pause) = (cx.now.monotonic, self.config.patience.want);
        let known = self.peers.get(peer);
        if !known.is_some_and(|known| known.may_want(now, pause)) {
            return;
        }
        let decided = self.chain.decision(want.height).filter(|_| !self.controls.no_help);
        if let Some(decision) = decided.cloned() {
            let message = Message::Decision((*decision).clone());
            self.outbox.answer(peer, message, DurabilityNeed::Signed);
            return;
        }
        let candidate = self.height_state.get(want.header);
        let proposal = candidate.and_then(|candidate| candidate.proposal()).cloned();
        let promise = self.promises.get(&want.height).map(|promise| &promise.proposal);
        let promise = promise.filter(|promise| promise.message.header == want.header);
        if let Some(proposal) = proposal.or_else(|| promise.cloned()) {
            let message = Message::Proposal(proposal);
            self.outbox.answer(peer, message, DurabilityNeed::Signed);
        }
        for part in self.turn_store.answer(&want) {
            self.outbox.send(Recipients::One(peer), Message::Part(part), DurabilityNeed::Free);
        }
    }
}
