//! Commands as values: they do what the methods do, and what is recorded plays again alike.

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_physics::{
    MissingBody, RecordingError, Region, RegionCommand, RegionRecorder, RegionReplay, RegionReply,
    RegionSnapshotError,
};
use metatopia_types::{Digest, ObjectId, wire};
use proptest::prelude::*;

use crate::draws::command;
use crate::scenes::{SCENES, at, circle, moving};

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// The commands are decoded again, as on another machine.
    #[test]
    fn a_random_stream_goes_on_alike_from_a_snapshot_in_its_middle(
        seed in any::<u64>(),
        cut in 0..250_usize,
    ) {
        let mut dice = Stream::new(&[9; 32], "physics.streams", &[seed]);
        let mut region = Region::new().with_gravity(at(0, -1_000)).with_hits(Some(Fx::ONE));
        for _ in 0..cut {
            region.apply(&command(&mut dice, &region));
        }
        let mut restored = Region::from_snapshot(&region.snapshot()).expect("its own snapshot");
        for _ in cut..400 {
            let command = command(&mut dice, &region);
            let bytes = wire::encode(&command);
            let decoded: RegionCommand = wire::decode(&bytes, bytes.len()).expect("a command");
            let reply = region.apply(&command);
            prop_assert_eq!(&restored.apply(&decoded), &reply);
            let bytes = wire::encode(&reply);
            prop_assert_eq!(wire::decode::<RegionReply>(&bytes, bytes.len()), Ok(reply));
        }
        prop_assert_eq!(restored.snapshot(), region.snapshot());
    }

    #[test]
    fn a_damaged_recording_is_refused_or_differs_and_never_panics(
        at in any::<prop::sample::Index>(),
        bit in 0..8_u8,
    ) {
        let whole = recorded(6, 8);
        let mut flipped = whole.clone();
        let at = at.index(whole.len());
        flipped[at] ^= 1 << bit;
        prop_assert!(replayed(&flipped).is_err());
        prop_assert!(replayed(&whole[..at]).is_err());
    }
}

/// Returns a recording of some steps of a scene.
fn recorded(scene: usize, steps: u64) -> Vec<u8> {
    let scene = &SCENES[scene];
    scene.recorder((scene.build)(), steps).finish()
}

/// Plays a recording. Returns the number of steps that agree and the region after them.
fn replayed(bytes: &[u8]) -> Result<(u64, Region), RecordingError> {
    let mut replay = RegionReplay::open(bytes, &[])?;
    let mut agreed = 0;
    while let Some(tick) = replay.next_tick()? {
        assert!(tick.agrees(), "step {}", tick.tick);
        agreed += 1;
    }
    Ok((agreed, replay.region().clone()))
}

#[test]
fn the_recording_of_each_scene_plays_again_to_the_same_region() {
    for (index, scene) in SCENES.iter().enumerate() {
        let mut region = (scene.build)();
        for step in 0..120 {
            scene.step(&mut region, step);
        }
        let (agreed, replayed) = replayed(&recorded(index, 120)).expect("a recording");
        assert_eq!(agreed, 120, "{}", scene.name);
        assert_eq!(replayed, region, "{}", scene.name);
    }
}

#[test]
fn a_refused_command_says_what_the_method_says_and_is_recorded_too() {
    let mut recorder = RegionRecorder::new(Region::new());
    let gone = ObjectId(7);
    let reply = recorder.apply(RegionCommand::SetVelocity(gone, Vec2::X));
    assert_eq!(reply, RegionReply::Refused(MissingBody(gone).to_string()));
    // There is no step behind it.
    let bytes = recorder.finish();
    let mut replay = RegionReplay::open(&bytes, &[]).expect("a recording");
    let tick = replay.next_tick().expect("a record").expect("commands without a step");
    assert!(tick.agrees());
    assert_eq!(tick.replies, [reply]);
    assert_eq!(replay.next_tick(), Ok(None));
}

/// Writes a record as a recorder does.
fn record(before: &mut [u8; 8], content: &[u8]) -> Vec<u8> {
    let all = [before.as_slice(), content].concat();
    let check = Digest::of("metatopia-physics record", &all);
    before.copy_from_slice(&check.0[..8]);
    let length = (content.len() as u32).to_le_bytes();
    [length.as_slice(), before.as_slice(), content].concat()
}

#[test]
fn what_is_wrong_with_a_recording_is_told_with_its_offset() {
    let fault = |bytes: &[u8]| replayed(bytes).expect_err("no recording");
    let whole = recorded(0, 3);
    assert_eq!(fault(b"a song"), RecordingError::Foreign);
    assert_eq!(fault(b"stream\x09"), RecordingError::Format(9));
    assert_eq!(fault(b"stream"), RecordingError::CutOff(6));
    assert_eq!(fault(&whole[..30]), RecordingError::CutOff(7));
    let end = whole.len() - 12;
    assert_eq!(fault(&whole[..end]), RecordingError::CutOff(end));
    assert_eq!(fault(&[&whole, [0].as_slice()].concat()), RecordingError::Trailing(whole.len()));
    let mut replay = RegionReplay::open(&whole, &[]).expect("a recording");
    let first = replay.next_tick().expect("a record").expect("a step").offset;
    let second = replay.next_tick().expect("a record").expect("a step").offset;
    let mut damaged = whole.clone();
    damaged[second + 20] ^= 1;
    let error = fault(&damaged);
    assert_eq!(error, RecordingError::Damaged(second));
    assert!(error.to_string().contains(&format!("byte {second}")), "{error}");
    let mut before = [0; 8];
    let snapshot = record(&mut before, &Region::new().snapshot());
    let head = [b"stream\x01", snapshot.as_slice()].concat();
    let nonsense = [head.as_slice(), &record(&mut before, b"nonsense")].concat();
    assert_eq!(fault(&nonsense), RecordingError::Malformed(head.len()));
    let letter = [b"stream\x01", record(&mut [0; 8], b"a letter").as_slice()].concat();
    assert_eq!(fault(&letter), RecordingError::Snapshot(RegionSnapshotError::Foreign));
    assert!(first < second);
}

#[test]
fn a_recording_that_another_engine_wrote_differs_at_the_step_where_it_parted() {
    let mut before = [0; 8];
    let snapshot = record(&mut before, &Region::new().snapshot());
    let ball = RegionCommand::Insert(ObjectId(1), Box::new(moving(circle(30), at(0, 0))));
    let tick = wire::encode(&(vec![ball, RegionCommand::Step], Digest::ZERO));
    let tick = record(&mut before, &tick);
    let end = record(&mut before, &[]);
    let bytes = [b"stream\x01", snapshot.as_slice(), &tick, &end].concat();
    let mut replay = RegionReplay::open(&bytes, &[]).expect("a recording");
    let tick = replay.next_tick().expect("a record").expect("a step");
    assert!(!tick.agrees());
    assert_eq!((tick.tick, tick.recorded), (1, Digest::ZERO));
}
