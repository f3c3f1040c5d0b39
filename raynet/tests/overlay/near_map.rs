//! A member learns the map about its own square, also where nobody's record needs it.

use std::sync::Arc;

use metatopia_math::Stream;
use metatopia_raynet::{
    LandGrant, LandMap, OverlayEffect, OverlayInput, OverlayMessage, PlaneBlock, Shelf, TilePoint,
    pace::{NEAR_AGAIN_CYCLES, SHELVES_NEAR, SQUARES_NEAR},
};
use metatopia_types::{PublicKey, Square};

use crate::town::{
    CYCLE, DAWN, Lone, Town, config, grant, grid, key, said, shelf, shelves, signed, square,
};

/// Returns how many of the squares nearest to a point a map does not show.
fn missing(land: &LandMap, squares: &[Square], at: TilePoint) -> usize {
    let mut near: Vec<TilePoint> =
        squares.iter().map(|square| TilePoint::corner(*square)).collect();
    near.sort_by_key(|corner| at.distance_squared(*corner));
    near.into_iter().take(SQUARES_NEAR).filter(|corner| land.grant_at(*corner).is_none()).count()
}

/// The map of a node showed the land of those alone that it had met: where a sim was down, there was nothing.
#[test]
fn each_member_has_the_map_of_its_64_nearest_squares_also_of_those_whose_sims_are_down() {
    let mut town = Town::new(grid(14, 10));
    let living: Vec<usize> = (4..8).flat_map(|x| (4..8).map(move |y| 14 * x + y)).collect();
    for (index, number) in living.iter().enumerate() {
        town.begin(*number, &[living[index.saturating_sub(1)]]);
    }
    town.run(60);
    for number in living {
        let member = &town.members[&number];
        assert_eq!(missing(member.land(), &town.squares, member.at()), 0, "{number}");
        assert!(member.land().len() < town.shelves.len(), "and not of the whole world");
    }
}

/// A member that knows nobody, and has the shelf about its own square alone.
fn alone(grants: &[LandGrant], shelves: &[Arc<Shelf>]) -> Lone {
    let now = metatopia_types::Now { monotonic: core::time::Duration::ZERO, wall: DAWN };
    let member = metatopia_raynet::Overlay::new(config(0), now);
    let mut lone = Lone { member, now };
    let own = signed(0, grants[0].square);
    let at = own.middle().expect("a square");
    let here = shelves.iter().find(|shelf| shelf.block.contains(at)).expect("all has one");
    lone.give(OverlayInput::Shelf(here.proof.clone()));
    lone.give(OverlayInput::Own(Box::new(own)));
    lone
}

#[test]
fn whoever_knows_nobody_asks_the_host_for_one_shelf_after_the_other_and_comes_to_an_end() {
    let squares: Vec<Square> = grid(24, 6).into_iter().rev().collect();
    let grants: Vec<_> = squares.iter().enumerate().map(|(n, at)| grant(n, *at)).collect();
    let shelves = shelves(&grants);
    let mut lone = alone(&grants, &shelves);
    let mut wanted = Vec::new();
    for cycle in 0..400 {
        // The corners of the own cell, which is the whole plane here, are asked for besides.
        let points = lone.pass(CYCLE * 9 / 8).into_iter().filter_map(|effect| match effect {
            OverlayEffect::ShelfWanted(point) => Some(point),
            _ => None,
        });
        let points: Vec<TilePoint> = points.collect();
        assert!(points.len() <= 2, "{points:?}");
        for point in points {
            wanted.push(cycle);
            let shelf = shelves.iter().find(|shelf| shelf.block.contains(point));
            lone.give(OverlayInput::Shelf(shelf.expect("all has one").proof.clone()));
        }
    }
    assert_eq!(missing(lone.member.land(), &squares, lone.member.at()), 0);
    assert!(wanted.iter().all(|cycle| *cycle < 300), "{wanted:?}");
    assert!(lone.member.land().len() < SHELVES_NEAR + 8, "{:?}", lone.member.land().len());
}

/// Counts in some rounds how often the host is asked for maps, and which members are. Each site is met in each cycle.
fn asked_where_nobody_has_it(cut: core::ops::Range<usize>) -> (usize, Vec<PublicKey>) {
    let at = |x, y| square(10_000 + x, 10_000 + y);
    let squares = [at(0, 0), at(20, 0), at(-20, 0), at(0, 20), at(0, -20)];
    let grants: Vec<_> = squares.iter().enumerate().map(|(n, at)| grant(n, *at)).collect();
    let block = PlaneBlock::around(TilePoint { x: 0, y: 0 }, PlaneBlock::DOUBLINGS_MAX - 1);
    let quarter = shelf(block, 100, grants.clone());
    let mut lone = alone(&grants, core::slice::from_ref(&quarter));
    let (mut host, mut members) = (0, Vec::new());
    for _ in 0..10 * NEAR_AGAIN_CYCLES {
        for (number, at) in squares.iter().enumerate().skip(1) {
            lone.meet(number, *at);
        }
        for number in cut.clone() {
            lone.give(OverlayInput::Closed(key(number)));
        }
        for effect in lone.pass(CYCLE) {
            host += usize::from(matches!(effect, OverlayEffect::ShelfWanted(_)));
            if let Some((to, OverlayMessage::WantShelves(_))) = said(effect) {
                members.push(to);
            }
        }
    }
    (host, members)
}

#[test]
fn where_nobody_has_the_next_shelf_it_is_asked_for_seldom() {
    let (host, members) = asked_where_nobody_has_it(0..0);
    let asked = members.len();
    assert!((5..=11).contains(&host) && (6..=12).contains(&asked), "{host} and {asked}");
}

/// A member that was not connected was picked, and no word went out: the round counted as one in which it was asked.
#[test]
fn of_several_members_the_one_that_is_connected_is_asked_each_time() {
    let (host, members) = asked_where_nobody_has_it(2..5);
    let asked = members.len();
    assert!((5..=11).contains(&host) && (6..=12).contains(&asked), "{host} and {asked}");
    assert!(members.iter().all(|member| *member == key(1)), "{members:?}");
}

#[test]
fn the_nearest_gap_of_a_map_is_the_nearest_one_of_all_tiles() {
    for seed in 0..200_u8 {
        let mut stream = Stream::new(&[seed; 32], "gaps of a map", &[]);
        let mut draw = |below: u64| stream.below(below) as i32;
        let mut land = LandMap::default();
        for height in 0..12 {
            let corner = TilePoint { x: draw(32) - 16, y: draw(32) - 16 };
            let block = PlaneBlock::around(corner, draw(5) as u8);
            land.place(&shelf(block, 100 + height, Vec::new()));
        }
        let at = TilePoint { x: draw(32) - 16, y: draw(32) - 16 };
        let gap = land.nearest_gap(at).expect("the plane is larger");
        assert!(land.covering(gap).is_none(), "seed {seed}: {gap:?}");
        let tiles = (-64..64).flat_map(|x| (-64..64).map(move |y| TilePoint { x, y }));
        let gaps = tiles.filter(|tile| land.covering(*tile).is_none());
        let nearest = gaps.map(|tile| at.distance_squared(tile)).min();
        assert_eq!(Some(at.distance_squared(gap)), nearest, "seed {seed}: {gap:?} from {at:?}");
    }
    let mut whole = LandMap::default();
    whole.place(&shelf(PlaneBlock::PLANE, 1, Vec::new()));
    assert_eq!(whole.nearest_gap(TilePoint::default()), None);
    let far = TilePoint { x: i32::MAX, y: i32::MIN };
    assert_eq!(LandMap::default().nearest_gap(far), Some(far));
}
