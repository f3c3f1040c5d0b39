//! Sending home: what came over a border goes back when an admin says so, whatever its owner wants; and the banned
//! lose their passes.

use metatopia_math::{Fx, Vec2};
use metatopia_types::{
    Act, BorderOrder, BorderRefusal, Build, BuiltJoint, GovernOrder, ObjectId, Origin, Outcome,
    Refusal,
};

use crate::{
    rolling::{QUIET, ball, first, geneses, package, rolling, thing, way},
    town::{ADMIN, Place, places_of_thing, public, step, tell},
};

/// A town of two, into the eastern of which a ball of a stranger rolled and lies still; gives its number there.
pub(crate) fn visited() -> (Vec<Place>, Origin, ObjectId) {
    visited_by(QUIET, 1)
}

/// The same of a ball with this source on it, so many times.
fn visited_by(source: &str, scripts: usize) -> (Vec<Place>, Origin, ObjectId) {
    let (mut town, origin) = coming(source, scripts);
    steps(&mut town, 200);
    let guest = thing(&town[1], origin).expect("it came over");
    (town, origin, guest.id)
}

/// A town of two, in the western of which such a ball rolls towards the eastern one.
pub(crate) fn coming(source: &str, scripts: usize) -> (Vec<Place>, Origin) {
    let mut founded = geneses(2, 1, 0);
    let quiet = package("quiet", source);
    let scripts = vec![quiet.id(); scripts];
    let mut spec = ball(Vec2::new(Fx::from_int(29), Fx::from_int(4)), &scripts, &way(0));
    spec.body.velocity = Vec2::new(Fx::from_int(6), Fx::ZERO);
    founded[0].objects.push(spec);
    for genesis in &mut founded {
        genesis.packages.insert(quiet.id(), quiet.encode());
    }
    let town = rolling(founded);
    let origin = first(&town);
    (town, origin)
}

pub(crate) fn steps(town: &mut [Place], turns: usize) {
    (0..turns).for_each(|_| step(town, 50));
}

fn done(place: &mut Place, act: Act) {
    let act = place.act(public(ADMIN), 1, act);
    place.play(50);
    assert_eq!(place.outcome(&act), Outcome::Ok);
}

/// Returns where a thing is in the eastern sim.
fn place(town: &[Place], origin: Origin) -> Vec2 {
    thing(&town[1], origin).expect("it is here").position
}

/// Has the admin of the eastern sim walk to a thing there.
fn walk_to(town: &mut [Place], origin: Origin) {
    let near = Fx::from_int(2);
    for _ in 0..400 {
        let own = town[1].place_of(&public(ADMIN)).expect("she is here");
        let there = place(town, origin);
        let way = there.saturating_sub(own);
        let heading =
            if way.length() < near { Vec2::ZERO } else { way.normalize().expect("a way") };
        town[1].act(public(ADMIN), 1, Act::Walk { heading });
        step(town, 50);
        if heading == Vec2::ZERO {
            return;
        }
    }
    panic!("she never gets there");
}

/// Orders in the eastern sim that a thing goes home to the western one.
fn sent(town: &mut [Place], object: ObjectId) -> Outcome {
    let order = BorderOrder::SendHome { neighbour: town[0].id(), object };
    // The border is a wall while the neighbour is silent.
    tell(town, 0, 1);
    let act = town[1].order(&order);
    town[1].play(50);
    town[1].outcome(&act)
}

const fn bad(why: BorderRefusal) -> Outcome {
    Outcome::Refused(Refusal::BadBorder(why))
}

#[test]
fn a_guest_goes_home_by_an_admins_order_whatever_its_owner_wants() {
    let (mut town, origin, object) = visited();
    done(&mut town[1], Act::Build(Build::LetTravel { object, travels: false }));
    assert_eq!(sent(&mut town, object), Outcome::Ok);
    assert!(thing(&town[1], origin).is_none(), "it departed at the end of that turn");
    steps(&mut town, 10);
    let home = thing(&town[0], origin).expect("it is home");
    assert_eq!(places_of_thing(&town, origin), 1);
    assert!(home.position.x <= Fx::from_int(32), "{:?}", home.position);
    for place in &town {
        assert_eq!(place.world.root(), place.world.rehash());
    }
}

#[test]
fn what_its_own_sim_does_not_take_back_comes_to_the_line_and_is_lost_nowhere() {
    let (mut town, origin, object) = visited();
    done(&mut town[0], Act::Amend { name: "building.movable_max".into(), value: "0".into() });
    assert_eq!(sent(&mut town, object), Outcome::Ok);
    steps(&mut town, 10);
    let back = thing(&town[1], origin).expect("it came back");
    assert_eq!((back.id, places_of_thing(&town, origin)), (object, 1));
    assert_eq!(back.position.x, Fx::from_int(-32));
}

/// What was sent home against its owner's will and refused there came back as what may travel.
#[test]
fn what_comes_back_is_let_travel_no_more_than_before() {
    let (mut town, origin, object) = visited();
    done(&mut town[0], Act::Amend { name: "building.movable_max".into(), value: "0".into() });
    for travels in [false, true] {
        done(&mut town[1], Act::Build(Build::LetTravel { object, travels }));
        assert_eq!(sent(&mut town, object), Outcome::Ok);
        steps(&mut town, 10);
        let back = thing(&town[1], origin).expect("it came back");
        assert_eq!(back.travels, travels);
    }
}

/// What a script remembers grows after it came. Its own sim could not take so much, and is not asked.
#[test]
fn what_has_grown_beyond_a_parcel_is_refused_by_its_size() {
    let grows = "fn on_arrive() { let s = \"0123456789\"; for n in 0..8 { s += s; } \
                 state.a = s; state.b = s; state.c = s; }";
    let (mut town, _, object) = visited_by(grows, 8);
    assert_eq!(sent(&mut town, object), bad(BorderRefusal::TooLarge));
}

/// A script that puts its thing back inland in each tick undid the order, which was told to have been done.
#[test]
fn no_script_of_a_guest_undoes_the_order() {
    let stays = "fn on_arrive() { state.here = true; }\n\
                 fn on_tick(dt) { if state.here == true { self_.pos = vec2(0, 4); } }";
    let (mut town, origin, object) = visited_by(stays, 1);
    assert_eq!(sent(&mut town, object), Outcome::Ok);
    steps(&mut town, 10);
    assert!(thing(&town[0], origin).is_some(), "it is home");
}

#[test]
fn what_is_no_guest_or_is_held_is_not_sent_home() {
    let (mut town, origin, object) = visited();
    assert_eq!(sent(&mut town, ObjectId(999)), bad(BorderRefusal::NoGuest));
    let stranger = BorderOrder::SendHome { neighbour: town[1].id(), object };
    let act = town[1].order(&stranger);
    town[1].play(50);
    assert_eq!(town[1].outcome(&act), bad(BorderRefusal::NoBorder));

    done(&mut town[1], Act::Govern(GovernOrder::Freeze { object }));
    assert_eq!(sent(&mut town, object), bad(BorderRefusal::Held));
    done(&mut town[1], Act::Govern(GovernOrder::Thaw { object }));

    walk_to(&mut town, origin);
    let hinge = Build::Join { object, to: None, at: place(&town, origin), kind: BuiltJoint::Hinge };
    done(&mut town[1], Act::Build(hinge));
    assert_eq!(sent(&mut town, object), bad(BorderRefusal::JoinedHere));
    done(&mut town[1], Act::Build(Build::Unjoin { object, from: None }));
    done(&mut town[1], Act::Build(Build::Take { object }));
    assert_eq!(sent(&mut town, object), bad(BorderRefusal::InUse));

    town[1].play(3_000);
    let order = BorderOrder::SendHome { neighbour: town[0].id(), object };
    let act = town[1].order(&order);
    town[1].play(50);
    assert_eq!(town[1].outcome(&act), bad(BorderRefusal::Walled));
    assert!(thing(&town[1], origin).is_some());

    // In the west, where it was born, it is no guest of anybody.
    let own = BorderOrder::SendHome { neighbour: town[1].id(), object: ObjectId(1) };
    tell(&mut town, 1, 0);
    let act = town[0].order(&own);
    town[0].play(50);
    assert_eq!(town[0].outcome(&act), bad(BorderRefusal::NoGuest));
}
