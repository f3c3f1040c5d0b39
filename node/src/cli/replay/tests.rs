use metatopia_audit::{
    fixture::{FixtureTurn, TURNS, capsule, decided_records, honest_records, noted, steps},
    tools,
};
use metatopia_sim::flipped;
use metatopia_types::{Digest, LeafKey};

use super::*;
use crate::cli::fixture::{FixtureDirectory, directory, pruned_directory};

fn args(path: PathBuf) -> ReplayArgs {
    let (genesis, at, speed, stages, from, quick) = (None, None, None, false, None, false);
    ReplayArgs { path, region: false, genesis, at, speed, stages, from, quick }
}

fn kept(name: &str, steps: &[FixtureTurn]) -> FixtureDirectory {
    FixtureDirectory::write(name, &honest_records(steps))
}

fn observer(args: &ReplayArgs) -> ReplayObserver {
    ReplayObserver::new(args, Console::quiet())
}

#[test]
fn a_replay_of_a_log_comes_to_its_end_and_says_the_same_of_every_stage_each_time() {
    let kept = kept("replay-whole", &steps());
    let digests = || {
        let mut observer = observer(&args(kept.dir.clone()));
        let checked = verify(&kept.dir, &kept.dir.join(GENESIS), &mut observer).unwrap();
        assert_eq!(checked.fault, None);
        let found = observer.found("x", checked.server, checked.world.as_ref(), None);
        assert_eq!((found.turns, &found.error), (TURNS as u64, &None));
        found.stages.expect("it was not quick")
    };
    assert_eq!(digests(), digests());
    run(&args(kept.dir.clone()), Console::quiet()).unwrap();
}

/// The output held the speeds of two machines and the names of their folders, and these looked like
/// differences of the sims.
#[test]
fn with_stages_nothing_is_printed_that_differs_between_machines() {
    let found = |name: &str, stages| {
        let kept = kept(name, &steps()[..6]);
        let args = ReplayArgs { stages, ..args(kept.dir.clone()) };
        let mut observer = observer(&args);
        let checked = verify(&kept.dir, &kept.dir.join(GENESIS), &mut observer).unwrap();
        let path = kept.dir.display().to_string();
        let found = observer.found(&path, checked.server, checked.world.as_ref(), None);
        (serde_json::to_string(&found).unwrap(), found.to_string())
    };
    assert_eq!(found("here", true), found("there", true));
    let (json, text) = found("here", false);
    assert!(json.contains("speed_x") && text.contains("times real time"), "{json}");
}

#[test]
fn a_replay_stops_where_it_is_told_to_and_sums_up_the_state() {
    let kept = kept("replay-at", &steps());
    let mut args = args(kept.dir.clone());
    args.at = Some(Height(5));
    let mut observer = observer(&args);
    let checked = verify(&kept.dir, &kept.dir.join(GENESIS), &mut observer).unwrap();
    let state = StateSummary::of(checked.world.as_ref().expect("a world"));
    assert_eq!((state.height, state.tick), (5, 15));
    assert_eq!(state.root, steps()[4].world.root().to_string());
    args.at = Some(Height(TURNS as u64 + 1));
    assert_eq!(run(&args, Console::quiet()).unwrap_err().exit, Exit::NotFound);
}

/// `--at` of a turn before the first state once showed the state of another turn, with exit code 0.
#[test]
fn a_state_that_is_no_longer_there_is_not_found_and_no_other_is_given_for_it() {
    let at = |path: &PathBuf, height: u64| {
        let args = ReplayArgs { at: Some(Height(height)), ..args(path.clone()) };
        run(&args, Console::quiet())
    };
    let absent = |path: &PathBuf, height: u64, next: u64| {
        let failure = at(path, height).expect_err("no such state");
        assert_eq!(failure.exit, Exit::NotFound, "{failure}");
        let told =
            format!("after turn {height}: the next one that it has is that after turn {next}");
        assert!(failure.message.contains(&told), "{failure}");
    };
    let pruned = pruned_directory("replay-pruned", |_| ());
    absent(&pruned.dir, 7, 8);
    at(&pruned.dir, 8).unwrap();
    let mut records = decided_records();
    records.drain(2 * 8..2 * 12);
    let (away, _) = directory("replay-away", &records, 12, |_| ());
    absent(&away.dir, 9, 12);
    for there in [0, 8, 12, 13] {
        at(&away.dir, there).unwrap();
    }
    let path = away.dir.join("some.capsule");
    let steps = steps();
    let roots = steps[2..9].iter().map(|step| step.world.root()).collect();
    fs::write(&path, capsule(&steps, roots).encode()).unwrap();
    absent(&path, 1, 2);
    at(&path, 2).unwrap();
}

#[test]
fn a_replay_that_stops_before_the_first_turn_is_at_the_state_that_it_begins_with() {
    let kept = pruned_directory("replay-first", |_| ());
    let args = ReplayArgs { at: Some(Height(8)), ..args(kept.dir.clone()) };
    let mut observer = observer(&args);
    let checked = verify(&kept.dir, &kept.dir.join(GENESIS), &mut observer).unwrap();
    let state = StateSummary::of(checked.world.as_ref().expect("a world"));
    assert_eq!((state.height, observer.turns), (8, 0));
    assert_eq!(state.root, steps()[7].world.root().to_string());
}

/// A replay to a turn beyond the fault once said that the turn is not there, with exit code 3.
#[test]
fn what_is_wrong_goes_before_what_is_not_there() {
    let steps = steps();
    let mut records = honest_records(&steps);
    records.remove(3 * 7);
    let kept = FixtureDirectory::write("replay-wrong", &records);
    let args = ReplayArgs { at: Some(Height(20)), ..args(kept.dir.clone()) };
    assert_eq!(run(&args, Console::quiet()).unwrap_err().exit, Exit::Unverified);

    let path = kept.dir.join("some.capsule");
    let capsule = capsule(&steps, vec![Root(Digest::ZERO)]);
    fs::write(&path, capsule.encode()).unwrap();
    let args = ReplayArgs { path, ..args };
    assert_eq!(run(&args, Console::quiet()).unwrap_err().exit, Exit::Diverged);
}

#[test]
fn a_root_that_is_not_what_the_turns_give_is_exit_code_five() {
    let steps = steps();
    let mut records = honest_records(&steps);
    records[3 * 7 + 2] = noted(&steps[7], Root(Digest::ZERO))[2].clone();
    let kept = FixtureDirectory::write("replay-noted", &records);
    let failure = run(&args(kept.dir.clone()), Console::quiet()).unwrap_err();
    assert_eq!(failure.exit, Exit::Unverified);
    assert!(failure.message.contains("after turn 8"), "{failure}");
}

#[test]
fn a_capsule_replays_and_tells_when_its_writer_came_to_something_else() {
    let steps = steps();
    let dir = kept("replay-capsule", &steps[..2]);
    let path = dir.dir.join("some.capsule");
    let play = |capsule: &Capsule| {
        fs::write(&path, capsule.encode()).unwrap();
        run(&args(path.clone()), Console::quiet())
    };
    let right: Vec<Root> = steps[2..9].iter().map(|step| step.world.root()).collect();
    play(&capsule(&steps, right.clone())).unwrap();

    let mut wrong = right.clone();
    let key = LeafKey("clock".into());
    wrong[4] = flipped(&steps[6].world, &key, &tools()).expect("a clock has bits").root();
    let failure = play(&capsule(&steps, wrong)).unwrap_err();
    assert_eq!(failure.exit, Exit::Diverged);
    assert!(failure.message.contains("after turn 7"), "{failure}");

    let mut uncertified = capsule(&steps, right);
    uncertified.turns[3].1.signatures.pop();
    assert_eq!(play(&uncertified).unwrap_err().exit, Exit::Unverified);
}

/// A log and a capsule with a port that this program lacks were called wrong.
#[test]
fn a_replay_that_lacks_a_port_asks_for_another_program() {
    let kept = kept("replay-ported", &steps());
    let found = observer(&args(kept.dir.clone())).found("x", None, None, Some("no port".into()));
    let lacking = ReplayReport { lacks_port: true, ..found };
    assert!(lacking.to_string().ends_with("NOT CHECKED: no port"), "{lacking}");
    let failure = report(&lacking, "x", None, Console::quiet()).expect_err("the port is missing");
    assert_eq!(failure.exit, Exit::OtherEngine);
    assert!(failure.message.contains("metatopia script ports"), "{failure}");
    let wrong = ReplayReport { lacks_port: false, ..lacking };
    let failure = report(&wrong, "x", None, Console::quiet()).expect_err("it is wrong");
    assert_eq!(failure.exit, Exit::Unverified);
}
