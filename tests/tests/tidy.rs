//! What a reviewer would say about every file, said by a test.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use metatopia_tests::{PURE, PureCrate, documents, root, sources};

/// The one crate with a C interface: exporting a name takes an unsafe attribute, in one module of it.
const C_INTERFACE: &str = "client/wasm/src/lib.rs";

/// Names that say nothing about what a thing is.
const EMPTY_NAMES: &[&str] = &["manager", "helper", "util", "common", "misc"];

fn is_pure(path: &str) -> bool {
    let is_of = |pure: &PureCrate| {
        path.strip_prefix(pure.folder).is_some_and(|rest| rest.starts_with("/src/"))
    };
    PURE.iter().any(is_of)
}

#[test]
fn no_file_holds_two_rooms() {
    // A port is written by a program, and is as long as its script.
    let ports = ["scripting/src/ports/", "scripting/src/port/samples/"];
    let is_port = |path: &str| ports.iter().any(|folder| path.starts_with(folder));
    for (path, text) in sources().into_iter().filter(|(path, _)| !is_port(path)) {
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

/// Type names that may be defined in more than one file: as many as there are. A name with two meanings
/// costs every reader a search, so this number only falls.
const NAMES_WITH_TWO_MEANINGS: usize = 1;

/// Returns the name of the type that this line defines at the top of a file.
fn defined_type(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub").map_or(line, |rest| {
        let rest = if rest.starts_with('(') {
            rest.split_once(')').map_or("", |(_, rest)| rest)
        } else {
            rest
        };
        rest.trim_start()
    });
    let keywords = ["struct ", "enum ", "trait ", "type ", "union "];
    let rest = keywords.iter().find_map(|keyword| line.strip_prefix(keyword))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

#[test]
fn few_type_names_have_two_meanings() {
    let apart = ["/tests/", "/benches/", "/examples/", "/fuzz/"];
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in sources() {
        let of_the_bench =
            path.starts_with("tests/abuse/src") || path.starts_with("tests/network/src");
        let is_test = path.ends_with("tests.rs")
            || apart.iter().any(|part| format!("/{path}").contains(part));
        if is_test && !of_the_bench {
            continue;
        }
        for name in text.lines().filter_map(defined_type) {
            files.entry(name.to_owned()).or_default().insert(path.clone());
        }
    }
    assert!(files.len() > 1_000, "{} type names were found", files.len());
    let twice: Vec<_> = files.iter().filter(|(_, files)| files.len() > 1).collect();
    assert!(twice.len() <= NAMES_WITH_TWO_MEANINGS, "{} names: {twice:#?}", twice.len());
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

/// Returns the configuration that clippy takes for a crate in this folder: the nearest one upwards.
fn clippy_file(folder: &str) -> String {
    let mut folders = Path::new(folder).ancestors().map(|folder| root().join(folder));
    let nearest = folders.find_map(|folder| fs::read_to_string(folder.join("clippy.toml")).ok());
    nearest.unwrap_or_else(|| panic!("{folder} has no clippy.toml"))
}

#[test]
fn pure_crates_share_one_strict_clippy_file_and_no_other_crate_takes_it() {
    let (strict, lenient) = (clippy_file("sim"), clippy_file(""));
    assert_ne!(strict, lenient);
    for (path, _) in sources().iter().filter(|(path, _)| path.ends_with("src/lib.rs")) {
        let folder = path.trim_end_matches("/src/lib.rs");
        let file = if is_pure(path) { &strict } else { &lenient };
        assert!(clippy_file(folder) == *file, "{folder} has another clippy.toml than its like");
    }
}

#[test]
fn pure_crates_are_built_for_wasm32_too() {
    let script = fs::read_to_string(root().join(".ci/wasm")).expect(".ci/wasm");
    let built: BTreeSet<&str> = script.split_whitespace().collect();
    for PureCrate { name, .. } in PURE {
        assert!(built.contains(format!("metatopia-{name}").as_str()), ".ci/wasm leaves {name} out");
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
fn paths_that_documents_mention_exist() {
    for (document, text) in documents() {
        for word in text.split('`').skip(1).step_by(2) {
            let known = ["rs", "md", "toml", "rhai", "txt", "mjs"];
            let elsewhere = ["/", "~", "DIR/"].iter().any(|start| word.starts_with(start));
            let is_path = word.contains('/')
                && !word.contains(char::is_whitespace)
                && word.rsplit('.').next().is_some_and(|end| known.contains(&end));
            let stands = elsewhere || root().join(word).exists();
            assert!(!is_path || stands, "{document} mentions {word}");
        }
    }
}

/// Rows of the glossary: the word, its meaning, today's type, and the file of that type.
fn glossary() -> Vec<[String; 4]> {
    let text = fs::read_to_string(root().join("docs/glossary.md")).expect("docs/glossary.md");
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let cells = |row: &str| -> [String; 4] {
        let cells = row.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', ""));
        let cells: Vec<String> = cells.collect();
        cells.try_into().unwrap_or_else(|_| panic!("the glossary has a row of other cells: {row}"))
    };
    let rows = rows.map(cells).filter(|[word, ..]| word != "word" && !word.starts_with("--"));
    rows.collect()
}

/// Returns whether a source defines this name: as a type, a function or a constant, or as a field, a variant or an id
/// of a macro's list.
fn defines(source: &str, name: &str) -> bool {
    const BEFORE: &[&str] = &["struct", "enum", "trait", "type", "const", "static", "fn"];
    let code = source.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
    code.into_iter().any(|line| {
        let words = line.split(|sign: char| !(sign.is_alphanumeric() || sign == '_'));
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let rest = line.strip_prefix("pub ").unwrap_or(line).strip_prefix(name);
        words.windows(2).any(|pair| BEFORE.contains(&pair[0]) && pair[1] == name)
            || rest.is_some_and(|rest| {
                rest.starts_with([':', '(', ',', ';']) || rest.starts_with(" {")
            })
    })
}

#[test]
fn every_file_that_the_glossary_names_defines_the_type_beside_it() {
    for [word, _, kind, file] in glossary().iter().filter(|[.., file]| file != "-") {
        let text = fs::read_to_string(root().join(file));
        let text = text.unwrap_or_else(|error| panic!("{word}: {file}: {error}"));
        assert!(defines(&text, kind), "{word}: {file} does not define {kind}");
    }
}

#[test]
fn the_glossary_gives_each_word_one_meaning_in_one_sentence() {
    let rows = glossary();
    let mut words = BTreeSet::new();
    for [word, meaning, ..] in &rows {
        assert!(words.insert(word), "{word} has two meanings");
        assert!(meaning.ends_with('.'), "{word}: {meaning}");
        assert!(!meaning.trim_end_matches('.').contains(". "), "{word}: {meaning}");
    }
    assert!(words.len() >= 60, "the glossary was not understood: {} words", words.len());
}
