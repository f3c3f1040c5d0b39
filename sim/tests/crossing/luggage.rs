//! Luggage in a sim with borders: what came over one is put away once its sender has settled it, and counts against
//! the border's share meanwhile.

use metatopia_types::{
    Act, BorderOrder, BorderRefusal, GovernOrder, ObjectId, Origin, Outcome, Refusal, WayBack,
};

use crate::{
    rolling::{QUIET, thing},
    sending_home::{coming, steps, visited},
    town::{ADMIN, Place, places_of_thing, public, step, tell},
};

fn returned(place: &mut Place, object: ObjectId) -> Outcome {
    let order = GovernOrder::Return { object };
    let act = place.act(public(ADMIN), 1, Act::Govern(order));
    place.play(50);
    place.outcome(&act)
}

fn stowed(place: &Place) -> Vec<(ObjectId, Origin)> {
    place.world.all_luggage().map(|thing| (thing.id, thing.origin)).collect()
}

#[test]
fn a_guest_in_luggage_is_in_one_place_and_counts_against_the_share_of_its_border() {
    let (mut town, origin, object) = visited();
    let west = town[0].id();
    let share = town[1].world.border_share(&west);
    assert_eq!(returned(&mut town[1], object), Outcome::Ok);
    assert_eq!(stowed(&town[1]), [(object, origin)]);
    assert_eq!((town[1].world.border_share(&west), share.0), (share, 1));
    steps(&mut town, 40);
    assert_eq!((places_of_thing(&town, origin), thing(&town[1], origin).is_none()), (1, true));
    // Nobody sends away what is no longer there, and its owner, who is elsewhere, has it when she comes.
    tell(&mut town, 0, 1);
    let order = BorderOrder::SendHome { neighbour: west, object };
    let act = town[1].order(&order);
    town[1].play(50);
    let no_guest = Refusal::BadBorder(BorderRefusal::NoGuest);
    assert_eq!(town[1].outcome(&act), Outcome::Refused(no_guest));
    town[1].restore();
    assert_eq!(town[1].world.root(), town[1].world.rehash());
}

/// Its sender may give the border up and look for it: in luggage nobody would find it.
#[test]
fn what_came_just_now_goes_into_luggage_once_its_sender_has_settled_it() {
    let (mut town, origin) = coming(QUIET, 1);
    let mut turns = 0;
    let object = loop {
        step(&mut town, 50);
        turns += 1;
        assert!(turns < 200, "it never comes");
        if let Some(guest) = thing(&town[1], origin) {
            break guest.id;
        }
    };
    assert_eq!(town[1].world.way_back(object), WayBack::OutOfSim);
    steps(&mut town, 40);
    assert_eq!(town[1].world.way_back(object), WayBack::Luggage);
}
