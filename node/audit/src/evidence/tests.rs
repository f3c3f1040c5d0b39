use std::collections::BTreeSet;

use metatopia_consensus::{Base, Link, Record};
use metatopia_replica::encode_snapshot;
use metatopia_store::{Snapshot, put_snapshot};
use metatopia_types::{
    Digest, Height, Proposal, Root, Round, Sign as _, Signed, SimId, Vote, wire,
};

use super::{search::EvidenceSearch, *};
use crate::fixture::{decided_records, genesis, memory_log, server_key, steps};

fn vote(sim: SimId, voter: u8, turn: Option<u8>) -> Signed<Vote> {
    let header = turn.map(|n| HeaderId(Digest([n; 32])));
    let (kind, height, round) = (VoteKind::Precommit, Height(7), Round(1));
    Vote { kind, height, round, header, voter: server_key(voter).public() }
        .sign(sim, &server_key(voter))
}

fn proposal(sim: SimId, proposer: u8, turn: u8) -> Signed<Proposal> {
    let (height, round, header) = (Height(7), Round(0), HeaderId(Digest([turn; 32])));
    let proposer_key = server_key(proposer);
    let proposer = proposer_key.public();
    Proposal { height, round, header, valid_round: None, proposer }.sign(sim, &proposer_key)
}

fn found(records: Vec<Record>) -> EvidenceFile {
    let mut search = EvidenceSearch::default();
    records.into_iter().for_each(|record| search.take(record));
    search.finish(genesis().encode())
}

fn two_lies() -> EvidenceFile {
    let sim = genesis().id();
    found(vec![
        Record::Vote(vote(sim, 0, Some(1))),
        Record::Vote(vote(sim, 1, Some(1))),
        Record::Vote(vote(sim, 1, Some(1))),
        Record::Vote(vote(sim, 0, None)),
        Record::Proposal(proposal(sim, 2, 1)),
        Record::Proposal(proposal(sim, 2, 2)),
    ])
}

#[test]
fn two_votes_and_two_proposals_at_once_are_found_and_hold() {
    let file = two_lies();
    let accused: BTreeSet<_> = file.evidence.iter().map(|found| found.accused().0).collect();
    assert_eq!(accused, BTreeSet::from([server_key(0).public(), server_key(2).public()]));
    assert_eq!(file.check().unwrap(), [Ok(()), Ok(())]);
    assert_eq!(EvidenceFile::decode(&file.encode()), Ok(file));
}

#[test]
fn a_log_without_a_lie_holds_no_evidence() {
    let sim = genesis().id();
    let later = |mut vote: Signed<Vote>| {
        vote.message.round = Round(2);
        vote
    };
    let file = found(vec![
        Record::Vote(vote(sim, 0, Some(1))),
        Record::Vote(later(vote(sim, 0, Some(2)))),
        Record::Vote(vote(sim, 1, None)),
    ]);
    assert_eq!(file.evidence, []);
}

#[test]
fn what_was_not_signed_by_a_voter_of_the_sim_does_not_hold() {
    let sim = genesis().id();
    let stranger =
        found(vec![Record::Vote(vote(sim, 9, Some(1))), Record::Vote(vote(sim, 9, Some(2)))]);
    let told = stranger.check().unwrap().remove(0).unwrap_err().to_string();
    assert!(told.contains("does not vote at height 7"), "{told}");

    let mut forged = vote(sim, 0, Some(2));
    forged.message.header = Some(HeaderId(Digest([3; 32])));
    let forged = found(vec![Record::Vote(vote(sim, 0, Some(1))), Record::Vote(forged)]);
    let told = forged.check().unwrap().remove(0).unwrap_err().to_string();
    assert!(told.contains("signature"), "{told}");

    let mut elsewhere = two_lies();
    let mut other = genesis();
    other.name = "elsewhere".into();
    elsewhere.genesis = other.encode();
    assert!(elsewhere.check().unwrap().iter().all(Result::is_err));
}

/// The search took the set changes from the newest whole snapshot, also if that was of another version.
#[test]
fn changes_that_only_an_older_snapshot_holds_are_found_behind_one_that_cannot_be_decoded() {
    let mut disk = memory_log(&decided_records());
    let steps = steps();
    let step = &steps[steps.len() - 2];
    let (turn, world) = (&step.turn, &step.world);
    let height = turn.header.height;
    let set = |ahead| world.validators(height.plus(ahead)).unwrap().clone();
    let next = set(1).members().to_vec();
    let link = Link { header: turn.header.clone(), certificate: step.certificate.clone(), next };
    let base = Base {
        height,
        header: turn.id(),
        time: turn.header.time,
        roots: [world.root(); 2],
        sets: [set(1), set(2), set(3)],
        links: vec![link],
        voice: true,
    };
    let older = Snapshot { height, root: world.root(), bytes: encode_snapshot(&base, world) };
    let (root, bytes) = (Root(Digest::ZERO), b"a state of another version".to_vec());
    let newest = Snapshot { height: height.plus(1), root, bytes };
    put_snapshot(&mut disk, &older).unwrap();
    put_snapshot(&mut disk, &newest).unwrap();
    let mut skipped = Vec::new();
    let mut skip = |why: &str| skipped.push(why.to_owned());
    let found = search(&disk, genesis().id(), genesis().encode(), &mut skip).unwrap();
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    let changed: Vec<Height> = found.links.iter().map(|link| link.header.height).collect();
    assert_eq!(changed, [height]);
}

#[test]
fn files_of_another_version_are_told_as_such() {
    let other = wire::encode(&("metatopia evidence v9", two_lies()));
    assert_eq!(EvidenceFile::decode(&other), Err(EvidenceFileError::OtherVersion));
    assert!(matches!(EvidenceFile::decode(b"x"), Err(EvidenceFileError::Decode(_))));
}
