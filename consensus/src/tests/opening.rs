//! Logs that no agreement wrote, and that none goes on from.

use metatopia_types::Height;

use super::cluster::{Cluster, Machine};
use crate::{Agreement, OpenAgreementError, Record};

/// Says what is wrong with this log of server 1, if something is.
fn fault(cluster: &Cluster, log: Vec<Record>) -> Option<OpenAgreementError> {
    let (config, now) = (cluster.config(1), cluster.now(1));
    let base = cluster.servers[1].base.clone();
    Agreement::open(config, base, log, now, &mut Machine::default()).err()
}

/// Returns whether this record says what the turn of this height led to.
fn is_state(record: &Record, of: u64) -> bool {
    matches!(record, Record::Applied { height, .. } if height.0 == of)
}

#[test]
fn a_log_that_leaves_out_a_state_or_tells_it_before_its_turn_is_not_opened() {
    let mut cluster = Cluster::new(4, 2);
    cluster.start_all();
    cluster.run_to(10, 5_000);
    cluster.crash(1, 1_000);
    let log = cluster.servers[1].log.clone();
    assert_eq!(fault(&cluster, log.clone()), None);

    let mut gap = log.clone();
    gap.retain(|record| !is_state(record, 3));
    assert_eq!(fault(&cluster, gap), Some(OpenAgreementError::Gap(Height(4))));

    let mut early = log;
    let first = early.iter().position(|record| is_state(record, 1)).expect("turn 1 was applied");
    let state = early.remove(first);
    early.insert(0, state);
    assert_eq!(fault(&cluster, early), Some(OpenAgreementError::Gap(Height(1))));
}
