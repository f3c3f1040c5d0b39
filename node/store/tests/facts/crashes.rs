//! The power goes at every operation, and what was not synced is lost, kept or torn.

use metatopia_store::{
    Disk, DiskError, FileName, Folder, ReadDisk, Snapshot, Store, get_blob, load_snapshot,
    memory::{CrashEffect, DiskFault, MemoryDisk},
    put_blob, put_snapshot, recover,
};
use metatopia_types::{Blob, Digest, Height, Root};

use crate::fixture::{
    append, assert_prefix, contents, filled, labels, open, opening, payload, records, recovered,
    sim,
};

/// What a server was told before the power went.
#[derive(Debug, Default)]
struct Progress {
    tried: u64,
    synced: u64,
    snapshots: u64,
    blobs: u64,
}

fn snapshot(number: u64) -> Snapshot {
    let bytes = payload(number);
    Snapshot { height: Height(number * 600), root: Root(Digest::of("a test", &bytes)), bytes }
}

fn blob(number: u64) -> Blob {
    Blob(payload(number))
}

/// A server's life: 16 records in groups of 1, 2, 3, .., with snapshots and blobs between. It ends
/// where the disk fails.
fn live(disk: &mut MemoryDisk, progress: &mut Progress) -> Option<()> {
    let mut store = Store::open(disk, opening()).ok()?.store;
    for group in 1..=5 {
        for _ in 0..group {
            let (kind, tag) = labels(progress.tried);
            let bytes = payload(progress.tried);
            progress.tried += 1;
            store.append(kind, tag, &bytes).ok()?;
        }
        store.sync().ok()?;
        progress.synced = progress.tried;
        put_snapshot(store.disk_mut(), &snapshot(group)).ok()?;
        progress.snapshots = group;
        put_blob(store.disk_mut(), &blob(group)).ok()?;
        progress.blobs = group;
    }
    store.append(1, None, b"never synced").ok()?;
    progress.tried += 1;
    Some(())
}

/// Returns all tails for crash number `crash`.
fn tails(crash: u64) -> impl Iterator<Item = CrashEffect> {
    let torn = (0..6).map(move |try_| CrashEffect::Torn(crash * 6 + try_));
    [CrashEffect::Lost, CrashEffect::Kept].into_iter().chain(torn)
}

fn assert_nothing_promised_is_gone(disk: &mut MemoryDisk, progress: &Progress, context: &str) {
    let mut store = match Store::open(&mut *disk, opening()) {
        Ok(opened) => opened.store,
        Err(error) => panic!("{context}: {error}"),
    };
    let mut found = records(store.index(), store.disk());
    if found.last().is_some_and(|record| record.payload == b"never synced") {
        found.pop();
    }
    let found = assert_prefix(&found);
    assert!(found >= progress.synced, "{context}: {found} records left");
    assert!(found <= progress.tried, "{context}: {found} records");
    let loads = |number| {
        let Snapshot { height, root, .. } = snapshot(number);
        load_snapshot(store.disk(), height, root) == Ok(snapshot(number))
    };
    if let Some(before) = progress.snapshots.checked_sub(1) {
        // The one before gives way only to one that came after.
        let last = progress.snapshots;
        assert!(loads(last), "{context}");
        assert!(before == 0 || loads(before) || loads(last + 1), "{context}");
    }
    for number in 1..=progress.blobs {
        let found = get_blob(store.disk(), blob(number).id());
        assert_eq!(found, Ok(Some(blob(number))), "{context}");
    }
    let unfinished = blob(progress.blobs + 1);
    let found = get_blob(store.disk_mut(), unfinished.id());
    assert!(found == Ok(None) || found == Ok(Some(unfinished)), "{context}");
}

#[test]
fn a_crash_at_any_operation_loses_nothing_that_was_synced() {
    let mut whole = MemoryDisk::new();
    live(&mut whole, &mut Progress::default()).expect("no fault");
    let operations = whole.operations();
    assert!(operations > 80, "a life of {operations} operations");

    for crash in 0..operations {
        for tail in tails(crash) {
            let context = format!("operation {crash}, {tail:?}");
            let (mut disk, mut progress) = (MemoryDisk::new(), Progress::default());
            disk.fail_operation(crash, DiskFault::PowerOff);
            assert_eq!(live(&mut disk, &mut progress), None, "{context}");
            disk.crash(tail);

            assert_nothing_promised_is_gone(&mut disk, &progress, &context);
        }
    }
}

#[test]
fn a_crash_while_recovering_from_a_crash_loses_nothing_that_was_synced() {
    let mut whole = MemoryDisk::new();
    live(&mut whole, &mut Progress::default()).expect("no fault");

    for crash in (0..whole.operations()).step_by(3) {
        for tail in tails(crash) {
            let (mut crashed, mut progress) = (MemoryDisk::new(), Progress::default());
            crashed.fail_operation(crash, DiskFault::PowerOff);
            live(&mut crashed, &mut progress);
            crashed.crash(tail);
            for again in 0.. {
                let mut disk = crashed.clone();
                disk.fail_operation(disk.operations() + again, DiskFault::PowerOff);
                let done = Store::open(&mut disk, opening()).is_ok();
                disk.crash(CrashEffect::Torn(crash * 100 + again));

                let context = format!("operation {crash}, {tail:?}, then {again}");
                assert_nothing_promised_is_gone(&mut disk, &progress, &context);
                if done {
                    break;
                }
            }
        }
    }
}

#[test]
fn recovering_twice_changes_nothing_more() {
    for seed in 0..200 {
        let mut store = open(filled(&[2, 2]));
        for number in 4..9 {
            append(&mut store, number);
        }
        let mut disk = store.into_disk();
        disk.crash(CrashEffect::Torn(seed));

        let first = recover(&mut disk, sim()).expect("a torn tail");
        let after_first = contents(&disk);
        let second = recover(&mut disk, sim()).expect("an undamaged log");

        assert_eq!(contents(&disk), after_first, "seed {seed}");
        assert_eq!(second.tail, None, "seed {seed}");
        assert_eq!(second.writer.index(), first.writer.index(), "seed {seed}");
    }
}

#[test]
fn what_is_appended_after_a_crash_continues_the_chain() {
    for seed in 0..200 {
        let mut store = open(filled(&[2, 2]));
        for number in 4..9 {
            append(&mut store, number);
        }
        let mut disk = store.into_disk();
        disk.crash(CrashEffect::Torn(seed));

        let mut store = open(disk);
        let kept = store.index().records();
        for number in kept..kept + 6 {
            append(&mut store, number);
        }
        store.sync().expect("a good disk");
        let mut disk = store.into_disk();
        disk.crash(CrashEffect::Lost);

        assert!(kept >= 4, "seed {seed}");
        assert_eq!(recovered(&mut disk), kept + 6, "seed {seed}");
    }
}

#[test]
fn what_a_killed_process_left_is_durable_once_it_is_recovered() {
    let mut store = open(filled(&[2]));
    for number in 2..5 {
        append(&mut store, number);
    }
    let mut disk = store.into_disk();

    assert_eq!(recovered(&mut disk), 5, "the machine did not go down");
    disk.crash(CrashEffect::Lost);

    assert_eq!(recovered(&mut disk), 5, "the server may have acted on them");
}

#[test]
fn a_torn_group_with_whole_records_behind_a_hole_is_cut_not_refused() {
    let mut store = open(filled(&[2, 2]));
    let durable = store.end();
    append(&mut store, 4);
    append(&mut store, 5);
    let (file, from) = store.index().locate(durable).expect("a place in a segment");
    let mut disk = store.into_disk();
    let mut bytes = disk.bytes(file).expect("a segment").to_vec();
    bytes[from as usize..from as usize + 20].fill(0);
    disk.replace(file, bytes);

    let recovered = recover(&mut disk, sim()).expect("nothing says that the group was synced");

    let tail = recovered.tail.expect("a torn tail");
    assert_eq!((tail.file, tail.offset, tail.intact_after), (file, from, 1));
    assert_eq!(recovered.writer.index().records(), 4);
}

#[test]
fn what_was_appended_while_a_sync_ran_is_torn_not_damaged() {
    let mut store = open(filled(&[2, 2]));
    let begun = store.begin_sync().expect("a log with a file");
    let unsynced = store.end();
    append(&mut store, 4);
    store.finish_sync(&begun).expect("a good disk");
    append(&mut store, 5);
    let (file, from) = store.index().locate(unsynced).expect("a place in a segment");
    assert_eq!(store.index().locate(store.end()).map(|end| end.0), Some(file));
    let mut disk = store.into_disk();
    disk.flip(file, (from + 45) * 8);

    let recovered = recover(&mut disk, sim()).expect("the sync did not cover it");

    assert_eq!(recovered.writer.index().records(), 4);
}

/// Passes everything on but the sync that seals a segment.
#[derive(Debug)]
struct Unsealed(MemoryDisk);

impl ReadDisk for Unsealed {
    fn list(&self, folder: Folder) -> Result<Vec<FileName>, DiskError> {
        self.0.list(folder)
    }

    fn length(&self, file: FileName) -> Result<u64, DiskError> {
        self.0.length(file)
    }

    fn read(&self, file: FileName, offset: u64, length: u32) -> Result<Vec<u8>, DiskError> {
        self.0.read(file, offset, length)
    }
}

impl Disk for Unsealed {
    fn append(&mut self, file: FileName, bytes: &[u8]) -> Result<(), DiskError> {
        self.0.append(file, bytes)
    }

    fn rename(&mut self, from: FileName, to: FileName) -> Result<(), DiskError> {
        self.0.rename(from, to)
    }

    fn remove(&mut self, file: FileName) -> Result<(), DiskError> {
        self.0.remove(file)
    }

    fn sync(&mut self, file: FileName, length: u64) -> Result<(), DiskError> {
        match file.temporary {
            true => self.0.sync(file, length),
            false => Ok(()),
        }
    }

    fn sync_dir(&mut self, folder: Folder) -> Result<(), DiskError> {
        self.0.sync_dir(folder)
    }
}

/// Nine records over several segments, and not one sync asked for.
fn write_unsynced(disk: &mut dyn Disk) {
    let recovered = recover(disk, sim()).expect("a new log");
    let mut writer = recovered.writer.with_segment_bytes(320);
    for number in 0..9 {
        let (kind, tag) = labels(number);
        let write = writer.append(kind, tag, &payload(number));
        write.expect("a record").perform(disk).expect("a good disk");
    }
}

#[test]
fn a_segment_is_sealed_before_the_next_begins() {
    let mut disk = MemoryDisk::new();
    write_unsynced(&mut disk);

    disk.crash(CrashEffect::Lost);

    let kept = recovered(&mut disk);
    assert!((6..9).contains(&kept), "{kept} records: the last segment is not sealed");
}

#[test]
fn without_the_seal_of_a_segment_a_crash_would_look_like_damage() {
    let mut disk = Unsealed(MemoryDisk::new());
    write_unsynced(&mut disk);

    disk.0.crash(CrashEffect::Lost);

    recover(&mut disk.0, sim()).expect_err("segment 0 lost records, segment 1 is there");
}
