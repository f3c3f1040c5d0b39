//! The folder that a world was founded from. Where nobody names a directory, the name of the place does: two
//! folders with one name, such as a place and an export of it, are told apart by this.

use std::{fs, io, path::Path};

use crate::cli::failure::Failure;

/// The file in the directory of a world that has the path of the folder.
const FILE: &str = "founded-from";

/// Checks that the world in a directory, if there is one, was founded from this folder of a place.
///
/// # Errors
/// Fails when it was founded from another folder, which is still there.
pub(super) fn check(dir: &Path, folder: &Path) -> Result<(), Failure> {
    // Worlds of earlier releases do not say it.
    let Ok(before) = fs::read_to_string(dir.join(FILE)) else { return Ok(()) };
    // A folder that was moved is no more where it was.
    if !Path::new(&before).is_dir() || whole(folder).is_none_or(|own| own == before) {
        return Ok(());
    }
    let (dir, folder) = (dir.display(), folder.display());
    let message = format!(
        "the world in {dir} was founded from {before}, which has the same name as {folder}"
    );
    let hint = format!("name another directory for a world of {folder} by --data-dir");
    Err(Failure::usage(message).hint(&hint))
}

/// Notes the folder that the world in a directory was founded from, unless that is known.
///
/// # Errors
/// Fails when the disk does.
pub(super) fn note(dir: &Path, folder: &Path) -> Result<(), Failure> {
    let file = dir.join(FILE);
    let Some(folder) = whole(folder).filter(|_| !file.exists()) else { return Ok(()) };
    let failed = |error: io::Error| Failure::failed(format!("{}: {error}", file.display()));
    fs::write(&file, folder).map_err(failed)
}

/// Returns the whole path of a folder; nothing if it is no text.
fn whole(folder: &Path) -> Option<String> {
    fs::canonicalize(folder).ok()?.to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An export keeps the name of its place: `up --place` of it went on with the sim of the original.
    #[test]
    fn a_place_is_not_taken_for_another_one_of_its_name() {
        let name = format!("metatopia-founded-from-{}", std::process::id());
        let base = std::env::temp_dir().join(name);
        let at = |name: &str| {
            let path = base.join(name);
            fs::create_dir_all(&path).expect("a new folder");
            path
        };
        let (world, first, copy) = (at("world"), at("plaza"), at("copy-of-plaza"));
        assert!(check(&world, &first).is_ok(), "nobody founded a world there");
        note(&world, &first).expect("a disk");
        assert!(check(&world, &first).is_ok());
        let refused = check(&world, &copy).expect_err("another folder").to_string();
        assert!(refused.contains("founded from") && refused.contains("copy-of-plaza"), "{refused}");
        // What was noted stays.
        note(&world, &copy).expect("a disk");
        assert!(check(&world, &copy).is_err());
        // A folder that got another name is the same place.
        fs::remove_dir(&first).expect("it is empty");
        assert!(check(&world, &copy).is_ok());
        fs::remove_dir_all(&base).expect("our own folder");
    }
}
