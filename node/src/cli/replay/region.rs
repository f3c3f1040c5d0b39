//! `replay --region` plays a recording of a physics region again.

use std::{fs, io::ErrorKind, ops::ControlFlow, path::Path};

use metatopia_audit::region::{RecordingError, RegionSnapshotError, replay_region};

use crate::cli::{console::Console, exit::Exit, failure::Failure};

/// Plays a recording, prints the digest of each tick, and then what the region is.
pub(super) fn run(path: &Path, console: Console) -> Result<(), Failure> {
    let name = path.display();
    let recording = fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::not_found(format!("there is no {name}")),
        _ => Failure::failed(format!("cannot read {name}: {error}")),
    })?;
    let mut unprinted = None;
    let mut wrong = None;
    let played = replay_region(&recording, |tick| {
        if tick.digest != tick.recorded {
            wrong = Some(tick.clone());
        }
        match console.show(tick) {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                unprinted = Some(failure);
                ControlFlow::Break(())
            }
        }
    });
    if let Some(failure) = unprinted {
        return Err(failure);
    }
    let summary = played.map_err(|error| {
        let failure = Failure::new(exit(&error), format!("{name}: {error}"));
        match error {
            RecordingError::CutOff(_) | RecordingError::Damaged(_) => {
                failure.hint("fetch the file again, or record it again")
            }
            _ => failure,
        }
    })?;
    console.show(&summary)?;
    match wrong {
        None => Ok(()),
        Some(tick) => {
            let message = format!(
                "{name}: tick {} leads to {} here, and {} was recorded",
                tick.tick, tick.digest, tick.recorded
            );
            Err(Failure::new(Exit::Diverged, message)
                .hint("compare the lines of this and of the other machine"))
        }
    }
}

/// Returns the code for bytes that are not what they should be, or that are for another program.
const fn exit(error: &RecordingError) -> Exit {
    match error {
        RecordingError::Foreign => Exit::Usage,
        RecordingError::Format(_)
        | RecordingError::Snapshot(
            RegionSnapshotError::Format(_) | RegionSnapshotError::Tier { .. },
        ) => Exit::OtherEngine,
        _ => Exit::Unverified,
    }
}
