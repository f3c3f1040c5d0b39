//! What people said of late, for those who come in and would find a silent room.

use std::collections::{BTreeMap, VecDeque};

use metatopia_protocol::ChatMessage;
use metatopia_sim::{SpokenLine, WHISPERED};
use metatopia_types::{Height, ObjectId};

use crate::ClientId;

/// Lines that a server remembers for newcomers: at most 18 KB for each who comes.
pub(crate) const RECENT_LINES_MAX: usize = 30;

/// Turns for which it remembers them: ten minutes where turns take 50 ms.
const RECENT_LINE_TURNS: u64 = 12_000;

/// The last lines of people, and who was told of them.
#[derive(Debug, Default)]
pub(super) struct RecentLines {
    lines: VecDeque<SpokenLine>,
    /// The avatar with which each client was told of them.
    told: BTreeMap<ClientId, ObjectId>,
}

impl RecentLines {
    /// Remembers the lines of a turn. Those of things are left out, because a bell that rings is no talk, and
    /// whispers are nobody else's.
    pub(super) fn remember(&mut self, height: Height, said: &[SpokenLine]) {
        let by_people = |line: &&SpokenLine| line.player.is_some() && line.channel != WHISPERED;
        self.lines.extend(said.iter().filter(by_people).cloned());
        let is_old = |line: &SpokenLine| line.height.plus(RECENT_LINE_TURNS) < height;
        while self.lines.len() > RECENT_LINES_MAX || self.lines.front().is_some_and(is_old) {
            self.lines.pop_front();
        }
    }

    /// Says whether a client has this avatar for the first time.
    pub(super) fn is_new(&mut self, client: ClientId, avatar: ObjectId) -> bool {
        self.told.insert(client, avatar) != Some(avatar)
    }

    /// Returns the lines that `reaches` says a newcomer would have heard, oldest first.
    pub(super) fn heard<'a>(
        &'a self,
        reaches: impl Fn(&SpokenLine) -> bool + 'a,
    ) -> impl Iterator<Item = ChatMessage> + 'a {
        self.lines.iter().filter(move |line| reaches(line)).map(message)
    }

    /// Forgets a client that is gone.
    pub(super) fn forget(&mut self, client: ClientId) {
        self.told.remove(&client);
    }
}

/// Returns a line as clients are told of it.
pub(super) fn message(line: &SpokenLine) -> ChatMessage {
    ChatMessage {
        height: line.height,
        channel: line.channel,
        speaker: line.speaker,
        name: line.name.clone(),
        text: line.text.clone(),
        by: line.player,
    }
}

#[cfg(test)]
mod tests {
    use metatopia_math::Vec2;
    use metatopia_types::{PublicKey, Tick};

    use super::*;

    fn line(height: u64, player: Option<u8>, channel: u8) -> SpokenLine {
        SpokenLine {
            height: Height(height),
            tick: Tick(1),
            channel,
            speaker: ObjectId(1),
            hearer: None,
            player: player.map(|seed| PublicKey([seed; 32])),
            name: "Ada".to_owned(),
            place: Vec2::ZERO,
            text: format!("{height}"),
        }
    }

    fn texts(recent: &RecentLines) -> Vec<String> {
        recent.heard(|_| true).map(|line| line.text).collect()
    }

    #[test]
    fn so_many_lines_of_people_are_remembered_for_ten_minutes() {
        let mut recent = RecentLines::default();
        for height in 1..=RECENT_LINES_MAX as u64 + 2 {
            recent.remember(Height(height), &[line(height, Some(1), 0)]);
        }
        assert_eq!(recent.lines.len(), RECENT_LINES_MAX);
        assert_eq!(texts(&recent)[0], "3");

        recent.remember(Height(RECENT_LINE_TURNS + 4), &[]);
        assert_eq!(texts(&recent)[0], "4");
    }

    #[test]
    fn a_line_names_the_key_whose_avatar_spoke_and_that_of_a_thing_names_none() {
        let by = |player| message(&line(1, player, 0)).by;
        assert_eq!((by(Some(7)), by(None)), (Some(PublicKey([7; 32])), None));
    }

    #[test]
    fn things_and_whispers_are_not_remembered() {
        let mut recent = RecentLines::default();
        recent.remember(Height(1), &[line(1, None, 0), line(1, Some(1), WHISPERED)]);
        assert!(texts(&recent).is_empty());
    }

    #[test]
    fn a_client_is_told_once_for_each_avatar() {
        let mut recent = RecentLines::default();
        let client = ClientId(1);
        assert!(recent.is_new(client, ObjectId(5)));
        assert!(!recent.is_new(client, ObjectId(5)));
        assert!(recent.is_new(client, ObjectId(9)));
        recent.forget(client);
        assert!(recent.is_new(client, ObjectId(9)));
    }
}
