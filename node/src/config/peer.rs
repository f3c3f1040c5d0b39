//! The other servers that a configuration names.

use std::{collections::BTreeSet, fmt, str::FromStr};

use libp2p::{Multiaddr, PeerId, multiaddr::Protocol};
use metatopia_types::{PublicKey, limits::VALIDATORS_MAX};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::ConfigError;

/// Another server of the sim, and its address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerConfig {
    /// The key that the server votes with.
    #[serde(serialize_with = "as_text", deserialize_with = "text")]
    pub key: PublicKey,
    /// The peer id of the server: the hash of its node key.
    #[serde(serialize_with = "as_text", deserialize_with = "text")]
    pub peer_id: PeerId,
    /// The address that the server listens on for servers.
    pub address: Multiaddr,
}

fn as_text<S: Serializer>(value: &impl fmt::Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn text<'de, D: Deserializer<'de>, T: FromStr>(deserializer: D) -> Result<T, D::Error>
where
    T::Err: fmt::Display,
{
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

/// The error of an address at which servers cannot reach each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not like /ip4/192.0.2.1/tcp/8082 or /ip6/2001:db8::1/tcp/8082")]
pub struct ContactError(pub Multiaddr);

/// Checks that the address is an IP address and a TCP port, and nothing else.
pub(super) fn check_address(address: &Multiaddr) -> Result<(), ContactError> {
    let mut parts = address.iter();
    let ip = matches!(parts.next(), Some(Protocol::Ip4(_) | Protocol::Ip6(_)));
    let tcp = matches!(parts.next(), Some(Protocol::Tcp(_)));
    if ip && tcp && parts.next().is_none() { Ok(()) } else { Err(ContactError(address.clone())) }
}

/// Checks that no key and no peer id is there twice, and that each address can be dialled.
pub(super) fn check_all(peers: &[PeerConfig]) -> Result<(), ConfigError> {
    let wrong = |key: String, why: String| Err(ConfigError::Value { key, why });
    if peers.len() > VALIDATORS_MAX {
        return wrong("peers".into(), format!("{} are more than {VALIDATORS_MAX}", peers.len()));
    }
    let (mut keys, mut ids) = (BTreeSet::new(), BTreeSet::new());
    for (index, peer) in peers.iter().enumerate() {
        let key = |field| format!("peers[{index}].{field}");
        if !keys.insert(peer.key) {
            return wrong(key("key"), format!("{} is there twice", peer.key));
        }
        if !ids.insert(peer.peer_id) {
            return wrong(key("peer_id"), format!("{} is there twice", peer.peer_id));
        }
        if let Err(error) = check_address(&peer.address) {
            return wrong(key("address"), error.to_string());
        }
    }
    Ok(())
}
