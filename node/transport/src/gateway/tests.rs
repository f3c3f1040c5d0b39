//! Real clients on loopback. Time-outs here only keep a broken test from hanging.

use std::{
    net::{Ipv4Addr, Ipv6Addr},
    time::Instant,
};

use metatopia_protocol::{CLIENT_FRAME_BYTES_MAX, SERVER_FRAME_BYTES_MAX};
use metatopia_types::Millis;
use quinn::{Connection, Endpoint};
use tokio::net::UdpSocket;

use super::*;
use crate::{
    carrier::{self, Carrier, CarrierError, ConnectError},
    certificates,
    tls::{CertificateHash, Pin},
};

const GUARD: Duration = Duration::from_secs(30);
/// Some day in 2026.
const NOW: Millis = Millis(1_790_000_000_000);
const LOOPBACK: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

struct Node {
    handle: GatewayHandle,
    events: GatewayEvents,
    metrics: Arc<TransportFigures>,
    certificates: Certificates,
}

fn certificates() -> Certificates {
    Certificates::generate(NOW).unwrap()
}

fn listen_config(certificates: &Certificates, allowed: Allowed) -> ListenConfig {
    ListenConfig { allowed, ..ListenConfig::new(LOOPBACK.into(), certificates.clone()) }
}

impl Node {
    fn new(limits: GatewayLimits) -> Self {
        Self::with(limits, |_| false)
    }

    /// Starts a node where some frames are logins.
    fn with(limits: GatewayLimits, brings_in: BringsIn) -> Self {
        let (metrics, certificates) = (Arc::<TransportFigures>::default(), certificates());
        let listen_config =
            ListenConfig { brings_in, ..listen_config(&certificates, Allowed::default()) };
        let (handle, events) = start(listen_config, limits, metrics.clone()).unwrap();
        Self { handle, events, metrics, certificates }
    }

    async fn next(&mut self) -> GatewayEvent {
        timeout(GUARD, self.events.recv()).await.expect("an event in time").expect("running")
    }

    /// Greets the next client, and returns its id.
    async fn greet(&mut self) -> ClientId {
        let GatewayEvent::ClientUp { id, .. } = self.next().await else { panic!("not up") };
        self.handle.send(id, Delivery::Reliable, "welcome".into()).unwrap();
        id
    }

    /// Connects a client that was greeted and has answered.
    async fn client(&mut self) -> (ClientId, Carrier) {
        let hashes = self.certificates.hashes();
        let connect = carrier::connect(self.handle.address(), &hashes);
        let (id, carrier) = tokio::join!(self.greet(), connect);
        let mut carrier = carrier.unwrap();
        assert_eq!(carrier.recv.recv().await.unwrap(), "welcome");
        carrier.send.send(b"hello").await.unwrap();
        assert_eq!(self.next().await, frame(id, b"hello"));
        (id, carrier)
    }

    /// Sends frames of this many bytes to a client that does not read, until it is too slow.
    /// Returns how many bytes that took.
    async fn glut(&self, slow: ClientId, frame_bytes: usize) -> u64 {
        let bytes = Bytes::from(vec![7; frame_bytes]);
        let mut sent = 0;
        loop {
            match self.handle.send(slow, Delivery::Reliable, bytes.clone()) {
                Ok(_) => sent += bytes.len() as u64,
                Err(error) => {
                    assert_eq!(error, SendError::TooSlow);
                    return sent;
                }
            }
            tokio::task::yield_now().await;
        }
    }

    async fn down(&mut self, id: ClientId) -> ClientEnd {
        match self.next().await {
            GatewayEvent::ClientDown { id: gone, end } if gone == id => end,
            other => panic!("{other:?}"),
        }
    }

    /// Opens a connection that does what no carrier does.
    async fn raw(&self, alpn: &[u8]) -> Result<Connection, ConnectionError> {
        let endpoint = Endpoint::client(LOOPBACK.into()).unwrap();
        let config = carrier::config(&Pin::new(&self.certificates.hashes()), alpn);
        endpoint.connect_with(config, self.handle.address(), "anything").unwrap().await
    }
}

fn frame(id: ClientId, bytes: &'static [u8]) -> GatewayEvent {
    GatewayEvent::ClientFrame { id, bytes: Bytes::from_static(bytes) }
}

fn closed(code: CloseCode, reason: &str) -> CarrierError {
    CarrierError::Closed { code: code.0.into(), reason: reason.to_owned() }
}

async fn close_code(connection: &Connection) -> u64 {
    match timeout(GUARD, connection.closed()).await.unwrap() {
        ConnectionError::ApplicationClosed(close) => close.error_code.into_inner(),
        other => panic!("{other}"),
    }
}

fn limits() -> GatewayLimits {
    GatewayLimits::default()
}

/// Returns limits with as little patience as a test needs.
fn hasty() -> GatewayLimits {
    let ms = Duration::from_millis;
    GatewayLimits { handshake: ms(300), idle: ms(400), stall: ms(300), ..limits() }
}

#[tokio::test]
async fn frames_travel_both_ways_in_order() {
    let mut node = Node::new(limits());
    let (id, mut carrier) = node.client().await;
    let numbered = |n: u32| Bytes::from(n.to_le_bytes().repeat(1 + n as usize * 11));

    for n in 0..300 {
        node.handle.send(id, Delivery::Reliable, numbered(n)).unwrap();
        carrier.send.send(&numbered(n)).await.unwrap();
        assert_eq!(node.next().await, GatewayEvent::ClientFrame { id, bytes: numbered(n) });
    }

    for n in 0..300 {
        assert_eq!(carrier.recv.recv().await.unwrap(), numbered(n));
    }
    assert_eq!(node.metrics.client_frames_received_total.get(), 301);
    assert_eq!(node.handle.clients(), 1);
}

#[tokio::test]
async fn the_largest_frames_pass_and_larger_ones_are_refused() {
    let mut node = Node::new(limits());
    let (id, mut carrier) = node.client().await;
    let down = Bytes::from(vec![1; SERVER_FRAME_BYTES_MAX]);
    let up = Bytes::from(vec![2; CLIENT_FRAME_BYTES_MAX]);

    node.handle.send(id, Delivery::Reliable, down.clone()).unwrap();
    carrier.send.send(&up).await.unwrap();
    assert_eq!(carrier.recv.recv().await.unwrap(), down);
    assert_eq!(node.next().await, GatewayEvent::ClientFrame { id, bytes: up });

    let (bytes, max) = (SERVER_FRAME_BYTES_MAX + 1, SERVER_FRAME_BYTES_MAX);
    let refused = node.handle.send(id, Delivery::Reliable, vec![1; bytes].into());
    assert_eq!(refused, Err(SendError::Size { bytes, max }));
    let bytes = CLIENT_FRAME_BYTES_MAX + 1;
    assert_eq!(carrier.send.send(&vec![2; bytes]).await, Err(CarrierError::Size { bytes }));
}

#[tokio::test]
async fn a_client_that_leaves_is_down_after_its_last_frame() {
    let mut node = Node::new(limits());
    let (id, mut carrier) = node.client().await;

    carrier.send.send(b"farewell").await.unwrap();
    let Carrier { send, recv } = carrier;
    drop(recv);
    send.leave().await;

    assert_eq!(node.next().await, frame(id, b"farewell"));
    assert_eq!(node.down(id).await, ClientEnd::Left);
    let gone = node.handle.send(id, Delivery::Reliable, "too late".into());
    assert_eq!(gone, Err(SendError::Gone));
}

#[tokio::test]
async fn another_certificate_is_refused_by_the_client() {
    let (mut node, other) = (Node::new(limits()), Node::new(limits()));
    let (expected, found) = (other.certificates.hashes(), node.certificates.hashes()[0]);

    let refused = carrier::connect(node.handle.address(), &expected).await.unwrap_err();

    assert_eq!(refused, ConnectError::WrongCertificate { found });
    node.client().await;
}

#[tokio::test]
async fn a_rotation_keeps_sessions_and_lets_in_who_knew_the_next_certificate() {
    let mut node = Node::new(limits());
    let announced = node.certificates.hashes();
    let (id, mut carrier) = node.client().await;

    assert!(node.certificates.renew(NOW.plus(certificates::USE)).unwrap());

    carrier.send.send(b"still here").await.unwrap();
    assert_eq!(node.next().await, frame(id, b"still here"));
    // The client has the hashes from before, and is shown what was the next certificate then.
    let connect = carrier::connect(node.handle.address(), &announced);
    let (_, late) = tokio::join!(node.greet(), connect);
    late.unwrap();
    let connect = carrier::connect(node.handle.address(), &announced[..1]).await;
    assert_eq!(connect.unwrap_err(), ConnectError::WrongCertificate { found: announced[1] });
}

#[tokio::test]
async fn clients_come_in_by_both_families_of_loopback() {
    let mut node = Node::new(limits());
    let (port, hashes) = (node.handle.address().port(), node.certificates.hashes());
    let v6 = SocketAddr::from((Ipv6Addr::LOCALHOST, port));
    let (_, carrier) = tokio::join!(node.greet(), carrier::connect(v6, &hashes));
    let mut carrier = carrier.unwrap();
    assert_eq!(carrier.recv.recv().await.unwrap(), "welcome");
    node.client().await;
}

#[tokio::test]
async fn another_protocol_is_refused_before_the_node_hears_of_it() {
    let mut node = Node::new(limits());
    node.raw(b"metatopia/999").await.unwrap_err();
    // The first client that is up is one that speaks our protocol.
    node.client().await;
}

/// Connects a client that writes `misdeed` on its stream after the greeting.
async fn misbehave(misdeed: &[u8]) -> (ClientEnd, u64) {
    let mut node = Node::new(hasty());
    let raw = async { node.raw(ALPN).await.unwrap() };
    let connection = raw.await;
    let id = node.greet().await;
    let (mut send, _recv) = connection.accept_bi().await.unwrap();
    send.write_all(misdeed).await.unwrap();
    let end = node.down(id).await;
    (end, close_code(&connection).await)
}

#[tokio::test]
async fn a_client_that_announces_too_much_is_closed() {
    let oversize = Oversize { announced: u32::MAX, max: CLIENT_FRAME_BYTES_MAX };
    let expected = (ClientEnd::Oversize(oversize), CloseCode::OVERSIZE.0.into());
    assert_eq!(misbehave(&[0xff; 8]).await, expected);
}

#[tokio::test]
async fn a_client_that_sends_an_empty_frame_is_closed() {
    assert_eq!(misbehave(&[0; 4]).await, (ClientEnd::Empty, CloseCode::EMPTY.0.into()));
}

#[tokio::test]
async fn a_client_that_says_nothing_is_closed() {
    assert_eq!(misbehave(&[]).await, (ClientEnd::Silent, CloseCode::SILENT.0.into()));
}

#[tokio::test]
async fn a_client_that_never_finishes_its_first_frame_is_closed() {
    let part = [&9u32.to_le_bytes()[..], b"part"].concat();
    assert_eq!(misbehave(&part).await, (ClientEnd::Silent, CloseCode::SILENT.0.into()));
}

#[tokio::test]
async fn a_misbehaving_client_disturbs_nobody_else() {
    let mut node = Node::new(limits());
    let (good, mut carrier) = node.client().await;
    let connection = node.raw(ALPN).await.unwrap();
    let bad = node.greet().await;
    let (mut send, _recv) = connection.accept_bi().await.unwrap();

    send.write_all(&[0xff; 64]).await.unwrap();

    assert!(matches!(node.down(bad).await, ClientEnd::Oversize(_)));
    carrier.send.send(b"fine").await.unwrap();
    assert_eq!(node.next().await, frame(good, b"fine"));
    assert_eq!(node.metrics.clients_faulty_total.get(), 1);
}

#[tokio::test]
async fn garbage_datagrams_change_nothing() {
    let mut node = Node::new(limits());
    let socket = UdpSocket::bind(LOOPBACK).await.unwrap();
    for n in 0..200u8 {
        // Some of these packets look like first packets of a connection.
        let first = if n % 3 == 0 { 0xc0 } else { n };
        let garbage: Vec<u8> = (0..=n).map(|i| if i == 0 { first } else { i ^ n }).collect();
        socket.send_to(&garbage, node.handle.address()).await.unwrap();
    }
    node.client().await;
}

#[tokio::test]
async fn a_client_that_never_reads_is_closed_and_nobody_else_is() {
    let frame_out_bytes_max = 8 * 1024;
    let mut node =
        Node::new(GatewayLimits { frame_out_bytes_max, reliable_bytes_max: 64 * 1024, ..limits() });
    let (slow, mut slow_carrier) = node.client().await;
    let (good, mut good_carrier) = node.client().await;

    let sent = node.glut(slow, frame_out_bytes_max).await;

    // The client's own window holds 1 MiB, and our queues hold the rest.
    assert!(sent < 2 * 1024 * 1024, "{sent} bytes are held for one client");
    assert_eq!(node.down(slow).await, ClientEnd::TooSlow);
    let said = loop {
        if let Err(error) = slow_carrier.recv.recv().await {
            break error;
        }
    };
    assert_eq!(said, closed(CloseCode::TOO_SLOW, "too slow for what is sent to it"));
    node.handle.send(good, Delivery::Reliable, "fine".into()).unwrap();
    assert_eq!(good_carrier.recv.recv().await.unwrap(), "fine");
    assert_eq!(node.metrics.clients_too_slow_total.get(), 1);
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_closed_even_if_little_is_sent() {
    let mut node = Node::new(hasty());
    let (id, _carrier) = node.client().await;
    // Latest frames overflow no queue, but the windows are full after a few.
    let bytes = Bytes::from(vec![7; 400_000]);
    while node.handle.send(id, Delivery::Latest, bytes.clone()) != Err(SendError::Gone) {
        tokio::task::yield_now().await;
    }
    assert_eq!(node.down(id).await, ClientEnd::Stuck);
}

#[tokio::test]
async fn of_latest_frames_a_slow_client_gets_the_newest() {
    let mut node = Node::new(limits());
    let (id, mut carrier) = node.client().await;
    let numbered = |n: u32| Bytes::from(n.to_le_bytes().repeat(2_000));
    let mut replaced = 0;
    for n in 0..2_000 {
        let sent = node.handle.send(id, Delivery::Latest, numbered(n)).unwrap();
        replaced += u32::from(sent == Sent::Replaced);
        tokio::task::yield_now().await;
    }

    let mut received = 0;
    let newest = loop {
        let frame = carrier.recv.recv().await.unwrap();
        received += 1;
        if frame == numbered(1_999) {
            break frame;
        }
    };

    assert_eq!(newest.len(), 8_000);
    assert!(replaced > 0, "the client was not slow");
    assert_eq!(received + replaced, 2_000);
}

#[tokio::test]
async fn a_flood_that_nobody_handles_is_held_back() {
    let limits =
        GatewayLimits { frame_in_bytes_max: 10_000, receive_bytes_max: 20_000, ..limits() };
    let mut node = Node::new(limits);
    let (flooder, mut flood) = node.client().await;
    let (good, mut carrier) = node.client().await;

    // This sends until the transport takes no more.
    let bytes = vec![1; 9_000];
    let blocked = async {
        loop {
            flood.send.send(&bytes).await.unwrap();
        }
    };
    timeout(Duration::from_millis(300), blocked).await.unwrap_err();
    let received = node.metrics.client_bytes_received_total.get();
    assert!(received <= 30_000, "{received} bytes are held for one client");

    carrier.send.send(b"fine").await.unwrap();
    let mut flooded = 0;
    while node.next().await != frame(good, b"fine") {
        flooded += 1;
    }
    assert!(flooded < 100, "{flooded} frames of {flooder:?} came first");
}

#[tokio::test]
async fn a_client_that_talks_too_fast_is_taken_at_the_steady_rate_and_nobody_waits_for_it() {
    let mut node = Node::new(GatewayLimits { frames_per_second: 1, ..limits() });
    let (hasty, mut flood) = node.client().await;
    let (good, mut carrier) = node.client().await;
    let start = Instant::now();

    // Two are read at once, and the greeting was one. The others take a second each.
    for _ in 0..3 {
        flood.send.send(b"more").await.unwrap();
    }
    carrier.send.send(b"fine").await.unwrap();
    let mut order = Vec::new();
    while order.iter().filter(|id| **id == hasty).count() < 3 {
        let GatewayEvent::ClientFrame { id, .. } = node.next().await else { panic!("no frame") };
        order.push(id);
    }

    assert!(start.elapsed() > Duration::from_millis(1_500), "{:?}", start.elapsed());
    assert!(order.contains(&good) && order.last() != Some(&good), "{order:?}");
}

#[tokio::test]
async fn what_was_sent_before_a_close_arrives_and_then_the_reason() {
    let mut node = Node::new(limits());
    let (id, mut carrier) = node.client().await;
    let numbered = |n: u8| Bytes::from(vec![n; 40_000]);
    let code = CloseCode(CloseCode::FIRST_FREE.0 + 1);

    for n in 0..20 {
        node.handle.send(id, Delivery::Reliable, numbered(n)).unwrap();
    }
    node.handle.close(id, code, "the rule");
    let late = node.handle.send(id, Delivery::Reliable, "too late".into());

    assert_eq!(late, Err(SendError::Gone));
    for n in 0..20 {
        assert_eq!(carrier.recv.recv().await.unwrap(), numbered(n));
    }
    assert_eq!(carrier.recv.recv().await, Err(closed(code, "the rule")));
    assert_eq!(node.down(id).await, ClientEnd::Closed(code));
}

#[tokio::test]
async fn a_close_does_not_wait_for_a_client_that_never_reads() {
    let linger = Duration::from_millis(100);
    let mut node = Node::new(GatewayLimits { linger, ..limits() });
    let (id, _carrier) = node.client().await;
    for _ in 0..8 {
        let _ = node.handle.send(id, Delivery::Reliable, vec![1; 500_000].into());
        tokio::task::yield_now().await;
    }
    node.handle.close(id, CloseCode::DONE, "bye");
    let end = node.down(id).await;
    assert!(matches!(end, ClientEnd::Closed(CloseCode::DONE) | ClientEnd::TooSlow), "{end}");
}

#[tokio::test]
async fn a_long_reason_is_cut_between_characters() {
    let mut node = Node::new(limits());
    let (id, mut carrier) = node.client().await;

    node.handle.close(id, CloseCode::DONE, &"\u{20ac}".repeat(1_000));

    let whole = "\u{20ac}".repeat(REASON_BYTES_MAX / 3);
    assert_eq!(carrier.recv.recv().await, Err(closed(CloseCode::DONE, &whole)));
}

mod coming_and_going;
mod crowds;
mod hostile_sockets;
mod hostile_transports;
mod pages;
