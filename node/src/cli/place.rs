//! `place` writes and checks places: folders of text that sims are founded from.

mod export;
pub(super) mod folder;

use std::{
    fmt,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use metatopia_scenarios::{Mistake, PLACE_FILE, Place, PlaceTemplate};
use metatopia_sim::is_name;
use serde::Serialize;

use self::{export::PlaceExportArgs, folder::PlaceFolder};
use super::{
    console::Console,
    exit::Exit,
    failure::Failure,
    folder::{folder_name, write_folder},
    numbers::number_of,
    script::lines::quoted,
};

#[derive(Debug, Subcommand)]
pub(super) enum PlaceCommand {
    /// Write a new place into a folder, for you to change.
    #[command(after_help = new_help())]
    New(PlaceNewArgs),
    /// Read the folder of a place, and show all mistakes with line and column. Nothing is run.
    #[command(
        after_help = "Example:\n  metatopia place check my-place\n\nA file that is no TOML, or has \
        a key or a kind of value that does not\nbelong there, shows the first such mistake alone. A place with \
        mistakes ends with exit code 1."
    )]
    Check(PlaceCheckArgs),
    /// Write the present state of a running sim into a folder, as a place: its rules, lands,
    /// things, scripts with what they remember, and packages.
    #[command(after_help = "Example:\n  metatopia place export copy-of-plaza\n  \
        metatopia up --place copy-of-plaza --data-dir copy-world\n\nThe state is that after the \
        newest decided turn. What the sim's servers signed last is checked against their signatures, and \
        the turns since then are computed. Players and what they said are no part of a place.")]
    Export(PlaceExportArgs),
}

#[derive(Debug, Args)]
pub(super) struct PlaceNewArgs {
    /// The folder to write. It must be new or empty.
    dir: PathBuf,
    /// The template to begin with.
    #[arg(long, default_value = "meadow", value_parser = template)]
    template: PlaceTemplate,
    /// The name of the place [default: the name of the folder].
    #[arg(long)]
    name: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct PlaceCheckArgs {
    /// The folder of the place.
    dir: PathBuf,
}

/// The result of a command about a folder.
#[derive(Debug, Serialize)]
struct PlaceReport {
    place: String,
    name: String,
    objects: usize,
    scripts: usize,
    packages: usize,
    lands: usize,
}

impl PlaceReport {
    fn of(dir: &Path, place: &Place) -> Self {
        Self {
            place: dir.display().to_string(),
            name: place.name().to_owned(),
            objects: place.objects().len(),
            scripts: place.objects().iter().map(|object| object.scripts.len()).sum(),
            packages: place.packages().count(),
            lands: place.lands().len(),
        }
    }
}

impl fmt::Display for PlaceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, name, objects, scripts, packages, lands } = self;
        let objects = number_of(*objects, "thing", "things");
        let scripts = number_of(*scripts, "script", "scripts");
        let packages = number_of(*packages, "package", "packages");
        let lands = number_of(*lands, "land", "lands");
        write!(f, "{place}: {name}, {objects} with {scripts} of {packages}, {lands}")
    }
}

/// A mistake in the form that programs read.
#[derive(Debug, Serialize)]
struct MistakeLine<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    message: &'a str,
}

#[derive(Debug, Serialize)]
struct PlaceMistakes<'a> {
    place: String,
    ok: bool,
    mistakes: Vec<MistakeLine<'a>>,
}

/// Runs a command about places.
pub(super) fn run(command: PlaceCommand, console: Console) -> Result<(), Failure> {
    match command {
        PlaceCommand::New(args) => new(&args, console),
        PlaceCommand::Check(args) => check(&args, console),
        PlaceCommand::Export(args) => super::wait(export::run(args, console)),
    }
}

fn new(args: &PlaceNewArgs, console: Console) -> Result<(), Failure> {
    let folder = folder_name(&args.dir);
    let name = args.name.as_deref().or(folder.as_deref()).unwrap_or_default();
    if !is_name(name) {
        return Err(Failure::usage(format!("{name:?} is no name for a place"))
            .hint("give one by --name: one line of at most 32 bytes"));
    }
    let place = args.template.place().expect("a test of the templates loads it");
    let mut files = args.template.files_named(name);
    files.extend(folder::licence_files(&place));
    write_folder(&args.dir, &files)?;
    let report = PlaceReport { name: name.to_owned(), ..PlaceReport::of(&args.dir, &place) };
    console.show(&report)?;
    let dir = quoted(&args.dir.display().to_string());
    let file = quoted(&args.dir.join(PLACE_FILE).display().to_string());
    console.note(&format!(
        "Change {file}, then:\n  metatopia place check {dir}\n  metatopia up --place {dir}"
    ));
    Ok(())
}

fn check(args: &PlaceCheckArgs, console: Console) -> Result<(), Failure> {
    let folder = PlaceFolder::read(&args.dir)?;
    folder.warn_of_skipped(console);
    match folder.place() {
        Ok(place) => {
            let report = PlaceReport::of(&args.dir, &place);
            if console.is_json() {
                return console.show(&report);
            }
            console.line(&format!("{report}: {}", console.verdict(true, "fine")))
        }
        Err(mistakes) => {
            tell(&args.dir.display().to_string(), &mistakes, console)?;
            let count = number_of(mistakes.len(), "mistake", "mistakes");
            let failure = Failure::failed(format!("{} has {count}", args.dir.display()));
            Err(if console.is_json() { Failure::quiet(Exit::Failed) } else { failure })
        }
    }
}

/// Prints mistakes, as lines or as one object.
fn tell(place: &str, mistakes: &[Mistake], console: Console) -> Result<(), Failure> {
    if !console.is_json() {
        return mistakes.iter().try_for_each(|mistake| console.line(&mistake.to_string()));
    }
    let mistakes = mistakes.iter().map(|mistake| {
        let Mistake { file, line, column, message } = mistake;
        MistakeLine { file, line: *line, column: *column, message }
    });
    console.json(&PlaceMistakes {
        place: place.to_owned(),
        ok: false,
        mistakes: mistakes.collect(),
    })
}

fn template(name: &str) -> Result<PlaceTemplate, String> {
    PlaceTemplate::named(name).ok_or_else(|| {
        let names: Vec<&str> = PlaceTemplate::ALL.iter().map(|template| template.name).collect();
        format!("there are {}", names.join(", "))
    })
}

fn new_help() -> String {
    let line = |template: &PlaceTemplate| format!("\n  {:<9} {}", template.name, template.about);
    let templates: String = PlaceTemplate::ALL.iter().map(line).collect();
    format!(
        "Templates:{templates}\n\nExample:\n  metatopia place new my-place --template house\n  \
         metatopia up --place my-place\n\ndocs/places.md describes what a place says."
    )
}

#[cfg(test)]
mod tests;
