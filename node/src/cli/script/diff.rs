//! `script diff` shows how two packages or files differ.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use clap::Args;
use metatopia_client_driver::ClientDriver;
use metatopia_scenarios::package_files;
use serde::Serialize;
use similar::TextDiff;

use super::{
    check,
    lines::shown,
    packages::{self, ScriptFolder},
};
use crate::cli::{console::Console, failure::Failure, session::NodeArgs};

#[derive(Debug, Args)]
pub(in crate::cli) struct ScriptDiffArgs {
    /// The older side: a folder, a file, or a package of the sim.
    a: String,
    /// The newer side: a folder, a file, or a package of the sim.
    b: String,
    #[command(flatten)]
    at: NodeArgs,
}

/// One file that differs.
#[derive(Debug, Serialize)]
struct ChangedFile {
    path: String,
    /// The difference in the unified form.
    diff: String,
}

#[derive(Debug, Serialize)]
struct SourceChanges {
    same: bool,
    files: Vec<ChangedFile>,
}

pub(super) async fn run(args: ScriptDiffArgs, console: Console) -> Result<(), Failure> {
    let mut driver = None;
    let a = side(&args.a, &args.at, &mut driver).await?;
    let b = side(&args.b, &args.at, &mut driver).await?;
    if let Some(driver) = driver {
        driver.leave().await;
    }
    let files = changes(&a, &b);
    if console.is_json() {
        return console.json(&SourceChanges { same: files.is_empty(), files });
    }
    if files.is_empty() {
        console.note("they are the same");
    }
    for file in files {
        file.diff.lines().try_for_each(|line| console.line(&shown(line)))?;
    }
    Ok(())
}

/// Returns the texts of a side by path. A file is one text without a path, so that two files are compared
/// whatever they are called.
async fn side(
    named: &str,
    at: &NodeArgs,
    driver: &mut Option<ClientDriver>,
) -> Result<BTreeMap<String, String>, Failure> {
    let path = Path::new(named);
    if path.is_dir() {
        return Ok(ScriptFolder::read(path)?.whole_texts()?.clone());
    }
    if path.exists() {
        return Ok(BTreeMap::from([(String::new(), check::read(path)?)]));
    }
    if driver.is_none() {
        *driver = Some(at.open_to_ask().await?);
    }
    let driver = driver.as_mut().expect("it was opened above");
    Ok(package_files(&packages::named(driver, named).await?))
}

/// Returns what differs, file by file.
fn changes(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Vec<ChangedFile> {
    let paths: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let mut changed = Vec::new();
    for path in paths {
        let [old, new] = [a, b].map(|side| side.get(path).map_or("", String::as_str));
        if old != new {
            let [left, right] = match path.as_str() {
                "" => ["a".to_owned(), "b".to_owned()],
                path => [format!("a/{path}"), format!("b/{path}")],
            };
            let diff = TextDiff::from_lines(old, new);
            let diff = diff.unified_diff().context_radius(3).header(&left, &right).to_string();
            changed.push(ChangedFile { path: path.clone(), diff });
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(all: &[(&str, &str)]) -> BTreeMap<String, String> {
        all.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn changed_new_and_missing_files_are_shown() {
        let a = texts(&[("a.rhai", "one\ntwo\n"), ("old.txt", "gone\n"), ("same", "x\n")]);
        let b = texts(&[("a.rhai", "one\n2\n"), ("new.txt", "here\n"), ("same", "x\n")]);
        let changed = changes(&a, &b);
        let paths: Vec<&str> = changed.iter().map(|file| &*file.path).collect();
        assert_eq!(paths, ["a.rhai", "new.txt", "old.txt"]);
        let diff = "--- a/a.rhai\n+++ b/a.rhai\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
        assert_eq!(changed[0].diff, diff);
        assert!(changed[1].diff.ends_with("+here\n") && changed[2].diff.ends_with("-gone\n"));
        assert!(changes(&a, &a).is_empty());
    }

    #[test]
    fn two_files_are_compared_whatever_their_names() {
        let changed = changes(&texts(&[("", "a\n")]), &texts(&[("", "b\n")]));
        assert_eq!(changed[0].diff, "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n");
    }
}
