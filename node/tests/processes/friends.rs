//! Friends of a key over a real server: named, asked, refused while they are fresh, and nothing to cancel.

use crate::{
    lots::talks,
    plaza::{Folder, Person, Plaza, json, key, run},
};

/// Says that a command ended so, with these words on its last line of errors.
fn refused(arguments: &[&str], words: &str) {
    let output = run(arguments);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains(words), "{told}");
}

#[test]
fn a_person_names_friends_who_do_not_count_yet_and_everybody_sees_that_nothing_is_open() {
    let folder = Folder::new("friends");
    let sim = Plaza::start(&folder.join("world"), 1);
    let url = sim.servers[0].url.as_str();
    let [ada_key, bob_key, new_key] = ["ada", "bob", "new"].map(|name| key(&folder, name));
    let public = |file: &str| {
        let shown = json(&["keys", "show", file, "--json"]);
        shown["public"].as_str().expect("a key").to_owned()
    };
    let [ada, bob, new] = [&ada_key, &bob_key, &new_key].map(|file| public(file));
    let mut bob_here = Person::enter_as("Bob", url, &bob_key);
    let by_ada = |words: &[&'static str]| -> Vec<String> {
        let at = ["--json", "--node", url, "--name", "Ada", "--key", &ada_key];
        words.iter().copied().chain(at).map(str::to_owned).collect()
    };
    let json_of = |words: &[String]| json(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let mut ada_here = Person::enter_as("Ada", url, &ada_key);
    talks(&mut ada_here, &[("friends", "is got back by: nobody")]);
    ada_here.leaves();

    let tried = json_of(&by_ada(&["keys", "friends", "bob", "--dry-run"]));
    assert!(tried["dry_run"] == true && tried["height"].is_null(), "{tried}");
    assert!(json_of(&by_ada(&["keys", "friends"]))["next"].is_null(), "only a try");
    let named = json_of(&by_ada(&["keys", "friends", "bob"]));
    assert!(named["height"].is_number());
    assert_eq!(named["next"]["friends"][0].as_str(), Some(bob.as_str()));
    assert_eq!(named["counted"]["friends"].as_array().map(Vec::len), Some(0));
    let counts_in = named["next"]["counts_in"].as_u64().expect("a time");
    assert!((71 * 3_600_000..=72 * 3_600_000).contains(&counts_in), "{counts_in}");
    let shown = json_of(&by_ada(&["keys", "friends"]));
    assert_eq!(shown["next"]["need"], 1);

    let asked = json(&["keys", "ask", &new_key, "--for", &ada, "--json"]);
    assert_eq!((asked["new"].as_str(), asked["old"].as_str()), (Some(&*new), Some(&*ada)));
    let new = asked["text"].as_str().expect("a text").to_owned();
    let vouch = ["keys", "vouch", "--for", &ada, "--new", &new, "--node", url, "--key", &bob_key];
    bob_here.leaves();
    let vouch_as_bob = [&vouch[..], &["--name", "Bob"]].concat();
    refused(&[&vouch_as_bob[..], &["--dry-run"]].concat(), "less than 72 hours ago");
    refused(&vouch_as_bob, "less than 72 hours ago");
    let cancel = by_ada(&["keys", "cancel-recovery"]);
    let cancel: Vec<&str> = cancel.iter().map(String::as_str).collect();
    refused(&cancel, "nobody asks for a recovery");
    let listed = run(&["keys", "recoveries", "--node", url]);
    let told = String::from_utf8_lossy(&listed.stderr).into_owned();
    assert!(listed.status.success() && told.contains("no recovery was open after turn"), "{told}");

    bob_here = Person::enter_as("Bob", url, &bob_key);
    let typed = format!("vouch for {ada} {new}");
    talks(
        &mut bob_here,
        &[
            (&typed, "less than 72 hours ago"),
            ("vouch for Ada", "that is `vouch for OLD TEXT`"),
            ("recovery cancel", "nobody asks for a recovery"),
            ("friends are nobody", "That did not work"),
        ],
    );
    bob_here.leaves();
    sim.stop();
}
