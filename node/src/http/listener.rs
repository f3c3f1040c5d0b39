//! A listener that bounds its connections: how many, how long one may do nothing, and how much the
//! system holds for one.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
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
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, Sleep, sleep},
};

/// Connections at once; more wait in the system's queue.
pub const CONNECTIONS_MAX: usize = 256;

/// A connection on which nothing is read or written for this long is closed.
pub const IDLE: Duration = Duration::from_secs(30);

/// Bytes that the system may hold in each direction of a connection; it doubles them. Without this
/// it holds megabytes for a client that does not read.
pub const SOCKET_BYTES: u32 = 64 * 1024;

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 1_024;

/// Opens a socket that listens.
pub(super) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    // What is accepted has the same.
    socket.set_send_buffer_size(SOCKET_BYTES)?;
    socket.set_recv_buffer_size(SOCKET_BYTES)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

pub(super) struct Limited {
    /// One, or one of each family.
    sockets: Vec<TcpListener>,
    places: Arc<Semaphore>,
    idle: Duration,
}

impl Limited {
    pub(super) fn new(sockets: Vec<TcpListener>) -> Self {
        Self { sockets, places: Arc::new(Semaphore::new(CONNECTIONS_MAX)), idle: IDLE }
    }

    /// Those that are free.
    pub(super) fn places(&self) -> Arc<Semaphore> {
        self.places.clone()
    }
}

impl Listener for Limited {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let place = self.places.clone().acquire_owned().await.expect("it is never closed");
        // These wait a moment when the system is out of files, instead of failing.
        let accepts = self.sockets.iter_mut().map(|socket| Box::pin(Listener::accept(socket)));
        let ((stream, address), ..) = select_all(accepts).await;
        // Frames of sessions are small and wait for nothing. If it fails, they do.
        let _ = stream.set_nodelay(true);
        (Connection::new(stream, place, self.idle), address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.sockets[0].local_addr()
    }
}

/// Who made a request, and on which connection.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    pub(super) address: SocketAddr,
    place: Place,
    written: Written,
}

/// The place that a connection takes among those of HTTP.
type Place = Arc<Mutex<Option<OwnedSemaphorePermit>>>;

/// Bytes that the system has taken from us, on one connection.
pub(crate) type Written = Arc<AtomicU64>;

impl Caller {
    /// The connection becomes a session: it is counted there, and not here any more.
    pub(super) fn leave(&self) -> Written {
        drop(self.place.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.written.clone()
    }
}

impl Connected<IncomingStream<'_, Limited>> for Caller {
    fn connect_info(stream: IncomingStream<'_, Limited>) -> Self {
        let (address, io) = (*stream.remote_addr(), stream.io());
        Self { address, place: io.place.clone(), written: io.written.clone() }
    }
}

/// A connection that breaks when it is idle for too long.
pub(super) struct Connection {
    stream: TcpStream,
    idle: Duration,
    deadline: Pin<Box<Sleep>>,
    place: Place,
    written: Written,
}

impl Connection {
    fn new(stream: TcpStream, place: OwnedSemaphorePermit, idle: Duration) -> Self {
        let place = Arc::new(Mutex::new(Some(place)));
        let written = Written::default();
        Self { stream, idle, deadline: Box::pin(sleep(idle)), place, written }
    }

    /// Moves the deadline when something happened, and fails when it has passed and nothing did.
    fn watch<T>(&mut self, cx: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
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

impl AsyncRead for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let done = Pin::new(&mut this.stream).poll_read(cx, buffer);
        this.watch(cx, done)
    }
}

impl AsyncWrite for Connection {
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
        this.watch(cx, done)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    async fn limited(places: usize, idle: Duration) -> (Limited, SocketAddr) {
        let socket = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = socket.local_addr().unwrap();
        (Limited { sockets: vec![socket], places: Arc::new(Semaphore::new(places)), idle }, address)
    }

    #[tokio::test]
    async fn the_limit_of_connections_is_hit_and_freed() {
        let (mut listener, address) = limited(1, IDLE).await;
        let _first = TcpStream::connect(address).await.unwrap();
        let _second = TcpStream::connect(address).await.unwrap();
        let (taken, _) = listener.accept().await;

        let full = listener.places.clone().try_acquire_owned();
        assert!(full.is_err());

        drop(taken);
        listener.accept().await;
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
