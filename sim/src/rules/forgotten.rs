//! Forgotten words: which words every server is to drop, for servers that were not there when it was said.

use std::collections::BTreeSet;

use metatopia_types::{Act, BlobId, Height, PublicKey, SignedEnvelope, forgettable_blob};
use serde::{Deserialize, Serialize};

use crate::{
    limits::{FORGOTTEN_DAY_MS, FORGOTTEN_KEPT, FORGOTTEN_OWN_KEPT, FORGOTTEN_OWN_PER_DAY},
    state::{State, World},
    tree::Tracked,
};

/// Words that servers drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgottenWords {
    /// The turn that brought them.
    pub height: Height,
    /// The blob that holds them.
    pub body: BlobId,
    /// The key that must have said them, or been told them, for them to be dropped; none if a moderator had
    /// them forgotten, whoever said them.
    pub by: Option<PublicKey>,
    /// The governance time at which it was said that they are to be forgotten.
    pub time: u64,
}

impl ForgottenWords {
    /// Says whether an act of the turn brought these words, so that they are dropped.
    #[must_use]
    pub fn are_of(&self, act: &SignedEnvelope) -> bool {
        let is_whose = |by: PublicKey| {
            let told = matches!(&act.envelope.act, Act::Tell { to, .. } if *to == by);
            told || act.envelope.author == by
        };
        forgettable_blob(act) == Some(self.body) && self.by.is_none_or(is_whose)
    }
}

/// The words that were forgotten last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Forgotten {
    /// The forgotten words by number, which is the order in which they were forgotten.
    pub(crate) all: Tracked<u64, ForgottenWords>,
    /// Index: those of authors who forgot their own.
    own: BTreeSet<(PublicKey, u64)>,
    /// Index: the same, the oldest first.
    own_by_age: BTreeSet<u64>,
    /// Index: what is forgotten.
    places: BTreeSet<(Height, BlobId, Option<PublicKey>)>,
}

impl Forgotten {
    /// Builds the indexes.
    pub(crate) fn index(&mut self) {
        let own = self.all.iter().filter_map(|(number, words)| Some((words.by?, *number)));
        self.own = own.collect();
        self.own_by_age = self.own.iter().map(|(_, number)| *number).collect();
        let places = self.all.iter().map(|(_, words)| (words.height, words.body, words.by));
        self.places = places.collect();
    }

    /// Says whether these words are forgotten already, for this author or for everybody.
    pub(crate) fn has(&self, height: Height, body: BlobId, by: Option<PublicKey>) -> bool {
        let is_there = |by: Option<PublicKey>| self.places.contains(&(height, body, by));
        is_there(None) || by.is_some() && is_there(by)
    }

    /// Says whether an author may forget more of her own words at this time.
    pub(crate) fn has_room_for(&self, author: PublicKey, time: u64) -> bool {
        let own = self.own.range((author, 0)..=(author, u64::MAX)).rev();
        let is_of_today = |number: &u64| {
            let words = self.all.get(number);
            words.is_some_and(|words| words.time.saturating_add(FORGOTTEN_DAY_MS) > time)
        };
        own.map(|(_, number)| *number).take_while(is_of_today).count() < FORGOTTEN_OWN_PER_DAY
    }

    /// Adds words, and leaves out the oldest if there are too many: those of authors if these take more than
    /// their half, so that the newest of moderators always have the other one.
    pub(crate) fn add(&mut self, words: ForgottenWords) {
        let number = self.all.last_key().map_or(0, |last| last.saturating_add(1));
        if let Some(by) = words.by {
            self.own.insert((by, number));
            self.own_by_age.insert(number);
        }
        self.places.insert((words.height, words.body, words.by));
        self.all.insert(number, words);
        if self.all.len() > FORGOTTEN_KEPT {
            let own = self.own_by_age.first().filter(|_| self.own.len() > FORGOTTEN_OWN_KEPT);
            let first = own.or_else(|| self.all.iter().next().map(|(number, _)| number)).copied();
            first.into_iter().for_each(|number| self.leave(number));
        }
    }

    fn leave(&mut self, number: u64) {
        let Some(words) = self.all.remove(&number) else { return };
        self.own_by_age.remove(&number);
        if let Some(by) = words.by {
            self.own.remove(&(by, number));
        }
        self.places.remove(&(words.height, words.body, words.by));
    }
}

impl State {
    /// Drops words from what the state keeps, and remembers that they are forgotten.
    pub(crate) fn forget_words(&mut self, words: ForgottenWords) {
        let ForgottenWords { height, body, by, .. } = words;
        self.chat.forget(height, body);
        self.people.mailboxes.forget_words(height, body, by);
        self.people.reports.forget_opened(height, body);
        // Two people may have sent the same bytes, but a profile names its key.
        let profiles = &mut self.people.profiles;
        let sender = profiles.sender(height, body).copied();
        if let Some(key) = sender.filter(|key| by.is_none_or(|by| by == *key)) {
            profiles.take_away(&key);
        }
        self.people.forgotten.add(words);
    }
}

impl World {
    /// Returns the words that were forgotten last, the oldest first.
    pub fn forgotten(&self) -> impl Iterator<Item = &ForgottenWords> {
        self.state.people.forgotten.all.iter().map(|(_, words)| words)
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::Digest;

    use super::*;

    fn words(n: usize, by: Option<u8>, time: u64) -> ForgottenWords {
        let body = BlobId(Digest::of("a test", &n.to_le_bytes()));
        let by = by.map(|seed| PublicKey([seed; 32]));
        ForgottenWords { height: Height(n as u64 + 1), body, by, time }
    }

    #[test]
    fn the_oldest_leave_and_authors_push_out_nothing_of_moderators() {
        let mut forgotten = Forgotten::default();
        let moderated = FORGOTTEN_KEPT - FORGOTTEN_OWN_KEPT;
        (0..moderated).for_each(|n| forgotten.add(words(n, None, 0)));
        for n in moderated..FORGOTTEN_KEPT + 9 {
            forgotten.add(words(n, Some((n % 200) as u8), 0));
        }
        assert_eq!(forgotten.all.len(), FORGOTTEN_KEPT);
        let first = words(0, None, 0);
        assert!(forgotten.has(first.height, first.body, None), "a moderator's");
        let gone = words(moderated, Some((moderated % 200) as u8), 0);
        assert!(!forgotten.has(gone.height, gone.body, gone.by), "the oldest of an author");

        (0..9).for_each(|n| forgotten.add(words(FORGOTTEN_KEPT + 100 + n, None, 0)));
        assert_eq!(forgotten.all.len(), FORGOTTEN_KEPT);
        assert!(!forgotten.has(first.height, first.body, None), "then moderators' own go");

        let (places, own) = (forgotten.places.clone(), forgotten.own.clone());
        forgotten.index();
        assert_eq!((forgotten.places, forgotten.own), (places, own), "as a restored state has it");
    }

    #[test]
    fn one_author_forgets_so_many_words_a_day() {
        let mut forgotten = Forgotten::default();
        let ada = PublicKey([1; 32]);
        for n in 0..FORGOTTEN_OWN_PER_DAY {
            assert!(forgotten.has_room_for(ada, 7));
            forgotten.add(words(n, Some(1), 7));
        }
        assert!(!forgotten.has_room_for(ada, 7));
        assert!(forgotten.has_room_for(PublicKey([2; 32]), 7));
        assert!(forgotten.has_room_for(ada, 7 + FORGOTTEN_DAY_MS));
    }
}
