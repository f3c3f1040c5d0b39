use metatopia_audit::fixture::{genesis, honest_records, noted, steps};
use metatopia_types::{Digest, Root};

use super::*;
use crate::cli::fixture::{FixtureDirectory, pruned_directory};

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
