//! Timers in a world that is full: none is lost for want of room, so no script stops for good.

use metatopia_physics::Motion;
use metatopia_scripting::{
    Call, Event, EventKind, ScriptEffect, ScriptError, ScriptOutput, limits::GAS_PER_CALL_MAX,
};
use metatopia_sim::{Applied, limits::WORLD_BYTES_MAX};
use metatopia_types::ScriptId;

use crate::{
    byte_budget::{hoarder, leave, script, text},
    yard::{Builder, Yard},
};

fn timer(name: &str, ticks: u64) -> ScriptEffect {
    ScriptEffect::Timer { name: name.to_owned(), ticks }
}

/// Strikes every seven ticks.
fn strike(_: &Call<'_>) -> Result<ScriptOutput, ScriptError> {
    Ok(ScriptOutput { gas: 20, effects: vec![timer("strike", 7)], ..ScriptOutput::default() })
}

/// Does what [`strike`] does, but uses so much gas that others come in between.
fn strike_slowly(call: &Call<'_>) -> Result<ScriptOutput, ScriptError> {
    Ok(ScriptOutput { gas: call.gas, ..strike(call)? })
}

/// A turn's events of timers that a script handled.
fn handled(applied: &Applied, script: ScriptId) -> usize {
    let timers = applied.order.iter().filter(|it| matches!(it.event, Event::Timer { .. }));
    timers.filter(|received| received.script == script).count()
}

/// Returns how often a script's timers ran out in so many turns.
fn strikes(yard: &mut Yard, turns: u64, script: ScriptId) -> usize {
    (0..turns).map(|_| handled(&yard.play(), script)).sum()
}

#[test]
fn a_bell_strikes_while_the_world_is_full_and_after_that() {
    let mut builder = Builder::new();
    let bell = builder.port("bell", &[EventKind::Start, EventKind::Timer], strike);
    builder.thing(Motion::Static, (0, 5), &[bell]);
    let mut yard = builder.build();
    yard.idle(1);
    leave(&mut yard.world, 0);

    // 280 turns are 840 ticks.
    assert_eq!(strikes(&mut yard, 280, ScriptId(1)), 120);
    assert_eq!(script(&yard.world, 1).dropped, 0);

    yard.world.limit_bytes(WORLD_BYTES_MAX);
    assert_eq!(strikes(&mut yard, 28, ScriptId(1)), 12);
}

#[test]
fn a_timer_whose_event_waited_for_gas_is_set_again_without_room() {
    let mut builder = Builder::new();
    // In the seven ticks between two strikes the bell earns less than it uses.
    builder.genesis.parameters.gas.script_refill = GAS_PER_CALL_MAX / 8;
    let bell = builder.port("slow-bell", &[EventKind::Start, EventKind::Timer], strike_slowly);
    builder.thing(Motion::Static, (0, 5), &[bell]);
    let mut yard = builder.build();
    yard.idle(1);
    leave(&mut yard.world, 0);

    let (mut struck, mut waited) = (0, 0);
    for _ in 0..400 {
        struck += handled(&yard.play(), ScriptId(1));
        waited += script(&yard.world, 1).inbox.waiting().len();
    }

    assert!(struck > 5 && waited > 5, "{struck} struck, {waited} turns");
    let bell = script(&yard.world, 1);
    assert_eq!((bell.timers.len() + bell.inbox.waiting().len(), bell.dropped), (1, 0));
}

#[test]
fn a_timer_whose_script_finds_no_room_runs_out_every_second_until_it_does() {
    let mut builder = Builder::new();
    let door = builder.port("door", &[EventKind::Start, EventKind::Timer], |call| {
        let mut part = ScriptOutput { gas: 20, ..ScriptOutput::default() };
        if matches!(call.event, Event::Start) {
            part.effects.push(timer("close", 10));
            return Ok(part);
        }
        let mut state = (**call.state).clone();
        state.0.insert("closed".to_owned(), text(100));
        (part.state, part.own.text) = (Some(state), Some("closed".to_owned()));
        Ok(part)
    });
    let thing = builder.thing(Motion::Static, (0, 5), &[door]);
    let mut yard = builder.build();
    yard.idle(1);
    leave(&mut yard.world, 50);

    // The tenth tick is in the fourth turn, and 60 ticks are twenty turns.
    assert_eq!(strikes(&mut yard, 62, ScriptId(1)), 3);
    assert_eq!(yard.world.object(thing).expect("here").text, "");

    yard.world.limit_bytes(WORLD_BYTES_MAX);
    assert_eq!(strikes(&mut yard, 100, ScriptId(1)), 1);
    assert_eq!(yard.world.object(thing).expect("here").text, "closed");
    assert!(script(&yard.world, 1).timers.is_empty());
}

#[test]
fn what_timers_come_to_when_they_run_out_is_kept_free_for_them() {
    let mut builder = Builder::new();
    builder.genesis.parameters.gas.script_refill = 1;
    // All run out at once, and the gas that there is handles few of them.
    let late = builder.port("late", &[EventKind::Start, EventKind::Timer], |call| {
        if !matches!(call.event, Event::Start) {
            return Ok(ScriptOutput { gas: call.gas, ..ScriptOutput::default() });
        }
        let effects = (0..16).map(|n| timer(&n.to_string(), 100)).collect();
        Ok(ScriptOutput { gas: 20, effects, ..ScriptOutput::default() })
    });
    let hoarder = hoarder(&mut builder);
    for n in 0..30 {
        builder.thing(Motion::Static, (3 * n, 5), &[late; 8]);
        builder.thing(Motion::Static, (3 * n, 9), &[hoarder]);
    }
    let mut yard = builder.build();
    yard.idle(1);
    // Of its 51 bytes a timer has three or four, and when it has run out eight or nine.
    let bound = leave(&mut yard.world, 240 * (16 * 51 - 54) + 20_000);

    yard.idle(31);
    let scripts = || (1..=270).map(|id| script(&yard.world, id));
    let failures: u64 = scripts().map(|script| script.failures).sum();
    assert_eq!(scripts().map(|script| script.timers.len()).sum::<usize>(), 240 * 16);
    assert!(failures > 500, "only {failures} times no room for what hoarders remember");

    yard.idle(5);
    let waiting = (1..=270).map(|id| script(&yard.world, id).inbox.waiting().len());
    assert!(waiting.sum::<usize>() > 200 * 16);
    let bytes = yard.world.state_bytes();
    assert!(bytes <= bound + 4 * 1_024, "{bytes} of {bound}");
}
