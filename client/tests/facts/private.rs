//! Private words: two people read them, and nobody else does; what was changed or copied is shown to nobody.

use metatopia_client::{
    Correspondence, OPENED_KEPT, OpenWordsError, SHARED_KEYS_MAX, SealWordsError,
    text::{told, unreadable},
};
use metatopia_protocol::ToldMessage;
use metatopia_types::{
    Act, Blob, Digest, Ed25519, Envelope, Height, Lane, OpenedWords, PublicKey, ReportSubject,
    SealedWords, Seq, Sign, SigningKey, SimId, agreement_point,
    limits::{CHAT_BYTES_MAX, OPENED_BYTES_MAX, SEALED_BYTES_MAX, SEALED_CLASSES},
    wire,
};

const SIM: SimId = SimId(Digest([7; 32]));

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

fn desk(n: u8) -> Correspondence {
    Correspondence::new(SIM, &key(n), [n ^ 0x55; 32])
}

/// Returns words as a server hands them on, with the act signed by `n`.
fn handed_on(n: u8, number: u64, act: Act, blob: &Blob) -> ToldMessage {
    let (lane, seq, last_valid) = (Lane(1), Seq(number), Height(900));
    let envelope = Envelope { sim: SIM, author: key(n).public(), lane, seq, last_valid, act };
    let (act, sealed, name) = (envelope.sign(&key(n)), blob.0.clone(), format!("player {n}"));
    ToldMessage { number, height: Height(number), ago: 60_000, name, act, sealed }
}

fn words(from: &mut Correspondence, n: u8, to: u8, number: u64, text: &str) -> ToldMessage {
    let (act, blobs) = from.seal(&key(to).public(), text).expect("words that can be told");
    handed_on(n, number, act, &blobs[0])
}

#[test]
fn two_people_read_their_words_and_a_third_one_reads_none() {
    let [mut ada, mut bob, mut eve] = [1, 2, 3].map(desk);
    let there = words(&mut ada, 1, 2, 1, "the key is under the mat");
    let back = words(&mut bob, 2, 1, 2, "which mat?");
    let read = bob.take(&there).expect("words for Bob").expect("new words");
    assert_eq!((read.text.as_str(), read.by), ("the key is under the mat", key(1).public()));
    assert_eq!(
        told(read, false),
        "player 1 tells you privately (words 1): the key is under the mat"
    );
    assert_eq!(ada.take(&back).expect("words for Ada").expect("new words").text, "which mat?");
    assert_eq!(bob.take(&there), Ok(None), "a mailbox repeats them");
    bob.forget();
    let again = bob.take(&there).expect("words for Bob").expect("words that were forgotten");
    let line = "Earlier, 1 minute ago: player 1 tells you privately (words 2): ";
    assert!(told(again, true).starts_with(line));

    assert_eq!(eve.take(&there), Err(OpenWordsError::NotOurs));
    assert_eq!(eve.decrypt(&key(1).public(), &there.sealed), Err(OpenWordsError::Broken));
    // Their author cannot read them either: whoever steals her key learns nothing of what she told.
    assert_eq!(ada.decrypt(&key(1).public(), &there.sealed), Err(OpenWordsError::Broken));
    assert_eq!(
        unreadable(&there, OpenWordsError::Broken),
        "Private words of player 1 cannot be read: the seal is broken."
    );
}

#[test]
fn words_of_one_class_are_equally_long_and_the_same_words_are_never_the_same_bytes() {
    let mut ada = desk(1);
    let mut sealed = |text: &str| words(&mut ada, 1, 2, 1, text).sealed;
    let lengths: Vec<usize> =
        [1, 64, 65, 128, 129, 256, 257, 512].map(|n| sealed(&"x".repeat(n)).len()).into();
    let expected = SEALED_CLASSES.map(|class| SEALED_BYTES_MAX - CHAT_BYTES_MAX + class);
    assert_eq!(lengths, expected.map(|length| [length; 2]).concat());
    let (one, other) = (sealed("hello"), sealed("hello"));
    assert_ne!(one, other);
    let nonce = |bytes: &[u8]| SealedWords::decode(bytes).expect("sealed words").nonce;
    assert_ne!(nonce(&one), nonce(&other));
    // Random numbers that are none still give other words another nonce, and others another key.
    let again = |n: u8, text: &str| {
        let mut desk = Correspondence::new(SIM, &key(n), [0; 32]);
        let bytes = words(&mut desk, n, 2, 1, text).sealed;
        SealedWords::decode(&bytes).expect("sealed words")
    };
    assert_ne!(again(1, "hello").nonce, again(1, "hullo").nonce);
    assert_ne!(again(1, "hello").passing, again(3, "hello").passing);
}

#[test]
fn what_was_changed_copied_or_told_elsewhere_is_shown_to_nobody() {
    let (mut ada, mut bob) = (desk(1), desk(2));
    let there = words(&mut ada, 1, 2, 1, "hello");
    for at in 0..there.sealed.len() {
        let mut sealed = there.sealed.clone();
        sealed[at] ^= 1;
        let act = Act::Tell { to: key(2).public(), sealed: Blob(sealed.clone()).id() };
        let changed = handed_on(1, 1, act, &Blob(sealed.clone()));
        assert_eq!(bob.take(&changed), Err(OpenWordsError::Broken), "byte {at}");
        let swapped = ToldMessage { sealed, ..there.clone() };
        assert_eq!(bob.take(&swapped), Err(OpenWordsError::NotOurs), "byte {at}");
    }
    let short = Blob(there.sealed[1..].to_vec());
    let act = Act::Tell { to: key(2).public(), sealed: short.id() };
    assert_eq!(bob.take(&handed_on(1, 1, act, &short)), Err(OpenWordsError::NotOurs));

    // Eve sends what Ada sealed as her own, to Bob and to Carol.
    let blob = Blob(there.sealed.clone());
    let act = Act::Tell { to: key(2).public(), sealed: blob.id() };
    assert_eq!(bob.take(&handed_on(3, 1, act, &blob)), Err(OpenWordsError::Broken));
    let act = Act::Tell { to: key(4).public(), sealed: blob.id() };
    assert_eq!(desk(4).take(&handed_on(1, 1, act, &blob)), Err(OpenWordsError::Broken));
    // A server puts another name under what Ada signed, or has it in another sim.
    let mut forged = there.clone();
    forged.act.envelope.author = key(3).public();
    assert_eq!(bob.take(&forged), Err(OpenWordsError::Unsigned));
    let mut elsewhere = desk(2);
    elsewhere.move_to(SimId(Digest([8; 32])));
    assert_eq!(elsewhere.take(&there), Err(OpenWordsError::NotOurs));
    assert!(bob.take(&there).is_ok_and(|read| read.is_some()));
}

#[test]
fn words_that_nobody_could_say_or_open_are_not_sealed() {
    let mut ada = desk(1);
    let bob = key(2).public();
    for text in ["", "  ", "two\nlines", "a\0b", "x".repeat(CHAT_BYTES_MAX + 1).as_str()] {
        assert_eq!(ada.seal(&bob, text).map(drop), Err(SealWordsError::Words), "{text:?}");
    }
    // No point of the curve, and points whose secret everybody knows.
    for wrong in [[2; 32], [0; 32], [7; 32]] {
        assert_eq!(ada.seal(&PublicKey(wrong), "hello").map(drop), Err(SealWordsError::Key));
    }
    let mut one = [0; 32];
    one[0] = 1;
    assert_eq!(agreement_point(&PublicKey(one)), None, "the neutral point");
    // An author who takes such a point as passing key tells nothing.
    let mut sealed = words(&mut ada, 1, 2, 1, "hello").sealed;
    sealed[..32].copy_from_slice(&[0; 32]);
    let act = Act::Tell { to: bob, sealed: Blob(sealed.clone()).id() };
    let broken = handed_on(1, 1, act, &Blob(sealed));
    assert_eq!(desk(2).take(&broken), Err(OpenWordsError::Broken));
}

#[test]
fn what_a_reader_was_shown_she_can_prove_to_others_and_nothing_else_of_it() {
    let (mut ada, mut bob) = (desk(1), desk(2));
    let first = words(&mut ada, 1, 2, 5, "or else");
    let second = words(&mut ada, 1, 2, 6, &"x".repeat(CHAT_BYTES_MAX));
    let numbers = [&first, &second]
        .map(|told| bob.take(told).expect("words for Bob").expect("new words").number);
    assert_eq!((numbers, bob.newest_place()), ([1, 2], Some(6)));
    let (act, blobs) = bob.report(1, "a threat".to_owned()).expect("words that came");
    let opened: OpenedWords =
        wire::decode(&blobs[0].0, OPENED_BYTES_MAX).expect("what proves the words");
    let about = ReportSubject::Words { by: key(1).public(), opened: blobs[0].id() };
    assert_eq!(act, Act::FileReport { about, words: "a threat".to_owned() });
    let reader = key(2).public();
    assert_eq!(opened.author(SIM, &reader, &Ed25519), Some(key(1).public()));
    assert_eq!(opened.text, "or else");
    // It opens its own commitment alone.
    let other = OpenedWords { act: second.act, sealed: second.sealed, ..opened };
    assert_eq!(other.author(SIM, &reader, &Ed25519), None);
    assert_eq!(bob.report(3, String::new()), None);
    let (_, blobs) = bob.report(2, String::new()).expect("words that came");
    assert!(blobs[0].0.len() <= OPENED_BYTES_MAX, "{} bytes", blobs[0].0.len());
}

#[test]
fn a_client_keeps_so_many_words_and_keys_of_others_and_goes_on() {
    let mut bob = desk(2);
    for n in 0..=OPENED_KEPT.max(SHARED_KEYS_MAX) as u64 {
        let mut random = [0; 32];
        random[..8].copy_from_slice(&n.to_le_bytes());
        let mut session = Correspondence::new(SIM, &key(1), random);
        let words = words(&mut session, 1, 2, n + 1, "hello");
        assert!(bob.take(&words).is_ok_and(|read| read.is_some()));
    }
    assert_eq!(bob.report(1, String::new()), None, "the oldest were forgotten");
    assert!(bob.report(OPENED_KEPT as u64 + 1, String::new()).is_some());
    assert!(bob.report(2, String::new()).is_some());
}
