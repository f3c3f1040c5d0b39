//! What is kept of profiles, and who goes when there is no room.

use metatopia_types::{
    Height, Look, Profile, Sign as _, SigningKey, limits::PROFILE_PICTURE_BYTES_MAX,
};

use super::*;
use crate::{acts::test_genesis, state::Since};

fn key(n: usize) -> PublicKey {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&(n as u64).to_be_bytes());
    PublicKey(bytes)
}

fn rank(regular: bool, last_login: usize) -> KeepRank {
    KeepRank { regular, last_login: last_login as u64 }
}

fn kept(shows: bool) -> KeptProfile {
    let owner = SigningKey::from_seed([7; 32]);
    let picture = shows.then_some(metatopia_types::Digest::ZERO);
    let signed = Profile { picture, ..Profile::empty(owner.public()) }.sign(&owner);
    KeptProfile { version: 1, time: 0, sent: None, signed: Some(signed) }
}

/// The turn and the blob that bring the profile of this person.
fn blob_of(n: usize) -> (Height, BlobId) {
    (Height(n as u64), BlobId(metatopia_types::Digest(key(n).0)))
}

/// Sets a profile if the rule lets it, with a picture of so many bytes.
fn put(profiles: &mut Profiles, n: usize, rank: KeepRank, bytes: usize) -> Result<(), Refusal> {
    let picture = vec![7; bytes];
    profiles.check_room(&key(n), rank, &picture)?;
    let sent = Some(blob_of(n));
    profiles.set(key(n), rank, KeptProfile { sent, ..kept(bytes > 0) }, picture);
    Ok(())
}

/// Checks that the counts are those of what is kept.
fn check(profiles: &Profiles) {
    let mut anew = profiles.clone();
    anew.index(|key| profiles.room.places.get(key).map(|(rank, _)| *rank).unwrap_or_default());
    for (one, other) in [(&anew.room, &profiles.room), (&anew.picture_room, &profiles.picture_room)]
    {
        assert_eq!((&one.order, &one.places), (&other.order, &other.places));
        assert_eq!((one.used, one.by_newcomers), (other.used, other.by_newcomers));
    }
    assert_eq!(anew.senders, profiles.senders);
    assert!(profiles.room.used <= PROFILES_MAX);
    assert!(profiles.picture_room.used <= PICTURES_KIB_MAX);
}

#[test]
fn newcomers_fill_half_of_the_profiles_and_push_out_each_other_and_nobody_else() {
    let mut profiles = Profiles::default();
    for n in 0..=PROFILES_OF_NEWCOMERS_MAX {
        assert_eq!(put(&mut profiles, n, rank(false, n), 0), Ok(()));
    }
    assert_eq!(profiles.all.len(), PROFILES_OF_NEWCOMERS_MAX);
    assert!(!profiles.all.contains(&key(0)), "who was away for longest goes");
    // Regulars fill the rest, then take the room of newcomers, then that of who was away for longest.
    let first = 100_000;
    for n in first..first + PROFILES_MAX {
        assert_eq!(put(&mut profiles, n, rank(true, n), 0), Ok(()));
    }
    assert_eq!((profiles.all.len(), profiles.room.by_newcomers), (PROFILES_MAX, 0));
    check(&profiles);
    let full = Err(Refusal::ProfilesFull);
    assert_eq!(put(&mut profiles, 1, rank(false, 999_999), 0), full, "a newcomer has no room");
    assert_eq!(put(&mut profiles, first + 9, rank(true, 9), 0), Ok(()), "her own place is hers");
    assert_eq!(put(&mut profiles, 1, rank(true, 999_999), 0), Ok(()));
    assert!(!profiles.all.contains(&key(first + 9)), "the last login counts, not the profile");
    check(&profiles);
}

#[test]
fn pictures_have_room_of_their_own_and_whose_picture_goes_keeps_the_words() {
    let mut profiles = Profiles::default();
    let each = PROFILE_PICTURE_BYTES_MAX / 1_024;
    let newcomers = PICTURES_OF_NEWCOMERS_KIB_MAX / each;
    for n in 0..=newcomers {
        assert_eq!(put(&mut profiles, n, rank(false, n), PROFILE_PICTURE_BYTES_MAX), Ok(()));
    }
    assert_eq!(profiles.picture_room.by_newcomers, PICTURES_OF_NEWCOMERS_KIB_MAX);
    assert!(profiles.all.contains(&key(0)) && !profiles.pictures.contains(&key(0)));
    for n in 1_000..1_000 + PICTURES_KIB_MAX {
        assert_eq!(put(&mut profiles, n, rank(true, n), 1), Ok(()), "a byte counts as a KiB");
    }
    assert_eq!(profiles.pictures.len(), PICTURES_KIB_MAX);
    check(&profiles);
    assert_eq!(put(&mut profiles, 7, rank(false, 7), 1), Err(Refusal::ProfilesFull));
    assert_eq!(put(&mut profiles, 7, rank(false, 7), 0), Ok(()), "words need no such room");
    // One large picture pushes out as many as it counts, and no more.
    assert_eq!(put(&mut profiles, 9, rank(true, 9_999_999), 8_000), Ok(()));
    assert_eq!(profiles.pictures.len(), PICTURES_KIB_MAX - 8 + 1);
    check(&profiles);
}

#[test]
fn what_becomes_of_a_person_moves_her_profile_in_the_line() {
    let mut profiles = Profiles::default();
    for n in 0..3 {
        assert_eq!(put(&mut profiles, n, rank(false, n), 1_500), Ok(()));
    }
    assert_eq!((profiles.room.by_newcomers, profiles.picture_room.by_newcomers), (3, 6));
    profiles.restand(&key(0), rank(true, 8));
    profiles.restand(&key(99), rank(true, 8));
    assert_eq!((profiles.room.by_newcomers, profiles.picture_room.by_newcomers), (2, 4));
    check(&profiles);

    profiles.take_away(&key(1));
    let gone = profiles.all.get(&key(1)).expect("its version is remembered");
    assert_eq!((gone.version, &gone.signed), (1, &None));
    assert!(!profiles.pictures.contains(&key(1)));
    let sender = |profiles: &Profiles, n| {
        let (height, blob) = blob_of(n);
        profiles.sender(height, blob).copied()
    };
    assert_eq!(sender(&profiles, 1), Some(key(1)), "its blob is forgotten all the same");
    profiles.give_up(&key(1), key(11));
    assert_eq!((sender(&profiles, 1), sender(&profiles, 0)), (None, Some(key(0))));
    profiles.give_up(&key(2), key(12));
    let of = |n: usize| profiles.all.get(&key(n)).map(|kept| kept.signed.is_some());
    assert_eq!([of(1), of(11), of(2), of(12)], [None, Some(false), None, None]);
    check(&profiles);
}

/// A person who came back on enough days is nobody whom free keys push out, and who is forgotten leaves nothing.
#[test]
fn a_login_moves_who_is_kept_and_whoever_is_forgotten_takes_the_profile_along() {
    let player = |name: &str, regular: Option<u64>, last_login: u64| Player {
        name: name.to_owned(),
        look: Look::default(),
        first_seen: 0,
        last_login,
        days: 1,
        bot: false,
        since: Since { player: Height(0), regular: regular.map(Height) },
        spoke: None,
        session: None,
    };
    let mut state = State::from_genesis(&test_genesis()).expect("a small genesis");
    for n in 1..4 {
        state.put_player(key(n), player(&format!("p{n}"), None, n as u64));
        state.people.profiles.set(key(n), rank(false, n), kept(true), vec![7; 10]);
    }
    state.put_player(key(1), player("p1", Some(5), 50));
    let order = |state: &State| {
        let order = state.people.profiles.room.order.iter();
        order.map(|(rank, key)| (*key, rank.regular)).collect::<Vec<_>>()
    };
    assert_eq!(order(&state), [(key(2), false), (key(3), false), (key(1), true)]);
    assert_eq!(state.people.profiles.room.by_newcomers, 2);
    state.forget(&key(2));
    assert_eq!(order(&state), [(key(3), false), (key(1), true)]);
    assert_eq!(state.people.profiles.pictures.len(), 2);
    let before = state.people.profiles.room.clone();
    state.index_profiles();
    assert_eq!(state.people.profiles.room.order, before.order, "as it is read from leaves");
    check(&state.people.profiles);
}
