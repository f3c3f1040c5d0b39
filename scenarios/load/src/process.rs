//! The cost of a process, as the system counts it; none where there is no `/proc`.

use std::{fs, time::Duration};

use super::machine::kilobytes;

/// Linux counts processor time for `/proc` in hundredths of a second on every architecture.
const TICKS_PER_SECOND: u64 = 100;

/// Returns the processor time that a process has used, in user mode and in the kernel.
#[must_use]
pub fn cpu_time(pid: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(Duration::from_millis(ticks(&stat)? * 1_000 / TICKS_PER_SECOND))
}

/// Returns the memory that a process holds, in megabytes, rounded up.
#[must_use]
pub fn resident_mb(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    Some(kilobytes(&status, "VmRSS:")?.div_ceil(1_024))
}

/// Returns `utime` and `stime` from text like `/proc/PID/stat`.
fn ticks(stat: &str) -> Option<u64> {
    // The name of the program stands in parentheses, and may itself hold spaces and parentheses.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    user.checked_add(system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_read_past_any_program_name() {
        let stat = "42 (a ) b) S 1 42 42 0 -1 4194560 9 0 0 0 250 50 0 0 20 0 8 0 7 1 2";
        assert_eq!(ticks(stat), Some(300));
        assert_eq!(ticks("42 (cut) S 1"), None);
    }
}
