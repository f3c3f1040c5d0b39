//! The playground: what joints hold together stays so, comes to rest, and goes on after a restore.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::JointSpec;
use metatopia_physics_rapier::Newton2Maker;
use metatopia_scenarios::{Place, PlaceTemplate, parse_folder};
use metatopia_sim::{
    ENGINE, Serial, Tools, World,
    limits::{ADVANCED_BODIES_MAX, OBJECT_JOINTS_MAX},
};
use metatopia_types::{
    Ed25519, Header, HeaderId, Millis, NodeContact, ObjectId, Round, Sign as _, SigningKey, Turn,
    TurnBody,
};

fn tools() -> Tools {
    Tools { advanced: Some(Arc::new(Newton2Maker)), ..Tools::new(Arc::new(Ed25519)) }
}

fn read(place: &str) -> Result<Place, String> {
    let files = BTreeMap::from([("place.toml".to_owned(), place.to_owned())]);
    parse_folder("yard", &files).map_err(|mistakes| mistakes[0].to_string())
}

fn founded(place: &Place) -> World {
    let key = |seed| SigningKey::from_seed([seed; 32]).public();
    let validators = BTreeMap::from([(key(1), NodeContact::default())]);
    let genesis = place.genesis(validators, BTreeSet::from([key(2)]));
    World::genesis(&genesis, &tools()).expect("a place of ours")
}

fn playground() -> World {
    let place = PlaceTemplate::named("playground").expect("it is a template").place();
    founded(&place.unwrap_or_else(|mistakes| panic!("{}", mistakes[0])))
}

/// Returns the playground's place file with one word more.
fn advanced_text() -> String {
    let place = PlaceTemplate::named("playground").expect("it is a template").place();
    let files = place.unwrap_or_else(|mistakes| panic!("{}", mistakes[0])).files();
    format!("tier = \"advanced\"\n{}", files["place.toml"])
}

fn advanced_playground() -> World {
    founded(&read(&advanced_text()).unwrap_or_else(|mistake| panic!("{mistake}")))
}

/// A sim in which nobody acts.
struct Idle {
    world: World,
    last: HeaderId,
}

impl Idle {
    const fn new(world: World) -> Self {
        Self { world, last: HeaderId::BEFORE_FIRST }
    }

    /// Returns the next turn.
    fn turn(&mut self) -> Turn {
        let height = self.world.height().plus(1);
        let set = self.world.validators(height).expect("a set for the next height");
        let header = Header {
            sim: self.world.sim(),
            engine: ENGINE,
            height,
            previous: self.last,
            proposer: set.proposer(height, Round(0)),
            time: Millis(1_700_000_000_000 + 50 * height.0),
            ..Header::unstated()
        };
        Turn::of(header, TurnBody::new(Vec::new(), Vec::new()).expect("an empty turn"))
    }

    fn play(&mut self, turns: u64) {
        for _ in 0..turns {
            let turn = self.turn();
            self.world.apply(&turn, &Serial);
            self.last = turn.id();
        }
    }
}

/// Returns the metres between the anchors of a joint.
fn gap(world: &World, joint: &JointSpec) -> Fx {
    let point = |id: ObjectId, anchor: Vec2| {
        let object = world.object(id).expect("a thing of the place");
        object.position.saturating_add(anchor.rotate(object.angle))
    };
    let a = joint.a.map_or(joint.anchor_a, |a| point(a, joint.anchor_a));
    a.distance(point(joint.b, joint.anchor_b))
}

fn poses(world: &World) -> Vec<(ObjectId, Vec2)> {
    world.objects().map(|object| (object.id, object.position)).collect()
}

fn standing_dominoes(world: &World) -> usize {
    let dominoes = world.objects().filter(|object| object.kind == "domino");
    dominoes.filter(|object| object.position.y > Fx::from_ratio(3, 4)).count()
}

/// Plays turns, before each of which another sim is made of the snapshot, and compares the roots after it.
fn restored_before_each_turn(mut sim: Idle, turns: u64) {
    for _ in 0..turns {
        let restored = World::from_snapshot(&sim.world.snapshot(), sim.world.root(), &tools());
        let mut restored = restored.expect("its own snapshot");
        let turn = sim.turn();
        sim.last = turn.id();
        sim.world.apply(&turn, &Serial);
        restored.apply(&turn, &Serial);
        assert_eq!(restored.root(), sim.world.root(), "turn {}", sim.world.height());
        assert_eq!(sim.world.rehash(), sim.world.root());
    }
}

/// Plays on to the minute's end, checks that everything rests, and plays nine minutes more, in which nothing
/// moves, nothing breaks and no domino falls.
fn rests_for_ten_minutes(sim: &mut Idle) {
    let joints = sim.world.joints();
    sim.play(60 * 20);
    let rested = poses(&sim.world);
    for object in sim.world.objects() {
        assert_eq!(object.velocity, Vec2::ZERO, "{} at {}", object.name, object.position);
    }
    sim.play(9 * 60 * 20);

    assert_eq!(poses(&sim.world), rested);
    assert_eq!(sim.world.joints(), joints, "nothing broke");
    assert_eq!(sim.world.failed_steps(), 0);
    assert_eq!(standing_dominoes(&sim.world), 9);
}

#[test]
fn the_playground_comes_to_rest_and_stays_for_ten_minutes() {
    let mut sim = Idle::new(playground());
    rests_for_ten_minutes(&mut sim);
    for joint in &sim.world.joints() {
        let apart = gap(&sim.world, joint);
        assert!(apart < Fx::from_ratio(3, 100), "{apart} m at {} and {:?}", joint.b, joint.a);
    }
}

/// Only what is of several parts is hollow.
#[test]
fn the_cup_holds_its_ball_and_the_hammer_lies_on_its_head_and_the_end_of_its_handle() {
    for world in [playground(), advanced_playground()] {
        let mut sim = Idle::new(world);
        sim.play(200);
        let place = |name: &str| {
            let found = sim.world.objects().find(|object| object.name == name);
            found.expect("a thing of the playground").position
        };
        let inside = place("ball in the cup").saturating_sub(place("cup"));
        let near = |at: Fx, hundredths| at.saturating_abs() < Fx::from_ratio(hundredths, 100);
        assert!(near(inside.x, 16) && near(inside.y, 10), "the ball is at {inside} in the cup");
        // Flat on the ground it would lie 7 cm high, and on its head as high as that is long.
        let hammer = place("hammer").y;
        assert!(hammer > Fx::from_ratio(10, 100) && hammer < Fx::from_ratio(30, 100), "{hammer}");
        assert_eq!(standing_dominoes(&sim.world), 9);
    }
}

#[test]
fn a_sim_with_joints_goes_on_after_a_restore_as_if_it_had_never_stopped() {
    restored_before_each_turn(Idle::new(playground()), 120);
}

#[test]
fn on_the_advanced_tier_the_playground_comes_to_rest_and_stays_for_ten_minutes() {
    let mut sim = Idle::new(advanced_playground());
    rests_for_ten_minutes(&mut sim);
    assert_eq!(poses(&sim.world).len(), poses(&playground()).len(), "nothing is lost");
}

#[test]
fn on_the_advanced_tier_a_snapshot_before_each_of_60_turns_goes_on_with_the_same_root() {
    restored_before_each_turn(Idle::new(advanced_playground()), 60);
}

#[test]
fn a_program_without_the_advanced_tier_says_so() {
    let world = advanced_playground();
    let without = Tools::new(Arc::new(Ed25519));
    let refused = World::from_snapshot(&world.snapshot(), world.root(), &without);
    let refused = refused.expect_err("it cannot go on").to_string();
    assert!(refused.contains("advanced") && refused.contains("not replay it"), "{refused}");
}

#[test]
fn a_place_names_its_tier_and_an_unknown_one_is_told_with_its_line() {
    let place = read(&advanced_text()).expect("a place");
    assert!(place.files()["place.toml"].contains("tier = \"advanced\""));
    let mistake = read(&advanced_text().replace("advanced", "newton")).expect_err("no tier");
    assert!(mistake.starts_with("yard/place.toml:1:8") && mistake.contains("no tier"), "{mistake}");
}

#[test]
fn on_the_advanced_tier_a_sim_holds_2000_bodies() {
    let ball = "name = \"yard\"\nlicence = \"AGPL-3.0-or-later\"\nasset_licence = \"CC0-1.0\"\n\
        tier = \"advanced\"\n[[object]]\nkind = \"ball\"\nname = \"ball\"\ndisc = \"0.1\"\n";
    let yard = |count: usize| {
        // Nothing stands where people appear.
        let at = |n| format!("[{}, {}]", n % 50, n / 50 + 9);
        let places: Vec<String> = (0..count).map(at).collect();
        let place = read(&format!("{ball}places = [{}]\n", places.join(", ")))?;
        let key = SigningKey::from_seed([1; 32]).public();
        let servers = BTreeMap::from([(key, NodeContact::default())]);
        let genesis = place.genesis(servers, BTreeSet::from([key]));
        World::genesis(&genesis, &tools()).map_err(|error| error.to_string())
    };
    yard(ADVANCED_BODIES_MAX).unwrap_or_else(|error| panic!("as many as fit: {error}"));
    let refused = yard(ADVANCED_BODIES_MAX + 1).expect_err("one more than fit");
    assert!(refused.contains("2001 objects where at most 2000"), "{refused}");
}

#[test]
fn an_exported_playground_has_the_same_joints_and_the_same_gravity() {
    let mut sim = Idle::new(playground());
    sim.play(100);
    let exported = Place::of_world(&sim.world);
    let again = founded(&read(&exported.files()["place.toml"]).expect("an export of ours"));

    assert_eq!(again.parameters(), sim.world.parameters());
    let (was, is) = (sim.world.joints(), again.joints());
    assert_eq!(was.len(), is.len());
    for (was, mut is) in was.into_iter().zip(is) {
        // What has no limits does not care for its angle.
        let turned = was.angle.wrapping_sub(is.angle).to_bits() as i32;
        assert!(turned.unsigned_abs() <= 4, "{turned}");
        is.angle = was.angle;
        assert_eq!(is, was);
    }
}

const HEAD: &str = "name = \"yard\"\nlicence = \"AGPL-3.0-or-later\"\nasset_licence = \"CC0-1.0\"\n\
    gravity = [0, -10]\n[[object]]\nkind = \"post\"\nname = \"post\"\nmark = \"post\"\nat = [0, 9]\n\
    disc = \"0.2\"\n[[object]]\nkind = \"ball\"\nname = \"ball\"\nmark = \"ball\"\nat = [3, 9]\n\
    disc = \"0.5\"\nmotion = \"dynamic\"\n[[joint]]\n";

#[test]
fn every_kind_of_joint_is_written_and_read_again() {
    for joint in [
        "kind = \"hinge\"\nat = [0, 9]\nlimits = [\"-0.5\", 1]\nmotor_speed = 2\nmotor_strength = 9",
        "kind = \"weld\"\nat = [0, 9]\nturn = \"0.25\"\nfrequency = 4\ndamping = \"0.5\"",
        "kind = \"weld\"\nat = [1, 9]\nbreak_force = 40\nbreak_torque = 50\ncollide = true",
        "kind = \"slider\"\nat = [0, 9]\naxis = [1, 0]\nlimits = [-1, 2]",
        "kind = \"rod\"\nanchor_a = [0, 0]\nanchor_b = [\"0.5\", 0]",
        "kind = \"rod\"\nanchor_a = [0, 0]\nlength = 4",
        "kind = \"rod\"\nanchor_a = [0, 0]\nmost = 4",
        "kind = \"rod\"\nanchor_b = [0, 0]\nfrequency = 3\nlength = 2",
        "kind = \"target\"\nanchor_a = [0, 0]\nfrequency = 3\nforce = 200",
    ] {
        let place = read(&format!("{HEAD}a = \"post\"\nb = \"ball\"\n{joint}\n"));
        let place = place.unwrap_or_else(|mistake| panic!("{joint}: {mistake}"));
        let files = place.files();
        let again = read(&files["place.toml"]).expect("a place that was written");
        assert_eq!(again.joints(), place.joints(), "{}", files["place.toml"]);
        assert_eq!(again.files(), files);
        assert_eq!(founded(&place).joints(), place.joints());
    }
}

#[test]
fn mistakes_of_joints_and_of_gravity_are_told_with_their_line() {
    for (joint, told) in [
        ("kind = \"hinge\"\nb = \"bell\"\nat = [0, 9]", "no thing has the mark \"bell\""),
        ("kind = \"hinge\"\nb = \"ball\"", "a joint needs `at`, or `anchor_a` and `anchor_b`"),
        ("kind = \"hinge\"\na = \"ball\"\nb = \"ball\"\nat = [0, 9]", "to itself"),
        ("kind = \"hinge\"\nb = \"ball\"\nat = [0, 9]\naxis = [1, 0]", "has no `axis`"),
        ("kind = \"hinge\"\nb = \"ball\"\nat = [0, 9]\nlimits = [2, 1]", "lower one first"),
        ("kind = \"hinge\"\nb = \"ball\"\nat = [0, 9]\nlimits = [-4, 4]", "limits is -4, outside"),
        ("kind = \"weld\"\nb = \"ball\"\nat = [0, 9]\nbreak_force = -1", "break_force is -1"),
        ("kind = \"rod\"\nb = \"ball\"\nat = [0, 9]\nfrequency = -3", "frequency is -3, outside"),
        (
            "kind = \"hinge\"\nb = \"ball\"\nat = [0, 9]\nmotor_speed = 99\nmotor_strength = 1",
            "motor_speed is 99, outside of -32 to 32",
        ),
        ("kind = \"hinge\"\nb = \"ball\"\nat = [90, 9]", "anchor_b of the joint"),
        ("kind = \"hinge\"\nb = \"ball\"\nat = [0, 9]\nmotor_speed = 1", "needs `motor_strength`"),
        (
            "kind = \"rod\"\nb = \"ball\"\nat = [0, 9]\nleast = 3\nmost = 2",
            "least is more than most",
        ),
        ("kind = \"rod\"\nb = \"ball\"\nat = [0, 9]\nlength = 3\nmost = 2", "not both"),
        ("kind = \"weld\"\nb = \"ball\"\nat = [0, 9]\ndamping = 3", "needs `frequency`"),
        ("kind = \"slider\"\nb = \"ball\"\nat = [0, 9]", "a slider needs `axis`"),
        ("kind = \"target\"\nb = \"ball\"\nat = [0, 9]\nfrequency = 1", "a target needs `force`"),
        ("kind = \"glue\"\nb = \"ball\"\nat = [0, 9]", "unknown variant `glue`"),
    ] {
        let mistake = read(&format!("{HEAD}{joint}\n")).expect_err(joint);
        assert!(mistake.contains(told), "{joint}: {mistake}");
        let line = mistake.split(':').nth(1).and_then(|line| line.parse::<u32>().ok());
        assert!(line.is_some_and(|line| line >= 18), "{joint}: {mistake}");
    }
    let strong = HEAD.replace("gravity = [0, -10]", "gravity = [0, -65]");
    let mistake = read(&format!("{strong}kind = \"weld\"\nb = \"ball\"\nat = [0, 9]\n"));
    let mistake = mistake.expect_err("gravity is too strong");
    assert!(
        mistake.starts_with("yard/place.toml:4:11") && mistake.contains("gravity"),
        "{mistake}"
    );
}

#[test]
fn a_thing_is_held_by_so_many_joints_and_a_place_has_so_many() {
    let joint = "[[joint]]\nkind = \"weld\"\nb = \"ball\"\nat = [0, 9]\n";
    let head = HEAD.trim_end_matches("[[joint]]\n");
    assert!(read(&format!("{head}{}", joint.repeat(OBJECT_JOINTS_MAX))).is_ok());
    let mistake = read(&format!("{head}{}", joint.repeat(OBJECT_JOINTS_MAX + 1)));
    assert!(mistake.expect_err("too many").contains("at most 16 joints can hold one thing"));
    let mistake = read(&format!("{head}{}", joint.repeat(1_025))).expect_err("too many");
    assert!(mistake.contains("at most 1024 joints"), "{mistake}");
}

#[test]
fn what_has_a_category_passes_those_that_it_names() {
    let place = "name = \"yard\"\nlicence = \"AGPL-3.0-or-later\"\nasset_licence = \"CC0-1.0\"\n\
        [[object]]\nkind = \"ball\"\nname = \"ball\"\nplaces = [[9, 9], [\"9.5\", 9]]\ndisc = 1\n\
        motion = \"dynamic\"\ncategories = [3]\npasses = [3]\n";
    let mut sim = Idle::new(founded(&read(place).expect("a place")));
    let before = poses(&sim.world);
    sim.play(20);
    assert_eq!(poses(&sim.world), before, "two balls lie in each other");
    let mistake = read(&place.replace("passes = [3]", "passes = [32]")).expect_err("no category");
    assert!(mistake.contains("32 is no category: write 0 to 31"), "{mistake}");
    assert!(sim.world.objects().all(|object| object.movable));
}
