//! Profiles and buddies over a real server: set by file, sent at a login, read by others, and taken away.

use std::fs;

use metatopia_types::limits::PROFILE_LINE_BYTES_MAX;

use crate::{
    forgetting::gone,
    healing::QUICK,
    lots::talks,
    plaza::{Folder, Person, Plaza, json, key, run},
    private::holds,
    sealed_keys::private,
};

/// Says that a command ended with this code and these words among its errors.
fn fails(arguments: &[&str], code: i32, words: &str) {
    let output = run(arguments);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
    assert!(told.contains(words), "{arguments:?}: {told}");
}

/// The first bytes of a PNG of this width and height, which is all that the program reads.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    picture.extend(width.to_be_bytes());
    picture.extend(height.to_be_bytes());
    picture.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
    picture
}

#[test]
fn a_profile_is_a_file_that_everybody_can_check_and_bad_ones_are_told() {
    let folder = Folder::new("profile-files");
    let me = key(&folder, "me");
    let file = format!("{me}.profile");
    fails(&["keys", "profile", "show", &me], 3, "there is no profile");
    fails(&["keys", "profile", "set", &me], 2, "says what to change");
    let long = "x".repeat(PROFILE_LINE_BYTES_MAX + 1);
    fails(&["keys", "profile", "set", &me, "--line", &long], 2, "at most 160 bytes");
    fails(&["keys", "profile", "set", &me, "--pronouns", "she\u{202e}her"], 2, "pronouns have");
    let face = folder.join("face.png").display().to_string();
    for (bytes, words) in [
        (png(257, 9), "the picture is 257 by 9 points"),
        (vec![0x89; 9_000], "the picture has 9000 bytes"),
        (b"GIF89a".to_vec(), "no PNG or JPEG file"),
    ] {
        fs::write(&face, bytes).expect("a disk");
        fails(&["keys", "profile", "set", &me, "--picture", &face], 2, words);
    }
    fs::write(&face, png(96, 96)).expect("a disk");
    let set = json(&[
        "keys",
        "profile",
        "set",
        &me,
        "--line",
        "I build mills.",
        "--pronouns",
        "she/her",
        "--picture",
        &face,
        "--json",
    ]);
    assert_eq!((set["version"].as_u64(), set["picture_bytes"].as_u64()), (Some(1), Some(33)));

    // Whoever gets the file reads it without the key.
    let copy = folder.join("ada.profile").display().to_string();
    fs::copy(&file, &copy).expect("a disk");
    let out = folder.join("out.png").display().to_string();
    let checked = json(&["keys", "profile", "check", &copy, "--picture", &out, "--json"]);
    assert_eq!(checked, set);
    assert_eq!(fs::read(&out).expect("a picture"), png(96, 96));
    fails(&["keys", "profile", "check", &copy, "--picture", &out], 4, "is not overwritten");
    let text = fs::read_to_string(&file).expect("a text");
    let line = text.lines().last().expect("a line");
    let middle = line.len() / 2;
    let other = if line.as_bytes()[middle] == b'A' { "B" } else { "A" };
    let forged = format!("{}{other}{}", &line[..middle], &line[middle + 1..]);
    fs::write(&copy, forged).expect("a disk");
    fails(&["keys", "profile", "check", &copy], 5, "");
    fs::write(&copy, "I am Ada.\n").expect("a disk");
    fails(&["keys", "profile", "check", &copy], 5, "it is no profile");

    // A key that takes the place of another signs the same words.
    let new = folder.join("new.key").display().to_string();
    assert!(run(&["keys", "rotate", &me, "--out", &new]).status.success());
    let rotated = json(&["keys", "profile", "show", &new, "--json"]);
    assert_eq!((&rotated["line"], &rotated["version"]), (&set["line"], &set["version"]));
    assert_ne!(rotated["key"], set["key"]);
}

/// Shows that another key takes no list of Bob's until its owner says that it is hers.
fn takes_over_a_list(folder: &Folder, url: &str, bob_key: &str) {
    let carol_key = key(folder, "carol");
    fs::copy(format!("{bob_key}.buddies"), format!("{carol_key}.buddies")).expect("a disk");
    let enter = ["client", "--node", url, "--key", &carol_key];
    fails(&enter, 1, "the buddy list: it is not signed by this key: it is the list of ");
    fails(&enter, 1, "`metatopia keys sign-lists KEY`");
    assert!(run(&["keys", "sign-lists", &carol_key]).status.success());
    let mut carol = Person::enter_as("Carol", url, &carol_key);
    carol.sees("1 of your buddies is here: Ada.");
    carol.leaves();
}

/// Says something with a key that only its passphrase opens.
fn says_with_a_sealed_key(folder: &Folder, url: &str) {
    let words = private(folder, "words", "correct horse\n");
    let (sealed, by) = (folder.join("sealed").display().to_string(), "--passphrase-file");
    assert!(run(&["keys", "new", "--out", &sealed, by, &words]).status.success());
    let say = ["say", "hello", "--node", url, "--key", &sealed, by, &words];
    assert!(run(&say).status.success(), "a sealed key is used as it is");
}

#[test]
fn a_profile_goes_to_a_sim_at_a_login_and_others_read_it_until_it_is_taken_away() {
    let folder = Folder::new("profiles");
    let sim = Plaza::start(&folder.join("world"), 1);
    let url = sim.servers[0].url.as_str();
    let [ada_key, bob_key] = ["ada", "bob"].map(|name| key(&folder, name));
    let face = folder.join("face.png").display().to_string();
    fs::write(&face, png(96, 96)).expect("a disk");
    let set = run(&[
        "keys",
        "profile",
        "set",
        &ada_key,
        "--line",
        "I build mills.",
        "--pronouns",
        "she/her",
        "--picture",
        &face,
    ]);
    assert!(set.status.success(), "{set:?}");
    says_with_a_sealed_key(&folder, url);

    let mut ada = Person::enter_as("Ada", url, &ada_key);
    talks(&mut ada, &[("profile", "Others see it here, in version 1.")]);
    let mut bob = Person::enter_as("Bob", url, &bob_key);
    talks(
        &mut bob,
        &[
            ("buddies", "You have no buddies"),
            ("buddy Ada", "Ada is your buddy"),
            ("buddy Bob", "That is you"),
            ("who", "Ada, she/her (key"),
            ("profile Ada", "Ada says, in version 1, signed and proved:"),
            ("profile Bob", "Bob says nothing here"),
            ("profile", "You say nothing of yourself"),
            ("profile pronouns he/him", "Others see now what you say of yourself."),
            ("profile line I mill.", "the sim takes one a minute"),
            ("profile picture nowhere.png", "That did not work"),
            ("profile", "Others see version 1 here; yours is version 2."),
        ],
    );
    talks(&mut ada, &[("profile Bob", "he/him")]);
    bob.leaves();
    takes_over_a_list(&folder, url, &bob_key);
    // Who comes again hears of buddies, and the server gets what it has not seen yet: a minute is not over.
    let mut bob = Person::enter_as("Bob", url, &bob_key);
    bob.sees("1 of your buddies is here: Ada.");
    talks(
        &mut bob,
        &[
            ("buddies", "is here; `unbuddy"),
            ("unbuddy ada", "Ada is your buddy no more."),
            ("unbuddy ada", "You have no buddy of that name"),
        ],
    );
    bob.leaves();

    let public = json(&["keys", "show", &ada_key, "--json"])["public"].as_str().map(str::to_owned);
    let public = public.expect("a key");
    let admin = sim.dir.join("admin.key").display().to_string();
    let order = ["admin", "unprofile", &public, "--node", url, "--key", &admin];
    let tried = run(&[&order[..], &["--dry-run"]].concat());
    assert!(tried.status.success(), "{tried:?}");
    let done = run(&order);
    assert!(done.status.success(), "{done:?}");
    talks(&mut ada, &[("profile", "A moderator took it away here")]);
    fails(&order, 4, "already");
    ada.leaves();
    sim.stop();
}

/// A moderator could take a picture away, and its bytes stayed in the logs.
#[test]
fn a_profile_that_is_forgotten_leaves_snapshots_and_logs_with_its_picture() {
    let folder = Folder::new("forgotten-profile");
    let sim = Plaza::start_with(&folder.join("world"), 1, &QUICK);
    let url = sim.servers[0].url.as_str();
    let (ada_key, line) = (key(&folder, "ada"), "walnuts to all of you");
    let face = folder.join("face.png").display().to_string();
    let picture = [png(96, 96), b"a rude picture".to_vec()].concat();
    fs::write(&face, &picture).expect("a disk");
    let set = ["keys", "profile", "set", &ada_key, "--line", line, "--picture", &face];
    assert!(run(&set).status.success());
    let mut ada = Person::enter_as("Ada", url, &ada_key);
    talks(&mut ada, &[("profile", "Others see it here, in version 1.")]);
    assert!(holds(&sim.home(0), &picture), "the log has it");

    let shown = json(&["keys", "show", &ada_key, "--json"]);
    let public = shown["public"].as_str().expect("a key");
    let listed = json(&["admin", "words", "--by", public, "--json", "--node", url]);
    assert_eq!((&listed["heard"], &listed["by"]), (&"profile".into(), &public.into()));
    let text = listed["text"].as_str().expect("it says something");
    assert_eq!(text, format!("\"{line}\", version 1, with a picture"));
    let admin = sim.dir.join("admin.key").display().to_string();
    let order = ["admin", "forget", "--profile-of", public, "--node", url, "--key", &admin];
    let done = json(&[&order[..], &["--json"]].concat());
    assert_eq!((&done["height"], &done["body"]), (&listed["height"], &listed["body"]));
    talks(&mut ada, &[("profile", "A moderator took it away here")]);
    fails(&order, 4, "already");
    ada.leaves();

    gone(&sim, &[0], line);
    assert!(!holds(&sim.home(0), &picture), "words and picture are in one blob");
    let home = sim.home(0).display().to_string();
    assert!(run(&["log", "verify", "--allow-gaps", &home]).status.success());
    sim.stop();
}
