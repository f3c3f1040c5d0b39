//! Fresh keys log in and leave without end; then a newcomer wants to come in.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use metatopia_protocol::ServerMessage;
use metatopia_types::{Act, Outcome};
use tokio::{
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval, sleep},
};

use super::{Play, on_servers};
use crate::{
    client::{ATTACKER, Author, Client, first_login, fresh_key},
    cluster::{Cluster, Trust},
    finding::Finding,
};

/// As many as a sim remembers.
const PLAYERS: usize = 65_536;

/// Connections that offer them, and acts of each a second.
const CONNECTIONS: usize = 40;
const ACTS_PER_SECOND: u32 = 40;

/// The attacker goes on for so long, or until all are in: at four first logins a turn that takes a
/// quarter of an hour. The short form, and the one with rations, do not fill the sim: they show that
/// whoever comes afterwards is not behind the crowd in a line that never ends.
const OFFER: Duration = Duration::from_secs(20 * 60);
const OFFER_RATIONED: Duration = Duration::from_secs(120);
const OFFER_SHORT: Duration = Duration::from_secs(6);

/// The newcomer is in after so many seconds.
const WITHIN: f64 = 60.0;

pub(super) fn play(play: &Play) -> Result<Vec<Finding>, String> {
    let forms: &[(Trust, Duration)] = match play.short {
        true => &[(Trust::Nobody, OFFER_SHORT)],
        false => &[(Trust::Nobody, OFFER_RATIONED), (Trust::Everybody, OFFER)],
    };
    let mut findings = Vec::new();
    for (trust, time) in forms {
        findings
            .extend(on_servers(play, *trust, async |cluster| fill(cluster, *time, *trust).await)?);
    }
    Ok(findings)
}

async fn fill(cluster: &Cluster, time: Duration, trust: Trust) -> Result<Vec<Finding>, String> {
    let to = cluster.servers[0].address()?;
    let (alone, outcome) = come_in(to).await?;
    if !outcome.is_done() {
        return Err(format!("nobody is let in without an attack: {outcome:?}"));
    }
    let (came, end) = (Arc::new(AtomicUsize::new(0)), Instant::now() + time);
    let mut offering = JoinSet::new();
    for n in 0..CONNECTIONS {
        let to = cluster.servers[n % cluster.servers.len()].address()?;
        let came = Arc::clone(&came);
        offering.spawn(async move {
            while Instant::now() < end && came.load(Ordering::Relaxed) < PLAYERS {
                // Whoever is thrown out comes back.
                let _thrown_out = offer(to, end, &came).await;
                sleep(Duration::from_millis(100)).await;
            }
        });
    }
    offering.join_all().await;
    let (took, outcome) = come_in(to).await?;
    let rations = if trust == Trust::Nobody { "with" } else { "without" };
    let came = came.load(Ordering::Relaxed);
    let note = format!("after {came} first logins {rations} rations; the newcomer's: {outcome:?}");
    let finding = Finding::at_most("players", took.as_secs_f64(), WITHIN, "s");
    let finding = finding.beside(alone.as_secs_f64()).noted(note);
    Ok(vec![finding.unless(!outcome.is_done())])
}

/// A newcomer from the attacker's own address: how long its first login took, and what became of it.
/// One that is refused tries again, with another key, for as long as it may take.
async fn come_in(to: SocketAddr) -> Result<(Duration, Outcome), String> {
    let begin = Instant::now();
    loop {
        let key = fresh_key();
        let mut client = Client::enter(to, ATTACKER, &key).await?;
        let outcome = client.perform(&mut Author::new(key), first_login("newcomer"), vec![]).await;
        let too_late = begin.elapsed().as_secs_f64() > WITHIN;
        match outcome {
            Ok(outcome) if outcome.is_done() || too_late => return Ok((begin.elapsed(), outcome)),
            Err(why) if too_late => return Err(why),
            _ => sleep(Duration::from_millis(500)).await,
        }
    }
}

/// Logs fresh keys in over one connection, and out at once, so that each leaves room for the next.
async fn offer(to: SocketAddr, end: Instant, came: &AtomicUsize) -> Result<(), String> {
    let mut client = Client::enter(to, ATTACKER, &fresh_key()).await?;
    let mut pace = interval(Duration::from_secs(1) / ACTS_PER_SECOND);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut logins = std::collections::BTreeSet::new();
    while Instant::now() < end && came.load(Ordering::Relaxed) < PLAYERS {
        tokio::select! {
            _ = pace.tick() => {
                let mut author = Author::new(fresh_key());
                let login = first_login("passer-by");
                logins.insert(client.submit(&mut author, login, Vec::new()).await?);
                client.submit(&mut author, Act::Leave, Vec::new()).await?;
                pace.tick().await;
            }
            message = client.receive() => match message? {
                ServerMessage::Outcome { act, outcome, .. } if logins.remove(&act) => {
                    came.fetch_add(usize::from(outcome.is_done()), Ordering::Relaxed);
                }
                ServerMessage::Refused { act, .. } => drop(logins.remove(&act)),
                ServerMessage::Goodbye(why) => return Err(why.to_string()),
                _ => {}
            },
        }
    }
    Ok(())
}
