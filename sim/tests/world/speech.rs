//! Words, gestures and looks.

use metatopia_physics::Motion;
use metatopia_scripting::{Effect, Event, EventKind, Part};
use metatopia_sim::{GESTURE_TICKS, limits::DELIVERIES_PER_TURN_MAX};
use metatopia_types::{Act, BlobId, Emote, Look, Outcome, Refusal, limits::CHAT_BYTES_MAX};

use crate::yard::{Builder, public};

fn parrot(builder: &mut Builder) -> metatopia_types::PackageId {
    builder.port("parrot", &[EventKind::Chat], |call| {
        let Event::Chat { from, text } = call.event else {
            return Ok(Part::default());
        };
        let name = call.view.object(*from).map_or("nobody", |object| object.name);
        let text = format!("{name} says {text}");
        Ok(Part { gas: 10, effects: vec![Effect::Say { text }], ..Part::default() })
    })
}

#[test]
fn words_are_heard_nearby_or_everywhere_and_only_by_who_listens() {
    let mut builder = Builder::new();
    let package = parrot(&mut builder);
    let near = builder.thing(Motion::Static, (5, 0), &[package]);
    let far = builder.thing(Motion::Static, (100, 0), &[package]);
    let mut yard = builder.build();
    yard.login(1);
    yard.play();

    yard.say(1, 0, "hello");
    let applied = yard.play();
    let speakers: Vec<_> = applied.chat.iter().map(|line| line.speaker).collect();
    assert_eq!(speakers, [yard.avatar(1), near]);
    assert_eq!(applied.chat[0].player, Some(public(1)));
    assert_eq!(applied.chat[1].text, "player 1 says hello");

    yard.say(1, 1, "hello all");
    let applied = yard.play();
    let speakers: Vec<_> = applied.chat.iter().map(|line| line.speaker).collect();
    assert_eq!(speakers, [yard.avatar(1), near, far]);
    assert_eq!(yard.world.chat().0.len(), 5);
}

#[test]
fn words_that_cannot_be_said_are_refused() {
    let mut yard = Builder::new().build();
    yard.login(1);
    yard.play();
    let mut try_say = |channel, text: &str| {
        let act = yard.say(1, channel, text);
        yard.play();
        yard.outcome(&act)
    };

    assert_eq!(try_say(2, "hello"), Outcome::Refused(Refusal::NoChannel));
    assert_eq!(try_say(0, ""), Outcome::Refused(Refusal::BadText));
    assert_eq!(try_say(0, "a\nb"), Outcome::Refused(Refusal::BadText));
    let long = "x".repeat(CHAT_BYTES_MAX + 1);
    assert_eq!(try_say(0, &long), Outcome::Refused(Refusal::BadText));
    let lost = Act::Say { channel: 0, body: BlobId::default() };
    assert_eq!(yard.try_act(1, lost), Outcome::Refused(Refusal::NoBlob));
}

#[test]
fn a_gesture_is_seen_for_a_moment() {
    let mut yard = Builder::new().build();
    yard.login(1);
    yard.play();

    assert_eq!(yard.try_act(1, Act::Emote(Emote::Wave)), Outcome::Ok);

    let gesture = |yard: &crate::yard::Yard| {
        yard.world.object(yard.avatar(1)).and_then(|seen| seen.player).expect("an avatar").1
    };
    assert_eq!(gesture(&yard), Some(Emote::Wave));
    yard.idle(GESTURE_TICKS / 3 + 1);
    assert_eq!(gesture(&yard), None);
}

#[test]
fn a_new_look_is_seen() {
    let mut yard = Builder::new().build();
    yard.login(1);
    yard.play();
    let look = Look { color: 0x12_3456, ..Look::default() };

    assert_eq!(yard.try_act(1, Act::SetLook(look)), Outcome::Ok);
    assert_eq!(yard.world.object(yard.avatar(1)).expect("here").look, look);
    let loud = Look { color: u32::MAX, ..look };
    assert_eq!(yard.try_act(1, Act::SetLook(loud)), Outcome::Refused(Refusal::OutOfRange));
}

#[test]
fn words_of_one_turn_become_a_bounded_number_of_events() {
    let mut builder = Builder::new();
    let package =
        builder.port("ear", &[EventKind::Chat], |_| Ok(Part { gas: 1, ..Part::default() }));
    let scripts = 8 * 256;
    for n in 0..scripts / 8 {
        builder.thing(Motion::Static, (2 * (n % 16), 2 * (n / 16) + 9), &[package; 8]);
    }
    let mut yard = builder.build();
    yard.login(1);
    yard.play();
    let room = DELIVERIES_PER_TURN_MAX / scripts as usize;
    let acts: Vec<_> = (0..=room).map(|_| yard.say(1, 1, "hello")).collect();

    yard.play();

    let outcomes: Vec<Outcome> = acts.iter().map(|act| yard.outcome(act)).collect();
    assert!(outcomes[..room].iter().all(|outcome| *outcome == Outcome::Ok));
    assert_eq!(outcomes[room], Outcome::Refused(Refusal::TooOften));
}
