//! Chat: who said what, for clients; and an index of hashes, which is all that the state keeps.

use std::collections::VecDeque;

use metatopia_math::{Fx, Vec2};
use metatopia_types::{
    Blob, BlobId, ClubName, Height, ObjectId, PublicKey, Tick, limits::CHAT_BYTES_MAX,
};
use serde::{Deserialize, Serialize};

use crate::{
    limits::{CHAT_LINES_MAX, SHOUT_REACH},
    state::is_line,
};

/// The channel that is heard near the speaker.
pub const NEARBY: u8 = 0;

/// The channel that is heard everywhere in the sim.
pub const EVERYWHERE: u8 = 1;

/// The channel of a line that one person hears. Nobody can speak on it but scripts.
pub const WHISPERED: u8 = 2;

/// The channel of a line that is heard [`SHOUT_REACH`] times as far as what is said
/// nearby. Nobody can speak on it but scripts.
pub const SHOUTED: u8 = 3;

/// The channel of a line that the members of a club hear.
pub const CLUB: u8 = 4;

/// One line, as clients get it. Its words are not part of the state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpokenLine {
    /// The height of the turn.
    pub height: Height,
    /// The tick in which it was said.
    pub tick: Tick,
    /// [`NEARBY`], [`EVERYWHERE`], [`WHISPERED`], [`SHOUTED`] or [`CLUB`].
    pub channel: u8,
    /// The object that spoke; 0 for somebody without an avatar.
    pub speaker: ObjectId,
    /// The only person who hears a whispered line.
    pub hearer: Option<PublicKey>,
    /// The club whose members alone hear the line.
    pub club: Option<ClubName>,
    /// The player whose avatar spoke; nobody if it was a thing.
    pub player: Option<PublicKey>,
    /// The speaker's name at that moment.
    pub name: String,
    /// The position of the speaker, in metres.
    pub place: Vec2,
    /// The words that were said.
    pub text: String,
}

impl SpokenLine {
    /// Returns how far people hear the line in a sim of this hearing, in metres; nothing if its channel is
    /// not bound to a place.
    #[must_use]
    pub const fn reach(&self, hearing: Fx) -> Option<Fx> {
        match self.channel {
            NEARBY => Some(hearing),
            SHOUTED => Some(hearing.saturating_mul(Fx::from_int(SHOUT_REACH))),
            _ => None,
        }
    }
}

/// The part of a line that the state keeps: enough to find and check the words, as long as somebody has
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatEntry {
    /// The height of the turn.
    pub height: Height,
    /// The tick in which it was said.
    pub tick: Tick,
    /// [`NEARBY`], [`EVERYWHERE`], [`WHISPERED`], [`SHOUTED`] or [`CLUB`].
    pub channel: u8,
    /// The object that spoke.
    pub speaker: ObjectId,
    /// The hash of the words.
    pub body: BlobId,
    /// The player whose avatar spoke; nobody if it was a thing.
    pub by: Option<PublicKey>,
}

/// The last [`CHAT_LINES_MAX`] lines, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatIndex(pub VecDeque<ChatEntry>);

impl ChatIndex {
    /// Adds a line, and forgets the oldest one if there are too many. What the sim whispers in somebody's name, an
    /// invite or a report, is in no turn, and pushes out nothing.
    pub(crate) fn add(&mut self, line: &SpokenLine) {
        if line.channel == WHISPERED && line.player.is_some() {
            return;
        }
        let body = Blob(line.text.as_bytes().to_vec()).id();
        let SpokenLine { height, tick, channel, speaker, player: by, .. } = *line;
        self.0.push_back(ChatEntry { height, tick, channel, speaker, body, by });
        if self.0.len() > CHAT_LINES_MAX {
            self.0.pop_front();
        }
    }
}

impl ChatIndex {
    /// Returns the lines of a turn with these words.
    pub(crate) fn at(&self, height: Height, body: BlobId) -> impl Iterator<Item = &ChatEntry> {
        self.0.iter().filter(move |line| line.height == height && line.body == body)
    }

    /// Forgets the lines of a turn with these words.
    pub(crate) fn forget(&mut self, height: Height, body: BlobId) {
        self.0.retain(|line| line.height != height || line.body != body);
    }
}

/// Returns the words in a blob, if they may be said.
pub(super) fn words(blob: &Blob) -> Option<&str> {
    let text = core::str::from_utf8(&blob.0).ok()?;
    let fine = text.len() <= CHAT_BYTES_MAX && !text.trim().is_empty() && is_line(text);
    fine.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_one_line_of_text_that_is_not_too_long() {
        let blob = |text: &str| Blob(text.as_bytes().to_vec());

        assert_eq!(words(&blob("hello")), Some("hello"));
        assert!(words(&blob(&"x".repeat(CHAT_BYTES_MAX))).is_some());
        assert_eq!(words(&blob(&"x".repeat(CHAT_BYTES_MAX + 1))), None);
        assert_eq!(words(&blob("  ")), None);
        assert_eq!(words(&blob("one\ntwo")), None);
        assert_eq!(words(&Blob(vec![0xff, 0xfe])), None);
    }

    fn dong(n: u64, channel: u8) -> SpokenLine {
        SpokenLine {
            height: Height(n),
            tick: Tick(n),
            channel,
            speaker: ObjectId(1),
            player: None,
            hearer: None,
            club: None,
            name: "bell".to_owned(),
            place: Vec2::ZERO,
            text: "dong".to_owned(),
        }
    }

    #[test]
    fn a_shout_is_heard_farther_than_a_line_and_other_channels_everywhere() {
        let hearing = Fx::from_int(20);
        let reach = |channel: u8| dong(1, channel).reach(hearing);
        assert_eq!(reach(NEARBY), Some(hearing));
        assert_eq!(reach(SHOUTED), Some(Fx::from_int(20 * SHOUT_REACH)));
        assert_eq!(reach(EVERYWHERE), None);
    }

    #[test]
    fn the_index_keeps_the_last_lines_only() {
        let mut index = ChatIndex::default();

        (0..CHAT_LINES_MAX as u64 + 3).for_each(|n| index.add(&dong(n, NEARBY)));

        assert_eq!(index.0.len(), CHAT_LINES_MAX);
        assert_eq!(index.0[0].height, Height(3));
        let bytes = metatopia_types::wire::encode(&index).len();
        assert!(bytes <= metatopia_types::limits::LEAF_BYTES_MAX);
    }
}
