//! Real servers on loopback. Time-outs here only keep a broken test from hanging.

use futures::{AsyncWriteExt as _, StreamExt as _};
use libp2p::{
    StreamProtocol, Swarm, SwarmBuilder, noise, ping,
    swarm::{NetworkBehaviour, SwarmEvent, dial_opts::DialOpts},
    tcp, yamux,
};
use tokio::{io::AsyncWriteExt as _, net::TcpStream, time::timeout};

use super::*;

pub(super) const GUARD: Duration = Duration::from_secs(30);

pub(super) fn key(n: u8) -> Keypair {
    Keypair::ed25519_from_bytes([n; 32]).unwrap()
}

pub(super) fn id(n: u8) -> PeerId {
    key(n).public().to_peer_id()
}

struct Server {
    handle: PeersHandle,
    events: PeerEvents,
    metrics: Arc<TransportFigures>,
}

impl Server {
    async fn new(n: u8, config: PeersConfig) -> Self {
        let metrics = Arc::<TransportFigures>::default();
        let local = "/ip4/127.0.0.1/tcp/0".parse().unwrap();
        let (handle, events) = start(key(n), &local, config, metrics.clone()).await.unwrap();
        Self { handle, events, metrics }
    }

    async fn next(&mut self) -> PeerEvent {
        timeout(GUARD, self.events.recv()).await.expect("an event in time").expect("running")
    }

    async fn until(&mut self, wanted: impl Fn(&PeerEvent) -> bool) -> PeerEvent {
        loop {
            let event = self.next().await;
            if wanted(&event) {
                return event;
            }
        }
    }

    async fn until_up(&mut self, peer: PeerId) {
        self.until(|event| *event == PeerEvent::PeerUp(peer)).await;
    }

    fn here(&self) -> Vec<Multiaddr> {
        vec![self.handle.address().clone()]
    }
}

/// Makes `a` and `b` peers, lets `b` dial, and waits until both know.
async fn join(a: &mut Server, b: &mut Server) {
    a.handle.allow(b.handle.local(), vec![]).await;
    b.handle.allow(a.handle.local(), a.here()).await;
    a.until_up(b.handle.local()).await;
    b.until_up(a.handle.local()).await;
}

fn frame(peer: PeerId, bytes: &'static [u8]) -> PeerEvent {
    PeerEvent::Frame { peer, bytes: Bytes::from_static(bytes) }
}

/// Returns another libp2p program with key `n`.
fn program<B: NetworkBehaviour>(n: u8, behaviour: B) -> Swarm<B> {
    SwarmBuilder::with_existing_identity(key(n))
        .with_tokio()
        .with_tcp(tcp::Config::default(), noise::Config::new, yamux::Config::default)
        .unwrap()
        .with_behaviour(|_| behaviour)
        .unwrap()
        .build()
}

fn mesh(n: u8, protocol: &'static str) -> mesh::MeshBehaviour {
    let protocol = StreamProtocol::new(protocol);
    mesh::MeshBehaviour::new(id(n), protocol, Redial::default(), Arc::default())
}

#[tokio::test]
async fn frames_travel_both_ways_in_order() {
    let config = PeersConfig::default();
    let (mut a, mut b) = (Server::new(1, config).await, Server::new(2, config).await);
    join(&mut a, &mut b).await;

    let numbered = |n: u32| Bytes::from(n.to_le_bytes().repeat(1 + n as usize * 7));
    for n in 0..300 {
        a.handle.send(id(2), numbered(n)).unwrap();
        b.handle.send(id(1), numbered(n)).unwrap();
    }

    for n in 0..300 {
        let bytes = numbered(n);
        assert_eq!(b.next().await, PeerEvent::Frame { peer: id(1), bytes: bytes.clone() });
        assert_eq!(a.next().await, PeerEvent::Frame { peer: id(2), bytes });
    }
    assert_eq!(a.metrics.lane_frames_sent_total.get(), 300);
    assert_eq!(a.metrics.lane_frames_received_total.get(), 300);
    assert_eq!(a.handle.connected().iter().map(|n| n.peer).collect::<Vec<_>>(), [id(2)]);
}

#[tokio::test]
async fn the_largest_frame_passes_and_a_larger_one_is_refused() {
    let config = PeersConfig::default();
    let (mut a, mut b) = (Server::new(1, config).await, Server::new(2, config).await);
    join(&mut a, &mut b).await;
    let largest = Bytes::from(vec![5; FRAME_BYTES_MAX]);
    let larger = Bytes::from(vec![5; FRAME_BYTES_MAX + 1]);

    let size = SendError::Size { bytes: FRAME_BYTES_MAX + 1, max: FRAME_BYTES_MAX };
    assert_eq!(a.handle.send(id(2), larger), Err(size));
    a.handle.send(id(2), largest.clone()).unwrap();

    assert_eq!(b.next().await, PeerEvent::Frame { peer: id(1), bytes: largest });
}

#[tokio::test]
async fn two_servers_that_dial_each_other_keep_one_session() {
    let config = PeersConfig::default();
    let (mut a, mut b) = (Server::new(1, config).await, Server::new(2, config).await);
    let (to_a, to_b) = (a.here(), b.here());
    tokio::join!(a.handle.allow(id(2), to_b), b.handle.allow(id(1), to_a));

    // Whatever happened while they dialled, both agree in the end: each hears what the other says.
    let says = async |server: &mut Server, peer: PeerId| {
        loop {
            match server.next().await {
                PeerEvent::PeerUp(_) => server.handle.send(peer, "hello".into()).unwrap(),
                PeerEvent::Frame { .. } => return,
                PeerEvent::PeerDown { .. } => {}
            }
        }
    };
    tokio::join!(says(&mut a, id(2)), says(&mut b, id(1)));
}

#[tokio::test]
async fn frames_for_a_peer_that_is_not_up_are_refused() {
    let a = Server::new(1, PeersConfig::default()).await;
    a.handle.allow(id(2), vec![]).await;
    assert_eq!(a.handle.send(id(2), "hello".into()), Err(SendError::Gone));
}

#[tokio::test]
async fn a_stranger_is_refused_until_it_is_allowed() {
    let config = PeersConfig::default();
    let mut a = Server::new(1, config).await;
    let mut stranger = program(3, ping::Behaviour::default());
    stranger.dial(a.handle.address().clone()).unwrap();
    let hung_up = async {
        loop {
            if let SwarmEvent::ConnectionClosed { .. } = stranger.select_next_some().await {
                return;
            }
        }
    };
    timeout(GUARD, hung_up).await.unwrap();
    assert_eq!(a.metrics.lane_strangers_total.get(), 1);

    let mut c = Server::new(3, config).await;
    join(&mut a, &mut c).await;
    c.handle.send(id(1), "hello".into()).unwrap();
    assert_eq!(a.next().await, frame(id(3), b"hello"));
}

#[tokio::test]
async fn a_peer_taken_off_the_list_goes_down_and_can_come_back() {
    let config = PeersConfig::default();
    let (mut a, mut b) = (Server::new(1, config).await, Server::new(2, config).await);
    join(&mut a, &mut b).await;

    a.handle.disallow(id(2)).await;
    assert!(matches!(a.next().await, PeerEvent::PeerDown { peer, .. } if peer == id(2)));
    assert!(matches!(b.next().await, PeerEvent::PeerDown { peer, .. } if peer == id(1)));
    assert_eq!(a.handle.send(id(2), "hello".into()), Err(SendError::Gone));

    a.handle.allow(id(2), b.here()).await;
    a.until_up(id(2)).await;
    b.until_up(id(1)).await;
}

#[tokio::test]
async fn a_restarted_peer_comes_back() {
    let config = PeersConfig::default();
    let (mut a, mut b) = (Server::new(1, config).await, Server::new(2, config).await);
    join(&mut a, &mut b).await;

    drop(b);
    assert!(matches!(a.next().await, PeerEvent::PeerDown { peer, .. } if peer == id(2)));

    let mut b = Server::new(2, config).await;
    b.handle.allow(id(1), a.here()).await;
    b.until_up(id(1)).await;
    a.until_up(id(2)).await;
    a.handle.send(id(2), "welcome".into()).unwrap();
    assert_eq!(b.next().await, frame(id(1), b"welcome"));
}

#[tokio::test]
async fn a_peer_that_never_reads_loses_its_session_and_nobody_else_does() {
    let frame_bytes_max = 8 * 1024;
    let limits = PeerLimits {
        frame_bytes_max,
        send_bytes_max: 64 * 1024,
        receive_bytes_max: 64 * 1024,
        ..PeerLimits::default()
    };
    let config = PeersConfig { limits, ..PeersConfig::default() };
    let (mut a, mut b) = (Server::new(1, config).await, Server::new(2, config).await);
    let mut c = Server::new(3, config).await;
    join(&mut a, &mut b).await;
    join(&mut a, &mut c).await;

    // This is what both budgets, the windows of the stream and the buffers of the system hold. Then
    // they take no more.
    let bytes = Bytes::from(vec![7; frame_bytes_max]);
    let mut sent = 0u64;
    let too_slow = loop {
        match a.handle.send(id(2), bytes.clone()) {
            Ok(()) => sent += bytes.len() as u64,
            Err(error) => break error,
        }
        tokio::task::yield_now().await;
    };

    assert_eq!(too_slow, SendError::TooSlow);
    assert!(sent < 64 * 1024 * 1024, "{sent} bytes are held for one peer");
    assert_eq!(a.handle.send(id(2), bytes), Err(SendError::Gone));
    let down = a.until(|event| matches!(event, PeerEvent::PeerDown { .. })).await;
    assert_eq!(down, PeerEvent::PeerDown { peer: id(2), end: PeerEnd::TooSlow });
    c.handle.send(id(1), "fine".into()).unwrap();
    a.until(|event| *event == frame(id(3), b"fine")).await;
}

/// Frames of a busy peer beyond what may wait.
const SURPLUS: u64 = 64;

#[tokio::test]
async fn behind_a_receiver_that_takes_nothing_so_many_events_wait_and_no_more_is_read() {
    let config = PeersConfig::default();
    let (mut a, mut b) = (Server::new(1, config).await, Server::new(2, config).await);
    join(&mut a, &mut b).await;
    let most = EVENTS_MAX as u64;
    for _ in 0..most + SURPLUS {
        b.handle.send(id(1), "more".into()).unwrap();
    }
    // One frame of the peer is in the hand of its session, and waits in line.
    let filled = async {
        while a.metrics.lane_frames_received_total.get() <= most {
            tokio::task::yield_now().await;
        }
    };
    timeout(GUARD, filled).await.expect("so many frames are read");

    // Meanwhile another peer comes through all of its handshake.
    let mut c = Server::new(3, config).await;
    a.handle.allow(id(3), vec![]).await;
    c.handle.allow(id(1), a.here()).await;
    c.until_up(id(1)).await;
    assert_eq!(a.metrics.lane_frames_received_total.get(), most + 1);

    // It waits in line behind that one frame, and not for all that the busy one has to say.
    for _ in 0..=most {
        assert_eq!(a.next().await, frame(id(2), b"more"));
    }
    while a.next().await == frame(id(2), b"more") {}
}

/// Starts a program that speaks the frame protocol, and does `misdeed` with its half of the
/// session.
async fn misbehave(misdeed: &[u8]) -> PeerEvent {
    let mut a = Server::new(1, PeersConfig::default()).await;
    let mut liar = program(2, mesh(2, "/metatopia/lane/1"));
    a.handle.allow(id(2), vec![]).await;
    liar.behaviour_mut().allow(id(1), a.here());
    let session = async {
        loop {
            if let SwarmEvent::Behaviour(mut opened) = liar.select_next_some().await {
                opened.write.write_all(misdeed).await.unwrap();
                opened.write.flush().await.unwrap();
                return opened;
            }
        }
    };
    let _keep = timeout(GUARD, session).await.unwrap();
    let idle = async {
        loop {
            liar.select_next_some().await;
        }
    };
    a.until_up(id(2)).await;
    tokio::select! {
        event = a.next() => event,
        () = idle => unreachable!("a swarm never ends"),
    }
}

#[tokio::test]
async fn a_peer_that_hangs_is_down_after_the_silence() {
    let end = PeerEnd::Silent;
    assert_eq!(misbehave(&[]).await, PeerEvent::PeerDown { peer: id(2), end });
}

#[tokio::test]
async fn a_peer_that_announces_too_much_is_down() {
    let oversize = Oversize { announced: u32::MAX, max: FRAME_BYTES_MAX };
    let end = PeerEnd::Oversize(oversize);
    assert_eq!(misbehave(&[0xff; 4]).await, PeerEvent::PeerDown { peer: id(2), end });
}

#[tokio::test]
async fn a_frame_that_is_cut_off_is_never_delivered() {
    let end = PeerEnd::Silent;
    let cut = [&100u32.to_le_bytes()[..], b"only this"].concat();
    assert_eq!(misbehave(&cut).await, PeerEvent::PeerDown { peer: id(2), end });
}

#[tokio::test]
async fn an_allowed_peer_that_speaks_another_protocol_is_hung_up_on() {
    let mut a = Server::new(1, PeersConfig::default()).await;
    a.handle.allow(id(2), vec![]).await;
    let mut other = program(2, mesh(2, "/metatopia/lane/999"));
    other.dial(DialOpts::peer_id(id(1)).addresses(a.here()).build()).unwrap();
    other.behaviour_mut().allow(id(1), vec![]);
    let hung_up = async {
        loop {
            if let SwarmEvent::ConnectionClosed { .. } = other.select_next_some().await {
                return;
            }
        }
    };
    timeout(GUARD, hung_up).await.unwrap();

    let mut b = Server::new(3, PeersConfig::default()).await;
    join(&mut a, &mut b).await;
}

#[tokio::test]
async fn garbage_and_half_open_connections_keep_nobody_out() {
    let config = PeersConfig::default();
    let mut a = Server::new(1, config).await;
    let port = a.handle.address().iter().find_map(|part| match part {
        libp2p::multiaddr::Protocol::Tcp(port) => Some(port),
        _ => None,
    });
    let target = ("127.0.0.1", port.unwrap());
    let mut garbage = TcpStream::connect(target).await.unwrap();
    garbage.write_all(&[0xa5; 4096]).await.unwrap();
    let mut half_open = Vec::new();
    for _ in 0..HANDSHAKES_MAX + 8 {
        half_open.push(TcpStream::connect(target).await.unwrap());
    }

    // Outgoing connections work at once. Incoming ones work as soon as the silent ones have run out
    // of time.
    let mut b = Server::new(2, config).await;
    b.handle.allow(id(1), vec![]).await;
    a.handle.allow(id(2), b.here()).await;
    a.until_up(id(2)).await;
    let mut c = Server::new(3, config).await;
    join(&mut a, &mut c).await;
    b.until_up(id(1)).await;
}

#[tokio::test]
async fn sessions_stop_when_the_handle_is_dropped() {
    let config = PeersConfig::default();
    let (mut a, mut b) = (Server::new(1, config).await, Server::new(2, config).await);
    join(&mut a, &mut b).await;

    drop(a.handle);

    let left = async { while a.events.recv().await.is_some() {} };
    timeout(GUARD, left).await.unwrap();
    assert!(matches!(b.next().await, PeerEvent::PeerDown { .. }));
}

#[tokio::test]
async fn a_port_in_use_is_an_error_that_names_the_address() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let listen: Multiaddr = format!("/ip4/127.0.0.1/tcp/{port}").parse().unwrap();

    let error = start(key(1), &listen, PeersConfig::default(), Arc::default()).await.unwrap_err();

    assert!(error.to_string().starts_with(&format!("cannot listen on {listen}: ")), "{error}");
}

#[tokio::test]
async fn an_address_that_is_not_tcp_is_refused() {
    for listen in ["/ip4/127.0.0.1/udp/0/quic-v1", "/memory/1"] {
        let listen = listen.parse().unwrap();
        let error =
            start(key(1), &listen, PeersConfig::default(), Arc::default()).await.unwrap_err();
        assert!(matches!(error, StartPeersError::Address(_)), "{error}");
    }
}
