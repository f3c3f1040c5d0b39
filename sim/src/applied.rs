//! What applying a turn gives, besides the next state. None of it enters the state.

use metatopia_scripting::{ErrorKind, Event, Report};
use metatopia_types::{Height, Movement, ObjectId, Outcome, Root, ScriptId, Tick, ValidatorSet};

use crate::{chat::ChatLine, inbox::Sender, object::Tile, state::State};

/// The result of one turn.
#[derive(Debug, Clone)]
pub struct Applied {
    /// The turn.
    pub height: Height,
    /// The tick after which the state is.
    pub tick: Tick,
    /// The root of the state after it.
    pub root: Root,
    /// What became of each act, in the order of the turn's acts.
    pub outcomes: Vec<Outcome>,
    /// Who votes [`SET_LAG`](metatopia_types::limits::SET_LAG) heights later.
    pub validators: ValidatorSet,
    /// What was said, in order.
    pub chat: Vec<ChatLine>,
    /// In which order scripts got their events.
    pub order: Vec<Received>,
    /// Calls of scripts that failed, for their authors.
    pub failures: Vec<Failure>,
    /// What scripts logged, for their authors.
    pub log: Vec<LogLine>,
    /// Objects whose entries in the tiles are not what they were, in the order of their ids.
    pub changed: Vec<Changed>,
}

/// How the entry of an object changed in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changed {
    /// Which object.
    pub id: ObjectId,
    /// Its tile before; nothing if it is new.
    pub from: Option<Tile>,
    /// Its tile now; nothing if it is gone.
    pub to: Option<Tile>,
    /// The parts of its motion that changed, if nothing else of its entry did.
    pub movement: Option<Movement>,
}

/// One event as a script got it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// In this tick.
    pub tick: Tick,
    /// Which script.
    pub script: ScriptId,
    /// Who raised it.
    pub sender: Sender,
    /// The sender's object or avatar; 0 for the sim core, and for who is gone by now.
    pub from: ObjectId,
    /// What happened.
    pub event: Event,
}

/// A call of a script that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// In this tick.
    pub tick: Tick,
    /// Which script.
    pub script: ScriptId,
    /// What went wrong; the same on every server.
    pub kind: ErrorKind,
    /// Where and why, in words.
    pub report: Box<Report>,
}

/// A line that a script logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// In this tick.
    pub tick: Tick,
    /// Which script.
    pub script: ScriptId,
    /// What it logged.
    pub text: String,
}

/// The object that stands for a sender.
pub(crate) fn object_of(state: &State, sender: &Sender, event: &Event) -> ObjectId {
    let found = match sender {
        Sender::Core => None,
        Sender::Player(player) => state.present.get(player).copied(),
        Sender::Script(script) => state.scripts.get(script).map(|script| script.object),
        Sender::Region(_) => match event {
            Event::Touch { other, .. } => Some(*other),
            _ => None,
        },
    };
    found.unwrap_or(ObjectId(0))
}

/// An event in a few words, such as `chat "hi"`, for people to read.
#[must_use]
pub fn describe(event: &Event) -> String {
    match event {
        Event::Start => "start".to_owned(),
        Event::Tick { .. } => "tick".to_owned(),
        Event::Touch { other, impulse, .. } => format!("touch by {other}, impulse {impulse}"),
        Event::Chat { text, .. } => format!("chat {text:?}"),
        Event::Message { topic, .. } => format!("message {topic:?}"),
        Event::Timer { name } => format!("timer {name:?}"),
    }
}
