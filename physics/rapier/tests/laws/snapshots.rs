//! A region whose bodies this tier moves goes on from a snapshot with the same bits.

use metatopia_math::Stream;
use metatopia_physics::{
    NEWTON1, Region, RegionCommand, RegionRecorder, RegionReplay, RegionSnapshotError, TierMaker,
    TierStateError, TooManyForTier,
};
use metatopia_physics_rapier::{Newton2, Newton2Maker, limits::BODIES_MAX};
use metatopia_types::Digest;

use crate::draws::command;
use crate::newton2;
use crate::scenes::{SCENES, at, circle, moving, put};

const MAKERS: [&dyn TierMaker; 1] = [&Newton2Maker];

#[test]
fn a_region_from_a_snapshot_goes_on_with_the_same_bits_for_500_steps_of_each_scene() {
    for scene in &SCENES {
        let mut region = newton2((scene.build)());
        for step in 0..150 {
            scene.step(&mut region, step);
        }
        let bytes = region.snapshot();
        let mut restored = Region::from_snapshot_with(&bytes, &MAKERS).expect("its own snapshot");
        assert_eq!(restored.snapshot(), bytes, "{}", scene.name);
        for step in 150..650 {
            let events = scene.step_events(&mut region, step);
            assert_eq!(scene.step_events(&mut restored, step), events, "{} {step}", scene.name);
            if step % 10 == 0 {
                assert_eq!(restored.digest(), region.digest(), "{} step {step}", scene.name);
            }
        }
        assert_eq!(restored.snapshot(), region.snapshot(), "{}", scene.name);
    }
}

#[test]
fn random_streams_go_on_alike_from_a_snapshot_in_their_middle() {
    for seed in 0..24 {
        let mut dice = Stream::new(&[9; 32], "newton2.streams", &[seed]);
        let mut region = newton2(Region::new().with_gravity(at(0, -1_000)));
        for _ in 0..seed * 10 {
            region.apply(&command(&mut dice, &region));
        }
        let bytes = region.snapshot();
        let mut restored = Region::from_snapshot_with(&bytes, &MAKERS).expect("its own snapshot");
        for index in seed * 10..400 {
            let command = command(&mut dice, &region);
            let reply = region.apply(&command);
            assert_eq!(restored.apply(&command), reply, "seed {seed} command {index}");
        }
        assert_eq!(restored.snapshot(), region.snapshot(), "seed {seed}");
    }
}

#[test]
fn a_recording_of_this_tier_plays_again_where_the_tier_is() {
    let scene = &SCENES[6];
    let mut recorder = RegionRecorder::new(newton2((scene.build)()));
    for step in 0..80 {
        for command in (scene.commands)(step) {
            recorder.apply(command);
        }
        recorder.apply(RegionCommand::Step);
    }
    let bytes = recorder.finish();
    let mut replay = RegionReplay::open(&bytes, &MAKERS).expect("a recording");
    while let Some(tick) = replay.next_tick().expect("a record") {
        assert!(tick.agrees(), "step {}", tick.tick);
    }
    assert!(RegionReplay::open(&bytes, &[]).is_err());
}

/// Changes what is between the head of a snapshot and its digest, and seals it again.
fn resealed(snapshot: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = snapshot[..snapshot.len() - 32].to_vec();
    change(&mut bytes);
    let digest = Digest::of("metatopia-physics snapshot", &bytes);
    bytes.extend(digest.0);
    bytes
}

#[test]
fn a_snapshot_is_refused_where_its_tier_is_not_and_one_without_is_taken() {
    let bytes = newton2(Region::new()).snapshot();
    let tier = "newton2, format 1, rapier2d 0.36.1".to_owned();
    let refused = Region::from_snapshot(&bytes).expect_err("no tier is at hand");
    assert_eq!(refused, RegionSnapshotError::Tier { tier, known: NEWTON1.to_owned() });
    let plain = Region::from_snapshot_with(&Region::new().snapshot(), &MAKERS);
    assert!(plain.is_ok_and(|region| region.tier().is_none()));
}

#[test]
fn a_snapshot_with_a_damaged_state_of_the_tier_or_too_many_bodies_is_refused() {
    let mut region = newton2((SCENES[5].build)());
    region.step();
    let cut = resealed(&region.snapshot(), |bytes| bytes.truncate(bytes.len() - 1));
    let refused = Region::from_snapshot_with(&cut, &MAKERS).expect_err("a part of a state");
    let text = "the bytes are no state of the tier".to_owned();
    assert_eq!(refused, RegionSnapshotError::TierState(TierStateError(text)));

    let mut crowd = Region::new();
    for n in 0..=BODIES_MAX as u64 {
        put(&mut crowd, n, moving(circle(20), at(n as i64 % 50 * 100, n as i64 / 50 * 100)));
    }
    let cold = newton2(Region::new());
    let (tier, state) = (cold.tier().expect("a tier").name(), cold.tier_state().expect("a state"));
    let many = resealed(&crowd.snapshot(), |bytes| {
        // Behind the head of seven bytes and the length of four are that of the name, in one byte, and the name.
        let rest = bytes.split_off(12 + NEWTON1.len());
        bytes.truncate(7);
        let length = (1 + tier.len() + rest.len()) as u32;
        bytes.extend(length.to_le_bytes());
        bytes.push(tier.len() as u8);
        bytes.extend([tier.as_bytes(), &rest, &state].concat());
    });
    let refused = Region::from_snapshot_with(&many, &MAKERS).expect_err("too many bodies");
    let (bodies, max) = (BODIES_MAX + 1, BODIES_MAX);
    assert_eq!(refused, RegionSnapshotError::TooMany(TooManyForTier { tier, bodies, max }));
    assert!(Newton2::restore(&state).is_ok());
}
