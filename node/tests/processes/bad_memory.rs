//! A server whose memory flips a bit: three processes, and a fourth server in the test's own, where
//! the bit can be flipped.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use metatopia::{config, executor::Meddle, server};
use metatopia_sim::{Applied, World, flipped};
use serde_json::Value;
use tokio::sync::watch;

use crate::plaza::{Folder, PATIENCE, Plaza, run};

/// Flips a bit of something on the plaza after the turn of this height, once.
fn flip_after(height: u64) -> Meddle {
    let mut flips = 1;
    Box::new(move |world: &mut World, applied: &mut Applied| {
        if applied.height.0 != height || flips == 0 {
            return;
        }
        flips -= 1;
        let tile = world.manifest().leaves.into_iter().find(|leaf| leaf.key.0.starts_with("tile/"));
        let tile = tile.expect("a plaza has tiles").key;
        *world = flipped(world, &tile, world.tools()).expect("a body has bits that may flip");
        applied.root = world.root();
    })
}

fn wait_for(what: &str, mut done: impl FnMut() -> bool) -> Duration {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < PATIENCE, "{what} does not happen");
        std::thread::yield_now();
    }
    began.elapsed()
}

/// Runs a command that finds a difference. Returns what it prints.
fn found(arguments: &[&str]) -> Value {
    let output = run(arguments);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(6), "{arguments:?}: {told}");
    serde_json::from_slice(&output.stdout).expect("one line of JSON")
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("a report")).expect("JSON")
}

#[test]
fn a_server_with_a_bad_memory_says_what_was_wrong_heals_and_votes_again() {
    let folder = Folder::new("bad-memory");
    let plaza = Plaza::start(&folder.join("world"), 4);
    let victim = 3;
    plaza.kill(victim);
    let dir = plaza.dir.join("server-3");
    let layer = config::read(&dir.join("metatopia.toml")).expect("its settings");
    let settings = config::settle([layer]).expect("its settings");
    let at = plaza.height(0) + 60;
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    let (stop, stopped) = watch::channel(false);
    let running = runtime.spawn(server::run_meddled(settings, stopped, Some(flip_after(at))));

    let report = dir.join("capsules").join(format!("report-{at}.json"));
    wait_for("a report", || report.exists());
    let report = read(&report);
    assert_eq!((&report["height"], &report["votes"]), (&at.into(), &true.into()), "{report}");
    assert!(report["leaf"].as_str().is_some_and(|leaf| leaf.starts_with("tile/")), "{report}");
    assert!(report["entry"].as_str().is_some_and(|entry| entry.starts_with("object ")), "{report}");
    assert_ne!(report["had_value"], report["right_value"]);

    // It votes again, on the same states as the others, which never waited.
    let url = plaza.servers[victim].url.clone();
    let status = || -> Value {
        let output = run(&["status", "--json", "--node", &url]);
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    };
    let healed = wait_for("voting again", || {
        let status = status();
        let well = status["condition"] == "running" && status["waiting_for"].is_null();
        well && status["root_height"].as_u64().is_some_and(|height| height > at + 10)
    });
    println!("it votes again {healed:?} after the report");
    let height = plaza.height(0).min(plaza.height(victim));
    let roots = plaza.roots(&[0, 1, 2, victim], height);
    assert!(roots.iter().all(|root| *root == roots[0]), "{roots:?}");
    let mine = &plaza.servers[victim].key;
    wait_for("a turn of its own", || status()["proposer"].as_str() == Some(mine.as_str()));

    stop.send_replace(true);
    runtime.block_on(running).expect("no panic").expect("a clean end");
    let world = plaza.dir.clone();
    plaza.stop();

    // Anybody can find it again, from what two servers kept.
    let text = |path: &Path| path.display().to_string();
    let capsule = text(&dir.join("capsules").join(format!("capsule-{at}.capsule")));
    let healthy = text(&world.join("server-0"));
    let parted = found(&["bisect", "--json", &healthy, &capsule]);
    assert_eq!((&parted["height"], &parted["what"]), (&at.into(), &"state".into()), "{parted}");
    assert_eq!((&parted["leaf"], &parted["entry"]), (&report["leaf"], &report["entry"]));
    assert_eq!(parted["certified"], parted["roots"][0]);
    let last_tick = parted["ticks"][1].as_u64();
    assert_eq!(last_tick, Some(3 * at));
    let shown = run(&["capsule", "show", "--json", &capsule]);
    assert_eq!(shown.status.code(), Some(0), "{}", String::from_utf8_lossy(&shown.stderr));
    let shown: Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    assert_eq!(shown["finding"], "writer_wrong", "{shown}");
    assert_eq!(shown["parting"]["height"], at);
    assert_eq!(
        (&shown["parting"]["leaf"], &shown["parting"]["entry"]),
        (&report["leaf"], &report["entry"])
    );
    assert_eq!(shown["parting"]["had_value"], report["had_value"]);
    assert!(shown["parting"]["signed"].as_array().is_some_and(|all| all.len() >= 3), "{shown}");
    let replayed = found(&["replay", "--json", &capsule]);
    assert_eq!(replayed["ok"], true, "the turns themselves are sound");
    let healed = run(&["bisect", "--json", &healthy, &text(&dir)]);
    assert_eq!(healed.status.code(), Some(0), "{}", String::from_utf8_lossy(&healed.stdout));
    let verified = run(&["log", "verify", "--json", &text(&dir)]);
    assert_eq!(verified.status.code(), Some(0), "{}", String::from_utf8_lossy(&verified.stdout));
    let verified: Value = serde_json::from_slice(&verified.stdout).expect("JSON");
    assert_eq!(verified["heals"], 1);
}
