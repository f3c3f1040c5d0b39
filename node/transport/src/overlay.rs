//! The overlay of a world: sessions of small byte frames between members that nobody allowed before.
//!
//! It is a libp2p swarm of its own, with its own key and port, beside the one that servers of a sim
//! speak on ([`peers`](crate::peers)). So no flood of strangers takes a place or a queue that votes
//! need. [`start`] opens a listener. The owner dials, sends and closes by [`OverlayHandle`], and gets
//! [`OverlayEvent`]s: for each member `Up`, then its frames, then `Down` or `Closed`. This module does
//! not know what is inside a frame.
//!
//! * A member is named by the ed25519 key that its noise handshake proves; a peer id holds that key.
//! * Frames have 2 to [`FRAME_BYTES_MAX`] bytes. A frame of one byte says goodbye, so a member that
//!   leaves in order is told from one that died.
//! * Two members that dial each other at once have two connections for a while. Frames go over the
//!   newest one, and the member is up while one of them is.
//! * Everything is bounded: connections that others begin, in all and from one source ([`limits`]),
//!   handshakes by source, dials under way, bytes that wait for a member, and the rate at which a
//!   member is read.
//!
//! * Members find each other ([`DiscoverySetup`]). What they say of others is believed by nobody: an
//!   event `Found` names a member whose key is proved and that speaks the network's protocol.
//!
//! A member that does not read as fast as frames are sent to it loses its session. Gossip that is lost
//! so comes again.
//!
//! ```
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! use metatopia_transport::overlay::{self, OverlayEvent};
//! use metatopia_types::PublicKey;
//!
//! let local: libp2p::Multiaddr = "/ip4/127.0.0.1/tcp/0".parse().unwrap();
//! let keys = [(); 2].map(|()| libp2p::identity::Keypair::generate_ed25519());
//! let [(a, mut at_a), (b, mut at_b)] = futures::future::try_join_all(
//!     keys.map(|key| overlay::start(key, (&local, Default::default()), Default::default())),
//! )
//! .await
//! .unwrap()
//! .try_into()
//! .unwrap();
//! b.dial(a.local(), &a.address().to_string()).await;
//! // What is sent meanwhile waits until the owner of `b` reads that the session is open.
//! b.send(a.local(), "who is near?".into()).unwrap();
//! tokio::spawn(async move { while at_b.recv().await.is_some() {} });
//!
//! // Members are found at any time, so the owner takes `Found` wherever it comes.
//! let mut of_b = Vec::new();
//! while of_b.len() < 2 {
//!     match at_a.recv().await.unwrap() {
//!         OverlayEvent::Found { member, .. } => assert_eq!(member, b.local()),
//!         event => of_b.push(event),
//!     }
//! }
//! let bytes = "who is near?".into();
//! let from = b.local();
//! assert_eq!(of_b, [OverlayEvent::Up(from), OverlayEvent::Frame { from, bytes }]);
//! # });
//! ```

mod discovery;
mod events;
pub mod limits;
mod names;
mod sessions;
mod swarm;

use std::{
    collections::BTreeMap,
    fmt,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use libp2p::{Multiaddr, identity::Keypair};
use metatopia_types::PublicKey;
use tokio::sync::mpsc;

pub use self::{
    discovery::DiscoverySetup, events::OverlayEvents, limits::FRAME_BYTES_MAX, names::peer_id_of,
    sessions::is_loopback,
};
use self::{
    limits::{EVENTS_MAX, FOUND_MAX, ORDERS_MAX, WAITING_FRAMES_MAX},
    swarm::{DialOrder, OverlayOrder, SwarmChannels},
};
use crate::{
    figures::TransportFigures,
    framing::SendError,
    peers::{StartPeersError, frame::SessionNumber, outbox::SendQueue},
};

/// The frame that says goodbye. Messages are longer.
const GOODBYE: &[u8] = &[0];

/// The time that a member has to end a session after goodbye was said.
const LINGER: Duration = Duration::from_secs(1);

/// What happens to sessions with members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OverlayEvent {
    /// There is a session with this member, whoever dialled.
    Up(PublicKey),
    /// A frame came.
    Frame {
        /// Who sent it.
        from: PublicKey,
        /// What was sent: 2 to [`FRAME_BYTES_MAX`] bytes.
        bytes: Bytes,
    },
    /// The session broke, or the member is silent.
    Down(PublicKey),
    /// The member said goodbye; it may well live.
    Closed(PublicKey),
    /// No session with this member could be made. What waited for it is dropped.
    DialFailed(PublicKey),
    /// A member that the owner did not dial was found, or found this one: there is a session with it, or
    /// soon.
    Found {
        /// Who it is.
        member: PublicKey,
        /// Where it was dialled, or where it says that it listens.
        address: Multiaddr,
    },
}

/// A member that is up, or is being dialled.
#[derive(Debug, Default)]
struct KnownMember {
    /// Its sessions; frames go over the last one.
    sessions: Vec<(SessionNumber, Arc<SendQueue>)>,
    /// What waits for the first session.
    waiting: Vec<Bytes>,
}

/// The members that are up or are being dialled.
#[derive(Debug, Clone, Default)]
struct KnownMembers(Arc<Mutex<BTreeMap<PublicKey, KnownMember>>>);

impl KnownMembers {
    /// Hands what waits for a member to its session.
    fn flush(&self, member: PublicKey, outbox: &SendQueue) {
        if let Some(known) = self.lock().get_mut(&member) {
            for frame in known.waiting.drain(..) {
                // A new queue has room for what may wait.
                let _ = outbox.push(frame);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PublicKey, KnownMember>> {
        // No code that holds the lock can panic half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The addresses from which members that are up are heard.
#[derive(Debug, Clone, Default)]
struct ObservedMembers(Arc<Mutex<BTreeMap<PublicKey, IpAddr>>>);

impl ObservedMembers {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<PublicKey, IpAddr>> {
        // No code that holds the lock can panic half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Dials members, and sends frames to them. All sessions stop when the last clone is dropped.
#[derive(Clone)]
pub struct OverlayHandle {
    address: Multiaddr,
    local: PublicKey,
    orders: mpsc::Sender<OverlayOrder>,
    known: KnownMembers,
    observed: ObservedMembers,
    figures: Arc<TransportFigures>,
}

impl fmt::Debug for OverlayHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OverlayHandle({} at {})", self.local, self.address)
    }
}

impl OverlayHandle {
    /// Returns the address that is listened on, with the port that the system gave.
    #[must_use]
    pub fn address(&self) -> &Multiaddr {
        &self.address
    }

    /// Returns the key of this member.
    #[must_use]
    pub fn local(&self) -> PublicKey {
        self.local
    }

    /// Dials a member, unless there is a session with it. What is sent to it meanwhile waits until
    /// [`OverlayEvent::Up`] is read from [`OverlayEvents`], and is dropped when the dial fails.
    pub async fn dial(&self, member: PublicKey, address: &str) {
        let is_up = !self.known.lock().entry(member).or_default().sessions.is_empty();
        if is_up {
            return;
        }
        let address = address.parse().ok();
        // The task that takes this ends only with the last handle, or when nobody takes events.
        let _ = self.orders.send(OverlayOrder::Dial(DialOrder { member, address })).await;
    }

    /// Seeks members by those that were met since the start. What is found comes as events.
    pub async fn seek(&self) {
        // As above.
        let _ = self.orders.send(OverlayOrder::Seek).await;
    }

    /// Queues a frame for a member, and never waits.
    ///
    /// # Errors
    /// Fails when the member is neither up nor being dialled, when the size is not allowed, or when too
    /// much waits for it. In the last case an open session ends.
    pub fn send(&self, to: PublicKey, bytes: Bytes) -> Result<(), SendError> {
        let size = bytes.len();
        if size <= GOODBYE.len() || size > FRAME_BYTES_MAX {
            return Err(SendError::Size { bytes: size, max: FRAME_BYTES_MAX });
        }
        let mut known = self.known.lock();
        let member = known.get_mut(&to).ok_or(SendError::Gone)?;
        match member.sessions.last() {
            Some((_, outbox)) => outbox.push(bytes)?,
            None if member.waiting.len() >= WAITING_FRAMES_MAX => return Err(SendError::TooSlow),
            None => {
                member.waiting.push(bytes);
                return Ok(());
            }
        }
        self.figures.lane_frames_sent_total.inc();
        self.figures.lane_bytes_sent_total.inc_by(size as u64);
        Ok(())
    }

    /// Says goodbye to a member and ends its sessions. No event tells of their end.
    pub fn close(&self, member: PublicKey) {
        let left = self.known.lock().remove(&member);
        for (_, outbox) in left.into_iter().flat_map(|left| left.sessions) {
            // A full queue ends the session as well.
            let _ = outbox.push(Bytes::from_static(GOODBYE));
            tokio::spawn(async move {
                tokio::time::sleep(LINGER).await;
                outbox.cut();
            });
        }
    }

    /// Returns how many members are up.
    #[must_use]
    pub fn up(&self) -> usize {
        self.known.lock().values().filter(|member| !member.sessions.is_empty()).count()
    }

    /// Returns the members that are up, with the addresses from which they are heard.
    #[must_use]
    pub fn observed(&self) -> BTreeMap<PublicKey, IpAddr> {
        self.observed.lock().clone()
    }

    /// Says goodbye to all members, and waits a moment until they were told.
    pub async fn leave(&self) {
        let all: Vec<PublicKey> = self.known.lock().keys().copied().collect();
        for member in all {
            self.close(member);
        }
        tokio::time::sleep(LINGER / 10).await;
    }

    /// Waits until the swarm is gone, and with it the listener. It goes once nobody takes its events.
    pub async fn ended(&self) {
        self.orders.closed().await;
    }
}

/// Starts listening at `listen`, and finds others as `discovery` says. `keypair` is the member's own key in
/// the overlay.
///
/// # Errors
/// Fails when the address cannot be listened on, or the system tells nothing about its local networks.
///
/// # Panics
/// When the key is not of ed25519.
pub async fn start(
    keypair: Keypair,
    (listen, discovery): (&Multiaddr, DiscoverySetup),
    figures: Arc<TransportFigures>,
) -> Result<(OverlayHandle, OverlayEvents), StartPeersError> {
    let local = names::key_of(&keypair.public().to_peer_id()).expect("a key of ed25519");
    let (orders, ordered) = mpsc::channel(ORDERS_MAX);
    let (sender, items) = mpsc::channel(EVENTS_MAX);
    let (fail, failed) = mpsc::channel(ORDERS_MAX);
    let (finds, found) = mpsc::channel(FOUND_MAX);
    let known = KnownMembers::default();
    let channels = SwarmChannels { orders: ordered, items: sender, fail, finds };
    let observed = ObservedMembers::default();
    let shared = (known.clone(), observed.clone(), Arc::clone(&figures));
    let mut swarm = swarm::OverlaySwarm::new(keypair, (listen, &discovery), channels, shared)?;
    let address = swarm.listen(listen).await?;
    tokio::spawn(swarm.run());
    let events = OverlayEvents::new(items, (failed, found), known.clone());
    Ok((OverlayHandle { address, local, orders, known, observed, figures }, events))
}

#[cfg(test)]
mod tests;
