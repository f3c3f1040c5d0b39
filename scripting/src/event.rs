//! What scripts are told: one event, one call.

use alloc::string::String;

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;
use serde::{Deserialize, Serialize};

use crate::{Value, host::ValueKind};

/// Something that happened to a script's object, or that somebody told the script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The script was put on its object, or its world has just begun.
    Start,
    /// A step of simulated time; only scripts with `on_tick` get it.
    Tick {
        /// Seconds since the last one.
        dt: Fx,
    },
    /// A body, or a player's hand, began to touch the object.
    Touch {
        /// The object that touches.
        other: ObjectId,
        /// Where, in metres.
        at: Vec2,
        /// How hard, in kilogram metres a second; 0 for a hand.
        impulse: Fx,
    },
    /// Somebody in hearing said something.
    Chat {
        /// The object that spoke.
        from: ObjectId,
        /// What was said.
        text: String,
    },
    /// Another script sent something.
    Message {
        /// The sender's object.
        from: ObjectId,
        /// What it is about.
        topic: String,
        /// What came with it.
        data: Value,
    },
    /// A timer of the script's own ran out.
    Timer {
        /// The name of the timer.
        name: String,
    },
    /// The script runs another package from now on, with the state that the last one left.
    Upgrade,
    /// What became of a thing that the script spawned.
    Spawn {
        /// The new thing; none if a rule refused it.
        thing: Option<ObjectId>,
        /// What the script called it.
        tag: String,
    },
    /// Somebody, or something that can be pushed, came into the zone of the script.
    Enter {
        /// The object that came.
        other: ObjectId,
    },
    /// What had come into the zone left it, or is gone.
    Leave {
        /// The object that left; it may be gone.
        other: ObjectId,
    },
    /// Somebody replied to a form, or replied unasked.
    Ui {
        /// The avatar of who replied.
        who: ObjectId,
        /// What the script called the form.
        tag: String,
        /// The place of what was chosen, from 0.
        choice: u8,
        /// The line that was filled in, or an empty text.
        text: String,
    },
    /// Somebody accepted or declined what the script offered.
    Answer {
        /// The avatar of who answered.
        who: ObjectId,
        /// What the script called the offer; the word of the permission, if it asked for one.
        tag: String,
        /// Whether the person agreed. What was offered has happened then.
        accepted: bool,
    },
    /// A body met the object, hard.
    Hit {
        /// The object that it met.
        other: ObjectId,
        /// How fast they met, in metres a second.
        speed: Fx,
    },
    /// A joint of the object ended, and no script took it off: it broke, or what it held is gone.
    Break {
        /// What it held the object to; none if that was the ground. It may be gone.
        other: Option<ObjectId>,
    },
    /// The object came over a border.
    Arrive,
    /// The object left over a border, and came back.
    Refused {
        /// Why, in few words.
        why: String,
    },
    /// Somebody sat down on the object.
    Sit {
        /// The avatar of who sits.
        who: ObjectId,
    },
    /// Somebody who sat on the object stood up, or is gone.
    Stand {
        /// The avatar of who sat; it may be gone.
        who: ObjectId,
    },
    /// The object is past the line of a border, and leaves at the end of the turn.
    Depart {
        /// How it goes: `alone`, `in hand` or `ridden`.
        how: String,
    },
    /// Nobody got a message of the script.
    Undelivered {
        /// For whom it was.
        to: ObjectId,
        /// What it was about.
        topic: String,
        /// Where that object is: `away` or `gone`.
        why: String,
    },
    /// What stands in the neighbour, beyond the line of a border, met the object, hard.
    HitBeyond {
        /// What it was: `person` or `thing`.
        what: String,
        /// How fast they met, in metres a second.
        speed: Fx,
    },
    /// A body that touched the object does so no longer, or is gone; or a player's hand, at once.
    TouchEnd {
        /// The object that touched; it may be gone.
        other: ObjectId,
    },
}

/// The kinds of events, in the order of their handlers in documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EventKind {
    /// It calls `on_start`.
    Start,
    /// It calls `on_tick`.
    Tick,
    /// It calls `on_touch`.
    Touch,
    /// It calls `on_chat`.
    Chat,
    /// It calls `on_message`.
    Message,
    /// It calls `on_timer`.
    Timer,
    /// It calls `on_upgrade`.
    Upgrade,
    /// It calls `on_spawn`.
    Spawn,
    /// It calls `on_ui`.
    Ui,
    /// It calls `on_enter`.
    Enter,
    /// It calls `on_leave`.
    Leave,
    /// It calls `on_answer`.
    Answer,
    /// It calls `on_hit`.
    Hit,
    /// It calls `on_break`.
    Break,
    /// It calls `on_arrive`.
    Arrive,
    /// It calls `on_refused`.
    Refused,
    /// It calls `on_sit`.
    Sit,
    /// It calls `on_stand`.
    Stand,
    /// It calls `on_depart`.
    Depart,
    /// It calls `on_undelivered`.
    Undelivered,
    /// It calls `on_hit_beyond`.
    HitBeyond,
    /// It calls `on_touch_end`.
    TouchEnd,
}

impl EventKind {
    /// All of them.
    pub const ALL: [Self; 22] = [
        Self::Start,
        Self::Tick,
        Self::Touch,
        Self::Chat,
        Self::Message,
        Self::Timer,
        Self::Upgrade,
        Self::Spawn,
        Self::Ui,
        Self::Enter,
        Self::Leave,
        Self::Answer,
        Self::Hit,
        Self::Break,
        Self::Arrive,
        Self::Refused,
        Self::Sit,
        Self::Stand,
        Self::Depart,
        Self::Undelivered,
        Self::HitBeyond,
        Self::TouchEnd,
    ];

    /// The name of the function that handles it.
    #[must_use]
    pub const fn handler(self) -> &'static str {
        match self {
            Self::Start => "on_start",
            Self::Tick => "on_tick",
            Self::Touch => "on_touch",
            Self::Chat => "on_chat",
            Self::Message => "on_message",
            Self::Timer => "on_timer",
            Self::Upgrade => "on_upgrade",
            Self::Spawn => "on_spawn",
            Self::Ui => "on_ui",
            Self::Enter => "on_enter",
            Self::Leave => "on_leave",
            Self::Answer => "on_answer",
            Self::Hit => "on_hit",
            Self::Break => "on_break",
            Self::Arrive => "on_arrive",
            Self::Refused => "on_refused",
            Self::Sit => "on_sit",
            Self::Stand => "on_stand",
            Self::Depart => "on_depart",
            Self::Undelivered => "on_undelivered",
            Self::HitBeyond => "on_hit_beyond",
            Self::TouchEnd => "on_touch_end",
        }
    }

    /// The parameters that a handler may take; it may leave out any number of the last ones.
    #[must_use]
    pub const fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Start | Self::Upgrade | Self::Arrive => &[],
            Self::Tick => &["dt"],
            Self::Touch => &["other", "at", "impulse"],
            Self::Chat => &["from", "text"],
            Self::Message => &["from", "topic", "data"],
            Self::Timer => &["name"],
            Self::Spawn => &["thing", "tag"],
            Self::Ui => &["who", "tag", "choice", "text"],
            Self::Enter | Self::Leave | Self::TouchEnd => &["other"],
            Self::Answer => &["who", "tag", "accepted"],
            Self::Hit => &["other", "speed"],
            Self::Break => &["other"],
            Self::Refused => &["why"],
            Self::Sit | Self::Stand => &["who"],
            Self::Depart => &["how"],
            Self::Undelivered => &["to", "topic", "why"],
            Self::HitBeyond => &["what", "speed"],
        }
    }

    /// Returns the kinds of what the parameters hold, in the same order.
    #[must_use]
    pub const fn parameter_kinds(self) -> &'static [ValueKind] {
        use ValueKind as K;
        match self {
            Self::Start | Self::Upgrade | Self::Arrive => &[],
            Self::Tick => &[K::Fixed],
            Self::Touch => &[K::Object, K::Vec2, K::Fixed],
            Self::Chat => &[K::Object, K::Text],
            Self::Message => &[K::Object, K::Text, K::Any],
            Self::Timer => &[K::Text],
            Self::Spawn => &[K::Any, K::Text],
            Self::Ui => &[K::Object, K::Text, K::Int, K::Text],
            Self::Enter | Self::Leave | Self::Sit | Self::Stand | Self::TouchEnd => &[K::Object],
            Self::Answer => &[K::Object, K::Text, K::Bool],
            Self::Hit => &[K::Object, K::Fixed],
            Self::Break => &[K::Any],
            Self::Refused | Self::Depart => &[K::Text],
            Self::Undelivered => &[K::Object, K::Text, K::Text],
            Self::HitBeyond => &[K::Text, K::Fixed],
        }
    }
}

impl Event {
    /// Returns the event's kind.
    #[must_use]
    pub const fn kind(&self) -> EventKind {
        match self {
            Self::Start => EventKind::Start,
            Self::Tick { .. } => EventKind::Tick,
            Self::Touch { .. } => EventKind::Touch,
            Self::Chat { .. } => EventKind::Chat,
            Self::Message { .. } => EventKind::Message,
            Self::Timer { .. } => EventKind::Timer,
            Self::Upgrade => EventKind::Upgrade,
            Self::Spawn { .. } => EventKind::Spawn,
            Self::Ui { .. } => EventKind::Ui,
            Self::Enter { .. } => EventKind::Enter,
            Self::Leave { .. } => EventKind::Leave,
            Self::Answer { .. } => EventKind::Answer,
            Self::Hit { .. } => EventKind::Hit,
            Self::Break { .. } => EventKind::Break,
            Self::Arrive => EventKind::Arrive,
            Self::Refused { .. } => EventKind::Refused,
            Self::Sit { .. } => EventKind::Sit,
            Self::Stand { .. } => EventKind::Stand,
            Self::Depart { .. } => EventKind::Depart,
            Self::Undelivered { .. } => EventKind::Undelivered,
            Self::HitBeyond { .. } => EventKind::HitBeyond,
            Self::TouchEnd { .. } => EventKind::TouchEnd,
        }
    }
}
