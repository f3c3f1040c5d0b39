//! People who sit on things that roll: they go over together, in one parcel, or neither does.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{JointKind, JointSpec, Motion, Shape};
use metatopia_scripting::{ScriptState, Value};
use metatopia_sim::{Genesis, ObjectSpec, WorldObject};
use metatopia_types::{
    Act, BorderOrder, Build, GovernOrder, HandRefusal, ObjectId, Origin, Outcome, Parcel,
    PublicKey, Refusal, TravelRefusal, Traveller, TravellingPerson, TravellingThing,
};

use crate::{
    hands::OWN_THINGS,
    lies::{Liar, ada as honest, parcel},
    people::{EAST, said},
    rolling::{QUIET, ball, geneses, package, thing},
    thing_lies::honest as honest_thing,
    town::{ADMIN, Place, at, drive, places, places_of_thing, public, step, town_of},
};

/// The cart in the west, by its number there.
const CART: ObjectId = ObjectId(1);

/// What rolls east once somebody sat down, and counts who sat down and who stood up.
const CART_SOURCE: &str = "\
fn on_timer(name) { self_.velocity = vec2(6, 0); timer(\"roll\", 0.1); }
fn on_sit(who) { self_.text = self_.text + \"+\"; timer(\"roll\", 0.1); }
fn on_stand(who) { self_.text = self_.text + \"-\"; }
fn on_depart(how) { self_.text = self_.text + \" \" + how + \" \"; }
fn on_arrive() { self_.text = self_.text + \">\"; }
fn on_refused(why) { self_.text = self_.text + \"<\"; }
";

/// A town of two, in the west of which Ada sits on a cart that rolls towards the east; gives its origin. One sits
/// at `seat`, as the cart sees it, and it has this mass in kilograms.
fn riding(seat: Vec2, mass: i32, travels: bool) -> (Vec<Place>, PublicKey, Origin) {
    riding_with((seat, mass, travels), |_| {})
}

/// The same town, of which `more` is founded.
fn riding_with(
    (seat, mass, travels): (Vec2, i32, bool),
    more: impl FnOnce(&mut [Genesis]),
) -> (Vec<Place>, PublicKey, Origin) {
    let ada = public(1);
    let mut founded = geneses(2, 4, 0);
    let source = package("cart", CART_SOURCE);
    let spec = ball(at(22, 4), &[source.id()], &Default::default());
    let body = metatopia_physics::BodySpec { mass: Fx::from_int(mass), ..spec.body };
    founded[0].objects.push(ObjectSpec { owner: Some(ada), seat: Some(seat), body, ..spec });
    founded.iter_mut().for_each(|genesis| {
        genesis.packages.insert(source.id(), source.encode());
        genesis.parameters.avatar.spawn = at(22, 2);
        genesis.parameters.avatar.reach = Fx::from_int(8);
    });
    more(&mut founded);
    let mut town = town_of(founded);
    let origin = Origin { sim: town[0].id(), number: CART };
    town[0].login(ada);
    town[0].act(public(ADMIN), 1, Act::Build(Build::LetTravel { object: CART, travels }));
    step(&mut town, 50);
    let act = town[0].act(ada, 1, Act::Sit { on: Some(CART) });
    step(&mut town, 50);
    assert_eq!(town[0].outcome(&act), Outcome::Ok);
    (town, ada, origin)
}

/// Lets the cart roll until something is so.
#[track_caller]
fn ride_until(
    town: &mut [Place],
    (ada, origin): (PublicKey, Origin),
    is_over: impl Fn(&[Place]) -> bool,
) {
    for _ in 0..200 {
        drive(town, ada, Vec2::ZERO);
        step(town, 50);
        assert_eq!((places(town, &ada), places_of_thing(town, origin)), (1, 1));
        if is_over(town) {
            return;
        }
    }
    panic!("it never is so: {:?}", town[0].place_of(&ada));
}

/// The cart where it is in a sim, and who sits there.
fn cart(town: &[Place], n: usize, origin: Origin) -> (WorldObject, Option<ObjectId>) {
    let cart = thing(&town[n], origin).expect("it is here");
    let sitter = town[n].sitter(cart.id);
    (cart, sitter)
}

#[track_caller]
fn check_roots(town: &[Place]) {
    town.iter().for_each(|place| assert_eq!(place.world.root(), place.world.rehash()));
}

#[test]
fn who_sits_on_a_cart_goes_over_with_it_in_one_parcel_and_still_sits_there() {
    // She sits in its middle, before it, behind it and beside it, and is lighter or heavier than it.
    for (seat, mass) in [(at(0, 0), 90), (at(2, 0), 20), (at(-2, 0), 200), (at(0, -1), 70)] {
        let (mut town, ada, origin) = riding(seat, mass, true);
        ride_until(&mut town, (ada, origin), |town| town[0].world.avatar(&ada).is_none());
        let departures = said(&town, 0, 1).departures.clone();
        assert_eq!(departures.len(), 1, "one parcel");
        assert_eq!(departures[0].traveller, Traveller::Person(ada));
        let bytes = town[0].world.parcels(town[1].id()).next().expect("a parcel");
        assert_eq!(Parcel::decode(bytes).expect("a parcel").things().count(), 1);

        ride_until(&mut town, (ada, origin), |town| town[1].world.avatar(&ada).is_some());
        let (here, sitter) = cart(&town, 1, origin);
        assert_eq!(sitter, town[1].world.avatar(&ada), "seat {seat:?}");
        let (place, ground) = (town[1].place_of(&ada).expect("there"), at(-32, 0).x);
        assert!(place.x >= ground && here.position.x >= ground, "{place:?} {:?}", here.position);
        check_roots(&town);
        town[1].restore();
        // It rolls on with her, and its scripts were told that it came, and who sits there.
        for _ in 0..20 {
            drive(&mut town, ada, Vec2::ZERO);
            step(&mut town, 50);
        }
        let (there, sitter) = cart(&town, 1, origin);
        assert_eq!((there.text.as_str(), sitter), ("+ ridden >+", town[1].world.avatar(&ada)));
        let gone = there.position.x.saturating_sub(here.position.x);
        assert!(gone > Fx::from_int(4), "{gone}");
        let apart = town[1].place_of(&ada).expect("there").saturating_sub(there.position);
        assert!(apart.length() < Fx::from_ratio(5, 2), "{apart:?}");
        assert_eq!(town[1].world.border_share(&town[0].id()).0, 0, "no guest: it is hers");
    }
}

#[test]
fn what_an_admin_froze_stays_at_the_line_with_who_rides_it() {
    let (mut town, ada, origin) = riding(at(0, 0), 90, true);
    let freeze = Act::Govern(GovernOrder::Freeze { object: CART });
    let frozen = town[0].act(public(ADMIN), 1, freeze);
    step(&mut town, 50);
    assert_eq!(town[0].outcome(&frozen), Outcome::Ok);
    let told = |town: &[Place]| town[0].world.border_answer(&town[1].id(), &ada).hands;
    ride_until(&mut town, (ada, origin), |town| told(town) == [(CART, HandRefusal::HeldFast)]);
}

/// A neighbour that lies of owners spends the quotas of nobody but who comes herself.
#[test]
fn a_cart_of_somebody_else_counts_against_the_share_whoever_sits_there() {
    let (mut town, ada, origin) = riding_with((at(0, 0), 90, true), |founded| {
        founded[0].objects[0].owner = Some(public(ADMIN));
    });
    ride_until(&mut town, (ada, origin), |town| town[1].world.avatar(&ada).is_some());
    assert_eq!(cart(&town, 1, origin).1, town[1].world.avatar(&ada));
    assert_eq!(town[1].world.border_share(&town[0].id()).0, 1);
}

#[test]
fn if_they_are_refused_both_come_home_and_she_sits_there_again() {
    let (mut town, ada, origin) = riding(at(0, 0), 90, true);
    ride_until(&mut town, (ada, origin), |town| town[0].world.avatar(&ada).is_none());
    // The east closes its border before it hears of them.
    let neighbour = town[0].id();
    town[1].order(&BorderOrder::Close { neighbour });
    town[1].play(50);
    ride_until(&mut town, (ada, origin), |town| town[0].world.avatar(&ada).is_some());
    let (cart, sitter) = cart(&town, 0, origin);
    assert_eq!((cart.id, sitter), (CART, town[0].world.avatar(&ada)));
    check_roots(&town);
    town[0].restore();
}

#[test]
fn a_cart_that_may_not_go_holds_at_the_line_and_says_why_until_she_stands_up() {
    let (mut town, ada, origin) = riding(at(0, 0), 90, false);
    let told = |town: &[Place]| town[0].world.border_answer(&town[1].id(), &ada).hands;
    ride_until(&mut town, (ada, origin), |town| told(town) == [(CART, HandRefusal::NotLetGo)]);
    for _ in 0..60 {
        drive(&mut town, ada, Vec2::ZERO);
        step(&mut town, 50);
    }
    let (here, sitter) = cart(&town, 0, origin);
    assert!(here.position.x <= Fx::from_int(32), "{:?}", here.position);
    assert_eq!(sitter, town[0].world.avatar(&ada));
    // On foot she goes over.
    for _ in 0..60 {
        drive(&mut town, ada, EAST);
        step(&mut town, 50);
    }
    assert!(town[1].world.avatar(&ada).is_some());
    assert_eq!(cart(&town, 0, origin).1, None);
    check_roots(&town);
}

/// Somebody who sat ahead of her cart went over alone, and the cart stayed.
#[test]
fn a_cart_that_may_not_go_holds_who_sits_ahead_of_it() {
    let (mut town, ada, origin) = riding(at(2, 0), 90, false);
    for _ in 0..200 {
        drive(&mut town, ada, Vec2::ZERO);
        step(&mut town, 50);
        assert!(town[0].world.avatar(&ada).is_some(), "{:?}", town[0].world.height());
    }
    let (here, sitter) = cart(&town, 0, origin);
    assert_eq!(sitter, town[0].world.avatar(&ada));
    let place = town[0].place_of(&ada).expect("here");
    assert!(place.x <= Fx::from_int(33), "{place:?}");
    assert!(!here.text.contains("ridden"), "{}", here.text);
    check_roots(&town);
}

/// Near a corner nobody asked for the cart: she went over the line, and it was pulled back under her.
#[test]
fn a_cart_that_may_not_go_holds_its_rider_also_near_a_corner() {
    let (mut town, ada, origin) = riding_with((at(2, 0), 90, false), |founded| {
        founded[0].objects[0].body.pose.position = at(22, 31);
        founded.iter_mut().for_each(|genesis| genesis.parameters.avatar.spawn = at(22, 29));
    });
    for _ in 0..200 {
        drive(&mut town, ada, Vec2::ZERO);
        step(&mut town, 50);
        let place = town[0].place_of(&ada).expect("here");
        assert!(place.x <= Fx::from_int(33), "{place:?}");
    }
    let (_, sitter) = cart(&town, 0, origin);
    assert_eq!(sitter, town[0].world.avatar(&ada));
    check_roots(&town);
}

/// A mount for which the parcel had no room left went in a second one, and its rider was on foot over there.
#[test]
fn a_cart_that_finds_no_room_in_her_parcel_stays_with_who_sits_there() {
    // Her lantern has 36 KB, as has the cart: a parcel has 48 KiB.
    let heavy = package("heavy", QUIET);
    let long = |n: usize| (format!("text{n}"), Value::Text("x".repeat(3_000)));
    let state = ScriptState((0..3).map(long).collect());
    let (mut town, ada, origin) = riding_with((at(0, 0), 90, true), |founded| {
        let lantern = ball(at(22, 5), &[heavy.id(); 4], &state);
        founded[0].objects[0].scripts.extend(lantern.scripts.clone());
        founded[0].objects.push(ObjectSpec { owner: Some(public(1)), ..lantern });
        founded.iter_mut().for_each(|genesis| {
            genesis.packages.insert(heavy.id(), heavy.encode());
        });
    });
    let object = ObjectId(2);
    for build in [Build::LetTravel { object, travels: true }, Build::Take { object }] {
        let act = town[0].act(ada, 1, Act::Build(build));
        step(&mut town, 50);
        assert_eq!(town[0].outcome(&act), Outcome::Ok);
    }
    let told = |town: &[Place]| town[0].world.border_answer(&town[1].id(), &ada).hands;
    ride_until(&mut town, (ada, origin), |town| told(town) == [(CART, HandRefusal::TooMuch)]);
    for _ in 0..100 {
        drive(&mut town, ada, Vec2::ZERO);
        step(&mut town, 50);
        assert!(town[0].world.avatar(&ada).is_some());
    }
    let (here, sitter) = cart(&town, 0, origin);
    assert_eq!(sitter, town[0].world.avatar(&ada));
    assert_eq!(here.text, "+", "it was never told that it departs");
    check_roots(&town);
}

#[test]
fn what_the_neighbour_says_no_to_is_told_before_the_line() {
    let (mut town, ada, origin) = riding(at(0, 0), 90, true);
    for name in ["border_things", OWN_THINGS] {
        let act = Act::Amend { name: name.into(), value: "0".into() };
        town[1].act(public(ADMIN), 1, act);
    }
    let told = |town: &[Place]| town[0].world.border_answer(&town[1].id(), &ada).hands;
    let full = HandRefusal::There(TravelRefusal::ShareFull);
    ride_until(&mut town, (ada, origin), |town| told(town) == [(CART, full)]);
    assert!(town[0].place_of(&ada).expect("here").x < Fx::from_int(32));
}

#[test]
fn a_cart_on_which_nobody_sits_keeps_its_seat_over_the_border() {
    let (mut town, ada, origin) = riding(at(0, 0), 90, true);
    town[0].act(ada, 1, Act::Sit { on: None });
    for _ in 0..60 {
        step(&mut town, 50);
    }
    let (there, sitter) = cart(&town, 1, origin);
    assert_eq!((there.text.as_str(), sitter), ("+- alone >", None));
    // Whoever is near over there sits down on it.
    let act = town[1].act(public(ADMIN), 1, Act::Sit { on: Some(there.id) });
    step(&mut town, 50);
    assert_ne!(town[1].outcome(&act), Outcome::Refused(Refusal::NothingToSitOn));
}

/// A cart that pulled something stayed at the line with who sat on it.
#[test]
fn who_sits_on_a_cart_brings_what_it_pulls() {
    let trailer = ObjectId(2);
    let (mut town, ada, origin) = riding_with((at(0, 0), 90, true), |founded| {
        let spec = ball(at(20, 4), &[], &Default::default());
        founded[0].objects.push(ObjectSpec { owner: Some(public(1)), ..spec });
        let (length, spring) = (Fx::from_int(2), None);
        let rod = JointKind::Distance { min: length, max: length, spring };
        founded[0].joints.push(JointSpec::new(Some(CART), trailer, rod));
    });
    let pulled = Origin { number: trailer, ..origin };
    let told = |town: &[Place]| town[0].world.border_answer(&town[1].id(), &ada).hands;
    ride_until(&mut town, (ada, origin), |town| told(town) == [(CART, HandRefusal::NotLetGo)]);
    let let_go = Act::Build(Build::LetTravel { object: trailer, travels: true });
    town[0].act(public(ADMIN), 1, let_go);
    ride_until(&mut town, (ada, origin), |town| town[0].world.avatar(&ada).is_none());
    assert!(thing(&town[0], pulled).is_none(), "in the same parcel");
    assert_eq!(said(&town, 0, 1).departures.len(), 1);

    ride_until(&mut town, (ada, origin), |town| town[1].world.avatar(&ada).is_some());
    let (here, sitter) = cart(&town, 1, origin);
    let behind = thing(&town[1], pulled).expect("it came");
    assert_eq!(sitter, town[1].world.avatar(&ada));
    let apart = here.position.distance(behind.position).saturating_sub(Fx::from_int(2));
    assert!(apart.saturating_abs() < Fx::HALF, "{:?} {:?}", here.position, behind.position);
    let joints = town[1].world.joints();
    assert_eq!(joints.iter().filter(|joint| joint.b == behind.id).count(), 1);
    check_roots(&town);
    town[1].restore();
}

/// Has Ada depart on this; gives what the east says.
fn rides(
    liar: &mut Liar,
    hands: Vec<TravellingThing>,
    mount: TravellingThing,
) -> Option<TravelRefusal> {
    let ada = TravellingPerson { hands, mount: Some(Box::new(mount)), ..honest() };
    liar.departs(public(1), parcel(ada)).refusal()
}

#[test]
fn a_neighbour_that_lies_about_what_she_sits_on_is_refused_with_her_and_nothing_changes() {
    let cart = || TravellingThing { seat: Some(at(1, 0)), ..honest_thing() };
    let moved = |x: i32| {
        let mut thing = cart();
        thing.position = at(x, 0);
        thing
    };
    let mut wall = crate::thing_lies::body();
    wall.motion = Motion::Static;
    wall.velocity = Vec2::ZERO;
    let mut large = crate::thing_lies::body();
    large.shape = Shape::Circle { radius: Fx::from_int(12) };
    let with =
        |body| TravellingThing { seat: Some(at(1, 0)), ..crate::thing_lies::with_body(body) };
    let mut far = crate::thing_lies::body();
    far.pose.position = at(60, 0);
    for (hands, mount, why) in [
        (vec![], TravellingThing { seat: None, ..cart() }, TravelRefusal::BadParcel),
        (vec![], TravellingThing { seat: Some(at(3, 0)), ..cart() }, TravelRefusal::BadParcel),
        (vec![], moved(12), TravelRefusal::BadParcel),
        (vec![], with(far), TravelRefusal::BadParcel),
        (vec![], with(wall), TravelRefusal::BadParcel),
        (vec![], with(large), TravelRefusal::TooLarge),
        // What she has in hand is what she sits on.
        (vec![honest_thing()], cart(), TravelRefusal::BadParcel),
    ] {
        let mut liar = Liar::new();
        let before = liar.town[1].world.objects().count();
        assert_eq!(rides(&mut liar, hands, mount), Some(why));
        let world = &liar.town[1].world;
        assert_eq!((world.objects().count(), world.avatar(&public(1))), (before, None), "{why}");
        assert_eq!(world.root(), world.rehash());
        liar.town[1].restore();
    }
    let mut liar = Liar::new();
    assert_eq!(rides(&mut liar, vec![], cart()), None);
    let world = &liar.town[1].world;
    let border = world.border(&liar.town[0].id()).expect("a border");
    assert!(border.crossing.pinned.values().all(|all| all.len() == 2), "pinned as one");
    assert_eq!(world.root(), world.rehash());
}
