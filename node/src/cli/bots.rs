//! `bots` plays many players with keys at once, and says what happened to each of their acts.

use std::time::Duration;

use clap::Args;
use metatopia_load::{
    LoadError,
    bots::{self, CrowdSettings},
};

use super::{
    arguments, console::Console, exit::Exit, failure::Failure, numbers::number_of,
    session::NodeArgs,
};

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
    /// The number of players.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    count: u32,
    /// The acts that each player sends in a second.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    rate: u32,
    /// How long the players act.
    #[arg(long, default_value = "20s", value_parser = arguments::duration)]
    duration: Duration,
    /// The number that decides what the players do.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Have one player in five put up boxes on open land, and take them away again.
    #[arg(long)]
    build: bool,
}

pub(super) async fn run(args: BotsArgs, console: Console) -> Result<(), Failure> {
    let trust = args.at.learn().await?;
    let BotsArgs { count, rate, duration, seed, build: builds, .. } = args;
    let players = number_of(count, "player acts", "players act");
    console.note(&format!("{players} for {} s", duration.as_secs_f32()));
    let crowd = CrowdSettings { count, rate, duration, seed, builds };
    let tally = bots::play(&args.at.node, &trust, crowd).await?;
    console.note("reading all turns again");
    let (lost, reread) = bots::lost(&args.at.node, &trust, tally.receipts()).await;
    let summary = tally.summary(lost);
    console.show(&summary)?;
    reread?;
    Ok(summary.judge()?)
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        let message = error.to_string();
        match error {
            LoadError::Endpoint(error) => error.into(),
            LoadError::Drive(error) => error.into(),
            LoadError::Proof(error) => error.into(),
            LoadError::FirstLogin(error) => error.into(),
            LoadError::Unread { node, error } => {
                let failure = Self::from(*error);
                Self::new(failure.exit, format!("the turns of {node} were not read: {failure}"))
            }
            LoadError::LoginRefused { .. } | LoadError::LoginNotTaken { .. } => {
                Self::refused(message)
            }
            LoadError::Player(_) | LoadError::Goodbye(_) => Self::failed(message),
            LoadError::OtherTurn { .. } => Self::new(Exit::Diverged, message),
            LoadError::Lost(_) => Self::unverified(message),
            LoadError::Unanswered(_) => Self::timed_out(message).hint("see `metatopia status`"),
            LoadError::Late(_)
            | LoadError::Silent
            | LoadError::Carrier(_)
            | LoadError::Frame(_) => Self::timed_out(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use metatopia_client_driver::ProofError;
    use metatopia_types::Height;

    use super::*;

    #[test]
    fn what_bots_find_has_the_documented_codes() {
        let exit = |error: LoadError| Failure::from(error).exit;
        let node = "http://127.0.0.1:8080".parse().unwrap();
        assert_eq!(exit(LoadError::Lost(1)), Exit::Unverified);
        assert_eq!(exit(LoadError::Unanswered(1)), Exit::TimedOut);
        assert_eq!(exit(LoadError::OtherTurn { node, height: Height(7) }), Exit::Diverged);
        assert_eq!(exit(LoadError::Late(Duration::from_secs(30))), Exit::TimedOut);
    }

    #[test]
    fn a_server_whose_turns_were_not_read_is_named_and_keeps_the_code_of_the_reason() {
        let node = "http://127.0.0.1:8080".parse().unwrap();
        let error = Box::new(LoadError::Proof(ProofError::Pruned(Height(600))));
        let failure = Failure::from(LoadError::Unread { node, error });
        assert_eq!(failure.exit, Exit::NotFound);
        let message = "the turns of http://127.0.0.1:8080/ were not read: the node has removed";
        assert!(failure.message.starts_with(message), "{failure}");
    }
}
