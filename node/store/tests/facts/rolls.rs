//! Segments, and finding records in them.

use metatopia_store::{
    FileName, Opening, Position, ReadError, Store, limits, memory::MemoryDisk, scan,
};

use crate::fixture::{
    append, assert_prefix, filled, identity, open, payload, places, records, recovered, sim,
};

const SEGMENT_HEADER: u64 = 92;
const RECORD_HEADER: u64 = 42;

/// Two records of `first` and `second` payload bytes in segments of `segment_bytes`.
fn two(first: usize, second: usize, segment_bytes: u64) -> Store<MemoryDisk> {
    let opening = Opening { segment_bytes, ..Opening::new(identity()) };
    let opened = Store::open(MemoryDisk::new(), opening).expect("a good disk");
    let mut store = opened.store;
    for length in [first, second] {
        store.append(1, None, &vec![7; length]).expect("a good disk");
    }
    store
}

#[test]
fn a_record_that_just_fits_stays_and_one_byte_more_begins_a_segment() {
    let full = SEGMENT_HEADER + 2 * RECORD_HEADER + 30;
    for second in 0..30 {
        assert_eq!(two(30 - second, second, full).index().segments(), 1);
        assert_eq!(two(31 - second, second, full).index().segments(), 2);
        assert_eq!(two(30 - second, second + 1, full).index().segments(), 2);
    }
}

#[test]
fn a_record_longer_than_a_segment_has_one_of_its_own() {
    let store = two(500, 500, 100);

    let mut disk = store.into_disk();

    let scan = scan(&disk, sim()).expect("an undamaged log");
    assert_eq!((scan.index.segments(), scan.index.records()), (2, 2));
    let length = disk.bytes(FileName::segment(0)).map(<[u8]>::len);
    assert_eq!(length, Some((SEGMENT_HEADER + RECORD_HEADER + 500) as usize));
    disk.crash(metatopia_store::memory::CrashEffect::Lost);
    let left = scan_records(&disk);
    assert_eq!(left, 1, "the first was sealed before the second began");
}

fn scan_records(disk: &MemoryDisk) -> u64 {
    scan(disk, sim()).expect("an undamaged log").index.records()
}

#[test]
fn a_log_may_be_continued_with_other_segment_lengths() {
    let mut disk = filled(&[5]);
    for segment_bytes in [1, 200, 1_000, u64::MAX] {
        let opening = Opening { segment_bytes, ..Opening::new(identity()) };
        let mut store = Store::open(&mut disk, opening).expect("a good disk").store;
        for _ in 0..4 {
            let number = store.index().records();
            let (kind, tag) = crate::fixture::labels(number);
            store.append(kind, tag, &payload(number)).expect("a good disk");
        }
        store.sync().expect("a good disk");
    }
    assert_eq!(recovered(&mut disk), 21);
}

#[test]
fn every_position_of_a_record_is_read_and_no_other() {
    let disk = filled(&[1; 11]);
    let index = scan(&disk, sim()).expect("an undamaged log").index;
    let all = records(&index, &disk);
    assert_eq!(assert_prefix(&all), 11);

    for position in (0..=index.end().0 + 1).map(Position) {
        let read = index.read_at(&disk, position);
        match all.iter().find(|record| record.position == position) {
            Some(record) => assert_eq!(read.as_ref(), Ok(record)),
            None => assert_eq!(read, Err(ReadError::NoRecord(position))),
        }
    }
}

#[test]
fn every_tag_is_found_and_no_other() {
    let mut store = open(filled(&[1; 11]));
    for number in 11..200 {
        append(&mut store, number);
    }

    for tag in 0..400 {
        let found = store.find(tag).expect("a good disk");
        let number = tag.checked_sub(100).filter(|n| n.is_multiple_of(3) && *n < 200);
        assert_eq!(found.map(|record| record.payload), number.map(payload), "tag {tag}");
    }
    let last = store.index().last_tagged().map(|(tag, _)| tag);
    assert_eq!(last, Some(298));
}

#[test]
fn tagged_records_are_read_in_order_from_any_tag() {
    let disk = filled(&[50; 4]);
    let index = scan(&disk, sim()).expect("an undamaged log").index;
    for from in [0, 100, 101, 102, 103, 200, 298, 299, u64::MAX] {
        let tags: Result<Vec<_>, _> = index.tagged_from(&disk, from).collect();
        let tags = tags.expect("a good disk").into_iter();
        let tags: Vec<u64> = tags.filter_map(|record| record.tag).collect();
        let due: Vec<u64> = (100..300).step_by(3).filter(|tag| *tag >= from).collect();
        assert_eq!(tags, due, "from {from}");
    }
}

#[test]
fn records_are_read_from_any_record_to_the_end() {
    let disk = filled(&[50; 4]);
    let index = scan(&disk, sim()).expect("an undamaged log").index;
    let all = records(&index, &disk);
    for (number, record) in all.iter().enumerate() {
        let rest = index.iter_from(&disk, record.position).expect("a record");
        let rest: Result<Vec<_>, _> = rest.collect();
        assert_eq!(rest.expect("a good disk"), all[number..]);
    }
    let after = index.iter_from(&disk, index.end()).expect("the end");
    assert_eq!(after.count(), 0);
}

#[test]
fn the_index_of_a_scan_is_the_index_that_the_writer_had() {
    let mut store = open(MemoryDisk::new());
    for number in 0..500 {
        append(&mut store, number);
    }

    let scan = scan(store.disk(), sim()).expect("an undamaged log");

    assert_eq!(&scan.index, store.index());
}

#[test]
fn the_index_takes_a_2048th_of_the_log() {
    let opened = Store::open(MemoryDisk::new(), Opening::new(identity()));
    let mut store = opened.expect("a good disk").store;
    // Two and a half full segments of records like a turn of an idle world.
    let segments_bytes = limits::SEGMENT_BYTES * 5 / 2;
    for height in 0..segments_bytes / 1_000 {
        store.append(1, Some(height), &[7; 958]).expect("a good disk");
    }

    let index = store.index();
    assert_eq!(index.segments(), 3);
    let due = index.end().0 / limits::INDEX_STRIDE_BYTES * 32 + 3 * 88;
    assert!(index.memory_bytes() as u64 <= due, "{} bytes", index.memory_bytes());
    let before = store.disk().reads();
    let found = store.find(30_000).expect("a good disk");
    assert_eq!(found.expect("a tag").position, Position(30_000_000));
    let read_bytes = (store.disk().reads() - before) * limits::READ_BYTES as u64;
    assert!(read_bytes <= 2 * limits::INDEX_STRIDE_BYTES, "{read_bytes} bytes read");
}

#[test]
fn every_record_of_a_log_with_many_entries_in_its_index_is_found() {
    let opened = Store::open(MemoryDisk::new(), Opening::new(identity()));
    let mut store = opened.expect("a good disk").store;
    let stride = limits::INDEX_STRIDE_BYTES;
    let mut positions = Vec::new();
    while store.end().0 < 5 * stride {
        let tag = positions.len() as u64;
        positions.push(store.end());
        store.append(1, Some(tag), &tag.to_le_bytes().repeat(150)).expect("a good disk");
    }
    assert_eq!(store.index().memory_bytes(), 5 * 32 + 56);

    for (tag, position) in (0..).zip(positions) {
        let found = store.find(tag).expect("a good disk").expect("a tag");
        assert_eq!((found.tag, found.position), (Some(tag), position));
        assert_eq!(store.read_at(position), Ok(found));
    }
}

#[test]
fn places_lie_in_files_side_by_side() {
    let disk = filled(&[1; 11]);
    let mut end = (FileName::segment(0), SEGMENT_HEADER);
    for (file, offset, bytes) in places(&disk) {
        let next_segment = end.0 != file;
        assert_eq!(offset, if next_segment { SEGMENT_HEADER } else { end.1 });
        end = (file, offset + bytes);
    }
}
