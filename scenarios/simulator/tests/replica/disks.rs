//! Whole servers and their disks: full ones, failed ones, and logs whose beginning is given up.

use std::time::Duration;

use metatopia_replica::keeper::Health;
use metatopia_simulator::agreement::Law;
use metatopia_simulator::replica::{Person, PersonProfile, ReplicaSetting, ReplicaStage, TurnLog};
use metatopia_simulator::{ByzantineBehaviour, SignatureKind};
use metatopia_simulator::{CERTAIN_PPM, Class, ClusterOrder, Conditions, UnsyncedWrites};
use metatopia_store::{FileKind, FileName};
use metatopia_types::Height;

const SECOND: Duration = Duration::from_secs(1);

/// The server whose disk is bad.
const SEAT: usize = 2;

fn people(stage: &mut ReplicaStage, until: Duration) {
    for (number, seat) in (1..=4).zip([0, 1, 3, 0]) {
        let person = Person::new(stage.setting(), number, seat, PersonProfile::lively(until));
        stage.invite(Duration::from_millis(70 * number), person);
    }
}

/// Returns how the disk of that server stood, each time that this changed.
fn healths(stage: &ReplicaStage) -> Vec<Health> {
    let disks = stage.world.cluster.disks.iter();
    disks.filter(|(_, seat, _)| *seat == SEAT).map(|(.., health)| health.clone()).collect()
}

#[test]
fn a_server_whose_disk_is_full_follows_and_votes_again_once_there_is_room() {
    let mut stage =
        ReplicaStage::new(ReplicaSetting::plaza(SignatureKind::StandIn, 1), Conditions::calm(10));
    people(&mut stage, 9 * SECOND);
    stage.world.plan(3 * SECOND, ClusterOrder::DiskFull(SEAT, 2_000));
    stage.world.plan(6 * SECOND, ClusterOrder::DiskMends(SEAT));

    stage.run_until(6 * SECOND);

    assert_eq!(healths(&stage), [Health::Full]);
    let voted =
        |stage: &ReplicaStage, since| stage.world.cluster.oracle.laws.voted_since(SEAT, since);
    assert_eq!(voted(&stage, 4 * SECOND), [], "it votes for nothing");
    let behind = stage.world.top() - stage.world.heights()[SEAT].expect("it runs");
    assert!(behind <= 2, "it follows, {behind} turns behind");

    stage.run_until(9 * SECOND);

    assert_eq!(healths(&stage), [Health::Full, Health::Sound]);
    assert!(!voted(&stage, 8 * SECOND).is_empty(), "it votes again");
    let account = stage.finish(10 * SECOND);
    account.assert_sound();
    assert_eq!(account.crashes, 0);
    assert!(account.fired.times(Class::DiskFull) > 1, "it was looked for room");
}

#[test]
fn a_server_whose_disk_fails_follows_until_somebody_starts_it_anew() {
    for operation in [0, 1, 2, 5, 9] {
        let mut stage = ReplicaStage::new(
            ReplicaSetting::plaza(SignatureKind::StandIn, 2),
            Conditions::calm(10),
        );
        people(&mut stage, 4 * SECOND);
        stage.world.plan(2 * SECOND, ClusterOrder::DiskFails(SEAT, operation));
        stage.run_until(4 * SECOND);

        let all = healths(&stage);
        assert!(matches!(all[..], [Health::Failed(_)]), "{operation}: {all:?}");
        let account = stage.finish(10 * SECOND);
        account.assert_sound();
        assert_eq!((account.crashes, account.fired.times(Class::IoError)), (1, 1));
    }
}

#[test]
fn servers_give_up_what_they_need_no_more_and_who_is_far_behind_fetches_a_state() {
    let mut setting = ReplicaSetting::plaza(SignatureKind::StandIn, 3);
    (setting.own.snapshot_turns, setting.own.history_turns, setting.own.behind_turns) =
        (20, 30, 45);
    let mut stage = ReplicaStage::new(setting, Conditions::calm(5));
    people(&mut stage, 12 * SECOND);
    let down = 5 * SECOND;
    stage
        .world
        .plan(4 * SECOND, ClusterOrder::Crash { seat: SEAT, tail: UnsyncedWrites::Torn, down });
    let down = SECOND / 2;
    stage
        .world
        .plan(10 * SECOND, ClusterOrder::Crash { seat: 1, tail: UnsyncedWrites::Lost, down });
    stage.run_until(12 * SECOND);

    let first = |seat| {
        let log =
            TurnLog::read(stage.setting(), seat, stage.world.disk(seat)).expect("a whole log");
        log.decisions.keys().next().copied().expect("turns")
    };
    assert_eq!(first(0), Height(1), "the first server keeps all");
    assert!(first(1) > Height(50) && first(3) > Height(50), "{:?}", [first(1), first(3)]);
    let servers = &stage.world.cluster;
    assert!(servers.given_up > 3 && servers.snapshots > 20);
    let fetched: Vec<usize> = servers.replaced.iter().map(|(_, seat, _)| *seat).collect();
    assert_eq!(fetched, [SEAT]);

    let account = stage.finish(10 * SECOND);

    account.assert_sound();
    assert!(account.turns > 200, "{}", account.turns);
}

/// Its disk has some room for the log, and none for the state that it fetches: its process ended, and
/// ended again at every start.
#[test]
fn a_server_that_is_far_behind_and_has_no_room_for_a_state_waits_for_it_and_votes_again() {
    let mut setting = ReplicaSetting::plaza(SignatureKind::StandIn, 3);
    (setting.own.snapshot_turns, setting.own.history_turns, setting.own.behind_turns) =
        (20, 30, 45);
    let mut stage = ReplicaStage::new(setting, Conditions::calm(5));
    people(&mut stage, 14 * SECOND);
    let down = 5 * SECOND;
    stage
        .world
        .plan(4 * SECOND, ClusterOrder::Crash { seat: SEAT, tail: UnsyncedWrites::Torn, down });
    stage.world.plan(9 * SECOND + SECOND / 100, ClusterOrder::DiskFull(SEAT, 2_000));
    stage.world.plan(12 * SECOND, ClusterOrder::DiskMends(SEAT));
    stage.run_until(12 * SECOND);
    assert_eq!(healths(&stage), [Health::Full]);
    assert!(stage.world.cluster.replaced.is_empty());

    stage.run_until(14 * SECOND);

    assert_eq!(healths(&stage), [Health::Full, Health::Sound]);
    let fetched: Vec<usize> =
        stage.world.cluster.replaced.iter().map(|(_, seat, _)| *seat).collect();
    // The state that waited is far behind by then too.
    assert_eq!(fetched, [SEAT, SEAT]);
    let account = stage.finish(10 * SECOND);
    account.assert_sound();
    assert_eq!(account.crashes, 1, "only the one that was planned");
}

#[test]
fn who_fetches_a_state_has_it_in_spite_of_a_server_that_gives_wrong_parts_or_none() {
    for deed in [ByzantineBehaviour::WrongRoot, ByzantineBehaviour::WithholdAllButOne] {
        let mut setting = ReplicaSetting::plaza(SignatureKind::StandIn, 5);
        (setting.own.snapshot_turns, setting.own.history_turns, setting.own.behind_turns) =
            (20, 30, 45);
        // Who comes first is asked first.
        (setting.own.archive, setting.liars) = (false, vec![(0, deed)]);
        let mut stage = ReplicaStage::new(setting, Conditions::calm(5));
        people(&mut stage, 12 * SECOND);
        let down = 6 * SECOND;
        stage
            .world
            .plan(3 * SECOND, ClusterOrder::Crash { seat: SEAT, tail: UnsyncedWrites::Torn, down });
        stage.run_until(12 * SECOND);

        let servers = &stage.world.cluster;
        let fetched: Vec<usize> = servers.replaced.iter().map(|(_, seat, _)| *seat).collect();
        assert_eq!(fetched, [SEAT], "{deed:?}");
        assert!(servers.spoiled_states > 0, "{deed:?}: nobody asked the liar");
        stage.finish(20 * SECOND).assert_sound();
    }
}

#[test]
fn turns_in_a_damaged_part_of_a_log_come_back_from_the_others() {
    let mut setting = ReplicaSetting::plaza(SignatureKind::StandIn, 4);
    setting.own.snapshot_turns = 20;
    let mut stage = ReplicaStage::new(setting, Conditions::calm(5));
    people(&mut stage, 12 * SECOND);
    stage.run_until(8 * SECOND);
    let harmed = stage.harm(SEAT, Class::BitFlip, 2);
    assert_eq!(harmed, Some(FileName::segment(1)));

    stage.run_until(12 * SECOND);

    let aside = |segment| FileName::new(FileKind::Quarantined { segment, copy: 0 });
    let disk = stage.world.disk(SEAT);
    assert!([0, 1].iter().all(|segment| disk.bytes(aside(*segment)).is_some()), "put aside");
    let log = TurnLog::read(stage.setting(), SEAT, disk).expect("a whole log");
    let heights: Vec<u64> = log.decisions.keys().map(|height| height.0).collect();
    assert!(heights.len() > 150, "{}", heights.len());
    assert_eq!(heights, (1..=heights.len() as u64).collect::<Vec<_>>(), "from the first turn on");
    stage.finish(10 * SECOND).assert_sound();
}

#[test]
fn damage_that_was_put_aside_by_a_start_that_was_cut_off_counts_as_noticed() {
    let mut unsaid = 0;
    for seed in 1..5 {
        let mut setting = ReplicaSetting::plaza(SignatureKind::StandIn, seed);
        setting.own.snapshot_turns = 20;
        let mut stage = ReplicaStage::new(setting, Conditions::calm(5));
        people(&mut stage, 4 * SECOND);
        stage.run_until(4 * SECOND);
        let tails = vec![UnsyncedWrites::Lost, UnsyncedWrites::Torn, UnsyncedWrites::Kept];
        let cut_off = Conditions { dies_at_start_ppm: CERTAIN_PPM, tails, ..Conditions::calm(5) };
        stage.world.set_conditions(cut_off);
        assert!(stage.harm(SEAT, Class::BitFlip, 2).is_some());

        stage.run_until(6 * SECOND);

        let server = stage.world.server(SEAT).expect("at last a start comes through");
        unsaid += u32::from(server.damage().is_none());
        assert!(stage.world.fired().times(Class::CrashAtStart) > 0, "seed {seed}");
        let aside = |file: &FileName| matches!(file.kind, FileKind::Quarantined { .. });
        assert!(stage.world.disk(SEAT).files().iter().any(aside), "seed {seed}: put aside");
        stage.finish(10 * SECOND).assert_sound();
    }
    assert!(unsaid > 1, "the start that came through found nothing any more");
}

/// Has the first server, which is to keep everything, lose a part of its log at the end. Returns which laws
/// are broken, and by whom.
fn lose_a_part_at_the_end(nothing_is_put_back: bool) -> Vec<(Option<usize>, Law)> {
    let mut setting = ReplicaSetting::plaza(SignatureKind::StandIn, 6);
    setting.own.snapshot_turns = 20;
    setting.own.controls.nothing_is_put_back = nothing_is_put_back;
    let mut stage = ReplicaStage::new(setting, Conditions::calm(5));
    people(&mut stage, 6 * SECOND);
    stage.run_until(6 * SECOND);
    assert!(stage.harm(0, Class::BitFlip, 2).is_some());

    let account = stage.finish(10 * SECOND);

    account.faults.iter().map(|fault| (fault.seat, fault.law)).collect()
}

#[test]
fn a_part_of_a_log_that_does_not_come_back_breaks_a_law() {
    assert_eq!(lose_a_part_at_the_end(false), []);
    assert_eq!(lose_a_part_at_the_end(true), [(Some(0), Law::Gap)]);
}
