//! `up` looks after its servers, and `status` tells how all of them stand.

use std::time::Instant;

use serde_json::{Value, json};

use crate::plaza::{Folder, PATIENCE, Plaza, run};

/// Returns the states of all servers of a directory, and the exit code.
fn table(plaza: &Plaza) -> (Value, Option<i32>) {
    let dir = plaza.dir.display().to_string();
    let output = run(&["status", "--json", "--data-dir", &dir]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let table = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{told}"));
    (table, output.status.code())
}

#[test]
fn a_killed_server_is_started_again_and_votes() {
    let folder = Folder::new("guarded");
    let mut plaza = Plaza::start_guarded(&folder.join("world"), 4);
    let height = plaza.height(0);
    plaza.reach(0, height + 3);

    plaza.kill(1);

    let died = plaza.told_by_up();
    assert_eq!((&died["died"], &died["pid"]), (&json!(1), &json!(plaza.servers[1].pid)), "{died}");
    let counts = ["voters", "alive", "needed", "restart_in"].map(|key| died[key].as_u64());
    assert_eq!(counts, [Some(4), Some(3), Some(3), Some(1)], "{died}");
    let restarted = plaza.told_by_up();
    assert_eq!(restarted["restarted"], 1, "{restarted}");
    assert_ne!(restarted["pid"], died["pid"], "{restarted}");

    // It comes to where the others are: with it and two of them the world goes on.
    plaza.reach_anew(1, plaza.height(0));
    let began = Instant::now();
    loop {
        let (table, _) = table(&plaza);
        if table["live"] == 4 {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{table}\n{}", plaza.told_by_all());
    }
    plaza.stop();
}

#[test]
fn the_table_of_a_directory_says_who_is_dead_and_how_many_turns_there_are() {
    let folder = Folder::new("table");
    let plaza = Plaza::start(&folder.join("world"), 4);
    let height = plaza.height(0);
    plaza.reach(0, height + 3);

    let (all, code) = table(&plaza);

    assert_eq!(code, Some(0), "{all}");
    let counts = ["voters", "live", "needed"].map(|key| all[key].as_u64());
    assert_eq!(counts, [Some(4), Some(4), Some(3)], "{all}");
    assert!(all["turns_per_second"].as_f64().is_some_and(|turns| turns > 0.0), "{all}");
    assert_eq!(all["sim"], plaza.sim.as_str());
    for (index, server) in plaza.servers.iter().enumerate() {
        let row = &all["servers"][index];
        assert_eq!((&row["live"], &row["votes"]), (&json!(true), &json!(true)), "{row}");
        assert_eq!((&row["key"], &row["http"]), (&json!(server.key), &json!(server.url)), "{row}");
    }

    plaza.kill(2);
    let (three, code) = table(&plaza);
    assert_eq!((code, &three["quorum"]), (Some(0), &json!(true)), "{three}");
    assert_eq!(three["servers"][2]["state"], "dead", "{three}");

    plaza.stop();
}

#[test]
fn a_directory_whose_servers_are_all_stopped_has_no_quorum() {
    let folder = Folder::new("table-stopped");
    let mut plaza = Plaza::start(&folder.join("world"), 1);
    plaza.pause();

    let (table, code) = table(&plaza);

    assert_eq!(code, Some(7), "{table}");
    assert_eq!((&table["live"], &table["turns_per_second"]), (&json!(0), &Value::Null), "{table}");
    let nowhere = folder.join("nowhere").display().to_string();
    assert_eq!(run(&["status", "--data-dir", &nowhere]).status.code(), Some(3));
}

#[test]
fn whoever_starts_two_or_three_servers_is_warned() {
    let folder = Folder::new("few");
    for (servers, warns) in [("1", false), ("2", true), ("3", true)] {
        let dir = folder.join(servers).display().to_string();
        let words = ["up", "--servers", servers, "--http-port", "0", "--exit-after", "0s"];
        let output = run(&[&words[..], &["--data-dir", &dir]].concat());
        let told = String::from_utf8_lossy(&output.stderr);
        let warned = told.contains(&format!("warning: {servers} servers tolerate no fault"));
        assert_eq!(warned, warns, "{told}");
    }
}
