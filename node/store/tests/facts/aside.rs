//! Damaged logs: what is put aside, and what goes on.

use metatopia_store::{
    Disk, FileKind, FileName, Quarantine, ScanError, Store, begins_behind_damage,
    memory::{CrashEffect, DiskFault, MemoryDisk},
    quarantine, scan,
};

use crate::fixture::{append, contents, filled, open, opening, payload, places, records, sim};

const RECORDS: u64 = 16;

/// A marked log of several segments.
fn whole() -> MemoryDisk {
    let mut store = open(filled(&[1; RECORDS as usize]));
    store.mark().expect("a good disk");
    store.into_disk()
}

/// The log with a bit of a record turned, and that record's segment.
fn damaged(record: usize) -> (MemoryDisk, u64) {
    let mut disk = whole();
    let (file, from, _) = places(&disk)[record];
    assert!(disk.flip(file, (from + 45) * 8));
    (disk, number(file))
}

fn number(file: FileName) -> u64 {
    match file.kind {
        FileKind::Segment(number) => number,
        _ => panic!("{file} is no segment"),
    }
}

fn repaired(disk: &mut MemoryDisk, suffices: bool) -> Quarantine {
    let done = quarantine(disk, sim(), &|_, _| suffices);
    done.expect("a good disk").expect("damage")
}

fn numbers(store: &Store<MemoryDisk>) -> Vec<u64> {
    let all: Vec<Vec<u8>> = (0..RECORDS).map(payload).collect();
    let found = records(store.index(), store.disk());
    let place = |bytes: &Vec<u8>| all.iter().position(|p| p == bytes).expect("one of ours");
    found.iter().map(|record| place(&record.payload) as u64).collect()
}

#[test]
fn a_log_in_order_is_left_alone() {
    let mut disk = whole();
    let before = contents(&disk);
    assert_eq!(quarantine(&mut disk, sim(), &|_, _| false), Ok(None));
    assert_eq!(contents(&disk), before);
}

#[test]
fn a_log_whose_end_suffices_goes_on_behind_the_damage() {
    let last = number(places(&whole())[RECORDS as usize - 1].0);
    for record in 0..RECORDS as usize {
        let (mut disk, bad) = damaged(record);
        if bad == last {
            continue;
        }
        let before = disk.bytes(FileName::segment(bad)).expect("a segment").to_vec();

        let done = repaired(&mut disk, true);

        assert!(!done.records_lost);
        assert!(matches!(done.fault, ScanError::Damaged(_)));
        assert_eq!(done.moved.len() as u64, bad + 1);
        let aside = FileName::new(FileKind::Quarantined { segment: bad, copy: 0 });
        assert_eq!(disk.bytes(aside), Some(before.as_slice()), "as it was");
        let opened = Store::open(disk, opening()).expect("a log");
        assert!(!opened.records_lost);
        let kept = numbers(&opened.store);
        assert_eq!(kept.last(), Some(&(RECORDS - 1)));
        assert!(kept[0] > record as u64 && kept.windows(2).all(|pair| pair[1] == pair[0] + 1));
        let mut store = opened.store;
        append(&mut store, RECORDS);
        store.sync().expect("a good disk");
        assert_eq!(open(store.into_disk()).index().records(), kept.len() as u64 + 1);
    }
}

#[test]
fn a_log_whose_end_is_of_no_use_ends_before_the_damage_and_says_so_until_it_is_noted() {
    for record in 0..RECORDS as usize {
        let (mut disk, bad) = damaged(record);
        let before = disk.bytes(FileName::segment(bad)).expect("a segment").to_vec();

        let done = repaired(&mut disk, false);

        assert!(done.records_lost);
        let aside = FileName::new(FileKind::Quarantined { segment: bad, copy: 0 });
        assert!(done.moved.contains(&aside));
        assert_eq!(disk.bytes(aside), Some(before.as_slice()), "as it was");
        for _ in 0..2 {
            let opened = Store::open(disk, opening()).expect("a log");
            assert!(opened.records_lost, "nobody has noted it");
            assert_eq!(numbers(&opened.store), (0..record as u64).collect::<Vec<_>>());
            disk = opened.store.into_disk();
        }
        let mut store = open(disk);
        store.append(4, None, b"records were lost").expect("a good disk");
        store.acknowledge_loss().expect("a good disk");
        let opened = Store::open(store.into_disk(), opening()).expect("a log");
        assert!(!opened.records_lost);
        assert_eq!(opened.store.index().records(), record as u64 + 1);
    }
}

/// A log that was cut at its end, and pruned beyond the cut long after, was told as one that lost its beginning.
#[test]
fn a_log_begins_behind_damage_only_where_the_damage_took_its_beginning() {
    let last = number(places(&whole())[RECORDS as usize - 1].0);
    for record in 0..RECORDS as usize {
        let (disk, bad) = damaged(record);
        if bad != last {
            let mut disk = disk.clone();
            repaired(&mut disk, true);
            let store = open(disk);
            assert_eq!(begins_behind_damage(store.disk(), store.index()), Ok(true), "{record}");
        }
        let mut disk = disk;
        repaired(&mut disk, false);
        let mut store = open(disk);
        // Other records, many of which are as long as those that were lost.
        for n in 30 + record as u64..60 {
            append(&mut store, n);
        }
        store.sync().expect("a good disk");
        for kept in records(store.index(), store.disk()) {
            store.prune_before(kept.position).expect("a good disk");
            assert_eq!(begins_behind_damage(store.disk(), store.index()), Ok(false), "{record}");
        }
        assert!(store.index().is_pruned());
    }
}

#[test]
fn a_missing_segment_is_named_and_the_rest_is_used() {
    let mut disk = whole();
    let missing = FileName::segment(1);
    disk.remove(missing).expect("a segment");

    let done = repaired(&mut disk, true);

    assert_eq!(done.fault, ScanError::Missing(missing));
    let aside = FileName::new(FileKind::Quarantined { segment: 0, copy: 0 });
    assert_eq!((done.moved, done.records_lost), (vec![aside], false));
    assert_eq!(numbers(&open(disk)).last(), Some(&(RECORDS - 1)));
}

#[test]
fn a_cut_below_the_mark_loses_records() {
    let mut disk = whole();
    let (file, from, _) = places(&disk)[RECORDS as usize - 1];
    let bytes = disk.bytes(file).expect("a segment")[..from as usize].to_vec();
    disk.replace(file, bytes);

    let done = repaired(&mut disk, true);

    assert!(done.records_lost);
    assert_eq!(numbers(&open(disk)).len() as u64, RECORDS - 1);
}

#[test]
fn a_damaged_mark_loses_no_records_but_what_it_said() {
    let mut disk = whole();
    disk.flip(FileName::MARK, 500);

    let done = repaired(&mut disk, true);

    assert!(done.moved.is_empty());
    assert!(done.records_lost, "nobody knows how far the log had been durable");
    let opened = Store::open(disk, opening()).expect("a log");
    assert!(opened.records_lost);
    assert_eq!(opened.store.index().records(), RECORDS);
}

#[test]
fn a_second_damaged_segment_of_a_number_takes_the_next_free_name() {
    let (mut disk, bad) = damaged(RECORDS as usize - 1);
    let first = repaired(&mut disk, false);
    let mut store = open(disk);
    store.append(1, None, b"more").expect("a good disk");
    store.mark().expect("a good disk");
    let mut disk = store.into_disk();
    let file = FileName::segment(bad);
    let length = disk.bytes(file).expect("a segment").len() as u64;
    disk.flip(file, (length - 1) * 8);

    let second = repaired(&mut disk, false);

    let aside = |copy| vec![FileName::new(FileKind::Quarantined { segment: bad, copy })];
    assert_eq!((first.moved, second.moved), (aside(0), aside(1)));
}

#[test]
fn a_full_disk_keeps_no_half_of_a_copy_and_the_log_is_put_aside_once_there_is_room() {
    let (bad_disk, bad) = damaged(7);
    let used: u64 = contents(&bad_disk).iter().map(|(_, bytes)| bytes.len() as u64).sum();
    let before = bad_disk.bytes(FileName::segment(bad)).expect("a segment").to_vec();
    let aside = FileName::new(FileKind::Quarantined { segment: bad, copy: 0 });
    for room in 0.. {
        let mut disk = bad_disk.clone();
        disk.limit_capacity(Some(used + room));

        let done = quarantine(&mut disk, sim(), &|_, _| false);

        let left = disk.files();
        assert!(left.iter().all(|file| !file.temporary), "room for {room} bytes: {left:?}");
        if done.is_ok() {
            assert!(room > before.len() as u64, "the copy had room from the first");
            break;
        }
        assert_eq!(disk.bytes(aside).is_some(), room >= before.len() as u64);
        disk.limit_capacity(None);
        quarantine(&mut disk, sim(), &|_, _| false).expect("there is room again");
        assert_eq!(disk.bytes(aside), Some(before.as_slice()), "as it was");
        assert_eq!(numbers(&open(disk)), (0..7).collect::<Vec<_>>());
    }
}

#[test]
fn a_crash_at_any_step_never_hides_that_records_were_lost() {
    for record in [1, 7, RECORDS as usize - 1] {
        let tails = [CrashEffect::Lost, CrashEffect::Kept]
            .into_iter()
            .chain((0..20).map(CrashEffect::Torn));
        for tail in tails {
            for step in 0.. {
                let (mut disk, _) = damaged(record);
                let next = disk.operations() + step;
                disk.fail_operation(next, DiskFault::PowerOff);
                let done = quarantine(&mut disk, sim(), &|_, _| false);
                disk.crash(tail);
                if scan(&disk, sim()).is_err() {
                    quarantine(&mut disk, sim(), &|_, _| false).expect("a good disk");
                }

                let opened = Store::open(disk, opening()).expect("a log");

                assert!(opened.records_lost, "{tail:?}, step {step}");
                assert!(numbers(&opened.store).len() <= record);
                if done.is_ok() {
                    assert!(step > 4, "the fault came too late");
                    break;
                }
            }
        }
    }
}
