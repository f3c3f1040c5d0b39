//! Fresh keys log in over a few connections and hold all seats by heartbeats; then the admin logs in.

use std::{net::SocketAddr, time::Duration};

use metatopia::keys;
use metatopia_protocol::ServerMessage;
use metatopia_types::{Act, Outcome, Sign as _};
use tokio::{
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval, timeout},
};

use super::{Play, on_servers};
use crate::{
    client::{ATTACKER, AbuseClient, Author, HONEST, first_login, fresh_key},
    cluster::{PlazaCluster, TrustedSources},
    finding::Finding,
};

/// Seats of a plaza, and connections that fill them.
const SEATS: usize = 1_024;
const CONNECTIONS: usize = 32;

/// The longest that the attacker takes to fill them.
const FILL: Duration = Duration::from_secs(180);
const FILL_SHORT: Duration = Duration::from_secs(12);

/// The admin is in after so many seconds.
const WITHIN: f64 = 1.0;

/// Acts of one connection a second: what a server takes of one key.
const ACTS_PER_SECOND: u32 = 40;

pub(super) fn play(play: &Play) -> Result<Vec<Finding>, String> {
    // The rule is to hold by itself, so all of it is played without rations too, and in the short
    // form, in which rations would keep most seats empty, only so.
    let trusts: &[TrustedSources] = if play.short {
        &[TrustedSources::Everybody]
    } else {
        &[TrustedSources::Nobody, TrustedSources::Everybody]
    };
    let fill = if play.short { FILL_SHORT } else { FILL };
    let mut findings = Vec::new();
    for trust in trusts {
        findings
            .extend(on_servers(play, *trust, async |cluster| sit(cluster, fill, *trust).await)?);
    }
    Ok(findings)
}

async fn sit(
    cluster: &PlazaCluster,
    fill: Duration,
    trust: TrustedSources,
) -> Result<Vec<Finding>, String> {
    let admin = keys::load(&cluster.admin_key()).map_err(|error| error.to_string())?;
    let mut admin = Author::new(admin);
    let to = cluster.servers[0].address()?;
    let (alone, outcome) = log_in_and_leave(to, &mut admin).await?;
    if !outcome.is_done() {
        return Err(format!("the admin is not let in without an attack: {outcome:?}"));
    }
    let end = Instant::now() + fill;
    let mut sitting = JoinSet::new();
    for n in 0..CONNECTIONS {
        let to = cluster.servers[n % cluster.servers.len()].address()?;
        sitting.spawn(sit_down(to, SEATS / CONNECTIONS, end));
    }
    let mut parties = Vec::new();
    while let Some(party) = sitting.join_next().await {
        parties.push(party.map_err(|error| error.to_string())??);
    }
    let seats: usize = parties.iter().map(|party| party.seats).sum();
    let mut holding = JoinSet::new();
    for party in parties {
        holding.spawn(party.hold());
    }
    let (took, outcome) = log_in_and_leave(to, &mut admin).await?;
    holding.abort_all();
    let rations = if trust == TrustedSources::Nobody { "with" } else { "without" };
    let note = format!("{seats} seats taken, {rations} rations; the admin's login: {outcome:?}");
    let finding = Finding::at_most("seats", took.as_secs_f64(), WITHIN, "s");
    let finding = finding.beside(alone.as_secs_f64()).noted(note);
    Ok(vec![finding.unless(!outcome.is_done())])
}

/// Opens a session, logs in, and leaves; returns how long it took until the login was decided.
async fn log_in_and_leave(
    to: SocketAddr,
    author: &mut Author,
) -> Result<(Duration, Outcome), String> {
    let begin = Instant::now();
    let mut client = AbuseClient::enter(to, HONEST, &author.key).await?;
    let login = first_login("admin", &author.key.public());
    let outcome = client.perform(author, login, Vec::new()).await?;
    let took = begin.elapsed();
    if outcome.is_done() {
        client.perform(author, Act::Leave, Vec::new()).await?;
    }
    Ok((took, outcome))
}

/// The keys behind one connection.
struct ConnectionAuthors {
    client: AbuseClient,
    authors: Vec<Author>,
    seats: usize,
}

/// Logs in so many keys over one connection, for as long as there is time.
async fn sit_down(to: SocketAddr, count: usize, end: Instant) -> Result<ConnectionAuthors, String> {
    let key = fresh_key();
    let mut client = AbuseClient::enter(to, ATTACKER, &key).await?;
    let mut authors: Vec<Author> = (0..count).map(|_| Author::new(fresh_key())).collect();
    let mut pace = interval(Duration::from_secs(1) / ACTS_PER_SECOND);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for author in &mut authors {
        pace.tick().await;
        let login = first_login("sitter", &author.key.public());
        client.submit(author, login, Vec::new()).await?;
    }
    let (mut seats, mut answered) = (0, 0);
    while answered < count {
        let left = end.saturating_duration_since(Instant::now());
        let Ok(message) = timeout(left, client.receive()).await else { break };
        match message? {
            ServerMessage::Outcome { outcome, .. } => {
                answered += 1;
                seats += usize::from(outcome.is_done());
            }
            ServerMessage::Refused { .. } => answered += 1,
            _ => {}
        }
    }
    Ok(ConnectionAuthors { client, authors, seats })
}

impl ConnectionAuthors {
    /// Keeps the seats: a heartbeat of each key every twenty seconds at least.
    async fn hold(mut self) -> Result<(), String> {
        let mut pace =
            interval(Duration::from_secs(10) / u32::try_from(SEATS / CONNECTIONS).unwrap_or(1));
        for at in 0.. {
            pace.tick().await;
            let at = at % self.authors.len();
            self.client.submit(&mut self.authors[at], Act::Heartbeat, Vec::new()).await?;
        }
        Ok(())
    }
}
