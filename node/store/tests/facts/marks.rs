//! The mark: how far a log is known to be durable, and where it begins.

use metatopia_store::{
    Damage, Damaged, Disk, FileKind, FileName, MarkError, Position, ScanError, Store,
    memory::{CrashEffect, DiskFault, MemoryDisk},
    scan,
};

use crate::fixture::{append, contents, filled, open, opening, payload, records, sim};

const RECORDS: u64 = 16;

/// A store of [`RECORDS`] records in several segments.
fn long() -> Store<MemoryDisk> {
    let store = open(filled(&[1; RECORDS as usize]));
    assert!(store.index().segments() > 3);
    store
}

fn marked() -> MemoryDisk {
    let mut store = long();
    store.mark().expect("a good disk");
    store.into_disk()
}

/// Returns where the records begin.
fn positions(disk: &MemoryDisk) -> Vec<Position> {
    let index = scan(disk, sim()).expect("an undamaged log").index;
    records(&index, disk).iter().map(|record| record.position).collect()
}

/// Asserts that a log holds the last of the records, and returns how many.
fn assert_suffix(store: &Store<MemoryDisk>) -> u64 {
    let found = records(store.index(), store.disk());
    let first = RECORDS - found.len() as u64;
    for (number, record) in (first..).zip(&found) {
        assert_eq!(record.payload, payload(number));
    }
    assert_eq!(found.first().map(|record| record.position), Some(store.index().begin()));
    found.len() as u64
}

fn segments(disk: &MemoryDisk) -> Vec<u64> {
    let numbers = disk.files().into_iter().filter_map(|file| match file.kind {
        FileKind::Segment(number) => Some(number),
        _ => None,
    });
    numbers.collect()
}

#[test]
fn segments_before_what_is_kept_are_removed_and_the_rest_stands_alone() {
    for keep in positions(&long().into_disk()) {
        let mut store = long();
        let (file, _) = store.index().locate(keep).expect("a record");

        store.prune_before(keep).expect("a good disk");

        let kept = assert_suffix(&store);
        assert!(store.index().begin() <= keep);
        assert_eq!(store.index().is_pruned(), file != FileName::segment(0));
        let mut disk = store.into_disk();
        assert_eq!(segments(&disk).first(), Some(&number(file)));
        disk.crash(CrashEffect::Lost);
        let mut store = open(disk);
        assert_eq!(assert_suffix(&store), kept);
        let first = RECORDS - kept;
        for tag in 100..100 + RECORDS {
            let due = (tag - 100).is_multiple_of(3) && tag - 100 >= first;
            assert_eq!(store.find(tag).expect("a good disk").is_some(), due, "tag {tag}");
        }
        append(&mut store, RECORDS);
        store.sync().expect("a good disk");
        let index = open(store.into_disk()).index().clone();
        assert_eq!(index.records(), kept + 1);
    }
}

fn number(file: FileName) -> u64 {
    match file.kind {
        FileKind::Segment(number) => number,
        _ => panic!("{file} is no segment"),
    }
}

#[test]
fn a_crash_at_any_step_of_pruning_loses_nothing_that_is_kept() {
    let keep = positions(&long().into_disk())[12];
    for tail in
        [CrashEffect::Lost, CrashEffect::Kept].into_iter().chain((0..40).map(CrashEffect::Torn))
    {
        for step in 0.. {
            let mut store = long();
            let next = store.disk().operations() + step;
            store.disk_mut().fail_operation(next, DiskFault::PowerOff);
            let done = store.prune_before(keep);
            let mut disk = store.into_disk();
            disk.crash(tail);

            let store = open(disk);

            assert!(assert_suffix(&store) >= RECORDS - 12, "{tail:?} at step {step}");
            let left = segments(store.disk());
            assert_eq!(left.len() as u64, store.index().segments(), "nothing else is left");
            if done.is_ok() {
                assert!(step > 6, "the fault came too late");
                break;
            }
        }
    }
}

#[test]
fn a_mark_that_is_not_written_harms_nothing() {
    let mut store = long();
    let keep = positions(store.disk())[12];
    // The sync comes first, then the mark's bytes.
    let next = store.disk().operations() + 1;
    store.disk_mut().fail_operation(next, DiskFault::Full);

    let failed = store.prune_before(keep);

    assert!(matches!(failed, Err(MarkError::Disk(_))), "{failed:?}");
    assert!(!store.must_reopen());
    assert_eq!(assert_suffix(&store), RECORDS);
    store.prune_before(keep).expect("there is room again");
    assert!(assert_suffix(&store) < RECORDS);
}

#[test]
fn every_cut_of_a_marked_log_is_damage_and_never_a_tail() {
    let whole = marked();
    let mut tried = 0;
    for number in segments(&whole) {
        let file = FileName::segment(number);
        let bytes = whole.bytes(file).expect("a segment").to_vec();
        for left in 0..bytes.len() {
            let mut disk = whole.clone();
            disk.replace(file, bytes[..left].to_vec());
            let before = contents(&disk);

            let opened = Store::open(&mut disk, opening()).map(|_| ());

            opened.expect_err("bytes are missing");
            assert_eq!(contents(&disk), before, "nothing is changed");
            tried += 1;
        }
    }
    println!("{tried} cuts of a marked log, each was noticed");
}

#[test]
fn every_range_of_bytes_taken_out_of_a_marked_log_is_damage() {
    let whole = marked();
    let mut tried = 0;
    for number in segments(&whole) {
        let file = FileName::segment(number);
        let bytes = whole.bytes(file).expect("a segment").to_vec();
        for from in (0..bytes.len()).step_by(3) {
            for to in (from + 1..=bytes.len()).step_by(5) {
                let mut disk = whole.clone();
                disk.replace(file, [&bytes[..from], &bytes[to..]].concat());

                assert!(scan(&disk, sim()).is_err(), "{file} {from}..{to}");
                tried += 1;
            }
        }
    }
    println!("{tried} ranges of bytes taken out, each was noticed");
}

#[test]
fn a_missing_end_of_a_marked_log_is_told_by_its_bytes() {
    let mut disk = marked();
    let all = positions(&disk);
    let index = scan(&disk, sim()).expect("an undamaged log").index;
    let (file, offset) = index.locate(all[RECORDS as usize - 1]).expect("the last record");
    let bytes = disk.bytes(file).expect("a segment")[..offset as usize].to_vec();
    disk.replace(file, bytes);

    let found = scan(&disk, sim()).expect_err("the last record is missing");

    let missing = index.end().0 - all[RECORDS as usize - 1].0;
    let damage = Damage::Ends(missing);
    assert_eq!(found, ScanError::Damaged(Damaged { file, offset, damage }));
}

#[test]
fn what_is_appended_after_the_mark_may_be_torn() {
    let mut store = open(marked());
    append(&mut store, RECORDS);
    store.sync().expect("a good disk");
    let (end, mut disk) = (store.index().clone(), store.into_disk());
    let (file, _) = end.locate(Position(end.end().0 - 1)).expect("a record");
    let mut bytes = disk.bytes(file).expect("a segment").to_vec();
    bytes.pop();
    disk.replace(file, bytes);

    let found = scan(&disk, sim()).expect("a torn tail");

    assert!(found.tail.is_some());
    assert_eq!(found.index.records(), RECORDS);
}

#[test]
fn a_log_of_another_history_does_not_fit_its_mark() {
    let mut other = open(MemoryDisk::new());
    for number in 0..2 * RECORDS {
        append(&mut other, number + 1);
    }
    other.sync().expect("a good disk");
    let mut disk = other.into_disk();
    let mark = marked().bytes(FileName::MARK).expect("a mark").to_vec();
    disk.replace(FileName::MARK, mark);

    let found = scan(&disk, sim()).expect_err("another log");

    let damaged = Damaged { file: FileName::MARK, offset: 0, damage: Damage::Unmarked };
    assert_eq!(found, ScanError::Damaged(damaged));
}

#[test]
fn every_flip_and_every_cut_of_the_mark_is_noticed() {
    let whole = marked();
    let bytes = whole.bytes(FileName::MARK).expect("a mark").to_vec();
    for bit in 0..bytes.len() as u64 * 8 {
        let mut disk = whole.clone();
        disk.flip(FileName::MARK, bit);
        let found = scan(&disk, sim());
        let Err(ScanError::Damaged(damaged)) = found else {
            panic!("bit {bit}: {found:?}");
        };
        assert_eq!(damaged.file, FileName::MARK, "bit {bit}");
    }
    for left in 0..bytes.len() {
        let mut disk = whole.clone();
        disk.replace(FileName::MARK, bytes[..left].to_vec());
        let found = scan(&disk, sim());
        assert!(matches!(found, Err(ScanError::Damaged(_))), "{left} bytes: {found:?}");
    }
}

#[test]
fn a_pruned_log_whose_first_segments_are_gone_is_not_taken_for_a_shorter_one() {
    let mut store = long();
    let keep = positions(store.disk())[6];
    store.prune_before(keep).expect("a good disk");
    let mut disk = store.into_disk();
    let first = FileName::segment(segments(&disk)[0]);
    disk.remove(first).expect("a segment");

    assert_eq!(scan(&disk, sim()), Err(ScanError::Missing(first)));

    disk.remove(FileName::MARK).expect("a mark");
    assert_eq!(scan(&disk, sim()), Err(ScanError::Missing(FileName::segment(0))));
}

#[test]
fn asking_for_room_leaves_nothing_behind() {
    let mut store = long();
    let before = contents(store.disk());
    let used: u64 = before.iter().map(|(_, bytes)| bytes.len() as u64).sum();
    store.disk_mut().limit_capacity(Some(used + 100_000));

    assert!(store.probe(100_001).is_err());
    assert_eq!(store.probe(100_000), Ok(()));

    assert_eq!(contents(store.disk()), before);
}
