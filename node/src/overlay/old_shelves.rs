//! Which part of the map is fetched again because it is old.

use std::time::{Duration, Instant};

use metatopia_raynet::{LandMap, TilePoint};
use metatopia_types::Millis;

/// The age at which a part of the map is fetched again, in milliseconds: half of that at which people are told
/// that it is old. A world of 10,000 members with 64 parts each asks its land office for 15 a second by this.
const SHELF_OLD_MS: u64 = 12 * 3_600_000;

/// The time between two fetches of old parts.
const SHELF_AGAIN: Duration = Duration::from_secs(30);

/// Wants the oldest part of the map anew, one in each pause.
#[derive(Debug, Default)]
pub(super) struct OldShelves {
    /// When one was wanted last.
    wanted: Option<Instant>,
}

impl OldShelves {
    /// Returns a point about which the map is wanted now: of its oldest part, if that is about to be told as old.
    /// The office shows the newest shelf about a point, which may be about less ground than the old one, so it is
    /// a point about which nothing newer is here.
    pub(super) fn next(
        &mut self,
        land: &LandMap,
        (now, wall): (Instant, Millis),
    ) -> Option<TilePoint> {
        if self.wanted.is_some_and(|wanted| now.duration_since(wanted) < SHELF_AGAIN) {
            return None;
        }
        let old = land.shelves().filter(|shelf| wall.since(shelf.time) >= SHELF_OLD_MS);
        let point = old.min_by_key(|shelf| shelf.time).and_then(|shelf| land.own_point(shelf))?;
        self.wanted = Some(now);
        Some(point)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use metatopia_raynet::{PlaneBlock, Shelf};
    use metatopia_types::{Digest, Height, SimId};

    use super::*;

    /// The map of some ground in this state, which was certified when so many milliseconds were over.
    fn place(land: &mut LandMap, block: PlaneBlock, height: u64, time: u64) {
        let (world, grants) = (SimId(Digest::ZERO), Vec::new());
        let (height, time) = (Height(height), Millis(time));
        land.place(&Arc::new(Shelf { world, block, height, time, grants, proof: Vec::new() }));
    }

    fn block(x: i32, doublings: u8) -> PlaneBlock {
        PlaneBlock::around(TilePoint { x, y: 0 }, doublings)
    }

    #[test]
    fn the_oldest_part_of_the_map_is_wanted_anew_once_in_a_pause() {
        let mut land = LandMap::default();
        for (x, time) in [(0, 2_000), (64, 1_000), (128, SHELF_OLD_MS + 5_000)] {
            place(&mut land, block(x, 6), 5, time);
        }
        let (mut old, began) = (OldShelves::default(), Instant::now());
        let young = Millis(SHELF_OLD_MS + 999);
        assert_eq!(old.next(&land, (began, young)), None, "nothing is old yet");

        let wall = Millis(SHELF_OLD_MS + 2_000);
        assert_eq!(old.next(&land, (began, wall)), Some(TilePoint { x: 64, y: 0 }));
        let soon = began + SHELF_AGAIN - Duration::from_millis(1);
        assert_eq!(old.next(&land, (soon, wall)), None, "once in a pause, whether it came or not");
        // It came, and the next one in age is wanted.
        place(&mut land, block(64, 6), 6, SHELF_OLD_MS + 2_000);
        let later = began + SHELF_AGAIN;
        assert_eq!(old.next(&land, (later, wall)), Some(TilePoint { x: 0, y: 0 }));
        place(&mut land, block(0, 6), 6, SHELF_OLD_MS + 2_000);
        assert_eq!(old.next(&land, (later + SHELF_AGAIN, wall)), None, "all is new");
    }

    /// The corner of an old part was wanted, and the office showed the newer and smaller shelf about it again and
    /// again.
    #[test]
    fn an_old_part_is_wanted_where_nothing_newer_is_known() {
        let mut land = LandMap::default();
        place(&mut land, block(0, 7), 5, 1_000);
        place(&mut land, block(0, 6), 9, SHELF_OLD_MS);
        let (mut old, now) = (OldShelves::default(), Instant::now());
        let point = old.next(&land, (now, Millis(2 * SHELF_OLD_MS - 1))).expect("it is old");
        assert!(block(0, 7).contains(point) && !block(0, 6).contains(point), "{point:?}");
    }
}
