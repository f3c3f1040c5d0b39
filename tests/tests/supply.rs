//! What `cargo deny check bans licenses sources advisories` would say, by the same `deny.toml`, of the
//! crates that this workspace builds with. `cargo-deny` itself takes longer to build than all of them;
//! it reads this file too, for whoever has it. What only the registry knows, such as yanked crates, is
//! left to it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::Command,
};

use cargo_metadata::{
    DependencyKind, Metadata, MetadataCommand, Package,
    semver::{Version, VersionReq},
};
use metatopia_tests::root;
use spdx::{Expression, Licensee, ParseMode};
use toml::{Table, Value};

/// Where crates come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// See `.ci/advisories`, which writes it.
const ADVISORIES: &str = "tests/advisories.txt";

/// Reads the metadata of this workspace. It is not read offline, because crates for other systems are in the
/// lock file too, and a build here fetches none of them.
fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .other_options(["--locked".to_owned()])
        .exec()
        .expect("cargo metadata of this workspace")
}

/// The packages that are built with the features in use, on any system. `cargo metadata` also lists what
/// a feature would bring if somebody else asked for its crate; `cargo tree` does not.
fn used(metadata: &Metadata) -> Vec<&Package> {
    let told = Command::new(env!("CARGO"))
        .args(["tree", "--workspace", "--locked", "--target", "all"])
        .args(["--edges", "all", "--prefix", "none", "--format", "{p}"])
        .current_dir(root())
        .output()
        .expect("cargo is there");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let told = String::from_utf8(told.stdout).expect("names are text");
    let named = told.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.next()?.strip_prefix('v')?))
    });
    let built: BTreeSet<(&str, &str)> = named.collect();
    let is_built = |package: &&Package| {
        built.contains(&(package.name.as_str(), package.version.to_string().as_str()))
    };
    metadata.packages.iter().filter(is_built).collect()
}

fn rules() -> Table {
    let text = fs::read_to_string(root().join("deny.toml")).expect("deny.toml");
    toml::from_str(&text).expect("deny.toml is TOML")
}

fn list<'a>(rules: &'a Table, part: &str, key: &str) -> &'a [Value] {
    let found = rules.get(part).and_then(|part| part.get(key)).and_then(Value::as_array);
    found.unwrap_or_else(|| panic!("deny.toml has no list {key} in [{part}]"))
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_else(|| panic!("{value} has no text {key}"))
}

fn licensee(text: &str) -> Licensee {
    Licensee::parse(text).unwrap_or_else(|error| panic!("deny.toml: licence {text}: {error}"))
}

/// Returns why a crate's licence is not one of these, or `None` if it is.
fn refused(licence: Option<&str>, allowed: &[Licensee]) -> Option<String> {
    let Some(licence) = licence else {
        return Some("no licence is stated".to_owned());
    };
    // Older crates write a slash for `OR`.
    let expression = match Expression::parse_mode(licence, ParseMode::LAX) {
        Ok(expression) => expression,
        Err(error) => return Some(format!("`{licence}`: {error}")),
    };
    let is_allowed = |asked: &spdx::LicenseReq| allowed.iter().any(|own| own.satisfies(asked));
    (!expression.evaluate(is_allowed)).then(|| format!("`{licence}` is not allowed"))
}

#[test]
fn every_licence_fits() {
    let (rules, metadata) = (rules(), metadata());
    let allow = list(&rules, "licenses", "allow").iter().map(|one| one.as_str().expect("a text"));
    let allow: Vec<Licensee> = allow.map(licensee).collect();
    let mut exceptions: BTreeMap<&str, Vec<Licensee>> = BTreeMap::new();
    for exception in list(&rules, "licenses", "exceptions") {
        let more = list_of(exception, "allow").into_iter().map(licensee);
        exceptions.entry(text(exception, "crate")).or_default().extend(more);
    }
    let used = used(&metadata);
    assert!(used.len() > 300, "{} packages", used.len());
    for package in used {
        let more = exceptions.get(package.name.as_str()).into_iter().flatten();
        let allowed: Vec<Licensee> = allow.iter().chain(more).cloned().collect();
        let why = refused(package.license.as_deref(), &allowed);
        assert_eq!(why, None, "{} {}", package.name, package.version);
    }
}

fn list_of<'a>(value: &'a Value, key: &str) -> Vec<&'a str> {
    let all = value.get(key).and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Value::as_str).collect()
}

#[test]
fn a_licence_that_is_not_on_the_list_is_refused() {
    let allowed = ["MIT", "Apache-2.0 WITH LLVM-exception"].map(licensee);
    let fits = |licence: &str| refused(Some(licence), &allowed).is_none();
    for licence in ["MIT", "MIT OR GPL-2.0-only", "MIT/Apache-2.0", "(MIT)"] {
        assert!(fits(licence), "{licence}");
    }
    for licence in ["GPL-2.0-only", "MIT AND Apache-2.0", "Apache-2.0", "", "my own"] {
        assert!(!fits(licence), "{licence}");
    }
    assert!(refused(None, &allowed).is_some());
}

#[test]
fn no_banned_crate_is_built() {
    let (rules, metadata) = (rules(), metadata());
    let used: BTreeSet<&str> =
        used(&metadata).iter().map(|package| package.name.as_str()).collect();
    for banned in list(&rules, "bans", "deny") {
        let (name, reason) = (text(banned, "name"), text(banned, "reason"));
        assert!(!used.contains(name), "{name} is used: {reason}; see `cargo tree -i {name}`");
    }
    assert_eq!(text(&rules["bans"], "wildcards"), "deny");
    for package in metadata.workspace_packages() {
        let wild = |dependency: &&cargo_metadata::Dependency| {
            dependency.req == VersionReq::STAR && dependency.path.is_none()
        };
        let found = package.dependencies.iter().find(wild).map(|dependency| &dependency.name);
        assert_eq!(found, None, "{} takes any version", package.name);
    }
}

#[test]
fn every_crate_is_of_this_workspace_or_of_the_registry() {
    let (rules, metadata) = (rules(), metadata());
    for key in ["unknown-registry", "unknown-git"] {
        assert_eq!(text(&rules["sources"], key), "deny");
    }
    for package in used(&metadata) {
        let own = metadata.workspace_members.contains(&package.id);
        let source = package.source.as_ref().map(|source| source.repr.as_str());
        assert_eq!(source, (!own).then_some(REGISTRY), "{}", package.name);
    }
}

/// One line of the copy.
struct Advisory<'a> {
    id: &'a str,
    package: &'a str,
    /// Versions that it is not about.
    safe: Vec<VersionReq>,
}

/// The date of a copy, and what it holds.
fn advisories(copy: &str) -> (&str, Vec<Advisory<'_>>) {
    let date = copy.lines().find_map(|line| line.strip_prefix("# as of ")).expect("a date");
    let lines = copy.lines().filter(|line| !line.starts_with('#'));
    let all = lines.map(|line| {
        let mut words = line.split('\t');
        let mut next = || words.next().unwrap_or_else(|| panic!("{ADVISORIES}: {line}"));
        let (id, package, safe) = (next(), next(), next());
        let parse =
            |req: &str| VersionReq::parse(req).unwrap_or_else(|e| panic!("{id}: {req}: {e}"));
        let safe = safe.split('|').filter(|req| !req.is_empty()).map(parse).collect();
        Advisory { id, package, safe }
    });
    (date, all.collect())
}

/// The advisories about a version of a crate.
fn about<'a>(all: &'a [Advisory<'a>], name: &str, version: &Version) -> Vec<&'a str> {
    let hits = all.iter().filter(|advisory| {
        advisory.package == name && !advisory.safe.iter().any(|safe| safe.matches(version))
    });
    hits.map(|advisory| advisory.id).collect()
}

#[test]
fn no_advisory_is_known_about_any_crate() {
    let (rules, metadata) = (rules(), metadata());
    let copy = fs::read_to_string(root().join(ADVISORIES)).expect("the copy");
    let (date, all) = advisories(&copy);
    assert!(all.len() > 1_000, "{ADVISORIES} was not understood");
    let ignored = list(&rules, "advisories", "ignore");
    let ignored: BTreeSet<&str> = ignored.iter().map(|one| text(one, "id")).collect();
    let mut met = BTreeSet::new();
    let mut wrong = Vec::new();
    for package in used(&metadata) {
        for id in about(&all, package.name.as_str(), &package.version) {
            met.insert(id);
            if !ignored.contains(id) {
                wrong.push(format!("{} {}: {id}", package.name, package.version));
            }
        }
    }
    println!("{} advisories as of {date}", all.len());
    assert!(wrong.is_empty(), "as of {date}: {wrong:#?}");
    let idle: Vec<_> = ignored.difference(&met).collect();
    assert!(idle.is_empty(), "deny.toml ignores what is about no crate any more: {idle:?}");
}

#[test]
fn an_advisory_is_about_all_versions_but_those_that_it_calls_safe() {
    let copy = "# as of 2026-01-01\nR-1\tleaky\t>= 1.2.0|< 1.0.0\nR-2\tgone\t\n";
    let (date, all) = advisories(copy);
    assert_eq!(date, "2026-01-01");
    let told = |name: &str, version: &str| about(&all, name, &version.parse().expect("a version"));
    assert_eq!(told("leaky", "1.1.9"), ["R-1"]);
    assert_eq!(told("gone", "9.9.9"), ["R-2"]);
    for (name, version) in [("leaky", "1.2.0"), ("leaky", "0.9.0"), ("other", "1.1.0")] {
        assert!(told(name, version).is_empty(), "{name} {version}");
    }
}

#[test]
fn only_tests_use_what_only_tests_may() {
    let metadata = metadata();
    let rules = rules();
    let excepted: BTreeSet<&str> =
        list(&rules, "licenses", "exceptions").iter().map(|one| text(one, "crate")).collect();
    let program = metadata.packages.iter().find(|package| package.name.as_str() == "metatopia");
    let program = program.expect("the program");
    let shipped = program.dependencies.iter().filter(|used| used.kind == DependencyKind::Normal);
    for used in shipped {
        assert!(!excepted.contains(used.name.as_str()), "the program ships {}", used.name);
    }
}
