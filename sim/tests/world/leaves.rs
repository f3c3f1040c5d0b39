//! Leaves, their sizes, the root over them, and proofs.

use metatopia_math::Vec2;
use metatopia_physics::Motion;
use metatopia_sim::{Serial, Stage, Watch, World};
use metatopia_types::{
    Act, Digest, LeafKey, PackageId, Root, StateProofError,
    limits::{LEAF_BYTES_MAX, OUTCOME_TURNS, PACKAGE_PIECE_BYTES_MAX},
    wire,
};

use crate::yard::{Builder, Yard};

/// Some life: people who walk into crates and talk.
pub(crate) fn lively() -> Yard {
    let mut builder = Builder::new();
    for n in 0..20 {
        builder.thing(Motion::Dynamic, (n % 5 * 2 - 4, n / 5 * 2 + 2), &[]);
    }
    builder.thing(Motion::Static, (-7, 0), &[]);
    builder.build()
}

pub(crate) fn live(yard: &mut Yard, turn: u64) {
    let n = (turn % 7) as u8 + 1;
    match turn % 5 {
        0 => drop(yard.login(n)),
        1 | 2 => drop(yard.act(n, Act::Walk { heading: Vec2::new(Vec2::X.x, Vec2::Y.y) })),
        3 => drop(yard.say(n, 0, &format!("turn {turn}"))),
        _ => drop(yard.act(n, Act::Leave)),
    }
}

fn check_sizes(world: &World) {
    for leaf in world.manifest().leaves {
        let content = world.leaf(&leaf.key).expect("a leaf of the manifest");
        assert_eq!(content.len(), leaf.bytes as usize, "{}", leaf.key);
        assert!(content.len() <= LEAF_BYTES_MAX, "{} has {} bytes", leaf.key, content.len());
    }
}

#[test]
fn the_root_of_every_turn_is_that_of_all_leaves_hashed_anew() {
    let mut yard = lively();
    assert_eq!(yard.world.root(), yard.world.rehash());
    for turn in 0..120 {
        live(&mut yard, turn);
        let applied = yard.play();

        assert_eq!(applied.root, yard.world.rehash(), "turn {turn}");
        assert_eq!(applied.root, yard.world.root());
        assert_eq!(yard.world.manifest().check(applied.root), Ok(()));
    }
    check_sizes(&yard.world);
}

#[test]
fn the_world_after_every_tick_is_shown_and_nobody_comes_to_another_root_by_that() {
    struct TickRoots(Vec<(u64, Root, Root)>);
    impl Watch for TickRoots {
        fn enter(&mut self, _: Stage) {}
        fn looks_into_ticks(&self) -> bool {
            true
        }
        fn ticked(&mut self, world: &World) {
            self.0.push((world.tick().0, world.root(), world.rehash()));
        }
    }
    let mut yard = lively();
    let mut watched = yard.world.clone();
    for turn in 0..40 {
        live(&mut yard, turn);
        let applied = yard.play();
        let mut shown = TickRoots(Vec::new());
        let again = watched.apply_watched(&yard.log[turn as usize], &Serial, &mut shown);

        assert_eq!((again.root, again.changed), (applied.root, applied.changed), "turn {turn}");
        let ticks: Vec<u64> = shown.0.iter().map(|(tick, ..)| *tick).collect();
        assert_eq!(ticks, [turn * 3 + 1, turn * 3 + 2, turn * 3 + 3]);
        assert!(shown.0.iter().all(|(_, root, anew)| root == anew), "turn {turn}");
        assert_eq!(shown.0.last().map(|(_, root, _)| *root), Some(applied.root));
    }
}

#[test]
fn an_idle_world_hashes_little_more_than_its_clock() {
    let mut yard = lively();
    yard.idle(100);
    let before = yard.world.hashed_bytes();

    yard.idle(1);

    // The clock, governance time, the roots, the sets of the next heights, no outcomes.
    let hashed = yard.world.hashed_bytes() - before;
    assert!(hashed < 6_000, "{hashed} bytes hashed");
}

#[test]
fn many_players_and_objects_are_cut_into_leaves_that_fit() {
    let mut builder = Builder::new();
    for n in 0..400 {
        builder.thing(Motion::Static, (n % 20 + 2, n / 20 + 2), &[]);
        builder.genesis.objects[n as usize].text = "x".repeat(200);
    }
    let mut yard = builder.build();
    for n in 0..250 {
        yard.login(n);
        if n % 50 == 49 {
            yard.play();
        }
    }
    yard.play();

    check_sizes(&yard.world);
    let keys: Vec<String> =
        yard.world.manifest().leaves.into_iter().map(|leaf| leaf.key.0).collect();
    assert!(!keys.contains(&"tile/0,0".to_owned()), "400 objects of 300 B fit no single leaf");
    assert!(keys.iter().filter(|key| key.starts_with("tile/0,0/")).count() > 1);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn an_object_that_crosses_to_another_tile_is_in_one_leaf() {
    let mut builder = Builder::new();
    builder.genesis.parameters.avatar.spawn = crate::yard::vec2(28, 0);
    let mut yard = builder.build();
    yard.login(1);
    yard.act(1, Act::Walk { heading: Vec2::X });
    yard.play();
    let tiles = |yard: &Yard| -> Vec<String> {
        let keys = yard.world.manifest().leaves.into_iter().map(|leaf| leaf.key.0);
        keys.filter(|key| key.starts_with("tile/")).collect()
    };
    let before = tiles(&yard);

    yard.idle(120);

    assert_eq!(before.len(), 1);
    assert_eq!(tiles(&yard).len(), 1);
    assert_ne!(before, tiles(&yard));
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn every_leaf_has_a_proof_that_holds_for_this_root_only() {
    let mut yard = lively();
    for turn in 0..10 {
        live(&mut yard, turn);
        yard.play();
    }
    let root = yard.world.root();
    for leaf in yard.world.manifest().leaves {
        let proof = yard.world.proof(&leaf.key).expect("a leaf of the manifest");
        assert_eq!(proof.verify(root), Ok(()));
        let other = proof.verify(Root(Digest::ZERO));
        assert_eq!(other, Err(StateProofError::NotInState(leaf.key)));
    }
    assert_eq!(yard.world.proof(&LeafKey("nowhere".to_owned())), None);
}

#[test]
fn outcomes_stay_for_so_many_turns() {
    let mut yard = lively();
    yard.login(1);
    let height = yard.play().height;
    let key = World::outcomes_key(height);

    yard.idle(OUTCOME_TURNS - 1);
    assert_eq!(yard.world.outcomes(height).map(<[_]>::len), Some(1));
    assert!(yard.world.proof(&key).is_some());
    yard.idle(1);
    assert_eq!(yard.world.outcomes(height), None);
    assert!(yard.world.proof(&key).is_none());
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn a_long_package_is_in_the_state_in_pieces_that_are_full_but_for_the_last() {
    let mut builder = Builder::new();
    let source = format!("fn on_start() {{}}\n// {}\n", "x".repeat(PACKAGE_PIECE_BYTES_MAX));
    let package = builder.package("long", &source);
    let yard = builder.build();

    let leaves = yard.world.manifest().leaves.into_iter();
    let leaves = leaves.filter(|leaf| leaf.key.0.starts_with("packages"));
    let mut pieces: Vec<((PackageId, u32), Vec<u8>)> = Vec::new();
    for leaf in leaves {
        let content = yard.world.leaf(&leaf.key).expect("a leaf of the manifest");
        let entries = wire::decode::<Vec<_>>(&content, LEAF_BYTES_MAX).expect("pieces of packages");
        pieces.extend(entries);
    }

    pieces.sort_unstable();
    let lengths: Vec<usize> = pieces.iter().map(|(_, piece)| piece.len()).collect();
    assert!(
        matches!(lengths[..], [PACKAGE_PIECE_BYTES_MAX, 1..=PACKAGE_PIECE_BYTES_MAX]),
        "{lengths:?}"
    );
    assert_eq!(
        pieces.iter().map(|(key, _)| *key).collect::<Vec<_>>(),
        [(package, 0), (package, 1)]
    );
    let bytes: Vec<u8> = pieces.into_iter().flat_map(|(_, piece)| piece).collect();
    assert_eq!(bytes, builder.genesis.packages[&package]);
}
