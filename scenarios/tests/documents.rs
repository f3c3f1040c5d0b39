//! The scripts in the documentation compile and run, and its tables are those of places and packages. What a script
//! imports is an example of that name.

use std::{collections::BTreeMap, fs, path::Path};

use metatopia_scenarios::{ExamplePackage, KnownPackages, Place, plaza, read_package, rehearse};
use metatopia_scripting::{ImportTree, Package};
use metatopia_types::PackageId;

/// An example in a document: what stands between two fences.
struct Example {
    /// The document and the line where it begins.
    at: String,
    /// The language that the first fence names.
    language: String,
    text: String,
}

/// Returns the examples of a document.
fn examples(name: &str, text: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut is_inside = false;
    for (number, line) in (1..).zip(text.lines()) {
        match line.strip_prefix("```") {
            Some(language) => {
                is_inside = !is_inside;
                if is_inside {
                    let (at, language) = (format!("{name}:{number}"), language.to_owned());
                    found.push(Example { at, language, text: String::new() });
                }
            }
            None if is_inside => {
                let example = found.last_mut().expect("a fence came before");
                example.text.push_str(line);
                example.text.push('\n');
            }
            None => {}
        }
    }
    found
}

/// Returns the examples of all documents.
fn all_examples() -> Vec<Example> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let entries = fs::read_dir(docs).expect("the documents");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.sort();
    let of = |path: &std::path::PathBuf| {
        let text = fs::read_to_string(path).expect("a document");
        examples(&path.display().to_string(), &text)
    };
    paths.iter().flat_map(of).collect()
}

/// Says whether a script is the tests of another one.
fn is_test(script: &str) -> bool {
    script.contains("fn test_")
}

/// A script among the examples, with the packages that it imports.
type ExampleScript = (Example, BTreeMap<String, PackageId>);

/// Returns the scripts among the examples, each with the packages that it imports, and all packages.
fn scripts() -> (Vec<ExampleScript>, KnownPackages) {
    let known: KnownPackages =
        ExamplePackage::ALL.iter().map(|each| (each.package().id(), each.package())).collect();
    let named = |known: &KnownPackages, script: &str| {
        let all = known.iter().map(|(id, package)| (package.manifest().name.clone(), *id));
        all.filter(|(name, _)| script.contains(&format!("import \"{name}\""))).collect()
    };
    let mut scripts = all_examples();
    scripts.retain(|example| example.language == "rhai");
    let scripts: Vec<_> = scripts
        .into_iter()
        .map(|example| {
            let imports = named(&known, &example.text);
            (example, imports)
        })
        .collect();
    assert!(scripts.len() >= 20, "{} scripts", scripts.len());
    (scripts, known)
}

#[test]
fn every_script_of_the_documents_compiles() {
    let (scripts, known) = scripts();
    // Tests are compiled with what they can use, and run below.
    let scripts = scripts.into_iter().filter(|(example, _)| !is_test(&example.text));
    for (Example { at, text, .. }, imports) in scripts {
        let tree = ImportTree::find(&imports, &|id| known.get(id)).expect("examples");
        let checked = tree.check(&at, &text);
        assert!(checked.is_ok(), "{at}: {checked:?}\n{text}");
    }
}

/// One was fenced as Rust, so nothing compiled it.
#[test]
fn no_script_of_the_documents_is_fenced_as_something_else() {
    for Example { at, language, text } in all_examples() {
        let is_script = text.contains("fn on_") || is_test(&text);
        assert!(!is_script || language == "rhai", "{at} is fenced as {language:?}");
    }
}

/// The script that `metatopia script new` writes; what the documents show of tests are tests of it.
const LAMP: &str = include_str!("../../node/src/cli/script/template/script.rhai");

/// Does with the example what people do with most things: touches it, speaks beside it, and waits.
const VISIT: &str =
    "fn test_visit() { wait(1); touch(); chat(\"hello\"); chat(\"open\"); wait(6); }\n";

#[test]
fn every_script_of_the_documents_runs_in_a_small_sim() {
    let (scripts, known) = scripts();
    for (Example { at, text, .. }, imports) in scripts {
        let mut manifest = manifest("shown.rhai", "[imports]\n");
        for (name, id) in imports {
            manifest.push_str(&format!("{name} = \"{id}\"\n"));
        }
        let (script, tests) = if is_test(&text) { (LAMP, &*text) } else { (&*text, VISIT) };
        let files = [("package.toml", &*manifest), ("shown.rhai", script), ("tests.rhai", tests)];
        let package = read_package("shown", &BTreeMap::from(files)).expect("a package");
        let tests = rehearse("shown", &package, &known).expect("it compiles");
        let mistakes: Vec<_> = tests.into_iter().filter_map(|test| test.mistake).collect();
        assert!(mistakes.is_empty(), "{at}: {mistakes:?}\n{text}");
    }
}

/// Returns the manifest of a package with this entry.
fn manifest(entry: &str, more: &str) -> String {
    format!(
        "name = \"shown\"\nversion = \"1.0.0\"\napi = 1\nentry = \"{entry}\"\n\
         licence = \"AGPL-3.0-or-later\"\nauthors = [\"Ada\"]\n{more}"
    )
}

/// What stands before a part of a place: what every place says, and a thing that the part is about.
const BEFORE: &str = "name = \"yard\"\nlicence = \"AGPL-3.0-or-later\"\nasset_licence = \"CC0-1.0\"\n\
    [[object]]\nkind = \"gate\"\nname = \"gate\"\nmark = \"gate\"\nat = [9, 0]\nbox = [1, 1]\n\
    [[object]]\nkind = \"plank\"\nname = \"seesaw\"\nmark = \"seesaw\"\nat = [-14, \"0.8\"]\nbox = [4, \"0.25\"]\n\
    motion = \"dynamic\"\n";

/// Reads an example of a place: a whole one, or tables that stand in one.
fn read_place(text: &str, packages: &[Package]) -> String {
    let is_part = text.starts_with("[[");
    let whole = if is_part { format!("{BEFORE}{text}") } else { text.to_owned() };
    Place::parse("shown.toml", &whole, packages).err().map_or_else(String::new, |m| m.to_string())
}

/// Reads an example of a manifest, with ids and keys in place of what stands for them.
fn read_manifest(text: &str, known: &KnownPackages) -> String {
    let scores = known.iter().find(|(_, package)| package.manifest().name == "scores");
    let (id, key) = (scores.expect("an example").0.to_string(), "66".repeat(32));
    let text = text.replace("key = \"...\"", &format!("key = \"{key}\""));
    let text = text.replace("\"<64 hexadecimal digits>\"", &format!("\"{key}\""));
    let text = text.replace("\"...\"", &format!("\"{id}\""));
    let entry = text.lines().find_map(|line| line.strip_prefix("entry = \"")).expect("an entry");
    let entry = entry.split('"').next().expect("a name");
    let files = BTreeMap::from([("package.toml", &*text), (entry, "fn on_start() {}\n")]);
    read_package("shown", &files).err().map_or_else(String::new, |mistake| mistake.to_string())
}

#[test]
fn every_table_that_the_documents_show_of_a_place_or_a_package_is_one() {
    let packages = plaza::packages();
    let (_, known) = scripts();
    let is_of = |example: &Example| {
        let named = |document: &str| example.at.contains(&format!("/{document}:"));
        example.language == "toml" && (named("places.md") || named("scripting.md"))
    };
    let mut count = 0;
    for Example { at, text, .. } in all_examples().into_iter().filter(is_of) {
        let mistake = match text.contains("\nentry = ") {
            true => read_manifest(&text, &known),
            false => read_place(&text, &packages),
        };
        assert_eq!(mistake, "", "{at}\n{text}");
        count += 1;
    }
    assert!(count >= 5, "{count} tables");
}
