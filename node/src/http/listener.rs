//! A listener that bounds its connections: how many, and how long one may do nothing.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::serve::Listener;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, Sleep, sleep},
};

/// Connections at once; more wait in the system's queue.
pub const CONNECTIONS_MAX: usize = 256;

/// A connection on which nothing is read or written for this long is closed.
pub const IDLE: Duration = Duration::from_secs(30);

pub(super) struct Limited {
    socket: TcpListener,
    places: Arc<Semaphore>,
    idle: Duration,
}

impl Limited {
    pub(super) fn new(socket: TcpListener) -> Self {
        Self { socket, places: Arc::new(Semaphore::new(CONNECTIONS_MAX)), idle: IDLE }
    }
}

impl Listener for Limited {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let place = self.places.clone().acquire_owned().await.expect("it is never closed");
        // This one waits a moment when the system is out of files, instead of failing.
        let (stream, address) = Listener::accept(&mut self.socket).await;
        (Connection::new(stream, place, self.idle), address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

/// A connection that breaks when it is idle for too long.
pub(super) struct Connection {
    stream: TcpStream,
    idle: Duration,
    deadline: Pin<Box<Sleep>>,
    _place: OwnedSemaphorePermit,
}

impl Connection {
    fn new(stream: TcpStream, place: OwnedSemaphorePermit, idle: Duration) -> Self {
        Self { stream, idle, deadline: Box::pin(sleep(idle)), _place: place }
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
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        (Limited { socket, places: Arc::new(Semaphore::new(places)), idle }, address)
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
