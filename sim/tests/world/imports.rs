//! Imports: what a sim asks of a package that is compiled with others, and how long those stay.

use std::collections::BTreeMap;

use metatopia_scripting::{Draft, LinkedPackage, Package};
use metatopia_sim::{
    GenesisError, World,
    limits::{
        PACKAGE_UNUSED_MS_MAX, PUBLISHED_BYTES_PER_TURN_MAX, PUBLISHES_PER_TURN_MAX,
        SHIPPED_BYTES_MAX,
    },
};
use metatopia_types::{Act, Build, ObjectId, Outcome, PackageId, Refusal, ScriptId};

use crate::{
    building::{block, built, place, refused, site},
    yard::{Builder, Yard, package},
};

const STEPS: &str = "const STEP = 3; fn next(n) { n + STEP }";

const LEAPS: &str = "const STEP = 50; fn next(n) { n + STEP }";

const COUNTER: &str = "import \"steps\" as steps;
    fn on_start() { state.n = 0; }
    fn on_touch(other) { state.n = steps::next(state.n); self_.text = `${state.n}`; }";

/// Returns a package that imports others by these names, under this licence.
fn importing(name: &str, source: &str, licence: &str, imports: &[(&str, PackageId)]) -> Package {
    let plain = package(name, source);
    Package::build(Draft {
        name: name.to_owned(),
        version: "1.0.0".to_owned(),
        api: 1,
        entry: "main.rhai".to_owned(),
        files: BTreeMap::from([("main.rhai".to_owned(), source.as_bytes().to_vec())]),
        licence: licence.to_owned(),
        authors: plain.manifest().authors.clone(),
        imports: imports.iter().map(|(name, id)| ((*name).to_owned(), *id)).collect(),
        parent: None,
    })
    .unwrap_or_else(|error| panic!("package {name}: {error}"))
}

fn counter(steps: &Package) -> Package {
    importing("counter", COUNTER, "AGPL-3.0-or-later", &[("steps", steps.id())])
}

fn published(yard: &mut Yard, package: &Package) -> Outcome {
    let act = yard.publish(1, package.encode());
    yard.play();
    yard.outcome(&act)
}

/// Returns a yard with a box that runs the counter.
fn counting() -> (Yard, ObjectId, ScriptId) {
    let mut yard = site(&mut Builder::new());
    let steps = package("steps", STEPS);
    assert_eq!(published(&mut yard, &steps), Outcome::Ok);
    assert_eq!(published(&mut yard, &counter(&steps)), Outcome::Ok);
    let object = place(&mut yard, 1, block(3, 1));
    let attached = Build::Attach { object, package: counter(&steps).id() };
    assert_eq!(built(&mut yard, 1, attached), Outcome::Ok);
    let script = yard.world.object(object).expect("the box").scripts[0].0;
    (yard, object, script)
}

fn touch(yard: &mut Yard, object: ObjectId) -> String {
    assert_eq!(yard.try_act(1, Act::Touch { object }), Outcome::Ok);
    yard.world.object(object).expect("it is there").text
}

fn check_restored(yard: &Yard) {
    let (snapshot, root) = (yard.world.snapshot(), yard.world.root());
    let tools = Builder::new().tools();
    let restored = World::from_snapshot(&snapshot, root, &tools).expect("its own snapshot");
    assert_eq!((restored.root(), yard.world.rehash()), (root, root));
}

#[test]
fn a_script_runs_what_its_package_imports_and_an_upgrade_may_import_something_else() {
    let (mut yard, object, script) = counting();
    assert_eq!(touch(&mut yard, object), "3");
    check_restored(&yard);

    let leaps = package("steps", LEAPS);
    assert_eq!(published(&mut yard, &leaps), Outcome::Ok);
    assert_eq!(published(&mut yard, &counter(&leaps)), Outcome::Ok);
    let package = counter(&leaps).id();
    let upgrade = Build::Upgrade { object, script, package };
    assert_eq!(built(&mut yard, 1, upgrade), Outcome::Ok);
    assert_eq!(touch(&mut yard, object), "53", "it remembers what it counted");
    check_restored(&yard);
}

#[test]
fn what_is_imported_must_be_in_the_sim_and_is_named_if_not() {
    let mut yard = site(&mut Builder::new());
    let steps = package("steps", STEPS);
    let missing = refused(Refusal::MissingImport(steps.id()));
    assert_eq!(published(&mut yard, &counter(&steps)), missing);
    // In one turn the import only has to come first.
    let acts = [&steps, &counter(&steps)].map(|package| yard.publish(1, package.encode()));
    yard.play();
    assert_eq!(acts.map(|act| yard.outcome(&act)), [Outcome::Ok; 2]);
}

#[test]
fn what_the_licence_forbids_is_not_imported() {
    let mut yard = site(&mut Builder::new());
    let two = importing("two", STEPS, "GPL-2.0-only", &[]);
    assert_eq!(published(&mut yard, &two), Outcome::Ok);
    let three = importing("three", "", "GPL-3.0-or-later", &[("two", two.id())]);
    assert_eq!(published(&mut yard, &three), refused(Refusal::BadImport));
    let either = importing("either", "", "GPL-2.0-or-later", &[("two", two.id())]);
    assert_eq!(published(&mut yard, &either), Outcome::Ok);
}

#[test]
fn a_package_weighs_what_is_compiled_with_it() {
    let mut yard = site(&mut Builder::new());
    let filler = |name: &str| package(name, &"// It counts.\n".repeat(2_500));
    let (a, b) = (filler("a"), filler("b"));
    assert_eq!([&a, &b].map(|each| published(&mut yard, each)), [Outcome::Ok; 2]);
    yard.idle(200);
    let one = importing("one", "", "AGPL-3.0-or-later", &[("a", a.id())]);
    assert_eq!(published(&mut yard, &one), Outcome::Ok);
    let weight = yard.world.publication(&one.id()).expect("a record").bytes as usize;
    assert_eq!(weight, one.encode().len() + a.entry().len());
    let both = importing("both", "", "AGPL-3.0-or-later", &[("a", a.id()), ("b", b.id())]);
    assert!(a.entry().len() * 2 > PUBLISHED_BYTES_PER_TURN_MAX as usize);
    assert_eq!(published(&mut yard, &both), refused(Refusal::BadImport));
}

#[test]
fn imports_count_among_the_packages_that_a_turn_compiles() {
    let mut yard = site(&mut Builder::new());
    let half = PUBLISHES_PER_TURN_MAX / 2;
    let all: Vec<Package> = (0..half).map(|n| package(&format!("p{n}"), STEPS)).collect();
    let acts: Vec<_> = all.iter().map(|each| yard.publish(1, each.encode())).collect();
    yard.play();
    assert!(acts.iter().all(|act| yard.outcome(act) == Outcome::Ok));
    let names: Vec<String> = (0..half).map(|n| format!("p{n}")).collect();
    let imports: Vec<(&str, PackageId)> =
        names.iter().zip(&all).map(|(name, package)| (name.as_str(), package.id())).collect();
    let user = |name: &str| importing(name, "", "AGPL-3.0-or-later", &imports);
    let acts = [yard.publish(1, user("a").encode()), yard.publish(2, user("b").encode())];
    yard.play();
    let mut outcomes = acts.map(|act| yard.outcome(&act));
    outcomes.sort_by_key(|outcome| *outcome != Outcome::Ok);
    assert_eq!(outcomes, [Outcome::Ok, refused(Refusal::TooOften)]);
}

#[test]
fn what_a_package_imports_stays_as_long_as_that_one_and_leaves_a_week_later() {
    let (mut yard, object, script) = counting();
    let steps = package("steps", STEPS);
    let user = counter(&steps);
    yard.turn_ms = 60_000;
    let week = PACKAGE_UNUSED_MS_MAX / 60_000;
    yard.idle(week + 3);
    let has = |yard: &Yard, package: &Package| yard.world.package(&package.id()).is_some();
    assert!(has(&yard, &steps) && has(&yard, &user), "a script runs the one that imports it");
    let unused = |yard: &Yard| yard.world.publication(&steps.id()).expect("a record").unused_since;
    assert_eq!(unused(&yard), None);

    yard.login(1);
    yard.play();
    assert_eq!(built(&mut yard, 1, Build::Detach { object, script }), Outcome::Ok);
    yard.idle(week - 3);
    assert!(has(&yard, &steps) && has(&yard, &user));
    let (snapshot, root) = (yard.world.snapshot(), yard.world.root());
    yard.idle(6);
    assert!(has(&yard, &steps) && !has(&yard, &user), "the one that imports leaves first");
    assert!(unused(&yard).is_some());
    let tools = Builder::new().tools();
    let mut again = World::from_snapshot(&snapshot, root, &tools).expect("its own snapshot");
    for turn in &yard.log[yard.log.len() - 6..] {
        again.apply(turn, &metatopia_sim::Serial);
    }
    assert_eq!(again.root(), yard.world.root());
    yard.idle(week + 3);
    assert!(!has(&yard, &steps));
    check_restored(&yard);
}

#[test]
fn a_genesis_brings_all_that_its_packages_import() {
    let steps = package("steps", STEPS);
    let mut builder = Builder::new();
    let user = counter(&steps);
    builder.genesis.packages.insert(user.id(), user.encode());
    let founded = World::genesis(&builder.genesis, &builder.tools()).expect_err("one is missing");
    assert!(matches!(&founded, GenesisError::Source { id, .. } if *id == user.id()));
    assert!(founded.to_string().contains("there is no package"), "{founded}");
    builder.genesis.packages.insert(steps.id(), steps.encode());
    let world = World::genesis(&builder.genesis, &builder.tools()).expect("both are there");
    assert_eq!(world.packages().count(), 2);
}

#[test]
fn the_packages_of_a_genesis_weigh_so_much_with_their_imports() {
    let filler = |n: usize| package(&format!("f{n}"), &"// It counts.\n".repeat(4_500));
    let all: Vec<Package> = (0..4).map(filler).collect();
    let names: Vec<String> = (0..4).map(|n| format!("f{n}")).collect();
    let imports: Vec<(&str, PackageId)> =
        names.iter().zip(&all).map(|(name, package)| (name.as_str(), package.id())).collect();
    let user = |n: usize| importing(&format!("u{n}"), "", "AGPL-3.0-or-later", &imports);
    let known: BTreeMap<PackageId, &Package> = all.iter().map(|each| (each.id(), each)).collect();
    let first = user(0);
    let linked = LinkedPackage::new(&first, &|id| known.get(id).copied()).expect("it is small");
    let mut builder = Builder::new();
    let many = SHIPPED_BYTES_MAX / linked.weight() + 1;
    for package in all.iter().cloned().chain((0..many).map(user)) {
        builder.genesis.packages.insert(package.id(), package.encode());
    }
    let founded = World::genesis(&builder.genesis, &builder.tools()).expect_err("too much");
    assert!(matches!(founded, GenesisError::TooMany { max: SHIPPED_BYTES_MAX, .. }), "{founded}");
}
