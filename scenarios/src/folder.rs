//! The folder of a place: `place.toml`, and a folder per package below `packages`.

use std::collections::{BTreeMap, BTreeSet};

use crate::{KnownPackages, Mistake, Place, parse_package_all, place::PLACE_FILE, read_package};

/// The folder in which the packages of a place are.
pub const PACKAGES_FOLDER: &str = "packages";

/// Reads the texts of a place's folder, by path. `folder` is how messages name it. Of two folders the
/// objects of the place name the one that they mean, so that two versions of a package can be there.
///
/// Files that belong to no place, such as a `README.md`, may be left in.
///
/// # Errors
/// All mistakes that were found, ordered by file and line; never none.
pub fn parse_folder(folder: &str, files: &BTreeMap<String, String>) -> Result<Place, Vec<Mistake>> {
    let path = |name: &str| format!("{folder}/{name}");
    let mut packages = BTreeMap::new();
    let (mut mistakes, mut broken) = (Vec::new(), BTreeSet::new());
    let folders = package_folders(files);
    // Packages import each other by id, in whatever folders they are.
    let read = folders.iter().filter_map(|(name, texts)| read_package(name, texts).ok());
    let known: KnownPackages = read.map(|package| (package.id(), package)).collect();
    for (name, texts) in folders {
        let folder = path(&format!("{PACKAGES_FOLDER}/{name}"));
        match parse_package_all(&folder, &texts, &known) {
            Ok(package) => drop(packages.insert(name.to_owned(), package)),
            Err(found) => {
                broken.insert(name.to_owned());
                mistakes.extend(found);
            }
        }
    }
    let Some(text) = files.get(PLACE_FILE) else {
        mistakes.push(Mistake::in_file(folder, format!("{PLACE_FILE} is missing")));
        return Err(mistakes);
    };
    let place = Place::parse_beside(&path(PLACE_FILE), text, &packages, &broken);
    match place {
        Ok(place) if mistakes.is_empty() => Ok(place),
        place => {
            mistakes.extend(place.err().unwrap_or_default());
            Err(mistakes)
        }
    }
}

/// Returns the texts of each package's folder, by the folder's name and the path in it.
fn package_folders(files: &BTreeMap<String, String>) -> BTreeMap<&str, BTreeMap<&str, &str>> {
    let mut folders: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for (path, text) in files {
        let inside = path.strip_prefix(PACKAGES_FOLDER).and_then(|rest| rest.strip_prefix('/'));
        if let Some((folder, file)) = inside.and_then(|rest| rest.split_once('/')) {
            folders.entry(folder).or_default().insert(file, text);
        }
    }
    folders
}
