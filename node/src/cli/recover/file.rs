//! Files of recoveries. Operators sign them apart, or one after the other.

use std::{fs, io::ErrorKind, path::Path};

use metatopia_audit::recover::file::{RecoveryFileError, decode_signed};
use metatopia_types::SignedRecovery;

use crate::cli::failure::Failure;

/// Reads a file. Every signature in it must be valid.
///
/// # Errors
/// Fails when the file cannot be read, or is no recovery.
pub(super) fn read(path: &Path) -> Result<SignedRecovery, Failure> {
    let name = path.display();
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::not_found(format!("there is no {name}")),
        _ => Failure::failed(format!("cannot read {name}: {error}")),
    })?;
    decode_signed(&bytes).map_err(|error| {
        Failure::unverified(match error {
            RecoveryFileError::Decode(error) => format!("{name} is no recovery: {error}"),
            RecoveryFileError::Forged(_) => format!("{name}: {error}"),
        })
    })
}

/// Puts the signatures of several files together.
///
/// # Errors
/// Fails when a file cannot be read, or when the files are about different recoveries.
pub(super) fn gather<'a>(
    paths: impl IntoIterator<Item = &'a Path>,
) -> Result<SignedRecovery, Failure> {
    let mut all: Option<SignedRecovery> = None;
    for path in paths {
        let one = read(path)?;
        match &mut all {
            None => all = Some(one),
            Some(all) if all.recovery == one.recovery => all.signatures.extend(one.signatures),
            Some(_) => {
                let message =
                    format!("{} holds another recovery than those before", path.display());
                return Err(Failure::usage(message).hint("see `metatopia recover show`"));
            }
        }
    }
    all.ok_or_else(|| Failure::usage("no recovery is given"))
}
