//! Forms: what things ask people, and how people reply.

use metatopia_physics::Motion;
use metatopia_scripting::Value;
use metatopia_sim::{
    Applied, Sender, ShownForm,
    limits::{VOICE_LINES_MAX, VOICE_SIGNS_PER_LINE},
};
use metatopia_types::{
    Act, Form, ObjectId, Outcome, Refusal,
    limits::{CHAT_BYTES_MAX, FORM_TAG_BYTES_MAX},
};

use crate::{
    building::site,
    byte_budget::script,
    yard::{Builder, Yard, public, vec2},
};

/// A kiosk that asks who touches it, and remembers the last reply.
const KIOSK: &str = r#"
    fn on_touch(other) {
        ui(other, #{ tag: "drink", title: "Tea?", text: "It is hot.", choices: ["Green", "Black"],
            field: "For whom?" });
    }
    fn on_chat(from, text) { for n in 0..32 { ui(from, #{ title: `Offer ${n}` }); } }
    fn on_ui(who, tag, choice, text) { state.reply = [who.name, tag, choice, text]; }
"#;

/// A kiosk at (2, 0), within reach of the players.
fn kiosk() -> (Yard, ObjectId) {
    let mut builder = Builder::new();
    let package = builder.package("kiosk", KIOSK);
    let kiosk = builder.thing(Motion::Static, (2, 0), &[package]);
    (site(&mut builder), kiosk)
}

/// Has a player do something. Returns all that was shown in its turn and the next one.
fn shown(yard: &mut Yard, n: u8, act: Act) -> Vec<ShownForm> {
    yard.act(n, act);
    let turns: [Applied; 2] = [yard.play(), yard.play()];
    turns.into_iter().flat_map(|applied| applied.forms).collect()
}

fn reply(object: ObjectId, tag: &str, choice: u8, text: &str) -> Act {
    Act::Reply { object, tag: tag.to_owned(), choice, text: text.to_owned() }
}

fn remembered(yard: &Yard) -> Option<Value> {
    script(&yard.world, 1).state.0.get("reply").cloned()
}

#[test]
fn a_form_is_shown_to_the_one_who_is_asked_and_the_reply_reaches_the_script() {
    let (mut yard, kiosk) = kiosk();

    let forms = shown(&mut yard, 2, Act::Touch { object: kiosk });

    let [asked] = forms.as_slice() else { panic!("{forms:?}") };
    assert_eq!((asked.object, asked.player), (kiosk, public(2)));
    let wanted = Form {
        tag: "drink".to_owned(),
        title: "Tea?".to_owned(),
        text: "It is hot.".to_owned(),
        choices: ["Green", "Black"].map(str::to_owned).to_vec(),
        field: Some("For whom?".to_owned()),
        offer: None,
    };
    assert_eq!(asked.form, wanted);
    assert_eq!(yard.try_act(2, reply(kiosk, "drink", 1, "my aunt")), Outcome::Ok);
    let text = |text: &str| Value::Text(text.to_owned());
    let told = [text("player 2"), text("drink"), Value::Int(1), text("my aunt")];
    assert_eq!(remembered(&yard), Some(Value::Array(told.to_vec())));
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn a_reply_is_heard_without_a_form_because_no_state_keeps_forms() {
    let (mut yard, kiosk) = kiosk();
    assert_eq!(yard.try_act(1, reply(kiosk, "", 255, "")), Outcome::Ok);
    assert!(remembered(&yard).is_some());
}

#[test]
fn a_reply_of_who_is_out_of_hearing_or_has_left_is_refused() {
    let (mut yard, kiosk) = kiosk();
    let nowhere = yard.try_act(1, reply(ObjectId(999), "drink", 0, ""));
    assert_eq!(nowhere, Outcome::Refused(Refusal::NoObject));

    let hearing = yard.world.parameters().hearing.floor_int();
    yard.walk_to(1, vec2(-i32::try_from(hearing).unwrap(), 0));
    let away = yard.try_act(1, reply(kiosk, "drink", 0, ""));
    assert_eq!(away, Outcome::Refused(Refusal::OutOfReach));

    yard.act(2, Act::Leave);
    yard.play();
    let left = yard.try_act(2, reply(kiosk, "drink", 0, ""));
    assert_eq!(left, Outcome::Refused(Refusal::NotLoggedIn));
    assert_eq!(remembered(&yard), None);
}

/// Who replied without end had the script pay for it, until it handled nothing any more.
#[test]
fn who_replies_pays_for_it_and_only_so_often() {
    let (mut yard, kiosk) = kiosk();
    let level = |yard: &Yard| script(&yard.world, 1).gas_used;
    let before = level(&yard);
    let (mut heard, mut refused) = (0, 0);
    for _ in 0..30 {
        let acts: Vec<_> = (0..80).map(|_| yard.act(1, reply(kiosk, "drink", 0, ""))).collect();
        yard.play();
        for act in acts {
            match yard.outcome(&act) {
                Outcome::Ok => heard += 1,
                Outcome::Refused(Refusal::TooOften) => refused += 1,
                other => panic!("{other}"),
            }
        }
    }
    assert!(heard > 100 && refused > 100, "{heard} were heard, {refused} refused");
    assert!(level(&yard) > before);
    // Somebody else is heard at once: the purse of who replied is empty, not the script's.
    let other = yard.act(2, reply(kiosk, "drink", 1, "me"));
    let mut order = yard.play().order;
    assert_eq!(yard.outcome(&other), Outcome::Ok);
    (0..2).for_each(|_| order.extend(yard.play().order));
    assert!(order.iter().any(|event| event.sender == Sender::Player(public(2))));
}

#[test]
fn a_reply_whose_words_nobody_may_say_is_refused() {
    let (mut yard, kiosk) = kiosk();
    let tag = "t".repeat(FORM_TAG_BYTES_MAX);
    let text = "x".repeat(CHAT_BYTES_MAX);
    assert_eq!(yard.try_act(1, reply(kiosk, &tag, 0, &text)), Outcome::Ok);
    for (tag, text) in [
        (format!("{tag}t"), String::new()),
        (String::new(), format!("{text}x")),
        ("a\nb".to_owned(), String::new()),
        (String::new(), "a\u{202e}b".to_owned()),
    ] {
        let refused = yard.try_act(1, reply(kiosk, &tag, 0, &text));
        assert_eq!(refused, Outcome::Refused(Refusal::BadText), "{tag:?} {text:?}");
    }
}

#[test]
fn a_script_that_asks_without_end_shows_so_many_forms_a_second() {
    let (mut yard, _) = kiosk();
    yard.say(1, 0, "what is there?");
    let forms = [yard.play(), yard.play()].into_iter().flat_map(|applied| applied.forms).count();
    let most = VOICE_LINES_MAX * VOICE_SIGNS_PER_LINE;
    assert_eq!(forms, most as usize);
    assert_eq!(script(&yard.world, 1).dropped, u64::from(32 - most));
}

#[test]
fn nobody_is_shown_a_form_who_is_out_of_hearing() {
    let mut builder = Builder::new();
    let source = "fn on_touch(other) { state.who = other; timer(\"ask\", 9); }
                  fn on_timer(name) { ui(state.who, #{ title: \"Still here?\" }); state.asked = true; }";
    let package = builder.package("kiosk", source);
    let kiosk = builder.thing(Motion::Static, (2, 0), &[package]);
    let mut yard = site(&mut builder);
    assert_eq!(yard.try_act(1, Act::Touch { object: kiosk }), Outcome::Ok);
    let hearing = yard.world.parameters().hearing.floor_int();
    yard.walk_to(1, vec2(-i32::try_from(hearing).unwrap(), 0));

    let forms: usize = (0..200).map(|_| yard.play().forms.len()).sum();

    assert_eq!(forms, 0);
    assert_eq!(script(&yard.world, 1).state.0.get("asked"), Some(&Value::Bool(true)));
}
