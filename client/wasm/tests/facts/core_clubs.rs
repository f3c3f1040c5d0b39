//! What the page learns of clubs through the core, and what it sends about them.

use metatopia_protocol::*;
use metatopia_types::*;
use serde_json::{Value, json};

use crate::{page::Page, stand::Stand};

const EVE: PublicKey = PublicKey([9; 32]);

fn own() -> PublicKey {
    Sign::public(&Stand::visitor())
}

fn person(key: PublicKey, name: &str) -> ClubPerson {
    ClubPerson { key, name: name.to_owned(), here: true }
}

fn club(n: u64, members: Vec<ClubPerson>, invites: Vec<ClubInviteEntry>) -> ClubEntry {
    ClubEntry { club: ClubId(n), name: format!("club {n}"), owner: EVE, members, invites }
}

/// Answers the only question for clubs; returns whose they are.
fn answer(page: &mut Page, clubs: Vec<ClubEntry>) -> (Option<PublicKey>, ClubId) {
    let asked = |(id, question)| match question {
        Question::Clubs { of, after } => Some((id, (of, after))),
        _ => None,
    };
    let asked: Vec<_> = page.asked().into_iter().filter_map(asked).collect();
    let [(id, wanted)] = asked[..] else { panic!("{asked:?} is not one question") };
    page.answer(id, Answer::Clubs(clubs));
    wanted
}

#[test]
fn clubs_are_told_with_their_channel_and_invites_with_who_invited() {
    let mut page = Page::new();
    let id = page.command(json!({ "do": "clubs" }));
    let eve = || person(EVE, "Eve");
    let invite = ClubInviteEntry { invited: person(own(), "Ada"), by: EVE, left: 9 };
    let clubs =
        vec![club(3, vec![eve(), person(own(), "")], vec![]), club(4, vec![eve()], vec![invite])];
    assert_eq!(answer(&mut page, clubs), (Some(own()), ClubId(0)));
    let told: Value = page.result(id).expect("the answer came")["result"].clone();
    let of = |n: usize, what: &str| told[n][what].clone();
    assert_eq!((of(0, "club"), of(0, "name")), (json!(3), json!("club 3")));
    assert_eq!((of(0, "channel"), of(0, "own")), (json!("club:3"), json!(false)));
    assert_eq!((of(0, "invited"), of(1, "invited")["name"].clone()), (Value::Null, json!("Eve")));
    let first = json!({ "name": "Eve", "key": EVE.to_string(), "here": true });
    assert_eq!(
        (of(0, "members")[0].clone(), of(1, "asked")[0]["name"].clone()),
        (first, json!("Ada"))
    );
    assert_eq!(of(0, "proven"), json!(false));
}

#[test]
fn what_the_page_orders_and_says_in_a_club_is_an_act_and_what_is_heard_names_the_club() {
    let mut page = Page::new();
    page.log_in();
    let (club, key) = (ClubId(3), EVE);
    for (order, act) in [
        (json!({ "verb": "found", "name": "Rowers" }), ClubOrder::Found { name: "Rowers".into() }),
        (
            json!({ "verb": "invite", "club": 3, "key": EVE.to_string() }),
            ClubOrder::Invite { club, key },
        ),
        (json!({ "verb": "accept", "club": 3 }), ClubOrder::Accept { club }),
        (json!({ "verb": "decline", "club": 3 }), ClubOrder::Decline { club }),
        (json!({ "verb": "leave", "club": 3 }), ClubOrder::Leave { club }),
        (
            json!({ "verb": "remove", "club": 3, "key": EVE.to_string(), "name": "club 3" }),
            ClubOrder::Remove { club, key },
        ),
        (
            json!({ "verb": "hand_over", "club": 3, "key": EVE.to_string() }),
            ClubOrder::HandOver { club, to: EVE },
        ),
        (
            json!({ "verb": "rename", "club": 3, "key": "", "name": "Rowers" }),
            ClubOrder::Rename { club, name: "Rowers".into() },
        ),
        (json!({ "verb": "dissolve", "club": 3 }), ClubOrder::Dissolve { club }),
    ] {
        page.command(json!({ "do": "club", "order": order }));
        assert_eq!(page.act().envelope.act, Act::Club(act));
    }
    let wrong = page
        .command(json!({ "do": "club", "order": { "verb": "invite", "club": 3, "key": "eve" } }));
    assert_eq!(page.result(wrong).expect("it failed")["code"], "BadName");

    page.command(json!({ "do": "say", "text": "the roses bloom", "channel": "club:3" }));
    let body = Blob(b"the roses bloom".to_vec()).id();
    assert_eq!(page.act().envelope.act, Act::Club(ClubOrder::Say { club, body }));

    let (height, speaker, by) = (Height(9), ObjectId(0), Some(EVE));
    let (name, text) = ("Eve".to_owned(), "hello".to_owned());
    let club = Some(ClubName { club, name: "Gardeners".to_owned() });
    page.tell(&ServerMessage::Heard(ChatMessage {
        height,
        channel: 4,
        speaker,
        name,
        text,
        by,
        club,
    }));
    let heard = page.events_of("heard").pop().expect("a line");
    assert_eq!((&heard["channel"], &heard["club"]), (&json!(5), &json!("Gardeners")));
}
