//! Things: over the border with their scripts, back, refused, pinned, severed, and home again.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{JointKind, JointSpec};
use metatopia_scripting::{Package, ScriptState, Value};
use metatopia_sim::limits::THINGS_FROM_SERVERS;
use metatopia_types::{
    Act, Blob, BorderOrder, Build, ObjectId, Origin, Outcome, PackageId, Refusal, TravelRefusal,
};

use crate::{
    rolling::{
        QUIET, ball, first, geneses, let_travel, package, package_importing, roller, rolling,
        thing, way,
    },
    town::{ADMIN, Place, at, places_of_thing, public, step, tell, town_of},
};

/// Plays until something is so.
pub(crate) fn until(
    town: &mut [Place],
    origin: Origin,
    mut is_so: impl FnMut(&[Place]) -> bool,
) -> u64 {
    for turns in 0..400 {
        if is_so(town) {
            return turns;
        }
        step(town, 50);
        assert_eq!(places_of_thing(town, origin), 1);
    }
    let seen = town.iter().map(|place| thing(place, origin).map(|thing| thing.position));
    panic!("that never happens: {:?}", seen.collect::<Vec<_>>());
}

pub(crate) fn is_in(n: usize, origin: Origin) -> impl Fn(&[Place]) -> bool {
    move |town: &[Place]| thing(&town[n], origin).is_some()
}

pub(crate) fn is_away(origin: Origin) -> impl Fn(&[Place]) -> bool {
    move |town: &[Place]| town.iter().all(|place| thing(place, origin).is_none())
}

pub(crate) fn text(place: &Place, origin: Origin) -> String {
    thing(place, origin).map(|thing| thing.text).unwrap_or_default()
}

pub(crate) fn amend(place: &mut Place, name: &str, value: &str) {
    let act = Act::Amend { name: name.into(), value: value.into() };
    let act = place.act(public(ADMIN), 1, act);
    place.play(50);
    assert_eq!(place.outcome(&act), Outcome::Ok);
}

fn check_roots(town: &[Place]) {
    town.iter().for_each(|place| assert_eq!(place.world.root(), place.world.rehash()));
}

#[test]
fn a_thing_rolls_over_with_its_script_its_timers_and_whose_it_is_and_rolls_back() {
    let mut town = rolling(geneses(2, 4, 1));
    let origin = first(&town);
    let before = thing(&town[0], origin).expect("it is there");
    until(&mut town, origin, is_away(origin));
    let turns = until(&mut town, origin, is_in(1, origin));
    println!("{turns} turns under way");
    assert!((1..=6).contains(&turns), "{turns}");
    let here = thing(&town[1], origin).expect("it came");
    assert!(here.position.x >= Fx::from_int(-32) && here.position.x < Fx::from_int(-28));
    assert_eq!((here.owner, here.author), (before.owner, before.author));
    assert_eq!((here.licence, here.parent, &here.name), (before.licence, None, &before.name));
    assert_eq!((here.shape, here.travels), (before.shape, true));
    until(&mut town, origin, |town| text(&town[1], origin) == "came 1");
    // Its timer runs on and its state came along, so it rolls back.
    until(&mut town, origin, |town| text(&town[0], origin) == "came 2");
    let home = thing(&town[0], origin).expect("it came back");
    assert!(home.id != before.id && home.origin == before.origin);
    check_roots(&town);
    town[0].restore();
    until(&mut town, origin, |town| text(&town[1], origin) == "came 3");
}

/// What looks where the first ball is that it found, and sends it a message.
const CALLER: &str = "\
fn on_start() { timer(\"call\", 0.1); }
fn on_timer(name) {
    if state.ball == () { state.ball = find(\"a ball\")[0]; state.back = \"\"; }
    self_.text = presence(state.ball) + state.back;
    state.back = \"\";
    send(state.ball, \"hello\", 1);
    timer(\"call\", 0.05);
}
fn on_undelivered(to, topic, why) { if to == state.ball { state.back = `: ${topic} ${why}`; } }
";

#[test]
fn a_handle_of_what_departed_is_away_and_then_gone_and_messages_to_it_come_back() {
    let mut founded = geneses(2, 4, 1);
    let caller = package("caller", CALLER);
    founded[0].packages.insert(caller.id(), caller.encode());
    let number = ObjectId(founded[0].objects.len() as u64 + 1);
    let spec = ball(at(0, 0), &[caller.id()], &ScriptState::default());
    let owner = founded[0].objects[0].owner;
    founded[0].objects.push(metatopia_sim::ObjectSpec { owner, ..spec });
    let mut town = town_of(founded);
    let origin = first(&town);
    let object = ObjectId(1);
    town[0].act(public(ADMIN), 1, Act::Build(Build::LetTravel { object, travels: true }));
    let caller = Origin { sim: town[0].id(), number };
    let mut heard: Vec<String> = Vec::new();
    until(&mut town, origin, |town| {
        let said = text(&town[0], caller);
        if heard.last() != Some(&said) {
            heard.push(said);
        }
        heard.last().is_some_and(|said| said == "gone: hello gone")
    });
    println!("{heard:?}");
    let order = ["here", "away: hello away", "gone: hello gone"];
    let places = order.map(|said| heard.iter().position(|heard| heard == said));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{heard:?}");
}

#[test]
fn what_may_not_leave_stays_before_the_line() {
    let mut town = town_of(geneses(2, 1, 1));
    let origin = first(&town);
    for _ in 0..100 {
        step(&mut town, 50);
        let thing = thing(&town[0], origin).expect("it stays");
        assert!(thing.position.x <= Fx::from_int(32), "{:?}", thing.position);
    }
    let_travel(&mut town, true);
    until(&mut town, origin, is_in(1, origin));
}

#[test]
fn a_sensor_is_one_in_the_other_sim_as_well_and_one_that_may_not_leave_is_put_back() {
    let mut founded = geneses(2, 1, 1);
    founded[0].objects[0].body.sensor = true;
    let mut town = rolling(founded.clone());
    let origin = first(&town);
    until(&mut town, origin, is_in(1, origin));
    assert!(town[1].world.specs().iter().any(|(_, spec)| spec.body.sensor));
    check_roots(&town);

    // Nobody says that this one may leave.
    let mut town = town_of(founded);
    let origin = first(&town);
    for _ in 0..60 {
        step(&mut town, 50);
        let thing = thing(&town[0], origin).expect("it stays");
        // No wall stops it. Half a metre past the line it would depart, and is put back.
        assert!(thing.position.x < Fx::from_int(33), "{:?}", thing.position);
    }
    check_roots(&town);
}

#[test]
fn what_a_joint_holds_stays_before_the_line() {
    let mut founded = geneses(2, 1, 1);
    let rope = JointKind::Distance { min: Fx::ZERO, max: Fx::from_int(60), spring: None };
    founded[0].joints.push(JointSpec::new(None, ObjectId(1), rope));
    let mut town = rolling(founded);
    let origin = first(&town);
    for _ in 0..60 {
        step(&mut town, 50);
        let thing = thing(&town[0], origin).expect("it stays");
        assert!(thing.position.x <= Fx::from_int(32), "{:?}", thing.position);
    }
    check_roots(&town);
}

#[test]
fn a_thing_that_is_refused_comes_back_with_its_number_and_its_script_is_told_why() {
    let servers = THINGS_FROM_SERVERS.to_string();
    for (name, value, why) in [
        ("border_things", "0", TravelRefusal::ShareFull),
        ("border_bytes", "9", TravelRefusal::ShareFull),
        ("things_from_servers", servers.as_str(), TravelRefusal::FewServers),
        ("building.movable_max", "0", TravelRefusal::Full),
    ] {
        let mut town = rolling(geneses(2, 1, 1));
        let origin = first(&town);
        amend(&mut town[1], name, value);
        until(&mut town, origin, is_away(origin));
        until(&mut town, origin, is_in(0, origin));
        let home = thing(&town[0], origin).expect("it came home");
        assert_eq!((home.id, home.position.x), (origin.number, Fx::from_int(32)));
        let refused = format!("refused: {}", why.word());
        until(&mut town, origin, |town| text(&town[0], origin) == refused);
        check_roots(&town);
    }
}

#[test]
fn a_thing_whose_neighbour_is_late_comes_home_and_is_not_taken_afterwards() {
    let mut town = rolling(geneses(2, 1, 1));
    let origin = first(&town);
    until(&mut town, origin, is_away(origin));
    // The east plays on without hearing of it, past the deadline.
    town[0].play(2_000);
    for _ in 0..15 {
        town[1].play(1_000);
    }
    let act = tell(&mut town, 1, 0).expect("a word");
    town[0].play(50);
    assert_eq!(town[0].outcome(&act), Outcome::Ok);
    assert!(is_in(0, origin)(&town), "{:?}", town[0].world.borders());
    town[0].play(50);
    until(&mut town, origin, |town| text(&town[0], origin) == "refused: late");
}

#[test]
fn a_script_without_its_source_sleeps_and_wakes_at_home() {
    let mut all = geneses(2, 1, 1);
    all[1].packages.clear();
    let mut town = rolling(all);
    let origin = first(&town);
    until(&mut town, origin, is_in(1, origin));
    for _ in 0..20 {
        step(&mut town, 50);
    }
    let asleep = town[1].world.scripts().next().expect("its script");
    assert!(asleep.suspended.is_some() && asleep.failures == 0);
    assert_eq!(text(&town[1], origin), "");
    // Whoever resumes it has no source to run.
    let object = thing(&town[1], origin).expect("it is here").id;
    let resume = Build::Resume { object, script: asleep.script };
    let act = town[1].act(public(ADMIN), 1, Act::Build(resume));
    town[1].play(50);
    assert_eq!(town[1].outcome(&act), Outcome::Refused(Refusal::NoPackage));
    // Somebody puts it where it is pushed back over the line.
    roll_back(&mut town, object);
    until(&mut town, origin, is_in(0, origin));
    until(&mut town, origin, |town| text(&town[0], origin) == "came 1");
    check_roots(&town);
}

/// What rolls east once, and says what its import says.
const IMPORTING: &str = "\
import \"words\" as words;
fn on_start() { timer(\"roll\", 0.1); }
fn on_timer(name) { self_.velocity = vec2(words::PACE, 0); }
fn on_tick(dt) { self_.text = words::told(); }
";

#[test]
fn a_script_whose_import_is_not_there_sleeps_until_both_are() {
    let words = package("words", "const PACE = 8;\nfn told() { \"imported\" }\n");
    let user = package_importing("user", IMPORTING, &[&words]);
    let mut all = geneses(2, 1, 0);
    for package in [&words, &user] {
        all[0].packages.insert(package.id(), package.encode());
    }
    all[0].objects.push(ball(at(29, 8), &[user.id()], &ScriptState::default()));
    all[1].packages.clear();
    let mut town = rolling(all);
    let origin = first(&town);
    until(&mut town, origin, |town| text(&town[0], origin) == "imported");
    until(&mut town, origin, is_in(1, origin));
    let asleep = |place: &Place| {
        place.world.scripts().next().is_some_and(|script| script.suspended.is_some())
    };
    assert!(asleep(&town[1]));
    let publish = |town: &mut [Place], package: &Package| {
        let blob = Blob(package.encode());
        let publish = Act::Publish { source: blob.id() };
        let publish = town[1].with_blob(public(ADMIN), publish, blob);
        town[1].play(50);
        town[1].outcome(&publish)
    };
    let missing = Outcome::Refused(Refusal::MissingImport(words.id()));
    assert_eq!(publish(&mut town, &user), missing);
    assert_eq!(publish(&mut town, &words), Outcome::Ok);
    assert!(asleep(&town[1]), "what it imports alone is not enough");
    let resume = |town: &mut [Place]| {
        let object = thing(&town[1], origin).expect("it is here").id;
        let script = town[1].world.scripts().next().expect("its script").script;
        let resume = Act::Build(Build::Resume { object, script });
        let resume = town[1].act(public(ADMIN), 1, resume);
        town[1].play(50);
        town[1].outcome(&resume)
    };
    assert_eq!(resume(&mut town), Outcome::Refused(Refusal::NoPackage));
    assert_eq!(publish(&mut town, &user), Outcome::Ok);
    assert_eq!(resume(&mut town), Outcome::Ok);
    town[1].idle(5);
    assert!(!asleep(&town[1]) && text(&town[1], origin) == "imported");
    town[1].restore();
    check_roots(&town);
}

/// What rolls east once, and counts.
const COUNTER: &str = "\
fn on_start() { timer(\"roll\", 0.1); }
fn on_timer(name) { self_.velocity = vec2(8, 0); }
fn on_tick(dt) { state.n = state.n + 1; self_.text = \"tick \" + state.n; }
";

/// A script slept for want of its source, and woke as what it had been when an upgrade of it failed. The source came
/// then, and only servers that were restored since ran it: their roots were others.
#[test]
fn a_source_that_comes_after_a_failed_upgrade_is_run_by_every_server() {
    let (counter, broken) =
        (package("counter", COUNTER), package("broken", "fn on_upgrade() { throw \"no\"; }\n"));
    let mut all = geneses(2, 1, 0);
    all[0].packages.insert(counter.id(), counter.encode());
    all[0].objects.push(ball(at(29, 8), &[counter.id()], &way(1)));
    all[1].packages = [(broken.id(), broken.encode())].into();
    let mut town = rolling(all);
    let origin = first(&town);
    until(&mut town, origin, is_in(1, origin));
    let object = thing(&town[1], origin).expect("it is here").id;
    let script = town[1].world.scripts().next().expect("its script").script;
    let upgrade = Build::Upgrade { object, script, package: broken.id() };
    let upgrade = town[1].act(public(ADMIN), 1, Act::Build(upgrade));
    town[1].play(50);
    assert_eq!(town[1].outcome(&upgrade), Outcome::Ok);
    town[1].idle(5);
    let runs = town[1].world.scripts().next().expect("its script");
    assert_eq!(runs.package, counter.id(), "it fell back");
    let before = text(&town[1], origin);
    let blob = Blob(counter.encode());
    let publish = Act::Publish { source: blob.id() };
    let publish = town[1].with_blob(public(ADMIN), publish, blob);
    town[1].play(50);
    assert!(matches!(town[1].outcome(&publish), Outcome::Ok | Outcome::Made(_)));
    town[1].idle(5);
    let awake = text(&town[1], origin);
    assert_ne!(awake, before, "it counts where no server was restored");
    town[1].restore();
    town[1].idle(5);
    assert_ne!(text(&town[1], origin), awake, "and where one was");
    check_roots(&town);
}

/// What rolls east once, and counts with much work.
const BUSY: &str = "\
fn on_start() { timer(\"roll\", 0.1); }
fn on_timer(name) { self_.velocity = vec2(8, 0); }
fn on_tick(dt) { for i in 0..100 { state.n += 1; } self_.text = \"\" + state.n; }
";

#[test]
fn admins_set_how_much_gas_the_guests_of_a_border_have_together() {
    let counted = |percent: u32| {
        let busy = package("busy", BUSY);
        let mut all = geneses(2, 1, 0);
        for genesis in &mut all {
            genesis.packages.insert(busy.id(), busy.encode());
        }
        all[0].objects.push(ball(at(29, 8), &[busy.id()], &way(1)));
        all[1].parameters.border_gas = percent;
        let mut town = rolling(all);
        let origin = first(&town);
        until(&mut town, origin, is_in(1, origin));
        let count = |town: &[Place]| text(&town[1], origin).parse::<u64>().expect("a count");
        let before = count(&town);
        town[1].idle(60);
        check_roots(&town);
        count(&town) - before
    };
    let (whole, little) = (counted(100), counted(1));
    assert!(little > 0 && 3 * little < whole, "{little} with a hundredth, {whole} with the whole");
}

/// Has the admin of the east, who stands beside it, push a thing back.
fn roll_back(town: &mut [Place], object: ObjectId) {
    let stands = town[1].place_of(&public(ADMIN)).expect("the admin is there");
    let position = Vec2::new(Fx::from_int(-30), stands.y);
    let act = town[1].act(public(ADMIN), 1, Act::Build(Build::Move { object, position }));
    town[1].play(50);
    assert_eq!(town[1].outcome(&act), Outcome::Ok);
    for _ in 0..200 {
        let place = town[1].world.object(object).map(|thing| thing.position);
        if place.is_none() {
            return;
        }
        // The admin walks west against it.
        town[1].act(public(ADMIN), 1, Act::Walk { heading: at(-1, 0) });
        step(town, 50);
    }
    panic!("it does not go: {:?}", town[1].world.object(object));
}

#[test]
fn whatever_is_done_to_a_thing_under_way_is_refused_and_its_place_is_kept() {
    let mut town = rolling(geneses(2, 1, 1));
    let origin = first(&town);
    until(&mut town, origin, is_away(origin));
    let object = origin.number;
    let package = roller().id();
    let script = metatopia_types::ScriptId(1);
    for build in [
        Build::Delete { object },
        Build::Give { object, to: public(ADMIN) },
        Build::Upgrade { object, script, package },
        Build::LetTravel { object, travels: false },
        Build::Undo { skip: 0 },
    ] {
        let act = town[0].act(public(ADMIN), 1, Act::Build(build));
        town[0].play(50);
        assert_eq!(town[0].outcome(&act), Outcome::Refused(Refusal::Away));
    }
    // The admin's only thing that may be pushed is under way.
    amend(&mut town[0], "building.movable_max", "1");
    let blueprint = metatopia_types::Blueprint {
        kind: "ball".into(),
        name: "another".into(),
        text: String::new(),
        color: 0,
        outline: metatopia_types::Outline::Disc { radius: Fx::HALF },
        movable: true,
        position: at(20, 4),
        angle: metatopia_math::Angle::ZERO,
        licence: metatopia_types::AssetLicence::Cc0,
        parts: metatopia_types::OutlineParts::default(),
    };
    let act = town[0].act(public(ADMIN), 1, Act::Build(Build::Place(blueprint)));
    town[0].play(50);
    assert_eq!(town[0].outcome(&act), Outcome::Refused(Refusal::TooManyMovable));
    town[0].restore();
    until(&mut town, origin, is_in(1, origin));
}

#[test]
fn what_was_taken_goes_no_further_before_its_sender_has_settled_it() {
    let mut town = rolling(geneses(2, 1, 1));
    let origin = first(&town);
    until(&mut town, origin, is_away(origin));
    town[0].idle(2);
    tell(&mut town, 0, 1);
    town[1].play(50);
    assert!(is_in(1, origin)(&town));
    // The west never hears that it was taken. The east hears the west, so the line is no wall.
    for _ in 0..100 {
        town[0].idle(1);
        tell(&mut town, 0, 1);
        town[1].play(50);
        let here = thing(&town[1], origin).expect("it is pinned");
        assert!(here.position.x >= Fx::from_int(-32), "{:?}", here.position);
    }
    until(&mut town, origin, is_in(0, origin));
}

#[test]
fn a_thing_that_came_home_by_severing_is_removed_where_it_was_taken_also_from_histories() {
    for is_deleted in [false, true] {
        let mut town = rolling(geneses(2, 1, 1));
        let origin = first(&town);
        until(&mut town, origin, is_away(origin));
        town[0].idle(2);
        tell(&mut town, 0, 1);
        town[1].play(50);
        let object = thing(&town[1], origin).expect("it was taken").id;
        if is_deleted {
            let act = town[1].act(public(ADMIN), 1, Act::Build(Build::Delete { object }));
            town[1].play(50);
            assert_eq!(town[1].outcome(&act), Outcome::Ok);
        }
        // The west hears nothing for a day, and gives the east up.
        let neighbour = town[1].id();
        town[0].play(86_400_001);
        let act = town[0].order(&BorderOrder::Sever { neighbour });
        town[0].play(50);
        assert_eq!(town[0].outcome(&act), Outcome::Ok);
        let home = thing(&town[0], origin).expect("it came home");
        assert_eq!(home.id, origin.number);
        town[0].idle(2);
        tell(&mut town, 0, 1);
        town[1].play(50);
        assert!(thing(&town[1], origin).is_none());
        let act = town[1].act(public(ADMIN), 1, Act::Build(Build::Undo { skip: 0 }));
        town[1].play(50);
        assert!(matches!(town[1].outcome(&act), Outcome::Refused(_)));
        assert_eq!(places_of_thing(&town, origin), 1);
        check_roots(&town);
    }
}

#[test]
fn a_thing_that_is_larger_than_a_parcel_stays() {
    let quiet = package("quiet", QUIET);
    let mut all = geneses(2, 1, 0);
    let long = |n: usize| (format!("text{n}"), Value::Text("x".repeat(3_000)));
    let state = ScriptState((0..3).map(long).collect());
    let scripts: Vec<PackageId> = vec![quiet.id(); 8];
    let mut heavy = ball(at(31, 8), &scripts, &state);
    heavy.body.velocity = at(2, 0);
    all.iter_mut().for_each(|genesis| {
        genesis.packages.insert(quiet.id(), quiet.encode());
    });
    all[0].objects.push(heavy);
    let mut town = rolling(all);
    let origin = first(&town);
    for _ in 0..60 {
        step(&mut town, 50);
        assert!(thing(&town[0], origin).is_some());
    }
    let border = town[0].world.border(&town[1].id()).expect("a border");
    assert_eq!(border.crossing.said.out_next, 0);
    assert_eq!(thing(&town[0], origin).expect("here").position.x, Fx::from_int(32));
}

#[test]
fn the_share_of_a_border_is_for_so_many_things_and_gifts_leave_it() {
    let mut all = geneses(2, 1, 2);
    all[1].parameters.border_things = 1;
    let quiet = package("quiet", QUIET);
    for genesis in &mut all {
        genesis.packages.insert(quiet.id(), quiet.encode());
    }
    let script = [quiet.id()];
    for (n, spec) in all[0].objects.iter_mut().enumerate() {
        let place = Vec2::new(Fx::from_int(31), Fx::from_int(8 + 2 * n as i32));
        *spec = ball(place, &script, &way(1));
        spec.body.velocity = at(4, 0);
    }
    let mut town = rolling(all);
    let origins = [1, 2].map(|n| Origin { sim: town[0].id(), number: ObjectId(n) });
    let in_east =
        |town: &[Place]| origins.iter().filter(|it| thing(&town[1], **it).is_some()).count();
    for _ in 0..40 {
        step(&mut town, 50);
        assert!(in_east(&town) <= 1);
    }
    assert_eq!(in_east(&town), 1);
    // Nobody becomes its owner but by the owner's will, and not the admins of the sim either.
    let came = town[1].world.objects().find(|thing| thing.player.is_none()).expect("one came");
    town[1].login(public(7));
    town[1].play(50);
    for (giver, outcome) in [(ADMIN, Outcome::Refused(Refusal::NotYours)), (7, Outcome::Ok)] {
        let give = Build::Give { object: came.id, to: public(ADMIN) };
        let act = town[1].act(public(giver), 1, Act::Build(give));
        town[1].play(50);
        assert_eq!(town[1].outcome(&act), outcome);
    }
    // What is given away counts against its new owner's quotas.
    let share = town[1].world.border_share(&town[0].id());
    assert_eq!(share, (0, 0));
    assert_eq!(TravelRefusal::ShareFull.word(), "share full");
}
