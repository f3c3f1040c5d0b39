//! The place in which bots come in before a border, and the thing that they carry if parcels are to be large.

use std::{fmt::Write as _, fs, path::Path};

use metatopia_load::crossing::{BurdenKind, MODEL_KIND, MODEL_LADEN};
use metatopia_types::limits::PARCEL_BYTES_MAX;

use crate::cli::Failure;

/// A place whose people come in some metres before the eastern line.
const PLACE: &str = "name = \"yard\"\nlicence = \"AGPL-3.0-or-later\"\n\
    asset_licence = \"CC-BY-SA-4.0\"\nspawn = [112, 0]\nspawn_radius = 12\n";

/// Bytes in a KiB.
const KIB: usize = 1_024;

/// The most bytes of a person and her thing in a parcel.
const BESIDES: usize = 330;

/// The most bytes of a script in a parcel besides the letters that it remembers.
const SCRIPT: usize = 80;

/// The most letters that one script remembers. With their names they have less than the 16 KiB of a state.
const LETTERS: usize = 15_900;

/// Into so many texts they are cut, because a text has at most 4 KiB.
const TEXTS: usize = 4;

/// How many bytes the parcels of bots are to have: 1 KiB at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ParcelSize(usize);

/// Reads a size like `48KiB`.
///
/// # Errors
/// A sentence that says how sizes of parcels are written.
pub(super) fn parcel_size(text: &str) -> Result<ParcelSize, String> {
    let most = PARCEL_BYTES_MAX / KIB;
    let number =
        text.strip_suffix("KiB").and_then(|number| number.trim_end().parse::<usize>().ok());
    match number {
        Some(number) if (1..=most).contains(&number) => Ok(ParcelSize(number * KIB)),
        _ => Err(format!("a parcel looks like {most}KiB, and has 1KiB to {most}KiB")),
    }
}

impl ParcelSize {
    /// Returns how many parcels of this size are as many bytes as the largest one has.
    pub(super) const fn in_the_largest(self) -> u64 {
        (PARCEL_BYTES_MAX / self.0) as u64
    }

    /// Returns how many scripts its thing has, and how many letters each of their texts.
    const fn scripts(self) -> (usize, usize) {
        let bytes = self.0.saturating_sub(BESIDES);
        let scripts = bytes.div_ceil(LETTERS + SCRIPT);
        (scripts, (bytes / scripts - SCRIPT) / TEXTS)
    }
}

/// Returns what bots carry where parcels are to have this size.
pub(super) const fn carried(size: Option<ParcelSize>) -> BurdenKind {
    if size.is_some() { BurdenKind::Copy } else { BurdenKind::Ball }
}

/// Writes the place into a new folder. With a size it has the thing that bots copy.
///
/// # Errors
/// When the folder cannot be written.
pub(super) fn write(dir: &Path, size: Option<ParcelSize>) -> Result<(), Failure> {
    let package = dir.join("packages").join(MODEL_KIND);
    let files = match size {
        None => vec![(dir.join("place.toml"), PLACE.to_owned())],
        Some(size) => vec![
            (dir.join("place.toml"), format!("{PLACE}{}", model(size))),
            (package.join("package.toml"), manifest()),
            (package.join("main.rhai"), source(size)),
        ],
    };
    for (path, text) in files {
        let failed = |error| Failure::failed(format!("{}: {error}", path.display()));
        fs::create_dir_all(path.parent().unwrap_or(dir)).map_err(failed)?;
        fs::write(&path, text).map_err(failed)?;
    }
    Ok(())
}

/// Returns the thing that bots copy. It is heavy, so that nobody pushes it out of their reach.
fn model(size: ParcelSize) -> String {
    let (scripts, _) = size.scripts();
    let mut text = format!(
        "\n[[object]]\nkind = \"{MODEL_KIND}\"\nname = \"{MODEL_KIND}\"\nat = [112, 0]\n\
         disc = \"0.25\"\nmotion = \"dynamic\"\nmass = 16000\ncolor = \"c08040\"\n"
    );
    for _ in 0..scripts {
        write!(text, "\n[[object.scripts]]\npackage = \"{MODEL_KIND}\"\n").expect("a String");
    }
    text
}

fn manifest() -> String {
    format!(
        "name = \"{MODEL_KIND}\"\nversion = \"1.0.0\"\napi = 1\nentry = \"main.rhai\"\n\
         licence = \"AGPL-3.0-or-later\"\nauthors = [\"The Metatopia authors\"]\n"
    )
}

/// Returns a script that remembers what it is to remember from its first event on. Its thing says so half a second
/// later. The model says nothing, because a copy has the text of its model before it has any state.
fn source(size: ParcelSize) -> String {
    let (_, letters) = size.scripts();
    let mut text = format!("fn on_start() {{\n    let words = \"{}\";\n", "x".repeat(letters));
    for n in 0..TEXTS {
        writeln!(text, "    state.text{n} = words;").expect("a String");
    }
    text.push_str("    timer(\"laden\", 0.5);\n}\n\nfn on_timer(name) {\n");
    writeln!(text, "    if self_.owner != () {{ self_.text = \"{MODEL_LADEN}\"; }}\n}}")
        .expect("a String");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cli::place::folder::PlaceFolder, scratch::Scratch};

    #[test]
    fn parcels_are_written_in_kib_and_have_48_of_them_at_most() {
        assert_eq!(parcel_size("48KiB"), Ok(ParcelSize(48 * 1_024)));
        assert_eq!(parcel_size("1 KiB"), Ok(ParcelSize(1_024)));
        for text in [
            "",
            "48",
            "KiB",
            "0KiB",
            "49KiB",
            "-1KiB",
            "1.5KiB",
            "48kb",
            "9999999999999999999999KiB",
        ] {
            let why = "a parcel looks like 48KiB, and has 1KiB to 48KiB";
            assert_eq!(parcel_size(text), Err(why.to_owned()), "{text}");
        }
    }

    #[test]
    fn the_yard_keeps_the_rules_of_places_for_parcels_of_every_size() {
        let scratch = Scratch::new("yard");
        for size in [None, Some("1KiB"), Some("16KiB"), Some("48KiB")] {
            let dir = scratch.0.join(size.unwrap_or("balls"));
            write(&dir, size.map(|size| parcel_size(size).expect("a size")))
                .expect("it is written");
            let place = PlaceFolder::read(&dir).expect("it is read").place();
            let place = place.unwrap_or_else(|mistakes| panic!("{size:?}: {mistakes:?}"));
            assert_eq!(place.name(), "yard");
        }
    }
}
