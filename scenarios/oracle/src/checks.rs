//! Checks of what servers say, one by one.

use metatopia_consensus::{Decision, Message};
use metatopia_types::{
    Certificate, Header, HeaderId, Height, Proposal, PublicKey, Round, Signature, Signed, Vote,
    VoteKind,
};

use crate::disk::LogDisk;
use crate::journal::JournalEntry;
use crate::law::Law;
use crate::oracle::{Forbidden, Oracle};
use crate::words::Slot;

impl Oracle {
    /// An honest server lets a message out.
    pub fn saw_message(&mut self, seat: usize, message: &Message, disk: &dyn LogDisk) {
        match message {
            Message::Vote(vote) => self.check_vote(seat, vote, disk),
            Message::Proposal(proposal) => self.check_proposal(seat, proposal, disk),
            Message::Polka(polka) => {
                for (voter, signature) in &polka.signatures {
                    let vote = Vote {
                        kind: VoteKind::Prevote,
                        height: polka.height,
                        round: polka.round,
                        header: Some(polka.header),
                        voter: *voter,
                    };
                    self.check_quoted(seat, vote, *signature, disk);
                }
            }
            Message::RoundProof(proof) => {
                for quoted in &proof.votes {
                    let vote = Vote {
                        kind: quoted.kind,
                        height: proof.height,
                        round: proof.round,
                        header: quoted.header,
                        voter: quoted.voter,
                    };
                    self.check_quoted(seat, vote, quoted.signature, disk);
                }
            }
            Message::Decision(decision) => self.saw_decision(seat, decision, disk),
            Message::Part(_)
            | Message::Want(_)
            | Message::Ask { .. }
            | Message::AskTip { .. }
            | Message::Tip { .. } => {}
        }
    }

    fn check_vote(&mut self, seat: usize, vote: &Signed<Vote>, disk: &dyn LogDisk) {
        self.check_quoted(seat, vote.message.clone(), vote.signature, disk);
        if vote.message.voter == self.founding.names[seat]
            && let Some(turn) = vote.message.header
        {
            self.check_value(seat, vote.message.height, turn, disk);
        }
    }

    /// A vote that a server shows, its own or another's.
    fn check_quoted(&mut self, seat: usize, vote: Vote, signature: Signature, disk: &dyn LogDisk) {
        let signed = Signed { message: vote, signature };
        if self.words.knows(&signed.signature) {
            return;
        }
        let vote = &signed.message;
        let own = vote.voter == self.founding.names[seat];
        if own && !self.journals[seat].is_durable(&JournalEntry::Signature(signature), disk) {
            self.blame(Some(seat), Law::NotDurable, || format!("{vote:?}"));
        }
        let Some(voter) = self.honest_seat(&vote.voter) else {
            return;
        };
        let said = vote.sign_bytes(self.founding.sim);
        if !self.founding.verifier.verify(&vote.voter, &said, &signature) {
            // Somebody puts words into its mouth. Honest servers do not hand such on.
            self.blame(Some(seat), Law::Certificate, || format!("shows a forged {vote:?}"));
            return;
        }
        let slot = Slot::vote(vote);
        if let Some(before) = self.words.contradicts(slot, &format!("{:?}", vote.header)) {
            let what = || format!("{vote:?}, and before that {before}");
            self.blame(Some(voter), Law::DoubleSign, what);
        }
        self.words.note_voter(self.now, vote.voter, vote.height);
        self.words.learn(signature);
        self.check_lock(voter, vote);
        self.locks.note(vote);
    }

    /// The rule of locks: what a vote for a turn rests on.
    fn check_lock(&mut self, voter: usize, vote: &Vote) {
        let Some(header) = vote.header else {
            return;
        };
        if vote.kind == VoteKind::Precommit {
            if self.may_have_quorum(vote, header, vote.round) == Some(false) {
                let what = || format!("{vote:?}, for which no quorum prevoted");
                self.blame(Some(voter), Law::Polka, what);
            }
            return;
        }
        let Some((locked_in, locked)) = self.locks.before(vote).filter(|(_, id)| *id != header)
        else {
            return;
        };
        let rounds = (locked_in.0..vote.round.0).map(Round);
        let mut quorums = rounds.map(|round| self.may_have_quorum(vote, header, round));
        if quorums.all(|quorum| quorum == Some(false)) {
            let what = || format!("{vote:?}, locked on {locked:?} since round {locked_in}");
            self.blame(Some(voter), Law::Lock, what);
        }
    }

    /// Returns whether a quorum may have prevoted for a turn in a round of this vote's height, or `None` if
    /// it is not known who votes there.
    fn may_have_quorum(&self, vote: &Vote, header: HeaderId, round: Round) -> Option<bool> {
        let mut voters = self.locks.prevoters(vote.height, header, round);
        voters.insert(vote.voter);
        let liars = (0..self.founding.names.len()).filter(|seat| !self.honest[*seat]);
        voters.extend(liars.map(|seat| self.founding.names[seat]));
        let (power, total) = self.electorate.power_of(vote.height, voters.into_iter())?;
        Some(power * 3 > total * 2)
    }

    fn check_proposal(&mut self, seat: usize, signed: &Signed<Proposal>, disk: &dyn LogDisk) {
        let proposal = &signed.message;
        let own = proposal.proposer == self.founding.names[seat];
        if !own || self.words.knows(&signed.signature) {
            return;
        }
        if !self.journals[seat].is_durable(&JournalEntry::Signature(signed.signature), disk) {
            self.blame(Some(seat), Law::NotDurable, || format!("{proposal:?}"));
        }
        let said = format!("{:?} {:?}", proposal.header, proposal.valid_round);
        if let Some(before) = self.words.contradicts(Slot::proposal(proposal), &said) {
            let what = || format!("{proposal:?}, and before that {before}");
            self.blame(Some(seat), Law::DoubleSign, what);
        }
        self.words.note_voter(self.now, proposal.proposer, proposal.height);
        self.check_value(seat, proposal.height, proposal.header, disk);
        self.words.learn(signed.signature);
    }

    /// An honest server vouches for a turn.
    fn check_value(&mut self, seat: usize, height: Height, turn: HeaderId, disk: &dyn LogDisk) {
        if !self.journals[seat].is_durable(&JournalEntry::Turn(turn), disk) {
            self.blame(Some(seat), Law::UnseenTurn, || format!("{turn:?} at {height}"));
        }
        let Some(Forbidden { why, ahead }) = self.void.get(&turn).copied() else {
            return;
        };
        let excused = ahead.is_some_and(|time| self.may_find_fresh(seat, height, time));
        if !excused {
            self.blame(Some(seat), Law::VoidTurn, || format!("{turn:?} at {height}: {why}"));
        }
    }

    /// A server gives clients a receipt of an act in the turn with this header.
    pub fn saw_receipt(&mut self, seat: usize, header: &Header, disk: &dyn LogDisk) {
        self.check_told(seat, header.height, header.id(), disk);
    }

    /// Checks what a server tells clients or peers of a decided turn.
    pub fn saw_decision(&mut self, seat: usize, decision: &Decision, disk: &dyn LogDisk) {
        let (height, id) = (decision.height(), decision.id());
        if !self.check_told(seat, height, id, disk) {
            return;
        }
        for (voter, signature) in &decision.certificate.signatures {
            let vote = precommit(&decision.certificate, *voter);
            self.check_quoted(seat, vote, *signature, disk);
        }
        self.check_decided(seat, decision);
    }

    /// Checks that what a server tells is durable. Returns whether it is news from this server. A server that
    /// is mute may tell of turns that it could forget: others decided them.
    fn check_told(
        &mut self,
        seat: usize,
        height: Height,
        id: HeaderId,
        disk: &dyn LogDisk,
    ) -> bool {
        let journal = &mut self.journals[seat];
        if self.muted.contains(&seat) && !journal.keeps(height, id, disk) {
            return true;
        }
        let news = self.history.note_told(seat, height, id);
        if news && !self.journals[seat].keeps(height, id, disk) {
            self.blame(Some(seat), Law::NotDurable, || format!("{id:?} told at {height}"));
        }
        news
    }

    /// Checks a turn that a server takes for decided: it tells of it, or writes it down.
    pub(crate) fn check_decided(&mut self, seat: usize, decision: &Decision) {
        if self.checked.insert((seat, decision.id())) {
            self.check_certificate(seat, decision);
            self.check_turn(seat, decision);
        }
    }

    fn check_certificate(&mut self, seat: usize, decision: &Decision) {
        let certificate = &decision.certificate;
        let height = certificate.height;
        let Some((power, total)) =
            self.electorate.power_of(height, certificate.signatures.iter().map(|s| s.0))
        else {
            return; // Its turn comes when the turns before it have been told.
        };
        if power * 3 <= total * 2 {
            let what = || format!("{power} of {total} decide {height}");
            self.blame(Some(seat), Law::Certificate, what);
        }
        for (voter, signature) in &certificate.signatures {
            let said = precommit(certificate, *voter).sign_bytes(self.founding.sim);
            if !self.founding.verifier.verify(voter, &said, signature) {
                let what = || format!("the signature of {voter:?} at {height} is wrong");
                self.blame(Some(seat), Law::Certificate, what);
            }
        }
    }

    fn check_turn(&mut self, seat: usize, decision: &Decision) {
        let (height, turn) = (decision.height(), &decision.turn);
        let id = turn.id();
        if id != decision.id() || turn.header.height != height {
            self.blame(Some(seat), Law::Chain, || format!("{id:?} is told as {height}"));
        }
        if let Some(other) = self.history.disagrees(height, id) {
            self.blame(Some(seat), Law::Agreement, || {
                format!("{id:?} at {height}, where others have {other:?}")
            });
            return;
        }
        // The first who tells of a height extends the one history.
        if !self.history.extend(turn) {
            return;
        }
        let latest = self.latest_time(height);
        if let Some(what) = self.history.time_is_wrong(height, self.founding.turn_length, latest) {
            self.blame(Some(seat), Law::Time, || format!("{height}: {what}"));
        }
        self.follow_membership();
    }
}

/// Returns the vote for which a signature in a certificate stands.
fn precommit(certificate: &Certificate, voter: PublicKey) -> Vote {
    let (height, round) = (certificate.height, certificate.round);
    Vote { kind: VoteKind::Precommit, height, round, header: Some(certificate.header), voter }
}
