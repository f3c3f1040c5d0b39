//! `script list` and `script top`: the scripts that run, and what they cost.

use std::{collections::BTreeMap, fmt, time::Duration};

use clap::Args;
use metatopia_client::text::printable;
use metatopia_protocol::{PackageEntry, ScriptEntry};
use metatopia_types::ScriptId;
use serde::Serialize;
use tokio::time::{Instant, sleep};

use super::packages::{DIGITS_MIN, known, running};
use crate::cli::{
    arguments, console::Console, failure::Failure, numbers::number_of, session::NodeArgs,
};

#[derive(Debug, Serialize)]
struct RunningLine {
    script: u64,
    object: u64,
    name: String,
    package: String,
    owner: Option<String>,
    failures: u64,
    last_failure: Option<(u64, String)>,
    /// The tick since which it is suspended.
    suspended: Option<u64>,
    dropped: u64,
    /// All gas that the script has used.
    gas: u64,
}

impl From<ScriptEntry> for RunningLine {
    fn from(entry: ScriptEntry) -> Self {
        Self {
            script: entry.script.0,
            object: entry.object.0,
            name: entry.name,
            package: entry.package.to_string(),
            owner: entry.owner.map(|key| key.to_string()),
            failures: entry.failures,
            last_failure: entry.last_failure.map(|(tick, kind)| (tick.0, kind)),
            suspended: entry.suspended.map(|tick| tick.0),
            dropped: entry.dropped,
            gas: entry.gas_used,
        }
    }
}

impl fmt::Display for RunningLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { script, object, name, package, failures, dropped, gas, .. } = self;
        let name = printable(name);
        write!(f, "{script:>5}  on {name} (object {object}), package {package}, {gas} gas")?;
        if let Some((tick, kind)) = &self.last_failure {
            let failed = match failures {
                1 => "1 call failed, at tick".to_owned(),
                _ => format!("{failures} calls failed, the last at tick"),
            };
            write!(f, "; {failed} {tick}: {}", printable(kind))?;
        }
        if self.suspended.is_some() {
            write!(
                f,
                "; suspended: `metatopia script logs {script}` shows why, and \
                 `metatopia script resume {script}` has it run again"
            )?;
        }
        if *dropped > 0 {
            let what = number_of(*dropped, "event, timer or line", "events, timers or lines");
            write!(f, "; {what} dropped")?;
        }
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ScriptListArgs {
    /// List the packages of the sim in place of its scripts, also those that no script runs.
    #[arg(long)]
    packages: bool,
    #[command(flatten)]
    at: NodeArgs,
}

/// A package of the sim, as its node says.
#[derive(Debug, Serialize)]
struct ListedPackage {
    package: String,
    name: String,
    version: String,
    licence: String,
    /// Who wrote it; of many the first ones.
    authors: String,
    /// The key that published it; nobody if it ships with the sim.
    publisher: Option<String>,
    /// The turn that brought it.
    height: u64,
    bytes: u32,
    /// Scripts that run it, or fall back to it.
    scripts: u32,
    /// The turn in which its source left the state.
    left: Option<u64>,
}

impl From<PackageEntry> for ListedPackage {
    fn from(entry: PackageEntry) -> Self {
        Self {
            package: entry.package.to_string(),
            name: entry.name,
            version: entry.version,
            licence: entry.licence,
            authors: entry.authors,
            publisher: entry.publisher.map(|key| key.to_string()),
            height: entry.height.0,
            bytes: entry.bytes,
            scripts: entry.scripts,
            left: entry.left.map(|height| height.0),
        }
    }
}

/// The packages of a sim in columns.
struct PackageTable<'a>(&'a [ListedPackage]);

impl fmt::Display for PackageTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Eight digits name a package in every command, and so many of a key tell publishers apart.
        let short = |digits: &str| digits.get(..DIGITS_MIN).unwrap_or(digits).to_owned();
        let row = |package: &ListedPackage| {
            let name = format!("{} {}", printable(&package.name), printable(&package.version));
            let publisher = package.publisher.as_deref().map_or_else(|| "the place".into(), short);
            let state = match package.left {
                Some(height) => format!("left at {height}"),
                None => package.scripts.to_string(),
            };
            let (name, licence) = (name.trim().to_owned(), printable(&package.licence));
            let authors = printable(&package.authors);
            let (height, bytes) = (package.height.to_string(), package.bytes.to_string());
            [short(&package.package), name, licence, authors, publisher, height, bytes, state]
        };
        let head =
            ["package", "name", "licence", "authors", "publisher", "height", "bytes", "scripts"];
        let rows: Vec<[String; 8]> =
            [head.map(str::to_owned)].into_iter().chain(self.0.iter().map(row)).collect();
        let widths: [usize; 8] = std::array::from_fn(|column| {
            rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
        });
        for (place, row) in rows.iter().enumerate() {
            let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
            let line = cells.collect::<Vec<String>>().join("  ");
            write!(f, "{}{}", if place == 0 { "" } else { "\n" }, line.trim_end())?;
        }
        Ok(())
    }
}

async fn list_packages(args: NodeArgs, console: Console) -> Result<(), Failure> {
    let mut driver = args.open_to_ask().await?;
    let packages = known(&mut driver).await;
    driver.leave().await;
    let packages: Vec<ListedPackage> = packages?.into_iter().map(ListedPackage::from).collect();
    if console.is_json() {
        return packages.iter().try_for_each(|package| console.json(package));
    }
    if packages.is_empty() {
        console.note("the sim has no package");
        return Ok(());
    }
    console.line(&PackageTable(&packages).to_string())
}

pub(super) async fn list(args: ScriptListArgs, console: Console) -> Result<(), Failure> {
    let ScriptListArgs { packages, at } = args;
    if packages {
        return list_packages(at, console).await;
    }
    let mut driver = at.open_to_ask().await?;
    let scripts = running(&mut driver).await;
    driver.leave().await;
    scripts?.into_iter().try_for_each(|entry| console.show(&RunningLine::from(entry)))
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ScriptTopArgs {
    /// For how long the gas is counted.
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = arguments::duration)]
    over: Duration,
    /// The most scripts to show.
    #[arg(long, default_value_t = 20)]
    count: usize,
    #[command(flatten)]
    at: NodeArgs,
}

/// What a script took while it was watched.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct ScriptCost {
    script: u64,
    object: u64,
    name: String,
    package: String,
    /// Gas of each second, on average.
    gas_per_second: u64,
    /// All gas that the script has used.
    gas: u64,
    failures: u64,
}

impl fmt::Display for ScriptCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { script, object, name, package, gas_per_second, gas, failures } = self;
        let name = printable(name);
        write!(
            f,
            "{gas_per_second:>9} gas a second  {gas:>12} in all  script {script} on {name} \
             (object {object}), package {}..",
            &package[..8]
        )?;
        if *failures > 0 {
            write!(f, ", {}", number_of(*failures, "failure", "failures"))?;
        }
        Ok(())
    }
}

pub(super) async fn top(args: ScriptTopArgs, console: Console) -> Result<(), Failure> {
    let mut driver = args.at.open_to_ask().await?;
    let began = Instant::now();
    let before = running(&mut driver).await?;
    sleep(args.over).await;
    let after = running(&mut driver).await?;
    let watched = began.elapsed();
    driver.leave().await;
    let costs = costs(&before, after, watched);
    if costs.is_empty() {
        console.note("no script runs there");
    }
    costs.iter().take(args.count).try_for_each(|cost| console.show(cost))
}

/// Returns what each script took, the dearest first.
fn costs(before: &[ScriptEntry], after: Vec<ScriptEntry>, watched: Duration) -> Vec<ScriptCost> {
    let known: BTreeMap<ScriptId, u64> =
        before.iter().map(|entry| (entry.script, entry.gas_used)).collect();
    let millis = u64::try_from(watched.as_millis()).unwrap_or(u64::MAX).max(1);
    let cost = |entry: ScriptEntry| {
        // A script that began meanwhile took all of its gas meanwhile.
        let had = known.get(&entry.script).copied().unwrap_or_default();
        let took = entry.gas_used.saturating_sub(had);
        ScriptCost {
            script: entry.script.0,
            object: entry.object.0,
            name: entry.name,
            package: entry.package.to_string(),
            gas_per_second: took.saturating_mul(1_000) / millis,
            gas: entry.gas_used,
            failures: entry.failures,
        }
    };
    let mut costs: Vec<ScriptCost> = after.into_iter().map(cost).collect();
    costs.sort_by_key(|cost| std::cmp::Reverse((cost.gas_per_second, cost.gas)));
    costs
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Digest, Height, PackageId, PublicKey, Tick};

    use super::*;
    use crate::cli::script::packages::runs;

    fn entry(script: u64, gas_used: u64) -> ScriptEntry {
        let package = PackageId(Digest([0xab; 32]));
        ScriptEntry { gas_used, ..runs(script, "la\u{1b}mp", package) }
    }

    #[test]
    fn the_dearest_script_comes_first_and_a_new_one_counts_from_nothing() {
        let before = [entry(1, 1_000), entry(2, 5_000)];
        let after = vec![entry(1, 5_000), entry(2, 5_000), entry(3, 3_000)];
        let costs = costs(&before, after, Duration::from_secs(2));
        let order: Vec<_> = costs.iter().map(|cost| (cost.script, cost.gas_per_second)).collect();
        assert_eq!(order, [(1, 2_000), (3, 1_500), (2, 0)]);
        let line = costs[0].to_string();
        assert!(line.contains("2000 gas a second") && line.contains("abababab.."), "{line}");
        assert!(!line.contains('\u{1b}'));
    }

    /// One failure was told as "1 calls failed" and as "1 failures".
    #[test]
    fn one_failure_is_told_as_one() {
        let failed = |failures| ScriptEntry {
            failures,
            last_failure: Some((Tick(9), "out of gas".to_owned())),
            dropped: failures,
            ..entry(1, 1_000)
        };
        let told = |failures| RunningLine::from(failed(failures)).to_string();
        let (one, two) = (told(1), told(2));
        assert!(one.contains("; 1 call failed, at tick 9: out of gas"), "{one}");
        assert!(one.ends_with("; 1 event, timer or line dropped"), "{one}");
        assert!(two.contains("; 2 calls failed, the last at tick 9: out of gas"), "{two}");
        assert!(two.ends_with("; 2 events, timers or lines dropped"), "{two}");
        let cost = |failures| {
            let costs = costs(&[], vec![failed(failures)], Duration::from_secs(1));
            costs[0].to_string()
        };
        assert!(cost(1).ends_with(", 1 failure"), "{}", cost(1));
        assert!(cost(2).ends_with(", 2 failures"), "{}", cost(2));
    }

    fn listed(byte: u8, left: Option<u64>) -> ListedPackage {
        let has_left = left.is_some();
        ListedPackage::from(PackageEntry {
            package: PackageId(Digest([byte; 32])),
            name: if has_left { String::new() } else { "la\u{1b}mp".into() },
            version: if has_left { String::new() } else { "1.2.0".into() },
            licence: "GPL-3.0-or-later".into(),
            authors: "Ada, B\u{1b}ob".into(),
            publisher: has_left.then_some(PublicKey([0xcd; 32])),
            height: Height(12),
            bytes: 900,
            scripts: 3,
            left: left.map(Height),
        })
    }

    /// Whoever looked for a package to attach had to know its id: only those that run were listed.
    #[test]
    fn packages_are_listed_with_their_publishers_and_with_when_they_left() {
        let packages = [listed(0xab, None), listed(0xef, Some(70))];
        let told = PackageTable(&packages).to_string();
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines.len(), 3, "{told}");
        assert!(lines[0].starts_with("package   name"), "{told}");
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            words(lines[1]),
            "abababab la mp 1.2.0 GPL-3.0-or-later Ada, B ob the place 12 900 3"
        );
        assert_eq!(
            words(lines[2]),
            "efefefef GPL-3.0-or-later Ada, B ob cdcdcdcd 12 900 left at 70"
        );
        assert!(!told.contains('\u{1b}'), "{told:?}");
        let json = serde_json::to_value(&packages[1]).expect("JSON");
        assert_eq!(json["left"], 70);
        assert_eq!(json["scripts"], 3);
        assert_eq!(json["publisher"], "cd".repeat(32));
    }
}
