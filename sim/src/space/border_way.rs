//! The way over a border: the line along which two grounds touch, or a portal in a ground that touches the other's
//! nowhere.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_types::Square;

use super::{BorderLine, land::Area};
use crate::limits::{
    BORDER_BAND_METRES, NEAR_BORDER_METRES, NEAR_PORTAL_METRES, PORTAL_EDGE_METRES,
};

/// The distance past a line at which a body departs.
pub(crate) const DEPARTS_AT: Fx = Fx::HALF;

/// How far the rim of a portal is from its middle, in metres.
const PORTAL_RADIUS: Fx = Fx::ONE;

/// The distance from the rim of a portal at which the outline of a body is put that comes out of it or back
/// from it.
const PORTAL_GAP: Fx = Fx::from_ratio(1, 4);

/// Where people and things go over a border, in metres of the sim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BorderWay {
    /// Over the edge that both grounds share.
    Line(BorderLine),
    /// Through a disc of the ground.
    Portal(Portal),
}

/// The way out of a portal for what moves nowhere.
pub(crate) const EAST: Vec2 = Vec2::new(Fx::ONE, Fx::ZERO);

/// A disc of ground through which people and things go to a sim whose ground lies elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Portal {
    middle: Vec2,
}

impl BorderWay {
    /// Returns the way from a sim on one square to that on another: through a portal at this place, if there is one.
    /// There is no way without one where the squares share no edge.
    pub(crate) fn between(own: Square, other: Square, portal: Option<Vec2>) -> Option<Self> {
        match portal {
            Some(middle) => Some(Self::Portal(Portal { middle })),
            None => BorderLine::between(own, other).map(Self::Line),
        }
    }

    /// Returns the line, if this is one.
    pub(crate) const fn line(&self) -> Option<&BorderLine> {
        match self {
            Self::Line(line) => Some(line),
            Self::Portal(_) => None,
        }
    }

    /// Returns the portal, if this is one.
    pub(crate) const fn portal(&self) -> Option<&Portal> {
        match self {
            Self::Line(_) => None,
            Self::Portal(portal) => Some(portal),
        }
    }

    /// Returns how far past this way a place is. Nobody goes this way from a place for which there is no answer: it is
    /// outside of the ground where the line is not, or away from the portal. On the rim of a portal a body is as far
    /// past it as behind a line where it departs.
    pub(crate) fn beyond(&self, place: Vec2) -> Option<Fx> {
        match self {
            Self::Line(line) => line.beyond(place),
            Self::Portal(portal) => {
                // Each turn asks this of all that moves, and a root takes longer than all else here.
                let away = place.saturating_sub(portal.middle);
                let is_far = away.x.saturating_abs().max(away.y.saturating_abs()) > PORTAL_RADIUS;
                let inside = || PORTAL_RADIUS.saturating_sub(away.length());
                (!is_far).then(|| inside().saturating_add(DEPARTS_AT))
            }
        }
    }

    /// Says whether somebody at a place is so near that the neighbour is told of her.
    pub(crate) fn is_near(&self, place: Vec2) -> bool {
        match self {
            Self::Line(line) => line.is_near(place, Fx::from_int(NEAR_BORDER_METRES)),
            Self::Portal(portal) => portal.distance(place) <= Fx::from_int(NEAR_PORTAL_METRES),
        }
    }

    /// Says whether somebody of the neighbour who goes this way may have been at a place there. Where a portal lies in
    /// the neighbour is nothing to this sim.
    pub(crate) fn leads_from(&self, place: Vec2) -> bool {
        match self {
            Self::Line(line) => {
                line.is_near(line.place_here(place), Fx::from_int(2 * BORDER_BAND_METRES))
            }
            Self::Portal(_) => true,
        }
    }

    /// Returns how far things at these places are moved to go this way together: the first one into the middle of the
    /// portal, or the one that is furthest over the line a metre past it, as if all had moved there.
    pub(crate) fn way_out(&self, first: Vec2, places: impl Iterator<Item = Vec2>) -> Vec2 {
        match self {
            Self::Line(line) => {
                let furthest = places.max_by_key(|place| line.depth(*place)).unwrap_or(first);
                line.way_past(furthest, Fx::ONE)
            }
            Self::Portal(portal) => portal.middle.saturating_sub(first),
        }
    }

    /// Returns how far a place is from the line, or from the middle of the portal.
    pub(crate) fn distance(&self, place: Vec2) -> Fx {
        match self {
            Self::Line(line) => line.distance(place),
            Self::Portal(portal) => portal.distance(place),
        }
    }
}

/// The directions in which there is room looked for around a portal, an eighth of a turn apart.
pub(crate) const EXITS: u8 = 8;

impl Portal {
    /// Says whether a portal may have its middle at a place of the ground: nobody who comes out of it stands over an
    /// edge.
    pub(crate) fn fits(middle: Vec2, ground: Area) -> bool {
        ground.shrunk(Fx::from_int(PORTAL_EDGE_METRES)).contains(middle)
    }

    /// Returns how far a place is from the middle.
    pub(crate) fn distance(&self, place: Vec2) -> Fx {
        self.middle.distance(place)
    }

    /// Returns the middle.
    pub(crate) const fn middle(&self) -> Vec2 {
        self.middle
    }

    /// Says whether a place is within the rim.
    pub(crate) fn contains(&self, place: Vec2) -> bool {
        self.distance(place) < PORTAL_RADIUS
    }

    /// Returns where a body stands that came out of the portal this way and reaches so far from its middle. What moves
    /// nowhere comes out to the east.
    pub(crate) fn exit(&self, way: Vec2, reach: Fx) -> Vec2 {
        let way = way.normalize().unwrap_or(EAST);
        let out = PORTAL_RADIUS.saturating_add(reach).saturating_add(PORTAL_GAP);
        self.middle.saturating_add(way.scale(out))
    }

    /// Returns where a body stands that comes back from the portal which it entered at a place: on the side from which
    /// it came.
    pub(crate) fn back(&self, place: Vec2, reach: Fx) -> Vec2 {
        self.exit(place.saturating_sub(self.middle), reach)
    }

    /// Returns where a body may stand that comes back, first as [`Portal::back`] says and then on the other sides.
    pub(crate) fn backs(&self, place: Vec2, reach: Fx) -> impl Iterator<Item = Vec2> {
        let first = place.saturating_sub(self.middle).normalize().unwrap_or(EAST);
        let sides = core::iter::successors(Some(first), |way| Some(way.rotate(Angle::EIGHTH)));
        sides.take(EXITS.into()).map(move |way| self.exit(way, reach))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: i32, y: i32) -> Vec2 {
        Vec2::new(Fx::from_int(x), Fx::from_int(y))
    }

    fn square(x: i32, y: i32) -> Square {
        Square { x, y, doublings: 2 }
    }

    #[test]
    fn squares_that_are_apart_have_a_way_through_a_portal_alone() {
        let (own, beside, far) = (square(0, 0), square(8, 0), square(80, 0));
        assert_eq!(BorderWay::between(own, far, None), None);
        assert!(BorderWay::between(own, beside, None).is_some_and(|way| way.line().is_some()));
        let portal = BorderWay::between(own, far, Some(at(3, 4)));
        assert!(portal.is_some_and(|way| way.portal().is_some() && way.line().is_none()));
    }

    #[test]
    fn a_body_departs_whose_middle_is_within_the_rim() {
        let way = BorderWay::Portal(Portal { middle: at(10, 0) });
        let departs =
            |x: Fx| way.beyond(Vec2::new(x, Fx::ZERO)).is_some_and(|far| far > DEPARTS_AT);
        let rim = Fx::from_int(9);
        assert!(!departs(rim) && departs(rim.saturating_add(Fx::ULP)));
        assert!(departs(Fx::from_int(10)) && !departs(Fx::from_int(11)));
        let near = Fx::from_int(NEAR_PORTAL_METRES);
        assert!(way.is_near(at(10, 0).saturating_add(Vec2::new(near, Fx::ZERO))));
        assert!(!way.is_near(at(11, 0).saturating_add(Vec2::new(near, Fx::ZERO))));
    }

    #[test]
    fn whoever_comes_out_or_back_stands_outside_of_the_rim() {
        let portal = Portal { middle: at(10, 20) };
        let half = Fx::HALF;
        let out = portal.exit(at(0, -3), half);
        assert_eq!(out.x, Fx::from_int(10));
        // The rim is at one metre, then comes the half of the body, and a quarter of a metre.
        assert_eq!(out.y, Fx::from_int(20).saturating_sub(Fx::from_ratio(7, 4)));
        let back = portal.back(at(9, 20), half);
        assert!(back.x < Fx::from_int(9) && back.y == Fx::from_int(20));
        // What stands still in the very middle has no side.
        assert!(portal.back(at(10, 20), half).x > Fx::from_int(11));
    }
}
