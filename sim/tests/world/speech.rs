//! Words, gestures and looks.

use metatopia_math::Fx;
use metatopia_physics::Motion;
use metatopia_scripting::{
    Call, Event, EventKind, ScriptEffect, ScriptOutput, limits::GAS_PER_CALL_MIN,
};
use metatopia_sim::{
    Applied, GESTURE_TICKS,
    gas::SCRIPT_TICK_MAX,
    limits::{
        DELIVERIES_PER_AUTHOR_MAX, DELIVERIES_PER_TURN_MAX, HEARERS_MAX, LISTENERS_FEW,
        LOOKS_PER_DELIVERY,
    },
};
use metatopia_types::{
    Act, BlobId, Digest, Emote, Look, Outcome, Refusal, ScriptId, limits::CHAT_BYTES_MAX,
};

use crate::yard::{Builder, public, vec2};

fn parrot(builder: &mut Builder) -> metatopia_types::PackageId {
    builder.port("parrot", &[EventKind::Chat], |call| {
        let Event::Chat { from, text } = call.event else {
            return Ok(ScriptOutput::default());
        };
        let name = call.view.object(*from).map_or("nobody", |object| object.name);
        let text = format!("{name} says {text}");
        Ok(ScriptOutput {
            gas: 10,
            effects: vec![ScriptEffect::Say { text }],
            ..ScriptOutput::default()
        })
    })
}

#[test]
fn words_are_heard_nearby_or_everywhere_and_only_by_who_listens() {
    let mut builder = Builder::new();
    // Gas for both parrots in one tick.
    builder.genesis.parameters.gas.tick = 2 * SCRIPT_TICK_MAX;
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
    let lost = Act::Say { channel: 0, body: BlobId(Digest::ZERO) };
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

/// A yard with so many things, of eight scripts each, that hear. The first ones are the farthest.
fn ears(things: i32) -> Builder {
    let mut builder = Builder::new();
    let part =
        |_: &Call<'_>| Ok(ScriptOutput { gas: GAS_PER_CALL_MIN + 7, ..ScriptOutput::default() });
    let package = builder.port("ear", &[EventKind::Chat], part);
    // How much is handled in a tick is another bound.
    builder.genesis.parameters.gas.tick = 1 << 30;
    for n in (0..things).rev() {
        builder.thing(Motion::Static, (2 * (n % 16), 2 * (n / 16) + 9), &[package; 8]);
    }
    builder
}

/// The scripts that heard something in a turn, once for each line.
fn heard(applied: &Applied) -> Vec<ScriptId> {
    let chat = applied.order.iter().filter(|it| matches!(it.event, Event::Chat { .. }));
    chat.map(|it| it.script).collect()
}

#[test]
fn the_nearest_scripts_hear_a_line_and_of_those_as_near_the_lowest_numbers() {
    // Few scripts are all looked at, many are looked for around the speaker.
    for things in [(LISTENERS_FEW / 8) as i32, 40, 256] {
        let mut yard = ears(things).build();
        yard.login(1);
        yard.play();
        for channel in [0, 1] {
            let place = yard.position(yard.avatar(1));
            let mut all: Vec<_> = (yard.world.objects())
                .flat_map(|thing| {
                    let distance = thing.position.distance(place);
                    thing.scripts.into_iter().map(move |(script, _)| (distance, script))
                })
                .filter(|(distance, _)| channel == 1 || *distance <= Fx::from_int(20))
                .collect();
            all.sort_unstable();
            let mut nearest: Vec<ScriptId> = all.into_iter().map(|(_, script)| script).collect();
            nearest.truncate(HEARERS_MAX);
            nearest.sort_unstable();
            let said = yard.say(1, channel, "hello");

            let applied = yard.play();

            assert_eq!(yard.outcome(&said), Outcome::Ok);
            assert_eq!(applied.chat.len(), 1);
            assert_eq!(nearest.len(), HEARERS_MAX);
            assert_eq!(heard(&applied), nearest, "{things} things, channel {channel}");
        }
    }
}

#[test]
fn words_of_one_speaker_and_of_one_turn_become_a_bounded_number_of_events() {
    let mut yard = ears(40).build();
    (1..=20).for_each(|n| drop(yard.login(n)));
    yard.play();
    let lines = DELIVERIES_PER_AUTHOR_MAX / HEARERS_MAX + 1;
    let acts: Vec<_> = (0..lines).map(|_| yard.say(1, 1, "hello")).collect();

    let applied = yard.play();

    assert!(acts.iter().all(|act| yard.outcome(act) == Outcome::Ok));
    assert_eq!(applied.chat.len(), lines, "people hear all of it");
    // Looks count as well, so the last line may be heard by fewer.
    let events = heard(&applied).len();
    assert!(
        (DELIVERIES_PER_AUTHOR_MAX - 8..=DELIVERIES_PER_AUTHOR_MAX).contains(&events),
        "{events}"
    );

    let acts: Vec<_> = (1..=20).map(|n| yard.say(n, 1, "hello")).collect();
    let applied = yard.play();
    assert!(acts.iter().all(|act| yard.outcome(act) == Outcome::Ok));
    assert_eq!(applied.chat.len(), 20, "people hear all of it");
    let events = heard(&applied).len();
    assert!((DELIVERIES_PER_TURN_MAX - 64..=DELIVERIES_PER_TURN_MAX).contains(&events), "{events}");
}

#[test]
fn looking_for_who_hears_is_counted_where_nobody_does() {
    let mut builder = ears(17);
    // Far from the speaker; near it there are things that hear nothing.
    for n in 0..LOOKS_PER_DELIVERY as i32 {
        builder.thing(Motion::Static, (n % 8 - 12, n / 8 - 12), &[]);
    }
    builder.genesis.parameters.hearing = Fx::from_int(8);
    builder.genesis.parameters.avatar.spawn = vec2(-9, -9);
    let mut yard = builder.build();
    yard.login(1);
    yard.play();
    for _ in 0..DELIVERIES_PER_AUTHOR_MAX {
        yard.say(1, 0, "is anybody here?");
    }
    yard.say(1, 1, "hello");

    let applied = yard.play();

    assert_eq!(applied.chat.len(), DELIVERIES_PER_AUTHOR_MAX + 1);
    assert_eq!(heard(&applied), [], "all that the speaker may cost is used up");
    yard.say(1, 1, "hello");
    assert_eq!(heard(&yard.play()).len(), HEARERS_MAX);
}

#[test]
fn who_speaks_pays_for_the_calls_and_who_hears_for_what_is_done_in_them() {
    let mut builder = ears(4);
    let gas = &mut builder.genesis.parameters.gas;
    // An ear that had to pay for a call would be overdrawn by one, and never earn enough again.
    (gas.script_capacity, gas.script_refill) = (100, 1);
    let mut yard = builder.build();
    yard.login(1);
    yard.play();

    for turn in 0..10 {
        yard.say(1, 1, "hello");
        assert_eq!(heard(&yard.play()).len(), 32, "turn {turn}");
    }
}

#[test]
fn a_speaker_who_has_no_gas_left_is_heard_by_people_only() {
    let mut builder = ears(4);
    let line = HEARERS_MAX as u64 * GAS_PER_CALL_MIN;
    let gas = &mut builder.genesis.parameters.gas;
    (gas.owner_capacity, gas.owner_refill) = (3 * line, 1);
    let mut yard = builder.build();
    yard.login(1);
    yard.login(2);
    yard.play();
    let mut lines = Vec::new();
    for _ in 0..6 {
        yard.say(1, 1, "hello");
        let applied = yard.play();
        assert_eq!(applied.chat.len(), 1);
        lines.push(heard(&applied).len());
    }

    // Three lines leave what it earned in nine ticks, and that pays for another one.
    assert_eq!(lines, [32, 32, 32, 32, 0, 0]);
    yard.say(2, 1, "hello");
    assert_eq!(heard(&yard.play()).len(), 32, "another one pays for own words");
}
