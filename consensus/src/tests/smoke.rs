//! It works at all.

use metatopia_types::Height;

use super::cluster::Cluster;

#[test]
fn four_servers_decide_twenty_heights() {
    let mut cluster = Cluster::new(4, 1);
    cluster.start_all();

    cluster.run_to(20, 2_000);

    let tips: Vec<_> = cluster.servers.iter().map(|s| s.told[&Height(20)]).collect();
    assert!(tips.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn one_server_is_a_quorum_of_its_own() {
    let mut cluster = Cluster::new(1, 1);
    cluster.start_all();

    cluster.run_to(20, 2_000);
}

#[test]
fn seven_servers_agree_over_a_bad_network() {
    for seed in 0..10 {
        let mut cluster = Cluster::new(7, seed);
        cluster.delay_us = (1_000, 30_000);
        cluster.loss_percent = 5;
        cluster.sync_us = 2_000;
        cluster.start_all();

        cluster.run_to(40, 60_000);
    }
}
