//! The limits of lists and recoveries, which would take long to play, and what a list may be.

mod model;

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{Digest, PublicKey, Refusal, wire};

use super::{FriendList, Friends, KeyFriends, OpenRecovery};
use crate::limits::{
    FRIENDS_KEPT_MAX, FRIENDS_MAX, FRIENDS_OF_NEWCOMERS_MAX, RECOVERIES_OF_NEWCOMERS_MAX,
    RECOVERIES_OPEN_MAX,
};

fn key(n: usize) -> PublicKey {
    PublicKey(Digest::of("a test's key", &n.to_le_bytes()).0)
}

fn list() -> FriendList {
    FriendList { friends: (0..FRIENDS_MAX).map(key).collect(), need: FRIENDS_MAX as u8 }
}

fn open(newcomer: bool) -> KeyFriends {
    let recovery = OpenRecovery { chosen: Some(key(99)), ..OpenRecovery::begun(0, newcomer) };
    KeyFriends { list: list(), recovery: Some(recovery), ..KeyFriends::default() }
}

#[test]
fn newcomers_fill_half_of_the_lists_and_nobody_more_than_all() {
    let mut friends = Friends::default();
    let kept = KeyFriends { list: list(), ..KeyFriends::default() };
    for n in 0..FRIENDS_OF_NEWCOMERS_MAX {
        assert_eq!(friends.check_room(&key(n), true), Ok(()));
        friends.set(key(n), kept.clone());
    }
    assert_eq!(friends.check_room(&key(9_000), true), Err(Refusal::TooManyFriends));
    assert_eq!(friends.check_room(&key(3), true), Ok(()), "who has a list changes it");
    for n in FRIENDS_OF_NEWCOMERS_MAX..FRIENDS_KEPT_MAX {
        assert_eq!(friends.check_room(&key(n), false), Ok(()));
        friends.set(key(n), kept.clone());
    }
    assert_eq!(friends.check_room(&key(9_000), false), Err(Refusal::TooManyFriends));
}

#[test]
fn newcomers_have_half_of_the_recoveries_and_the_end_of_one_makes_room() {
    let mut friends = Friends::default();
    for n in 0..RECOVERIES_OF_NEWCOMERS_MAX {
        assert_eq!(friends.check_chosen(true), Ok(()));
        friends.set(key(n), open(true));
    }
    assert_eq!(friends.check_chosen(true), Err(Refusal::TooManyRecoveries));
    for n in RECOVERIES_OF_NEWCOMERS_MAX..RECOVERIES_OPEN_MAX {
        assert_eq!(friends.check_chosen(false), Ok(()));
        friends.set(key(n), open(false));
    }
    assert_eq!(friends.check_chosen(false), Err(Refusal::TooManyRecoveries));

    friends.drop_recovery(key(0));

    assert_eq!(friends.check_chosen(true), Ok(()));
    assert_eq!(friends.all.get(&key(0)).expect("the list stays").list, list());
}

#[test]
fn what_is_kept_of_a_key_has_at_most_1500_bytes() {
    let keys: BTreeSet<PublicKey> = (0..FRIENDS_MAX).map(key).collect();
    let vouches: BTreeMap<_, _> = keys.iter().map(|friend| (*friend, key(99))).collect();
    let recovery = OpenRecovery { vouches, ends: u64::MAX, chosen: Some(key(99)), newcomer: false };
    let most = KeyFriends {
        list: list(),
        next: Some((list(), u64::MAX)),
        recovery: Some(recovery),
        quiet: keys.iter().map(|friend| (*friend, u64::MAX)).collect(),
    };
    let bytes = wire::encode(&(key(1), most)).len();
    assert!((1_200..=1_500).contains(&bytes), "{bytes}");
}

#[test]
fn a_list_counts_when_it_is_as_old_and_the_one_before_until_then() {
    let before = FriendList { friends: [key(1)].into(), need: 1 };
    let mut kept =
        KeyFriends { list: before.clone(), next: Some((list(), 72)), ..KeyFriends::default() };
    assert_eq!((kept.counted(71), kept.counted(72)), (&before, &list()));
    kept.promote(71);
    assert_eq!((&kept.list, kept.next.is_some()), (&before, true));
    kept.promote(72);
    assert_eq!((kept.list, kept.next), (list(), None));
}
