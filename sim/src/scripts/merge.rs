//! Merges what the scripts of one tick did into the next state, in the order of their ids.

use std::collections::BTreeMap;

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{Motor, Pose, limits::IMPULSE_MAX};
use metatopia_scripting::{ErrorKind, Event, EventKind, FailureReport, ObjectWrites, ScriptEffect};
use metatopia_types::{ObjectId, ScriptId, Tick, limits::TICKS_PER_SECOND, wire};

use super::{
    inbox::{QueuedEvent, Sender},
    programs::Programs,
    script::ScriptChange,
    script_run::{ScriptRun, UpgradeTrial, rank},
    shown::ShownToPeople,
};
use crate::{
    limits::{FAILURE_TURNS, TIMER_BYTES_MAX, TIMERS_MAX},
    state::State,
};

/// The sum of the impulses of one tick to one object, so wide that their order cannot matter.
#[derive(Default)]
struct ImpulseSum {
    x: i128,
    y: i128,
}

/// Merges the runs of the tick that is being computed. Returns what objects let people see and hear.
pub(crate) fn merge(
    state: &mut State,
    programs: &Programs,
    runs: &mut [ScriptRun],
) -> ShownToPeople {
    let tick = state.clock.tick.plus(1);
    // First what each script keeps to itself. An event that is left in an inbox had its place before
    // anything that is sent now, and a script that has no room for its state must not send at all.
    runs.iter_mut().for_each(|run| apply_private_changes(state, run, tick));
    let mut impulses: BTreeMap<ObjectId, ImpulseSum> = BTreeMap::new();
    let (mut shown, mut changes) = (ShownToPeople::default(), Vec::new());
    // Of those who would put a person somewhere, the last one does.
    let mut carried = BTreeMap::new();
    // Then what scripts do to others, by script and in each script's own order: who comes first finds
    // room in an inbox and in the byte budget.
    for (place, run) in runs.iter_mut().enumerate() {
        let effects = core::mem::take(&mut run.effects);
        for (index, effect) in (0_u32..).zip(effects) {
            match effect {
                ScriptEffect::Say { text } => shown.say(state, run, tick, text),
                ScriptEffect::Shout { text } => shown.shout(state, run, tick, text),
                ScriptEffect::Whisper { who, text } => shown.whisper(state, run, tick, who, text),
                ScriptEffect::Sound { sound, pitch } => {
                    shown.make_sound(state, run, tick, (sound, pitch));
                }
                ScriptEffect::Zone { outline } => state.set_zone(run.script, outline),
                ScriptEffect::Ui { who, form } => shown.show_form(state, run, tick, who, *form),
                ScriptEffect::Send { to, topic, data } => {
                    let event = Event::Message { from: run.object, topic, data };
                    let sender = Sender::Script(run.script);
                    let queued = QueuedEvent { sender, raised: tick, index, event };
                    if state.objects.contains(&to) {
                        send(state, programs, to, &queued);
                    } else {
                        come_back(state, programs, to, queued);
                    }
                }
                ScriptEffect::Push { object, impulse } => {
                    let sum = impulses.entry(object).or_default();
                    sum.x = sum.x.saturating_add(i128::from(impulse.x.to_bits()));
                    sum.y = sum.y.saturating_add(i128::from(impulse.y.to_bits()));
                }
                ScriptEffect::Timer { name, ticks } => {
                    set_timer(state, run, name, tick.plus(ticks));
                }
                ScriptEffect::Cancel { name } => cancel_timer(state, run.script, &name),
                ScriptEffect::Offer { who, terms, text, tag } => {
                    shown.make_offer(state, run, (tick, who), (*terms, text, tag));
                }
                ScriptEffect::Carry { who, to } => {
                    carried.insert(who, (place, to));
                }
                ScriptEffect::Dress { who, color } => state.dress(run, who, color),
                effect @ (ScriptEffect::Spawn { .. }
                | ScriptEffect::Despawn { .. }
                | ScriptEffect::Join { .. }
                | ScriptEffect::Unjoin { .. }
                | ScriptEffect::Motor { .. }
                | ScriptEffect::BreakAt { .. }
                | ScriptEffect::Seat { .. }) => {
                    changes.push((place, index, effect));
                }
            }
        }
    }
    // Velocities that scripts write come before impulses, which add to them.
    write_objects(state, runs, tick);
    for (who, (place, to)) in carried {
        state.carry(&runs[place], who, to);
    }
    for (object, sum) in impulses {
        let impulse = Vec2::new(clamp_impulse(sum.x), clamp_impulse(sum.y));
        // An object may be gone, or be one that nothing moves: then the impulse changes nothing.
        let _ = state.bodies.apply_impulse(object, impulse);
    }
    // Things come and go last: until here each script that ran is in the state, and each body in its place.
    for (place, index, effect) in changes {
        change_things(state, programs, &mut runs[place], (tick, index), effect);
    }
    state.remove_orphans();
    shown
}

/// Spawns a thing for a script, and tells it what became of that, or removes, joins or drives one.
fn change_things(
    state: &mut State,
    programs: &Programs,
    run: &mut ScriptRun,
    (tick, index): (Tick, u32),
    effect: ScriptEffect,
) {
    let refused = match effect {
        ScriptEffect::Spawn { thing, scripted, tag, material, sensor } => {
            let package = state.scripts.get(&run.script).map(|script| script.package);
            let package = package.filter(|_| scripted);
            let spawned = state.spawn_thing(run.object, &thing, (&material, sensor), package);
            if programs.listening(EventKind::Spawn, &[run.script]).next().is_some() {
                let event = Event::Spawn { thing: spawned.ok(), tag };
                // Of its own share: what it spawns must not take the places of its timers.
                let sender = Sender::Script(run.script);
                let queued = QueuedEvent { sender, raised: tick, index, event };
                state.deliver(run.script, queued);
            }
            spawned.err().map(|refusal| format!("spawn is refused: {refusal}"))
        }
        ScriptEffect::Despawn { object } => {
            // A script that asks twice for the end of a thing finds it gone.
            state.despawn_thing(run.object, object);
            None
        }
        ScriptEffect::Join { other, by } => {
            let joined = state.join_things(run.object, other, by);
            joined.err().map(|error| format!("a joint is refused: {error}"))
        }
        ScriptEffect::Unjoin { other } => {
            state.unjoin_things(run.object, other);
            None
        }
        ScriptEffect::Motor { other, speed, strength } => {
            state.drive_things(run.object, other, Motor { speed, strength });
            None
        }
        ScriptEffect::BreakAt { other, force } => {
            state.break_joints_at(run.object, other, force);
            None
        }
        ScriptEffect::Seat { at } => {
            state.set_seat(run.object, at);
            None
        }
        other => unreachable!("{other:?} changes no things"),
    };
    if let Some(refusal) = refused {
        run.log.push(refusal);
        if let Some(script) = state.scripts.get_mut(&run.script) {
            script.dropped = script.dropped.saturating_add(1);
        }
    }
}

/// Returns the impulse with this sum of bits, within the bound of physics.
fn clamp_impulse(sum: i128) -> Fx {
    let bound = i128::from(IMPULSE_MAX.to_bits());
    let bits = i64::try_from(sum.clamp(-bound, bound)).expect("the bound is an i64");
    Fx::from_bits(bits)
}

/// Applies what a script keeps to itself: its state, what is left in its inbox, its failures.
fn apply_private_changes(state: &mut State, run: &mut ScriptRun, tick: Tick) {
    // Each of these events had its bytes before the run, and nothing came into the inbox since.
    for queued in core::mem::take(&mut run.unhandled) {
        state.deliver_anyway(run.script, queued);
    }
    // Scripts end by acts, and no act is applied between a run and its merge.
    let script = state.scripts.get_mut(&run.script).expect("a script that ran is in the state");
    // What an upgrade on trial does leads back to what the script was before, and to no suspension.
    // Nor does what failed because somebody has left: anybody could touch a thing and leave at once.
    let counts = |(kind, _): &&(ErrorKind, _)| *kind != ErrorKind::Gone;
    let failed = run.failures.iter().filter(counts).count();
    let failed = if run.trial == UpgradeTrial::Failed { 0 } else { failed };
    let mut lacks_room = false;
    if let Some(changed) = run.state.take() {
        let growth = wire::length(&*changed).saturating_sub(wire::length(&*script.state));
        if state.byte_budget.take(growth) {
            script.state = changed;
        } else {
            run.fail(state_too_large());
            lacks_room = true;
        }
    }
    if let Some((kind, _)) = run.failures.last() {
        script.failures = script.failures.saturating_add(run.failures.len() as u64);
        script.last_failure = Some((tick, *kind));
    }
    if lacks_room {
        restart_timers(state, run, tick);
    }
    state.end_trial(run.script, run.trial);
    // A world without room is no fault of the script, and does not count.
    if failed > 0 {
        state.note_failures(run.script, tick, failed);
    }
}

impl State {
    /// Notes that calls of a script failed. Suspends the script if that was too often of late.
    fn note_failures(&mut self, id: ScriptId, tick: Tick, count: usize) {
        let ticks = FAILURE_TURNS * u64::from(self.charter.parameters.ticks_per_turn);
        let script = self.scripts.get_mut(&id).expect("a script that ran is in the state");
        if script.note_failures(tick, count, ticks) {
            self.suspend_script(id, tick);
        }
    }

    /// Has a script get no more events from this tick on.
    pub(crate) fn suspend_script(&mut self, id: ScriptId, tick: Tick) {
        let script = self.scripts.get_mut(&id).expect("a script that is there");
        let alarm = script.alarm();
        let waiting = core::mem::take(&mut script.inbox).waiting().count() as u64;
        script.dropped = script.dropped.saturating_add(waiting);
        script.suspended = Some(tick);
        script.offers.clear();
        alarm.map(|tick| self.alarms.remove(&(tick, id)));
        self.waiting.remove(&id);
        self.script_changes.push((id, ScriptChange::Suspends));
    }

    /// Has a script run again that was suspended, from `on_start` on. Nothing happens to one that runs.
    pub(crate) fn resume_script(&mut self, id: ScriptId) {
        let script = self.scripts.get_mut(&id).expect("a script that its object lists");
        if script.suspended.is_none() {
            return;
        }
        script.end_suspension();
        // `on_start` sets its timers and its zone anew: timers that are long overdue would come after it.
        script.timers.clear();
        let package = script.package;
        self.set_zone(id, None);
        self.script_changes.push((id, ScriptChange::Resumes(package)));
    }

    /// Ends the trial of an upgrade: the script stays what it is, or is again what it was.
    fn end_trial(&mut self, id: ScriptId, trial: UpgradeTrial) {
        let script = self.scripts.get(&id).expect("a script that ran is in the state");
        if script.fallback.is_none() || trial == UpgradeTrial::Open {
            return;
        }
        let time = self.governance.time;
        let script = self.scripts.get_mut(&id).expect("a script that was just read");
        let before = *script.fallback.take().expect("a fallback that was just seen");
        if trial == UpgradeTrial::Passed {
            self.publications.release(before.package, time);
            self.index_zones(id);
            return;
        }
        let failed = core::mem::replace(&mut script.package, before.package);
        script.state = before.state;
        // The next look at the zone tells the old source who came and who left under the failed one.
        script.zone = before.zone;
        self.index_zones(id);
        self.publications.release(failed, time);
        self.script_changes.push((id, ScriptChange::FallsBack(before.package)));
    }
}

/// Sets the timers of a script that had no room for its state once more, or a full world would stop the
/// script for good. They run out in a second, so that the script leaves some of its owner's gas to others.
fn restart_timers(state: &mut State, run: &ScriptRun, tick: Tick) {
    let at = tick.plus(TICKS_PER_SECOND);
    for name in run.timers() {
        let script = state.scripts.get(&run.script).expect("a script that ran is in the state");
        // A timer that was set again while its event waited runs out by itself.
        if !script.timers.contains_key(name) {
            set_timer(state, run, name.clone(), at);
        }
    }
}

/// Returns the failure of a script whose new state is larger than the world has room for.
fn state_too_large() -> (ErrorKind, Box<FailureReport>) {
    let message = "the world has no room for a larger state".to_owned();
    (ErrorKind::State, Box::new(FailureReport { message, ..FailureReport::default() }))
}

/// Writes the fields of objects. If several scripts on an object wrote one field, the script of the
/// highest rank wins, and ranks are drawn anew every tick.
fn write_objects(state: &mut State, runs: &mut [ScriptRun], tick: Tick) {
    let mut writers: BTreeMap<ObjectId, Vec<(metatopia_types::Digest, ScriptId, ObjectWrites)>> =
        BTreeMap::new();
    for run in runs {
        let own = core::mem::take(&mut run.own);
        if own != ObjectWrites::default() {
            let rank = rank(&state.clock.seed, tick, &[run.object.0, run.script.0]);
            writers.entry(run.object).or_default().push((rank, run.script, own));
        }
    }
    for (id, mut writers) in writers {
        // The highest rank comes last, because a later write replaces an earlier one.
        writers.sort_by_key(|(rank, script, _)| (*rank, *script));
        let own = writers.into_iter().fold(ObjectWrites::default(), |mut all, (.., later)| {
            all.merge(later);
            all
        });
        write_object(state, id, own);
    }
}

/// Writes what the scripts on an object decided for it. An object that is gone stays gone.
fn write_object(state: &mut State, id: ObjectId, own: ObjectWrites) {
    if (own.color.is_some() || own.text.is_some())
        && let Some(object) = state.objects.get_mut(&id)
    {
        object.look.color = own.color.unwrap_or(object.look.color) & 0x00ff_ffff;
        object.text = own.text.unwrap_or_else(|| core::mem::take(&mut object.text));
    }
    // What is in hand is where its holder is.
    let Some(body) = state.bodies.body(id).filter(|_| !state.is_held(id)) else {
        return;
    };
    if own.pos.is_some() || own.angle.is_some() {
        let old = body.pose();
        let pose = Pose {
            position: own.pos.unwrap_or(old.position),
            angle: own.angle.unwrap_or(old.angle),
        };
        // A pose outside of the ground is left undone.
        let _ = state.bodies.set_pose(id, pose);
    }
    // What the motion of the body does not allow is left undone: a wall has no velocity.
    if let Some(velocity) = own.velocity {
        let _ = state.bodies.set_velocity(id, velocity);
    }
    if let Some(spin) = own.spin {
        let _ = state.bodies.set_spin(id, spin);
    }
    if let Some(sensor) = own.sensor {
        state.bodies.set_sensor(id, sensor);
    }
}

/// Sends a message to every script on an object that is here.
fn send(state: &mut State, programs: &Programs, to: ObjectId, message: &QueuedEvent) {
    let object = state.objects.get(&to).expect("an object that was just seen");
    let scripts: Vec<ScriptId> = programs.listening(EventKind::Message, &object.scripts).collect();
    for script in scripts {
        state.deliver(script, message.clone());
    }
}

/// Tells the script that sent a message to an object that is not here, if it wants to know.
fn come_back(state: &mut State, programs: &Programs, to: ObjectId, message: QueuedEvent) {
    let (Sender::Script(script), Event::Message { topic, .. }) = (message.sender, message.event)
    else {
        unreachable!("scripts send messages")
    };
    if programs.listening(EventKind::Undelivered, &[script]).next().is_none() {
        return;
    }
    let why = if state.is_thing_away(to) { "away" } else { "gone" };
    let event = Event::Undelivered { to, topic, why: why.to_owned() };
    let sender = Sender::Script(script);
    state.deliver(script, QueuedEvent { sender, event, ..message });
}

/// Sets a timer, which reserves its bytes. A timer that is set already, or whose event was handled in this
/// tick, has its bytes reserved.
fn set_timer(state: &mut State, run: &ScriptRun, name: String, at: Tick) {
    let script = state.scripts.get_mut(&run.script).expect("a script that ran is in the state");
    let is_set = script.timers.contains_key(&name);
    let full = script.timers.len() >= TIMERS_MAX && !is_set;
    let is_reserved = is_set || run.timers().any(|ran_out| *ran_out == name);
    let bytes = if is_reserved { 0 } else { TIMER_BYTES_MAX };
    if full || !state.byte_budget.take(bytes) {
        script.dropped = script.dropped.saturating_add(1);
        return;
    }
    let mut timers = script.timers.clone();
    timers.insert(name, at);
    state.set_timers(run.script, timers);
}

/// Cancels a timer, if it is set.
fn cancel_timer(state: &mut State, script: ScriptId, name: &str) {
    let ran = state.scripts.get(&script).expect("a script that ran is in the state");
    let mut timers = ran.timers.clone();
    if timers.remove(name).is_some() {
        state.set_timers(script, timers);
    }
}
