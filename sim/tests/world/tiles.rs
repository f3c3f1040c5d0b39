//! Copies of tiles: what a turn says of them suffices to keep them exact.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_math::Fx;
use metatopia_physics::Motion;
use metatopia_scripting::{EventKind, ScriptOutput};
use metatopia_sim::{
    Applied, ChangedObject, CopyError, KnownLeaves, TILE_BYTES_MAX, TILE_ENTRIES_MAX,
    TILE_ENTRY_BYTES_MAX, Tile, TileCopy, TileEntry, World, tile_key,
};
use metatopia_types::{Digest, LeafKey, Movement, ObjectId, wire};

use crate::{
    leaves::{live, lively},
    yard::{Builder, vec2},
};

type Copies = BTreeMap<Tile, TileCopy>;

fn copy<'a>(copies: &'a mut Copies, tile: &Tile) -> &'a mut TileCopy {
    copies.entry(*tile).or_insert_with(|| TileCopy::new(*tile))
}

/// Every tile of a small world.
fn all_tiles() -> BTreeSet<Tile> {
    (-4..4).flat_map(|x| (-4..4).map(move |y| Tile { x, y })).collect()
}

fn copied(world: &World) -> Copies {
    let mut copies = Copies::new();
    for tile in all_tiles() {
        for (id, entry) in world.entries(tile) {
            assert_eq!(copy(&mut copies, &tile).put(entry), Ok(id));
        }
    }
    copies
}

/// Brings copies on by what one turn changed: movements where that suffices.
fn follow(copies: &mut Copies, world: &World, applied: &Applied) {
    for change in &applied.changed {
        if let (Some(tile), Some(movement)) = (change.to, change.movement)
            && change.from == change.to
        {
            assert_eq!(copy(copies, &tile).follow(change.id, &movement), Ok(()));
            continue;
        }
        if let Some(tile) = change.from {
            assert!(copy(copies, &tile).remove(change.id));
        }
        if let Some(tile) = change.to {
            let entry = world.entry(change.id).expect("it is there");
            assert_eq!(entry.0, tile);
            assert_eq!(copy(copies, &tile).put(entry.1), Ok(change.id));
        }
    }
}

/// The root that the leaves of all copies are under, by what the world shows of their tiles. Checks
/// that the world shows emptiness just of those that are empty.
fn leads_to(copies: &mut Copies, world: &World) -> Option<Digest> {
    let tiles: Vec<Tile> = all_tiles().into_iter().chain(copies.keys().copied()).collect();
    let shown = world.place_tiles(&tiles.iter().copied().collect()).show(&tiles);
    let mut known = KnownLeaves::new(shown.places.count);
    let mut placed: BTreeMap<u32, Digest> = BTreeMap::new();
    for leaf in &shown.leaves {
        known.put(leaf.place, tile_key(leaf.tile, &leaf.prefix));
    }
    for leaf in &shown.beside {
        known.put(leaf.place, leaf.key.clone());
        placed.insert(leaf.place, leaf.hash());
    }
    for tile in tiles {
        let leaves = copies.get_mut(&tile).map(TileCopy::leaves).unwrap_or_default();
        assert_eq!(known.lack(tile), leaves.is_empty(), "{tile:?}");
        let own = shown.leaves.iter().filter(|leaf| leaf.tile == tile);
        assert_eq!(own.clone().count(), leaves.len());
        for (own, leaf) in own.zip(leaves) {
            assert_eq!(own.prefix, leaf.prefix);
            assert_eq!(tile_key(tile, &own.prefix), leaf.key);
            placed.insert(own.place, leaf.hash);
        }
    }
    shown.places.root(&placed.into_iter().collect::<Vec<_>>())
}

#[test]
fn copies_that_follow_what_turns_change_are_in_the_root_of_every_turn() {
    let mut yard = lively();
    yard.idle(1);
    let mut copies = copied(&yard.world);
    let mut moves = 0;
    for turn in 0..200 {
        live(&mut yard, turn);
        let applied = yard.play();
        moves += applied.changed.iter().filter(|change| change.movement.is_some()).count();
        follow(&mut copies, &yard.world, &applied);
        assert_eq!(leads_to(&mut copies, &yard.world), Some(applied.root.0), "{turn}");
    }
    assert!(moves > 300, "movements suffice most of the time: {moves}");
}

#[test]
fn a_tile_that_is_cut_into_many_leaves_is_cut_alike_in_a_copy() {
    let mut builder = Builder::new();
    for n in 0..900 {
        let thing = builder.thing(Motion::Dynamic, (n % 30 + 1, n / 30 + 1), &[]);
        builder.genesis.objects[thing.0 as usize - 1].text = "a sign ".repeat(20);
    }
    let mut yard = builder.build();
    let mut copies = copied(&yard.world);
    let first = copies.get_mut(&Tile { x: 0, y: 0 }).expect("the things are there");
    assert!(first.leaves().len() > 1 && first.leaves().iter().all(|leaf| !leaf.prefix.is_empty()));

    let _ = yard.login(1);
    let applied = yard.idle(3);
    copies = copied(&yard.world);
    assert_eq!(leads_to(&mut copies, &yard.world), Some(applied.root.0));
}

#[test]
fn what_scripts_write_anew_without_changing_it_is_no_change() {
    let mut builder = Builder::new();
    let painter = builder.port("painter", &[EventKind::Tick], |call| {
        let mut part = ScriptOutput { gas: 1, ..ScriptOutput::default() };
        part.own.color = Some((call.view.tick().0 / 60) as u32);
        Ok(part)
    });
    let painted = builder.thing(Motion::Static, (0, 0), &[painter]);
    let mut yard = builder.build();
    yard.idle(5);
    let changes: Vec<_> = (0..40).flat_map(|_| yard.play().changed).collect();
    let tile = Some(Tile { x: 0, y: 0 });
    let change = ChangedObject { id: painted, from: tile, to: tile, movement: None };
    assert_eq!(changes, [change, change]);
}

#[test]
fn a_list_of_leaves_lacks_a_tile_only_where_both_sides_of_it_are_known() {
    let (count, empty) = (5, Tile { x: 1, y: 2 });
    // In the order of keys, a digit comes after the slash of a tile that is cut.
    let keys = ["clock", "tile/1,1/f", "tile/1,20", "tile/1,3", "windows"];
    let lacks = |places: &[u32]| {
        let mut known = KnownLeaves::new(count);
        for place in places {
            known.put(*place, LeafKey(keys[*place as usize].into()));
        }
        known.lack(empty)
    };
    assert!(lacks(&[1, 2]) && lacks(&[0, 1, 2, 3, 4]));
    for places in [&[][..], &[1], &[2], &[0, 2], &[1, 3], &[0, 1], &[2, 3], &[0, 4]] {
        assert!(!lacks(places), "{places:?}");
    }
    let alone = |key: &str| {
        let mut known = KnownLeaves::new(1);
        known.put(0, LeafKey(key.into()));
        known.lack(empty)
    };
    assert!(alone("tile/1,20") && alone("tile/1,1"));
    assert!(!alone("tile/1,2") && !alone("tile/1,2/0"));
    assert!(!KnownLeaves::new(0).lack(empty), "nothing shows nothing");
}

#[test]
fn a_copy_that_was_tampered_with_is_in_no_root() {
    let mut yard = lively();
    let root = yard.idle(5).root.0;
    for entry in 0..5 {
        let mut copies = copied(&yard.world);
        let (tile, id) = copies
            .iter()
            .flat_map(|(tile, copy)| copy.entries().map(|entry| (*tile, entry.id)))
            .nth(entry * 3)
            .expect("there are twenty");
        let copy = copies.get_mut(&tile).expect("it is its tile");
        let found = copy.get(id).expect("it is there").clone();
        let [x, y] = found.body.movement().position.expect("all parts are given");
        let moved = Movement { position: Some([x ^ 1, y]), ..Movement::default() };
        assert_eq!(copy.follow(id, &moved), Ok(()));
        assert_ne!(leads_to(&mut copies, &yard.world), Some(root));

        let copy = copies.get_mut(&tile).expect("it is its tile");
        assert_eq!(copy.put(&found.encode()), Ok(id));
        assert_eq!(leads_to(&mut copies, &yard.world), Some(root));
    }
}

#[test]
fn what_no_world_says_of_a_tile_is_refused_and_changes_nothing() {
    let yard = lively();
    let mut copies = copied(&yard.world);
    let here = copies.get_mut(&Tile { x: 0, y: 0 }).expect("things are there");
    let entry = here.entries().next().expect("at least one").clone();
    let (before, bytes) = (here.leaves(), entry.encode());

    let far = Movement { position: Some([-(1 << 20), 0]), ..Movement::default() };
    assert_eq!(here.follow(entry.id, &far), Err(CopyError::OtherTile(entry.id)));
    let wild = Movement { spin: Some(i32::MAX), ..Movement::default() };
    assert!(matches!(here.follow(entry.id, &wild), Err(CopyError::OutOfRange(_))));
    let nobody = ObjectId(9_999);
    assert_eq!(here.follow(nobody, &Movement::default()), Err(CopyError::Unknown(nobody)));
    assert!(!here.remove(nobody));
    assert!(matches!(here.put(&bytes[1..]), Err(CopyError::Malformed(_))));
    assert!(matches!(here.put(&[0; TILE_ENTRY_BYTES_MAX + 1]), Err(CopyError::Malformed(_))));
    let other = wire::encode(&(nobody, &entry.object, &entry.body));
    assert!(matches!(here.put(&other), Err(CopyError::OtherBody { .. })));
    assert_eq!(TileCopy::new(Tile { x: 7, y: 7 }).put(&bytes), Err(CopyError::OtherTile(entry.id)));
    assert_eq!(here.leaves(), before);
}

/// The entry of the same thing under another id.
fn renamed(entry: &TileEntry, id: u64) -> Vec<u8> {
    let own = wire::encode(&entry.id).len();
    let body = wire::encode(&entry.body).split_off(own);
    let id = wire::encode(&ObjectId(id));
    [&id[..], &wire::encode(&entry.object), &id, &body].concat()
}

#[test]
fn a_copy_takes_no_more_than_a_tile_can_have() {
    let mut builder = Builder::new();
    builder.thing(Motion::Dynamic, (5, 5), &[]);
    let yard = builder.build();
    let tile = Tile::of(vec2(5, 5));
    let bytes = yard.world.entry(ObjectId(1)).expect("the thing is there").1.to_vec();
    let mut entry = TileEntry::decode(&bytes).expect("a world's entry");
    let mut copy = TileCopy::new(tile);
    for id in 1..=TILE_ENTRIES_MAX as u64 {
        assert_eq!(copy.put(&renamed(&entry, id)), Ok(ObjectId(id)));
    }
    assert_eq!(copy.put(&renamed(&entry, u64::MAX)), Err(CopyError::Full));
    assert_eq!(copy.put(&bytes), Ok(ObjectId(1)), "what it has may change");

    entry.object.text = "x".repeat(TILE_ENTRY_BYTES_MAX - 300);
    let mut copy = TileCopy::new(tile);
    let full = (1..).find(|id| copy.put(&renamed(&entry, *id)) == Err(CopyError::Full));
    assert!(full.is_some() && copy.bytes() <= TILE_BYTES_MAX);
    assert!(copy.bytes() + TILE_ENTRY_BYTES_MAX > TILE_BYTES_MAX && copy.len() < TILE_ENTRIES_MAX);
    assert_eq!(entry.body.position().x, Fx::from_int(5));
}
