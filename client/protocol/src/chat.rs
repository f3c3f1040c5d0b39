//! What a client hears.

use alloc::string::String;

use metatopia_types::{Height, ObjectId};
use serde::{Deserialize, Serialize};

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatMessage {
    /// In the turn of this height.
    pub height: Height,
    /// 0 nearby, 1 everywhere.
    pub channel: u8,
    /// By this object.
    pub speaker: ObjectId,
    /// Its name at that moment.
    pub name: String,
    /// The words that were said.
    pub text: String,
}
