//! Applying a turn always succeeds: whatever fails has changed nothing, on every server alike.

use metatopia_math::Fx;
use metatopia_physics::Motion;
use metatopia_scripting::{ErrorKind, EventKind, ScriptEffect, ScriptError, ScriptOutput, Value};
use metatopia_sim::InjectedPanics;
use metatopia_types::{Act, Look, ObjectId, Outcome, Refusal};

use crate::yard::{Builder, Shuffled};

#[test]
fn a_panic_in_one_act_is_a_failed_outcome() {
    let mut yard = Builder::new().build();
    let mut twin = Builder::new().build();
    let doomed = yard.login(1);
    let fine = yard.login(2);
    twin.login(2);

    let faults = InjectedPanics { panic_in: [doomed.id()].into() };
    yard.world.inject(faults);
    yard.play();

    assert_eq!(yard.outcome(&doomed), Outcome::Refused(Refusal::Crashed));
    assert_eq!(yard.outcome(&fine), Outcome::Ok);
    assert_eq!(yard.world.player_count(), 1);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn servers_with_the_same_fault_stay_together() {
    let roots: Vec<_> = (0..4)
        .map(|seed| {
            let mut yard = Builder::new().build();
            let doomed = yard.login(1);
            yard.login(2);
            yard.world.inject(InjectedPanics { panic_in: [doomed.id()].into() });
            yard.play_with(&Shuffled(seed)).root
        })
        .collect();

    assert!(roots.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn an_act_that_is_refused_half_way_has_changed_nothing() {
    // The avatar is in reach, the author is renewed, and only then is the push found to be too
    // early; or the session is changed, and only then is the look found to be wrong.
    let mut builder = Builder::new();
    builder.genesis.parameters.avatar.spawn_radius = Fx::ZERO;
    let object = builder.thing(Motion::Dynamic, (1, 0), &[]);
    let (mut yard, mut twin) = (builder.build(), builder.build());
    for yard in [&mut yard, &mut twin] {
        yard.login(1);
        yard.act(1, Act::Push { object });
        yard.play();
    }
    let players = |world: &metatopia_sim::World| world.leaf(&key("players")).expect("there");

    let refused = [Act::Push { object }, Act::SetLook(Look { color: u32::MAX, ..Look::default() })];
    for act in refused {
        assert!(matches!(yard.try_act(1, act), Outcome::Refused(_)));
        twin.play();
        assert_eq!(players(&yard.world), players(&twin.world));
        assert_eq!(yard.position(object), twin.position(object));
    }
}

fn key(name: &str) -> metatopia_types::LeafKey {
    metatopia_types::LeafKey(name.to_owned())
}

fn part(text: &str) -> ScriptOutput {
    let mut part = ScriptOutput { gas: 10, ..ScriptOutput::default() };
    part.own.text = Some(text.to_owned());
    part
}

#[test]
fn a_call_that_panics_or_fails_loses_its_own_writes_and_sends_only() {
    let mut builder = Builder::new();
    let bad =
        builder.port("bad", &[EventKind::Touch, EventKind::Chat], |call| match call.event.kind() {
            EventKind::Touch => panic!("a bug of the executor"),
            EventKind::Chat => {
                Err(ScriptError { kind: ErrorKind::Arithmetic, gas: 10, report: Box::default() })
            }
            _ => Ok(ScriptOutput::default()),
        });
    let good = builder.port("good", &[EventKind::Touch, EventKind::Chat], |call| {
        Ok(part(call.event.kind().handler()))
    });
    builder.genesis.parameters.avatar.spawn_radius = Fx::ZERO;
    let thing = builder.thing(Motion::Static, (1, 1), &[bad, good]);
    let mut yard = builder.build();
    yard.login(1);
    yard.play();

    yard.act(1, Act::Touch { object: thing });
    let applied = yard.play();
    assert_eq!(applied.failures.len(), 1);
    assert_eq!(applied.failures[0].kind, ErrorKind::Panic);
    assert_eq!(yard.world.object(thing).expect("here").text, "on_touch");

    // The panic cost a whole call, and the script has to earn that first.
    yard.idle(40);
    yard.say(1, 0, "hello");
    let applied = yard.play();
    assert_eq!(applied.failures[0].kind, ErrorKind::Arithmetic);
    assert_eq!(yard.world.object(thing).expect("here").text, "on_chat");

    let running: Vec<_> = yard.world.scripts().collect();
    assert_eq!((running[0].failures, running[1].failures), (2, 0));
    assert_eq!(running[0].last_failure.map(|(_, kind)| kind), Some(ErrorKind::Arithmetic));
}

#[test]
fn effects_on_what_is_gone_or_cannot_move_change_nothing() {
    let mut builder = Builder::new();
    let wild = builder.port("wild", &[EventKind::Start], |call| {
        let push = |object| ScriptEffect::Push { object, impulse: metatopia_math::Vec2::X };
        let send = |to| ScriptEffect::Send { to, topic: "x".to_owned(), data: Value::Unit };
        let mut part = part("done");
        part.own.velocity = Some(metatopia_math::Vec2::X);
        part.own.spin = Some(Fx::ONE);
        part.effects = vec![push(ObjectId(77)), push(call.object), send(ObjectId(77))];
        part.effects.push(ScriptEffect::Cancel { name: "never".to_owned() });
        Ok(part)
    });
    let thing = builder.thing(Motion::Static, (1, 1), &[wild]);
    let mut yard = builder.build();
    let before = yard.position(thing);

    let applied = yard.idle(3);

    let seen = yard.world.object(thing).expect("here");
    assert_eq!((seen.text.as_str(), seen.position), ("done", before));
    assert!(applied.failures.is_empty());
    assert_eq!(yard.world.failed_steps(), 0);
}
