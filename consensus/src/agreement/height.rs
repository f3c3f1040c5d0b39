//! A height from its first round to its decision.

use std::sync::Arc;
use std::time::Duration;

use metatopia_types::{Certificate, Evidence, HeaderId, Height, PublicKey, Round, VoteKind};

use super::{Agreement, StepContext};
use crate::core::{CoreInput, CoreOutput, Stuck, Wait};
use crate::height_state::{Grounds, HeightState, Judged};
use crate::outbox::DurabilityNeed;
use crate::patience::PATIENCE_MIN;
use crate::timers::Alarm;
use crate::{
    AgreementEffect, Decision, Halt, Message, Recipients, Record, Step, turn_store, turn_time,
};

impl Agreement {
    /// Tells the core all there is to tell, judging what it accepts on the way.
    pub(super) fn pump(&mut self, cx: &mut StepContext<'_>) {
        loop {
            if self.halted {
                return;
            }
            self.judge(cx);
            let Some(input) = self.core_inputs.pop_front() else {
                return;
            };
            self.tell(input, cx);
            if let Some((certificate, evidence)) = self.closing.take() {
                self.close(certificate, evidence, cx);
                self.begin(cx);
            }
        }
    }

    /// Tells the core one thing, and does what it says.
    pub(super) fn tell(&mut self, input: CoreInput, cx: &mut StepContext<'_>) {
        match self.core.tell(input) {
            Ok(says) => {
                for says in says {
                    if self.halted {
                        return;
                    }
                    self.carry_out(says, cx);
                }
            }
            Err(Stuck(what)) => self.halt(Halt::Replay { height: self.height(), what }),
        }
    }

    /// Begins the next height, as soon as it is known who votes there.
    pub(super) fn begin(&mut self, cx: &mut StepContext<'_>) {
        while !self.begun && !self.halted {
            let height = self.height();
            let voters = if self.controls.stale_set { height.0.max(2) - 1 } else { height.0 };
            let Some(set) = self.chain.set(Height(voters)).cloned() else {
                return;
            };
            self.begun = true;
            self.height_state = HeightState::default();
            self.signs = self.may_sign && !self.muted && !self.silent;
            self.core.set_signing(self.signs);
            let input = CoreInput::Height(height, set);
            match self.logged.remove(&height) {
                Some(records) => self.replay(input, records, cx),
                None => self.tell(input, cx),
            }
            // The log of a height may hold all that decides it.
            if let Some((certificate, evidence)) = self.closing.take() {
                self.close(certificate, evidence, cx);
                continue;
            }
            for (from, message) in self.peers.begin(height) {
                self.hear(from, height, message);
            }
        }
    }

    /// Closes the height with its decided turn.
    fn close(
        &mut self,
        certificate: Certificate,
        evidence: Vec<Evidence>,
        cx: &mut StepContext<'_>,
    ) {
        let (height, header) = (certificate.height, certificate.header);
        let turn = self.turn_store.turn(header).cloned();
        let turn = turn.expect("the core decides what was called valid, and its bytes are kept");
        self.log_turn(header);
        self.outbox.append(Record::Decided(certificate.clone()));
        let seen = self.height_state.get(header).map(|candidate| candidate.seen);
        self.seen = seen.unwrap_or(cx.now.monotonic);
        cx.host.decided(&turn);
        let decision = Arc::new(Decision { certificate, turn });
        self.chain.decide(Arc::clone(&decision));
        // Without a vote of ours in it, others have decided: that is so, whatever our log holds.
        let bond =
            if self.signs || !self.muted { DurabilityNeed::Signed } else { DurabilityNeed::Free };
        self.outbox.decided(decision, bond);
        for found in evidence.into_iter().filter(|_| !self.controls.evidence_ignored) {
            self.outbox.push(AgreementEffect::Evidence(found));
        }
        self.begun = false;
        self.core_inputs.clear();
        self.timers.stop_height();
        self.turn_store.retire(height);
        self.catch_up.retire(height);
        self.promises.retain(|promised, _| *promised > height);
        self.sign_again();
    }

    fn carry_out(&mut self, says: CoreOutput, cx: &mut StepContext<'_>) {
        match says {
            CoreOutput::Log(record) => {
                self.note(&record, cx);
                if self.signs_here() && !self.leaves_out(&record) {
                    self.outbox.append(record);
                }
            }
            CoreOutput::Publish(message) => self.publish(message),
            CoreOutput::Restream(header) => self.send_parts(header),
            CoreOutput::Wait(wait) => self.start_waiting(wait, cx),
            CoreOutput::StopWaiting(wait) => {
                self.timers.stop(Alarm::Core(wait));
            }
            CoreOutput::StopAllWaits => self.timers.stop_core(),
            CoreOutput::Build(round) => self.height_state.build = Some(round),
            CoreOutput::Certified { round, proposer, header } => {
                self.judge_certified(round, proposer, header, cx)
            }
            CoreOutput::BadCertificate(height) => self.blame(height),
            CoreOutput::Decided(certificate, evidence) => {
                self.closing = Some((certificate, evidence))
            }
        }
    }

    /// Returns whether this server signs at the height that has begun. If so, it logs what its core accepts,
    /// because after a crash it must come to the same votes.
    pub(super) fn signs_here(&self) -> bool {
        let set = self.chain.set(self.height());
        self.signs && set.is_some_and(|set| set.get(&self.me).is_some())
    }

    /// Returns whether a broken rule keeps this record out of the log.
    fn leaves_out(&self, record: &Record) -> bool {
        match record {
            Record::Vote(vote) if vote.message.voter == self.me => self.controls.votes_not_logged,
            Record::Vote(vote) => {
                self.controls.lock_not_logged && vote.message.kind == VoteKind::Prevote
            }
            Record::Polka(_) => self.controls.lock_not_logged,
            Record::Timeout(_) => self.controls.votes_not_logged,
            _ => false,
        }
    }

    /// Notes what the core accepted.
    fn note(&mut self, record: &Record, cx: &StepContext<'_>) {
        let now = cx.now.monotonic;
        match record {
            Record::Proposal(proposal) => self.height_state.propose(proposal, now),
            Record::Vote(vote) => {
                let vote = &vote.message;
                self.height_state.vote(vote, now);
                let nil = vote.kind == VoteKind::Precommit && vote.header.is_none();
                let wait = Alarm::Core(Wait { round: vote.round, step: Some(Step::Precommit) });
                if nil && self.timers.is_set(wait) && self.is_over(vote.round) {
                    self.timers.set(wait, now);
                }
            }
            Record::Verdict(verdict) => {
                let grounds = self.grounds(verdict.header);
                let candidate = self.height_state.get(verdict.header);
                if candidate.is_none_or(|candidate| candidate.judged.is_none()) {
                    let judged = Judged { valid: verdict.valid, hopeless: false, grounds };
                    self.height_state.judge(verdict.header, judged, now);
                }
            }
            Record::Timeout(timeout) => {
                // Too late to propose in this round.
                if timeout.step == Step::Propose && self.height_state.build == Some(timeout.round) {
                    self.height_state.build = None;
                }
            }
            Record::Polka(_) => {}
            Record::Turn(_)
            | Record::Early(_)
            | Record::Decided(_)
            | Record::Applied { .. }
            | Record::Voice
            | Record::Silence
            | Record::Healed { .. }
            | Record::Recovered(_) => unreachable!("not a record of the core"),
        }
    }

    /// Returns what a verdict about a turn can rest on now.
    pub(super) fn grounds(&self, header: HeaderId) -> Grounds {
        // Before its first round the core knows no proposal.
        let now = self.core.round().unwrap_or_default();
        Grounds {
            proposals: self.height_state.get(header).map_or(0, |candidate| candidate.counted(now)),
            polka: self.core.polka_round(header, now),
        }
    }

    fn is_over(&self, round: Round) -> bool {
        let set = self.chain.set(self.height());
        set.is_some_and(|set| self.height_state.is_over(round, set))
    }

    fn publish(&mut self, message: Message) {
        match &message {
            Message::Vote(vote) if vote.message.kind == VoteKind::Precommit => {
                let ours = vote.message.voter == self.me;
                self.height_state.precommitted = vote.message.header.filter(|_| ours);
            }
            Message::Proposal(proposal) => {
                let promise = self.promises.get(&proposal.message.height);
                if promise.is_some_and(|promise| promise.sent && promise.proposal == *proposal) {
                    return;
                }
            }
            _ => {}
        }
        self.outbox.send(Recipients::All, message, DurabilityNeed::Signed);
    }

    /// Sends a turn to everybody. Parts bind nobody, so they do not wait for the log.
    pub(super) fn send_parts(&mut self, header: HeaderId) {
        let Some(turn) = self.turn_store.turn(header).cloned() else {
            return;
        };
        for part in turn_store::parts(&turn) {
            self.outbox.send(Recipients::All, Message::Part(part), DurabilityNeed::Free);
        }
    }

    /// Writes a turn's bytes into the log, once. Always before what relies on them.
    pub(super) fn log_turn(&mut self, header: HeaderId) {
        if self.turn_store.mark_logged(header) && !self.controls.turns_not_logged {
            let turn = self.turn_store.turn(header).expect("a turn that was marked just now");
            self.outbox.append(Record::Turn(Arc::clone(turn)));
        }
    }

    fn start_waiting(&mut self, wait: Wait, cx: &StepContext<'_>) {
        let (now, patience) = (cx.now.monotonic, &self.config.patience);
        let more = patience.grown_by(wait.round);
        let at = match wait.step {
            Some(Step::Propose) if self.is_gone(wait.round) => self.due(cx).max(now),
            Some(Step::Propose) => now.max(self.latest_leave()) + patience.propose + more,
            Some(Step::Prevote) => now + patience.prevote + more,
            // Nothing can be decided in this round any more: waiting would be in vain.
            Some(Step::Precommit) if self.is_over(wait.round) => now,
            Some(Step::Precommit) => now + patience.precommit + more,
            None => now + patience.rebroadcast.max(PATIENCE_MIN) + more,
        };
        self.timers.set(Alarm::Core(wait), at);
    }

    /// Returns whether the connection to the proposer of this round is known to be gone.
    fn is_gone(&self, round: Round) -> bool {
        let set = self.chain.set(self.height());
        set.is_some_and(|set| self.peers.is_down(&set.proposer(self.height(), round)))
    }

    /// Ends the wait for a proposal if its proposer is gone, but keeps the pace. Timeouts are
    /// always safe.
    pub(super) fn on_peer_down(&mut self, peer: PublicKey, cx: &StepContext<'_>) {
        self.peers.down(peer);
        let (Some(round), Some(proposer)) = (self.round(), self.proposer()) else {
            return;
        };
        let wait = Alarm::Core(Wait { round, step: Some(Step::Propose) });
        if proposer == peer && self.timers.is_set(wait) {
            let at = self.due(cx).max(cx.now.monotonic);
            self.timers.set(wait, at);
        }
    }

    /// Returns when the next turn may leave by our clock.
    pub(super) fn due(&self, cx: &StepContext<'_>) -> Duration {
        let previous = self.chain.tip().time;
        turn_time::due(cx.now, previous, self.seen, self.config.turn_length)
    }

    /// Returns when the next turn may leave by anybody's clock.
    fn latest_leave(&self) -> Duration {
        self.seen + Duration::from_millis(self.config.turn_length)
    }
}
