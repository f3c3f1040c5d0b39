//! One golden digest for every kind of message and record: what is written today is read tomorrow.

use std::sync::Arc;

use metatopia_types::{
    Certificate, Digest, HeaderId, Height, Millis, Proposal, Recovery, Root, Round, Sign,
    SignedRecovery, Turn, TurnBody, Vote, VoteKind,
};

use super::keys::{Key, header, key, set, sim};
use crate::limits::{MESSAGE_BYTES_MAX, RECORD_BYTES_MAX};
use crate::{
    Base, Decision, JoinPack, Link, Message, Part, Polka, Record, RoundProof, RoundVote, Shows,
    Step, Timeout, TurnVerdict, Want,
};

fn turn() -> Turn {
    Turn { header: header(5), body: TurnBody::default() }
}

fn vote(kind: VoteKind, header: Option<HeaderId>) -> Vote {
    Vote { kind, height: Height(5), round: Round(2), header, voter: key(1) }
}

fn proposal() -> metatopia_types::Signed<Proposal> {
    let proposal = Proposal {
        height: Height(5),
        round: Round(2),
        header: turn().id(),
        valid_round: Some(Round(1)),
        proposer: key(0),
    };
    proposal.sign(sim(), &Key(key(0)))
}

fn certificate() -> Certificate {
    let signature = Key(key(1)).sign(b"anything");
    Certificate {
        height: Height(5),
        round: Round(2),
        header: turn().id(),
        signatures: vec![(key(1), signature), (key(2), signature)],
    }
}

fn polka() -> Polka {
    Polka {
        height: Height(5),
        round: Round(2),
        header: turn().id(),
        signatures: certificate().signatures,
    }
}

fn decision() -> Decision {
    Decision { certificate: certificate(), turn: Arc::new(turn()) }
}

fn messages() -> Vec<Message> {
    let precommit = vote(VoteKind::Precommit, None).sign(sim(), &Key(key(1)));
    let signature = precommit.signature;
    let round_vote = |kind, header| RoundVote { kind, header, voter: key(1), signature };
    vec![
        Message::Proposal(proposal()),
        Message::Vote(precommit),
        Message::Polka(polka()),
        Message::RoundProof(RoundProof {
            height: Height(5),
            round: Round(2),
            shows: Shows::Begun,
            votes: vec![
                round_vote(VoteKind::Prevote, Some(turn().id())),
                round_vote(VoteKind::Precommit, None),
            ],
        }),
        Message::Part(Part {
            height: Height(5),
            header: turn().id(),
            index: 1,
            total: 2,
            bytes: vec![7; 100],
        }),
        Message::Want(Want { height: Height(5), header: turn().id(), have: 0b101 }),
        Message::Ask { from: Height(5) },
        Message::Decision(decision()),
        Message::AskTip { nonce: 77 },
        Message::Tip { nonce: 77, height: Height(5) },
    ]
}

fn recovery() -> SignedRecovery {
    let recovery = Recovery {
        sim: sim(),
        engine: 2,
        number: 1,
        height: Height(5),
        header: turn().id(),
        roots: [Root(Digest([3; 32])), Root(Digest([4; 32]))],
    };
    let mut signed = SignedRecovery::new(recovery);
    (0..3).for_each(|n| signed.sign(&Key(key(n))));
    signed
}

fn records() -> Vec<Record> {
    vec![
        Record::Turn(Arc::new(turn())),
        Record::Vote(vote(VoteKind::Prevote, Some(turn().id())).sign(sim(), &Key(key(1)))),
        Record::Proposal(proposal()),
        Record::Verdict(TurnVerdict {
            height: Height(5),
            round: Round(2),
            valid_round: Some(Round(1)),
            proposer: key(0),
            header: turn().id(),
            valid: true,
            certified: false,
        }),
        Record::Timeout(Timeout { height: Height(5), round: Round(2), step: Step::Precommit }),
        Record::Polka(polka()),
        Record::Early(proposal()),
        Record::Decided(certificate()),
        Record::Applied {
            height: Height(5),
            root: Root(Digest([3; 32])),
            validators: Some(set(0..4)),
        },
        Record::Voice,
        Record::Silence,
        Record::Healed { from: Height(5) },
        Record::Recovered(Box::new(recovery())),
    ]
}

fn sum(bytes: &[u8]) -> (usize, String) {
    (bytes.len(), blake3::hash(bytes).to_hex()[..16].to_owned())
}

#[test]
fn every_message_has_its_golden_form() {
    let found: Vec<_> = messages().iter().map(|message| sum(&message.encode())).collect();

    let golden = [
        (133, "6309b97dbb5a0c2b"),
        (101, "0a3768464c17e061"),
        (228, "a0701783f47e4814"),
        (233, "a8b10534ec7b2112"),
        (137, "61b1ce8d911c07ed"),
        (35, "af6791e1a1495499"),
        (2, "a1e9b00615e8a7ab"),
        (530, "9c73a71bac9e329c"),
        (2, "34b6acc191ddef60"),
        (3, "b1c95937a5730ed9"),
    ];
    assert_eq!(found, golden.map(|(len, hash)| (len, hash.to_owned())));
}

#[test]
fn every_record_has_its_golden_form() {
    let found: Vec<_> = records().iter().map(|record| sum(&record.encode())).collect();

    let golden = [
        (303, "601d55116b4d7a59"),
        (133, "f11dd8b77a06537d"),
        (133, "b80998408de4d225"),
        (71, "114746c1b0b2c09c"),
        (4, "cbbb348a3d89cc1a"),
        (228, "20c194dbca5c4c18"),
        (133, "5576ebfae40597a3"),
        (228, "aaacf151655895bf"),
        (173, "c42aabe6c21b031b"),
        (1, "7219aa1099ced744"),
        (1, "295192ea1ec8566d"),
        (2, "b9bbeb6698c74924"),
        (421, "fd76e86e52140385"),
    ];
    assert_eq!(found, golden.map(|(len, hash)| (len, hash.to_owned())));
}

#[test]
fn bases_and_join_packs_have_their_golden_form() {
    let link =
        Link { header: header(4), certificate: certificate(), next: set(0..5).members().to_vec() };
    let pack = JoinPack {
        links: vec![link.clone()],
        headers: [header(5), header(6), header(7)],
        certificate: certificate(),
    };
    let genesis = Base::genesis(Millis(7), Root(Digest::ZERO), &set(0..4));
    let base = Base { links: vec![link], ..genesis };

    let found = [metatopia_types::wire::encode(&pack), metatopia_types::wire::encode(&base)];

    let golden = [(1817, "a0f89d484ca52843"), (1206, "aef6d40da063cbb2")];
    assert_eq!(
        found.iter().map(|bytes| sum(bytes)).collect::<Vec<_>>(),
        golden.map(|(len, hash)| (len, hash.to_owned()))
    );
}

#[test]
fn messages_and_records_read_back() {
    for message in messages() {
        assert_eq!(Message::decode(&message.encode()), Ok(message));
    }
    for record in records() {
        assert_eq!(Record::decode(&record.encode()), Ok(record));
    }
}

#[test]
fn every_record_but_voice_and_silence_names_its_height() {
    for record in records() {
        let whole = matches!(record, Record::Voice | Record::Silence);
        let expected = (!whole).then_some(Height(5));
        assert_eq!(record.height(), expected, "{record:?}");
    }
}

#[test]
fn messages_and_records_above_their_limit_are_refused_unread() {
    let (message, record) = (vec![0; MESSAGE_BYTES_MAX + 1], vec![0; RECORD_BYTES_MAX + 1]);

    let oversize = |error| matches!(error, metatopia_types::wire::DecodeError::Oversize { .. });
    assert!(oversize(Message::decode(&message).unwrap_err()));
    assert!(oversize(Record::decode(&record).unwrap_err()));
}

proptest::proptest! {
    #[test]
    fn arbitrary_bytes_never_panic_a_decoder(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
        // The first byte names the kind: all of them get their turn.
        for kind in 0..12 {
            let mut bytes = bytes.clone();
            if let Some(first) = bytes.first_mut() {
                *first = kind;
            }
            if let Ok(message) = Message::decode(&bytes) {
                proptest::prop_assert_eq!(message.encode(), bytes.clone());
            }
            if let Ok(record) = Record::decode(&bytes) {
                proptest::prop_assert_eq!(record.encode(), bytes);
            }
        }
    }
}
