//! A point where four sims meet: people walk in circles of one metre around it.

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_sim::{Area, Genesis};
use metatopia_types::{Act, BorderOrder, Digest, Outcome, PublicKey, Square};

use crate::town::{ADMIN, Place, genesis, places, public, step_around};

const SEEDS: u64 = 200;
const PEOPLE: u8 = 3;
/// Turns of 50 ms: 4 s, in which somebody at 4 m/s walks twice around.
const STEPS: usize = 80;
/// Turns in which nobody may stand where she is.
const STUCK: usize = 20;

/// The squares of four sims around a point.
const SQUARES: [(i32, i32); 4] = [(0, 0), (2, 0), (0, 2), (2, 2)];
/// Which of them share an edge.
const EDGES: [(usize, usize); 4] = [(0, 1), (0, 2), (1, 3), (2, 3)];

/// Returns the geneses of four sims, in each of which people begin near the point.
fn geneses() -> [Genesis; 4] {
    let mut n = 0;
    SQUARES.map(|(x, y)| {
        let mut genesis = genesis(n, 1);
        n += 1;
        let square = Square { x, y, doublings: 0 };
        genesis.site = genesis.site.map(|site| metatopia_types::Site { square, ..site });
        let parameters = &mut genesis.parameters;
        parameters.ground = Area::of_square(square);
        let towards = |at: i32| Fx::from_int(if at == 0 { 26 } else { -26 });
        parameters.avatar.spawn = Vec2::new(towards(x), towards(y));
        parameters.avatar.speed = Fx::from_int(4);
        genesis
    })
}

/// Returns the four sims, with the borders open between those that share an edge.
fn four() -> Vec<Place> {
    let mut all: Vec<Place> = (0..)
        .zip(geneses())
        .map(|(n, genesis)| Place::new(genesis, 1_700_000_000_000 + 100_000_000 * n))
        .collect();
    for place in &mut all {
        place.login(public(ADMIN));
        place.play(50);
    }
    for (a, b) in EDGES {
        for (own, other) in [(a, b), (b, a)] {
            let head = Box::new(all[other].genesis.head());
            let act =
                all[own].order(&BorderOrder::Open { head, offices: Vec::new(), portal: None });
            all[own].play(50);
            assert_eq!(all[own].outcome(&act), Outcome::Ok);
        }
    }
    all.iter_mut().for_each(|place| place.idle(3));
    all
}

/// Returns which sims share an edge with one.
fn beside(n: usize) -> impl Iterator<Item = usize> {
    EDGES.into_iter().filter_map(move |(a, b)| match n {
        _ if n == a => Some(b),
        _ if n == b => Some(a),
        _ => None,
    })
}

/// Returns where a person is, as seen from the point, or `None` while she is under way.
fn seen_from_the_point(all: &[Place], person: &PublicKey) -> Option<(usize, Vec2)> {
    let n = all.iter().position(|place| place.world.avatar(person).is_some())?;
    let place = all[n].place_of(person)?;
    let (x, y) = SQUARES[n];
    let to_point = |at: i32| Fx::from_int(if at == 0 { 32 } else { -32 });
    Some((n, place.saturating_sub(Vec2::new(to_point(x), to_point(y)))))
}

/// The way around the point at one metre, from a place.
fn way_around(place: Vec2) -> Vec2 {
    let gap = place.length();
    if gap < Fx::from_ratio(1, 4) {
        return Vec2::new(Fx::ONE, Fx::ZERO);
    }
    let outward = Vec2::new(place.x.saturating_div(gap), place.y.saturating_div(gap));
    let around = Vec2::new(outward.y.saturating_neg(), outward.x);
    // Whoever is too far off, or too near, goes in or out.
    let off = gap.saturating_sub(Fx::ONE).max(Fx::from_int(-1)).min(Fx::from_int(2));
    around.saturating_sub(outward.scale(off))
}

/// Has a person walk around, and ask for passes wherever she may go.
fn walk(all: &mut [Place], person: PublicKey, heading: Option<Vec2>) {
    let Some((n, place)) = seen_from_the_point(all, &person) else { return };
    let heading = heading.unwrap_or_else(|| way_around(place));
    all[n].act(person, 1, Act::Walk { heading });
    let from = all[n].id();
    for other in beside(n) {
        all[other].act(person, 1, Act::Approach { from, work: None });
    }
}

#[test]
fn whoever_walks_around_a_point_where_four_sims_meet_is_in_one_place_and_never_stuck() {
    let (mut crossings, mut diagonal) = (0_usize, 0_usize);
    for seed in 0..SEEDS {
        let mut dice = Stream::new(&Digest::of("corner", &seed.to_le_bytes()).0, "walk", &[]);
        let mut all = four();
        let people: Vec<PublicKey> = (1..=PEOPLE).map(public).collect();
        for person in &people {
            all[dice.below(4) as usize].login(*person);
        }
        step_around(&mut all, beside, |_| true);
        let mut last: Vec<(usize, Vec2)> = vec![(9, Vec2::ZERO); people.len()];
        let mut moved = vec![0_usize; people.len()];
        for at in 0..STEPS {
            for (n, person) in people.iter().enumerate() {
                walk(&mut all, *person, None);
                let found = places(&all, person);
                assert_eq!(found, 1, "seed {seed}: person {n} is in {found} places");
                let Some((sim, place)) = seen_from_the_point(&all, person) else { continue };
                if last[n].0 != sim {
                    crossings += usize::from(last[n].0 < 4);
                    diagonal += usize::from(last[n].0 < 4 && last[n].0 + sim == 3);
                }
                if last[n].0 != sim || last[n].1.distance(place) > Fx::from_ratio(1, 10) {
                    (last[n], moved[n]) = ((sim, place), at);
                }
            }
            for (n, moved) in moved.iter().enumerate() {
                assert!(at - moved < STUCK, "seed {seed}: person {n} stands at {:?}", last[n]);
            }
            // One word of ten is late.
            step_around(&mut all, beside, |_| dice.below(10) > 0);
        }
        for place in &all {
            assert_eq!(place.world.root(), place.world.rehash(), "seed {seed}");
        }
    }
    println!("{SEEDS} seeds: {crossings} crossings");
    assert_eq!(diagonal, 0, "nobody goes to a sim that shares no edge");
    assert!(crossings > 8 * SEEDS as usize, "{crossings} crossings");
}

#[test]
fn whoever_walks_through_the_point_comes_to_the_sim_behind_it() {
    let mut all = four();
    let ada = public(1);
    all[0].login(ada);
    step_around(&mut all, beside, |_| true);
    let both = Some(Vec2::new(Fx::ONE, Fx::ONE));
    for _ in 0..200 {
        walk(&mut all, ada, both);
        step_around(&mut all, beside, |_| true);
        assert_eq!(places(&all, &ada), 1);
        if all[3].world.avatar(&ada).is_some() {
            return;
        }
    }
    panic!("she never comes there: {:?}", seen_from_the_point(&all, &ada));
}

#[test]
fn a_neighbour_whose_border_is_closed_is_a_wall_also_at_the_corner() {
    let mut all = four();
    let ada = public(1);
    all[0].login(ada);
    let neighbour = all[2].id();
    all[0].order(&BorderOrder::Close { neighbour });
    step_around(&mut all, beside, |_| true);
    for _ in 0..60 {
        walk(&mut all, ada, Some(Vec2::new(Fx::ZERO, Fx::ONE)));
        step_around(&mut all, beside, |_| true);
    }
    let (sim, place) = seen_from_the_point(&all, &ada).expect("she is here");
    assert!(sim == 0 && place.y <= Fx::ZERO, "{sim} {place:?}");
}
