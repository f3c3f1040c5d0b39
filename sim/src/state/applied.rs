//! The results of applying a turn, besides the next state. None of them enters the state.

use metatopia_scripting::{ErrorKind, Event, FailureReport};
use metatopia_types::{Height, Movement, ObjectId, Outcome, Root, ScriptId, Tick, ValidatorSet};

use super::sim_state::State;
use crate::rules::{ForgottenWords, ToldWords};
use crate::space::Tile;
use crate::{
    acts::SpokenLine,
    scripts::{MadeSound, Sender, ShownForm},
};

/// The result of one turn.
#[derive(Debug, Clone)]
pub struct Applied {
    /// The height of the turn.
    pub height: Height,
    /// The tick after which the state is.
    pub tick: Tick,
    /// The root of the state after it.
    pub root: Root,
    /// The outcome of each act, in the order of the turn's acts.
    pub outcomes: Vec<Outcome>,
    /// The validators [`SET_LAG`](metatopia_types::limits::SET_LAG) heights later.
    pub validators: ValidatorSet,
    /// The lines that were said, in order.
    pub chat: Vec<SpokenLine>,
    /// Private words that people are told, in order.
    pub told: Vec<ToldWords>,
    /// Words that every server drops, in order.
    pub forgotten: Vec<ForgottenWords>,
    /// Forms that things showed, each to one person.
    pub forms: Vec<ShownForm>,
    /// Sounds that things made, in order.
    pub sounds: Vec<MadeSound>,
    /// In which order scripts got their events.
    pub order: Vec<Received>,
    /// Calls of scripts that failed, for their authors.
    pub failures: Vec<ScriptFailure>,
    /// The lines that scripts logged, for their authors.
    pub log: Vec<LogLine>,
    /// Objects whose entries in the tiles are not what they were, in the order of their ids.
    pub changed: Vec<ChangedObject>,
}

/// How the entry of an object changed in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedObject {
    /// The object that changed.
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
    /// The tick in which the script got the event.
    pub tick: Tick,
    /// The script that got the event.
    pub script: ScriptId,
    /// The sender that raised the event.
    pub sender: Sender,
    /// The sender's object or avatar; 0 for the sim core, and for who is gone by now.
    pub from: ObjectId,
    /// The event itself.
    pub event: Event,
}

/// A call of a script that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptFailure {
    /// The tick of the call.
    pub tick: Tick,
    /// The script that failed.
    pub script: ScriptId,
    /// The kind of error; the same on every server.
    pub kind: ErrorKind,
    /// The place and the reason, in words.
    pub report: Box<FailureReport>,
}

/// A line that a script logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// The tick of the call.
    pub tick: Tick,
    /// The script that logged the line.
    pub script: ScriptId,
    /// The line that it logged.
    pub text: String,
}

/// The object that stands for a sender.
pub(crate) fn object_of(state: &State, sender: &Sender, event: &Event) -> ObjectId {
    let found = match sender {
        Sender::Core => None,
        Sender::Player(player) => state.present.get(player).copied(),
        Sender::Script(script) => state.scripts.get(script).map(|script| script.object),
        Sender::Physics => match event {
            Event::Touch { other, .. } | Event::Hit { other, .. } | Event::TouchEnd { other } => {
                Some(*other)
            }
            Event::Break { other } => *other,
            Event::Sit { who } | Event::Stand { who } => Some(*who),
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
        Event::TouchEnd { other } => format!("{other} touches no more"),
        Event::Chat { text, .. } => format!("chat {text:?}"),
        Event::Message { topic, .. } => format!("message {topic:?}"),
        Event::Timer { name } => format!("timer {name:?}"),
        Event::Upgrade => "upgrade".to_owned(),
        Event::Spawn { thing: Some(thing), tag } => format!("spawn {tag:?} as {thing}"),
        Event::Enter { other } => format!("{other} enters"),
        Event::Leave { other } => format!("{other} leaves"),
        Event::Ui { tag, choice, .. } => format!("reply to {tag:?}, choice {choice}"),
        Event::Answer { tag, accepted: true, .. } => format!("{tag:?} is accepted"),
        Event::Answer { tag, accepted: false, .. } => format!("{tag:?} is declined"),
        Event::Hit { other, speed } => format!("hit by {other}, speed {speed}"),
        Event::Break { other: Some(other) } => format!("the joint with {other} ended"),
        Event::Break { other: None } => "a joint with the ground ended".to_owned(),
        Event::Sit { who } => format!("{who} sits down"),
        Event::Stand { who } => format!("{who} stands up"),
        Event::Arrive => "arrive".to_owned(),
        Event::Depart { how } => format!("depart {how}"),
        Event::HitBeyond { what, speed } => format!("hit by a {what} beyond a line, speed {speed}"),
        Event::Undelivered { topic, why, .. } => format!("{topic:?} undelivered: {why}"),
        Event::Refused { why } => format!("refused: {why}"),
        Event::Spawn { thing: None, tag } => format!("spawn {tag:?} refused"),
    }
}
