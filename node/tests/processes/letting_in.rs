//! Whether `up` lets others into a sim by the rules that it has.

use std::path::Path;

use crate::plaza::{Folder, Plaza, json, run};

/// An address for documents, which no machine has (RFC 5737): `up` listens there never, and says so.
const ELSEWHERE: &str = "192.0.2.1";

/// Starts the sim of a directory for others. Returns the code with which that ends, and what it told.
fn up_for_others(dir: &Path, more: &[&str]) -> (Option<i32>, String) {
    let dir = dir.display().to_string();
    let up = ["up", "--listen", ELSEWHERE, "--http-port", "0", "--data-dir", &dir];
    let output = run(&[&up[..], more].concat());
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Changes a rule of the sim, as its admin.
fn set(plaza: &Plaza, name: &str, value: &str) {
    let (node, admin) = (&plaza.servers[0].url, plaza.dir.join("admin.key"));
    let key = admin.display().to_string();
    json(&["admin", "set", name, value, "--json", "--node", node, "--key", &key]);
}

/// The rule of the genesis was asked for ever, so what an admin had changed let nobody in.
#[test]
fn a_sim_where_anybody_publishes_starts_for_others_only_by_open_until_an_admin_changes_that() {
    let folder = Folder::new("letting-in");
    let dir = folder.join("world");
    let plaza = Plaza::start_ruled(&dir, 1, "work");
    plaza.reach(0, 3);
    plaza.stop();

    let (code, told) = up_for_others(&dir, &[]);
    assert_eq!(code, Some(4), "{told}");
    assert!(told.contains("anybody may publish scripts"), "{told}");
    assert!(told.contains("`metatopia admin set publishers seen`"), "{told}");
    let (code, opened) = up_for_others(&dir, &["--open"]);
    assert_eq!(code, Some(1), "it comes as far as the address: {opened}");
    assert!(opened.contains(ELSEWHERE), "{opened}");

    let plaza = Plaza::start(&dir, 1);
    set(&plaza, "publishers", "seen");
    plaza.stop();
    let (code, told) = up_for_others(&dir, &[]);
    assert_eq!((code, &told), (Some(1), &opened), "the rule is no hindrance any more");

    let plaza = Plaza::start(&dir, 1);
    set(&plaza, "first_login", "open");
    plaza.stop();
    let (code, told) = up_for_others(&dir, &[]);
    assert_eq!(code, Some(4), "{told}");
    assert!(told.contains("is open: keys that cost nothing can fill it"), "{told}");
    assert!(!told.contains("anybody may publish"), "{told}");
}
