//! Keys that only a passphrase opens, as people and scripts seal and open them.

use std::{fs, os::unix::fs::PermissionsExt as _};

use metatopia::keys::PASSPHRASE_BYTES_MAX;

use crate::{
    bad_input::refused,
    plaza::{Folder, json, run},
};

/// Writes a file that only we can read.
pub(crate) fn private(folder: &Folder, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).expect("a new file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("our own file");
    path.display().to_string()
}

#[test]
fn a_key_is_sealed_and_opened_by_its_passphrase_alone() {
    let folder = Folder::new("sealed");
    let path = |name: &str| folder.join(name).display().to_string();
    let (key, sealed, again) = (path("me.key"), path("me.sealed"), path("again.key"));
    let words = private(&folder, "words", "correct horse\n");
    let public = json(&["keys", "new", "--out", &key, "--json"])["public"].clone();

    let export = ["keys", "export", &key, "--out", &sealed, "--passphrase-file", &words, "--json"];
    assert_eq!(json(&export)["public"], public);
    let import = |words: &str, out: &str| {
        run(&["keys", "import", &sealed, "--out", out, "--passphrase-file", words])
    };
    assert_eq!(import(&words, &again).status.code(), Some(0));
    assert_eq!(json(&["keys", "show", &again, "--json"])["public"], public);

    let wrong = private(&folder, "wrong", "correct horsf\n");
    let other = path("other.key");
    refused(&import(&wrong, &other), 4, &["me.sealed", "passphrase"]);
    assert!(!folder.join("other.key").exists());
    refused(&import(&words, &again), 4, &["again.key", "never overwritten"]);
    let export = ["keys", "export", &sealed, "--out", &other, "--passphrase-file", &words];
    refused(&run(&export), 2, &["me.sealed", "metatopia keys import"]);
    fs::set_permissions(&words, fs::Permissions::from_mode(0o644)).expect("our own file");
    refused(&import(&words, &other), 4, &["words", "0644"]);
}

/// A sealed key had to be opened into a file that everybody who gets the disk can read, before any command took it.
#[test]
fn a_key_is_made_sealed_and_used_as_it_is_by_whoever_knows_its_passphrase() {
    let folder = Folder::new("sealed-used");
    let path = |name: &str| folder.join(name).display().to_string();
    let (key, new, plain) = (path("me.key"), path("new.key"), path("plain.key"));
    let words = private(&folder, "words", "correct horse\n");
    let wrong = private(&folder, "wrong", "correct horsf\n");
    // Nobody types anything in a test.
    let nobody = ["nobody is there to type the passphrase of", "--passphrase-file FILE"];
    refused(&run(&["keys", "new", "--seal", "--out", &key]), 2, &nobody);
    let by = ["--passphrase-file", words.as_str()];
    let public =
        json(&[&["keys", "new", "--out", &key, "--json"][..], &by].concat())["public"].clone();
    let is_sealed = |name: &str| {
        let text = fs::read_to_string(folder.join(name)).expect("a key file");
        text.contains("metatopia-sealed-key-1 ") && !text.contains("metatopia-key-1 ")
    };
    assert!(is_sealed("me.key"));

    assert_eq!(json(&[&["keys", "show", &key, "--json"][..], &by].concat())["public"], public);
    let old = "22".repeat(32);
    for command in [
        &["keys", "show", &key][..],
        &["keys", "ask", &key, "--for", &old],
        &["keys", "profile", "set", &key, "--line", "hi"],
        &["keys", "sign-lists", &key],
        &["say", "hi", "--key", &key, "--node", "http://127.0.0.1:1"],
        &["client", "--key", &key, "--node", "http://127.0.0.1:1"],
        &["keys", "rotate", &key, "--out", &new],
    ] {
        refused(&run(command), 2, &[nobody[0], "me.key", nobody[1]]);
        let command = [command, &["--passphrase-file", &wrong]].concat();
        refused(&run(&command), 4, &["me.key", "the passphrase does not open it"]);
    }
    let set = ["keys", "profile", "set", &key, "--line", "I build mills.", "--json"];
    assert_eq!(json(&[&set[..], &by].concat())["key"], public);

    // What takes the place of a sealed key is as safe as that was.
    let rotated = json(&[&["keys", "rotate", &key, "--out", &new, "--json"][..], &by].concat());
    assert!(is_sealed("new.key") && folder.join("new.key.rotation").exists());
    assert_eq!(
        json(&[&["keys", "show", &new, "--json"][..], &by].concat())["public"],
        rotated["public"]
    );
    let profile = json(&[&["keys", "profile", "show", &new, "--json"][..], &by].concat());
    assert_eq!(profile["line"], "I build mills.");

    // A passphrase that no key needs is in nobody's way.
    json(&["keys", "new", "--out", &plain, "--json"]);
    json(&[&["keys", "show", &plain, "--json"][..], &by].concat());
}

/// What proves a rotation stayed behind when a key was exported, so no sim knew the person any more.
#[test]
fn a_key_that_took_the_place_of_another_is_carried_with_what_proves_it() {
    let folder = Folder::new("sealed-rotation");
    let path = |name: &str| folder.join(name).display().to_string();
    let words = private(&folder, "words", "correct horse\n");
    json(&["keys", "new", "--out", &path("old.key"), "--json"]);
    json(&["keys", "rotate", &path("old.key"), "--out", &path("new.key"), "--json"]);
    for [verb, from, to] in [["export", "new.key", "sealed"], ["import", "sealed", "again.key"]] {
        let [from, to] = [from, to].map(path);
        json(&["keys", verb, &from, "--out", &to, "--passphrase-file", &words, "--json"]);
    }
    let document = |name: &str| fs::read(folder.join(name)).expect("a document");
    assert_eq!(document("again.key.rotation"), document("new.key.rotation"));
}

/// Whoever sealed a key read blocked people again, and a rotation that failed at a list had made a key already.
#[test]
fn lists_and_profile_go_along_with_a_key_or_nothing_is_made() {
    let folder = Folder::new("sealed-lists");
    let path = |name: &str| folder.join(name).display().to_string();
    let words = private(&folder, "words", "correct horse\n");
    let by = ["--passphrase-file", words.as_str(), "--json"];
    let (key, sealed, new) = (path("me.key"), path("me.sealed"), path("new.key"));
    json(&["keys", "new", "--out", &key, "--json"]);
    json(&["keys", "profile", "set", &key, "--line", "I build mills.", "--json"]);
    fs::write(folder.join("me.key.blocks"), format!("{} Bob\n", "07".repeat(32))).expect("a disk");
    for command in [&["export", &key, "--out", &sealed][..], &["rotate", &key, "--out", &new]] {
        let command = [&["keys"][..], command, &by[..2]].concat();
        refused(&run(&command), 1, &["the block list", "sign-lists"]);
    }
    for name in ["me.sealed", "new.key", "new.key.rotation"] {
        assert!(!folder.join(name).exists(), "{name}");
    }
    json(&["keys", "sign-lists", &key, "--json"]);
    json(&[&["keys", "export", &key, "--out", &sealed][..], &by].concat());
    let beside = |name: &str| fs::read_to_string(folder.join(name)).expect("a file");
    assert_eq!(beside("me.sealed.blocks"), beside("me.key.blocks"));
    assert_eq!(beside("me.sealed.profile"), beside("me.key.profile"));
    // A passphrase that is named for an open key seals the one that takes its place.
    json(&[&["keys", "rotate", &key, "--out", &new][..], &by].concat());
    assert!(beside("new.key").contains("metatopia-sealed-key-1 "));
    assert!(beside("new.key.blocks").contains(&"07".repeat(32)));
}

#[test]
fn what_is_no_passphrase_is_refused() {
    let folder = Folder::new("no-passphrase");
    let path = |name: &str| folder.join(name).display().to_string();
    let (key, sealed) = (path("me.key"), path("me.sealed"));
    json(&["keys", "new", "--out", &key, "--json"]);
    let long = "x".repeat(PASSPHRASE_BYTES_MAX + 1);
    for text in ["", "\n", "two\nlines\n", &long] {
        let words = private(&folder, "words", text);
        let export = ["keys", "export", &key, "--out", &sealed, "--passphrase-file", &words];
        refused(&run(&export), 2, &["one line of 1 to 1024 bytes"]);
    }
    // Nobody types anything in a test.
    let export = run(&["keys", "export", &key, "--out", &sealed]);
    refused(&export, 2, &["--passphrase-file"]);
    assert!(!folder.join("me.sealed").exists());
}
