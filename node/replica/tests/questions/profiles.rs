//! What people say of themselves, at a server: taken with its picture, told and proved.

use metatopia_protocol::{
    Answer, PROFILES_PER_QUESTION_MAX, ProfilesAnswer, Question, SERVER_FRAME_BYTES_MAX,
};
use metatopia_sim::KeptProfile;
use metatopia_types::{
    Act, Blob, Digest, LeafKey, Look, Profile, PublicKey, SentProfile, Sign, SigningKey,
    StateProof,
    limits::{LEAF_BYTES_MAX, PROFILES_LEAF_BYTES_MAX},
    merkle, picture_digest, wire,
};

use super::{
    author_class::Person,
    people::{ADMIN, governed, public, turn},
};

const ADA: u8 = 71;

fn asked(server: &mut super::alone::Alone, of: &[PublicKey]) -> ProfilesAnswer {
    match server.ask(Question::Profiles { of: of.to_vec() }) {
        Answer::Profiles(answer) => *answer,
        other => panic!("{other:?} where profiles belong"),
    }
}

#[test]
fn a_profile_is_proved_by_its_leaf_and_its_picture_by_its_hash() {
    let (mut server, _admin) = governed();
    let nobody = asked(&mut server, &[public(ADMIN)]);
    assert_eq!(nobody.leaves, [], "there is no such leaf yet");
    let mut ada = Person::comes(&mut server, ADA);
    ada.acts(&mut server, Act::login("Ada".to_owned(), Look::default()), 100);
    turn(&mut server);
    let mut face = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x60\0\0\0\x60".to_vec();
    face.resize(3_000, 7);
    let key = SigningKey::from_seed([ADA; 32]);
    let picture = Some(picture_digest(&face));
    let line = "I build mills.".to_owned();
    let profile = Profile { version: 1, line, picture, ..Profile::empty(key.public()) };
    let signed = profile.sign(&key);
    let blob = Blob(SentProfile { signed: signed.clone(), picture: face.clone() }.encode());
    let act = Act::SetProfile { profile: blob.id() };
    ada.acts_with(&mut server, act, vec![blob], 100);
    turn(&mut server);
    turn(&mut server);

    let answer = asked(&mut server, &[public(ADA), public(ADMIN), public(ADA)]);
    let [leaf] = &answer.leaves[..] else { panic!("{:?}", answer.leaves) };
    assert_eq!(leaf.verify(answer.header.root), Ok(()));
    let kept: Vec<(PublicKey, KeptProfile)> =
        wire::decode(&leaf.content, LEAF_BYTES_MAX).expect("a leaf");
    assert_eq!(kept.len(), 1);
    assert_eq!((kept[0].0, &kept[0].1.signed), (public(ADA), &Some(signed)));
    let Answer::Picture(told) = server.ask(Question::Picture { of: public(ADA) }) else {
        panic!("no picture")
    };
    assert_eq!((told.as_slice(), Some(picture_digest(&told))), (&face[..], picture));
    assert_eq!(server.ask(Question::Picture { of: public(ADMIN) }), Answer::Unknown);
}

#[test]
fn a_full_answer_of_the_longest_leaves_fits_a_frame() {
    let place = merkle::Proof { index: 0, count: 1 << 20, path: vec![Digest::ZERO; 20] };
    let leaf = StateProof {
        key: LeafKey(format!("profiles/{}", "f".repeat(64))),
        content: vec![0; PROFILES_LEAF_BYTES_MAX],
        place,
    };
    let bytes = wire::encode(&vec![leaf; PROFILES_PER_QUESTION_MAX]).len();
    assert!(bytes < SERVER_FRAME_BYTES_MAX / 2, "{bytes}");
    assert!(bytes < 160 * 1_024, "{bytes}");
}
