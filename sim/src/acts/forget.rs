//! Forgetting words: decides who may have every server drop which words.

use metatopia_types::{BlobId, Height, PublicKey, Refusal};

use super::{
    changes::StateChange,
    context::{ActContext, ActResult},
};
use crate::{
    rules::{ActTarget, ForgottenWords, OrderedDeed, Right},
    state::State,
};

/// The owner of the words of a turn, as far as the state knows.
enum WordsOwner<'a> {
    /// One of the author's, or what she was told: the key that said it, or was told it.
    Own(PublicKey),
    /// What somebody said in public, by the key that this person has now; a thing if it is nobody.
    Public(Option<&'a PublicKey>),
    /// What others told each other.
    Private,
    /// The state knows nothing of them any more.
    Unknown,
}

impl State {
    /// Returns whose words these are, to this author.
    fn owner_of_words(&self, author: PublicKey, height: Height, body: BlobId) -> WordsOwner<'_> {
        let is_own = |key: &PublicKey| *self.newest_key(key) == author;
        let said = || self.chat.at(height, body).map(|line| line.by.as_ref());
        if let Some(key) = said().flatten().find(|key| is_own(key)) {
            return WordsOwner::Own(*key);
        }
        if let Some(first) = said().next() {
            return WordsOwner::Public(first.map(|key| self.newest_key(key)));
        }
        // Somebody may have told another person the very same bytes in that turn.
        let mut told = self.people.mailboxes.parties(height, body).peekable();
        if told.peek().is_some() {
            let own = told.flatten().find(is_own);
            return own.map_or(WordsOwner::Private, WordsOwner::Own);
        }
        if let Some(report) = self.people.reports.showing(height, body) {
            // They are words of whom the report accuses, which its reporter showed.
            return match report.by == author {
                true => WordsOwner::Own(author),
                false => WordsOwner::Public(report.accused.as_ref()),
            };
        }
        match self.people.profiles.sender(height, body) {
            Some(key) if *key == author => WordsOwner::Own(*key),
            Some(key) => WordsOwner::Public(Some(key)),
            None => WordsOwner::Unknown,
        }
    }

    /// Returns the right that it takes to have these words forgotten, and whom it is about.
    pub(super) fn forget_request(
        &self,
        author: PublicKey,
        height: Height,
        body: BlobId,
    ) -> (Right, ActTarget<'_>) {
        match self.owner_of_words(author, height, body) {
            WordsOwner::Own(_) | WordsOwner::Private => (Right::Attend, ActTarget::SIM),
            WordsOwner::Public(person) => (Right::Moderate, ActTarget { person, ..ActTarget::SIM }),
            WordsOwner::Unknown => {
                let moderates = self.may(&author, Right::Moderate, &ActTarget::SIM).is_ok();
                let right = if moderates { Right::Moderate } else { Right::Attend };
                (right, ActTarget::SIM)
            }
        }
    }
}

impl State {
    /// Returns the words that servers drop if an author who may have them forgotten does so.
    ///
    /// # Errors
    /// The rule that refuses it.
    pub(super) fn check_forget(
        &self,
        author: PublicKey,
        height: Height,
        body: BlobId,
    ) -> Result<ForgottenWords, Refusal> {
        // Words of this very turn may come after this act, and would stay.
        if height == Height(0) || height >= self.clock.height {
            return Err(Refusal::NoSuchWords);
        }
        let owner = self.owner_of_words(author, height, body);
        let by = match owner {
            WordsOwner::Own(key) => Some(key),
            WordsOwner::Private => return Err(Refusal::NotYours),
            WordsOwner::Public(_) => None,
            WordsOwner::Unknown => {
                let (right, _) = self.forget_request(author, height, body);
                if right == Right::Moderate { None } else { Some(author) }
            }
        };
        let (forgotten, time) = (&self.people.forgotten, self.governance.time);
        if forgotten.has(height, body, by) {
            return Err(Refusal::AlreadySo);
        }
        // Keys that cost nothing would fill the list with words that nobody said.
        let is_newcomer = self.players.get(&author).is_none_or(|one| one.since.regular.is_none());
        let is_unknown = matches!(owner, WordsOwner::Unknown);
        if is_unknown && by.is_some() && is_newcomer {
            return Err(Refusal::NoSuchWords);
        }
        match by {
            Some(key) if !forgotten.has_room_for(key, time) => Err(Refusal::TooOften),
            _ => Ok(ForgottenWords { height, body, by, time }),
        }
    }
}

impl ActContext<'_> {
    /// Decides whether words are forgotten. Of words that the state does not know any more, each server drops
    /// what the author said or was told, or, for who moderates, what anybody said.
    pub(super) fn forget(&self, height: Height, body: BlobId) -> ActResult {
        let player = self.renewed_player()?;
        if !self.counts.is_checked {
            return Err(Refusal::TooOften);
        }
        let words = self.state.check_forget(self.author(), height, body)?;
        Ok(vec![StateChange::Player(self.author(), player), StateChange::ForgetWords(words)])
    }

    /// Returns the record of words that were forgotten by more than one's own right.
    pub(super) fn forget_deed(&self, height: Height, body: BlobId) -> OrderedDeed {
        let person = match self.state.owner_of_words(self.author(), height, body) {
            WordsOwner::Public(by) => by.copied(),
            _ => None,
        };
        OrderedDeed::Forget { height, body, person }
    }
}
