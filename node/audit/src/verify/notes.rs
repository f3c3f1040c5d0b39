//! The records besides decided turns: what servers signed on the way to them, and what this one noted.
//!
//! A signature is checked against its signer, who must vote at that height. This server's notes of
//! states are compared with the turns. Nothing proves the rest: a verdict, a time-out, or that a vote
//! came at all.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_consensus::{Polka, Record, TurnVerdict};
use metatopia_sim::{Applied, COURSE_ROOTS_KEPT, Unsound, World};
use metatopia_types::{
    CertificateError, Ed25519, Header, HeaderId, Height, Proposal, PublicKey, Recovery, Root,
    Round, Signed, SignedRecovery, Turn, ValidatorSet, ValidatorsId, Verify as _, Vote, VoteKind,
    limits::{ROOT_LAG, SET_LAG},
};

use super::{
    fault::{LogFault, LogFaultKind},
    replay::{Replay, check_body, push_height},
};

/// The claims of headers about a state: its root, and the sets before and after it.
#[derive(Clone, Copy)]
struct Stated {
    root: Root,
    /// The set of the header's own height, and that of the next.
    sets: [ValidatorsId; 2],
}

/// The notes of a server about its states, compared with the turns.
#[derive(Default)]
pub(super) struct StateNotes {
    /// The first note that the turns contradict, unless the server has repaired its state since.
    pub(super) fault: Option<LogFault>,
    /// How often the server repaired its state.
    pub(super) repairs: u64,
    /// The recoveries that the server took.
    pub(super) recoveries: Vec<Recovery>,
    /// The last height of a note.
    last: Option<Height>,
    /// The root after each applied turn, and the last two sets that are known then. The server notes
    /// the last one only if it differs from the one before it.
    found: BTreeMap<Height, (Root, [Option<ValidatorSet>; 2])>,
    /// The claims of headers, by the height of the state that they are about.
    stated: BTreeMap<Height, Stated>,
    /// The notes whose header was not read yet.
    waiting: BTreeMap<Height, (Root, Option<ValidatorsId>)>,
}

impl StateNotes {
    /// Takes the result of an applied turn.
    pub(super) fn applied(&mut self, applied: &Applied, world: &World) {
        let set = |ahead| world.validators(applied.height.plus(ahead)).cloned();
        self.found.insert(applied.height, (applied.root, [set(SET_LAG - 1), set(SET_LAG)]));
        if self.found.len() as u64 > COURSE_ROOTS_KEPT {
            self.found.pop_first();
        }
    }

    /// Takes the claims of a decided header about the state of two heights before.
    pub(super) fn stated(&mut self, header: &Header) {
        let Some(of) = header.height.minus(ROOT_LAG) else {
            return;
        };
        let sets = [header.validators, header.next_validators];
        self.stated.insert(of, Stated { root: header.root, sets });
        if self.stated.len() as u64 > COURSE_ROOTS_KEPT {
            self.stated.pop_first();
        }
        self.waiting = self.waiting.split_off(&of);
        if let Some((root, set)) = self.waiting.remove(&of) {
            self.compare_stated(of, root, set);
        }
    }

    /// Takes a note about the state after a turn.
    fn note(&mut self, of: Height, root: Root, set: Option<ValidatorSet>) -> Result<(), LogFault> {
        if let Some(last) = self.last.filter(|last| of <= *last) {
            return Err(LogFaultKind::NotedTwice(of).at(last.plus(1)));
        }
        self.last = Some(of);
        if let Some((found, [before, new])) = self.found.get(&of) {
            let (found, same) = (*found, set.as_ref().or(before.as_ref()) == new.as_ref());
            if found != root {
                self.contradict(of, LogFaultKind::NotedRoot { of, stated: root, found });
            } else if !same {
                self.contradict(of, LogFaultKind::NotedValidators(of));
            }
            return Ok(());
        }
        let set = set.map(|set| set.id());
        if self.stated.contains_key(&of) {
            self.compare_stated(of, root, set);
        } else {
            self.waiting.insert(of, (root, set));
        }
        Ok(())
    }

    fn compare_stated(&mut self, of: Height, root: Root, set: Option<ValidatorsId>) {
        let Some(Stated { root: found, sets: [own, next] }) = self.stated.get(&of).copied() else {
            return;
        };
        if found != root {
            self.contradict(of, LogFaultKind::NotedRoot { of, stated: root, found });
        } else if set.unwrap_or(own) != next {
            self.contradict(of, LogFaultKind::NotedValidators(of));
        }
    }

    fn contradict(&mut self, of: Height, kind: LogFaultKind) {
        self.fault.get_or_insert(kind.at(of));
    }

    /// Forgets the notes from this height on. The server may note these states again.
    fn forget(&mut self, from: Height) {
        self.last = self.last.filter(|last| *last < from).or(from.minus(1));
        self.fault.take_if(|fault| fault.height >= from);
        drop(self.waiting.split_off(&from));
    }
}

impl Replay {
    /// Checks a record that decides nothing.
    pub(super) fn check_record(&mut self, record: Record) -> Result<(), LogFault> {
        let at = self.log_height();
        // One of a height that is over is that height's fault.
        let place = record.height().map_or(at, |height| height.min(at));
        self.check_place(&record).map_err(|kind| kind.at(place))?;
        match record {
            Record::Turn(turn) => {
                self.check_turn(&turn).map_err(|kind| kind.at(at))?;
                self.proposed.insert(turn.id(), turn);
                Ok(())
            }
            Record::Vote(vote) => self.check_vote(&vote).map_err(|kind| kind.at(at)),
            Record::Proposal(proposal) => {
                let checked = self.check_proposal("proposal", &proposal);
                checked.map_err(|kind| kind.at(at))
            }
            Record::Early(promise) => self.check_promise(&promise).map_err(|kind| kind.at(at)),
            Record::Polka(polka) => self.check_polka(&polka).map_err(|kind| kind.at(at)),
            Record::Verdict(verdict) => self.check_verdict(&verdict).map_err(|kind| kind.at(at)),
            Record::Applied { height, root, validators } => {
                if height >= at {
                    return Err(LogFaultKind::NotedEarly(height).at(at));
                }
                self.notes.note(height, root, validators)
            }
            Record::Healed { from } => {
                self.notes.repairs += 1;
                self.notes.forget(from);
                Ok(())
            }
            Record::Recovered(signed) => {
                let height = signed.recovery.height.min(at);
                self.recover(&signed).map_err(|kind| kind.at(height))
            }
            // Nothing proves these or contradicts them.
            Record::Timeout(_) | Record::Voice | Record::Silence | Record::Decided(_) => Ok(()),
        }
    }

    /// Checks that a record of agreement is about the height under way. Bytes and promises may be about
    /// the next one.
    fn check_place(&self, record: &Record) -> Result<(), LogFaultKind> {
        let ahead = match record {
            Record::Turn(_) => 0..=1,
            Record::Early(_) => 1..=1,
            Record::Vote(_)
            | Record::Proposal(_)
            | Record::Polka(_)
            | Record::Verdict(_)
            | Record::Timeout(_) => 0..=0,
            Record::Healed { from } if *from > self.log_height() => 0..=0,
            _ => return Ok(()),
        };
        let (height, at) = (record.height().unwrap_or_default(), self.log_height());
        let ahead_by = height.0.checked_sub(at.0);
        if ahead_by.is_some_and(|by| ahead.contains(&by)) {
            return Ok(());
        }
        Err(LogFaultKind::Misplaced { what: name(record), height, at })
    }

    /// Checks a turn that may be decided. A server writes down no turn that it finds void.
    fn check_turn(&self, turn: &Turn) -> Result<(), LogFaultKind> {
        let header = &turn.header;
        let at = self.log_height();
        let is_next = header.height == at && self.tip.map(|tip| tip.plus(1)) == Some(at);
        let before = self.previous.filter(|_| is_next);
        let claims = [
            (header.sim == self.sim, "another sim"),
            (before.is_none_or(|before| before == header.previous), "another turn before it"),
        ];
        if let Some((_, what)) = claims.into_iter().find(|(holds, _)| !holds) {
            return Err(Unsound::Header(what).into());
        }
        Ok(check_body(turn)?)
    }

    fn check_vote(&mut self, vote: &Signed<Vote>) -> Result<(), LogFaultKind> {
        let Vote { height, voter: by, kind, .. } = vote.message;
        let what = match kind {
            VoteKind::Prevote => "prevote",
            VoteKind::Precommit => "precommit",
        };
        self.check_signer(what, height, by)?;
        let signed = vote.verify(self.sim, &Ed25519);
        if signed { Ok(()) } else { Err(LogFaultKind::Signature { what, by }) }
    }

    fn check_proposal(
        &mut self,
        what: &'static str,
        proposal: &Signed<Proposal>,
    ) -> Result<(), LogFaultKind> {
        let by = proposal.message.proposer;
        self.check_signer(what, proposal.message.height, by)?;
        let signed = proposal.verify(self.sim, &Ed25519);
        if signed { Ok(()) } else { Err(LogFaultKind::Signature { what, by }) }
    }

    fn check_promise(&mut self, promise: &Signed<Proposal>) -> Result<(), LogFaultKind> {
        let Proposal { height, round, valid_round, proposer, header } = promise.message;
        if (round, valid_round, proposer) != (Round(0), None, self.server) {
            return Err(LogFaultKind::Promise);
        }
        self.check_seen(header, height)?;
        self.check_proposal("promise", promise)
    }

    fn check_signer(
        &mut self,
        what: &'static str,
        height: Height,
        by: PublicKey,
    ) -> Result<(), LogFaultKind> {
        match self.voters.at(height) {
            Some(set) if set.get(&by).is_none() => Err(LogFaultKind::Stranger { what, by }),
            Some(_) => Ok(()),
            None => {
                push_height(&mut self.unverifiable, height);
                Ok(())
            }
        }
    }

    fn check_polka(&self, polka: &Polka) -> Result<(), LogFaultKind> {
        let Some(set) = self.voters.at(polka.height) else {
            return Ok(());
        };
        let (mut signers, mut power) = (BTreeSet::new(), 0_u64);
        for (voter, signature) in &polka.signatures {
            let Polka { height, round, header, .. } = *polka;
            let (kind, header) = (VoteKind::Prevote, Some(header));
            let vote = Vote { kind, height, round, header, voter: *voter };
            let stranger = LogFaultKind::Polka(CertificateError::Stranger(*voter));
            let member = set.get(voter).ok_or(stranger)?;
            if !signers.insert(*voter) {
                return Err(LogFaultKind::Polka(CertificateError::Repeated(*voter)));
            }
            if !Ed25519.verify(voter, &vote.sign_bytes(self.sim), signature) {
                return Err(LogFaultKind::Polka(CertificateError::Signature(*voter)));
            }
            power += u64::from(member.power);
        }
        let quorum = set.quorum();
        if power >= quorum {
            return Ok(());
        }
        Err(LogFaultKind::Polka(CertificateError::NoQuorum { power, quorum }))
    }

    fn check_verdict(&mut self, verdict: &TurnVerdict) -> Result<(), LogFaultKind> {
        self.check_signer("verdict", verdict.height, verdict.proposer)?;
        if verdict.valid { self.check_seen(verdict.header, verdict.height) } else { Ok(()) }
    }

    /// Checks that a turn's bytes are in the log before the first record that relies on them.
    fn check_seen(&self, header: HeaderId, height: Height) -> Result<(), LogFaultKind> {
        let seen = self.proposed.contains_key(&header) || height < self.bytes_complete_from;
        if seen { Ok(()) } else { Err(LogFaultKind::Unseen(header)) }
    }

    /// Takes a recovery: the set that votes next must have signed the state after one of the last turns.
    fn recover(&mut self, signed: &SignedRecovery) -> Result<(), LogFaultKind> {
        let recovery = &signed.recovery;
        let (number, height) = (recovery.number, recovery.height);
        let own = self.decided.get(&height).is_none_or(|decided| *decided == recovery.header);
        if !own || height >= self.log_height() || recovery.sim != self.sim {
            return Err(LogFaultKind::OtherRecovery { number, height });
        }
        match self.voters.at(height.plus(1)) {
            Some(voters) => signed
                .verify(voters, &Ed25519)
                .map_err(|why| LogFaultKind::RecoverySignatures { number, height, why })?,
            None => push_height(&mut self.unverifiable, height),
        }
        let heights = [height.minus(1).unwrap_or_default(), height];
        for (of, stated) in heights.into_iter().zip(recovery.roots) {
            let found = self.notes.found.get(&of).map(|(root, _)| *root);
            if let Some(found) = found.filter(|found| *found != stated) {
                return Err(LogFaultKind::RecoveredRoot { of, stated, found });
            }
        }
        self.notes.forget(heights[0]);
        self.notes.recoveries.push(recovery.clone());
        Ok(())
    }
}

/// Returns the name of a record's kind, as faults use it.
const fn name(record: &Record) -> &'static str {
    match record {
        Record::Turn(_) => "turn",
        Record::Vote(_) => "vote",
        Record::Proposal(_) => "proposal",
        Record::Verdict(_) => "verdict",
        Record::Timeout(_) => "time-out",
        Record::Polka(_) => "proof for a proposal",
        Record::Early(_) => "promise",
        Record::Decided(_) => "decision",
        Record::Applied { .. } => "note of a root",
        Record::Voice | Record::Silence => "note of who signs",
        Record::Healed { .. } => "note of a healing",
        Record::Recovered(_) => "recovery",
    }
}
