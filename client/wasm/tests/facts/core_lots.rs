//! What the page learns of lots through the core, and orders about them.

use metatopia_math::{Fx, Vec2};
use metatopia_protocol::*;
use metatopia_types::*;
use serde_json::{Value, json};

use crate::{page::Page, stand::Stand};

/// A lot of somebody, 8 m wide and 6 m deep, beside the one with the number before.
fn lot(n: u64, key: PublicKey, name: &str) -> LotEntry {
    let west = i32::try_from(8 * n).expect("few lots");
    let at = |x, y| Vec2::new(Fx::from_int(x), Fx::from_int(y));
    let holder = LotPerson { key, name: name.to_owned() };
    let (low, high) = (at(west, -3), at(west + 8, 3));
    let (lot, name, friends, club) = (LotId(n), format!("lot {n}"), Vec::new(), None);
    LotEntry { lot, name, low, high, holder, friends, club }
}

/// Returns after which lots the page asked, and the numbers of the questions.
fn asked(page: &mut Page) -> Vec<(u32, LotId)> {
    let after = |(id, question)| match question {
        Question::Lots { after } => Some((id, after)),
        _ => None,
    };
    page.asked().into_iter().filter_map(after).collect()
}

/// Answers the only question for lots, which is sent with the next view.
fn tell(page: &mut Page, lots: Vec<LotEntry>) -> Vec<Value> {
    page.stand.turns(1);
    page.see();
    let asked = asked(page);
    let [(id, LotId(0))] = asked[..] else { panic!("{asked:?} is not one question for all lots") };
    page.events();
    page.answer(id, Answer::Lots(lots));
    page.events_of("lots")
}

/// Waits until lots may be asked for again, in ten seconds, and checks that they are not asked for before.
fn later(page: &mut Page) {
    page.wait(9_999.0);
    page.stand.turns(1);
    page.see();
    assert_eq!(asked(page), [], "the lots are known for now");
    page.wait(1.0);
}

#[test]
fn lots_are_told_as_outlines_when_they_change() {
    let mut page = Page::new();
    let (own, other) = (Sign::public(&Stand::visitor()), PublicKey([9; 32]));
    let friend = LotPerson { key: own, name: "Ada".to_owned() };
    let open = LotEntry { friends: vec![friend], ..lot(2, other, "") };
    let lots = vec![lot(1, own, "Ada"), open];
    let told = tell(&mut page, lots.clone());
    let first = json!({
        "lot": 1, "name": "lot 1", "holder": "Ada", "own": true, "lets": false, "friends": [],
        "club": null, "x": 12.0, "y": 0.0, "hx": 4.0, "hy": 3.0, "angle": 0, "round": false,
    });
    let friends = json!([{ "key": own.to_string(), "name": "Ada" }]);
    let second = json!({
        "lot": 2, "friends": friends, "name": "lot 2", "holder": "09090909..", "own": false, "lets": true,
        "club": null, "x": 20.0, "y": 0.0, "hx": 4.0, "hy": 3.0, "angle": 0, "round": false,
    });
    assert_eq!(told, [json!({ "type": "lots", "list": [first, second], "proven": false })]);

    later(&mut page);
    assert_eq!(tell(&mut page, lots), [Value::Null; 0], "they are the same");
    later(&mut page);
    let told = tell(&mut page, Vec::new());
    assert_eq!(told[0]["list"], json!([]), "all of them were given back");
}

#[test]
fn all_pages_of_lots_are_asked_for_but_none_twice() {
    let mut page = Page::new();
    let full = |from: u64| -> Vec<LotEntry> {
        (from..).take(LOTS_PER_ANSWER_MAX).map(|n| lot(n, PublicKey([9; 32]), "Eve")).collect()
    };
    assert_eq!(tell(&mut page, full(1)), [Value::Null; 0], "there may be more");
    let [(id, LotId(256))] = asked(&mut page)[..] else { panic!("the next page") };
    page.answer(id, Answer::Lots(full(1)));
    assert_eq!(asked(&mut page), [], "the server goes back");
    let told = page.events_of("lots");
    assert_eq!(told[0]["list"].as_array().expect("lots").len(), LOTS_PER_ANSWER_MAX);
}

#[test]
fn a_tab_that_nobody_looks_at_asks_for_no_lots() {
    let mut page = Page::new();
    page.command(json!({ "do": "watch", "pulse": "hidden" }));
    page.see();
    assert_eq!(asked(&mut page), []);
    page.command(json!({ "do": "watch", "pulse": "active" }));
    assert_eq!(tell(&mut page, Vec::new()).len(), 1);
}

#[test]
fn who_claims_or_returns_a_lot_learns_at_once_what_came_of_it() {
    let mut page = Page::new();
    page.log_in();
    tell(&mut page, Vec::new());
    let id = page.command(json!({ "do": "claim_lot", "x": 10.25, "y": -3, "side": 8 }));
    let act = page.act();
    let ground = GroundArea { x: 6, y: -7, width: 8, depth: 8 };
    let order = LotOrder::Claim { ground, name: "lot".to_owned() };
    assert_eq!(act.envelope.act, Act::Lot(order));
    page.decide(act, Outcome::Ok);
    assert_eq!(page.result(id).expect("known")["result"]["ok"], true);
    let own = Sign::public(&Stand::visitor());
    assert_eq!(tell(&mut page, vec![lot(1, own, "Ada")])[0]["list"][0]["own"], true);

    let id = page.command(json!({ "do": "return_lot", "lot": 1 }));
    let act = page.act();
    assert_eq!(act.envelope.act, Act::Lot(LotOrder::Return { lot: LotId(1) }));
    page.decide(act, Outcome::Refused(Refusal::NoLot));
    assert_eq!(page.result(id).expect("known")["result"]["refusal"], "NoLot");
    assert_eq!(tell(&mut page, Vec::new())[0]["list"], json!([]));

    let id = page.command(json!({ "do": "claim_lot", "x": null, "y": null, "side": 8 }));
    assert_eq!(page.result(id).expect("at once")["code"], "OutOfRange");
}

#[test]
fn a_holder_names_gives_opens_and_shuts_a_lot_also_to_a_club_and_sends_things_home() {
    let mut page = Page::new();
    page.log_in();
    let (lot, to) = (LotId(3), PublicKey([9; 32]));
    for (order, expected) in [
        (
            json!({ "verb": "name", "name": "garden" }),
            LotOrder::Name { lot, name: "garden".into() },
        ),
        (json!({ "verb": "give", "to": to.to_string() }), LotOrder::Give { lot, to }),
        (json!({ "verb": "open", "to": to.to_string() }), LotOrder::Open { lot, to }),
        (json!({ "verb": "shut", "to": to.to_string() }), LotOrder::Shut { lot, to }),
        (
            json!({ "verb": "send_home", "object": 7 }),
            LotOrder::SendHome { lot, object: ObjectId(7) },
        ),
        (json!({ "verb": "open_club", "club": 5 }), LotOrder::OpenToClub { lot, club: ClubId(5) }),
        (json!({ "verb": "shut_club" }), LotOrder::ShutToClub { lot }),
    ] {
        let id = page.command(json!({ "do": "lot", "lot": 3, "order": order }));
        let act = page.act();
        assert_eq!(act.envelope.act, Act::Lot(expected), "{order}");
        page.decide(act, Outcome::Ok);
        assert_eq!(page.result(id).expect("decided")["result"]["ok"], true, "{order}");
    }
    let nobody = json!({ "do": "lot", "lot": 3, "order": { "verb": "give", "to": "Bob" } });
    let id = page.command(nobody);
    assert_eq!(page.result(id).expect("at once")["code"], "BadName", "a name is no key");
}
