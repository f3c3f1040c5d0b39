//! Orders of land and proofs of shelves to begin from: one of each kind.

use metatopia_types::{
    Certificate, Digest, GenesisHead, Header, Height, LandGrant, LandOrder, LandProof, LandSponsor,
    Link, Millis, PublicKey, Round, Sign as _, Signature, SigningKey, SimId, Site, Square,
    StateProof, Validator, merkle, shelf_key, wire,
};

const SQUARE: Square = Square { x: 2, y: -4, doublings: 0 };

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

fn world() -> SimId {
    SimId(Digest([1; 32]))
}

pub(crate) fn head() -> GenesisHead {
    GenesisHead {
        engine: metatopia_sim::ENGINE,
        rules: Digest::ZERO,
        site: Some(Site { world: world(), square: SQUARE }),
        office: None,
        parent: None,
        admins: vec![key(1).public()],
        validators: vec![key(2).public()],
        rest: Digest([3; 32]),
    }
}

pub(crate) fn link() -> Link {
    let header = Header { sim: head().id(), height: Height(300), ..Header::unstated() };
    let (height, round, id) = (header.height, Round(1), header.id());
    let signatures = vec![(key(2).public(), Signature::from_bytes([5; 64]))];
    let certificate = Certificate { height, round, header: id, signatures };
    Link { header, certificate, next: vec![Validator { key: key(2).public(), power: 1 }] }
}

/// Returns an order of each kind.
pub(crate) fn orders() -> Vec<Vec<u8>> {
    let sponsor = LandSponsor::new(&key(4), world(), head().id(), SQUARE, &key(1).public());
    let (square, beacons): (Square, Vec<PublicKey>) = (SQUARE, vec![key(5).public()]);
    let Link { header, certificate, .. } = link();
    let orders = [
        LandOrder::Claim { head: head(), beacons: beacons.clone(), sponsor: Some(sponsor) },
        LandOrder::Renew { square, links: vec![link()], header, certificate },
        LandOrder::SetBeacons { square, beacons },
        LandOrder::Give { square, holder: key(6).public() },
        LandOrder::Release { square },
        LandOrder::TakeBack { square },
        LandOrder::Succeed { square, head: head() },
    ];
    orders.iter().map(|order| order.blob().0).collect()
}

/// Returns the proof of a shelf with a grant, and of one that is empty.
pub(crate) fn proofs() -> Vec<Vec<u8>> {
    let grant = LandGrant {
        square: SQUARE,
        sim: head().id(),
        holder: key(1).public(),
        beacons: vec![key(5).public()],
        epoch: 1,
        until: Millis(2_592_000_000),
        shown: Height(300),
    };
    let place = merkle::Proof { index: 1, count: 2, path: vec![Digest([7; 32])] };
    let proof = |grants: &[LandGrant]| {
        let Link { header, certificate, .. } = link();
        let (key, content) = (shelf_key(&[1, 2]), wire::encode(grants));
        LandProof { header, certificate, shelf: StateProof { key, content, place: place.clone() } }
    };
    vec![proof(&[grant]).encode(), proof(&[]).encode()]
}
