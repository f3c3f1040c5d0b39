//! A restored region goes on with the same bits, whatever was done to it before and afterwards.

use metatopia_physics::Region;
use metatopia_physics_rapier::{Newton2, RestoreTierError, limits};

use crate::scenes::SCENES;
use crate::{newton2, restored};

/// Each step begins from what was read back, so nothing can hide that is not in the state.
fn plays_alike(name: &str, steps: u64) {
    let scene = SCENES.iter().find(|scene| scene.name == name).expect("a scene");
    let mut whole = newton2((scene.build)());
    let mut read_back = newton2((scene.build)());
    for step in 0..steps {
        read_back = restored(&read_back);
        let events = scene.step_events(&mut whole, step);
        assert_eq!(events, scene.step_events(&mut read_back, step), "{name} {step}");
        assert_eq!(whole, read_back, "{name} after step {step}");
    }
}

#[test]
fn a_pile_that_is_edited_is_read_back_before_each_of_2000_steps() {
    plays_alike("quarry", 2_000);
}

#[test]
fn bodies_of_all_masses_are_read_back_before_each_of_2000_steps() {
    plays_alike("workshop", 2_000);
}

#[test]
fn joints_that_are_made_driven_and_broken_are_read_back_before_each_of_2000_steps() {
    plays_alike("playground", 2_000);
    plays_alike("mobile", 2_000);
}

#[test]
fn compounds_that_are_edited_are_read_back_before_each_of_2000_steps() {
    plays_alike("tumbler", 2_000);
}

#[test]
fn walkers_and_what_notices_them_are_read_back_before_each_step() {
    plays_alike("crowd", 600);
}

#[test]
fn what_kinematic_bodies_push_is_read_back_before_each_step() {
    plays_alike("bulldozer", 600);
    plays_alike("turntable", 600);
    plays_alike("billiards", 600);
}

#[test]
fn a_region_that_is_restored_without_what_rapier_cached_diverges() {
    // The control of the laws above: they would not hold by the bodies and contacts alone.
    let scene = &SCENES[5];
    let (mut whole, mut forgetful) = (newton2((scene.build)()), newton2((scene.build)()));
    for step in 0..300 {
        scene.step(&mut whole, step);
        scene.step(&mut forgetful, step);
    }
    assert_eq!(whole, forgetful);
    forgetful = forgetful.with_tier(Box::new(Newton2::new())).expect("a scene has few bodies");
    let differs = (300..330).any(|step| {
        scene.step(&mut whole, step);
        scene.step(&mut forgetful, step);
        whole.bodies() != forgetful.bodies()
    });
    assert!(differs);
}

/// A run that was interrupted once is the usual case, and then working memory is young on one side only.
#[test]
fn a_region_that_is_restored_once_goes_on_as_its_copy_and_the_original_do() {
    for scene in &SCENES {
        let mut whole = newton2((scene.build)());
        for step in 0..300 {
            scene.step(&mut whole, step);
        }
        let (mut read_back, mut copy) = (restored(&whole), whole.clone());
        for step in 300..900 {
            let touches = scene.step(&mut whole, step);
            assert_eq!(touches, scene.step(&mut read_back, step), "{} {step}", scene.name);
            assert_eq!(touches, scene.step(&mut copy, step), "{} {step}", scene.name);
        }
        assert_eq!(whole, read_back, "{}", scene.name);
        assert_eq!(whole, copy, "{}", scene.name);
    }
}

#[test]
fn a_state_between_a_command_and_a_step_is_a_state_too() {
    let scene = &SCENES[5];
    let mut whole = newton2((scene.build)());
    for step in 0..200 {
        scene.step(&mut whole, step);
    }
    scene.command(&mut whole, 210);
    scene.command(&mut whole, 255);
    let mut read_back = restored(&whole);
    for step in 201..400 {
        assert_eq!(scene.step(&mut whole, step), scene.step(&mut read_back, step), "{step}");
        assert_eq!(whole, read_back, "{step}");
    }
}

fn warm_state() -> Vec<u8> {
    let mut region = newton2((SCENES[5].build)());
    (0..60).for_each(|_| drop(region.step()));
    region.tier_state().expect("a state")
}

#[test]
fn a_state_of_another_version_is_refused_with_both_versions() {
    let mut state = warm_state();
    state[0] += 1;
    let refused = Newton2::restore(&state).expect_err("another format");
    assert_eq!(refused, RestoreTierError::Version { format: 2, rapier: "0.36.1".to_owned() });
    assert!(refused.to_string().contains("this is format 1 of 0.36.1"), "{refused}");
    state[0] -= 1;
    state[2] = b'9';
    let refused = Newton2::restore(&state).expect_err("another version of rapier");
    assert_eq!(refused, RestoreTierError::Version { format: 1, rapier: "9.36.1".to_owned() });
}

#[test]
fn a_state_that_is_cut_or_longer_or_oversized_is_refused() {
    let state = warm_state();
    for length in [0, 1, 5, 9, 200, state.len() / 2, state.len() - 1] {
        let refused = Newton2::restore(&state[..length]).expect_err("a part of a state");
        assert_eq!(refused, RestoreTierError::Malformed, "{length}");
    }
    let longer = [state.as_slice(), &[0]].concat();
    assert_eq!(Newton2::restore(&longer).expect_err("longer"), RestoreTierError::Malformed);
    let oversized = vec![0; limits::STATE_BYTES_MAX + 1];
    let refused = Newton2::restore(&oversized).expect_err("oversized");
    assert_eq!(refused, RestoreTierError::Oversize(oversized.len()));
}

#[test]
fn a_tier_begins_cold_and_its_cold_state_is_a_state() {
    let cold = newton2(Region::new());
    let state = cold.tier_state().expect("a state");
    assert!(Newton2::restore(&state).expect("the cold state").is_cold());
    assert!(!Newton2::restore(&warm_state()).expect("a warm state").is_cold());
}
