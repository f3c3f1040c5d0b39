//! Silence of a server that does not know what it signed.
//!
//! A server whose log is lost, and whose key is not new, may have signed at heights it knows nothing
//! of. It asks everybody how far they are, and speaks only when servers with more than two thirds of
//! the voting power have answered with heights that it is [`MARGIN`] past.
//!
//! Why that is enough: say the earlier life voted last at height X. It had decided X - 1, so a
//! quorum had precommitted there, f honest others among them; each of those had decided X - 2. If it
//! had precommitted at X, or promised a turn for X + 1, a quorum had prevoted at X, and f honest
//! others had decided X - 1. An answer of a quorum without us leaves out at most f - 1 others, so it
//! comes from one of those f: it says at least X - 2, or X - 1 in the second case. Two heights
//! further is X, or X + 1: decided, so never to be signed at again.
//!
//! A liar that names too low a height is one of the f that the count allows for; one that names too
//! high a height only does not count. If the world cannot go on without this server, it stays
//! silent: then a new key is the way.

use metatopia_types::{Height, PublicKey, ValidatorSet};

use super::{Agreement, StepContext};
use crate::core::CoreInput;
use crate::outbox::DurabilityNeed;
use crate::timers::Alarm;
use crate::{Message, Recipients, Record};

/// How far past an answered height a server must be.
const MARGIN: u64 = 2;

impl Agreement {
    /// Lets this server sign from now on, and notes that in the log.
    pub(super) fn begin_to_sign(&mut self) {
        self.may_sign = true;
        self.outbox.append(Record::Voice);
    }

    /// Asks until enough have answered.
    pub(super) fn ask_for_tips(&mut self) {
        let Some(set) = self.chain.set(self.height()) else {
            return;
        };
        if !self.may_sign && self.power_of_answers(set, |_| true) < set.quorum() {
            let nonce = self.nonce;
            self.outbox.send(Recipients::All, Message::AskTip { nonce }, DurabilityNeed::Free);
        }
    }

    /// Says how far we are; unless our own log was lost, for then we do not know how far we were.
    pub(super) fn on_ask_tip(&mut self, from: PublicKey, nonce: u64) {
        if self.may_sign && !self.muted {
            // Not before the decision is durable: the asker relies on it.
            let height = self.chain.tip().height;
            let message = Message::Tip { nonce, height };
            self.outbox.answer(from, message, DurabilityNeed::Signed);
        }
    }

    pub(super) fn on_tip(
        &mut self,
        from: PublicKey,
        nonce: u64,
        height: Height,
        cx: &mut StepContext<'_>,
    ) {
        if self.may_sign || nonce != self.nonce {
            return;
        }
        if let Some(peer) = self.peers.get(from) {
            // Any answer of this life will do, and the first is the lowest: later ones would have
            // us run after the others for ever.
            peer.tip.get_or_insert(height);
        }
        self.sign_again_now(cx);
    }

    /// Ends the silence between two heights, if that is safe.
    pub(super) fn sign_again(&mut self) {
        if !self.may_sign && self.is_past_everything() {
            self.begin_to_sign();
        }
    }

    fn is_past_everything(&self) -> bool {
        let Some(set) = self.chain.set(self.height()).filter(|_| !self.controls.stays_silent)
        else {
            return false;
        };
        let tip = self.chain.tip().height;
        self.power_of_answers(set, |height| height.plus(MARGIN) <= tip) >= set.quorum()
    }

    /// Returns the voting power of the other servers that answered with a height that `counts`.
    fn power_of_answers(&self, set: &ValidatorSet, counts: impl Fn(Height) -> bool) -> u64 {
        let answers = self.peers.tips().filter(|(_, height)| counts(*height));
        let members = answers.filter_map(|(key, _)| set.get(&key).filter(|_| key != self.me));
        members.map(|member| u64::from(member.power)).sum()
    }

    /// Ends it in the middle of a height: the core begins the height again, this time to vote.
    fn sign_again_now(&mut self, cx: &mut StepContext<'_>) {
        if !self.begun || !self.is_past_everything() {
            return;
        }
        self.begin_to_sign();
        self.begin_again(cx);
    }

    /// Notes that the log cannot grow, or that it can again.
    ///
    /// A server falls silent at the next height: what it said at this one waits for the log, and
    /// counts here. It may sign again at once, because it has said nothing at a height that began
    /// while it was muted.
    pub(super) fn mute(&mut self, muted: bool, cx: &mut StepContext<'_>) {
        self.muted = muted;
        if !muted && !self.silent && self.may_sign && self.begun && !self.signs {
            self.begin_again(cx);
        }
    }

    fn begin_again(&mut self, cx: &mut StepContext<'_>) {
        let candidates = self.height_state.candidates().values();
        let proposals: Vec<_> = candidates.flat_map(|c| c.proposals.clone()).collect();
        self.core_inputs.clear();
        self.timers.stop_height();
        self.timers.stop(Alarm::Leave);
        self.begun = false;
        self.begin(cx);
        for proposal in proposals {
            self.core_inputs.push_back(CoreInput::Proposal(proposal));
        }
    }
}
