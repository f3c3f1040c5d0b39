//! Frames of the overlay to begin from: one of each kind.

use metatopia_raynet::{
    DialBackMessage, DialBackOutcome, GossipLayer, NearerSites, OverlayEvidence, OverlayMessage,
    SignedSiteRecord, SiteAbout, SiteEndpoint, SiteEpoch, SiteRecord, SiteTip, TilePoint,
    TipExchange,
};
use metatopia_types::{Digest, Millis, Sign as _, SigningKey, SimId, Square};

/// Returns a record of a site of two endpoints, which its beacon has signed.
fn record(clients: u32) -> SignedSiteRecord {
    let beacon = SigningKey::from_seed([7; 32]);
    let endpoint = |n: u8| SiteEndpoint {
        peer: SigningKey::from_seed([n; 32]).public(),
        address: format!("/ip4/192.0.2.{n}/tcp/4001"),
    };
    let record = SiteRecord {
        world: SimId(Digest([1; 32])),
        sim: SimId(Digest([2; 32])),
        square: Square { x: -4, y: 8, doublings: 1 },
        endpoints: vec![endpoint(1), endpoint(2)],
        clients,
        about: SiteAbout { label: "a place".to_owned(), licence: "AGPL-3.0-or-later".to_owned() },
        epoch: SiteEpoch { grant: 3, record: 70_000 },
        expires: Millis(1_800_000_000_000),
    };
    record.sign(&beacon)
}

/// Returns a frame of each kind.
pub(crate) fn frames() -> Vec<Vec<u8>> {
    let (first, second) = (record(5), record(6));
    let square = Square { x: 64, y: 0, doublings: 0 };
    let epoch = SiteEpoch { grant: 1, record: 2 };
    let tip = SiteTip { name: first.name(), epoch, mark: [1, 2, 3, 4], square };
    let half = |layer, own| TipExchange { layer, own, tips: vec![tip, tip] };
    let point = TilePoint { x: 31, y: -1 };
    let nearer = NearerSites {
        nonce: u64::MAX,
        nearer: vec![first.clone()],
        owner: Some(Box::new(second.clone())),
        shelf: vec![9; 200],
    };
    let records = OverlayEvidence::Records {
        first: Box::new(first.clone()),
        second: Box::new(second.clone()),
        shelf: vec![9; 40],
    };
    let ip = std::net::Ipv4Addr::new(192, 0, 2, 7).into();
    let said = [
        OverlayMessage::Exchange(half(GossipLayer::Neighbours, Some(tip))),
        OverlayMessage::Answer(half(GossipLayer::Samples, None)),
        OverlayMessage::Want(vec![first.name()]),
        OverlayMessage::Records(vec![first, second]),
        OverlayMessage::WantShelves(vec![point]),
        OverlayMessage::Shelf(vec![9; 300]),
        OverlayMessage::Seek { nonce: 1, point, most: 4, map: true },
        OverlayMessage::Nearer(nearer),
        OverlayMessage::Evidence(records),
        OverlayMessage::Evidence(OverlayEvidence::Shelves { first: vec![1], second: vec![2] }),
        OverlayMessage::DialBack(DialBackMessage::Ask { nonce: 7, port: 8_083 }),
        OverlayMessage::DialBack(DialBackMessage::answer(7, DialBackOutcome::Open, ip)),
    ];
    said.iter().map(OverlayMessage::encode).collect()
}
