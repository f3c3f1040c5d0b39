//! Crashes at every moment: nothing is said twice differently, and it goes on.

use super::cluster::Cluster;

/// Every server crashes again and again, with the end of its log lost, torn or kept; sometimes all of
/// them do at once.
fn storm(cluster: &mut Cluster) -> usize {
    cluster.delay_us = (1_000, 19_000);
    cluster.loss_percent = 2;
    cluster.sync_us = 4_000;
    cluster.start_all();
    let mut crashes = 0;
    for _ in 0..30 {
        let pause = 40 + cluster.chance(120);
        cluster.run_for(pause);
        let all = cluster.chance(10) == 0;
        let one = cluster.chance(4) as usize;
        let victims: Vec<usize> = (0..4).filter(|at| all || *at == one).collect();
        for at in &victims {
            let kept = [0, 1, 2, 100][cluster.chance(4) as usize];
            cluster.crash(*at, kept);
            crashes += 1;
        }
        let pause = [0, 3, 120][cluster.chance(3) as usize];
        cluster.run_for(pause);
        for at in victims {
            cluster.open(at);
        }
    }
    crashes
}

/// Ends the storm, and checks that the cluster goes on.
fn calm(cluster: &mut Cluster) {
    cluster.loss_percent = 0;
    let heights = cluster.servers.iter().map(|s| s.agreement().height().0);
    let goal = heights.max().unwrap() + 10;
    cluster.run_to(goal, 20_000);
}

#[test]
fn storms_of_crashes_lead_to_no_double_vote_and_no_standstill() {
    let mut crashes = 0;
    for seed in 0..40 {
        let mut cluster = Cluster::new(4, seed);
        crashes += storm(&mut cluster);
        calm(&mut cluster);
    }

    assert!(crashes > 1_200, "{crashes}");
}

/// Crashes server 1 right after its k-th record, for every k.
#[test]
fn a_crash_after_any_record_is_survived() {
    for kept in [0, 1, 1_000] {
        for k in 0..150 {
            let mut cluster = Cluster::new(4, 7);
            cluster.delay_us = (1_000, 4_000);
            cluster.sync_us = 3_000;
            cluster.start_all();
            while cluster.servers[1].log.len() < 20 + k {
                assert!(cluster.step());
            }

            cluster.crash(1, kept);
            cluster.run_for(k as u64 % 3 * 40);
            cluster.open(1);

            let goal = cluster.servers[0].agreement().height().0 + 8;
            cluster.run_to(goal, 5_000);
        }
    }
}

/// Each safety rule is broken on purpose: these storms must show it.
#[cfg(feature = "controls")]
mod controls {
    use super::*;
    use crate::{AgreementControls, Halt};

    fn storms(controls: AgreementControls, seeds: u64) -> Vec<Cluster> {
        let stormy = (0..seeds).map(|seed| {
            let mut cluster = Cluster::new(4, seed);
            cluster.controls = controls;
            storm(&mut cluster);
            cluster
        });
        stormy.collect()
    }

    fn with_double_votes(storms: &[Cluster]) -> usize {
        storms.iter().filter(|cluster| !cluster.faults.is_empty()).count()
    }

    #[test]
    fn messages_that_do_not_wait_for_the_log_lead_to_double_votes() {
        let controls = AgreementControls { no_barrier: true, ..AgreementControls::default() };

        let found = with_double_votes(&storms(controls, 40));

        assert!(found > 5, "{found}");
    }

    #[test]
    fn judging_while_the_log_is_read_again_stops_servers_for_good() {
        let controls = AgreementControls { eager_replay: true, ..AgreementControls::default() };

        let storms = storms(controls, 100);

        let servers = storms.iter().flat_map(|cluster| &cluster.servers);
        let halted = servers.filter(|s| matches!(s.halted, Some(Halt::Replay { .. })));
        assert!(halted.count() > 0);
    }

    #[test]
    fn without_the_index_the_same_mistake_is_a_double_vote() {
        let controls = AgreementControls {
            eager_replay: true,
            no_index: true,
            ..AgreementControls::default()
        };

        let found = with_double_votes(&storms(controls, 100));

        assert!(found > 0);
    }
}
