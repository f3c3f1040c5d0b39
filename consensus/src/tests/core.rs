//! The core's nouns are ours, and it believes what we would believe.

use std::sync::Arc;

use metatopia_types::{
    Certificate, Digest, HeaderId, Height, Proposal, Round, Sign, Signed, ValidatorSet, Vote,
    VoteKind,
};
use proptest::prelude::*;

use super::keys::{Key, StandIn, key, set, signer, sim};
use crate::config::AgreementControls;
use crate::core::{Core, CoreInput, CoreOutput};
use crate::{Message, Polka, Record, RoundProof, RoundVote, Shows, TurnVerdict};

fn header(n: u8) -> HeaderId {
    HeaderId(Digest::of("core tests", &[n]))
}

/// Server 0's core at height 5 of a set of four.
fn core_of(set: &ValidatorSet) -> Core {
    let set = Arc::new(set.clone());
    let mut core = Core::new(
        sim(),
        Height(5),
        Arc::clone(&set),
        signer(0),
        Arc::new(StandIn),
        AgreementControls::default(),
    );
    core.tell(CoreInput::Height(Height(5), set)).unwrap();
    core
}

fn logged(says: &[CoreOutput]) -> Vec<Record> {
    let records = says.iter().filter_map(|says| match says {
        CoreOutput::Log(record) => Some(record.clone()),
        _ => None,
    });
    records.collect()
}

fn vote(voter: u8, kind: VoteKind, header: Option<HeaderId>) -> Signed<Vote> {
    let vote = Vote { kind, height: Height(5), round: Round(0), header, voter: key(voter) };
    vote.sign(sim(), &Key(key(voter)))
}

/// A certificate with one fault or none.
fn certificate(signers: &[u8], fault: u8) -> Certificate {
    let mut certificate = Certificate {
        height: Height(5),
        round: Round(0),
        header: header(1),
        signatures: Vec::new(),
    };
    for n in signers {
        let bytes = certificate.vote(key(*n)).sign_bytes(sim());
        certificate.signatures.push((key(*n), Key(key(*n)).sign(&bytes)));
    }
    let first = certificate.signatures.first().copied();
    match (fault, first) {
        (1, Some(first)) => certificate.signatures.push(first),
        (2, Some((who, _))) => certificate.signatures[0] = (who, Key(key(9)).sign(b"else")),
        (3, _) => {
            let bytes = certificate.vote(key(8)).sign_bytes(sim());
            certificate.signatures.push((key(8), Key(key(8)).sign(&bytes)));
        }
        _ => {}
    }
    certificate
}

proptest! {
    #[test]
    fn the_core_believes_a_certificate_when_the_types_do(
        signers in proptest::sample::subsequence(vec![0_u8, 1, 2, 3, 4, 5, 6], 0..=7),
        fault in 0_u8..4,
    ) {
        let set = set(0..7);
        let certificate = certificate(&signers, fault);

        let says = core_of(&set).tell(CoreInput::Certificate(certificate.clone())).unwrap();

        let believed = says.iter().any(|says| matches!(says, CoreOutput::Certified { .. }));
        let refused = says.iter().any(|says| matches!(says, CoreOutput::BadCertificate(_)));
        let good = certificate.verify(sim(), &set, &StandIn).is_ok();
        prop_assert_eq!((believed, refused), (good, !good), "{:?}", says);
    }

    #[test]
    fn the_core_asks_the_set_who_proposes(height in 1_u64..1_000, members in 1_u8..9, demoted in 0_u8..9) {
        let members = set(0..members).members().to_vec();
        let set = ValidatorSet::new(members, |who| *who != key(demoted)).unwrap();
        let set = Arc::new(set);
        let me = set.proposer(Height(height), Round(0));
        let n = me.0[0] - 1;
        let (height, scheme) = (Height(height), Arc::new(StandIn));
        let mut core = Core::new(sim(), height, Arc::clone(&set), signer(n), scheme, AgreementControls::default());

        let says = core.tell(CoreInput::Height(height, set)).unwrap();

        prop_assert!(says.iter().any(|says| matches!(says, CoreOutput::Build(Round(0)))));
    }
}

#[test]
fn later_rounds_are_led_by_members_that_may_not_lead_the_first() {
    let members = set(0..4).members().to_vec();
    let set = ValidatorSet::new(members, |who| *who == key(1)).unwrap();
    let mut core = core_of(&set);

    // All others say that round 2 has begun: by then the only leader had its round.
    for voter in [1, 2, 3] {
        let vote = Vote { round: Round(2), ..vote(voter, VoteKind::Prevote, None).message };
        let vote = vote.sign(sim(), &Key(key(voter)));
        core.tell(CoreInput::Vote(vote)).unwrap();
    }

    assert_eq!(core.round(), Some(Round(2)));
    assert_eq!(set.proposer(Height(5), Round(2)), key(3));
}

#[test]
fn what_the_core_logs_is_what_it_was_told() {
    let set = set(0..4);
    let proposer = set.proposer(Height(5), Round(0));
    let n = proposer.0[0] - 1;
    let mut core = core_of(&set);
    let proposal = Proposal {
        height: Height(5),
        round: Round(0),
        header: header(1),
        valid_round: None,
        proposer,
    };
    let proposal = proposal.sign(sim(), &Key(key(n)));
    let verdict = TurnVerdict {
        height: Height(5),
        round: Round(0),
        valid_round: None,
        proposer,
        header: header(1),
        valid: true,
        certified: false,
    };

    let prevote = vote(2, VoteKind::Prevote, Some(header(1)));
    let told = [
        (CoreInput::Vote(prevote.clone()), Record::Vote(prevote)),
        (CoreInput::Proposal(proposal.clone()), Record::Proposal(proposal)),
        (CoreInput::Record(Record::Verdict(verdict)), Record::Verdict(verdict)),
    ];
    for (told, record) in told {
        assert_eq!(logged(&core.tell(told).unwrap())[0], record);
    }
}

#[test]
fn our_votes_are_signed_over_the_bytes_of_the_types() {
    let set = set(0..4);
    let mut core = core_of(&set);

    let wait = crate::core::Wait { round: Round(0), step: Some(crate::Step::Propose) };
    let says = core.tell(CoreInput::Over(wait)).unwrap();

    let published = says.iter().find_map(|says| match says {
        CoreOutput::Publish(Message::Vote(vote)) => Some(vote),
        _ => None,
    });
    let nil = published.unwrap();
    assert_eq!(nil.message, vote(0, VoteKind::Prevote, None).message);
    assert!(nil.verify(sim(), &StandIn));
}

#[test]
fn a_polka_is_believed_from_a_quorum_only() {
    let set = set(0..4);
    for (signers, believed) in [(2, false), (3, true)] {
        let votes = (1..=signers).map(|n| (n, vote(n, VoteKind::Prevote, Some(header(1)))));
        let polka = Polka {
            height: Height(5),
            round: Round(0),
            header: header(1),
            signatures: votes.map(|(n, vote)| (key(n), vote.signature)).collect(),
        };
        let mut core = core_of(&set);

        let says = core.tell(CoreInput::Polka(polka.clone())).unwrap();

        let expected = believed.then_some(Record::Polka(polka));
        assert_eq!(logged(&says).first(), expected.as_ref());
        assert_eq!(core.has_polka(header(1)), believed);
    }
}

fn round_proof(shows: Shows, kind: VoteKind, voters: core::ops::RangeInclusive<u8>) -> RoundProof {
    let votes = voters.map(|n| RoundVote {
        kind,
        header: None,
        voter: key(n),
        signature: vote(n, kind, None).signature,
    });
    RoundProof { height: Height(5), round: Round(0), shows, votes: votes.collect() }
}

#[test]
fn a_round_ends_by_precommits_of_a_quorum_only() {
    let set = set(0..4);
    let cases = [
        (VoteKind::Precommit, 1..=2, 0),
        (VoteKind::Prevote, 1..=3, 0),
        (VoteKind::Precommit, 1..=3, 3),
    ];
    for (kind, voters, accepted) in cases {
        let proof = round_proof(Shows::Ended, kind, voters);

        let says = core_of(&set).tell(CoreInput::RoundProof(proof)).unwrap();

        let votes = logged(&says).into_iter().filter(|r| matches!(r, Record::Vote(_)));
        assert_eq!(votes.count(), accepted, "{kind:?}");
    }
}

#[test]
fn a_known_signature_is_not_checked_again() {
    use core::sync::atomic::{AtomicUsize, Ordering};
    use metatopia_types::{PublicKey, Signature, Verify};

    struct Counting(Arc<AtomicUsize>);
    impl Verify for Counting {
        fn verify(&self, key: &PublicKey, message: &[u8], signature: &Signature) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed);
            StandIn.verify(key, message, signature)
        }
        fn is_key(&self, key: &PublicKey) -> bool {
            StandIn.is_key(key)
        }
    }
    let checks = Arc::new(AtomicUsize::new(0));
    let set = Arc::new(set(0..4));
    let scheme = Arc::new(Counting(Arc::clone(&checks)));
    let controls = AgreementControls::default();
    let mut core = Core::new(sim(), Height(5), Arc::clone(&set), signer(0), scheme, controls);
    core.tell(CoreInput::Height(Height(5), set)).unwrap();
    for voter in 1..4 {
        core.tell(CoreInput::Vote(vote(voter, VoteKind::Precommit, Some(header(1))))).unwrap();
    }
    assert_eq!(checks.load(Ordering::Relaxed), 3);

    // The same signatures as a certificate.
    let says = core.tell(CoreInput::Certificate(certificate(&[1, 2, 3], 0))).unwrap();

    assert!(says.iter().any(|says| matches!(says, CoreOutput::Certified { .. })));
    assert_eq!(checks.load(Ordering::Relaxed), 3);
}

/// A turn was void at first, its proposer spoke a second time, and a quorum made the turn valid: its
/// proposal was then shown as evidence together with itself, which proves nothing.
#[test]
fn a_proposal_that_is_judged_again_is_no_evidence_against_its_proposer() {
    let set = set(0..4);
    let proposer = set.proposer(Height(5), Round(0));
    let n = proposer.0[0] - 1;
    let mut core = core_of(&set);
    let propose = |turn| {
        let (height, round, valid_round) = (Height(5), Round(0), None);
        let proposal = Proposal { height, round, header: header(turn), valid_round, proposer };
        CoreInput::Proposal(proposal.sign(sim(), &Key(key(n))))
    };
    let judge = |turn, valid| {
        let (height, round, valid_round) = (Height(5), Round(0), None);
        let (header, certified) = (header(turn), false);
        let verdict =
            TurnVerdict { height, round, valid_round, proposer, header, valid, certified };
        CoreInput::Record(Record::Verdict(verdict))
    };
    let others = [1, 2, 3];
    let say = |kind| others.map(|voter| CoreInput::Vote(vote(voter, kind, Some(header(1)))));

    let mut told = vec![propose(1), judge(1, false), propose(2), judge(2, false)];
    told.extend(say(VoteKind::Prevote));
    told.push(judge(1, true));
    told.extend(say(VoteKind::Precommit));
    let says: Vec<CoreOutput> =
        told.into_iter().flat_map(|told| core.tell(told).unwrap()).collect();

    let decided = says.iter().find_map(|says| match says {
        CoreOutput::Decided(_, evidence) => Some(evidence),
        _ => None,
    });
    let evidence = decided.expect("a quorum precommitted");
    assert!(!evidence.is_empty(), "it did speak twice");
    for found in evidence {
        assert_eq!(found.verify(sim(), &StandIn), Ok(proposer), "{found:?}");
    }
}
