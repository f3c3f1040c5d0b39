//! Servers that come and go: followers by invite, promotion, removal, with real processes.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::plaza::{Folder, PATIENCE, PROGRAM, Plaza, Running, interrupt, json, key, run};

/// A node that follows.
pub(crate) struct Follower {
    process: Child,
    url: String,
    key: String,
    /// What it said when it followed.
    pub(crate) ready: Value,
}

impl Follower {
    /// Starts a node; without an invite on what is in its directory.
    fn spawn(dir: &Path, invite: Option<&str>) -> Child {
        Command::new(PROGRAM)
            .args(["node", "join", "--json", "--until-stdin-ends"])
            .args(invite)
            .arg("--data-dir")
            .arg(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the program starts")
    }

    /// Waits until it says that it follows.
    fn until_ready(mut process: Child) -> Self {
        let mut line = String::new();
        let mut output = BufReader::new(process.stdout.take().expect("piped"));
        output.read_line(&mut line).expect("a line");
        let ready: Value = serde_json::from_str(&line).expect("the ready line");
        assert_eq!(ready["ready"], true);
        let text = |name: &str| ready[name].as_str().expect("a text").to_owned();
        Self { process, url: text("http"), key: text("server"), ready }
    }

    pub(crate) fn join(dir: &Path, invite: Option<&str>) -> Self {
        Self::until_ready(Self::spawn(dir, invite))
    }

    fn status(&self) -> Value {
        json(&["status", "--json", "--node", &self.url])
    }

    fn reach(&self, height: u64) {
        let began = Instant::now();
        while self.status()["root_height"].as_u64() < Some(height) {
            assert!(began.elapsed() < PATIENCE, "the follower does not reach {height}");
        }
    }

    fn root(&self, height: u64) -> String {
        let at = height.to_string();
        let status = json(&["status", "--json", "--node", &self.url, "--at", &at]);
        status["root"].as_str().expect("a root").to_owned()
    }

    pub(crate) fn stop(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().expect("it ends").success());
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

pub(crate) fn invite(plaza: &Plaza, more: &[&str]) -> String {
    let dir = plaza.dir.display().to_string();
    let made = json(&[&["invite", "create", "--json", "--data-dir", &dir], more].concat());
    assert_eq!(made["valid"], true);
    let text = made["invite"].as_str().expect("a text").to_owned();
    assert!(text.len() <= 200, "{} characters: {text}", text.len());
    text
}

/// An invite that asks no server for the rest of it.
pub(crate) fn whole_invite(plaza: &Plaza) -> String {
    let dir = plaza.dir.display().to_string();
    let made = json(&["invite", "create", "--json", "--data-dir", &dir]);
    made["whole"].as_str().expect("a text").to_owned()
}

/// A command that is refused, in these words.
pub(crate) fn refused(arguments: &[&str], code: i32, words: &str) {
    let output = run(arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
    assert!(told.contains(words), "`{told}` does not say {words}");
}

#[test]
fn a_follower_joins_by_an_invite_serves_people_and_goes_on_after_a_kill() {
    let folder = Folder::new("follower");
    let plaza = Plaza::start(&folder.join("world"), 4);
    // Old enough for a state to be fetched.
    for height in [300, 610] {
        plaza.reach(0, height);
    }
    let text = invite(&plaza, &[]);
    let dir = folder.join("follower");

    let began = Instant::now();
    let follower = Follower::join(&dir, Some(&text));
    println!("following after {:?}: {}", began.elapsed(), follower.ready);
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(follower.ready["sim"], plaza.sim);
    assert_eq!(follower.ready["servers"], 4);
    assert!(follower.ready["snapshot_height"].as_u64() >= Some(600), "{}", follower.ready);

    // It serves people: what is said to it is decided by the servers and proved.
    let ada = key(&folder, "ada");
    let said = json(&["say", "from afar", "--json", "--node", &follower.url, "--key", &ada]);
    assert_eq!(said["outcome"], "ok");
    let height = said["height"].as_u64().expect("a height");
    follower.reach(height);
    plaza.reach(1, height);
    assert_eq!(vec![follower.root(height)], plaza.roots(&[1], height));
    let status = follower.status();
    assert_eq!((&status["voting"], &status["waiting_for"]), (&Value::Bool(false), &Value::Null));
    assert_eq!(status["validators"].as_array().map(Vec::len), Some(4));

    // Ended like by a power cut, it goes on with what it has, and is not counted again.
    let pid = follower.process.id().to_string();
    assert!(Command::new("kill").args(["-9", &pid]).status().expect("kill runs").success());
    drop(follower);
    // What its operator sets meanwhile is not written over.
    let config = dir.join("metatopia.toml");
    let written = fs::read_to_string(&config).expect("its configuration");
    fs::write(&config, format!("archive = true\n{written}")).expect("our own file");
    let follower = Follower::join(&dir, None);
    assert!(follower.ready["snapshot_height"].is_null(), "{}", follower.ready);
    let set = metatopia::config::read(&config).expect("its configuration");
    assert_eq!(set.archive, Some(true));
    let height = plaza.height(0);
    follower.reach(height);
    assert_eq!(vec![follower.root(height)], plaza.roots(&[0], height));

    let other = folder.join("other").display().to_string();
    refused(&["node", "join", &text, "--data-dir", &other], 4, "used 1 times");
    follower.stop();
    plaza.stop();
}

/// Returns with how many servers a follower says that it is connected.
fn connected(follower: &Follower) -> Option<u64> {
    follower.status()["follows"]["connected"].as_u64()
}

#[test]
fn a_follower_is_let_in_later_by_servers_that_were_down_and_outlives_the_one_that_was_up() {
    let folder = Folder::new("let-in-later");
    let mut plaza = Plaza::start(&folder.join("world"), 4);
    plaza.knows_endpoints(0, 4);
    let text = invite(&plaza, &[]);
    plaza.pause();
    let first = Running(plaza.restart(0));
    let ask = ["status", "--json", "--node", &plaza.servers[0].url];
    let began = Instant::now();
    // Alone it is stalled, which the exit code says.
    while serde_json::from_slice::<Value>(&run(&ask).stdout).is_err() {
        assert!(began.elapsed() < PATIENCE, "server 0 does not come back");
    }
    let dir = folder.join("follower");
    let joining = Follower::spawn(&dir, Some(&text));
    let (began, config) = (Instant::now(), dir.join("metatopia.toml"));
    while !config.exists() {
        assert!(began.elapsed() < PATIENCE, "nobody lets it in");
        thread::yield_now();
    }
    let _others: Vec<Running> = (1..4).map(|index| Running(plaza.restart(index))).collect();
    let follower = Follower::until_ready(joining);
    assert_eq!(follower.ready["servers"], 1, "the others were down");
    // It holds a right to join, and is for nobody else.
    let kept = fs::metadata(dir.join("invite")).expect("it is kept");
    assert_eq!(kept.permissions().mode() & 0o777, 0o600);

    let began = Instant::now();
    while connected(&follower) != Some(4) {
        assert!(began.elapsed() < PATIENCE, "not let in: {}", follower.status());
    }
    println!("all four let it in {:?} after it was ready", began.elapsed());
    first.kill();
    let height = plaza.height(1) + 20;
    follower.reach(height);
    plaza.reach(1, height);
    assert_eq!(vec![follower.root(height)], plaza.roots(&[1], height));
    assert_eq!(connected(&follower), Some(3));
    follower.stop();
}

#[test]
fn what_is_no_invite_is_refused_before_anything_is_asked_or_written() {
    let folder = Folder::new("no-invite");
    let plaza = Plaza::start(&folder.join("world"), 1);
    let dir = folder.join("follower").display().to_string();
    let text = invite(&plaza, &[]);
    refused(&["node", "join", "welcome!", "--data-dir", &dir], 2, "no invite");
    refused(&["node", "join", "--data-dir", &dir], 2, "no invite is given");
    refused(&["invite", "show", &text[..60]], 2, "missing");
    // Another secret uncovers something else, and another hash is nobody's.
    let other = |at: usize| {
        let digit = if &text[at..=at] == "0" { "1" } else { "0" };
        format!("{}{digit}{}", &text[..at], &text[at + 1..])
    };
    let (secret, hash) = ("metatopia2/".len(), "metatopia2/".len() + 32);
    refused(
        &["node", "join", &other(secret), "--data-dir", &dir],
        5,
        "does not have the hash of this one",
    );
    refused(&["node", "join", &other(hash), "--data-dir", &dir], 4, "no such invite");
    let short = invite(&plaza, &["--expires", "1ms"]);
    refused(&["node", "join", &short, "--data-dir", &dir], 4, "expired");
    let mallory = key(&folder, "mallory");
    let url = plaza.servers[0].url.clone();
    let made = ["invite", "create", "--json", "--node", &url, "--key", &mallory];
    refused(&made, 4, "no server would let anybody in by an invite of key");
    assert_eq!(json(&["invite", "show", "--json", &text])["grant"], "follow");
    plaza.stop();
    refused(&["node", "join", &text, "--data-dir", &dir], 7, "reached");
}

#[test]
fn a_standby_in_reserve_takes_the_place_of_a_server_that_is_gone() {
    let folder = Folder::new("reserve");
    let plaza = Plaza::start(&folder.join("world"), 4);
    plaza.reach(0, 10);
    let text = invite(&plaza, &["--grant", "stand-by"]);
    let reserve = Follower::join(&folder.join("reserve"), Some(&text));
    let admin = plaza.dir.join("admin.key").display().to_string();
    let url = plaza.servers[0].url.clone();
    let named = json(&[
        "admin",
        "promote",
        &reserve.key,
        "--reserve",
        "--json",
        "--node",
        &url,
        "--key",
        &admin,
    ]);
    assert_eq!((&named["change"], &named["in_force"]), (&"reserve".into(), &false.into()));
    plaza.reach(0, plaza.height(0) + 100);
    assert_eq!(reserve.status()["voting"], false, "everybody is there");

    plaza.kill(3);
    let began = Instant::now();
    while reserve.status()["voting"] != true {
        assert!(began.elapsed() < 3 * PATIENCE, "nobody takes the place: {}", plaza.status(0));
    }
    println!("the place was taken {:?} after the kill", began.elapsed());
    let status = plaza.status(0);
    let validators = status["validators"].as_array().expect("a list");
    let votes = |key: &str| validators.iter().any(|one| one == key);
    assert!(votes(&reserve.key) && !votes(&plaza.servers[3].key) && validators.len() == 4);

    who_votes_is_proved_now_and_as_it_began(&url, &reserve.key);

    // With the newcomer there is room for one more to go, though `up` has only half of its own.
    plaza.kill(2);
    plaza.reach(0, plaza.height(0) + 10);
    let table = run(&["status", "--json", "--data-dir", &plaza.dir.display().to_string()]);
    let table: Value = serde_json::from_slice(&table.stdout).expect("an object");
    let counts = ["voters", "live", "needed"].map(|key| table[key].as_u64());
    assert_eq!(counts, [Some(4), Some(3), Some(3)], "{table}");
    assert_eq!(table["elsewhere"][0]["key"], reserve.key.as_str(), "{table}");
    reserve.stop();
    plaza.stop();
}

/// `evidence verify` asked for the digest of those who vote, and no command printed it.
fn who_votes_is_proved_now_and_as_it_began(url: &str, newcomer: &str) {
    let shown = |at: &[&str]| json(&[&["sim", "show", "--json", "--node", url], at].concat());
    let (first, now) = (shown(&["--at", "1"]), shown(&[]));
    let votes = |shown: &Value| {
        let validators = shown["validators"].as_array().expect("a list");
        validators.iter().any(|one| one == newcomer)
    };
    assert!(votes(&now) && !votes(&first), "{first} {now}");
    assert_ne!(first["validator_set"], now["validator_set"]);
    assert_eq!(first["validators_at"], 1);
    assert!(now["validators_at"].as_u64() > Some(1), "{now}");
    refused(&["sim", "show", "--node", url, "--at", "99999999"], 3, "has no turn 99999999");
}

#[test]
fn four_servers_become_seven_and_then_five_while_bots_play_and_nothing_is_lost() {
    let folder = Folder::new("membership");
    let plaza = Plaza::start(&folder.join("world"), 4);
    plaza.reach(0, 30);
    let text = invite(&plaza, &["--grant", "stand-by", "--uses", "3"]);
    let dirs: Vec<_> = (0..3).map(|n| folder.join(&format!("standby-{n}"))).collect();
    let starting: Vec<Child> = dirs.iter().map(|dir| Follower::spawn(dir, Some(&text))).collect();
    let standbys: Vec<Follower> = starting.into_iter().map(Follower::until_ready).collect();

    let urls: Vec<&str> = plaza.servers.iter().map(|server| server.url.as_str()).collect();
    let mut bots = Command::new(PROGRAM)
        .args(["bots", "--json", "--count", "6", "--rate", "4", "--duration", "20s"])
        .args(["--node", &urls.join(",")])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("the program starts");
    let admin = plaza.dir.join("admin.key").display().to_string();
    let change = |what: &str, key: &str| {
        json(&["admin", what, key, "--json", "--node", urls[0], "--key", &admin])
    };
    let began = Instant::now();
    for (standby, voters) in standbys.iter().zip(5..) {
        let changed = change("promote", &standby.key);
        assert_eq!(changed["in_force"], true, "{changed}");
        assert_eq!(changed["validators"].as_array().map(Vec::len), Some(voters), "{changed}");
    }
    for (index, voters) in [(3, 6), (2, 5)] {
        let changed = change("demote", &plaza.servers[index].key);
        assert_eq!(changed["validators"].as_array().map(Vec::len), Some(voters), "{changed}");
    }
    println!("4 -> 7 -> 5 took {:?}", began.elapsed());

    // The newcomers vote; whoever was removed keeps following.
    let height = plaza.height(0) + 10;
    for index in 0..4 {
        plaza.reach(index, height);
    }
    for standby in &standbys {
        standby.reach(height);
        assert_eq!(standby.status()["voting"], true);
    }
    assert_eq!(plaza.status(3)["voting"], false);
    let mut roots = plaza.roots(&[0, 1, 2, 3], height);
    roots.extend(standbys.iter().map(|standby| standby.root(height)));
    assert!(roots.iter().all(|root| *root == roots[0]), "{roots:?}");

    // One of five may be gone, also a newcomer.
    let mut standbys = standbys;
    drop(standbys.pop());
    plaza.reach(0, plaza.height(0) + 10);
    let mut report = String::new();
    bots.stdout.take().expect("piped").read_to_string(&mut report).expect("text");
    assert!(bots.wait().expect("it ends").success(), "{report}");
    let last = report.lines().last().expect("a report");
    let report: Value = serde_json::from_str(last).expect("JSON");
    assert_eq!(report["lost"], 0, "{report}");
    assert!(report["acknowledged"].as_u64() > Some(100), "{report}");

    // Below four no rule takes anybody: that is refused in words.
    refused(
        &["admin", "demote", &"ab".repeat(32), "--node", urls[0], "--key", &admin],
        4,
        "neither votes nor stands by",
    );
    refused(
        &["admin", "promote", &plaza.servers[0].key, "--node", urls[0], "--key", &admin],
        4,
        "votes already",
    );
    for standby in standbys {
        interrupt(&standby.process);
    }
    plaza.stop();
}
