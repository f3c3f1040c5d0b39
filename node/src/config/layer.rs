//! One place that values come from.

use std::{fmt, net::SocketAddr, path::PathBuf, str::FromStr};

use libp2p::Multiaddr;
use metatopia_transport::{
    http::{Origins, WebOrigin},
    networks::Networks,
};
use serde::{Deserialize, Serialize};

use super::{HostPort, LogFormat, LogLevel, PeerConfig};

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
    /// Networks whose clients are free of rations by source.
    pub trusted_sources: Option<Networks>,
}

/// Declares the keys once: for the file, the environment and the command line.
macro_rules! keys {
    ($(
        $(#[doc = $doc:literal])+ $(#[arg($($arg:tt)*)])? $(#[serde($($serde:tt)*)])?
        $key:ident: $type:ty, $hint:literal;
    )*) => {
        /// What one place says: a configuration file, the environment, or the command line. Keys
        /// that it does not name are left to weaker layers.
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
            /// Other servers, besides those that the genesis names; in the file only, as a list of
            /// tables `[[peers]]` with `key`, `peer_id` and `address`.
            #[arg(skip)]
            pub peers: Option<Vec<PeerConfig>>,
            /// The table `[limits]` of a file, as it is written there.
            #[arg(skip)]
            pub limits: Option<Limits>,
        }

        impl Layer {
            /// The keys that each place may name, without `peers`, which only the file has.
            pub const KEYS: &'static [&'static str] = &[$(stringify!($key)),*];

            /// Sets a key from text; `None` when it is not known.
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
    /// Where the log, snapshots and blobs are.
    data_dir: PathBuf, "DIR";
    /// The genesis of the sim.
    genesis: PathBuf, "FILE";
    /// The key this server votes with [default: vote.key in the data directory].
    vote_key: PathBuf, "FILE";
    /// The key of its peer id [default: node.key in the data directory].
    node_key: PathBuf, "FILE";
    /// TCP address of the HTTP server [default: 127.0.0.1:8080].
    http_listen: SocketAddr, "ADDRESS";
    /// Web origins, besides its own, whose pages may talk to this server, with commas between.
    http_origins: Origins, "ORIGINS";
    /// The origin that other servers and clients are told for HTTP [default: from http_listen].
    announce_http: WebOrigin, "ORIGIN";
    /// UDP address for clients [default: 127.0.0.1:8081].
    client_listen: SocketAddr, "ADDRESS";
    /// Host and port that they are told for QUIC [default: from client_listen].
    announce_quic: HostPort, "HOST:PORT";
    /// Clients at once [default: 512].
    clients_max: u32, "COUNT";
    /// Clients at once from one address that is not trusted [default: 512].
    clients_per_ip_max: u32, "COUNT";
    /// A certificate that an authority gave, with those between, in PEM: pages come by https then.
    tls_cert: PathBuf, "FILE";
    /// Its key, in PEM.
    tls_key: PathBuf, "FILE";
    /// TCP address for other servers [default: /ip4/127.0.0.1/tcp/8082].
    p2p_listen: Multiaddr, "MULTIADDRESS";
    /// Keep all turns since genesis, for others to fetch; else an hour of them is kept.
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    archive: bool, "BOOL";
    /// Turns between states that are stored [default: 600].
    snapshot_turns: u64, "COUNT";
    /// Turns behind the others from which on a state is fetched from them [default: 1500].
    behind_turns: u64, "COUNT";
    /// How much is logged: off, error, warn, info, debug or trace [default: info]. RUST_LOG, if it
    /// is set, says it instead, for each part of the program.
    log: LogLevel, "LEVEL";
    /// In which form is logged: text or json [default: text].
    log_format: LogFormat, "FORMAT";
    /// Where users get the source of this very program, if it is not the public one.
    source_url: String, "URL";
    /// Networks whose clients are free of rations, such as 127.0.0.0/8, with commas between; in the
    /// file a list in the table [limits] [default: none].
    #[serde(skip)]
    trusted_sources: Networks, "NETWORKS";
}
