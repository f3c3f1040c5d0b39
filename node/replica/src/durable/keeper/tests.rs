//! Disks that are full, or fail, under a server's storage; and how much of the past it keeps.

use std::sync::Arc;

use metatopia_consensus::Record;
use metatopia_store::{
    FileKind, Folder, Identity, Opening, ReadDisk as _, limits, list_snapshots,
    memory::{CrashEffect, DiskFault, MemoryDisk},
};
use metatopia_types::{
    Certificate, Digest, Header, HeaderId, Millis, PublicKey, Root, Round, SimId, Turn, TurnBody,
};

use super::{reading::decisions_up_to, *};
use crate::RECALL_HEIGHTS;
use crate::Reader;

pub(super) fn opening() -> Opening {
    let identity =
        Identity { sim: SimId(Digest::of("a test", b"sim")), server: PublicKey([9; 32]) };
    Opening { segment_bytes: 8_000, ..Opening::new(identity) }
}

fn keeper(disk: MemoryDisk, history: History) -> Keeper<MemoryDisk> {
    Keeper::new(Store::open(disk, opening()).expect("a good disk").store, history)
}

/// Returns what the keeper says to these orders.
pub(super) fn work(
    keeper: &mut Keeper<MemoryDisk>,
    orders: impl IntoIterator<Item = Order>,
) -> Vec<Done> {
    let mut said = Vec::new();
    keeper.work(orders, &mut |done| said.push(done));
    said
}

/// A step of a vote: three records, to be durable before anything is said. Records are numbered.
fn step(number: u64) -> Vec<Order> {
    let append = |n: u64| Order::Append {
        tag: n.is_multiple_of(3).then_some(n),
        payload: n.to_le_bytes().repeat(20),
    };
    let first = 3 * number;
    vec![
        append(first),
        append(first + 1),
        append(first + 2),
        Order::Sync(RecordPosition(first + 3)),
    ]
}

fn synced(said: &[Done]) -> Option<u64> {
    said.iter().rev().find_map(|done| match done {
        Done::Synced(position) => Some(position.0),
        _ => None,
    })
}

fn health(said: &[Done]) -> Option<&Health> {
    said.iter().rev().find_map(|done| match done {
        Done::Health(health) => Some(health),
        _ => None,
    })
}

/// The numbers of the records that a power loss right now would leave.
fn durable(keeper: &Keeper<MemoryDisk>) -> Vec<u64> {
    let mut disk = keeper.store.disk().clone();
    disk.limit_capacity(None);
    disk.crash(CrashEffect::Lost);
    let store = Store::open(disk, opening()).expect("a log that a crash left").store;
    let records = store.index().iter(store.disk()).map(|record| record.expect("undamaged"));
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    records.map(|record| number(&record.payload)).collect()
}

fn in_order(numbers: &[u64]) -> bool {
    numbers.iter().zip(0..).all(|(number, due)| *number == due)
}

#[test]
fn a_disk_that_fails_at_any_write_never_makes_the_server_say_what_it_could_forget() {
    for fault in [DiskFault::Full, DiskFault::Fail] {
        let mut tried = 0;
        for k in 0.. {
            let mut keeper = keeper(MemoryDisk::new(), History::Whole);
            let at = keeper.store.disk().operations() + k;
            keeper.store.disk_mut().fail_operation(at, fault);
            let (mut reported, mut trouble) = (0, None);
            for number in 0..30 {
                let said = work(&mut keeper, step(number));
                assert!(trouble.is_none() || synced(&said).is_none(), "{fault:?} at {k}");
                reported = synced(&said).unwrap_or(reported);
                trouble = health(&said).cloned().or(trouble);
                let left = durable(&keeper);
                assert!(left.len() as u64 >= reported && in_order(&left), "{fault:?} at {k}");
            }
            tried += 1;
            let Some(trouble) = trouble else {
                assert_eq!(reported, 90);
                break;
            };
            let said = work(&mut keeper, [Order::Retry]);
            match fault {
                DiskFault::Full => {
                    assert_eq!(trouble, Health::Full, "at {k}");
                    assert_eq!(health(&said), Some(&Health::Sound), "at {k}");
                    assert_eq!((synced(&said), durable(&keeper).len()), (Some(90), 90), "at {k}");
                    assert_eq!(synced(&work(&mut keeper, step(30))), Some(93), "at {k}");
                    assert!(in_order(&durable(&keeper)), "at {k}");
                }
                _ => {
                    assert!(matches!(trouble, Health::Failed(_)), "at {k}");
                    assert!(said.is_empty(), "a disk that failed is not tried again");
                    assert_eq!(synced(&work(&mut keeper, step(30))), None, "at {k}");
                }
            }
        }
        println!("{tried} writes and syncs, each with {fault:?}");
        assert!(tried > 120, "{tried}");
    }
}

#[test]
fn a_disk_without_room_is_waited_for_and_then_holds_everything_once() {
    for room in (0..20_000).step_by(197) {
        let mut keeper = keeper(MemoryDisk::new(), History::Whole);
        let files = keeper.store.disk().files();
        let bytes = |file| keeper.store.disk().bytes(file).map_or(0, <[u8]>::len) as u64;
        let used: u64 = files.into_iter().map(bytes).sum();
        keeper.store.disk_mut().limit_capacity(Some(used + room));
        let mut reported = 0;
        for number in 0..40 {
            let said = work(&mut keeper, step(number));
            reported = synced(&said).unwrap_or(reported);
            assert!(work(&mut keeper, [Order::Retry]).is_empty(), "there is no room yet");
        }
        assert!(reported < 120);
        assert_eq!(keeper.health, Health::Full, "room for {room}");
        assert!(durable(&keeper).len() as u64 >= reported);

        keeper.store.disk_mut().limit_capacity(None);
        let said = work(&mut keeper, [Order::Retry]);

        assert_eq!((synced(&said), health(&said)), (Some(120), Some(&Health::Sound)));
        let left = durable(&keeper);
        assert!(left.len() == 120 && in_order(&left), "room for {room}");
    }
}

#[test]
fn what_is_left_of_the_disk_is_read_while_it_is_full_or_failed() {
    for fault in [DiskFault::Full, DiskFault::Fail] {
        let mut keeper = keeper(MemoryDisk::new(), History::Whole);
        work(&mut keeper, (1..20).flat_map(turn).chain([Order::Sync(RecordPosition(38))]));
        let at = keeper.store.disk().operations();
        keeper.store.disk_mut().fail_operation(at, fault);
        work(&mut keeper, turn(20).into_iter().chain([Order::Sync(RecordPosition(40))]));
        assert_ne!(keeper.health, Health::Sound);

        let said = work(&mut keeper, [ask(7)]);

        assert_eq!(heights(&said), (7..20).collect::<Vec<_>>(), "{fault:?}");
    }
}

#[test]
fn records_that_wait_for_room_are_bounded() {
    let mut keeper = keeper(MemoryDisk::new(), History::Whole);
    keeper.store.disk_mut().limit_capacity(Some(0));
    let payload = vec![7; limits::RECORD_BYTES_MAX];
    let orders = BACKLOG_BYTES_MAX / payload.len();
    let append = || Order::Append { tag: None, payload: payload.clone() };

    let said = work(&mut keeper, (0..orders).map(|_| append()));
    assert_eq!(health(&said), Some(&Health::Full));
    let said = work(&mut keeper, [append()]);
    assert_eq!(health(&said), Some(&Health::Swamped));

    keeper.store.disk_mut().limit_capacity(None);
    let said = work(&mut keeper, [Order::Retry]);
    assert_eq!(health(&said), Some(&Health::Sound));
    assert_eq!(keeper.store.index().records() as usize, orders + 1);
}

/// A decided turn, signed by nobody.
pub(super) fn decision(height: u64) -> Decision {
    let header = Header {
        sim: opening().identity.sim,
        engine: 1,
        height: Height(height),
        previous: HeaderId(Digest::of("a test", &(height - 1).to_le_bytes())),
        proposer: PublicKey([1; 32]),
        time: Millis(height),
        ..Header::unstated()
    };
    let turn = Turn { header, body: TurnBody::default() };
    let certificate = Certificate {
        height: Height(height),
        round: Round(0),
        header: turn.id(),
        signatures: Vec::new(),
    };
    Decision { certificate, turn: Arc::new(turn) }
}

/// The records of a decided turn.
pub(super) fn turn(height: u64) -> [Order; 2] {
    let Decision { certificate, turn } = decision(height);
    let append = |tag, record: Record| Order::Append { tag, payload: record.encode() };
    [append(None, Record::Turn(turn)), append(Some(height), Record::Decided(certificate))]
}

pub(super) fn snapshot(height: u64) -> Order {
    let root = Root(Digest::of("a test", &height.to_le_bytes()));
    Order::Snapshot(Snapshot { height: Height(height), root, bytes: vec![1; 100] })
}

pub(super) fn ask(from: u64) -> Order {
    let (reader, from) = (Reader::Question(1), Height(from));
    Order::Load { reader, from, count: 64 }
}

pub(super) fn heights(said: &[Done]) -> Vec<u64> {
    let loaded = said.iter().find_map(|done| match done {
        Done::Loaded { decisions, .. } => Some(decisions),
        _ => None,
    });
    loaded.expect("it was asked").iter().map(|decision| decision.height().0).collect()
}

/// A server's life of 6,000 turns with a snapshot every 600.
pub(super) fn lived(history: History) -> Keeper<MemoryDisk> {
    let mut keeper = keeper(MemoryDisk::new(), history);
    for height in 1..=6_000 {
        work(
            &mut keeper,
            turn(height).into_iter().chain([Order::Sync(RecordPosition(2 * height))]),
        );
        if height % 600 == 0 {
            work(&mut keeper, [snapshot(height)]);
        }
    }
    keeper
}

fn log_bytes(keeper: &Keeper<MemoryDisk>) -> u64 {
    let disk = keeper.store.disk();
    let files = disk.list(Folder::Log).expect("a good disk");
    let segments = files.into_iter().filter(|file| matches!(file.kind, FileKind::Segment(_)));
    segments.map(|file| disk.length(file).expect("a good disk")).sum()
}

#[test]
fn turns_far_below_the_older_snapshot_are_removed_and_the_rest_is_read() {
    let mut keeper = lived(History::Turns(1_500));

    let oldest = keeper.oldest.0;
    let needed = 5_400 - 1_500;
    assert!((needed - 100..=needed).contains(&oldest), "{oldest} for {needed}");
    for from in [1, 2, 700, oldest - 4] {
        let said = work(&mut keeper, [ask(from)]);
        assert_eq!(heights(&said), [0; 0], "from {from}");
        let told = said.iter().find_map(|done| match done {
            Done::Loaded { oldest, .. } => Some(*oldest),
            _ => None,
        });
        assert_eq!(told, Some(Height(oldest)));
    }
    for from in [oldest, oldest + 1, needed, 5_400, 5_990] {
        let due: Vec<u64> = (from..=6_000).take(64).collect();
        assert_eq!(heights(&work(&mut keeper, [ask(from)])), due, "from {from}");
    }
    // A start from the older snapshot has all that it needs, receipts of its clients too.
    let past: Vec<u64> = decisions_up_to(KeptTurns::of(&keeper.store), Height(5_400))
        .expect("a good disk")
        .0
        .iter()
        .map(|decision| decision.height().0)
        .collect();
    assert_eq!(past, (5_400 - RECALL_HEIGHTS + 1..=5_400).collect::<Vec<_>>());

    let mut disk = keeper.store.into_disk();
    disk.crash(CrashEffect::Lost);
    let again = Keeper::new(Store::open(disk, opening()).expect("a log").store, History::Whole);
    assert_eq!(again.oldest, Height(oldest));
}

/// A state that had grown beyond what a start reads was stored all the same. The two that could be read
/// went for it, and the log before them, so that no start was possible any more.
#[test]
fn a_state_that_no_start_could_read_takes_the_place_of_none_that_one_can() {
    let mut keeper = lived(History::Turns(1_500));
    let (oldest, kept) = (keeper.oldest, list_snapshots(keeper.store.disk()).expect("a disk"));
    let Order::Snapshot(mut long) = snapshot(6_600) else { panic!("a snapshot") };
    long.bytes = vec![1; SNAPSHOT_BYTES_MAX + 1];

    let said = work(&mut keeper, [Order::Snapshot(long)]);

    let told = said.iter().find_map(|done| match done {
        Done::News(news @ News::TooLong { .. }) => Some(news.to_string()),
        _ => None,
    });
    assert!(told.expect("it says so").contains("6600"));
    assert_eq!(list_snapshots(keeper.store.disk()).expect("a disk"), kept);
    assert_eq!(keeper.oldest, oldest);
}

#[test]
fn an_archive_keeps_every_turn() {
    let mut keeper = lived(History::Whole);
    assert_eq!(keeper.oldest, Height(1));
    assert_eq!(heights(&work(&mut keeper, [ask(1)])), (1..=64).collect::<Vec<_>>());
    let pruned = lived(History::Turns(RECALL_HEIGHTS));
    assert!(2 * log_bytes(&pruned) < log_bytes(&keeper), "{}", log_bytes(&pruned));
}

#[test]
fn a_server_that_stops_marks_its_log_so_that_a_cut_is_damage() {
    let mut keeper = keeper(MemoryDisk::new(), History::Whole);
    work(&mut keeper, step(0));
    keeper.close(&mut drop);
    let mut disk = keeper.store.into_disk();
    let file = store::FileName::segment(0);
    let bytes = disk.bytes(file).expect("a segment").to_vec();
    disk.replace(file, bytes[..bytes.len() - 1].to_vec());

    let refused = Store::open(disk, opening()).map(|_| ()).expect_err("a byte is missing");

    assert!(refused.to_string().contains("log/segment-0000000000 is damaged"), "{refused}");
}

pub(super) fn replace(height: u64) -> Order {
    let Order::Snapshot(snapshot) = snapshot(height) else { panic!("a snapshot") };
    Order::Replace { snapshot, note: Some(Record::Healed { from: Height(3) }.encode()) }
}

fn restart(said: Vec<Done>) -> Result<Restart, String> {
    let replaced = said.into_iter().find_map(|done| match done {
        Done::Replaced(replaced) => Some(replaced),
        _ => None,
    });
    replaced.expect("it was ordered")
}

#[test]
fn a_fetched_state_is_gone_on_from_with_what_the_log_holds_after_it_and_nothing_asked_before() {
    let mut keeper = keeper(MemoryDisk::new(), History::Whole);
    for height in 1..=10 {
        work(&mut keeper, turn(height));
    }
    work(&mut keeper, [snapshot(3), snapshot(9)]);

    // Ordered before it, a sync is done before it is: nobody is left to hear of it afterwards.
    let said = work(&mut keeper, [Order::Sync(RecordPosition(20)), replace(8)]);
    let before = |done: &Done| matches!(done, Done::Synced(RecordPosition(20)));
    assert!(before(&said[0]), "{said:?}");
    let Restart { past, records, .. } = restart(said).expect("a good disk");
    assert_eq!(past.len(), 8);
    let heights: Vec<u64> = records.iter().filter_map(Record::height).map(|at| at.0).collect();
    assert_eq!(heights, [9, 9, 10, 10, 3], "the note comes last");
    let kept = list_snapshots(keeper.store.disk()).expect("a good disk");
    assert_eq!(kept.iter().map(|(height, _)| height.0).collect::<Vec<_>>(), [8]);

    // A state far above what the log has: nothing of it is read.
    let Restart { past, records, .. } = restart(work(&mut keeper, [replace(500)])).expect("a disk");
    assert_eq!((past.len(), records.iter().filter_map(Record::height).count()), (10, 2));
    let said = work(&mut keeper, turn(501).into_iter().chain([Order::Sync(RecordPosition(2))]));
    assert_eq!(synced(&said), Some(2));
}

/// Says what became of the order, if that is said.
fn answer(said: Vec<Done>) -> Option<Result<Restart, String>> {
    said.iter().any(|done| matches!(done, Done::Replaced(_))).then(|| restart(said))
}

fn stored(keeper: &Keeper<MemoryDisk>) -> Vec<u64> {
    let kept = list_snapshots(keeper.store.disk()).expect("a good disk");
    kept.iter().map(|(height, _)| height.0).collect()
}

/// Ordered on a disk that was full, or filled up then, it was refused, which ended the process; and
/// so it went at every start.
#[test]
fn a_fetched_state_waits_for_room_whatever_finds_none() {
    for fault in [DiskFault::Full, DiskFault::Fail] {
        let mut tried = 0;
        for k in 0.. {
            let mut keeper = keeper(MemoryDisk::new(), History::Whole);
            work(&mut keeper, turn(1));
            work(&mut keeper, [snapshot(1)]);
            let at = keeper.store.disk().operations() + k;
            keeper.store.disk_mut().fail_operation(at, fault);
            let before = turn(2).into_iter().chain([Order::Sync(RecordPosition(4))]);

            let said = work(&mut keeper, before.chain([replace(8)]));

            tried += 1;
            let trouble = health(&said).is_some();
            let mut answered = answer(said);
            if trouble && fault == DiskFault::Full {
                assert!(answered.is_none(), "at {k}: {answered:?}");
                let said = work(&mut keeper, [Order::Retry]);
                assert_eq!(health(&said), Some(&Health::Sound), "at {k}");
                answered = answer(said);
            }
            let failed = fault == DiskFault::Fail && answered.as_ref().is_some_and(Result::is_err);
            if !failed {
                let Restart { records, .. } = answered.expect("an answer").expect("a good disk");
                let notes = records.iter().filter(|record| matches!(record, Record::Healed { .. }));
                assert_eq!((notes.count(), stored(&keeper)), (1, vec![8]), "{fault:?} at {k}");
            }
            if !trouble && !failed {
                break;
            }
        }
        println!("{tried} writes and syncs, each with {fault:?}");
        assert!(tried > 8, "{tried}");
    }
}

#[test]
fn a_fetched_state_that_is_larger_than_the_room_for_the_log_waits_and_the_older_ones_stay() {
    let mut keeper = keeper(MemoryDisk::new(), History::Whole);
    work(&mut keeper, turn(1));
    work(&mut keeper, [snapshot(1)]);
    let files = keeper.store.disk().files();
    let bytes = |file| keeper.store.disk().bytes(file).map_or(0, <[u8]>::len) as u64;
    let used: u64 = files.into_iter().map(bytes).sum();
    keeper.store.disk_mut().limit_capacity(Some(used + 2 * ROOM_BYTES));
    let Order::Replace { mut snapshot, note } = replace(8) else { panic!("a replacement") };
    snapshot.bytes = vec![1; 3 * ROOM_BYTES as usize];

    let said = work(&mut keeper, [Order::Replace { snapshot, note }]);

    assert_eq!(health(&said), Some(&Health::Full));
    assert!(answer(said).is_none());
    for _ in 0..3 {
        assert!(work(&mut keeper, [Order::Retry]).is_empty(), "there is no room yet");
        assert_eq!(stored(&keeper), [1]);
    }
    keeper.store.disk_mut().limit_capacity(None);
    let said = work(&mut keeper, [Order::Retry]);
    assert_eq!(health(&said), Some(&Health::Sound));
    assert!(restart(said).is_ok());
    assert_eq!(stored(&keeper), [8]);
}
