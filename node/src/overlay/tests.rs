//! Real members on loopback, with real signatures. Bounds of time are far above what is measured; they keep
//! a broken test from hanging.

use std::time::{Duration, Instant};

use futures::future::join_all;
use metatopia_raynet::TilePoint;
use tokio::sync::watch;

use super::{member::LOOKUPS_PER_SECOND_MAX, start, trial};

/// `metatopia bench overlay` runs the same with 50 members and the cycle of a node.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_find_all_their_neighbours_and_find_new_ones_when_half_of_them_die() {
    let cycle = Duration::from_millis(500);
    let report = trial::run(16, cycle, Duration::from_secs(60)).await.unwrap();
    println!("{report:?}");
    assert!(report.frames > 0 && report.signatures >= 16 * 3, "{report:?}");
}

#[tokio::test]
async fn a_trial_of_too_few_or_too_many_is_refused() {
    for count in [3, metatopia_raynet::limits::GRANTS_PER_SHELF_MAX + 1] {
        let most = Duration::from_secs(1);
        let refused = trial::run(count, Duration::from_secs(1), most).await;
        assert!(matches!(refused, Err(trial::TrialError::Count(found)) if found == count));
    }
}

#[tokio::test]
async fn strangers_make_a_member_look_up_no_more_than_it_may_in_a_second() {
    let (_stop, stopped) = watch::channel(false);
    let member = start(trial::alone(), stopped).await.unwrap();
    let began = Instant::now();
    let (mut asked, mut answered) = (0, 0);
    for _ in 0..8 {
        let point = TilePoint { x: 1, y: 1 };
        let answers = join_all((0..60).map(|_| member.find(point))).await;
        asked += answers.len();
        answered += answers.iter().flatten().count();
    }
    // Beats are a second apart, and one may come at once.
    let beats = began.elapsed().as_secs() as usize + 2;
    let most = LOOKUPS_PER_SECOND_MAX as usize * beats;
    assert!(answered >= LOOKUPS_PER_SECOND_MAX as usize, "{answered}");
    assert!(answered <= most, "{answered} of {asked} in {beats} beats");
}
