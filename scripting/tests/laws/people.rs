//! What scripts may show to people, say to one of them, and let them hear; and zones.

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::{ErrorKind, ScriptEffect, limits::ZONE_REACH};
use metatopia_types::{
    Form, ObjectId, Offer, Outline, Permission, Sound,
    limits::{CHAT_BYTES_MAX, FORM_CHOICES_MAX, FORM_LABEL_BYTES_MAX, SOUND_PITCH_MAX},
};

use crate::{spawning::touched, stage::world};

/// A script's way to the only person of the small world.
const PERSON: &str = "let ada = nearby(5)[1];";

#[test]
fn a_form_is_as_its_fields_say() {
    let part = touched(
        world(),
        &format!(
            "{PERSON} ui(ada, #{{ title: \"Tea?\", choices: [\"Green\", \"Black\"], field: \"For\" }});"
        ),
    );
    let form = Form {
        tag: String::new(),
        title: "Tea?".into(),
        text: String::new(),
        choices: vec!["Green".into(), "Black".into()],
        field: Some("For".into()),
        offer: None,
    };
    let wanted = ScriptEffect::Ui { who: ObjectId(3), form: Box::new(form) };
    assert_eq!(part.unwrap().effects, [wanted]);
}

#[test]
fn a_form_that_cannot_be_meant_is_refused_with_the_name_of_the_field() {
    let label = "x".repeat(FORM_LABEL_BYTES_MAX + 1);
    let (title, field) = (format!("#{{title: \"{label}\"}}"), format!("#{{field: \"{label}\"}}"));
    let choice = format!("#{{choices: [\"{label}\"]}}");
    let text = format!("#{{text: \"{}\"}}", "x".repeat(CHAT_BYTES_MAX + 1));
    let many = format!("#{{choices: [{}]}}", "\"a\", ".repeat(FORM_CHOICES_MAX + 1));
    for (fields, kind, words) in [
        ("#{}", ErrorKind::Argument, "a form says something"),
        ("#{title: \"\"}", ErrorKind::Argument, "a form says something"),
        ("#{tilte: \"a\"}", ErrorKind::Argument, "no field tilte: did you mean title?"),
        ("#{title: 7}", ErrorKind::Type, "title is a string"),
        ("#{choices: \"a\"}", ErrorKind::Type, "choices is an array of strings"),
        ("#{choices: [7]}", ErrorKind::Type, "choices is an array of strings"),
        ("#{choices: [\"\"]}", ErrorKind::Argument, "one of choices is empty"),
        (&many, ErrorKind::Argument, "choices are at most 8, not 9"),
        (&title, ErrorKind::Argument, "title takes at most 64 bytes"),
        (&field, ErrorKind::Argument, "field takes at most 64 bytes"),
        (&choice, ErrorKind::Argument, "one of choices takes at most 64 bytes"),
        (&text, ErrorKind::Argument, "text takes at most 512 bytes"),
        ("#{tag: \"012345678901234567890123456789012\"}", ErrorKind::Argument, "at most 32 bytes"),
    ] {
        let error = touched(world(), &format!("{PERSON} ui(ada, {fields});")).unwrap_err();
        assert_eq!(error.kind, kind, "{fields}: {error}");
        assert!(error.report.message.contains(words), "{fields}: {error}");
    }
}

#[test]
fn a_form_is_shown_to_people_only() {
    let error = touched(world(), "ui(other, #{title: \"a\"});").unwrap_err();
    assert!(error.report.message.contains("and no avatar"), "{error}");
    assert_eq!(touched(world(), "ui(7, #{title: \"a\"});").unwrap_err().kind, ErrorKind::Type);
    let mut small = world();
    small.things.truncate(1);
    let error = touched(small, "ui(other, #{title: \"a\"});").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Gone);
}

#[test]
fn an_offer_is_as_its_fields_say_and_a_question_asks_for_a_permission() {
    let call = "offer(ada, #{ give: self_, take: other, text: \"a swap\", tag: \"s\" }); ask(ada, \"move\");";
    let part = touched(world(), &format!("{PERSON} {call}")).unwrap();
    let who = ObjectId(3);
    let swap = Offer { give: Some(ObjectId(1)), take: Some(ObjectId(2)), ..Offer::default() };
    let moves = Offer { allow: [Permission::Move].into(), ..Offer::default() };
    let offered = |terms: Offer, text: &str, tag: &str| {
        let (terms, text, tag) = (Box::new(terms), text.into(), tag.into());
        ScriptEffect::Offer { who, terms, text, tag }
    };
    assert_eq!(part.effects, [offered(swap, "a swap", "s"), offered(moves, "", "move")]);
}

#[test]
fn a_script_asks_whether_a_person_is_in_a_club_by_its_name_or_its_number() {
    let mut told = Vec::new();
    for club in ["\"gardeners\"", "\"Gardeners\"", "3", "-3"] {
        for who in ["ada", "other", "self_"] {
            let call = format!("{PERSON} log(is_member({who}, {club}));");
            if touched(world(), &call).unwrap().log == ["true"] {
                told.push(format!("{who} {club}"));
            }
        }
    }
    assert_eq!(told, ["ada \"gardeners\"", "ada 3"]);
    let error = touched(world(), "is_member(other, true);").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Type);
}

#[test]
fn an_offer_that_cannot_be_meant_is_refused() {
    for (call, kind, words) in [
        ("offer(ada, #{})", ErrorKind::Argument, "an offer gives a thing, takes one, or both"),
        ("offer(ada, #{gives: other})", ErrorKind::Argument, "no field gives: did you mean give?"),
        ("offer(ada, #{give: 7})", ErrorKind::Type, "give is an object"),
        ("offer(ada, #{give: ada})", ErrorKind::Argument, "Ada is a person, and no thing to give"),
        ("offer(other, #{give: self_})", ErrorKind::Argument, "and no avatar"),
        ("ask(other, \"move\")", ErrorKind::Argument, "and no avatar"),
        ("ask(ada, \"mvoe\")", ErrorKind::Argument, "no permission \"mvoe\": did you mean move?"),
        ("allowed(ada, \"fly\")", ErrorKind::Argument, "there are move and dress"),
        ("dress(ada, -1)", ErrorKind::Argument, "a color is 0 to 0xFFFFFF"),
    ] {
        let error = touched(world(), &format!("{PERSON} {call};")).unwrap_err();
        assert_eq!(error.kind, kind, "{call}: {error}");
        assert!(error.report.message.contains(words), "{call}: {error}");
    }
}

#[test]
fn who_has_not_allowed_it_is_neither_carried_nor_dressed() {
    let calls = ["carry(ada, vec2(1, 0))", "dress(ada, 0xff0000)"];
    let done = touched(world(), &format!("{PERSON} {}; {};", calls[0], calls[1])).unwrap();
    let who = ObjectId(3);
    let carried = ScriptEffect::Carry { who, to: Vec2::new(Fx::ONE, Fx::ZERO) };
    assert_eq!(done.effects, [carried, ScriptEffect::Dress { who, color: 0x00ff_0000 }]);
    for (call, word) in calls.into_iter().zip(["move", "dress"]) {
        let mut shy = world();
        shy.allowed.clear();
        let error = touched(shy, &format!("{PERSON} {call};")).unwrap_err();
        let told = format!("Ada has not allowed \"{word}\": ask(who, \"{word}\") first");
        assert!(error.report.message.contains(&told), "{error}");
    }
}

#[test]
fn a_whisper_is_for_people_and_says_something() {
    let part = touched(world(), &format!("{PERSON} whisper(ada, \"psst\");")).unwrap();
    let whisper = ScriptEffect::Whisper { who: ObjectId(3), text: "psst".into() };
    assert_eq!(part.effects, [whisper]);
    for (call, words) in [
        ("whisper(other, \"psst\")", "crate is a thing"),
        ("whisper(ada, \"\")", "nothing to whisper"),
        ("whisper(ada, \"a\\nb\")", "is one line"),
    ] {
        let error = touched(world(), &format!("{PERSON} {call};")).unwrap_err();
        assert!(error.report.message.contains(words), "{call}: {error}");
    }
}

#[test]
fn a_sound_has_a_name_and_at_most_two_octaves() {
    let part = touched(world(), "sound(\"bell\"); sound(\"note\", -24);").unwrap();
    let made = [(Sound::Bell, 0), (Sound::Note, -SOUND_PITCH_MAX)];
    assert_eq!(part.effects, made.map(|(sound, pitch)| ScriptEffect::Sound { sound, pitch }));
    for (call, words) in [
        ("sound(\"bel\")", "there is no sound \"bel\": did you mean bell?"),
        ("sound(\"bell\", 25)", "at most 24 semitones"),
        ("sound(\"bell\", -9_000_000_000)", "at most 24 semitones"),
    ] {
        let error = touched(world(), call).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Argument, "{call}");
        assert!(error.report.message.contains(words), "{call}: {error}");
    }
}

#[test]
fn a_zone_is_a_disc_or_a_box_within_its_reach_or_none() {
    let metres = |x: i32| Fx::from_int(x);
    let part = touched(world(), "zone(2); zone(vec2(32, 4)); zone(0); zone(vec2(0, 5));").unwrap();
    let disc = Outline::Disc { radius: metres(2) };
    let plank = Outline::Box { half: Vec2::new(metres(ZONE_REACH), metres(2)) };
    let zones = [Some(disc), Some(plank), None, None];
    assert_eq!(part.effects, zones.map(|outline| ScriptEffect::Zone { outline }));
    for call in ["zone(16.1)", "zone(-1)", "zone(vec2(2, -2))", "zone(vec2(33, 1))"] {
        let error = touched(world(), call).unwrap_err();
        assert!(error.report.message.contains("0 to 16 metres"), "{call}: {error}");
    }
}
