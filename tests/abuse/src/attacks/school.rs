//! Two hundred people behind one address, a school, come at the same moment to one server.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use metatopia_types::Sign as _;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

use super::{Play, on_servers};
use crate::{
    client::{ATTACKER, AbuseClient, Author, HONEST, first_login, fresh_key},
    cluster::{PlazaCluster, TrustedSources},
    finding::Finding,
};

/// So many come; in the short form more than the burst of a ration, but not many more.
const PEOPLE: usize = 200;
const PEOPLE_SHORT: usize = 80;

/// All of them are in after so many seconds.
const WITHIN: f64 = 60.0;

/// Who was sent away comes again after this time.
const AGAIN: Duration = Duration::from_millis(500);

pub(super) fn play(play: &Play) -> Result<Vec<Finding>, String> {
    let people = if play.short { PEOPLE_SHORT } else { PEOPLE };
    on_servers(play, TrustedSources::Nobody, async |cluster| come(cluster, people).await)
}

async fn come(cluster: &PlazaCluster, people: usize) -> Result<Vec<Finding>, String> {
    let to = cluster.servers[0].address()?;
    let alone = come_in(to, HONEST).await?.as_secs_f64();
    let begin = Instant::now();
    let mut coming = JoinSet::new();
    for _ in 0..people {
        coming.spawn(come_in(to, ATTACKER));
    }
    let mut refused = 0;
    while let Some(came) = coming.join_next().await {
        refused += usize::from(came.map_err(|error| error.to_string())?.is_err());
    }
    let took = begin.elapsed().as_secs_f64();
    let finding = Finding::at_most("school", took, WITHIN, "s").beside(alone);
    let note = format!("{people} people, {refused} of them are not in");
    Ok(vec![finding.noted(note).unless(refused > 0)])
}

/// Comes in, again and again if need be; returns how long that took.
async fn come_in(to: SocketAddr, from: IpAddr) -> Result<Duration, String> {
    let (begin, mut author) = (Instant::now(), Author::new(fresh_key()));
    loop {
        let session = async {
            let mut client = AbuseClient::enter(to, from, &author.key).await?;
            let login = first_login("pupil", &author.key.public());
            client.perform(&mut author, login, Vec::new()).await
        };
        match session.await {
            Ok(outcome) if outcome.is_done() => return Ok(begin.elapsed()),
            Ok(outcome) => return Err(format!("{outcome:?}")),
            Err(why) if begin.elapsed().as_secs_f64() > 2.0 * WITHIN => return Err(why),
            Err(_) => sleep(AGAIN).await,
        }
    }
}
