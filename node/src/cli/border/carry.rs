//! `border carry` carries what two sims say to each other, where their servers do not reach one another.

use std::{fmt, time::Duration};

use clap::Args;
use metatopia_client_driver::{AskError, AskingSession, NodeEndpoint, NodeUrl, passing_key};
use metatopia_protocol::{
    Answer, BorderEntry, DispatchAnswer, DispatchQuestion, HandInRefusal, HandedDispatch, Question,
};
use metatopia_types::{Digest, Dispatch, HearRefusal, Height, SimId};
use serde::Serialize;
use tokio::time::sleep;

use crate::cli::{console::Console, failure::Failure, session::ANSWER};

/// The time that a question for a dispatch stands while this command follows, in milliseconds: after 2 s without a
/// word a border is a wall.
const STANDS_MS: u32 = 1_000;

/// The time before a node that is busy is asked again, and between two dispatches: a turn.
const PAUSE: Duration = Duration::from_millis(50);

/// Dispatches that are carried at most one way where nobody follows: each has 32 set changes, so a neighbour with more
/// than 3,200 new ones is carried by a second call. What was handed in and is in no turn yet is carried again.
const DISPATCHES_MAX: usize = 100;

/// The time before the sessions of a way are opened again that broke, and before a server is asked again that hears the
/// neighbour itself.
const AGAIN: Duration = Duration::from_secs(1);

/// Times that a busy server is asked in a row: for 5 s.
const BUSY_MAX: usize = 100;

#[derive(Debug, Args)]
pub(in crate::cli) struct CarryArgs {
    /// A server of one sim.
    #[arg(value_name = "URL")]
    one: NodeUrl,
    /// A server of its neighbour.
    #[arg(value_name = "URL")]
    other: NodeUrl,
    /// Go on until this command is stopped.
    #[arg(long)]
    follow: bool,
}

/// A dispatch that was carried, as the command prints it.
#[derive(Debug, Serialize)]
struct CarriedDispatch {
    from: String,
    to: String,
    bytes: usize,
    /// The height of the neighbour's state that is known after it, and the number of set changes that came with it.
    height: u64,
    links: usize,
}

impl fmt::Display for CarriedDispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, bytes, height, links } = self;
        write!(f, "{bytes} bytes from sim {from} to sim {to}: its state up to height {height}")?;
        match links {
            0 => Ok(()),
            1 => write!(f, ", and 1 change of its validators"),
            _ => write!(f, ", and {links} changes of its validators"),
        }
    }
}

/// What came of one way, as the command prints it.
#[derive(Debug, Serialize)]
struct CarriedWay {
    from: String,
    to: String,
    /// Dispatches that were carried.
    carried: usize,
    /// Whether the server that was to be told hears the neighbour itself.
    hears_itself: bool,
}

impl fmt::Display for CarriedWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, .. } = self;
        match self.hears_itself {
            true => write!(f, "sim {to} hears sim {from} itself; nothing is to carry"),
            false => write!(f, "sim {to} knows all that sim {from} says"),
        }
    }
}

/// What came of one look at what a sim says.
#[derive(Debug, PartialEq, Eq)]
enum Carrying {
    /// Something was handed in.
    Went,
    /// There is nothing that the other sim does not know.
    Idle,
    /// The server hears the neighbour itself.
    Heard,
}

/// One end: a session with a server of a sim.
struct CarryEnd {
    sim: SimId,
    url: NodeUrl,
    session: AskingSession,
}

/// One way over the border.
struct CarryWay {
    /// The sim that says something.
    from: CarryEnd,
    /// The sim that is told.
    to: CarryEnd,
    /// The digest of the news that was carried last.
    had: Option<Digest>,
}

/// Carries both ways, once or until the command is stopped.
pub(super) async fn run(args: CarryArgs, console: Console) -> Result<(), Failure> {
    let CarryArgs { one, other, follow } = args;
    let east = CarryWay::open(&one, &other).await?;
    let west = CarryWay::open(&other, &one).await?;
    if east.from.sim == east.to.sim {
        let message = format!("{one} and {other} are nodes of one sim, {}", east.from.sim);
        return Err(Failure::usage(message).hint("name a server of each of two neighbours"));
    }
    if follow {
        console.note("carrying both ways; Ctrl-C ends it, and the border is a wall after 2 s");
        let both =
            async { tokio::try_join!(east.follow(console), west.follow(console)).map(|_| ()) };
        return tokio::select! {
            ended = both => ended,
            _ = tokio::signal::ctrl_c() => Ok(()),
        };
    }
    east.carry_all(console).await?;
    west.carry_all(console).await
}

impl CarryEnd {
    async fn open(url: &NodeUrl) -> Result<Self, Failure> {
        let opened = async {
            let endpoint = NodeEndpoint::ask(url, None).await?;
            let session = AskingSession::open(&endpoint, passing_key()).await?;
            Ok::<_, AskError>(Self { sim: endpoint.sim, url: url.clone(), session })
        };
        opened.await.map_err(|error| asked(url, &error))
    }

    /// Asks a question until the node has time for it.
    async fn ask(&mut self, question: &Question) -> Result<Answer, Failure> {
        for _ in 0..BUSY_MAX {
            let answer = self.session.ask(question.clone(), ANSWER).await;
            match answer.map_err(|error| asked(&self.url, &error))? {
                Answer::Busy => sleep(PAUSE).await,
                answer => return Ok(answer),
            }
        }
        Err(Failure::timed_out(format!("{} has too much to do", self.url)).hint("try again"))
    }
}

impl CarryWay {
    async fn open(from: &NodeUrl, to: &NodeUrl) -> Result<Self, Failure> {
        let (from, to) = (CarryEnd::open(from).await?, CarryEnd::open(to).await?);
        Ok(Self { from, to, had: None })
    }

    /// Carries without end. A way that breaks is opened again, because servers restart.
    async fn follow(mut self, console: Console) -> Result<(), Failure> {
        let (mut said, mut has_worked) = (String::new(), false);
        let mut tell = |words: String| {
            if said != words {
                console.note(&words);
                said = words;
            }
        };
        loop {
            let carried = self.carry(STANDS_MS, console).await;
            has_worked |= carried.is_ok();
            match carried {
                Ok(Carrying::Heard) => {
                    let (url, from) = (&self.to.url, self.from.sim);
                    tell(format!("{url} hears sim {from} itself, so nothing is carried there"));
                    sleep(AGAIN).await;
                }
                Ok(_) => sleep(PAUSE).await,
                Err(failure) if !has_worked => return Err(failure),
                Err(failure) => {
                    tell(format!("{failure}; it is tried again each second"));
                    sleep(AGAIN).await;
                    if let Ok(again) = Self::open(&self.from.url, &self.to.url).await {
                        self = again;
                    }
                }
            }
        }
    }

    /// Carries what the other sim does not know, and tells what came of it.
    async fn carry_all(mut self, console: Console) -> Result<(), Failure> {
        let (from, to) = (self.from.sim.to_string(), self.to.sim.to_string());
        for carried in 0..DISPATCHES_MAX {
            match self.carry(0, console).await? {
                // What was handed in is known once a turn has it; what is more than one dispatch has comes next.
                Carrying::Went => sleep(4 * PAUSE).await,
                Carrying::Idle => {
                    return console.show(&CarriedWay { from, to, carried, hears_itself: false });
                }
                Carrying::Heard => {
                    return console.show(&CarriedWay { from, to, carried, hears_itself: true });
                }
            }
        }
        let (url, from) = (&self.to.url, self.from.sim);
        let message = format!("{url} takes what sim {from} says, and its sim has not heard it all");
        Err(Failure::timed_out(message).hint("try again, or look at `metatopia status`"))
    }

    /// Carries one dispatch. The question for it stands for so many milliseconds.
    async fn carry(&mut self, wait: u32, console: Console) -> Result<Carrying, Failure> {
        let (from, to) = (self.from.sim, self.to.sim);
        let (heard, DispatchAnswer { news, dispatch }) = self.said(wait).await?;
        let told = Dispatch::decode(&dispatch)
            .map_err(|_| Failure::failed(format!("{} says what is no dispatch", self.from.url)))?;
        let carried = CarriedDispatch {
            from: from.to_string(),
            to: to.to_string(),
            bytes: dispatch.len(),
            height: told.state.as_ref().map_or(heard, |state| state.header.height).0,
            links: told.links.len(),
        };
        let carrying = self.hand_in(dispatch).await?;
        // Only news are told, and not each second in which there are none.
        let is_news = self.had.replace(news) != Some(news) || carried.links > 0;
        if carrying == Carrying::Went && is_news {
            console.show(&carried)?;
        }
        Ok(carrying)
    }

    /// Returns what the one sim says to the other, and up to which height that has heard of it.
    async fn said(&mut self, wait: u32) -> Result<(Height, DispatchAnswer), Failure> {
        let (from, to) = (self.from.sim, self.to.sim);
        let Answer::Borders(borders) = self.to.ask(&Question::Borders { of: None }).await? else {
            return Err(Failure::failed(format!("{} does not tell its borders", self.to.url)));
        };
        let border = borders.iter().find(|border| border.neighbour == from);
        let BorderEntry { followed, judged, heard, .. } =
            border.ok_or_else(|| no_border(to, from))?;
        let (followed, judged) = (*followed, *judged);
        let asked = DispatchQuestion { neighbour: to, followed, judged, had: self.had, wait };
        match self.from.ask(&Question::Dispatch(asked)).await? {
            Answer::Dispatch(answer) => Ok((*heard, answer)),
            Answer::Unknown => Err(no_border(from, to)),
            other => {
                let message = format!("{} answers by {}", self.from.url, other.kind());
                Err(Failure::failed(message))
            }
        }
    }

    /// Hands a dispatch in to the server that is to be told.
    async fn hand_in(&mut self, dispatch: Vec<u8>) -> Result<Carrying, Failure> {
        let (url, neighbour) = (self.to.url.clone(), self.from.sim);
        let handed = Question::HandIn(HandedDispatch { neighbour, dispatch });
        let Answer::HandedIn(taken) = self.to.ask(&handed).await? else {
            return Err(Failure::failed(format!("{url} takes no dispatches")));
        };
        match taken {
            Ok(()) => Ok(Carrying::Went),
            Err(HandInRefusal::Heard) => Ok(Carrying::Heard),
            Err(HandInRefusal::Hear(HearRefusal::NothingNew)) => Ok(Carrying::Idle),
            Err(why) => {
                let message = format!("{url} does not take what sim {neighbour} says: {why}");
                Err(Failure::refused(message))
            }
        }
    }
}

fn asked(url: &NodeUrl, error: &AskError) -> Failure {
    Failure::timed_out(match error {
        // It names the address.
        AskError::Endpoint(error) => error.to_string(),
        error => format!("{url}: {error}"),
    })
    .hint("name a server of each sim that is up")
}

fn no_border(of: SimId, to: SimId) -> Failure {
    Failure::not_found(format!("sim {of} has no border to sim {to}"))
        .hint("`metatopia border open --help` says how its admins open one")
}
