//! Private words: decides whether somebody tells one person something, and who may show it to moderators.
//!
//! The sim sees who tells whom, and how much about. What is told it cannot read, so it judges nothing about it.

use metatopia_types::{
    BlobId, OpenedWords, PublicKey, Refusal, SealedWords, SignedEnvelope, limits::OPENED_BYTES_MAX,
    wire,
};

use super::{
    changes::StateChange,
    context::{ActContext, ActResult},
};
use crate::{
    limits::TOLD_PER_TURN_MAX,
    rules::{KeptWords, ToldWords},
};

/// A change of a mailbox.
pub(super) enum MailChange {
    /// Puts words into a mailbox, and lets its owner hear them.
    Put(Box<ToldWords>),
    /// Takes words out of the author's mailbox, up to this number.
    Empty(u64),
}

impl ActContext<'_> {
    /// Decides whether somebody tells a player something. Neither of them needs an avatar.
    pub(super) fn tell(&self, to: PublicKey, sealed: BlobId) -> ActResult {
        let player = self.renewed_player()?;
        if !self.state.players.contains(&to) {
            return Err(Refusal::NoPlayer);
        }
        let blob = self.executor.blobs.get(&sealed).ok_or(Refusal::NoBlob)?;
        if SealedWords::decode(&blob.0).is_none() {
            return Err(Refusal::BadSeal);
        }
        let newcomer = player.since.regular.is_none();
        self.check_told(to, newcomer)?;
        let words = KeptWords {
            act: SignedEnvelope { envelope: self.envelope.clone(), signature: self.signature },
            newcomer,
            height: self.state.clock.height,
            time: self.state.governance.time,
            sealed: blob.0.clone(),
        };
        let told = ToldWords { to, number: 0, name: player.name.clone(), words };
        let put = StateChange::Mail(MailChange::Put(Box::new(told)));
        Ok(vec![StateChange::Player(self.author(), player), put])
    }

    /// Checks that the author may tell this person something in this turn. Newcomers keep nobody else from it.
    pub(super) fn check_told(&self, to: PublicKey, newcomer: bool) -> Result<(), Refusal> {
        let counts = self.counts;
        let of_reader = counts.told_to.get(&(to, newcomer)).copied().unwrap_or(0);
        let is_much = of_reader >= TOLD_PER_TURN_MAX || counts.told_by.contains(&self.author());
        if is_much { Err(Refusal::TooOften) } else { Ok(()) }
    }

    /// Decides that words leave the author's mailbox.
    pub(super) fn empty_mailbox(&self, up_to: u64) -> ActResult {
        let player = self.renewed_player()?;
        if self.state.people.mailboxes.of(self.author(), 0).next().is_none() {
            return Err(Refusal::AlreadySo);
        }
        let empty = StateChange::Mail(MailChange::Empty(up_to));
        Ok(vec![StateChange::Player(self.author(), player), empty])
    }

    /// Returns what private words say that the author of a report shows, if they prove that `by` told them to
    /// the author of the report. They need not be in the mailbox any more.
    pub(super) fn opened(&self, by: &PublicKey, opened: BlobId) -> Result<String, Refusal> {
        let blob = self.executor.blobs.get(&opened).ok_or(Refusal::NoBlob)?;
        let opened = wire::decode::<OpenedWords>(&blob.0, OPENED_BYTES_MAX);
        let opened = opened.map_err(|_| Refusal::NotOpened)?;
        let scheme = &*self.executor.tools.verify;
        let author = opened.author(self.state.charter.sim, &self.author(), scheme);
        if author == Some(*by) { Ok(opened.text) } else { Err(Refusal::NotOpened) }
    }
}
