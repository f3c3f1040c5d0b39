//! What libp2p counts for us: connections of a peer, and substreams of a connection.

use std::{
    future::{Future, poll_fn},
    io,
    pin::pin,
    task::Poll,
};

use futures::{AsyncReadExt as _, AsyncWriteExt as _, StreamExt as _};
use libp2p::{
    Transport as _,
    core::{
        Endpoint,
        muxing::{StreamMuxerBox, StreamMuxerExt as _, SubstreamBox},
        transport::{DialOpts as TransportDialOpts, PortUse},
        upgrade::Version,
    },
    swarm::{
        dial_opts::{DialOpts, PeerCondition},
        dummy,
    },
};
use tokio::time::timeout;

use super::{
    super::tests::{GUARD, id, key},
    *,
};

fn local() -> Multiaddr {
    "/ip4/127.0.0.1/tcp/0".parse().unwrap()
}

/// Returns a program with this key that closes no connection.
fn keeping<B: NetworkBehaviour>(n: u8, behaviour: B) -> Swarm<B> {
    SwarmBuilder::with_existing_identity(key(n))
        .with_tokio()
        .with_tcp(tcp::Config::default(), noise::Config::new, yamux::Config::default)
        .unwrap()
        .with_behaviour(|_| behaviour)
        .unwrap()
        .with_swarm_config(|swarm| swarm.with_idle_connection_timeout(GUARD))
        .build()
}

/// A server closes the older of two connections with a peer, which takes a while.
#[tokio::test]
async fn a_peer_whose_connections_are_not_closed_yet_has_so_many_and_one_more_is_refused() {
    let mut server = keeping(1, limits());
    let address = listen(&mut server, &local(), HANDSHAKE).await.unwrap();
    let mut greedy = keeping(2, dummy::Behaviour);
    let all = CONNECTIONS_PER_PEER_MAX + 1;
    for _ in 0..all {
        let dial = DialOpts::peer_id(id(1)).addresses(vec![address.clone()]);
        let dial = dial.condition(PeerCondition::Always).allocate_new_port();
        greedy.dial(dial.build()).unwrap();
    }
    let counted = async {
        let (mut open, mut refused) = (0, 0);
        while open + refused < all {
            tokio::select! {
                event = server.select_next_some() => match event {
                    SwarmEvent::ConnectionEstablished { .. } => open += 1,
                    SwarmEvent::IncomingConnectionError { .. } => refused += 1,
                    _ => {}
                },
                _ = greedy.select_next_some() => {}
            }
        }
        (open, refused)
    };
    let counted = timeout(GUARD, counted).await.expect("in time");
    assert_eq!(counted, (CONNECTIONS_PER_PEER_MAX, 1));
}

/// A connection of peer 2, of which a test opens the substreams itself.
struct RawConnection(StreamMuxerBox);

impl RawConnection {
    async fn new(address: Multiaddr) -> Self {
        let mut transport = tcp::tokio::Transport::default()
            .upgrade(Version::V1Lazy)
            .authenticate(noise::Config::new(&key(2)).unwrap())
            .multiplex(yamux::Config::default())
            .boxed();
        let how = TransportDialOpts { role: Endpoint::Dialer, port_use: PortUse::New };
        let (peer, connection) = transport.dial(address, how).unwrap().await.unwrap();
        assert_eq!(peer, id(1));
        Self(connection)
    }

    /// Lets the connection go on until `done` is.
    async fn until<T>(&mut self, done: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        let mut done = pin!(done);
        poll_fn(|context| {
            loop {
                if let Poll::Ready(done) = done.as_mut().poll(context) {
                    return Poll::Ready(done);
                }
                match self.0.poll_unpin(context) {
                    Poll::Ready(Ok(_)) => {}
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => return Poll::Pending,
                }
            }
        })
        .await
    }

    /// Opens one more substream, and returns it once the server has answered on it.
    async fn open(&mut self) -> io::Result<SubstreamBox> {
        // The first line on a substream, in either direction.
        const HEAD: &[u8] = b"\x13/multistream/1.0.0\n";
        let mut stream = poll_fn(|context| self.0.poll_outbound_unpin(context)).await?;
        self.until(async move {
            stream.write_all(HEAD).await?;
            stream.flush().await?;
            let mut answer = [0; HEAD.len()];
            stream.read_exact(&mut answer).await?;
            assert_eq!(answer, HEAD);
            Ok(stream)
        })
        .await
    }
}

#[tokio::test]
async fn a_connection_has_so_many_substreams_and_ends_with_one_more() {
    let ((_orders, received), (sender, _items)) = (mpsc::channel(1), mpsc::channel(1));
    let (config, trips, figures) = (PeersConfig::default(), Trips::new(), Arc::default());
    let mut server = PeerSwarm::new(key(1), config, received, sender, trips, figures).unwrap();
    let address = server.listen(&local()).await.unwrap();
    server.swarm.behaviour_mut().mesh.allow(id(2), vec![]);
    let opened = async {
        let mut connection = RawConnection::new(address).await;
        // The server opens one for its frames, and one for its pings.
        let mut kept = Vec::new();
        for _ in 0..2 {
            kept.push(poll_fn(|context| connection.0.poll_inbound_unpin(context)).await.unwrap());
        }
        let mut own = Vec::new();
        while let Ok(stream) = connection.open().await {
            own.push(stream);
            assert!(own.len() <= SUBSTREAMS_MAX, "there is no bound");
        }
        kept.len() + own.len()
    };
    let closed = async {
        let swarm = &mut server.swarm;
        while !matches!(swarm.select_next_some().await, SwarmEvent::ConnectionClosed { .. }) {}
    };
    let (opened, ()) =
        timeout(GUARD, async { tokio::join!(opened, closed) }).await.expect("in time");
    assert_eq!(opened, SUBSTREAMS_MAX);
}
