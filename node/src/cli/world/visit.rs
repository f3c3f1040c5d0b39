//! `world visit` goes to the sim that owns a point.

use clap::Args;
use metatopia_client_driver::nearest;
use metatopia_text_client::TextOutput as _;

use super::{
    find::{AskArgs, PointArgs, locate},
    learned::CheckedFind,
    square::WrittenSquare,
    travel::servers,
};
use crate::cli::{
    client::{self, ClientArgs},
    console::{Console, unwritten},
    exit::Exit,
    failure::Failure,
    passphrase::PassphraseArgs,
    session::{NodeArgs, PlayerArgs},
    ticket::TicketSecret,
};

/// Arguments of `metatopia world visit`.
#[derive(Debug, Args)]
pub(in crate::cli) struct VisitArgs {
    #[command(flatten)]
    point: PointArgs,
    #[command(flatten)]
    ask: AskArgs,
    /// Your key file, sealed or not; `metatopia keys new` makes one.
    #[arg(long, value_name = "FILE")]
    key: std::path::PathBuf,
    /// Your name in the sim [default: the one that the sim knows you by, else the first digits of your key].
    #[arg(long)]
    name: Option<String>,
    /// A ticket or its link, for a key that is new to the sim.
    #[arg(long, value_name = "TICKET")]
    ticket: Option<TicketSecret>,
    #[command(flatten)]
    words: PassphraseArgs,
    /// Agree to the house rules of the sim, if it has any, without being asked.
    #[arg(long)]
    accept_rules: bool,
}

pub(super) async fn run(args: VisitArgs, console: Console) -> Result<(), Failure> {
    let found = locate(&args.ask, args.point.point()).await?;
    // Before anything else is told: it may be why somebody does not want to go.
    console.tell_map(&found.freshness()).map_err(|error| unwritten(&error))?;
    let CheckedFind { answer, grant, .. } = found;
    let PointArgs { x, y } = args.point;
    let Some(grant) = grant else {
        let message = format!("{x} {y} is nobody's: there is no sim");
        return Err(Failure::new(Exit::NotFound, message));
    };
    let node = nearest(servers(&answer.endpoints, grant.sim)).await;
    if node.is_empty() {
        let message = format!("no server of sim {} answers", grant.sim);
        return Err(Failure::timed_out(message).hint("it is down, or far away; ask again"));
    }
    let square = WrittenSquare(grant.square);
    console.note(&format!("going to square {square} of sim {}", grant.sim));
    // The client believes no genesis but the one of this id, which the land office's map proves.
    let at = NodeArgs { node, sim: Some(grant.sim) };
    let VisitArgs { key, name, ticket, words, accept_rules, .. } = args;
    let player = PlayerArgs { at, key, name, ticket, words };
    client::run(ClientArgs { player, accept_rules }, console).await
}
