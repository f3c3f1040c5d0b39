//! Servers that cannot go on from what they have: damaged, emptied, or away for too long. Each takes
//! a state of the others, says so, and votes again, without anybody deleting anything.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::plaza::{Folder, PATIENCE, Plaza, RESTARTED, Running, run};

/// States are stored twice a second, and fetched by whoever is two seconds behind.
pub(crate) const QUICK: [(&str, &str); 2] =
    [("METATOPIA_SNAPSHOT_TURNS", "10"), ("METATOPIA_BEHIND_TURNS", "40")];

/// The server that it happens to.
const VICTIM: usize = 3;

fn status(plaza: &Plaza, index: usize) -> Value {
    let output = run(&["status", "--json", "--node", &plaza.servers[index].url]);
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

/// Starts the victim again, and waits until it votes where the others are.
fn back(plaza: &Plaza) -> (Running, Duration) {
    let began = Instant::now();
    let mut running = Running(plaza.restart_with(VICTIM, &QUICK));
    loop {
        let (own, others) = (status(plaza, VICTIM), plaza.height(0));
        let well = own["condition"] == "running" && own["waiting_for"].is_null();
        let there = own["root_height"].as_u64().is_some_and(|height| height + 2 >= others);
        if well && there && own["voting"] == true {
            break;
        }
        let ended = running.0.try_wait().expect("it can be asked");
        let words = || fs::read_to_string(plaza.home(VICTIM).join(RESTARTED)).unwrap_or_default();
        assert!(ended.is_none(), "it ended: {}", words());
        assert!(began.elapsed() < PATIENCE, "it does not come back: {own}\n{}", words());
    }
    (running, began.elapsed())
}

/// Asserts that the victim has the states of the others, and that nobody ever saw two signatures of it.
fn assert_well(plaza: &Plaza) {
    let height = plaza.height(0).min(plaza.height(VICTIM));
    let roots = plaza.roots(&[0, 1, VICTIM], height);
    assert!(roots.iter().all(|root| *root == roots[0]), "{roots:?}");
    let dir = plaza.home(0).display().to_string();
    let listed = run(&["evidence", "list", "--json", &dir]);
    assert_eq!(String::from_utf8_lossy(&listed.stdout).matches("accused").count(), 0);
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// Turns a bit in the middle of a file.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).expect("a file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).expect("our own file");
}

#[test]
fn a_damaged_log_is_put_aside_fetched_again_and_the_server_votes() {
    let folder = Folder::new("damaged");
    let plaza = Plaza::start_with(&folder.join("world"), 4, &QUICK);
    plaza.reach(VICTIM, 30);
    plaza.kill(VICTIM);
    let home = plaza.home(VICTIM);
    damage(&home.join("log").join("segment-0000000000"));
    files(&home.join("snapshots")).iter().for_each(|path| damage(path));

    let (running, took) = back(&plaza);

    println!("it votes {took:?} after its start");
    let told = status(&plaza, VICTIM)["disk"].as_str().expect("it says what happened").to_owned();
    assert!(told.contains("quarantined-0000000000-0"), "{told}");
    assert!(told.contains("snapshot"), "{told}");
    assert_well(&plaza);
    running.kill();
    plaza.stop();
}

#[test]
fn a_server_that_was_away_for_long_takes_a_state_of_the_others_and_again_without_any_of_its_own() {
    let folder = Folder::new("away");
    let plaza = Plaza::start_with(&folder.join("world"), 4, &QUICK);
    plaza.reach(VICTIM, 12);
    plaza.kill(VICTIM);
    plaza.reach(0, plaza.height(0) + 70);

    let (running, took) = back(&plaza);

    println!("it votes {took:?} after its start, 70 turns behind");
    assert_well(&plaza);
    // What it missed is asked of the others and put back; then its log is like theirs.
    let home = plaza.home(VICTIM);
    let began = Instant::now();
    loop {
        let home = home.display().to_string();
        let verified = run(&["log", "verify", "--json", "--allow-gaps", &home]);
        let verified: Value = serde_json::from_slice(&verified.stdout).expect("JSON");
        assert_eq!(verified["ok"], true, "{verified}");
        let lacks_none = status(&plaza, VICTIM)["missing"].is_null();
        if lacks_none && verified["missing"].as_array().is_some_and(Vec::is_empty) {
            assert_eq!(verified["applied_from"], 1, "from genesis on: {verified}");
            break;
        }
        assert!(began.elapsed() < PATIENCE, "turns are not put back: {verified}");
    }
    running.kill();

    // What was put back holds turns, not what it signed: without a state it asks for one.
    files(&home.join("snapshots")).iter().for_each(|path| damage(path));
    let (running, took) = back(&plaza);

    println!("it votes {took:?} after its start without a state");
    let told = status(&plaza, VICTIM)["disk"].as_str().expect("it says what happened").to_owned();
    assert!(told.contains("was fetched from others"), "{told}");
    assert_well(&plaza);
    running.kill();
    plaza.stop();
}

#[test]
fn a_server_with_nothing_left_but_its_keys_joins_its_own_sim_and_signs_nothing_twice() {
    let folder = Folder::new("emptied");
    let plaza = Plaza::start_with(&folder.join("world"), 4, &QUICK);
    plaza.reach(VICTIM, 50);
    plaza.kill(VICTIM);
    let home = plaza.home(VICTIM);
    for lost in ["log", "snapshots", "blobs"] {
        fs::remove_dir_all(home.join(lost)).expect("our own folder");
    }
    fs::remove_file(home.join("identity")).expect("our own file");
    assert!(home.join("vote.key.used").exists(), "its key has signed before");

    let (running, took) = back(&plaza);

    println!("it votes {took:?} after its start");
    assert_well(&plaza);
    running.kill();
    plaza.stop();
}
