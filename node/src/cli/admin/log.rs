//! `admin log` tells who ordered what in a sim, under which right, with proof.

use std::{fmt, time::Duration};

use clap::Args;
use metatopia_client_driver::ClientDriver;
use metatopia_sim::{OrderedDeed, RecordedOrder, Warrant};
use metatopia_types::{GovernOrder, ReportSubject, SetChange, TicketOrder};
use serde::Serialize;

use crate::cli::{
    console::Console, failure::Failure, numbers::number_of, say::PROVEN, session::NodeArgs,
};

pub(super) const HELP: &str = "Examples:\n  \
    metatopia admin log                    the last 20 orders\n  \
    metatopia admin log --last 1024 --json\n\n\
    Each line was proved: it is in a state that more than two thirds of the servers signed, and orders are\n\
    counted, so that none can be left out. A state keeps the last 1,024; the turns of an archive have the\n\
    older ones.";

#[derive(Debug, Args)]
pub(in crate::cli) struct LogArgs {
    /// How many orders to tell, the newest last.
    #[arg(long, default_value_t = 20, value_name = "COUNT")]
    last: u64,
    #[command(flatten)]
    at: NodeArgs,
}

/// The line of an order.
#[derive(Debug, Serialize)]
struct OrderLine {
    number: u64,
    height: u64,
    by: String,
    /// `role`, `temp admin` or `admin`.
    warrant: &'static str,
    /// The word of the order.
    order: String,
    /// Whom or what it is about.
    about: Option<String>,
    /// What else it says.
    terms: Option<String>,
}

impl fmt::Display for OrderLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, height, by, warrant, order, .. } = self;
        write!(f, "#{number}  turn {height}  {} ({warrant})  {order}", &by[..8])?;
        if let Some(about) = &self.about {
            write!(f, " {about}")?;
        }
        if let Some(terms) = &self.terms {
            write!(f, ": {terms}")?;
        }
        Ok(())
    }
}

const fn warrant(warrant: Warrant) -> &'static str {
    match warrant {
        Warrant::Own => "anybody",
        Warrant::Role => "role",
        Warrant::Temp => "temp admin",
        Warrant::Permanent => "admin",
    }
}

/// Returns the line of an order about people: its word, whom it is about, and its terms.
fn govern(order: &GovernOrder) -> (String, Option<String>, Option<String>) {
    let about = order.person().map(ToString::to_string);
    let about = about.or_else(|| order.object().map(|object| format!("thing {object}")));
    let about = about.or_else(|| order.land().map(str::to_owned));
    let words = |rights: &std::collections::BTreeSet<metatopia_types::RoleRight>| {
        rights.iter().map(|right| right.word()).collect::<Vec<_>>().join(", ")
    };
    let terms = match order {
        GovernOrder::Grant { rights, seconds, .. } => {
            Some(format!("{} {}", words(rights), lasting(*seconds)))
        }
        GovernOrder::Revoke { rights, .. } => Some(words(rights)),
        GovernOrder::GrantArea { rights, area, seconds, .. } => {
            Some(format!("{} on {area}, {}", words(rights), lasting(*seconds)))
        }
        GovernOrder::RevokeArea { rights, area, .. } => {
            Some(format!("{} on {area}", words(rights)))
        }
        GovernOrder::Ban { seconds, reason, .. } | GovernOrder::Mute { seconds, reason, .. } => {
            let lasts = lasting(*seconds);
            Some(if reason.is_empty() { lasts } else { format!("{lasts}: {reason}") })
        }
        GovernOrder::Announce { text } => Some(text.clone()),
        GovernOrder::SetHouseRules { text: Some(text) } => Some(format!("the words {text}")),
        GovernOrder::SetHouseRules { text: None } => Some("none".to_owned()),
        GovernOrder::SetLand { area, title, .. } => Some(format!("{area}, {title}")),
        _ => None,
    };
    (order.verb().to_owned(), about, terms)
}

/// Returns the line of an order.
fn line(number: u64, order: &RecordedOrder) -> OrderLine {
    let key = |key: &metatopia_types::PublicKey| Some(key.to_string());
    let (word, about, terms) = match &order.deed {
        OrderedDeed::Govern(order) => govern(order),
        OrderedDeed::Servers(SetChange::Add { key: server, .. }) => {
            ("promote".to_owned(), key(server), None)
        }
        OrderedDeed::Servers(SetChange::Reserve { key: server, .. }) => {
            ("promote".to_owned(), key(server), Some("in reserve".to_owned()))
        }
        OrderedDeed::Servers(SetChange::Remove { key: server }) => {
            ("demote".to_owned(), key(server), None)
        }
        OrderedDeed::Ticket(TicketOrder::Issue { ticket, uses, days }) => {
            let keys = number_of(*uses, "key", "keys");
            let days = number_of(*days, "day", "days");
            ("ticket new".to_owned(), key(ticket), Some(format!("{keys}, {days}")))
        }
        OrderedDeed::Ticket(TicketOrder::Withdraw { ticket }) => {
            ("ticket withdraw".to_owned(), key(ticket), None)
        }
        OrderedDeed::Amend { name, value } => {
            ("set".to_owned(), Some(name.clone()), Some(value.clone()))
        }
        OrderedDeed::Build { object, step } => {
            (step.clone(), object.map(|object| format!("thing {object}")), None)
        }
        OrderedDeed::Publish => ("publish".to_owned(), None, None),
        OrderedDeed::Border { word, neighbour } => {
            (format!("border {word}"), Some(neighbour.to_string()), None)
        }
        OrderedDeed::Lot { word, lot } => {
            (format!("lot {word}"), lot.map(|lot| format!("lot {lot}")), None)
        }
        OrderedDeed::Undo { key: whose, undone, collided } => {
            let terms = format!("undone {undone}, stayed as they were {collided}");
            ("undo".to_owned(), key(whose), Some(terms))
        }
        OrderedDeed::Decide { report, about, ruling, reason } => {
            let about = match about {
                ReportSubject::Thing(object) => format!("report {report} about thing {object}"),
                ReportSubject::Person(key) => format!("report {report} about {key}"),
                ReportSubject::Words { by, .. } => {
                    format!("report {report} about private words of {by}")
                }
            };
            let terms = match reason.as_str() {
                "" => ruling.word().to_owned(),
                reason => format!("{}: {reason}", ruling.word()),
            };
            ("decide".to_owned(), Some(about), Some(terms))
        }
        OrderedDeed::Forget { height, body, person } => {
            let about = person.as_ref().and_then(key);
            ("forget".to_owned(), about, Some(format!("words {height}:{body}")))
        }
        OrderedDeed::TakeBack { square } => {
            ("world take-back".to_owned(), Some(square.to_string()), None)
        }
    };
    OrderLine {
        number,
        height: order.height.0,
        by: order.by.to_string(),
        warrant: warrant(order.warrant),
        order: word,
        about,
        terms,
    }
}

pub(in crate::cli) async fn run(args: LogArgs, console: Console) -> Result<(), Failure> {
    let mut driver = args.at.open_to_ask().await?;
    let told = pages(&mut driver, args.last).await;
    driver.leave().await;
    for (number, order) in told? {
        console.show(&line(number, &order))?;
    }
    Ok(())
}

/// Returns the last orders, as many as are wanted and kept, in the order in which they were given.
async fn pages(
    driver: &mut ClientDriver,
    wanted: u64,
) -> Result<Vec<(u64, RecordedOrder)>, Failure> {
    let (mut below, mut found) = (u64::MAX, Vec::new());
    while (found.len() as u64) < wanted {
        let page = driver.prove_orders(below, PROVEN).await?;
        let goes_on = page.goes_on();
        let Some((first, _)) = page.orders.first() else { break };
        below = *first;
        found.splice(0..0, page.orders);
        if !goes_on {
            break;
        }
    }
    let surplus = found.len().saturating_sub(usize::try_from(wanted).unwrap_or(usize::MAX));
    Ok(found.split_off(surplus))
}

/// Returns a span of seconds in words.
fn lasting(seconds: Option<u32>) -> String {
    let span = |seconds: u32| humantime::format_duration(Duration::from_secs(seconds.into()));
    seconds.map_or("for good".to_owned(), |seconds| format!("for {}", span(seconds)))
}

#[cfg(test)]
mod tests {
    use metatopia_types::{GroundArea, Height, ObjectId, PublicKey, RoleRight, Ruling};

    use super::*;

    #[test]
    fn an_order_is_told_with_who_gave_it_and_under_which_right() {
        let (by, key) = (PublicKey([1; 32]), PublicKey([2; 32]));
        let ban = GovernOrder::Ban { key, seconds: Some(60), reason: "spam".to_owned() };
        let order = RecordedOrder {
            height: Height(9),
            by,
            warrant: Warrant::Role,
            deed: OrderedDeed::Govern(ban),
        };
        let told = line(4, &order).to_string();
        let about = key.to_string();
        assert_eq!(told, format!("#4  turn 9  01010101 (role)  ban {about}: for 1m: spam"));
        let (rights, seconds) = ([RoleRight::Build].into(), None);
        let area = GroundArea { x: 4, y: -20, width: 16, depth: 8 };
        let grant = OrderedDeed::Govern(GovernOrder::GrantArea { key, rights, area, seconds });
        let told = line(5, &RecordedOrder { deed: grant, ..order }).to_string();
        let terms = "build on 16 m x 8 m at 4, -20, for good";
        assert_eq!(told, format!("#5  turn 9  01010101 (role)  grant {about}: {terms}"));
        let step = OrderedDeed::Build { object: None, step: "undo".to_owned() };
        let told = line(5, &RecordedOrder { deed: step, ..order }).to_string();
        assert_eq!(told, "#5  turn 9  01010101 (role)  undo");
        let about = ReportSubject::Thing(ObjectId(7));
        let (ruling, reason) = (Ruling::Upheld, "no walls".to_owned());
        let deed = OrderedDeed::Decide { report: 3, about, ruling, reason };
        let told = line(6, &RecordedOrder { deed, ..order }).to_string();
        let terms = "decide report 3 about thing 7: upheld: no walls";
        assert_eq!(told, format!("#6  turn 9  01010101 (role)  {terms}"));
        let deed = OrderedDeed::Undo { key, undone: 3, collided: 1 };
        let told = line(7, &RecordedOrder { deed, ..order }).to_string();
        let terms = format!("undo {key}: undone 3, stayed as they were 1");
        assert_eq!(told, format!("#7  turn 9  01010101 (role)  {terms}"));
    }
}
