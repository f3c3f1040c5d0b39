//! Private words for the page: it types and shows them, and everything else happens here.

use metatopia_client::{OpenWordsError, SealWordsError, text::unreadable};
use metatopia_protocol::{Question, ToldMessage};
use metatopia_types::PublicKey;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    ClientCore, building::BAD_NAME, clubs::club_of_channel, deeds::Deed, inquiry::InquiryTask,
};

/// The channel of private words, in the words of the page: no number of the protocol.
const PRIVATE: u8 = 4;

/// The channel of what is said in a club, in the words of the page.
pub(super) const IN_CLUB: u8 = 5;

/// Who is to hear what is said, in the words of the page.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum PageChannel {
    /// People nearby, or everybody.
    Number(u8),
    /// The same as a text, the person with this key, or a club.
    Text(String),
}

impl Default for PageChannel {
    fn default() -> Self {
        Self::Number(0)
    }
}

impl ClientCore {
    /// Says words to others or in a club, or tells them to one person.
    pub(super) fn speak(&mut self, id: u64, text: &str, channel: &PageChannel) {
        let channel = match channel {
            PageChannel::Number(number) => Ok(*number),
            PageChannel::Text(typed) => {
                if let Some(club) = club_of_channel(typed) {
                    return self.say_in_club(id, club, text);
                }
                typed.parse().map_err(|_| typed.parse::<PublicKey>())
            }
        };
        match channel {
            Ok(channel) => self.say(id, text, channel),
            Err(Ok(to)) => self.tell_privately(id, &to, text),
            Err(Err(_)) => self.failed(id, BAD_NAME, &Value::Null),
        }
    }

    fn tell_privately(&mut self, id: u64, to: &PublicKey, text: &str) {
        match self.correspondence.seal(to, text) {
            Ok(sealed) => self.act(Deed::of(id, sealed)),
            Err(SealWordsError::Words) => self.failed(id, "TooLong", &Value::Null),
            Err(SealWordsError::Key) => self.failed(id, BAD_NAME, &Value::Null),
        }
    }

    /// Asks what the person was told while nobody was there.
    pub(super) fn ask_mailbox(&mut self) {
        let question = Question::Mailbox { of: self.key, after: 0 };
        self.inquire(None, InquiryTask::Mailbox, question);
    }

    /// Tells the page what somebody told the person, unless it was told before.
    pub(super) fn tell_private_words(&mut self, told: &ToldMessage, is_earlier: bool) {
        let mut event = match self.correspondence.take(told) {
            Ok(None) => return,
            Ok(Some(words)) => json!({
                "name": words.name, "text": words.text, "words": words.number,
            }),
            Err(why @ (OpenWordsError::Unbound | OpenWordsError::Broken)) => {
                json!({ "name": told.name, "text": unreadable(told, why) })
            }
            // What the person cannot have been told is a lie of the server, of which nobody learns anything.
            Err(OpenWordsError::NotOurs | OpenWordsError::Unsigned) => return,
        };
        event["type"] = "heard".into();
        event["channel"] = PRIVATE.into();
        event["speaker"] = 0.into();
        event["by"] = told.act.envelope.author.to_string().into();
        event["height"] = told.height.0.into();
        event["earlier"] = is_earlier.into();
        // The words are signed by their author. The name is what the server says.
        event["proven"] = Value::Null;
        self.tell(&event);
    }

    /// Shows moderators private words that came, by their number.
    pub(super) fn report_private(&mut self, id: u64, number: u64, words: String) {
        match self.correspondence.report(number, words) {
            Some(report) => self.act(Deed::of(id, report)),
            None => self.failed(id, BAD_NAME, &Value::Null),
        }
    }
}
