//! Where a neighbour's ground lies, as somebody sees it who stands in a sim.
//!
//! Each sim counts metres from the middle of its own square. So a place has other coordinates on the
//! other side of a border.

use core::time::Duration;

use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{BorderEntry, PortalEntry};
use metatopia_sim::{
    Genesis, Introduction,
    limits::{NEAR_BORDER_METRES, NEAR_PORTAL_METRES},
};
use metatopia_types::{Digest, SimId, Square, TilePoint};

/// Metres of a tile's side.
const TILE_METRES: i64 = 32;

/// Farther than this from each other no two middles of squares that touch are, in tiles.
const APART_MAX: i64 = 64;

/// The distance from a border at which a sim names a person to its neighbour, which can then give a pass, in
/// metres.
pub const NEAR_BORDER: Fx = Fx::from_int(NEAR_BORDER_METRES);

/// The same for a portal.
const NEAR_PORTAL: Fx = Fx::from_int(NEAR_PORTAL_METRES);

/// A portal is told of that is no further off than this, in metres: as far as one sees.
pub const PORTAL_SIGHT: Fx = Fx::from_int(64);

/// What was seen last so near to the middle of a portal may have gone into it, in metres: the rim is at one.
const PORTAL_REACH: Fx = Fx::from_ratio(3, 2);

/// Far from every edge and portal, borders are asked for again after so long: another portal may be there by then.
pub const BORDERS_FAR_AGAIN: Duration = Duration::from_secs(10);

/// House rules are proved anew after so long, before a person is announced again.
pub const HOUSE_RULES_AGAIN: Duration = Duration::from_secs(60);

/// Returns the digest of the house rules because of which a person is not announced to the neighbour that has this
/// introduction: she has not agreed to them. So she gets no pass, and the line is a wall for her.
#[must_use]
pub fn held_back(
    neighbour: &Introduction,
    has_agreed: impl FnOnce(Digest) -> bool,
) -> Option<Digest> {
    neighbour.house_rules_digest().filter(|rules| !has_agreed(*rules))
}

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

/// Where the ground of a neighbour lies, as somebody sees it who stands in a sim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeighbourGround {
    own: Square,
    other: Square,
    portal: Option<PortalEntry>,
}

impl NeighbourGround {
    /// Returns where the neighbour behind a border lies, seen from the sim on a square.
    #[must_use]
    pub const fn of(own: Square, border: &BorderEntry) -> Self {
        Self { own, other: border.square, portal: border.portal }
    }

    /// Returns the portal that leads there, if one does. Then the ground is not in sight.
    #[must_use]
    pub const fn portal(&self) -> Option<PortalEntry> {
        self.portal
    }

    /// Returns what is added to the coordinates of a place in the own sim, to have those of the same place in the
    /// neighbour: behind a portal, of the place that lies to that portal as the first one lies to this portal. None for
    /// squares that are far apart, or are none, and for a portal of which the neighbour said nothing.
    #[must_use]
    pub fn shift(&self) -> Option<Vec2> {
        match self.portal {
            Some(PortalEntry { here, there }) => Some(there?.saturating_sub(here)),
            None => shift(self.own, self.other),
        }
    }

    /// Returns how far a place of the own sim is from the neighbour's ground, or from the middle of the portal.
    #[must_use]
    pub fn gap(&self, place: Vec2) -> Option<Fx> {
        if let Some(portal) = self.portal {
            return Some(portal.here.distance(place));
        }
        let there = place.saturating_add(self.shift()?);
        Some(there.distance(self.lookout(place)?))
    }

    /// Says whether a place of the own sim is so near that the sim names whoever stands there to the neighbour.
    #[must_use]
    pub fn is_near(&self, place: Vec2) -> bool {
        let near = if self.portal.is_some() { NEAR_PORTAL } else { NEAR_BORDER };
        self.gap(place).is_some_and(|gap| gap <= near)
    }

    /// Returns the point of the neighbour's ground that is nearest to a place of the own sim, or that to which the
    /// portal leads, in coordinates of the neighbour. Whoever looks over the border looks at what is around this point.
    #[must_use]
    pub fn lookout(&self, place: Vec2) -> Option<Vec2> {
        if let Some(portal) = self.portal {
            return portal.there;
        }
        let there = place.saturating_add(self.shift()?);
        let half = half_side(self.other)?;
        let inside = |at: Fx| at.clamp(half.saturating_neg(), half);
        Some(Vec2::new(inside(there.x), inside(there.y)))
    }

    /// Returns the two ends of the edge that the squares share, in coordinates of the own sim. None for squares that
    /// touch in a corner alone, or not at all, and for what lies behind a portal.
    #[must_use]
    pub fn ends(&self) -> Option<(Vec2, Vec2)> {
        if self.portal.is_some() {
            return None;
        }
        let middle = shift(self.other, self.own)?;
        let (half, far) = (half_side(self.own)?, half_side(self.other)?);
        let ends = |middle: Fx| {
            let (low, high) = (middle.saturating_sub(far), middle.saturating_add(far));
            (low.max(half.saturating_neg()), high.min(half))
        };
        let ((west, east), (south, north)) = (ends(middle.x), ends(middle.y));
        let is_edge = (west == east && south < north) || (south == north && west < east);
        is_edge.then_some((Vec2::new(west, south), Vec2::new(east, north)))
    }

    /// Returns the edge of the own square at which the neighbour's lies, as a point of the compass. Behind a portal it
    /// is the direction in which that square lies.
    #[must_use]
    pub fn edge(&self) -> &'static str {
        let end = |low: i32, square: Square| low.saturating_add(square.side().unwrap_or_default());
        let (own, neighbour) = (self.own, self.other);
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
}

/// Returns what is added to the coordinates of a place in the sim on `own`, to have those of the same place in the sim
/// on `other`.
fn shift(own: Square, other: Square) -> Option<Vec2> {
    let (own, other) = (TilePoint::middle(own)?, TilePoint::middle(other)?);
    let metres = |own: i32, other: i32| {
        let tiles = i64::from(own) - i64::from(other);
        let is_near = tiles.abs() <= APART_MAX;
        is_near.then(|| Fx::from_ratio(tiles * TILE_METRES, 1))
    };
    Some(Vec2::new(metres(own.x, other.x)?, metres(own.y, other.y)?))
}

/// Says whether something that was seen last at a place, and would be at the other one soon, may have gone into the
/// portal with this middle.
#[must_use]
pub fn is_into_portal(middle: Vec2, last: Vec2, soon: Vec2) -> bool {
    let (way, to_middle) = (soon.saturating_sub(last), middle.saturating_sub(last));
    // The nearest point of the way between both.
    let squared = way.length_squared();
    let part = if squared == Fx::ZERO {
        Fx::ZERO
    } else {
        to_middle.dot(way).saturating_div(squared).clamp(Fx::ZERO, Fx::ONE)
    };
    last.saturating_add(way.scale(part)).distance(middle) <= PORTAL_REACH
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

    fn beside(own: Square, other: Square) -> NeighbourGround {
        NeighbourGround { own, other, portal: None }
    }

    #[test]
    fn nobody_is_announced_who_has_not_agreed_to_these_very_house_rules() {
        let ruled = |words: &str| Introduction { house_rules: words.into(), ..<_>::default() };
        let (kind, shut) = (ruled("Be kind."), ruled("Shut the door."));
        let agreed = kind.house_rules_digest();
        let held = |neighbour| held_back(neighbour, |rules| Some(rules) == agreed);
        assert_eq!(held(&kind), None);
        assert_eq!(held(&shut), shut.house_rules_digest(), "these are other words");
        assert_eq!(held(&ruled("")), None, "there are none");
    }

    #[test]
    fn a_place_on_the_line_is_the_western_edge_of_the_sim_to_the_east() {
        let there = at(128, 5).saturating_add(beside(OWN, EAST).shift().unwrap());
        assert_eq!(there, at(-128, 5));
        let back = there.saturating_add(beside(EAST, OWN).shift().unwrap());
        assert_eq!(back, at(128, 5));
        // The middle of a smaller square to the east is further north.
        assert_eq!(beside(OWN, SMALL).shift(), Some(at(-160, -32)));
    }

    #[test]
    fn the_way_to_a_neighbour_is_that_to_the_nearest_point_of_its_ground() {
        assert_eq!(beside(OWN, EAST).gap(at(100, 0)), Some(Fx::from_int(28)));
        assert_eq!(beside(OWN, SMALL).gap(at(128, 0)), Some(Fx::ZERO));
        assert_eq!(beside(OWN, SMALL).gap(at(128, -10)), Some(Fx::from_int(10)));
        assert_eq!(beside(OWN, EAST).gap(at(130, 0)), Some(Fx::ZERO));
        assert_eq!(edge_gap(OWN, at(100, -120)), Some(Fx::from_int(8)));
    }

    #[test]
    fn two_squares_share_the_edge_of_the_smaller_one_and_no_corner() {
        assert_eq!(beside(OWN, EAST).ends(), Some((at(128, -128), at(128, 128))));
        assert_eq!(beside(EAST, OWN).ends(), Some((at(-128, -128), at(-128, 128))));
        let ends = |x, y| beside(OWN, Square { x, y, doublings: 2 }).ends();
        // From four tiles north of the own southern edge on, two tiles of 32 m.
        assert_eq!(beside(OWN, SMALL).ends(), Some((at(128, 0), at(128, 64))));
        assert_eq!(ends(8, 8), None, "a corner");
        for (x, y, word) in [(8, 0, "east"), (-8, 0, "west"), (0, 8, "north"), (0, -8, "south")] {
            assert_eq!(beside(OWN, Square { x, y, doublings: 2 }).edge(), word);
        }
        assert_eq!(ends(16, 0), None, "apart");
    }

    #[test]
    fn whoever_looks_over_a_border_looks_at_the_nearest_point_of_the_other_ground() {
        assert_eq!(beside(OWN, EAST).lookout(at(90, 7)), Some(at(-128, 7)));
        let over = beside(OWN, EAST).lookout(at(140, 7));
        assert_eq!(over, Some(at(-116, 7)), "over the line");
        assert_eq!(beside(OWN, SMALL).lookout(at(120, -50)), Some(at(-32, -32)));
        assert!(is_past_edge(OWN, at(129, 0)) && !is_past_edge(OWN, at(128, 0)));
    }

    #[test]
    fn squares_at_the_two_ends_of_the_plane_have_no_border() {
        let far = Square { x: i32::MAX - 7, y: 0, doublings: 2 };
        assert_eq!(beside(OWN, far).shift(), None);
        assert_eq!(beside(OWN, far).gap(Vec2::ZERO), None);
        let none = Square { x: 1, ..OWN };
        assert_eq!(beside(none, OWN).shift(), None);
        assert_eq!(edge_gap(Square { doublings: 9, ..OWN }, Vec2::ZERO), None);
    }

    #[test]
    fn what_lies_behind_a_portal_is_no_further_than_the_portal_and_looked_at_where_it_leads() {
        let far = Square { x: 800, y: 0, doublings: 2 };
        let ground = |there| {
            let portal = Some(PortalEntry { here: at(10, 0), there });
            NeighbourGround { own: OWN, other: far, portal }
        };
        let known = ground(Some(at(-30, 7)));
        assert_eq!(known.gap(at(13, 4)), Some(Fx::from_int(5)));
        assert!(known.is_near(at(26, 0)) && !known.is_near(at(27, 0)));
        assert_eq!((known.shift(), known.ends()), (Some(at(-40, 7)), None));
        assert_eq!(known.lookout(at(90, 90)), Some(at(-30, 7)));
        // A fast ball is before it in one view, and would be behind it in the next.
        assert!(is_into_portal(at(10, 0), at(7, 1), at(14, 1)));
        assert!(!is_into_portal(at(10, 0), at(7, 2), at(14, 2)));
        assert!(is_into_portal(at(10, 0), at(11, 0), at(11, 0)));
        let silent = ground(None);
        assert_eq!((silent.shift(), silent.lookout(at(9, 0))), (None, None));
    }
}
