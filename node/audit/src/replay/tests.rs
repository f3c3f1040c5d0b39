use std::ops::ControlFlow;

use metatopia_sim::{Applied, Serial, Stage, Watch, World, flipped};
use metatopia_types::{Height, LeafKey, Root, Tick};

use super::*;
use crate::fixture::{capsule, steps};

/// Takes down the stages, and ends the replay after a height.
struct Recorder {
    stages: Vec<(Stage, Tick, Root)>,
    until: Height,
}

impl Watch for Recorder {
    fn enter(&mut self, _: Stage) {}

    fn is_heavy(&self) -> bool {
        true
    }

    fn left(&mut self, stage: Stage, tick: Tick, root: Root) {
        self.stages.push((stage, tick, root));
    }
}

impl TurnObserver for Recorder {
    fn applied(&mut self, applied: &Applied, _: &World) -> ControlFlow<()> {
        if applied.height < self.until { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

#[test]
fn stages_are_those_of_every_tick_and_the_last_one_leaves_the_root() {
    let steps = steps();
    let mut world = steps[2].world.clone();
    let mut recorder = Recorder { stages: Vec::new(), until: Height(4) };
    let applied = world.apply_watched(&steps[3].turn, &Serial, &mut recorder);
    let stages: Vec<(Stage, u64)> = recorder.stages.iter().map(|left| (left.0, left.1.0)).collect();
    let of_tick = |tick| [Stage::Physics, Stage::Scripts, Stage::Merge].map(|stage| (stage, tick));
    let expected =
        [vec![(Stage::Acts, 9)], of_tick(10).into(), of_tick(11).into(), of_tick(12).into()];
    assert_eq!(stages, expected.concat());
    assert_eq!(recorder.stages.last().map(|left| left.2), Some(applied.root));
    assert_eq!(
        (applied.root, &world.manifest()),
        (steps[3].world.root(), &steps[3].world.manifest())
    );
}

#[test]
fn stages_are_listed_from_a_height_on_and_hashed_from_the_first_on() {
    let (mut listing, mut hashing) = (StageHashes::new(Some(Height(5))), StageHashes::new(None));
    assert!(listing.are_listed() && !hashing.are_listed());
    for height in 3..7 {
        let tick = Tick(3 * height);
        let root = steps()[height as usize].world.root();
        let line = listing.left(Stage::Merge, tick, root);
        assert_eq!(hashing.left(Stage::Merge, tick, root), None);
        let expected = (height >= 5).then(|| format!("turn {height} tick {tick} merge    {root}"));
        assert_eq!(line.map(|line| line.to_string()), expected);
        listing.turn_over(Height(height));
        hashing.turn_over(Height(height));
    }
    assert_eq!(listing.finish(), hashing.finish());
}

#[test]
fn a_capsule_is_replayed_to_its_end_or_as_far_as_its_observer_wants() {
    let steps = steps();
    let roots: Vec<Root> = steps[2..9].iter().map(|step| step.world.root()).collect();
    let capsule = capsule(&steps, roots);
    let replay = replay_capsule(&capsule, &Serial, &mut ()).unwrap();
    assert_eq!((replay.fault, replay.divergence), (None, None));
    assert_eq!(replay.world.root(), steps[8].world.root());
    let mut recorder = Recorder { stages: Vec::new(), until: Height(5) };
    let replay = replay_capsule(&capsule, &Serial, &mut recorder).unwrap();
    assert_eq!(StateSummary::of(&replay.world).height, 5);
}

#[test]
fn the_first_root_that_its_writer_had_otherwise_is_named() {
    let steps = steps();
    let mut roots: Vec<Root> = steps[2..9].iter().map(|step| step.world.root()).collect();
    let had = flipped(&steps[6].world, &LeafKey("clock".into()), &tools());
    let had = had.expect("a clock has bits").root();
    roots[4] = had;
    let replay = replay_capsule(&capsule(&steps, roots), &Serial, &mut ()).unwrap();
    let found = steps[6].world.root();
    assert_eq!(replay.fault, None);
    assert_eq!(replay.divergence, Some(WriterDivergence { height: Height(7), had, found }));
}

#[test]
fn a_turn_without_a_quorum_ends_the_replay_before_it() {
    let steps = steps();
    let mut capsule = capsule(&steps, Vec::new());
    capsule.turns[3].1.signatures.pop();
    let replay = replay_capsule(&capsule, &Serial, &mut ()).unwrap();
    assert_eq!(replay.fault.map(|fault| fault.height), Some(Height(6)));
    assert_eq!(replay.world.height(), Height(5));
}
