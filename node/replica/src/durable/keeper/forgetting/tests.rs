//! Words that leave a log: which, when, and whatever happens to the disk meanwhile.

use metatopia_store::{
    Store,
    memory::{CrashEffect, DiskFault, MemoryDisk},
};
use metatopia_types::{
    Act, Blob, Certificate, Envelope, Header, Lane, PublicKey, Round, Seq, Sign as _, SigningKey,
    TurnBody,
};

use super::super::{
    Done, History, Keeper, Order,
    tests::{ask, opening, replace, snapshot, work},
};
use super::*;
use crate::Reader;

/// How many turns below the newest snapshot stay whole in these tests.
const WHOLE: u64 = 90;

fn keeper(disk: MemoryDisk) -> Keeper<MemoryDisk> {
    Keeper::new(Store::open(disk, opening()).expect("a good disk").store, History::Whole)
}

fn key() -> SigningKey {
    SigningKey::from_seed([7; 32])
}

fn line(height: u64) -> Blob {
    Blob(format!("what was said in turn {height} and is nobody's business").into_bytes())
}

/// Returns a turn in which somebody says a line, built in this round.
fn said(height: u64, round: u32) -> Turn {
    let (sim, key) = (opening().identity.sim, key());
    let act = Act::Say { channel: 1, body: line(height).id() };
    let (author, lane, seq) = (key.public(), Lane(1), Seq(height));
    let last_valid = Height(height + 9);
    let act = Envelope { sim, author, lane, seq, last_valid, act }.sign(&key);
    let body = TurnBody::new(vec![act], vec![line(height)]).expect("a small turn");
    let (height, time) = (Height(height), Millis(height * 1_000));
    Turn::of(Header { sim, height, time, round: Round(round), ..Header::unstated() }, body)
}

fn decision(height: u64) -> Decision {
    let turn = said(height, 1);
    let (header, round) = (turn.id(), Round(1));
    let certificate = Certificate { height: Height(height), round, header, signatures: Vec::new() };
    Decision { certificate, turn: turn.into() }
}

/// The records of a turn that was proposed in round 0 and decided in round 1.
fn turn(height: u64) -> [Order; 3] {
    let Decision { certificate, turn } = decision(height);
    let append = |tag, record: Record| Order::Append { tag, payload: record.encode() };
    [
        append(None, Record::Turn(said(height, 0).into())),
        append(None, Record::Turn(turn)),
        append(Some(height), Record::Decided(certificate)),
    ]
}

/// Returns a log of 300 turns in several segments, with snapshots of heights 100, 200 and 300.
fn lived() -> Keeper<MemoryDisk> {
    let mut keeper = keeper(MemoryDisk::new());
    for height in 1..=300_u64 {
        let snapshot = height.is_multiple_of(100).then(|| snapshot(height));
        work(&mut keeper, turn(height).into_iter().chain(snapshot));
    }
    assert!(keeper.store.index().segments() > 9);
    keeper
}

fn words(height: u64, by: Option<PublicKey>) -> ForgottenWords {
    ForgottenWords { height: Height(height), body: line(height).id(), by, time: 0 }
}

fn forget(words: &[ForgottenWords], before: Option<u64>) -> Order {
    let (words, before) = (words.to_vec(), before.map(|time| Millis(time * 1_000)));
    Order::Forget(Box::new(Forgetting { words, before, whole_turns: WHOLE }))
}

/// Says whether any file of the disk holds the line of this turn.
fn holds(disk: &MemoryDisk, height: u64) -> bool {
    let line = line(height).0;
    let has = |bytes: &[u8]| bytes.windows(line.len()).any(|part| part == line);
    disk.files().into_iter().any(|file| disk.bytes(file).is_some_and(has))
}

fn loaded(said: &[Done]) -> Vec<Decision> {
    let decisions = said.iter().find_map(|done| match done {
        Done::Loaded { decisions, .. } => Some(decisions.clone()),
        _ => None,
    });
    decisions.expect("it was asked")
}

fn news(said: &[Done]) -> String {
    let all = said.iter().filter_map(|done| match done {
        Done::News(news) => Some(news.to_string()),
        _ => None,
    });
    all.collect::<Vec<_>>().join("; ")
}

#[test]
fn forgotten_words_leave_what_was_decided_and_what_was_only_proposed_and_all_else_stays() {
    let mut keeper = lived();
    let by = Some(key().public());

    let told =
        work(&mut keeper, [forget(&[words(40, by), words(41, Some(PublicKey([1; 32])))], None)]);

    assert_eq!(news(&told), "words that were to be forgotten have left 2 turns of the log");
    let disk = keeper.store.disk();
    assert!(!holds(disk, 40));
    assert!(holds(disk, 41), "who forgets them must have said them");
    assert!((1..=300).filter(|height| *height != 40).all(|height| holds(disk, height)));
    let turns = loaded(&work(&mut keeper, [ask(38)]));
    for found in turns.iter().take(5) {
        let height = found.height().0;
        assert_eq!(found.certificate, decision(height).certificate);
        assert_eq!(found.turn.check_body(), Ok(()), "the header still names this body");
        assert_eq!(found.turn.body.is_whole(), height != 40);
        assert_eq!(found.id(), found.turn.id());
    }
    // Once is enough, and another start finds nothing to do.
    let again = [forget(&[words(40, None)], None)];
    assert_eq!(news(&work(&mut keeper, again)), "");
    let mut disk = keeper.store.into_disk();
    disk.crash(CrashEffect::Lost);
    let mut keeper = self::keeper(disk);
    assert_eq!(news(&work(&mut keeper, [forget(&[words(40, by)], None)])), "");
    assert_eq!(loaded(&work(&mut keeper, [ask(40)])).len(), 64);
}

#[test]
fn words_stay_while_a_server_may_have_to_apply_their_turn_again() {
    let mut keeper = lived();
    for (height, goes) in [(200, true), (201, false), (299, false)] {
        work(&mut keeper, [forget(&[words(height, None)], None)]);
        assert_eq!(!holds(keeper.store.disk(), height), goes, "turn {height}");
    }
    // With a later snapshot they go.
    work(&mut keeper, (301..=400).flat_map(turn).chain([snapshot(400)]));
    for _ in 0..2 {
        work(&mut keeper, [forget(&[words(201, None), words(299, None)], None)]);
    }
    assert!(!holds(keeper.store.disk(), 201) && !holds(keeper.store.disk(), 299));

    // Who fell behind is given turns up to the hole, and nothing beyond: it fetches a state.
    let by_peer = |from: u64| Order::Load {
        reader: Reader::Peer(PublicKey([1; 32])),
        from: Height(from),
        count: 64,
    };
    let given = |keeper: &mut Keeper<MemoryDisk>, from| {
        let turns = loaded(&work(keeper, [by_peer(from)]));
        turns.iter().map(|turn| turn.height().0).collect::<Vec<_>>()
    };
    assert_eq!(given(&mut keeper, 197), [197, 198, 199]);
    assert_eq!(given(&mut keeper, 200), [0; 0]);
    assert_eq!(given(&mut keeper, 202)[0], 202);
}

#[test]
fn so_many_words_and_segments_are_looked_at_after_one_snapshot_and_the_rest_after_the_next() {
    let mut keeper = lived();
    let all: Vec<ForgottenWords> = (1..=100).map(|height| words(height, None)).collect();
    let mut rounds = 0;
    while (1..=100).any(|height| holds(keeper.store.disk(), height)) {
        let before = keeper.forgotten.looked_for.len();
        work(&mut keeper, [forget(&all, None)]);
        let looked = keeper.forgotten.looked_for.len() - before;
        assert!((1..=FORGOTTEN_AT_ONCE).contains(&looked), "{looked} words");
        rounds += 1;
    }
    assert!((4..=100).contains(&rounds), "{rounds} rounds of {SEGMENTS_AT_ONCE} segments");
    assert!((101..=300).all(|height| holds(keeper.store.disk(), height)));
    work(&mut keeper, [forget(&[], None)]);
    assert_eq!(keeper.forgotten.looked_for.len(), 0, "what the state forgot is not remembered");
}

#[test]
fn words_older_than_the_history_that_is_kept_go_segment_by_segment() {
    let mut keeper = lived();
    for _ in 0..200 {
        work(&mut keeper, [forget(&[], Some(150))]);
    }
    let disk = keeper.store.disk();
    let left: Vec<u64> = (1..=300).filter(|height| holds(disk, *height)).collect();
    let first = left[0];
    assert!((100..=150).contains(&first), "but for a segment or two: {first}");
    assert_eq!(left, (first..=300).collect::<Vec<_>>());
}

#[test]
fn words_leave_turns_that_were_put_back_as_well() {
    let mut keeper = keeper(MemoryDisk::new());
    work(&mut keeper, (1..=10).flat_map(turn).chain([replace(100)]));
    work(&mut keeper, (101..=300).flat_map(turn).chain([snapshot(200), snapshot(300)]));
    let gone = [words(50, None)];
    work(&mut keeper, [forget(&gone, None)]);
    work(&mut keeper, [Order::PutBack((40..=100).map(decision).collect())]);
    assert!(holds(keeper.store.disk(), 50), "another server gave them whole");

    work(&mut keeper, [forget(&gone, None)]);

    assert!(!holds(keeper.store.disk(), 50));
    let found = loaded(&work(&mut keeper, [ask(50)]));
    assert!(!found[0].turn.body.is_whole() && found[1].turn.body.is_whole());
    for _ in 0..9 {
        work(&mut keeper, [forget(&gone, Some(80))]);
    }
    assert!(!(40..80).any(|height| holds(keeper.store.disk(), height)));
    assert!((80..=100).all(|height| holds(keeper.store.disk(), height)), "said later");
    for _ in 0..9 {
        work(&mut keeper, [forget(&gone, Some(101))]);
    }
    assert!(!(40..=100).any(|height| holds(keeper.store.disk(), height)));
}

#[test]
fn a_disk_that_fails_or_loses_its_power_at_any_write_leaves_a_log_that_goes_on() {
    for fault in [DiskFault::Full, DiskFault::Fail, DiskFault::PowerOff] {
        let lived = lived();
        let mut tried = 0;
        for k in 0.. {
            let mut disk = lived.store.disk().clone();
            disk.fail_operation(u64::MAX, fault);
            let mut keeper = keeper(disk);
            let at = keeper.store.disk().operations() + k;
            keeper.store.disk_mut().fail_operation(at, fault);
            let told = work(&mut keeper, [forget(&[words(40, None), words(200, None)], None)]);
            let failed = news(&told).contains("still in the log");
            let mut disk = keeper.store.into_disk();
            disk.crash(CrashEffect::Torn(k));
            let mut keeper = self::keeper(disk);
            assert_eq!(loaded(&work(&mut keeper, [ask(1)])).len(), 64, "{fault:?} at {k}");
            // A round looks at so many segments, and the next one goes on.
            for _ in 0..2 {
                work(&mut keeper, [forget(&[words(40, None), words(200, None)], None)]);
            }
            assert!(!holds(keeper.store.disk(), 40) && !holds(keeper.store.disk(), 200));
            work(&mut keeper, turn(301));
            assert_eq!(loaded(&work(&mut keeper, [ask(300)])).len(), 2, "{fault:?} at {k}");
            if !failed {
                break;
            }
            tried += 1;
        }
        assert!(tried >= 4, "{fault:?}: {tried} writes");
    }
}
