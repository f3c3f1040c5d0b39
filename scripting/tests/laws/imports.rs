//! Imports: functions and constants of other packages become part of the program.

use std::collections::BTreeMap;

use metatopia_scripting::{
    CompileError, ErrorKind, Event, EventKind, Handler, ImportError, LinkedPackage, Package,
    ScriptHandler, ScriptOutput, ScriptState, Value,
    limits::{IMPORT_BYTES_MIN, LINKED_BYTES_MAX, LINKED_PACKAGES_MAX},
};
use metatopia_types::PackageId;

use crate::stage::{draft, run_in, world};

/// Packages by id.
type Shelf = BTreeMap<PackageId, Package>;

/// A package of this name and source, that imports others by their own names.
fn package(name: &str, source: &str, imports: &[&Package]) -> Package {
    Package::build(metatopia_scripting::Draft {
        name: name.into(),
        imports: imports.iter().map(|p| (p.manifest().name.clone(), p.id())).collect(),
        ..draft(source)
    })
    .unwrap()
}

fn shelf(packages: &[&Package]) -> Shelf {
    packages.iter().map(|package| (package.id(), (*package).clone())).collect()
}

fn handler(package: &Package, shelf: &Shelf) -> Result<ScriptHandler, CompileError> {
    ScriptHandler::linked(&LinkedPackage::new(package, &|id| shelf.get(id))?)
}

/// Starts a package that imports others. Returns what the start leaves.
fn start(package: &Package, others: &[&Package]) -> ScriptOutput {
    let handler = handler(package, &shelf(others)).unwrap_or_else(|error| panic!("{error}"));
    let part = run_in(world(), &handler, &Event::Start, ScriptState::default());
    part.unwrap_or_else(|error| panic!("{error}"))
}

/// The first mistake of a source that imports `scores`.
fn mistake(source: &str) -> String {
    let scores = scores();
    let user = package("user", source, &[&scores]);
    let error = handler(&user, &shelf(&[&scores])).unwrap_err();
    error.to_string()
}

fn scores() -> Package {
    let source = "const PRIZE = 10;
        const TABLE = #{ gold: 3, silver: 2 };
        fn add(name, points) { state[name] = best(state[name] ?? 0, points) }
        fn best(a, b) { if a > b { a } else { b } }
        fn fails(x) { x.nothing }
        fn each(list, f) { list.map(f) }
        private fn secret() { 1 }
        fn on_start() { say(\"never\"); }
        fn on_touch(other) { state.touched = other; }";
    package("scores", source, &[])
}

#[test]
fn a_private_function_hides_no_other_of_its_name() {
    let scores = package("scores", "private fn f(a) { a } fn f(a, b) { f(a) + b }", &[]);
    let user = |call: &str| {
        let source = format!("import \"scores\" as s; fn on_start() {{ state.n = {call}; }}");
        package("user", &source, &[&scores])
    };
    let part = start(&user("s::f(1, 2)"), &[&scores]);
    assert_eq!(part.state.expect("it changed").0["n"], Value::Int(3));
    let error = handler(&user("s::f(1)"), &shelf(&[&scores])).unwrap_err().to_string();
    assert!(error.contains("f is private in s"), "{error}");
}

#[test]
fn functions_and_constants_of_an_import_are_called_by_its_name() {
    let scores = scores();
    let source = "import \"scores\" as s;
        const TWICE = s::PRIZE * 2;
        fn best(a, b) { -1 }
        fn on_start() {
            s::add(\"ada\", s::PRIZE);
            s::add(\"ada\", 4);
            state.mine = best(1, 2);
            state.twice = TWICE;
            state.gold = s::TABLE.gold;
            let k = 3;
            state.all = s::each([1, 2], |x| s::best(x, k) + s::TABLE[\"silver\"]);
        }";
    let part = start(&package("user", source, &[&scores]), &[&scores]);
    let state = part.state.unwrap().0;
    assert_eq!((&state["ada"], &state["mine"]), (&Value::Int(10), &Value::Int(-1)));
    assert_eq!((&state["twice"], &state["gold"]), (&Value::Int(20), &Value::Int(3)));
    assert_eq!(state["all"], Value::Array(vec![Value::Int(5), Value::Int(5)]));
    assert!(part.effects.is_empty(), "handlers of an import do not run");
}

#[test]
fn handlers_of_an_import_run_only_if_they_are_called() {
    let scores = scores();
    let silent = package("user", "import \"scores\" as s;", &[&scores]);
    let silent = handler(&silent, &shelf(&[&scores])).unwrap();
    assert!(EventKind::ALL.into_iter().all(|kind| !silent.handles(kind)));

    let source = "import \"scores\" as s; fn on_start() { s::on_touch(7); }";
    let part = start(&package("user", source, &[&scores]), &[&scores]);
    assert_eq!(part.state.unwrap().0["touched"], Value::Int(7));
}

#[test]
fn imports_of_imports_are_compiled_once_and_are_their_own_matter() {
    let base = package("base", "const STEP = 2; fn next(x) { x + STEP }", &[]);
    let left = package("left", "import \"base\" as b; fn hop(x) { b::next(b::next(x)) }", &[&base]);
    let right = package("right", "import \"base\" as base; fn hop(x) { base::next(x) }", &[&base]);
    let source = "import \"left\" as l; import \"right\" as r;
        fn on_start() { state.x = l::hop(r::hop(1)); }";
    let user = package("user", source, &[&left, &right]);
    let all = [&base, &left, &right];
    assert_eq!(start(&user, &all).state.unwrap().0["x"], Value::Int(7));

    let shelf = shelf(&all);
    let linked = LinkedPackage::new(&user, &|id| shelf.get(id)).unwrap();
    assert_eq!(linked.count(), 4);
    assert_eq!(linked.weight(), user.encode().len() + 3 * IMPORT_BYTES_MIN);
    let found =
        linked.imports().check("user.rhai", "import \"left\" as l; fn f() { l::b::next(1) }");
    assert!(found.unwrap_err().to_string().contains("what l imports is its own matter"));
    let names = linked.imports().names().unwrap();
    assert_eq!(names["left"], ["hop"]);
}

#[test]
fn an_error_in_an_import_names_its_package_file_and_line() {
    let scores = scores();
    let source = "import \"scores\" as s;\nfn on_start() {\n  s::each([1], |x| s::fails(x));\n}";
    let user = package("user", source, &[&scores]);
    let handler = handler(&user, &shelf(&[&scores])).unwrap();
    let error = run_in(world(), &handler, &Event::Start, ScriptState::default()).unwrap_err();
    let file = format!("scores@{}/main.rhai", &scores.id().to_string()[..8]);
    assert_eq!((error.kind, &error.report.file, error.report.line), (ErrorKind::Unknown, &file, 5));
    let trace = &error.report.trace;
    assert_eq!(trace[0], "fails, called at 3:23");
    let within = format!("a closure, called at {file}:6:");
    assert!(trace[1].starts_with(&within), "{trace:?}");
    assert_eq!(trace[2], "each, called at 3:6");

    let wrong = package("scores", "fn on_start() {}\nfn f() { nothing(1) }", &[]);
    let user = package("user", "import \"scores\" as s;", &[&wrong]);
    let error = super::imports::handler(&user, &shelf(&[&wrong])).unwrap_err().to_string();
    let file = format!("scores@{}/main.rhai:2:10: ", &wrong.id().to_string()[..8]);
    assert!(error.starts_with(&file), "{error}");
}

#[test]
fn what_a_source_says_of_imports_is_told_with_what_was_meant() {
    for (source, words) in [
        (
            "import \"scores\" as s; fn f() { s::ad(1, 2) }",
            "1:35: s has no function ad: did you mean add?",
        ),
        (
            "import \"scores\" as s; fn f() { s::add(1) }",
            "the function s::add does not take 1 argument",
        ),
        (
            "import \"scores\" as s; fn f() { s::PRISE }",
            "s has no constant PRISE: did you mean PRIZE?",
        ),
        ("import \"scores\" as s; fn f() { s::best }", "s::best is a function: to hand it on"),
        ("import \"scores\" as s; fn f() { s::PRIZE(1) }", "s::PRIZE is a constant"),
        ("import \"scores\" as s; fn f() { s::secret() }", "secret is private in s"),
        ("import \"scores\" as s; fn f() { t::best(1, 2) }", "nothing is imported as t"),
        ("import \"scores\" as s; fn f() { s::PRIZE = 3; }", "s::PRIZE cannot be assigned"),
        ("import \"scores\" as s; fn f() { s::TABLE.gold = 3; }", "s::TABLE is a constant"),
        ("import \"scores\" as s; const X = s::best(1, 2);", "a constant cannot call a function"),
        (
            "import \"score\" as s;",
            "package.toml has no \"score\" below [imports]: did you mean scores?",
        ),
        ("import \"scores\";", "an import needs a name"),
        ("import scores as s;", "an import names a package in quotes"),
        ("import \"scores\" as s; import \"scores\" as s;", "s is taken"),
        ("fn f() {\n import \"scores\" as s; }", "2:2: an import stands outside"),
        ("const X = 1; fn f() { global::X }", "a constant is named without global: X"),
        ("fn f() { s::best(1, 2) }", "nothing is imported as s"),
    ] {
        let found = mistake(source);
        assert!(found.contains(words), "{source}: {found}");
    }
    let id = "ab".repeat(32);
    let found = mistake(&format!("import \"{id}\" as s;"));
    assert!(found.contains(&format!("scores = \"{id}\" below [imports]")), "{found}");
}

#[test]
fn what_is_not_there_or_another_package_is_no_import() {
    let (scores, other) = (scores(), package("other", "", &[]));
    let user = package("user", "import \"scores\" as s;", &[&scores]);
    let missing = LinkedPackage::new(&user, &|_| None).unwrap_err();
    let name = "scores".to_owned();
    assert_eq!(missing, ImportError::Missing { name: name.clone(), package: scores.id() });
    let lie = LinkedPackage::new(&user, &|_| Some(&other)).unwrap_err();
    let (stated, found) = (scores.id(), other.id());
    assert_eq!(lie, ImportError::Other { name, stated, found }, "so no circle can be");
    let outer = package("outer", "", &[&user]);
    let shelf = shelf(&[&user]);
    let deep = LinkedPackage::new(&outer, &|id| shelf.get(id)).unwrap_err();
    let name = "user::scores".to_owned();
    assert_eq!(deep, ImportError::Missing { name, package: scores.id() });
    assert!(ScriptHandler::new(&user).unwrap_err().to_string().contains("there is no package"));
}

#[test]
fn so_many_packages_are_linked_and_no_more_in_a_row_or_beside_each_other() {
    let chain = |count: usize| {
        let mut all = vec![package("p0", "", &[])];
        for n in 1..count {
            all.push(package(&format!("p{n}"), "", &[&all[n - 1]]));
        }
        all
    };
    let beside: Vec<Package> =
        (0..LINKED_PACKAGES_MAX).map(|n| package(&format!("q{n}"), "", &[])).collect();
    let wide = |count: usize| {
        let (first, rest) = beside[..count].split_first().unwrap();
        let shelf: Shelf = beside.iter().map(|package| (package.id(), package.clone())).collect();
        let outer = package("outer", "", &rest.iter().collect::<Vec<_>>());
        let top = package("top", "", &[&outer, first]);
        let shelf: Shelf = shelf.into_iter().chain([(outer.id(), outer)]).collect();
        LinkedPackage::new(&top, &|id| shelf.get(id)).map(|linked| linked.count())
    };
    let deep = |count: usize| {
        let all = chain(count);
        let shelf: Shelf = all.iter().map(|package| (package.id(), package.clone())).collect();
        LinkedPackage::new(all.last().unwrap(), &|id| shelf.get(id)).map(|linked| linked.count())
    };
    assert_eq!(deep(LINKED_PACKAGES_MAX), Ok(LINKED_PACKAGES_MAX));
    assert_eq!(deep(LINKED_PACKAGES_MAX + 1), Err(ImportError::Packages));
    assert_eq!(wide(LINKED_PACKAGES_MAX - 2), Ok(LINKED_PACKAGES_MAX));
    assert_eq!(wide(LINKED_PACKAGES_MAX - 1), Err(ImportError::Packages));
}

#[test]
fn all_sources_together_have_a_bound() {
    let fill = |n: usize| package(&format!("f{n}"), &"//34567\n".repeat(8_000), &[]);
    let all: Vec<Package> = (0..5).map(fill).collect();
    let shelf: Shelf = all.iter().map(|package| (package.id(), package.clone())).collect();
    let link = |count: usize| {
        let user = package("user", "", &all[..count].iter().collect::<Vec<_>>());
        LinkedPackage::new(&user, &|id| shelf.get(id)).map(|_| ())
    };
    assert_eq!(link(4), Ok(()));
    assert_eq!(link(5), Err(ImportError::Bytes { bytes: 5 * 64_000 }));
    const { assert!(4 * 64_000 <= LINKED_BYTES_MAX && 5 * 64_000 > LINKED_BYTES_MAX) };
}

#[test]
fn constants_of_all_sources_share_the_gas_of_one_call() {
    let costly = |n: usize| {
        let text = "a".repeat(400);
        let source: String =
            (0..6).map(|c| format!("const C{c} = \"{text}\".split(\"a\").len();\n")).collect();
        package(&format!("c{n}"), &source, &[])
    };
    let all: Vec<Package> = (0..15).map(costly).collect();
    let shelf: Shelf = all.iter().map(|package| (package.id(), package.clone())).collect();
    let compiles = |count: usize| {
        let user = package("user", "", &all[..count].iter().collect::<Vec<_>>());
        handler(&user, &shelf).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(compiles(1), Ok(()));
    let error = compiles(15).unwrap_err();
    assert!(error.contains("the call has used all its gas"), "{error}");
}

#[test]
fn a_licence_that_forbids_an_import_is_quoted() {
    let under = |name: &str, licence: &str, imports: &[&Package]| {
        let mut draft = draft("");
        draft.name = name.into();
        draft.licence = licence.into();
        draft.imports = imports.iter().map(|p| (p.manifest().name.clone(), p.id())).collect();
        Package::build(draft).unwrap()
    };
    let link = |user: &Package, all: &[&Package]| {
        let shelf = shelf(all);
        let linked = LinkedPackage::new(user, &|id| shelf.get(id));
        linked.map(|_| ()).map_err(|error| error.to_string())
    };
    let two = under("two", "GPL-2.0-only", &[]);
    let three = under("three", "AGPL-3.0-or-later", &[]);
    let refused = link(&under("user", "AGPL-3.0-or-later", &[&two]), &[&two]).unwrap_err();
    assert_eq!(
        refused,
        "import \"two\": a package under AGPL-3.0-or-later may not import one under GPL-2.0-only: \
         version 2 alone and version 3 forbid each other"
    );
    let either = under("user", "GPL-2.0-or-later", &[&two]);
    assert_eq!(link(&either, &[&two]), Ok(()));
    let both = under("user", "GPL-2.0-or-later", &[&two, &three]);
    assert!(link(&both, &[&two, &three]).unwrap_err().contains("cannot hold together"));
    // What an import imports counts as well.
    let middle = under("middle", "GPL-2.0-or-later", &[&two]);
    let outer = under("outer", "GPL-3.0-only", &[&middle]);
    assert!(link(&outer, &[&two, &middle]).unwrap_err().contains("import \"middle::two\""));
}

#[test]
fn a_program_of_a_package_without_imports_is_what_it_was() {
    let source = "fn on_start() { state.x = [1].map(|x| x + 1); }";
    let alone = package("user", source, &[]);
    let linked = handler(&alone, &Shelf::new()).unwrap();
    let run = |handler: &dyn Handler| {
        run_in(world(), handler, &Event::Start, ScriptState::default()).unwrap()
    };
    assert_eq!(run(&linked), run(&ScriptHandler::new(&alone).unwrap()));
}
