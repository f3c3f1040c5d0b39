//! Merging what the scripts of one tick did into the next state, in the order of their ids.

use std::collections::BTreeMap;

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{Pose, limits::IMPULSE_MAX};
use metatopia_scripting::{Effect, ErrorKind, Event, EventKind, Own, Report};
use metatopia_types::{ObjectId, ScriptId, Tick, limits::TICKS_PER_SECOND, wire};

use crate::{
    chat::{ChatLine, NEARBY},
    inbox::{Delivery, Sender},
    limits::{TIMER_BYTES_MAX, TIMERS_MAX},
    programs::Programs,
    run::{Run, rank},
    state::State,
};

/// Kicks of one tick to one object, summed wide so that their order cannot matter.
#[derive(Default)]
struct Kicks {
    x: i128,
    y: i128,
}

/// Merges the runs of the tick that is being computed. Gives what was said.
pub(crate) fn merge(state: &mut State, programs: &Programs, runs: &mut [Run]) -> Vec<ChatLine> {
    let tick = state.clock.tick.plus(1);
    // First what each keeps to itself: what is left in an inbox has its room before what is new.
    runs.iter_mut().for_each(|run| settle(state, run, tick));
    let mut kicks: BTreeMap<ObjectId, Kicks> = BTreeMap::new();
    let mut chat = Vec::new();
    for run in runs.iter_mut() {
        let effects = core::mem::take(&mut run.effects);
        for (index, effect) in (0_u32..).zip(effects) {
            match effect {
                Effect::Say { text } => chat.extend(say(state, run, tick, text)),
                Effect::Send { to, topic, data } => {
                    let event = Event::Message { from: run.object, topic, data };
                    let sender = Sender::Script(run.script);
                    let delivery = Delivery { sender, raised: tick, index, event };
                    send(state, programs, to, &delivery);
                }
                Effect::Push { object, impulse } => {
                    let kicks = kicks.entry(object).or_default();
                    kicks.x = kicks.x.saturating_add(i128::from(impulse.x.to_bits()));
                    kicks.y = kicks.y.saturating_add(i128::from(impulse.y.to_bits()));
                }
                Effect::Timer { name, ticks } => {
                    set_timer(state, run, name, tick.plus(ticks));
                }
                Effect::Cancel { name } => cancel_timer(state, run.script, &name),
            }
        }
    }
    write_objects(state, runs, tick);
    for (object, kicks) in kicks {
        let impulse = Vec2::new(clamped(kicks.x), clamped(kicks.y));
        // An object that is gone or that nothing moves does not mind.
        let _ = state.region.impulse(object, impulse);
    }
    chat
}

fn clamped(sum: i128) -> Fx {
    let bound = i128::from(IMPULSE_MAX.to_bits());
    let bits = i64::try_from(sum.clamp(-bound, bound)).expect("the bound is an i64");
    Fx::from_bits(bits)
}

/// What a script keeps to itself: its state, what is left in its inbox, its failures.
fn settle(state: &mut State, run: &mut Run, tick: Tick) {
    // It all had room before, and nothing came in between.
    for delivery in core::mem::take(&mut run.rest) {
        state.deliver_anyway(run.script, delivery);
    }
    let Some(script) = state.scripts.get_mut(&run.script) else {
        return;
    };
    let mut lacks = false;
    if let Some(changed) = run.state.take() {
        let growth = wire::length(&changed).saturating_sub(wire::length(&script.state));
        if state.room.take(growth) {
            script.state = changed;
        } else {
            run.fail(no_room());
            lacks = true;
        }
    }
    if let Some((kind, _)) = run.failures.last() {
        script.failures = script.failures.saturating_add(run.failures.len() as u64);
        script.last_failure = Some((tick, *kind));
    }
    if lacks {
        wind_again(state, run, tick);
    }
}

/// The timers of a script that had no room run out once more, or a full world would stop it for good.
/// In a second: it is to leave some of its owner's gas to others.
fn wind_again(state: &mut State, run: &Run, tick: Tick) {
    let at = tick.plus(TICKS_PER_SECOND);
    for name in run.timers() {
        // One that was set again while its event waited is as good.
        let set = state.scripts.get(&run.script).is_some_and(|it| it.timers.contains_key(name));
        if !set {
            set_timer(state, run, name.clone(), at);
        }
    }
}

/// A script would remember more than the world has room for.
fn no_room() -> (ErrorKind, Box<Report>) {
    let message = "the world has no room for a larger state".to_owned();
    (ErrorKind::State, Box::new(Report { message, ..Report::default() }))
}

/// The fields of each object: if several scripts on it wrote one, the writer of the highest rank
/// wins, and ranks are drawn anew every tick.
fn write_objects(state: &mut State, runs: &mut [Run], tick: Tick) {
    let mut writers: BTreeMap<ObjectId, Vec<(metatopia_types::Digest, ScriptId, Own)>> =
        BTreeMap::new();
    for run in runs {
        let own = core::mem::take(&mut run.own);
        if own != Own::default() {
            let rank = rank(&state.clock.seed, tick, &[run.object.0, run.script.0]);
            writers.entry(run.object).or_default().push((rank, run.script, own));
        }
    }
    for (id, mut writers) in writers {
        writers.sort_by_key(|(rank, script, _)| (*rank, *script));
        let own = writers.into_iter().fold(Own::default(), |mut all, (.., later)| {
            all.merge(later);
            all
        });
        write_object(state, id, own);
    }
}

fn write_object(state: &mut State, id: ObjectId, own: Own) {
    if (own.color.is_some() || own.text.is_some())
        && let Some(object) = state.objects.get_mut(&id)
    {
        object.look.color = own.color.unwrap_or(object.look.color) & 0x00ff_ffff;
        object.text = own.text.unwrap_or_else(|| core::mem::take(&mut object.text));
    }
    let Some(body) = state.region.body(id) else {
        return;
    };
    if own.pos.is_some() || own.angle.is_some() {
        let old = body.pose();
        let pose = Pose {
            position: own.pos.unwrap_or(old.position),
            angle: own.angle.unwrap_or(old.angle),
        };
        let _ = state.region.set_pose(id, pose);
    }
    // What the motion of the body does not allow is left undone: a wall has no velocity.
    if let Some(velocity) = own.velocity {
        let _ = state.region.set_velocity(id, velocity);
    }
    if let Some(spin) = own.spin {
        let _ = state.region.set_spin(id, spin);
    }
}

/// The object says something, unless its script has said too much of late.
fn say(state: &mut State, run: &Run, tick: Tick, text: String) -> Option<ChatLine> {
    let script = state.scripts.get_mut(&run.script)?;
    if !script.voice.speak(tick) || !crate::is_line(&text) {
        script.dropped = script.dropped.saturating_add(1);
        return None;
    }
    let object = state.objects.get(&run.object)?;
    let line = ChatLine {
        height: state.clock.height,
        tick,
        channel: NEARBY,
        speaker: run.object,
        player: object.player,
        name: object.name.clone(),
        place: state.region.body(run.object)?.position(),
        text,
    };
    state.chat.add(&line);
    Some(line)
}

/// A message to every script on an object; nobody gets it if the object is gone.
fn send(state: &mut State, programs: &Programs, to: ObjectId, delivery: &Delivery) {
    let Some(object) = state.objects.get(&to) else {
        return;
    };
    let scripts: Vec<ScriptId> = programs.listening(EventKind::Message, &object.scripts).collect();
    for script in scripts {
        state.deliver(script, delivery.clone());
    }
}

/// A timer that is set already, or whose event was handled in this tick, has its room.
fn set_timer(state: &mut State, run: &Run, name: String, at: Tick) {
    let Some(found) = state.scripts.get_mut(&run.script) else {
        return;
    };
    let set = found.timers.contains_key(&name);
    let full = found.timers.len() >= TIMERS_MAX && !set;
    let takes =
        if set || run.timers().any(|ran_out| *ran_out == name) { 0 } else { TIMER_BYTES_MAX };
    if full || !state.room.take(takes) {
        found.dropped = found.dropped.saturating_add(1);
        return;
    }
    let mut timers = found.timers.clone();
    timers.insert(name, at);
    state.set_timers(run.script, timers);
}

fn cancel_timer(state: &mut State, script: ScriptId, name: &str) {
    let Some(mut timers) = state.scripts.get(&script).map(|script| script.timers.clone()) else {
        return;
    };
    if timers.remove(name).is_some() {
        state.set_timers(script, timers);
    }
}
