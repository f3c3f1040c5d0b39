//! A [`NetworkBehaviour`] that makes a session of each connection, and lets few connections of one
//! source in.
//!
//! As between servers, each side opens one substream and only writes to it, and both substreams
//! together are a session. A connection on which none opens in time is closed.

use std::{
    collections::{BTreeMap, VecDeque},
    convert::Infallible,
    net::IpAddr,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use libp2p::{
    Multiaddr, PeerId, Stream, StreamProtocol,
    core::{Endpoint, transport::PortUse},
    multiaddr::Protocol,
    swarm::{
        CloseConnection, ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, THandler,
        THandlerInEvent, ToSwarm,
        behaviour::{ConnectionClosed, ConnectionEstablished},
    },
};
use tokio::time::{Instant, Sleep, sleep_until};

use super::{limits::SESSIONS_PER_SOURCE_MAX, names};
use crate::{
    gateway::Block,
    peers::{
        handler::{FromHandler, SessionHandler},
        handshakes::source,
    },
};

/// The protocol of the overlay. Another number means another, incompatible framing.
const PROTOCOL: StreamProtocol = StreamProtocol::new("/metatopia/overlay/1");

/// The time in which a session opens on a new connection.
const OPEN_WITHIN: Duration = Duration::from_secs(3);

/// A session that is ready.
#[derive(Debug)]
pub(super) struct OverlaySession {
    pub(super) peer: PeerId,
    pub(super) connection: ConnectionId,
    /// The address at the other end of the connection.
    pub(super) observed: Option<IpAddr>,
    pub(super) read: Stream,
    pub(super) write: Stream,
}

/// Why a connection is not let in.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotLetInError {
    #[error("too many sessions from one address")]
    Source,
    #[error("its key is not of ed25519")]
    Key,
}

/// A connection on which a session opens, or is open.
#[derive(Debug, Default)]
struct HalfSession {
    /// The time until which it has to be open; none once it is.
    until: Option<Instant>,
    observed: Option<IpAddr>,
    read: Option<Stream>,
    write: Option<Stream>,
}

pub(super) struct SessionsBehaviour {
    protocol: StreamProtocol,
    connections: BTreeMap<(PeerId, ConnectionId), HalfSession>,
    /// The sources of connections that others began.
    sources: BTreeMap<ConnectionId, Block>,
    queue: VecDeque<ToSwarm<OverlaySession, Infallible>>,
    timer: Pin<Box<Sleep>>,
    waker: Option<Waker>,
}

/// Returns the IP address in an address, if it has one.
pub(super) fn ip_of(address: &Multiaddr) -> Option<IpAddr> {
    let ip: Option<IpAddr> = address.iter().find_map(|part| match part {
        Protocol::Ip4(ip) => Some(ip.into()),
        Protocol::Ip6(ip) => Some(ip.into()),
        _ => None,
    });
    ip.map(|ip| ip.to_canonical())
}

/// Says whether an address is of this machine alone.
#[must_use]
pub fn is_loopback(address: &Multiaddr) -> bool {
    ip_of(address).is_some_and(|ip| ip.is_loopback())
}

impl SessionsBehaviour {
    pub(super) fn new() -> Self {
        Self::of(PROTOCOL)
    }

    /// Returns one whose sessions are of this protocol.
    pub(super) fn of(protocol: StreamProtocol) -> Self {
        Self {
            protocol,
            connections: BTreeMap::new(),
            sources: BTreeMap::new(),
            queue: VecDeque::new(),
            timer: Box::pin(sleep_until(Instant::now())),
            waker: None,
        }
    }

    /// Ends a connection.
    pub(super) fn close(&mut self, peer_id: PeerId, connection: ConnectionId) {
        let connection = CloseConnection::One(connection);
        self.queue.push_back(ToSwarm::CloseConnection { peer_id, connection });
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn handler(&self, peer: &PeerId) -> Result<THandler<Self>, ConnectionDenied> {
        match names::key_of(peer) {
            Some(_) => Ok(SessionHandler::new(self.protocol.clone())),
            None => Err(ConnectionDenied::new(NotLetInError::Key)),
        }
    }

    /// Closes what did not open in time, and returns when the next one will be late.
    fn due(&mut self, now: Instant) -> Option<Instant> {
        let mut next: Option<Instant> = None;
        for ((peer_id, connection), half) in &mut self.connections {
            match half.until {
                Some(until) if until <= now => {
                    half.until = None;
                    let (peer_id, connection) = (*peer_id, CloseConnection::One(*connection));
                    self.queue.push_back(ToSwarm::CloseConnection { peer_id, connection });
                }
                Some(until) => next = Some(next.map_or(until, |next| next.min(until))),
                None => {}
            }
        }
        next
    }
}

impl NetworkBehaviour for SessionsBehaviour {
    type ConnectionHandler = SessionHandler;
    type ToSwarm = OverlaySession;

    fn handle_established_inbound_connection(
        &mut self,
        connection: ConnectionId,
        peer: PeerId,
        _: &Multiaddr,
        remote: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        if let Some(block) = source(remote).filter(|_| !is_loopback(remote)) {
            let same = self.sources.values().filter(|other| **other == block).count();
            if same >= SESSIONS_PER_SOURCE_MAX {
                return Err(ConnectionDenied::new(NotLetInError::Source));
            }
            self.sources.insert(connection, block);
        }
        self.handler(&peer)
    }

    fn handle_established_outbound_connection(
        &mut self,
        _: ConnectionId,
        peer: PeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        self.handler(&peer)
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        match event {
            FromSwarm::ConnectionEstablished(ConnectionEstablished {
                peer_id,
                connection_id,
                endpoint,
                ..
            }) => {
                let until = Some(Instant::now() + OPEN_WITHIN);
                let half = HalfSession {
                    until,
                    observed: ip_of(endpoint.get_remote_address()),
                    ..HalfSession::default()
                };
                self.connections.insert((peer_id, connection_id), half);
                self.wake();
            }
            FromSwarm::ConnectionClosed(ConnectionClosed { peer_id, connection_id, .. }) => {
                self.connections.remove(&(peer_id, connection_id));
                self.sources.remove(&connection_id);
            }
            // Another part of the behaviour refused it after this one had let it in.
            FromSwarm::ListenFailure(failure) => {
                self.sources.remove(&failure.connection_id);
            }
            _ => {}
        }
    }

    fn on_connection_handler_event(
        &mut self,
        peer: PeerId,
        connection: ConnectionId,
        event: FromHandler,
    ) {
        let Some(half) = self.connections.get_mut(&(peer, connection)) else { return };
        match (half.until, event) {
            (Some(_), FromHandler::Read(stream)) => half.read = Some(stream),
            (Some(_), FromHandler::Write(stream)) => half.write = Some(stream),
            // The member does not speak our protocol, or opened a second substream.
            _ => {
                half.until = None;
                return self.close(peer, connection);
            }
        }
        if half.read.is_none() || half.write.is_none() {
            return;
        }
        if let (Some(read), Some(write)) = (half.read.take(), half.write.take()) {
            half.until = None;
            let observed = half.observed;
            let session = OverlaySession { peer, connection, observed, read, write };
            self.queue.push_back(ToSwarm::GenerateEvent(session));
        }
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<ToSwarm<OverlaySession, THandlerInEvent<Self>>> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Poll::Ready(event.map_in(|never| match never {}));
            }
            let next = self.due(Instant::now());
            if !self.queue.is_empty() {
                continue;
            }
            self.waker = Some(cx.waker().clone());
            let Some(at) = next else { return Poll::Pending };
            if self.timer.deadline() != at {
                self.timer.as_mut().reset(at);
            }
            if self.timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::limits::SESSIONS_PER_SOURCE_MAX;

    fn let_in(behaviour: &mut SessionsBehaviour, id: usize, ip: &str) -> bool {
        let key = libp2p::identity::Keypair::generate_ed25519().public().to_peer_id();
        let at: Multiaddr = format!("/ip4/{ip}/tcp/9").parse().unwrap();
        let id = ConnectionId::new_unchecked(id);
        behaviour.handle_established_inbound_connection(id, key, &at, &at).is_ok()
    }

    #[tokio::test]
    async fn one_source_has_few_sessions_and_this_machine_many() {
        let mut behaviour = SessionsBehaviour::new();
        let strange = (0..100).filter(|id| let_in(&mut behaviour, *id, "192.0.2.1")).count();
        assert_eq!(strange, SESSIONS_PER_SOURCE_MAX);
        assert!(let_in(&mut behaviour, 100, "192.0.2.2"), "another source");
        let own = (200..300).filter(|id| let_in(&mut behaviour, *id, "127.0.0.1")).count();
        assert_eq!(own, 100);
    }

    #[tokio::test]
    async fn a_key_that_no_peer_id_holds_is_not_let_in() {
        let mut behaviour = SessionsBehaviour::new();
        let at: Multiaddr = "/ip4/192.0.2.1/tcp/9".parse().unwrap();
        let hashed = PeerId::from_bytes(&[&[0x12, 0x20][..], &[7; 32]].concat()).unwrap();
        let id = ConnectionId::new_unchecked(1);
        let refused = behaviour.handle_established_inbound_connection(id, hashed, &at, &at);
        assert!(refused.is_err());
    }
}
