//! `admin club` lists the clubs of a sim, and ends one.

use std::fmt;

use clap::{Args, Subcommand};
use metatopia_client_driver::ClientDriver;
use metatopia_protocol::{Answer, ClubEntry, Question, take_page};
use metatopia_types::{ClubId, GovernOrder};
use serde::Serialize;

use super::orders::{self, OrderArgs};
use crate::cli::{
    console::Console,
    failure::Failure,
    session::{ANSWER, NodeArgs},
};

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum AdminClubCommand {
    /// List the clubs: people with a channel of their own.
    #[command(after_help = "Examples:\n  metatopia admin club list\n  \
        metatopia admin club list --node http://127.0.0.1:8080 --json\n\n\
        What is printed is the word of the node.")]
    List(ClubListArgs),
    /// End a club, for who moderates and has more to say than its owner.
    #[command(after_help = "Examples:\n  metatopia admin club end 3 --key admin.key --dry-run\n  \
        metatopia admin club end 3 --key admin.key\n\n\
        Nobody speaks there any more, and lots that were open to it are closed to it. `metatopia admin log` \
        tells it.")]
    End(ClubEndArgs),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ClubListArgs {
    #[command(flatten)]
    at: NodeArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ClubEndArgs {
    /// The number of the club.
    club: u64,
    #[command(flatten)]
    order: OrderArgs,
}

/// The line of a club.
#[derive(Debug, Serialize)]
struct ClubLine {
    club: u64,
    name: String,
    /// The key of its owner.
    owner: String,
    owner_name: String,
    /// How many members it has.
    members: usize,
    /// How many invites are open.
    invites: usize,
}

impl fmt::Display for ClubLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { club, name, owner, owner_name, members, invites } = self;
        write!(f, "{club}  {name}  {owner_name} {owner}  members: {members}, invited: {invites}")
    }
}

/// Returns the line of a club.
fn line(entry: ClubEntry) -> ClubLine {
    let owner = entry.member(&entry.owner);
    ClubLine {
        club: entry.club.0,
        owner_name: owner.map_or_else(String::new, |owner| owner.name.clone()),
        name: entry.name,
        owner: entry.owner.to_string(),
        members: entry.members.len(),
        invites: entry.invites.len(),
    }
}

pub(in crate::cli) async fn run(
    command: AdminClubCommand,
    console: Console,
) -> Result<(), Failure> {
    match command {
        AdminClubCommand::List(args) => {
            let mut driver = args.at.open_to_ask().await?;
            let clubs = all(&mut driver).await;
            driver.leave().await;
            clubs?.into_iter().try_for_each(|entry| console.show(&line(entry)))
        }
        AdminClubCommand::End(ClubEndArgs { club, order }) => {
            let end = GovernOrder::EndClub { club: ClubId(club) };
            orders::carry_out(end, order, console).await
        }
    }
}

/// Asks for all clubs.
async fn all(driver: &mut ClientDriver) -> Result<Vec<ClubEntry>, Failure> {
    let (mut all, mut next) = (Vec::new(), Some(ClubId(0)));
    while let Some(after) = next {
        let question = Question::Clubs { of: None, after };
        let Answer::Clubs(page) = driver.ask(question, ANSWER).await? else {
            return Err(Failure::failed("the node does not say which clubs there are"));
        };
        next = take_page(&mut all, page);
    }
    Ok(all)
}
