//! Keys that only a passphrase opens, as people and scripts seal and open them.

use std::{fs, os::unix::fs::PermissionsExt as _};

use metatopia::keys::PASSPHRASE_BYTES_MAX;

use crate::{
    bad_input::refused,
    plaza::{Folder, json, run},
};

/// Writes a file that only we can read.
fn private(folder: &Folder, name: &str, text: &str) -> String {
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
    refused(&run(&["keys", "show", &sealed]), 2, &["metatopia keys import"]);
    fs::set_permissions(&words, fs::Permissions::from_mode(0o644)).expect("our own file");
    refused(&import(&words, &other), 4, &["words", "0644"]);
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
