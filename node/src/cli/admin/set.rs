//! `admin set` changes the sim's name, or one of its agreed numbers.

use std::{fmt, time::Duration};

use clap::{Args, builder::PossibleValuesParser};
use metatopia_client::text::printable;
use metatopia_client_driver::ClientDriver;
use metatopia_protocol::{Answer, IntendedChange, IntendedChangeEntry, Question};
use metatopia_sim::{
    AMENDABLE, AgreedPorts, AmendError, FeatureFlags, FirstLogin, LandClaims, Parameters,
    Publishers, is_name,
};
use metatopia_types::{Act, Blob, Height, SimId};
use serde::Serialize;

use super::{meanings, orders::refused_as};
use crate::cli::{
    console::Console,
    failure::Failure,
    numbers::number_of,
    say::carry_through,
    session::{ANSWER, PlayerArgs},
};

#[derive(Debug, Args)]
pub(in crate::cli) struct SetArgs {
    /// The value to change.
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(AMENDABLE),
        hide_possible_values = true)]
    parameter: String,
    /// The new value: a number, `true` or `false`, a word, or a list of ports.
    value: String,
    /// Only say what it would do, and to how many.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    admin: PlayerArgs,
}

/// Returns the values that can be changed, for `--help`.
pub(super) fn names() -> String {
    let mut text = format!("Values:{}", meanings::lines());
    text.push_str(
        "\n\nExamples:\n  metatopia admin set first_login invite --key admin.key\n  \
         metatopia admin set objects_max 4000 --key admin.key --dry-run\n  \
         metatopia admin set building.open_ground false --key admin.key\n  \
         metatopia admin set chat.slow_seconds 10 --key admin.key     slow mode: a line in ten seconds\n\n\
         `ttl_seconds` counts from the founding: a sim that has run for longer ends at once, for good. 0 is for \
         ever.\n\
         `chat.quiet_from` and `chat.quiet_until` are minutes of the day, UTC: 1320 and 360 are quiet \
         hours from\n22:00 to 6:00.\n\n\
         Permanent admins change values, and those to whom one of them gave `administer`. A temp admin \
         does not, so\nthat nobody keeps the sim by it. Ground, spawn and ticks of a turn stay as the sim \
         was founded.",
    );
    text
}

/// The line that tells of a changed value.
#[derive(Debug, Serialize)]
pub(super) struct Changed {
    name: String,
    value: String,
    /// The turn that changed it; none if it was only asked what the change would do.
    pub(super) height: Option<u64>,
    /// When the sim ends by it, in words, if the value says that.
    #[serde(skip_serializing_if = "Option::is_none")]
    ends: Option<String>,
    /// What the change would do, if only that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    would: Option<WouldSet>,
}

/// What a changed value would do.
#[derive(Debug, Serialize)]
struct WouldSet {
    /// The value as it is.
    before: String,
    players: u32,
    here: u32,
    /// What lets its author do so.
    by: String,
}

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, .. } = self;
        match &self.would {
            Some(WouldSet { before, players, here, by }) => {
                write!(f, "would: change {name} from {before} to {value} {by}, for all of ")?;
                let players = number_of(*players, "player", "players");
                write!(f, "{players}, {here} of them here")?;
            }
            None => {
                let height = self.height.unwrap_or_default();
                write!(f, "{name} is {value} from height {height} on")?;
            }
        }
        self.ends.as_ref().map_or(Ok(()), |ends| write!(f, "; {ends}"))
    }
}

/// Checks a value before an act is spent on it. The ranges are the same in every sim.
pub(super) fn check(name: &str, value: &str) -> Result<(), Failure> {
    if name == "name" {
        let wrong = || Failure::usage(format!("{value:?} is no name: one short line, not empty"));
        return if is_name(value) { Ok(()) } else { Err(wrong()) };
    }
    if name == "world" {
        let wrong = |_| Failure::usage(format!("{value:?} is no id of a land office"));
        return value.parse::<SimId>().map(drop).map_err(wrong);
    }
    if let ("ports", Err(error)) = (name, AgreedPorts::default().changed_by(value)) {
        return Err(Failure::usage(error.to_string())
            .hint("`metatopia script ports` prints the digests of this program's ports"));
    }
    if let ("flags", Err(error)) = (name, FeatureFlags::default().changed_by(value)) {
        return Err(Failure::usage(error.to_string()));
    }
    Parameters::default().amend(name, value).map_err(|error| match error {
        AmendError::Parameters(error) => Failure::usage(error.to_string()),
        AmendError::Value | AmendError::NoSuchName => {
            Failure::usage(format!("{value:?} is no value of {name}")).hint(&taken(name))
        }
    })
}

/// Returns what a value is written like, in words.
fn taken(name: &str) -> String {
    let listed = |words: Vec<&str>| format!("{name} is one of {}", words.join(", "));
    match name {
        "first_login" => listed(FirstLogin::ALL.iter().map(|(_, word)| *word).collect()),
        "publishers" => listed(Publishers::ALL.iter().map(|(_, word)| *word).collect()),
        "land_claims" => listed(LandClaims::ALL.iter().map(|(_, word)| *word).collect()),
        _ => match Parameters::default().setting(name).as_deref() {
            Some("true" | "false") => format!("{name} is true or false"),
            _ => "numbers look like 2.5 or 40, switches are true or false".to_owned(),
        },
    }
}

pub(super) async fn run(args: SetArgs, console: Console) -> Result<(), Failure> {
    let SetArgs { parameter: name, value, dry_run, admin } = args;
    check(&name, &value)?;
    warn_of_ports(&name, &value, console);
    console.show(&give((name, value), dry_run, &admin, console).await?)
}

/// Warns of ports that this program is made without. The program of the servers may be another one.
fn warn_of_ports(name: &str, value: &str, console: Console) {
    let ports = (name == "ports").then(|| AgreedPorts::default().changed_by(value));
    let Some(Ok(ports)) = ports else { return };
    if let Some(port) = metatopia_audit::tools().missing_port(&ports, Height(u64::MAX)) {
        console.warn(&format!(
            "warning: {port}. A server of such a program stops before that height; until then \
             `metatopia admin set ports +{}:none` takes it back",
            port.package
        ));
    }
}

/// Gives a value that was checked, or only asks what it would do.
pub(super) async fn give(
    named: (String, String),
    dry_run: bool,
    admin: &PlayerArgs,
    console: Console,
) -> Result<Changed, Failure> {
    let mut driver = admin.open().await?;
    let done = change(&mut driver, named, (admin, dry_run), console).await;
    driver.leave().await;
    done
}

/// Changes a value, or only asks what that would do.
async fn change(
    driver: &mut ClientDriver,
    (name, value): (String, String),
    (admin, dry_run): (&PlayerArgs, bool),
    console: Console,
) -> Result<Changed, Failure> {
    let act = Act::Amend { name: name.clone(), value: value.clone() };
    check_new((&name, &value), &try_change(driver, (act.clone(), None)).await?)?;
    // Before the change: a sim that has ended answers for some seconds only.
    let ends = match name.as_str() {
        "ttl_seconds" => Some(end(driver, &act, &value).await?),
        _ => None,
    };
    if dry_run {
        let would = Some(would(driver, act, &format!("the change of {name} to {value}")).await?);
        return Ok(Changed { name, value, height: None, ends, would });
    }
    let what = format!("the change of {name} to {value}");
    let height = carry_through(driver, admin, (&what, (act, Vec::new())), console).await?;
    Ok(Changed { name, value, height: Some(height.0), ends, would: None })
}

/// Refuses a value that the sim has already, as the sim refuses other orders that change nothing. Ports and flags are
/// lists, of which a value names a part.
fn check_new((name, value): (&str, &str), told: &IntendedChangeEntry) -> Result<(), Failure> {
    let is_list = matches!(name, "flags" | "ports");
    if is_list || told.value != written(name, value) {
        return Ok(());
    }
    let message = format!("{name} is {} already", printable(&told.value));
    Err(Failure::refused(message).hint("nothing was sent"))
}

/// Returns a value that was checked as the sim writes it.
fn written(name: &str, value: &str) -> String {
    let mut parameters = Parameters::default();
    let setting = parameters.amend(name, value).ok().and_then(|()| parameters.setting(name));
    setting.unwrap_or_else(|| value.to_owned())
}

/// Returns when the sim ends once it lives for so many seconds, in words.
async fn end(driver: &mut ClientDriver, act: &Act, seconds: &str) -> Result<String, Failure> {
    let before = try_change(driver, (act.clone(), None)).await?.value;
    let Answer::Governance(told) = driver.ask(Question::Governance, ANSWER).await? else {
        return Err(Failure::failed("the node does not say how long the sim has run"));
    };
    let milliseconds = |text: &str| text.parse::<i64>().unwrap_or(0).saturating_mul(1_000);
    let (before, after) = (milliseconds(&before), milliseconds(seconds));
    let age = match told.time_left {
        Some(left) => Some(before.saturating_sub(left)),
        // A successor goes on counting where its parent ended, and does not say when that was.
        None if driver.trust().genesis.parent.is_some() => None,
        None => i64::try_from(told.time).ok(),
    };
    Ok(ending(after, age))
}

/// Returns when a sim of this age, if it is known, ends that lives for so long, both in milliseconds.
fn ending(lives: i64, age: Option<i64>) -> String {
    let span = |milliseconds: i64| {
        let seconds = milliseconds.max(0).unsigned_abs().div_ceil(1_000);
        humantime::format_duration(Duration::from_secs(seconds)).to_string()
    };
    match age.map(|age| lives.saturating_sub(age)) {
        _ if lives == 0 => "the sim never ends".to_owned(),
        Some(left @ 1..) => format!("the sim ends in {}", span(left)),
        Some(_) => "the sim ends at once, for good: it has run for longer, and from its end on \
                    every act is refused"
            .to_owned(),
        None => format!(
            "the sim ends once it has run for {} since its founding, and at once if it has",
            span(lives)
        ),
    }
}

/// Asks what a change of a value would do.
async fn would(driver: &mut ClientDriver, act: Act, what: &str) -> Result<WouldSet, Failure> {
    let told = try_change(driver, (act, None)).await?;
    let IntendedChangeEntry { verdict, value: before, players, here, .. } = told;
    let by = verdict.map_err(|why| refused_as(what, why))?;
    Ok(WouldSet { before, players, here, by })
}

/// Asks what an act that is no order about people would do, with the blob that it names, or which rule refuses it.
pub(in crate::cli) async fn try_change(
    driver: &mut ClientDriver,
    (act, blob): (Act, Option<Blob>),
) -> Result<IntendedChangeEntry, Failure> {
    let intended = IntendedChange { author: driver.author(), act, blob };
    match driver.ask(Question::TryChange(Box::new(intended)), ANSWER).await? {
        Answer::Change(told) => Ok(*told),
        _ => Err(Failure::failed("the node does not say what a change would do")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::exit::Exit;

    #[test]
    fn a_value_that_no_sim_can_have_is_told_with_its_range_before_anything_is_sent() {
        for (name, value, told) in [
            ("building.reach", "101", "building.reach is 101, outside of 1 to 100"),
            ("objects_max", "many", "\"many\" is no value of objects_max"),
            ("first_login", "ajar", "first_login is one of open, work, invite, closed"),
            ("publishers", "nobody", "publishers is one of anybody, seen, builders, admins"),
            ("building.open_ground", "yes", "building.open_ground is true or false"),
            ("ports", "greeter", "ports are written PACKAGE:PORT:GAS:HEIGHT"),
            ("flags", "fair", "flags are written NAME:HEIGHT"),
            ("flags", "+Fair:1", "\"Fair\" is no name of a flag"),
            ("name", "", "\"\" is no name"),
            ("world", "Earth", "\"Earth\" is no id of a land office"),
        ] {
            let failure = check(name, value).expect_err("it is wrong");
            assert_eq!(failure.exit, Exit::Usage);
            assert!(failure.message.contains(told), "{failure}");
        }
        assert!(check("building.reach", "2.5").is_ok());
        assert!(check("name", "Harbour").is_ok());
    }

    #[test]
    fn a_value_that_the_sim_has_already_is_not_sent_again() {
        let told = |value: &str| IntendedChangeEntry {
            verdict: Ok("as admin".to_owned()),
            value: value.to_owned(),
            players: 1,
            here: 1,
            voters: 4,
        };
        let same = check_new(("building.reach", "2.50"), &told(&written("building.reach", "2.5")));
        let failure = same.expect_err("it is so already");
        assert_eq!(failure.exit, Exit::Refused);
        assert!(failure.message.ends_with(" already; nothing was sent"), "{failure}");
        assert!(check_new(("objects_max", "4000"), &told("2000")).is_ok());
        assert!(check_new(("name", "Harbour"), &told("Harbour")).is_err());
    }

    #[test]
    fn a_dry_run_tells_both_values_and_how_many_people_it_is_about() {
        let would =
            WouldSet { before: "2000".to_owned(), players: 12, here: 3, by: "as admin".to_owned() };
        let (name, value) = ("objects_max".to_owned(), "4000".to_owned());
        let tried = Changed { name, value, height: None, ends: None, would: Some(would) };
        let told = "would: change objects_max from 2000 to 4000 as admin, for all of 12 players, \
                    3 of them here";
        assert_eq!(tried.to_string(), told);
        let done = Changed { height: Some(9), would: None, ..tried };
        assert_eq!(done.to_string(), "objects_max is 4000 from height 9 on");
    }

    /// A number of seconds in the past ended a sim at once, and neither the order nor its dry run had said so.
    #[test]
    fn a_change_of_how_long_a_sim_lives_says_when_it_ends() {
        let hour = 3_600_000;
        assert_eq!(ending(0, Some(hour)), "the sim never ends");
        assert_eq!(ending(3 * hour, Some(hour)), "the sim ends in 2h");
        assert!(ending(hour, Some(hour)).starts_with("the sim ends at once, for good"));
        assert!(ending(hour, None).starts_with("the sim ends once it has run for 1h since"));
        let (name, value) = ("ttl_seconds".to_owned(), "60".to_owned());
        let ends = Some(ending(60_000, Some(hour)));
        let done = Changed { name, value, height: Some(9), ends, would: None };
        assert!(
            done.to_string().starts_with("ttl_seconds is 60 from height 9 on; the sim ends at")
        );
    }

    #[test]
    fn the_help_lists_every_value_in_lines_of_a_terminal() {
        let help = names();
        assert!(AMENDABLE.iter().all(|name| help.contains(name)));
        assert!(help.lines().all(|line| line.len() <= 110), "{help}");
    }
}
