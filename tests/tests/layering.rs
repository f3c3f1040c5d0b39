//! The map of the workspace, held against what cargo says: arrows go down only, and pure crates use
//! nothing that could make two servers differ.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};
use metatopia_tests::{PURE, PureCrate, files, root};

/// Which of our crates each crate may use. A new arrow is a decision: it belongs into
/// ARCHITECTURE.md first.
const ARROWS: &[(&str, &[&str])] = &[
    ("math", &[]),
    ("types", &["math"]),
    ("physics", &["math", "types"]),
    ("physics-rapier", &["math", "types", "physics"]),
    ("scripting", &["math", "types"]),
    ("consensus", &["types"]),
    ("raynet", &["math", "types"]),
    ("store", &["types"]),
    ("protocol", &["math", "types"]),
    ("sim", &["math", "types", "physics", "scripting"]),
    ("transport", &["types", "protocol"]),
    ("client", &["math", "types", "protocol", "sim"]),
    ("client-driver", &["math", "types", "protocol", "sim", "client", "transport"]),
    ("text-client", &["math", "types", "scripting", "sim", "protocol", "client", "client-driver"]),
    (
        "load",
        &[
            "math",
            "types",
            "physics",
            "scripting",
            "sim",
            "protocol",
            "client",
            "transport",
            "client-driver",
        ],
    ),
    // Scripting for packages: what is shown of a source is hashed again.
    ("wasm", &["math", "types", "physics", "scripting", "sim", "protocol", "client"]),
    ("module", &[]),
    ("tests", &["module"]),
    ("replica", &["math", "types", "sim", "consensus", "store", "protocol"]),
    ("scenarios", &["math", "types", "sim", "physics", "scripting"]),
    // Scenarios only for its feature `fixture`: tests write logs of the plaza.
    (
        "audit",
        &[
            "types",
            "physics",
            "physics-rapier",
            "sim",
            "consensus",
            "store",
            "protocol",
            "client",
            "replica",
            "scenarios",
        ],
    ),
    ("pace", &["math", "types", "physics"]),
    ("portable", &["math", "types", "physics", "scripting", "sim", "scenarios", "client"]),
    ("network", &["math"]),
    ("oracle", &["types", "consensus"]),
    (
        "simulator",
        &[
            "math",
            "types",
            "consensus",
            "raynet",
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
            "scripting",
            "consensus",
            "store",
            "replica",
            "audit",
            "raynet",
            "transport",
            "protocol",
            "client",
            "client-driver",
            "text-client",
            "load",
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
            "raynet",
            "transport",
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
            "replica",
            "client",
            "client-driver",
            "scenarios",
            "simulator",
            "transport",
            "node",
        ],
    ),
];

/// Foreign crates that our pure crates may name, and why they cannot make two servers differ.
const FOREIGN: &[(&str, &str)] = &[
    ("argon2", "seals keys by a passphrase; integers only, and no servers compute it"),
    ("blake3", "hashing: integers only"),
    ("bytemuck", "four integers as a vector of wasm32; the same bits, by golden digests"),
    ("chacha20poly1305", "seals private words; integers only, and no servers compute it"),
    ("data-encoding", "base 32 of invites, base 64 of profiles"),
    ("ed25519-dalek", "signatures: strict, and the same on every CPU"),
    ("imagesize", "first bytes of pictures, which only clients read; no servers compute it"),
    ("fixed", "the type behind Fx; its operators stay inside sim/math"),
    ("postcard", "the one encoding"),
    (
        "safe_arch",
        "instructions on four integers as safe functions; the same bits, by golden digests",
    ),
    ("serde", "shapes for the encoding"),
    ("thiserror", "error enums"),
    ("unicode-security", "tables of what looks alike, and no more; pinned with the engine"),
    ("x25519-dalek", "agrees on keys of private words; integers only, and no servers compute it"),
    ("zeroize", "wipes secrets"),
    ("rhai", "parser of scripts; hashing seeded, and what it reads is run by us"),
    ("spdx", "licence expressions"),
    ("arc-malachitebft-core-consensus", "agreement core, sans-IO, in one module"),
    ("arc-malachitebft-core-types", "its types"),
];

/// What the oracle may name of agreement: shapes of what is said and written down. Nothing that
/// decides, or it would believe what it is there to doubt.
const SHAPES: &[&str] = &["Decision", "Message", "Record"];

/// Reads the metadata of this workspace. It is not read offline, because crates for other systems are in the
/// lock file too, and a build here fetches none of them.
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
            let uses = uses.filter(|used| !used.optional || used.name.starts_with("metatopia"));
            (short(&package.name).to_owned(), uses.map(|d| d.name.clone()).collect())
        })
        .collect()
}

#[test]
fn arrows_between_our_crates_go_down_only() {
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    for (package, uses) in normal() {
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
        assert_eq!(
            uses.iter().collect::<BTreeSet<_>>().len(),
            uses.len(),
            "{package} uses one twice"
        );
        assert!(below.insert(*package), "{package} has two rows");
    }
}

#[test]
fn the_table_of_arrows_has_a_row_for_no_arrow_that_is_gone() {
    let normal = normal();
    for (package, may) in ARROWS {
        let uses = normal.get(*package).unwrap_or_else(|| panic!("{package} is no crate"));
        let used: BTreeSet<&str> = uses.iter().map(|used| short(used)).collect();
        let idle: Vec<_> = may.iter().filter(|to| !used.contains(**to)).collect();
        assert!(idle.is_empty(), "{package} does not use {idle:?} any more");
    }
}

#[test]
fn pure_crates_name_only_foreign_crates_that_are_on_the_list() {
    let listed: BTreeSet<&str> = FOREIGN.iter().map(|(name, _)| *name).collect();
    let normal = normal();
    let mut met = BTreeSet::new();
    for PureCrate { name, .. } in PURE {
        let foreign = normal[*name].iter().filter(|used| !used.starts_with("metatopia"));
        for used in foreign {
            assert!(listed.contains(used.as_str()), "{name} uses {used}: not on the list");
            met.insert(used.as_str());
        }
    }
    let idle: Vec<_> = listed.difference(&met).collect();
    assert!(idle.is_empty(), "no pure crate uses {idle:?} any more");
}

/// What only a feature brings that nothing turns on but a person who measures, and why.
const OPTIONAL: &[(&str, &str, &str)] = &[
    ("physics", "rapier2d", "what the example compare measures our physics against"),
    ("physics", "rustix", "the clock of a thread's own time, for that example"),
];

#[test]
fn what_is_optional_is_on_the_list_and_no_crate_of_ours_turns_it_on() {
    let metadata = metadata();
    let mut met = BTreeSet::new();
    for package in metadata.workspace_packages() {
        for used in package.dependencies.iter().filter(|used| used.optional) {
            met.insert((short(&package.name).to_owned(), used.name.clone()));
        }
        let compares = package.dependencies.iter().find(|used| {
            used.name == "metatopia-physics" && used.features.iter().any(|on| on == "compare")
        });
        assert!(compares.is_none(), "{} turns the measurement on", package.name);
        assert!(!package.features.get("default").is_some_and(|on| on.contains(&"compare".into())));
    }
    let physics: BTreeSet<_> = met.iter().filter(|(package, _)| package == "physics").collect();
    let listed: BTreeSet<_> =
        OPTIONAL.iter().map(|(package, name, _)| (package.to_string(), name.to_string())).collect();
    assert_eq!(physics, listed.iter().collect());
}

/// Crates below the drivers that compute in floats, and why they cannot make two servers differ.
const FLOATING: &[(&str, &str)] = &[(
    "physics-rapier",
    "rapier, pinned, with enhanced-determinism: the same bits on every processor; what goes in and \
     comes out is fixed point, and its state names the version",
)];

/// All features of rapier in any build. One more could move bodies differently, or bring threads.
const FEATURES_OF_RAPIER: &[&str] =
    &["alloc", "block-solver", "dim2", "enhanced-determinism", "f32", "serde-serialize", "std"];

/// Features are unified over a build, so one crate that asked for another would get it for all.
#[test]
fn rapier_has_the_pinned_version_and_features_and_one_crate_that_brings_it() {
    let metadata = metadata();
    let listed: BTreeSet<&str> = FLOATING.iter().map(|(name, _)| *name).collect();
    let normal = normal();
    let users = normal.iter().filter(|(_, uses)| uses.contains("rapier2d"));
    assert_eq!(users.map(|(name, _)| name.as_str()).collect::<BTreeSet<_>>(), listed);
    assert!(PURE.iter().all(|pure| !listed.contains(pure.name)), "a pure crate has no floats");
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    assert!(manifest.contains("rapier2d = { version = \"=0.36.1\", default-features = false"));
    let resolve = metadata.resolve.as_ref().expect("metadata with a graph");
    let features = |name: &str| {
        let named = metadata.packages.iter().filter(|package| package.name.as_str() == name);
        let ids: Vec<_> = named.map(|package| &package.id).collect();
        let [id] = ids[..] else {
            panic!("{} versions of {name}", ids.len());
        };
        let node = resolve.nodes.iter().find(|node| node.id == *id).expect("a node of the graph");
        node.features.iter().map(ToString::to_string).collect::<Vec<String>>()
    };
    assert_eq!(features("rapier2d"), FEATURES_OF_RAPIER);
    let below = features("parry2d");
    assert!(below.contains(&"enhanced-determinism".to_owned()), "{below:?}");
    for other in ["parallel", "simd8", "f64"] {
        assert!(!below.contains(&other.to_owned()), "{below:?}");
    }
}

/// A page replays turns in integers. Where rapier moved bodies, it believes proofs instead.
#[test]
fn the_module_is_made_without_the_second_tier() {
    let normal = normal();
    let mut reached = BTreeSet::from(["wasm".to_owned()]);
    let mut left = vec!["wasm".to_owned()];
    while let Some(package) = left.pop() {
        for used in normal[&package].iter().filter(|name| name.starts_with("metatopia")) {
            if reached.insert(short(used).to_owned()) {
                left.push(short(used).to_owned());
            }
        }
    }
    assert!(reached.contains("physics") && reached.len() > 5, "{reached:?}");
    for (floating, _) in FLOATING {
        assert!(!reached.contains(*floating), "the module is made with {floating}");
    }
}

#[test]
fn no_pure_crate_brings_sockets_clocks_or_an_async_runtime_of_its_own() {
    let normal = normal();
    for PureCrate { name, .. } in PURE {
        for banned in ["tokio", "libp2p", "quinn", "mio", "rand", "getrandom", "rapier2d"] {
            assert!(!normal[*name].contains(banned), "{name} uses {banned}");
        }
    }
}

/// What only the transport may name of other people's code: whoever else did would speak to strangers
/// past its limits.
const CARRIERS: &[&str] =
    &["quinn", "tokio-rustls", "tokio-tungstenite", "web-transport-proto", "rcgen"];

#[test]
fn the_program_speaks_to_strangers_by_the_transport_alone() {
    let normal = normal();
    for carrier in CARRIERS {
        assert!(normal["transport"].contains(*carrier), "the transport does without {carrier}");
        assert!(!normal["node"].contains(*carrier), "the program uses {carrier} itself");
    }
}

/// Where things are kept, what time of day it is and how the program was called is the program's part.
#[test]
fn the_transport_knows_no_disk_no_command_line_and_no_time_of_day() {
    let folder = root().join("node/transport/src");
    let sources = files(&folder, ".rs").expect("the sources of the transport");
    assert!(sources.len() > 40, "{sources:?}");
    for path in sources {
        let text = std::fs::read_to_string(&path).expect("a source file");
        for word in
            ["std::fs", "fs::", "std::env", "env::", "std::process", "SystemTime", "PathBuf"]
        {
            assert!(!text.contains(word), "{} names {word}", path.display());
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

/// The machines of a replica, each with its folder. `Durability` is none of them: the others give it their effects.
const MACHINES: &[(&str, &str)] = &[
    ("ingress", "Ingress"),
    ("publish", "Publisher"),
    ("members", "Membership"),
    ("sync", "Synchronizer"),
];

/// Eleven files once had an impl of the replica, and shared 37 fields.
#[test]
fn a_replica_is_composed_in_one_place_and_its_machines_do_not_see_each_other() {
    let folder = root().join("node/replica/src");
    let sources = files(&folder, ".rs").expect("the sources of the replica");
    assert!(sources.len() > 40, "{sources:?}");
    for path in sources {
        let text = std::fs::read_to_string(&path).expect("a source file");
        let name = path.strip_prefix(&folder).expect("below the folder").display().to_string();
        assert!(!text.contains("impl Replica {") || name == "replica.rs", "{name}");
        let owner = name.trim_end_matches(".rs").split('/').next();
        let Some((own, _)) = MACHINES.iter().find(|(machine, _)| owner == Some(machine)) else {
            continue;
        };
        let words: BTreeSet<&str> = text.split(|sign: char| !sign.is_alphanumeric()).collect();
        for (other, machine) in MACHINES.iter().filter(|(other, _)| other != own) {
            assert!(!words.contains(machine), "{name} names {machine}, the machine of {other}");
        }
    }
}

#[test]
fn what_composes_a_replica_shares_no_field() {
    for composed in ["Replica", "Lockstep", "Frontend"] {
        let path = format!("node/replica/src/{}.rs", composed.to_lowercase());
        let text = std::fs::read_to_string(root().join(&path)).expect("a source file");
        let fields = text.split_once(&format!("struct {composed} {{")).expect(composed).1;
        let fields = fields.split_once("\n}").expect("the end of the struct").0;
        let fields = fields.lines().map(str::trim).filter(|line| !line.starts_with("//"));
        let fields: Vec<&str> = fields.filter(|line| !line.is_empty()).collect();
        assert!(fields.len() <= 5, "{path}: {fields:?}");
        let is_shared = |field: &&str| field.starts_with("pub ") || field.starts_with("pub(");
        assert!(!fields.iter().any(is_shared), "{path}: {fields:?}");
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

/// Physics gets a second tier and neighbours' bodies: only one file of the sim may have to know.
#[test]
fn only_the_room_of_bodies_knows_of_a_region() {
    let sim = root().join("sim/src");
    let mut who = BTreeSet::new();
    for path in files(&sim, ".rs").expect("the sources are there") {
        let text = std::fs::read_to_string(&path).expect("a source is readable");
        if text.to_lowercase().contains("region") {
            let name = path.strip_prefix(&sim).expect("a file below it");
            who.insert(name.display().to_string());
        }
    }
    assert_eq!(who, BTreeSet::from(["space/bodies.rs".to_owned()]));
}

/// Engines of scripts come and go: the sim compiles by whatever its tools bring.
#[test]
fn the_sim_names_no_engine_of_scripts() {
    for path in files(&root().join("sim/src"), ".rs").expect("the sources are there") {
        let text = std::fs::read_to_string(&path).expect("a source is readable");
        assert!(!text.contains("Rhai"), "{} names one", path.display());
    }
}
