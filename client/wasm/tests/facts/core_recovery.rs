//! What the page learns of a recovery of the person's key, and how she stops it.

use metatopia_protocol::*;
use metatopia_types::*;
use serde_json::{Value, json};

use crate::{page::Page, stand::Stand};

const NEW: PublicKey = PublicKey([9; 32]);

/// Returns what the page is told when a node says this of the recovery of the person's key.
fn told(recovery: Option<RecoveryEntry>) -> Value {
    let mut page = Page::new();
    let own = Sign::public(&Stand::visitor());
    let id = page.command(json!({ "do": "recovery" }));
    let of = |(id, question)| match question {
        Question::Friends { of } => Some((id, of)),
        _ => None,
    };
    let asked: Vec<_> = page.asked().into_iter().filter_map(of).collect();
    let [(number, of)] = asked[..] else { panic!("{asked:?} is not one question") };
    assert_eq!(of, own, "whose friends are asked for");
    let of = FriendEntry { key: own, name: "Ada".to_owned() };
    let counted = FriendListEntry { friends: Vec::new(), need: 2 };
    let entry = FriendsEntry { of, counted, next: None, recovery };
    page.answer(number, Answer::Friends(Box::new(Ok(entry))));
    page.result(id).expect("it came")["result"].clone()
}

#[test]
fn the_page_learns_who_asks_that_another_key_take_over_and_when() {
    assert_eq!(told(None), Value::Null);
    let friend = |n: u8, name: &str| FriendEntry { key: PublicKey([n; 32]), name: name.to_owned() };
    let vouches = vec![(friend(1, "Bob"), NEW), (friend(2, ""), NEW)];
    let mut open = RecoveryEntry { vouches, chosen: None, left: 259_200_000 };
    let by = json!(["Bob", "02020202"]);
    let asked = json!({ "by": by, "need": 2, "key": null, "left": "3 days", "proven": false });
    assert_eq!(told(Some(open.clone())), asked);
    open.chosen = Some(NEW);
    assert_eq!(told(Some(open))["key"], NEW.to_string());
}

// The page said only that the text client stops it, and who has no other client lost her key by that.
#[test]
fn a_person_stops_a_recovery_in_the_page() {
    let mut page = Page::new();
    let id = page.command(json!({ "do": "cancel_recovery" }));
    let sent = page.act();
    assert_eq!(sent.envelope.act, Act::CancelRecovery);
    page.decide(sent, Outcome::Refused(Refusal::NoRecovery));
    assert_eq!(page.result(id).expect("decided")["result"]["refusal"], "NoRecovery");
}
