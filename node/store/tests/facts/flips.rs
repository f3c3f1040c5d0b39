//! Every single bit that turns is noticed.

use metatopia_store::{
    BlobError, Damage, Damaged, Disk, FileKind, FileName, IdentityError, ReadError,
    ReadSnapshotError, RecoverError, ScanError, Snapshot, get_blob, load_snapshot,
    memory::MemoryDisk, newest_snapshot, put_blob, put_snapshot, read_identity, recover, scan,
};
use metatopia_types::{Blob, Digest, Height, Root};

use crate::fixture::{assert_prefix, contents, filled, places, records, sim};

fn segments(disk: &MemoryDisk) -> Vec<(FileName, u64)> {
    let files = contents(disk).into_iter();
    let files = files.map(|(file, bytes)| (file, bytes.len() as u64));
    files.filter(|(file, _)| matches!(file.kind, FileKind::Segment(_))).collect()
}

/// Returns where the header or record that holds this byte begins, and which record it is.
fn unit(disk: &MemoryDisk, file: FileName, byte: u64) -> (u64, Option<usize>) {
    let places = places(disk).into_iter().enumerate();
    let holds = |place: &(usize, (FileName, u64, u64))| {
        let (_, (at, from, bytes)) = *place;
        at == file && (from..from + bytes).contains(&byte)
    };
    match { places }.find(holds) {
        Some((number, (_, from, _))) => (from, Some(number)),
        None => (0, None),
    }
}

/// Flips each bit of the log in turn. In the last `loose` records the log is cut there and says so;
/// anywhere else it is an error that names file and byte.
fn every_flip_of_a_log_is_noticed(groups: &[u64], loose: usize) {
    let whole = filled(groups);
    let count = places(&whole).len();
    let segments = segments(&whole);
    assert!(segments.len() >= 3, "a log of several segments");
    let last = segments[segments.len() - 1].0;

    for (file, length) in segments {
        for bit in 0..length * 8 {
            let mut disk = whole.clone();
            assert!(disk.flip(file, bit));
            let (unit, record) = unit(&whole, file, bit / 8);

            let scanned = scan(&disk, sim());
            let recovered = recover(&mut disk, sim());

            match record.filter(|record| record + loose >= count) {
                Some(record) => {
                    let recovered = recovered.expect("a tail that is cut");
                    let tail = recovered.tail.expect("and reported");
                    let index = recovered.writer.index();
                    assert_eq!((tail.file, tail.offset), (last, unit), "bit {bit}");
                    assert_eq!(tail.bytes, length - unit);
                    assert_eq!(tail.intact_after as usize, count - 1 - record, "bit {bit}");
                    assert_eq!(assert_prefix(&records(index, &disk)), record as u64);
                    let scanned = scanned.expect("a tail that is reported");
                    assert_eq!((scanned.tail, &scanned.index), (Some(tail), index));
                }
                None => {
                    let Err(ScanError::Damaged(damaged)) = scanned else {
                        panic!("{file} bit {bit}: {scanned:?}");
                    };
                    let mark_or_version = record.is_none() && damaged.offset == 8;
                    assert_eq!(damaged.file, file);
                    assert!(damaged.offset == unit || mark_or_version, "bit {bit}");
                    let refused = recovered.expect_err("damage is never cut");
                    assert_eq!(refused, RecoverError::Scan(damaged.into()));
                }
            }
        }
    }
}

#[test]
fn every_flip_of_a_log_synced_record_by_record_is_noticed() {
    every_flip_of_a_log_is_noticed(&[1; 11], 1);
}

#[test]
fn every_flip_of_a_log_synced_in_groups_is_noticed() {
    every_flip_of_a_log_is_noticed(&[3, 3, 3, 2], 2);
}

/// Found by the simulated world: the only group of a new segment, damaged, is like one that a crash
/// tore. So an index says how far nothing is.
#[test]
fn whatever_is_written_over_guarded_bytes_is_noticed() {
    for groups in [vec![1; 11], vec![3, 3, 3, 2], vec![1, 4, 4, 3, 5], vec![4, 4, 1]] {
        let whole = filled(&groups);
        let index = scan(&whole, sim()).expect("undamaged").index;
        let (last, guarded) = index.locate(index.guarded()).expect("there are records");
        for (file, length) in segments(&whole) {
            let end = if file == last { guarded } else { length } as usize;
            for (width, from) in
                [1, 16, 64, 128].into_iter().flat_map(|w| (0..end).map(move |f| (w, f)))
            {
                let mut bytes = whole.bytes(file).expect("it is there").to_vec();
                bytes[from..end.min(from + width)].iter_mut().for_each(|byte| *byte ^= 0x5a);
                let mut disk = whole.clone();
                disk.replace(file, bytes);
                let scanned = scan(&disk, sim());
                assert!(scanned.is_err(), "{groups:?}: {width} bytes from {from} of {file}");
            }
        }
        assert!(guarded <= places(&whole)[places(&whole).len() - 1].1, "the last may be torn");
    }
}

#[test]
fn a_flip_is_never_repaired_on_disk() {
    let whole = filled(&[1; 11]);
    let mut disk = whole;
    disk.flip(FileName::segment(0), 8 * 150);
    let before = contents(&disk);

    recover(&mut disk, sim()).expect_err("damage");

    assert_eq!(contents(&disk), before);
}

#[test]
fn every_flip_after_the_scan_is_noticed_when_the_record_is_read() {
    let whole = filled(&[1; 9]);
    let scan = scan(&whole, sim()).expect("an undamaged log");
    for (file, from, bytes) in places(&whole) {
        for bit in from * 8..(from + bytes) * 8 {
            let mut disk = whole.clone();
            disk.flip(file, bit);

            let read: Result<Vec<_>, _> = scan.index.iter(&disk).collect();

            let Err(ReadError::Damaged(damaged)) = read else {
                panic!("{file} bit {bit}: {read:?}");
            };
            assert_eq!((damaged.file, damaged.offset), (file, from));
        }
    }
}

#[test]
fn every_flip_of_the_identity_is_noticed() {
    let whole = filled(&[1]);
    let bytes = whole.bytes(FileName::IDENTITY).expect("it was written");
    for bit in 0..bytes.len() as u64 * 8 {
        let mut disk = whole.clone();
        disk.flip(FileName::IDENTITY, bit);

        let read = read_identity(&disk);

        let Err(IdentityError::Damaged(damaged)) = read else {
            panic!("bit {bit}: {read:?}");
        };
        assert_eq!(damaged.file, FileName::IDENTITY);
    }
}

#[test]
fn every_flip_of_a_snapshot_is_noticed_and_the_one_before_is_taken() {
    let mut whole = MemoryDisk::new();
    let snapshot = |height, text: &[u8]| Snapshot {
        height: Height(height),
        root: Root(Digest::of("a test", text)),
        bytes: text.to_vec(),
    };
    let (older, newer) = (snapshot(600, b"older"), snapshot(1_200, b"the newer"));
    put_snapshot(&mut whole, &older).expect("a good disk");
    put_snapshot(&mut whole, &newer).expect("a good disk");
    let file = FileName::new(FileKind::Snapshot(newer.height, newer.root));
    let bytes = whole.bytes(file).expect("it was written").len() as u64;

    for bit in 0..bytes * 8 {
        let mut disk = whole.clone();
        disk.flip(file, bit);

        let loaded = load_snapshot(&disk, newer.height, newer.root);

        let Err(ReadSnapshotError::Damaged(damaged)) = &loaded else {
            panic!("bit {bit}: {loaded:?}");
        };
        assert_eq!(damaged.file, file);
        let content = (bit / 8).checked_sub(108).map(|_| (108, Damage::Content));
        if let Some(due) = content {
            assert_eq!((damaged.offset, damaged.damage), due);
        }
        let newest = newest_snapshot(&disk).expect("a good disk");
        assert_eq!(newest.snapshot.as_ref(), Some(&older));
        assert_eq!(newest.passed_over, [ReadSnapshotError::Damaged(*damaged)]);
    }
}

#[test]
fn every_flip_of_a_blob_is_noticed_and_putting_it_again_heals_it() {
    let blob = Blob(b"say hello".to_vec());
    let mut whole = MemoryDisk::new();
    let id = put_blob(&mut whole, &blob).expect("a good disk");
    let file = FileName::new(FileKind::Blob(id));

    for bit in 0..blob.0.len() as u64 * 8 {
        let mut disk = whole.clone();
        disk.flip(file, bit);

        let got = get_blob(&disk, id);

        let Err(BlobError::Damaged(Damaged { file: named, .. })) = got else {
            panic!("bit {bit}: {got:?}");
        };
        assert_eq!(named, file);
        assert_eq!(put_blob(&mut disk, &blob), Ok(id));
        assert_eq!(get_blob(&disk, id), Ok(Some(blob.clone())));
    }
}

#[test]
fn damage_is_told_with_file_and_byte() {
    let mut disk = filled(&[1; 11]);
    let (file, from, _) = places(&disk)[4];
    disk.flip(file, (from + 50) * 8);

    let told = scan(&disk, sim()).expect_err("damage").to_string();

    assert_eq!(
        told,
        format!("{file} is damaged at byte {from}: the record does not match its hash")
    );
    assert!(told.starts_with("log/segment-0000000001 is damaged at byte "), "{told}");
    let removed = disk.remove(file);
    assert_eq!(removed, Ok(()));
}
