//! One process that hosts two sims, by the command line.

use std::{
    net::TcpListener,
    path::PathBuf,
    process::{Command, Stdio},
    time::Instant,
};

use serde_json::Value;

use crate::{
    membership::refused,
    plaza::{Folder, PATIENCE, PROGRAM, Plaza, Running, json, key, run},
};

/// Two founded worlds of one server each, with the configuration of each server and its sim.
fn found_two(folder: &Folder) -> [(String, String, PathBuf); 2] {
    ["one", "other"].map(|name| {
        let plaza = Plaza::start(&folder.join(name), 1);
        let (sim, home) = (plaza.sim.clone(), plaza.home(0));
        plaza.stop();
        (home.join("metatopia.toml").display().to_string(), sim, home)
    })
}

/// An address on this machine that nobody listens on at this moment.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it is bound").to_string()
}

/// Asks until the program ends with 0, and returns the objects that it printed.
fn until_well(arguments: &[&str], count: usize) -> Vec<Value> {
    let began = Instant::now();
    loop {
        let output = run(arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let objects: Vec<Value> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if output.status.success() && objects.len() == count {
            return objects;
        }
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(began.elapsed() < PATIENCE, "{arguments:?}: {text}{told}");
    }
}

#[test]
fn two_worlds_run_in_one_process_and_status_shows_both() {
    let folder = Folder::new("hosting");
    let [(one, first, _), (other, second, home)] = found_two(&folder);
    // Each was written for a process of its own.
    refused(&["node", "run", "--config", &one, "--config", &other], 2, "`http_listen` is one for");
    let http = free_address();
    refused(
        &["node", "run", "--config", &one, "--config", &one, "--http-listen", &http],
        2,
        "name the same data directory",
    );

    let process = Command::new(PROGRAM)
        .args(["node", "run", "--config", &one, "--config", &other])
        .args(["--http-listen", &http, "--log", "warn", "--until-stdin-ends"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("the program starts");
    let mut process = Running(process);
    let node = format!("http://{http}");
    let both = until_well(&["status", "--json", "--node", &node], 2);
    assert_eq!((both[0]["sim"].as_str(), both[1]["sim"].as_str()), (Some(&*first), Some(&*second)));
    let page = format!("{node}/w/{second}");
    let alone = until_well(&["status", "--json", "--node", &page], 1);
    assert_eq!(alone[0]["sim"], second);
    let own =
        until_well(&["say", "hello", "--json", "--node", &page, "--key", &key(&folder, "ada")], 1);
    assert_eq!(own[0]["proven"], true);
    let eve = key(&folder, "eve");
    let named = json(&["say", "hi", "--json", "--node", &node, "--sim", &second, "--key", &eve]);
    assert_eq!(named["outcome"], "ok");
    let stranger = "ab".repeat(32);
    let words = format!("does not host sim {stranger}");
    let page = format!("{node}/w/{stranger}");
    refused(&["say", "hi", "--node", &page, "--key", &eve], 5, &words);

    // A status of the directory finds its server among those of the process.
    let toml = std::fs::read_to_string(&other).expect("our own file");
    let line = toml.lines().find(|line| line.starts_with("http_listen")).expect("`up` wrote it");
    let moved = toml.replace(line, &format!("http_listen = \"{http}\""));
    std::fs::write(&other, moved).expect("our own file");
    let table =
        json(&["status", "--json", "--data-dir", &folder.join("other").display().to_string()]);
    assert_eq!((&table["sim"], &table["live"]), (&second.into(), &1.into()), "{home:?}");

    drop(process.0.stdin.take());
    assert!(process.0.wait().expect("it ends").success());
}
