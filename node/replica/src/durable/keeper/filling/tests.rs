//! Turns that a log lacks: named, put back, read, and given up like the rest.

use metatopia_store::{
    FileKind, FileName, ReadDisk as _,
    memory::{CrashEffect, DiskFault, MemoryDisk},
};

use super::super::{
    Done, Keeper, Order, open_log,
    reading::decisions_up_to,
    tests::{ask, decision, heights, lived, opening, replace, snapshot, turn, work},
};
use super::*;
use crate::RECALL_HEIGHTS;

fn keeper(disk: MemoryDisk, history: History) -> Keeper<MemoryDisk> {
    Keeper::new(open_log(disk, opening()).expect("a good disk").store, history)
}

fn put(from: u64, to: u64) -> Order {
    Order::PutBack((from..=to).map(decision).collect())
}

fn gap(keeper: &Keeper<MemoryDisk>) -> Option<(u64, u64)> {
    all_gaps(keeper).first().copied()
}

fn all_gaps(keeper: &Keeper<MemoryDisk>) -> Vec<(u64, u64)> {
    keeper.gaps().newest.iter().map(|gap| (gap.first.0, gap.last.0)).collect()
}

/// Returns what was said last of what is missing, if anything was said.
fn told(said: &[Done]) -> Option<Option<(u64, u64)>> {
    said.iter().rev().find_map(|done| match done {
        Done::Gaps(gaps) => Some(gaps.newest.first().map(|gap| (gap.first.0, gap.last.0))),
        _ => None,
    })
}

/// Turns 1 to 10, a fetched state of height 500, and the turns after that up to `to`.
fn away(history: History, to: u64) -> Keeper<MemoryDisk> {
    let mut keeper = keeper(MemoryDisk::new(), history);
    work(&mut keeper, (1..=10).flat_map(turn));
    work(&mut keeper, [replace(500)]);
    work(&mut keeper, (501..=to).flat_map(turn));
    keeper
}

#[test]
fn turns_that_a_fetched_state_passed_over_are_put_back_and_read_as_if_they_had_never_been_missing()
{
    let mut keeper = away(History::Whole, 500);
    let last = keeper.gaps().newest[0];
    assert_eq!((gap(&keeper), last.names), (Some((11, 500)), None), "nothing names them yet");
    work(&mut keeper, (501..=520).flat_map(turn));
    assert_eq!(heights(&work(&mut keeper, [ask(450)])), [0; 0]);

    assert_eq!(told(&work(&mut keeper, [put(401, 500)])), Some(Some((11, 400))));
    let named = keeper.gaps().newest.first().and_then(|gap| gap.names);
    assert_eq!(named, Some(decision(401).turn.header.previous));
    assert_eq!(heights(&work(&mut keeper, [ask(480)])), (480..=520).collect::<Vec<_>>());
    assert_eq!(told(&work(&mut keeper, [put(11, 400)])), Some(None));

    let mut disk = keeper.store.into_disk();
    disk.crash(CrashEffect::Kept);
    let mut keeper = self::keeper(disk, History::Whole);
    assert_eq!(gap(&keeper), None);
    for from in [1, 10, 11, 390, 400, 401, 499, 501] {
        let due: Vec<u64> = (from..=520).take(64).collect();
        assert_eq!(heights(&work(&mut keeper, [ask(from)])), due, "from {from}");
    }
    let (past, unread) =
        decisions_up_to(KeptTurns::of(&keeper.store), Height(520)).expect("a disk");
    let past: Vec<u64> = past.iter().map(|turn| turn.height().0).collect();
    assert_eq!((past, unread), ((1..=520).collect(), None));
}

#[test]
fn what_a_start_recalls_has_gaps_only_where_turns_are_missing() {
    let mut keeper = away(History::Whole, 520);
    work(&mut keeper, [put(300, 500)]);
    let (past, _) = decisions_up_to(KeptTurns::of(&keeper.store), Height(510)).expect("a disk");
    let past: Vec<u64> = past.iter().map(|turn| turn.height().0).collect();
    assert_eq!(past, (1..=10).chain(300..=510).collect::<Vec<_>>());
}

#[test]
fn a_part_of_the_log_that_was_put_aside_is_missing_until_it_is_put_back() {
    let mut disk = lived(History::Whole).store.into_disk();
    assert!(disk.flip(FileName::segment(3), 2_000 * 8));

    let mut keeper = keeper(disk, History::Whole);

    let (first, last) = gap(&keeper).expect("turns are missing");
    assert!(first == 1 && (10..1_000).contains(&last), "{first} to {last}");
    let named = keeper.gaps().newest.first().and_then(|gap| gap.names);
    assert_eq!(named, Some(decision(last + 1).turn.header.previous));
    assert_eq!(told(&work(&mut keeper, [put(first, last)])), Some(None));
    assert_eq!(heights(&work(&mut keeper, [ask(1)])), (1..=64).collect::<Vec<_>>());
    let due: Vec<u64> = (last - 5..).take(64).collect();
    assert_eq!(heights(&work(&mut keeper, [ask(last - 5)])), due, "over the seam");
}

#[test]
fn turns_that_are_not_kept_are_not_missing_and_what_was_put_back_is_given_up_in_time() {
    let mut keeper = away(History::Turns(100), 500);
    assert_eq!(gap(&keeper), Some((401, 500)));
    work(&mut keeper, [put(401, 500)]);
    let patches = |keeper: &Keeper<MemoryDisk>| keeper.store.patches().iter().collect::<Vec<_>>();
    work(&mut keeper, (501..=600).flat_map(turn).chain([snapshot(600)]));
    assert_eq!((patches(&keeper), gap(&keeper)), (vec![(401, 500)], None));
    work(&mut keeper, (601..=700).flat_map(turn).chain([snapshot(700)]));
    assert_eq!((patches(&keeper), gap(&keeper)), (vec![], None));
    assert_eq!(
        *lived(History::Turns(RECALL_HEIGHTS)).gaps(),
        Gaps::default(),
        "pruning loses nothing"
    );
    assert_eq!(*lived(History::Whole).gaps(), Gaps::default());
}

#[test]
fn turns_that_do_not_close_the_gap_from_above_are_refused_and_so_are_those_without_room() {
    let mut keeper = away(History::Whole, 510);
    for wrong in [put(401, 499), put(1, 500), put(501, 510), Order::PutBack(Vec::new())] {
        assert_eq!(told(&work(&mut keeper, [wrong])), Some(Some((11, 500))));
    }
    let at = keeper.store.disk().operations();
    keeper.store.disk_mut().fail_operation(at, DiskFault::Full);
    let said = work(&mut keeper, [put(401, 500)]);
    assert!(said.iter().any(|done| matches!(done, Done::News(News::NotPutBack(_)))), "{said:?}");
    assert_eq!(told(&said), Some(Some((11, 500))), "it is asked for again");
    assert_eq!(told(&work(&mut keeper, [put(401, 500)])), Some(Some((11, 400))));
}

#[test]
fn a_patch_that_is_damaged_is_dropped_and_missing_again() {
    let file = FileName::new(FileKind::Patch { from: 401, to: 500 });
    // Found by a question, and by a start.
    for starts in [false, true] {
        let mut keeper = away(History::Whole, 510);
        work(&mut keeper, [put(401, 500), put(11, 400)]);
        assert_eq!(gap(&keeper), None);
        assert!(keeper.store.disk_mut().flip(file, 9_000));
        if starts {
            keeper = self::keeper(keeper.store.into_disk(), History::Whole);
        } else {
            assert_eq!(told(&work(&mut keeper, [ask(450)])), Some(Some((401, 500))));
        }
        assert_eq!(gap(&keeper), Some((401, 500)), "{starts}");
        assert!(keeper.store.disk().length(file).is_err());
        assert_eq!(told(&work(&mut keeper, [put(401, 500)])), Some(None));
        assert_eq!(heights(&work(&mut keeper, [ask(450)])), (450..=510).collect::<Vec<_>>());
    }
}

#[test]
fn a_follower_lacks_what_came_before_the_state_that_it_began_with() {
    for (history, due) in [(History::Whole, (1, 500)), (History::Turns(50), (451, 500))] {
        let mut keeper = keeper(MemoryDisk::new(), history);
        work(&mut keeper, [snapshot(500)]);
        assert_eq!(gap(&keeper), Some(due));
        work(&mut keeper, (501..=510).flat_map(turn));
        let keeper = self::keeper(keeper.store.into_disk(), history);
        assert_eq!(gap(&keeper), Some(due));
    }
    let young = keeper(MemoryDisk::new(), History::Whole);
    assert_eq!(*young.gaps(), Gaps::default(), "nothing was decided yet");
}

/// Turns 1 to 10, and then so often a fetched state a hundred turns later with ten turns after it.
fn away_often(times: u64) -> Keeper<MemoryDisk> {
    let mut keeper = keeper(MemoryDisk::new(), History::Whole);
    work(&mut keeper, (1..=10).flat_map(turn));
    for at in (1..=times).map(|n| 100 * n) {
        work(&mut keeper, [replace(at)]);
        work(&mut keeper, (at + 1..=at + 10).flat_map(turn));
    }
    keeper
}

#[test]
fn every_gap_is_named_the_newest_first_and_any_of_them_may_be_closed_from_its_end() {
    let mut keeper = away_often(3);
    assert_eq!(all_gaps(&keeper), [(211, 300), (111, 200), (11, 100)]);
    assert_eq!(keeper.gaps().turns, 3 * 90);
    work(&mut keeper, [put(151, 200)]);
    assert_eq!(all_gaps(&keeper), [(211, 300), (111, 150), (11, 100)]);
    for gap in &keeper.gaps().newest {
        assert_eq!(gap.names, Some(decision(gap.last.0 + 1).turn.header.previous));
    }
    work(&mut keeper, [put(11, 100), put(111, 140)]);
    assert_eq!(all_gaps(&keeper), [(211, 300), (111, 150)], "not from the middle");
    work(&mut keeper, [put(111, 150)]);
    assert_eq!((all_gaps(&keeper), keeper.gaps().turns), (vec![(211, 300)], 90));
    let mut keeper = self::keeper(keeper.store.into_disk(), History::Whole);
    assert_eq!(all_gaps(&keeper), [(211, 300)]);
    assert_eq!(heights(&work(&mut keeper, [ask(201)])), (201..=210).collect::<Vec<_>>());
    let due: Vec<u64> = (90..=210).take(64).collect();
    assert_eq!(heights(&work(&mut keeper, [ask(90)])), due);
}

#[test]
fn of_very_many_gaps_all_turns_are_counted_and_the_newest_are_named() {
    let often = GAPS_MAX as u64 + 1;
    let mut keeper = away_often(often);
    assert_eq!(keeper.gaps().turns, often * 90);
    let named = all_gaps(&keeper);
    assert_eq!((named.len(), named.last()), (GAPS_MAX, Some(&(111, 200))));
    work(&mut keeper, [put(111, 200)]);
    assert_eq!(all_gaps(&keeper).last(), Some(&(11, 100)));
}

#[test]
fn who_asks_for_turns_that_are_missing_is_told_where_the_log_goes_on() {
    let mut keeper = away_often(2);
    let next = |keeper: &mut Keeper<MemoryDisk>, from| {
        let said = work(keeper, [ask(from)]);
        said.iter().find_map(|done| match done {
            Done::Loaded { next, .. } => next.map(|next| next.0),
            _ => None,
        })
    };
    assert_eq!(next(&mut keeper, 50), Some(101));
    assert_eq!(next(&mut keeper, 111), Some(201));
    assert_eq!(next(&mut keeper, 5), None, "it has that one");
    assert_eq!(next(&mut keeper, 300), None, "nothing comes after it");
    work(&mut keeper, [put(80, 100)]);
    assert_eq!(next(&mut keeper, 50), Some(80));
}
