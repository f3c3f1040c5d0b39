//! The rules of a sim as they are by now, from the disks of its servers before any of them starts.

use std::path::Path;

use metatopia_audit::kept_state::ServerFiles;
use metatopia_sim::Parameters;
use metatopia_store::scan;

use super::world::{GENESIS, LocalWorld};
use crate::{
    cli::{
        failure::Failure,
        genesis_file::read_start,
        sources::{open_directory, pool},
    },
    executor::Pool,
};

/// Returns the parameters after the last turn that a server keeps, since admins change them while a sim runs. Those
/// of the genesis hold before the first turn, and where no server's files can be read: a start mends these later.
///
/// # Errors
/// Fails when threads cannot be started.
pub(super) fn present_parameters(world: &LocalWorld) -> Result<Parameters, Failure> {
    let founded = || world.genesis().parameters.clone();
    if !world.has_run() {
        return Ok(founded());
    }
    let exec = pool()?;
    let kept = world.servers().iter().find_map(|server| kept_parameters(&server.path, &exec));
    Ok(kept.unwrap_or_else(founded))
}

/// Returns the parameters after the last turn that the server of this directory keeps.
fn kept_parameters(dir: &Path, exec: &Pool) -> Option<Parameters> {
    let start = read_start(&dir.join(GENESIS)).ok()?;
    let disk = open_directory(dir).ok()?;
    let index = scan(&disk, start.genesis.id()).ok()?.index;
    let files = ServerFiles { start: &start, disk: &disk, index: &index, exec };
    let kept = files.after(files.tip()).ok()?;
    Some(kept.world.charter().parameters.clone())
}
