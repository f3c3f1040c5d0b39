//! Looks at a place's folder: which files it has, when each changed, and whether somebody is amid a save.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use metatopia_scenarios::{PACKAGES_FOLDER, PLACE_FILE};
use tokio::time::Instant;

use crate::cli::{
    folder::{FolderEntry, entries},
    place::folder::PLACE_FILES_MAX,
};

/// The time between two looks at the folder. A change is brought in once two looks saw the same, for an
/// editor may be in the middle of a file. What was saved runs within a second.
pub(super) const LOOK: Duration = Duration::from_millis(100);

/// The time for which a folder with an emptied file must stay as it is before it is brought in. Who saves a file
/// empties it and then writes it, and a disk under load lets many looks pass in between.
const EMPTY_STAYS: Duration = Duration::from_secs(2);

/// When each file changed, and how long it is.
pub(super) type FileStamps = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// What the looks at a folder saw, and since when it is so.
#[derive(Debug)]
pub(super) struct FolderLooks {
    pub(super) seen: FileStamps,
    since: Instant,
    /// The files that became empty since the folder was still.
    emptied: BTreeSet<PathBuf>,
}

impl FolderLooks {
    /// Returns nothing seen yet.
    pub(super) const fn new(now: Instant) -> Self {
        Self { seen: FileStamps::new(), since: now, emptied: BTreeSet::new() }
    }

    /// Takes a look. Returns whether the folder is still, so that nobody is in the middle of a file.
    pub(super) fn look(&mut self, seen: FileStamps, now: Instant) -> bool {
        if self.seen != seen {
            let is_fresh = |path: &PathBuf, stamp| {
                self.emptied.contains(path) || self.seen.get(path) != Some(stamp)
            };
            let empty = seen.iter().filter(|(_, (_, length))| *length == 0);
            let fresh = empty.filter(|(path, stamp)| is_fresh(path, *stamp));
            let emptied = fresh.map(|(path, _)| path.clone()).collect();
            *self = Self { seen, since: now, emptied };
            return false;
        }
        let stays = if self.emptied.is_empty() { LOOK } else { EMPTY_STAYS };
        let is_still = now.duration_since(self.since) >= stays;
        if is_still {
            self.emptied.clear();
        }
        is_still
    }
}

/// Returns the stamps of what a place is read from, but its picture.
pub(super) fn stamps(dir: &Path) -> FileStamps {
    let mut stamps = FileStamps::new();
    stamp(&dir.join(PLACE_FILE), &mut stamps);
    stamps_below(&dir.join(PACKAGES_FOLDER), &mut stamps);
    stamps
}

/// Adds the stamps of the files below a folder, at most one more than a place may have. A folder or file that
/// is gone by now has none.
fn stamps_below(dir: &Path, stamps: &mut FileStamps) {
    for FolderEntry { path, is_dir, is_file, .. } in entries(dir).unwrap_or_default() {
        if stamps.len() > PLACE_FILES_MAX {
            return;
        }
        if is_dir {
            stamps_below(&path, stamps);
        } else if is_file {
            stamp(&path, stamps);
        }
    }
}

fn stamp(path: &Path, stamps: &mut FileStamps) {
    if let Ok(found) = fs::symlink_metadata(path) {
        stamps.insert(path.to_owned(), (found.modified().ok(), found.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that was emptied and not yet written was brought in: the scripts ran nothing for a moment.
    #[test]
    fn an_empty_file_is_taken_for_one_that_is_being_saved_until_it_stays_so() {
        let now = Instant::now();
        let after = |ms| now + Duration::from_millis(ms);
        let holds = |length| FileStamps::from([("bell.rhai".into(), (None, length))]);
        let mut folder = FolderLooks::new(now);
        assert!(!folder.look(holds(9), now), "it was not seen before");
        assert!(folder.look(holds(9), after(100)));
        assert!(!folder.look(holds(0), after(200)));
        assert!(!folder.look(holds(0), after(2_100)));
        assert!(folder.look(holds(0), after(2_200)), "who wants it empty waits for it");
        assert!(!folder.look(holds(8), after(2_300)));
        assert!(folder.look(holds(8), after(2_400)));
    }

    /// One file that is meant to be empty held up every save in the folder for two seconds.
    #[test]
    fn a_file_that_was_empty_before_holds_up_no_other() {
        let now = Instant::now();
        let after = |ms| now + Duration::from_millis(ms);
        let holds = |bell, notes| {
            FileStamps::from([("bell.rhai".into(), (None, bell)), ("notes".into(), (None, notes))])
        };
        let mut folder = FolderLooks::new(now);
        assert!(!folder.look(holds(9, 0), now));
        assert!(folder.look(holds(9, 0), after(2_000)));
        assert!(!folder.look(holds(8, 0), after(2_100)));
        assert!(folder.look(holds(8, 0), after(2_200)), "only the bell was saved");
        // While one is being saved, another save does not end the wait.
        assert!(!folder.look(holds(0, 0), after(2_300)));
        assert!(!folder.look(holds(0, 5), after(2_400)));
        assert!(!folder.look(holds(0, 5), after(2_500)));
        assert!(folder.look(holds(0, 5), after(4_400)));
    }
}
