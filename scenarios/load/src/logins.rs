//! Many newcomers who come in one after the other, each over a connection of its own.

use std::time::Duration;

use metatopia_client_driver::{GenesisTrust, NodeUrl};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until, timeout},
};

use crate::{
    LoadError,
    bots::{BotPlayer, Pattern},
};

/// The time that one newcomer has to come in.
const ENTER: Duration = Duration::from_secs(30);

/// The settings of a stream of newcomers.
#[derive(Clone, Copy, Debug)]
pub struct NewcomerSettings {
    /// The number of newcomers, each with a new key and a new connection.
    pub count: u32,
    /// The time over which they begin to connect, one after the other.
    pub over: Duration,
    /// The time after which all of them leave, from the start. It is longer than `over`.
    pub stay: Duration,
}

/// Lets newcomers come in, stay and leave. Returns the time that each took from its connection to the decided
/// outcome of its login, ascending.
///
/// # Errors
/// See [`LoadError`].
pub async fn come_in(
    nodes: &[NodeUrl],
    trust: &GenesisTrust,
    newcomers: NewcomerSettings,
) -> Result<Vec<Duration>, LoadError> {
    let NewcomerSettings { count, over, stay } = newcomers;
    let begin = Instant::now();
    let mut tasks = JoinSet::new();
    for index in 0..count {
        let first = index as usize % nodes.len();
        let nodes = [&nodes[first..], &nodes[..first]].concat();
        let trust = trust.clone();
        tasks.spawn(async move {
            let start = begin + over * index / count;
            sleep_until(start).await;
            let pattern = Pattern::new(0, u64::from(index), false);
            let entered = timeout(ENTER, BotPlayer::enter(nodes, trust, index, pattern)).await;
            let player = entered.map_err(|_| LoadError::Late(ENTER))??;
            let took = start.elapsed();
            // It only reads what it is sent, until it leaves: what is measured here is logins.
            let end = (begin + stay).max(Instant::now());
            player.play(end, Duration::from_secs(1), end).await;
            Ok::<_, LoadError>(took)
        });
    }
    let mut times = Vec::new();
    while let Some(ended) = tasks.join_next().await {
        times.push(ended.map_err(LoadError::Player)??);
    }
    times.sort_unstable();
    Ok(times)
}
