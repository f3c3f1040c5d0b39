//! A layer of the configuration: one place that values come from.

use std::{fmt, net::SocketAddr, path::PathBuf, str::FromStr};

use libp2p::Multiaddr;
use metatopia_transport::{
    http::{Origins, WebOrigin},
    networks::Networks,
};
use serde::{Deserialize, Serialize};

use super::{HostPort, LogFormat, LogLevel, PeerConfig};
use crate::courier::address_book::NeighbourNodes;

fn set<T: FromStr>(field: &mut Option<T>, text: &str) -> Result<(), String>
where
    T::Err: fmt::Display,
{
    match text.parse() {
        Ok(value) => {
            *field = Some(value);
            Ok(())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// The table `[limits]` of a configuration file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Networks whose clients are not rationed by source.
    pub trusted_sources: Option<Networks>,
}

impl Layer {
    /// Returns the values of this layer that are about a process rather than about one sim. Other
    /// sims of the process use them where their own files set nothing.
    pub(super) fn of_process(&self) -> Self {
        Self {
            http_listen: self.http_listen,
            announce_http: self.announce_http.clone(),
            tls_cert: self.tls_cert.clone(),
            tls_key: self.tls_key.clone(),
            log: self.log,
            log_format: self.log_format,
            source_url: self.source_url.clone(),
            ..Self::default()
        }
    }
}

/// Declares the keys once: for the file, the environment and the command line.
macro_rules! keys {
    ($(
        $(#[doc = $doc:literal])+ $(#[arg($($arg:tt)*)])? $(#[serde($($serde:tt)*)])?
        $key:ident: $type:ty, $hint:literal;
    )*) => {
        /// The values of one place: a configuration file, the environment, or the command line.
        /// Keys that it does not name are left to weaker layers.
        #[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, clap::Args)]
        #[serde(deny_unknown_fields)]
        pub struct Layer {
            $(
                $(#[doc = $doc])+
                #[arg(long, value_name = $hint)]
                $(#[arg($($arg)*)])?
                $(#[serde($($serde)*)])?
                pub $key: Option<$type>,
            )*
            /// Other servers, besides those that the genesis names. Only the file has them, as a
            /// list of tables `[[peers]]` with `key`, `peer_id` and `address`.
            #[arg(skip)]
            pub peers: Option<Vec<PeerConfig>>,
            /// The table `[limits]` of a file, as it is written there.
            #[arg(skip)]
            pub limits: Option<Limits>,
        }

        impl Layer {
            /// The keys that each place may name, without `peers`, which only the file has.
            pub const KEYS: &'static [&'static str] = &[$(stringify!($key)),*];

            /// Sets a key from text. Returns `None` when the key is not known.
            pub(super) fn set(&mut self, key: &str, text: &str) -> Option<Result<(), String>> {
                match key {
                    $(stringify!($key) => Some(set(&mut self.$key, text)),)*
                    _ => None,
                }
            }

            /// Returns this layer, completed from `weaker` where it names nothing.
            #[must_use]
            pub(super) fn over(self, weaker: Self) -> Self {
                Self {
                    $($key: self.$key.or(weaker.$key),)*
                    peers: self.peers.or(weaker.peers),
                    limits: self.limits.or(weaker.limits),
                }
            }
        }
    };
}

keys! {
    /// The directory of the log, snapshots and blobs.
    data_dir: PathBuf, "DIR";
    /// The genesis file of the sim.
    genesis: PathBuf, "FILE";
    /// The key that this server votes with [default: vote.key in the data directory].
    vote_key: PathBuf, "FILE";
    /// The key of the server's peer id [default: node.key in the data directory].
    node_key: PathBuf, "FILE";
    /// TCP address of the HTTP server [default: 127.0.0.1:8080].
    http_listen: SocketAddr, "ADDRESS";
    /// Web origins, besides the server's own, whose pages may connect to it, with commas between.
    http_origins: Origins, "ORIGINS";
    /// The origin that other servers and clients are told for HTTP [default: from http_listen].
    announce_http: WebOrigin, "ORIGIN";
    /// UDP address for clients [default: 127.0.0.1:8081].
    client_listen: SocketAddr, "ADDRESS";
    /// The host and port that they are told for QUIC [default: from client_listen].
    announce_quic: HostPort, "HOST:PORT";
    /// The most clients at once [default: 512].
    clients_max: u32, "COUNT";
    /// The most clients at once from one address that is not trusted [default: 512].
    clients_per_ip_max: u32, "COUNT";
    /// A PEM file with a certificate that an authority gave, and those between. Pages then come by
    /// https.
    tls_cert: PathBuf, "FILE";
    /// A PEM file with the key of the certificate.
    tls_key: PathBuf, "FILE";
    /// TCP address for other servers [default: /ip4/127.0.0.1/tcp/8082].
    p2p_listen: Multiaddr, "MULTIADDRESS";
    /// TCP address for the overlay of the world that the sim lies in [default: none: the server takes
    /// no part in it].
    overlay_listen: Multiaddr, "MULTIADDRESS";
    /// Find members of the world in the local network by mDNS, and be found there [default: false].
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    overlay_lan: bool, "BOOL";
    /// Nodes of sims with which this one has a border, with commas between [default: the file
    /// `neighbours` in the data directory, and what the overlay knows].
    neighbours: NeighbourNodes, "SIM=URL,..";
    /// Keep all turns since genesis, for others to fetch; otherwise an hour of them is kept.
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    archive: bool, "BOOL";
    /// The turns from one stored state to the next [default: 600].
    snapshot_turns: u64, "COUNT";
    /// The turns behind the others from which on a state is fetched from them [default: 1500].
    behind_turns: u64, "COUNT";
    /// How much is logged: off, error, warn, info, debug or trace [default: info]. If RUST_LOG is
    /// set, it decides this instead, for each part of the program.
    log: LogLevel, "LEVEL";
    /// The form in which the program logs: text or json [default: text].
    log_format: LogFormat, "FORMAT";
    /// The URL of the source of this very program, if it is not the public one.
    source_url: String, "URL";
    /// Networks whose clients are not rationed, such as 127.0.0.0/8, with commas between; in the
    /// file a list in the table [limits] [default: none].
    #[serde(skip)]
    trusted_sources: Networks, "NETWORKS";
}
