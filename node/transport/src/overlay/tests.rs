//! Real members on loopback. Time-outs here only keep a broken test from hanging.

mod finding;

use futures::{AsyncWriteExt as _, StreamExt as _};
use libp2p::{
    PeerId, Swarm, SwarmBuilder, noise,
    swarm::{SwarmEvent, dial_opts::DialOpts},
    tcp, yamux,
};
use tokio::{io::AsyncWriteExt as _, net::TcpStream, time::timeout};

use super::{
    limits::{CONNECTIONS_PER_MEMBER_MAX, DIALS_MAX, SESSIONS_IN_MAX, WAITING_FRAMES_MAX},
    sessions::SessionsBehaviour,
    *,
};
use crate::peers::{HANDSHAKES_MAX, PeersConfig};

const GUARD: Duration = Duration::from_secs(30);

fn keypair(n: u8) -> Keypair {
    Keypair::ed25519_from_bytes([n; 32]).unwrap()
}

fn key(n: u8) -> PublicKey {
    names::key_of(&keypair(n).public().to_peer_id()).unwrap()
}

struct Member {
    handle: OverlayHandle,
    events: OverlayEvents,
}

impl Member {
    async fn new(n: u8) -> Self {
        let local = "/ip4/127.0.0.1/tcp/0".parse().unwrap();
        Self::of(n, &local, DiscoverySetup::default()).await
    }

    async fn of(n: u8, listen: &Multiaddr, discovery: DiscoverySetup) -> Self {
        let (handle, events) =
            start(keypair(n), (listen, discovery), Arc::default()).await.unwrap();
        Self { handle, events }
    }

    fn at(&self) -> String {
        self.handle.address().to_string()
    }

    async fn event(&mut self) -> OverlayEvent {
        timeout(GUARD, self.events.recv()).await.expect("an event in time").expect("running")
    }

    /// Returns the next event of a session: that a member was found may be told at any time.
    async fn next(&mut self) -> OverlayEvent {
        loop {
            match self.event().await {
                OverlayEvent::Found { .. } => {}
                event => return event,
            }
        }
    }
}

/// Lets `a` dial `b`, and waits until both know.
async fn join(a: &mut Member, b: &mut Member) {
    a.handle.dial(b.handle.local(), &b.at()).await;
    assert_eq!(a.next().await, OverlayEvent::Up(b.handle.local()));
    assert_eq!(b.next().await, OverlayEvent::Up(a.handle.local()));
}

fn frame(from: u8, bytes: &[u8]) -> OverlayEvent {
    OverlayEvent::Frame { from: key(from), bytes: Bytes::copy_from_slice(bytes) }
}

#[tokio::test]
async fn strangers_speak_and_what_is_sent_while_one_dials_arrives() {
    let (mut a, mut b) = (Member::new(1).await, Member::new(2).await);
    a.handle.dial(key(2), &b.at()).await;
    for n in 0..WAITING_FRAMES_MAX as u8 {
        a.handle.send(key(2), vec![n; 100].into()).unwrap();
    }
    assert_eq!(a.next().await, OverlayEvent::Up(key(2)));
    assert_eq!(b.next().await, OverlayEvent::Up(key(1)));
    for n in 0..WAITING_FRAMES_MAX as u8 {
        assert_eq!(b.next().await, frame(1, &[n; 100]));
    }
    b.handle.send(key(1), "answer".into()).unwrap();
    assert_eq!(a.next().await, frame(2, b"answer"));
    assert_eq!((a.handle.up(), b.handle.up()), (1, 1));
    let here = std::net::Ipv4Addr::LOCALHOST.into();
    assert_eq!(a.handle.observed().get(&key(2)), Some(&here));
    assert_eq!(b.handle.observed().get(&key(1)), Some(&here));
}

#[tokio::test]
async fn what_waits_for_a_dial_is_bounded_and_dropped_when_it_fails() {
    let mut a = Member::new(1).await;
    // Nobody listens on the first port, and the system lends it to no other test.
    a.handle.dial(key(2), "/ip4/127.0.0.1/tcp/1").await;
    for _ in 0..WAITING_FRAMES_MAX {
        a.handle.send(key(2), "waits".into()).unwrap();
    }
    assert_eq!(a.handle.send(key(2), "waits".into()), Err(SendError::TooSlow));
    assert_eq!(a.next().await, OverlayEvent::DialFailed(key(2)));
    assert_eq!(a.handle.send(key(2), "gone".into()), Err(SendError::Gone));
}

#[tokio::test]
async fn an_address_that_is_none_and_a_key_that_is_none_fail_at_once() {
    let mut a = Member::new(1).await;
    for (member, address) in [
        (key(2), "somewhere"),
        (key(2), "/ip4/127.0.0.1/udp/1/quic-v1"),
        (PublicKey([2; 32]), "/ip4/127.0.0.1/tcp/1"),
    ] {
        a.handle.dial(member, address).await;
        assert_eq!(a.next().await, OverlayEvent::DialFailed(member));
    }
}

#[tokio::test]
async fn another_member_at_that_address_is_a_dial_that_failed() {
    let (mut a, b) = (Member::new(1).await, Member::new(2).await);
    a.handle.dial(key(3), &b.at()).await;
    assert_eq!(a.next().await, OverlayEvent::DialFailed(key(3)));
}

/// A listener that accepts and says nothing keeps each dial open until its time is over.
#[tokio::test]
async fn more_dials_than_allowed_fail_at_once() {
    let mut a = Member::new(1).await;
    let mute = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = format!("/ip4/127.0.0.1/tcp/{}", mute.local_addr().unwrap().port());
    for n in 0..DIALS_MAX as u8 {
        a.handle.dial(key(100 + n), &at).await;
    }
    a.handle.dial(key(99), &at).await;
    assert_eq!(a.next().await, OverlayEvent::DialFailed(key(99)));
}

#[tokio::test]
async fn goodbye_is_told_from_an_end_without_a_word() {
    let (mut a, mut b) = (Member::new(1).await, Member::new(2).await);
    let mut c = Member::new(3).await;
    join(&mut a, &mut b).await;
    join(&mut a, &mut c).await;
    b.handle.close(key(1));
    assert_eq!(a.next().await, OverlayEvent::Closed(key(2)));
    assert_eq!(b.handle.send(key(1), "gone".into()), Err(SendError::Gone));
    drop(c);
    assert_eq!(a.next().await, OverlayEvent::Down(key(3)));

    // Who left may come again.
    join(&mut b, &mut a).await;
    b.handle.leave().await;
    assert_eq!(a.next().await, OverlayEvent::Closed(key(2)));
}

#[tokio::test]
async fn two_that_dial_each_other_at_once_are_up_once_and_hear_each_other() {
    let (mut a, mut b) = (Member::new(1).await, Member::new(2).await);
    let (to_a, to_b) = (a.at(), b.at());
    tokio::join!(a.handle.dial(key(2), &to_b), b.handle.dial(key(1), &to_a));
    for (member, other) in [(&mut a, 2), (&mut b, 1)] {
        member.handle.send(key(other), "hello".into()).unwrap();
    }
    let hears = async |member: &mut Member, other: u8| {
        assert_eq!(member.next().await, OverlayEvent::Up(key(other)));
        assert_eq!(member.next().await, frame(other, b"hello"));
    };
    tokio::join!(hears(&mut a, 2), hears(&mut b, 1));
}

#[tokio::test]
async fn the_largest_frame_passes_and_a_larger_one_is_refused() {
    let (mut a, mut b) = (Member::new(1).await, Member::new(2).await);
    join(&mut a, &mut b).await;
    for bytes in [0, 1, FRAME_BYTES_MAX + 1] {
        let size = SendError::Size { bytes, max: FRAME_BYTES_MAX };
        assert_eq!(a.handle.send(key(2), vec![5; bytes].into()), Err(size));
    }
    let largest = vec![5; FRAME_BYTES_MAX];
    a.handle.send(key(2), largest.clone().into()).unwrap();
    assert_eq!(b.next().await, frame(1, &largest));
}

/// Returns another libp2p program that makes sessions of the overlay.
fn program(n: u8) -> Swarm<SessionsBehaviour> {
    SwarmBuilder::with_existing_identity(keypair(n))
        .with_tokio()
        .with_tcp(tcp::Config::default(), noise::Config::new, yamux::Config::default)
        .unwrap()
        .with_behaviour(|_| SessionsBehaviour::new())
        .unwrap()
        .build()
}

/// Starts a program that speaks the protocol, does `misdeed` with its half of the session, and goes on
/// living. Returns what the member hears of it.
async fn misbehave(misdeed: &[u8]) -> (Member, Vec<OverlayEvent>) {
    let mut a = Member::new(1).await;
    let mut liar = program(2);
    let address = vec![a.handle.address().clone()];
    let id: PeerId = keypair(1).public().to_peer_id();
    liar.dial(DialOpts::peer_id(id).addresses(address).build()).unwrap();
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
    let mut told = Vec::new();
    let idle = async {
        loop {
            liar.select_next_some().await;
        }
    };
    let listen = async {
        while !told.iter().any(|event| matches!(event, OverlayEvent::Down(_))) {
            told.push(a.next().await);
        }
    };
    tokio::select! {
        () = listen => {}
        () = idle => unreachable!("a swarm never ends"),
    }
    (a, told)
}

#[tokio::test]
async fn one_byte_too_many_ends_the_session_and_no_byte_of_it_is_handed_out() {
    let mut wire = Vec::new();
    crate::framing::encode(&vec![7; FRAME_BYTES_MAX + 1], &mut wire);
    let (mut a, told) = misbehave(&wire).await;
    assert_eq!(told, [OverlayEvent::Up(key(2)), OverlayEvent::Down(key(2))]);

    // Others are served as before.
    let mut b = Member::new(3).await;
    join(&mut a, &mut b).await;
}

#[tokio::test]
async fn junk_in_a_session_ends_it() {
    let (_, told) = misbehave(&[0xff; 4_096]).await;
    assert_eq!(told, [OverlayEvent::Up(key(2)), OverlayEvent::Down(key(2))]);
}

#[tokio::test]
async fn who_floods_is_read_slowly_and_does_not_keep_others_waiting() {
    let (mut a, mut b) = (Member::new(1).await, Member::new(2).await);
    let mut c = Member::new(3).await;
    join(&mut a, &mut b).await;
    join(&mut c, &mut b).await;
    let bytes = Bytes::from(vec![7; FRAME_BYTES_MAX]);
    let too_slow = loop {
        match a.handle.send(key(2), bytes.clone()) {
            Ok(()) => tokio::task::yield_now().await,
            Err(error) => break error,
        }
    };
    assert_eq!(too_slow, SendError::TooSlow);
    c.handle.send(key(2), "I am here too".into()).unwrap();
    loop {
        if b.next().await == frame(3, b"I am here too") {
            break;
        }
    }
}

#[tokio::test]
async fn who_speaks_another_protocol_is_hung_up_on_and_a_dial_to_it_fails() {
    let mut a = Member::new(1).await;
    let local = "/ip4/127.0.0.1/tcp/0".parse().unwrap();
    let (server, _events) =
        crate::peers::start(keypair(2), &local, PeersConfig::default(), Arc::default())
            .await
            .unwrap();
    // It is let in there, so the handshake succeeds, and speaks the servers' own protocol.
    server.allow(keypair(1).public().to_peer_id(), vec![]).await;
    a.handle.dial(key(2), &server.address().to_string()).await;
    assert_eq!(a.next().await, OverlayEvent::DialFailed(key(2)));
}

#[tokio::test]
async fn garbage_and_half_open_connections_keep_nobody_out_for_long() {
    let mut a = Member::new(1).await;
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
    // Outgoing connections work at once.
    let mut b = Member::new(2).await;
    join(&mut a, &mut b).await;
    // Incoming ones work once the silent ones have run out of time.
    let mut c = Member::new(3).await;
    loop {
        c.handle.dial(key(1), &a.at()).await;
        match c.next().await {
            OverlayEvent::Up(_) => break,
            OverlayEvent::DialFailed(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_member_on_the_network_dials_nothing_on_its_own_machine() {
    let all = "/ip4/0.0.0.0/tcp/0".parse().unwrap();
    let mut a = Member::of(1, &all, DiscoverySetup::default()).await;
    let b = Member::new(2).await;
    a.handle.dial(key(2), &b.at()).await;
    assert_eq!(a.next().await, OverlayEvent::DialFailed(key(2)));
}

#[tokio::test]
async fn one_member_has_few_connections() {
    let a = Member::new(1).await;
    let mut greedy = program(2);
    let id: PeerId = keypair(1).public().to_peer_id();
    for _ in 0..=CONNECTIONS_PER_MEMBER_MAX {
        let opts = DialOpts::peer_id(id)
            .condition(libp2p::swarm::dial_opts::PeerCondition::Always)
            .addresses(vec![a.handle.address().clone()])
            .allocate_new_port();
        greedy.dial(opts.build()).unwrap();
    }
    let (mut open, mut refused) = (0, 0);
    let counted = async {
        while open + refused <= CONNECTIONS_PER_MEMBER_MAX || refused == 0 {
            match greedy.select_next_some().await {
                SwarmEvent::ConnectionEstablished { .. } => open += 1,
                SwarmEvent::ConnectionClosed { .. } => {
                    open -= 1;
                    refused += 1;
                }
                SwarmEvent::OutgoingConnectionError { .. } => refused += 1,
                _ => {}
            }
        }
    };
    timeout(GUARD, counted).await.unwrap();
    assert_eq!((open, refused), (CONNECTIONS_PER_MEMBER_MAX, 1));
}

/// Lets a program dial a member and go on living. Returns whether a session opened, and what tells of its
/// end.
async fn meet(n: u8, a: &Member) -> (bool, tokio::task::JoinHandle<()>) {
    let mut other = program(n);
    let id: PeerId = keypair(1).public().to_peer_id();
    other.dial(DialOpts::peer_id(id).addresses(vec![a.handle.address().clone()]).build()).unwrap();
    let session = async {
        loop {
            match other.select_next_some().await {
                SwarmEvent::Behaviour(opened) => return Some(opened),
                SwarmEvent::OutgoingConnectionError { .. }
                | SwarmEvent::ConnectionClosed { .. } => return None,
                _ => {}
            }
        }
    };
    let session = timeout(GUARD, session).await.unwrap();
    let is_open = session.is_some();
    let living = tokio::spawn(async move {
        let _kept = session;
        while !matches!(other.select_next_some().await, SwarmEvent::ConnectionClosed { .. }) {}
    });
    (is_open, living)
}

#[tokio::test]
async fn more_sessions_than_others_may_begin_are_refused() {
    let mut a = Member::new(1).await;
    let most = SESSIONS_IN_MAX as u8;
    for n in 0..most {
        let (is_open, _living) = meet(20 + n, &a).await;
        assert!(is_open, "{n}");
        assert_eq!(a.next().await, OverlayEvent::Up(key(20 + n)));
    }
    let (is_open, living) = meet(20 + most, &a).await;
    // A refusal may come after the session seemed to open.
    if is_open {
        timeout(GUARD, living).await.unwrap().unwrap();
    }
    assert_eq!(a.handle.up(), usize::from(most));
}

#[tokio::test]
async fn sessions_stop_when_the_handle_is_dropped() {
    let (mut a, mut b) = (Member::new(1).await, Member::new(2).await);
    join(&mut a, &mut b).await;
    drop(a.handle);
    let left = async { while a.events.recv().await.is_some() {} };
    timeout(GUARD, left).await.unwrap();
    assert_eq!(b.next().await, OverlayEvent::Down(key(1)));
}
