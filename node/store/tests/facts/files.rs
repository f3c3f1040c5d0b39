//! Files that are written as a whole.

use metatopia_store::{
    Disk, FileKind, FileName, Folder, ReadDisk, Snapshot, Store, claim_identity, forget_blob,
    get_blob, list_snapshots, load_snapshot,
    memory::{CrashEffect, DiskFault, MemoryDisk},
    newest_snapshot, put_blob, put_only_snapshot, put_snapshot, read_identity,
};
use metatopia_types::{Blob, Digest, Height, Root};

use crate::fixture::{filled, opening};

fn snapshot(height: u64, bytes: &[u8]) -> Snapshot {
    Snapshot {
        height: Height(height),
        root: Root(Digest::of("a test", bytes)),
        bytes: bytes.to_vec(),
    }
}

#[test]
fn a_snapshot_is_loaded_as_it_was_put() {
    let mut disk = MemoryDisk::new();
    for bytes in [vec![], vec![5], vec![5; 300_000]] {
        let snapshot = snapshot(bytes.len() as u64, &bytes);
        put_snapshot(&mut disk, &snapshot).expect("a good disk");
        disk.crash(CrashEffect::Lost);

        let loaded = load_snapshot(&disk, snapshot.height, snapshot.root);

        assert_eq!(loaded.as_ref(), Ok(&snapshot));
        let newest = newest_snapshot(&disk).expect("a good disk");
        assert_eq!(newest.snapshot, Some(snapshot));
    }
}

#[test]
fn there_is_no_newest_snapshot_before_the_first() {
    let newest = newest_snapshot(&MemoryDisk::new()).expect("a good disk");
    assert_eq!((newest.snapshot, newest.passed_over), (None, vec![]));
}

#[test]
fn a_snapshot_that_fails_at_any_operation_leaves_the_older_ones() {
    for fault in [DiskFault::Fail, DiskFault::Full] {
        for operation in 0.. {
            let mut disk = MemoryDisk::new();
            put_snapshot(&mut disk, &snapshot(600, b"older")).expect("a good disk");
            put_snapshot(&mut disk, &snapshot(1_200, b"old")).expect("a good disk");
            disk.fail_operation(disk.operations() + operation, fault);
            let newer = snapshot(1_800, b"newer");

            let put = put_snapshot(&mut disk, &newer);

            let done = put.is_ok() && operation > 0;
            disk.crash(CrashEffect::Lost);
            let newest = newest_snapshot(&disk).expect("a good disk");
            assert_eq!(newest.passed_over, []);
            let height = newest.snapshot.expect("one is whole").height.0;
            assert!(height == 1_200 || height == 1_800);
            put_snapshot(&mut disk, &newer).expect("a good disk");
            assert_eq!(load_snapshot(&disk, newer.height, newer.root), Ok(newer));
            if done {
                break;
            }
        }
    }
}

#[test]
fn a_blob_is_there_until_it_is_forgotten() {
    let mut disk = MemoryDisk::new();
    let blob = Blob(b"hello".to_vec());
    let id = blob.id();
    assert_eq!(get_blob(&disk, id), Ok(None));
    assert_eq!(put_blob(&mut disk, &blob), Ok(id));
    assert_eq!(put_blob(&mut disk, &blob), Ok(id));
    disk.crash(CrashEffect::Lost);
    assert_eq!(get_blob(&disk, id), Ok(Some(blob)));

    assert_eq!(forget_blob(&mut disk, id), Ok(true));
    disk.crash(CrashEffect::Lost);

    assert_eq!(get_blob(&disk, id), Ok(None));
    assert_eq!(forget_blob(&mut disk, id), Ok(false));
    assert_eq!(disk.files(), []);
}

#[test]
fn a_whole_file_is_the_old_one_or_the_new_one_after_a_crash_at_any_operation() {
    let file = FileName::IDENTITY;
    let mut before = MemoryDisk::new();
    before.write_new(file, b"the old one").expect("a good disk");
    let mut whole = before.clone();
    whole.write_new(file, b"the new one").expect("a good disk");
    let operations = whole.operations() - before.operations();
    assert_eq!(operations, 5, "remove, append, sync, rename, sync the folder");

    for operation in 0..=operations {
        for tail in (0..40).map(CrashEffect::Torn).chain([CrashEffect::Lost, CrashEffect::Kept]) {
            let mut disk = before.clone();
            disk.fail_operation(disk.operations() + operation, DiskFault::PowerOff);
            let done = disk.write_new(file, b"the new one").is_ok();
            disk.crash(tail);

            let left = disk.bytes(file).expect("one of them");

            assert!(done || left == b"the old one" || left == b"the new one", "{tail:?}");
            assert!(!done || left == b"the new one", "{tail:?}");
        }
    }
}

#[test]
fn unfinished_files_are_removed_when_a_store_is_opened() {
    let mut disk = filled(&[3]);
    let root = Root(Digest::of("a test", b"root"));
    let unfinished = [
        FileName::IDENTITY,
        FileName::segment(1),
        FileName::new(FileKind::Snapshot(Height(600), root)),
        FileName::new(FileKind::Blob(Blob(vec![]).id())),
    ];
    for file in unfinished {
        disk.append(file.temporary(), b"half of").expect("a good disk");
    }

    Store::open(&mut disk, opening()).expect("a good disk");

    for folder in Folder::ALL {
        let left = disk.list(folder).expect("a good disk");
        assert!(left.iter().all(|file| !file.temporary), "{left:?}");
    }
    assert_eq!(disk.files(), [FileName::IDENTITY, FileName::segment(0)]);
}

/// Does `write` with a fault at its last operation, the sync of the folder; then again, as the next
/// process would; then the power goes.
fn named_but_not_durably<T: std::fmt::Debug>(
    mut write: impl FnMut(&mut MemoryDisk) -> Option<T>,
) -> MemoryDisk {
    let mut disk = MemoryDisk::new();
    disk.fail_operation(4, DiskFault::Fail);
    // The file is not removed: only its unfinished form would be.
    assert!(write(&mut disk).is_none());
    write(&mut disk).expect("a good disk");
    disk.crash(CrashEffect::Lost);
    disk
}

#[test]
fn a_file_that_a_killed_process_had_named_is_made_durable_by_the_next() {
    let identity = crate::fixture::identity();
    let claim = |disk: &mut MemoryDisk| claim_identity(disk, &identity).ok();
    let disk = named_but_not_durably(claim);
    assert_eq!(read_identity(&disk), Ok(Some(identity)));

    let blob = Blob(b"hello".to_vec());
    let disk = named_but_not_durably(|disk| put_blob(disk, &blob).ok());
    assert_eq!(get_blob(&disk, blob.id()), Ok(Some(blob)));
}

#[test]
fn a_file_that_could_not_be_written_takes_no_room() {
    let blob = Blob(vec![7; 100]);
    for fault in [DiskFault::Fail, DiskFault::Full] {
        for operation in 1..4 {
            let mut disk = MemoryDisk::new();
            disk.fail_operation(operation, fault);
            put_blob(&mut disk, &blob).expect_err("injected");
            assert_eq!(disk.files(), [], "operation {operation}, {fault:?}");
        }
    }
}

#[test]
fn a_snapshot_that_cannot_be_read_is_an_error_and_not_passed_over() {
    let mut disk = MemoryDisk::new();
    put_snapshot(&mut disk, &snapshot(600, b"older")).expect("a good disk");
    put_snapshot(&mut disk, &snapshot(1_200, b"newer")).expect("a good disk");
    let first = disk.reads();
    newest_snapshot(&disk).expect("a good disk");
    for read in first..disk.reads() {
        let mut disk = disk.clone();
        disk.fail_read(disk.reads() + read - first, DiskFault::Fail);
        newest_snapshot(&disk).expect_err("injected");
    }
}

/// A server that had healed stored the right state beside the wrong one of the same height, and a
/// restart took whichever came first by its root.
#[test]
fn of_a_height_that_is_stored_again_only_the_new_state_is_kept() {
    for (wrong, right) in [(&b"wrong"[..], &b"right"[..]), (b"right", b"wrong")] {
        let mut disk = MemoryDisk::new();
        put_snapshot(&mut disk, &snapshot(600, b"older")).expect("a good disk");
        put_snapshot(&mut disk, &snapshot(1_200, wrong)).expect("a good disk");
        put_snapshot(&mut disk, &snapshot(1_200, right)).expect("a good disk");

        let kept = list_snapshots(&disk).expect("a good disk");

        let due = [snapshot(1_200, right), snapshot(600, b"older")];
        assert_eq!(kept, due.map(|snapshot| (snapshot.height, snapshot.root)));
    }
}

#[test]
fn a_state_that_takes_the_place_of_all_others_is_the_only_one_also_if_they_are_newer() {
    let mut disk = MemoryDisk::new();
    for height in [600, 1_200, 1_800] {
        put_snapshot(&mut disk, &snapshot(height, b"not believed")).expect("a good disk");
    }
    let fetched = snapshot(1_200, b"fetched");
    put_only_snapshot(&mut disk, &fetched).expect("a good disk");
    put_only_snapshot(&mut disk, &fetched).expect("again does no harm");

    let kept = list_snapshots(&disk).expect("a good disk");

    assert_eq!(kept, [(fetched.height, fetched.root)]);
    let newest = newest_snapshot(&disk).expect("a good disk");
    assert_eq!(newest.snapshot, Some(fetched));
}
