//! Whose data directory this is.

use metatopia_types::{Digest, PublicKey, SimId};

use crate::{
    Damaged, Disk, DiskError, FileName, Folder, ReadDisk,
    sealed::{Seal, SealedFileError},
};

/// The version of data directories this program writes, and the only one it opens.
pub const IDENTITY_VERSION: u32 = 1;

pub(crate) const SEAL: Seal = Seal {
    mark: b"mtop-dir",
    version: IDENTITY_VERSION,
    context: "metatopia data directory v1",
    field_bytes: 64,
};

/// The server and the sim that a data directory belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The sim whose turns are in the log.
    pub sim: SimId,
    /// The server whose votes are in the log.
    pub server: PublicKey,
}

impl Identity {
    /// Checks that a directory with this identity belongs to `own`.
    ///
    /// # Errors
    /// [`IdentityError::ForeignSim`] or [`IdentityError::ForeignServer`].
    pub fn check(&self, own: &Self) -> Result<(), IdentityError> {
        if self.sim != own.sim {
            return Err(IdentityError::ForeignSim { found: self.sim, expected: own.sim });
        }
        if self.server != own.server {
            return Err(IdentityError::ForeignServer { found: self.server, expected: own.server });
        }
        Ok(())
    }
}

/// Why a data directory is not opened. Nothing has been changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The identity file is not what was written.
    #[error(transparent)]
    Damaged(#[from] Damaged),
    /// The directory has another format.
    #[error("the data directory has format version {found}; this program reads version {known}",
        known = IDENTITY_VERSION)]
    Version {
        /// The version of the file.
        found: u32,
    },
    /// There is a log but no identity: a server must not guess whose votes these are.
    #[error("the data directory has a log but no identity file")]
    Missing,
    /// It is the directory of another sim.
    #[error("the data directory belongs to sim {found}, not to {expected}")]
    ForeignSim {
        /// The sim that it belongs to.
        found: SimId,
        /// Who wanted it.
        expected: SimId,
    },
    /// It is the directory of another server.
    #[error("the data directory belongs to server {found}, not to {expected}")]
    ForeignServer {
        /// The server that it belongs to.
        found: PublicKey,
        /// Who wanted it.
        expected: PublicKey,
    },
}

/// Reads to whom a data directory belongs; `None` if nobody has started on it yet.
///
/// # Errors
/// See [`IdentityError`].
pub fn read_identity(disk: &dyn ReadDisk) -> Result<Option<Identity>, IdentityError> {
    let fields = match SEAL.read_file(disk, FileName::IDENTITY) {
        Ok(Some(fields)) => fields,
        Ok(None) if disk.list(Folder::Log)?.is_empty() => return Ok(None),
        Ok(None) => return Err(IdentityError::Missing),
        Err(SealedFileError::Disk(error)) => return Err(error.into()),
        Err(SealedFileError::Damaged(damaged)) => return Err(damaged.into()),
        Err(SealedFileError::Version(found)) => return Err(IdentityError::Version { found }),
    };
    let (sim, server) = fields.split_at(32);
    Ok(Some(Identity {
        sim: SimId(Digest(sim.try_into().expect("half of 64 bytes"))),
        server: PublicKey(server.try_into().expect("half of 64 bytes")),
    }))
}

/// Makes a directory this server's at its first start, and checks that it is at every later one.
/// Returns whether this was the first.
///
/// # Errors
/// See [`IdentityError`].
pub fn claim_identity(disk: &mut dyn Disk, own: &Identity) -> Result<bool, IdentityError> {
    match read_identity(disk)? {
        None => {
            let bytes = SEAL.close(&[own.sim.bytes(), &own.server.0]);
            disk.write_new(FileName::IDENTITY, &bytes)?;
            Ok(true)
        }
        Some(found) => {
            found.check(own)?;
            // It may have got its name just before the last process ended.
            disk.sync_dir(Folder::Top)?;
            Ok(false)
        }
    }
}
