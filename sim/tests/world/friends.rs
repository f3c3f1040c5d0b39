//! Friends who get a lost key back: named beforehand, in no hurry, and never against the owner's word.

use std::collections::BTreeSet;

use metatopia_math::Fx;
use metatopia_physics::Motion;
use metatopia_sim::{
    Register, WHISPERED,
    limits::{FRIENDS_MAX, QUIET_MS, RECOVERIES_PER_TURN_MAX, RECOVERY_MS, VOUCHES_MS},
};
use metatopia_types::{
    Act, GovernOrder, Look, NewKeyWord, ObjectId, Outcome, PublicKey, Refusal, RoleRight, Rotation,
};

use crate::yard::{Builder, Yard, key, public};

const ADMIN: u8 = 100;
/// Who loses her key.
const ADA: u8 = 1;
const BOB: u8 = 2;
const CAROL: u8 = 3;
const DAN: u8 = 4;
/// Keys that nobody has used.
const NEW: u8 = 11;
const NEWER: u8 = 12;

/// A sim of friends who were all seen there, in which minutes pass.
fn yard() -> (Yard, ObjectId) {
    let mut builder = Builder::new();
    builder.genesis.parameters.building.reach = Fx::from_int(100);
    let thing = builder.thing(Motion::Static, (5, 5), &[]);
    builder.genesis.objects[0].owner = Some(public(ADA));
    let mut yard = builder.build();
    yard.turn_ms = 60_000;
    come(&mut yard, &[ADMIN, ADA, BOB, CAROL, DAN]);
    (yard, thing)
}

fn come(yard: &mut Yard, who: &[u8]) {
    who.iter().for_each(|n| drop(yard.login(*n)));
    yard.play();
}

fn name(friends: &[u8], need: u8) -> Act {
    let friends: BTreeSet<PublicKey> = friends.iter().map(|n| public(*n)).collect();
    Act::NameFriends { friends: friends.into_iter().collect(), need }
}

fn vouch(old: u8, new: u8) -> Act {
    let old = public(old);
    Act::Vouch { old, new: NewKeyWord::new(&key(new), &old) }
}

fn refused(why: Refusal) -> Outcome {
    Outcome::Refused(why)
}

fn order(order: GovernOrder) -> Act {
    Act::Govern(order)
}

/// Plays until so much governance time has passed since `from`.
fn pass(yard: &mut Yard, from: u64, time: u64) {
    while yard.world.governance().time < from + time {
        yard.play();
    }
}

fn now(yard: &Yard) -> u64 {
    yard.world.governance().time
}

/// A sim in which Ada named Bob, Carol and Dan, of whom it takes two, and in which they count.
fn befriended() -> (Yard, ObjectId) {
    let (mut yard, thing) = yard();
    assert_eq!(yard.try_act(ADA, name(&[BOB, CAROL, DAN], 2)), Outcome::Ok);
    let from = now(&yard);
    pass(&mut yard, from, RECOVERY_MS);
    come(&mut yard, &[ADMIN, BOB, CAROL, DAN]);
    (yard, thing)
}

/// The same, in which two of them have vouched for a new key.
fn vouched() -> (Yard, ObjectId) {
    let (mut yard, thing) = befriended();
    assert_eq!(yard.try_act(BOB, vouch(ADA, NEW)), Outcome::Ok);
    assert_eq!(yard.try_act(CAROL, vouch(ADA, NEW)), Outcome::Ok);
    (yard, thing)
}

#[test]
fn seventy_two_hours_after_enough_friends_vouched_the_new_key_takes_the_place() {
    let (mut yard, thing) = befriended();
    assert_eq!(yard.try_act(BOB, vouch(ADA, NEW)), Outcome::Ok);
    let open = yard.world.friends(&public(ADA)).and_then(|kept| kept.recovery.clone());
    assert_eq!(open.expect("one friend opens it").chosen, None);
    assert_eq!(yard.try_act(BOB, vouch(ADA, NEW)), refused(Refusal::AlreadySo));
    assert_eq!(yard.try_act(CAROL, vouch(ADA, NEW)), Outcome::Ok);
    let from = now(&yard);
    assert_eq!(yard.try_act(DAN, vouch(ADA, NEWER)), refused(Refusal::RecoveryOpen), "it waits");
    let open: Vec<_> =
        yard.world.recoveries_after(None).map(|(key, open)| (key, open.ends)).collect();
    assert_eq!(open, [(public(ADA), from + RECOVERY_MS)]);
    let before = yard.world.player(&public(ADA)).expect("a player").clone();
    yard.check_leaves();

    pass(&mut yard, from, RECOVERY_MS - 60_000);
    assert!(yard.world.player(&public(NEW)).is_none());
    // A server that never stopped judges the next turn as one that was just started, without a login.
    let mut register = Register::of(&yard.world);
    yard.play();
    register.renew(yard.log.last().expect("a turn"), &yard.world);
    assert_eq!(register, Register::of(&yard.world));

    let after = yard.world.player(&public(NEW)).expect("a player");
    assert_eq!((&after.name, after.days), (&before.name, before.days));
    assert_eq!(yard.world.object(thing).expect("it stays").owner, Some(public(NEW)));
    assert_eq!(yard.world.player(&public(ADA)), None);
    let gone = refused(Refusal::Rotated(public(NEW)));
    assert_eq!(yard.try_act(ADA, Act::login("player 1".to_owned(), Look::default())), gone);
    assert_eq!(yard.world.recoveries_after(None).count(), 0);
    assert_eq!(yard.world.friends(&public(NEW)).expect("they go along").list.need, 2);
    yard.login(NEW);
    yard.play();
    yard.check_leaves();
}

#[test]
fn every_login_of_the_old_key_hears_of_it_and_a_word_of_it_ends_it() {
    let (mut yard, thing) = vouched();
    let from = now(&yard);
    for _ in 0..2 {
        yard.login(ADA);
        let applied = yard.play();
        let heard = |line: &&metatopia_sim::SpokenLine| line.hearer == Some(public(ADA));
        let line = applied.chat.iter().find(heard).expect("she is told");
        assert_eq!(line.channel, WHISPERED);
        let key = public(NEW).to_string();
        assert!(line.text.contains(&key) && line.text.contains("`recovery cancel`"), "{line:?}");
        pass(&mut yard, from, RECOVERY_MS / 2);
    }
    assert_eq!(yard.try_act(BOB, Act::CancelRecovery), refused(Refusal::NoRecovery));
    assert_eq!(yard.try_act(ADA, name(&[], 0)), refused(Refusal::RecoveryOpen));

    assert_eq!(yard.try_act(ADA, Act::CancelRecovery), Outcome::Ok);

    yard.check_leaves();
    pass(&mut yard, from, RECOVERY_MS + 60_000);
    assert_eq!(yard.world.object(thing).expect("it stays").owner, Some(public(ADA)));
    assert_eq!(yard.try_act(ADA, Act::CancelRecovery), refused(Refusal::NoRecovery), "twice");
}

#[test]
fn friends_whose_word_was_cancelled_are_quiet_for_a_month_and_others_are_not() {
    let (mut yard, _) = vouched();
    let from = now(&yard);
    assert_eq!(yard.try_act(ADA, Act::CancelRecovery), Outcome::Ok);
    come(&mut yard, &[BOB, CAROL, DAN]);
    let hours = QUIET_MS / 3_600_000;
    let quiet = |left: u64| refused(Refusal::QuietFriend(left as u32));
    assert_eq!(yard.try_act(BOB, vouch(ADA, NEW)), quiet(hours));
    assert_eq!(yard.try_act(DAN, vouch(ADA, NEW)), Outcome::Ok);
    pass(&mut yard, from, 3_600_000 * 2);
    come(&mut yard, &[BOB]);
    assert_eq!(yard.try_act(BOB, vouch(ADA, NEW)), quiet(hours - 2));
    yard.check_leaves();
}

#[test]
fn a_recovery_for_which_too_few_vouch_falls_after_a_week() {
    let (mut yard, _) = befriended();
    assert_eq!(yard.try_act(BOB, vouch(ADA, NEWER)), Outcome::Ok);
    assert_eq!(yard.try_act(CAROL, vouch(ADA, NEW)), Outcome::Ok, "another new key: one for each");
    let from = now(&yard);
    assert_eq!(
        yard.world.friends(&public(ADA)).expect("hers").recovery.as_ref().expect("open").chosen,
        None
    );
    pass(&mut yard, from, VOUCHES_MS - 60_000);
    come(&mut yard, &[BOB]);
    assert_eq!(yard.world.recoveries_after(None).count(), 0);
    assert_eq!(yard.try_act(BOB, vouch(ADA, NEW)), Outcome::Ok, "nobody cancelled it");
}

/// Who steals a key names friends of his own, and has it recovered at once.
#[test]
fn friends_who_collude_without_waiting_are_refused_by_name() {
    let (mut yard, _) = befriended();
    let (eve, mallory) = (7, 8);
    come(&mut yard, &[ADA, eve, mallory]);
    assert_eq!(yard.try_act(eve, vouch(ADA, NEW)), refused(Refusal::NotFriend));
    assert_eq!(yard.try_act(ADA, name(&[eve, mallory], 2)), Outcome::Ok);
    assert_eq!(yard.try_act(eve, vouch(ADA, NEW)), refused(Refusal::FreshFriend));
    assert_eq!(yard.try_act(mallory, vouch(ADA, NEW)), refused(Refusal::FreshFriend));
    assert_eq!(yard.try_act(BOB, vouch(ADA, NEW)), Outcome::Ok, "the others count until then");
    let from = now(&yard);
    pass(&mut yard, from, RECOVERY_MS);
    come(&mut yard, &[BOB, CAROL, eve]);
    assert_eq!(yard.try_act(CAROL, vouch(ADA, NEW)), refused(Refusal::NotFriend));
    // Bob's word was one of a friend who is none any more.
    assert_eq!(yard.try_act(eve, vouch(ADA, NEW)), Outcome::Ok);
    let kept = yard.world.friends(&public(ADA)).expect("hers");
    assert_eq!(kept.recovery.as_ref().expect("open").vouches.len(), 1);
    yard.check_leaves();
}

/// A friend of somebody who was banned vouched for the key of a stranger, who then was banned.
#[test]
fn friends_vouch_for_no_key_that_did_not_ask_for_it() {
    let (mut yard, _) = befriended();
    let forged = NewKeyWord { key: public(NEW), ..NewKeyWord::new(&key(BOB), &public(ADA)) };
    let of_another = NewKeyWord::new(&key(NEW), &public(DAN));
    for new in [forged, of_another] {
        let vouch = Act::Vouch { old: public(ADA), new };
        assert_eq!(yard.try_act(BOB, vouch), refused(Refusal::NoKeyWord));
    }
    assert_eq!(yard.world.recoveries_after(None).count(), 0);
}

/// Friends who were taken off the list in time carried on: their word had been counted before.
#[test]
fn a_recovery_falls_when_too_few_of_those_who_vouched_are_friends_any_more() {
    let (mut yard, thing) = befriended();
    come(&mut yard, &[ADA]);
    assert_eq!(yard.try_act(ADA, name(&[DAN], 1)), Outcome::Ok);
    let from = now(&yard);
    pass(&mut yard, from, RECOVERY_MS - 3_600_000);
    come(&mut yard, &[BOB, CAROL]);
    assert_eq!(yard.try_act(BOB, vouch(ADA, NEW)), Outcome::Ok);
    assert_eq!(yard.try_act(CAROL, vouch(ADA, NEW)), Outcome::Ok);
    assert_eq!(yard.world.recoveries_after(None).count(), 1);
    pass(&mut yard, from, RECOVERY_MS);
    assert_eq!(yard.world.recoveries_after(None).count(), 0);
    yard.check_leaves();
    let from = now(&yard);
    pass(&mut yard, from, RECOVERY_MS);
    assert_eq!(yard.world.object(thing).expect("it stays").owner, Some(public(ADA)));
}

#[test]
fn friends_are_one_to_eight_players_and_no_fewer_than_two_are_needed_of_several() {
    let (mut yard, _) = yard();
    let all: Vec<u8> = (20..29).collect();
    come(&mut yard, &all);
    let bad = refused(Refusal::BadFriends);
    for (friends, need) in [
        (&[BOB, CAROL][..], 1),
        (&[BOB, CAROL], 3),
        (&[BOB], 0),
        (&[ADA, BOB], 2),
        (&[], 1),
        (&all, 5),
    ] {
        assert_eq!(yard.try_act(ADA, name(friends, need)), bad, "{friends:?} {need}");
    }
    let twice = Act::NameFriends { friends: vec![public(BOB); 2], need: 2 };
    assert_eq!(yard.try_act(ADA, twice), bad);
    assert_eq!(yard.try_act(ADA, name(&[BOB, 99], 2)), refused(Refusal::NoPlayer));
    assert_eq!(yard.try_act(ADA, name(&[], 0)), refused(Refusal::AlreadySo));
    assert_eq!(yard.try_act(ADA, name(&all[..FRIENDS_MAX], FRIENDS_MAX as u8)), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, name(&[BOB], 1)), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, name(&[BOB], 1)), refused(Refusal::AlreadySo));
    assert_eq!(yard.try_act(ADA, name(&[], 0)), Outcome::Ok);
    let from = now(&yard);
    pass(&mut yard, from, RECOVERY_MS);
    assert_eq!(yard.world.friends(&public(ADA)), None, "nothing is left of it");
    yard.check_leaves();
}

#[test]
fn a_key_is_recovered_to_one_that_nobody_has() {
    let (mut yard, _) = befriended();
    let ban = |n| order(GovernOrder::Ban { key: public(n), seconds: None, reason: String::new() });
    assert_eq!(yard.try_act(ADMIN, ban(NEWER)), Outcome::Ok);
    come(&mut yard, &[20]);
    let rotation = Rotation::new(&key(20), &key(21), 1);
    let pass = Some(metatopia_types::Pass::Rotation(rotation));
    let (name, look) = ("player 20".to_owned(), Look::default());
    let moved = Act::Login { name, look, bot: false, pass };
    assert_eq!(yard.try_act(21, moved), Outcome::Ok);
    for (new, why) in [
        (NEWER, Refusal::Banned),
        (ADA, Refusal::KnownKey),
        (BOB, Refusal::KnownKey),
        (20, Refusal::Rotated(public(21))),
    ] {
        assert_eq!(yard.try_act(BOB, vouch(ADA, new)), refused(why), "{new}");
    }
    assert_eq!(yard.try_act(BOB, vouch(77, NEW)), refused(Refusal::NoPlayer));
    assert_eq!(yard.try_act(BOB, vouch(20, NEW)), refused(Refusal::Rotated(public(21))));
}

/// Friends vouch for a key, and before the time is up somebody comes with it, or it is banned.
#[test]
fn a_new_key_that_is_somebodys_when_the_time_is_up_takes_no_place() {
    for is_banned in [false, true] {
        let (mut yard, thing) = vouched();
        let from = now(&yard);
        if is_banned {
            let (seconds, reason) = (None, String::new());
            let ban = GovernOrder::Ban { key: public(NEW), seconds, reason };
            assert_eq!(yard.try_act(ADMIN, order(ban)), Outcome::Ok);
        } else {
            come(&mut yard, &[NEW]);
        }
        pass(&mut yard, from, RECOVERY_MS + 60_000);
        assert_eq!(yard.world.object(thing).expect("it stays").owner, Some(public(ADA)));
        assert_eq!(yard.world.recoveries_after(None).count(), 0);
        yard.check_leaves();
    }
}

#[test]
fn a_ban_and_a_mute_move_and_the_banned_owner_may_cancel() {
    let (mut yard, _) = vouched();
    let from = now(&yard);
    let (seconds, reason) = (None, "spam".to_owned());
    let ban = GovernOrder::Ban { key: public(ADA), seconds, reason: reason.clone() };
    let mute = GovernOrder::Mute { key: public(ADA), seconds, reason };
    assert_eq!(yard.try_act(ADMIN, order(mute)), Outcome::Ok);
    assert_eq!(yard.try_act(ADMIN, order(ban)), Outcome::Ok);
    let mut cancelled = Yard::of(yard.world.clone());
    cancelled.turn_ms = 60_000;
    assert_eq!(cancelled.try_act(ADA, Act::CancelRecovery), Outcome::Ok);

    pass(&mut yard, from, RECOVERY_MS);

    assert_eq!(yard.world.ban(&public(NEW)).expect("it moved").reason, "spam");
    assert!(yard.world.ban(&public(ADA)).is_none() && yard.world.mute(&public(NEW)).is_some());
    let back = Act::login("player 1".to_owned(), Look::default());
    assert_eq!(yard.try_act(NEW, back), refused(Refusal::Banned));
    yard.check_leaves();
}

/// Friends of an admin who is on a journey would be admins.
#[test]
fn rights_in_the_sim_do_not_move_and_whoever_recovers_is_last_in_line() {
    let (mut yard, _) = yard();
    let rights = BTreeSet::from([RoleRight::Moderate]);
    let grant = GovernOrder::Grant { key: public(ADA), rights, seconds: None };
    let appoint = GovernOrder::NameAdmin { key: public(ADA) };
    assert_eq!(yard.try_act(ADMIN, order(grant)), Outcome::Ok);
    assert_eq!(yard.try_act(ADMIN, order(appoint)), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, name(&[BOB, CAROL], 2)), Outcome::Ok);
    let from = now(&yard);
    pass(&mut yard, from, RECOVERY_MS);
    come(&mut yard, &[BOB, CAROL]);
    assert_eq!(yard.try_act(BOB, vouch(ADA, NEW)), Outcome::Ok);
    assert_eq!(yard.try_act(CAROL, vouch(ADA, NEW)), Outcome::Ok);
    let from = now(&yard);
    pass(&mut yard, from, RECOVERY_MS);

    let world = &yard.world;
    assert_eq!(world.governance().admins, BTreeSet::from([public(ADMIN)]));
    assert!(world.role(&public(NEW)).is_none() && world.role(&public(ADA)).is_none());
    assert_eq!(world.player(&public(NEW)).expect("a player").first_seen, now(&yard));
    come(&mut yard, &[NEW]);
    let kick = order(GovernOrder::Kick { key: public(BOB) });
    assert_eq!(yard.try_act(NEW, kick), refused(Refusal::NoRight));
    yard.check_leaves();
}

#[test]
fn a_rotation_by_the_owner_ends_a_recovery_and_a_friend_who_rotates_is_a_friend() {
    let (mut yard, thing) = befriended();
    let moved = |old: u8, new: u8| {
        let (name, look) = (format!("player {old}"), Look::default());
        let pass = Some(metatopia_types::Pass::Rotation(Rotation::new(&key(old), &key(new), 1)));
        Act::Login { name, look, bot: false, pass }
    };
    assert_eq!(yard.try_act(BOB, vouch(ADA, NEW)), Outcome::Ok);
    assert_eq!(yard.try_act(30, moved(BOB, 30)), Outcome::Ok);
    assert_eq!(yard.try_act(30, vouch(ADA, NEW)), refused(Refusal::AlreadySo), "not twice");
    assert_eq!(yard.try_act(31, moved(CAROL, 31)), Outcome::Ok);
    assert_eq!(yard.try_act(31, vouch(ADA, NEW)), Outcome::Ok);

    assert_eq!(yard.try_act(32, moved(ADA, 32)), Outcome::Ok);

    assert_eq!(yard.world.recoveries_after(None).count(), 0);
    assert_eq!(yard.world.friends(&public(32)).expect("they go along").list.need, 2);
    let from = now(&yard);
    pass(&mut yard, from, RECOVERY_MS);
    assert_eq!(yard.world.object(thing).expect("it stays").owner, Some(public(32)));
    yard.check_leaves();
}

#[test]
fn so_many_recoveries_end_in_a_turn_and_the_others_in_the_next() {
    let (mut yard, _) = yard();
    let old: Vec<u8> = (20..=20 + RECOVERIES_PER_TURN_MAX as u8).collect();
    come(&mut yard, &old);
    old.iter().for_each(|n| drop(yard.act(*n, name(&[BOB], 1))));
    yard.play();
    let from = now(&yard);
    pass(&mut yard, from, RECOVERY_MS);
    come(&mut yard, &[BOB]);
    old.iter().for_each(|n| drop(yard.act(BOB, vouch(*n, n + 50))));
    yard.play();
    let from = now(&yard);
    pass(&mut yard, from, RECOVERY_MS);
    let moved =
        |yard: &Yard| old.iter().filter(|n| yard.world.rotated(&public(**n)).is_some()).count();
    assert_eq!(moved(&yard), RECOVERIES_PER_TURN_MAX);
    yard.play();
    assert_eq!(moved(&yard), old.len());
    yard.check_leaves();
}
