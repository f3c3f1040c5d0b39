//! Files that end too early, or too late, or are not there.

use metatopia_store::{
    Damage, Damaged, Disk, FileName, RecoverError, ScanError, memory::MemoryDisk, recover, scan,
};

use crate::fixture::{
    append, assert_prefix, contents, filled, open, payload, places, records, recovered, sim,
};

fn cut(disk: &MemoryDisk, file: FileName, length: u64) -> MemoryDisk {
    let mut disk = disk.clone();
    let bytes = disk.bytes(file).expect("a file")[..length as usize].to_vec();
    disk.replace(file, bytes);
    disk
}

#[test]
fn every_cut_of_the_last_segment_leaves_the_records_before_it() {
    let whole = filled(&[1; 11]);
    let places = places(&whole);
    let last = places[places.len() - 1].0;
    let length = whole.bytes(last).expect("a segment").len() as u64;

    for left in 0..=length {
        let mut disk = cut(&whole, last, left);

        let recovered = recover(&mut disk, sim()).expect("a cut tail");

        let whole_records =
            |place: &&(FileName, u64, u64)| place.0 < last || place.1 + place.2 <= left;
        let expected = places.iter().filter(whole_records).count() as u64;
        let index = recovered.writer.index();
        assert_eq!(assert_prefix(&records(index, &disk)), expected, "cut to {left}");
        let after = index.locate(index.end()).filter(|end| end.0 == last);
        let cut_bytes = left - after.map_or(0, |(_, offset)| offset);
        let reported = recovered.tail.map_or(0, |tail| tail.bytes);
        assert_eq!(reported, cut_bytes, "cut to {left}");
        let again = recover(&mut disk, sim()).expect("an undamaged log");
        assert_eq!(again.tail, None, "cut to {left}");
    }
}

#[test]
fn every_cut_of_an_earlier_segment_is_damage() {
    let whole = filled(&[1; 11]);
    let first = FileName::segment(0);
    let length = whole.bytes(first).expect("a segment").len() as u64;

    for left in 0..length {
        let mut disk = cut(&whole, first, left);
        let before = contents(&disk);

        let refused = recover(&mut disk, sim());

        let Err(RecoverError::Scan(ScanError::Damaged(damaged))) = refused else {
            panic!("cut to {left}: {refused:?}");
        };
        assert_eq!(damaged.file, first);
        assert!(damaged.offset <= left);
        assert_eq!(contents(&disk), before, "nothing is changed");
    }
}

#[test]
fn an_earlier_segment_that_lost_its_last_record_is_named() {
    let whole = filled(&[1; 11]);
    let places = places(&whole);
    let (file, from, bytes) = places
        .iter()
        .copied()
        .rfind(|place| place.0 == FileName::segment(1))
        .expect("segment 1 has records");
    let disk = cut(&whole, file, from);

    let found = scan(&disk, sim()).expect_err("a record is missing");

    let damage = Damage::Length { found: from, expected: from + bytes };
    let offset = from;
    assert_eq!(found, ScanError::Damaged(Damaged { file, offset, damage }));
}

#[test]
fn bytes_behind_an_earlier_segment_are_damage() {
    let mut disk = filled(&[1; 11]);
    let file = FileName::segment(1);
    let length = disk.bytes(file).expect("a segment").len() as u64;
    disk.append(file, &[0; 7]).expect("a good disk");

    let found = scan(&disk, sim()).expect_err("seven bytes too many");

    assert_eq!(found, ScanError::Damaged(Damaged { file, offset: length, damage: Damage::CutOff }));
}

#[test]
fn zeros_behind_the_last_record_are_cut() {
    for zeros in [1, 41, 42, 43, 500] {
        let mut disk = filled(&[1; 11]);
        let last = places(&disk)[10].0;
        disk.append(last, &vec![0; zeros]).expect("a good disk");

        let found = recover(&mut disk, sim()).expect("a torn tail");

        let tail = found.tail.expect("zeros are no record");
        assert_eq!((tail.file, tail.bytes), (last, zeros as u64));
        let cut_off = zeros < 42;
        assert_eq!(tail.damage == Damage::CutOff, cut_off);
        assert_eq!(tail.damage == Damage::RecordPosition(0), !cut_off);
        assert_eq!(recovered(&mut disk), 11);
    }
}

#[test]
fn a_missing_segment_is_named_unless_it_is_the_last() {
    let whole = filled(&[1; 11]);
    let last = places(&whole)[10].0;
    for number in 0.. {
        let file = FileName::segment(number);
        let mut disk = whole.clone();
        disk.remove(file).expect("a segment");

        let found = recover(&mut disk, sim());

        if file == last {
            let left = places(&whole).iter().filter(|place| place.0 < last).count();
            assert_eq!(recovered(&mut disk), left as u64);
            break;
        }
        let missing = RecoverError::Scan(ScanError::Missing(file));
        assert_eq!(found.expect_err("a gap"), missing);
        assert_eq!(missing.to_string(), format!("log/segment-000000000{number} is missing"));
    }
}

#[test]
fn a_segment_in_the_place_of_another_is_damage() {
    let whole = filled(&[1; 11]);
    let (one, two) = (FileName::segment(1), FileName::segment(2));
    let mut disk = whole.clone();
    disk.replace(one, whole.bytes(two).expect("a segment").to_vec());

    let found = scan(&disk, sim()).expect_err("segment 2 twice");

    assert_eq!(
        found,
        ScanError::Damaged(Damaged { file: one, offset: 8, damage: Damage::OtherSegment(2) })
    );
}

/// Puts segment 2 of a log with these payloads into the place of ours.
fn with_segment_2_of(payloads: impl Iterator<Item = Vec<u8>>) -> ScanError {
    let mut other = open(MemoryDisk::new());
    for payload in payloads {
        other.append(1, None, &payload).expect("a good disk");
    }
    let (mut disk, other) = (filled(&[1; 11]), other.into_disk());
    let file = FileName::segment(2);
    disk.replace(file, other.bytes(file).expect("a segment").to_vec());
    scan(&disk, sim()).expect_err("two histories")
}

#[test]
fn a_segment_of_another_history_of_the_same_sim_is_damage() {
    let damaged = Damaged { file: FileName::segment(2), offset: 0, damage: Damage::Discontinued };
    let swapped = [0, 2, 1, 3, 4, 5, 6, 7, 8, 9, 10].map(payload);
    let found = with_segment_2_of(swapped.into_iter());
    assert_eq!(found, ScanError::Damaged(damaged), "as long, but not the same");

    let shorter = (0..4).map(|_| vec![7; 120]);
    let found = with_segment_2_of(shorter);
    assert_eq!(found, ScanError::Damaged(damaged), "it begins earlier");
}

#[test]
fn a_segment_that_has_only_its_header_is_filled_before_the_next_begins() {
    let whole = filled(&[1; 11]);
    let last = places(&whole)[10].0;
    let mut store = open(cut(&whole, last, 92));
    let segments = store.index().segments();
    assert_eq!(store.index().locate(store.end()), Some((last, 92)));

    store.append(1, None, &[7; 1_000]).expect("a good disk");

    assert_eq!(store.index().segments(), segments);
}

#[test]
fn what_is_appended_after_a_cut_continues_the_chain() {
    let whole = filled(&[1; 11]);
    let last = places(&whole)[10].0;
    let length = whole.bytes(last).expect("a segment").len() as u64;
    for left in 0..=length {
        let mut store = open(cut(&whole, last, left));
        let kept = store.index().records();
        for number in kept..kept + 5 {
            append(&mut store, number);
        }
        store.sync().expect("a good disk");

        let mut disk = store.into_disk();

        assert_eq!(recovered(&mut disk), kept + 5, "cut to {left}");
    }
}
