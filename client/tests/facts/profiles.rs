//! Profiles: what a client believes of them, what it keeps of its own person, and whom she likes to find.

use std::collections::BTreeMap;

use metatopia_client::{
    BUDDIES_MAX, BuddyList, BuddyListError, Distrust, LightClient, OwnProfile, PICTURE_SIDE_MAX,
    PROFILE_TEXT_MAX, PictureError, ProfileChange, ProfileChangeError, ProfileTextError,
    check_picture,
};
use metatopia_protocol::ProfilesAnswer;
use metatopia_sim::KeptProfile;
use metatopia_types::{
    limits::{
        PROFILE_LINE_BYTES_MAX, PROFILE_PICTURE_BYTES_MAX, PRONOUNS_BYTES_MAX,
        SENT_PROFILE_BYTES_MAX,
    },
    *,
};
use proptest::prelude::*;

use crate::stand::{certificate, key, set};

const MEMBERS: [u8; 4] = [200, 201, 202, 203];

fn sim() -> SimId {
    SimId(Digest([7; 32]))
}

fn light() -> LightClient {
    LightClient::new(sim(), Height(1), set(&MEMBERS), std::sync::Arc::new(Ed25519))
}

fn profile(n: u8, version: u32) -> Profile {
    Profile { version, line: format!("I am {n}."), ..Profile::empty(key(n).public()) }
}

fn kept(n: u8) -> (PublicKey, KeptProfile) {
    let signed = Some(profile(n, 3).sign(&key(n)));
    (key(n).public(), KeptProfile { version: 3, time: 9, sent: None, signed })
}

/// Answers from a state of two leaves, one of which has this name and holds the profiles of these people.
fn answer(name: &str, people: &[u8]) -> ProfilesAnswer {
    let people: BTreeMap<PublicKey, KeptProfile> = people.iter().map(|n| kept(*n)).collect();
    let people: Vec<(PublicKey, KeptProfile)> = people.into_iter().collect();
    let leaves = [
        (LeafKey("governance".to_owned()), vec![1, 2, 3]),
        (LeafKey(name.to_owned()), wire::encode(&people)),
    ];
    let hash = |(key, content): &(LeafKey, Vec<u8>)| {
        leaf_hash(key, &Digest(*blake3::hash(content).as_bytes()))
    };
    let tree = merkle::Tree::of(leaves.iter().map(hash).collect());
    let (key, content) = leaves[1].clone();
    let leaf = StateProof { key, content, place: tree.proof(1).expect("one of two leaves") };
    let validators = set(&MEMBERS).id();
    let (height, next_validators, root) = (Height(9), validators, Root(tree.root()));
    let header =
        Header { sim: sim(), height, root, validators, next_validators, ..Header::unstated() };
    let certificate = certificate(&header, &MEMBERS[..3]);
    ProfilesAnswer { header, certificate, leaves: vec![leaf] }
}

#[test]
fn profiles_are_believed_out_of_a_certified_leaf_and_nothing_else() {
    let good = answer("profiles/0", &[1, 2]);
    let proven = light().profiles(&good).expect("two people");
    assert_eq!(proven.height, Height(7));
    assert_eq!(proven.kept, [kept(1), kept(2)].into());
    assert!(light().profiles(&answer("profiles", &[])).expect("nobody").kept.is_empty());
    let nothing = ProfilesAnswer { leaves: Vec::new(), ..good.clone() };
    assert!(light().profiles(&nothing).expect("a server may leave out all").kept.is_empty());

    let other = Err(Distrust::NotProfiles);
    assert_eq!(light().profiles(&answer("profilesque", &[1])), other);
    assert_eq!(light().profiles(&answer("orders/0", &[1])), other);
    let mut forged = good.clone();
    forged.leaves[0].content = answer("profiles/0", &[1, 3]).leaves[0].content.clone();
    assert!(matches!(light().profiles(&forged), Err(Distrust::State(_))));
    let few = certificate(&good.header, &MEMBERS[..2]);
    let few = ProfilesAnswer { certificate: few, ..good };
    assert!(matches!(light().profiles(&few), Err(Distrust::Certificate(_))));
}

/// The first bytes of a PNG of this size, which is all that a client reads.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    picture.extend(width.to_be_bytes());
    picture.extend(height.to_be_bytes());
    picture
}

/// The first bytes of a JPEG of this size, after a segment that says nothing of it.
fn jpeg(width: u16, height: u16) -> Vec<u8> {
    let mut picture = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08".to_vec();
    picture.extend(height.to_be_bytes());
    picture.extend(width.to_be_bytes());
    picture
}

#[test]
fn pictures_are_short_files_of_two_kinds_and_of_few_points() {
    let most = PICTURE_SIDE_MAX as u32;
    assert_eq!(check_picture(&png(most, 1)), Ok("image/png"));
    assert_eq!(check_picture(&jpeg(96, most as u16)), Ok("image/jpeg"));
    let size = |width, height| Err(PictureError::Size(width, height));
    assert_eq!(check_picture(&png(most + 1, 9)), size(PICTURE_SIDE_MAX + 1, 9));
    assert_eq!(check_picture(&jpeg(9, 60_000)), size(9, 60_000));
    assert_eq!(check_picture(&png(0, 9)), size(0, 9));
    let cut = &png(9, 9)[..18];
    for other in [&b"GIF89a\x01\0\x01\0"[..], b"<svg/>", b"RIFF....WEBPVP8 ", b"", cut] {
        assert_eq!(check_picture(other), Err(PictureError::Kind), "{other:?}");
    }
    let mut long = png(9, 9);
    long.resize(PROFILE_PICTURE_BYTES_MAX, 0);
    assert_eq!(check_picture(&long), Ok("image/png"));
    long.push(0);
    assert_eq!(check_picture(&long), Err(PictureError::TooLong(PROFILE_PICTURE_BYTES_MAX + 1)));
}

proptest! {
    #[test]
    fn no_bytes_of_a_picture_or_of_a_file_are_more_than_a_client_can_take(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        begins in prop::sample::select(vec![&b""[..], b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"]),
    ) {
        let _ = check_picture(&[begins, &bytes].concat());
        let text = format!("metatopia-profile-1 {}", String::from_utf8_lossy(&bytes));
        prop_assert!(OwnProfile::import(&text, &Ed25519).is_err());
    }
}

fn changed(before: Option<&OwnProfile>, known: u32, changes: &[ProfileChange]) -> OwnProfile {
    OwnProfile::changed(before, known, changes, &key(1)).expect("what may be said")
}

#[test]
fn a_change_is_signed_anew_in_a_version_that_no_sim_knows() {
    let line = |text: &str| ProfileChange::Line(text.to_owned());
    let first = changed(None, 0, &[line(" I build mills. "), ProfileChange::Picture(png(96, 96))]);
    assert_eq!((first.profile().version, first.profile().line.as_str()), (1, "I build mills."));
    assert_eq!(first.profile().picture, Some(picture_digest(&png(96, 96))));
    assert!(first.signed().verify(&Ed25519));
    let second = changed(Some(&first), 7, &[ProfileChange::Pronouns("she/her".to_owned())]);
    assert_eq!((second.profile().version, second.picture()), (8, first.picture()));
    let plain = changed(Some(&second), 0, &[ProfileChange::NoPicture]);
    assert_eq!((plain.profile().picture, plain.picture().len()), (None, 0));
    let gone = changed(Some(&second), 0, &[ProfileChange::Clear]);
    assert!(gone.profile().is_empty() && gone.profile().version == 9);

    // A sim is sent what it does not have, and nothing that says nothing.
    let news = |own: &OwnProfile| [None, Some(8), Some(9)].map(|known| own.is_news(known));
    assert_eq!((news(&gone), news(&second)), ([false, true, false], [true, false, false]));
    let (act, blobs) = second.act();
    assert_eq!(act, Act::SetProfile { profile: blobs[0].id() });

    // A key that takes the place of the old one signs the same version; somebody else begins anew.
    let rotated = second.rotated(&key(2));
    assert!(rotated.signed().verify(&Ed25519));
    assert_eq!((rotated.profile().key, rotated.profile().version), (key(2).public(), 8));
    let other = OwnProfile::changed(Some(&second), 0, &[line("hi")], &key(3)).expect("a line");
    assert_eq!((other.profile().version, other.picture().len()), (1, 0));

    let fails = |change| OwnProfile::changed(Some(&first), 0, &[change], &key(1)).expect_err("no");
    let long = "x".repeat(PROFILE_LINE_BYTES_MAX + 1);
    for wrong in [long.as_str(), "two\nlines", "a\u{202e}b"] {
        assert_eq!(fails(line(wrong)), ProfileChangeError::Line);
    }
    let long = "x".repeat(PRONOUNS_BYTES_MAX + 1);
    assert_eq!(fails(ProfileChange::Pronouns(long)), ProfileChangeError::Pronouns);
    let kind = ProfileChangeError::Picture(PictureError::Kind);
    assert_eq!(fails(ProfileChange::Picture(b"GIF89a".to_vec())), kind);
    let last = OwnProfile::changed(Some(&first), u32::MAX, &[line("hi")], &key(1));
    assert_eq!(last, Err(ProfileChangeError::LastVersion));
}

#[test]
fn a_profile_is_read_from_the_text_that_it_writes_and_from_no_other() {
    let mut face = png(96, 96);
    face.resize(PROFILE_PICTURE_BYTES_MAX, 7);
    let longest = [
        ProfileChange::Line("x".repeat(PROFILE_LINE_BYTES_MAX)),
        ProfileChange::Pronouns("y".repeat(PRONOUNS_BYTES_MAX)),
        ProfileChange::Picture(face.clone()),
    ];
    let own = changed(None, u32::MAX - 1, &longest);
    let text = own.export();
    assert!(text.len() <= PROFILE_TEXT_MAX, "{}", text.len());
    let read = |text: &str| OwnProfile::import(text, &Ed25519);
    assert_eq!(read(&text), Ok(own.clone()));
    let form = Err(ProfileTextError::Form);
    assert_eq!(read(&format!("{text}more\n")), form);
    assert_eq!(read(&text.replace("profile-1", "profile-2")), form);
    assert_eq!(read(&"x".repeat(PROFILE_TEXT_MAX + 1)), form);
    assert_eq!(read(""), form);
    // Forged, with another picture, with none, and with one that is not shown.
    let of = |sent: SentProfile| OwnProfile::of(sent, &Ed25519);
    let sent = SentProfile { signed: own.signed().clone(), picture: face };
    let mut forged = sent.clone();
    forged.signed.profile.line = "y".to_owned();
    assert_eq!(of(forged), Err(ProfileTextError::Unsigned));
    let other = Err(ProfileTextError::Picture(PictureError::Other));
    for picture in [png(9, 9), Vec::new()] {
        assert_eq!(of(SentProfile { picture, ..sent.clone() }), other);
    }
    let svg = b"<svg/>".to_vec();
    let signed = Profile { picture: Some(picture_digest(&svg)), ..profile(1, 1) }.sign(&key(1));
    let kind = Err(ProfileTextError::Picture(PictureError::Kind));
    assert_eq!(of(SentProfile { signed, picture: svg }), kind);
    assert!(sent.encode().len() <= SENT_PROFILE_BYTES_MAX);
}

#[test]
fn a_buddy_list_is_kept_as_text_and_has_a_bound() {
    let named = |n: usize| {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&(n as u64).to_be_bytes());
        PublicKey(bytes)
    };
    let mut list = BuddyList::default();
    for n in 0..BUDDIES_MAX {
        list.add(named(n), "Bob").expect("room");
    }
    assert_eq!(list.add(named(BUDDIES_MAX), "Eve"), Err(BuddyListError::Full));
    assert_eq!(list.add(named(3), "Old\u{1b} Bob"), Ok(()), "who is on it gets another name");
    assert_eq!(BuddyList::import(&list.export(&key(1)), &[key(1).public()]), Ok(list.clone()));
    assert!(list.remove(&named(3)) && !list.remove(&named(3)) && !list.has(&named(3)));
    assert_eq!(list.named("bo").len(), BUDDIES_MAX - 1);
    assert_eq!(BuddyList::recall("# mine\nBob\n"), Err(BuddyListError::Line(2)));
}
