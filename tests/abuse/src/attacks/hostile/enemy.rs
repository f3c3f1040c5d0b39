//! Hostile clients, each of a kind of its own.

use std::time::Duration;

use futures::future::join_all;
use metatopia_client_driver::NodeEndpoint;
use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{
    ClientMessage, Hello, Question, ServerMessage, Submission, decode_server, encode_client,
};
use metatopia_replica::ACTS_PER_TURN;
use metatopia_transport::carrier::{Carrier, CarrierReceiver, CarrierSender};
use metatopia_types::{
    Act, Envelope, Height, Lane, Seq, Sign as _, Signature, SignedEnvelope, SigningKey, limits,
};
use tokio::{
    select,
    time::{Instant, MissedTickBehavior, interval, sleep, timeout_at},
};

use crate::client::{first_login, fresh_key};

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

/// Lets all of them loose for so long. Returns the frames that they got rid of.
pub(super) async fn crowd(endpoints: Vec<NodeEndpoint>, time: Duration) -> u64 {
    let end = Instant::now() + time;
    let kinds = Malice::ALL.into_iter().cycle();
    let all = endpoints.into_iter().cycle().zip(kinds).take(HOSTILE);
    let tasks: Vec<_> =
        all.map(|(endpoint, malice)| tokio::spawn(rage(endpoint, malice, end))).collect();
    join_all(tasks).await.into_iter().map(|sent| sent.unwrap_or(0)).sum()
}

/// One of them, who comes back whenever it was thrown out.
async fn rage(endpoint: NodeEndpoint, malice: Malice, end: Instant) -> u64 {
    let mut sent = 0;
    while Instant::now() < end {
        let session = async {
            let Ok(carrier) = endpoint.dial().await else { return };
            session(&endpoint, carrier, malice, &mut sent).await;
        };
        if timeout_at(end, session).await.is_ok() {
            sleep(AGAIN).await;
        }
    }
    sent
}

/// Comes in as anybody does, and then misbehaves until the session ends.
async fn session(endpoint: &NodeEndpoint, carrier: Carrier, malice: Malice, sent: &mut u64) {
    let Carrier { mut send, mut recv } = carrier;
    let key = fresh_key();
    let Some(height) = enter(&key, malice, &mut send, &mut recv, sent).await else { return };
    let mut enemy = Enemy { endpoint, key, malice, height, since: Instant::now(), seq: Seq(1) };
    let first = enemy.next(first_login("enemy", &enemy.key.public()));
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
    endpoint: &'a NodeEndpoint,
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
            sim: self.endpoint.sim,
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
