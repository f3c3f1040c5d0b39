//! Profiles: who shows what of herself, what is refused, and what takes it away.

use metatopia_sim::{KeptProfile, World, limits::PROFILE_MS};
use metatopia_types::{
    Act, Blob, BlobId, Digest, GovernOrder, Look, Outcome, Pass, Profile, PublicKey, Refusal,
    RoleRight, Rotation, SentProfile, SignedProfile,
    limits::{
        PROFILE_LINE_BYTES_MAX, PROFILE_PICTURE_BYTES_MAX, PROFILES_LEAF_BYTES_MAX,
        PRONOUNS_BYTES_MAX,
    },
    picture_digest, wire,
};

use crate::yard::{Builder, Yard, key, public};

const ADMIN: u8 = 100;
const ADA: u8 = 1;
const BOB: u8 = 2;
/// The key that takes the place of another.
const NEW: u8 = 11;

/// A sim of three people, in which a turn takes a second.
fn yard() -> Yard {
    let mut yard = Builder::new().build();
    yard.turn_ms = 1_000;
    come(&mut yard, &[ADMIN, ADA, BOB]);
    yard
}

fn come(yard: &mut Yard, who: &[u8]) {
    who.iter().for_each(|n| drop(yard.login(*n)));
    yard.play();
}

/// Plays until another profile may come. Whoever is there stays.
fn wait(yard: &mut Yard) {
    let from = yard.world.governance().time;
    while yard.world.governance().time < from + PROFILE_MS {
        [ADMIN, ADA, BOB].into_iter().for_each(|n| drop(yard.act(n, Act::Heartbeat)));
        yard.play();
    }
}

fn refused(why: Refusal) -> Outcome {
    Outcome::Refused(why)
}

fn profile(n: u8, version: u32, line: &str) -> Profile {
    Profile { version, line: line.to_owned(), ..Profile::empty(public(n)) }
}

fn with_picture(n: u8, version: u32, picture: &[u8]) -> Profile {
    Profile { picture: Some(picture_digest(picture)), ..profile(n, version, "hello") }
}

fn send(yard: &mut Yard, n: u8, signed: SignedProfile, picture: &[u8]) -> Outcome {
    let blob = Blob(SentProfile { signed, picture: picture.to_vec() }.encode());
    let act = yard.act_with(n, Act::SetProfile { profile: blob.id() }, blob);
    yard.play();
    yard.outcome(&act)
}

/// Sends a profile that its owner signed.
fn set(yard: &mut Yard, n: u8, profile: Profile, picture: &[u8]) -> Outcome {
    send(yard, n, profile.sign(&key(n)), picture)
}

/// Returns the line that the sim shows of a person.
fn line(world: &World, n: u8) -> Option<String> {
    Some(world.profile(&public(n))?.signed.as_ref()?.profile.line.clone())
}

#[test]
fn a_profile_is_shown_with_its_picture_until_a_newer_one_comes_or_an_empty_one() {
    let mut yard = yard();
    let face = vec![7; PROFILE_PICTURE_BYTES_MAX];
    let first = with_picture(ADA, 3, &face);
    assert_eq!(set(&mut yard, ADA, first.clone(), &face), Outcome::Ok);
    let shown = yard.world.profile(&public(ADA)).expect("it is kept").clone();
    assert_eq!(shown.signed, Some(first.clone().sign(&key(ADA))));
    assert_eq!(yard.world.picture(&public(ADA)), Some(&face[..]));
    yard.check_leaves();
    let tools = Builder::new().tools();
    let read = World::from_snapshot(&yard.world.snapshot(), yard.world.root(), &tools);
    let read = read.expect("it was just made");
    assert_eq!(read.profile(&public(ADA)), Some(&shown));
    assert_eq!(read.picture(&public(ADA)), Some(&face[..]));

    let second = Profile { version: 4, line: "I build mills.".to_owned(), ..first };
    assert_eq!(set(&mut yard, ADA, second.clone(), &[]), refused(Refusal::TooOften));
    wait(&mut yard);
    assert_eq!(set(&mut yard, ADA, second, &[]), Outcome::Ok, "the picture is known");
    assert_eq!(line(&yard.world, ADA).as_deref(), Some("I build mills."));
    assert_eq!(yard.world.picture(&public(ADA)), Some(&face[..]));

    wait(&mut yard);
    assert_eq!(set(&mut yard, ADA, profile(ADA, 5, ""), &[]), Outcome::Ok);
    let gone = yard.world.profile(&public(ADA)).expect("its version is remembered");
    assert_eq!((gone.version, &gone.signed), (5, &None));
    assert_eq!(yard.world.picture(&public(ADA)), None);
    wait(&mut yard);
    let old = refused(Refusal::OldProfile(5));
    assert_eq!(set(&mut yard, ADA, profile(ADA, 5, "back"), &[]), old);
    assert_eq!(set(&mut yard, ADA, profile(ADA, 6, "back"), &[]), Outcome::Ok);
    yard.check_leaves();
}

/// A picture could be taken away by a moderator, and nobody could say by what its bytes are named in the logs.
#[test]
fn a_profile_is_forgotten_by_who_sent_it_and_by_moderators_also_when_it_was_taken_away() {
    let mut yard = yard();
    let face = vec![7; 900];
    assert_eq!(set(&mut yard, ADA, with_picture(ADA, 1, &face), &face), Outcome::Ok);
    let (height, body) = yard.world.profile(&public(ADA)).and_then(|kept| kept.sent).expect("sent");
    let forget = Act::Forget { height, body };
    assert_eq!(yard.try_act(BOB, forget.clone()), refused(Refusal::NoRight));

    assert_eq!(yard.try_act(ADA, forget.clone()), Outcome::Ok, "she is a newcomer, and it is hers");
    let kept = yard.world.profile(&public(ADA)).expect("its version is remembered");
    assert_eq!((kept.version, &kept.signed, kept.sent), (1, &None, Some((height, body))));
    assert_eq!(yard.world.picture(&public(ADA)), None, "no snapshot has it");
    assert_eq!(yard.try_act(ADA, forget.clone()), refused(Refusal::AlreadySo));
    assert_eq!(
        yard.try_act(ADMIN, forget),
        Outcome::Ok,
        "whoever sent the same bytes in that turn"
    );

    let away = GovernOrder::Unprofile { key: public(BOB) };
    assert_eq!(set(&mut yard, BOB, profile(BOB, 1, "Walnuts!"), &[]), Outcome::Ok);
    let (height, body) = yard.world.profile(&public(BOB)).and_then(|kept| kept.sent).expect("sent");
    assert_eq!(yard.try_act(ADMIN, Act::Govern(away)), Outcome::Ok);
    assert_eq!(yard.try_act(ADMIN, Act::Forget { height, body }), Outcome::Ok);
    let words = yard.world.forgotten().last().expect("it is remembered");
    assert_eq!((words.height, words.body, words.by), (height, body, None));
    yard.check_leaves();
}

#[test]
fn a_profile_that_its_author_did_not_sign_or_that_is_none_is_refused() {
    let mut yard = yard();
    let lost = Act::SetProfile { profile: BlobId(Digest::ZERO) };
    assert_eq!(yard.try_act(ADA, lost), refused(Refusal::NoBlob));
    let bad = refused(Refusal::BadProfile);
    // Somebody else's, one that somebody else signed, and one that was changed.
    assert_eq!(send(&mut yard, ADA, profile(BOB, 1, "hi").sign(&key(BOB)), &[]), bad);
    assert_eq!(send(&mut yard, ADA, profile(ADA, 1, "hi").sign(&key(BOB)), &[]), bad);
    let signed = profile(ADA, 1, "hi").sign(&key(ADA));
    let forged = SignedProfile { profile: profile(ADA, 1, "ho"), ..signed };
    assert_eq!(send(&mut yard, ADA, forged, &[]), bad);
    for text in [&b"hello"[..], &[0; 300]] {
        let blob = Blob(text.to_vec());
        let act = yard.act_with(ADA, Act::SetProfile { profile: blob.id() }, blob);
        yard.play();
        assert_eq!(yard.outcome(&act), bad);
    }
    // Texts that people would not read as what they are.
    let text = refused(Refusal::BadText);
    let long = "x".repeat(PROFILE_LINE_BYTES_MAX + 1);
    for wrong in ["two\nlines", "a\u{202e}b", "a\u{2066}b", " a", &long] {
        assert_eq!(set(&mut yard, ADA, profile(ADA, 1, wrong), &[]), text, "{wrong:?}");
    }
    let pronouns = "y".repeat(PRONOUNS_BYTES_MAX + 1);
    assert_eq!(set(&mut yard, ADA, Profile { pronouns, ..profile(ADA, 1, "") }, &[]), text);
    let later = Profile { format: 2, ..profile(ADA, 1, "hi") };
    assert_eq!(set(&mut yard, ADA, later, &[]), text, "a format that nobody can show");
    // Pictures that are not there, another one, too long, or named by nothing.
    let named = with_picture(ADA, 1, &[7; 99]);
    assert_eq!(set(&mut yard, ADA, named.clone(), &[]), refused(Refusal::NoBlob));
    assert_eq!(set(&mut yard, ADA, named, &[8; 99]), bad);
    assert_eq!(set(&mut yard, ADA, profile(ADA, 1, "hi"), &[7]), bad);
    let long = vec![7; PROFILE_PICTURE_BYTES_MAX + 1];
    assert_eq!(set(&mut yard, ADA, with_picture(ADA, 1, &long), &long), bad);
    assert_eq!(set(&mut yard, ADA, profile(ADA, 1, ""), &[]), refused(Refusal::AlreadySo));
    assert_eq!(set(&mut yard, 77, profile(77, 1, "hi"), &[]), refused(Refusal::NotLoggedIn));
    assert_eq!(yard.world.profile(&public(ADA)), None);
}

#[test]
fn a_moderator_takes_a_profile_away_and_only_a_newer_one_comes_back() {
    let mut yard = yard();
    let face = [7; 2_000];
    assert_eq!(set(&mut yard, ADA, with_picture(ADA, 1, &face), &face), Outcome::Ok);
    let unprofile = |n: u8| Act::Govern(GovernOrder::Unprofile { key: public(n) });
    assert_eq!(yard.try_act(BOB, unprofile(ADA)), refused(Refusal::NoRight));
    let (rights, seconds) = ([RoleRight::Moderate].into(), None);
    let grant = GovernOrder::Grant { key: public(BOB), rights, seconds };
    assert_eq!(yard.try_act(ADMIN, Act::Govern(grant)), Outcome::Ok);
    assert_eq!(yard.try_act(BOB, unprofile(ADMIN)), refused(Refusal::Outranked));
    assert_eq!(yard.try_act(BOB, unprofile(ADA)), Outcome::Ok);
    assert_eq!(yard.try_act(BOB, unprofile(ADA)), refused(Refusal::AlreadySo));
    let (_, last) = yard.world.orders().last().expect("it is recorded");
    assert_eq!(last.by, public(BOB));
    assert_eq!((line(&yard.world, ADA), yard.world.picture(&public(ADA))), (None, None));
    wait(&mut yard);
    let again = set(&mut yard, ADA, with_picture(ADA, 1, &face), &face);
    assert_eq!(again, refused(Refusal::OldProfile(1)), "clients send what they have at a login");
    assert_eq!(set(&mut yard, ADA, profile(ADA, 2, "better"), &[]), Outcome::Ok);

    // Who is muted takes it away, and shows no other.
    let (key, reason) = (public(ADA), String::new());
    let mute = GovernOrder::Mute { key, seconds: None, reason: reason.clone() };
    assert_eq!(yard.try_act(ADMIN, Act::Govern(mute)), Outcome::Ok);
    wait(&mut yard);
    assert_eq!(set(&mut yard, ADA, profile(ADA, 3, "worse"), &[]), refused(Refusal::Muted));
    assert_eq!(set(&mut yard, ADA, profile(ADA, 3, ""), &[]), Outcome::Ok);

    assert_eq!(set(&mut yard, BOB, profile(BOB, 1, "hi"), &[]), Outcome::Ok);
    let ban = GovernOrder::Ban { key: public(BOB), seconds: None, reason };
    assert_eq!(yard.try_act(ADMIN, Act::Govern(ban)), Outcome::Ok);
    assert_eq!(line(&yard.world, BOB), None);
    yard.check_leaves();
}

#[test]
fn a_rotation_ends_a_profile_for_it_names_the_old_key_and_what_was_taken_away_stays_away() {
    let login = |old: u8, new: u8| Act::Login {
        name: format!("player {old}"),
        look: Look::default(),
        bot: false,
        pass: Some(Pass::Rotation(Rotation::new(&key(old), &key(new), 1))),
    };
    for is_taken in [false, true] {
        let mut yard = yard();
        assert_eq!(set(&mut yard, ADA, profile(ADA, 4, "hi"), &[]), Outcome::Ok);
        if is_taken {
            let order = GovernOrder::Unprofile { key: public(ADA) };
            assert_eq!(yard.try_act(ADMIN, Act::Govern(order)), Outcome::Ok);
        }
        wait(&mut yard);
        assert_eq!(yard.try_act(NEW, login(ADA, NEW)), Outcome::Ok);
        assert_eq!(yard.world.profile(&public(ADA)), None);
        assert_eq!(line(&yard.world, NEW), None);
        // Her client signs the same version by the new key.
        let signed = set(&mut yard, NEW, profile(NEW, 4, "hi"), &[]);
        let expected = if is_taken { refused(Refusal::OldProfile(4)) } else { Outcome::Ok };
        assert_eq!(signed, expected);
        yard.check_leaves();
    }
}

#[test]
fn leaves_of_profiles_are_small_so_that_the_proof_of_one_is() {
    let mut yard = yard();
    let people: Vec<u8> = (20..60).collect();
    come(&mut yard, &people);
    let line = "x".repeat(PROFILE_LINE_BYTES_MAX);
    for n in &people {
        assert_eq!(set(&mut yard, *n, profile(*n, 1, &line), &[]), Outcome::Ok);
    }
    let leaves = yard.world.manifest().leaves;
    let of_profiles = leaves.iter().filter(|leaf| leaf.key.0.starts_with("profiles"));
    let bytes: Vec<usize> = of_profiles.map(|leaf| leaf.bytes as usize).collect();
    assert!(bytes.len() > 3, "one leaf would be too long, and is cut by a digit: {bytes:?}");
    assert!(bytes.iter().sum::<usize>() > PROFILES_LEAF_BYTES_MAX, "{bytes:?}");
    assert!(bytes.iter().all(|bytes| *bytes <= PROFILES_LEAF_BYTES_MAX), "{bytes:?}");
    // Each person is in the leaf that proves it.
    let leaves = yard.world.provable_leaves();
    for n in people {
        let proof = leaves.profile(&public(n)).expect("there is such a leaf");
        assert_eq!(proof.verify(leaves.root()), Ok(()));
        let kept: Vec<(PublicKey, KeptProfile)> =
            wire::decode(&proof.content, PROFILES_LEAF_BYTES_MAX).expect("a leaf");
        assert!(kept.iter().any(|(key, _)| *key == public(n)));
    }
}
