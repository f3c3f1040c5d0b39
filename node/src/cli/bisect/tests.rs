use metatopia_audit::fixture::{genesis, honest_records, noted, steps};
use metatopia_consensus::Record;
use metatopia_types::{Digest, Height, Root};

use super::*;
use crate::cli::fixture::{FixtureDirectory, ported, pruned_directory};

fn command(a: &Path, b: &Path) -> Result<(), Failure> {
    let args = BisectArgs { a: a.to_owned(), b: b.to_owned(), genesis: None };
    run(&args, Console::quiet())
}

fn exit(result: Result<(), Failure>) -> (Exit, String) {
    let failure = result.expect_err("a command that fails");
    (failure.exit, failure.message)
}

#[test]
fn equal_histories_are_exit_code_zero_and_different_ones_six() {
    let steps = steps();
    let mut records = honest_records(&steps);
    let a = FixtureDirectory::write("bisect-a", &records);
    let b = FixtureDirectory::write("bisect-b", &records[..3 * 9]);
    assert_eq!(command(&a.dir, &b.dir), Ok(()));

    records[3 * 16 + 2] = noted(&steps[16], Root(Digest::ZERO))[2].clone();
    let c = FixtureDirectory::write("bisect-c", &records);
    let (code, why) = exit(command(&a.dir, &c.dir));
    assert_eq!(code, Exit::Diverged, "{why}");
    assert!(why.contains("part at turn 17; a capsule of the one that is wrong"), "{why}");
}

/// A program that lacked the port applied the turn, and ended as for damage and forgery.
#[test]
fn where_turns_need_a_port_that_the_program_lacks_the_height_is_told_and_the_port_is_asked_for() {
    let (genesis, records) = ported();
    let came_to = |byte| {
        let (height, root) = (Height(5), Root(Digest([byte; 32])));
        [&records[..], &[Record::Applied { height, root, validators: None }]].concat()
    };
    let a = FixtureDirectory::of(&genesis, "bisect-ported-a", &came_to(1));
    let b = FixtureDirectory::of(&genesis, "bisect-ported-b", &came_to(2));
    let (code, why) = exit(command(&a.dir, &b.dir));
    assert_eq!(code, Exit::OtherEngine, "{why}");
    let (package, port) = (Digest([3; 32]).to_string(), Digest([4; 32]).to_string());
    for told in ["part at turn 5", "from height 5 on", &package, &port, "metatopia script ports"] {
        assert!(why.contains(told), "{told}: {why}");
    }
    assert_eq!(command(&a.dir, &a.dir), Ok(()), "equal histories need no port");
}

/// Programs read the field of the tick, so it is there even without a value.
#[test]
fn a_report_always_has_the_field_of_the_tick() {
    let steps = steps();
    let mut records = honest_records(&steps);
    let a = FixtureDirectory::write("bisect-tick-a", &records);
    records[3 * 16 + 2] = noted(&steps[16], Root(Digest::ZERO))[2].clone();
    let b = FixtureDirectory::write("bisect-tick-b", &records);
    let [one, other] = [&a, &b].map(|kept| OpenedHistory::open(&kept.dir, None).unwrap());
    let report =
        bisect(&one.side().unwrap(), &other.side().unwrap(), &metatopia_sim::Serial, &|_, _| ())
            .unwrap();
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!((&json["tick"], &json["height"]), (&serde_json::Value::Null, &17.into()));
}

#[test]
fn what_cannot_be_compared_is_exit_code_two_or_five() {
    let steps = steps();
    let whole = FixtureDirectory::write("bisect-early", &honest_records(&steps[..1]));
    let pruned = pruned_directory("bisect-late", |_| ());
    let (code, why) = exit(command(&whole.dir, &pruned.dir));
    assert!(code == Exit::Usage && why.contains("no height in common; compare each"), "{why}");

    let mut genesis = genesis();
    genesis.name = "elsewhere".to_owned();
    let other = FixtureDirectory::of(&genesis, "bisect-other", &[]);
    let (code, why) = exit(command(&whole.dir, &other.dir));
    assert!(code == Exit::Usage && why.contains("only histories of one sim"), "{why}");

    let (code, why) = exit(command(&whole.dir, &whole.segment()));
    assert!(code == Exit::Usage && why.contains("nor a capsule"), "{why}");
    let broken = whole.dir.join("broken.capsule");
    fs::write(&broken, b"\x14metatopia capsule v2, cut off").unwrap();
    assert_eq!(exit(command(&whole.dir, &broken)).0, Exit::Unverified);
}
