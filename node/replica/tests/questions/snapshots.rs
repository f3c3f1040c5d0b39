//! States to begin with.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_protocol::{
    Answer, GENESIS_PART_BYTES, Question, SNAPSHOT_PART_BYTES, SnapshotOffer,
};
use metatopia_replica::{
    Config, OFFERS_MAX, base_of, encode_snapshot,
    keeper::{PassedOver, newest_state},
};
use metatopia_sim::{ENGINE, Genesis, LeafEntry, ObjectSpec, World};
use metatopia_store::{FileKind, FileName, Snapshot, memory::MemoryDisk, put_snapshot};
use metatopia_types::{AssetLicence, Digest, Ed25519, Height, Look, limits::ROOT_LAG, wire};

use super::alone::{Alone, SNAPSHOT_TURNS, config, genesis, tools};

fn offer(server: &mut Alone) -> SnapshotOffer {
    match server.ask(Question::Snapshot) {
        Answer::Snapshot(offer) => *offer,
        other => panic!("{other:?} where an offer belongs"),
    }
}

fn fetch(server: &mut Alone, offer: &SnapshotOffer) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in 0.. {
        match server.ask(Question::SnapshotPart { height: offer.height, part }) {
            Answer::SnapshotPart(part) => {
                assert!(part.len() <= SNAPSHOT_PART_BYTES);
                bytes.extend(part);
            }
            Answer::Unknown => break,
            other => panic!("{other:?} where a part belongs"),
        }
    }
    assert_eq!(bytes.len() as u64, offer.bytes);
    bytes
}

/// Checks that a stranger can believe the offer. Returns the world that it leads to.
fn check(server: &mut Alone, offer: &SnapshotOffer) -> World {
    assert_eq!(offer.header.height, offer.height.plus(ROOT_LAG));
    assert_eq!(offer.certificate.header, offer.header.id());
    let bytes = fetch(server, offer);
    let world = World::from_snapshot(&bytes, offer.header.root, &tools()).expect("that state");
    assert_eq!((world.height(), world.sim()), (offer.height, server.sim));
    let set = world.validators(offer.header.height).expect("known");
    assert_eq!(offer.certificate.verify(server.sim, set, &Ed25519), Ok(()));
    world
}

#[test]
fn a_young_world_offers_its_beginning_as_soon_as_its_root_is_certified() {
    let mut server = Alone::begin();
    assert_eq!(server.ask(Question::Snapshot), Answer::Unknown);

    server.run_to(ROOT_LAG);

    let offer = offer(&mut server);
    assert_eq!(offer.height, Height(0));
    check(&mut server, &offer);
}

#[test]
fn the_newest_state_with_a_certified_root_is_offered() {
    let mut server = Alone::begin();
    server.run_to(3 * SNAPSHOT_TURNS + 1);
    let offer = offer(&mut server);
    assert!(
        offer.height == Height(2 * SNAPSHOT_TURNS) || offer.height == Height(3 * SNAPSHOT_TURNS)
    );

    server.run_to(3 * SNAPSHOT_TURNS + ROOT_LAG);
    let offer = self::offer(&mut server);
    assert_eq!(offer.height, Height(3 * SNAPSHOT_TURNS));
    check(&mut server, &offer);
}

#[test]
fn a_state_can_be_fetched_to_its_end_while_a_newer_one_is_offered_and_is_then_forgotten() {
    let mut server = Alone::begin();
    server.run_to(SNAPSHOT_TURNS + 5);
    let old = offer(&mut server);

    server.run_to(2 * SNAPSHOT_TURNS + 5);
    assert_ne!(offer(&mut server).height, old.height);
    check(&mut server, &old);

    server.run_to((1 + OFFERS_MAX as u64) * SNAPSHOT_TURNS + 5);
    let part = Question::SnapshotPart { height: old.height, part: 0 };
    assert_eq!(server.ask(part), Answer::Unknown);
}

#[test]
fn a_server_that_started_again_offers_a_state_at_once() {
    let mut server = Alone::begin();
    server.run_to(SNAPSHOT_TURNS + 20);
    let mut server = server.again();

    let offer = offer(&mut server);

    assert_eq!(offer.height, Height(SNAPSHOT_TURNS));
    check(&mut server, &offer);
}

#[test]
fn parts_that_are_not_there_are_unknown() {
    let mut server = Alone::begin();
    server.run_to(5);
    for (height, part) in [(0, u32::MAX), (7, 0), (u64::MAX, 0)] {
        let question = Question::SnapshotPart { height: Height(height), part };
        assert_eq!(server.ask(question), Answer::Unknown);
    }
}

/// A start took the newest snapshot whose file was whole, and when its content was none, as of
/// another version of the program, it passed over the older ones as well, began at genesis or asked
/// others for a state.
#[test]
fn a_whole_snapshot_that_is_none_is_named_and_an_older_one_is_started_from() {
    let world = World::genesis(&genesis(), &tools()).expect("a small sim");
    let (base, root) = (base_of(&world), world.root());
    let good = encode_snapshot(&base, &world);
    let mut disk = MemoryDisk::new();
    for (height, bytes) in [(0, good), (7, b"of another version".to_vec())] {
        let snapshot = Snapshot { height: Height(height), root, bytes };
        put_snapshot(&mut disk, &snapshot).expect("a good disk");
    }

    let (state, passed_over) = newest_state(&disk, &tools());

    assert_eq!(state.map(|(base, world)| (base.height, world.root())), Some((Height(0), root)));
    assert!(
        passed_over.len() == 1 && passed_over[0].to_string().contains("height 7"),
        "{passed_over:?}"
    );
}

#[test]
fn a_snapshot_of_another_engine_is_told_as_such_and_not_as_damage() {
    let world = World::genesis(&genesis(), &tools()).expect("a small sim");
    let (mut base, mut manifest) = (base_of(&world), world.manifest());
    let content = |leaf: &LeafEntry| world.leaf(&leaf.key).expect("a leaf of the manifest");
    let mut leaves: Vec<Vec<u8>> = manifest.leaves.iter().map(content).collect();
    let place = manifest.leaves.iter().position(|leaf| leaf.key.0 == "engine");
    let place = place.expect("every state names its engine");
    leaves[place] = wire::encode(&(ENGINE + 1, "and more than this program knows"));
    manifest.leaves[place].hash = Digest(*blake3::hash(&leaves[place]).as_bytes());
    let root = manifest.root();
    base.roots[1] = root;
    let snapshot =
        Snapshot { height: Height(0), root, bytes: wire::encode(&(base, manifest, leaves)) };
    let mut disk = MemoryDisk::new();
    put_snapshot(&mut disk, &snapshot).expect("a good disk");

    let (state, passed_over) = newest_state(&disk, &tools());

    assert!(state.is_none());
    let file = FileName::new(FileKind::Snapshot(Height(0), root));
    assert_eq!(passed_over, [PassedOver::OtherEngine { file, found: ENGINE + 1 }]);
}

#[test]
fn a_long_genesis_is_handed_out_in_parts_and_a_short_one_whole() {
    let short = genesis();
    assert_eq!(Alone::begin().ask(Question::Genesis), Answer::Genesis(short.encode()));

    let thing = |n: i32| {
        let shape = Shape::Circle { radius: Fx::ONE };
        let place = Vec2::new(Fx::from_int(n % 60 * 3), Fx::from_int(n / 60 * 3));
        ObjectSpec {
            kind: "thing".repeat(4),
            name: "thing".to_owned(),
            owner: None,
            look: Look::default(),
            text: String::new(),
            body: BodySpec::new(shape, Motion::Static, place),
            scripts: Vec::new(),
            licence: AssetLicence::default(),
            spawner: None,
            seat: None,
        }
    };
    let long = Genesis { objects: (0..4_000).map(thing).collect(), ..short };
    let bytes = long.encode();
    let mut server = Alone::found(&long);
    let parts: Vec<&[u8]> = bytes.chunks(GENESIS_PART_BYTES).collect();
    assert!(parts.len() > 1);
    assert_eq!(server.ask(Question::Genesis), Answer::Genesis(parts[0].to_vec()));
    for (n, part) in (0..).zip(&parts) {
        let answer = server.ask(Question::GenesisPart { part: n });
        assert_eq!(answer, Answer::GenesisPart(part.to_vec()), "part {n}");
    }
    let beyond = [u32::MAX, parts.len() as u32];
    for part in beyond {
        assert_eq!(server.ask(Question::GenesisPart { part }), Answer::Unknown);
    }
}

#[test]
fn a_server_that_is_not_told_otherwise_writes_its_state_every_half_a_minute() {
    let (genesis, usual) = (genesis(), metatopia_replica::SNAPSHOT_TURNS);
    let config = Config { snapshot_turns: usual, ..config(&genesis) };
    assert_eq!(usual, 30 * u64::from(config.turns_per_second));
    let mut server = Alone::configured(&genesis, config);
    server.run_to(usual - 1);
    assert!(!server.has_state());
    server.run_to(usual);
    assert_eq!(server.state().1.height(), Height(usual));
    server.run_to(2 * usual - 1);
    assert_eq!(server.state().1.height(), Height(usual));
    server.run_to(2 * usual);
    assert_eq!(server.state().1.height(), Height(2 * usual));
}
