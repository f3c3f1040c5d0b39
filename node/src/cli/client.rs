//! `client`: the world in words, for terminals, pipes and screen readers.

mod builder;
mod deeds;
mod input;
mod room;
mod rules;
mod walk;
mod words;

use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

use clap::Args;
use metatopia_client::text::{self, TextCommand, printable};
use metatopia_protocol::{PROOF_TURNS, Watching};
use metatopia_types::{Act, Outcome};
use tokio::time::{Instant, sleep_until};

use self::room::{ActProgress, LineKind, TextClient};
use super::{console::Console, failure::Failure, session::PlayerArgs};

/// A sign of life after so long without an act: well before the sim lets an avatar rest, 10 s.
const HEARTBEAT: Duration = Duration::from_secs(4);

/// After the last line the world is listened to for so long: whoever was spoken to may answer.
const LINGER: Duration = Duration::from_secs(1);

/// Arguments of `metatopia client`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    metatopia client --key me.key\n  \
    printf 'push crate\\nlook\\n' | metatopia client --key me.key\n\n\
    Lines are carried out one after the other: each has taken effect before the next begins. In a\n\
    terminal a new line ends a walk that is still going on. Type `help` for the commands.\n\n\
    Receipts and what is in sight are checked against the sim's genesis: `look` says whether what you\n\
    see is proven, and a node that lies is left with exit code 5.")]
pub(super) struct ClientArgs {
    #[command(flatten)]
    player: PlayerArgs,
}

pub(super) async fn run(args: ClientArgs, console: Console) -> Result<(), Failure> {
    let mut driver = args.player.open().await?;
    let login = args.player.login(&mut driver, console).await?;
    let lines = input::lines()
        .map_err(|error| Failure::failed(format!("cannot read standard input: {error}")))?;
    let mut room = TextClient::new(driver, console, lines, io::stdin().is_terminal());
    let lived = tokio::select! {
        lived = live(&mut room, login) => lived,
        _ = tokio::signal::ctrl_c() => {
            // The session closes behind it; the words have a second to arrive.
            room.send(Act::Leave).await
        }
    };
    room.leave().await;
    lived
}

async fn live(room: &mut TextClient, login: Act) -> Result<(), Failure> {
    enter(room, login).await?;
    let mut line = room.typed();
    loop {
        match line.take() {
            Some(line) if obey(room, &line).await? == After::Quit => break,
            Some(_) => {}
            None if room.is_input_over() => {
                listen(room, LINGER).await?;
                break;
            }
            None => wait(room).await?,
        }
        line = room.typed();
    }
    // The avatar goes with its player, instead of standing about for a while.
    room.perform(Act::Leave, Vec::new()).await?;
    Ok(())
}

async fn enter(room: &mut TextClient, login: Act) -> Result<(), Failure> {
    room.driver.view(Some(watching())).await?;
    match room.enter(login).await? {
        ActProgress::Done(Outcome::Ok | Outcome::Made(_)) => {}
        ActProgress::Done(Outcome::Refused(why)) => {
            return Err(Failure::refused(format!("the login was refused: {why}")));
        }
        ActProgress::Refused(why) => {
            return Err(Failure::refused(format!("the node refused the login: {why}")));
        }
        ActProgress::Waiting | ActProgress::Placed { .. } => {
            return Err(
                Failure::timed_out("the login is not decided").hint("see `metatopia status`")
            );
        }
    }
    let place = printable(&room.driver.trust().genesis.name);
    room.note(&format!("You are in {place}. `look` describes it, `help` lists the commands."));
    Ok(())
}

/// Five views a second are enough for words; each of them is proved.
fn watching() -> Watching {
    let turns_apart = PROOF_TURNS as u16;
    let (proofs, at, have) = (true, None, Vec::new());
    Watching { bytes_per_second: 100_000, turns_apart, proofs, at, have }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    GoOn,
    Quit,
}

async fn obey(room: &mut TextClient, line: &str) -> Result<After, Failure> {
    if line.trim().is_empty() {
        return Ok(After::GoOn);
    }
    let command = match text::parse(line) {
        Ok(command) => command,
        Err(error) => {
            room.tell(LineKind::Refused, &printable(&error.to_string()))?;
            return Ok(After::GoOn);
        }
    };
    match command {
        TextCommand::Look => deeds::look(room).await?,
        TextCommand::Go(towards) => deeds::go(room, &towards).await?,
        TextCommand::Stop => deeds::stop(room).await?,
        TextCommand::Push(thing) => deeds::push(room, &thing).await?,
        TextCommand::Touch(thing) => deeds::touch(room, &thing).await?,
        TextCommand::Say(words) => deeds::speak(room, false, &words).await?,
        TextCommand::Shout(words) => deeds::speak(room, true, &words).await?,
        TextCommand::Emote(emote) => deeds::emote(room, emote).await?,
        TextCommand::Who => deeds::who(room).await?,
        TextCommand::Rules => rules::rules(room).await?,
        TextCommand::Source(thing) => deeds::source(room, &thing).await?,
        TextCommand::Proof => deeds::proof(room).await?,
        TextCommand::Help => room.tell(LineKind::Answer, text::HELP)?,
        TextCommand::Build(building) => builder::obey(room, building).await?,
        TextCommand::Quit => return Ok(After::Quit),
    }
    Ok(After::GoOn)
}

/// Until a line is typed; the world is told of, and told that somebody is there.
async fn wait(room: &mut TextClient) -> Result<(), Failure> {
    while !room.has_line() && !room.is_input_over() {
        let beat = room.last_act() + HEARTBEAT;
        tokio::select! {
            () = room.hear_or_read() => {}
            () = sleep_until(beat) => room.send(Act::Heartbeat).await?,
        }
        room.report()?;
    }
    Ok(())
}

/// For a while.
async fn listen(room: &mut TextClient, time: Duration) -> Result<(), Failure> {
    let end = Instant::now() + time;
    while Instant::now() < end {
        room.hear_until(end).await?;
    }
    Ok(())
}
