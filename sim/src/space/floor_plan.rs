//! The floor plan: rooms without a view of one another, and the openings that join them.
//!
//! A floor plan is what people see and are told; it stops nobody. What stops them are the walls that
//! stand there as things.

use core::fmt;

use metatopia_math::{Fx, Vec2};
use metatopia_physics::Bounds;
use metatopia_types::limits::NAME_BYTES_MAX;
use serde::{Deserialize, Serialize};

use crate::{
    limits::{SECTOR_CORNERS_MAX, SECTOR_OPENINGS_MAX, SECTORS_MAX},
    state::is_name,
};

/// How far an end of an opening may be from the line between two corners. Coordinates are steps of
/// 2^-32 m, so hardly any point is exactly on a line that runs aslant.
const BESIDE: Fx = Fx::from_ratio(1, 64);

/// The narrowest opening, in metres.
const NARROW: Fx = Fx::from_ratio(1, 10);

/// Rooms and openings of a sim.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FloorPlan {
    /// The rooms. No two of them have more than edges in common.
    pub sectors: Vec<Sector>,
    /// Where one sees from one room into another, or outside.
    pub openings: Vec<SectorOpening>,
}

/// A room: a convex piece of ground with walls along its edges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sector {
    /// The name that people who enter it are told.
    pub name: String,
    /// Its corners, counter-clockwise, in metres; it bulges at each of them.
    pub corners: Vec<Vec2>,
    /// The colour of its floor, as 0xRRGGBB.
    pub floor: u32,
    /// How light it is, in percent of daylight.
    pub light: u8,
    /// What it sounds like.
    pub sound: SectorSound,
}

/// What people hear in a room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SectorSound {
    /// Nothing but what happens there.
    #[default]
    Silent,
    /// The quiet of a small room.
    Room,
    /// A large hall that echoes.
    Hall,
    /// Wind and leaves.
    Garden,
    /// A brook or a fountain nearby.
    Water,
    /// Machines at work.
    Machines,
}

impl SectorSound {
    /// Every sound with its name.
    pub const ALL: [(Self, &str); 6] = [
        (Self::Silent, "silent"),
        (Self::Room, "room"),
        (Self::Hall, "hall"),
        (Self::Garden, "garden"),
        (Self::Water, "water"),
        (Self::Machines, "machines"),
    ];

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(sound, _)| *sound == self);
        found.expect("all sounds are listed").1
    }
}

/// A gap in the walls of one room or of two neighbours: one sees through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectorOpening {
    /// One end, on the edge of each room that it opens.
    pub from: Vec2,
    /// The other end, on the same edge.
    pub to: Vec2,
}

/// A part of a floor plan, by its place in its list, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloorPlanPart {
    /// A room, which is listed at this place.
    Sector(usize),
    /// An opening, which is listed at this place.
    Opening(usize),
}

impl fmt::Display for FloorPlanPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // People count from one.
            Self::Sector(n) => write!(f, "sector {}", n + 1),
            Self::Opening(n) => write!(f, "opening {}", n + 1),
        }
    }
}

/// The first part of a floor plan that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{part}: {fault}")]
pub struct FloorPlanError {
    /// The part that breaks it.
    pub part: FloorPlanPart,
    /// The rule that it breaks.
    pub fault: FloorPlanFault,
}

/// A rule of floor plans that is broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FloorPlanFault {
    /// There are more rooms than a sim may have.
    #[error("there are more than {SECTORS_MAX} sectors")]
    TooManySectors,
    /// There are more openings than a sim may have.
    #[error("there are more than {SECTOR_OPENINGS_MAX} openings")]
    TooManyOpenings,
    /// A name is no short line.
    #[error("{0:?} is no name for a sector: write one line of 1 to {NAME_BYTES_MAX} bytes")]
    Name(String),
    /// A room has too few or too many corners.
    #[error("{0} corners where 3 to {SECTOR_CORNERS_MAX} are allowed")]
    Corners(usize),
    /// The corners do not go around a convex piece of ground.
    #[error("the corners do not go around a convex room counter-clockwise: look at the one at {0}")]
    NotConvex(Vec2),
    /// A corner is outside of the ground.
    #[error("the corner at {0} is outside of the ground")]
    OutOfGround(Vec2),
    /// A colour has 24 bits.
    #[error("{0:#x} is no colour")]
    Floor(u32),
    /// The light is more than daylight.
    #[error("light {0} where 0 to 100 percent are allowed")]
    Light(u8),
    /// Two rooms cover the same ground.
    #[error("it covers ground of sector {number}, {1:?}", number = .0 + 1)]
    Overlaps(usize, String),
    /// An opening is hardly one.
    #[error("an opening of less than {} m", NARROW.shortest())]
    Narrow,
    /// Two openings are the same gap, or parts of one.
    #[error("it covers a part of opening {}", .0 + 1)]
    OpeningsOverlap(usize),
    /// An opening is on no edge.
    #[error("it is on no edge of a sector")]
    NoEdge,
}

impl Sector {
    /// Returns the edges, each from a corner to the next one counter-clockwise.
    pub fn edges(&self) -> impl Iterator<Item = (Vec2, Vec2)> {
        let next = self.corners.iter().cycle().skip(1);
        self.corners.iter().copied().zip(next.copied())
    }

    /// Says whether a point is in the room or on its edge.
    #[must_use]
    pub fn contains(&self, point: Vec2) -> bool {
        self.edges().all(|edge| side(edge, point) >= Fx::ZERO)
    }

    /// Says whether an opening is on one of the edges.
    #[must_use]
    pub fn has(&self, opening: &SectorOpening) -> bool {
        self.edges().any(|edge| opening.is_on(edge))
    }

    fn check(&self, ground: &Bounds) -> Result<(), FloorPlanFault> {
        if !is_name(&self.name) {
            return Err(FloorPlanFault::Name(self.name.clone()));
        }
        if !(3..=SECTOR_CORNERS_MAX).contains(&self.corners.len()) {
            return Err(FloorPlanFault::Corners(self.corners.len()));
        }
        if let Some(corner) = self.corners.iter().find(|corner| !ground.contains(**corner)) {
            return Err(FloorPlanFault::OutOfGround(*corner));
        }
        if self.floor > 0x00ff_ffff {
            return Err(FloorPlanFault::Floor(self.floor));
        }
        if self.light > 100 {
            return Err(FloorPlanFault::Light(self.light));
        }
        // All other corners are to the left of each edge. This holds for no star, which turns left at
        // every corner as well.
        for edge in self.edges() {
            let other = |at: &Vec2| *at != edge.0 && *at != edge.1;
            let lefts = self.corners.iter().filter(|at| other(at));
            let left = lefts.clone().all(|at| side(edge, *at) > Fx::ZERO);
            if !left || lefts.count() + 2 != self.corners.len() {
                return Err(FloorPlanFault::NotConvex(self.turning_in().unwrap_or(edge.0)));
            }
        }
        Ok(())
    }

    /// Returns the first corner at which the walls turn in.
    fn turning_in(&self) -> Option<Vec2> {
        let count = self.corners.len();
        let corner = |at: usize| self.corners[at % count];
        let turns = |at: &usize| side((corner(*at), corner(at + 1)), corner(at + 2)) <= Fx::ZERO;
        (0..count).find(turns).map(|at| corner(at + 1))
    }

    /// Says whether two rooms have more than edges in common. Two convex rooms have not when all of one
    /// of them is behind an edge of the other.
    fn overlaps(&self, other: &Self) -> bool {
        let behind = |edge, room: &Self| room.corners.iter().all(|at| side(edge, *at) <= Fx::ZERO);
        !self.edges().any(|edge| behind(edge, other))
            && !other.edges().any(|edge| behind(edge, self))
    }
}

impl SectorOpening {
    /// Says whether both ends are on an edge.
    fn is_on(&self, edge: (Vec2, Vec2)) -> bool {
        is_beside(edge, self.from) && is_beside(edge, self.to)
    }

    /// Says whether the two are on one line, and have more than a point of it in common.
    fn overlaps(&self, other: &Self) -> bool {
        let along = self.to.saturating_sub(self.from);
        let Some(direction) = along.normalize() else { return false };
        let [from, to] = [other.from, other.to].map(|end| end.saturating_sub(self.from));
        if [from, to].iter().any(|end| direction.cross(*end).saturating_abs() > BESIDE) {
            return false;
        }
        let [a, b] = [from, to].map(|end| end.dot(direction));
        let (low, high) = (a.min(b).max(Fx::ZERO), a.max(b).min(along.length()));
        high.saturating_sub(low) > BESIDE
    }
}

impl FloorPlan {
    /// Returns the room at a point. Where edges meet it is the one that is listed first.
    #[must_use]
    pub fn sector_at(&self, point: Vec2) -> Option<&Sector> {
        self.sectors.iter().find(|sector| sector.contains(point))
    }

    /// Returns the rooms that an opening opens, by their places in the list: two neighbours, or one room
    /// to the outside.
    pub fn joins(&self, opening: &SectorOpening) -> impl Iterator<Item = usize> {
        let listed = self.sectors.iter().enumerate();
        listed.filter(|(_, sector)| sector.has(opening)).map(|(n, _)| n)
    }

    /// Says whether a disc touches a wall: an edge of a room, apart from the openings in it.
    #[must_use]
    pub fn touches_wall(&self, centre: Vec2, radius: Fx) -> bool {
        let near = |edge: (Vec2, Vec2)| nearest(edge, centre).distance(centre) < radius;
        // Whoever stands in an opening of an edge does not stand in the wall beside it.
        let is_open = |edge| {
            let mut gaps = self.openings.iter().filter(|gap| gap.is_on(edge));
            gaps.any(|gap| near((gap.from, gap.to)))
        };
        self.sectors.iter().flat_map(Sector::edges).any(|edge| near(edge) && !is_open(edge))
    }

    /// Checks all rooms and openings.
    ///
    /// # Errors
    /// The first part that breaks a rule.
    pub fn check(&self, ground: &Bounds) -> Result<(), FloorPlanError> {
        let wrong = |part, fault| Err(FloorPlanError { part, fault });
        if self.sectors.len() > SECTORS_MAX {
            return wrong(FloorPlanPart::Sector(SECTORS_MAX), FloorPlanFault::TooManySectors);
        }
        if self.openings.len() > SECTOR_OPENINGS_MAX {
            let part = FloorPlanPart::Opening(SECTOR_OPENINGS_MAX);
            return wrong(part, FloorPlanFault::TooManyOpenings);
        }
        for (n, sector) in self.sectors.iter().enumerate() {
            let part = FloorPlanPart::Sector(n);
            sector.check(ground).or_else(|fault| wrong(part, fault))?;
            let mut earlier = self.sectors[..n].iter().enumerate();
            if let Some((other, found)) = earlier.find(|(_, other)| other.overlaps(sector)) {
                return wrong(part, FloorPlanFault::Overlaps(other, found.name.clone()));
            }
        }
        for (n, opening) in self.openings.iter().enumerate() {
            let part = FloorPlanPart::Opening(n);
            if opening.from.distance(opening.to) < NARROW {
                return wrong(part, FloorPlanFault::Narrow);
            }
            if self.joins(opening).next().is_none() {
                return wrong(part, FloorPlanFault::NoEdge);
            }
            if let Some(other) = self.openings[..n].iter().position(|gap| gap.overlaps(opening)) {
                return wrong(part, FloorPlanFault::OpeningsOverlap(other));
            }
        }
        Ok(())
    }
}

/// Returns a number that is above zero for points to the left of an edge, below it to its right.
fn side((from, to): (Vec2, Vec2), point: Vec2) -> Fx {
    to.saturating_sub(from).cross(point.saturating_sub(from))
}

/// Returns the point of an edge that is nearest to another point.
fn nearest((from, to): (Vec2, Vec2), point: Vec2) -> Vec2 {
    let along = to.saturating_sub(from);
    let Some(direction) = along.normalize() else { return from };
    let share = point.saturating_sub(from).dot(direction);
    from.saturating_add(direction.scale(share.max(Fx::ZERO).min(along.length())))
}

/// Says whether a point is on an edge, as exactly as points are.
fn is_beside(edge: (Vec2, Vec2), point: Vec2) -> bool {
    nearest(edge, point).distance(point) <= BESIDE
}

#[cfg(test)]
mod tests;
