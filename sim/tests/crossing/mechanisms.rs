//! Things that are joined go over a border as one: all of them, with their joints, or none.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, JointKind, JointSpec, Motor};
use metatopia_scripting::{ScriptState, Value};
use metatopia_sim::{Genesis, limits::MECHANISM_REACH_METRES};
use metatopia_types::{
    BorderOrder, BorderRefusal, Companions, ObjectId, Origin, Outcome, Parcel, Refusal, SimId,
    TravelRefusal, Traveller, TravellingJoint, TravellingThing,
    limits::{MECHANISM_JOINTS_MAX, MECHANISM_THINGS_MAX},
    wire,
};

use crate::{
    lies::Liar,
    people::said,
    rolling::{QUIET, ball, geneses, package, rolling, thing},
    thing_lies::{body, with_body},
    town::{Place, at, places_of_thing, public, step, tell},
};

/// The engine of a train, and what it pulls.
const ENGINE: ObjectId = ObjectId(1);
const WAGON: ObjectId = ObjectId(2);
const LAST: ObjectId = ObjectId(3);

/// Knows a mate, and says by its text whether that came along.
const MATE: &str = "fn on_arrive() { self_.text = presence(state.mate); }\n\
                    fn on_depart(how) { self_.text = how; }\n";

/// A joint of two things in a row, half way between them.
fn coupled(a: ObjectId, b: ObjectId, kind: JointKind) -> JointSpec {
    let half = Vec2::new(Fx::from_ratio(3, 4), Fx::ZERO);
    let anchor_a = Vec2::ZERO.saturating_sub(half);
    JointSpec { anchor_a, anchor_b: half, ..JointSpec::new(Some(a), b, kind) }
}

fn hinge() -> JointKind {
    let motor = Some(Motor { speed: Fx::ONE, strength: Fx::HALF });
    JointKind::Revolute { limits: None, motor }
}

/// Geneses in the first of which an engine rolls east at the head of two wagons.
fn train(servers: u8) -> Vec<Genesis> {
    let mut founded = geneses(2, servers, 1);
    let (mate, quiet) = (package("mate", MATE), package("quiet", QUIET));
    for genesis in &mut founded {
        for package in [&mate, &quiet] {
            genesis.packages.insert(package.id(), package.encode());
        }
    }
    let west = &mut founded[0];
    west.objects[0].body.mass = Fx::from_int(60);
    let knows = ScriptState([("mate".to_owned(), Value::Object(LAST))].into());
    for (n, (script, state)) in
        [(mate.id(), knows), (quiet.id(), ScriptState::default())].into_iter().enumerate()
    {
        let behind = Fx::from_ratio(3 * (n as i64 + 1), 2);
        let place = Vec2::new(Fx::from_int(29).saturating_sub(behind), Fx::from_int(8));
        west.objects.push(ball(place, &[script], &state));
    }
    west.joints.push(coupled(ENGINE, WAGON, hinge()));
    west.joints.push(coupled(WAGON, LAST, JointKind::Weld { spring: None }));
    founded
}

fn origins(town: &[Place], count: u64) -> Vec<Origin> {
    let sim = town[0].id();
    (1..=count).map(|n| Origin { sim, number: ObjectId(n) }).collect()
}

/// Plays until something is so. Each thing is in one place all the time, and all of them in the same.
#[track_caller]
fn until(town: &mut [Place], origins: &[Origin], mut is_so: impl FnMut(&[Place]) -> bool) {
    for _ in 0..400 {
        if is_so(town) {
            return;
        }
        step(town, 50);
        for place in town.iter() {
            let here = origins.iter().filter(|origin| thing(place, **origin).is_some()).count();
            assert!(here == 0 || here == origins.len(), "{here} of {}", origins.len());
        }
        assert!(origins.iter().all(|origin| places_of_thing(town, *origin) == 1));
    }
    panic!("that never happens");
}

fn are_in(n: usize, origins: &[Origin]) -> impl Fn(&[Place]) -> bool {
    move |town| thing(&town[n], origins[0]).is_some()
}

fn are_away(origins: &[Origin]) -> impl Fn(&[Place]) -> bool {
    move |town| town.iter().all(|place| thing(place, origins[0]).is_none())
}

/// The joints of a sim: the origins of their ends, and their kinds.
fn joints(place: &Place) -> Vec<(Origin, Origin, JointKind)> {
    let origin = |id: ObjectId| place.world.object(id).expect("it is here").origin;
    let joints = place.world.joints();
    let ends = |spec: JointSpec| (origin(spec.a.expect("a thing")), origin(spec.b), spec.kind);
    joints.into_iter().map(ends).collect()
}

fn check_roots(town: &[Place]) {
    town.iter().for_each(|place| assert_eq!(place.world.root(), place.world.rehash()));
}

/// What was joined stayed at the line, and so did carts that people had built.
#[test]
fn a_train_goes_over_in_one_parcel_with_its_joints_and_rolls_back_with_them() {
    let mut town = rolling(train(4));
    let all = origins(&town, 3);
    let before = joints(&town[0]);
    assert_eq!(before.len(), 2);
    until(&mut town, &all, are_away(&all));
    let departures = said(&town, 0, 1).departures.clone();
    assert_eq!(departures.len(), 1);
    assert_eq!(departures[0].traveller, Traveller::Thing(all[0]), "the heaviest");
    let bytes = town[0].world.parcels(town[1].id()).next().expect("a parcel");
    let parcel = Parcel::decode(bytes).expect("a parcel");
    assert_eq!((parcel.things().count(), parcel.companions().joints.len()), (3, 2));

    until(&mut town, &all, are_in(1, &all));
    assert_eq!(joints(&town[1]), before, "as they were, motor and all");
    let seen = |town: &[Place], n: usize| thing(&town[1], all[n]).expect("here");
    let [engine, wagon, last] = [0, 1, 2].map(|n| seen(&town, n).position);
    for (a, b) in [(engine, wagon), (wagon, last)] {
        let apart = a.distance(b).saturating_sub(Fx::from_ratio(3, 2)).saturating_abs();
        assert!(apart < Fx::from_ratio(1, 10), "{a:?} {b:?}");
    }
    let inside = |place: Vec2| place.x >= Fx::from_int(-32);
    assert!([engine, wagon, last].into_iter().all(inside), "{engine:?} {wagon:?} {last:?}");
    check_roots(&town);
    town[1].restore();

    // A script that knows a mate finds it, under the number that it has here.
    until(&mut town, &all, |town| thing(&town[1], all[1]).is_some_and(|it| it.text == "here"));
    assert_eq!(seen(&town, 2).text, "here");
    assert_eq!(town[1].world.border_share(&town[0].id()).0, 3, "each counts");
    until(&mut town, &all, are_in(0, &all));
    assert_eq!(joints(&town[0]), before);
    assert_eq!(thing(&town[0], all[0]).expect("here").text, "came 2");
    check_roots(&town);
    town[0].restore();
}

#[test]
fn a_train_that_is_sent_home_departs_as_one_from_wherever_it_stands() {
    let mut town = rolling(train(4));
    let all = origins(&town, 3);
    let before = joints(&town[0]);
    until(&mut town, &all, are_in(1, &all));
    // The last wagon is named, and goes with what it is joined to, once the west knows that it was taken.
    let (neighbour, last) = (town[0].id(), thing(&town[1], all[2]).expect("here").id);
    let order = BorderOrder::SendHome { neighbour, object: last };
    let mut tries = 0;
    loop {
        step(&mut town, 50);
        tell(&mut town, 0, 1);
        let act = town[1].order(&order);
        town[1].play(50);
        match town[1].outcome(&act) {
            Outcome::Ok => break,
            why => {
                assert_eq!(why, Outcome::Refused(Refusal::BadBorder(BorderRefusal::JustCame)));
                tries += 1;
                assert!(tries < 5, "it is never settled");
            }
        }
    }
    assert!(are_away(&all)(&town), "all of it departed in that turn");
    until(&mut town, &all, are_in(0, &all));
    assert_eq!(joints(&town[0]), before);
    let inside = |origin: &Origin| thing(&town[0], *origin).expect("home").position.x;
    assert!(all.iter().all(|origin| inside(origin) <= Fx::from_int(32)));
    check_roots(&town);
}

#[test]
fn if_one_of_them_is_refused_all_come_home_and_are_joined_again() {
    let mut town = rolling(train(4));
    let all = origins(&town, 3);
    let before = joints(&town[0]);
    let (name, value) = ("border_things".into(), "2".into());
    let act = metatopia_types::Act::Amend { name, value };
    town[1].act(public(crate::town::ADMIN), 1, act);
    until(&mut town, &all, are_away(&all));
    until(&mut town, &all, are_in(0, &all));
    assert_eq!(joints(&town[0]), before);
    let engine = thing(&town[0], all[0]).expect("it came home");
    assert_eq!((engine.id, town[1].world.border_share(&town[0].id()).0), (ENGINE, 0));
    let ground = |origin: &Origin| thing(&town[0], *origin).expect("home").position.x;
    assert!(all.iter().all(|origin| ground(origin) <= Fx::from_int(32)));
    until(&mut town, &all, |town| {
        thing(&town[0], all[0]).is_some_and(|engine| engine.text.starts_with("refused: "))
    });
    check_roots(&town);
    town[0].restore();
}

/// Lets a train roll that may not go, and checks that it stays.
fn stays(founded: Vec<Genesis>, count: u64, change: impl FnOnce(&mut [Place])) {
    let mut town = rolling(founded);
    change(&mut town);
    let all = origins(&town, count);
    let joints_before = town[0].world.joints().len();
    for _ in 0..120 {
        step(&mut town, 50);
        for origin in &all {
            let here = thing(&town[0], *origin).expect("it stays");
            assert!(here.position.x < Fx::from_int(33), "{:?}", here.position);
        }
    }
    assert_eq!(town[0].world.joints().len(), joints_before, "in one piece");
    check_roots(&town);
}

#[test]
fn what_holds_on_to_something_that_may_not_go_stays_as_a_whole() {
    let mut to_ground = train(4);
    let rope = JointKind::Distance { min: Fx::ZERO, max: Fx::from_int(60), spring: None };
    to_ground[0].joints.push(JointSpec::new(None, LAST, rope));
    stays(to_ground, 3, |_| {});

    let travels = |object: ObjectId| {
        let build = metatopia_types::Build::LetTravel { object, travels: false };
        metatopia_types::Act::Build(build)
    };
    stays(train(4), 3, |town| {
        town[0].act(public(crate::town::ADMIN), 1, travels(WAGON));
    });

    let mut long = train(4);
    long[0].objects[2].body.pose.position = at(28 - MECHANISM_REACH_METRES - 2, 8);
    long[0].joints[1] = JointSpec::new(Some(WAGON), LAST, rope);
    stays(long, 3, |_| {});

    let mut many = train(4);
    let quiet = many[0].objects[2].scripts[0].package;
    for n in 4..=MECHANISM_THINGS_MAX as u64 + 1 {
        let place = Vec2::new(Fx::from_ratio(59 - 3 * (n as i64 - 1), 2), Fx::from_int(8));
        many[0].objects.push(ball(place, &[quiet], &ScriptState::default()));
        let weld = JointKind::Weld { spring: None };
        many[0].joints.push(coupled(ObjectId(n - 1), ObjectId(n), weld));
    }
    stays(many, MECHANISM_THINGS_MAX as u64 + 1, |_| {});
}

/// The engine of a train that no parcel takes was put back alone, into what it pulls.
#[test]
fn a_train_that_is_too_large_for_a_parcel_is_put_back_as_it_stands() {
    let mut founded = train(4);
    let quiet = founded[0].objects[2].scripts[0].package;
    let long = |n: usize| (format!("text{n}"), Value::Text("x".repeat(3_000)));
    let state = ScriptState((0..3).map(long).collect());
    // Each wagon has 36 KB: a parcel has 48 KiB.
    for wagon in &mut founded[0].objects[1..] {
        let heavy = ball(wagon.body.pose.position, &[quiet; 4], &state);
        wagon.scripts = heavy.scripts;
    }
    let mut town = rolling(founded);
    let all = origins(&town, 3);
    let mut is_put_back = false;
    for _ in 0..120 {
        step(&mut town, 50);
        let [engine, wagon, last] =
            [0, 1, 2].map(|n| thing(&town[0], all[n]).expect("it stays").position);
        // Whoever is put back stands on the line itself.
        is_put_back |= engine.x == Fx::from_int(32);
        for (a, b) in [(engine, wagon), (wagon, last)] {
            let apart = a.distance(b).saturating_sub(Fx::from_ratio(3, 2)).saturating_abs();
            assert!(apart < Fx::from_ratio(1, 10), "{a:?} {b:?}");
        }
    }
    assert!(is_put_back, "it was past the line");
    check_roots(&town);
}

#[test]
fn what_is_long_goes_over_though_its_heaviest_thing_is_far_behind() {
    let mut founded = train(4);
    founded[0].objects[0].body.mass = Fx::from_int(3);
    let heavy = &mut founded[0].objects[2].body;
    (heavy.mass, heavy.pose.position) = (Fx::from_int(9), at(20, 8));
    let (min, max) = (Fx::from_int(7), Fx::from_int(8));
    let rod = JointKind::Distance { min, max, spring: None };
    founded[0].joints[1] = JointSpec::new(Some(WAGON), LAST, rod);
    let mut town = rolling(founded);
    let all = origins(&town, 3);
    until(&mut town, &all, are_in(1, &all));
    let inside = |origin: &Origin| thing(&town[1], *origin).expect("here").position.x;
    assert!(all.iter().all(|origin| inside(origin) >= Fx::from_int(-32)));
    check_roots(&town);
}

/// A thing of another number at a place, of the same neighbour.
fn other(n: u64, place: Vec2) -> TravellingThing {
    let mut body = BodySpec { velocity: Vec2::ZERO, ..body() };
    body.pose.position = place;
    let thing = with_body(body);
    let origin = Origin { number: ObjectId(n), ..thing.origin };
    TravellingThing { origin, handle: ObjectId(n), scripts: Vec::new(), ..thing }
}

fn joint(a: u8, b: u8) -> TravellingJoint {
    let spec = coupled(ObjectId(0), ObjectId(0), JointKind::Weld { spring: None });
    TravellingJoint { a, b, spec: wire::encode(&spec) }
}

/// Returns what the east says to a ball with these companions.
fn refusal(things: Vec<TravellingThing>, joints: Vec<TravellingJoint>) -> Option<TravelRefusal> {
    let mut liar = Liar::new();
    let thing = with_body(body());
    let traveller = Traveller::Thing(thing.origin);
    let sim: SimId = thing.origin.sim;
    let parcel = Parcel::Thing(Box::new(thing), Companions { things, joints });
    let objects = liar.town[1].world.objects().count();
    let said = liar.departs_as(traveller, parcel.encode()).refusal();
    let came = liar.town[1].world.objects().filter(|thing| thing.origin.sim == sim).count();
    let all = parcel.things().count();
    let expected = if said.is_none() { (objects + all, all) } else { (objects, 0) };
    assert_eq!((liar.town[1].world.objects().count(), came), expected, "all or nothing");
    let joined = if said.is_none() { parcel.companions().joints.len() } else { 0 };
    assert_eq!(liar.town[1].world.joints().len(), joined);
    assert_eq!(liar.town[1].world.root(), liar.town[1].world.rehash());
    said
}

#[test]
fn a_parcel_that_lies_of_what_is_joined_is_refused_as_a_whole_and_an_honest_one_is_taken() {
    let behind = |n: u64| other(n, at(31, 4));
    assert_eq!(refusal(vec![behind(6)], vec![joint(0, 1)]), None, "an honest one");
    let bad = Some(TravelRefusal::BadParcel);
    for joint in [joint(0, 2), joint(0, 0), joint(200, 1)] {
        assert_eq!(refusal(vec![behind(6)], vec![joint]), bad);
    }
    let garbage = TravellingJoint { a: 0, b: 1, spec: vec![7; 9] };
    assert_eq!(refusal(vec![behind(6)], vec![garbage]), bad);
    let wild = JointSpec { anchor_a: at(500, 0), ..coupled(ENGINE, WAGON, hinge()) };
    let wild = TravellingJoint { a: 0, b: 1, spec: wire::encode(&wild) };
    assert_eq!(refusal(vec![behind(6)], vec![wild]), bad);
    // The same thing twice, one far from the line, and joints of things of two owners.
    assert_eq!(refusal(vec![behind(5)], vec![joint(0, 1)]), bad);
    let far = other(6, at(32 - MECHANISM_REACH_METRES - 2, 4));
    assert_eq!(refusal(vec![far], vec![joint(0, 1)]), bad);
    let owned = TravellingThing { owner: Some(public(7)), ..behind(6) };
    assert_eq!(refusal(vec![owned], vec![joint(0, 1)]), bad);
    // As many as a mechanism has, and one more; as many joints, and one more.
    let row = |count: usize| (0..count as u64).map(|n| behind(6 + n)).collect::<Vec<_>>();
    assert_eq!(refusal(row(MECHANISM_THINGS_MAX - 1), vec![joint(0, 1)]), None);
    assert_eq!(refusal(row(MECHANISM_THINGS_MAX), vec![joint(0, 1)]), bad);
    let net =
        |count: usize| (0..count).map(|n| joint((n / 15) as u8, 3 + (n % 13) as u8)).collect();
    assert_eq!(refusal(row(MECHANISM_THINGS_MAX - 1), net(MECHANISM_JOINTS_MAX)), None);
    assert_eq!(refusal(row(MECHANISM_THINGS_MAX - 1), net(MECHANISM_JOINTS_MAX + 1)), bad);
}
