//! The page's module in the tree, and what says which sources it was made of.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, MetadataCommand};
use metatopia_module::{Fit, KEPT, fit, parts};
use metatopia_tests::root;

/// Between two landings it may be of older sources, and `.ci/run` says so; it is never another file
/// than its text says.
#[test]
fn the_module_of_the_tree_is_the_one_that_its_text_is_about() {
    let parts = parts(&root()).expect("sources that fit together");
    let fit = fit(&root().join(KEPT), &parts).expect("readable files");
    println!("the module of the tree is {fit}");
    assert!(matches!(fit, Fit::Fits | Fit::Stale(_)), "the module of the tree is {fit}");
}

#[test]
fn the_module_is_made_of_what_cargo_builds_it_of() {
    let metadata = MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .other_options(
            ["--locked", "--filter-platform", "wasm32-unknown-unknown"].map(str::to_owned),
        )
        .exec()
        .expect("cargo metadata of this workspace");
    let resolve = metadata.resolve.as_ref().expect("a resolved workspace");
    let nodes: BTreeMap<_, _> = resolve.nodes.iter().map(|node| (&node.id, node)).collect();
    let wasm = metadata.workspace_packages().into_iter().find(|p| p.name == "metatopia-wasm");
    let (mut found, mut waiting) = (BTreeSet::new(), vec![&wasm.expect("the crate").id]);
    while let Some(id) = waiting.pop() {
        if found.insert(id) {
            let built = nodes[id].deps.iter().filter(|dependency| {
                dependency.dep_kinds.iter().any(|kind| kind.kind != DependencyKind::Development)
            });
            waiting.extend(built.map(|dependency| &dependency.pkg));
        }
    }
    let (ours, foreign): (Vec<_>, Vec<_>) =
        found.iter().map(|id| &metadata[*id]).partition(|package| package.source.is_none());

    let parts = parts(&root()).expect("sources that fit together");

    let ours: BTreeSet<String> = ours.iter().map(|package| package.name.to_string()).collect();
    assert_eq!(parts.members(), &ours);
    assert!(foreign.len() > 20, "{} foreign crates", foreign.len());
    for package in foreign {
        // With others, for the lock does not know which features nobody asks for.
        let line = format!("{} {}", package.name, package.version);
        assert!(parts.lock().lines().any(|told| told == line), "{line} is no part");
    }
}
