//! What people hold: who takes what, where it is meanwhile, and when it is put down.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{Filter, Motion};
use metatopia_scripting::Value;
use metatopia_sim::{Area, Land, WorldObject, limits::HANDS_MAX};
use metatopia_types::{
    Act, Blueprint, Build, GovernOrder, GroundArea, LotId, LotOrder, ObjectId, Outcome, Outline,
    Refusal, Title,
};

use crate::{
    building::{block, built, place, refused, site},
    byte_budget::{leave, script},
    undoing::restored,
    yard::{Builder, Yard, public, vec2},
};

const ADMIN: u8 = 100;
const HELD: Outcome = Outcome::Refused(Refusal::Held);

/// A lantern that can be pushed.
fn lantern(x: i32, y: i32) -> Blueprint {
    let outline = Outline::Disc { radius: Fx::from_ratio(1, 4) };
    Blueprint { name: "lantern".to_owned(), outline, movable: true, ..block(x, y) }
}

fn take(yard: &mut Yard, n: u8, object: ObjectId) -> Outcome {
    built(yard, n, Build::Take { object })
}

fn lay(yard: &mut Yard, n: u8, object: ObjectId, position: Vec2) -> Outcome {
    built(yard, n, Build::PutDown { object, position })
}

fn seen(yard: &Yard, id: ObjectId) -> WorldObject {
    yard.world.object(id).expect("it is there")
}

fn holder(yard: &Yard, id: ObjectId) -> Option<ObjectId> {
    seen(yard, id).held
}

/// A yard in which player 1 holds a lantern.
fn carried(builder: &mut Builder) -> (Yard, ObjectId) {
    let mut yard = site(builder);
    let id = place(&mut yard, 1, lantern(3, 0));
    assert_eq!(take(&mut yard, 1, id), Outcome::Ok);
    (yard, id)
}

/// Checks that a lantern stands free at a place, and that the state is what its leaves say.
#[track_caller]
fn check_free(yard: &Yard, id: ObjectId, at: Vec2) {
    let thing = seen(yard, id);
    assert_eq!((thing.held, thing.position, thing.movable), (None, at, true));
    yard.check_leaves();
}

#[test]
fn what_is_taken_goes_where_its_holder_goes_and_is_in_nobodys_way() {
    let (mut yard, id) = carried(&mut Builder::new());
    let avatar = yard.avatar(1);
    assert_eq!(yard.world.in_hands_of(avatar).collect::<Vec<_>>(), [id]);

    yard.walk_to(1, vec2(8, 6));

    let (thing, person) = (seen(&yard, id), seen(&yard, avatar));
    assert_eq!((thing.held, thing.movable), (Some(avatar), true));
    assert_eq!((thing.position, thing.angle), (person.position, person.angle));
    // It lies within its holder, and touches neither her nor who walks through both of them.
    assert_eq!(yard.world.touching(id), []);
    assert_eq!(yard.world.root(), yard.world.rehash());

    assert_eq!(lay(&mut yard, 1, id, vec2(8, 8)), Outcome::Ok);

    check_free(&yard, id, vec2(8, 8));
    assert_eq!(yard.world.in_hands_of(avatar).count(), 0);
    assert_eq!(yard.try_act(1, Act::Push { object: id }), Outcome::Ok);
    yard.idle(5);
    assert_ne!(yard.position(id), vec2(8, 8), "it can be pushed again");
}

#[test]
fn who_may_build_with_a_thing_takes_it_if_it_is_near_free_and_can_be_pushed() {
    let mut builder = Builder::new();
    builder.genesis.parameters.building.reach = Fx::from_int(8);
    let mut yard = site(&mut builder);
    let (own, wall) = (place(&mut yard, 1, lantern(3, -3)), place(&mut yard, 1, block(0, 4)));
    let avatar = yard.avatar(2);

    assert_eq!(take(&mut yard, 2, own), refused(Refusal::NotYours));
    assert_eq!(take(&mut yard, 1, wall), refused(Refusal::Immovable));
    assert_eq!(take(&mut yard, 1, avatar), refused(Refusal::Person));
    assert_eq!(take(&mut yard, 1, ObjectId(999)), refused(Refusal::NoObject));
    yard.walk_to(1, vec2(14, 0));
    assert_eq!(take(&mut yard, 1, own), refused(Refusal::OutOfReach));
    yard.walk_to(1, vec2(6, 0));
    assert_eq!(take(&mut yard, 1, own), Outcome::Ok);
    // An admin may build with everything, and takes nothing out of hands; nor does its owner twice.
    assert_eq!(take(&mut yard, ADMIN, own), HELD);
    assert_eq!(take(&mut yard, 1, own), HELD);
}

#[test]
fn hands_hold_so_many_things_and_no_more() {
    let mut yard = site(&mut Builder::new());
    let most = i32::try_from(HANDS_MAX).expect("a few");
    let things: Vec<ObjectId> =
        (0..=most).map(|n| place(&mut yard, 1, lantern(2, n - 2))).collect();
    for id in &things[..HANDS_MAX] {
        assert_eq!(take(&mut yard, 1, *id), Outcome::Ok);
    }

    assert_eq!(take(&mut yard, 1, things[HANDS_MAX]), refused(Refusal::HandsFull));
    assert_eq!(lay(&mut yard, 1, things[0], vec2(0, 3)), Outcome::Ok);
    assert_eq!(take(&mut yard, 1, things[HANDS_MAX]), Outcome::Ok);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn a_thing_is_put_down_by_its_holder_where_she_might_build() {
    let mut builder = Builder::new();
    let area = Area::between(vec2(-6, -6), vec2(-3, -3));
    let title = Title::Player(public(2));
    builder.genesis.lands.push(Land { name: "Bob's".to_owned(), area, title });
    builder.genesis.parameters.building.reach = Fx::from_int(8);
    let (mut yard, id) = carried(&mut builder);
    let other = place(&mut yard, 1, lantern(0, 3));
    let beside = yard.position(yard.avatar(2));

    assert_eq!(lay(&mut yard, 2, id, vec2(3, 0)), refused(Refusal::NotHeld));
    assert_eq!(lay(&mut yard, 1, other, vec2(3, 0)), refused(Refusal::NotHeld));
    assert_eq!(lay(&mut yard, 1, ObjectId(999), vec2(3, 0)), refused(Refusal::NoObject));
    assert_eq!(lay(&mut yard, 1, id, vec2(20, 0)), refused(Refusal::OutOfReach));
    assert_eq!(lay(&mut yard, 1, id, vec2(-4, -4)), refused(Refusal::ClosedLand));
    assert_eq!(lay(&mut yard, 1, id, vec2(9_999, 0)), refused(Refusal::OutOfRange));
    assert_eq!(lay(&mut yard, 1, id, beside), refused(Refusal::Occupied));
    assert_eq!(lay(&mut yard, 1, id, vec2(0, -3)), Outcome::Ok);
    check_free(&yard, id, vec2(0, -3));
}

#[test]
fn nobody_else_moves_turns_or_pushes_what_is_in_hand_and_its_holder_may_change_how_it_looks() {
    let mut yard = site(&mut Builder::new());
    let id = place(&mut yard, 1, lantern(3, 0));
    assert_eq!(built(&mut yard, 1, Build::Move { object: id, position: vec2(0, 3) }), Outcome::Ok);
    assert_eq!(take(&mut yard, 1, id), Outcome::Ok);
    let outline = Outline::Disc { radius: Fx::ONE };
    for build in [
        Build::Move { object: id, position: vec2(3, 3) },
        Build::Rotate { object: id, angle: metatopia_math::Angle::EIGHTH },
        Build::Resize { object: id, outline },
        // The last deed was to move it: to take it is none that is taken back.
        Build::Undo { skip: 0 },
    ] {
        assert_eq!(built(&mut yard, 1, build.clone()), HELD, "{build:?}");
    }
    assert_eq!(yard.try_act(2, Act::Push { object: id }), HELD);
    let back = GovernOrder::Return { object: id };
    assert_eq!(yard.try_act(ADMIN, Act::Govern(back)), HELD);
    for build in [
        Build::Recolor { object: id, color: 7 },
        Build::Rename { object: id, name: "lamp".to_owned() },
        Build::Write { object: id, text: "lit".to_owned() },
        Build::LetTravel { object: id, travels: true },
    ] {
        assert_eq!(built(&mut yard, 1, build.clone()), Outcome::Ok, "{build:?}");
    }
    assert_eq!(yard.try_act(2, Act::Touch { object: id }), Outcome::Ok);
    assert_eq!(holder(&yard, id), Some(yard.avatar(1)));

    // A copy of it stands free.
    let Outcome::Made(copy) = built(&mut yard, 1, Build::Copy { object: id, position: vec2(0, 4) })
    else {
        panic!("its own thing")
    };
    check_free(&yard, copy, vec2(0, 4));
}

#[test]
fn what_is_deleted_in_hand_comes_back_in_nobodys_hands() {
    let (mut yard, id) = carried(&mut Builder::new());
    let avatar = yard.avatar(1);
    // Nobody else stands there, or pushes her.
    yard.walk_to(1, vec2(4, 4));
    assert_eq!(built(&mut yard, 1, Build::Delete { object: id }), Outcome::Ok);
    assert_eq!(yard.world.in_hands_of(avatar).count(), 0);
    let here = yard.position(avatar);
    yard.walk_to(1, vec2(6, 6));
    yard.walk_to(2, vec2(-6, 6));

    assert_eq!(built(&mut yard, 1, Build::Undo { skip: 0 }), Outcome::Ok);

    check_free(&yard, id, here);
}

#[test]
fn a_gift_is_put_down_unless_it_is_in_the_hands_of_its_new_owner() {
    let (mut yard, id) = carried(&mut Builder::new());
    yard.walk_to(1, vec2(4, 4));
    let here = yard.position(yard.avatar(1));
    let give = |to| Build::Give { object: id, to: public(to) };
    assert_eq!(built(&mut yard, 1, give(2)), Outcome::Ok);
    assert_eq!((holder(&yard, id), seen(&yard, id).owner), (None, Some(public(2))));
    assert!(yard.position(id).distance(here) < Fx::HALF);

    assert_eq!(take(&mut yard, ADMIN, id), Outcome::Ok);
    assert_eq!(built(&mut yard, 2, give(ADMIN)), Outcome::Ok);
    assert_eq!(holder(&yard, id), Some(yard.avatar(ADMIN)), "it is in the right hands");
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn what_a_moderator_freezes_is_put_down() {
    let (mut yard, id) = carried(&mut Builder::new());
    yard.walk_to(1, vec2(4, 4));

    let freeze = Act::Govern(GovernOrder::Freeze { object: id });
    assert_eq!(yard.try_act(ADMIN, freeze), Outcome::Ok);

    assert_eq!(holder(&yard, id), None);
    assert_eq!(take(&mut yard, 1, id), refused(Refusal::Frozen));
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn whoever_goes_puts_down_what_she_holds_where_she_stood() {
    let key = public(1);
    let order = |order| (ADMIN, Act::Govern(order));
    for (n, act) in [
        (1, Act::Leave),
        order(GovernOrder::Kick { key }),
        order(GovernOrder::Ban { key, seconds: None, reason: String::new() }),
    ] {
        let (mut yard, id) = carried(&mut Builder::new());
        yard.walk_to(1, vec2(5, 5));
        let here = yard.position(yard.avatar(1));
        assert_eq!(yard.try_act(n, act.clone()), Outcome::Ok, "{act:?}");
        check_free(&yard, id, here);
        assert_eq!(seen(&yard, id).owner, Some(key), "and it stays hers");
    }
    // Who goes home has it with her, and whose lease runs out puts it down there.
    let (mut yard, id) = carried(&mut Builder::new());
    yard.walk_to(1, vec2(5, 5));
    assert_eq!(yard.try_act(1, Act::GoHome), Outcome::Ok);
    yard.play();
    let mut home = yard.position(yard.avatar(1));
    assert_eq!((holder(&yard, id), yard.position(id)), (Some(yard.avatar(1)), home));
    while yard.world.avatar(&key).is_some() {
        // Who stands there already pushes her aside for some turns.
        home = yard.position(yard.avatar(1));
        yard.play();
    }
    check_free(&yard, id, home);
}

#[test]
fn a_restored_state_knows_what_is_in_hand_and_whoever_founds_it_anew_finds_it_free() {
    let mut builder = Builder::new();
    let (mut yard, id) = carried(&mut builder);
    yard.world = restored(&builder, &yard.world);
    yard.walk_to(1, vec2(4, 4));
    assert_eq!(yard.position(id), yard.position(yard.avatar(1)));

    let specs = yard.world.specs();
    let (_, spec) = specs.iter().find(|(other, _)| *other == id).expect("it is exported");
    assert_eq!((spec.body.motion, spec.body.filter), (Motion::Dynamic, Filter::ALL));

    assert_eq!(lay(&mut yard, 1, id, vec2(4, 6)), Outcome::Ok);
    yard.world = restored(&builder, &yard.world);
    check_free(&yard, id, vec2(4, 6));
}

#[test]
fn what_passes_others_passes_them_again_once_it_is_put_down() {
    let mut builder = Builder::new();
    let id = builder.thing(Motion::Dynamic, (3, 0), &[]);
    let filter = Filter { category: 2, mask: 5 };
    builder.genesis.objects[0].body.filter = filter;
    let mut yard = site(&mut builder);

    assert_eq!(take(&mut yard, ADMIN, id), Outcome::Ok);
    assert_eq!(lay(&mut yard, ADMIN, id, vec2(0, 3)), Outcome::Ok);

    let specs = yard.world.specs();
    assert_eq!(specs[0].1.body.filter, filter);
    check_free(&yard, id, vec2(0, 3));
}

#[test]
fn what_is_in_hand_counts_for_its_owner_and_stands_on_nobodys_ground() {
    let mut builder = Builder::new();
    builder.genesis.parameters.building.movable_per_player = 2;
    let (mut yard, _) = carried(&mut builder);
    place(&mut yard, 1, lantern(0, 3));
    let third = Build::Place(lantern(0, 5));
    assert_eq!(built(&mut yard, 1, third), refused(Refusal::TooManyMovable));
    // Bob takes the ground on which she stands with her lantern, and sends nothing home that she holds.
    yard.walk_to(1, vec2(12, 12));
    yard.walk_to(2, vec2(14, 14));
    let ground = GroundArea { x: 8, y: 8, width: 8, depth: 8 };
    let claim = LotOrder::Claim { ground, name: "garden".to_owned() };
    assert_eq!(yard.try_act(2, Act::Lot(claim)), Outcome::Ok);
    let object = yard.world.in_hands_of(yard.avatar(1)).next().expect("a lantern");
    let home = LotOrder::SendHome { lot: LotId(1), object };
    assert_eq!(yard.try_act(2, Act::Lot(home)), HELD);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

/// A thing of a script that looks, moves itself and binds itself to its neighbour.
const RESTLESS: &str = r#"
fn on_chat(from, text) {
    switch text {
        "look" => { state.near = nearby(1).len(); state.at = self_.pos; }
        "move" => { self_.pos = vec2(9, 9); self_.velocity = vec2(5, 0); }
        "tie" => tie(find("post")[0], 3),
        _ => ()
    }
}
"#;

#[test]
fn a_script_in_hand_is_where_its_holder_is_and_neither_leaves_nor_ties_itself() {
    let mut builder = Builder::new();
    let package = builder.package("restless", RESTLESS);
    let (mut yard, id) = carried(&mut builder);
    place(&mut yard, 1, Blueprint { name: "post".to_owned(), ..block(0, 3) });
    assert_eq!(built(&mut yard, 1, Build::Attach { object: id, package }), Outcome::Ok);
    // Whoever appeared where others stand is at rest by now.
    yard.idle(30);
    for text in ["look", "move", "tie"] {
        yard.say(1, 0, text);
        yard.idle(2);
    }

    let avatar = yard.avatar(1);
    assert_eq!(yard.position(id), yard.position(avatar));
    assert!(yard.world.joints().is_empty());
    let state = script(&yard.world, 1).state.0.clone();
    let near = state.get("near").cloned();
    assert!(matches!(near, Some(Value::Int(1..))), "who looks around sees its holder: {near:?}");
    assert_eq!(state.get("at"), Some(&Value::Vec2(yard.position(avatar))));
    assert_eq!(script(&yard.world, 1).dropped, 1, "the joint was refused");
    // Others see it too, as they see what stands free.
    let post = yard.world.scene(yard.position(avatar), Fx::ONE, 9);
    assert!(post.iter().any(|thing| thing.id == id));

    assert_eq!(lay(&mut yard, 1, id, vec2(2, 0)), Outcome::Ok);
    yard.say(1, 0, "tie");
    yard.idle(2);
    assert_eq!(yard.world.joints().len(), 1);
    assert_eq!(take(&mut yard, 1, id), refused(Refusal::Joined));
}

#[test]
fn in_a_world_with_gravity_nothing_falls_out_of_hands() {
    let mut builder = Builder::new();
    builder.genesis.parameters.gravity = Vec2::new(Fx::ZERO, Fx::from_int(-10));
    let (mut yard, id) = carried(&mut builder);
    for _ in 0..20 {
        yard.play();
        assert_eq!(yard.position(id), yard.position(yard.avatar(1)));
        assert_eq!(seen(&yard, id).velocity, Vec2::ZERO);
    }
}

#[test]
fn a_full_world_lets_nobody_take_and_everybody_put_down() {
    let (mut yard, id) = carried(&mut Builder::new());
    let other = place(&mut yard, 1, lantern(0, 3));
    leave(&mut yard.world, 0);

    assert_eq!(take(&mut yard, 1, other), refused(Refusal::Full));
    assert_eq!(lay(&mut yard, 1, id, vec2(3, 0)), Outcome::Ok);
    check_free(&yard, id, vec2(3, 0));
}
