//! Configuration files that commands write.

use std::{io, net::SocketAddr, path::Path};

use libp2p::Multiaddr;
use serde::Serialize;

use super::Peer;
use crate::durable;

/// What a command says of a server whose directory it keeps. [`read`](super::read) takes it back.
#[derive(Debug, Serialize)]
pub struct Written {
    /// Where it keeps everything; like [`Self::genesis`], from the file's directory.
    pub data_dir: &'static Path,
    /// The genesis of the sim.
    pub genesis: &'static Path,
    /// TCP address of the HTTP server.
    pub http_listen: SocketAddr,
    /// UDP address for clients.
    pub client_listen: SocketAddr,
    /// Clients at once from one address, if not the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients_per_ip_max: Option<u32>,
    /// TCP address for other servers.
    pub p2p_listen: Multiaddr,
    /// Other servers.
    pub peers: Vec<Peer>,
}

impl Written {
    /// Writes the file, with a first line that says which command did.
    ///
    /// # Errors
    /// What the system said.
    pub fn write(&self, path: &Path, command: &str) -> io::Result<()> {
        let text = toml::to_string(self).expect("tables of strings and numbers");
        let text = format!("# Written by `metatopia {command}` at every start.\n{text}");
        durable::replace(path, text.as_bytes())
    }
}
