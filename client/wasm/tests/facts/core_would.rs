//! What the page learns before it gives an order: what that would do, about whom orders hold, and which values there
//! are.

use metatopia_protocol::*;
use metatopia_types::*;
use serde_json::{Value, json};

use crate::{page::Page, stand::Stand};

const PEST: PublicKey = PublicKey([9; 32]);

fn person(key: PublicKey, name: &str) -> PersonEntry {
    PersonEntry {
        key,
        name: name.to_owned(),
        here: true,
        admin: false,
        temp_admin: false,
        rights: Vec::new(),
        area_rights: Vec::new(),
        ban: None,
        mute: None,
    }
}

/// Returns what the page is told that an order would do, when a node gives this answer to this question.
fn would(order: Value, expected: &Question, answer: Answer) -> Value {
    let mut page = Page::new();
    let id = page.command(json!({ "do": "would", "order": order }));
    let asked = page.asked();
    let [(number, question)] = &asked[..] else { panic!("{asked:?} is not one question") };
    assert_eq!(question, expected);
    page.answer(*number, answer);
    page.result(id).expect("it came")["result"].clone()
}

#[test]
fn an_order_is_shown_with_what_it_would_do_and_nothing_is_sent() {
    let author = Sign::public(&Stand::visitor());
    let order = GovernOrder::Kick { key: PEST };
    let question = Question::DryRun(Box::new(IntendedOrder { author, order }));
    let holdings = KeyHoldings { sessions: 1, things: 12, lots: 0 };
    let told = |verdict| {
        let (person, traced) = (Some(person(PEST, "Pest")), TracedThings::default());
        Answer::DryRun(Box::new(DryRunEntry { verdict, person, thing: None, traced, holdings }))
    };
    let kick = json!({ "verb": "kick", "key": PEST.to_string() });
    let may = would(kick.clone(), &question, told(Ok("as admin".to_owned())));
    let does = "kick Pest (09090909), who is here, which ends 1 session; 12 things and 0 lots stay";
    let by = "as admin";
    let shown = json!({ "does": does, "by": by, "refusal": null, "acts": 1, "proven": false });
    assert_eq!(may, shown);
    assert_eq!(would(kick, &question, told(Err(Refusal::Outranked)))["refusal"], "Outranked");
}

#[test]
fn an_undo_of_much_is_told_with_how_many_acts_it_takes() {
    let author = Sign::public(&Stand::visitor());
    let order = GovernOrder::Undo { key: PEST, seconds: 7_200 };
    let question = Question::DryRun(Box::new(IntendedOrder { author, order }));
    let traced = TracedThings { made: 30, changed: 2, deleted: 1 };
    let (verdict, holdings) = (Ok("by a role".to_owned()), KeyHoldings::default());
    let entry = DryRunEntry { verdict, person: None, thing: None, traced, holdings };
    let undo = json!({ "verb": "undo", "key": PEST.to_string(), "seconds": 7_200 });
    assert_eq!(would(undo, &question, Answer::DryRun(Box::new(entry)))["acts"], 2);
}

#[test]
fn a_new_value_is_shown_beside_the_one_that_holds() {
    let author = Sign::public(&Stand::visitor());
    let (name, value) = ("objects_max".to_owned(), "4000".to_owned());
    let act = Act::Amend { name, value };
    let question = Question::TryChange(Box::new(IntendedChange { author, act, blob: None }));
    let (verdict, value) = (Ok("as admin".to_owned()), "2000".to_owned());
    let entry = IntendedChangeEntry { verdict, value, players: 12, here: 3, voters: 4 };
    let set = json!({ "verb": "set", "name": "objects_max", "value": "4000" });
    let told = would(set, &question, Answer::Change(Box::new(entry)));
    let does = "change objects_max from 2000 to 4000, for all of 12 players, 3 of them here";
    assert_eq!(told["does"], does);
}

/// The page had no button by which an admin sends home what came over a border.
#[test]
fn a_thing_that_would_be_sent_home_is_told_of_with_the_reason_if_it_may_not_go() {
    let author = Sign::public(&Stand::visitor());
    let (neighbour, object) = (SimId(Digest([6; 32])), ObjectId(7));
    let blob = BorderOrder::SendHome { neighbour, object }.blob();
    let act = Act::Border { order: blob.id() };
    let question = Question::TryChange(Box::new(IntendedChange { author, act, blob: Some(blob) }));
    let send = json!({ "verb": "send_home", "object": 7, "sim": neighbour.to_string() });
    let told = |verdict| {
        let (value, players, here, voters) = (String::new(), 12, 3, 4);
        let entry = IntendedChangeEntry { verdict, value, players, here, voters };
        would(send.clone(), &question, Answer::Change(Box::new(entry)))
    };
    let may = told(Ok("as admin".to_owned()));
    assert_eq!(may["does"], "send it back over the border that it came over");
    assert_eq!(may["refusal"], Value::Null);
    let may_not = told(Err(Refusal::BadBorder(BorderRefusal::JustCame)));
    assert_eq!(may_not["refusal"], "BorderJustCame");
}

#[test]
fn all_about_whom_orders_hold_are_told_page_by_page() {
    let mut page = Page::new();
    let id = page.command(json!({ "do": "people" }));
    let key = |n: u16| {
        let mut key = [1; 32];
        key[..2].copy_from_slice(&n.to_be_bytes());
        PublicKey(key)
    };
    let asked = page.asked();
    let [(number, Question::People { after: None })] = asked[..] else { panic!("{asked:?}") };
    let full: Vec<PersonEntry> =
        (0..PEOPLE_PER_ANSWER_MAX as u16).map(|n| person(key(n), "")).collect();
    page.answer(number, Answer::People(full));
    let asked = page.asked();
    let [(number, Question::People { after: Some(last) })] = asked[..] else { panic!("{asked:?}") };
    assert_eq!(last, key(PEOPLE_PER_ANSWER_MAX as u16 - 1));
    let right = RoleRight::Build;
    let area = GroundArea { x: 4, y: -20, width: 16, depth: 8 };
    let given = RightEntry { right, by: PEST, left: None };
    let warden = AreaRightEntry { area, given };
    let ban = Some(SanctionEntry { by: PEST, left: Some(1_000), reason: "spam".to_owned() });
    let entry = PersonEntry { area_rights: vec![warden], ban, ..person(key(9_000), "Eve") };
    page.answer(number, Answer::People(vec![entry]));
    let told = page.result(id).expect("it came")["result"].clone();
    let told = told.as_array().expect("a list");
    assert_eq!(told.len(), PEOPLE_PER_ANSWER_MAX + 1);
    let eve = told.last().expect("Eve");
    assert_eq!(eve["areas"][0]["area"], "16 m x 8 m at 4, -20");
    assert_eq!((&eve["ban"]["reason"], &eve["mute"]), (&"spam".into(), &Value::Null));
}

#[test]
fn an_order_about_nobody_is_not_asked_about() {
    let mut page = Page::new();
    let nobody = json!({ "verb": "appoint", "key": "Ada" });
    let id = page.command(json!({ "do": "would", "order": nobody }));
    assert_eq!(page.result(id).expect("at once")["code"], "BadName");
    let id = page.command(json!({ "do": "values" }));
    let asked = page.asked();
    let [(number, Question::Charter)] = asked[..] else { panic!("{asked:?}") };
    page.answer(number, Answer::Unknown);
    assert_eq!(page.result(id).expect("it came")["code"], "Unknown");
}

#[test]
fn orders_about_areas_and_lands_become_acts() {
    let area = json!({ "x": 4, "y": -20, "width": 16, "depth": 8 });
    let ground = GroundArea { x: 4, y: -20, width: 16, depth: 8 };
    let (key, rights, name) = (PEST, [RoleRight::Build].into(), "market".to_owned());
    let grant = GovernOrder::GrantArea { key, rights, area: ground, seconds: Some(60) };
    let set = GovernOrder::SetLand { name: name.clone(), area: ground, title: Title::Open };
    let mut page = Page::new();
    page.log_in();
    for (order, expected) in [
        (
            json!({
                "verb": "grant", "key": PEST.to_string(), "rights": ["build"], "seconds": 60,
                "area": area,
            }),
            grant,
        ),
        (json!({ "verb": "land_set", "name": name, "area": area, "title": "open" }), set),
        (json!({ "verb": "land_remove", "name": name }), GovernOrder::RemoveLand { name }),
        (
            json!({ "verb": "appoint", "key": PEST.to_string() }),
            GovernOrder::NameAdmin { key: PEST },
        ),
    ] {
        page.command(json!({ "do": "govern", "order": order }));
        let act = page.act();
        assert_eq!(act.envelope.act, Act::Govern(expected), "{order}");
        page.decide(act, Outcome::Ok);
    }
}
