//! Worlds of several sims: founded, claimed, found, and what is left when their land office dies.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Output, Stdio},
    time::Instant,
};

use serde_json::Value;

use crate::{
    membership::{Follower, invite},
    plaza::{Folder, PATIENCE, PROGRAM, Person, Plaza, Running, interrupt, json, key, run},
};

pub(crate) fn text(path: &Path) -> String {
    path.display().to_string()
}

pub(crate) fn words(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Founds a world of one server in this directory.
pub(crate) fn found(dir: &Path) -> Value {
    json(&["world", "new", &text(dir), "--json", "--name", "the office"])
}

/// The arguments of a claim by way of this node, for which an admin of the land office vouches.
pub(crate) fn claim_of<'a>(
    dir: &'a str,
    node: &'a str,
    side: &'a str,
    sponsor: &'a str,
) -> Vec<&'a str> {
    vec!["world", "claim", dir, "--json", "--node", node, "--edge", side, "--sponsor", sponsor]
}

pub(crate) fn ended(output: &Output, code: i32, told: &str) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{errors}");
    assert!(errors.contains(told), "no `{told}` in: {errors}");
}

/// Asks who owns a point until the answer is like this.
pub(crate) fn find_until(arguments: &[&str], is_right: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let output = run(&[&["world", "find", "--json"], arguments].concat());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        if is_right(&answer) {
            return answer;
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(began.elapsed() < PATIENCE, "{arguments:?}: {answer} {errors}");
    }
}

/// Returns the map that a node proves now; nothing if it proves none, as one that just started.
pub(crate) fn map_of(node: &str) -> Option<Value> {
    let output = run(&["world", "map", "--json", "--node", node]);
    output.status.success().then(|| serde_json::from_slice(&output.stdout).expect("a map"))
}

/// Returns the squares that a node proves now; nothing if it proves no map.
pub(crate) fn squares_of(node: &str) -> Option<Vec<Value>> {
    map_of(node)?["sites"].as_array().cloned()
}

/// Asks a node for the map until it has these sims: it proves the parts that it lacks only when asked.
fn map_until(node: &str, sims: &[&str]) {
    let began = Instant::now();
    loop {
        let sites = squares_of(node).unwrap_or_default();
        let shown: Vec<&str> = sites.iter().map(|site| words(&site["sim"])).collect();
        if sims.iter().all(|sim| shown.contains(sim)) {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{sims:?}: {sites:?}");
    }
}

pub(crate) fn has_server(answer: &Value, sim: &str) -> bool {
    let servers = answer["servers"].as_array();
    answer["sim"] == sim && servers.is_some_and(|servers| !servers.is_empty())
}

/// A running `up --grid`.
pub(crate) struct Grid {
    process: Child,
    pub(crate) ready: Value,
}

impl Grid {
    /// Starts a grid.
    pub(crate) fn start(dir: &Path, size: &str) -> Self {
        Self::start_with(dir, size, &[])
    }

    /// Starts a grid with more arguments.
    pub(crate) fn start_with(dir: &Path, size: &str, more: &[&str]) -> Self {
        let mut process = Command::new(PROGRAM)
            .args(["up", "--json", "--servers", "1", "--http-port", "0", "--grid", size])
            .arg("--data-dir")
            .arg(dir)
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        let mut output = BufReader::new(process.stdout.take().expect("piped"));
        output.read_line(&mut line).expect("a line");
        Self { process, ready: serde_json::from_str(&line).expect("the ready line") }
    }

    /// Stops as Ctrl-C does, and waits for a clean end.
    pub(crate) fn stop(mut self) {
        interrupt(&self.process);
        assert!(self.process.wait().expect("it ends").success());
    }
}

impl Drop for Grid {
    fn drop(&mut self) {
        // What is over cannot be killed again.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Logs in at a sim and hears what is said there.
fn enter(url: &str, key: &str) {
    let mut person = Person::enter(url, key);
    person.types("say I came by the map");
    person.sees("I came by the map");
    person.leaves();
}

#[test]
fn sims_are_found_proved_and_entered_when_the_land_office_of_their_world_is_dead() {
    let folder = Folder::new("worlds");
    let [office, east, north] = ["office", "east", "north"].map(|name| folder.join(name));
    let world = found(&office);
    let world = words(&world["world"]).to_owned();
    let plaza = Plaza::start(&office, 1);
    assert_eq!(plaza.sim, world, "the land office is the world's first sim");
    let (url, sponsor) = (plaza.servers[0].url.clone(), text(&office.join("admin.key")));

    let mut sims = Vec::new();
    for (dir, side, square) in [(&east, "east", "8:0:256"), (&north, "north", "0:8:256")] {
        let claimed = json(&claim_of(&text(dir), &url, side, &sponsor));
        assert_eq!((words(&claimed["square"]), &claimed["world"]), (square, &Value::from(&*world)));
        sims.push(words(&claimed["sim"]).to_owned());
    }
    let [at_east, at_north] = [&east, &north].map(|dir| Plaza::start(dir, 1));
    assert_eq!([&at_east.sim, &at_north.sim], [&sims[0], &sims[1]]);

    // All three have met once each knows a server of the others.
    let urls = [&url, &at_east.servers[0].url, &at_north.servers[0].url];
    for node in urls {
        for (point, sim) in [(["3", "3"], &world), (["9", "3"], &sims[0]), (["3", "9"], &sims[1])] {
            let asked = [point[0], point[1], "--node", node];
            let found = find_until(&asked, |answer| has_server(answer, sim));
            assert_eq!(found["proven"], true);
        }
    }

    plaza.kill(0);
    drop(plaza);

    // Somebody comes who knows one address.
    let me = text(&folder.join("me"));
    let joined = json(&["world", "join", &at_east.servers[0].url, &me, "--json"]);
    assert_eq!(joined["world"], *world);
    let ada = key(&folder, "ada");
    for (point, sim) in [(["9", "3"], &sims[0]), (["3", "9"], &sims[1])] {
        let asked = [point[0], point[1], "--data-dir", &me, "--world", &world];
        let found = find_until(&asked, |answer| has_server(answer, sim));
        assert_eq!((&found["proven"], &found["owned"]), (&true.into(), &true.into()));
        enter(words(&found["servers"][0]["http"]), &ada);
    }
    // The land office is found and proved as well, and nobody claims land meanwhile.
    let asked = ["3", "3", "--data-dir", &me];
    find_until(&asked, |answer| answer["sim"] == *world && answer["proven"] == true);
    map_until(&at_north.servers[0].url, &[&world, &sims[0], &sims[1]]);
    let late = text(&folder.join("late"));
    let node = at_east.servers[0].url.as_str();
    let claim = run(&claim_of(&late, node, "west", &sponsor));
    assert_ne!(claim.status.code(), Some(0), "nobody grants land");
    at_east.stop();
    at_north.stop();

    // One of them starts anew, and nobody else is there: it proves with the last map, and so does who had one.
    let at_east = Plaza::start(&east, 1);
    let asked = ["3", "9", "--node", &at_east.servers[0].url];
    find_until(&asked, |answer| answer["sim"] == *sims[1] && answer["proven"] == true);
    let asked = ["9", "3", "--data-dir", &me];
    find_until(&asked, |answer| answer["sim"] == *sims[0] && answer["proven"] == true);
    at_east.stop();
}

#[test]
fn somebody_joins_by_an_invite_whose_first_node_is_dead_and_is_told_when_all_are() {
    let folder = Folder::new("invited");
    let [office, east] = ["office", "east"].map(|name| folder.join(name));
    let world = words(&found(&office)["world"]).to_owned();
    let plaza = Plaza::start(&office, 1);
    let (url, sponsor) = (plaza.servers[0].url.as_str(), text(&office.join("admin.key")));
    json(&claim_of(&text(&east), url, "east", &sponsor));
    let at_east = Plaza::start(&east, 1);
    let node = at_east.servers[0].url.clone();
    // It hears of the office, where the invite leads as well.
    find_until(&["3", "3", "--node", &node], |answer| has_server(answer, &world));
    let made = json(&["world", "invite", "--json", "--node", &node]);
    assert_eq!(made["world"], *world);
    let addresses: Vec<&str> =
        made["addresses"].as_array().expect("a list").iter().map(words).collect();
    assert_eq!(addresses.len(), 2, "{made}");
    assert!(addresses[0].starts_with(&*node) && addresses[1].starts_with(url), "{made}");
    let (invite, map_from) = (words(&made["invite"]), made["map_from"].as_u64().expect("a height"));
    let line = run(&["world", "invite", "--node", &node]);
    assert!(String::from_utf8_lossy(&line.stdout).starts_with("metatopia-world1"), "{line:?}");
    ended(&line, 0, "of use on this machine only");
    at_east.stop();

    let me = text(&folder.join("me"));
    let joined = json(&["world", "join", invite, &me, "--json"]);
    assert_eq!(joined["world"], *world);
    assert!(joined["map_from"].as_u64().is_some_and(|from| from >= map_from), "{joined}");
    let found = json(&["world", "find", "3", "3", "--json", "--invite", invite]);
    assert_eq!((&found["sim"], &found["known"]), (&Value::from(&*world), &true.into()));
    assert!(found["map"]["height"].as_u64().is_some_and(|height| height >= map_from), "{found}");
    let map = json(&["world", "map", "--json", "--invite", invite]);
    assert_eq!(map["sites"].as_array().map(Vec::len), Some(2), "{map}");
    let visit = ["world", "visit", "3", "3", "--invite", invite, "--key", &key(&folder, "ada")];
    ended(&run(&visit), 0, "going to square 0:0:256");

    let cut = &invite[..invite.len() - 1];
    ended(&run(&["world", "join", cut, &me]), 2, "a part of it is missing or was changed");
    let other = "ab".repeat(32);
    let asked = run(&["world", "find", "3", "3", "--invite", invite, "--world", &other]);
    ended(&asked, 5, &format!("the invite is to world {world}, not to {other}"));
    plaza.stop();
    let late = run(&["world", "join", invite, &text(&folder.join("late"))]);
    ended(&late, 7, "try again later, or ask for a new invite");
}

#[test]
fn who_loses_the_race_for_a_square_is_told_by_whom_and_goes_on_with_the_next() {
    let folder = Folder::new("claims");
    let office = folder.join("office");
    let world = words(&found(&office)["world"]).to_owned();
    let plaza = Plaza::start(&office, 1);
    let (url, sponsor) = (plaza.servers[0].url.clone(), text(&office.join("admin.key")));
    let small = ["--side", "128"];
    let dir = |name: &str| text(&folder.join(name));
    let claim = |dir: &str, more: &[&str]| {
        run(&[&claim_of(dir, &url, "east", &sponsor)[..], &small, more].concat())
    };
    let square = |output: &Output| {
        let errors = String::from_utf8_lossy(&output.stderr);
        let claimed: Value = serde_json::from_slice(&output.stdout).expect(&errors);
        (words(&claimed["square"]).to_owned(), words(&claimed["sim"]).to_owned())
    };

    // One makes a directory for the first square, and somebody else is faster.
    let [slow, fast] = ["slow", "fast"].map(dir);
    let asked = claim(&slow, &["--ask"]);
    assert!(String::from_utf8_lossy(&asked.stdout).contains(":8:0:128:"), "{asked:?}");
    let (first, winner) = square(&claim(&fast, &[]));
    assert_eq!(first, "8:0:128");
    let late = claim(&slow, &[]);
    ended(&late, 0, &format!("taken by {winner}"));
    assert_eq!(square(&late).0, "8:4:128");
    let only = claim(&dir("only"), &["--only"]);
    ended(&only, 4, &format!("taken by {winner}"));
    // A sim that has run keeps its genesis: without it nobody could read its turns.
    let ran = folder.join("only");
    Plaza::start(&ran, 1).stop();
    let genesis = || std::fs::read(ran.join("server-0").join("genesis")).expect("its genesis");
    let before = genesis();
    ended(&claim(&dir("only"), &[]), 4, "has run");
    assert!(before == genesis(), "the turns of that sim are of its genesis");

    // Without a word of anybody beside it nobody gets land; by a word that came as a text, one does.
    let (alone, node) = (dir("alone"), url.as_str());
    let bare = ["world", "claim", &alone, "--json", "--node", node, "--edge", "south"];
    ended(&run(&bare), 4, "vouches for the claim");
    let asked = json(&[&bare[..], &["--ask"]].concat());
    let vouched = json(&[
        "world",
        "vouch",
        "--json",
        "--key",
        &sponsor,
        "--world",
        &world,
        "--claim",
        words(&asked["claim"]),
    ]);
    let granted = json(&[&bare[..], &["--vouch", words(&vouched["vouch"])]].concat());
    assert_eq!(words(&granted["square"]), "0:-8:256");
    // The same claim again is no second square.
    let again = json(&[&bare[..], &["--vouch", words(&vouched["vouch"])]].concat());
    assert_eq!((&again["sim"], &again["square"]), (&granted["sim"], &granted["square"]));
    plaza.stop();
}

#[test]
fn somebody_in_words_reads_the_map_and_goes_to_another_sim_and_back() {
    let folder = Folder::new("journey");
    let grid = Grid::start(&folder.join("grid"), "2x1");
    let sims = grid.ready["sims"].as_array().expect("a list");
    let (west, east) = (words(&sims[0]["http"]), words(&sims[1]["http"]));
    let [west_sim, east_sim] = [0, 1].map(|n| words(&sims[n]["sim"]));
    // Each knows a server of the other, and by what name it goes.
    let mut names = Vec::new();
    for (node, sim) in [(west, east_sim), (east, west_sim)] {
        let began = Instant::now();
        names.push(loop {
            let sites = squares_of(node).unwrap_or_default();
            let site = sites.iter().find(|site| site["sim"] == *sim && site["met"] == true);
            if let Some(site) = site {
                break words(&site["label"]).to_owned();
            }
            assert!(began.elapsed() < PATIENCE, "{sites:?}");
        });
    }
    let mut bob = Person::enter(west, &key(&folder, "bob"));
    bob.types("look");
    bob.sees("what you see is proven");
    let ada = key(&folder, "ada");
    let shown = json(&["keys", "show", "--json", &ada]);
    let called = &words(&shown["public"])[..12];
    let mut ada = Person::enter(west, &ada);
    bob.sees(&format!("guest {called} comes into sight."));
    ada.types("map");
    let here = ada.sees("you are here.");
    assert!(here.contains(" at 0 0, 256 m wide,") && here.contains(&west_sim[..12]), "{here}");
    let there = ada.sees(&east_sim[..12]);
    assert!(there.contains(" at 8 0, 256 m wide,") && there.contains(", up"), "{there}");
    ada.sees("2 squares are granted, as far as is known here, and all is proved.");

    ada.types("go there 99 3");
    ada.sees("99 3 is nobody's: there is no sim.");
    ada.types("go there nowhere at all");
    ada.sees("No sim on the map is called nowhere at all.");
    ada.types("go there 3 3");
    ada.sees("You are there already.");

    ada.types("go there 9 3");
    // How far the map can be believed is told before she leaves.
    ada.sees("The map is ");
    ada.sees("Through one door: ");
    ada.sees(&format!("You are in {} now.", names[0]));
    ada.types("say I came by the map");
    ada.sees("I came by the map");
    ada.types("look");
    ada.sees("what you see is proven");
    // She has left the one before she is in the other.
    bob.sees(&format!("guest {called} is out of sight."));

    ada.types("map");
    let here = ada.sees("you are here.");
    assert!(here.contains(&east_sim[..12]), "{here}");
    ada.types(&format!("go there {}", &west_sim[..16]));
    ada.sees(&format!("You are in {} now.", names[1]));
    bob.sees(&format!("guest {called} comes into sight."));
    ada.leaves();
    bob.leaves();
    grid.stop();
}

#[test]
fn a_node_has_others_dial_it_back_and_says_from_how_far_it_is_reached() {
    let folder = Folder::new("reach");
    let grid = Grid::start(&folder.join("grid"), "2x1");
    let sims = grid.ready["sims"].as_array().expect("a list");
    let (west, east) = (words(&sims[0]["http"]), words(&sims[1]["sim"]));
    find_until(&["9", "3", "--node", west], |answer| has_server(answer, east));
    let began = Instant::now();
    let ports: Vec<Value> = loop {
        let output = run(&["net", "check", "--json", "--node", west]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.code() == Some(0) {
            break lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        }
        assert!(began.elapsed() < PATIENCE, "{lines} {errors}");
    };
    let what: Vec<&str> = ports.iter().map(|port| words(&port["what"])).collect();
    assert_eq!(what, ["overlay", "http", "servers"]);
    for port in &ports {
        assert_eq!((&port["reach"], &port["seen_from"]), (&"reached".into(), &"machine".into()));
        assert_eq!(port["observed"], serde_json::json!(["127.0.0.1"]), "{port}");
        assert!(words(&port["advice"]).contains("on this machine"), "{port}");
    }
    let again = run(&["net", "check", "--node", west]);
    ended(&again, 7, "asked just now");
    grid.stop();
}

#[test]
fn a_sim_that_lies_in_no_world_says_so_and_a_node_of_another_world_is_told_apart() {
    let folder = Folder::new("no-world");
    let plaza = Plaza::start(&folder.join("plaza"), 1);
    let url = plaza.servers[0].url.as_str();
    ended(&run(&["world", "find", "0", "0", "--node", url]), 3, "takes part in no world");
    ended(&run(&["world", "map", "--node", url]), 3, "takes part in no world");
    ended(&run(&["net", "check", "--node", url]), 3, "takes part in no world");
    let mut ada = Person::enter(url, &key(&folder, "ada"));
    for line in ["map", "go there 9 3", "go there garden"] {
        ada.types(line);
        ada.sees("This sim lies in no world of many sims");
    }
    ada.leaves();
    plaza.stop();

    let office = folder.join("office");
    found(&office);
    let plaza = Plaza::start(&office, 1);
    let (url, other) = (plaza.servers[0].url.as_str(), "ab".repeat(32));
    let asked = run(&["world", "find", "0", "0", "--node", url, "--world", &other]);
    ended(&asked, 5, "takes part in world");
    let nobody = run(&["world", "find", "500", "-500", "--node", url, "--json"]);
    let answer: Value = serde_json::from_slice(&nobody.stdout).expect("JSON");
    assert_eq!((nobody.status.code(), &answer["proven"]), (Some(3), &true.into()), "{answer}");
    plaza.stop();
}

/// Servers behind a NAT name a follower with a public address, and people come in by that one.
#[test]
fn a_follower_that_its_operator_names_is_found_by_the_map_and_people_enter_by_it() {
    let folder = Folder::new("follower-endpoint");
    let office = folder.join("office");
    let world = words(&found(&office)["world"]).to_owned();
    let mut plaza = Plaza::start(&office, 1);
    let follower = Follower::join(&folder.join("follower"), Some(&invite(&plaza, &[])));
    let follower_url = words(&follower.ready["http"]).trim_end_matches('/').to_owned();
    // Its server reads the file when it starts again.
    plaza.pause();
    let member = json(&["keys", "show", "--json", &key(&folder, "member")]);
    let line = format!("{} /ip4/192.0.2.7/tcp/8083 {follower_url}", words(&member["public"]));
    let listed = plaza.home(0).join("overlay");
    std::fs::write(listed.join("followers"), line).expect("a file");
    let server = Running(plaza.restart(0));
    let node = plaza.servers[0].url.clone();
    let found = find_until(&["3", "3", "--node", &node], |answer| {
        has_server(answer, &world) && answer["servers"].as_array().map(Vec::len) == Some(2)
    });
    let way = words(&found["servers"][1]["http"]);
    assert!(way.starts_with(&follower_url) && !node.starts_with(&follower_url), "{found}");
    enter(way, &key(&folder, "ada"));
    follower.stop();
    server.kill();
}

/// A land office that runs, with its admin's key, for stories about squares.
struct Office {
    folder: Folder,
    plaza: Plaza,
    url: String,
    sponsor: String,
}

impl Office {
    fn start(name: &str) -> Self {
        let folder = Folder::new(name);
        let office = folder.join("office");
        found(&office);
        let plaza = Plaza::start(&office, 1);
        let (url, sponsor) = (plaza.servers[0].url.clone(), text(&office.join("admin.key")));
        Self { folder, plaza, url, sponsor }
    }

    /// Claims the square on a side for a sim of this name. Returns the key file of its admin.
    fn claim(&self, name: &str, side: &str) -> String {
        let dir = text(&self.folder.join(name));
        json(&claim_of(&dir, &self.url, side, &self.sponsor));
        text(&self.folder.join(name).join("admin.key"))
    }

    fn order(&self, words: &[&str], key: &str) -> Output {
        run(&[&["world"], words, &["--json", "--node", &self.url, "--key", key]].concat())
    }

    /// Returns what a proved map says about the square with this corner, if the square is on it; nothing if
    /// no map is proved.
    fn on_map(&self, (x, y): (i32, i32), what: &str) -> Option<Option<String>> {
        let sites = squares_of(&self.url)?;
        let site = sites.iter().find(|site| (&site["x"], &site["y"]) == (&x.into(), &y.into()));
        Some(site.map(|site| words(&site[what]).to_owned()))
    }

    fn map_until(&self, square: (i32, i32), what: &str, right: Option<&str>) {
        let began = Instant::now();
        loop {
            let found = self.on_map(square, what);
            if found.as_ref().is_some_and(|found| found.as_deref() == right) {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{square:?}: {found:?}");
        }
    }
}

#[test]
fn a_square_is_given_released_and_taken_back() {
    let office = Office::start("land");
    let sponsor = office.sponsor.as_str();

    // A square whose sim never ran is taken back, by an admin only.
    let idle = office.claim("idle", "west");
    ended(&office.order(&["take-back", "-8:0:256"], &idle), 4, "only an admin");
    ended(&office.order(&["take-back", "-8:0:256"], sponsor), 0, "");
    ended(&office.order(&["take-back", "-8:0:256"], sponsor), 4, "metatopia world map");

    // A square is given to somebody who was there, and released by whoever has it then.
    let first = office.claim("south", "south");
    let bob = key(&office.folder, "bob");
    let public = json(&["keys", "show", "--json", &bob]);
    let to = words(&public["public"]);
    let give = ["give", "0:-8:256", "--to", to];
    ended(&office.order(&give, &first), 4, "metatopia world visit");
    enter(&office.url, &bob);
    ended(&office.order(&give, &bob), 4, "use the key file of its holder");
    ended(&office.order(&give, &first), 0, "");
    office.map_until((0, -8), "holder", Some(to));
    ended(&office.order(&["release", "0:-8:256"], &first), 4, "use the key file of its holder");
    ended(&office.order(&["release", "0:-8:256"], &bob), 0, "");
    office.map_until((0, -8), "holder", None);

    // An admin who stood in the land office was thrown out by her own order.
    let mut ada = Person::enter_as("Ada", &office.url, &office.sponsor);
    ada.types("look");
    ada.sees("what you see is proven");
    let mut bob = Person::enter(&office.url, &bob);
    bob.types("look");
    bob.sees("what you see is proven");
    ended(&office.order(&["take-back", "0:-8:256"], &office.sponsor), 4, "metatopia world map");
    bob.types("say is anybody here?");
    bob.sees("is anybody here?");
    bob.types("who");
    bob.sees("Ada (key ");
    bob.leaves();
    drop(ada);
    office.plaza.stop();
}

#[test]
fn a_successor_takes_over_the_square_of_the_sim_that_it_carries_on() {
    let office = Office::start("square-succession");
    let owner = office.claim("east", "east");
    let (east, later) = (office.folder.join("east"), office.folder.join("later"));
    let run_once = Plaza::start(&east, 1);
    let old = run_once.sim.clone();
    office.map_until((8, 0), "sim", Some(&old));
    run_once.stop();
    ended(&office.order(&["beacons", "8:0:256", "--of", &text(&east)], &owner), 0, "");
    let (server, later_dir) = (text(&east.join("server-0")), text(&later));
    let to = ["--name", "east again", "--servers", "1", "--data-dir", &later_dir];
    json(&[&["sim", "succeed", &server, "--json"], &to[..]].concat());
    let pass_on = ["succession", "8:0:256", "--to", &later_dir];
    let stranger = office.sponsor.as_str();
    ended(&office.order(&pass_on, stranger), 4, "use the key file of its holder");
    ended(&office.order(&pass_on, &owner), 0, "");
    let successor = Plaza::start(&later, 1);
    assert_ne!(successor.sim, old);
    office.map_until((8, 0), "sim", Some(&successor.sim));
    let asked = ["9", "3", "--node", &office.url];
    find_until(&asked, |answer| has_server(answer, &successor.sim));
    successor.stop();
    office.plaza.stop();
}
