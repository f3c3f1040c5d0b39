//! Tests of many clients of one address.

use super::*;

/// Returns a node with one login of strangers a second, and one of known people.
fn rationed() -> Node {
    let one = Ration { per_second: 1, burst: 1 };
    let source = SourceLimits { logins: one, first_logins: one, ..SourceLimits::default() };
    Node::with(GatewayLimits { source, ..limits() }, |frame| frame == b"login")
}

#[tokio::test]
async fn a_second_login_of_strangers_behind_one_address_waits_and_nothing_else_does() {
    let mut node = rationed();
    let (first, mut one) = node.client().await;
    let (second, mut other) = node.client().await;
    let (third, mut bystander) = node.client().await;
    let start = Instant::now();

    one.send.send(b"login").await.unwrap();
    assert_eq!(node.next().await, frame(first, b"login"));
    other.send.send(b"login").await.unwrap();
    bystander.send.send(b"hello").await.unwrap();
    assert_eq!(node.next().await, frame(third, b"hello"));
    assert_eq!(node.next().await, frame(second, b"login"));

    assert!(start.elapsed() >= Duration::from_millis(900), "{:?}", start.elapsed());
}

#[tokio::test]
async fn known_people_do_not_wait_for_the_first_logins_of_strangers() {
    let mut node = rationed();
    let (stranger, mut one) = node.client().await;
    let (waiting, mut other) = node.client().await;
    let (known, mut player) = node.client().await;
    node.handle.set_known(known, true);

    one.send.send(b"login").await.unwrap();
    assert_eq!(node.next().await, frame(stranger, b"login"));
    other.send.send(b"login").await.unwrap();
    player.send.send(b"login").await.unwrap();

    assert_eq!(node.next().await, frame(known, b"login"));
    assert_eq!(node.next().await, frame(waiting, b"login"));
}

#[tokio::test]
async fn a_session_beyond_the_ration_of_its_address_begins_later() {
    let sessions = Ration { per_second: 1, burst: 2 };
    let source = SourceLimits { sessions, ..SourceLimits::default() };
    let mut node = Node::new(GatewayLimits { source, ..limits() });
    let start = Instant::now();
    let (_, _first) = node.client().await;
    let (_, _second) = node.client().await;

    let (id, mut third) = node.client().await;

    assert!(start.elapsed() >= Duration::from_millis(900), "{:?}", start.elapsed());
    third.send.send(b"here").await.unwrap();
    assert_eq!(node.next().await, frame(id, b"here"));
}

#[tokio::test]
async fn a_client_whose_place_somebody_else_has_is_told_so() {
    let mut node = Node::new(GatewayLimits { clients_max: 2, ..limits() });
    let (_, _stays) = node.client().await;
    let (newest, mut carrier) = node.client().await;

    // A client that comes over TCP has a proved address.
    let sockets = node.handle.sockets();
    let elsewhere = sockets.admit((Ipv4Addr::new(127, 0, 0, 2), 9).into()).unwrap();

    assert_eq!(node.down(newest).await, ClientEnd::GaveWay);
    let why = ClientEnd::GaveWay.to_string();
    assert_eq!(carrier.recv.recv().await, Err(closed(CloseCode::CROWDED, &why)));
    let here = sockets.admit((Ipv4Addr::LOCALHOST, 9).into());
    assert!(here.is_err(), "its own address has no fewer than another");
    drop(elsewhere);
}

/// Frames of a busy client beyond what may wait.
const SURPLUS: u64 = 64;

#[tokio::test]
async fn behind_a_receiver_that_takes_nothing_so_many_events_wait_and_no_more_is_read() {
    let mut node = Node::new(GatewayLimits { frames_per_second: 4_096, ..limits() });
    let (busy, mut carrier) = node.client().await;
    let (most, before) = (EVENTS_MAX as u64, node.metrics.client_frames_received_total.get());
    let read = |node: &Node| node.metrics.client_frames_received_total.get() - before;
    for _ in 0..most + SURPLUS {
        carrier.send.send(b"more").await.unwrap();
    }
    // One frame of the client is in its hand, and waits in line.
    let filled = async {
        while read(&node) <= most {
            tokio::task::yield_now().await;
        }
    };
    timeout(GUARD, filled).await.expect("so many frames are read");

    // Meanwhile another client comes through all of its handshake.
    let _other = node.raw(ALPN).await.unwrap();
    let came = async {
        while node.handle.clients() < 2 {
            tokio::task::yield_now().await;
        }
    };
    timeout(GUARD, came).await.expect("it is let in");
    assert_eq!(read(&node), most + 1);

    // It waits in line behind that one frame, and not for all that the busy one has to say.
    for _ in 0..=most {
        assert_eq!(node.next().await, frame(busy, b"more"));
    }
    while node.next().await == frame(busy, b"more") {}
}
