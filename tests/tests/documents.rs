//! What a reader of the documents relies on: links lead somewhere, and lines fit a screen.

use std::{collections::BTreeSet, path::Path};

use metatopia_tests::{documents, root};

/// Lines of a document outside its blocks of code.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    })
}

/// Returns the targets of the links and images of a document, as written.
fn targets(text: &str) -> Vec<String> {
    let of_line = |line: &str| -> Vec<String> {
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        targets.map(str::to_owned).collect()
    };
    prose(text).flat_map(|(_, line)| of_line(line)).collect()
}

/// Returns the anchors that a document's headings get on the web: lower case, hyphens for spaces,
/// no other signs.
fn anchors(text: &str) -> BTreeSet<String> {
    let anchor = |heading: &str| -> String {
        let kept = heading.chars().filter(|sign| sign.is_alphanumeric() || " -_".contains(*sign));
        kept.map(|sign| if sign == ' ' { '-' } else { sign.to_ascii_lowercase() }).collect()
    };
    let headings = prose(text).filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| anchor(line.trim_start_matches('#').trim())).collect()
}

#[test]
fn links_of_documents_lead_to_files_and_headings() {
    let all = documents();
    for (document, text) in &all {
        let folder = Path::new(document).parent().expect("a document lies in a folder");
        for target in targets(text).iter().filter(|target| !target.contains("://")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { document.into() } else { folder.join(file) };
            let path = root().join(path).canonicalize();
            let path = path.unwrap_or_else(|_| panic!("{document} links to {target}"));
            if anchor.is_empty() {
                continue;
            }
            let linked = all
                .iter()
                .find(|(name, _)| root().join(name).canonicalize().is_ok_and(|it| it == path));
            let (_, linked) = linked.unwrap_or_else(|| panic!("{document} links into {target}"));
            assert!(anchors(linked).contains(anchor), "{document} links to {target}, no heading");
        }
    }
}

#[test]
fn lines_of_documents_fit_120_columns() {
    for (document, text) in documents() {
        let mut lines = (1..).zip(text.lines());
        // A row of a table cannot be broken.
        let long = lines.find(|(_, line)| line.chars().count() > 120 && !line.starts_with('|'));
        assert_eq!(long, None, "{document} has a long line");
    }
}

#[test]
fn readme_and_architecture_have_at_most_150_lines() {
    let bounds = [("README.md", 150), ("ARCHITECTURE.md", 150)];
    for (document, text) in documents() {
        let bound = bounds.iter().find(|(name, _)| *name == document);
        let lines = text.lines().count();
        assert!(bound.is_none_or(|(_, most)| lines <= *most), "{document} has {lines} lines");
    }
}
