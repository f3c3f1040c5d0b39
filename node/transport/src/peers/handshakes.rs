//! Limits how many connections may be in their handshake at once, and from where.
//!
//! Before its handshake a connection has no identity, only an address. So a [`NetworkBehaviour`]
//! counts handshakes by source, and keeps places for the addresses of allowed peers: those that the
//! sim or the configuration names, and those that a peer last came from. However many strangers are
//! silent, and from however many addresses, a peer that comes back finds a place.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    net::IpAddr,
    task::{Context, Poll},
};

use libp2p::{
    Multiaddr, PeerId,
    core::{ConnectedPoint, Endpoint, transport::PortUse},
    multiaddr::Protocol,
    swarm::{
        ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, THandler, THandlerInEvent,
        THandlerOutEvent, ToSwarm, behaviour::ConnectionEstablished, dummy,
    },
};

use crate::gateway::Block;

/// The most connections that may be in their handshake at once, each for at most two seconds. The
/// places above [`STRANGE_HANDSHAKES_MAX`] are for the addresses of peers.
pub const HANDSHAKES_MAX: usize = 256;

/// The most of them that are not from an address of a peer.
pub const STRANGE_HANDSHAKES_MAX: usize = 128;

/// The most of those that are from one such IPv4 address, or IPv6 network of 64 bits.
pub const HANDSHAKES_PER_SOURCE_MAX: usize = 16;

/// The error of a connection for which there is no place; the remote may try again.
#[derive(Debug, thiserror::Error)]
#[error("too many connections are in their handshake")]
pub(crate) struct Crowded;

/// The addresses of one peer: those that were named, and the one that it last came from.
#[derive(Debug, Default)]
struct Addresses {
    named: BTreeSet<Block>,
    last: Option<Block>,
}

/// Counts the handshakes that are under way.
#[derive(Debug, Default)]
pub(crate) struct HandshakeBehaviour {
    peers: BTreeMap<PeerId, Addresses>,
    /// The source of each handshake that is under way.
    pending: BTreeMap<ConnectionId, Option<Block>>,
}

/// Returns the source of connections from this address, if it names one.
pub(crate) fn source(address: &Multiaddr) -> Option<Block> {
    address.iter().find_map(|part| match part {
        Protocol::Ip4(ip) => Some(Block::of(IpAddr::V4(ip))),
        Protocol::Ip6(ip) => Some(Block::of(IpAddr::V6(ip))),
        _ => None,
    })
}

impl HandshakeBehaviour {
    /// Allows this peer, which may be at these addresses.
    pub(crate) fn allow(&mut self, peer: PeerId, addresses: &[Multiaddr]) {
        self.peers.entry(peer).or_default().named = addresses.iter().filter_map(source).collect();
    }

    /// Forbids this peer.
    pub(crate) fn disallow(&mut self, peer: &PeerId) {
        self.peers.remove(peer);
    }

    fn is_of_peer(&self, source: Option<Block>) -> bool {
        let holds =
            |all: &Addresses, source| all.last == Some(source) || all.named.contains(&source);
        source.is_some_and(|source| self.peers.values().any(|all| holds(all, source)))
    }

    /// Returns whether there is a place for one more from this source.
    fn has_room(&self, source: Option<Block>) -> bool {
        if self.pending.len() >= HANDSHAKES_MAX {
            return false;
        }
        if self.is_of_peer(source) {
            return true;
        }
        let others = self.pending.values().filter(|other| !self.is_of_peer(**other)).count();
        let same = self.pending.values().filter(|other| **other == source).count();
        others < STRANGE_HANDSHAKES_MAX && same < HANDSHAKES_PER_SOURCE_MAX
    }
}

impl NetworkBehaviour for HandshakeBehaviour {
    type ConnectionHandler = dummy::ConnectionHandler;
    type ToSwarm = Infallible;

    fn handle_pending_inbound_connection(
        &mut self,
        connection: ConnectionId,
        _: &Multiaddr,
        remote: &Multiaddr,
    ) -> Result<(), ConnectionDenied> {
        let source = source(remote);
        if !self.has_room(source) {
            return Err(ConnectionDenied::new(Crowded));
        }
        self.pending.insert(connection, source);
        Ok(())
    }

    fn handle_established_inbound_connection(
        &mut self,
        connection: ConnectionId,
        _: PeerId,
        _: &Multiaddr,
        _: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        self.pending.remove(&connection);
        Ok(dummy::ConnectionHandler)
    }

    fn handle_established_outbound_connection(
        &mut self,
        _: ConnectionId,
        _: PeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(dummy::ConnectionHandler)
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        match event {
            // Only connections that the list lets in are established.
            FromSwarm::ConnectionEstablished(ConnectionEstablished {
                peer_id,
                endpoint: ConnectedPoint::Listener { send_back_addr, .. },
                ..
            }) => {
                if let Some(addresses) = self.peers.get_mut(&peer_id) {
                    addresses.last = source(send_back_addr);
                }
            }
            FromSwarm::ListenFailure(failure) => {
                self.pending.remove(&failure.connection_id);
            }
            _ => {}
        }
    }

    fn on_connection_handler_event(
        &mut self,
        _: PeerId,
        _: ConnectionId,
        event: THandlerOutEvent<Self>,
    ) {
        match event {}
    }

    fn poll(&mut self, _: &mut Context<'_>) -> Poll<ToSwarm<Infallible, THandlerInEvent<Self>>> {
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ip: &str) -> Multiaddr {
        let family = if ip.contains(':') { "ip6" } else { "ip4" };
        format!("/{family}/{ip}/tcp/4001").parse().unwrap()
    }

    /// Opens connections until one is denied, and returns how many were accepted.
    fn fill(behaviour: &mut HandshakeBehaviour, ip: &str) -> usize {
        let opened = (0..=HANDSHAKES_MAX).take_while(|n| {
            let id = ConnectionId::new_unchecked(behaviour.pending.len() * 1_000 + n);
            behaviour.handle_pending_inbound_connection(id, &at("127.0.0.1"), &at(ip)).is_ok()
        });
        opened.count()
    }

    fn peer() -> PeerId {
        PeerId::random()
    }

    #[test]
    fn one_source_holds_a_few_places_and_all_strangers_together_leave_those_of_peers() {
        let mut behaviour = HandshakeBehaviour::default();
        let server = peer();
        behaviour.allow(server, &[at("192.0.2.9")]);

        assert_eq!(fill(&mut behaviour, "192.0.2.1"), HANDSHAKES_PER_SOURCE_MAX);
        assert_eq!(fill(&mut behaviour, "2001:db8::1"), HANDSHAKES_PER_SOURCE_MAX);
        assert_eq!(fill(&mut behaviour, "2001:db8::2"), 0, "the same network");
        let others: usize = (2..9).map(|n| fill(&mut behaviour, &format!("192.0.2.{n}"))).sum();
        let all = others + 2 * HANDSHAKES_PER_SOURCE_MAX;
        assert_eq!(all, STRANGE_HANDSHAKES_MAX);

        assert_eq!(fill(&mut behaviour, "192.0.2.9"), HANDSHAKES_MAX - STRANGE_HANDSHAKES_MAX);
        behaviour.disallow(&server);
        assert_eq!(fill(&mut behaviour, "192.0.2.9"), 0);
    }

    #[test]
    fn a_handshake_that_ended_frees_its_place() {
        let mut behaviour = HandshakeBehaviour::default();
        assert_eq!(fill(&mut behaviour, "192.0.2.1"), HANDSHAKES_PER_SOURCE_MAX);
        let (id, here) = (*behaviour.pending.keys().next().unwrap(), at("127.0.0.1"));
        let there = at("192.0.2.1");
        behaviour.handle_established_inbound_connection(id, peer(), &here, &there).unwrap();
        assert_eq!(fill(&mut behaviour, "192.0.2.1"), 1);
    }
}
