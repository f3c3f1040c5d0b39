use std::{ops::ControlFlow, sync::Arc};

use metatopia_consensus::{Base, Decision, Record};
use metatopia_replica::encode_patch;
use metatopia_sim::{Applied, Unsound, World};
use metatopia_store::Store;
use metatopia_types::{Digest, Height, Millis, Root, Turn, TurnBody};

use super::{
    fixture::{
        FixtureDirectory, TURNS, certificate, decided_records, directory, genesis,
        pruned_directory, server_key, steps,
    },
    wrong::Wrong,
    *,
};
use crate::disk::RealDisk;
use metatopia_types::Sign as _;

type Chain = (String, BTreeMap<Height, HeaderId>);

fn chain(name: &str, turns: &[u8]) -> Chain {
    pruned(name, 0, turns)
}

fn pruned(name: &str, after: u64, turns: &[u8]) -> Chain {
    let turns = turns.iter().map(|n| HeaderId(Digest([*n; 32])));
    (name.to_owned(), (after + 1..).map(Height).zip(turns).collect())
}

#[test]
fn logs_of_different_length_are_the_same_history() {
    assert_eq!(split(&[chain("a", &[1, 2, 3]), chain("b", &[1, 2])]), None);
    assert_eq!(split(&[chain("a", &[]), chain("b", &[1, 2])]), None);
    assert_eq!(split(&[]), None);
}

#[test]
fn the_first_height_that_differs_is_named() {
    let chains = [chain("a", &[1, 2, 3]), chain("b", &[1, 2, 3]), chain("c", &[1, 9, 3])];
    assert_eq!(split(&chains), Some(("a", "c", 2)));
}

/// Only the first one was held against the others, and here it has too little to say.
#[test]
fn logs_that_differ_beyond_the_end_of_the_first_one_are_named() {
    let chains = [chain("a", &[1]), chain("b", &[1, 2]), chain("c", &[1, 9])];
    assert_eq!(split(&chains), Some(("b", "c", 2)));
    let chains = [chain("a", &[1]), pruned("b", 3, &[4]), chain("c", &[1, 2, 3, 9])];
    assert_eq!(split(&chains), Some(("b", "c", 4)));
}

#[test]
fn pruned_logs_are_compared_where_both_have_turns() {
    let whole = chain("a", &[1, 2, 3, 4]);
    assert_eq!(split(&[whole.clone(), pruned("b", 2, &[3, 4, 5])]), None);
    assert_eq!(split(&[pruned("b", 2, &[3, 4]), whole.clone()]), None);
    assert_eq!(split(&[whole.clone(), pruned("b", 2, &[3, 9])]), Some(("a", "b", 4)));
    assert_eq!(split(&[pruned("b", 2, &[9]), whole]), Some(("b", "a", 3)));
}

#[test]
fn an_empty_place_holds_no_servers() {
    let dir = std::env::temp_dir().join(format!("metatopia-no-servers-{}", std::process::id()));
    assert_eq!(data_directories(&dir).unwrap_err().exit, Exit::NotFound);
    fs::create_dir(&dir).unwrap();
    assert_eq!(data_directories(&dir).unwrap_err().exit, Exit::NotFound);
    fs::remove_dir(&dir).unwrap();
}

trait Verified {
    /// Where turns may be missing.
    fn verify(&self) -> LogVerdict;
    /// Where they may not.
    fn verify_whole(&self) -> LogVerdict;
}

fn verdict(kept: &FixtureDirectory, allow_gaps: bool) -> LogVerdict {
    let checked = verify(&kept.dir, &kept.dir.join(GENESIS), &mut ()).unwrap();
    LogVerdict::of(&kept.dir, &checked, allow_gaps)
}

impl Verified for FixtureDirectory {
    fn verify(&self) -> LogVerdict {
        verdict(self, true)
    }

    fn verify_whole(&self) -> LogVerdict {
        verdict(self, false)
    }
}

/// Those records with the turn of a height changed before it is decided.
fn changed(height: usize, change: impl FnOnce(&mut Turn)) -> Vec<Record> {
    let mut records = decided_records();
    let at = 2 * (height - 1);
    let Record::Turn(turn) = &records[at] else { panic!("turns are at even places") };
    let mut turn = turn.as_ref().clone();
    change(&mut turn);
    records[at + 1] = Record::Decided(certificate(&turn, 0..3));
    records[at] = Record::Turn(Arc::new(turn));
    records
}

#[test]
fn a_log_that_is_in_order_is_verified_to_its_end() {
    let verdict = FixtureDirectory::write("order", &decided_records()).verify();
    assert_eq!(verdict.error, None);
    assert!(verdict.ok);
    assert_eq!((verdict.height, verdict.records), (TURNS as u64, 2 * TURNS as u64));
    assert_eq!(verdict.server, Some(server_key(0).public().to_string()));
    assert_eq!(verdict.torn_bytes, 0);
}

#[test]
fn a_torn_last_record_is_told_and_no_fault() {
    let kept = FixtureDirectory::write("torn", &decided_records());
    let file = fs::OpenOptions::new().write(true).open(kept.segment()).unwrap();
    file.set_len(file.metadata().unwrap().len() - 5).unwrap();

    let verdict = kept.verify();

    assert_eq!((verdict.error, verdict.height), (None, TURNS as u64 - 1));
    assert!(verdict.torn_bytes > 0);
}

#[test]
fn a_flipped_byte_is_found_and_its_height_named() {
    let kept = FixtureDirectory::write("flipped", &decided_records());
    let mut bytes = fs::read(kept.segment()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(kept.segment(), bytes).unwrap();

    let verdict = kept.verify();

    assert!(!verdict.ok);
    assert!(verdict.error.unwrap().contains("segment-0000000000"));
    assert!((2..=TURNS as u64).contains(&verdict.height), "height {}", verdict.height);
}

#[test]
fn another_history_is_wrong_at_its_first_height_though_a_quorum_signed_it() {
    let wrong = |name, records: Vec<Record>| {
        let verdict = FixtureDirectory::write(name, &records).verify();
        (verdict.height, verdict.error.unwrap_or_default())
    };
    let root = wrong("root", changed(9, |turn| turn.header.root = Root::default()));
    assert_eq!(root.0, 9);
    assert!(root.1.contains("states root 000"), "{}", root.1);

    let previous = wrong("previous", changed(5, |turn| turn.header.previous = HeaderId::default()));
    assert_eq!(previous, (5, Unsound::Header("another turn before it").to_string()));

    let body = wrong("body", changed(3, |turn| turn.body = TurnBody::default()));
    assert_eq!(body, (3, Unsound::OtherBody.to_string()));

    let time = wrong("time", changed(6, |turn| turn.header.time = Millis(1)));
    assert_eq!(time, (6, Unsound::Header("a time that is not after the turn before").to_string()));
}

#[test]
fn a_certificate_of_too_few_is_wrong() {
    let mut records = decided_records();
    let Record::Turn(turn) = &records[6] else { panic!("turns are at even places") };
    records[7] = Record::Decided(certificate(turn, 0..2));

    let verdict = FixtureDirectory::write("few", &records).verify();

    assert_eq!(verdict.height, 4);
    assert!(verdict.error.unwrap().contains("voting power 2"));
}

#[test]
fn a_gap_a_missing_turn_and_a_wrong_note_are_wrong() {
    let wrong = |name, change: fn(&mut Vec<Record>)| {
        let mut records = decided_records();
        change(&mut records);
        let verdict = FixtureDirectory::write(name, &records).verify();
        (verdict.height, verdict.error.unwrap_or_default())
    };
    let gap = wrong("gap", |records| drop(records.drain(4..6)));
    let why = "there is no snapshot of after them".to_owned();
    let missing = Wrong::Gap { gap: (Height(3), Height(3)), why };
    assert_eq!(gap, (3, missing.to_string()));
    let missing = wrong("missing", |records| drop(records.remove(4)));
    assert_eq!(missing.0, 3);
    let noted = wrong("noted", |records| {
        let (height, root) = (Height(2), Root::default());
        records.insert(8, Record::Applied { height, root, validators: None });
    });
    assert!(noted.1.contains("the log notes root 000"), "{}", noted.1);
}

#[test]
fn a_genesis_of_another_sim_is_wrong() {
    let kept = FixtureDirectory::write("foreign", &[]);
    let mut other = genesis();
    other.name = "elsewhere".into();
    fs::write(kept.dir.join(GENESIS), other.encode()).unwrap();
    assert!(kept.verify().error.unwrap().contains(&other.id().to_string()));
}

#[test]
fn turns_that_a_server_was_away_for_are_named_and_the_state_behind_them_is_proved() {
    let mut records = decided_records();
    records.drain(2 * 8..2 * 12);
    let (kept, _) = directory("away", &records, 12, |_| ());
    let verdict = kept.verify();
    assert_eq!(verdict.error, None);
    assert_eq!((verdict.missing.as_slice(), verdict.applied_from), ([[9, 12]].as_slice(), 13));
    assert_eq!(verdict.height, TURNS as u64);
    assert!(verdict.to_string().contains("turns 9 to 12 not there"), "{verdict}");
    // But it is not said that all is proved.
    let strict = kept.verify_whole();
    assert_eq!((strict.ok, strict.height, strict.unproven), (false, 9, vec![[9, 12]]));
    assert_eq!(kept.verify_whole().failure().unwrap().exit, Exit::Unverified);

    // A later snapshot will do as well: the turns in between are chained to it.
    let (kept, _) = directory("away-later", &records, 15, |_| ());
    let verdict = kept.verify();
    assert_eq!((verdict.error, verdict.missing.as_slice()), (None, [[9, 12]].as_slice()));
    assert_eq!(verdict.applied_from, 16);

    let (kept, _) = directory("away-wrong", &records, 12, |base| base.header = HeaderId::default());
    let error = kept.verify().error.unwrap();
    assert!(error.contains("turns 9 to 12 are missing"), "{error}");
}

/// Puts the turns of these heights back, each with the certificate that `sign` makes.
fn put_back(
    store: &mut Store<RealDisk>,
    heights: std::ops::RangeInclusive<usize>,
    sign: fn(&Turn) -> metatopia_types::Certificate,
) {
    let turns: Vec<Decision> = steps()[heights.start() - 1..*heights.end()]
        .iter()
        .map(|step| Decision { certificate: sign(&step.turn), turn: Arc::new(step.turn.clone()) })
        .collect();
    store.put_patch(&encode_patch(&turns).unwrap()).unwrap();
}

#[test]
fn turns_that_were_put_back_are_played_in_their_place() {
    let mut records = decided_records();
    records.drain(2 * 8..2 * 12);
    let signed = |turn: &Turn| certificate(turn, 0..3);

    let (kept, mut store) = directory("patched-half", &records, 12, |_| ());
    put_back(&mut store, 11..=12, signed);
    let verdict = kept.verify();
    assert_eq!((verdict.error, verdict.missing.as_slice()), (None, [[9, 10]].as_slice()));

    put_back(&mut store, 9..=10, signed);
    let verdict = kept.verify();
    assert_eq!((verdict.error, verdict.missing.as_slice()), (None, [].as_slice()));
    assert_eq!(
        (verdict.applied_from, verdict.height),
        (1, TURNS as u64),
        "from genesis to the end"
    );
    assert_eq!(verdict.root, FixtureDirectory::write("whole", &decided_records()).verify().root);

    // Also if nothing was appended since.
    let (kept, mut store) = directory("patched-end", &records[..2 * 8], 12, |_| ());
    put_back(&mut store, 9..=12, signed);
    assert_eq!((kept.verify().error, kept.verify().height), (None, 12));

    let (kept, mut store) = directory("patched-wrong", &records, 12, |_| ());
    put_back(&mut store, 9..=12, |turn| certificate(turn, 0..2));
    let verdict = kept.verify();
    assert_eq!(verdict.height, 9);
    assert!(verdict.error.unwrap().contains("voting power 2"));
}

#[test]
fn a_pruned_log_whose_beginning_was_put_back_is_played_from_genesis_on() {
    let (kept, mut store) = directory("patched-front", &decided_records(), 8, |_| ());
    let keep = store.find(5).unwrap().unwrap().position;
    store.mark(keep).unwrap();
    let oldest = usize::try_from(kept.verify().oldest.unwrap()).unwrap();
    // The bytes of the first decided turns lie before the log's beginning.
    put_back(&mut store, 4..=oldest + 2, |turn| certificate(turn, 0..3));
    assert_eq!((kept.verify().error, kept.verify().oldest), (None, Some(4)));
    put_back(&mut store, 1..=3, |turn| certificate(turn, 0..3));

    let verdict = kept.verify();

    assert_eq!((verdict.error, verdict.oldest, verdict.applied_from), (None, None, 1));
    assert_eq!(verdict.height, TURNS as u64);
}

#[test]
fn a_follower_that_began_with_a_fetched_state_is_verified_from_there() {
    let mut records = decided_records();
    records.drain(..2 * 8);
    let (kept, _) = directory("follower", &records, 8, |_| ());
    let verdict = kept.verify();
    assert_eq!((verdict.error, verdict.missing.as_slice()), (None, [[1, 8]].as_slice()));
    assert_eq!((verdict.applied_from, verdict.height), (9, TURNS as u64));
}

#[test]
fn a_pruned_log_is_verified_from_its_snapshot_on_and_says_what_is_missing() {
    let verdict = pruned_directory("pruned", |_| ()).verify();

    assert_eq!(verdict.error, None);
    assert_eq!((verdict.applied_from, verdict.height), (9, TURNS as u64));
    let oldest = verdict.oldest.unwrap();
    assert!((2..=5).contains(&oldest), "{oldest}");
    let told = verdict.to_string();
    assert!(told.contains(&format!("pruned below height {oldest}, ask an archive")), "{told}");
}

#[test]
fn a_snapshot_that_the_turns_do_not_prove_is_wrong() {
    let wrong = |name, change: fn(&mut Base)| {
        let verdict = pruned_directory(name, change).verify();
        assert!(!verdict.ok);
        verdict.error.unwrap()
    };
    let header = wrong("other-header", |base| base.header = HeaderId::default());
    assert_eq!(header, Wrong::OtherState(Height(8)).to_string());
    let root = wrong("other-root", |base| base.roots[1] = Root::default());
    assert!(root.contains("root"), "{root}");
}

#[test]
fn verifying_changes_nothing() {
    let kept = FixtureDirectory::write("same", &decided_records());
    let file = fs::OpenOptions::new().append(true).open(kept.segment()).unwrap();
    std::io::Write::write_all(&mut &file, b"torn").unwrap();
    let before = fs::read(kept.segment()).unwrap();

    assert!(kept.verify().ok);

    assert_eq!(fs::read(kept.segment()).unwrap(), before);
}

/// Removes the oldest segments of a log whose turns are about to be played, as its server does.
struct Prunes(Store<RealDisk>);

impl metatopia_sim::Watch for Prunes {
    fn enter(&mut self, _: metatopia_sim::Stage) {}
}

impl replay::Onlooker for Prunes {
    fn begins(&mut self, _: Height) -> ControlFlow<()> {
        let keep = self.0.find(5).unwrap().unwrap().position;
        self.0.mark(keep).unwrap();
        ControlFlow::Continue(())
    }

    fn applied(&mut self, _: &Applied, _: &World) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// The segments that were gone made a sound log wrong.
#[test]
fn a_log_that_its_server_shortens_meanwhile_is_verified_from_its_new_beginning_on() {
    let (kept, store) = directory("shortened", &decided_records(), 8, |_| ());
    let checked = verify(&kept.dir, &kept.dir.join(GENESIS), &mut Prunes(store)).unwrap();
    assert_eq!((checked.wrong, checked.base), (None, Height(8)));
    assert_eq!(checked.applied, [(Height(9), Height(TURNS as u64))]);
}
