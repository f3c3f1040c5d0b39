//! Configuration files that commands write.

use std::{io, net::SocketAddr, path::Path};

use libp2p::Multiaddr;
use serde::Serialize;
use toml::Table;

use super::{ConfigError, Limits, PeerConfig};
use crate::atomic_file;

/// The values that a command writes for a server whose directory it keeps. [`read`](super::read)
/// reads them back.
#[derive(Debug, Serialize)]
pub struct WrittenConfig {
    /// The directory of all the server's files; like [`Self::genesis`], relative to the file's
    /// directory.
    pub data_dir: &'static Path,
    /// The genesis file of the sim.
    pub genesis: &'static Path,
    /// TCP address of the HTTP server.
    pub http_listen: SocketAddr,
    /// UDP address for clients.
    pub client_listen: SocketAddr,
    /// The most clients at once from one address, if not the default, and if the file does not set
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients_per_ip_max: Option<u32>,
    /// TCP address for other servers.
    pub p2p_listen: Multiaddr,
    /// TCP address for the overlay of the sim's world, if the command chooses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlay_listen: Option<Multiaddr>,
    /// Whether members of the world are sought in the local network, if the command chooses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlay_lan: Option<bool>,
    /// The other servers of the sim.
    pub peers: Vec<PeerConfig>,
    /// Networks whose clients are not rationed, if not the default, and if the file does not set
    /// them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
}

/// The keys that only the command sets, whatever the file said before.
const OWN: [&str; 8] = [
    "data_dir",
    "genesis",
    "vote_key",
    "node_key",
    "http_listen",
    "client_listen",
    "p2p_listen",
    "peers",
];

impl WrittenConfig {
    /// Writes the file. Values that a person has set in it stay, except paths, addresses and peers.
    ///
    /// # Errors
    /// Fails when the present file is no configuration, or with what the system said. The file then
    /// stays as it was.
    pub fn write(&self, path: &Path, command: &str) -> Result<(), ConfigError> {
        let mut table = what_is_set(path)?;
        table.retain(|key, _| !OWN.contains(&key));
        if self.overlay_listen.is_some() {
            // The command has looked at what was set.
            table.remove("overlay_listen");
        }
        for (key, value) in Table::try_from(self).expect("tables of strings and numbers") {
            table.entry(key).or_insert(value);
        }
        let text = toml::to_string(&table).expect("a table of values that were read");
        let head = format!(
            "# `metatopia {command}` writes paths, addresses and peers at every start. Other keys,\n\
             # above the first [[peers]], stay; comments do not.\n"
        );
        atomic_file::replace(path, format!("{head}{text}").as_bytes())
            .map_err(|source| ConfigError::Write { path: path.to_owned(), source })
    }
}

/// Returns what the file sets, or nothing if there is no file.
fn what_is_set(path: &Path) -> Result<Table, ConfigError> {
    let text = match super::read_text(path) {
        Err(ConfigError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(Table::new());
        }
        text => text?,
    };
    // A server could not start on a wrong file, so this fails before anything is written.
    super::parse(&text, path)?;
    Ok(toml::from_str(&text).expect("it was read as a configuration"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{
        config::{self, Layer},
        scratch::Scratch,
    };
    use metatopia_transport::networks::Networks;

    fn written(port: u16) -> WrittenConfig {
        let node = metatopia_types::SigningKey::from_seed([1; 32]);
        WrittenConfig {
            data_dir: Path::new("."),
            genesis: Path::new("genesis"),
            http_listen: ([127, 0, 0, 1], port).into(),
            client_listen: ([127, 0, 0, 1], 0).into(),
            clients_per_ip_max: Some(512),
            p2p_listen: "/ip4/127.0.0.1/tcp/3".parse().unwrap(),
            overlay_listen: None,
            overlay_lan: None,
            peers: vec![PeerConfig {
                key: metatopia_types::PublicKey([2; 32]),
                peer_id: crate::keys::peer_keypair(&node).public().to_peer_id(),
                address: "/ip4/127.0.0.1/tcp/4".parse().unwrap(),
            }],
            limits: Some(Limits { trusted_sources: Some(Networks::loopback()) }),
        }
    }

    #[test]
    fn a_command_writes_its_own_keys_and_all_others_stay_as_they_are_set() {
        let set = "archive = true\nsnapshot_turns = 60\nbehind_turns = 70\nlog = \"warn\"\n\
            announce_http = \"https://node.example\"\nannounce_quic = \"node.example:443\"\n\
            http_origins = [\"https://a.example\"]\nsource_url = \"https://source.example\"\n\
            clients_max = 5\nclients_per_ip_max = 4\n[limits]\ntrusted_sources = []\n";
        let stale = "http_listen = \"127.0.0.1:1\"\nvote_key = \"elsewhere\"\npeers = []\n";
        let scratch = Scratch::made("written-kept");
        let file = scratch.file("kept.toml", format!("{stale}{set}"));

        for port in [7, 8] {
            written(port).write(&file, "up").unwrap();

            let found = config::read(&file).unwrap();
            let directory = file.parent().unwrap();
            let wanted = Layer {
                data_dir: Some(directory.join(".")),
                genesis: Some(directory.join("genesis")),
                http_listen: Some(([127, 0, 0, 1], port).into()),
                client_listen: Some(([127, 0, 0, 1], 0).into()),
                p2p_listen: Some(written(port).p2p_listen),
                peers: Some(written(port).peers),
                ..config::parse(set, &file).unwrap()
            };
            assert_eq!(found, wanted);
        }
        assert!(OWN.iter().all(|key| *key == "peers" || Layer::KEYS.contains(key)));
    }

    #[test]
    fn a_first_file_says_what_the_command_does_and_who_wrote_it() {
        let scratch = Scratch::made("written-first");
        let file = scratch.0.join("first.toml");

        written(7).write(&file, "node join").unwrap();

        assert_eq!(config::read(&file).unwrap().clients_per_ip_max, Some(512));
        let trusted = config::read(&file).unwrap().trusted_sources;
        assert_eq!(trusted, Some(Networks::loopback()));
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("# `metatopia node join` writes"), "{text}");
        // A key that a person sets at the top of the file is the server's.
        fs::write(&file, format!("archive = true\n{text}")).unwrap();
        assert_eq!(config::read(&file).unwrap().archive, Some(true));
    }

    #[test]
    fn a_file_with_a_wrong_line_is_named_and_stays_as_it_is() {
        for text in ["archive = true\narchiv = true\n", "snapshot_turns = \"often\"", "what"] {
            let scratch = Scratch::made("written-wrong");
            let file = scratch.file("wrong.toml", text);
            let error = written(7).write(&file, "up").unwrap_err();
            assert!(error.to_string().contains(&file.display().to_string()), "{error}");
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
    }
}
