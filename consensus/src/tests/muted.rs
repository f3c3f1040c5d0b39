//! Servers whose disk is full: they follow, say nothing that they could forget, and vote again.

use metatopia_types::Height;

use super::cluster::Cluster;

fn cluster(seed: u64) -> Cluster {
    let mut cluster = Cluster::new(4, seed);
    cluster.delay_us = (1_000, 9_000);
    cluster.sync_us = 3_000;
    cluster.start_all();
    cluster
}

#[test]
fn a_server_whose_log_cannot_grow_follows_without_a_vote_and_votes_again() {
    for seed in 0..20 {
        let mut cluster = cluster(seed);
        cluster.run_to(8 + seed % 3, 5_000);
        let pause = cluster.chance(60);
        cluster.run_for(pause);
        cluster.fill(3);
        let full_at = cluster.servers[3].agreement().height();

        cluster.run_to(full_at.0 + 20, 10_000);

        let voted = cluster.last_vote(3);
        assert!(voted <= full_at, "seed {seed}: it voted at {voted}, full at {full_at}");
        assert!(!cluster.servers[3].agreement().is_voting());
        let told = &cluster.servers[3].told;
        let gap = (1..full_at.0 + 20).map(Height).find(|height| !told.contains_key(height));
        assert_eq!(gap, None, "seed {seed}: nothing that was decided is held back");

        cluster.make_room(3);
        let height = cluster.servers[3].agreement().height();
        cluster.run_to(height.0 + 5, 5_000);
        assert!(cluster.servers[3].agreement().is_voting());
        assert!(cluster.last_vote(3) > height);
    }
}

#[test]
fn a_world_that_needs_the_full_server_waits_for_its_room() {
    let mut cluster = cluster(1);
    cluster.run_to(8, 5_000);
    cluster.crash(0, 0);
    cluster.fill(3);
    cluster.run_for(2_000);
    let height = cluster.servers[1].agreement().height();
    cluster.run_for(5_000);
    assert_eq!(cluster.servers[1].agreement().height(), height, "two votes decide nothing");

    cluster.make_room(3);

    cluster.run_to(height.0 + 5, 10_000);
}

#[test]
fn whatever_fills_and_crashes_nothing_is_said_twice_differently() {
    let (mut fills, mut crashes) = (0, 0);
    for seed in 0..40 {
        let mut cluster = cluster(seed);
        cluster.loss_percent = 2;
        for _ in 0..40 {
            let pause = 20 + cluster.chance(120);
            cluster.run_for(pause);
            let at = cluster.chance(4) as usize;
            match (cluster.chance(3), cluster.servers[at].full) {
                (0, _) => {
                    let kept = [0, 1, 100][cluster.chance(3) as usize];
                    cluster.crash(at, kept);
                    cluster.open(at);
                    crashes += 1;
                }
                (_, true) => cluster.make_room(at),
                (_, false) => {
                    cluster.fill(at);
                    fills += 1;
                }
            }
        }
        cluster.loss_percent = 0;
        for at in 0..4 {
            if cluster.servers[at].full {
                cluster.make_room(at);
            }
        }
        let heights = cluster.servers.iter().map(|server| server.agreement().height().0);
        let goal = heights.max().unwrap() + 10;
        cluster.run_to(goal, 20_000);
    }
    assert!(fills > 300 && crashes > 300, "{fills} and {crashes}");
}
