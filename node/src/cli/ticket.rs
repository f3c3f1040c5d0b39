//! `ticket` lets people into a sim that asks new keys for a ticket, or spares them its work.

mod secret;

use std::fmt;

use clap::{Args, Subcommand};
use metatopia_client_driver::ClientDriver;
use metatopia_protocol::{Answer, Question, TicketEntry};
use metatopia_types::{
    Act, PublicKey, Sign as _, TicketOrder,
    limits::{TICKET_DAYS_MAX, TICKET_USES_MAX},
};
use serde::Serialize;

pub(super) use self::secret::TicketSecret;
use super::{
    admin::try_order,
    code,
    console::Console,
    failure::Failure,
    invite::called,
    numbers::number_of,
    say::carry_through,
    session::{NodeArgs, PlayerArgs},
};

#[derive(Debug, Subcommand)]
pub(super) enum TicketCommand {
    /// Make a ticket: a link that lets new keys in, and a code for cameras.
    #[command(after_help = "Examples:\n  \
        metatopia ticket new --key admin.key\n  \
        metatopia ticket new --key admin.key --uses 30 --days 7\n  \
        metatopia ticket new --key admin.key --uses 30 --dry-run\n\n\
        Whoever opens the link in a browser comes in by it. For this program's own commands, give \
        it by --ticket.\nWhoever has the link may use it, so hand it on with care. A key that came \
        in once needs no ticket again.\n`metatopia up` keeps the admin's key in admin.key of its \
        directory.")]
    New(NewTicketArgs),
    /// List the tickets that still let keys in.
    #[command(after_help = "Example:\n  metatopia ticket list --node http://127.0.0.1:8080")]
    List(ListTicketsArgs),
    /// Let nobody in by a ticket any more. People who came in by it stay.
    #[command(after_help = "Example:\n  metatopia ticket withdraw ID --key admin.key")]
    Withdraw(WithdrawArgs),
}

#[derive(Debug, Args)]
pub(super) struct NewTicketArgs {
    /// How many keys the ticket lets in.
    #[arg(long, default_value_t = 1, value_name = "COUNT",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(TICKET_USES_MAX)))]
    uses: u32,
    /// How many days the ticket is valid; days on which the sim stood still do not count.
    #[arg(long, default_value_t = 7, value_name = "DAYS",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(TICKET_DAYS_MAX)))]
    days: u32,
    /// Print no code for cameras.
    #[arg(long)]
    no_code: bool,
    /// Only say what it would do.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    admin: PlayerArgs,
}

#[derive(Debug, Args)]
pub(super) struct ListTicketsArgs {
    #[command(flatten)]
    at: NodeArgs,
}

#[derive(Debug, Args)]
pub(super) struct WithdrawArgs {
    /// The ticket's id, as `metatopia ticket list` shows it.
    id: PublicKey,
    /// Only say what it would do.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    admin: PlayerArgs,
}

/// A ticket that was made.
#[derive(Debug, Serialize)]
struct Made {
    link: String,
    ticket: String,
    id: String,
    uses: u32,
    days: u32,
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { link, id, uses, days, .. } = self;
        let keys = if *uses == 1 { "one new key".to_owned() } else { format!("{uses} new keys") };
        write!(f, "ticket {id}\nlets {keys} in for {days} d\n\n{link}")
    }
}

/// A ticket that still lets keys in.
#[derive(Debug, Serialize)]
struct Open {
    id: String,
    by: String,
    left: u32,
    /// When the ticket expires, in milliseconds of governance time.
    lasts: u64,
}

impl fmt::Display for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hours, by) = (self.lasts / 3_600_000, &self.by[..8]);
        let (days, hours) = (hours / 24, hours % 24);
        write!(f, "{}  {} left  {days} d {hours} h  by {by}", self.id, self.left)
    }
}

/// The line that tells of a withdrawn ticket.
#[derive(Debug, Serialize)]
struct Withdrawn {
    withdrawn: String,
}

impl fmt::Display for Withdrawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} lets nobody in any more", self.withdrawn)
    }
}

pub(super) async fn run(command: TicketCommand, console: Console) -> Result<(), Failure> {
    match command {
        TicketCommand::New(args) => new(args, console).await,
        TicketCommand::List(args) => list(args, console).await,
        TicketCommand::Withdraw(args) => withdraw(args, console).await,
    }
}

async fn new(args: NewTicketArgs, console: Console) -> Result<(), Failure> {
    let secret = TicketSecret::random();
    let (ticket, uses, days) = (secret.key().public(), args.uses, args.days);
    let order = TicketOrder::Issue { ticket, uses, days };
    if args.dry_run {
        let (keys, time) = (number_of(uses, "new key", "new keys"), number_of(days, "day", "days"));
        let would = format!("let in {keys} by a link that is good for {time}");
        return try_it(&args.admin, order, &would, console).await;
    }
    let node = &args.admin.at.node[0];
    let mut driver = args.admin.open().await?;
    let ordered = submit(&mut driver, &args.admin, order, console).await;
    let server = called(&mut driver, node).await.unwrap_or_else(|| node.clone());
    driver.leave().await;
    ordered?;
    let link = secret.link(&server);
    let made = Made { ticket: secret.to_string(), id: ticket.to_string(), link, uses, days };
    console.show(&made)?;
    if !console.is_json() && !args.no_code {
        match code::draw(&made.link) {
            Some(code) => console.line(&format!("\n{code}"))?,
            None => console.note("the link is too long for a code in 80 columns"),
        }
    }
    Ok(())
}

async fn list(args: ListTicketsArgs, console: Console) -> Result<(), Failure> {
    let Answer::Tickets(open) = args.at.ask(Question::Tickets).await? else {
        return Err(Failure::failed("the node does not say which tickets are open"));
    };
    for TicketEntry { ticket, by, left, lasts } in open {
        console.show(&Open { id: ticket.to_string(), by: by.to_string(), left, lasts })?;
    }
    Ok(())
}

async fn withdraw(args: WithdrawArgs, console: Console) -> Result<(), Failure> {
    let order = TicketOrder::Withdraw { ticket: args.id };
    if args.dry_run {
        let would = format!("let nobody in by {} any more", args.id);
        return try_it(&args.admin, order, &would, console).await;
    }
    let mut driver = args.admin.open().await?;
    let ordered = submit(&mut driver, &args.admin, order, console).await;
    driver.leave().await;
    ordered?;
    console.show(&Withdrawn { withdrawn: args.id.to_string() })
}

/// Tells what an order would do.
async fn try_it(
    admin: &PlayerArgs,
    order: TicketOrder,
    would: &str,
    console: Console,
) -> Result<(), Failure> {
    let what = named(&order);
    let told = try_order(admin, (Act::Ticket(order), None), would, console).await?;
    told.map_err(|why| Failure::refused(format!("{what} was refused: {why}")))
}

/// Returns an order about a ticket in words, with its numbers.
fn named(order: &TicketOrder) -> String {
    match order {
        TicketOrder::Issue { uses, days, .. } => {
            let (keys, time) =
                (number_of(*uses, "new key", "new keys"), number_of(*days, "day", "days"));
            format!("the ticket for {keys} and {time}")
        }
        TicketOrder::Withdraw { ticket } => format!("the withdrawal of ticket {ticket}"),
    }
}

/// Submits the order, and waits until it is decided and proved.
async fn submit(
    driver: &mut ClientDriver,
    admin: &PlayerArgs,
    order: TicketOrder,
    console: Console,
) -> Result<(), Failure> {
    let what = named(&order);
    carry_through(driver, admin, (&what, (Act::Ticket(order), Vec::new())), console).await?;
    Ok(())
}
