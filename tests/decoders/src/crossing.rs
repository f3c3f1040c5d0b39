//! What sims say to one another over a border, to begin from: one of each kind.

use metatopia_math::Vec2;
use metatopia_types::{
    BorderDeparture, BorderFrame, BorderOrder, BorderVerdict, BroughtThing, Companions,
    CrossingPass, Digest, Dispatch, DispatchedState, FrameBody, FrameShape, Height, Link, Look,
    Millis, NearPerson, ObjectId, Parcel, PassRefusal, PublicKey, Said, SimId, StateProof,
    TravelRefusal, TravellingPerson, merkle, said_key,
};

use super::land;

fn person() -> Parcel {
    Parcel::Person(TravellingPerson {
        key: PublicKey([7; 32]),
        name: "Ada".to_owned(),
        look: Look::default(),
        bot: false,
        position: Vec2::ZERO,
        velocity: Vec2::ZERO,
        heading: Vec2::ZERO,
        waited: 50,
        hands: vec![],
        mount: None,
        companions: Companions::default(),
    })
}

/// Returns nothing that is said, and one of everything.
pub(crate) fn said() -> Vec<Vec<u8>> {
    let parcel = Parcel::digest(&person().encode());
    let (traveller, until) = (person().traveller(), Millis(9_000));
    let refused = Some(TravelRefusal::NoPass);
    let full = Said {
        height: Height(300),
        time: Millis(15_000),
        open: true,
        portal: Some(Vec2::ZERO),
        epoch: 1,
        taken_up: 1,
        out_next: 8,
        in_next: 9,
        departures: vec![BorderDeparture { number: 7, traveller, until, parcel }],
        verdicts: vec![
            BorderVerdict { number: 7, refused: None },
            BorderVerdict { number: 8, refused },
        ],
        came_home: vec![3],
        passes: vec![CrossingPass {
            person: PublicKey([5; 32]),
            until,
            refused: Some(PassRefusal::Full),
            mark: [3; 8],
            hands: vec![None, refused],
        }],
        near: vec![NearPerson {
            person: PublicKey([7; 32]),
            mark: [3; 8],
            brought: vec![
                BroughtThing { reach: 30, compounds: 0, hers: 0 },
                BroughtThing { reach: 40, compounds: 1, hers: 2 },
            ],
        }],
        frame: BorderFrame {
            made: Millis(14_900),
            bodies: vec![FrameBody {
                traveller,
                place: (-31_000, 2_048),
                angle: 16_384,
                velocity: (256, -1),
                spin: 3,
                shape: FrameShape::Capsule(512, 256),
            }],
        },
    };
    vec![Said::nothing().encode(), full.encode()]
}

/// Returns the parcel of a person.
pub(crate) fn parcels() -> Vec<Vec<u8>> {
    vec![person().encode()]
}

/// Returns a dispatch of links, and one of a state.
pub(crate) fn dispatches() -> Vec<Vec<u8>> {
    let Link { header, certificate, .. } = land::link();
    let key = said_key(SimId(Digest([2; 32])));
    let content = said().pop().expect("one of everything");
    let place = merkle::Proof { index: 1, count: 2, path: vec![Digest([7; 32])] };
    let said = StateProof { key, content, place };
    let state = DispatchedState { header, certificate, said, parcels: parcels() };
    let links = Dispatch { links: vec![land::link()], state: None };
    let whole = Dispatch { links: vec![land::link()], state: Some(state) };
    vec![links.blob().0, whole.blob().0]
}

/// Returns an order of each kind.
pub(crate) fn orders() -> Vec<Vec<u8>> {
    let neighbour = SimId(Digest([2; 32]));
    let orders = [
        BorderOrder::Open { head: Box::new(land::head()), offices: Vec::new(), portal: None },
        BorderOrder::Close { neighbour },
        BorderOrder::Sever { neighbour },
        BorderOrder::SendHome { neighbour, object: ObjectId(17) },
    ];
    orders.iter().map(|order| order.blob().0).collect()
}
