//! Portals: from one sim into another whose ground lies elsewhere.

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_physics::{JointKind, JointSpec};
use metatopia_sim::{
    Area, Genesis, ObjectSpec,
    limits::{PORTAL_EDGE_METRES, PORTALS_APART_METRES, TURNED_BACK_MS},
};
use metatopia_types::{
    Act, BorderOrder, BorderRefusal, Build, Digest, HomeReason, ObjectId, Origin, Outcome,
    PublicKey, Refusal, Site, Square, TravelRefusal,
};

use crate::{
    people::{EAST, said},
    rolling::{ball, first, geneses, let_travel, rolling, thing, way},
    town::{ADMIN, Place, at, genesis, places, places_of_thing, portal_to, public, step},
};

/// The rim of a portal is so far from its middle.
const RIM: Fx = Fx::ONE;

/// Puts these sims on squares that are 320 m apart.
fn apart(mut all: Vec<Genesis>) -> Vec<Genesis> {
    for (genesis, n) in all.iter_mut().zip(0..) {
        let square = Square { x: 12 * n, y: 0, doublings: 0 };
        genesis.site = genesis.site.map(|site| Site { square, ..site });
        genesis.parameters.ground = Area::of_square(square);
        genesis.parameters.avatar.spawn = at(0, 0);
    }
    all
}

/// Two sims with a portal between them, in the first of which Ada stands.
fn two() -> (Vec<Place>, PublicKey) {
    let mut town = rolling(apart(geneses(2, 4, 0)));
    let ada = public(1);
    town[0].login(ada);
    for _ in 0..4 {
        step(&mut town, 50);
    }
    (town, ada)
}

/// Returns the way from a person to the portal of the sim in which she is.
fn to_portal(place: &Place, person: &PublicKey, is_east: bool) -> Vec2 {
    let here = place.place_of(person).expect("she is here");
    let way = portal_to(is_east).saturating_sub(here);
    // A heading takes a turn to count, so she slows down in time.
    if way.length() > Fx::ONE { way.normalize().expect("a way") } else { way.scale(Fx::HALF) }
}

/// Has a person walk into the portal of the sim in which she is, and ask for a pass in the other one.
fn seek(town: &mut [Place], person: PublicKey) {
    let Some(n) = town.iter().position(|place| place.world.avatar(&person).is_some()) else {
        return;
    };
    let heading = to_portal(&town[n], &person, n == 0);
    town[n].act(person, 1, Act::Walk { heading });
    let from = town[n].id();
    town[1 - n].act(person, 1, Act::Approach { from, work: None });
}

/// Walks through the portal; gives the turns from departure to arrival.
fn go_through(town: &mut [Place], person: PublicKey, to: usize) -> u64 {
    let mut away = 0;
    for _ in 0..400 {
        if town[to].world.avatar(&person).is_some() {
            return away;
        }
        seek(town, person);
        step(town, 50);
        away += u64::from(town.iter().all(|place| place.world.avatar(&person).is_none()));
        assert_eq!(places(town, &person), 1);
    }
    let why = &said(town, to, 1 - to).verdicts;
    panic!("she does not arrive: {:?}, {why:?}", town[1 - to].place_of(&person));
}

fn check_roots(town: &[Place]) {
    town.iter().for_each(|place| assert_eq!(place.world.root(), place.world.rehash()));
}

#[test]
fn a_person_walks_through_a_portal_and_comes_out_on_its_other_side_as_she_walked() {
    let (mut town, ada) = two();
    let turns = go_through(&mut town, ada, 1);
    println!("{turns} turns without an avatar");
    assert!((1..=6).contains(&turns), "{turns}");
    let place = town[1].place_of(&ada).expect("she is there");
    let out = place.saturating_sub(portal_to(false));
    // She walked east, and is beyond the rim, but not far.
    assert!(out.x > RIM && out.length() < Fx::from_int(6), "{out:?}");
    let session = town[1].world.player(&ada).and_then(|player| player.session.clone());
    assert!(session.expect("a session").heading.x > Fx::HALF);
    for _ in 0..6 {
        step(&mut town, 50);
    }
    assert_eq!(said(&town, 0, 1).departures, []);
    go_through(&mut town, ada, 0);
    check_roots(&town);
    town[0].restore();
    go_through(&mut town, ada, 1);
}

#[test]
fn without_a_pass_a_portal_is_ground_like_other_ground() {
    let (mut town, ada) = two();
    for _ in 0..80 {
        let heading = to_portal(&town[0], &ada, true);
        town[0].act(ada, 1, Act::Walk { heading });
        step(&mut town, 50);
        assert!(town[0].world.avatar(&ada).is_some());
    }
    let place = town[0].place_of(&ada).expect("she is there");
    assert!(place.distance(portal_to(true)) < RIM, "she stands in it: {place:?}");
    assert_eq!(said(&town, 0, 1).out_next, 0);
    // Once she has a pass she goes, without another step.
    let from = town[0].id();
    town[1].act(ada, 1, Act::Approach { from, work: None });
    for _ in 0..8 {
        step(&mut town, 50);
    }
    assert!(town[1].world.avatar(&ada).is_some());
}

#[test]
fn people_are_named_to_the_other_sim_near_the_portal_alone() {
    let (mut town, ada) = two();
    assert_eq!(said(&town, 0, 1).near, [], "she is 20 m from it");
    let near = |town: &[Place]| -> Vec<PublicKey> {
        said(town, 0, 1).near.iter().map(|near| near.person).collect()
    };
    // How far she has to go depends on where the dice let her appear. She may push somebody along.
    for _ in 0..80 {
        if near(&town).contains(&ada) {
            break;
        }
        town[0].act(ada, 1, Act::Walk { heading: EAST });
        step(&mut town, 50);
    }
    let told = near(&town);
    assert!(told.contains(&ada));
    let portal = portal_to(true);
    let away = |key: &PublicKey| town[0].place_of(key).map(|place| place.distance(portal));
    let furthest = told.iter().filter_map(away).max().expect("she is here");
    for key in [ada, public(ADMIN)] {
        let is_nearer = away(&key).is_some_and(|away| away <= furthest);
        assert_eq!(told.contains(&key), is_nearer, "{key} is {:?} m from it", away(&key));
    }
    assert!(told.iter().all(|key| away(key).is_some()), "nobody else is named");
    // Behind a portal nothing is in sight, so nothing there is felt.
    assert_eq!(said(&town, 0, 1).frame.bodies, []);
    assert!(town.iter().all(|place| place.world.ghosts().next().is_none()));
}

#[test]
fn who_is_refused_stands_beside_the_portal_and_not_in_it() {
    let (mut town, ada) = two();
    while town[0].world.avatar(&ada).is_some() {
        seek(&mut town, ada);
        step(&mut town, 50);
    }
    let neighbour = town[0].id();
    town[1].order(&BorderOrder::Close { neighbour });
    town[1].play(50);
    for _ in 0..8 {
        step(&mut town, 50);
    }
    let place = town[0].place_of(&ada).expect("she is home");
    let back = place.saturating_sub(portal_to(true));
    assert!(back.x < Fx::ZERO && back.length() > RIM, "on the side from which she came: {back:?}");
    assert_eq!(places(&town, &ada), 1);
    let told = town[0].world.border_answer(&town[1].id(), &ada).turned_back.expect("a reason");
    assert_eq!(told.why, HomeReason::Refused(TravelRefusal::Closed));
    town[0].play(TURNED_BACK_MS);
    town[0].play(50);
    assert_eq!(town[0].world.border_answer(&town[1].id(), &ada).turned_back, None);
    check_roots(&town);
}

#[test]
fn a_ball_rolls_through_a_portal_and_rolls_on() {
    let mut all = apart(geneses(2, 4, 0));
    let package = crate::rolling::roller();
    let place = Vec2::new(Fx::from_int(12), Fx::from_int(2));
    all[0].objects.push(ball(place, &[package.id()], &way(1)));
    let mut town = rolling(all);
    let origin = first(&town);
    for _ in 0..200 {
        if thing(&town[1], origin).is_some() {
            break;
        }
        step(&mut town, 50);
        assert_eq!(places_of_thing(&town, origin), 1);
    }
    let here = thing(&town[1], origin).expect("it came");
    let out = here.position.saturating_sub(portal_to(false));
    assert!(out.x > RIM && out.y.saturating_abs() < Fx::HALF, "{out:?}");
    step(&mut town, 50);
    step(&mut town, 50);
    // Its script was told, and sends it back: through the portal it came out of.
    for _ in 0..200 {
        if thing(&town[0], origin).is_some() {
            break;
        }
        step(&mut town, 50);
        assert_eq!(places_of_thing(&town, origin), 1);
    }
    assert!(thing(&town[0], origin).is_some(), "it rolled back");
    check_roots(&town);
}

#[test]
fn what_is_joined_comes_out_of_a_portal_as_it_stood_and_home_beside_it() {
    for is_closed in [false, true] {
        let mut all = apart(geneses(2, 4, 0));
        let package = crate::rolling::roller();
        let place = Vec2::new(Fx::from_int(14), Fx::from_int(2));
        let main = ball(place, &[package.id()], &way(1));
        let body = metatopia_physics::BodySpec { mass: Fx::from_int(60), ..main.body.clone() };
        all[0].objects.push(ObjectSpec { body, ..main });
        let behind = place.saturating_sub(Vec2::new(Fx::ONE, Fx::ZERO));
        all[0].objects.push(ball(behind, &[], &Default::default()));
        let rope = JointKind::Distance { min: Fx::ZERO, max: Fx::from_ratio(3, 2), spring: None };
        all[0].joints.push(JointSpec::new(Some(ObjectId(1)), ObjectId(2), rope));
        let mut town = rolling(all);
        let origins = [1, 2].map(|n| Origin { sim: town[0].id(), number: ObjectId(n) });
        for _ in 0..200 {
            if thing(&town[0], origins[0]).is_none() {
                break;
            }
            step(&mut town, 50);
        }
        if is_closed {
            let neighbour = town[0].id();
            town[1].order(&BorderOrder::Close { neighbour });
        }
        for _ in 0..8 {
            step(&mut town, 50);
            origins.iter().for_each(|origin| assert_eq!(places_of_thing(&town, *origin), 1));
        }
        let n = usize::from(!is_closed);
        let [main, other] = origins.map(|origin| thing(&town[n], origin).expect("both are here"));
        assert!(main.position.distance(other.position) < Fx::from_int(2), "as it stood");
        assert_eq!(town[n].world.joints().len(), 1);
        if is_closed {
            let back = main.position.distance(portal_to(true));
            assert!(back > RIM, "{back:?}");
        }
        check_roots(&town);
    }
}

/// Two sims in the first of which a ball rolls into the portal with another one so far behind it on a rope, and these
/// things in the second one.
fn on_a_rope(place: Vec2, behind: Vec2, there: Vec<ObjectSpec>) -> (Vec<Place>, [Origin; 2]) {
    let mut all = apart(geneses(2, 4, 0));
    let main = ball(place, &[], &Default::default());
    let velocity = portal_to(true).saturating_sub(place).normalize().expect("a way");
    let velocity = velocity.scale(Fx::from_int(6));
    let body = metatopia_physics::BodySpec { mass: Fx::from_int(60), velocity, ..main.body };
    all[0].objects.push(ObjectSpec { body, ..main });
    all[0].objects.push(ball(behind, &[], &Default::default()));
    let max = place.distance(behind).saturating_add(Fx::from_int(6));
    let rope = JointKind::Distance { min: Fx::ZERO, max, spring: None };
    all[0].joints.push(JointSpec::new(Some(ObjectId(1)), ObjectId(2), rope));
    all[1].objects.extend(there);
    let town = rolling(all);
    let origins = [1, 2].map(|n| Origin { sim: town[0].id(), number: ObjectId(n) });
    (town, origins)
}

/// Plays until the first of these is in a sim, and returns where both are there.
fn until_in(town: &mut [Place], n: usize, origins: [Origin; 2]) -> [Vec2; 2] {
    for _ in 0..200 {
        if thing(&town[n], origins[0]).is_some() {
            return origins.map(|origin| thing(&town[n], origin).expect("both").position);
        }
        step(town, 50);
        origins.iter().for_each(|origin| assert_eq!(places_of_thing(town, *origin), 1));
    }
    panic!("it never comes");
}

/// Plays until a thing has left the first sim.
fn until_away(town: &mut [Place], origin: Origin) {
    let mut seen = Vec2::ZERO;
    for _ in 0..200 {
        let Some(thing) = thing(&town[0], origin) else { return };
        seen = thing.position;
        step(town, 50);
    }
    panic!("it lies at {seen:?}");
}

/// What is long stands further in than its exit where the rest would reach past an edge. Nobody looked who stands
/// there.
#[test]
fn what_is_long_comes_out_of_a_portal_on_nobody() {
    let (place, behind) = (at(16, 2), at(0, 2));
    let (mut town, origins) = on_a_rope(place, behind, Vec::new());
    let [main, other] = until_in(&mut town, 1, origins);
    let out = main.saturating_sub(portal_to(false));
    assert!(out.x > Fx::from_int(3), "further in than its exit: {out:?}");
    assert!(other.x >= Fx::from_int(-32), "{other:?}");

    let stands = ball(main, &[], &Default::default());
    let (mut town, origins) = on_a_rope(place, behind, vec![stands]);
    until_away(&mut town, origins[0]);
    until_in(&mut town, 0, origins);
    let verdicts = &said(&town, 1, 0).verdicts;
    assert!(verdicts.iter().all(|it| it.refused == Some(TravelRefusal::Full)), "{verdicts:?}");
    check_roots(&town);
}

/// What came home beside a portal was pressed against the edge of the ground, each thing for itself.
#[test]
fn what_is_joined_comes_home_to_a_side_of_the_portal_on_which_all_of_it_has_room() {
    let (place, behind) = (at(24, 2), at(32, 2));
    let (mut town, origins) = on_a_rope(place, behind, Vec::new());
    let before = thing(&town[0], origins[1]).expect("it is here").position;
    until_away(&mut town, origins[0]);
    let neighbour = town[0].id();
    town[1].order(&BorderOrder::Close { neighbour });
    let [main, other] = until_in(&mut town, 0, origins);
    let out = main.distance(portal_to(true));
    assert!(out > RIM && out < Fx::from_int(2), "{main:?}");
    let shift = other.saturating_sub(before);
    assert!(shift.length() > Fx::HALF, "it goes as the first of them does: {shift:?}");
    check_roots(&town);
}

#[test]
fn a_portal_is_on_the_ground_apart_from_others_and_only_between_sims_that_do_not_touch() {
    let mut place = Place::new(genesis(0, 1), 1_700_000_000_000);
    place.login(public(ADMIN));
    place.play(50);
    let on = |x: i32| Genesis {
        site: genesis(0, 1)
            .site
            .map(|site| Site { square: Square { x, y: 0, doublings: 0 }, ..site }),
        ..genesis(1, 1)
    };
    let mut open = |of: &Genesis, portal: Option<Vec2>| {
        let head = Box::new(of.head());
        let act = place.order(&BorderOrder::Open { head, offices: Vec::new(), portal });
        place.play(50);
        (place.outcome(&act), place.world.borders().iter().map(|border| border.portal).collect())
    };
    let bad = |why| Outcome::Refused(Refusal::BadBorder(why));
    let none: Vec<Option<Vec2>> = Vec::new();
    let (beside, far, further) = (on(2), on(40), on(80));
    assert_eq!(open(&beside, Some(at(0, 0))), (bad(BorderRefusal::Touching), none.clone()));
    assert_eq!(open(&far, None), (bad(BorderRefusal::Apart), none.clone()));
    // The ground reaches to 32 m, and the furthest portal is there:
    let most = 32 - PORTAL_EDGE_METRES;
    for outside in [at(most + 1, 0), at(0, -most - 1), Vec2::new(Fx::MAX, Fx::MIN)] {
        assert_eq!(open(&far, Some(outside)), (bad(BorderRefusal::PortalOutside), none.clone()));
    }
    assert_eq!(open(&far, Some(at(most, 0))), (Outcome::Ok, vec![Some(at(most, 0))]));
    let taken = bad(BorderRefusal::PortalTaken);
    let too_near = at(most - PORTALS_APART_METRES + 1, 0);
    assert_eq!(open(&further, Some(too_near)), (taken, vec![Some(at(most, 0))]));
    // The own one may be moved.
    assert_eq!(open(&far, Some(at(26, 0))), (Outcome::Ok, vec![Some(at(26, 0))]));
    assert_eq!(open(&further, Some(at(20, 0))).0, Outcome::Ok);
    let neighbour = further.id();
    let close = place.order(&BorderOrder::Close { neighbour });
    place.play(50);
    assert_eq!(place.outcome(&close), Outcome::Ok);
    // One that is closed holds no place.
    let head = Box::new(far.head());
    let portal = Some(at(21, 0));
    let act = place.order(&BorderOrder::Open { head, offices: Vec::new(), portal });
    place.play(50);
    assert_eq!(place.outcome(&act), Outcome::Ok);
}

/// What stayed lay in the portal, and left by itself after her.
#[test]
fn what_may_not_come_lies_beside_the_portal_and_does_not_follow() {
    let ada = public(1);
    let mut all = apart(geneses(2, 4, 0));
    all[1].parameters.border_things = 1;
    all[1].parameters.building.movable_per_player = 0;
    for x in [1, 2] {
        let spec = ball(at(x, 1), &[], &Default::default());
        all[0].objects.push(ObjectSpec { owner: Some(ada), ..spec });
    }
    let mut town = rolling(all);
    town[0].login(ada);
    step(&mut town, 50);
    let balls = [1, 2].map(|n| Origin { sim: town[0].id(), number: ObjectId(n) });
    for n in [1, 2] {
        let act = town[0].act(ada, 1, Act::Build(Build::Take { object: ObjectId(n) }));
        step(&mut town, 50);
        assert_eq!(town[0].outcome(&act), Outcome::Ok);
    }
    go_through(&mut town, ada, 1);
    for _ in 0..12 {
        step(&mut town, 50);
        balls.iter().for_each(|ball| assert_eq!(places_of_thing(&town, *ball), 1));
    }
    assert!(thing(&town[1], balls[0]).is_some_and(|ball| ball.held.is_some()));
    let left = thing(&town[0], balls[1]).expect("there was room for one of them");
    assert!(left.held.is_none() && left.position.distance(portal_to(true)) > RIM, "{left:?}");
    assert_eq!(said(&town, 0, 1).out_next, 1, "it never left");
}

/// What rolls east once somebody sits on it, and stands still once it has come.
const CART: &str = "\
fn on_sit(who) { timer(\"roll\", 0.1); }
fn on_timer(name) { if state.n == 0 { self_.velocity = vec2(4, 0); timer(\"roll\", 0.1); } }
fn on_arrive() { state.n = 1; self_.velocity = vec2(0, 0); }
";

/// Her seat reached back into the portal, so both went to and fro for ever.
#[test]
fn who_rides_through_a_portal_is_outside_of_it_with_her_seat_and_stays() {
    let ada = public(1);
    let mut all = apart(geneses(2, 4, 0));
    let source = crate::rolling::package("cart", CART);
    all.iter_mut().for_each(|genesis| {
        genesis.packages.insert(source.id(), source.encode());
        genesis.parameters.avatar.spawn = at(8, 2);
        genesis.parameters.avatar.reach = Fx::from_int(8);
    });
    let spec = ball(at(10, 2), &[source.id()], &way(1));
    let body = metatopia_physics::BodySpec { mass: Fx::from_int(60), ..spec.body.clone() };
    let seat = Some(Vec2::new(Fx::from_ratio(-6, 5), Fx::ZERO));
    all[0].objects.push(ObjectSpec { owner: Some(ada), seat, body, ..spec });
    let mut town = rolling(all);
    let cart = first(&town);
    town[0].login(ada);
    step(&mut town, 50);
    let sits = town[0].act(ada, 1, Act::Sit { on: Some(cart.number) });
    step(&mut town, 50);
    assert_eq!(town[0].outcome(&sits), Outcome::Ok);
    let asks = |town: &mut [Place]| {
        for (n, other) in [(0, 1), (1, 0)] {
            let from = town[other].id();
            town[n].act(ada, 2, Act::Approach { from, work: None });
        }
        step(town, 50);
        assert_eq!((places(town, &ada), places_of_thing(town, cart)), (1, 1));
    };
    for _ in 0..300 {
        if town[1].world.avatar(&ada).is_some() {
            break;
        }
        asks(&mut town);
    }
    for turn in 0..80 {
        let here = town[1].place_of(&ada).unwrap_or_else(|| panic!("she left in turn {turn}"));
        assert!(here.distance(portal_to(false)) > RIM, "{here:?}");
        asks(&mut town);
    }
    assert_eq!(
        town[1].sitter(thing(&town[1], cart).expect("it came").id),
        town[1].world.avatar(&ada)
    );
}

#[test]
fn what_lies_in_a_portal_that_opens_comes_out_on_several_sides() {
    let mut all = apart(geneses(2, 4, 0));
    let places = [(-60, 0), (0, 0), (60, 0)];
    for (x, y) in places {
        let aside = Vec2::new(Fx::from_ratio(x, 100), Fx::from_ratio(y, 100));
        let place = portal_to(true).saturating_add(aside);
        all[0].objects.push(ball(place, &[], &Default::default()));
    }
    let mut town = rolling(all);
    let balls = [1, 2, 3].map(|n| Origin { sim: town[0].id(), number: ObjectId(n) });
    for _ in 0..12 {
        step(&mut town, 50);
    }
    let out = balls.map(|ball| thing(&town[1], ball).expect("all have come").position);
    for (n, place) in out.iter().enumerate() {
        assert!(place.distance(portal_to(false)) > RIM, "{place:?}");
        for other in &out[n + 1..] {
            assert!(place.distance(*other) > Fx::ONE, "each on its own side: {out:?}");
        }
    }
}

/// Whatever is in the way where one would come out, there is another side.
#[test]
fn who_comes_out_where_a_wall_stands_comes_out_on_another_side() {
    let mut all = apart(geneses(2, 4, 0));
    let wall = |x: i32, y: i32| {
        let shape = metatopia_physics::Shape::Rect { half: Vec2::new(Fx::ONE, Fx::ONE) };
        let spec = ball(portal_to(false).saturating_add(at(x, y)), &[], &Default::default());
        let place = spec.body.pose.position;
        let body =
            metatopia_physics::BodySpec::new(shape, metatopia_physics::Motion::Static, place);
        ObjectSpec { body, ..spec }
    };
    all[1].objects.extend([wall(2, 0), wall(2, 2), wall(2, -2)]);
    let mut town = rolling(all);
    let ada = public(1);
    town[0].login(ada);
    step(&mut town, 50);
    go_through(&mut town, ada, 1);
    let out = town[1].place_of(&ada).expect("she is there").saturating_sub(portal_to(false));
    // Without the wall she would be at 1.6 m or further in the east.
    assert!(out.length() > RIM && out.x < Fx::ONE, "{out:?}");
}

const SEEDS: u64 = 60;
const STEPS: usize = 160;

/// Plays people who go through a portal to and fro, each with a ball in hand, while words are lost and sims stand
/// still; gives how often somebody came.
fn play_seed(seed: u64) -> usize {
    let mut dice = Stream::new(&Digest::of("portal", &seed.to_le_bytes()).0, "chaos", &[]);
    let mut all = apart(geneses(2, 1, 0));
    let people: Vec<PublicKey> = (1..=3).map(public).collect();
    for (person, y) in people.iter().zip(-1..) {
        let spec = ball(at(1, y), &[], &Default::default());
        all[0].objects.push(ObjectSpec { owner: Some(*person), ..spec });
    }
    let mut town = rolling(all);
    let balls = [1, 2, 3].map(|n| Origin { sim: town[0].id(), number: ObjectId(n) });
    people.iter().for_each(|person| town[0].login(*person));
    step(&mut town, 50);
    for (person, n) in people.iter().zip(1..) {
        town[0].act(*person, 1, Act::Build(Build::Take { object: ObjectId(n) }));
    }
    let mut came = 0;
    for _ in 0..STEPS {
        let before: Vec<bool> = people.iter().map(|p| town[1].world.avatar(p).is_some()).collect();
        people.iter().for_each(|person| seek(&mut town, *person));
        for n in [0, 1] {
            let hears = dice.below(4) > 0;
            if hears {
                crate::town::tell(&mut town, 1 - n, n);
            }
            if dice.below(6) > 0 {
                town[n].play(*dice.pick(&[20, 50, 50, 400]).expect("some"));
            }
            if dice.below(80) == 0 {
                town[n].restore();
            }
            for person in &people {
                assert_eq!(places(&town, person), 1, "seed {seed}");
            }
            for ball in balls {
                assert_eq!(places_of_thing(&town, ball), 1, "seed {seed}");
            }
        }
        let after = people.iter().map(|p| town[1].world.avatar(p).is_some());
        came += after.zip(before).filter(|(after, before)| *after && !before).count();
    }
    let_travel(&mut town, false);
    for _ in 0..48 {
        for place in &mut town {
            people.iter().for_each(|p| drop(place.act(*p, 1, Act::Walk { heading: Vec2::ZERO })));
        }
        step(&mut town, 500);
    }
    for place in &town {
        for border in place.world.borders() {
            assert_eq!((border.under_way, border.pinned), (0, 0), "seed {seed}: {border:?}");
        }
    }
    check_roots(&town);
    came
}

#[test]
fn whatever_happens_to_words_who_goes_through_portals_is_in_one_place_with_what_she_holds() {
    let came: usize = (0..SEEDS).map(play_seed).sum();
    println!("{SEEDS} seeds: {came} came");
    assert!(came > 3 * SEEDS as usize, "{came}");
}
