//! Records besides decided turns: what servers signed on the way to them, and what this one noted.
//!
//! A signature is held against its signer, who must vote at that height. What this server noted of
//! states is held against the turns. For the rest there is nothing to hold it against: a verdict, a
//! time-out, or that a vote came at all.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_consensus::{Polka, Record, TurnVerdict};
use metatopia_sim::{Applied, COURSE_ROOTS_KEPT, World};
use metatopia_types::{
    CertificateError, Ed25519, Header, Height, Proposal, PublicKey, Recovery, Root, Round, Signed,
    SignedRecovery, Turn, ValidatorSet, ValidatorsId, Verify as _, Vote, VoteKind,
    limits::{ROOT_LAG, SET_LAG},
};

use super::{LogFault, Replay, Unsound, Wrong, extend};

/// What headers state of a state: its root, and who votes by it, as against the height before.
#[derive(Clone, Copy)]
struct Stated {
    root: Root,
    /// The set of the header's own height, and of the next.
    sets: [ValidatorsId; 2],
}

/// What a server noted of states.
#[derive(Default)]
pub(super) struct StateNotes {
    /// The first note that the turns do not bear out, unless the server has healed since.
    pub(super) wrong: Option<LogFault>,
    /// How often it healed.
    pub(super) heals: u64,
    /// The recoveries that it took.
    pub(super) recoveries: Vec<Recovery>,
    /// The last height that it noted.
    last: Option<Height>,
    /// By a turn that was applied: the root after it, and the last sets that it knows. Only another
    /// one than the set before it need be noted.
    found: BTreeMap<Height, (Root, [Option<ValidatorSet>; 2])>,
    /// By a header, of the height two before it.
    stated: BTreeMap<Height, Stated>,
    /// Notes for which the header is not there yet.
    waiting: BTreeMap<Height, (Root, Option<ValidatorsId>)>,
}

impl StateNotes {
    /// A turn was applied.
    pub(super) fn applied(&mut self, applied: &Applied, world: &World) {
        let set = |ahead| world.validators(applied.height.plus(ahead)).cloned();
        self.found.insert(applied.height, (applied.root, [set(SET_LAG - 1), set(SET_LAG)]));
        if self.found.len() as u64 > COURSE_ROOTS_KEPT {
            self.found.pop_first();
        }
    }

    /// A decided header states the root of two heights before.
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

    /// The server noted what became of a turn.
    fn note(&mut self, of: Height, root: Root, set: Option<ValidatorSet>) -> Result<(), LogFault> {
        if let Some(last) = self.last.filter(|last| of <= *last) {
            return Err(Wrong::NotedTwice(of).at(last.plus(1)));
        }
        self.last = Some(of);
        if let Some((found, [before, new])) = self.found.get(&of) {
            let (found, same) = (*found, set.as_ref().or(before.as_ref()) == new.as_ref());
            if found != root {
                self.is_wrong(of, Wrong::Noted { of, stated: root, found });
            } else if !same {
                self.is_wrong(of, Wrong::NotedSet(of));
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
            self.is_wrong(of, Wrong::Noted { of, stated: root, found });
        } else if set.unwrap_or(own) != next {
            self.is_wrong(of, Wrong::NotedSet(of));
        }
    }

    fn is_wrong(&mut self, of: Height, wrong: Wrong) {
        self.wrong.get_or_insert(wrong.at(of));
    }

    /// What was noted from this height on is void, and may be noted again.
    fn forget(&mut self, from: Height) {
        self.last = self.last.filter(|last| *last < from).or(from.minus(1));
        self.wrong.take_if(|fault| fault.height >= from);
        drop(self.waiting.split_off(&from));
    }
}

impl Replay {
    /// Takes a record that decides nothing.
    pub(super) fn note(&mut self, record: Record) -> Result<(), LogFault> {
        let at = self.at;
        // One of a height that is over is that height's fault.
        let place = record.height().map_or(at, |height| height.min(at));
        self.check_place(&record).map_err(|wrong| wrong.at(place))?;
        match record {
            Record::Turn(turn) => {
                self.check_turn(&turn).map_err(|wrong| wrong.at(at))?;
                self.turns.insert(turn.id(), turn);
                Ok(())
            }
            Record::Vote(vote) => self.check_vote(&vote).map_err(|wrong| wrong.at(at)),
            Record::Proposal(proposal) => {
                let checked = self.check_proposal("proposal", &proposal);
                checked.map_err(|wrong| wrong.at(at))
            }
            Record::Early(promise) => self.check_promise(&promise).map_err(|wrong| wrong.at(at)),
            Record::Polka(polka) => self.check_polka(&polka).map_err(|wrong| wrong.at(at)),
            Record::Verdict(verdict) => self.check_verdict(&verdict).map_err(|wrong| wrong.at(at)),
            Record::Applied { height, root, validators } => {
                if height >= at {
                    return Err(Wrong::NotedEarly(height).at(at));
                }
                self.notes.note(height, root, validators)
            }
            Record::Healed { from } => {
                self.notes.heals += 1;
                self.notes.forget(from);
                Ok(())
            }
            Record::Recovered(signed) => {
                let height = signed.recovery.height.min(at);
                self.recover(&signed).map_err(|wrong| wrong.at(height))
            }
            // Nothing speaks against these, nor for them.
            Record::Timeout(_) | Record::Voice | Record::Silence | Record::Decided(_) => Ok(()),
        }
    }

    /// A record of agreement is about the height under way; bytes and promises may be about the next.
    fn check_place(&self, record: &Record) -> Result<(), Wrong> {
        let ahead = match record {
            Record::Turn(_) => 0..=1,
            Record::Early(_) => 1..=1,
            Record::Vote(_)
            | Record::Proposal(_)
            | Record::Polka(_)
            | Record::Verdict(_)
            | Record::Timeout(_) => 0..=0,
            Record::Healed { from } if *from > self.at => 0..=0,
            _ => return Ok(()),
        };
        let (height, at) = (record.height().unwrap_or_default(), self.at);
        let ahead_by = height.0.checked_sub(at.0);
        if ahead_by.is_some_and(|by| ahead.contains(&by)) {
            return Ok(());
        }
        Err(Wrong::Misplaced { what: name(record), height, at })
    }

    /// A turn that may be decided: a server writes none down that it finds void.
    fn check_turn(&self, turn: &Turn) -> Result<(), Wrong> {
        let header = &turn.header;
        let here = header.height == self.at;
        let before =
            self.last.filter(|_| here && self.seen.map(|seen| seen.plus(1)) == Some(self.at));
        let claims = [
            (header.sim == self.sim, "another sim"),
            (before.is_none_or(|before| before == header.previous), "another turn before it"),
        ];
        if let Some((_, what)) = claims.into_iter().find(|(holds, _)| !holds) {
            return Err(Unsound::Header(what).into());
        }
        let body = turn.check_body();
        Ok(body.map_err(|error| error.map_or(Unsound::OtherBody, Unsound::Body))?)
    }

    fn check_vote(&mut self, vote: &Signed<Vote>) -> Result<(), Wrong> {
        let Vote { height, voter: by, kind, .. } = vote.message;
        let what = match kind {
            VoteKind::Prevote => "prevote",
            VoteKind::Precommit => "precommit",
        };
        self.check_signer(what, height, by)?;
        let signed = vote.verify(self.sim, &Ed25519);
        if signed { Ok(()) } else { Err(Wrong::Signature { what, by }) }
    }

    fn check_proposal(
        &mut self,
        what: &'static str,
        proposal: &Signed<Proposal>,
    ) -> Result<(), Wrong> {
        let by = proposal.message.proposer;
        self.check_signer(what, proposal.message.height, by)?;
        let signed = proposal.verify(self.sim, &Ed25519);
        if signed { Ok(()) } else { Err(Wrong::Signature { what, by }) }
    }

    fn check_promise(&mut self, promise: &Signed<Proposal>) -> Result<(), Wrong> {
        let Proposal { height, round, valid_round, proposer, header } = promise.message;
        if (round, valid_round, proposer) != (Round(0), None, self.server) {
            return Err(Wrong::Promise);
        }
        self.check_seen(header, height)?;
        self.check_proposal("promise", promise)
    }

    fn check_signer(
        &mut self,
        what: &'static str,
        height: Height,
        by: PublicKey,
    ) -> Result<(), Wrong> {
        match self.voters.at(height) {
            Some(set) if set.get(&by).is_none() => Err(Wrong::Stranger { what, by }),
            Some(_) => Ok(()),
            None => {
                extend(&mut self.unheld, height);
                Ok(())
            }
        }
    }

    fn check_polka(&self, polka: &Polka) -> Result<(), Wrong> {
        let Some(set) = self.voters.at(polka.height) else {
            return Ok(());
        };
        let (mut signers, mut power) = (BTreeSet::new(), 0_u64);
        for (voter, signature) in &polka.signatures {
            let Polka { height, round, header, .. } = *polka;
            let (kind, header) = (VoteKind::Prevote, Some(header));
            let vote = Vote { kind, height, round, header, voter: *voter };
            let stranger = Wrong::Polka(CertificateError::Stranger(*voter));
            let member = set.get(voter).ok_or(stranger)?;
            if !signers.insert(*voter) {
                return Err(Wrong::Polka(CertificateError::Repeated(*voter)));
            }
            if !Ed25519.verify(voter, &vote.sign_bytes(self.sim), signature) {
                return Err(Wrong::Polka(CertificateError::Signature(*voter)));
            }
            power += u64::from(member.power);
        }
        let quorum = set.quorum();
        if power >= quorum {
            return Ok(());
        }
        Err(Wrong::Polka(CertificateError::NoQuorum { power, quorum }))
    }

    fn check_verdict(&mut self, verdict: &TurnVerdict) -> Result<(), Wrong> {
        self.check_signer("verdict", verdict.height, verdict.proposer)?;
        if verdict.valid { self.check_seen(verdict.header, verdict.height) } else { Ok(()) }
    }

    /// A turn's bytes are in the log before the first record that relies on them.
    fn check_seen(&self, header: super::HeaderId, height: Height) -> Result<(), Wrong> {
        let seen = self.turns.contains_key(&header) || height < self.lacks_below;
        if seen { Ok(()) } else { Err(Wrong::Unseen(header)) }
    }

    /// Servers agreed by hand on the state after one of the last turns; those who vote next signed.
    fn recover(&mut self, signed: &SignedRecovery) -> Result<(), Wrong> {
        let recovery = &signed.recovery;
        let (number, height) = (recovery.number, recovery.height);
        let own = self.held.get(&height).is_none_or(|held| *held == recovery.header);
        if !own || height >= self.at || recovery.sim != self.sim {
            return Err(Wrong::OtherRecovery { number, height });
        }
        match self.voters.at(height.plus(1)) {
            Some(voters) => signed.verify(voters, &Ed25519).map_err(|why| Wrong::Recovery {
                number,
                height,
                why,
            })?,
            None => extend(&mut self.unheld, height),
        }
        let heights = [height.minus(1).unwrap_or_default(), height];
        for (of, stated) in heights.into_iter().zip(recovery.roots) {
            let found = self.notes.found.get(&of).map(|(root, _)| *root);
            if let Some(found) = found.filter(|found| *found != stated) {
                return Err(Wrong::Recovered { of, stated, found });
            }
        }
        self.notes.forget(heights[0]);
        self.notes.recoveries.push(recovery.clone());
        Ok(())
    }
}

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
