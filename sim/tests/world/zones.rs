//! Zones: scripts are told who comes near their things, and who goes.

use metatopia_math::Fx;
use metatopia_physics::Motion;
use metatopia_scripting::Value;
use metatopia_sim::{
    SimClock,
    limits::{
        FAILURES_MAX, ZONE_BYTES, ZONE_LOOKS_PER_TICK, ZONE_MEMBERS_MAX, ZONE_THINGS_MAX,
        ZONES_PER_TICK,
    },
};
use metatopia_types::{Act, Build, LeafKey, ObjectId, Outcome, ScriptId, wire};

use crate::{
    building::site,
    byte_budget::{leave, script},
    undoing::restored,
    yard::{Builder, Yard, vec2},
};

/// Notes who comes into three metres, and who goes.
const PORCH: &str = r#"
    fn on_start() { state.came = []; state.left = []; zone(3); }
    fn on_enter(other) { state.came.push(other.name); }
    fn on_leave(other) { state.left.push(if exists(other) { other.name } else { "nobody" }); }
    fn on_touch(other) { zone(0); }
"#;

/// Returns a yard with a thing at (20, 0) that runs that source, its builder, and the thing.
fn porch(source: &str) -> (Builder, Yard, ObjectId) {
    let mut builder = Builder::new();
    let package = builder.package("porch", source);
    let object = builder.thing(Motion::Kinematic, (20, 0), &[package]);
    let yard = site(&mut builder);
    (builder, yard, object)
}

fn noted(yard: &Yard, id: u64, name: &str) -> Vec<String> {
    match script(&yard.world, id).state.0.get(name) {
        Some(Value::Array(names)) => names.iter().map(ToString::to_string).collect(),
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn a_script_is_told_who_comes_into_its_zone_and_who_leaves_it() {
    let (builder, mut yard, _) = porch(PORCH);
    assert_eq!(noted(&yard, 1, "came"), [""; 0]);

    yard.walk_to(1, vec2(20, 2));
    yard.walk_to(2, vec2(18, 0));
    assert_eq!(noted(&yard, 1, "came"), ["player 1", "player 2"]);
    assert_eq!(noted(&yard, 1, "left"), [""; 0]);

    // A server that restored the state knows who is inside.
    yard.world = restored(&builder, &yard.world);
    yard.walk_to(1, vec2(20, 8));
    assert_eq!(noted(&yard, 1, "came"), ["player 1", "player 2"]);
    assert_eq!(noted(&yard, 1, "left"), ["player 1"]);
}

#[test]
fn who_logs_out_has_left_and_without_a_zone_nothing_is_told() {
    let (_, mut yard, object) = porch(PORCH);
    yard.walk_to(1, vec2(20, 2));
    yard.walk_to(2, vec2(20, -2));
    yard.act(1, Act::Leave);
    yard.idle(3);
    assert_eq!(noted(&yard, 1, "left"), ["nobody"]);

    assert_eq!(yard.try_act(2, Act::Touch { object }), Outcome::Ok);
    yard.walk_to(2, vec2(20, -8));
    assert_eq!(noted(&yard, 1, "left"), ["nobody"]);
    assert_eq!(script(&yard.world, 1).zone, None);
}

#[test]
fn who_is_there_already_comes_when_the_zone_begins() {
    let source = PORCH.replace("zone(3);", "").replace("zone(0)", "zone(3)");
    let (_, mut yard, object) = porch(&source);
    yard.walk_to(1, vec2(20, 2));
    assert_eq!(noted(&yard, 1, "came"), [""; 0]);
    assert_eq!(yard.try_act(1, Act::Touch { object }), Outcome::Ok);
    yard.idle(2);
    assert_eq!(noted(&yard, 1, "came"), ["player 1"]);
}

#[test]
fn a_zone_goes_where_its_thing_goes_and_ends_with_it() {
    let source = PORCH.replace("zone(0)", "self_.pos = vec2(40, 40)");
    let (_, mut yard, object) = porch(&source);
    yard.walk_to(1, vec2(20, 2));
    assert_eq!(yard.try_act(1, Act::Touch { object }), Outcome::Ok);
    yard.idle(2);
    assert_eq!(noted(&yard, 1, "left"), ["player 1"]);
    assert_eq!(yard.try_act(100, Act::Build(Build::Delete { object })), Outcome::Ok);
    yard.idle(2);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn a_suspended_script_is_told_of_nobody_and_begins_its_zone_anew() {
    let source = PORCH.replace("zone(0)", "throw \"tired\"");
    let (_, mut yard, object) = porch(&source);
    yard.walk_to(1, vec2(20, 2));
    for _ in 0..FAILURES_MAX {
        yard.act(1, Act::Touch { object });
        yard.play();
    }
    yard.walk_to(2, vec2(18, 0));
    assert_eq!(noted(&yard, 1, "came"), ["player 1"]);

    let resume = Build::Resume { object, script: ScriptId(1) };
    assert_eq!(yard.try_act(100, Act::Build(resume)), Outcome::Ok);
    yard.idle(2);
    assert_eq!(noted(&yard, 1, "came"), ["player 1", "player 2"]);
}

/// The new source ended the zone before it failed, and the old one was never told of anybody again.
#[test]
fn a_failed_upgrade_gives_the_zone_back() {
    let mut builder = Builder::new();
    // The event that fails comes to the old source again, which must not end the zone by it.
    let old = builder.package("porch", &PORCH.replace("zone(0)", "()"));
    let new = "fn on_upgrade() { zone(0); } fn on_touch(other) { throw \"no\"; }";
    let new = builder.package("porch-new", new);
    let object = builder.thing(Motion::Kinematic, (20, 0), &[old]);
    let mut yard = site(&mut builder);
    yard.walk_to(2, vec2(20, 2));
    let script_id = ScriptId(1);
    let upgrade = Build::Upgrade { object, script: script_id, package: new };
    assert_eq!(yard.try_act(100, Act::Build(upgrade)), Outcome::Ok);
    yard.idle(2);
    assert_eq!(script(&yard.world, 1).zone, None);

    yard.act(2, Act::Touch { object });
    yard.idle(2);
    assert_eq!(script(&yard.world, 1).package, old);
    yard.walk_to(1, vec2(18, 0));
    // Who stood there all the time has not come twice, and has not left.
    assert_eq!(noted(&yard, 1, "came"), ["player 2", "player 1"]);
    assert_eq!(noted(&yard, 1, "left"), [""; 0]);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

/// The new source listened to nobody, so the old one never heard of who left meanwhile.
#[test]
fn after_a_failed_upgrade_a_script_is_told_who_left_meanwhile() {
    let mut builder = Builder::new();
    let old = builder.package("porch", &PORCH.replace("zone(0)", "()"));
    let new = builder.package("porch-new", "fn on_touch(other) { throw \"no\"; }");
    let object = builder.thing(Motion::Kinematic, (20, 0), &[old]);
    let mut yard = site(&mut builder);
    yard.walk_to(1, vec2(20, 2));
    yard.walk_to(2, vec2(18, 0));
    let upgrade = Build::Upgrade { object, script: ScriptId(1), package: new };
    assert_eq!(yard.try_act(100, Act::Build(upgrade)), Outcome::Ok);
    yard.walk_to(1, vec2(20, 8));

    yard.act(2, Act::Touch { object });
    yard.idle(3);

    assert_eq!(script(&yard.world, 1).package, old);
    assert_eq!(noted(&yard, 1, "came"), ["player 1", "player 2"]);
    assert_eq!(noted(&yard, 1, "left"), ["player 1"]);
}

/// A zone that came and went before others shifted the turns of all, so that half of them never came.
#[test]
fn who_gives_up_a_zone_and_takes_it_again_hinders_no_other_zone() {
    let mut builder = Builder::new();
    let restless =
        "fn on_tick(dt) { state.on = !(state.on ?? false); zone(if state.on { 1 } else { 0 }); }";
    let restless = builder.package("restless", restless);
    let porch = "fn on_start() { zone(16); } fn on_enter(other) { state.came = other.name; }";
    let porch = builder.package("porch", porch);
    builder.thing(Motion::Static, (-40, -40), &[restless]);
    let count = 3 * ZONES_PER_TICK as u64 / 2;
    for n in 0..i32::try_from(count).unwrap() {
        builder.thing(Motion::Static, (36 + 2 * (n % 14), 36 + 2 * (n / 14)), &[porch]);
    }
    let mut yard = site(&mut builder);
    yard.walk_to(1, vec2(35, 35));
    yard.idle(40);

    let near = |id: &u64| {
        yard.position(ObjectId(*id)).distance(yard.position(yard.avatar(1))) <= Fx::from_int(16)
    };
    let told = |id: &u64| script(&yard.world, *id).state.0.contains_key("came");
    let near: Vec<u64> = (2..=count + 1).filter(near).collect();
    assert!(near.len() > 20);
    assert_eq!(near.iter().filter(|id| !told(id)).count(), 0);
}

/// Returns the script whose zone the next tick looks at first.
fn next_zone(yard: &Yard) -> u64 {
    let leaf = yard.world.leaf(&LeafKey("clock".to_owned())).expect("every state has a clock");
    wire::decode::<SimClock>(&leaf, 1_024).expect("it is a clock").next_zone.0
}

#[test]
fn in_a_crowd_a_tick_looks_at_so_many_and_the_next_one_goes_on() {
    let mut builder = Builder::new();
    let porch = builder.package("porch", "fn on_start() { zone(1); } fn on_enter(other) { }");
    builder.genesis.parameters.building.movable_max = 100;
    for n in 0..i32::try_from(ZONES_PER_TICK).unwrap() {
        builder.thing(Motion::Static, (-10, -30 - 2 * n), &[porch]);
    }
    let crowd = 80;
    for n in 0..crowd {
        builder.thing(Motion::Dynamic, (-10, 10 + 2 * n), &[]);
    }
    let mut yard = site(&mut builder);
    let before = next_zone(&yard);

    yard.play();

    // Three ticks, each with so many zones as look at that many: one more than the last that begins below.
    let ticks = 3 * (ZONE_LOOKS_PER_TICK as u64).div_ceil(1 + crowd as u64);
    let zones = ZONES_PER_TICK as u64;
    let after = next_zone(&yard);
    assert_eq!((after + zones - before) % zones, ticks % zones, "{before} {after}");
}

#[test]
fn a_zone_that_is_a_box_turns_with_its_thing() {
    let gate = PORCH.replace("zone(3)", "zone(vec2(12, 2)); self_.angle = PI / 2");
    let (_, mut yard, _) = porch(&gate);
    yard.walk_to(1, vec2(15, 0));
    assert_eq!(noted(&yard, 1, "came"), [""; 0]);
    yard.walk_to(1, vec2(20, 5));
    assert_eq!(noted(&yard, 1, "came"), ["player 1"]);
}

#[test]
fn things_that_can_be_pushed_come_and_others_do_not() {
    let mut builder = Builder::new();
    let package = builder.package("porch", PORCH);
    builder.thing(Motion::Static, (20, 0), &[package]);
    builder.thing(Motion::Static, (20, 2), &[]);
    builder.thing(Motion::Dynamic, (20, -2), &[]);
    let yard = site(&mut builder);
    assert_eq!(noted(&yard, 1, "came"), ["thing 3"]);
}

#[test]
fn a_zone_tells_of_so_many_people_and_of_others_once_one_has_left() {
    let mut builder = Builder::new();
    let source = PORCH.replace("zone(3)", "zone(vec2(32, 32))");
    let package = builder.package("porch", &source);
    builder.thing(Motion::Static, (6, 0), &[package]);
    let mut yard = site(&mut builder);
    let count = u8::try_from(ZONE_MEMBERS_MAX).unwrap() + 3;
    (3..=count - 1).for_each(|n| {
        yard.login(n);
        yard.play();
    });
    yard.idle(3);
    let told = |yard: &Yard| noted(yard, 1, "came").len();
    assert_eq!((yard.world.present().count(), told(&yard)), (usize::from(count), ZONE_MEMBERS_MAX));
    let inside = script(&yard.world, 1).zone.unwrap().inside;
    assert!(inside.len() == ZONE_MEMBERS_MAX && inside.is_sorted());
    // Nothing is lost by those who wait, so nothing is counted as dropped.
    assert_eq!(script(&yard.world, 1).dropped, 0);

    yard.act(1, Act::Leave);
    yard.idle(3);
    assert_eq!(told(&yard), ZONE_MEMBERS_MAX + 1);
}

/// Two keys with as many crates as they may have could blind every greeter.
#[test]
fn things_leave_room_for_people_in_a_zone() {
    let mut builder = Builder::new();
    let source = PORCH.replace("zone(3)", "zone(vec2(32, 32))");
    let package = builder.package("porch", &source);
    builder.thing(Motion::Static, (40, 0), &[package]);
    builder.genesis.parameters.building.movable_max = 100;
    for n in 0..i32::try_from(ZONE_MEMBERS_MAX).unwrap() {
        builder.thing(Motion::Dynamic, (30 + 2 * (n % 8), 3 + 2 * (n / 8)), &[]);
    }
    let mut yard = site(&mut builder);
    assert_eq!(noted(&yard, 1, "came").len(), ZONE_THINGS_MAX);

    yard.walk_to(1, vec2(30, 0));
    assert_eq!(noted(&yard, 1, "came")[ZONE_THINGS_MAX..], ["player 1"]);
}

#[test]
fn with_many_zones_each_is_looked_at_in_its_turn() {
    let mut builder = Builder::new();
    let source = "fn on_start() { zone(16); } fn on_enter(other) { state.came = other.name; }";
    let package = builder.package("porch", source);
    let count = 3 * ZONES_PER_TICK as u64 + 1;
    for n in 0..i32::try_from(count).unwrap() {
        builder.thing(Motion::Static, (40 + 2 * (n % 20), 40 + 2 * (n / 20)), &[package]);
    }
    let mut yard = site(&mut builder);
    let told = |yard: &Yard| {
        let told = |id: &u64| script(&yard.world, *id).state.0.contains_key("came");
        (1..=count).filter(told).count()
    };
    yard.idle(60);
    assert_eq!(told(&yard), 0);
    let zones: Vec<_> = (1..=count).map(|id| script(&yard.world, id).zone).collect();
    assert!(zones.iter().all(Option::is_some));

    yard.walk_to(1, vec2(38, 38));
    yard.idle(60);

    let near = |id: &u64| {
        yard.position(ObjectId(*id)).distance(yard.position(yard.avatar(1))) <= Fx::from_int(16)
    };
    assert_eq!(told(&yard), (1..=count).filter(near).count());
    assert!(told(&yard) > 20);
}

#[test]
fn a_full_world_has_no_room_for_a_new_zone() {
    for (room, begins) in [(ZONE_BYTES as u64 - 1, false), (ZONE_BYTES as u64 + 200, true)] {
        let source = PORCH.replace("zone(0)", "zone(2)").replace("zone(3);", "");
        let (_, mut yard, object) = porch(&source);
        yard.walk_to(1, vec2(20, 4));
        leave(&mut yard.world, room);

        yard.act(1, Act::Touch { object });
        let applied = yard.play();

        assert!(applied.failures.is_empty());
        assert_eq!(script(&yard.world, 1).zone.is_some(), begins);
        assert_eq!(script(&yard.world, 1).dropped, u64::from(!begins));
    }
}

/// Zones began while nobody was near, others filled the world, and then a crowd came.
#[test]
fn the_bytes_of_all_who_may_come_into_a_zone_are_for_nobody_else() {
    for (room, begins) in [(ZONE_BYTES as u64 + 150, false), (2 * ZONE_BYTES as u64 + 150, true)] {
        let mut builder = Builder::new();
        let first = builder.package("porch", PORCH);
        let source = "fn on_touch(other) { zone(2); }";
        let later = builder.package("later", source);
        builder.thing(Motion::Static, (-30, 0), &[first]);
        let object = builder.thing(Motion::Static, (20, 0), &[later]);
        let mut yard = site(&mut builder);
        yard.walk_to(1, vec2(20, 4));
        leave(&mut yard.world, room);

        yard.act(1, Act::Touch { object });
        yard.play();

        assert_eq!(script(&yard.world, 2).zone.is_some(), begins, "{room}");
    }
}

#[test]
fn the_zone_of_a_script_that_is_taken_off_ends_with_it() {
    let (_, mut yard, object) = porch(PORCH);
    yard.walk_to(1, vec2(20, 2));
    yard.walk_to(100, vec2(18, 2));
    let detach = Build::Detach { object, script: ScriptId(1) };
    assert_eq!(yard.try_act(100, Act::Build(detach)), Outcome::Ok);
    yard.walk_to(1, vec2(20, 8));
    assert_eq!(yard.world.scripts().count(), 0);
    assert_eq!(yard.world.root(), yard.world.rehash());
}
