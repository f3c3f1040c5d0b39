//! Rights for an area: on which ground they let what, before and after an act, and what becomes of them.

use std::collections::BTreeSet;

use metatopia_math::Fx;
use metatopia_sim::{Area, Land, OrderedDeed, Warrant};
use metatopia_types::{
    Act, Blueprint, Build, BuiltJoint, GovernOrder, GroundArea, Look, LotId, LotOrder, ObjectId,
    Outcome, Outline, Pass, Refusal, RoleRight, Rotation, Title,
};

use crate::{
    building::{block, built, place, refused, site},
    yard::{Builder, Yard, key, public, vec2},
};

const ADMIN: u8 = 100;
const ADA: u8 = 1;
const BOB: u8 = 2;
const EVE: u8 = 3;

fn area(x: i32, y: i32, width: u16, depth: u16) -> GroundArea {
    GroundArea { x, y, width, depth }
}

fn rights(words: &[&str]) -> BTreeSet<RoleRight> {
    words.iter().map(|word| RoleRight::of(word).expect("a right")).collect()
}

fn grant(n: u8, words: &[&str], area: GroundArea, seconds: Option<u32>) -> Act {
    let (key, rights) = (public(n), rights(words));
    Act::Govern(GovernOrder::GrantArea { key, rights, area, seconds })
}

fn revoke(n: u8, words: &[&str], area: GroundArea) -> Act {
    Act::Govern(GovernOrder::RevokeArea { key: public(n), rights: rights(words), area })
}

fn grant_whole(n: u8, words: &[&str]) -> Act {
    let (key, rights, seconds) = (public(n), rights(words), None);
    Act::Govern(GovernOrder::Grant { key, rights, seconds })
}

fn freeze(object: ObjectId) -> Act {
    Act::Govern(GovernOrder::Freeze { object })
}

/// A yard with Ada, Bob, Eve and the admin, all of which Ada reaches.
fn yard(builder: &mut Builder) -> Yard {
    builder.genesis.parameters.building.reach = Fx::from_int(100);
    let mut yard = site(builder);
    yard.login(EVE);
    yard.play();
    yard
}

/// Gives Ada rights for an area, by the admin.
fn give(yard: &mut Yard, words: &[&str], area: GroundArea) {
    assert_eq!(yard.try_act(ADMIN, grant(ADA, words, area, None)), Outcome::Ok);
}

fn to(object: ObjectId, x: i32, y: i32) -> Build {
    Build::Move { object, position: vec2(x, y) }
}

fn paint(object: ObjectId) -> Build {
    Build::Recolor { object, color: 7 }
}

#[test]
fn a_thing_of_somebody_else_stands_on_the_area_before_and_after_the_step() {
    let mut yard = yard(&mut Builder::new());
    let (inside, outside) =
        (place(&mut yard, BOB, block(6, 6)), place(&mut yard, BOB, block(12, 6)));
    give(&mut yard, &["build"], area(4, 4, 6, 6));
    assert_eq!(built(&mut yard, ADA, to(inside, 8, 8)), Outcome::Ok);
    assert_eq!(built(&mut yard, ADA, to(inside, 10, 8)), refused(Refusal::NotYours), "half");
    assert_eq!(built(&mut yard, ADA, to(inside, 14, 8)), refused(Refusal::NotYours), "out");
    assert_eq!(built(&mut yard, ADA, to(outside, 8, 6)), refused(Refusal::NotYours), "in");
    assert_eq!(built(&mut yard, ADA, paint(outside)), refused(Refusal::NotYours));
    let outline = Outline::Disc { radius: Fx::from_int(3) };
    let grow = Build::Resize { object: inside, outline };
    assert_eq!(built(&mut yard, ADA, grow), refused(Refusal::NotYours));
    assert_eq!(built(&mut yard, ADA, paint(inside)), Outcome::Ok);
    // The owner has it astride the edge: what covers no more of it than before is refused as well.
    assert_eq!(built(&mut yard, BOB, to(inside, 10, 8)), Outcome::Ok);
    assert_eq!(built(&mut yard, ADA, paint(inside)), refused(Refusal::NotYours));
    assert_eq!(built(&mut yard, ADA, to(inside, 8, 8)), refused(Refusal::NotYours));
    yard.check_leaves();
}

#[test]
fn areas_that_touch_are_one_and_a_gap_between_them_is_none_of_them() {
    let mut yard = yard(&mut Builder::new());
    let wall = place(&mut yard, BOB, block(6, 6));
    give(&mut yard, &["build"], area(4, 4, 2, 4));
    assert_eq!(built(&mut yard, ADA, paint(wall)), refused(Refusal::NotYours));
    // East of the first one: the wall stands on the seam.
    give(&mut yard, &["build"], area(6, 5, 4, 2));
    assert_eq!(built(&mut yard, ADA, paint(wall)), Outcome::Ok);
    assert_eq!(built(&mut yard, ADA, to(wall, 9, 6)), Outcome::Ok);
    // Another right there makes no seam.
    give(&mut yard, &["moderate"], area(10, 4, 4, 4));
    assert_eq!(built(&mut yard, ADA, to(wall, 10, 6)), refused(Refusal::NotYours));
    give(&mut yard, &["build"], area(11, 4, 4, 4));
    assert_eq!(built(&mut yard, ADA, to(wall, 12, 6)), Outcome::Ok, "over the gap");
    assert_eq!(built(&mut yard, ADA, to(wall, 11, 6)), refused(Refusal::NotYours), "in the gap");
    let take = revoke(ADA, &["build"], area(11, 4, 4, 4));
    assert_eq!(yard.try_act(ADMIN, take.clone()), Outcome::Ok);
    assert_eq!(yard.try_act(ADMIN, take), refused(Refusal::AlreadySo));
    assert_eq!(built(&mut yard, ADA, to(wall, 6, 6)), refused(Refusal::NotYours));
    assert_eq!(yard.world.role(&public(ADA)).expect("a role").areas.len(), 3);
}

#[test]
fn nothing_leaves_the_area_by_hand_or_by_a_joint() {
    let mut yard = yard(&mut Builder::new());
    let loose = |x, y| Blueprint { movable: true, ..block(x, y) };
    let crates = [place(&mut yard, BOB, loose(5, 5)), place(&mut yard, BOB, loose(7, 7))];
    let outside = place(&mut yard, BOB, block(12, 5));
    give(&mut yard, &["build"], area(4, 4, 6, 6));
    let [first, second] = crates;
    let take = Build::Take { object: first };
    assert_eq!(built(&mut yard, ADA, take.clone()), refused(Refusal::NotYours));
    let join = |to: Option<ObjectId>, x| {
        let (object, at, kind) = (first, vec2(x, 6), BuiltJoint::Rod);
        Build::Join { object, to, at, kind }
    };
    assert_eq!(built(&mut yard, ADA, join(Some(outside), 8)), refused(Refusal::NotYours));
    assert_eq!(built(&mut yard, ADA, join(None, 11)), refused(Refusal::NotYours));
    assert_eq!(built(&mut yard, ADA, join(None, 10)), Outcome::Ok, "the rim belongs to it");
    assert_eq!(built(&mut yard, ADA, join(Some(second), 8)), Outcome::Ok);
    assert_eq!(built(&mut yard, ADA, Build::Unjoin { object: first, from: None }), Outcome::Ok);
    // What somebody holds stands nowhere.
    assert_eq!(built(&mut yard, BOB, take), Outcome::Ok);
    assert_eq!(built(&mut yard, ADA, paint(first)), refused(Refusal::NotYours));
    assert_eq!(built(&mut yard, ADA, paint(second)), Outcome::Ok);
    yard.check_leaves();
}

#[test]
fn who_moderates_an_area_stops_and_returns_things_there_and_nobody_at_all() {
    let mut yard = yard(&mut Builder::new());
    let (inside, outside) =
        (place(&mut yard, BOB, block(6, 6)), place(&mut yard, BOB, block(12, 6)));
    let of_eve = place(&mut yard, EVE, block(8, 8));
    let here = area(4, 4, 6, 6);
    give(&mut yard, &["moderate"], here);
    assert_eq!(yard.try_act(ADA, freeze(outside)), refused(Refusal::NoRight));
    assert_eq!(yard.try_act(ADA, freeze(inside)), Outcome::Ok);
    let (seconds, reason) = (None, String::new());
    for order in [
        GovernOrder::Kick { key: public(BOB) },
        GovernOrder::Ban { key: public(BOB), seconds, reason: reason.clone() },
        GovernOrder::Mute { key: public(BOB), seconds, reason },
        GovernOrder::Undo { key: public(BOB), seconds: 60 },
    ] {
        let told = yard.try_act(ADA, Act::Govern(order.clone()));
        assert_eq!(told, refused(Refusal::NoRight), "{order:?}");
    }
    // It takes another right to change what is frozen and somebody else's.
    assert_eq!(built(&mut yard, ADA, paint(inside)), refused(Refusal::NotYours));
    give(&mut yard, &["build"], here);
    assert_eq!(built(&mut yard, ADA, paint(inside)), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, Act::Govern(GovernOrder::Thaw { object: inside })), Outcome::Ok);
    // Who has rights for an area has as much to say as any other such, and less than a moderator.
    assert_eq!(yard.try_act(ADMIN, grant(EVE, &["build"], area(-9, -9, 1, 1), None)), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, freeze(of_eve)), refused(Refusal::Outranked));
    assert_eq!(yard.try_act(ADMIN, grant_whole(EVE, &["moderate"])), Outcome::Ok);
    let of_ada = place(&mut yard, ADA, block(5, 8));
    assert_eq!(yard.try_act(EVE, freeze(of_ada)), Outcome::Ok);
    assert_eq!(
        built(&mut yard, ADA, paint(of_ada)),
        Outcome::Ok,
        "it is frozen where she moderates"
    );
    // A returned thing goes where its owner may build, or out of the sim, whoever sends it.
    let back = Act::Govern(GovernOrder::Return { object: inside });
    assert_eq!(yard.try_act(ADA, back), Outcome::Ok);
    assert!(yard.world.object(inside).is_none(), "Bob has no land");
    let (_, last) = yard.world.orders().last().expect("an order");
    assert_eq!((last.by, last.warrant), (public(ADA), Warrant::Role));
    yard.check_leaves();
}

#[test]
fn land_for_an_area_lets_one_build_there_and_order_about_lots_that_lie_on_it() {
    let mut builder = Builder::new();
    let park = Area::between(vec2(4, 4), vec2(24, 24));
    builder.genesis.lands.push(Land { name: "park".to_owned(), area: park, title: Title::Sim });
    let mut yard = yard(&mut builder);
    let ground = GroundArea { x: -16, y: -16, width: 8, depth: 8 };
    let claim = |ground| Act::Lot(LotOrder::Claim { ground, name: "garden".to_owned() });
    assert_eq!(yard.try_act(BOB, claim(ground)), Outcome::Ok);
    give(&mut yard, &["land"], area(4, 4, 8, 8));
    let own = place(&mut yard, ADA, block(-3, -3));
    assert_eq!(built(&mut yard, ADA, to(own, 8, 8)), Outcome::Ok, "hers may come from outside");
    assert_eq!(built(&mut yard, ADA, to(own, 12, 8)), refused(Refusal::ClosedLand));
    let astride = built(&mut yard, ADA, Build::Copy { object: own, position: vec2(12, 8) });
    assert_eq!(astride, refused(Refusal::ClosedLand));
    place(&mut yard, ADA, block(6, 6));
    let lot = LotId(1);
    let name = Act::Lot(LotOrder::Name { lot, name: "orchard".to_owned() });
    assert_eq!(yard.try_act(ADA, name.clone()), refused(Refusal::NotYours));
    give(&mut yard, &["land"], area(-17, -16, 8, 8));
    assert_eq!(yard.try_act(ADA, name.clone()), refused(Refusal::NotYours), "not all of the lot");
    give(&mut yard, &["land"], area(-9, -16, 4, 8));
    assert_eq!(yard.try_act(ADA, name), Outcome::Ok);
    let small = GroundArea { x: 5, y: 9, width: 4, depth: 4 };
    assert_eq!(yard.try_act(ADA, claim(small)), refused(Refusal::ClosedLand));
    let own_ground = GroundArea { y: 8, ..small };
    assert_eq!(yard.try_act(ADA, claim(own_ground)), Outcome::Ok, "what stands there is hers");
    yard.check_leaves();
}

#[test]
fn who_has_land_orders_about_the_lots_of_players_and_of_nobody_with_as_much_to_say() {
    let mut yard = yard(&mut Builder::new());
    let ground = GroundArea { x: 8, y: 8, width: 8, depth: 8 };
    let claim = Act::Lot(LotOrder::Claim { ground, name: "garden".to_owned() });
    assert_eq!(yard.try_act(BOB, claim), Outcome::Ok);
    let name = |word: &str| Act::Lot(LotOrder::Name { lot: LotId(1), name: word.to_owned() });
    assert_eq!(yard.try_act(ADA, name("hers")), refused(Refusal::NotYours));
    assert_eq!(yard.try_act(ADMIN, grant_whole(ADA, &["land"])), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, name("hers")), Outcome::Ok);
    assert_eq!(yard.try_act(ADMIN, grant(BOB, &["build"], area(-9, -9, 1, 1), None)), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, name("hers again")), refused(Refusal::Outranked));
}

#[test]
fn only_rights_about_things_and_ground_are_for_an_area_and_it_lies_on_the_sims_own_ground() {
    let mut yard = yard(&mut Builder::new());
    let here = area(4, 4, 6, 6);
    for (word, right) in RoleRight::ALL {
        let told = yard.try_act(ADMIN, grant(ADA, &[word], here, None));
        let is_one = matches!(word, "build" | "moderate" | "land");
        assert_eq!(right.is_for_area(), is_one);
        assert_eq!(told, if is_one { Outcome::Ok } else { refused(Refusal::NotForArea) }, "{word}");
    }
    let both = grant(ADA, &["build", "servers"], here, None);
    assert_eq!(yard.try_act(ADMIN, both), refused(Refusal::NotForArea));
    for none in [
        area(4, 4, 0, 6),
        area(4, 4, 6, 0),
        area(4, 4, u16::MAX, 6),
        area(i32::MAX, i32::MAX, u16::MAX, 1),
        area(i32::MIN, 0, 1, 1),
    ] {
        let told = yard.try_act(ADMIN, grant(BOB, &["build"], none, None));
        assert_eq!(told, refused(Refusal::OutOfRange), "{none}");
    }
    assert_eq!(yard.try_act(ADMIN, grant(BOB, &[], here, None)), refused(Refusal::OutOfRange));
    assert_eq!(
        yard.try_act(ADMIN, grant(BOB, &["land"], here, Some(0))),
        refused(Refusal::OutOfRange)
    );
    assert_eq!(yard.try_act(ADMIN, grant(77, &["land"], here, None)), refused(Refusal::NoPlayer));
    assert_eq!(yard.try_act(ADA, grant(BOB, &["land"], here, None)), refused(Refusal::NoRight));
    assert_eq!(yard.try_act(ADMIN, grant_whole(ADA, &["administer"])), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, grant(BOB, &["land"], here, None)), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, grant(ADA, &["land"], here, None)), refused(Refusal::Outranked));
    let (_, last) = yard.world.orders().last().expect("an order");
    assert!(
        matches!(&last.deed, OrderedDeed::Govern(order) if order.area() == Some(here)),
        "{last:?}"
    );
}

#[test]
fn a_right_for_an_area_lasts_as_long_as_it_was_given_for_and_not_a_turn_longer() {
    let mut yard = yard(&mut Builder::new());
    let wall = place(&mut yard, BOB, block(6, 6));
    let here = area(4, 4, 6, 6);
    assert_eq!(yard.try_act(ADMIN, grant(ADA, &["build"], here, Some(2))), Outcome::Ok);
    let given = yard.world.role(&public(ADA)).expect("a role").areas[&here][&RoleRight::Build];
    let until = given.until.expect("it ends");
    while yard.world.governance().time + 100 < until {
        yard.play();
    }
    assert_eq!(built(&mut yard, ADA, paint(wall)), Outcome::Ok);
    assert_eq!(built(&mut yard, ADA, paint(wall)), refused(Refusal::NotYours));
    assert_eq!(yard.world.role(&public(ADA)), None);
    yard.check_leaves();
}

#[test]
fn rights_for_areas_go_to_the_key_that_takes_the_place_of_another() {
    let mut yard = yard(&mut Builder::new());
    let wall = place(&mut yard, BOB, block(6, 6));
    let here = area(4, 4, 6, 6);
    assert_eq!(yard.try_act(ADMIN, grant(ADA, &["build"], here, Some(3_600))), Outcome::Ok);
    let before = yard.world.role(&public(ADA)).cloned();
    let pass = Some(Pass::Rotation(Rotation::new(&key(ADA), &key(11), 1)));
    let (name, look) = ("player 1".to_owned(), Look::default());
    assert_eq!(yard.try_act(11, Act::Login { name, look, bot: false, pass }), Outcome::Ok);
    assert_eq!(yard.world.role(&public(11)).cloned(), before);
    assert_eq!(yard.world.role(&public(ADA)), None);
    assert_eq!(built(&mut yard, 11, paint(wall)), Outcome::Ok);
    yard.check_leaves();
}

#[test]
fn a_step_is_undone_where_the_thing_stands_on_the_area_then_as_well() {
    let mut yard = yard(&mut Builder::new());
    let wall = place(&mut yard, BOB, block(6, 6));
    give(&mut yard, &["build"], area(4, 4, 6, 6));
    let undo = Build::Undo { skip: 0 };
    assert_eq!(built(&mut yard, ADA, to(wall, 8, 8)), Outcome::Ok);
    assert_eq!(built(&mut yard, ADA, undo.clone()), Outcome::Ok);
    assert_eq!(yard.world.object(wall).expect("it is there").position, vec2(6, 6));
    assert_eq!(built(&mut yard, ADA, to(wall, 8, 8)), Outcome::Ok);
    // The area shrinks: where the thing was is outside of it.
    give(&mut yard, &["build"], area(7, 7, 3, 3));
    let shrink = revoke(ADA, &["build"], area(4, 4, 6, 6));
    assert_eq!(yard.try_act(ADMIN, shrink), Outcome::Ok);
    assert_eq!(built(&mut yard, ADA, undo), refused(Refusal::NotYours));
    assert_eq!(built(&mut yard, ADA, paint(wall)), Outcome::Ok);
    assert_eq!(built(&mut yard, ADA, Build::Delete { object: wall }), Outcome::Ok);
    assert_eq!(built(&mut yard, ADA, Build::Undo { skip: 0 }), Outcome::Ok, "it is restored there");
    assert!(yard.world.object(wall).is_some());
    yard.check_leaves();
}
