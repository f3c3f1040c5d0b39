//! Many worlds on several threads, and how far they are.

use std::io::{IsTerminal as _, Write as _};
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// Worlds that are done and not looked at yet.
const DONE_MAX: usize = 64;

/// Returns how many worlds are played at once unless a number is given.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Plays the worlds with these numbers on `jobs` threads. `look` sees each when it is done, in no
/// certain order, and says whether later numbers shall still begin; those below a world that ended
/// it are played all the same, so that the first of all such worlds is always seen.
pub(crate) fn play<T: Send>(
    jobs: usize,
    numbers: Range<u64>,
    play: impl Fn(u64) -> T + Sync,
    mut look: impl FnMut(u64, T) -> bool,
) {
    let (next, end) = (AtomicU64::new(numbers.start), AtomicU64::new(numbers.end));
    thread::scope(|scope| {
        let (done, worlds) = mpsc::sync_channel(DONE_MAX);
        for _ in 0..jobs.max(1) {
            let (done, next, end, play) = (done.clone(), &next, &end, &play);
            scope.spawn(move || {
                // Never beyond the end, which may be the greatest number there is.
                let step = |next: u64| (next < end.load(Ordering::Relaxed)).then(|| next + 1);
                while let Ok(number) = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step)
                    && done.send((number, play(number))).is_ok()
                {}
            });
        }
        drop(done);
        for (number, world) in worlds {
            if !look(number, world) {
                end.fetch_min(number, Ordering::Relaxed);
            }
        }
    });
}

/// Plays without a word about panics on standard error: servers catch those of poisoned acts, and what
/// ends a server is a broken law.
pub(crate) fn quietly<T>(play: impl FnOnce() -> T) -> Result<T, String> {
    let last = Arc::new(Mutex::new(String::new()));
    let heard = Arc::clone(&last);
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |cause| {
        *heard.lock().unwrap_or_else(PoisonError::into_inner) = cause.to_string();
    }));
    let played = panic::catch_unwind(AssertUnwindSafe(play));
    panic::set_hook(hook);
    played.map_err(|_| last.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

/// Tells on the terminal how far a campaign is; elsewhere only now and then.
pub(crate) struct CampaignProgress {
    began: Instant,
    told: Instant,
    terminal: bool,
    written: bool,
}

impl CampaignProgress {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        let terminal = std::io::stderr().is_terminal();
        Self { began: now, told: now, terminal, written: false }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Prints how far the campaign is, unless that was printed just before.
    pub(crate) fn tell(&mut self, line: impl FnOnce() -> String) {
        let pause = Duration::from_millis(if self.terminal { 500 } else { 15_000 });
        if self.told.elapsed() < pause {
            return;
        }
        self.told = Instant::now();
        self.written = true;
        let (before, after) = if self.terminal { ("\r\x1b[K", "") } else { ("", "\n") };
        let mut stderr = std::io::stderr().lock();
        // Nobody reads it: then nobody misses it.
        let _ = write!(stderr, "{before}{}{after}", line()).and_then(|()| stderr.flush());
    }

    /// Clears the line.
    pub(crate) fn end(&mut self) {
        if self.terminal && self.written {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use metatopia_simulator::survive;

    use super::play;

    /// A panic outside of the servers took a thread with it, and in the end the whole campaign.
    #[test]
    fn a_world_that_falls_over_is_seen_and_so_are_all_others() {
        let world = |number: u64| survive(|| assert_ne!(number, 3, "a world fell over"));
        let mut seen = BTreeMap::new();

        play(2, 0..10, world, |number, played| {
            seen.insert(number, played.is_ok());
            true
        });

        assert_eq!(seen, (0..10).map(|number| (number, number != 3)).collect());
    }
}
