//! How many things there may be that can be pushed.

use metatopia_physics::Motion;
use metatopia_types::{Blueprint, Build, Outcome, Refusal};

use crate::{
    building::{block, built, place, refused, site},
    undoing::restored,
    yard::{Builder, public, vec2},
};

#[test]
fn a_player_and_the_sim_have_so_many_things_that_can_be_pushed() {
    let mut builder = Builder::new();
    // It counts for the sim, and for nobody's share.
    builder.thing(Motion::Dynamic, (8, -8), &[]);
    let rules = &mut builder.genesis.parameters.building;
    (rules.movable_per_player, rules.movable_max) = (2, 4);
    let mut yard = site(&mut builder);
    let crate_ = |x| Blueprint { movable: true, ..block(x, 4) };
    let too_many = refused(Refusal::TooManyMovable);

    let one = place(&mut yard, 1, crate_(-3));
    let two = place(&mut yard, 1, crate_(0));
    assert_eq!(built(&mut yard, 1, Build::Place(crate_(3))), too_many);
    assert_eq!(built(&mut yard, 1, Build::Copy { object: one, position: vec2(3, 4) }), too_many);
    place(&mut yard, 1, block(3, 4));

    // Gifts fill half of a share: one of two.
    let give = |object| Build::Give { object, to: public(2) };
    assert_eq!(built(&mut yard, 1, give(one)), Outcome::Ok);
    assert_eq!(built(&mut yard, 1, give(two)), refused(Refusal::NoRoomForGifts));
    place(&mut yard, 1, crate_(6));

    // With four in the sim nobody adds one, whatever is left of the share.
    assert_eq!(built(&mut yard, 2, Build::Place(crate_(-6))), too_many);
    assert_eq!(built(&mut yard, 1, Build::Delete { object: two }), Outcome::Ok);
    yard.world = restored(&builder, &yard.world);
    place(&mut yard, 2, crate_(-6));
    assert_eq!(built(&mut yard, 1, Build::Undo { skip: 0 }), too_many);
    assert_eq!(yard.world.root(), yard.world.rehash());
}
