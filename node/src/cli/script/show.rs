//! `script show` tells what a package says of itself, and where it runs.

use std::{collections::BTreeMap, fmt};

use clap::Args;
use metatopia_client::text::printable;
use metatopia_protocol::{PackageEntry, ScriptEntry};
use metatopia_scripting::Package;
use serde::Serialize;

use super::packages::{known, named, running};
use crate::cli::{console::Console, failure::Failure, session::NodeArgs};

#[derive(Debug, Args)]
pub(in crate::cli) struct ScriptShowArgs {
    /// The id of the package, or its first digits, at least eight.
    package: String,
    #[command(flatten)]
    at: NodeArgs,
}

/// Somebody who wrote a package.
#[derive(Debug, Serialize)]
struct ShownAuthor {
    name: String,
    key: Option<String>,
}

/// A file of a package.
#[derive(Debug, Serialize)]
struct ShownFile {
    path: String,
    bytes: usize,
    blob: String,
}

/// A script that runs a package.
#[derive(Debug, Serialize)]
struct ShownRun {
    script: u64,
    object: u64,
    name: String,
}

/// What a package says of itself.
#[derive(Debug, Serialize)]
struct ShownPackage {
    package: String,
    name: String,
    version: String,
    api: u16,
    entry: String,
    licence: String,
    chosen: String,
    authors: Vec<ShownAuthor>,
    parent: Option<String>,
    /// The packages that it imports, by its names for them.
    imports: BTreeMap<String, String>,
    /// Who published it; nobody means that it ships with the sim.
    publisher: Option<String>,
    /// The turn that brought it; 0 means that it ships with the sim.
    height: Option<u64>,
    bytes: usize,
    files: Vec<ShownFile>,
    runs: Vec<ShownRun>,
}

impl ShownPackage {
    fn of(package: &Package, known: Option<&PackageEntry>, running: &[ScriptEntry]) -> Self {
        let manifest = package.manifest();
        let author = |author: &metatopia_scripting::PackageAuthor| ShownAuthor {
            name: author.name.clone(),
            key: author.key.map(|key| key.to_string()),
        };
        let file = |(path, text): (&String, &String)| ShownFile {
            path: path.clone(),
            bytes: text.len(),
            blob: manifest.files[path].to_string(),
        };
        let run = |entry: &ScriptEntry| ShownRun {
            script: entry.script.0,
            object: entry.object.0,
            name: entry.name.clone(),
        };
        let runs = running.iter().filter(|entry| entry.package == package.id());
        Self {
            package: package.id().to_string(),
            name: manifest.name.clone(),
            version: manifest.version.to_string(),
            api: manifest.api,
            entry: manifest.entry.clone(),
            licence: manifest.licence.expression.clone(),
            chosen: manifest.licence.chosen.clone(),
            authors: manifest.authors.iter().map(author).collect(),
            parent: manifest.parent.map(|id| id.to_string()),
            imports: (manifest.imports.iter())
                .map(|(name, id)| (name.clone(), id.to_string()))
                .collect(),
            publisher: known.and_then(|entry| entry.publisher).map(|key| key.to_string()),
            height: known.map(|entry| entry.height.0),
            bytes: package.encode().len(),
            files: package.files().iter().map(file).collect(),
            runs: runs.map(run).collect(),
        }
    }
}

impl fmt::Display for ShownPackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "package  {}", self.package)?;
        writeln!(
            f,
            "source   {} {}, api {}, {} bytes",
            self.name, self.version, self.api, self.bytes
        )?;
        write!(f, "licence  {}", self.licence)?;
        if self.chosen != self.licence {
            write!(f, "; here {}", self.chosen)?;
        }
        for ShownAuthor { name, key } in &self.authors {
            write!(f, "\nauthor   {}", printable(name))?;
            if let Some(key) = key {
                write!(f, ", key {key}")?;
            }
        }
        if let Some(parent) = &self.parent {
            write!(f, "\nparent   {parent}")?;
        }
        for (name, id) in &self.imports {
            write!(f, "\nimports  {name}, package {id}")?;
        }
        match (&self.publisher, self.height) {
            (Some(key), Some(height)) => write!(f, "\ncame     in turn {height}, from key {key}")?,
            _ => write!(f, "\ncame     with the sim")?,
        }
        for ShownFile { path, bytes, .. } in &self.files {
            let entry = if *path == self.entry { ", which runs" } else { "" };
            write!(f, "\nfile     {path}, {bytes} bytes{entry}")?;
        }
        for ShownRun { script, object, name } in &self.runs {
            write!(f, "\nruns     as script {script} on {} (object {object})", printable(name))?;
        }
        if self.runs.is_empty() {
            write!(f, "\nruns     nowhere")?;
        }
        Ok(())
    }
}

pub(super) async fn run(args: ScriptShowArgs, console: Console) -> Result<(), Failure> {
    let mut driver = args.at.open_to_ask().await?;
    let package = named(&mut driver, &args.package).await?;
    let known = known(&mut driver).await?;
    let running = running(&mut driver).await?;
    driver.leave().await;
    let entry = known.iter().find(|entry| entry.package == package.id());
    console.show(&ShownPackage::of(&package, entry, &running))
}
