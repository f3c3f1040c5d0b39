//! The scripts in the documentation compile.

use std::{fs, path::Path};

use metatopia_scripting::check;

/// Returns the scripts of a document, with the line where each begins.
fn scripts(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut is_inside = false;
    for (number, line) in (1..).zip(text.lines()) {
        if line == "```rhai" {
            is_inside = true;
            found.push((number, String::new()));
        } else if line.starts_with("```") {
            is_inside = false;
        } else if let (true, Some((_, script))) = (is_inside, found.last_mut()) {
            script.push_str(line);
            script.push('\n');
        }
    }
    found
}

#[test]
fn every_script_of_the_documents_compiles() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let mut count = 0;
    for entry in fs::read_dir(docs).expect("the documents") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a document");
        for (line, script) in scripts(&text) {
            let mistakes = check(&script);
            assert!(mistakes.is_empty(), "{}:{line}: {mistakes:?}\n{script}", path.display());
            count += 1;
        }
    }
    assert!(count >= 6, "{count} scripts");
}
