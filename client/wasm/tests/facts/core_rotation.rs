//! How a key that took the place of another one comes into a sim, and what the page learns of friends.

use metatopia_client::keys::rotation_line;
use metatopia_protocol::*;
use metatopia_types::*;
use serde_json::{Value, json};

use crate::{page::Page, stand::Stand};

/// The rotation by which another key gave its place to this one.
fn rotation_to(new: &SigningKey) -> Rotation {
    Rotation::new(&SigningKey::from_seed([77; 32]), new, 1)
}

/// A page that has a rotation and logs in. Gives the number of the login.
fn entering(rotation: &Rotation) -> (Page, u64) {
    let mut page = Page::unconnected(json!({ "rotation": rotation_line(rotation) }));
    page.connect();
    let id = page.command(json!({ "do": "login", "name": "Ada", "look": {} }));
    (page, id)
}

/// Answers the only question what a login takes, which is about this key.
fn answer_terms(page: &mut Page, about: PublicKey, terms: LoginTerms) {
    let asked = page.asked();
    let [(id, Question::LoginTerms { key })] = asked[..] else { panic!("{asked:?}") };
    assert_eq!(key, about);
    page.answer(id, Answer::LoginTerms(terms));
}

fn pass(page: &mut Page) -> (SignedEnvelope, Option<Pass>) {
    let act = page.act();
    let Act::Login { pass, .. } = act.envelope.act.clone() else { panic!("{act:?}") };
    (act, pass)
}

// The page could give no key up, and a person who did so by the program was somebody new in the page.
#[test]
fn a_rotation_is_shown_to_a_sim_that_knows_the_old_key_and_then_no_more() {
    let rotation = rotation_to(&Stand::visitor());
    let own = rotation.new;
    let (mut page, _) = entering(&rotation);
    assert!(page.acts().is_empty(), "what a login takes is asked first");
    let (mut page, id) = entering(&rotation);
    answer_terms(&mut page, own, LoginTerms::Ticket);
    answer_terms(&mut page, rotation.old, LoginTerms::Free);
    let (act, shown) = pass(&mut page);
    assert_eq!(shown, Some(Pass::Rotation(rotation)));
    assert!(act.verify(&Ed25519), "both keys signed");
    page.decide(act, Outcome::Ok);
    assert_eq!(page.result(id).expect("decided")["result"]["ok"], true);

    let id = page.command(json!({ "do": "login", "name": "Ada", "look": {} }));
    let (act, shown) = pass(&mut page);
    assert_eq!(shown, None, "the sim knows the key by now");
    page.decide(act, Outcome::Ok);
    assert_eq!(page.result(id).expect("decided")["result"]["ok"], true);
}

#[test]
fn an_open_sim_is_shown_the_rotation_without_another_question() {
    let rotation = rotation_to(&Stand::visitor());
    let (mut page, _) = entering(&rotation);
    answer_terms(&mut page, rotation.new, LoginTerms::Free);
    assert_eq!(pass(&mut page).1, Some(Pass::Rotation(rotation)));
}

#[test]
fn where_nobody_knows_the_old_key_a_login_is_that_of_a_new_one() {
    let rotation = rotation_to(&Stand::visitor());
    let (mut page, id) = entering(&rotation);
    answer_terms(&mut page, rotation.new, LoginTerms::Closed);
    answer_terms(&mut page, rotation.old, LoginTerms::Closed);
    assert_eq!(page.result(id).expect("known")["code"], "NobodyNew");
}

#[test]
fn a_rotation_that_leads_to_another_key_is_not_shown() {
    let elsewhere = rotation_to(&SigningKey::from_seed([78; 32]));
    let (mut page, _) = entering(&elsewhere);
    assert_eq!(pass(&mut page).1, None);
}

/// Returns the act that a command comes to.
fn act_of(command: Value) -> Act {
    let mut page = Page::new();
    page.log_in();
    page.command(command);
    page.act().envelope.act
}

#[test]
fn a_person_names_friends_and_vouches_for_one_who_lost_a_key() {
    let [bob, eve] = [9, 8].map(|n| PublicKey([n; 32]));
    let keys = [bob, eve].map(|key| key.to_string());
    let named = act_of(json!({ "do": "name_friends", "keys": keys, "need": 2 }));
    assert_eq!(named, Act::NameFriends { friends: vec![eve, bob], need: 2 }, "ascending");

    let new = NewKeyWord::new(&SigningKey::from_seed([7; 32]), &bob);
    let (old, text) = (format!(" {bob}\n"), new.to_string());
    let vouched = act_of(json!({ "do": "vouch", "old": old, "new": text }));
    assert_eq!(vouched, Act::Vouch { old: bob, new });

    let mut page = Page::new();
    for wrong in [
        json!({ "do": "name_friends", "keys": ["Bob"], "need": 1 }),
        json!({ "do": "vouch", "old": bob.to_string(), "new": "07" }),
    ] {
        let id = page.command(wrong.clone());
        assert_eq!(page.result(id).expect("at once")["code"], "BadName", "{wrong}");
    }
}

#[test]
fn the_page_learns_in_lines_who_the_friends_of_the_person_are() {
    let mut page = Page::new();
    let id = page.command(json!({ "do": "friends" }));
    let asked = page.asked();
    let [(number, Question::Friends { of })] = asked[..] else { panic!("{asked:?}") };
    assert_eq!(of, Sign::public(&Stand::visitor()));
    let of = FriendEntry { key: of, name: "Ada".to_owned() };
    let bob = FriendEntry { key: PublicKey([9; 32]), name: "Bob".to_owned() };
    let counted = FriendListEntry { friends: vec![bob], need: 1 };
    let entry = FriendsEntry { of, counted, next: None, recovery: None };
    page.answer(number, Answer::Friends(Box::new(Ok(entry))));
    let told = page.result(id).expect("it came")["result"]["lines"].clone();
    assert!(
        told[0].as_str().expect("a line").ends_with("is got back by: Bob (09090909)"),
        "{told}"
    );
}
