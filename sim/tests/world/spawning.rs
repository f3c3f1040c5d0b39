//! Spawning: the things that scripts make and remove.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::Motion;
use metatopia_scripting::Value;
use metatopia_sim::{
    Area, Land, QueuedEvent, Shape, Tools, World, WorldObject,
    limits::{NAMED_LOOKED_MAX, ORPHANS_PER_TICK, SPAWNED_PER_OBJECT_MAX},
};
use metatopia_types::{Act, Build, ObjectId, Outcome, PackageId, PublicKey, Title};

use crate::{
    building::{block, built, place, site},
    byte_budget::script,
    yard::{Builder, Yard, public, vec2},
};

/// A tree that drops an apple at each touch, and remembers its apples.
const TREE: &str = r#"
    fn on_start() { state.apples = []; state.refused = 0; }
    fn on_touch(other) {
        spawn(#{ name: "apple", kind: "fruit", color: 0xff0000, radius: 0.25, tag: "apple",
            pos: self_.pos + vec2(0, 2) });
    }
    fn on_spawn(thing, tag) {
        if thing == () { state.refused += 1; } else { state.apples.push(thing); }
    }
    fn on_chat(from, text) {
        if state.apples.len() > 0 { despawn(state.apples.pop()); }
    }
"#;

/// A thing that makes others like itself, which try the same and end when they are touched.
const WALL: &str = r#"
    fn on_start() { state.tried = 0; }
    fn on_touch(other) {
        if self_.spawner != () { despawn(self_); return; }
        spawn(#{ name: "brick", size: vec2(1, 1), pos: self_.pos + vec2(3, 0), scripted: true });
    }
"#;

/// A tree of the sim's own at (2, 0), within reach of the players.
fn orchard(source: &str) -> (Yard, ObjectId) {
    let mut builder = Builder::new();
    let package = builder.package("tree", source);
    let tree = builder.thing(Motion::Static, (2, 0), &[package]);
    (site(&mut builder), tree)
}

/// A tree that player 1 planted at (2, 0).
pub(crate) fn own_tree(builder: &mut Builder, source: &str) -> (Yard, ObjectId) {
    let package = builder.package("tree", source);
    let mut yard = site(builder);
    let tree = place(&mut yard, 1, block(2, 0));
    attach(&mut yard, tree, package);
    (yard, tree)
}

fn attach(yard: &mut Yard, object: ObjectId, package: PackageId) {
    assert_eq!(built(yard, 1, Build::Attach { object, package }), Outcome::Ok);
    yard.play();
}

pub(crate) fn touch(yard: &mut Yard, n: u8, object: ObjectId) {
    assert_eq!(yard.try_act(n, Act::Touch { object }), Outcome::Ok);
    yard.play();
}

pub(crate) fn called(yard: &Yard, name: &str) -> Vec<WorldObject> {
    yard.world.objects().filter(|object| object.name == name).collect()
}

/// Returns what the first script remembers under a name.
fn remembered(yard: &Yard, name: &str) -> Value {
    script(&yard.world, 1).state.0.get(name).cloned().unwrap_or(Value::Unit)
}

fn count(value: &Value) -> usize {
    if let Value::Array(values) = value { values.len() } else { 0 }
}

#[test]
fn a_spawned_thing_is_as_its_script_says_and_the_script_gets_a_handle() {
    let (mut yard, tree) = orchard(TREE);

    touch(&mut yard, 1, tree);

    let apples = called(&yard, "apple");
    let [apple] = apples.as_slice() else { panic!("{apples:?}") };
    assert_eq!((apple.kind.as_str(), apple.look.color), ("fruit", 0x00ff_0000));
    assert_eq!((apple.position, apple.movable), (vec2(2, 2), false));
    assert_eq!(apple.shape, Shape::Circle { radius: Fx::parse("0.25").unwrap() });
    assert_eq!((apple.owner, apple.spawner), (None, Some(tree)));
    assert_eq!(remembered(&yard, "apples"), Value::Array(vec![Value::Object(apple.id)]));
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn a_script_removes_what_it_spawned() {
    let (mut yard, tree) = orchard(TREE);
    touch(&mut yard, 1, tree);
    touch(&mut yard, 1, tree);
    yard.say(1, 0, "drop one");

    yard.idle(3);

    assert_eq!(called(&yard, "apple").len(), 1);
    assert_eq!(count(&remembered(&yard, "apples")), 1);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn a_thing_with_a_script_removes_itself_and_spawns_nothing() {
    let (mut yard, wall) = orchard(WALL);
    touch(&mut yard, 1, wall);
    let bricks = called(&yard, "brick");
    let [brick] = bricks.as_slice() else { panic!("{bricks:?}") };
    assert_eq!((brick.scripts.len(), brick.spawner), (1, Some(wall)));
    let id = brick.id;

    touch(&mut yard, 2, id);

    assert!(called(&yard, "brick").is_empty());
    assert_eq!(yard.world.scripts().count(), 1, "its script is gone with it");
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn a_spawned_thing_belongs_to_the_owner_of_its_spawner_and_counts_against_the_owners_share() {
    let mut builder = Builder::new();
    builder.genesis.parameters.building.objects_per_player = 2;
    let (mut yard, tree) = own_tree(&mut builder, TREE);

    touch(&mut yard, 2, tree);
    touch(&mut yard, 2, tree);

    let apples = called(&yard, "apple");
    assert_eq!(apples.iter().map(|apple| apple.owner).collect::<Vec<_>>(), [Some(public(1))]);
    assert_eq!(remembered(&yard, "refused"), Value::Int(1), "the share is a tree and an apple");
    let log = (0..2).flat_map(|_| {
        yard.act(2, Act::Touch { object: tree });
        yard.play().log
    });
    let log: Vec<String> = log.map(|line| line.text).collect();
    assert_eq!(log, ["spawn is refused: the owner has as many objects as one player may have"; 2]);
}

#[test]
fn scripts_spawn_only_where_their_owner_may_build_and_where_nobody_stands() {
    let closed = |title: Title| {
        let mut builder = Builder::new();
        let area = Area { low: vec2(-1, 1), high: vec2(5, 5) };
        builder.genesis.lands.push(Land { name: "bed".to_owned(), area, title });
        own_tree(&mut builder, TREE)
    };
    for (title, apples) in [(Title::Sim, 0), (Title::Open, 1), (Title::Player(public(1)), 1)] {
        let (mut yard, tree) = closed(title);
        touch(&mut yard, 1, tree);
        assert_eq!(called(&yard, "apple").len(), apples, "{title:?}");
        assert_eq!(count(&remembered(&yard, "apples")), apples, "{title:?}");
    }
    let (mut yard, tree) = closed(Title::Open);
    // Around the tree, wherever the dice let player 2 appear.
    let here = yard.position(yard.avatar(2));
    let side = if here.x < Fx::from_int(2) { -5 } else { 5 };
    yard.walk_to(2, Vec2::new(Fx::from_int(side), here.y));
    yard.walk_to(2, vec2(side, 5));
    yard.walk_to(2, vec2(2, 5));
    yard.walk_to(2, vec2(2, 2));
    touch(&mut yard, 1, tree);
    assert!(called(&yard, "apple").is_empty(), "somebody stands there");
}

#[test]
fn one_thing_spawns_a_bounded_number() {
    // One a tick, so that each answer is handled before the next one comes.
    let flood = "fn on_start() { state.refused = 0; state.apples = 0; timer(\"next\", 0); }
        fn on_timer(name) { spawn(#{ name: \"apple\" }); timer(\"next\", 0); }
        fn on_spawn(thing) { if thing == () { state.refused += 1; } else { state.apples += 1; } }";
    let (mut yard, _) = orchard(flood);

    yard.idle(200);

    assert_eq!(called(&yard, "apple").len(), SPAWNED_PER_OBJECT_MAX);
    assert_eq!(remembered(&yard, "apples"), Value::Int(SPAWNED_PER_OBJECT_MAX as i64));
    assert!(matches!(remembered(&yard, "refused"), Value::Int(1..)));
}

#[test]
fn what_a_deleted_thing_spawned_goes_a_few_a_tick_and_in_a_restored_world_alike() {
    let (mut yard, tree) = own_tree(&mut Builder::new(), TREE);
    (0..20).for_each(|_| touch(&mut yard, 1, tree));
    assert_eq!(called(&yard, "apple").len(), 20);

    assert_eq!(built(&mut yard, 1, Build::Delete { object: tree }), Outcome::Ok);

    let ticks = yard.world.parameters().ticks_per_turn as usize;
    assert_eq!(called(&yard, "apple").len(), 20 - ORPHANS_PER_TICK * ticks);
    let tools = Tools::new(std::sync::Arc::new(metatopia_types::Ed25519));
    let snapshot = yard.world.snapshot();
    let restored = World::from_snapshot(&snapshot, yard.world.root(), &tools);
    let mut restored = restored.unwrap();
    yard.play();
    let turn = yard.log.last().expect("a turn was played");
    assert_eq!(restored.apply(turn, &metatopia_sim::Serial).root, yard.world.root());
    yard.idle(2);
    assert!(called(&yard, "apple").is_empty());
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn a_thing_that_comes_back_keeps_what_is_left_of_its_own() {
    let (mut yard, tree) = own_tree(&mut Builder::new(), TREE);
    (0..20).for_each(|_| touch(&mut yard, 1, tree));
    assert_eq!(built(&mut yard, 1, Build::Delete { object: tree }), Outcome::Ok);
    let left = called(&yard, "apple").len();

    assert_eq!(built(&mut yard, 1, Build::Undo { skip: 0 }), Outcome::Ok);

    yard.idle(5);
    assert_eq!(called(&yard, "apple").len(), left);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn what_is_given_away_stays_and_is_no_longer_the_scripts() {
    let (mut yard, tree) = own_tree(&mut Builder::new(), TREE);
    touch(&mut yard, 1, tree);
    let apple = called(&yard, "apple")[0].id;
    let give = Build::Give { object: apple, to: public(2) };
    assert_eq!(built(&mut yard, 1, give), Outcome::Ok);

    yard.say(1, 0, "drop one");
    yard.idle(3);
    assert_eq!(built(&mut yard, 1, Build::Delete { object: tree }), Outcome::Ok);
    yard.idle(5);

    let owners: Vec<Option<PublicKey>> =
        called(&yard, "apple").iter().map(|apple| apple.owner).collect();
    assert_eq!(owners, [Some(public(2))]);
    let failures: u64 = yard.world.scripts().map(|script| script.failures).sum();
    assert_eq!(failures, 0, "the script is gone with the tree");
}

#[test]
fn scripts_find_things_of_their_owner_by_name() {
    let finder = "fn on_touch(other) { state.found = find(\"block\"); }";
    let (mut yard, own) = own_tree(&mut Builder::new(), finder);
    let mine = place(&mut yard, 1, block(2, 3));
    place(&mut yard, 2, block(-2, 3));

    touch(&mut yard, 1, own);

    // The thing that looks is a block too, and another player's block is not of its owner.
    assert_eq!(remembered(&yard, "found"), Value::Array(vec![Value::Object(mine)]));
}

#[test]
fn a_script_finds_what_is_among_the_oldest_things_of_the_sims_own() {
    let mut builder = Builder::new();
    let finder =
        "fn on_touch(other) { state.early = find(\"early\"); state.late = find(\"late\"); }";
    let package = builder.package("finder", finder);
    let thing = builder.thing(Motion::Static, (2, 0), &[package]);
    for n in 0..NAMED_LOOKED_MAX {
        let (x, y) = (n % 100, n / 100);
        builder.thing(Motion::Static, (x as i32 * 2 - 100, y as i32 * 2 + 20), &[]);
    }
    let last = builder.genesis.objects.len() - 1;
    (builder.genesis.objects[last - 1].name, builder.genesis.objects[last].name) =
        ("early".to_owned(), "late".to_owned());
    let mut yard = site(&mut builder);

    touch(&mut yard, 1, thing);

    let early = ObjectId(last as u64);
    assert_eq!(remembered(&yard, "early"), Value::Array(vec![Value::Object(early)]));
    assert_eq!(remembered(&yard, "late"), Value::Array(Vec::new()), "it is one too far");
}

#[test]
fn scripts_know_people_and_owners_by_keys_that_stay_from_visit_to_visit() {
    let source = "fn on_touch(other) {
        state.seen = state.seen ?? [];
        state.seen.push(other.player); state.owner = self_.owner; state.none = self_.player ?? \"none\";
    }";
    let (mut yard, tree) = own_tree(&mut Builder::new(), source);
    touch(&mut yard, 2, tree);
    yard.act(2, Act::Leave);
    yard.play();
    yard.login(2);
    yard.play();
    touch(&mut yard, 2, tree);

    let key = |n: u8| Value::Text(public(n).to_string());
    assert_eq!(remembered(&yard, "seen"), Value::Array(vec![key(2), key(2)]));
    assert_eq!(remembered(&yard, "owner"), key(1));
    assert_eq!(remembered(&yard, "none"), Value::Text("none".to_owned()));
}

#[test]
fn a_flood_of_spawned_things_stops_no_timer_of_its_script() {
    let names: String = (0..16).map(|n| format!("timer(\"t{n}\", 0.2); ")).collect();
    let flood = format!(
        "fn on_start() {{ state.rang = 0; {names} }}
         fn on_timer(name) {{ state.rang += 1; timer(name, 0.2); for n in 0..12 {{ spawn(#{{}}); }} }}
         fn on_spawn(thing) {{ if thing != () {{ despawn(thing); }} }}"
    );
    let mut builder = Builder::new();
    builder.genesis.parameters.gas.script_refill = 100_000;
    let package = builder.package("flood", &flood);
    builder.thing(Motion::Static, (2, 0), &[package]);
    let mut yard = site(&mut builder);

    yard.idle(400);

    let flooding = script(&yard.world, 1);
    let is_timer =
        |queued: &&QueuedEvent| matches!(queued.event, metatopia_scripting::Event::Timer { .. });
    let waiting = flooding.inbox.waiting().filter(is_timer).count();
    assert_eq!(flooding.timers.len() + waiting, 16, "no timer was lost");
    assert!(matches!(remembered(&yard, "rang"), Value::Int(50..)));
}

#[test]
fn what_a_thing_spawned_before_it_was_given_away_stays_with_its_owner() {
    let (mut yard, tree) = own_tree(&mut Builder::new(), TREE);
    touch(&mut yard, 1, tree);
    assert_eq!(built(&mut yard, 1, Build::Give { object: tree, to: public(2) }), Outcome::Ok);
    assert_eq!(built(&mut yard, 2, Build::Delete { object: tree }), Outcome::Ok);
    yard.idle(5);

    let apples = called(&yard, "apple");
    assert_eq!(apples.iter().map(|apple| apple.owner).collect::<Vec<_>>(), [Some(public(1))]);
    assert_eq!(apples[0].spawner, None);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

/// A tree that spawns balls around itself at the first touch: it pushes two away from it with one impulse,
/// and two at itself.
const BALLS: &str = r#"
    fn on_start() { state.begun = false; }
    fn on_touch(other) {
        if state.begun { return; }
        state.begun = true;
        ball("heavy", #{ density: 30, pos: self_.pos + vec2(2, 1) });
        ball("light", #{ density: 15, pos: self_.pos + vec2(2, -1) });
        ball("dull", #{ pos: self_.pos + vec2(0, 2) });
        ball("lively", #{ restitution: 1, pos: self_.pos + vec2(0, -2) });
    }
    fn ball(name, fields) {
        fields.name = name; fields.tag = name; fields.radius = 0.25; fields.movable = true;
        spawn(fields);
    }
    fn on_spawn(thing, tag) {
        let at_tree = tag == "dull" || tag == "lively";
        push(thing, if at_tree { (self_.pos - thing.pos) * 25 } else { vec2(10, 0) });
    }
"#;

#[test]
fn a_spawned_thing_is_of_the_material_that_its_script_says() {
    let (mut yard, tree) = orchard(BALLS);
    touch(&mut yard, 1, tree);
    yard.idle(20);

    let way = |name| {
        let found = called(&yard, name);
        let [ball] = found.as_slice() else { panic!("{name}: {found:?}") };
        ball.position.saturating_sub(vec2(2, 0))
    };
    let two = Fx::from_int(2);
    let [heavy, light] = ["heavy", "light"].map(|name| way(name).x.saturating_sub(two));
    let off = light.saturating_sub(heavy).saturating_sub(heavy).saturating_abs();
    assert!(heavy > Fx::HALF && off < Fx::from_ratio(1, 20), "half of the mass: {heavy}, {light}");
    let [dull, lively] = ["dull", "lively"].map(|name| way(name).length());
    assert!(dull.saturating_add(Fx::HALF) < lively, "it bounces: {dull}, {lively}");
    assert_eq!(yard.world.root(), yard.world.rehash());
}
