mod holes;
mod shared_disk;

use std::{collections::BTreeMap, ops::ControlFlow, sync::Arc};

use metatopia_consensus::{Base, Decision, Record};
use metatopia_replica::encode_patch;
use metatopia_sim::{Applied, Serial, Stage, Unsound, Watch, World};
use metatopia_store::{Disk as _, FileKind, FileName, Folder, ReadDisk, Store, memory::MemoryDisk};
use metatopia_types::{
    Certificate, Digest, HeaderId, Height, Millis, Root, Sign as _, Turn, TurnBody,
};

use self::shared_disk::SharedDisk;
use super::{
    CheckedLog, LogFaultKind, LogFork, LogVerdict, NoState, UnverifiedLog, first_fork, identify,
    verify_log,
};
use crate::{
    TurnObserver,
    fixture::{
        TURNS, certificate, decided_records, genesis, identity, memory_log, prune,
        pruned_memory_log, server_key, start_of, steps, write_log_and_snapshot,
    },
};

type Chain = (String, BTreeMap<Height, HeaderId>);

fn chain(name: &str, turns: &[u8]) -> Chain {
    pruned(name, 0, turns)
}

fn pruned(name: &str, after: u64, turns: &[u8]) -> Chain {
    let turns = turns.iter().map(|n| HeaderId(Digest([*n; 32])));
    (name.to_owned(), (after + 1..).map(Height).zip(turns).collect())
}

fn fork(a: &str, b: &str, height: u64) -> Option<LogFork> {
    Some(LogFork { a: a.to_owned(), b: b.to_owned(), height })
}

#[test]
fn logs_of_different_length_are_the_same_history() {
    assert_eq!(first_fork(&[chain("a", &[1, 2, 3]), chain("b", &[1, 2])]), None);
    assert_eq!(first_fork(&[chain("a", &[]), chain("b", &[1, 2])]), None);
    assert_eq!(first_fork(&[]), None);
}

#[test]
fn the_first_height_that_differs_is_named() {
    let chains = [chain("a", &[1, 2, 3]), chain("b", &[1, 2, 3]), chain("c", &[1, 9, 3])];
    assert_eq!(first_fork(&chains), fork("a", "c", 2));
}

/// Only the first log was compared with the others, and here it is too short.
#[test]
fn logs_that_differ_beyond_the_end_of_the_first_one_are_named() {
    let chains = [chain("a", &[1]), chain("b", &[1, 2]), chain("c", &[1, 9])];
    assert_eq!(first_fork(&chains), fork("b", "c", 2));
    let chains = [chain("a", &[1]), pruned("b", 3, &[4]), chain("c", &[1, 2, 3, 9])];
    assert_eq!(first_fork(&chains), fork("b", "c", 4));
}

#[test]
fn pruned_logs_are_compared_where_both_have_turns() {
    let whole = chain("a", &[1, 2, 3, 4]);
    assert_eq!(first_fork(&[whole.clone(), pruned("b", 2, &[3, 4, 5])]), None);
    assert_eq!(first_fork(&[pruned("b", 2, &[3, 4]), whole.clone()]), None);
    assert_eq!(first_fork(&[whole.clone(), pruned("b", 2, &[3, 9])]), fork("a", "b", 4));
    assert_eq!(first_fork(&[pruned("b", 2, &[9]), whole]), fork("b", "a", 3));
}

fn checked(disk: &dyn ReadDisk, observer: &mut dyn TurnObserver) -> CheckedLog {
    let start = start_of(genesis());
    let identity = identity(&start.genesis);
    verify_log(disk, identity, &start, &Serial, observer).expect("a disk that can be read")
}

/// Returns the verdict on a log that may have gaps.
fn verify(disk: &dyn ReadDisk) -> LogVerdict {
    LogVerdict::of("a log".to_owned(), &checked(disk, &mut ()), true)
}

/// Returns the verdict on a log that may not have gaps.
fn verify_whole(disk: &dyn ReadDisk) -> LogVerdict {
    LogVerdict::of("a log".to_owned(), &checked(disk, &mut ()), false)
}

/// Returns a log of these records, with the snapshot of a height.
fn with_snapshot(
    records: &[Record],
    height: usize,
    change: impl FnOnce(&mut Base),
) -> Store<MemoryDisk> {
    write_log_and_snapshot(MemoryDisk::new(), records, height, change)
}

/// Returns the records of the history, with the turn of a height changed before it is decided.
fn changed(height: usize, change: impl FnOnce(&mut Turn)) -> Vec<Record> {
    let mut records = decided_records();
    let at = 2 * (height - 1);
    let Record::Turn(turn) = &records[at] else { panic!("turns are at even places") };
    let mut turn = turn.as_ref().clone();
    change(&mut turn);
    records[at + 1] = Record::Decided(certificate(&turn, 0..3));
    records[at] = Record::Turn(Arc::new(turn));
    records
}

#[test]
fn a_log_that_is_in_order_is_verified_to_its_end() {
    let verdict = verify(&memory_log(&decided_records()));
    assert_eq!(verdict.error, None);
    assert!(verdict.ok);
    assert_eq!((verdict.height, verdict.records), (TURNS as u64, 2 * TURNS as u64));
    assert_eq!(verdict.server, Some(server_key(0).public().to_string()));
    assert_eq!(verdict.torn_bytes, 0);
}

#[test]
fn a_torn_last_record_is_told_and_no_fault() {
    let mut disk = memory_log(&decided_records());
    let mut bytes = disk.bytes(FileName::segment(0)).unwrap().to_vec();
    bytes.truncate(bytes.len() - 5);
    disk.replace(FileName::segment(0), bytes);

    let verdict = verify(&disk);

    assert_eq!((verdict.error, verdict.height), (None, TURNS as u64 - 1));
    assert!(verdict.torn_bytes > 0);
}

#[test]
fn a_flipped_byte_is_found_and_its_height_named() {
    let mut disk = memory_log(&decided_records());
    let middle = disk.length(FileName::segment(0)).unwrap() / 2;
    assert!(disk.flip(FileName::segment(0), 8 * middle));

    let verdict = verify(&disk);

    assert!(!verdict.ok);
    assert!(verdict.error.unwrap().contains("segment-0000000000"));
    assert!((2..=TURNS as u64).contains(&verdict.height), "height {}", verdict.height);
}

#[test]
fn another_history_is_wrong_at_its_first_height_though_a_quorum_signed_it() {
    let wrong = |records: Vec<Record>| {
        let verdict = verify(&memory_log(&records));
        (verdict.height, verdict.error.unwrap_or_default())
    };
    let root = wrong(changed(9, |turn| turn.header.root = Root(Digest::ZERO)));
    assert_eq!(root.0, 9);
    assert!(root.1.contains("states root 000"), "{}", root.1);

    let previous = wrong(changed(5, |turn| turn.header.previous = HeaderId::BEFORE_FIRST));
    assert_eq!(previous, (5, Unsound::Header("another turn before it").to_string()));

    let body = wrong(changed(3, |turn| turn.body = TurnBody::default()));
    assert_eq!(body, (3, Unsound::OtherBody.to_string()));

    let time = wrong(changed(6, |turn| turn.header.time = Millis(1)));
    assert_eq!(time, (6, Unsound::Header("a time that is not after the turn before").to_string()));
}

#[test]
fn a_certificate_of_too_few_is_wrong() {
    let mut records = decided_records();
    let Record::Turn(turn) = &records[6] else { panic!("turns are at even places") };
    records[7] = Record::Decided(certificate(turn, 0..2));

    let verdict = verify(&memory_log(&records));

    assert_eq!(verdict.height, 4);
    assert!(verdict.error.unwrap().contains("voting power 2"));
}

#[test]
fn a_gap_a_missing_turn_and_a_wrong_note_are_wrong() {
    let wrong = |change: fn(&mut Vec<Record>)| {
        let mut records = decided_records();
        change(&mut records);
        let verdict = verify(&memory_log(&records));
        (verdict.height, verdict.error.unwrap_or_default())
    };
    let gap = wrong(|records| drop(records.drain(4..6)));
    let why = Box::new(NoState::NoSnapshot);
    let missing = LogFaultKind::Gap { gap: (Height(3), Height(3)), why };
    assert_eq!(gap, (3, missing.to_string()));
    let missing = wrong(|records| drop(records.remove(4)));
    assert_eq!(missing.0, 3);
    let noted = wrong(|records| {
        let (height, root) = (Height(2), Root(Digest::ZERO));
        records.insert(8, Record::Applied { height, root, validators: None });
    });
    assert!(noted.1.contains("the log notes root 000"), "{}", noted.1);
}

#[test]
fn a_genesis_of_another_sim_is_wrong() {
    let disk = memory_log(&[]);
    let mut other = genesis();
    other.name = "elsewhere".into();
    let other = start_of(other);
    let checked = verify_log(&disk, identity(&genesis()), &other, &Serial, &mut ()).unwrap();
    let fault = checked.fault.expect("another sim");
    assert_eq!(fault.kind, LogFaultKind::OtherGenesis(other.genesis.id()));
}

#[test]
fn a_disk_without_an_identity_was_never_started() {
    let ControlFlow::Break(checked) = identify(&MemoryDisk::new()).unwrap() else {
        panic!("an empty disk has no identity")
    };
    let fault = checked.fault.expect("no identity");
    assert_eq!((fault.height, fault.kind), (Height(1), LogFaultKind::NeverStarted));
    let known = identify(&memory_log(&[])).unwrap().continue_value();
    assert_eq!(known, Some(identity(&genesis())));
}

#[test]
fn turns_that_a_server_was_away_for_are_named_and_the_state_behind_them_is_proved() {
    let mut records = decided_records();
    records.drain(2 * 8..2 * 12);
    let store = with_snapshot(&records, 12, |_| ());
    let verdict = verify(store.disk());
    assert_eq!(verdict.error, None);
    assert_eq!((verdict.missing.as_slice(), verdict.applied_from), ([[9, 12]].as_slice(), 13));
    assert_eq!(verdict.height, TURNS as u64);
    assert!(verdict.to_string().contains("turns 9 to 12 not there"), "{verdict}");
    // But it is not said that all is proved.
    let strict = verify_whole(store.disk());
    assert_eq!((strict.ok, strict.height, &strict.unproven), (false, 9, &vec![[9, 12]]));
    let unproven = strict.failure().expect("it is not verified");
    assert!(matches!(unproven, UnverifiedLog::Unproven { height: 9, .. }), "{unproven}");

    // A later snapshot will do as well: the turns in between are chained to it.
    let store = with_snapshot(&records, 15, |_| ());
    let verdict = verify(store.disk());
    assert_eq!((verdict.error, verdict.missing.as_slice()), (None, [[9, 12]].as_slice()));
    assert_eq!(verdict.applied_from, 16);

    let store = with_snapshot(&records, 12, |base| base.header = HeaderId(Digest::ZERO));
    let error = verify(store.disk()).error.unwrap();
    assert!(error.contains("turns 9 to 12 are missing"), "{error}");
}

/// Writes a patch with the turns of these heights, each with the certificate that `sign` makes.
fn put_back(
    store: &mut Store<MemoryDisk>,
    heights: std::ops::RangeInclusive<usize>,
    sign: fn(&Turn) -> Certificate,
) {
    let turns: Vec<Decision> = steps()[heights.start() - 1..*heights.end()]
        .iter()
        .map(|step| Decision { certificate: sign(&step.turn), turn: Arc::new(step.turn.clone()) })
        .collect();
    store.put_patch(&encode_patch(&turns).unwrap()).unwrap();
}

#[test]
fn turns_that_were_put_back_are_played_in_their_place() {
    let mut records = decided_records();
    records.drain(2 * 8..2 * 12);
    let signed = |turn: &Turn| certificate(turn, 0..3);

    let mut store = with_snapshot(&records, 12, |_| ());
    put_back(&mut store, 11..=12, signed);
    let verdict = verify(store.disk());
    assert_eq!((verdict.error, verdict.missing.as_slice()), (None, [[9, 10]].as_slice()));

    put_back(&mut store, 9..=10, signed);
    let verdict = verify(store.disk());
    assert_eq!((verdict.error, verdict.missing.as_slice()), (None, [].as_slice()));
    assert_eq!(
        (verdict.applied_from, verdict.height),
        (1, TURNS as u64),
        "from genesis to the end"
    );
    assert_eq!(verdict.root, verify(&memory_log(&decided_records())).root);

    // Also if nothing was appended since.
    let mut store = with_snapshot(&records[..2 * 8], 12, |_| ());
    put_back(&mut store, 9..=12, signed);
    assert_eq!((verify(store.disk()).error, verify(store.disk()).height), (None, 12));

    let mut store = with_snapshot(&records, 12, |_| ());
    put_back(&mut store, 9..=12, |turn| certificate(turn, 0..2));
    let verdict = verify(store.disk());
    assert_eq!(verdict.height, 9);
    assert!(verdict.error.unwrap().contains("voting power 2"));
}

#[test]
fn a_pruned_log_whose_beginning_was_put_back_is_played_from_genesis_on() {
    let mut store = with_snapshot(&decided_records(), 8, |_| ());
    prune(&mut store);
    let oldest = usize::try_from(verify(store.disk()).oldest.unwrap()).unwrap();
    // The bytes of the first decided turns lie before the log's beginning.
    put_back(&mut store, 4..=oldest + 2, |turn| certificate(turn, 0..3));
    assert_eq!((verify(store.disk()).error, verify(store.disk()).oldest), (None, Some(4)));
    put_back(&mut store, 1..=3, |turn| certificate(turn, 0..3));

    let verdict = verify(store.disk());

    assert_eq!((verdict.error, verdict.oldest, verdict.applied_from), (None, None, 1));
    assert_eq!(verdict.height, TURNS as u64);
}

#[test]
fn a_follower_that_began_with_a_fetched_state_is_verified_from_there() {
    let mut records = decided_records();
    records.drain(..2 * 8);
    let store = with_snapshot(&records, 8, |_| ());
    let verdict = verify(store.disk());
    assert_eq!((verdict.error, verdict.missing.as_slice()), (None, [[1, 8]].as_slice()));
    assert_eq!((verdict.applied_from, verdict.height), (9, TURNS as u64));
}

#[test]
fn a_pruned_log_is_verified_from_its_snapshot_on_and_says_what_is_missing() {
    let verdict = verify(&pruned_memory_log(|_| ()));

    assert_eq!(verdict.error, None);
    assert_eq!((verdict.applied_from, verdict.height), (9, TURNS as u64));
    let oldest = verdict.oldest.unwrap();
    assert!((2..=6).contains(&oldest), "{oldest}");
    let told = verdict.to_string();
    assert!(told.contains(&format!("pruned below height {oldest}, ask an archive")), "{told}");
}

/// A server put its first segments aside as damaged, and what it lost was told as pruned, with exit code 0.
#[test]
fn a_log_behind_segments_that_were_put_aside_says_what_is_lost() {
    let mut disk = pruned_memory_log(|_| ());
    let segments = disk.list(Folder::Log).expect("a folder").into_iter().filter_map(|file| {
        if let FileKind::Segment(number) = file.kind { Some(number) } else { None }
    });
    let first = segments.min().expect("a segment");
    let aside = |segment| FileName::new(FileKind::Quarantined { segment, copy: 0 });
    // What was put aside elsewhere is not what the log begins behind.
    disk.write_new(aside(first + 7), b"other").expect("a disk");
    assert_eq!((verify_whole(&disk).ok, verify_whole(&disk).lost_below), (true, None));
    disk.write_new(aside(first - 1), b"damaged").expect("a disk");
    let verdict = verify_whole(&disk);
    assert_eq!((verdict.ok, verdict.lost_below), (false, verdict.oldest));
    let told = verdict.to_string();
    assert!(told.contains("is lost: its segments were put aside as damaged"), "{told}");
    assert_eq!(Some(verdict.height + 1), verdict.lost_below);
}

/// Others give turns back beginning with the newest, and after the first of them the rest was told as pruned.
#[test]
fn what_was_put_aside_is_lost_until_all_of_it_is_given_back() {
    let pruned_log = || {
        let mut store = with_snapshot(&decided_records(), 8, |_| ());
        prune(&mut store);
        store
    };
    let oldest = verify(pruned_log().disk()).oldest.expect("it is pruned") as usize;
    let given_back = |from: usize| {
        let mut store = pruned_log();
        put_back(&mut store, from..=oldest + 2, |turn| certificate(turn, 0..3));
        let mut disk = store.into_disk();
        let segments = disk.list(Folder::Log).expect("a folder").into_iter();
        let first = segments.filter_map(|file| match file.kind {
            FileKind::Segment(number) => Some(number),
            _ => None,
        });
        let segment = first.min().expect("a segment") - 1;
        let aside = FileName::new(FileKind::Quarantined { segment, copy: 0 });
        disk.write_new(aside, b"damaged").expect("a disk");
        let verdict = verify_whole(&disk);
        (verdict.ok, verdict.lost_below)
    };
    for from in 2..oldest {
        assert_eq!(given_back(from), (false, Some(from as u64)));
    }
    assert_eq!(given_back(1), (true, None));
}

#[test]
fn a_snapshot_that_the_turns_do_not_prove_is_wrong() {
    let wrong = |change: fn(&mut Base)| {
        let verdict = verify(&pruned_memory_log(change));
        assert!(!verdict.ok);
        verdict.error.unwrap()
    };
    let header = wrong(|base| base.header = HeaderId(Digest::ZERO));
    assert_eq!(header, LogFaultKind::OtherState(Height(8)).to_string());
    let root = wrong(|base| base.roots[1] = Root(Digest::ZERO));
    assert!(root.contains("root"), "{root}");
}

/// Removes the oldest segments of a log whose turns are about to be applied, as its server does.
struct Prunes(Store<SharedDisk>);

impl Watch for Prunes {
    fn enter(&mut self, _: Stage) {}
}

impl TurnObserver for Prunes {
    fn begins(&mut self, _: Height) -> ControlFlow<()> {
        prune(&mut self.0);
        ControlFlow::Continue(())
    }

    fn applied(&mut self, _: &Applied, _: &World) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// The removed segments made a sound log wrong.
#[test]
fn a_log_that_its_server_shortens_meanwhile_is_verified_from_its_new_beginning_on() {
    let disk = SharedDisk::default();
    let store = write_log_and_snapshot(disk.clone(), &decided_records(), 8, |_| ());
    let checked = checked(&disk, &mut Prunes(store));
    assert_eq!((checked.fault, checked.base), (None, Height(8)));
    assert_eq!(checked.applied, [(Height(9), Height(TURNS as u64))]);
}
