//! Reads genesis files for commands.

use std::{fs, path::Path};

use metatopia_audit::{SimStart, tools};
use metatopia_sim::Genesis;

use super::failure::Failure;
use crate::{atomic_file::folder_of, engine, first_state::first_state};

/// Reads the genesis of a sim that this program runs.
pub(super) fn read_genesis(path: &Path) -> Result<Genesis, Failure> {
    let bytes = read_file(path)?;
    engine::check(folder_of(path), &bytes)?;
    decode_genesis(path, &bytes)
}

/// Reads the genesis of a sim that this program runs, and computes its first state. The first state
/// of a successor is read from the file beside the genesis.
pub(super) fn read_start(path: &Path) -> Result<SimStart, Failure> {
    let genesis = read_genesis(path)?;
    let first_state = first_state(&genesis, path, &tools()).map_err(|error| error.to_string());
    Ok(SimStart { genesis, first_state })
}

/// Reads a genesis of any engine, to show it.
pub(super) fn read_any_genesis(path: &Path) -> Result<Genesis, Failure> {
    let bytes = read_file(path)?;
    decode_genesis(path, &bytes).or_else(|undecoded| {
        engine::check(folder_of(path), &bytes)?;
        Err(undecoded)
    })
}

fn decode_genesis(path: &Path, bytes: &[u8]) -> Result<Genesis, Failure> {
    let wrong = |error| Failure::unverified(format!("{}: {error}", path.display()));
    Genesis::decode(bytes).map_err(wrong)
}

fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    let name = path.display();
    fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::not_found(format!("there is no genesis {name}"))
            .hint("name it by --genesis FILE"),
        _ => Failure::failed(format!("cannot read {name}: {error}")),
    })
}
