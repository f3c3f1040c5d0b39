//! Frames on the one stream of a QUIC connection: raw, or inside of a WebTransport session.

use std::{
    fmt,
    future::{Future, pending},
    pin::Pin,
    time::Duration,
};

use bytes::{Buf as _, Bytes};
use quinn::{Connection, ConnectionError, ReadError, RecvStream, SendStream, VarInt, WriteError};
use tokio::time::{Instant, sleep_until, timeout};

use super::{
    ClientEnd, CloseCode,
    sources::Meter,
    webtransport::Http3,
    wire::{Receive, Transmit},
};
use crate::framing::{self, Decoder};

/// The bytes read from the transport at once.
const READ_BYTES: usize = 16 * 1024;

/// A future that resolves when a session ends by another way than its stream.
pub(super) type CloseFuture = Pin<Box<dyn Future<Output = ClientEnd> + Send>>;

pub(super) struct StreamReceiver {
    stream: RecvStream,
    decoder: Decoder,
    chunk: Bytes,
    hangup: CloseFuture,
    /// The meter that counts what is read.
    meter: Option<Meter>,
    /// The time until which nothing more is read.
    pause: Option<Instant>,
}

impl StreamReceiver {
    pub(super) fn new(stream: RecvStream, frame_bytes_max: usize, hangup: CloseFuture) -> Self {
        let decoder = Decoder::new(frame_bytes_max);
        let (meter, pause) = (None, None);
        Self { stream, decoder, chunk: Bytes::new(), hangup, meter, pause }
    }

    /// Counts what is read with this meter from now on.
    pub(super) fn metered(self, meter: Meter) -> Self {
        Self { meter: Some(meter), ..self }
    }

    /// Returns the stream of a connection that carries nothing else.
    pub(super) fn raw(stream: RecvStream, frame_bytes_max: usize) -> Self {
        Self::new(stream, frame_bytes_max, Box::pin(pending()))
    }
}

impl Receive for StreamReceiver {
    async fn frame(&mut self) -> Result<Bytes, ClientEnd> {
        loop {
            let mut input = &self.chunk[..];
            let frame = self.decoder.next(&mut input).map_err(ClientEnd::Oversize)?;
            let used = self.chunk.len() - input.len();
            self.chunk.advance(used);
            match frame {
                Some(frame) if frame.is_empty() => return Err(ClientEnd::Empty),
                Some(frame) => return Ok(frame),
                None => {}
            }
            if let Some(until) = self.pause.take() {
                sleep_until(until).await;
            }
            let read = tokio::select! {
                // What came before the end is read first.
                biased;
                read = self.stream.read_chunk(READ_BYTES, true) => read,
                end = &mut self.hangup => return Err(end),
            };
            self.chunk = match read {
                Ok(Some(chunk)) => chunk.bytes,
                Ok(None) | Err(ReadError::Reset(_)) => return Err(ClientEnd::Left),
                Err(ReadError::ConnectionLost(lost)) => return Err(lost_or_left(lost)),
                Err(error) => unreachable!("streams are read in order, and once: {error}"),
            };
            self.pause = self.meter.as_ref().and_then(|meter| meter.count(self.chunk.len()));
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

pub(super) struct StreamSender {
    connection: Connection,
    stream: SendStream,
    encoded: Vec<u8>,
    /// The HTTP/3 session that the stream is inside of, if any.
    http3: Option<Http3>,
}

impl fmt::Debug for StreamSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StreamSender to {}", self.connection.remote_address())
    }
}

impl StreamSender {
    pub(super) fn new(connection: Connection, stream: SendStream, http3: Option<Http3>) -> Self {
        Self { connection, stream, encoded: Vec::new(), http3 }
    }
}

impl Transmit for StreamSender {
    async fn write(&mut self, frames: &[Bytes], stall: Duration) -> Result<(), ClientEnd> {
        self.encoded.clear();
        frames.iter().for_each(|frame| framing::encode(frame, &mut self.encoded));
        let mut rest = &self.encoded[..];
        while !rest.is_empty() {
            match timeout(stall, self.stream.write(rest)).await {
                Err(_) => return Err(ClientEnd::Stuck),
                Ok(Ok(written)) => rest = &rest[written..],
                // The receiver sees the loss too, once it has read what came before.
                Ok(Err(WriteError::ConnectionLost(_))) => return pending().await,
                Ok(Err(_)) => return Err(ClientEnd::Left),
            }
        }
        Ok(())
    }

    /// Does nothing, because QUIC keeps the connection alive; see `keep_alive_interval`.
    async fn pulse(&mut self, _: Duration) -> Result<(), ClientEnd> {
        Ok(())
    }

    async fn finish(&mut self, _: CloseCode, _: &str) {
        if self.stream.finish().is_ok() {
            let _ = self.stream.stopped().await;
        }
    }

    async fn close(mut self, code: CloseCode, reason: &str, linger: Duration) {
        let Some(http3) = self.http3 else {
            return self.connection.close(VarInt::from_u32(code.0), reason.as_bytes());
        };
        // Frames that wait in the stream must not delay the reason.
        let _ = self.stream.reset(Http3::reset());
        let _ = timeout(linger, http3.close(&self.connection, code, reason)).await;
        self.connection.close(Http3::NO_ERROR, b"");
    }
}
