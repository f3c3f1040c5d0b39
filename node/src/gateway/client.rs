//! One client: from its handshake to its end.

use std::{future::pending, net::SocketAddr, sync::Arc};

use bytes::Bytes;
use quinn::{
    Connecting, Connection, ConnectionError, ReadError, RecvStream, SendStream, VarInt, WriteError,
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    time::{Instant, timeout, timeout_at},
};

use super::{
    ClientEnd, ClientId, Clients, CloseCode, GatewayLimits,
    admission::Ticket,
    outgoing::{Ending, Held, Outgoing, Step},
};
use crate::{framing::Decoder, metrics::Metrics};

/// Bytes taken from the transport at once.
const READ_BYTES: usize = 16 * 1024;

/// What holding one received frame costs beside its bytes: tiny frames must not be free.
const FRAME_OVERHEAD_BYTES: usize = 64;

/// What one client's task tells the receiver that all share.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) id: ClientId,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    Up(SocketAddr),
    /// The permit returns the frame's share of the client's budget when it is dropped.
    Frame(Bytes, OwnedSemaphorePermit),
    Ended(ClientEnd),
}

/// What all clients' tasks share.
#[derive(Debug)]
pub(super) struct Gateway {
    pub(super) limits: GatewayLimits,
    pub(super) items: mpsc::Sender<Item>,
    pub(super) clients: Arc<Clients>,
    pub(super) held: Held,
    pub(super) metrics: Arc<Metrics>,
}

fn close(connection: &Connection, code: CloseCode, reason: &str) {
    connection.close(VarInt::from_u32(code.0), reason.as_bytes());
}

impl Gateway {
    /// Serves a client until it ends. The place that it takes is freed when this returns.
    pub(super) async fn serve(
        self: Arc<Self>,
        id: ClientId,
        address: SocketAddr,
        connecting: Connecting,
        mut ticket: Ticket,
    ) {
        let deadline = Instant::now() + self.limits.handshake;
        let Ok(Ok(connection)) = timeout_at(deadline, connecting).await else {
            return self.metrics.clients_refused_total.one();
        };
        if !ticket.validate() {
            self.metrics.clients_refused_total.one();
            return close(&connection, CloseCode::CROWDED, "too many from your address");
        }
        let Ok(Ok((send, recv))) = timeout_at(deadline, connection.open_bi()).await else {
            return close(&connection, CloseCode::SILENT, "no stream allowed in time");
        };
        self.metrics.clients_accepted_total.one();
        let outgoing = Arc::new(Outgoing::new(self.limits, self.held.clone()));
        self.clients.lock().insert(id, outgoing.clone());
        self.count();
        let mut end = ClientEnd::Closed(CloseCode::SHUTDOWN);
        if self.tell(id, What::Up(address)).await {
            end = tokio::select! {
                end = self.read(id, recv, deadline) => end,
                end = self.write(send, &outgoing) => end,
                ending = outgoing.overdue(self.limits.linger) => match ending {
                    Ending::TooSlow => ClientEnd::TooSlow,
                    Ending::Asked(code, _) => ClientEnd::Closed(code),
                },
            };
        }
        self.clients.lock().remove(&id);
        self.count();
        say_goodbye(&connection, &end, outgoing.ending());
        tracing::debug!(client = id.0, %address, %end, "client ended");
        drop((connection, ticket));
        self.tell(id, What::Ended(end)).await;
    }

    fn count(&self) {
        let clients = self.clients.lock();
        self.metrics.clients.set(clients.len() as u64);
    }

    /// False when nobody listens any more.
    async fn tell(&self, id: ClientId, what: What) -> bool {
        self.items.send(Item { id, what }).await.is_ok()
    }

    /// While the receiver is behind, the stream is not read, and the client feels it.
    async fn read(&self, id: ClientId, mut recv: RecvStream, deadline: Instant) -> ClientEnd {
        let budget = Arc::new(Semaphore::new(self.limits.receive_bytes_max));
        let mut decoder = Decoder::new(self.limits.frame_in_bytes_max);
        let mut spoke = false;
        loop {
            let chunk = recv.read_chunk(READ_BYTES, true);
            let chunk = if spoke { Ok(chunk.await) } else { timeout_at(deadline, chunk).await };
            let bytes = match chunk {
                Err(_) => return ClientEnd::Silent,
                Ok(Ok(Some(chunk))) => chunk.bytes,
                Ok(Ok(None) | Err(ReadError::Reset(_))) => return ClientEnd::Left,
                Ok(Err(ReadError::ConnectionLost(lost))) => return lost_or_left(lost),
                Ok(Err(error)) => unreachable!("streams are read in order, and once: {error}"),
            };
            let mut input = &bytes[..];
            loop {
                let frame = match decoder.next(&mut input) {
                    Ok(Some(frame)) if frame.is_empty() => return ClientEnd::Empty,
                    Ok(Some(frame)) => frame,
                    Ok(None) => break,
                    Err(oversize) => return ClientEnd::Oversize(oversize),
                };
                spoke = true;
                self.metrics.client_frames_received_total.one();
                self.metrics.client_bytes_received_total.add(frame.len() as u64);
                let share = frame.len() + FRAME_OVERHEAD_BYTES;
                let share = u32::try_from(share).expect("budgets are below 4 GiB");
                let permit = budget.clone().acquire_many_owned(share).await;
                let permit = permit.expect("the budget is never closed");
                if !self.tell(id, What::Frame(frame, permit)).await {
                    return ClientEnd::Closed(CloseCode::SHUTDOWN);
                }
            }
        }
    }

    async fn write(&self, mut send: SendStream, outgoing: &Outgoing) -> ClientEnd {
        let mut batch = Vec::new();
        loop {
            batch.clear();
            let taken = match outgoing.take(&mut batch).await {
                Step::Write(taken) => taken,
                Step::Finish => break,
            };
            let mut rest = &batch[..];
            // Each part that the client takes renews its time.
            while !rest.is_empty() {
                match timeout(self.limits.stall, send.write(rest)).await {
                    Err(_) => return ClientEnd::Stuck,
                    Ok(Ok(written)) => rest = &rest[written..],
                    // The reader sees it too, once it has read what came before.
                    Ok(Err(WriteError::ConnectionLost(_))) => return pending().await,
                    Ok(Err(_)) => return ClientEnd::Left,
                }
            }
            outgoing.written(taken);
        }
        // Waits until the client has all of it; `Outgoing::overdue` ends the wait.
        if send.finish().is_ok() {
            let _ = send.stopped().await;
        }
        match outgoing.ending() {
            Some(Ending::Asked(code, _)) => ClientEnd::Closed(code),
            _ => ClientEnd::TooSlow,
        }
    }
}

fn lost_or_left(lost: ConnectionError) -> ClientEnd {
    match lost {
        ConnectionError::ApplicationClosed(_) => ClientEnd::Left,
        ConnectionError::LocallyClosed => ClientEnd::Closed(CloseCode::SHUTDOWN),
        lost => ClientEnd::Lost(lost),
    }
}

/// Tells the client why, as far as it is still there.
fn say_goodbye(connection: &Connection, end: &ClientEnd, ending: Option<Ending>) {
    let code = match end {
        ClientEnd::Closed(code) => {
            let asked = match ending {
                Some(Ending::Asked(_, reason)) => reason,
                _ => "the server stops".to_owned(),
            };
            return close(connection, *code, &asked);
        }
        ClientEnd::Left | ClientEnd::Lost(_) => CloseCode::DONE,
        ClientEnd::TooSlow | ClientEnd::Stuck => CloseCode::TOO_SLOW,
        ClientEnd::Oversize(_) => CloseCode::OVERSIZE,
        ClientEnd::Empty => CloseCode::EMPTY,
        ClientEnd::Silent => CloseCode::SILENT,
    };
    close(connection, code, &end.to_string());
}
