//! Looks through a log for evidence, and for what is needed to check it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use metatopia_audit::read_log;
use metatopia_consensus::Record;
use metatopia_protocol::ValidatorSetLink;
use metatopia_replica::keeper::{AGREEMENT, newest_state};
use metatopia_store::scan;
use metatopia_types::{
    Act, Certificate, Evidence, Header, HeaderId, Height, Proposal, PublicKey, Round, Signed,
    SimId, Turn, ValidatorSet, ValidatorsId, Vote, VoteKind, wire,
};

use crate::{
    cli::{bisect::tools, console::Console, failure::Failure, genesis_file::read_genesis},
    disk::DataDirectory,
    formats::evidence::EvidenceFile,
};

/// Heights for which votes are remembered: what servers say of heights that are long over is not in
/// the log.
const HEIGHTS_KEPT: u64 = 8;

/// Everything in a data directory that somebody needs who is to believe that a server lied.
pub(super) fn search(
    dir: &Path,
    genesis: &Path,
    console: Console,
) -> Result<EvidenceFile, Failure> {
    let sim = read_genesis(genesis)?.id();
    let encoded = fs::read(genesis).map_err(|error| Failure::failed(error.to_string()))?;
    let disk = DataDirectory::open(dir).map_err(|error| Failure::failed(error.to_string()))?;
    let seen = read_log(&disk, || look_through(&disk, sim, console), Result::is_ok)?;
    Ok(seen.finish(encoded))
}

fn look_through(
    disk: &DataDirectory,
    sim: SimId,
    console: Console,
) -> Result<EvidenceSearch, Failure> {
    let wrong = |what: String| Failure::unverified(format!("{}: {what}", disk.path().display()));
    let index = scan(disk, sim).map_err(|error| wrong(error.to_string()))?.index;
    let mut seen = EvidenceSearch::default();
    // A log that was shortened does not hold the changes before; its snapshots do.
    let (state, passed_over) = newest_state(disk, &tools());
    for why in passed_over {
        console.warn(&format!("snapshot passed over: {why}"));
    }
    if let Some((base, _)) = state {
        for link in base.links {
            if let Ok(next) = ValidatorSet::new(link.next, |_| true) {
                let (header, certificate) = (link.header, link.certificate);
                seen.links.insert(header.height, ValidatorSetLink { header, certificate, next });
            }
        }
    }
    for record in index.iter(disk) {
        let record = record.map_err(|error| wrong(error.to_string()))?;
        if record.kind == AGREEMENT {
            let record = Record::decode(&record.payload);
            seen.take(record.map_err(|error| wrong(error.to_string()))?);
        }
    }
    Ok(seen)
}

type SigningSlot = (Height, Round, PublicKey);

/// What was read so far.
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

/// What acts of a turn report.
fn reports(turn: &Turn) -> Vec<Evidence> {
    let mut seen = BTreeSet::new();
    let acts = turn.body.acts().iter().filter_map(|act| match &act.envelope.act {
        Act::Report(evidence) => Some(evidence.clone()),
        _ => None,
    });
    acts.filter(|evidence| seen.insert(wire::encode(evidence))).collect()
}
