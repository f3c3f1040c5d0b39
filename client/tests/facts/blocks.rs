//! Whose words a person does not want to read.

use metatopia_client::{BLOCKED_MAX, BlockList, BlockListError};
use metatopia_protocol::ChatMessage;
use metatopia_types::{Height, ObjectId, PublicKey};

fn key(number: u16) -> PublicKey {
    let mut bytes = [0; 32];
    bytes[..2].copy_from_slice(&number.to_be_bytes());
    PublicKey(bytes)
}

/// Returns a line that an avatar of this key said; a thing, if there is no key.
fn line(by: Option<PublicKey>) -> ChatMessage {
    let (height, speaker) = (Height(3), ObjectId(9));
    ChatMessage { height, channel: 1, speaker, name: "Eve".into(), text: "boo".into(), by }
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
    let text = list.export();
    assert_eq!(text, format!("{}\n{} Old  Bob\n", key(7), key(9)));
    assert_eq!(BlockList::import(&format!("# mine\n\n{text}")), Ok(list));
    let wrong = format!("{}\nBob\n", key(7));
    assert_eq!(BlockList::import(&wrong), Err(BlockListError::Line(2)));
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
    let text = format!("{}{more} pest\n", list.export());
    assert_eq!(BlockList::import(&text), Err(BlockListError::Full));
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
