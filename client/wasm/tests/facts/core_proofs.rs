//! What a session shows is held against signed roots, and the badge says what was found.

use metatopia_client::LATE_TURNS;
use metatopia_protocol::*;
use metatopia_types::*;
use metatopia_wasm::{CORE_CHECKPOINT_AGAIN, ClientCore};
use serde_json::{Value, json};

use crate::{
    elsewhere::{self, LIES},
    page::{Page, setup},
    stand::{Stand, certificate, set},
};

const OLD: [u8; 4] = [200, 201, 202, 203];
const NEW: [u8; 4] = [201, 202, 203, 204];
const DAY_MS: f64 = 24.0 * 60.0 * 60.0 * 1_000.0;

/// Level and reason of the badge.
fn said(badge: Option<Value>) -> (String, Option<String>) {
    let badge = badge.expect("the badge says something new");
    let text = |name: &str| badge[name].as_str().map(str::to_owned);
    (text("level").expect("a level"), text("reason"))
}

fn is(badge: Option<Value>, level: &str, reason: &str) -> bool {
    said(badge) == (level.to_owned(), Some(reason.to_owned()))
}

#[test]
fn the_genesis_is_told_first_and_once() {
    let mut page = Page::unconnected(json!({}));
    let events = page.events();
    assert_eq!(events[0]["type"], "genesis");
    assert_eq!(events[0]["name"], Stand::genesis().name);
    assert_eq!(events[0]["ticksPerTurn"], 3);
    assert_eq!(events[0]["validators"].as_array().map(Vec::len), Some(4));
    assert_eq!(events[0]["avatar"]["speed"], 4.0);
    let packages = events[0]["packages"].as_array().expect("packages");
    assert!(packages.iter().all(|package| package["name"].is_string()), "{packages:?}");
    page.connect();
    assert!(page.events_of("genesis").is_empty());
}

#[test]
fn a_setup_or_genesis_that_is_another_is_refused() {
    let genesis = Stand::genesis();
    let sim = genesis.id();
    let refused = |setup: &[u8], genesis: &[u8]| {
        ClientCore::new(setup, genesis).map(|_| ()).unwrap_err().code
    };
    let bytes = genesis.encode();
    assert_eq!(refused(b"{}", &bytes), "input");
    assert_eq!(refused(&setup(sim, json!({})), b"no genesis"), "genesis");
    assert_eq!(refused(&setup(SimId(Digest::ZERO), json!({})), &bytes), "other_genesis");
    assert_eq!(refused(&setup(sim, json!({ "secret": "01" })), &bytes), "input");
    assert_eq!(refused(&setup(sim, json!({ "at": { "x": 1e30, "y": 0 } })), &bytes), "input");
    assert_eq!(refused(&setup(sim, json!({ "checkpoint": "mtc1" })), &bytes), "checkpoint");
    let other = format!("mtc1.{}.1.{}.5", Digest::ZERO, Digest::ZERO);
    assert_eq!(refused(&setup(sim, json!({ "checkpoint": other })), &bytes), "checkpoint");
}

#[test]
fn what_an_honest_server_shows_is_proven() {
    let mut page = Page::new();
    assert!(is(page.badge(), "amber", "waiting"));
    for turn in 0..6 {
        let of = page.see();
        let proof = page.proof(of);
        let (height, time) = (proof.header.height.0, proof.header.time.0);
        page.prove(proof);
        let events = page.events();
        let header = events.iter().find(|event| event["type"] == "header").expect("a header");
        assert_eq!((&header["height"], &header["verified"]), (&height.into(), &true.into()));
        let badge = events.iter().find(|event| event["type"] == "proof").expect("a badge");
        assert_eq!(badge["level"], "green", "turn {turn}: {badge}");
        assert_eq!((&badge["of"], &badge["time"]), (&of.0.into(), &time.into()));
        assert_eq!((&badge["signed"], &badge["members"]), (&4.into(), &4.into()));
    }
}

/// The page stays with a server that lies, under a red badge, until the person leaves.
#[test]
fn a_view_that_differs_from_the_state_is_red_and_asked_for_anew() {
    let mut page = Page::new();
    let mut view = page.view();
    let tile = view.tiles.iter_mut().find(|tile| tile.entries.len() > 1).expect("a full tile");
    tile.entries.pop();
    let of = view.height;
    page.tell(&ServerMessage::View(Box::new(view)));
    page.said();
    let proof = page.proof(of);
    page.prove(proof);

    let events = page.events();
    assert!(!events.iter().any(|event| event["type"] == "leave"), "{events:?}");
    let badge = events.into_iter().rfind(|event| event["type"] == "proof");
    let detail = badge.as_ref().map(|badge| badge["detail"].to_string()).expect("a badge");
    assert!(detail.contains("leaf tile/"), "{detail}");
    assert!(is(badge, "red", "proof"));
    let [ClientMessage::View(Some(anew)), ClientMessage::Ping { token }] = &page.said()[..] else {
        panic!("views are asked for anew")
    };
    assert_eq!(anew.have, []);
    page.tell(&ServerMessage::Pong { token: *token });

    page.watcher.had.clear();
    let of = page.see();
    let seen = page.events_of("view");
    assert_eq!(seen[0]["reset"], true);
    let proof = page.proof(of);
    page.prove(proof);
    assert_eq!(page.badge(), None, "wrong once is wrong");

    page.core.disconnected(page.now, page.wall);
    page.connect();
    assert!(is(page.badge(), "amber", "waiting"), "another server is another matter");
}

#[test]
fn a_view_that_does_not_fit_is_a_reason_to_leave() {
    let mut page = Page::new();
    page.see();
    page.stand.turns(1);
    let mut view = page.view();
    view.number += 1;
    page.tell(&ServerMessage::View(Box::new(view)));
    let events = page.events();
    let leave: Vec<_> = events.iter().filter(|event| event["type"] == "leave").collect();
    assert_eq!(leave, [&json!({ "type": "leave", "why": "bad-view" })]);
    assert!(is(events.into_iter().rfind(|event| event["type"] == "proof"), "red", "view"));
}

#[test]
fn garbage_another_sim_and_silence_are_reasons_to_leave() {
    let left = |page: &mut Page| -> Vec<Value> {
        page.events_of("leave").into_iter().map(|event| event["why"].clone()).collect()
    };
    let mut page = Page::new();
    page.core.frame(page.now, page.wall, &[0xff; 9]);
    page.core.frame(page.now, page.wall, &[0xff; 9]);
    assert_eq!(left(&mut page), ["bad-frame"], "once");

    let mut page = Page::unconnected(json!({}));
    page.core.connected(page.now, page.wall);
    let sim = SimId(Digest::ZERO);
    let server = set(&OLD).members()[0].key;
    let challenge = Challenge { version: VERSION, sim, server, nonce: [0; 32] };
    page.tell(&ServerMessage::Challenge(challenge));
    assert_eq!(left(&mut page), ["other-sim"]);

    let mut page = Page::new();
    page.tell(&ServerMessage::Goodbye(Goodbye::OtherSession));
    assert_eq!(left(&mut page), ["OtherSession"]);

    let mut page = Page::new();
    for _ in 0..40 {
        page.wait(100.0);
    }
    assert_eq!(left(&mut page), ["silent"]);
    let mut page = Page::unconnected(json!({}));
    page.core.connected(page.now, page.wall);
    page.wait(5_001.0);
    assert_eq!(left(&mut page), ["silent"], "nobody greets");
}

#[test]
fn a_tile_that_stays_away_is_late_after_two_seconds() {
    let mut page = Page::new();
    let hidden = page.stand.beside();
    let mut badges = Vec::new();
    for _ in 0..LATE_TURNS / 2 + 2 {
        let mut tiles = page.stand.tiles();
        tiles.retain(|tile| *tile != hidden);
        let view = page.stand.view(&mut page.watcher, &tiles);
        let of = view.height;
        page.tell(&ServerMessage::View(Box::new(view)));
        page.stand.turns(2);
        let proof = page.stand.proof(of, &tiles);
        page.prove(proof);
        badges.extend(page.badge());
    }
    let last = badges.pop().expect("a badge");
    assert_eq!((&last["level"], &last["reason"]), (&"amber".into(), &"missing".into()));
    assert_eq!(last["detail"], format!("tile {},{}", hidden.x, hidden.y));
    assert!(badges[1..].iter().all(|badge| badge["level"] == "green"), "{badges:?}");
}

/// The page once believed of any object that it is the own avatar.
#[test]
fn an_avatar_that_is_said_to_be_elsewhere_proves_nothing() {
    let is_believed = |(_, truth, lie): &(_, _, _)| {
        let mut page = Page::new();
        page.log_in();
        page.badge();
        let (view, shown) = elsewhere::view(&page.stand, &mut page.watcher, (*truth, *lie));
        let of = view.height;
        page.tell(&ServerMessage::View(Box::new(view)));
        page.stand.turns(2);
        let proof = page.stand.proof(of, &shown);
        page.prove(proof);
        !is(page.badge(), "amber", "missing")
    };
    let believed: Vec<&str> = LIES.into_iter().filter(is_believed).map(|(lie, ..)| lie).collect();
    assert!(believed.is_empty(), "{believed:?}");
}

#[test]
fn a_header_that_too_few_signed_is_red() {
    let mut page = Page::new();
    let of = page.see();
    let mut proof = page.proof(of);
    proof.certificate = certificate(&proof.header, &OLD[..2]);
    page.prove(proof);
    assert!(is(page.badge(), "red", "header"));
}

#[test]
fn new_servers_are_followed_told_of_and_remembered() {
    let mut page = Page::new();
    let of = page.see();
    let mut proof = page.proof(of);
    let mut change = page.stand.proof(of, &[]).header;
    change.height = Height(proof.header.height.0 - 1);
    change.next_validators = set(&NEW).id();
    let certificate_of_old = certificate(&change, &OLD);
    let link =
        ValidatorSetLink { certificate: certificate_of_old, header: change, next: set(&NEW) };
    proof.header.validators = set(&NEW).id();
    proof.certificate = certificate(&proof.header, &NEW);
    page.events();
    page.said();
    let height = proof.header.height;
    page.prove(proof);
    let [(id, Question::Links { .. })] = page.asked()[..] else { panic!("changes are asked for") };
    page.answer(id, Answer::Links(vec![link]));

    let events = page.events();
    let of_type = |kind: &str| events.iter().find(|event| event["type"] == kind);
    let members = of_type("members").expect("who votes")["members"].clone();
    let key = set(&NEW).members()[0].key.to_string();
    assert_eq!(members[0], json!({ "key": key, "power": 1 }));
    let text = of_type("checkpoint").expect("a checkpoint")["text"].clone();
    let text = text.as_str().expect("a text");
    assert!(text.contains(&set(&NEW).id().to_string()) && text.len() <= 200, "{text}");
    assert!(text.contains(&format!(".{height}.")), "{text}");
    let id = page.command(json!({ "do": "validators" }));
    assert_eq!(page.result(id).expect("at once")["result"], members);
}

#[test]
fn servers_that_nobody_ever_voted_in_are_red() {
    let mut page = Page::new();
    let of = page.see();
    let mut proof = page.proof(of);
    proof.header.validators = set(&NEW).id();
    proof.certificate = certificate(&proof.header, &NEW);
    page.said();
    page.prove(proof);
    let [(id, Question::Links { .. })] = page.asked()[..] else { panic!("changes are asked for") };
    page.answer(id, Answer::Links(Vec::new()));
    assert!(is(page.badge(), "red", "validators"));
}

#[test]
fn a_server_that_sends_no_more_proofs_turns_green_to_amber() {
    let mut page = Page::new();
    let of = page.see();
    let proof = page.proof(of);
    page.prove(proof);
    assert_eq!(said(page.badge()).0, "green");
    // It says something else all the time.
    for _ in 0..41 {
        page.wait(100.0);
        page.tell(&ServerMessage::Pong { token: 0 });
    }
    assert!(is(page.badge(), "amber", "late"));
}

/// A server could play last week's certified turns to whoever only watched.
#[test]
fn turns_of_last_week_are_not_of_now() {
    let mut page = Page::unconnected(json!({}));
    page.wall += 7.0 * DAY_MS;
    page.connect();
    let of = page.see();
    let proof = page.proof(of);
    page.prove(proof);
    let badge = page.badge();
    let detail = badge.as_ref().map(|badge| badge["detail"].clone()).expect("a badge");
    assert!(is(badge, "amber", "old"));
    let seconds: u64 = detail.as_str().and_then(|text| text.parse().ok()).expect("seconds");
    assert!((604_000..=604_800).contains(&seconds), "{seconds}");
    assert!(page.events_of("age").is_empty(), "a week is within the trusting period");
}

#[test]
fn after_two_months_the_person_is_asked_once_and_acts_wait_for_the_answer() {
    let mut page = Page::unconnected(json!({}));
    page.wall += 60.0 * DAY_MS;
    page.connect();
    let ages = page.events_of("age");
    assert_eq!(ages.len(), 1);
    assert_eq!(ages[0]["seconds"].as_u64().map(|seconds| seconds / 86_400), Some(59));
    page.command(json!({ "do": "login", "name": "Ada", "look": {} }));
    assert!(page.acts().is_empty());
    let of = page.see();
    let proof = page.proof(of);
    page.prove(proof);
    assert!(is(page.badge(), "amber", "untrusted-age"));

    let id = page.command(json!({ "do": "trust", "accept": false }));
    assert!(page.result(id).is_some());
    assert!(page.acts().is_empty());
    page.command(json!({ "do": "trust", "accept": true }));
    assert!(matches!(page.act().envelope.act, Act::Login { .. }));
    assert!(is(page.badge(), "amber", "old"));
    assert!(page.events_of("age").is_empty());
}

#[test]
fn a_checkpoint_is_told_at_first_and_then_now_and_then() {
    let mut page = Page::new();
    let text = page.events_of("checkpoint").pop().expect("the first")["text"].clone();
    page.wait(1_000.0);
    assert!(page.events_of("checkpoint").is_empty());
    page.wait(CORE_CHECKPOINT_AGAIN.as_secs_f64() * 1_000.0);
    assert_eq!(page.events_of("checkpoint").len(), 1);

    let mut again = Page::unconnected(json!({ "checkpoint": text }));
    again.connect();
    let of = again.see();
    let proof = again.proof(of);
    again.prove(proof);
    assert_eq!(said(again.badge()).0, "green");
}
