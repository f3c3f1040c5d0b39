//! The scripts in the documentation compile. What they import is an example of that name.

use std::{collections::BTreeMap, fs, path::Path};

use metatopia_scenarios::{ExamplePackage, KnownPackages};
use metatopia_scripting::ImportTree;
use metatopia_types::PackageId;

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
    let known: KnownPackages =
        ExamplePackage::ALL.iter().map(|each| (each.package().id(), each.package())).collect();
    let all: BTreeMap<String, PackageId> =
        known.iter().map(|(id, package)| (package.manifest().name.clone(), *id)).collect();
    let mut count = 0;
    for entry in fs::read_dir(docs).expect("the documents") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a document");
        for (line, script) in scripts(&text) {
            let is_imported = |name: &&String| script.contains(&format!("import \"{name}\""));
            let named = all.keys().filter(is_imported);
            let imports = named.map(|name| (name.clone(), all[name])).collect();
            let tree = ImportTree::find(&imports, &|id| known.get(id)).expect("examples");
            let checked = tree.check(&path.display().to_string(), &script);
            assert!(checked.is_ok(), "{}:{line}: {checked:?}\n{script}", path.display());
            count += 1;
        }
    }
    assert!(count >= 6, "{count} scripts");
}
