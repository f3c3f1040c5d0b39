//! The server of one sim: it puts disk, world, peers and gateway around a replica.
//!
//! [`host`](crate::host) runs one or several servers in a process, and answers HTTP for all of
//! them.

mod data_dir;
mod error;
mod in_world;

use std::{collections::BTreeMap, fs, io, net::SocketAddr, sync::Arc, thread};

use libp2p::Multiaddr;
use metatopia_consensus as consensus;
use metatopia_protocol::{Applicant, Grant, JoinRequest};
use metatopia_replica::{
    CLIENTS_MAX, Config, OwnEndpoint, PEER_FRAME_BYTES_MAX,
    keeper::{Done, HISTORY_TURNS, History, Order},
    mempool::RELAYED_PER_SECOND,
};
use metatopia_sim::{ENGINE, Genesis, World};
use metatopia_store::Store;
use metatopia_transport::{
    authority::Authority,
    certificates::{Certificates, TlsCertificateError},
    figures::TransportFigures,
    gateway::{self, GatewayHandle, GatewayLimits, ListenConfig},
    http::{Allowed, UrlScheme, WebOrigin, in_url},
    peers,
};
use metatopia_types::{
    Ed25519, Height, Millis, NodeContact, PublicKey, Sign, SigningKey, SimId,
    limits::TICKS_PER_SECOND,
};
use tokio::sync::{mpsc, watch};

use self::data_dir::DataDir;
pub use self::error::ServerError;
use crate::{
    ahead::{AheadExecutor, CompileQueue},
    certificate_file::CertificateFile,
    clock::SystemClock,
    config::{PeerConfig, Settings},
    courier::{
        Couriers,
        address_book::{AddressBook, NeighbourFile},
    },
    diagnostics::Diagnostics,
    disk::RealDisk,
    disk_thread::{self, ORDERS_MAX},
    driver::Driver,
    engine,
    executor::{self, Meddle, Pool},
    host,
    joining::{InviteFile, InviteStore, JoinRequests},
    keys,
    metrics::SimFigures,
    overlay::CurrentPlace,
    peer_set::FollowerFile,
    repair_log::RepairLog,
    routes::{self, SessionAnswer},
};

/// Runs the server of one sim in a process of its own until `stop` is true.
///
/// # Errors
/// See [`ServerError`]; each names the file, address or key that is wrong.
pub async fn run(settings: Settings, stop: watch::Receiver<bool>) -> Result<(), ServerError> {
    host::run(vec![settings], stop).await
}

/// Runs a server as [`run`] does, with a function that changes the world, so that tests see how a
/// server with bad memory behaves. The program itself passes none.
///
/// # Errors
/// See [`run`].
#[doc(hidden)]
pub async fn run_meddled(
    settings: Settings,
    stop: watch::Receiver<bool>,
    meddle: Option<Meddle>,
) -> Result<(), ServerError> {
    host::run_meddled(vec![(settings, meddle)], stop).await
}

/// A sim that a process hosts: its genesis, and the settings of its server.
#[derive(Debug)]
pub(crate) struct ConfiguredSim {
    pub(crate) settings: Settings,
    pub(crate) genesis: Genesis,
    /// The bytes of the genesis file.
    encoded: Vec<u8>,
}

impl ConfiguredSim {
    /// Reads the genesis that the settings name.
    ///
    /// # Errors
    /// Fails when there is no genesis, or it is of another engine than this program.
    pub(crate) fn read(settings: Settings) -> Result<Self, ServerError> {
        let (genesis, encoded) = read_genesis(&settings)?;
        Ok(Self { settings, genesis, encoded })
    }

    pub(crate) fn sim(&self) -> SimId {
        self.genesis.id()
    }

    /// Returns the origins whose pages may connect, before the other servers are known. Pages come
    /// from the address `http`.
    pub(crate) fn allowed(&self, http: SocketAddr) -> Allowed {
        let settings = &self.settings;
        let announced = settings.announce_http.as_ref();
        Allowed::by(scheme(settings), settings.http_origins.clone(), http, announced)
    }
}

/// A server whose keys are read and whose data directory is open. No other process can open that
/// directory now.
pub(crate) struct ClaimedServer {
    signer: SigningKey,
    node_key: SigningKey,
    data_dir: DataDir,
}

impl ClaimedServer {
    /// Reads the keys of a sim's server, and opens its data directory.
    ///
    /// # Errors
    /// Fails when one of them cannot be used.
    pub(crate) fn claim(configured: &ConfiguredSim) -> Result<Self, ServerError> {
        let ConfiguredSim { settings, genesis, .. } = configured;
        let signer = keys::load(&settings.vote_key)?;
        let node_key = keys::load(&settings.node_key)?;
        let data_dir = open_data_dir(settings, genesis, signer.public())?;
        Ok(Self { signer, node_key, data_dir })
    }
}

/// The parts that the servers of a process share.
pub(crate) struct SharedParts {
    pub(crate) clock: SystemClock,
    /// The address at which the process listens for HTTP.
    pub(crate) http: SocketAddr,
    /// The certificate for pages, if there is one.
    pub(crate) authority: Option<Authority>,
    /// The threads on which scripts run, for one world at a time or for several.
    pub(crate) pool: Arc<Pool>,
}

/// A server that listens, and whose loop does not run yet.
pub(crate) struct ListeningServer {
    pub(crate) driver: Driver,
    /// The thread of the disk, which ends once the loop has and all orders are carried out.
    pub(crate) disk: thread::JoinHandle<()>,
    /// The part that answers for the server by HTTP.
    pub(crate) node: routes::Node,
}

/// Starts the threads of a server, and listens for peers and clients.
///
/// # Errors
/// See [`ServerError`].
pub(crate) async fn start(
    configured: &ConfiguredSim,
    claimed: ClaimedServer,
    shared: &SharedParts,
    allowed: Allowed,
    figures: Arc<SimFigures>,
    meddle: Option<Meddle>,
) -> Result<ListeningServer, ServerError> {
    let ConfiguredSim { settings, genesis, encoded } = configured;
    let ClaimedServer { signer, node_key, data_dir } = claimed;
    let (sim, server, clock) = (genesis.id(), signer.public(), shared.clock);
    let repairs = RepairLog::at(&settings.data_dir);
    let config = replica_config(genesis, encoded.clone(), signer, settings, repairs.read());
    let (damage, compiled) = (data_dir.damage.clone(), Arc::clone(&data_dir.compiled));
    let (replica, store) = data_dir.replica(config.clone(), genesis, settings, clock.now())?;
    let height = replica.world().map(World::height).unwrap_or_default();
    tracing::info!(%sim, %server, %height, "starting");
    let Threads { orders, stored, jobs, applied, disk, ahead } =
        start_threads(store, history(settings), Arc::clone(&shared.pool), compiled, meddle)?;
    let (transport, published) = (&figures.transport, Arc::clone(&figures.overlay));
    let (peers, peer_events) = start_peers(settings, &node_key, transport).await?;
    let listen_config = listen_config(settings, shared, allowed.clone())?;
    let certificates = listen_config.certificates.clone();
    let (gateway, gateway_events) =
        gateway::start(listen_config, gateway_limits(settings), Arc::clone(transport))?;
    let (clients, servers) = (gateway.address(), peers.address());
    tracing::info!(http = %shared.http, %clients, %servers, "listening");
    let own_endpoint = own_endpoint(settings, shared.http, clients);
    let (status, told) = watch::channel(None);
    let (asked, queries) = routes::queries();
    let session = session(settings, genesis, server, clients, &certificates);
    let said = (session, Arc::clone(&config.genesis).into());
    // The state before the first turn says no more than the genesis.
    let begun = replica.world().filter(|world| world.height() > Height(0));
    let site = begun.and_then(|world| world.charter().site);
    let world = in_world::start(
        settings,
        (genesis, site),
        (shared.http, servers),
        (told.clone(), allowed.clone(), published),
    )
    .await?;
    let node = node(settings, (told, asked), said, &gateway, figures);
    let couriers = couriers(settings, sim, world.as_ref());
    let node = routes::Node { world, ..node };
    let join_requests = join_requests(settings, (sim, server), node_key, peers.contact(), clock);
    let driver = Driver {
        replica,
        config,
        repairs,
        configured: configured_peers(settings),
        clock,
        peers,
        peer_events,
        gateway,
        gateway_events,
        orders,
        stored,
        jobs,
        applied,
        ahead,
        queries,
        certificates,
        allowed,
        own_endpoint,
        damage,
        diagnostics: Diagnostics::of(&settings.data_dir),
        status,
        addresses: addresses(settings),
        followers: FollowerFile::open(&settings.data_dir),
        join_requests,
        couriers,
    };
    Ok(ListeningServer { driver, disk, node })
}

/// Starts the couriers of a server.
fn couriers(settings: &Settings, sim: SimId, world: Option<&CurrentPlace>) -> Couriers {
    let book = AddressBook {
        configured: settings.neighbours.clone(),
        file: NeighbourFile::at(&settings.data_dir),
        announced: NeighbourFile::announced(&settings.data_dir),
        overlay: world.cloned(),
    };
    Couriers::start(sim, book)
}

/// Returns the part that answers for a server by HTTP: it reads what the loop publishes, and passes
/// questions to the loop.
fn node(
    settings: &Settings,
    (status, queries): (watch::Receiver<Option<routes::StatusAnswer>>, mpsc::Sender<routes::Query>),
    (session, genesis): (Arc<SessionAnswer>, routes::GenesisBytes),
    gateway: &GatewayHandle,
    figures: Arc<SimFigures>,
) -> routes::Node {
    let (sockets, invites) = (gateway.sockets(), InviteStore::at(&settings.data_dir));
    routes::Node { status, queries, session, genesis, sockets, figures, invites, world: None }
}

/// Opens the data directory of this server, and notes in it which server it belongs to and which
/// program runs it.
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

// The limits of the transport know nothing of the replica's messages: the longest message must fit
// into a frame, and a peer that relays as much as it may must not be slowed.
const _: () = assert!(peers::FRAME_BYTES_MAX >= PEER_FRAME_BYTES_MAX + 4 * 1024);
const _: () = assert!(peers::FRAMES_PER_SECOND >= 2 * RELAYED_PER_SECOND);

/// Starts the connections with other servers.
async fn start_peers(
    settings: &Settings,
    node_key: &SigningKey,
    figures: &Arc<TransportFigures>,
) -> Result<(peers::PeersHandle, peers::PeerEvents), ServerError> {
    let (limits, keypair) = (peers::PeersConfig::default(), keys::peer_keypair(node_key));
    Ok(peers::start(keypair, &settings.p2p_listen, limits, Arc::clone(figures)).await?)
}

/// Returns how many clients may connect, in all and from one address.
fn gateway_limits(settings: &Settings) -> GatewayLimits {
    GatewayLimits {
        clients_max: settings.clients_max,
        clients_per_ip_max: settings.clients_per_ip_max,
        ..GatewayLimits::default()
    }
}

/// Returns where the gateway listens, and which clients it lets in.
fn listen_config(
    settings: &Settings,
    shared: &SharedParts,
    allowed: Allowed,
) -> Result<ListenConfig, TlsCertificateError> {
    let file = CertificateFile::at(settings.data_dir.join(CERTIFICATES));
    let own = Certificates::open(Box::new(file), shared.clock.now().wall)?;
    Ok(ListenConfig {
        listen: settings.client_listen,
        certificates: own.with(shared.authority.clone()),
        allowed,
        trusted: settings.trusted_sources.clone(),
        brings_in: metatopia_protocol::brings_in,
    })
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

fn scheme(settings: &Settings) -> UrlScheme {
    if settings.tls.is_some() { UrlScheme::Https } else { UrlScheme::Http }
}

/// Returns the facts that a client needs to connect.
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
        clients_max: u64::from(settings.clients_max).min(CLIENTS_MAX as u64),
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
    ahead: CompileQueue,
}

fn start_threads(
    store: Store<RealDisk>,
    history: History,
    pool: Arc<Pool>,
    compiled: Arc<AheadExecutor>,
    meddle: Option<Meddle>,
) -> Result<Threads, ServerError> {
    let (orders, ordered) = mpsc::channel(ORDERS_MAX);
    // Each order has at most one answer, so the thread of the disk never waits for the loop.
    let (done, stored) = mpsc::channel(2 * ORDERS_MAX);
    let (jobs, jobbed) = mpsc::channel(1);
    let (finished, applied) = mpsc::channel(1);
    let no_thread = |error: io::Error| ServerError::Thread(error.to_string());
    let disk = disk_thread::start(store, history, ordered, done).map_err(no_thread)?;
    executor::start(pool, jobbed, finished, meddle).map_err(no_thread)?;
    let ahead = CompileQueue::start(compiled).map_err(no_thread)?;
    Ok(Threads { orders, stored, jobs, applied, disk, ahead })
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

/// Returns the servers of the configuration, which are asked when only genesis is known.
fn configured_peers(settings: &Settings) -> BTreeMap<PublicKey, NodeContact> {
    let contact = |peer: &PeerConfig| {
        let (peer_id, address) = (peer.peer_id.to_string(), peer.address.to_string());
        (peer.key, NodeContact { peer_id, address })
    };
    settings.peers.iter().map(contact).collect()
}

fn addresses(settings: &Settings) -> BTreeMap<PublicKey, Vec<Multiaddr>> {
    settings.peers.iter().map(|peer| (peer.key, vec![peer.address.clone()])).collect()
}
