//! One client, from its handshake to its end.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use quinn::{Connecting, Connection, VarInt, crypto::rustls::HandshakeData};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    time::{Instant, timeout, timeout_at},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    BringsIn, CarrierKind, ClientEnd, ClientId, Clients, CloseCode, GatewayEvent, GatewayLimits,
    Present,
    admission::{Admission, Ticket},
    outgoing::{Outgoing, SessionEnding, SharedBytes, WriterStep},
    sources::{Meter, RationKind as Rationed, Rations},
    stream::{StreamReceiver, StreamSender},
    webtransport::{self, Http3, SessionRefusal},
    wire::{Receive, Transmit},
};
use crate::{figures::TransportFigures, http::Allowed, pace::FrameLimiter};

/// The cost of holding one received frame, besides its bytes: tiny frames must not be free.
const FRAME_OVERHEAD_BYTES: usize = 64;

/// An event of one client's task for the receiver that all tasks share. The permit of a frame returns
/// the frame's share of the client's budget when it is dropped.
pub(super) type HeldEvent = (GatewayEvent, Option<OwnedSemaphorePermit>);

/// The state that the tasks of all clients share.
#[derive(Debug)]
pub(super) struct Gateway {
    pub(super) limits: GatewayLimits,
    pub(super) items: mpsc::Sender<HeldEvent>,
    pub(super) clients: Arc<Clients>,
    pub(super) admission: Arc<Admission>,
    pub(super) allowed: Allowed,
    /// The frames that ask for a login.
    pub(super) brings_in: BringsIn,
    pub(super) held: SharedBytes,
    pub(super) metrics: Arc<TransportFigures>,
    pub(super) names: AtomicU64,
    /// The tasks of all clients, from their first packet to their end.
    pub(super) tasks: TaskTracker,
    /// Cancelled when no more clients are accepted and all connected ones end.
    pub(super) stop: CancellationToken,
}

/// A client that begins its session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    pub(super) id: ClientId,
    pub(super) address: SocketAddr,
    pub(super) carrier: CarrierKind,
    /// The time by which its first frame must be there.
    pub(super) deadline: Instant,
}

/// The limits that decide how fast a client is read.
struct ReadLimiter {
    pace: FrameLimiter,
    rations: Rations,
    /// Says whether the sim knows the client's key.
    known: Arc<AtomicBool>,
}

/// The reason that a client gets whose place went to another one.
const NO_PLACE: &str = "no place for so many from your address";

fn close(connection: &Connection, code: CloseCode, reason: &str) {
    connection.close(VarInt::from_u32(code.0), reason.as_bytes());
}

/// Returns the carrier that the client chose among the protocols that we offer.
fn carrier(connection: &Connection) -> CarrierKind {
    let data = connection.handshake_data().and_then(|data| data.downcast::<HandshakeData>().ok());
    match data.and_then(|data| data.protocol) {
        Some(protocol) if protocol == webtransport::ALPN => CarrierKind::WebTransport,
        _ => CarrierKind::Quic,
    }
}

impl Gateway {
    /// Returns an id that no client had before.
    pub(super) fn name(&self) -> ClientId {
        ClientId(self.names.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Serves a client that came by QUIC until it ends. Its place is free when this returns.
    pub(super) async fn serve(
        self: Arc<Self>,
        id: ClientId,
        address: SocketAddr,
        connecting: Connecting,
        mut ticket: Ticket,
    ) {
        let deadline = Instant::now() + self.limits.handshake;
        let Ok(Ok(connection)) = timeout_at(deadline, connecting).await else {
            self.metrics.clients_refused_total.inc();
            return;
        };
        if !ticket.validate() {
            self.metrics.clients_refused_total.inc();
            return close(&connection, CloseCode::CROWDED, "too many from your address");
        }
        let carrier = carrier(&connection);
        let opened = match carrier {
            CarrierKind::WebTransport => self.open_webtransport(&connection, deadline).await,
            _ => self.open_raw(&connection, deadline).await,
        };
        let Some((send, recv)) = opened else {
            return;
        };
        let recv = recv.metered(self.meter(&ticket));
        let arrival = Arrival { id, address, carrier, deadline };
        self.session(arrival, recv, send, ticket).await;
    }

    /// Returns the meter of what is read from the client that has this place.
    pub(super) fn meter(&self, ticket: &Ticket) -> Meter {
        Meter::new(self.limits.bytes_per_second(), ticket.rations())
    }

    async fn open_raw(
        &self,
        connection: &Connection,
        deadline: Instant,
    ) -> Option<(StreamSender, StreamReceiver)> {
        let Ok(Ok((send, recv))) = timeout_at(deadline, connection.open_bi()).await else {
            close(connection, CloseCode::SILENT, "no stream allowed in time");
            return None;
        };
        let send = StreamSender::new(connection.clone(), send, None);
        Some((send, StreamReceiver::raw(recv, self.limits.frame_in_bytes_max)))
    }

    async fn open_webtransport(
        &self,
        connection: &Connection,
        deadline: Instant,
    ) -> Option<(StreamSender, StreamReceiver)> {
        let max = self.limits.frame_in_bytes_max;
        let accepted = webtransport::accept(connection, &self.allowed, max);
        match timeout_at(deadline, accepted).await {
            Ok(Ok(halves)) => return Some(halves),
            Ok(Err(SessionRefusal::Lost)) => {}
            Ok(Err(SessionRefusal::Nonsense)) => {
                self.metrics.clients_mistaken_total.inc();
                connection.close(Http3::GENERAL_PROTOCOL_ERROR, b"no request for WebTransport");
            }
            Ok(Err(SessionRefusal::Answered { foreign, http3 })) => {
                let counted = match foreign {
                    true => &self.metrics.clients_foreign_total,
                    false => &self.metrics.clients_mistaken_total,
                };
                counted.inc();
                let _ = timeout(self.limits.linger, http3.refused()).await;
                connection.close(Http3::NO_ERROR, b"");
            }
            Err(_) => {
                self.metrics.clients_refused_total.inc();
                connection.close(Http3::GENERAL_PROTOCOL_ERROR, b"no request in time");
            }
        }
        None
    }

    /// Runs a session over any carrier until it ends.
    pub(super) async fn session(
        &self,
        arrival: Arrival,
        recv: impl Receive,
        mut send: impl Transmit,
        ticket: Ticket,
    ) {
        let Arrival { id, address, carrier, deadline } = arrival;
        let Some(waited) = self.let_in(&ticket).await else {
            self.metrics.clients_refused_total.inc();
            return send.close(CloseCode::CROWDED, NO_PLACE, self.limits.linger).await;
        };
        // The time in line does not count against the first frame.
        let deadline = deadline + waited;
        let outgoing = Arc::new(Outgoing::new(self.limits, self.held.clone()));
        let pace = FrameLimiter::new(self.limits.frames_per_second);
        let (present, excess) = (outgoing.clone(), pace.excess());
        let known = ticket.known();
        let there = Present { outgoing: present, carrier, excess, known: known.clone() };
        // This comes before the event, so that the node can send to the client as soon as it gets
        // the event.
        self.clients.lock().insert(id, there);
        let reading = ReadLimiter { pace, rations: ticket.rations(), known };
        self.metrics.clients_accepted_total.inc();
        carrier.total(&self.metrics).inc();
        self.count(carrier);
        let mut end = ClientEnd::Closed(CloseCode::SHUTDOWN);
        if self.tell(GatewayEvent::ClientUp { id, address, carrier }, None).await {
            end = tokio::select! {
                end = self.read(id, recv, deadline, reading) => end,
                () = ticket.lost() => ClientEnd::GaveWay,
                end = self.write(&mut send, &outgoing) => end,
                () = self.stop.cancelled() => end,
                ending = outgoing.overdue(self.limits.linger) => match ending {
                    SessionEnding::TooSlow => ClientEnd::TooSlow,
                    SessionEnding::Asked(code, _) => ClientEnd::Closed(code),
                },
            };
        }
        if let (ClientEnd::Left, Some(SessionEnding::Asked(code, _))) = (&end, outgoing.ending()) {
            // The node asked for the end, and the clients of some carriers hang up then.
            end = ClientEnd::Closed(code);
        }
        self.clients.lock().remove(&id);
        self.count(carrier);
        self.say_goodbye(send, &end, outgoing.ending()).await;
        tracing::debug!(client = id.0, %address, %carrier, %end, "client ended");
        // This comes before the event, so that the place is free when the node learns of the end.
        drop(ticket);
        self.tell(GatewayEvent::ClientDown { id, end }, None).await;
    }

    /// Waits until the source of this place may have one more session, and returns how long that
    /// took. Returns none when the place went to another client, or the gateway stops.
    async fn let_in(&self, ticket: &Ticket) -> Option<Duration> {
        let (came, rations) = (Instant::now(), ticket.rations());
        tokio::select! {
            biased;
            () = ticket.lost() => None,
            () = self.stop.cancelled() => None,
            () = rations.wait(Rationed::Session, false) => Some(came.elapsed()),
        }
    }

    fn count(&self, carrier: CarrierKind) {
        let clients = self.clients.lock();
        self.metrics.clients.set(clients.len() as u64);
        let same = clients.values().filter(|client| client.carrier == carrier).count();
        carrier.gauge(&self.metrics).set(same as u64);
    }

    /// Sends an event. Returns false when the receiver is gone.
    async fn tell(&self, event: GatewayEvent, permit: Option<OwnedSemaphorePermit>) -> bool {
        self.items.send((event, permit)).await.is_ok()
    }

    /// Reads what the client sends. While the receiver is behind, or the client is too fast, the
    /// carrier is not read, and the client has to wait.
    async fn read(
        &self,
        id: ClientId,
        mut recv: impl Receive,
        deadline: Instant,
        reading: ReadLimiter,
    ) -> ClientEnd {
        let ReadLimiter { mut pace, rations, known } = reading;
        let budget = Arc::new(Semaphore::new(self.limits.receive_bytes_max));
        let mut spoke = false;
        loop {
            let received = match spoke {
                true => recv.frame().await,
                false => match timeout_at(deadline, recv.frame()).await {
                    Ok(received) => received,
                    Err(_) => return ClientEnd::Silent,
                },
            };
            let frame = match received {
                Ok(frame) => frame,
                Err(end) => return end,
            };
            spoke = true;
            self.metrics.client_frames_received_total.inc();
            self.metrics.client_bytes_received_total.inc_by(frame.len() as u64);
            if (self.brings_in)(&frame) {
                let known = known.load(Ordering::Relaxed);
                let what = if known { Rationed::Login } else { Rationed::FirstLogin };
                rations.wait(what, known).await;
            }
            let bytes = frame.len();
            let share = bytes + FRAME_OVERHEAD_BYTES;
            let share = u32::try_from(share).expect("budgets are below 4 GiB");
            let permit = budget.clone().acquire_many_owned(share).await;
            let permit = permit.expect("the budget is never closed");
            let event = GatewayEvent::ClientFrame { id, bytes: frame };
            if !self.tell(event, Some(permit)).await {
                return ClientEnd::Closed(CloseCode::SHUTDOWN);
            }
            pace.take(bytes).await;
        }
    }

    async fn write(&self, send: &mut impl Transmit, outgoing: &Outgoing) -> ClientEnd {
        let stall = self.limits.stall;
        let mut frames = Vec::new();
        loop {
            frames.clear();
            let step = timeout(self.limits.idle / 4, outgoing.take(&mut frames)).await;
            if let Err(end) = send.pulse(stall).await {
                return end;
            }
            match step {
                // There is no frame to send, only a sign of life.
                Err(_) => {}
                Ok(WriterStep::Write(taken)) => match send.write(&frames, stall).await {
                    Ok(()) => outgoing.written(taken),
                    Err(end) => return end,
                },
                Ok(WriterStep::Finish) => break,
            }
        }
        let Some(SessionEnding::Asked(code, reason)) = outgoing.ending() else {
            return ClientEnd::TooSlow;
        };
        // `Outgoing::overdue` ends the wait.
        send.finish(code, &reason).await;
        ClientEnd::Closed(code)
    }

    /// Tells the client the reason of the end, as far as the client is still there.
    async fn say_goodbye(
        &self,
        send: impl Transmit,
        end: &ClientEnd,
        ending: Option<SessionEnding>,
    ) {
        let linger = self.limits.linger;
        let code = match end {
            ClientEnd::Closed(code) => {
                let asked = match ending {
                    Some(SessionEnding::Asked(_, reason)) => reason,
                    _ => "the server stops".to_owned(),
                };
                return send.close(*code, &asked, linger).await;
            }
            ClientEnd::Left | ClientEnd::Lost(_) => {
                return send.close(CloseCode::DONE, "", Duration::ZERO).await;
            }
            ClientEnd::GaveWay => CloseCode::CROWDED,
            ClientEnd::TooSlow | ClientEnd::Stuck => CloseCode::TOO_SLOW,
            ClientEnd::Oversize(_) => CloseCode::OVERSIZE,
            ClientEnd::Empty => CloseCode::EMPTY,
            ClientEnd::Silent => CloseCode::SILENT,
            ClientEnd::Malformed(_) => CloseCode::MALFORMED,
        };
        send.close(code, &end.to_string(), linger).await;
    }
}
