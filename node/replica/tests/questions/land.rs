//! Who holds a point: what a server of a land office proves, and what others do not.

use metatopia_protocol::{Answer, Question};
use metatopia_sim::{Area, Genesis};
use metatopia_types::{
    Ed25519, Height, LandProof, OfficeFounding, PlaneBlock, Sign, Square, TilePoint,
    limits::ROOT_LAG,
};

use super::alone::{Alone, genesis, key};

const POINT: TilePoint = TilePoint { x: -3, y: 70 };

fn office() -> Genesis {
    let square = Square { x: -4, y: 70, doublings: 0 };
    let mut genesis = genesis();
    let (holder, beacons) = (key().public(), vec![key().public()]);
    genesis.parameters.ground = Area::of_square(square);
    genesis.office = Some(OfficeFounding { square, holder, beacons });
    genesis
}

fn ask(server: &mut Alone) -> LandProof {
    match server.ask(Question::Land { point: POINT }) {
        Answer::Land(proof) => *proof,
        other => panic!("{other:?} where a shelf belongs"),
    }
}

#[test]
fn a_server_of_an_office_proves_who_holds_a_point_by_the_newest_certified_state() {
    let genesis = office();
    let mut server = Alone::found(&genesis);
    assert_eq!(
        server.ask(Question::Land { point: POINT }),
        Answer::Unknown,
        "nothing is certified"
    );
    for height in [2 * ROOT_LAG, 20] {
        server.run_to(height);
        let proof = ask(&mut server);
        let set = genesis.first_validators().expect("a set");
        let land = proof.open(genesis.id(), |id| (id == set.id()).then_some(&set), &Ed25519);
        let land = land.expect("a proof");
        assert!(land.height >= Height(height - ROOT_LAG), "{land:?} at {height}");
        assert_eq!(land.block, PlaneBlock::PLANE);
        let grant = land.grant_at(POINT).expect("the office's own");
        assert_eq!((grant.sim, grant.square.x), (genesis.id(), -4));
        assert_eq!(land.grant_at(TilePoint { x: 9, y: 9 }), None);
        assert_eq!(LandProof::decode(&proof.encode()), Ok(proof));
    }
}

#[test]
fn a_sim_that_is_no_land_office_knows_of_no_land() {
    let mut server = Alone::begin();
    server.run_to(10);
    assert_eq!(server.ask(Question::Land { point: POINT }), Answer::Unknown);
}
