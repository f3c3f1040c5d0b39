//! Reads all turns again, to check that every act with a receipt is in the log of every server.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use futures::future::join_all;
use metatopia_client_driver::{ClientDriver, GenesisTrust, NodeUrl, passing_key};
use metatopia_types::{ActId, HeaderId, Height, SignedEnvelope};

use crate::LoadError;

/// The time that a server has to have a turn. A server that was started again may have to catch up.
const TURN: Duration = Duration::from_secs(20);

/// The turns that one server hands out.
struct RereadTurns {
    missing: BTreeSet<ActId>,
    turns: BTreeMap<Height, HeaderId>,
}

/// Counts the acts that are missing in the turn of any of the servers. The error is about servers
/// that could not be read, or that hold different turns.
pub async fn lost(
    nodes: &[NodeUrl],
    trust: &GenesisTrust,
    receipts: &BTreeMap<Height, BTreeSet<ActId>>,
) -> (u64, Result<(), LoadError>) {
    let readings = join_all(nodes.iter().map(|node| read(node, trust, receipts))).await;
    let (mut missing, mut failed) = (BTreeSet::new(), Ok(()));
    let mut turns: BTreeMap<Height, HeaderId> = BTreeMap::new();
    for (node, reading) in nodes.iter().zip(readings) {
        let reading = match reading {
            Ok(reading) => reading,
            Err(error) => {
                let unread = LoadError::Unread { node: node.clone(), error: Box::new(error) };
                failed = failed.and(Err(unread));
                continue;
            }
        };
        missing.extend(reading.missing);
        for (height, id) in reading.turns {
            if *turns.entry(height).or_insert(id) != id {
                failed = Err(LoadError::OtherTurn { node: node.clone(), height });
            }
        }
    }
    (missing.len() as u64, failed)
}

async fn read(
    node: &NodeUrl,
    trust: &GenesisTrust,
    receipts: &BTreeMap<Height, BTreeSet<ActId>>,
) -> Result<RereadTurns, LoadError> {
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
