//! What is wrong with a capsule, or with a state that somebody hands in, has a name.

use metatopia_physics::Motion;
use metatopia_sim::{
    Body, Capsule, CapsuleError, Charter, Genesis, GenesisError, Manifest, Object, ParametersError,
    ReplayVerdict, StateRestoreError, Tools, Unsound, World,
};
use metatopia_types::{
    Digest, Height, ObjectId, PackageId, Root,
    limits::{LEAF_BYTES_MAX, LEAVES_MAX},
    wire,
};

use crate::{
    course::{SIGNERS, certified, follow, start},
    yard::Builder,
};

fn tools() -> Tools {
    Builder::new().tools()
}

/// Returns a capsule of a yard's first turns, as its writer makes it.
fn capsule() -> Capsule {
    let (mut course, mut yard) = start();
    let first = course.world().clone();
    let (mut turns, mut roots) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        let turn = follow(&mut course, &mut yard);
        let certificate = certified(&course, &turn, &SIGNERS);
        turns.push((turn, certificate));
        roots.push(course.world().root());
    }
    let genesis = Builder::new().genesis.encode();
    Capsule { genesis, root: first.root(), snapshot: first.snapshot(), turns, roots, end: None }
}

fn replayed(change: impl FnOnce(&mut Capsule)) -> Result<ReplayVerdict, CapsuleError> {
    let mut capsule = capsule();
    change(&mut capsule);
    capsule.replay(&tools())
}

#[test]
fn a_capsule_replays_to_what_its_headers_state_and_its_writer_computed() {
    let file = capsule().encode();
    assert_eq!(Capsule::decode(&file), Ok(capsule()));
    let compared = Some(Height(2));
    assert_eq!(replayed(|_| {}), Ok(ReplayVerdict::Same { compared }));

    let now = capsule().roots[1];
    let wrong = replayed(|capsule| capsule.roots[1] = Root(Digest::ZERO));
    let (of, had) = (Height(2), Root(Digest::ZERO));
    assert_eq!(wrong, Ok(ReplayVerdict::Unrepeatable { of, had, now, difference: None }));
}

#[test]
fn a_capsule_of_another_version_is_told_from_what_is_none() {
    let mut file = capsule().encode();
    let version = "metatopia capsule v".len() + 1;
    file[version] += 1;
    assert_eq!(Capsule::decode(&file), Err(CapsuleError::OtherVersion));
    assert!(matches!(Capsule::decode(b"a letter"), Err(CapsuleError::Decode(_))));
}

#[test]
fn a_capsule_whose_parts_do_not_belong_together_is_refused() {
    let genesis = replayed(|capsule| capsule.genesis.clear());
    assert!(matches!(genesis, Err(CapsuleError::Genesis(_))), "{genesis:?}");
    let state = replayed(|capsule| capsule.snapshot.truncate(capsule.snapshot.len() - 1));
    let cut: Result<(), _> =
        Err(CapsuleError::State(StateRestoreError::Snapshot(wire::DecodeError::Malformed)));
    assert_eq!(state.as_ref().err(), cut.as_ref().err());
    let later = CapsuleError::State(StateRestoreError::OtherEngine(99));
    assert_eq!((state.unwrap_err().other_engine(), later.other_engine()), (None, Some(99)));
    let other = Genesis { name: "elsewhere".to_owned(), ..Builder::new().genesis };
    let other = replayed(|capsule| capsule.genesis = other.encode());
    assert_eq!(other, Err(CapsuleError::OtherSim));
    let writer = replayed(|capsule| capsule.roots.push(Root(Digest::ZERO)));
    assert_eq!(writer, Err(CapsuleError::Writer));
    let turns = replayed(|capsule| capsule.turns[1].1.signatures.truncate(2));
    let Err(CapsuleError::Turns { height: Height(2), why: Unsound::Certificate(_) }) = turns else {
        panic!("few signed the second turn: {turns:?}")
    };
}

#[test]
fn a_manifest_of_more_leaves_than_a_state_has_is_refused_before_it_is_looked_through() {
    let (course, _) = start();
    let mut manifest = course.world().manifest();
    let most = LEAVES_MAX as usize;
    let leaf = manifest.leaves[0].clone();
    manifest.leaves.resize(most, leaf.clone());
    let root = Root(Digest::ZERO);
    assert!(matches!(manifest.check(root), Err(StateRestoreError::Order(_))));

    manifest.leaves.push(leaf);

    assert_eq!(manifest.check(root), Err(StateRestoreError::TooManyLeaves(most + 1)));
}

#[test]
fn a_manifest_is_read_from_the_beginning_of_a_snapshot_that_is_still_on_its_way() {
    let (course, _) = start();
    let (manifest, snapshot) = (course.world().manifest(), course.world().snapshot());
    let length = wire::encode(&manifest).len();

    assert_eq!(Manifest::decode_beginning(&snapshot[..length - 1]), Ok(None));
    assert_eq!(Manifest::decode_beginning(&snapshot), Ok(Some(manifest)));

    let many = wire::encode(&(u64::from(LEAVES_MAX) + 1));
    let refused = StateRestoreError::TooManyLeaves(LEAVES_MAX as usize + 1);
    assert_eq!(Manifest::decode_beginning(&many), Err(refused));
    // No leaves, in two bytes instead of one.
    let longer = StateRestoreError::Snapshot(wire::DecodeError::NotCanonical);
    assert_eq!(Manifest::decode_beginning(&[0x80, 0]), Err(longer));
}

/// Restores a world with other contents of some leaves, or without them, under the root that these
/// leaves have.
fn restored_with(
    world: &World,
    change: impl Fn(&str, Vec<u8>) -> Option<Vec<u8>>,
) -> Option<StateRestoreError> {
    let leaves = world.manifest().leaves.into_iter().filter_map(|mut leaf| {
        let content = world.leaf(&leaf.key).expect("a leaf of the manifest");
        let content = change(&leaf.key.0, content)?;
        leaf.hash = Digest(*blake3::hash(&content).as_bytes());
        Some((leaf, content))
    });
    let (leaves, contents): (Vec<_>, Vec<_>) = leaves.unzip();
    let hashes = leaves.iter().map(|leaf| leaf.hash);
    let contents = hashes.zip(contents).collect();
    let manifest = Manifest { leaves };
    World::restore(&manifest, &contents, manifest.root(), world.tools()).err()
}

#[test]
fn a_state_with_a_package_that_is_none_is_refused() {
    let mut builder = Builder::new();
    let package = builder.package("quiet", "fn on_start() {}\n");
    let world = builder.build().world;
    assert_eq!(restored_with(&world, |_, content| Some(content)), None);

    let error = restored_with(&world, |key, content| {
        if key != "packages" {
            return Some(content);
        }
        let mut pieces: Vec<((PackageId, u32), Vec<u8>)> =
            wire::decode(&content, LEAF_BYTES_MAX).expect("pieces of packages");
        pieces[0].1.pop();
        Some(wire::encode(&pieces))
    });

    let Some(StateRestoreError::Packages(GenesisError::Package { id, .. })) = error else {
        panic!("the package is cut off: {error:?}")
    };
    assert_eq!(id, package);
}

#[test]
fn a_state_in_which_two_objects_have_one_body_is_refused() {
    let mut builder = Builder::new();
    builder.thing(Motion::Static, (5, 5), &[]);
    let world = builder.build().world;

    let error = restored_with(&world, |key, content| {
        if !key.starts_with("tile/") {
            return Some(content);
        }
        let mut entries: Vec<(ObjectId, Object, Body)> =
            wire::decode(&content, LEAF_BYTES_MAX).expect("entries of a tile");
        let (_, object, body) = entries[0].clone();
        entries.push((ObjectId(99), object, body));
        Some(wire::encode(&entries))
    });

    assert!(matches!(error, Some(StateRestoreError::Bodies(_))), "{error:?}");
}

/// Such numbers were never those of a sim: a turn of no ticks would be applied in no time.
#[test]
fn a_state_with_numbers_that_no_sim_may_have_is_refused() {
    let world = Builder::new().build().world;

    let error = restored_with(&world, |key, content| {
        if key != "parameters" {
            return Some(content);
        }
        let mut charter: Charter = wire::decode(&content, LEAF_BYTES_MAX).expect("a charter");
        charter.parameters.ticks_per_turn = 0;
        Some(wire::encode(&charter))
    });

    let refused = StateRestoreError::Parameters(ParametersError::TicksPerTurn(0));
    assert_eq!(error, Some(refused));
}
