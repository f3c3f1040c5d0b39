//! One person at two servers at once, by two devices with one key.
//!
//! Each device signs in a lane of its own, so no act of one is a replay of the other's. The key has one avatar, which
//! the device has that logged in last: an act of the other one is refused as `OtherSession`, and the device then logs
//! in again and does it once more, as the page does.

use std::time::Duration;

use metatopia_simulator::replica::{Person, PersonProfile, ReplicaSetting, ReplicaStage};
use metatopia_simulator::{Conditions, SignatureKind};
use metatopia_types::{Act, Blob, Emote, Look, Outcome, Refusal, Seq};

const SECOND: Duration = Duration::from_secs(1);

/// The number of the person with two devices.
const ADA: u64 = 1;

const OTHER_SESSION: Outcome = Outcome::Refused(Refusal::OtherSession);

/// Four servers with a person who has two devices, at the servers 0 and 1. Returns them by their numbers.
fn two_devices(seed: u64) -> (ReplicaStage, [usize; 2]) {
    let setting = ReplicaSetting::plaza(SignatureKind::StandIn, seed);
    let mut stage = ReplicaStage::new(setting, Conditions::calm(10));
    // Nothing is done but what a test has them do.
    let manner = PersonProfile::lively(Duration::ZERO);
    let devices = [(0, 1), (1, 2)].map(|(seat, lane)| {
        let device = Person::with_lane(stage.setting(), ADA, seat, manner, lane).at_home(seat);
        stage.invite(SECOND / 2 * (seat as u32 + 1), device)
    });
    stage.run_until(3 * SECOND / 2);
    assert!(devices.iter().all(|device| stage.people[*device].is_open()));
    (stage, devices)
}

fn login() -> Act {
    Act::login("Ada".to_owned(), Look::default())
}

/// Signs an act on a device.
fn signs(stage: &mut ReplicaStage, device: usize, act: Act, words: Option<&str>) -> Seq {
    let seq = stage.prompt(device, |person, now| person.act(now, act, words));
    seq.expect("the session is open")
}

/// Waits until a device knows what came of its act.
fn outcome(stage: &mut ReplicaStage, device: usize, seq: Seq) -> Outcome {
    let told = |stage: &ReplicaStage| {
        let mut deeds = stage.people[device].deeds.values();
        deeds.find(|deed| deed.seq == seq).and_then(|deed| deed.told)
    };
    let limit = stage.world.now() + 2 * SECOND;
    assert!(stage.run_till(limit, |stage| told(stage).is_some()), "device {device}, {seq:?}");
    told(stage).expect("it was just there")
}

/// Does something on a device; first logs in again, and once, if the other one has the avatar.
fn does(stage: &mut ReplicaStage, device: usize, act: &Act, words: Option<&str>) -> Outcome {
    let seq = signs(stage, device, act.clone(), words);
    let first = outcome(stage, device, seq);
    if first != OTHER_SESSION {
        return first;
    }
    signs(stage, device, login(), None);
    let again = signs(stage, device, act.clone(), words);
    outcome(stage, device, again)
}

/// Says something on a device.
fn says(stage: &mut ReplicaStage, device: usize, words: &str) -> Outcome {
    let body = Blob(words.as_bytes().to_vec()).id();
    does(stage, device, &Act::Say { channel: 0, body }, Some(words))
}

#[test]
fn two_devices_of_one_key_act_in_turn_at_two_servers_and_both_see_what_comes_of_it() {
    let (mut stage, devices) = two_devices(1);

    for round in 0..4 {
        for (device, other) in [(devices[0], devices[1]), (devices[1], devices[0])] {
            let words = format!("round {round} of device {device}");
            assert_eq!(says(&mut stage, device, &words), Outcome::Ok);
            // The avatar is this device's now, and the other one's acts are refused until it takes the avatar back.
            assert_eq!(does(&mut stage, device, &Act::Emote(Emote::Wave), None), Outcome::Ok);
            let seq = signs(&mut stage, other, Act::Heartbeat, None);
            assert_eq!(outcome(&mut stage, other, seq), OTHER_SESSION);
            let east = Act::Walk { heading: metatopia_math::Vec2::X };
            assert_eq!(does(&mut stage, device, &east, None), Outcome::Ok);
            stage.run_for(SECOND / 4);
            let still = Act::Walk { heading: metatopia_math::Vec2::ZERO };
            assert_eq!(does(&mut stage, device, &still, None), Outcome::Ok);
        }
    }

    stage.run_for(SECOND);
    let places = devices.map(|device| {
        let scene = stage.people[device].scene.as_ref().expect("it sees");
        let me = scene.me.expect("the avatar is in sight");
        let seen = scene.objects.iter().find(|object| object.id == me);
        (me, seen.expect("it stands there").position)
    });
    assert_eq!(places[0], places[1], "both see the one avatar, and where it went");
    for device in devices {
        let heard = &stage.people[device].heard;
        for (round, of) in (0..4).flat_map(|round| devices.map(|of| (round, of))) {
            let words = format!("round {round} of device {of}");
            assert!(
                heard.iter().any(|line| line.ends_with(&words)),
                "{device}: {words}: {heard:?}"
            );
        }
    }
    let account = stage.finish(10 * SECOND);
    account.assert_sound();
    for device in devices {
        let person = &account.people[device];
        assert_eq!(person.refused().count(), 0, "no server refuses what another device signed");
        assert_eq!(person.receipted().count(), person.deeds.len());
    }
}

#[test]
fn two_devices_that_take_the_avatar_from_each_other_in_every_turn_both_get_something_done() {
    let (mut stage, devices) = two_devices(2);

    // Both log in and wave at once, forty times, whoever has the avatar.
    let mut waves: [Vec<Seq>; 2] = Default::default();
    for _ in 0..40 {
        for (waves, device) in waves.iter_mut().zip(devices) {
            signs(&mut stage, device, login(), None);
            waves.push(signs(&mut stage, device, Act::Emote(Emote::Wave), None));
        }
        stage.run_for(SECOND / 10);
    }

    let done = [0, 1].map(|n| {
        let outcomes = waves[n].iter().map(|seq| outcome(&mut stage, devices[n], *seq));
        let outcomes: Vec<Outcome> = outcomes.collect();
        assert!(
            outcomes.iter().all(|outcome| [Outcome::Ok, OTHER_SESSION].contains(outcome)),
            "{outcomes:?}"
        );
        outcomes.iter().filter(|outcome| **outcome == Outcome::Ok).count()
    });
    println!("waves that were done: {done:?}");
    assert!(done.iter().all(|done| *done >= 10), "{done:?}");
    // Once the other one rests, whichever it is, the next act is done.
    for device in devices {
        assert_eq!(says(&mut stage, device, "at last"), Outcome::Ok);
    }
    stage.finish(10 * SECOND).assert_sound();
}
