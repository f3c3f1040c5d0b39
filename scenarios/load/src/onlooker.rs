//! A client that stands in the crowd, and weighs what it is sent.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use metatopia_client_driver::{NodeEndpoint, login, random};
use metatopia_protocol::{
    BYTES_PER_SECOND, ClientMessage, Hello, ServerMessage, Submission, TileName, TileUpdate, View,
    Watching, decode_server, encode_client,
};
use metatopia_sim::TileEntry;
use metatopia_types::{Envelope, Height, Lane, ObjectId, PublicKey, Seq, Sign as _, SigningKey};
use tokio::time::timeout;

use crate::LoadError;

/// The turns for which the login may wait.
const LOGIN: u64 = 400;

/// The time without any frame after which the server counts as gone.
const SILENCE: Duration = Duration::from_secs(10);

/// The bytes that came in a stretch of time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weights {
    /// Bytes of views.
    pub views: u64,
    /// Bytes of proofs.
    pub proofs: u64,
    /// The bytes that the views would have had if each held everything in sight.
    pub full: u64,
    /// The number of views.
    pub count: u64,
    /// Avatars and other objects that were in sight at the end.
    pub in_sight: u64,
    /// The length of the time.
    pub time: Duration,
}

impl Weights {
    /// Returns this many bytes in all as tenths of a kilobyte a second.
    #[must_use]
    pub fn per_second(&self, bytes: u64) -> Option<u64> {
        let millis = u64::try_from(self.time.as_millis()).ok().filter(|millis| *millis > 0)?;
        Some(bytes.saturating_mul(10) / millis)
    }
}

/// The sizes of the entries in sight, by their tiles.
#[derive(Debug, Default)]
struct Sizes(BTreeMap<TileName, BTreeMap<ObjectId, u64>>);

impl Sizes {
    fn take(&mut self, view: &View) {
        for update in &view.tiles {
            self.update(update);
        }
        for tile in &view.left {
            self.0.remove(tile);
        }
    }

    fn update(&mut self, update: &TileUpdate) {
        let tile = self.0.entry(update.tile).or_default();
        if update.since.is_none() {
            tile.clear();
        }
        for bytes in &update.entries {
            // Bytes that are no entry are not weighed; the bots' own copies would report them.
            if let Ok(entry) = TileEntry::decode(bytes) {
                tile.insert(entry.id, bytes.len() as u64);
            }
        }
        for id in &update.gone {
            tile.remove(id);
        }
    }

    fn bytes(&self) -> u64 {
        self.0.values().flat_map(BTreeMap::values).sum()
    }

    fn count(&self) -> u64 {
        self.0.values().map(|tile| tile.len() as u64).sum()
    }
}

/// Enters, stands still and looks on. Does not weigh what comes in the first `warm_up`.
///
/// # Errors
/// See [`LoadError`].
pub async fn look_on(
    endpoint: &NodeEndpoint,
    (warm_up, duration): (Duration, Duration),
) -> Result<Weights, LoadError> {
    let key = SigningKey::from_seed(random());
    let mut carrier = endpoint.dial().await?;
    let (start, mut weights, mut sizes) = (Instant::now(), Weights::default(), Sizes::default());
    while start.elapsed() < warm_up + duration {
        let frame = timeout(SILENCE, carrier.recv.recv()).await;
        let frame = frame.map_err(|_| LoadError::Silent)??;
        let message = decode_server(&frame)?;
        let weighed = start.elapsed() >= warm_up;
        let bytes = if weighed { frame.len() as u64 } else { 0 };
        let replies = match message {
            ServerMessage::Challenge(challenge) => {
                vec![ClientMessage::Hello(Hello::new(&challenge, &key))]
            }
            ServerMessage::Welcome(welcome) => enter(endpoint, &key, welcome.height),
            ServerMessage::View(view) => {
                sizes.take(&view);
                weights.views += bytes;
                weights.full += if weighed { sizes.bytes() } else { 0 };
                weights.count += u64::from(weighed);
                vec![ClientMessage::Seen { number: view.number }]
            }
            ServerMessage::ViewProof(_) => {
                weights.proofs += bytes;
                Vec::new()
            }
            ServerMessage::Goodbye(why) => return Err(LoadError::Goodbye(why)),
            _ => Vec::new(),
        };
        for reply in replies {
            carrier.send.send(&encode_client(&reply)).await?;
        }
    }
    carrier.send.leave().await;
    weights.in_sight = sizes.count();
    weights.time = start.elapsed().saturating_sub(warm_up);
    Ok(weights)
}

/// Returns the messages of a client that comes in and wants to see everything there is to see.
fn enter(endpoint: &NodeEndpoint, key: &SigningKey, height: Height) -> Vec<ClientMessage> {
    let author: PublicKey = key.public();
    let envelope = Envelope {
        sim: endpoint.sim,
        author,
        lane: Lane(1),
        seq: Seq(1),
        last_valid: height.plus(LOGIN),
        act: login(Some("onlooker"), &author),
    };
    let submission = Submission { act: envelope.sign(key), blobs: Vec::new() };
    let watching = Watching {
        bytes_per_second: *BYTES_PER_SECOND.end(),
        turns_apart: 1,
        proofs: true,
        at: None,
        have: Vec::new(),
    };
    vec![ClientMessage::Submit(Box::new(submission)), ClientMessage::View(Some(watching))]
}
