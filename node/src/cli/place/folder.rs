//! The folder of a place on a disk.

use std::{
    collections::BTreeMap,
    fs, io,
    io::Read as _,
    path::{Path, PathBuf},
};

use metatopia_scenarios::{
    Mistake, PACKAGES_FOLDER, PICTURE_FILES, PLACE_FILE, Place, parse_folder,
};
use metatopia_sim::{Genesis, World};
use metatopia_types::{NodeContact, Sign as _, SigningKey};

use crate::{
    atomic_file::{create_folder, replace},
    cli::failure::Failure,
};

/// The most files of a place's folder. A sim has at most 1,024 packages.
pub(in crate::cli) const PLACE_FILES_MAX: usize = 4_096;

/// The most bytes of all its texts together. The genesis that is made from them is at most as long.
pub(in crate::cli) const PLACE_BYTES_MAX: u64 = 16 * 1_024 * 1_024;

/// The texts of a place's folder.
#[derive(Debug)]
pub(in crate::cli) struct PlaceFolder {
    name: String,
    files: BTreeMap<String, String>,
    /// The name and the bytes of each file that may be the picture.
    pictures: Vec<(String, Vec<u8>)>,
    bytes: u64,
}

impl PlaceFolder {
    /// Reads `place.toml`, the picture and the files of packages. Links are not followed, and other files are
    /// not read.
    ///
    /// # Errors
    /// Fails when there is no such folder, a file is no text, or there is more than a place may
    /// have.
    pub(in crate::cli) fn read(dir: &Path) -> Result<Self, Failure> {
        if !dir.is_dir() {
            return Err(Failure::not_found(format!("there is no folder {}", dir.display()))
                .hint("`metatopia place new` writes one"));
        }
        let mut read = Self {
            name: dir.display().to_string(),
            files: BTreeMap::new(),
            pictures: Vec::new(),
            bytes: 0,
        };
        for entry in entries(dir)? {
            match entry.name.as_str() {
                PLACE_FILE if entry.is_file => read.file(&entry.path, entry.name)?,
                PACKAGES_FOLDER if entry.is_dir => read.packages(&entry)?,
                picture if entry.is_file && PICTURE_FILES.contains(&picture) => {
                    let bytes = read.bytes_of(&entry.path)?;
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
        let mut place = parse_folder(&self.name, &self.files)?;
        self.add_picture(&mut place).map_err(|mistake| vec![mistake])?;
        match found(&place) {
            Ok(()) => Ok(place),
            Err(why) => Err(vec![Mistake::in_file(&format!("{}/{PLACE_FILE}", self.name), why)]),
        }
    }

    /// Gives a place the picture of its folder, if there is one.
    fn add_picture(&self, place: &mut Place) -> Result<(), Mistake> {
        let [(name, bytes), others @ ..] = &self.pictures[..] else { return Ok(()) };
        let in_file =
            |name: &str, why: String| Mistake::in_file(&format!("{}/{name}", self.name), why);
        if let Some((other, _)) = others.first() {
            return Err(in_file(other, format!("a place has one picture, and {name} is there")));
        }
        place.set_picture(bytes.clone()).map_err(|error| in_file(name, error.to_string()))
    }

    /// Reads the folders of packages. A file beside them belongs to none.
    fn packages(&mut self, all: &FolderEntry) -> Result<(), Failure> {
        for entry in entries(&all.path)?.into_iter().filter(|entry| entry.is_dir) {
            let name = format!("{}/{}", all.name, entry.name);
            self.folder(&FolderEntry { name, ..entry })?;
        }
        Ok(())
    }

    /// Reads all texts below a folder.
    fn folder(&mut self, folder: &FolderEntry) -> Result<(), Failure> {
        for FolderEntry { name, path, is_dir, is_file } in entries(&folder.path)? {
            let name = format!("{}/{name}", folder.name);
            if is_dir {
                self.folder(&FolderEntry { name, path, is_dir, is_file })?;
            } else if is_file {
                self.file(&path, name)?;
            }
        }
        Ok(())
    }

    /// Reads one text.
    fn file(&mut self, path: &Path, name: String) -> Result<(), Failure> {
        if self.files.len() >= PLACE_FILES_MAX {
            let message = format!("{} has more than {PLACE_FILES_MAX} files", self.name);
            return Err(Failure::failed(message).hint("a place has no room for so many"));
        }
        let text = String::from_utf8(self.bytes_of(path)?).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Failure::failed(format!("{} is not UTF-8 from byte {at} on", path.display()))
        })?;
        self.files.insert(name, text);
        Ok(())
    }

    /// Reads one file, of text or not.
    fn bytes_of(&mut self, path: &Path) -> Result<Vec<u8>, Failure> {
        let file = fs::File::open(path).map_err(|error| disk(path, &error))?;
        // This reads one byte more than may be left, so that too many bytes are noticed.
        let left = PLACE_BYTES_MAX.saturating_sub(self.bytes) + 1;
        let mut bytes = Vec::new();
        file.take(left).read_to_end(&mut bytes).map_err(|error| disk(path, &error))?;
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        if self.bytes > PLACE_BYTES_MAX {
            let message = format!("{} holds more than {PLACE_BYTES_MAX} bytes", self.name);
            return Err(Failure::failed(message));
        }
        Ok(bytes)
    }
}

/// Founds a sim from a place in memory, with a passing key as its only server. This finds the
/// mistakes that only the founding shows.
fn found(place: &Place) -> Result<(), String> {
    let server = SigningKey::from_seed(metatopia_client_driver::random()).public();
    let validators = [(server, NodeContact::default())].into_iter().collect();
    let genesis = place.genesis(validators, [server].into_iter().collect());
    Genesis::decode(&genesis.encode()).map_err(|error| error.to_string())?;
    World::genesis(&genesis, &metatopia_audit::tools()).map_err(|error| error.to_string())?;
    Ok(())
}

/// An entry of a folder.
struct FolderEntry {
    name: String,
    path: PathBuf,
    is_dir: bool,
    is_file: bool,
}

/// Lists a folder by name, without hidden entries.
fn entries(dir: &Path) -> Result<Vec<FolderEntry>, Failure> {
    let listed = fs::read_dir(dir).map_err(|error| disk(dir, &error))?;
    let mut found = Vec::new();
    for entry in listed {
        let entry = entry.map_err(|error| disk(dir, &error))?;
        let kind = entry.file_type().map_err(|error| disk(dir, &error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            let (is_dir, is_file) = (kind.is_dir(), kind.is_file());
            found.push(FolderEntry { name, path: entry.path(), is_dir, is_file });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Checks that a folder is not there yet, or is empty.
///
/// # Errors
/// When there is something in it, or the disk fails.
pub(super) fn check_empty(dir: &Path) -> Result<(), Failure> {
    match fs::read_dir(dir).map(|mut listed| listed.next().is_some()) {
        Ok(true) => Err(Failure::refused(format!("{} is not empty", dir.display()))
            .hint("name a folder that is not there yet")),
        Ok(false) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(disk(dir, &error)),
    }
}

/// Writes the texts of a place into a folder that is new or empty.
///
/// # Errors
/// Fails when the folder is not empty, or the disk fails.
pub(in crate::cli) fn write_folder(
    dir: &Path,
    files: &BTreeMap<String, String>,
) -> Result<(), Failure> {
    check_empty(dir)?;
    for (name, text) in files {
        let path = dir.join(name);
        let folder = path.parent().expect("a file in a folder");
        create_folder(folder).map_err(|error| disk(folder, &error))?;
        replace(&path, text.as_bytes()).map_err(|error| disk(&path, &error))?;
    }
    Ok(())
}

/// Writes a place into a folder that is new or empty, with its picture.
///
/// # Errors
/// Fails when the folder is not empty, or the disk fails.
pub(super) fn write_place(dir: &Path, place: &Place) -> Result<(), Failure> {
    write_folder(dir, &place.files())?;
    let Some((name, picture)) = place.picture() else { return Ok(()) };
    let path = dir.join(name);
    replace(&path, picture).map_err(|error| disk(&path, &error))
}

fn disk(path: &Path, error: &io::Error) -> Failure {
    Failure::failed(format!("{}: {error}", path.display()))
}
