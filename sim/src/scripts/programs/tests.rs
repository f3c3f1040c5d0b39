use std::sync::Arc;

use metatopia_scripting::{Draft, EventKind, Package, PackageAuthor};
use metatopia_types::{Ed25519, Header, Height, Millis, ObjectId, ScriptId, Tick, Turn, TurnBody};

use crate::{
    acts::{test_genesis, test_header},
    scripts::{GasPool, Script, ScriptChange, Serial},
    state::{Tools, World},
};

fn bell() -> Package {
    let source = "fn on_tick(dt) {}\n".as_bytes().to_vec();
    Package::build(Draft {
        name: "bell".to_owned(),
        version: "1.0.0".to_owned(),
        entry: "main.rhai".to_owned(),
        files: [("main.rhai".to_owned(), source)].into(),
        api: 1,
        licence: "AGPL-3.0-or-later".to_owned(),
        authors: vec![PackageAuthor { name: "A Tester".to_owned(), key: None }],
        ..Draft::default()
    })
    .expect("a small package")
}

/// Applies an empty turn.
fn play(world: &mut World) {
    let height = world.height().plus(1);
    let (sim, time) = (world.sim(), Millis(height.0 * 50));
    let header = Header { sim, height, time, ..test_header() };
    world.apply(&Turn::of(header, TurnBody::default()), &Serial);
}

/// Later scripts are published into sims that run, and go again: the tree of leaves and the programs
/// follow the state, and a copy of the state has the same.
#[test]
fn a_package_comes_and_goes_between_turns_with_its_program_and_leaves() {
    let tools = Tools::new(Arc::new(Ed25519));
    let mut world = World::genesis(&test_genesis(), &tools).expect("a small genesis");
    let (package, script) = (bell(), ScriptId(1));
    let id = package.id();
    let leaves =
        |world: &World| world.leaves.list().map(|(key, _)| key.0.clone()).collect::<Vec<_>>();
    let without = leaves(&world);

    Arc::make_mut(&mut world.state).ship_package(package, 300);
    play(&mut world);
    assert!(world.programs.handler(&id).is_some());
    assert_ne!(leaves(&world), without);
    assert_eq!(world.root(), world.rehash());
    let copy =
        World::from_snapshot(&world.snapshot(), world.root(), &tools).expect("its own snapshot");
    assert_eq!(copy.root(), world.root());
    assert!(copy.programs.handler(&id).is_some());

    let state = Arc::make_mut(&mut world.state);
    let gas = GasPool::full(Tick(0), state.script_income());
    state.scripts.insert(script, Script::new(ObjectId(1), id, Default::default(), gas));
    state.publications.take(id);
    state.script_changes.push((script, ScriptChange::Begins(id)));
    play(&mut world);
    assert_eq!(world.programs.count(EventKind::Tick), 1);

    let state = Arc::make_mut(&mut world.state);
    state.scripts.remove(&script);
    state.publications.release(id, 0);
    state.script_changes.push((script, ScriptChange::Ends));
    play(&mut world);
    Arc::make_mut(&mut world.state).remove_package(&id);
    play(&mut world);
    assert!(world.programs.handler(&id).is_none());
    assert_eq!(world.programs.count(EventKind::Tick), 0);
    assert!(world.package(&id).is_none());
    assert_eq!(world.root(), world.rehash());
    assert_eq!(world.height(), Height(4));
}
