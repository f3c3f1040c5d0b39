//! Drafts that are tried on a copy of the state.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_sim::{ENGINE, Genesis, ObjectSpec, Serial, Tools, World};
use metatopia_types::*;
use metatopia_wasm::{
    HandlerGas, ScriptTrial, TRIAL_BYTES_MAX, TRIAL_LINES_MAX, TRIAL_TURNS_MAX, TrialEvent,
    TrialReport,
};
use serde_json::{Value, json};

const THING: u64 = 1;

fn author() -> PublicKey {
    SigningKey::from_seed([9; 32]).public()
}

fn thing(name: &str, owner: Option<PublicKey>, at: Vec2) -> ObjectSpec {
    let square = Shape::Rect { half: Vec2::new(Fx::HALF, Fx::HALF) };
    ObjectSpec {
        kind: "thing".to_owned(),
        name: name.to_owned(),
        owner,
        look: Look::default(),
        text: String::new(),
        body: BodySpec::new(square, Motion::Kinematic, at),
        scripts: Vec::new(),
        licence: AssetLicence::Cc0,
        spawner: None,
        seat: None,
    }
}

/// A sim with a thing of the author's, one of nobody's, and the author beside both.
fn world() -> World {
    let server = SigningKey::from_seed([1; 32]).public();
    let mut genesis = Genesis {
        name: "trials".to_owned(),
        admins: [server].into(),
        validators: [(server, NodeContact::default())].into(),
        objects: vec![
            thing("lamp", Some(author()), Vec2::ZERO),
            thing("rock", None, Vec2::new(Fx::from_int(2), Fx::ZERO)),
        ],
        licence: "AGPL-3.0-or-later".to_owned(),
        asset_licence: "CC0-1.0".to_owned(),
        ..Genesis::empty()
    };
    genesis.parameters.avatar.spawn = Vec2::new(Fx::ZERO, Fx::from_int(-2));
    genesis.parameters.avatar.spawn_radius = Fx::ZERO;
    let mut world = World::genesis(&genesis, &Tools::new(Arc::new(Ed25519))).expect("a genesis");
    let act = Act::login("Ada".to_owned(), Look::default());
    let envelope = Envelope {
        sim: world.sim(),
        author: author(),
        lane: Lane(1),
        seq: Seq(1),
        last_valid: Height(1),
        act,
    };
    let act = SignedEnvelope { envelope, signature: Signature::from_bytes([0; 64]) };
    let header = Header {
        sim: world.sim(),
        engine: ENGINE,
        height: Height(1),
        proposer: server,
        time: Millis(1_700_000_000_000),
        ..Header::unstated()
    };
    let body = TurnBody::new(vec![act], Vec::new()).expect("one act");
    world.apply(&Turn::of(header, body), &Serial);
    world
}

fn task(object: u64, source: &str) -> Vec<u8> {
    let task = json!({
        "do": "begin", "author": author().to_string(), "object": object, "script": null,
        "draft": {
            "name": "lamp", "version": "1.0.0", "entry": "lamp.rhai",
            "files": { "lamp.rhai": source }, "licence": "AGPL-3.0-or-later",
        },
    });
    serde_json::to_vec(&task).expect("JSON")
}

fn begun(world: &World, source: &str) -> ScriptTrial {
    ScriptTrial::new(world, &task(THING, source)).expect("a try")
}

fn deed(trial: &mut ScriptTrial, deed: Value) {
    trial.act_as_author(&serde_json::to_vec(&deed).expect("JSON")).expect("a deed");
}

fn events(report: &TrialReport) -> Vec<&TrialEvent> {
    report.lines.iter().map(|line| &line.what).collect()
}

fn logged(text: &str) -> TrialEvent {
    TrialEvent::Logged { text: text.to_owned() }
}

fn said(text: &str) -> TrialEvent {
    TrialEvent::Said { name: "lamp".to_owned(), whispered: false, text: text.to_owned() }
}

#[test]
fn a_try_tells_what_the_script_does_and_leaves_the_state_alone() {
    let world = world();
    let (height, root) = (world.height(), world.root());
    let mut trial = begun(
        &world,
        "fn on_start() { log(\"began\"); }\n\
         fn on_touch(other) { say(`Hello, ${other.name}!`); sound(\"bell\"); \
         self_.color = 0x112233; self_.velocity = vec2(0, 0.5); }\n\
         fn on_chat(from, text) { whisper(from, `you said ${text}`); }\n",
    );
    assert_eq!(events(&trial.run(2)), [&logged("began")]);

    deed(&mut trial, json!({ "do": "touch" }));
    let report = trial.run(20);

    let told = events(&report);
    assert!(told.contains(&&said("Hello, Ada!")), "{told:?}");
    let bell = TrialEvent::Sound { name: "lamp".to_owned(), sound: "bell", pitch: 0 };
    assert!(told.contains(&&bell), "{told:?}");
    let look =
        TrialEvent::Look { color: 0x0011_2233, text: String::new(), name: "lamp".to_owned() };
    assert!(told.contains(&&look), "{told:?}");
    let Some(TrialEvent::Place { x, y }) = told.last() else { panic!("{told:?}") };
    assert!(*x == 0.0 && *y > 0.3, "{x} {y}");
    let HandlerGas { calls, gas, most } = report.gas["on_touch"];
    assert!(calls == 1 && gas == most && gas > 0 && gas < report.gas_max, "{gas}");

    deed(&mut trial, json!({ "do": "say", "text": "good morning" }));
    let report = trial.run(2);
    let whisper = TrialEvent::Said {
        name: "lamp".to_owned(),
        whispered: true,
        text: "you said good morning".to_owned(),
    };
    assert!(events(&report).contains(&&whisper), "{report:?}");
    assert!(!report.over);
    assert_eq!((world.height(), world.root()), (height, root));
}

#[test]
fn a_call_that_fails_is_told_with_its_place_and_three_suspend_the_script() {
    let mut trial = begun(&world(), "fn on_touch(other) {\n    let a = [];\n    a[3]\n}\n");
    deed(&mut trial, json!({ "do": "touch" }));
    let report = trial.run(2);
    let told = events(&report);
    let [TrialEvent::Failed { file, line, column, why }] = told[..] else { panic!("{told:?}") };
    assert_eq!((file.as_str(), *line), ("lamp.rhai", 3));
    assert!(*column > 0 && !why.is_empty(), "{column} {why}");
    for _ in 0..2 {
        deed(&mut trial, json!({ "do": "touch" }));
    }
    assert_eq!(events(&trial.run(2)).last(), Some(&&TrialEvent::Suspended));
}

#[test]
fn an_upgrade_that_fails_falls_back_in_the_copy() {
    let world = world();
    let mut trial = begun(&world, "fn on_start() { log(\"one\"); }");
    trial.run(2);
    let script = trial.world().object(ObjectId(THING)).expect("the lamp").scripts[0].0;
    let mut task: Value = serde_json::from_slice(&task(THING, "fn on_upgrade() { throw \"no\" }"))
        .expect("what was written");
    task["script"] = script.0.into();

    let mut next = ScriptTrial::new(trial.world(), task.to_string().as_bytes()).expect("a try");

    let report = next.run(2);
    let told = events(&report);
    assert!(matches!(told[0], TrialEvent::Failed { line: 1, .. }), "{told:?}");
    assert_eq!(told.last(), Some(&&TrialEvent::FellBack));
}

#[test]
fn a_form_is_shown_and_its_reply_reaches_the_script() {
    let source = "fn on_touch(other) {\n\
                  ui(other, #{ tag: \"tea\", title: \"Tea?\", choices: [\"Yes\", \"No\"] });\n}\n\
                  fn on_ui(who, tag, choice, text) { log(`${tag} ${choice} ${text}`); }\n";
    let mut trial = begun(&world(), source);
    deed(&mut trial, json!({ "do": "touch" }));
    let report = trial.run(2);
    let [TrialEvent::Form { object: THING, form, .. }] = events(&report)[..] else {
        panic!("{report:?}")
    };
    assert_eq!((form.title.as_str(), form.choices.len()), ("Tea?", 2));
    let reply = json!({ "do": "reply", "object": THING, "tag": "tea", "choice": 1, "text": "x" });
    deed(&mut trial, reply);
    assert_eq!(events(&trial.run(2)), [&logged("tea 1 x")]);
}

#[test]
fn what_the_script_makes_and_what_that_logs_is_told() {
    let source = "fn on_touch(other) {\n\
                  spawn(#{ name: \"apple\", radius: 0.2, pos: self_.pos + vec2(2, 2), scripted: true });\n}\n\
                  fn on_start() { if self_.spawner != () { log(\"an apple began\"); } }\n";
    let mut trial = begun(&world(), source);
    deed(&mut trial, json!({ "do": "touch" }));
    let report = trial.run(4);
    let told = events(&report);
    assert!(told.contains(&&TrialEvent::Made { name: "apple".to_owned() }), "{told:?}");
    assert!(told.contains(&&logged("an apple began")), "{told:?}");
}

#[test]
fn a_rule_that_refuses_the_script_ends_the_try() {
    let refused = ScriptTrial::new(&world(), &task(2, "fn on_start() {}"));
    let report = refused.expect("a refusal is no error").run(5);
    let told = events(&report);
    let is_told = matches!(told[..], [TrialEvent::Refused { what: "attach", .. }]);
    assert!(is_told && report.over, "{told:?}");
}

#[test]
fn a_thing_that_goes_ends_the_try() {
    let source = "fn on_start() {\n\
                  spawn(#{ name: \"apple\", radius: 0.2, pos: self_.pos + vec2(2, 2) });\n}";
    let mut trial = begun(&world(), source);
    assert!(!trial.run(2).over);
    let apple = trial.world().objects().find(|thing| thing.name == "apple").expect("an apple").id;

    let task = task(apple.0, "fn on_start() { despawn(self_); }");
    let mut next = ScriptTrial::new(trial.world(), &task).expect("a try");

    let report = next.run(5);
    assert_eq!((events(&report).last(), report.over), (Some(&&TrialEvent::Gone), true));
}

#[test]
fn what_cannot_be_tried_says_why() {
    let world = world();
    let fault = |task: &[u8]| ScriptTrial::new(&world, task).expect_err("no try").code;
    assert_eq!(fault(b"nonsense"), "input");
    assert_eq!(fault(&task(THING, "fn on_touch(")), "BadPackage");
    let mut stranger: Value = serde_json::from_slice(&task(THING, "")).expect("JSON");
    stranger["author"] = "07".repeat(32).into();
    assert_eq!(fault(stranger.to_string().as_bytes()), "NotLoggedIn");
    assert!(world.state_bytes() < TRIAL_BYTES_MAX);
}

#[test]
fn lines_and_turns_of_one_call_are_bounded() {
    let mut trial = begun(&world(), "fn on_tick(dt) { for i in 0..8 { log(`line ${i}`); } }");
    let report = trial.run(TRIAL_TURNS_MAX + 1_000);
    assert_eq!(report.lines.len(), TRIAL_LINES_MAX);
    assert!(report.more > 0);
    let per_turn = u64::from(trial.world().parameters().ticks_per_turn);
    // The turns in which the author came and put the script on the thing count as well.
    let turns = report.at * limits::TICKS_PER_SECOND as f64 / per_turn as f64;
    assert!((f64::from(TRIAL_TURNS_MAX)..f64::from(TRIAL_TURNS_MAX) + 4.0).contains(&turns));
    let gas: &BTreeMap<&'static str, HandlerGas> = &report.gas;
    assert!(gas["on_tick"].calls >= u64::from(TRIAL_TURNS_MAX) * per_turn);
}
