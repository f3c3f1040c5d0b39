//! One fixed step of simulated time.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::Touch;
use metatopia_scripting::{Event, EventKind};
use metatopia_types::{ObjectId, ScriptId, Tick, limits::TICKS_PER_SECOND};

use super::{
    sim_state::State,
    tools::Tools,
    watch::{Probe, Stage},
};
use crate::{
    acts::RaisedEvent,
    rules::Controls,
    scripts::{
        ForkJoin, Programs, QueuedEvent, ScriptRun, Sender, ShownToPeople, merge, run_scripts,
        watch_zones,
    },
    space::Happenings,
};

/// The results of a tick, besides changes of the state.
pub(super) struct TickResult {
    /// What scripts let people see and hear.
    pub(super) shown: ShownToPeople,
    /// The run of each script.
    pub(super) runs: Vec<ScriptRun>,
}

/// The means by which scripts run.
#[derive(Clone, Copy)]
pub(crate) struct ScriptRuntime<'a> {
    /// The compiled packages, and the events that each script handles.
    pub(crate) programs: &'a Programs,
    /// The ports that may run in their place.
    pub(crate) tools: &'a Tools,
    /// Runs scripts in parallel.
    pub(crate) exec: &'a dyn ForkJoin,
    /// The rules that are broken, of which a node has none.
    pub(crate) controls: Controls,
}

/// Steps the world: first the bodies, then the scripts that have events waiting. The scripts may use the
/// gas of this tick and `gas_left` of the earlier ticks of the turn; what they leave is `gas_left` for
/// the next tick. After the last tick of a turn bodies depart over borders, and scripts on them hear of it in that
/// tick.
pub(super) fn tick(
    state: &mut Arc<State>,
    runtime: ScriptRuntime<'_>,
    probe: &mut Probe<'_>,
    (events, is_last): (Vec<RaisedEvent>, bool),
    gas_left: &mut u64,
) -> TickResult {
    probe.enter(Stage::Physics);
    let next = Arc::make_mut(state);
    let now = next.clock.tick.plus(1);
    // Avatars get their velocities before the bodies step, and those whose lease ran out are gone by
    // then, so that nothing collides with them.
    let leaving = next.leases_over(now);
    steer(next, now);
    leaving.iter().for_each(|player| next.despawn(player));
    next.tend_ghosts(now);
    let happened = step(next);
    happened.frozen.iter().for_each(|id| next.note_frozen(*id));
    next.hold_back();
    next.carry_held();
    probe.leave(Stage::Physics, now, next);
    probe.enter(Stage::Scripts);
    // Scripts run after the step: a touch of this tick is answered in this tick.
    let departing = if is_last { next.departing() } else { Vec::new() };
    deliver(next, runtime.programs, now, events, (&happened, departing));
    let mut runs = run_scripts(state, runtime, gas_left);
    probe.leave(Stage::Scripts, now, state);
    probe.enter(Stage::Merge);
    let next = Arc::make_mut(state);
    let shown = merge(next, runtime.programs, &mut runs);
    // The clock moves last: all of the above computes "the tick after the clock's".
    next.clock.tick = now;
    probe.leave(Stage::Merge, now, next);
    TickResult { shown, runs }
}

/// Accelerates avatars towards the velocity that their players want.
fn steer(state: &mut State, now: Tick) {
    let parameters = &state.charter.parameters;
    let (avatars, gravity) = (&parameters.avatar, parameters.gravity);
    for (player, avatar) in &state.present {
        let Some(body) = state.bodies.body(*avatar).filter(|_| !state.sits(*avatar)) else {
            continue;
        };
        let session = state.session(player);
        // The lease is over and the grace time is not: the avatar stands still.
        let heading = if session.lease < now { Vec2::ZERO } else { session.heading };
        if let Some(velocity) = avatars.steered(body.velocity(), heading, gravity) {
            // Physics refuses velocities of bodies that cannot move, and those that are too large: an
            // avatar is dynamic, and its speed has a bound.
            let _ = state.bodies.set_velocity(*avatar, velocity);
        }
    }
}

/// Moves the bodies for a tick, as a transaction: a step that panics leaves all bodies where they are, on every
/// server alike.
fn step(state: &mut State) -> Happenings {
    let bodies = &mut state.bodies;
    catch_unwind(AssertUnwindSafe(|| bodies.step())).unwrap_or_else(|_| {
        state.clock.failed_steps = state.clock.failed_steps.saturating_add(1);
        Happenings::default()
    })
}

/// Puts events into the inboxes of the scripts that handle them: of acts, touches, zones, timers and the
/// tick.
fn deliver(
    state: &mut State,
    programs: &Programs,
    now: Tick,
    events: Vec<RaisedEvent>,
    (happened, departing): (&Happenings, Vec<(ObjectId, &'static str)>),
) {
    let put = |state: &mut State, to: ScriptId, sender: Sender, index: u32, event: Event| {
        // Whoever raised an event that finds no room goes on without it.
        let _ = state.deliver(to, QueuedEvent { sender, raised: now, index, event });
    };
    // The order matters only for who finds room in an inbox that is nearly full; which event a script
    // handles first is decided when it takes its inbox. Acts come first, so no touch crowds them out.
    for (index, raised) in (0..).zip(events) {
        for to in raised.to {
            put(state, to, raised.sender, index, raised.event.clone());
        }
    }
    for (index, touch) in (0..).zip(&happened.touches) {
        let (a, b) = touch.pair();
        for (object, other) in [(a, b), (b, a)] {
            let event = match *touch {
                Touch::Began { point, impulse, .. } => Event::Touch { other, at: point, impulse },
                Touch::Ended { .. } => Event::TouchEnd { other },
            };
            let scripts = state.objects.get(&object).map(|object| object.scripts.clone());
            for script in programs.listening(event.kind(), &scripts.unwrap_or_default()) {
                put(state, script, Sender::Physics, index, event.clone());
            }
        }
    }
    let next = number(happened.touches.len());
    let hits = happened.hits.iter().flat_map(|hit| {
        let event = |other| Event::Hit { other, speed: hit.speed };
        [(hit.a, event(hit.b)), (hit.b, event(hit.a))]
    });
    let parted = happened.parted.iter().flat_map(|(a, b)| {
        let first = a.map(|a| (a, Event::Break { other: Some(*b) }));
        [first, Some((*b, Event::Break { other: *a }))].into_iter().flatten()
    });
    let beyond = happened.beyond.iter().filter_map(|(own, ghost, speed)| {
        let what = state.ghost_word(*ghost)?.to_owned();
        Some((*own, Event::HitBeyond { what, speed: *speed }))
    });
    let beyond: Vec<(ObjectId, Event)> = beyond.collect();
    let sitting = state.sitting_news();
    let departing = departing.into_iter();
    let departing = departing.map(|(id, how)| (id, Event::Depart { how: how.to_owned() }));
    let told: Vec<(ObjectId, Event)> =
        hits.chain(beyond).chain(parted).chain(sitting).chain(departing).collect();
    let next_zone = next.saturating_add(number(told.len()));
    for (index, (object, event)) in (next..).zip(told) {
        let scripts = state.objects.get(&object).map(|object| object.scripts.clone());
        for script in programs.listening(event.kind(), &scripts.unwrap_or_default()) {
            put(state, script, Sender::Physics, index, event.clone());
        }
    }
    watch_zones(state, programs, now, next_zone);
    for (index, (script, name)) in (0..).zip(state.due_timers(now)) {
        if programs.listening(EventKind::Timer, &[script]).next().is_some() {
            // The timer reserved bytes for its event: if the event were lost, its script would stop.
            let (sender, event) = (Sender::Core, Event::Timer { name });
            state.deliver_anyway(script, QueuedEvent { sender, raised: now, index, event });
        }
    }
    let dt = Fx::from_ratio(1, TICKS_PER_SECOND as i64);
    for script in programs.subscribers(EventKind::Tick) {
        // A script that is behind gets one tick when it is its turn again, not all it missed.
        let behind = state.scripts.get(&script).is_some_and(|script| {
            script.inbox.waiting().any(|waiting| waiting.event.kind() == EventKind::Tick)
        });
        if !behind {
            // One tick for each script is a bound of its own. A full world in which scripts got no ticks
            // could never empty.
            let (sender, index, event) = (Sender::Core, u32::MAX, Event::Tick { dt });
            state.deliver_anyway(script, QueuedEvent { sender, raised: now, index, event });
        }
    }
}

/// Returns how many events there are, as their numbers count.
fn number(events: usize) -> u32 {
    u32::try_from(events).expect("far fewer events than numbers")
}
