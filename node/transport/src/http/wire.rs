//! The bytes of a connection: plain, or under TLS where the server has a certificate.
//!
//! With a certificate, the first byte says which it is. A connection without TLS is answered too:
//! programs of this machine, such as `metatopia up`, ask a few things by plain HTTP, and all other
//! clients are redirected to `https` ([`guard`](super::guard)). The handshake is done where the
//! connection is read, so that a slow client keeps no other from being accepted.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::{Accept, TlsAcceptor, server::TlsStream};

/// The bytes that the system has taken from us on one connection.
pub(crate) type WrittenBytes = Arc<AtomicU64>;

/// The type of a record that a handshake begins with (RFC 8446, 5.1). No method of HTTP begins with
/// this byte.
const HANDSHAKE: u8 = 0x16;

/// A connection that counts the bytes that the system took.
#[derive(Debug)]
pub(super) struct CountedStream {
    stream: TcpStream,
    written: WrittenBytes,
}

/// The states of a connection.
pub(super) enum Wire {
    /// A connection without TLS.
    Open(CountedStream),
    /// Nothing was read yet. The value is gone while the connection becomes something else.
    Fresh(Option<CountedStream>, TlsAcceptor),
    Shaking(Box<Accept<CountedStream>>),
    Secret(Box<TlsStream<CountedStream>>),
    /// The handshake failed.
    Broken,
}

/// A [`Wire`], and a note whether it came without TLS.
pub(super) struct WireConnection {
    wire: Wire,
    plain: Arc<AtomicBool>,
}

impl WireConnection {
    pub(super) fn new(stream: TcpStream, written: WrittenBytes, tls: Option<&TlsAcceptor>) -> Self {
        let counted = CountedStream { stream, written };
        let wire = match tls {
            None => Wire::Open(counted),
            Some(tls) => Wire::Fresh(Some(counted), tls.clone()),
        };
        Self { wire, plain: Arc::default() }
    }

    /// Returns a flag that turns true when the connection turns out to have come without TLS to a
    /// server that has a certificate. This is before the first request is read.
    pub(super) fn plain(&self) -> Arc<AtomicBool> {
        self.plain.clone()
    }

    /// Waits until it is known whether the connection has TLS.
    fn settle(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            self.wire = match &mut self.wire {
                Wire::Open(_) | Wire::Secret(_) => return Poll::Ready(Ok(())),
                Wire::Broken => return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into())),
                Wire::Fresh(stream, tls) => {
                    let counted = stream.as_ref().expect("it is taken in this arm only");
                    let mut first = [0];
                    let mut buffer = ReadBuf::new(&mut first);
                    ready!(counted.stream.poll_peek(cx, &mut buffer))?;
                    let is_handshake = buffer.filled() == [HANDSHAKE];
                    let counted = stream.take().expect("it was there a moment ago");
                    if is_handshake {
                        Wire::Shaking(Box::new(tls.accept(counted)))
                    } else {
                        self.plain.store(true, Ordering::Relaxed);
                        Wire::Open(counted)
                    }
                }
                Wire::Shaking(accept) => match ready!(Pin::new(accept).poll(cx)) {
                    Ok(stream) => Wire::Secret(Box::new(stream)),
                    Err(error) => {
                        tracing::debug!(%error, "no TLS session");
                        Wire::Broken
                    }
                },
            };
        }
    }
}

/// Reads or writes once the connection is settled.
macro_rules! settled {
    ($self:ident, $cx:ident, $stream:ident => $call:expr) => {{
        let this = $self.get_mut();
        ready!(this.settle($cx))?;
        match &mut this.wire {
            Wire::Open($stream) => $call,
            Wire::Secret(secret) => {
                let $stream = &mut **secret;
                $call
            }
            Wire::Fresh(..) | Wire::Shaking(_) | Wire::Broken => unreachable!("it is settled"),
        }
    }};
}

impl AsyncRead for WireConnection {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        settled!(self, cx, stream => Pin::new(stream).poll_read(cx, buffer))
    }
}

impl AsyncWrite for WireConnection {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        settled!(self, cx, stream => Pin::new(stream).poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        settled!(self, cx, stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match &mut this.wire {
            Wire::Open(stream) => Pin::new(stream).poll_shutdown(cx),
            Wire::Secret(stream) => Pin::new(&mut **stream).poll_shutdown(cx),
            // The other side is not known yet, or gone.
            Wire::Fresh(..) | Wire::Shaking(_) | Wire::Broken => Poll::Ready(Ok(())),
        }
    }
}

impl AsyncRead for CountedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for CountedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let done = Pin::new(&mut this.stream).poll_write(cx, bytes);
        if let Poll::Ready(Ok(bytes)) = done {
            this.written.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        done
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
