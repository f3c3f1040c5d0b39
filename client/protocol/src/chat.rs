//! What a client hears, and is asked.

use alloc::string::String;

use metatopia_types::{Blob, BlobId, ClubName, Form, Height, ObjectId, PublicKey, Sound};
use serde::{Deserialize, Serialize};

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatMessage {
    /// In the turn of this height.
    pub height: Height,
    /// 0 nearby, 1 everywhere, 2 whispered to this client alone, 3 called out by a thing, 4 in a club.
    pub channel: u8,
    /// The object that said it; 0 for somebody without an avatar.
    pub speaker: ObjectId,
    /// Its name at that moment.
    pub name: String,
    /// The words that were said.
    pub text: String,
    /// The player whose avatar spoke, as the server says; nobody if it was a thing.
    pub by: Option<PublicKey>,
    /// The club whose members hear the line, if it was said in one.
    pub club: Option<ClubName>,
}

/// Words that are forgotten: whoever shows them takes them out of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgottenMessage {
    /// The turn that brought them.
    pub height: Height,
    /// The blob that held them.
    pub body: BlobId,
    /// The key that said them, or was told them; none means whoever said the same in that turn.
    pub by: Option<PublicKey>,
}

impl ForgottenMessage {
    /// Says whether a line is what was forgotten.
    #[must_use]
    pub fn is_of(&self, line: &ChatMessage) -> bool {
        let is_whose = self.by.is_none_or(|by| line.by == Some(by));
        line.height == self.height && is_whose && line.body() == self.body
    }
}

impl ChatMessage {
    /// Returns the blob that holds the words, by which they are forgotten.
    #[must_use]
    pub fn body(&self) -> BlobId {
        Blob(self.text.as_bytes().to_vec()).id()
    }
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
