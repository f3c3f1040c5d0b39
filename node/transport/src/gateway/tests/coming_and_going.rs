//! Tests of who is let in, and of how sessions and the gateway itself end.

use tokio::{sync::oneshot, task::JoinHandle};

use super::*;

#[tokio::test]
async fn a_full_server_refuses_until_somebody_leaves() {
    let mut node = Node::new(GatewayLimits { clients_max: 1, ..limits() });
    let (address, hashes) = (node.handle.address(), node.certificates.hashes());
    let (id, carrier) = node.client().await;

    let refused = carrier::connect(address, &hashes).await.unwrap_err();
    assert_eq!(refused, ConnectError::Refused);
    assert_eq!(node.metrics.clients_refused_total.get(), 1);

    carrier.send.leave().await;
    assert_eq!(node.down(id).await, ClientEnd::Left);
    node.client().await;
}

#[tokio::test]
async fn an_address_with_too_many_clients_is_refused_until_one_leaves() {
    let mut node = Node::new(GatewayLimits { clients_per_ip_max: 2, ..limits() });
    let (address, hashes) = (node.handle.address(), node.certificates.hashes());
    let (id, carrier) = node.client().await;
    let (_id, _carrier) = node.client().await;

    let refused = carrier::connect(address, &hashes).await.unwrap_err();
    let (code, reason) = (CloseCode::CROWDED.0.into(), "too many from your address".to_owned());
    assert_eq!(refused, ConnectError::Closed { code, reason });

    carrier.send.leave().await;
    assert_eq!(node.down(id).await, ClientEnd::Left);
    node.client().await;
}

#[tokio::test]
async fn with_many_handshakes_a_newcomer_proves_its_address_first() {
    let mut node = Node::new(GatewayLimits { unvalidated_max: 0, ..limits() });
    node.client().await;
    assert_eq!(node.metrics.clients_retried_total.get(), 1);
}

/// Passes datagrams between one client and a node; to the node only if `deaf`. Returns the address
/// to dial, the task, and a signal that the first datagram is on its way.
async fn relay(to: SocketAddr, deaf: bool) -> (SocketAddr, JoinHandle<()>, oneshot::Receiver<()>) {
    let outside = UdpSocket::bind(LOOPBACK).await.unwrap();
    let inside = UdpSocket::bind(LOOPBACK).await.unwrap();
    let address = outside.local_addr().unwrap();
    let (began, first) = oneshot::channel();
    let mut began = Some(began);
    let relay = async move {
        let (mut there, mut here) = ([0; 2_000], [0; 2_000]);
        let mut client = None;
        loop {
            tokio::select! {
                Ok((n, from)) = outside.recv_from(&mut there) => {
                    client = Some(from);
                    let _ = inside.send_to(&there[..n], to).await;
                    began.take().map(|began| began.send(()));
                }
                Ok((n, _)) = inside.recv_from(&mut here), if !deaf => {
                    if let Some(client) = client {
                        let _ = outside.send_to(&here[..n], client).await;
                    }
                }
            }
        }
    };
    (address, tokio::spawn(relay), first)
}

#[tokio::test]
async fn a_client_that_vanishes_is_down_after_the_idle_time() {
    let mut node = Node::new(hasty());
    let (address, relay, _) = relay(node.handle.address(), false).await;
    let hashes = node.certificates.hashes();
    let connect = carrier::connect(address, &hashes);
    let (id, carrier) = tokio::join!(node.greet(), connect);
    let mut carrier = carrier.unwrap();
    carrier.send.send(b"hello").await.unwrap();
    assert_eq!(node.next().await, frame(id, b"hello"));

    relay.abort();

    assert_eq!(node.down(id).await, ClientEnd::Lost(ConnectionError::TimedOut));
}

#[tokio::test]
async fn a_handshake_that_stops_half_way_frees_its_place() {
    let mut node = Node::new(GatewayLimits { clients_max: 1, ..hasty() });
    let (address, hashes) = (node.handle.address(), node.certificates.hashes());
    let (deaf, _relay, first) = relay(address, true).await;
    let half_open = tokio::spawn(async move { carrier::connect(deaf, &hashes).await });

    first.await.unwrap();

    // The silent client has the place. When its time is up, another client gets the place.
    let refused = carrier::connect(address, &hashes).await.unwrap_err();
    assert_eq!(refused, ConnectError::Refused);
    let late = async {
        loop {
            match carrier::connect(address, &hashes).await {
                Err(ConnectError::Refused) => {}
                other => return other,
            }
        }
    };
    let (_, late) = tokio::join!(node.greet(), timeout(GUARD, late));

    assert!(late.unwrap().is_ok());
    half_open.abort();
}

#[tokio::test]
async fn a_shutdown_says_goodbye_to_everybody() {
    let mut node = Node::new(limits());
    let (id, mut carrier) = node.client().await;
    node.handle.send(id, Delivery::Reliable, "last words".into()).unwrap();

    node.handle.shutdown().await;

    assert_eq!(carrier.recv.recv().await.unwrap(), "last words");
    let goodbye = closed(CloseCode::SHUTDOWN, "the server stops");
    assert_eq!(carrier.recv.recv().await, Err(goodbye));
    assert_eq!(node.down(id).await, ClientEnd::Closed(CloseCode::SHUTDOWN));
    assert!(timeout(GUARD, node.events.recv()).await.unwrap().is_none());
}

#[tokio::test]
async fn the_gateway_stops_when_the_handle_is_dropped() {
    let mut node = Node::new(limits());
    let (id, mut carrier) = node.client().await;

    drop(node.handle);

    assert!(carrier.recv.recv().await.is_err());
    let end = timeout(GUARD, node.events.recv()).await.unwrap();
    assert!(matches!(end, Some(GatewayEvent::ClientDown { id: gone, .. }) if gone == id));
    assert!(timeout(GUARD, node.events.recv()).await.unwrap().is_none());
}

#[tokio::test]
async fn nobody_is_at_home_when_nothing_listens() {
    let nobody = UdpSocket::bind(LOOPBACK).await.unwrap();
    let certificate = CertificateHash([0; 32]);
    let error = carrier::connect(nobody.local_addr().unwrap(), &[certificate]).await.unwrap_err();
    assert_eq!(error, ConnectError::NoAnswer);
}

#[tokio::test]
async fn a_port_in_use_is_an_error_that_names_the_address() {
    let taken = UdpSocket::bind(LOOPBACK).await.unwrap();
    let listen = taken.local_addr().unwrap();

    let listen_config =
        ListenConfig { listen, ..listen_config(&certificates(), Allowed::default()) };
    let error = start(listen_config, limits(), Arc::default()).unwrap_err().to_string();

    assert!(error.starts_with(&format!("cannot listen on {listen}: ")), "{error}");
}
