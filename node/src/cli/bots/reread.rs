//! Reading all turns again: is every act with a receipt in the log of every server?

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use futures::future::join_all;
use metatopia_client_driver::{ClientDriver, GenesisTrust, NodeUrl, passing_key};
use metatopia_types::{ActId, HeaderId, Height, SignedEnvelope};

use crate::cli::{Exit, Failure};

/// Time for a server to have a turn: one that was started again may have to catch up.
const TURN: Duration = Duration::from_secs(20);

/// What one server hands out.
struct RereadTurns {
    missing: BTreeSet<ActId>,
    turns: BTreeMap<Height, HeaderId>,
}

/// Counts the acts that are missing in the turn of any of the servers. The failure is about servers
/// that could not be read, or that hold different turns.
pub(super) async fn lost(
    nodes: &[NodeUrl],
    trust: &GenesisTrust,
    receipts: &BTreeMap<Height, BTreeSet<ActId>>,
) -> (u64, Result<(), Failure>) {
    let readings = join_all(nodes.iter().map(|node| read(node, trust, receipts))).await;
    let (mut missing, mut failed) = (BTreeSet::new(), Ok(()));
    let mut turns: BTreeMap<Height, HeaderId> = BTreeMap::new();
    for (node, reading) in nodes.iter().zip(readings) {
        let reading = match reading {
            Ok(reading) => reading,
            Err(mut failure) => {
                failure.message = format!("the turns of {node} were not read: {failure}");
                failed = failed.and(Err(failure));
                continue;
            }
        };
        missing.extend(reading.missing);
        for (height, id) in reading.turns {
            if *turns.entry(height).or_insert(id) != id {
                let message = format!("{node} holds another turn {height} than the servers before");
                failed = Err(Failure::new(Exit::Diverged, message));
            }
        }
    }
    (missing.len() as u64, failed)
}

async fn read(
    node: &NodeUrl,
    trust: &GenesisTrust,
    receipts: &BTreeMap<Height, BTreeSet<ActId>>,
) -> Result<RereadTurns, Failure> {
    let key = passing_key();
    let mut driver = ClientDriver::open(vec![node.clone()], trust.clone(), key).await?;
    let (mut missing, mut turns) = (BTreeSet::new(), BTreeMap::new());
    for (height, acts) in receipts {
        let (turn, _) = driver.prove_turn(*height, TURN).await?;
        turns.insert(*height, turn.id());
        let there: BTreeSet<ActId> = turn.body.acts().iter().map(SignedEnvelope::id).collect();
        missing.extend(acts.difference(&there));
    }
    driver.leave().await;
    Ok(RereadTurns { missing, turns })
}
