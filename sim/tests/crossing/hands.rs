//! People who hold things: what goes over with them, and what stays at the line.

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::{ScriptState, Value};
use metatopia_sim::{Genesis, ObjectSpec, Shape, WorldObject, limits::SIM_COMPOUNDS_MAX};
use metatopia_types::{
    Act, BorderOrder, Build, HandRefusal, ObjectId, Origin, Outcome, PassRefusal, PublicKey,
    Refusal, TravelRefusal, Traveller,
};

use crate::{
    people::{EAST, WEST, said, walk_until},
    rolling::{QUIET, ball, geneses, package, rolling, thing, way},
    thing_lies::two_discs,
    town::{ADMIN, Place, at, drive, places, places_of_thing, public, step, tell, town_of},
};

/// How many things that can be pushed somebody may have.
pub(crate) const OWN_THINGS: &str = "building.movable_per_player";

/// Lets nobody have things of their own in a sim, so that all that comes counts against the border's share.
fn owns_nothing_more(town: &mut [Place], n: usize) {
    amend(town, n, OWN_THINGS, "0");
}

/// A ball of Ada's, by its number in the west.
const BALL: ObjectId = ObjectId(1);

/// A town of two, in the western of which Ada holds a ball; gives its origin.
fn carried(travels: bool) -> (Vec<Place>, PublicKey, Origin) {
    carried_between(geneses(2, 4, 0), travels)
}

/// The same between these two.
fn carried_between(founded: Vec<Genesis>, travels: bool) -> (Vec<Place>, PublicKey, Origin) {
    carried_as(founded, travels, None)
}

/// The same with a thing of this shape, if there is one, in place of the ball.
fn carried_as(
    mut founded: Vec<Genesis>,
    travels: bool,
    shape: Option<Shape>,
) -> (Vec<Place>, PublicKey, Origin) {
    let ada = public(1);
    let quiet = package("quiet", QUIET);
    let place = Vec2::new(Fx::from_int(24), Fx::from_int(4));
    let mut spec = ball(place, &[quiet.id()], &way(0));
    spec.body.shape = shape.unwrap_or(spec.body.shape);
    founded[0].objects.push(ObjectSpec { owner: Some(ada), ..spec });
    founded.iter_mut().for_each(|genesis| {
        genesis.packages.insert(quiet.id(), quiet.encode());
    });
    let mut town = town_of(founded);
    town[0].login(ada);
    for _ in 0..4 {
        step(&mut town, 50);
    }
    let origin = Origin { sim: town[0].id(), number: BALL };
    let acts = [Build::LetTravel { object: BALL, travels }, Build::Take { object: BALL }];
    for build in acts {
        let act = town[0].act(ada, 1, Act::Build(build));
        step(&mut town, 50);
        assert_eq!(town[0].outcome(&act), Outcome::Ok);
    }
    (town, ada, origin)
}

/// The ball where it is, which is in one place.
fn found(town: &[Place], n: usize, origin: Origin) -> WorldObject {
    assert_eq!(places_of_thing(town, origin), 1);
    thing(&town[n], origin).expect("it is here")
}

#[track_caller]
fn check_roots(town: &[Place]) {
    town.iter().for_each(|place| assert_eq!(place.world.root(), place.world.rehash()));
}

#[test]
fn what_she_holds_goes_over_with_her_and_back_and_is_in_her_hands_at_once() {
    let (mut town, ada, origin) = carried(true);
    for (to, heading) in [(1, EAST), (0, WEST), (1, EAST)] {
        walk_until(&mut town, ada, heading, to);
        let avatar = town[to].world.avatar(&ada);
        // In the turn in which she is there, it is in her hands.
        let ball = found(&town, to, origin);
        assert_eq!((ball.held, ball.owner), (avatar, Some(ada)));
        // Pinned with her, it would not leave with her at once.
        let told = town[to].world.border_answer(&town[1 - to].id(), &ada).hands;
        assert_eq!(told, [(ball.id, HandRefusal::JustCame)]);
        for _ in 0..8 {
            step(&mut town, 50);
        }
        let ball = found(&town, to, origin);
        assert_eq!(ball.position, town[to].place_of(&ada).expect("she is there"));
        assert_eq!(ball.text, "here", "its script was told");
        assert_eq!(said(&town, 1 - to, to).departures, []);
        check_roots(&town);
        town[to].restore();
    }
    // She puts it down like any other thing.
    let here = town[1].place_of(&ada).expect("she is there");
    let position = here.saturating_add(Vec2::new(Fx::from_int(2), Fx::ZERO));
    let object = found(&town, 1, origin).id;
    let act = town[1].act(ada, 1, Act::Build(Build::PutDown { object, position }));
    step(&mut town, 50);
    assert_eq!(town[1].outcome(&act), Outcome::Ok);
    assert_eq!(found(&town, 1, origin).held, None);
}

#[test]
fn what_may_not_travel_or_is_too_large_is_put_down_before_the_line() {
    let (mut town, ada, origin) = carried(false);
    walk_until(&mut town, ada, EAST, 1);
    let ball = found(&town, 0, origin);
    assert_eq!((ball.held, ball.position.x), (None, Fx::from_int(32)));
    let avatar = town[1].world.avatar(&ada).expect("she is there");
    assert_eq!(town[1].world.in_hands_of(avatar).count(), 0);
    check_roots(&town);
    // It lies there, and can be pushed.
    for _ in 0..20 {
        step(&mut town, 50);
    }
    assert!(found(&town, 0, origin).movable);
}

/// Has an admin of a sim change a number of its charter.
fn amend(town: &mut [Place], n: usize, name: &str, value: &str) {
    let act = Act::Amend { name: name.into(), value: value.into() };
    let act = town[n].act(public(ADMIN), 1, act);
    step(town, 50);
    assert_eq!(town[n].outcome(&act), Outcome::Ok);
}

/// Returns what Ada is told at the eastern border of what she holds.
fn told(town: &[Place]) -> Vec<(ObjectId, HandRefusal)> {
    town[0].world.border_answer(&town[1].id(), &public(1)).hands
}

/// Has Ada stand near the border and ask for passes for so many turns.
fn approaches(town: &mut [Place], ada: PublicKey, turns: usize) {
    for _ in 0..turns {
        drive(town, ada, Vec2::ZERO);
        step(town, 50);
    }
}

#[test]
fn a_pass_says_before_the_line_of_each_thing_in_hand_why_it_may_not_come() {
    let (mut town, ada, _) = carried(true);
    approaches(&mut town, ada, 10);
    assert_eq!(told(&town), [], "it may come");
    let pass = |town: &[Place]| said(town, 1, 0).passes[0].clone();
    assert_eq!(pass(&town).hands, [None]);
    for (name, value, why) in [
        ("things_from_servers", "5", TravelRefusal::FewServers),
        ("border_things", "0", TravelRefusal::ShareFull),
        ("border_bytes", "0", TravelRefusal::ShareFull),
        ("building.movable_max", "0", TravelRefusal::Full),
        ("building.size_max", "0.2", TravelRefusal::TooLarge),
    ] {
        let mut town: Vec<Place> = carried(true).0;
        amend(&mut town, 1, name, value);
        if why == TravelRefusal::ShareFull {
            owns_nothing_more(&mut town, 1);
        }
        approaches(&mut town, ada, 10);
        assert_eq!(told(&town), [(BALL, HandRefusal::There(why))], "{name}");
        assert_eq!(pass(&town).hands, [Some(why)]);
        check_roots(&town);
    }
    let (mut town, ada, _) = carried(false);
    approaches(&mut town, ada, 10);
    assert_eq!(told(&town), [(BALL, HandRefusal::NotLetGo)]);
    assert_eq!(pass(&town).hands, [], "the neighbour is not asked");
    // With empty hands nothing is said.
    let position = Vec2::new(Fx::from_int(24), Fx::from_int(4));
    town[0].act(ada, 1, Act::Build(Build::PutDown { object: BALL, position }));
    approaches(&mut town, ada, 2);
    assert_eq!(told(&town), []);
}

/// Geneses of two sims, the eastern of which has so many things of several parts.
fn with_compounds(count: usize) -> Vec<Genesis> {
    let mut founded = geneses(2, 4, 0);
    for n in 0..count as i32 {
        let mut spec = ball(at(2 * (n % 8) - 8, 2 * (n / 8) - 24), &[], &way(0));
        spec.body.shape = two_discs();
        founded[1].objects.push(spec);
    }
    founded
}

/// The pass did not ask: she departed with it, and was sent home as a whole by a sim that had no room for it.
#[test]
fn what_is_of_several_parts_stays_at_the_line_of_a_sim_that_has_as_many_as_may_be() {
    for (count, why) in
        [(SIM_COMPOUNDS_MAX - 1, None), (SIM_COMPOUNDS_MAX, Some(TravelRefusal::Full))]
    {
        let (mut town, ada, origin) = carried_as(with_compounds(count), true, Some(two_discs()));
        approaches(&mut town, ada, 10);
        assert_eq!(said(&town, 1, 0).passes[0].hands, [why], "{count}");
        walk_until(&mut town, ada, EAST, 1);
        let (to, held) = if why.is_none() { (1, town[1].world.avatar(&ada)) } else { (0, None) };
        let hammer = found(&town, to, origin);
        assert_eq!((hammer.held, hammer.shape), (held, two_discs()), "{count}");
        check_roots(&town);
        town.iter_mut().for_each(Place::restore);
    }
}

#[test]
fn what_is_of_several_parts_comes_home_with_her_if_it_is_refused_after_all() {
    let (mut town, ada, origin) = carried_as(with_compounds(0), true, Some(two_discs()));
    let hammer = refused_after_all(&mut town, ada, origin);
    assert_eq!(hammer.shape, two_discs());
    town[0].restore();
}

#[test]
fn the_line_is_a_wall_for_her_until_what_she_took_last_is_answered() {
    let (mut town, ada, origin) = carried(true);
    let place = town[0].place_of(&ada).expect("she is here");
    let position = Vec2::new(place.x.saturating_sub(Fx::from_int(2)), place.y);
    town[0].act(ada, 1, Act::Build(Build::PutDown { object: BALL, position }));
    approaches(&mut town, ada, 10);
    assert_eq!(said(&town, 1, 0).passes[0].hands, []);
    town[0].act(ada, 1, Act::Build(Build::Take { object: BALL }));
    // The east falls silent for a moment, and then says what it said before she took the ball.
    let (west, east) = (town[0].id(), town[1].id());
    let followed = town[0].followed(east);
    town[0].play(50);
    assert_eq!(told(&town), [(BALL, HandRefusal::Unanswered)]);
    for _ in 0..30 {
        drive(&mut town, ada, EAST);
        town[1].play(50);
        let word = town[1].dispatch(west, followed).expect("a word");
        town[0].hear(east, &word);
        town[0].play(50);
        let place = town[0].place_of(&ada).expect("she has not departed");
        assert!(place.x <= Fx::from_int(32), "{place:?}");
    }
    assert_eq!(told(&town), [(BALL, HandRefusal::Unanswered)]);
    walk_until(&mut town, ada, EAST, 1);
    assert_eq!(found(&town, 1, origin).held, town[1].world.avatar(&ada));
}

#[test]
fn why_she_gets_no_pass_is_told_in_the_sim_that_she_is_in() {
    let (mut town, ada, _) = carried(true);
    amend(&mut town, 1, "avatars_max", "1");
    approaches(&mut town, ada, 10);
    let told = |person| town[0].world.border_answer(&town[1].id(), &person).refused;
    assert_eq!((told(ada), told(public(2))), (Some(PassRefusal::Full), None));
}

#[test]
fn what_the_neighbour_does_not_take_is_put_down_at_the_line_and_never_departs() {
    let (mut town, ada, origin) = carried(true);
    amend(&mut town, 1, "border_things", "0");
    owns_nothing_more(&mut town, 1);
    walk_until(&mut town, ada, EAST, 1);
    assert_eq!(places_of_thing(&town, origin), 1);
    let ball = found(&town, 0, origin);
    assert_eq!((ball.id, ball.held, ball.position.x), (BALL, None, Fx::from_int(32)));
    check_roots(&town);
}

/// Has Ada depart with what she holds, which the east refuses. Returns it as it is in the west again.
fn refused_after_all(town: &mut [Place], ada: PublicKey, origin: Origin) -> WorldObject {
    let departs = |town: &mut [Place]| {
        drive(town, ada, EAST);
        step(town, 50);
        town[0].world.avatar(&ada).is_none()
    };
    assert!((0..200).any(|_| departs(town)), "she is at the line within ten seconds");
    // The share is gone before the east hears of them, and she may have no things there.
    for name in ["border_things", OWN_THINGS] {
        town[1].act(public(ADMIN), 1, Act::Amend { name: name.into(), value: "0".into() });
    }
    town[1].play(50);
    for _ in 0..8 {
        step(town, 50);
        assert_eq!((places(town, &ada), places_of_thing(town, origin)), (1, 1));
    }
    assert!(town[0].world.avatar(&ada).is_some());
    check_roots(town);
    found(town, 0, origin)
}

/// She was told that every place was taken.
#[test]
fn who_is_under_way_does_nothing_here_and_is_told_why() {
    let (mut town, ada, _) = carried(true);
    let departs = |town: &mut [Place]| {
        drive(town, ada, EAST);
        step(town, 50);
        town[0].world.avatar(&ada).is_none()
    };
    assert!((0..200).any(|_| departs(&mut town)), "she is at the line within ten seconds");
    let touch = town[0].act(ada, 1, Act::Touch { object: ObjectId(2) });
    town[0].play(50);
    assert_eq!(town[0].outcome(&touch), Outcome::Refused(Refusal::UnderWay));
}

/// Who had carried her things away could not carry them home once others had used the border's share up.
#[test]
fn what_she_owns_and_carries_counts_against_her_quotas_and_comes_home_whatever_others_brought() {
    let (mut town, ada, origin) = carried(true);
    let ids = [town[0].id(), town[1].id()];
    let shares = |town: &[Place]| [0, 1].map(|n| town[n].world.border_share(&ids[1 - n]).0);
    walk_until(&mut town, ada, EAST, 1);
    assert_eq!(shares(&town), [0, 0]);
    for n in [0, 1] {
        amend(&mut town, n, "border_things", "0");
    }
    for _ in 0..8 {
        step(&mut town, 50);
    }
    for (to, heading) in [(0, WEST), (1, EAST), (0, WEST)] {
        walk_until(&mut town, ada, heading, to);
        let ball = found(&town, to, origin);
        assert_eq!((ball.held, shares(&town)), (town[to].world.avatar(&ada), [0, 0]));
        for _ in 0..8 {
            step(&mut town, 50);
        }
        check_roots(&town);
        town.iter_mut().for_each(Place::restore);
    }
    // She may have no more of them there, and the share is used up.
    owns_nothing_more(&mut town, 1);
    approaches(&mut town, ada, 10);
    walk_until(&mut town, ada, EAST, 1);
    assert!(found(&town, 0, origin).held.is_none());
}

#[test]
fn if_what_she_holds_is_refused_after_all_she_comes_home_with_it() {
    let (mut town, ada, origin) = carried(true);
    let ball = refused_after_all(&mut town, ada, origin);
    assert_eq!((ball.id, ball.held, ball.position.x), (BALL, None, Fx::from_int(32)));
}

#[test]
fn if_she_is_not_taken_what_she_held_comes_home_with_her() {
    let (mut town, ada, origin) = carried(true);
    while town[0].world.avatar(&ada).is_some() {
        drive(&mut town, ada, EAST);
        step(&mut town, 50);
    }
    let departures = said(&town, 0, 1).departures.clone();
    let order: Vec<Traveller> = departures.iter().map(|departure| departure.traveller).collect();
    assert_eq!(order, [Traveller::Person(ada)], "it is in the parcel with her");
    // The east closes its border before it hears of them.
    let neighbour = town[0].id();
    town[1].order(&BorderOrder::Close { neighbour });
    town[1].play(50);
    for _ in 0..8 {
        step(&mut town, 50);
        assert_eq!((places(&town, &ada), places_of_thing(&town, origin)), (1, 1));
    }
    assert!(town[0].world.avatar(&ada).is_some());
    let ball = found(&town, 0, origin);
    assert_eq!((ball.held, ball.position.x), (None, Fx::from_int(32)));
    check_roots(&town);
}

#[test]
fn what_was_in_her_hands_comes_home_by_severing_and_is_taken_out_of_them_over_there() {
    let (mut town, ada, origin) = carried(true);
    while town[0].world.avatar(&ada).is_some() {
        drive(&mut town, ada, EAST);
        step(&mut town, 50);
    }
    town[0].idle(2);
    tell(&mut town, 0, 1);
    town[1].play(50);
    let avatar = town[1].world.avatar(&ada).expect("she was taken");
    assert_eq!(town[1].world.in_hands_of(avatar).count(), 1);
    // The west hears nothing for a day, and gives the east up.
    let neighbour = town[1].id();
    town[0].play(86_400_001);
    let act = town[0].order(&BorderOrder::Sever { neighbour });
    town[0].play(50);
    assert_eq!(town[0].outcome(&act), Outcome::Ok);
    assert_eq!(thing(&town[0], origin).expect("it came home").held, None);
    town[0].idle(2);
    tell(&mut town, 0, 1);
    town[1].play(50);
    assert_eq!(places_of_thing(&town, origin), 1);
    assert_eq!(town[1].world.in_hands_of(avatar).count(), 0);
    assert_eq!(town[1].world.borders()[0].pinned, 0);
    check_roots(&town);
    town[1].restore();
}

#[test]
fn all_that_she_holds_finds_room_in_one_parcel_or_stays() {
    let ada = public(1);
    let mut founded = geneses(2, 4, 0);
    // Two things of 36 KB each: a parcel has 48 KiB.
    let heavy = package("heavy", QUIET);
    let long = |n: usize| (format!("text{n}"), Value::Text("x".repeat(3_000)));
    let state = ScriptState((0..3).map(long).collect());
    for n in 0..2 {
        let place = Vec2::new(Fx::from_int(24), Fx::from_int(4 + n));
        let spec = ball(place, &[heavy.id(); 4], &state);
        founded[0].objects.push(ObjectSpec { owner: Some(ada), ..spec });
    }
    founded.iter_mut().for_each(|genesis| {
        genesis.packages.insert(heavy.id(), heavy.encode());
    });
    let mut town = rolling(founded);
    town[0].login(ada);
    for _ in 0..4 {
        step(&mut town, 50);
    }
    for object in [ObjectId(1), ObjectId(2)] {
        let act = town[0].act(ada, 1, Act::Build(Build::Take { object }));
        step(&mut town, 50);
        assert_eq!(town[0].outcome(&act), Outcome::Ok);
    }
    approaches(&mut town, ada, 10);
    assert_eq!(told(&town), [(ObjectId(2), HandRefusal::TooMuch)], "before the line");
    walk_until(&mut town, ada, EAST, 1);
    let origin = |number| Origin { sim: town[0].id(), number: ObjectId(number) };
    assert_eq!(found(&town, 1, origin(1)).held, town[1].world.avatar(&ada));
    assert_eq!(found(&town, 0, origin(2)).position.x, Fx::from_int(32));
}

/// Deleted and restored, it stayed a guest that no share counted any more, so an owner got as many things
/// as she liked.
#[test]
fn what_came_over_and_was_restored_counts_in_the_quotas_of_its_owner() {
    let mut founded = geneses(2, 4, 0);
    founded[1].parameters.building.objects_per_player = 0;
    let (mut town, ada, origin) = carried_between(founded, true);
    walk_until(&mut town, ada, EAST, 1);
    amend(&mut town, 1, "building.objects_per_player", "1");
    for _ in 0..8 {
        step(&mut town, 50);
    }
    let west = town[0].id();
    assert_eq!(town[1].world.border_share(&west).0, 1);
    let object = found(&town, 1, origin).id;
    let here = town[1].place_of(&ada).expect("she is there");
    // The admin of the east stands before her.
    let position = here.saturating_add(at(0, -2));
    let put_down = Build::PutDown { object, position };
    for build in [put_down, Build::Delete { object }, Build::Undo { skip: 0 }] {
        let act = town[1].act(ada, 1, Act::Build(build));
        step(&mut town, 50);
        assert_eq!(town[1].outcome(&act), Outcome::Ok);
    }

    assert_eq!(found(&town, 1, origin).owner, Some(ada));
    assert_eq!(town[1].world.border_share(&west).0, 0);
    let position = here.saturating_add(Vec2::new(Fx::from_int(2), Fx::from_int(3)));
    let act = town[1].act(ada, 1, Act::Build(Build::Copy { object, position }));
    step(&mut town, 50);
    assert_eq!(town[1].outcome(&act), Outcome::Refused(Refusal::TooManyObjects));
    check_roots(&town);
}
