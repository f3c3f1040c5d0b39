//! The ways of one lookup share no site: a liar is on one of them at most.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_math::Stream;
use metatopia_raynet::{OverlayInput, TilePoint};
use metatopia_types::Square;

use crate::town::{Town, WayAsked, square};

/// A town of so many sites, each somewhere in a field of its own.
fn town(seed: u8, columns: i32, rows: i32) -> Town {
    let mut stream = Stream::new(&[seed; 32], "a town for ways", &[]);
    let mut within = || 2 * stream.below(8) as i32;
    let fields = (0..columns).flat_map(|x| (0..rows).map(move |y| (24 * x, 24 * y)));
    let squares: Vec<Square> = fields.map(|(x, y)| square(x + within(), y + within())).collect();
    let mut town = Town::begun(squares);
    town.run(12);
    town
}

/// Has these members look the points up at once, and returns the questions of each lookup by its ways.
fn looked_up(town: &mut Town, asks: &[(usize, TilePoint)]) -> Vec<BTreeMap<u64, Vec<WayAsked>>> {
    town.asked.clear();
    town.found.clear();
    for (id, (member, point)) in asks.iter().enumerate() {
        town.input(*member, OverlayInput::Lookup { id: id as u64, point: *point });
    }
    town.run(6);
    assert_eq!(town.found.len(), asks.len(), "each lookup is answered");
    let of = |(member, point): &(usize, TilePoint)| {
        let mut ways: BTreeMap<u64, Vec<WayAsked>> = BTreeMap::new();
        let asked =
            town.asked.iter().filter(|asked| (asked.from, asked.point) == (*member, *point));
        asked.for_each(|asked| ways.entry(asked.way).or_default().push(*asked));
        ways
    };
    asks.iter().map(of).collect()
}

/// Asserts that no site is asked on two ways, and that the map is asked of who was asked before. Returns how many ways
/// ended before a site of another way.
fn assert_apart(ways: &BTreeMap<u64, Vec<WayAsked>>, told: &str) -> usize {
    let mut all: BTreeSet<usize> = BTreeSet::new();
    let mut met = 0;
    for way in ways.values() {
        let sites: BTreeSet<usize> = way.iter().map(|asked| asked.to).collect();
        assert!(all.is_disjoint(&sites), "{told}: a site is on two of {ways:?}");
        all.extend(&sites);
        let for_map = way.iter().position(|asked| asked.map);
        if let Some(place) = for_map {
            let mut before = way[..place].iter().map(|asked| asked.to);
            assert!(before.any(|site| site == way[place].to), "{told}: {way:?}");
            met += 1;
        }
    }
    met
}

#[test]
fn two_ways_of_a_lookup_never_ask_the_same_site() {
    for seed in 1..=6 {
        let told = format!("seed {seed}");
        let mut town = town(seed, 8, 6);
        let mut stream = Stream::new(&[seed; 32], "lookups of ways", &[]);
        let mut met = 0;
        // The second time some sites on the ways are dead, and nobody has noticed yet.
        for is_hurt in [false, true] {
            if is_hurt {
                (0..6).for_each(|_| town.kill(stream.below(48) as usize));
            }
            let living: Vec<usize> = town.members.keys().copied().collect();
            let mut asks = BTreeMap::new();
            for number in 0..24 {
                let from = living[stream.below(living.len() as u64) as usize];
                // The corner of somebody's square, which no way to the owner itself is for; or anywhere.
                let Square { x, y, .. } = town.squares[stream.below(48) as usize];
                let anywhere = [(); 2].map(|()| stream.below(200) as i32);
                let (x, y) = if number % 2 == 0 { (x, y) } else { (anywhere[0], anywhere[1]) };
                asks.insert(TilePoint { x, y }, from);
            }
            let asks: Vec<_> = asks.into_iter().map(|(point, from)| (from, point)).collect();
            for ways in looked_up(&mut town, &asks) {
                assert!(ways.len() >= 2, "{told}: {ways:?}");
                met += assert_apart(&ways, &told);
            }
        }
        assert!(met > 10, "{told}: {met} ways met another one at their end");
    }
}

/// Nobody else is there who could be on another way.
#[test]
fn in_a_world_of_two_sites_a_lookup_has_one_way_and_of_three_it_has_two() {
    for (columns, ways_of) in [(1, 0), (2, 1), (3, 2)] {
        let mut town = town(1, columns, 1);
        let asks = [(0, TilePoint { x: 300, y: 5 }), (0, TilePoint { x: 1, y: 200 })];
        for ways in looked_up(&mut town, &asks) {
            assert_eq!(ways.len(), ways_of, "{columns} sites: {ways:?}");
            assert_apart(&ways, "few sites");
        }
    }
}
