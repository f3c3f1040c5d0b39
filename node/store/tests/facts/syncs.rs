//! Disks that say no: failed syncs, short writes, full disks, failed reads.

use metatopia_store::{
    AppendError, Cause, ReadDisk, Store, SyncError,
    memory::{CrashEffect, DiskFault, MemoryDisk},
    recover,
};

use crate::fixture::{
    append, assert_prefix, filled, labels, open, opening, payload, records, recovered, sim,
};

/// A store with three durable records and two more on which the sync failed.
fn after_a_failed_sync() -> Store<MemoryDisk> {
    let mut store = open(filled(&[3]));
    append(&mut store, 3);
    append(&mut store, 4);
    let next = store.disk().operations();
    store.disk_mut().fail_operation(next, DiskFault::Fail);
    let failed = store.sync();
    assert!(matches!(failed, Err(SyncError::Disk(_))), "{failed:?}");
    store
}

#[test]
fn after_a_failed_sync_the_store_refuses_until_it_is_reopened() {
    let mut store = after_a_failed_sync();

    assert!(store.must_reopen());
    assert_eq!(store.sync(), Err(SyncError::MustReopen));
    assert_eq!(store.append(1, None, b""), Err(AppendError::MustReopen));
    store.reopen().expect("the disk works again");
    assert_eq!(store.synced(), store.end());
    let kept = store.index().records();
    append(&mut store, kept);
    store.sync().expect("a good disk");
    let mut disk = store.into_disk();
    disk.crash(CrashEffect::Lost);
    assert_eq!(recovered(&mut disk), kept + 1);
}

#[test]
fn what_is_read_after_a_failed_sync_is_written_anew_and_so_durable() {
    let mut disk = after_a_failed_sync().into_disk();

    assert_eq!(recovered(&mut disk), 5, "a new process can still read them");
    disk.crash(CrashEffect::Lost);

    assert_eq!(recovered(&mut disk), 5, "and acts on them");
}

#[test]
fn after_a_failed_sync_what_is_durable_can_still_be_read() {
    let store = after_a_failed_sync();

    assert_eq!(assert_prefix(&records(store.index(), store.disk())), 3);
    assert!(store.find(100).expect("a good disk").is_some());
    assert_eq!(store.find(103), Ok(None), "it was never durable");
}

#[test]
fn believing_a_second_sync_after_a_failed_one_would_lose_records() {
    let mut store = open(filled(&[3]));
    append(&mut store, 3);
    append(&mut store, 4);
    let request = store.begin_sync().expect("a log with a file");
    let mut disk = store.into_disk();
    disk.fail_operation(disk.operations(), DiskFault::Fail);
    request.perform(&mut disk).expect_err("injected");
    request.perform(&mut disk).expect("the second sync claims to be good");

    disk.crash(CrashEffect::Kept);

    assert_eq!(recovered(&mut disk), 3, "but they never reached the disk");
}

#[test]
fn every_operation_may_fail_and_the_store_is_whole_again_when_reopened() {
    let mut operation = 0;
    loop {
        let mut disk = filled(&[3]);
        let first = disk.operations();
        disk.fail_operation(first + operation, DiskFault::Fail);
        let Ok(opened) = Store::open(&mut disk, opening()) else {
            assert_eq!(recovered(&mut disk), 3, "operation {operation}");
            operation += 1;
            continue;
        };
        let mut store = opened.store;
        let mut synced = 3;
        for number in 3..12 {
            let (kind, tag) = labels(number);
            let appended = store.append(kind, tag, &payload(number));
            if appended.is_err() || (number % 2 == 0 && store.sync().is_err()) {
                break;
            }
            if number % 2 == 0 {
                synced = number + 1;
            }
        }
        if !store.must_reopen() {
            assert!(operation > 12, "the fault came too late");
            break;
        }
        // Sealing a segment may have made more durable than was asked for.
        let durable = store.synced();
        store.reopen().expect("the disk works again");
        assert!(store.end() >= durable, "operation {operation}");
        assert!(store.index().records() >= synced, "operation {operation}");
        disk.crash(CrashEffect::Lost);
        assert!(recovered(&mut disk) >= synced, "operation {operation}");
        operation += 1;
    }
}

#[test]
fn a_disk_that_is_full_at_any_byte_keeps_what_was_synced() {
    let used = |disk: &MemoryDisk| {
        let files = disk.files().into_iter();
        let lengths = files.map(|file| disk.bytes(file).expect("a file").len() as u64);
        lengths.sum::<u64>()
    };
    let filled = filled(&[3]);
    let used = used(&filled);
    for room in 0..600 {
        let mut disk = filled.clone();
        let opened = Store::open(&mut disk, opening());
        let mut store = opened.expect("a good disk").store;
        store.disk_mut().limit_capacity(Some(used + room));
        let mut synced = 3;
        let full = loop {
            let (kind, tag) = labels(synced);
            if let Err(error) = store.append(kind, tag, &payload(synced)) {
                break error;
            }
            store.sync().expect("syncing takes no room");
            synced += 1;
        };
        assert!(matches!(&full, AppendError::Disk(error) if error.cause == Cause::Full), "{full}");

        store.disk_mut().limit_capacity(None);
        store.reopen().expect("there is room again");
        let (kind, tag) = labels(synced);
        store.append(kind, tag, &payload(synced)).expect("room");
        store.sync().expect("a good disk");

        disk.crash(CrashEffect::Lost);
        assert_eq!(recovered(&mut disk), synced + 1, "room for {room} bytes");
    }
}

#[test]
fn a_read_that_fails_is_an_error_and_never_a_cut() {
    let whole = filled(&[2, 2, 2]);
    let mut count = whole.clone();
    recover(&mut count, sim()).expect("an undamaged log");
    let reads = count.reads() - whole.reads();
    assert!(reads > 6, "{reads} reads");
    for read in 0..reads {
        let mut disk = whole.clone();
        disk.fail_read(disk.reads() + read, DiskFault::Fail);

        let found = recover(&mut disk, sim());

        found.expect_err("a failed read");
        assert_eq!(recovered(&mut disk), 6, "read {read}");
    }
}

#[test]
fn a_sync_promises_only_what_was_there_when_it_began() {
    let mut store = open(MemoryDisk::new());
    let end = append(&mut store, 0);
    let begun = store.begin_sync().expect("a log with a file");
    append(&mut store, 1);

    assert_eq!(store.finish_sync(&begun), Ok(end));

    assert!(store.end() > end);
    let mut disk = store.into_disk();
    disk.crash(CrashEffect::Lost);
    assert_eq!(recovered(&mut disk), 1);
}

#[test]
fn a_sync_that_was_begun_in_an_earlier_segment_still_counts() {
    let mut store = open(MemoryDisk::new());
    append(&mut store, 0);
    let begun = store.begin_sync().expect("a log with a file");
    while store.index().segments() < 3 {
        let number = store.index().records();
        append(&mut store, number);
    }
    let sealed = store.synced();

    assert_eq!(store.finish_sync(&begun), Ok(sealed), "segments begin durable");
    assert!(sealed > begun.end);
    let read = store.disk().list(metatopia_store::Folder::Log);
    assert_eq!(read.expect("a good disk").len(), 3);
}
