//! The byte budget of a turn: by how many bytes the state may still grow, so that it can always be
//! restored.
//!
//! A turn begins with the bytes that the state before it leaves of [`WORLD_BYTES_MAX`]. This number
//! follows from the agreed state alone, so a server that was restored counts as one that never stopped.
//! Whatever anybody can make grow without a bound of its own takes from the budget in the canonical
//! order: events in inboxes, what scripts remember, timers, zones, building steps. Nothing is given back before
//! the turn is over. What has a bound of its own has its place beside the budget, up to
//! [`SNAPSHOT_BYTES_MAX`](crate::SNAPSHOT_BYTES_MAX).
//!
//! A timer reserves the most bytes that it can come to, [`TIMER_BYTES_MAX`]. It keeps them until a script
//! has handled its event and has not set it again, so a world that is full stops no timer. The bytes that
//! a timer or its event reserved and does not use are for nobody else: the state and its
//! [`reserved_bytes`] together stay within the bound. A zone reserves the bytes of all who may come.
//!
//! [`WORLD_BYTES_MAX`]: crate::limits::WORLD_BYTES_MAX

use metatopia_types::wire;

use crate::{
    limits::{TIMER_BYTES_MAX, ZONE_BYTES},
    scripts::Script,
    state::State,
};

/// Bytes by which the state may still grow in this turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ByteBudget(u64);

impl ByteBudget {
    /// The budget of an event whose bytes were reserved, or that has a bound of its own.
    pub(crate) const UNLIMITED: Self = Self(u64::MAX);

    /// Returns what a state of so many bytes leaves of the bound.
    pub(crate) const fn remaining(bytes: u64, bound: u64) -> Self {
        Self(bound.saturating_sub(bytes))
    }

    /// Says whether so many bytes are left.
    pub(crate) const fn has(self, bytes: usize) -> bool {
        bytes as u64 <= self.0
    }

    /// Takes so many bytes, and returns true. If fewer are left, it takes none, and returns false.
    pub(crate) const fn take(&mut self, bytes: usize) -> bool {
        let fits = self.has(bytes);
        if fits {
            self.0 -= bytes as u64;
        }
        fits
    }
}

/// Returns the bytes that timers, events of timers that wait, and zones reserved and do not use.
pub(crate) fn reserved_bytes(state: &State) -> u64 {
    let alarms = state.alarms.iter().filter_map(|(_, id)| state.scripts.get(id));
    let timers = alarms.flat_map(|script| script.timers.iter().map(|timer| wire::length(&timer)));
    let waiting = state.waiting.iter().filter_map(|id| state.scripts.get(id));
    let events = waiting.flat_map(|script| script.inbox.timer_bytes());
    let timers = timers.chain(events).map(|bytes| TIMER_BYTES_MAX.saturating_sub(bytes) as u64);
    let zones = state.zones.iter().filter_map(|id| state.scripts.get(id)).flat_map(Script::zones);
    let zones = zones.map(|zone| ZONE_BYTES.saturating_sub(wire::length(zone)) as u64);
    timers.chain(zones).sum()
}

#[cfg(test)]
mod tests;
