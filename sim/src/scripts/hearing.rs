//! Which scripts hear a line.
//!
//! A line reaches people always, and scripts as far as it is paid for: the nearest
//! [`HEARERS_MAX`]. To find them takes as long as there are things near the speaker, not scripts in
//! the sim, and what was looked at is counted too, so a turn of nothing but talk stays short.

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::EventKind;
use metatopia_types::ScriptId;

use super::programs::Programs;
use crate::{
    limits::{HEARERS_MAX, LISTENERS_FEW, LOOKS_PER_DELIVERY},
    state::State,
};

/// The first circle around a speaker that is searched, in metres.
const FIRST_CIRCLE: i32 = 4;

/// Longer than the way from one corner of the largest ground to the other, in metres.
const EVERYWHERE: i32 = 8_192;

/// The scripts that were found around a speaker.
struct Listeners {
    /// How many things were looked at.
    looked: usize,
    /// The scripts with their distances, in no particular order.
    found: Vec<(Fx, ScriptId)>,
}

/// The scripts that hear a line, and the cost of finding them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Hearers {
    /// The nearest first, those at the same distance by number.
    pub(crate) scripts: Vec<ScriptId>,
    /// Things that were looked at.
    looked: usize,
}

impl Hearers {
    /// Finds the scripts that hear what is said at `place`, at most `reach` metres from it.
    pub(crate) fn of(state: &State, programs: &Programs, place: Vec2, reach: Option<Fx>) -> Self {
        let reach = reach.unwrap_or(Fx::from_int(EVERYWHERE));
        let mut listeners = if programs.count(EventKind::Chat) <= LISTENERS_FEW {
            Self::among_all(state, programs, place, reach)
        } else {
            Self::in_circles(state, programs, place, reach)
        };
        listeners.found.sort_unstable();
        listeners.found.truncate(HEARERS_MAX);
        let scripts = listeners.found.into_iter().map(|(_, script)| script).collect();
        Self { scripts, looked: listeners.looked }
    }

    /// Returns these scripts, which did not have to be found.
    pub(crate) const fn named(scripts: Vec<ScriptId>) -> Self {
        Self { scripts, looked: 0 }
    }

    /// Returns what the line counts against the deliveries of a turn.
    pub(crate) fn cost(&self) -> usize {
        self.scripts.len().saturating_add(self.looked / LOOKS_PER_DELIVERY)
    }

    /// Keeps only the nearest of the scripts. The cost of looking for the others stays.
    pub(crate) fn at_most(mut self, scripts: usize) -> Self {
        self.scripts.truncate(scripts);
        self
    }

    /// Looks at every script that hears speech. Returns how many it looked at, and those within reach.
    fn among_all(state: &State, programs: &Programs, place: Vec2, reach: Fx) -> Listeners {
        let listeners = programs.subscribers(EventKind::Chat);
        let near = listeners.filter_map(|script| {
            let object = state.scripts.get(&script)?.object;
            let distance = state.bodies.body(object)?.position().distance(place);
            (distance <= reach).then_some((distance, script))
        });
        Listeners { looked: programs.count(EventKind::Chat), found: near.collect() }
    }

    /// Looks into circles around the place, each twice as wide as the one before, until enough are
    /// found: all of a circle that are nearer than its rim are nearer than what is outside of it.
    fn in_circles(state: &State, programs: &Programs, place: Vec2, reach: Fx) -> Listeners {
        let (mut looked, mut radius) = (0_usize, Fx::from_int(FIRST_CIRCLE));
        loop {
            radius = radius.min(reach);
            let mut found = Vec::new();
            for body in state.bodies.around(place, radius) {
                let distance = body.position().distance(place);
                // The query also gives bodies outside of the circle.
                if distance > radius {
                    continue;
                }
                looked += 1;
                let Some(object) = state.objects.get(&body.id()) else { continue };
                let listening = programs.listening(EventKind::Chat, &object.scripts);
                found.extend(listening.map(|script| (distance, script)));
            }
            if found.len() >= HEARERS_MAX || radius == reach {
                return Listeners { looked, found };
            }
            radius = radius.saturating_add(radius);
        }
    }
}
