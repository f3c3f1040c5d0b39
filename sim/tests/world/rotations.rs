//! Rotations: what a key had becomes another one's at a login, and nothing is escaped by it.

use std::collections::BTreeSet;

use metatopia_math::{Fx, Vec2};
use metatopia_physics::Motion;
use metatopia_scripting::{Call, EventKind, ScriptError, ScriptOutput};
use metatopia_sim::{
    Area, Land, Standings as _, World,
    limits::{ROTATED_AGAIN_MS, ROTATIONS_PER_TURN_MAX},
};
use metatopia_types::{
    Act, Build, GovernOrder, GroundArea, LeafKey, Look, LotId, LotOrder, ObjectId, Outcome, Pass,
    PublicKey, Refusal, RoleRight, Rotation, Tick, TicketOrder, Title, limits::ACTS_PER_TURN_MAX,
    wire,
};

use crate::building::block;
use crate::yard::{Builder, Yard, key, public, vec2};

const ADMIN: u8 = 100;
const ADA: u8 = 1;
const BOB: u8 = 2;
/// The keys that take the places of others.
const NEW: u8 = 11;
const NEWER: u8 = 12;

fn yard() -> (Yard, ObjectId) {
    let mut builder = Builder::new();
    builder.genesis.parameters.building.reach = Fx::from_int(100);
    let thing = builder.thing(Motion::Static, (5, 5), &[]);
    builder.genesis.objects[0].owner = Some(public(ADA));
    let area = Area { low: vec2(8, 8), high: vec2(12, 12) };
    let land = Land { name: "Ada's".to_owned(), area, title: Title::Player(public(ADA)) };
    builder.genesis.lands.push(land);
    let mut yard = builder.build();
    for n in [ADMIN, ADA, BOB] {
        yard.login(n);
    }
    yard.play();
    (yard, thing)
}

fn rotated(old: u8, new: u8, number: u32) -> Act {
    login(old, Some(Rotation::new(&key(old), &key(new), number)))
}

fn login(name: u8, rotation: Option<Rotation>) -> Act {
    let (name, look) = (format!("player {name}"), Look::default());
    Act::Login { name, look, bot: false, pass: rotation.map(Pass::Rotation) }
}

fn refused(why: Refusal) -> Outcome {
    Outcome::Refused(why)
}

fn order(order: GovernOrder) -> Act {
    Act::Govern(order)
}

#[test]
fn what_the_old_key_had_is_the_new_ones_in_that_turn() {
    let (mut yard, thing) = yard();
    let rights = BTreeSet::from([RoleRight::Moderate]);
    let grant = GovernOrder::Grant { key: public(ADA), rights, seconds: Some(3_600) };
    assert_eq!(yard.try_act(ADMIN, order(grant)), Outcome::Ok);
    let mute = GovernOrder::Mute { key: public(ADA), seconds: None, reason: String::new() };
    assert_eq!(yard.try_act(ADMIN, order(mute)), Outcome::Ok);
    let before = yard.world.player(&public(ADA)).expect("a player").clone();
    let role = yard.world.role(&public(ADA)).cloned();

    // The old key is logged in: a thief who stays logged in stops nobody.
    assert_eq!(yard.try_act(NEW, rotated(ADA, NEW, 1)), Outcome::Ok);

    let world = &yard.world;
    let after = world.player(&public(NEW)).expect("a player");
    assert_eq!((&after.name, after.first_seen, after.days), (&before.name, before.first_seen, 1));
    assert_eq!(world.object(thing).expect("it stays").owner, Some(public(NEW)));
    assert_eq!(world.charter().lands[0].title, Title::Player(public(NEW)));
    assert_eq!((world.role(&public(NEW)).cloned(), world.role(&public(ADA))), (role, None));
    assert!(world.mute(&public(NEW)).is_some() && world.mute(&public(ADA)).is_none());
    assert!(world.avatar(&public(NEW)).is_some() && world.avatar(&public(ADA)).is_none());
    assert_eq!(world.player(&public(ADA)), None);
    assert_eq!(world.root(), world.rehash());
    restored(world);
}

/// A ban of the key that a pest had given up was carried out, and the pest stayed.
#[test]
fn an_order_about_a_key_that_was_given_up_names_the_new_one() {
    let (mut yard, _) = yard();
    assert_eq!(yard.try_act(NEW, rotated(ADA, NEW, 1)), Outcome::Ok);
    let (key, reason) = (public(ADA), String::new());
    for given in [
        GovernOrder::Ban { key, seconds: None, reason: reason.clone() },
        GovernOrder::Mute { key, seconds: Some(60), reason },
        GovernOrder::Kick { key },
        GovernOrder::Undo { key, seconds: 3_600 },
        GovernOrder::Grant { key, rights: [RoleRight::Build].into(), seconds: None },
        GovernOrder::SetLand {
            name: "garden".into(),
            area: GroundArea { x: 0, y: 0, width: 4, depth: 4 },
            title: Title::Player(key),
        },
    ] {
        let outcome = yard.try_act(ADMIN, order(given.clone()));
        assert_eq!(outcome, refused(Refusal::Rotated(public(NEW))), "{given:?}");
    }
    assert!(yard.world.ban(&public(ADA)).is_none() && yard.world.avatar(&public(NEW)).is_some());
}

/// Returns the gas that the scripts of a key had left, and at which tick, as the leaf of owners has it.
fn gas(world: &World, n: u8) -> Option<(i64, Tick)> {
    let leaf = world.leaf(&LeafKey("owners".to_owned())).expect("every state has this leaf");
    let pools: Vec<(Option<PublicKey>, (i64, Tick))> =
        wire::decode(&leaf, leaf.len()).expect("a leaf of owners");
    pools.into_iter().find_map(|(owner, pool)| (owner == Some(public(n))).then_some(pool))
}

/// Uses half a million gas when it is touched.
fn spends(_: &Call<'_>) -> Result<ScriptOutput, ScriptError> {
    Ok(ScriptOutput { gas: 500_000, ..ScriptOutput::default() })
}

#[test]
fn gas_that_is_used_up_stays_used_up_and_things_count_by_the_new_key() {
    let mut builder = Builder::new();
    let spender = builder.port("spender", &[EventKind::Touch], spends);
    let id = builder.thing(Motion::Static, (5, 5), &[spender]);
    builder.genesis.objects[0].owner = Some(public(ADA));
    builder.genesis.parameters.building.objects_per_player = 1;
    builder.genesis.parameters.building.reach = Fx::from_int(100);
    let mut yard = builder.build();
    [ADMIN, ADA, BOB].into_iter().for_each(|n| drop(yard.login(n)));
    yard.play();
    yard.walk_to(BOB, vec2(4, 4));
    assert_eq!(yard.try_act(BOB, Act::Touch { object: id }), Outcome::Ok);
    let before = gas(&yard.world, ADA).expect("her script ran");
    assert!(before.0 >= 0, "{before:?}");

    assert_eq!(yard.try_act(NEW, rotated(ADA, NEW, 1)), Outcome::Ok);

    assert_eq!((gas(&yard.world, NEW), gas(&yard.world, ADA)), (Some(before), None));
    let place = Act::Build(Build::Place(block(3, 5)));
    assert_eq!(
        yard.try_act(NEW, place),
        refused(Refusal::TooManyObjects),
        "one is all she may have"
    );
    restored(&yard.world);
}

#[test]
fn lots_have_the_new_key_as_holder_and_as_friend() {
    let (mut yard, _) = yard();
    for (n, x) in [(ADA, 20), (BOB, 30)] {
        let ground = GroundArea { x, y: 20, width: 4, depth: 4 };
        let claim = LotOrder::Claim { ground, name: "garden".to_owned() };
        assert_eq!(yard.try_act(n, Act::Lot(claim)), Outcome::Ok);
    }
    let open = LotOrder::Open { lot: LotId(2), to: public(ADA) };
    assert_eq!(yard.try_act(BOB, Act::Lot(open)), Outcome::Ok);
    assert_eq!(yard.try_act(NEW, rotated(ADA, NEW, 1)), Outcome::Ok);
    let lot = |n| yard.world.lot(LotId(n)).expect("it stays");
    assert_eq!(lot(1).holder, public(NEW));
    assert_eq!(lot(2).friends, BTreeSet::from([public(NEW)]));
    assert_eq!(yard.world.root(), yard.world.rehash());
    restored(&yard.world);
}

/// Reads the state back from its leaves, and compares.
fn restored(world: &World) {
    let tools = Builder::new().tools();
    let again = World::from_snapshot(&world.snapshot(), world.root(), &tools);
    let again = again.expect("it was just made");
    assert_eq!(again.root(), world.root());
    assert_eq!(again.rotated(&public(ADA)), world.rotated(&public(ADA)));
}

#[test]
fn the_old_key_is_refused_from_then_on_and_names_the_new_one() {
    let (mut yard, _) = yard();
    assert_eq!(yard.try_act(NEW, rotated(ADA, NEW, 1)), Outcome::Ok);
    let gone = refused(Refusal::Rotated(public(NEW)));
    for act in [login(ADA, None), Act::Heartbeat, Act::Walk { heading: Vec2::ZERO }] {
        assert_eq!(yard.try_act(ADA, act), gone);
    }
    assert_eq!(yard.try_act(NEWER, rotated(ADA, NEWER, 1)), gone, "it is given up already");
    assert_eq!(yard.try_act(NEW, rotated(ADA, NEW, 1)), Outcome::Ok, "shown again it is a login");
    assert_eq!(yard.try_act(NEW, rotated(BOB, NEW, 2)), refused(Refusal::KnownKey));
    assert_eq!(yard.try_act(BOB, rotated(ADMIN, BOB, 1)), refused(Refusal::KnownKey));
    assert_eq!(yard.world.player(&public(BOB)).expect("a player").name, "player 2");
}

#[test]
fn a_ban_is_not_escaped_by_another_key() {
    let (mut yard, _) = yard();
    let ban = |n| GovernOrder::Ban { key: public(n), seconds: None, reason: "spam".to_owned() };
    assert_eq!(yard.try_act(ADMIN, order(ban(ADA))), Outcome::Ok);
    assert_eq!(yard.try_act(NEW, rotated(ADA, NEW, 1)), Outcome::Ok);

    assert_eq!(yard.world.ban(&public(NEW)).expect("it moved").reason, "spam");
    assert_eq!(yard.world.avatar(&public(NEW)), None, "nobody came in");
    assert_eq!(yard.try_act(NEW, login(ADA, None)), refused(Refusal::Banned));

    // To a key that is shut out nothing moves.
    assert_eq!(yard.try_act(ADMIN, order(ban(NEWER))), Outcome::Ok);
    assert_eq!(yard.try_act(NEWER, rotated(BOB, NEWER, 1)), refused(Refusal::Banned));
    assert!(yard.world.avatar(&public(BOB)).is_some());
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn an_admin_who_rotates_is_the_admin_and_keeps_the_tickets() {
    let (mut yard, _) = yard();
    let issue = TicketOrder::Issue { ticket: public(90), uses: 3, days: 1 };
    assert_eq!(yard.try_act(ADMIN, Act::Ticket(issue)), Outcome::Ok);
    assert_eq!(yard.try_act(NEW, rotated(ADMIN, NEW, 1)), Outcome::Ok);

    assert_eq!(yard.world.governance().admins, BTreeSet::from([public(NEW)]));
    let tickets = yard.world.first_logins().tickets();
    assert!(tickets.open(yard.world.height()).all(|(_, issued)| issued.by == public(NEW)));
    let kick = order(GovernOrder::Kick { key: public(BOB) });
    assert_eq!(yard.try_act(ADMIN, kick.clone()), refused(Refusal::Rotated(public(NEW))));
    assert_eq!(yard.try_act(NEW, kick), Outcome::Ok);
}

/// Whoever lost the file beside a key did not know the number of the last rotation any more, and a lesser
/// one was refused for good.
#[test]
fn a_key_that_took_a_place_keeps_it_for_a_day_whatever_the_numbers() {
    let (mut yard, thing) = yard();
    yard.turn_ms = 60_000;
    assert_eq!(yard.try_act(NEW, rotated(ADA, NEW, u32::MAX)), Outcome::Ok);
    let began = yard.world.governance().time;
    assert_eq!(yard.try_act(NEWER, rotated(NEW, NEWER, 1)), refused(Refusal::TooOften));
    while yard.world.governance().time + 60_000 < began + ROTATED_AGAIN_MS {
        yard.play();
    }

    assert_eq!(yard.try_act(NEWER, rotated(NEW, NEWER, 1)), Outcome::Ok);

    assert_eq!(yard.world.object(thing).expect("it stays").owner, Some(public(NEWER)));
    let gone = refused(Refusal::Rotated(public(NEW)));
    assert_eq!(yard.try_act(ADA, login(ADA, None)), gone);
}

#[test]
fn a_rotation_of_a_key_that_the_sim_does_not_know_is_a_login_as_any_other() {
    let (mut yard, _) = yard();
    assert_eq!(yard.try_act(NEW, rotated(77, NEW, 1)), Outcome::Ok);
    assert_eq!(yard.world.rotated(&public(77)), None);
    assert_eq!(yard.try_act(77, login(77, None)), refused(Refusal::NameTaken));
}

/// The rotation of a banned key was not held to the rotations that a turn has room for.
#[test]
fn a_turn_has_room_for_no_more_banned_keys_that_are_given_up() {
    let (mut yard, _) = yard();
    let old: Vec<u8> = (20..=20 + ROTATIONS_PER_TURN_MAX as u8).collect();
    for n in &old {
        yard.login(*n);
    }
    yard.play();
    for n in &old {
        let ban = GovernOrder::Ban { key: public(*n), seconds: None, reason: String::new() };
        assert_eq!(yard.try_act(ADMIN, order(ban)), Outcome::Ok);
    }
    let acts: Vec<_> = old.iter().map(|n| yard.act(n + 100, rotated(*n, n + 100, 1))).collect();
    yard.play();
    let late = acts.iter().filter(|act| yard.outcome(act) == refused(Refusal::TooOften)).count();
    assert_eq!(late, 1);
}

#[test]
fn so_many_keys_are_given_up_in_a_turn_and_the_others_in_the_next() {
    let (mut yard, _) = yard();
    let old: Vec<u8> = (20..=20 + ROTATIONS_PER_TURN_MAX as u8).collect();
    old.iter().for_each(|n| drop(yard.login(*n)));
    yard.play();
    let again = |yard: &mut Yard| -> Vec<Outcome> {
        let acts: Vec<_> = old.iter().map(|n| yard.act(n + 100, rotated(*n, n + 100, 1))).collect();
        yard.play();
        acts.iter().map(|act| yard.outcome(act)).collect()
    };
    let outcomes = again(&mut yard);
    let late = outcomes.iter().filter(|it| **it == refused(Refusal::TooOften)).count();
    assert_eq!(late, 1, "{outcomes:?}");
    assert!(again(&mut yard).iter().all(|it| *it == Outcome::Ok));
    yard.check_leaves();
}

/// The outcomes of a turn are one leaf. A thousand acts that are refused with the name of a key made it too
/// long, which ended every server of the sim.
#[test]
fn a_whole_turn_of_acts_that_are_refused_with_a_key_has_outcomes_of_one_leaf() {
    let (mut yard, _) = yard();
    assert_eq!(yard.try_act(NEW, rotated(ADA, NEW, 1)), Outcome::Ok);
    for seq in (1_000_u64..).take(ACTS_PER_TURN_MAX) {
        yard.unsigned(public(ADA), seq, Act::Heartbeat);
    }

    let height = yard.play().height;

    let outcomes = yard.world.outcomes(height).expect("the last turn's");
    assert_eq!(outcomes.len(), ACTS_PER_TURN_MAX);
    let rotated = refused(Refusal::Rotated(public(NEW)));
    assert!(outcomes.iter().all(|(_, outcome)| *outcome == rotated));
    assert_eq!(yard.world.root(), yard.world.rehash());
    restored(&yard.world);
}
