//! The stories of `scenarios/stories`: each comes true, and would not if it said something else.

mod mistakes;
mod program;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use metatopia_simulator::agreement::{Law, Violation};
use metatopia_simulator::story::{EmptyShelf, Story, StoryEnding};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../stories")
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(format!("{name}.toml"))).expect("a story")
}

fn parse(name: &str, text: &str) -> Story {
    Story::parse(name, text, &EmptyShelf).unwrap_or_else(|mistake| panic!("{mistake}"))
}

fn play(story: &Story) -> StoryEnding {
    story.play(story.seed, |_| {})
}

/// The names of what did not come true.
fn failed(story: &Story, ending: &StoryEnding) -> Vec<String> {
    story.judge(ending).into_iter().map(|unmet| unmet.expectation).collect()
}

/// Plays a story, which comes true; then holds the same ending against the story with a line turned
/// round, each of which must fail by its name and by no other. Every expectation is turned round.
fn comes_true_and_nothing_else_does(name: &str, turned: &[(&str, &str, &str)]) -> StoryEnding {
    let text = text(name);
    let story = parse(name, &text);
    let ending = play(&story);
    println!("{name}, seed {}: {ending:#?}", ending.seed);
    assert_eq!(story.judge(&ending), [], "{name}, seed {}", ending.seed);
    for (line, other, expectation) in turned {
        assert_eq!(text.matches(line).count(), 1, "{name}: {line}");
        let other = parse(name, &text.replace(line, other));
        assert_eq!(failed(&other, &ending), [*expectation], "{name}: {line}");
    }
    let all = story.expectations.iter().map(|expectation| expectation.name());
    let tried = turned.iter().map(|(_, _, name)| (*name).to_owned());
    let safety = ["broken".to_owned()];
    assert_eq!(all.collect::<BTreeSet<_>>(), tried.chain(safety).collect(), "{name}");
    let mut unsafe_one = ending.clone();
    let (law, what) = (Law::Lost, "a receipt".to_owned());
    unsafe_one.broken.push(Violation { at: ending.length, seat: None, law, what });
    assert_eq!(failed(&story, &unsafe_one), ["broken"], "{name}");
    ending
}

macro_rules! stories {
    ($($test:ident: $name:literal { $($line:literal => $other:literal fails $expectation:literal,)+ })+) => {
        $(
            #[test]
            fn $test() {
                comes_true_and_nothing_else_does($name, &[$(($line, $other, $expectation)),+]);
            }
        )+

        #[test]
        fn no_story_is_left_out() {
            let mut names: BTreeSet<String> = [$(format!("{}.toml", $name)),+].into();
            names.insert("long".to_owned());
            assert_eq!(names_in(&folder()), names);
        }
    };
}

stories! {
    who_acts_for_an_admin_that_stays_away_changes_with_who_logs_in: "bob_and_charlie" {
        "not-permanent = 1" => "not-permanent = 2" fails "refused.not-permanent",
        "{ at = \"140s\" }" => "{ at = \"140s\", person = 1 }" fails "temp_admin",
        "\"164s\", person = 2" => "\"164s\", person = 1" fails "temp_admin",
        "\"175s\", person = 1" => "\"175s\", person = 2" fails "temp_admin",
        "{ at = \"189s\" }" => "{ at = \"189s\", person = 1 }" fails "temp_admin",
    }
    nobody_acts_for_an_admin_where_nobody_is_and_servers_that_are_off_age_nobody: "nobody-is-there" {
        "crashes = 4" => "crashes = 5" fails "crashes",
        "{ at = \"178s\" }" => "{ at = \"178s\", person = 1 }" fails "temp_admin",
        "\"189s\", person = 1" => "\"189s\", person = 0" fails "temp_admin",
    }
    who_acts_for_the_admins_is_banned_and_the_next_in_line_follows: "banned-heir" {
        "outranked = 1" => "outranked = 2" fails "refused.outranked",
        "last-admin = 1" => "last-admin = 2" fails "refused.last-admin",
        "\"159s\", person = 1" => "\"159s\", person = 2" fails "temp_admin",
        "\"165s\", person = 2" => "\"165s\", person = 1" fails "temp_admin",
        "{ at = \"179s\" }" => "{ at = \"179s\", person = 2 }" fails "temp_admin",
    }
    of_two_who_came_in_one_turn_the_one_with_the_lesser_key_acts_for_the_admins: "same-moment" {
        "{ at = \"70s\" }" => "{ at = \"70s\", person = 2 }" fails "temp_admin",
        "\"74s\", person = 2" => "\"74s\", person = 1" fails "temp_admin",
        "\"77s\", person = 2" => "\"77s\", person = 1" fails "temp_admin",
    }
    who_acts_for_the_admins_has_no_role_that_could_be_taken: "no-role-to-take" {
        "already-so = 1" => "already-so = 2" fails "refused.already-so",
        "no-right = 1" => "no-right = 2" fails "refused.no-right",
        "{ at = \"70s\" }" => "{ at = \"70s\", person = 1 }" fails "temp_admin",
        "\"74s\", person = 1" => "\"74s\", person = 2" fails "temp_admin",
        "\"78500ms\", person = 1" => "\"78500ms\", person = 2" fails "temp_admin",
        "\"81s\", person = 2" => "\"81s\", person = 1" fails "temp_admin",
    }
    admins_are_removed_but_for_the_last_one_and_then_stand_in_line_as_players: "last-admin" {
        "last-admin = 1" => "last-admin = 2" fails "refused.last-admin",
        "not-admin = 1" => "not-admin = 2" fails "refused.not-admin",
        "not-permanent = 1" => "not-permanent = 2" fails "refused.not-permanent",
        "{ at = \"69s\" }" => "{ at = \"69s\", person = 0 }" fails "temp_admin",
        "\"74s\", person = 0" => "\"74s\", person = 2" fails "temp_admin",
        "\"77s\", person = 0" => "\"77s\", person = 2" fails "temp_admin",
        "{ at = \"81s\" }" => "{ at = \"81s\", person = 0 }" fails "temp_admin",
    }
    days_that_an_act_changes_count_from_the_next_turn_on: "days-changed" {
        "not-permanent = 1" => "not-permanent = 2" fails "refused.not-permanent",
        "{ at = \"73s\" }" => "{ at = \"73s\", person = 1 }" fails "temp_admin",
        "\"75s\", person = 1" => "\"75s\", person = 0" fails "temp_admin",
        "\"77s\", person = 1" => "\"77s\", person = 0" fails "temp_admin",
        "{ at = \"79s\" }" => "{ at = \"79s\", person = 1 }" fails "temp_admin",
        "\"81s\", person = 1" => "\"81s\", person = 0" fails "temp_admin",
        "{ at = \"83s\" }" => "{ at = \"83s\", person = 1 }" fails "temp_admin",
    }
    a_month_in_which_all_servers_are_off_ages_nobody: "month-off" {
        "crashes = 4" => "crashes = 5" fails "crashes",
        "down = []" => "down = [0]" fails "down",
        "{ at = \"45s\" }" => "{ at = \"45s\", person = 1 }" fails "temp_admin",
        "{ at = \"78s\" }" => "{ at = \"78s\", person = 1 }" fails "temp_admin",
        "\"85s\", person = 1" => "\"85s\", person = 0" fails "temp_admin",
    }
    an_act_that_panics_is_refused_alike_everywhere_and_the_world_goes_on: "poison-act" {
        "crashed = 9" => "crashed = 10" fails "refused.crashed",
        "parted = []" => "parted = [1]" fails "parted",
        "stalled = []" => "stalled = [0]" fails "stalled",
        "crashes = 1" => "crashes = 2" fails "crashes",
        "longest_pause = \"500ms\"" => "longest_pause = \"1ms\"" fails "longest_pause",
        "least = 180" => "least = 18000" fails "turns",
    }
    two_against_two_is_called_stalled_and_every_side_writes_a_capsule: "two-against-two" {
        "[\"equal-roots\"]" => "[]" fails "broken",
        "\nstalled = [0, 1, 2, 3]" => "\nstalled = [0, 1, 2]" fails "stalled",
        "split = [0, 1, 2, 3]" => "split = []" fails "split",
        "capsules = [0, 1, 2, 3]" => "capsules = [1, 2]" fails "capsules",
        "parted = []" => "parted = [1, 2]" fails "parted",
        "mended = []" => "mended = [1, 2]" fails "mended",
        "validators = [0, 1, 2, 3]" => "validators = [0, 3]" fails "validators",
        "most = 0" => "least = 1" fails "turns",
    }
    servers_that_never_come_are_promoted_without_weakening_the_quorum: "promotion-of-absent" {
        "validators = [0, 1, 2, 3]" => "validators = [0, 1, 2, 3, 4]" fails "validators",
        "down = [2]" => "down = []" fails "down",
        "stalled = []" => "stalled = [0, 1, 3]" fails "stalled",
        "longest_pause = \"1s\"" => "longest_pause = \"1ms\"" fails "longest_pause",
        "least = 60" => "most = 60" fails "turns",
    }
    a_clock_that_is_set_back_forks_nothing_and_holds_nobody_up: "clock-set-back" {
        "stalled = []" => "stalled = [1]" fails "stalled",
        "parted = []" => "parted = [1]" fails "parted",
        "time_off = \"1s\"" => "time_off = \"1ms\"" fails "time_off",
        "longest_pause = \"500ms\"" => "longest_pause = \"1ms\"" fails "longest_pause",
        "least = 250" => "most = 250" fails "turns",
    }
    a_split_network_decides_nothing_forks_nothing_and_goes_on: "split-and-heal" {
        "stalled = []" => "stalled = [0]" fails "stalled",
        "next_turn = \"200ms\"" => "next_turn = \"0ms\"" fails "next_turn",
        "least = 70" => "least = 7000" fails "turns",
    }
    power_loss_takes_nothing_that_had_a_receipt: "power-loss" {
        "crashes = 8" => "crashes = 9" fails "crashes",
        "acts = 100" => "acts = 10000" fails "acts",
        "down = []" => "down = [0]" fails "down",
        "longest_pause = \"2s\"" => "longest_pause = \"100ms\"" fails "longest_pause",
    }
    proposers_that_die_hold_nobody_up_for_long: "proposer-dies" {
        "crashes = 9" => "crashes = 100" fails "crashes",
        "longest_pause = \"1s\"" => "longest_pause = \"1ms\"" fails "longest_pause",
        "least = 100" => "most = 100" fails "turns",
    }
    a_flipped_bit_is_noticed_and_mended: "flipped-bit" {
        "parted = [3]" => "parted = []" fails "parted",
        "mended = [3]" => "mended = []" fails "mended",
        "capsules = [3]" => "capsules = [2]" fails "capsules",
        "following = []" => "following = [3]" fails "following",
        "stalled = []" => "stalled = [3]" fails "stalled",
        "longest_pause = \"500ms\"" => "longest_pause = \"1ms\"" fails "longest_pause",
    }
    a_full_disk_takes_the_vote_of_its_server_and_stops_nobody: "full-disk" {
        "down = []" => "down = [2]" fails "down",
        "stalled = []" => "stalled = [2]" fails "stalled",
        "longest_pause = \"1s\"" => "longest_pause = \"1ms\"" fails "longest_pause",
        "least = 50" => "most = 50" fails "turns",
    }
    strangers_who_misbehave_are_turned_away_by_name: "hostile-client" {
        "bad-frame = 1" => "bad-frame = 2" fails "hung_up.bad-frame",
        "too-long = 3" => "too-long = 4" fails "hung_up.too-long",
        "too-slow = 0" => "too-slow = 1" fails "hung_up.too-slow",
        "bad-signature = 4" => "bad-signature = 5" fails "refused.bad-signature",
        "quota-exceeded = 1" => "quota-exceeded = 10000" fails "refused.quota-exceeded",
        "stalled = []" => "stalled = [0]" fails "stalled",
        "longest_pause = \"500ms\"" => "longest_pause = \"1ms\"" fails "longest_pause",
        "least = 140" => "most = 140" fails "turns",
    }
    a_server_that_joins_votes_and_a_founder_may_die: "joining" {
        "validators = [0, 1, 2, 3, 4]" => "validators = [0, 1, 2, 3]" fails "validators",
        "down = [1]" => "down = []" fails "down",
        "stalled = []" => "stalled = [4]" fails "stalled",
        "longest_pause = \"1s\"" => "longest_pause = \"1ms\"" fails "longest_pause",
        "next_turn = \"300ms\"" => "next_turn = \"0ms\"" fails "next_turn",
    }
    a_slow_server_holds_nobody_up_and_catches_up: "slow-server" {
        "stalled = []" => "stalled = [2]" fails "stalled",
        "parted = []" => "parted = [2]" fails "parted",
        "longest_pause = \"500ms\"" => "longest_pause = \"1ms\"" fails "longest_pause",
        "least = 90" => "most = 90" fails "turns",
    }
    power_that_fails_while_a_sim_begins_leaves_one_sim: "false-start" {
        "crashes = 9" => "crashes = 13" fails "crashes",
        "down = []" => "down = [3]" fails "down",
        "longest_pause = \"1s\"" => "longest_pause = \"1ms\"" fails "longest_pause",
        "acts = 30" => "acts = 3000" fails "acts",
    }
    people_who_were_away_for_long_learn_what_became_of_their_acts: "long-absence" {
        "crashes = 4" => "crashes = 5" fails "crashes",
        "acts = 60" => "acts = 6000" fails "acts",
        "longest_pause = \"1s\"" => "longest_pause = \"1ms\"" fails "longest_pause",
    }
    a_storm_of_crashes_loses_nothing: "storm" {
        "crashes = 20" => "crashes = 200" fails "crashes",
        "acts = 300" => "acts = 30000" fails "acts",
        "longest_pause = \"3s\"" => "longest_pause = \"1ms\"" fails "longest_pause",
        "next_turn = \"1s\"" => "next_turn = \"0ms\"" fails "next_turn",
    }
    a_script_that_never_ends_harms_only_itself: "greedy-script" {
        "script_failures = 3" => "script_failures = 500" fails "script_failures",
        "echo: I heard good evening" => "echo: I heard nothing" fails "heard",
        "stalled = []" => "stalled = [0]" fails "stalled",
        "longest_pause = \"200ms\"" => "longest_pause = \"1ms\"" fails "longest_pause",
    }
}

/// The names of the files in a folder.
fn names_in(folder: &Path) -> BTreeSet<String> {
    let files = fs::read_dir(folder).expect("a folder of stories");
    files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned()).collect()
}

/// Long stories take minutes, and are played by hand.
#[test]
fn a_long_story_is_well_formed() {
    for name in names_in(&folder().join("long")) {
        let story = parse(&name, &text(&format!("long/{}", name.trim_end_matches(".toml"))));
        assert!(story.length.as_secs() > 600 && story.expectations.len() > 1, "{name}");
    }
}

/// Without what a story is about, it does not come true: its expectations look at it.
#[test]
fn a_story_without_its_fault_fails_by_what_the_fault_does() {
    for (name, fault, expected) in [
        ("poison-act", "kind = \"poison\"\nact = \"laugh\"", "refused.crashed"),
        ("flipped-bit", "kind = \"flip\"\nservers = [3]\nturn = 60", "parted"),
        ("promotion-of-absent", "kind = \"kill\"\nserver = 2\nat = \"6s\"", "down"),
    ] {
        let harmless = "kind = \"crash\"\nserver = 0\nat = \"2s\"";
        let story = parse(name, &text(name).replace(fault, harmless));

        let failed = failed(&story, &play(&story));

        assert!(failed.iter().any(|name| name == expected), "{name}: {failed:?}");
    }
}

#[test]
fn a_world_that_should_go_on_and_does_not_breaks_a_law() {
    let text = text("two-against-two");
    let stuck = text.replace("goes_on = false", "").replace("length", "patience = \"1s\"\nlength");
    let story = parse("stuck", &stuck);

    let ending = play(&story);

    assert_eq!(failed(&story, &ending), ["broken"], "{:?}", ending.broken);
    assert!(ending.broken.iter().any(|fault| fault.law == Law::LateAct), "{:?}", ending.broken);
}

#[test]
fn a_story_with_a_seed_is_one_history() {
    let story = parse("proposer-dies", &text("proposer-dies"));
    let digest = |seed| story.play(seed, |_| {}).digest;

    assert_eq!(digest(5), digest(5));
    assert_ne!(digest(5), digest(6));
}
