//! Four servers in one process, over real sockets and real disks: the driver, without the command
//! line.

mod hosting;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    future::Future,
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    ops::Range,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use metatopia::{
    config::{LogFormat, LogLevel, PeerConfig, Settings},
    keys, server,
};
use metatopia_replica::{BEHIND_TURNS, SNAPSHOT_TURNS};
use metatopia_sim::Genesis;
use metatopia_transport::{
    carrier,
    gateway::{self, CloseCode},
    http::Origins,
    networks::Networks,
};
use metatopia_types::{NodeContact, Sign};
use tokio::{sync::watch, task::JoinHandle, time::timeout};

/// How long anything may take here. Debug builds on a busy machine are slow; nothing waits for it.
const PATIENCE: Duration = Duration::from_secs(20);

/// A folder of its own, gone when the test is.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("metatopia-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a new folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Ports that the system lends to nobody by itself, beginning elsewhere in each process.
const PORTS: Range<u32> = 16_384..32_768;

/// A port that is free and that no other test of this process is given. What the system gives for port
/// 0 it gives again once it was let go: of eight that were looked up in a row two were the same in 3
/// of 400 cases, and then a server did not start, and nobody was told.
fn free_port() -> u16 {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    let count = PORTS.end - PORTS.start;
    let first = std::process::id().wrapping_mul(64);
    for _ in 0..count {
        let place = first.wrapping_add(GIVEN.fetch_add(1, Ordering::Relaxed)) % count;
        let port = u16::try_from(PORTS.start + place).expect("below 2^16");
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
    panic!("no port of {PORTS:?} is free");
}

/// A world without objects, and its servers' settings.
fn found(folder: &Path, count: usize) -> Vec<Settings> {
    let mut validators = BTreeMap::new();
    let mut seats = Vec::new();
    for index in 0..count {
        let dir = folder.join(format!("server-{index}"));
        let vote = keys::create(&dir.join("vote.key")).expect("a vote key");
        let node = keys::create(&dir.join("node.key")).expect("a node key");
        let peer_id = keys::peer_keypair(&node).public().to_peer_id();
        let address = format!("/ip4/127.0.0.1/tcp/{}", free_port());
        let contact = NodeContact { peer_id: peer_id.to_string(), address: address.clone() };
        validators.insert(vote.public(), contact);
        let address = address.parse().expect("an address");
        seats.push((dir, PeerConfig { key: vote.public(), peer_id, address }));
    }
    let genesis = Genesis {
        name: "empty".into(),
        admins: BTreeSet::new(),
        validators,
        licence: "AGPL-3.0-or-later".into(),
        asset_licence: "CC-BY-SA-4.0".into(),
        ..Genesis::empty()
    };
    let file = folder.join("genesis");
    fs::write(&file, genesis.encode()).expect("the genesis");
    let peers: Vec<PeerConfig> = seats.iter().map(|(_, peer)| peer.clone()).collect();
    let settings = |(dir, peer): &(PathBuf, PeerConfig)| Settings {
        data_dir: dir.join("data"),
        genesis: file.clone(),
        vote_key: dir.join("vote.key"),
        node_key: dir.join("node.key"),
        http_listen: SocketAddr::from((Ipv4Addr::LOCALHOST, free_port())),
        http_origins: Origins::default(),
        announce_http: None,
        announce_quic: None,
        client_listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        clients_max: 16,
        clients_per_ip_max: 16,
        trusted_sources: Networks::default(),
        tls: None,
        p2p_listen: peer.address.clone(),
        overlay_listen: None,
        overlay_lan: false,
        neighbours: Default::default(),
        peers: peers.clone(),
        archive: false,
        snapshot_turns: SNAPSHOT_TURNS,
        behind_turns: BEHIND_TURNS,
        log: LogLevel::Info,
        log_format: LogFormat::Text,
        source_url: None,
    };
    seats.iter().map(settings).collect()
}

struct Running {
    stop: watch::Sender<bool>,
    task: JoinHandle<Result<(), server::ServerError>>,
}

/// A server that was started, for whoever waits in vain.
struct Started {
    /// The genesis of its world.
    genesis: PathBuf,
    http: SocketAddr,
    /// Why it ended; nothing while it runs.
    ended: Option<String>,
}

static STARTED: Mutex<Vec<Started>> = Mutex::new(Vec::new());

fn start(settings: &Settings) -> Running {
    log_for_failures();
    let (stop, stopped) = watch::channel(false);
    let mut all = STARTED.lock().expect("nobody panics here");
    let place = all.len();
    all.push(Started {
        genesis: settings.genesis.clone(),
        http: settings.http_listen,
        ended: None,
    });
    drop(all);
    let run = server::run(settings.clone(), stopped);
    let task = tokio::spawn(async move {
        let ended = run.await;
        let told = match &ended {
            Ok(()) => "stopped as it was told".to_owned(),
            Err(error) => error.to_string(),
        };
        STARTED.lock().expect("nobody panics here")[place].ended = Some(told);
        ended
    });
    Running { stop, task }
}

/// Bytes of logs that are kept for a failure.
const LOG_BYTES_MAX: usize = 64 * 1024;

/// What all servers of this process have logged last.
static LOGGED: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Logged;

impl io::Write for Logged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut logged = LOGGED.lock().expect("nobody panics here");
        logged.extend_from_slice(bytes);
        let surplus = logged.len().saturating_sub(LOG_BYTES_MAX);
        logged.drain(..surplus);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn log_for_failures() {
    let filter = tracing_subscriber::EnvFilter::new("info,arc_malachitebft_core_consensus=warn");
    let log = tracing_subscriber::fmt().with_ansi(false).with_writer(|| Logged);
    // The first of the tests has done it for all.
    drop(log.with_env_filter(filter).try_init());
}

/// Returns what each server of a world says, or why it ended, and what was logged last.
async fn told_by_all(settings: &Settings) -> String {
    let mut told = String::new();
    let of_this_world: Vec<(SocketAddr, Option<String>)> = {
        let all = STARTED.lock().expect("nobody panics here");
        let own = all.iter().filter(|started| started.genesis == settings.genesis);
        own.map(|started| (started.http, started.ended.clone())).collect()
    };
    for (http, ended) in of_this_world {
        let said = match ended {
            Some(why) => format!("ended: {why}"),
            None => {
                let asked = Settings { http_listen: http, ..settings.clone() };
                match get(&asked, "/api/status").await {
                    Some(status) => status.to_string(),
                    None => "runs, and does not answer".to_owned(),
                }
            }
        };
        told.push_str(&format!("{http}: {said}\n"));
    }
    told.push_str(&String::from_utf8_lossy(&LOGGED.lock().expect("nobody panics here")));
    told
}

/// Waits for something that must come; if it does not, every server says how it stands.
async fn in_time<T>(settings: &Settings, what: &str, wait: impl Future<Output = T>) -> T {
    match timeout(PATIENCE, wait).await {
        Ok(come) => come,
        Err(_) => {
            let told = told_by_all(settings).await;
            panic!("{what}: not within {PATIENCE:?}\n{told}");
        }
    }
}

impl Running {
    async fn stop(self) {
        self.stop.send_replace(true);
        self.task.await.expect("no panic").expect("a clean end");
    }
}

async fn get(settings: &Settings, path: &str) -> Option<serde_json::Value> {
    let url = format!("http://{}{path}", settings.http_listen);
    let ask = move || ureq::get(&url).call().ok()?.body_mut().read_json().ok();
    tokio::task::spawn_blocking(ask).await.expect("no panic")
}

/// Waits until the server has decided at least this height.
async fn reach(settings: &Settings, height: u64) {
    let wait = async {
        loop {
            let status = get(settings, "/api/status").await;
            let at = status.and_then(|status| status["root_height"].as_u64());
            if at.is_some_and(|at| at >= height) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    in_time(settings, &format!("turn {height}"), wait).await;
}

async fn root(settings: &Settings, height: u64) -> String {
    let status = get(settings, &format!("/api/status?at={height}")).await.expect("an answer");
    status["root"].as_str().expect("a root").to_owned()
}

/// Waits until a server knows where clients of this many servers connect, and gives what it knows.
async fn servers(settings: &Settings, count: usize) -> Vec<serde_json::Value> {
    let wait = async {
        loop {
            let known = get(settings, "/api/servers").await;
            match known.as_ref().and_then(|known| known["servers"].as_array()) {
                Some(known) if known.len() >= count => return known.clone(),
                _ => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    };
    in_time(settings, "servers tell each other where clients connect", wait).await
}

/// The status of an answer to a page of `origin`.
async fn asked_by(settings: &Settings, origin: String) -> u16 {
    let url = format!("http://{}/api/session", settings.http_listen);
    let ask = move || {
        let config = ureq::Agent::config_builder().http_status_as_error(false).build();
        let request = config.new_agent().get(&url).header("Origin", origin);
        request.call().expect("an answer").status().as_u16()
    };
    tokio::task::spawn_blocking(ask).await.expect("no panic")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_tell_each_other_where_clients_connect_and_let_each_others_pages_in() {
    let folder = Folder::new("entrances");
    let all = found(&folder.0, 4);
    let running: Vec<Running> = all.iter().map(start).collect();

    let mut origins: Vec<String> =
        all.iter().map(|settings| format!("http://{}", settings.http_listen)).collect();
    origins.sort();
    for settings in &all {
        let known = servers(settings, 4).await;
        let session = get(settings, "/api/session").await.expect("an answer");
        let mut told: Vec<String> = Vec::new();
        for server in &known {
            told.push(server["http"].as_str().expect("an origin").to_owned());
            let here = server["server"] == session["server"];
            assert_eq!(server["here"].as_bool(), Some(here));
            if here {
                assert_eq!(server["certificates"], session["certificates"]);
                assert_eq!(server["wt"], session["wt"]);
            }
        }
        told.sort();
        assert_eq!(told, origins);
        for origin in &origins {
            assert_eq!(asked_by(settings, origin.clone()).await, 200, "{origin}");
        }
        assert_eq!(asked_by(settings, "http://127.0.0.1:1".to_owned()).await, 403);
    }
    let kept = get(&all[0], "/api/session").await.expect("an answer")["certificates"].clone();
    for server in running {
        server.stop().await;
    }

    // What was announced survives a restart.
    let again = start(&all[0]);
    reach(&all[0], 0).await;
    assert_eq!(get(&all[0], "/api/session").await.expect("an answer")["certificates"], kept);
    again.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_servers_decide_twenty_turns_a_second_and_go_on_without_one_and_after_all() {
    let folder = Folder::new("servers");
    let all = found(&folder.0, 4);
    let mut running: Vec<Running> = all.iter().map(start).collect();
    reach(&all[0], 20).await;
    let began = Instant::now();
    reach(&all[0], 60).await;
    let rate = 40_000 / began.elapsed().as_millis();
    assert!((12..=25).contains(&rate), "{rate} turns a second");

    running.remove(3).stop().await;
    reach(&all[0], 120).await;
    for server in running {
        server.stop().await;
    }

    let running: Vec<Running> = all.iter().map(start).collect();
    for settings in &all {
        reach(settings, 160).await;
    }
    let roots = [root(&all[0], 150).await, root(&all[1], 150).await, root(&all[2], 150).await];
    assert!(roots.iter().all(|root| *root == roots[0]), "{roots:?}");
    for server in running {
        server.stop().await;
    }
}

#[tokio::test]
async fn a_data_directory_of_another_sim_or_server_is_refused_by_name() {
    let folder = Folder::new("foreign");
    let one = found(&folder.0.join("one"), 1).remove(0);
    let other = found(&folder.0.join("other"), 1).remove(0);
    let running = start(&one);
    reach(&one, 1).await;
    running.stop().await;

    let (_stop, stopped) = watch::channel(false);
    let swapped = Settings { genesis: other.genesis.clone(), ..one.clone() };
    let error = server::run(swapped, stopped.clone()).await.expect_err("another sim");
    let told = error.to_string();
    assert!(told.contains(&one.data_dir.display().to_string()), "{told}");
    assert!(told.contains("sim"), "{told}");

    let stranger = Settings { vote_key: other.vote_key.clone(), ..one.clone() };
    let error = server::run(stranger, stopped).await.expect_err("another server");
    assert!(error.to_string().contains("server"), "{error}");
}

#[tokio::test]
async fn a_port_in_use_and_an_open_key_file_are_named() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = Folder::new("ports");
    let one = found(&folder.0, 1).remove(0);
    let taken = TcpListener::bind(one.http_listen).expect("the port is free");
    let (_stop, stopped) = watch::channel(false);
    let error = server::run(one.clone(), stopped.clone()).await.expect_err("the port is taken");
    assert!(error.to_string().contains(&one.http_listen.to_string()), "{error}");
    drop(taken);

    let open = fs::Permissions::from_mode(0o644);
    fs::set_permissions(&one.vote_key, open).expect("our own file");
    let error = server::run(one.clone(), stopped).await.expect_err("others can read the key");
    let told = error.to_string();
    assert!(told.contains("vote.key") && told.contains("0644"), "{told}");
}

#[tokio::test]
async fn a_first_start_that_failed_does_not_silence_a_server() {
    let folder = Folder::new("first-start");
    let one = found(&folder.0, 1).remove(0);
    let taken = TcpListener::bind(one.http_listen).expect("the port is free");
    let (_stop, stopped) = watch::channel(false);
    server::run(one.clone(), stopped).await.expect_err("the port is taken");
    drop(taken);

    let running = start(&one);
    reach(&one, 3).await;
    running.stop().await;
}

/// Waits until what `/api/status` or `/health/ready` say is so.
async fn said(settings: &Settings, path: &str, is_so: fn(&serde_json::Value) -> bool) -> String {
    let wait = async {
        loop {
            match get(settings, path).await {
                Some(told) if is_so(&told) => return told.to_string(),
                _ => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    };
    in_time(settings, &format!("{path} is as it should be"), wait).await
}

/// A server whose log is damaged in its middle once refused to start. Now it follows in silence, from
/// what is whole, until it is past all it may have signed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_whose_log_is_damaged_puts_it_aside_catches_up_and_votes_again() {
    let folder = Folder::new("damaged");
    let all = found(&folder.0, 4);
    let mut running: Vec<Running> = all.iter().map(start).collect();
    reach(&all[3], 30).await;
    running.remove(3).stop().await;
    let log = all[3].data_dir.join("log");
    let (segment, aside) = (log.join("segment-0000000000"), log.join("quarantined-0000000000-0"));
    let mut bytes = fs::read(&segment).expect("the log");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&segment, &bytes).expect("our own file");

    running.push(start(&all[3]));

    let told = said(&all[3], "/api/status", |told| told["disk"].is_string()).await;
    assert!(told.contains("log/segment-0000000000 is damaged at byte"), "{told}");
    assert!(told.contains("log/quarantined-0000000000-0"), "{told}");
    assert_eq!(fs::read(&aside).expect("it is put aside"), bytes, "as it was");
    said(&all[3], "/health/ready", |told| told["ready"] == true).await;
    // Without another one the world needs its vote.
    running.remove(0).stop().await;
    let now = get(&all[3], "/api/status").await.expect("an answer")["root_height"].clone();
    let now = now.as_u64().expect("a height");
    reach(&all[3], now + 20).await;
    assert_eq!(root(&all[3], now + 10).await, root(&all[1], now + 10).await);
    for server in running {
        server.stop().await;
    }

    // What was lost is known once; the next start is like any other.
    let again = start(&all[3]);
    let told = said(&all[3], "/api/status", |told| told["root_height"].is_number()).await;
    assert!(told.contains("\"disk\":null"), "{told}");
    again.stop().await;
}

#[test]
fn the_gateway_offers_what_clients_ask_for_and_knows_the_code_by_which_they_leave() {
    assert_eq!((carrier::ALPN, carrier::LEFT_CODE), (gateway::ALPN, CloseCode::DONE.0));
}
