//! The file `map` in a member's folder: the proofs of the land that the member knew last.
//!
//! While the land office is away, nobody makes new proofs. Whoever has its last map proves with it, also after a
//! new start. The proofs say how old they are, so a file that is old is no lie.

use std::sync::Arc;

use metatopia_raynet::{PlaneBlock, Shelf, limits::SHELVES_KEPT_MAX};
use metatopia_types::Height;

use super::{folder::OverlayFolder, office::OfficeSets};

/// The file with the map of a member.
#[derive(Debug)]
pub struct MapFile {
    folder: OverlayFolder,
    /// Who signs for the land office by now: a proof is worth nothing without the changes of its validators.
    sets: Arc<OfficeSets>,
    /// What was written last.
    written: Vec<(PlaneBlock, Height)>,
}

impl MapFile {
    /// Returns the file of this world.
    #[must_use]
    pub const fn of(folder: OverlayFolder, sets: Arc<OfficeSets>) -> Self {
        Self { folder, sets, written: Vec::new() }
    }

    /// Returns the proofs that were kept. A file that is no such file gives none, because all of it can be
    /// fetched again.
    #[must_use]
    pub fn read(&self) -> Vec<Vec<u8>> {
        self.folder.map().unwrap_or_else(|error| {
            tracing::warn!(%error, "the map that was kept is not used");
            Vec::new()
        })
    }

    /// Writes these shelves if they are news. A member that has none keeps what it had.
    pub fn write<'a>(&mut self, shelves: impl Iterator<Item = &'a Arc<Shelf>>) {
        let shelves: Vec<&Arc<Shelf>> = shelves.take(SHELVES_KEPT_MAX).collect();
        let names: Vec<(PlaneBlock, Height)> =
            shelves.iter().map(|shelf| (shelf.block, shelf.height)).collect();
        if names.is_empty() || names == self.written {
            return;
        }
        let proofs: Vec<&[u8]> = shelves.iter().map(|shelf| &*shelf.proof).collect();
        let kept = self.folder.keep_office(&self.sets).and_then(|()| self.folder.keep_map(&proofs));
        match kept {
            Ok(()) => self.written = names,
            Err(error) => tracing::warn!(%error, "the map is not kept"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use metatopia_types::Millis;

    use super::*;
    use crate::{overlay::office::office_of_tests, scratch::Scratch};

    fn shelf(sets: &OfficeSets, height: u64, proof: u8) -> Arc<Shelf> {
        Arc::new(Shelf {
            world: sets.world(),
            block: PlaneBlock::PLANE,
            height: Height(height),
            time: Millis(5),
            grants: Vec::new(),
            proof: vec![proof; 3],
        })
    }

    #[test]
    fn a_map_is_kept_over_a_start_until_there_is_a_newer_one() {
        let scratch = Scratch::new("map-file");
        let sets = Arc::new(office_of_tests());
        let mut file = MapFile::of(OverlayFolder::at(&scratch.0), Arc::clone(&sets));
        assert_eq!(file.read(), [[0_u8; 0]; 0]);
        file.write([shelf(&sets, 7, 1)].iter());
        let again = MapFile::of(OverlayFolder::at(&scratch.0), Arc::clone(&sets));
        assert_eq!(again.read(), [[1, 1, 1]]);
        file.write([shelf(&sets, 8, 2)].iter());
        assert_eq!(again.read(), [[2, 2, 2]]);
        // Who knows nothing, because it has just started, does not forget what is kept.
        file.write([].iter());
        assert_eq!(again.read(), [[2, 2, 2]]);
        // The office is kept with it, so that the proofs can be opened.
        let kept = OverlayFolder::at(&scratch.0).office().expect("files");
        assert_eq!(kept.map(|kept| kept.world()), Some(sets.world()));
    }

    #[test]
    fn at_most_so_many_shelves_are_kept_and_a_spoilt_file_gives_none() {
        let scratch = Scratch::new("map-spoilt");
        let sets = Arc::new(office_of_tests());
        let folder = OverlayFolder::at(&scratch.0);
        let mut file = MapFile::of(folder.clone(), Arc::clone(&sets));
        let many = vec![shelf(&sets, 7, 1); SHELVES_KEPT_MAX + 1];
        file.write(many.iter());
        assert_eq!(file.read().len(), SHELVES_KEPT_MAX);
        fs::write(folder.map_path(), [0xff; 40]).expect("a file");
        assert_eq!(file.read(), [[0_u8; 0]; 0]);
    }
}
