//! Payloads that were replaced in their place: the bytes are gone, and the chain stands.

use metatopia_store::{
    Position, Store, StoredRecord,
    memory::{CrashEffect, DiskFault, MemoryDisk},
    scan, unknown_format,
};

use crate::fixture::{append, contents, opening, records, sim};

/// What is to be forgotten, and what takes its place.
const SECRET: &[u8] = b"a secret that somebody said and wants to take back";
const HOLE: &[u8] = b"a hole";

fn hole(record: &StoredRecord) -> Option<Vec<u8>> {
    record.payload.starts_with(SECRET).then(|| HOLE.to_vec())
}

fn has_secret(disk: &MemoryDisk) -> bool {
    contents(disk).iter().any(|(_, bytes)| bytes.windows(SECRET.len()).any(|at| at == SECRET))
}

/// Returns a log of several segments with two secrets, one of them in the last segment.
fn told() -> Store<MemoryDisk> {
    let mut store = Store::open(MemoryDisk::new(), opening()).expect("a good disk").store;
    for number in 0..3 {
        append(&mut store, number);
    }
    store.append(1, Some(110), SECRET).expect("a good disk");
    for number in 12..18 {
        append(&mut store, number);
    }
    store.append(1, None, &[SECRET, b" again"].concat()).expect("a good disk");
    store.sync().expect("a good disk");
    assert!(store.index().segments() > 2);
    store
}

fn redact_all<D: metatopia_store::Disk>(store: &mut Store<D>) -> Option<usize> {
    let starts: Vec<Position> = store.index().segment_starts().collect();
    let each = starts.into_iter().map(|at| store.redact(at, &mut hole).ok());
    each.sum()
}

fn assert_holes(found: &[StoredRecord], before: &[StoredRecord], context: &str) {
    assert_eq!(found.len(), before.len(), "{context}");
    for (found, before) in found.iter().zip(before) {
        let payload = hole(before).unwrap_or_else(|| before.payload.clone());
        assert_eq!(found, &StoredRecord { payload, ..before.clone() }, "{context}");
    }
}

#[test]
fn replaced_bytes_are_in_no_file_and_every_other_record_is_what_it_was() {
    let mut store = told();
    let before = records(store.index(), store.disk());
    let index = store.index().clone();

    assert_eq!(redact_all(&mut store), Some(2));

    assert!(!has_secret(store.disk()));
    assert_eq!(store.index(), &index, "each record has its place, and the chain its end");
    assert_holes(&records(store.index(), store.disk()), &before, "read by the same store");
    assert_eq!(redact_all(&mut store), Some(0), "once is enough");
    // What comes after continues the chain, and another start reads it all.
    append(&mut store, 21);
    store.sync().expect("a good disk");
    let mut disk = store.into_disk();
    disk.crash(CrashEffect::Lost);
    assert_eq!(unknown_format(&disk), Ok(None));
    let found = scan(&disk, sim()).expect("an undamaged log");
    let mut found = records(&found.index, &disk);
    assert_eq!(found.pop().map(|record| record.tag), Some(Some(121)));
    assert_holes(&found, &before, "read by another start");
}

#[test]
fn a_record_can_be_replaced_again_and_takes_no_more_room_than_it_had() {
    let mut store = told();
    let at = store.find(110).expect("a good disk").expect("it was appended").position;
    let mut wider = |record: &StoredRecord| {
        record.payload.starts_with(SECRET).then(|| vec![7; SECRET.len() - 19])
    };
    assert_eq!(store.redact(at, &mut wider), Ok(0), "20 bytes less is the least");
    let mut fits =
        |record: &StoredRecord| (record.tag == Some(110)).then(|| vec![7; SECRET.len() - 20]);
    assert_eq!(store.redact(at, &mut fits), Ok(1));
    assert_eq!(store.find(110).expect("a record").expect("there").payload, vec![7; 30]);
    let mut less = |record: &StoredRecord| (record.tag == Some(110)).then(Vec::new);
    assert_eq!(store.redact(at, &mut less), Ok(1));
    assert_eq!(store.find(110).expect("a record").expect("there").payload, b"");
}

#[test]
fn a_crash_at_any_operation_leaves_the_record_or_the_hole_and_loses_nothing() {
    let before = {
        let store = told();
        records(store.index(), store.disk())
    };
    let redacting = |disk: &mut MemoryDisk| {
        let mut store = Store::open(disk, opening()).ok()?.store;
        let done = redact_all(&mut store)?;
        append_on(&mut store)?;
        Some(done)
    };
    let mut whole = told().into_disk();
    let first = whole.operations();
    assert_eq!(redacting(&mut whole), Some(2));
    for crash in first..whole.operations() {
        for tail in [CrashEffect::Lost, CrashEffect::Kept, CrashEffect::Torn(crash)] {
            let context = format!("operation {crash}, {tail:?}");
            let mut disk = told().into_disk();
            disk.fail_operation(crash, DiskFault::PowerOff);
            assert_eq!(redacting(&mut disk), None, "{context}");
            disk.crash(tail);

            let mut store = Store::open(&mut disk, opening()).expect(&context).store;
            assert!(redact_all(&mut store).is_some(), "{context}");
            let mut found = records(store.index(), store.disk());
            found.truncate(before.len());
            assert_holes(&found, &before, &context);
            drop(store);
            assert!(!has_secret(&disk), "{context}");
        }
    }
}

fn append_on<D: metatopia_store::Disk>(store: &mut Store<D>) -> Option<()> {
    store.append(1, Some(130), b"said later").ok()?;
    store.sync().map(drop).ok()
}

#[test]
fn a_failed_sync_of_the_folder_lets_nothing_be_appended_to_a_file_that_may_go() {
    let told = told();
    let last = told.index().segment_starts().next_back().expect("a segment");
    let mut tried = 0;
    for fault in 0.. {
        let mut store = told.clone();
        let at = store.disk().operations() + fault;
        store.disk_mut().fail_operation(at, DiskFault::Fail);
        if store.redact(last, &mut hole).is_ok() {
            break;
        }
        tried += 1;
        let appended = append_on(&mut store).is_some();
        let mut disk = store.into_disk();
        disk.crash(CrashEffect::Lost);
        let store = Store::open(&mut disk, opening()).expect("a log").store;
        let found = store.find(130).expect("a log").is_some();
        assert_eq!(found, appended, "operation {fault}");
    }
    assert!(tried >= 4, "append, sync, rename and the folder: {tried}");
}

#[test]
fn any_bit_that_turns_in_a_segment_with_holes_is_damage() {
    let mut store = told();
    redact_all(&mut store).expect("a good disk");
    append(&mut store, 24);
    store.sync().expect("a good disk");
    store.mark().expect("a good disk");
    let (file, _) = store.index().locate(store.index().begin()).expect("a segment");
    let disk = store.into_disk();
    let bits = disk.bytes(file).expect("a segment").len() as u64 * 8;
    for bit in 0..bits {
        let mut disk = disk.clone();
        assert!(disk.flip(file, bit));
        assert!(scan(&disk, sim()).is_err(), "bit {bit}");
    }
}
