//! Each limit, at the limit and one past it.

use metatopia_store::{
    AppendError, BlobError, Damage, Damaged, DiskError, FileKind, FileName, Folder, FrameError,
    Opening, ReadDisk, ReadSnapshotError, ScanError, Snapshot, Store, get_blob, limits,
    list_snapshots, load_snapshot, memory::MemoryDisk, put_blob, put_snapshot, scan,
};
use metatopia_types::{Blob, Digest, Height, Root, limits::BLOB_BYTES_MAX};

use crate::fixture::{filled, identity, open, places, sim};

#[test]
fn the_longest_record_is_kept_and_a_longer_one_refused() {
    let mut store = open(MemoryDisk::new());
    let longest = vec![5; limits::RECORD_BYTES_MAX];

    store.append(1, Some(1), &longest).expect("the longest record");
    let longer = store.append(1, Some(2), &vec![5; limits::RECORD_BYTES_MAX + 1]);

    let too_long = FrameError::TooLong(limits::RECORD_BYTES_MAX + 1);
    assert_eq!(longer, Err(AppendError::Frame(too_long)));
    assert!(!store.must_reopen(), "nothing has happened");
    let found = scan(store.disk(), sim()).expect("an undamaged log").index;
    let found = found.find(store.disk(), 1).expect("a good disk");
    assert_eq!(found.map(|record| record.payload), Some(longest));
}

#[test]
fn tags_grow_up_to_the_largest() {
    let mut store = open(MemoryDisk::new());
    let order = |tag, last| Err(AppendError::Frame(FrameError::TagOrder { tag, last }));
    assert_eq!(store.append(1, Some(u64::MAX), b""), order(u64::MAX, None));
    store.append(1, Some(0), b"zero").expect("the first tag");
    assert_eq!(store.append(1, Some(0), b""), order(0, Some(0)));
    let largest = limits::TAG_MAX;
    store.append(1, Some(largest), b"largest").expect("the largest tag");
    assert_eq!(store.append(1, Some(7), b""), order(7, Some(largest)));
    store.append(1, None, b"more").expect("a record without a tag");

    for (tag, text) in [(0, &b"zero"[..]), (largest, b"largest")] {
        let found = store.find(tag).expect("a good disk");
        assert_eq!(found.map(|record| record.payload), Some(text.to_vec()));
    }
    assert_eq!(store.find(u64::MAX), Ok(None));
}

#[test]
fn a_segment_ends_at_16_mib() {
    let opened = Store::open(MemoryDisk::new(), Opening::new(identity()));
    let mut store = opened.expect("a good disk").store;
    for _ in 0..17 {
        store.append(1, None, &vec![5; 1_000_000]).expect("a good disk");
    }
    let length = |number| {
        let bytes = store.disk().bytes(FileName::segment(number));
        bytes.expect("a segment").len() as u64
    };
    assert_eq!(store.index().segments(), 2);
    assert!(length(0) <= limits::SEGMENT_BYTES && length(0) + length(1) > limits::SEGMENT_BYTES);
    let greedy = Opening { segment_bytes: u64::MAX, ..Opening::new(identity()) };
    let mut store = Store::open(store.into_disk(), greedy).expect("a good disk").store;
    for _ in 0..17 {
        store.append(1, None, &vec![5; 1_000_000]).expect("a good disk");
    }
    assert_eq!(store.index().segments(), 3, "no choice is larger");
}

#[test]
fn a_blob_at_the_limit_is_kept_and_a_larger_one_refused() {
    let mut disk = MemoryDisk::new();
    let largest = Blob(vec![5; BLOB_BYTES_MAX]);
    let id = put_blob(&mut disk, &largest).expect("the largest blob");
    assert_eq!(get_blob(&disk, id), Ok(Some(largest)));

    let larger = Blob(vec![5; BLOB_BYTES_MAX + 1]);
    let refused = put_blob(&mut disk, &larger);

    assert_eq!(refused, Err(BlobError::TooLong(BLOB_BYTES_MAX as u64 + 1)));
    let file = FileName::new(FileKind::Blob(larger.id()));
    disk.replace(file, larger.0);
    let damage =
        Damage::Length { found: BLOB_BYTES_MAX as u64 + 1, expected: BLOB_BYTES_MAX as u64 };
    let offset = 0;
    let damaged = Damaged { file, offset, damage };
    let FileKind::Blob(id) = file.kind else {
        unreachable!("it is a blob");
    };
    assert_eq!(get_blob(&disk, id), Err(BlobError::Damaged(damaged)));
}

fn snapshot(height: u64, bytes: Vec<u8>) -> Snapshot {
    Snapshot {
        height: Height(height),
        root: Root(Digest::of("a test", &height.to_le_bytes())),
        bytes,
    }
}

#[test]
fn the_newest_two_snapshots_are_kept() {
    let mut disk = MemoryDisk::new();
    for height in [600, 1_200, 9, 1_800, 2_400] {
        put_snapshot(&mut disk, &snapshot(height, vec![5; 9])).expect("a good disk");
    }
    let heights: Vec<u64> = list_snapshots(&disk)
        .expect("a good disk")
        .into_iter()
        .map(|(height, _)| height.0)
        .collect();
    assert_eq!(heights, [2_400, 1_800]);
    assert_eq!(heights.len(), limits::SNAPSHOTS_KEPT);
}

#[test]
fn a_snapshot_above_the_limit_is_refused() {
    let bytes = vec![0; limits::SNAPSHOT_BYTES_MAX as usize + 1];
    let refused = put_snapshot(&mut MemoryDisk::new(), &snapshot(1, bytes));
    let too_long = ReadSnapshotError::TooLong(limits::SNAPSHOT_BYTES_MAX + 1);
    assert_eq!(refused, Err(too_long));
}

/// Says that every file is endless, and cannot be read without end.
#[derive(Debug)]
struct Endless(MemoryDisk, u64);

impl ReadDisk for Endless {
    fn list(&self, folder: Folder) -> Result<Vec<FileName>, DiskError> {
        self.0.list(folder)
    }

    fn length(&self, file: FileName) -> Result<u64, DiskError> {
        self.0.length(file).map(|_| self.1)
    }

    fn read(&self, file: FileName, offset: u64, length: u32) -> Result<Vec<u8>, DiskError> {
        assert!(offset < 1 << 20, "read {length} bytes at {offset} of {file}");
        self.0.read(file, offset, length)
    }
}

#[test]
fn a_file_of_any_length_is_judged_without_reading_it_all() {
    let mut disk = filled(&[4, 4]);
    let last = places(&disk)[7];
    disk.flip(last.0, (last.1 + 30) * 8);
    let snapshot = snapshot(600, vec![5; 9]);
    put_snapshot(&mut disk, &snapshot).expect("a good disk");

    for length in [limits::SNAPSHOT_BYTES_MAX * 2, u64::MAX] {
        let disk = Endless(disk.clone(), length);

        let loaded = load_snapshot(&disk, snapshot.height, snapshot.root);
        let scanned = scan(&disk, sim());

        assert!(matches!(loaded, Err(ReadSnapshotError::Damaged(_))), "{loaded:?}");
        assert!(matches!(scanned, Err(ScanError::Damaged(_))), "{scanned:?}");
    }
}

#[test]
fn a_tail_longer_than_the_search_is_damage() {
    let mut disk = filled(&[1]);
    let (file, from, _) = places(&disk)[0];
    disk.flip(file, (from + 30) * 8);
    let length = |bytes| Endless(disk.clone(), from + bytes);

    let judged = scan(&length(limits::SEARCH_BYTES_MAX + 1), sim());
    assert!(matches!(judged, Err(ScanError::Damaged(_))), "{judged:?}");

    // One byte less is searched; the rest of the file is not there.
    let judged = scan(&length(limits::SEARCH_BYTES_MAX), sim()).expect("a torn tail");
    let tail = judged.tail.expect("reported");
    assert_eq!((tail.offset, tail.bytes), (from, limits::SEARCH_BYTES_MAX));
}

#[test]
fn a_record_that_claims_any_length_is_refused_before_it_is_read() {
    let whole = filled(&[1, 1]);
    let (file, from, _) = places(&whole)[1];
    for length in [limits::RECORD_BYTES_MAX as u32 + 1, u32::MAX] {
        let mut disk = whole.clone();
        let mut bytes = disk.bytes(file).expect("a segment").to_vec();
        let from = from as usize;
        bytes[from..from + 4].copy_from_slice(&length.to_le_bytes());
        disk.replace(file, bytes);

        let tail = scan(&disk, sim()).expect("the last record").tail;

        let damage = tail.map(|tail| tail.damage);
        assert_eq!(damage, Some(Damage::RecordLength(length)));
    }
}
