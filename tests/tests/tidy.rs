//! What a reviewer would say about every file, said by a test.

use std::{collections::BTreeSet, fs, path::PathBuf};

use metatopia_tests::{files, root};

const PURE: &[&str] = &[
    "sim",
    "physics",
    "scripting",
    "consensus",
    "client/protocol",
    "client/src",
    "node/store",
    "node/replica",
    "scenarios/oracle",
];

/// The one crate with a C interface: exporting a name takes an unsafe attribute, in one module of it.
const C_INTERFACE: &str = "client/wasm/src/lib.rs";

/// Names that say nothing about what a thing is.
const EMPTY_NAMES: &[&str] = &["manager", "helper", "util", "common", "misc"];

fn sources() -> Vec<(String, String)> {
    let root = root();
    let relative = |path: &PathBuf| {
        path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned()
    };
    files(&root, ".rs")
        .expect("the workspace can be read")
        .iter()
        .map(|path| (relative(path), fs::read_to_string(path).expect("a source file")))
        .collect()
}

fn is_pure(path: &str) -> bool {
    let tested = ["/tests/", "/benches/", "/examples/"].iter().any(|part| path.contains(part));
    !tested && PURE.iter().any(|folder| path.starts_with(folder))
}

#[test]
fn no_file_holds_two_rooms() {
    for (path, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= 600, "{path} has {lines} lines");
    }
}

#[test]
fn sources_are_plain_ascii_with_short_lines() {
    for (path, text) in sources() {
        for (number, line) in (1..).zip(text.lines()) {
            assert!(line.is_ascii(), "{path}:{number} is not ASCII");
            assert!(line.len() <= 120, "{path}:{number} has {} columns", line.len());
        }
    }
}

#[test]
fn nothing_is_left_for_later_without_a_word_in_the_docs() {
    let marks = ["TO".to_owned() + "DO", "FIX".to_owned() + "ME", "XX".to_owned() + "X"];
    for (path, text) in sources() {
        for mark in &marks {
            assert!(!text.contains(mark.as_str()), "{path} holds {mark}");
        }
        let ignore = format!("#[{}", "ignore");
        assert!(!text.contains(&ignore), "{path} ignores a test");
    }
}

#[test]
fn names_say_what_things_are() {
    for (path, _) in sources() {
        let stem = path.rsplit('/').next().unwrap_or(&path).trim_end_matches(".rs");
        let empty = EMPTY_NAMES.iter().find(|name| stem.split('_').any(|word| word == **name));
        assert_eq!(empty, None, "{path}");
    }
}

#[test]
fn pure_sources_do_not_even_name_effects() {
    let banned = [
        "std::time::Instant",
        "SystemTime",
        "HashMap",
        "HashSet",
        "std::fs",
        "std::net",
        "std::env",
        "std::thread::",
        "tokio::",
        "unsafe {",
    ];
    for (path, text) in sources().iter().filter(|(path, _)| is_pure(path)) {
        let code = text.split("#[cfg(test)]").next().unwrap_or(text);
        for (number, line) in (1..).zip(code.lines()) {
            if line.trim_start().starts_with("//") {
                continue;
            }
            for word in banned {
                assert!(!line.contains(word), "{path}:{number} names {word}");
            }
        }
    }
}

#[test]
fn pure_crates_share_one_strict_clippy_file() {
    let strict = fs::read_to_string(root().join("sim/clippy.toml")).expect("the strict file");
    let folders =
        ["physics", "scripting", "consensus", "client/protocol", "node/store", "scenarios/oracle"];
    for folder in folders {
        let copy = fs::read_to_string(root().join(folder).join("clippy.toml")).expect(folder);
        assert_eq!(copy, strict, "{folder}/clippy.toml differs from sim/clippy.toml");
    }
}

#[test]
fn every_crate_says_what_it_is_and_shows_it() {
    for (path, text) in sources().iter().filter(|(path, _)| path.ends_with("src/lib.rs")) {
        let opening: String = text.lines().take_while(|line| line.starts_with("//!")).collect();
        assert!(opening.len() > 200, "{path} does not say what the crate is");
        assert!(opening.contains("```"), "{path} opens without an example");
        let stance = if path == C_INTERFACE { "deny" } else { "forbid" };
        let attribute = format!("#![{stance}(unsafe_code)]");
        assert!(text.contains(&attribute), "{path} does not {stance} unsafe code");
    }
}

#[test]
fn every_shared_limit_is_hit_by_a_test_and_listed() {
    let limits = fs::read_to_string(root().join("sim/types/src/limits.rs")).expect("limits");
    let listed = fs::read_to_string(root().join("docs/limits.md")).expect("docs/limits.md");
    let names: BTreeSet<&str> = limits
        .lines()
        .filter_map(|line| line.strip_prefix("pub const "))
        .filter_map(|line| line.split(':').next())
        .collect();
    assert!(names.len() > 10, "limits.rs was not understood");
    for name in names {
        assert!(listed.contains(&format!("`{name}`")), "docs/limits.md does not list {name}");
    }
}

#[test]
fn paths_that_documents_mention_exist() {
    let root = root();
    for document in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/limits.md"] {
        let text = fs::read_to_string(root.join(document)).expect(document);
        for word in text.split('`').skip(1).step_by(2) {
            let known = ["rs", "md", "toml", "rhai", "txt"];
            let is_path = word.contains('/')
                && !word.contains(' ')
                && word.rsplit('.').next().is_some_and(|end| known.contains(&end));
            assert!(!is_path || root.join(word).exists(), "{document} mentions {word}");
        }
    }
}
