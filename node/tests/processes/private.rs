//! Private words over real servers: two people read them, the files of the servers do not have them, and a report
//! shows moderators one of them.

use std::{fs, path::Path};

use crate::{
    lots::{ground, talks},
    plaza::{Folder, Person, Plaza, json, key},
};

/// Says whether a file below a folder has these bytes.
pub(crate) fn holds(folder: &Path, wanted: &[u8]) -> bool {
    let entries = fs::read_dir(folder).expect("a folder of the world");
    entries.map(|entry| entry.expect("an entry").path()).any(|path| {
        if path.is_dir() {
            return holds(&path, wanted);
        }
        // A socket has no content, and a file may be gone by now.
        let bytes = fs::read(&path).unwrap_or_default();
        bytes.windows(wanted.len()).any(|found| found == wanted)
    })
}

/// Lets people say a line an hour in public.
fn slow_mode(sim: &Plaza, ada: &mut Person) {
    let admin = sim.dir.join("admin.key").display().to_string();
    let node = sim.servers[0].url.as_str();
    json(&["admin", "set", "chat.slow_seconds", "3600", "--json", "--node", node, "--key", &admin]);
    talks(
        ada,
        &[
            ("say hello again", "slow mode"),
            ("tell bob private words go on", "You tell Bob privately"),
        ],
    );
}

#[test]
fn two_people_talk_privately_and_no_server_keeps_what_they_say() {
    let folder = Folder::new("private");
    let sim = Plaza::start_at(&folder.join("world"), 4, &ground(&folder));
    let (first, second) = (sim.servers[0].url.as_str(), sim.servers[1].url.as_str());
    let [ada_key, bob_key, eve_key] = ["ada", "bob", "eve"].map(|name| key(&folder, name));
    let mut ada = Person::enter_as("Ada", first, &ada_key);
    let mut bob = Person::enter_as("Bob", second, &bob_key);
    let eve = Person::enter_as("Eve", first, &eve_key);
    // Only who is here is found by a name: what Ada says below is decided after Bob's entry.
    talks(&mut bob, &[("who", "that is you")]);
    talks(
        &mut ada,
        &[
            ("say lanterns are public", "You say"),
            ("tell bob the lantern opens the cellar", "You tell Bob privately: the lantern"),
            ("tell nobody hello", "Nobody of that name is here"),
            ("tell bob", "that is `tell NAME WORDS`"),
            ("mailbox", "Your mailbox is empty"),
        ],
    );
    let told = bob.sees("tells you privately");
    assert!(
        told.ends_with("Ada tells you privately (words 1): the lantern opens the cellar"),
        "{told}"
    );
    talks(&mut bob, &[("tell ada which cellar?", "You tell Ada privately: which cellar?")]);
    ada.sees("Bob tells you privately (words 1): which cellar?");

    // Whoever was away reads it at the next login, and takes it out.
    bob.leaves();
    let shown = json(&["keys", "show", &bob_key, "--json"]);
    let bob_public = shown["public"].as_str().expect("a key").to_owned();
    eve.leaves();
    let said = json(&[
        "say",
        "pay or be sorry",
        "--to",
        &bob_public,
        "--json",
        "--node",
        second,
        "--key",
        &eve_key,
        "--name",
        "Eve",
    ]);
    assert_eq!(said["outcome"], "ok");
    let mut bob = Person::enter_as("Bob", first, &bob_key);
    bob.sees("Eve tells you privately (words 2): pay or be sorry");
    talks(
        &mut bob,
        &[
            ("report words 9 a threat", "There are no private words 9"),
            ("report words 2 a threat", "Moderators can read words 2 now"),
            // The mailbox counted on, and the number that had been told meant nothing any more.
            ("mailbox", "Eve tells you privately (words 2): pay or be sorry"),
            ("mailbox empty", "is taken out of your mailbox"),
            ("mailbox", "Your mailbox is empty"),
        ],
    );
    let open = json(&["admin", "reports", "--json", "--node", second]);
    assert_eq!((&open["opened"], &open["name"]), (&"pay or be sorry".into(), &"Eve".into()));
    assert_eq!(open["words"], "a threat");

    slow_mode(&sim, &mut ada);
    bob.sees("private words go on");
    bob.leaves();
    ada.leaves();
    let dir = sim.dir.clone();
    sim.stop();
    // What was said in public and what was reported is in the files, so this looks where words would be.
    assert!(holds(&dir, b"lanterns are public") && holds(&dir, b"pay or be sorry"));
    for private in [&b"the lantern opens"[..], b"which cellar", b"private words go on"] {
        assert!(!holds(&dir, private), "{private:?} is in a file of a server");
    }
}
