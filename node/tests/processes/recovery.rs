//! Two servers against two: nothing is decided any more, until their operators sign which state holds.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use metatopia::{
    config::{self, Settings},
    executor::Meddle,
    server,
};
use metatopia_sim::{Applied, World, flipped};
use serde_json::Value;
use tokio::{runtime::Runtime, sync::watch, task::JoinHandle};

use crate::plaza::{Folder, PATIENCE, Plaza, json, run};

/// A program that is wrong about the turn of this height, and about no other; as often as it is
/// asked.
fn wrong_about(height: u64) -> Meddle {
    Box::new(move |world: &mut World, applied: &mut Applied| {
        if applied.height.0 == height {
            let leaves = world.manifest().leaves;
            let tile = leaves.into_iter().find(|leaf| leaf.key.0.starts_with("tile/"));
            let tile = tile.expect("a plaza has tiles").key;
            *world = flipped(world, &tile, world.tools()).expect("a body has bits that may flip");
            applied.root = world.root();
        }
    })
}

/// Four servers in this process, two of which run that program.
struct Divided {
    runtime: Runtime,
    stop: watch::Sender<bool>,
    servers: Vec<JoinHandle<Result<(), server::ServerError>>>,
    urls: Vec<String>,
}

impl Divided {
    fn start(dir: &Path, height: u64) -> Self {
        let runtime = Runtime::new().expect("threads");
        let (stop, stopped) = watch::channel(false);
        let settings: Vec<Settings> = (0..4)
            .map(|index| {
                let file = dir.join(format!("server-{index}/metatopia.toml"));
                let layer = config::read(&file).expect("its settings");
                config::settle([layer]).expect("its settings")
            })
            .collect();
        let urls = settings.iter().map(|own| format!("http://{}", own.http_listen)).collect();
        let servers = settings.into_iter().zip(0..).map(|(settings, index)| {
            let meddle = (index >= 2).then(|| wrong_about(height));
            runtime.spawn(server::run_meddled(settings, stopped.clone(), meddle))
        });
        let servers = servers.collect();
        Self { runtime, stop, servers, urls }
    }

    fn status(&self, index: usize, at: Option<u64>) -> Value {
        let at = at.map(|height| height.to_string());
        let mut arguments = vec!["status", "--json", "--node", &self.urls[index]];
        arguments.extend(at.iter().flat_map(|height| ["--at", height]));
        serde_json::from_slice(&run(&arguments).stdout).unwrap_or_default()
    }

    /// Waits until all servers have applied the turn of this height.
    fn reach(&self, height: u64) {
        let began = Instant::now();
        for index in 0..4 {
            while self.status(index, None)["root_height"].as_u64().is_none_or(|at| at < height) {
                assert!(began.elapsed() < PATIENCE, "server {index} does not reach {height}");
            }
        }
    }

    fn roots(&self, height: u64) -> Vec<String> {
        let root = |index| self.status(index, Some(height))["root"].to_string();
        (0..4).map(root).collect()
    }

    fn stop(self) {
        self.stop.send_replace(true);
        for server in self.servers {
            let ended = self.runtime.block_on(server);
            ended.expect("no panic").expect("a clean end");
        }
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Runs a command that must fail with this exit code.
fn refused(arguments: &[&str], code: i32, word: &str) {
    let output = run(arguments);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
    assert!(told.contains(word), "{arguments:?}: no `{word}` in {told}");
}

#[test]
fn a_sim_that_is_divided_two_against_two_goes_on_from_the_state_that_its_operators_sign() {
    let folder = Folder::new("recovery");
    let dir = folder.join("world");
    let plaza = Plaza::start(&dir, 4);
    let at = plaza.height(0) + 30;
    plaza.stop();

    // Nobody can decide a turn that rests on the state after this one.
    let divided = Divided::start(&dir, at);
    divided.reach(at + 1);
    let roots = divided.roots(at);
    assert_eq!((&roots[0], &roots[2]), (&roots[1], &roots[3]), "{roots:?}");
    assert_ne!(roots[0], roots[2]);
    let server = |index: usize| -> PathBuf { dir.join(format!("server-{index}")) };
    let (first, file) = (text(&server(0)), text(&folder.join("plaza.recovery")));
    let propose = ["recover", "propose", "--json", "--out", &file, "--data-dir", &first];
    refused(&propose, 4, "stop the server first");
    let began = Instant::now();
    while divided.status(0, None)["stalled"] != true {
        assert!(began.elapsed() < PATIENCE, "{}", divided.status(0, None));
    }
    divided.stop();

    // Three operators look, and sign; one of them is the operator of a server that was wrong.
    let output = run(&propose);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!told.contains("shows no stall"), "{told}");
    let proposed: Value = serde_json::from_slice(&output.stdout).expect("one line of JSON");
    assert_eq!((&proposed["height"], &proposed["number"]), (&(at + 1).into(), &1.into()));
    let apply =
        |index| run(&["recover", "apply", "--json", &file, "--data-dir", &text(&server(index))]);
    assert_eq!(apply(0).status.code(), Some(5), "one signature of four is not enough");
    for index in [1, 3] {
        json(&["recover", "sign", "--json", &file, "--data-dir", &text(&server(index))]);
    }
    let shown = json(&["recover", "show", "--json", &file]);
    assert_eq!(shown["signed_by"].as_array().map(Vec::len), Some(3));
    for index in 0..4 {
        let output = apply(index);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }

    // The same programs go on, all four with one root: the wrong one has nothing to be wrong about.
    let whole = Divided::start(&dir, at);
    whole.reach(at + 12);
    let after = whole.roots(at + 10);
    assert!(after.iter().all(|root| *root == after[0] && root.len() > 60), "{after:?}");
    whole.stop();
    let verdicts = run(&["log", "verify", "--json", &text(&dir)]);
    let told = String::from_utf8_lossy(&verdicts.stdout).into_owned();
    assert_eq!(verdicts.status.code(), Some(0), "{told}");
    for line in told.lines() {
        let verdict: Value = serde_json::from_str(line).expect("a line of JSON");
        assert_eq!(verdict["recoveries"], serde_json::json!([at + 1]), "{verdict}");
    }
    // Once more is too late: what it said is certified.
    let again = text(&folder.join("again.recovery"));
    let height = (at + 1).to_string();
    let late = ["recover", "propose", "--to", &height, "--out", &again, "--data-dir", &first];
    refused(&late, 4, "nothing to recover");
}
