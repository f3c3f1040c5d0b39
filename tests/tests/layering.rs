//! The map of the workspace, held against what cargo says: arrows go down only, and pure crates use
//! nothing that could make two servers differ.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};
use metatopia_tests::{files, root};

/// Which of our crates each crate may use. A new arrow is a decision: it belongs into
/// ARCHITECTURE.md first.
const ARROWS: &[(&str, &[&str])] = &[
    ("math", &[]),
    ("types", &["math"]),
    ("physics", &["math", "types"]),
    ("scripting", &["math", "types"]),
    ("consensus", &["types"]),
    ("store", &["types"]),
    ("protocol", &["math", "types"]),
    ("sim", &["math", "types", "physics", "scripting"]),
    ("client", &["math", "types", "protocol", "sim"]),
    ("wasm", &["math", "types", "physics", "sim", "protocol", "client"]),
    ("module", &[]),
    ("replica", &["math", "types", "sim", "consensus", "store", "protocol"]),
    ("scenarios", &["math", "types", "sim", "physics", "scripting"]),
    // Scenarios only for its feature `fixture`: tests write logs of the plaza.
    (
        "audit",
        &["types", "sim", "consensus", "store", "protocol", "client", "replica", "scenarios"],
    ),
    ("portable", &["math", "types", "physics", "scripting", "sim", "scenarios"]),
    ("network", &["math"]),
    ("oracle", &["types", "consensus"]),
    (
        "simulator",
        &[
            "math",
            "types",
            "consensus",
            "oracle",
            "store",
            "replica",
            "sim",
            "scenarios",
            "protocol",
            "client",
        ],
    ),
    (
        "node",
        &[
            "math",
            "types",
            "sim",
            "physics",
            "scripting",
            "consensus",
            "store",
            "replica",
            "audit",
            "protocol",
            "client",
            "scenarios",
        ],
    ),
    (
        "decoders",
        &[
            "math",
            "types",
            "scripting",
            "consensus",
            "protocol",
            "sim",
            "client",
            "store",
            "replica",
            "audit",
            "scenarios",
            "simulator",
            "node",
        ],
    ),
    (
        "abuse",
        &[
            "math",
            "types",
            "scripting",
            "protocol",
            "sim",
            "client",
            "replica",
            "scenarios",
            "simulator",
            "node",
        ],
    ),
];

/// Foreign crates that our pure crates may name, and why they cannot make two servers differ.
const FOREIGN: &[(&str, &str)] = &[
    ("blake3", "hashing: integers only"),
    ("ed25519-dalek", "signatures: strict, and the same on every CPU"),
    ("fixed", "the type behind Fx; its operators stay inside sim/math"),
    ("postcard", "the one encoding"),
    ("serde", "shapes for the encoding"),
    ("thiserror", "error enums"),
    ("zeroize", "wipes secrets"),
    ("rhai", "parser and first executor of scripts; hashing seeded, gas is ours"),
    ("spdx", "licence expressions"),
    ("arc-malachitebft-core-consensus", "agreement core, sans-IO, in one module"),
    ("arc-malachitebft-core-types", "its types"),
    ("arc-malachitebft-signing", "its certificate checks"),
    ("async-trait", "its verifier trait is async; ours never waits"),
    ("futures", "runs that trait without a runtime"),
    ("toml", "scenarios are files"),
];

const PURE: &[&str] = &[
    "math",
    "types",
    "physics",
    "scripting",
    "consensus",
    "store",
    "protocol",
    "sim",
    "client",
    "replica",
    "audit",
    "oracle",
];

/// What the oracle may name of agreement: shapes of what is said and written down. Nothing that
/// decides, or it would believe what it is there to doubt.
const SHAPES: &[&str] = &["Decision", "Message", "Record"];

/// Not offline: crates for other systems are in the lock file too, and a build here fetches none.
fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .other_options(["--locked".to_owned()])
        .exec()
        .expect("cargo metadata of this workspace")
}

fn short(package: &str) -> &str {
    match package {
        "metatopia" => "node",
        other => other.strip_prefix("metatopia-").unwrap_or(other),
    }
}

/// The normal dependencies of each workspace member.
fn normal() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = metadata();
    metadata
        .workspace_packages()
        .iter()
        .map(|package| {
            let uses = package.dependencies.iter().filter(|d| d.kind == DependencyKind::Normal);
            (short(&package.name).to_owned(), uses.map(|d| d.name.clone()).collect())
        })
        .collect()
}

#[test]
fn arrows_between_our_crates_go_down_only() {
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    for (package, uses) in normal() {
        if package == "tests" {
            continue;
        }
        let may = allowed.get(package.as_str()).unwrap_or_else(|| panic!("{package} has no row"));
        for used in uses.iter().filter(|name| name.starts_with("metatopia")) {
            assert!(may.contains(&short(used)), "{package} must not use {used}");
        }
    }
}

#[test]
fn the_table_of_arrows_has_no_cycle_and_lists_lower_crates_first() {
    let mut below = BTreeSet::new();
    for (package, uses) in ARROWS {
        for used in *uses {
            assert!(below.contains(used), "{package} uses {used}, which is not below it");
        }
        below.insert(*package);
    }
}

#[test]
fn pure_crates_name_only_foreign_crates_that_are_on_the_list() {
    let listed: BTreeSet<&str> = FOREIGN.iter().map(|(name, _)| *name).collect();
    let normal = normal();
    for package in PURE {
        let foreign = normal[*package].iter().filter(|name| !name.starts_with("metatopia"));
        for used in foreign {
            assert!(listed.contains(used.as_str()), "{package} uses {used}: not on the list");
        }
    }
}

#[test]
fn no_pure_crate_brings_sockets_clocks_or_an_async_runtime_of_its_own() {
    let normal = normal();
    for package in PURE {
        for banned in ["tokio", "libp2p", "quinn", "mio", "rand", "getrandom", "rapier2d"] {
            assert!(!normal[*package].contains(banned), "{package} uses {banned}");
        }
    }
}

#[test]
fn only_the_simulated_world_switches_rules_off() {
    for package in metadata().workspace_packages() {
        let switched = package.dependencies.iter().filter(|used| {
            let broken = used.features.iter().any(|feature| feature == "controls");
            broken && used.kind == DependencyKind::Normal
        });
        for used in switched {
            assert_eq!(short(&package.name), "simulator", "the one that breaks {}", used.name);
        }
    }
}

#[test]
fn the_oracle_names_nothing_of_agreement_but_shapes() {
    let sources = files(&root().join("scenarios/oracle"), ".rs").expect("the oracle's sources");
    assert!(sources.len() > 8, "{sources:?}");
    for path in sources {
        let text = std::fs::read_to_string(&path).expect("a source file");
        for rest in text.split("metatopia_consensus").skip(1) {
            let names = rest.strip_prefix("::").and_then(|rest| rest.split(';').next());
            let names = names.unwrap_or_else(|| panic!("{} names all of it", path.display()));
            for name in names.trim_matches(['{', '}']).split(',').map(str::trim) {
                assert!(SHAPES.contains(&name), "{} names {name}", path.display());
            }
        }
        // What certificates and evidence find out about themselves is production's word: the
        // oracle asks for single signatures only.
        let (asked, all) = (text.matches("verifier.verify(").count(), text.matches(".verify("));
        assert_eq!(asked, all.count(), "{} lets production check", path.display());
        assert!(!text.contains("Roster"), "{} follows production's roster", path.display());
    }
}

#[test]
fn every_crate_takes_its_lints_from_the_workspace() {
    for package in metadata().workspace_packages() {
        let manifest = std::fs::read_to_string(&package.manifest_path).expect("a manifest");
        assert!(manifest.contains("[lints]\nworkspace = true"), "{}", package.name);
    }
}

#[test]
fn one_version_of_each_crate_that_two_of_ours_share() {
    let metadata = metadata();
    for shared in ["blake3", "ed25519-dalek", "postcard", "serde", "rustls", "tokio", "bytes"] {
        let versions: BTreeSet<String> = metadata
            .packages
            .iter()
            .filter(|package| package.name.as_str() == shared)
            .map(|package| package.version.to_string())
            .collect();
        assert_eq!(versions.len(), 1, "{shared}: {versions:?}");
    }
}
