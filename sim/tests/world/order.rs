//! The order in which a receiver gets its events, and what does not depend on who runs them.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::Motion;
use metatopia_scripting::{Event, EventKind, ScriptEffect, ScriptOutput, Value};
use metatopia_sim::{Received, Sender, Serial, gas::SCRIPT_TICK_MAX};
use metatopia_types::{Digest, HeaderId, ObjectId, PackageId, ScriptId, Tick, wire};

use crate::yard::{Backwards, Builder, Shuffled, Yard};

/// Something that writes down what it hears, and passes it on.
fn listener(builder: &mut Builder) -> PackageId {
    builder.port("listener", &[EventKind::Chat, EventKind::Message], |call| {
        let mut part = ScriptOutput { gas: 1, ..ScriptOutput::default() };
        let heard = match call.event {
            Event::Chat { text, .. } => text.clone(),
            Event::Message { topic, .. } => topic.clone(),
            _ => return Ok(part),
        };
        let before =
            call.own.text.clone().or_else(|| Some(call.view.object(call.object)?.text.into()));
        let all = format!("{}|{heard}", before.unwrap_or_default());
        part.own.text =
            Some(all.chars().rev().take(200).collect::<Vec<_>>().iter().rev().collect());
        part.own.color = Some((call.script.0 * 256 + call.index) as u32);
        if call.event.kind() == EventKind::Chat {
            for to in 1..=3 {
                let topic = format!("{} {heard}", call.script);
                part.effects.push(ScriptEffect::Send {
                    to: ObjectId(to),
                    topic,
                    data: Value::Unit,
                });
            }
            let impulse = Vec2::new(Fx::from_int(call.script.0 as i32), Fx::HALF);
            part.effects.push(ScriptEffect::Push { object: ObjectId(3), impulse });
        }
        Ok(part)
    })
}

fn crowd() -> Yard {
    let mut builder = Builder::new();
    // Gas for all six scripts in one tick.
    builder.genesis.parameters.gas.tick = 6 * SCRIPT_TICK_MAX;
    let package = listener(&mut builder);
    builder.thing(Motion::Static, (5, 0), &[package, package]);
    builder.thing(Motion::Static, (-5, 0), &[package]);
    builder.thing(Motion::Dynamic, (0, 8), &[package, package, package]);
    let mut yard = builder.build();
    (1..=6).for_each(|n| drop(yard.login(n)));
    yard.play();
    yard
}

/// Has everybody say two things, the later one first on the wire.
fn chatter(yard: &mut Yard) {
    for n in 1..=6 {
        yard.say(n, 1, &format!("{n}a"));
        yard.say(n, 1, &format!("{n}b"));
    }
}

fn heard(order: &[Received], script: ScriptId) -> Vec<(Sender, String)> {
    let of_script = order.iter().filter(|received| received.script == script);
    of_script
        .filter_map(|received| match &received.event {
            Event::Chat { text, .. } => Some((received.sender, text.clone())),
            _ => None,
        })
        .collect()
}

#[test]
fn a_receiver_gets_each_senders_words_in_the_senders_order() {
    let mut yard = crowd();
    for _ in 0..20 {
        chatter(&mut yard);
        let applied = yard.play();
        for script in 1..=6 {
            let heard = heard(&applied.order, ScriptId(script));
            assert_eq!(heard.len(), 12);
            for pair in heard.chunks(2) {
                assert_eq!(pair[0].0, pair[1].0, "a sender's words come together");
                assert!(pair[0].1 < pair[1].1, "{pair:?}");
            }
        }
    }
}

#[test]
fn groups_are_in_the_order_of_keyed_hashes_that_anybody_can_compute() {
    let mut yard = crowd();
    let mut seed = yard.world.sim().0;
    let mix = |seed: Digest, header: HeaderId| {
        Digest(*blake3::hash(&[seed.0, header.0.0].concat()).as_bytes())
    };
    seed = mix(seed, yard.log[0].id());
    let mut orders = BTreeSet::new();
    for _ in 0..10 {
        chatter(&mut yard);
        let first_tick = yard.world.tick().plus(1);
        let applied = yard.play();
        seed = mix(seed, yard.log.last().expect("just played").id());

        for script in (1..=6).map(ScriptId) {
            let senders: Vec<Sender> =
                heard(&applied.order, script).chunks(2).map(|pair| pair[0].0).collect();
            let mut expected = senders.clone();
            expected.sort_by_key(|sender| {
                let mut message = first_tick.0.to_le_bytes().to_vec();
                message.extend(script.0.to_le_bytes());
                message.extend(wire::encode(sender));
                *blake3::keyed_hash(&seed.0, &message).as_bytes()
            });
            assert_eq!(senders, expected, "script {script} at tick {first_tick}");
            orders.insert(senders);
        }
    }
    assert!(orders.len() > 50, "{} different orders in 60 cases", orders.len());
}

#[test]
fn what_runs_first_does_not_matter() {
    let play = |yard: &mut Yard, n: u64| {
        chatter(yard);
        let applied = match n {
            0 => yard.play_with(&Serial),
            1 => yard.play_with(&Backwards),
            seed => yard.play_with(&Shuffled(seed)),
        };
        (applied.root, applied.order, applied.chat)
    };
    let mut yards: Vec<Yard> = (0..6).map(|_| crowd()).collect();
    for turn in 0..10 {
        let mut results: Vec<_> =
            (0..).zip(&mut yards).map(|(n, yard)| play(yard, n + n / 2 * turn)).collect();
        let first = results.remove(0);
        assert!(results.iter().all(|other| *other == first), "turn {turn}");
    }
}

#[test]
fn messages_arrive_one_tick_later_and_in_the_order_they_were_sent() {
    let mut yard = crowd();
    chatter(&mut yard);
    let applied = yard.play();

    let mut ticks: BTreeMap<EventKind, BTreeSet<Tick>> = BTreeMap::new();
    let mut sent: BTreeMap<(ScriptId, Sender), Vec<String>> = BTreeMap::new();
    for received in &applied.order {
        ticks.entry(received.event.kind()).or_default().insert(received.tick);
        if let Event::Message { topic, .. } = &received.event {
            sent.entry((received.script, received.sender)).or_default().push(topic.clone());
        }
    }

    let chat = ticks[&EventKind::Chat].first().copied().expect("somebody heard");
    assert_eq!(ticks[&EventKind::Chat].len(), 1);
    assert_eq!(ticks[&EventKind::Message].first().copied(), Some(chat.plus(1)));
    for ((script, sender), topics) in sent {
        let Sender::Script(from) = sender else { panic!("messages are from scripts") };
        let heard: Vec<String> = heard(&applied.order, from)
            .into_iter()
            .map(|(_, text)| format!("{from} {text}"))
            .collect();
        assert_eq!(topics, heard, "script {script} hears script {from}");
    }
}

#[test]
fn kicks_of_several_scripts_add_up_and_the_last_writer_of_a_field_is_drawn_anew() {
    let mut yard = crowd();
    let ball = ObjectId(3);
    let mut colors = BTreeSet::new();
    for _ in 0..24 {
        yard.say(1, 0, "x");
        yard.play();
        colors.insert(yard.world.object(ball).expect("here").look.color / 256);
        yard.idle(20);
    }
    // Scripts 4, 5 and 6 are on the ball.
    assert_eq!(colors, BTreeSet::from([4, 5, 6]));

    let mut yard = crowd();
    yard.say(1, 0, "x");
    let turn = yard.turn();
    yard.world.apply(&turn, &Serial);
    let velocity = yard.world.object(ball).expect("here").velocity;
    // 1 + 2 + .. + 6 = 21 Ns along x and 3 Ns along y on 30 kg, damped for two ticks.
    let ratio = velocity.x.checked_div(velocity.y).map(Fx::round_int);
    assert_eq!(ratio, Some(7), "{velocity}");
}
