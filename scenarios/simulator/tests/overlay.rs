//! The overlay of a small world keeps its promises, and is the same for the same seed.

use metatopia_simulator::overlay::{
    OverlayPlay, OverlayPlayed, OverlayScene, rows::worst, variants::compare,
};

fn play(scene: OverlayScene, seed: u64) -> OverlayPlayed {
    OverlayPlay { scene, sites: 100, cycles: None, is_warm: false }.play(seed)
}

fn assert_kept(scene: OverlayScene) {
    assert_rows_kept(play(scene, 1));
}

fn assert_rows_kept(played: OverlayPlayed) {
    for row in worst(played.rows) {
        assert!(row.is_kept(), "seed 1: {row:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_world_and_another_one_another() {
    let digest = |seed: u64| play(OverlayScene::Kill(500_000), seed).digest;
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}

/// A digest that moves says that members do something else than before, on this machine or in this build: whoever
/// means that puts the new one here.
#[test]
fn a_world_has_the_same_digest_in_every_build() {
    let digest = play(OverlayScene::Kill(500_000), 1).digest.to_string();
    assert_eq!(digest, "ec0914e700f67e13d6587eaf3b7505f6b9f0cdcb054bf108567e02e70c5a0e4b");
}

#[test]
fn a_world_at_rest_is_quiet_and_all_its_routes_arrive() {
    assert_kept(OverlayScene::Rest);
}

#[test]
fn half_of_the_sites_may_die() {
    assert_kept(OverlayScene::Kill(500_000));
}

#[test]
fn a_hole_in_the_world_closes() {
    assert_kept(OverlayScene::Hole(300_000));
}

#[test]
fn liars_get_nothing_forged_into_a_view() {
    assert_kept(OverlayScene::Forgers(100_000));
}

#[test]
fn newcomers_are_known_after_three_cycles() {
    assert_kept(OverlayScene::Join(100_000));
}

#[test]
fn a_hundredth_of_the_sites_may_leave_and_come_in_each_of_20_cycles() {
    let scene = OverlayScene::Churn(10_000);
    let play = OverlayPlay { scene, sites: 100, cycles: Some(20), is_warm: false };
    assert_rows_kept(play.play(1));
}

#[test]
fn a_fifth_of_all_frames_may_be_lost() {
    assert_kept(OverlayScene::Loss(200_000));
}

#[test]
fn the_algorithms_beside_it_lose_what_it_keeps() {
    for (name, [before, after]) in compare(300, 1, 500_000, [15, 12]) {
        assert!(before.0 > 500_000, "{name} found {} millionths of the neighbours", before.0);
        assert!(after.0 < 999_000, "{name} has {} millionths after half died", after.0);
    }
}
