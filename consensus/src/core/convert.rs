//! Between our nouns and the core's. Every function here loses nothing.

use arc_malachitebft_core_consensus as consensus;
use arc_malachitebft_core_types as malachite;
use consensus::{Input, ProposedValue};
use malachite::{
    CommitCertificate, CommitSignature, NilOrVal, PolkaCertificate, PolkaSignature,
    RoundCertificate, RoundCertificateType, RoundSignature, SignedMessage, Validity, ValueOrigin,
    VoteType,
};
use metatopia_types::{Certificate, HeaderId, Height, Proposal, Round, Signed, Vote, VoteKind};

use super::context::{CoreHeight, CoreProposal, CoreVote, Ctx, Id, Name};
use crate::{Polka, Record, RoundProof, RoundVote, Shows, Step, Timeout, TurnVerdict};

/// Rounds of messages are always there; only a core before its first round has none.
pub(crate) fn round(round: malachite::Round) -> Round {
    Round(round.as_u32().expect("a message names its round"))
}

fn maybe_round(round: malachite::Round) -> Option<Round> {
    round.as_u32().map(Round)
}

fn to_maybe_round(round: Option<Round>) -> malachite::Round {
    round.map_or(malachite::Round::Nil, to_round)
}

pub(crate) const fn to_round(round: Round) -> malachite::Round {
    malachite::Round::new(round.0)
}

const fn kind(kind: VoteType) -> VoteKind {
    match kind {
        VoteType::Prevote => VoteKind::Prevote,
        VoteType::Precommit => VoteKind::Precommit,
    }
}

const fn to_kind(kind: VoteKind) -> VoteType {
    match kind {
        VoteKind::Prevote => VoteType::Prevote,
        VoteKind::Precommit => VoteType::Precommit,
    }
}

fn header(value: &NilOrVal<Id>) -> Option<HeaderId> {
    match value {
        NilOrVal::Nil => None,
        NilOrVal::Val(id) => Some(id.0),
    }
}

fn to_value(header: Option<HeaderId>) -> NilOrVal<Id> {
    header.map_or(NilOrVal::Nil, |id| NilOrVal::Val(Id(id)))
}

pub(crate) fn vote(vote: &CoreVote) -> Vote {
    Vote {
        kind: kind(vote.kind),
        height: vote.height.0,
        round: round(vote.round),
        header: header(&vote.value),
        voter: vote.voter.0,
    }
}

pub(crate) fn to_vote(vote: &Vote) -> CoreVote {
    CoreVote {
        kind: to_kind(vote.kind),
        height: CoreHeight(vote.height),
        round: to_round(vote.round),
        value: to_value(vote.header),
        voter: Name(vote.voter),
    }
}

pub(crate) fn proposal(proposal: &CoreProposal) -> Proposal {
    Proposal {
        height: proposal.height.0,
        round: round(proposal.round),
        header: proposal.value.0,
        valid_round: maybe_round(proposal.pol_round),
        proposer: proposal.proposer.0,
    }
}

pub(crate) fn to_proposal(proposal: &Proposal) -> CoreProposal {
    CoreProposal {
        height: CoreHeight(proposal.height),
        round: to_round(proposal.round),
        value: Id(proposal.header),
        pol_round: to_maybe_round(proposal.valid_round),
        proposer: Name(proposal.proposer),
    }
}

pub(crate) fn signed_vote(signed: &malachite::SignedVote<Ctx>) -> Signed<Vote> {
    Signed { message: vote(&signed.message), signature: signed.signature }
}

pub(crate) fn to_signed_vote(signed: &Signed<Vote>) -> malachite::SignedVote<Ctx> {
    SignedMessage::new(to_vote(&signed.message), signed.signature)
}

pub(crate) fn signed_proposal(signed: &malachite::SignedProposal<Ctx>) -> Signed<Proposal> {
    Signed { message: proposal(&signed.message), signature: signed.signature }
}

pub(crate) fn to_signed_proposal(signed: &Signed<Proposal>) -> malachite::SignedProposal<Ctx> {
    SignedMessage::new(to_proposal(&signed.message), signed.signature)
}

pub(crate) fn certificate(certificate: &CommitCertificate<Ctx>) -> Certificate {
    let signatures = certificate.commit_signatures.iter();
    Certificate {
        height: certificate.height.0,
        round: round(certificate.round),
        header: certificate.value_id.0,
        signatures: signatures.map(|s| (s.address.0, s.signature)).collect(),
    }
}

pub(crate) fn to_certificate(certificate: &Certificate) -> CommitCertificate<Ctx> {
    let signatures = certificate.signatures.iter();
    CommitCertificate {
        height: CoreHeight(certificate.height),
        round: to_round(certificate.round),
        value_id: Id(certificate.header),
        commit_signatures: signatures
            .map(|(key, signature)| CommitSignature::new(Name(*key), *signature))
            .collect(),
    }
}

pub(crate) fn polka(polka: &PolkaCertificate<Ctx>) -> Polka {
    let signatures = polka.polka_signatures.iter();
    Polka {
        height: polka.height.0,
        round: round(polka.round),
        header: polka.value_id.0,
        signatures: signatures.map(|s| (s.address.0, s.signature)).collect(),
    }
}

pub(crate) fn to_polka(polka: &Polka) -> PolkaCertificate<Ctx> {
    let signatures = polka.signatures.iter();
    PolkaCertificate {
        height: CoreHeight(polka.height),
        round: to_round(polka.round),
        value_id: Id(polka.header),
        polka_signatures: signatures
            .map(|(key, signature)| PolkaSignature::new(Name(*key), *signature))
            .collect(),
    }
}

pub(crate) fn round_proof(proof: &RoundCertificate<Ctx>) -> RoundProof {
    let votes = proof.round_signatures.iter().map(|vote| RoundVote {
        kind: kind(vote.vote_type),
        header: header(&vote.value_id),
        voter: vote.address.0,
        signature: vote.signature,
    });
    RoundProof {
        height: proof.height.0,
        round: round(proof.round),
        shows: match proof.cert_type {
            RoundCertificateType::Precommit => Shows::Ended,
            RoundCertificateType::Skip => Shows::Begun,
        },
        votes: votes.collect(),
    }
}

pub(crate) fn to_round_proof(proof: &RoundProof) -> RoundCertificate<Ctx> {
    let votes = proof.votes.iter().map(|vote| {
        let name = Name(vote.voter);
        RoundSignature::new(to_kind(vote.kind), to_value(vote.header), name, vote.signature)
    });
    RoundCertificate {
        height: CoreHeight(proof.height),
        round: to_round(proof.round),
        cert_type: match proof.shows {
            Shows::Ended => RoundCertificateType::Precommit,
            Shows::Begun => RoundCertificateType::Skip,
        },
        round_signatures: votes.collect(),
    }
}

fn verdict(value: &ProposedValue<Ctx>, origin: ValueOrigin) -> TurnVerdict {
    TurnVerdict {
        height: value.height.0,
        round: round(value.round),
        valid_round: maybe_round(value.valid_round),
        proposer: value.proposer.0,
        header: value.value.0,
        valid: value.validity.is_valid(),
        certified: origin.is_sync(),
    }
}

pub(crate) fn to_verdict(verdict: &TurnVerdict) -> (ProposedValue<Ctx>, ValueOrigin) {
    let value = ProposedValue {
        height: CoreHeight(verdict.height),
        round: to_round(verdict.round),
        valid_round: to_maybe_round(verdict.valid_round),
        proposer: Name(verdict.proposer),
        value: Id(verdict.header),
        validity: Validity::from_bool(verdict.valid),
    };
    let origin = if verdict.certified { ValueOrigin::Sync } else { ValueOrigin::Consensus };
    (value, origin)
}

pub(crate) const fn to_timeout_kind(step: Step) -> malachite::TimeoutKind {
    match step {
        Step::Propose => malachite::TimeoutKind::Propose,
        Step::Prevote => malachite::TimeoutKind::Prevote,
        Step::Precommit => malachite::TimeoutKind::Precommit,
    }
}

pub(crate) const fn step(kind: malachite::TimeoutKind) -> Option<Step> {
    match kind {
        malachite::TimeoutKind::Propose => Some(Step::Propose),
        malachite::TimeoutKind::Prevote => Some(Step::Prevote),
        malachite::TimeoutKind::Precommit => Some(Step::Precommit),
        malachite::TimeoutKind::Rebroadcast | malachite::TimeoutKind::FinalizeHeight(_) => None,
    }
}

/// Returns the record of an input that the core wants logged.
///
/// # Panics
/// For inputs that it never logs.
pub(crate) fn record(height: Height, input: &Input<Ctx>) -> Record {
    match input {
        Input::Vote(vote) => Record::Vote(signed_vote(vote)),
        Input::Proposal(proposal) => Record::Proposal(signed_proposal(proposal)),
        Input::ProposedValue(value, origin) => Record::Verdict(verdict(value, *origin)),
        Input::PolkaCertificate(certificate) => Record::Polka(polka(certificate)),
        Input::TimeoutElapsed(timeout) => Record::Timeout(Timeout {
            height,
            round: round(timeout.round),
            step: step(timeout.kind).expect("the core logs the timeouts of steps only"),
        }),
        Input::StartHeight(..)
        | Input::RoundCertificate(_)
        | Input::Propose(_)
        | Input::SyncValueResponse(_) => unreachable!("the core does not log {input:?}"),
    }
}

/// Returns the input that a record of the log stands for, or none for records that are not the
/// core's.
pub(crate) fn to_input(record: &Record) -> Option<Input<Ctx>> {
    Some(match record {
        Record::Vote(vote) => Input::Vote(to_signed_vote(vote)),
        Record::Proposal(proposal) => Input::Proposal(to_signed_proposal(proposal)),
        Record::Verdict(verdict) => {
            let (value, origin) = to_verdict(verdict);
            Input::ProposedValue(value, origin)
        }
        Record::Polka(polka) => Input::PolkaCertificate(to_polka(polka)),
        Record::Timeout(timeout) => Input::TimeoutElapsed(malachite::Timeout::new(
            to_round(timeout.round),
            to_timeout_kind(timeout.step),
        )),
        Record::Turn(_)
        | Record::Early(_)
        | Record::Decided(_)
        | Record::Applied { .. }
        | Record::Voice
        | Record::Silence
        | Record::Healed { .. }
        | Record::Recovered(_) => return None,
    })
}
