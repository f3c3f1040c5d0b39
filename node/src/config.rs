//! The configuration of one server: where it keeps its files, listens and connects. The rules of
//! its sim are not configuration; they are in the genesis. A process that hosts several sims has
//! one configuration for each ([`settle_together`]).
//!
//! A value is taken from the first place that has it: a command line flag (`--http-listen`), the
//! environment (`METATOPIA_HTTP_LISTEN`), the configuration file (`http_listen`), a default.
//! Unknown keys are errors, in the file with their line. Paths in the file are relative to the
//! file's directory.
//!
//! ```
//! use metatopia::config::{self, Layer};
//!
//! let file = r#"
//! data_dir = "/var/lib/metatopia"
//! genesis = "plaza.genesis"
//! http_listen = "127.0.0.1:8080"
//! log = "warn"
//! "#;
//! let file = config::parse(file, "/etc/metatopia/metatopia.toml".as_ref()).unwrap();
//! let environment = [("METATOPIA_LOG".to_owned(), "info".to_owned())];
//! let environment = config::environment(environment).unwrap();
//! let flags = Layer { http_listen: Some("127.0.0.1:9090".parse().unwrap()), ..Layer::default() };
//!
//! let settings = config::settle([flags, environment, file]).unwrap();
//! assert_eq!(settings.http_listen.port(), 9090);
//! assert_eq!(settings.log, config::LogLevel::Info);
//! assert_eq!(settings.genesis, std::path::Path::new("/etc/metatopia/plaza.genesis"));
//! assert_eq!(settings.vote_key, std::path::Path::new("/var/lib/metatopia/vote.key"));
//! ```

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    ops::RangeInclusive,
    path::{Path, PathBuf},
    str::FromStr,
};

use libp2p::Multiaddr;
use metatopia_protocol::ADDRESS_BYTES_MAX;
use metatopia_replica::{BEHIND_TURNS, SNAPSHOT_TURNS, keeper::HISTORY_TURNS};
use metatopia_scenarios::{Mistake, text_of_file};
use metatopia_transport::{
    gateway::GatewayLimits,
    http::{Origins, WebOrigin},
    networks::Networks,
    overlay::is_loopback,
};
use serde::Deserialize;

use crate::courier::address_book::NeighbourNodes;

mod host_port;
mod layer;
mod peer;
mod together;
mod written;

pub use host_port::{HostPort, ParseHostPortError};
pub use layer::{Layer, Limits};
pub use peer::{ContactError, PeerConfig};
pub use together::{TogetherError, settle_together};
pub use written::WrittenConfig;

/// The prefix of every environment variable of this program.
pub const ENVIRONMENT_PREFIX: &str = "METATOPIA_";

/// The largest configuration file, in bytes. 31 peers take 10 KiB.
pub const FILE_BYTES_MAX: u64 = 256 * 1024;

/// The numbers of turns, between stored states or behind the others, that make sense: from half a
/// second to an hour, which is how long others keep decided turns.
pub const TURNS: RangeInclusive<u64> = 10..=HISTORY_TURNS;

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Nothing is logged.
    Off,
    /// Errors are logged: what stops the server or harms its sim.
    Error,
    /// Warnings too: what an operator should look into.
    Warn,
    /// Information too: what happens to sessions and turns.
    Info,
    /// Debug messages as well.
    Debug,
    /// Each frame too.
    Trace,
}

impl LogLevel {
    /// Returns the level's name, as the subscriber of `tracing` takes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// The error of a text that is no log level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not one of off, error, warn, info, debug, trace")]
pub struct ParseLogLevelError;

impl FromStr for LogLevel {
    type Err = ParseLogLevelError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        use LogLevel::{Debug, Error, Info, Off, Trace, Warn};
        let all = [Off, Error, Warn, Info, Debug, Trace];
        all.into_iter().find(|level| level.name() == text).ok_or(ParseLogLevelError)
    }
}

/// The form in which the program logs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// The error of a text that is no log format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("neither text nor json")]
pub struct ParseLogFormatError;

impl FromStr for LogFormat {
    type Err = ParseLogFormatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(ParseLogFormatError),
        }
    }
}

/// Says why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("configuration file {}: {source}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is no text.
    #[error("configuration file {0}")]
    Text(Mistake),
    /// The file cannot be written.
    #[error("cannot write configuration file {}: {source}", path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is above [`FILE_BYTES_MAX`].
    #[error("configuration file {} is longer than {FILE_BYTES_MAX} bytes", path.display())]
    TooLong {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file has a wrong value, an unknown key, or is no TOML; the source names the line.
    #[error("configuration file {}: {source}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The mistake and its place.
        source: Box<toml::de::Error>,
    },
    /// An environment variable has a wrong value.
    #[error("environment variable {name}: `{value}` is wrong: {why}")]
    Environment {
        /// The name of the variable.
        name: String,
        /// The value of the variable.
        value: String,
        /// The reason why the value is wrong.
        why: String,
    },
    /// An environment variable has our prefix and no meaning.
    #[error("environment variable {name} is not known; known are {}", known_variables())]
    UnknownEnvironment {
        /// The name of the variable.
        name: String,
    },
    /// A value without a default is not given anywhere.
    #[error(
        "`{key}` is not set: give --{}, {ENVIRONMENT_PREFIX}{}, or {key} in the file",
        key.replace('_', "-"), key.to_uppercase()
    )]
    Missing {
        /// The key in the file.
        key: &'static str,
    },
    /// A value is well formed and makes no sense.
    #[error("`{key}`: {why}")]
    Value {
        /// The key in the file.
        key: String,
        /// The reason why the value makes no sense.
        why: String,
    },
    /// One of several files is wrong.
    #[error("for the sim of {}: {source}", path.display())]
    OfOne {
        /// The path of the file.
        path: PathBuf,
        /// The fault in the file.
        source: Box<Self>,
    },
    /// One process cannot use these two files.
    #[error(transparent)]
    Together(#[from] TogetherError),
}

fn known_variables() -> String {
    let name = |key: &&str| format!("{ENVIRONMENT_PREFIX}{}", key.to_uppercase());
    Layer::KEYS.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// The complete configuration of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The directory of the log, snapshots and blobs.
    pub data_dir: PathBuf,
    /// The genesis file of the sim.
    pub genesis: PathBuf,
    /// The key that this server votes with. Default: `vote.key` in the data directory.
    pub vote_key: PathBuf,
    /// The key of the server's peer id. Default: `node.key` in the data directory.
    pub node_key: PathBuf,
    /// TCP address of the HTTP server. Default: 127.0.0.1:8080.
    pub http_listen: SocketAddr,
    /// Web origins, besides the server's own, whose pages may connect to it. Default: none.
    pub http_origins: Origins,
    /// The origin that is announced for HTTP. Default: from the address that is listened on.
    pub announce_http: Option<WebOrigin>,
    /// UDP address for clients. Default: 127.0.0.1:8081.
    pub client_listen: SocketAddr,
    /// The host and port that are announced for QUIC. Default: as for HTTP.
    pub announce_quic: Option<HostPort>,
    /// The most clients at once. Default: 512.
    pub clients_max: u32,
    /// The most clients at once from one address that is not trusted. Default: 512.
    pub clients_per_ip_max: u32,
    /// Networks whose clients are not rationed by source. Default: none.
    pub trusted_sources: Networks,
    /// The files of a certificate that an authority gave, and of its key. Default: pages come by
    /// http.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// TCP address for other servers. Default: /ip4/127.0.0.1/tcp/8082.
    pub p2p_listen: Multiaddr,
    /// TCP address for the overlay of the sim's world. Default: the server takes no part in it.
    pub overlay_listen: Option<Multiaddr>,
    /// Says whether members of the world are sought in the local network. Default: no.
    pub overlay_lan: bool,
    /// Nodes of neighbours, besides those that the data directory and the overlay name. Default: none.
    pub neighbours: NeighbourNodes,
    /// Other servers, besides those that the genesis names.
    pub peers: Vec<PeerConfig>,
    /// Says whether all turns since genesis are kept. Default: no.
    pub archive: bool,
    /// The turns from one stored state to the next. Default: 600.
    pub snapshot_turns: u64,
    /// The turns behind the others from which on a state is fetched from them. Default: 1500.
    pub behind_turns: u64,
    /// How much is logged. Default: info.
    pub log: LogLevel,
    /// The form in which the program logs. Default: text.
    pub log_format: LogFormat,
    /// The URL of the source of this very program, if it is not the public one.
    pub source_url: Option<String>,
}

/// Reads a configuration file.
///
/// # Errors
/// Fails when the file cannot be read, is no TOML, or has an unknown key or a wrong value.
pub fn read(path: &Path) -> Result<Layer, ConfigError> {
    parse(&read_text(path)?, path)
}

fn read_text(path: &Path) -> Result<String, ConfigError> {
    let failed = |source| ConfigError::Read { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut file = io::Read::take(file, FILE_BYTES_MAX + 1);
    io::Read::read_to_end(&mut file, &mut bytes).map_err(failed)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(ConfigError::TooLong { path: path.to_owned() });
    }
    text_of_file(&path.display().to_string(), bytes).map_err(ConfigError::Text)
}

/// Reads the text of the configuration file `path`.
///
/// # Errors
/// Fails when the text is no TOML, or has an unknown key or a wrong value.
pub fn parse(text: &str, path: &Path) -> Result<Layer, ConfigError> {
    let mut layer: Layer = toml::from_str(text).map_err(|source| {
        let (path, source) = (path.to_owned(), Box::new(source));
        ConfigError::File { path, source }
    })?;
    layer.trusted_sources = layer.limits.take().and_then(|limits| limits.trusted_sources);
    let directory = path.parent().unwrap_or(Path::new(""));
    for path in [
        &mut layer.data_dir,
        &mut layer.genesis,
        &mut layer.vote_key,
        &mut layer.node_key,
        &mut layer.tls_cert,
        &mut layer.tls_key,
    ] {
        // Joining leaves an absolute path as it is.
        *path = path.take().map(|path| directory.join(path));
    }
    Ok(layer)
}

/// Returns the variables of this process whose names begin with [`ENVIRONMENT_PREFIX`].
#[must_use]
pub fn variables() -> Vec<(String, String)> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        // A name or value that is not UTF-8 gets replacement characters, which its error then
        // shows.
        (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
    };
    std::env::vars_os().map(text).filter(|(name, _)| name.starts_with(ENVIRONMENT_PREFIX)).collect()
}

/// Reads environment variables, and skips those without [`ENVIRONMENT_PREFIX`].
///
/// # Errors
/// Fails when a variable is unknown, or its value is wrong.
pub fn environment(
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<Layer, ConfigError> {
    let mut layer = Layer::default();
    for (name, value) in variables {
        let Some(key) = name.strip_prefix(ENVIRONMENT_PREFIX) else {
            continue;
        };
        if key != key.to_uppercase() {
            return Err(ConfigError::UnknownEnvironment { name });
        }
        match layer.set(&key.to_lowercase(), &value) {
            Some(Ok(())) => {}
            Some(Err(why)) => return Err(ConfigError::Environment { name, value, why }),
            None => return Err(ConfigError::UnknownEnvironment { name }),
        }
    }
    Ok(layer)
}

/// Checks that the overlay can be spoken there, and that members who are sought in the local network reach it.
fn check_overlay(listen: Option<&Multiaddr>, lan: bool) -> Result<(), ConfigError> {
    if let Some(Err(error)) = listen.map(peer::check_address) {
        let why = error.to_string();
        return Err(ConfigError::Value { key: "overlay_listen".into(), why });
    }
    let why = match listen {
        _ if !lan => return Ok(()),
        None => "it takes `overlay_listen`".to_owned(),
        Some(listen) if is_loopback(listen) => {
            format!("nobody in the local network reaches {listen}, which `overlay_listen` says")
        }
        Some(_) => return Ok(()),
    };
    Err(ConfigError::Value { key: "overlay_lan".into(), why })
}

/// Puts layers over each other, the strongest first, and fills in the defaults.
///
/// # Errors
/// Fails when a value is missing, or values do not fit together.
pub fn settle(layers: impl IntoIterator<Item = Layer>) -> Result<Settings, ConfigError> {
    let layer = layers.into_iter().fold(Layer::default(), Layer::over);
    let data_dir = layer.data_dir.ok_or(ConfigError::Missing { key: "data_dir" })?;
    let limits = GatewayLimits::default();
    let loopback = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let p2p_listen = layer.p2p_listen.unwrap_or_else(|| {
        "/ip4/127.0.0.1/tcp/8082".parse().expect("a constant that a test reads")
    });
    peer::check_address(&p2p_listen)
        .map_err(|error| ConfigError::Value { key: "p2p_listen".into(), why: error.to_string() })?;
    let overlay_lan = layer.overlay_lan.unwrap_or(false);
    check_overlay(layer.overlay_listen.as_ref(), overlay_lan)?;
    let peers = layer.peers.unwrap_or_default();
    peer::check_all(&peers)?;
    let settings = Settings {
        genesis: layer.genesis.ok_or(ConfigError::Missing { key: "genesis" })?,
        vote_key: layer.vote_key.unwrap_or_else(|| data_dir.join("vote.key")),
        node_key: layer.node_key.unwrap_or_else(|| data_dir.join("node.key")),
        http_listen: layer.http_listen.unwrap_or_else(|| loopback(8080)),
        http_origins: layer.http_origins.unwrap_or_default(),
        announce_http: layer.announce_http,
        client_listen: layer.client_listen.unwrap_or_else(|| loopback(8081)),
        announce_quic: layer.announce_quic,
        clients_max: layer.clients_max.unwrap_or(limits.clients_max),
        clients_per_ip_max: layer.clients_per_ip_max.unwrap_or(limits.clients_per_ip_max),
        trusted_sources: layer.trusted_sources.unwrap_or_default(),
        tls: both_or_none(layer.tls_cert, layer.tls_key)?,
        p2p_listen,
        overlay_listen: layer.overlay_listen,
        overlay_lan,
        neighbours: layer.neighbours.unwrap_or_default(),
        peers,
        archive: layer.archive.unwrap_or(false),
        snapshot_turns: layer.snapshot_turns.unwrap_or(SNAPSHOT_TURNS),
        behind_turns: layer.behind_turns.unwrap_or(BEHIND_TURNS),
        log: layer.log.unwrap_or(LogLevel::Info),
        log_format: layer.log_format.unwrap_or_default(),
        source_url: layer.source_url,
        data_dir,
    };
    if let Some(origin) = &settings.announce_http
        && origin.as_str().len() > ADDRESS_BYTES_MAX
    {
        let why = format!("longer than {ADDRESS_BYTES_MAX} bytes");
        return Err(ConfigError::Value { key: "announce_http".into(), why });
    }
    for (key, turns) in
        [("snapshot_turns", settings.snapshot_turns), ("behind_turns", settings.behind_turns)]
    {
        if !TURNS.contains(&turns) {
            let why = format!("{turns} is not between {} and {}", TURNS.start(), TURNS.end());
            return Err(ConfigError::Value { key: key.to_owned(), why });
        }
    }
    if settings.vote_key == settings.node_key {
        let why = "it is also the vote_key; a server needs two keys".to_owned();
        return Err(ConfigError::Value { key: "node_key".into(), why });
    }
    Ok(settings)
}

fn both_or_none(
    chain: Option<PathBuf>,
    key: Option<PathBuf>,
) -> Result<Option<(PathBuf, PathBuf)>, ConfigError> {
    match (chain, key) {
        (Some(chain), Some(key)) => Ok(Some((chain, key))),
        (None, None) => Ok(None),
        (None, Some(_)) => Err(ConfigError::Missing { key: "tls_cert" }),
        (Some(_), None) => Err(ConfigError::Missing { key: "tls_key" }),
    }
}

#[cfg(test)]
mod tests;
