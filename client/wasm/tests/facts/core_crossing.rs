//! Who comes over a border: announced by a core of the sim to which she goes.

use metatopia_protocol::*;
use metatopia_sim::{Genesis, Introduction};
use metatopia_types::*;
use serde_json::{Value, json};

use crate::{page::Page, stand::Stand};

/// A page that looks at a neighbour with these house rules, and was shown that.
fn near(words: &str) -> Page {
    let introduction = Introduction { house_rules: words.to_owned(), ..Introduction::default() };
    let mut page = Page::of(&Genesis { introduction, ..Stand::genesis() }, json!({}));
    page.connect();
    page.said();
    page
}

/// Shows the page a view, and proves what the sim is by now; returns what the page is told of that.
fn prove(page: &mut Page) -> Value {
    page.see();
    let is_it = |(_, question): &(u32, Question)| *question == Question::Charter;
    let (asked, _) = page.asked().into_iter().find(is_it).expect("it asks with the first view");
    page.prove_charter(asked, &[200, 201, 202]);
    page.events_of("charter").pop().expect("it is told")
}

fn approach(page: &mut Page, agreed: &Value) -> u64 {
    page.command(json!({ "do": "approach", "from": "06".repeat(32), "agreed": agreed }))
}

/// The avatar was there before its person was told the house rules.
#[test]
fn nobody_is_announced_before_the_house_rules_are_proved_and_agreed_to() {
    let mut page = near("Be kind.");
    let early = approach(&mut page, &json!([]));
    assert_eq!(page.result(early).expect("at once")["code"], "NoRulesYet");
    let told = prove(&mut page);
    assert_eq!(told["houseRules"], "Be kind.");
    for agreed in [json!([]), json!(["00".repeat(32)])] {
        let held = approach(&mut page, &agreed);
        assert_eq!(page.result(held).expect("at once")["code"], "HouseRules");
        assert!(page.acts().is_empty(), "nothing is signed");
    }
    let id = approach(&mut page, &json!([told["houseRulesDigest"]]));
    let act = page.act();
    assert!(matches!(act.envelope.act, Act::Approach { work: None, .. }), "{act:?}");
    page.decide(act, Outcome::Ok);
    assert_eq!(page.result(id).expect("decided")["result"]["ok"], true);
}

/// Whoever walked to a public sim that did not know her yet was told to log in there.
#[test]
fn a_new_key_does_the_work_before_it_is_announced_at_a_border() {
    let mut page = near("");
    prove(&mut page);
    let none = json!([]);
    let id = approach(&mut page, &none);
    let act = page.act();
    assert!(matches!(act.envelope.act, Act::Approach { work: None, .. }), "{act:?}");
    page.tell(&ServerMessage::Refused { act: act.id(), why: SubmitRefusal::NeedsWork });
    let [(question, Question::LoginTerms { .. })] = page.asked()[..] else { panic!() };
    let header = HeaderId(Digest::of("work", b""));
    let work = LoginTerms::Work { height: Height(20), header, tries: 9 };
    page.answer(question, Answer::LoginTerms(work));
    let events = page.events();
    let wanted = events.iter().find(|event| event["type"] == "work").expect("work is asked for");
    page.command(json!({ "do": "worked", "work": wanted["id"], "nonce": "5" }));
    let act = page.act();
    let Act::Approach { work: Some(work), .. } = act.envelope.act else { panic!() };
    assert_eq!((work.height, work.nonce), (Height(20), 5));
    assert_eq!(page.result(id), None);
    page.decide(act, Outcome::Ok);
    assert_eq!(page.result(id).expect("decided")["result"]["ok"], true);
    let again = approach(&mut page, &none);
    let act = page.act();
    assert!(matches!(act.envelope.act, Act::Approach { work: None, .. }), "{act:?}");
    page.decide(act, Outcome::Ok);
    assert_eq!(page.result(again).expect("decided")["result"]["ok"], true);
}
