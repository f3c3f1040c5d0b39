//! What a node says about itself.

use std::{fmt, net::SocketAddr};

use metatopia_types::{Height, PublicKey, Root, SimId, Tick};
use serde::{Serialize, Serializer};

use crate::tls::CertificateHash;

fn text<T: fmt::Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn texts<T: fmt::Display, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(ToString::to_string))
}

fn maybe_text<T: fmt::Display, S: Serializer>(
    value: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}

/// How a server stands, as its loop publishes it. Keys and digests are hexadecimal in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// The server's own key, with which it votes.
    #[serde(serialize_with = "text")]
    pub server: PublicKey,
    /// The sim it serves.
    #[serde(serialize_with = "text")]
    pub sim: SimId,
    /// The last turn that was decided and applied here; 0 is genesis.
    pub height: Height,
    /// The last tick of that turn.
    pub tick: Tick,
    /// The root of the state after `root_height`.
    #[serde(serialize_with = "text")]
    pub root: Root,
    /// The turn after which the root was computed.
    pub root_height: Height,
    /// Who proposes at the height under way, if this server knows.
    #[serde(serialize_with = "maybe_text")]
    pub proposer: Option<PublicKey>,
    /// The keys of the servers that vote at the height under way.
    #[serde(serialize_with = "texts")]
    pub validators: Vec<PublicKey>,
    /// Other servers with which a session is up.
    pub peers: u32,
    /// Clients that are connected.
    pub clients: u32,
    /// No turn can be decided, or no root has a quorum.
    pub stalled: bool,
    /// Why this server does not take part yet, or any more; `None` when it is ready.
    pub waiting_for: Option<String>,
}

/// What a client needs to connect to this server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Session {
    /// The sim it serves.
    #[serde(serialize_with = "text")]
    pub sim: SimId,
    /// The server's own key, with which it votes.
    #[serde(serialize_with = "text")]
    pub server: PublicKey,
    /// The UDP address for QUIC.
    pub quic: SocketAddr,
    /// SHA-256 of the certificate that the server shows there.
    pub certificate: CertificateHash,
    /// The version of the protocol that is spoken there.
    pub wire_version: u16,
}
