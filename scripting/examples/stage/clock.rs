//! The time that a thread has computed.
#![allow(dead_code, reason = "each program uses a part of it")]

/// Nanoseconds that a measurement computes at least: the clock's own steps are far below.
const MEASURED_MIN: u64 = 5_000_000;

/// Nanoseconds that this thread has computed: other work on the machine does not count.
#[expect(clippy::disallowed_methods, reason = "an example measures, and is no part of the crate")]
pub(crate) fn computed() -> u64 {
    // What a thread has computed is added up when it gives the processor away.
    std::thread::yield_now();
    let text = std::fs::read("/proc/thread-self/schedstat").expect("Linux counts it");
    let text = String::from_utf8(text).expect("it is text");
    let first = text.split_whitespace().next().expect("it has three numbers");
    first.parse().expect("the first is the time")
}

/// The least time of several, in nanoseconds, that `work` takes once, done so many times in a row.
pub(crate) fn least(rounds: u32, times: u64, mut work: impl FnMut(u64)) -> u64 {
    let mut least = u64::MAX;
    for _ in 0..rounds {
        let start = computed();
        (0..times).for_each(&mut work);
        least = least.min((computed() - start) / times);
    }
    least
}

/// Nanoseconds that `work` takes once, done with each number below `times` again and again, after a pass
/// that fills the processor's caches.
pub(crate) fn mean(times: u64, mut work: impl FnMut(u64)) -> u64 {
    (0..times).for_each(&mut work);
    let start = computed();
    for passes in 1.. {
        (0..times).for_each(&mut work);
        let spent = computed() - start;
        if spent >= MEASURED_MIN {
            return spent / (passes * times);
        }
    }
    unreachable!("time goes on")
}
