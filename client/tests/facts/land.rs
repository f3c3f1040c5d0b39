//! Who holds a point, and what a sim is: what a client believes of leaves of certified states.

use metatopia_client::{Distrust, LightClient};
use metatopia_protocol::CharterAnswer;
use metatopia_sim::{Area, Genesis, Tools, World};
use metatopia_types::*;

use crate::stand::{certificate, key, set};

const MEMBERS: [u8; 4] = [200, 201, 202, 203];

fn office() -> World {
    let square = Square { x: 2, y: 0, doublings: 0 };
    let (holder, beacons) = (key(1).public(), vec![key(2).public()]);
    let mut genesis = Genesis {
        name: "office".to_owned(),
        validators: MEMBERS.map(|n| (key(n).public(), NodeContact::default())).into(),
        licence: "AGPL-3.0-or-later".to_owned(),
        asset_licence: "CC0-1.0".to_owned(),
        office: Some(OfficeFounding { square, holder, beacons }),
        ..Genesis::empty()
    };
    genesis.parameters.ground = Area::of_square(square);
    let tools = Tools::new(std::sync::Arc::new(Ed25519));
    World::genesis(&genesis, &tools).unwrap_or_else(|error| panic!("an office: {error}"))
}

/// A header that states this root, and its certificate.
fn stating(sim: SimId, root: Root, signers: &[u8]) -> (Header, Certificate) {
    let validators = set(&MEMBERS).id();
    let (height, next_validators) = (Height(2), validators);
    let header = Header { sim, height, root, validators, next_validators, ..Header::unstated() };
    let certificate = certificate(&header, signers);
    (header, certificate)
}

fn light(sim: SimId) -> LightClient {
    LightClient::new(sim, Height(1), set(&MEMBERS), std::sync::Arc::new(Ed25519))
}

#[test]
fn a_client_believes_a_shelf_of_a_certified_state_and_no_other() {
    let world = office();
    let point = TilePoint { x: 3, y: 1 };
    let shelf = world.map_shelves().expect("an office").proof(point);
    let proof = |signers| {
        let (header, certificate) = stating(world.sim(), world.root(), signers);
        LandProof { header, certificate, shelf: shelf.clone() }
    };
    let light = light(world.sim());

    let land = light.land(point, &proof(&MEMBERS[..3])).expect("a proof");
    assert_eq!(land.grant_at(point).map(|grant| grant.sim), Some(world.sim()));
    assert_eq!(land.grant_at(TilePoint { x: 9, y: 9 }), None, "that is nobody's");

    let few = light.land(point, &proof(&MEMBERS[..2]));
    assert!(matches!(few, Err(Distrust::Certificate(_))), "{few:?}");
    let mut other = proof(&MEMBERS);
    other.shelf.content.clear();
    assert!(matches!(light.land(point, &other), Err(Distrust::Land(_))));
    let elsewhere = LightClient::new(
        SimId(Digest::ZERO),
        Height(1),
        set(&MEMBERS),
        std::sync::Arc::new(Ed25519),
    );
    assert!(matches!(elsewhere.land(point, &proof(&MEMBERS)), Err(Distrust::OtherSim(_))));
}

#[test]
fn a_shelf_about_other_ground_answers_nothing() {
    let sim = SimId(Digest([7; 32]));
    let (key, content) = (shelf_key(&[3]), wire::encode(&Vec::<LandGrant>::new()));
    let hash = leaf_hash(&key, &Digest(*blake3::hash(&content).as_bytes()));
    let tree = merkle::Tree::of(vec![hash]);
    let place = tree.proof(0).expect("the only leaf");
    let (header, certificate) = stating(sim, Root(tree.root()), &MEMBERS);
    let proof = LandProof { header, certificate, shelf: StateProof { key, content, place } };

    let east = light(sim).land(TilePoint { x: 0, y: 0 }, &proof).expect("its ground");
    assert_eq!(east.grants, []);
    let point = TilePoint { x: -1, y: 0 };
    assert_eq!(light(sim).land(point, &proof), Err(Distrust::OtherGround { point }));
}

/// A page asked the genesis in which world its sim lies, and showed no map once the sim followed another land
/// office.
#[test]
fn the_charter_of_a_certified_state_says_what_the_sim_is_and_no_other_leaf_does() {
    let world = office();
    let leaves = world.provable_leaves();
    let answer = |charter, signers| {
        let (header, certificate) = stating(world.sim(), world.root(), signers);
        CharterAnswer { header, certificate, charter }
    };
    let light = light(world.sim());
    let good = answer(leaves.charter(), &MEMBERS[..3]);
    let (height, charter) = light.charter(&good).expect("a certified state");
    assert_eq!((height, &charter), (Height(0), world.charter()));
    assert_eq!(charter.site.map(|site| site.world), Some(world.sim()), "an office founds a world");

    let few = answer(leaves.charter(), &MEMBERS[..2]);
    assert!(matches!(light.charter(&few), Err(Distrust::Certificate(_))));
    let other = answer(leaves.governance(), &MEMBERS[..3]);
    assert_eq!(light.charter(&other), Err(Distrust::NotCharter));
    let mut forged = leaves.charter();
    forged.content[0] ^= 1;
    let forged = answer(forged, &MEMBERS[..3]);
    assert!(matches!(light.charter(&forged), Err(Distrust::State(_))));
}
