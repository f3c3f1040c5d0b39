//! Fresh keys log in and leave without end, in a sim that asks for work; then a newcomer wants to come in.
//!
//! The attacker has graphics cards: for each login it pays a thousandth of the price at rest, even when
//! that is at its highest. The sim is founded so, and the newcomer, who has a processor, does sixteen
//! thousand times what it asks: the whole price. So what holds here is not the price, but that first
//! logins have few places in a turn and that passers-by are forgotten.

mod crowded;

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use metatopia_protocol::{LoginTerms, ServerMessage};
use metatopia_sim::{Parameters, limits::DEARER_MAX};
use metatopia_types::{Act, Outcome, Sign as _};
use tokio::{
    runtime::Runtime,
    sync::watch,
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval, sleep},
};

use super::Play;
use crate::{
    client::{ATTACKER, AbuseClient, Author, HONEST, fresh_key, worked_login},
    cluster::{PlazaCluster, TrustedSources},
    finding::Finding,
};

/// Half as many as a sim remembers: all of them would take half an hour. `crowded` fills one in this process.
const PLAYERS: usize = 65_536;

/// Connections that offer them, and logins of each a second: twice as many as find a place.
const CONNECTIONS: usize = 40;
const LOGINS_PER_SECOND: u32 = 4;

/// What the newcomer pays for what the attacker pays one for: a thousandth, when the price has doubled as
/// often as it may.
const TIMES: u64 = 1_000 << DEARER_MAX;

/// The terms are asked for so often: work counts for half a minute.
const TERMS: Duration = Duration::from_secs(1);

/// The attacker goes on for so long, or until all are in: at four first logins a turn that takes a
/// quarter of an hour. The short form, and the one with rations, do not fill the sim: they show that
/// whoever comes afterwards is not behind the crowd in a line that never ends.
const OFFER: Duration = Duration::from_secs(20 * 60);
const OFFER_RATIONED: Duration = Duration::from_secs(120);
const OFFER_SHORT: Duration = Duration::from_secs(6);

/// The newcomer is in after so many seconds.
const WITHIN: f64 = 60.0;

pub(super) fn play(play: &Play) -> Result<Vec<Finding>, String> {
    let forms: &[(TrustedSources, Duration)] = match play.short {
        true => &[(TrustedSources::Nobody, OFFER_SHORT)],
        false => &[(TrustedSources::Nobody, OFFER_RATIONED), (TrustedSources::Everybody, OFFER)],
    };
    let at_rest = Parameters::default().first_login_tries / TIMES;
    let runtime = Runtime::new().map_err(|error| format!("no runtime: {error}"))?;
    let mut findings = vec![crowded::play()?];
    for (trust, time) in forms {
        let tries = at_rest.to_string();
        let how = ["--first-login", "work", "--first-login-tries", &tries];
        findings.push(runtime.block_on(async {
            let cluster = PlazaCluster::found(&play.program, *trust, &how).await?;
            let finding = fill(&cluster, *time, *trust).await;
            cluster.stop().await.and(finding)
        })?);
    }
    Ok(findings)
}

async fn fill(
    cluster: &PlazaCluster,
    time: Duration,
    trust: TrustedSources,
) -> Result<Finding, String> {
    let to = cluster.servers[0].address()?;
    let (alone, outcome) = come_in(to).await?;
    if !outcome.is_done() {
        return Err(format!("nobody is let in without an attack: {outcome:?}"));
    }
    let (came, end) = (Arc::new(AtomicUsize::new(0)), Instant::now() + time);
    let (tell, terms) = watch::channel(LoginTerms::Free);
    let asking = tokio::spawn(look_out(to, tell));
    let mut offering = JoinSet::new();
    for n in 0..CONNECTIONS {
        let to = cluster.servers[n % cluster.servers.len()].address()?;
        let (came, terms) = (Arc::clone(&came), terms.clone());
        offering.spawn(async move {
            while Instant::now() < end && came.load(Ordering::Relaxed) < PLAYERS {
                // Whoever is thrown out comes back.
                let _thrown_out = offer(to, end, &terms, &came).await;
                sleep(Duration::from_millis(100)).await;
            }
        });
    }
    let begin = Instant::now();
    offering.join_all().await;
    asking.abort();
    let offered_for = begin.elapsed().as_secs();
    let (took, outcome) = come_in(to).await?;
    let rations = if trust == TrustedSources::Nobody { "with" } else { "without" };
    let came = came.load(Ordering::Relaxed);
    let note = format!(
        "after {came} first logins in {offered_for} s {rations} rations; the newcomer, who paid the \
        whole price: {outcome:?}"
    );
    let finding = Finding::at_most("players", took.as_secs_f64(), WITHIN, "s");
    let finding = finding.beside(alone.as_secs_f64()).noted(note);
    Ok(finding.unless(!outcome.is_done()))
}

/// A newcomer from the attacker's own address: how long its first login took, and what became of it.
/// One that is refused tries again, with another key, for as long as it may take.
async fn come_in(to: SocketAddr) -> Result<(Duration, Outcome), String> {
    let begin = Instant::now();
    loop {
        let came = newcomer(to).await;
        let too_late = begin.elapsed().as_secs_f64() > WITHIN;
        match came {
            Ok(outcome) if outcome.is_done() || too_late => return Ok((begin.elapsed(), outcome)),
            Err(why) if too_late => return Err(why),
            _ => sleep(Duration::from_millis(500)).await,
        }
    }
}

/// Comes in once, for the whole price.
async fn newcomer(to: SocketAddr) -> Result<Outcome, String> {
    let key = fresh_key();
    let mut client = AbuseClient::enter(to, ATTACKER, &key).await?;
    let (public, sim) = (key.public(), client.sim());
    let terms = client.terms(public).await?;
    let work = move || worked_login("newcomer", &public, sim, &terms, TIMES);
    // The session says nothing meanwhile, and a server keeps no place for who is silent.
    drop(client);
    let login = tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?;
    let mut client = AbuseClient::enter(to, ATTACKER, &key).await?;
    client.perform(&mut Author::new(key), login, Vec::new()).await
}

/// Asks for the terms of first logins, again and again.
async fn look_out(to: SocketAddr, tell: watch::Sender<LoginTerms>) -> Result<(), String> {
    let mut client = AbuseClient::enter(to, HONEST, &fresh_key()).await?;
    loop {
        let terms = client.terms(fresh_key().public()).await?;
        if tell.send(terms).is_err() {
            return Ok(());
        }
        sleep(TERMS).await;
    }
}

/// Logs fresh keys in over one connection, and out at once, so that each leaves room for the next.
async fn offer(
    to: SocketAddr,
    end: Instant,
    terms: &watch::Receiver<LoginTerms>,
    came: &AtomicUsize,
) -> Result<(), String> {
    let mut client = AbuseClient::enter(to, ATTACKER, &fresh_key()).await?;
    let mut pace = interval(Duration::from_secs(1) / LOGINS_PER_SECOND);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut logins = std::collections::BTreeSet::new();
    while Instant::now() < end && came.load(Ordering::Relaxed) < PLAYERS {
        tokio::select! {
            _ = pace.tick() => {
                let (mut author, terms) = (Author::new(fresh_key()), *terms.borrow());
                let (key, sim) = (author.key.public(), client.sim());
                // Less than a millisecond.
                let login = worked_login("passer-by", &key, sim, &terms, 1);
                logins.insert(client.submit(&mut author, login, Vec::new()).await?);
                client.submit(&mut author, Act::Leave, Vec::new()).await?;
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
