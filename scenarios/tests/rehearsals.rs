//! Tests in the language of scripts: what they see, what they say about mistakes, and where.

use std::collections::BTreeMap;

use metatopia_scenarios::{
    KnownPackages, REHEARSAL_ASKS_MAX as ASKS_MAX, REHEARSAL_SECONDS_MAX as SECONDS_MAX,
    RehearsedTest, parse_package, rehearse,
};
use metatopia_scripting::Package;

const MANIFEST: &str = "name = \"bell\"\nversion = \"1.0.0\"\napi = 1\nentry = \"bell.rhai\"\n\
                        licence = \"AGPL-3.0-or-later\"\nauthors = [\"Ada\"]\n";

const BELL: &str = r#"fn on_start() {
    state.rings = 0;
    self_.color = 0x333333;
}

fn on_touch(other) {
    state.rings += 1;
    log("touched by " + other.name);
    say(`Ding, ${other.name}!`);
    timer("fade", 1.5);
    self_.text = "ringing";
}

fn on_chat(from, text) {
    if text == "break" {
        let a = [1];
        state.rings = a[7];
    }
    if text.contains("bell") {
        say("Yes?");
    }
}

fn on_timer(name) {
    self_.text = "";
    self_.pos = vec2(0.5, 0);
}
"#;

fn package(tests: &str) -> Package {
    let mut files = BTreeMap::from([("package.toml", MANIFEST), ("bell.rhai", BELL)]);
    if !tests.is_empty() {
        files.insert("tests.rhai", tests);
    }
    parse_package("bell", &files).expect("a package")
}

/// Runs tests, and returns what each came to.
fn told(tests: &str) -> Vec<String> {
    match rehearse("bell", &package(tests), &KnownPackages::new()) {
        Ok(all) => all.into_iter().map(of_test).collect(),
        Err(mistakes) => mistakes.iter().map(ToString::to_string).collect(),
    }
}

fn of_test(test: RehearsedTest) -> String {
    test.mistake.map_or_else(|| format!("{} passes", test.name), |mistake| mistake.to_string())
}

#[test]
fn a_test_touches_talks_waits_and_sees() {
    let tests = r#"// Everything at once.
fn test_all() {
    expect_eq(said(), []);
    expect_eq(color(), 0x333333);
    expect_eq(kept("rings"), 0);
    touch();
    expect_eq(said(), ["Ding, Ada!"]);
    expect_eq(logged(), ["touched by Ada"]);
    expect_eq(shown(), "ringing");
    expect_eq(kept("rings"), 1.0);
    expect(kept("nothing") == ());
    wait(1);
    expect_eq(said(), []);
    expect_eq(shown(), "ringing");
    wait(0.6);
    expect_eq(shown(), "");
    expect_eq(position(), vec2(0.5, 0));
    chat("the bell, please");
    expect_eq(said(), ["Yes?"]);
    wait(100);
    touch();
    expect(is_loud(said()));
}

fn is_loud(lines) {
    lines.len() > 0 && lines[0].ends_with("!")
}

fn test_each_begins_anew() {
    touch();
    expect_eq(kept("rings"), 1);
}
"#;
    assert_eq!(told(tests), ["test_all passes", "test_each_begins_anew passes"]);
}

#[test]
fn a_test_that_fails_names_its_own_line() {
    let tests = "fn test_a() {\n    touch();\n    expect_eq(said(), []);\n}\n\n\
                 fn test_b() {\n    deeper();\n}\n\nfn deeper() {\n    expect(1 > 2);\n}\n\n\
                 fn test_c() {\n    throw \"on purpose\";\n}\n\n\
                 fn test_d() {\n    chat(\"\");\n}\n\n\
                 fn test_e() {\n    expect_eq(\"1\", 1);\n}\n\n\
                 fn test_f() {\n    let a = [1];\n    a[9];\n}\n";
    let told = told(tests);
    for (told, expected) in told.iter().zip([
        "bell/tests.rhai:3:5: found [\"Ding, Ada!\"], wanted []",
        "bell/tests.rhai:11:5: this does not hold",
        "bell/tests.rhai:15:5: on purpose",
        "bell/tests.rhai:19:5: people say one line of 1 to 512 bytes",
        "bell/tests.rhai:23:5: found \"1\", wanted 1",
        "bell/tests.rhai:28:",
    ]) {
        assert!(told.starts_with(expected), "{told} is not {expected}");
    }
    assert_eq!(told.len(), 6);
}

/// Such a test hid all others, and was told without a line.
#[test]
fn a_test_that_takes_something_is_named_with_its_line_and_the_others_run() {
    let told = told("fn test_a(n) {\n}\n\nfn test_b( ) {\n    touch();\n}\n");
    let wrong = "bell/tests.rhai:1:1: test_a takes arguments, and a test takes none";
    assert_eq!(told, [wrong, "test_b passes"]);
}

/// A misspelt test was no test, and nobody was told that it had not run.
#[test]
fn a_function_that_nothing_calls_is_no_test_and_is_named() {
    let told = told("fn test_a() {\n    deeper();\n}\n\nfn deeper() {}\n\nfn tset_b() {\n}\n");
    let wrong = "bell/tests.rhai:7:1: tset_b is no test, as its name does not begin with test_";
    assert_eq!(told[0], "test_a passes");
    assert!(told.len() == 2 && told[1].starts_with(wrong), "{told:?}");
}

#[test]
fn an_expectation_that_is_no_fact_says_so() {
    let told = told("fn test_a() {\n    expect(1);\n}\n");
    assert_eq!(told, ["bell/tests.rhai:2:5: expect takes true or false, and 1 is neither"]);
}

#[test]
fn a_script_that_fails_under_test_is_named_with_its_own_line() {
    let told = told("fn test_a() {\n    chat(\"break\");\n}\n");
    assert!(told[0].starts_with("bell/bell.rhai:17:"), "{told:?}");
    assert!(told[0].contains("out of bounds"), "{told:?}");
}

#[test]
fn tests_that_cannot_run_are_mistakes() {
    assert!(told("")[0].starts_with("bell: tests.rhai is missing"));
    assert!(told("fn ring() {}\n")[0].starts_with("bell/tests.rhai: there is no test"));
    let unknown = told("fn test_a() {\n    tuoch();\n}\n");
    assert!(
        unknown[0].starts_with("bell/tests.rhai:2:5: there is no function tuoch"),
        "{unknown:?}"
    );
    let taken = told("fn test_a() {\n}\n\nfn on_start() {\n}\n");
    assert!(taken[0].starts_with("bell/tests.rhai"), "{taken:?}");
}

#[test]
fn a_test_asks_and_waits_within_bounds() {
    let asks = "fn test_a() {\n    for n in 0..150 {\n        said();\n    }\n}\n";
    let told_asks = told(asks);
    let most = format!("bell/tests.rhai:3:9: a test asks at most {ASKS_MAX} times");
    assert_eq!(told_asks, [most]);
    let all = format!("fn test_a() {{\n    wait(1);\n    wait({SECONDS_MAX});\n}}\n");
    let most = format!("bell/tests.rhai:3:5: a test waits at most {SECONDS_MAX} seconds in all");
    assert_eq!(told(&all), [most]);
    assert!(told("fn test_a() {\n    wait(-1);\n}\n")[0].contains("a wait takes 0 to "));
}

#[test]
fn a_test_that_catches_what_it_asks_fails() {
    let quiet = "fn test_a() {\n    try { touch(); } catch (e) {}\n}\n";
    assert!(told(quiet)[0].contains("a test caught what it asks"), "{:?}", told(quiet));
    let again = "fn test_a() {\n    try { touch(); } catch (e) {}\n    said();\n}\n";
    assert!(told(again)[0].contains("a test cannot catch what it asks"), "{:?}", told(again));
}

#[test]
fn the_log_of_a_test_is_kept() {
    let tests = package("fn test_a() {\n    touch();\n    log(said()[0]);\n}\n");
    let rehearsed = rehearse("bell", &tests, &KnownPackages::new()).expect("it runs");
    assert_eq!(rehearsed[0].log, ["Ding, Ada!"]);
    assert_eq!((rehearsed[0].name.as_str(), rehearsed[0].line), ("test_a", 1));
}

const BAKER: &str = r#"
fn on_start() { state.eaters = state.eaters ?? []; }
fn on_touch(other) {
    if self_.spawner == () {
        spawn(#{ name: "bread", color: 0xc8964b, pos: vec2(3, -2), scripted: true, tag: other.name });
    } else {
        say(`${other.name} eats.`);
        self_.spawner.send("eaten", other.name);
        despawn(self_);
    }
}
fn on_message(from, topic, data) { state.eaters.push(data); }
fn on_spawn(thing, tag) { say(`For ${tag}.`); }
"#;

#[test]
fn a_test_sees_what_is_spawned_and_several_visitors_walk_and_touch() {
    let tests = r#"
fn test_bread() {
    touch();
    expect_eq(said(), ["For Ada."]);
    expect_eq(count("bread"), 1);
    expect_eq(things(), [#{name: "bread", kind: "thing", text: "", color: 0xc8964b, pos: vec2(3, -2)}]);
    visitor("Bo");
    walk(3, -3.5);
    touch_thing("bread");
    expect_eq(said(), ["Bo eats."]);
    expect_eq(kept("eaters"), ["Bo"]);
    expect_eq(count("bread"), 0);
    visitor("Ada");
    chat("more");
}

fn test_there_is_no_cake() {
    touch_thing("cake");
}

fn test_the_wall_of_the_sky() {
    walk(100000, 0);
}
"#;
    let files =
        BTreeMap::from([("package.toml", MANIFEST), ("bell.rhai", BAKER), ("tests.rhai", tests)]);
    let package = parse_package("bell", &files).expect("a package");
    let all: Vec<String> = rehearse("bell", &package, &KnownPackages::new())
        .expect("tests")
        .into_iter()
        .map(of_test)
        .collect();
    assert_eq!(
        all,
        [
            "test_bread passes",
            "bell/tests.rhai:18:5: there is no thing called \"cake\"",
            "bell/tests.rhai:22:5: a place has coordinates of at most 1000 m",
        ]
    );
}

#[test]
fn at_most_eight_people_come_to_a_test() {
    let tests = "fn test_a() {\n    for n in 0..8 { visitor(\"V\" + n); }\n}\n";
    assert_eq!(told(tests), ["bell/tests.rhai:2:21: at most 8 people come to a test"]);
}

/// A thing that asks who touches it, and says what was replied.
const KIOSK: &str = r#"
fn on_touch(other) {
    ui(other, #{ tag: "tea", title: "Tea?", choices: ["Green", "Black"], field: "For whom?" });
}
fn on_ui(who, tag, choice, text) { say(`${who.name}: ${tag} ${choice} ${text}`); }
"#;

#[test]
fn a_test_sees_what_is_asked_and_each_visitor_replies_to_what_they_were_asked() {
    let tests = r#"
fn test_tea() {
    touch();
    expect_eq(asked(), [#{to: "Ada", tag: "tea", title: "Tea?", text: "", choices: ["Green", "Black"],
        field: "For whom?"}]);
    visitor("Bo");
    expect_eq(asked(), []);
    touch();
    visitor("Ada");
    reply(1, "my aunt");
    expect_eq(said(), ["Ada: tea 1 my aunt"]);
}

fn test_nothing_was_asked() {
    reply(0, "");
}

fn test_there_is_no_third_tea() {
    touch();
    reply(2, "");
}
"#;
    let files =
        BTreeMap::from([("package.toml", MANIFEST), ("bell.rhai", KIOSK), ("tests.rhai", tests)]);
    let package = parse_package("bell", &files).expect("a package");
    let all: Vec<String> = rehearse("bell", &package, &KnownPackages::new())
        .expect("tests")
        .into_iter()
        .map(of_test)
        .collect();
    assert_eq!(
        all,
        [
            "test_tea passes",
            "bell/tests.rhai:15:5: nothing has asked Ada anything",
            "bell/tests.rhai:20:5: a choice is 0 to 1, not 2",
        ]
    );
}
