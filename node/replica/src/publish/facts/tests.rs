use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_scripting::{Draft, Package, PackageAuthor};
use metatopia_sim::{ENGINE, Genesis, ObjectSpec, Parameters, ScriptSpec, Serial, Tools};
use metatopia_types::{
    Act, AssetLicence, Digest, Ed25519, Envelope, Header, Height, Lane, Look, Millis, NodeContact,
    ObjectId, PackageId, PublicKey, ScriptId, Seq, Sign, SigningKey, Tick, Turn, TurnBody,
};

use super::*;

const DAY_MS: u64 = 86_400_000;

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

/// A script that fails whenever it is touched.
fn sulker() -> Package {
    package("sulker")
}

fn package(name: &str) -> Package {
    Package::build(Draft {
        name: name.into(),
        version: "1.0.0".into(),
        api: 1,
        entry: "sulker.rhai".into(),
        files: [("sulker.rhai".into(), "fn on_touch(other) { throw \"no\"; }\n".into())].into(),
        licence: "AGPL-3.0-or-later".into(),
        authors: vec![PackageAuthor { name: "Ada".into(), key: None }],
        ..Draft::default()
    })
    .expect("a whole package")
}

/// A yard with so many scripts, one on each stone.
fn large(scripts: usize) -> Genesis {
    let (genesis, _) = plan();
    let stone = |n: usize| {
        let mut stone = genesis.objects[0].clone();
        let place = |n: usize| Fx::from_int(2 * i32::try_from(n).expect("few stones"));
        stone.body.pose.position = Vec2::new(place(n % 64), place(n / 64));
        stone
    };
    Genesis { objects: (0..scripts).map(stone).collect(), ..genesis }
}

/// A world with an admin, and a stone of Bob's that sulks.
fn yard() -> (World, PackageId) {
    let (genesis, id) = plan();
    (World::genesis(&genesis, &Tools::new(Arc::new(Ed25519))).expect("a sound genesis"), id)
}

fn plan() -> (Genesis, PackageId) {
    let (package, round) = (sulker(), Shape::Circle { radius: Fx::HALF });
    let id = package.id();
    let mut parameters = Parameters { seen_days: 1, ..Parameters::default() };
    // Wherever the dice let people appear, the stone is in their reach.
    parameters.avatar.spawn_radius = Fx::HALF;
    let genesis = Genesis {
        name: "yard".to_owned(),
        parameters,
        admins: BTreeSet::from([key(1).public()]),
        validators: BTreeMap::from([(key(9).public(), NodeContact::default())]),
        packages: BTreeMap::from([(id, package.encode())]),
        objects: vec![ObjectSpec {
            kind: "stone".to_owned(),
            name: "sulker".to_owned(),
            owner: Some(key(2).public()),
            look: Look::default(),
            text: String::new(),
            body: BodySpec::new(round, Motion::Static, Vec2::new(Fx::ONE, Fx::ZERO)),
            scripts: vec![ScriptSpec {
                package: id,
                state: metatopia_scripting::ScriptState::default(),
            }],
            licence: AssetLicence::default(),
            spawner: None,
            seat: None,
        }],
        licence: "AGPL-3.0-or-later".to_owned(),
        asset_licence: "CC-BY-SA-4.0".to_owned(),
        ..Genesis::empty()
    };
    (genesis, id)
}

/// Applies a turn with this act of this player.
fn play(world: &mut World, n: u8, seq: u64, act: Act) {
    let author = key(n).public();
    let (lane, seq, last_valid) = (Lane(1), Seq(seq), world.height().plus(100));
    let envelope = Envelope { sim: world.sim(), author, lane, seq, last_valid, act };
    let body = TurnBody::new(vec![envelope.sign(&key(n))], Vec::new()).expect("a small body");
    let set = world.roster().newest_set().id();
    let height = world.height().plus(1);
    let header = Header {
        sim: world.sim(),
        engine: ENGINE,
        height,
        proposer: key(9).public(),
        time: Millis(1_700_000_000_000 + height.0 * 50),
        validators: set,
        next_validators: set,
        ..Header::unstated()
    };
    world.apply(&Turn::of(header, body), &Serial);
}

fn login(world: &mut World, n: u8, name: &str, look: Look) {
    play(world, n, 1, Act::login(name.to_owned(), look));
}

#[test]
fn players_are_told_with_avatar_and_look_by_key() {
    let (mut world, _) = yard();
    let red = Look { color: 0xff_00_00, ..Look::default() };
    login(&mut world, 2, "Bob", red);
    login(&mut world, 1, "Ada", Look::default());

    let told = players(&world);

    let keys: Vec<PublicKey> = told.iter().map(|player| player.key).collect();
    assert!(keys.is_sorted());
    assert_eq!(keys.len(), 2);
    let bob = told.iter().find(|player| player.key == key(2).public()).expect("Bob is here");
    assert_eq!((bob.name.as_str(), bob.look), ("Bob", red));
    assert_eq!(Some(bob.avatar), world.avatar(&bob.key));
}

#[test]
fn a_script_that_fails_is_told_with_its_failures_and_who_pays() {
    let (mut world, package) = yard();
    let quiet = scripts(&world, ScriptId(0));
    assert_eq!((quiet[0].failures, &quiet[0].last_failure), (0, &None));
    login(&mut world, 2, "Bob", Look::default());

    play(&mut world, 2, 2, Act::Touch { object: ObjectId(1) });

    let told = scripts(&world, ScriptId(0));
    let expected = ScriptEntry {
        script: ScriptId(1),
        object: ObjectId(1),
        name: "sulker".to_owned(),
        package,
        owner: Some(key(2).public()),
        failures: 1,
        last_failure: Some((Tick(4), "thrown".to_owned())),
        suspended: None,
        dropped: 0,
        gas_used: told[0].gas_used,
    };
    assert!(told[0].gas_used > 0);
    assert_eq!(told, [expected]);
}

#[test]
fn what_somebody_owns_is_told_and_nothing_of_others() {
    let (mut world, package) = yard();
    login(&mut world, 2, "Bob", Look::default());

    let told = things(&world, &key(2).public());

    assert_eq!((told[0].object, told[0].name.as_str()), (ObjectId(1), "sulker"));
    assert_eq!((told.len(), told[0].text_bytes), (1, 0));
    assert_eq!(told[0].scripts, [(ScriptId(1), package)]);
    assert_eq!(things(&world, &key(3).public()), []);
}

#[test]
fn who_decides_is_told_with_those_who_would_be_next() {
    let (mut world, _) = yard();
    for n in [3, 2] {
        login(&mut world, n, &format!("player {n}"), Look::default());
    }

    let told = governance(&world);

    assert_eq!(told.admins, [key(1).public()]);
    assert_eq!((told.temp_admin, told.players), (None, 2));
    assert_eq!((told.admin_days, told.player_days, told.seen_days), (30, 7, 1));
    // The first turn has none before it; the second is 50 ms later.
    assert_eq!((told.time, told.admin_login), (50, 0));
    assert_eq!(told.countdown, 30 * DAY_MS - 50);
    let candidates: Vec<_> = told.candidates.iter().map(|c| (c.key, c.first_seen)).collect();
    assert_eq!(candidates, [(key(3).public(), 0), (key(2).public(), 50)]);
    assert_eq!((told.exposed, told.delayed), (vec![], vec![]));
    assert_eq!(Height(2), world.height());
}

#[test]
fn of_those_who_would_be_next_only_so_many_are_told() {
    let (mut world, _) = yard();
    for n in 0..CANDIDATES_MAX as u8 + 2 {
        login(&mut world, 10 + n, &format!("player {n}"), Look::default());
    }

    let told = governance(&world).candidates;

    assert_eq!(told.len(), CANDIDATES_MAX);
    assert_eq!(told[0].key, key(10).public(), "who came first is told first");
}

#[test]
fn packages_are_told_in_pages() {
    let mut genesis = large(1);
    for n in 0..PACKAGES_PER_ANSWER_MAX + 2 {
        let package = package(&format!("p{n}"));
        genesis.packages.insert(package.id(), package.encode());
    }
    let world = World::genesis(&genesis, &Tools::new(Arc::new(Ed25519))).expect("a sound genesis");

    let first = packages(&world, PackageId(Digest::ZERO));
    let rest = packages(&world, first.last().expect("a full page").package);

    assert_eq!(first.len(), PACKAGES_PER_ANSWER_MAX);
    assert_eq!(first.len() + rest.len(), genesis.packages.len());
    assert!(first.iter().chain(&rest).is_sorted_by(|a, b| a.package < b.package));
    let one =
        first.iter().find(|entry| entry.name == "p1").or(rest.iter().find(|e| e.name == "p1"));
    let one = one.expect("it is told of");
    assert_eq!((one.version.as_str(), one.scripts, one.publisher), ("1.0.0", 0, None));
    assert_eq!((one.licence.as_str(), one.left), ("AGPL-3.0-or-later", None));
}

#[test]
fn scripts_are_told_in_pages() {
    let (mut world, _) = yard();
    let only = scripts(&world, ScriptId(0));
    assert_eq!(only.len(), 1);
    assert_eq!(scripts(&world, only[0].script), [], "nothing runs after the last one");
    login(&mut world, 2, "Bob", Look::default());

    let mut genesis = large(SCRIPTS_PER_ANSWER_MAX + 3);
    genesis.name = "large".to_owned();
    let world = World::genesis(&genesis, &Tools::new(Arc::new(Ed25519))).expect("a sound genesis");
    let first = scripts(&world, ScriptId(0));
    let rest = scripts(&world, first.last().expect("a full page").script);

    assert_eq!((first.len(), rest.len()), (SCRIPTS_PER_ANSWER_MAX, 3));
    let ids: Vec<ScriptId> = first.iter().chain(&rest).map(|entry| entry.script).collect();
    assert!(ids.is_sorted_by(|a, b| a < b));
}
