//! Land: who may build where.

use metatopia_math::{Fx, Vec2};
use metatopia_types::{GroundArea, PublicKey, Square, Title, limits::SQUARE_TILES_MIN};
use serde::{Deserialize, Serialize};

use super::tile::TILE_METRES;

/// A rectangle of ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Area {
    /// Its south-western corner, in metres.
    pub low: Vec2,
    /// Its north-eastern corner, in metres.
    pub high: Vec2,
}

impl Area {
    /// Returns the rectangle between two opposite corners.
    #[must_use]
    pub fn between(a: Vec2, b: Vec2) -> Self {
        Self {
            low: Vec2::new(a.x.min(b.x), a.y.min(b.y)),
            high: Vec2::new(a.x.max(b.x), a.y.max(b.y)),
        }
    }

    /// Returns the ground of a sim that lies on a square of a world: its origin is in the middle, and it
    /// ends at the square's edges. A square that is none has the least ground.
    #[must_use]
    pub fn of_square(square: Square) -> Self {
        let tiles = square.side().unwrap_or(SQUARE_TILES_MIN);
        let half = Fx::from_ratio(i64::from(tiles).saturating_mul(TILE_METRES), 2);
        let high = Vec2::new(half, half);
        Self { low: Vec2::new(half.saturating_neg(), half.saturating_neg()), high }
    }

    /// Returns the ground that acts write in whole metres.
    #[must_use]
    pub fn of_ground(area: GroundArea) -> Self {
        let GroundArea { x, y, width, depth } = area;
        let low = Vec2::new(Fx::from_int(x), Fx::from_int(y));
        let sides = Vec2::new(Fx::from_int(width.into()), Fx::from_int(depth.into()));
        Self { low, high: low.saturating_add(sides) }
    }

    /// Says whether a place is in it, its rim included.
    #[must_use]
    pub fn contains(&self, place: Vec2) -> bool {
        self.nearest(place) == place
    }

    /// Returns the place in it that is nearest to this one.
    #[must_use]
    pub fn nearest(&self, place: Vec2) -> Vec2 {
        let Self { low, high } = *self;
        Vec2::new(place.x.max(low.x).min(high.x), place.y.max(low.y).min(high.y))
    }

    /// Returns what of it is further than so many metres from its rim. Of a narrow one there is nothing.
    pub(crate) fn shrunk(&self, metres: Fx) -> Self {
        let rim = Vec2::new(metres, metres);
        Self { low: self.low.saturating_add(rim), high: self.high.saturating_sub(rim) }
    }

    /// Says whether a place is so near to one of the corners, by easting and by northing.
    pub(crate) fn is_near_corner(&self, place: Vec2, metres: i32) -> bool {
        let metres = Fx::from_int(metres);
        let is_near = |at: Fx, low: Fx, high: Fx| {
            let gap = |end: Fx| at.saturating_sub(end).saturating_abs();
            gap(low).min(gap(high)) <= metres
        };
        let Self { low, high } = *self;
        is_near(place.x, low.x, high.x) && is_near(place.y, low.y, high.y)
    }

    /// Says whether the two have more than a line in common.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.low.x < other.high.x
            && other.low.x < self.high.x
            && self.low.y < other.high.y
            && other.low.y < self.high.y
    }

    /// Says whether these areas together hold all of it, each with its rim.
    ///
    /// It is cut along their edges until an area holds each piece, or no edge of one goes through it: then no
    /// area has any of it but the rim. So the answer is exact, for a line and a place as well.
    pub(crate) fn is_covered_by(&self, areas: &[Self]) -> bool {
        if areas.iter().any(|area| area.contains(self.low) && area.contains(self.high)) {
            return true;
        }
        let cut = areas.iter().filter(|area| area.meets(self)).find_map(|area| self.cut_by(area));
        cut.is_some_and(|pieces| pieces.iter().all(|piece| piece.is_covered_by(areas)))
    }

    /// Says whether the two have at least a point in common.
    fn meets(&self, other: &Self) -> bool {
        self.low.x <= other.high.x
            && other.low.x <= self.high.x
            && self.low.y <= other.high.y
            && other.low.y <= self.high.y
    }

    /// Returns the two pieces into which an edge of another area cuts it; nothing if none goes through it.
    fn cut_by(&self, other: &Self) -> Option<[Self; 2]> {
        let Self { low, high } = *self;
        let through = |low: Fx, edges: [Fx; 2], high: Fx| {
            edges.into_iter().find(|edge| low < *edge && *edge < high)
        };
        if let Some(x) = through(low.x, [other.low.x, other.high.x], high.x) {
            let (west, east) = (Vec2::new(x, high.y), Vec2::new(x, low.y));
            return Some([Self { low, high: west }, Self { low: east, high }]);
        }
        let y = through(low.y, [other.low.y, other.high.y], high.y)?;
        let (south, north) = (Vec2::new(high.x, y), Vec2::new(low.x, y));
        Some([Self { low, high: south }, Self { low: north, high }])
    }

    /// Says whether there is any ground in it.
    #[must_use]
    pub fn is_proper(&self) -> bool {
        self.low.x < self.high.x && self.low.y < self.high.y
    }

    /// Returns what of it is not in `other`: up to four pieces that do not overlap.
    pub(super) fn outside(&self, other: &Self) -> impl Iterator<Item = Self> {
        let (low, high) = (other.low.y.max(self.low.y), other.high.y.min(self.high.y));
        let west = Vec2::new(self.high.x.min(other.low.x), high);
        let east = Vec2::new(self.low.x.max(other.high.x), low);
        let pieces = [
            Self { low: Vec2::new(self.low.x, high), high: self.high },
            Self { low: self.low, high: Vec2::new(self.high.x, low) },
            Self { low: Vec2::new(self.low.x, low), high: west },
            Self { low: east, high: Vec2::new(self.high.x, high) },
        ];
        pieces.into_iter().filter(Self::is_proper)
    }
}

/// An area with a name. It lies on top of those that are listed before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Land {
    /// The name of the land.
    pub name: String,
    /// The ground that it covers.
    pub area: Area,
    /// The title to it.
    pub title: Title,
}

/// Says whether a player who is no admin may build in all of `area`. `lands` are in their order; ground
/// that none of them covers is open if `ground_is_open`.
pub(super) fn may_build_on_lands(
    lands: &[Land],
    ground_is_open: bool,
    builder: &PublicKey,
    area: &Area,
) -> bool {
    let Some(top) = lands.iter().rposition(|land| land.area.overlaps(area)) else {
        return ground_is_open;
    };
    // At most as deep as there are lands, of which there are at most `LANDS_MAX`.
    let below = |piece: Area| may_build_on_lands(&lands[..top], ground_is_open, builder, &piece);
    lands[top].title.lets(builder) && area.outside(&lands[top].area).all(below)
}

#[cfg(test)]
mod tests {
    use metatopia_math::Fx;

    use super::*;

    const ADA: PublicKey = PublicKey([1; 32]);
    const BOB: PublicKey = PublicKey([2; 32]);

    fn area(west: i32, south: i32, east: i32, north: i32) -> Area {
        let at = |x, y| Vec2::new(Fx::from_int(x), Fx::from_int(y));
        Area { low: at(west, south), high: at(east, north) }
    }

    fn land(title: Title, area: Area) -> Land {
        Land { name: "land".to_owned(), area, title }
    }

    #[test]
    fn the_last_land_that_covers_a_place_decides() {
        let lands = [
            land(Title::Open, area(-10, -10, 10, 10)),
            land(Title::Sim, area(0, 0, 10, 10)),
            land(Title::Player(ADA), area(5, 5, 7, 7)),
        ];
        let may = |who: &PublicKey, area: Area| may_build_on_lands(&lands, false, who, &area);

        assert!(may(&BOB, area(-5, -5, -4, -4)));
        assert!(!may(&BOB, area(1, 1, 2, 2)));
        assert!(!may(&ADA, area(1, 1, 2, 2)));
        assert!(may(&ADA, area(5, 5, 7, 7)));
        assert!(!may(&BOB, area(5, 5, 6, 6)));
        assert!(!may(&ADA, area(4, 5, 6, 6)), "half of it is the sim's");
    }

    #[test]
    fn whatever_sticks_out_must_be_allowed_as_well() {
        let lands = [
            land(Title::Open, area(0, 0, 5, 5)),
            land(Title::Open, area(5, 0, 10, 5)),
            land(Title::Player(ADA), area(2, 2, 3, 3)),
        ];

        assert!(may_build_on_lands(&lands, false, &BOB, &area(4, 1, 6, 2)), "a seam is no border");
        assert!(
            !may_build_on_lands(&lands, false, &BOB, &area(9, 1, 11, 2)),
            "nobody named that ground"
        );
        assert!(may_build_on_lands(&lands, true, &BOB, &area(9, 1, 11, 2)));
        assert!(
            !may_build_on_lands(&lands, true, &BOB, &area(1, 1, 4, 4)),
            "Ada's land is in its middle"
        );
        assert!(may_build_on_lands(&lands, true, &ADA, &area(-1, -1, 11, 6)));
    }

    #[test]
    fn areas_hold_ground_together_as_its_points_say() {
        // Half metres, so that every edge of an area and every place between two edges is looked at.
        let halves = |n: i32| Fx::from_ratio(i64::from(n), 2);
        let mut seed = 7_u32;
        let mut dice = |most: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((seed >> 16) % most) as i32
        };
        let (mut held, looks) = (0, 4_000);
        for look in 0..looks {
            let areas: Vec<Area> = (0..1 + dice(6))
                .map(|_| (dice(5), dice(5), 1 + dice(4), 1 + dice(4)))
                .map(|(x, y, width, depth)| area(x, y, x + width, y + depth))
                .collect();
            // A place or a line is ground as well.
            let (x, y, width, depth) = (dice(14), dice(14), dice(6), dice(6));
            let at = |x: i32, y: i32| Vec2::new(halves(x), halves(y));
            let ground = Area { low: at(x, y), high: at(x + width, y + depth) };
            let mut quarters = (0..=2 * width).flat_map(|a| (0..=2 * depth).map(move |b| (a, b)));
            let is_held = quarters.all(|(a, b)| {
                let quarter = |n: i32| Fx::from_ratio(i64::from(n), 4);
                let place = Vec2::new(quarter(2 * x + a), quarter(2 * y + b));
                areas.iter().any(|area| area.contains(place))
            });
            assert_eq!(ground.is_covered_by(&areas), is_held, "seed 7, look {look}: {ground:?}");
            held += usize::from(is_held);
        }
        println!("seed 7: {looks} looks, of which areas hold {held}");
        assert!(held > 200 && held < looks - 200);
    }

    #[test]
    fn pieces_outside_cover_what_is_left_once() {
        let whole = area(0, 0, 10, 10);
        for hole in [area(3, 4, 5, 6), area(-5, -5, 3, 3), area(-1, 4, 11, 6), area(0, 0, 10, 10)] {
            let pieces: Vec<Area> = whole.outside(&hole).collect();
            for (n, piece) in pieces.iter().enumerate() {
                assert!(!piece.overlaps(&hole), "{piece:?} is in {hole:?}");
                assert!(pieces[n + 1..].iter().all(|other| !piece.overlaps(other)));
            }
            let size = |area: &Area| {
                let size = area.high.saturating_sub(area.low);
                size.x.saturating_mul(size.y)
            };
            let common = Area {
                low: Vec2::new(hole.low.x.max(Fx::ZERO), hole.low.y.max(Fx::ZERO)),
                high: Vec2::new(
                    hole.high.x.min(Fx::from_int(10)),
                    hole.high.y.min(Fx::from_int(10)),
                ),
            };
            let left = pieces.iter().fold(Fx::ZERO, |sum, piece| sum.saturating_add(size(piece)));
            assert_eq!(left.saturating_add(size(&common)), Fx::from_int(100), "{hole:?}");
        }
    }
}
