//! Mistakes in the files of a place are reported with their place.

use std::collections::BTreeMap;

use metatopia_scenarios::{
    KnownPackages, Place, package_files, parse_package, parse_package_all, plaza,
};

const HEAD: &str =
    "name = \"yard\"\nlicence = \"AGPL-3.0-or-later\"\nasset_licence = \"CC0-1.0\"\n";

fn place(rest: &str) -> String {
    let packages = plaza::packages();
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
    assert_eq!(object("at = [9, \"2.5\"]\ndisc = 1"), "fine");
}

#[test]
fn mistakes_of_syntax_and_names_have_line_and_column() {
    assert!(place("spawn = [1, 2").starts_with("yard.toml:4:"), "{}", place("spawn = [1, 2"));
    assert!(place("spwan = 1").starts_with("yard.toml:4:1: unknown field `spwan`"));
    assert!(object("at = [9, 2]\ndsic = 1").starts_with("yard.toml:8:1: unknown field `dsic`"));
}

#[test]
fn numbers_that_are_not_whole_must_be_in_quotes() {
    let complaint = object("at = [9, 2]\ndisc = 1.5");
    assert!(complaint.starts_with("yard.toml:8:8: "), "{complaint}");
    assert!(complaint.contains("a decimal in quotes such as \"1.5\""), "{complaint}");
    assert!(object("at = [9, 2]\ndisc = \"x\"").contains("is no number"));
    assert!(object("at = [1, 99999999999]\ndisc = 1").contains("out of range"));
}

#[test]
fn objects_that_cannot_be_are_named_with_the_rule() {
    for (text, complaint) in [
        ("disc = 1", "yard.toml:4:1: an object needs `at`, or `places`, not both"),
        ("at = [9, 2]", "yard.toml:4:1: an object needs one of `box`, `disc`,"),
        ("at = [9, 2]\ndisc = 1\nbox = [1, 1]", "yard.toml:4:1: an object needs one of `box`"),
        ("at = [9, 2]\ndisc = 1\ncapsule = [1, 1]", "yard.toml:4:1: an object needs one of"),
        (
            "at = [9, 2]\ncorners = [[0, 0], [1, 1], [1, 0]]",
            "yard.toml:8:11: the polygon does not turn left at corner 1: corners run counter-clockwise, convex",
        ),
        ("at = [9, 2]\ncorners = [[0, 0], [1, 0]]", "yard.toml:8:11: a polygon of 2 corners"),
        ("at = [9, 2]\ncapsule = [1, 0]", "yard.toml:8:11: radius: a size of 0 m is not in"),
        ("at = [9, 2]\ndisc = 1000", "yard.toml:8:8: radius: a size of 1000 m is not in"),
        ("at = [9, 2]\ndisc = 1\ncolor = \"red\"", "yard.toml:9:9: \"red\" is no colour"),
        (
            "at = [9, 2]\ndisc = 1\nmass = 3\ndensity = 30",
            "yard.toml:10:11: an object has `mass` or `density`, not both",
        ),
        ("at = [9, 2]\ndisc = 1\nfriction_rule = \"max\"", "yard.toml:9:17: unknown variant `max`"),
        ("at = [9, 2]\ndisc = 1\nmotion = \"fast\"", "yard.toml:9:10: unknown variant `fast`"),
        (
            "at = [9, 2]\ndisc = 1\nscripts = [{ package = \"drawbridge\" }]",
            "yard.toml:9:24: there is no package drawbridge",
        ),
        (
            "at = [9, 2]\ndisc = 1\nspawned_by = \"tree\"",
            "yard.toml:9:14: no thing has the mark \"tree\"",
        ),
        (
            "at = [9, 2]\ndisc = 1\nmark = \"me\"\nspawned_by = \"me\"",
            "yard.toml:10:14: a thing stands in the file behind the one that spawned it",
        ),
    ] {
        assert!(object(text).starts_with(complaint), "{}", object(text));
    }
    let avatar = place("[[object]]\nkind = \"avatar\"\nname = \"it\"\nat = [9, 2]\ndisc = 1");
    assert_eq!(avatar, "yard.toml:4:1: \"avatar\" is no kind for an object");
    let long = format!("at = [9, 2]\ndisc = 1\ntext = \"{}\"", "x".repeat(257));
    assert!(object(&long).contains("257 bytes"));
}

#[test]
fn lands_and_rules_of_building_that_cannot_be_are_named() {
    let land = |rest: &str| place(&format!("[[land]]\nname = \"yard\"\n{rest}"));
    let good = "from = [1, 9]\nto = [5, \"2.5\"]\nowner = ";
    assert_eq!(land(&format!("{good}\"open\"")), "fine");
    assert_eq!(land(&format!("{good}\"sim\"")), "fine");
    assert_eq!(land(&format!("{good}\"{}\"", "a1".repeat(32))), "fine");
    for (rest, complaint) in [
        (format!("{good}\"ada\""), "yard.toml:8:9: \"ada\" is no owner: write open, sim or a key"),
        (
            "from = [1, 1]\nto = [1, 5]\nowner = \"sim\"".to_owned(),
            "yard.toml:4:1: `from` and `to` must be opposite corners of the land",
        ),
        ("from = [1, 1]\nowner = \"sim\"".to_owned(), "yard.toml:4:1: missing field `to`"),
        (format!("{good}\"open\"\nprice = 3"), "yard.toml:9:1: unknown field `price`"),
    ] {
        assert!(land(&rest).starts_with(complaint), "{}", land(&rest));
    }
    let nameless = place("[[land]]\nname = \"\"\nfrom = [1, 1]\nto = [2, 2]\nowner = \"sim\"");
    assert_eq!(nameless, "yard.toml:5:8: \"\" is no name for a land");
    let many = "[[land]]\nname = \"x\"\nfrom = [1, 1]\nto = [2, 2]\nowner = \"sim\"\n".repeat(65);
    assert_eq!(place(&many), "yard.toml:324:1: at most 64 lands can be named");

    assert_eq!(place("objects_max = 16384"), "fine");
    let full = place("objects_max = 16385");
    assert_eq!(full, "yard.toml:4:15: objects_max is 16385, outside of 1 to 16384");

    assert_eq!(place("[building]\nobjects_per_player = 7\nreach = \"12.5\""), "fine");
    let far = place("[building]\nreach = 101");
    assert_eq!(far, "yard.toml:5:9: building.reach is 101, outside of 1 to 100");
    assert!(place("[building]\nquota = 5").starts_with("yard.toml:5:1: unknown field `quota`"));
    let closed = place("[building]\nopen_ground = 7");
    assert_eq!(closed, "yard.toml:5:15: \"7\" is no value of building.open_ground");
    assert_eq!(place("first_login = \"invite\"\nticks_per_turn = 7"), "fine");
    assert_eq!(place("publishers = \"builders\""), "fine");
    let everyone = place("publishers = \"everyone\"");
    assert_eq!(everyone, "yard.toml:4:14: \"everyone\" is no value of publishers");
    let long = place("ticks_per_turn = 61");
    assert_eq!(long, "yard.toml: 61 ticks per turn where 1 to 60 are allowed");
    let licence = object("at = [9, 2]\ndisc = 1\nlicence = \"MIT\"");
    assert!(licence.starts_with("yard.toml:9:11: \"MIT\" is no licence for things"), "{licence}");
    assert_eq!(object("at = [9, 2]\ndisc = 1\nlicence = \"CC0-1.0\""), "fine");
}

#[test]
fn mistakes_in_packages_name_the_file_and_line() {
    let manifest = "name = \"it\"\nversion = \"1.0.0\"\napi = 1\nentry = \"it.rhai\"\n\
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
    assert!(unknown.starts_with("it/package.toml:7:1: unknown field `colour`"), "{unknown}");
    let silent = package(&manifest.replace("api = 1\n", ""), good);
    assert!(
        silent.contains("it/package.toml") && silent.contains("missing field `api`"),
        "{silent}"
    );
    let later = package(&manifest.replace("api = 1", "api = 7"), good);
    let told = "it/package.toml:3:7: written for api 7; this program has api 1";
    assert_eq!(later, told);
    let closed = package(&manifest.replace("AGPL-3.0-or-later", "MIT"), good);
    assert!(closed.starts_with("it/package.toml:5:11: \"MIT\" allows no copyleft"), "{closed}");
    let missing = parse_package("it", &BTreeMap::new()).expect_err("there is no manifest");
    assert_eq!(missing.to_string(), "it: package.toml is missing");
}

#[test]
fn all_mistakes_of_a_package_are_told_at_their_places() {
    let manifest = "name = \"It\"\nversion = \"1.0.0\"\napi = 1\nentry = \"it.rhai\"\n\
                    licence = \"MIT OR gpl-3.0\"\nauthors = [\"Ada\"]\n";
    let files = BTreeMap::from([
        ("package.toml", manifest),
        ("it.rhai", "fn on_start() {\n    sya(1);\n    x += 1;\n}\n"),
        ("notes.txt", "left\nri\u{202e}ght\n"),
    ]);
    let mistakes =
        parse_package_all("it", &files, &KnownPackages::new()).expect_err("it has mistakes");
    let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    for expected in [
        "it/package.toml:5:19: GPL-3.0 is deprecated; write GPL-3.0-only or GPL-3.0-or-later",
        "it/notes.txt:2:3: the hidden character U+202E",
        "it/it.rhai:2:5: there is no function sya",
        "it/it.rhai:3:5: ",
    ] {
        assert!(told.iter().any(|told| told.starts_with(expected)), "{expected}: {told:#?}");
    }
    let named = manifest.replace("MIT OR gpl-3.0", "gpl-3.0-ONLY");
    let files = BTreeMap::from([("package.toml", &*named), ("it.rhai", "fn on_start() {}\n")]);
    let mistakes =
        parse_package_all("it", &files, &KnownPackages::new()).expect_err("its name is wrong");
    assert_eq!(mistakes.len(), 1, "{mistakes:?}");
    assert!(mistakes[0].to_string().starts_with("it/package.toml:1:8: \"It\" is no package name"));
}

#[test]
fn a_package_written_as_files_is_the_same_package() {
    for package in plaza::packages() {
        let files = package_files(&package);
        let texts = files.iter().map(|(path, text)| (&**path, &**text)).collect();
        let again = parse_package("again", &texts).expect("it was one before");
        assert_eq!(again.id(), package.id());
    }
}

#[test]
fn what_a_place_says_of_itself_is_short_text_that_people_see() {
    let fine = "description = \"\"\"\nA harbour.\nBring a boat.\"\"\"\ntags = [\"boats\"]\n";
    assert_eq!(place(fine), "fine");
    for (text, complaint) in [
        ("tags = [\"a\", \"Two Words\"]", "yard.toml:4:14: \"Two Words\" is no tag"),
        ("description = \"a\\u0007b\"", "yard.toml:4:15: the description must be text of at most"),
        ("house_rules = \"a\\u0007b\"", "yard.toml:4:15: the house rules must be text of at most"),
        ("ttl = \"soon\"", "yard.toml:4:7: \"soon\" is no time to live"),
        ("ttl = \"0s\"", "yard.toml:4:7: \"0s\" is no time to live"),
        ("ttl = \"101 years\"", "yard.toml:4:7: ttl_seconds is 31"),
    ] {
        assert!(place(text).starts_with(complaint), "{}", place(text));
    }
    let many = format!("tags = [{}]", "\"a\", \"b\", ".repeat(5));
    assert_eq!(place(&many), "fine", "tags are a set");
}

fn sector(name: &str, rest: &str) -> String {
    format!("[[sector]]\nname = \"{name}\"\nfloor = \"808080\"\n{rest}\n")
}

#[test]
fn rooms_that_cannot_be_are_named_with_the_rule() {
    let hall = sector("hall", "corners = [[5, 0], [15, 0], [15, 9], [5, 9]]");
    assert_eq!(place(&hall), "fine");
    let clockwise = sector("hall", "corners = [[5, 9], [15, 9], [15, 0], [5, 0]]");
    assert_eq!(place(&clockwise), "fine");
    let second = |corners: &str| place(&format!("{hall}{}", sector("den", corners)));
    for (corners, complaint) in [
        (
            "corners = [[14, 8], [20, 8], [20, 12], [14, 12]]",
            "yard.toml:8:1: it covers ground of sector 0, \"hall\"",
        ),
        ("corners = [[20, 0], [25, 0]]", "yard.toml:8:1: 2 corners where 3 to 8 are allowed"),
        (
            "corners = [[20, 0], [30, 0], [22, 2], [20, 10]]",
            "yard.toml:8:1: the corners do not go around a convex room",
        ),
        (
            "corners = [[20, 0], [30, 0], [30, 9]]\nsound = \"loud\"",
            "yard.toml:12:9: \"loud\" is no sound: write one of silent, room",
        ),
        (
            "corners = [[20, 0], [30, 0], [30, 9]]\nlight = 101",
            "yard.toml:8:1: light 101 where 0 to 100 percent are allowed",
        ),
    ] {
        assert!(second(corners).starts_with(complaint), "{}", second(corners));
    }
    let nowhere = format!("{hall}[[opening]]\nfrom = [6, 1]\nto = [8, 1]\n");
    assert_eq!(place(&nowhere), "yard.toml:8:1: it is on no edge of a sector");
    let door = format!("{hall}[[opening]]\nfrom = [6, 0]\nto = [8, 0]\n");
    assert_eq!(place(&door), "fine");
}

#[test]
fn nobody_appears_in_a_wall() {
    let walled = |spawn: &str| {
        let hall = sector("hall", "corners = [[0, 0], [9, 0], [9, 9], [0, 9]]");
        place(&format!("{spawn}{hall}"))
    };
    let complaint = "people would appear in a wall of a sector, at";
    assert!(walled("").starts_with(&format!("yard.toml: {complaint}")), "{}", walled(""));
    let named = walled("spawn = [9, 5]\n");
    assert!(named.starts_with(&format!("yard.toml:4:9: {complaint}")), "{named}");
    assert_eq!(walled("spawn = [5, 5]\n"), "fine");
}
