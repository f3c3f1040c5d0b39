//! Two headers of one height: a log in which a neighbour certified them, and what is no evidence.

use std::{ops::Range, sync::LazyLock};

use metatopia_sim::Genesis;
use metatopia_store::{memory::MemoryDisk, put_snapshot};
use metatopia_types::{
    Act, CertificateError, Digest, Dispatch, Millis, Sign as _, SignedEnvelope, Turn, TurnBody,
};

use super::{search::TwinSearch, *};
use crate::fixture::{ForkedBorder, base, server_key, snapshot, write_log};

static BORDER: LazyLock<ForkedBorder> = LazyLock::new(ForkedBorder::play);

fn disk(from: usize, snapshot_at: Option<usize>) -> MemoryDisk {
    let mut disk = write_log(MemoryDisk::new(), &BORDER.genesis, &BORDER.records(from)).into_disk();
    if let Some(at) = snapshot_at {
        let kept = snapshot(&BORDER.steps, at, &base(&BORDER.steps, at));
        put_snapshot(&mut disk, &kept).expect("room for a snapshot");
    }
    disk
}

fn found(from: usize, snapshot_at: Option<usize>) -> TwinsFound {
    search_twins(&disk(from, snapshot_at), BORDER.genesis.id(), &mut |why| panic!("{why}"))
        .expect("a log that can be read")
}

fn pair() -> TwinHeaders {
    found(0, None).twins.remove(0)
}

fn heard(n: usize) -> &'static Header {
    &BORDER.dispatches[n].state.as_ref().expect("a state").header
}

/// Signs a header in a round as these servers.
fn certify(header: &Header, round: Round, servers: Range<u8>) -> TwinHeader {
    let (height, id) = (header.height, header.id());
    let mut certificate = Certificate { height, round, header: id, signatures: Vec::new() };
    for key in servers.map(server_key) {
        let signed = certificate.vote(key.public()).sign_bytes(header.sim);
        certificate.signatures.push((key.public(), key.sign(&signed)));
    }
    TwinHeader { header: header.clone(), certificate }
}

fn last(border: &ForkedBorder) -> usize {
    border.steps.len()
}

#[test]
fn a_log_with_two_headers_of_one_height_gives_exactly_them_and_their_file_holds_alone() {
    let found = found(0, None);
    assert_eq!((found.twins.len(), &found.lost[..]), (1, &[][..]));
    let bytes = TwinFile { twins: found.twins }.encode();
    assert!(TwinFile::is_at(&bytes));
    let file = TwinFile::decode(&bytes).expect("what was written");
    let twins = &file.twins[0];
    assert_eq!(twins.sim, BORDER.neighbour.id());
    assert_eq!(twins.links.len(), 1, "the neighbour removed a server before");
    let proof = twins.check(&[]).expect("two certified headers");
    assert_eq!(proof.height, BORDER.height());
    assert_eq!(proof.headers, [heard(0).id(), heard(1).id()]);
    assert_eq!((proof.both.len(), proof.power(), proof.total), (3, 3, 4));
    assert!(3 * proof.power() > proof.total);
    let told = TwinLine::of(twins, Ok(proof)).to_string();
    assert!(told.contains("proved from the genesis of that sim, set changes: 1"), "{told}");
}

#[test]
fn a_log_whose_neighbours_certify_one_header_a_height_gives_nothing() {
    let mut disk = MemoryDisk::new();
    // The second dispatch is in the last four turns.
    let records = BORDER.records(0);
    let honest = &records[..records.len() - 8];
    disk = write_log(disk, &BORDER.genesis, honest).into_disk();
    let found = search_twins(&disk, BORDER.genesis.id(), &mut |why| panic!("{why}"));
    assert_eq!(found, Ok(TwinsFound::default()));
}

/// A sim hears one header, and closes its border at the next: after that the first is in the log no longer.
#[test]
fn a_log_that_lost_a_header_says_so_and_names_the_one_that_the_state_keeps() {
    let lost = TwinLost::Pruned {
        neighbour: BORDER.neighbour.id(),
        height: BORDER.height(),
        header: heard(0).id(),
    };
    let end = last(&BORDER);
    // Neither is there, or only the second, behind a snapshot of before it or after it.
    for (from, at) in [(end - 3, end), (end - 4, end), (end - 4, end - 4)] {
        let found = found(from, Some(at));
        assert_eq!((&found.twins[..], &found.lost[..]), (&[][..], &[lost][..]), "{from} {at}");
    }
    assert!(lost.to_string().contains("pruned"), "{lost}");
}

#[test]
fn validators_that_are_only_given_are_believed_by_those_who_say_so() {
    let end = last(&BORDER);
    // The opening of the border is not in the log any more, and both dispatches are.
    let found = found(end - 5, Some(end));
    assert_eq!((found.twins.len(), &found.lost[..]), (1, &[][..]));
    let twins = &found.twins[0];
    assert!(matches!(twins.basis, TwinBasis::Given { .. }));
    let validators = heard(0).validators;
    let unproved = TwinFault::Unproved { height: BORDER.height(), validators };
    assert_eq!(twins.check(&[]), Err(unproved));
    let other = ValidatorsId(Digest::ZERO);
    assert_eq!(twins.check(&[other]), Err(unproved));
    assert_eq!(twins.check(&[validators]).map(|proof| proof.power()), Ok(3));
    let told = TwinLine::of_own(twins).to_string();
    assert!(told.contains("is taken as it was given"), "{told}");

    let mut late = twins.clone();
    let height = BORDER.height();
    if let TwinBasis::Given { after, .. } = &mut late.basis {
        *after = height;
    }
    assert_eq!(late.check(&[validators]), Err(TwinFault::Late { after: height, height }));
    late.basis = TwinBasis::Given { after: Height(1), members: Vec::new() };
    let none = TwinFault::Members(ValidatorSetError::Count(0));
    assert_eq!(late.check(&[validators]), Err(none));
}

#[test]
fn both_headers_without_a_word_of_who_voted_are_told_as_such() {
    let end = last(&BORDER);
    let mut search = TwinSearch::default();
    search.begin(&BORDER.steps[end - 1].world);
    BORDER.steps.iter().for_each(|step| search.note(&step.turn));
    BORDER.steps.iter().for_each(|step| search.collect(&step.turn));
    search.heads.clear();
    search.given.clear();
    let (neighbour, height) = (BORDER.neighbour.id(), BORDER.height());
    let lost = TwinLost::Voters { neighbour, height };
    assert_eq!(search.finish(), TwinsFound { twins: Vec::new(), lost: vec![lost] });
}

/// Returns a turn of the history that brings this dispatch in place of one of its own.
fn bringing(dispatch: &Dispatch) -> Turn {
    let is_hear = |act: &&SignedEnvelope| matches!(act.envelope.act, Act::Hear { .. });
    let mut steps = BORDER.steps.iter();
    let found = steps.find_map(|step| Some((step, step.turn.body.acts().iter().find(is_hear)?)));
    let (step, act) = found.expect("a turn that hears");
    let (mut act, blob) = (act.clone(), dispatch.blob());
    act.envelope.act = Act::Hear { neighbour: BORDER.neighbour.id(), dispatch: blob.id() };
    Turn { body: TurnBody::new(vec![act], vec![blob]).expect("a body"), ..step.turn.clone() }
}

/// A liar filled a log with headers that nobody certified, and a neighbour whose servers all lie certified more than
/// two: the search went over all of them for each height, and wrote a pair for each.
#[test]
fn junk_in_a_log_hides_no_pair_and_a_third_header_makes_no_second_one() {
    let whole = found(0, None);
    let link = &whole.twins[0].links[0];
    let at = |height: u64, time: u64| {
        let header = Header { height: Height(height), time: Millis(time), ..link.header.clone() };
        Link { header, ..link.clone() }
    };
    let junk = |n: u64| {
        let links = (0..15).flat_map(|m| [at(15 * n + m, 1), at(15 * n + m, 2)]).collect();
        bringing(&Dispatch { links, state: None })
    };
    let third = Header { time: Millis(7), ..heard(0).clone() };
    let TwinHeader { header, certificate } = certify(&third, Round(0), 0..3);
    let third = bringing(&Dispatch {
        links: vec![Link { header, certificate, ..link.clone() }],
        state: None,
    });
    let more: Vec<Turn> = (0..20).map(junk).chain([third]).collect();
    let mut search = TwinSearch::default();
    search.begin(&BORDER.steps[last(&BORDER) - 1].world);
    let turns = || BORDER.steps.iter().map(|step| &step.turn).chain(&more);
    turns().for_each(|turn| search.note(turn));
    turns().for_each(|turn| search.collect(turn));
    let TwinsFound { twins, lost } = search.finish();
    assert_eq!((twins.len(), &lost[..]), (1, &[][..]));
    let proof = twins[0].check(&[]).expect("two certified headers");
    assert_eq!((proof.height, twins[0].links.len()), (BORDER.height(), 1));
}

#[test]
fn what_is_no_pair_of_one_height_is_refused_with_its_reason() {
    let sound = pair();
    let with = |change: &dyn Fn(&mut TwinHeaders)| {
        let mut changed = sound.clone();
        change(&mut changed);
        changed.check(&[]).expect_err("a changed pair")
    };
    let (sim, own, height) = (sound.sim, BORDER.genesis.id(), BORDER.height());
    let elsewhere = |twins: &mut TwinHeaders| twins.headers[1].header.sim = own;
    assert_eq!(with(&elsewhere), TwinFault::OtherSim { sim, found: own });
    let renamed = TwinFault::OtherSim { sim: own, found: sim };
    assert_eq!(with(&|twins| twins.sim = own), renamed);
    let heights = TwinFault::Heights { first: height, second: height.plus(1) };
    assert_eq!(with(&|twins| twins.headers[1].header.height = height.plus(1)), heights);
    let same = TwinFault::SameHeader(heard(0).id());
    assert_eq!(with(&|twins| twins.headers[1] = twins.headers[0].clone()), same);
    let other: &Genesis = &BORDER.genesis;
    let head = |twins: &mut TwinHeaders| twins.basis = TwinBasis::Head(Box::new(other.head()));
    assert_eq!(with(&head), TwinFault::OtherHead { sim, found: own });
    let swapped = |twins: &mut TwinHeaders| {
        let [one, other] = &mut twins.headers;
        std::mem::swap(&mut one.certificate, &mut other.certificate);
    };
    assert_eq!(with(&swapped), TwinFault::Header(LinkError::OtherHeader(height)));
    let missing = TwinFault::Header(LinkError::Missing(height));
    assert_eq!(with(&|twins| twins.links.clear()), missing);
    let link = sound.links[0].header.height;
    let bent = |twins: &mut TwinHeaders| twins.links[0].next.truncate(1);
    assert_eq!(with(&bent), TwinFault::Change(LinkError::OtherMembers(link)));
    let few = |twins: &mut TwinHeaders| twins.headers[0].certificate.signatures.truncate(2);
    let why = CertificateError::NoQuorum { power: 2, quorum: 3 };
    assert_eq!(with(&few), TwinFault::Header(LinkError::Certificate { height, why }));
    // A head that names no sim of servers in order, and whose digest is the sim all the same.
    let mut disordered = sound.clone();
    let mut head = BORDER.neighbour.head();
    head.validators.reverse();
    disordered.sim = head.id();
    for twin in &mut disordered.headers {
        twin.header.sim = head.id();
    }
    disordered.basis = TwinBasis::Head(Box::new(head));
    assert!(matches!(disordered.check(&[]), Err(TwinFault::Head(_))));
}

/// Nothing of a pair can be another and the pair hold: each field is signed, or named by what is.
#[test]
fn no_bit_of_a_file_can_be_another_and_the_file_hold() {
    let file = TwinFile { twins: vec![pair()] };
    let bytes = file.encode();
    for at in 0..bytes.len() {
        let mut bent = bytes.clone();
        bent[at] ^= 1 << (at % 8);
        if let Ok(bent) = TwinFile::decode(&bent) {
            let holds = !bent.twins.is_empty() && bent.twins[0].check(&[]).is_ok();
            assert!(!holds, "byte {at} is another");
        }
        assert!(TwinFile::decode(&bytes[..at]).is_err(), "cut at {at}");
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(matches!(TwinFile::decode(&longer), Err(TwinFileError::Decode(_))));
}

#[test]
fn those_who_signed_in_two_rounds_are_told_as_such() {
    let mut twins = pair();
    twins.headers[1] = certify(&twins.headers[1].header, Round(4), 6..10);
    let proof = twins.check(&[]).expect("two certified headers");
    assert_eq!(proof.rounds, [Round(0), Round(4)]);
    let told = TwinLine::of(&twins, Ok(proof)).to_string();
    assert!(told.contains("in two rounds"), "{told}");
}

#[test]
fn files_of_another_version_or_kind_are_told_as_such() {
    let other = wire::encode(&("metatopia two headers v9", 1_u8));
    assert!(TwinFile::is_at(&other));
    assert_eq!(TwinFile::decode(&other), Err(TwinFileError::OtherVersion));
    let evidence = wire::encode(&("metatopia evidence v1", TwinFile { twins: Vec::new() }));
    assert!(!TwinFile::is_at(&evidence));
    assert!(matches!(TwinFile::decode(&evidence), Err(TwinFileError::Decode(_))));
    assert!(!TwinFile::is_at(b""));
}
