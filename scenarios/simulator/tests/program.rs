//! The program, as a stranger runs it.

use std::process::{Command, Output};

fn run(words: &str) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_metatopia-simulator"));
    program.args(words.split_whitespace()).output().expect("the program starts")
}

fn last_line(output: &Output) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}"))
}

#[test]
fn a_swarm_ends_with_what_happened_in_it() {
    let output = run("swarm --seeds 4 --first-seed 1 --virtual 8s --jobs 2 --json");

    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let summary = last_line(&output);
    assert_eq!((&summary["seeds"], &summary["violations"]), (&4.into(), &0.into()), "{summary}");
    assert!(summary["virtual_hours"].as_f64().unwrap() > 0.0, "{summary}");
    assert!(summary["speed_x"].as_f64().unwrap() > 0.0, "{summary}");
    assert!(summary["faults"]["drop"].as_u64().unwrap() > 0, "{summary}");
}

#[test]
fn a_replay_tells_what_a_seed_stands_for_and_tells_it_twice_the_same() {
    let words = "replay --seed 3 --virtual 8s --json";
    let (first, again) = (run(words), run(words));

    assert_eq!(first.status.code(), Some(0), "{first:?}");
    assert_eq!(first.stdout, again.stdout);
    let text = String::from_utf8_lossy(&first.stdout);
    assert!(text.contains("turn length") && text.contains("classes"), "{text}");
    assert_eq!(last_line(&first)["digest"].as_str().map(str::len), Some(64));
    let traced = run("replay --seed 3 --virtual 8s --json --trace");
    assert_eq!(last_line(&traced)["digest"], last_line(&first)["digest"]);
    assert!(traced.stdout.len() > first.stdout.len());
    let calmer = run("replay --seed 3 --virtual 8s --json --without drop --without delay");
    assert_ne!(last_line(&calmer)["digest"], last_line(&first)["digest"]);
}

#[test]
fn whole_servers_are_played_and_told_like_agreement() {
    let output = run("swarm --whole --seeds 1 --first-seed 2 --virtual 4s --jobs 1 --json");

    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let summary = last_line(&output);
    assert_eq!((&summary["seeds"], &summary["violations"]), (&1.into(), &0.into()), "{summary}");
    assert!(summary["acts"].as_u64().unwrap() > 0, "{summary}");
    let told = run("replay --whole --seed 2 --virtual 4s --json");
    assert_eq!(told.status.code(), Some(0), "{told:?}");
    assert_eq!(last_line(&told)["turns"], summary["turns"]);
}

#[test]
fn schedules_of_twins_are_counted() {
    let output = run("twins --schedules 20 --json");

    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let summary = last_line(&output);
    assert_eq!(
        (&summary["schedules"], &summary["violations"]),
        (&20.into(), &0.into()),
        "{summary}"
    );
}

#[test]
fn a_bug_of_the_bank_is_found_by_its_law() {
    let output = run("bugbank --bug send-before-sync --bug lock-ignored --budget 20 --json");

    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let summary = last_line(&output);
    assert_eq!((&summary["bugs"], &summary["found"]), (&2.into(), &2.into()), "{summary}");
    assert_eq!((&summary["canary"], &summary["clean_violations"]), (&true.into(), &0.into()));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains(r#""bug":"lock-ignored","law":"lock","found":true"#), "{text}");
}

#[test]
fn a_wrong_word_is_answered_with_the_right_ones() {
    for (words, told) in [
        ("swarm --virtual 120", "such as 120s"),
        ("replay --seed 1 --without bitflip", "bit-flip"),
        ("twins --schedules 999999999", "245760"),
        ("bugbank --bug none", "lock-ignored"),
        ("swarm --virtual 0s", "1s to 24h"),
        ("swarm --first-seed -1", "0 to 18446744073709551615"),
        ("swarm --jobs 0", "1.."),
        ("replay --seed x", "0 to 18446744073709551615"),
        ("replay --seed 1 --from 5s --until 4s", "before they begin"),
        ("replay --seed 1 --without invited", "--whole"),
        ("swarm --seeds 0", "1.."),
        ("twins --schedules 0", "1..="),
        // It went on from seed 0, and never ended.
        ("swarm --seeds 1 --first-seed 18446744073709551615", "an earlier one"),
        ("swam", "swarm"),
    ] {
        let output = run(words);
        let text = String::from_utf8_lossy(&output.stderr);

        assert_eq!(output.status.code(), Some(2), "{words}: {text}");
        assert!(text.contains(told), "{words}: {text}");
    }
}
