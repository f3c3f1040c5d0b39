use std::collections::BTreeMap;

use metatopia_audit::fixture;
use metatopia_scripting::{Draft, PackageAuthor};
use metatopia_sim::Serial;
use metatopia_types::Digest;

use super::*;

/// Returns a package of this source, which nobody has looked at, and of these imports.
fn importing(source: &str, imports: BTreeMap<String, PackageId>) -> Package {
    let draft = Draft {
        name: "lamp".to_owned(),
        version: "1.0.0".to_owned(),
        api: 1,
        entry: "main.rhai".to_owned(),
        files: BTreeMap::from([("main.rhai".to_owned(), source.as_bytes().to_vec())]),
        imports,
        licence: "AGPL-3.0-or-later".to_owned(),
        authors: vec![PackageAuthor { name: "Ada".to_owned(), key: None }],
        ..Draft::default()
    };
    Package::build(draft).expect("a package")
}

fn package(source: &str) -> Package {
    importing(source, BTreeMap::new())
}

/// Returns a package that says this.
fn lamp(words: &str) -> Package {
    package(&format!("fn on_touch(other) {{ say(\"{words}\"); }}"))
}

fn world() -> World {
    World::genesis(&fixture::genesis(), &metatopia_audit::tools()).expect("the plaza")
}

fn blob(package: &Package) -> Blob {
    Blob(package.encode())
}

/// Compiles packages as the thread does, and then one of them as a turn does.
fn compiled(executor: &AheadExecutor, ahead: &[&Package], wanted: &Package) -> Compiled {
    let world = world();
    for package in ahead {
        let sources = PackageSources::new(&blob(package), &world).expect("the sim lacks it");
        executor.compile_ahead(&sources);
    }
    executor.compile(&LinkedPackage::new(wanted, &|_| None).expect("it imports nothing"))
}

fn is_kept(executor: &AheadExecutor, package: &Package) -> bool {
    executor.0.lock().expect("no thread failed").iter().any(|(id, _)| *id == package.id())
}

#[test]
fn a_turn_looks_up_what_was_compiled_ahead() {
    let executor = AheadExecutor::default();
    let on = lamp("on");
    let first = compiled(&executor, &[&on], &on).expect("it compiles");
    let again = compiled(&executor, &[], &on).expect("it compiles");
    assert!(Arc::ptr_eq(&first, &again), "it was compiled once");
    let off = lamp("off");
    assert_eq!(compiled(&executor, &[], &off).expect("it compiles").package(), off.id());
    assert!(!is_kept(&executor, &off), "only what was compiled ahead is kept");
}

#[test]
fn what_does_not_compile_has_the_same_error_ahead_and_in_its_turn() {
    let wrong = package("fn on_touch(other) { say(; }");
    let told = |ahead: &[&Package]| match compiled(&AheadExecutor::default(), ahead, &wrong) {
        Err(error) => error,
        Ok(_) => panic!("it has a mistake"),
    };
    assert_eq!(told(&[&wrong]), told(&[]));
}

#[test]
fn what_a_sim_has_or_will_refuse_is_not_compiled_ahead() {
    let world = world();
    let known = world.packages().next().expect("the plaza has packages");
    assert!(PackageSources::new(&blob(known), &world).is_none());
    assert!(PackageSources::new(&Blob(b"no package".to_vec()), &world).is_none());
    let lost = BTreeMap::from([("lost".to_owned(), PackageId(Digest::ZERO))]);
    let importing = importing("fn on_start() { lost::go(); }", lost);
    assert!(PackageSources::new(&blob(&importing), &world).is_none());
}

#[test]
fn the_oldest_of_what_was_compiled_ahead_goes_first() {
    let executor = AheadExecutor::default();
    let all: Vec<Package> = (0..=COMPILED_MAX).map(|n| lamp(&n.to_string())).collect();
    let _last = compiled(&executor, &all.iter().collect::<Vec<_>>(), &all[COMPILED_MAX]);
    let kept: Vec<bool> = all.iter().map(|package| is_kept(&executor, package)).collect();
    assert_eq!(kept.iter().filter(|kept| **kept).count(), COMPILED_MAX);
    assert!(!kept[0], "the oldest one is gone");
}

#[test]
fn the_thread_compiles_all_that_it_was_sent() {
    let executor = AheadExecutor::default();
    let on = lamp("on");
    let (sender, packages) = mpsc::sync_channel(COMPILES_WAITING_MAX);
    assert!(CompileQueue::to(sender).compile(&blob(&on), &world()));
    executor.compile_all(&packages);
    assert!(is_kept(&executor, &on));
}

#[test]
fn what_finds_no_room_is_left_to_its_turn() {
    let (sender, packages) = mpsc::sync_channel(COMPILES_WAITING_MAX);
    let (mut queue, world) = (CompileQueue::to(sender), world());
    for n in 0..COMPILES_WAITING_MAX {
        let on = lamp(&n.to_string());
        assert!(queue.compile(&blob(&on), &world));
    }
    let on = lamp("on");
    assert!(!queue.compile(&blob(&on), &world));
    drop(packages);
    assert!(!queue.compile(&blob(&on), &world), "the thread has ended");
}

/// Whoever sent acts for more packages than turns take kept the thread of each server busy.
#[test]
fn after_each_turn_as_much_is_compiled_ahead_as_a_turn_compiles() {
    let (sender, packages) = mpsc::sync_channel(COMPILES_WAITING_MAX);
    let (mut queue, mut world) = (CompileQueue::to(sender), world());
    let long = |n: u8| package(&format!("// {n}{}\nfn on_tick(dt) {{}}\n", "-".repeat(30_000)));
    let mut compiled =
        |world: &World| (0..4).filter(|n| queue.compile(&blob(&long(*n)), world)).count();
    assert_eq!(compiled(&world), 2, "64 KiB hold two");
    assert_eq!(compiled(&world), 0);
    let turn = fixture::next_turn(&world, None, world.root());
    world.apply(&turn, &Serial);
    assert_eq!(compiled(&world), 2);
    assert_eq!(packages.try_iter().count(), 4);
}

/// A package of 256 KiB never found room, and so was always compiled by its turn.
#[test]
fn a_package_that_came_in_pieces_is_compiled_ahead_by_what_is_compiled_of_it() {
    let (sender, packages) = mpsc::sync_channel(COMPILES_WAITING_MAX);
    let (mut queue, world) = (CompileQueue::to(sender), world());
    let novel = |entry: usize| {
        let source = format!("// {}\nfn on_tick(dt) {{}}\n", "-".repeat(entry));
        let notes = |n: usize| (format!("notes{n}.txt"), vec![b'a'; 60_000]);
        let files = (0..3).map(notes).chain([("main.rhai".to_owned(), source.into_bytes())]);
        let draft = Draft {
            name: "novel".to_owned(),
            version: "1.0.0".to_owned(),
            api: 1,
            entry: "main.rhai".to_owned(),
            files: files.collect(),
            licence: "AGPL-3.0-or-later".to_owned(),
            authors: vec![PackageAuthor { name: "Ada".to_owned(), key: None }],
            ..Draft::default()
        };
        blob(&Package::build(draft).expect("a package"))
    };
    assert!(queue.compile(&novel(40_000), &world));
    assert!(!queue.compile(&novel(30_000), &world), "a turn compiles 64 KiB");
    assert_eq!(packages.try_iter().count(), 1);
}

/// What is no package, or is in the sim, was decoded as often as somebody sent it.
#[test]
fn what_is_not_compiled_ahead_counts_all_the_same() {
    let (sender, packages) = mpsc::sync_channel(COMPILES_WAITING_MAX);
    let (mut queue, world) = (CompileQueue::to(sender), world());
    let long = Blob(vec![b'a'; 60_000]);
    assert!(!queue.compile(&long, &world), "it is no package");
    let much = package(&format!("// {}\nfn on_tick(dt) {{}}\n", "-".repeat(20_000)));
    assert!(!queue.compile(&blob(&much), &world), "nobody decodes more in this turn");
    assert!(queue.compile(&blob(&lamp("on")), &world), "there is room for a short one");
    assert_eq!(packages.try_iter().count(), 1);
}
