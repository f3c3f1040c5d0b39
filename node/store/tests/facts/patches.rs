//! What was put back into a log.

use metatopia_store::{
    Damage, FileKind, FileName, Patch, PatchError, Patches, ReadError, limits, load_patch,
    memory::{CrashEffect, DiskFault, MemoryDisk},
    scan,
};

use crate::fixture::{append, filled, open, sim};

fn patch(from: u64, to: u64) -> Patch {
    let bytes = (from..=to).flat_map(u64::to_le_bytes).collect();
    Patch { from, to, bytes }
}

fn file(from: u64, to: u64) -> FileName {
    FileName::new(FileKind::Patch { from, to })
}

#[test]
fn what_was_put_back_is_found_by_any_of_its_tags_and_outlasts_a_crash() {
    let mut store = open(filled(&[1; 9]));
    let index = store.index().clone();
    for (from, to) in [(40, 60), (10, 30), (61, 61)] {
        store.put_patch(&patch(from, to)).expect("a good disk");
    }

    let mut disk = store.into_disk();
    disk.crash(CrashEffect::Lost);
    let store = open(disk);

    assert_eq!(store.index(), &index, "the log itself is as it was");
    let patches = store.patches();
    assert_eq!(patches, &Patches::list(store.disk()).expect("a good disk"));
    assert_eq!(patches.iter().collect::<Vec<_>>(), [(10, 30), (40, 60), (61, 61)]);
    for tag in 0..70 {
        let all = [(10, 30), (40, 60), (61, 61)];
        let due = all.into_iter().find(|(from, to)| (*from..=*to).contains(&tag));
        assert_eq!(patches.holding(tag), due, "{tag}");
        assert_eq!(patches.before(tag), all.into_iter().rfind(|(from, _)| *from <= tag));
        assert_eq!(patches.after(tag), all.into_iter().find(|(from, _)| *from > tag));
        if let Some((from, to)) = due {
            assert_eq!(load_patch(store.disk(), (from, to)), Ok(patch(from, to).bytes));
        }
    }
}

#[test]
fn a_patch_is_there_as_a_whole_or_not_at_all_whatever_the_disk_does() {
    for k in 0.. {
        let mut store = open(filled(&[3]));
        let at = store.disk().operations() + k;
        store.disk_mut().fail_operation(at, DiskFault::Fail);
        let put = store.put_patch(&patch(1, 50));
        assert_eq!(store.patches().holding(7).is_some(), put.is_ok());

        let mut disk = store.into_disk();
        disk.crash(CrashEffect::Lost);
        let store = open(disk);

        let there = store.patches().holding(7);
        assert!(put.is_err() || there.is_some(), "operation {k}");
        if let Some(range) = there {
            assert_eq!(load_patch(store.disk(), range), Ok(patch(1, 50).bytes));
        }
        if put.is_ok() {
            assert!(k >= 3, "{k} operations were tried");
            return;
        }
    }
}

#[test]
fn a_patch_that_is_removed_is_gone() {
    let mut store = open(MemoryDisk::new());
    store.put_patch(&patch(1, 50)).expect("a good disk");
    store.drop_patch(1).expect("a good disk");
    store.drop_patch(1).expect("there is none");
    assert_eq!(store.patches(), &Patches::default());
    assert_eq!(Patches::list(store.disk()), Ok(Patches::default()));
}

#[test]
fn every_bit_and_every_cut_of_a_patch_is_noticed_and_so_is_another_name() {
    let mut store = open(MemoryDisk::new());
    store.put_patch(&patch(7, 20)).expect("a good disk");
    let mut disk = store.into_disk();
    let bytes = disk.bytes(file(7, 20)).expect("a patch").to_vec();
    for bit in 0..bytes.len() as u64 * 8 {
        disk.flip(file(7, 20), bit);
        let loaded = load_patch(&disk, (7, 20));
        assert!(matches!(loaded, Err(ReadError::Damaged(_))), "bit {bit}");
        disk.flip(file(7, 20), bit);
    }
    for left in 0..bytes.len() {
        disk.replace(file(7, 20), bytes[..left].to_vec());
        assert!(matches!(load_patch(&disk, (7, 20)), Err(ReadError::Damaged(_))), "{left} left");
    }
    disk.replace(file(8, 21), bytes);
    let Err(ReadError::Damaged(damaged)) = load_patch(&disk, (8, 21)) else {
        panic!("it holds other tags");
    };
    assert_eq!((damaged.file, damaged.damage), (file(8, 21), Damage::Header));
}

#[test]
fn a_patch_above_the_limit_is_refused() {
    let mut store = open(MemoryDisk::new());
    let length = limits::PATCH_BYTES_MAX + 1;
    let long = Patch { from: 1, to: 2, bytes: vec![0; length as usize] };
    assert_eq!(store.put_patch(&long), Err(PatchError::TooLong(length)));
    assert_eq!(store.patches(), &Patches::default());
}

#[test]
fn tags_that_were_left_out_are_known_after_a_scan_as_to_the_writer() {
    let mut store = open(MemoryDisk::new());
    // Every third has a tag, from 100 on.
    for number in 0..12 {
        append(&mut store, number);
    }
    store.sync().expect("a good disk");
    let gaps = vec![(101, 102), (104, 105), (107, 108)];
    assert_eq!(store.index().gaps().collect::<Vec<_>>(), gaps);
    let scanned = scan(store.disk(), sim()).expect("an undamaged log").index;
    assert_eq!(scanned.gaps().collect::<Vec<_>>(), gaps);
    store.reopen().expect("a good disk");
    assert_eq!(store.index().gaps().collect::<Vec<_>>(), gaps);

    // Of a log whose beginning was given up, those between the tags that are left.
    let keep = store.find(106).expect("a good disk").expect("a record").position;
    store.prune_before(keep).expect("a good disk");
    let scanned = scan(store.disk(), sim()).expect("an undamaged log").index;
    assert!(scanned.is_pruned());
    assert_eq!(store.index().gaps().collect::<Vec<_>>(), scanned.gaps().collect::<Vec<_>>());
    assert_eq!(scanned.gaps().next_back(), Some((107, 108)));
}
