//! `order show` prints the order in which a script got its events.

use std::fmt;

use clap::{Args, Subcommand};
use metatopia_client::text::printable;
use metatopia_protocol::{Answer, Question};
use metatopia_types::{Height, ScriptId};
use serde::Serialize;

use super::{arguments, console::Console, failure::Failure, session::NodeArgs};

#[derive(Debug, Subcommand)]
pub(super) enum OrderCommand {
    /// Print the events that a script got in a turn, in the order in which it got them.
    #[command(after_help = "Each script has its own order, known only once the turn is decided, \
        and the same on every server.\n`metatopia script list` prints the numbers of scripts.")]
    Show(OrderShowArgs),
}

#[derive(Debug, Args)]
pub(super) struct OrderShowArgs {
    /// The turn of the events.
    #[arg(long, value_parser = arguments::height)]
    height: Height,
    /// The script's number.
    #[arg(long, value_parser = arguments::script)]
    script: ScriptId,
    #[command(flatten)]
    at: NodeArgs,
}

#[derive(Debug, Serialize)]
struct EventPosition {
    place: usize,
    tick: u64,
    sender: u64,
    event: String,
}

impl fmt::Display for EventPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, tick, sender, event } = self;
        let event = printable(event);
        match sender {
            0 => write!(f, "{place:>4}  tick {tick}  from the sim  {event}"),
            _ => write!(f, "{place:>4}  tick {tick}  from object {sender}  {event}"),
        }
    }
}

pub(super) async fn run(command: OrderCommand, console: Console) -> Result<(), Failure> {
    let OrderCommand::Show(args) = command;
    let (height, script) = (args.height, args.script);
    let Answer::Order(entries) = args.at.ask(Question::Order { height, script }).await? else {
        let message = format!("the order of script {script} in turn {height} is not known there");
        return Err(Failure::not_found(message)
            .hint("nodes remember the latest turns; `metatopia script list` prints the scripts"));
    };
    if entries.is_empty() {
        exists(&args.at, script).await?;
        console.note(&format!("script {script} got no event in turn {height}"));
    }
    for (place, entry) in entries.into_iter().enumerate() {
        let (tick, sender) = (entry.tick.0, entry.sender.0);
        console.show(&EventPosition { place, tick, sender, event: entry.event })?;
    }
    Ok(())
}

/// Returns whether this script runs there. Servers answer the same for a script that never ran as
/// for one without events.
async fn exists(at: &NodeArgs, script: ScriptId) -> Result<(), Failure> {
    let after = ScriptId(script.0.saturating_sub(1));
    let Answer::Scripts(scripts) = at.ask(Question::Scripts { after }).await? else {
        return Err(
            Failure::timed_out("the node is too busy to list its scripts").hint("try again")
        );
    };
    if scripts.iter().any(|entry| entry.script == script) {
        return Ok(());
    }
    Err(Failure::not_found(format!("no script {script} runs there"))
        .hint("`metatopia script list` prints the scripts"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_tick_sender_and_event() {
        let mut place = EventPosition { place: 3, tick: 61, sender: 0, event: "tick".into() };
        assert_eq!(place.to_string(), "   3  tick 61  from the sim  tick");
        place.sender = 9;
        place.event = "chat \"a\x1bb\"".into();
        assert_eq!(place.to_string(), "   3  tick 61  from object 9  chat \"a b\"");
    }
}
