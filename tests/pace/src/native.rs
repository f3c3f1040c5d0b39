//! What the program answers.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;

use metatopia_physics::Region;
use rustix::time::{ClockId, clock_gettime};

use crate::scenes::CONTESTS;

/// Answers each line of standard input with one line: `scenes` tells their names, `begin N` builds the scene with this
/// number and tells how many steps it has, `step N` makes so many steps and tells the nanoseconds of each, `digest`
/// tells the first eight bytes of the region's digest.
pub(crate) fn answer() -> ExitCode {
    let mut region = Region::new();
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { return ExitCode::FAILURE };
        let Some(reply) = reply(&mut region, &line) else {
            eprintln!("no such request: {line}");
            return ExitCode::from(2);
        };
        let mut out = io::stdout().lock();
        if writeln!(out, "{reply}").and_then(|()| out.flush()).is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn reply(region: &mut Region, request: &str) -> Option<String> {
    let (word, number) = request.split_once(' ').unwrap_or((request, "0"));
    let number: usize = number.parse().ok()?;
    match word {
        "scenes" => Some(CONTESTS.map(|contest| contest.name).join(" ")),
        "begin" => {
            let contest = CONTESTS.get(number)?;
            *region = (contest.plan)().region();
            Some(contest.steps.to_string())
        }
        "step" => {
            let times = (0..number).map(|_| timed_step(region).as_nanos().to_string());
            Some(times.collect::<Vec<_>>().join(" "))
        }
        "digest" => Some(region.digest().0[..8].iter().map(|byte| format!("{byte:02x}")).collect()),
        _ => None,
    }
}

/// Makes a step, and returns the processor time that this thread spends on it.
fn timed_step(region: &mut Region) -> Duration {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.try_into().unwrap_or(0))
    };
    let start = now();
    drop(region.step());
    now() - start
}
