//! The file `map` in a member's folder: the proofs of the land that the member knew last.
//!
//! While the land office is away, nobody makes new proofs. Whoever has its last map proves with it, also after a
//! new start. The proofs say how old they are, so a file that is old is no lie.

use std::{sync::Arc, time::Duration};

use metatopia_raynet::{Shelf, limits::SHELVES_KEPT_MAX};
use metatopia_types::Height;

use super::{
    folder::{OverlayFolder, OverlayFolderError},
    office::OfficeSets,
};

/// The least time between two writes of a map on which nobody's land changed: proofs of the same land come every
/// second or so, and a file that is a minute older proves it as well.
const SAME_LAND: Duration = Duration::from_secs(60);

/// The file with the map of a member.
#[derive(Debug)]
pub struct MapFile {
    folder: OverlayFolder,
    /// Who signs for the land office by now: a proof is worth nothing without the changes of its validators.
    sets: Arc<OfficeSets>,
    /// What was written last, and when.
    written: Option<(Vec<Arc<Shelf>>, Duration)>,
    /// The newest change of validators that was written.
    links: Option<Height>,
}

/// Returns whether these shelves show other land than those, as their blocks and grants say.
fn is_other_land(shelves: &[Arc<Shelf>], others: &[Arc<Shelf>]) -> bool {
    let land = |shelf: &Arc<Shelf>, other: &Arc<Shelf>| {
        shelf.block == other.block && shelf.grants == other.grants
    };
    shelves.len() != others.len()
        || shelves.iter().zip(others).any(|(shelf, other)| !land(shelf, other))
}

impl MapFile {
    /// Returns the file of this world.
    #[must_use]
    pub const fn of(folder: OverlayFolder, sets: Arc<OfficeSets>) -> Self {
        Self { folder, sets, written: None, links: None }
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

    /// Writes these shelves if they are news by this moment: at once if they show other land than those that are
    /// kept, and seldom if they are newer proofs of the same. A member that has none keeps what it had.
    pub fn write<'a>(&mut self, shelves: impl Iterator<Item = &'a Arc<Shelf>>, now: Duration) {
        let shelves: Vec<Arc<Shelf>> = shelves.take(SHELVES_KEPT_MAX).map(Arc::clone).collect();
        if shelves.is_empty() || !self.is_news(&shelves, now) {
            return;
        }
        let proofs: Vec<&[u8]> = shelves.iter().map(|shelf| &*shelf.proof).collect();
        let kept = self.keep_office().and_then(|()| self.folder.keep_map(&proofs));
        match kept {
            Ok(()) => self.written = Some((shelves, now)),
            Err(error) => tracing::warn!(%error, "the map is not kept"),
        }
    }

    fn is_news(&self, shelves: &[Arc<Shelf>], now: Duration) -> bool {
        let Some((written, at)) = &self.written else { return true };
        let heights =
            |shelves: &[Arc<Shelf>]| shelves.iter().map(|shelf| shelf.height).collect::<Vec<_>>();
        is_other_land(shelves, written)
            || now.saturating_sub(*at) >= SAME_LAND && heights(shelves) != heights(written)
    }

    /// Writes the land office if its validators changed since: the proofs are worth nothing without that.
    fn keep_office(&mut self) -> Result<(), OverlayFolderError> {
        // Before the links are read: what is followed meanwhile is written again, and nothing is left out.
        let links = Some(self.sets.newest());
        if self.links != links {
            self.folder.keep_office(&self.sets)?;
            self.links = links;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use metatopia_types::{Millis, PlaneBlock};

    use super::*;
    use crate::{overlay::office::office_of_tests, scratch::Scratch};

    const START: Duration = Duration::from_secs(7);

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
        file.write([shelf(&sets, 7, 1)].iter(), START);
        let again = MapFile::of(OverlayFolder::at(&scratch.0), Arc::clone(&sets));
        assert_eq!(again.read(), [[1, 1, 1]]);
        file.write([shelf(&sets, 8, 2)].iter(), START + SAME_LAND);
        assert_eq!(again.read(), [[2, 2, 2]]);
        // Who knows nothing, because it has just started, does not forget what is kept.
        file.write([].iter(), START + 2 * SAME_LAND);
        assert_eq!(again.read(), [[2, 2, 2]]);
        // The office is kept with it, so that the proofs can be opened.
        let kept = OverlayFolder::at(&scratch.0).office().expect("files");
        assert_eq!(kept.map(|kept| kept.world()), Some(sets.world()));
    }

    /// A member wrote all of its map once a second, because each new turn of the land office proves it anew.
    #[test]
    fn newer_proofs_of_the_same_land_are_written_once_a_minute_and_other_land_at_once() {
        let scratch = Scratch::new("map-seldom");
        let sets = Arc::new(office_of_tests());
        let folder = OverlayFolder::at(&scratch.0);
        let mut file = MapFile::of(folder.clone(), Arc::clone(&sets));
        let second = Duration::from_secs(1);
        file.write([shelf(&sets, 7, 1)].iter(), START);
        file.write([shelf(&sets, 8, 2)].iter(), START + SAME_LAND - second);
        assert_eq!(file.read(), [[1, 1, 1]]);
        file.write([shelf(&sets, 8, 2)].iter(), START + SAME_LAND);
        assert_eq!(file.read(), [[2, 2, 2]]);

        let part = PlaneBlock::around(PlaneBlock::PLANE.corner, 30);
        let other = Arc::new(Shelf { block: part, ..(*shelf(&sets, 9, 3)).clone() });
        file.write([Arc::clone(&other)].iter(), START + SAME_LAND);
        assert_eq!(file.read(), [[3, 3, 3]]);
        file.write([other, shelf(&sets, 9, 4)].iter(), START + SAME_LAND);
        assert_eq!(file.read(), [[3, 3, 3], [4, 4, 4]]);
        // A map of the same land and height is no news, however late.
        fs::remove_file(folder.map_path()).expect("the map");
        let same = [shelf(&sets, 9, 4), shelf(&sets, 9, 4)];
        file.write(same.iter(), START + SAME_LAND);
        fs::remove_file(folder.map_path()).expect("other land");
        file.write(same.iter(), START + 9 * SAME_LAND);
        assert_eq!(file.read(), [[0_u8; 0]; 0]);
    }

    /// The office was written with each map, though its validators seldom change.
    #[test]
    fn the_office_is_written_again_only_if_its_validators_changed() {
        let scratch = Scratch::new("map-office");
        let sets = Arc::new(office_of_tests());
        let folder = OverlayFolder::at(&scratch.0);
        let mut file = MapFile::of(folder.clone(), Arc::clone(&sets));
        file.write([shelf(&sets, 7, 1)].iter(), START);
        fs::remove_file(scratch.0.join("overlay/office")).expect("the office");
        file.write([shelf(&sets, 8, 2)].iter(), START + SAME_LAND);
        assert_eq!(file.read(), [[2, 2, 2]]);
        assert!(folder.office().expect("files").is_none(), "nothing changed");
        file.links = Some(Height(u64::MAX));
        file.write([shelf(&sets, 9, 3)].iter(), START + 2 * SAME_LAND);
        assert!(folder.office().expect("files").is_some(), "other validators");
    }

    #[test]
    fn at_most_so_many_shelves_are_kept_and_a_spoilt_file_gives_none() {
        let scratch = Scratch::new("map-spoilt");
        let sets = Arc::new(office_of_tests());
        let folder = OverlayFolder::at(&scratch.0);
        let mut file = MapFile::of(folder.clone(), Arc::clone(&sets));
        let many = vec![shelf(&sets, 7, 1); SHELVES_KEPT_MAX + 1];
        file.write(many.iter(), START);
        assert_eq!(file.read().len(), SHELVES_KEPT_MAX);
        fs::write(folder.map_path(), [0xff; 40]).expect("a file");
        assert_eq!(file.read(), [[0_u8; 0]; 0]);
    }
}
