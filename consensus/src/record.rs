//! What agreement writes into the log. A restart reads it back, in the order it was written.

use std::sync::Arc;

use metatopia_types::{
    Certificate, HeaderId, Height, Proposal, PublicKey, Root, Round, Signed, SignedRecovery, Turn,
    ValidatorSet, Vote, wire,
};
use serde::{Deserialize, Serialize};

use crate::{
    Polka,
    decision::shared,
    lean_turn::{LEAN_NUMBER, LeanTurn},
    limits,
};

/// One record. Opaque to the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record {
    /// The bytes behind a header's digest, always before the first record that relies on them.
    Turn(#[serde(with = "shared")] Arc<Turn>),
    /// A vote that counted, our own or another's.
    Vote(Signed<Vote>),
    /// A proposal that was accepted, our own or another's.
    Proposal(Signed<Proposal>),
    /// What we think of a turn.
    Verdict(TurnVerdict),
    /// Time was up.
    Timeout(Timeout),
    /// Proof, from another server, that a turn may be proposed again.
    Polka(Polka),
    /// We promised this turn for round 0 of a height that had not begun.
    Early(Signed<Proposal>),
    /// The turn with this certificate is decided; its bytes are in an earlier record.
    Decided(Certificate),
    /// The state machine is done with a turn.
    Applied {
        /// The turn's height.
        height: Height,
        /// The root of the state after it.
        root: Root,
        /// The set of [`SET_LAG`](metatopia_types::limits::SET_LAG) heights later, if it differs
        /// from the one before it.
        validators: Option<ValidatorSet>,
    },
    /// From here on this server signs: its key is new, or it knows where it may have signed before.
    Voice,
    /// From here on this server does not sign: records that came before were lost, so it does not
    /// know where it signed.
    Silence,
    /// What was noted so far of the states from this height on was wrong: this server's state had
    /// parted from the others'. It has healed, and notes them again.
    Healed {
        /// The first of them.
        from: Height,
    },
    /// More than two thirds of the voting power signed which state holds after a turn that no root
    /// had a quorum for. What was noted so far of the states from the turn before it on is void; the
    /// right ones follow.
    Recovered(Box<SignedRecovery>),
}

/// A turn that was judged, as the core of agreement is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnVerdict {
    /// The height of the turn.
    pub height: Height,
    /// The round it was proposed or certified in.
    pub round: Round,
    /// The earlier round with a quorum of prevotes, if it was proposed again.
    pub valid_round: Option<Round>,
    /// Who proposed it in that round.
    pub proposer: PublicKey,
    /// The id of the turn.
    pub header: HeaderId,
    /// Whether it is valid.
    pub valid: bool,
    /// Whether it came with a certificate.
    pub certified: bool,
}

/// A wait that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Timeout {
    /// At which height.
    pub height: Height,
    /// In which round.
    pub round: Round,
    /// The step that was waited for.
    pub step: Step,
}

/// What a server waits for in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Step {
    /// The wait for a proposal.
    Propose,
    /// Prevotes that agree.
    Prevote,
    /// Precommits that agree.
    Precommit,
}

impl Record {
    /// Returns the height that the record is about, or none for what is about the whole server and
    /// in every base. A log segment may go once a [`Base`](crate::Base) at or above all its heights
    /// is stored.
    #[must_use]
    pub fn height(&self) -> Option<Height> {
        Some(match self {
            Self::Turn(turn) => turn.header.height,
            Self::Vote(vote) => vote.message.height,
            Self::Proposal(proposal) | Self::Early(proposal) => proposal.message.height,
            Self::Verdict(verdict) => verdict.height,
            Self::Timeout(timeout) => timeout.height,
            Self::Polka(polka) => polka.height,
            Self::Decided(certificate) => certificate.height,
            Self::Applied { height, .. } | Self::Healed { from: height } => *height,
            Self::Recovered(signed) => signed.recovery.height,
            Self::Voice | Self::Silence => return None,
        })
    }

    /// Encodes the record for the log. A turn of which words were forgotten takes fewer bytes than it did with
    /// them, by 31 at least, so that it can stand in its old place.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Turn(turn) if !turn.body.is_whole() => {
                let lean = LeanTurn::of(turn).map(|lean| wire::encode(&(LEAN_NUMBER, lean)));
                lean.unwrap_or_else(|| wire::encode(self))
            }
            _ => wire::encode(self),
        }
    }

    /// Decodes a record from the log.
    ///
    /// # Errors
    /// Bytes that [`Record::encode`] did not make.
    pub fn decode(bytes: &[u8]) -> Result<Self, wire::DecodeError> {
        if bytes.first() == Some(&LEAN_NUMBER) {
            let (_, lean): (u8, LeanTurn) = wire::decode(bytes, limits::RECORD_BYTES_MAX)?;
            let turn = lean.turn();
            let one_form = if turn.body.is_whole() { None } else { Some(Self::Turn(turn.into())) };
            return one_form.ok_or(wire::DecodeError::NotCanonical);
        }
        match wire::decode(bytes, limits::RECORD_BYTES_MAX)? {
            // It has a shorter form.
            Self::Turn(turn) if !turn.body.is_whole() && LeanTurn::of(&turn).is_some() => {
                Err(wire::DecodeError::NotCanonical)
            }
            record => Ok(record),
        }
    }
}
