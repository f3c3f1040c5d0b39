//! Many players with keys at once, and the fate of each of their acts.

mod pattern;
mod player;
mod reread;
mod tally;

use std::{fmt, time::Duration};

use futures::future::join_all;
use metatopia_client_driver::{GenesisTrust, NodeUrl};
use serde::Serialize;
use tokio::time::Instant;

pub(crate) use self::{
    pattern::Pattern,
    player::{BotPlayer, bot_name},
};
pub use self::{reread::lost, tally::ActTally};
use crate::LoadError;

/// The time that all players have to come in.
const ENTER: Duration = Duration::from_secs(30);

/// The settings of a crowd of players.
#[derive(Clone, Copy, Debug)]
pub struct CrowdSettings {
    /// The number of players.
    pub count: u32,
    /// The acts that each player sends in a second.
    pub rate: u32,
    /// How long the players act.
    pub duration: Duration,
    /// The seed that decides what the players do.
    pub seed: u64,
    /// Says whether those that look around also build.
    pub builds: bool,
}

/// The fates of the acts of all players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BotsSummary {
    /// Acts that were signed and sent.
    pub sent: u64,
    /// Acts with a receipt that was checked.
    pub acknowledged: u64,
    /// Acts that a node did not accept.
    pub refused: u64,
    /// Acts with a receipt that are missing in a turn of a server.
    pub lost: u64,
    /// The time in milliseconds within which half of the acts had their receipt.
    pub p50_ms: u64,
    /// The time in milliseconds within which 99 of 100 acts had their receipt.
    pub p99_ms: u64,
    /// Acts that got no answer.
    pub unanswered: u64,
}

impl fmt::Display for BotsSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "sent          {}", self.sent)?;
        writeln!(f, "acknowledged  {}", self.acknowledged)?;
        writeln!(f, "refused       {}", self.refused)?;
        writeln!(f, "unanswered    {}", self.unanswered)?;
        writeln!(f, "lost          {}", self.lost)?;
        write!(f, "act to receipt  p50 {} ms, p99 {} ms", self.p50_ms, self.p99_ms)
    }
}

/// Lets players play, reads all turns again, and returns the fates of the acts.
///
/// # Errors
/// See [`LoadError`].
pub async fn measure(
    nodes: &[NodeUrl],
    trust: &GenesisTrust,
    crowd: CrowdSettings,
) -> Result<BotsSummary, LoadError> {
    let tally = play(nodes, trust, crowd).await?;
    let (lost, reread) = lost(nodes, trust, tally.receipts()).await;
    reread?;
    Ok(tally.summary(lost))
}

impl BotsSummary {
    /// Checks that no act was lost, and that every act was answered.
    ///
    /// # Errors
    /// Returns [`LoadError::Lost`] or [`LoadError::Unanswered`].
    pub fn judge(&self) -> Result<(), LoadError> {
        let Self { lost, unanswered, acknowledged, .. } = *self;
        if lost > 0 {
            return Err(LoadError::Lost(lost));
        }
        if unanswered > 0 || acknowledged == 0 {
            return Err(LoadError::Unanswered(unanswered));
        }
        Ok(())
    }
}

/// Lets players in, and lets them act.
///
/// # Errors
/// See [`LoadError`].
pub async fn play(
    nodes: &[NodeUrl],
    trust: &GenesisTrust,
    crowd: CrowdSettings,
) -> Result<ActTally, LoadError> {
    let CrowdSettings { count, rate, duration, seed, builds } = crowd;
    let deadline = Instant::now() + ENTER;
    let entering = (0..count).map(|index| {
        let first = index as usize % nodes.len();
        let nodes = [&nodes[first..], &nodes[..first]].concat();
        let pattern = Pattern::new(seed, u64::from(index), builds);
        tokio::time::timeout_at(deadline, BotPlayer::enter(nodes, trust.clone(), index, pattern))
    });
    let mut players = Vec::new();
    for entered in join_all(entering).await {
        players.push(entered.map_err(|_| LoadError::Late(ENTER))??);
    }
    let pace = Duration::from_secs(1) / rate;
    let begin = Instant::now();
    let playing = players.into_iter().zip(0..).map(|(player, index): (BotPlayer, u32)| {
        // The starts are spread over the pace, so that the crowd does not act as one.
        let first = begin + pace * index / count;
        tokio::spawn(player.play(first, pace, begin + duration))
    });
    let mut all = ActTally::default();
    for played in join_all(playing.collect::<Vec<_>>()).await {
        all.add(played.map_err(LoadError::Player)?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: BotsSummary = BotsSummary {
        sent: 10,
        acknowledged: 9,
        refused: 1,
        lost: 0,
        p50_ms: 80,
        p99_ms: 120,
        unanswered: 0,
    };

    #[test]
    fn the_summary_has_the_documented_fields() {
        assert_eq!(
            serde_json::to_string(&FINE).unwrap(),
            r#"{"sent":10,"acknowledged":9,"refused":1,"lost":0,"p50_ms":80,"p99_ms":120,"unanswered":0}"#
        );
    }

    #[test]
    fn a_lost_act_fails_the_run_and_a_refused_one_does_not() {
        assert!(FINE.judge().is_ok());
        let lost = BotsSummary { lost: 1, unanswered: 1, ..FINE }.judge();
        assert!(matches!(lost, Err(LoadError::Lost(1))), "{lost:?}");
        let unanswered = BotsSummary { unanswered: 1, ..FINE }.judge();
        assert!(matches!(unanswered, Err(LoadError::Unanswered(1))), "{unanswered:?}");
        let idle = BotsSummary { acknowledged: 0, ..FINE }.judge();
        assert!(matches!(idle, Err(LoadError::Unanswered(0))), "{idle:?}");
    }
}
