//! Measures a server that is killed, stays away for a while, and is started again.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use metatopia_client_driver::NodeUrl;
use metatopia_load::figure::{Bound, Figure};
use metatopia_types::PublicKey;
use tokio::time::{sleep, timeout};

use super::{
    on_a_plaza,
    plaza::{millis, voted},
};
use crate::cli::{
    Failure,
    console::Console,
    status::ServerStatus,
    up::{cluster::ServerProcesses, world::LocalWorld},
};

/// The time between two looks at a server.
const LOOK: Duration = Duration::from_millis(5);

/// The time between two notes about how long a server has been away.
const TELL: Duration = Duration::from_secs(10);

/// The time that all servers run before one is killed.
const SETTLE: Duration = Duration::from_secs(5);

/// The longest wait for a server that was started again.
const BACK: Duration = Duration::from_secs(120);

/// A server that is at most so many turns behind the others counts as caught up.
const BEHIND: u64 = 3;

/// The longest absence that counts as a short one.
const SHORT: Duration = Duration::from_secs(60);

/// The promised times to vote again after a short and after a long absence, in milliseconds.
const SHORT_MS: u64 = 3_000;
const LONG_MS: u64 = 8_000;

/// Kills one server after the other, each for `missed`, and measures the time from its start to its
/// first vote.
pub(super) async fn measure(
    path: &Path,
    (missed, times): (Duration, u32),
    console: Console,
) -> Result<Vec<Figure>, Failure> {
    on_a_plaza(path, console, async |cluster, world| {
        cluster.ready().await?;
        let mut back = Vec::new();
        let mut turns = 0;
        for round in 0..times {
            sleep(SETTLE).await;
            let victim = round as usize % world.servers().len();
            let (behind, took) = once(cluster, world, victim, missed, console).await?;
            console.note(&format!("{behind} turns behind, it votes after {} ms", millis(took)));
            turns = turns.max(behind);
            back.push(took);
        }
        Ok(figures(missed, turns, back))
    })
    .await
}

fn figures(missed: Duration, turns: u64, mut back: Vec<Duration>) -> Vec<Figure> {
    back.sort_unstable();
    let bound = Bound::AtMost(if missed <= SHORT { SHORT_MS } else { LONG_MS });
    let at = |percent: usize| {
        let place = (back.len() * percent).div_ceil(100).max(1) - 1;
        back.get(place).copied().map_or(0, millis)
    };
    vec![
        Figure::new("missed", missed.as_secs(), "s", Bound::None),
        Figure::new("missed turns, at most", turns, "turns", Bound::None),
        Figure::new("absences", back.len() as u64, "times", Bound::None),
        Figure::new("votes after its restart p50", at(50), "ms", bound),
        Figure::new("votes after its restart p99", at(99), "ms", bound),
    ]
}

/// Plays one absence, and returns how many turns the server missed and how long it takes to vote
/// again.
async fn once(
    cluster: &mut ServerProcesses,
    world: &LocalWorld,
    victim: usize,
    missed: Duration,
    console: Console,
) -> Result<(u64, Duration), Failure> {
    let (node, survivor) =
        (cluster.ports(victim).url(), cluster.ports((victim + 1) % world.servers().len()).url());
    let left = ServerStatus::ask(&node, None).await?.height;
    cluster.kill(victim).await?;
    let gone = Instant::now();
    while gone.elapsed() < missed {
        let away = gone.elapsed().as_secs();
        console.note(&format!("server {victim} is away: {away} of {} s", missed.as_secs()));
        sleep(TELL.min(missed.saturating_sub(gone.elapsed()))).await;
    }
    let behind = ServerStatus::ask(&survivor, None).await?.height.saturating_sub(left);
    let again = Instant::now();
    cluster.restart(victim)?;
    let key = world.servers()[victim].key;
    let late = || {
        let message =
            format!("the server that was killed does not vote after {} s", BACK.as_secs());
        Failure::timed_out(message)
    };
    timeout(BACK, votes(&node, &survivor, key)).await.map_err(|_| late())?;
    Ok((behind, again.elapsed()))
}

/// Waits until the server is as far as the others, and certificates carry its signature.
async fn votes(node: &NodeUrl, survivor: &NodeUrl, server: PublicKey) {
    loop {
        let (own, other) =
            (ServerStatus::ask(node, None).await, ServerStatus::ask(survivor, None).await);
        if let (Ok(own), Ok(other)) = (own, other)
            && own.height.saturating_add(BEHIND) >= other.height
            && let Ok(true) = voted(node, server).await
        {
            return;
        }
        sleep(LOOK).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_of_a_few_is_the_ninety_ninth_percentile() {
        let back = [5, 1, 2, 4, 3].map(Duration::from_secs).to_vec();
        let figures = figures(SHORT, 1_200, back);
        let bound = Bound::AtMost(SHORT_MS);
        let named = |figure, ms| Figure::new(figure, ms, "ms", bound);
        assert_eq!(figures[3], named("votes after its restart p50", 3_000));
        assert_eq!(figures[4], named("votes after its restart p99", 5_000));
        assert!(!figures[4].holds() && !figures[4].fails());
    }
}
