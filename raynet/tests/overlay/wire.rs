//! One golden digest and size per message. A change here is a change of the wire: members of two versions
//! no longer understand each other, and it belongs in the change log.

use metatopia_raynet::{
    EvidencePull, EvidenceSubject, GossipLayer, NearerSites, OverlayEvidence, OverlayMessage,
    TilePoint, TipExchange,
};
use metatopia_types::{Digest, PlaneBlock};

use crate::town::{Town, beacon, grant, record, shelf, signed, square};

/// Returns a message of each kind, with what it is called.
pub(crate) fn messages() -> Vec<(&'static str, OverlayMessage)> {
    let point = TilePoint { x: i32::MIN, y: i32::MAX };
    let at = square(2, -2);
    let tip = signed(1, at).tip();
    let half = |layer| TipExchange { layer, own: Some(tip), tips: vec![tip; 10] };
    let block = PlaneBlock::around(TilePoint { x: 2, y: -2 }, PlaneBlock::DOUBLINGS_MAX - 1);
    let proof = shelf(block, 100, vec![grant(1, at)]).proof.clone();
    let mut second = record(1, at);
    second.clients = 3;
    let records = OverlayEvidence::Records {
        first: Box::new(signed(1, at)),
        second: Box::new(second.sign(&beacon(1))),
        shelf: proof.clone(),
    };
    let empty = shelf(block, 100, Vec::new()).proof.clone();
    let shelves = OverlayEvidence::Shelves { first: proof.clone(), second: empty };
    let about = EvidenceSubject { subject: Digest([7; 32]), rank: 3 };
    let owner = Some(Box::new(signed(2, square(4, 4))));
    let nearer = vec![signed(1, at); 3];
    let answer = NearerSites { nonce: u64::MAX, nearer, owner, shelf: proof.clone() };
    vec![
        ("exchange", OverlayMessage::Exchange(half(GossipLayer::Neighbours))),
        ("answer", OverlayMessage::Answer(half(GossipLayer::Samples))),
        ("want", OverlayMessage::Want(vec![Town::name(1), Town::name(2)])),
        ("records", OverlayMessage::Records(vec![signed(1, at)])),
        ("want shelves", OverlayMessage::WantShelves(vec![point])),
        ("shelf", OverlayMessage::Shelf(proof)),
        ("seek", OverlayMessage::Seek { nonce: 1 << 63, point, most: 3, map: true }),
        ("nearer", OverlayMessage::Nearer(answer)),
        ("evidence of records", OverlayMessage::Evidence(records)),
        ("evidence of shelves", OverlayMessage::Evidence(shelves)),
        ("pull: ask", OverlayMessage::Pull(EvidencePull::Ask)),
        ("pull: kept", OverlayMessage::Pull(EvidencePull::Kept(vec![about; 2]))),
        ("pull: want", OverlayMessage::Pull(EvidencePull::Want(vec![about.subject]))),
    ]
}

#[test]
fn every_message_has_its_golden_size_and_digest() {
    let row = |(name, message): (&str, OverlayMessage)| {
        let bytes = message.encode();
        let digest = Digest::of("metatopia golden overlay v1", &bytes).to_string();
        format!("{} {:>5} {name}\n", &digest[..16], bytes.len())
    };
    let now: String = messages().into_iter().map(row).collect();
    assert_eq!(now, include_str!("wire.txt"), "the wire changed; new table:\n{now}");
}
