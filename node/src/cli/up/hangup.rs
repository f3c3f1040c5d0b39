//! SIGHUP for `up`: its servers get it too, and read their certificates again.

use std::{io, sync::PoisonError};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::task::AbortOnDropHandle;

use super::cluster::Pids;

/// Passes SIGHUP on to all servers, as long as the returned handle lives.
///
/// # Errors
/// Fails when the signal cannot be waited for.
pub(super) fn pass_on(pids: Pids) -> io::Result<AbortOnDropHandle<()>> {
    let mut told = signal(SignalKind::hangup())?;
    Ok(AbortOnDropHandle::new(tokio::spawn(async move {
        while told.recv().await.is_some() {
            for pid in pids.lock().unwrap_or_else(PoisonError::into_inner).values() {
                // A server that has just ended needs no signal.
                let _ = i32::try_from(*pid).map(|pid| kill(Pid::from_raw(pid), Signal::SIGHUP));
            }
        }
    })))
}
