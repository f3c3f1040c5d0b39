//! A sim of several servers in a world: they speak for it together, and one may be gone.

use std::{collections::BTreeSet, fs};

use serde_json::Value;

use crate::{
    plaza::{Folder, Plaza, json, key, run},
    worlds::{claim_of, ended, find_until, found, text, words},
};

/// Returns where the servers that an answer names let people in, without the path of the sim.
fn named(answer: &Value) -> BTreeSet<String> {
    let servers = answer["servers"].as_array().into_iter().flatten();
    let urls = servers.filter_map(|server| server["http"].as_str());
    urls.map(|url| url.split("/w/").next().unwrap_or_default().to_owned()).collect()
}

fn no_evidence(plaza: &Plaza) {
    for index in 0..plaza.servers.len() {
        let log = fs::read_to_string(plaza.home(index).join("node.log")).expect("its log");
        let told = log.lines().find(|line| line.contains("contradict each other"));
        assert_eq!(told, None, "server {index} of sim {}", plaza.sim);
    }
}

#[test]
fn four_servers_speak_for_their_sim_and_it_is_found_and_entered_when_one_is_killed() {
    let folder = Folder::new("site-servers");
    let [office, east] = ["office", "east"].map(|name| folder.join(name));
    found(&office);
    let plaza = Plaza::start(&office, 1);
    let (url, sponsor) = (plaza.servers[0].url.clone(), text(&office.join("admin.key")));
    let east_dir = text(&east);
    let claim = claim_of(&east_dir, &url, "east", &sponsor);
    let claimed = json(&[&claim[..], &["--servers", "4"]].concat());
    assert_eq!(words(&claimed["square"]), "8:0:256");
    let at_east = Plaza::start(&east, 4);
    assert_eq!(words(&claimed["sim"]), at_east.sim);

    let all: BTreeSet<String> =
        at_east.servers.iter().map(|server| server.url.trim_end_matches('/').to_owned()).collect();
    assert_eq!(all.len(), 4);
    let asked = ["9", "3", "--node", &url];
    let found = find_until(&asked, |answer| named(answer) == all);
    assert_eq!((&found["proven"], words(&found["sim"])), (&true.into(), &*at_east.sim));
    // Each of them is a member that tells of the others, and of the office.
    for server in &at_east.servers {
        find_until(&["9", "3", "--node", &server.url], |answer| named(answer) == all);
        let office = url.trim_end_matches('/');
        find_until(&["3", "3", "--node", &server.url], |answer| named(answer).contains(office));
    }
    no_evidence(&plaza);
    no_evidence(&at_east);

    at_east.kill(0);
    let left: Vec<&str> = at_east.servers[1..].iter().map(|server| &*server.url).collect();
    for node in [&[&*url], &left[..]].concat() {
        let asked = ["9", "3", "--node", node];
        find_until(&asked, |answer| answer["proven"] == true && !named(answer).is_empty());
    }
    // Of the four that are named, one that is up is taken.
    let ada = key(&folder, "ada");
    let visit = ["world", "visit", "9", "3", "--node", &url, "--key", &ada];
    ended(&run(&visit), 0, "going to square 8:0:256");
    no_evidence(&plaza);
    no_evidence(&at_east);
    drop(at_east);
    plaza.stop();
}
