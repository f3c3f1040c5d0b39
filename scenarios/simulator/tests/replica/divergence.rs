//! Servers whose states part from the others': noticed, told, healed, and nobody else held up.

use std::time::Duration;

use metatopia_replica::{Condition, REPAIRS_MAX, Status};
use metatopia_sim::{Capsule, ReplayVerdict};
use metatopia_simulator::Conditions;
use metatopia_simulator::SignatureKind;
use metatopia_simulator::replica::partings::{
    bad_memory, flipped_bit, forgetful, left_behind, two_against_two, wrong_rules,
};
use metatopia_simulator::replica::{Account, Flip, ReplicaSetting, ReplicaStage, TurnLog};
use metatopia_types::{Height, Millis, Now, limits::ROOT_LAG};

const SECOND: Duration = Duration::from_secs(1);

fn status(stage: &ReplicaStage, seat: usize) -> Status {
    let now = Now { monotonic: stage.world.now(), wall: Millis(0) };
    let server = stage.world.server(seat).expect("it runs");
    server.replica().status(now).expect("nothing is being applied")
}

#[test]
fn a_flipped_bit_is_noticed_told_and_healed_and_the_world_goes_on() {
    for seed in 0..6 {
        let account = flipped_bit(seed);

        account.assert_sound();
        let (servers, seat) = (&account.servers, forgetful(seed));
        let flip = servers.setting.own.flips[0].height;
        let [(noticed, parted)] = servers.parted[..] else { panic!("seed {seed}: {servers:?}") };
        let [(healed, mended, report)] = &servers.mended[..] else { panic!("seed {seed}") };
        assert_eq!((parted, *mended), (seat, seat), "seed {seed}");
        // It can notice when the header two turns later is decided, and does before the one after
        // that could be.
        let steps = servers.oracle.steps();
        let began = servers.oracle.first_at(flip).expect("it was applied");
        println!(
            "seed {seed}: noticed after {:?}, healed {:?} later",
            noticed - began,
            *healed - noticed
        );
        assert!(noticed - began < SECOND / 2, "seed {seed}: {:?}", noticed - began);
        assert!(*healed - noticed < 3 * SECOND, "seed {seed}");

        assert_eq!(report.height, flip, "seed {seed}");
        assert_eq!(report.now, steps[&flip].root);
        assert!(report.votes && report.repairs == 1);
        let found = report.difference.as_ref().expect("the field is named");
        assert!(found.key.0.starts_with("tile/"), "seed {seed}: {found}");
        assert!(found.entry.is_some() && !found.field.is_empty(), "seed {seed}: {found}");

        let [(_, capsule)] = &servers.capsules[..] else { panic!("seed {seed}") };
        let capsule = Capsule::decode(capsule).expect("a capsule");
        let stating = flip.plus(ROOT_LAG);
        assert!(capsule.turns.iter().any(|(turn, _)| turn.header.height == stating));
        let verdict = capsule.replay(&servers.setting.tools()).expect("it can be replayed");
        let ReplayVerdict::Unrepeatable { of, now, difference, .. } = verdict else {
            panic!("seed {seed}: {verdict:?}")
        };
        assert_eq!((of, now), (flip, report.now));
        assert_eq!(difference.map(|found| found.key.clone()), Some(found.key.clone()));

        let pause = servers.oracle.longest_pause(noticed.saturating_sub(SECOND), *healed);
        assert!(pause < SECOND / 2, "seed {seed}: nobody waits: {pause:?}");
        assert!(account.built[&seat].iter().any(|height| *height > report.looked_at.plus(5)));
    }
}

#[test]
fn a_server_that_healed_three_times_in_an_hour_only_follows() {
    let stage = bad_memory(1);
    let seat = forgetful(1);
    let votes: Vec<bool> =
        stage.world.cluster.mended.iter().map(|(_, _, report)| report.votes).collect();
    assert_eq!(votes, [true, true, true, false]);
    assert_eq!(votes.len(), REPAIRS_MAX + 1);
    let status = status(&stage, seat);
    assert_eq!((status.condition, status.voting), (Condition::Following, false));

    let account = stage.finish(10 * SECOND);

    account.assert_sound();
    let built = account.built.get(&seat).cloned().unwrap_or_default();
    assert!(built.iter().all(|height| *height < Height(160)), "{built:?}");
}

#[test]
fn two_against_two_is_called_stalled_and_each_of_them_writes_a_capsule() {
    let stage = two_against_two(3, true);
    let servers = &stage.world.cluster;
    let mut writers: Vec<usize> = servers.capsules.iter().map(|(seat, _)| *seat).collect();
    writers.sort_unstable();
    assert_eq!(writers, [0, 1, 2, 3]);
    assert_eq!((servers.parted.len(), servers.mended.len()), (0, 0));
    for seat in 0..4 {
        let status = status(&stage, seat);
        assert!(status.stalled && status.split, "{seat}: {status:?}");
        assert_eq!(status.condition, Condition::Sound);
        assert_eq!(status.height, Height(61), "{seat}");
    }
    // What they wrote is enough to see that two came to one state and two to another.
    let ends = servers.capsules.iter().map(|(_, bytes)| {
        let capsule = Capsule::decode(bytes).expect("a capsule");
        *capsule.roots.last().expect("turns were applied")
    });
    let ends: std::collections::BTreeSet<_> = ends.collect();
    assert_eq!(ends.len(), 2);
}

#[test]
fn two_servers_with_flipped_bits_heal_by_themselves_and_the_world_goes_on() {
    let stage = two_against_two(4, false);
    let mut healed: Vec<usize> =
        stage.world.cluster.mended.iter().map(|(_, seat, _)| *seat).collect();
    healed.sort_unstable();
    assert_eq!(healed, [1, 2]);

    let account = stage.finish(10 * SECOND);

    account.assert_sound();
    assert!(account.turns > 100, "{}", account.turns);
}

#[test]
fn a_server_that_cannot_come_to_the_right_state_takes_that_of_the_others_and_votes() {
    let seed = 5;
    let stage = wrong_rules(seed);
    let (seat, servers) = (forgetful(seed), &stage.world.cluster);
    let [(_, replaced, height)] = servers.replaced[..] else { panic!("{:?}", servers.replaced) };
    assert_eq!(replaced, seat);
    assert!(height >= Height(60), "the turn that it cannot apply is behind it: {height}");
    let status = status(&stage, seat);
    assert_eq!((status.condition, status.voting), (Condition::Sound, true), "{status:?}");

    let account = stage.finish(10 * SECOND);

    account.assert_sound();
    assert!(account.built[&seat].iter().any(|built| *built > height), "it proposes again");
}

#[test]
fn a_server_that_is_far_behind_takes_a_state_of_the_others_and_votes_also_after_a_power_loss() {
    for seed in 0..2 {
        let stage = left_behind(seed);
        let (seat, servers) = (forgetful(seed), &stage.world.cluster);
        let [(at, replaced, height)] = servers.replaced[..] else {
            panic!("seed {seed}: {:?}", servers.replaced)
        };
        println!(
            "seed {seed}: the state of height {height}, {:?} after it came back",
            at - 11 * SECOND
        );
        assert_eq!(replaced, seat, "seed {seed}");
        // What it missed the others have: it was put back, and holds what everybody decided.
        let log =
            TurnLog::read(stage.setting(), seat, stage.world.disk(seat)).expect("a whole log");
        assert_eq!(log.jumps, [height], "seed {seed}");
        let heights: Vec<u64> = log.decisions.keys().map(|height| height.0).collect();
        assert_eq!(heights, (1..=heights.len() as u64).collect::<Vec<_>>(), "seed {seed}");
        assert!(at - 11 * SECOND < 3 * SECOND, "seed {seed}: {at:?}");

        let account = stage.finish(10 * SECOND);

        account.assert_sound();
        assert!(account.built[&seat].iter().any(|built| *built > height), "seed {seed}");
    }
}

/// A server was said to have another root whose state had gone wrong in the last turns of its world. No
/// header had stated the right root yet, so that server could not know (whole seed 50036).
#[test]
fn a_bit_that_flips_in_the_last_turn_of_a_world_is_noticed_before_the_world_ends() {
    let lives = |flips: Vec<Flip>| -> Account {
        let mut setting = ReplicaSetting::plaza(SignatureKind::StandIn, 8);
        setting.own.flips = flips;
        let mut stage = ReplicaStage::new(setting, Conditions::calm(10));
        stage.run_until(2 * SECOND);
        stage.finish(10 * SECOND)
    };
    let last = lives(Vec::new()).heights[0].expect("it runs");
    let account = lives(vec![Flip { seat: 0, height: Height(last), lasting: false }]);

    account.assert_sound();
    let [(_, seat, report)] = &account.servers.mended[..] else { panic!("{:?}", account.heights) };
    assert_eq!((*seat, report.height), (0, Height(last)));
}
