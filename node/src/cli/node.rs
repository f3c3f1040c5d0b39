//! `node run` and `node join` run one server, in the foreground.

mod join;

use std::{
    env,
    io::{self, IsTerminal as _},
    path::PathBuf,
};

use clap::{Args, Subcommand};
use metatopia_sim::GenesisError;
use metatopia_store::OpenStoreError;
use tokio::{
    io::AsyncReadExt as _,
    signal::unix::{SignalKind, signal},
    sync::watch,
};
use tracing_subscriber::EnvFilter;

use super::{console::Console, exit::Exit, failure::Failure};
use crate::{
    config::{self, ConfigError, Layer, LogFormat, LogLevel, Settings},
    driver::DriverError,
    first_state::{FirstStateError, SnapshotFileError},
    host,
    server::ServerError,
};

/// The variable from which Rust programs read directives for their logs.
const RUST_LOG: &str = "RUST_LOG";

#[derive(Debug, Subcommand)]
pub(super) enum NodeCommand {
    /// Run a server, or one for each of several sims, until it is told to stop (Ctrl-C, or
    /// SIGTERM).
    #[command(after_help = "Examples:\n  \
        metatopia node run --config plaza/metatopia.toml\n  \
        metatopia node run --config plaza/metatopia.toml --config garden/metatopia.toml\n\n\
        Each file describes the server of one sim. Several of them run in one process, which answers \
        HTTP for all at\nthe address of the first: pages at /w/SIM, questions with ?sim=SIM, and \
        the first sim where none is named.\n\n\
        A value is taken from its flag, else from the environment \
        (METATOPIA_HTTP_LISTEN for --http-listen), else from the file, else it has a default.\n\
        Unknown keys and variables are errors. `metatopia up` writes such files: \
        server-0/metatopia.toml in its data directory.")]
    Run(Box<NodeRunArgs>),
    /// Follow a sim by an invite, and serve its clients.
    Join(Box<join::NodeJoinArgs>),
}

#[derive(Debug, Args)]
pub(super) struct NodeRunArgs {
    /// The configuration file (TOML). Give it once for each sim that the process hosts.
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    #[command(flatten)]
    flags: Layer,
    /// Stop when standard input ends. A program that starts a server as a child uses this, so that
    /// the server ends when the program ends in any way.
    #[arg(long, hide = true)]
    until_stdin_ends: bool,
}

pub(super) fn run(command: NodeCommand, console: Console) -> Result<(), Failure> {
    let args = match command {
        NodeCommand::Run(args) => args,
        NodeCommand::Join(args) => return join::run(*args, console),
    };
    let all = settle(&args)?;
    // All files agree about the log.
    log_to_stderr(all[0].log, all[0].log_format)?;
    super::wait(async move {
        let stop = stop_signal(args.until_stdin_ends)
            .map_err(|error| Failure::failed(format!("cannot wait for signals: {error}")))?;
        Ok(host::run(all, stop).await?)
    })
}

/// Logs to standard error, as the configuration says, or RUST_LOG if that is set.
fn log_to_stderr(level: LogLevel, format: LogFormat) -> Result<(), Failure> {
    let filter = chosen(env::var(RUST_LOG).ok().as_deref(), level)?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    // A second subscriber exists only in tests, which keep their own.
    let _ = match format {
        LogFormat::Text => log.with_ansi(io::stderr().is_terminal()).try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
    Ok(())
}

/// Returns what is logged: by the directives of RUST_LOG, or else by the level.
fn chosen(directives: Option<&str>, level: LogLevel) -> Result<EnvFilter, Failure> {
    let Some(directives) = directives.filter(|text| !text.trim().is_empty()) else {
        return Ok(EnvFilter::new(filter(level)));
    };
    EnvFilter::builder().parse(directives).map_err(|error| {
        Failure::usage(format!("environment variable {RUST_LOG}: `{directives}` is wrong: {error}"))
            .hint("an example is `info,metatopia_transport::gateway=debug`")
    })
}

/// Returns the directives of a level. The core of agreement logs every vote at the level at which
/// other parts log sessions, and calls in the local network are of whoever calls there.
fn filter(level: LogLevel) -> String {
    const CORE: &str = "arc_malachitebft_core_consensus";
    match level {
        LogLevel::Info => format!("info,{CORE}=warn,libp2p_mdns=warn"),
        LogLevel::Debug => format!("debug,{CORE}=info"),
        level => level.name().to_owned(),
    }
}

/// Returns the settings of each sim that the process hosts. Without a file there is one sim.
fn settle(args: &NodeRunArgs) -> Result<Vec<Settings>, ConfigError> {
    let environment = config::environment(config::variables())?;
    let stronger = [args.flags.clone(), environment];
    let read = |path: &PathBuf| Ok((path.clone(), config::read(path)?));
    let mut files = args.config.iter().map(read).collect::<Result<Vec<_>, ConfigError>>()?;
    if files.len() > 1 {
        return config::settle_together(&stronger, files);
    }
    let file = files.pop().map(|(_, file)| file);
    Ok(vec![config::settle(stronger.into_iter().chain(file))?])
}

/// Returns a signal that turns true when this process shall stop.
fn stop_signal(with_stdin: bool) -> io::Result<watch::Receiver<bool>> {
    let (stop, stopped) = watch::channel(false);
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            () = stdin_ended(), if with_stdin => {}
        }
        stop.send_replace(true);
        // A watch without a sender would look like one that never changes.
        stop.closed().await;
    });
    Ok(stopped)
}

async fn stdin_ended() {
    let mut rest = [0; 64];
    let mut stdin = tokio::io::stdin();
    while matches!(stdin.read(&mut rest).await, Ok(read) if read > 0) {}
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let missing = |source: &io::Error| source.kind() == io::ErrorKind::NotFound;
        let exit = match &error {
            ConfigError::Read { source, .. } if missing(source) => Exit::NotFound,
            ConfigError::Read { .. } | ConfigError::Text(_) | ConfigError::Write { .. } => {
                Exit::Failed
            }
            _ => Exit::Usage,
        };
        Self::new(exit, error.to_string())
    }
}

/// Returns the exit code for a first state that cannot be made.
fn first_state_exit(error: &FirstStateError) -> Exit {
    match error {
        FirstStateError::Genesis(GenesisError::Engine { .. } | GenesisError::Rules { .. }) => {
            Exit::OtherEngine
        }
        FirstStateError::Genesis(_) => Exit::Usage,
        FirstStateError::Missing { .. } => Exit::NotFound,
        FirstStateError::Snapshot(error) if error.is_of_another_program() => Exit::OtherEngine,
        FirstStateError::Snapshot(_) => Exit::Unverified,
    }
}

impl From<FirstStateError> for Failure {
    fn from(error: FirstStateError) -> Self {
        match error {
            FirstStateError::Snapshot(error) => error.into(),
            error => Self::new(first_state_exit(&error), error.to_string()),
        }
    }
}

impl From<SnapshotFileError> for Failure {
    fn from(error: SnapshotFileError) -> Self {
        let exit = match &error {
            error if error.is_of_another_program() => Exit::OtherEngine,
            SnapshotFileError::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Exit::NotFound
            }
            SnapshotFileError::Read { .. } => Exit::Failed,
            SnapshotFileError::File { .. } | SnapshotFileError::State { .. } => Exit::Unverified,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Self {
        let message = error.to_string();
        let exit = match error {
            ServerError::Key(error) => return error.into(),
            // Nothing failed: the process ends because everything is done.
            ServerError::Driver(DriverError::SimEnded) => Exit::Ok,
            ServerError::Driver(DriverError::MissingPort(_)) => Exit::OtherEngine,
            ServerError::OtherEngine(error) => return error.into(),
            ServerError::OtherFile(error) => return error.into(),
            ServerError::ReadGenesis { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Exit::NotFound
            }
            ServerError::Genesis { .. } | ServerError::SameSim { .. } => Exit::Usage,
            ServerError::FirstState { ref source, .. } => first_state_exit(source),
            ServerError::Store { ref source, .. }
                if matches!(**source, OpenStoreError::Identity(_)) =>
            {
                Exit::Usage
            }
            ServerError::Store { .. }
            | ServerError::Log { .. }
            | ServerError::Record { .. }
            | ServerError::NoStart { .. } => Exit::Unverified,
            _ => Exit::Failed,
        };
        Self::new(exit, message)
    }
}

#[cfg(test)]
mod tests {
    use metatopia_sim::MissingPort;
    use metatopia_types::{Digest, Height, PackageId};

    use super::*;

    #[test]
    fn a_server_that_lacks_a_port_ends_with_the_code_of_another_program_and_names_it() {
        let (package, port) = (PackageId(Digest([1; 32])), Digest([2; 32]));
        let missing = MissingPort { package, port, from: Height(90) };
        let failure = Failure::from(ServerError::Driver(DriverError::MissingPort(missing)));
        assert_eq!(failure.exit, Exit::OtherEngine);
        for told in ["before height 90", &package.to_string(), &port.to_string()] {
            assert!(failure.message.contains(told), "{failure}");
        }
    }

    #[test]
    fn rust_log_is_taken_before_the_level_and_refused_by_name_if_it_is_wrong() {
        let own = chosen(None, LogLevel::Info).unwrap().to_string();
        assert!(own.contains("arc_malachitebft_core_consensus=warn"), "{own}");
        assert_eq!(chosen(Some("  "), LogLevel::Info).unwrap().to_string(), own);
        let asked = chosen(Some("metatopia_transport::gateway=debug"), LogLevel::Off).unwrap();
        assert_eq!(asked.to_string(), "metatopia_transport::gateway=debug");
        let failure = chosen(Some("metatopia=loud"), LogLevel::Info).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.message.contains("RUST_LOG") && failure.message.contains("loud"));
    }
}
