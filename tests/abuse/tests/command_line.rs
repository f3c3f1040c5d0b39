//! The command line of the bench. What it plays takes minutes and is for `.ci/run`.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_metatopia-abuse");
    Command::new(program).args(arguments).output().expect("the bench can be started")
}

#[test]
fn the_list_names_every_attack_on_a_line_of_its_own() {
    let listed = run(&["--list"]);
    assert!(listed.status.success());
    let text = String::from_utf8(listed.stdout).expect("text");
    let names: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let servers = ["school", "seats", "players", "speech", "pings", "half_open", "hostile"];
    for name in servers.iter().chain(&["lanes", "invites", "turns", "land"]) {
        assert_eq!(names.iter().filter(|listed| *listed == name).count(), 1, "{text}");
    }
}

#[test]
fn an_attack_that_is_none_is_a_mistake_of_usage_that_names_the_others() {
    let refused = run(&["seat"]);
    assert_eq!(refused.status.code(), Some(2));
    let why = String::from_utf8(refused.stderr).expect("text");
    assert!(why.contains("`seat`") && why.contains("seats"), "{why}");
}

#[test]
fn without_a_program_to_attack_nothing_is_measured_and_that_is_a_failure() {
    let failed = run(&["pings", "--short", "--program", "/nonexistent/metatopia"]);
    assert_eq!(failed.status.code(), Some(1));
    let why = String::from_utf8(failed.stderr).expect("text");
    assert!(why.contains("/nonexistent/metatopia") && failed.stdout.is_empty(), "{why}");
}
