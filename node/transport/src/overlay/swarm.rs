//! The overlay's swarm: its settings, and the task that runs it.

mod finds;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use futures::StreamExt as _;
use libp2p::{
    Multiaddr, PeerId, Swarm, SwarmBuilder,
    connection_limits::{self, ConnectionLimits},
    identify,
    identity::Keypair,
    noise,
    swarm::{
        ConnectionId, DialError, NetworkBehaviour, SwarmEvent,
        behaviour::toggle::Toggle,
        dial_opts::{DialOpts, PeerCondition},
    },
    tcp, yamux,
};
use metatopia_types::PublicKey;
use tokio::{sync::mpsc, task::JoinSet};

use self::finds::HeardMember;
use super::{
    DiscoverySetup, KnownMembers, ObservedMembers,
    discovery::{lan::LanBehaviour, port_alone, scope::DialScope, table::TableBehaviour},
    limits::{CONNECTIONS_PER_MEMBER_MAX, DIALS_MAX, ORDERS_MAX, SESSION, SESSIONS_IN_MAX},
    names::{key_of, peer_id_of},
    sessions::{OverlaySession, SessionsBehaviour, is_loopback},
};
use crate::{
    figures::TransportFigures,
    peers::{
        PeerEnd, StartPeersError,
        frame::{Pump, SessionNumber, SessionTaskEvent, SessionTaskEventKind},
        handshakes::HandshakeBehaviour,
        listen::listen,
        outbox::SendQueue,
    },
};

/// The substreams of one connection: a stream of frames each way, what finds members, and spare.
const SUBSTREAMS_MAX: usize = 16;

/// The time that a connection has for its handshake, and that a dial has for everything.
const HANDSHAKE: Duration = Duration::from_secs(3);

/// What the swarm's task is told to do.
#[derive(Debug)]
pub(super) enum OverlayOrder {
    /// Dial a member.
    Dial(DialOrder),
    /// Seek members that nobody told of.
    Seek,
}

/// An order to dial a member. Without an address it fails.
#[derive(Debug)]
pub(super) struct DialOrder {
    pub(super) member: PublicKey,
    pub(super) address: Option<Multiaddr>,
}

#[derive(NetworkBehaviour)]
struct OverlayBehaviour {
    // This comes first, so that a connection that it refuses costs nothing more.
    handshakes: HandshakeBehaviour,
    limits: connection_limits::Behaviour,
    sessions: SessionsBehaviour,
    identify: identify::Behaviour,
    table: TableBehaviour,
    lan: Toggle<LanBehaviour>,
}

/// The channels of the swarm's task.
pub(super) struct SwarmChannels {
    /// What it is told to do.
    pub(super) orders: mpsc::Receiver<OverlayOrder>,
    /// Events of sessions.
    pub(super) items: mpsc::Sender<SessionTaskEvent>,
    /// Members whose dial failed.
    pub(super) fail: mpsc::Sender<PublicKey>,
    /// Members that were found.
    pub(super) finds: mpsc::Sender<(PublicKey, Multiaddr)>,
}

/// Everything that the swarm's task owns.
pub(super) struct OverlaySwarm {
    // This is dropped first: whoever waits for the end of the orders may listen at the same port then.
    swarm: Swarm<OverlayBehaviour>,
    orders: mpsc::Receiver<OverlayOrder>,
    items: mpsc::Sender<SessionTaskEvent>,
    fail: mpsc::Sender<PublicKey>,
    finds: mpsc::Sender<(PublicKey, Multiaddr)>,
    /// What members of this network say that they are of.
    spoken: String,
    /// Members with which there is a connection.
    heard: BTreeMap<PeerId, HeardMember>,
    /// Members that are being dialled, until a session opened or it failed.
    dialling: BTreeMap<PeerId, PublicKey>,
    /// Members whose dial failed and of whom the owner has not been told.
    failed: VecDeque<PublicKey>,
    /// Whether this member is on this machine alone. Another one dials no address of its own machine,
    /// whatever a record says: strangers must not reach what listens there.
    is_local: bool,
    known: KnownMembers,
    observed: ObservedMembers,
    figures: Arc<TransportFigures>,
    sessions: SessionNumber,
    pumps: JoinSet<()>,
}

/// Returns the addresses of this machine alone.
fn loopback() -> [Multiaddr; 2] {
    ["/ip4/127.0.0.1", "/ip6/::1"].map(|text| text.parse().expect("a constant"))
}

impl OverlaySwarm {
    pub(super) fn new(
        keypair: Keypair,
        (listen, discovery): (&Multiaddr, &DiscoverySetup),
        SwarmChannels { orders, items, fail, finds }: SwarmChannels,
        (known, observed, figures): (KnownMembers, ObservedMembers, Arc<TransportFigures>),
    ) -> Result<Self, StartPeersError> {
        let limits = ConnectionLimits::default()
            .with_max_established_per_peer(Some(CONNECTIONS_PER_MEMBER_MAX))
            .with_max_established_incoming(Some(SESSIONS_IN_MAX));
        let mut handshakes = HandshakeBehaviour::default();
        let local = keypair.public().to_peer_id();
        // Members on this machine do not count as strangers in their handshakes.
        handshakes.allow(local, &loopback());
        let scope = DialScope::of(listen, discovery.lan);
        let lan = discovery.lan.then(|| LanBehaviour::new(local)).transpose();
        let behaviour = OverlayBehaviour {
            handshakes,
            limits: connection_limits::Behaviour::new(limits),
            sessions: SessionsBehaviour::new(),
            identify: discovery.identify(keypair.public()),
            table: TableBehaviour::new(local, discovery, scope),
            lan: lan.map_err(StartPeersError::Lan)?.into(),
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
        Ok(Self {
            swarm,
            orders,
            items,
            fail,
            finds,
            spoken: discovery.spoken(),
            heard: BTreeMap::new(),
            dialling: BTreeMap::new(),
            failed: VecDeque::new(),
            is_local: is_loopback(listen),
            known,
            observed,
            figures,
            sessions: 0,
            pumps: JoinSet::new(),
        })
    }

    /// Opens the listener and returns its address.
    pub(super) async fn listen(
        &mut self,
        address: &Multiaddr,
    ) -> Result<Multiaddr, StartPeersError> {
        let address = listen(&mut self.swarm, address, HANDSHAKE).await?;
        // All that members say of where they listen.
        if let Some(port) = port_alone(&address) {
            self.swarm.add_external_address(port);
        }
        Ok(address)
    }

    /// Runs until the handle, or the receiver of events, is gone. It never waits for that receiver, so
    /// neither of the two can wait for the other.
    pub(super) async fn run(mut self) {
        let (ended, mut endings) = mpsc::channel(ORDERS_MAX);
        let (items, fail) = (self.items.clone(), self.fail.clone());
        loop {
            tokio::select! {
                order = self.orders.recv() => match order {
                    Some(OverlayOrder::Dial(order)) => self.dial(order),
                    Some(OverlayOrder::Seek) => self.swarm.behaviour_mut().table.seek(),
                    None => return,
                },
                () = items.closed() => return,
                Some((peer, connection)) = endings.recv() => {
                    self.swarm.behaviour_mut().sessions.close(peer, connection);
                }
                Ok(permit) = fail.reserve(), if !self.failed.is_empty() => {
                    if let Some(member) = self.failed.pop_front() {
                        permit.send(member);
                    }
                }
                Some(_) = self.pumps.join_next() => {}
                event = self.swarm.select_next_some() => self.handle(event, &ended),
            }
        }
    }

    fn dial(&mut self, order: DialOrder) {
        let DialOrder { member, address } = order;
        let is_allowed = |address: &Multiaddr| self.is_local || !is_loopback(address);
        let address = address.filter(is_allowed);
        let (Some(peer), Some(address)) = (peer_id_of(&member), address) else {
            return self.failed.push_back(member);
        };
        if self.dialling.len() >= DIALS_MAX {
            return self.failed.push_back(member);
        }
        self.dialling.insert(peer, member);
        let opts = DialOpts::peer_id(peer)
            .condition(PeerCondition::DisconnectedAndNotDialing)
            .addresses(vec![address])
            // From the port that is listened on, two that dial each other at once would have one
            // connection that each of them began, and no handshake.
            .allocate_new_port()
            .build();
        match self.swarm.dial(opts) {
            Ok(()) => {}
            // A connection is there or on its way, and tells what becomes of it.
            Err(DialError::DialPeerConditionFalse(_)) => {}
            Err(_) => self.dial_failed(peer),
        }
    }

    fn dial_failed(&mut self, peer: PeerId) {
        self.failed.extend(self.dialling.remove(&peer));
    }

    fn handle(
        &mut self,
        event: SwarmEvent<OverlayBehaviourEvent>,
        ended: &mpsc::Sender<(PeerId, ConnectionId)>,
    ) {
        match event {
            SwarmEvent::Behaviour(OverlayBehaviourEvent::Sessions(opened)) => {
                self.dialling.remove(&opened.peer);
                let peer = opened.peer;
                self.open(opened, ended.clone());
                self.tell_if_known(peer);
            }
            SwarmEvent::Behaviour(event) => self.found(event),
            SwarmEvent::ConnectionEstablished { peer_id, endpoint, .. } => {
                self.connected(peer_id, &endpoint);
            }
            // The last connection ended before a session opened on it.
            SwarmEvent::ConnectionClosed { peer_id, num_established: 0, .. } => {
                self.heard.remove(&peer_id);
                if let Some(member) = key_of(&peer_id) {
                    self.observed.lock().remove(&member);
                }
                self.dial_failed(peer_id);
            }
            SwarmEvent::OutgoingConnectionError { peer_id: Some(peer), error, .. } => {
                tracing::debug!(%peer, %error, "dial failed");
                if !self.swarm.is_connected(&peer) {
                    self.dial_failed(peer);
                }
            }
            SwarmEvent::IncomingConnectionError { send_back_addr, error, .. } => {
                tracing::debug!(address = %send_back_addr, %error, "connection refused");
            }
            _ => {}
        }
    }

    fn open(&mut self, opened: OverlaySession, ended: mpsc::Sender<(PeerId, ConnectionId)>) {
        let OverlaySession { peer, connection, observed, read, write } = opened;
        self.sessions += 1;
        self.figures.lane_sessions_opened_total.inc();
        let outbox = Arc::new(SendQueue::new(&SESSION));
        if let Some(member) = key_of(&peer) {
            self.known.flush(member, &outbox);
            if let Some(ip) = observed {
                self.observed.lock().insert(member, ip);
            }
        }
        let pump = Pump {
            peer,
            session: self.sessions,
            outbox,
            items: self.items.clone(),
            limits: SESSION,
            metrics: Arc::clone(&self.figures),
        };
        let figures = Arc::clone(&self.figures);
        self.pumps.spawn(async move {
            let end = pump.run(read, write).await;
            tracing::debug!(%peer, %end, "session ended");
            if matches!(end, PeerEnd::Oversize(_)) {
                figures.lane_sessions_refused_total.inc();
            }
            // The connection is closed first, because the receiver of events may be slow to read
            // this.
            let _ = ended.send((peer, connection)).await;
            pump.tell(SessionTaskEventKind::Ended(end)).await;
        });
    }
}
