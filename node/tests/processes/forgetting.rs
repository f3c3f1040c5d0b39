//! Words that are taken back: nobody is told of them any more, no server keeps them, and the logs still verify.

use std::time::Instant;

use serde_json::Value;

use crate::{
    healing::QUICK,
    lots::talks,
    plaza::{Folder, PATIENCE, Person, Plaza, Running, json, key, run},
    private::holds,
};

/// What Ada takes back, what a moderator takes back, and what stays.
const OWN: &str = "my house is seven elm street";
const RUDE: &str = "bob is a walnut";
const STAYS: &str = "lanterns are red";

/// The server that is away meanwhile.
const AWAY: usize = 3;

fn verified(home: &str) -> Value {
    let output = run(&["log", "verify", "--json", "--allow-gaps", home]);
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Waits until no file of these servers has the words.
pub(crate) fn gone(plaza: &Plaza, servers: &[usize], words: &str) {
    let began = Instant::now();
    while servers.iter().any(|server| holds(&plaza.home(*server), words.as_bytes())) {
        assert!(began.elapsed() < PATIENCE, "a server keeps {words:?}");
        plaza.reach(0, plaza.height(0) + 5);
    }
}

#[test]
fn words_that_are_taken_back_leave_every_view_and_every_log_and_the_logs_verify() {
    let folder = Folder::new("forgetting");
    let plaza = Plaza::start_with(&folder.join("world"), 4, &QUICK);
    let (first, second) = (plaza.servers[0].url.as_str(), plaza.servers[1].url.as_str());
    let (ada_key, bob_key) = (key(&folder, "ada"), key(&folder, "bob"));
    let mut bob = Person::enter_as("Bob", second, &bob_key);
    talks(&mut bob, &[("who", "that is you"), ("forget", "You said nothing of late")]);
    let mut ada = Person::enter_as("Ada", first, &ada_key);
    let shout = |words: &str| format!("shout {words}");
    talks(&mut ada, &[(&shout(STAYS), "You shout"), (&shout(RUDE), "You shout")]);
    talks(&mut ada, &[(&shout(OWN), "You shout")]);
    bob.sees(OWN);
    plaza.reach(AWAY, plaza.height(1));
    plaza.kill(AWAY);

    talks(&mut bob, &[("forget Ada", "That did not work")]);
    talks(&mut ada, &[("forget", "Every server forgets what you said: my house")]);
    bob.sees("Words of Ada were taken back");

    // The moderator finds the line in the newest snapshot, by whom and with its words.
    let shown = json(&["keys", "show", &ada_key, "--json"]);
    let ada_public = shown["public"].as_str().expect("a key");
    let began = Instant::now();
    let said = loop {
        let listed = run(&["admin", "words", "--by", ada_public, "--json", "--node", second]);
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let lines = listed.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        let lines: Vec<Value> = lines.collect();
        // Once the snapshot is of after the forgetting, it says so, and no more knows the words.
        if lines.iter().any(|line| line["forgotten"] == true) {
            break lines;
        }
        assert!(began.elapsed() < PATIENCE, "{listed}");
    };
    assert_eq!((said.len(), &said[0]["text"], &said[1]["text"]), (3, &STAYS.into(), &RUDE.into()));
    let name = |line: &Value, digits: usize| {
        let body = line["body"].as_str().expect("a hash");
        format!("{}:{}", line["height"], &body[..digits])
    };
    let admin = plaza.dir.join("admin.key").display().to_string();
    let order = |words: &[&str]| {
        json(&[&["admin", "forget"], words, &["--json", "--node", first, "--key", &admin]].concat())
    };
    let would = order(&[&name(&said[1], 12), "--dry-run"]);
    assert_eq!((&would["by"], &would["in_turn"]), (&"as admin".into(), &Value::Null));
    let done = order(&["--last-by", ada_public]);
    assert!(done["in_turn"].is_u64(), "{done}");
    assert_eq!(done["body"], said[1]["body"]);
    bob.sees("Words of Ada were taken back");
    let again = run(&["admin", "forget", &name(&said[1], 64), "--node", first, "--key", &admin]);
    assert_eq!(again.status.code(), Some(4), "{}", String::from_utf8_lossy(&again.stderr));
    let log = json(&["admin", "log", "--last", "1", "--json", "--node", first]);
    assert_eq!((&log["order"], &log["about"]), (&"forget".into(), &ada_public.into()));

    // Whoever comes in later is told what was said, and nothing of that.
    let mut eve = Person::enter_as("Eve", first, &key(&folder, "eve"));
    eve.sees(STAYS);
    assert!(!eve.has_seen(OWN) && !eve.has_seen(RUDE));
    gone(&plaza, &[0, 1, 2], OWN);
    gone(&plaza, &[0, 1, 2], RUDE);
    assert!((0..3).all(|server| holds(&plaza.home(server), STAYS.as_bytes())), "the rest stays");

    // A server that was away takes a state of the others, and what it still had goes as well.
    let running = Running(plaza.restart_with(AWAY, &QUICK));
    plaza.reach_anew(AWAY, plaza.height(0));
    gone(&plaza, &[AWAY], OWN);
    gone(&plaza, &[AWAY], RUDE);

    for person in [ada, bob, eve] {
        person.leaves();
    }
    for server in 0..4 {
        let verdict = verified(&plaza.home(server).display().to_string());
        assert_eq!(verdict["ok"], true, "{verdict}");
        let holed = verdict["forgotten"].as_array().expect("a list");
        assert!(!holed.is_empty() && holed.len() <= 2, "server {server}: {verdict}");
        assert_eq!(verdict["certified_only"][0][0], holed[0][0], "{verdict}");
    }
    running.kill();
    plaza.stop();
}
