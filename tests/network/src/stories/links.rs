//! Bad links.

use std::{thread, time::Duration};

use super::{Length, StoryBound, StoryFigure, StoryResult, times::millis};
use crate::{Bots, LabServers, Weather, servers::LabResult};

const MILLI: Duration = Duration::from_millis(1);

/// After a split the two halves decide nothing; what was on its way may still make one turn.
const AFTERWARDS: u64 = 1;

/// Figures of players that acted through it all.
pub(super) fn played(servers: &LabServers<'_>, bots: Bots) -> LabResult<Vec<StoryFigure>> {
    let fate = bots.fate()?;
    servers.agree(&[0, 1, 2, 3])?;
    Ok(vec![
        StoryFigure::new("acts with receipt", fate.acknowledged, "acts", StoryBound::None),
        StoryFigure::new("of them lost", fate.lost, "acts", StoryBound::AtMost(0)),
        StoryFigure::new("unanswered", fate.unanswered, "acts", StoryBound::AtMost(0)),
        StoryFigure::new("act to receipt p99", fate.p99_ms, "ms", StoryBound::None),
    ])
}

/// Turns of the first server in a hundred seconds, over this time.
fn pace(servers: &LabServers<'_>, time: Duration) -> LabResult<u64> {
    let from = servers.height(0)?;
    thread::sleep(time);
    Ok((servers.height(0)? - from) * 100_000 / millis(time).max(1))
}

fn under(servers: &LabServers<'_>, weather: Weather, time: Duration, least: u64) -> StoryResult {
    servers.lab.switch.conditions().everywhere = weather;
    let bots = Bots::play(servers, time)?;
    let pace = pace(servers, time)?;
    let mut figures =
        vec![StoryFigure::new("turns in 100 s", pace, "turns", StoryBound::AtLeast(least))];
    figures.extend(played(servers, bots)?);
    Ok(figures)
}

pub(super) fn steady(servers: &mut LabServers<'_>, length: Length) -> StoryResult {
    under(servers, Weather::default(), length.seconds(3, 20), 1_980)
}

pub(super) fn rain(servers: &mut LabServers<'_>, length: Length) -> StoryResult {
    let weather = Weather { delay: 100 * MILLI, loss_percent: 2, ..Weather::default() };
    // A turn takes two travels of 100 ms, and a retransmission as much again: 1 to 4 a second.
    under(servers, weather, length.seconds(5, 30), 100)
}

pub(super) fn shuffle(servers: &mut LabServers<'_>, length: Length) -> StoryResult {
    let weather =
        Weather { delay: 5 * MILLI, jitter: 10 * MILLI, double_percent: 10, loss_percent: 0 };
    under(servers, weather, length.seconds(4, 20), 1_000)
}

pub(super) fn one_way(servers: &mut LabServers<'_>, length: Length) -> StoryResult {
    let time = length.seconds(5, 20);
    // Those who play are at the other servers: what nobody hears cannot be answered.
    let bots = Bots::at(servers, &[1, 2, 3], time + time / 2)?;
    for other in 1..4 {
        servers.lab.switch.conditions().cut((0, other));
    }
    let from = servers.height(1)?;
    thread::sleep(time);
    let meanwhile = servers.height(1)? - from;
    servers.lab.switch.conditions().heal();
    let back = servers.until(0, "catches up", |now| now.height >= from + meanwhile)?;
    let mut figures = vec![
        StoryFigure::new(
            "turns without it",
            meanwhile,
            "turns",
            StoryBound::AtLeast(time.as_secs()),
        ),
        StoryFigure::time("it catches up after", back, StoryBound::None),
    ];
    figures.extend(played(servers, bots)?);
    Ok(figures)
}

pub(super) fn split(servers: &mut LabServers<'_>, length: Length) -> StoryResult {
    let time = length.seconds(3, 5);
    let mut worst = Duration::ZERO;
    let rounds = length.of(1, 10);
    let bots = Bots::play(servers, (time + Duration::from_secs(2)) * rounds)?;
    for _ in 0..rounds {
        servers.turns(0, 5)?;
        servers.lab.switch.conditions().split(&[0, 1]);
        thread::sleep(Duration::from_millis(500));
        let stood = servers.highest(&[0, 2])?;
        thread::sleep(time);
        let still = servers.highest(&[0, 1, 2, 3])?;
        if still > stood + AFTERWARDS {
            return Err(format!("two of four servers went from {stood} to {still}"));
        }
        servers.lab.switch.conditions().heal();
        let first = servers.until(0, "goes on", |now| now.height > still)?;
        worst = worst.max(first);
    }
    let mut figures =
        vec![StoryFigure::time("healed to first turn, worst", worst, StoryBound::AtMost(2_000))];
    figures.extend(played(servers, bots)?);
    Ok(figures)
}
