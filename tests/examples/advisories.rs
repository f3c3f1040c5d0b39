//! Prints the copy of the advisories that `tests/tests/supply.rs` reads, from a checkout of the RustSec
//! database: `cargo run -p metatopia-tests --example advisories -- FOLDER DATE > tests/advisories.txt`.
//! `.ci/advisories` fetches one and does that.

use std::{env, error::Error, fs, path::Path};

use metatopia_tests::files;
use toml::{Table, Value};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let (Some(folder), Some(date)) = (words.next(), words.next()) else {
        return Err("name the folder of the database, and its date".into());
    };
    println!("# Advisories about crates, without their words, from the RustSec advisory database");
    println!("# (https://github.com/rustsec/advisory-db, CC0-1.0); .ci/advisories renews them.");
    println!("# as of {date}");
    println!("# advisory, crate, and the versions that it is not about");
    let mut lines = Vec::new();
    for path in files(&Path::new(&folder).join("crates"), ".md")? {
        let text = fs::read_to_string(&path)?;
        lines.extend(line(&text).ok_or_else(|| format!("{} has no facts", path.display()))?);
    }
    lines.sort();
    lines.iter().for_each(|line| println!("{line}"));
    Ok(())
}

/// The line of one advisory; nothing inside if it was withdrawn.
fn line(text: &str) -> Option<Option<String>> {
    let (_, rest) = text.split_once("```toml\n")?;
    let (facts, _) = rest.split_once("```")?;
    let facts: Table = toml::from_str(facts).ok()?;
    let advisory = facts.get("advisory")?;
    if advisory.get("withdrawn").is_some() {
        return Some(None);
    }
    let versions = facts.get("versions");
    let listed = |key: &str| {
        let all = versions.and_then(|versions| versions.get(key)).and_then(Value::as_array);
        all.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
    };
    let safe = [listed("patched"), listed("unaffected")].concat().join("|");
    let text = |key: &str| advisory.get(key).and_then(Value::as_str);
    Some(Some(format!("{}\t{}\t{safe}", text("id")?, text("package")?)))
}
