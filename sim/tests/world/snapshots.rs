//! Snapshots: restoring one is as good as never having stopped.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_physics::Motion;
use metatopia_scripting::{Event, EventKind, ScriptEffect, ScriptOutput, Value};
use metatopia_sim::{
    ENGINE, EngineLeaf, Manifest, RULES, Serial, StateRestoreError, Tools, World, difference,
    first_leaf,
};
use metatopia_types::{Digest, ObjectId, Root};

use crate::{
    leaves::{live, lively},
    yard::{Builder, Yard},
};

type Contents = BTreeMap<Digest, Vec<u8>>;

fn snapshot(world: &World) -> (Manifest, Contents) {
    let manifest = world.manifest();
    let content = |leaf: &metatopia_sim::LeafEntry| {
        (leaf.hash, world.leaf(&leaf.key).expect("a leaf of the manifest"))
    };
    let contents = manifest.leaves.iter().map(content).collect();
    (manifest, contents)
}

pub(crate) fn restored(world: &World, tools: &Tools) -> World {
    let (manifest, contents) = snapshot(world);
    World::restore(&manifest, &contents, world.root(), tools).expect("its own snapshot")
}

/// Scripts that leave messages, timers and states behind at the end of every turn.
fn busy() -> (Yard, Tools) {
    let mut builder = Builder::new();
    let package = builder.port("busy", &EventKind::ALL, |call| {
        let timer = |name: &str, ticks| ScriptEffect::Timer { name: name.to_owned(), ticks };
        let mut part = ScriptOutput { gas: 300, ..ScriptOutput::default() };
        if call.event.kind() == EventKind::Tick {
            let to = ObjectId(call.object.0 % 3 + 1);
            part.effects.push(ScriptEffect::Send {
                to,
                topic: "x".to_owned(),
                data: Value::Int(7),
            });
            return Ok(part);
        }
        if let Event::Start | Event::Timer { .. } = call.event {
            part.effects.push(timer("next", 7 + call.script.0));
        }
        let mut state = (**call.state).clone();
        let count = match state.0.get("count") {
            Some(Value::Int(count)) => *count,
            _ => 0,
        };
        state.0.insert("count".to_owned(), Value::Int(count + 1));
        part.state = Some(state);
        Ok(part)
    });
    builder.package("shown", "fn on_touch(other) { say(\"ouch\"); }\n");
    for n in 0..3 {
        builder.thing(Motion::Dynamic, (3 * n, 4), &[package, package]);
    }
    (builder.build(), builder.tools())
}

#[test]
fn a_world_restored_after_any_turn_goes_on_as_the_one_that_never_stopped() {
    let (mut yard, tools) = busy();
    let mut roots = Vec::new();
    let mut others: Vec<World> = vec![restored(&yard.world, &tools)];
    for turn in 0..40 {
        live(&mut yard, turn);
        roots.push(yard.play().root);
        others.push(restored(&yard.world, &tools));
    }
    for (begin, world) in others.iter_mut().enumerate() {
        for (turn, root) in yard.log.iter().zip(&roots).skip(begin) {
            let applied = world.apply(turn, &Serial);
            assert_eq!(applied.root, *root, "restored after {begin}, at {}", applied.height);
        }
    }
}

#[test]
fn a_restored_world_judges_acts_as_before() {
    let (mut yard, tools) = busy();
    (0..10).for_each(|turn| {
        live(&mut yard, turn);
        yard.play();
    });

    let world = restored(&yard.world, &tools);

    assert_eq!(world.windows(), yard.world.windows());
    assert_eq!(world.roster(), yard.world.roster());
}

#[test]
fn a_leaf_that_was_changed_or_left_out_is_named() {
    let (mut yard, tools) = busy();
    (0..6).for_each(|turn| {
        live(&mut yard, turn);
        yard.play();
    });
    let (manifest, contents) = snapshot(&yard.world);
    let root = yard.world.root();
    for leaf in &manifest.leaves {
        let mut missing = contents.clone();
        missing.remove(&leaf.hash);
        let error =
            World::restore(&manifest, &missing, root, &tools).expect_err("a leaf is missing");
        // Two leaves that hold nothing hold the same.
        let mut same = manifest.leaves.iter().filter(|other| other.hash == leaf.hash);
        let first = same.next().expect("itself").key.clone();
        assert_eq!(error, StateRestoreError::Missing(first.clone()));

        let mut flipped = contents.clone();
        if let Some(byte) = flipped.get_mut(&leaf.hash).and_then(|content| content.last_mut()) {
            *byte ^= 1;
        }
        let error =
            World::restore(&manifest, &flipped, root, &tools).expect_err("a bit is flipped");
        assert_eq!(error, StateRestoreError::OtherContent(first));
    }
}

#[test]
fn a_manifest_of_another_state_or_out_of_order_is_refused() {
    let (yard, tools) = busy();
    let (mut manifest, contents) = snapshot(&yard.world);
    let root = yard.world.root();

    let other = World::restore(&manifest, &contents, Root(Digest::ZERO), &tools);
    assert_eq!(other.err(), Some(StateRestoreError::OtherRoot { found: root }));
    manifest.leaves.swap(0, 1);
    let swapped = World::restore(&manifest, &contents, root, &tools);
    assert_eq!(swapped.err(), Some(StateRestoreError::Order(manifest.leaves[1].key.clone())));
}

#[test]
fn leaves_that_are_no_state_are_refused_even_under_their_own_root() {
    let (yard, tools) = busy();
    let (manifest, contents) = snapshot(&yard.world);
    let drop_leaf = |key: &str| {
        let mut manifest = manifest.clone();
        manifest.leaves.retain(|leaf| leaf.key.0 != key);
        World::restore(&manifest, &contents, manifest.root(), &tools).err()
    };
    let rename = |from: &str, to: &str| {
        let mut manifest = manifest.clone();
        for leaf in manifest.leaves.iter_mut().filter(|leaf| leaf.key.0 == from) {
            leaf.key.0 = to.to_owned();
        }
        manifest.leaves.sort_by(|a, b| a.key.cmp(&b.key));
        World::restore(&manifest, &contents, manifest.root(), &tools).err()
    };
    let key = |name: &str| metatopia_types::LeafKey(name.to_owned());

    assert_eq!(drop_leaf("clock"), Some(StateRestoreError::Missing(key("clock"))));
    assert_eq!(rename("script/1", "scrap/1"), Some(StateRestoreError::UnknownLeaf(key("scrap/1"))));
    assert_eq!(
        rename("script/1", "script/x"),
        Some(StateRestoreError::UnknownLeaf(key("script/x")))
    );
    assert_eq!(rename("tile/0,0", "tile/1,0"), Some(StateRestoreError::NotCanonical));
    let swapped = rename("clock", "players");
    assert!(matches!(swapped, Some(StateRestoreError::Malformed { .. })), "{swapped:?}");
}

/// A state is of another engine by its leaf `engine` alone, whatever that one wrote behind the number.
#[test]
fn a_state_of_another_engine_is_told_as_such_before_any_other_leaf_is_read() {
    let (yard, tools) = busy();
    let restored = |leaf: &[u8], without: &str| {
        let (mut manifest, mut contents) = snapshot(&yard.world);
        let hash = Digest(*blake3::hash(leaf).as_bytes());
        contents.insert(hash, leaf.to_vec());
        manifest.leaves.retain(|entry| entry.key.0 != without);
        let entry = manifest.leaves.iter_mut().find(|entry| entry.key.0 == "engine");
        let entry = entry.expect("every state has one");
        (entry.hash, entry.bytes) = (hash, u32::try_from(leaf.len()).expect("few bytes"));
        World::restore(&manifest, &contents, manifest.root(), &tools).err()
    };
    let own = yard.world.leaf(&metatopia_types::LeafKey("engine".to_owned())).expect("there");
    assert_eq!(restored(&own, "nothing"), None);

    let later = metatopia_types::wire::encode(&(ENGINE + 1, "more than this program knows"));
    assert_eq!(restored(&later, "clock"), Some(StateRestoreError::OtherEngine(ENGINE + 1)));

    let mut leaf: EngineLeaf = metatopia_types::wire::decode(&own, own.len()).expect("its own");
    assert_eq!((leaf.engine, leaf.rules), (ENGINE, RULES));
    let kinds: BTreeSet<&str> = leaf.formats.keys().map(String::as_str).collect();
    let is_listed = |key: &str| kinds.iter().any(|kind| key.starts_with(kind));
    let manifest = yard.world.manifest();
    let mut others = manifest.leaves.iter().filter(|entry| entry.key.0 != "engine");
    assert!(others.all(|entry| is_listed(&entry.key.0)), "a kind has no format: {kinds:?}");

    let own = leaf.formats["tile"];
    leaf.formats.insert("tile".to_owned(), own + 1);
    let other = restored(&metatopia_types::wire::encode(&leaf), "nothing");
    assert_eq!(other, Some(StateRestoreError::OtherFormat("tile".to_owned())));
}

#[test]
fn a_report_names_the_first_leaf_and_field_that_differ() {
    let (mut one, mut other) = (lively(), lively());
    for yard in [&mut one, &mut other] {
        yard.login(1);
        yard.play();
    }
    let compare = |a: &World, b: &World| {
        let (left, right) = (a.manifest(), b.manifest());
        assert_eq!(first_leaf(&left, &right).is_some(), left != right);
        difference((&left, &|key| a.leaf(key)), (&right, &|key| b.leaf(key)))
    };
    assert_eq!(compare(&one.world, &other.world), None);

    other.act(
        1,
        metatopia_types::Act::SetLook(metatopia_types::Look {
            color: 0x00ab_cdef,
            ..Default::default()
        }),
    );
    let turn = other.turn();
    other.world.apply(&turn, &Serial);
    let mut bare = turn;
    bare.body = metatopia_types::TurnBody::default();
    one.world.apply(&bare, &Serial);

    let found = compare(&one.world, &other.world).expect("they differ");
    assert_eq!(found.key.0, "outcomes/2");
    let leaf = |world: &World, key: &str| {
        world.leaf(&metatopia_types::LeafKey(key.to_owned())).expect("there")
    };
    let (left, right) = (one.world.manifest(), other.world.manifest());
    let only = |manifest: &Manifest, key: &str| Manifest {
        leaves: manifest.leaves.iter().filter(|leaf| leaf.key.0 == key).cloned().collect(),
    };
    let found = difference(
        (&only(&left, "players"), &|key| Some(leaf(&one.world, &key.0))),
        (&only(&right, "players"), &|key| Some(leaf(&other.world, &key.0))),
    )
    .expect("they differ");
    assert_eq!(found.left.as_deref(), Some("color: 0,"));
    assert_eq!(found.right.as_deref(), Some("color: 11259375,"));
    assert!(found.field.iter().any(|line| line.starts_with("look: Look")), "{found:?}");
}

#[test]
fn what_differs_is_named_by_its_entry_and_what_standbys_prove_comes_last() {
    let (mut one, mut other) = (lively(), lively());
    for yard in [&mut one, &mut other] {
        yard.login(1);
        yard.play();
    }
    // Another history with the same state but for what standbys prove, and one object.
    let tile = |world: &World| {
        let leaves = world.manifest().leaves;
        leaves.into_iter().find(|leaf| leaf.key.0.starts_with("tile/")).expect("a tile").key
    };
    let key = tile(&one.world);
    let manifest = |world: &World, key: &str| {
        let mut manifest = world.manifest();
        let leaf = manifest.leaves.iter_mut().find(|leaf| leaf.key.0 == key).expect("there");
        leaf.hash.0[0] ^= 1;
        manifest
    };
    let (left, mut right) = (one.world.manifest(), manifest(&other.world, &key.0));
    let proofs = manifest(&other.world, "readiness");
    let changed =
        proofs.leaves.iter().find(|leaf| leaf.key.0 == "readiness").expect("there").clone();
    let place = right.leaves.iter().position(|leaf| leaf.key.0 == "readiness").expect("there");
    right.leaves[place] = changed;
    let content = one.world.leaf(&key).expect("a tile");
    // The last bit of a body is one of its numbers.
    let mut flipped = content.clone();
    *flipped.last_mut().expect("not empty") ^= 1;

    let found =
        difference((&left, &|_| Some(content.clone())), (&right, &|_| Some(flipped.clone())))
            .expect("they differ");

    assert_eq!((&found.key, found.leaves), (&key, 2));
    let entry = found.entry.as_deref().unwrap_or_default();
    assert!(entry.starts_with("object "), "{found:?}");
    assert!(found.field.iter().any(|line| line.starts_with("Body")), "{found:?}");
    assert_ne!(found.left, found.right);
    assert_eq!(first_leaf(&left, &right).expect("they differ").0, "readiness");
}

#[test]
fn a_snapshot_in_one_piece_is_encoded_as_its_leaves_are_one_by_one() {
    let (mut yard, _) = busy();
    for _ in 0..5 {
        yard.play();
    }
    let manifest = yard.world.manifest();
    let leaf = |leaf: &metatopia_sim::LeafEntry| yard.world.leaf(&leaf.key);
    let leaves: Vec<Vec<u8>> = manifest.leaves.iter().filter_map(leaf).collect();
    assert_eq!(leaves.len(), manifest.leaves.len());

    assert_eq!(yard.world.snapshot(), metatopia_types::wire::encode(&(manifest, leaves)));
}
