//! Bad input from the outside: each is refused by name, with its exit code, and nothing else
//! happens.

use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt as _, process::Output};

use crate::plaza::{Folder, Plaza, json, key, run};

pub(crate) fn refused(output: &Output, code: i32, words: &[&str]) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{told}");
    for word in words {
        assert!(told.contains(word), "`{told}` does not name {word}");
    }
}

#[test]
fn unknown_configuration_keys_are_named_with_their_line() {
    let folder = Folder::new("config");
    let file = folder.join("metatopia.toml");
    fs::write(&file, "data_dir = \"x\"\nhttp_lisen = \"127.0.0.1:1\"\n").expect("our own folder");
    let output = run(&["node", "run", "--config", &file.display().to_string()]);
    refused(&output, 2, &["http_lisen", "line 2"]);
    let absent = folder.join("absent.toml").display().to_string();
    refused(&run(&["node", "run", "--config", &absent]), 3, &["absent.toml"]);
    refused(&run(&["up", "--servers", "many"]), 2, &["many"]);
}

#[test]
fn a_key_that_others_can_read_is_refused_and_never_overwritten() {
    let folder = Folder::new("open-key");
    let path = key(&folder, "ada");
    let again = run(&["keys", "new", "--out", &path]);
    assert_ne!(again.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&again.stderr).contains("ada"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("our own file");
    let shown = run(&["keys", "show", &path]);
    assert_eq!(shown.status.code(), Some(4), "{}", String::from_utf8_lossy(&shown.stderr));
    assert!(String::from_utf8_lossy(&shown.stderr).contains("0640"));
}

#[test]
fn a_port_in_use_is_named_with_its_flag() {
    let folder = Folder::new("port");
    let taken = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port_text = taken.local_addr().expect("bound").port().to_string();
    let dir = folder.join("world").display().to_string();
    let output = run(&["up", "--data-dir", &dir, "--http-port", &port_text]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains(&port_text) && told.contains("--http-port"), "{told}");

    // A grid claimed all of its land first.
    let dir = folder.join("grid").display().to_string();
    let grid = ["up", "--data-dir", &dir, "--http-port", &port_text, "--grid", "2x1"];
    let output = run(&grid);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("--http-port") && !told.contains("claiming"), "{told}");
    assert!(!folder.join("grid").exists(), "nothing is made");
}

/// A land office that let nobody hold anything was founded, and refused each claim.
#[test]
fn no_world_is_founded_in_which_a_key_may_hold_no_square() {
    let folder = Folder::new("no-land");
    let dir = folder.join("office").display().to_string();
    let output = run(&["world", "new", &dir, "--land-per-key", "0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--land-per-key"));
    assert!(!folder.join("office").exists());
}

#[test]
fn a_folder_that_holds_something_else_is_not_made_a_world() {
    let folder = Folder::new("foreign-folder");
    let dir = folder.join("world");
    fs::create_dir_all(&dir).expect("our own folder");
    fs::write(dir.join("thesis.txt"), "years of work").expect("our own folder");
    let shown = dir.display().to_string();
    let output = run(&["up", "--data-dir", &shown, "--http-port", "0"]);
    assert_ne!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains(&shown));
    assert_eq!(fs::read_to_string(dir.join("thesis.txt")).expect("still there"), "years of work");
}

/// It was told by the name of a draft, /proc/xx.new-27223, which nobody had named.
#[test]
fn a_place_where_no_world_can_be_made_is_told_by_its_name() {
    for dir in ["/proc/nowhere", "/dev/null/nowhere"] {
        let output = run(&["up", "--data-dir", dir, "--http-port", "0"]);
        assert_eq!(output.status.code(), Some(1));
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains(dir) && !told.contains(".new-"), "{told}");
    }
}

#[test]
fn a_log_cut_or_flipped_anywhere_is_found_offline() {
    let folder = Folder::new("flipped");
    let plaza = Plaza::start(&folder.join("world"), 4);
    plaza.reach(0, 30);
    let dir = plaza.dir.clone();
    plaza.stop();
    let verify = |index: usize| {
        let server = dir.join(format!("server-{index}")).display().to_string();
        run(&["log", "verify", "--json", &server])
    };
    assert_eq!(verify(0).status.code(), Some(0));

    let segment = |index: usize| dir.join(format!("server-{index}/log/segment-0000000000"));
    let whole = fs::read(segment(0)).expect("the log");
    for part in 1..6 {
        let at = whole.len() * part / 7;
        let mut flipped = whole.clone();
        flipped[at] ^= 0x10;
        fs::write(segment(0), &flipped).expect("our own file");
        let output = verify(0);
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(5), "flip at {at} of {}: {told}", whole.len());
        assert!(told.contains("\"ok\":false"), "{told}");
    }
    // The server has stopped and marked its log, so bytes taken out are missed, even the last ones.
    for (from, to) in
        [(1, 3), (whole.len() / 3, whole.len() / 3 + 100), (whole.len() - 1, whole.len())]
    {
        let mut cut = whole.clone();
        cut.drain(from..to);
        fs::write(segment(0), &cut).expect("our own file");
        let output = verify(0);
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(5), "{from}..{to}: {told}");
    }
    assert_eq!(verify(1).status.code(), Some(0), "the other server's log is fine");
}

#[test]
fn nodes_that_are_not_there_and_things_that_do_not_exist_have_their_exit_codes() {
    let folder = Folder::new("absent");
    // Port 1 is for whoever may open the first thousand; nobody does.
    let nobody = "http://127.0.0.1:1";
    let output = run(&["status", "--node", nobody]);
    assert!(matches!(output.status.code(), Some(1 | 3 | 7)), "{:?}", output.status);
    assert!(String::from_utf8_lossy(&output.stderr).contains(&nobody[7..]));

    let plaza = Plaza::start(&folder.join("world"), 1);
    let url = plaza.servers[0].url.clone();
    let author = "0".repeat(64);
    refused(&run(&["receipt", &author, "1", "1", "--node", &url]), 3, &[]);
    refused(&run(&["status", "--node", &url, "--at", "999999999"]), 3, &["999999999"]);
    let other = "ab".repeat(32);
    let ada = key(&folder, "ada");
    let pinned = run(&["say", "hi", "--node", &url, "--key", &ada, "--sim", &other]);
    assert_eq!(pinned.status.code(), Some(5), "{}", String::from_utf8_lossy(&pinned.stderr));
    let status = json(&["status", "--json", "--node", &url]);
    assert_eq!(status["stalled"], false);
    plaza.stop();
}

#[test]
fn a_script_with_a_mistake_is_shown_with_line_and_column() {
    let folder = Folder::new("script");
    let file = folder.join("bad.rhai");
    fs::write(&file, "fn on_tuch(who) {\n    say(\"hi\");\n}\n").expect("our own folder");
    let output = run(&["script", "check", "--json", &file.display().to_string()]);
    assert_ne!(output.status.code(), Some(0));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("\"line\":1") && told.contains("on_touch"), "{told}");
}
