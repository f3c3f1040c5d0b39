//! The gateway: sessions of byte frames with clients, over three carriers.
//!
//! | carrier | for | where | a frame is |
//! | --- | --- | --- | --- |
//! | raw QUIC | programs | UDP port, ALPN [`ALPN`] | `u32` little-endian length, then the bytes |
//! | WebTransport | pages | the same UDP port, ALPN `h3`, CONNECT of `/` | the same |
//! | WebSocket | pages where the others do not get through | `/ws` on the HTTP port | one binary message |
//!
//! A session is the same over each carrier: the same limits, queues, order and ends. Over QUIC the
//! server opens one bidirectional stream, and both sides write frames on it. **The server speaks
//! first.** A client that has not sent a whole frame within [`GatewayLimits::handshake`] is closed.
//! The gateway does not know what frames mean.
//!
//! [`start`] opens QUIC endpoints that show the certificate in use. Clients must learn its hash by
//! other means (`/api/session` tells them). On a loopback address there is one endpoint for each
//! family, with the same port. [`GatewayHandle::sockets`] is for the HTTP server. Pages are let in
//! if their origin is [allowed](Allowed). A page that asks for subprotocols of WebTransport must
//! ask for [`PROTOCOL`] among them. Over WebSocket it must ask for [`WEBSOCKET_PROTOCOL`], and the
//! code of a close is its [`CloseCode`] plus [`CLOSE_CODES`].
//!
//! Frames to a client are either *reliable* (a bounded queue; a client whose queue overflows is
//! closed) or *latest* (one place: a newer frame replaces one that was not written yet). No client
//! can make the gateway hold more than its limits, and no client can make another one wait: see
//! [`GatewayLimits`].
//!
//! ```
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! use metatopia_transport::{
//!     carrier,
//!     certificates::Certificates,
//!     gateway::{self, Delivery, ListenConfig, GatewayEvent, GatewayLimits},
//! };
//! use metatopia_types::Millis;
//!
//! let certificates = Certificates::generate(Millis(1_790_000_000_000)).unwrap();
//! let listen = "127.0.0.1:0".parse().unwrap();
//! let listen_config = ListenConfig::new(listen, certificates.clone());
//! let (gateway, mut events) =
//!     gateway::start(listen_config, GatewayLimits::default(), Default::default()).unwrap();
//!
//! let server = async {
//!     let Some(GatewayEvent::ClientUp { id, .. }) = events.recv().await else { panic!() };
//!     gateway.send(id, Delivery::Reliable, "welcome".into()).unwrap();
//!     let Some(GatewayEvent::ClientFrame { bytes, .. }) = events.recv().await else { panic!() };
//!     assert_eq!(bytes, "hello");
//! };
//! let client = async {
//!     let mut carrier = carrier::connect(gateway.address(), &certificates.hashes()).await.unwrap();
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
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use quinn::{ConnectionError, VarInt};
use tokio::{sync::mpsc, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::{
    admission::Admission,
    client::{Gateway, HeldEvent},
    outgoing::{Outgoing, SessionEnding},
    sources::Sources,
};
use crate::{
    bind::BindError,
    certificates::Certificates,
    figures::{Counter, Gauge, TransportFigures},
    framing::{Oversize, SendError},
    http::Allowed,
    networks::Networks,
};

mod admission;
mod client;
mod endpoint;
mod limits;
mod outgoing;
mod sources;
mod stream;
mod websocket;
mod webtransport;
mod wire;

pub(crate) use admission::Block;
pub use limits::GatewayLimits;
pub use metatopia_protocol::{ClientId, Delivery};
pub(crate) use sources::Meter;
pub use sources::{Ration, SOURCES_MAX, SourceLimits};
pub use websocket::{Admitted, CLOSE_CODES, NotAdmitted, WEBSOCKET_PROTOCOL, WebSockets};

/// The application protocol of a raw connection, and the subprotocol of a WebTransport session.
pub const PROTOCOL: &str = "metatopia/1";

/// The same protocol name in the form of TLS.
pub const ALPN: &[u8] = PROTOCOL.as_bytes();

/// The protocol that pages offer in its place.
pub(crate) const PAGES_ALPN: &[u8] = webtransport::ALPN;

/// The most events of all clients that may wait for the receiver. Beyond it the clients' streams
/// are not read, and each client waits in line for one frame at a time, so that a busy client
/// delays nobody.
pub const EVENTS_MAX: usize = 1_024;

/// The longest reason given for a close, in bytes of UTF-8. Longer ones are cut.
pub const REASON_BYTES_MAX: usize = 256;

/// The way in which a client is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarrierKind {
    /// Raw QUIC, without HTTP.
    Quic,
    /// WebTransport over HTTP/3.
    WebTransport,
    /// WebSocket over HTTP/1.
    WebSocket,
}

impl CarrierKind {
    fn gauge(self, metrics: &TransportFigures) -> &Gauge {
        match self {
            Self::Quic => &metrics.clients_quic,
            Self::WebTransport => &metrics.clients_webtransport,
            Self::WebSocket => &metrics.clients_websocket,
        }
    }

    fn total(self, metrics: &TransportFigures) -> &Counter {
        match self {
            Self::Quic => &metrics.clients_accepted_quic_total,
            Self::WebTransport => &metrics.clients_accepted_webtransport_total,
            Self::WebSocket => &metrics.clients_accepted_websocket_total,
        }
    }
}

impl fmt::Display for CarrierKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quic => "quic",
            Self::WebTransport => "webtransport",
            Self::WebSocket => "websocket",
        })
    }
}

/// The reason why a connection was closed, as a number on the wire. The gateway's own numbers are
/// below [`CloseCode::FIRST_FREE`]; the node may give meaning to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CloseCode(pub u32);

impl CloseCode {
    /// The session ended without any fault.
    pub const DONE: Self = Self(0);
    /// The client did not read what was sent to it.
    pub const TOO_SLOW: Self = Self(1);
    /// The client announced a frame above the limit.
    pub const OVERSIZE: Self = Self(2);
    /// The client sent a frame of no bytes.
    pub const EMPTY: Self = Self(3);
    /// The client did not send a whole frame in time.
    pub const SILENT: Self = Self(4);
    /// The client's address has too many connections.
    pub const CROWDED: Self = Self(5);
    /// The server is stopping.
    pub const SHUTDOWN: Self = Self(6);
    /// The client broke the rules of its carrier.
    pub const MALFORMED: Self = Self(7);
    /// The first number that the gateway does not use itself.
    pub const FIRST_FREE: Self = Self(16);
}

/// Says why a client's session ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientEnd {
    /// The client left by itself.
    #[error("it left")]
    Left,
    /// The node called [`GatewayHandle::close`] or [`GatewayHandle::shutdown`].
    #[error("closed by this server")]
    Closed(CloseCode),
    /// The reliable queue overflowed.
    #[error("too slow for what is sent to it")]
    TooSlow,
    /// The client's place went to a newcomer from an address that has fewer.
    #[error("no place for so many from its address")]
    GaveWay,
    /// The client read nothing for [`GatewayLimits::stall`].
    #[error("it did not read for too long")]
    Stuck,
    /// The client announced a frame above the limit.
    #[error(transparent)]
    Oversize(Oversize),
    /// The client sent a frame of no bytes.
    #[error("it sent a frame of no bytes")]
    Empty,
    /// The client did not send a whole frame in time.
    #[error("it said nothing in time")]
    Silent,
    /// The client broke the rules of its carrier.
    #[error("it sent {0}")]
    Malformed(&'static str),
    /// The connection broke, or was silent for [`GatewayLimits::idle`].
    #[error("connection lost: {0}")]
    Lost(ConnectionError),
}

/// An event of a client. For each client there is `ClientUp`, then its frames in order and without
/// gaps, then `ClientDown`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GatewayEvent {
    /// A client is connected, and waits for the server to speak.
    ClientUp {
        /// The id of the client from now on.
        id: ClientId,
        /// The address of the client, which may move to another one during its session.
        address: SocketAddr,
        /// The way in which the client is connected.
        carrier: CarrierKind,
    },
    /// A frame of 1 to [`GatewayLimits::frame_in_bytes_max`] bytes.
    ClientFrame {
        /// The client that sent the frame.
        id: ClientId,
        /// The bytes of the frame.
        bytes: Bytes,
    },
    /// The client is gone.
    ClientDown {
        /// The id of the client.
        id: ClientId,
        /// The reason of the end.
        end: ClientEnd,
    },
}

/// The fate of a frame that was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// The frame will be written.
    Queued,
    /// The frame will be written in place of an older latest frame, which the client never gets.
    Replaced,
    /// Too much waits for all clients together, and much of it for this one. The latest frame is
    /// dropped, and an older one with it.
    Dropped,
}

/// Says why the gateway could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartGatewayError {
    /// The gateway cannot listen on the address.
    #[error(transparent)]
    Bind(BindError),
    /// The certificate cannot be shown.
    #[error("no certificate: {0}")]
    Certificate(String),
}

/// A client that is connected.
#[derive(Debug)]
struct Present {
    outgoing: Arc<Outgoing>,
    carrier: CarrierKind,
    /// The number of its frames beyond what it may send.
    excess: Arc<AtomicU32>,
    /// Says whether the sim knows the client's key.
    known: Arc<AtomicBool>,
}

/// The connected clients, behind a lock that no panic can leave half-changed.
#[derive(Debug, Default)]
struct Clients(Mutex<BTreeMap<ClientId, Present>>);

impl Clients {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<ClientId, Present>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn outgoing(&self, id: ClientId) -> Option<Arc<Outgoing>> {
        self.lock().get(&id).map(|client| client.outgoing.clone())
    }
}

/// Sends to clients and closes them. The gateway stops when the last clone is dropped.
#[derive(Clone)]
pub struct GatewayHandle(Arc<Inner>);

struct Inner {
    /// One endpoint, or one of each family.
    endpoints: Vec<quinn::Endpoint>,
    address: SocketAddr,
    sockets: WebSockets,
    clients: Arc<Clients>,
    metrics: Arc<TransportFigures>,
    tasks: TaskTracker,
    stop: CancellationToken,
    linger: Duration,
}

impl Inner {
    fn stop(&self) {
        self.stop.cancel();
        for endpoint in &self.endpoints {
            endpoint.close(VarInt::from_u32(CloseCode::SHUTDOWN.0), b"the server stops");
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for GatewayHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GatewayHandle({})", self.0.address)
    }
}

impl GatewayHandle {
    /// Returns the UDP address that is listened on, with the port that the system gave. If both
    /// families of loopback are listened on, it is the address of [`ListenConfig::listen`].
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.0.address
    }

    /// Returns the entry through which the HTTP server hands in sessions over WebSocket.
    #[must_use]
    pub fn sockets(&self) -> WebSockets {
        self.0.sockets.clone()
    }

    /// Returns how many clients are connected.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.0.clients.lock().len()
    }

    /// Queues a frame for a client, and never waits.
    ///
    /// # Errors
    /// Fails when the client is gone, the frame's size is not allowed, or the client is too slow.
    /// In the last case the client is closed with [`CloseCode::TOO_SLOW`].
    pub fn send(&self, id: ClientId, delivery: Delivery, bytes: Bytes) -> Result<Sent, SendError> {
        let size = bytes.len() as u64;
        let outgoing = self.0.clients.outgoing(id).ok_or(SendError::Gone)?;
        let sent = outgoing.push(delivery, bytes)?;
        self.0.metrics.client_frames_sent_total.inc();
        self.0.metrics.client_bytes_sent_total.inc_by(size);
        Ok(sent)
    }

    /// Slows the reading of a client that sent more than it may.
    pub fn slow(&self, id: ClientId) {
        if let Some(client) = self.0.clients.lock().get(&id) {
            client.excess.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Notes whether the sim knows the key of this client. Known people go before strangers of
    /// their address, and their logins are counted apart.
    pub fn set_known(&self, id: ClientId, known: bool) {
        if let Some(client) = self.0.clients.lock().get(&id) {
            client.known.store(known, Ordering::Relaxed);
        }
    }

    /// Closes a client once it has received the reliable frames queued before, or after
    /// [`GatewayLimits::linger`]. Does nothing if the client is gone or being closed.
    pub fn close(&self, id: ClientId, code: CloseCode, reason: &str) {
        let mut end = reason.len().min(REASON_BYTES_MAX);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        if let Some(outgoing) = self.0.clients.outgoing(id) {
            outgoing.end(SessionEnding::Asked(code, reason[..end].to_owned()));
        }
    }

    /// Accepts no more clients, closes all with [`CloseCode::SHUTDOWN`], and waits until they know,
    /// at most about twice [`GatewayLimits::linger`].
    pub async fn shutdown(&self) {
        let Inner { endpoints, clients, tasks, linger, .. } = &*self.0;
        tasks.close();
        endpoints.iter().for_each(|endpoint| endpoint.set_server_config(None));
        let ids: Vec<ClientId> = clients.lock().keys().copied().collect();
        for id in ids {
            self.close(id, CloseCode::SHUTDOWN, "the server stops");
        }
        let idle = async {
            tasks.wait().await;
            for endpoint in endpoints {
                endpoint.wait_idle().await;
            }
        };
        // A client that does not answer is told once, and not waited for.
        let _ = timeout(*linger * 2, idle).await;
        self.0.stop();
    }
}

/// Receives the events of all clients.
#[derive(Debug)]
pub struct GatewayEvents {
    items: mpsc::Receiver<HeldEvent>,
    metrics: Arc<TransportFigures>,
}

impl GatewayEvents {
    /// Waits for the next event. Returns `None` when the gateway has stopped. Nothing is lost when
    /// this is cancelled.
    pub async fn recv(&mut self) -> Option<GatewayEvent> {
        let (event, permit) = self.items.recv().await?;
        drop(permit);
        if let GatewayEvent::ClientDown { end, .. } = &event {
            self.count(end);
        }
        Some(event)
    }

    /// Counts the end of a client that was too slow or at fault.
    fn count(&self, end: &ClientEnd) {
        let counted = match end {
            ClientEnd::TooSlow | ClientEnd::Stuck => &self.metrics.clients_too_slow_total,
            ClientEnd::Oversize(_)
            | ClientEnd::Empty
            | ClientEnd::Silent
            | ClientEnd::Malformed(_) => &self.metrics.clients_faulty_total,
            _ => return,
        };
        counted.inc();
    }
}

/// The address where clients come in, and which clients may.
#[derive(Debug, Clone)]
pub struct ListenConfig {
    /// The UDP address to listen on.
    pub listen: SocketAddr,
    /// The certificates that are shown there.
    pub certificates: Certificates,
    /// The origins whose pages are let in.
    pub allowed: Allowed,
    /// The sources that are not rationed.
    pub trusted: Networks,
    /// The frames that may bring in a new key, which are rationed by source.
    pub brings_in: BringsIn,
}

/// Says whether a frame of a client may bring in a new key.
pub type BringsIn = fn(&[u8]) -> bool;

impl ListenConfig {
    /// Returns a configuration for any program and no page, where no source is trusted and no frame
    /// is a login.
    #[must_use]
    pub fn new(listen: SocketAddr, certificates: Certificates) -> Self {
        let (allowed, trusted) = (Allowed::default(), Networks::default());
        Self { listen, certificates, allowed, trusted, brings_in: |_| false }
    }
}

/// Starts listening on a UDP address. Must be called inside a tokio runtime.
///
/// # Errors
/// Fails when the address cannot be listened on, or the certificate cannot be shown.
///
/// # Panics
/// Panics when a limit makes no sense: a budget that no frame fits into, or frames of 4 GiB and
/// more.
pub fn start(
    listen_config: ListenConfig,
    limits: GatewayLimits,
    metrics: Arc<TransportFigures>,
) -> Result<(GatewayHandle, GatewayEvents), StartGatewayError> {
    for (frame, budget) in [
        (limits.frame_out_bytes_max, limits.reliable_bytes_max),
        (limits.frame_in_bytes_max, limits.receive_bytes_max),
    ] {
        assert!(frame + 64 <= budget && budget <= u32::MAX as usize, "budget of {budget} bytes");
    }
    let ListenConfig { listen, certificates, allowed, trusted, brings_in } = listen_config;
    let endpoints = endpoint::open(listen, &limits, &certificates)?;
    let bind = |source| endpoint::bind_error(listen, source);
    let address = endpoints[0].local_addr().map_err(bind)?;
    let (sender, items) = mpsc::channel(EVENTS_MAX);
    let clients = Arc::new(Clients::default());
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let gateway = Arc::new(Gateway {
        limits,
        items: sender,
        clients: clients.clone(),
        admission: Admission::new(&limits, Sources::new(limits.source, trusted)),
        allowed,
        brings_in,
        held: Arc::new(AtomicUsize::new(0)),
        metrics: metrics.clone(),
        names: AtomicU64::new(0),
        tasks: tasks.clone(),
        stop: stop.clone(),
    });
    let sockets = WebSockets(Arc::downgrade(&gateway));
    for endpoint in &endpoints {
        tokio::spawn(endpoint::accept(endpoint.clone(), gateway.clone()));
    }
    let (linger, figures) = (limits.linger, metrics.clone());
    let inner =
        Inner { endpoints, address, sockets, clients, metrics: figures, tasks, stop, linger };
    Ok((GatewayHandle(Arc::new(inner)), GatewayEvents { items, metrics }))
}

#[cfg(test)]
mod tests;
