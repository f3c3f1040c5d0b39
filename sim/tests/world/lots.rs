//! Lots: taking ground, giving it away, friends, what strangers leave there, and what falls back.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::Motion;
use metatopia_sim::{
    GroundAt,
    limits::{
        FALLS_PER_TURN, LOT_FRIENDS_MAX, LOT_SIDE_MAX, LOT_SIDE_MIN, LOTS_MAX,
        SENDINGS_PER_AUTHOR_MAX, SENDINGS_PER_TURN_MAX,
    },
};
use metatopia_types::{
    Act, AssetLicence, Blueprint, Build, GroundArea, LotId, LotOrder, ObjectId, Outcome, Outline,
    OutlineParts, Refusal,
};

use crate::yard::{Builder, Yard, public, vec2};

const ADMIN: u8 = 100;
const ADA: u8 = 1;
const BOB: u8 = 2;
const EVE: u8 = 3;
const DAY_MS: u64 = 86_400_000;
const FIRST: LotId = LotId(1);

/// A yard where everybody reaches all of it, and with these people in it.
fn yard(builder: &mut Builder, people: &[u8]) -> Yard {
    builder.genesis.parameters.building.reach = Fx::from_int(100);
    let mut yard = builder.build();
    people.iter().for_each(|n| drop(yard.login(*n)));
    yard.play();
    yard
}

fn ground(x: i32, y: i32, side: u16) -> GroundArea {
    GroundArea { x, y, width: side, depth: side }
}

fn claim(ground: GroundArea) -> Act {
    Act::Lot(LotOrder::Claim { ground, name: "garden".to_owned() })
}

fn open(to: u8) -> Act {
    Act::Lot(LotOrder::Open { lot: FIRST, to: public(to) })
}

fn shut(to: u8) -> Act {
    Act::Lot(LotOrder::Shut { lot: FIRST, to: public(to) })
}

fn give(to: u8) -> Act {
    Act::Lot(LotOrder::Give { lot: FIRST, to: public(to) })
}

fn send_home(object: ObjectId) -> Act {
    Act::Lot(LotOrder::SendHome { lot: FIRST, object })
}

fn back() -> Act {
    Act::Lot(LotOrder::Return { lot: FIRST })
}

fn wall(at: (i32, i32), half: (i32, i32)) -> Act {
    Act::Build(Build::Place(Blueprint {
        kind: "wall".to_owned(),
        name: "a wall".to_owned(),
        outline: Outline::Box { half: vec2(half.0, half.1) },
        position: vec2(at.0, at.1),
        angle: Angle::ZERO,
        color: 0,
        text: String::new(),
        movable: false,
        licence: AssetLicence::Cc0,
        parts: OutlineParts::default(),
    }))
}

const fn refused(why: Refusal) -> Outcome {
    Outcome::Refused(why)
}

#[track_caller]
fn made(outcome: Outcome) -> ObjectId {
    let Outcome::Made(object) = outcome else { panic!("{outcome}") };
    object
}

/// Ada united a wall and a rail that both stood on her lot, and was told that the land beside it is closed: the room of
/// a thing was a box whose middle was its centre of mass.
#[test]
fn a_thing_takes_no_more_room_than_its_parts() {
    let mut yard = yard(&mut Builder::new(), &[ADA, BOB]);
    assert_eq!(yard.try_act(ADA, claim(ground(10, 10, 8))), Outcome::Ok);
    assert_eq!(yard.try_act(BOB, claim(ground(2, 10, 8))), Outcome::Ok);
    let rail = |place: Act| match place {
        Act::Build(Build::Place(plan)) => {
            let half = Vec2::new(Fx::ONE, Fx::from_ratio(1, 10));
            Act::Build(Build::Place(Blueprint { outline: Outline::Box { half }, ..plan }))
        }
        other => panic!("{other:?}"),
    };
    let wall_made = made(yard.try_act(ADA, wall((12, 14), (1, 1))));
    let rail_made = made(yard.try_act(ADA, rail(wall((14, 14), (1, 1)))));
    let unite = Act::Build(Build::Unite { objects: vec![wall_made, rail_made] });
    made(yard.try_act(ADA, unite));
    yard.check_leaves();
}

#[test]
fn on_a_lot_its_holder_and_friends_build_and_nobody_else() {
    let mut yard = yard(&mut Builder::new(), &[ADMIN, ADA, BOB, EVE]);
    assert_eq!(yard.try_act(ADA, claim(ground(10, 10, 8))), Outcome::Ok);
    let lot = yard.world.lot(FIRST).expect("the first lot");
    assert_eq!((lot.name.as_str(), lot.holder, lot.square_metres()), ("garden", public(ADA), 64));
    assert!(matches!(yard.world.ground_at(vec2(12, 12)), GroundAt::Lot(_)));

    assert_eq!(yard.try_act(BOB, wall((12, 12), (1, 1))), refused(Refusal::ClosedLand));
    assert_eq!(yard.try_act(BOB, open(BOB)), refused(Refusal::NotYours));
    assert_eq!(yard.try_act(ADA, open(BOB)), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, open(BOB)), refused(Refusal::AlreadySo));
    assert_eq!(yard.try_act(ADA, open(77)), refused(Refusal::NoPlayer));
    made(yard.try_act(BOB, wall((12, 12), (1, 1))));
    made(yard.try_act(ADA, wall((15, 12), (1, 1))));
    assert_eq!(yard.try_act(EVE, wall((12, 15), (1, 1))), refused(Refusal::ClosedLand));
    assert_eq!(yard.try_act(ADA, shut(BOB)), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, shut(BOB)), refused(Refusal::AlreadySo));
    assert_eq!(yard.try_act(BOB, wall((12, 15), (1, 1))), refused(Refusal::ClosedLand));

    let name = |name: &str| Act::Lot(LotOrder::Name { lot: FIRST, name: name.to_owned() });
    assert_eq!(yard.try_act(ADA, name("orchard")), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, name("two\nlines")), refused(Refusal::BadText));
    assert_eq!(yard.try_act(ADA, give(BOB)), Outcome::Ok);
    assert_eq!(yard.try_act(BOB, give(BOB)), refused(Refusal::AlreadySo));
    assert_eq!(yard.try_act(ADA, back()), refused(Refusal::NotYours));
    let lot = yard.world.lot(FIRST).expect("the first lot");
    assert_eq!((lot.name.as_str(), lot.holder), ("orchard", public(BOB)));
    yard.check_leaves();
    assert_eq!(yard.world.orders().count(), 0, "all of it was everybody's right");
    assert_eq!(yard.try_act(ADMIN, back()), Outcome::Ok);
    assert_eq!(yard.world.orders().count(), 1);
    assert_eq!(yard.try_act(BOB, back()), refused(Refusal::NoLot));
    made(yard.try_act(EVE, wall((12, 15), (1, 1))));
    yard.check_leaves();
}

#[test]
fn ground_is_taken_only_where_it_is_free_open_near_and_within_the_share() {
    let mut builder = Builder::new();
    builder.thing(Motion::Static, (-20, 0), &[]);
    builder.thing(Motion::Dynamic, (-20, 20), &[]);
    let side = 16;
    builder.genesis.parameters.lots.square_metres_per_player = 2 * 16 * 16;
    let mut yard = yard(&mut builder, &[ADA, BOB]);
    assert_eq!(yard.try_act(ADA, claim(ground(-1, -1, side))), refused(Refusal::KeptClear));
    let long = LOT_SIDE_MAX + 1;
    assert_eq!(yard.try_act(ADA, claim(ground(9, 9, long))), refused(Refusal::OutOfRange));
    let short = LOT_SIDE_MIN - 1;
    assert_eq!(yard.try_act(ADA, claim(ground(9, 9, short))), refused(Refusal::OutOfRange));
    let far = ground(i32::MAX, i32::MIN, side);
    assert_eq!(yard.try_act(ADA, claim(far)), refused(Refusal::OutOfRange));
    assert_eq!(yard.try_act(ADA, claim(ground(300, 300, side))), refused(Refusal::OutOfReach));
    assert_eq!(yard.try_act(ADA, claim(ground(-24, -8, side))), refused(Refusal::NotEmpty));
    // What is the sim's and can be pushed is in nobody's way.
    assert_eq!(yard.try_act(ADA, claim(ground(-24, 16, side))), Outcome::Ok);
    assert_eq!(yard.try_act(BOB, claim(ground(-30, 20, side))), refused(Refusal::ClosedLand));
    assert_eq!(yard.try_act(ADA, claim(ground(-30, 20, side))), refused(Refusal::LotTaken));
    made(yard.try_act(BOB, wall((20, 20), (1, 1))));
    assert_eq!(yard.try_act(ADA, claim(ground(18, 18, side))), refused(Refusal::NotEmpty));
    assert_eq!(yard.try_act(BOB, claim(ground(18, 18, side))), Outcome::Ok);
    let larger = side + 1;
    assert_eq!(yard.try_act(BOB, claim(ground(18, -40, larger))), refused(Refusal::TooManyLots));
    assert_eq!(yard.try_act(BOB, claim(ground(18, -40, 8))), Outcome::Ok);
    assert_eq!(yard.try_act(BOB, claim(ground(18, -60, 8))), refused(Refusal::TooManyLots));
    assert_eq!(yard.try_act(BOB, give(ADA)), refused(Refusal::NotYours));
    let third = Act::Lot(LotOrder::Give { lot: LotId(1), to: public(BOB) });
    assert_eq!(yard.try_act(ADA, third), refused(Refusal::TooManyLots));
    yard.check_leaves();
}

#[test]
fn what_a_stranger_left_on_a_lot_goes_to_its_owners_ground_or_beside_the_lot() {
    let mut builder = Builder::new();
    let sims = builder.thing(Motion::Dynamic, (24, 24), &[]);
    let mut yard = yard(&mut builder, &[ADA, BOB, EVE]);
    assert_eq!(yard.try_act(ADA, claim(ground(10, 10, 8))), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, open(BOB)), Outcome::Ok);
    let left = made(yard.try_act(BOB, wall((12, 12), (1, 1))));
    let own = made(yard.try_act(ADA, wall((16, 16), (1, 1))));
    let outside = made(yard.try_act(EVE, wall((30, 30), (1, 1))));
    assert_eq!(yard.try_act(BOB, send_home(left)), refused(Refusal::NotYours));
    assert_eq!(yard.try_act(ADA, send_home(own)), refused(Refusal::AlreadySo));
    assert_eq!(yard.try_act(ADA, send_home(outside)), refused(Refusal::NotOnLot));
    assert_eq!(yard.try_act(ADA, send_home(sims)), refused(Refusal::NotYours));
    assert_eq!(yard.try_act(ADA, send_home(ObjectId(999))), refused(Refusal::NoObject));

    // Bob has no ground: beside the lot there is room.
    assert_eq!(yard.try_act(ADA, send_home(left)), Outcome::Ok);
    let place = yard.position(left);
    assert!(matches!(yard.world.ground_at(place), GroundAt::Rest), "{place:?}");
    let again = made(yard.try_act(BOB, wall((12, 12), (1, 1))));
    // Once he has ground of his own, it goes there.
    assert_eq!(yard.try_act(BOB, claim(ground(-30, -30, 8))), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, send_home(again)), Outcome::Ok);
    let home = yard.world.ground_at(yard.position(again));
    assert!(matches!(home, GroundAt::Lot(lot) if lot.holder == public(BOB)), "{home:?}");
    yard.check_leaves();
}

#[test]
fn a_thing_that_finds_no_place_stays_and_is_not_lost() {
    let mut builder = Builder::new();
    builder.genesis.parameters.building.open_ground = true;
    let mut yard = yard(&mut builder, &[ADMIN, ADA, BOB]);
    assert_eq!(yard.try_act(ADA, claim(ground(10, 10, 8))), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, open(BOB)), Outcome::Ok);
    let left = made(yard.try_act(BOB, wall((12, 12), (1, 1))));
    // From now on nobody builds on ground without a name, so Bob may leave his wall nowhere.
    let (name, value) = ("building.open_ground".to_owned(), "false".to_owned());
    assert_eq!(yard.try_act(ADMIN, Act::Amend { name, value }), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, send_home(left)), refused(Refusal::NoWayHome));
    assert_eq!(yard.position(left), vec2(12, 12));
    made(yard.try_act(ADA, wall((15, 15), (1, 1))));
}

#[test]
fn who_is_walled_in_goes_home_where_nobody_may_build() {
    let mut yard = yard(&mut Builder::new(), &[ADA, BOB]);
    // Bob goes first, so that she does not push him along.
    yard.walk_to(BOB, vec2(0, -15));
    yard.walk_to(ADA, vec2(20, 0));
    // Two long walls and two short ones leave no gap.
    for (at, half) in [((20, 3), (4, 1)), ((20, -3), (4, 1)), ((23, 0), (1, 2)), ((17, 0), (1, 2))]
    {
        made(yard.try_act(BOB, wall(at, half)));
    }
    for heading in [vec2(1, 0), vec2(-1, 0), vec2(0, 1), vec2(0, -1)] {
        yard.act(ADA, Act::Walk { heading });
        yard.idle(40);
        let way = yard.position(yard.avatar(ADA)).saturating_sub(vec2(20, 0));
        assert!(way.length() < Fx::from_int(3), "she is out: {way:?}");
    }
    assert_eq!(yard.try_act(ADA, Act::GoHome), Outcome::Ok);
    let avatar = &yard.world.parameters().avatar;
    let (spawn, near) = (avatar.spawn, avatar.spawn_radius.saturating_mul(Fx::from_int(2)));
    let home = yard.position(yard.avatar(ADA));
    assert!(home.saturating_sub(spawn).length() <= near, "{home:?}");
    assert_eq!(yard.try_act(BOB, wall((0, 0), (1, 1))), refused(Refusal::KeptClear));
    let before = yard.position(yard.avatar(ADA));
    yard.act(ADA, Act::Walk { heading: vec2(0, 1) });
    yard.idle(20);
    let way = yard.position(yard.avatar(ADA)).saturating_sub(before);
    assert!(way.y > Fx::from_int(1), "she walks on: {way:?}");
    yard.check_leaves();
}

#[test]
fn going_home_takes_no_place_of_newcomers_and_each_goes_once_a_turn() {
    let mut yard = yard(&mut Builder::new(), &[ADA]);
    let homes: Vec<_> = (0..3).map(|_| yard.act(ADA, Act::GoHome)).collect();
    yard.play();
    let outcomes: Vec<Outcome> = homes.iter().map(|act| yard.outcome(act)).collect();
    assert_eq!(outcomes, [Outcome::Ok, refused(Refusal::TooOften), refused(Refusal::TooOften)]);
    assert_eq!(yard.try_act(ADA, Act::GoHome), Outcome::Ok, "in the next turn");
}

#[test]
fn a_holder_sends_so_many_things_home_in_a_turn_also_if_there_is_no_way() {
    let mut yard = yard(&mut Builder::new(), &[ADA, BOB]);
    assert_eq!(yard.try_act(ADA, claim(ground(10, 10, 8))), Outcome::Ok);
    let sent: Vec<_> =
        (0..=SENDINGS_PER_AUTHOR_MAX).map(|_| yard.act(ADA, send_home(ObjectId(999)))).collect();
    yard.play();
    let outcomes: Vec<Outcome> = sent.iter().map(|act| yard.outcome(act)).collect();
    assert_eq!(outcomes.last(), Some(&refused(Refusal::TooOften)), "{outcomes:?}");
    assert!(outcomes[..SENDINGS_PER_AUTHOR_MAX].iter().all(|it| *it == refused(Refusal::NoObject)));
}

#[test]
fn who_holds_no_lot_keeps_no_holder_from_sending_things_home() {
    let mut yard = yard(&mut Builder::new(), &[ADA, BOB]);
    assert_eq!(yard.try_act(ADA, claim(ground(10, 10, 8))), Outcome::Ok);
    let pests: Vec<_> =
        (0..=SENDINGS_PER_TURN_MAX).map(|_| yard.act(BOB, send_home(ObjectId(999)))).collect();
    let hers = yard.act(ADA, send_home(ObjectId(999)));
    yard.play();
    assert_eq!(yard.outcome(&hers), refused(Refusal::NoObject));
    assert!(pests.iter().all(|act| yard.outcome(act) == refused(Refusal::NotYours)));
}

#[test]
fn a_wall_on_open_ground_falls_when_its_owner_stays_away_and_one_on_a_lot_stands() {
    let mut builder = Builder::new();
    (builder.genesis.parameters.lots.wall_days, builder.genesis.parameters.lots.days) = (2, 4);
    builder.genesis.parameters.building.objects_per_player = 64;
    builder.genesis.parameters.grace_ticks = 0;
    let mut yard = yard(&mut builder, &[ADA, BOB]);
    assert_eq!(yard.try_act(ADA, claim(ground(10, 10, 8))), Outcome::Ok);
    let kept = made(yard.try_act(ADA, wall((12, 12), (1, 1))));
    let bobs = made(yard.try_act(BOB, wall((50, 50), (1, 1))));
    let walls: Vec<ObjectId> = (0..=FALLS_PER_TURN as i32)
        .map(|n| made(yard.try_act(ADA, wall((-40 + 4 * n, -40), (1, 1)))))
        .collect();
    let stand = |yard: &Yard| walls.iter().filter(|id| yard.world.object(**id).is_some()).count();
    assert_eq!(yard.try_act(ADA, Act::Leave), Outcome::Ok);
    // A turn adds a minute at most, however long it takes.
    yard.turn_ms = 60_000;
    let minutes = |days: u64| days * DAY_MS / 60_000;
    // Bob comes again and again, which renews what he has.
    let pass = |yard: &mut Yard, turns: u64| {
        for n in 0..turns {
            if n % 500 == 0 {
                yard.login(BOB);
            }
            yard.play();
        }
    };
    pass(&mut yard, minutes(2) - 10);
    assert_eq!(stand(&yard), walls.len());
    pass(&mut yard, 20);
    assert_eq!(stand(&yard), 0);
    assert!(yard.world.object(kept).is_some() && yard.world.object(bobs).is_some());
    pass(&mut yard, minutes(2));
    assert_eq!(yard.world.lot(FIRST), None, "four days without its holder");
    pass(&mut yard, 4);
    assert_eq!(yard.world.object(kept).map(|thing| thing.id), None);
    assert!(yard.world.object(bobs).is_some());
    yard.check_leaves();
}

#[test]
fn a_lot_has_a_bounded_number_of_friends_and_a_sim_of_lots() {
    let mut builder = Builder::new();
    builder.genesis.parameters.lots.per_player = LOTS_MAX as u32;
    builder.genesis.parameters.lots.square_metres_per_player = 1 << 20;
    builder.genesis.parameters.building.reach = Fx::from_int(100);
    let mut yard = builder.build();
    let friends = 10..=10 + LOT_FRIENDS_MAX as u8;
    yard.login(ADA);
    friends.clone().for_each(|n| drop(yard.login(n)));
    yard.play();
    assert_eq!(yard.try_act(ADA, claim(ground(8, 8, LOT_SIDE_MIN))), Outcome::Ok);
    for n in friends.clone().take(LOT_FRIENDS_MAX) {
        assert_eq!(yard.try_act(ADA, open(n)), Outcome::Ok);
    }
    assert_eq!(yard.try_act(ADA, open(*friends.end())), refused(Refusal::ListFull));
    // All around her, but for where avatars appear and for the lot that she has.
    let side = i32::from(LOT_SIDE_MIN);
    let place = |n: i32| ground(side * (n % 34 - 17), side * (n / 34 - 17), LOT_SIDE_MIN);
    let taken = (0..).map_while(|n| {
        let full = yard.world.lots_after(LotId(0)).count() == LOTS_MAX;
        (!full).then(|| (n, yard.try_act(ADA, claim(place(n)))))
    });
    let (last, _) = taken.last().expect("there is room at first");
    assert_eq!(yard.world.lots_after(LotId(0)).count(), LOTS_MAX);
    assert_eq!(yard.try_act(ADA, claim(place(last + 1))), refused(Refusal::ListFull));
    let at = Vec2::new(Fx::from_int(10), Fx::from_int(10));
    assert!(matches!(yard.world.ground_at(at), GroundAt::Lot(_)));
    println!("{LOTS_MAX} lots, a state of {} bytes", yard.world.state_bytes());
    yard.check_leaves();
}
