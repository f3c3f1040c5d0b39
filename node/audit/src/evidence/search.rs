//! Searches a log for evidence, and for what is needed to check it.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_consensus::Record;
use metatopia_protocol::ValidatorSetLink;
use metatopia_replica::keeper::{AGREEMENT, newest_state};
use metatopia_store::{ReadDisk, ReadError, ScanError, scan};
use metatopia_types::{
    Act, Certificate, Evidence, Header, HeaderId, Height, Proposal, PublicKey, Round, Signed,
    SimId, Turn, ValidatorSet, ValidatorsId, Vote, VoteKind, wire, wire::DecodeError,
};

use super::file::EvidenceFile;
use crate::{read_log::read_log, tools};

/// Heights for which votes are remembered: what servers say of heights that are long over is not in
/// the log.
const HEIGHTS_KEPT: u64 = 8;

/// The reason why a log could not be searched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceSearchError {
    /// The log is damaged.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// A record cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A record is malformed.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

/// Searches the log of a sim for evidence. Its server may run meanwhile. `skipped` learns why a
/// snapshot could not be used. `genesis` is the encoded genesis of the sim.
///
/// # Errors
/// When the log cannot be read.
pub fn search(
    disk: &dyn ReadDisk,
    sim: SimId,
    genesis: Vec<u8>,
    skipped: &mut dyn FnMut(&str),
) -> Result<EvidenceFile, EvidenceSearchError> {
    let found = read_log(disk, || search_once(disk, sim, skipped), Result::is_ok)?;
    Ok(found.finish(genesis))
}

fn search_once(
    disk: &dyn ReadDisk,
    sim: SimId,
    skipped: &mut dyn FnMut(&str),
) -> Result<EvidenceSearch, EvidenceSearchError> {
    let index = scan(disk, sim)?.index;
    let mut search = EvidenceSearch::default();
    // A log that was shortened does not hold the earlier changes; its snapshots do.
    let (state, passed_over) = newest_state(disk, &tools());
    passed_over.iter().for_each(|why| skipped(&why.to_string()));
    if let Some((base, _)) = state {
        for link in base.links {
            if let Ok(next) = ValidatorSet::new(link.next, |_| true) {
                let (header, certificate) = (link.header, link.certificate);
                search.links.insert(header.height, ValidatorSetLink { header, certificate, next });
            }
        }
    }
    for record in index.iter(disk) {
        let record = record?;
        if record.kind == AGREEMENT {
            search.take(Record::decode(&record.payload)?);
        }
    }
    Ok(search)
}

/// The place of one signature: a server gives no two different ones for it.
type SigningSlot = (Height, Round, PublicKey);

/// The search, as far as the log was read.
#[derive(Default)]
pub(super) struct EvidenceSearch {
    votes: BTreeMap<(SigningSlot, VoteKind), Signed<Vote>>,
    proposals: BTreeMap<SigningSlot, Signed<Proposal>>,
    turns: BTreeMap<HeaderId, (Header, Vec<Evidence>)>,
    sets: BTreeMap<ValidatorsId, ValidatorSet>,
    changes: Vec<(Header, Certificate)>,
    links: BTreeMap<Height, ValidatorSetLink>,
    found: BTreeMap<Vec<u8>, Evidence>,
}

impl EvidenceSearch {
    /// Takes the next record.
    pub(super) fn take(&mut self, record: Record) {
        match record {
            Record::Vote(vote) => self.vote(vote),
            Record::Proposal(proposal) | Record::Early(proposal) => self.proposal(proposal),
            Record::Turn(turn) => {
                self.turns.insert(turn.id(), (turn.header.clone(), reports(&turn)));
            }
            Record::Applied { validators: Some(set), .. } => {
                self.sets.insert(set.id(), set);
            }
            Record::Decided(certificate) => self.decided(certificate),
            _ => {}
        }
    }

    fn vote(&mut self, vote: Signed<Vote>) {
        let Vote { kind, height, round, voter, .. } = vote.message;
        let first =
            self.votes.entry(((height, round, voter), kind)).or_insert_with(|| vote.clone());
        if first.message.header != vote.message.header {
            let evidence = Evidence::votes(first.clone(), vote);
            self.found.insert(wire::encode(&evidence), evidence);
        }
    }

    fn proposal(&mut self, proposal: Signed<Proposal>) {
        let Proposal { height, round, proposer, .. } = proposal.message;
        let slot = (height, round, proposer);
        let first = self.proposals.entry(slot).or_insert_with(|| proposal.clone());
        if first.message != proposal.message {
            let evidence = Evidence::proposals(first.clone(), proposal);
            self.found.insert(wire::encode(&evidence), evidence);
        }
    }

    fn decided(&mut self, certificate: Certificate) {
        let height = certificate.height;
        if let Some((header, reports)) = self.turns.remove(&certificate.header) {
            self.found.extend(reports.into_iter().map(|found| (wire::encode(&found), found)));
            if header.validators != header.next_validators {
                self.changes.push((header, certificate));
            }
        }
        let over = height.0.saturating_sub(HEIGHTS_KEPT);
        self.votes.retain(|((at, ..), _), _| at.0 > over);
        self.proposals.retain(|(at, ..), _| at.0 > over);
        self.turns.retain(|_, (header, _)| header.height > height);
    }

    /// Returns the evidence with the set changes that prove it.
    pub(super) fn finish(mut self, genesis: Vec<u8>) -> EvidenceFile {
        for (header, certificate) in self.changes {
            if let Some(next) = self.sets.get(&header.next_validators).cloned() {
                self.links.insert(header.height, ValidatorSetLink { header, certificate, next });
            }
        }
        let mut evidence: Vec<Evidence> = self.found.into_values().collect();
        evidence.sort_by_key(|found| (found.accused().1, found.accused().0));
        EvidenceFile { genesis, links: self.links.into_values().collect(), evidence }
    }
}

/// Returns the evidence that acts of a turn report.
fn reports(turn: &Turn) -> Vec<Evidence> {
    let mut seen = BTreeSet::new();
    let acts = turn.body.acts().iter().filter_map(|act| match &act.envelope.act {
        Act::Report(evidence) => Some(evidence.clone()),
        _ => None,
    });
    acts.filter(|evidence| seen.insert(wire::encode(evidence))).collect()
}
