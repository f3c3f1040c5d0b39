//! The example packages do what their tests say.

use metatopia_scenarios::{ExamplePackage, rehearse};

#[test]
fn every_example_passes_its_tests() {
    for example in ExamplePackage::ALL {
        let package = example.package();
        assert_eq!(package.manifest().name, example.name);
        let tests =
            rehearse(example.name, &package).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
        assert!(tests.len() >= 2, "{} has {} tests", example.name, tests.len());
        for test in tests {
            let Some(mistake) = test.mistake else { continue };
            panic!("{}: {mistake}\n{}", test.name, test.log.join("\n"));
        }
    }
}
