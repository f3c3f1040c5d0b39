//! `replay --region` plays a recording of a physics region again.

use std::{fs, io::ErrorKind, ops::ControlFlow, path::Path};

use metatopia_audit::region::{RecordingError, RegionSnapshotError, replay_region};

use crate::cli::{console::Console, exit::Exit, failure::Failure};

/// Plays a recording, prints the digest of each tick, and then what the region is.
pub(super) fn run(path: &Path, console: Console) -> Result<(), Failure> {
    let name = path.display();
    let recording = fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::not_found(format!("there is no {name}")),
        ErrorKind::IsADirectory => {
            Failure::usage(format!("{name} is a folder")).hint("a recording of a region is a file")
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder ended with code 1 and the words of the system.
    #[test]
    fn a_folder_is_no_recording() {
        let failure = run(Path::new("."), Console::quiet()).expect_err("a folder");
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.message.starts_with(". is a folder"), "{failure}");
        let failure = run(Path::new("/nowhere/at/all"), Console::quiet()).expect_err("nothing");
        assert_eq!(failure.exit, Exit::NotFound);
    }
}
