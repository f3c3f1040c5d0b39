//! What the core wants done while it runs: noted, or answered at once if it is about signatures.

use std::collections::BTreeSet;
use std::sync::Arc;

use arc_malachitebft_core_consensus as consensus;
use arc_malachitebft_core_types as malachite;
use consensus::{ConsensusMsg, Effect, LivenessMsg, Resumable, Resume, SignedConsensusMsg};
use malachite::{CertificateError, RoundCertificateType};
use metatopia_types::{
    Certificate, Evidence, Proposal, Sign, Signed, SimId, ValidatorSet, Vote, VoteKind,
};

use super::context::Ctx;
use super::signature_cache::SignatureCache;
use super::{CoreOutput, convert, wait_of};
use crate::config::AgreementControls;
use crate::{Message, Record};

/// What the core may use while it runs.
pub(crate) struct EffectHandler {
    pub sim: SimId,
    pub signer: Arc<dyn Sign>,
    pub signatures: SignatureCache,
    pub says: Vec<CoreOutput>,
    pub controls: AgreementControls,
    /// The last proposal that came without a quorum of prevotes; only a broken rule looks at it.
    pub fresh: Option<Proposal>,
}

impl EffectHandler {
    pub(crate) fn carry_out(&mut self, effect: Effect<Ctx>) -> Resume<Ctx> {
        match effect {
            Effect::CancelAllTimeouts(r) => self.note(CoreOutput::StopAllWaits, r),
            Effect::CancelTimeout(t, r) => self.note(CoreOutput::StopWaiting(wait_of(t)), r),
            Effect::ScheduleTimeout(t, r) => self.note(CoreOutput::Wait(wait_of(t)), r),
            Effect::StartRound(.., r) => r.resume_with(()),
            Effect::PublishConsensusMsg(message, r) => {
                let message = match message {
                    SignedConsensusMsg::Vote(v) => Message::Vote(convert::signed_vote(&v)),
                    SignedConsensusMsg::Proposal(p) => {
                        Message::Proposal(convert::signed_proposal(&p))
                    }
                };
                self.note(CoreOutput::Publish(message), r)
            }
            Effect::PublishLivenessMsg(message, r) => {
                let message = match message {
                    LivenessMsg::Vote(v) => Message::Vote(convert::signed_vote(&v)),
                    LivenessMsg::PolkaCertificate(p) => Message::Polka(convert::polka(&p)),
                    LivenessMsg::SkipRoundCertificate(c) => {
                        Message::RoundProof(convert::round_proof(&c))
                    }
                };
                self.note(CoreOutput::Publish(message), r)
            }
            Effect::RepublishVote(v, r) => {
                self.note(CoreOutput::Publish(Message::Vote(convert::signed_vote(&v))), r)
            }
            Effect::RepublishRoundCertificate(c, r) => {
                self.note(CoreOutput::Publish(Message::RoundProof(convert::round_proof(&c))), r)
            }
            Effect::RestreamProposal(_, _, _, _, id, r) => self.note(CoreOutput::Restream(id.0), r),
            Effect::GetValue(_, round, _, r) => {
                self.note(CoreOutput::Build(convert::round(round)), r)
            }
            Effect::WalAppend(height, input, r) => {
                let record = convert::record(height.0, &input);
                self.remember(&record);
                self.note(CoreOutput::Log(record), r)
            }
            Effect::CertVerifiedSyncValue(value, proposer, r) => {
                let says = CoreOutput::Certified {
                    round: convert::round(value.certificate.round),
                    proposer: proposer.0,
                    header: value.certificate.value_id.0,
                };
                self.note(says, r)
            }
            Effect::CertRejectedSyncValue(_, height, _, r) => {
                self.note(CoreOutput::BadCertificate(height.0), r)
            }
            // The same certificate comes with `Finalize`, at once.
            Effect::Decide(_, _, r) => r.resume_with(()),
            Effect::Finalize(certificate, _, evidence, r) => {
                let certificate = convert::certificate(&certificate);
                self.note(CoreOutput::Decided(certificate, evidence_of(&evidence)), r)
            }
            seal => self.seal(seal),
        }
    }

    fn note(&mut self, says: CoreOutput, resume: impl Resumable<Ctx, Value = ()>) -> Resume<Ctx> {
        self.says.push(says);
        resume.resume_with(())
    }

    /// Signs or checks what the core asks for.
    fn seal(&mut self, effect: Effect<Ctx>) -> Resume<Ctx> {
        match effect {
            Effect::SignVote(vote, r) => {
                let vote = self.unlocked(convert::vote(&vote));
                let signed = vote.sign(self.sim, self.signer.as_ref());
                let bytes = signed.message.sign_bytes(self.sim);
                self.signatures.trust(&signed.message.voter, &bytes, &signed.signature);
                r.resume_with(convert::to_signed_vote(&signed))
            }
            Effect::SignProposal(proposal, r) => {
                let signed = self.sign_proposal(convert::proposal(&proposal));
                r.resume_with(convert::to_signed_proposal(&signed))
            }
            Effect::VerifySignature(signed, key, r) => {
                let bytes = match &signed.message {
                    ConsensusMsg::Vote(v) => convert::vote(v).sign_bytes(self.sim),
                    ConsensusMsg::Proposal(p) => convert::proposal(p).sign_bytes(self.sim),
                };
                r.resume_with(self.signatures.check(&key, &bytes, &signed.signature))
            }
            Effect::VerifyCommitCertificate(certificate, voters, _, r) => {
                let votes = votes_of(&convert::certificate(&certificate));
                {
                    let good = self.check_quorum(votes, &voters.set, self.quorum(&voters.set));
                    r.resume_with(good.then_some(()).ok_or_else(bad))
                }
            }
            Effect::VerifyExtendedCommitCertificate(certificate, voters, _, _, r) => {
                let certificate = convert::certificate(&certificate.trim_vote_extensions());
                let votes = votes_of(&certificate);
                {
                    let good = self.check_quorum(votes, &voters.set, self.quorum(&voters.set));
                    r.resume_with(good.then_some(()).ok_or_else(bad))
                }
            }
            Effect::VerifyPolkaCertificate(polka, voters, _, r) => {
                let votes = polka.votes(&Ctx).map(|v| convert::signed_vote(&v)).collect();
                {
                    let good = self.check_quorum(votes, &voters.set, self.quorum(&voters.set));
                    r.resume_with(good.then_some(()).ok_or_else(bad))
                }
            }
            Effect::VerifyRoundCertificate(proof, voters, _, r) => {
                let votes: Vec<_> = proof.votes(&Ctx).map(|v| convert::signed_vote(&v)).collect();
                let ended = proof.cert_type == RoundCertificateType::Precommit;
                let fits = !ended || votes.iter().all(|v| v.message.kind == VoteKind::Precommit);
                let power =
                    if ended { self.quorum(&voters.set) } else { voters.set.total_power() / 3 + 1 };
                let good = fits && self.check_quorum(votes, &voters.set, power);
                r.resume_with(good.then_some(()).ok_or_else(bad))
            }
            Effect::ExtendVote(.., r) => r.resume_with(None),
            Effect::VerifyVoteExtension(.., r) => r.resume_with(Ok(())),
            other => unreachable!("{other:?} is carried out elsewhere"),
        }
    }

    /// Returns the least power above two thirds of the whole.
    fn quorum(&self, set: &ValidatorSet) -> u64 {
        if self.controls.small_quorum { set.total_power() * 2 / 5 + 1 } else { set.quorum() }
    }

    fn remember(&mut self, record: &Record) {
        if let Record::Proposal(proposal) = record
            && self.controls.lock_ignored
        {
            self.fresh = Some(proposal.message.clone()).filter(|p| p.valid_round.is_none());
        }
    }

    /// Returns the vote of a server that ignores its lock, if this server does.
    fn unlocked(&self, mut vote: Vote) -> Vote {
        let here =
            |proposal: &&Proposal| (proposal.height, proposal.round) == (vote.height, vote.round);
        let nil = vote.kind == VoteKind::Prevote && vote.header.is_none();
        if let Some(fresh) = self.fresh.as_ref().filter(here).filter(|_| nil) {
            vote.header = Some(fresh.header);
        }
        vote
    }

    pub(crate) fn sign_proposal(&mut self, proposal: Proposal) -> Signed<Proposal> {
        let signed = proposal.sign(self.sim, self.signer.as_ref());
        let bytes = signed.message.sign_bytes(self.sim);
        self.signatures.trust(&signed.message.proposer, &bytes, &signed.signature);
        signed
    }

    /// Returns whether these are good votes of different members that have at least this power together.
    fn check_quorum(&mut self, votes: Vec<Signed<Vote>>, set: &ValidatorSet, least: u64) -> bool {
        let mut seen = BTreeSet::new();
        let mut power = 0_u64;
        for vote in votes {
            let voter = vote.message.voter;
            let member = set.get(&voter).filter(|_| seen.insert(voter));
            let bytes = vote.message.sign_bytes(self.sim);
            let good = member.filter(|_| self.signatures.check(&voter, &bytes, &vote.signature));
            let Some(member) = good else {
                return false;
            };
            power = power.saturating_add(u64::from(member.power));
        }
        power >= least
    }
}

fn bad() -> CertificateError<Ctx> {
    CertificateError::VerificationError(None)
}

fn votes_of(certificate: &Certificate) -> Vec<Signed<Vote>> {
    let signatures = certificate.signatures.iter();
    signatures
        .map(|(key, signature)| Signed { message: certificate.vote(*key), signature: *signature })
        .collect()
}

fn evidence_of(found: &consensus::MisbehaviorEvidence<Ctx>) -> Vec<Evidence> {
    let votes = found
        .votes
        .iter()
        .flat_map(|(_, pairs)| pairs)
        .map(|(a, b)| Evidence::votes(convert::signed_vote(a), convert::signed_vote(b)));
    let proposals = found.proposals.iter().flat_map(|(_, pairs)| pairs);
    // A proposal that is judged again after its proposer spoke twice comes paired with itself.
    let proposals = proposals.filter(|(a, b)| a.message != b.message).map(|(a, b)| {
        Evidence::proposals(convert::signed_proposal(a), convert::signed_proposal(b))
    });
    votes.chain(proposals).collect()
}
