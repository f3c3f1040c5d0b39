//! What a genesis may hold: every rule is hit.

use std::collections::BTreeSet;

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BoundsError, Compound, CompoundPart, Motion, Polygon, Shape};
use metatopia_scripting::{ScriptState, Value, limits::STATE_BYTES_MAX};
use metatopia_sim::{
    Area, Charter, ENGINE, Genesis, GenesisError, IntroductionError, Land, ObjectSpecError,
    ParametersError, ScriptSpec, Sector, SectorSound, World,
    gas::SCRIPT_TICK_MAX,
    limits::{
        GENESIS_BYTES_MAX, LAND_PER_WEEK_MAX, LANDS_MAX, PACKAGES_MAX, SCRIPTS_PER_OBJECT_MAX,
        SIM_COMPOUNDS_MAX, TEXT_BYTES_MAX,
    },
    picture_digest,
};
use metatopia_types::{
    Digest, LeafKey, NodeContact, PackageId, PublicKey, SimId, Site, Square, SquareError, Title,
    limits::{ADMINS_MAX, LEAF_BYTES_MAX},
    wire::{self, DecodeError, decode},
};

use crate::yard::{Builder, public, vec2};

/// Returns what is wrong with a yard that was changed.
fn fault(change: impl FnOnce(&mut Builder)) -> GenesisError {
    let mut builder = Builder::new();
    builder.package("quiet", "fn on_start() {}\n");
    builder.thing(Motion::Static, (3, 0), &[]);
    change(&mut builder);
    World::genesis(&builder.genesis, &builder.tools()).expect_err("the change is a mistake")
}

fn key(n: usize) -> PublicKey {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&(n as u64).to_le_bytes());
    PublicKey(key)
}

#[test]
fn a_genesis_decodes_to_itself_and_its_id_covers_all_of_it() {
    let mut builder = Builder::new();
    builder.thing(Motion::Static, (3, 0), &[]);
    let genesis = builder.genesis;
    assert_eq!(Genesis::decode(&genesis.encode()), Ok(genesis.clone()));

    let mut others = vec![genesis; 5];
    others[1].admins.insert(public(7));
    others[2].parameters.lease_ticks += 1;
    others[3].objects[0].look.color = 1;
    others[4].validators.insert(public(8), NodeContact::default());
    let ids: BTreeSet<_> = others.iter().map(Genesis::id).collect();
    assert_eq!(ids.len(), 5);
}

#[test]
fn bytes_that_are_too_many_or_none_are_refused() {
    let long = vec![0; GENESIS_BYTES_MAX + 1];
    let oversize = DecodeError::Oversize { found: GENESIS_BYTES_MAX + 1, limit: GENESIS_BYTES_MAX };
    assert_eq!(Genesis::decode(&long), Err(GenesisError::Decode(oversize)));
    assert_eq!(Genesis::decode(&[1]), Err(GenesisError::Decode(DecodeError::Malformed)));
}

#[test]
fn another_engine_is_refused() {
    let error = fault(|builder| builder.genesis.engine = ENGINE + 1);
    assert_eq!(error, GenesisError::Engine { found: ENGINE + 1 });
}

#[test]
fn other_rules_under_the_same_number_are_refused() {
    let found = Digest([7; 32]);
    let error = fault(|builder| builder.genesis.rules = Digest([7; 32]));
    assert_eq!(error, GenesisError::Rules { found });
    assert!(error.to_string().ends_with("this program by unreleased"), "{error}");
}

#[test]
fn counts_are_limited() {
    let too_many = |what, count, max| GenesisError::TooMany { what, count, max };
    let admins = fault(|builder| builder.genesis.admins = (0..=ADMINS_MAX).map(key).collect());
    assert_eq!(admins, too_many("admins", ADMINS_MAX + 1, ADMINS_MAX));

    let packages = fault(|builder| {
        let id = |n| PackageId(Digest(key(n).0));
        builder.genesis.packages = (0..=PACKAGES_MAX).map(|n| (id(n), Vec::new())).collect();
    });
    assert_eq!(packages, too_many("packages", PACKAGES_MAX + 1, PACKAGES_MAX));

    let objects = fault(|builder| {
        builder.genesis.parameters.objects_max = 3;
        (0..3).for_each(|_| builder.genesis.objects.push(builder.genesis.objects[0].clone()));
    });
    assert_eq!(objects, too_many("objects", 4, 3));

    let validators = fault(|builder| {
        let many = (0..32).map(|n| (key(n), NodeContact::default()));
        builder.genesis.validators = many.collect();
    });
    assert!(matches!(validators, GenesisError::Validators(_)), "{validators}");
}

#[test]
fn texts_are_short_lines() {
    let text = |what: &str| GenesisError::Text { what: what.to_owned() };
    assert_eq!(fault(|builder| builder.genesis.name.clear()), text("the sim's name"));
    let long = "x".repeat(TEXT_BYTES_MAX + 1);
    let error = fault(|builder| builder.genesis.licence = long.clone());
    assert_eq!(error, text("the sim's licence"));
    let error = fault(|builder| builder.genesis.asset_licence = "two\nlines".to_owned());
    assert_eq!(error, text("the licence of assets"));
    let error = fault(|builder| {
        let contact = NodeContact { peer_id: "x".repeat(129), address: String::new() };
        builder.genesis.validators.insert(public(9), contact);
    });
    assert_eq!(error, text(&format!("the contact of validator {}", public(9))));
}

#[test]
fn a_genesis_may_name_a_site_and_its_square_is_aligned() {
    let site = |x, y, doublings| {
        Some(Site { world: SimId(Digest([8; 32])), square: Square { x, y, doublings } })
    };
    let error = fault(|builder| builder.genesis.site = site(0, 0, 5));
    assert_eq!(error, GenesisError::Site(SquareError::Side(5)));
    let error = fault(|builder| builder.genesis.site = site(8, 4, 2));
    assert_eq!(error, GenesisError::Site(SquareError::Corner { x: 8, y: 4, side: 8 }));

    let mut builder = Builder::new();
    let elsewhere = builder.genesis.id();
    builder.genesis.site = site(-8, 16, 2);
    builder.genesis.parameters.ground = Area { low: vec2(-128, -128), high: vec2(128, 128) };
    assert_ne!(builder.genesis.id(), elsewhere, "the same place at another site is another sim");
    assert_eq!(Genesis::decode(&builder.genesis.encode()), Ok(builder.genesis.clone()));
    let world = builder.build().world;

    // Whoever has the root can be shown where the sim lies.
    let proof = world.proof(&LeafKey("parameters".to_owned())).expect("a leaf of every sim");
    assert!(proof.verify(world.root()).is_ok());
    let charter: Charter = decode(&proof.content, LEAF_BYTES_MAX).expect("a charter");
    assert_eq!(charter.site, builder.genesis.site);
}

#[test]
fn a_picture_is_the_one_that_the_introduction_names() {
    let picture = b"\xff\xd8\xff\xe0".to_vec();
    let fine = |builder: &mut Builder| {
        builder.genesis.picture.clone_from(&picture);
        builder.genesis.introduction.picture = Some(picture_digest(&picture));
    };
    let mut builder = Builder::new();
    fine(&mut builder);
    builder.build();

    let other = GenesisError::Introduction(IntroductionError::OtherPicture);
    let error = fault(|builder| {
        fine(builder);
        builder.genesis.picture.push(0);
    });
    assert_eq!(error, other);
    let error = fault(|builder| {
        fine(builder);
        builder.genesis.introduction.picture = None;
    });
    assert_eq!(error, other);
    let error = fault(|builder| {
        fine(builder);
        builder.genesis.picture.clear();
    });
    assert_eq!(error, GenesisError::Introduction(IntroductionError::PictureKind));
}

#[test]
fn a_room_that_cannot_be_is_named_with_its_number() {
    let error = fault(|builder| {
        let corners = vec![vec2(0, 0), vec2(0, 9), vec2(9, 9), vec2(9, 0)];
        let (floor, light, sound) = (0, 100, SectorSound::Silent);
        let room = Sector { name: "hall".to_owned(), corners, floor, light, sound };
        builder.genesis.floor_plan.sectors.push(room);
    });
    assert!(matches!(error, GenesisError::FloorPlan(_)));
    assert!(error.to_string().starts_with("sector 1: the corners do not go around"), "{error}");
}

#[test]
fn parameters_have_ranges() {
    let error = fault(|builder| builder.genesis.parameters.ticks_per_turn = 0);
    assert_eq!(error, GenesisError::Parameters(ParametersError::TicksPerTurn(0)));
    let error = fault(|builder| builder.genesis.parameters.avatar.radius = Fx::ZERO);
    assert!(error.to_string().starts_with("avatar.radius is 0, outside of 0.1"), "{error}");
    assert!(matches!(error, GenesisError::Parameters(ParametersError::Range { .. })));
    let error = fault(|builder| builder.genesis.parameters.gas.tick = SCRIPT_TICK_MAX - 1);
    assert_eq!(error.to_string(), "gas.tick is 13999, outside of 14000 to 1073741824");
    assert!(matches!(error, GenesisError::Parameters(ParametersError::Count { .. })));
    let error = fault(|builder| {
        builder.genesis.parameters.land_per_week = LAND_PER_WEEK_MAX as u32 + 1;
    });
    assert!(matches!(error, GenesisError::Parameters(ParametersError::Count { .. })));
    let error = fault(|builder| builder.genesis.parameters.objects_max = 16_385);
    assert_eq!(error.to_string(), "objects_max is 16385, outside of 1 to 16384");
}

#[test]
fn the_ground_is_a_rectangle_in_which_avatars_appear_and_objects_are() {
    let meters = vec2;
    let ground = |low, high| Area { low, high };
    let refused = |ground: Area| match fault(|builder| builder.genesis.parameters.ground = ground) {
        GenesisError::Parameters(error) => error,
        other => panic!("{other}"),
    };
    let (low, high) = (meters(5, 0), meters(5, 9));
    assert_eq!(
        refused(ground(low, high)),
        ParametersError::Ground(BoundsError::Empty { low, high })
    );
    let far = meters(-1_025, 0);
    assert_eq!(
        refused(ground(far, meters(0, 9))),
        ParametersError::Ground(BoundsError::OutOfRange(far))
    );
    let error = refused(ground(meters(1, 1), meters(9, 9)));
    assert_eq!(error, ParametersError::SpawnOutside(Vec2::ZERO));

    let error = fault(|builder| {
        builder.genesis.parameters.ground = ground(meters(-1, -1), meters(2, 1));
    });
    assert_eq!(error, GenesisError::OutOfGround { object: 0, position: meters(3, 0) });
}

#[test]
fn a_package_whose_source_does_not_compile_is_named() {
    let mut bad = None;
    let error = fault(|builder| bad = Some(builder.package("bad", "fn on_start( {\n")));
    let GenesisError::Source { id, .. } = error else { panic!("{error}") };
    assert_eq!(Some(id), bad);
}

#[test]
fn lands_have_names_and_ground_and_are_not_too_many() {
    let land = || Land {
        name: "yard".to_owned(),
        area: Area { low: vec2(0, 0), high: vec2(5, 5) },
        title: Title::Open,
    };
    let error = fault(|builder| {
        builder.genesis.lands = vec![land(), Land { name: String::new(), ..land() }];
    });
    assert!(error.to_string().starts_with("land 1 has no name, or no ground"), "{error}");
    let error = fault(|builder| {
        let area = Area { low: vec2(5, 0), high: vec2(5, 5) };
        builder.genesis.lands = vec![Land { area, ..land() }];
    });
    assert!(matches!(error, GenesisError::Land { land: 0, .. }), "{error}");
    let error = fault(|builder| builder.genesis.lands = vec![land(); LANDS_MAX + 1]);
    assert_eq!(error.to_string(), "65 lands where at most 64 are allowed");
    let error = fault(|builder| builder.genesis.parameters.building.size_max = Fx::from_int(33));
    assert_eq!(error.to_string(), "building.size_max is 33, outside of 0.125 to 32");
    let error = fault(|builder| builder.genesis.parameters.building.objects_per_player = 1_025);
    assert!(error.to_string().starts_with("building.objects_per_player is 1025"), "{error}");
}

#[test]
fn the_leaf_of_parameters_holds_all_lands() {
    let mut builder = Builder::new();
    let area = Area { low: Vec2::new(Fx::MIN, Fx::MIN), high: Vec2::new(Fx::MAX, Fx::MAX) };
    let land = Land { name: "x".repeat(32), area, title: Title::Player(public(1)) };
    builder.genesis.lands = vec![land; LANDS_MAX];

    let manifest = builder.build().world.manifest();

    let leaf = manifest.leaves.iter().find(|leaf| leaf.key.0 == "parameters").expect("there");
    assert!((leaf.bytes as usize) < LEAF_BYTES_MAX / 5, "{} bytes", leaf.bytes);
}

#[test]
fn objects_have_rules() {
    let object = |change: fn(&mut metatopia_sim::ObjectSpec)| match fault(|builder| {
        change(&mut builder.genesis.objects[0])
    }) {
        GenesisError::Object { object: 0, error } => error,
        other => panic!("{other}"),
    };
    assert_eq!(
        object(|object| object.kind = "avatar".to_owned()),
        ObjectSpecError::Kind("avatar".to_owned())
    );
    assert_eq!(object(|object| object.name.clear()), ObjectSpecError::Name(String::new()));
    assert_eq!(object(|object| object.text = "x".repeat(257)), ObjectSpecError::Text(257));
    assert_eq!(
        object(|object| object.text = "to the \u{202e}tsew".to_owned()),
        ObjectSpecError::TextLine("to the \u{202e}tsew".to_owned())
    );
    assert_eq!(object(|object| object.look.color = 1 << 24), ObjectSpecError::Color(1 << 24));
    let script = ScriptSpec { package: PackageId(Digest::ZERO), state: ScriptState::default() };
    let scripts = vec![script.clone(); SCRIPTS_PER_OBJECT_MAX + 1];
    let error = fault(|builder| builder.genesis.objects[0].scripts = scripts);
    let expected = ObjectSpecError::TooManyScripts(SCRIPTS_PER_OBJECT_MAX + 1);
    assert_eq!(error, GenesisError::Object { object: 0, error: expected });

    let error = fault(|builder| builder.genesis.objects[0].scripts = vec![script]);
    let package = PackageId(Digest::ZERO);
    assert_eq!(error, GenesisError::NoPackage { object: 0, package });

    assert_eq!(object(|object| object.seat = Some(vec2(2, 1))), ObjectSpecError::Seat(vec2(2, 1)));

    let error = fault(|builder| {
        let disc = CompoundPart::new(Shape::Circle { radius: Fx::HALF });
        let discs = Compound::new(&[disc.clone(), disc]).expect("two parts");
        builder.genesis.objects[0].body.shape = Shape::Compound(discs);
        let object = builder.genesis.objects[0].clone();
        builder.genesis.objects.resize(SIM_COMPOUNDS_MAX + 1, object);
    });
    let (what, max) = ("things of several parts", SIM_COMPOUNDS_MAX);
    assert_eq!(error, GenesisError::TooMany { what, count: max + 1, max });

    // Only bytes say that a polygon lies beside its centre of mass.
    let wedge = Polygon::new(&[vec2(0, 0), vec2(2, 0), vec2(0, 1)]).expect("a wedge");
    let bytes = wire::encode(&wedge);
    let changed = |bit: usize| {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        decode::<Polygon>(&changed, changed.len()).ok()
    };
    let beside = (0..bytes.len() * 8).filter_map(changed).find(|other| !other.is_centred());
    let beside = Shape::Polygon(beside.expect("a bit moves a corner"));
    let error = fault(|builder| builder.genesis.objects[0].body.shape = beside);
    let expected = ObjectSpecError::OffCentre;
    assert_eq!(error, GenesisError::Object { object: 0, error: expected });

    // A spawner stands before what it spawned, so nothing spawned itself.
    let spawner = metatopia_types::ObjectId(1);
    let error = fault(|builder| builder.genesis.objects[0].spawner = Some(spawner));
    assert_eq!(error, GenesisError::NoSpawner { object: 0, spawner });

    let error = fault(|builder| {
        let package = *builder.genesis.packages.keys().next().expect("one");
        let text = Value::Text("x".repeat(STATE_BYTES_MAX));
        let state = ScriptState([("x".to_owned(), text)].into());
        builder.genesis.objects[0].scripts = vec![ScriptSpec { package, state }];
    });
    let is_state =
        matches!(error, GenesisError::Object { object: 0, error: ObjectSpecError::State(_) });
    assert!(is_state, "{error}");

    let error = fault(|builder| {
        builder.genesis.objects[0].body.shape = Shape::Rect { half: Vec2::ZERO };
    });
    assert!(matches!(error, GenesisError::Body { object: 0, .. }), "{error}");
}

#[test]
fn packages_are_what_they_say_and_compile() {
    let error = fault(|builder| {
        builder.package("typo", "fn on_start() {\n    sya(1);\n}\n");
    });
    assert!(error.to_string().contains("main.rhai:2:5: there is no function sya"), "{error}");

    let other = PackageId(Digest([7; 32]));
    let error = fault(|builder| {
        let (_, bytes) = builder.genesis.packages.pop_first().expect("one");
        builder.genesis.packages.insert(other, bytes);
    });
    assert!(matches!(error, GenesisError::PackageName { stated, .. } if stated == other));

    let error = fault(|builder| {
        builder.genesis.packages.insert(other, vec![1, 2, 3]);
    });
    assert!(matches!(error, GenesisError::Package { id, .. } if id == other), "{error}");
}
