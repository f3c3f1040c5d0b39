//! People: over the border, back, refused, and home again.

use metatopia_math::{Fx, Vec2};
use metatopia_sim::{
    FirstLogin, Presence, Standings as _, Wall,
    limits::{AHEAD_MS_MAX, DEPARTURE_MS, FIRST_LOGINS_PER_STEP, PASS_MS, WORD_MS},
};
use metatopia_types::{
    Act, BorderOrder, Outcome, Parcel, PublicKey, Puzzle, Refusal, Said, TravelRefusal, Work,
    limits::{ANCHOR_HEIGHTS, ROOT_LAG},
};

use crate::town::{ADMIN, Place, drive, genesis, places, public, step, tell, town, town_of};

pub(crate) const EAST: Vec2 = Vec2::new(Fx::ONE, Fx::ZERO);
pub(crate) const WEST: Vec2 = Vec2::new(Fx::from_int(-1), Fx::ZERO);

/// A town of two, in the western of which a person stands.
fn two() -> (Vec<Place>, PublicKey) {
    let mut town = town(2, 4);
    let ada = public(1);
    town[0].login(ada);
    // Two turns prove where she is, and one tells it.
    for _ in 0..4 {
        step(&mut town, 50);
    }
    assert!(town[0].world.avatar(&ada).is_some());
    (town, ada)
}

pub(crate) fn said(town: &[Place], own: usize, other: usize) -> &Said {
    &town[own].world.border(&town[other].id()).expect("a border").crossing.said
}

/// Walks until a person is in a sim; gives the turns from departure to arrival.
pub(crate) fn walk_until(town: &mut [Place], ada: PublicKey, heading: Vec2, to: usize) -> u64 {
    let mut away = 0;
    for _ in 0..400 {
        if town[to].world.avatar(&ada).is_some() {
            return away;
        }
        drive(town, ada, heading);
        step(town, 50);
        away += u64::from(town.iter().all(|place| place.world.avatar(&ada).is_none()));
        assert_eq!(places(town, &ada), 1);
    }
    panic!("she does not arrive: {:?}", town[0].place_of(&ada));
}

#[test]
fn a_person_walks_over_and_back_and_goes_on_where_she_would_have_walked() {
    let (mut town, ada) = two();
    let turns = walk_until(&mut town, ada, EAST, 1);
    println!("{turns} turns without an avatar");
    assert!((1..=6).contains(&turns), "{turns}");
    let place = town[1].place_of(&ada).expect("she is there");
    // Half a metre past the line she departs, at 8 m/s, and goes on for what the word took.
    assert!(place.x > Fx::from_int(-32) && place.x < Fx::from_int(-26), "{place:?}");
    // Nobody is a player by an announcement alone, and now she is one, who walks on.
    let session = town[1].world.player(&ada).and_then(|player| player.session.clone());
    assert_eq!(session.map(|session| session.heading), Some(EAST));
    // In the sim that she left she is away until that sim hears that she was taken, and then gone.
    for _ in 0..6 {
        step(&mut town, 50);
    }
    assert!(town[0].world.player(&ada).expect("known").session.is_none());
    assert_eq!(said(&town, 0, 1).departures, []);
    assert_eq!(said(&town, 1, 0).verdicts, []);
    assert_eq!(town[0].world.parcels(town[1].id()).count(), 0);

    walk_until(&mut town, ada, WEST, 0);
    assert!(town[0].world.root() == town[0].world.rehash());
    assert!(town[1].world.root() == town[1].world.rehash());
}

#[test]
fn without_a_pass_the_line_is_a_wall_and_nobody_stays_in_the_band() {
    let (mut town, ada) = two();
    for _ in 0..120 {
        town[0].act(ada, 1, Act::Walk { heading: EAST });
        step(&mut town, 50);
        let place = town[0].place_of(&ada).expect("she is there");
        assert!(place.x <= Fx::from_int(32), "{place:?}");
    }
    assert_eq!(said(&town, 0, 1).out_next, 0);
    assert_eq!(town[1].world.player(&ada).map(|_| ()), None);
}

#[test]
fn an_announcement_is_heard_of_those_alone_whom_the_leaf_names_near_and_makes_no_player() {
    let (mut town, ada) = two();
    let from = town[0].id();
    // She is 12 m from the line, so she is named.
    let (far, strange) = (public(2), public(3));
    town[1].login(far);
    let near = town[1].act(ada, 1, Act::Approach { from, work: None });
    let stranger = town[1].act(strange, 1, Act::Approach { from, work: None });
    step(&mut town, 50);
    assert_eq!(town[1].outcome(&near), Outcome::Ok);
    assert_eq!(town[1].outcome(&stranger), Outcome::Refused(Refusal::NotNear));
    assert_eq!(town[1].world.player(&ada).map(|_| ()), None);
    let pass = said(&town, 1, 0).passes[0].clone();
    assert_eq!((pass.person, pass.refused), (ada, None));
    assert_eq!(pass.until.0, town[1].time + PASS_MS);
    // A pass that nobody asks for again is dropped once no departure can rest on it.
    for _ in 0..((PASS_MS + DEPARTURE_MS) / 500 + 2) {
        step(&mut town, 500);
    }
    assert_eq!(said(&town, 1, 0).passes, []);
}

/// Whoever was named near made the price of first logins sixteen times as high, by work that was none.
#[test]
fn work_that_is_shown_at_a_border_counts_once_as_a_first_login_and_only_if_it_is_work() {
    let mut geneses: Vec<_> = (0..2).map(|column| genesis(column, 1)).collect();
    geneses[1].parameters.first_login = FirstLogin::Work;
    geneses[1].parameters.first_login_tries = 50;
    let mut town = town_of(geneses);
    let ada = public(1);
    town[0].login(ada);
    (0..4).for_each(|_| step(&mut town, 50));
    let from = town[0].id();
    let shows = |town: &mut [Place], work: Work| {
        let act = Act::Approach { from, work: Some(work) };
        let act = town[1].act(ada, 1, act);
        step(town, 50);
        assert_eq!(town[1].outcome(&act), Outcome::Ok);
    };
    let tries = |town: &[Place]| {
        let world = &town[1].world;
        world.first_logins().newest_anchor(world.height().plus(ROOT_LAG)).tries
    };
    let worked = |town: &[Place]| {
        let world = &town[1].world;
        let anchor = world.first_logins().newest_anchor(world.height().plus(1));
        let puzzle = Puzzle::new(world.sim(), &ada, &anchor.header, anchor.tries);
        Work { height: anchor.height, nonce: puzzle.solve(0, 100_000).expect("a few tries") }
    };
    let none = |town: &[Place]| {
        let (work, key) = (worked(town), ada);
        let world = &town[1].world;
        let is_none = |nonce: &u64| {
            let work = Work { nonce: *nonce, ..work };
            !world.first_logins().accepts(world.sim(), &key, &work, world.height().plus(1))
        };
        Work { nonce: (0..).find(is_none).expect("most numbers are none"), ..work }
    };
    let before = tries(&town);
    for _ in 0..FIRST_LOGINS_PER_STEP {
        let (work, nothing) = (worked(&town), none(&town));
        shows(&mut town, nothing);
        shows(&mut town, work);
    }
    (0..ANCHOR_HEIGHTS).for_each(|_| step(&mut town, 50));
    assert_eq!(tries(&town), before, "she had an answer all the time");
    assert_eq!(town[1].world.root(), town[1].world.rehash());
}

#[test]
fn a_closed_border_refuses_with_that_reason_and_she_comes_home() {
    let (mut town, ada) = two();
    // She departs, and the other side closes before it hears of her.
    while town[0].world.avatar(&ada).is_some() {
        drive(&mut town, ada, EAST);
        step(&mut town, 50);
    }
    let neighbour = town[0].id();
    town[1].order(&BorderOrder::Close { neighbour });
    town[1].play(50);
    assert_eq!(places(&town, &ada), 1);
    for _ in 0..8 {
        step(&mut town, 50);
    }
    let place = town[0].place_of(&ada).expect("she is home");
    assert!(place.x <= Fx::from_int(32) && place.x > Fx::from_int(28), "{place:?}");
    let presence = town[0].world.player(&ada).and_then(|player| player.session.clone());
    assert!(matches!(presence.expect("a session").presence, Presence::Here(_)));
    assert_eq!(places(&town, &ada), 1);
    assert_eq!(town[0].world.borders()[0].wall, Some(Wall::ClosedThere));
    assert_eq!(town[1].world.borders()[0].wall, Some(Wall::Closed));
}

#[test]
fn past_the_deadline_she_comes_home_by_the_neighbours_word_and_not_by_any_clock_of_ours() {
    let (mut town, ada) = two();
    while town[0].world.avatar(&ada).is_some() {
        drive(&mut town, ada, EAST);
        step(&mut town, 50);
    }
    // Our own clock says that the deadline has passed for long, and she is still under way.
    for _ in 0..40 {
        town[0].act(ada, 1, Act::Heartbeat);
        town[0].play(DEPARTURE_MS);
    }
    assert_eq!(said(&town, 0, 1).departures.len(), 1);
    assert_eq!(places(&town, &ada), 1);
    assert_eq!(town[0].world.borders()[0].wall, Some(Wall::Silent));
    // The neighbour goes on without hearing of her until its clock is past the deadline, and says so.
    for _ in 0..25 {
        town[1].play(500);
    }
    tell(&mut town, 1, 0);
    town[0].play(50);
    assert!(town[0].world.avatar(&ada).is_some());
    // What it hears of her now is old: she is not listed any more.
    for _ in 0..8 {
        step(&mut town, 50);
    }
    assert_eq!(places(&town, &ada), 1);
    assert!(town[1].world.avatar(&ada).is_none());
}

#[test]
fn a_departure_that_is_heard_of_too_late_is_refused_as_late() {
    let (mut town, ada) = two();
    while town[0].world.avatar(&ada).is_some() {
        drive(&mut town, ada, EAST);
        step(&mut town, 50);
    }
    town[0].idle(2);
    for _ in 0..25 {
        town[1].play(500);
    }
    tell(&mut town, 0, 1);
    town[1].play(50);
    assert_eq!(said(&town, 1, 0).verdicts[0].refused, Some(TravelRefusal::Late));
    for _ in 0..8 {
        step(&mut town, 50);
    }
    assert!(town[0].world.avatar(&ada).is_some());
    assert_eq!(places(&town, &ada), 1);
}

#[test]
fn who_was_taken_departs_no_more_before_her_sender_has_settled_it() {
    let (mut town, ada) = two();
    walk_until(&mut town, ada, EAST, 1);
    // The eastern sim hears the western one, which asks for her back at once, and hears nothing itself.
    for _ in 0..60 {
        town[1].act(ada, 1, Act::Walk { heading: WEST });
        let from = town[1].id();
        town[0].act(ada, 2, Act::Approach { from, work: None });
        town[0].play(50);
        tell(&mut town, 0, 1);
        town[1].play(50);
        assert!(town[1].world.avatar(&ada).is_some(), "she is pinned");
    }
    let place = town[1].place_of(&ada).expect("she is there");
    assert!(place.x >= Fx::from_int(-32), "the line is a wall for her: {place:?}");
    assert_eq!(town[1].world.borders()[0].pinned, 1);
    for _ in 0..8 {
        step(&mut town, 50);
    }
    assert_eq!(town[1].world.borders()[0].pinned, 0);
    walk_until(&mut town, ada, WEST, 0);
}

#[test]
fn without_word_for_two_seconds_the_border_is_a_wall() {
    let (mut town, ada) = two();
    for _ in 0..10 {
        let from = town[0].id();
        town[1].act(ada, 1, Act::Approach { from, work: None });
        step(&mut town, 50);
    }
    assert_eq!(town[0].world.borders()[0].wall, None);
    town[0].play(WORD_MS);
    assert_eq!(town[0].world.borders()[0].wall, None);
    town[0].play(1);
    assert_eq!(town[0].world.borders()[0].wall, Some(Wall::Silent));
    // From the far side of the place where people appear, too.
    for _ in 0..90 {
        town[0].act(ada, 1, Act::Walk { heading: EAST });
        town[0].play(50);
    }
    let place = town[0].place_of(&ada).expect("she is there");
    assert_eq!(place.x, Fx::from_int(32));
}

#[test]
fn whoever_logs_in_again_while_she_is_away_stays_where_she_logged_in() {
    let (mut town, ada) = two();
    while town[0].world.avatar(&ada).is_some() {
        drive(&mut town, ada, EAST);
        step(&mut town, 50);
    }
    town[0].login(ada);
    town[0].play(50);
    assert!(town[0].world.avatar(&ada).is_some());
    for _ in 0..6 {
        step(&mut town, 50);
    }
    // She is there as well now: a person is a key, and the avatar that nobody moves ends with its lease.
    assert!(town[0].world.avatar(&ada).is_some());
    assert_eq!(said(&town, 0, 1).departures, []);
}

#[test]
fn an_arrival_is_set_ahead_by_what_the_word_took_and_by_half_a_second_at_most() {
    let arrives = |ms: u64| {
        let (mut town, ada) = two();
        // Nobody stands in her way there.
        town[1].act(public(ADMIN), 1, Act::Leave);
        while town[0].world.avatar(&ada).is_some() {
            drive(&mut town, ada, EAST);
            step(&mut town, 50);
        }
        town[0].idle(2);
        tell(&mut town, 0, 1);
        town[1].play(ms);
        let place = town[1].place_of(&ada).expect("she is taken");
        let left = town[0].world.parcels(town[1].id()).next().expect("she is under way");
        let Ok(Parcel::Person(person)) = Parcel::decode(left) else { panic!("a person's parcel") };
        let ahead = place.x.saturating_sub(person.position.x).saturating_add(Fx::from_int(64));
        (ahead, person.velocity.x)
    };
    let ((soon, _), (late, speed)) = (arrives(50), arrives(3_000));
    // As fast as she departed, and a tick or three of walking on in the turn that took her.
    let most = speed.saturating_mul(Fx::from_ratio(AHEAD_MS_MAX as i64, 1_000));
    println!("set ahead by {soon} m at once, by {late} m after three seconds");
    assert!(soon < late && soon > Fx::ZERO);
    assert!(late >= most && late < most.saturating_add(Fx::HALF), "{late}");
}

#[test]
fn whoever_arrives_was_set_a_turn_too_far_and_now_is_where_she_would_have_walked() {
    let mut jumps = Vec::new();
    for (to, heading) in [(1, EAST), (0, WEST)] {
        let (mut town, ada) = two();
        if to == 0 {
            walk_until(&mut town, ada, EAST, 1);
        }
        let from = 1 - to;
        // Where she was last, in metres of the plane, and the turns since then.
        let plane = |town: &[Place], n: usize| {
            let place = town[n].place_of(&ada)?;
            Some(place.x.saturating_add(Fx::from_int(64 * n as i32)))
        };
        let (mut last, mut turns) = (Fx::ZERO, 0);
        while plane(&town, to).is_none() {
            drive(&mut town, ada, heading);
            step(&mut town, 50);
            turns += 1;
            if let Some(place) = plane(&town, from) {
                (last, turns) = (place, 0);
            }
        }
        let walked = heading.x.saturating_mul(Fx::from_ratio(8 * 50 * turns, 1_000));
        let here = plane(&town, to).expect("she is there");
        let jump = here.saturating_sub(last.saturating_add(walked)).saturating_mul(heading.x);
        println!("{turns} turns, {jump} m too far at 8 m/s");
        jumps.push(jump);
    }
    // The turns of one of two sims begin first. So a word takes a turn less in one direction, and its half is
    // half a turn off. In the middle of both ways nothing is left.
    let turn = Fx::from_ratio(8 * 50, 1_000);
    let half = turn.saturating_mul(Fx::HALF).saturating_add(Fx::from_ratio(5, 100));
    assert!(jumps.iter().all(|jump| jump.saturating_abs() <= half), "{jumps:?}");
    let sum = jumps[0].saturating_add(jumps[1]).saturating_abs();
    assert!(sum <= Fx::from_ratio(1, 10), "{jumps:?}");
}

#[test]
fn whoever_came_from_a_sim_that_died_since_goes_on_once_it_was_silent_for_a_deadline() {
    let mut town = town(3, 1);
    let ada = public(1);
    town[0].login(ada);
    for _ in 0..4 {
        step(&mut town, 50);
    }
    for _ in 0..200 {
        if town[1].world.avatar(&ada).is_some() {
            break;
        }
        drive(&mut town, ada, EAST);
        step(&mut town, 50);
    }
    assert_eq!(town[1].world.borders().iter().map(|border| border.pinned).sum::<usize>(), 1);
    // The west is dead from now on.
    let mut turns = 0;
    while town[2].world.avatar(&ada).is_none() {
        drive(&mut town[1..], ada, EAST);
        step(&mut town[1..], 50);
        assert_eq!(places(&town, &ada), 1);
        turns += 1;
        assert!(turns < 400, "{:?}", town[1].place_of(&ada));
    }
    assert!(50 * turns > DEPARTURE_MS, "{turns}");
    // It comes back, hears that she was taken, and has nothing under way.
    for _ in 0..10 {
        step(&mut town, 50);
    }
    assert_eq!(said(&town, 0, 1).departures, []);
    assert_eq!(town[1].world.borders().iter().map(|border| border.pinned).sum::<usize>(), 0);
    assert_eq!(places(&town, &ada), 1);
}
