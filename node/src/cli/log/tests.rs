use metatopia_audit::{
    fixture::{TURNS, decided_records, genesis},
    verify::UnverifiedLog,
};

use super::*;
use crate::cli::fixture::{FixtureDirectory, directory};

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
