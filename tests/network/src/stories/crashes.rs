//! Servers that die and come back.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{
    Length, StoryBound, StoryFigure, StoryResult,
    links::played,
    times::{millis, p99},
};
use crate::{Bots, LabServers, Weather, servers::LabResult};

/// Turns over which a pace is measured.
const SAMPLE: u64 = 60;

/// One way between servers in [`dead_proposer`].
const TRAVEL: Duration = Duration::from_millis(20);

/// A server that is not this one.
fn other(than: usize) -> usize {
    (than + 1) % crate::SERVERS
}

/// Returns which server proposes now. The proposer changes every turn, so it may be another one when the
/// caller acts.
fn proposer(servers: &LabServers<'_>) -> LabResult<usize> {
    servers.proposer(0).or_else(|| servers.proposer(1)).ok_or_else(|| "nobody proposes".to_owned())
}

pub(super) fn dead_proposer(servers: &mut LabServers<'_>, length: Length) -> StoryResult {
    servers.lab.switch.conditions().everywhere = Weather { delay: TRAVEL, ..Weather::default() };
    servers.turns(0, 20)?;
    let normal = servers.turns(0, SAMPLE)? / SAMPLE as u32;
    let (mut first, mut later) = (Vec::new(), Vec::new());
    for _ in 0..length.of(1, 5) {
        let dead = proposer(servers)?;
        let witness = other(dead);
        servers.kill(dead)?;
        first.push(longest_gap(servers, witness, 20)?);
        later.push(servers.turns(witness, SAMPLE)? / SAMPLE as u32);
        servers.run(dead)?;
        servers.until(dead, "votes again", |now| now.voting)?;
        servers.turns(witness, 20)?;
    }
    let (first, later) = (p99(first), p99(later));
    servers.agree(&[0, 1, 2, 3])?;
    let percent = millis(later) * 100 / millis(normal).max(1);
    Ok(vec![
        StoryFigure::time("a normal turn", normal, StoryBound::None),
        StoryFigure::time("longest wait for a turn then", first, StoryBound::AtMost(300)),
        StoryFigure::new(
            "a turn afterwards",
            percent,
            "% of a normal one",
            StoryBound::AtMost(120),
        ),
    ])
}

/// The longest time between two turns, of so many that follow.
fn longest_gap(servers: &LabServers<'_>, witness: usize, turns: u64) -> LabResult<Duration> {
    let (mut longest, mut at) = (Duration::ZERO, Instant::now());
    let mut height = servers.height(witness)?;
    let end = height + turns;
    while height < end {
        let from = height;
        servers.until(witness, "goes on", |now| now.height > from)?;
        height = servers.height(witness)?;
        longest = longest.max(at.elapsed());
        at = Instant::now();
    }
    Ok(longest)
}

/// Kills a server, waits, starts it again, and says how long it took until it voted.
fn killed(servers: &mut LabServers<'_>, number: usize, away: Duration) -> LabResult<Duration> {
    servers.kill(number)?;
    thread::sleep(away);
    servers.turns(other(number), 5)?;
    servers.run(number)?;
    servers.until(number, "votes again", |now| now.voting)
}

pub(super) fn proposers_killed(servers: &mut LabServers<'_>, length: Length) -> StoryResult {
    let times = length.of(3, 20);
    let bots = Bots::play(servers, Duration::from_secs(2) * times)?;
    let mut back = Vec::new();
    for _ in 0..times {
        let number = proposer(servers)?;
        back.push(killed(servers, number, Duration::ZERO)?);
    }
    let mut figures = vec![
        StoryFigure::new("proposers killed", u64::from(times), "times", StoryBound::None),
        StoryFigure::time("started to voting, p99", p99(back), StoryBound::AtMost(3_000)),
    ];
    figures.extend(played(servers, bots)?);
    Ok(figures)
}

pub(super) fn rolling_restart(servers: &mut LabServers<'_>, length: Length) -> StoryResult {
    let rounds = length.of(1, 3);
    let bots = Bots::play(servers, Duration::from_secs(6) * rounds)?;
    let mut back = Vec::new();
    for number in (0..rounds).flat_map(|_| 0..crate::SERVERS) {
        servers.stop(number)?;
        servers.turns(other(number), 5)?;
        servers.run(number)?;
        back.push(servers.until(number, "votes again", |now| now.voting)?);
    }
    let mut figures =
        vec![StoryFigure::time("started to voting, p99", p99(back), StoryBound::AtMost(3_000))];
    figures.extend(played(servers, bots)?);
    Ok(figures)
}

pub(super) fn away(servers: &mut LabServers<'_>, length: Length) -> StoryResult {
    let (away, times) = (length.seconds(5, 60), length.of(1, 3));
    let bots = Bots::play(servers, (away + Duration::from_secs(1)) * times)?;
    let mut back = Vec::new();
    for number in (0..crate::SERVERS).cycle().take(times as usize) {
        back.push(killed(servers, number, away)?);
    }
    let mut figures = vec![
        StoryFigure::new("away", away.as_secs(), "s", StoryBound::None),
        StoryFigure::time("started to voting, p99", p99(back), StoryBound::AtMost(3_000)),
    ];
    figures.extend(played(servers, bots)?);
    Ok(figures)
}
