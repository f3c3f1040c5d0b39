//! Undo of what somebody did to things that others held, sat on or traded: a restored server goes on as the
//! others do, and nobody loses what she got by an agreement.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::Motion;
use metatopia_sim::Serial;
use metatopia_types::{
    Act, Blueprint, Build, GovernOrder, GroundArea, LotOrder, ObjectId, Offer, Outcome, Refusal,
};

use crate::{
    building::{block, place, refused},
    undo_of::{ADA, MODERATOR, PEST, Scene, build, recorded, scene, scene_with, seen, undo},
    undoing::restored,
    yard::{Builder, Yard, public, vec2},
};

const BUYER: u8 = 4;

/// A thing on which one can sit.
const CHAIR: &str = "fn on_start() { seat(vec2(0.5, 0)); }\n";

/// A thing that offers itself to whoever wants to have it.
const SALE: &str = r#"
fn on_chat(from, text) { if text == "sell" { offer(from, #{ tag: "sale", give: self_ }); } }
"#;

/// Has somebody buy a thing that offers itself.
fn buy(yard: &mut Yard, n: u8, object: ObjectId) {
    yard.say(n, 0, "sell");
    let turns = [yard.play(), yard.play()];
    let forms = turns.into_iter().flat_map(|applied| applied.forms);
    let offers: Vec<Offer> =
        forms.filter_map(|shown| shown.form.offer.map(|offer| offer.terms)).collect();
    let [terms] = offers.as_slice() else { panic!("{offers:?}") };
    let answer = Act::Answer { object, terms: terms.clone(), accepts: true };
    assert_eq!(yard.try_act(n, answer), Outcome::Ok);
    assert_eq!(yard.world.object(object).and_then(|thing| thing.owner), Some(public(n)));
}

#[test]
fn what_was_deleted_out_of_hands_is_restored_as_what_can_be_pushed_on_a_restored_server_too() {
    let Scene { mut yard, .. } = scene();
    let lantern = place(&mut yard, ADA, Blueprint { movable: true, ..block(4, -3) });
    build(&mut yard, ADA, Build::Take { object: lantern });
    build(&mut yard, PEST, Build::Delete { object: lantern });

    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);

    assert_eq!(recorded(&yard), (1, 0));
    assert_eq!(seen(&yard, lantern).map(|thing| (thing.held, thing.movable)), Some((None, true)));
    yard.check_leaves();
    yard.idle(3);
    yard.check_leaves();
}

#[test]
fn what_is_changed_in_hand_stays_where_its_holder_puts_it_down() {
    let Scene { mut yard, .. } = scene();
    let lantern = place(&mut yard, ADA, Blueprint { movable: true, ..block(4, -3) });
    build(&mut yard, ADA, Build::Take { object: lantern });
    build(&mut yard, PEST, Build::Recolor { object: lantern, color: 7 });
    yard.walk_to(ADA, vec2(-6, -6));
    let here = yard.position(yard.avatar(ADA));

    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);

    let thing = seen(&yard, lantern).expect("it is there");
    assert_eq!((thing.look.color, thing.held, thing.movable), (block(0, 0).color, None, true));
    assert!(thing.position.distance(here) < Fx::from_int(2), "{}", thing.position);
    yard.check_leaves();
}

#[test]
fn nobody_sits_on_a_chair_that_is_restored_and_a_restored_server_agrees() {
    let mut chair = ObjectId(0);
    let Scene { mut yard, .. } = scene_with(|builder| {
        let package = builder.package("chair", CHAIR);
        chair = builder.thing(Motion::Static, (6, -5), &[package]);
        builder.genesis.parameters.avatar.reach = Fx::from_int(5);
    });
    assert_eq!(yard.try_act(ADA, Act::Sit { on: Some(chair) }), Outcome::Ok);
    yard.idle(2);
    build(&mut yard, PEST, Build::Delete { object: chair });
    yard.walk_to(ADA, vec2(-3, -6));

    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);

    assert_eq!(recorded(&yard), (1, 0));
    yard.check_leaves();
    let mut twin = restored(&Builder::new(), &yard.world);
    yard.idle(2);
    for turn in &yard.log[yard.log.len() - 2..] {
        twin.apply(turn, &Serial);
    }
    assert_eq!(twin.root(), yard.world.root());
    assert!(seen(&yard, chair).is_some());
    yard.check_leaves();
}

#[test]
fn who_bought_a_thing_keeps_it_whoever_had_changed_it_before() {
    let mut sign = ObjectId(0);
    let Scene { mut yard, .. } = scene_with(|builder| {
        let package = builder.package("sale", SALE);
        sign = builder.thing(Motion::Static, (6, -5), &[package]);
    });
    yard.login(BUYER);
    yard.play();
    build(&mut yard, PEST, Build::Recolor { object: sign, color: 7 });
    buy(&mut yard, BUYER, sign);

    assert_eq!(undo(&mut yard, MODERATOR, 3_600), refused(Refusal::NothingToUndo));

    let thing = seen(&yard, sign).expect("it is there");
    assert_eq!((thing.owner, thing.look.color), (Some(public(BUYER)), 7));
    yard.check_leaves();
}

#[test]
fn who_sells_herself_what_is_somebodys_by_a_script_of_her_own_gives_it_back() {
    let mut package = None;
    let Scene { mut yard, wall, .. } =
        scene_with(|builder| package = Some(builder.package("sale", SALE)));
    let package = package.expect("a package");
    let before = seen(&yard, wall);
    build(&mut yard, PEST, Build::Attach { object: wall, package });
    yard.play();
    buy(&mut yard, PEST, wall);

    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);

    assert_eq!((seen(&yard, wall), recorded(&yard)), (before, (1, 0)));
    yard.check_leaves();
}

#[test]
fn what_a_moderator_sent_home_stays_there_and_what_its_maker_still_has_goes_home_once_more() {
    let Scene { mut yard, wall, .. } = scene();
    for (n, (x, y)) in [(ADA, (-16, -16)), (PEST, (-16, 8))] {
        yard.walk_to(n, Vec2::new(Fx::from_int(x + 4), Fx::from_int(y + 4)));
        let ground = GroundArea { x, y, width: 8, depth: 8 };
        let claim = LotOrder::Claim { ground, name: format!("lot {n}") };
        assert_eq!(yard.try_act(n, Act::Lot(claim)), Outcome::Ok);
    }
    yard.walk_to(PEST, vec2(7, 1));
    build(&mut yard, PEST, Build::Recolor { object: wall, color: 7 });
    let junk = place(&mut yard, PEST, block(9, -3));
    for object in [wall, junk] {
        let order = Act::Govern(GovernOrder::Return { object });
        assert_eq!(yard.try_act(MODERATOR, order), Outcome::Ok);
    }
    let home = seen(&yard, wall);
    assert_ne!(home.as_ref().map(|wall| wall.position), Some(vec2(9, 3)));

    assert_eq!(undo(&mut yard, MODERATOR, 3_600), Outcome::Ok);

    assert_eq!((seen(&yard, wall), recorded(&yard)), (home, (1, 0)));
    assert!(yard.position(junk).x < Fx::ZERO, "it is on the lot of its maker");
    yard.check_leaves();
}
