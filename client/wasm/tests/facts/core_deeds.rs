//! What a person does through the core, and what it tells of that.

use metatopia_protocol::*;
use metatopia_types::*;
use serde_json::{Value, json};

use crate::{
    page::Page,
    stand::{Stand, key},
};

fn ok(page: &mut Page, id: u64) -> bool {
    page.result(id).expect("it is known")["result"]["ok"] == true
}

#[test]
fn a_login_is_signed_after_a_verified_header_and_ends_with_its_outcome() {
    let mut page = Page::unconnected(json!({}));
    let id = page.command(json!({ "do": "login", "name": "Ada", "look": {} }));
    assert_eq!(page.result(id).expect("at once")["code"], "NeverOpen");
    page.greet();
    let asked = page.asked();
    let header = asked.iter().find(|(_, asked)| matches!(asked, Question::Turn { .. }));
    let header = header.expect("a header is asked for").0;
    let id = page.command(json!({ "do": "login", "name": "Ada", "look": { "shape": "arrow" } }));
    assert!(page.acts().is_empty());
    let turn = page.newest();
    page.answer(header, Answer::Turn(Box::new(turn)));
    let act = page.act();
    assert_eq!(act.envelope.last_valid, page.stand.height().plus(600));
    let Act::Login { name, look, .. } = &act.envelope.act else { panic!("{act:?}") };
    assert_eq!((name.as_str(), look.shape), ("Ada", BodyShape::Arrow));
    let hash = act.id().to_string();
    page.decide(act, Outcome::Ok);
    let events = page.events();
    let done = events.iter().find(|event| event["type"] == "done").expect("done");
    let height = page.stand.height().0;
    let result =
        json!({ "act": hash, "height": height, "ok": true, "refusal": null, "made": null });
    assert_eq!(*done, json!({ "type": "done", "id": id, "result": result }));
    assert!(events.contains(&json!({ "type": "outcome", "result": result })));
    let status = events.iter().rfind(|event| event["type"] == "status").expect("a status");
    assert_eq!((&status["here"], &status["open"]), (&true.into(), &true.into()));
    assert_eq!(status["simName"], "plaza");
}

#[test]
fn refusals_of_rules_are_results_and_refusals_of_servers_are_failures() {
    let mut page = Page::new();
    page.log_in();
    let id = page.command(json!({ "do": "push", "object": 7 }));
    let act = page.act();
    page.decide(act, Outcome::Refused(Refusal::OutOfReach));
    assert_eq!(page.result(id).expect("known")["result"]["refusal"], "OutOfReach");

    let id = page.command(json!({ "do": "touch", "object": 7 }));
    let act = page.act().id();
    page.tell(&ServerMessage::Refused { act, why: SubmitRefusal::QuotaExceeded });
    let failed = page.result(id).expect("known");
    assert_eq!((&failed["type"], &failed["code"]), (&"failed".into(), &"QuotaExceeded".into()));
}

/// The act was decided, and its receipt got lost.
#[test]
fn an_act_that_is_refused_as_old_is_asked_about() {
    for known in [true, false] {
        let mut page = Page::new();
        page.log_in();
        let id = page.command(json!({ "do": "emote", "kind": "wave" }));
        let act = page.act();
        page.tell(&ServerMessage::Refused { act: act.id(), why: SubmitRefusal::Replayed(2) });
        let asked = page.asked();
        let [(question, Question::Receipt { .. })] = asked[..] else { panic!("{asked:?}") };
        assert_eq!(page.result(id), None);
        if known {
            let receipt = page.stand.decide(vec![act.clone()]).expect("of the act");
            let answer = ReceiptAnswer { act, receipt, outcome: Some(Outcome::Ok) };
            page.answer(question, Answer::Receipt(Box::new(answer)));
            assert!(ok(&mut page, id));
        } else {
            page.answer(question, Answer::Unknown);
            assert_eq!(page.result(id).expect("known")["code"], "Replayed");
        }
    }
}

#[test]
fn an_outcome_that_nobody_tells_is_asked_for() {
    let mut page = Page::new();
    page.log_in();
    let id = page.command(json!({ "do": "emote", "kind": "bow" }));
    let act = page.act();
    let receipt = page.stand.decide(vec![act.clone()]).expect("of the act");
    let message = ServerMessage::Receipt { act: act.id(), receipt: Box::new(receipt.clone()) };
    page.tell(&message);
    assert_eq!(page.result(id), None);
    page.wait(2_001.0);
    let asked = page.asked();
    let receipts = asked.iter().find(|(_, asked)| matches!(asked, Question::Receipt { .. }));
    let question = receipts.expect("it is asked about").0;
    let answer = ReceiptAnswer { act, receipt, outcome: Some(Outcome::Made(ObjectId(77))) };
    page.answer(question, Answer::Receipt(Box::new(answer)));
    assert_eq!(page.result(id).expect("known")["result"]["made"], 77);
}

#[test]
fn acting_takes_the_avatar_back_from_another_tab() {
    let mut page = Page::new();
    page.log_in();
    let id = page.command(json!({ "do": "emote", "kind": "nod" }));
    let act = page.act();
    page.decide(act, Outcome::Refused(Refusal::OtherSession));
    let login = page.act();
    assert!(matches!(&login.envelope.act, Act::Login { name, .. } if name == "Ada"));
    // What is done meanwhile waits.
    let other = page.command(json!({ "do": "emote", "kind": "bow" }));
    assert!(page.acts().is_empty());
    page.decide(login, Outcome::Ok);
    let again: Vec<Act> = page.acts().into_iter().map(|act| act.envelope.act).collect();
    assert_eq!(again, [Act::Emote(Emote::Nod), Act::Emote(Emote::Bow)]);
    assert_eq!((page.result(id), other > id), (None, true));
}

#[test]
fn a_return_that_is_refused_leaves_the_first_result() {
    let mut page = Page::new();
    page.log_in();
    let id = page.command(json!({ "do": "emote", "kind": "nod" }));
    let act = page.act();
    page.decide(act, Outcome::Refused(Refusal::NotLoggedIn));
    let login = page.act();
    page.decide(login, Outcome::Refused(Refusal::NoSeat));
    assert_eq!(page.result(id).expect("known")["result"]["refusal"], "NotLoggedIn");
    assert!(page.acts().is_empty());
}

#[test]
fn a_sign_of_life_is_given_until_the_person_leaves() {
    let mut page = Page::new();
    page.log_in();
    page.wait(3_900.0);
    assert!(page.acts().is_empty());
    page.wait(200.0);
    assert_eq!(page.act().envelope.act, Act::Heartbeat);
    let id = page.command(json!({ "do": "leave" }));
    let leave = page.act();
    assert_eq!(leave.envelope.act, Act::Leave);
    page.decide(leave, Outcome::Ok);
    assert!(ok(&mut page, id));
    page.wait(9_000.0);
    let alive = |act: &SignedEnvelope| act.envelope.seq.0 > 4;
    assert!(!page.acts().iter().any(alive));
}

#[test]
fn headings_are_said_at_most_ten_times_a_second_and_the_last_one_always() {
    let mut page = Page::new();
    page.log_in();
    let walk = |page: &mut Page, x: f64| page.command(json!({ "do": "walk", "x": x, "y": 0 }));
    let first = walk(&mut page, 1.0);
    let act = page.act();
    let Act::Walk { heading } = act.envelope.act.clone() else { panic!("{act:?}") };
    assert_eq!(
        heading,
        metatopia_math::Vec2::new(metatopia_math::Fx::ONE, metatopia_math::Fx::ZERO)
    );
    let dropped = walk(&mut page, 0.5);
    walk(&mut page, 0.0);
    assert!(page.acts().is_empty());
    page.decide(act, Outcome::Ok);
    assert!(ok(&mut page, first));
    page.wait(100.0);
    assert_eq!(page.acts().len(), 1, "of two only the last one");
    let again = walk(&mut page, 0.01);
    page.wait(100.0);
    assert_eq!(page.result(again).expect("known")["result"], Value::Null, "they are alike");
    assert!(page.acts().is_empty() && dropped > first);
    let nowhere = page.command(json!({ "do": "walk", "x": null, "y": 0 }));
    assert_eq!(page.result(nowhere).expect("known")["code"], "OutOfRange");
}

#[test]
fn the_own_avatar_is_foreseen_at_once_and_after_each_view() {
    let mut page = Page::new();
    page.log_in();
    page.see();
    let paths = page.events_of("path");
    assert_eq!(paths.len(), 1);
    let points = paths[0]["points"].as_array().expect("points");
    let ends = |points: &[Value]| {
        let x = |point: Option<&Value>| point.and_then(|point| point[0].as_f64()).expect("a place");
        (x(points.first()), x(points.last()))
    };
    let (begins, rests) = ends(points);
    assert!((begins - rests).abs() < 0.5, "{points:?}");
    page.command(json!({ "do": "steer", "x": 1, "y": 0 }));
    assert!(page.acts().is_empty(), "nothing is said");
    page.wait(50.0);
    page.stand.turns(1);
    page.see();
    let paths = page.events_of("path");
    let points = paths.last().expect("a path")["points"].as_array().cloned().expect("points");
    let (from, to) = ends(&points);
    assert!(to > from + 0.1, "{points:?}");
    assert!(paths[0]["latency"].as_f64().is_some_and(|latency| latency > 0.0));

    let id = page.command(json!({ "do": "leave" }));
    let leave = page.acts().pop().expect("it leaves");
    page.decide(leave, Outcome::Ok);
    assert!(ok(&mut page, id));
    page.see();
    assert_eq!(page.events_of("path"), [json!({ "type": "path", "points": null })]);
}

#[test]
fn a_new_key_shows_a_ticket_or_does_the_work() {
    let header = HeaderId(Digest::of("work", b""));
    let terms = |terms| Answer::LoginTerms(terms);
    let work = LoginTerms::Work { height: Height(20), header, tries: 1 << 60 };
    let begin = |changes: Value, answer: Answer| {
        let mut page = Page::unconnected(changes);
        page.connect();
        page.said();
        let id = page.command(json!({ "do": "login", "name": "Eve", "look": {} }));
        let act = page.act().id();
        page.tell(&ServerMessage::Refused { act, why: SubmitRefusal::NeedsWork });
        let [(question, Question::LoginTerms { .. })] = page.asked()[..] else { panic!() };
        page.answer(question, answer);
        (page, id)
    };
    let (mut page, id) = begin(json!({}), terms(LoginTerms::Closed));
    assert_eq!(page.result(id).expect("known")["code"], "NobodyNew");
    let (mut page, id) = begin(json!({}), terms(LoginTerms::Ticket));
    assert_eq!(page.result(id).expect("known")["code"], "NeedsTicket");
    let (mut page, _) = begin(json!({ "ticket": "05".repeat(32) }), terms(work));
    let act = page.act();
    assert!(matches!(act.envelope.act, Act::Login { pass: Some(Pass::Ticket(_)), .. }));
    assert!(act.verify(&Ed25519), "the ticket signs the key");

    let (mut page, id) = begin(json!({}), terms(work));
    let events = page.events();
    let wanted = events.iter().find(|event| event["type"] == "work").expect("work is asked for");
    assert_eq!(wanted["tries"], (1_u64 << 60).to_string());
    assert_eq!(wanted["header"], header.to_string());
    let status = events.iter().rfind(|event| event["type"] == "status").expect("a status");
    assert_eq!(status["working"], true);
    let other = wanted["id"].as_u64().expect("a number") + 1;
    page.command(json!({ "do": "worked", "work": other, "nonce": "1" }));
    assert!(page.acts().is_empty(), "nobody asked for that");
    page.command(json!({ "do": "worked", "work": wanted["id"], "nonce": "18446744073709551615" }));
    let act = page.act();
    let Act::Login { pass: Some(Pass::Work(work)), .. } = act.envelope.act else { panic!() };
    assert_eq!((work.height, work.nonce), (Height(20), u64::MAX));
    assert_eq!(page.result(id), None);
}

// Who was walled in had a way out in the text client alone.
#[test]
fn who_is_walled_in_goes_home() {
    let mut page = Page::new();
    page.log_in();
    let id = page.command(json!({ "do": "go_home" }));
    let act = page.act();
    assert_eq!(act.envelope.act, Act::GoHome);
    page.decide(act, Outcome::Ok);
    assert!(ok(&mut page, id));
}

#[test]
fn builders_words_become_acts() {
    let mut page = Page::new();
    page.log_in();
    let spec = json!({
        "kind": "bench", "name": "seat", "color": 255, "w": 2, "h": 1, "x": 3.5, "y": -1,
        "angle": std::f64::consts::FRAC_PI_2, "movable": false,
    });
    page.command(json!({ "do": "place", "spec": spec }));
    let Act::Build(Build::Place(blueprint)) = page.act().envelope.act else { panic!() };
    let half = metatopia_math::Fx::HALF;
    let outline = Outline::Box { half: metatopia_math::Vec2::new(metatopia_math::Fx::ONE, half) };
    assert_eq!((blueprint.outline, blueprint.movable), (outline, false));
    assert_eq!(blueprint.angle, metatopia_math::Angle::QUARTER);
    assert_eq!(
        (blueprint.position.x.to_bits(), blueprint.licence),
        (7 << 31, AssetLicence::CcBySa)
    );

    let to = "07".repeat(32);
    let package = "08".repeat(32);
    for (command, word) in [
        (json!({ "do": "move", "object": 5, "x": 1, "y": 2 }), "Move"),
        (json!({ "do": "rotate", "object": 5, "angle": -1 }), "Rotate"),
        (json!({ "do": "resize", "object": 5, "w": 1 }), "Resize"),
        (json!({ "do": "color", "object": 5, "color": 1 }), "Recolor"),
        (json!({ "do": "make_of", "object": 5, "material": "ice" }), "MakeOf"),
        (json!({ "do": "make_sensor", "object": 5, "sensor": true }), "MakeSensor"),
        (json!({ "do": "rename", "object": 5, "name": "x" }), "Rename"),
        (json!({ "do": "write", "object": 5, "text": "x" }), "Write"),
        (json!({ "do": "copy", "object": 5, "x": 1, "y": 2 }), "Copy"),
        (json!({ "do": "remove", "object": 5 }), "Delete"),
        (json!({ "do": "give", "object": 5, "to": to }), "Give"),
        (json!({ "do": "attach", "object": 5, "package": package }), "Attach"),
        (json!({ "do": "detach", "object": 5, "script": 9 }), "Detach"),
        (json!({ "do": "resume", "object": 5, "script": 9 }), "Resume"),
        (json!({ "do": "let_travel", "object": 5, "travels": true }), "LetTravel"),
        (json!({ "do": "upgrade", "object": 5, "script": 9, "package": package }), "Upgrade"),
    ] {
        page.command(command);
        let Act::Build(build) = page.act().envelope.act else { panic!("{word}") };
        assert!(format!("{build:?}").starts_with(word), "{build:?}");
    }
    let bad = page.command(json!({ "do": "move", "object": 5, "x": 1e12, "y": 2 }));
    assert_eq!(page.result(bad).expect("known")["code"], "OutOfRange");
    let bad = page.command(json!({ "do": "give", "object": 5, "to": "Ada" }));
    assert_eq!(page.result(bad).expect("known")["code"], "BadName");
}

#[test]
fn what_is_taken_is_told_as_held_and_put_down_where_there_is_room() {
    let mut page = Page::new();
    page.log_in();
    page.see();
    let me = page.stand.world().avatar(&Stand::visitor().public()).expect("she is here");
    let here = page.stand.world().place(me).expect("she is here");
    let metres = |at: metatopia_math::Fx| at.to_string().parse::<f64>().expect("a number");
    let spec = json!({
        "kind": "ball", "name": "her ball", "color": 255, "round": true, "w": 0.5,
        "x": metres(here.x) + 1.5, "y": metres(here.y), "movable": true,
    });
    let mut deed = |command: Value| {
        let id = page.command(command.clone());
        assert_eq!(page.result(id), None, "{command}");
        let act = page.act();
        page.decide(act.clone(), Outcome::Ok);
        page.events();
        page.see();
        let put = page.events_of("view").pop().expect("a view")["put"].clone();
        let ball = page.stand.world().objects().find(|thing| thing.name == "her ball");
        (act.envelope.act, put, ball.expect("it was placed"))
    };
    let (.., ball) = deed(json!({ "do": "place", "spec": spec }));

    let (_, put, held) = deed(json!({ "do": "take", "object": ball.id }));
    assert_eq!(held.held, Some(me));
    let told = put.as_array().expect("a list").iter().find(|thing| thing["id"] == ball.id.0);
    let told = told.expect("it changed");
    assert_eq!((&told["held"], &told["movable"]), (&json!(me), &json!(true)));

    let (act, put, free) = deed(json!({ "do": "put_down", "object": ball.id }));
    let Act::Build(Build::PutDown { position, .. }) = act else { panic!("{act:?}") };
    assert_eq!(free.held, None);
    // Places of bodies are rounded.
    let thousandth = metatopia_math::Fx::from_ratio(1, 1_000);
    assert!(free.position.distance(position) < thousandth, "{position:?}");
    assert!(position.distance(here) > metatopia_math::Fx::HALF, "not on her own feet");
    let told = put.as_array().expect("a list").iter().find(|thing| thing["id"] == ball.id.0);
    assert_eq!(told.expect("it changed")["held"], Value::Null);
}

#[test]
fn what_is_fetched_from_luggage_is_put_where_there_is_room_for_its_size() {
    let mut page = Page::new();
    page.log_in();
    page.see();
    let me = page.stand.world().avatar(&Stand::visitor().public()).expect("she is here");
    let here = page.stand.world().place(me).expect("she is here");
    let mut fetched = |size: f64, movable: bool| {
        let id = page.command(json!({
            "do": "fetch", "object": 77, "hx": size, "hy": size, "movable": movable,
        }));
        assert_eq!(page.result(id), None);
        let act = page.act();
        page.decide(act.clone(), Outcome::Ok);
        page.events();
        let Act::Build(Build::Fetch { object, position }) = act.envelope.act else {
            panic!("{:?}", act.envelope.act)
        };
        assert_eq!(object, ObjectId(77));
        position.distance(here)
    };
    let (small, large) = (fetched(0.25, true), fetched(2.0, true));
    assert!(small > metatopia_math::Fx::HALF, "not on her own feet: {small}");
    assert!(large > metatopia_math::Fx::from_int(2), "it does not reach to her: {large}");
    page.command(json!({ "do": "stow", "object": 77 }));
    assert_eq!(page.act().envelope.act, Act::Build(Build::Stow { object: ObjectId(77) }));
    page.command(json!({ "do": "discard", "object": 77 }));
    assert_eq!(page.act().envelope.act, Act::Build(Build::Discard { object: ObjectId(77) }));
    let bad = json!({ "do": "fetch", "object": 77, "hx": 1e30, "hy": 1, "movable": true });
    let bad = page.command(bad);
    assert_eq!(page.result(bad).expect("known")["code"], "OutOfRange");
}

#[test]
fn what_cannot_be_taken_back_is_passed_over_the_next_time() {
    let mut page = Page::new();
    page.log_in();
    let mut undo = |outcome| {
        page.command(json!({ "do": "undo" }));
        let act = page.act();
        let Act::Build(Build::Undo { skip }) = act.envelope.act else { panic!("{act:?}") };
        page.decide(act, outcome);
        skip
    };
    let stays = Outcome::Refused(Refusal::GiftStays);
    let none = Outcome::Refused(Refusal::NothingToUndo);
    let skips = [stays, stays, Outcome::Ok, stays, none, none].map(&mut undo);
    assert_eq!(skips, [0, 1, 2, 0, 1, 0]);
}

#[test]
fn words_are_said_with_their_blob_and_heard_as_hearsay() {
    let mut page = Page::new();
    page.log_in();
    page.command(json!({ "do": "say", "text": "good morning", "channel": 1 }));
    let said = page.said();
    let [ClientMessage::Submit(submission)] = &said[..] else { panic!("{said:?}") };
    assert_eq!(submission.blobs[0].0, b"good morning");
    let Act::Say { channel: 1, body } = submission.act.envelope.act else { panic!() };
    assert_eq!(body, submission.blobs[0].id());
    let long = page.command(json!({ "do": "say", "text": "x".repeat(limits::CHAT_BYTES_MAX + 1) }));
    assert_eq!(page.result(long).expect("known")["code"], "TooLong");

    let text = "hello".to_owned();
    let name = "Eve".to_owned();
    let by = Some(key(9).public());
    let (height, speaker, club) = (Height(1), ObjectId(9), None);
    let line = ChatMessage { height, channel: 0, speaker, name, text, by, club };
    let body = line.body().to_string();
    page.tell(&ServerMessage::Heard(line.clone()));
    page.tell(&ServerMessage::Heard(ChatMessage { height: Height(3_000), ..line }));
    // What was said before one came is told as such.
    let heard = |height: u64, is_earlier: bool| {
        json!({
            "type": "heard", "height": height, "channel": 0, "club": null, "speaker": 9, "name": "Eve",
            "text": "hello", "by": key(9).public().to_string(), "earlier": is_earlier,
            "named": false, "proven": null, "body": body,
        })
    };
    assert_eq!(page.events_of("heard"), [heard(1, true), heard(3_000, false)]);
}

#[test]
fn a_line_that_names_the_person_says_so_unless_she_said_it() {
    let mut page = Page::new();
    page.log_in();
    let own = Sign::public(&Stand::visitor());
    for (text, by, is_named) in [
        ("hello, @ada!", key(9).public(), true),
        ("hello, @adam!", key(9).public(), false),
        ("I am @ada", own, false),
    ] {
        let (name, text, by) = ("Eve".to_owned(), text.to_owned(), Some(by));
        let (height, speaker) = (Height(3_000), ObjectId(9));
        let line = ChatMessage { height, channel: 0, speaker, name, text, by, club: None };
        page.tell(&ServerMessage::Heard(line));
        assert_eq!(page.events_of("heard")[0]["named"], is_named);
    }
}

#[test]
fn an_offer_is_told_to_the_page_and_its_answer_repeats_it() {
    let mut page = Page::new();
    page.log_in();
    let terms =
        Offer { take: Some(ObjectId(8)), allow: [Permission::Dress].into(), ..Offer::default() };
    let offer = ShownOffer { terms: terms.clone(), given: String::new(), taken: "coin".to_owned() };
    let form = Form { offer: Some(offer.into()), ..Form::default() };
    let asked =
        FormMessage { height: Height(3), object: ObjectId(9), name: "kiosk".to_owned(), form };
    page.tell(&ServerMessage::Form(asked));
    let told = page.events_of("form")[0]["form"]["offer"].clone();
    let wanted = json!({ "give": null, "take": 8, "allow": ["Dress"] });
    assert_eq!(told, json!({ "terms": wanted, "given": "", "taken": "coin" }));

    page.command(json!({ "do": "answer", "object": 9, "terms": told["terms"], "accepts": true }));
    let said = page.said();
    let [ClientMessage::Submit(submission)] = &said[..] else { panic!("{said:?}") };
    let answer = Act::Answer { object: ObjectId(9), terms, accepts: true };
    assert_eq!(submission.act.envelope.act, answer);

    page.command(json!({ "do": "forbid" }));
    let said = page.said();
    let [ClientMessage::Submit(submission)] = &said[..] else { panic!("{said:?}") };
    assert_eq!(submission.act.envelope.act, Act::Forbid);
}

#[test]
fn a_form_is_told_to_the_page_and_its_reply_is_an_act() {
    let mut page = Page::new();
    page.log_in();
    let form = Form {
        tag: "drink".to_owned(),
        title: "Tea?".to_owned(),
        text: String::new(),
        choices: vec!["Green".to_owned()],
        field: None,
        offer: None,
    };
    let name = "kiosk".to_owned();
    let asked = FormMessage { height: Height(3), object: ObjectId(9), name, form };
    page.tell(&ServerMessage::Form(asked));
    let told = json!({
        "type": "form", "height": 3, "object": 9, "name": "kiosk",
        "form": { "tag": "drink", "title": "Tea?", "text": "", "choices": ["Green"], "field": null,
            "offer": null },
    });
    assert_eq!(page.events_of("form"), [told]);

    page.command(json!({ "do": "reply", "object": 9, "tag": "drink", "choice": 0, "text": "Ada" }));
    let said = page.said();
    let [ClientMessage::Submit(submission)] = &said[..] else { panic!("{said:?}") };
    let (object, tag, text) = (ObjectId(9), "drink".to_owned(), "Ada".to_owned());
    assert_eq!(submission.act.envelope.act, Act::Reply { object, tag, choice: 0, text });
}

#[test]
fn commands_that_are_none_are_told_so_and_break_nothing() {
    let mut page = Page::new();
    for bad in [json!({ "do": "fly" }), json!({}), json!({ "do": "touch", "object": -1 })] {
        let id = page.command(bad);
        assert_eq!(page.result(id).expect("known")["code"], "BadCommand");
    }
    for none in [&b"[]"[..], b"7", b"nonsense", b"{\"do\":\"leave\"}"] {
        assert_eq!(page.core.command(page.now, page.wall, none).unwrap_err().code, "input");
    }
}
