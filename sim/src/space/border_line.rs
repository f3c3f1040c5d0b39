//! Border lines: where the edges of two sims touch, and where the places of the one are in the other.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::Bounds;
use metatopia_types::Square;

use super::{land::Area, tile::TILE_METRES};
use crate::limits::{BORDER_BAND_METRES, GHOST_METRES};

/// A side of a sim's ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GroundSide {
    West,
    East,
    South,
    North,
}

/// The edge that a sim's ground shares with a neighbour's, in metres of the sim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BorderLine {
    side: GroundSide,
    /// Where the line is: an easting on the western and eastern side, else a northing.
    at: Fx,
    /// From where to where it goes along the side.
    from: Fx,
    to: Fx,
    /// What is added to a place of the neighbour to get the same place of this sim.
    offset: Vec2,
}

/// The ends of a square along one axis of the plane, in tiles. 64 bits hold the far end of every square.
fn ends(low: i32, side: i32) -> (i64, i64) {
    (i64::from(low), i64::from(low).saturating_add(i64::from(side)))
}

/// Returns half of a number of tiles in metres.
fn half_metres(tiles: i64) -> Option<Fx> {
    Fx::checked_ratio(tiles.checked_mul(TILE_METRES)?, 2)
}

impl BorderLine {
    /// Returns the edge that two squares share; none if they are apart, or touch in a corner alone.
    pub(crate) fn between(own: Square, other: Square) -> Option<Self> {
        let (side, far) = (own.side()?, other.side()?);
        let (x, y) = (ends(own.x, side), ends(own.y, side));
        let (u, v) = (ends(other.x, far), ends(other.y, far));
        let (ground_side, along, there) = match () {
            () if x.1 == u.0 => (GroundSide::East, y, v),
            () if x.0 == u.1 => (GroundSide::West, y, v),
            () if y.1 == v.0 => (GroundSide::North, x, u),
            () if y.0 == v.1 => (GroundSide::South, x, u),
            () => return None,
        };
        let (from, to) = (along.0.max(there.0), along.1.min(there.1));
        if from >= to {
            return None;
        }
        // Twice the middle of the own square and of the neighbour's, so that halves are exact.
        let middle = |(low, high): (i64, i64)| low.saturating_add(high);
        let local = |tile: i64| half_metres(tile.saturating_mul(2).saturating_sub(middle(along)));
        let offset =
            |own: (i64, i64), other| half_metres(middle(other).saturating_sub(middle(own)));
        let half = half_metres(i64::from(side))?;
        let at = match ground_side {
            GroundSide::East | GroundSide::North => half,
            GroundSide::West | GroundSide::South => half.saturating_neg(),
        };
        Some(Self {
            side: ground_side,
            at,
            from: local(from)?,
            to: local(to)?,
            offset: Vec2::new(offset(x, u)?, offset(y, v)?),
        })
    }

    /// Returns how far outside of the ground a place is over this line; nothing if it is outside elsewhere. Past a
    /// corner of the ground it is over both lines that end there: who owns the ground there is no neighbour of
    /// this sim, and either of the two that are leads to it.
    pub(crate) fn beyond(&self, place: Vec2) -> Option<Fx> {
        let along = self.split(place).1;
        // A ground is a square, and its middle is the origin.
        let half = self.at.saturating_abs();
        let along = along.max(half.saturating_neg()).min(half);
        let is_here = self.from <= along && along <= self.to;
        is_here.then(|| self.depth(place))
    }

    /// Says whether a place is so near the line, on this side or beyond it.
    pub(crate) fn is_near(&self, place: Vec2, metres: Fx) -> bool {
        let (across, along) = self.split(place);
        let aside = self.from.saturating_sub(along).max(along.saturating_sub(self.to));
        across.saturating_sub(self.at).saturating_abs() <= metres && aside <= metres
    }

    /// Returns how far a place is from the straight line that this one is a piece of.
    pub(crate) fn distance(&self, place: Vec2) -> Fx {
        self.split(place).0.saturating_sub(self.at).saturating_abs()
    }

    /// Returns the part of a size that is across the line.
    pub(crate) const fn across(&self, size: Vec2) -> Fx {
        self.split(size).0
    }

    /// Returns how far behind this line a place is, wherever along it; less than zero on the own ground.
    pub(crate) fn depth(&self, place: Vec2) -> Fx {
        let across = self.split(place).0;
        match self.side {
            GroundSide::East | GroundSide::North => across.saturating_sub(self.at),
            GroundSide::West | GroundSide::South => self.at.saturating_sub(across),
        }
    }

    /// Says whether a body may stand as a ghost on the other side of the line from its own sim: it reaches into the
    /// strip along the line, and no further than that over it. `depth` is how far its middle is from the line on
    /// the ground of its own sim, and `half` the half of the box around it.
    pub(crate) fn takes_ghost(&self, depth: Fx, place: Vec2, half: Vec2) -> bool {
        let strip = Fx::from_int(GHOST_METRES);
        let (across, along) = self.split(half);
        let near = depth.saturating_sub(across);
        let place = self.split(place).1;
        let aside = self.from.saturating_sub(place).max(place.saturating_sub(self.to));
        depth >= Fx::from_int(-BORDER_BAND_METRES)
            && near.saturating_abs() <= strip
            && aside <= strip.saturating_add(along)
    }

    /// Returns the shortest way from a place to one so many metres past this line and as many from both ends of it.
    pub(crate) fn way_past(&self, place: Vec2, metres: Fx) -> Vec2 {
        let along = self.split(place).1;
        let inside =
            along.max(self.from.saturating_add(metres)).min(self.to.saturating_sub(metres));
        let (across, along) =
            (metres.saturating_sub(self.depth(place)), inside.saturating_sub(along));
        match self.side {
            GroundSide::East => Vec2::new(across, along),
            GroundSide::West => Vec2::new(across.saturating_neg(), along),
            GroundSide::North => Vec2::new(along, across),
            GroundSide::South => Vec2::new(along, across.saturating_neg()),
        }
    }

    /// Returns where a place of the neighbour is in this sim.
    pub(crate) fn place_here(&self, place: Vec2) -> Vec2 {
        place.saturating_add(self.offset)
    }

    /// Returns a place as (across the line, along it).
    const fn split(&self, place: Vec2) -> (Fx, Fx) {
        match self.side {
            GroundSide::West | GroundSide::East => (place.x, place.y),
            GroundSide::South | GroundSide::North => (place.y, place.x),
        }
    }
}

/// Returns the bounds of a ground whose bodies also move behind these open lines.
pub(crate) fn with_bands<'a>(
    ground: Area,
    lines: impl Iterator<Item = &'a BorderLine>,
) -> Option<Bounds> {
    let band = Fx::from_int(BORDER_BAND_METRES);
    let Area { mut low, mut high } = ground;
    for line in lines {
        match line.side {
            GroundSide::West => low.x = ground.low.x.saturating_sub(band),
            GroundSide::East => high.x = ground.high.x.saturating_add(band),
            GroundSide::South => low.y = ground.low.y.saturating_sub(band),
            GroundSide::North => high.y = ground.high.y.saturating_add(band),
        }
    }
    Bounds::new(low, high).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(x: i32, y: i32, doublings: u8) -> Square {
        Square { x, y, doublings }
    }

    fn at(x: i32, y: i32) -> Vec2 {
        Vec2::new(Fx::from_int(x), Fx::from_int(y))
    }

    fn line(own: Square, other: Square) -> BorderLine {
        BorderLine::between(own, other).expect("they share an edge")
    }

    #[test]
    fn squares_of_all_sizes_share_the_edge_that_the_smaller_one_has() {
        // 64 m, and its eastern neighbour of 128 m that begins at the same northing.
        let east = line(square(0, 0, 0), square(2, 0, 1));
        assert_eq!((east.side, east.at), (GroundSide::East, Fx::from_int(32)));
        assert_eq!((east.from, east.to), (Fx::from_int(-32), Fx::from_int(32)));
        // The middle of the large one is 64 + 32 m further east, and 32 m further north.
        assert_eq!(east.place_here(at(0, 0)), at(96, 32));
        let west = line(square(2, 0, 1), square(0, 0, 0));
        assert_eq!((west.side, west.at), (GroundSide::West, Fx::from_int(-64)));
        assert_eq!((west.from, west.to), (Fx::from_int(-64), Fx::ZERO));
        assert_eq!(west.place_here(at(0, 0)), at(-96, -32));
        assert_eq!(line(square(0, 0, 0), square(0, 2, 0)).side, GroundSide::North);
        assert_eq!(line(square(0, 0, 0), square(0, -2, 0)).side, GroundSide::South);
    }

    #[test]
    fn squares_that_touch_in_a_corner_or_lie_apart_or_inside_share_no_edge() {
        for other in [square(2, 2, 0), square(4, 0, 0), square(-2, 2, 0), square(0, 0, 0)] {
            assert_eq!(BorderLine::between(square(0, 0, 0), other), None);
        }
        assert_eq!(BorderLine::between(square(0, 0, 2), square(2, 2, 0)), None);
    }

    #[test]
    fn at_the_ends_of_the_plane_nothing_overflows() {
        let corner = square(i32::MAX - 1, i32::MIN, 0);
        assert_eq!(BorderLine::between(corner, square(i32::MIN, i32::MIN, 0)), None);
        let beside = line(corner, square(i32::MAX - 3, i32::MIN, 0));
        assert_eq!(beside.side, GroundSide::West);
        assert_eq!(beside.place_here(at(1, 2)), at(-63, 2));
    }

    #[test]
    fn a_place_is_beyond_a_line_only_where_the_line_is() {
        let west = line(square(2, 0, 1), square(0, 0, 0));
        assert_eq!(west.beyond(at(-65, -3)), Some(Fx::ONE));
        assert_eq!(west.beyond(at(-63, -3)), Some(Fx::from_int(-1)));
        assert_eq!(west.beyond(at(-65, 3)), None, "that is somebody else's edge");
        let near = Fx::from_int(48);
        assert!(west.is_near(at(-16, -3), near) && !west.is_near(at(-15, -3), near));
        assert!(west.is_near(at(-60, 48), near) && !west.is_near(at(-60, 49), near));
    }

    #[test]
    fn past_a_corner_of_the_ground_a_place_is_beyond_both_lines_that_end_there() {
        let own = square(0, 0, 0);
        let (east, north) = (line(own, square(2, 0, 0)), line(own, square(0, 2, 0)));
        assert_eq!(east.beyond(at(33, 34)), Some(Fx::ONE));
        assert_eq!(north.beyond(at(33, 34)), Some(Fx::from_int(2)));
        // The northern half of this edge is somebody else's: there is no way past its end.
        let south_east = line(square(0, 0, 1), square(4, 0, 0));
        assert_eq!(south_east.beyond(at(65, 1)), None);
        assert_eq!(south_east.beyond(at(65, -65)), Some(Fx::ONE));
    }

    #[test]
    fn the_ground_goes_on_behind_open_lines_alone() {
        let own = square(0, 0, 0);
        let lines = [line(own, square(2, 0, 0))];
        let bounds = with_bands(Area::of_square(own), lines.iter()).expect("bounds");
        let edge = 32 + BORDER_BAND_METRES;
        assert!(bounds.contains(at(edge, 0)) && !bounds.contains(at(edge + 1, 0)));
        assert!(bounds.contains(at(-32, 32)) && !bounds.contains(at(-33, 0)));
    }
}
