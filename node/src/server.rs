//! One server process: puts disk, world, lanes, gateway and HTTP around a replica, and runs it.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write as _},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use libp2p::Multiaddr;
use metatopia_consensus::{self as consensus, Base, Record};
use metatopia_replica::{
    Announcement, Config, RECORDS_BACK_HEIGHTS, Replica, SNAPSHOT_TURNS, decode_snapshot,
    payloads_after,
};
use metatopia_sim::{ENGINE, Genesis, GenesisError, Tools, World};
use metatopia_store::{
    Identity, LogIndex, OpenError, Opening, Position, Quarantine, ReadDisk, ReadError,
    RecoverError, ScanError, Store, TailReport, newest_snapshot, quarantine,
};
use metatopia_types::{
    Ed25519, Height, Millis, PublicKey, Sign, SigningKey, SimId, limits::TICKS_PER_SECOND, wire,
};
use tokio::sync::{mpsc, watch};

use crate::{
    applier::{self, Meddle, Pool},
    bind::BindError,
    capsules::Capsules,
    certificates::{CertificateError, Certificates},
    clock::Clock,
    config::Settings,
    disk::{OpenDiskError, RealDisk},
    driver::{Driver, DriverError, QUERIES_MAX},
    gateway::{self, Door, GatewayLimits},
    http::{self, Allowed, Origin, Session, SourceOffer, in_url},
    keys::{self, LoadKeyError},
    lanes,
    metrics::Metrics,
    neighbours::GuestFile,
    storage::{self, HISTORY_TURNS, History, ORDERS_MAX, StorageError},
};

/// Why a server does not run, or stopped running.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The genesis cannot be read.
    #[error("genesis {}: {source}", path.display())]
    ReadGenesis {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The genesis is none.
    #[error("genesis {}: {source}", path.display())]
    Genesis {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<GenesisError>,
    },
    /// A key cannot be used.
    #[error(transparent)]
    Key(#[from] LoadKeyError),
    /// The data directory cannot be opened.
    #[error(transparent)]
    Disk(#[from] OpenDiskError),
    /// The data directory is not this server's, or is damaged.
    #[error("data directory {}: {source}", path.display())]
    Store {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<OpenError>,
    },
    /// The log cannot be read.
    #[error("log in {}: {source}", path.display())]
    Log {
        /// The directory.
        path: PathBuf,
        /// Where and why.
        source: Box<ReadError>,
    },
    /// A record of the log is none of ours.
    #[error("log in {}: a record is not of this version: {source}", path.display())]
    Record {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        source: wire::DecodeError,
    },
    /// The log begins after what there is to start from.
    #[error(
        "data directory {}: no snapshot is whole, and the log begins at height {oldest}, after \
         height {base}; fetch a snapshot from another server", path.display()
    )]
    NoStart {
        /// The directory.
        path: PathBuf,
        /// The height that could be started from.
        base: Height,
        /// The first height in the log.
        oldest: Height,
    },
    /// The records contradict each other.
    #[error("log in {}: {source}", path.display())]
    Records {
        /// The directory.
        path: PathBuf,
        /// How.
        source: Box<consensus::OpenError>,
    },
    /// The log cannot be begun.
    #[error("log in {}: {source}", path.display())]
    Begin {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: Box<StorageError>,
    },
    /// The mark that a key was used cannot be set.
    #[error("cannot write {}: {source}", path.display())]
    Mark {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A thread cannot be started.
    #[error("cannot start a thread: {0}")]
    Thread(String),
    /// Servers cannot be listened for.
    #[error("for other servers: {0}")]
    Lanes(#[from] lanes::StartError),
    /// There is no certificate for clients.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// Clients cannot be listened for.
    #[error("for clients: {0}")]
    Gateway(#[from] gateway::StartError),
    /// HTTP cannot be listened for.
    #[error("for HTTP: {0}")]
    Http(#[from] BindError),
    /// The server stopped by itself.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

/// What a data directory holds, ready to go on from.
struct Kept {
    store: Store<RealDisk>,
    base: Base,
    world: World,
    records: Vec<Record>,
    /// What was found damaged, and where it was put.
    damage: Option<String>,
}

/// Runs one server until `stop` says so.
///
/// # Errors
/// See [`ServerError`]; each names the file, address or key that is wrong.
pub async fn run(settings: Settings, stop: watch::Receiver<bool>) -> Result<(), ServerError> {
    run_meddled(settings, stop, None).await
}

/// As [`run`], with somebody who changes the world: so tests see what a server does whose memory is
/// bad. The program has nobody.
///
/// # Errors
/// See [`run`].
#[doc(hidden)]
pub async fn run_meddled(
    settings: Settings,
    stop: watch::Receiver<bool>,
    meddle: Option<Meddle>,
) -> Result<(), ServerError> {
    let (genesis, encoded) = read_genesis(&settings.genesis)?;
    let sim = genesis.id();
    let signer = keys::load(&settings.vote_key)?;
    let node_key = keys::load(&settings.node_key)?;
    let server = signer.public();
    let mut kept = open(&settings, &genesis, sim, server)?;
    begin_log(&mut kept, &settings)?;
    mark_used(&settings.vote_key, sim)?;
    // What fails most often comes before anything has to be taken down again.
    let bound = http::bind(settings.http_listen)?;
    tracing::info!(%sim, %server, height = %kept.base.height, "starting");

    let clock = Clock::default();
    let config = replica_config(&genesis, encoded, signer);
    let Kept { store, base, world, records, damage } = kept;
    let past = storage::decisions_up_to(&store, base.height).map_err(|source| {
        ServerError::Log { path: settings.data_dir.clone(), source: Box::new(source) }
    })?;
    let replica = Replica::open(config, base, world, past, records, clock.now());
    let replica = replica.map_err(|source| ServerError::Records {
        path: settings.data_dir.clone(),
        source: Box::new(source),
    })?;
    let history = if settings.archive { History::Whole } else { History::Turns(HISTORY_TURNS) };
    let Threads { orders, stored, jobs, applied, disk } = start_threads(store, history, meddle)?;
    let metrics = Arc::new(Metrics::default());
    let keypair = keys::peer_keypair(&node_key);
    let (lanes, lane_events) =
        lanes::start(keypair, &settings.p2p_listen, lanes::Config::default(), Arc::clone(&metrics))
            .await?;
    let door = Door {
        listen: settings.client_listen,
        certificates: Certificates::open(&settings.data_dir.join(CERTIFICATES), clock.now().wall)?,
        allowed: allowed(&settings, &bound),
    };
    let Door { certificates, allowed, .. } = door.clone();
    let limits = GatewayLimits {
        clients_max: settings.clients_max,
        clients_per_ip_max: settings.clients_per_ip_max,
        ..GatewayLimits::default()
    };
    let (gateway, gateway_events) = gateway::start(door, limits, Arc::clone(&metrics))?;
    let entrance = entrance(&settings, bound.address(), gateway.address());
    let (status, watched) = watch::channel(None);
    let (asked, queries) = mpsc::channel(QUERIES_MAX);
    let session = session(&settings, &genesis, server, gateway.address(), &certificates);
    let source = Arc::new(SourceOffer::new(settings.source_url.clone()));
    let sockets = gateway.sockets();
    let node = http::Node { status: watched, queries: asked, session, sockets, metrics, source };
    let http = http::start(bound, allowed.clone(), node);
    let (clients, servers) = (gateway.address(), lanes.address());
    tracing::info!(http = %http.address(), %clients, %servers, "listening");
    let driver = Driver {
        replica,
        clock,
        lanes,
        lane_events,
        gateway,
        gateway_events,
        orders,
        stored,
        jobs,
        applied,
        queries,
        certificates,
        allowed,
        entrance,
        damage,
        capsules: Capsules::of(&settings.data_dir),
        status,
        addresses: addresses(&settings),
        guests: GuestFile::at(&settings.data_dir),
    };
    let ended = driver.run(stop).await;
    http.shutdown().await;
    // The disk's thread ends once its orders have: everything appended is on its way to the disk.
    let _joined = tokio::task::spawn_blocking(move || disk.join()).await;
    Ok(ended?)
}

/// In the data directory: the certificates for clients, and their keys.
const CERTIFICATES: &str = "client-certificates";

/// Whose pages may talk to this server, before it knows of others.
fn allowed(settings: &Settings, bound: &http::Bound) -> Allowed {
    let announced = settings.announce_http.as_ref();
    Allowed::new(settings.http_origins.clone(), bound.address(), announced)
}

/// What a client needs to connect.
fn session(
    settings: &Settings,
    genesis: &Genesis,
    server: PublicKey,
    quic: SocketAddr,
    certificates: &Certificates,
) -> Arc<Session> {
    Arc::new(Session {
        sim: genesis.id(),
        name: genesis.name.clone(),
        server,
        quic,
        announced_quic: settings.announce_quic.as_ref().map(ToString::to_string),
        certificates: certificates.clone(),
        wire_version: metatopia_protocol::VERSION,
    })
}

/// Where clients connect, as the other servers and their clients are told. A server that listens
/// everywhere does not know where that is.
fn entrance(settings: &Settings, http: SocketAddr, quic: SocketAddr) -> Option<Announcement> {
    let known = |address: SocketAddr| (!address.ip().is_unspecified()).then_some(address);
    let own_http = || known(http).map(|address| Origin::http(&in_url(address), address.port()));
    let own_quic = || known(quic).map(|address| address.to_string());
    let http = settings.announce_http.clone().or_else(own_http);
    let quic = settings.announce_quic.as_ref().map(ToString::to_string).or_else(own_quic);
    let (Some(http), Some(quic)) = (http, quic) else {
        tracing::warn!(
            "clients of other servers are not told of this one: \
             it listens everywhere, and neither announce_http nor announce_quic say where it is"
        );
        return None;
    };
    Some(Announcement { http: http.to_string(), quic, certificates: Vec::new() })
}

/// The threads that may block, and the ways to and from them.
struct Threads {
    orders: mpsc::Sender<storage::Order>,
    stored: mpsc::Receiver<storage::Done>,
    jobs: mpsc::Sender<applier::Job>,
    applied: mpsc::Receiver<applier::Applied>,
    disk: thread::JoinHandle<()>,
}

fn start_threads(
    store: Store<RealDisk>,
    history: History,
    meddle: Option<Meddle>,
) -> Result<Threads, ServerError> {
    let (orders, ordered) = mpsc::channel(ORDERS_MAX);
    // Each order has at most one answer, so the disk's thread never waits for the loop.
    let (done, stored) = mpsc::channel(2 * ORDERS_MAX);
    let (jobs, jobbed) = mpsc::channel(1);
    let (finished, applied) = mpsc::channel(1);
    let threads = thread::available_parallelism().map_or(1, Into::into);
    let pool = Pool::new(threads).map_err(|error| ServerError::Thread(error.to_string()))?;
    let no_thread = |error: io::Error| ServerError::Thread(error.to_string());
    let disk = storage::start(store, history, ordered, done).map_err(no_thread)?;
    applier::start(pool, jobbed, finished, meddle).map_err(no_thread)?;
    Ok(Threads { orders, stored, jobs, applied, disk })
}

fn read_genesis(path: &Path) -> Result<(Genesis, Vec<u8>), ServerError> {
    let bytes = fs::read(path)
        .map_err(|source| ServerError::ReadGenesis { path: path.to_owned(), source })?;
    let genesis = Genesis::decode(&bytes).map_err(|source| ServerError::Genesis {
        path: path.to_owned(),
        source: Box::new(source),
    })?;
    Ok((genesis, bytes))
}

/// Opens the data directory, and goes back to the newest snapshot that is whole.
fn open(
    settings: &Settings,
    genesis: &Genesis,
    sim: SimId,
    server: PublicKey,
) -> Result<Kept, ServerError> {
    let path = || settings.data_dir.clone();
    let Opened { mut store, records_lost, damage } =
        open_store(&settings.data_dir, Identity { sim, server })?;
    if records_lost {
        note_loss(&mut store)
            .map_err(|source| ServerError::Begin { path: path(), source: Box::new(source) })?;
    }
    let (base, world) = start_from(&store, genesis, settings)?;
    let failed = |source| ServerError::Log { path: path(), source: Box::new(source) };
    let mut records = Vec::new();
    let (index, disk) = (store.index(), store.disk());
    let next = index.tagged_from(disk, base.height.0.saturating_add(1)).next();
    match next.transpose().map_err(failed)?.and_then(|record| record.tag).map(Height) {
        Some(oldest) if oldest > base.height.plus(1) => {
            return Err(ServerError::NoStart { path: path(), base: base.height, oldest });
        }
        _ => {}
    }
    for record in payloads_after(index, disk, base.height.plus(1)).map_err(failed)? {
        let payload = record.map_err(failed)?;
        let record = Record::decode(&payload)
            .map_err(|source| ServerError::Record { path: path(), source })?;
        records.push(record);
    }
    Ok(Kept { store, base, world, records, damage })
}

/// A data directory that can be used.
struct Opened {
    store: Store<RealDisk>,
    records_lost: bool,
    damage: Option<String>,
}

/// Opens a data directory. What is damaged of its log is put aside.
fn open_store(path: &Path, identity: Identity) -> Result<Opened, ServerError> {
    let refused = |source| ServerError::Store { path: path.to_owned(), source: Box::new(source) };
    let open = || -> Result<_, ServerError> {
        Ok(Store::open(RealDisk::open(path)?, Opening::new(identity)))
    };
    let (opened, damage) = match open()? {
        Ok(opened) => (opened, None),
        Err(OpenError::Recover(RecoverError::Scan(
            fault @ (ScanError::Damaged(_) | ScanError::Missing(_)),
        ))) => {
            tracing::error!(%fault, "the log is damaged");
            let put_aside = quarantine(&mut RealDisk::open(path)?, identity.sim, &suffices)
                .map_err(|error| refused(error.into()))?;
            let damage = put_aside.map(|put_aside| report_damage(&put_aside));
            (open()?.map_err(refused)?, damage)
        }
        Err(error) => return Err(refused(error)),
    };
    if let Some(tail) = &opened.tail {
        report_tail(tail);
    }
    Ok(Opened { store: opened.store, records_lost: opened.records_lost, damage })
}

/// Can a server start from its newest snapshot and this log?
fn suffices(index: &LogIndex, disk: &dyn ReadDisk) -> bool {
    let newest = newest_snapshot(disk).ok().and_then(|newest| newest.snapshot);
    let Some(before) = newest.and_then(|s| s.height.minus(RECORDS_BACK_HEIGHTS)) else {
        return !index.is_pruned();
    };
    matches!(index.find(disk, before.0), Ok(Some(_)))
}

fn report_damage(done: &Quarantine) -> String {
    let files: Vec<String> = done.moved.iter().map(ToString::to_string).collect();
    let files = files.join(", ");
    let told = match (done.records_lost, done.moved.is_empty()) {
        (true, true) => format!("{}; its last records are lost", done.fault),
        (true, false) => format!("{}; the last records are lost, put aside: {files}", done.fault),
        (false, true) => done.fault.to_string(),
        (false, false) => format!("{}; history is lost, put aside: {files}", done.fault),
    };
    tracing::error!(fault = %done.fault, put_aside = %files, records_lost = done.records_lost,
        "the damaged part of the log was put aside");
    if done.records_lost {
        tracing::warn!("this server does not vote until it is past all it may have signed");
    }
    told
}

/// Records are lost, so this server does not know what it signed; its log says so from now on.
fn note_loss(store: &mut Store<RealDisk>) -> Result<(), StorageError> {
    store.append(storage::AGREEMENT, None, &Record::Silence.encode())?;
    store.sync()?;
    // Noted twice is as good as once.
    if let Err(error) = store.acknowledge_loss() {
        tracing::warn!(%error, "the log is not marked");
    }
    Ok(())
}

/// Lets a server sign whose key is new: its log says so, durably, before the key counts as used. A
/// first start may fail at any later step and is no loss.
fn begin_log(kept: &mut Kept, settings: &Settings) -> Result<(), ServerError> {
    if kept.store.end() != Position::default() || mark_path(&settings.vote_key).exists() {
        return Ok(());
    }
    let voice = Record::Voice;
    let appended = kept.store.append(storage::AGREEMENT, None, &voice.encode());
    let begun = appended.map_err(StorageError::from).and_then(|_| Ok(kept.store.sync()?));
    begun.map_err(|source| ServerError::Begin {
        path: settings.data_dir.clone(),
        source: Box::new(source),
    })?;
    kept.records.push(voice);
    Ok(())
}

fn report_tail(tail: &TailReport) {
    tracing::warn!(?tail, "the log ended in a torn record, which was cut off");
}

fn start_from(
    store: &Store<RealDisk>,
    genesis: &Genesis,
    settings: &Settings,
) -> Result<(Base, World), ServerError> {
    let tools = Tools::new(Arc::new(Ed25519));
    match newest_snapshot(store.disk()) {
        Ok(newest) => {
            for error in newest.passed_over {
                tracing::warn!(%error, "snapshot passed over");
            }
            if let Some(snapshot) = newest.snapshot {
                match decode_snapshot(&snapshot.bytes, &tools) {
                    Ok(start) => return Ok(start),
                    Err(error) => tracing::warn!(%error, "snapshot passed over"),
                }
            }
        }
        Err(error) => tracing::warn!(%error, "no snapshot can be read"),
    }
    let broken =
        |source| ServerError::Genesis { path: settings.genesis.clone(), source: Box::new(source) };
    let world = World::genesis(genesis, &tools).map_err(broken)?;
    let set = world.validators(Height(1)).expect("a world at genesis knows its first validators");
    Ok((Base::genesis(Millis(0), world.root(), set), world))
}

fn replica_config(genesis: &Genesis, encoded: Vec<u8>, signer: SigningKey) -> Config {
    let sim = genesis.id();
    let ticks = u64::from(genesis.parameters.ticks_per_turn);
    let turn_length = (ticks * 1_000 / TICKS_PER_SECOND).max(1);
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).expect("the operating system gives random bytes");
    let agreement = consensus::Config {
        sim,
        engine: ENGINE,
        turn_length,
        signer: Arc::new(signer),
        scheme: Arc::new(Ed25519),
        // The log says whether this server may sign.
        fresh_key: false,
        patience: consensus::Patience::default(),
    };
    let turns_per_second = u32::try_from(1_000 / turn_length).unwrap_or(1).max(1);
    let genesis = Arc::new(encoded);
    let snapshot_turns = SNAPSHOT_TURNS;
    Config { sim, genesis, agreement, turns_per_second, snapshot_turns, seed }
}

/// Beside a vote key: says that it has signed. A key that comes without its log must not vote where
/// it may have voted before.
fn mark_path(vote_key: &Path) -> PathBuf {
    let mut name = vote_key.as_os_str().to_owned();
    name.push(".used");
    PathBuf::from(name)
}

/// Sets the mark beside a vote key, durably.
fn mark_used(vote_key: &Path, sim: SimId) -> Result<(), ServerError> {
    let path = mark_path(vote_key);
    let write = || {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
        file.write_all(format!("{sim}\n").as_bytes())?;
        file.sync_all()
    };
    match write() {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(source) => Err(ServerError::Mark { path, source }),
    }
}

fn addresses(settings: &Settings) -> BTreeMap<PublicKey, Vec<Multiaddr>> {
    settings.peers.iter().map(|peer| (peer.key, vec![peer.address.clone()])).collect()
}
