//! Processor time of this thread: what others do on the machine does not count.

use std::time::Duration;

use nix::time::ClockId;

/// Returns the processor time that this thread has used since it began.
///
/// # Panics
/// When the system keeps no such clock; Linux and macOS do.
pub(crate) fn time() -> Duration {
    let clock = ClockId::CLOCK_THREAD_CPUTIME_ID;
    clock.now().expect("the system counts what a thread uses").into()
}
