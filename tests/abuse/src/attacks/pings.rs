//! One session over WebSocket that sends empty pings, which cost six bytes, as fast as it can.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    task::JoinHandle,
    time::sleep,
};

use super::{Play, on_servers};
use crate::{
    client::{ATTACKER, AbuseClient, fresh_key},
    cluster::{PlazaCluster, TrustedSources},
    finding::Finding,
};

/// Turns a second that must be left.
const AT_LEAST: f64 = 19.0;

/// They are counted for so long, alone and beside the attack.
const COUNTED: Duration = Duration::from_secs(20);
const COUNTED_SHORT: Duration = Duration::from_secs(4);

/// An empty ping under a mask of zeroes.
const PING: [u8; 6] = [0x89, 0x80, 0, 0, 0, 0];

/// Pings that are written at once.
const AT_ONCE: usize = 10_000;

/// Whoever is thrown out is back after this time.
const AGAIN: Duration = Duration::from_millis(10);

pub(super) fn play(play: &Play) -> Result<Vec<Finding>, String> {
    let counted = if play.short { COUNTED_SHORT } else { COUNTED };
    on_servers(play, TrustedSources::Nobody, async |cluster| ping(cluster, counted).await)
}

async fn ping(cluster: &PlazaCluster, counted: Duration) -> Result<Vec<Finding>, String> {
    let server = &cluster.servers[0];
    let alone = server.turns_per_second(counted).await?;
    let pinging: JoinHandle<()> = tokio::spawn(flood(server.address()?));
    let beside = server.turns_per_second(counted).await;
    pinging.abort();
    Ok(vec![Finding::at_least("pings", beside?, AT_LEAST, "turns/s").beside(alone)])
}

/// One session at a time, for ever.
async fn flood(to: SocketAddr) {
    let pings = PING.repeat(AT_ONCE);
    loop {
        if let Ok(client) = AbuseClient::enter(to, ATTACKER, &fresh_key()).await {
            let (mut read, mut write) = client.into_stream().into_split();
            let mut answers = vec![0; 64 * 1024];
            let reading =
                async { while read.read(&mut answers).await.is_ok_and(|read| read > 0) {} };
            let writing = async { while write.write_all(&pings).await.is_ok() {} };
            tokio::select! {
                () = reading => {}
                () = writing => {}
            }
        }
        sleep(AGAIN).await;
    }
}
