//! Mistakes in stories: each is told with file, line and column, and with what is right.

use metatopia_simulator::story::limits::{
    FILE_BYTES_MAX, LENGTH_MAX, PEOPLE_MAX, SCRIPTS_MAX, SERVERS_MAX, STEPS_MAX,
};
use metatopia_simulator::story::{EmptyShelf, Story};

const HEAD: &str = "title = \"a test\"\nlength = \"10s\"\n";

/// Returns the mistake that is told of a story that goes on like this in its third line.
fn told(rest: &str) -> String {
    match Story::parse("a.toml", &format!("{HEAD}{rest}"), &EmptyShelf) {
        Ok(story) => panic!("{rest}: taken as {story:?}"),
        Err(mistake) => mistake.to_string(),
    }
}

fn is_taken(text: &str) -> Story {
    Story::parse("a.toml", text, &EmptyShelf).unwrap_or_else(|mistake| panic!("{mistake}"))
}

#[test]
fn a_story_needs_a_title_and_a_length_and_no_more() {
    assert_eq!(is_taken(HEAD).servers(), 4);
    for (text, word) in [("length = \"1s\"", "title"), ("title = \"a\"", "length")] {
        let mistake = Story::parse("a.toml", text, &EmptyShelf).expect_err("half of it");
        assert!(mistake.to_string().contains(word), "{mistake}");
    }
}

#[test]
fn mistakes_are_told_with_their_line_and_with_what_is_right() {
    for (rest, at, word) in [
        ("people = 3", "3:10", "sequence"),
        ("pepole = 3", "3:1", "`people`"),
        ("[servers]\ncuont = 3", "4:1", "`count`"),
        ("[servers]\ncount = 0", "4:9", "1 to 31"),
        ("[network]\nlatency = 20", "4:11", "a time in quotes"),
        ("[network]\nlatency = \"20\"", "4:11", "ms, s, m or h"),
        ("[network]\nloss = \"1\"", "4:8", "1% or 0.25%"),
        ("[[people]]\ncount = 1\nservers = [0, 4]", "5:15", "no server 4"),
        ("[[people]]\ncount = 1\nservers = []", "5:11", "at least one"),
        ("[[people]]\ncount = 0", "4:9", "somebody"),
        ("[[people]]\ncount = 1\nmanner = \"rude\"", "5:10", "`lively`"),
        ("[[people]]\ncount = 1\nuntil = \"11s\"", "5:9", "length is 10s"),
        ("[[act]]\nat = \"1s\"\nperson = 1\ndoes = \"wave\"", "5:10", "no person 1"),
        ("[[act]]\nat = \"1s\"\nperson = 0\ndoes = \"promote 4\"", "6:8", "below 4"),
        ("[[act]]\nat = \"1s\"\nperson = 0\ndoes = \"juggle\"", "6:8", "say WORDS"),
        ("[[act]]\nperson = 0\ndoes = \"wave\"", "3:1", "`at` or `every`"),
        ("[[act]]\nat = \"1s\"\nuntil = \"2s\"\nperson = 0\ndoes = \"nod\"", "5:9", "`every`"),
        ("[[stranger]]\nat = \"1s\"\nserver = 0\ndoes = \"sing\"", "6:8", "`noise`"),
        (
            "[servers]\nreserve = 1\n[[stranger]]\nat = \"1s\"\nserver = 4\ndoes = \"noise\"",
            "7:10",
            "reserve",
        ),
        ("[[fault]]\nkind = \"crsh\"", "4:8", "`crash`"),
        ("[[fault]]\nkind = \"crash\"\nat = \"1s\"", "3:1", "needs `server`"),
        ("[[fault]]\nkind = \"crash\"\nserver = 4\nat = \"1s\"", "5:10", "no server 4"),
        ("[[fault]]\nkind = \"crash\"\nserver = \"some\"\nat = \"1s\"", "5:10", "\"proposer\""),
        (
            "[[fault]]\nkind = \"crash\"\nserver = 1\nturn = 60",
            "6:8",
            "no `turn`; it takes `server`",
        ),
        ("[[fault]]\nkind = \"crash\"\nserver = 1\nevery = \"0s\"", "6:9", "never over"),
        ("[[fault]]\nkind = \"crash\"\nserver = 1\nat = \"1s\"\ntail = \"cut\"", "7:8", "`torn`"),
        ("[[fault]]\nkind = \"split\"\nservers = [0]\nat = \"5s\"\nuntil = \"5s\"", "7:9", "later"),
        ("[[fault]]\nkind = \"split\"\nat = \"5s\"", "3:1", "needs `servers`"),
        ("[[fault]]\nkind = \"one-way\"\nserver = \"any\"\nto = 1\nat = \"5s\"", "5:10", "number"),
        ("[[fault]]\nkind = \"clock\"\nserver = 1\nby = \"1h\"\nat = \"5s\"", "6:6", "a sign"),
        ("[[fault]]\nkind = \"drift\"\nserver = 1\nppm = 100001", "6:7", "a tenth"),
        ("[[fault]]\nkind = \"flip\"\nservers = [1]\nturn = 0", "6:8", "number 1"),
        ("[[fault]]\nkind = \"poison\"\nact = \"juggle\"", "5:7", "laugh"),
        ("[expect]\nstaled = []", "4:1", "`stalled`"),
        ("[expect]\nbroken = [\"gravity\"]", "4:11", "equal-roots"),
        ("[expect]\nstalled = [7]", "4:12", "no server 7"),
        ("[expect]\nrefused = { crash = 1 }", "4:11", "crashed"),
        ("[expect]\nhung_up = { crashed = 1 }", "4:11", "too-long"),
        ("[[expect.turns]]\nfrom = \"1s\"", "3:1", "`least` or `most`"),
        ("[[script]]\nname = \"a\"", "3:1", "`source`, or `file`"),
        ("[[script]]\nname = \"a\"\nsource = \"fn on_tuch(a) {}\"", "4:8", "on_touch"),
        ("[[script]]\nname = \"a\"\nfile = \"a.rhai\"", "5:8", "a.rhai"),
    ] {
        let mistake = told(rest);
        assert!(mistake.starts_with(&format!("a.toml:{at}: ")), "{rest}\n{at}: {mistake}");
        assert!(mistake.contains(word), "{rest}\n{word}: {mistake}");
    }
    let place = Story::parse("a.toml", &format!("place = \"moon\"\n{HEAD}"), &EmptyShelf);
    let mistake = place.expect_err("no place").to_string();
    assert!(mistake.starts_with("a.toml:1:9: ") && mistake.contains("town.toml"), "{mistake}");
}

#[test]
fn one_split_has_to_be_over_before_the_next() {
    let split = |at: u32, until: u32| {
        format!(
            "[[fault]]\nkind = \"split\"\nservers = [0]\nat = \"{at}s\"\nuntil = \"{until}s\"\n"
        )
    };

    assert!(
        told(&[split(1, 3), split(2, 4)].concat()).starts_with("a.toml:8:1: one split at a time")
    );
    assert_eq!(is_taken(&[HEAD, &split(1, 3), &split(3, 4)].concat()).steps(), 2);
    let poison = "[[fault]]\nkind = \"poison\"\nact = \"bow\"\n";
    assert!(told(&poison.repeat(2)).contains("one poison"));
}

#[test]
fn everything_that_a_story_may_ask_for_has_an_end() {
    let servers = |count: usize| format!("{HEAD}[servers]\ncount = {count}\nreserve = 1");
    assert_eq!(is_taken(&servers(SERVERS_MAX - 1)).servers(), SERVERS_MAX - 1);
    assert!(Story::parse("a", &servers(SERVERS_MAX), &EmptyShelf).is_err());

    let people = |count: u64| format!("{HEAD}[[people]]\ncount = {count}\n[[people]]\ncount = 1");
    assert_eq!(is_taken(&people(PEOPLE_MAX - 1)).people() as u64, PEOPLE_MAX);
    assert!(Story::parse("a", &people(PEOPLE_MAX), &EmptyShelf).is_err());

    let length = |seconds: u64| format!("title = \"long\"\nlength = \"{seconds}s\"");
    assert_eq!(is_taken(&length(LENGTH_MAX.as_secs())).length, LENGTH_MAX);
    assert!(Story::parse("a", &length(LENGTH_MAX.as_secs() + 1), &EmptyShelf).is_err());
    assert!(Story::parse("a", &length(0), &EmptyShelf).is_err());

    let waves = |every: &str| {
        let act = format!("[[act]]\nperson = 0\ndoes = \"wave\"\nevery = \"{every}\"");
        format!("title = \"waves\"\nlength = \"5s\"\n{act}")
    };
    assert_eq!(is_taken(&waves("2ms")).steps(), 2_499);
    assert!(STEPS_MAX < 4_999 && Story::parse("a", &waves("1ms"), &EmptyShelf).is_err());
    let twice = waves("2ms") + "\n[[act]]\nperson = 0\ndoes = \"bow\"\nevery = \"2ms\"";
    assert!(Story::parse("a", &twice, &EmptyShelf).is_err());

    let script = "[[script]]\nname = \"idle\"\nsource = \"fn on_start() {}\"\n";
    is_taken(&[HEAD, &script.repeat(SCRIPTS_MAX)].concat());
    assert!(told(&script.repeat(SCRIPTS_MAX + 1)).contains("at most 16 scripts"));

    let long = format!("{HEAD}about = \"{}\"", "a".repeat(FILE_BYTES_MAX));
    let mistake = Story::parse("a", &long, &EmptyShelf).expect_err("too long").to_string();
    assert!(mistake.contains("65536 bytes"), "{mistake}");
}
