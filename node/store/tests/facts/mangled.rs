//! Logs mangled in any way: the scanner never panics, and serves nothing that was not written.

use metatopia_store::{
    Disk, FileKind, FileName, OpenStoreError, RecoverError, ScanError, Store, memory::MemoryDisk,
    quarantine, scan, survey,
};
use proptest::{collection::vec, prelude::*, sample::Index};

use crate::fixture::{assert_prefix, contents, filled, labels, open, opening, payload, sim};

const RECORDS: u64 = 20;

/// Something that happens to the files of a log. Places are chosen among those there are.
#[derive(Clone, Debug)]
enum FileDamage {
    Flip {
        file: Index,
        bit: Index,
    },
    Cut {
        file: Index,
        at: Index,
    },
    Zeros {
        file: Index,
        at: Index,
        count: usize,
    },
    Insert {
        file: Index,
        at: Index,
        bytes: Vec<u8>,
    },
    TakeOut {
        file: Index,
        at: Index,
        count: usize,
    },
    /// A piece of one file over a piece of another.
    Copy {
        from: Index,
        to: Index,
        at: Index,
        count: usize,
    },
    Replace {
        file: Index,
        bytes: Vec<u8>,
    },
    Swap {
        one: Index,
        other: Index,
    },
    Remove {
        file: Index,
    },
}

fn harm() -> impl Strategy<Value = FileDamage> {
    let (place, count) = (any::<Index>, 1..300_usize);
    let bytes = vec(any::<u8>(), 1..200);
    prop_oneof![
        4 => (place(), place()).prop_map(|(file, bit)| FileDamage::Flip { file, bit }),
        2 => (place(), place()).prop_map(|(file, at)| FileDamage::Cut { file, at }),
        2 => (place(), place(), count.clone())
            .prop_map(|(file, at, count)| FileDamage::Zeros { file, at, count }),
        2 => (place(), place(), bytes.clone())
            .prop_map(|(file, at, bytes)| FileDamage::Insert { file, at, bytes }),
        2 => (place(), place(), count.clone())
            .prop_map(|(file, at, count)| FileDamage::TakeOut { file, at, count }),
        2 => (place(), place(), place(), count)
            .prop_map(|(from, to, at, count)| FileDamage::Copy { from, to, at, count }),
        1 => (place(), bytes).prop_map(|(file, bytes)| FileDamage::Replace { file, bytes }),
        1 => (place(), place()).prop_map(|(one, other)| FileDamage::Swap { one, other }),
        1 => place().prop_map(|file| FileDamage::Remove { file }),
    ]
}

/// The files of the log that may be harmed: segments and the mark.
fn files(disk: &MemoryDisk) -> Vec<FileName> {
    let mut files = disk.files();
    files.retain(|file| matches!(file.kind, FileKind::Segment(_) | FileKind::Mark));
    files
}

fn strike(disk: &mut MemoryDisk, harm: &FileDamage) {
    let all = files(disk);
    if all.is_empty() {
        return;
    }
    let bytes_of = |disk: &MemoryDisk, file| disk.bytes(file).expect("it is listed").to_vec();
    let mut change = |file: &Index, change: &dyn Fn(&mut Vec<u8>)| {
        let file = *file.get(&all);
        let mut bytes = bytes_of(disk, file);
        change(&mut bytes);
        disk.replace(file, bytes);
    };
    let range = |bytes: &[u8], at: &Index, count: usize| {
        let at = at.index(bytes.len() + 1);
        at..bytes.len().min(at + count)
    };
    match harm {
        FileDamage::Flip { file, bit } => change(file, &|bytes| {
            if !bytes.is_empty() {
                let bit = bit.index(bytes.len() * 8);
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }),
        FileDamage::Cut { file, at } => {
            change(file, &|bytes| bytes.truncate(at.index(bytes.len() + 1)))
        }
        FileDamage::Zeros { file, at, count } => change(file, &|bytes| {
            let range = range(bytes, at, *count);
            bytes[range].fill(0);
        }),
        FileDamage::Insert { file, at, bytes: more } => change(file, &|bytes| {
            let at = at.index(bytes.len() + 1);
            bytes.splice(at..at, more.iter().copied());
        }),
        FileDamage::TakeOut { file, at, count } => change(file, &|bytes| {
            let range = range(bytes, at, *count);
            bytes.drain(range);
        }),
        FileDamage::Copy { from, to, at, count } => {
            let source = bytes_of(disk, *from.get(&all));
            let piece = &source[range(&source, at, *count)];
            let target = *to.get(&all);
            let mut bytes = bytes_of(disk, target);
            let at = at.index(bytes.len() + 1);
            let end = bytes.len().min(at + piece.len());
            bytes.splice(at..end, piece.iter().copied());
            disk.replace(target, bytes);
        }
        FileDamage::Replace { file, bytes: new } => change(file, &|bytes| bytes.clone_from(new)),
        FileDamage::Swap { one, other } => {
            let (one, other) = (*one.get(&all), *other.get(&all));
            let (a, b) = (bytes_of(disk, one), bytes_of(disk, other));
            disk.replace(one, b);
            disk.replace(other, a);
        }
        FileDamage::Remove { file } => disk.remove(*file.get(&all)).expect("it is listed"),
    }
}

/// Asserts that these are records that were written, one after the other; returns the first one's
/// number.
fn assert_written(disk: &MemoryDisk, index: &metatopia_store::LogIndex) -> Option<u64> {
    let found: Result<Vec<_>, _> = index.iter(disk).collect();
    let found = found.expect("what is in order can be read");
    assert_eq!(found.len() as u64, index.records());
    let first = (0..RECORDS).find(|n| found.first().is_some_and(|r| r.payload == payload(*n)));
    for (number, record) in (first.unwrap_or(0)..).zip(&found) {
        assert_eq!(record.payload, payload(number));
        assert_eq!((record.kind, record.tag), labels(number));
    }
    assert!(first.is_some() || found.is_empty(), "a record that nobody wrote");
    first
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_log_mangled_in_any_way_serves_only_what_was_written_and_can_be_put_aside(
        marked in any::<bool>(),
        prune in any::<Index>(),
        suffices in any::<bool>(),
        harms in vec(harm(), 1..4),
    ) {
        let mut store = open(filled(&[1; RECORDS as usize]));
        if marked {
            let ends: Vec<_> = store.index().iter(store.disk()).flatten().collect();
            let keep = prune.get(&ends).position;
            store.prune_before(keep).expect("a good disk");
        }
        let mut disk = store.into_disk();
        for harm in &harms {
            strike(&mut disk, harm);
        }
        let before = contents(&disk);

        let found = survey(&disk, sim()).expect("memory does not fail");
        assert_written(&disk, &found.scan.index);
        match (scan(&disk, sim()), &found.fault) {
            (Ok(scanned), None) => prop_assert_eq!(&scanned, &found.scan),
            (Err(error), Some(fault)) => prop_assert_eq!(&error, fault),
            other => prop_assert!(false, "{other:?}"),
        }
        prop_assert_eq!(contents(&disk), before, "looking changes nothing");

        match quarantine(&mut disk, sim(), &|_, _| suffices) {
            // A header that says another version is not ours to move, nor is anything beside it.
            Err(RecoverError::Scan(ScanError::Version { .. }) | RecoverError::Format(_)) => {
                return Ok(());
            }
            done => {
                let done = done.expect("memory does not fail");
                prop_assert_eq!(done.is_some(), found.fault.is_some());
            }
        }
        match Store::open(&mut disk, opening()) {
            Ok(opened) => {
                let mut store = opened.store;
                store.append(1, None, b"more").expect("a good disk");
                store.mark().expect("a good disk");
            }
            Err(OpenStoreError::Recover(error)) => prop_assert!(false, "{error}"),
            Err(OpenStoreError::Identity(error)) => prop_assert!(false, "{error}"),
        }
        let again = scan(&disk, sim()).expect("a log in order");
        prop_assert_eq!(again.tail, None);
    }

    #[test]
    fn any_bytes_as_a_segment_are_no_more_than_a_torn_tail(bytes in vec(any::<u8>(), 0..600)) {
        let mut disk = MemoryDisk::new();
        disk.replace(FileName::segment(0), bytes);
        let found = survey(&disk, sim()).expect("memory does not fail");
        prop_assert_eq!(found.scan.index.records(), 0);
        assert_prefix(&[]);
    }
}
