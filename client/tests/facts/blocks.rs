//! Whose words a person does not want to read.

use metatopia_client::{
    BLOCKED_MAX, BlockList, BlockListError, BuddyList, BuddyListError, ListSignatureError,
};
use metatopia_protocol::ChatMessage;
use metatopia_types::{Height, ObjectId, PublicKey, Sign as _, SigningKey};

fn key(number: u16) -> PublicKey {
    let mut bytes = [0; 32];
    bytes[..2].copy_from_slice(&number.to_be_bytes());
    PublicKey(bytes)
}

/// Returns a line that an avatar of this key said; a thing, if there is no key.
fn line(by: Option<PublicKey>) -> ChatMessage {
    let (height, speaker, name, text) = (Height(3), ObjectId(9), "Eve".into(), "boo".into());
    ChatMessage { height, channel: 1, speaker, name, text, by, club: None }
}

#[test]
fn lines_of_a_blocked_key_are_hidden_under_any_name_and_those_of_things_are_not() {
    let mut list = BlockList::default();
    assert!(!list.hides(&line(Some(key(7)))));
    list.block(key(7), "Somebody Else").expect("room");
    assert!(list.hides(&line(Some(key(7)))));
    assert!(!list.hides(&line(Some(key(8)))) && !list.hides(&line(None)));
    assert!(list.unblock(&key(7)) && !list.unblock(&key(7)));
    assert!(!list.hides(&line(Some(key(7)))));
}

#[test]
fn a_list_is_read_from_the_text_that_it_writes() {
    let mut list = BlockList::default();
    list.block(key(9), "Old\u{1b} Bob\n").expect("room");
    list.block(key(7), "").expect("room");
    let me = SigningKey::from_seed([1; 32]);
    let text = list.export(&me);
    let people = format!("\n{}\n{} Old  Bob\nmetatopia-blocks-1 {} ", key(7), key(9), me.public());
    assert!(text.contains(&people), "{text}");
    let owners = [me.public()];
    assert_eq!(BlockList::import(&format!("# mine\n\n{text}"), &owners), Ok(list.clone()));
    assert_eq!(BlockList::recall(&text), Ok(list));
    let wrong = format!("{}\nBob\n", key(7));
    assert_eq!(BlockList::recall(&wrong), Err(BlockListError::Line(2)));
    for (behind, line) in [(format!("{}\n", key(8)), 5), (text.clone(), 6)] {
        let read = BlockList::import(&format!("{text}{behind}"), &owners);
        assert_eq!(read, Err(BlockListError::Line(line)), "nothing stands behind the signature");
    }
}

/// Whoever sent somebody a file decided whose words she read.
#[test]
fn a_list_that_the_key_did_not_sign_as_it_is_is_refused_and_says_why() {
    let [me, before, eve] = [1, 2, 3].map(|n| SigningKey::from_seed([n; 32]));
    let owners = [me.public(), before.public()];
    let read = |text: &str| BlockList::import(text, &owners).map(|list| list.people().count());
    let wrong = |why| Err(BlockListError::Signature(why));
    let mut list = BlockList::default();
    list.block(key(7), "Bob").expect("room");

    let text = list.export(&me);
    assert_eq!((read(&text), read(&list.export(&before))), (Ok(1), Ok(1)));
    let changed = text.replace("Bob", "Eve");
    assert_eq!(read(&changed), wrong(ListSignatureError::Changed));
    let other = wrong(ListSignatureError::OtherKey(eve.public()));
    assert_eq!(read(&list.export(&eve)), other);
    let people: Vec<&str> = text.lines().filter(|line| !line.starts_with("metatopia")).collect();
    assert_eq!(read(&people.join("\n")), wrong(ListSignatureError::Unsigned));
    assert_eq!(read(""), wrong(ListSignatureError::Unsigned));
    let cut = text.trim_end();
    assert_eq!(read(&cut[..cut.len() - 1]), Err(BlockListError::Line(3)));

    // A list of buddies is no list of blocked people, and its signature is none for such a list.
    let buddies = text.replace("metatopia-blocks-1", "metatopia-buddies-1");
    assert_eq!(read(&buddies), Err(BlockListError::Line(3)));
    let changed = BuddyListError::Signature(ListSignatureError::Changed);
    assert_eq!(BuddyList::import(&buddies, &owners), Err(changed));
}

#[test]
fn a_person_blocks_so_many_others_and_no_more() {
    let mut list = BlockList::default();
    for number in 0..BLOCKED_MAX as u16 {
        list.block(key(number), "pest").expect("room");
    }
    let more = key(BLOCKED_MAX as u16);
    assert_eq!(list.block(more, "pest"), Err(BlockListError::Full));
    list.block(key(0), "another name").expect("somebody who is on the list");
    let text = list.export(&SigningKey::from_seed([1; 32]));
    let text = format!("{more} pest\n{text}");
    assert_eq!(BlockList::recall(&text), Err(BlockListError::Full));
    assert!(list.unblock(&key(1)) && list.block(more, "pest").is_ok());
}

#[test]
fn people_on_the_list_are_found_by_the_beginning_of_name_or_key() {
    let mut list = BlockList::default();
    list.block(key(0x0102), "Bob").expect("room");
    list.block(key(0x0203), "Bobby").expect("room");
    let found = |typed: &str| -> Vec<PublicKey> {
        list.named(typed).into_iter().map(|(key, _)| key).collect()
    };
    assert_eq!(found("bob"), [key(0x0102)]);
    assert_eq!(found("bo"), [key(0x0102), key(0x0203)]);
    assert_eq!(found("0203"), [key(0x0203)]);
    assert_eq!(found("eve"), []);
}
