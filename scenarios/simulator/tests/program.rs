//! The program, as a stranger runs it.

use std::process::{Command, Output, Stdio};

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
fn a_crossing_ends_with_what_became_of_everybody() {
    let output = run("crossing --seeds 1 --from 8 --seconds 10 --jobs 1 --json");

    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let summary = last_line(&output);
    assert_eq!((&summary["seeds"], &summary["violations"]), (&1.into(), &0.into()), "{summary}");
    let calm = &summary["classes"]["calm"];
    assert!(calm["taken"].as_u64().unwrap() > 0, "{summary}");
    assert!(calm["turns_p99"].as_u64().unwrap() <= 10, "{summary}");
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

/// `metatopia-simulator overlay | head` ended with a panic, and later `metatopia-simulator crossing | head`.
#[test]
fn a_reader_who_has_enough_ends_the_program_without_a_word() {
    for words in ["replay --seed 3 --virtual 1s", "crossing --seeds 1 --from 8 --seconds 10"] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_metatopia-simulator"));
        program.args(words.split_whitespace());
        let started = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut running = started.expect("the program starts");
        drop(running.stdout.take());
        let output = running.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(1), "{words}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!told.contains("panicked") && !told.contains("error"), "{words}: {told}");
    }
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
fn a_bug_of_crossing_is_looked_for_in_all_seeds_and_the_same_worlds_are_sound_without_it() {
    let words = "bugbank --crossing --bug verdict-forgotten --bug taken-too-late --budget 3 --json";
    let output = run(words);

    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let summary = last_line(&output);
    assert_eq!((&summary["bugs"], &summary["found"]), (&2.into(), &2.into()), "{summary}");
    assert_eq!(summary["clean_violations"], 0, "{summary}");
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| line.contains("verdict-forgotten")).expect("its line");
    let line: serde_json::Value = serde_json::from_str(line).expect("an object");
    assert_eq!((&line["law"], &line["seeds"]), (&"nothing-is-lost".into(), &3.into()), "{line}");
    assert!(line["found"].as_u64().unwrap() > 0 && line["first"].is_u64(), "{line}");
    assert!(line["clean_seconds_a_seed"].as_f64().unwrap() > 0.0, "{line}");
}

/// Returns the rows of the overlay's table, without the lines that tell how each world ended.
fn overlay_rows(output: &Output) -> Vec<serde_json::Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("an object a line"));
    lines.filter(|line: &serde_json::Value| line["figure"].is_string()).collect()
}

#[test]
fn the_overlay_prints_each_figure_beside_its_bound_and_ends_well_where_all_are_kept() {
    let words = "overlay --sites 60 --kill 50% --json";
    let (first, again) = (run(words), run(words));

    assert_eq!(first.status.code(), Some(0), "{first:?}");
    let rows = overlay_rows(&first);
    let of = |figure: &str| {
        let row = rows.iter().find(|row| row["figure"] == figure);
        row.unwrap_or_else(|| panic!("{figure}: {rows:?}"))
    };
    let found = of("neighbours from 5 contacts");
    assert_eq!((&found["scene"], &found["sites"]), (&"rest".into(), &60.into()), "{found}");
    assert_eq!((&found["relation"], &found["bound"]), (&"at least".into(), &0.9995.into()));
    let all = of("cycles until all neighbours are known");
    assert_eq!((&all["scene"], &all["relation"]), (&"kill 50%".into(), &"at most".into()), "{all}");
    assert!(all["value"].as_f64() <= all["bound"].as_f64(), "{all}");
    assert!(rows.iter().all(|row| row["ok"] == true), "{rows:?}");
    assert_eq!(of("one choice among 25 candidates")["unit"], "us");
    // The other algorithms promise nothing.
    assert!(of("routes 12 cycles after the kill")["bound"].is_null());
    let digests = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().filter(|line| line.contains("digest")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!((digests(&first).len(), digests(&first)), (2, digests(&again)));
}

#[test]
fn the_overlay_ends_badly_where_a_row_is_past_its_bound() {
    let output = run("overlay --sites 200 --cycles 1 --alone --json");

    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let rows = overlay_rows(&output);
    let past: Vec<_> = rows.iter().filter(|row| row["ok"] == false).collect();
    let too_early = past.iter().find(|row| row["figure"] == "neighbours from 5 contacts");
    let too_early = too_early.unwrap_or_else(|| panic!("{past:?}"));
    assert!(too_early["value"].as_f64() < too_early["bound"].as_f64(), "{too_early}");
    let told = run("overlay --sites 200 --cycles 1 --alone");
    assert_eq!(told.status.code(), Some(1), "{told:?}");
    assert!(String::from_utf8_lossy(&told.stdout).contains("NOT KEPT"), "{told:?}");
}

#[test]
fn a_wrong_word_is_answered_with_the_right_ones() {
    for (words, told) in [
        ("swarm --virtual 120", "such as 120s"),
        ("replay --seed 1 --without bitflip", "bit-flip"),
        ("twins --schedules 999999999", "245760"),
        ("bugbank --bug none", "lock-ignored"),
        ("bugbank --crossing --bug lock-ignored", "old-epochs-believed"),
        ("swarm --virtual 0s", "1s to 24h"),
        ("swarm --first-seed -1", "0 to 18446744073709551615"),
        ("swarm --jobs 0", "1.."),
        ("replay --seed x", "0 to 18446744073709551615"),
        ("replay --seed 1 --from 5s --until 4s", "before they begin"),
        ("replay --seed 1 --without invited", "--whole"),
        ("swarm --seeds 0", "1.."),
        ("twins --schedules 0", "1..="),
        ("overlay --sites 9", "from 10 to 100000"),
        ("overlay --kill 100%", "less than 100%"),
        ("overlay --table --kill 50%", "cannot be used with"),
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
