//! The gateway: sessions of byte frames with clients, over QUIC.
//!
//! [`start`] opens a QUIC endpoint with a certificate of its own, whose hash must be told to
//! clients by other means (`/api/session` does). A client connects with the protocol [`ALPN`]; the
//! server opens one bidirectional stream, and both sides write frames on it: `u32` little-endian
//! length, then 1 or more bytes. **The server speaks first.** A client that has not sent a whole
//! frame within [`GatewayLimits::handshake`] is closed. What frames mean is not known here.
//!
//! Frames to a client are either *reliable* (a bounded queue; a client for which it overflows is
//! closed) or *latest* (one place: a newer frame replaces one that was not written yet). Nothing a
//! client does, or does not do, makes the gateway hold more than its limits, and no client can make
//! another one wait: see [`GatewayLimits`].
//!
//! Browsers cannot connect here: they need WebTransport or WebSocket.
//!
//! ```
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! use metatopia::{
//!     carrier,
//!     gateway::{self, Delivery, GatewayEvent, GatewayLimits},
//! };
//!
//! let any = "127.0.0.1:0".parse().unwrap();
//! let (gateway, mut events) =
//!     gateway::start(any, GatewayLimits::default(), Default::default()).unwrap();
//!
//! let server = async {
//!     let Some(GatewayEvent::ClientUp { id, .. }) = events.recv().await else { panic!() };
//!     gateway.send(id, Delivery::Reliable, "welcome".into()).unwrap();
//!     let Some(GatewayEvent::ClientFrame { bytes, .. }) = events.recv().await else { panic!() };
//!     assert_eq!(bytes, "hello");
//! };
//! let client = async {
//!     let mut carrier = carrier::connect(gateway.address(), gateway.certificate()).await.unwrap();
//!     assert_eq!(carrier.recv.recv().await.unwrap(), "welcome");
//!     carrier.send.send(b"hello").await.unwrap();
//!     carrier
//! };
//! tokio::join!(server, client);
//! # });
//! ```

use std::{
    collections::BTreeMap,
    fmt,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicUsize},
    time::Duration,
};

use bytes::Bytes;
use quinn::{ConnectionError, VarInt};
use tokio::{sync::mpsc, time::timeout};

use self::{
    client::{Item, What},
    outgoing::{Ending, Outgoing},
};
use crate::{bind::BindError, framing::Oversize, metrics::Metrics, tls::CertificateHash};

mod admission;
mod client;
mod endpoint;
mod limits;
mod outgoing;

pub use limits::GatewayLimits;

/// The application protocol of a client's connection.
pub const ALPN: &[u8] = b"metatopia/1";

/// Events of all clients that may wait for the receiver. Beyond it the clients' streams are not
/// read, each client waiting in line for one frame at a time, so that a talkative one delays
/// nobody.
pub const EVENTS_MAX: usize = 1_024;

/// Longest reason given for a close, in bytes of UTF-8; longer ones are cut.
pub const REASON_BYTES_MAX: usize = 256;

/// Names a client for as long as the server runs; never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// Why a connection was closed, as a number on the wire. The gateway's own are below
/// [`CloseCode::FIRST_FREE`]; the node may give meaning to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CloseCode(pub u32);

impl CloseCode {
    /// Nothing is wrong.
    pub const DONE: Self = Self(0);
    /// The client did not read what was sent to it.
    pub const TOO_SLOW: Self = Self(1);
    /// It announced a frame above the limit.
    pub const OVERSIZE: Self = Self(2);
    /// It sent a frame of no bytes.
    pub const EMPTY: Self = Self(3);
    /// It did not send a whole frame in time.
    pub const SILENT: Self = Self(4);
    /// Its address has too many connections.
    pub const CROWDED: Self = Self(5);
    /// The server stops.
    pub const SHUTDOWN: Self = Self(6);
    /// The first number that the gateway does not use itself.
    pub const FIRST_FREE: Self = Self(16);
}

/// Why a client's session ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientEnd {
    /// It left.
    #[error("it left")]
    Left,
    /// [`GatewayHandle::close`] or [`GatewayHandle::shutdown`].
    #[error("closed by this server")]
    Closed(CloseCode),
    /// The reliable queue overflowed.
    #[error("too slow for what is sent to it")]
    TooSlow,
    /// It took nothing for [`GatewayLimits::stall`].
    #[error("it did not read for too long")]
    Stuck,
    /// It announced a frame above the limit.
    #[error(transparent)]
    Oversize(Oversize),
    /// It sent a frame of no bytes.
    #[error("it sent a frame of no bytes")]
    Empty,
    /// It did not send a whole frame in time.
    #[error("it said nothing in time")]
    Silent,
    /// The connection broke, or was silent for [`GatewayLimits::idle`].
    #[error("connection lost: {0}")]
    Lost(ConnectionError),
}

/// What happened. Per client: `ClientUp`, its frames in order and without gaps, `ClientDown`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GatewayEvent {
    /// A client is there, and waits for the server to speak.
    ClientUp {
        /// Its name from now on.
        id: ClientId,
        /// Where it is; a client may move to another address during its session.
        address: SocketAddr,
    },
    /// A frame of 1 to [`GatewayLimits::frame_in_bytes_max`] bytes.
    ClientFrame {
        /// Who sent it.
        id: ClientId,
        /// What it sent.
        bytes: Bytes,
    },
    /// The client is gone.
    ClientDown {
        /// Who.
        id: ClientId,
        /// Why.
        end: ClientEnd,
    },
}

/// How much a frame matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Every frame arrives, in order, or the session ends.
    Reliable,
    /// Only the newest matters: it replaces one that was not written yet. Between reliable frames
    /// it may arrive in any place.
    Latest,
}

/// What became of a frame that was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It will be written.
    Queued,
    /// It will be written instead of an older latest frame, which the client never gets.
    Replaced,
    /// Too much waits for all clients together, and much of it for this one: the latest frame is
    /// dropped, and an older one with it.
    Dropped,
}

/// Why a frame was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The client is not there, or is being closed.
    #[error("no such client")]
    Gone,
    /// Too many reliable frames wait. The client is closed now.
    #[error("the client is too slow")]
    TooSlow,
    /// Empty, or above the limit; the session goes on without it.
    #[error("frame of {bytes} bytes, where 1 to {max} are possible")]
    Size {
        /// Its size.
        bytes: usize,
        /// The limit.
        max: usize,
    },
}

/// Why the gateway could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be listened on.
    #[error(transparent)]
    Bind(BindError),
    /// No certificate could be made.
    #[error("no certificate: {0}")]
    Certificate(String),
}

/// The clients that are there, behind a lock that no panic can leave half-changed.
#[derive(Debug, Default)]
struct Clients(Mutex<BTreeMap<ClientId, Arc<Outgoing>>>);

impl Clients {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<ClientId, Arc<Outgoing>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends to clients and closes them. The gateway stops when the last clone is dropped.
#[derive(Clone)]
pub struct GatewayHandle(Arc<Inner>);

struct Inner {
    endpoint: quinn::Endpoint,
    address: SocketAddr,
    certificate: CertificateHash,
    clients: Arc<Clients>,
    metrics: Arc<Metrics>,
    linger: Duration,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.endpoint.close(VarInt::from_u32(CloseCode::SHUTDOWN.0), b"the server stops");
    }
}

impl fmt::Debug for GatewayHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GatewayHandle({})", self.0.address)
    }
}

impl GatewayHandle {
    /// The UDP address that is listened on, with the port the system gave.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.0.address
    }

    /// The hash of the certificate, for clients to pin. New with every start.
    #[must_use]
    pub fn certificate(&self) -> CertificateHash {
        self.0.certificate
    }

    /// Clients that are there.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.0.clients.lock().len()
    }

    /// Queues a frame for a client; never waits.
    ///
    /// # Errors
    /// When the client is gone, the frame's size is impossible, or the client is too slow; in the
    /// last case it is closed with [`CloseCode::TOO_SLOW`].
    pub fn send(&self, id: ClientId, delivery: Delivery, bytes: Bytes) -> Result<Sent, SendError> {
        let size = bytes.len() as u64;
        let outgoing = match self.0.clients.lock().get(&id) {
            Some(outgoing) => outgoing.clone(),
            None => return Err(SendError::Gone),
        };
        let sent = outgoing.push(delivery, bytes)?;
        self.0.metrics.client_frames_sent_total.one();
        self.0.metrics.client_bytes_sent_total.add(size);
        Ok(sent)
    }

    /// Closes a client once it has received the reliable frames queued before, or after
    /// [`GatewayLimits::linger`]. Does nothing if it is gone or being closed.
    pub fn close(&self, id: ClientId, code: CloseCode, reason: &str) {
        let mut end = reason.len().min(REASON_BYTES_MAX);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        if let Some(outgoing) = self.0.clients.lock().get(&id) {
            outgoing.end(Ending::Asked(code, reason[..end].to_owned()));
        }
    }

    /// Takes no more clients, closes all with [`CloseCode::SHUTDOWN`], and waits until they know,
    /// at most about twice [`GatewayLimits::linger`].
    pub async fn shutdown(&self) {
        let endpoint = &self.0.endpoint;
        endpoint.set_server_config(None);
        let ids: Vec<ClientId> = self.0.clients.lock().keys().copied().collect();
        for id in ids {
            self.close(id, CloseCode::SHUTDOWN, "the server stops");
        }
        // A client that does not answer is told once, and not waited for.
        let _ = timeout(self.0.linger * 2, endpoint.wait_idle()).await;
        endpoint.close(VarInt::from_u32(CloseCode::SHUTDOWN.0), b"the server stops");
    }
}

/// Receives what happens with all clients.
#[derive(Debug)]
pub struct GatewayEvents {
    items: mpsc::Receiver<Item>,
    metrics: Arc<Metrics>,
}

impl GatewayEvents {
    /// Waits for the next event; `None` when the gateway has stopped. Nothing is lost when this is
    /// cancelled.
    pub async fn recv(&mut self) -> Option<GatewayEvent> {
        let Item { id, what } = self.items.recv().await?;
        Some(match what {
            What::Up(address) => GatewayEvent::ClientUp { id, address },
            What::Frame(bytes, share) => {
                drop(share);
                GatewayEvent::ClientFrame { id, bytes }
            }
            What::Ended(end) => {
                match end {
                    ClientEnd::TooSlow | ClientEnd::Stuck => {
                        self.metrics.clients_too_slow_total.one();
                    }
                    ClientEnd::Oversize(_) | ClientEnd::Empty | ClientEnd::Silent => {
                        self.metrics.clients_faulty_total.one();
                    }
                    _ => {}
                }
                GatewayEvent::ClientDown { id, end }
            }
        })
    }
}

/// Starts listening on a UDP address. Must be called inside a tokio runtime.
///
/// # Errors
/// When the address cannot be listened on, or no certificate can be made.
///
/// # Panics
/// When a limit makes no sense: a budget that no frame fits into, or frames of 4 GiB and more.
pub fn start(
    listen: SocketAddr,
    limits: GatewayLimits,
    metrics: Arc<Metrics>,
) -> Result<(GatewayHandle, GatewayEvents), StartError> {
    for (frame, budget) in [
        (limits.frame_out_bytes_max, limits.reliable_bytes_max),
        (limits.frame_in_bytes_max, limits.receive_bytes_max),
    ] {
        assert!(frame + 64 <= budget && budget <= u32::MAX as usize, "budget of {budget} bytes");
    }
    let (endpoint, certificate) = endpoint::open(listen, &limits)?;
    let bind = |source| endpoint::bind_error(listen, source);
    let address = endpoint.local_addr().map_err(bind)?;
    let (sender, items) = mpsc::channel(EVENTS_MAX);
    let clients = Arc::new(Clients::default());
    let gateway = client::Gateway {
        limits,
        items: sender,
        clients: clients.clone(),
        held: Arc::new(AtomicUsize::new(0)),
        metrics: metrics.clone(),
    };
    tokio::spawn(endpoint::accept(endpoint.clone(), gateway));
    let linger = limits.linger;
    let inner = Inner { endpoint, address, certificate, clients, metrics: metrics.clone(), linger };
    Ok((GatewayHandle(Arc::new(inner)), GatewayEvents { items, metrics }))
}

#[cfg(test)]
mod tests;
