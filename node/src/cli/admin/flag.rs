//! `admin flag` says which feature flags are on from which turn, and changes them.

use std::{fmt, time::Duration};

use clap::{Args, Subcommand};
use metatopia_sim::Charter;
use metatopia_types::{Height, limits::TICKS_PER_SECOND};
use serde::Serialize;

use super::set;
use crate::cli::{
    arguments,
    console::Console,
    failure::Failure,
    session::{ANSWER, NodeArgs, PlayerArgs},
};

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum FlagCommand {
    /// List the flags, and the turn from which each is on.
    #[command(after_help = "Example:\n  metatopia admin flag list\n\nWhat is printed was proved.")]
    List(FlagListArgs),
    /// Switch a flag on, at once or at a later turn.
    #[command(after_help = "Examples:\n  \
        metatopia admin flag set night_market --key admin.key             at once\n  \
        metatopia admin flag set night_market --in 2h --key admin.key     in the turn of then\n  \
        metatopia admin flag set night_market --at 90000 --key admin.key --dry-run\n\n\
        All servers switch it on in the same turn. Scripts ask by flag(\"night_market\"). A sim that stands \
        still\nreaches the turn later than --in says.")]
    Set(FlagSetArgs),
    /// Take a flag away: it is off for every script at once.
    #[command(after_help = "Example:\n  metatopia admin flag remove night_market --key admin.key")]
    Remove(FlagRemoveArgs),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct FlagListArgs {
    #[command(flatten)]
    at: NodeArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct FlagSetArgs {
    /// The name by which scripts ask for it: small letters, digits and underscores.
    #[arg(value_name = "NAME")]
    flag: String,
    /// The height of the first turn in which it is on.
    #[arg(long, value_name = "HEIGHT")]
    at: Option<u64>,
    /// The time until it is on.
    #[arg(long, value_name = "DURATION", value_parser = arguments::duration, conflicts_with = "at")]
    r#in: Option<Duration>,
    /// Only say what it would do, and to how many.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    admin: PlayerArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct FlagRemoveArgs {
    /// The name of the flag.
    #[arg(value_name = "NAME")]
    flag: String,
    /// Only say what it would do, and to how many.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    admin: PlayerArgs,
}

/// The line of a flag.
#[derive(Debug, Serialize)]
struct FlagLine {
    name: String,
    /// The first turn in which it is on.
    from: u64,
    /// Whether that turn was already.
    on: bool,
    /// Seconds until then, if the sim runs without a halt.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds_left: Option<u64>,
}

impl FlagLine {
    /// Returns the line of a flag that is on from `from`, where turns of this length have reached `now`.
    fn of(name: &str, from: Height, now: Height, ticks_per_turn: u32) -> Self {
        let turns = from.0.saturating_sub(now.0);
        let left = turns.saturating_mul(ticks_per_turn.into()).div_ceil(TICKS_PER_SECOND);
        let on = turns == 0;
        Self { name: name.to_owned(), from: from.0, on, seconds_left: (!on).then_some(left) }
    }
}

impl fmt::Display for FlagLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, from, seconds_left, .. } = self;
        match seconds_left {
            None if *from == 0 => write!(f, "{name}  on"),
            None => write!(f, "{name}  on since height {from}"),
            Some(left) => {
                let left = humantime::format_duration(Duration::from_secs(*left));
                write!(f, "{name}  on from height {from} on, in {left}")
            }
        }
    }
}

pub(in crate::cli) async fn run(command: FlagCommand, console: Console) -> Result<(), Failure> {
    match command {
        FlagCommand::List(args) => list(args, console).await,
        FlagCommand::Set(FlagSetArgs { flag, at, r#in: wait, dry_run, admin }) => {
            set::check("flags", &format!("+{flag}:0"))?;
            let (Height(now), charter) = ask(&admin.at).await?;
            let ticks = charter.parameters.ticks_per_turn;
            let from = match (at, wait) {
                (Some(height), _) => height,
                (None, None) => 0,
                (None, Some(wait)) => now.saturating_add(turns_in(wait, ticks)),
            };
            let known = charter.parameters.flags.0.get(&flag).copied();
            if let Some(known) = known.filter(|known| is_same(*known, Height(from), Height(now))) {
                return Err(Failure::refused(so_already(&flag, known, Height(now)))
                    .hint("`metatopia admin flag list` lists all flags"));
            }
            change(flag, Some(from), (&admin, dry_run), console).await
        }
        FlagCommand::Remove(FlagRemoveArgs { flag, dry_run, admin }) => {
            let (_, charter) = ask(&admin.at).await?;
            if !charter.parameters.flags.0.contains_key(&flag) {
                return Err(Failure::not_found(format!("the sim has no flag {flag:?}"))
                    .hint("`metatopia admin flag list` lists those that it has"));
            }
            change(flag, None, (&admin, dry_run), console).await
        }
    }
}

/// The line that tells of a flag that was changed.
#[derive(Debug, Serialize)]
struct FlagChanged {
    name: String,
    /// The first turn in which it is on; none if it was taken away.
    from: Option<u64>,
    /// The turn that changed it.
    height: u64,
}

impl fmt::Display for FlagChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, from, height } = self;
        match from {
            Some(from) if from > height => write!(f, "{name} is on from height {from} on")?,
            Some(_) => write!(f, "{name} is on")?,
            None => write!(f, "{name} is off")?,
        }
        write!(f, "; decided at height {height}")
    }
}

/// Says whether a flag that is on from `known` changes in nothing once it is on from `from`, where turns have
/// reached `now`.
fn is_same(known: Height, from: Height, now: Height) -> bool {
    known == from || known.max(from) <= now
}

/// Returns what is so already of a flag that is on from `known`, where turns have reached `now`.
fn so_already(name: &str, known: Height, now: Height) -> String {
    match known {
        Height(0) => format!("{name} is on already"),
        known if known <= now => format!("{name} is on already, since height {known}"),
        known => format!("{name} is on from height {known} on already"),
    }
}

/// Puts a flag on from a height, or takes it away, or only asks what that would do.
async fn change(
    name: String,
    from: Option<u64>,
    (admin, dry_run): (&PlayerArgs, bool),
    console: Console,
) -> Result<(), Failure> {
    let value = from.map_or_else(|| format!("+{name}:none"), |from| format!("+{name}:{from}"));
    let done = set::give(("flags".to_owned(), value), dry_run, admin, console).await?;
    match done.height {
        Some(height) => console.show(&FlagChanged { name, from, height }),
        None => console.show(&done),
    }
}

/// Returns the turns that run in a time, at least one.
fn turns_in(time: Duration, ticks_per_turn: u32) -> u64 {
    let ticks = time.as_millis().saturating_mul(TICKS_PER_SECOND.into()) / 1_000;
    u64::try_from(ticks).unwrap_or(u64::MAX).div_ceil(u64::from(ticks_per_turn.max(1))).max(1)
}

/// Asks for the charter and the height of the newest state whose root is certified, both proved.
async fn ask(at: &NodeArgs) -> Result<(Height, Charter), Failure> {
    let mut driver = at.open_to_ask().await?;
    let proved = driver.prove_charter(ANSWER).await;
    driver.leave().await;
    Ok(proved?)
}

async fn list(args: FlagListArgs, console: Console) -> Result<(), Failure> {
    let (now, charter) = ask(&args.at).await?;
    let parameters = charter.parameters;
    if parameters.flags.0.is_empty() {
        console.note("the sim has no feature flags");
    }
    for (name, from) in &parameters.flags.0 {
        console.show(&FlagLine::of(name, *from, now, parameters.ticks_per_turn))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_counted_in_turns() {
        assert_eq!(turns_in(Duration::from_secs(1), 3), 20);
        assert_eq!(turns_in(Duration::from_secs(7_200), 3), 144_000);
        assert_eq!(turns_in(Duration::from_millis(1), 3), 1);
    }

    /// A flag that was on was switched on again, as if that changed anything.
    #[test]
    fn a_flag_that_is_on_or_waits_for_the_same_turn_is_so_already() {
        let is_same = |known, from| is_same(Height(known), Height(from), Height(100));
        assert!(is_same(70, 0) && is_same(0, 0) && is_same(130, 130));
        assert!(!is_same(130, 0) && !is_same(70, 130) && !is_same(130, 140));
        let told = |known| so_already("fair", Height(known), Height(100));
        assert_eq!(told(0), "fair is on already");
        assert_eq!(told(70), "fair is on already, since height 70");
        assert_eq!(told(130), "fair is on from height 130 on already");
    }

    #[test]
    fn a_changed_flag_says_from_when_it_is_on() {
        let told = |from| FlagChanged { name: "fair".to_owned(), from, height: 9 }.to_string();
        assert_eq!(told(Some(70)), "fair is on from height 70 on; decided at height 9");
        assert_eq!(told(Some(0)), "fair is on; decided at height 9");
        assert_eq!(told(None), "fair is off; decided at height 9");
    }

    #[test]
    fn a_flag_says_when_it_is_on() {
        let line = |from| FlagLine::of("fair", Height(from), Height(100), 3).to_string();
        assert_eq!(line(100), "fair  on since height 100");
        assert_eq!(line(0), "fair  on");
        assert_eq!(line(1_300), "fair  on from height 1300 on, in 1m");
    }
}
