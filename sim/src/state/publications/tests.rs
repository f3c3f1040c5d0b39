//! Bounds of publications that a play would take days to reach.

use std::collections::BTreeSet;

use metatopia_scripting::{
    PackageAuthor,
    limits::{AUTHORS_MAX, PACKAGE_NAME_BYTES_MAX},
};
use metatopia_types::{Digest, Height, PackageId, PublicKey};

use super::{Publication, Publications, kept_authors};
use crate::tree::Tracked;
use crate::{
    acts::test_genesis,
    limits::{
        AUTHORS_KEPT_BYTES, PACKAGE_BYTES_PER_PUBLISHER_MAX, PACKAGE_UNUSED_MS_MAX,
        PACKAGES_LEAVING_PER_TURN_MAX, PACKAGES_MAX, PUBLICATIONS_MAX, PUBLISHED_BYTES_MAX,
    },
    state::State,
};

/// A package of so many bytes by the publisher `n / 4`, unused since `n`.
fn record(n: u64, bytes: u32) -> (PackageId, Publication) {
    let record = Publication {
        publisher: Some(publisher(n / 4)),
        height: Height(n),
        bytes,
        licence: "AGPL-3.0-or-later".to_owned(),
        authors: "Ada".to_owned(),
        unused_since: Some(n),
        left: None,
    };
    (id(n), record)
}

fn id(n: u64) -> PackageId {
    PackageId(Digest::of("a test's package", &n.to_le_bytes()))
}

fn publisher(n: u64) -> PublicKey {
    PublicKey(Digest::of("a test's publisher", &n.to_le_bytes()).0)
}

fn filled(count: u64, bytes: u32) -> Publications {
    let mut all = Publications::default();
    for n in 0..count {
        let (id, record) = record(n, bytes);
        all.publish(id, record);
    }
    all
}

const NEWCOMER: PublicKey = PublicKey([7; 32]);

/// Returns what leaves for a package of so many bytes that imports nothing.
fn room(all: &Publications, publisher: &PublicKey, bytes: u64) -> Option<Vec<PackageId>> {
    all.room_for(publisher, bytes, &BTreeSet::new())
}

#[test]
fn the_longest_unused_packages_make_room_in_a_full_sim() {
    let bytes = 64 * 1_024;
    let all = filled(PUBLISHED_BYTES_MAX / u64::from(bytes), bytes);

    assert_eq!(room(&all, &NEWCOMER, 1), Some(vec![id(0)]));
    assert_eq!(room(&all, &NEWCOMER, u64::from(bytes) + 1), Some(vec![id(0), id(1)]));
}

#[test]
fn a_package_that_a_script_runs_makes_no_room() {
    let bytes = 64 * 1_024;
    let count = PUBLISHED_BYTES_MAX / u64::from(bytes);
    let mut all = filled(count, bytes);
    (0..count).filter(|n| *n != 3).for_each(|n| all.take(id(n)));

    assert_eq!(room(&all, &NEWCOMER, 1), Some(vec![id(3)]));
    all.take(id(3));
    assert_eq!(room(&all, &NEWCOMER, 1), None);
    all.release(id(5), 1_000_000);
    assert_eq!(room(&all, &NEWCOMER, 1), Some(vec![id(5)]));
}

#[test]
fn so_many_packages_are_there_however_short_they_are() {
    let all = filled(PACKAGES_MAX as u64, 300);

    assert_eq!(room(&all, &NEWCOMER, 300), Some(vec![id(0)]));
    assert_eq!(room(&filled(PACKAGES_MAX as u64 - 1, 300), &NEWCOMER, 300), Some(vec![]));
}

#[test]
fn an_authors_own_packages_make_room_first() {
    let bytes = u32::try_from(PACKAGE_BYTES_PER_PUBLISHER_MAX / 4).expect("a quarter of 256 KiB");
    let all = filled(12, bytes);

    assert_eq!(room(&all, &publisher(1), 1), Some(vec![id(4)]));
    assert_eq!(room(&all, &publisher(1), u64::from(bytes) * 3), Some(vec![id(4), id(5), id(6)]));
    assert_eq!(room(&all, &publisher(1), PACKAGE_BYTES_PER_PUBLISHER_MAX + 1), None);
}

#[test]
fn of_too_many_records_the_one_that_left_longest_ago_is_forgotten() {
    let mut all = Publications::default();
    for n in 0..PUBLICATIONS_MAX as u64 {
        let (id, record) = record(n, 300);
        all.publish(id, record);
        all.leave(id, Height(PUBLICATIONS_MAX as u64 - n));
    }
    let last = PUBLICATIONS_MAX as u64;

    let (new, record) = record(last, 300);
    all.publish(new, record);

    assert_eq!(all.records.len(), PUBLICATIONS_MAX);
    assert!(all.records.get(&id(last - 1)).is_none(), "it left first");
    assert!(all.records.get(&id(0)).is_some() && all.records.get(&new).is_some());
}

#[test]
fn a_few_packages_leave_in_one_turn() {
    let mut state = State::from_genesis(&test_genesis()).expect("a small genesis");
    state.publications = filled(2 * PACKAGES_LEAVING_PER_TURN_MAX as u64 + 1, 300);
    state.governance.time = PACKAGE_UNUSED_MS_MAX + 1_000;
    let left = |state: &State| {
        state.publications.records.iter().filter(|(_, record)| record.left.is_some()).count()
    };

    state.remove_stale_packages();
    assert_eq!(left(&state), PACKAGES_LEAVING_PER_TURN_MAX);
    state.remove_stale_packages();
    state.remove_stale_packages();
    assert_eq!(left(&state), 2 * PACKAGES_LEAVING_PER_TURN_MAX + 1);
}

#[test]
fn the_indexes_follow_from_the_records_and_the_scripts() {
    let mut all = filled(9, 300);
    all.take(id(1));
    all.take(id(1));
    all.take(id(2));
    all.release(id(2), 77);
    all.leave(id(3), Height(5));
    all.leave(id(4), Height(6));
    // It comes again, by somebody else.
    let (again, mut other) = record(4, 300);
    other.publisher = Some(NEWCOMER);
    all.publish(again, other);

    all.hold(id(7));
    all.hold(id(1));
    all.hold(id(8));
    all.let_go(id(8), 78);

    let uses = [id(1), id(1)].into_iter();
    let again = Publications::new(all.records.clone(), uses, [id(7), id(1)].into_iter());

    assert_eq!((again.uses, again.importers), (all.uses, all.importers));
    assert_eq!((again.unused, again.bytes), (all.unused, all.bytes));
    assert_eq!((again.gone, again.by_publisher), (all.gone, all.by_publisher));
}

#[test]
fn what_is_imported_is_unused_only_once_no_package_and_no_script_needs_it() {
    let mut all = filled(3, 300);
    let since = |all: &Publications| all.record(&id(1)).unused_since;
    all.hold(id(1));
    assert_eq!(since(&all), None);
    all.take(id(1));
    all.let_go(id(1), 50);
    assert_eq!(since(&all), None, "a script runs it");
    all.hold(id(1));
    all.release(id(1), 60);
    assert_eq!(since(&all), None, "a package imports it");
    all.let_go(id(1), 70);
    assert_eq!(since(&all), Some(70));
}

#[test]
fn what_a_new_package_imports_makes_no_room_for_it() {
    let bytes = u32::try_from(PACKAGE_BYTES_PER_PUBLISHER_MAX / 4).expect("a quarter of 256 KiB");
    let all = filled(12, bytes);
    let imports = BTreeSet::from([id(4)]);

    assert_eq!(all.room_for(&publisher(1), 1, &imports), Some(vec![id(5)]));

    let full = filled(PACKAGES_MAX as u64, 300);
    let imports = BTreeSet::from([id(0), id(1)]);
    assert_eq!(full.room_for(&NEWCOMER, 300, &imports), Some(vec![id(2)]));
}

/// What a thing brings over a border sleeps where its source is not. When somebody published that source, it
/// was taken for unused, and the sim ended when it had to leave.
#[test]
fn what_a_sleeping_script_needs_is_used_from_the_turn_in_which_it_is_published() {
    let mut all = Publications::default();
    all.take(id(1));

    let (wanted, record) = record(1, 300);
    all.publish(wanted, record);

    assert_eq!(all.records.get(&wanted).map(|record| record.unused_since), Some(None));
    assert_eq!(all.unused.first(), None);
    all.release(wanted, 9_000);
    assert_eq!(all.unused.first(), Some(&(9_000, wanted)));
}

/// The record of a package that left stays. When a sleeping script of it ended, it was to leave once more.
#[test]
fn what_left_does_not_leave_again_when_a_sleeping_script_of_it_ends() {
    let mut all = filled(4, 300);
    all.leave(id(1), Height(5));
    let bytes = all.bytes();

    all.take(id(1));
    all.release(id(1), 9_000);

    assert_eq!(all.records.get(&id(1)).map(|record| record.unused_since), Some(None));
    assert!(all.unused.iter().all(|(_, unused)| *unused != id(1)));
    assert_eq!(all.bytes(), bytes);
}

/// Whoever is forgotten leaves records behind. A key that took such a name by a rotation lost them from the
/// index, and the sim ended when one of them had to leave.
#[test]
fn a_key_that_published_before_it_was_forgotten_keeps_that_after_a_rotation_to_it() {
    // Of each publisher there are four.
    let mut all = filled(8, 300);
    let (old, new) = (publisher(0), publisher(1));

    all.change_publisher(&old, new);
    all.change_publisher(&new, NEWCOMER);

    let mut again = Tracked::default();
    all.records.iter().for_each(|(id, record)| again.insert(*id, record.clone()));
    let again = Publications::new(again, [].into_iter(), [].into_iter());
    assert_eq!(all.by_publisher, again.by_publisher);
    (0..8).for_each(|n| all.leave(id(n), Height(9)));
}

/// A package that had left was nobody's: its record named a key, and no author.
#[test]
fn so_many_names_of_authors_stay_and_the_rest_are_counted() {
    let kept = |names: &[&str]| {
        let author = |name: &&str| PackageAuthor { name: (*name).to_owned(), key: None };
        kept_authors(&names.iter().map(author).collect::<Vec<_>>())
    };
    assert_eq!(kept(&["Ada"]), "Ada");
    assert_eq!(kept(&["Ada", "Bob"]), "Ada, Bob");
    let long = "n".repeat(PACKAGE_NAME_BYTES_MAX);
    assert_eq!(kept(&["Ada", &long, &long]), format!("Ada, {long} and 1 more"));
    assert_eq!(kept(&vec![long.as_str(); AUTHORS_MAX]), format!("{long} and 31 more"));
    let half = "h".repeat(AUTHORS_KEPT_BYTES / 2 - 1);
    assert_eq!(kept(&[&half, &half]).len(), AUTHORS_KEPT_BYTES);
    let more = format!("{half}h");
    assert_eq!(kept(&[&half, &more]), format!("{half} and 1 more"), "one byte too many");
}
