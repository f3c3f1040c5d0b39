//! Who has an avatar when there are more people than seats.

use metatopia_sim::limits::SEAT_TICKS;
use metatopia_types::{
    Act, AssetLicence, Blueprint, Build, Emote, Look, Outcome, Outline, OutlineParts, Refusal,
    SetChange,
};

use crate::yard::{Builder, Yard, public, vec2};

const ADMIN: u8 = 100;
const SERVER: u8 = 201;
const FULL: Outcome = Outcome::Refused(Refusal::Full);
const NO_SEAT: Outcome = Outcome::Refused(Refusal::NoSeat);

/// A yard with so many seats, in which a turn is half a second.
fn seats(most: u32) -> Yard {
    let mut builder = Builder::new();
    builder.genesis.parameters.avatars_max = most;
    builder.genesis.parameters.ticks_per_turn = 30;
    builder.genesis.parameters.lease_ticks = 10 * SEAT_TICKS;
    builder.build()
}

/// So many turns are a minute there.
const MINUTE: u64 = SEAT_TICKS / 30;

fn wave() -> Act {
    Act::Emote(Emote::Wave)
}

fn login(yard: &mut Yard, n: u8) -> Outcome {
    let act = yard.login(n);
    yard.play();
    yard.outcome(&act)
}

fn has_seat(yard: &Yard, n: u8) -> bool {
    yard.world.avatar(&public(n)).is_some()
}

fn is_here(yard: &Yard, n: u8) -> bool {
    yard.world.player(&public(n)).is_some_and(|player| player.session.is_some())
}

#[test]
fn a_full_world_refuses_strangers_while_everybody_in_it_acts() {
    let mut yard = seats(2);
    yard.login(1);
    yard.login(2);
    yard.play();

    assert_eq!(login(&mut yard, 3), FULL);
    yard.act(1, Act::Leave);
    yard.play();
    assert_eq!(login(&mut yard, 3), Outcome::Ok);
}

#[test]
fn a_newcomer_takes_the_seat_of_whoever_has_not_acted_for_longest() {
    let mut yard = seats(2);
    yard.login(1);
    yard.login(2);
    yard.play();
    yard.idle(MINUTE / 2);
    yard.act(1, wave());
    // A heartbeat keeps the session, and no seat.
    yard.act(2, Act::Heartbeat);
    yard.idle(MINUTE / 2 - 2);
    assert_eq!(login(&mut yard, 3), FULL, "a turn too early");

    assert_eq!(login(&mut yard, 3), Outcome::Ok);

    assert!(has_seat(&yard, 1) && !has_seat(&yard, 2) && has_seat(&yard, 3));
    assert!(is_here(&yard, 2), "without an avatar");
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn who_lost_a_seat_gets_one_with_the_next_act_by_the_same_rule() {
    let mut yard = seats(1);
    login(&mut yard, 1);
    yard.idle(MINUTE);
    login(&mut yard, 2);
    assert!(!has_seat(&yard, 1));

    assert_eq!(yard.try_act(1, wave()), NO_SEAT);
    assert_eq!(yard.try_act(1, Act::Walk { heading: vec2(1, 0) }), NO_SEAT);
    yard.idle(MINUTE);
    assert_eq!(yard.try_act(1, Act::Heartbeat), Outcome::Ok);
    assert!(!has_seat(&yard, 1), "a heartbeat asks for none");
    assert_eq!(yard.try_act(1, wave()), Outcome::Ok);

    assert!(has_seat(&yard, 1) && !has_seat(&yard, 2) && is_here(&yard, 2));
    // A login is an act as well, of one who may be without a seat.
    assert_eq!(login(&mut yard, 2), Outcome::Ok);
    assert!(!has_seat(&yard, 2));
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn who_lost_a_seat_can_still_take_back_what_was_built() {
    let mut yard = seats(1);
    login(&mut yard, 1);
    let blueprint = Blueprint {
        kind: "bench".to_owned(),
        name: "bench".to_owned(),
        text: String::new(),
        color: 0,
        outline: Outline::Disc { radius: metatopia_math::Fx::ONE },
        movable: false,
        position: vec2(10, 0),
        angle: metatopia_math::Angle::default(),
        licence: AssetLicence::default(),
        parts: OutlineParts::default(),
    };
    let built = yard.try_act(1, Act::Build(Build::Place(blueprint.clone())));
    assert!(built.is_done(), "{built}");
    yard.idle(MINUTE);
    login(&mut yard, 2);

    let again = Build::Place(Blueprint { position: vec2(0, 10), ..blueprint });
    assert_eq!(yard.try_act(1, Act::Build(again)), NO_SEAT);
    assert_eq!(yard.try_act(1, Act::Build(Build::Undo { skip: 0 })), Outcome::Ok);

    assert_eq!(yard.world.things(&public(1)).count(), 0);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn an_admin_is_let_in_without_a_seat_and_may_do_what_takes_no_avatar() {
    let mut yard = seats(1);
    login(&mut yard, 1);

    assert_eq!(login(&mut yard, ADMIN), Outcome::Ok);
    assert_eq!(login(&mut yard, SERVER), Outcome::Ok);

    assert!(is_here(&yard, ADMIN) && !has_seat(&yard, ADMIN) && has_seat(&yard, 1));
    assert_eq!(yard.try_act(ADMIN, wave()), NO_SEAT);
    assert_eq!(yard.try_act(ADMIN, Act::Heartbeat), Outcome::Ok);
    let contact = metatopia_types::NodeContact::default();
    let add = Act::SetChange(SetChange::Add { key: public(205), contact });
    assert_eq!(yard.try_act(ADMIN, add), Outcome::Ok);
    assert_eq!(yard.try_act(ADMIN, Act::SetLook(Look::default())), Outcome::Ok);
    assert_eq!(yard.try_act(ADMIN, Act::Leave), Outcome::Ok);
    assert!(!is_here(&yard, ADMIN));
}

#[test]
fn a_ground_that_is_full_of_things_keeps_no_admin_out() {
    let mut builder = Builder::new();
    builder.genesis.parameters.objects_max = 1;
    builder.thing(metatopia_physics::Motion::Static, (10, 10), &[]);
    let mut yard = builder.build();

    assert_eq!(login(&mut yard, 1), FULL);
    assert_eq!(login(&mut yard, ADMIN), Outcome::Ok);
    assert!(is_here(&yard, ADMIN));
}

#[test]
fn a_crowd_keeps_no_admin_out_of_the_turn_in_which_it_comes() {
    let mut yard = Builder::new().build();
    (0..90).for_each(|n| drop(yard.login(n)));
    let admin = yard.login(ADMIN);
    let servers: Vec<_> = (201..=204).map(|n| yard.login(n)).collect();
    yard.play();

    assert_eq!(yard.outcome(&admin), Outcome::Ok);
    assert!(servers.iter().all(|act| yard.outcome(act) == Outcome::Ok));
}

#[test]
fn the_last_quarter_of_the_seats_is_for_people_seen_on_enough_days() {
    let mut builder = Builder::new();
    builder.genesis.parameters.avatars_max = 4;
    builder.genesis.parameters.seen_days = 2;
    builder.genesis.parameters.grace_ticks = 0;
    builder.genesis.parameters.lease_ticks = 30;
    let mut yard = builder.build();
    yard.turn_ms = 3_600_000;
    login(&mut yard, 9);
    yard.idle(24 * 60);
    yard.turn_ms = 50;
    (1..=3).for_each(|n| drop(yard.login(n)));
    yard.play();

    assert_eq!(login(&mut yard, 4), FULL);
    assert_eq!(login(&mut yard, 9), Outcome::Ok, "seen on two days");
    assert!(has_seat(&yard, 9));
}

#[test]
fn who_is_there_without_an_avatar_leaves_when_no_sign_of_life_comes() {
    let mut builder = Builder::new();
    builder.genesis.parameters.avatars_max = 1;
    builder.genesis.parameters.lease_ticks = 30;
    builder.genesis.parameters.grace_ticks = 60;
    let mut yard = builder.build();
    login(&mut yard, 1);
    login(&mut yard, ADMIN);
    yard.idle(29);
    assert!(is_here(&yard, ADMIN));

    yard.idle(2);

    assert!(!is_here(&yard, ADMIN));
    assert_eq!(yard.try_act(ADMIN, Act::Heartbeat), Outcome::Refused(Refusal::NotLoggedIn));
}
