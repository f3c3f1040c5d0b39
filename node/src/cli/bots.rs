//! `bots`: many signed players at once, and what became of every one of their acts.

mod pattern;
mod player;
mod reread;
mod tally;

use std::{fmt, time::Duration};

use clap::Args;
use futures::future::join_all;
use metatopia_client_driver::{GenesisTrust, NodeUrl};
use serde::Serialize;
use tokio::time::Instant;

pub(super) use self::tally::ActTally;
use self::{pattern::Pattern, player::BotPlayer};
use super::{arguments, console::Console, exit::Exit, failure::Failure, session::NodeArgs};

/// Time for all players to come in.
const ENTER: Duration = Duration::from_secs(30);

/// Arguments of `metatopia bots`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    metatopia bots --node http://127.0.0.1:8080,http://127.0.0.1:8081 --count 50 --json\n\n\
    Players are spread over the nodes. An act is acknowledged when its receipt was checked, and\n\
    lost when it has a receipt but is not in the turn that each of the nodes then hands out.\n\
    Players have new keys in every run; what they do follows from --seed.")]
pub(super) struct BotsArgs {
    #[command(flatten)]
    at: NodeArgs,
    /// How many players.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    count: u32,
    /// Acts a second of each.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    rate: u32,
    /// How long they act.
    #[arg(long, default_value = "20s", value_parser = arguments::duration)]
    duration: Duration,
    /// What they do.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// One in five also puts up boxes on open land, and takes them away again.
    #[arg(long)]
    build: bool,
}

/// What a crowd shall do.
#[derive(Clone, Copy, Debug)]
pub(super) struct CrowdSettings {
    pub(super) count: u32,
    pub(super) rate: u32,
    pub(super) duration: Duration,
    pub(super) seed: u64,
    /// Do those that look around also build?
    pub(super) builds: bool,
}

/// What became of the acts of all players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct BotsSummary {
    /// Acts that were signed and sent.
    pub(super) sent: u64,
    /// Acts with a receipt that was checked.
    pub(super) acknowledged: u64,
    /// Acts that a node would not take.
    pub(super) refused: u64,
    /// Acts with a receipt that are missing in a turn of a server.
    pub(super) lost: u64,
    /// Half of the acts had their receipt after so many milliseconds.
    pub(super) p50_ms: u64,
    /// Ninety-nine of a hundred had.
    pub(super) p99_ms: u64,
    /// Acts that nobody answered.
    pub(super) unanswered: u64,
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

pub(super) async fn run(args: BotsArgs, console: Console) -> Result<(), Failure> {
    let trust = args.at.learn().await?;
    let BotsArgs { count, rate, duration, seed, build: builds, .. } = args;
    console.note(&format!("{count} players act for {} s", duration.as_secs_f32()));
    let crowd = CrowdSettings { count, rate, duration, seed, builds };
    let tally = play(&args.at.node, &trust, crowd).await?;
    console.note("reading all turns again");
    let (lost, reread) = reread::lost(&args.at.node, &trust, tally.receipts()).await;
    let summary = tally.summary(lost);
    console.show(&summary)?;
    reread?;
    judge(&summary)
}

/// Players play, and all is read again; used to measure.
pub(super) async fn measure(
    nodes: &[NodeUrl],
    trust: &GenesisTrust,
    crowd: CrowdSettings,
) -> Result<BotsSummary, Failure> {
    let tally = play(nodes, trust, crowd).await?;
    let (lost, reread) = reread::lost(nodes, trust, tally.receipts()).await;
    reread?;
    Ok(tally.summary(lost))
}

/// The verdict on a run.
fn judge(summary: &BotsSummary) -> Result<(), Failure> {
    let BotsSummary { lost, unanswered, acknowledged, .. } = *summary;
    if lost > 0 {
        let message = format!("{lost} acts have a receipt and are in no turn of some server");
        return Err(Failure::unverified(message));
    }
    if unanswered > 0 || acknowledged == 0 {
        let message = format!("{unanswered} acts were not answered in time");
        return Err(Failure::new(Exit::TimedOut, message).hint("see `metatopia status`"));
    }
    Ok(())
}

async fn play(
    nodes: &[NodeUrl],
    trust: &GenesisTrust,
    crowd: CrowdSettings,
) -> Result<ActTally, Failure> {
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
        let late = || Failure::timed_out(format!("not all players came in within {ENTER:?}"));
        players.push(entered.map_err(|_| late())??);
    }
    let pace = Duration::from_secs(1) / rate;
    let begin = Instant::now();
    let playing = players.into_iter().zip(0..).map(|(player, index): (BotPlayer, u32)| {
        // Spread over the pace, so that the crowd does not act as one.
        let first = begin + pace * index / count;
        tokio::spawn(player.play(first, pace, begin + duration))
    });
    let mut all = ActTally::default();
    for played in join_all(playing.collect::<Vec<_>>()).await {
        let tally = played.map_err(|error| Failure::failed(format!("a player: {error}")))?;
        all.add(tally);
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
        let exit = |summary: BotsSummary| judge(&summary).map_err(|failure| failure.exit);
        assert_eq!(exit(FINE), Ok(()));
        assert_eq!(exit(BotsSummary { lost: 1, unanswered: 1, ..FINE }), Err(Exit::Unverified));
        assert_eq!(exit(BotsSummary { unanswered: 1, ..FINE }), Err(Exit::TimedOut));
        assert_eq!(exit(BotsSummary { acknowledged: 0, ..FINE }), Err(Exit::TimedOut));
    }
}
