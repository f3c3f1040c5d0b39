//! The records of a stopped server's log that say whether it may sign or take a recovery.

use std::collections::BTreeMap;

use metatopia_consensus::Record;
use metatopia_replica::{keeper::newest_state, payloads_after};
use metatopia_store::{LogIndex, ReadDisk, ReadError};
use metatopia_types::{
    HeaderId, Height, PublicKey, Recovery, Root, Round, VoteKind, wire::DecodeError,
};

use super::refusal::{RecoveryRefusal, check_uncertified};
use crate::tools;

/// A turn that is voted on in this round is not decided any more as long as nothing changes: a
/// proposer that is away costs one round or two.
const STALLED_ROUND: Round = Round(3);

/// The reason why a log could not be read for a recovery.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecoveryNotesError {
    /// A record cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A record is malformed.
    #[error("a record is not of this version: {0}")]
    Decode(#[from] DecodeError),
}

/// The facts that a log states from a little before the newest usable state on.
#[derive(Debug, Default)]
pub struct RecoveryNotes {
    /// Says whether the server signs.
    pub voice: bool,
    /// The recoveries that the server took.
    pub taken: Vec<Recovery>,
    /// The decided turns.
    decided: BTreeMap<Height, HeaderId>,
    /// The turns that the server itself has precommitted.
    precommitted: Vec<(Height, HeaderId)>,
    /// The last height, and its last round, in which the server itself has voted.
    voted: Option<(Height, Round)>,
    /// The roots that the headers of turns state.
    stated: BTreeMap<HeaderId, Root>,
}

impl RecoveryNotes {
    /// Reads the log of a server from a little before the state on that a start would begin with.
    /// `skipped` learns why a snapshot could not be used.
    ///
    /// # Errors
    /// See [`RecoveryNotesError`].
    pub fn read(
        index: &LogIndex,
        disk: &dyn ReadDisk,
        server: PublicKey,
        skipped: &mut dyn FnMut(&str),
    ) -> Result<Self, RecoveryNotesError> {
        let (state, passed_over) = newest_state(disk, &tools());
        passed_over.iter().for_each(|why| skipped(&why.to_string()));
        let base = state.map(|(base, _)| base);
        let from = base.as_ref().map(|base| base.height.plus(1)).unwrap_or_default();
        let mut notes = Self { voice: base.is_some_and(|base| base.voice), ..Self::default() };
        for payload in payloads_after(index, disk, from)? {
            notes.take(Record::decode(&payload?)?, server);
        }
        Ok(notes)
    }

    fn take(&mut self, record: Record, server: PublicKey) {
        match record {
            Record::Voice => self.voice = true,
            Record::Silence => self.voice = false,
            Record::Recovered(signed) => self.taken.push(signed.recovery),
            Record::Turn(turn) => {
                self.stated.insert(turn.id(), turn.header.root);
            }
            Record::Decided(certificate) => {
                self.decided.insert(certificate.height, certificate.header);
            }
            Record::Vote(vote) if vote.message.voter == server => {
                let own = &vote.message;
                self.voted = self.voted.max(Some((own.height, own.round)));
                let turn = own.header.filter(|_| own.kind == VoteKind::Precommit);
                self.precommitted.extend(turn.map(|turn| (own.height, turn)));
            }
            _ => {}
        }
    }

    /// Says whether the server voted in round after round on the turn behind `tip`, the last decided
    /// one. If it did not, nothing shows that the sim is stalled.
    #[must_use]
    pub fn shows_a_stall(&self, tip: Height) -> bool {
        self.voted.is_some_and(|voted| voted >= (tip.plus(1), STALLED_ROUND))
    }

    /// Returns the number of a new recovery to this height.
    #[must_use]
    pub fn next_number(&self, height: Height) -> u32 {
        let same = self.taken.iter().filter(|taken| taken.height == height);
        same.map(|taken| taken.number).max().unwrap_or(0).saturating_add(1)
    }

    /// Checks that a server with this log may sign or take a recovery.
    ///
    /// # Errors
    /// When the recovery could contradict a decided turn, or is an old one.
    pub fn check(&self, recovery: &Recovery, tip: Height) -> Result<(), RecoveryRefusal> {
        let Recovery { height, header, number, .. } = *recovery;
        if height == Height(0) {
            return Err(RecoveryRefusal::NothingDecided);
        }
        check_uncertified(height, tip)?;
        if tip < height {
            return Err(RecoveryRefusal::ShortLog { tip, height });
        }
        if self.decided.get(&height) != Some(&header) {
            return Err(RecoveryRefusal::OtherTurn { height, header });
        }
        if number < self.next_number(height) {
            return Err(RecoveryRefusal::Older { number, height });
        }
        let own = self.precommitted.iter().copied();
        let decided = self.decided.iter().map(|(height, turn)| (*height, *turn));
        for (at, turn) in decided.chain(own) {
            let (wanted, stated) = (recovery.root_in(at), self.stated.get(&turn).copied());
            if let (Some(wanted), Some(stated)) = (wanted, stated)
                && wanted != stated
            {
                return Err(RecoveryRefusal::SignedOtherwise { height: at, stated, wanted });
            }
        }
        Ok(())
    }
}
