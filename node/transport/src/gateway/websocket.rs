//! Frames over WebSocket: one binary message each.

use std::{
    error::Error as _,
    fmt,
    net::SocketAddr,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use bytes::Bytes;
use futures::{
    SinkExt as _, StreamExt as _,
    stream::{SplitSink, SplitStream},
};
use metatopia_types::SteadyRate;
use quinn::ConnectionError;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::{Error, error::CapacityError};

use super::{
    CarrierKind, ClientEnd, CloseCode, GatewayLimits,
    admission::Ticket,
    client::{Arrival, Gateway},
    sources::Meter,
    wire::{Receive, Transmit},
};
use crate::{framing::Oversize, http::WrittenBytes};

/// The subprotocol of a session. Browsers allow no slash in it, so it differs from that of the
/// others.
pub const WEBSOCKET_PROTOCOL: &str = "metatopia.1";

/// The number that is added to the [`CloseCode`] of a session; WebSocket leaves 4000 to 4999 to
/// programs.
pub const CLOSE_CODES: u16 = 4_000;

/// The longest reason of a close that WebSocket has room for, in bytes.
const REASON_BYTES_MAX: usize = 123;

/// The entry for sessions over WebSocket, which the HTTP server uses. It keeps no gateway alive.
#[derive(Clone, Debug, Default)]
pub struct WebSockets(pub(super) Weak<Gateway>);

/// Says why a client does not come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAdmitted {
    /// There is no room, or the client's address has too many clients.
    #[error("no room for more clients")]
    Full,
    /// The gateway has stopped.
    #[error("the gateway has stopped")]
    Stopped,
}

/// A client that has a place, before its session.
pub struct Admitted {
    gateway: Arc<Gateway>,
    address: SocketAddr,
    ticket: Ticket,
    deadline: Instant,
}

impl fmt::Debug for Admitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Admitted({})", self.address)
    }
}

impl WebSockets {
    /// Counts a client that connected by TCP from `address`.
    ///
    /// # Errors
    /// See [`NotAdmitted`].
    pub fn admit(&self, address: SocketAddr) -> Result<Admitted, NotAdmitted> {
        let gateway = self.0.upgrade().ok_or(NotAdmitted::Stopped)?;
        if gateway.tasks.is_closed() || gateway.stop.is_cancelled() {
            return Err(NotAdmitted::Stopped);
        }
        let deadline = Instant::now() + gateway.limits.handshake;
        match gateway.admission.enter(address.ip(), true) {
            Ok(ticket) => Ok(Admitted { gateway, address, ticket, deadline }),
            Err(_) => {
                gateway.metrics.clients_refused_total.inc();
                Err(NotAdmitted::Full)
            }
        }
    }
}

impl Admitted {
    /// Returns the limits of the client's session.
    #[must_use]
    pub fn limits(&self) -> &GatewayLimits {
        &self.gateway.limits
    }

    /// Returns the meter of what is read from the client.
    pub(crate) fn meter(&self) -> Meter {
        self.gateway.meter(&self.ticket)
    }

    /// Runs the session until it ends.
    pub(crate) async fn serve(self, socket: WebSocket, written: WrittenBytes) {
        let Self { gateway, address, ticket, deadline } = self;
        let (sink, stream) = socket.split();
        let idle = gateway.limits.idle;
        let max = gateway.limits.frame_in_bytes_max;
        let controls = SteadyRate::default();
        let recv = SocketReceiver { stream, idle, max, controls };
        let (every, next) = (idle / 4, Instant::now() + idle / 4);
        let send = SocketSender { sink, written, every, next };
        let id = gateway.name();
        let arrival = Arrival { id, address, carrier: CarrierKind::WebSocket, deadline };
        let tasks = gateway.tasks.clone();
        tasks.track_future(gateway.session(arrival, recv, send, ticket)).await;
    }
}

struct SocketReceiver {
    stream: SplitStream<WebSocket>,
    idle: Duration,
    max: usize,
    controls: SteadyRate<Instant>,
}

/// The pings and pongs that a session may send in a second, and at once after a quiet time. The
/// client answers our own pings with one every few seconds; a browser sends none by itself.
const CONTROLS_PER_SECOND: u32 = 4;
const CONTROLS_BURST: u32 = 16;

/// Counts one more control frame. Returns false when there are too many.
fn is_control_due(rate: &mut SteadyRate<Instant>, now: Instant) -> bool {
    let gap = Duration::from_secs(1) / CONTROLS_PER_SECOND;
    rate.take(gap, gap * CONTROLS_BURST, now)
}

impl Receive for SocketReceiver {
    async fn frame(&mut self) -> Result<Bytes, ClientEnd> {
        loop {
            let Ok(message) = timeout(self.idle, self.stream.next()).await else {
                return Err(ClientEnd::Lost(ConnectionError::TimedOut));
            };
            match message {
                Some(Ok(Message::Binary(frame))) if frame.is_empty() => {
                    return Err(ClientEnd::Empty);
                }
                Some(Ok(Message::Binary(frame))) => return Ok(frame),
                Some(Ok(Message::Text(_))) => {
                    return Err(ClientEnd::Malformed("a message of text"));
                }
                // Pings are answered below this code, which costs as much as reading them.
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {
                    if !is_control_due(&mut self.controls, Instant::now()) {
                        return Err(ClientEnd::Malformed("too many pings and pongs"));
                    }
                }
                Some(Ok(Message::Close(_))) | None => return Err(ClientEnd::Left),
                Some(Err(error)) => return Err(ended(&error, self.max)),
            }
        }
    }
}

fn ended(error: &axum::Error, max: usize) -> ClientEnd {
    match error.source().and_then(|source| source.downcast_ref::<Error>()) {
        Some(Error::Capacity(CapacityError::MessageTooLong { size, .. })) => {
            let announced = u32::try_from(*size).unwrap_or(u32::MAX);
            ClientEnd::Oversize(Oversize { announced, max })
        }
        Some(Error::Capacity(_) | Error::Protocol(_) | Error::Utf8(_) | Error::AttackAttempt) => {
            ClientEnd::Malformed("a message that is none of WebSocket's")
        }
        Some(Error::ConnectionClosed | Error::AlreadyClosed) => ClientEnd::Left,
        _ => ClientEnd::Lost(ConnectionError::Reset),
    }
}

struct SocketSender {
    sink: SplitSink<WebSocket, Message>,
    /// The count of the bytes that the system has taken.
    written: WrittenBytes,
    /// The time between two pings, and when the next one is due.
    every: Duration,
    next: Instant,
}

impl SocketSender {
    async fn say(&mut self, messages: Vec<Message>, stall: Duration) -> Result<(), ClientEnd> {
        let Self { sink, written, .. } = self;
        let said = async {
            for message in messages {
                sink.feed(message).await?;
            }
            sink.flush().await
        };
        match unless_stuck(written, stall, said).await {
            Some(Ok(())) => Ok(()),
            // The receiver sees the error too, once it has read what came before.
            Some(Err(_)) => std::future::pending().await,
            None => Err(ClientEnd::Stuck),
        }
    }
}

impl Transmit for SocketSender {
    async fn write(&mut self, frames: &[Bytes], stall: Duration) -> Result<(), ClientEnd> {
        self.say(frames.iter().cloned().map(Message::Binary).collect(), stall).await
    }

    async fn pulse(&mut self, stall: Duration) -> Result<(), ClientEnd> {
        let now = Instant::now();
        if now < self.next {
            return Ok(());
        }
        self.next = now + self.every;
        self.say(vec![Message::Ping(Bytes::new())], stall).await
    }

    async fn finish(&mut self, code: CloseCode, reason: &str) {
        let _ = self.sink.send(closing(code, reason)).await;
        // The receiver gets the client's answer, which comes after the client has read everything.
        std::future::pending().await
    }

    async fn close(mut self, code: CloseCode, reason: &str, linger: Duration) {
        let said = async {
            // An error means that either side has closed the session already.
            let _ = self.sink.send(closing(code, reason)).await;
            let _ = self.sink.close().await;
        };
        let _ = timeout(linger, said).await;
    }
}

fn closing(code: CloseCode, reason: &str) -> Message {
    let code = CLOSE_CODES + u16::try_from(code.0).unwrap_or(999).min(999);
    let mut end = reason.len().min(REASON_BYTES_MAX);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    Message::Close(Some(CloseFrame { code, reason: Utf8Bytes::from(&reason[..end]) }))
}

/// Runs `work` as long as the system takes something at least every `stall`, or a bit less than
/// twice that.
async fn unless_stuck<T>(
    written: &AtomicU64,
    stall: Duration,
    work: impl Future<Output = T>,
) -> Option<T> {
    let mut work = std::pin::pin!(work);
    let mut before = written.load(Ordering::Relaxed);
    loop {
        if let Ok(done) = timeout(stall, &mut work).await {
            return Some(done);
        }
        let now = written.load(Ordering::Relaxed);
        if now == before {
            return None;
        }
        before = now;
    }
}
