//! Forms: what a thing asks one person, in a few words.

use alloc::{boxed::Box, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::ShownOffer;

/// What a thing shows to one person: words, choices, and perhaps a line to fill in. No state keeps it, so a
/// reply may come that nobody asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Form {
    /// What the script calls the form; it comes back in the reply.
    pub tag: String,
    /// The heading; at most [`FORM_LABEL_BYTES_MAX`](crate::limits::FORM_LABEL_BYTES_MAX) bytes.
    pub title: String,
    /// More words; at most [`CHAT_BYTES_MAX`](crate::limits::CHAT_BYTES_MAX) bytes.
    pub text: String,
    /// The answers to choose from, at most [`FORM_CHOICES_MAX`](crate::limits::FORM_CHOICES_MAX).
    pub choices: Vec<String>,
    /// The label of a line to fill in, if there is one.
    pub field: Option<String>,
    /// What the person may agree to, if this is more than a question. The choices are to accept and to decline
    /// then, and none of its own stand here.
    pub offer: Option<Box<ShownOffer>>,
}

impl Form {
    /// Returns all the words that people see.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let fixed = [self.title.as_str(), self.text.as_str()].into_iter();
        fixed.chain(self.choices.iter().map(String::as_str)).chain(self.field.as_deref())
    }
}
