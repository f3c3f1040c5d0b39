//! A land office that is carried on: the sims of its world follow it, with the servers that run.

use std::{path::Path, time::Instant};

use serde_json::Value;

use crate::{
    plaza::{Folder, PATIENCE, Person, Plaza, json, key, run},
    worlds::{claim_of, ended, find_until, found, has_server, map_of, squares_of, text, words},
};

/// Follows a land office: an admin of the sim names the successor.
fn follow(plaza: &Plaza, world: &str) {
    let (url, key) = (plaza.servers[0].url.as_str(), text(&plaza.dir.join("admin.key")));
    json(&["admin", "set", "world", world, "--json", "--node", url, "--key", &key]);
}

/// Joins a world by a node of it once the node takes part in it.
fn join_until(node: &str, dir: &str, world: &str) {
    let began = Instant::now();
    loop {
        let joined = run(&["world", "join", node, dir, "--json", "--world", world]);
        if joined.status.success() {
            return;
        }
        let errors = String::from_utf8_lossy(&joined.stderr);
        assert!(began.elapsed() < PATIENCE, "{node} is not in world {world}: {errors}");
    }
}

/// Waits until the land office has seen that the sim with this corner runs.
fn shown_until(node: &str, corner: (i32, i32)) {
    let began = Instant::now();
    loop {
        let sites = squares_of(node).unwrap_or_default();
        let site = sites
            .iter()
            .find(|site| (&site["x"], &site["y"]) == (&corner.0.into(), &corner.1.into()));
        if site.is_some_and(|site| site["shown"].as_u64().is_some_and(|height| height > 0)) {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{corner:?}: {sites:?}");
    }
}

/// Returns the map of a node once it proves one.
fn map_until(node: &str) -> Value {
    let began = Instant::now();
    loop {
        if let Some(map) = map_of(node) {
            return map;
        }
        assert!(began.elapsed() < PATIENCE, "{node} proves no map");
    }
}

/// Waits until a stranger who knows one node of a world finds the sim at a point, at this server.
fn found_at(me: &str, world: &str, point: [&str; 2], plaza: &Plaza) {
    let asked = [point[0], point[1], "--data-dir", me, "--world", world];
    let here = plaza.servers[0].url.trim_end_matches('/');
    let found = find_until(&asked, |answer| {
        has_server(answer, &plaza.sim)
            && answer["servers"][0]["http"].as_str().is_some_and(|http| http.starts_with(here))
    });
    assert_eq!((&found["proven"], &found["owned"]), (&true.into(), &true.into()));
}

/// Carries a land office on in another directory, and runs it.
fn carry_on(office: &Path, later: &Path) -> Plaza {
    let (last, later_dir) = (text(&office.join("server-0")), text(later));
    let to = ["--name", "the office again", "--servers", "1", "--data-dir", &later_dir];
    json(&[&["sim", "succeed", &last, "--json"], &to[..]].concat());
    Plaza::start(later, 1)
}

/// Servers took the world from the genesis, and spoke in the old one until their sim was founded anew.
#[test]
fn servers_that_run_follow_the_successor_of_their_land_office_and_are_found_there() {
    let folder = Folder::new("office-succession");
    let [office, east, north] = ["office", "east", "north"].map(|name| folder.join(name));
    let old = words(&found(&office)["world"]).to_owned();
    let plaza = Plaza::start(&office, 1);
    let (url, sponsor) = (plaza.servers[0].url.clone(), text(&office.join("admin.key")));
    json(&claim_of(&text(&east), &url, "east", &sponsor));
    let at_east = Plaza::start(&east, 1);
    find_until(&["9", "3", "--node", &url], |answer| has_server(answer, &at_east.sim));
    // By the node of the east, which is a contact of the north from then on.
    let by_east = at_east.servers[0].url.as_str();
    json(&claim_of(&text(&north), by_east, "north", &sponsor));
    plaza.stop();

    let successor = carry_on(&office, &folder.join("later"));
    let (new, new_url) = (successor.sim.clone(), successor.servers[0].url.clone());
    let at_north = Plaza::start(&north, 1);
    // An id that is no office's, as one that was mistyped: the servers stay where they are.
    follow(&at_east, &"ab".repeat(32));
    let stays = json(&["world", "join", by_east, &text(&folder.join("before")), "--json"]);
    assert_eq!(stays["world"], *old);

    // The new office has another address, and somebody tells one server; others learn it from that one.
    follow(&at_east, &new);
    follow(&at_north, &new);
    let told = text(&east.join("server-0"));
    let unsure = run(&["world", "join", &new_url, &told]);
    ended(&unsure, 4, "name the id by --world");
    join_until(&new_url, &told, &new);
    let me = text(&folder.join("me"));
    join_until(by_east, &me, &new);
    join_until(&at_north.servers[0].url, &text(&folder.join("other")), &new);
    found_at(&me, &new, ["9", "3"], &at_east);
    found_at(&me, &new, ["3", "9"], &at_north);
    // The north never ran in the old world, so its first renewal is one in the new world.
    shown_until(&new_url, (0, 8));

    // The genesis of the east names the old world for ever, and the new office is its neighbour all the same.
    for (plaza, other) in [(&successor, &at_east.sim), (&at_east, &new)] {
        let (url, key) = (&plaza.servers[0].url, text(&plaza.dir.join("admin.key")));
        let opened = json(&["border", "open", other, "--json", "--node", url, "--key", &key]);
        assert_eq!((words(&opened["border"]), words(&opened["neighbour"])), ("open", &**other));
    }

    // Who starts anew is there at once, by its state and by what it kept.
    at_east.stop();
    let at_east = Plaza::start(&east, 1);
    found_at(&me, &new, ["9", "3"], &at_east);
    assert_eq!(map_until(&at_east.servers[0].url)["world"], *new);

    // Somebody there travels by the map of the new world, as the state of each sim proves that it is hers.
    let mut ada = Person::enter(&at_east.servers[0].url, &key(&folder, "ada"));
    ada.types("map");
    ada.sees("3 squares are granted, as far as is known here, and all is proved.");
    ada.types("go there 3 9");
    ada.sees("You are in");
    ada.types("map");
    ada.sees("3 squares are granted, as far as is known here, and all is proved.");
    ada.leaves();
    for plaza in [at_east, at_north, successor] {
        plaza.stop();
    }
}
