//! A state can always be read back: what could make it too long finds no room.

use metatopia_physics::Motion;
use metatopia_scripting::{
    ErrorKind, EventKind, ScriptEffect, ScriptOutput, ScriptState, Value, limits::GAS_PER_CALL_MAX,
};
use metatopia_sim::{
    GenesisError, SNAPSHOT_BYTES_MAX, Script, Serial, World, gas::SCRIPT_TICK_MAX,
    limits::WORLD_BYTES_MAX,
};
use metatopia_types::{
    Act, Build, LeafKey, ObjectId, Outcome, PackageId, Refusal, ScriptId, limits::LEAF_BYTES_MAX,
    wire,
};

use crate::{
    building::{block, built, place, site},
    yard::{Backwards, Builder, Shuffled, Yard},
};

const FULL: Outcome = Outcome::Refused(Refusal::Full);

/// A text of so many bytes.
pub(crate) fn text(bytes: usize) -> Value {
    Value::Text("x".repeat(bytes))
}

/// Remembers a kilobyte more at every tick, and says how often that was.
pub(crate) fn hoarder(builder: &mut Builder) -> PackageId {
    builder.port("hoarder", &[EventKind::Tick], |call| {
        let mut state = (**call.state).clone();
        state.0.insert(format!("{:02}", state.0.len()), text(1_000));
        let mut part = ScriptOutput { gas: 20, ..ScriptOutput::default() };
        part.effects.push(ScriptEffect::Say { text: state.0.len().to_string() });
        part.own.text = Some(state.0.len().to_string());
        part.state = Some(state);
        Ok(part)
    })
}

/// Sends three kilobytes to the first object at every tick.
fn flood(builder: &mut Builder) -> PackageId {
    builder.port("flood", &[EventKind::Tick], |_| {
        let (to, topic, data) = (ObjectId(1), "x".to_owned(), text(3_000));
        let effects = vec![ScriptEffect::Send { to, topic, data }];
        Ok(ScriptOutput { gas: 20, effects, ..ScriptOutput::default() })
    })
}

/// Hears messages, and uses all the gas that it has for one.
fn slow(builder: &mut Builder) -> PackageId {
    builder.port("slow", &[EventKind::Message], |_| {
        Ok(ScriptOutput { gas: GAS_PER_CALL_MAX, ..ScriptOutput::default() })
    })
}

pub(crate) fn script(world: &World, id: u64) -> Script {
    let leaf = world.leaf(&LeafKey(format!("script/{}", ScriptId(id)))).expect("it is there");
    wire::decode(&leaf, LEAF_BYTES_MAX).expect("a script")
}

/// Leaves a world room for so many bytes more than it has; gives the bound.
pub(crate) fn leave(world: &mut World, bytes: u64) -> u64 {
    let bound = world.state_bytes() + bytes;
    world.limit_bytes(bound);
    bound
}

/// A slow script on the first thing, and two of each that would fill a world.
fn crowded(builder: &mut Builder) -> Yard {
    let gas = &mut builder.genesis.parameters.gas;
    (gas.script_refill, gas.script_capacity) = (GAS_PER_CALL_MAX / 10, GAS_PER_CALL_MAX);
    let packages = [slow(builder), flood(builder), hoarder(builder)];
    builder.thing(Motion::Static, (0, 5), &packages[..1]);
    for n in 1..5_i32 {
        builder.thing(Motion::Static, (3 * n, 5), &packages[1..]);
    }
    site(builder)
}

#[test]
fn the_length_of_a_state_is_that_of_its_snapshot() {
    let mut yard = crowded(&mut Builder::new());
    yard.idle(5);

    let (stated, found) = (yard.world.state_bytes(), yard.world.snapshot().len() as u64);

    let leaves = yard.world.manifest().leaves.len() as u64;
    assert!(found <= stated && stated <= found + 6 * leaves + 8, "{found} of {stated}");
}

#[test]
fn events_beyond_the_room_are_dropped_and_counted() {
    let mut builder = Builder::new();
    builder.genesis.parameters.gas.script_refill = 1;
    // Gas for all five scripts in one tick.
    builder.genesis.parameters.gas.tick = 5 * SCRIPT_TICK_MAX;
    let (slow, flood) = (slow(&mut builder), flood(&mut builder));
    builder.thing(Motion::Static, (0, 5), &[slow]);
    for n in 1..5_i32 {
        builder.thing(Motion::Static, (3 * n, 5), &[flood]);
    }
    let mut yard = builder.build();
    leave(&mut yard.world, 7_000);

    // Two of the twelve of each turn find room. The first two are handled, with all the gas that
    // there is, and leave theirs to the next turn.
    yard.idle(2);
    let full = script(&yard.world, 1);
    yard.idle(20);

    assert_eq!(
        (full.gas_used / GAS_PER_CALL_MAX, full.inbox.waiting().len(), full.dropped),
        (2, 2, 20)
    );
    let later = script(&yard.world, 1);
    assert_eq!(later.inbox, full.inbox);
    assert_eq!(later.dropped, full.dropped + 20 * 12);
}

#[test]
fn a_script_that_would_remember_more_than_there_is_room_for_keeps_what_it_has() {
    let mut builder = Builder::new();
    let package = hoarder(&mut builder);
    let thing = builder.thing(Motion::Static, (0, 5), &[package]);
    let mut yard = builder.build();
    leave(&mut yard.world, 5_500);

    let said: Vec<String> = (0..10).flat_map(|_| yard.play().chat).map(|line| line.text).collect();

    // Nor did it do anything else: what it says twice, it would have sent twice.
    let (kept, shown) = (script(&yard.world, 1), yard.world.object(thing).expect("here").text);
    assert_eq!(said, ["1", "2", "3", "4", "5"]);
    assert_eq!((kept.state.0.len(), shown.as_str()), (5, "5"));
    assert_eq!((kept.failures, kept.dropped), (25, 0));
    assert_eq!(kept.last_failure, Some((yard.world.tick(), ErrorKind::State)));
    let failure = yard.play().failures.pop().expect("one at each tick");
    assert_eq!(failure.report.message, "the world has no room for a larger state");

    leave(&mut yard.world, 5_500);
    yard.idle(1);
    assert_eq!(script(&yard.world, 1).state.0.len(), 8);
}

#[test]
fn timers_beyond_the_room_are_dropped_and_one_that_is_there_is_set_again() {
    let mut builder = Builder::new();
    let package = builder.port("busy", &[EventKind::Tick], |call| {
        let timer = |name: String| ScriptEffect::Timer { name, ticks: 1_000 };
        let fresh = format!("{:032}", call.view.tick().0);
        let effects = vec![timer("again".to_owned()), timer(fresh)];
        Ok(ScriptOutput { gas: 20, effects, ..ScriptOutput::default() })
    });
    builder.thing(Motion::Static, (0, 5), &[package]);
    let mut yard = builder.build();
    yard.idle(1);
    // One takes 51 bytes: those that are there have 16 and 43 of theirs to come.
    leave(&mut yard.world, 3 * 16 + 43 + 60);

    yard.idle(4);

    let script = script(&yard.world, 1);
    assert_eq!(script.timers.len(), 1 + 3 + 1, "{:?}", script.timers);
    assert_eq!(script.dropped, 4 * 3 - 1);
    assert_eq!(script.timers.get("again"), Some(&yard.world.tick().plus(1_000)));
}

#[test]
fn builders_of_a_full_world_take_away_and_add_nothing() {
    let mut builder = Builder::new();
    let package = builder.port("still", &[], |_| Ok(ScriptOutput::default()));
    let mut yard = site(&mut builder);
    let [one, two, three] = [2, 4, 6].map(|x| place(&mut yard, 1, block(x, 0)));
    for object in [one, one, two] {
        assert_eq!(built(&mut yard, 1, Build::Attach { object, package }), Outcome::Ok);
    }
    leave(&mut yard.world, 0);

    let (position, name) = (crate::yard::vec2(2, 2), "b".to_owned());
    for build in [
        Build::Place(block(2, 2)),
        Build::Copy { object: one, position },
        Build::Move { object: one, position },
        Build::Rename { object: one, name },
        Build::Attach { object: two, package },
    ] {
        assert_eq!(built(&mut yard, 1, build), FULL);
    }
    assert_eq!(built(&mut yard, 1, Build::Undo { skip: 0 }), Outcome::Ok, "of the last script");
    let script = yard.world.scripts().next().expect("the first").script;
    for build in [Build::Detach { object: one, script }, Build::Delete { object: two }] {
        assert_eq!(built(&mut yard, 1, build), Outcome::Ok);
    }
    leave(&mut yard.world, 0);
    assert_eq!(built(&mut yard, 1, Build::Undo { skip: 0 }), FULL);
    assert_eq!(built(&mut yard, 1, Build::Delete { object: three }), Outcome::Ok);

    leave(&mut yard.world, 64 * 1_024);
    assert_eq!(built(&mut yard, 1, Build::Undo { skip: 1 }), Outcome::Ok);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn what_many_build_in_one_turn_finds_room_together() {
    let mut builder = Builder::new();
    let mut yard = site(&mut builder);
    let before = yard.world.objects().count();
    // Each may add four kilobytes, whatever it adds.
    leave(&mut yard.world, 3 * 4_096 + 100);

    let acts: Vec<_> = (0..8)
        .map(|n| yard.act(1, Act::Build(Build::Place(block(2 + n % 4, 2 + n / 4)))))
        .collect();
    yard.play();

    let full = acts.iter().filter(|act| yard.outcome(act) == FULL).count();
    assert_eq!((full, yard.world.objects().count()), (5, before + 3));
}

#[test]
fn a_full_world_is_of_use_again_when_things_are_deleted_and_inboxes_empty() {
    let mut yard = crowded(&mut Builder::new());
    leave(&mut yard.world, 20_000);
    yard.idle(20);
    assert_eq!(built(&mut yard, 1, Build::Place(block(2, 0))), FULL);

    for object in 2..=5 {
        assert_eq!(built(&mut yard, 100, Build::Delete { object: ObjectId(object) }), Outcome::Ok);
    }
    yard.idle(60);

    assert!(script(&yard.world, 1).inbox.is_empty());
    assert!(matches!(built(&mut yard, 1, Build::Place(block(2, 0))), Outcome::Made(_)));
}

#[test]
fn a_full_world_goes_on_from_its_snapshot_and_on_any_threads_as_if_it_had_never_stopped() {
    let mut builder = Builder::new();
    let mut yard = crowded(&mut builder);
    let bound = leave(&mut yard.world, 20_000);
    for n in 0..30_u64 {
        let (snapshot, root) = (yard.world.snapshot(), yard.world.root());
        let mut restored =
            World::from_snapshot(&snapshot, root, &builder.tools()).expect("its own");
        let mut backwards = yard.world.clone();
        restored.limit_bytes(bound);
        if n % 5 == 4 {
            yard.act(1, Act::Build(Build::Place(block(2, n as i32))));
        }
        let turn = yard.turn();

        yard.world.apply(&turn, &Serial);
        restored.apply(&turn, &Shuffled(n));
        backwards.apply(&turn, &Backwards);

        assert_eq!(restored.root(), yard.world.root(), "turn {n}");
        assert_eq!(backwards.root(), yard.world.root(), "turn {n}");
        // Outcomes, roots and what scripts count have their place beside the bound.
        assert!(yard.world.state_bytes() <= bound + 8 * 1_024);
        yard.log.push(turn);
    }
    let failed: u64 = yard.world.scripts().map(|script| script.failures).sum();
    assert!(failed > 0 && script(&yard.world, 1).dropped > 0);
}

/// A world of so many things, with eight scripts on each that remember as much as they may, but for
/// a little, and want to remember that as well.
fn vast(things: i32) -> Builder {
    let mut builder = Builder::new();
    let package = builder.port("vast", &[EventKind::Start], |call| {
        let mut state = (**call.state).clone();
        state.0.insert("more".to_owned(), text(300));
        Ok(ScriptOutput { gas: 20, state: Some(state), ..ScriptOutput::default() })
    });
    builder.genesis.parameters.gas.tick = 1 << 30;
    let state = ScriptState((0..4).map(|n| (n.to_string(), text(4_000))).collect());
    for n in 0..things {
        builder.thing(Motion::Static, (n % 30 * 2, n / 30 * 2), &[package; 8]);
    }
    let scripts = builder.genesis.objects.iter_mut().flat_map(|object| &mut object.scripts);
    scripts.for_each(|script| script.state = state.clone());
    builder
}

#[test]
fn the_largest_world_can_be_read_back() {
    let builder = vast(515);
    let mut yard = builder.build();
    assert!(yard.world.state_bytes() < WORLD_BYTES_MAX);

    let applied = yard.play();

    let lost = applied.failures.len();
    assert!((1_000..3_000).contains(&lost), "{lost} of 4,120 found no room");
    assert!(applied.failures.iter().all(|failure| failure.kind == ErrorKind::State));
    let bytes = yard.world.state_bytes();
    assert!((WORLD_BYTES_MAX - 20_000..WORLD_BYTES_MAX + 4_000).contains(&bytes), "{bytes}");
    let (snapshot, root) = (yard.world.snapshot(), yard.world.root());
    assert!(snapshot.len() <= SNAPSHOT_BYTES_MAX);
    let read = World::from_snapshot(&snapshot, root, &builder.tools()).expect("its own snapshot");
    assert_eq!(read.state_bytes(), bytes);
}

#[test]
fn a_world_does_not_begin_with_more_than_there_is_room_for() {
    let builder = vast(525);

    let refused = World::genesis(&builder.genesis, &builder.tools()).map(|world| world.root());

    let Err(GenesisError::TooLarge { bytes }) = refused else { panic!("{refused:?}") };
    assert!((WORLD_BYTES_MAX..WORLD_BYTES_MAX + 1_000_000).contains(&bytes), "{bytes}");
}
