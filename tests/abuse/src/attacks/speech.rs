//! Fresh keys put up as many scripts that listen as they may; then one of them speaks.

use std::time::Duration;

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_protocol::{Answer, Question};
use metatopia_types::{
    Act, AssetLicence, Blob, Blueprint, Build, ObjectId, Outcome, Outline, OutlineParts, PackageId,
    ScriptId, Sign as _,
};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::{Play, on_servers};
use crate::{
    client::{ATTACKER, AbuseClient, Author, first_login, fresh_key},
    cluster::{PlazaCluster, TrustedSources},
    finding::Finding,
};

/// Keys that build, the things of each, and the scripts on each thing: all that a key may attach.
const KEYS: usize = 64;
const KEYS_SHORT: usize = 16;
const THINGS: usize = 2;
const SCRIPTS: usize = 8;

/// One speaks for so long, so often a second, so many letters: half of what it may.
const SPOKEN: Duration = Duration::from_secs(600);
const SPOKEN_SHORT: Duration = Duration::from_secs(6);
const LINES_PER_SECOND: u32 = 20;
const LETTERS: usize = 512;

/// Turns a second that must be left, and MiB by which a server may grow.
const AT_LEAST: f64 = 19.0;
const GROWTH: f64 = 32.0;

/// Turns are counted for so long without anybody who speaks.
const COUNTED: Duration = Duration::from_secs(4);

/// Places where things are tried to be put, half a metre apart on the open square.
const PLACES: i32 = 52 * 60;

/// The kind of the object whose script listens.
const LISTENER: &str = "greeter";

pub(super) fn play(play: &Play) -> Result<Vec<Finding>, String> {
    let (keys, spoken) = if play.short { (KEYS_SHORT, SPOKEN_SHORT) } else { (KEYS, SPOKEN) };
    on_servers(play, TrustedSources::Nobody, async |cluster| {
        let server = &cluster.servers[0];
        let alone = server.turns_per_second(COUNTED).await?;
        let (mut client, mut authors) = assemble(cluster, keys).await?;
        let attached = build(&mut client, &mut authors).await?;
        let before = server.resident_mib()?;
        let speaker = authors.first_mut().ok_or("nobody came in")?;
        let (beside, ()) =
            tokio::try_join!(server.turns_per_second(spoken), speak(&mut client, speaker, spoken))?;
        let grown = (server.resident_mib()? - before).max(0.0);
        let note = format!("{attached} scripts of {} keys listen", authors.len());
        Ok(vec![
            Finding::at_least("speech", beside, AT_LEAST, "turns/s").beside(alone).noted(note),
            Finding::at_most("speech", grown, GROWTH, "MiB"),
        ])
    })
}

/// Logs the keys in, over one connection.
async fn assemble(
    cluster: &PlazaCluster,
    count: usize,
) -> Result<(AbuseClient, Vec<Author>), String> {
    let mut client =
        AbuseClient::enter(cluster.servers[0].address()?, ATTACKER, &fresh_key()).await?;
    let mut authors = Vec::new();
    for _ in 0..count {
        let mut author = Author::new(fresh_key());
        let login = first_login("builder", &author.key.public());
        if client.perform(&mut author, login, vec![]).await?.is_done() {
            authors.push(author);
        }
    }
    Ok((client, authors))
}

/// Puts up all that the keys may; returns how many scripts run. What is refused is left out: that is
/// one of the ways in which the attack may fail.
async fn build(client: &mut AbuseClient, authors: &mut [Author]) -> Result<usize, String> {
    let package = listener(client).await?;
    let (mut places, mut attached) = (0..PLACES, 0);
    for author in authors {
        for _ in 0..THINGS {
            let Some(object) = put_up(client, author, &mut places).await? else { break };
            for _ in 0..SCRIPTS {
                let attach = Act::Build(Build::Attach { object, package });
                let outcome = client.perform(author, attach, Vec::new()).await;
                attached += usize::from(outcome.is_ok_and(|outcome| outcome.is_done()));
            }
        }
    }
    Ok(attached)
}

async fn listener(client: &mut AbuseClient) -> Result<PackageId, String> {
    let Answer::Scripts(scripts) = client.ask(Question::Scripts { after: ScriptId(0) }).await?
    else {
        return Err("no list of scripts".to_owned());
    };
    let listens = scripts.iter().find(|script| script.name == LISTENER);
    listens.map(|script| script.package).ok_or_else(|| format!("the plaza has no {LISTENER}"))
}

/// Puts a small disc where there is room for it.
async fn put_up(
    client: &mut AbuseClient,
    author: &mut Author,
    places: &mut std::ops::Range<i32>,
) -> Result<Option<ObjectId>, String> {
    for place in places {
        let half = |n: i32| Fx::from_ratio(n.into(), 2);
        let position = Vec2::new(half(place % 52 - 34), half(place / 52 - 34));
        let disc = Blueprint {
            kind: "disc".into(),
            name: "disc".into(),
            text: String::new(),
            color: 0x0080_8080,
            outline: Outline::Disc { radius: Fx::from_ratio(1, 8) },
            movable: false,
            position,
            angle: Angle::ZERO,
            licence: AssetLicence::default(),
            parts: OutlineParts::default(),
        };
        let act = Act::Build(Build::Place(disc));
        match client.perform(author, act, Vec::new()).await? {
            Outcome::Made(object) => return Ok(Some(object)),
            Outcome::Ok | Outcome::Refused(_) => {}
        }
    }
    Ok(None)
}

/// Says long lines that are heard everywhere.
async fn speak(
    client: &mut AbuseClient,
    author: &mut Author,
    time: Duration,
) -> Result<(), String> {
    let end = Instant::now() + time;
    let mut pace = interval(Duration::from_secs(1) / LINES_PER_SECOND);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let line = Blob(vec![b'a'; LETTERS]);
    while Instant::now() < end {
        tokio::select! {
            _ = pace.tick() => {
                let say = Act::Say { channel: 1, body: line.id() };
                client.submit(author, say, vec![line.clone()]).await?;
            }
            message = client.receive() => drop(message?),
        }
    }
    Ok(())
}
