//! Orders about people and their things: each by an act, or only said what it would do.

mod giving;
mod refusing;

use clap::{Args, Subcommand};
use metatopia_types::{
    GovernOrder, ObjectId, PublicKey, RoleRight, Ruling,
    limits::{MOTD_BYTES_MAX, REASON_BYTES_MAX},
};

use self::giving::carry_out_all;
pub(super) use self::{
    giving::{carry_out, carry_out_naming},
    refusing::refused_as,
};
use super::area::AreaArgs;
use crate::cli::{arguments::check_line, console::Console, failure::Failure, session::PlayerArgs};

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum GovernCommand {
    /// Give a player rights, for a time or for good.
    #[command(after_help = "Examples:\n  \
        metatopia admin grant KEY moderate,speak --for 30d --key admin.key\n  \
        metatopia admin grant KEY build,land --area 4 -20 16 8 --key admin.key --dry-run\n\n\
        Rights: build (things of others), script (scripts on them, and new source), speak (the message \
        of the day),\nmoderate (tickets, invites for nodes, kick, ban, mute, freeze, return, \
        rulings on reports, undo),\nland (closed ground), borders, servers (who votes), administer \
        (numbers, and roles).\nOnly a permanent admin gives borders, servers and administer.\nWith --area, build, \
        moderate (things alone) and land hold on that ground alone.")]
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
    #[command(after_help = "Examples:\n  metatopia admin kick KEY --key admin.key\n  \
        metatopia admin kick KEY KEY KEY --key admin.key             in one session")]
    Kick(KeysArgs),
    /// Shut a key out from the next turn on, for a time or for good.
    #[command(after_help = "Examples:\n  \
        metatopia admin ban KEY --for 7d --reason \"walls in the plaza\" --key admin.key\n  \
        metatopia admin ban KEY KEY KEY --key admin.key --dry-run\n\n\
        Several keys are banned in one session, each by an act: a line for each, and what is refused stops no \
        other.\nThe exit code is that of the first refusal. kick, unban, mute, unmute and unprofile do the same. \
                Its acts and logins are refused, its session ends, and servers hang up. Days on which the sim \
        stood still\ndo not count.")]
    Ban(SanctionArgs),
    /// Let a key in again.
    #[command(after_help = "Example:\n  metatopia admin unban KEY --key admin.key")]
    Unban(KeysArgs),
    /// Take a key's voice, for a time or for good.
    #[command(
        after_help = "Example:\n  metatopia admin mute KEY --for 1h --reason shouting --key admin.key"
    )]
    Mute(SanctionArgs),
    /// Give a key its voice back.
    #[command(after_help = "Example:\n  metatopia admin unmute KEY --key admin.key")]
    Unmute(KeysArgs),
    /// Take away what a person says of herself: her line, her pronouns and her picture.
    #[command(after_help = "Example:\n  metatopia admin unprofile KEY --key admin.key\n\n\
        Only a newer version, which the person signs, is shown from then on; `mute` keeps her from showing one.")]
    Unprofile(KeysArgs),
    /// Stop a thing: its scripts do not run, and nobody pushes or changes it.
    #[command(after_help = "Example:\n  metatopia admin freeze 17 --key admin.key")]
    Freeze(ThingArgs),
    /// Let a frozen thing go on.
    #[command(after_help = "Example:\n  metatopia admin thaw 17 --key admin.key")]
    Thaw(ThingArgs),
    /// Return a thing to its owner: onto the owner's land, or else into her luggage.
    #[command(after_help = "Examples:\n  metatopia admin return 17 --key admin.key --dry-run\n  \
        metatopia admin return 17 --key admin.key\n\n\
        A thing whose owner has land with room goes there, and any other into her luggage. What luggage does \
        not\ntake, such as what a script spawned, is deleted, and nothing undoes it. `border send-home` sends back \
        what\ncame over a border.")]
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
pub(in crate::cli) struct KeysArgs {
    /// The keys: 64 hexadecimal digits each.
    #[arg(value_name = "KEY", required = true)]
    people: Vec<PublicKey>,
    #[command(flatten)]
    order: OrderArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SanctionArgs {
    /// The keys: 64 hexadecimal digits each.
    #[arg(value_name = "KEY", required = true)]
    people: Vec<PublicKey>,
    /// For how long, of the time in which the sim runs [default: for good].
    #[arg(long = "for", value_name = "DURATION", value_parser = seconds)]
    lasts: Option<u32>,
    /// Why, in a line that the person reads.
    #[arg(long, default_value = "", value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    order: OrderArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ThingArgs {
    /// The number of the thing: `look at THING` in `metatopia client` tells it.
    object: u64,
    #[command(flatten)]
    order: OrderArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct MotdArgs {
    /// The message: one line of at most 400 bytes.
    #[arg(required_unless_present = "clear")]
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
    #[arg(long, default_value = "", value_name = "TEXT")]
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

/// Returns the reason of a ban, a mute or a ruling, if it is a line.
fn reason(text: String) -> Result<String, Failure> {
    check_line("the reason", &text, REASON_BYTES_MAX).map(|()| text)
}

/// Returns a message of the day, if it is one.
fn motd(text: String) -> Result<String, Failure> {
    if text.is_empty() {
        return Err(Failure::usage("the message is empty; --clear takes a message away"));
    }
    check_line("the message", &text, MOTD_BYTES_MAX).map(|()| text)
}

/// Returns an order about each of these people, once of each.
fn about(people: Vec<PublicKey>, order: impl Fn(PublicKey) -> GovernOrder) -> Vec<GovernOrder> {
    let mut seen = std::collections::BTreeSet::new();
    people.into_iter().filter(|key| seen.insert(*key)).map(order).collect()
}

impl GovernCommand {
    /// Returns the orders, and what every order takes.
    ///
    /// # Errors
    /// When an area has no ground, or words are no line.
    fn orders(self) -> Result<(Vec<GovernOrder>, OrderArgs), Failure> {
        let (order, args) = match self {
            Self::Kick(KeysArgs { people, order }) => {
                return Ok((about(people, |key| GovernOrder::Kick { key }), order));
            }
            Self::Unban(KeysArgs { people, order }) => {
                return Ok((about(people, |key| GovernOrder::Unban { key }), order));
            }
            Self::Unmute(KeysArgs { people, order }) => {
                return Ok((about(people, |key| GovernOrder::Unmute { key }), order));
            }
            Self::Unprofile(KeysArgs { people, order }) => {
                return Ok((about(people, |key| GovernOrder::Unprofile { key }), order));
            }
            Self::Ban(SanctionArgs { people, lasts: seconds, reason: why, order }) => {
                let why = reason(why)?;
                let ban = |key| GovernOrder::Ban { key, seconds, reason: why.clone() };
                return Ok((about(people, ban), order));
            }
            Self::Mute(SanctionArgs { people, lasts: seconds, reason: why, order }) => {
                let why = reason(why)?;
                let mute = |key| GovernOrder::Mute { key, seconds, reason: why.clone() };
                return Ok((about(people, mute), order));
            }
            other => other.order()?,
        };
        Ok((vec![order], args))
    }

    /// Returns the one order of a command that is about one thing, and what every order takes.
    fn order(self) -> Result<(GovernOrder, OrderArgs), Failure> {
        Ok(match self {
            Self::Kick(_)
            | Self::Unban(_)
            | Self::Unmute(_)
            | Self::Unprofile(_)
            | Self::Ban(_)
            | Self::Mute(_) => {
                unreachable!("these are about several people")
            }
            Self::Grant(args) => args.order()?,
            Self::Revoke(args) => args.order()?,
            Self::Appoint(KeyArgs { person: key, order }) => {
                (GovernOrder::NameAdmin { key }, order)
            }
            Self::Dismiss(KeyArgs { person: key, order }) => {
                (GovernOrder::RemoveAdmin { key }, order)
            }
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
                let text = text.map(motd).transpose()?.unwrap_or_default();
                (GovernOrder::Announce { text }, order)
            }
            Self::Undo(UndoArgs { by: key, since: seconds, order }) => {
                (GovernOrder::Undo { key, seconds }, order)
            }
            Self::Decide(DecideArgs { report, upheld, because, order, .. }) => {
                let ruling = if upheld { Ruling::Upheld } else { Ruling::Dismissed };
                (GovernOrder::Decide { report, ruling, reason: reason(because)? }, order)
            }
        })
    }
}

impl GrantArgs {
    fn order(self) -> Result<(GovernOrder, OrderArgs), Failure> {
        let Self { person: key, rights, lasts: seconds, on, order } = self;
        let rights = rights.into_iter().collect();
        Ok(match on.area()? {
            None => (GovernOrder::Grant { key, rights, seconds }, order),
            Some(area) => (GovernOrder::GrantArea { key, rights, area, seconds }, order),
        })
    }
}

impl RevokeArgs {
    fn order(self) -> Result<(GovernOrder, OrderArgs), Failure> {
        let Self { person: key, rights, on, order } = self;
        let rights = rights.into_iter().collect();
        Ok(match on.area()? {
            None => (GovernOrder::Revoke { key, rights }, order),
            Some(area) => (GovernOrder::RevokeArea { key, rights, area }, order),
        })
    }
}

pub(in crate::cli) async fn run(command: GovernCommand, console: Console) -> Result<(), Failure> {
    let (orders, args) = command.orders()?;
    carry_out_all(&orders, args, console).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_times_and_lines_are_read_before_anything_is_sent() {
        assert_eq!(right("moderate"), Ok(RoleRight::Moderate));
        assert!(right("all").is_err_and(|why| why.contains("administer")));
        assert_eq!(seconds("2h"), Ok(7_200));
        assert!(seconds("0s").is_err() && seconds("900years").is_err());
        assert!(reason("two\nlines".to_owned()).is_err() && motd(String::new()).is_err());
        assert_eq!(reason(String::new()), Ok(String::new()));
        let [one, other] = [PublicKey([1; 32]), PublicKey([2; 32])];
        let orders = about(vec![one, other, one], |key| GovernOrder::Kick { key });
        assert_eq!(orders.len(), 2, "each person once");
    }
}
