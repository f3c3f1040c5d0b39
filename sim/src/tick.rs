//! One fixed step of simulated time.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::Touch;
use metatopia_scripting::{Event, EventKind};
use metatopia_types::{PublicKey, ScriptId, Tick, limits::TICKS_PER_SECOND};

use crate::{
    acts::Post,
    chat::ChatLine,
    controls::Controls,
    fork_join::ForkJoin,
    inbox::{Delivery, Sender},
    merge::merge,
    programs::Programs,
    run::{Run, run_scripts},
    state::State,
    watch::{Probe, Stage},
};

/// The one region of this engine.
pub(crate) const REGION: u32 = 0;

/// What happened in a tick, besides changes of the state.
pub(crate) struct Ticked {
    pub(crate) chat: Vec<ChatLine>,
    pub(crate) runs: Vec<Run>,
}

/// Steps the world: bodies first, then the scripts that have something to hear. What gas they leave of
/// this tick's is for the next ticks of the turn.
pub(crate) fn tick(
    state: &mut Arc<State>,
    (programs, controls): (&Programs, Controls),
    exec: &dyn ForkJoin,
    probe: &mut Probe<'_>,
    posts: Vec<Post>,
    left: &mut u64,
) -> Ticked {
    probe.enter(Stage::Physics);
    let world = Arc::make_mut(state);
    let now = world.clock.tick.plus(1);
    let leaving = steer(world, now);
    leaving.iter().for_each(|player| world.despawn(player));
    let touches = step(world);
    probe.leave(Stage::Physics, now, world);
    probe.enter(Stage::Scripts);
    deliver(world, programs, now, posts, &touches);
    let mut runs = run_scripts(state, programs, exec, controls, left);
    probe.leave(Stage::Scripts, now, state);
    probe.enter(Stage::Merge);
    let world = Arc::make_mut(state);
    let chat = merge(world, programs, &mut runs);
    world.clock.tick = now;
    probe.leave(Stage::Merge, now, world);
    Ticked { chat, runs }
}

/// Brings avatars nearer to the velocity that their players want, by a bounded acceleration. Gives
/// those whose grace time is over.
fn steer(state: &mut State, now: Tick) -> Vec<PublicKey> {
    let parameters = &state.charter.parameters;
    let (avatars, grace) = (&parameters.avatar, parameters.grace_ticks);
    let mut leaving = Vec::new();
    for (player, avatar) in &state.present {
        let session = state.players.get(player).and_then(|player| player.session.as_ref());
        let Some(session) = session else { continue };
        if session.lease.plus(grace) < now {
            leaving.push(*player);
            continue;
        }
        let Some(body) = state.region.body(*avatar) else {
            continue;
        };
        let heading = if session.lease < now { Vec2::ZERO } else { session.heading };
        if let Some(velocity) = avatars.steered(body.velocity(), heading) {
            let _ = state.region.set_velocity(*avatar, velocity);
        }
    }
    for player in state.census.seatless() {
        let session = state.players.get(player).and_then(|player| player.session.as_ref());
        if session.is_some_and(|session| session.lease.plus(grace) < now) {
            leaving.push(*player);
        }
    }
    leaving
}

/// The region's step, which is a transaction: one that panics leaves all bodies where they are, on
/// every server alike.
fn step(state: &mut State) -> Vec<Touch> {
    let region = &mut state.region;
    catch_unwind(AssertUnwindSafe(|| region.step())).unwrap_or_else(|_| {
        state.clock.failed_steps = state.clock.failed_steps.saturating_add(1);
        Vec::new()
    })
}

/// Routes what happened to the inboxes of the scripts that handle it.
fn deliver(state: &mut State, programs: &Programs, now: Tick, posts: Vec<Post>, touches: &[Touch]) {
    let put = |state: &mut State, to: ScriptId, sender: Sender, index: u32, event: Event| {
        state.deliver(to, Delivery { sender, raised: now, index, event });
    };
    for (index, post) in (0..).zip(posts) {
        for to in post.to {
            put(state, to, post.sender, index, post.event.clone());
        }
    }
    for (index, touch) in (0..).zip(touches) {
        let Touch::Began { a, b, point, impulse } = *touch else {
            continue;
        };
        for (object, other) in [(a, b), (b, a)] {
            let scripts = state.objects.get(&object).map(|object| object.scripts.clone());
            let scripts = scripts.unwrap_or_default();
            for script in programs.listening(EventKind::Touch, &scripts) {
                let event = Event::Touch { other, at: point, impulse };
                put(state, script, Sender::Region(REGION), index, event);
            }
        }
    }
    for (index, (script, name)) in (0..).zip(state.due_timers(now)) {
        if programs.listening(EventKind::Timer, &[script]).next().is_some() {
            // The timer took room for its event as well: one that is lost would stop its script.
            let (sender, event) = (Sender::Core, Event::Timer { name });
            state.deliver_anyway(script, Delivery { sender, raised: now, index, event });
        }
    }
    let dt = Fx::from_ratio(1, TICKS_PER_SECOND as i64);
    for script in programs.subscribers(EventKind::Tick) {
        // A script that is behind gets one tick when it is its turn again, not all it missed.
        let behind = state.scripts.get(&script).is_some_and(|script| {
            script.inbox.waiting().any(|waiting| waiting.event.kind() == EventKind::Tick)
        });
        if !behind {
            // One for each script is a bound, and a full world that stood still could not empty.
            let (sender, index, event) = (Sender::Core, u32::MAX, Event::Tick { dt });
            state.deliver_anyway(script, Delivery { sender, raised: now, index, event });
        }
    }
}
