//! Tests of pages that break the rules of WebSocket, or ours.

use futures::{SinkExt as _, StreamExt as _};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_tungstenite::tungstenite::{
    self, Message,
    protocol::frame::{
        Frame,
        coding::{Data, OpCode},
    },
};

use super::{
    pages::{PAGE, Site, Socket, closing, next},
    *,
};

/// Connects a page that sends `misdeed` after the greeting. Returns how its session ended, and the
/// message that the page got.
async fn misbehave(misdeed: impl AsyncFnOnce(&mut Socket)) -> (ClientEnd, Message) {
    let mut site = Site::new(hasty());
    let (good, mut witness) = site.node.client().await;
    let (id, mut socket) = site.socket().await;
    misdeed(&mut socket).await;
    let said = next(&mut socket).await;
    let end = site.node.down(id).await;
    // No other client notices.
    witness.send.send(b"fine").await.unwrap();
    assert_eq!(site.node.next().await, frame(good, b"fine"));
    (end, said)
}

fn told(end: &ClientEnd, code: CloseCode) -> Message {
    closing(code, &end.to_string())
}

#[tokio::test]
async fn an_empty_message_ends_the_session() {
    let send = async |socket: &mut Socket| socket.send(Message::binary("")).await.unwrap();
    let (end, said) = misbehave(send).await;
    assert_eq!((&end, said), (&ClientEnd::Empty, told(&end, CloseCode::EMPTY)));
}

#[tokio::test]
async fn a_message_of_text_ends_the_session() {
    let send = async |socket: &mut Socket| socket.send(Message::text("hello")).await.unwrap();
    let (end, said) = misbehave(send).await;
    assert!(matches!(end, ClientEnd::Malformed(_)), "{end}");
    assert_eq!(said, told(&end, CloseCode::MALFORMED));
}

#[tokio::test]
async fn a_message_above_the_limit_ends_the_session_before_it_is_there() {
    let bytes = CLIENT_FRAME_BYTES_MAX + 1;
    let send = async |socket: &mut Socket| {
        socket.send(Message::binary(vec![1; bytes])).await.unwrap();
    };
    let (end, said) = misbehave(send).await;
    let announced = u32::try_from(bytes).unwrap();
    let expected = Oversize { announced, max: CLIENT_FRAME_BYTES_MAX };
    assert_eq!(end, ClientEnd::Oversize(expected));
    assert_eq!(said, told(&end, CloseCode::OVERSIZE));
}

#[tokio::test]
async fn fragments_count_together() {
    let send = async |socket: &mut Socket| {
        let mut code = OpCode::Data(Data::Binary);
        for _ in 0..3 {
            let half = vec![1; CLIENT_FRAME_BYTES_MAX / 2];
            socket.send(Message::Frame(Frame::message(half, code, false))).await.unwrap();
            code = OpCode::Data(Data::Continue);
        }
    };
    let (end, _) = misbehave(send).await;
    assert!(matches!(end, ClientEnd::Oversize(_)), "{end}");
}

#[tokio::test]
async fn a_message_in_fragments_is_one_frame() {
    let mut site = Site::new(limits());
    let (id, mut socket) = site.socket().await;
    for (piece, code, last) in [("frag", Data::Binary, false), ("ment", Data::Continue, true)] {
        let piece = Frame::message(piece.as_bytes().to_vec(), OpCode::Data(code), last);
        socket.send(Message::Frame(piece)).await.unwrap();
    }
    assert_eq!(site.node.next().await, frame(id, b"fragment"));
}

#[tokio::test]
async fn a_first_message_that_never_ends_is_not_waited_for() {
    let send = async |socket: &mut Socket| {
        let begun = Frame::message(vec![1; 9], OpCode::Data(Data::Binary), false);
        socket.send(Message::Frame(begun)).await.unwrap();
    };
    let (end, said) = misbehave(send).await;
    assert_eq!((&end, said), (&ClientEnd::Silent, told(&end, CloseCode::SILENT)));
}

/// Pings are no frames: they do not count as a sign of life.
#[tokio::test]
async fn a_page_that_says_nothing_is_closed() {
    let send = async |socket: &mut Socket| {
        socket.send(Message::Ping(Bytes::new())).await.unwrap();
        assert!(timeout(GUARD, socket.next()).await.unwrap().unwrap().unwrap().is_pong());
    };
    let (end, _) = misbehave(send).await;
    assert_eq!(end, ClientEnd::Silent);
}

/// One session with 700,000 pings a second once took two fifths of a core, because nobody counted
/// pings.
#[tokio::test]
async fn a_page_that_pings_all_the_time_is_closed() {
    let mut site = Site::new(limits());
    let (id, mut socket) = site.socket().await;
    for _ in 0..100 {
        // Once the socket is closed, it takes no more.
        let _closed = socket.send(Message::Ping(Bytes::new())).await;
    }
    let end = site.node.down(id).await;
    assert!(matches!(end, ClientEnd::Malformed("too many pings and pongs")), "{end}");
}

#[tokio::test]
async fn garbage_after_the_upgrade_ends_the_session() {
    let send = async |socket: &mut Socket| {
        socket.get_mut().write_all(&[0xff; 64]).await.unwrap();
    };
    let (end, said) = misbehave(send).await;
    assert!(matches!(end, ClientEnd::Malformed(_)), "{end}");
    assert_eq!(said, told(&end, CloseCode::MALFORMED));
}

#[tokio::test]
async fn frames_without_a_mask_end_the_session() {
    let send = async |socket: &mut Socket| {
        socket.get_mut().write_all(&[0x82, 1, 7]).await.unwrap();
    };
    let (end, _) = misbehave(send).await;
    assert!(matches!(end, ClientEnd::Malformed(_)), "{end}");
}

#[tokio::test]
async fn upgrades_that_do_not_fit_are_refused() {
    let mut site = Site::new(limits());
    for (origin, protocol, status) in [
        (Some("https://evil.example"), WEBSOCKET_PROTOCOL, 403),
        (Some("null"), WEBSOCKET_PROTOCOL, 403),
        (Some(PAGE), "", 400),
        (Some(PAGE), "metatopia.2", 400),
    ] {
        match site.dial(site.upgrade(origin, protocol)).await {
            Err(tungstenite::Error::Http(said)) => assert_eq!(said.status(), status),
            other => panic!("{origin:?} {protocol}: {other:?}"),
        }
    }
    assert_eq!(site.http_figures.http_requests_foreign_total.get(), 2);
    // None of these clients was up, and none holds a place.
    assert_eq!(site.node.handle.clients(), 0);
    site.socket().await;
}

#[tokio::test]
async fn what_is_no_upgrade_is_refused() {
    let site = Site::new(limits());
    for lines in [
        "",
        "Connection: upgrade\r\n",
        "Connection: upgrade\r\nUpgrade: websocket\r\n",
        "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
        "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\n\
         Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
    ] {
        let address = site.http.address();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET /ws HTTP/1.1\r\nHost: {address}\r\n{lines}\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = [0; 12];
        timeout(GUARD, stream.read_exact(&mut response)).await.unwrap().unwrap();
        assert_eq!(&response, b"HTTP/1.1 400", "{lines}");
    }
    assert_eq!(site.node.handle.clients(), 0);
}

#[tokio::test]
async fn a_page_that_never_reads_is_closed_and_nobody_else_is() {
    let frame_out_bytes_max = 8 * 1024;
    let small = GatewayLimits { frame_out_bytes_max, reliable_bytes_max: 64 * 1024, ..limits() };
    let mut site = Site::new(GatewayLimits { linger: Duration::from_millis(100), ..small });
    let (slow, _socket) = site.socket().await;
    let (good, mut good_socket) = site.socket().await;

    let sent = site.node.glut(slow, frame_out_bytes_max).await;

    // The limit is the client's own window, what the system holds here, and our queues.
    assert!(sent < 8 * 1024 * 1024, "{sent} bytes are held for one client");
    assert_eq!(site.node.down(slow).await, ClientEnd::TooSlow);
    site.node.handle.send(good, Delivery::Reliable, "fine".into()).unwrap();
    assert_eq!(next(&mut good_socket).await, Message::binary("fine"));
    assert_eq!(site.node.metrics.clients_too_slow_total.get(), 1);
}

#[tokio::test]
async fn a_page_that_takes_nothing_is_closed_even_if_little_is_sent() {
    let linger = Duration::from_millis(100);
    let mut site = Site::new(GatewayLimits { linger, idle: GUARD, ..hasty() });
    let (id, mut socket) = site.socket().await;
    socket.send(Message::binary("hello")).await.unwrap();
    assert_eq!(site.node.next().await, frame(id, b"hello"));
    // Latest frames overflow no queue, but the windows are full after a few.
    let bytes = Bytes::from(vec![7; 400_000]);
    while site.node.handle.send(id, Delivery::Latest, bytes.clone()) != Err(SendError::Gone) {
        tokio::task::yield_now().await;
    }
    assert_eq!(site.node.down(id).await, ClientEnd::Stuck);
}

#[tokio::test]
async fn a_flood_that_nobody_handles_is_held_back() {
    let limits =
        GatewayLimits { frame_in_bytes_max: 10_000, receive_bytes_max: 20_000, ..limits() };
    let mut site = Site::new(limits);
    let (_, mut flood) = site.socket().await;
    let (good, mut carrier) = site.node.client().await;

    // This sends until the system takes no more.
    let bytes = Bytes::from(vec![1; 9_000]);
    let blocked = async {
        loop {
            flood.send(Message::Binary(bytes.clone())).await.unwrap();
        }
    };
    timeout(Duration::from_millis(300), blocked).await.unwrap_err();
    let received = site.node.metrics.client_bytes_received_total.get();
    assert!(received <= 30_000, "{received} bytes are held for one client");

    carrier.send.send(b"fine").await.unwrap();
    let mut flooded = 0;
    while site.node.next().await != frame(good, b"fine") {
        flooded += 1;
    }
    assert!(flooded < 400, "{flooded} frames came first");
}

/// Bytes that trickle in become a frame in the end. They cost a place, and nobody waits for them.
#[tokio::test]
async fn a_page_that_writes_slowly_is_heard_when_it_is_done() {
    let mut site = Site::new(limits());
    let (id, mut socket) = site.socket().await;
    let (good, mut carrier) = site.node.client().await;
    for piece in [&[0x82][..], &[0x83, 0, 0], &[0, 0], b"a", b"b"] {
        socket.get_mut().write_all(piece).await.unwrap();
        carrier.send.send(b"meanwhile").await.unwrap();
        assert_eq!(site.node.next().await, frame(good, b"meanwhile"));
    }
    socket.get_mut().write_all(b"c").await.unwrap();
    assert_eq!(site.node.next().await, frame(id, b"abc"));
}
