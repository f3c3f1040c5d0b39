//! One process that hosts sims: a server for each of them, and one HTTP listener for all.
//!
//! Each sim keeps its own data directory, replica, peers and clients, and its loop has a thread of its
//! own. The sims share the HTTP listener, the threads for scripts, and what the system grants a process.
//! A sim that cannot be started, or ends, ends alone: the others go on, and HTTP says why it ended. The
//! process ends once it is told to stop, or once no sim is left.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    thread,
};

use futures::{StreamExt as _, stream::FuturesUnordered};
use metatopia_transport::http;
use metatopia_types::SimId;
use tokio::{
    runtime::Handle,
    signal::unix::{SignalKind, signal},
    sync::{oneshot, watch},
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use tracing::Instrument as _;

use crate::{
    authority_files::AuthorityFiles,
    clock::SystemClock,
    config::Settings,
    driver::{Driver, DriverError},
    executor::{Meddle, Pool, STACK_BYTES},
    metrics::Metrics,
    routes::{self, HostedSim, HostedSims, SourceOffer},
    server::{self, ClaimedServer, ConfiguredSim, ListeningServer, ServerError, SharedParts},
};

/// Digits of a sim's id in the lines of the log.
const ID_DIGITS: usize = 8;

/// Runs the servers of these settings in one process until `stop` is true. The first of them answers
/// requests that name no sim, and says what holds for the process: the address of HTTP, its
/// certificate, and where the source is.
///
/// # Errors
/// The first error of a sim; where there are several, the process has run the others nevertheless. An
/// error of what they share, or a genesis that cannot be read, ends the process at once.
///
/// # Panics
/// When there are no settings.
pub async fn run(all: Vec<Settings>, stop: watch::Receiver<bool>) -> Result<(), ServerError> {
    run_meddled(all.into_iter().map(|settings| (settings, None)).collect(), stop).await
}

/// Runs servers as [`run`] does, with functions that change their worlds: so tests see how a server with
/// bad memory behaves. The program itself passes none.
///
/// # Errors
/// See [`run`].
///
/// # Panics
/// When there are no settings.
#[doc(hidden)]
pub async fn run_meddled(
    all: Vec<(Settings, Option<Meddle>)>,
    stop: watch::Receiver<bool>,
) -> Result<(), ServerError> {
    let pending = claim_all(all)?;
    let settings =
        pending.first().expect("a process is told which sims to run").sim.settings.clone();
    // What fails most often comes before anything has to be taken down again.
    let bound = http::bind(settings.http_listen).map_err(ServerError::http)?;
    let files = settings.tls.as_ref().map(|(chain, key)| AuthorityFiles::open(chain, key));
    let files = files.transpose()?;
    let shared = SharedParts {
        clock: SystemClock::default(),
        http: bound.address(),
        authority: files.as_ref().map(|files| files.authority().clone()),
        pool: Arc::new(pool()?),
    };
    let source = Arc::new(SourceOffer::new(settings.source_url.clone()));
    let StartedSims { hosted, loops, mut failed } = start_all(pending, &shared, source).await;
    if loops.is_empty() {
        return Err(failed.expect("a sim runs, or an error says why not"));
    }
    let http = routes::start(bound, shared.authority.as_ref(), hosted)?;
    let _reloads = files.map(reloads).transpose()?;
    let mut running: FuturesUnordered<_> =
        loops.into_iter().map(|one| one.run(stop.clone())).collect();
    while let Some(ended) = running.next().await {
        // A sim that ended as its charter says hides no failure of another one.
        failed = match (failed, ended.err()) {
            (None | Some(ServerError::Driver(DriverError::SimEnded)), Some(error)) => Some(error),
            (earlier, _) => earlier,
        };
    }
    http.shutdown().await;
    failed.map_or(Ok(()), Err)
}

/// A sim whose server is to be started.
struct PendingSim {
    sim: ConfiguredSim,
    meddle: Option<Meddle>,
    claimed: Result<ClaimedServer, ServerError>,
}

/// Reads each genesis, and then opens the data directory of each sim.
///
/// # Errors
/// When a genesis cannot be read, when two are of one sim, or when no data directory can be opened.
fn claim_all(all: Vec<(Settings, Option<Meddle>)>) -> Result<Vec<PendingSim>, ServerError> {
    let mut known = BTreeMap::new();
    let mut configured = Vec::new();
    for (settings, meddle) in all {
        let sim = ConfiguredSim::read(settings)?;
        let second = sim.settings.genesis.clone();
        if let Some(first) = known.insert(sim.sim(), second.clone()) {
            return Err(ServerError::SameSim { sim: sim.sim(), first, second });
        }
        configured.push((sim, meddle));
    }
    let claim = |(sim, meddle)| PendingSim { claimed: ClaimedServer::claim(&sim), sim, meddle };
    let mut pending: Vec<PendingSim> = configured.into_iter().map(claim).collect();
    if pending.iter().all(|one| one.claimed.is_err()) {
        let first = pending.drain(..).find_map(|one| one.claimed.err());
        return first.map_or(Ok(pending), Err);
    }
    Ok(pending)
}

/// The sims of a process, of which those that could be started have a loop.
struct StartedSims {
    hosted: HostedSims,
    loops: Vec<SimLoop>,
    /// The error of the first sim that could not be started.
    failed: Option<ServerError>,
}

/// Starts the servers of all sims. One that cannot be started leaves the others alone.
async fn start_all(
    pending: Vec<PendingSim>,
    shared: &SharedParts,
    source: Arc<SourceOffer>,
) -> StartedSims {
    let first = pending.first().expect("a process is told which sims to run").sim.sim();
    let several = pending.len() > 1;
    let metrics = Arc::<Metrics>::default();
    let (mut sims, mut loops, mut failed) = (BTreeMap::new(), Vec::new(), None);
    for PendingSim { sim: configured, meddle, claimed } in pending {
        let (sim, name) = (configured.sim(), configured.genesis.name.clone());
        let (allowed, figures) = (configured.allowed(shared.http), metrics.of(sim));
        let started = match claimed {
            Err(error) => Err(error),
            Ok(claimed) => {
                let allowed = allowed.clone();
                server::start(&configured, claimed, shared, allowed, figures, meddle).await
            }
        };
        let ended = Arc::<OnceLock<String>>::default();
        let node = match started {
            Ok(ListeningServer { driver, disk, node }) => {
                let (name, ended) = (several.then(|| name.clone()), Arc::clone(&ended));
                loops.push(SimLoop { sim, name, driver, disk, ended });
                Some(node)
            }
            Err(error) => {
                note_end(sim, several, &error, &ended);
                failed = failed.or(Some(error));
                None
            }
        };
        sims.insert(sim, HostedSim { name, allowed, node, ended });
    }
    StartedSims { hosted: HostedSims { sims, first, metrics, source }, loops, failed }
}

/// Notes for HTTP why a sim has ended. Where it is one of several, the log says it too: of the only one
/// the process itself says it as it ends.
fn note_end(sim: SimId, several: bool, error: &ServerError, ended: &OnceLock<String>) {
    if several {
        tracing::error!(%sim, %error, "this sim does not run in this process any more");
    }
    let _first_reason_stays = ended.set(error.to_string());
}

/// The loop of one sim's server, and what outlasts it.
struct SimLoop {
    sim: SimId,
    /// What the sim is called, where the log has to tell it from others.
    name: Option<String>,
    driver: Driver,
    disk: thread::JoinHandle<()>,
    ended: Arc<OnceLock<String>>,
}

impl SimLoop {
    /// Runs the loop until `stop` is true or it fails, and waits until all that it has written is on its
    /// way to the disk.
    async fn run(self, stop: watch::Receiver<bool>) -> Result<(), ServerError> {
        let Self { sim, name, driver, disk, ended } = self;
        let several = name.is_some();
        // If nobody waits for this any more, the thread ends as well.
        let given_up = CancellationToken::new();
        let _give_up = given_up.clone().drop_guard();
        let (done, result) = oneshot::channel();
        let runtime = Handle::current();
        // Two sims may have one name, so the lines of the log have a part of the id too.
        let named = |name| tracing::info_span!("sim", name, id = &sim.to_string()[..ID_DIGITS]);
        let span = name.map_or_else(tracing::Span::none, named);
        let work = async move { given_up.run_until_cancelled(driver.run(stop)).await };
        // A thread of its own: a sim that computes for long delays no connection and no other sim, and
        // a panic ends this sim alone.
        let thread = thread::Builder::new().name("sim".into()).stack_size(STACK_BYTES);
        let thread = thread.spawn(move || {
            let ended = runtime.block_on(work.instrument(span));
            // Whoever waited may be gone.
            let _ = done.send(ended.unwrap_or(Ok(())));
        });
        let result = match thread {
            Err(error) => Err(ServerError::Thread(error.to_string())),
            Ok(_thread) => match result.await {
                Ok(result) => result.map_err(ServerError::from),
                Err(_) => Err(ServerError::Panicked),
            },
        };
        // The disk's thread ends once its orders have: everything appended is on its way to the disk.
        let _joined = tokio::task::spawn_blocking(move || disk.join()).await;
        result.inspect_err(|error| note_end(sim, several, error, &ended))
    }
}

/// Returns the threads for scripts of all sims, one for each processor.
fn pool() -> Result<Pool, ServerError> {
    let threads = thread::available_parallelism().map_or(1, Into::into);
    Pool::new(threads).map_err(|error| ServerError::Thread(error.to_string()))
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
