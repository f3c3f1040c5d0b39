//! How a member finds others of its network without knowing their addresses.
//!
//! * **Kademlia** ([`table`]): each member keeps a table of others, and answers who asks for those near
//!   a key. The protocol's name names the network, so tables of two networks never mix. No record and no
//!   provider is ever kept.
//! * **mDNS** ([`lan`]): members in one local network call each other there, if their operators want it.
//! * **identify**: a member says which network it is of and at which port it listens, and nothing else
//!   of its machine. The address is where it is heard.
//!
//! What is told so is believed by nobody. A member that is told of is dialled, if its address is one that
//! strangers may make this member dial ([`scope`]), and not often. The owner hears of it once its key is
//! proved and it speaks this network's Kademlia.

pub(super) mod lan;
pub(super) mod scope;
pub(super) mod table;

use libp2p::{Multiaddr, StreamProtocol, identify, identity::PublicKey, multiaddr::Protocol};

/// What a member says it is. No version: that helps attackers alone.
const AGENT: &str = "metatopia";

/// How a member finds others.
#[derive(Debug, Clone, Default)]
pub struct DiscoverySetup {
    /// The name of the network. Members of another one are hung up on.
    pub network: String,
    /// Whether members in the local network are called and answered.
    pub lan: bool,
    /// Whether this member is here for a moment only: it asks, and is told to nobody.
    pub is_guest: bool,
}

impl DiscoverySetup {
    /// Returns what members of this network say that they are of.
    pub(super) fn spoken(&self) -> String {
        format!("/metatopia/{}/overlay/1", self.network)
    }

    /// Returns the name of this network's Kademlia.
    ///
    /// # Panics
    /// Never: it begins with a slash.
    pub(super) fn kademlia(&self) -> StreamProtocol {
        let name = format!("/metatopia/{}/kad/1", self.network);
        StreamProtocol::try_from_owned(name).expect("it begins with a slash")
    }

    /// Returns the behaviour that says what this member is. It remembers nothing of others.
    pub(super) fn identify(&self, key: PublicKey) -> identify::Behaviour {
        let config = identify::Config::new(self.spoken(), key)
            .with_agent_version(AGENT.to_owned())
            .with_hide_listen_addrs(true)
            .with_cache_size(0);
        identify::Behaviour::new(config)
    }
}

/// Returns the port of an address, alone: what a member says of where it listens.
pub(super) fn port_alone(address: &Multiaddr) -> Option<Multiaddr> {
    port_of(address).map(|port| Multiaddr::empty().with(Protocol::Tcp(port)))
}

/// Returns the TCP port of an address, if it names one that can be dialled.
pub(super) fn port_of(address: &Multiaddr) -> Option<u16> {
    let port = address.iter().find_map(|part| match part {
        Protocol::Tcp(port) => Some(port),
        _ => None,
    });
    port.filter(|port| *port != 0)
}
