//! Peers: ordered, gap-free sessions of byte frames between the servers of a sim, over libp2p.
//!
//! [`start`] opens a listener and keeps a session with every allowed peer, dialling those that are
//! missing for as long as they are allowed. The caller gets [`PeerEvent`]s: for each peer `PeerUp`,
//! then its frames in order and without gaps, then `PeerDown`. This module does not know what is
//! inside a frame. A session keeps nothing that must last: after `PeerUp` the caller sends again
//! what still matters.
//!
//! * A server speaks only with allowed peers. The noise handshake proves who a peer is: a
//!   [`PeerId`] is the hash of its node key, which is another key than the one a server votes with.
//! * A peer that does not read as fast as frames are sent to it loses its session. It never loses a
//!   frame inside a session.
//! * Each side writes at least a heartbeat every 250 ms; a peer that is silent for 1 s loses its
//!   session. That finds processes that hang, and hosts that lost power. No transport does that by
//!   itself in this time.
//! * A peer is read at no more than [`PeerLimits::frames_per_second`], so that a peer that floods
//!   has to wait and takes little from the others.
//! * Memory per peer is bounded: [`PeerLimits::send_bytes_max`] queued outwards,
//!   [`PeerLimits::receive_bytes_max`] and one frame inwards.
//!
//! # The transport
//! The transport is TCP with noise and yamux. QUIC is left out on purpose: the `quic` feature of
//! libp2p 0.57 always brings in aws-lc-rs, a large C library beside the ring that this program has
//! anyway. Between servers with fixed addresses TCP costs less processor time and sees a killed
//! process sooner. The `identify` protocol is not spoken: it tells strangers about this server, and
//! this server needs nothing that it tells.
//!
//! # What this does not defend against
//! Handshakes are limited by source, because identities are not known yet, and some places are kept
//! for the addresses of peers ([`HANDSHAKES_MAX`]). An attacker at such an address, behind the same
//! router as a peer, say, can fill these places for as long as it keeps on. So it can keep that
//! peer from connecting to this server. This server can still connect to the peer.
//!
//! ```
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! use metatopia_transport::peers::{self, PeerEvent, PeersConfig};
//!
//! let local: libp2p::Multiaddr = "/ip4/127.0.0.1/tcp/0".parse().unwrap();
//! let keys = [(); 2].map(|()| libp2p::identity::Keypair::generate_ed25519());
//! let [id_a, id_b] = [0, 1].map(|i| keys[i].public().to_peer_id());
//! let [key_a, key_b] = keys;
//! let metrics = Default::default;
//!
//! let (a, _events_a) = peers::start(key_a, &local, PeersConfig::default(), metrics()).await.unwrap();
//! let (b, mut events) = peers::start(key_b, &local, PeersConfig::default(), metrics()).await.unwrap();
//! a.allow(id_b, vec![]).await;
//! b.allow(id_a, vec![a.address().clone()]).await;
//!
//! assert!(matches!(events.recv().await, Some(PeerEvent::PeerUp(peer)) if peer == id_a));
//! # });
//! ```

use std::{
    collections::BTreeMap,
    fmt,
    io::ErrorKind,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use libp2p::{Multiaddr, PeerId, identity::Keypair};
use metatopia_types::NodeContact;
use tokio::sync::mpsc;

use self::{frame::SessionNumber, outbox::SendQueue, swarm::SwarmCommand};
use crate::{
    bind::BindError,
    figures::TransportFigures,
    framing::{Oversize, SendError},
};

mod events;
pub(crate) mod frame;
pub(crate) mod handler;
pub(crate) mod handshakes;
mod limits;
pub(crate) mod listen;
mod mesh;
pub(crate) mod outbox;
mod swarm;

pub use events::PeerEvents;
pub use handshakes::{HANDSHAKES_MAX, HANDSHAKES_PER_SOURCE_MAX, STRANGE_HANDSHAKES_MAX};
pub use limits::{FRAME_BYTES_MAX, FRAMES_PER_SECOND, PeerLimits, PeersConfig, Redial};
pub use swarm::CONNECTIONS_PER_PEER_MAX;

/// The most events of all peers that may wait for the receiver. Beyond it the peers' streams are
/// not read, and each peer waits in line for one frame at a time, so that a busy peer delays
/// nobody.
pub const EVENTS_MAX: usize = 1_024;

/// Says why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PeerEnd {
    /// The remote closed the session.
    #[error("closed by the remote")]
    Closed,
    /// The connection broke.
    #[error("connection lost: {0}")]
    Lost(ErrorKind),
    /// Nothing arrived for [`PeerLimits::silence`], not even a heartbeat.
    #[error("silent for too long")]
    Silent,
    /// Nothing could be written for [`PeerLimits::silence`].
    #[error("it did not read for too long")]
    Stuck,
    /// More than [`PeerLimits::send_bytes_max`] waited to be sent to the peer.
    #[error("too slow for what is sent to it")]
    TooSlow,
    /// The peer announced a frame above the limit.
    #[error(transparent)]
    Oversize(Oversize),
    /// A newer session with the same peer took its place.
    #[error("replaced by a newer session")]
    Replaced,
    /// This side has stopped.
    #[error("stopped")]
    Stopped,
}

/// An event of a peer. For each peer there is `PeerUp`, then its frames in order and without gaps,
/// then `PeerDown`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerEvent {
    /// A session with this peer begins.
    PeerUp(PeerId),
    /// A frame of 1 to [`PeerLimits::frame_bytes_max`] bytes.
    Frame {
        /// The peer that sent the frame.
        peer: PeerId,
        /// The bytes of the frame.
        bytes: Bytes,
    },
    /// The session is over. Frames that were sent in it may or may not have arrived.
    PeerDown {
        /// The peer of the session.
        peer: PeerId,
        /// The reason of the end.
        end: PeerEnd,
    },
}

/// Says why sessions with peers cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartPeersError {
    /// The listener could not be opened.
    #[error(transparent)]
    Bind(BindError),
    /// Only addresses of `/ip4` or `/ip6` with `/tcp` can be listened on.
    #[error("{0} cannot be listened on: write it like /ip4/127.0.0.1/tcp/4001")]
    Address(Multiaddr),
    /// The keys of the noise handshake could not be made.
    #[error("no noise keys: {0}")]
    Noise(String),
    /// The system does not say which local networks there are.
    #[error("the local networks are not known: {0}")]
    Lan(std::io::Error),
}

/// A map behind a lock that no panic can leave half-changed.
#[derive(Debug)]
struct Shared<V>(Arc<Mutex<BTreeMap<PeerId, V>>>);

impl<V> Shared<V> {
    fn new() -> Self {
        Self(Arc::default())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PeerId, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> Clone for Shared<V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// The time of a round trip to each peer, as last measured.
type Trips = Shared<Duration>;

/// The sessions that the receiver of events knows to be up.
type UpPeers = Shared<(SessionNumber, Arc<SendQueue>)>;

/// A peer with which a session is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connected {
    /// The id of the peer.
    pub peer: PeerId,
    /// The time of a round trip to the peer. It is measured every 15 s, so it is missing in the
    /// beginning.
    pub round_trip: Option<Duration>,
}

/// Sends frames, and changes which peers are allowed. All sessions stop when the last clone of the
/// handle is dropped.
#[derive(Clone)]
pub struct PeersHandle {
    address: Multiaddr,
    local: PeerId,
    orders: mpsc::Sender<SwarmCommand>,
    up: UpPeers,
    trips: Trips,
    metrics: Arc<TransportFigures>,
}

impl fmt::Debug for PeersHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PeersHandle({} at {})", self.local, self.address)
    }
}

impl PeersHandle {
    /// Returns the address that is listened on, with the port that the system gave. For a wildcard
    /// address it is that of the first interface.
    #[must_use]
    pub fn address(&self) -> &Multiaddr {
        &self.address
    }

    /// Returns the peer id of this server.
    #[must_use]
    pub fn local(&self) -> PeerId {
        self.local
    }

    /// Returns the peer id and address at which this server accepts others.
    #[must_use]
    pub fn contact(&self) -> NodeContact {
        NodeContact { peer_id: self.local.to_string(), address: self.address.to_string() }
    }

    /// Queues a frame for `peer`, and never waits. The frame goes into the session whose `PeerUp`
    /// was the last event received about this peer, and into no other.
    ///
    /// # Errors
    /// Fails when no session is up, the frame's size is not allowed, or the peer is too slow. In
    /// the last case the session ends, and all further frames are refused until the next `PeerUp`.
    pub fn send(&self, peer: PeerId, bytes: Bytes) -> Result<(), SendError> {
        let size = bytes.len() as u64;
        let outbox = match self.up.lock().get(&peer) {
            Some((_, outbox)) => outbox.clone(),
            None => return Err(SendError::Gone),
        };
        outbox.push(bytes)?;
        self.metrics.lane_frames_sent_total.inc();
        self.metrics.lane_bytes_sent_total.inc_by(size);
        Ok(())
    }

    /// Allows `peer`. Dials it if `addresses` is not empty, else waits to be dialled. Replaces the
    /// addresses of a peer that is allowed already.
    pub async fn allow(&self, peer: PeerId, addresses: Vec<Multiaddr>) {
        // The task that receives this ends only with the last handle, or when nobody receives
        // events.
        let _ = self.orders.send(SwarmCommand::Allow(peer, addresses)).await;
    }

    /// Takes `peer` off the list and ends its session.
    pub async fn disallow(&self, peer: PeerId) {
        let _ = self.orders.send(SwarmCommand::Disallow(peer)).await;
    }

    /// Returns the peers with which a session is up.
    #[must_use]
    pub fn connected(&self) -> Vec<Connected> {
        let up: Vec<PeerId> = self.up.lock().keys().copied().collect();
        let trips = self.trips.lock();
        let neighbour = |peer| Connected { peer, round_trip: trips.get(&peer).copied() };
        up.into_iter().map(neighbour).collect()
    }
}

/// Starts listening at `listen`, with no peer allowed yet. `keypair` is the server's node key.
///
/// # Errors
/// Fails when the address cannot be listened on.
///
/// # Panics
/// Panics when a limit of `config` makes no sense: a budget that no frame fits into, or 4 GiB and
/// more.
pub async fn start(
    keypair: Keypair,
    listen: &Multiaddr,
    config: PeersConfig,
    metrics: Arc<TransportFigures>,
) -> Result<(PeersHandle, PeerEvents), StartPeersError> {
    let limits = config.limits;
    for budget in [limits.send_bytes_max, limits.receive_bytes_max] {
        let largest = limits.frame_bytes_max + outbox::FRAME_OVERHEAD_BYTES;
        assert!((largest..=u32::MAX as usize >> 3).contains(&budget), "budget of {budget} bytes");
    }
    let local = keypair.public().to_peer_id();
    let (orders, received) = mpsc::channel(swarm::ORDERS_MAX);
    let (sender, items) = mpsc::channel(EVENTS_MAX);
    let (up, trips) = (UpPeers::new(), Trips::new());
    let mut swarm =
        swarm::PeerSwarm::new(keypair, config, received, sender, trips.clone(), metrics.clone())?;
    let address = swarm.listen(listen).await?;
    tokio::spawn(swarm.run());
    let events = PeerEvents::new(items, up.clone(), metrics.clone());
    Ok((PeersHandle { address, local, orders, up, trips, metrics }, events))
}

#[cfg(test)]
mod tests;
