use metatopia_audit::{
    fixture::{TURNS, decided_records, genesis},
    verify::UnverifiedLog,
};
use metatopia_consensus::Record;
use metatopia_types::Digest;

use super::*;
use crate::cli::fixture::{FixtureDirectory, directory, ported};

fn verdict(kept: &FixtureDirectory, allow_gaps: bool) -> LogVerdict {
    let checked = verify(&kept.dir, &kept.dir.join(GENESIS), &mut ()).unwrap();
    LogVerdict::of(kept.dir.display().to_string(), &checked, allow_gaps)
}

#[test]
fn an_empty_place_holds_no_servers() {
    let dir = std::env::temp_dir().join(format!("metatopia-no-servers-{}", std::process::id()));
    assert_eq!(data_directories(&dir).unwrap_err().exit, Exit::NotFound);
    fs::create_dir(&dir).unwrap();
    assert_eq!(data_directories(&dir).unwrap_err().exit, Exit::NotFound);
    fs::remove_dir(&dir).unwrap();
}

#[test]
fn a_log_that_is_in_order_is_exit_code_zero_and_one_that_is_not_is_five() {
    let verify = |kept: &FixtureDirectory, allow_gaps| {
        let args = LogVerifyArgs { dirs: vec![kept.dir.clone()], genesis: None, allow_gaps };
        run(LogCommand::Verify(args), Console::quiet())
    };
    let kept = FixtureDirectory::write("order", &decided_records());
    assert_eq!(verify(&kept, false), Ok(()));
    let mut bytes = fs::read(kept.segment()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(kept.segment(), bytes).unwrap();
    let failure = verify(&kept, true).unwrap_err();
    assert_eq!(failure.exit, Exit::Unverified, "{failure}");

    let mut records = decided_records();
    records.drain(2 * 8..2 * 12);
    let (kept, _) = directory("away", &records, 12, |_| ());
    assert_eq!(verify(&kept, true), Ok(()));
    let failure = verify(&kept, false).unwrap_err();
    assert_eq!(failure.exit, Exit::Unverified, "{failure}");
    assert!(failure.message.contains("turns 9 to 12 not there; where its server"), "{failure}");
    assert!(failure.message.ends_with("say --allow-gaps"), "{failure}");
}

#[test]
fn a_genesis_of_another_sim_is_wrong() {
    let kept = FixtureDirectory::write("foreign", &[]);
    let mut other = genesis();
    other.name = "elsewhere".into();
    fs::write(kept.dir.join(GENESIS), other.encode()).unwrap();
    let unverified = verdict(&kept, true).failure().expect("another sim");
    assert!(matches!(&unverified, UnverifiedLog::Fault { height: 1, .. }), "{unverified}");
    assert!(unverified.to_string().contains(&other.id().to_string()), "{unverified}");
}

#[test]
fn a_directory_that_no_server_started_is_wrong_also_without_a_genesis() {
    let dir = std::env::temp_dir().join(format!("metatopia-unstarted-{}", std::process::id()));
    fs::create_dir_all(dir.join("log")).unwrap();
    let checked = verify(&dir, &dir.join(GENESIS), &mut ()).unwrap();
    assert!(checked.fault.unwrap().to_string().contains("never started"));
    fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn verifying_changes_nothing() {
    let kept = FixtureDirectory::write("same", &decided_records());
    let file = fs::OpenOptions::new().append(true).open(kept.segment()).unwrap();
    std::io::Write::write_all(&mut &file, b"torn").unwrap();
    let before = fs::read(kept.segment()).unwrap();

    let verdict = verdict(&kept, true);

    assert_eq!((verdict.ok, verdict.height), (true, TURNS as u64));
    assert_eq!(fs::read(kept.segment()).unwrap(), before);
}

/// Whoever verified such a log was told that it is wrong, by the code of damage and forgery.
#[test]
fn a_log_that_needs_a_port_which_the_program_lacks_asks_for_another_program() {
    let (genesis, records) = ported();
    let kept = FixtureDirectory::of(&genesis, "ported", &records);
    let verify = |dirs: Vec<PathBuf>| {
        let args = LogVerifyArgs { dirs, genesis: None, allow_gaps: false };
        run(LogCommand::Verify(args), Console::quiet())
    };
    let failure = verify(vec![kept.dir.clone()]).expect_err("the port is missing");
    assert_eq!(failure.exit, Exit::OtherEngine, "{failure}");
    let (package, port) = (Digest([3; 32]).to_string(), Digest([4; 32]).to_string());
    for told in ["from height 5 on", &package, &port, "metatopia script ports"] {
        assert!(failure.message.contains(told), "{failure}");
    }
    let words = verdict(&kept, false).to_string();
    assert!(words.contains("NOT CHECKED to its end: from height 5 on"), "{words}");

    // What is known to be wrong counts for more: in another log, and behind the missing port.
    let wrong = FixtureDirectory::write("ported-wrong", &decided_records());
    fs::write(wrong.dir.join(GENESIS), genesis.encode()).expect("a file of ours");
    for dirs in [[&kept, &wrong], [&wrong, &kept]] {
        let failure = verify(dirs.map(|kept| kept.dir.clone()).to_vec()).expect_err("wrong");
        assert_eq!(failure.exit, Exit::Unverified, "{failure}");
    }
    let more = records.iter().filter(|record| !matches!(record, Record::Decided(_)));
    let more: Vec<Record> = records.iter().chain(more).cloned().collect();
    let damaged = FixtureDirectory::of(&genesis, "ported-damaged", &more);
    let mut bytes = fs::read(damaged.segment()).expect("our own file");
    let behind = bytes.len() - bytes.len() / 8;
    bytes[behind] ^= 1;
    fs::write(damaged.segment(), bytes).expect("our own file");
    let failure = verify(vec![damaged.dir.clone()]).expect_err("damaged");
    assert_eq!(failure.exit, Exit::Unverified, "{failure}");
}
