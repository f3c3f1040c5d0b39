//! Mistakes in the files of a place are reported with their place.

use std::collections::BTreeMap;

use metatopia_scenarios::{
    KnownPackages, Place, package_files, parse_package, parse_package_all, plaza,
};
use metatopia_sim::limits::SIM_COMPOUNDS_MAX;

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
    assert_eq!(place("spwan = 1"), "yard.toml:4:1: unknown key `spwan`: did you mean `spawn`?");
    let meant = "yard.toml:8:1: unknown key `dsic`: did you mean `disc`?";
    assert_eq!(object("at = [9, 2]\ndsic = 1"), meant);
    // What is close to nothing is told with all that there are.
    assert!(place("xyzzy = 1").starts_with("yard.toml:4:1: unknown key `xyzzy`, expected one of"));
    let worded = place("ticks_per_turn = \"one\"");
    assert!(worded.ends_with("expected a whole number from 0 to 4294967295"), "{worded}");
    let light = "[[sector]]\nname = \"x\"\ncorners = []\nfloor = \"7d6b58\"\nlight = 300";
    assert!(
        place(light).ends_with("`300`, expected a whole number from 0 to 255"),
        "{}",
        place(light)
    );
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
fn lines_that_cannot_be_are_named_with_the_rule() {
    for (text, complaint) in [
        ("line = [[9, 2]]", "yard.toml:7:8: `line` has 1 of 2 to "),
        ("line = [[9, 2], [10, 2], [10, 2]]", "yard.toml:7:8: point 2 of `line` is less than"),
        ("line = [[9, 2], [10, 2], [999, 2]]", "yard.toml:7:8: point 2 of `line` is more than"),
        (
            "line = [[9, 2], [10, 2]]\nbefore = [8, 2]\nafter = [10, 2]",
            "yard.toml:7:8: point 2 of `line` is less than",
        ),
        (
            "line = [[9, 2], [10, 2]]\nat = [9, 2]",
            "yard.toml:7:8: the points of a `line` say where",
        ),
        ("line = [[9, 2], [10, 2]]\ndisc = 1", "yard.toml:7:8: the points of a `line` say where"),
        ("line = [[9, 2], [10, 2]]\nmotion = \"dynamic\"", "yard.toml:7:8: a line is static"),
        (
            "line = [[9, 2], [10, 2], [11, 3]]\ndegrees = 30",
            "yard.toml:7:8: `before`, `after` and angles are for a line of two points",
        ),
        (
            "line = [[9, 2], [10, 2], [11, 3]]\nmark = \"hill\"",
            "yard.toml:8:8: a mark names one thing: write `at`, or a `line` of two points",
        ),
        (
            "line = [[9, 2], [10, 2]]\nbefore = [9, 2]",
            "yard.toml:7:8: the point `before` is less than 0.0625 m from the next one",
        ),
        ("line = [[9, 2], [10, 2]]\nspin = 1", "yard.toml:7:8: a line is static"),
        (
            "at = [9, 2]\ndisc = 1\nclosed = true",
            "yard.toml:4:1: `closed`, `before` and `after` are for a `line`",
        ),
    ] {
        assert!(object(text).starts_with(complaint), "{}", object(text));
    }
}

#[test]
fn what_speaks_against_parts_is_named_with_its_place() {
    let nine = format!("parts = [{}]", ["{ disc = 1 }"; 9].join(", "));
    for (text, complaint) in [
        ("parts = []", "yard.toml:8:9: `parts` has 0 of 2 to 8 parts"),
        ("parts = [{ disc = 1 }]", "yard.toml:8:9: `parts` has 1 of 2 to 8 parts"),
        (nine.as_str(), "yard.toml:8:9: `parts` has 9 of 2 to 8 parts"),
        (
            "parts = [{ disc = 1 }, { at = [1, 0] }]",
            "yard.toml:8:24: a part needs one of `box`, `disc`, `capsule` and `corners`",
        ),
        (
            "parts = [{ disc = 1 }, { disc = 1, box = [1, 1] }]",
            "yard.toml:8:24: a part has only one of `box`, `disc`, `capsule` and `corners`",
        ),
        (
            "parts = [{ disc = 1 }, { parts = [{ disc = 1 }, { disc = 1 }] }]",
            "yard.toml:8:34: a part has no parts: list them one after another in `parts` of the thing",
        ),
        (
            "parts = [{ disc = 1 }, { disc = 1, at = [257, 0] }]",
            "yard.toml:8:24: `at` of a part is more than 256 m from the middle on an axis",
        ),
        (
            "parts = [{ disc = 1 }, { capsule = [1, 0] }]",
            "yard.toml:8:36: the radius, the second number of `capsule`, is 0 m, outside of 0.0625 to ",
        ),
        (
            "parts = [{ disc = 1 }, { corners = [[0, 0], [1, 1], [1, 0]] }]",
            "yard.toml:8:36: the polygon does not turn left at corner 2",
        ),
        (
            "parts = [{ disc = 1 }, { disc = 1, at = [60, 0] }]\nmotion = \"dynamic\"",
            "yard.toml:8:10: the way from the centre of mass to the furthest point of it is 31 m, \
             outside of 0.0625 to 16 of a thing that moves",
        ),
        (
            "parts = [{ disc = 1 }, { disc = 1, degrees = 9, turn = \"0.5\" }]",
            "yard.toml:8:56: a direction has only one of `degrees` and `turn`",
        ),
        (
            "parts = [{ disc = 1 }, { disk = 1 }]",
            "yard.toml:8:26: unknown key `disk`: did you mean `disc`?",
        ),
        (
            "parts = [{ disc = 1 }, { disc = 1 }]\ndisc = 1",
            "yard.toml:4:1: an object has only one of `box`",
        ),
        (
            "parts = [{ disc = 1 }, { disc = 1 }]\ndensity = 20000",
            "yard.toml:9:11: a thing of this size and density weighs",
        ),
    ] {
        let told = object(&format!("at = [9, 2]\n{text}"));
        assert!(told.starts_with(complaint), "{told}");
    }
    let told = object("line = [[9, 2], [10, 2]]\nparts = [{ disc = 1 }, { disc = 1 }]");
    assert!(told.starts_with("yard.toml:7:8: the points of a `line` say where"), "{told}");
}

#[test]
fn more_things_of_several_parts_than_a_sim_has_are_named_with_the_limit() {
    let places: Vec<String> = (0..SIM_COMPOUNDS_MAX + 1).map(|n| format!("[{n}, 9]")).collect();
    let of = |places: &[String]| {
        let parts = "parts = [{ disc = \"0.1\" }, { disc = \"0.1\" }]";
        object(&format!("places = [{}]\n{parts}", places.join(", ")))
    };
    let told = "yard.toml:8:9: with these there are 65 things of several parts, where a sim has at most 64";
    assert_eq!(of(&places), told);
}

#[test]
fn objects_that_cannot_be_are_named_with_the_rule() {
    for (text, complaint) in [
        ("disc = 1", "yard.toml:4:1: an object needs `at` or `places`"),
        (
            "places = []\ndisc = 1",
            "yard.toml:7:10: `places` is empty: write the centre of each thing",
        ),
        (
            "at = [9, 2]\nplaces = [[9, 2]]\ndisc = 1",
            "yard.toml:4:1: an object has `at` or `places`, not both",
        ),
        ("at = [9, 2]", "yard.toml:4:1: an object needs one of `box`, `disc`,"),
        ("at = [9, 2]\ndisc = 1\nbox = [1, 1]", "yard.toml:4:1: an object has only one of `box`"),
        ("at = [9, 2]\ndisc = 1\ncapsule = [1, 1]", "yard.toml:4:1: an object has only one"),
        (
            "at = [9, 2]\ncorners = [[0, 0], [1, 1], [1, 0]]",
            "yard.toml:8:11: the polygon does not turn left at corner 2: corners run counter-clockwise, convex",
        ),
        ("at = [9, 2]\ncorners = [[0, 0], [1, 0]]", "yard.toml:8:11: a polygon of 2 corners"),
        (
            "at = [9, 2]\ncapsule = [1, 0]",
            "yard.toml:8:11: the radius, the second number of `capsule`, is 0 m, outside of 0.0625 to ",
        ),
        (
            "at = [9, 2]\ndisc = 1000",
            "yard.toml:8:8: the radius, the number of `disc`, is 1000 m, outside of",
        ),
        (
            "at = [9, 2]\nbox = [1, 3000]",
            "yard.toml:8:7: the height, the second number of `box`, is 3000 m, outside of 0.125 to ",
        ),
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

/// A name of 40 bytes was told as no name, without the bound.
#[test]
fn what_is_no_name_is_told_with_the_bound_of_names() {
    let long = "a".repeat(40);
    let told =
        place(&format!("[[object]]\nkind = \"thing\"\nname = \"{long}\"\nat = [9, 2]\ndisc = 1"));
    let bound = "write one line of 1 to 32 bytes";
    assert_eq!(told, format!("yard.toml:4:1: \"{long}\" is no name: {bound}"));
    let sector = "corners = [[9, 4], [12, 4], [12, 7], [9, 7]]\nfloor = \"7d6b58\"";
    let told = place(&format!("[[sector]]\nname = \"{long}\"\n{sector}"));
    assert!(told.ends_with(&format!("is no name for a sector: {bound}")), "{told}");
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
        (format!("{good}\"open\"\nprice = 3"), "yard.toml:9:1: unknown key `price`"),
    ] {
        assert!(land(&rest).starts_with(complaint), "{}", land(&rest));
    }
    let nameless = place("[[land]]\nname = \"\"\nfrom = [1, 1]\nto = [2, 2]\nowner = \"sim\"");
    let bound = "write one line of 1 to 32 bytes";
    assert_eq!(nameless, format!("yard.toml:5:8: \"\" is no name for a land: {bound}"));
    let many = "[[land]]\nname = \"x\"\nfrom = [1, 1]\nto = [2, 2]\nowner = \"sim\"\n".repeat(65);
    assert_eq!(place(&many), "yard.toml:324:1: at most 64 lands can be named");

    assert_eq!(place("objects_max = 16384"), "fine");
    let full = place("objects_max = 16385");
    assert_eq!(full, "yard.toml:4:15: objects_max is 16385, outside of 1 to 16384");

    assert_eq!(place("[building]\nobjects_per_player = 7\nreach = \"12.5\""), "fine");
    let far = place("[building]\nreach = 101");
    assert_eq!(far, "yard.toml:5:9: building.reach is 101, outside of 1 to 100");
    assert!(place("[building]\nquota = 5").starts_with("yard.toml:5:1: unknown key `quota`, "));
    assert!(place("[building]\nreech = 5").ends_with("`reech`: did you mean `reach`?"));
    let closed = place("[building]\nopen_ground = 7");
    assert_eq!(
        closed,
        "yard.toml:5:15: \"7\" is no value of building.open_ground: write one of true, false"
    );
    assert_eq!(place("first_login = \"invite\"\nticks_per_turn = 7"), "fine");
    assert_eq!(place("publishers = \"builders\""), "fine");
    let everyone = place("publishers = \"everyone\"");
    assert_eq!(
        everyone,
        "yard.toml:4:14: \"everyone\" is no value of publishers: write one of anybody, seen, builders, admins"
    );
    let long = place("ticks_per_turn = 61");
    assert_eq!(long, "yard.toml:4:18: 61 ticks per turn where 1 to 60 are allowed");
    let licence = object("at = [9, 2]\ndisc = 1\nlicence = \"MIT\"");
    assert!(licence.starts_with("yard.toml:9:11: \"MIT\" is no licence for things"), "{licence}");
    assert_eq!(object("at = [9, 2]\ndisc = 1\nlicence = \"CC0-1.0\""), "fine");
}

fn all(text: &str) -> Vec<String> {
    let packages = BTreeMap::new();
    let mistakes = Place::parse_all("yard.toml", text, &packages).expect_err("mistakes");
    mistakes.iter().map(ToString::to_string).collect()
}

fn assert_told(told: &[String], expected: &[&str]) {
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.starts_with(expected), "{expected}: {told}");
    }
}

/// Each of these was told alone, and some without a line, so that a place was checked again and again.
#[test]
fn all_mistakes_of_a_place_are_told_together_in_the_order_of_lines() {
    let told =
        all("name = \"\"\nlicence = \"nonsense\"\nasset_licence = \"\"\nspawn_radius = -1\n\
         hearing = -1\n[avatar]\nspeed = 0\n[building]\nreach = 101\n\
         [[land]]\nname = \"\"\nfrom = [1, 1]\nto = [2, 2]\nowner = \"sim\"\n\
         [[object]]\nkind = \"a\"\nname = \"a\"\nat = [9, 2]\ndisc = 1\nlicence = \"MIT\"\n\
         owner = \"ada\"\n[[object]]\nkind = \"a\"\nname = \"a\"\n");
    assert_told(
        &told,
        &[
            "yard.toml:1:8: \"\" is no name for a place",
            "yard.toml:2:12: no licence of the SPDX list has this name",
            "yard.toml:3:",
            "yard.toml:4:16: avatar.spawn_radius is -1",
            "yard.toml:5:11: hearing is -1",
            "yard.toml:7:9: avatar.speed is 0",
            "yard.toml:9:9: building.reach is 101",
            "yard.toml:11:8: \"\" is no name for a land",
            "yard.toml:20:11: \"MIT\" is no licence for things",
            "yard.toml:21:9: \"ada\" is no key",
            "yard.toml:22:1: an object needs `at`",
            "yard.toml:22:1: an object needs one of `box`",
        ],
    );
}

#[test]
fn what_lies_outside_of_the_ground_is_named_with_its_line() {
    let thing = "[[object]]\nkind = \"a\"\nname = \"a\"\ndisc = 1\n";
    let ground = "[ground]\nfrom = [-20, -20]\nto = [20, 20]\n";
    let far = all(&format!("{HEAD}{ground}{thing}places = [[9, 2], [9, 21], [9, 22]]\n"));
    let told = ["yard.toml:7:1: \"a 2\" is at", "yard.toml:7:1: \"a 3\" is at"];
    assert_told(&far, &told);
    let away = all(&format!("{HEAD}spawn = [30, 0]\n{ground}{thing}at = [9, 2]\n"));
    assert_told(&away, &["yard.toml:4:9: avatar.spawn is"]);
    let none = all(&format!("{HEAD}[ground]\nfrom = [1, 1]\nto = [1, 1]\n"));
    assert_told(&none, &["yard.toml:4:"]);
}

/// A mass of 0 and a friction of 9 became others by the founding, and nobody was told.
#[test]
fn what_physics_would_round_to_its_bounds_is_refused() {
    for (text, complaint) in [
        ("mass = 0", "yard.toml:9:8: mass is 0, outside of 0.0625 to 16384"),
        ("mass = 20000", "yard.toml:9:8: mass is 20000, outside of"),
        ("velocity = [100, 0]", "yard.toml:4:1: velocity: physics would make it slower, "),
        ("spin = 1000", "yard.toml:4:1: spin: physics would make it slower, "),
        ("friction = 9", "yard.toml:9:12: friction is 9, outside of 0 to 2"),
        ("friction = -1", "yard.toml:9:12: friction is -1, outside of 0 to 2"),
        ("restitution = 2", "yard.toml:9:15: restitution is 2, outside of 0 to 1"),
        ("damping = 61", "yard.toml:9:11: damping is 61, outside of 0 to 60"),
        ("density = 10000", "yard.toml:9:11: a thing of this size and density weighs 31"),
    ] {
        let told = object(&format!("at = [9, 2]\ndisc = 1\n{text}"));
        assert!(told.starts_with(complaint), "{told}");
    }
    assert_eq!(object("at = [9, 2]\ndisc = 1\nmass = \"0.0625\"\nfriction = 2"), "fine");
}

#[test]
fn licences_of_a_place_are_expressions_of_the_spdx_list() {
    let text = |licence: &str, things: &str| {
        let text =
            format!("name = \"it\"\nlicence = \"{licence}\"\nasset_licence = \"{things}\"\n");
        Place::parse("yard.toml", &text, &[])
            .map_or_else(|told| told.to_string(), |_| "fine".into())
    };
    assert_eq!(text("MIT OR GPL-3.0-only", "CC-BY-4.0"), "fine");
    assert_eq!(text("MIT", "LicenseRef-All-Rights-Reserved"), "fine");
    assert!(text("GPL-3.0", "CC0-1.0").starts_with("yard.toml:2:12: GPL-3.0 is deprecated"));
    let told = text("MIT", "all mine");
    assert!(told.starts_with("yard.toml:3:18: no licence of the SPDX list"), "{told}");
}

#[test]
fn two_numbers_are_asked_for_in_words() {
    for wrong in ["\"9.81\"", "[1]", "[1, 2, 3]"] {
        let told = place(&format!("gravity = {wrong}"));
        assert!(told.starts_with("yard.toml:4:"), "{told}");
        assert!(told.contains("two") && !told.contains("NumberPair"), "{told}");
    }
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
    assert!(unknown.starts_with("it/package.toml:7:1: unknown key `colour`"), "{unknown}");
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

/// A package without its source was told to have 0 files where 1 to 32 are allowed.
#[test]
fn a_package_without_its_entry_is_told_with_the_name_of_the_entry() {
    let manifest = "name = \"it\"\nversion = \"1.0.0\"\napi = 1\nentry = \"it.rhai\"\n\
                    licence = \"AGPL-3.0-or-later\"\nauthors = [\"Ada\"]\n";
    let told = "it/package.toml:4:9: there is no it.rhai, the entry of the package";
    let mut files = BTreeMap::from([("package.toml", manifest)]);
    let mistake = parse_package("it", &files).expect_err("there is no source");
    assert_eq!(mistake.to_string(), told);
    files.insert("other.rhai", "fn on_start() {}\n");
    let mistake = parse_package("it", &files).expect_err("the source has another name");
    assert_eq!(mistake.to_string(), told);
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
            "yard.toml:8:1: it covers ground of sector 1, \"hall\"",
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
    // One mistake hid the others, so that a place was checked again and again.
    let wrong = sector("den", "corners = [[20, 0], [25, 0]]");
    let loud = sector("bar", "corners = [[20, 0], [30, 0], [30, 9]]\nsound = \"loud\"");
    let over = sector("attic", "corners = [[14, 8], [20, 8], [20, 12], [14, 12]]");
    assert_told(
        &all(&format!("{HEAD}{wrong}{hall}{loud}{over}")),
        &[
            "yard.toml:4:1: 2 corners where 3 to 8 are allowed",
            "yard.toml:16:9: \"loud\" is no sound",
            "yard.toml:17:1: it covers ground of sector 2, \"hall\"",
        ],
    );
    let twice = "[[opening]]\nfrom = [6, 1]\nto = [8, 1]\n".repeat(2);
    assert_eq!(all(&format!("{HEAD}{hall}{twice}")).len(), 2);
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
    // Nothing in the file says where people appear, so the mistake stands at the wall.
    let usual = walled("");
    assert!(usual.starts_with(&format!("yard.toml:4:1: {complaint}")), "{usual}");
    let named = walled("spawn = [9, 5]\n");
    assert!(named.starts_with(&format!("yard.toml:4:9: {complaint}")), "{named}");
    assert_eq!(walled("spawn = [5, 5]\n"), "fine");
}

/// Only the first wrong value of those that a script remembers was told.
#[test]
fn all_values_of_a_state_that_are_none_are_told_together() {
    let told = all(&format!(
        "{HEAD}[[object]]\nkind = \"a\"\nname = \"a\"\nat = [9, 2]\ndisc = 1\n\
         [[object.scripts]]\npackage = \"drawbridge\"\n[object.scripts.state]\n\
         far = 1.5\nnear = {{ thing = \"nobody\" }}\n"
    ));
    assert_told(
        &told,
        &[
            "yard.toml:10:11: there is no package drawbridge",
            "yard.toml:12:7: write `{ fixed = \"1.5\" }`",
            "yard.toml:13:8: no thing has the mark \"nobody\"",
        ],
    );
}
