//! Luggage: what is put away has no place, counts as if it had one, and comes back as it was.

use std::collections::BTreeMap;

use metatopia_math::{Fx, Vec2};
use metatopia_physics::Motion;
use metatopia_scripting::{ScriptState, Value};
use metatopia_sim::{LeafEntry, Serial, StateRestoreError, World, limits::LUGGAGE_PER_AUTHOR_MAX};
use metatopia_types::{
    Act, Blueprint, Build, BuiltJoint, Companions, Digest, GovernOrder, LeafKey, Look, ObjectId,
    Origin, Outcome, Parcel, Pass, Refusal, Rotation, TravellingThing,
};

use crate::{
    building::{block, built, place, refused, site},
    byte_budget::{leave, script},
    succession::successor,
    undo_of::{ADA, MODERATOR, PEST, Scene, build, recorded, scene, undo},
    undoing::restored,
    yard::{Builder, Yard, key, public, vec2},
};

const ADMIN: u8 = 100;

/// Counts how often it came from somewhere, and what waits for it.
const COUNTER: &str = r#"
fn on_start() { state.n = 1; state.friend = self_; timer("later", 60.0); }
fn on_arrive() { state.n += 10; }
fn on_timer(name) { state.rang = name; }
"#;

/// Says what becomes of the thing that touched it last.
const WATCHER: &str = r#"
fn on_message(from, topic, data) { state.friend = from; }
fn on_touch(who) { state.seen = presence(state.friend); send(state.friend, "hello", 1); }
fn on_undelivered(to, topic, why) { state.why = why; }
"#;

fn stow(yard: &mut Yard, n: u8, object: ObjectId) -> Outcome {
    built(yard, n, Build::Stow { object })
}

fn fetch(yard: &mut Yard, n: u8, object: ObjectId, x: i32, y: i32) -> Outcome {
    built(yard, n, Build::Fetch { object, position: vec2(x, y) })
}

/// A crate that can be pushed.
fn crate_at(x: i32, y: i32) -> Blueprint {
    Blueprint { name: "crate".to_owned(), movable: true, ..block(x, y) }
}

/// The numbers of what somebody has in luggage.
fn luggage(world: &World, n: u8) -> Vec<ObjectId> {
    world.luggage(&public(n)).map(|thing| thing.id).collect()
}

fn is_here(yard: &Yard, id: ObjectId) -> bool {
    yard.world.object(id).is_some()
}

/// Returns what the script of this number remembers under a name.
fn remembered(yard: &Yard, id: u64, name: &str) -> Option<Value> {
    let ScriptState(all) = (*script(&yard.world, id).state).clone();
    all.get(name).cloned()
}

/// A yard with a thing of player 1's that counts.
fn counting() -> (Builder, Yard, ObjectId) {
    let mut builder = Builder::new();
    let counter = builder.package("counter", COUNTER);
    let id = builder.thing(Motion::Dynamic, (3, 0), &[counter]);
    builder.genesis.objects[0].owner = Some(public(1));
    let mut yard = site(&mut builder);
    yard.idle(2);
    (builder, yard, id)
}

#[test]
fn what_is_put_away_has_no_place_and_is_fetched_with_its_number_and_all_that_it_remembers() {
    let (builder, mut yard, id) = counting();
    let origin = yard.world.object(id).expect("it is there").origin;
    assert_eq!(stow(&mut yard, 1, id), Outcome::Ok);
    assert!(!is_here(&yard, id) && yard.world.scripts().count() == 0);
    assert!(yard.world.leaf(&LeafKey(format!("luggage/{id}"))).is_some());
    let told = yard.world.luggage(&public(1)).next().expect("one thing");
    assert_eq!((told.id, told.movable, told.packages.len()), (id, true, 1));
    assert_eq!(luggage(&yard.world, 2), []);
    yard.check_leaves();
    let mut twin = restored(&builder, &yard.world);
    yard.idle(3);

    assert_eq!(fetch(&mut yard, 1, id, 0, 3), Outcome::Ok);
    yard.idle(2);

    let thing = yard.world.object(id).expect("it is there");
    assert_eq!((thing.position, thing.owner, thing.origin), (vec2(0, 3), Some(public(1)), origin));
    assert_eq!(
        remembered(&yard, 2, "n"),
        Some(Value::Int(11)),
        "it was told, and began nothing anew"
    );
    assert_eq!(remembered(&yard, 2, "friend"), Some(Value::Object(id)));
    assert!(yard.world.leaf(&LeafKey(format!("luggage/{id}"))).is_none());
    assert_eq!(luggage(&yard.world, 1), []);
    // The time that its timer had left did not pass in luggage.
    assert_eq!(script(&yard.world, 2).timers.len(), 1);
    yard.check_leaves();
    // A server that was restored in between goes on in the same way.
    for turn in &yard.log[yard.log.len() - 6..] {
        twin.apply(turn, &Serial);
    }
    assert_eq!(twin.root(), yard.world.root());
}

#[test]
fn only_the_owner_of_a_thing_puts_it_away_and_fetches_it() {
    let mut yard = site(&mut Builder::new());
    let (own, wall) = (place(&mut yard, 1, crate_at(3, 0)), place(&mut yard, 1, block(0, 4)));
    let avatar = yard.avatar(2);
    assert_eq!(stow(&mut yard, 2, own), refused(Refusal::NotYours));
    assert_eq!(stow(&mut yard, 1, avatar), refused(Refusal::Person));
    assert_eq!(stow(&mut yard, 1, ObjectId(999)), refused(Refusal::NoObject));
    assert_eq!(fetch(&mut yard, 1, own, 0, 3), refused(Refusal::AlreadySo));
    assert_eq!(fetch(&mut yard, 1, ObjectId(999), 0, 3), refused(Refusal::NoObject));

    // An admin has other ways to remove a thing, which leave a trace.
    assert_eq!(stow(&mut yard, ADMIN, own), refused(Refusal::NotYours));
    assert_eq!(stow(&mut yard, 1, own), Outcome::Ok);
    assert_eq!(stow(&mut yard, 1, wall), Outcome::Ok, "what nobody can push is put away too");

    assert_eq!(luggage(&yard.world, 1), [own, wall]);
    for n in [2, ADMIN] {
        assert_eq!(fetch(&mut yard, n, own, 0, 3), refused(Refusal::NotYours));
    }
    assert_eq!(fetch(&mut yard, 1, own, 25, 25), refused(Refusal::OutOfReach));
    let standing = yard.position(avatar);
    let on_her = Build::Fetch { object: wall, position: standing };
    assert_eq!(built(&mut yard, 1, on_her), refused(Refusal::KeptClear));
    assert_eq!(fetch(&mut yard, 1, wall, 0, 4), Outcome::Ok);
    let seen = yard.world.object(wall).expect("it is there");
    assert_eq!((seen.position, seen.movable), (vec2(0, 4), false));
    yard.check_leaves();
}

#[test]
fn what_is_held_fast_here_goes_into_no_luggage() {
    let mut builder = Builder::new();
    let sims = builder.thing(Motion::Dynamic, (0, -3), &[]);
    let mut yard = site(&mut builder);
    let (first, second) =
        (place(&mut yard, 1, crate_at(3, 0)), place(&mut yard, 1, crate_at(3, 2)));
    assert_eq!(stow(&mut yard, ADMIN, sims), refused(Refusal::HeldFast), "nobody owns it");
    // Somebody else holds it.
    assert_eq!(built(&mut yard, ADMIN, Build::Take { object: first }), Outcome::Ok);
    assert_eq!(stow(&mut yard, 1, first), refused(Refusal::Held));
    let there = vec2(3, 0);
    assert_eq!(
        built(&mut yard, ADMIN, Build::PutDown { object: first, position: there }),
        Outcome::Ok
    );
    // A joint holds it.
    let (to, at, kind) = (Some(second), vec2(3, 1), BuiltJoint::Weld);
    assert_eq!(built(&mut yard, 1, Build::Join { object: first, to, at, kind }), Outcome::Ok);
    assert_eq!(stow(&mut yard, 1, first), refused(Refusal::Joined));
    assert_eq!(built(&mut yard, 1, Build::Unjoin { object: first, from: None }), Outcome::Ok);
    // A moderator stopped it.
    let freeze = Act::Govern(GovernOrder::Freeze { object: first });
    assert_eq!(yard.try_act(ADMIN, freeze), Outcome::Ok);
    assert_eq!(stow(&mut yard, 1, first), refused(Refusal::Frozen));
    // What one holds goes from the hands into luggage.
    assert_eq!(built(&mut yard, 1, Build::Take { object: second }), Outcome::Ok);
    assert_eq!(stow(&mut yard, 1, second), Outcome::Ok);
    assert_eq!(yard.world.in_hands_of(yard.avatar(1)).count(), 0);
    yard.check_leaves();
}

#[test]
fn nothing_is_done_to_what_is_in_luggage_and_scripts_are_told_that_it_is_away() {
    let mut builder = Builder::new();
    let caller = "fn on_start() { for o in find(\"watcher\") { send(o, \"me\", 1); } }";
    let caller = builder.package("caller", caller);
    let watcher = builder.package("watcher", WATCHER);
    let id = builder.thing(Motion::Dynamic, (3, 0), &[caller]);
    let eye = builder.thing(Motion::Static, (0, 3), &[watcher]);
    for object in &mut builder.genesis.objects {
        object.owner = Some(public(1));
    }
    builder.genesis.objects[1].name = "watcher".to_owned();
    let mut yard = site(&mut builder);
    yard.idle(2);
    assert_eq!(stow(&mut yard, 1, id), Outcome::Ok);
    for step in [
        Build::Stow { object: id },
        Build::Take { object: id },
        Build::Rename { object: id, name: "other".to_owned() },
        Build::Give { object: id, to: public(2) },
    ] {
        assert_eq!(built(&mut yard, 1, step.clone()), refused(Refusal::Away), "{step:?}");
    }
    assert_eq!(yard.try_act(2, Act::Touch { object: eye }), Outcome::Ok);
    yard.idle(2);
    for told in ["seen", "why"] {
        assert_eq!(remembered(&yard, 2, told), Some(Value::Text("away".to_owned())), "{told}");
    }
}

#[test]
fn what_is_in_luggage_counts_in_the_quotas_of_its_owner() {
    let mut builder = Builder::new();
    let building = &mut builder.genesis.parameters.building;
    (building.objects_per_player, building.movable_per_player) = (2, 1);
    let mut yard = site(&mut builder);
    let (ball, wall) = (place(&mut yard, 1, crate_at(3, 0)), place(&mut yard, 1, block(0, 4)));
    assert_eq!(stow(&mut yard, 1, ball), Outcome::Ok);
    assert_eq!(stow(&mut yard, 1, wall), Outcome::Ok);
    let third = Build::Place(block(-3, 0));
    assert_eq!(built(&mut yard, 1, third.clone()), refused(Refusal::TooManyObjects));
    assert_eq!(fetch(&mut yard, 1, wall, 0, 4), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, Build::Delete { object: wall }), Outcome::Ok);
    let movable = Build::Place(crate_at(-3, 0));
    assert_eq!(built(&mut yard, 1, movable), refused(Refusal::TooManyMovable));
    assert_eq!(built(&mut yard, 1, Build::Undo { skip: 0 }), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, third), refused(Refusal::TooManyObjects));
    yard.check_leaves();
}

#[test]
fn a_full_state_takes_nothing_into_luggage_and_gives_nothing_back() {
    let (_, mut yard, id) = counting();
    let bound = leave(&mut yard.world, 1_000);
    assert_eq!(stow(&mut yard, 1, id), refused(Refusal::Full));
    yard.world.limit_bytes(bound + 100_000);
    assert_eq!(stow(&mut yard, 1, id), Outcome::Ok);
    leave(&mut yard.world, 1_000);
    assert_eq!(fetch(&mut yard, 1, id, 0, 3), refused(Refusal::Full));
    assert_eq!(luggage(&yard.world, 1), [id]);
    leave(&mut yard.world, 100_000);
    assert_eq!(fetch(&mut yard, 1, id, 0, 3), Outcome::Ok);
}

#[test]
fn the_key_that_takes_the_place_of_another_has_its_luggage() {
    let (builder, mut yard, id) = counting();
    assert_eq!(stow(&mut yard, 1, id), Outcome::Ok);
    let rotation = Pass::Rotation(Rotation::new(&key(1), &key(11), 1));
    let (name, look) = ("player 1".to_owned(), Look::default());
    let login = Act::Login { name, look, bot: false, pass: Some(rotation) };
    assert_eq!(yard.try_act(11, login), Outcome::Ok);
    assert_eq!((luggage(&yard.world, 1), luggage(&yard.world, 11)), (Vec::new(), vec![id]));
    yard.check_leaves();
    assert_eq!(restored(&builder, &yard.world).root(), yard.world.root());
    let here = yard.position(yard.avatar(11));
    let position = here.saturating_add(Vec2::new(Fx::from_int(3), Fx::ZERO));
    assert_eq!(built(&mut yard, 11, Build::Fetch { object: id, position }), Outcome::Ok);
    assert_eq!(yard.world.object(id).and_then(|thing| thing.owner), Some(public(11)));
}

#[test]
fn a_successor_keeps_the_luggage_of_its_people() {
    let (builder, mut yard, id) = counting();
    assert_eq!(stow(&mut yard, 1, id), Outcome::Ok);
    let genesis = successor(&yard.world);
    let world = World::succeed(&genesis, &yard.world, &builder.tools()).expect("a successor");
    assert_eq!(luggage(&world, 1), [id]);
    let born = Origin { sim: yard.world.sim(), number: id };
    let mut after = Yard::of(world);
    after.check_leaves();
    after.login(1);
    after.play();
    assert_eq!(fetch(&mut after, 1, id, 0, 3), Outcome::Ok);
    let thing = after.world.object(id).expect("it is there");
    assert_eq!((thing.origin, thing.owner), (born, Some(public(1))));
    after.idle(2);
    assert_eq!(after.world.root(), after.world.rehash());
}

#[test]
fn what_a_moderator_returns_goes_into_luggage_where_its_owner_has_no_ground() {
    let (_, mut yard, id) = counting();
    let back = Act::Govern(GovernOrder::Return { object: id });
    let freeze = Act::Govern(GovernOrder::Freeze { object: id });
    assert_eq!(yard.try_act(ADMIN, freeze), Outcome::Ok);
    let bound = leave(&mut yard.world, 1_000);
    assert_eq!(yard.try_act(ADMIN, back.clone()), refused(Refusal::Full));
    yard.world.limit_bytes(bound + 100_000);
    assert_eq!(yard.try_act(ADMIN, back.clone()), Outcome::Ok);
    assert_eq!(luggage(&yard.world, 1), [id]);
    assert_eq!(yard.try_act(ADMIN, back), refused(Refusal::Away));
    assert_eq!(fetch(&mut yard, 1, id, 0, 3), Outcome::Ok);
    yard.idle(1);
    assert!(script(&yard.world, 2).suspended.is_some(), "its owner has it run again");
    yard.check_leaves();
}

/// Spam that went through luggage was no longer traced, and no undo of its maker's acts reached it.
#[test]
fn what_was_fetched_is_put_away_again_when_the_acts_of_its_owner_are_undone() {
    let Scene { mut yard, .. } = scene();
    let spam = place(&mut yard, PEST, block(8, 6));
    build(&mut yard, PEST, Build::Stow { object: spam });
    assert_eq!(undo(&mut yard, MODERATOR, 3_600), refused(Refusal::NothingToUndo));
    build(&mut yard, PEST, Build::Fetch { object: spam, position: vec2(8, 6) });
    build(&mut yard, PEST, Build::Recolor { object: spam, color: 7 });
    // What luggage has no room for stays, and so does its trace.
    let bound = leave(&mut yard.world, 1_000);
    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);
    assert_eq!((recorded(&yard), is_here(&yard, spam)), ((0, 1), true));
    yard.world.limit_bytes(bound + 100_000);
    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);
    assert_eq!(recorded(&yard), (1, 0));
    assert_eq!((is_here(&yard, spam), luggage(&yard.world, PEST)), (false, vec![spam]));
    yard.check_leaves();
}

/// What a thief fetched and deleted left no trace: it was taken for what the thief had made.
#[test]
fn what_was_fetched_and_deleted_is_restored_by_an_undo() {
    let Scene { mut yard, .. } = scene();
    let old = place(&mut yard, PEST, block(8, 6));
    build(&mut yard, PEST, Build::Stow { object: old });
    build(&mut yard, PEST, Build::Fetch { object: old, position: vec2(8, 6) });
    build(&mut yard, PEST, Build::Delete { object: old });
    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);
    assert_eq!((recorded(&yard), is_here(&yard, old)), ((1, 0), true));
    yard.check_leaves();
}

/// Whoever may change things of others hid what she had done to one by putting it away: its trace was gone.
#[test]
fn nobody_hides_a_trace_by_putting_a_thing_of_somebody_else_away() {
    let Scene { mut yard, wall, .. } = scene();
    build(&mut yard, PEST, Build::Recolor { object: wall, color: 7 });
    assert_eq!(built(&mut yard, PEST, Build::Stow { object: wall }), refused(Refusal::NotYours));
    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);
    assert_eq!(recorded(&yard), (1, 0));
    assert_eq!(luggage(&yard.world, ADA), []);
}

/// Nothing emptied the luggage of who never came back: with the keys of many the places of all things were taken.
#[test]
fn what_is_in_luggage_is_deleted_by_its_owner_and_by_who_may_build_with_everything() {
    let Scene { mut yard, lamp, wall } = scene();
    yard.walk_to(ADA, vec2(7, -1));
    for object in [lamp, wall] {
        build(&mut yard, ADA, Build::Stow { object });
    }
    assert_eq!(luggage(&yard.world, ADA), [lamp, wall]);
    let discard = |object| Build::Discard { object };
    assert_eq!(built(&mut yard, MODERATOR, discard(lamp)), refused(Refusal::NotYours));
    assert_eq!(
        built(&mut yard, PEST, discard(lamp)),
        Outcome::Ok,
        "a role lets her, and it is recorded"
    );
    let told = format!("{:?}", yard.world.orders().last().expect("an order").1.deed);
    assert!(told.contains("discard"), "{told}");
    assert_eq!(built(&mut yard, ADA, discard(wall)), Outcome::Ok);
    assert_eq!(built(&mut yard, ADA, discard(wall)), refused(Refusal::NoObject));
    assert_eq!((luggage(&yard.world, ADA).len(), yard.world.all_luggage().count()), (0, 0));
    yard.check_leaves();
}

/// A server that was restored took who had only luggage for somebody to be forgotten, and stopped when she was.
#[test]
fn who_has_luggage_alone_is_not_forgotten_by_a_restored_server_either() {
    let (_, mut yard, id) = counting();
    assert_eq!(stow(&mut yard, 1, id), Outcome::Ok);
    assert_eq!(yard.try_act(1, Act::Leave), Outcome::Ok);
    yard.check_leaves();
    assert_eq!(built(&mut yard, ADMIN, Build::Discard { object: id }), Outcome::Ok);
    yard.check_leaves();
}

/// Somebody put a chair away and typed `delete chair` at once, which meant another one: the first was gone for good.
#[test]
fn to_delete_means_what_stands_there_and_to_discard_what_is_in_luggage() {
    let mut yard = site(&mut Builder::new());
    let chair = place(&mut yard, 1, crate_at(3, 0));
    let discard = Build::Discard { object: chair };
    assert_eq!(built(&mut yard, 1, discard.clone()), refused(Refusal::NoObject));
    assert_eq!(stow(&mut yard, 1, chair), Outcome::Ok);
    let position = vec2(3, 3);
    for build in [
        Build::Delete { object: chair },
        Build::Copy { object: chair, position },
        Build::PutDown { object: chair, position },
        Build::Move { object: chair, position },
    ] {
        assert_eq!(built(&mut yard, 1, build), refused(Refusal::Away));
    }
    assert_eq!(built(&mut yard, 1, discard), Outcome::Ok);
    assert_eq!(luggage(&yard.world, 1), []);
    yard.check_leaves();
}

#[test]
fn so_many_acts_about_luggage_are_looked_at_in_a_turn_and_refused_ones_count() {
    let mut yard = site(&mut Builder::new());
    let things = [(1, 3), (2, -3)].map(|(n, x)| {
        let object = place(&mut yard, n, crate_at(x, 0));
        let (to, at, kind) = (None, vec2(x, 0), BuiltJoint::Hinge);
        assert_eq!(built(&mut yard, n, Build::Join { object, to, at, kind }), Outcome::Ok);
        Act::Build(Build::Stow { object })
    });
    let mut acts = Vec::new();
    for _ in 0..=LUGGAGE_PER_AUTHOR_MAX {
        acts.push(yard.act(1, things[0].clone()));
    }
    let other = yard.act(2, things[1].clone());
    yard.play();
    let outcomes: Vec<Outcome> = acts.iter().map(|act| yard.outcome(act)).collect();
    let (last, first) = outcomes.split_last().expect("several");
    assert!(first.iter().all(|outcome| *outcome == refused(Refusal::Joined)), "{first:?}");
    assert_eq!(*last, refused(Refusal::TooOften));
    assert_eq!(yard.outcome(&other), refused(Refusal::Joined), "others are looked at");
}

#[test]
fn a_snapshot_whose_luggage_is_none_is_refused_even_under_its_own_root() {
    let (builder, mut yard, id) = counting();
    assert_eq!(stow(&mut yard, 1, id), Outcome::Ok);
    let manifest = yard.world.manifest();
    let leaf = |entry: &LeafEntry| (entry.hash, yard.world.leaf(&entry.key).expect("there"));
    let contents: BTreeMap<Digest, Vec<u8>> = manifest.leaves.iter().map(leaf).collect();
    let changed = |key: String, content: Option<Vec<u8>>| {
        let (mut manifest, mut contents) = (manifest.clone(), contents.clone());
        let own = format!("luggage/{id}");
        let entry = manifest.leaves.iter_mut().find(|entry| entry.key.0 == own);
        let entry = entry.expect("the leaf of the thing");
        entry.key.0 = key;
        if let Some(content) = content {
            entry.hash = Digest(*blake3::hash(&content).as_bytes());
            entry.bytes = u32::try_from(content.len()).expect("few bytes");
            contents.insert(entry.hash, content);
        }
        manifest.leaves.sort_by(|a, b| a.key.cmp(&b.key));
        World::restore(&manifest, &contents, manifest.root(), &builder.tools()).err()
    };
    let own = yard.world.leaf(&LeafKey(format!("luggage/{id}"))).expect("the leaf");
    let Ok(Parcel::Thing(thing, _)) = Parcel::decode(&own) else { panic!("a thing") };
    let other = |change: &dyn Fn(&mut TravellingThing)| {
        let mut thing = thing.clone();
        change(&mut thing);
        Parcel::Thing(thing, Companions::default()).encode()
    };
    let far = ObjectId(9_999);
    for (key, content) in [
        ("luggage/3".to_owned(), None),
        (format!("luggage/{id}"), Some(vec![7; 9])),
        (format!("luggage/{id}"), Some(other(&|thing| thing.owner = None))),
        (format!("luggage/{id}"), Some(other(&|thing| thing.body.clear()))),
        (format!("luggage/{id}"), Some(other(&|thing| thing.name = "two\nlines".to_owned()))),
        (format!("luggage/{far}"), Some(other(&|thing| thing.handle = far))),
        // The avatar of player 1 has this number.
        ("luggage/2".to_owned(), Some(other(&|thing| thing.handle = ObjectId(2)))),
    ] {
        let why = changed(key.clone(), content);
        assert_eq!(why, Some(StateRestoreError::NotCanonical), "{key}");
    }
    let stray = "luggage/01".to_owned();
    let unknown = StateRestoreError::UnknownLeaf(LeafKey(stray.clone()));
    assert_eq!(changed(stray, None), Some(unknown));
    assert_eq!(changed(format!("luggage/{id}"), None), None);
}
