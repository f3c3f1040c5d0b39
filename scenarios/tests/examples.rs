//! The example packages do what their tests say.

use metatopia_scenarios::{ExamplePackage, KnownPackages, rehearse};

#[test]
fn examples_import_examples_of_the_same_name() {
    for example in ExamplePackage::ALL {
        for (name, id) in &example.package().manifest().imports {
            let named = ExamplePackage::named(name).expect("an example").package();
            assert_eq!(*id, named.id(), "the id of {name} in the manifest of {}", example.name);
        }
    }
}

#[test]
fn every_example_passes_its_tests() {
    for example in ExamplePackage::ALL {
        let package = example.package();
        assert_eq!(package.manifest().name, example.name);
        let imports = example.imports().into_iter();
        let known: KnownPackages = imports.map(|import| (import.id(), import)).collect();
        let tests = rehearse(example.name, &package, &known);
        let tests = tests.unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
        assert!(tests.len() >= 2, "{} has {} tests", example.name, tests.len());
        for test in tests {
            let Some(mistake) = test.mistake else { continue };
            panic!("{}: {mistake}\n{}", test.name, test.log.join("\n"));
        }
    }
}
