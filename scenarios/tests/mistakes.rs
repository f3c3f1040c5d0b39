//! Mistakes in the files of a place are reported with their place.

use std::collections::BTreeMap;

use metatopia_scenarios::{Place, parse_package, plaza};

const HEAD: &str =
    "name = \"yard\"\nlicence = \"AGPL-3.0-or-later\"\nasset_licence = \"CC0-1.0\"\n";

fn place(rest: &str) -> String {
    let packages = plaza::packages().expect("the plaza's packages");
    let text = format!("{HEAD}{rest}");
    match Place::parse("yard.toml", &text, &packages) {
        Ok(_) => "fine".to_owned(),
        Err(mistake) => mistake.to_string(),
    }
}

fn object(rest: &str) -> String {
    place(&format!("[[object]]\nkind = \"thing\"\nname = \"it\"\n{rest}"))
}

#[test]
fn a_place_without_mistakes_is_fine() {
    assert_eq!(place(""), "fine");
    assert_eq!(object("at = [1, \"2.5\"]\ndisc = 1"), "fine");
}

#[test]
fn mistakes_of_syntax_and_names_have_line_and_column() {
    assert!(place("spawn = [1, 2").starts_with("yard.toml:4:"), "{}", place("spawn = [1, 2"));
    assert!(place("spwan = 1").starts_with("yard.toml:4:1: unknown field `spwan`"));
    assert!(object("at = [1, 2]\ndsic = 1").starts_with("yard.toml:8:1: unknown field `dsic`"));
}

#[test]
fn numbers_that_are_not_whole_must_be_in_quotes() {
    let complaint = object("at = [1, 2]\ndisc = 1.5");
    assert!(complaint.starts_with("yard.toml:8:8: "), "{complaint}");
    assert!(complaint.contains("a decimal in quotes such as \"1.5\""), "{complaint}");
    assert!(object("at = [1, 2]\ndisc = \"x\"").contains("is no number"));
    assert!(object("at = [1, 99999999999]\ndisc = 1").contains("out of range"));
}

#[test]
fn objects_that_cannot_be_are_named_with_the_rule() {
    for (text, complaint) in [
        ("disc = 1", "yard.toml:4:1: an object needs `at`, or `places`, not both"),
        ("at = [1, 2]", "yard.toml:4:1: an object needs `box` or `disc`, not both"),
        ("at = [1, 2]\ndisc = 1\nbox = [1, 1]", "yard.toml:4:1: an object needs `box` or `disc`"),
        ("at = [1, 2]\ndisc = 1000", "yard.toml:8:8: a size of 1000 m is not in"),
        ("at = [1, 2]\ndisc = 1\ncolor = \"red\"", "yard.toml:9:9: \"red\" is no colour"),
        ("at = [1, 2]\ndisc = 1\nmotion = \"fast\"", "yard.toml:9:10: unknown variant `fast`"),
        (
            "at = [1, 2]\ndisc = 1\nscripts = [{ package = \"drawbridge\" }]",
            "yard.toml:9:24: there is no package drawbridge",
        ),
    ] {
        assert!(object(text).starts_with(complaint), "{}", object(text));
    }
    let avatar = place("[[object]]\nkind = \"avatar\"\nname = \"it\"\nat = [1, 2]\ndisc = 1");
    assert_eq!(avatar, "yard.toml:4:1: \"avatar\" is no kind for an object");
    let long = format!("at = [1, 2]\ndisc = 1\ntext = \"{}\"", "x".repeat(257));
    assert!(object(&long).contains("257 bytes"));
}

#[test]
fn mistakes_in_packages_name_the_file_and_line() {
    let manifest = "name = \"it\"\nversion = \"1.0.0\"\nentry = \"it.rhai\"\n\
                    licence = \"AGPL-3.0-or-later\"\nauthors = [\"Ada\"]\n";
    let package = |manifest: &str, source: &str| {
        let files = BTreeMap::from([("package.toml", manifest), ("it.rhai", source)]);
        match parse_package("it", &files) {
            Ok(_) => "fine".to_owned(),
            Err(mistake) => mistake.to_string(),
        }
    };
    let good = "fn on_start() {\n    say(\"hi\");\n}\n";

    assert_eq!(package(manifest, good), "fine");
    let wrong = package(manifest, "fn on_start() {\n    sya(\"hi\");\n}\n");
    assert!(wrong.starts_with("it/it.rhai:2:5: there is no function sya"), "{wrong}");
    let unknown = package(&format!("{manifest}colour = 1\n"), good);
    assert!(unknown.starts_with("it/package.toml:6:1: unknown field `colour`"), "{unknown}");
    let closed = package(&manifest.replace("AGPL-3.0-or-later", "MIT"), good);
    assert!(closed.starts_with("it/package.toml: licence: "), "{closed}");
    let missing = parse_package("it", &BTreeMap::new()).expect_err("there is no manifest");
    assert_eq!(missing.to_string(), "it: package.toml is missing");
}
