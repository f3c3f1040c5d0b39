//! Watches simulated servers and says what they did wrong.
//!
//! It knows the rules from the design, not from the code: it counts voting power, follows the
//! membership and compares histories by itself, and calls none of production's checks. What it
//! shares with production are the shapes of messages and records, the digests that name things, and
//! signatures.

mod electorate;
mod history;
mod journal;
mod words;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use metatopia_consensus::{Decision, Message};
use metatopia_store::Write;
use metatopia_store::memory::MemoryDisk;
use metatopia_types::{
    Evidence, HeaderId, Height, Millis, Proposal, PublicKey, Round, Signature, Signed, SimId,
    Verify, Vote, VoteKind,
};

use super::setting::Setting;
use electorate::Electorate;
pub use history::History;
pub(crate) use journal::record;
use journal::{Entry, Journal};
use words::{Slot, Words};

/// Faults that are written down; more of one run add nothing.
const FAULTS_KEPT: usize = 40;

/// Kinds of wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    /// Two servers decided different turns at one height.
    Disagreement,
    /// An honest server signed two things in one place.
    DoubleSign,
    /// Something was said whose record could still be lost.
    NotDurable,
    /// A vote for a turn whose bytes the voter could still lose, or never had.
    UnseenTurn,
    /// A vote for a turn that a liar made void.
    VoidTurn,
    /// A vote or a proposal of somebody who is no member at that height.
    Outsider,
    /// A certificate without more than two thirds of the voting power, or with a wrong signature.
    Certificate,
    /// A turn with a time that no honest clock allows, or that does not follow from the last.
    Time,
    /// A turn that does not follow the one before it, or heights that jump.
    Chain,
    /// A turn or an act that the outside was told of is gone, or an act is there twice.
    Lost,
    /// Two servers computed different roots.
    Root,
    /// Something that had been durable is gone after a restart.
    Forgotten,
    /// A server stopped for good.
    Halted,
    /// Evidence that proves nothing.
    Slander,
    /// The world stands still although nothing is wrong any more.
    Stuck,
}

/// Something that a server must not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// When.
    pub at: Duration,
    /// Who, if it is somebody.
    pub seat: Option<usize>,
    /// What kind.
    pub wrong: Wrong,
    /// What exactly.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3?}", self.at)?;
        if let Some(seat) = self.seat {
            write!(f, ", server {seat}")?;
        }
        write!(f, ": {:?}: {}", self.wrong, self.what)
    }
}

/// See the module.
#[derive(Debug)]
pub struct Oracle {
    sim: SimId,
    names: Vec<PublicKey>,
    verifier: Verifier,
    /// Which seats are held to the rules.
    honest: Vec<bool>,
    now: Duration,
    faults: Vec<Fault>,
    faults_total: u64,
    words: Words,
    journals: Vec<Journal>,
    history: History,
    electorate: Electorate,
    /// Turns that a liar made, and that nobody honest may vote for.
    void: BTreeMap<HeaderId, &'static str>,
    /// The highest that any honest wall clock ever showed.
    wall_most: Millis,
    turn_length: u64,
    evidence: BTreeMap<PublicKey, u64>,
}

struct Verifier(Arc<dyn Verify>);

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Verifier")
    }
}

impl Oracle {
    /// An oracle for the sim of `setting`; the seats in `liars` may do what they want.
    #[must_use]
    pub fn new(setting: &Setting, liars: &[usize]) -> Self {
        let seats = setting.keys.len();
        let names: Vec<_> = (0..seats).map(|seat| setting.name(seat)).collect();
        let founders = names[..setting.founders].to_vec();
        // Two seats with one name are one liar.
        let alone = |seat: usize| names.iter().filter(|name| **name == names[seat]).count() == 1;
        Self {
            sim: setting.sim,
            honest: (0..seats)
                .map(|seat| !liars.contains(&seat) && alone(seat))
                .collect(),
            verifier: Verifier(Arc::clone(&setting.verifier)),
            now: Duration::ZERO,
            faults: Vec::new(),
            faults_total: 0,
            words: Words::default(),
            journals: (0..seats).map(|_| Journal::default()).collect(),
            history: History::new(seats),
            electorate: Electorate::new(founders, setting.admin.public()),
            void: BTreeMap::new(),
            wall_most: Millis(0),
            turn_length: setting.turn_length,
            evidence: BTreeMap::new(),
            names,
        }
    }

    /// What is wrong so far.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// How often each kind of wrong was seen; of many only the first are kept.
    #[must_use]
    pub fn wrongs(&self) -> BTreeMap<Wrong, u64> {
        let mut wrongs = BTreeMap::new();
        for fault in &self.faults {
            *wrongs.entry(fault.wrong).or_default() += 1;
        }
        wrongs
    }

    /// Whom how many pieces of evidence accuse.
    #[must_use]
    pub const fn evidence(&self) -> &BTreeMap<PublicKey, u64> {
        &self.evidence
    }

    /// The turns that were told to be decided.
    #[must_use]
    pub const fn history(&self) -> &History {
        &self.history
    }

    /// Whether this seat is held to the rules.
    #[must_use]
    pub fn is_honest(&self, seat: usize) -> bool {
        self.honest[seat]
    }

    /// Nobody honest may vote for this turn.
    pub fn forbid(&mut self, turn: HeaderId, why: &'static str) {
        self.void.insert(turn, why);
    }

    /// Writes a fault down.
    pub fn blame(&mut self, seat: Option<usize>, wrong: Wrong, what: impl FnOnce() -> String) {
        self.faults_total += 1;
        if self.faults.len() < FAULTS_KEPT {
            let fault = Fault {
                at: self.now,
                seat,
                wrong,
                what: what(),
            };
            self.faults.push(fault);
        }
    }

    /// Time goes on; these are the wall clocks.
    pub(crate) fn watch_clocks(&mut self, at: Duration, wall: impl Fn(usize) -> Millis) {
        self.now = at;
        for seat in (0..self.honest.len()).filter(|seat| self.honest[*seat]) {
            self.wall_most = self.wall_most.max(wall(seat));
        }
    }

    /// A server appends to its log.
    pub(crate) fn saw_write(&mut self, seat: usize, write: &Write, disk: &MemoryDisk) {
        if let Some((height, root)) = self.journals[seat].note(write, disk) {
            if self.honest[seat] && !self.history.agrees_on_root(height, root) {
                self.blame(Some(seat), Wrong::Root, || {
                    format!("another root after {height}")
                });
            }
        }
    }

    /// The disk of a server was taken away: it has said nothing that it remembers.
    pub fn forget_disk(&mut self, seat: usize) {
        self.journals[seat].clear();
        self.history.forget_told(seat);
    }

    /// At which heights the server in `seat` voted or proposed, ascending.
    #[must_use]
    pub fn voted_at(&self, seat: usize) -> Vec<Height> {
        self.words.heights_of(self.names[seat])
    }

    /// How many vote at a height, as far as turns were told.
    #[must_use]
    pub fn voters_at(&self, height: Height) -> Option<usize> {
        self.electorate.size(height)
    }

    /// A process died, before its disk changes.
    pub(crate) fn saw_death(&mut self, seat: usize, disk: &MemoryDisk) {
        self.journals[seat].note_death(disk);
    }

    /// A process started, after it recovered its log.
    pub(crate) fn saw_start(&mut self, seat: usize, disk: &MemoryDisk) {
        for entry in self.journals[seat].reread(disk) {
            self.blame(Some(seat), Wrong::Forgotten, || {
                format!("{entry:?} was durable")
            });
        }
    }

    /// An honest server lets a message out.
    pub(crate) fn saw_message(&mut self, seat: usize, message: &Message, disk: &MemoryDisk) {
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
            Message::Decision(decision) => self.check_told(seat, decision, disk),
            Message::Part(_)
            | Message::Want(_)
            | Message::Ask { .. }
            | Message::AskTip { .. }
            | Message::Tip { .. } => {}
        }
    }

    fn check_vote(&mut self, seat: usize, vote: &Signed<Vote>, disk: &MemoryDisk) {
        self.check_quoted(seat, vote.message.clone(), vote.signature, disk);
        if vote.message.voter == self.names[seat]
            && let Some(turn) = vote.message.header
        {
            self.check_value(seat, vote.message.height, turn, disk);
        }
    }

    /// A vote that a server shows, its own or another's.
    fn check_quoted(&mut self, seat: usize, vote: Vote, signature: Signature, disk: &MemoryDisk) {
        let signed = Signed {
            message: vote,
            signature,
        };
        if self.words.knows(&signed.signature) {
            return;
        }
        let vote = &signed.message;
        let own = vote.voter == self.names[seat];
        if own && !self.journals[seat].is_durable(&Entry::Signature(signature), disk) {
            self.blame(Some(seat), Wrong::NotDurable, || format!("{vote:?}"));
        }
        let Some(voter) = self.honest_seat(&vote.voter) else {
            return;
        };
        if !self
            .verifier
            .0
            .verify(&vote.voter, &vote.sign_bytes(self.sim), &signature)
        {
            // Somebody puts words into its mouth. Honest servers do not hand such on.
            self.blame(Some(seat), Wrong::Certificate, || {
                format!("shows a forged {vote:?}")
            });
            return;
        }
        let slot = Slot::vote(vote);
        if let Some(before) = self.words.contradicts(slot, &format!("{:?}", vote.header)) {
            let what = || format!("{vote:?}, and before that {before}");
            self.blame(Some(voter), Wrong::DoubleSign, what);
        }
        self.words.note_voter(vote.voter, vote.height);
        self.words.learn(signature);
    }

    fn check_proposal(&mut self, seat: usize, signed: &Signed<Proposal>, disk: &MemoryDisk) {
        let proposal = &signed.message;
        let own = proposal.proposer == self.names[seat];
        if !own || self.words.knows(&signed.signature) {
            return;
        }
        if !self.journals[seat].is_durable(&Entry::Signature(signed.signature), disk) {
            self.blame(Some(seat), Wrong::NotDurable, || format!("{proposal:?}"));
        }
        let said = format!("{:?} {:?}", proposal.header, proposal.valid_round);
        if let Some(before) = self.words.contradicts(Slot::proposal(proposal), &said) {
            let what = || format!("{proposal:?}, and before that {before}");
            self.blame(Some(seat), Wrong::DoubleSign, what);
        }
        self.words.note_voter(proposal.proposer, proposal.height);
        self.check_value(seat, proposal.height, proposal.header, disk);
        self.words.learn(signed.signature);
    }

    /// An honest server vouches for a turn.
    fn check_value(&mut self, seat: usize, height: Height, turn: HeaderId, disk: &MemoryDisk) {
        if !self.journals[seat].is_durable(&Entry::Turn(turn), disk) {
            self.blame(Some(seat), Wrong::UnseenTurn, || {
                format!("{turn:?} at {height}")
            });
        }
        if let Some(why) = self.void.get(&turn).copied() {
            self.blame(Some(seat), Wrong::VoidTurn, || {
                format!("{turn:?} at {height}: {why}")
            });
        }
    }

    /// A server tells clients or peers that a turn is decided.
    pub(crate) fn check_told(&mut self, seat: usize, decision: &Decision, disk: &MemoryDisk) {
        let (height, id) = (decision.height(), decision.id());
        if !self.history.note_told(seat, height, id) {
            return;
        }
        for entry in [Entry::Decided(height), Entry::Turn(id)] {
            if !self.journals[seat].is_durable(&entry, disk) {
                self.blame(Some(seat), Wrong::NotDurable, || format!("{entry:?} told"));
            }
        }
        let round: Round = decision.certificate.round;
        for (voter, signature) in &decision.certificate.signatures {
            let (kind, header, voter) = (VoteKind::Precommit, Some(id), *voter);
            let vote = Vote {
                kind,
                height,
                round,
                header,
                voter,
            };
            self.check_quoted(seat, vote, *signature, disk);
        }
        self.check_certificate(seat, decision);
        self.check_turn(seat, decision);
    }

    fn check_certificate(&mut self, seat: usize, decision: &Decision) {
        let certificate = &decision.certificate;
        let height = certificate.height;
        let Some((power, total)) = self
            .electorate
            .power_of(height, certificate.signatures.iter().map(|s| s.0))
        else {
            return; // Its turn comes when the turns before it have been told.
        };
        if power * 3 <= total * 2 {
            let what = || format!("{power} of {total} decide {height}");
            self.blame(Some(seat), Wrong::Certificate, what);
        }
        for (voter, signature) in &certificate.signatures {
            let message = certificate.vote(*voter).sign_bytes(self.sim);
            if !self.verifier.0.verify(voter, &message, signature) {
                let what = || format!("the signature of {voter:?} at {height} is wrong");
                self.blame(Some(seat), Wrong::Certificate, what);
            }
        }
    }

    fn check_turn(&mut self, seat: usize, decision: &Decision) {
        let (height, turn) = (decision.height(), &decision.turn);
        let id = turn.id();
        if id != decision.id() || turn.header.height != height {
            self.blame(Some(seat), Wrong::Chain, || {
                format!("{id:?} is told as {height}")
            });
        }
        if let Some(other) = self.history.disagrees(height, id) {
            self.blame(Some(seat), Wrong::Disagreement, || {
                format!("{id:?} at {height}, where others have {other:?}")
            });
            return;
        }
        // The first who tells of a height extends the one history.
        if !self.history.extend(turn) {
            return;
        }
        if let Some(what) = self.history.breaks(height) {
            self.blame(Some(seat), Wrong::Chain, || format!("{height}: {what}"));
        }
        let latest = self.wall_most.plus(500);
        if let Some(what) = self.history.time_is_wrong(height, self.turn_length, latest) {
            self.blame(Some(seat), Wrong::Time, || format!("{height}: {what}"));
        }
        self.follow_membership();
    }

    fn follow_membership(&mut self) {
        while let Some(turn) = self.history.turn(self.electorate.next_height()) {
            self.electorate.follow(turn, self.history.roots());
        }
    }

    /// A server shows evidence.
    pub(crate) fn saw_evidence(&mut self, seat: usize, evidence: &Evidence) {
        let (slots, contents, names, genuine) = match evidence {
            Evidence::Votes(a, b) => (
                (Slot::vote(&a.message), Slot::vote(&b.message)),
                (
                    format!("{:?}", a.message.header),
                    format!("{:?}", b.message.header),
                ),
                (a.message.voter, b.message.voter),
                [a, b].map(|vote| {
                    let said = vote.message.sign_bytes(self.sim);
                    self.verifier
                        .0
                        .verify(&vote.message.voter, &said, &vote.signature)
                }),
            ),
            Evidence::Proposals(a, b) => (
                (Slot::proposal(&a.message), Slot::proposal(&b.message)),
                (format!("{:?}", a.message), format!("{:?}", b.message)),
                (a.message.proposer, b.message.proposer),
                [a, b].map(|proposal| {
                    let said = proposal.message.sign_bytes(self.sim);
                    self.verifier
                        .0
                        .verify(&proposal.message.proposer, &said, &proposal.signature)
                }),
            ),
        };
        *self.evidence.entry(names.0).or_default() += 1;
        let proves = slots.0 == slots.1 && contents.0 != contents.1 && genuine == [true; 2];
        if !proves {
            self.blame(Some(seat), Wrong::Slander, || {
                format!("{evidence:?} proves nothing")
            });
        } else if let Some(victim) = self.honest_seat(&names.0) {
            self.blame(Some(victim), Wrong::DoubleSign, || format!("{evidence:?}"));
        }
    }

    fn honest_seat(&self, name: &PublicKey) -> Option<usize> {
        let seat = self.names.iter().position(|known| known == name)?;
        self.honest[seat].then_some(seat)
    }

    /// The run is over; `logs` is what each honest server's disk says in the end.
    pub(crate) fn close(
        &mut self,
        at: Duration,
        logs: &BTreeMap<usize, BTreeMap<Height, Arc<Decision>>>,
    ) {
        self.now = at;
        for (name, height) in self.words.voters() {
            if self.electorate.has_voted_outside(&name, height) {
                let seat = self.honest_seat(&name);
                self.blame(seat, Wrong::Outsider, || {
                    format!("{name:?} votes at {height}")
                });
            }
        }
        for (seat, decisions) in logs {
            for what in self.history.missing(*seat, decisions) {
                self.blame(Some(*seat), Wrong::Lost, || what);
            }
        }
    }
}
