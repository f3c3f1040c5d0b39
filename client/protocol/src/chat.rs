//! What a client hears, and is asked.

use alloc::string::String;

use metatopia_types::{Form, Height, ObjectId, PublicKey, Sound};
use serde::{Deserialize, Serialize};

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatMessage {
    /// In the turn of this height.
    pub height: Height,
    /// 0 nearby, 1 everywhere, 2 whispered to this client alone, 3 called out by a thing.
    pub channel: u8,
    /// By this object.
    pub speaker: ObjectId,
    /// Its name at that moment.
    pub name: String,
    /// The words that were said.
    pub text: String,
    /// The player whose avatar spoke, as the server says; nobody if it was a thing.
    pub by: Option<PublicKey>,
}

/// A form that a thing shows to the client's player. It is not proven: a server could make one up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormMessage {
    /// In the turn of this height.
    pub height: Height,
    /// The thing that asks.
    pub object: ObjectId,
    /// Its name at that moment.
    pub name: String,
    /// What is shown.
    pub form: Form,
}

/// A sound that a thing makes near the client's avatar. It is not proven: a server could make one up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SoundMessage {
    /// In the turn of this height.
    pub height: Height,
    /// The thing that makes it.
    pub object: ObjectId,
    /// Its name at that moment.
    pub name: String,
    /// Which of the sounds it is.
    pub sound: Sound,
    /// Semitones above its usual pitch, or below.
    pub pitch: i8,
}
