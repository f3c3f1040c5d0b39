//! Logs from which words were forgotten.

use metatopia_sim::Capsule;
use metatopia_store::put_snapshot;
use metatopia_types::{Act, Blob, Envelope, Lane, Seq, SigningKey};

use super::*;
use crate::{
    fixture::{FixtureTurn, base, capsule, snapshot, steps_of, write_log},
    kept_state::ServerFiles,
    replay::replay_capsule,
};

/// The turn whose words are forgotten.
const SAID: u64 = 5;

/// Returns a history in which somebody says something.
fn talk() -> Vec<FixtureTurn> {
    let visitor = SigningKey::from_seed([1; 32]);
    steps_of(&genesis(), |turn| {
        if turn.header.height != Height(SAID) {
            return;
        }
        let blob = Blob(b"what nobody should read".to_vec());
        let act = Act::Say { channel: 1, body: blob.id() };
        let (sim, author) = (turn.header.sim, visitor.public());
        let (lane, seq, last_valid) = (Lane(1), Seq(2), Height(100));
        let act = Envelope { sim, author, lane, seq, last_valid, act }.sign(&visitor);
        let body = TurnBody::new(vec![act], vec![blob]).expect("a small turn");
        *turn = Turn::of(turn.header.clone(), body);
    })
}

/// Returns the history's turn without the words in it.
fn holed(step: &FixtureTurn) -> Turn {
    step.turn.without(|_| true).unwrap_or_else(|| step.turn.clone())
}

/// Returns a log from which the words are gone, with a snapshot of height 8 or without one.
fn log(steps: &[FixtureTurn], has_snapshot: bool) -> MemoryDisk {
    let records = steps.iter().flat_map(|step| {
        [Record::Turn(holed(step).into()), Record::Decided(step.certificate.clone())]
    });
    let records: Vec<Record> = records.collect();
    let mut store = write_log(MemoryDisk::new(), &genesis(), &records);
    if has_snapshot {
        let snapshot = snapshot(steps, 8, &base(steps, 8));
        put_snapshot(store.disk_mut(), &snapshot).expect("room");
    }
    store.into_disk()
}

#[test]
fn the_chain_stands_over_forgotten_words_and_turns_are_applied_again_from_the_next_snapshot_on() {
    let steps = talk();
    let verdict = verify(&log(&steps, true));

    assert!(verdict.ok, "{verdict}");
    assert_eq!(verdict.forgotten, [[SAID, SAID]]);
    assert_eq!(verdict.certified_only, [[SAID, 8]]);
    assert_eq!((verdict.height, verdict.unproven.len()), (TURNS as u64, 0));
    assert_eq!(verdict.root, Some(steps[TURNS - 1].world.root().to_string()));
    let text = verdict.to_string();
    assert!(
        text.contains("words were forgotten of 1 turns, which are verified by the chain"),
        "{text}"
    );
    assert!(text.contains("alone: turn 5"), "{text}");
}

#[test]
fn without_a_snapshot_the_turns_behind_forgotten_words_are_held_against_their_certificates() {
    let steps = talk();
    let verdict = verify(&log(&steps, false));

    assert!(verdict.ok, "{verdict}");
    assert_eq!(verdict.certified_only, [[SAID, TURNS as u64]]);
    assert_eq!((verdict.height, verdict.root), (TURNS as u64, None));
}

#[test]
fn a_hole_that_was_no_word_or_that_the_header_does_not_name_is_a_fault() {
    let steps = talk();
    let mut records: Vec<Record> = decided_records();
    let other = holed(&steps[SAID as usize - 1]);
    // The body of another history, in which somebody had said something.
    let Record::Turn(turn) = &records[2 * (SAID as usize - 1)] else { panic!("a turn") };
    let mixed = Turn { header: turn.header.clone(), body: other.body };
    records[2 * (SAID as usize - 1)] = Record::Turn(mixed.into());

    let verdict = verify(&memory_log(&records));

    assert_eq!((verdict.ok, verdict.height), (false, SAID));
}

#[test]
fn a_state_behind_forgotten_words_is_computed_from_a_snapshot_or_not_at_all() {
    let steps = talk();
    let start = start_of(genesis());
    let after = |has_snapshot: bool, height: u64| {
        let disk = log(&steps, has_snapshot);
        let scan = metatopia_store::scan(&disk, genesis().id()).expect("a whole log");
        let files = ServerFiles { start: &start, disk: &disk, index: &scan.index, exec: &Serial };
        let found = files.after(Height(height));
        found.map(|kept| kept.world.root()).map_err(|error| error.to_string())
    };
    assert_eq!(after(true, 10), Ok(steps[9].world.root()));
    assert_eq!(after(false, 4), Ok(steps[3].world.root()));
    for (has_snapshot, height) in [(false, 10), (true, 7)] {
        let why = after(has_snapshot, height).expect_err("nobody can apply turn 5");
        assert!(why.starts_with("turn 5: words of it were forgotten"), "{why}");
    }
    let whole = capsule(&steps, Vec::new());
    let turns = whole.turns.iter().map(|(turn, certificate)| {
        (turn.without(|_| true).unwrap_or_else(|| turn.clone()), certificate.clone())
    });
    let holed = Capsule { turns: turns.collect(), ..whole.clone() };
    let replayed = replay_capsule(&holed, &Serial, &mut ()).expect("a state to begin with");
    let fault = replayed.fault.expect("turn 5 cannot be applied");
    assert_eq!((fault.height, fault.why), (Height(SAID), Unsound::Forgotten));
    assert_eq!(replayed.world.height(), Height(SAID - 1));
}
