use metatopia_audit::fixture::{decided_records, genesis, server_key};
use metatopia_consensus::Record;
use metatopia_types::{Digest, HeaderId, Height, Round, Sign as _, SimId, Vote, VoteKind};

use super::*;
use crate::cli::{exit::Exit, fixture::FixtureDirectory};

/// Returns the precommit of server 1 for a turn, or for none.
fn vote(turn: Option<u8>) -> Record {
    let header = turn.map(|n| HeaderId(Digest([n; 32])));
    let (kind, height, round) = (VoteKind::Precommit, Height(7), Round(1));
    let voter = server_key(1).public();
    Record::Vote(Vote { kind, height, round, header, voter }.sign(genesis().id(), &server_key(1)))
}

#[test]
fn a_file_of_evidence_is_verified_alone_and_its_exit_code_tells() {
    let kept = FixtureDirectory::write("evidence-liar", &[vote(Some(1)), vote(None)]);
    let path = kept.dir.join("liars.evidence");
    let args =
        ListArgs { dir: kept.dir.clone(), genesis: None, out: Some(path.clone()), headers: None };
    list(&args, Console::quiet()).unwrap();
    let file = fs::read(&path).unwrap();
    let verify = |bytes: &[u8], sim| {
        fs::write(&path, bytes).unwrap();
        verify(
            &EvidenceVerifyArgs { file: path.clone(), sim, validators: Vec::new() },
            Console::quiet(),
        )
    };
    let exit = |result: Result<(), Failure>| result.unwrap_err().exit;

    verify(&file, Some(genesis().id())).unwrap();

    assert_eq!(exit(verify(&file, Some(SimId(Digest::ZERO)))), Exit::Unverified);
    let mut flipped = file.clone();
    *flipped.last_mut().unwrap() ^= 1;
    assert_eq!(exit(verify(&flipped, None)), Exit::Unverified);
    assert_eq!(exit(verify(b"no file of evidence", None)), Exit::Unverified);
    let nothing = EvidenceFile { evidence: Vec::new(), ..EvidenceFile::decode(&file).unwrap() };
    assert_eq!(exit(verify(&nothing.encode(), None)), Exit::Unverified);
}

/// A file without evidence was once written, and nobody can verify such a file.
#[test]
fn where_nothing_is_found_no_file_is_written() {
    let kept = FixtureDirectory::write("evidence-none", &decided_records());
    let out = kept.dir.join("liars.evidence");
    let args =
        ListArgs { dir: kept.dir.clone(), genesis: None, out: Some(out.clone()), headers: None };
    list(&args, Console::quiet()).unwrap();
    assert!(!out.exists());
}

#[test]
fn a_file_that_is_too_long_for_evidence_is_not_read() {
    let kept = FixtureDirectory::write("evidence-long", &decided_records());
    let file = kept.dir.join("long.evidence");
    let verified = |bytes: u64| {
        fs::File::create(&file).and_then(|made| made.set_len(bytes)).unwrap();
        let args = EvidenceVerifyArgs { file: file.clone(), sim: None, validators: Vec::new() };
        let failure = verify(&args, Console::quiet()).unwrap_err();
        assert_eq!(failure.exit, Exit::Unverified);
        failure.to_string()
    };
    let most = EVIDENCE_BYTES_MAX as u64;
    let told = verified(most + 1);
    assert!(told.ends_with("is too long for a file of evidence"), "{told}");
    let told = verified(most);
    assert!(!told.contains("too long for a file"), "{told}");
}
