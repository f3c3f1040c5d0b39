//! Silent sockets at the ports for servers, while two of four servers come back.

use std::{net::SocketAddr, time::Duration};

use tokio::{io::AsyncReadExt as _, task::JoinSet, time::sleep};

use super::{Play, on_servers};
use crate::{
    client::{HONEST, connect},
    cluster::{PlazaCluster, TrustedSources},
    finding::Finding,
};

/// Sockets that say nothing, at each port. They come from the very address of the servers, for which
/// the most handshakes are let in at once.
const SOCKETS: usize = 200;

/// Two servers stand still for so long.
const AWAY: Duration = Duration::from_secs(4);

/// So many turns must be decided after that, within so many seconds.
const TURNS: u64 = 20;
const WITHIN: f64 = 2.5;

/// Before the turns are waited for, and between two attempts to open a socket.
const SETTLE: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(20);

pub(super) fn play(play: &Play) -> Result<Vec<Finding>, String> {
    on_servers(play, TrustedSources::Nobody, async |cluster| {
        let alone = heal(cluster).await?;
        sleep(SETTLE).await;
        let mut silent = JoinSet::new();
        for server in &cluster.servers {
            let port = server.peer_address()?;
            (0..SOCKETS).for_each(|_| drop(silent.spawn(say_nothing(port))));
        }
        sleep(SETTLE).await;
        let beside = heal(cluster).await;
        silent.abort_all();
        let finding = Finding::at_most("half_open", beside?, WITHIN, "s").beside(alone);
        Ok(vec![finding.noted(format!("the next {TURNS} turns, beside {SOCKETS} silent sockets"))])
    })
}

/// Stops two servers for a while; returns after how many seconds the next turns are decided.
async fn heal(cluster: &PlazaCluster) -> Result<f64, String> {
    let away = &cluster.servers[2..];
    away.iter().try_for_each(|server| server.freeze(true))?;
    sleep(AWAY).await;
    away.iter().try_for_each(|server| server.freeze(false))?;
    cluster.servers[0].seconds_for(TURNS).await
}

/// Holds one socket open, and another one when that is closed.
async fn say_nothing(port: SocketAddr) {
    loop {
        if let Ok(mut socket) = connect(port, HONEST).await {
            let mut heard = [0; 1_024];
            while socket.read(&mut heard).await.is_ok_and(|read| read > 0) {}
        }
        sleep(AGAIN).await;
    }
}
