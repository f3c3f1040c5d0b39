//! What people said of late, for those who come in and would find a silent room.

use std::collections::{BTreeMap, VecDeque};

use metatopia_protocol::ChatMessage;
use metatopia_sim::{ForgottenWords, SpokenLine, WHISPERED, limits::CLUBS_MAX};
use metatopia_types::{Blob, ClubId, Height, ObjectId};

use crate::ClientId;

/// Lines that a server remembers for newcomers: at most 18 KB for each who comes.
pub(crate) const RECENT_LINES_MAX: usize = 30;

/// Lines of one club that it remembers. A club has its own, so that what its members say pushes out nothing that
/// others may hear; those of eight clubs are at most 38 KB more for each who comes.
const RECENT_CLUB_LINES_MAX: usize = 8;

/// Turns for which it remembers them: ten minutes where turns take 50 ms.
const RECENT_LINE_TURNS: u64 = 12_000;

/// The last lines of people, and who was told of them.
#[derive(Debug, Default)]
pub(super) struct RecentLines {
    lines: VecDeque<SpokenLine>,
    /// Those of each club that spoke last, of at most [`CLUBS_MAX`].
    of_clubs: BTreeMap<ClubId, VecDeque<SpokenLine>>,
    /// The avatar with which each client was told of them.
    told: BTreeMap<ClientId, ObjectId>,
}

impl RecentLines {
    /// Remembers the lines of a turn. Those of things are left out, because a bell that rings is no talk, and
    /// whispers are nobody else's.
    pub(super) fn remember(&mut self, height: Height, said: &[SpokenLine]) {
        let by_people = |line: &&SpokenLine| line.player.is_some() && line.channel != WHISPERED;
        for line in said.iter().filter(by_people) {
            let lines = match &line.club {
                Some(club) => self.of_clubs.entry(club.club).or_default(),
                None => &mut self.lines,
            };
            lines.push_back(line.clone());
        }
        let is_old = |line: &SpokenLine| line.height.plus(RECENT_LINE_TURNS) < height;
        let bound = |lines: &mut VecDeque<SpokenLine>, most: usize| {
            while lines.len() > most || lines.front().is_some_and(is_old) {
                lines.pop_front();
            }
        };
        bound(&mut self.lines, RECENT_LINES_MAX);
        self.of_clubs.retain(|_, lines| {
            bound(lines, RECENT_CLUB_LINES_MAX);
            !lines.is_empty()
        });
        // Clubs that ended are among them; those with the lowest numbers are the oldest.
        while self.of_clubs.len() > CLUBS_MAX {
            self.of_clubs.pop_first();
        }
    }

    /// Forgets the lines with words that were forgotten.
    pub(super) fn forget_words(&mut self, words: &ForgottenWords) {
        let is_it = |line: &SpokenLine| {
            let is_whose = words.by.is_none_or(|by| line.player == Some(by));
            let body = || Blob(line.text.as_bytes().to_vec()).id();
            line.height == words.height && is_whose && body() == words.body
        };
        self.lines.retain(|line| !is_it(line));
        self.of_clubs.values_mut().for_each(|lines| lines.retain(|line| !is_it(line)));
    }

    /// Says whether a client has this avatar for the first time.
    pub(super) fn is_new(&mut self, client: ClientId, avatar: ObjectId) -> bool {
        self.told.insert(client, avatar) != Some(avatar)
    }

    /// Returns the lines that `reaches` says a newcomer would have heard, oldest first.
    pub(super) fn heard<'a>(
        &'a self,
        reaches: impl Fn(&SpokenLine) -> bool,
    ) -> impl Iterator<Item = ChatMessage> + 'a {
        let all = self.lines.iter().chain(self.of_clubs.values().flatten());
        let mut heard: Vec<&SpokenLine> = all.filter(|line| reaches(line)).collect();
        heard.sort_by_key(|line| line.height);
        heard.into_iter().map(message)
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
        club: line.club.clone(),
    }
}

#[cfg(test)]
mod tests {
    use metatopia_math::Vec2;
    use metatopia_sim::CLUB;
    use metatopia_types::{ClubName, PublicKey, Tick};

    use super::*;

    fn line(height: u64, player: Option<u8>, channel: u8) -> SpokenLine {
        SpokenLine {
            height: Height(height),
            tick: Tick(1),
            channel,
            speaker: ObjectId(1),
            hearer: None,
            club: None,
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
    fn lines_of_a_club_push_out_nothing_that_others_hear_and_go_as_those_do() {
        let in_club = |height: u64, club: u64| {
            let club = Some(ClubName { club: ClubId(club), name: "gardeners".to_owned() });
            SpokenLine { club, ..line(height, Some(1), CLUB) }
        };
        let mut recent = RecentLines::default();
        recent.remember(Height(1), &[line(1, Some(1), 0), in_club(1, 9)]);
        for height in 2..=RECENT_LINES_MAX as u64 + 9 {
            recent.remember(Height(height), &[in_club(height, 1)]);
        }
        assert_eq!(recent.of_clubs[&ClubId(1)].len(), RECENT_CLUB_LINES_MAX);
        assert_eq!(texts(&recent).len(), 2 + RECENT_CLUB_LINES_MAX);
        let of_nine =
            |line: &SpokenLine| line.club.as_ref().is_none_or(|club| club.club == ClubId(9));
        assert_eq!(recent.heard(of_nine).count(), 2, "only what reaches a newcomer");
        recent.remember(Height(RECENT_LINE_TURNS + 2), &[]);
        assert_eq!(recent.of_clubs.len(), 1, "a club that is silent is forgotten");
    }

    #[test]
    fn a_line_names_the_key_whose_avatar_spoke_and_that_of_a_thing_names_none() {
        let by = |player| message(&line(1, player, 0)).by;
        assert_eq!((by(Some(7)), by(None)), (Some(PublicKey([7; 32])), None));
    }

    #[test]
    fn words_that_were_forgotten_are_told_to_no_newcomer() {
        let mut recent = RecentLines::default();
        recent.remember(Height(1), &[line(1, Some(7), 0), line(1, Some(8), 0)]);
        let body = Blob(b"1".to_vec()).id();
        let forgotten = |height: u64, by: Option<u8>| ForgottenWords {
            height: Height(height),
            body,
            by: by.map(|seed| PublicKey([seed; 32])),
            time: 0,
        };
        for others in [forgotten(2, None), forgotten(1, Some(9))] {
            recent.forget_words(&others);
            assert_eq!(recent.lines.len(), 2);
        }
        recent.forget_words(&forgotten(1, Some(7)));
        assert_eq!(recent.lines.len(), 1, "who said the same keeps it here");
        recent.forget_words(&forgotten(1, None));
        assert!(recent.lines.is_empty());
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
