//! Taking back what one built.

use std::collections::BTreeMap;

use metatopia_math::{Angle, Fx, Stream, Vec2};
use metatopia_physics::Motion;
use metatopia_scripting::{Event, EventKind, ScriptOutput, Value};
use metatopia_sim::{LeafEntry, Serial, World, WorldObject, limits::UNDO_ENTRIES_MAX};
use metatopia_types::{
    Act, Blueprint, Build, Digest, ObjectId, Outcome, Outline, PackageId, Refusal,
    limits::LEAF_BYTES_MAX,
};

use crate::{
    building::{block, built, place, site},
    yard::{Builder, Yard, public, vec2},
};

fn undo(yard: &mut Yard, n: u8) -> Outcome {
    built(yard, n, Build::Undo { skip: 0 })
}

fn refused(why: Refusal) -> Outcome {
    Outcome::Refused(why)
}

/// Returns a thing but for who changed it last, because an undo is a change of its own.
fn but_for_change(seen: WorldObject) -> WorldObject {
    WorldObject { changed: None, ..seen }
}

fn seen(yard: &Yard, id: ObjectId) -> Option<WorldObject> {
    yard.world.object(id).map(but_for_change)
}

/// A package that counts its starts and touches, and writes nothing on its object.
fn counting(builder: &mut Builder) -> PackageId {
    builder.port("counting", &[EventKind::Start, EventKind::Touch], |call| {
        let mut part = ScriptOutput { gas: 10, ..ScriptOutput::default() };
        let mut state = (**call.state).clone();
        let key = if *call.event == Event::Start { "starts" } else { "touches" };
        let count = match state.0.get(key) {
            Some(Value::Int(count)) => *count,
            _ => 0,
        };
        state.0.insert(key.to_owned(), Value::Int(count + 1));
        part.state = Some(state);
        Ok(part)
    })
}

#[test]
fn each_deed_is_taken_back_by_an_undo() {
    let mut builder = Builder::new();
    let package = counting(&mut builder);
    let mut yard = site(&mut builder);
    let id = place(&mut yard, 1, Blueprint { angle: Angle::from_bits(12_345), ..block(3, 4) });
    let outline = Outline::Disc { radius: Fx::ONE };
    for build in [
        Build::Move { object: id, position: vec2(-3, 2) },
        Build::Rotate { object: id, angle: Angle::from_bits(987_654_321) },
        Build::Resize { object: id, outline },
        Build::Recolor { object: id, color: 0x0000_ff00 },
        Build::Rename { object: id, name: "fountain".to_owned() },
        Build::Write { object: id, text: "clear water".to_owned() },
        Build::Attach { object: id, package },
        Build::Delete { object: id },
    ] {
        let before = seen(&yard, id).expect("it is there");
        assert_eq!(built(&mut yard, 1, build.clone()), Outcome::Ok);
        assert_ne!(seen(&yard, id), Some(before.clone()), "{build:?}");

        assert_eq!(undo(&mut yard, 1), Outcome::Ok);
        assert_eq!(seen(&yard, id), Some(before), "{build:?}");
        assert_eq!(yard.world.root(), yard.world.rehash());
        if !matches!(build, Build::Delete { .. }) {
            assert_eq!(built(&mut yard, 1, build), Outcome::Ok, "done again for the next one");
        }
    }
}

#[test]
fn a_thing_that_was_deleted_comes_back_with_scripts_that_begin_anew() {
    let mut builder = Builder::new();
    let package = counting(&mut builder);
    let mut yard = site(&mut builder);
    let id = place(&mut yard, 1, block(1, 2));
    assert_eq!(built(&mut yard, 1, Build::Attach { object: id, package }), Outcome::Ok);
    assert_eq!(yard.try_act(1, Act::Touch { object: id }), Outcome::Ok);
    let before = seen(&yard, id);

    assert_eq!(built(&mut yard, 1, Build::Delete { object: id }), Outcome::Ok);
    assert_eq!(undo(&mut yard, 1), Outcome::Ok);

    assert_eq!(seen(&yard, id), before);
    let key = metatopia_types::LeafKey(format!("script/{}", before.expect("there").scripts[0].0));
    let shown = metatopia_sim::show(&key, &yard.world.leaf(&key).expect("it runs again"));
    assert!(shown.contains("\"starts\": Int(\n"), "{shown}");
    assert!(!shown.contains("touches"), "{shown}");
}

#[test]
fn a_script_that_was_taken_off_comes_back_once_even_within_one_turn() {
    let mut builder = Builder::new();
    let package = counting(&mut builder);
    let mut yard = site(&mut builder);
    let id = place(&mut yard, 1, block(3, 4));
    assert_eq!(built(&mut yard, 1, Build::Attach { object: id, package }), Outcome::Ok);
    let script = yard.world.object(id).expect("there").scripts[0].0;
    for _ in 0..2 {
        yard.act(1, Act::Build(Build::Detach { object: id, script }));
        yard.act(1, Act::Build(Build::Undo { skip: 0 }));
    }
    let applied = yard.play();

    assert!(applied.outcomes.iter().all(Outcome::is_done), "{:?}", applied.outcomes);
    let starts = applied.order.iter().filter(|got| got.event == Event::Start).count();
    assert_eq!(starts, 1);
    assert_eq!(yard.world.scripts().count(), 1);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn what_the_world_went_on_from_is_not_taken_back() {
    let mut builder = Builder::new();
    builder.genesis.parameters.building.objects_per_player = 4;
    let mut yard = site(&mut builder);
    assert_eq!(undo(&mut yard, 1), refused(Refusal::NothingToUndo));
    let [one, two, three] = [0, 1, 2].map(|n| place(&mut yard, 1, block(3 * n, 4)));

    // A gift stays, and what was done to it before as well.
    assert_eq!(built(&mut yard, 1, Build::Recolor { object: one, color: 1 }), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, Build::Give { object: one, to: public(2) }), Outcome::Ok);
    assert_eq!(undo(&mut yard, 1), refused(Refusal::GiftStays));
    assert_eq!(built(&mut yard, 1, Build::Undo { skip: 1 }), refused(Refusal::NotYours));
    // Past both of them is the third block.
    assert_eq!(built(&mut yard, 1, Build::Undo { skip: 2 }), Outcome::Ok);
    assert_eq!(yard.world.object(three), None);
    // An admin took the second away.
    assert_eq!(built(&mut yard, 100, Build::Delete { object: two }), Outcome::Ok);
    assert_eq!(undo(&mut yard, 1), refused(Refusal::NoObject));
    assert_eq!(built(&mut yard, 1, Build::Undo { skip: 9 }), refused(Refusal::NothingToUndo));
    assert_eq!(built(&mut yard, 1, Build::Undo { skip: u8::MAX }), refused(Refusal::NothingToUndo));
    // The admin may bring it back: it is its owner's again.
    assert_eq!(undo(&mut yard, 100), Outcome::Ok);
    assert_eq!(yard.world.object(two).and_then(|seen| seen.owner), Some(public(1)));
    assert_eq!(undo(&mut yard, 1), Outcome::Ok);
}

#[test]
fn a_share_that_was_filled_since_and_people_stand_in_the_way_of_an_undo() {
    let mut builder = Builder::new();
    builder.genesis.parameters.building.objects_per_player = 1;
    let mut yard = site(&mut builder);
    let id = place(&mut yard, 1, block(3, 0));
    assert_eq!(built(&mut yard, 1, Build::Delete { object: id }), Outcome::Ok);
    let other = place(&mut yard, 1, block(8, 8));
    assert_eq!(built(&mut yard, 1, Build::Undo { skip: 1 }), refused(Refusal::TooManyObjects));
    assert_eq!(undo(&mut yard, 1), Outcome::Ok);
    assert_eq!(yard.world.object(other), None);

    // Nobody but the second player stands where the block was.
    yard.walk_to(1, vec2(-4, 0));
    yard.walk_to(100, vec2(0, -4));
    yard.walk_to(2, vec2(3, 0));
    assert_eq!(undo(&mut yard, 1), refused(Refusal::Occupied));
    yard.act(2, Act::Leave);
    yard.play();
    assert_eq!(undo(&mut yard, 1), Outcome::Ok);
    assert_eq!(yard.world.object(id).map(|seen| seen.position), Some(vec2(3, 0)));
}

#[test]
fn so_many_deeds_are_remembered_and_none_after_leaving() {
    let mut yard = site(&mut Builder::new());
    let id = place(&mut yard, 1, block(3, 4));
    for color in 1..=UNDO_ENTRIES_MAX as u32 {
        let recolor = Build::Recolor { object: id, color };
        assert_eq!(built(&mut yard, 1, recolor), Outcome::Ok);
    }
    for _ in 0..UNDO_ENTRIES_MAX {
        assert_eq!(undo(&mut yard, 1), Outcome::Ok);
    }
    // The placing itself was one too many.
    assert_eq!(undo(&mut yard, 1), refused(Refusal::NothingToUndo));
    assert!(yard.world.object(id).is_some());

    assert_eq!(built(&mut yard, 1, Build::Recolor { object: id, color: 9 }), Outcome::Ok);
    yard.act(1, Act::Leave);
    yard.login(1);
    yard.play();
    assert_eq!(undo(&mut yard, 1), refused(Refusal::NothingToUndo));
    assert_eq!(yard.world.history(&public(1)), None);
}

#[test]
fn the_largest_history_fits_a_leaf() {
    let mut builder = Builder::new();
    let package = builder.package("bell", "fn on_touch(other) {}\n");
    builder.genesis.parameters.building.scripts_per_player = 1_000;
    let mut yard = site(&mut builder);
    let name = "n".repeat(32);
    for n in 0..UNDO_ENTRIES_MAX as i32 {
        let id = place(
            &mut yard,
            1,
            Blueprint {
                kind: name.clone(),
                name: name.clone(),
                text: "t".repeat(256),
                ..block(2 * (n % 4), 3 + 2 * (n / 4))
            },
        );
        for _ in 0..8 {
            assert_eq!(built(&mut yard, 1, Build::Attach { object: id, package }), Outcome::Ok);
        }
    }
    let things: Vec<ObjectId> = yard.world.things(&public(1)).map(|seen| seen.id).collect();
    for object in things {
        assert_eq!(built(&mut yard, 1, Build::Delete { object }), Outcome::Ok);
    }
    let leaves = yard.world.manifest().leaves;
    let bytes: u32 =
        leaves.iter().filter(|l| l.key.0.starts_with("histories")).map(|l| l.bytes).sum();
    assert!(bytes > 8_000 && (bytes as usize) < LEAF_BYTES_MAX / 4, "{bytes} bytes");
}

/// One building step that is allowed, or mostly; on one's own things only.
fn random_build(dice: &mut Stream, own: &[WorldObject], column: i32, package: PackageId) -> Build {
    let place = |dice: &mut Stream| {
        let x = i64::from(column) * 4 + dice.below(3) as i64 - 1;
        Vec2::new(
            Fx::from_ratio(x * 10 + dice.below(10) as i64, 10),
            Fx::from_ratio(20 + dice.below(120) as i64, 10),
        )
    };
    let angle = |dice: &mut Stream| Angle::from_bits(dice.next_u64() as u32);
    let size = |dice: &mut Stream| Fx::from_ratio(1 + dice.below(8) as i64, 8);
    let Some(thing) = dice.pick(own) else {
        let (position, angle) = (place(dice), angle(dice));
        return Build::Place(Blueprint { position, angle, ..block(0, 0) });
    };
    let object = thing.id;
    match dice.below(13) {
        0 | 1 => {
            let (position, angle) = (place(dice), angle(dice));
            Build::Place(Blueprint { position, angle, ..block(0, 0) })
        }
        2 => Build::Move { object, position: place(dice) },
        3 => Build::Rotate { object, angle: angle(dice) },
        4 => Build::Resize { object, outline: Outline::Disc { radius: size(dice) } },
        5 => Build::Resize {
            object,
            outline: Outline::Box { half: Vec2::new(size(dice), size(dice)) },
        },
        6 => Build::Recolor { object, color: dice.below(1 << 24) as u32 },
        7 => Build::Rename { object, name: format!("thing {}", dice.below(1_000)) },
        8 => Build::Write { object, text: "x".repeat(dice.below(60) as usize) },
        9 => Build::Copy { object, position: place(dice) },
        10 => match thing.scripts.first() {
            Some((script, _)) if dice.below(2) == 0 => Build::Detach { object, script: *script },
            _ => Build::Attach { object, package },
        },
        11 => Build::Unite { objects: own.iter().take(2).map(|seen| seen.id).collect() },
        _ => Build::Delete { object },
    }
}

pub(crate) fn restored(builder: &Builder, world: &World) -> World {
    let manifest = world.manifest();
    let leaf = |entry: &LeafEntry| (entry.hash, world.leaf(&entry.key).expect("there"));
    let contents: BTreeMap<Digest, Vec<u8>> = manifest.leaves.iter().map(leaf).collect();
    World::restore(&manifest, &contents, world.root(), &builder.tools())
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn undoing_all_of_ones_deeds_restores_ones_things_exactly() {
    for seed in 0..24_u64 {
        println!("seed {seed}");
        let mut builder = Builder::new();
        let package = counting(&mut builder);
        builder.thing(Motion::Static, (0, 16), &[]);
        let mut yard = site(&mut builder);
        let mut twin = yard.world.clone();
        let mut dice = Stream::new(&[seed as u8; 32], "undoing", &[seed]);
        let players = [1_u8, 2, 100];
        let column =
            |n: u8| players.iter().position(|player| *player == n).map_or(0, |at| at as i32);
        // What was before each step.
        let mut own: BTreeMap<u8, Vec<Vec<WorldObject>>> = BTreeMap::new();
        for _ in 0..60 {
            let n = *dice.pick(&players).expect("three");
            let before: Vec<WorldObject> =
                yard.world.things(&public(n)).map(but_for_change).collect();
            let build = random_build(&mut dice, &before, column(n) * 2 - 2, package);
            if built(&mut yard, n, build).is_done() {
                own.entry(n).or_default().push(before);
            }
        }
        for (n, history) in own {
            for before in history.into_iter().rev().take(UNDO_ENTRIES_MAX) {
                assert_eq!(undo(&mut yard, n), Outcome::Ok, "seed {seed}, player {n}");
                let after: Vec<WorldObject> =
                    yard.world.things(&public(n)).map(but_for_change).collect();
                assert_eq!(after, before, "seed {seed}, player {n}");
            }
        }
        assert_eq!(yard.world.root(), yard.world.rehash(), "seed {seed}");
        for (turn, played) in yard.log.iter().enumerate().skip(3) {
            if turn % 7 == 0 {
                twin = restored(&builder, &twin);
            }
            twin.apply(played, &Serial);
        }
        assert_eq!(twin.root(), yard.world.root(), "seed {seed}");
    }
}
