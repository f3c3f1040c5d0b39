//! How fast this machine is just now, beside the one whose times are the bounds.
//!
//! Bounds in milliseconds of a processor hold for one machine. Others are slower, and one that is shared
//! is half as fast an hour later: the same program then breaks a bound that it kept. So a fixed piece of
//! work is timed beside each attack that is judged by the processor, and a machine that takes longer for
//! it may take so much longer for the attack. None of the code that is judged takes part in that work.

use std::{collections::BTreeMap, hint::black_box, time::Duration};

use super::processor;

/// Milliseconds that the work takes on the machine whose times are the bounds. There a turn of the row
/// `scripts` whose scripts do nothing takes 1.85 ms in a dev build. The machine that this was set on took
/// 3.05 ms for such a turn and 1.7 ms for the work, and 0.64 ms for the work with all optimisation, 0.38 of that.
const REFERENCE_MS: f64 = if cfg!(debug_assertions) { 1.0 } else { 0.38 };

/// How much longer than that a machine may take. Bounds say nothing on one that is slower still.
const SLOWNESS_MAX: f64 = 2.5;

/// Keys of the work: with their values half a megabyte. Ten times as many wait for memory most of the time,
/// and their time doubles from one second to the next.
const KEYS: u64 = 4_096;

/// Times that the work is done. The quickest counts, as it does for the attacks.
const ROUNDS: usize = 25;

/// The pace of this machine while an attack is played.
#[derive(Debug)]
pub(super) struct Yardstick {
    at_start: f64,
}

impl Yardstick {
    /// Measures this machine before an attack.
    pub(super) fn at_start() -> Self {
        Self { at_start: slowness() }
    }

    /// Measures this machine once more. Returns how many times longer than the machine of the bounds it
    /// takes, by the quicker of both measurements: at least 1, at most [`SLOWNESS_MAX`].
    pub(super) fn at_end(&self) -> f64 {
        let now = slowness();
        eprintln!("  this machine takes {:.2} and {now:.2} times as long", self.at_start);
        self.at_start.min(now).clamp(1.0, SLOWNESS_MAX)
    }
}

/// Returns how many times longer than the machine of the bounds this one takes for the work.
fn slowness() -> f64 {
    let times = (0..ROUNDS).map(|_| {
        let begin = processor::time();
        black_box(work(black_box(KEYS)));
        processor::time().saturating_sub(begin)
    });
    let quickest: Duration = times.min().unwrap_or_default();
    quickest.as_secs_f64() * 1_000.0 / REFERENCE_MS
}

/// Fills a map in a scattered order, looks all of it up in another order, and sorts what it finds.
fn work(keys: u64) -> u64 {
    let scattered = |n: u64, by: u64| n.wrapping_mul(by) % keys;
    let map: BTreeMap<u64, [u64; 8]> = (0..keys).map(|n| (scattered(n, 7_919), [n; 8])).collect();
    let found = (0..keys).filter_map(|n| map.get(&scattered(n, 104_729)));
    let mut found: Vec<u64> =
        found.map(|value| u128::from(value[3]).pow(3).isqrt() as u64).collect();
    found.sort_unstable();
    found.iter().fold(0, |sum, n| sum.rotate_left(5) ^ n)
}
