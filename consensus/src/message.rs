//! What servers say to each other about agreement.

use metatopia_types::{
    HeaderId, Height, Proposal, PublicKey, Round, Signature, Signed, Vote, VoteKind, wire,
};
use serde::{Deserialize, Serialize};

use crate::{Decision, limits};

/// One message. Every reaction to one is bounded, whoever sent it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// The proposer's word for a turn. The turn itself comes in parts.
    Proposal(Signed<Proposal>),
    /// A vote; taken only from the voter itself.
    Vote(Signed<Vote>),
    /// Proof that a turn may be proposed again.
    Polka(Polka),
    /// Proof that a round is over or was overtaken.
    RoundProof(RoundProof),
    /// A piece of a turn.
    Part(Part),
    /// Asks for a proposal and the parts of its turn.
    Want(Want),
    /// Asks for decided turns from this height on.
    Ask {
        /// The first height that is missing.
        from: Height,
    },
    /// A decided turn, for somebody who is behind.
    Decision(Decision),
    /// Asks how far the other one is: a server that lost its log must not vote where it may have
    /// voted before.
    AskTip {
        /// Comes back with the answer, so that an answer to an earlier life does not count.
        nonce: u64,
    },
    /// The answer to [`Self::AskTip`].
    Tip {
        /// From the question.
        nonce: u64,
        /// The height of the last decided turn.
        height: Height,
    },
}

/// Prevotes of more than two thirds of the voting power for one turn in one round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Polka {
    /// The height of the votes.
    pub height: Height,
    /// The round of the prevotes.
    pub round: Round,
    /// The id of the turn.
    pub header: HeaderId,
    /// The voters, with their signatures.
    pub signatures: Vec<(PublicKey, Signature)>,
}

/// Votes that let everybody leave a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundProof {
    /// The height of the round.
    pub height: Height,
    /// The round of the votes.
    pub round: Round,
    /// What the votes show.
    pub shows: Shows,
    /// The votes of that round.
    pub votes: Vec<RoundVote>,
}

/// What a [`RoundProof`] shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shows {
    /// Precommits of more than two thirds of the voting power: the round can end.
    Ended,
    /// Votes of more than one third, so of an honest server: the round has begun.
    Begun,
}

/// A vote inside a [`RoundProof`], without what all of them have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundVote {
    /// Prevote or precommit.
    pub kind: VoteKind,
    /// For which turn; none is nil.
    pub header: Option<HeaderId>,
    /// The server that voted.
    pub voter: PublicKey,
    /// The voter's signature.
    pub signature: Signature,
}

/// A piece of an encoded turn. Nobody signs it: the turn is checked against the header's digest
/// once all pieces are there.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The height of the turn.
    pub height: Height,
    /// The id of the turn.
    pub header: HeaderId,
    /// Which piece, from 0.
    pub index: u8,
    /// How many there are.
    pub total: u8,
    /// [`limits::PART_BYTES`] of the encoded turn, fewer in the last piece.
    #[serde(with = "metatopia_types::wire::bytes")]
    pub bytes: Vec<u8>,
}

impl core::fmt::Debug for Part {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { height, header, index, total, bytes } = self;
        let len = bytes.len();
        write!(f, "Part {index}/{total} of {header:?} at {height} ({len} B)")
    }
}

/// Asks for a proposal and for the parts of its turn that the asker lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Want {
    /// The height of the turn.
    pub height: Height,
    /// The id of the turn.
    pub header: HeaderId,
    /// Bit i is set if the asker has part i from the one it asks.
    pub have: u64,
}

impl Message {
    /// Encodes the message for the wire.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        wire::encode(self)
    }

    /// Decodes a message from the wire.
    ///
    /// # Errors
    /// Bytes that are too many, are no message, or are one in another than its canonical form.
    pub fn decode(bytes: &[u8]) -> Result<Self, wire::DecodeError> {
        wire::decode(bytes, limits::MESSAGE_BYTES_MAX)
    }
}
