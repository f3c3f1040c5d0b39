//! Places go into a sim and come out of one again.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_physics::{BodySpec, CombineRule, Shape};
use metatopia_scenarios::{Place, PlaceTemplate, golden, parse_folder};
use metatopia_scripting::Value;
use metatopia_sim::{Charter, EngineLeaf, Genesis, Serial, Tools, World};
use metatopia_types::{
    Ed25519, LeafKey, NodeContact, ObjectId, Sign as _, SigningKey, limits::LEAF_BYTES_MAX, wire,
};

fn genesis(place: &Place) -> Genesis {
    let key = |seed| SigningKey::from_seed([seed; 32]).public();
    let validators = BTreeMap::from([(key(1), NodeContact::default())]);
    place.genesis(validators, BTreeSet::from([key(2)]))
}

fn founded(place: &Place) -> World {
    World::genesis(&genesis(place), &Tools::new(Arc::new(Ed25519))).expect("a place of ours")
}

fn read(files: &BTreeMap<String, String>) -> Place {
    parse_folder("yard", files).unwrap_or_else(|mistakes| panic!("{}", mistakes[0]))
}

#[test]
fn every_template_can_be_founded() {
    for template in PlaceTemplate::ALL {
        let place = template.place().unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
        assert_eq!(place.name(), template.name);
        let world = founded(&place);
        assert_eq!(world.objects().count(), place.objects().len(), "{}", template.name);
    }
}

#[test]
fn the_same_files_make_the_same_genesis() {
    for template in PlaceTemplate::ALL {
        let [a, b] = [(), ()].map(|()| genesis(&read(&template.files())));
        assert_eq!(a.id(), b.id());
    }
}

#[test]
fn a_place_that_is_written_is_read_again_as_it_was() {
    for template in PlaceTemplate::ALL {
        let place = template.place().expect("a test reads it");
        let files = place.files();
        let again = read(&files);
        assert_eq!(genesis(&again).id(), genesis(&place).id(), "{}", template.name);
        assert_eq!(again.files(), files, "{}", template.name);
    }
}

/// The afternoon on the plaza, with all that its visitors built, at the last turn at which something is there that a
/// script has spawned: such things come and go.
fn afternoon() -> World {
    let mut last = None;
    let ended = golden::replay(&Serial, |world| {
        if world.objects().any(|object| object.spawner.is_some()) {
            last = Some(world.clone());
        }
    });
    ended.unwrap_or_else(|error| panic!("{error}"));
    last.expect("the log has turns")
}

#[test]
fn a_sim_that_was_exported_and_founded_again_has_the_same_things() {
    let world = afternoon();
    let exported = Place::of_world(&world);
    let again = founded(&read(&exported.files()));

    let things = |world: &World| -> Vec<_> { world.specs().into_iter().map(|(_, s)| s).collect() };
    let (before, after) = (things(&world), things(&again));
    assert!(before.iter().any(|thing| thing.owner.is_some()), "somebody has built");
    assert!(before.iter().any(|thing| thing.spawner.is_some()), "a script has spawned things");
    assert!(before.iter().any(|thing| thing.scripts.iter().any(|s| !s.state.0.is_empty())));
    assert_eq!(before.len(), after.len());
    let numbers: BTreeMap<ObjectId, ObjectId> =
        world.specs().iter().zip(1..).map(|((old, _), new)| (*old, ObjectId(new))).collect();
    // A handle of what is gone by now is one of nothing.
    let renumber = |id: &mut ObjectId| *id = numbers.get(id).copied().unwrap_or(ObjectId(0));
    for (mut was, mut is) in before.into_iter().zip(after) {
        was.spawner.as_mut().into_iter().for_each(renumber);
        for value in was.scripts.iter_mut().flat_map(|script| script.state.0.values_mut()) {
            if let Value::Object(id) = value {
                renumber(id);
            }
        }
        // A direction has 30 bits and an angle 32: on the way back and forth it may turn by its last bits.
        let turned = was.body.pose.angle.wrapping_sub(is.body.pose.angle).to_bits() as i32;
        assert!(turned.unsigned_abs() <= 4, "{} turned by {turned}", was.name);
        is.body.pose.angle = was.body.pose.angle;
        assert_eq!(is, was);
    }
    assert_eq!(again.parameters(), world.parameters());
    assert_eq!(again.lands(), world.lands());
    assert_eq!(again.charter().licence, world.charter().licence);
    assert_eq!(again.charter().asset_licence, world.charter().asset_licence);
    let packages = |world: &World| -> Vec<_> { world.packages().map(|p| p.id()).collect() };
    assert_eq!(packages(&again), packages(&world));
}

/// What a founded sim has of a kind of leaf of the sim that its place was exported from.
enum LeafFate {
    /// All leaves of the kind, bit by bit.
    Same,
    /// The charter, but for the id of the sim.
    Rules,
    /// What `a_sim_that_was_exported_and_founded_again_has_the_same_things` compares: new numbers, the same things.
    Things,
    /// The joints, by the new numbers of their things.
    Joints,
    /// Nothing, for this reason.
    LeftOut(&'static str),
}

use LeafFate::{Joints, LeftOut, Rules, Same, Things};

const TIMES: &str = "a founded sim begins its heights and times anew";
const PLAYERS: &str = "players, and what is theirs alone, are no part of a place";
const ORDERS: &str = "what people ordered, reported or said in one sim is nothing in another one";
const NEIGHBOURS: &str = "a place lies in no world, so it has no neighbours and grants nothing";
const STEPS: &str = "physics and programs make it again with the first steps";

/// Each kind of leaf that a state has.
const FATES: [(&str, LeafFate); 42] = [
    ("parameters", Rules),
    ("packages", Same),
    ("tile", Things),
    ("script", Things),
    ("joints", Joints),
    ("clock", LeftOut(TIMES)),
    ("governance", LeftOut(TIMES)),
    ("first_logins", LeftOut(TIMES)),
    ("outcomes", LeftOut(TIMES)),
    ("publications", LeftOut(TIMES)),
    ("pieces", LeftOut(TIMES)),
    ("contacts", LeftOut(STEPS)),
    ("tier", LeftOut(STEPS)),
    ("validators", LeftOut("whoever founds a sim names its servers")),
    ("readiness", LeftOut("whoever founds a sim names its servers")),
    ("players", LeftOut(PLAYERS)),
    ("windows", LeftOut(PLAYERS)),
    ("histories", LeftOut(PLAYERS)),
    ("owners", LeftOut(PLAYERS)),
    ("luggage", LeftOut(PLAYERS)),
    ("lots", LeftOut(PLAYERS)),
    ("roles", LeftOut(PLAYERS)),
    ("bans", LeftOut(PLAYERS)),
    ("mutes", LeftOut(PLAYERS)),
    ("rotated", LeftOut(PLAYERS)),
    ("mailboxes", LeftOut(PLAYERS)),
    ("friends", LeftOut(PLAYERS)),
    ("clubs", LeftOut(PLAYERS)),
    ("profiles", LeftOut(PLAYERS)),
    ("pictures", LeftOut(PLAYERS)),
    ("chat", LeftOut(ORDERS)),
    ("frozen", LeftOut(ORDERS)),
    ("orders", LeftOut(ORDERS)),
    ("reports", LeftOut(ORDERS)),
    ("traces", LeftOut(ORDERS)),
    ("forgotten", LeftOut(ORDERS)),
    ("land", LeftOut(NEIGHBOURS)),
    ("grants", LeftOut(NEIGHBOURS)),
    ("granted", LeftOut(NEIGHBOURS)),
    ("neighbour", LeftOut(NEIGHBOURS)),
    ("parcel", LeftOut(NEIGHBOURS)),
    ("ghosts", LeftOut(NEIGHBOURS)),
];

/// Returns all leaves of a kind, with their contents.
fn leaves(world: &World, kind: &str) -> BTreeMap<String, Vec<u8>> {
    let keys = world.manifest().leaves.into_iter().map(|leaf| leaf.key);
    let is_of = |key: &LeafKey| key.0.split('/').next() == Some(kind);
    keys.filter(is_of).map(|key| (key.0.clone(), world.leaf(&key).expect("it is there"))).collect()
}

/// A kind of leaf that somebody adds has no fate here, so the test fails until an export has it, or a reason not to.
#[test]
fn each_kind_of_leaf_is_in_a_sim_that_was_exported_and_founded_again_or_left_out_for_a_reason() {
    let world = afternoon();
    let exported = Place::of_world(&world);
    let again = founded(&read(&exported.files()));

    let content = &leaves(&world, "engine")["engine"];
    let EngineLeaf { formats, .. } = wire::decode(content, LEAF_BYTES_MAX).expect("a leaf");
    let kinds: BTreeSet<&str> = formats.keys().map(String::as_str).collect();
    assert_eq!(kinds, FATES.iter().map(|(kind, _)| *kind).collect());
    assert_eq!(leaves(&again, "engine"), leaves(&world, "engine"));
    let mut reasons = BTreeSet::new();
    for (kind, fate) in FATES {
        match fate {
            Same => assert_eq!(leaves(&again, kind), leaves(&world, kind), "{kind}"),
            Rules => {
                let own = Charter { sim: again.sim(), ..world.charter().clone() };
                assert_eq!(*again.charter(), own);
            }
            Things => {
                assert!(!leaves(&again, kind).is_empty() && !leaves(&world, kind).is_empty());
            }
            Joints => assert_eq!(Place::of_world(&again).joints(), exported.joints()),
            LeftOut(why) => {
                reasons.insert(why);
            }
        }
    }
    assert_eq!(reasons.len(), 6, "{reasons:?}");
}

#[test]
fn an_exported_sim_has_what_its_packages_import() {
    let object = "[[object]]\nkind = \"sign\"\nname = \"course\"\nat = [3, 0]\nbox = [1, 1]\n";
    let place = format!("{HEAD}{object}[[object.scripts]]\npackage = \"race\"\n");
    let files = [
        ("place.toml", place.as_str()),
        ("packages/race/package.toml", include_str!("../packages/race/package.toml")),
        ("packages/race/race.rhai", include_str!("../packages/race/race.rhai")),
        ("packages/race/tests.rhai", include_str!("../packages/race/tests.rhai")),
        ("packages/scores/tests.rhai", include_str!("../packages/scores/tests.rhai")),
        ("packages/scores/package.toml", include_str!("../packages/scores/package.toml")),
        ("packages/scores/scores.rhai", include_str!("../packages/scores/scores.rhai")),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let world = founded(&read(&files.into()));
    let again = founded(&read(&Place::of_world(&world).files()));
    let packages = |world: &World| -> Vec<_> {
        let all = world.packages();
        all.map(|package| (package.id(), package.manifest().imports.len())).collect()
    };
    assert_eq!(packages(&world), packages(&again));
    assert_eq!(packages(&world).iter().map(|(_, imports)| imports).sum::<usize>(), 1);
}

#[test]
fn an_export_is_text_that_can_be_compared() {
    let files = Place::of_world(&afternoon()).files();
    let place = &files["place.toml"];
    assert!(place.contains("name = \"south wall\"\nat = [0, \"-20.25\"]\n"), "{place}");
    assert!(files.contains_key("packages/door/door.rhai"));
    assert_eq!(Place::of_world(&afternoon()).files(), files);
}

const HEAD: &str =
    "name = \"yard\"\nlicence = \"AGPL-3.0-or-later\"\nasset_licence = \"CC0-1.0\"\n";

const MANIFEST: &str = "name = \"keeper\"\nversion = \"1.0.0\"\napi = 1\nentry = \"keeper.rhai\"\n\
    licence = \"AGPL-3.0-or-later\"\nauthors = [\"Ada\", { name = \"Bob\", key = \"KEY\" }]\n";

/// A yard with a keeper whose script begins with this state.
fn keeper(state: &str) -> BTreeMap<String, String> {
    let key = SigningKey::from_seed([3; 32]).public().to_string();
    let place = format!(
        "{HEAD}[[object]]\nkind = \"gate\"\nname = \"gate\"\nmark = \"gate\"\nat = [9, 0]\nbox = [1, 1]\n\
         turn = \"0.1\"\nowner = \"{key}\"\nshape = \"star\"\nsensor = true\n\
         seat = [\"0.5\", -1]\n\
         [[object]]\nkind = \"keeper\"\nname = \"keeper\"\nat = [7, 0]\ndisc = \"0.5\"\n\
         [[object.scripts]]\npackage = \"keeper\"\n[object.scripts.state]\n{state}\n"
    );
    BTreeMap::from([
        ("place.toml".to_owned(), place),
        ("packages/keeper/package.toml".to_owned(), MANIFEST.replace("KEY", &key)),
        ("packages/keeper/keeper.rhai".to_owned(), "fn on_start() {}\n".to_owned()),
    ])
}

#[test]
fn scripts_can_begin_with_all_that_they_can_remember() {
    let files = keeper(
        "count = -3\nopen = true\nword = \"hi\"\nlist = [1, [\"a\"], { unit = true }]\n\
         share = { fixed = \"0.25\" }\nway = { vector = [\"1\", \"-2.5\"] }\n\
         gate = { thing = \"gate\" }\nlost = { gone = true }\n\
         by_name = { map = { thing = { fixed = \"1\" }, two = 2 } }\n",
    );
    let place = read(&files);

    let state = &place.objects()[1].scripts[0].state.0;
    assert_eq!(state["share"], Value::Fixed(Fx::from_ratio(1, 4)));
    assert_eq!(state["gate"], Value::Object(ObjectId(1)));
    assert_eq!(state["way"], Value::Vec2(Vec2::new(Fx::ONE, Fx::from_ratio(-5, 2))));
    assert_eq!(founded(&place).specs()[1].1.scripts[0].state.0, *state);
    let again = read(&place.files());
    assert_eq!(genesis(&again).id(), genesis(&place).id());
    assert_eq!(again.packages().next(), place.packages().next());
}

#[test]
fn a_state_that_no_script_can_have_is_named_with_its_line() {
    for (state, complaint) in [
        ("speed = 1.5", "write `{ fixed = \"1.5\" }`"),
        ("gate = { thing = \"door\" }", "no thing has the mark \"door\""),
        ("gate = { colour = \"red\" }", "\"colour\" says nothing"),
        ("day = 1979-05-27", "scripts know no dates"),
        ("way = { vector = [1, 2] }", "a vector is two numbers in quotes"),
        ("way = { fixed = \"x\" }", "\"x\" is no number"),
        ("way = { fixed = \"1\", unit = true }", "a table says what it is by one entry"),
    ] {
        let mistakes = parse_folder("yard", &keeper(state)).expect_err(state);
        let told = mistakes[0].to_string();
        assert!(told.starts_with("yard/place.toml:23:") && told.contains(complaint), "{told}");
    }
}

#[test]
fn a_folder_without_a_place_and_a_wrong_package_are_told_together() {
    let mut files = keeper("open = true");
    files.remove("place.toml");
    files.insert("packages/other/package.toml".to_owned(), String::new());

    let mistakes = parse_folder("yard", &files).expect_err("two mistakes");

    let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("yard/packages/other/package.toml:"), "{told:?}");
    assert_eq!(told[1], "yard: place.toml is missing");
}

/// Things were looked at only once all packages were fine.
#[test]
fn mistakes_of_a_package_and_of_a_thing_are_told_together() {
    let mut files = keeper("open = true");
    let manifest = files.keys().find(|path| path.ends_with("package.toml")).expect("one").clone();
    files.insert(manifest.clone(), String::new());
    let text = files["place.toml"].clone();
    files.insert(
        "place.toml".to_owned(),
        format!(
            "{text}[[land]]\nname = \"\"\nfrom = [0, 0]\n\
        to = [1, 1]\nowner = \"sim\"\n"
        ),
    );

    let mistakes = parse_folder("yard", &files).expect_err("two mistakes");

    let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "the thing that runs the package is fine: {told:?}");
    assert!(told[0].starts_with(&format!("yard/{manifest}")), "{told:?}");
    assert!(told[1].contains("is no name for a land"), "{told:?}");
}

#[test]
fn the_place_that_the_documentation_shows_can_be_founded() {
    let text = include_str!("../../docs/places.md");
    let (_, shown) = text.split_once("```toml\n").expect("an example");
    let (shown, _) = shown.split_once("```").expect("an end of it");
    let house = PlaceTemplate::named("house").expect("a template");
    let mut files = house.files();
    files.insert("place.toml".to_owned(), shown.to_owned());

    let place = read(&files);

    assert_eq!(founded(&place).objects().count(), 4);
}

#[test]
fn capsules_and_polygons_are_read_and_written_exactly() {
    let text = format!(
        "{HEAD}[[object]]\nkind = \"pill\"\nname = \"pill\"\nat = [9, 0]\ncapsule = [\"1.5\", \"0.25\"]\n\
         motion = \"dynamic\"\ndegrees = 30\n[[object]]\nkind = \"ramp\"\nname = \"ramp\"\nat = [15, 0]\n\
         corners = [[0, 0], [4, 0], [4, \"0.5\"], [0, \"2.1\"]]\n"
    );
    let files = BTreeMap::from([("place.toml".to_owned(), text)]);
    let place = read(&files);
    let shapes =
        |place: &Place| place.objects().iter().map(|o| o.body.shape.clone()).collect::<Vec<_>>();
    let [Shape::Capsule { half, radius }, Shape::Polygon(ramp)] = shapes(&place)[..] else {
        panic!("{:?}", shapes(&place));
    };
    assert_eq!((half, radius), (Fx::from_ratio(3, 4), Fx::from_ratio(1, 4)));
    assert_eq!(ramp.corners().count(), 4);

    let exported = Place::of_world(&founded(&place)).files();
    let again = read(&exported);
    assert_eq!(shapes(&again), shapes(&place));
    assert_eq!(Place::of_world(&founded(&again)).files(), exported);
}

/// A hammer, and a cup of three boards.
#[test]
fn things_of_several_parts_are_read_around_their_centre_of_mass_and_written_exactly() {
    let text = format!(
        "{HEAD}[[object]]\nkind = \"tool\"\nname = \"hammer\"\nat = [9, 0]\nmotion = \"dynamic\"\ndensity = 30\n\
         parts = [{{ box = [1, \"0.2\"] }}, {{ box = [\"0.2\", \"0.8\"], at = [\"0.6\", 0] }}]\n\
         [[object]]\nkind = \"cup\"\nname = \"cup\"\nplaces = [[15, 0], [18, 0]]\ndegrees = 30\nparts = [\n\
         {{ capsule = [\"1.5\", \"0.1\"] }},\n\
         {{ capsule = [\"1\", \"0.1\"], at = [\"-0.75\", \"0.5\"], degrees = 100 }},\n\
         {{ corners = [[0, 0], [\"0.3\", 0], [\"0.3\", 1]], at = [\"0.6\", 0], turn = \"0.0123\" }},\n]\n"
    );
    let place = read(&BTreeMap::from([("place.toml".to_owned(), text)]));
    let bodies = |place: &Place| place.objects().iter().map(|o| o.body.clone()).collect::<Vec<_>>();
    let [hammer, cup, _] = &bodies(&place)[..] else { panic!("a hammer and two cups") };
    let parts = |body: &BodySpec| match &body.shape {
        Shape::Compound(compound) => compound.parts().collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    // The handle has an area of 0.2, and the head, 0.6 m away, one of 0.16.
    let [handle, head] = &parts(hammer)[..] else { panic!("two parts") };
    let between = head.offset.x.saturating_sub(handle.offset.x);
    let off = |at: Fx, hundredths: i64| at.saturating_sub(Fx::from_ratio(hundredths, 100));
    let near = |off: Fx| off.saturating_abs() < Fx::from_ratio(1, 10_000);
    assert!(near(off(between, 60)) && near(off(hammer.mass, 1_080)), "{hammer:?}");
    assert!(near(off(handle.offset.x, -27).saturating_add(Fx::from_ratio(-1, 300))), "{handle:?}");
    assert_eq!(parts(cup).len(), 3);

    let exported = Place::of_world(&founded(&place)).files();
    let again = read(&exported);
    let stands = |body: &BodySpec| (body.shape.clone(), body.pose);
    for (one, other) in bodies(&place).iter().zip(bodies(&again)) {
        assert_eq!(stands(one), stands(&other));
    }
    assert_eq!(Place::of_world(&founded(&again)).files(), exported);
}

#[test]
fn random_things_of_several_parts_are_founded_exported_and_founded_again_unchanged() {
    let mut dice = Stream::new(&[3; 32], "parts", &[1]);
    let mut number = |low: i64, count: u64| low + i64::try_from(dice.below(count)).expect("few");
    let mut part = || {
        let [a, b, x, y, turn] =
            [(130, 900), (130, 900), (-2_000, 4_000), (-2_000, 4_000), (0, 9_999)]
                .map(|(low, count)| format!("\"{}\"", Fx::from_ratio(number(low, count), 1_000)));
        let outline = match number(0, 4) {
            0 => format!("disc = {a}"),
            1 => format!("box = [\"0.7\", {a}]"),
            2 => format!("capsule = [{a}, {b}]"),
            _ => format!("corners = [[0, 0], [1, 0], [1, {a}], [\"-0.1\", 1]]"),
        };
        format!("{{ {outline}, at = [{x}, {y}], turn = {turn} }}")
    };
    let thing = |n: usize| {
        let parts: Vec<String> = (0..2 + n % 7).map(|_| part()).collect();
        let (x, parts) = (10 + 12 * (n % 8), parts.join(", "));
        let place = format!("[{x}, {}]", 12 * (n / 8));
        format!(
            "[[object]]\nkind = \"x\"\nname = \"x\"\nat = {place}\nmotion = \"dynamic\"\nparts = [{parts}]\n"
        )
    };
    let text = format!("{HEAD}{}", (0..48).map(thing).collect::<String>());
    let place = read(&BTreeMap::from([("place.toml".to_owned(), text)]));
    let exported = Place::of_world(&founded(&place)).files();
    let again = read(&exported);
    for (one, other) in place.objects().iter().zip(again.objects()) {
        assert_eq!(one, other);
    }
    assert_eq!(Place::of_world(&founded(&again)).files(), exported);
}

#[test]
fn materials_are_read_and_written_exactly() {
    let text = format!(
        "{HEAD}[[object]]\nkind = \"ice\"\nname = \"ice\"\nat = [9, 0]\nbox = [4, 2]\nfriction = 0\n\
         friction_rule = \"minimum\"\n[[object]]\nkind = \"ball\"\nname = \"ball\"\nat = [15, 0]\n\
         box = [2, \"0.5\"]\nmotion = \"dynamic\"\ndensity = 30\nrestitution = \"0.9\"\n\
         restitution_rule = \"multiply\"\n"
    );
    let place = read(&BTreeMap::from([("place.toml".to_owned(), text)]));
    let materials = |place: &Place| -> Vec<_> {
        let bodies = place.objects().iter().map(|object| object.body.clone());
        bodies.map(|body| (body.mass, body.friction_rule, body.restitution_rule)).collect()
    };
    let wanted = [
        (Fx::ONE, CombineRule::Minimum, CombineRule::Usual),
        (Fx::from_int(30), CombineRule::Usual, CombineRule::Multiply),
    ];
    assert_eq!(materials(&place), wanted);

    let exported = Place::of_world(&founded(&place)).files();
    let again = read(&exported);
    assert_eq!(materials(&again), wanted, "the density is written as a mass");
    assert_eq!(Place::of_world(&founded(&again)).files(), exported);
}

#[test]
fn lines_become_pieces_that_know_their_neighbours_and_are_written_exactly() {
    let text = format!(
        "{HEAD}[[object]]\nkind = \"hill\"\nname = \"hill\"\nline = [[8, 0], [10, \"0.3\"], [\"12.7\", 0]]\n\
         friction = \"0.75\"\n[[object]]\nkind = \"ring\"\nname = \"ring\"\n\
         line = [[20, 0], [24, 0], [22, 3]]\nclosed = true\n[[object]]\nkind = \"stick\"\nname = \"stick\"\n\
         mark = \"stick\"\nline = [[30, 0], [31, 0]]\ndegrees = 30\n"
    );
    let place = read(&BTreeMap::from([("place.toml".to_owned(), text)]));
    let bodies = |place: &Place| place.objects().iter().map(|o| o.body.clone()).collect::<Vec<_>>();
    let names: Vec<&str> = place.objects().iter().map(|object| object.name.as_str()).collect();
    assert_eq!(names, ["hill 1", "hill 2", "ring 1", "ring 2", "ring 3", "stick"]);
    let known: Vec<usize> = bodies(&place)
        .iter()
        .map(|body| match &body.shape {
            Shape::Segment(segment) => segment.neighbour_ends().iter().flatten().count(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(known, [1, 1, 2, 2, 2, 0]);
    assert_eq!(bodies(&place)[1].friction, Fx::from_ratio(3, 4));

    let exported = Place::of_world(&founded(&place)).files();
    let again = read(&exported);
    assert_eq!(bodies(&again), bodies(&place));
    assert_eq!(Place::of_world(&founded(&again)).files(), exported);
}
