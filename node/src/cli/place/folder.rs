//! The folder of a place on a disk.

use std::{collections::BTreeMap, path::Path};

use metatopia_scenarios::{
    Mistake, PACKAGES_FOLDER, PICTURE_FILES, PLACE_FILE, Place, parse_folder,
};
use metatopia_sim::{Genesis, World};
use metatopia_types::{Height, NodeContact, Sign as _, SigningKey};

use crate::{
    atomic_file::replace,
    cli::{
        console::Console,
        failure::Failure,
        folder::{FolderBounds, FolderEntry, TextFolder, disk, entries, write_folder},
        script::packages::{licence_texts, texts_of},
    },
};

/// The most files of a place's folder. A sim has at most 1,024 packages.
pub(in crate::cli) const PLACE_FILES_MAX: usize = 4_096;

/// The most bytes of all its texts together. The genesis that is made from them is at most as long.
pub(in crate::cli) const PLACE_BYTES_MAX: u64 = 16 * 1_024 * 1_024;

/// The texts of a place's folder.
#[derive(Debug)]
pub(in crate::cli) struct PlaceFolder {
    texts: TextFolder,
    /// The name and the bytes of each file that may be the picture.
    pictures: Vec<(String, Vec<u8>)>,
    /// What lies among the folders of packages and is none of them, by path in the folder.
    pub(super) skipped: Vec<String>,
}

impl PlaceFolder {
    /// Reads `place.toml`, the picture and the files of packages. Links are not followed, and other files are
    /// not read.
    ///
    /// # Errors
    /// Fails when there is no such folder, or there is more than a place may have.
    pub(in crate::cli) fn read(dir: &Path) -> Result<Self, Failure> {
        if dir.is_file() {
            let folder = dir.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new("."));
            return Err(Failure::usage(format!("{} is a file", dir.display()))
                .hint(&format!("a place is a folder: name {}", folder.display())));
        }
        if !dir.is_dir() {
            return Err(Failure::not_found(format!("there is no folder {}", dir.display()))
                .hint("`metatopia place new` writes one"));
        }
        let bounds = FolderBounds { files: PLACE_FILES_MAX, bytes: PLACE_BYTES_MAX };
        let texts = TextFolder::new(dir.display().to_string(), bounds);
        let mut read = Self { texts, pictures: Vec::new(), skipped: Vec::new() };
        for entry in entries(dir)? {
            match entry.name.as_str() {
                PLACE_FILE if entry.is_file => read.texts.file(&entry.path, entry.name)?,
                PACKAGES_FOLDER if entry.is_dir => read.packages(&entry)?,
                picture if entry.is_file && PICTURE_FILES.contains(&picture) => {
                    let bytes = read.texts.bytes_of(&entry.path)?;
                    read.pictures.push((entry.name, bytes));
                }
                other if entry.is_file && other.to_ascii_lowercase().starts_with("picture.") => {
                    let message = format!("{} is no picture of a place", entry.path.display());
                    let known = PICTURE_FILES.join(", ");
                    return Err(Failure::failed(message).hint(&format!("it is one of {known}")));
                }
                _ => {}
            }
        }
        Ok(read)
    }

    /// Returns the place that the texts describe.
    ///
    /// # Errors
    /// Returns all mistakes that were found, at least one.
    pub(in crate::cli) fn place(&self) -> Result<Place, Vec<Mistake>> {
        let name = self.texts.plain_name();
        let mut place = self.texts.judged(parse_folder(name, &self.texts.files))?;
        self.add_picture(&mut place).map_err(|mistake| vec![mistake])?;
        match found(&place) {
            Ok(()) => Ok(place),
            Err(why) => Err(vec![Mistake::in_file(&format!("{name}/{PLACE_FILE}"), why)]),
        }
    }

    /// Gives a place the picture of its folder, if there is one.
    fn add_picture(&self, place: &mut Place) -> Result<(), Mistake> {
        let [(name, bytes), others @ ..] = &self.pictures[..] else { return Ok(()) };
        let in_file = |name: &str, why: String| {
            Mistake::in_file(&format!("{}/{name}", self.texts.plain_name()), why)
        };
        if let Some((other, _)) = others.first() {
            return Err(in_file(other, format!("a place has one picture, and {name} is there")));
        }
        place.set_picture(bytes.clone()).map_err(|error| in_file(name, error.to_string()))
    }

    /// Reads the folders of packages. A file or a link beside them belongs to none, and a folder without files is
    /// none.
    fn packages(&mut self, all: &FolderEntry) -> Result<(), Failure> {
        for entry in entries(&all.path)? {
            let (path, before) = (format!("{}/{}", all.name, entry.name), self.texts.files.len());
            if entry.is_dir {
                self.texts.below(&entry.path, &format!("{path}/"))?;
            }
            if self.texts.files.len() == before {
                self.skipped.push(path);
            }
        }
        Ok(())
    }

    /// Warns of what lies among the folders of packages and is none of them.
    pub(in crate::cli) fn warn_of_skipped(&self, console: Console) {
        for path in &self.skipped {
            console.warn(&format!(
                "warning: {path:?} is passed over: a package is a folder of files in {PACKAGES_FOLDER}"
            ));
        }
    }
}

/// Founds a sim from a place in memory, with a passing key as its only server. This finds the
/// mistakes that only the founding shows.
fn found(place: &Place) -> Result<(), String> {
    let server = SigningKey::from_seed(metatopia_client_driver::random()).public();
    let validators = [(server, NodeContact::default())].into_iter().collect();
    let genesis = place.genesis(validators, [server].into_iter().collect());
    Genesis::decode(&genesis.encode()).map_err(|error| error.to_string())?;
    let world = World::genesis(&genesis, &metatopia_audit::tools());
    let missing = world.map_err(|error| error.to_string())?.missing_port_up_to(Height(u64::MAX));
    missing.map_or(Ok(()), |port| {
        let known = "`metatopia script ports` prints those that it has";
        Err(format!("its servers would stop before height {}: {port}; {known}", port.from))
    })
}

/// Returns the texts of the licences that a place, its things and its packages have, by path. What is no
/// licence of the SPDX list has none.
pub(super) fn licence_files(place: &Place) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for expression in [place.licence(), place.asset_licence()] {
        files.extend(texts_of(expression));
    }
    for thing in place.objects() {
        files.extend(texts_of(thing.licence.spdx()));
    }
    for package in place.packages() {
        files.extend(licence_texts(&package.manifest().licence));
    }
    files
}

/// Writes a place into a folder that is new or empty, with its picture.
///
/// # Errors
/// Fails when the folder is not empty, or the disk fails.
pub(super) fn write_place(dir: &Path, place: &Place) -> Result<(), Failure> {
    let mut files = place.files();
    files.extend(licence_files(place));
    write_folder(dir, &files)?;
    let Some((name, picture)) = place.picture() else { return Ok(()) };
    let path = dir.join(name);
    replace(&path, picture).map_err(|error| disk(&path, &error))
}
