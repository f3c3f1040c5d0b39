//! Mailboxes: the sealed words that people were told, kept for a while for who was not there.
//!
//! Keys cost nothing in an open sim, so whatever is full makes room at the cost of newcomers first: words of
//! who was seen on enough days are pushed out by nobody whom the sim has just met.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{Act, BlobId, Height, PublicKey, SignedEnvelope, wire};
use serde::{Deserialize, Serialize};

use crate::{
    limits::{
        ENDINGS_PER_TURN_MAX, MAIL_MAX, MAIL_OF_NEWCOMERS_MAX, MAIL_PER_AUTHOR_MAX, MAILBOX_MAX,
        MAILBOX_MS, MAILBOX_OF_NEWCOMERS_MAX, MAILBOX_PER_AUTHOR_MAX,
    },
    state::World,
    tree::Tracked,
};

/// The place of words: whose mailbox, and the number that they have in the sim.
pub(crate) type MailPlace = (PublicKey, u64);

/// Sealed words that somebody was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptWords {
    /// The act of telling, with its author's signature.
    pub act: SignedEnvelope,
    /// Whether the author was no regular then.
    pub newcomer: bool,
    /// The turn that brought it.
    pub height: Height,
    /// The governance time then.
    pub time: u64,
    /// The sealed words.
    #[serde(with = "wire::bytes")]
    pub sealed: Vec<u8>,
}

impl KeptWords {
    /// Returns who told them.
    #[must_use]
    pub const fn by(&self) -> PublicKey {
        self.act.envelope.author
    }
}

/// Words that somebody is told in this turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldWords {
    /// Who is told.
    pub to: PublicKey,
    /// The number of the words.
    pub number: u64,
    /// The author's name at that moment.
    pub name: String,
    /// The words and who told them.
    pub words: KeptWords,
}

/// The mailboxes of a sim.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mailboxes {
    pub(crate) all: Tracked<MailPlace, KeptWords>,
    /// Index: the words by number, which is their age, with whose mailbox they are in.
    by_age: BTreeMap<u64, PublicKey>,
    /// Index: those of newcomers.
    of_newcomers: BTreeSet<u64>,
    /// Index: those of each author.
    by_author: BTreeSet<(PublicKey, u64)>,
}

impl Mailboxes {
    /// Builds the indexes.
    pub(crate) fn index(&mut self) {
        let all = || self.all.iter();
        let by_age = all().map(|((to, number), _)| (*number, *to)).collect();
        let newcomer =
            |((_, number), words): (&MailPlace, &KeptWords)| words.newcomer.then_some(*number);
        let of_newcomers = all().filter_map(newcomer).collect();
        let by_author = all().map(|((_, number), words)| (words.by(), *number)).collect();
        (self.by_age, self.of_newcomers, self.by_author) = (by_age, of_newcomers, by_author);
    }

    /// Returns the words in a mailbox with greater numbers, the oldest first.
    pub(crate) fn of(&self, to: PublicKey, after: u64) -> impl Iterator<Item = (u64, &KeptWords)> {
        let later = self.all.after((to, after));
        let own = later.take_while(move |((owner, _), _)| *owner == to);
        own.map(|((_, number), words)| (*number, words))
    }

    /// Puts words into a mailbox, and forgets others where there are too many.
    pub(crate) fn put(&mut self, to: PublicKey, number: u64, words: KeptWords) {
        self.by_age.insert(number, to);
        self.of_newcomers.extend(words.newcomer.then_some(number));
        self.by_author.insert((words.by(), number));
        let author = words.by();
        self.all.insert((to, number), words);
        self.bound_author(author, to);
        self.bound_mailbox(to);
        self.bound_all();
    }

    /// Forgets the oldest words of an author if there are too many, in a mailbox or in the sim.
    fn bound_author(&mut self, author: PublicKey, to: PublicKey) {
        let numbers = |own: &Self| {
            let all = own.by_author.range((author, 0)..=(author, u64::MAX));
            all.map(|(_, number)| *number).collect::<Vec<u64>>()
        };
        let own = numbers(self);
        let here: Vec<u64> =
            own.into_iter().filter(|number| self.by_age.get(number) == Some(&to)).collect();
        self.forget_first(&here, MAILBOX_PER_AUTHOR_MAX);
        let own = numbers(self);
        self.forget_first(&own, MAIL_PER_AUTHOR_MAX);
    }

    /// Forgets the first words of some if there are more than `max`.
    fn forget_first(&mut self, numbers: &[u64], max: usize) {
        let more = numbers.len().saturating_sub(max);
        numbers[..more].iter().for_each(|number| self.forget(*number));
    }

    /// Forgets words of one mailbox if there are too many in it.
    fn bound_mailbox(&mut self, to: PublicKey) {
        let of_newcomers = |own: &Self| {
            let all = own.of(to, 0).filter(|(_, words)| words.newcomer);
            all.map(|(number, _)| number).collect::<Vec<u64>>()
        };
        let newcomers = of_newcomers(self);
        self.forget_first(&newcomers, MAILBOX_OF_NEWCOMERS_MAX);
        if self.of(to, 0).count() > MAILBOX_MAX {
            let first = of_newcomers(self).first().copied();
            let first = first.or_else(|| self.of(to, 0).next().map(|(number, _)| number));
            first.into_iter().for_each(|number| self.forget(number));
        }
    }

    /// Forgets words of the sim if there are too many.
    fn bound_all(&mut self) {
        if self.of_newcomers.len() > MAIL_OF_NEWCOMERS_MAX
            && let Some(first) = self.of_newcomers.first().copied()
        {
            self.forget(first);
        }
        if self.all.len() > MAIL_MAX {
            let first = self.of_newcomers.first().or_else(|| self.by_age.keys().next()).copied();
            first.into_iter().for_each(|number| self.forget(number));
        }
    }

    /// Forgets the words of this number, whoever they are for.
    fn forget(&mut self, number: u64) {
        let Some(to) = self.by_age.remove(&number) else { return };
        self.of_newcomers.remove(&number);
        if let Some(words) = self.all.remove(&(to, number)) {
            self.by_author.remove(&(words.by(), number));
        }
    }

    /// Forgets the words in a mailbox up to a number.
    pub(crate) fn empty(&mut self, to: PublicKey, up_to: u64) {
        let numbers = self.of(to, 0).map(|(number, _)| number);
        let numbers: Vec<u64> = numbers.take_while(|number| *number <= up_to).collect();
        numbers.into_iter().for_each(|number| self.forget(number));
    }

    /// Returns who told these words, and who was told them, of each mailbox that has them.
    pub(crate) fn parties(
        &self,
        height: Height,
        body: BlobId,
    ) -> impl Iterator<Item = [PublicKey; 2]> {
        self.words_at(height, body).map(|((to, _), words)| [words.by(), to])
    }

    /// Returns the words of a turn that a mailbox has by this blob.
    fn words_at(
        &self,
        height: Height,
        body: BlobId,
    ) -> impl Iterator<Item = (MailPlace, &KeptWords)> {
        let is_it = move |words: &KeptWords| {
            let act = &words.act.envelope.act;
            words.height == height && matches!(act, Act::Tell { sealed, .. } if *sealed == body)
        };
        let all = self.all.iter().filter(move |(_, words)| is_it(words));
        all.map(|(place, words)| (*place, words))
    }

    /// Forgets words that this key told or was told; of anybody, if it is none.
    pub(crate) fn forget_words(&mut self, height: Height, body: BlobId, by: Option<PublicKey>) {
        let all = self.words_at(height, body);
        let own =
            all.filter(|((to, _), words)| by.is_none_or(|by| [words.by(), *to].contains(&by)));
        let numbers = own.map(|((_, number), _)| number);
        let numbers: Vec<u64> = numbers.collect();
        numbers.into_iter().for_each(|number| self.forget(number));
    }

    /// Forgets what a key told others, as it is shut out.
    pub(crate) fn forget_all_of(&mut self, author: &PublicKey) {
        let all = self.by_author.range((*author, 0)..=(*author, u64::MAX));
        let numbers: Vec<u64> = all.map(|(_, number)| *number).collect();
        numbers.into_iter().for_each(|number| self.forget(number));
    }

    /// Forgets the words that are too old, some of them in each turn.
    pub(crate) fn pass(&mut self, time: u64) {
        for _ in 0..ENDINGS_PER_TURN_MAX {
            let Some((number, to)) = self.by_age.first_key_value() else { return };
            let words = self.all.get(&(*to, *number));
            let number = *number;
            if words.is_some_and(|words| words.time.saturating_add(MAILBOX_MS) > time) {
                return;
            }
            self.forget(number);
        }
    }
}

impl World {
    /// Returns the words in somebody's mailbox with greater numbers, the oldest first.
    pub fn mailbox(&self, of: PublicKey, after: u64) -> impl Iterator<Item = (u64, &KeptWords)> {
        self.state.people.mailboxes.of(of, after)
    }
}

#[cfg(test)]
mod tests;
