//! How much is given to the system, and taken from it, at once. The time-out only keeps a broken test
//! from hanging.

use std::{
    future::pending,
    io,
    net::{Ipv4Addr, SocketAddr},
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    extract::ws::{Message, WebSocket},
    routing::get,
    serve::Listener,
};
use futures::{SinkExt as _, StreamExt as _};
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, duplex},
    sync::mpsc,
    time::timeout,
};
use tokio_tungstenite::{client_async, tungstenite};

use super::*;

const GUARD: Duration = Duration::from_secs(30);

/// Bytes of a message on the wire, with the four of its head. So many make a whole buffer.
const MESSAGE_BYTES: usize = 1_024;

/// Lengths of reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Calls {
    /// What there was room for.
    reads: Vec<usize>,
    writes: Vec<usize>,
}

/// The server's end of a connection, which notes each call.
struct NotedStream {
    stream: DuplexStream,
    calls: Arc<Mutex<Calls>>,
}

impl AsyncRead for NotedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.calls.lock().unwrap().reads.push(buffer.remaining());
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for NotedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.calls.lock().unwrap().writes.push(bytes.len());
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Accepts one connection.
struct Once(Option<NotedStream>);

impl Listener for Once {
    type Io = NotedStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (NotedStream, SocketAddr) {
        match self.0.take() {
            Some(stream) => (stream, (Ipv4Addr::LOCALHOST, 9).into()),
            None => pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok((Ipv4Addr::LOCALHOST, 80).into())
    }
}

/// Hands over a whole buffer of messages and one more, none of which it flushes. Then receives one.
/// Returns the calls for a whole buffer, for one more, and for what was received.
async fn talk(mut socket: WebSocket, calls: Arc<Mutex<Calls>>) -> [Calls; 3] {
    let taken = || std::mem::take(&mut *calls.lock().unwrap());
    let message = || Message::Binary(vec![7; MESSAGE_BYTES - 4].into());
    taken();
    for _ in 0..BUFFER_BYTES / MESSAGE_BYTES {
        socket.feed(message()).await.unwrap();
    }
    let whole = taken();
    socket.feed(message()).await.unwrap();
    let more = taken();
    socket.flush().await.unwrap();
    taken();
    socket.recv().await.unwrap().unwrap();
    [whole, more, taken()]
}

#[tokio::test]
async fn messages_are_given_to_the_system_and_taken_from_it_by_so_many_bytes() {
    let (near, far) = duplex(4 * BUFFER_BYTES);
    let calls = Arc::new(Mutex::new(Calls::default()));
    let (told, mut heard) = mpsc::channel(1);
    let kept = calls.clone();
    let route = move |upgrade: WebSocketUpgrade| async move {
        let upgrade = bounded(upgrade, &GatewayLimits::default());
        upgrade.on_upgrade(async move |socket| {
            told.send(talk(socket, kept).await).await.unwrap();
        })
    };
    let router = Router::new().route("/", get(route));
    let stream = NotedStream { stream: near, calls };
    tokio::spawn(axum::serve(Once(Some(stream)), router).into_future());

    let (mut client, _) = client_async("ws://localhost/", far).await.unwrap();
    let long = vec![9; 2 * BUFFER_BYTES];
    client.send(tungstenite::Message::Binary(long.into())).await.unwrap();
    let heard = timeout(GUARD, heard.recv()).await.expect("in time");
    let [whole, more, received] = heard.expect("it was told");

    assert_eq!(whole, Calls::default(), "a whole buffer is gathered");
    assert_eq!(more.writes, [BUFFER_BYTES + MESSAGE_BYTES]);
    assert_eq!(received.reads.iter().max(), Some(&BUFFER_BYTES));
    assert!(received.reads.len() > 2, "{received:?}");
    assert!(client.next().await.is_some());
}
