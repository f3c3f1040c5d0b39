//! The libp2p swarm: its settings, and the task that runs it.

use std::{sync::Arc, time::Duration};

use futures::StreamExt as _;
use libp2p::{
    Multiaddr, PeerId, StreamProtocol, Swarm, SwarmBuilder,
    connection_limits::{self, ConnectionLimits},
    identity::Keypair,
    noise, ping,
    swarm::{ConnectionId, NetworkBehaviour, SwarmEvent},
    tcp, yamux,
};
use tokio::{sync::mpsc, task::JoinSet};

use super::{
    PeersConfig, StartPeersError, Trips,
    frame::{Pump, SessionNumber, SessionTaskEvent, SessionTaskEventKind},
    handshakes,
    listen::listen,
    mesh,
    outbox::SendQueue,
};
use crate::figures::TransportFigures;

/// The protocol of frames between servers. Another number means another, incompatible framing.
const PROTOCOL: StreamProtocol = StreamProtocol::new("/metatopia/lane/1");

/// The most connections of one allowed peer at once: the one in use, the one that replaces it, and
/// those that are being closed. (A limit of one would keep a restarted peer out until the old
/// connection is noticed.)
pub const CONNECTIONS_PER_PEER_MAX: u32 = 4;

/// The substreams of one connection: a stream of frames each way, a ping each way, and spare.
const SUBSTREAMS_MAX: usize = 16;

/// The time that a connection has for its handshake, and that a dial has for everything.
const HANDSHAKE: Duration = Duration::from_secs(2);

/// The most orders of the handle that may wait for the swarm's task.
pub(super) const ORDERS_MAX: usize = 64;

/// An order of the handle for the swarm's task.
#[derive(Debug)]
pub(super) enum SwarmCommand {
    Allow(PeerId, Vec<Multiaddr>),
    Disallow(PeerId),
}

#[derive(NetworkBehaviour)]
struct Behaviour {
    // This comes first, so that a connection that it refuses costs nothing more.
    handshakes: handshakes::HandshakeBehaviour,
    limits: connection_limits::Behaviour,
    mesh: mesh::MeshBehaviour,
    ping: ping::Behaviour,
}

/// Returns the part of the behaviour that counts connections.
fn limits() -> connection_limits::Behaviour {
    let most = Some(CONNECTIONS_PER_PEER_MAX);
    connection_limits::Behaviour::new(
        ConnectionLimits::default().with_max_established_per_peer(most),
    )
}

/// Everything that the swarm's task owns.
pub(super) struct PeerSwarm {
    swarm: Swarm<Behaviour>,
    config: PeersConfig,
    orders: mpsc::Receiver<SwarmCommand>,
    items: mpsc::Sender<SessionTaskEvent>,
    trips: Trips,
    metrics: Arc<TransportFigures>,
    sessions: SessionNumber,
    pumps: JoinSet<()>,
}

impl PeerSwarm {
    pub(super) fn new(
        keypair: Keypair,
        config: PeersConfig,
        orders: mpsc::Receiver<SwarmCommand>,
        items: mpsc::Sender<SessionTaskEvent>,
        trips: Trips,
        metrics: Arc<TransportFigures>,
    ) -> Result<Self, StartPeersError> {
        let local = keypair.public().to_peer_id();
        let mesh = mesh::MeshBehaviour::new(local, PROTOCOL, config.redial, metrics.clone());
        let behaviour = Behaviour {
            handshakes: handshakes::HandshakeBehaviour::default(),
            limits: limits(),
            mesh,
            ping: ping::Behaviour::default(),
        };
        let multiplexing = || {
            let mut config = yamux::Config::default();
            config.set_max_num_streams(SUBSTREAMS_MAX);
            config
        };
        let swarm = SwarmBuilder::with_existing_identity(keypair)
            .with_tokio()
            .with_tcp(tcp::Config::default(), noise::Config::new, multiplexing)
            .map_err(|error| StartPeersError::Noise(error.to_string()))?
            .with_behaviour(|_| behaviour)
            .expect("the behaviour is ready made")
            .with_swarm_config(|swarm| swarm.with_max_negotiating_inbound_streams(SUBSTREAMS_MAX))
            .with_connection_timeout(HANDSHAKE)
            .build();
        let (sessions, pumps) = (0, JoinSet::new());
        Ok(Self { swarm, config, orders, items, trips, metrics, sessions, pumps })
    }

    /// Opens the listener and returns its address.
    pub(super) async fn listen(
        &mut self,
        address: &Multiaddr,
    ) -> Result<Multiaddr, StartPeersError> {
        listen(&mut self.swarm, address, HANDSHAKE).await
    }

    /// Runs until the handle, or the receiver of events, is gone.
    pub(super) async fn run(mut self) {
        let (ended, mut endings) = mpsc::channel(ORDERS_MAX);
        let items = self.items.clone();
        loop {
            tokio::select! {
                order = self.orders.recv() => match order {
                    Some(SwarmCommand::Allow(peer, addresses)) => {
                        let Behaviour { handshakes, mesh, .. } = self.swarm.behaviour_mut();
                        handshakes.allow(peer, &addresses);
                        mesh.allow(peer, addresses);
                    }
                    Some(SwarmCommand::Disallow(peer)) => {
                        let Behaviour { handshakes, mesh, .. } = self.swarm.behaviour_mut();
                        handshakes.disallow(&peer);
                        mesh.disallow(peer);
                    }
                    None => return,
                },
                () = items.closed() => return,
                Some((peer, connection)) = endings.recv() => {
                    self.swarm.behaviour_mut().mesh.close(peer, connection);
                }
                Some(_) = self.pumps.join_next() => {}
                event = self.swarm.select_next_some() => self.handle(event, &ended),
            }
        }
    }

    fn handle(
        &mut self,
        event: SwarmEvent<BehaviourEvent>,
        ended: &mpsc::Sender<(PeerId, ConnectionId)>,
    ) {
        match event {
            SwarmEvent::Behaviour(BehaviourEvent::Mesh(opened)) => self.open(opened, ended.clone()),
            SwarmEvent::Behaviour(BehaviourEvent::Ping(ping::Event {
                peer,
                result: Ok(round_trip),
                ..
            })) => {
                self.trips.lock().insert(peer, round_trip);
            }
            SwarmEvent::ConnectionClosed { peer_id, num_established: 0, .. } => {
                self.trips.lock().remove(&peer_id);
            }
            SwarmEvent::OutgoingConnectionError { peer_id: Some(peer), error, .. } => {
                tracing::debug!(%peer, %error, "dial failed");
            }
            SwarmEvent::IncomingConnectionError { send_back_addr, error, .. } => {
                tracing::debug!(address = %send_back_addr, %error, "connection refused");
            }
            _ => {}
        }
    }

    fn open(&mut self, opened: mesh::OpenedSession, ended: mpsc::Sender<(PeerId, ConnectionId)>) {
        let mesh::OpenedSession { peer, connection, read, write } = opened;
        self.sessions += 1;
        self.metrics.lane_sessions_opened_total.inc();
        let pump = Pump {
            peer,
            session: self.sessions,
            outbox: Arc::new(SendQueue::new(&self.config.limits)),
            items: self.items.clone(),
            limits: self.config.limits,
            metrics: self.metrics.clone(),
        };
        self.pumps.spawn(async move {
            let end = pump.run(read, write).await;
            tracing::info!(%peer, %end, "session ended");
            // The connection is closed first, because the receiver of events may be slow to read
            // this.
            let _ = ended.send((peer, connection)).await;
            pump.tell(SessionTaskEventKind::Ended(end)).await;
        });
    }
}

#[cfg(test)]
mod tests;
