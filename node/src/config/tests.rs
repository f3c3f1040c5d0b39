use clap::Parser as _;
use metatopia_types::PublicKey;

use super::*;

const FILE: &str = "/etc/metatopia/metatopia.toml";

fn file(text: &str) -> Result<Layer, ConfigError> {
    parse(text, Path::new(FILE))
}

/// Returns the least that a server needs.
fn least() -> Layer {
    file("data_dir = \"/data\"\ngenesis = \"/genesis\"").unwrap()
}

fn variable(name: &str, value: &str) -> Result<Layer, ConfigError> {
    environment([(name.to_owned(), value.to_owned())])
}

fn refused(text: &str) -> String {
    match file(text).and_then(|layer| settle([layer, least()])) {
        Err(error) => error.to_string(),
        Ok(settings) => panic!("accepted: {settings:?}"),
    }
}

fn peer(n: u8) -> String {
    let key = PublicKey([n; 32]);
    let node_key = metatopia_types::SigningKey::from_seed([n; 32]);
    let peer_id = crate::keys::peer_keypair(&node_key).public().to_peer_id();
    let address = format!("/ip4/192.0.2.{n}/tcp/8082");
    format!("[[peers]]\nkey = \"{key}\"\npeer_id = \"{peer_id}\"\naddress = \"{address}\"\n")
}

#[test]
fn flags_win_over_environment_over_file_over_defaults() {
    let four = |text: &str| Layer { log: Some(text.parse().unwrap()), ..Layer::default() };
    let log = |layers: Vec<Layer>| settle(layers.into_iter().chain([least()])).unwrap().log;
    let flags = four("error");
    let environment = variable("METATOPIA_LOG", "warn").unwrap();
    let file = file("log = \"debug\"").unwrap();

    assert_eq!(log(vec![]), LogLevel::Info);
    assert_eq!(log(vec![file.clone()]), LogLevel::Debug);
    assert_eq!(log(vec![environment.clone(), file.clone()]), LogLevel::Warn);
    assert_eq!(log(vec![flags, environment, file]), LogLevel::Error);
}

#[test]
fn defaults_are_on_loopback() {
    let settings = settle([least()]).unwrap();
    assert!(settings.http_listen.ip().is_loopback());
    assert!(settings.client_listen.ip().is_loopback());
    assert_eq!(settings.p2p_listen.to_string(), "/ip4/127.0.0.1/tcp/8082");
    assert!(settings.http_origins.is_empty());
}

#[test]
fn snapshots_are_as_far_apart_as_usual_unless_it_is_configured() {
    assert_eq!(settle([least()]).unwrap().snapshot_turns, SNAPSHOT_TURNS);
    let other = file("snapshot_turns = 601\n").unwrap();
    assert_eq!(settle([other, least()]).unwrap().snapshot_turns, 601);
}

/// A node of a neighbour.
const NEIGHBOUR: &str =
    "1111111111111111111111111111111111111111111111111111111111111111=http://192.0.2.7:8080";

#[test]
fn every_key_is_a_flag_a_variable_and_a_line() {
    #[derive(clap::Parser)]
    struct Program {
        #[command(flatten)]
        layer: Layer,
    }
    let values = [
        ("data_dir", "/a"),
        ("genesis", "/b"),
        ("vote_key", "/c"),
        ("node_key", "/d"),
        ("http_listen", "127.0.0.1:1"),
        ("http_origins", "https://a.example,http://b.example:81"),
        ("announce_http", "https://node.example"),
        ("client_listen", "[::1]:2"),
        ("announce_quic", "node.example:443"),
        ("clients_max", "3"),
        ("clients_per_ip_max", "4"),
        ("tls_cert", "/e.pem"),
        ("tls_key", "/f.pem"),
        ("p2p_listen", "/ip4/127.0.0.1/tcp/5"),
        ("overlay_listen", "/ip4/127.0.0.1/tcp/6"),
        ("overlay_lan", "true"),
        ("neighbours", NEIGHBOUR),
        ("archive", "true"),
        ("snapshot_turns", "60"),
        ("behind_turns", "70"),
        ("log", "trace"),
        ("log_format", "json"),
        ("source_url", "https://example.org/source"),
        ("trusted_sources", "127.0.0.0/8,2001:db8::/32"),
    ];
    assert_eq!(values.map(|(key, _)| key), Layer::KEYS);
    let flags = values.map(|(key, value)| format!("--{}={value}", key.replace('_', "-")));
    let flags = Program::parse_from(["metatopia".to_owned()].into_iter().chain(flags)).layer;
    let name = |key: &str| format!("METATOPIA_{}", key.to_uppercase());
    let variables = environment(values.map(|(key, value)| (name(key), value.to_owned()))).unwrap();
    let lines = values.map(|(key, value)| match key {
        "clients_max" | "clients_per_ip_max" | "archive" | "overlay_lan" | "snapshot_turns"
        | "behind_turns" => format!("{key} = {value}\n"),
        "http_origins" => format!("{key} = [\"{}\"]\n", value.replace(',', "\", \"")),
        "trusted_sources" => {
            format!("[limits]\n{key} = [\"{}\"]\n", value.replace(',', "\", \""))
        }
        _ => format!("{key} = \"{value}\"\n"),
    });
    let file = file(&lines.concat()).unwrap();

    let bare = Program::parse_from(["metatopia", "--archive"]).layer;
    assert_eq!(bare.archive, Some(true), "a flag needs no value");
    assert_eq!(flags, variables);
    assert_eq!(flags, file);
    assert!(values.iter().all(|(key, _)| Layer::default().set(key, "\0").is_some()));
}

#[test]
fn an_unknown_key_is_an_error_with_its_line() {
    let error = refused("log = \"info\"\n\nhttp_lisen = \"127.0.0.1:1\"\n");
    assert!(error.contains(FILE), "{error}");
    assert!(error.contains("line 3") && error.contains("http_lisen"), "{error}");

    let error = refused(&format!("{}port = 1\n", peer(1)));
    assert!(error.contains("line 5") && error.contains("port"), "{error}");
}

#[test]
fn a_wrong_value_is_an_error_with_its_line_and_key() {
    for (line, key) in [
        ("http_listen = \"8080\"", "http_listen"),
        ("http_listen = 8080", "http_listen"),
        ("p2p_listen = \"127.0.0.1:1\"", "p2p_listen"),
        ("clients_max = -1", "clients_max"),
        ("clients_max = \"many\"", "clients_max"),
        ("log = \"loud\"", "log"),
        ("http_origins = [\"example.org\"]", "http_origins"),
        ("announce_http = \"node.example\"", "announce_http"),
        ("announce_quic = \"node.example\"", "announce_quic"),
        ("data_dir = 3", "data_dir"),
    ] {
        let error = refused(&format!("\n{line}\n"));
        assert!(error.contains("line 2") && error.contains(key), "{line}: {error}");
    }
    for wrong in ["\"127.0.0.1/8\"", "\"127.0.0.0/33\"", "\"home\"", "7"] {
        let error = refused(&format!("[limits]\ntrusted_sources = [{wrong}]\n"));
        assert!(error.contains("line 2") && error.contains("trusted_sources"), "{wrong}: {error}");
    }
    let error = refused("\n[limits]\ntrusted = []\n");
    assert!(error.contains("line 3") && error.contains("trusted"), "{error}");
    let key = "metatopia-key".to_owned();
    let error = refused(&peer(1).replace(&PublicKey([1; 32]).to_string(), &key));
    assert!(error.contains("line 2") && error.contains("hexadecimal"), "{error}");
}

#[test]
fn a_file_that_is_no_toml_is_an_error_with_its_line() {
    let error = refused("log = \"info\"\nwhat is this");
    assert!(error.contains("line 2"), "{error}");
}

#[test]
fn an_unknown_variable_is_an_error_and_foreign_ones_are_not_ours() {
    for name in ["METATOPIA_LISTEN", "METATOPIA_log", "METATOPIA_", "METATOPIA_PEERS"] {
        let error = variable(name, "x").unwrap_err();
        assert!(matches!(&error, ConfigError::UnknownEnvironment { name: n } if n == name));
        assert!(error.to_string().contains(name), "{error}");
    }
    assert_eq!(variable("HOME", "/root").unwrap(), Layer::default());
}

#[test]
fn a_wrong_variable_is_named_with_its_value() {
    let error = variable("METATOPIA_HTTP_LISTEN", "somewhere").unwrap_err().to_string();
    assert!(error.contains("METATOPIA_HTTP_LISTEN") && error.contains("somewhere"), "{error}");
}

#[test]
fn what_is_missing_is_named_in_all_three_ways() {
    let error = settle([Layer::default()]).unwrap_err().to_string();
    for name in ["`data_dir`", "--data-dir", "METATOPIA_DATA_DIR"] {
        assert!(error.contains(name), "{error}");
    }
    let data_dir = Layer { data_dir: Some("/data".into()), ..Layer::default() };
    let error = settle([data_dir]).unwrap_err();
    assert!(matches!(error, ConfigError::Missing { key: "genesis" }), "{error}");
}

#[test]
fn paths_in_the_file_are_taken_from_its_directory() {
    let layer = file("data_dir = \"data\"\ngenesis = \"/genesis\"").unwrap();
    let settings = settle([layer]).unwrap();
    assert_eq!(settings.data_dir, Path::new("/etc/metatopia/data"));
    assert_eq!(settings.genesis, Path::new("/genesis"));
    assert_eq!(settings.node_key, Path::new("/etc/metatopia/data/node.key"));
}

#[test]
fn peers_are_read_in_order() {
    let layer = file(&[peer(1), peer(2)].concat()).unwrap();
    let peers = settle([layer, least()]).unwrap().peers;
    let keys: Vec<PublicKey> = peers.iter().map(|peer| peer.key).collect();
    assert_eq!(keys, [PublicKey([1; 32]), PublicKey([2; 32])]);
    assert_eq!(peers[1].address.to_string(), "/ip4/192.0.2.2/tcp/8082");
}

#[test]
fn peers_that_do_not_fit_together_are_named() {
    let (key_1, key_2) = (PublicKey([1; 32]).to_string(), PublicKey([2; 32]).to_string());
    let same_key = [peer(1), peer(2).replace(&key_2, &key_1)].concat();
    assert!(refused(&same_key).contains("peers[1].key"));
    let same_id = [peer(1), peer(1).replace(&key_1, &key_2)].concat();
    assert!(refused(&same_id).contains("peers[1].peer_id"));
    let udp = peer(1).replace("/tcp/8082", "/udp/8082/quic-v1");
    assert!(refused(&udp).contains("peers[0].address"));
    let many: String = (0..=31).map(peer).collect();
    assert!(refused(&many).contains("`peers`: 32 are more than 31"));
}

#[test]
fn only_tcp_addresses_can_be_listened_on_for_servers() {
    for address in ["/ip4/127.0.0.1/udp/1/quic-v1", "/memory/1", "/ip4/127.0.0.1"] {
        let error = refused(&format!("p2p_listen = \"{address}\""));
        assert!(error.contains("p2p_listen") && error.contains(address), "{error}");
    }
}

#[test]
fn members_are_sought_in_the_local_network_only_where_they_can_come() {
    for text in
        ["overlay_lan = true", "overlay_lan = true\noverlay_listen = \"/ip4/127.0.0.1/tcp/1\""]
    {
        let error = refused(text);
        assert!(error.contains("`overlay_lan`") && error.contains("overlay_listen"), "{error}");
    }
    let text = "overlay_lan = true\noverlay_listen = \"/ip4/192.168.1.20/tcp/1\"";
    assert!(settle([file(text).unwrap(), least()]).unwrap().overlay_lan);
    assert!(refused("overlay_listen = \"/memory/1\"").contains("overlay_listen"));
}

#[test]
fn a_server_does_not_vote_with_its_node_key() {
    let error = refused("vote_key = \"same.key\"\nnode_key = \"same.key\"");
    assert!(error.contains("node_key"), "{error}");
}

#[test]
fn a_file_above_the_limit_or_of_no_text_is_refused() {
    let mut nonce = [0; 8];
    getrandom::fill(&mut nonce).unwrap();
    let name = format!("metatopia-config-{:016x}.toml", u64::from_le_bytes(nonce));
    let path = std::env::temp_dir().join(name);
    let text = |bytes: u64| "#".repeat(usize::try_from(bytes).unwrap());

    std::fs::write(&path, text(FILE_BYTES_MAX)).unwrap();
    let fits = read(&path);
    std::fs::write(&path, text(FILE_BYTES_MAX + 1)).unwrap();
    let too_long = read(&path);
    std::fs::write(&path, b"# Ours.\nlog = \"\xff\"\n").unwrap();
    let no_text = read(&path).unwrap_err().to_string();
    std::fs::remove_file(&path).unwrap();

    assert_eq!(fits.unwrap(), Layer::default());
    assert!(matches!(too_long, Err(ConfigError::TooLong { .. })), "{too_long:?}");
    // Nobody was told where the file is no text.
    let expected = format!("configuration file {}:2:8: the file is not UTF-8", path.display());
    assert!(no_text.starts_with(&expected), "{no_text}");
    let gone = read(&path).unwrap_err().to_string();
    assert!(gone.contains(path.to_str().unwrap()), "{gone}");
}

#[test]
fn turns_that_make_no_sense_are_refused_by_name() {
    for key in ["snapshot_turns", "behind_turns"] {
        let settled = |turns: u64| settle([file(&format!("{key} = {turns}\n")).unwrap(), least()]);
        let error = settled(TURNS.start() - 1).unwrap_err().to_string();
        assert!(error.contains(key) && error.contains("between 10 and 72000"), "{error}");
        assert!(settled(TURNS.end() + 1).is_err());
        assert!(settled(*TURNS.start()).is_ok() && settled(*TURNS.end()).is_ok());
    }
}
