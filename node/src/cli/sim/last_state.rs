//! Reads the state that a successor begins with, from what somebody kept.

use std::path::{Path, PathBuf};

use metatopia_audit::{
    kept_state::KeptStateError,
    succeed::{LastState, SucceedError, last_state},
    tools,
};
use metatopia_store::{FileKind, FileName, Folder};

use crate::{
    cli::{
        failure::Failure,
        genesis_file::read_start,
        sources::{only_directory, open_directory, pool},
        up::world::GENESIS,
    },
    first_state::{first_state, read_snapshot},
};

/// Reads the last state from the data directory of a server, or from a snapshot file.
///
/// # Errors
/// Fails when there is no state, when a server runs on the directory, or when the state or its
/// proof does not hold.
pub(super) fn read_last_state(path: &Path, genesis: Option<&Path>) -> Result<LastState, Failure> {
    if path.is_dir() {
        return of_directory(&only_directory(path)?, genesis);
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let kind = FileName::parse(Folder::Snapshots, name).map(|file| file.kind);
    let Some(FileKind::Snapshot(height, root)) = kind else {
        return Err(not_a_snapshot(path));
    };
    let (base, world) = read_snapshot(path, height, root, &tools())?;
    Ok(LastState { base, world, proof: None, picture: Vec::new() })
}

fn of_directory(dir: &Path, genesis: Option<&Path>) -> Result<LastState, Failure> {
    let file = genesis.map_or_else(|| dir.join(GENESIS), PathBuf::from);
    let start = read_start(&file)?;
    let disk = open_directory(dir)?;
    disk.is_free().map_err(|error| {
        Failure::refused(error.to_string()).hint(
            "a sim whose servers run needs no successor; if this one alone is left, stop it \
             first",
        )
    })?;
    last_state(&disk, &start, &pool()?).map_err(|error| {
        let name = dir.display();
        match error {
            SucceedError::TooFewTurns { .. } => Failure::refused(format!("{name} holds {error}"))
                .hint("a sim that has hardly begun can be founded again"),
            SucceedError::State(KeptStateError::FirstState(_)) => {
                match first_state(&start.genesis, &file, &tools()) {
                    Err(error) => error.into(),
                    Ok(_) => Failure::unverified(format!("{name}: {error}")),
                }
            }
            error => Failure::unverified(format!("{name}: {error}")),
        }
    })
}

fn not_a_snapshot(path: &Path) -> Failure {
    let name = path.display();
    if path.exists() {
        let message = format!("{name} is neither a data directory nor a server's snapshot");
        return Failure::usage(message)
            .hint("a snapshot has the name that it had in the folder `snapshots`");
    }
    Failure::not_found(format!("there is no {name}"))
}
