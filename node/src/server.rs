//! One server process: puts disk, world, peers, gateway and HTTP around a replica, and runs it.

mod data_dir;
mod error;

use std::{collections::BTreeMap, fs, io, net::SocketAddr, sync::Arc, thread};

use libp2p::Multiaddr;
use metatopia_consensus as consensus;
use metatopia_protocol::{Applicant, Grant, JoinRequest};
use metatopia_replica::{
    Config, OwnEndpoint, PEER_FRAME_BYTES_MAX,
    keeper::{Done, HISTORY_TURNS, History, Order},
    mempool::RELAYED_PER_SECOND,
};
use metatopia_sim::{ENGINE, Genesis, World};
use metatopia_store::Store;
use metatopia_transport::{
    certificates::{Certificates, TlsCertificateError},
    gateway::{self, GatewayLimits, ListenConfig},
    http::{self, Allowed, HttpServer, UrlScheme, WebOrigin, in_url},
    peers,
};
use metatopia_types::{
    Ed25519, Millis, NodeContact, PublicKey, Sign, SigningKey, SimId, limits::TICKS_PER_SECOND,
};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::{mpsc, watch},
};
use tokio_util::task::AbortOnDropHandle;

use self::data_dir::DataDir;
pub use self::error::ServerError;
use crate::{
    authority_files::{AuthorityFileError, AuthorityFiles},
    certificate_file::CertificateFile,
    clock::SystemClock,
    config::{PeerConfig, Settings},
    diagnostics::Diagnostics,
    disk::RealDisk,
    disk_thread::{self, ORDERS_MAX},
    driver::{Driver, QUERIES_MAX},
    engine,
    executor::{self, Meddle, Pool},
    joining::{InviteFile, InviteStore, JoinRequests},
    keys,
    metrics::Metrics,
    peer_set::FollowerFile,
    repair_log::RepairLog,
    routes::{self, SessionAnswer, SourceOffer},
};

/// Runs one server until `stop` is true.
///
/// # Errors
/// See [`ServerError`]; each names the file, address or key that is wrong.
pub async fn run(settings: Settings, stop: watch::Receiver<bool>) -> Result<(), ServerError> {
    run_meddled(settings, stop, None).await
}

/// Runs a server as [`run`] does, with a function that changes the world: so tests see how a server with
/// bad memory behaves. The program itself passes none.
///
/// # Errors
/// See [`run`].
#[doc(hidden)]
pub async fn run_meddled(
    settings: Settings,
    stop: watch::Receiver<bool>,
    meddle: Option<Meddle>,
) -> Result<(), ServerError> {
    let (genesis, encoded) = read_genesis(&settings)?;
    let sim = genesis.id();
    let signer = keys::load(&settings.vote_key)?;
    let node_key = keys::load(&settings.node_key)?;
    let server = signer.public();
    let data_dir = open_data_dir(&settings, &genesis, server)?;
    // What fails most often comes before anything has to be taken down again.
    let bound = http::bind(settings.http_listen).map_err(ServerError::http)?;
    let authority = authority(&settings)?;

    let clock = SystemClock::default();
    let repairs = RepairLog::at(&settings.data_dir);
    let config = replica_config(&genesis, encoded, signer, &settings, repairs.read());
    let damage = data_dir.damage.clone();
    let (replica, store) = data_dir.replica(config.clone(), &genesis, &settings, clock.now())?;
    let height = replica.world().map(World::height).unwrap_or_default();
    tracing::info!(%sim, %server, %height, "starting");
    let Threads { orders, stored, jobs, applied, disk } =
        start_threads(store, history(&settings), meddle)?;
    let metrics = Arc::new(Metrics::default());
    let (peers, peer_events) = start_peers(&settings, &node_key, &metrics).await?;
    let listen_config = listen_config(&settings, &bound, authority.as_ref(), clock)?;
    let ListenConfig { certificates, allowed, .. } = listen_config.clone();
    let (gateway, gateway_events) =
        gateway::start(listen_config, gateway_limits(&settings), Arc::clone(&metrics.transport))?;
    let own_endpoint = own_endpoint(&settings, bound.address(), gateway.address());
    let (status, told) = watch::channel(None);
    let (asked, queries) = mpsc::channel(QUERIES_MAX);
    let session = session(&settings, &genesis, server, gateway.address(), &certificates);
    let (source, invites) = offers(&settings);
    let sockets = gateway.sockets();
    let node =
        routes::Node { status: told, queries: asked, session, sockets, metrics, source, invites };
    let (http, _reloads) = serve(bound, authority, allowed.clone(), node)?;
    let (clients, servers) = (gateway.address(), peers.address());
    tracing::info!(http = %http.address(), %clients, %servers, "listening");
    let join_requests = join_requests(&settings, (sim, server), node_key, peers.contact(), clock);
    let driver = Driver {
        replica,
        config,
        repairs,
        configured: configured(&settings),
        clock,
        peers,
        peer_events,
        gateway,
        gateway_events,
        orders,
        stored,
        jobs,
        applied,
        queries,
        certificates,
        allowed,
        own_endpoint,
        damage,
        diagnostics: Diagnostics::of(&settings.data_dir),
        status,
        addresses: addresses(&settings),
        followers: FollowerFile::open(&settings.data_dir),
        join_requests,
    };
    run_driver(driver, stop, http, disk).await
}

/// Runs a driver until `stop` is true, and ends what it worked with.
async fn run_driver(
    driver: Driver,
    stop: watch::Receiver<bool>,
    http: HttpServer,
    disk: thread::JoinHandle<()>,
) -> Result<(), ServerError> {
    let ended = driver.run(stop).await;
    http.shutdown().await;
    // The disk's thread ends once its orders have: everything appended is on its way to the disk.
    let _joined = tokio::task::spawn_blocking(move || disk.join()).await;
    Ok(ended?)
}

/// Opens the data directory of this server, and notes there whose it is and which program runs it.
fn open_data_dir(
    settings: &Settings,
    genesis: &Genesis,
    server: PublicKey,
) -> Result<DataDir, ServerError> {
    let sim = genesis.id();
    let mut data_dir = DataDir::open(settings, genesis, sim, server)?;
    data_dir.begin_log(settings)?;
    if let Err(error) = engine::note(&settings.data_dir) {
        tracing::warn!(%error, "which program runs here is not noted");
    }
    data_dir::mark_used(&settings.vote_key, sim)?;
    Ok(data_dir)
}

/// Returns how much of the past this server keeps.
fn history(settings: &Settings) -> History {
    if settings.archive { History::Whole } else { History::Turns(HISTORY_TURNS) }
}

// Peers are read by limits that know nothing of what the replica says: its longest message fits into a
// frame, and who relays as much as it may is not slowed.
const _: () = assert!(peers::FRAME_BYTES_MAX >= PEER_FRAME_BYTES_MAX + 4 * 1024);
const _: () = assert!(peers::FRAMES_PER_SECOND >= 2 * RELAYED_PER_SECOND);

/// Starts the connections with other servers.
async fn start_peers(
    settings: &Settings,
    node_key: &SigningKey,
    metrics: &Arc<Metrics>,
) -> Result<(peers::PeersHandle, peers::PeerEvents), ServerError> {
    let (limits, keypair) = (peers::PeersConfig::default(), keys::peer_keypair(node_key));
    Ok(peers::start(keypair, &settings.p2p_listen, limits, Arc::clone(&metrics.transport)).await?)
}

/// Returns what the HTTP server hands out: the program's source, and the invites of this node.
fn offers(settings: &Settings) -> (Arc<SourceOffer>, InviteStore) {
    let source = Arc::new(SourceOffer::new(settings.source_url.clone()));
    (source, InviteStore::at(&settings.data_dir))
}

/// Returns how many clients may connect, in all and from one address.
fn gateway_limits(settings: &Settings) -> GatewayLimits {
    GatewayLimits {
        clients_max: settings.clients_max,
        clients_per_ip_max: settings.clients_per_ip_max,
        ..GatewayLimits::default()
    }
}

/// Returns the certificate for pages, if there is one.
fn authority(settings: &Settings) -> Result<Option<AuthorityFiles>, AuthorityFileError> {
    settings.tls.as_ref().map(|(chain, key)| AuthorityFiles::open(chain, key)).transpose()
}

/// Returns where the gateway listens, and whom it lets in.
fn listen_config(
    settings: &Settings,
    bound: &http::ListeningSockets,
    authority: Option<&AuthorityFiles>,
    clock: SystemClock,
) -> Result<ListenConfig, TlsCertificateError> {
    let file = CertificateFile::at(settings.data_dir.join(CERTIFICATES));
    let own = Certificates::open(Box::new(file), clock.now().wall)?;
    let (listen, allowed) = (settings.client_listen, allowed(settings, bound));
    Ok(ListenConfig {
        listen,
        certificates: own.with(authority.map(|files| files.authority().clone())),
        allowed,
        trusted: settings.trusted_sources.clone(),
        is_login: metatopia_protocol::is_login,
    })
}

/// Starts HTTP, under TLS if there is a certificate. Returns the task that reloads it, too.
fn serve(
    bound: http::ListeningSockets,
    authority: Option<AuthorityFiles>,
    allowed: Allowed,
    node: routes::Node,
) -> Result<(HttpServer, Option<AbortOnDropHandle<()>>), ServerError> {
    let http = match &authority {
        None => routes::start(bound, allowed, node),
        Some(files) => routes::start_secure(bound, files.authority(), allowed, node)?,
    };
    Ok((http, authority.map(reloads).transpose()?))
}

/// Reloads the certificate at each SIGHUP.
fn reloads(files: AuthorityFiles) -> Result<AbortOnDropHandle<()>, ServerError> {
    let mut told = signal(SignalKind::hangup()).map_err(ServerError::Signal)?;
    Ok(AbortOnDropHandle::new(tokio::spawn(async move {
        while told.recv().await.is_some() {
            match files.reload() {
                Ok(()) => tracing::info!("the certificate was read again"),
                Err(error) => tracing::error!(%error, "the certificate in use stays"),
            }
        }
    })))
}

/// Returns the requests to be let in by servers, or none if this node has no invite of this sim.
fn join_requests(
    settings: &Settings,
    (sim, server): (SimId, PublicKey),
    node: SigningKey,
    contact: NodeContact,
    clock: SystemClock,
) -> Option<JoinRequests> {
    let invite = InviteFile::at(&settings.data_dir).invite();
    let invite = invite.filter(|invite| invite.invite.sim() == sim)?;
    let stands_by = invite.invite.grant == Grant::StandBy;
    let applicant = stands_by.then_some(Applicant { key: server, contact });
    let request = JoinRequest { invite, applicant };
    Some(JoinRequests::new(request, node, clock.now().monotonic))
}

/// The folder in the data directory with the certificates for clients, and their keys.
const CERTIFICATES: &str = "client-certificates";

/// Returns the origins whose pages may connect, before the other servers are known.
fn allowed(settings: &Settings, bound: &http::ListeningSockets) -> Allowed {
    let announced = settings.announce_http.as_ref();
    Allowed::by(scheme(settings), settings.http_origins.clone(), bound.address(), announced)
}

fn scheme(settings: &Settings) -> UrlScheme {
    if settings.tls.is_some() { UrlScheme::Https } else { UrlScheme::Http }
}

/// Returns what a client needs to connect.
fn session(
    settings: &Settings,
    genesis: &Genesis,
    server: PublicKey,
    quic: SocketAddr,
    certificates: &Certificates,
) -> Arc<SessionAnswer> {
    Arc::new(SessionAnswer {
        sim: genesis.id(),
        name: genesis.name.clone(),
        parent: genesis.parent.as_ref().map(routes::ParentAnswer::from),
        server,
        quic,
        announced_quic: settings.announce_quic.as_ref().map(ToString::to_string),
        certificates: certificates.clone(),
        wire_version: metatopia_protocol::VERSION,
    })
}

/// Returns the endpoint to announce. A server that listens on all addresses does not know it.
fn own_endpoint(settings: &Settings, http: SocketAddr, quic: SocketAddr) -> Option<OwnEndpoint> {
    let known = |address: SocketAddr| (!address.ip().is_unspecified()).then_some(address);
    let own_http = || known(http).map(|at| WebOrigin::at(scheme(settings), &in_url(at), at.port()));
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
    Some(OwnEndpoint { http: http.to_string(), quic, certificates: Vec::new() })
}

/// The threads that may block, and the channels to and from them.
struct Threads {
    orders: mpsc::Sender<Order>,
    stored: mpsc::Receiver<Done>,
    jobs: mpsc::Sender<executor::Job>,
    applied: mpsc::Receiver<executor::AppliedWorld>,
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
    let disk = disk_thread::start(store, history, ordered, done).map_err(no_thread)?;
    executor::start(pool, jobbed, finished, meddle).map_err(no_thread)?;
    Ok(Threads { orders, stored, jobs, applied, disk })
}

fn read_genesis(settings: &Settings) -> Result<(Genesis, Vec<u8>), ServerError> {
    let path = &settings.genesis;
    let bytes = fs::read(path)
        .map_err(|source| ServerError::ReadGenesis { path: path.to_owned(), source })?;
    engine::check(&settings.data_dir, &bytes)?;
    let genesis = Genesis::decode(&bytes).map_err(|source| ServerError::Genesis {
        path: path.to_owned(),
        source: Box::new(source),
    })?;
    Ok((genesis, bytes))
}

fn replica_config(
    genesis: &Genesis,
    encoded: Vec<u8>,
    signer: SigningKey,
    settings: &Settings,
    repairs: Vec<Millis>,
) -> Config {
    let sim = genesis.id();
    let ticks = u64::from(genesis.parameters.ticks_per_turn);
    let turn_length = (ticks * 1_000 / TICKS_PER_SECOND).max(1);
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).expect("the operating system gives random bytes");
    let agreement = consensus::AgreementConfig {
        sim,
        engine: ENGINE,
        turn_length,
        signer: Arc::new(signer),
        scheme: Arc::new(Ed25519),
        // The log says whether this server may sign.
        fresh_key: false,
        silent: false,
        patience: consensus::Patience::default(),
    };
    let turns_per_second = u32::try_from(1_000 / turn_length).unwrap_or(1).max(1);
    let genesis = Arc::new(encoded);
    let Settings { snapshot_turns, behind_turns, .. } = *settings;
    Config {
        sim,
        genesis,
        agreement,
        turns_per_second,
        snapshot_turns,
        behind_turns,
        repairs,
        seed,
    }
}

/// Returns the servers of the configuration, to be asked when nothing but genesis is known.
fn configured(settings: &Settings) -> BTreeMap<PublicKey, NodeContact> {
    let contact = |peer: &PeerConfig| {
        let (peer_id, address) = (peer.peer_id.to_string(), peer.address.to_string());
        (peer.key, NodeContact { peer_id, address })
    };
    settings.peers.iter().map(contact).collect()
}

fn addresses(settings: &Settings) -> BTreeMap<PublicKey, Vec<Multiaddr>> {
    settings.peers.iter().map(|peer| (peer.key, vec![peer.address.clone()])).collect()
}
