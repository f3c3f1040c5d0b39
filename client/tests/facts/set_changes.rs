//! Proofs by servers that are not known yet: the changes of the set are followed first.

use metatopia_client::{Distrust, PENDING_MAX, SessionEvent, UNCHECKED_MAX};
use metatopia_protocol::*;
use metatopia_types::*;

use crate::stand::{Stand, Watcher, certificate, set};
use crate::talk::Talk;

const OLD: [u8; 4] = [200, 201, 202, 203];
const NEW: [u8; 4] = [201, 202, 203, 204];

/// The proof with its header stating, and signed by, these servers.
fn by(mut proof: ViewProof, members: &[u8]) -> ViewProof {
    proof.header.validators = set(members).id();
    proof.certificate = certificate(&proof.header, members);
    proof
}

/// The change to these servers in the turn before the proof's.
fn link(stand: &Stand, proof: &ViewProof, next: &[u8]) -> ValidatorSetLink {
    let mut header = stand.proof(proof.of, &[]).header;
    header.height = proof.header.height.minus(1).expect("a height");
    header.next_validators = set(next).id();
    let certificate = certificate(&header, &OLD);
    ValidatorSetLink { header, certificate, next: set(next) }
}

fn asked(said: &[ClientMessage]) -> u32 {
    match said {
        [ClientMessage::Ask { id, question: Question::Links { after } }] => {
            assert_eq!(*after, Height(0));
            *id
        }
        other => panic!("{other:?} where links are asked for"),
    }
}

fn setting() -> (Stand, Talk, ViewProof) {
    let mut stand = Stand::new();
    stand.enter();
    let (mut talk, mut watcher) = (Talk::watching(&stand), Watcher::default());
    let of = talk.see(&mut stand, &mut watcher);
    let proof = by(stand.proof(of, &stand.tiles()), &NEW);
    (stand, talk, proof)
}

#[test]
fn a_proof_by_new_servers_waits_until_the_change_was_followed() {
    let (stand, mut talk, proof) = setting();
    talk.tell(&ServerMessage::ViewProof(Box::new(proof.clone())));
    let (said, events) = talk.drain();
    let id = asked(&said);
    assert_eq!(events, []);

    let answer = Box::new(Answer::Links(vec![link(&stand, &proof, &NEW)]));
    talk.tell(&ServerMessage::Answer { id, answer });

    let [SessionEvent::Proven(proven)] = &talk.events()[..] else { panic!("not proved") };
    assert_eq!(proven.header, proof.header);
    assert_eq!(talk.session.light().newest(), proof.header.height);
}

#[test]
fn a_change_that_the_old_servers_did_not_sign_is_a_lie() {
    let (stand, mut talk, proof) = setting();
    talk.tell(&ServerMessage::ViewProof(Box::new(proof.clone())));
    let id = asked(&talk.said());
    let mut forged = link(&stand, &proof, &NEW);
    forged.certificate = certificate(&forged.header, &[201, 202, 203, 204]);

    talk.tell(&ServerMessage::Answer { id, answer: Box::new(Answer::Links(vec![forged])) });
    assert!(matches!(
        &talk.events()[..],
        [SessionEvent::Distrusted(Distrust::Certificate(CertificateError::Stranger(_)))]
    ));
}

#[test]
fn servers_that_no_change_leads_to_are_a_lie() {
    let (_, mut talk, proof) = setting();
    let height = proof.header.height;
    talk.tell(&ServerMessage::ViewProof(Box::new(proof)));
    let id = asked(&talk.said());
    talk.tell(&ServerMessage::Answer { id, answer: Box::new(Answer::Links(Vec::new())) });
    assert_eq!(talk.events(), [SessionEvent::Distrusted(Distrust::OtherValidators(height))]);
}

#[test]
fn changes_are_asked_for_once_and_so_many_proofs_wait() {
    let (stand, mut talk, proof) = setting();
    talk.tell(&ServerMessage::ViewProof(Box::new(proof.clone())));
    let id = asked(&talk.said());
    for _ in 0..UNCHECKED_MAX + 3 {
        assert_eq!(talk.proof(proof.clone()), []);
        assert_eq!(talk.said(), []);
    }
    let answer = Box::new(Answer::Links(vec![link(&stand, &proof, &NEW)]));
    talk.tell(&ServerMessage::Answer { id, answer });
    assert!(matches!(&talk.events()[..], [SessionEvent::Proven(_)]), "each height is told once");
}

#[test]
fn a_node_too_busy_for_links_is_asked_again_with_the_next_proof() {
    let (_, mut talk, proof) = setting();
    talk.tell(&ServerMessage::ViewProof(Box::new(proof.clone())));
    let id = asked(&talk.said());
    talk.tell(&ServerMessage::Answer { id, answer: Box::new(Answer::Busy) });
    assert_eq!(talk.drain(), (Vec::new(), Vec::new()));
    talk.tell(&ServerMessage::ViewProof(Box::new(proof)));
    asked(&talk.said());
}

/// Returns what says that an act is in the turn of this header. Its place there proves nothing.
fn receipt_by(proof: &ViewProof) -> Receipt {
    let place = merkle::Proof { index: 0, count: 1, path: Vec::new() };
    Receipt { header: proof.header.clone(), certificate: proof.certificate.clone(), place }
}

/// A client came from a server that had shown it a receipt of after a change to one that was some turns
/// behind, and took that one for a liar, as it knew of no such change (crossing seed 430).
#[test]
fn a_server_that_is_behind_is_not_blamed_for_a_receipt_of_the_server_before() {
    let (mut stand, mut talk, proof) = setting();
    let act = talk.submitted(Act::Heartbeat);
    talk.drain();
    let mut later = proof;
    later.header.height = later.header.height.plus(20);
    let receipt = Box::new(receipt_by(&by(later, &[202, 203, 204, 205])));
    talk.tell(&ServerMessage::Receipt { act, receipt });
    asked(&talk.said());

    talk.connect(stand.height());
    talk.drain();
    let of = talk.see(&mut stand, &mut Watcher::default());
    let proof = by(stand.proof(of, &stand.tiles()), &NEW);
    talk.tell(&ServerMessage::ViewProof(Box::new(proof.clone())));
    let id = asked(&talk.said());
    let answer = Box::new(Answer::Links(vec![link(&stand, &proof, &NEW)]));
    talk.tell(&ServerMessage::Answer { id, answer });
    let (said, events) = talk.drain();
    assert!(matches!(events[..], [SessionEvent::Proven(_)]), "{events:?}");
    assert_eq!(said, [], "of the receipt no change is asked for");
}

/// A client whose connections broke, again and again, before it was told of a change kept the same
/// receipts until there was no room, and then took each server for a liar (whole seed 10).
#[test]
fn receipts_that_come_again_with_each_connection_are_no_lie_and_wait_once() {
    let (stand, mut talk, proof) = setting();
    let act = talk.submitted(Act::Heartbeat);
    let height = proof.header.height;
    let message = ServerMessage::Receipt { act, receipt: Box::new(receipt_by(&proof)) };
    talk.drain();

    for _ in 0..PENDING_MAX + 1 {
        talk.tell(&message);
        let (said, events) = talk.drain();
        asked(&said);
        assert_eq!(events, []);
        talk.session.disconnected();
        talk.connect(stand.height());
        talk.drain();
    }

    talk.tell(&message);
    let id = asked(&talk.said());
    talk.tell(&ServerMessage::Answer { id, answer: Box::new(Answer::Links(Vec::new())) });
    assert_eq!(talk.events(), [SessionEvent::Distrusted(Distrust::OtherValidators(height))]);
}
