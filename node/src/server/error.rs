//! The errors that keep a server from running.

use std::{io, path::PathBuf};

use metatopia_replica::keeper::{NoStart, StorageError};
use metatopia_sim::GenesisError;
use metatopia_store::{OpenStoreError, ReadError};
use metatopia_transport::{bind::BindError, certificates::TlsCertificateError, gateway, peers};
use metatopia_types::{SimId, wire};

use crate::{
    authority_files::AuthorityFileError,
    disk::OpenDiskError,
    driver::DriverError,
    engine::{OtherEngine, OtherFile},
    first_state::FirstStateError,
    keys::LoadKeyError,
    overlay::place::WorldPlaceError,
};

/// Says why a server does not run, or stopped running.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The genesis cannot be read.
    #[error("genesis {}: {source}", path.display())]
    ReadGenesis {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file holds no usable genesis.
    #[error("genesis {}: {source}", path.display())]
    Genesis {
        /// The path of the file.
        path: PathBuf,
        /// The fault in the genesis.
        source: Box<GenesisError>,
    },
    /// Two configurations are of one sim, and a process runs only one server of a sim.
    #[error(
        "{} and {} are of the same sim {sim}; a process runs one server of a sim",
        first.display(), second.display()
    )]
    SameSim {
        /// The sim of both configurations.
        sim: SimId,
        /// The genesis of the one configuration.
        first: PathBuf,
        /// The genesis of the other configuration.
        second: PathBuf,
    },
    /// The server cannot take its place in the world of its sim.
    #[error("the world: {0}")]
    World(Box<WorldPlaceError>),
    /// The sim is of another engine.
    #[error(transparent)]
    OtherEngine(#[from] OtherEngine),
    /// A file of the data directory is for another program.
    #[error(transparent)]
    OtherFile(#[from] OtherFile),
    /// The sim's first state cannot be made.
    #[error("genesis {}: {source}", path.display())]
    FirstState {
        /// The path of the genesis.
        path: PathBuf,
        /// The error behind it.
        source: Box<FirstStateError>,
    },
    /// A key cannot be used.
    #[error(transparent)]
    Key(#[from] LoadKeyError),
    /// The data directory cannot be opened.
    #[error(transparent)]
    Disk(#[from] OpenDiskError),
    /// The data directory belongs to another server, or is damaged.
    #[error("data directory {}: {source}", path.display())]
    Store {
        /// The path of the directory.
        path: PathBuf,
        /// The fault in the directory.
        source: Box<OpenStoreError>,
    },
    /// The log cannot be read.
    #[error("log in {}: {source}", path.display())]
    Log {
        /// The path of the directory.
        path: PathBuf,
        /// The place and the fault.
        source: Box<ReadError>,
    },
    /// A record of the log is not of this version.
    #[error("log in {}: a record is not of this version: {source}", path.display())]
    Record {
        /// The path of the directory.
        path: PathBuf,
        /// The fault in the record.
        source: wire::DecodeError,
    },
    /// There is no state to continue from, and no other server is known that could give one.
    #[error(
        "data directory {}: {source}; name servers of the sim by `peers` in the configuration, to \
         fetch a state from them", path.display()
    )]
    NoStart {
        /// The path of the directory.
        path: PathBuf,
        /// The error behind it.
        source: NoStart,
    },
    /// The log cannot be started.
    #[error("log in {}: {source}", path.display())]
    Begin {
        /// The path of the directory.
        path: PathBuf,
        /// The error behind it.
        source: Box<StorageError>,
    },
    /// The mark that a key was used cannot be set.
    #[error("cannot write {}: {source}", path.display())]
    Mark {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A thread could not be started.
    #[error("cannot start a thread: {0}")]
    Thread(String),
    /// The server cannot listen on an address.
    #[error("for {whom}: cannot listen on {} (set by {flag}): {}", source.address, source.source)]
    Bind {
        /// The peers or clients that the address is for.
        whom: &'static str,
        /// The command line flag that sets it.
        flag: &'static str,
        /// The address, and what the system said.
        source: BindError,
    },
    /// The server cannot listen for other servers.
    #[error("for other servers: {0}")]
    Peers(peers::StartPeersError),
    /// There is no certificate for clients.
    #[error(transparent)]
    Certificate(#[from] TlsCertificateError),
    /// The server cannot listen for clients.
    #[error("for clients: {0}")]
    Gateway(gateway::StartGatewayError),
    /// The certificate of an authority cannot be shown.
    #[error(transparent)]
    Authority(#[from] AuthorityFileError),
    /// The certificate cannot be used with TLS 1.3.
    #[error("https: {0}")]
    Tls(#[from] rustls::Error),
    /// Signals cannot be waited for.
    #[error("cannot wait for signals: {0}")]
    Signal(io::Error),
    /// The server stopped by itself.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The loop of the server found that one of its own rules was broken, and named the rule.
    #[error("the server stopped at a fault of its own, which the log names")]
    Panicked,
}

impl From<peers::StartPeersError> for ServerError {
    fn from(error: peers::StartPeersError) -> Self {
        match error {
            peers::StartPeersError::Bind(source) => {
                Self::Bind { whom: "other servers", flag: "--p2p-listen", source }
            }
            error => Self::Peers(error),
        }
    }
}

impl From<gateway::StartGatewayError> for ServerError {
    fn from(error: gateway::StartGatewayError) -> Self {
        match error {
            gateway::StartGatewayError::Bind(source) => {
                Self::Bind { whom: "clients", flag: "--client-listen", source }
            }
            error => Self::Gateway(error),
        }
    }
}

impl ServerError {
    pub(crate) fn world(error: impl Into<WorldPlaceError>) -> Self {
        Self::World(Box::new(error.into()))
    }

    /// Returns the error of an address for HTTP.
    pub(crate) fn http(source: BindError) -> Self {
        Self::Bind { whom: "HTTP", flag: "--http-listen", source }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, UdpSocket};

    use super::*;
    use crate::clock::SystemClock;
    use metatopia_transport::{certificates::Certificates, gateway::ListenConfig};

    #[tokio::test]
    async fn a_port_in_use_is_an_error_that_names_address_and_flag() {
        let (tcp, udp) = (TcpListener::bind("127.0.0.1:0"), UdpSocket::bind("127.0.0.1:0"));
        let (tcp, udp) = (tcp.unwrap(), udp.unwrap());
        let (port, clients) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap());
        let own = Certificates::generate(SystemClock::default().now().wall).unwrap();
        let listen_config = ListenConfig::new(clients, own);
        let http = metatopia_transport::http::bind(tcp.local_addr().unwrap()).unwrap_err();
        let keypair = libp2p::identity::Keypair::generate_ed25519();
        let p2p = format!("/ip4/127.0.0.1/tcp/{port}");

        let gateway = gateway::start(listen_config, Default::default(), Default::default());
        let listen = p2p.parse().unwrap();
        let peers = peers::start(keypair, &listen, Default::default(), Default::default()).await;

        let http = ServerError::http(http).to_string();
        let start = format!("for HTTP: cannot listen on 127.0.0.1:{port} (set by --http-listen): ");
        assert!(http.starts_with(&start), "{http}");
        let gateway = ServerError::from(gateway.unwrap_err()).to_string();
        let start = format!("for clients: cannot listen on {clients} (set by --client-listen): ");
        assert!(gateway.starts_with(&start), "{gateway}");
        let peers = ServerError::from(peers.unwrap_err()).to_string();
        let start = format!("for other servers: cannot listen on {p2p} (set by --p2p-listen): ");
        assert!(peers.starts_with(&start), "{peers}");
    }
}
