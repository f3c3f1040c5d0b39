//! The world in words, for terminals, pipes and screen readers.
//!
//! [`run`] lives in a sim by a [`ClientDriver`]: it carries out typed lines one after the other, and tells a
//! [`TextOutput`] what is seen and heard. A [`ScriptDesk`] has the folders and the editor of authors, and a
//! [`WorldDesk`] the map of the world. Walks,
//! pushes and buildings that take several acts are made of single ones here. It parses no arguments, reads no
//! key and opens no session: the program does that, and says where lines come from ([`lines`] reads standard
//! input). What is believed is the driver's matter.
//!
//! ```
//! use std::{cell::RefCell, io};
//!
//! use metatopia_text_client::{LineKind, TextOutput};
//!
//! /// Keeps what is heard.
//! #[derive(Default)]
//! struct Diary(RefCell<Vec<String>>);
//!
//! impl TextOutput for Diary {
//!     fn tell(&self, kind: LineKind, text: &str) -> io::Result<()> {
//!         if kind == LineKind::Heard {
//!             self.0.borrow_mut().push(text.to_owned());
//!         }
//!         Ok(())
//!     }
//!
//!     fn note(&self, _: &str) {}
//! }
//!
//! let diary = Diary::default();
//! diary.tell(LineKind::Heard, "Ada says: hello").unwrap();
//! diary.tell(LineKind::Seen, "Ada comes into sight.").unwrap();
//! assert_eq!(*diary.0.borrow(), ["Ada says: hello"]);
//! ```
#![forbid(unsafe_code)]

mod author;
mod blocks;
mod buddies;
mod builder;
mod charter;
mod clubs;
mod crossing;
mod deeds;
mod desk;
#[cfg(test)]
mod fixture;
mod forms;
mod friends;
mod hands;
mod heard;
mod input;
mod joints;
mod journey;
mod lots;
mod luggage;
mod moderation;
mod orders;
mod output;
mod own_things;
mod pointing;
mod private;
mod profiles;
mod reports;
mod room;
mod rules;
mod scripts;
mod traces;
mod unite;
mod verbs;
mod walk;
mod words;
mod world_desk;

use std::{io, time::Duration};

use metatopia_client::{
    Correspondence,
    text::{self, ParseError, TextCommand, printable},
};
use metatopia_client_driver::{ClientDriver, DriveError, ProofError};
use metatopia_protocol::{PROOF_TURNS, SubmitRefusal, Watching};
use metatopia_types::{Act, Outcome, PackageId, Refusal};
use tokio::time::{Instant, sleep_until};

use self::room::{ActProgress, TextClient};
pub use self::{
    desk::{DraftFolder, LogLines, ScriptDesk},
    input::{TypedLines, lines},
    output::{LineKind, TextOutput},
    world_desk::{
        FromWorld, KnownMap, KnownOwner, KnownSim, MAP_OLD, MapFreshness, ONE_DOOR, WorldDesk, aged,
    },
};

/// A sign of life after so long without an act: well before the sim lets an avatar rest, 10 s.
const HEARTBEAT: Duration = Duration::from_secs(4);

/// The time for which the world is listened to after the last line: a person who was spoken to may answer.
const LINGER: Duration = Duration::from_secs(1);

/// Why a life in words ended before its lines did.
#[derive(Debug, thiserror::Error)]
pub enum TextClientError {
    /// The session failed.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// What the node said is not proved.
    #[error(transparent)]
    Proof(#[from] ProofError),
    /// Nobody takes what is told.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
    /// The sim refused the login.
    #[error("the login was refused: {0}")]
    LoginRefused(Refusal),
    /// The node did not take the login.
    #[error("the node refused the login: {0}")]
    LoginNotTaken(SubmitRefusal),
    /// The login did not take effect in time.
    #[error("the login is not decided")]
    LoginNotDecided,
    /// The node gave another source than that of a package.
    #[error("the node gave another source than that of package {0}")]
    OtherSource(PackageId),
}

/// Logs in, and carries out lines until they end, or until `interrupted` does.
///
/// In a terminal, where it is `interactive`, a new line ends a walk that is still going on.
///
/// # Errors
/// See [`TextClientError`].
pub async fn run(
    (driver, correspondence): (ClientDriver, Correspondence),
    login: Act,
    lines: TypedLines,
    (output, desk, world): (Box<dyn TextOutput>, Box<dyn ScriptDesk>, Box<dyn WorldDesk>),
    interrupted: impl Future<Output = ()>,
) -> Result<(), TextClientError> {
    let mut room = TextClient::new((driver, correspondence), (output, desk, world), lines);
    let lived = tokio::select! {
        lived = live(&mut room, login) => lived,
        () = interrupted => {
            // The session closes behind it; the words have a second to arrive.
            room.send(Act::Leave).await
        }
    };
    room.leave().await;
    lived
}

async fn live(room: &mut TextClient, login: Act) -> Result<(), TextClientError> {
    enter(room, login).await?;
    let mut line = room.typed();
    loop {
        match line.take() {
            Some(line) => {
                let after = obey(room, &line).await;
                if input::pauses(&line) {
                    room.read_on();
                }
                if after? == After::Quit {
                    break;
                }
            }
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

async fn enter(room: &mut TextClient, login: Act) -> Result<(), TextClientError> {
    room.driver.view(Some(watching())).await?;
    match room.enter(login).await? {
        ActProgress::Done(Outcome::Ok | Outcome::Made(_)) => {}
        ActProgress::Done(Outcome::Refused(why)) => {
            return Err(TextClientError::LoginRefused(why));
        }
        ActProgress::Refused(why) => {
            return Err(TextClientError::LoginNotTaken(why));
        }
        ActProgress::Waiting | ActProgress::Placed { .. } => {
            return Err(TextClientError::LoginNotDecided);
        }
    }
    let genesis = &room.driver.trust().genesis;
    for line in genesis.introduction.description.lines() {
        room.note(&printable(line));
    }
    let place = printable(&genesis.name);
    room.note(&format!("You are in {place}. `look` describes it, `help` lists the commands."));
    rules::greet(room).await?;
    luggage::greet(room).await?;
    arrived(room).await
}

/// Does what somebody wants done who came into a sim: tells what she was told and which buddies are here, and sends
/// her profile.
pub(crate) async fn arrived(room: &mut TextClient) -> Result<(), TextClientError> {
    rules::tell_unread(room).await?;
    private::read(room).await?;
    buddies::greet(room).await?;
    profiles::send(room).await
}

/// Five views a second are enough for words; each of them is proved.
pub(crate) fn watching() -> Watching {
    let turns_apart = PROOF_TURNS as u16;
    let (proofs, at, have) = (true, None, Vec::new());
    Watching { bytes_per_second: 100_000, turns_apart, proofs, at, have }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    GoOn,
    Quit,
}

async fn obey(room: &mut TextClient, line: &str) -> Result<After, TextClientError> {
    if line.trim().is_empty() {
        return Ok(After::GoOn);
    }
    let command = match text::parse(line) {
        Ok(command) => command,
        Err(error) => {
            let told = match error {
                ParseError::Unknown(word) => verbs::unknown(&word),
                error => error.to_string(),
            };
            room.tell(LineKind::Refused, &printable(&told))?;
            return Ok(After::GoOn);
        }
    };
    room.sounded = None;
    match command {
        TextCommand::Look => deeds::look(room).await?,
        TextCommand::LookAt(thing) => joints::look_at(room, &thing).await?,
        TextCommand::Go(towards) => deeds::go(room, &towards).await?,
        TextCommand::Map => journey::map(room).await?,
        TextCommand::GoThere(to) => journey::go_there(room, &to).await?,
        TextCommand::Stop => deeds::stop(room).await?,
        TextCommand::Push(thing) => deeds::push(room, &thing).await?,
        TextCommand::Touch(thing) => deeds::touch(room, &thing).await?,
        TextCommand::Say(words) => deeds::speak(room, false, &words).await?,
        TextCommand::Shout(words) => deeds::speak(room, true, &words).await?,
        TextCommand::Private(what) => private::obey(room, what).await?,
        TextCommand::Club(what) => clubs::obey(room, what).await?,
        TextCommand::Block(what) => blocks::obey(room, what).await?,
        TextCommand::Profile(what) => profiles::obey(room, what).await?,
        TextCommand::Buddy(what) => buddies::obey(room, what).await?,
        TextCommand::Friend(what) => friends::obey(room, what).await?,
        TextCommand::Forget(whose) => heard::forget(room, whose.as_deref()).await?,
        TextCommand::Moderate(what) => moderation::obey(room, what).await?,
        TextCommand::Order(what) => orders::obey(room, what).await?,
        TextCommand::Reply(typed) => deeds::reply(room, &typed).await?,
        TextCommand::Forbid => deeds::forbid(room).await?,
        TextCommand::Emote(emote) => deeds::emote(room, emote).await?,
        TextCommand::Wear(wear) => deeds::wear(room, wear).await?,
        TextCommand::Who => deeds::who(room).await?,
        TextCommand::WhoDid(thing) => traces::who_did(room, &thing).await?,
        TextCommand::Report(what) => reports::obey(room, what).await?,
        TextCommand::Rules => rules::rules(room).await?,
        TextCommand::Agree => rules::agree(room).await?,
        TextCommand::Source(thing) => deeds::source(room, &thing).await?,
        TextCommand::Edit(named) => author::edit(room, &named).await?,
        TextCommand::Publish(dir, thing) => author::publish(room, &dir, thing.as_deref()).await?,
        TextCommand::Logs(thing) => author::logs(room, &thing).await?,
        TextCommand::Proof => deeds::proof(room).await?,
        TextCommand::Help => room.tell(LineKind::Answer, text::HELP)?,
        TextCommand::Home => deeds::home(room).await?,
        TextCommand::Sit(thing) => deeds::sit(room, &thing).await?,
        TextCommand::Stand => deeds::stand(room).await?,
        TextCommand::Lots => lots::list(room).await?,
        TextCommand::Lot(what) => lots::obey(room, what).await?,
        TextCommand::Build(building) => builder::obey(room, building).await?,
        TextCommand::Quit => return Ok(After::Quit),
    }
    Ok(After::GoOn)
}

/// Waits until a line is typed. Meanwhile it prints what happens in the world, and tells the sim that
/// somebody is there.
async fn wait(room: &mut TextClient) -> Result<(), TextClientError> {
    while !room.has_line() && !room.is_input_over() {
        let beat = room.last_act() + HEARTBEAT;
        tokio::select! {
            () = room.hear_or_read() => {}
            () = sleep_until(beat) => room.send(Act::Heartbeat).await?,
        }
        room.report()?;
        room.attend_border().await?;
    }
    Ok(())
}

/// Listens to the world for a while.
async fn listen(room: &mut TextClient, time: Duration) -> Result<(), TextClientError> {
    let end = Instant::now() + time;
    while Instant::now() < end {
        room.hear_until(end).await?;
        room.attend_border().await?;
    }
    Ok(())
}
