//! Orders about people and their things: each by an act, or only said what it would do.

use std::{fmt, time::Duration};

use clap::{Args, Subcommand};
use metatopia_client_driver::ClientDriver;
use metatopia_protocol::{
    Answer, DryRunEntry, GovernedThing, IntendedOrder, KeyHoldings, PersonEntry, Question,
    TracedThings,
};
use metatopia_sim::{is_line, limits::UNDONE_PER_ACT_MAX};
use metatopia_types::{
    Act, GovernOrder, ObjectId, PublicKey, Refusal, RoleRight, Ruling, Title,
    limits::{MOTD_BYTES_MAX, REASON_BYTES_MAX},
};
use serde::Serialize;

use super::area::AreaArgs;
use crate::cli::{
    console::Console,
    failure::Failure,
    numbers::number_of,
    say::carry_through,
    session::{ANSWER, PlayerArgs},
};

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum GovernCommand {
    /// Give a player rights, for a time or for good.
    #[command(after_help = "Examples:\n  \
        metatopia admin grant KEY moderate,speak --for 30d --key admin.key\n  \
        metatopia admin grant KEY build,land --area 4 -20 16 8 --key admin.key --dry-run\n\n\
        Rights: build (things of others), script (scripts on them, and new source), speak (the message \
        of the day),\nmoderate (tickets, kick, ban, mute, freeze, return), land (closed ground), borders, \
        servers (who votes),\nadminister (numbers, and roles). Only a permanent admin gives borders, \
        servers and administer.\nWith --area, build, moderate (things alone) and land hold on that ground \
        alone.")]
    Grant(GrantArgs),
    /// Take rights from a player.
    #[command(after_help = "Examples:\n  metatopia admin revoke KEY moderate --key admin.key\n  \
        metatopia admin revoke KEY build,land --area 4 -20 16 8 --key admin.key")]
    Revoke(RevokeArgs),
    /// Make a player a permanent admin. Only permanent admins may.
    #[command(
        after_help = "Examples:\n  metatopia admin appoint KEY --key admin.key --dry-run\n  \
        metatopia admin appoint KEY --key admin.key"
    )]
    Appoint(KeyArgs),
    /// Make a permanent admin a player as others are; never the last one.
    #[command(after_help = "Example:\n  metatopia admin dismiss KEY --key admin.key")]
    Dismiss(KeyArgs),
    /// End a player's session, on every server. The player may come back.
    #[command(after_help = "Example:\n  metatopia admin kick KEY --key admin.key")]
    Kick(KeyArgs),
    /// Shut a key out from the next turn on, for a time or for good.
    #[command(after_help = "Examples:\n  \
        metatopia admin ban KEY --for 7d --reason \"walls in the plaza\" --key admin.key\n  \
        metatopia admin ban KEY --key admin.key --dry-run\n\n\
        Its acts and logins are refused, its session ends, and servers hang up. Days on which the sim \
        stood still\ndo not count.")]
    Ban(SanctionArgs),
    /// Let a key in again.
    #[command(after_help = "Example:\n  metatopia admin unban KEY --key admin.key")]
    Unban(KeyArgs),
    /// Take a key's voice, for a time or for good.
    #[command(
        after_help = "Example:\n  metatopia admin mute KEY --for 1h --reason shouting --key admin.key"
    )]
    Mute(SanctionArgs),
    /// Give a key its voice back.
    #[command(after_help = "Example:\n  metatopia admin unmute KEY --key admin.key")]
    Unmute(KeyArgs),
    /// Stop a thing: its scripts do not run, and nobody pushes or changes it.
    #[command(after_help = "Example:\n  metatopia admin freeze 17 --key admin.key")]
    Freeze(ThingArgs),
    /// Let a frozen thing go on.
    #[command(after_help = "Example:\n  metatopia admin thaw 17 --key admin.key")]
    Thaw(ThingArgs),
    /// Return a thing to its owner: onto the owner's land, or else out of the sim.
    #[command(after_help = "Examples:\n  metatopia admin return 17 --key admin.key --dry-run\n  \
        metatopia admin return 17 --key admin.key\n\n\
        A thing whose owner has land with room goes there. Any other is deleted with its scripts, and \
        nothing undoes it.")]
    Return(ThingArgs),
    /// Set the message of the day, which everybody reads who comes.
    #[command(after_help = "Examples:\n  metatopia admin motd \"Market day!\" --key admin.key\n  \
        metatopia admin motd --clear --key admin.key")]
    Motd(MotdArgs),
    /// Rule on reports: uphold them, or dismiss them. Their reporters are told.
    #[command(after_help = "Examples:\n  \
        metatopia admin decide 3 --upheld --because \"walls stay off doors\" --key admin.key\n  \
        metatopia admin decide 3 --dismissed --key admin.key --dry-run\n\n\
        `metatopia admin reports` lists what is open. Nobody rules on a report about somebody with as much \
        to say;\nabout a permanent admin, permanent admins do.")]
    Decide(DecideArgs),
    /// Undo what a key did to things: what it made goes home, what it changed or deleted is what it was.
    #[command(after_help = "Examples:\n  \
        metatopia admin undo --by KEY --since 2h --key admin.key --dry-run\n  \
        metatopia admin undo --by KEY --since 2h --key admin.key\n\n\
        A sim remembers for a day what the last 4,096 things were that somebody changed. What somebody else \
        changed\nsince stays as it is. One act undoes 32 things; as many acts are sent as it takes. \
        `metatopia admin log` says\nof each how many things stayed because a rule was against it.")]
    Undo(UndoArgs),
}

/// What every order takes.
#[derive(Debug, Args)]
pub(in crate::cli) struct OrderArgs {
    /// Only say what it would do, and to whom.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    admin: PlayerArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct GrantArgs {
    /// The player's key: 64 hexadecimal digits.
    person: PublicKey,
    /// The rights, with commas between them.
    #[arg(value_delimiter = ',', required = true, value_parser = right)]
    rights: Vec<RoleRight>,
    /// For how long, of the time in which the sim runs [default: for good].
    #[arg(long = "for", value_name = "DURATION", value_parser = seconds)]
    lasts: Option<u32>,
    #[command(flatten)]
    on: AreaArgs,
    #[command(flatten)]
    order: OrderArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RevokeArgs {
    /// The player's key: 64 hexadecimal digits.
    person: PublicKey,
    /// The rights, with commas between them.
    #[arg(value_delimiter = ',', required = true, value_parser = right)]
    rights: Vec<RoleRight>,
    #[command(flatten)]
    on: AreaArgs,
    #[command(flatten)]
    order: OrderArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct KeyArgs {
    /// The key: 64 hexadecimal digits.
    person: PublicKey,
    #[command(flatten)]
    order: OrderArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SanctionArgs {
    /// The key: 64 hexadecimal digits.
    person: PublicKey,
    /// For how long, of the time in which the sim runs [default: for good].
    #[arg(long = "for", value_name = "DURATION", value_parser = seconds)]
    lasts: Option<u32>,
    /// Why, in a line that the person reads.
    #[arg(long, default_value = "", value_name = "TEXT", value_parser = reason)]
    reason: String,
    #[command(flatten)]
    order: OrderArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ThingArgs {
    /// The number of the thing.
    object: u64,
    #[command(flatten)]
    order: OrderArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct MotdArgs {
    /// The message: one line of at most 400 bytes.
    #[arg(required_unless_present = "clear", value_parser = motd)]
    text: Option<String>,
    /// Take the message away.
    #[arg(long, conflicts_with = "text")]
    clear: bool,
    #[command(flatten)]
    order: OrderArgs,
}

#[derive(Debug, Args)]
#[group(id = "ruling", required = true, multiple = false, args = ["upheld", "dismissed"])]
pub(in crate::cli) struct DecideArgs {
    /// The number of the report.
    report: u64,
    /// The report was right.
    #[arg(long)]
    upheld: bool,
    /// The report was not.
    #[arg(long)]
    dismissed: bool,
    /// Why, in a line that the reporter reads.
    #[arg(long, default_value = "", value_name = "TEXT", value_parser = reason)]
    because: String,
    #[command(flatten)]
    order: OrderArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct UndoArgs {
    /// The key that did it: 64 hexadecimal digits.
    #[arg(long, value_name = "KEY")]
    by: PublicKey,
    /// Since how long ago, of the time in which the sim ran.
    #[arg(long, value_name = "DURATION", value_parser = seconds)]
    since: u32,
    #[command(flatten)]
    order: OrderArgs,
}

/// Reads a right of a role.
fn right(word: &str) -> Result<RoleRight, String> {
    RoleRight::of(word).ok_or_else(|| {
        let words: Vec<&str> = RoleRight::ALL.iter().map(|(word, _)| *word).collect();
        format!("rights are {}", words.join(", "))
    })
}

/// Reads a span of time of at least a second.
fn seconds(text: &str) -> Result<u32, String> {
    let like = "a span looks like 30m, 7d or 1y";
    let span = humantime::parse_duration(text).map_err(|error| format!("{error}; {like}"))?;
    match u32::try_from(span.as_secs()) {
        Ok(seconds @ 1..) => Ok(seconds),
        Ok(0) => Err("at least 1s".to_owned()),
        Err(_) => Err("at most 136 years; leave it out for good".to_owned()),
    }
}

/// Reads the reason of a ban or a mute.
fn reason(text: &str) -> Result<String, String> {
    line(text, REASON_BYTES_MAX)
}

/// Reads a message of the day.
fn motd(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("not empty; --clear takes the message away".to_owned());
    }
    line(text, MOTD_BYTES_MAX)
}

/// Reads a line of at most so many bytes.
fn line(text: &str, most: usize) -> Result<String, String> {
    let fits = text.len() <= most && is_line(text);
    if fits { Ok(text.to_owned()) } else { Err(format!("one line of at most {most} bytes")) }
}

impl GovernCommand {
    /// Returns the order, and what every order takes.
    ///
    /// # Errors
    /// When an area has no ground.
    fn order(self) -> Result<(GovernOrder, OrderArgs), Failure> {
        Ok(match self {
            Self::Grant(GrantArgs { person: key, rights, lasts: seconds, on, order }) => {
                let rights = rights.into_iter().collect();
                match on.area()? {
                    None => (GovernOrder::Grant { key, rights, seconds }, order),
                    Some(area) => (GovernOrder::GrantArea { key, rights, area, seconds }, order),
                }
            }
            Self::Revoke(RevokeArgs { person: key, rights, on, order }) => {
                let rights = rights.into_iter().collect();
                match on.area()? {
                    None => (GovernOrder::Revoke { key, rights }, order),
                    Some(area) => (GovernOrder::RevokeArea { key, rights, area }, order),
                }
            }
            Self::Appoint(KeyArgs { person: key, order }) => {
                (GovernOrder::NameAdmin { key }, order)
            }
            Self::Dismiss(KeyArgs { person: key, order }) => {
                (GovernOrder::RemoveAdmin { key }, order)
            }
            Self::Kick(KeyArgs { person: key, order }) => (GovernOrder::Kick { key }, order),
            Self::Ban(SanctionArgs { person: key, lasts: seconds, reason, order }) => {
                (GovernOrder::Ban { key, seconds, reason }, order)
            }
            Self::Unban(KeyArgs { person: key, order }) => (GovernOrder::Unban { key }, order),
            Self::Mute(SanctionArgs { person: key, lasts: seconds, reason, order }) => {
                (GovernOrder::Mute { key, seconds, reason }, order)
            }
            Self::Unmute(KeyArgs { person: key, order }) => (GovernOrder::Unmute { key }, order),
            Self::Freeze(ThingArgs { object, order }) => {
                (GovernOrder::Freeze { object: ObjectId(object) }, order)
            }
            Self::Thaw(ThingArgs { object, order }) => {
                (GovernOrder::Thaw { object: ObjectId(object) }, order)
            }
            Self::Return(ThingArgs { object, order }) => {
                (GovernOrder::Return { object: ObjectId(object) }, order)
            }
            Self::Motd(MotdArgs { text, order, .. }) => {
                (GovernOrder::Announce { text: text.unwrap_or_default() }, order)
            }
            Self::Undo(UndoArgs { by: key, since: seconds, order }) => {
                (GovernOrder::Undo { key, seconds }, order)
            }
            Self::Decide(DecideArgs { report, upheld, because: reason, order, .. }) => {
                let ruling = if upheld { Ruling::Upheld } else { Ruling::Dismissed };
                (GovernOrder::Decide { report, ruling, reason }, order)
            }
        })
    }
}

/// The line that tells of an order.
#[derive(Debug, Serialize)]
struct Ordered {
    order: &'static str,
    /// Says whether it was only asked what the order would do.
    dry_run: bool,
    person: Option<String>,
    name: Option<String>,
    object: Option<u64>,
    report: Option<u64>,
    /// The turn that carried it out.
    height: Option<u64>,
    /// What it does, in words.
    does: String,
}

impl fmt::Display for Ordered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.height {
            Some(height) => write!(f, "{} in turn {height}", self.does),
            None => write!(f, "would: {}", self.does),
        }
    }
}

/// Returns whom an order is about, in words.
fn whom(person: Option<&PersonEntry>) -> String {
    let Some(person) = person else { return "nobody".to_owned() };
    let key = &person.key.to_string()[..8];
    match (person.name.as_str(), person.here) {
        ("", _) => format!("{key}, who was never here"),
        (name, true) => format!("{name} ({key}), who is here"),
        (name, false) => format!("{name} ({key})"),
    }
}

/// Returns what an order is about, in words.
fn what(thing: Option<&GovernedThing>) -> String {
    let Some(thing) = thing else { return "nothing".to_owned() };
    let owner = thing.owner.map_or("the sim".to_owned(), |key| key.to_string()[..8].to_owned());
    let GovernedThing { object, name, scripts, .. } = thing;
    let scripts = number_of(*scripts, "script", "scripts");
    format!("{name} (thing {object} of {owner}, {scripts})")
}

/// Returns a span of seconds in words.
pub(super) fn lasting(seconds: Option<u32>) -> String {
    let span = |seconds: u32| humantime::format_duration(Duration::from_secs(seconds.into()));
    seconds.map_or("for good".to_owned(), |seconds| format!("for {}", span(seconds)))
}

/// Returns who may build where a title holds, in words.
fn builders(title: Title) -> String {
    match title {
        Title::Open => "everybody".to_owned(),
        Title::Sim => "nobody but admins".to_owned(),
        Title::Player(key) => format!("{}, and nobody else but admins,", &key.to_string()[..8]),
    }
}

/// Returns what an order does, in words.
fn does(order: &GovernOrder, told: &DryRunEntry) -> String {
    let (whom, what) = (whom(told.person.as_ref()), what(told.thing.as_ref()));
    let words = |rights: &std::collections::BTreeSet<RoleRight>| {
        rights.iter().map(|right| right.word()).collect::<Vec<_>>().join(", ")
    };
    match order {
        GovernOrder::Grant { rights, seconds, .. } => {
            format!("give {} to {whom}, {}", words(rights), lasting(*seconds))
        }
        GovernOrder::Revoke { rights, .. } => format!("take {} from {whom}", words(rights)),
        GovernOrder::GrantArea { rights, area, seconds, .. } => {
            format!("give {} on {area} to {whom}, {}", words(rights), lasting(*seconds))
        }
        GovernOrder::RevokeArea { rights, area, .. } => {
            format!("take {} on {area} from {whom}", words(rights))
        }
        GovernOrder::NameAdmin { .. } => format!("make {whom} a permanent admin"),
        GovernOrder::RemoveAdmin { .. } => format!("make {whom} an admin no longer"),
        GovernOrder::Kick { .. } => {
            let KeyHoldings { sessions, things, lots } = told.holdings;
            format!(
                "end the session of {whom}; open sessions that end: {sessions}; what stays: \
                 things {things}, lots {lots}"
            )
        }
        GovernOrder::Ban { seconds, .. } => {
            let lasts = lasting(*seconds);
            let KeyHoldings { sessions, things, lots } = told.holdings;
            format!(
                "shut out {whom}, {lasts}; its private words and open reports go with it; open \
                 sessions that end: {sessions}; what stays: things {things}, lots {lots}"
            )
        }
        GovernOrder::Unban { .. } => format!("let in {whom} again"),
        GovernOrder::Mute { seconds, .. } => format!("mute {whom}, {}", lasting(*seconds)),
        GovernOrder::Unmute { .. } => format!("give a voice to {whom}"),
        GovernOrder::Freeze { .. } => format!("freeze {what}"),
        GovernOrder::Thaw { .. } => format!("thaw {what}"),
        GovernOrder::Return { .. } => match told.thing.as_ref().is_some_and(|thing| thing.has_home)
        {
            true => format!("move {what} to its owner's land"),
            false => format!("delete {what}, for its owner has no land with room for it"),
        },
        GovernOrder::SetLand { name, area, title } => {
            format!("make {area} the land {name}, where {} may build", builders(*title))
        }
        GovernOrder::RemoveLand { name } => format!("remove the land {name}"),
        GovernOrder::Announce { text } if text.is_empty() => "take the message away".to_owned(),
        GovernOrder::Announce { text } => format!("tell everybody who comes: {text}"),
        GovernOrder::Undo { .. } => {
            let TracedThings { made, changed, deleted } = told.traced;
            let acts = told.traced.all().div_ceil(UNDONE_PER_ACT_MAX as u32);
            format!(
                "undo what {whom} did; things sent home or deleted: {made}, changed back: \
                 {changed}, restored: {deleted}; acts: {acts}"
            )
        }
        GovernOrder::Decide { report, ruling, .. } => {
            let about = match told.person {
                Some(_) => format!(" about {whom}"),
                None => String::new(),
            };
            let verb = if *ruling == Ruling::Upheld { "uphold" } else { "dismiss" };
            format!("{verb} report {report}{about}")
        }
    }
}

/// Returns the failure of an order that a rule refuses, with what to do.
fn refused(why: Refusal) -> Failure {
    refused_as("the order", why)
}

/// Returns the failure of what a rule refuses, with what to do.
pub(super) fn refused_as(what: &str, why: Refusal) -> Failure {
    let failure = Failure::refused(format!("{what} was refused: {why}"));
    match why {
        Refusal::NotAdmin | Refusal::NotPermanent | Refusal::NoRight | Refusal::Outranked => {
            failure.hint("`metatopia admin admins` lists who may do what")
        }
        Refusal::LastAdmin => failure.hint("appoint another one first"),
        Refusal::NoPlayer => failure.hint("rights are for keys that logged in once"),
        Refusal::NoLand => failure.hint("`metatopia admin land list` names them"),
        Refusal::NotForArea => failure.hint("leave --area out to give it for the whole sim"),
        Refusal::NothingToUndo => failure.hint("a sim remembers for a day what things were"),
        Refusal::NoReport => failure.hint("`metatopia admin reports` lists what is open"),
        Refusal::NoObject => failure.hint("see `metatopia script list`, or the map of the page"),
        _ => failure,
    }
}

pub(in crate::cli) async fn run(command: GovernCommand, console: Console) -> Result<(), Failure> {
    let (order, args) = command.order()?;
    carry_out(order, args, console).await
}

/// Gives an order, or says what it would do.
pub(super) async fn carry_out(
    order: GovernOrder,
    OrderArgs { dry_run, admin }: OrderArgs,
    console: Console,
) -> Result<(), Failure> {
    let mut driver = admin.open().await?;
    let done = give(&mut driver, &order, &admin, dry_run, console).await;
    driver.leave().await;
    let (told, height) = done?;
    console.show(&Ordered {
        order: order.verb(),
        dry_run,
        person: order.person().map(ToString::to_string),
        name: told.person.as_ref().map(|person| person.name.clone()),
        object: order.object().map(|object| object.0),
        report: match order {
            GovernOrder::Decide { report, .. } => Some(report),
            _ => None,
        },
        height,
        does: does(&order, &told),
    })
}

/// Gives an order, unless it is only asked what it would do. Returns what that is, and the turn that carried
/// it out.
async fn give(
    driver: &mut ClientDriver,
    order: &GovernOrder,
    admin: &PlayerArgs,
    dry_run: bool,
    console: Console,
) -> Result<(DryRunEntry, Option<u64>), Failure> {
    let intended = IntendedOrder { author: driver.author(), order: order.clone() };
    let Answer::DryRun(told) = driver.ask(Question::DryRun(Box::new(intended)), ANSWER).await?
    else {
        return Err(Failure::failed("the node does not say what an order would do"));
    };
    if dry_run {
        return match told.verdict {
            Ok(_) => Ok((*told, None)),
            Err(why) => Err(refused(why)),
        };
    }
    // What one node says decides nothing: the turn does. Only a rule that is known already costs no act.
    if let Err(why @ (Refusal::NoObject | Refusal::Person | Refusal::NoReport)) = told.verdict {
        return Err(refused(why));
    }
    let act = Act::Govern(order.clone());
    let mut height =
        carry_through(driver, admin, ("the order", (act, Vec::new())), console).await?;
    // What one act leaves, the next ones do.
    let more = told.traced.all().saturating_sub(1) / UNDONE_PER_ACT_MAX as u32;
    for _ in 0..more {
        let act = Act::Govern(order.clone());
        height = carry_through(driver, admin, ("the order", (act, Vec::new())), console).await?;
    }
    Ok((*told, Some(height.0)))
}

#[cfg(test)]
mod tests {
    use metatopia_types::GroundArea;

    use super::*;
    use crate::cli::exit::Exit;

    fn told(name: &str, here: bool) -> DryRunEntry {
        let person = PersonEntry {
            key: PublicKey([7; 32]),
            name: name.to_owned(),
            here,
            admin: false,
            temp_admin: false,
            rights: Vec::new(),
            area_rights: Vec::new(),
            ban: None,
            mute: None,
        };
        let (person, traced) = (Some(person), TracedThings::default());
        let holdings = KeyHoldings { sessions: here.into(), things: 12, lots: 2 };
        DryRunEntry { verdict: Ok("as admin".to_owned()), person, thing: None, traced, holdings }
    }

    #[test]
    fn an_order_is_told_with_whom_it_is_about_and_for_how_long() {
        let key = PublicKey([7; 32]);
        let ban = GovernOrder::Ban { key, seconds: Some(86_400), reason: String::new() };
        // Only the list of what a ban does said that words and reports go.
        assert_eq!(
            does(&ban, &told("Pest", true)),
            "shut out Pest (07070707), who is here, for 1day; its private words and open reports \
             go with it; open sessions that end: 1; what stays: things 12, lots 2"
        );
        let rights = [RoleRight::Speak, RoleRight::Build].into();
        let grant = GovernOrder::Grant { key, rights, seconds: None };
        assert_eq!(
            does(&grant, &told("", false)),
            "give build, speak to 07070707, who was never here, for good"
        );
        let (rights, area) =
            ([RoleRight::Build].into(), GroundArea { x: 4, y: -20, width: 16, depth: 8 });
        let take = GovernOrder::RevokeArea { key, rights, area };
        let would = "take build on 16 m x 8 m at 4, -20 from Ada (07070707)";
        assert_eq!(does(&take, &told("Ada", false)), would);
        let back = GovernOrder::Return { object: ObjectId(9) };
        let mut lost = told("Ada", false);
        let (name, owner) = ("wall".to_owned(), Some(key));
        let (object, scripts, frozen, has_home) = (ObjectId(9), 1, false, false);
        lost.thing = Some(GovernedThing { object, name, owner, scripts, frozen, has_home });
        assert!(does(&back, &lost).starts_with("delete wall (thing 9 of 07070707, 1 script)"));
    }

    #[test]
    fn a_ruling_and_an_undo_are_told_with_what_and_whom_they_are_about() {
        let (report, ruling, reason) = (3, Ruling::Dismissed, String::new());
        let decide = GovernOrder::Decide { report, ruling, reason };
        let undo = GovernOrder::Undo { key: PublicKey([7; 32]), seconds: 7_200 };
        let traced = TracedThings { made: 30, changed: 2, deleted: 1 };
        let would = "undo what Pest (07070707) did; things sent home or deleted: 30, changed \
                     back: 2, restored: 1; acts: 2";
        assert_eq!(does(&undo, &DryRunEntry { traced, ..told("Pest", false) }), would);
        let about = "dismiss report 3 about Pest (07070707), who is here";
        assert_eq!(does(&decide, &told("Pest", true)), about);
        let nobody = DryRunEntry { person: None, ..told("", false) };
        assert_eq!(does(&decide, &nobody), "dismiss report 3");
    }

    #[test]
    fn a_refused_order_names_its_rule_and_what_to_do() {
        for (why, rule, next) in [
            (Refusal::NoRight, "no such right", "admin admins"),
            (Refusal::LastAdmin, "at least one permanent admin", "appoint another"),
            (Refusal::Outranked, "as much to say", "admin admins"),
            (Refusal::NoPlayer, "ever logged in", "logged in once"),
            (Refusal::NoReport, "no such open report", "admin reports"),
            (Refusal::NotForArea, "given for an area", "leave --area out"),
        ] {
            let failure = refused(why);
            assert_eq!(failure.exit, Exit::Refused);
            assert!(failure.message.contains(rule) && failure.message.contains(next), "{failure}");
        }
    }

    #[test]
    fn rights_times_and_lines_are_read_before_anything_is_sent() {
        assert_eq!(right("moderate"), Ok(RoleRight::Moderate));
        assert!(right("all").is_err_and(|why| why.contains("administer")));
        assert_eq!(seconds("2h"), Ok(7_200));
        assert!(seconds("0s").is_err() && seconds("900years").is_err());
        assert!(reason("two\nlines").is_err() && motd("").is_err());
        assert_eq!(reason(""), Ok(String::new()));
    }
}
