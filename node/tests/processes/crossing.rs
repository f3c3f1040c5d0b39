//! Borders between sims: opened, heard over, walked over, and walls when nobody is there.

use std::{fs, path::Path, time::Instant};

use serde_json::Value;

use crate::{
    plaza::{Folder, PATIENCE, Person, Plaza, json, key, run},
    worlds::{Grid, claim_of, ended, text, words},
};

/// Writes a place whose people begin 6 m before the eastern edge of a square of 256 m.
fn place_by_the_line(dir: &Path) -> String {
    fs::create_dir_all(dir).expect("a new folder");
    let place = "name = \"yard\"\nlicence = \"AGPL-3.0-or-later\"\n\
        asset_licence = \"CC-BY-SA-4.0\"\nspawn = [122, 0]\nspawn_radius = 1\n";
    fs::write(dir.join("place.toml"), place).expect("a new file");
    text(dir)
}

/// Returns the borders that a node lists.
pub(crate) fn borders(node: &str) -> Vec<Value> {
    let output = run(&["border", "list", "--json", "--node", node]);
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Waits until the only border of a node's sim is like this.
pub(crate) fn border_until(node: &str, is_right: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let found = borders(node);
        if let [only] = &found[..]
            && is_right(only)
        {
            return only.clone();
        }
        assert!(began.elapsed() < PATIENCE, "{node} lists {found:?}");
    }
}

pub(crate) fn is_open(border: &Value) -> bool {
    border["open"] == true && border["heard"].as_u64().is_some_and(|heard| heard > 0)
}

pub(crate) fn is_wall(border: &Value, why: &str) -> bool {
    border["wall"].as_str().is_some_and(|wall| wall.contains(why))
}

/// Returns how many people a sim has, as its server says.
fn players(node: &str) -> u64 {
    let status = json(&["status", "--json", "--node", node]);
    status["players"].as_u64().expect("a number")
}

/// Waits until sims have so many people, and returns that.
fn people_until<const N: usize>(nodes: [&str; N], are: impl Fn([u64; N]) -> bool) -> [u64; N] {
    let began = Instant::now();
    loop {
        let found = nodes.map(players);
        if are(found) {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "there are {found:?} people");
    }
}

#[test]
fn sims_of_a_grid_hear_of_each_other_and_a_border_that_is_closed_is_a_wall() {
    let folder = Folder::new("borders");
    let (dir, place) = (folder.join("grid"), place_by_the_line(&folder.join("place")));
    let grid = Grid::start_with(&dir, "2x1", &["--place", &place]);
    let sims = grid.ready["sims"].as_array().expect("a list");
    let [west, east] = [0, 1].map(|n| words(&sims[n]["http"]).to_owned());
    let at_east = words(&sims[1]["sim"]).to_owned();

    let seen = border_until(&west, is_open);
    assert_eq!((&seen["neighbour"], &seen["square"]), (&sims[1]["sim"], &sims[1]["square"]));
    border_until(&east, is_open);
    // What a neighbour says is news of it again and again.
    let heard = |border: &Value| border["heard"].as_u64().expect("a height");
    let first = heard(&border_until(&west, is_open));
    border_until(&west, |border| heard(border) > first);
    // Before its second word the neighbour was asked where its servers are.
    let announced = dir.join("sim-0-0").join("server-0").join("neighbours.announced");
    let announced = fs::read_to_string(announced).expect("the file of what neighbours announced");
    let origin = east.split("/w/").next().expect("an address");
    assert_eq!(announced.trim(), format!("{at_east} {origin}/"));

    let admin = text(&dir.join("sim-0-0").join("admin.key"));
    let dry = |verb: &str, sim: &str| {
        run(&["border", verb, sim, "--node", &west, "--key", &admin, "--dry-run"])
    };
    for (verb, would) in [("close", "make the border to sim"), ("open", "open the border to ")] {
        let tried = dry(verb, &at_east);
        let told = String::from_utf8_lossy(&tried.stdout).into_owned();
        assert!(
            tried.status.success() && told.starts_with(&format!("would: {would}")),
            "{tried:?}"
        );
    }
    ended(&dry("sever", &at_east), 4, "refused");
    ended(&dry("close", &"ab".repeat(32)), 4, "refused");
    assert!(is_open(&border_until(&west, |_| true)), "nothing was done");

    let closed = json(&["border", "close", &at_east, "--json", "--node", &west, "--key", &admin]);
    assert_eq!((&closed["border"], &closed["neighbour"]), (&"closed".into(), &sims[1]["sim"]));
    border_until(&west, |border| !is_open(border));
    border_until(&east, |border| !is_open(border));
    // A stranger changes nothing, and a sim that was never a neighbour has no border.
    let stranger = key(&folder, "stranger");
    let by_stranger = run(&["border", "close", &at_east, "--node", &west, "--key", &stranger]);
    ended(&by_stranger, 4, "refused");
    let nobody = "ab".repeat(32);
    ended(&run(&["border", "close", &nobody, "--node", &west, "--key", &admin]), 4, "refused");
    ended(&run(&["border", "open", &nobody, "--node", &west, "--key", &admin]), 3, "--at");
    grid.stop();
}

/// After each order the avatar of its admin stood at the arrivals until her lease was over. Of two orders
/// the second one found the avatar of the first, and took it for one that had been there before.
#[test]
fn who_opens_and_closes_borders_leaves_no_avatar_behind() {
    let folder = Folder::new("no-avatar");
    let (dir, place) = (folder.join("grid"), place_by_the_line(&folder.join("place")));
    // A day: nobody goes by herself while this is tested.
    lead_place(&place, "lease_ticks = 5184000");
    let grid = Grid::start_with(&dir, "3x1", &["--place", &place]);
    let sims = grid.ready["sims"].as_array().expect("a list");
    let nodes = [0, 1, 2].map(|n| words(&sims[n]["http"]).to_owned());
    assert_eq!(borders(&nodes[1]).len(), 2, "the admin in the middle opened two");
    people_until(nodes.each_ref().map(String::as_str), |found| found == [0; 3]);

    let admin = text(&dir.join("sim-1-0").join("admin.key"));
    let east = words(&sims[2]["sim"]);
    let closed = json(&["border", "close", east, "--json", "--node", &nodes[1], "--key", &admin]);
    assert_eq!(closed["border"], "closed");
    people_until([&nodes[1]], |found| found == [0]);
    grid.stop();
}

/// Puts a line before all others of a place.
fn lead_place(place: &str, line: &str) {
    let file = Path::new(place).join("place.toml");
    let rest = fs::read_to_string(&file).expect("a place");
    fs::write(&file, format!("{line}\n{rest}")).expect("a place");
}

/// Starts two sims side by side whose people begin near the open border; returns the nodes, west first.
fn side_by_side(folder: &Folder) -> (Grid, [String; 2]) {
    side_by_side_on(folder, "basic")
}

/// Starts what [`side_by_side`] starts, on this tier of physics.
fn side_by_side_on(folder: &Folder, tier: &str) -> (Grid, [String; 2]) {
    let (dir, place) = (folder.join("grid"), place_by_the_line(&folder.join("place")));
    lead_place(&place, &format!("tier = \"{tier}\""));
    let grid = Grid::start_with(&dir, "2x1", &["--place", &place]);
    let sims = grid.ready["sims"].as_array().expect("a list");
    let nodes = [0, 1].map(|n| words(&sims[n]["http"]).to_owned());
    for node in &nodes {
        border_until(node, is_open);
    }
    (grid, nodes)
}

#[test]
fn a_person_walks_over_the_border_and_back_and_is_in_one_sim_at_a_time() {
    let folder = Folder::new("crossing");
    let (grid, [west, east]) = side_by_side(&folder);

    // Who claimed the other square may still stand about. Nobody of the eastern sim does.
    let [before, _] = people_until([&west, &east], |[_, at_east]| at_east == 0);
    let in_one = |here: u64, there: u64| move |found| found == [before + here, there];
    let mut person = Person::enter(&west, &key(&folder, "ada"));
    person.types("look");
    person.sees("You stand at");
    people_until([&west, &east], in_one(1, 0));
    person.types("go east 12");
    person.sees("You walked into sim-1-0");
    person.sees("You walk");
    people_until([&west, &east], in_one(0, 1));
    person.types("say is anybody here");
    person.sees("You say: is anybody here");
    person.types("go west 12");
    person.sees("You walked into land office");
    person.sees("You walk");
    people_until([&west, &east], in_one(1, 0));
    person.types("look");
    person.sees("what you see is proven");
    person.leaves();
    for node in [&west, &east] {
        border_until(node, |border| border["under_way"] == 0);
    }
    let sims: Vec<String> = [0, 1].map(|n| words(&grid.ready["sims"][n]["sim"]).to_owned()).into();
    grid.stop();

    // The logs of both sims tell of both walks, and neither claims what the other does not know.
    let [west, east] = ["sim-0-0", "sim-1-0"].map(|sim| text(&folder.join("grid").join(sim)));
    let verified = run(&["log", "verify", &west, &east, "--json"]);
    assert_eq!(verified.status.code(), Some(0), "{verified:?}");
    let lines = String::from_utf8_lossy(&verified.stdout).into_owned();
    let border: Value = serde_json::from_str(lines.lines().last().expect("a line")).expect("JSON");
    let whence = sims.iter().position(|sim| border["border"][0] == **sim).expect("one of the two");
    let [there, back] = if whence == 0 { ["there", "back"] } else { ["back", "there"] };
    for direction in [there, back] {
        let count = &border[direction];
        assert_eq!((&count["departed"], &count["taken"]), (&1.into(), &1.into()), "{border}");
        assert!(count["heard"].as_u64().is_some_and(|heard| heard > 1), "{border}");
    }
    for sim in [0, 1] {
        let busy = border["heard_bytes_a_second"][sim]["busy"].as_u64();
        assert!(busy.is_some_and(|bytes| (1_000..60_000).contains(&bytes)), "{border}");
    }
}

/// People were in the other sim before they were told its house rules.
#[test]
fn who_has_not_agreed_to_house_rules_beyond_a_line_reads_them_there_and_goes_once_she_does() {
    let folder = Folder::new("rules-crossing");
    let (grid, [west, east]) = side_by_side(&folder);
    let (words, admin) = (folder.join("rules.txt"), folder.join("grid/sim-1-0/admin.key"));
    fs::write(&words, "Wipe your feet.").expect("the words");
    let order = |words: &Path| {
        let (words, admin) = (text(words), text(&admin));
        json(&["admin", "house-rules", &words, "--node", &east, "--key", &admin, "--json"])
    };
    order(&words);
    let enter = |name| Person::enter_keeping(&folder.join("state"), &west, &key(&folder, name));
    let mut person = enter("ada");
    person.types("go east 12");
    person.sees("House rules: Wipe your feet.");
    person.sees("To agree and go there, type `agree`");
    person.sees("The border is a wall: you have not agreed to the house rules of sim-1-0.");
    assert!(!person.has_seen("You walked into"));
    person.types("agree");
    person.sees("You agree to them.");
    person.types("go east 12");
    person.sees("You walked into sim-1-0");
    person.sees("You walk");
    person.types("agree");
    person.sees("You were told no house rules");
    // Half a metre beyond the line she departs.
    person.types("go west 14");
    person.sees("You walked into land office");
    person.sees("You walk");
    person.leaves();

    // Other words are others, also where somebody agreed to those before. Ada has a pass for some seconds yet.
    fs::write(&words, "Shut the door.").expect("the words");
    order(&words);
    let mut person = enter("bob");
    person.types("go east 12");
    person.sees("House rules: Shut the door.");
    person.sees("The border is a wall: you have not agreed to the house rules of sim-1-0.");
    person.leaves();
    grid.stop();
}

/// Sims at public addresses ask new keys for work, so nobody walked from one into another who had not logged in
/// there before.
#[test]
fn a_person_whose_key_is_new_over_there_does_the_work_on_her_way_and_walks_over() {
    let folder = Folder::new("newcomer-crossing");
    let (dir, place) = (folder.join("grid"), place_by_the_line(&folder.join("place")));
    let rule = ["--first-login", "work", "--first-login-tries", "2000"];
    let grid = Grid::start_with(&dir, "2x1", &[&["--place", &place][..], &rule].concat());
    let sims = grid.ready["sims"].as_array().expect("a list");
    let [west, east] = [0, 1].map(|n| words(&sims[n]["http"]).to_owned());
    for node in [&west, &east] {
        border_until(node, is_open);
    }
    people_until([&west, &east], |[_, at_east]| at_east == 0);
    let admin = text(&dir.join("sim-1-0").join("admin.key"));
    let again = ["admin", "set", "first_login", "work", "--node", &east, "--key", &admin];
    ended(&run(&again), 4, "already");

    let mut person = Person::enter(&west, &key(&folder, "ada"));
    person.types("look");
    person.sees("You stand at");
    person.types("go east 12");
    person.sees("You walked into sim-1-0");
    people_until([&west, &east], |[_, at_east]| at_east == 1);
    person.leaves();
    grid.stop();
}

#[test]
fn the_border_to_a_neighbour_that_was_killed_is_a_wall_that_says_why() {
    let folder = Folder::new("walls");
    let place = place_by_the_line(&folder.join("place"));
    let [office, garden] = ["office", "garden"].map(|name| folder.join(name));
    json(&["world", "new", &text(&office), "--json", "--place", &place]);
    let west = Plaza::start(&office, 1);
    let (url, sponsor) = (west.servers[0].url.clone(), text(&office.join("admin.key")));
    let dir = text(&garden);
    json(&[&claim_of(&dir, &url, "east", &sponsor)[..], &["--place", &place]].concat());
    let east = Plaza::start(&garden, 1);
    let there = east.servers[0].url.clone();
    let admin = text(&garden.join("admin.key"));
    let open = |sim: &str, at: &str, node: &str, key: &str, dir: &str| {
        let place = ["--at", at, "--node", node, "--key", key, "--data-dir", dir];
        json(&[&["border", "open", sim, "--json"][..], &place].concat())
    };
    open(&east.sim, &there, &url, &sponsor, &text(&office));
    border_until(&url, |border| !is_open(border));
    open(&west.sim, &url, &there, &admin, &dir);
    border_until(&url, is_open);
    border_until(&there, is_open);

    east.kill(0);
    border_until(&url, |border| is_wall(border, "heard"));
    let mut person = Person::enter(&url, &key(&folder, "ada"));
    person.types("go east 12");
    person.sees("The border is a wall: ");
    person.types("look");
    person.sees("You stand at");
    person.leaves();
    drop(east);
    west.stop();
}

/// Has somebody enter near the line who builds a ball that may leave over it.
fn enter_with_a_ball(node: &str, folder: &Folder) -> Person {
    let mut person = Person::enter(node, &key(folder, "ada"));
    person.types("look");
    person.sees("You stand at");
    person.types("build ball");
    person.sees("You build ball");
    person.types("let it travel");
    person.sees("may leave over a border now");
    person
}

#[test]
fn a_person_goes_through_a_portal_with_a_ball_in_hand_and_comes_back() {
    let folder = Folder::new("portal");
    let (dir, place) = (folder.join("grid"), place_by_the_line(&folder.join("place")));
    let grid = Grid::start_with(&dir, "3x1", &["--place", &place]);
    let sims = grid.ready["sims"].as_array().expect("a list");
    let ends = [0, 2].map(|n| {
        let (sim, node) = (words(&sims[n]["sim"]).to_owned(), words(&sims[n]["http"]).to_owned());
        (sim, node, text(&dir.join(format!("sim-{n}-0")).join("admin.key")))
    });
    let open = |from: usize, to: usize, portal: &[&str]| {
        let ((_, node, admin), (sim, there, _)) = (&ends[from], &ends[to]);
        let order = ["border", "open", sim, "--at", there, "--node", node, "--key", admin];
        run(&[&order[..], portal].concat())
    };
    ended(&open(0, 1, &[]), 4, "--portal EAST NORTH");
    ended(&open(0, 1, &["--portal", "127", "0"]), 4, "at least 4 m from every edge");
    let opened = [open(0, 1, &["--portal", "116", "0"]), open(1, 0, &["--portal", "112", "8"])];
    assert!(opened.iter().all(|output| output.status.success()), "{opened:?}");
    // The other border of the first sim is the line to its eastern neighbour.
    let portal = |node: &str| borders(node).into_iter().find(|border| border["portal"].is_string());
    let began = Instant::now();
    let seen = loop {
        match portal(&ends[0].1) {
            Some(border) if is_open(&border) => break border,
            other => assert!(began.elapsed() < PATIENCE, "{other:?}"),
        }
    };
    assert_eq!((&seen["portal"], &seen["portal_there"]), (&"116 0".into(), &"112 8".into()));

    let mut person = enter_with_a_ball(&ends[0].1, &folder);
    person.types("take it");
    person.sees("You take ball");
    for name in ["sim-2-0", "land office"] {
        person.types("look");
        person.sees("A portal, ");
        person.types("go portal");
        person.sees(&format!("You walked into {name}"));
        person.types("look");
        person.sees("You hold ball.");
    }
    person.leaves();
    grid.stop();
}

#[test]
fn a_ball_that_is_pushed_over_the_border_lies_in_the_other_sim() {
    let folder = Folder::new("ball");
    let (grid, nodes) = side_by_side(&folder);
    pushes_a_ball_over(&folder, &nodes);
    grid.stop();
}

#[test]
fn a_ball_crosses_between_sims_of_the_advanced_tier() {
    let folder = Folder::new("advanced-ball");
    let (grid, nodes) = side_by_side_on(&folder, "advanced");
    pushes_a_ball_over(&folder, &nodes);
    grid.stop();
}

/// Has somebody push a ball over the line, walk after it, and find it there.
fn pushes_a_ball_over(folder: &Folder, [west, east]: &[String; 2]) {
    let mut person = enter_with_a_ball(west, folder);
    // The line is some 5 m away, and a push sends the ball some 3 m, away from the person: how many
    // pushes it takes hangs on the side from which she pushes, so on where she appeared. A ball that
    // rolls away from her while she walks to it is pushed with the next try.
    let gone = (0..12).any(|_| {
        person.types("push ball");
        let told = person.sees("ball");
        assert!(told.contains("You push ball") || told.contains("You stop on your way"), "{told}");
        // Also of a ball that is gone before it was seen to roll.
        assert!(!told.contains("out of sight"), "{told}");
        told.contains("over the line to sim-1-0")
    });
    assert!(gone, "twelve pushes do not send the ball over the line");
    person.types("go east 12");
    person.sees("You walked into sim-1-0");
    person.sees("You walk");
    person.types("look");
    person.sees("ball");
    person.types("look at ball");
    let told = person.sees("It is object");
    let number = told.split_once("object ").expect("a number").1;
    let number = number.split_once(',').expect("more is told").0.to_owned();
    // It is hers, and yet she orders nothing about borders.
    person.types("send home ball");
    person.sees("only an admin");
    person.leaves();
    let at_west = words(&border_until(east, is_open)["neighbour"]).to_owned();
    let admin = text(&folder.join("grid/sim-1-0/admin.key"));
    let send = ["border", "send-home", &at_west, &number, "--node", east, "--key", &admin];
    let would = run(&[&send[..], &["--dry-run"]].concat());
    assert!(would.status.success(), "{would:?}");
    let sent = run(&send);
    let told = String::from_utf8_lossy(&sent.stdout).into_owned();
    assert!(told.starts_with(&format!("thing {number} departs to sim {at_west}")), "{sent:?}");
    // It is there no more.
    ended(&run(&send), 4, "refused");
    for node in [west, east] {
        border_until(node, |border| border["under_way"] == 0);
    }
    let mut person = Person::enter(west, &text(&folder.join("grid/sim-0-0/admin.key")));
    person.types("look");
    person.sees("You stand at");
    person.types("look at ball");
    person.sees("can be pushed");
    person.leaves();
}

#[test]
fn what_a_person_carries_is_in_her_hands_over_there_and_what_may_not_travel_stays_at_the_line() {
    let folder = Folder::new("hands");
    let (grid, [west, _]) = side_by_side(&folder);
    let mut person = enter_with_a_ball(&west, &folder);
    person.types("take it");
    person.sees("You take ball");
    person.types("build crate");
    person.sees("You build crate");
    person.types("take crate");
    person.sees("You take crate");
    person.types("move crate east 1");
    person.sees("somebody has it in hand");
    person.types("hands");
    person.sees("2 of 4 things in hand");
    person.types("go east 12");
    person.sees("You walked into sim-1-0");
    person.sees("crate did not come along");
    person.sees("You walk");
    person.types("look");
    person.sees("You hold ball.");
    person.types("put ball down");
    person.sees("You put ball down");
    person.types("hands");
    person.sees("0 of 4 things in hand");
    person.leaves();
    grid.stop();
}
