//! Small worlds of one machine, by `up --grid`.

use std::time::Instant;

use serde_json::Value;

use crate::{
    plaza::{Folder, PATIENCE, json, key, run},
    worlds::{Grid, ended, find_until, has_server, squares_of, text, words},
};

#[test]
fn a_grid_of_sims_runs_in_one_process_and_goes_on_where_it_stopped() {
    let folder = Folder::new("grid");
    let dir = folder.join("grid");
    let mut worlds = Vec::new();
    for _ in 0..2 {
        let grid = Grid::start(&dir, "2x1");
        let sims = grid.ready["sims"].as_array().expect("a list");
        let (node, east) = (words(&sims[0]["http"]), words(&sims[1]["sim"]));
        let found = find_until(&["9", "3", "--node", node], |answer| has_server(answer, east));
        assert!(words(&found["servers"][0]["http"]).ends_with(&format!("/w/{east}")), "{found}");
        let status = run(&["status", "--json", "--data-dir", &dir.display().to_string()]);
        let lines = String::from_utf8_lossy(&status.stdout).into_owned();
        for sim in sims {
            assert!(lines.lines().any(|line| line.contains(words(&sim["sim"]))), "{lines}");
        }
        let ada = key(&folder, &format!("ada-{}", worlds.len()));
        let gone = run(&["world", "visit", "9", "3", "--node", node, "--key", &ada]);
        ended(&gone, 0, &format!("going to square 8:0:256 of sim {east}"));
        let told = String::from_utf8_lossy(&gone.stdout).into_owned();
        assert!(told.starts_with("The map is ") && told.contains("Through one door: "), "{told}");
        let gone = run(&["world", "visit", "9", "3", "--json", "--node", node, "--key", &ada]);
        let first: Value = serde_json::from_slice(
            gone.stdout.split(|byte| *byte == b'\n').next().unwrap_or_default(),
        )
        .expect("a line of JSON");
        assert_eq!((&first["kind"], &first["old"]), (&"map".into(), &false.into()), "{first}");
        assert!(first["age"].as_u64().is_some_and(|age| age < 600), "{first}");
        assert_eq!(first["one_door"], true, "all of it runs on one machine: {first}");
        let nowhere = run(&["world", "visit", "99", "3", "--node", node, "--key", &ada]);
        ended(&nowhere, 3, "there is no sim");
        // Its servers show the land office that it runs, so the square stays its own.
        let began = Instant::now();
        loop {
            let sites = squares_of(node).unwrap_or_default();
            let site = sites.iter().find(|site| site["sim"] == *east);
            if site.is_some_and(|site| site["shown"].as_u64().is_some_and(|height| height > 0)) {
                break;
            }
            assert!(began.elapsed() < PATIENCE, "{sites:?}");
        }
        worlds.push(grid.ready["world"].clone());
        grid.stop();
    }
    assert_eq!(worlds[0], worlds[1]);
}

/// Each square is claimed by the key of its own sim's admin, so the office's limit of two squares a key let grids
/// of 64 through, but nobody could hold three squares of one by one key.
#[test]
fn each_square_of_a_grid_is_held_by_its_own_admin_and_one_key_may_hold_them_all() {
    let folder = Folder::new("grid-holder");
    let dir = folder.join("grid");
    let grid = Grid::start(&dir, "3x1");
    let node = words(&grid.ready["sims"][0]["http"]);
    let admin = |n: usize| text(&dir.join(format!("sim-{n}-0")).join("admin.key"));
    let public = |n| words(&json(&["keys", "show", "--json", &admin(n)])["public"]).to_owned();
    let keys: Vec<String> = (0..3).map(public).collect();
    let held_by = |right: [&str; 3]| {
        let began = Instant::now();
        loop {
            let sites = squares_of(node).unwrap_or_default();
            let holders: Vec<&str> = sites.iter().map(|site| words(&site["holder"])).collect();
            if holders == right {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{sites:?}");
        }
    };
    held_by([&keys[0], &keys[1], &keys[2]]);
    for n in [1, 2] {
        let square = format!("{}:0:256", 8 * n);
        let give = ["world", "give", &square, "--to", &keys[0], "--key", &admin(n)];
        ended(&run(&[&give[..], &["--node", node, "--json"]].concat()), 0, "");
    }
    held_by([&keys[0]; 3]);
    grid.stop();
}
