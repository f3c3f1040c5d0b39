//! Rules of floor plans.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{Bounds, limits::COORDINATE_MAX};

use super::{
    FloorPlan, FloorPlanError, FloorPlanFault, FloorPlanPart, Sector, SectorOpening, SectorSound,
};
use crate::limits::{SECTOR_CORNERS_MAX, SECTOR_OPENINGS_MAX, SECTORS_MAX};

fn at(x: i32, y: i32) -> Vec2 {
    Vec2::new(Fx::from_int(x), Fx::from_int(y))
}

fn room(name: &str, corners: &[(i32, i32)]) -> Sector {
    Sector {
        name: name.to_owned(),
        corners: corners.iter().map(|(x, y)| at(*x, *y)).collect(),
        floor: 0x80_80_80,
        light: 100,
        sound: SectorSound::Silent,
    }
}

fn square(name: &str, west: i32, south: i32, side: i32) -> Sector {
    let (east, north) = (west + side, south + side);
    room(name, &[(west, south), (east, south), (east, north), (west, north)])
}

fn opening(from: (i32, i32), to: (i32, i32)) -> SectorOpening {
    SectorOpening { from: at(from.0, from.1), to: at(to.0, to.1) }
}

/// Two rooms side by side with a gap between them, and a front door in the south of the first.
fn house() -> FloorPlan {
    FloorPlan {
        sectors: vec![square("hall", 0, 0, 10), square("study", 10, 0, 10)],
        openings: vec![opening((10, 4), (10, 6)), opening((4, 0), (6, 0))],
    }
}

fn check(plan: &FloorPlan) -> Result<(), FloorPlanError> {
    let far = Vec2::new(COORDINATE_MAX, COORDINATE_MAX);
    plan.check(&Bounds::new(far.saturating_neg(), far).expect("ground"))
}

fn fault(plan: &FloorPlan) -> (FloorPlanPart, FloorPlanFault) {
    let FloorPlanError { part, fault } = check(plan).expect_err("a rule is broken");
    (part, fault)
}

#[test]
fn an_opening_joins_two_rooms_or_leads_outside() {
    let plan = house();
    assert_eq!(check(&plan), Ok(()));
    assert_eq!(plan.joins(&plan.openings[0]).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(plan.joins(&plan.openings[1]).collect::<Vec<_>>(), [0]);
}

#[test]
fn a_point_is_in_the_first_room_that_holds_it() {
    let plan = house();
    let name = |x, y| plan.sector_at(at(x, y)).map(|sector| sector.name.as_str());
    assert_eq!(name(5, 5), Some("hall"));
    assert_eq!(name(10, 5), Some("hall"), "both hold the edge");
    assert_eq!(name(15, 5), Some("study"));
    assert_eq!(name(5, -1), None);
}

#[test]
fn whoever_stands_in_an_opening_touches_no_wall() {
    let (plan, half) = (house(), Fx::HALF);
    assert!(plan.touches_wall(at(10, 2), half));
    assert!(plan.touches_wall(at(0, 5), half));
    assert!(!plan.touches_wall(at(10, 5), half));
    assert!(!plan.touches_wall(at(5, 5), half));
    assert!(!plan.touches_wall(at(5, -3), half));
    // In a corner beside an opening it is the other wall that one stands in.
    let mut plan = house();
    plan.openings.push(opening((0, 0), (2, 0)));
    let corner = Vec2::new(Fx::from_ratio(1, 4), Fx::ZERO);
    assert!(plan.touches_wall(corner, half));
}

#[test]
fn a_room_is_convex_and_its_corners_go_around_it() {
    let pentagram = [(0, 10), (-6, -8), (9, 3), (-9, 3), (6, -8)];
    for corners in [
        &[(0, 0), (0, 10), (10, 10), (10, 0)][..],
        &[(0, 0), (10, 0), (2, 2), (0, 10)],
        &[(0, 0), (5, 0), (10, 0), (5, 5)],
        &[(0, 0), (10, 0), (10, 0), (5, 5)],
        &pentagram,
    ] {
        let plan = FloorPlan { sectors: vec![room("odd", corners)], openings: Vec::new() };
        let (part, fault) = fault(&plan);
        assert_eq!(part, FloorPlanPart::Sector(0));
        assert!(matches!(fault, FloorPlanFault::NotConvex(_)), "{corners:?}: {fault:?}");
    }
}

#[test]
fn rooms_share_edges_and_no_ground() {
    let mut plan = house();
    plan.sectors.push(square("attic", 19, 9, 5));
    let overlap = FloorPlanFault::Overlaps(1, "study".to_owned());
    assert_eq!(fault(&plan), (FloorPlanPart::Sector(2), overlap));
    // A room inside of another one, and one that is crossed without a corner inside.
    for other in [square("closet", 12, 2, 2), room("beam", &[(9, 4), (21, 4), (21, 5), (9, 5)])] {
        plan.sectors[2] = other;
        assert!(matches!(fault(&plan).1, FloorPlanFault::Overlaps(..)));
    }
    plan.sectors[2] = square("attic", 20, 10, 5);
    assert_eq!(check(&plan), Ok(()), "a corner in common is no ground");
}

#[test]
fn openings_are_on_edges_and_wide_enough() {
    for (gap, expected) in [
        (opening((4, 1), (6, 1)), FloorPlanFault::NoEdge),
        (opening((8, 0), (12, 0)), FloorPlanFault::NoEdge),
        (opening((10, 4), (10, 4)), FloorPlanFault::Narrow),
        (opening((10, 5), (10, 9)), FloorPlanFault::OpeningsOverlap(0)),
        (opening((10, 6), (10, 4)), FloorPlanFault::OpeningsOverlap(0)),
        (opening((1, 0), (9, 0)), FloorPlanFault::OpeningsOverlap(1)),
    ] {
        let mut plan = house();
        plan.openings.push(gap);
        assert_eq!(fault(&plan), (FloorPlanPart::Opening(2), expected));
    }
    let mut beside = house();
    beside.openings.push(opening((10, 6), (10, 8)));
    assert_eq!(check(&beside), Ok(()), "an end in common is no gap");
    // The ends of an edge that runs aslant are seldom exactly on it.
    let third = |n| Fx::from_ratio(n, 3);
    let plan = FloorPlan {
        sectors: vec![room("gable", &[(0, 0), (10, 0), (0, 7)])],
        openings: vec![SectorOpening {
            from: Vec2::new(third(10), third(14)),
            to: Vec2::new(third(20), third(7)),
        }],
    };
    assert_eq!(check(&plan), Ok(()));
}

#[test]
fn every_other_rule_of_rooms_has_its_fault() {
    let wrong = |change: fn(&mut Sector)| {
        let mut plan = house();
        change(&mut plan.sectors[1]);
        fault(&plan)
    };
    let part = FloorPlanPart::Sector(1);
    let name = wrong(|room| room.name = "two\nlines".to_owned());
    assert_eq!(name, (part, FloorPlanFault::Name("two\nlines".to_owned())));
    assert_eq!(wrong(|room| room.light = 101), (part, FloorPlanFault::Light(101)));
    assert_eq!(wrong(|room| room.floor = 1 << 24), (part, FloorPlanFault::Floor(1 << 24)));
    let two = wrong(|room| room.corners.truncate(2));
    assert_eq!(two, (part, FloorPlanFault::Corners(2)));
    let many = wrong(|room| room.corners = vec![at(0, 0); SECTOR_CORNERS_MAX + 1]);
    assert_eq!(many, (part, FloorPlanFault::Corners(SECTOR_CORNERS_MAX + 1)));
    let far = wrong(|room| room.corners[1] = at(2_000_000, 0));
    assert_eq!(far, (part, FloorPlanFault::OutOfGround(at(2_000_000, 0))));
}

#[test]
fn a_floor_plan_has_at_most_so_many_rooms_and_openings() {
    let row = |count: usize| -> Vec<Sector> {
        (0..).take(count).map(|n| square("cell", n * 10, 0, 10)).collect()
    };
    let mut plan = FloorPlan { sectors: row(SECTORS_MAX), openings: Vec::new() };
    assert_eq!(check(&plan), Ok(()));
    let gaps = (0..).map(|n| opening((3 * n + 1, 0), (3 * n + 2, 0)));
    plan.openings = gaps.take(SECTOR_OPENINGS_MAX).collect();
    assert_eq!(check(&plan), Ok(()));
    plan.openings.push(opening((1, 10), (2, 10)));
    assert_eq!(fault(&plan).1, FloorPlanFault::TooManyOpenings);
    plan.sectors = row(SECTORS_MAX + 1);
    assert_eq!(fault(&plan).1, FloorPlanFault::TooManySectors);
}
