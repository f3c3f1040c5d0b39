//! What the swarm's task does with members that were found.

use std::net::IpAddr;

use libp2p::{
    Multiaddr, PeerId,
    core::ConnectedPoint,
    identify, kad,
    multiaddr::Protocol,
    swarm::{
        ConnectionId,
        dial_opts::{DialOpts, PeerCondition},
    },
};
use tokio::time::Instant;

use super::{OverlayBehaviourEvent, OverlaySwarm};
use crate::overlay::{
    discovery::{port_of, scope::without_peer},
    names::key_of,
    sessions::ip_of,
};

/// What is known of a member with which there is a connection.
#[derive(Debug, Default)]
pub(super) struct HeardMember {
    /// Where it is heard.
    ip: Option<IpAddr>,
    /// Where it was found, until the owner is told.
    found: Option<Multiaddr>,
    /// Whether it began the connection.
    is_inbound: bool,
    /// Whether it has said at which port it listens. It is asked once.
    has_said: bool,
}

impl OverlaySwarm {
    /// Notes where a member is heard, and whether it was found.
    pub(super) fn connected(&mut self, peer: PeerId, endpoint: &ConnectedPoint) {
        let is_ordered = self.dialling.contains_key(&peer);
        let heard = self.heard.entry(peer).or_default();
        heard.ip = ip_of(endpoint.get_remote_address());
        match endpoint {
            ConnectedPoint::Dialer { address, .. } if !is_ordered => {
                heard.found = Some(without_peer(address));
            }
            ConnectedPoint::Dialer { .. } => {}
            ConnectedPoint::Listener { .. } => heard.is_inbound = true,
        }
    }

    /// Takes in what the parts say that find members.
    pub(super) fn found(&mut self, event: OverlayBehaviourEvent) {
        match event {
            OverlayBehaviourEvent::Identify(identify::Event::Received {
                peer_id,
                connection_id,
                info,
            }) => self.identified(peer_id, connection_id, &info),
            OverlayBehaviourEvent::Table(kad::Event::RoutablePeer { peer, address }) => {
                self.swarm.behaviour_mut().table.learn(peer, &without_peer(&address));
                self.tell(peer);
            }
            OverlayBehaviourEvent::Lan(called) => {
                for (peer, address) in called {
                    self.dial_near(peer, &without_peer(&address));
                }
            }
            _ => {}
        }
    }

    /// Takes in what a member says of itself. One of another network is hung up on.
    fn identified(&mut self, peer: PeerId, connection: ConnectionId, info: &identify::Info) {
        if info.protocol_version != self.spoken {
            tracing::debug!(%peer, said = %info.protocol_version, "a member of another network");
            self.swarm.behaviour_mut().sessions.close(peer, connection);
            return;
        }
        let table = &mut self.swarm.behaviour_mut().table;
        let is_client_only = !info.protocols.contains(table.protocol());
        let Some(heard) = self.heard.get_mut(&peer).filter(|heard| !heard.has_said) else { return };
        heard.has_said = true;
        // Only at the address where it is heard, so that nobody has others dial a third.
        let (Some(ip), Some(port)) = (heard.ip, info.listen_addrs.iter().find_map(port_of)) else {
            return;
        };
        if is_client_only {
            return;
        }
        let address = Multiaddr::from(ip).with(Protocol::Tcp(port));
        table.learn(peer, &address);
        // Two that find each other at once have one connection, which one of them began.
        if heard.is_inbound && table.scope().admits(&address) {
            heard.found.get_or_insert(address);
            self.tell(peer);
        }
    }

    /// Dials a member that calls in the local network.
    fn dial_near(&mut self, peer: PeerId, address: &Multiaddr) {
        let table = &mut self.swarm.behaviour_mut().table;
        let may = table.scope().admits_near(address) && key_of(&peer).is_some();
        if !may || self.heard.contains_key(&peer) || !table.admits_dial(Instant::now()) {
            return;
        }
        let opts = DialOpts::peer_id(peer)
            .condition(PeerCondition::DisconnectedAndNotDialing)
            .addresses(vec![address.clone()])
            .allocate_new_port()
            .build();
        if let Err(error) = self.swarm.dial(opts) {
            tracing::debug!(%peer, %error, "a member in the local network is not dialled");
        }
    }

    /// Tells the owner of a member that was found, whose key is proved, if it is in the table.
    pub(super) fn tell_if_known(&mut self, peer: PeerId) {
        if self.swarm.behaviour_mut().table.knows(&peer) {
            self.tell(peer);
        }
    }

    /// Tells the owner of a member, if it was found and was not told of.
    fn tell(&mut self, peer: PeerId) {
        let address = self.heard.get_mut(&peer).and_then(|heard| heard.found.take());
        if let (Some(address), Some(member)) = (address, key_of(&peer)) {
            // An owner that is busy has enough of them.
            let _full = self.finds.try_send((member, address));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use libp2p::{
        core::{Endpoint, transport::PortUse},
        identity::Keypair,
    };
    use metatopia_types::PublicKey;
    use tokio::sync::mpsc;

    use super::*;
    use crate::overlay::{
        DiscoverySetup, KnownMembers, ObservedMembers, SwarmChannels, limits::FOUND_MAX,
    };

    fn keypair(n: u8) -> Keypair {
        Keypair::ed25519_from_bytes([n; 32]).unwrap()
    }

    fn peer(n: u8) -> PeerId {
        keypair(n).public().to_peer_id()
    }

    type Found = mpsc::Receiver<(PublicKey, Multiaddr)>;

    fn swarm() -> (OverlaySwarm, Found) {
        let (finds, found) = mpsc::channel(FOUND_MAX);
        let (orders, items, fail) = (mpsc::channel(1).1, mpsc::channel(1).0, mpsc::channel(1).0);
        let channels = SwarmChannels { orders, items, fail, finds };
        let shared = (KnownMembers::default(), ObservedMembers::default(), Arc::default());
        let listen = "/ip4/0.0.0.0/tcp/0".parse().unwrap();
        let setup = DiscoverySetup { network: "a".to_owned(), ..DiscoverySetup::default() };
        let swarm = OverlaySwarm::new(keypair(200), (&listen, &setup), channels, shared).unwrap();
        (swarm, found)
    }

    fn at(n: u8) -> Multiaddr {
        format!("/ip4/198.51.100.{n}/tcp/8083").parse().unwrap()
    }

    fn dialled(address: Multiaddr) -> ConnectedPoint {
        let (role_override, port_use) = (Endpoint::Dialer, PortUse::New);
        ConnectedPoint::Dialer { address, role_override, port_use }
    }

    #[tokio::test]
    async fn an_owner_that_does_not_listen_is_told_of_few() {
        let (mut swarm, mut found) = swarm();
        for n in 0..100 {
            swarm.connected(peer(n), &dialled(at(n)));
            swarm.tell(peer(n));
            swarm.tell(peer(n));
        }
        let told: Vec<_> = std::iter::from_fn(|| found.try_recv().ok()).collect();
        assert_eq!(told.len(), FOUND_MAX);
        assert_eq!(told[7], (key_of(&peer(7)).unwrap(), at(7)), "each once");
    }

    #[tokio::test]
    async fn a_member_that_the_owner_dialled_is_not_found() {
        let (mut swarm, mut found) = swarm();
        swarm.dialling.insert(peer(1), key_of(&peer(1)).unwrap());
        swarm.connected(peer(1), &dialled(at(1)));
        swarm.tell(peer(1));
        assert!(found.try_recv().is_err());
    }

    /// Says by `identify` that a member which is heard at one address listens at these.
    fn said(n: u8, network: &str, listens: &[&str]) -> identify::Info {
        let setup = DiscoverySetup { network: network.to_owned(), ..DiscoverySetup::default() };
        identify::Info {
            public_key: keypair(n).public(),
            protocol_version: setup.spoken(),
            agent_version: "liar/1.2.3".to_owned(),
            listen_addrs: listens.iter().map(|text| text.parse().unwrap()).collect(),
            protocols: vec![setup.kademlia()],
            observed_addr: at(1),
            signed_peer_record: None,
        }
    }

    fn heard(swarm: &mut OverlaySwarm, n: u8, info: &identify::Info) -> Vec<Multiaddr> {
        let (local_addr, send_back_addr) = (at(99), format!("/ip4/198.51.100.{n}/tcp/50001"));
        let send_back_addr = send_back_addr.parse().unwrap();
        swarm.connected(peer(n), &ConnectedPoint::Listener { local_addr, send_back_addr });
        swarm.identified(peer(n), ConnectionId::new_unchecked(n.into()), info);
        swarm.swarm.behaviour_mut().table.kept(peer(n))
    }

    #[tokio::test]
    async fn others_are_told_of_a_member_where_it_is_heard_whatever_it_says() {
        let (mut swarm, _found) = swarm();
        let third = ["/ip4/203.0.113.9/tcp/8083", "/ip4/127.0.0.1/tcp/22"];
        let kept = heard(&mut swarm, 1, &said(1, "a", &third));
        assert_eq!(kept, [at(1).with_p2p(peer(1)).unwrap()]);
        // Once it has said so, it is asked no more.
        let again = heard(&mut swarm, 1, &said(1, "a", &["/tcp/9"]));
        assert_eq!(again, kept);
        assert_eq!(heard(&mut swarm, 2, &said(2, "a", &["/tcp/0"])), [], "no port");
        assert_eq!(heard(&mut swarm, 3, &said(3, "b", &["/tcp/9"])), [], "another network");
    }
}
