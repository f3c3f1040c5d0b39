//! A listener that limits its connections: how many there are, how long one may be idle, and how
//! much the system holds for one. A newcomer to a full server takes the place of another
//! connection, see [`places`](super::places).

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};
use futures::future::select_all;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpSocket, TcpStream},
    time::{Instant, Sleep, sleep, sleep_until},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::WaitForCancellationFutureOwned;

pub(crate) use super::wire::WrittenBytes;
use super::{
    places::{ConnectionSlot, ConnectionSlots},
    wire,
};
use crate::gateway::Meter;

/// The most connections at once. For one more, the oldest of the address that has most is closed.
pub const CONNECTIONS_MAX: usize = 256;

/// The time after which a connection is closed on which nothing is read or written.
pub const IDLE: Duration = Duration::from_secs(30);

/// The bytes that the system may hold in each direction of a connection; it doubles them. Without
/// this it holds megabytes for a client that does not read.
pub const SOCKET_BYTES: u32 = 64 * 1024;

/// The most connections that may wait to be accepted.
const BACKLOG: u32 = 1_024;

/// Opens a socket that listens.
pub(super) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    // Accepted connections inherit these sizes.
    socket.set_send_buffer_size(SOCKET_BYTES)?;
    socket.set_recv_buffer_size(SOCKET_BYTES)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

pub(super) struct Limited {
    /// One socket, or one of each family.
    sockets: Vec<TcpListener>,
    tls: Option<TlsAcceptor>,
    places: Arc<ConnectionSlots>,
    idle: Duration,
}

impl Limited {
    pub(super) fn new(sockets: Vec<TcpListener>, tls: Option<TlsAcceptor>) -> Self {
        Self { sockets, tls, places: ConnectionSlots::new(CONNECTIONS_MAX), idle: IDLE }
    }

    pub(super) fn places(&self) -> Arc<ConnectionSlots> {
        self.places.clone()
    }
}

impl Listener for Limited {
    type Io = HttpConnection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (HttpConnection, SocketAddr) {
        // When the system is out of files, this waits a moment instead of failing.
        let accepts = self.sockets.iter_mut().map(|socket| Box::pin(Listener::accept(socket)));
        let ((stream, address), ..) = select_all(accepts).await;
        // Frames of sessions are small and should not wait. If this fails, they do.
        let _ = stream.set_nodelay(true);
        let place = self.places.take(address.ip());
        (HttpConnection::new(stream, self.tls.as_ref(), place, self.idle), address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.sockets[0].local_addr()
    }
}

/// The client that made a request, and the connection that it came on.
#[derive(Clone, Debug)]
pub struct Caller {
    pub(super) address: SocketAddr,
    /// Says whether the client is on this very machine.
    is_here: bool,
    plain: Arc<AtomicBool>,
    place: Arc<ConnectionSlot>,
    written: WrittenBytes,
    meter: Arc<OnceLock<Meter>>,
}

impl Caller {
    /// Returns none if the connection has TLS or the server has no certificate. Otherwise returns
    /// whether the client is on this machine.
    pub(super) fn plain(&self) -> Option<bool> {
        self.plain.load(Ordering::Relaxed).then_some(self.is_here)
    }

    /// Hands the connection over to a session, which counts it from now on. `meter` counts what is
    /// read of it.
    pub(super) fn leave(&self, meter: Meter) -> WrittenBytes {
        self.place.leave();
        // A connection becomes a session only once.
        let _ = self.meter.set(meter);
        self.written.clone()
    }
}

impl Connected<IncomingStream<'_, Limited>> for Caller {
    fn connect_info(stream: IncomingStream<'_, Limited>) -> Self {
        let (address, io) = (*stream.remote_addr(), stream.io());
        let (place, written, meter) = (io.place.clone(), io.written.clone(), io.meter.clone());
        let (is_here, plain) = (io.is_here, io.wire.plain());
        Self { address, is_here, plain, place, written, meter }
    }
}

/// A connection that breaks when it is idle for too long, or has lost its place.
pub(super) struct HttpConnection {
    wire: wire::WireConnection,
    is_here: bool,
    idle: Duration,
    deadline: Pin<Box<Sleep>>,
    lost: Pin<Box<WaitForCancellationFutureOwned>>,
    place: Arc<ConnectionSlot>,
    written: WrittenBytes,
    /// The meter that counts what is read, once this is a session.
    meter: Arc<OnceLock<Meter>>,
    /// The time until which nothing more is read.
    pause: Option<Pin<Box<Sleep>>>,
}

impl HttpConnection {
    fn new(
        stream: TcpStream,
        tls: Option<&TlsAcceptor>,
        place: ConnectionSlot,
        idle: Duration,
    ) -> Self {
        let (deadline, lost) = (Box::pin(sleep(idle)), Box::pin(place.lost()));
        let (place, written, meter) = (Arc::new(place), WrittenBytes::default(), Arc::default());
        // A program that dials an address of its own machine comes from that address.
        let ip = |address: io::Result<SocketAddr>| address.ok().map(|address| address.ip());
        let (own, peer) = (ip(stream.local_addr()), ip(stream.peer_addr()));
        let is_here = peer.is_some_and(|peer| peer.is_loopback() || own == Some(peer));
        let wire = wire::WireConnection::new(stream, written.clone(), tls);
        Self { wire, is_here, idle, deadline, lost, place, written, meter, pause: None }
    }

    /// Moves the deadline when something happened. Fails when the deadline has passed and nothing
    /// did, or when another connection has taken the place.
    fn watch<T>(&mut self, cx: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if self.lost.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        if done.is_ready() {
            let deadline = Instant::now() + self.idle;
            self.deadline.as_mut().reset(deadline);
            return done;
        }
        match self.deadline.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for HttpConnection {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if let Some(pause) = &mut this.pause {
            std::task::ready!(pause.as_mut().poll(cx));
            this.pause = None;
        }
        let before = buffer.filled().len();
        let done = Pin::new(&mut this.wire).poll_read(cx, buffer);
        if let (Poll::Ready(Ok(())), Some(meter)) = (&done, this.meter.get()) {
            let until = meter.count(buffer.filled().len() - before);
            this.pause = until.map(|until| Box::pin(sleep_until(until)));
        }
        this.watch(cx, done)
    }
}

impl AsyncWrite for HttpConnection {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let done = Pin::new(&mut this.wire).poll_write(cx, bytes);
        this.watch(cx, done)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().wire).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().wire).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    async fn limited(places: usize, idle: Duration) -> (Limited, SocketAddr) {
        let socket = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = socket.local_addr().unwrap();
        (
            Limited {
                sockets: vec![socket],
                tls: None,
                places: ConnectionSlots::new(places),
                idle,
            },
            address,
        )
    }

    #[tokio::test]
    async fn at_the_limit_of_connections_the_oldest_breaks_though_its_client_goes_on() {
        let (mut listener, address) = limited(1, IDLE).await;
        let mut first = TcpStream::connect(address).await.unwrap();
        let (mut served, _) = listener.accept().await;
        first.write_all(b"GET").await.unwrap();
        served.read_exact(&mut [0; 1]).await.unwrap();

        let _second = TcpStream::connect(address).await.unwrap();
        let (_newer, _) = listener.accept().await;

        let lost = served.read(&mut [0; 1]).await.unwrap_err();
        assert_eq!(lost.kind(), io::ErrorKind::ConnectionAborted);
        assert_eq!(listener.places.taken(), 1);
        drop(served);
        assert_eq!(listener.places.taken(), 1);
    }

    /// Pieces of a message cost a byte or two each to send, and as much to read as long ones.
    #[tokio::test]
    async fn a_session_is_read_no_faster_than_its_bytes_may_come() {
        let (mut listener, address) = limited(1, IDLE).await;
        let mut client = TcpStream::connect(address).await.unwrap();
        let (mut served, address) = listener.accept().await;
        let (place, written, meter) =
            (served.place.clone(), served.written.clone(), served.meter.clone());
        let (is_here, plain) = (true, Arc::default());
        Caller { address, is_here, plain, place, written, meter }
            .leave(Meter::new(10_000, Default::default()));
        client.write_all(&[0; 12_000]).await.unwrap();

        let start = Instant::now();
        served.read_exact(&mut [0; 12_000]).await.unwrap();
        client.write_all(&[0; 1]).await.unwrap();
        served.read_exact(&mut [0; 1]).await.unwrap();

        // A second's worth comes at once, and then the rest at its rate.
        let took = start.elapsed();
        assert!(took >= Duration::from_millis(150), "{took:?}");
    }

    #[tokio::test]
    async fn a_connection_that_does_nothing_breaks() {
        let (mut listener, address) = limited(1, Duration::from_millis(100)).await;
        let mut client = TcpStream::connect(address).await.unwrap();
        let (mut served, _) = listener.accept().await;
        client.write_all(b"half a req").await.unwrap();
        let mut request = [0; 20];

        let read = served.read(&mut request).await.unwrap();
        let idle = served.read(&mut request).await.unwrap_err();

        assert_eq!((&request[..read], idle.kind()), (&b"half a req"[..], io::ErrorKind::TimedOut));
    }
}
