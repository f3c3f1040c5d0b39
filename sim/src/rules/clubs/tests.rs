//! The limits of the register of clubs, and what follows from its leaves.

use metatopia_types::{ClubId, Digest, PublicKey, Refusal, limits::NAME_BYTES_MAX, wire};

use super::{Club, ClubInvite, Clubs};
use crate::limits::{
    CLUB_INVITES_MAX, CLUB_MEMBERS_MAX, CLUBS_MAX, CLUBS_OF_NEWCOMERS_MAX, CLUBS_PER_PERSON_MAX,
    ENDINGS_PER_TURN_MAX, INVITES_TO_PERSON_BY_NEWCOMERS_MAX, INVITES_TO_PERSON_MAX,
};

fn key(n: usize) -> PublicKey {
    PublicKey(Digest::of("a test's key", &n.to_le_bytes()).0)
}

/// Returns a club of one, whose name holds its number in letters that pass for no others.
fn club(n: usize, owner: usize, newcomer: bool) -> Club {
    let letters = ["b", "d", "f", "h", "k", "p", "s", "t", "x", "z"];
    let name: String =
        n.to_string().bytes().map(|digit| letters[usize::from(digit - b'0')]).collect();
    Club::founded(name, key(owner), newcomer, n as u64)
}

/// Founds a club if there is room, as an act does.
fn found(clubs: &mut Clubs, n: usize, newcomer: bool) -> Result<(), Refusal> {
    clubs.check_register(newcomer)?;
    let founded = club(n, n, newcomer);
    clubs.check_free_name(None, &founded.name)?;
    clubs.set(ClubId(n as u64), Some(founded));
    Ok(())
}

fn invite(by: usize, newcomer: bool, until: u64) -> ClubInvite {
    ClubInvite { by: key(by), newcomer, until }
}

#[test]
fn a_thousand_free_keys_fill_half_of_the_register_and_whoever_is_known_still_founds_a_club() {
    let mut clubs = Clubs::default();
    let young = (1..=1_000).filter(|n| found(&mut clubs, *n, true).is_ok()).count();
    assert_eq!(young, CLUBS_OF_NEWCOMERS_MAX);
    assert_eq!(found(&mut clubs, 1_001, true), Err(Refusal::ClubsFull));

    let known = (2_001..=3_000).filter(|n| found(&mut clubs, *n, false).is_ok()).count();
    assert_eq!(known, CLUBS_MAX - CLUBS_OF_NEWCOMERS_MAX);
    assert_eq!(found(&mut clubs, 3_001, false), Err(Refusal::ClubsFull));

    // A founder who came as a regular is no newcomer any more, and leaves a place to one.
    clubs.set(ClubId(2_001), None);
    assert_eq!(found(&mut clubs, 1_001, true), Err(Refusal::ClubsFull));
    clubs.grow_up(&key(7));
    assert_eq!(found(&mut clubs, 1_001, true), Ok(()));
}

#[test]
fn newcomers_take_half_of_the_invites_to_one_person_and_a_club_has_so_many() {
    let mut clubs = Clubs::default();
    let invited = key(0);
    let mut invites = |n: usize, newcomer: bool| {
        let mut inviting = club(n, n, newcomer);
        clubs.check_invites(&inviting, &invited, newcomer)?;
        inviting.invites.insert(invited, invite(n, newcomer, 9));
        clubs.set(ClubId(n as u64), Some(inviting));
        Ok::<_, Refusal>(())
    };
    let young = (1..=30).filter(|n| invites(*n, true).is_ok()).count();
    assert_eq!(young, INVITES_TO_PERSON_BY_NEWCOMERS_MAX);
    let known = (31..=60).filter(|n| invites(*n, false).is_ok()).count();
    assert_eq!(young + known, INVITES_TO_PERSON_MAX);
    assert_eq!(invites(61, false), Err(Refusal::TooManyInvites));

    let mut full = club(99, 99, false);
    full.invites = (100..100 + CLUB_INVITES_MAX).map(|n| (key(n), invite(99, false, 9))).collect();
    assert_eq!(clubs.check_invites(&full, &key(1), false), Err(Refusal::TooManyInvites));
}

#[test]
fn one_person_is_in_few_clubs_and_one_club_has_few_members() {
    let mut clubs = Clubs::default();
    for n in 1..=CLUBS_PER_PERSON_MAX {
        assert_eq!(clubs.check_share(&key(0)), Ok(()));
        clubs.set(ClubId(n as u64), Some(club(n, 0, false)));
    }
    assert_eq!(clubs.check_share(&key(0)), Err(Refusal::TooManyClubs));
    assert_eq!(clubs.check_share(&key(1)), Ok(()), "others have their own");
    let mut full = club(1, 0, false);
    full.members = (0..CLUB_MEMBERS_MAX - 1).map(|n| (key(n), 0)).collect();
    assert_eq!(full.check_room(), Ok(()));
    full.members.insert(key(999), 0);
    assert_eq!(full.check_room(), Err(Refusal::ClubFull));
}

#[test]
fn the_member_who_is_in_for_longest_follows_the_owner_and_a_club_without_members_is_gone() {
    let mut owned = club(5, 1, false);
    owned.members = [(key(1), 5), (key(2), 30), (key(3), 20), (key(4), 40)].into();
    owned.invites = [(key(7), invite(3, false, 9)), (key(8), invite(1, false, 9))].into();
    let owned = owned.without(&key(1)).expect("three are left");
    assert_eq!((owned.owner, owned.members.len()), (key(3), 3));
    assert_eq!(owned.invites.keys().copied().collect::<Vec<_>>(), [key(7)], "by who stays");
    let owned = owned.without(&key(2)).expect("two are left");
    assert_eq!(owned.owner, key(3), "it was another who left");
    let owned = owned.without(&key(3)).expect("one is left");
    assert_eq!((owned.owner, owned.invites.len()), (key(4), 0));
    assert_eq!(owned.without(&key(4)), None);
}

#[test]
fn invites_end_after_their_time_some_in_each_turn_and_the_indexes_follow_from_the_leaves() {
    let mut clubs = Clubs::default();
    let count = ENDINGS_PER_TURN_MAX + 8;
    for n in 1..=count {
        let mut inviting = club(n, n, n % 3 == 0);
        inviting.invites.insert(key(n + 500), invite(n, false, n as u64));
        clubs.set(ClubId(n as u64), Some(inviting));
    }
    let open = |clubs: &Clubs| clubs.all.iter().map(|(_, club)| club.invites.len()).sum::<usize>();
    clubs.pass(4);
    assert_eq!(open(&clubs), count - 4);
    clubs.change_key(&key(9), key(1_009));
    clubs.change_key(&key(509), key(1_509));
    let found = clubs.all.get(&ClubId(9)).expect("it goes on");
    assert_eq!((found.owner, found.invites[&key(1_509)].by), (key(1_009), key(1_009)));

    let mut read = Clubs { all: clubs.all.clone(), ..Clubs::default() };
    read.index();
    assert_eq!(format!("{read:?}"), format!("{clubs:?}"));
    clubs.pass(u64::MAX);
    assert_eq!(open(&clubs), count - 4 - ENDINGS_PER_TURN_MAX);
}

/// The comment of the limit, and the length of a snapshot, rely on this.
#[test]
fn the_longest_club_is_as_long_as_the_limit_says() {
    let mut longest = club(1, 1, true);
    longest.name = "x".repeat(NAME_BYTES_MAX);
    longest.members = (0..CLUB_MEMBERS_MAX).map(|n| (key(n), u64::MAX)).collect();
    let invites = (0..CLUB_INVITES_MAX).map(|n| (key(n), invite(n, true, u64::MAX)));
    longest.invites = invites.collect();
    let bytes = wire::length(&(ClubId(u64::MAX), longest));
    assert!(bytes <= 4_100, "{bytes}");
}
