//! Our nouns in the shape that malachite asks for. No behaviour lives here, and no state: who leads
//! comes with the validator set of each height.

use core::fmt;
use std::sync::Arc;

use arc_malachitebft_core_types as malachite;
use malachite::{NilOrVal, Round, SignedExtension, VoteType};
use metatopia_types::{HeaderId, Height, PublicKey, Signature, ValidatorSet};

macro_rules! shown_as_inner {
    ($($name:ident)*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}
shown_as_inner! { CoreHeight Name Id }

/// A height, as the core wants it.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CoreHeight(pub Height);

impl malachite::Height for CoreHeight {
    const ZERO: Self = Self(Height(0));
    const INITIAL: Self = Self(Height(1));

    fn increment_by(&self, n: u64) -> Self {
        Self(self.0.plus(n))
    }

    fn decrement_by(&self, n: u64) -> Option<Self> {
        self.0.minus(n).map(Self)
    }

    fn as_u64(&self) -> u64 {
        self.0.0
    }
}

/// A server is named by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name(pub PublicKey);

impl malachite::Address for Name {}

/// What is agreed on: the digest of a header. Value and id of the value are the same; the turn's
/// bytes travel beside the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id(pub HeaderId);

impl malachite::Value for Id {
    type Id = Self;

    fn id(&self) -> Self {
        *self
    }
}

/// The core never looks at parts: it only needs the type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoPart;

impl malachite::ProposalPart<Ctx> for NoPart {
    fn is_first(&self) -> bool {
        true
    }

    fn is_last(&self) -> bool {
        true
    }
}

/// A proposal inside the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CoreProposal {
    pub height: CoreHeight,
    pub round: Round,
    pub value: Id,
    pub pol_round: Round,
    pub proposer: Name,
}

impl malachite::Proposal<Ctx> for CoreProposal {
    fn height(&self) -> CoreHeight {
        self.height
    }

    fn round(&self) -> Round {
        self.round
    }

    fn value(&self) -> &Id {
        &self.value
    }

    fn take_value(self) -> Id {
        self.value
    }

    fn pol_round(&self) -> Round {
        self.pol_round
    }

    fn validator_address(&self) -> &Name {
        &self.proposer
    }
}

/// A vote inside the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CoreVote {
    pub kind: VoteType,
    pub height: CoreHeight,
    pub round: Round,
    pub value: NilOrVal<Id>,
    pub voter: Name,
}

impl malachite::Vote<Ctx> for CoreVote {
    fn height(&self) -> CoreHeight {
        self.height
    }

    fn round(&self) -> Round {
        self.round
    }

    fn value(&self) -> &NilOrVal<Id> {
        &self.value
    }

    fn take_value(self) -> NilOrVal<Id> {
        self.value
    }

    fn vote_type(&self) -> VoteType {
        self.kind
    }

    fn validator_address(&self) -> &Name {
        &self.voter
    }

    fn extension(&self) -> Option<&SignedExtension<Ctx>> {
        None
    }

    fn take_extension(&mut self) -> Option<SignedExtension<Ctx>> {
        None
    }

    fn extend(self, _: SignedExtension<Ctx>) -> Self {
        self
    }
}

/// A validator inside the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Voter {
    name: Name,
    power: u64,
}

impl malachite::Validator<Ctx> for Voter {
    fn address(&self) -> &Name {
        &self.name
    }

    fn public_key(&self) -> &PublicKey {
        &self.name.0
    }

    fn voting_power(&self) -> u64 {
        self.power
    }
}

/// The validators of one height.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CoreVoters {
    pub set: Arc<ValidatorSet>,
    list: Arc<[Voter]>,
}

impl CoreVoters {
    pub(crate) fn new(set: Arc<ValidatorSet>) -> Self {
        let list = set
            .members()
            .iter()
            .map(|member| Voter { name: Name(member.key), power: u64::from(member.power) })
            .collect();
        Self { set, list }
    }

    fn find(&self, key: &PublicKey) -> Option<&Voter> {
        self.list.binary_search_by(|voter| voter.name.0.cmp(key)).ok().map(|at| &self.list[at])
    }
}

impl malachite::ValidatorSet<Ctx> for CoreVoters {
    fn count(&self) -> usize {
        self.list.len()
    }

    fn total_voting_power(&self) -> u64 {
        self.set.total_power()
    }

    fn get_by_address(&self, name: &Name) -> Option<&Voter> {
        self.find(&name.0)
    }

    fn get_by_index(&self, index: usize) -> Option<&Voter> {
        self.list.get(index)
    }
}

/// Signatures are made and checked outside; the core only carries them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CoreScheme;

impl malachite::SigningScheme for CoreScheme {
    type DecodingError = &'static str;
    type Signature = Signature;
    type PublicKey = PublicKey;
    type PrivateKey = ();

    fn decode_signature(bytes: &[u8]) -> Result<Signature, &'static str> {
        let bytes = bytes.try_into().map_err(|_| "a signature has 64 bytes")?;
        Ok(Signature::from_bytes(bytes))
    }

    fn encode_signature(signature: &Signature) -> Vec<u8> {
        signature.to_bytes().to_vec()
    }

    fn decode_public_key(bytes: &[u8]) -> Result<PublicKey, &'static str> {
        let bytes = bytes.try_into().map_err(|_| "a key has 32 bytes")?;
        Ok(PublicKey(bytes))
    }

    fn encode_public_key(key: &PublicKey) -> Vec<u8> {
        key.0.to_vec()
    }
}

/// Ties the types together.
#[derive(Clone, Debug)]
pub(crate) struct Ctx;

impl malachite::Context for Ctx {
    type Address = Name;
    type Height = CoreHeight;
    type ProposalPart = NoPart;
    type Proposal = CoreProposal;
    type Validator = Voter;
    type ValidatorSet = CoreVoters;
    type Timeouts = malachite::LinearTimeouts;
    type Value = Id;
    type Vote = CoreVote;
    type Extension = Vec<u8>;
    type SigningScheme = CoreScheme;

    fn select_proposer<'a>(
        &self,
        voters: &'a CoreVoters,
        height: CoreHeight,
        round: Round,
    ) -> &'a Voter {
        let round = metatopia_types::Round(round.as_u32().unwrap_or(0));
        let key = voters.set.proposer(height.0, round);
        voters.find(&key).expect("a set's proposers are members")
    }

    fn new_proposal(
        &self,
        height: CoreHeight,
        round: Round,
        value: Id,
        pol_round: Round,
        proposer: Name,
    ) -> CoreProposal {
        CoreProposal { height, round, value, pol_round, proposer }
    }

    fn new_prevote(
        &self,
        height: CoreHeight,
        round: Round,
        value: NilOrVal<Id>,
        voter: Name,
    ) -> CoreVote {
        CoreVote { kind: VoteType::Prevote, height, round, value, voter }
    }

    fn new_precommit(
        &self,
        height: CoreHeight,
        round: Round,
        value: NilOrVal<Id>,
        voter: Name,
    ) -> CoreVote {
        CoreVote { kind: VoteType::Precommit, ..self.new_prevote(height, round, value, voter) }
    }
}

#[cfg(test)]
mod tests {
    use super::malachite::SigningScheme;
    use super::*;

    #[test]
    fn a_key_and_a_signature_are_read_back_as_they_were_written() {
        let key = PublicKey([7; 32]);
        let written = CoreScheme::encode_public_key(&key);
        assert_eq!(CoreScheme::decode_public_key(&written), Ok(key));
        assert!(CoreScheme::decode_public_key(&written[1..]).is_err());

        let signature = Signature::from_bytes([9; 64]);
        let written = CoreScheme::encode_signature(&signature);
        assert_eq!(CoreScheme::decode_signature(&written), Ok(signature));
        assert!(CoreScheme::decode_signature(&written[1..]).is_err());
    }
}
