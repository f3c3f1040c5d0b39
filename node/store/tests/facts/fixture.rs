//! A small log, and what it holds.

use metatopia_store::{
    Disk, FileName, Identity, LogIndex, Opening, Position, ReadDisk, Store, StoredRecord,
    memory::MemoryDisk, recover,
};
use metatopia_types::{Digest, PublicKey, SimId};

pub(crate) fn sim() -> SimId {
    SimId(Digest::of("a test", b"sim"))
}

pub(crate) fn identity() -> Identity {
    Identity { sim: sim(), server: PublicKey([9; 32]) }
}

/// Segments of about four short records.
pub(crate) fn opening() -> Opening {
    Opening { identity: identity(), segment_bytes: 320 }
}

pub(crate) fn open(disk: MemoryDisk) -> Store<MemoryDisk> {
    Store::open(disk, opening()).expect("a good disk").store
}

/// The payload of record `number`: no two are alike, and lengths differ.
pub(crate) fn payload(number: u64) -> Vec<u8> {
    let text = format!("record {number} ");
    text.repeat(1 + (number % 3) as usize).into_bytes()
}

/// Kind and tag of record `number`: every third has a tag.
pub(crate) fn labels(number: u64) -> (u8, Option<u64>) {
    let tag = number.is_multiple_of(3).then_some(100 + number);
    ((number % 5) as u8, tag)
}

pub(crate) fn append(store: &mut Store<MemoryDisk>, number: u64) -> Position {
    let (kind, tag) = labels(number);
    let end = store.append(kind, tag, &payload(number));
    end.expect("a good disk")
}

/// A disk with `groups` of records, each group synced before the next.
pub(crate) fn filled(groups: &[u64]) -> MemoryDisk {
    let mut store = open(MemoryDisk::new());
    let mut number = 0;
    for group in groups {
        for _ in 0..*group {
            append(&mut store, number);
            number += 1;
        }
        store.sync().expect("a good disk");
    }
    store.into_disk()
}

pub(crate) fn records(index: &LogIndex, disk: &dyn ReadDisk) -> Vec<StoredRecord> {
    let records: Result<Vec<StoredRecord>, _> = index.iter(disk).collect();
    records.expect("an undamaged log")
}

/// Asserts that these are the records 0, 1, .. and returns how many.
pub(crate) fn assert_prefix(records: &[StoredRecord]) -> u64 {
    let mut end = Position::ZERO;
    for (number, record) in (0..).zip(records) {
        assert_eq!((record.kind, record.tag), labels(number));
        assert_eq!(record.payload, payload(number));
        assert_eq!(record.position, end, "records lie side by side");
        end = record.end;
    }
    records.len() as u64
}

/// Recovers the log and reads it: how many records there are.
pub(crate) fn recovered(disk: &mut dyn Disk) -> u64 {
    let recovered = recover(disk, sim()).expect("a log that a crash left");
    assert_prefix(&records(recovered.writer.index(), disk))
}

/// Returns all files with their bytes.
pub(crate) fn contents(disk: &MemoryDisk) -> Vec<(FileName, Vec<u8>)> {
    let bytes = |file| disk.bytes(file).expect("it is listed").to_vec();
    let files = disk.files();
    files.into_iter().map(|file| (file, bytes(file))).collect()
}

/// Every record's file, first byte and bytes, in order.
pub(crate) fn places(disk: &MemoryDisk) -> Vec<(FileName, u64, u64)> {
    let scan = metatopia_store::scan(disk, sim()).expect("an undamaged log");
    let records = records(&scan.index, disk);
    let place = |record: &StoredRecord| {
        let (file, offset) = scan.index.locate(record.position).expect("a record");
        (file, offset, record.end.0 - record.position.0)
    };
    records.iter().map(place).collect()
}
