//! `node join` runs a follower of a sim, on any machine, from nothing but an invite.

use std::{
    fmt,
    io::{self, IsTerminal as _, Write as _},
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Args;
use libp2p::Multiaddr;
use metatopia_client_driver::{GenesisTrust, NodeUrl, http};
use metatopia_protocol::{Applicant, Grant, SignedInvite};
use metatopia_replica::{BEHIND_TURNS, encode_snapshot, fetch::Fetch};
use metatopia_store::{
    DiskError, Folder, Identity, IdentityError, OpenStoreError, ReadDisk as _, Snapshot,
    claim_identity, list_snapshots, put_snapshot, read_identity,
};
use metatopia_types::{Ed25519, Height, NodeContact, Sign, SigningKey, SimId, Trust};
use serde::Serialize;
use tokio::time::sleep;

use super::{log_to_stderr, stop_signal};
use crate::{
    atomic_file,
    cli::{Failure, console::Console, exit::Exit, invite, ports},
    clock::SystemClock,
    config::{self, Layer, LogLevel, PeerConfig, WrittenConfig},
    disk::RealDisk,
    joining::{self, AdmittingServer, InviteFile, JoinError, JoinNotice, Pieces},
    keys,
    server::{self, ServerError},
};

/// The configuration file that is written for the node.
const CONFIG: &str = "metatopia.toml";

/// The time between two questions whether the node follows.
const ASK: Duration = Duration::from_millis(20);

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    metatopia node join metatopia2/.. --data-dir ~/follower\n  \
    metatopia node join --data-dir ~/follower              again, on what is there\n\n\
    The servers that the invite names let the node in. The node fetches a state that they certify \
    from\nseveral of them, checks every byte, follows the turns that are decided from then on, and \
    serves clients\nas a server does, without a vote. After an interruption it goes on where it \
    was. It writes metatopia.toml\ninto its directory. What you set there besides paths, addresses \
    and peers stays.")]
pub(in crate::cli) struct NodeJoinArgs {
    /// The invite: its text, an address that ends in it, or a file that holds it [default: the one
    /// by which this directory joined].
    invite: Option<String>,
    /// The directory of all the node's files.
    #[arg(long, value_name = "DIR")]
    data_dir: PathBuf,
    /// TCP address of its HTTP server [default: as at the last start, else 127.0.0.1 and a free
    /// port].
    #[arg(long, value_name = "ADDRESS")]
    http_listen: Option<SocketAddr>,
    /// UDP address for its clients [default: as at the last start, else 127.0.0.1 and a free port].
    #[arg(long, value_name = "ADDRESS")]
    client_listen: Option<SocketAddr>,
    /// TCP address for servers, for the case that the node votes one day [default: as at the last
    /// start, else 127.0.0.1 and a free port].
    #[arg(long, value_name = "MULTIADDRESS")]
    p2p_listen: Option<Multiaddr>,
    /// Stop when standard input ends.
    #[arg(long, hide = true)]
    until_stdin_ends: bool,
}

/// The line that says that the node follows.
#[derive(Debug, Serialize)]
struct FollowingLine {
    ready: bool,
    sim: String,
    server: String,
    http: String,
    servers: usize,
    height: u64,
    /// The height of the fetched state; nothing if the node began at genesis, or with its own
    /// state.
    snapshot_height: Option<u64>,
    fetched_bytes: u64,
    seconds: f64,
}

impl fmt::Display for FollowingLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sim, server, http, height, seconds, .. } = self;
        writeln!(f, "Following sim {sim} at height {height} after {seconds:.1} s")?;
        writeln!(f, "clients can connect to {http}\n")?;
        write!(f, "To make it vote, an admin runs: metatopia admin promote {server} --key FILE")
    }
}

/// The directory of a node that joins, and what the node needs from it.
struct FollowerDirectory {
    dir: PathBuf,
    /// The open disk, which keeps other processes from writing there.
    disk: RealDisk,
    sim: SimId,
    vote: SigningKey,
    node: Arc<SigningKey>,
    listens: Listens,
}

/// The addresses that a node listens on.
#[derive(Clone)]
struct Listens {
    http: SocketAddr,
    clients: SocketAddr,
    p2p: Multiaddr,
}

/// The facts about a fetched state.
#[derive(Clone, Copy, Default)]
struct FetchSummary {
    height: Option<Height>,
    bytes: u64,
}

pub(super) fn run(args: NodeJoinArgs, console: Console) -> Result<(), Failure> {
    let set = config::environment(config::variables())?;
    let level = if console.is_json() { LogLevel::Warn } else { LogLevel::Info };
    log_to_stderr(set.log.unwrap_or(level), set.log_format.unwrap_or_default())?;
    crate::cli::wait(join(args, console))
}

async fn join(args: NodeJoinArgs, console: Console) -> Result<(), Failure> {
    let began = Instant::now();
    let stop = stop_signal(args.until_stdin_ends)
        .map_err(|error| Failure::failed(format!("cannot wait for signals: {error}")))?;
    let signed = the_invite(&args).await?;
    let mut place = FollowerDirectory::prepare(&args, signed.invite.sim())?;
    let mut bar = Bar::new(console);
    let mut told = |note| bar.tell(note);
    let applicant = (signed.invite.grant == Grant::StandBy).then(|| place.applicant());
    let node: Arc<dyn Sign> = place.node.clone();
    let (trust, hosts) = joining::enter(&signed, node, applicant, &mut told).await?;
    place.write(&signed, &trust, &hosts)?;
    let servers = hosts.len();
    let offered = hosts.iter().map(|host| host.offers).max().unwrap_or_default();
    let fetched = match place.state()? {
        Some(own) if offered <= own.plus(BEHIND_TURNS) => FetchSummary::default(),
        _ => fetch(&mut place, &signed, &trust, hosts, &mut told).await?,
    };
    bar.end();
    let FollowerDirectory { dir, disk, vote, .. } = place;
    // The server locks the directory itself.
    drop(disk);
    let settings = config::settle([config::read(&dir.join(CONFIG))?])?;
    let url: NodeUrl = format!("http://{}", settings.http_listen)
        .parse()
        .map_err(|error| Failure::usage(format!("--http-listen: {error}")))?;
    let told = async {
        let height = until_following(&url).await;
        let line = FollowingLine {
            ready: true,
            sim: trust.sim.to_string(),
            server: vote.public().to_string(),
            http: url.to_string(),
            servers,
            height,
            snapshot_height: fetched.height.map(|height| height.0),
            fetched_bytes: fetched.bytes,
            seconds: began.elapsed().as_secs_f64(),
        };
        if let Err(failure) = console.show(&line) {
            console.error(&failure);
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        ended = server::run(settings, stop) => Ok(ended?),
        () = told => Ok(()),
    }
}

/// Returns the invite of the command line, or the kept one. It is whole and valid.
async fn the_invite(args: &NodeJoinArgs) -> Result<SignedInvite, Failure> {
    let kept = InviteFile::at(&args.data_dir);
    let Some(given) = &args.invite else {
        let text = kept.read().map_err(|_| {
            Failure::usage(format!("no invite is given, and {kept} holds none"))
                .hint("ask somebody who follows the sim for one")
        })?;
        return Ok(SignedInvite::read(&text)?);
    };
    let signed = invite::read(given).await?;
    signed.check(SystemClock::default().now().wall, &Ed25519)?;
    Ok(signed)
}

impl FollowerDirectory {
    /// Creates the directory and its keys, if they are not there. Refuses the directory of another
    /// sim or server, and changes nothing in it, because it may hold the last copy of a sim.
    fn prepare(args: &NodeJoinArgs, sim: SimId) -> Result<Self, Failure> {
        let dir = &args.data_dir;
        let disk = RealDisk::open(dir).map_err(ServerError::from)?;
        let claimed = read_identity(&disk).map_err(|error| not_ours(dir, error))?;
        let key = |name: &str, is_old: bool| -> Result<SigningKey, Failure> {
            let path = dir.join(name);
            if is_old || path.exists() { Ok(keys::load(&path)?) } else { Ok(keys::create(&path)?) }
        };
        let vote = key("vote.key", claimed.is_some())?;
        if let Some(claimed) = claimed {
            let own = Identity { sim, server: vote.public() };
            claimed.check(&own).map_err(|error| not_ours(dir, error))?;
        }
        let node = Arc::new(key("node.key", false)?);
        let config = dir.join(CONFIG);
        let before = if config.exists() { config::read(&config)? } else { Layer::default() };
        let free = ports::choose(1, 0)?[0];
        let http = match args.http_listen.or(before.http_listen) {
            Some(address) if address.port() != 0 => address,
            other => {
                let ip = other.map_or(Ipv4Addr::LOCALHOST.into(), |address| address.ip());
                SocketAddr::new(ip, free.http_address().port())
            }
        };
        let clients = args.client_listen.or(before.client_listen);
        let p2p = args.p2p_listen.clone().or(before.p2p_listen);
        let listens = Listens {
            http,
            clients: clients.unwrap_or_else(|| (Ipv4Addr::LOCALHOST, 0).into()),
            p2p: p2p.unwrap_or_else(|| free.p2p_address()),
        };
        Ok(Self { dir: dir.clone(), disk, sim, vote, node, listens })
    }

    fn applicant(&self) -> Applicant {
        let peer_id = keys::peer_keypair(&self.node).public().to_peer_id().to_string();
        let address = self.listens.p2p.to_string();
        Applicant { key: self.vote.public(), contact: NodeContact { peer_id, address } }
    }

    /// Returns the height of the newest state that this node has kept, or none if it never ran.
    fn state(&self) -> Result<Option<Height>, Failure> {
        let failed = |error: DiskError| Failure::failed(error.to_string());
        let newest = list_snapshots(&self.disk).map_err(failed)?.first().map(|(height, _)| *height);
        let has_log = !self.disk.list(Folder::Log).map_err(failed)?.is_empty();
        Ok(newest.or(has_log.then_some(Height(0))))
    }

    /// Writes the identity of the directory, and then the files that `node run` needs.
    fn write(
        &mut self,
        invite: &SignedInvite,
        trust: &GenesisTrust,
        hosts: &[AdmittingServer],
    ) -> Result<(), Failure> {
        let own = Identity { sim: self.sim, server: self.vote.public() };
        claim_identity(&mut self.disk, &own).map_err(|error| not_ours(&self.dir, error))?;
        let genesis = self.dir.join("genesis");
        atomic_file::replace(&genesis, &trust.genesis.encode())
            .map_err(|error| Failure::failed(format!("{}: {error}", genesis.display())))?;
        let kept = InviteFile::at(&self.dir);
        kept.keep(invite).map_err(|error| Failure::failed(format!("{kept}: {error}")))?;
        let peer = |host: &AdmittingServer| {
            let NodeContact { peer_id, address } = &host.contact;
            let (peer_id, address) = (peer_id.parse().ok()?, address.parse().ok()?);
            Some(PeerConfig { key: host.key, peer_id, address })
        };
        let Listens { http, clients, p2p } = self.listens.clone();
        let config = WrittenConfig {
            data_dir: Path::new("."),
            genesis: Path::new("genesis"),
            http_listen: http,
            client_listen: clients,
            clients_per_ip_max: None,
            limits: None,
            p2p_listen: p2p,
            overlay_listen: None,
            overlay_lan: None,
            // A server that told no address is found through those that did.
            peers: hosts.iter().filter_map(peer).collect(),
        };
        Ok(config.write(&self.dir.join(CONFIG), "node join")?)
    }
}

/// Returns the failure that the server itself would report for this directory.
fn not_ours(dir: &Path, error: IdentityError) -> Failure {
    let is_foreign =
        matches!(error, IdentityError::ForeignSim { .. } | IdentityError::ForeignServer { .. });
    let source = Box::new(OpenStoreError::Identity(error));
    let failure = Failure::from(ServerError::Store { path: dir.to_owned(), source });
    if is_foreign { failure.hint("name another place by --data-dir") } else { failure }
}

/// Fetches a state and puts it where a start looks for it.
async fn fetch(
    place: &mut FollowerDirectory,
    signed: &SignedInvite,
    trust: &GenesisTrust,
    hosts: Vec<AdmittingServer>,
    told: &mut dyn FnMut(JoinNotice),
) -> Result<FetchSummary, Failure> {
    let invite = &signed.invite;
    // The validators of the checkpoint vote at its own height too, and what the checkpoint states
    // is believed already. So the start is one height before it.
    let before = invite.header.height.minus(1).unwrap_or_default();
    let start = Trust { height: before, validators: invite.validators.clone() };
    let genesis = trust.light().set(Height(1)).ok().cloned();
    let fetch = Fetch::new(trust.sim, start, genesis, Arc::new(Ed25519));
    let pieces = Pieces::open(&place.dir).map_err(JoinError::from)?;
    let Some(fetched) = joining::fetch(fetch, hosts, &pieces, told).await? else {
        pieces.remove().map_err(JoinError::from)?;
        return Ok(FetchSummary::default());
    };
    let bytes = fetched.manifest.leaves.iter().map(|leaf| u64::from(leaf.bytes)).sum();
    let tools = metatopia_audit::tools();
    let (base, world) = fetched.open(&tools).map_err(|error| {
        Failure::new(Exit::Unverified, error.to_string())
            .hint("this program follows other rules than the servers; use the version they run")
    })?;
    drop(fetched);
    let (height, root) = (world.height(), world.root());
    let snapshot = Snapshot { height, root, bytes: encode_snapshot(&base, &world) };
    put_snapshot(&mut place.disk, &snapshot).map_err(|error| Failure::failed(error.to_string()))?;
    pieces.remove().map_err(JoinError::from)?;
    Ok(FetchSummary { height: Some(height), bytes })
}

/// Waits until the node says that it is ready, and returns its height.
async fn until_following(url: &NodeUrl) -> u64 {
    loop {
        if http::get_text(url.join("/health/ready")).await.is_ok()
            && let Ok(status) = crate::cli::status::ServerStatus::ask(url, None).await
        {
            return status.height;
        }
        sleep(ASK).await;
    }
}

impl From<JoinError> for Failure {
    fn from(error: JoinError) -> Self {
        let message = error.to_string();
        match error {
            JoinError::Unreachable(_) => {
                Self::timed_out(message).hint("are they running, and reached from here?")
            }
            JoinError::Refused(_) => Self::refused(message).hint("ask for a new invite"),
            JoinError::Alone(_) => Self::unverified(message),
            JoinError::Pieces(_) => Self::failed(message),
        }
    }
}

/// Shows progress on one line of a terminal, or prints a line now and then.
struct Bar {
    console: Console,
    terminal: bool,
    drawn: bool,
    told: Option<Instant>,
}

impl Bar {
    const WIDTH: usize = 30;
    const PAUSE: Duration = Duration::from_secs(1);

    fn new(console: Console) -> Self {
        let terminal = io::stderr().is_terminal() && !console.is_json();
        Self { console, terminal, drawn: false, told: None }
    }

    fn tell(&mut self, note: JoinNotice) {
        match note {
            JoinNotice::Without { url, why } => {
                self.end();
                self.console.warn(&format!("without {url}: {why}"));
            }
            JoinNotice::Progress(progress) => {
                let Some(height) = progress.height else {
                    return;
                };
                let percent = (progress.bytes * 100).checked_div(progress.total).unwrap_or(0);
                let shares: Vec<String> = progress
                    .providers
                    .iter()
                    .filter(|(_, bytes, _)| *bytes > 0)
                    .map(|(key, bytes, _)| {
                        let name = key.to_string();
                        format!("{} {} KiB", &name[..6], bytes / 1_024)
                    })
                    .collect();
                let (kib, total) = (progress.bytes / 1_024, progress.total / 1_024);
                let facts = format!(
                    "{percent:3} %  {kib} of {total} KiB of height {height}  {}",
                    shares.join(", ")
                );
                self.draw(percent, &facts);
            }
        }
    }

    fn draw(&mut self, percent: u64, facts: &str) {
        if self.terminal {
            let filled = Self::WIDTH * usize::try_from(percent.min(100)).unwrap_or(0) / 100;
            let bar = format!("{}{}", "#".repeat(filled), ".".repeat(Self::WIDTH - filled));
            // If standard error is closed, nobody can be told.
            let _ = write!(io::stderr().lock(), "\r\x1b[K[{bar}] {facts}");
            self.drawn = true;
        } else if self.told.is_none_or(|last| last.elapsed() >= Self::PAUSE) {
            self.told = Some(Instant::now());
            self.console.note(facts);
        }
    }

    fn end(&mut self) {
        if core::mem::take(&mut self.drawn) {
            let _ = writeln!(io::stderr().lock());
        }
    }
}
