//! Where a neighbour's ground lies, as somebody sees it who stands in a sim.
//!
//! Each sim counts metres from the middle of its own square. So a place has other coordinates on the
//! other side of a border.

use metatopia_math::{Fx, Vec2};
use metatopia_sim::{Genesis, limits::NEAR_BORDER_METRES};
use metatopia_types::{SimId, Square, TilePoint};

/// Metres of a tile's side.
const TILE_METRES: i64 = 32;

/// Farther than this from each other no two middles of squares that touch are, in tiles.
const APART_MAX: i64 = 64;

/// From here on a sim names a person to its neighbour, which can then give a pass, in metres.
pub const NEAR_BORDER: Fx = Fx::from_int(NEAR_BORDER_METRES);

/// Returns the square on which a sim lies, if it lies on one.
#[must_use]
pub fn square_of(genesis: &Genesis) -> Option<Square> {
    let office = genesis.office.as_ref().map(|office| office.square);
    genesis.site.map(|site| site.square).or(office)
}

/// Returns the world in which a sim lies, if it lies in one. The world of a land office is the office.
#[must_use]
pub fn world_of(genesis: &Genesis) -> Option<SimId> {
    let office = genesis.office.as_ref().map(|_| genesis.id());
    genesis.site.map(|site| site.world).or(office)
}

/// Returns what is added to the coordinates of a place in the sim on `own`, to have those of the same place
/// in the sim on `other`. None for squares that are far apart, or are none.
#[must_use]
pub fn border_shift(own: Square, other: Square) -> Option<Vec2> {
    let (own, other) = (TilePoint::middle(own)?, TilePoint::middle(other)?);
    let metres = |own: i32, other: i32| {
        let tiles = i64::from(own) - i64::from(other);
        let is_near = tiles.abs() <= APART_MAX;
        is_near.then(|| Fx::from_ratio(tiles * TILE_METRES, 1))
    };
    Some(Vec2::new(metres(own.x, other.x)?, metres(own.y, other.y)?))
}

/// Returns how far a place in the sim on `own` is from the ground of the sim on `other`.
#[must_use]
pub fn border_gap(own: Square, other: Square, place: Vec2) -> Option<Fx> {
    let there = place.saturating_add(border_shift(own, other)?);
    Some(there.distance(border_lookout(own, other, place)?))
}

/// Returns the point of the ground of the sim on `other` that is nearest to a place in the sim on `own`, in
/// coordinates of the other sim. Whoever looks over the border looks at what is around this point.
#[must_use]
pub fn border_lookout(own: Square, other: Square, place: Vec2) -> Option<Vec2> {
    let there = place.saturating_add(border_shift(own, other)?);
    let half = half_side(other)?;
    let inside = |at: Fx| at.clamp(half.saturating_neg(), half);
    Some(Vec2::new(inside(there.x), inside(there.y)))
}

/// Returns the two ends of the edge that the squares share, in coordinates of the sim on `own`. None for
/// squares that touch in a corner alone, or not at all.
#[must_use]
pub fn border_ends(own: Square, other: Square) -> Option<(Vec2, Vec2)> {
    let middle = border_shift(other, own)?;
    let (half, far) = (half_side(own)?, half_side(other)?);
    let ends = |middle: Fx| {
        let (low, high) = (middle.saturating_sub(far), middle.saturating_add(far));
        (low.max(half.saturating_neg()), high.min(half))
    };
    let ((west, east), (south, north)) = (ends(middle.x), ends(middle.y));
    let is_edge = (west == east && south < north) || (south == north && west < east);
    is_edge.then_some((Vec2::new(west, south), Vec2::new(east, north)))
}

/// Returns the edge of a square at which a square beside it lies, as a point of the compass.
#[must_use]
pub fn border_edge(own: Square, neighbour: Square) -> &'static str {
    let end = |low: i32, square: Square| low.saturating_add(square.side().unwrap_or_default());
    if neighbour.x >= end(own.x, own) {
        "east"
    } else if end(neighbour.x, neighbour) <= own.x {
        "west"
    } else if neighbour.y >= end(own.y, own) {
        "north"
    } else {
        "south"
    }
}

/// Says whether a place is outside of the ground of the sim on this square: over some line.
#[must_use]
pub fn is_past_edge(own: Square, place: Vec2) -> bool {
    edge_gap(own, place).is_some_and(|gap| gap < Fx::ZERO)
}

/// Returns how far a place in the sim on this square is from the nearest edge of it; below zero outside.
#[must_use]
pub fn edge_gap(own: Square, place: Vec2) -> Option<Fx> {
    let half = half_side(own)?;
    let rest = |at: Fx| half.saturating_sub(at.saturating_abs());
    Some(rest(place.x).min(rest(place.y)))
}

fn half_side(square: Square) -> Option<Fx> {
    let tiles = i64::from(square.side()?);
    Some(Fx::from_ratio(tiles * TILE_METRES, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Square = Square { x: 0, y: 0, doublings: 2 };
    const EAST: Square = Square { x: 8, y: 0, doublings: 2 };
    const SMALL: Square = Square { x: 8, y: 4, doublings: 0 };

    fn at(x: i32, y: i32) -> Vec2 {
        Vec2::new(Fx::from_int(x), Fx::from_int(y))
    }

    #[test]
    fn a_place_on_the_line_is_the_western_edge_of_the_sim_to_the_east() {
        let there = at(128, 5).saturating_add(border_shift(OWN, EAST).unwrap());
        assert_eq!(there, at(-128, 5));
        let back = there.saturating_add(border_shift(EAST, OWN).unwrap());
        assert_eq!(back, at(128, 5));
        // The middle of a smaller square to the east is further north.
        assert_eq!(border_shift(OWN, SMALL), Some(at(-160, -32)));
    }

    #[test]
    fn the_way_to_a_neighbour_is_that_to_the_nearest_point_of_its_ground() {
        assert_eq!(border_gap(OWN, EAST, at(100, 0)), Some(Fx::from_int(28)));
        assert_eq!(border_gap(OWN, SMALL, at(128, 0)), Some(Fx::ZERO));
        assert_eq!(border_gap(OWN, SMALL, at(128, -10)), Some(Fx::from_int(10)));
        assert_eq!(border_gap(OWN, EAST, at(130, 0)), Some(Fx::ZERO));
        assert_eq!(edge_gap(OWN, at(100, -120)), Some(Fx::from_int(8)));
    }

    #[test]
    fn two_squares_share_the_edge_of_the_smaller_one_and_no_corner() {
        assert_eq!(border_ends(OWN, EAST), Some((at(128, -128), at(128, 128))));
        assert_eq!(border_ends(EAST, OWN), Some((at(-128, -128), at(-128, 128))));
        // From four tiles north of the own southern edge on, two tiles of 32 m.
        assert_eq!(border_ends(OWN, SMALL), Some((at(128, 0), at(128, 64))));
        assert_eq!(border_ends(OWN, Square { x: 8, y: 8, doublings: 2 }), None, "a corner");
        for (x, y, word) in [(8, 0, "east"), (-8, 0, "west"), (0, 8, "north"), (0, -8, "south")] {
            assert_eq!(border_edge(OWN, Square { x, y, doublings: 2 }), word);
        }
        assert_eq!(border_ends(OWN, Square { x: 16, y: 0, doublings: 2 }), None, "apart");
    }

    #[test]
    fn whoever_looks_over_a_border_looks_at_the_nearest_point_of_the_other_ground() {
        assert_eq!(border_lookout(OWN, EAST, at(90, 7)), Some(at(-128, 7)));
        assert_eq!(border_lookout(OWN, EAST, at(140, 7)), Some(at(-116, 7)), "over the line");
        assert_eq!(border_lookout(OWN, SMALL, at(120, -50)), Some(at(-32, -32)));
        assert!(is_past_edge(OWN, at(129, 0)) && !is_past_edge(OWN, at(128, 0)));
    }

    #[test]
    fn squares_at_the_two_ends_of_the_plane_have_no_border() {
        let far = Square { x: i32::MAX - 7, y: 0, doublings: 2 };
        assert_eq!(border_shift(OWN, far), None);
        assert_eq!(border_gap(OWN, far, Vec2::ZERO), None);
        let none = Square { x: 1, ..OWN };
        assert_eq!(border_shift(none, OWN), None);
        assert_eq!(edge_gap(Square { doublings: 9, ..OWN }, Vec2::ZERO), None);
    }
}
