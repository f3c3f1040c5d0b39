//! What honest players feel while others do their worst.

use std::{path::Path, process::Stdio, time::Duration};

use futures::future::join_all;
use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{
    ClientMessage, Hello, Question, ServerMessage, Submission, decode_server, encode_client,
};
use metatopia_replica::ACTS_PER_TURN;
use metatopia_types::{
    Act, Envelope, Height, Lane, Seq, Sign as _, Signature, SignedEnvelope, SigningKey, limits,
};
use serde::{Deserialize, Serialize};
use tokio::{
    process::{Child, Command},
    select,
    time::{Instant, MissedTickBehavior, interval, sleep, timeout_at},
};

use super::{
    figure::{Bound, Figure},
    on_a_plaza,
    process::resident_mb,
};
use crate::{
    carrier::{Carrier, CarrierReceiver, CarrierSender},
    cli::{
        Failure,
        bots::{self, Crowd, Summary},
        console::Console,
        session::login,
        up::cluster::Cluster,
    },
    client_driver::{Entrance, NodeUrl, Trust, random},
};

/// Players who behave, and acts a second of each: enough acts for a percentile.
const HONEST: u32 = 20;
const RATE: u32 = 10;

/// Those who do not, spread over all servers and over all kinds of [`Malice`].
const HOSTILE: usize = 50;

/// Turns in a second.
const TURNS: u64 = limits::TICKS_PER_SECOND / 3;

/// Frames a second of each of them: ten times the acts that a server takes of a key.
const FRAMES: u64 = 10 * ACTS_PER_TURN as u64 * TURNS;

/// Turns for which an act is valid.
const VALID: u64 = 400;

/// Bursts in which they come, a second.
const BURSTS: u64 = 50;

/// Before somebody who was thrown out comes back.
const AGAIN: Duration = Duration::from_millis(250);

/// The hostile come in so long before the honest are measured again.
const WARM_UP: Duration = Duration::from_secs(3);

/// What somebody does all the time.
#[derive(Clone, Copy, Debug)]
enum Malice {
    /// Acts that are as good as any, but too many.
    Acts,
    /// Acts with signatures that are wrong.
    Forged,
    /// The same act again and again.
    Repeated,
    /// Questions with the longest answers.
    Questions,
    /// Frames that say nothing, by a newcomer each time.
    Garbage,
}

impl Malice {
    const ALL: [Self; 5] =
        [Self::Acts, Self::Forged, Self::Repeated, Self::Questions, Self::Garbage];
}

/// Measures honest players alone, and then again beside the hostile ones.
pub(super) async fn measure(
    path: &Path,
    duration: Duration,
    console: Console,
) -> Result<Vec<Figure>, Failure> {
    on_a_plaza(path, console, async |cluster, _| {
        cluster.ready().await?;
        let nodes = cluster.urls();
        let trust = Trust::learn(&Entrance::ask(&nodes[0], None).await?).await?;
        let crowd = |seed| Crowd { count: HONEST, rate: RATE, duration, seed, builds: false };
        console.note(&format!("{HONEST} honest players act alone"));
        let alone = bots::measure(&nodes, &trust, crowd(4)).await?;
        let before = largest(cluster);
        console.note(&format!("{HOSTILE} hostile clients come in"));
        let enemies = let_loose(&nodes, duration)?;
        sleep(WARM_UP).await;
        let beside = bots::measure(&nodes, &trust, crowd(5)).await?;
        let after = largest(cluster);
        let sent = how_many(enemies).await?;
        Ok(figures(&alone, &beside, sent, after.zip(before)))
    })
    .await
}

/// Starts the hostile clients in a process of their own that yields to all others: on machines of
/// their own they would take no time from servers and honest players.
fn let_loose(nodes: &[NodeUrl], duration: Duration) -> Result<Child, Failure> {
    let failed =
        |error: std::io::Error| Failure::failed(format!("starting hostile clients: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let nodes: Vec<String> = nodes.iter().map(ToString::to_string).collect();
    let start = |mut command: Command| {
        let duration = format!("{}ms", duration.as_millis());
        command
            .args(["bench", "hostile", "--json", "--duration", &duration])
            .args(["--enemies-of", &nodes.join(",")])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    };
    let mut nice = Command::new("nice");
    nice.args(["-n", "19"]).arg(&program);
    // Where nobody can yield, all share alike.
    start(nice).or_else(|_| start(Command::new(program))).map_err(failed)
}

/// Waits for their end, and for their word how much they sent.
async fn how_many(enemies: Child) -> Result<u64, Failure> {
    let ended = enemies.wait_with_output().await;
    let output = ended.map_err(|error| Failure::failed(format!("hostile clients: {error}")))?;
    let told: Result<Told, _> = serde_json::from_slice(&output.stdout);
    let told = told.map_err(|_| Failure::failed(format!("hostile clients: {}", output.status)))?;
    Ok(told.frames)
}

/// What a process of hostile clients says in the end.
#[derive(Debug, Serialize, Deserialize)]
struct Told {
    frames: u64,
}

/// All of them, in this process.
pub(super) async fn rage_all(
    nodes: &[NodeUrl],
    duration: Duration,
    console: Console,
) -> Result<(), Failure> {
    let mut entrances = Vec::new();
    for node in nodes {
        entrances.push(Entrance::ask(node, None).await?);
    }
    let frames = crowd_of_enemies(entrances, WARM_UP + duration).await;
    console.json(&Told { frames })
}

/// Memory of the largest server, in megabytes.
fn largest(cluster: &Cluster) -> Option<u64> {
    cluster.processes().filter_map(|(_, pid)| resident_mb(pid)).max()
}

fn figures(
    alone: &Summary,
    beside: &Summary,
    sent: u64,
    memory: Option<(u64, u64)>,
) -> Vec<Figure> {
    let percent = beside.p99_ms * 100 / alone.p99_ms.max(1);
    let grown = memory.map(|(after, before)| after.saturating_sub(before) * 10);
    vec![
        Figure::new("act to receipt p99, alone", alone.p99_ms, "ms", Bound::None),
        Figure::new("act to receipt p99, beside them", beside.p99_ms, "ms", Bound::None),
        Figure::new("of that alone", percent, "%", Bound::AtMost(120)),
        Figure::new("acts of honest players", beside.acknowledged, "acts", Bound::None),
        Figure::new("of them refused", beside.refused, "acts", Bound::AtMost(0)),
        Figure::new("of them unanswered", beside.unanswered, "acts", Bound::AtMost(0)),
        Figure::new("of them lost", beside.lost, "acts", Bound::AtMost(0)),
        Figure::new("frames of hostile clients", sent, "frames", Bound::None),
        Figure::tenths("memory they cost a server", grown, "MB", Bound::AtMost(64)),
    ]
}

/// Lets all of them loose for so long. Returns the frames that they got rid of.
async fn crowd_of_enemies(entrances: Vec<Entrance>, time: Duration) -> u64 {
    let end = Instant::now() + time;
    let kinds = Malice::ALL.into_iter().cycle();
    let all = entrances.into_iter().cycle().zip(kinds).take(HOSTILE);
    let tasks: Vec<_> =
        all.map(|(entrance, malice)| tokio::spawn(rage(entrance, malice, end))).collect();
    join_all(tasks).await.into_iter().map(|sent| sent.unwrap_or(0)).sum()
}

/// One of them, who comes back whenever it was thrown out.
async fn rage(entrance: Entrance, malice: Malice, end: Instant) -> u64 {
    let mut sent = 0;
    while Instant::now() < end {
        let session = async {
            let Ok(carrier) = entrance.dial().await else { return };
            session(&entrance, carrier, malice, &mut sent).await;
        };
        if timeout_at(end, session).await.is_ok() {
            sleep(AGAIN).await;
        }
    }
    sent
}

/// Comes in as anybody does, and then misbehaves until the session ends.
async fn session(entrance: &Entrance, carrier: Carrier, malice: Malice, sent: &mut u64) {
    let Carrier { mut send, mut recv } = carrier;
    let key = SigningKey::from_seed(random());
    let Some(height) = enter(&key, malice, &mut send, &mut recv, sent).await else { return };
    let mut enemy = Enemy { entrance, key, malice, height, since: Instant::now(), seq: Seq(1) };
    let first = enemy.next(login(Some("enemy"), &enemy.key.public()));
    if send.send(&encode_client(&first)).await.is_err() {
        return;
    }
    select! {
        () = drain(&mut recv) => {}
        () = enemy.flood(&mut send, sent) => {}
    }
}

/// Says hello. None when the session has ended.
async fn enter(
    key: &SigningKey,
    malice: Malice,
    send: &mut CarrierSender,
    recv: &mut CarrierReceiver,
    sent: &mut u64,
) -> Option<Height> {
    loop {
        match decode_server(&recv.recv().await.ok()?).ok()? {
            ServerMessage::Challenge(_) if matches!(malice, Malice::Garbage) => {
                *sent += 1;
                send.send(&[0xa5; 20_000]).await.ok()?;
            }
            ServerMessage::Challenge(challenge) => {
                let hello = ClientMessage::Hello(Hello::new(&challenge, key));
                send.send(&encode_client(&hello)).await.ok()?;
            }
            ServerMessage::Welcome(welcome) => return Some(welcome.height),
            _ => {}
        }
    }
}

/// Reads whatever comes.
async fn drain(recv: &mut CarrierReceiver) {
    while recv.recv().await.is_ok() {}
}

struct Enemy<'a> {
    entrance: &'a Entrance,
    key: SigningKey,
    malice: Malice,
    /// The height that was under way when it came in, and when that was.
    height: Height,
    since: Instant,
    seq: Seq,
}

impl Enemy<'_> {
    /// Sends as much as it can, and no more than [`FRAMES`] a second.
    async fn flood(&mut self, send: &mut CarrierSender, sent: &mut u64) {
        let mut clock = interval(Duration::from_secs(1) / u32::try_from(BURSTS).unwrap_or(1));
        clock.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let repeated = encode_client(&self.next(walk(0)));
        loop {
            clock.tick().await;
            for n in 0..FRAMES / BURSTS {
                let frame = match self.malice {
                    Malice::Repeated | Malice::Garbage => repeated.clone(),
                    Malice::Acts => encode_client(&self.next(walk(n))),
                    Malice::Forged => encode_client(&forged(self.next(walk(n)))),
                    Malice::Questions => encode_client(&ask(n)),
                };
                if send.send(&frame).await.is_err() {
                    return;
                }
                *sent += 1;
            }
        }
    }

    /// The next act, signed.
    fn next(&mut self, act: Act) -> ClientMessage {
        let turns = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(0) * TURNS / 1_000;
        let envelope = Envelope {
            sim: self.entrance.sim,
            author: self.key.public(),
            lane: Lane(1),
            seq: self.seq,
            last_valid: self.height.plus(turns + VALID),
            act,
        };
        self.seq = Seq(self.seq.0 + 1);
        let act: SignedEnvelope = envelope.sign(&self.key);
        ClientMessage::Submit(Box::new(Submission { act, blobs: Vec::new() }))
    }
}

fn walk(n: u64) -> Act {
    let heading = Fx::from_int(if n.is_multiple_of(2) { 1 } else { -1 });
    Act::Walk { heading: Vec2::new(heading, Fx::ZERO) }
}

/// The same act under a signature that nobody made.
fn forged(message: ClientMessage) -> ClientMessage {
    match message {
        ClientMessage::Submit(mut submission) => {
            let mut bytes = submission.act.signature.to_bytes();
            bytes[0] ^= 1;
            submission.act.signature = Signature::from_bytes(bytes);
            ClientMessage::Submit(submission)
        }
        other => other,
    }
}

/// Questions whose answers are long, or read from the disk.
fn ask(n: u64) -> ClientMessage {
    let question = match n % 3 {
        0 => Question::Turns { from: Height(1) },
        1 => Question::Genesis,
        _ => Question::Players,
    };
    ClientMessage::Ask { id: u32::try_from(n).unwrap_or(0), question }
}
