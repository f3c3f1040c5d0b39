//! The table of limits is true: each limit is listed, and a test that reaches it is named.

use std::{collections::BTreeSet, fs};

use metatopia_tests::{root, tests_of};

/// Rows of limits that no test reaches. The table says why; the number only falls.
const ROWS_WITHOUT_A_TEST: usize = 1;

/// Files of constants, all of which are limits that the table lists.
const FILES_OF_LIMITS: &[&str] = &[
    "sim/types/src/limits.rs",
    "sim/src/rules/limits.rs",
    "sim/src/rules/limits/borders.rs",
    "sim/src/rules/limits/people.rs",
    "scripting/src/limits.rs",
    "consensus/src/limits.rs",
    "raynet/src/limits.rs",
    "node/store/src/limits.rs",
];

/// Constants of these files that bound nothing.
const NO_LIMITS: &[&str] = &["DENSITY"];

/// A row of the table.
#[derive(Debug)]
struct LimitRow {
    /// The names of the limits that it is about.
    names: Vec<String>,
    /// The files with tests, each with the words by which its test is found, if the row has any.
    tests: Vec<(String, String)>,
    /// Why there is no test; empty if there is one.
    open: String,
}

/// Returns the words of a cell that are set as code.
fn codes(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn row(line: &str) -> LimitRow {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [names, _, _, met] = cells[..] else {
        panic!("the table has a row of other cells: {line}")
    };
    if let Some(open) = met.strip_prefix('-') {
        let open = open.trim_start_matches(':').trim().to_owned();
        return LimitRow { names: codes(names), tests: Vec::new(), open };
    }
    // A file stands between two signs of code, and its words behind it.
    let mut pieces = met.split('`').skip(1);
    let mut tests = Vec::new();
    while let (Some(file), Some(behind)) = (pieces.next(), pieces.next()) {
        let words = behind.strip_prefix(": ").unwrap_or_default();
        tests.push((file.to_owned(), words.trim_end_matches(", ").to_owned()));
    }
    LimitRow { names: codes(names), tests, open: String::new() }
}

/// Returns the rows of all tables of limits.
fn rows() -> Vec<LimitRow> {
    let text = fs::read_to_string(root().join("docs/limits.md")).expect("docs/limits.md");
    let lines = text.lines().filter(|line| line.starts_with("| `"));
    lines.map(row).collect()
}

/// Says whether a text has this word, and not just one that begins or ends like it.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

#[test]
fn every_row_names_a_test_that_names_the_limit() {
    let rows = rows();
    assert!(rows.len() > 300, "the tables were not understood: {} rows", rows.len());
    let mut wrong = Vec::new();
    for LimitRow { names, tests, .. } in &rows {
        for (file, words) in tests {
            let text = fs::read_to_string(root().join(file));
            let text = text.unwrap_or_else(|error| panic!("{names:?}: {file}: {error}"));
            let tests = tests_of(file, &text);
            let is_named = names.iter().all(|name| has_word(tests, name));
            let is_found = !words.is_empty() && tests.contains(words.as_str());
            if !is_named && !is_found {
                wrong.push(format!("{names:?}: {file} {words}"));
            }
        }
    }
    assert!(wrong.is_empty(), "no test there names the limit: {wrong:#?}");
}

#[test]
fn few_rows_have_no_test_and_each_of_these_says_why() {
    let rows = rows();
    let open: Vec<_> = rows.iter().filter(|row| row.tests.is_empty()).collect();
    for row in &open {
        assert!(!row.open.is_empty(), "{:?} has no test, and no reason for it", row.names);
    }
    let names: Vec<_> = open.iter().map(|row| &row.names).collect();
    assert_eq!(open.len(), ROWS_WITHOUT_A_TEST, "rows without a test: {names:?}");
}

#[test]
fn every_shared_limit_is_listed() {
    let listed: BTreeSet<String> = rows().into_iter().flat_map(|row| row.names).collect();
    for file in FILES_OF_LIMITS {
        let text = fs::read_to_string(root().join(file)).expect("a file of limits");
        let names = text.lines().filter_map(|line| line.strip_prefix("pub const "));
        let names: Vec<_> = names.filter_map(|line| line.split(':').next()).collect();
        assert!(names.len() > 5, "{file} was not understood");
        for name in names.into_iter().filter(|name| !NO_LIMITS.contains(name)) {
            assert!(listed.contains(name), "docs/limits.md does not list {name} of {file}");
        }
    }
}
